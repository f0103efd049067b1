"""What speaks against posting a text now: pure judgement over how things stand at GitHub and in the journal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import Literal

import msgspec

from reviewer_tui.checks.reuse import NEWER, OLDER, ReuseRule, commands_of, reusable
from reviewer_tui.model.finding import Status, Verdict
from reviewer_tui.model.pull_request import Comment, PullRequestRef
from reviewer_tui.review.conversation import OFF_THE_RECORD
from reviewer_tui.signoff.comment_text import LONGEST_BODY, normalised, speaks_as_sign_off
from reviewer_tui.signoff.lint import LintReport
from reviewer_tui.signoff.parse import is_sign_off
from reviewer_tui.signoff.verdict_comment import is_verdict_comment
from reviewer_tui.sources.github.posting import NamedRun, Situation
from reviewer_tui.store.posts import Post

PostKind = Literal["sign-off", "command", "comment"]

# GitHub calls people and teams by these, outside of code.
_MENTION = re.compile(r"(?<![\w/.`@-])@[A-Za-z\d](?:[A-Za-z\d-]{0,38})(?:/[\w-]{1,100})?")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)

POSTED_ALREADY, SAME_TEXT = "posted-already", "same-text"
"""The rules of a text that stands there already, as a comment of its own and in the one to edit."""

_REUSE = ReuseRule((NEWER, OLDER), Status.JUDGEMENT)


class Grade(StrEnum):
    """How much a concern weighs: `stop` cannot be overridden, `again` needs the person's word that a text may be there
    twice, `ask` needs their word at all, `note` is only told."""

    STOP = "stop"
    AGAIN = "again"
    ASK = "ask"
    NOTE = "note"


class Concern(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that speaks against posting, as a sentence. `rule` is a short slug; `url` leads to what it is about."""

    rule: str
    grade: Grade
    message: str
    url: str = ""


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """What the review makes of a sign-off text: its lint, the verdict that is predicted, and the failing checks."""

    lint: LintReport
    verdict: Verdict
    failing: tuple[str, ...] = ()


Judge = Callable[[str, str], Judgement]
"""Judges a sign-off text that a login is going to post."""


class PostRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody wants to post: a text to a pull request, which they looked at when `head` (a SHA or its beginning)
    was its head (empty: not known). `edits` is the id of the comment to edit; without it an own sign-off is edited
    unless `new`. `again` is the person's word that the text may be there twice."""

    ref: PullRequestRef
    text: str
    head: str = ""
    edits: int | None = None
    new: bool = False
    again: bool = False


def kind_of(text: str) -> PostKind:
    """What a text would be in the conversation."""
    if speaks_as_sign_off(text):
        return "sign-off"
    return "command" if reuse_commands(text) else "comment"


def reuse_commands(text: str) -> tuple[int | None, ...]:
    """The runs that a text's reuse command pins (None: the newest green one); empty where it holds no command."""
    said = Comment(id=0, kind="issue_comment", author="", body=text, created_at="")
    return tuple(command.run_id for command in commands_of((said,), _REUSE))


def own_sign_offs(situation: Situation) -> tuple[Comment, ...]:
    """The sign-offs of whose token it is, oldest first."""
    login = situation.speaker.login.lower()
    return tuple(comment for comment in _sign_offs(situation) if comment.author.lower() == login)


def target_of(request: PostRequest, situation: Situation) -> Comment | None:
    """The comment that is edited; None for a new one. A named comment that is not there counts as None too."""
    if request.edits is not None:
        return _conversation_comment(situation, request.edits)
    if request.new or kind_of(request.text) != "sign-off":
        return None
    return next((one for one in reversed(own_sign_offs(situation)) if one.kind == "issue_comment"), None)


def concerns_of(
    request: PostRequest,
    body: str,
    situation: Situation,
    judgement: Judgement | None,
    *,
    unfinished: Sequence[Post] = (),
) -> tuple[Concern, ...]:
    """Everything that speaks against sending `body` now, the gravest first. `unfinished` are the journal's posts of the
    pull request of which nobody knows whether they arrived."""
    found = [
        *_text(body),
        *_target(request, body, situation),
        *_twice(request, body, situation, unfinished),
        *_pull_request(request, situation),
        *_account(situation),
        *_command(request, situation),
        *_judged(judgement),
    ]
    return tuple(sorted(found, key=lambda concern: list(Grade).index(concern.grade)))


def _text(body: str) -> Iterator[Concern]:
    if not body.strip():
        yield _stop("empty", "There is no text to post.")
    if len(body) > LONGEST_BODY:
        over = len(body) - LONGEST_BODY
        yield _stop("too-long", f"The text is {over:,} characters too long: GitHub takes {LONGEST_BODY:,}.")
    if is_verdict_comment(body):
        yield _stop("forged-verdict", "The text starts like a verdict of the verifier, which only its accounts post.")
    if any("\ud800" <= character <= "\udfff" for character in body) or "\x00" in body:
        yield _stop("broken-text", "The text holds characters that cannot be sent (NUL, or half of a pair).")
    mentioned = dict.fromkeys(_MENTION.findall(_CODE.sub(" ", body)))
    if mentioned:
        yield _note("mentions", f"The text calls {', '.join(mentioned)}, who get a message.")


def _target(request: PostRequest, body: str, situation: Situation) -> Iterator[Concern]:
    """The comment to edit: is it there, is it one's own, does it not say the same already? And who else signed?"""
    number, login = request.ref.number, situation.speaker.login
    target = target_of(request, situation)
    if request.edits is not None and target is None:
        elsewhere = next((one for one in situation.comments if one.id == request.edits), None)
        if elsewhere is None:
            yield _stop("edit-absent", f"#{number} has no comment {request.edits}.")
        else:
            yield _stop("edit-review", "Only a comment of the conversation can be edited here.", elsewhere.url)
    if target is not None and target.author.lower() != login.lower():
        yield _stop(
            "edit-foreign", f"The comment is by {target.author or 'a deleted account'}, not {login}.", target.url
        )
    elif target is not None and normalised(target.body) == normalised(body):
        yield _stop(SAME_TEXT, "The comment says exactly this already.", target.url)
    if kind_of(request.text) == "sign-off":
        yield from _other_sign_offs(target, situation)


def _other_sign_offs(target: Comment | None, situation: Situation) -> Iterator[Concern]:
    login = situation.speaker.login.lower()
    for comment in _sign_offs(situation):
        own = comment.author.lower() == login
        if own and target is None:
            how = (
                "edit it instead"
                if comment.kind == "issue_comment"
                else "it stands in a review: edit it in the browser"
            )
            yield _ask(
                "second-sign-off", f"You have signed off already on {comment.created_at[:10]}: {how}.", comment.url
            )
        elif not own:
            who = comment.author or "A deleted account"
            yield _note("other-sign-off", f"{who} has signed off on {comment.created_at[:10]}.", comment.url)


def _twice(request: PostRequest, body: str, situation: Situation, unfinished: Sequence[Post]) -> Iterator[Concern]:
    """The same text already there, or on its way."""
    login = situation.speaker.login.lower()
    if target_of(request, situation) is None:
        own = [one for one in situation.comments if one.kind == "issue_comment" and one.author.lower() == login]
        same = [comment for comment in own if says(comment, body)]
        if same:
            when = same[-1].created_at[:16].replace("T", " ")
            yield _again(POSTED_ALREADY, f"You posted exactly this text on {when} UTC.", same[-1].url)
    for post in unfinished:
        yield _unclear(post, login)


def _unclear(post: Post, login: str) -> Concern:
    """A post of which nobody knows whether GitHub has it; sending an edit a second time only says the same again."""
    when = post.started_at[:16].replace("T", " ")
    if post.login.lower() != login:
        return _note("fate-unknown-other", f"A post by {post.login} of {when} UTC had no clear answer.")
    if post.edits is not None:
        return _note(
            "fate-unknown-edit", f"An edit of {when} UTC had no clear answer; the comment does not say it now."
        )
    return _again(
        "fate-unknown",
        f"A post of {when} UTC had no clear answer. It is not in the conversation now, but may still appear.",
    )


def _pull_request(request: PostRequest, situation: Situation) -> Iterator[Concern]:
    number, sign_off = request.ref.number, kind_of(request.text) == "sign-off"
    weigh = _ask if sign_off else _note
    if not situation.head.startswith(request.head.lower()):
        moved = f"#{number} moved on: you reviewed {request.head[:9]}, its head is {situation.head[:9]} now."
        yield weigh("head-moved", moved)
    if situation.merged:
        yield weigh("merged", f"#{number} is merged.")
    elif situation.state != "open":
        yield weigh("closed", f"#{number} is {situation.state}; the verifier looks at open pull requests only.")
    if situation.draft:
        yield weigh("draft", f"#{number} is a draft; the verifier does not look at drafts.")
    if situation.locked:
        told = f"The conversation of #{number} is locked; GitHub takes comments only from those who may write there."
        yield _ask("locked", told)


def _account(situation: Situation) -> Iterator[Concern]:
    speaker = situation.speaker
    if speaker.is_bot:
        yield _ask("bot", f"{speaker.login} is a bot; the verifier starts for people only.")
    if speaker.lacks_scope:
        had = ", ".join(speaker.scopes)
        yield _note("scope", f"The token has the scopes {had}; GitHub will want public_repo or repo for a comment.")


def _command(request: PostRequest, situation: Situation) -> Iterator[Concern]:
    kind = kind_of(request.text)
    runs = reuse_commands(request.text)
    if runs:
        which = f"run {runs[-1]}" if runs[-1] is not None else "the newest green sweep"
        weigh = _ask if kind == "sign-off" else _note
        yield weigh("command", f"The text tells the merge to reuse {which}.")
        if situation.named is not None:
            yield from _named_run(request, situation, situation.named)
    elif any(line.strip().split(" ")[0] in (OLDER, NEWER) for line in request.text.splitlines()):
        yield _ask("command-unread", f"A line starts like a reuse command, but is none ({OLDER} [run], {NEWER} run).")


def _named_run(request: PostRequest, situation: Situation, named: NamedRun) -> Iterator[Concern]:
    """A command that pins a run which is not known to be a sweep of the pull request."""
    number = request.ref.number
    if named.run is None and named.problem:
        told = f"Run {named.id} could not be read, so whether it is a sweep of #{number} is not known: {named.problem}"
        yield _ask("command-run", told)
    elif named.run is None:
        yield _ask("command-run", f"{request.ref.repository} has no run {named.id}: the merge could not reuse it.")
    else:
        run, commits = named.run, named.commits
        status, told = reusable(run, situation.head, commits, complete=named.commits_complete)
        if status is not Status.PASS:
            yield _ask("command-run", told, run.url)


def _judged(judgement: Judgement | None) -> Iterator[Concern]:
    """The lint of a sign-off and what the verifier is expected to say."""
    if judgement is None:
        return
    places: dict[tuple[Grade, str, str], list[str]] = {}
    for found in (*judgement.lint.faults, *judgement.lint.remarks):
        asks = found.status is Status.FAIL or found.rule == "signature-differs"
        key = (Grade.ASK if asks else Grade.NOTE, f"lint-{found.rule}", found.message)
        places.setdefault(key, []).extend([str(found.line)] if found.line else [])
    for (grade, rule, message), lines in places.items():
        where = f" ({'lines' if len(lines) > 1 else 'line'} {', '.join(lines)})" if lines else ""
        yield Concern(rule=rule, grade=grade, message=f"Lint: {message}{where}")
    if judgement.verdict is Verdict.REJECTED:
        failing = ", ".join(judgement.failing)
        yield _ask("rejected", f"The verifier is expected to reject this{f': {failing}' if failing else ''}.")


def says(comment: Comment, body: str) -> bool:
    """Whether a comment has the words of a text."""
    return normalised(comment.body) == normalised(body)


def _sign_offs(situation: Situation) -> tuple[Comment, ...]:
    return tuple(
        comment
        for comment in situation.comments
        if comment.review_state not in OFF_THE_RECORD and is_sign_off(comment.body, comment.is_bot)
    )


def _conversation_comment(situation: Situation, number: int) -> Comment | None:
    found = (one for one in situation.comments if one.id == number and one.kind == "issue_comment")
    return next(found, None)


def _stop(rule: str, message: str, url: str = "") -> Concern:
    return Concern(rule=rule, grade=Grade.STOP, message=message, url=url)


def _again(rule: str, message: str, url: str = "") -> Concern:
    return Concern(rule=rule, grade=Grade.AGAIN, message=message, url=url)


def _ask(rule: str, message: str, url: str = "") -> Concern:
    return Concern(rule=rule, grade=Grade.ASK, message=message, url=url)


def _note(rule: str, message: str, url: str = "") -> Concern:
    return Concern(rule=rule, grade=Grade.NOTE, message=message, url=url)
