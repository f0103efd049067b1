"""`recipes [KEY…]`: how much of what config keys serve is documented by the upstream recipes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence

from reviewer_tui.checks.recipe_coverage import Coverage, KeyCoverage, coverage_of
from reviewer_tui.cli.exits import Exit, exit_of
from reviewer_tui.cli.options import Parser, add_json, add_source, review_date, source_of
from reviewer_tui.cli.output import page_width, put, put_raw, say, table, to_json, wrap
from reviewer_tui.cli.report import coverage_report
from reviewer_tui.model.errors import NotFoundError
from reviewer_tui.model.finding import verdict_of
from reviewer_tui.model.tree import Tree
from reviewer_tui.review.load import Reviewer
from reviewer_tui.sources.source import PagesSource, Source
from reviewer_tui.sweeps.configs import Configs
from reviewer_tui.sweeps.expand import matching_keys


def parser() -> argparse.ArgumentParser:
    made = Parser(
        prog="reviewer-tui recipes",
        description="Hold what config keys serve against the published pages of vLLM recipes and the SGLang cookbook.",
        epilog="exit: 0 every arm is documented · 1 some are not · 3 some could not be compared or must be weighed",
    )
    made.add_argument("keys", metavar="KEY", nargs="*", default=["*"], help="a config key or pattern (default: all)")
    made.add_argument("--ref", metavar="REV", default="HEAD", help="revision of the keys (default: the clone's HEAD)")
    made.add_argument(
        "--policy-ref", metavar="REV", help="read the demands at this revision (default: that of the keys)"
    )
    made.add_argument("--date", metavar="YYYY-MM-DD", help="pages as published at the end of this day, UTC")
    made.add_argument("--gaps", action="store_true", help="tell what is not documented, argument by argument")
    add_source(made)
    add_json(made)
    return made


def main(arguments: Sequence[str]) -> Exit:
    args = parser().parse_args(arguments)
    day = review_date(args.date)
    with source_of(args) as source:
        pages = source.pages(day) if isinstance(source, PagesSource) else {}
        if not pages:
            raise NotFoundError(
                "There are no recipe pages to compare with.",
                "Name a clone of a recipe repository with --recipes-clone DIR or --sglang-clone DIR.",
            )
        found = _coverage(source, pages, args)
    if args.json:
        put_raw(to_json(coverage_report(found, args.repo, day), pretty=True))
    else:
        put(_lines(found, gaps=args.gaps))
    return exit_of(verdict_of(row.status for row in found.keys)) if found.keys else Exit.DONE


def _coverage(source: Source, pages: Mapping[str, Tree], args: argparse.Namespace) -> Coverage:
    tree = source.tree(args.ref)
    known = Configs(tree).keys
    if not known:
        raise NotFoundError(f"No master config was found at {args.ref}.", "Choose another revision with --ref.")
    keys, missing = matching_keys(args.keys, known)
    for pattern in missing:
        say(f"No config key is named {pattern} at {args.ref}.")
    if not keys:
        raise NotFoundError("None of the keys is there.", "“reviewer-tui expand '*'” lists all of them.")
    policy = Reviewer(source).policy(source.tree(args.policy_ref) if args.policy_ref else tree)
    return coverage_of(tree, policy, pages, keys)


def _lines(found: Coverage, *, gaps: bool) -> Iterator[str]:
    yield f"recipes of {len(found.keys)} config keys at {found.revision[:9]}"
    for upstream in found.upstream:
        told = upstream.commit[:9] if upstream.commit else upstream.reason
        yield from wrap(told, page_width(), f"  {upstream.repository}: ", "    ")
    if found.exempt:
        told = f"{len(found.exempt)} keys need no recipe, or perhaps none: {_reasons(found)}"
        yield from wrap(told, page_width(), "  ")
    yield from (f"  {key} cannot be read." for key in found.unreadable)
    yield ""
    yield from table((("", "key", "arms", "same shape", "covered", "page"), *map(_row, found.keys)), indent="")
    yield ""
    counted = found.totals
    told = (
        f"{counted.keys}, with a page {counted.with_page}, for the hardware {counted.with_hardware}, "
        f"with the checkpoint {counted.with_checkpoint}, an arm of the same shape {counted.with_shape}, "
        f"wholly covered {counted.whole}, unverified {counted.unverified}"
    )
    yield from wrap(told, page_width(), "keys: ")
    yield f"arms: {counted.arms}, of the same shape {counted.shapes}, covered {counted.covered}"
    if gaps:
        yield from _gap_lines(found)


def _reasons(found: Coverage) -> str:
    return "; ".join(dict.fromkeys(found.exempt.values()))


def _row(row: KeyCoverage) -> tuple[str, ...]:
    page = row.page or ("not read" if row.doubts else "no page")
    return (row.status.letter, row.key, str(row.arms), str(row.shapes), str(row.covered), page)


def _gap_lines(found: Coverage) -> Iterator[str]:
    for row in found.keys:
        for sentence in (*row.gaps, *row.doubts):
            yield from wrap(sentence, page_width(), "- ", "  ")
