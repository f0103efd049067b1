"""`signoff PR`: compose the sign-off comment to stdout; what is still to do goes to stderr."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import msgspec

from reviewer_tui.cli.exits import Exit
from reviewer_tui.cli.options import (
    Parser,
    add_common,
    add_pull_request,
    read_text_file,
    review_request,
    source_of,
)
from reviewer_tui.cli.output import put_raw, say, to_json
from reviewer_tui.model.errors import DataError, UsageError
from reviewer_tui.model.part import complete
from reviewer_tui.model.refs import parse_ref
from reviewer_tui.policy.checklist import parse_template
from reviewer_tui.review.load import Reviewer
from reviewer_tui.review.session import Review
from reviewer_tui.review.signing import compose_sign_off
from reviewer_tui.signoff.compose import ComposedSignOff, apply


def parser() -> argparse.ArgumentParser:
    made = Parser(
        prog="reviewer-tui signoff",
        description="Compose the sign-off of a pull request. An item is ticked only where --tick says so.",
        epilog="ITEM is an item's number (4, 11a) or name (evals); “reviewer-tui show PR checklist” lists them.",
    )
    add_pull_request(made)
    made.add_argument("--tick", metavar="ITEM", action="append", default=[], help="accept an item (repeatable)")
    made.add_argument("--note", metavar="ITEM=TEXT", action="append", default=[], help="a note on an item (repeatable)")
    made.add_argument("--template", metavar="FILE", help="use this checklist instead of the policy's")
    add_common(made)
    return made


def main(arguments: Sequence[str]) -> Exit:
    args = parser().parse_args(arguments)
    ref = parse_ref(args.pull_request, args.repo, args.host)
    request = review_request(args)
    with source_of(args) as source:
        review = Reviewer(source).review(ref, request)
        composed = _composed(review, args)
    if args.json:
        put_raw(to_json(_report(review, composed), pretty=True))
    else:
        put_raw(f"{composed.text.rstrip()}\n".encode())
    for missing in composed.unfinished:
        say(missing.reason)
    return Exit.DONE


def _composed(review: Review, args: argparse.Namespace) -> ComposedSignOff:
    """The sign-off with the ticks, notes and template of the command line."""
    if args.template is not None:
        review = _with_template(review, args.template)
    template = review.policy.template.value
    if template is not None:
        review = review.with_notes(apply(review.notes, template, args.tick, args.note))
    elif args.tick or args.note:
        raise UsageError("There is no checklist whose items could be ticked.", review.policy.template.reason)
    return compose_sign_off(review)


def _with_template(review: Review, name: str) -> Review:
    """The review under the template in a file: a whole checklist page or the bare template."""
    parsed = parse_template(read_text_file(name, "template"), name)
    if not hasattr(parsed, "items"):
        raise DataError(f"The template “{name}” cannot be read: {parsed.message}")
    return msgspec.structs.replace(review, policy=msgspec.structs.replace(review.policy, template=complete(parsed)))


def _report(review: Review, composed: ComposedSignOff) -> dict[str, object]:
    return {
        "schema": 1,
        "repository": review.snapshot.ref.repository,
        "number": review.snapshot.ref.number,
        "head": review.snapshot.head,
        "signer": review.signer or None,
        "text": composed.text,
        "unfinished": [{"item": missing.label, "reason": missing.reason} for missing in composed.unfinished],
    }
