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
    latency in seconds.

    Interactivity and latency are medians for fixed sequence lengths and the 90th percentile for agentic points;
    `latencies` holds every percentile that was measured (`median`, `p75`, `p90`). `on_frontier` is the row's own flag
    for points that count after normalising interactivity (None where it has none). `offload` is where an agentic
    point's KV cache goes beside the GPU, empty for nowhere; `fingerprint` is that of a multi-node recipe, empty where
    the row has none.
    """

    run_id: int
    parallelism: str
    conc: int
    throughput_per_gpu: float
    interactivity: float | None = None
    end_to_end_latency: float | None = None
    image: str | None = None
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
    offload: str = ""
    fingerprint: str = ""


class PublishedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run whose results were published: a sweep of the default branch, or the sweep of a pull request that the
    default branch reused.

    `commit` is the commit of the default branch that published it, in full, and `published_at` when that was swept or
    reused (ISO 8601, UTC). `pull_request` is the pull request that was merged so (None where that is not told);
    `reused` says that the run is that pull request's own.
    """

    id: int
    commit: str
    published_at: str
    url: str = ""
    pull_request: int | None = None
    reused: bool = False


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """The newest published row of each point of the curves that a pull request measured, and the runs that they come
    from (a row names its run; one whose run is not among these has an unknown origin)."""

    rows: tuple[BenchmarkResult, ...] = ()
    runs: tuple[PublishedRun, ...] = ()

    def run(self, run_id: int) -> PublishedRun | None:
        return next((run for run in self.runs if run.id == run_id), None)
