"""The history of a clone: merge bases, ancestry, and the commits of a branch.

Commits are read through the source's one `cat-file` and kept, so that the second pull request finds the history of the
default branch in memory. The walk is git's own (`git merge-base`): from both ends, newest first, until everything
left to see is common to both.
"""

from __future__ import annotations

import bisect
import heapq
from collections.abc import Iterable

import msgspec

from reviewer_tui.model.errors import DataError
from reviewer_tui.sources.objects import GitCommit, Objects

_LEFT, _RIGHT, _STALE, _BASE = 1, 2, 4, 8
_BOTH = _LEFT | _RIGHT


class Divergence(msgspec.Struct, frozen=True, kw_only=True):
    """How two commits relate: the merge bases, git's choice first, and the commits that only `right` has, oldest
    first. `cut` says that the clone's history ends before the walk was done (a shallow clone)."""

    bases: tuple[str, ...]
    ahead: tuple[GitCommit, ...]
    cut: bool


class History:
    """Questions about the commits of one clone."""

    most_commits = 200_000  # that one question may walk

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def diverge(self, left: str, right: str) -> Divergence:
        """Merge bases of two commits (full SHAs), and what `right` adds to `left`."""
        marks, cut = self._paint(left, right)
        bases = [sha for sha, mark in marks.items() if mark & _BASE and not mark & _STALE]
        if len(bases) > 1:
            bases = [sha for sha in bases if not any(self._reaches(other, sha) for other in bases if other != sha)]
        ahead = [sha for sha, mark in marks.items() if mark & _BOTH == _RIGHT]
        return Divergence(
            bases=tuple(sorted(bases, key=lambda sha: -self._time(sha))),
            ahead=self._oldest_first(ahead),
            cut=cut,
        )

    def merge_base(self, left: str, right: str) -> str | None:
        """The merge base that git chooses, None where the two share nothing that the clone has."""
        return next(iter(self.diverge(left, right).bases), None)

    def is_ancestor(self, old: str, new: str) -> bool:
        """Whether `new` contains `old` (a commit contains itself)."""
        return old == new or self._reaches(new, old)

    def merged_as(self, tip: str, head: str) -> GitCommit | None:
        """The commit on the first-parent line of `tip` that brought `head` in; None where `head` is on that line."""
        newest = self._objects.commit(tip)
        if newest is None:
            return None
        oldest = self._time(head)
        line = [newest]
        while line[-1].parents and line[-1].time >= oldest and len(line) < self.most_commits:
            parent = self._objects.commit(line[-1].parents[0])
            if parent is None:
                break
            line.append(parent)
        line.reverse()
        merge = line[bisect.bisect_left(line, True, key=lambda commit: self.is_ancestor(head, commit.sha))]
        return None if merge.sha == head or len(merge.parents) < 2 else merge

    def _reaches(self, new: str, old: str) -> bool:
        marks, _ = self._paint(new, old)
        return bool(marks[old] & _LEFT)

    def _paint(self, left: str, right: str) -> tuple[dict[str, int], bool]:
        """Which commits are seen from the left, from the right, from both, and behind a merge base already."""
        marks: dict[str, int] = {}
        queue: list[tuple[int, int, str]] = []
        open_ends: set[str] = set()
        cut = False

        def mark(sha: str, colour: int) -> None:
            nonlocal cut
            if marks.get(sha, 0) & colour == colour:
                return
            if self._objects.commit(sha) is None:
                cut = True
                return
            marks[sha] = marks.get(sha, 0) | colour
            heapq.heappush(queue, (-self._time(sha), len(marks), sha))
            (open_ends.discard if marks[sha] & _STALE else open_ends.add)(sha)

        mark(left, _LEFT)
        mark(right, _RIGHT)
        while open_ends:
            sha = heapq.heappop(queue)[2]
            open_ends.discard(sha)
            colour = marks[sha] & (_BOTH | _STALE)
            if colour == _BOTH:
                marks[sha] |= _BASE
                colour |= _STALE
            for parent in self._parents(sha):
                mark(parent, colour)
            if len(marks) > self.most_commits:
                raise DataError(f"Between {left[:9]} and {right[:9]} lie more than {self.most_commits:,} commits.")
        return marks, cut

    def _oldest_first(self, shas: Iterable[str]) -> tuple[GitCommit, ...]:
        """Parents before children, older before newer where there is a choice."""
        chosen = {sha: commit for sha in shas if (commit := self._objects.commit(sha)) is not None}
        children: dict[str, list[str]] = {}
        waiting: dict[str, int] = {}
        for sha, commit in chosen.items():
            within = [parent for parent in dict.fromkeys(commit.parents) if parent in chosen]
            waiting[sha] = len(within)
            for parent in within:
                children.setdefault(parent, []).append(sha)
        ready = [(chosen[sha].time, sha) for sha, count in waiting.items() if not count]
        heapq.heapify(ready)
        ordered = []
        while ready:
            sha = heapq.heappop(ready)[1]
            ordered.append(chosen[sha])
            for child in children.get(sha, ()):
                waiting[child] -= 1
                if not waiting[child]:
                    heapq.heappush(ready, (chosen[child].time, child))
        return tuple(ordered)

    def _parents(self, sha: str) -> tuple[str, ...]:
        commit = self._objects.commit(sha)
        return commit.parents if commit is not None else ()

    def _time(self, sha: str) -> int:
        commit = self._objects.commit(sha)
        return commit.time if commit is not None else 0
