"""`reviewer-tui [PR]`: the workstation on a pull request, or on the queue; without a terminal, the same as text."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Sequence

import msgspec

from reviewer_tui.cli.exits import Exit
from reviewer_tui.cli.options import Parser, add_queue, add_review, add_source, review_request, source_of
from reviewer_tui.cli.output import page_width, put
from reviewer_tui.cli.panes import whole
from reviewer_tui.model.errors import DataError, UsageError
from reviewer_tui.model.refs import parse_ref
from reviewer_tui.review.desk import Desk, Progress
from reviewer_tui.review.queues import QueueDesk
from reviewer_tui.review.session import Review
from reviewer_tui.sources.source import Source


def parser() -> argparse.ArgumentParser:
    made = Parser(prog="reviewer-tui", usage="reviewer-tui [PR] [options]", description="Open the workstation.")
    made.add_argument("pull_request", metavar="PR", nargs="?", help="number, URL or owner/repo#n")
    add_source(made)
    add_review(made)
    add_queue(made)
    add_screen(made)
    return made


def add_screen(made: argparse.ArgumentParser) -> None:
    """How the workstation looks."""
    group = made.add_argument_group("screen")
    group.add_argument("--ascii", action="store_true", default=None, help="use ASCII characters only")
    group.add_argument("--theme", metavar="NAME", help="the name of a theme, such as reviewer-light")
    group.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")


def main(arguments: Sequence[str]) -> Exit:
    args = parser().parse_args(arguments)
    if args.pull_request is None:
        return _queue(args)
    ref = parse_ref(args.pull_request, args.repo, args.host)
    request = review_request(args)
    if not has_terminal():
        from reviewer_tui.review.load import Reviewer

        with source_of(args) as source:
            return as_text(Reviewer(source).review(ref, request, published=True))
    from reviewer_tui.review.desks import ReviewDesk
    from reviewer_tui.store.places import data_directory

    with contextlib.ExitStack() as open_sources:
        desk = ReviewDesk(
            lambda tell: open_sources.enter_context(source_of(args, tell)), ref, request, data_directory()
        )
        return on_screen(desk, args)


def _queue(args: argparse.Namespace) -> Exit:
    """The queue, and from it any of its pull requests, all of them from one source."""
    from reviewer_tui.cli.queue import put_queue, queue_of, read_queue

    if args.head or args.sign_off:
        raise UsageError("--head and --sign-off speak of one pull request.", "Name it, or leave them out.")
    if not has_terminal():
        put_queue(read_queue(args))
        return Exit.DONE
    from reviewer_tui.review.desks import ReviewDesk
    from reviewer_tui.review.queues import SourceQueueDesk
    from reviewer_tui.store.places import data_directory

    request = review_request(args)
    with contextlib.ExitStack() as open_sources:
        source = _Shared(lambda tell: open_sources.enter_context(source_of(args, tell)))
        queue = SourceQueueDesk(
            f"queue of {args.repo}",
            lambda tell: open_sources.enter_context(queue_of(args, tell)),
            lambda ref, signer: ReviewDesk(
                source, ref, msgspec.structs.replace(request, signer=signer), data_directory()
            ),
        )
        return on_screen(None, args, queue)


class _Shared:
    """Opens a source once for several desks; the desk that asked last is told of progress."""

    def __init__(self, open_source: Callable[[Progress], Source]) -> None:
        self._open = open_source
        self._source: Source | None = None
        self._progress: Progress = lambda _: None

    def __call__(self, progress: Progress) -> Source:
        self._progress = progress
        if self._source is None:
            self._source = self._open(lambda words: self._progress(words))
        return self._source


def has_terminal() -> bool:
    """Whether somebody can look at a screen and press keys."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def as_text(review: Review) -> Exit:
    """The whole review as text."""
    put(whole(review, page_width()))
    return Exit.DONE


def on_screen(desk: Desk | None, args: argparse.Namespace, queue: QueueDesk | None = None) -> Exit:
    """Open the workstation at a desk, or on a queue, and wait until the reviewer leaves it. Whoever leaves it without
    having seen what could not be loaded gets the exit code for that."""
    from reviewer_tui.tui.app import run_workstation

    shown = run_workstation(
        desk,
        queue=queue,
        ascii_only=args.ascii,
        theme=args.theme,
        mouse=not args.no_mouse,
        told=_unfinished_posts() if queue is not None else (),
    )
    return Exit.DONE if shown else Exit.NO_DATA


def _unfinished_posts() -> tuple[str, ...]:
    """What an earlier process left unfinished, told where no pull request is opened yet that looks for it."""
    from reviewer_tui.store.places import data_directory
    from reviewer_tui.store.posts import PostJournal

    try:
        left = PostJournal(data_directory()).unfinished()
    except DataError as error:
        return (str(error),)
    numbers = dict.fromkeys(f"#{post.ref.number}" for post in left)
    return tuple(f"A post to {number} is unfinished; opening the pull request looks for it." for number in numbers)
