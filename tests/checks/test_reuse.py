"""The reuse check: commands of both eras, who may give them, and what they pin."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reviewer_tui.checks.reuse import ReuseRule, commands_of, decide, reuse_rule
from reviewer_tui.model.finding import Status
from reviewer_tui.model.part import complete, partial, unavailable
from reviewer_tui.policy.verifier import parse_checks
from tests.checks.swept import EARLIER, GONE, RUN, run, said, swept

SUMMER = """\
## Check 4 — Reuse-sweep command explicitly posted
PASS only if a comment holds `/reuse-sweep-run`. FAIL if none does.
"""
AUTUMN = """\
## Check 4 — Reuse command posted
Prefer `/use <run_id>`; `/reuse-sweep-run [<run_id>]` is accepted. WARN if none is posted: an advisory reminder, not a
failing criterion.
"""
OLD = ReuseRule(("/reuse-sweep-run",), Status.FAIL)
NEW = ReuseRule(("/use", "/reuse-sweep-run"), Status.WARN)


def decided(*comments: Any, check: str = SUMMER, **parts: Any) -> Any:
    return decide(swept(run(), check=check, conversation=complete(comments), **parts))


def test_the_rule_is_in_the_policys_words() -> None:
    assert reuse_rule(SUMMER) == OLD
    assert reuse_rule(AUTUMN) == NEW
    assert reuse_rule("Look at 4.") == ReuseRule((), Status.JUDGEMENT)
    assert reuse_rule("See docs/use and a/reuse-sweep-run-more.").commands == ()


def test_the_real_texts_of_the_summer(real_data: Path) -> None:
    prompts = sorted((real_data / "inferencex" / "verifier").glob("*.md"))
    assert prompts
    for prompt in prompts:
        check = next(check for check in parse_checks(prompt.read_text(), prompt.name)[0] if check.name == "reuse")
        assert reuse_rule(f"{check.title}\n{check.text}") == OLD


@pytest.mark.parametrize(
    ("body", "summer", "autumn"),
    [
        ("/reuse-sweep-run", (None,), (None,)),
        ("/reuse-sweep-run 12", (12,), (12,)),
        ("  /reuse-sweep-run\t12  ", (12,), (12,)),
        ("Fine.\n/reuse-sweep-run 12\nThanks.", (12,), (12,)),
        ("/reuse-sweep-run\n\n  12", (12,), (None,)),
        ("/reuse-sweep-run\n12 is the run", (None,), (None,)),
        ("/reuse-sweep-run 12 please", (), ()),
        ("Please /reuse-sweep-run 12", (), ()),
        ("> /reuse-sweep-run 12", (), ()),
        ("```\n/reuse-sweep-run 12\n```", (12,), (12,)),
        ("/reuse-sweep-run 12\r\n", (12,), (12,)),
        ("/reuse-sweep-run 12\n/reuse-sweep-run", (None,), (None,)),
        ("/reuse-sweep-run\n/reuse-sweep-run 13", (13,), (13,)),
        ("/use 12", (), (12,)),
        ("/use", (), ()),
        ("/use\n12", (), ()),
        ("/use 12\n/reuse-sweep-run 13", (13,), (13,)),
        ("/reuse-sweep-run 13\n/use 12", (13,), (12,)),
        ("/used 12", (), ()),
        ("/reuse-sweep-run " + "9" * 5_000, (None,), (None,)),
        ("", (), ()),
    ],
)
def test_commands_of_both_eras(body: str, summer: tuple[Any, ...], autumn: tuple[Any, ...]) -> None:
    assert tuple(command.run_id for command in commands_of([said(body)], OLD)) == summer
    assert tuple(command.run_id for command in commands_of([said(body)], NEW)) == autumn


# As the repository's two programs write them; quadratic in blank lines, which is why they are not used.
_REPOSITORY = {
    OLD: re.compile(r"(?m)^\s*/reuse-sweep-run(?:\s+(\d+))?\s*$"),
    NEW: re.compile(r"(?m)^\s*(?:/reuse-sweep-run(?:[^\S\r\n]+(\d+))?|/use[^\S\r\n]+(\d+))\s*$"),
}
_PIECES = st.sampled_from(["/reuse-sweep-run", "/use", "12", "x", " ", "\t", "\n", "\r\n", "\n\n", "> ", "\u3000"])


@settings(max_examples=300, deadline=None)
@given(st.lists(_PIECES, max_size=10), st.sampled_from([OLD, NEW]))
@example(["/reuse-sweep-run", "\n", "12"], OLD)
def test_commands_are_those_of_the_repositorys_own_expressions(pieces: list[str], rule: ReuseRule) -> None:
    body = "".join(pieces)
    matches = list(_REPOSITORY[rule].finditer(body))
    expected = next((group for group in matches[-1].groups() if group), None) if matches else ""
    commands = commands_of([said(body)], rule)
    assert len(commands) == bool(matches)
    if commands:
        assert commands[0].run_id == (int(expected) if expected else None)


def test_endless_blanks_are_read_in_time() -> None:
    body = "\n" * 65_000 + "/reuse-sweep-run" + "\n \t" * 20_000 + "x"
    assert [command.run_id for command in commands_of([said(body)], OLD)] == [None]


@pytest.mark.parametrize(
    ("association", "status"),
    [
        ("OWNER", Status.PASS),
        ("MEMBER", Status.PASS),
        ("COLLABORATOR", Status.PASS),
        ("CONTRIBUTOR", Status.UNVERIFIED),
        ("NONE", Status.UNVERIFIED),
        ("", Status.UNVERIFIED),
    ],
)
def test_who_may_command(association: str, status: Status) -> None:
    result = decided(said("/reuse-sweep-run", association), viewer="a-reader")
    assert result.status is status
    if status is Status.UNVERIFIED:
        assert "(read as @a-reader)" in result.summary
        assert "unverified with this token" in result.summary


def test_only_issue_comments_command() -> None:
    for kind in ("review", "review_comment"):
        assert decided(said(f"/reuse-sweep-run {RUN}", kind=kind)).status is Status.FAIL


def test_without_a_command_the_era_decides() -> None:
    assert decided().status is Status.FAIL
    assert decided().summary == "No authorized `/reuse-sweep-run` command has been posted on this PR."
    assert decided(check=AUTUMN).status is Status.WARN
    assert decided(said(f"/use {RUN}"), check=SUMMER).status is Status.FAIL
    assert decided(said(f"/use {RUN}"), check=AUTUMN).status is Status.PASS
    assert decided(check="").status is Status.JUDGEMENT
    assert decided(said("/reuse-sweep-run"), check="").status is Status.JUDGEMENT


def test_what_was_not_read_does_not_fail() -> None:
    def read(part: Any) -> Status:
        return decide(swept(run(), check=SUMMER, conversation=part)).status

    assert read(unavailable("A clone does not hold comments.")) is Status.UNVERIFIED
    assert read(partial((), "Only some comments were read.")) is Status.UNVERIFIED
    assert read(partial((said("/reuse-sweep-run"),), "Only some comments were read.")) is Status.PASS


def test_the_newest_authorised_command_counts() -> None:
    result = decided(
        said("/reuse-sweep-run 1", "OWNER", 1),
        said(f"/reuse-sweep-run {RUN}", "MEMBER", 3),
        said("/reuse-sweep-run 2", "NONE", 4),
    )
    assert result.status is Status.PASS
    assert result.findings[1].message == f"Run {RUN} swept this head."


@pytest.mark.parametrize(
    ("changed", "status", "word"),
    [
        ({}, Status.PASS, "swept this head"),
        ({"head_sha": EARLIER}, Status.PASS, "a commit of the pull request"),
        ({"head_sha": GONE}, Status.WARN, "no longer a commit"),
        ({"event": "workflow_dispatch"}, Status.WARN, "cannot be reused"),
    ],
)
def test_what_a_command_pins_is_a_remark(changed: dict[str, Any], status: Status, word: str) -> None:
    conversation = complete((said(f"/reuse-sweep-run {RUN}"),))
    result = decide(swept(run(**changed), check=SUMMER, conversation=conversation))
    assert result.status is Status.PASS
    assert result.findings[1].status is status
    assert word in result.findings[1].message
    assert status is Status.PASS or word in result.summary


@pytest.mark.parametrize(
    "runs",
    [
        complete((run(id=RUN + 1),)),
        partial((run(id=RUN + 1),), f"The named run {RUN} could not be read.", "Load it again."),
        unavailable("Only loaded online.", "Load it again."),
    ],
)
def test_a_pinned_run_that_was_not_read_is_unverified(runs: Any) -> None:
    evidence = swept(check=SUMMER, conversation=complete((said(f"/reuse-sweep-run {RUN}"),)))
    snapshot = msgspec.structs.replace(evidence.snapshot, runs=runs)
    result = decide(msgspec.structs.replace(evidence, snapshot=snapshot))
    assert [result.status, result.findings[0].status] == [Status.UNVERIFIED, Status.PASS]
    assert f"Run {RUN} is not among the known runs." in result.summary
    assert result.findings[1].message.endswith("Load it again.") is not runs.complete
    unpinned = msgspec.structs.replace(snapshot, conversation=complete((said("/reuse-sweep-run"),)))
    assert decide(msgspec.structs.replace(evidence, snapshot=unpinned)).status is Status.PASS


def test_labels_that_keep_a_sweep_from_being_reused() -> None:
    result = decided(said("/reuse-sweep-run"), labels=("evals-only",))
    assert result.status is Status.PASS
    assert "label evals-only cannot be reused" in result.findings[-1].message
    assert len(decided(said("/reuse-sweep-run"), labels=("evals-only",), check=AUTUMN).findings) == 1
