"""The conversation of one pull request as somebody sees it who is about to speak there, and the one way to speak.

Reads are fresh (revalidated) and may be repeated; a write is sent once, by one function, and whatever does not say
clearly that nothing was written is an UncertainWriteError.
"""

from __future__ import annotations

import datetime
import email.utils
from collections.abc import Mapping
from typing import Literal

import msgspec

from reviewer_tui.model.errors import UsageError
from reviewer_tui.model.pull_request import Comment, PullRequestRef
from reviewer_tui.model.run import Run
from reviewer_tui.sources.github.background import both
from reviewer_tui.sources.github.client import GitHubClient
from reviewer_tui.sources.github.errors import (
    CommentRefusedError,
    GitHubError,
    HiddenError,
    LoadCancelledError,
    PermissionMissingError,
    RequestRefusedError,
    UncertainWriteError,
)
from reviewer_tui.sources.github.facts import conversation_of, run_of
from reviewer_tui.sources.github.failures import log_in_first
from reviewer_tui.sources.github.shapes import (
    Account,
    Branch,
    CommitItem,
    IssueComment,
    Review,
    ReviewComment,
    WorkflowRun,
)

COMMENT_SCOPES = ("repo", "public_repo")
"""The classic scopes with one of which a token may comment on a public repository."""


MOST_LISTED_COMMITS = 250
"""GitHub lists no more commits of a pull request than these."""


class PullState(msgspec.Struct, frozen=True):
    """`GET /repos/{o}/{r}/pulls/{n}`, as far as it matters to a comment."""

    title: str
    state: str
    head: Branch
    draft: bool = False
    merged: bool = False
    merged_at: str | None = None
    locked: bool = False


class RepositoryState(msgspec.Struct, frozen=True):
    """`GET /repos/{o}/{r}`, as far as it matters to a comment."""

    full_name: str
    private: bool = False
    archived: bool = False


class Speaker(msgspec.Struct, frozen=True):
    """Whose token it is. `scopes` are a classic token's; empty for others, which do not tell theirs."""

    login: str
    is_bot: bool
    scopes: tuple[str, ...]

    @property
    def lacks_scope(self) -> bool:
        """Whether the token surely may not comment. One that tells no scopes may have the permission all the same."""
        return bool(self.scopes) and not set(self.scopes) & set(COMMENT_SCOPES)


class NamedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A workflow run that somebody names, by its id, without its jobs (None: GitHub shows no such run, or does not let
    the token read it, `problem` says why), and the commits of the pull request, where they were needed."""

    id: int
    run: Run | None
    problem: str = ""
    commits: tuple[str, ...] = ()
    commits_complete: bool = False


class Situation(msgspec.Struct, frozen=True, kw_only=True):
    """A pull request at one moment: `at` by GitHub's clock, ISO 8601, UTC; everything said, oldest first; `named` is
    the run that the text to be posted names, where it names one."""

    at: str
    speaker: Speaker
    head: str
    title: str
    state: str
    draft: bool
    merged: bool
    locked: bool
    comments: tuple[Comment, ...]
    named: NamedRun | None = None


class CommentBoard:
    """Reads and writes the conversation of one pull request, with the token of whoever speaks. Everything raises
    GitHubError; without a token there is no board."""

    def __init__(self, client: GitHubClient, ref: PullRequestRef) -> None:
        if ref.host.lower() != client.host.name:
            raise UsageError(
                f"#{ref.number} is on {ref.host}, but this speaks to {client.host.name}.", f"Add --host {ref.host}."
            )
        if not client.has_token:
            raise PermissionMissingError(
                "Posting needs a token.", log_in_first(client.host.name), missing="a token", status=None
            )
        self.ref = ref
        self._client = client
        self._pull = f"/repos/{ref.repository}/pulls/{ref.number}"
        self._issue = f"/repos/{ref.repository}/issues/{ref.number}"
        self._runs = f"/repos/{ref.repository}/actions/runs"
        self._comments = f"/repos/{ref.repository}/issues/comments"

    def situation(self) -> Situation:
        """How things stand now."""
        return self._client.run(self._situation())

    def said_since(self, moment: str) -> tuple[Comment, ...]:
        """The conversation's comments that were written or edited since a moment (ISO 8601, UTC)."""
        listing = self._client.run(self._client.listing(f"{self._issue}/comments", IssueComment, since=moment))
        return conversation_of(listing.items, (), ())

    def comment(self, number: int) -> Comment | None:
        """A comment of the conversation by its id; None where it is gone."""
        try:
            found = self._client.run(self._client.get(f"{self._comments}/{number}", IssueComment))
        except HiddenError:
            return None
        return _one(found)

    def named_run(self, number: int, head: str) -> NamedRun:
        """A run of the repository by its id, with the pull request's commits where it ran on another than `head`."""
        return self._client.run(self._named_run(number, head))

    def create(self, body: str) -> Comment:
        """Post a new comment, once."""
        return self._write("POST", f"{self._issue}/comments", body)

    def edit(self, number: int, body: str) -> Comment:
        """Replace the text of an own comment, once."""
        return self._write("PATCH", f"{self._comments}/{number}", body)

    def cancel(self) -> None:
        """End the reads that are under way; they raise LoadCancelledError."""
        self._client.cancel()

    async def _situation(self) -> Situation:
        read = self._client.listing
        (pull, viewer), (comments, (reviews, inline)) = await both(
            both(self._client.answer(self._pull, PullState), self._client.answer("/user", Account)),
            both(
                read(f"{self._issue}/comments", IssueComment),
                both(read(f"{self._pull}/reviews", Review), read(f"{self._pull}/comments", ReviewComment)),
            ),
        )
        state = pull.value
        return Situation(
            at=_moment(pull.headers),
            speaker=_speaker(viewer.value, viewer.headers),
            head=state.head.sha,
            title=state.title,
            state=state.state,
            draft=state.draft,
            merged=state.merged or state.merged_at is not None,
            locked=state.locked,
            comments=conversation_of(comments.items, reviews.items, inline.items),
        )

    async def _named_run(self, number: int, head: str) -> NamedRun:
        try:
            run = run_of(await self._client.get(f"{self._runs}/{number}", WorkflowRun), (), jobs_complete=False)
        except HiddenError:
            return NamedRun(id=number, run=None)
        except PermissionMissingError as fault:
            return NamedRun(id=number, run=None, problem=fault.message)
        if run.head_sha == head:
            return NamedRun(id=number, run=run)
        listing = await self._client.listing(f"{self._pull}/commits", CommitItem)
        commits = tuple(item.sha for item in listing.items)
        return NamedRun(id=number, run=run, commits=commits, commits_complete=len(commits) < MOST_LISTED_COMMITS)

    def _write(self, method: Literal["POST", "PATCH"], path: str, body: str) -> Comment:
        """The only function that changes anything at GitHub. Raises UncertainWriteError where the comment may be
        there; every other error says that it is not."""
        try:
            written = self._client.run(self._client.write(method, path, {"body": body}, IssueComment))
        except LoadCancelledError:
            raise UncertainWriteError(
                "It is not known whether the comment was posted: it was interrupted on its way.",
                "Look at the pull request before sending it again.",
            ) from None
        except GitHubError as fault:
            if method == "PATCH" and isinstance(fault, HiddenError):
                raise HiddenError("The comment to edit is gone, or hidden from this token.", status=404) from None
            raise self._refusal(fault) from None
        return _one(written)

    def _refusal(self, fault: GitHubError) -> GitHubError:
        """What a refusal of a comment means; GitHub tells most of them apart only in its words."""
        number, said = self.ref.number, fault.message.lower()
        if isinstance(fault, PermissionMissingError) and "blocked" in said:
            told = f"GitHub does not let this account comment on #{number}: it is blocked there."
            return _refused(told, "Ask the repository's owner.", "blocked", fault)
        if isinstance(fault, PermissionMissingError) and "locked" in said:
            told = (
                f"The conversation of #{number} is locked: GitHub takes comments only from those who may write there."
            )
            return _refused(told, "Ask a maintainer to unlock it, or to post it.", "locked", fault)
        if isinstance(fault, HiddenError):
            return PermissionMissingError(
                f"The token may read #{number}, but not comment there: GitHub hides the address from it.",
                "A classic token with the scope public_repo (or repo) can, and so can gh's.",
                endpoint=fault.endpoint,
                status=fault.status,
            )
        if isinstance(fault, RequestRefusedError) and fault.status == 422:
            if "too long" in said or "too_long" in said:
                return _refused(
                    f"The comment is too long for GitHub. {fault.message}", "Shorten it.", "too_long", fault
                )
            if "spam" in said:
                return _refused(
                    f"GitHub took the comment for spam. {fault.message}",
                    "Wait some minutes before trying again.",
                    "spam",
                    fault,
                )
            return _refused(f"GitHub does not take the comment. {fault.message}", "Look at its text.", "invalid", fault)
        return fault


def since(moment: str, seconds: int) -> str:
    """The moment so many seconds before another (ISO 8601, UTC)."""
    at = datetime.datetime.fromisoformat(moment.replace("Z", "+00:00"))
    return _iso(at - datetime.timedelta(seconds=seconds))


def _refused(message: str, remedy: str, kind: str, fault: GitHubError) -> CommentRefusedError:
    return CommentRefusedError(message, remedy, kind=kind, endpoint=fault.endpoint, status=fault.status)


def _one(comment: IssueComment) -> Comment:
    return conversation_of((comment,), (), ())[0]


def _speaker(account: Account, headers: Mapping[str, str]) -> Speaker:
    scopes = (scope.strip() for scope in headers.get("x-oauth-scopes", "").split(","))
    return Speaker(account.login, account.type == "Bot", tuple(scope for scope in scopes if scope))


def _moment(headers: Mapping[str, str]) -> str:
    """The moment of an answer by GitHub's clock, which times comments; by this machine's where it is not told."""
    try:
        return _iso(email.utils.parsedate_to_datetime(headers.get("date", "")))
    except ValueError:
        return _iso(datetime.datetime.now(datetime.UTC))


def _iso(moment: datetime.datetime) -> str:
    return moment.astimezone(datetime.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
