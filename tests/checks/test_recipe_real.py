"""Real pull requests against the real recipes as they stood on the day: the clones are named by the environment."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewer_tui.model.finding import CheckResult
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.review.load import Reviewer, ReviewRequest
from reviewer_tui.sources.clone import CloneSource
from reviewer_tui.sources.recipe_clones import RecipeClone, WithRecipeClones
from tests.checks.documented import KEY, SGLANG, VLLM

RECIPES = "https://github.com/vllm-project/recipes/pull"
COOKBOOK = "https://github.com/sgl-project/sglang/pull/34357"
SIGN_OFF = (
    "As a PR reviewer and CODEOWNER\n- [x] all of it\n\n### Additional detail section:\n- {}\n\nSigned: `someone`\n"
)


@pytest.fixture(scope="module")
def reviewer(real_clone: Path) -> Iterator[Reviewer]:
    folder = os.environ.get("REVIEWER_TUI_RECIPES_CLONE")
    if not folder:
        pytest.skip("REVIEWER_TUI_RECIPES_CLONE names no clone of vllm-project/recipes")
    with CloneSource(real_clone) as own, WithRecipeClones(own, [RecipeClone(folder, VLLM)]) as source:
        yield Reviewer(source)


def judged(reviewer: Reviewer, number: int, head: str | None, day: str, *links: str) -> CheckResult:
    request = ReviewRequest(review_date=day, head=head, sign_off=SIGN_OFF.format(" ".join(links)))
    result = reviewer.review(PullRequestRef("SemiAnalysisAI/InferenceX", number), request).result("recipe")
    assert result is not None
    return result


def test_a_precision_that_the_page_has_elsewhere_only_fails(reviewer: Reviewer) -> None:
    """Rejected, because the fp8 cache stood in the Blackwell block only."""
    result = judged(reviewer, 2508, "0baf642", "2026-08-12", f"{RECIPES}/788")
    assert result.status == "fail"
    (failing,) = (finding for finding in result.findings if finding.status == "fail")
    assert "KV cache data type (--kv-cache-dtype) = fp8 is not in the recipe" in failing.message


@pytest.mark.parametrize(("number", "head", "day"), [(2258, "384a09a3", "2026-07-21"), (2259, None, "2026-07-22")])
def test_kernels_and_widths_of_a_page_that_builds_commands_are_weighed(
    reviewer: Reviewer, number: int, head: str | None, day: str
) -> None:
    """Passed, although the page names other kernels and fits the widths to the node."""
    result = judged(reviewer, number, head, day, f"{RECIPES}/645")
    assert result.status == "judgement"
    assert result.findings[0].status == "pass"
    assert any("MoE backend" in finding.message for finding in result.findings)


def test_a_pull_request_that_is_newer_than_the_clone_is_unverified(reviewer: Reviewer) -> None:
    page = "https://recipes.vllm.ai/deepseek-ai/DeepSeek-V4-Pro"
    assert judged(reviewer, 2534, None, "2026-08-21", page, f"{RECIPES}/999999").status == "unverified"
    assert judged(reviewer, 2534, None, "2026-08-21", page).status == "pass"


def test_the_day_decides_what_is_merged(reviewer: Reviewer) -> None:
    assert judged(reviewer, 2258, "384a09a3", "2026-07-15", f"{RECIPES}/645").status == "unverified"


def test_a_legacy_page_fails_and_offers_the_page(reviewer: Reviewer) -> None:
    legacy = "https://docs.vllm.ai/projects/recipes/en/latest/moonshotai/Kimi-K2.5.html"
    result = judged(reviewer, 2512, None, "2026-08-07", legacy)
    assert result.status == "fail"
    assert any("https://recipes.vllm.ai/moonshotai/Kimi-K2.5" in finding.message for finding in result.findings)


# -- the cookbook: sgl-project/sglang#34357 and the arms of #2550 ------------------------------------------------------


@pytest.fixture(scope="module")
def cookbook_reviewer(real_clone: Path) -> Iterator[Reviewer]:
    folder = os.environ.get("REVIEWER_TUI_SGLANG_CLONE")
    if not folder:
        pytest.skip("REVIEWER_TUI_SGLANG_CLONE names no clone of sgl-project/sglang")
    cookbook = RecipeClone(folder, SGLANG)
    with CloneSource(real_clone) as own, WithRecipeClones(own, [cookbook]) as source:
        if cookbook.merged(34357, "2026-08-12") is None:
            pytest.skip("the clone of sgl-project/sglang is from before the pull request was merged")
        yield Reviewer(source)


def test_the_merged_page_documents_the_submitted_arm_and_no_other(cookbook_reviewer: Reviewer) -> None:
    result = judged(cookbook_reviewer, 2550, None, "2026-08-12", COOKBOOK)
    assert result.status == "pass"
    _, submitted, first, second = result.findings
    assert (submitted.status, first.status, second.status) == ("pass", "not_applicable", "not_applicable")
    documented = f"{KEY} (8k1k tp2 ep2 mtp c16 c32 c64): documented by 397b · speculative enabled · b200 · fp4 · v2"
    assert submitted.message.startswith(documented)
    assert "state space data type, NCCL symmetric memory, FP4 GEMM backend, linear attention" in submitted.message
    assert f"{KEY} (8k1k tp4 mtp c4): was there before, not judged: speculative method is not" in first.message
    assert "(8k1k tp2 mtp c4 c8 c16 c32 c64)" in second.message
    assert "expert parallel is not documented" in second.message


def test_the_page_as_it_was_before_documents_none(cookbook_reviewer: Reviewer) -> None:
    assert judged(cookbook_reviewer, 2550, None, "2026-08-10", COOKBOOK).status == "unverified"
    page = "https://docs.sglang.io/cookbook/autoregressive/Qwen/Qwen3.5"
    result = judged(cookbook_reviewer, 2550, None, "2026-08-10", page)
    assert result.status == "fail"
    assert "NVFP4-V2 here and nvidia/Qwen3.5-397B-A17B-NVFP4 in the recipe" in result.summary
