"""Posting a comment: looked at before, sent once, found again after.

The protocol (GitHub has no key that would make a post repeatable): look how things stand; show exactly what will be
sent and what speaks against it; when confirmed, look again, and stop if anything is new; write the intent into the
journal; send once; write down what came of it; read it back. Where the answer is unclear, look for the comment, and
never send again without the person's word. A post that a dead process left behind is looked for at the next start.
"""

from __future__ import annotations

import contextlib
import threading
import time
import uuid
from collections.abc import Callable, Collection
from datetime import datetime
from typing import Literal

import msgspec

from reviewer_tui.model.errors import DataError
from reviewer_tui.model.pull_request import Comment, PullRequestRef
from reviewer_tui.review.desk import Progress
from reviewer_tui.review.post_concerns import (
    POSTED_ALREADY,
    Concern,
    Grade,
    Judge,
    Judgement,
    PostKind,
    PostRequest,
    concerns_of,
    kind_of,
    own_sign_offs,
    reuse_commands,
    says,
    target_of,
)
from reviewer_tui.signoff.comment_text import mark_of, marked
from reviewer_tui.sources.github.errors import GitHubError, UncertainWriteError
from reviewer_tui.sources.github.posting import CommentBoard, Situation, since
from reviewer_tui.store.posts import JournalError, Post, PostJournal, PostState

_SKEW = 60
"""Seconds before the start of a post from which its comment is looked for: clocks differ."""


class PostPreview(msgspec.Struct, frozen=True, kw_only=True):
    """What would be sent, where to, as whom, and what speaks against it. `body` is exactly what GitHub gets; `edits`
    the comment that it replaces; `may_edit` says whether there is one to choose. `leftovers` tell what
    became of posts that were left unfinished; those that still are stand among the concerns."""

    request: PostRequest
    uuid: str
    kind: PostKind
    login: str
    head: str
    title: str
    at: str
    body: str
    edits: Comment | None
    may_edit: bool
    concerns: tuple[Concern, ...]
    judgement: Judgement | None = None
    leftovers: tuple[str, ...] = ()

    @property
    def ref(self) -> PullRequestRef:
        return self.request.ref

    @property
    def sendable(self) -> bool:
        """Whether a person's word could have it sent now: nothing stops it, and the text is not there already."""
        again = () if self.request.again else self.graded(Grade.AGAIN)
        return not self.graded(Grade.STOP) and not any(concern.rule == POSTED_ALREADY for concern in again)

    def graded(self, *grades: Grade) -> tuple[Concern, ...]:
        """The concerns of some grades."""
        return tuple(concern for concern in self.concerns if concern.grade in grades)

    def obstacles(self, *, accepted: bool) -> tuple[Concern, ...]:
        """What keeps the post from being sent. `accepted` is the person's word that they go on in spite of what was
        asked."""
        grades = {Grade.STOP}
        if not self.request.again:
            grades.add(Grade.AGAIN)
        if not accepted:
            grades.add(Grade.ASK)
        return self.graded(*grades)


class PostOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a post. `posted`: it is there, at `url`; `changed`: nothing was sent, `preview` has what is new;
    `unknown`: no clear answer, and it was not found. `remarks` are sentences about a post that is there (it reads
    differently, it could not be read back); `lint` judges what stands there now."""

    state: Literal["posted", "changed", "unknown"]
    url: str = ""
    comment: int | None = None
    reason: str = ""
    remarks: tuple[str, ...] = ()
    judgement: Judgement | None = None
    preview: PostPreview | None = None


class Leftover(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a post that was left unfinished, as a sentence for the person; `unclear` where it still is."""

    post: Post
    message: str
    unclear: bool = False


class Waits(msgspec.Struct, frozen=True):
    """Seconds before each look for a post whose answer was unclear, and from its sending until it may be sent again."""

    looks: tuple[float, ...] = (2.0, 5.0)
    before_again: float = 15.0


class NotSentError(DataError):
    """Nothing was sent, because of what the person was told or did."""


class Gate:
    """The point of no return of one post: it can be stopped until it has passed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state: Literal["open", "passed", "stopped"] = "open"

    @property
    def open(self) -> bool:
        """Whether the post can still be stopped."""
        return self._state == "open"

    def stop(self) -> bool:
        """Keep the post from being sent; False where it has passed already."""
        with self._lock:
            if self._state == "open":
                self._state = "stopped"
            return self._state == "stopped"

    def passes(self) -> bool:
        """Go through, for good; False where it was stopped."""
        with self._lock:
            if self._state == "open":
                self._state = "passed"
            return self._state == "passed"


class Poster:
    """Posts to one pull request; `judge` may be missing where no sign-off is posted.

    All methods block, for a thread; they raise GitHubError, JournalError and NotSentError, after each of which nothing
    was sent.
    """

    def __init__(
        self,
        board: CommentBoard,
        journal: PostJournal,
        judge: Judge | None,
        *,
        waits: Waits | None = None,
        pause: Callable[[float], None] | None = None,
        new_uuid: Callable[[], str] = lambda: str(uuid.uuid4()),
    ) -> None:
        self._board = board
        self._journal = journal
        self._judge = judge
        self._waits = waits or Waits()
        self._pause = pause or time.sleep
        self._new_uuid = new_uuid

    # --- before -----------------------------------------------------------------------------------------------------

    def preview(self, request: PostRequest) -> PostPreview:
        """What would be sent now, judged. Touches nothing at GitHub; unfinished posts are looked for."""
        with self._journal.alone(request.ref):
            situation = self._situation(request)
            left = self._settle_unfinished(request.ref, situation.comments)
            preview = self._preview(request, self._new_uuid(), situation)
            return msgspec.structs.replace(preview, leftovers=tuple(one.message for one in left if not one.unclear))

    def leftovers(self, ref: PullRequestRef) -> tuple[Leftover, ...]:
        """Look for what earlier processes left unfinished, and tell what became of it; nothing is sent. Empty where
        another process is just posting there."""
        if not self._journal.unfinished(ref):
            return ()
        try:
            with self._journal.alone(ref):
                return self._settle_unfinished(ref, None)
        except JournalError:
            return ()

    def stop(self, gate: Gate) -> bool:
        """Stop a post that is not sent yet; False where it is too late."""
        stopped = gate.stop()
        if stopped:
            self._board.cancel()
        return stopped

    def _situation(self, request: PostRequest) -> Situation:
        """How things stand, with the comments that the journal knows of and GitHub's list does not tell (yet), and the
        run that the text's reuse command pins."""
        situation = self._board.situation()
        listed = {comment.id for comment in situation.comments}
        kept = {post.comment for post in self._journal.posted(request.ref) if post.comment is not None} - listed
        found = [comment for number in sorted(kept) if (comment := self._board.comment(number)) is not None]
        pinned = next((run for run in reuse_commands(request.text) if run is not None), None)
        named = None if pinned is None else self._board.named_run(pinned, situation.head)
        return msgspec.structs.replace(situation, comments=(*situation.comments, *found), named=named)

    def _preview(
        self, request: PostRequest, identity: str, situation: Situation, before: PostPreview | None = None
    ) -> PostPreview:
        body = marked(request.text, identity)
        kind, target = kind_of(request.text), target_of(request, situation)
        login = situation.speaker.login
        seen = before is not None and before.login == login
        judgement = before.judgement if before and seen else self._judged(body, login)
        concerns = concerns_of(
            request,
            body,
            situation,
            judgement,
            unfinished=self._journal.unfinished(request.ref),
        )
        return PostPreview(
            request=request,
            uuid=identity,
            kind=kind,
            login=login,
            head=situation.head,
            title=situation.title,
            at=situation.at,
            body=body,
            edits=target,
            may_edit=any(one.kind == "issue_comment" for one in own_sign_offs(situation)),
            concerns=concerns,
            judgement=judgement,
        )

    def _judged(self, text: str, login: str) -> Judgement | None:
        return self._judge(text, login) if self._judge and kind_of(text) == "sign-off" else None

    # --- sending ----------------------------------------------------------------------------------------------------

    def send(
        self, preview: PostPreview, *, accepted: bool, gate: Gate | None = None, progress: Progress = lambda _: None
    ) -> PostOutcome:
        """Send what was previewed, once. `accepted` is the person's word on what was asked. Where anything that matters
        is not as it was previewed, nothing is sent and the outcome is `changed`."""
        gate = gate or Gate()
        with self._journal.alone(preview.ref):
            progress("looking how things stand")
            situation = self._situation(preview.request)
            self._settle_unfinished(preview.ref, situation.comments)
            now = self._preview(preview.request, preview.uuid, situation, preview)
            if _differs(preview, now):
                return PostOutcome(state="changed", preview=now)
            if obstacles := now.obstacles(accepted=accepted):
                raise NotSentError(" ".join(concern.message for concern in obstacles), "Nothing was sent.")
            lost = self._still_unknown(now, progress)
            if isinstance(lost, PostOutcome):
                return lost
            post = Post(
                uuid=now.uuid,
                ref=now.ref,
                login=now.login,
                head=now.head,
                edits=now.edits.id if now.edits else None,
                body=now.body,
                started_at=now.at,
            )
            self._journal.intend(post)
            if not gate.passes():
                self._journal.settle(post.uuid, PostState.ABANDONED, reason="stopped before it was sent")
                raise NotSentError("It was stopped in time.", "Nothing was sent.")
            self._journal.claim(post.uuid, instead_of=lost)
            progress("sending")
            return self._sent(post, {comment.id for comment in situation.comments}, progress)

    def _sent(self, post: Post, known: Collection[int], progress: Progress) -> PostOutcome:
        """Send a claimed post, and what came of it."""
        create, edit = self._board.create, self._board.edit
        try:
            written = create(post.body) if post.edits is None else edit(post.edits, post.body)
        except UncertainWriteError as fault:
            return self._look_for(post, known, fault.message, progress)
        except GitHubError as fault:
            self._note(post, PostState.ABANDONED, fault.message)
            raise
        return self._there(post, written, progress)

    def _note(self, post: Post, state: PostState, reason: str) -> None:
        """Write down what is known of a sent post; where the disk refuses, it stays `sent` and is looked for later."""
        with contextlib.suppress(JournalError):
            self._journal.settle(post.uuid, state, reason=reason)

    def _look_for(self, post: Post, known: Collection[int], why: str, progress: Progress) -> PostOutcome:
        """The answer was unclear: look for the comment."""
        self._note(post, PostState.UNKNOWN, why)
        for wait in self._waits.looks:
            progress("no clear answer: looking for the comment")
            self._pause(wait)
            with contextlib.suppress(GitHubError):
                found = self._find(post, known, None)
                if found is not None:
                    return self._there(post, found, progress)
        return PostOutcome(state="unknown", reason=why)

    def _there(self, post: Post, comment: Comment, progress: Progress) -> PostOutcome:
        """The comment is there: write that down, read it back, judge it."""
        remarks = []
        try:
            self._journal.settle(post.uuid, PostState.POSTED, comment=comment.id, url=comment.url)
        except JournalError as error:
            remarks.append(f"It is posted, but the journal does not know it yet: {error.message}")
        progress("reading it back")
        judgement: Judgement | None = None
        try:
            read = self._board.comment(comment.id)
        except GitHubError as fault:
            remarks.append(f"It could not be read back: {fault.message}")
        else:
            if read is None:
                remarks.append("It is gone again: somebody or something removed it.")
            else:
                if not says(read, post.body):
                    remarks.append("What stands there differs from what was sent.")
                judgement = self._judged(read.body, post.login)
        return PostOutcome(
            state="posted", url=comment.url, comment=comment.id, remarks=tuple(remarks), judgement=judgement
        )

    def _still_unknown(self, preview: PostPreview, progress: Progress) -> PostOutcome | tuple[str, ...]:
        """Before a text is sent in spite of earlier posts of unknown fate: wait until each is old enough to be seen,
        and look once more. The outcome where one turned up and is this text, else the uuids of those that did not."""
        lost = []
        for post in self._unknown_of(preview):
            age = _seconds_between(post.started_at, preview.at)
            if post.edits is None and age < self._waits.before_again:
                progress("waiting for an earlier post to appear")
                self._pause(self._waits.before_again - age)
            found = self._find(post, (), None)
            if found is None:
                lost.append(post.uuid)
                continue
            outcome = self._there(post, found, progress)
            if says(found, preview.body):
                return outcome
        return tuple(lost)

    def _unknown_of(self, preview: PostPreview) -> tuple[Post, ...]:
        mine = preview.login.lower()
        return tuple(post for post in self._journal.unfinished(preview.ref) if post.login.lower() == mine)

    # --- what is left unfinished ------------------------------------------------------------------------------------

    def _settle_unfinished(self, ref: PullRequestRef, comments: Collection[Comment] | None) -> tuple[Leftover, ...]:
        """Bring every unfinished post as far as looking can; the caller keeps other processes away, so none is still
        being sent. `comments` are all of the conversation, where they were read just now."""
        told = []
        for post in self._journal.unfinished(ref):
            when = f"{post.started_at[:16].replace('T', ' ')} UTC"
            if post.state is PostState.INTENDED:
                self._journal.settle(post.uuid, PostState.ABANDONED, reason="the program ended before it was sent")
                told.append(
                    Leftover(post=post, message=f"The post of {when} was never sent: the program ended before.")
                )
                continue
            found = self._find(post, (), comments)
            if found is not None:
                self._journal.settle(post.uuid, PostState.POSTED, comment=found.id, url=found.url)
                told.append(Leftover(post=post, message=f"The post of {when} did arrive: {found.url}"))
                continue
            if post.state is PostState.SENT:
                self._journal.settle(post.uuid, PostState.UNKNOWN, reason="the program ended while it was sent")
            lost = f"The post of {when} had no clear answer and is not in the conversation; it may still appear."
            told.append(Leftover(post=post, message=lost, unclear=True))
        return tuple(told)

    def _find(self, post: Post, known: Collection[int], comments: Collection[Comment] | None) -> Comment | None:
        """The comment that a post became. `known` are comments that were there before it."""
        if post.edits is not None:
            edited = self._board.comment(post.edits)
            return edited if edited is not None and _is(edited, post) else None
        if comments is None:
            comments = self._board.said_since(since(post.started_at, _SKEW))
        others = {one.comment for one in self._journal.posted(post.ref)}
        earliest = since(post.started_at, _SKEW)
        for comment in comments:
            fresh = comment.created_at >= earliest and comment.id not in known and comment.id not in others
            if comment.kind == "issue_comment" and fresh and _is(comment, post):
                return comment
        return None


def _is(comment: Comment, post: Post) -> bool:
    """Whether a comment is what a post sent: by its mark, else by its author and words."""
    mark = mark_of(comment.body)
    if comment.author.lower() != post.login.lower() or mark not in (None, post.uuid):
        return False
    return mark == post.uuid or says(comment, post.body)


def _differs(before: PostPreview, now: PostPreview) -> bool:
    """Whether something is not as the person saw it when they confirmed."""
    told = {(concern.rule, concern.message) for concern in before.concerns}
    news = any((one.rule, one.message) not in told for one in now.concerns)
    return news or (before.login, before.head, _version(before.edits)) != (now.login, now.head, _version(now.edits))


def _version(comment: Comment | None) -> tuple[int, str] | None:
    return None if comment is None else (comment.id, comment.body)


def _seconds_between(earlier: str, later: str) -> float:
    first, second = (datetime.fromisoformat(moment.replace("Z", "+00:00")) for moment in (earlier, later))
    return max(0.0, (second - first).total_seconds())
