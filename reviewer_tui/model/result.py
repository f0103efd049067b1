"""Eval scores and benchmark results, as the runs' artifacts hold them."""

from __future__ import annotations

import msgspec


class EvalScore(msgspec.Struct, frozen=True, kw_only=True):
    """One evaluated point. Scores are shares from 0 to 1; `samples` is the number of effective samples.

    `parallelism` is the label of the point as panes show it (`tp2 ep2`). `image` is what the run used, where known.
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


class BenchmarkResult(msgspec.Struct, frozen=True, kw_only=True):
    """One measured point. Throughput in tokens per second and GPU, interactivity in tokens per second and user,
    latency in seconds; `published_*` are the newest published values of the same point."""

    run_id: int
    parallelism: str
    conc: int
    throughput_per_gpu: float
    interactivity: float | None = None
    end_to_end_latency: float | None = None
    image: str | None = None
    published_throughput_per_gpu: float | None = None
    published_interactivity: float | None = None
