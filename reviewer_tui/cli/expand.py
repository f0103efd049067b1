"""`expand KEY…`: the points of config keys at a revision, in the field names of the repository's own generator."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence

from reviewer_tui.cli.exits import Exit
from reviewer_tui.cli.options import Parser, add_json, add_source, source_of
from reviewer_tui.cli.output import put, put_raw, say, table, to_json
from reviewer_tui.model.errors import NotFoundError
from reviewer_tui.sweeps.configs import Configs, expand
from reviewer_tui.sweeps.expand import ExpandedRow
from reviewer_tui.sweeps.lanes import job_name
from reviewer_tui.sweeps.rows import arm_label, concurrencies

EVALS = ("default", "none", "only", "all")


def parser() -> argparse.ArgumentParser:
    made = Parser(
        prog="reviewer-tui expand",
        description="Print the rows that the repository's generator makes of config keys.",
        epilog="--evals none, only, all: the generator's --no-evals, --evals-only, --evals-only --all-evals.",
    )
    made.add_argument("keys", metavar="KEY", nargs="+", help="a config key, or a pattern with * and ?; '*' is all")
    made.add_argument("--ref", metavar="REV", default="HEAD", help="revision to expand at (default: the clone's HEAD)")
    made.add_argument("--evals", choices=EVALS, default="default", help="which rows (default: all, evals marked)")
    add_source(made)
    add_json(made)
    return made


def main(arguments: Sequence[str]) -> Exit:
    args = parser().parse_args(arguments)
    with source_of(args) as source:
        configs = Configs(source.tree(args.ref))
        if not configs.keys:
            raise NotFoundError(f"No master config was found at {args.ref}.", "Choose another revision with --ref.")
        expansion = expand(configs, args.keys, args.evals)
    for problem in expansion.problems:
        say(str(problem))
    missing = [problem for problem in expansion.problems if problem.rule == "no-such-key"]
    if args.json:
        put_raw(
            to_json({"rows": [{**item.row, "job_name": job_name(item.row)} for item in expansion.rows]}, pretty=False)
        )
    else:
        put(_lines(expansion.rows))
    return Exit.NO_DATA if missing and not expansion.rows else Exit.DONE


def _lines(rows: Iterable[ExpandedRow]) -> Iterator[str]:
    yield from table(
        (
            (
                item.key,
                arm_label(item.row),
                " ".join(f"c{conc}" for conc in concurrencies(item.row)),
                "eval" if item.row.get("run-eval") else "",
                f"{item.path}:{item.line}",
            )
            for item in rows
        ),
        indent="",
    )
