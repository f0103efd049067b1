"""`fetch PR…`: load pull requests into the cache, progress on stderr."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from reviewer_tui.cli.exits import Exit, gravest
from reviewer_tui.cli.network import clear_status, github
from reviewer_tui.cli.options import Parser, add_source
from reviewer_tui.cli.output import put, say
from reviewer_tui.model.errors import DataError, NotFoundError, UsageError
from reviewer_tui.model.part import Part
from reviewer_tui.model.refs import is_range, parse_refs
from reviewer_tui.model.snapshot import Snapshot

# The parts of a snapshot that a load can miss, as people call them.
_PARTS = ("files", "commits", "info", "conversation", "runs", "evals", "results", "published", "statuses", "upstream")


def parser() -> argparse.ArgumentParser:
    made = Parser(prog="reviewer-tui fetch", description="Load pull requests from GitHub into the cache.")
    made.add_argument("pull_requests", metavar="PR", nargs="+", help="number, URL, owner/repo#n, or a range 2000..2100")
    made.add_argument("--head", metavar="SHA", help="load this commit of the pull request (default: its newest)")
    made.add_argument("--policy-ref", metavar="REV", help="load the rules of this revision as well")
    add_source(made)
    return made


def main(arguments: Sequence[str]) -> Exit:
    args = parser().parse_args(arguments)
    if args.clone or args.offline:
        raise UsageError("“fetch” reads GitHub; --clone and --offline promise not to.", "Leave them out.")
    refs = parse_refs(args.pull_requests, args.repo, args.host)
    lenient = any(is_range(text) for text in args.pull_requests)
    exits: set[Exit] = set()
    with github(args) as source:
        for place, ref in enumerate(refs, 1):
            before = f"{place} of {len(refs)}: " if len(refs) > 1 else ""
            try:
                loaded = source.with_published(source.load(ref, head=args.head, policy_ref=args.policy_ref))
            except DataError as error:
                clear_status()
                if not (lenient and isinstance(error, NotFoundError)):
                    exits.add(Exit.NO_DATA)
                say(f"{before}#{ref.number}: {error}")
                continue
            clear_status()
            put(_told(before, loaded.snapshot))
    return gravest(exits)


def _told(before: str, snapshot: Snapshot) -> list[str]:
    """What was loaded, and each part that is not complete with its reason."""
    title = snapshot.info.value.title if snapshot.info.value else ""
    lines = [f"{before}#{snapshot.ref.number} at {snapshot.head[:9]}  {title}".rstrip()]
    for name in _PARTS:
        part: Part[object] = getattr(snapshot, name)
        if not part.complete:
            lines.append(f"  {name}: {part.state}. {part.reason}")
    return lines
