"""Curves: measured points of one model, scenario, hardware, framework and precision, and where each point lies."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from reviewer_tui.checks.frontier import Coordinates
from reviewer_tui.checks.scope import sku
from reviewer_tui.model.result import BenchmarkResult
from reviewer_tui.sweeps.rows import AGENTIC, FIXED, Row, sequence_label


class Curve(msgspec.Struct, frozen=True):
    """What makes measured points one curve; `scenario` is `8k1k` or `agentic`."""

    prefix: str
    scenario: str
    hardware: str
    framework: str
    precision: str

    def __str__(self) -> str:
        return f"{self.prefix} {self.scenario} {self.hardware} {self.framework} {self.precision}"


def curve_of_row(row: Row) -> Curve:
    """The curve that a row of the generator is measured for."""
    prefix, framework, precision = (str(row.get(name, "")) for name in ("model-prefix", "framework", "precision"))
    hardware = sku(str(row.get("runner", "")))
    return Curve(prefix, sequence_label(row), hardware, framework.lower(), precision.lower())


def curve_of_result(result: BenchmarkResult) -> Curve:
    """The curve that a measured point lies on."""
    row: Row = {"isl": result.isl, "osl": result.osl, "scenario-type": result.scenario}
    hardware = sku(result.hardware)
    return Curve(result.model_prefix, sequence_label(row), hardware, result.framework.lower(), result.precision.lower())


def by_curve(results: Iterable[BenchmarkResult]) -> dict[Curve, list[BenchmarkResult]]:
    """Measured points by their curve, in the order in which they come."""
    found: dict[Curve, list[BenchmarkResult]] = {}
    for result in results:
        found.setdefault(curve_of_result(result), []).append(result)
    return found


def percentile_of(results: Iterable[BenchmarkResult]) -> str:
    """The percentile that a curve is drawn at: the median of fixed lengths, the 90th of agentic points."""
    return "p90" if any(result.scenario == AGENTIC for result in results) else "median"


def coordinates(result: BenchmarkResult, percentile: str) -> Coordinates:
    """A result's place; a latency that was not measured is invalid evidence."""
    own = "median" if result.scenario in ("", FIXED) else "p90"
    otherwise = result.end_to_end_latency if percentile == own else None
    latency = result.latencies.get(percentile, otherwise)
    return Coordinates(latency or 0.0, result.throughput_per_gpu, result.on_frontier)
