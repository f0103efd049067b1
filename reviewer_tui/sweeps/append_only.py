"""Append-only: what an `append-only` entry adds to existing curves, and whether it leaves them as they are.

Source: `append_only_delta` and `validate_append_only_scope` in the repository's `process_changelog.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from reviewer_tui.model.finding import Problem
from reviewer_tui.sweeps.configs import Configs
from reviewer_tui.sweeps.expand import ExpandedRow
from reviewer_tui.sweeps.rows import Row, canonical, concurrencies, curve, is_agentic


class AppendOnlyDelta(msgspec.Struct, frozen=True, kw_only=True):
    """The rows that are new (of a multi-node row only the new concurrencies), and what is against the rules."""

    rows: tuple[ExpandedRow, ...]
    problems: tuple[Problem, ...] = ()


def append_only_delta(base: Sequence[ExpandedRow], head: Sequence[ExpandedRow], path: str) -> AppendOnlyDelta:
    """The additions of the head's benchmark rows over the base's, both of the same keys and scenarios.

    Every curve and every concurrency of the base must still be there, at least one point must be new, and every new
    point must belong to a published curve whose one image is its own.
    """
    before, after = _curves(base), _curves(head)
    problems: list[Problem] = []

    def report(rule: str, message: str, line: int | None = None) -> None:
        problems.append(Problem(path=path, message=message, rule=rule, line=line))

    if not before:
        report("append-only-new-curve", "Append-only needs a curve that the base already has.")
    for identity, (concs, item) in before.items():
        if identity not in after:
            report("append-only-changed", f"{item.key}: an existing recipe is changed or removed.")
        elif gone := sorted(concs - after[identity][0]):
            report("append-only-removed", f"{item.key}: existing points are removed (concurrency {_joined(gone)}).")
    rows = list(_added(before, head))
    if not rows:
        report("append-only-empty", "Append-only adds no point.")
    images: dict[bytes, set[Any]] = {}
    for item in base:
        images.setdefault(_series(item.row), set()).add(item.row.get("image"))
    for item in rows:
        image = item.row.get("image")
        published = images.get(_series(item.row), set())
        if image is None or published != {image}:
            names = ", ".join(sorted(map(str, published))) or "none"
            message = (
                f"{item.key}: the new points do not belong to a published curve with their image (there: {names})."
            )
            report("append-only-image", message, item.line)
    return AppendOnlyDelta(rows=tuple(rows), problems=tuple(problems))


def append_only_scope(base: Configs, head: Configs, selected: Mapping[str, Iterable[str]]) -> tuple[Problem, ...]:
    """What an append-only pull request may not touch: keys that its entries do not select, the set of scenarios, and,
    unless all scenarios are selected, the other scenarios and the fields above them."""
    problems: list[Problem] = []

    def report(key: str, message: str) -> None:
        entry = head.entry(key) or base.entry(key)
        master = head.master(key) or base.master(key)
        path = master.path if master else ""
        line = entry.line if entry else None
        problems.append(Problem(path=path, message=f"{key}: {message}", rule="append-only-scope", line=line))

    for key in dict.fromkeys((*head.keys, *base.keys)):
        if key not in selected and _differs(base, head, key):
            report(key, "it is changed, but no append-only entry selects it.")
    for key, scenarios in selected.items():
        old, new = base.entry(key), head.entry(key)
        if old is None or new is None:
            report(key, "an append-only entry selects it, but it is not on both sides.")
            continue
        _check_scenarios(key, old.fields, new.fields, set(scenarios), report)
    return tuple(problems)


def _check_scenarios(key: str, old: dict[str, Any], new: dict[str, Any], allowed: set[str], report: Any) -> None:
    old_scenarios, new_scenarios = old.get("scenarios"), new.get("scenarios")
    if not isinstance(old_scenarios, dict) or not isinstance(new_scenarios, dict):
        report(key, "its scenarios cannot be read.")
        return
    if old_scenarios.keys() != new_scenarios.keys():
        report(key, "a scenario is added or removed.")
    others = old_scenarios.keys() - allowed
    if others and _without_scenarios(old) != _without_scenarios(new):
        report(key, "fields above the scenarios are changed, and they reach scenarios that are not selected.")
    for scenario in sorted(others & new_scenarios.keys()):
        if old_scenarios[scenario] != new_scenarios[scenario]:
            report(key, f"the scenario {scenario} is changed, but not selected.")


def _without_scenarios(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name != "scenarios"}


def _differs(base: Configs, head: Configs, key: str) -> bool:
    old, new = base.master(key), head.master(key)
    if old is None or new is None:
        return True
    if old.same_block(new, key):
        return False
    before, after = base.entry(key), head.entry(key)
    return before is None or after is None or before.fields != after.fields


def _curves(rows: Iterable[ExpandedRow]) -> dict[bytes, tuple[set[float], ExpandedRow]]:
    found: dict[bytes, tuple[set[float], ExpandedRow]] = {}
    for item in rows:
        found.setdefault(curve(item.row), (set(), item))[0].update(concurrencies(item.row))
    return found


def _added(
    before: Mapping[bytes, tuple[set[float], ExpandedRow]], head: Iterable[ExpandedRow]
) -> Iterable[ExpandedRow]:
    """Each new concurrency once, in the head's order."""
    seen: dict[bytes, set[float]] = {}
    for item in head:
        identity = curve(item.row)
        known = seen.setdefault(identity, set(before[identity][0]) if identity in before else set())
        new = [conc for conc in dict.fromkeys(concurrencies(item.row)) if conc not in known]
        known.update(new)
        if not new:
            continue
        listed = isinstance(item.row.get("conc"), list)
        row: Row = {**item.row, "conc": new} if listed else item.row
        yield ExpandedRow(item.key, item.path, item.line, row)


def _series(row: Row) -> bytes:
    """The curve as the dashboard draws it: all points of it are one line there."""
    agentic = is_agentic(row)
    workers = [worker if isinstance(worker, dict) else {} for worker in (row.get("prefill"), row.get("decode"))]
    return canonical(
        [
            *(row.get(name) for name in ("model", "model-prefix", "precision", "framework", "runner")),
            bool(row.get("disagg", False)),
            agentic,
            *((None, None) if agentic else (row.get("isl"), row.get("osl"))),
            row.get("kv-offloading", "none") in (None, "", "none"),
            "" if agentic else row.get("spec-decoding", "none"),
            *(worker.get("hardware") for worker in workers),
        ]
    )


def _joined(concs: Iterable[float]) -> str:
    return ", ".join(str(conc) for conc in concs)
