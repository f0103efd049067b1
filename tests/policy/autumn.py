"""A repository in the newest layout, written for these tests from what is known about it."""

from __future__ import annotations

VERIFIER_PROMPT = ".github/codeowner-signoff-verify-prompt.md"

AUTUMN_CHECKS = (
    "The sign-off author is a CODEOWNER for the changed files",
    "A passing sweep + evals ran on a commit in this PR",
    "Evals actually pass (accuracy), on that run",
    "Recipe linked, MERGED and complete, single- and multi-node",
    "Reuse command posted",
    "Sign-off uses the latest checklist template",
    "Upstream images, and engine-first ordering",
    "No submissions for deprecated models or scenarios",
    "No hacks that change the model architecture",
    "Speculative decoding benchmarks through chat templates",
    "No engine patches without a waiver",
    "Agentic speculative configs use the golden simulated acceptance length",
    "Append-only changes only add points",
    "Draft models and heads are served as they ship",
    "Pareto coverage of affected curves",
    "Claims of the description hold",
)

AUTUMN_ITEMS = (
    "I hold the latest version of [PR_REVIEW_CHECKLIST.md](https://example.org/checklist)",
    "The general code quality is fine.",
    "It passed PR validation: link.",
    "It passes evals: link.",
    "Speculative decoding PRs use chat templates.",
    "Each of the draft models and heads is served as it ships.",
    "For agentic workloads: runs with synthetic acceptance of the golden curve.",
    "By [MODELS.md](https://example.org/models) nothing here is deprecated.",
    "The model architecture isn't changed.",
    "Images come from https://hub.docker.com/u/vllm or its like.",
    "Open-source engines came before additional frameworks.",
    "Verified that every affected vLLM/SGLang production serving configuration is documented:",
    "  I linked the upstream PR and verified that it is **MERGED**.",
    "It does not patch the inference engine.",
    "If `append-only: true` is used, only points are added.",
    "Where criteria cannot reasonably be satisfied, reasons are below.",
    "Each throughput/E2EL Pareto count is reported.",
)

AUTUMN_MODELS = """\
# Models

## Review and merge SLO

We answer in two days.

## Deprecation Notice

### Tuesday, September 8, 2026

**Tuesday, September 8, 2026** is the last allowed day of what the table lists.

| Model | Deprecated | Remains |
|---|---|---|
| DeepSeek V4 (`dsv4`) | Single-turn 8k1k | Agentic coding |

### Thursday, October 15, 2026

| Model | Standalone A/B baseline to retire | Spec-decode counterpart |
|---|---|---|
| Kimi K3 (`kimik3`) | Agentic coding, non-DSpark | Agentic coding, DSpark |

**GLM-5.1 TileRT retirement (2026-10-01).** The TileRT key of `glm5.1` runs 1k1k and 8k1k until 2026-10-01.

**Draft audit (2026-09-20).** The drafts of `kimik3` were looked through.

## Scenarios

| Scenario | ISL/OSL | Status |
|---|---|---|
| Agentic coding | trace | Active, the main one. |
| Single-turn 8k1k | 8192 / 1024 | Active. |
| Single-turn 1k1k | 1024 / 1024 | Deprecated since 2026-07-17 (#2263). |
| Single-turn 1k8k | 1024 / 8192 | **Deprecated for all models** since 2026-03-27 (#911) |

## AgentX Guidelines

| Model | Primary native engines | Agreed draft models | Additional engines |
|---|---|---|---|
| Kimi K3 (`kimik3`) | upstream vLLM | `x/DSpark` | any |
| Qwen 3.8 Next (`qwen3.8next`) | upstream SGLang engine | to be agreed | any |

## Model support matrix

| Model architecture class | Prefix | Date added | Active scenarios | Deprecated scenarios |
|---|---|---|---|---|
| Qwen 3.8 Next | `qwen3.8next` | 2026-09-25 ([#PRNUM](x)) | Agentic coding | |
| DSv4.1 Flash | `dsv41flash` | 2026-09-25 | Agentic coding | |
| GLM-5.3 | `glm5.3` | 2026-09-22 | Agentic coding (MTP only) | |
| Kimi K3 | `kimik3` | 2026-07-27 | Agentic coding | |
| DeepSeek V4 | `dsv4` | 2026-04-24 | Agentic coding | Single-turn 1k1k, Single-turn 8k1k (after 2026-09-08, #3001) |
| GLM-5 / GLM-5.1 | `glm5`, `glm5.1` | 2026-03-06 | None (retired 2026-07-18, #2276; TileRT until 2026-10-01, #3400) | \
Single-turn 1k1k, Single-turn 1k8k (GLM-5 only), Single-turn 8k1k |
| Qwen3.5 | `qwen3.5` | 2026-02-16 | Single-turn 8k1k, Agentic coding, both limited to fp8 and fp4 | \
all bf16 recipes (removed 2026-08-04, #2493) |
"""

AUTUMN_BARS = """\
{
  "default": {"gsm8k": 0.90, "kimi_tool_call_schema": 0.0},
  "models": {
    "glm5.1": {"gsm8k": 0.93}
  }
}
"""


def autumn_files() -> dict[str, str]:
    """A small repository in the layout of late September 2026: what its files say is made up, where they lie is not."""
    boxes = [f"  - [ ] {item.strip()}" if item.startswith("  ") else f"- [ ] {item}" for item in AUTUMN_ITEMS]
    template = "\n".join(
        ["As a PR reviewer and CODEOWNER, I did this:", *boxes, "", "### Additional detail section:", "- put it here"]
    )
    checklist = f"# Checklist\n\n## Template\n```\n{template}\n\nSigned: `FILL_IN_GITHUB_USERNAME`\n```\n"
    prompt = "You verify.\n\n" + "".join(
        f"## Check {n} — {title}\nLook at {n}.\n\n" for n, title in enumerate(AUTUMN_CHECKS)
    )
    root = "inferencex-e2e"
    return {
        ".github/CODEOWNERS": f"* @SemiAnalysisAI/core\n{root}/configs/nvidia-master.yaml @ankur-singh # and friends\n",
        VERIFIER_PROMPT: prompt + "## Verdict and output\nOne comment.\n",
        f"{root}/configs/amd-master.yaml": "{}\n",
        f"{root}/configs/nvidia-master.yaml": "{}\n",
        f"{root}/configs/runners.yaml": "clusters: {}\n",
        f"{root}/docs/PR_REVIEW_CHECKLIST.md": checklist,
        f"{root}/docs/MODELS.md": AUTUMN_MODELS,
        f"{root}/docs/waiver/9.md": "# Waiver\n",
        f"{root}/perf-changelog.yaml": "[]\n",
        f"{root}/infx/evals/thresholds.yaml": AUTUMN_BARS,
        f"{root}/infx/matrix/generate.py": "",
        f"{root}/infx/launch/b300.py": "",
        f"{root}/infx/golden_al_distribution/dsv41flash_dspark.yaml": (
            "# run 1\n# draft_sample_method=probabilistic\ndsv41flash:\n  thinking_on: {1: 1.8, 5: 3.51}\n"
        ),
        f"{root}/infx/golden_al_distribution/glm5.3_mtp.yaml": "glm-5.3-fp8:\n  thinking_on:\n    3: 2.99\n",
        "MODELS.md": "an old file that must not win",
        "experimental/operatorx/README.md": "",
    }
