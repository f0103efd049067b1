"""A small repository with a script that patches, or may patch, and what the check on patches decides about it."""

from __future__ import annotations

from reviewer_tui.checks.check import Outcome
from reviewer_tui.checks.engine_patch import decide
from reviewer_tui.model.finding import Status
from tests.evidence import SCRIPT, evidence_of, summer

Files = dict[str, bytes | str]

RECIPES = "benchmarks/multi_node/srt-slurm-recipes"
RECIPE = f"{RECIPES}/vllm/qwen/agg.yaml"
LAUNCHER = "runners/launch_b200-dgxc.sh"
PLACE = "/usr/local/lib/python3.12/dist-packages/vllm"
LOOK = (Status.FAIL, Status.UNVERIFIED, Status.JUDGEMENT)
MULTI_NODE = """\
kimik3-fp4-gb200-dynamo-vllm:
  image: vllm/vllm-openai:v1
  model: moonshotai/Kimi-K3
  model-prefix: kimik3
  runner: b200
  precision: fp4
  framework: dynamo-vllm
  multinode: true
  disagg: false
  scenarios:
    fixed-seq-len:
    - isl: 8192
      osl: 1024
      search-space:
      - conc-list: [8]
        prefill: { num-worker: 1, tp: 8, ep: 1, dp-attn: false,
          additional-settings: ["CONFIG_FILE=recipes/vllm/kimi/agg.yaml"] }
        decode: { num-worker: 0, tp: 8, ep: 1, dp-attn: false }
"""


def seen(outcome: Outcome) -> None:
    """The least that is asked: a person is told to look."""
    assert outcome.status in LOOK, f"{outcome.status}: {outcome.summary}"


def with_lines(*lines: str) -> Files:
    """The repository with lines put to the end of its script."""
    files = summer()
    return {**files, SCRIPT: "\n".join([str(files[SCRIPT]).rstrip("\n"), *lines, ""])}


def patch(head: Files, base: Files | None = None) -> Outcome:
    """What the check decides about a change to the repository."""
    return decide(evidence_of(base or summer(), head))
