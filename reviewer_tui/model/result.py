"""Eval scores and benchmark results, as the runs' artifacts hold them."""

from __future__ import annotations

import msgspec


class EvalScore(msgspec.Struct, frozen=True, kw_only=True):
    """One evaluated point. Scores are shares from 0 to 1; `samples` is the number of effective samples.

    `score` is the one that the repository publishes, `score_name` which it is (`em_strict`, `accuracy`); `error` says
    why there is none. `parallelism` is the label of the point as panes show it (`tp2 ep2`). `image` is what the run
    used, where known.
    """

    run_id: int
    task: str
    model: str
    model_prefix: str
    hardware: str
    framework: str
    precision: str
    spec_decoding: str
    conc: int
    isl: int | None = None
    osl: int | None = None
    tp: int | None = None
    ep: int | None = None
    dp_attn: bool | None = None
    multinode: bool = False
    parallelism: str = ""
    strict: float | None = None
    flexible: float | None = None
    samples: int | None = None
    infrastructure_success: bool | None = None
    image: str | None = None
    score: float | None = None
    score_name: str = ""
    error: str = ""
    suite: str = ""


class BenchmarkResult(msgspec.Struct, frozen=True, kw_only=True):
    """One measured point. Throughput in tokens per second and GPU, interactivity in tokens per second and user,
    latency in seconds; `published_*` are the newest published values of the same point.

    Interactivity and latency are medians for fixed sequence lengths and the 90th percentile for agentic points;
    `latencies` holds every percentile that was measured (`median`, `p75`, `p90`). `on_frontier` is the row's own flag
    for points that count after normalising interactivity (None where it has none).
    """

    run_id: int
    parallelism: str
    conc: int
    throughput_per_gpu: float
    interactivity: float | None = None
    end_to_end_latency: float | None = None
    image: str | None = None
    published_throughput_per_gpu: float | None = None
    published_interactivity: float | None = None
    model: str = ""
    model_prefix: str = ""
    hardware: str = ""
    framework: str = ""
    precision: str = ""
    spec_decoding: str = ""
    scenario: str = ""
    isl: int | None = None
    osl: int | None = None
    tp: int | None = None
    ep: int | None = None
    dp_attn: bool | None = None
    multinode: bool = False
    disagg: bool = False
    latencies: dict[str, float] = {}
    on_frontier: bool | None = None
