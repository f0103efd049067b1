"""`check --json`: the stable, versioned form of a review."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from reviewer_tui.review.session import Review

if TYPE_CHECKING:
    from reviewer_tui.checks.published import Beside
    from reviewer_tui.checks.recipe_coverage import Coverage
    from reviewer_tui.review.audit import Audit

SCHEMA = 1


def check_report(review: Review) -> dict[str, Any]:
    """The report of one pull request, as DESIGN's contract shows it."""
    snapshot, policy = review.snapshot, review.policy
    template = policy.template.value
    return {
        "schema": SCHEMA,
        "repository": snapshot.ref.repository,
        "number": snapshot.ref.number,
        "head": snapshot.head,
        "head_doubt": snapshot.head_doubt or None,
        "merge_base": snapshot.merge_base,
        "source": snapshot.source,
        "policy": {
            "revision": policy.revision,
            "layout": policy.layout.era,
            "checklist_items": sum(item.boxed for item in template.items) if template else None,
            "checks": [check.name for check in policy.checks],
            "problems": [msgspec.to_builtins(problem) for problem in policy.problems],
        },
        "review_date": review.review_date,
        "signer": review.signer or None,
        "verdict": review.verdict,
        "checks": [msgspec.to_builtins(result) for result in review.results],
        "submitted": [
            {
                "key": change.key,
                "change": change.change,
                "points_added": len(change.points_added),
                "points_removed": len(change.points_removed),
            }
            for change in review.changes.keys
        ],
        "problems": [msgspec.to_builtins(problem) for problem in review.changes.problems],
    }


def audit_report(audit: Audit) -> dict[str, Any]:
    """The report of an audit: the checks' results in the form of `check_report`."""
    return {
        "schema": SCHEMA,
        "repository": audit.repository,
        "revision": audit.revision,
        "policy": {"revision": audit.policy.revision, "layout": audit.policy.layout.era},
        "review_date": audit.review_date,
        "verdict": audit.verdict,
        "keys": audit.keys,
        "checks": [msgspec.to_builtins(result) for result in audit.results],
        "checks_left_out": list(audit.left_out),
    }


def coverage_report(coverage: Coverage, repository: str, day: str) -> dict[str, Any]:
    """The report of what recipes document of config keys. `upstream` names the commit that each repository was read
    at, null where its pages were not at hand."""
    return {
        "schema": SCHEMA,
        "repository": repository,
        "revision": coverage.revision,
        "review_date": day,
        "demands": {"scope": coverage.demands.scope, "policy": coverage.demands.policy},
        "upstream": [msgspec.to_builtins(upstream) for upstream in coverage.upstream],
        "totals": msgspec.to_builtins(coverage.totals),
        "keys": [msgspec.to_builtins(row) for row in coverage.keys],
        "exempt": coverage.exempt,
        "unreadable": list(coverage.unreadable),
    }


def recipes_report(review: Review) -> dict[str, Any]:
    """The recipes pane of one pull request: links, upstream pull requests, and each arm beside the documented one."""
    from reviewer_tui.review.recipes import recipe_view

    snapshot = review.snapshot
    return {
        "schema": SCHEMA,
        "repository": snapshot.ref.repository,
        "number": snapshot.ref.number,
        "head": snapshot.head,
        "review_date": review.review_date,
        **msgspec.to_builtins(recipe_view(review)),
    }


def results_report(review: Review) -> dict[str, Any]:
    """The results pane of one pull request: each curve of each run with its points beside the published ones, gains as
    shares of the published value, and the runs that those come from. `published.state` says whether all was found."""
    from reviewer_tui.checks.published import curves_beside, summary_of
    from reviewer_tui.model.result import Published

    snapshot = review.snapshot
    results, published = snapshot.results, snapshot.published
    curves = curves_beside(results.value or (), published.value or Published())
    looked_up = published.value is not None
    return {
        "schema": SCHEMA,
        "repository": snapshot.ref.repository,
        "number": snapshot.ref.number,
        "head": snapshot.head,
        "review_date": review.review_date,
        "results": {"state": results.state, "reason": results.reason},
        "published": {"state": published.state, "reason": published.reason},
        "curves": [
            {
                "name": str(curve.curve),
                **msgspec.to_builtins(curve.curve),
                "run_id": curve.run_id,
                "summary": summary_of(curve, review.review_date) if looked_up else None,
                "published_by": msgspec.to_builtins(curve.origins),
                "frontiers": msgspec.to_builtins(curve.frontiers) if looked_up else None,
                "points": [_point_report(point, looked_up) for point in curve.points],
            }
            for curve in curves
        ],
    }


def _point_report(point: Beside, looked_up: bool) -> dict[str, Any]:
    return {
        "measured": msgspec.to_builtins(point.measured),
        "published": msgspec.to_builtins(point.published),
        "throughput_gain": point.throughput,
        "interactivity_gain": point.interactivity,
        "why_not": point.why if looked_up else "not looked up",
    }


def error_report(repository: str, number: int, message: str) -> dict[str, Any]:
    """What stands in a list of reports for a pull request that could not be loaded."""
    return {"schema": SCHEMA, "repository": repository, "number": number, "error": message}
