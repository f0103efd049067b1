"""`reviewer-tui [PR]`: the workstation on a pull request; without a terminal, the review as text."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Sequence

from reviewer_tui.cli.exits import Exit
from reviewer_tui.cli.main import help_text
from reviewer_tui.cli.options import Parser, add_review, add_source, review_request, source_of
from reviewer_tui.cli.output import page_width, put
from reviewer_tui.cli.panes import whole
from reviewer_tui.model.errors import UsageError
from reviewer_tui.model.refs import parse_ref
from reviewer_tui.review.desk import Desk
from reviewer_tui.review.session import Review


def parser() -> argparse.ArgumentParser:
    made = Parser(prog="reviewer-tui", usage="reviewer-tui [PR] [options]", description="Open the workstation.")
    made.add_argument("pull_request", metavar="PR", nargs="?", help="number, URL or owner/repo#n")
    add_source(made)
    add_review(made)
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
        raise UsageError(f"Name a pull request.\n\n{help_text()}")
    ref = parse_ref(args.pull_request, args.repo, args.host)
    request = review_request(args)
    if not has_terminal():
        from reviewer_tui.review.load import Reviewer

        with source_of(args) as source:
            return as_text(Reviewer(source).review(ref, request))
    from reviewer_tui.review.desks import ReviewDesk
    from reviewer_tui.store.places import data_directory

    with contextlib.ExitStack() as open_sources:
        desk = ReviewDesk(
            lambda tell: open_sources.enter_context(source_of(args, tell)), ref, request, data_directory()
        )
        return on_screen(desk, args)


def has_terminal() -> bool:
    """Whether somebody can look at a screen and press keys."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def as_text(review: Review) -> Exit:
    """The whole review as text."""
    put(whole(review, page_width()))
    return Exit.DONE


def on_screen(desk: Desk, args: argparse.Namespace) -> Exit:
    """Open the workstation and wait until the reviewer leaves it."""
    from reviewer_tui.tui.app import run_workstation

    run_workstation(desk, ascii_only=args.ascii, theme=args.theme, mouse=not args.no_mouse)
    return Exit.DONE
