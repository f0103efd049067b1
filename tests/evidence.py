"""A small InferenceX in memory, and the evidence of a pull request between two states of it.

Everything here is written for the tests: few keys, short rules, the same shapes and headings as the real files.
"""

from __future__ import annotations

from collections.abc import Mapping

from reviewer_tui.checks.check import Evidence
from reviewer_tui.model.part import complete, unavailable
from reviewer_tui.model.pull_request import ChangedFile, PullRequestRef
from reviewer_tui.model.snapshot import Snapshot, Trees
from reviewer_tui.model.tree import DictTree, git_blob_id
from reviewer_tui.policy.policy import load_policy
from reviewer_tui.signoff.parse import parse_sign_off
from reviewer_tui.sweeps.diff import config_changes

NVIDIA = "configs/nvidia-master.yaml"
AMD = "configs/amd-master.yaml"
SCRIPT = "benchmarks/single_node/fixed_seq_len/qwen3.5_fp4_b200_mtp.sh"

NVIDIA_MASTER = """\
qwen3.5-fp4-b200-sglang-mtp:
  image: lmsysorg/sglang:v0.5.14-cu130
  model: nvidia/Qwen3.5-397B-A17B-NVFP4-V2
  model-prefix: qwen3.5
  runner: b200
  precision: fp4
  framework: sglang
  multinode: false
  scenarios:
    fixed-seq-len:
    - isl: 8192
      osl: 1024
      search-space:
      - { tp: 4, ep: 1, conc-start: 4, conc-end: 4, spec-decoding: mtp }
      - { tp: 2, ep: 1, conc-start: 4, conc-end: 64, spec-decoding: mtp }
"""
AMD_MASTER = """\
dsr1-fp8-mi355x-vllm:
  image: vllm/vllm-openai-rocm:v0.19.0
  model: deepseek-ai/DeepSeek-R1-0528
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
  b200: [b200-dgxc_0]
  mi355x: [mi355x-amds_0]
hardware:
  b200: { available-cpu-dram-mib: 2000000, gpus-per-node: 8 }
"""
CODEOWNERS = """\
* @InferenceX/core
configs/amd-master.yaml @chunfangamd @1am9trash
configs/nvidia-master.yaml @ankur-singh @kedarpotdar-nv @InferenceX/core
"""
CHECKLIST = """\
# Checklist

## Template
```
As a PR reviewer and CODEOWNER, I have reviewed this and have:
- [ ] Verified that as of the moment of typing this, this is the latest version of [PR_REVIEW_CHECKLIST.md](https://x/c)
- [ ] Verified that this PR has passed PR validation. Please link to GitHub Action workflow that shows this.
- [ ] Verified that this PR passes evals.  Please link to GitHub Action workflow that shows this.
- [ ] If any of the above criteria cannot reasonably be satisfied, I have provided additional reasoning below.

### Additional detail section:
- insert any additional info here

Signed: `FILL_IN_GITHUB_USERNAME`
```
"""
VERIFIER = """\
## Check 0 — The sign-off author is a CODEOWNER for the changed files
Own words.

## Check 1 — A passing sweep + evals ran on a commit IN this PR
Own words.

## Check 5 — Sign-off uses the LATEST checklist template
Own words.

## Check 6 — Upstream vLLM/SGLang images, and engine-first ordering
Established (NOT "new hardware") SKUs: NVIDIA H100, H200, B200, and AMD MI355X.
For `framework: vllm` the image comes from https://hub.docker.com/u/vllm. For `framework: sglang` it comes from
https://hub.docker.com/u/lmsysorg.

## Check 7 — No submissions for deprecated models or scenarios
Own words.

## Check 99 — The moon is full
Look at the sky.
"""
MODELS = """\
# Models

## Deprecation Notice

### Thursday, August 6, 2026

**Thursday, August 6, 2026** is the last day.

| Model | Deprecated | Remains |
|---|---|---|
| Old Model (`oldmodel`) | Single-turn 8k1k | Nothing |

## Scenarios

| Scenario | ISL/OSL | Status |
|---|---|---|
| Agentic coding | traces | Active. |
| Single-turn 8k1k | 8192 / 1024 | Active. |
| Single-turn 1k1k | 1024 / 1024 | **Deprecated for all models** since 2026-07-17 ([#1](https://x/1)). |

## Model support matrix

| Model class | Prefix | Date added | Active scenarios | Deprecated scenarios |
|---|---|---|---|---|
| Qwen3.5 | `qwen3.5` | 2026-02-01 | Single-turn 8k1k, Agentic coding | Single-turn 1k1k (removed 2026-07-17, #1) |
| DeepSeek-R1 | `dsr1` | 2025-10-01 | Single-turn 8k1k | Single-turn 1k1k (removed 2026-07-17, #1) |
| Old Model | `oldmodel` | 2025-10-01 | Single-turn 8k1k | None |
"""
THRESHOLDS = """\
default:
  gsm8k: 0.90
models:
  qwen3.5:
    gsm8k: 0.94
"""
CHANGELOG = """\
- config-keys:
    - dsr1-fp8-mi355x-vllm
  description:
    - "First"
  pr-link: https://github.com/SemiAnalysisAI/InferenceX/pull/1
"""


def summer() -> dict[str, bytes | str]:
    """The repository in its summer layout."""
    return {
        ".github/CODEOWNERS": CODEOWNERS,
        ".github/codeowner-signoff-verify-prompt.md": VERIFIER,
        "docs/PR_REVIEW_CHECKLIST.md": CHECKLIST,
        "MODELS.md": MODELS,
        NVIDIA: NVIDIA_MASTER,
        AMD: AMD_MASTER,
        "configs/runners.yaml": RUNNERS,
        "utils/evals/thresholds.yaml": THRESHOLDS,
        "perf-changelog.yaml": CHANGELOG,
        SCRIPT: "#!/usr/bin/env bash\npython3 -m sglang.launch_server --model-path $MODEL --tp $TP\n",
    }


def changed_files(base: Mapping[str, bytes | str], head: Mapping[str, bytes | str]) -> tuple[ChangedFile, ...]:
    """The difference of two states, without renames."""

    def blob(files: Mapping[str, bytes | str], path: str) -> str | None:
        content = files.get(path)
        return None if content is None else git_blob_id(content.encode() if isinstance(content, str) else content)

    found = []
    for path in sorted({*base, *head}):
        old, new = blob(base, path), blob(head, path)
        if old != new:
            status = "added" if old is None else "removed" if new is None else "modified"
            found.append(ChangedFile(path=path, status=status, old_blob=old, new_blob=new))  # type: ignore[arg-type]
    return tuple(found)


def evidence_of(
    base: Mapping[str, bytes | str],
    head: Mapping[str, bytes | str],
    *,
    policy: Mapping[str, bytes | str] | None = None,
    signer: str = "ankur-singh",
    review_date: str = "2026-08-12",
    sign_off: str | None = None,
    number: int = 2550,
) -> Evidence:
    """The evidence of a pull request from `base` to `head`, judged by `policy` (the base, if not given)."""
    trees = Trees(
        policy=DictTree(policy or base, "p" * 40),
        base=DictTree(base, "b" * 40),
        head=DictTree(head, "a" * 40),
        default_branch=DictTree(base, "d" * 40),
    )
    unknown = "The test knows nothing of it."
    snapshot = Snapshot(
        ref=PullRequestRef("SemiAnalysisAI/InferenceX", number),
        source="clone",
        taken_at="2026-08-12T00:00:00Z",
        head="a" * 40,
        merge_base="b" * 40,
        default_branch="d" * 40,
        files=complete(changed_files(base, head)),
        commits=unavailable(unknown),
        info=unavailable(unknown),
        conversation=unavailable(unknown),
        runs=unavailable(unknown),
        evals=unavailable(unknown),
        results=unavailable(unknown),
        upstream=unavailable(unknown),
    )
    return Evidence(
        snapshot=snapshot,
        trees=trees,
        policy=load_policy(trees.policy),
        changes=config_changes(trees.base, trees.head),
        review_date=review_date,
        signer=signer,
        sign_off=None if sign_off is None else parse_sign_off(sign_off),
        sign_off_text=sign_off,
    )
