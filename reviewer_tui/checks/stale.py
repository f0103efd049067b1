"""Stale evidence as findings: what would merge today beside what a sweep measured.

What the branch itself changed after the sweep waits for the reviewer's judgement: it may be inert. What main changed
under the sweep is a remark: the rule by its letter asks for a sweep of a commit in the pull request, and there is one.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator
from functools import lru_cache
from typing import Any, cast

import msgspec

from reviewer_tui.checks.check import Evidence
from reviewer_tui.checks.runs import Sweep, added_entries, configs_of, swept_tree
from reviewer_tui.checks.scope import sku
from reviewer_tui.model.config import Entry, FieldChange, KeyChange, Point
from reviewer_tui.model.errors import DataError
from reviewer_tui.model.finding import Finding, Status
from reviewer_tui.model.result import BenchmarkResult, EvalScore
from reviewer_tui.model.tree import Tree
from reviewer_tui.sweeps.changelog import resolve_keys
from reviewer_tui.sweeps.fields import shown
from reviewer_tui.sweeps.points import row_identity
from reviewer_tui.sweeps.rows import concurrencies
from reviewer_tui.sweeps.stale import StaleEvidence, stale_evidence

# What the name of a point's row repeats from the entry.
_DERIVED = frozenset({"exp-name"})
_MOST_NAMED = 4
_PULL = re.compile(r"/pull/(\d{1,9})\b")


def stale_findings(evidence: Evidence, sweep: Sweep) -> Iterator[Finding]:
    """What of a sweep no longer holds; nothing where all of it does."""
    tree = swept_tree(evidence, sweep.run)
    if tree is None:
        message = (
            f"stale evidence: what changed since the swept commit {sweep.run.head_sha[:9]} is not known, because its "
            "files were not read."
        )
        yield Finding(status=Status.UNVERIFIED, message=message, url=sweep.run.url or None)
        return
    try:
        # Main's files are read on the way, and a cache may lack some of them.
        found = list(_compared(evidence, sweep, tree))
    except DataError as error:
        message = f"stale evidence: what would merge is not known. {error}"
        found = [Finding(status=Status.UNVERIFIED, message=message, url=sweep.run.url or None)]
    yield from found


def _compared(evidence: Evidence, sweep: Sweep, tree: Tree) -> Iterator[Finding]:
    stale = _stale(evidence, tree, tuple(sweep.plan.scenarios))
    if stale is None:
        return
    for change in stale.keys:
        yield from _Change(evidence, sweep, tree, change).findings()
    for collision in stale.collisions:
        message = f"stale evidence: what would merge is not certain. {collision.message}"
        yield Finding(status=Status.WARN, message=message, path=collision.path, line=collision.line)


def _stale(evidence: Evidence, tree: Tree, keys: tuple[str, ...]) -> StaleEvidence | None:
    """None where the swept commit is the head and main has not moved."""
    trees = evidence.trees
    if tree is trees.head and evidence.snapshot.merge_base == evidence.snapshot.default_branch:
        return None
    parts = (cast(Hashable, part) for part in (tree, trees.head, trees.default_branch, trees.base))
    return _kept_stale(*parts, keys)


@lru_cache(maxsize=2)
def _kept_stale(swept: Any, head: Any, main: Any, base: Any, keys: tuple[str, ...]) -> StaleEvidence:
    return stale_evidence(swept, head, main, base, keys)


class Measured(msgspec.Struct, frozen=True):
    """What the rows of a run say that they measured for one config key; empty where no row says it."""

    models: frozenset[str]
    images: frozenset[str]


def measured(evidence: Evidence, sweep: Sweep, entry: Entry) -> Measured:
    """Model and image of the rows of a run whose prefix, hardware, framework, precision and speculation are those of an
    entry. Keys that share all of these share their rows."""
    rows: list[EvalScore | BenchmarkResult] = [*(evidence.snapshot.evals.value or ())]
    rows += evidence.snapshot.results.value or ()
    wanted = (entry.model_prefix, sku(entry.runner), entry.framework.lower(), entry.precision.lower())
    lanes = (ran.lane.row for ran in sweep.lanes if ran.lane.key == entry.key)
    speculation = {str(row.get("spec-decoding") or "none") for row in lanes}
    mine = [
        row
        for row in rows
        if row.run_id == sweep.run.id
        and row.spec_decoding in speculation
        and (row.model_prefix, sku(row.hardware), row.framework.lower(), row.precision.lower()) == wanted
    ]
    return Measured(
        models=frozenset(row.model for row in mine if row.model),
        images=frozenset(same_image(row.image) for row in mine if row.image),
    )


def same_image(reference: str) -> str:
    """An image reference with its registry's separator as everybody writes it (`#` stands for `/` in some configs)."""
    return reference.strip().replace("#", "/")


class _Change:
    """One swept key that would merge otherwise. `old` is as swept, `new` as it would merge."""

    def __init__(self, evidence: Evidence, sweep: Sweep, tree: Tree, change: KeyChange) -> None:
        self._evidence = evidence
        self._sweep = sweep
        self._change = change
        self._tree = tree
        self._all_by_main = tree is evidence.trees.head
        self._commit = sweep.run.head_sha[:9]

    def findings(self) -> Iterator[Finding]:
        change = self._change
        if change.old is None or change.new is None:
            what = "would no longer be there" if change.new is None else "was not there"
            status = Status.WARN if self._all_by_main else Status.JUDGEMENT
            yield self._finding(status, f"{change.key} {what} as it was swept at {self._commit}")
            return
        fields = [field for field in change.fields if not field.field.startswith("scenarios")]
        for field in fields:
            if not self._measured_already(field):
                yield self._field(field)
        yield from self._points(frozenset(field.field for field in fields))
        yield from self._files()

    def _field(self, field: FieldChange) -> Finding:
        by_main = self._all_by_main or _text(self._main_entry, field.field) == field.new
        old, new = field.old or "(absent)", field.new or "(absent)"
        message = f"{field.field} {old} was swept, {new} would merge: {self._who(by_main)} changed {self._change.key}"
        return self._finding(_status(by_main), message, field.new_line, expected=new, actual=old)

    def _measured_already(self, field: FieldChange) -> bool:
        """A sweep measures the branch merged into main: its rows may name the newer value already."""
        entry = self._change.new
        if entry is None or field.field not in ("model", "image"):
            return False
        rows = measured(self._evidence, self._sweep, entry)
        return {field.new} == rows.models if field.field == "model" else {same_image(field.new or "")} == rows.images

    def _points(self, fields: frozenset[str]) -> Iterator[Finding]:
        """Points that would merge and were not swept, or the other way round, apart from what the entry's own fields
        changed in all of them."""
        aside = fields | _DERIVED
        old = {row_identity(point.row, point.conc, aside): point for point in self._change.points_removed}
        new = {row_identity(point.row, point.conc, aside): point for point in self._change.points_added}
        added = {name: point for name, point in new.items() if name not in old}
        gone = [point for name, point in old.items() if name not in new]
        theirs = set(added) if self._all_by_main else set(added) & self._main_points(aside)
        for by_main in (False, True):
            points = [point for name, point in added.items() if (name in theirs) is by_main]
            if points:
                message = f"{_named(points)} would merge and {'was' if len(points) == 1 else 'were'} not swept"
                message += f": {self._who(by_main)} changed {self._change.key}"
                yield self._finding(_status(by_main), message, points[0].line)
        if gone:
            yield self._finding(Status.WARN, f"{_named(gone)} of {self._change.key} was swept and would not merge")

    def _files(self) -> Iterator[Finding]:
        """The files behind the key that differ."""
        trees = self._evidence.trees
        mine = [
            path
            for path in self._change.files
            # Changed since the sweep, and neither brought in from main nor left as it was on the merge base.
            if trees.head.blob(path)
            not in (self._tree.blob(path), trees.default_branch.blob(path), trees.base.blob(path))
        ]
        for by_main, paths in ((False, mine), (True, [path for path in self._change.files if path not in mine])):
            if paths:
                shown_paths = ", ".join(paths[:_MOST_NAMED]) + (" …" if len(paths) > _MOST_NAMED else "")
                message = f"{self._who(by_main)} changed what serves {self._change.key}: {shown_paths}"
                yield self._finding(_status(by_main), message, path=paths[0])

    @property
    def _main_entry(self) -> Entry | None:
        return configs_of(self._evidence.trees.default_branch).entry(self._change.key)

    def _main_points(self, aside: frozenset[str]) -> set[bytes]:
        rows = configs_of(self._evidence.trees.default_branch).expand([self._change.key], "none").rows
        return {row_identity(item.row, conc, aside) for item in rows for conc in concurrencies(item.row)}

    def _who(self, by_main: bool) -> str:
        if not by_main:
            return f"the branch has since {self._commit}"
        return f"main{_by_pull_requests(self._evidence, self._change.key)} has since"

    def _finding(
        self,
        status: Status,
        message: str,
        line: int | None = None,
        *,
        path: str | None = None,
        expected: str | None = None,
        actual: str | None = None,
    ) -> Finding:
        entry = self._change.new or self._change.old
        return Finding(
            status=status,
            message=f"stale evidence: {message}.",
            path=path or (entry.path if entry else None),
            line=line,
            commit=self._evidence.snapshot.default_branch if status is Status.WARN else self._evidence.snapshot.head,
            url=self._sweep.run.url or None,
            expected=expected,
            actual=actual,
        )


def _by_pull_requests(evidence: Evidence, key: str) -> str:
    """` (#2205)`: the pull requests whose changelog entries on main name a key since the merge base."""
    entries = added_entries(evidence.trees.base, evidence.trees.default_branch)
    links = (_PULL.search(entry.pr_link) for entry in entries if resolve_keys(entry, [key], "")[0])
    numbers = dict.fromkeys(f"#{link[1]}" for link in links if link)
    return f" ({', '.join(list(numbers)[:_MOST_NAMED])})" if numbers else ""


def _status(by_main: bool) -> Status:
    return Status.WARN if by_main else Status.JUDGEMENT


def _text(entry: Entry | None, field: str) -> str | None:
    """A field as field changes show it; None where it is absent."""
    node: Any = entry.fields if entry is not None else {}
    for name in field.split("."):
        if not isinstance(node, dict) or name not in node:
            return None
        node = node[name]
    return shown(node)


def _named(points: Iterable[Point]) -> str:
    """`8k1k tp2 ep2 mtp c16 c32`."""
    arms: dict[str, list[str]] = {}
    for point in points:
        arms.setdefault(point.label, []).append(f"c{point.conc}")
    named = [f"{label} {' '.join(concs)}" for label, concs in arms.items()]
    return ", ".join(named[:_MOST_NAMED]) + (
        f" and {len(named) - _MOST_NAMED} more arms" if len(named) > _MOST_NAMED else ""
    )
