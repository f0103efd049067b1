"""Measured points beside the published ones: better or worse by how much, point by point and curve by curve.

Two rows are the same point where everything agrees that the repository's own comparison asks for (`compare_results.py`:
hardware, framework, model, precision, speculation, roles, parallelism, lengths, concurrency), and beyond it the places
a KV cache is offloaded to. Images may differ: that is what a comparison is for.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence

import msgspec

from reviewer_tui.checks.curves import Curve, by_curve, coordinates, curve_of_result, percentile_of
from reviewer_tui.checks.frontier import Coordinates, frontier
from reviewer_tui.model.result import BenchmarkResult, Published, PublishedRun

Identity = tuple[object, ...]


class Beside(msgspec.Struct, frozen=True, kw_only=True):
    """A measured point, and the published row of the same point (None: `why` says why there is none)."""

    measured: BenchmarkResult
    published: BenchmarkResult | None = None
    why: str = ""

    @property
    def throughput(self) -> float | None:
        """How much more throughput per GPU was measured than published, as a share of the published value."""
        return None if self.published is None else _gain(self.measured.throughput_per_gpu, self.published)

    @property
    def interactivity(self) -> float | None:
        """The same of interactivity."""
        if self.published is None or self.measured.interactivity is None or not self.published.interactivity:
            return None
        return self.measured.interactivity / self.published.interactivity - 1


class Frontiers(msgspec.Struct, frozen=True):
    """The published and the measured frontier of a curve, in points: how many published ones a measured point
    surpasses, and how many measured ones lie behind a published point."""

    published: int
    surpassed: int
    measured: int
    behind: int


class CurveBeside(msgspec.Struct, frozen=True, kw_only=True):
    """The points of a curve that one run measured, beside the published ones.

    `origins` are the runs that the published values of these points come from, the newest first; `unknown_origin` says
    that of some no run is known. `frontiers` is None where one of the two frontiers has no point.
    """

    curve: Curve
    run_id: int
    points: tuple[Beside, ...]
    origins: tuple[PublishedRun, ...] = ()
    unknown_origin: bool = False
    frontiers: Frontiers | None = None

    @property
    def matched(self) -> tuple[Beside, ...]:
        return tuple(point for point in self.points if point.published is not None)


def identity(result: BenchmarkResult) -> Identity:
    """What makes two rows the same point of the same curve."""
    return (
        curve_of_result(result),
        result.spec_decoding.lower() or "none",
        result.multinode,
        result.disagg,
        result.parallelism,
        result.offload,
        result.conc,
    )


def curves_beside(results: Iterable[BenchmarkResult], published: Published) -> tuple[CurveBeside, ...]:
    """Every curve of every run beside what is published of it, in the order of the results."""
    rows: dict[Identity, list[BenchmarkResult]] = {}
    for row in published.rows:
        rows.setdefault(identity(row), []).append(row)
    known = by_curve(published.rows)
    measured: dict[tuple[Curve, int], list[BenchmarkResult]] = {}
    for result in results:
        measured.setdefault((curve_of_result(result), result.run_id), []).append(result)
    return tuple(_beside(curve, some, rows, known.get(curve, []), published) for (curve, _), some in measured.items())


def _beside(
    curve: Curve,
    measured: Sequence[BenchmarkResult],
    rows: dict[Identity, list[BenchmarkResult]],
    on_curve: Sequence[BenchmarkResult],
    published: Published,
) -> CurveBeside:
    points = tuple(_point(result, rows.get(identity(result), [])) for result in measured)
    used = [point.published.run_id for point in points if point.published is not None] or [r.run_id for r in on_curve]
    origins = {run.id: run for run_id in used if (run := published.run(run_id)) is not None}
    return CurveBeside(
        curve=curve,
        run_id=measured[0].run_id,
        points=points,
        origins=tuple(sorted(origins.values(), key=lambda run: run.published_at, reverse=True)),
        unknown_origin=any(run_id not in origins for run_id in used),
        frontiers=_frontiers(measured, on_curve),
    )


def _point(measured: BenchmarkResult, candidates: Sequence[BenchmarkResult]) -> Beside:
    """The published row of a point; several that differ in nothing but their recipe are told apart by that alone."""
    if not candidates:
        return Beside(measured=measured, why="not published")
    if len(candidates) > 1:
        candidates = [row for row in candidates if row.fingerprint == measured.fingerprint]
    if len(candidates) != 1:
        return Beside(measured=measured, why="several published rows fit")
    return Beside(measured=measured, published=candidates[0])


def _frontiers(measured: Sequence[BenchmarkResult], published: Sequence[BenchmarkResult]) -> Frontiers | None:
    percentile = percentile_of(measured)
    ours = frontier(coordinates(result, percentile) for result in measured)
    theirs = frontier(coordinates(result, percentile) for result in published)
    if not ours or not theirs:
        return None
    return Frontiers(
        published=len(theirs),
        surpassed=sum(any(_beats(point, other) for point in ours) for other in theirs),
        measured=len(ours),
        behind=sum(any(_beats(other, point) for other in theirs) for point in ours),
    )


def _beats(point: Coordinates, other: Coordinates) -> bool:
    """Whether a point is nowhere worse than another, and somewhere better."""
    sides = (other.latency - point.latency, point.throughput - other.throughput)
    return min(sides) >= 0 and max(sides) > 0


def _gain(measured: float, published: BenchmarkResult) -> float | None:
    return measured / published.throughput_per_gpu - 1 if published.throughput_per_gpu > 0 else None


# --- in words --------------------------------------------------------------------------------------------------------


def summary_of(beside: CurveBeside, today: str) -> str:
    """A curve's comparison in one sentence without its full stop; `today` is a date or time in ISO 8601."""
    matched, total = beside.matched, len(beside.points)
    if not matched and not beside.origins and not beside.unknown_origin:
        return "no published row of its points is known"
    noun = "point" if total == 1 else "points"
    words = [f"{len(matched)} of {total} {noun} {'is' if len(matched) == 1 else 'are'} published"]
    if matched:
        gains = (
            ("throughput per GPU", [point.throughput for point in matched]),
            ("interactivity", [point.interactivity for point in matched]),
        )
        told = [f"{name} {span}" for name, values in gains if (span := _span(values))]
        words = [f"{words[0]}: {', '.join(told)}"]
    if (both := beside.frontiers) is not None:
        words.append(
            f"{both.surpassed} of {both.published} points of the published frontier "
            f"{'is' if both.surpassed == 1 else 'are'} surpassed, "
            f"{both.behind} of {both.measured} measured ones {'lies' if both.behind == 1 else 'lie'} behind it"
        )
    origins = [origin_of(run, today) for run in beside.origins]
    if beside.unknown_origin:
        origins.append("a run that is not told")
    return f"{'; '.join(words)}; published by {' and '.join(origins)}"


def origin_of(run: PublishedRun, today: str) -> str:
    """Where a published figure comes from: the run, the commit that published it, and how old it is."""
    whose = f" of #{run.pull_request}" if run.pull_request is not None else ""
    how = ", reused" if run.reused else ""
    age = _days(run.published_at, today)
    old = "" if age is None else f", {age} {'day' if age == 1 else 'days'} old"
    return f"run {run.id}{whose}{how} at {run.commit[:9]} ({run.published_at[:10]}{old})"


def percent(gain: float) -> str:
    """A share as `+5.85 %`."""
    return f"{gain * 100:+.2f} %"


def _span(values: Sequence[float | None]) -> str:
    """The least and the greatest gain; one where they are the same, empty where none is known."""
    known = sorted(value for value in values if value is not None)
    if not known:
        return ""
    least, greatest = percent(known[0]), percent(known[-1])
    return least if least == greatest else f"{least} to {greatest}"


def _days(earlier: str, later: str) -> int | None:
    try:
        first, last = (datetime.date.fromisoformat(text[:10]) for text in (earlier, later))
    except ValueError:
        return None
    return max((last - first).days, 0)
