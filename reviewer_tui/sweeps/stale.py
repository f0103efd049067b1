"""Stale evidence: whether what would merge today is still what was swept, key by key.

The repository reuses the sweep of an older commit for a merge. Meanwhile main moves on, and a merge takes main's newest
entry with the branch's change in it: another checkpoint, image or script than the one that was measured.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from reviewer_tui.model.config import KeyChange
from reviewer_tui.model.finding import Problem
from reviewer_tui.model.tree import Tree
from reviewer_tui.policy.layout import discover_layout
from reviewer_tui.sweeps.configs import Configs
from reviewer_tui.sweeps.diff import compare, config_changes
from reviewer_tui.sweeps.merge import MergedTree


class StaleEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What of a sweep no longer holds.

    `keys` are the swept keys that would merge otherwise than they were swept: old is the swept side, new what would
    merge (lines of the file as it would be). `compared` are all keys that were looked at; `collisions` are lines that
    the branch and main both changed, where only a person can say what will merge.
    """

    keys: tuple[KeyChange, ...]
    compared: tuple[str, ...]
    collisions: tuple[Problem, ...] = ()

    def change(self, key: str) -> KeyChange | None:
        """What became of one key; None where it would merge as it was swept."""
        return next((change for change in self.keys if change.key == key), None)


def stale_evidence(
    swept: Tree, head: Tree, main: Tree, merge_base: Tree, keys: Iterable[str] | None = None
) -> StaleEvidence:
    """Compare what was swept with what a merge of `head` into `main` would give.

    `merge_base` is that of head and main. `keys` are those the sweep ran (None: those the branch changes). Rows of both
    sides follow main's generator, so that a newer generator alone makes nothing stale.
    """
    layouts = (discover_layout(merge_base), discover_layout(head), discover_layout(main))
    if keys is None:
        changes = config_changes(merge_base, head, old_layout=layouts[0], new_layout=layouts[1])
        keys = [change.key for change in changes.keys if change.new is not None]
    wanted = tuple(dict.fromkeys(keys))
    merged = MergedTree(merge_base, head, main, layouts)
    after = Configs(merged, layouts[2])
    before = Configs(swept)
    before.rules = after.rules
    changes = compare(before, after, only=wanted)
    return StaleEvidence(keys=changes.keys, compared=wanted, collisions=tuple(merged.collisions))
