"""Local clones of recipe repositories: what main had on a day, and which pull requests it tells of."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from reviewer_tui.model.errors import DataError
from reviewer_tui.model.part import complete
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.model.recipe import UpstreamPullRequest
from reviewer_tui.review.load import Reviewer, ReviewRequest
from reviewer_tui.sources.clone import CloneSource
from reviewer_tui.sources.recipe_clones import RecipeClone, WithRecipeClones
from reviewer_tui.sources.source import Loaded
from tests.checks.documented import (
    CHECKLIST,
    CHECKLIST_FILE,
    KEY,
    PROMPT,
    SGLANG,
    SUMMER_CHECK,
    TEP2,
    TP2,
    TP4,
    VLLM,
    entry,
    files,
    sign_off,
)
from tests.evidence import NVIDIA, VERIFIER
from tests.gitrepo import GitRepo
from tests.recipes.upstreams import QWEN_PAGE, QWEN_WIDGET, upstream

DAY = 86_400
AUGUST_11 = 1_786_399_200  # 2026-08-11, 00:00 in the author's zone, which is two hours ahead of UTC
LINK = "https://github.com/sgl-project/sglang/pull/34357"


class Upstream(NamedTuple):
    """A cookbook's history, one commit a day from August 11, 2026 on."""

    repo: GitRepo
    first: str
    merged: str
    reverted: str
    old_style: str


def _files(name: str) -> dict[str, bytes | str | None]:
    tree = upstream(name)
    return {path: tree.read(path) for path in (QWEN_PAGE, QWEN_WIDGET)}


@pytest.fixture
def cookbook(tmp_path: Path) -> Upstream:
    repo = GitRepo(tmp_path / "sglang.git")
    noon = AUGUST_11 + DAY // 2
    engine = {"python/engine.py": "ENGINE = True\n"}
    first = repo.commit({**_files("before"), **engine}, on="main", message="Begin (#1)", time=noon)
    merged = repo.commit(_files("after"), on="main", message="Document B200 (#34357)", time=noon + DAY)
    reverted = repo.commit(
        {"python/engine.py": "ENGINE = False\n"},
        on="main",
        message='Revert "Fast path (#34350)" (#34360)',
        time=noon + 2 * DAY,
    )
    side = repo.commit({"docs/a.mdx": "a\n"}, parents=[reverted], message="Say a", time=noon + 2 * DAY)
    old_style = repo.commit(
        {"docs/a.mdx": "a\n"},
        on="main",
        merge=side,
        message="Merge pull request #77 from someone/branch\n\nSay a",
        time=noon + 3 * DAY,
    )
    return Upstream(repo, first, merged, reverted, old_style)


@pytest.fixture
def clone(cookbook: Upstream) -> Iterator[RecipeClone]:
    opened = RecipeClone(cookbook.repo.path, SGLANG)
    yield opened
    opened.close()


def test_a_squashed_pull_request_is_told_from_its_subject(cookbook: Upstream, clone: RecipeClone) -> None:
    found = clone.merged(34357, "2026-08-31")
    assert found is not None
    assert (found.state, found.title, found.merge_commit) == ("merged", "Document B200", cookbook.merged)
    assert (found.merged_at, found.base_ref) == ("2026-08-12T10:00:00Z", "main")
    assert found.files == (QWEN_PAGE, QWEN_WIDGET)


def test_a_merge_commit_names_it_at_its_beginning(cookbook: Upstream, clone: RecipeClone) -> None:
    found = clone.merged(77, "2026-08-31")
    assert found is not None
    assert (found.merge_commit, found.files) == (cookbook.old_style, ("docs/a.mdx",))


@pytest.mark.parametrize("number", [34350, 3435, 4357, 5, 34358])
def test_what_the_history_does_not_tell_is_unknown(clone: RecipeClone, number: int) -> None:
    assert clone.merged(number, "2026-08-31") is None
    assert f"#{number} is not among the merged" in clone.unknown(number, "2026-08-31")


def test_main_is_that_of_the_day(cookbook: Upstream, clone: RecipeClone) -> None:
    assert clone.main("2026-08-11").revision == cookbook.first
    assert clone.main("2026-08-12").revision == cookbook.merged
    assert clone.main("2027-01-01").revision == cookbook.old_style
    assert clone.merged(34357, "2026-08-11") is None
    assert clone.main("2020-01-01").revision == cookbook.old_style  # nothing was there: the newest that is known


def test_a_root_commit_can_be_a_pull_request(clone: RecipeClone) -> None:
    found = clone.merged(1, "2026-08-31")
    assert found is not None
    assert "python/engine.py" in found.files


def test_a_folder_that_is_no_clone(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no git repository"):
        RecipeClone(tmp_path, SGLANG)


@pytest.fixture
def inferencex(tmp_path: Path) -> Path:
    """The pull request 2550 of the worked example."""
    repo = GitRepo(tmp_path / "InferenceX.git")
    policy = {PROMPT: SUMMER_CHECK + VERIFIER, CHECKLIST_FILE: CHECKLIST}
    base = repo.commit({**files(entry(KEY, TP4, TP2)), **policy}, on="main", message="Start")
    head = {NVIDIA: entry(KEY, TP4, TP2, TEP2)}
    repo.pull(2550, repo.commit(head, parents=[base], message="Add an arm"))
    return repo.path


REF = PullRequestRef("SemiAnalysisAI/InferenceX", 2550)


def _loaded(source: WithRecipeClones, *texts: str, day: str = "2026-08-31") -> Loaded:
    return source.with_recipes(source.load(REF), texts, day)


def test_a_source_with_clones_knows_what_is_linked(cookbook: Upstream, inferencex: Path) -> None:
    with CloneSource(inferencex) as own, WithRecipeClones(own, [RecipeClone(cookbook.repo.path, SGLANG)]) as source:
        loaded = _loaded(source, f"See {LINK} and sgl-project/sglang#77.")
        assert [pull.number for pull in loaded.snapshot.upstream.value or ()] == [34357, 77]
        assert loaded.snapshot.upstream.complete
        assert {name: tree.revision for name, tree in loaded.trees.upstream.items()} == {
            SGLANG: cookbook.old_style,
            f"{SGLANG}@{cookbook.merged}": cookbook.merged,
            f"{SGLANG}@{cookbook.old_style}": cookbook.old_style,
        }
        assert source.tree("main").read("README.md") is None


def test_what_a_clone_cannot_tell_stays_untold(cookbook: Upstream, inferencex: Path) -> None:
    with CloneSource(inferencex) as own, WithRecipeClones(own, [RecipeClone(cookbook.repo.path, SGLANG)]) as source:
        part = _loaded(source, LINK, day="2026-08-11").snapshot.upstream
        assert (part.state, part.value) == ("partial", ())
        assert "#34357 is not among the merged pull requests" in part.reason
        assert "fetch origin" in part.remedy
        assert _loaded(source, "no link").snapshot.upstream.state == "unavailable"
        assert _loaded(source, "https://github.com/vllm-project/recipes/pull/1").snapshot.upstream.value is None


def test_what_the_host_said_goes_first_unless_it_is_older(cookbook: Upstream, inferencex: Path) -> None:
    def said(state: str) -> UpstreamPullRequest:
        return UpstreamPullRequest(repository=SGLANG, number=34357, title="Theirs", state=state, url=LINK)  # type: ignore[arg-type]

    with CloneSource(inferencex) as own, WithRecipeClones(own, [RecipeClone(cookbook.repo.path, SGLANG)]) as source:
        loaded = source.load(REF)
        for state, title in (("merged", "Theirs"), ("open", "Document B200")):
            snapshot = msgspec.structs.replace(loaded.snapshot, upstream=complete((said(state),)))
            after = source.with_recipes(Loaded(snapshot, loaded.trees), [LINK], "2026-08-31")
            assert [pull.title for pull in after.snapshot.upstream.value or ()] == [title]


def test_the_worked_example_from_two_clones(cookbook: Upstream, inferencex: Path) -> None:
    with CloneSource(inferencex) as own, WithRecipeClones(own, [RecipeClone(cookbook.repo.path, SGLANG)]) as source:
        for day, status in (("2026-08-12", "pass"), ("2026-08-11", "unverified")):
            request = ReviewRequest(review_date=day, sign_off=sign_off(f"Recipe: {LINK}"))
            result = Reviewer(source).review(REF, request).result("recipe")
            assert result is not None
            assert result.status == status


def test_the_real_recipes_tell_of_their_pull_requests() -> None:
    folder = os.environ.get("REVIEWER_TUI_RECIPES_CLONE")
    if not folder:
        pytest.skip("REVIEWER_TUI_RECIPES_CLONE names no clone of vllm-project/recipes")
    clone = RecipeClone(folder, VLLM)
    found = clone.merged(645, "2026-08-01")
    assert found is not None
    assert (found.merged_at or "")[:10] == "2026-07-16"
    assert found.files == ("models/deepseek-ai/DeepSeek-V4-Pro.yaml",)
    assert clone.merged(645, "2026-07-01") is None
    clone.close()
