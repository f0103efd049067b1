"""A small InferenceX for sweeps: one entry of each kind, runners, launchers and scripts, all written for the tests."""

from __future__ import annotations

from collections.abc import Mapping

from reviewer_tui.model.config import Entry
from reviewer_tui.model.tree import DictTree
from reviewer_tui.sweeps.configs import Configs
from reviewer_tui.sweeps.master import parse_master

NVIDIA = "configs/nvidia-master.yaml"
AMD = "configs/amd-master.yaml"

FIXED = """\
dsr1-fp8-b200-sglang:
  image: lmsysorg/sglang:v1
  model: org/Model
  model-prefix: dsr1
  runner: b200
  precision: fp8
  framework: sglang
  multinode: false
  scenarios:
    fixed-seq-len:
    - isl: 1024
      osl: 1024
      search-space:
      - { tp: 8, conc-start: 4, conc-end: 48 }
    - isl: 8192
      osl: 1024
      search-space:
      - { tp: 8, ep: 8, dp-attn: true, conc-list: [16, 64, 32] }
      - { tp: 4, conc-start: 4, conc-end: 8, spec-decoding: mtp }
"""
MULTINODE = """\
dsr1-fp8-gb200-dynamo-sglang:
  image: lmsysorg/sglang:v1
  model: org/Model
  model-prefix: dsr1
  runner: gb200
  precision: fp8
  framework: dynamo-sglang
  multinode: true
  disagg: true
  router: { name: dynamo-router, version: "1.0" }
  kv-p2p-transfer: nixl
  scenarios:
    fixed-seq-len:
    - isl: 8192
      osl: 1024
      search-space:
      - spec-decoding: mtp
        conc-list: [8, 256, 64]
        prefill:
          num-worker: 2
          tp: 4
          ep: 4
          dp-attn: true
          additional-settings:
          - "CONFIG_FILE=recipes/sglang/dsr1/one.yaml:override_a"
        decode:
          num-worker: 1
          tp: 8
          ep: 1
          dp-attn: false
"""
AGENTIC = """\
dsv4-fp4-b200-vllm-agentic:
  image: vllm/vllm-openai:v1
  model: org/Other
  model-prefix: dsv4
  runner: cluster:b200-dgxc
  precision: fp4
  framework: vllm
  multinode: false
  scenarios:
    agentic-coding:
    - dram-utilization: 0.5
      search-space:
      - { tp: 4, kv-offloading: none, conc-list: [1, 4] }
      - { tp: 4, kv-offloading: dram, kv-offload-backend: { name: hicache }, spec-decoding: mtp, conc-list: [8] }
"""
AGENTIC_MULTINODE = """\
dsv4-fp4-gb200-dynamo-vllm-agentic:
  image: vllm/vllm-openai:v1
  model: org/Other
  model-prefix: dsv4
  runner: cluster:gb200-nv
  precision: fp4
  framework: dynamo-vllm
  multinode: true
  scenarios:
    agentic-coding:
    - search-space:
      - conc-list: [8, 32, 16]
        prefill: { num-worker: 1, tp: 8, ep: 8, dp-attn: true }
        decode: { num-worker: 1, tp: 8, ep: 1, dp-attn: false }
"""
ALL = f"{FIXED}\n{MULTINODE}\n{AGENTIC}\n{AGENTIC_MULTINODE}"
AMD_FIXED = """\
dsr1-fp8-mi355x-vllm:
  image: vllm/vllm-openai-rocm:v1
  model: org/Model
  model-prefix: dsr1
  runner: mi355x
  precision: fp8
  framework: vllm
  multinode: false
  scenarios:
    fixed-seq-len:
    - isl: 8192
      osl: 1024
      search-space:
      - { tp: 8, conc-start: 4, conc-end: 64 }
"""
RUNNERS = """\
labels:
  b200:
    - b200-cw_0
    - b200-dgxc-slurm_1
  gb200: [gb200-nv_0]
  cluster:b200-dgxc: [b200-dgxc_0]
  cluster:gb200-nv: [gb200-nv_0]
  mi355x: [mi355x-amds_0]
hardware:
  cluster:b200-dgxc: { available-cpu-dram-mib: 2_000_000, gpus-per-node: 8 }
"""
LAUNCHER = """\
#!/usr/bin/env bash
SPEC_SUFFIX=$([[ "$SPEC_DECODING" == "mtp" ]] && printf '_mtp' || printf '')
FRAMEWORK_SUFFIX=$([[ "$FRAMEWORK" == "trt" ]] && printf '_trt' || printf '')
BENCH_BASE="benchmarks/single_node/${SCENARIO_SUBDIR}${EXP_NAME%%_*}_${PRECISION}_b200"
BENCH_SCRIPT="${BENCH_BASE}_${FRAMEWORK}${SPEC_SUFFIX}.sh"
if [[ ! -f "$BENCH_SCRIPT" ]]; then
    BENCH_SCRIPT="${BENCH_BASE}${FRAMEWORK_SUFFIX}${SPEC_SUFFIX}.sh"
fi
bash "$BENCH_SCRIPT"
"""
PLAIN_LAUNCHER = """\
bash benchmarks/single_node/${SCENARIO_SUBDIR}${EXP_NAME%%_*}_${PRECISION}_b200${SPEC_SUFFIX}.sh
"""
MULTINODE_LAUNCHER = """\
cp -rT "$GITHUB_WORKSPACE/benchmarks/multi_node/srt-slurm-recipes/vllm/kept" \\
    recipes/vllm/called
SCRIPT_NAME="${EXP_NAME%%_*}_${PRECISION}_gb200_${FRAMEWORK}.sh"
if [[ "${SCENARIO_SUBDIR}" == "agentic/" ]]; then
    BENCHMARK_SUBDIR="multi_node/agentic"
else
    BENCHMARK_SUBDIR="multi_node"
fi
JOB_ID=$(bash "benchmarks/${BENCHMARK_SUBDIR}/${SCRIPT_NAME}")
"""
SCRIPTS = {
    "benchmarks/benchmark_lib.sh": "lib() { :; }\n",
    "benchmarks/single_node/fixed_seq_len/dsr1_fp8_b200.sh": 'source "$(dirname "$0")/../../benchmark_lib.sh"\n',
    "benchmarks/single_node/fixed_seq_len/dsr1_fp8_b200_sglang_mtp.sh": "# names gone.sh only here\nserve --mtp\n",
    "benchmarks/single_node/fixed_seq_len/dsr1_fp8_b200_mtp.sh": "serve --mtp\n",
    "benchmarks/single_node/agentic/dsv4_fp4_b200_vllm.sh": "bash patches/fix_kv.sh\n",
    "benchmarks/single_node/agentic/dsv4_fp4_b200_vllm_mtp.sh": "serve\n",
    "benchmarks/single_node/agentic/patches/fix_kv.sh": "true\n",
    "benchmarks/multi_node/srt-slurm-recipes/sglang/dsr1/one.yaml": "base: {}\n",
    "benchmarks/multi_node/srt-slurm-recipes/vllm/kept/two.yaml": "base: {}\n",
    "benchmarks/multi_node/agentic/dsv4_fp4_gb200_dynamo-vllm.sh": "cd ../amd_utils\nbash ./submit.sh\n",
    "benchmarks/multi_node/amd_utils/submit.sh": "true\n",
    "benchmarks/multi_node/amd_utils/bench.sh": "true\n",
    "runners/launch_b200-cw.sh": PLAIN_LAUNCHER,
    "runners/launch_b200-dgxc.sh": LAUNCHER,
    "runners/launch_gb200-nv.sh": MULTINODE_LAUNCHER,
}


def files(**changed: str | None) -> dict[str, str]:
    """The files of the small repository; `nvidia`, `amd`, `runners`, `changelog` replace those, None leaves one out."""
    contents: dict[str, str | None] = {
        NVIDIA: changed.get("nvidia", ALL),
        AMD: changed.get("amd", AMD_FIXED),
        "configs/runners.yaml": changed.get("runners", RUNNERS),
        "perf-changelog.yaml": changed.get("changelog"),
        **SCRIPTS,
    }
    return {path: text for path, text in contents.items() if text is not None}


def tree(more: Mapping[str, str | None] | None = None, **changed: str | None) -> DictTree:
    """The small repository, some files replaced by path (None: left out)."""
    contents = {**files(**changed), **(more or {})}
    return DictTree({path: text for path, text in contents.items() if text is not None})


def configs(**changed: str | None) -> Configs:
    return Configs(tree(None, **changed))


def entry_of(text: str) -> Entry:
    """The first entry of a master config."""
    master = parse_master(text, NVIDIA)
    found = master.entry(master.keys[0])
    assert found is not None
    return found
