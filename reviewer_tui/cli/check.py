"""`check PR…`: run the checks; one report for one pull request, one line each for several."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from reviewer_tui.cli import panes
from reviewer_tui.cli.exits import Exit, exit_of, gravest
from reviewer_tui.cli.options import Parser, add_common, review_date, review_request, source_of
from reviewer_tui.cli.output import page_width, put, put_raw, say, to_json
from reviewer_tui.cli.report import audit_report, check_report, error_report
from reviewer_tui.model.errors import DataError, NotFoundError, UsageError
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.model.refs import is_range, parse_refs
from reviewer_tui.model.text import shorten
from reviewer_tui.review.load import Reviewer, ReviewRequest
from reviewer_tui.review.session import Review

_AUDIT_HELP = (
    "check every config key of a revision instead of a pull request, by the checks that need nothing but the "
    "repository; the report names those that are left out"
)


def parser() -> argparse.ArgumentParser:
    made = Parser(prog="reviewer-tui check", description="Run the checks on one or several pull requests.")
    made.add_argument("pull_requests", metavar="PR", nargs="*", help="number, URL, owner/repo#n, or a range 2000..2100")
    made.add_argument("--audit", metavar="REV", help=_AUDIT_HELP)
    add_common(made)
    return made


def main(arguments: Sequence[str]) -> Exit:
    args = parser().parse_args(arguments)
    if (args.audit is None) is (not args.pull_requests):
        raise UsageError("Name pull requests, or a revision with --audit; one of the two.")
    if args.audit is not None:
        return _audit(args)
    refs = parse_refs(args.pull_requests, args.repo, args.host)
    request = review_request(args)
    several = len(refs) > 1 or any(is_range(text) for text in args.pull_requests)
    if several and request.head:
        raise UsageError("--head names a commit of one pull request, but several are asked for.")
    with source_of(args) as source:
        reviewer = Reviewer(source)
        if not several:
            return _one(reviewer, refs[0], request, args.json)
        single = [text for text in args.pull_requests if not is_range(text)]
        return _several(reviewer, refs, request, args.json, set(parse_refs(single, args.repo, args.host)))


def _one(reviewer: Reviewer, ref: PullRequestRef, request: ReviewRequest, as_json: bool) -> Exit:
    review = reviewer.review(ref, request, published=True)
    if as_json:
        put_raw(to_json(check_report(review), pretty=True))
    else:
        put(_report(review))
    return exit_of(review.verdict)


def _audit(args: argparse.Namespace) -> Exit:
    from reviewer_tui.review.audit import audit

    with source_of(args) as source:
        tree = source.tree(args.audit)
        policy = Reviewer(source).policy(source.tree(args.policy_ref) if args.policy_ref else tree)
        found = audit(tree, policy, args.repo, review_date(args.date))
    if args.json:
        put_raw(to_json(audit_report(found), pretty=True))
    else:
        put(panes.audit(found, page_width()))
    return exit_of(found.verdict)


def _report(review: Review) -> Iterator[str]:
    width = page_width()
    yield from panes.header(review, width)
    yield ""
    yield from panes.checks(review, width)


def _several(
    reviewer: Reviewer,
    refs: Sequence[PullRequestRef],
    request: ReviewRequest,
    as_json: bool,
    asked_for: set[PullRequestRef],
) -> Exit:
    """One line each. A number of a range that is no pull request is counted, not reported as a failure."""
    exits: set[Exit] = set()
    absent = 0
    for ref in refs:
        try:
            review = reviewer.review(ref, request)
        except DataError as error:
            if isinstance(error, NotFoundError) and ref not in asked_for:
                absent += 1
                continue
            exits.add(Exit.NO_DATA)
            _put_error(ref, error, as_json)
            continue
        exits.add(exit_of(review.verdict))
        if as_json:
            put_raw(to_json(check_report(review), pretty=False))
        else:
            put([_line(review)])
    if absent:
        say(f"{absent} of {len(refs)} numbers have no pull request here.")
    if absent == len(refs):
        exits.add(Exit.NO_DATA)
    return gravest(exits)


def _put_error(ref: PullRequestRef, error: DataError, as_json: bool) -> None:
    if as_json:
        put_raw(to_json(error_report(ref.repository, ref.number, str(error)), pretty=False))
    else:
        say(f"#{ref.number}: {error}")


def _line(review: Review) -> str:
    keys = ", ".join(change.key for change in review.changes.keys) or "no config key"
    counted = panes.counts(review.results)
    return f"#{review.snapshot.ref.number:<5} {review.verdict:<9} {counted}  {shorten(keys, 60)}"
