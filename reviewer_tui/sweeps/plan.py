"""The plan of a sweep: which lanes the entries that a pull request adds to the changelog cause, and which they do not.

Source: `process_changelog.py` and the canary step of `run-sweep.yml` in the repository.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from reviewer_tui.model.config import ConfigChanges, KeyChange
from reviewer_tui.model.finding import Problem
from reviewer_tui.sweeps.append_only import append_only_delta, append_only_scope
from reviewer_tui.sweeps.changelog import ChangelogEntry, resolve_keys
from reviewer_tui.sweeps.configs import Configs
from reviewer_tui.sweeps.evals import EvalMode
from reviewer_tui.sweeps.expand import ExpandedRow
from reviewer_tui.sweeps.lanes import EVAL_FAMILIES, THROUGHPUT_FAMILIES, Family, Lane, family_of
from reviewer_tui.sweeps.rows import FIXED, SCENARIOS, Row, canonical, concurrencies, is_multinode
from reviewer_tui.sweeps.rules import Feature

TRIMMED_LABEL = "sweep-enabled"
CANARY_LABELS = frozenset({"full-sweep-enabled", "full-sweep-fail-fast"})
FULL_SWEEP_LABELS = CANARY_LABELS | {"full-sweep-fail-fast-no-canary", "non-canary-full-sweep-enabled"}
PRIMARY_LABELS = FULL_SWEEP_LABELS | {TRIMMED_LABEL}


class SweepPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The lanes of a sweep, in the order of the repository's buckets.

    `unread` are rows whose sequence lengths no job of the workflow reads: they never run. `scenarios` holds what the
    entries run: config key to scenarios. `append_only` says that the sweep runs additions only, without any eval.
    """

    lanes: tuple[Lane, ...]
    unread: tuple[ExpandedRow, ...] = ()
    scenarios: dict[str, tuple[str, ...]] = {}
    append_only: bool = False
    problems: tuple[Problem, ...] = ()

    def family(self, family: Family) -> tuple[Lane, ...]:
        """The lanes of one family, its canary included."""
        return tuple(lane for lane in self.lanes if lane.family == family)

    @property
    def counts(self) -> dict[Family, int]:
        """How many lanes each family needs, a canary counted in its family; families without lanes are left out."""
        return {
            family: len(lanes) for family in (*THROUGHPUT_FAMILIES, *EVAL_FAMILIES) if (lanes := self.family(family))
        }

    @property
    def canary(self) -> Lane | None:
        """The lane that runs first and alone; where it fails, every other lane is skipped."""
        return next((lane for lane in self.lanes if lane.canary), None)


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """Changed keys against swept keys: `uncovered` holds changed scenarios that no entry runs, `rerun` swept keys that
    did not change."""

    covered: tuple[str, ...] = ()
    uncovered: dict[str, tuple[str, ...]] = {}
    rerun: tuple[str, ...] = ()


def plan_sweep(
    entries: Sequence[ChangelogEntry],
    head: Configs,
    base: Configs | None = None,
    labels: Iterable[str] = (),
    path: str = "perf-changelog.yaml",
) -> SweepPlan:
    """The lanes that these entries cause with the configs of `head`.

    `base` is what append-only entries add to; without it they have no lanes and a problem says so. Of `labels` count
    `sweep-enabled`, `all-evals`, `evals-only` and those that ask for a canary.
    """
    return _Planner(entries, head, base, frozenset(labels), path).plan()


def coverage(changes: ConfigChanges, plan: SweepPlan) -> Coverage:
    """Which changed keys the sweep runs, which it does not, and which it runs although nothing changed in them."""
    changed = {change.key: change for change in changes.keys if change.new is not None}
    uncovered: dict[str, tuple[str, ...]] = {}
    for key, change in changed.items():
        missing = tuple(name for name in _scenarios_of(change) if name not in plan.scenarios.get(key, ()))
        if missing:
            uncovered[key] = missing
    return Coverage(
        covered=tuple(key for key in changed if key in plan.scenarios and key not in uncovered),
        uncovered=uncovered,
        rerun=tuple(key for key in plan.scenarios if key not in changed),
    )


def _scenarios_of(change: KeyChange) -> tuple[str, ...]:
    """The scenarios in which something to run changed: those with new points; or all, where only files changed."""
    assert change.new is not None
    touched = {point.scenario for point in change.points_added}
    if not touched and not change.points_removed:
        touched = set(change.new.scenarios)
    return tuple(name for name in change.new.scenarios if name in touched)


class _Planner:
    def __init__(
        self,
        entries: Sequence[ChangelogEntry],
        head: Configs,
        base: Configs | None,
        labels: frozenset[str],
        path: str,
    ) -> None:
        self._entries = entries
        self._head = head
        self._base = base
        self._labels = labels
        self._path = path
        self._problems: list[Problem] = []
        # The repository reads the files in alphabetical order here; patterns name keys in that order.
        self._keys = [key for master in sorted(head.masters, key=lambda master: master.path) for key in master.keys]

    def plan(self) -> SweepPlan:
        resolved = [(entry, self._resolve(entry)) for entry in self._entries]
        append_only = any(entry.append_only for entry in self._entries)
        if append_only:
            self._check_append_only(resolved)
        # Entries with `all-evals` come first, so that their wider choice wins for a key that others name too.
        resolved.sort(key=lambda item: not item[0].all_evals)
        benchmarks = self._benchmarks(resolved)
        evals = self._evals(resolved)
        if TRIMMED_LABEL in self._labels:
            benchmarks = trim(benchmarks)
        lanes, unread = self._lanes(benchmarks, evals)
        scenarios: dict[str, tuple[str, ...]] = {}
        for entry, keys in resolved:
            for key in keys:
                named = {*scenarios.get(key, ()), *entry.scenarios}
                scenarios[key] = tuple(name for name in SCENARIOS if name in named)
        return SweepPlan(
            lanes=tuple(lanes),
            unread=tuple(unread),
            scenarios=scenarios,
            append_only=append_only,
            problems=tuple(self._problems),
        )

    def _resolve(self, entry: ChangelogEntry) -> list[str]:
        keys, problems = resolve_keys(entry, self._keys, self._path)
        self._problems.extend(problems)
        return keys

    def _check_append_only(self, resolved: Sequence[tuple[ChangelogEntry, list[str]]]) -> None:
        if not all(entry.append_only for entry in self._entries):
            self._report("append-only-mixed", "Append-only entries cannot share a sweep with other entries.")
        if self._labels & {"all-evals", "evals-only"}:
            self._report("append-only-label", "Append-only sweeps cannot have the labels all-evals or evals-only.")
        if self._base is None:
            self._report("append-only-base", "Append-only entries need the base's configs to tell what they add.")
            return
        selected: dict[str, set[str]] = {}
        for entry, keys in resolved:
            for key in keys:
                selected.setdefault(key, set()).update(entry.scenarios)
        self._problems.extend(append_only_scope(self._base, self._head, selected))

    def _report(self, rule: str, message: str) -> None:
        line = self._entries[0].line if self._entries else None
        self._problems.append(Problem(path=self._path, message=message, rule=rule, line=line))

    def _benchmarks(self, resolved: Sequence[tuple[ChangelogEntry, list[str]]]) -> list[ExpandedRow]:
        seen: dict[str, set[str]] = {}
        rows: list[ExpandedRow] = []
        for entry, keys in resolved:
            if "evals-only" in self._labels or entry.evals_only or entry.all_evals:
                continue
            for scenarios, group in _unseen(entry, keys, seen):
                made = self._expand(group, "none", scenarios)
                rows.extend(self._added(group, scenarios, made) if entry.append_only else made)
        return rows

    def _added(self, keys: Sequence[str], scenarios: Sequence[str], made: Sequence[ExpandedRow]) -> list[ExpandedRow]:
        if self._base is None:
            return []
        before = self._base.expand(keys, "none", scenarios)
        delta = append_only_delta(before.rows, made, self._path)
        self._problems.extend(delta.problems)
        return list(delta.rows)

    def _evals(self, resolved: Sequence[tuple[ChangelogEntry, list[str]]]) -> list[ExpandedRow]:
        agentic = self._head.rules.has(Feature.AGENTIC_EVALS)
        seen: dict[str, set[str]] = {}
        rows: list[ExpandedRow] = []
        for entry, keys in resolved:
            if entry.append_only:
                continue
            mode: EvalMode = "all" if "all-evals" in self._labels or entry.all_evals else "only"
            for scenarios, group in _unseen(entry, keys, seen):
                wanted = scenarios if agentic else tuple(name for name in scenarios if name == FIXED)
                made = self._expand(group, mode, wanted) if wanted else ()
                rows.extend(item for item in made if _prefill_ep_at_least(item.row, entry.eval_min_prefill_ep))
        return rows

    def _expand(self, keys: Sequence[str], mode: EvalMode, scenarios: Sequence[str]) -> tuple[ExpandedRow, ...]:
        expansion = self._head.expand(keys, mode, scenarios)
        self._problems.extend(problem for problem in expansion.problems if problem not in self._problems)
        return expansion.rows

    def _lanes(
        self, benchmarks: Sequence[ExpandedRow], evals: Sequence[ExpandedRow]
    ) -> tuple[list[Lane], list[ExpandedRow]]:
        by_family: dict[Family, list[ExpandedRow]] = {}
        unread: list[ExpandedRow] = []
        for item in (*benchmarks, *evals):
            family = family_of(item.row, self._head.rules)
            if family is None:
                unread.append(item)
            else:
                by_family.setdefault(family, []).append(item)
        canary = self._canary(by_family)
        lanes = [
            Lane(family=family, key=item.key, row=item.row, line=item.line, canary=item is canary)
            for family in (*THROUGHPUT_FAMILIES, *EVAL_FAMILIES)
            for item in by_family.get(family, ())
        ]
        return lanes, unread

    def _canary(self, by_family: dict[Family, list[ExpandedRow]]) -> ExpandedRow | None:
        """The row with the lowest concurrency of the single-node families with fixed lengths; the first of equals."""
        if not self._labels & CANARY_LABELS:
            return None
        candidates = [*by_family.get("single-node 1k1k", ()), *by_family.get("single-node 8k1k", ())]
        return min(candidates, key=lambda item: min(concurrencies(item.row), default=0), default=None)


def _unseen(
    entry: ChangelogEntry, keys: Iterable[str], seen: dict[str, set[str]]
) -> list[tuple[tuple[str, ...], list[str]]]:
    """The keys of an entry grouped by the scenarios of it that no entry before has taken; those are taken now."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for key in keys:
        taken = seen.setdefault(key, set())
        scenarios = tuple(name for name in entry.scenarios if name not in taken)
        if scenarios:
            taken.update(scenarios)
            groups.setdefault(scenarios, []).append(key)
    return list(groups.items())


def trim(rows: Sequence[ExpandedRow]) -> list[ExpandedRow]:
    """What `sweep-enabled` leaves of benchmark rows: of each configuration the lowest concurrency."""
    lowest: dict[bytes, int] = {}
    for index, item in enumerate(rows):
        if is_multinode(item.row):
            continue
        configuration = canonical({name: value for name, value in item.row.items() if name not in ("conc", "exp-name")})
        best = lowest.setdefault(configuration, index)
        if min(concurrencies(item.row), default=0) < min(concurrencies(rows[best].row), default=0):
            lowest[configuration] = index
    kept = set(lowest.values())
    trimmed: list[ExpandedRow] = []
    for index, item in enumerate(rows):
        conc = item.row.get("conc")
        if is_multinode(item.row):
            row = (
                {**item.row, "conc": [min(concurrencies(item.row))]}
                if isinstance(conc, list) and len(conc) > 1
                else item.row
            )
            trimmed.append(ExpandedRow(item.key, item.path, item.line, row))
        elif index in kept:
            trimmed.append(item)
    return trimmed


def _prefill_ep_at_least(row: Row, threshold: int | None) -> bool:
    prefill = row.get("prefill")
    if threshold is None or not isinstance(prefill, dict):
        return True
    ep = prefill.get("ep", 1)
    return isinstance(ep, int) and ep >= threshold
