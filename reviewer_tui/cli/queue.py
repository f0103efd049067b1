"""`queue`, and `reviewer-tui` alone: the pull requests that wait for a sign-off."""

from __future__ import annotations

import argparse
import contextlib
import datetime
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from reviewer_tui.cli.exits import Exit
from reviewer_tui.cli.network import clear_status, open_cache, show_status
from reviewer_tui.cli.options import Parser, add_json, add_queue, add_source, login, review_date, source_of
from reviewer_tui.cli.output import page_width, put, put_raw, say, to_json, wrap
from reviewer_tui.model.errors import UsageError
from reviewer_tui.review.queue import QueueRow, Waits
from reviewer_tui.review.queue_columns import table_lines
from reviewer_tui.review.queues import (
    CacheQueue,
    CloneQueue,
    GitHubQueue,
    Queue,
    QueuePage,
    QueueRequest,
)
from reviewer_tui.sources.cached import CacheSource
from reviewer_tui.sources.clone import CloneSource
from reviewer_tui.sources.github.loader import GitHubSource

SCHEMA = 1


def parser() -> argparse.ArgumentParser:
    made = Parser(
        prog="reviewer-tui queue",
        description="List the pull requests that wait for a sign-off, what waits for you first.",
        epilog="Verdicts in brackets are predicted. “you?” and the like: the pull request changed since it was read.",
    )
    add_source(made)
    group = made.add_argument_group("review")
    group.add_argument("--signer", metavar="LOGIN", default="", help="whose queue (default: the token's; else all)")
    group.add_argument("--policy-ref", metavar="REV", help="read the rules at this revision")
    group.add_argument("--date", metavar="YYYY-MM-DD", help="review date, UTC (default: today)")
    add_queue(made)
    add_json(made)
    return made


def main(arguments: Sequence[str]) -> Exit:
    args = parser().parse_args(arguments)
    page = read_queue(args)
    if args.json:
        put_raw(to_json(report(page), pretty=True))
    else:
        put_queue(page)
    return Exit.DONE


def read_queue(args: argparse.Namespace) -> QueuePage:
    """The whole queue; progress on a terminal's stderr."""
    try:
        with queue_of(args) as queue:
            for page in queue.pages(show_status):
                last = page
    finally:
        clear_status()
    return last


def put_queue(page: QueuePage) -> None:
    """The queue as text; what is missing is talk."""
    width, now = page_width(), datetime.datetime.now(datetime.UTC)
    put([_heading(page), ""])
    put(table_lines(page.rows, width, now))
    for note in page.notes:
        for line in wrap(note, width):
            say(line)


def _heading(page: QueuePage) -> str:
    pressing = sum(row.waits is Waits.READY for row in page.rows)
    whose = f"for {page.signer}" if page.signer else "for every owner"
    what = "1 pull request" if len(page.rows) == 1 else f"{len(page.rows)} pull requests"
    return f"Queue of {page.repository} {whose}: {what}, {pressing} ready to sign  ({page.source})"


@contextlib.contextmanager
def queue_of(args: argparse.Namespace, progress: Callable[[str], None] | None = None) -> Iterator[Queue]:
    """The queue of the source that the options name, open for as long as it is used."""
    if args.limit < 0:
        raise UsageError("--limit cannot be negative.", "0 lists without looking into any pull request.")
    request = QueueRequest(
        repository=args.repo,
        host=args.host,
        review_date=review_date(args.date),
        signer=login(args.signer),
        policy_ref=args.policy_ref,
        limit=args.limit,
    )
    with source_of(args, progress) as source:
        if isinstance(source, CloneSource):
            yield CloneQueue(source, request)
            return
        with open_cache() as cache:
            if isinstance(source, GitHubSource):
                yield GitHubQueue(source, cache, request)
            elif isinstance(source, CacheSource):
                yield CacheQueue(source, cache, request)


def report(page: QueuePage) -> dict[str, Any]:
    """The queue as JSON: what is not known is null."""
    return {
        "schema": SCHEMA,
        "repository": page.repository,
        "source": page.source,
        "signer": page.signer or None,
        "taken_at": page.taken_at,
        "rows": [_row(row) for row in page.rows],
        "notes": page.notes,
    }


def _row(row: QueueRow) -> dict[str, Any]:
    return {
        "number": row.number,
        "title": row.title or None,
        "url": row.ref.url,
        "head": row.head or None,
        "author": row.author or None,
        "draft": row.draft,
        "labels": row.labels,
        "updated_at": row.updated_at or None,
        "owners": row.owners,
        "waits": row.waits,
        "waits_for": row.waits_for,
        "why": row.why,
        "keys": row.keys,
        "lanes": msgspec.to_builtins(row.lanes),
        "evals": msgspec.to_builtins(row.evals),
        "recipe": row.recipe or None,
        "verdict": row.verdict,
        "predicted": row.predicted,
        "taken_at": row.taken_at or None,
        "outdated": row.outdated,
    }
