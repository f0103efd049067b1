"""One conversation as somebody sees it who is about to speak there, and every way in which GitHub may refuse."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from reviewer_tui.model.errors import UsageError
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.sources.github import errors
from reviewer_tui.sources.github.posting import CommentBoard, since
from reviewer_tui.sources.github.transport import Timeouts
from tests.fake_github import plain
from tests.fake_github.server import Fault, Reply
from tests.sources.github.conftest import Rig

POSTING = r"/issues/7/comments$"
EDITING = r"/issues/comments/\d+$"


def board(rig: Rig, **facts: Any) -> CommentBoard:
    return CommentBoard(rig.new_client(**facts), rig.ref)


def test_how_things_stand(rig: Rig) -> None:
    situation = board(rig).situation()
    assert (situation.speaker.login, situation.speaker.is_bot) == ("reader", False)
    assert situation.speaker.scopes == ("repo", "read:org")
    assert not situation.speaker.lacks_scope
    assert (situation.head, situation.title) == (rig.plain.pull.head_sha, "Widen the range")
    assert (situation.state, situation.draft, situation.merged, situation.locked) == ("open", False, False, False)
    assert [comment.body for comment in situation.comments][:2] == ["Fine\nby me", "From nobody"]
    assert {comment.kind for comment in situation.comments} == {"issue_comment", "review", "review_comment"}
    assert abs(time.mktime(time.strptime(situation.at, "%Y-%m-%dT%H:%M:%SZ")) - time.mktime(time.gmtime())) < 5


def test_a_change_is_seen_although_answers_are_kept(rig: Rig) -> None:
    own = board(rig)
    own.situation()
    rig.plain.pull.draft, rig.plain.pull.locked, rig.plain.pull.head_sha = True, True, rig.plain.base
    situation = own.situation()
    assert (situation.draft, situation.locked, situation.head) == (True, True, rig.plain.base)


def test_post_edit_and_read_back(rig: Rig) -> None:
    own = board(rig)
    made = own.create("One\n\ntwo  ")
    assert (made.body, made.author) == ("One\n\ntwo", "reader")
    edited = own.edit(made.id, "Three")
    assert (edited.id, edited.body) == (made.id, "Three")
    read = own.comment(made.id)
    assert read is not None
    assert read.body == "Three"
    assert own.comment(999) is None
    assert [comment.id for comment in own.said_since(made.created_at)] == [made.id]
    with pytest.raises(errors.HiddenError, match="to edit is gone"):
        own.edit(999, "x")


def test_without_a_token_there_is_nothing_to_ask(rig: Rig) -> None:
    with pytest.raises(errors.PermissionMissingError, match="Posting needs a token"):
        board(rig, token=None)
    assert rig.fake.seen == []


def test_another_host_is_not_written_to(rig: Rig) -> None:
    with pytest.raises(UsageError, match=r"Add --host github\.com"):
        CommentBoard(rig.client, PullRequestRef(plain.REPOSITORY, 7))


@pytest.mark.parametrize(
    ("status", "message", "error", "words"),
    [
        (403, "Unable to create comment because issue is locked.", errors.CommentRefusedError, "is locked"),
        (403, "User is blocked", errors.CommentRefusedError, "is blocked"),
        (403, "Resource not accessible by personal access token", errors.PermissionMissingError, "may not do"),
        (
            403,
            "You have exceeded a secondary rate limit and have been temporarily blocked",
            errors.RateLimitedError,
            "wait",
        ),
        (404, "Not Found", errors.PermissionMissingError, "may read #7, but not comment"),
        (410, "Issues are disabled for this repo", errors.GoneError, "disabled"),
        (422, "Body is too long (maximum is 65536 characters)", errors.CommentRefusedError, "too long"),
        (422, "Validation failed, or the endpoint has been spammed.", errors.CommentRefusedError, "for spam"),
        (422, "Validation Failed", errors.CommentRefusedError, "does not take"),
        (401, "Bad credentials", errors.TokenRefusedError, "refuses the token"),
    ],
)
@pytest.mark.parametrize("editing", [False, True], ids=["post", "edit"])
def test_a_refusal_says_what_it_means(
    rig: Rig, status: int, message: str, error: type[errors.GitHubError], words: str, editing: bool
) -> None:
    made, own = board(rig).create("There"), board(rig)
    before = [comment.body for comment in rig.plain.pull.comments]
    rig.fail(EDITING if editing else POSTING, status, message, method="PATCH" if editing else "POST")
    expected, said = (errors.HiddenError, "gone") if editing and status == 404 else (error, words)
    with pytest.raises(expected, match=said):
        own.edit(made.id, "x") if editing else own.create("x")
    assert [comment.body for comment in rig.plain.pull.comments] == before
    assert sum(seen.method != "GET" for seen in rig.fake.seen) == 2, "the first, and one that was refused"


def test_a_missing_scope_and_single_sign_on_are_named(rig: Rig) -> None:
    headers = {"X-Accepted-OAuth-Scopes": "repo, public_repo", "X-OAuth-Scopes": "gist"}
    rig.fail(POSTING, 403, "no", method="POST", headers=headers)
    with pytest.raises(errors.PermissionMissingError, match="lacks the scope repo or public_repo"):
        board(rig).create("x")
    sso = {"X-GitHub-SSO": f"required; url=https://{rig.fake.host}/orgs/acme/sso?x=1"}
    rig.fail(POSTING, 403, "no", method="POST", headers=sso)
    with pytest.raises(errors.SingleSignOnError, match="single sign-on"):
        board(rig).create("x")


@pytest.mark.parametrize(
    "fault",
    [
        Fault(POSTING, Reply(502), method="POST", afterwards=True),
        Fault(POSTING, Reply(502), method="POST"),
        Fault(POSTING, method="POST", drop=True),
        Fault(POSTING, method="POST", afterwards=True, drop=True),
        Fault(POSTING, method="POST", afterwards=True, delay=1),
    ],
    ids=["502 after", "502 before", "reset before", "reset after", "timeout after"],
)
def test_an_unclear_answer_is_called_so_and_nothing_is_sent_again(rig: Rig, fault: Fault) -> None:
    rig.fake.faults.append(fault)
    own = board(rig, timeouts=Timeouts(read=0.4))
    with pytest.raises(errors.UncertainWriteError):
        own.create("x")
    assert sum(seen.method == "POST" for seen in rig.fake.seen) <= 1
    assert sum(comment.body == "x" for comment in rig.plain.pull.comments) == int(fault.afterwards)


def test_a_write_is_not_sent_after_a_redirect_to_another_host(rig: Rig) -> None:
    reply = Reply(307, headers={"Location": f"{rig.fake.storage}/repos/acme/bench/issues/7/comments"})
    rig.fake.faults.append(Fault(POSTING, reply, method="POST"))
    with pytest.raises(errors.RedirectRefusedError):
        board(rig).create("x")
    assert rig.fake.stored == []
    assert len(rig.plain.pull.comments) == 2


def test_a_server_that_is_gone_has_taken_nothing(rig: Rig) -> None:
    own = board(rig)
    rig.fake.stop()
    with pytest.raises(errors.ConnectionLostError):
        own.create("x")


def test_a_write_that_is_cancelled_on_its_way_is_unclear(rig: Rig) -> None:
    rig.fake.faults.append(Fault(POSTING, method="POST", afterwards=True, delay=1.5))
    own = board(rig)
    threading.Timer(0.4, own.cancel).start()
    with pytest.raises(errors.UncertainWriteError, match="interrupted"):
        own.create("x")


def test_what_of_a_repository_matters_to_a_comment(rig: Rig) -> None:
    state = rig.source.repository_state()
    assert (state.full_name, state.private, state.archived) == (plain.REPOSITORY, False, False)


def test_some_seconds_before() -> None:
    assert since("2026-08-12T00:00:30Z", 60) == "2026-08-11T23:59:30Z"
