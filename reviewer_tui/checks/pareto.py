"""Pareto: each curve that the change affects has enough measured points on its frontier."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from reviewer_tui.checks.check import Check, Evidence, Outcome, outcome
from reviewer_tui.checks.frontier import Coordinates, frontier
from reviewer_tui.checks.runs import Sweep, Sweeps, added_entries, alone, plan_of, sweeps_of
from reviewer_tui.checks.scope import sku, submitted
from reviewer_tui.model.finding import Finding, Status
from reviewer_tui.model.result import BenchmarkResult
from reviewer_tui.sweeps.lanes import THROUGHPUT_FAMILIES
from reviewer_tui.sweeps.plan import SweepPlan
from reviewer_tui.sweeps.rows import AGENTIC, FIXED, Row, concurrencies, sequence_label

EXPLANATION = """\
Decides whether every affected curve has enough measured points on the frontier of total throughput per chip against
end-to-end latency (median for fixed sequence lengths, 90th percentile for agentic; another submitted percentile is a
curve of its own). Config keys and images of one model, scenario, hardware, framework and precision are one curve.
Too few points, an invalid point or a point without a result only warn.
Reads: the number that the policy's text names, the results of the sweep that counts, the points that it was to measure.
Cannot know: published points that an append-only change adds to, and whether an administrator lifted the rule (which
would not lift the warning)."""

ENOUGH = 5
"""Points that are enough where the policy's text names no number."""

_NUMBERS = {"three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
_AT_LEAST = re.compile(r"(?:at least|minimum of|>=|≥)\s*[*_`]*(\d{1,2}|[a-z]{3,5})\b[^.\n]{0,40}\bpoints?\b", re.I)
_SECOND_PERCENTILE = "p75"


class Curve(msgspec.Struct, frozen=True):
    """What makes measured points one curve; `scenario` is `8k1k` or `agentic`."""

    prefix: str
    scenario: str
    hardware: str
    framework: str
    precision: str

    def __str__(self) -> str:
        return f"{self.prefix} {self.scenario} {self.hardware} {self.framework} {self.precision}"


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
            curve = _curve_of_row(lane.row)
            found[curve] = found.get(curve, 0) + len(concurrencies(lane.row))
    return found


def _curve_of_row(row: Row) -> Curve:
    prefix, framework, precision = (str(row.get(name, "")) for name in ("model-prefix", "framework", "precision"))
    hardware = sku(str(row.get("runner", "")))
    return Curve(prefix, sequence_label(row), hardware, framework.lower(), precision.lower())


def _curve_of_result(result: BenchmarkResult) -> Curve:
    row: Row = {"isl": result.isl, "osl": result.osl, "scenario-type": result.scenario}
    hardware = sku(result.hardware)
    return Curve(result.model_prefix, sequence_label(row), hardware, result.framework.lower(), result.precision.lower())


class _Judge:
    """Judges the curves of one sweep."""

    def __init__(self, evidence: Evidence, sweep: Sweep, enough: int) -> None:
        self._evidence = evidence
        self._sweep = sweep
        self._enough = enough
        self._results: dict[Curve, list[BenchmarkResult]] = {}
        for result in evidence.snapshot.results.value or ():
            if result.run_id == sweep.run.id:
                self._results.setdefault(_curve_of_result(result), []).append(result)

    def curve(self, curve: Curve, expected: int) -> Iterator[Finding]:
        """One finding for each percentile of a curve that was measured."""
        results = self._results.get(curve, [])
        agentic = any(result.scenario == AGENTIC for result in results)
        yield self._percentile(curve, results, expected, "p90" if agentic else "median")
        if agentic and any(_SECOND_PERCENTILE in result.latencies for result in results):
            yield self._percentile(curve, results, expected, _SECOND_PERCENTILE)

    def _percentile(self, curve: Curve, results: list[BenchmarkResult], expected: int, percentile: str) -> Finding:
        points = [_point(result, percentile) for result in results]
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
            message += "; published points of the same image count too where they are shown to be unchanged"
        return Finding(
            status=status,
            message=f"{curve}: {message}.",
            url=self._sweep.run.url or None,
            expected=f"at least {self._enough}",
            actual=str(len(on_it)),
        )

    def _unread_status(self) -> Status:
        """A point without a result is no evidence; where results were not all read, nothing is proven either way."""
        return Status.WARN if self._evidence.snapshot.results.complete else Status.UNVERIFIED


def _point(result: BenchmarkResult, percentile: str) -> Coordinates:
    """A result's place; a latency that was not measured is invalid evidence."""
    published = "median" if result.scenario in ("", FIXED) else "p90"
    otherwise = result.end_to_end_latency if percentile == published else None
    latency = result.latencies.get(percentile, otherwise)
    return Coordinates(latency or 0.0, result.throughput_per_gpu, result.on_frontier)


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
