"""What a pull request submits, as far as its files tell: the ground on which applicability is decided."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from reviewer_tui.checks.check import Evidence
from reviewer_tui.model.config import Entry, KeyChange
from reviewer_tui.policy.layout import discover_layout
from reviewer_tui.sweeps.master import parse_master

_CLUSTER = "cluster:"
_SKU = re.compile(r"[a-z0-9]+")


def submitted(evidence: Evidence) -> tuple[KeyChange, ...]:
    """The config keys that the pull request adds, changes or serves differently; a removed key is no submission."""
    return tuple(change for change in evidence.changes.keys if change.new is not None)


def sku(runner: str) -> str:
    """The hardware of a runner label: `cluster:b200-dgxc` and `b200-multinode` are `b200`."""
    found = _SKU.match(runner.removeprefix(_CLUSTER).lower())
    return found[0] if found else ""


class Arm(msgspec.Struct, frozen=True, kw_only=True):
    """One search-space row of an entry: `lengths` is input and output length in tokens, None for an agentic scenario;
    `method` is the speculative method as the config names it, empty without speculation."""

    lengths: tuple[int, int] | None
    method: str
    line: int
    row: dict[str, Any]


def arms(entry: Entry) -> Iterator[Arm]:
    """Every search-space row of an entry that can be read, in the file's order."""
    scenarios = entry.fields.get("scenarios")
    for name, items in scenarios.items() if isinstance(scenarios, dict) else ():
        for index, item in enumerate(items if isinstance(items, list) else ()):
            if isinstance(item, dict):
                yield from _arms_of(entry, item, f"scenarios.{name}.{index}", agentic=name != "fixed-seq-len")


def _arms_of(entry: Entry, item: dict[str, Any], place: str, *, agentic: bool) -> Iterator[Arm]:
    lengths = None if agentic else lengths_of(item)
    if lengths is None and not agentic:
        return
    rows = item.get("search-space")
    for index, row in enumerate(rows if isinstance(rows, list) else ()):
        if isinstance(row, dict):
            method = row.get("spec-decoding")
            yield Arm(
                lengths=lengths,
                method="" if method in (None, "none") else str(method),
                line=entry.line_of(f"{place}.search-space.{index}"),
                row=row,
            )


def lengths_of(item: dict[str, Any]) -> tuple[int, int] | None:
    """Input and output length of a fixed scenario item in tokens, whole numbers in whatever spelling the repository's
    own validation takes; None where they are no whole numbers."""
    isl, osl = (_whole(item.get(name)) for name in ("isl", "osl"))
    return None if isl is None or osl is None else (isl, osl)


def _whole(value: object) -> int | None:
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else None
    except (ValueError, OverflowError):
        return None
    return int(number) if number is not None and number.is_integer() else None


def entry_changed(change: KeyChange) -> bool:
    """Whether the entry itself is added or says something else than before (not only the files that serve it)."""
    return change.new is not None and (change.old is None or change.old.fields != change.new.fields)


def unread_masters(evidence: Evidence) -> tuple[str, ...]:
    """The master configs that the pull request leaves unreadable: faults of the file as a whole, and files that became
    a link, a submodule or nothing while the base had them."""
    base, head = discover_layout(evidence.trees.base), discover_layout(evidence.trees.head)
    faulty = {problem.path for problem in evidence.changes.problems if problem.path in head.master_configs}
    there = {path.rpartition("/")[2] for path in head.master_configs}
    gone = [path for path in base.master_configs if path.rpartition("/")[2] not in there]
    replaced = [path for path in gone if any(path in file.paths for file in evidence.snapshot.files.value or ())]
    unread = [
        path for path in head.master_configs if path in faulty and not parse_master(_content(evidence, path), path).keys
    ]
    return tuple(dict.fromkeys((*unread, *replaced)))


def _content(evidence: Evidence, path: str) -> bytes:
    return evidence.trees.head.read(path) or b""


def additional_settings(node: object) -> Iterator[str]:
    """Every text of an `additional-settings` list of a config entry, or of a part of one."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "additional-settings" and isinstance(value, list):
                yield from (setting for setting in value if isinstance(setting, str))
            else:
                yield from additional_settings(value)
    elif isinstance(node, list):
        for value in node:
            yield from additional_settings(value)
