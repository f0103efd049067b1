"""What every source of pull requests gives: a snapshot and the trees it talks about."""

from __future__ import annotations

from typing import Protocol

import msgspec

from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.model.snapshot import Snapshot, Trees
from reviewer_tui.model.tree import Tree


class Loaded(msgspec.Struct, frozen=True):
    """A snapshot with its trees."""

    snapshot: Snapshot
    trees: Trees


class Source(Protocol):
    """A place pull requests are read from. Every method raises `DataError` with a sentence and a remedy."""

    def load(self, ref: PullRequestRef, *, head: str | None = None, policy_ref: str | None = None) -> Loaded:
        """One pull request, at `head` (a SHA or prefix) or at its newest head, under the policy of `policy_ref`."""
        ...

    def tree(self, revision: str) -> Tree:
        """Any revision by SHA, prefix or name."""
        ...
