"""Recipe repositories from local clones: their pages, and what became of their pull requests, without a network.

Both repositories squash their pull requests, and a squashed commit's subject ends with the number (`Title (#123)`);
merge commits name it at their beginning. So the history of main tells which pull requests are merged, when, and what
they change. A pull request that it does not tell of may be open, closed, or newer than the clone.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType

import msgspec

from reviewer_tui.model.errors import DataError
from reviewer_tui.model.part import Part, complete, partial
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.model.recipe import UpstreamPullRequest
from reviewer_tui.model.run import CheckRun, JobLog
from reviewer_tui.model.tree import Tree
from reviewer_tui.recipes.find import has_pages
from reviewer_tui.recipes.links import SGLANG, VLLM_RECIPES, judge
from reviewer_tui.sources.clone import default_branch
from reviewer_tui.sources.difference import changed_entries
from reviewer_tui.sources.git import command, find_clone, run
from reviewer_tui.sources.objects import GitCommit, GitTree, Objects
from reviewer_tui.sources.quoting import shown
from reviewer_tui.sources.source import Loaded, PagesSource, PublishedSource, RecipeSource, Source, end_of_day, log_of

MOST_FILES = 5_000
"""Changed files of one pull request that are told."""

MOST_PULLS = 20
"""Linked pull requests that are looked for."""

_PAGES = {VLLM_RECIPES: "recipes", SGLANG: "cookbook"}


class RecipeClone:
    """One local clone of a recipe repository (`owner/name`). Opening a clone whose newest main holds no pages raises
    DataError: taken for the repository, it would document nothing."""

    def __init__(self, path: Path | str, repository: str) -> None:
        self.repository = repository
        self._clone = find_clone(path)
        self._objects = Objects(self._clone)
        self._tips: dict[str, GitCommit] = {}
        try:
            self._expect_pages()
        except DataError:
            self.close()
            raise

    def _expect_pages(self) -> None:
        tip = default_branch(self._objects)
        if not has_pages(self.repository, GitTree(self._objects, tip)):
            pages = _PAGES.get(self.repository, "pages")
            raise DataError(
                f"{shown(self._clone.path)} is no clone of {self.repository}: it holds no {pages} at {tip.sha[:9]}.",
                f"Name a clone of https://github.com/{self.repository}.",
            )

    def close(self) -> None:
        self._objects.close()

    def main(self, day: str) -> GitTree:
        """What was published at the end of a day (`YYYY-MM-DD`, UTC); the oldest commit's files for days before it."""
        return GitTree(self._objects, self._tip(day))

    def merged(self, number: int, day: str) -> UpstreamPullRequest | None:
        """A pull request that main had by the end of a day; None where its history does not tell of it."""
        commit = self._merge_of(number, self._tip(day))
        if commit is None:
            return None
        parent = self._objects.commit(commit.parents[0]) if commit.parents else None
        changes, _ = changed_entries(self._objects, parent.tree if parent else "", commit.tree, MOST_FILES)
        return UpstreamPullRequest(
            repository=self.repository,
            number=number,
            title=re.sub(rf"\s*\(#{number}\)$", "", commit.subject),
            state="merged",
            url=f"https://github.com/{self.repository}/pull/{number}",
            merged_at=_time(commit.time),
            merge_commit=commit.sha,
            files=tuple(sorted(path for path, _, _ in changes)),
            base_ref="main",
        )

    def at(self, sha: str) -> GitTree | None:
        """The files of a commit; None where the clone does not have it."""
        commit = self._objects.commit(sha)
        return None if commit is None else GitTree(self._objects, commit)

    def unknown(self, number: int, day: str) -> str:
        """What to say of a pull request that the history does not tell of."""
        tip = self._tip(day)
        return (
            f"{self.repository}#{number} is not among the merged pull requests of {shown(self._clone.path)} "
            f"(main at {tip.sha[:9]}, {_time(tip.time)[:10]})."
        )

    @property
    def refresh(self) -> str:
        """How to bring the clone up to date."""
        return f"Bring the clone up to date with `{command(self._clone, 'fetch origin')}`."

    def _tip(self, day: str) -> GitCommit:
        if day not in self._tips:
            newest = default_branch(self._objects)
            end = end_of_day(day)
            self._tips[day] = newest if newest.time < end else self._before(newest, end) or newest
        return self._tips[day]

    def _before(self, tip: GitCommit, end: int) -> GitCommit | None:
        """The newest commit on the line of main before a moment, in seconds."""
        words = ("rev-list", "--first-parent", "--max-count=1", f"--before={end - 1}", tip.sha)
        sha = run(self._clone, *words).decode("ascii", "replace").strip()
        return self._objects.commit(sha) if sha else None

    def _merge_of(self, number: int, tip: GitCommit) -> GitCommit | None:
        words = ("rev-list", "--first-parent", "--fixed-strings", f"--grep=(#{number})", f"--grep=request #{number} ")
        shas = run(self._clone, *words, tip.sha).decode("ascii", "replace").split()
        ours = re.compile(rf"(?:.*\(#{number}\)|Merge pull request #{number} .*)")
        found = [c for c in map(self._objects.commit, shas) if c is not None and ours.fullmatch(c.subject)]
        return found[-1] if found else None


class WithRecipeClones:
    """A source whose reviews also see recipe repositories, from local clones."""

    def __init__(self, source: Source, clones: Sequence[RecipeClone]) -> None:
        self.source = self._source = source
        self._clones = {clone.repository.lower(): clone for clone in clones}

    def __enter__(self) -> WithRecipeClones:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for clone in self._clones.values():
            clone.close()

    def load(self, ref: PullRequestRef, *, head: str | None = None, policy_ref: str | None = None) -> Loaded:
        """What the source itself loads."""
        return self._source.load(ref, head=head, policy_ref=policy_ref)

    def tree(self, revision: str) -> Tree:
        """A revision of the reviewed repository."""
        return self._source.tree(revision)

    def job_log(self, ref: PullRequestRef, job: CheckRun) -> JobLog:
        """What the source itself has of a job's log."""
        return log_of(self._source, ref, job)

    def with_published(self, loaded: Loaded) -> Loaded:
        """What the source itself can look up of published results."""
        return self._source.with_published(loaded) if isinstance(self._source, PublishedSource) else loaded

    def pages(self, day: str) -> dict[str, Tree]:
        """Main of each clone as of the end of a day, by the repository that it is a clone of; of other repositories
        what the source itself has."""
        others = self._source.pages(day) if isinstance(self._source, PagesSource) else {}
        return others | self._cloned(day)

    def _cloned(self, day: str) -> dict[str, Tree]:
        return {clone.repository: clone.main(day) for clone in self._clones.values()}

    def with_recipes(self, loaded: Loaded, texts: Sequence[str], day: str) -> Loaded:
        """What was loaded, with main of each clone as of the end of a day, and the pull requests that texts link."""
        if isinstance(self._source, RecipeSource):
            loaded = self._source.with_recipes(loaded, texts, day)
        trees = self._cloned(day)
        known = loaded.snapshot.upstream
        pulls = {(pull.repository.lower(), pull.number): pull for pull in known.value or ()}
        missing: dict[str, str] = {}
        for repository, number in _linked(texts):
            clone = self._clones.get(repository)
            pull = pulls.get((repository, number))
            if clone is not None and (pull is None or pull.state != "merged"):
                pull = clone.merged(number, day) or pull
                if pull is None:
                    missing[clone.unknown(number, day)] = clone.refresh
                else:
                    pulls[repository, number] = pull
        for pull in pulls.values():
            clone = self._clones.get(pull.repository.lower())
            tree = clone.at(pull.merge_commit) if clone is not None and pull.merge_commit else None
            if tree is not None:
                trees[f"{pull.repository}@{pull.merge_commit}"] = tree
        part = _part(known, tuple(pulls.values()), missing)
        return Loaded(
            snapshot=msgspec.structs.replace(loaded.snapshot, upstream=part),
            trees=msgspec.structs.replace(loaded.trees, upstream={**loaded.trees.upstream, **trees}),
        )


def _linked(texts: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Repository (lower case) and number of the upstream pull requests that texts link, each once."""
    from reviewer_tui.signoff.links import find_urls

    links = (judge(found.url) for text in texts for found in find_urls(text))
    found = dict.fromkeys(
        (link.repository.lower(), link.number)
        for link in links
        if link.form == "pull_request" and link.repository and link.number
    )
    yield from list(found)[:MOST_PULLS]


def _part(
    before: Part[tuple[UpstreamPullRequest, ...]], pulls: tuple[UpstreamPullRequest, ...], missing: dict[str, str]
) -> Part[tuple[UpstreamPullRequest, ...]]:
    """What is known of upstream pull requests now. What a clone cannot tell stays untold."""
    if not pulls and not missing:
        return before
    if missing:
        return partial(pulls, " ".join(missing), next(iter(missing.values())))
    return complete(pulls) if before.value is None or before.complete else partial(pulls, before.reason, before.remedy)


def _time(seconds: int) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
