"""The story of #2550: both moments online, then offline with the server down, as the sample tells it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from reviewer_tui.checks.published import curves_beside, percent
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.model.result import Published
from reviewer_tui.model.snapshot import Snapshot
from reviewer_tui.model.tree import Tree
from reviewer_tui.policy.layout import discover_layout
from reviewer_tui.policy.policy import load_policy
from reviewer_tui.review.load import ReviewRequest, review_of
from reviewer_tui.sample import load_sample
from reviewer_tui.sources.bundle import BundleSource, write_bundle
from reviewer_tui.sources.cached import CacheSource, keep_bundle
from reviewer_tui.sources.github.auth import Token
from reviewer_tui.sources.github.client import GitHubClient
from reviewer_tui.sources.github.hosts import parse_host
from reviewer_tui.sources.github.loader import GitHubSource
from reviewer_tui.sources.source import Loaded
from reviewer_tui.sources.stored import NotCachedError
from reviewer_tui.store.cache import Cache
from tests.fake_github.plain import WORKFLOW
from tests.fake_github.server import FakeGitHub
from tests.fake_github.story_2550 import FIRST_RUN, MAIN_RUN, NUMBER, REPOSITORY, SECOND_RUN, TOKEN, VERIFY, Story


class Play:
    """The story, who reads it, and where it is kept."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self.story = Story(folder)
        self.fake = stack.enter_context(FakeGitHub(self.story.world))
        self.cache = stack.enter_context(Cache(folder / "cache.sqlite"))
        client = GitHubClient(parse_host(self.fake.host), Token(TOKEN, "a test"), answers=self.cache)
        self.source = GitHubSource(stack.enter_context(client), self.cache, REPOSITORY)
        self.ref = PullRequestRef(REPOSITORY, NUMBER, self.fake.host)

    def both_moments(self) -> tuple[Loaded, Loaded]:
        first = self.source.load(self.ref)
        self.story.go_on()
        return first, self.source.load(self.ref)


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Play]:
    with ExitStack() as stack:
        yield Play(tmp_path, stack)


def lanes(snapshot: Snapshot, run_id: int) -> dict[str | None, int]:
    run = next(run for run in snapshot.runs.value or () if run.id == run_id)
    conclusions = [job.conclusion for job in run.jobs]
    return {conclusion: conclusions.count(conclusion) for conclusion in set(conclusions)}


def test_both_moments(play: Play) -> None:
    first, second = (loaded.snapshot for loaded in play.both_moments())
    assert first.head == play.story.first_head
    assert second.head == play.story.second_head
    assert lanes(first, FIRST_RUN) == {"success": 21, "skipped": 12}
    assert [run.id for run in first.runs.value or ()] == [FIRST_RUN]
    assert [run.id for run in second.runs.value or ()] == [SECOND_RUN, FIRST_RUN]
    strict = {(s.run_id, s.parallelism, s.conc): s.strict for s in second.evals.value or ()}
    assert strict[FIRST_RUN, "tp2 ep2", 32] == 0.968
    assert strict[SECOND_RUN, "tp2 ep1", 64] == 0.966
    assert (len(first.upstream.value or ()), len(second.upstream.value or ())) == (0, 1)
    (recipe,) = second.upstream.value or ()
    assert (recipe.repository, recipe.number, recipe.state, recipe.merged_at) == (
        "sgl-project/sglang",
        34357,
        "merged",
        "2026-08-11T23:00:00Z",
    )
    assert {score.model for score in second.evals.value or () if score.run_id == FIRST_RUN} == {
        "nvidia/Qwen3.5-397B-A17B-NVFP4"
    }


def test_the_base_moved_on_between_sweep_and_sign_off(play: Play) -> None:
    first, second = play.both_moments()
    master = "configs/nvidia-master.yaml"
    for side, expected in (("base", False), ("head", False), ("default_branch", True)):
        content = getattr(first.trees, side).read(master)
        assert (b"NVFP4-V2" in content) is expected
    assert all(b"NVFP4-V2" in getattr(second.trees, side).read(master) for side in ("base", "head", "default_branch"))
    assert second.snapshot.merge_base == play.story.switched


@pytest.mark.parametrize("moment", ["first", "second"])
def test_it_says_what_the_bundled_sample_says(play: Play, moment: str) -> None:
    first, second = play.both_moments()
    loaded, sample = (first if moment == "first" else second), load_sample(moment)
    for side in ("base", "head"):
        ours, theirs = getattr(loaded.trees, side), getattr(sample.trees, side)
        assert set(ours.list("")) - set(theirs.list("")) == {WORKFLOW, VERIFY}
        assert all(ours.blob(path) == theirs.blob(path) for path in theirs.list(""))
    assert {(f.path, f.new_blob) for f in loaded.snapshot.files.value or ()} == {
        (f.path, f.new_blob) for f in sample.snapshot.files.value or ()
    }
    assert discover_layout(loaded.trees.policy) == discover_layout(sample.trees.policy)
    said = [comment.body for comment in loaded.snapshot.conversation.value or ()]
    assert said == [comment.body for comment in sample.snapshot.conversation.value or ()]
    points = {(s.run_id, s.parallelism, s.conc, s.strict) for s in loaded.snapshot.evals.value or ()}
    assert {(s.run_id, s.parallelism, s.conc, s.strict) for s in sample.snapshot.evals.value or ()} <= points


def test_offline_afterwards(play: Play) -> None:
    first, second = play.both_moments()
    play.fake.stop()
    cached = CacheSource(play.cache, REPOSITORY, play.fake.host)
    for online, offline in (
        (second, cached.load(play.ref)),
        (first, cached.load(play.ref, head=first.snapshot.head[:8])),
    ):
        for name in Snapshot.__struct_fields__:
            if name != "source":
                assert getattr(offline.snapshot, name) == getattr(online.snapshot, name)
        assert online.trees.swept.keys() == offline.trees.swept.keys()
        for ours, theirs in zip(revisions(offline), revisions(online), strict=True):
            assert ours.revision == theirs.revision
            assert ours.list("") == theirs.list("")
            assert all(ours.read(path) == theirs.read(path) for path in ours.list("") if path != "README.md")
    with pytest.raises(NotCachedError):  # no review reads it, so it was not loaded; it is not said to be absent
        cached.load(play.ref).trees.default_branch.read("README.md")


def test_published_results_give_the_gains_that_the_author_tells(play: Play) -> None:
    for loaded in play.both_moments():
        snapshot = play.source.with_published(loaded).snapshot
        assert snapshot.published.complete
        newest = [row for row in snapshot.results.value or () if row.run_id == (snapshot.runs.value or ())[0].id]
        (curve,) = curves_beside(newest, snapshot.published.value or Published())
        assert [(percent(p.throughput or 0), percent(p.interactivity or 0)) for p in curve.matched] == [
            ("+5.85 %", "+5.17 %"),
            ("+8.94 %", "+7.26 %"),
            ("+9.46 %", "+9.06 %"),
        ]
        assert [(run.id, run.pull_request, run.reused) for run in curve.origins] == [(MAIN_RUN, 2205, False)]


def revisions(loaded: Loaded) -> list[Tree]:
    trees = loaded.trees
    swept = [trees.swept[sha] for sha in sorted(trees.swept)]
    return [trees.policy, trees.base, trees.head, trees.default_branch, *swept]


def test_the_swept_commit_can_be_read(play: Play) -> None:
    first, second = play.both_moments()
    assert first.trees.swept.keys() == {play.story.first_head}
    assert second.trees.swept.keys() == {play.story.first_head, play.story.second_head}
    master = second.trees.swept[play.story.first_head].read("configs/nvidia-master.yaml")
    assert master == first.trees.head.read("configs/nvidia-master.yaml")


def test_a_colleague_opens_it_from_a_bundle(play: Play) -> None:
    """What came in a bundle stays apart from what GitHub said: a bundle is made by anyone."""
    _, second = play.both_moments()
    bundle = BundleSource(write_bundle(play.folder / "2550.prbundle", second))
    with Cache(play.folder / "other.sqlite") as other:
        assert keep_bundle(bundle, other) == play.ref
        loaded = CacheSource(other, REPOSITORY, play.fake.host).load(play.ref)
        assert loaded.snapshot.source == "bundle"
        assert loaded.snapshot.evals == second.snapshot.evals
        assert loaded.trees.head.read("configs/nvidia-master.yaml") == second.trees.head.read(
            "configs/nvidia-master.yaml"
        )
        assert loaded.trees.policy.list("docs") == second.trees.policy.list("docs")
        assert other.find_revisions(play.fake.host, REPOSITORY, second.snapshot.head) == ()
        assert other.verify().damaged == ()


def test_the_linked_page_is_read_where_it_was_merged_and_where_it_is_published(play: Play) -> None:
    first, second = play.both_moments()
    merged = play.story.recipe.merge_commit_sha
    assert first.trees.upstream == {}
    assert second.snapshot.upstream_revisions == {
        "sgl-project/sglang": merged,
        f"sgl-project/sglang@{merged}": merged,
    }
    page = "docs/cookbook/autoregressive/Qwen/Qwen3.5.mdx"
    snippet = "docs/src/snippets/autoregressive/qwen35-deployment.jsx"
    play.fake.stop()
    for loaded in (second, CacheSource(play.cache, REPOSITORY, play.fake.host).load(play.ref)):
        for tree in loaded.trees.upstream.values():
            assert tree.read(page) is not None
            assert tree.read(snippet) is not None
            with pytest.raises(NotCachedError):
                tree.list("python")


def test_the_recipe_check_online_and_offline(play: Play) -> None:
    _, second = play.both_moments()
    play.fake.stop()
    for loaded in (second, CacheSource(play.cache, REPOSITORY, play.fake.host).load(play.ref)):
        request = ReviewRequest(review_date="2026-08-12", signer="ankur-singh")
        result = review_of(loaded, request, load_policy(loaded.trees.policy)).result("recipe")
        assert result is not None
        assert (result.status, result.findings[0].url) == ("pass", "https://github.com/sgl-project/sglang/pull/34357")
