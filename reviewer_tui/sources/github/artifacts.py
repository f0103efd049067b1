"""Eval scores and benchmark results out of the files that a sweep leaves behind.

Written by InferenceX's own collection scripts (`collect_eval_results.py`, `process_result.py`,
`process_agentic_result.py`; later `infx/`): arrays of flat objects, with fields that came over time. A row that makes
no sense is named and left out; a score that is no share from 0 to 1 is no score.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, Generic, TypeVar

import msgspec

from reviewer_tui.model.result import BenchmarkResult, EvalScore
from reviewer_tui.model.text import visible

T = TypeVar("T")

EVALS = "eval_results_all"
RESULTS = "results_bmk"
AGENTIC_PREFIX = "bmk_agentic_"

_MOST_ROWS = 50_000
_LONGEST_TEXT = 300
_ROLES = ("prefill", "decode")
_PERCENTILES = {"median": ("median_", "p50"), "p75": ("p75_", "p75"), "p90": ("p90_", "p90"), "p99": ("p99_", "p99")}


class Rows(msgspec.Struct, Generic[T], frozen=True):
    """What a file held, and a sentence for each row that could not be used."""

    rows: tuple[T, ...]
    problems: tuple[str, ...] = ()


def is_reusable(artifact: str) -> bool:
    """Whether an artifact of this name lets a run be reused (`find_reusable_sweep_run.py`)."""
    return artifact in (EVALS, RESULTS) or artifact.startswith(AGENTIC_PREFIX)


def is_result_file(name: str) -> bool:
    """Whether a file of one of these artifacts holds rows."""
    return name.endswith(".json") and not name.startswith(("__MACOSX/", "."))


def parse_evals(content: bytes, run_id: int) -> Rows[EvalScore]:
    """The rows of `agg_eval_all.json`."""
    return _parsed(content, lambda row: _eval(row, run_id))


def parse_results(content: bytes, run_id: int) -> Rows[BenchmarkResult]:
    """The rows of `agg_bmk.json`, of one `agg_*.json`, or of one agentic aggregate."""
    return _parsed(content, lambda row: _result(row, run_id))


def with_images(evals: Iterable[EvalScore], results: Iterable[BenchmarkResult]) -> tuple[EvalScore, ...]:
    """The evals with the image of their run's results, where all results of the same run, model, hardware, framework,
    precision and speculation name one and the same. Eval rows themselves name none."""
    images: dict[tuple[object, ...], set[str | None]] = {}
    for result in results:
        images.setdefault(_origin(result), set()).add(result.image)

    def dressed(score: EvalScore) -> EvalScore:
        named = images.get(_origin(score), set())
        return (
            msgspec.structs.replace(score, image=next(iter(named)))
            if score.image is None and len(named) == 1
            else score
        )

    return tuple(dressed(score) for score in evals)


def parallelism_of(row: Mapping[str, Any]) -> str:
    """The label of a row's parallelism: `tp2 ep2`, `tp8 pp2 dpa`, `2x(tp8 ep8)+1x(tp16 dpa)`."""
    if not _flag(row.get("is_multinode")):
        return _one_worker(row, "")
    prefill, decode = (f"{_count(row, f'{role}_num_workers', 1)}x({_one_worker(row, f'{role}_')})" for role in _ROLES)
    return f"{prefill}+{decode}" if _flag(row.get("disagg")) or _count(row, "decode_num_workers", 0) else prefill


# --- rows ----------------------------------------------------------------------------------------------------------


def _eval(row: Mapping[str, Any], run_id: int) -> EvalScore | str:
    conc, task = _count(row, "conc", 0), _text(row.get("task"))
    if conc <= 0 or not task:
        return "names no task or concurrency"
    error = _error(row.get("integration_error"))
    strict, flexible, score = (None if error else _share(row.get(key)) for key in ("em_strict", "em_flexible", "score"))
    return EvalScore(
        run_id=run_id,
        task=task,
        model=_text(row.get("model")),
        model_prefix=_text(row.get("model_prefix")),
        hardware=_text(row.get("hw")).lower(),
        framework=_text(row.get("framework")).lower(),
        precision=_text(row.get("precision")).lower(),
        spec_decoding=_text(row.get("spec_decoding")) or "none",
        conc=conc,
        isl=_count(row, "isl", 0) or None,
        osl=_count(row, "osl", 0) or None,
        tp=_number_or_none(row, "tp"),
        ep=_number_or_none(row, "ep"),
        dp_attn=_flag_or_none(row.get("dp_attention")),
        multinode=_flag(row.get("is_multinode")),
        parallelism=parallelism_of(row),
        strict=strict,
        flexible=flexible,
        samples=_number_or_none(row, "n_eff"),
        infrastructure_success=_flag_or_none(row.get("infrastructure_success")),
        image=_text(row.get("image")) or None,
        score=score,
        score_name=_text(row.get("score_name")),
        error=error,
        suite=_text(row.get("eval_suite")),
    )


def _result(row: Mapping[str, Any], run_id: int) -> BenchmarkResult | str:
    conc = _count(row, "conc", 0)
    agentic = "request_metrics" in row
    metrics = _agentic_metrics(row) if agentic else _fixed_metrics(row)
    throughput = metrics["throughput"].get("total")
    if conc <= 0 or throughput is None:
        return "names no concurrency, or no throughput above zero"
    percentile = "p90" if agentic else "median"
    return BenchmarkResult(
        run_id=run_id,
        parallelism=parallelism_of(row),
        conc=conc,
        throughput_per_gpu=throughput,
        interactivity=metrics["interactivity"].get(percentile),
        end_to_end_latency=metrics["latency"].get(percentile),
        image=_text(row.get("image")) or None,
        model=_text(row.get("model")),
        model_prefix=_text(row.get("infmax_model_prefix")) or _text(row.get("model_prefix")),
        hardware=_text(row.get("hw")).lower(),
        framework=_text(row.get("framework")).lower(),
        precision=_text(row.get("precision")).lower(),
        spec_decoding=_text(row.get("spec_decoding")) or "none",
        scenario=_text(row.get("scenario_type")) or ("agentic-coding" if agentic else "fixed-seq-len"),
        isl=_count(row, "isl", 0) or None,
        osl=_count(row, "osl", 0) or None,
        tp=_number_or_none(row, "tp"),
        ep=_number_or_none(row, "ep"),
        dp_attn=_flag_or_none(row.get("dp_attention")),
        multinode=_flag(row.get("is_multinode")),
        disagg=_flag(row.get("disagg")),
        latencies=metrics["latency"],
        on_frontier=_flag_or_none(row.get("isOnNormalizedInteractivityFrontier")),
        offload=_offload(row),
        fingerprint=_text(row.get("recipe_fingerprint")),
    )


def _offload(row: Mapping[str, Any]) -> str:
    """`dram lmcache`: where an agentic point's KV cache goes and by which backend, without the words for neither."""
    backend = row.get("kv_offload_backend")
    named = backend.get("name") if isinstance(backend, dict) else backend
    words = (_text(word).lower() for word in (row.get("kv_offloading"), named))
    return " ".join(word for word in words if word not in ("", "none", "default"))


def _fixed_metrics(row: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    def percentiles(name: str) -> dict[str, float]:
        return _positive({label: row.get(f"{prefix}{name}") for label, (prefix, _) in _PERCENTILES.items()})

    return {
        "throughput": _positive({"total": row.get("tput_per_gpu")}),
        "interactivity": percentiles("intvty"),
        "latency": percentiles("e2el"),
    }


def _agentic_metrics(row: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    measured = row.get("request_metrics")

    def percentiles(name: str) -> dict[str, float]:
        values = _inside(measured, "latency", name)
        return _positive({label: values.get(key) for label, (_, key) in _PERCENTILES.items()})

    return {
        "throughput": _positive({"total": _inside(measured, "throughput", "per_gpu").get("total_tput_tps")}),
        "interactivity": percentiles("intvty"),
        "latency": percentiles("e2el"),
    }


def _one_worker(row: Mapping[str, Any], role: str) -> str:
    if f"{role}tp" not in row:
        return ""
    words = [f"tp{_count(row, f'{role}tp', 1)}"]
    for word, key in (("pp", "pp"), ("dcp", "dcp_size"), ("pcp", "pcp_size"), ("ep", "ep")):
        value = _count(row, f"{role}{key}", 1)
        if value > 1 or (word == "ep" and f"{role}ep" in row):
            words.append(f"{word}{value}")
    return " ".join([*words, "dpa"] if _flag(row.get(f"{role}dp_attention")) else words)


def _origin(row: EvalScore | BenchmarkResult) -> tuple[object, ...]:
    return (row.run_id, row.model_prefix, row.hardware, row.framework, row.precision, row.spec_decoding)


# --- values --------------------------------------------------------------------------------------------------------


def _parsed(content: bytes, parse: Any) -> Rows[Any]:
    try:
        loaded = json.loads(content, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return Rows((), ("The file is no JSON.",))
    rows = list(_flattened(loaded))
    if len(rows) > _MOST_ROWS:
        return Rows((), (f"The file has {len(rows):,} rows; no sweep has that many.",))
    good, problems = [], []
    for number, row in enumerate(rows, 1):
        parsed = parse(row) if isinstance(row, dict) else "is no object"
        if isinstance(parsed, str):
            problems.append(f"Row {number} {parsed}.")
        else:
            good.append(parsed)
    return Rows(tuple(good), tuple(problems))


def _flattened(loaded: Any) -> Iterable[Any]:
    """The rows of an array, of arrays in it (several results of one job), or a single row."""
    if not isinstance(loaded, list):
        return [loaded]
    return [row for one in loaded for row in (one if isinstance(one, list) else [one])]


def _inside(value: Any, *keys: str) -> Mapping[str, Any]:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _float(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _share(value: Any) -> float | None:
    number = _float(value)
    return number if number is not None and 0 <= number <= 1 else None


def _positive(values: Mapping[str, Any]) -> dict[str, float]:
    numbers = {key: _float(value) for key, value in values.items()}
    return {key: number for key, number in numbers.items() if number is not None and number > 0}


def _number_or_none(row: Mapping[str, Any], key: str) -> int | None:
    number = _float(row.get(key))
    return int(number) if number is not None and number == int(number) and abs(number) < 1 << 53 else None


def _count(row: Mapping[str, Any], key: str, default: int) -> int:
    number = _number_or_none(row, key)
    return default if number is None else number


def _flag_or_none(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(value.lower()) if isinstance(value, str) else None


def _flag(value: Any) -> bool:
    return _flag_or_none(value) is True


def _text(value: Any) -> str:
    return visible(value.strip())[:_LONGEST_TEXT] if isinstance(value, str) else ""


def _error(value: Any) -> str:
    """An integration error in words; empty where there is none."""
    if value in (None, "", False):
        return ""
    if isinstance(value, dict):
        words = [text for key in ("type", "code", "message", "detail") if (text := _text(value.get(key)))]
        return ": ".join(words)[:_LONGEST_TEXT] or "an integration error without words"
    return _text(value) or "an integration error without words"
