"""Merge bases and the commits of a branch, compared with git's own answers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewer_tui.model.errors import DataError
from reviewer_tui.sources.git import find_clone
from reviewer_tui.sources.history import History
from reviewer_tui.sources.objects import Objects
from tests.gitrepo import GitRepo

Shape = list[list[int]]


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    """A history: for each commit the distances back to its parents."""
    count = draw(st.integers(2, 14))
    return [
        sorted(draw(st.sets(st.integers(1, number), max_size=min(2, number)))) if number else []
        for number in range(count)
    ]


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    return GitRepo(tmp_path_factory.mktemp("history") / "clone.git")


def build(repo: GitRepo, shape: Shape, times: list[int]) -> list[str]:
    tree = repo.tree({})
    commits: list[str] = []
    for number, back in enumerate(shape):
        parents = [commits[number - distance] for distance in back]
        commits.append(repo.commit_of(tree, parents, message=str(number), time=1_785_000_000 + times[number]))
    return commits


def ask(repo: GitRepo, *arguments: str) -> list[str]:
    done = subprocess.run(("git", "-C", str(repo.path), *arguments), capture_output=True, text=True, check=False)
    return done.stdout.split()


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(shape=shapes(), steps=st.lists(st.integers(0, 2), min_size=14, max_size=14), data=st.data())
def test_as_git_says(repo: GitRepo, shape: Shape, steps: list[int], data: st.DataObject) -> None:
    times = [sum(steps[: number + 1]) for number in range(len(shape))]
    commits = build(repo, shape, times)
    left, right = data.draw(st.sampled_from(commits)), data.draw(st.sampled_from(commits))
    objects = Objects(find_clone(repo.path))
    history = History(objects)
    divergence = history.diverge(left, right)
    bases = ask(repo, "merge-base", "--all", left, right)
    assert set(divergence.bases) == set(bases)
    assert divergence.bases[:1] == tuple(bases[:1])
    ahead = [commit.sha for commit in divergence.ahead]
    assert sorted(ahead) == sorted(ask(repo, "rev-list", f"{left}..{right}"))
    assert all(set(commit.parents).isdisjoint(ahead[at:]) for at, commit in enumerate(divergence.ahead))
    assert history.is_ancestor(left, right) == (left in bases)
    assert not divergence.cut
    objects.close()


def test_clocks_that_are_wrong(repo: GitRepo) -> None:
    """A branch whose commits are dated long before their parents still has the right base and commits."""
    shape: Shape = [[], [1], [1], [1], [2], [1]]
    commits = build(repo, shape, [1000, 2000, 3000, 4000, 5, 6])
    objects = Objects(find_clone(repo.path))
    divergence = History(objects).diverge(commits[3], commits[5])
    assert divergence.bases == (commits[2],)
    assert [commit.sha for commit in divergence.ahead] == commits[4:]
    objects.close()


def test_the_merge_that_brought_a_branch_in(tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "clone.git")
    start = repo.commit({"a": "0\n"}, on="main")
    branch = repo.commit({"b": "b\n"}, parents=[start])
    merges = []
    for number in range(1, 40):
        merges.append(repo.commit({"a": f"{number}\n"}, on="main", merge=branch if number == 20 else None))
    objects = Objects(find_clone(repo.path))
    history = History(objects)
    found = history.merged_as(merges[-1], branch)
    assert found is not None
    assert found.sha == merges[19]
    assert history.merged_as(merges[-1], merges[3]) is None
    assert history.merged_as(merges[-1], start) is None
    objects.close()


def test_more_commits_than_a_review_can_hold(repo: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    commits = build(repo, [[], *([[1]] * 9)], list(range(10)))
    objects = Objects(find_clone(repo.path))
    monkeypatch.setattr(History, "most_commits", 5)
    with pytest.raises(DataError, match="more than 5 commits"):
        History(objects).diverge(commits[0], commits[-1])
    objects.close()


def test_against_a_real_history(real_clone: Path) -> None:
    objects = Objects(find_clone(real_clone))
    history = History(objects)
    tip = objects.resolve("HEAD").sha
    for number in (1886, 2008, 2205, 2302, 2508, 2550, 2665, 2707):
        head = objects.resolve(f"refs/pull/{number}/head").sha
        git = ("git", "-C", str(real_clone))
        bases = subprocess.run((*git, "merge-base", "--all", tip, head), capture_output=True, text=True, check=True)
        ahead = subprocess.run((*git, "rev-list", f"{tip}..{head}"), capture_output=True, text=True, check=True)
        divergence = history.diverge(tip, head)
        assert list(divergence.bases) == bases.stdout.split()
        assert sorted(commit.sha for commit in divergence.ahead) == sorted(ahead.stdout.split())
    objects.close()
