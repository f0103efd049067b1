"""Rows out of the files that sweeps leave behind, of every era and of every kind of damage."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.model.result import BenchmarkResult, EvalScore
from reviewer_tui.sources.github.artifacts import (
    Rows,
    is_reusable,
    parallelism_of,
    parse_evals,
    parse_results,
    with_images,
)
from tests.fake_github.plain import eval_row, result_row


def evals(*rows: Any) -> Rows[EvalScore]:
    return parse_evals(json.dumps(rows).encode(), 5)


def results(*rows: Any) -> Rows[BenchmarkResult]:
    return parse_results(json.dumps(rows).encode(), 5)


def test_a_single_node_eval() -> None:
    ((score,), problems) = (evals(eval_row(32)).rows, evals(eval_row(32)).problems)
    assert problems == ()
    assert score == EvalScore(
        run_id=5,
        task="gsm8k",
        model="org/A",
        model_prefix="a",
        hardware="h200",
        framework="sglang",
        precision="fp8",
        spec_decoding="none",
        conc=32,
        isl=8192,
        osl=1024,
        tp=8,
        ep=1,
        dp_attn=False,
        parallelism="tp8 ep1",
        strict=0.95,
        flexible=0.94,
        samples=1319,
        score=0.95,
        score_name="em_strict",
    )


def test_a_multi_node_agentic_eval() -> None:
    row = eval_row(
        64,
        is_multinode=True,
        hw="CLUSTER:GB300-NV",
        isl=0,
        osl=0,
        dp_attention="prefill=true,decode=false",
        prefill_tp=4,
        prefill_ep=4,
        prefill_num_workers=2,
        prefill_dp_attention="true",
        decode_tp=16,
        decode_ep=16,
        decode_num_workers=1,
        decode_dp_attention="false",
    )
    (score,) = evals(row).rows
    assert (score.hardware, score.isl, score.osl, score.multinode, score.dp_attn) == (
        "cluster:gb300-nv",
        None,
        None,
        True,
        None,
    )
    assert score.parallelism == "2x(tp4 ep4 dpa)+1x(tp16 ep16)"


def test_an_eval_that_failed_to_run_has_no_score() -> None:
    """Rows of the autumn carry whether the infrastructure worked, and an error where it did not."""
    row = eval_row(
        16,
        infrastructure_success=False,
        integration_error={"type": "Timeout", "message": "no\x1b[2J answer"},
        em_strict=0.99,
        score=0.99,
        n_eff=0,
        eval_suite="kimi_vendor",
    )
    (score,) = evals(row).rows
    assert (score.infrastructure_success, score.error, score.suite) == (
        False,
        "Timeout: no<U+001B>[2J answer",
        "kimi_vendor",
    )
    assert (score.strict, score.flexible, score.score, score.samples) == (None, None, None, 0)


@pytest.mark.parametrize("value", [None, "high", True, -0.1, 1.01, float("nan"), float("inf"), [0.9], 10**400])
def test_what_is_no_share_is_no_score(value: Any) -> None:
    (score,) = evals(eval_row(16, em_strict=value)).rows
    assert score.strict is None


def test_an_accuracy_is_the_published_score() -> None:
    (score,) = evals(eval_row(16, em_strict=None, em_flexible=None, score=0.41, score_name="accuracy")).rows
    assert (score.strict, score.score, score.score_name) == (None, 0.41, "accuracy")


def test_numbers_written_as_text_are_numbers() -> None:
    (score,) = evals(eval_row(16, conc="32", tp="4", em_strict="0.97", is_multinode="false")).rows
    assert (score.conc, score.tp, score.strict, score.multinode) == (32, 4, 0.97, False)


def test_rows_that_make_no_sense_are_named_and_the_others_kept() -> None:
    rows = evals(eval_row(0), "text", eval_row(16), {}, eval_row(16, task=None))
    assert [score.conc for score in rows.rows] == [16]
    assert [problem.split()[1] for problem in rows.problems] == ["1", "2", "4", "5"]


def test_a_fixed_result() -> None:
    (row,) = results(result_row(64)).rows
    assert (row.conc, row.throughput_per_gpu, row.interactivity, row.end_to_end_latency) == (64, 1064.0, 50.0, 20.0)
    assert (row.scenario, row.latencies, row.image) == (
        "fixed-seq-len",
        {"median": 20.0, "p90": 25.0},
        "lmsysorg/sglang:v0.5.12",
    )
    assert (row.model_prefix, row.hardware, row.parallelism, row.on_frontier) == ("a", "h200", "tp8 ep1", None)


def test_an_agentic_result_is_read_at_its_ninetieth_percentile() -> None:
    row = result_row(
        8,
        scenario_type="agentic-coding",
        isl=None,
        osl=None,
        request_metrics={
            "throughput": {"per_gpu": {"total_tput_tps": 512.5}},
            "latency": {
                "e2el": {"p50": 4.0, "p75": 6.0, "p90": 9.0},
                "intvty": {"p50": 80.0, "p90": 40.0},
            },
        },
        isOnNormalizedInteractivityFrontier=True,
    )
    (result,) = results(row).rows
    assert (result.scenario, result.throughput_per_gpu) == ("agentic-coding", 512.5)
    assert (result.end_to_end_latency, result.interactivity) == (9.0, 40.0)
    assert result.latencies == {"median": 4.0, "p75": 6.0, "p90": 9.0}
    assert (result.isl, result.on_frontier) == (None, True)


@pytest.mark.parametrize(
    ("row", "offload"),
    [
        ({}, ""),
        ({"kv_offloading": "none", "kv_offload_backend": None}, ""),
        ({"kv_offloading": "dram", "kv_offload_backend": {"name": "LMCache", "version": "1"}}, "dram lmcache"),
        ({"kv_offloading": "dram", "kv_offload_backend": "default"}, "dram"),
        ({"kv_offloading": 7, "kv_offload_backend": ["x"]}, ""),
    ],
)
def test_where_a_points_cache_goes_belongs_to_the_point(row: dict[str, Any], offload: str) -> None:
    (result,) = results(result_row(8, recipe_fingerprint="ab", **row)).rows
    assert (result.offload, result.fingerprint) == (offload, "ab")


def test_several_results_of_one_job_come_as_an_array_in_the_array() -> None:
    assert [row.conc for row in results([result_row(4), result_row(8)], result_row(16)).rows] == [4, 8, 16]
    assert [row.conc for row in parse_results(json.dumps(result_row(2)).encode(), 5).rows] == [2]


@pytest.mark.parametrize("value", [0, -1, None, "x", float("nan")])
def test_a_result_without_throughput_is_none(value: Any) -> None:
    rows = results(result_row(4, tput_per_gpu=value))
    assert (rows.rows, len(rows.problems)) == ((), 1)


def test_the_image_of_an_eval_is_that_of_its_runs_results() -> None:
    scores = evals(eval_row(16), eval_row(16, precision="fp4"), eval_row(16, hw="B200")).rows
    measured = results(
        result_row(4), result_row(8), result_row(4, precision="fp4"), result_row(8, precision="fp4", image="other")
    ).rows
    assert [score.image for score in with_images(scores, measured)] == ["lmsysorg/sglang:v0.5.12", None, None]
    other_run = parse_results(json.dumps([result_row(4)]).encode(), 6).rows
    assert [score.image for score in with_images(scores, other_run)] == [None, None, None]


@pytest.mark.parametrize(
    ("row", "label"),
    [
        ({}, ""),
        ({"tp": 2, "ep": 2}, "tp2 ep2"),
        ({"tp": 8, "pp": 2, "dcp_size": 4, "pcp_size": 1, "ep": 1, "dp_attention": True}, "tp8 pp2 dcp4 ep1 dpa"),
        ({"is_multinode": True, "prefill_tp": 4, "prefill_num_workers": 1, "decode_num_workers": 0}, "1x(tp4)"),
    ],
)
def test_labels_of_parallelism(row: dict[str, Any], label: str) -> None:
    assert parallelism_of(row) == label


@pytest.mark.parametrize(
    ("name", "reusable"),
    [
        ("results_bmk", True),
        ("eval_results_all", True),
        ("bmk_agentic_x", True),
        ("run-stats", False),
        ("bmk_x", False),
    ],
)
def test_which_artifacts_let_a_run_be_reused(name: str, reusable: bool) -> None:
    assert is_reusable(name) is reusable


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"NaN", b'"text"', b"9" * 5000])
def test_files_that_are_nothing_are_said(content: bytes) -> None:
    for rows in (parse_evals(content, 1), parse_results(content, 1)):
        assert rows.rows == ()
        assert rows.problems


KEYS = sorted({*eval_row(1), *result_row(1), "request_metrics", "integration_error", "is_multinode"})
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.just("true")),
    lambda below: st.one_of(st.lists(below, max_size=3), st.dictionaries(st.sampled_from(["latency", "p90"]), below)),
    max_leaves=4,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(VALUES, st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=12)), max_size=4))
def test_no_file_crashes_and_no_score_leaves_its_range(rows: list[Any]) -> None:
    content = json.dumps(rows).encode()
    for score in parse_evals(content, 1).rows:
        assert score.conc > 0
        assert all(value is None or 0 <= value <= 1 for value in (score.strict, score.flexible, score.score))
    for result in parse_results(content, 1).rows:
        assert result.conc > 0
        assert math.isfinite(result.throughput_per_gpu)
        assert result.throughput_per_gpu > 0
        assert all(math.isfinite(value) and value > 0 for value in result.latencies.values())
