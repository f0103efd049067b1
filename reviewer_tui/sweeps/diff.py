"""The semantic diff: what changes between two revisions in what is swept, not in how it is written."""

from __future__ import annotations

from collections.abc import Iterable

from reviewer_tui.model.config import Change, ConfigChanges, Entry, KeyChange, Point
from reviewer_tui.model.finding import Problem
from reviewer_tui.model.tree import Tree
from reviewer_tui.policy.layout import Layout
from reviewer_tui.sweeps.configs import Configs
from reviewer_tui.sweeps.expand import expand_entries
from reviewer_tui.sweeps.fields import field_changes
from reviewer_tui.sweeps.points import arms_alike, identity, points_of, same_family

RENAME_LIKENESS = 0.5
"""Two keys are one under two names if at least this share of their points is common, image and model aside."""


def config_changes(
    old: Tree, new: Tree, *, old_layout: Layout | None = None, new_layout: Layout | None = None
) -> ConfigChanges:
    """What changes from one revision to another. Only blocks that differ are parsed; never fails."""
    return compare(Configs(old, old_layout), Configs(new, new_layout))


def compare(old: Configs, new: Configs) -> ConfigChanges:
    """The changes between two revisions whose configs are already read."""
    return _Comparison(old, new).changes()


class _Comparison:
    def __init__(self, old: Configs, new: Configs) -> None:
        self._old = old
        self._new = new
        self._problems: list[Problem] = []
        self._base_problems: list[Problem] = []

    def changes(self) -> ConfigChanges:
        differing = [key for key in self._union() if self._differs(key)]
        before = self._old.entries(key for key in differing if self._old.master(key))
        after = self._new.entries(key for key in differing if self._new.master(key))
        renames = self._renames(
            [entry for key, entry in before.items() if self._new.master(key) is None],
            [entry for key, entry in after.items() if self._old.master(key) is None],
        )
        renamed_from = set(renames.values())
        keys: list[KeyChange] = []
        reworded: list[str] = []
        for key in differing:
            if key in renamed_from:
                continue
            previous = renames.get(key)
            change = self._key_change(key, before.get(previous or key), after.get(key), previous)
            if change is None:
                reworded.append(key)
            else:
                keys.append(change)
        return ConfigChanges(
            keys=tuple(keys),
            problems=(*self._new.problems, *self._problems),
            base_problems=(*self._old.problems, *self._base_problems),
            reworded=tuple(reworded),
        )

    def _union(self) -> list[str]:
        return list(dict.fromkeys((*self._new.keys, *self._old.keys)))

    def _differs(self, key: str) -> bool:
        old, new = self._old.master(key), self._new.master(key)
        if old is None or new is None:
            return True
        return not old.same_block(new, key) and old.entry(key) != new.entry(key)

    def _renames(self, removed: Iterable[Entry], added: Iterable[Entry]) -> dict[str, str]:
        """New key to old key, the likest pairs first."""
        candidates: list[tuple[float, str, str]] = []
        gone = [(entry, self._points(self._old, entry)) for entry in removed]
        for entry in added:
            points = None
            for former, former_points in gone:
                if not same_family(former, entry):
                    continue
                points = self._points(self._new, entry) if points is None else points
                likeness = arms_alike(former_points, points)
                if likeness >= RENAME_LIKENESS:
                    candidates.append((-likeness, entry.key, former.key))
        found: dict[str, str] = {}
        for _, key, previous in sorted(candidates):
            if key not in found and previous not in found.values():
                found[key] = previous
        return found

    def _key_change(self, key: str, old: Entry | None, new: Entry | None, previous: str | None) -> KeyChange | None:
        """None where nothing changes in what runs."""
        points_before = self._points(self._old, old, self._base_problems) if old else []
        points_after = self._points(self._new, new, self._problems) if new else []
        known = {identity(point) for point in points_before}
        present = {identity(point) for point in points_after}
        added = tuple(point for point in points_after if identity(point) not in known)
        removed = tuple(point for point in points_before if identity(point) not in present)
        fields = field_changes(old, new) if old and new else ()
        if old and new and previous is None and not (fields or added or removed):
            return None
        change: Change = "renamed" if previous else "added" if old is None else "removed" if new is None else "changed"
        return KeyChange(
            key=key,
            change=change,
            old=old,
            new=new,
            previous_key=previous,
            fields=fields,
            points_added=added,
            points_removed=removed,
            points_kept=len(known & present),
        )

    def _points(self, configs: Configs, entry: Entry, problems: list[Problem] | None = None) -> list[Point]:
        expansion = expand_entries([entry], configs.runners, configs.rules, "none")
        if problems is not None:
            problems.extend(expansion.problems)
        return points_of(expansion.rows, configs.rules)
