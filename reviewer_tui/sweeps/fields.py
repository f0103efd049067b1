"""Field by field: what differs between two versions of an entry, with both values and both lines.

The arms of a search space are compared as a set: their order means nothing for what runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reviewer_tui.model.config import Entry, FieldChange
from reviewer_tui.sweeps.rows import canonical

MAX_CHANGES = 400
MAX_VALUE = 400

_UNORDERED = ("search-space", "fixed-seq-len", "agentic-coding")
_TOPOLOGY = ("tp", "pp", "dcp-size", "pcp-size", "ep", "dp-attn", "spec-decoding", "prefill", "decode", "isl", "osl")


def field_changes(old: Entry, new: Entry) -> tuple[FieldChange, ...]:
    """The differing fields in the order of the new entry, removed ones after; empty where both mean the same."""
    changes: list[FieldChange] = []
    for change in _mapping(old.fields, new.fields, "", "", old, new):
        changes.append(change)
        if len(changes) >= MAX_CHANGES:
            break
    return tuple(changes)


def shown(value: Any) -> str:
    """A value on one line, as flow-style YAML."""
    text = _shown(value)
    return text if len(text) <= MAX_VALUE else f"{text[: MAX_VALUE - 1]}…"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_shown(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_shown(item) for item in value) + "]"
    return str(value)


def _mapping(
    old: dict[Any, Any], new: dict[Any, Any], old_path: str, new_path: str, one: Entry, other: Entry
) -> Iterator[FieldChange]:
    for name in [*new, *(name for name in old if name not in new)]:
        mine = f"{old_path}{name}" if name in old else None
        yours = f"{new_path}{name}" if name in new else None
        yield from _value(old.get(name), new.get(name), mine, yours, one, other)


def _value(
    old: Any, new: Any, old_path: str | None, new_path: str | None, one: Entry, other: Entry
) -> Iterator[FieldChange]:
    if old_path is not None and new_path is not None:
        if old == new and type(old) is type(new):
            return
        if isinstance(old, dict) and isinstance(new, dict):
            yield from _mapping(old, new, f"{old_path}.", f"{new_path}.", one, other)
            return
        if isinstance(old, list) and isinstance(new, list) and new_path.rpartition(".")[2] in _UNORDERED:
            yield from _arms(old, new, f"{old_path}.", f"{new_path}.", one, other)
            return
    yield FieldChange(
        field=new_path if new_path is not None else old_path or "",
        old=None if old_path is None else shown(old),
        new=None if new_path is None else shown(new),
        old_line=None if old_path is None else one.line_of(old_path),
        new_line=None if new_path is None else other.line_of(new_path),
    )


def _arms(
    old: list[Any], new: list[Any], old_path: str, new_path: str, one: Entry, other: Entry
) -> Iterator[FieldChange]:
    """Equal arms cancel each other; of the rest those with the same topology are compared, then by their order."""
    before = _Unmatched(old)
    after = [place for place, arm in enumerate(new) if before.take(canonical(arm)) is None]
    pairs: list[tuple[int | None, int | None]] = []
    rest: list[int] = []
    by_topology = before.by(_topology)
    for place in after:
        match = by_topology.get(_topology(new[place]))
        if match:
            partner = match.pop(0)
            before.places.remove(partner)
            pairs.append((partner, place))
        else:
            rest.append(place)
    left = before.places
    if len(rest) == len(left):
        pairs.extend(zip(left, rest, strict=True))
    else:
        pairs.extend([(None, place) for place in rest] + [(place, None) for place in left])
    for old_place, new_place in sorted(pairs, key=lambda pair: (pair[1] is None, pair[1] or 0, pair[0] or 0)):
        yield from _value(
            None if old_place is None else old[old_place],
            None if new_place is None else new[new_place],
            None if old_place is None else f"{old_path}{old_place}",
            None if new_place is None else f"{new_path}{new_place}",
            one,
            other,
        )


class _Unmatched:
    """The arms of the old side that no arm of the new side equals yet."""

    def __init__(self, arms: list[Any]) -> None:
        self._arms = arms
        self.places = list(range(len(arms)))
        self._by_value = self.by(canonical)

    def by(self, what: Any) -> dict[bytes, list[int]]:
        found: dict[bytes, list[int]] = {}
        for place in self.places:
            found.setdefault(what(self._arms[place]), []).append(place)
        return found

    def take(self, value: bytes) -> int | None:
        places = self._by_value.get(value)
        if not places:
            return None
        place = places.pop(0)
        self.places.remove(place)
        return place


def _topology(arm: Any) -> bytes:
    if not isinstance(arm, dict):
        return canonical(arm)
    return canonical({name: arm[name] for name in _TOPOLOGY if name in arm})
