"""Verdict comments of all eras, malformed ones, forged ones."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.model.finding import Status, Verdict
from reviewer_tui.model.pull_request import Comment
from reviewer_tui.signoff.verdict_comment import newest_verdict, parse_verdict
from tests.signoff.texts import signed

HEAD = "21d6bbb0" + "a" * 32
OLD = "e364399f" + "b" * 32
SHA = f"<!-- codeowner-signoff-verify sha={HEAD} -->\n"
BARE = "<!-- codeowner-signoff-verify -->\n"
ANCHORED = "<!-- codeowner-signoff-verify signoff=issuecomment-4891711640 -->\n"
PASS, REJECTED, WARN = (
    "## ✅✅✅ **Verdict: PASS** ✅✅✅\n",
    "## ❌❌❌ **REJECTED** ❌❌❌\n",
    "## ⚠️ **Verdict: WARN** ⚠️\n",
)
END = f"\nAssessed commit: `{HEAD}`.\n"
FOLD = "<details>\n<summary>Passing checks</summary>\n\n"


def rows(failing: int | None = None, warning: int | None = None, count: int = 16) -> str:
    """Rows of era D: what fails or warns in the open, the rest folded."""
    lines = []
    for number in range(count):
        emoji, status = ("❌", "FAIL") if number == failing else ("⚠️", "WARN") if number == warning else ("✅", "PASS")
        lines.append((status == "PASS", f"{emoji} Check {number} (name of (it)/{number}): {status} — because."))
    shown = "\n".join(line for folded, line in lines if not folded)
    return f"{shown}\n{FOLD}" + "\n".join(line for folded, line in lines if folded) + "\n</details>\n"


def test_era_a_prose_and_rows() -> None:
    verdict = parse_verdict(
        SHA + "All checks PASS for this head.\n\nCheck 0 — PASS: owner.\n- Check 3 (recipe): PASS — ok"
    )
    assert verdict is not None
    assert (verdict.era, verdict.overall, verdict.head) == ("A", Verdict.PASS, HEAD)
    assert [(row.number, row.name, row.status, row.text) for row in verdict.rows] == [
        (0, "", Status.PASS, "owner."),
        (3, "recipe", Status.PASS, "ok"),
    ]


@pytest.mark.parametrize(
    ("text", "overall"),
    [
        ("@signer Blocked: no recipe link.", Verdict.REJECTED),
        ("@signer this is BLOCKED.\n\n- Check 3 (recipe): FAIL — no link", Verdict.REJECTED),
        ("Looks at three things.\nCheck 3 (recipe): FAIL — no link", Verdict.REJECTED),
        ("PASS: everything holds.\nCheck 3 (recipe): FAIL — no link", None),
        ("The sweep looks fine. The recipe is open.", None),
        ("", None),
    ],
)
def test_era_a_overall(text: str, overall: Verdict | None) -> None:
    verdict = parse_verdict(SHA + text)
    assert verdict is not None
    assert (verdict.era, verdict.overall) == ("A", overall)
    assert bool(verdict.malformed) is (overall is None)


def test_era_b() -> None:
    body = (
        SHA + REJECTED + "\n@signer please link the recipe.\n\n✅ Check 0 (owner): PASS — listed\n"
        "➖ Check 7 (engine patches/waivers (9)): N/A — no patch\n"
        "- ❌ **Check 3** (recipe): **FAIL** — no link\n  The page is a root,\n  nothing more.\n"
        "> ✅ Check 9 (quoted): PASS — no\n"
        "| Check 4 | table |\n✅ Check 1 (sweep): PASS"
    )
    verdict = parse_verdict(body, "Klaud-Cold")
    assert verdict is not None
    assert (verdict.era, verdict.overall, verdict.trusted, verdict.forged) == ("B", Verdict.REJECTED, True, False)
    assert [row.number for row in verdict.rows] == [0, 7, 3, 1]
    seven, three = verdict.row(7), verdict.row(3)
    assert seven is not None
    assert (seven.name, seven.status) == ("engine patches/waivers (9)", Status.NOT_APPLICABLE)
    assert three is not None
    assert (three.text, three.line) == ("no link The page is a root, nothing more.", 8)
    assert verdict.row(9) is None


def test_era_b_rejected_without_a_failing_row_stays_rejected_but_pass_with_one_is_no_verdict() -> None:
    rejected = parse_verdict(SHA + REJECTED + "@signer post the command.\n✅ Check 0 (owner): PASS — ok")
    assert rejected is not None
    assert rejected.overall is Verdict.REJECTED
    contradiction = parse_verdict(SHA + PASS + "❌ Check 0 (owner): FAIL — no owner")
    assert contradiction is not None
    assert contradiction.overall is None
    assert "rows say REJECTED" in contradiction.malformed


def test_era_c_in_place_of_an_older_one() -> None:
    verdict = parse_verdict(
        f"{BARE}{PASS}✅ Check 0 (owner): PASS — ok\n\nAssessed commit: `{HEAD}`.\nCovered commit: `{OLD}`."
    )
    assert verdict is not None
    assert (verdict.era, verdict.overall, verdict.head, verdict.covered) == ("C", Verdict.PASS, HEAD, OLD)
    updated = parse_verdict(f"<!-- codeowner-signoff-verify sha={OLD} -->\r\n{PASS}✅ Check 0 (o): PASS — ok\r\n{END}")
    assert updated is not None
    assert (updated.era, updated.head) == ("C", HEAD)


@pytest.mark.parametrize(
    ("headline", "failing", "warning", "overall"),
    [(PASS, None, None, Verdict.PASS), (WARN, None, 14, Verdict.WARN), (REJECTED, 3, 14, Verdict.REJECTED)],
)
def test_era_d(headline: str, failing: int | None, warning: int | None, overall: Verdict) -> None:
    body = f"{ANCHORED}{headline}\n⚠️ Maintainers: @a @b @c @d, a curve is thin.\n\n{rows(failing, warning)}{END}"
    verdict = parse_verdict(body, "github-actions[bot]")
    assert verdict is not None
    assert (verdict.era, verdict.overall, verdict.malformed) == ("D", overall, "")
    assert (verdict.head, verdict.sign_off, verdict.trusted) == (HEAD, "issuecomment-4891711640", True)
    assert len(verdict.rows) == 16
    assert verdict.rows[-1].text == "because."


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (REJECTED + "\nThe verifier did not produce a valid verdict.\n", "no rows"),
        (PASS + rows(3), "rows say REJECTED"),
        (REJECTED + rows(), "rows say PASS"),
        (PASS + rows(None, 14), "rows say WARN"),
        (PASS + rows().replace("✅ Check 5", "❌ Check 5"), "mark of check 5"),
        (PASS + rows().replace("Check 5 (name of (it)/5): PASS", "Check 5 (name): MAYBE"), "cannot be read"),
        (PASS + rows().replace("Check 5 (", "Check 4 ("), "twice"),
        (PASS + rows().replace("✅ Check 5 (name of (it)/5): PASS — because.\n", ""), "Not every check"),
        (PASS + PASS + rows(), "more than one"),
        ("Some text first.\n" + PASS + rows(), "no verdict headline"),
    ],
)
def test_era_d_malformed_is_no_verdict(body: str, why: str) -> None:
    verdict = parse_verdict(ANCHORED + body + END, "github-actions[bot]")
    assert verdict is not None
    assert verdict.overall is None
    assert why in verdict.malformed


def test_exported_copies_without_the_marker() -> None:
    verdict = parse_verdict(PASS + "✅ Check 0 (owner): PASS — ok")
    assert verdict is not None
    assert (verdict.era, verdict.overall, verdict.marked, verdict.trusted, verdict.forged) == (
        "B",
        Verdict.PASS,
        False,
        False,
        False,
    )
    warned = parse_verdict(WARN + rows(None, 4) + END)
    assert warned is not None
    assert (warned.era, warned.overall, warned.head) == ("D", Verdict.WARN, HEAD)


@pytest.mark.parametrize("author", ["mallory", "klaud-cold2", "github-actions", ""])
def test_a_marker_by_somebody_else_is_forged(author: str) -> None:
    verdict = parse_verdict(SHA + PASS + "✅ Check 0 (owner): PASS — ok", author)
    assert verdict is not None
    assert (verdict.trusted, verdict.forged) == (False, True)


@pytest.mark.parametrize(
    "body", ["", "LGTM", signed(), "text\n" + SHA + PASS, "## PASS\nCheck 0 (owner): PASS — ok", "> " + SHA]
)
def test_what_is_no_verdict_comment(body: str) -> None:
    assert parse_verdict(body, "Klaud-Cold") is None


def comment(number: int, body: str, author: str = "Klaud-Cold", updated_at: str = "") -> Comment:
    return Comment(
        id=number, kind="issue_comment", author=author, body=body, created_at="2026-08-11", updated_at=updated_at
    )


def test_the_newest_trusted_word_on_a_head() -> None:
    good, bad = SHA + PASS + "✅ Check 0 (o): PASS — ok", SHA + REJECTED + "❌ Check 0 (o): FAIL — no"
    other = bad.replace(HEAD, OLD)
    found = newest_verdict([comment(1, bad), comment(2, good), comment(3, other), comment(4, bad, "mallory")], HEAD)
    assert found is not None
    assert (found[0].id, found[1].overall) == (2, Verdict.PASS)
    edited = newest_verdict([comment(1, bad, updated_at="2026-08-12"), comment(2, good)], HEAD)
    assert edited is not None
    assert edited[0].id == 1
    assert newest_verdict([comment(3, other)], HEAD) is None
    assert newest_verdict([comment(1, good)], "") is None


def test_one_verdict_for_each_sign_off() -> None:
    first = comment(1, ANCHORED + PASS + rows() + END)
    second = comment(2, ANCHORED.replace("4891711640", "5") + REJECTED + rows(3) + END)
    found = newest_verdict([first, second], HEAD, "issuecomment-4891711640")
    assert found is not None
    assert found[0].id == 1


_PIECES = st.sampled_from(
    [
        SHA,
        BARE,
        ANCHORED,
        PASS,
        REJECTED,
        WARN,
        END,
        rows(),
        rows(3),
        "✅ Check 1 (a): PASS — b",
        "  more",
        "<details>",
        "Check 9999 (",
        "\r",
    ]
)


@given(st.lists(st.one_of(_PIECES, st.text(max_size=40)), max_size=12).map("".join), st.none() | st.text(max_size=20))
@settings(max_examples=150, deadline=None)
def test_no_comment_breaks_the_reader(body: str, author: str | None) -> None:
    verdict = parse_verdict(body, author)
    if verdict is not None:
        assert (verdict.overall is None) is bool(verdict.malformed)
        assert not (verdict.overall is Verdict.PASS and any(row.status is Status.FAIL for row in verdict.rows))


def test_a_huge_hostile_comment_is_read_in_bounded_time() -> None:
    blanks = " " * 60_000
    check = f"Check{blanks}1{blanks}({')' * 60_000}"
    parse_verdict(f"{SHA}#{blanks}x\n## {blanks}{'*' * 60_000}\n{check}\n{blanks}Assessed commit:{blanks}")
