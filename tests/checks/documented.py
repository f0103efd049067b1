"""A key with its launch script, its sign-off and the recipe repositories beside it: the ground of these tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from reviewer_tui.checks.check import Evidence
from reviewer_tui.model.part import complete
from reviewer_tui.model.recipe import UpstreamPullRequest
from reviewer_tui.model.tree import DictTree, Tree
from tests.evidence import AMD, NVIDIA, VERIFIER, evidence_of, summer
from tests.recipes.upstreams import BIG_CONFIG, BIG_PAGE, BIG_RECIPE, QWEN_PAGE, QWEN_WIDGET, upstream

SGLANG, VLLM = "sgl-project/sglang", "vllm-project/recipes"
PROMPT = ".github/codeowner-signoff-verify-prompt.md"
CHECKLIST_FILE = "docs/PR_REVIEW_CHECKLIST.md"
KEY = "qwen3.5-fp4-b200-sglang-mtp"
MERGE = "1" * 40

SUMMER_CHECK = """\
## Check 3 — Recipe linked, MERGED and complete (SINGLE-NODE recipes only)
Nothing else needs a link: then report `N/A — several nodes are not asked for a recipe`.
Major arguments must match.

"""
AUTUMN_CHECK = """\
## Check 3 — Recipe linked, MERGED and complete
Every production serving configuration of vLLM or SGLang needs one, role by role.

"""
JUNE_CHECK = """\
## Check 3 — Recipe linked and complete
Each recipe of this pull request is linked.

"""
CHECKLIST = """\
# Checklist

## Template
```
As a PR reviewer and CODEOWNER, I have reviewed this and have:
- [ ] Verified that the general code quality is fine.
- [ ] Verified that every single-node vLLM/SGLang recipe is in the [recipes](https://recipes.vllm.ai/) or the \
[cookbook](https://docs.sglang.io/cookbook/intro):
  - [ ] I linked the upstream PR ([like this](https://github.com/sgl-project/sglang/pull/1)) and verified that it is \
**MERGED**.

### Additional detail section:
- insert any additional info here

Signed: `FILL_IN_GITHUB_USERNAME`
```
"""

QWEN_ARGUMENTS = """\
    --quantization modelopt_fp4 --kv-cache-dtype fp8_e4m3 --mamba-ssm-dtype bfloat16 \\
    --attention-backend trtllm_mha --moe-runner-backend flashinfer_trtllm --enable-symm-mem \\
    --max-running-requests "$CONC" --speculative-algorithm EAGLE --speculative-num-steps 3 \\
    --speculative-eagle-topk 1 --speculative-num-draft-tokens 4"""
TP4 = "{ tp: 4, ep: 1, conc-start: 4, conc-end: 4, spec-decoding: mtp }"
TP2 = "{ tp: 2, ep: 1, conc-start: 4, conc-end: 64, spec-decoding: mtp }"
TEP2 = "{ tp: 2, ep: 2, conc-list: [16, 32, 64], spec-decoding: mtp }"


def serve(arguments: str = QWEN_ARGUMENTS) -> str:
    """A launch script that serves with SGLang."""
    return (
        "#!/usr/bin/env bash\n"
        'python3 -m sglang.launch_server --model-path "$MODEL" --tensor-parallel-size "$TP" \\\n'
        f'    --expert-parallel-size "$EP_SIZE" \\\n{arguments}\n'
    )


def entry(
    key: str = KEY,
    *rows: str,
    model: str = "nvidia/Qwen3.5-397B-A17B-NVFP4-V2",
    prefix: str = "qwen3.5",
    framework: str = "sglang",
    runner: str = "b200",
    image: str = "lmsysorg/sglang:v0.5.14-cu130",
    precision: str = "fp4",
) -> str:
    """A single-node entry of a master config."""
    space = "\n".join(f"      - {row}" for row in rows)
    return f"""\
{key}:
  image: {image}
  model: {model}
  model-prefix: {prefix}
  runner: {runner}
  precision: {precision}
  framework: {framework}
  multinode: false
  scenarios:
    fixed-seq-len:
    - isl: 8192
      osl: 1024
      search-space:
{space}
"""


WORKER = '{ num-worker: 1, tp: 8, ep: 8, dp-attn: false, additional-settings: ["CONFIG_FILE=recipes/m/a.yaml"] }'


def spread(key: str, framework: str = "dynamo-sglang", worker: str = WORKER) -> str:
    """A disaggregated entry of several nodes."""
    return f"""\
{key}:
  image: lmsysorg/sglang:v0.5.14-cu130
  model: acme/Big-FP8
  model-prefix: big
  runner: gb300
  precision: fp8
  framework: {framework}
  multinode: true
  disagg: true
  kv-p2p-transfer: nixl
  scenarios:
    fixed-seq-len:
    - isl: 8192
      osl: 1024
      search-space:
      - conc-list: [8]
        prefill: {worker}
        decode: {worker}
"""


def script_path(prefix: str = "qwen3.5_fp4_b200", suffix: str = "_mtp") -> str:
    return f"benchmarks/single_node/fixed_seq_len/{prefix}{suffix}.sh"


def files(masters: str, scripts: Mapping[str, str] | None = None) -> dict[str, bytes | str]:
    """The repository with these entries and scripts."""
    return {**summer(), NVIDIA: masters, AMD: "{}\n", script_path(): serve(), **(scripts or {})}


def sign_off(*details: str, ticked: bool = True, beside: str = "") -> str:
    """A sign-off from the template above with these lines in its detail section."""
    lines = CHECKLIST.partition("```\n")[2].partition("```")[0]
    if ticked:
        lines = lines.replace("[ ]", "[x]")
    lines = lines.replace("**MERGED**.", f"**MERGED**. {beside}".rstrip())
    told = "\n".join(f"- {detail}" for detail in details) or "- nothing to add"
    return lines.replace("- insert any additional info here", told).replace("FILL_IN_GITHUB_USERNAME", "ankur-singh")


def pull(number: int = 34357, repository: str = SGLANG, **fields: Any) -> UpstreamPullRequest:
    """An upstream pull request, merged with the worked example's files unless said otherwise."""
    told: dict[str, Any] = {
        "title": "A recipe",
        "state": "merged",
        "url": f"https://github.com/{repository}/pull/{number}",
        "merged_at": "2026-08-11T20:00:00Z",
        "merge_commit": MERGE,
        "files": (QWEN_PAGE, QWEN_WIDGET) if repository == SGLANG else (BIG_RECIPE,),
        "base_ref": "main",
    }
    return UpstreamPullRequest(repository=repository, number=number, **{**told, **fields})


def link(number: int = 34357, repository: str = SGLANG) -> str:
    return f"https://github.com/{repository}/pull/{number}"


QWEN_LINK = "https://docs.sglang.io/cookbook/autoregressive/Qwen/Qwen3.5"
BIG_LINK = "https://docs.sglang.io/cookbook/autoregressive/Acme/Big"
BIG_VLLM_LINK = "https://recipes.vllm.ai/acme/Big"


def at_hand(name: str = "after", repository: str = SGLANG, *, merged: bool = True) -> dict[str, Tree]:
    """One of the upstream trees as main, and as what the pull request was merged as."""
    tree = upstream(name)
    return {repository: tree, **({f"{repository}@{MERGE}": tree} if merged else {})}


def cells_alone() -> DictTree:
    """The cookbook's page with its config, without generated data and without commands in its text."""
    tree = upstream("cells")
    page = (
        "---\ntitle: Big\n---\n\n"
        'import { config } from "/src/snippets/configs/acme/big.jsx"\n\n<Deployment config={config} />\n'
    )
    return DictTree({BIG_PAGE: page, BIG_CONFIG: tree.read(BIG_CONFIG) or b""}, "cells")


def documented(
    base: Mapping[str, bytes | str],
    head: Mapping[str, bytes | str],
    *,
    check: str = SUMMER_CHECK,
    text: str | None = None,
    pulls: Sequence[UpstreamPullRequest] | None = None,
    upstream_trees: Mapping[str, Tree] | None = None,
    number: int = 2550,
) -> Evidence:
    """The evidence of a pull request with a sign-off, upstream pull requests and recipe repositories at hand."""
    policy = {**base, PROMPT: check + VERIFIER, CHECKLIST_FILE: CHECKLIST}
    evidence = evidence_of(base, head, policy=policy, sign_off=text, number=number)
    snapshot = evidence.snapshot
    if pulls is not None:
        snapshot = msgspec.structs.replace(snapshot, upstream=complete(tuple(pulls)))
    trees = msgspec.structs.replace(evidence.trees, upstream=dict(upstream_trees or {}))
    return msgspec.structs.replace(evidence, snapshot=snapshot, trees=trees)


def worked_example(**told: Any) -> Evidence:
    """The arm with expert parallelism added beside the two that were there."""
    return documented(files(entry(KEY, TP4, TP2)), files(entry(KEY, TP4, TP2, TEP2)), **told)
