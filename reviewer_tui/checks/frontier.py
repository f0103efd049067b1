"""The Pareto frontier of one curve: the more throughput per chip for a longer end-to-end latency."""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec


class Coordinates(msgspec.Struct, frozen=True):
    """One measured point: end-to-end latency in seconds, total throughput in tokens per second and chip, and whether it
    is on the dashboard's normalised frontier (None where nothing says so)."""

    latency: float
    throughput: float
    normalised: bool | None = None

    @property
    def valid(self) -> bool:
        """Finite and above zero; anything else is no evidence."""
        return all(math.isfinite(value) and value > 0 for value in (self.latency, self.throughput))


def frontier(points: Iterable[Coordinates]) -> tuple[Coordinates, ...]:
    """The points of the frontier, by ascending latency.

    Of equal latencies the highest throughput stands for all; a point stays where its throughput is not below the
    highest so far, so plateaus at distinct latencies stay. Invalid points are left out. Where any point says whether it
    is on the normalised frontier, only those that are remain, after the frontier is built.
    """
    known = [point for point in points if point.valid]
    kept: list[Coordinates] = []
    for point in sorted(known, key=lambda point: (point.latency, -point.throughput, point.normalised is not True)):
        if kept and (point.latency == kept[-1].latency or point.throughput < kept[-1].throughput):
            continue
        kept.append(point)
    if any(point.normalised is not None for point in known):
        return tuple(point for point in kept if point.normalised)
    return tuple(kept)
