"""What a pull request submits, as far as its files tell: the ground on which applicability is decided."""

from __future__ import annotations

import re

from reviewer_tui.checks.check import Evidence
from reviewer_tui.model.config import Entry, KeyChange

_CLUSTER = "cluster:"
_SKU = re.compile(r"[a-z0-9]+")


def submitted(evidence: Evidence) -> tuple[KeyChange, ...]:
    """The config keys that the pull request adds, changes or serves differently; a removed key is no submission."""
    return tuple(change for change in evidence.changes.keys if change.new is not None)


def sku(runner: str) -> str:
    """The hardware of a runner label: `cluster:b200-dgxc` and `b200-multinode` are `b200`."""
    found = _SKU.match(runner.removeprefix(_CLUSTER).lower())
    return found[0] if found else ""


def scenario_names(entry: Entry) -> tuple[str, ...]:
    """The scenarios of an entry as the models file names them: `8k1k`, `1k1k`, `1k8k`, `agentic`, or another length as
    `<isl>/<osl>`."""
    scenarios = entry.fields.get("scenarios")
    if not isinstance(scenarios, dict):
        return ()
    names: dict[str, None] = {}
    for item in scenarios.get("fixed-seq-len") or ():
        if isinstance(item, dict):
            names[length_name(item.get("isl"), item.get("osl"))] = None
    if scenarios.get("agentic-coding"):
        names["agentic"] = None
    return tuple(names)


def length_name(isl: object, osl: object) -> str:
    """`8k1k` for 8192/1024, and so on; another pair as `<isl>/<osl>`."""
    if isinstance(isl, int) and isinstance(osl, int) and isl % 1024 == 0 and osl % 1024 == 0:
        return f"{isl // 1024}k{osl // 1024}k"
    return f"{isl}/{osl}"


def entry_changed(change: KeyChange) -> bool:
    """Whether the entry itself is added or says something else than before (not only the files that serve it)."""
    return change.new is not None and (change.old is None or change.old.fields != change.new.fields)
