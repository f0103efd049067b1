"""Posting: nothing that was not previewed, nothing twice, nothing lost."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from reviewer_tui.review.post_concerns import Grade
from reviewer_tui.review.posting import Gate, NotSentError
from reviewer_tui.signoff.comment_text import mark_of, unmarked
from reviewer_tui.sources.github import errors
from reviewer_tui.store.posts import JournalError, PostState
from tests.fake_github.server import Fault, Reply
from tests.review.posts import COMMAND, EDITING, LISTING, LOGIN, LOOKING, POSTING, SIGN_OFF, Bench, rules
from tests.signoff.texts import signed


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with ExitStack() as stack:
        yield Bench(tmp_path, stack)


def changed_sign_off() -> str:
    return signed(login=LOGIN, detail="Recipe: https://github.com/sgl-project/sglang/pull/34357. Evals pass.")


# --- the way it should go ---------------------------------------------------------------------------------------------


def test_exactly_what_was_previewed_is_posted_and_read_back(bench: Bench) -> None:
    preview = bench.preview()
    assert (preview.login, preview.kind, preview.head) == (LOGIN, "sign-off", bench.plain.pull.head_sha)
    assert preview.edits is None
    assert preview.concerns == ()
    assert bench.writes() == 0
    assert not bench.journal.path.exists(), "looking leaves nothing behind"
    outcome = bench.send(preview)
    assert outcome.state == "posted"
    assert outcome.remarks == ()
    assert outcome.judgement is not None
    assert outcome.judgement.lint.faults == ()
    (comment,) = bench.own
    assert comment.body == preview.body
    assert unmarked(comment.body) == SIGN_OFF.rstrip()
    (kept,) = bench.journal.posted(bench.ref)
    assert (kept.uuid, kept.body, kept.comment, kept.url) == (
        mark_of(comment.body),
        comment.body,
        comment.id,
        outcome.url,
    )
    assert bench.progress == ["looking how things stand", "sending", "reading it back"]


def test_line_ends_are_plain_and_a_byte_order_mark_is_none(bench: Bench) -> None:
    assert bench.preview("\ufeffOne\r\ntwo\rthree\r\n").body == "One\ntwo\nthree"


def test_a_command_is_sent_as_it_is(bench: Bench) -> None:
    preview = bench.preview(f"{COMMAND}\n")
    assert preview.kind == "command"
    assert rules(preview.concerns) == ["command"]
    assert "run 1001" in preview.concerns[0].message
    bench.send(preview)
    assert [comment.body for comment in bench.own] == [COMMAND]


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (None, "acme/bench has no run 1002"),
        ({"event": "workflow_dispatch"}, "it is a run of .github/workflows/run-sweep.yml by workflow_dispatch"),
        ({"path": ".github/workflows/e2e-tests.yml"}, "it is a run of .github/workflows/e2e-tests.yml"),
        ({"sha": "c" * 40}, "it swept ccccccccc, which is no longer a commit"),
    ],
)
def test_a_command_for_a_run_that_is_no_sweep_of_the_pull_request_needs_a_word(
    bench: Bench, facts: dict[str, str] | None, words: str
) -> None:
    if facts is not None:
        told = dict(facts)
        bench.plain.sweep(1002, told.pop("sha", bench.plain.shas[-1]), **told)
    preview = bench.preview("/use 1002")
    (asked,) = preview.graded(Grade.ASK)
    assert asked.rule == "command-run"
    assert words in asked.message
    with pytest.raises(NotSentError):
        bench.send(preview)
    assert bench.send(preview, accepted=True).state == "posted"


def test_a_command_for_a_run_that_the_token_may_not_read_needs_a_word(bench: Bench) -> None:
    bench.fail(r"/actions/runs/1001$", 403, "Resource not accessible by personal access token", method="GET", times=9)
    (asked,) = bench.preview(COMMAND).graded(Grade.ASK)
    assert asked.message.startswith("Run 1001 could not be read, so whether it is a sweep of #7 is not known")


def test_a_sweep_of_an_earlier_commit_may_be_reused(tmp_path: Path) -> None:
    with ExitStack() as stack:
        bench = Bench(tmp_path, stack, commits=2)
        assert rules(bench.preview("/use 1001").concerns) == ["command"]


def test_an_own_sign_off_is_edited_not_doubled(bench: Bench) -> None:
    first = bench.post()
    preview = bench.preview(changed_sign_off())
    assert preview.edits is not None
    assert preview.edits.id == first.comment
    assert bench.send(preview).state == "posted"
    (comment,) = bench.own
    assert unmarked(comment.body) == changed_sign_off().rstrip()
    assert comment.body.count("<!-- ixr:") == 1


def test_a_second_sign_off_needs_a_word(bench: Bench) -> None:
    bench.post()
    preview = bench.preview(changed_sign_off(), new=True)
    assert preview.edits is None
    assert rules(preview.graded(Grade.ASK)) == ["second-sign-off"]
    with pytest.raises(NotSentError, match="signed off already"):
        bench.send(preview)
    assert bench.send(preview, accepted=True).state == "posted"
    assert len(bench.own) == 2


def test_others_may_have_signed_too(bench: Bench) -> None:
    bench.plain.say(signed(login="member"))
    preview = bench.preview()
    assert preview.edits is None
    assert rules(preview.concerns) == ["other-sign-off"]
    assert bench.send(preview).state == "posted"


def test_only_an_own_comment_of_this_conversation_is_edited(bench: Bench) -> None:
    foreign = bench.plain.say("Hello")
    assert rules(bench.preview(edits=foreign.id).graded(Grade.STOP)) == ["edit-foreign"]
    assert rules(bench.preview(edits=31).graded(Grade.STOP)) == ["edit-review"]
    assert rules(bench.preview(edits=12345).graded(Grade.STOP)) == ["edit-absent"]
    with pytest.raises(NotSentError, match="is by member"):
        bench.send(bench.preview(edits=foreign.id), accepted=True)
    assert bench.writes() == 0


# --- what speaks against it -------------------------------------------------------------------------------------------


def test_the_same_text_is_not_posted_twice(bench: Bench) -> None:
    first = bench.post(COMMAND)
    again = bench.preview(COMMAND)
    assert [(c.rule, c.url) for c in again.graded(Grade.AGAIN)] == [("posted-already", first.url)]
    with pytest.raises(NotSentError, match="exactly this text"):
        bench.send(again, accepted=True)
    assert bench.send(bench.preview(COMMAND, again=True)).state == "posted"
    assert len(bench.own) == 2


def test_a_sign_off_that_says_the_same_already_is_left_alone(bench: Bench) -> None:
    bench.post()
    preview = bench.preview(SIGN_OFF.replace("\n", "\r\n"))
    assert rules(preview.graded(Grade.STOP)) == ["same-text"]


def test_a_list_that_lags_does_not_hide_what_the_journal_knows(bench: Bench) -> None:
    bench.post(COMMAND)
    bench.fake.faults.append(Fault(LISTING, Reply(200, []), times=None))
    assert rules(bench.preview(COMMAND).graded(Grade.AGAIN)) == ["posted-already"]


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"state": "closed"}, "closed"),
        ({"state": "closed", "merged_at": "2026-08-12T00:00:00Z"}, "merged"),
        ({"draft": True}, "draft"),
        ({"locked": True}, "locked"),
    ],
)
def test_the_state_of_the_pull_request_is_asked_about(bench: Bench, change: dict[str, object], rule: str) -> None:
    for name, value in change.items():
        setattr(bench.plain.pull, name, value)
    assert rules(bench.preview().graded(Grade.ASK)) == [rule]


def test_a_head_that_was_not_reviewed_is_asked_about(bench: Bench) -> None:
    assert bench.preview(head=bench.plain.pull.head_sha).concerns == ()
    preview = bench.preview(head="a" * 40)
    assert rules(preview.graded(Grade.ASK)) == ["head-moved"]
    assert "you reviewed aaaaaaaaa" in preview.concerns[0].message


@pytest.mark.parametrize(
    ("text", "rule", "grade"),
    [
        ("", "empty", Grade.STOP),
        ("x" * 65_537, "too-long", Grade.STOP),
        ("<!-- codeowner-signoff-verify sha=" + "a" * 40 + " -->\n## **Verdict: PASS**", "forged-verdict", Grade.STOP),
        ("NUL \x00", "broken-text", Grade.STOP),
        ("/use me", "command-unread", Grade.ASK),
        (SIGN_OFF + f"\n{COMMAND}\n", "command", Grade.ASK),
        (signed(login="somebody"), "lint-signature-differs", Grade.ASK),
        (SIGN_OFF.split("\n", 1)[1], "lint-trigger-missing", Grade.ASK),
        (SIGN_OFF.replace("- [x]", "- [ ]", 1), "lint-item-unexplained", Grade.ASK),
    ],
)
def test_the_text_is_judged(bench: Bench, text: str, rule: str, grade: Grade) -> None:
    assert rule in rules(bench.preview(text).graded(grade))


def test_who_is_called_by_the_text_is_told(bench: Bench) -> None:
    text = "Thanks @octocat and @acme/core; not me@example.org, `@code` or\n```\n@fence\n```\n/@path"
    (concern,) = bench.preview(text).concerns
    assert concern.message == "The text calls @octocat, @acme/core, who get a message."
    assert bench.preview().concerns == ()


def test_a_token_that_lacks_the_scope_and_a_bot_are_told(bench: Bench) -> None:
    user = bench.plain.world.user(LOGIN)
    user.scopes, user.type = "gist, read:org", "Bot"
    assert set(rules(bench.preview().concerns)) == {"scope", "bot"}


# --- between preview and sending --------------------------------------------------------------------------------------


def test_a_head_that_moves_after_the_preview_stops_the_post(bench: Bench) -> None:
    preview = bench.preview(head=bench.plain.pull.head_sha)
    bench.plain.pull.head_sha = bench.plain.base
    outcome = bench.send(preview, accepted=True)
    assert outcome.state == "changed"
    assert outcome.preview is not None
    assert rules(outcome.preview.concerns) == ["head-moved"]
    assert bench.writes() == 0
    assert bench.journal.unfinished() == ()
    assert bench.send(outcome.preview, accepted=True).state == "posted", "after being told"


def test_a_sign_off_by_somebody_else_after_the_preview_is_told_first(bench: Bench) -> None:
    preview = bench.preview()
    bench.plain.say(signed(login="member"))
    outcome = bench.send(preview)
    assert outcome.state == "changed"
    assert outcome.preview is not None
    assert rules(outcome.preview.concerns) == ["other-sign-off"]
    assert bench.send(outcome.preview).state == "posted"


def test_a_comment_that_was_edited_meanwhile_is_not_overwritten(bench: Bench) -> None:
    bench.post()
    preview = bench.preview(changed_sign_off())
    bench.own[0].body += "\nEdited in the browser."
    assert bench.send(preview).state == "changed"
    assert bench.own[0].body.endswith("Edited in the browser.")


def test_another_token_than_previewed_does_not_post(bench: Bench) -> None:
    preview = bench.preview(COMMAND)
    bench.plain.world.tokens["ghp_" + "other" * 8] = bench.plain.world.user("other")
    assert bench.poster("ghp_" + "other" * 8).send(preview, accepted=True).state == "changed"
    assert bench.writes() == 0


def test_a_post_is_stopped_until_it_is_sent(bench: Bench) -> None:
    preview, gate = bench.preview(), Gate()
    assert bench.poster().stop(gate)
    with pytest.raises(NotSentError, match="stopped in time"):
        bench.send(preview, gate=gate)
    assert bench.writes() == 0
    assert bench.journal.unfinished() == ()
    passed = Gate()
    assert bench.send(bench.preview(), gate=passed).state == "posted"
    assert not bench.poster().stop(passed)


def test_of_two_processes_at_once_one_posts(bench: Bench) -> None:
    first, second = bench.preview(COMMAND), bench.preview(COMMAND)
    bench.fake.faults.append(Fault(POSTING, method="POST", afterwards=True, delay=0.25))
    outcomes: list[str] = []

    def attempt(preview: object) -> None:
        try:
            outcomes.append(bench.send(preview).state)  # type: ignore[arg-type]
        except (JournalError, NotSentError):
            outcomes.append("refused")

    threads = [threading.Thread(target=attempt, args=(one,)) for one in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) in (["changed", "posted"], ["posted", "refused"])
    assert len(bench.own) == 1


# --- answers that are unclear, and those that are not -----------------------------------------------------------------

UNCLEAR = {
    "timeout after": Fault(POSTING, method="POST", afterwards=True, delay=0.6),
    "502 after": Fault(POSTING, Reply(502), method="POST", afterwards=True),
    "reset after": Fault(POSTING, method="POST", afterwards=True, drop=True),
    "odd answer": Fault(POSTING, Reply(201, {"ok": True}), method="POST", afterwards=True),
    "502 before": Fault(POSTING, Reply(502), method="POST"),
    "reset before": Fault(POSTING, method="POST", drop=True),
}


@pytest.mark.parametrize("name", UNCLEAR)
@pytest.mark.parametrize("text", [SIGN_OFF, COMMAND], ids=["sign-off", "command"])
def test_after_an_unclear_answer_the_comment_is_looked_for(bench: Bench, name: str, text: str) -> None:
    fault = dataclasses.replace(UNCLEAR[name])
    bench.fake.faults.append(fault)
    outcome = bench.post(text)
    time.sleep(fault.delay)
    assert bench.writes() == 1
    assert bench.pauses, "it waited before looking"
    if fault.afterwards:
        assert outcome.state == "posted"
        assert [comment.id for comment in bench.own] == [outcome.comment]
        assert bench.journal.unfinished() == ()
    else:
        assert outcome.state == "unknown"
        assert bench.own == []
        (left,) = bench.journal.unfinished()
        assert left.state is PostState.UNKNOWN
        assert left.reason == outcome.reason != ""


def test_a_post_of_unknown_fate_is_sent_again_only_on_a_word(bench: Bench) -> None:
    bench.fail(status=502)
    assert bench.post(COMMAND).state == "unknown"
    preview = bench.preview(COMMAND)
    assert rules(preview.graded(Grade.AGAIN)) == ["fate-unknown"]
    with pytest.raises(NotSentError, match="may still appear"):
        bench.send(preview, accepted=True)
    assert bench.writes() == 1
    bench.pauses.clear()
    again = bench.preview(COMMAND, again=True)
    assert bench.send(again).state == "posted"
    assert 10 < sum(bench.pauses) <= 15, "an earlier post gets time to appear"
    assert len(bench.own) == 1
    assert bench.journal.unfinished() == ()


def test_stopping_a_resend_leaves_the_first_post_in_doubt(bench: Bench) -> None:
    bench.fail(status=502)
    assert bench.post(COMMAND).state == "unknown"
    again, gate = bench.preview(COMMAND, again=True), Gate()
    poster = bench.poster(pause=lambda seconds: gate.stop())
    with pytest.raises(NotSentError, match="stopped in time"):
        poster.send(again, accepted=True, gate=gate)
    assert [post.state for post in bench.journal.unfinished()] == [PostState.UNKNOWN]
    preview = bench.preview(COMMAND)
    assert rules(preview.graded(Grade.AGAIN)) == ["fate-unknown"]
    with pytest.raises(NotSentError, match="may still appear"):
        bench.send(preview, accepted=True)
    assert bench.writes() == 1


def test_a_comment_that_appears_late_is_found_before_anything_is_sent_again(bench: Bench) -> None:
    bench.fail(status=502, afterwards=True)
    bench.fake.faults.append(Fault(LOOKING, Reply(200, []), times=2))
    assert bench.post(COMMAND).state == "unknown"
    assert len(bench.own) == 1
    bench.fake.faults.clear()
    preview = bench.preview(COMMAND, again=True)
    assert rules(preview.graded(Grade.AGAIN)) == ["posted-already"]
    assert bench.journal.unfinished() == ()


def test_an_edit_of_unclear_fate_is_looked_for(bench: Bench) -> None:
    bench.post()
    bench.fail(EDITING, 502, method="PATCH", afterwards=True)
    assert bench.post(changed_sign_off()).state == "posted"
    bench.fail(EDITING, 502, method="PATCH")
    assert bench.post(SIGN_OFF).state == "unknown"
    assert unmarked(bench.own[0].body) == changed_sign_off().rstrip()
    preview = bench.preview(SIGN_OFF)
    assert "fate-unknown-edit" in rules(preview.graded(Grade.NOTE))
    assert bench.send(preview).state == "posted"
    assert bench.journal.unfinished() == ()
    assert len(bench.own) == 1


def test_looking_that_fails_leaves_the_fate_unknown(bench: Bench) -> None:
    preview = bench.preview(COMMAND)
    bench.fail(status=502, afterwards=True)
    bench.fake.faults.append(Fault(LOOKING, Reply(404, {}), times=None))
    assert bench.send(preview).state == "unknown"
    (left,) = bench.journal.unfinished()
    assert left.state is PostState.UNKNOWN


@pytest.mark.parametrize(
    ("status", "message", "error"),
    [
        (403, "Unable to create comment because issue is locked.", errors.CommentRefusedError),
        (403, "secondary rate limit", errors.RateLimitedError),
        (422, "spammed", errors.CommentRefusedError),
        (404, "Not Found", errors.PermissionMissingError),
        (307, "", errors.RedirectRefusedError),
    ],
)
def test_a_clear_refusal_leaves_nothing_open(
    bench: Bench, status: int, message: str, error: type[errors.GitHubError]
) -> None:
    bench.fail(status=status, message=message)
    with pytest.raises(error):
        bench.post(COMMAND)
    assert bench.own == []
    assert bench.journal.unfinished() == ()
    assert bench.post(COMMAND).state == "posted", "the way is free again"


def test_a_post_that_cannot_be_written_down_is_not_sent(bench: Bench) -> None:
    preview = bench.preview(COMMAND)
    bench.journal.path.write_bytes(b"broken" * 1000)
    with pytest.raises(JournalError, match="Nothing is posted without it"):
        bench.send(preview)
    assert bench.writes() == 0


def test_what_stands_there_differently_is_said(bench: Bench) -> None:
    preview = bench.preview(COMMAND)
    bench.fake.faults.append(Fault(EDITING, Reply(404, {"message": "Not Found"})))
    gone = bench.send(preview)
    assert (gone.state, gone.remarks) == ("posted", ("It is gone again: somebody or something removed it.",))
    preview = bench.preview("Thank you!")
    answer = {"id": 1, "created_at": "", "updated_at": "", "body": "Thank y…", "user": {"login": LOGIN}}
    bench.fake.faults.append(Fault(EDITING, Reply(200, answer), times=2))
    assert bench.send(preview).remarks == ("What stands there differs from what was sent.",)
    bench.fake.faults.clear()
    preview = bench.preview("Thanks again!")
    bench.fake.faults.append(Fault(EDITING, Reply(500), times=None))
    unread = bench.send(preview)
    assert unread.state == "posted"
    assert "could not be read back" in unread.remarks[0]


# --- what others left behind ------------------------------------------------------------------------------------------


def test_a_comment_of_somebody_else_or_of_another_post_is_not_taken_for_ones_own(bench: Bench) -> None:
    preview = bench.preview(COMMAND)
    bench.fail(status=502)
    assert bench.send(preview).state == "unknown"
    bench.plain.say(COMMAND, login="member")
    left = bench.poster().leftovers(bench.ref)
    assert [one.post.uuid for one in left] == [preview.uuid]
    assert "no clear answer" in left[0].message
    late = bench.plain.say(f"{COMMAND}  \r\n", login=LOGIN)
    assert bench.poster().leftovers(bench.ref) == left, "one of long ago is not it either"
    late.created_at = late.updated_at = preview.at
    assert "did arrive" in bench.poster().leftovers(bench.ref)[0].message
    assert bench.journal.unfinished() == ()
    assert bench.journal.posted(bench.ref)[0].comment == late.id


def test_nothing_is_asked_where_nothing_is_left(bench: Bench) -> None:
    poster = bench.poster()
    assert poster.leftovers(bench.ref) == ()
    assert bench.fake.seen == []
