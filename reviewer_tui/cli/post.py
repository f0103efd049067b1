"""`post PR FILE`: preview, confirm, post once or edit the existing comment, read back."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

import msgspec

from reviewer_tui.cli.exits import Exit
from reviewer_tui.cli.network import clear_status, show_status
from reviewer_tui.cli.options import Parser, add_common, add_pull_request, read_text_file, review_request, source_of
from reviewer_tui.cli.output import page_width, put, put_raw, say, to_json, wrap
from reviewer_tui.model.errors import UsageError
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.model.refs import comment_of, parse_ref
from reviewer_tui.review.load import Reviewer
from reviewer_tui.review.post_concerns import POSTED_ALREADY, SAME_TEXT, Concern, Grade, PostRequest, kind_of
from reviewer_tui.review.post_desk import board_of, poster_of
from reviewer_tui.review.post_words import lint_words, outcome_sentences, preview_facts, what
from reviewer_tui.review.posting import Gate, Poster, PostOutcome, PostPreview
from reviewer_tui.sources.source import Source
from reviewer_tui.store.places import data_directory
from reviewer_tui.store.posts import PostJournal

_LETTERS = {Grade.STOP: "F", Grade.AGAIN: "J", Grade.ASK: "J", Grade.NOTE: "W"}
_THERE_ALREADY = (POSTED_ALREADY, SAME_TEXT)
_JUDGED_HEAD = "the one the text is judged by"
_CONVERSATION = "issuecomment-"


def parser() -> argparse.ArgumentParser:
    made = Parser(
        prog="reviewer-tui post",
        description="Post a text to a pull request, once: it is shown, confirmed, sent and read back.",
        epilog="An own sign-off that stands there already is edited. The preview goes to stderr, the URL to stdout.",
    )
    add_pull_request(made)
    made.add_argument("file", metavar="FILE", help="the text (- for standard input)")
    target = made.add_mutually_exclusive_group()
    target.add_argument("--edit", metavar="URL", help="edit this comment of yours (its URL or number)")
    target.add_argument("--new", action="store_true", help="post a new comment although you have signed off already")
    made.add_argument("--yes", action="store_true", help="post what is printed without asking")
    made.add_argument("--force", action="store_true", help="post in spite of what the preview asks (marked J)")
    made.add_argument("--resend", action="store_true", help="post although the same text may be there already")
    add_common(made, sign_off=False)
    return made


def main(arguments: Sequence[str]) -> Exit:
    args = parser().parse_args(arguments)
    ref = parse_ref(args.pull_request, args.repo, args.host)
    text = read_text_file(args.file, "text")
    request = PostRequest(
        ref=ref, text=text, head=args.head or "", edits=_edited(args.edit, ref), new=args.new, again=args.resend
    )
    with source_of(args, live=True) as source:
        _tell_others(ref)
        poster, request = _poster(source, request, args)
        return _run(poster, request, args)


def _edited(text: str | None, ref: PullRequestRef) -> int | None:
    """The id of the comment that `--edit` names."""
    if text is None:
        return None
    number = text.removeprefix("#").removeprefix(_CONVERSATION)
    if not (number.isascii() and number.isdecimal()):
        anchor = comment_of(text, ref) or ""
        if not anchor.startswith(_CONVERSATION):
            raise UsageError(
                f"“{text}” is no comment in the conversation of #{ref.number}.",
                f"Give --edit its URL, which ends in #{_CONVERSATION}123456.",
            )
        number = anchor.removeprefix(_CONVERSATION)
    return int(number)


def _tell_others(ref: PullRequestRef) -> None:
    """Posts to other pull requests that are left unfinished: they are looked for when one posts there."""
    for post in PostJournal(data_directory()).unfinished():
        if post.ref != ref:
            say(f"A post to #{post.ref.number} of {post.started_at[:10]} is unfinished; posting there looks for it.")


def _poster(source: Source, request: PostRequest, args: argparse.Namespace) -> tuple[Poster, PostRequest]:
    """Who posts, and the request with the head that was reviewed. Only a sign-off needs the whole review."""
    board = board_of(source, request.ref)
    if kind_of(request.text) != "sign-off":
        return Poster(board, PostJournal(data_directory()), None), request
    asked = msgspec.structs.replace(review_request(args), sign_off=request.text)
    review = Reviewer(source).review(request.ref, asked)
    return poster_of(source, review, data_directory()), msgspec.structs.replace(request, head=review.snapshot.head)


def _run(poster: Poster, request: PostRequest, args: argparse.Namespace) -> Exit:
    preview = poster.preview(request)
    while True:
        clear_status()
        _say_lines(_preview_lines(preview, page_width()))
        if (code := _obstructed(preview, args)) is not None:
            return code
        if not args.yes and not _confirmed(preview, args):
            return _end(preview, "declined", "Nothing was posted.", Exit.INTERRUPTED, args)
        outcome = _sent(poster, preview, args)
        if outcome.preview is None:
            return _told(preview, outcome, args)
        news = _news(preview, outcome.preview)
        preview = outcome.preview
        if args.yes:
            return _end(preview, "changed", f"Nothing was sent: {news} Look again, then repeat.", Exit.REJECTED, args)
        say(f"Nothing was sent yet: {news}")


def _obstructed(preview: PostPreview, args: argparse.Namespace) -> Exit | None:
    """The end of the command where something keeps the text from being posted."""
    obstacles = preview.obstacles(accepted=args.force)
    if not obstacles:
        return None
    first = obstacles[0]
    if all(one.rule in _THERE_ALREADY for one in obstacles if one.grade is first.grade):
        if not args.json:
            put([first.url])
        return _end(preview, "already", f"It is there already: {first.url}", Exit.DONE, args, url=first.url)
    if first.grade is Grade.STOP:
        return _end(preview, "refused", "Nothing was posted.", Exit.REJECTED, args)
    flags = {Grade.AGAIN: "--resend", Grade.ASK: "--force"}
    needed = " and ".join(dict.fromkeys(flags[one.grade] for one in obstacles))
    code = Exit.UNDECIDED if first.rule == "fate-unknown" else Exit.REJECTED
    return _end(preview, "refused", f"Nothing was posted. Add {needed} to post all the same.", code, args)


def _confirmed(preview: PostPreview, args: argparse.Namespace) -> bool:
    """The person's word, given at the terminal: standard input may be the text. Raises UsageError without one."""
    terminal = _terminal()
    if terminal is None:
        if args.json:
            put_raw(to_json(_report(preview, "previewed"), pretty=True))
        raise UsageError("Nothing was posted: there is no terminal to confirm at.", "Add --yes to post what is shown.")
    with terminal:
        verb = "Edit your comment" if preview.edits else "Post this"
        sys.stderr.write(f"{verb} as {preview.login}? Type yes: ")
        sys.stderr.flush()
        return terminal.readline().strip().lower() == "yes"


def _terminal() -> TextIO | None:
    """The keyboard of somebody who sees the preview."""
    if not sys.stderr.isatty():
        return None
    try:
        return Path("CON" if sys.platform == "win32" else "/dev/tty").open(encoding="utf-8", errors="replace")
    except OSError:
        return None


def _sent(poster: Poster, preview: PostPreview, args: argparse.Namespace) -> PostOutcome:
    gate = Gate()
    try:
        return poster.send(preview, accepted=args.force, gate=gate, progress=show_status)
    except KeyboardInterrupt:
        if not gate.stop():
            say("Interrupted while it was sent: whether it arrived is not known. The same command looks for it first.")
        raise
    finally:
        clear_status()


def _told(preview: PostPreview, outcome: PostOutcome, args: argparse.Namespace) -> Exit:
    if args.json:
        put_raw(to_json(_report(preview, outcome.state, outcome), pretty=True))
    elif outcome.url:
        put([outcome.url])
    for sentence in outcome_sentences(outcome):
        say(sentence)
    if outcome.state == "posted":
        return Exit.DONE
    say("The same command looks for it first, and posts it again only with --resend.")
    return Exit.UNDECIDED


def _news(before: PostPreview, now: PostPreview) -> str:
    told = {concern.message for concern in before.concerns}
    fresh = [concern.message for concern in now.concerns if concern.message not in told]
    return " ".join(fresh) or "what it is posted to has changed."


def _end(
    preview: PostPreview, state: str, message: str, code: Exit, args: argparse.Namespace, *, url: str = ""
) -> Exit:
    if args.json:
        put_raw(to_json(_report(preview, state, url=url), pretty=True))
    say(message)
    return code


def _say_lines(lines: Iterator[str]) -> None:
    for line in lines:
        say(line)


def _preview_lines(preview: PostPreview, width: int) -> Iterator[str]:
    """The text between two rules; below it the facts and what speaks against it, the gravest next to the question."""
    yield "-" * width
    yield from preview.body.split("\n")
    yield "-" * width
    for word, sentence in preview_facts(preview, _JUDGED_HEAD):
        yield from wrap(sentence, width, f"{word:<8}")
    for left in preview.leftovers:
        yield from wrap(left, width, "J ")
    for concern in sorted(preview.concerns, key=lambda one: list(Grade).index(one.grade), reverse=True):
        url = f" {concern.url}" if concern.url else ""
        yield from wrap(concern.message + url, width, f"{_LETTERS[concern.grade]} ")


def _report(
    preview: PostPreview, state: str, outcome: PostOutcome | None = None, *, url: str = ""
) -> dict[str, object]:
    judgement = outcome.judgement if outcome and outcome.judgement else preview.judgement
    return {
        "schema": 1,
        "state": state,
        "repository": preview.ref.repository,
        "number": preview.ref.number,
        "head": preview.head,
        "login": preview.login,
        "kind": preview.kind,
        "what": what(preview),
        "edits": preview.edits.url if preview.edits else None,
        "url": (outcome.url if outcome else url) or None,
        "body": preview.body,
        "concerns": [_concern(concern) for concern in preview.concerns],
        "remarks": list(outcome.remarks) if outcome else [],
        "lint": lint_words(judgement) if judgement else None,
        "verdict": judgement.verdict if judgement else None,
    }


def _concern(concern: Concern) -> dict[str, object]:
    return {"rule": concern.rule, "grade": concern.grade, "message": concern.message, "url": concern.url or None}
