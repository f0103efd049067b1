"""The queue's rows from hand-made facts: who is asked, what waits for whom, and in which order."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.checks.check import Evidence
from reviewer_tui.checks.registry import run_checks
from reviewer_tui.model.finding import CheckResult, Status, Verdict
from reviewer_tui.model.part import Part, complete, partial, unavailable
from reviewer_tui.model.pull_request import Comment, Commit, Event, PullRequestInfo, PullRequestRef
from reviewer_tui.model.recipe import UpstreamPullRequest
from reviewer_tui.model.run import CommitStatus
from reviewer_tui.model.text import cells, has_unsafe
from reviewer_tui.model.tree import DictTree
from reviewer_tui.policy.layout import WORKFLOW_PATH
from reviewer_tui.policy.owners import Owner, Owners, parse_owners
from reviewer_tui.review.queue import (
    Count,
    Failing,
    Insight,
    Listed,
    QueueRow,
    SignedOff,
    Waits,
    insight_of,
    is_outdated,
    listed_of,
    owners_asked,
    queue_rows,
    short_age,
    to_look_into,
)
from reviewer_tui.review.queue_columns import columns, row_cells, table_lines
from reviewer_tui.review.session import Review
from tests.checks.swept import EARLIER, EVALS, GREEN, HEAD, commit, jobs, run, said, swept
from tests.evidence import CODEOWNERS, summer
from tests.fake_github.merged import VERIFY_WORKFLOW

SIGNER = "ankur-singh"
NOW = datetime(2026, 8, 12, 12, 0, 0, tzinfo=UTC)
ASKED: Part[tuple[Owner, ...]] = complete((Owner("user", "Ankur-singh"), Owner("user", "kedarpotdar-nv")))
SIGN_OFF = (
    "As a PR reviewer and CODEOWNER, I have reviewed this and have:\n- [x] Verified all.\n\nSigned: `ankur-singh`"
)
PASS = "## ✅✅✅ **Verdict: PASS** ✅✅✅\n\n✅ Check 0 (owner): PASS — Owned.\n"
REJECTED = "## ❌❌❌ **REJECTED** ❌❌❌\n\n@ankur-singh look.\n\n❌ Check 3 (recipe): FAIL — Not linked.\n"


def ref(number: int = 7) -> PullRequestRef:
    return PullRequestRef("acme/bench", number)


def listed(number: int = 7, *, head: str = HEAD, asked: Part[tuple[Owner, ...]] = ASKED, **info: Any) -> Listed:
    facts = {"title": "A title", "author": "author", "state": "open", "updated_at": "2026-08-12T08:00:00Z", **info}
    return Listed(ref=ref(number), head=head, info=complete(PullRequestInfo(**facts)), asked=asked)


def insight(**facts: Any) -> Insight:
    """A look that found a green sweep, no failing check and no sign-off."""
    usual: dict[str, Any] = {
        "head": HEAD,
        "taken_at": "2026-08-12T11:00:00Z",
        "updated_at": "2026-08-12T08:00:00Z",
        "sweep": "green",
        "lanes": Count(13, 13),
        "evals": Count(4, 4),
        "recipe": "merged",
        "predicted": Verdict.UNDECIDED,
        "sweep_summary": "all 13 lanes are green",
    }
    return Insight(**{**usual, **facts})


def signed(author: str = "Ankur-Singh", *, at_head: bool | None = True, **facts: Any) -> SignedOff:
    return SignedOff(author=author, at="2026-08-12T09:00:00Z", at_head=at_head, **facts)


def row(one: Listed | None = None, look: Insight | None = None, signer: str = SIGNER) -> QueueRow:
    one = one or listed()
    (made,) = queue_rows([one], {} if look is None else {one.ref: look}, signer)
    return made


# --- what a pull request waits for ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("look", "waits", "waits_for"),
    [
        (insight(), Waits.READY, "you"),
        (insight(sweep="incomplete", lanes=Count(12, 13)), Waits.READY, "you"),
        (insight(sweep="running", lanes=Count(3, 13)), Waits.RUNNING, "sweep"),
        (insight(sweep="running", failing=(Failing("reuse", "No command."),)), Waits.RUNNING, "sweep"),
        (insight(sweep="running", failing=(Failing("image", "A fork."),)), Waits.BLOCKED, "author: image"),
        (insight(sweep="none", failing=(Failing("sweep", "None ran."),)), Waits.BLOCKED, "author: sweep"),
        (insight(failing=(Failing("reuse", "No command."),)), Waits.BLOCKED, "maintainer: reuse"),
        (insight(failing=(Failing("owner", "AMD is not yours."),)), Waits.BLOCKED, "another owner"),
        (insight(sweep="unknown", lanes=None), Waits.UNKNOWN, "sweep not known"),
        (insight(unread="A clone holds no comments."), Waits.UNKNOWN, "not known"),
        (insight(sign_offs=(signed(),)), Waits.PENDING, "verdict"),
        (insight(sign_offs=(signed(at_head=None),)), Waits.PENDING, "verdict"),
        (insight(sign_offs=(signed(at_head=False),)), Waits.MOVED, "you: head moved"),
        (insight(sign_offs=(signed(judged=True, verdict=Verdict.PASS),)), Waits.DONE, "merge"),
        (insight(sign_offs=(signed(judged=True, verdict=Verdict.WARN),)), Waits.DONE, "merge"),
        (insight(sign_offs=(signed(judged=True),)), Waits.PENDING, "verdict"),
        (
            insight(sign_offs=(signed(judged=True, verdict=Verdict.REJECTED, failing=("recipe", "template")),)),
            Waits.BLOCKED,
            "author: recipe",
        ),
        (
            insight(sign_offs=(signed(judged=True, verdict=Verdict.REJECTED, failing=("template",)),)),
            Waits.BLOCKED,
            "you: template",
        ),
        (insight(sign_offs=(signed("kedarpotdar-nv"),)), Waits.OTHERS, "@kedarpotdar-nv"),
        (
            insight(sign_offs=(signed("kedarpotdar-nv", judged=True, verdict=Verdict.PASS),)),
            Waits.DONE,
            "merge",
        ),
        (insight(sign_offs=(signed("kedarpotdar-nv", at_head=False),)), Waits.READY, "you"),
        (insight(sign_offs=(signed("kedarpotdar-nv", at_head=None),)), Waits.READY, "you"),
        (insight(head=EARLIER), Waits.UNKNOWN, "not loaded"),
        (None, Waits.UNKNOWN, "not loaded"),
    ],
)
def test_what_a_pull_request_of_mine_waits_for(look: Insight | None, waits: Waits, waits_for: str) -> None:
    made = row(look=look)
    assert (made.waits, made.waits_for) == (waits, waits_for)
    assert made.why.endswith(".")


def test_a_draft_waits_for_its_author_whatever_else_is_known() -> None:
    assert row(listed(draft=True), insight()).waits_for == "author: draft"
    assert row(listed(draft=True)).waits is Waits.BLOCKED


def test_what_others_own_waits_for_them_and_is_not_mine() -> None:
    amd: Part[tuple[Owner, ...]] = complete((Owner("user", "chunfangamd"), Owner("team", "acme/amd")))
    made = row(listed(asked=amd), insight())
    assert (made.waits, made.waits_for) == (Waits.OTHERS, "@chunfangamd +1")
    assert made.owners == ("@chunfangamd", "@acme/amd")
    assert made.lanes == Count(13, 13), "what is known of it is shown all the same"
    assert "chunfangamd signed." in row(listed(asked=amd), insight(sign_offs=(signed("chunfangamd"),))).why


def test_what_only_a_team_for_everything_owns_asks_nobody() -> None:
    for signer in (SIGNER, ""):
        made = row(listed(asked=complete(())), insight(), signer)
        assert (made.waits, made.waits_for) == (Waits.OTHERS, "nobody by name")


def test_without_a_signer_everything_that_asks_somebody_counts() -> None:
    made = row(listed(asked=complete((Owner("team", "acme/amd"),))), insight(), signer="")
    assert (made.waits, made.waits_for) == (Waits.READY, "owner")
    assert row(look=insight(sign_offs=(signed("whoever", at_head=False),)), signer="").waits_for == "owner: head moved"


def test_unknown_owners_are_neither_mine_nor_others() -> None:
    unknown: Part[tuple[Owner, ...]] = unavailable("The files of #7 could not be read.")
    made = row(listed(asked=unknown), insight())
    assert (made.waits, made.waits_for) == (Waits.UNKNOWN, "an owner?")
    assert "The files of #7 could not be read." in made.why
    assert made.owners is None
    assert row(listed(asked=partial((), "Only some.")), insight()).waits is Waits.UNKNOWN
    assert row(listed(asked=partial(ASKED.value or (), "Only some.")), insight()).waits is Waits.READY


def test_facts_of_another_head_are_not_shown_as_those_of_this_one() -> None:
    made = row(look=insight(head=EARLIER, verdict=Verdict.PASS))
    assert (made.lanes, made.evals, made.verdict, made.predicted, made.keys) == (None, None, None, None, None)
    assert (made.head, made.recipe) == (HEAD, "")
    assert "what is loaded is of eeeeeeeee" in made.why


def test_what_changed_since_the_look_is_in_doubt() -> None:
    late = listed(updated_at="2026-08-12T08:00:01Z")
    made = row(late, insight())
    assert (made.waits_for, made.outdated) == ("you?", True)
    assert "changed since" in made.why
    assert is_outdated(late, insight())
    assert not is_outdated(listed(), insight(taken_at="1999-01-01T00:00:00Z")), "a wrong clock here changes nothing"


def test_why_a_look_failed_is_told() -> None:
    made = row(msgspec.structs.replace(listed(), trouble="The connection was lost."))
    assert (made.waits, made.why) == (Waits.UNKNOWN, "The connection was lost.")


def test_the_order_is_that_of_what_waits_for_a_human_then_of_the_last_change() -> None:
    looks = {
        ref(1): insight(sign_offs=(signed(judged=True, verdict=Verdict.PASS),)),
        ref(2): insight(sign_offs=(signed(at_head=False),)),
        ref(3): insight(sign_offs=(signed(),)),
        ref(4): insight(failing=(Failing("image", "A fork."),)),
        ref(5): insight(sweep="running"),
        ref(6): insight(),
        ref(8): insight(updated_at="2026-08-12T09:00:00Z"),
    }
    several = [listed(n) for n in (1, 2, 3, 4, 5, 6, 7)]
    several += [listed(8, updated_at="2026-08-12T09:00:00Z"), listed(9, asked=complete(()))]
    rows = queue_rows(several, looks, SIGNER)
    assert [made.number for made in rows] == [8, 6, 5, 4, 3, 2, 7, 1, 9]


def test_what_is_looked_into_first() -> None:
    several = [
        listed(1, asked=complete(())),
        listed(2, draft=True),
        listed(3),
        listed(4, updated_at="2026-08-12T09:00:00Z"),
        listed(5, asked=unavailable("not known")),
    ]
    assert [one.ref.number for one in to_look_into(several, SIGNER)] == [4, 5, 3, 2, 1]


# --- whom CODEOWNERS asks -------------------------------------------------------------------------------------------


def owners(text: str = CODEOWNERS) -> Part[Owners]:
    return parse_owners(text, ".github/CODEOWNERS")[0]


def test_the_last_matching_line_decides_and_the_most_concerned_come_first() -> None:
    paths = ("configs/nvidia-master.yaml", "configs/amd-master.yaml", "README.md")
    asked = owners_asked(owners(f"{CODEOWNERS}configs/ @acme/x\nconfigs/amd-master.yaml @b a@b.c\n"), complete(paths))
    assert list(map(str, asked.value or ())) == ["@acme/x", "@b", "a@b.c"]
    both = owners_asked(owners("* @a\n/x/ @b @a\n"), complete(("x/1", "y/1")))
    assert list(map(str, both.value or ())) == ["@a", "@b"]


def test_a_team_that_owns_everything_is_asked_for_nothing() -> None:
    assert owners_asked(owners(), complete(("README.md",))) == complete(())
    asked = owners_asked(owners(), complete(("configs/nvidia-master.yaml",)))
    assert list(map(str, asked.value or ())) == ["@ankur-singh", "@kedarpotdar-nv", "@InferenceX/core"]


def test_what_is_not_known_of_owners_or_paths_stays_unknown() -> None:
    gone: Part[Any] = unavailable("Gone.", "Get it.")
    assert owners_asked(gone, complete(("x",))) == gone
    assert owners_asked(owners(), gone) == gone
    assert owners_asked(owners(), partial(("x",), "Some.")).state == "partial"
    many = owners_asked(owners(), complete(tuple(f"configs/{n}" for n in range(3_001))))
    assert many.state == "partial"
    assert "3,000 of 3,001" in many.reason


# --- from a review ----------------------------------------------------------------------------------------------------


def review(*, signer: str = SIGNER, **facts: Any) -> Review:
    return reviewed(swept(*facts.pop("runs", (run(),)), **facts), signer)


def reviewed(evidence: Evidence, signer: str = SIGNER) -> Review:
    evidence = msgspec.structs.replace(evidence, signer=signer)
    return Review(
        snapshot=evidence.snapshot,
        trees=evidence.trees,
        policy=evidence.policy,
        changes=evidence.changes,
        results=run_checks(evidence),
        review_date=evidence.review_date,
        signer=signer,
    )


def test_a_swept_pull_request_is_ready() -> None:
    made = review()
    look, one = insight_of(made), listed_of(made)
    assert (look.sweep, look.lanes, look.evals) == ("green", Count(13, 13), Count(4, 4))
    assert look.keys == ("qwen3.5-fp4-b200-sglang-mtp",)
    assert one.asked.value is not None
    assert Owner("user", SIGNER) in one.asked.value
    assert row(one, look).waits is Waits.READY


def test_lanes_are_counted_against_the_plan() -> None:
    running = insight_of(review(runs=(run(jobs(GREEN, c64="in_progress"), status="in_progress", conclusion=None),)))
    assert (running.sweep, running.lanes) == ("running", Count(9, 13))
    none = insight_of(review(runs=()))
    assert (none.sweep, none.lanes, none.evals) == ("none", Count(0, 13), Count(0, 4))
    assert "sweep" in [failing.name for failing in none.failing]
    short = insight_of(review(runs=(run(jobs([name for name in GREEN if name not in EVALS])),)))
    assert (short.lanes, short.evals) == (Count(9, 13), Count(0, 4))


def test_what_is_not_known_of_runs_is_no_count() -> None:
    for part in (unavailable("A clone holds no runs."), partial((), "Some are missing.")):
        look = insight_of(with_parts(review(), runs=part))
        assert (look.sweep, look.lanes, look.evals) == ("unknown", None, None)


def with_parts(made: Review, **parts: Any) -> Review:
    """The review with other parts of the snapshot, checked anew."""
    snapshot = msgspec.structs.replace(made.snapshot, **parts)
    return reviewed(
        Evidence(
            snapshot=snapshot,
            trees=made.trees,
            policy=made.policy,
            changes=made.changes,
            review_date=made.review_date,
            signer=made.signer,
        ),
        made.signer,
    )


def test_a_pull_request_that_needs_no_sweep_expects_none() -> None:
    look = insight_of(review(runs=(), head={**summer(), "README.md": "words\n"}))
    assert (look.sweep, str(look.lanes), str(look.evals)) == ("not_needed", "none", "none")


@pytest.mark.parametrize(
    ("states", "told"), [((), "none"), (("merged", "merged"), "merged"), (("merged", "open"), "open")]
)
def test_the_recipe_is_as_merged_as_its_least_merged_part(states: tuple[Any, ...], told: str) -> None:
    pulls = tuple(
        UpstreamPullRequest(repository="sgl-project/sglang", number=n, title="", state=state, url="")
        for n, state in enumerate(states)
    )
    assert insight_of(with_parts(review(), upstream=complete(pulls))).recipe == told


def test_an_unread_recipe_is_unknown() -> None:
    assert insight_of(with_parts(review(), upstream=unavailable("No."))).recipe == ""
    assert insight_of(with_parts(review(), upstream=partial((), "Some."))).recipe == ""


def test_a_check_that_the_sign_off_mends_blocks_nobody() -> None:
    failing = tuple(
        CheckResult(name=name, number=None, title=name, status=Status.FAIL, summary=name) for name in ("template", "x")
    )
    look = insight_of(msgspec.structs.replace(review(), results=failing))
    assert [one.name for one in look.failing] == ["x"]


# --- sign-offs and verdicts ------------------------------------------------------------------------------------------


def talk(*comments: Comment, **parts: Any) -> Insight:
    return insight_of(with_parts(review(), conversation=complete(comments), **parts))


def own(at: str = "2026-08-12T10:00:00Z", number: int = 5, **changed: Any) -> Comment:
    return said(SIGN_OFF, number=number, author="Ankur-Singh", created_at=at, updated_at=at, **changed)


def verdict(body: str, at: str = "2026-08-12T11:00:00Z", *, marker: str = f"sha={HEAD}", **changed: Any) -> Comment:
    changed = {"author": "github-actions[bot]", "is_bot": True, "number": 9, **changed}
    text = f"<!-- codeowner-signoff-verify {marker} -->\n{body}"
    return said(text, created_at=at, updated_at=at, **changed)


def test_the_verdict_on_this_head_is_the_sign_offs() -> None:
    look = talk(own(), verdict(REJECTED))
    assert look.verdict is Verdict.REJECTED
    assert look.of("ankur-singh") == SignedOff(
        author="Ankur-Singh",
        at="2026-08-12T10:00:00Z",
        at_head=True,
        judged=True,
        verdict=Verdict.REJECTED,
        failing=("recipe",),
    )
    assert row(look=msgspec.structs.replace(look, updated_at=insight().updated_at)).waits_for == "author: recipe"


def test_an_edited_sign_off_waits_for_a_new_verdict() -> None:
    look = talk(own("2026-08-12T12:00:00Z"), verdict(REJECTED))
    assert look.of(SIGNER) == SignedOff(author="Ankur-Singh", at="2026-08-12T12:00:00Z", at_head=True)


def test_a_verdict_on_another_sign_off_or_by_a_stranger_does_not_count() -> None:
    other = verdict(PASS + f"\nAssessed commit: `{HEAD}`.\n", marker="signoff=issuecomment-77")
    assert not (talk(own(), other).of(SIGNER) or signed()).judged
    forged = talk(own(), verdict(PASS, author="mallory", is_bot=False))
    assert (forged.verdict, (forged.of(SIGNER) or signed()).judged) == (None, False)


def verified(state: str, at: str, **changed: Any) -> dict[str, Any]:
    """A head with a commit status of the verifier."""
    usual = {"id": 1, "context": "codeowner-signoff-verify", "creator": "github-actions[bot]", "creator_is_bot": True}
    return {"statuses": complete((CommitStatus(**{**usual, "state": state, "updated_at": at, **changed}),))}


def status_told(*comments: Comment, workflow: str = VERIFY_WORKFLOW, **parts: Any) -> QueueRow:
    """The row of a pull request of a repository whose verifier sets a commit status."""
    made = with_parts(review(), conversation=complete(comments), **parts)
    policy = DictTree({WORKFLOW_PATH: workflow}, "f" * 40)
    look = insight_of(msgspec.structs.replace(made, trees=msgspec.structs.replace(made.trees, policy=policy)))
    return row(look=msgspec.structs.replace(look, updated_at=insight().updated_at))


@pytest.mark.parametrize(
    ("state", "waits", "waits_for"),
    [
        ("failure", Waits.BLOCKED, "you: failure"),
        ("error", Waits.BLOCKED, "you: error"),
        ("pending", Waits.PENDING, "verdict"),
        ("success", Waits.PENDING, "verdict"),
    ],
)
def test_a_commit_status_after_the_sign_off_is_the_verifier_s_word(state: str, waits: Waits, waits_for: str) -> None:
    made = status_told(own(), **verified(state, "2026-08-12T11:00:00Z"))
    assert (made.waits, made.waits_for) == (waits, waits_for)
    assert f"commit status {'is' if state == 'pending' else 'says'} {state}" in made.why


def test_a_commit_status_that_need_not_be_the_verifier_s_word_on_it_decides_nothing() -> None:
    person = status_told(own(), **verified("failure", "2026-08-12T11:00:00Z", creator_is_bot=False))
    assert (person.waits, person.waits_for) == (Waits.PENDING, "verdict")
    assert "A person set it" in person.why
    before = status_told(own(), **verified("failure", "2026-08-12T09:59:59Z"))
    other = status_told(own(), **verified("failure", "2026-08-12T11:00:00Z", context="a build"))
    advisory = status_told(own(), workflow="on: []\n", **verified("failure", "2026-08-12T11:00:00Z"))
    for made in (before, other, advisory):
        assert "the verifier has not spoken" in made.why
    comment = status_told(own(), verdict(PASS), **verified("failure", "2026-08-12T11:00:00Z"))
    assert comment.waits is Waits.DONE, "the comment says more than the status"


def test_a_verdict_that_is_none_leaves_the_sign_off_pending() -> None:
    headline = REJECTED.splitlines()[0]
    rowless = f"{headline}\n\nNo valid verdict was produced.\n\nAssessed commit: `{HEAD}`.\n"
    look = talk(own(), verdict(rowless, marker="signoff=issuecomment-5"))
    mine = look.of(SIGNER)
    assert mine is not None
    assert (mine.judged, mine.verdict) == (True, None)
    assert "no valid verdict" in row(look=look).why


@pytest.mark.parametrize(
    ("at", "parts", "at_head"),
    [
        ("2026-08-12T10:00:00Z", {}, True),
        ("2026-08-12T08:00:00Z", {}, None),
        ("2026-08-12T08:00:00Z", {"events": "2026-08-12T08:30:00Z"}, False),
        ("2026-08-12T08:00:00Z", {"events": "2026-08-12T07:30:00Z"}, None),
        ("2026-08-12T08:00:00Z", {"commits": "2026-08-12T10:30:00+02:00"}, False),
        ("2026-08-12T08:00:00Z", {"commits": "2026-08-12T09:30:00+02:00"}, None),
        ("2026-08-12T08:00:00Z", {"commits": "yesterday"}, None),
        ("whenever", {}, None),
    ],
)
def test_whether_a_sign_off_is_of_this_head(at: str, parts: dict[str, str], at_head: bool | None) -> None:
    """The sweep of this head began at nine."""
    given: dict[str, Any] = {}
    if "events" in parts:
        pushed = Event(kind="head_ref_force_pushed", actor="author", created_at=parts["events"])
        given["events"] = complete((pushed,))
    if "commits" in parts:
        given["commits"] = complete((msgspec.structs.replace(commit(HEAD), authored_at=parts["commits"]),))
    mine = talk(own(at), **given).of(SIGNER)
    assert mine is not None
    assert mine.at_head is at_head


def test_a_review_names_its_commit() -> None:
    for sha, at_head in ((HEAD, True), (EARLIER, False)):
        look = talk(own(kind="review", review_state="COMMENTED", commit=sha))
        assert (look.of(SIGNER) or signed(at_head=None)).at_head is at_head
    assert talk(own(kind="review", review_state="DISMISSED", commit=HEAD)).sign_offs == ()


def test_unread_comments_hide_no_sign_off() -> None:
    look = insight_of(with_parts(review(), conversation=unavailable("A clone holds no comments.")))
    assert look.unread == "A clone holds no comments."
    assert row(look=msgspec.structs.replace(look, failing=())).waits is Waits.UNKNOWN


def test_a_listing_made_of_a_review_has_no_host_facts_where_there_are_none() -> None:
    made = with_parts(review(), info=unavailable("A clone does not tell."), commits=complete(()))
    one = listed_of(made)
    assert (one.info.known, one.title) == (False, "qwen3.5-fp4-b200-sglang-mtp")
    made_row = row(one, insight_of(made))
    assert (made_row.draft, made_row.labels, made_row.author) == (None, None, "")
    told = msgspec.structs.replace(
        made,
        changes=msgspec.structs.replace(made.changes, keys=()),
        snapshot=msgspec.structs.replace(
            made.snapshot,
            commits=complete((Commit(sha=HEAD, parents=(), author="", authored_at="", subject="Say more"),)),
        ),
    )
    assert listed_of(told).title == "commit: Say more"


# --- as a table -------------------------------------------------------------------------------------------------------


def test_ages() -> None:
    for moment, told in (
        ("2026-08-12T11:59:50Z", "10 s"),
        ("2026-08-12T11:30:00Z", "30 min"),
        ("2026-08-12T12:00:00+02:00", "2 h"),
        ("2026-08-01T12:00:00Z", "11 d"),
        ("2026-08-12T12:00:01Z", "0 s"),
        ("", "-"),
        ("2026-08-12T11:00:00", "-"),
    ):
        assert short_age(moment, NOW) == told


def test_what_is_not_known_is_a_dash_and_a_prediction_stands_in_brackets() -> None:
    bare = row_cells(row(Listed(ref=ref(), head="", info=unavailable("-"), asked=unavailable("-"))), NOW)
    assert [bare[name] for name in ("title", "head", "lanes", "evals", "recipe", "verdict", "age")] == ["-"] * 7
    known = row_cells(row(look=insight(verdict=Verdict.REJECTED, evals=Count(0, 0))), NOW)
    assert [known[name] for name in ("number", "head", "lanes", "evals", "verdict", "age")] == [
        *("7", "aaaaaaa", "13/13", "none", "REJECTED", "60 min")
    ]
    assert row_cells(row(look=insight()), NOW)["verdict"] == "(undecided)"


def test_narrow_tables_keep_the_title_and_what_it_waits_for() -> None:
    texts = [row_cells(row(listed(title="t" * 80), insight()), NOW)]
    assert list(columns(texts, 120)) == [
        *("number", "title", "head", "lanes", "evals", "recipe", "verdict", "waits_for", "age")
    ]
    assert list(columns(texts, 30)) == ["number", "title", "waits_for"]
    assert columns(texts, 60)["title"] >= 24


HOSTILE = st.text(max_size=60) | st.just("\x1b[31mred\u202e\n\ttitle 漢字")
INSIGHTS = st.builds(
    insight,
    head=st.sampled_from([HEAD, EARLIER]),
    sweep=st.sampled_from(["green", "incomplete", "running", "unknown", "red", "unplanned", "none", "not_needed"]),
    lanes=st.none() | st.builds(Count, st.integers(0, 999), st.integers(0, 999)),
    failing=st.lists(st.builds(Failing, st.sampled_from(["sweep", "reuse", "x"]), HOSTILE), max_size=2).map(tuple),
    unread=st.sampled_from(["", "Not read."]),
    sign_offs=st.lists(
        st.builds(
            SignedOff,
            author=st.sampled_from([SIGNER, "other", ""]),
            at=st.just("2026-08-12T09:00:00Z"),
            at_head=st.sampled_from([True, False, None]),
            judged=st.booleans(),
            verdict=st.sampled_from([None, *Verdict]),
            failing=st.lists(HOSTILE, max_size=2).map(tuple),
        ),
        max_size=2,
    ).map(tuple),
)
LISTINGS = st.builds(
    lambda title, draft, asked: listed(title=title, draft=draft, asked=asked),
    HOSTILE,
    st.booleans(),
    st.sampled_from([ASKED, complete(()), partial((), "Some."), unavailable("None.")]),
)


@settings(max_examples=150, deadline=None)
@given(st.none() | INSIGHTS, LISTINGS, st.sampled_from([SIGNER, ""]), st.integers(20, 200))
def test_nothing_is_ready_that_fails_or_is_not_known(
    look: Insight | None, one: Listed, signer: str, width: int
) -> None:
    made = row(one, look, signer)
    if made.waits is Waits.READY:
        assert look is not None
        assert look.head == one.head
        assert not look.failing
        assert not look.unread
        assert look.sweep not in ("unknown", "running")
        assert one.asked.known
    for text in table_lines([made], width, NOW):
        assert cells(text) <= max(width, 32)
        assert not has_unsafe(text)
        assert "\n" not in text
