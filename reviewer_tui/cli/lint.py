"""`lint PR FILE`: judge an existing sign-off text by the policy's own template."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

import msgspec

from reviewer_tui.cli.exits import Exit
from reviewer_tui.cli.options import (
    Parser,
    add_common,
    add_pull_request,
    review_request,
    sign_off_of,
    source_of,
)
from reviewer_tui.cli.output import page_width, put, put_raw, to_json, wrap
from reviewer_tui.model.refs import parse_ref
from reviewer_tui.model.text import shorten
from reviewer_tui.review.load import Reviewer
from reviewer_tui.review.signing import lint_sign_off
from reviewer_tui.signoff.lint import LintFinding, LintReport
from reviewer_tui.signoff.match import Segment

_LONGEST_EXPECTATION = 200


def parser() -> argparse.ArgumentParser:
    made = Parser(prog="reviewer-tui lint", description="Judge a sign-off text before, or after, it is posted.")
    add_pull_request(made)
    made.add_argument("file", metavar="FILE", help="the sign-off text (- for standard input, or the URL of a comment)")
    add_common(made, sign_off=False)
    return made


def main(arguments: Sequence[str]) -> Exit:
    args = parser().parse_args(arguments)
    ref = parse_ref(args.pull_request, args.repo, args.host)
    request = msgspec.structs.replace(review_request(args), **sign_off_of(args.file))
    with source_of(args) as source:
        review = Reviewer(source).review(ref, request)
    report = lint_sign_off(review, review.sign_off or "")
    if args.json:
        put_raw(to_json(_report(report), pretty=True))
    else:
        put(_lines(report, page_width()))
    return Exit.REJECTED if report.faults else Exit.DONE


def _lines(report: LintReport, width: int) -> Iterator[str]:
    for finding in (*report.faults, *report.remarks):
        place = f"line {finding.line}: " if finding.line else ""
        yield from wrap(finding.message, width, f"{finding.status.letter} {place}")
        if finding.segments:
            yield from wrap(_drift(finding.segments), width, "    ")
        elif finding.expected:
            yield from wrap(f"expected: {shorten(finding.expected, _LONGEST_EXPECTATION)}", width, "    ")
    yield f"{len(report.faults)} faults, {len(report.remarks)} remarks"


def _drift(segments: tuple[Segment, ...]) -> str:
    """An altered wording word by word: `{+ only in the sign-off +}`, `[- only in the template -]`."""
    shown = {"equal": "{}", "insert": "{{+{}+}}", "delete": "[-{}-]"}
    return " ".join(shown[segment.operation].format(segment.text.strip()) for segment in segments)


def _report(report: LintReport) -> dict[str, object]:
    return {
        "schema": 1,
        "status": report.status,
        "faults": [_finding(finding) for finding in report.faults],
        "remarks": [_finding(finding) for finding in report.remarks],
    }


def _finding(finding: LintFinding) -> dict[str, object]:
    found: dict[str, object] = msgspec.to_builtins(finding)
    found["item"] = found.pop("label")
    return found
