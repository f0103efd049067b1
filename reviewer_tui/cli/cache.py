"""`cache list|verify|remove|export|import`: what is kept for work without the network."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import msgspec

from reviewer_tui.cli.exits import Exit
from reviewer_tui.cli.network import cache_path, open_cache
from reviewer_tui.cli.options import Parser, add_json, add_source
from reviewer_tui.cli.output import put, put_raw, say, table, to_json
from reviewer_tui.model.refs import as_typed, parse_ref, parse_refs
from reviewer_tui.model.text import shorten
from reviewer_tui.sources.bundle import BundleSource, write_bundle
from reviewer_tui.sources.cached import CacheSource, host_of, keep_bundle
from reviewer_tui.store.cache import Cache, DamagedCacheError, set_aside


def parser() -> argparse.ArgumentParser:
    made = Parser(prog="reviewer-tui cache", description="See and keep what is stored for work without the network.")
    commands = made.add_subparsers(dest="what", metavar="list|verify|remove|export|import", required=True)
    listing = commands.add_parser("list", help="the stored pull requests")
    add_json(listing)
    commands.add_parser("verify", help="find damage, and drop what is damaged so that it is fetched again")
    remove = commands.add_parser("remove", help="drop stored pull requests")
    remove.add_argument("pull_requests", metavar="PR", nargs="+")
    export = commands.add_parser("export", help="write a pull request into a bundle that a colleague can import")
    export.add_argument("pull_request", metavar="PR")
    export.add_argument("file", metavar="FILE", type=Path)
    into = commands.add_parser("import", help="take a bundle into the cache")
    into.add_argument("file", metavar="FILE", type=Path)
    for command in (remove, export):
        add_source(command)
    return made


def main(arguments: Sequence[str]) -> Exit:
    args = parser().parse_args(arguments)
    if args.what == "verify":
        return _verify()
    with open_cache() as cache:
        if args.what == "list":
            return _list(cache, args.json)
        if args.what == "remove":
            removed = cache.remove(parse_refs(args.pull_requests, args.repo, args.host))
            say(f"{removed} snapshots removed.")
            return Exit.DONE
        if args.what == "export":
            return _export(cache, args)
        ref = keep_bundle(BundleSource(args.file), cache)
        say(f"#{ref.number} of {ref.repository} is in the cache now: reviewer-tui {as_typed(ref)} --offline")
        return Exit.DONE


def _list(cache: Cache, as_json: bool) -> Exit:
    kept = cache.snapshots()
    if as_json:
        rows = [
            {
                "repository": one.ref.repository,
                "number": one.ref.number,
                "head": one.head,
                "title": one.title,
                "taken_at": one.taken_at,
            }
            for one in kept
        ]
        put_raw(to_json({"schema": 1, "bytes": cache.size(), "snapshots": rows}, pretty=True))
        return Exit.DONE
    put(table(((f"#{one.ref.number}", one.head[:9], one.taken_at, shorten(one.title, 60)) for one in kept), indent=""))
    say(f"{len(kept)} snapshots, {cache.size() / 1e6:.1f} MB at {cache.path}")
    return Exit.DONE


def _verify() -> Exit:
    """Look at everything. A file that is damaged as a whole is moved aside, and a new one takes its place."""
    try:
        with open_cache() as cache:
            found = cache.verify()
    except DamagedCacheError as fault:
        aside = set_aside(cache_path())
        open_cache().close()
        put([f"{fault.message} It is now {aside}, and an empty cache took its place."])
        say("Load the pull requests that you need again: reviewer-tui fetch PR…")
        return Exit.NO_DATA
    for sentence in found.damaged:
        put([sentence])
    for ref in found.refetch:
        typed = as_typed(msgspec.structs.replace(ref, host=host_of(ref.host)))
        put([f"#{ref.number} of {ref.repository} is no longer whole: reviewer-tui fetch {typed}"])
    say(f"{found.objects:,} objects, {found.snapshots} snapshots and {found.answers:,} answers were read.")
    return Exit.NO_DATA if found.damaged or found.refetch else Exit.DONE


def _export(cache: Cache, args: argparse.Namespace) -> Exit:
    ref = parse_ref(args.pull_request, args.repo, args.host)
    path = write_bundle(args.file, CacheSource(cache, ref.repository, ref.host).load(ref))
    say(f"{path} holds #{ref.number} of {ref.repository}, {path.stat().st_size / 1e6:.1f} MB.")
    return Exit.DONE
