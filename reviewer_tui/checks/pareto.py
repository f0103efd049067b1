"""Pareto: each curve that the change affects has enough measured points on its frontier."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reviewer_tui.checks.check import Check, Evidence, Outcome, outcome
from reviewer_tui.checks.curves import Curve, by_curve, coordinates, curve_of_row
from reviewer_tui.checks.frontier import frontier
from reviewer_tui.checks.published import curves_beside, identity, summary_of
from reviewer_tui.checks.runs import Sweep, Sweeps, added_entries, alone, plan_of, sweeps_of
from reviewer_tui.checks.scope import submitted
from reviewer_tui.model.finding import Finding, Status
from reviewer_tui.model.result import BenchmarkResult, Published
from reviewer_tui.sweeps.lanes import THROUGHPUT_FAMILIES
from reviewer_tui.sweeps.plan import SweepPlan
from reviewer_tui.sweeps.rows import AGENTIC, concurrencies

EXPLANATION = """\
Decides whether every affected curve has enough measured points on the frontier of total throughput per chip against
end-to-end latency (median for fixed sequence lengths, 90th percentile for agentic; another submitted percentile is a
curve of its own). Config keys and images of one model, scenario, hardware, framework and precision are one curve.
Too few points, an invalid point or a point without a result only warn. How the points stand beside the published ones
is said and decides nothing.
Reads: the number that the policy's text names, the results of the sweep that counts, the points that it was to measure,
and the published rows of the same curves, where they were looked up.
Cannot know: whether the recipes of published points that an append-only change adds to are unchanged, and whether an
administrator lifted the rule (which would not lift the warning)."""

ENOUGH = 5
"""Points that are enough where the policy's text names no number."""

_NUMBERS = {"three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
_AT_LEAST = re.compile(r"(?:at least|minimum of|>=|≥)\s*[*_`]*(\d{1,2}|[a-z]{3,5})\b[^.\n]{0,40}\bpoints?\b", re.I)
_SECOND_PERCENTILE = "p75"


def enough_points(text: str) -> int:
    """How many points the policy's text asks for."""
    for word in _AT_LEAST.findall(text):
        number = int(word) if word.isdigit() else _NUMBERS.get(word.lower())
        if number:
            return number
    return ENOUGH


def decide(evidence: Evidence) -> Outcome:
    if (
        not submitted(evidence)
        and not added_entries(evidence.trees.base, evidence.trees.head)
        and not evidence.changes.problems
    ):
        return _not_applicable()
    results, runs = evidence.snapshot.results, evidence.snapshot.runs
    if runs.value is None or results.value is None:
        missing = runs if runs.value is None else results
        return alone(Status.UNVERIFIED, missing.reason, missing.remedy)
    plan, sweeps = plan_of(evidence, evidence.trees.head), sweeps_of(evidence)
    curves = _curves(plan)
    if not curves:
        why = plan.problems[0].message if plan.problems else "No new changelog entry runs the changed keys."
        return alone(Status.UNVERIFIED if plan.problems else Status.WARN, f"No curve is measured: {why}")
    if sweeps.best is None:
        return _no_sweep(sweeps)
    policy_check = evidence.policy.check("pareto")
    judge = _Judge(evidence, sweeps.best, enough_points(policy_check.text if policy_check else ""))
    findings = tuple(finding for curve, expected in curves.items() for finding in judge.curve(curve, expected))
    return outcome(findings, _summary(findings))


def _not_applicable() -> Outcome:
    message = "No benchmark curve is affected."
    finding = Finding(status=Status.NOT_APPLICABLE, message=message)
    return Outcome(status=Status.NOT_APPLICABLE, summary=message, findings=(finding,))


def _no_sweep(sweeps: Sweeps) -> Outcome:
    if sweeps.doubts:
        return alone(Status.UNVERIFIED, f"No sweep with results is known: {' '.join(sweeps.doubts)}")
    return alone(Status.WARN, "No sweep of a commit in this PR measured any point.")


def _curves(plan: SweepPlan) -> dict[Curve, int]:
    """The curves that a plan's throughput lanes measure, with the number of their points."""
    found: dict[Curve, int] = {}
    for lane in plan.lanes:
        if lane.family in THROUGHPUT_FAMILIES:
            curve = curve_of_row(lane.row)
            found[curve] = found.get(curve, 0) + len(concurrencies(lane.row))
    return found


class _Judge:
    """Judges the curves of one sweep."""

    def __init__(self, evidence: Evidence, sweep: Sweep, enough: int) -> None:
        self._evidence = evidence
        self._sweep = sweep
        self._enough = enough
        results = [one for one in evidence.snapshot.results.value or () if one.run_id == sweep.run.id]
        self._results = by_curve(results)
        self._published = evidence.snapshot.published.value
        beside = curves_beside(results, self._published) if self._published is not None else ()
        self._beside = {one.curve: summary_of(one, evidence.review_date) for one in beside}

    def curve(self, curve: Curve, expected: int) -> Iterator[Finding]:
        """One finding for each percentile of a curve that was measured."""
        results = self._results.get(curve, [])
        agentic = any(result.scenario == AGENTIC for result in results)
        yield self._percentile(curve, results, expected, "p90" if agentic else "median")
        if agentic and any(_SECOND_PERCENTILE in result.latencies for result in results):
            yield self._percentile(curve, results, expected, _SECOND_PERCENTILE)

    def _percentile(self, curve: Curve, results: list[BenchmarkResult], expected: int, percentile: str) -> Finding:
        points = [coordinates(result, percentile) for result in results]
        on_it = frontier(points)
        invalid = sum(not point.valid for point in points)
        unread = max(0, expected - len(points))
        status, message = Status.PASS, f"{len(on_it)} of {len(points)} measured points are on its {percentile} frontier"
        if len(on_it) < self._enough:
            status, message = Status.WARN, f"{message}, and {self._enough} are wanted"
        if invalid:
            status, message = Status.WARN, f"{message}; {invalid} have no latency or throughput above zero"
        if unread:
            missing = f"{unread} of the {expected} points that the sweep was to measure have no result"
            status, message = self._unread_status(), f"{message}; {missing}"
        if self._sweep.plan.append_only and status is not Status.PASS:
            message += self._appended(curve, results, percentile)
        if percentile != _SECOND_PERCENTILE and curve in self._beside:
            message += f"; {self._beside[curve]}"
        return Finding(
            status=status,
            message=f"{curve}: {message}.",
            url=self._sweep.run.url or None,
            expected=f"at least {self._enough}",
            actual=str(len(on_it)),
        )

    def _appended(self, curve: Curve, results: list[BenchmarkResult], percentile: str) -> str:
        """What published points of the same image add to the frontier. Whether their recipes are unchanged is shown
        by nobody here, so they lift no warning."""
        condition = "published points of the same image count too where they are shown to be unchanged"
        old = _same_image(self._published, curve, results) if self._published is not None else []
        if not old:
            return f"; {condition}"
        on_it = frontier(coordinates(result, percentile) for result in (*results, *old))
        return f"; {condition}: with these {len(old)} it would be {len(on_it)} on the frontier"

    def _unread_status(self) -> Status:
        """A point without a result is no evidence; where results were not all read, nothing is proven either way."""
        return Status.WARN if self._evidence.snapshot.results.complete else Status.UNVERIFIED


def _same_image(published: Published, curve: Curve, results: list[BenchmarkResult]) -> list[BenchmarkResult]:
    """The published points of a curve that were not measured again, with the image of the measured ones."""
    measured, images = {identity(result) for result in results}, {result.image for result in results}
    rows = by_curve(published.rows).get(curve, [])
    return [row for row in rows if row.image and row.image in images and identity(row) not in measured]


def _summary(findings: tuple[Finding, ...]) -> str:
    for status in (Status.UNVERIFIED, Status.WARN):
        if found := next((finding for finding in findings if finding.status is status), None):
            return found.message
    number = len(findings)
    return f"{number} {'curve has' if number == 1 else 'curves have'} enough points on the frontier"


CHECK = Check(
    name="pareto",
    title="Each affected curve has enough measured points on its Pareto frontier",
    pane="runs",
    explanation=EXPLANATION,
    decide=decide,
)
