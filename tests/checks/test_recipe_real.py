"""Real sign-offs against the real vLLM recipes as they stood on the day: both clones are named by the environment."""

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
from tests.checks.documented import VLLM

RECIPES = "https://github.com/vllm-project/recipes/pull"
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
