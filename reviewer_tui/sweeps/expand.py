"""From entries to rows: what the repository's generator prints for `test-config`, field by field and in its order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from reviewer_tui.model.config import Entry
from reviewer_tui.model.finding import Problem
from reviewer_tui.sweeps.evals import EvalMode, apply_evals
from reviewer_tui.sweeps.rows import AGENTIC, FIXED, SCENARIOS, Row
from reviewer_tui.sweeps.rules import Feature, GeneratorRules
from reviewer_tui.sweeps.runners import Hardware, Runners

MAX_ROWS_PER_KEY = 5_000
MAX_CONCURRENCIES = 2_000
MAX_NUMBER = 1_000_000_000

_BYTES_PER_MIB = 1024 * 1024
_BYTES_PER_GB = 1_000_000_000
_COMPONENTS = ("router", "kv-p2p-transfer")
# Fields of a search-space row that the generator reads; what it does not know goes into the row as it is.
_READ_FIELDS = frozenset(
    {
        *("tp", "pp", "dcp-size", "pcp-size", "ep", "dp-attn", "spec-decoding", "prefill", "decode"),
        *("conc-start", "conc-end", "conc-list", "kv-offloading", "kv-offload-backend", "offloading"),
        *_COMPONENTS,
    }
)


class ExpandedRow(msgspec.Struct, frozen=True):
    """A row with where it comes from: the config key, and the line of its search-space row in the master config."""

    key: str
    path: str
    line: int
    row: Row


class Expansion(msgspec.Struct, frozen=True, kw_only=True):
    """The rows of some keys, and why other keys have none."""

    rows: tuple[ExpandedRow, ...]
    problems: tuple[Problem, ...] = ()

    def plain_rows(self) -> list[Row]:
        """The rows alone, as the generator prints them."""
        return [expanded.row for expanded in self.rows]


class _UnexpandableError(Exception):
    """An entry has no rows. `field` is the dotted path of what is at fault."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.message = message
        self.field = field


def expand_entries(
    entries: Iterable[Entry],
    runners: Runners,
    rules: GeneratorRules,
    evals: EvalMode = "default",
    scenarios: Sequence[str] = SCENARIOS,
) -> Expansion:
    """The rows of these entries as one invocation of the generator gives them.

    An entry that cannot be expanded becomes a problem (rule `unexpandable`); all others still expand.
    """
    expanded: list[ExpandedRow] = []
    problems: list[Problem] = []
    for entry in entries:
        try:
            expanded.extend(_Expander(entry, runners, rules).rows(scenarios))
        except _UnexpandableError as fault:
            message = f"{entry.key} cannot be expanded: {fault.message}"
            line = entry.line_of(fault.field)
            problems.append(Problem(path=entry.path, message=message, rule="unexpandable", line=line))
    rows = apply_evals([item.row for item in expanded], evals, rules)
    return Expansion(
        rows=tuple(
            item if item.row is row else ExpandedRow(item.key, item.path, item.line, row)
            for item, row in ((expanded[place], row) for place, row in rows)
        ),
        problems=tuple(problems),
    )


def matching_keys(patterns: Iterable[str], keys: Sequence[str]) -> tuple[list[str], list[str]]:
    """The keys that names and patterns (`*`, `?`) mean, in order and once each, and the patterns without a key."""
    found: dict[str, None] = {}
    missing: list[str] = []
    known = set(keys)
    for pattern in patterns:
        matches = [key for key in keys if fnmatchcase(key, pattern)] if set("*?") & set(pattern) else [pattern]
        matches = [key for key in matches if key in known]
        if not matches:
            missing.append(pattern)
        found.update(dict.fromkeys(matches))
    return list(found), missing


class _Expander:
    """One entry on its way to rows."""

    def __init__(self, entry: Entry, runners: Runners, rules: GeneratorRules) -> None:
        self._entry = entry
        self._runners = runners
        self._rules = rules
        self._multinode = bool(entry.fields.get("multinode", False))
        self._count = 0

    def rows(self, scenarios: Sequence[str]) -> list[ExpandedRow]:
        fields = self._entry.fields
        names = ("image", "model", "model-prefix", "precision", "framework", "runner")
        common = {name: _need(fields, name, name) for name in names}
        rows: list[ExpandedRow] = []
        for scenario in SCENARIOS:
            if scenario not in scenarios:
                continue
            place, items = self._items(scenario)
            for index, item in enumerate(items):
                where = f"{place}.{index}"
                rows.extend(self._scenario(common, scenario, _need_mapping(item, where), where))
        return rows

    def _items(self, scenario: str) -> tuple[str, list[Any]]:
        """The path and the items of a scenario; until May 2026 entries had a list of sequence lengths only."""
        fields = self._entry.fields
        if "scenarios" not in fields and "seq-len-configs" in fields:
            items = fields["seq-len-configs"] if scenario == FIXED else []
            return "seq-len-configs", _need_list(items, "seq-len-configs")
        declared = _need_mapping(_need(fields, "scenarios", "scenarios"), "scenarios")
        place = f"scenarios.{scenario}"
        return place, _need_list(declared.get(scenario, []), place)

    def _scenario(self, common: Row, scenario: str, item: dict[str, Any], where: str) -> list[ExpandedRow]:
        rows: list[ExpandedRow] = []
        if scenario == FIXED:
            lengths = (_need(item, "isl", where), _need(item, "osl", where))
            if not all(isinstance(length, int | float) and abs(length) < MAX_NUMBER for length in lengths):
                raise _UnexpandableError("`isl` and `osl` must be numbers below a billion.", where)
        space = _need_list(_need(item, "search-space", where), f"{where}.search-space")
        for index, arm in enumerate(space):
            place = f"{where}.search-space.{index}"
            arm = _need_mapping(arm, place)
            line = self._entry.line_of(place)
            if scenario == FIXED:
                made = self._fixed(common, lengths, arm, place)
            else:
                made = self._agentic(common, item, arm, place)
            self._count += len(made)
            if self._count > MAX_ROWS_PER_KEY:
                raise _UnexpandableError(f"It has more than {MAX_ROWS_PER_KEY:,} rows.", place)
            rows.extend(ExpandedRow(self._entry.key, self._entry.path, line, row) for row in made)
        return rows

    def _fixed(self, common: Row, lengths: tuple[int, int], arm: dict[str, Any], place: str) -> list[Row]:
        isl, osl = lengths
        head = {**common, "isl": isl, "osl": osl}
        name = f"{common['model-prefix']}_{self._rules.sequence_name(isl, osl)}"
        concs = _concurrencies(arm, place, empty_list_counts=True)
        tail = {
            "max-model-len": isl + osl + 256,
            "exp-name": name,
            "disagg": self._entry.fields.get("disagg", False),
            "run-eval": False,
            **self._extras(arm, place),
        }
        speculation = arm.get("spec-decoding", "none")
        if self._multinode:
            workers = self._workers(arm, place)
            return [{**head, "spec-decoding": speculation, **workers, "conc": concs, **tail}]
        parallelism = self._parallelism(arm, place)
        ends = {"ep": _or(arm.get("ep"), 1), "dp-attn": _or(arm.get("dp-attn"), False), "spec-decoding": speculation}
        length = tail.pop("max-model-len")
        return _copies({**head, **parallelism, "conc": None, "max-model-len": length, **ends, **tail}, concs)

    def _agentic(self, common: Row, item: dict[str, Any], arm: dict[str, Any], place: str) -> list[Row]:
        if self._multinode:
            return self._agentic_multinode(common, item, arm, place)
        return self._agentic_single(common, item, arm, place)

    def _agentic_multinode(self, common: Row, item: dict[str, Any], arm: dict[str, Any], place: str) -> list[Row]:
        rules = self._rules
        workers = self._workers(arm, place)
        offloads = rules.has(Feature.MULTINODE_OFFLOADING)
        offloading = arm.get("kv-offloading", "none") if offloads else "none"
        backend = arm.get("kv-offload-backend") if offloads else None
        budget = self._budget(item, arm, place) if rules.has(Feature.MULTINODE_BUDGET) else 0
        concs = _concurrencies(arm, place)
        if rules.has(Feature.KV_OFFLOADING):
            size = rules.agentic_concs_per_row
            batches: list[Any] = [concs[start : start + size] for start in range(0, len(concs), size)]
        else:
            batches = list(concs)
        if offloading == "none" and backend is not None:
            raise _UnexpandableError("a `kv-offload-backend` needs `kv-offloading`.", place)
        suffix = f"_{self._offload_name(offloading, backend, place)}" if offloading != "none" else ""
        row: Row = {**common, "spec-decoding": arm.get("spec-decoding", "none"), **workers, "conc": None}
        if rules.has(Feature.KV_OFFLOADING):
            row["kv-offloading"] = offloading
        if rules.has(Feature.MULTINODE_BUDGET):
            row["total-cpu-dram-gb"] = budget
        row["duration"] = self._duration(item)
        row["exp-name"] = f"{common['model-prefix']}_{self._topology_name(workers)}_conc"
        row["disagg"] = self._entry.fields.get("disagg", False)
        row["scenario-type"] = AGENTIC
        if backend is not None:
            row["kv-offload-backend"] = backend
        return _copies({**row, **self._extras(arm, place)}, batches, suffix)

    def _agentic_single(self, common: Row, item: dict[str, Any], arm: dict[str, Any], place: str) -> list[Row]:
        rules = self._rules
        head = {**common, **self._parallelism(arm, place), "ep": _or(arm.get("ep"), 1)}
        head["dp-attn"] = _or(arm.get("dp-attn"), False)
        speculation = arm.get("spec-decoding", "none") if rules.has(Feature.AGENTIC_SPECULATION) else "none"
        if rules.has(Feature.AGENTIC_SPECULATION):
            head["spec-decoding"] = speculation
        if not rules.has(Feature.KV_OFFLOADING):
            offloading = arm.get("offloading", "none")
            tail: Row = {"offloading": offloading, "duration": self._duration(item)}
            end = f"_offload{offloading}"
            backend = None
        else:
            offloading = _need(arm, "kv-offloading", place)
            backend = arm.get("kv-offload-backend")
            budget = self._budget(item, arm, place)
            tail = {"kv-offloading": offloading, "total-cpu-dram-gb": budget, "duration": self._duration(item)}
            end = f"_{self._offload_name(offloading, backend, place)}"
            end += f"_spec-{speculation}" if speculation != "none" else ""
        name = f"{common['model-prefix']}_tp{arm.get('tp')}_conc"
        row = {**head, "conc": None, **tail, "exp-name": name, "scenario-type": AGENTIC}
        if backend is not None:
            row["kv-offload-backend"] = backend
        return _copies({**row, **self._extras(arm, place)}, _concurrencies(arm, place), end)

    def _parallelism(self, arm: dict[str, Any], place: str) -> Row:
        rules = self._rules
        fields: Row = {"tp": _need(arm, "tp", place)}
        if rules.has(Feature.PIPELINE_PARALLEL):
            fields["pp"] = arm.get("pp", 1)
        if rules.has(Feature.CONTEXT_PARALLEL):
            fields["dcp-size"] = arm.get("dcp-size", 1)
            fields["pcp-size"] = arm.get("pcp-size", 1)
        return fields

    def _workers(self, arm: dict[str, Any], place: str) -> Row:
        return {role: self._worker(_need(arm, role, place), f"{place}.{role}") for role in ("prefill", "decode")}

    def _worker(self, value: Any, place: str) -> Row:
        worker = _need_mapping(value, place)
        if not self._rules.has(Feature.WORKER_DEFAULTS):
            return worker
        if "dcp_size" in worker or "pcp_size" in worker:
            raise _UnexpandableError("`dcp_size` and `pcp_size` are written with a hyphen in the rows.", place)
        return {**worker, **{name: worker.get(name, 1) for name in ("pp", "dcp-size", "pcp-size")}}

    def _extras(self, arm: dict[str, Any], place: str) -> Row:
        """`router` and `kv-p2p-transfer` of the row or else of the entry, and fields that only a newer generator knows:
        so that a change of them is seen as a change of the points."""
        extras: Row = {}
        if self._rules.has(Feature.COMPONENTS):
            for name in _COMPONENTS:
                value = arm.get(name, self._entry.fields.get(name))
                if value is not None:
                    extras[name] = value
            if self._multinode and self._entry.disagg and "kv-p2p-transfer" not in extras:
                raise _UnexpandableError("`disagg: true` needs `kv-p2p-transfer` in every row.", place)
        for name, value in arm.items():
            if name not in _READ_FIELDS and str(name).replace("_", "-") not in _READ_FIELDS:
                extras[str(name)] = value
        return extras

    def _duration(self, item: dict[str, Any]) -> Any:
        if self._rules.has(Feature.KV_OFFLOADING):
            return self._rules.agentic_duration
        return item.get("duration", 1800)

    def _offload_name(self, offloading: Any, backend: Any, place: str) -> str:
        if offloading == "none":
            return "kvnone"
        if not self._rules.has(Feature.COMPONENTS):
            return f"kv{offloading}-{backend}"
        name = backend.get("name") if isinstance(backend, dict) else None
        if name is None:
            raise _UnexpandableError("`kv-offload-backend` has no name.", f"{place}.kv-offload-backend")
        return f"kv{offloading}-{name}"

    def _topology_name(self, workers: Row) -> str:
        return "_".join(self._worker_name(workers[role], role[0]) for role in ("prefill", "decode"))

    def _worker_name(self, worker: dict[str, Any], letter: str) -> str:
        place = f"scenarios.{AGENTIC}"
        name = f"{letter}{_need(worker, 'num-worker', place)}x{_need(worker, 'tp', place)}"
        if not self._rules.has(Feature.MULTINODE_AGENTIC_EVALS):
            return name
        ep = worker.get("ep", 1)
        return f"{name}{f'ep{ep}' if ep != 1 else ''}{'dpa' if worker.get('dp-attn', False) else ''}"

    def _budget(self, item: dict[str, Any], arm: dict[str, Any], place: str) -> int:
        """Memory for offloaded KV of one server, in GB: the node's share of its GPUs, in exact decimal arithmetic."""
        if arm.get("kv-offloading", "none") != "dram":
            return 0
        hardware = self._hardware(place)
        utilization = item.get("dram-utilization")
        if not isinstance(utilization, int | float) or isinstance(utilization, bool) or not 0 < utilization <= 1:
            raise _UnexpandableError("offloading to memory needs a `dram-utilization` above 0 and at most 1.", place)
        assert hardware.available_cpu_dram_mib is not None
        assert hardware.gpus_per_node is not None
        if "prefill" in arm and self._rules.has(Feature.MULTINODE_BUDGET):
            gpus = _gpus_on_node(_need_mapping(arm["prefill"], place), hardware.gpus_per_node, f"{place}.prefill")
        else:
            gpus = _gpus(arm, place)
            if gpus > hardware.gpus_per_node:
                label = self._entry.runner
                message = f"{gpus} GPUs do not fit on a node of {label} with {hardware.gpus_per_node}."
                raise _UnexpandableError(message, place)
        available = min(hardware.available_cpu_dram_mib, self._rules.dram_cap_mib)
        share = Decimal(available) * _BYTES_PER_MIB * Decimal(str(utilization)) * gpus / hardware.gpus_per_node
        return int(share / _BYTES_PER_GB)

    def _hardware(self, place: str) -> Hardware:
        label = self._entry.runner
        hardware = self._runners.hardware.get(label)
        if hardware is None or hardware.available_cpu_dram_mib is None or hardware.gpus_per_node is None:
            where = self._runners.path or "the runners file"
            message = f"offloading to memory needs the hardware of runner {label!r}, which {where} does not give."
            raise _UnexpandableError(message, place)
        return hardware


def _copies(row: Row, concs: Sequence[Any], name_end: str | None = None) -> list[Row]:
    """The row once for each concurrency (or batch of them); with `name_end` the name takes in both."""
    rows: list[Row] = []
    for conc in concs:
        made = row.copy()
        made["conc"] = conc
        if name_end is not None:
            shown = "x".join(map(str, conc)) if isinstance(conc, list) else conc
            made["exp-name"] = f"{row['exp-name']}{shown}{name_end}"
        rows.append(made)
    return rows


def _or(value: Any, otherwise: Any) -> Any:
    return otherwise if value is None else value


def _need(holder: dict[str, Any], name: str, place: str) -> Any:
    if name not in holder:
        raise _UnexpandableError(f"`{name}` is missing.", place)
    return holder[name]


def _need_list(value: Any, place: str) -> list[Any]:
    if not isinstance(value, list):
        raise _UnexpandableError(f"`{place.rpartition('.')[2]}` is no list.", place)
    return value


def _need_mapping(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _UnexpandableError("a mapping is expected here.", place)
    return value


def _concurrencies(arm: dict[str, Any], place: str, *, empty_list_counts: bool = False) -> list[Any]:
    """`conc-list` as it stands, or the range doubled from start to end, the end included.

    An empty list counts as one for fixed sequence lengths (nothing is run then); agentic rows look at the range.
    """
    listed = arm.get("conc-list")
    if listed or (empty_list_counts and "conc-list" in arm):
        values = _need_list(listed, f"{place}.conc-list")
        if len(values) > MAX_CONCURRENCIES:
            raise _UnexpandableError(f"it lists more than {MAX_CONCURRENCIES:,} concurrencies.", f"{place}.conc-list")
        if any(isinstance(value, int | float) and not abs(value) < MAX_NUMBER for value in values):
            raise _UnexpandableError("concurrencies must be below a billion.", f"{place}.conc-list")
        return values
    start, end = _need(arm, "conc-start", place), _need(arm, "conc-end", place)
    if not all(isinstance(value, int | float) and 0 < value < MAX_NUMBER for value in (start, end)):
        message = "`conc-start` and `conc-end` must be positive numbers below a billion."
        raise _UnexpandableError(message, f"{place}.conc-start")
    values = []
    conc = start
    while conc < end:
        values.append(conc)
        conc *= 2
    return [*values, min(conc, end)] if start <= end else []


def _gpus(holder: dict[str, Any], place: str) -> int:
    factors = (_need(holder, "tp", place), holder.get("pp", 1), holder.get("pcp-size", 1))
    if not all(isinstance(factor, int) and factor > 0 for factor in factors):
        raise _UnexpandableError("`tp`, `pp` and `pcp-size` must be positive whole numbers.", place)
    tensor, pipeline, context = factors
    return int(tensor * pipeline * context)


def _gpus_on_node(worker: dict[str, Any], gpus_per_node: int, place: str) -> int:
    """The GPUs of one replica on one node; a replica must tile its nodes."""
    gpus = _gpus(worker, place)
    if gpus > gpus_per_node:
        if gpus % gpus_per_node:
            raise _UnexpandableError(f"{gpus} GPUs do not fill whole nodes of {gpus_per_node}.", place)
        return gpus_per_node
    if gpus_per_node % gpus:
        raise _UnexpandableError(f"{gpus} GPUs do not divide a node of {gpus_per_node}.", place)
    return gpus
