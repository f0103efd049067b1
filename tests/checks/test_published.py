"""Measured points beside published ones: which rows are the same point, and what is said of a curve."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer_tui.checks.published import CurveBeside, Frontiers, curves_beside, origin_of, summary_of
from reviewer_tui.model.result import BenchmarkResult, Published, PublishedRun
from tests.checks.swept import RESULTS, RUN, result

NEWER = PublishedRun(id=12, commit="b" * 40, published_at="2026-08-09T00:00:00Z", pull_request=2205, reused=True)
OLDER = PublishedRun(id=11, commit="a" * 40, published_at="2026-07-01T00:00:00Z")


def row(measured: BenchmarkResult, **changed: Any) -> BenchmarkResult:
    """The published row of a measured point, half as fast and as interactive, from the newer run."""
    usual = {"run_id": 12, "throughput_per_gpu": measured.throughput_per_gpu / 2, "interactivity": 50.0}
    return msgspec.structs.replace(measured, **{**usual, **changed})


def one_curve(results: tuple[BenchmarkResult, ...], *rows: BenchmarkResult) -> CurveBeside:
    (curve,) = curves_beside(results, Published(rows=rows, runs=(OLDER, NEWER)))
    return curve


def test_the_same_point_is_found_whatever_its_image_and_runner() -> None:
    measured = result(2, 2, 16, interactivity=60.0)
    curve = one_curve((measured,), row(measured, image="another:image", hardware="cluster:b200-dgxc", model="moved"))
    (point,) = curve.matched
    assert (point.throughput, round(point.interactivity or 0, 6)) == (1.0, 0.2)
    assert curve.origins == (NEWER,)


@pytest.mark.parametrize(
    "changed",
    [
        {"conc": 32},
        {"parallelism": "tp2 ep1"},
        {"parallelism": "tp2 ep2 dpa"},
        {"spec_decoding": "none"},
        {"precision": "fp8"},
        {"framework": "vllm"},
        {"hardware": "b300"},
        {"model_prefix": "dsr1"},
        {"isl": 1024},
        {"scenario": "agentic-coding"},
        {"multinode": True},
        {"disagg": True},
        {"offload": "dram lmcache"},
    ],
)
def test_any_other_point_is_none(changed: dict[str, Any]) -> None:
    measured = result(2, 2, 16)
    curve = one_curve((measured,), row(measured, **changed))
    (point,) = curve.points
    assert (point.published, point.throughput, point.interactivity, point.why) == (None, None, None, "not published")


def test_rows_that_differ_in_their_recipe_alone_are_told_apart_by_it_or_not_at_all() -> None:
    measured = result(2, 2, 16, fingerprint="aa")
    twice = (row(measured, fingerprint="aa"), row(measured, fingerprint="bb"))
    assert one_curve((measured,), *twice).matched[0].published == twice[0]
    (unclear,) = one_curve((msgspec.structs.replace(measured, fingerprint="cc"),), *twice).points
    assert (unclear.published, unclear.why) == (None, "several published rows fit")
    assert one_curve((measured,), row(measured, fingerprint="bb")).matched, "a lone row is the point's"


def test_curves_are_apart() -> None:
    other = result(2, 2, 16, isl=1024)
    first, second = curves_beside((result(2, 2, 16), other), Published(rows=(row(other),), runs=(NEWER,)))
    assert (len(first.matched), len(second.matched)) == (0, 1)
    assert summary_of(first, "2026-08-12") == "no published row of its points is known"


def test_the_sweeps_of_a_pull_request_are_apart() -> None:
    again = result(2, 2, 16, run_id=7)
    first, second = curves_beside((result(2, 2, 16), again), Published(rows=(row(again),), runs=(NEWER,)))
    assert (first.run_id, second.run_id) == (RUN, 7)
    assert len(first.matched) == len(second.matched) == 1


def test_a_curve_in_words() -> None:
    measured = tuple(msgspec.structs.replace(one, interactivity=55.0) for one in RESULTS)
    rows = (row(measured[1]), row(measured[2], throughput_per_gpu=measured[2].throughput_per_gpu * 2, run_id=11))
    curve = one_curve(measured, *rows)
    assert summary_of(curve, "2026-08-12T10:00:00Z") == (
        "2 of 9 points are published: throughput per GPU -50.00 % to +100.00 %, interactivity +10.00 %; 1 of 2 points "
        "of the published frontier is surpassed, 3 of 8 measured ones lie behind it; published by run 12 of #2205, "
        "reused at bbbbbbbbb (2026-08-09, 3 days old) and run 11 at aaaaaaaaa (2026-07-01, 42 days old)"
    )


def test_what_is_not_told_of_a_row_is_said() -> None:
    measured = result(2, 2, 16, end_to_end_latency=None)
    curve = one_curve((measured,), row(measured, run_id=99, interactivity=None))
    assert curve.frontiers is None
    assert summary_of(curve, "2026-08-12") == (
        "1 of 1 point is published: throughput per GPU +100.00 %; published by a run that is not told"
    )
    assert origin_of(msgspec.structs.replace(OLDER, published_at=""), "today").endswith("at aaaaaaaaa ()")


def test_other_points_of_the_curve_make_its_frontier_all_the_same() -> None:
    curve = one_curve((result(2, 2, 16),), row(result(8, 1, 128)))
    assert summary_of(curve, "2026-08-12").startswith("0 of 1 point are published; 1 of 1 points of the published")
    assert curve.origins == (NEWER,)


AT = st.tuples(st.integers(1, 5), st.integers(1, 5))


@given(st.lists(AT, min_size=1, max_size=8), st.lists(AT, min_size=1, max_size=8))
def test_a_point_surpasses_what_it_beats_nowhere_worse(
    ours: list[tuple[int, int]], theirs: list[tuple[int, int]]
) -> None:
    def points(places: list[tuple[int, int]], first: int) -> tuple[BenchmarkResult, ...]:
        return tuple(
            result(2, 1, first + n, end_to_end_latency=float(x), throughput_per_gpu=float(y))
            for n, (x, y) in enumerate(places)
        )

    found = one_curve(points(ours, 1), *points(theirs, 100)).frontiers
    assert found is not None

    def kept(places: list[tuple[int, int]]) -> set[tuple[int, int]]:
        return {a for a in places if not any(b != a and b[0] <= a[0] and b[1] > a[1] for b in places)}

    fronts = kept(ours), kept(theirs)
    pairs = list(itertools.product(*fronts))
    surpassed = {b for a, b in pairs if a != b and a[0] <= b[0] and a[1] >= b[1]}
    behind = {a for a, b in pairs if a != b and b[0] <= a[0] and b[1] >= a[1]}
    assert found == Frontiers(len(fronts[1]), len(surpassed), len(fronts[0]), len(behind))
