"""`show PR [pane]`: one pane as text, or the whole review."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from reviewer_tui.cli.exits import Exit
from reviewer_tui.cli.options import Parser, add_common, add_pull_request, review_request, source_of
from reviewer_tui.cli.output import page_width, put, put_raw, say, to_json
from reviewer_tui.cli.panes import PANES, header, upstream_text, whole
from reviewer_tui.cli.report import recipes_report, results_report
from reviewer_tui.model.errors import UsageError
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.model.refs import parse_ref
from reviewer_tui.review.load import Reviewer
from reviewer_tui.sources.source import Source, log_of

_REPORTS = {"recipes": recipes_report, "results": results_report}


def parser() -> argparse.ArgumentParser:
    made = Parser(prog="reviewer-tui show", description="Print one pane of a pull request, or all of them, as text.")
    add_pull_request(made)
    made.add_argument("pane", nargs="?", choices=tuple(PANES), help="default: all")
    made.add_argument(
        "--write", action="store_true", help="with recipes: print what to propose upstream for arms without a recipe"
    )
    made.add_argument(
        "--log", metavar="JOB", help="with runs: print the end of the log of a job, by its id or a part of its name"
    )
    add_common(made)
    return made


def main(arguments: Sequence[str]) -> Exit:
    args = parser().parse_args(arguments)
    if args.json and args.pane not in _REPORTS:
        panes = " and ".join(_REPORTS)
        raise UsageError(f"--json is for the panes {panes}.", "The whole review as JSON: check PR --json.")
    if args.write and args.pane != "recipes":
        raise UsageError("--write is for the pane recipes.")
    if args.json and args.write:
        raise UsageError("--json and --write ask for two different things.")
    if args.log is not None and (args.pane != "runs" or args.json):
        raise UsageError("--log is for the pane runs.")
    ref = parse_ref(args.pull_request, args.repo, args.host)
    request = review_request(args)
    width = page_width()
    with source_of(args) as source:
        if args.log is not None:
            return _log(source, ref, args)
        review = Reviewer(source).review(ref, request, published=args.pane in (None, "results", "runs"))
        if args.json:
            put_raw(to_json(_REPORTS[args.pane](review), pretty=True))
        elif args.write:
            put(upstream_text(review, width))
        elif args.pane is None:
            put(whole(review, width))
        else:
            put([*header(review, width), ""])
            put(PANES[args.pane](review, width))
    return Exit.DONE


def _log(source: Source, ref: PullRequestRef, args: argparse.Namespace) -> Exit:
    """The end of a job's log; which job and how much of its log goes to stderr."""
    from reviewer_tui.review.logs import find_job, log_lines, log_title

    job = find_job(source.load(ref, head=args.head, policy_ref=args.policy_ref).snapshot, args.log)
    log = log_of(source, ref, job)
    say(f"{job.name}, {job.conclusion or job.status}, job {job.id} of run {job.run_id}: {log_title(log)}")
    put(log_lines(log))
    return Exit.DONE
