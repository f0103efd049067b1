"""The semantic diff: what changes between two revisions in what is swept, not in how it is written."""

from __future__ import annotations

from collections.abc import Container, Iterable
from functools import cached_property

from reviewer_tui.model.config import Change, ConfigChanges, Entry, KeyChange, Point
from reviewer_tui.model.finding import Problem
from reviewer_tui.model.tree import Tree
from reviewer_tui.policy.layout import Layout
from reviewer_tui.sweeps.configs import Configs
from reviewer_tui.sweeps.expand import ExpandedRow, expand_entries
from reviewer_tui.sweeps.fields import field_changes
from reviewer_tui.sweeps.points import Place, alike, identities, points_of, same_family
from reviewer_tui.sweeps.resolve import Resolver
from reviewer_tui.sweeps.schema import check_entry
from reviewer_tui.sweeps.touched import TouchedFile, likely_keys, touched_files

RENAME_LIKENESS = 0.5
"""Two keys are one under two names if at least this share of their points is common, image and model aside."""


def config_changes(
    old: Tree, new: Tree, *, old_layout: Layout | None = None, new_layout: Layout | None = None
) -> ConfigChanges:
    """What changes from one revision to another. Only blocks that differ are parsed; never fails."""
    before = Configs(old, old_layout)
    return compare(before, Configs(new, new_layout, like=before))


def compare(old: Configs, new: Configs, only: Iterable[str] | None = None) -> ConfigChanges:
    """The changes between two revisions whose configs are already read; `only` of these keys."""
    return _Comparison(old, new, None if only is None else frozenset(only)).changes()


class _Memory:
    """What both sides have in common and need not work out twice: names of files in texts, and faultless rows."""

    def __init__(self) -> None:
        self.named: dict[str, tuple[str, ...]] = {}
        self.faultless: set[bytes] = set()


class _Side:
    """One of the two revisions: its expanded entries, its resolver, and the faults met."""

    def __init__(self, configs: Configs, memory: _Memory) -> None:
        self.configs = configs
        self._memory = memory
        self.problems: list[Problem] = []
        self._rows: dict[str, tuple[ExpandedRow, ...]] = {}
        self._identities: dict[str, dict[bytes, Place]] = {}

    @cached_property
    def resolver(self) -> Resolver:
        return Resolver(self.configs.tree, self.configs.layout, self.configs.runners, self._memory.named)

    def rows(self, entry: Entry) -> tuple[ExpandedRow, ...]:
        if entry.key not in self._rows:
            expansion = expand_entries([entry], self.configs.runners, self.configs.rules, "none")
            self._rows[entry.key] = expansion.rows
            self.problems.extend(check_entry(entry, self.configs.rules, self.configs.runners, self._memory.faultless))
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
        return {
            file.path
            for item in self.rows(entry)
            for file in self.resolver.files(item.row, entry)
            if file.path is not None
        }


class _Comparison:
    def __init__(self, old: Configs, new: Configs, only: frozenset[str] | None) -> None:
        self._only = only
        memory = _Memory()
        self._old = _Side(old, memory)
        self._new = _Side(new, memory)
        self._touched: tuple[TouchedFile, ...] = touched_files(old.tree, old.layout, new.tree, new.layout)

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
            shared_files=tuple(file.path for file in self._touched if file.path not in own or self._shared(file.path)),
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
        candidates: list[tuple[float, str, str]] = []
        gone = list(removed)
        for entry in added:
            for former in gone:
                if not same_family(former, entry):
                    continue
                likeness = alike(self._old.rows(former), self._new.rows(entry))
                if likeness >= RENAME_LIKENESS:
                    candidates.append((-likeness, entry.key, former.key))
        found: dict[str, str] = {}
        for _, key, previous in sorted(candidates):
            if key not in found and previous not in found.values():
                found[key] = previous
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
        return tuple(file.path for file in self._touched if file.old in before or file.new in after)

    def _changed_by_files(self, known: set[str]) -> Iterable[KeyChange]:
        """Keys whose entry stays and whose own script or recipe changes; of keys that were asked for, any file."""
        likely: dict[str, None] = dict.fromkeys(sorted(self._only or ())) if self._touched else {}
        for file in self._touched if self._only is None else ():
            likely.update(dict.fromkeys(likely_keys(file.path, self._new.configs)))
        for key in likely:
            if key in known or not self._wanted(key):
                continue
            old, new = self._old.configs.entry(key), self._new.configs.entry(key)
            if old is None or new is None:
                continue
            files = self._touched_behind(old, new)
            if any(self._only is not None or not self._shared(path) for path in files):
                kept = len(self._new.identities(new))
                yield KeyChange(key=key, change="changed", old=old, new=new, points_kept=kept, files=files)

    def _shared(self, path: str) -> bool:
        """Whether a file belongs to no key in particular."""
        return next(likely_keys(path, self._new.configs), None) is None

    def _generator_changed(self) -> Iterable[Problem]:
        """The rows follow rules this program knows; a change of the generator itself may make others."""
        old, new = self._old.configs, self._new.configs
        path = new.layout.generator
        if path and old.layout.generator and old.tree.blob(old.layout.generator) != new.tree.blob(path):
            message = (
                "The generator itself changed between these revisions; rows follow the rules known to this program."
            )
            yield Problem(path=path, message=message, rule="generator-changed")
