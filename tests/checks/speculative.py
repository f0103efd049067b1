"""Speculative entries of every engine for the tests' small InferenceX: master entries, scripts, recipes, launchers."""

from __future__ import annotations

from collections.abc import Mapping

from tests.evidence import NVIDIA, summer

AGENTIC = "benchmarks/single_node/agentic"
FIXED = "benchmarks/single_node/fixed_seq_len"
RECIPES = "benchmarks/multi_node/srt-slurm-recipes"
RECIPE = "recipes/m/agentic.yaml"
LAUNCHER = "runners/launch_gb200-nv.sh"

GOLDEN = {
    "golden_al_distribution/dsv4_mtp.yaml": """\
# https://x/runs/1
deepseek-v4-pro:
  thinking_on: {1: 1.79, 2: 2.27, 3: 2.49}
  thinking_off: {1: 1.92, 2: 2.61, 3: 2.97}
""",
    "golden_al_distribution/kimik3_dspark.yaml": """\
# https://x/runs/2
kimi-k3:
  thinking_on: {2: 2.45, 4: 3.22, 7: 3.78}
""",
    "golden_al_distribution/kimik3_dspark_probabilistic_sample_method.yaml": """\
# https://x/runs/3
# draft_sample_method=probabilistic
kimi-k3:
  thinking_on: {2: 2.51, 4: 3.36, 7: 3.84}
""",
    "golden_al_distribution/minimaxm3_eagle3.yaml": "minimax-m3:\n  thinking_on: {3: 2.83}\n",
    "golden_al_distribution/minimaxm3_eagle3_gqa.yaml": "minimax-m3:\n  thinking_on: {3: 2.78}\n",
}
LIBRARY = """\
run_benchmark_serving() { python3 utils/bench_serving/benchmark_serving.py "$@"; }
replay() { aiperf profile --endpoint-type chat --concurrency "$CONC"; }
"""
INJECTING = """\
CONFIG_PATH="${CONFIG_FILE%%:*}"
python3 "$GITHUB_WORKSPACE/runners/inject_synthetic_acceptance.py" "$CONFIG_PATH" "$FRAMEWORK"
srtctl apply -f "$CONFIG_FILE"
"""
PLAIN_LAUNCHER = 'srtctl apply -f "$CONFIG_FILE"\n'


def repository(entries: str, files: Mapping[str, str]) -> dict[str, bytes | str]:
    """The repository with these entries alone, and these files beside the golden curves."""
    return {**summer(), **GOLDEN, "benchmarks/benchmark_lib.sh": LIBRARY, NVIDIA: entries, **files}


def single(
    framework: str,
    prefix: str = "dsv4",
    *,
    concs: str = "[4, 32]",
    spec: str = "mtp",
    fixed: bool = False,
    model: str = "org/Model",
) -> str:
    """A single-node entry; its script is `<prefix>_fp4_b200_<framework>[_mtp].sh`."""
    arm = f"tp: 8, conc-list: {concs}, spec-decoding: {spec}"
    scenario = f"    fixed-seq-len:\n    - isl: 8192\n      osl: 1024\n      search-space:\n      - {{ {arm} }}\n"
    if not fixed:
        scenario = f"    agentic-coding:\n    - search-space:\n      - {{ {arm}, kv-offloading: none }}\n"
    return _entry(f"{prefix}-fp4-b200-{framework}", framework, prefix, "b200" if fixed else "cluster:b200", model) + (
        f"  multinode: false\n  scenarios:\n{scenario}"
    )


def multi(
    framework: str = "dynamo-vllm",
    prefix: str = "dsv4",
    *,
    settings: str = "",
    recipe: str = RECIPE,
    fixed: bool = False,
    spec: str = "mtp",
    disagg: bool = False,
) -> str:
    """A multi-node entry that a recipe serves; `settings` are further settings, each with a comma before it."""
    worker = "{ num-worker: 1, tp: 8, ep: 1, dp-attn: false"
    prefill = f'{worker}, additional-settings: ["CONFIG_FILE={recipe}"{settings}] }}'
    arm = f"spec-decoding: {spec}, conc-list: [4, 32], prefill: {prefill}, decode: {worker} }}"
    scenario = f"    fixed-seq-len:\n    - isl: 8192\n      osl: 1024\n      search-space:\n      - {{ {arm} }}\n"
    if not fixed:
        scenario = f"    agentic-coding:\n    - search-space:\n      - {{ {arm} }}\n"
    return _entry(f"{prefix}-fp4-gb200-{framework}", framework, prefix, "cluster:gb200-nv", "org/Model") + (
        f"  multinode: true\n  disagg: {str(disagg).lower()}\n  kv-p2p-transfer: nixl\n  scenarios:\n{scenario}"
    )


def _entry(key: str, framework: str, prefix: str, runner: str, model: str) -> str:
    return (
        f"{key}:\n  image: vllm/vllm-openai:v0.25.1\n  model: {model}\n  model-prefix: {prefix}\n"
        f"  runner: {runner}\n  precision: fp4\n  framework: {framework}\n"
    )


def script(serve: str, client: str = "replay") -> str:
    """A benchmark script: what serves, then the client."""
    return f'#!/usr/bin/env bash\nsource "$(dirname "$0")/../../benchmark_lib.sh"\n{serve}\n{client}\n'


def vllm(config: str, before: str = "") -> str:
    """A vLLM script with a speculative configuration, which its evaluation leaves out; the JSON may name shell
    variables."""
    quoted = config.replace('"', '\\"')
    evaluation = 'if [ "$EVAL_ONLY" = true ]; then vllm serve "$MODEL" & exit; fi'
    return script(f'{before}\n{evaluation}\nvllm serve "$MODEL" --speculative-config "{quoted}" &')


def pinned(length: str, level: str = "3", method: str = "mtp", more: str = "") -> str:
    """vLLM's speculative configuration with a pinned acceptance length."""
    return (
        f'{{"method": "{method}", "num_speculative_tokens": {level}, "rejection_sample_method": "synthetic", '
        f'"synthetic_acceptance_length": {length}{more}}}'
    )


def recipe(
    config: str, *, engine: str = "vllm", role: str = "aggregated", env: str = "", benchmark: str = "type: custom"
) -> str:
    """An srt-slurm recipe of one role; `config` are lines of the engine's settings."""
    variables = f"  {role}_environment: {{ {env} }}\n" if env else ""
    return (
        f"name: x\nbackend:\n  type: {engine}\n{variables}  {engine}_config:\n    {role}:\n"
        + "".join(f"      {line}\n" for line in config.splitlines())
        + f"benchmark:\n  {benchmark}\n"
    )
