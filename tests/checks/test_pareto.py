"""The Pareto check, and the frontier against a slow reference."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.checks.frontier import Coordinates, frontier
from reviewer_tui.checks.pareto import decide, enough_points
from reviewer_tui.model.finding import Status
from reviewer_tui.model.part import complete, partial, unavailable
from reviewer_tui.model.result import Published, PublishedRun
from tests.checks.swept import ENTRY, RESULTS, RUN, after, result, run, swept
from tests.evidence import CHANGELOG, NVIDIA_MASTER, summer

CHECK = "## Check 14 — Pareto coverage of affected curves\nEach curve has at least **five** measured points.\n"

# --- the frontier --------------------------------------------------------------------------------------------------

_NUMBERS = st.one_of(st.integers(1, 6).map(float), st.sampled_from([0.0, -1.0, math.inf, math.nan]))
_POINTS = st.lists(st.builds(Coordinates, _NUMBERS, _NUMBERS), max_size=14)


def slow_frontier(points: list[Coordinates]) -> set[tuple[float, float]]:
    """The definition by the letter: valid points that no other point beats, equal coordinates once."""
    known = [point for point in points if point.valid]
    return {
        (point.latency, point.throughput)
        for point in known
        if not any(other.latency <= point.latency and other.throughput > point.throughput for other in known)
    }


@settings(max_examples=300, deadline=None)
@given(_POINTS, st.randoms())
def test_the_frontier_is_that_of_the_definition(points: list[Coordinates], chance: Any) -> None:
    found = frontier(points)
    assert {(point.latency, point.throughput) for point in found} == slow_frontier(points)
    assert len(found) == len(slow_frontier(points))
    assert [point.latency for point in found] == sorted({point.latency for point in found})
    assert [point.throughput for point in found] == sorted(point.throughput for point in found)
    mixed = points[:]
    chance.shuffle(mixed)
    assert frontier(mixed) == found


def test_ties_plateaus_and_direction() -> None:
    points = [Coordinates(*xy) for xy in ((1, 10), (1, 12), (2, 12), (3, 11), (4, 15), (4, 15), (5, 14))]
    assert [(p.latency, p.throughput) for p in frontier(points)] == [(1, 12), (2, 12), (4, 15)]


def test_flags_choose_after_the_frontier_is_built() -> None:
    points = [Coordinates(1, 10, False), Coordinates(2, 20, True), Coordinates(3, 5, True), Coordinates(4, 30)]
    assert [(p.latency, p.throughput) for p in frontier(points)] == [(2, 20)]
    twice = [Coordinates(2, 20, False), Coordinates(2, 20, True)]
    assert frontier(twice) == frontier(twice[::-1]) == (twice[1],)


# --- the check -----------------------------------------------------------------------------------------------------


def decided(*results: Any, **more: Any) -> Any:
    return decide(swept(run(), check=CHECK, results=complete(results or RESULTS), **more))


def test_enough_points_on_the_frontier() -> None:
    outcome = decided()
    assert outcome.status is Status.PASS
    (finding,) = outcome.findings
    assert finding.message == "qwen3.5 8k1k b200 sglang fp4: 8 of 9 measured points are on its median frontier."
    assert (finding.expected, finding.actual) == ("at least 5", "8")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("at least 5 measured points", 5),
        ("at least **six** points on the frontier", 6),
        ("a minimum of 7 non-dominated points", 7),
        ("≥ 4 points", 4),
        ("Look at 14.", 5),
        ("at least some points", 5),
    ],
)
def test_the_number_is_the_policys(text: str, number: int) -> None:
    assert enough_points(text) == number


def test_too_few_points_warn() -> None:
    flat = tuple(msgspec.structs.replace(one, throughput_per_gpu=100.0, end_to_end_latency=9.0) for one in RESULTS)
    assert decided(*flat).status is Status.WARN
    assert "1 of 9 measured points" in decided(*flat).summary


@pytest.mark.parametrize("latency", [None, math.nan, math.inf, -1.0, 0.0])
def test_an_invalid_point_warns_even_next_to_good_ones(latency: float | None) -> None:
    worse = (*RESULTS[:-1], msgspec.structs.replace(RESULTS[-1], end_to_end_latency=latency))
    more = (*worse, result(2, 2, 128), result(2, 2, 256))
    assert decided(*more).status is Status.WARN
    assert "1 have no latency or throughput above zero" in decided(*more).summary


def test_points_without_a_result() -> None:
    assert decided(*RESULTS[1:]).status is Status.WARN
    assert "1 of the 9 points that the sweep was to measure have no result" in decided(*RESULTS[1:]).summary
    some = partial(RESULTS[1:], "One artifact was not read.")
    assert decide(swept(run(), check=CHECK, results=some)).status is Status.UNVERIFIED
    assert decide(swept(run(), check=CHECK, results=partial(RESULTS, "Others were not."))).status is Status.PASS
    elsewhere = tuple(msgspec.structs.replace(one, run_id=RUN + 1) for one in RESULTS)
    assert decided(*elsewhere).status is Status.WARN


def test_curves_are_apart_by_scenario_and_percentile_and_pooled_by_key_and_image() -> None:
    pooled = tuple(msgspec.structs.replace(one, image=f"other:{n}", model="x") for n, one in enumerate(RESULTS))
    assert decided(*pooled).status is Status.PASS
    for changed in ({"isl": 1024}, {"hardware": "b300"}, {"precision": "fp8"}, {"framework": "vllm"}):
        apart = (*RESULTS[:4], *(msgspec.structs.replace(one, **changed) for one in RESULTS[4:]))
        assert decided(*apart).status is Status.WARN


AGENTIC = NVIDIA_MASTER.replace("fixed-seq-len", "agentic-coding").replace(
    "    - isl: 8192\n      osl: 1024\n      search", "    - search"
)


def agentic(conc: int, **latencies: float) -> Any:
    return result(
        2, 1, conc, scenario="agentic-coding", isl=None, osl=None, end_to_end_latency=None, latencies=latencies
    )


def test_another_percentile_is_a_curve_of_its_own() -> None:
    master = AGENTIC.replace("spec-decoding: mtp", "kv-offloading: none, spec-decoding: mtp")
    rows = tuple(agentic(2**n, p90=10.0 + n, p75=5.0 + min(n, 2)) for n in range(6))
    outcome = decide(swept(run(), head=after(master), check=CHECK, results=complete(rows)))
    assert [(f.status, "p90" in f.message, f.actual) for f in outcome.findings] == [
        (Status.PASS, True, "6"),
        (Status.WARN, False, "3"),
    ]


def test_no_affected_curve_is_not_applicable() -> None:
    assert decide(swept(head={**summer(), "README.md": "x"}, check=CHECK)).status is Status.NOT_APPLICABLE


def test_without_sweep_or_results() -> None:
    assert decide(swept(check=CHECK)).status is Status.WARN
    assert decide(swept(check=CHECK, runs=partial((), "Not all."))).status is Status.UNVERIFIED
    assert decide(swept(check=CHECK, runs=unavailable("None."))).status is Status.UNVERIFIED
    assert decide(swept(run(), check=CHECK, results=unavailable("None."))).status is Status.UNVERIFIED
    assert decide(swept(run(), head=after(changelog=CHANGELOG), check=CHECK)).status is Status.WARN


def test_append_only_sweeps_may_count_published_points() -> None:
    head = after()
    head["perf-changelog.yaml"] = f"{CHANGELOG}{ENTRY}  append-only: true\n"
    outcome = decide(swept(run(), head=head, check=CHECK, results=complete(RESULTS[6:])))
    assert outcome.status is Status.WARN
    assert "published points of the same image count too" in outcome.summary
    old = Published(rows=(*RESULTS[:6], msgspec.structs.replace(RESULTS[0], conc=2, image="another:image")))
    known = decide(swept(run(), head=head, check=CHECK, results=complete(RESULTS[6:]), published=complete(old)))
    assert known.status is Status.WARN, "whether their recipes are unchanged is not shown"
    assert "with these 6 it would be 8 on the frontier" in known.summary


def test_how_points_stand_beside_the_published_ones_is_said_and_decides_nothing() -> None:
    slower = tuple(
        msgspec.structs.replace(one, run_id=5, throughput_per_gpu=one.throughput_per_gpu / 1.1) for one in RESULTS[:4]
    )
    by = PublishedRun(id=5, commit="c" * 40, published_at="2026-08-01T00:00:00Z")
    outcome = decided(published=complete(Published(rows=slower, runs=(by,))))
    assert outcome.status is Status.PASS
    assert outcome.findings[0].message == (
        "qwen3.5 8k1k b200 sglang fp4: 8 of 9 measured points are on its median frontier; 4 of 9 points are published: "
        "throughput per GPU +10.00 %; 3 of 3 points of the published frontier are surpassed, 0 of 8 measured ones lie "
        "behind it; published by run 5 at ccccccccc (2026-08-01, 11 days old)."
    )
    nothing = decided(published=complete(Published()))
    assert nothing.findings[0].message.endswith("frontier; no published row of its points is known.")
    unknown = decided(published=unavailable("The rate limit is used up."))
    assert unknown.findings[0].message.endswith("on its median frontier.")
    assert decided(published=complete(Published(rows=RESULTS))).status is Status.PASS
