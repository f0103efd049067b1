"""The semantic diff: what changes between two revisions in what is swept, not in how it is written."""

from __future__ import annotations

from collections.abc import Container, Iterable
from functools import cached_property
from typing import Any

from reviewer_tui.model.config import Change, ConfigChanges, Entry, KeyChange, Point
from reviewer_tui.model.finding import Problem
from reviewer_tui.model.tree import Tree
from reviewer_tui.policy.layout import Layout
from reviewer_tui.sweeps.configs import Configs
from reviewer_tui.sweeps.expand import ExpandedRow
from reviewer_tui.sweeps.fields import field_changes
from reviewer_tui.sweeps.points import Place, arms, family, identities, points_of
from reviewer_tui.sweeps.schema import check_entry
from reviewer_tui.sweeps.serving import Serving, serving_at
from reviewer_tui.sweeps.touched import LikelyKeys, TouchedFile, touched_files

RENAME_LIKENESS = 0.5
"""Two keys are one under two names if at least this share of their points is common, image and model aside."""
MAX_RIVALS = 40
MAX_LIKELY_KEYS = 1_000
"""Keys beyond these are not looked at for files that changed behind them."""


def config_changes(
    old: Tree, new: Tree, *, old_layout: Layout | None = None, new_layout: Layout | None = None
) -> ConfigChanges:
    """What changes from one revision to another. Only blocks that differ are parsed; never fails."""
    before = Configs(old, old_layout)
    return compare(before, Configs(new, new_layout, like=before))


def compare(old: Configs, new: Configs, only: Iterable[str] | None = None) -> ConfigChanges:
    """The changes between two revisions whose configs are already read; `only` of these keys."""
    return _Comparison(old, new, None if only is None else frozenset(only)).changes()


class _Side:
    """One of the two revisions: its expanded entries and the faults met. `faultless` are rows that have none, on either
    side."""

    def __init__(self, configs: Configs, faultless: set[bytes]) -> None:
        self.configs = configs
        self._faultless = faultless
        self.problems: list[Problem] = []
        self._rows: dict[str, tuple[ExpandedRow, ...]] = {}
        self._identities: dict[str, dict[bytes, Place]] = {}

    @cached_property
    def _serving(self) -> Serving:
        return serving_at(self.configs.tree, self.configs.layout)

    def rows(self, entry: Entry) -> tuple[ExpandedRow, ...]:
        if entry.key not in self._rows:
            expansion = self._serving.expansion(entry)
            self._rows[entry.key] = expansion.rows
            self.problems.extend(check_entry(entry, self.configs.rules, self.configs.runners, self._faultless))
            self.problems.extend(expansion.problems)
        return self._rows[entry.key]

    def points(self, entry: Entry, known: Container[bytes]) -> tuple[Point, ...]:
        """The points of an entry whose identity is not known on the other side."""
        chosen = [place for name, place in self.identities(entry).items() if name not in known]
        return tuple(points_of(self.rows(entry), self.configs.rules, chosen)) if chosen else ()

    def identities(self, entry: Entry | None) -> dict[bytes, Place]:
        if entry is None:
            return {}
        if entry.key not in self._identities:
            self._identities[entry.key] = identities(self.rows(entry))
        return self._identities[entry.key]

    def files(self, entry: Entry) -> set[str]:
        """The paths of all files behind an entry."""
        return self._serving.resolver.paths(entry, (item.row for item in self.rows(entry)))


class _Comparison:
    def __init__(self, old: Configs, new: Configs, only: frozenset[str] | None) -> None:
        self._only = only
        faultless: set[bytes] = set()
        self._old = _Side(old, faultless)
        self._new = _Side(new, faultless)
        self._touched: tuple[TouchedFile, ...] = touched_files(old.tree, old.layout, new.tree, new.layout)
        self._likely = LikelyKeys(new)
        self._by_old = {file.old: place for place, file in enumerate(self._touched) if file.old}
        self._by_new = {file.new: place for place, file in enumerate(self._touched) if file.new}

    def changes(self) -> ConfigChanges:
        old, new = self._old.configs, self._new.configs
        differing = [key for key in dict.fromkeys((*new.keys, *old.keys)) if self._wanted(key) and self._differs(key)]
        before = old.entries(key for key in differing if old.master(key))
        after = new.entries(key for key in differing if new.master(key))
        renames = self._renames(
            [entry for key, entry in before.items() if new.master(key) is None],
            [entry for key, entry in after.items() if old.master(key) is None],
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
        known = {change.key for change in keys}
        keys.extend(change for change in self._changed_by_files(known) if change.key not in known)
        own = {path for change in keys for path in change.files}
        return ConfigChanges(
            keys=tuple(keys),
            problems=(*new.problems, *self._generator_changed(), *self._new.problems),
            base_problems=(*old.problems, *self._old.problems),
            reworded=tuple(key for key in reworded if key not in {change.key for change in keys}),
            shared_files=tuple(path for path, is_own in self._own.items() if path not in own or not is_own),
        )

    def _wanted(self, key: str) -> bool:
        return self._only is None or key in self._only

    def _differs(self, key: str) -> bool:
        old, new = self._old.configs.master(key), self._new.configs.master(key)
        if old is None or new is None:
            return True
        return not old.same_block(new, key)

    def _renames(self, removed: Iterable[Entry], added: Iterable[Entry]) -> dict[str, str]:
        """New key to old key, the likest pairs first."""
        gone: dict[tuple[Any, ...], list[tuple[str, set[bytes]]]] = {}
        for former in removed:
            gone.setdefault(family(former), []).append((former.key, arms(self._old.rows(former))))
        candidates: list[tuple[float, str, str]] = []
        for entry in added:
            rivals = gone.get(family(entry), ())[:MAX_RIVALS]
            mine = arms(self._new.rows(entry)) if rivals else set()
            for key, theirs in rivals:
                likeness = len(mine & theirs) / max(len(mine | theirs), 1)
                if likeness >= RENAME_LIKENESS:
                    candidates.append((-likeness, entry.key, key))
        found: dict[str, str] = {}
        taken: set[str] = set()
        for _, key, previous in sorted(candidates):
            if key not in found and previous not in taken:
                found[key] = previous
                taken.add(previous)
        return found

    def _key_change(self, key: str, old: Entry | None, new: Entry | None, previous: str | None) -> KeyChange | None:
        """None where nothing changes in what runs."""
        known, present = self._old.identities(old), self._new.identities(new)
        added = self._new.points(new, known) if new else ()
        removed = self._old.points(old, present) if old else ()
        fields = field_changes(old, new) if old and new else ()
        files = self._touched_behind(old, new)
        if old and new and previous is None and not (fields or added or removed or files):
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
            points_kept=len(known.keys() & present.keys()),
            files=files,
        )

    def _touched_behind(self, old: Entry | None, new: Entry | None) -> tuple[str, ...]:
        """The changed files behind an entry, on either side."""
        if not self._touched:
            return ()
        before = self._old.files(old) if old else set()
        after = self._new.files(new) if new else set()
        places = {place for path in before if (place := self._by_old.get(path)) is not None}
        places.update(place for path in after if (place := self._by_new.get(path)) is not None)
        behind = [self._touched[place] for place in sorted(places)]
        gone = {self._old.configs.tree.blob(file.old) for file in behind if file.old and not file.new}
        come = {self._new.configs.tree.blob(file.new) for file in behind if file.new and not file.old}
        return tuple(file.path for file in behind if not self._only_moved(file, gone & come))

    def _only_moved(self, file: TouchedFile, moved: set[str | None]) -> bool:
        """Whether a file is gone under one name and here under another."""
        if file.old and file.new:
            return False
        blob = self._new.configs.tree.blob(file.new) if file.new else self._old.configs.tree.blob(file.path)
        return blob in moved

    def _changed_by_files(self, known: set[str]) -> Iterable[KeyChange]:
        """Keys whose entry stays and whose own script or recipe changes; of keys that were asked for, any file."""
        if not self._touched:
            return
        for key in self._likely_keys() if self._only is None else sorted(self._only):
            if key in known:
                continue
            old, new = self._old.configs.entry(key), self._new.configs.entry(key)
            if old is None or new is None:
                continue
            files = self._touched_behind(old, new)
            if any(self._only is not None or self._own[path] for path in files):
                kept = len(self._new.identities(new))
                yield KeyChange(key=key, change="changed", old=old, new=new, points_kept=kept, files=files)

    @cached_property
    def _own(self) -> dict[str, bool]:
        """Of every changed file, whether it may be some key's own script or recipe, and not one that many share."""
        return {file.path: next(self._likely.of(file.path), None) is not None for file in self._touched}

    def _likely_keys(self) -> Iterable[str]:
        """The keys whose own script or recipe may have changed."""
        found: dict[str, None] = {}
        for path in (path for path, own in self._own.items() if own):
            for key in self._likely.of(path):
                if len(found) >= MAX_LIKELY_KEYS:
                    return found
                found[key] = None
        return found

    def _generator_changed(self) -> Iterable[Problem]:
        """The rows follow rules this program knows; a change of the generator itself may make others."""
        old, new = self._old.configs, self._new.configs
        path = new.layout.generator
        if path and old.layout.generator and old.tree.blob(old.layout.generator) != new.tree.blob(path):
            message = (
                "The generator itself changed between these revisions; rows follow the rules known to this program."
            )
            yield Problem(path=path, message=message, rule="generator-changed")
