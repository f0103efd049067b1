"""The changelog: entries, what a pull request adds, and every rule in both views."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.sweeps.changelog import (
    ChangelogEntry,
    ChangelogView,
    parse_changelog,
    resolve_keys,
    stops_ci,
    view_changelog,
)
from tests.sweeps.yamls import texts

PATH = "perf-changelog.yaml"
REPOSITORY = "SemiAnalysisAI/InferenceX"


def entry(number: int | str, *keys: str, more: str = "") -> str:
    names = "".join(f"    - {key}\n" for key in keys or ("a-key",))
    link = number if isinstance(number, str) else f"https://github.com/{REPOSITORY}/pull/{number}"
    return f'- config-keys:\n{names}  description:\n    - "Words"\n  pr-link: {link}\n{more}'


HISTORY = f"{entry(1)}\n{entry(2)}"


def appended(*added: str) -> str:
    """The history with these texts behind it, one empty line between."""
    return "\n".join([HISTORY, *added])


def view(new: str | bytes, old: str | None = HISTORY, number: int | None = 7) -> ChangelogView:
    head = new.encode() if isinstance(new, str) else new
    base = None if old is None else old.encode()
    return view_changelog(base, head, PATH, repository=REPOSITORY, pull_request=number)


def rules(seen: ChangelogView) -> list[str]:
    assert all(problem.path == PATH for problem in seen.problems)
    return [problem.rule for problem in seen.problems]


def test_an_entry_at_the_end() -> None:
    seen = view(f"{HISTORY}\n{entry(7, 'one', 'two')}")
    (added,) = seen.entries
    assert seen.problems == ()
    assert seen.appended
    assert (added.config_keys, added.line, added.end_line) == (("one", "two"), 13, 18)
    assert added.scenarios == ("fixed-seq-len", "agentic-coding")
    assert (added.evals_only, added.all_evals, added.append_only) == (False, False, False)


def test_a_file_that_nobody_touched() -> None:
    seen = view(HISTORY)
    assert (seen.touched, seen.entries, seen.problems) == (False, (), ())


def test_the_first_changelog() -> None:
    seen = view(entry(7), old=None)
    assert seen.problems == ()
    assert len(seen.entries) == 1


def test_all_fields() -> None:
    more = "  evals-only: true\n  eval-min-prefill-ep: 4\n  scenario-type:\n    - agentic-coding\n"
    (added,) = view(appended(entry(7, more=more))).entries
    assert added.evals_only
    assert added.eval_min_prefill_ep == 4
    assert added.scenarios == ("agentic-coding",)


def test_snake_case_takes_effect() -> None:
    (added,) = view(appended(entry(7, more="  append_only: true\n"))).entries
    assert added.append_only


def test_unknown_fields_are_shown() -> None:
    seen = view(appended(entry(7, more="  mood: [good]\n")))
    assert rules(seen) == ["unknown-field"]
    assert seen.problems[0].line == 18
    assert seen.entries[0].unknown == (("mood", "['good']"),)


@pytest.mark.parametrize(
    ("added", "rule"),
    [
        (entry(7).replace('  description:\n    - "Words"\n', ""), "missing-field"),
        (entry(7).replace("  pr-link:", "  link:"), "missing-field"),
        (entry(7).replace("    - a-key\n", "    []\n"), "field-type"),
        (entry(7).replace("    - a-key\n", "    - 5\n"), "field-type"),
        (entry(7, more="  all-evals: perhaps\n"), "field-type"),
        (entry(7, more="  eval-min-prefill-ep: 0\n"), "field-type"),
        (entry(7, more="  scenario-type: [other]\n"), "field-type"),
        (entry(7, more="  append-only: true\n  evals-only: true\n"), "append-only-with-evals"),
        ("- config-keys: [a\n", "yaml"),
        ("words: true\n", "no-list"),
        ("- config-keys: &x [a]\n  description: *y\n", "alias"),
        ("- a\n", "entry-type"),
    ],
)
def test_the_schema_stops_the_sweep(added: str, rule: str) -> None:
    seen = view(f"{HISTORY}\n{added}")
    assert rule in rules(seen)
    assert all(stops_ci(problem) for problem in seen.problems if problem.rule == rule)
    assert all(problem.line is not None for problem in seen.problems if problem.rule not in ("no-list",))


@pytest.mark.parametrize(
    ("new", "rule", "ci"),
    [
        (f"{HISTORY}\n{entry(7)}".rstrip("\n"), "no-final-newline", True),
        (f"{HISTORY}{entry(7)}", "separator", False),
        (f"{HISTORY}\n\n{entry(7)}", "separator", False),
        (f"{HISTORY}\n{entry(7)}\n\n{entry(7, 'b')}", "separator", False),
        (f"{HISTORY}\n{entry(7)}{entry(7, 'b')}", "separator", False),
        (f"{HISTORY}\n{entry(7)}\n", "final-newlines", False),
        (f"{HISTORY}\n{entry(8)}", "pr-link", False),
        (f"{HISTORY}\n{entry('TBD')}", "pr-link", False),
        (appended(entry(7).replace("Words", "Wo\trds")), "forbidden-byte", False),
        (f"{HISTORY}\n{entry(7)}".replace("Words", "Other words", 1), "history-changed", False),
        (HISTORY.replace("\n\n", "\n  \n"), "history-changed", False),
        (HISTORY.replace(entry(1), ""), "deleted-line", True),
        (HISTORY.replace(entry(1), ""), "no-additions", True),
        (HISTORY.replace("pull/2", "pull/22"), "deleted-line", True),
        (HISTORY.replace("pull/2", "pull/XXX"), "correction-link", False),
        (HISTORY.replace("pull/1", "pull/11") + f"\n{entry(7)}", "mixed-correction", False),
        (appended(entry(7).replace("- config-keys", "-  config-keys").replace("\n  ", "\n   ")), "separator", False),
    ],
)
def test_rules_of_the_file(new: str, rule: str, ci: bool) -> None:
    seen = view(new)
    assert rule in rules(seen)
    assert {stops_ci(problem) for problem in seen.problems if problem.rule == rule} == {ci}


@pytest.mark.parametrize("link", ["XXX", f"https://github.com/{REPOSITORY}/pull/XXX"])
def test_placeholders_are_links(link: str) -> None:
    assert view(f"{HISTORY}\n{entry(link)}").problems == ()


def test_links_are_not_judged_without_a_number() -> None:
    assert view(f"{HISTORY}\n{entry(99)}", number=None).problems == ()


def test_a_correction_of_a_link() -> None:
    seen = view(HISTORY.replace("pull/2", "pull/22"))
    link = f"https://github.com/{REPOSITORY}/pull"
    assert seen.corrections == ((11, f"{link}/2", f"{link}/22"),)
    assert seen.entries == ()
    assert rules(seen) == ["deleted-line"]


def test_windows_line_ends_and_other_bytes() -> None:
    new = f"{HISTORY}\n{entry(7)}".encode().replace(
        b'Words"\n  pr-link: https://github.com/SemiAnalysisAI/InferenceX/pull/7', b'W\xff"\r\n  pr-link: XXX'
    )
    seen = view(new)
    assert {"forbidden-byte", "encoding"} <= set(rules(seen))
    assert len(seen.entries) == 1


def test_old_carriage_returns_are_not_the_pull_requests() -> None:
    old = HISTORY.replace("Words", "Wo\rrds", 1)
    assert rules(view(f"{old}\n{entry(7)}", old=old)) == []


def test_main_has_grown_since() -> None:
    """Against the tip of main the branch seems to delete what main gained: continuous integration fails on that."""
    main = f"{HISTORY}\n{entry(5)}"
    head = f"{HISTORY}\n{entry(7)}"
    assert view(head).problems == ()
    seen = view_changelog(main.encode(), head.encode(), PATH, against="main")
    assert seen.base == "main"
    assert {number for number, _ in seen.deleted} == {17}
    assert "deleted-line" in rules(seen)


def test_an_entry_in_the_middle_is_read_as_git_shows_it() -> None:
    head = f"{entry(1)}\n{entry(7, 'mine')}\n{entry(2)}"
    seen = view(head)
    assert [added.config_keys for added in seen.entries] == [("mine",)]
    assert seen.entries[0].line == 7
    assert rules(seen) == ["history-changed"]


def test_all_entries_of_a_file() -> None:
    entries, problems = parse_changelog(f"{HISTORY}\n{entry(3, 'x*')}", PATH)
    assert [(one.line, one.config_keys[0]) for one in entries] == [(1, "a-key"), (7, "a-key"), (13, "x*")]
    assert problems == ()


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("a-1", ["a-1"]),
        ("a-*", ["a-1", "a-12"]),
        ("*-1", ["a-1", "b-1"]),
        ("*1*", ["a-1", "a-12", "b-1"]),
        ("a*1*2", ["a-12"]),
        ("*", ["a-1", "a-12", "b-1"]),
        ("a-?", []),
        ("a-12*2", []),
        ("**b**", ["b-1"]),
    ],
)
def test_wildcards(pattern: str, found: list[str]) -> None:
    one = ChangelogEntry(line=3, end_line=3, config_keys=(pattern,))
    keys, problems = resolve_keys(one, ["a-1", "a-12", "b-1"], PATH)
    assert keys == found
    assert [(problem.rule, problem.line) for problem in problems] == ([] if found else [("no-such-key", 3)])


def test_a_pattern_takes_time_in_proportion() -> None:
    one = ChangelogEntry(line=1, end_line=1, config_keys=("a*" * 140 + "b",))
    keys, _ = resolve_keys(one, ["a" * 200_000], PATH)
    assert keys == []


@settings(max_examples=120, deadline=None)
@given(st.one_of(texts, st.text()), st.one_of(texts, st.text()))
def test_no_changelog_crashes_the_reader(old: str, new: str) -> None:
    for base, head in ((old, new), (HISTORY, HISTORY + new), (HISTORY, f"{old}{HISTORY}{new}")):
        seen = view_changelog(base.encode("utf-8", "replace"), head.encode("utf-8", "replace"), PATH)
        assert seen.touched == (base.encode("utf-8", "replace") != head.encode("utf-8", "replace"))
