"""The schema of master configs, rule by rule, as located problems (source: `utils/matrix_logic/validation.py`).

Most rules refuse: the repository's generator then prints nothing at all, for no key. The rules in `REMARKS` do not
refuse, but what the author wrote does not do what it seems to. Fields that only a newer generator knows are named as
unknown; where the generator is not recognised that is a remark.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from reviewer_tui.model.config import Entry
from reviewer_tui.model.finding import Problem
from reviewer_tui.sweeps.rows import canonical
from reviewer_tui.sweeps.rules import Feature, GeneratorRules
from reviewer_tui.sweeps.runners import CLUSTER_PREFIX, Runners

MAX_PROBLEMS = 60
MAX_NUMBER_TEXT = 300

REMARKS = frozenset(
    {"snake-case", "empty-list-with-range", "list-with-half-range", "undefined-runner", "ignored-field"}
)

_NUMBER_TEXT = re.compile(r"\s*[+-]?[0-9]+(?:_[0-9]+)*(?:\.0+)?\s*$")
_BOOL_TEXT = frozenset({"0", "off", "f", "false", "n", "no", "1", "on", "t", "true", "y", "yes"})
_SPECULATION = ("mtp", "draft_model", "none")
_JULY_OFFLOADING = ("none", "dram")
_JUNE_OFFLOADING = ("none", "cpu", "ssd", "lmcache", "lmcache-mp", "hicache")

Test = Callable[["_Checker", Any, str], None]


class _Schema:
    """What a mapping may hold: name to (required, test of the value)."""

    def __init__(self, fields: dict[str, tuple[bool, Test]]) -> None:
        self.fields = fields
        self.required = tuple(name for name, (required, _) in fields.items() if required)
        self.spelled = {name.replace("-", "_"): name for name in fields}


def check_entry(
    entry: Entry, rules: GeneratorRules, runners: Runners | None = None, faultless: set[bytes] | None = None
) -> tuple[Problem, ...]:
    """All faults of an entry, each with path, line and rule; at most `MAX_PROBLEMS`.

    With `runners`, a runner label that is not defined there is remarked. `faultless` remembers rows without faults
    from one entry to the next: versions of an entry have most of them in common.
    """
    checker = _Checker(entry, rules, set() if faultless is None else faultless)
    checker.entry(runners)
    return tuple(checker.problems)


def refuses(problem: Problem) -> bool:
    """Whether the repository's generator refuses because of this problem."""
    return problem.rule not in REMARKS


class _Checker:
    def __init__(self, entry: Entry, rules: GeneratorRules, faultless: set[bytes]) -> None:
        self._entry = entry
        self._rules = rules
        self._faultless = faultless
        self.problems: list[Problem] = []

    def report(self, place: str, rule: str, message: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            line = self._entry.line_of(place)
            text = f"{self._entry.key}: {message}"
            self.problems.append(Problem(path=self._entry.path, message=text, rule=rule, line=line))

    def entry(self, runners: Runners | None) -> None:
        fields = self._entry.fields
        multinode = _truthy(fields.get("multinode"))
        listed = self._rules.feature == Feature.BASE and "scenarios" not in fields
        self.mapping(fields, _entry_schema(self._rules.feature, multinode, listed), "")
        self._scope(multinode)
        label = self._entry.runner
        agentic = isinstance(fields.get("scenarios"), dict) and fields["scenarios"].get("agentic-coding")
        if agentic and label and not label.startswith(CLUSTER_PREFIX) and self._rules.has(Feature.KV_OFFLOADING):
            self.report("runner", "agentic-runner", f"an agentic key needs a `{CLUSTER_PREFIX}` runner, not {label!r}.")
        if runners is not None and label and runners.labels and not runners.knows(label):
            self.report("runner", "undefined-runner", f"the runner label {label!r} is not defined in {runners.path}.")

    def mapping(self, value: Any, schema: _Schema, place: str) -> None:
        """Check a mapping field by field."""
        if not isinstance(value, dict):
            self.report(place, "type", f"`{place or 'the entry'}` must be a mapping.")
            return
        start = f"{place}." if place else ""
        for name, item in value.items():
            known = schema.fields.get(name)
            if known is not None:
                known[1](self, item, f"{start}{name}")
                continue
            meant = schema.spelled.get(name)
            if meant is None or meant in value:
                self.report(f"{start}{name}", "unknown-field", f"the field `{start}{str(name)[:80]}` is unknown.")
            else:
                text = f"`{start}{name}` is accepted, but the generator reads only `{meant}`: its value is dropped."
                self.report(f"{start}{name}", "snake-case", text)
                schema.fields[meant][1](self, item, f"{start}{name}")
        for name in schema.required:
            if name not in value and name.replace("-", "_") not in value:
                self.report(place, "missing-field", f"`{start}{name}` is missing.")

    def arms(self, value: Any, test: Test, place: str) -> None:
        """Check the rows of a search space, each that is not known to be faultless."""
        kind = f"{test.__name__} {self.multinode} {self._rules.feature:d}".encode()

        def check(checker: _Checker, arm: Any, where: str) -> None:
            name = kind + canonical(arm)
            if name not in self._faultless:
                before = len(self.problems)
                test(checker, arm, where)
                if len(self.problems) == before < MAX_PROBLEMS:
                    self._faultless.add(name)

        _each(self, value, place, check)

    @property
    def rules(self) -> GeneratorRules:
        return self._rules

    @property
    def multinode(self) -> bool:
        return _truthy(self._entry.fields.get("multinode"))

    def _scope(self, multinode: bool) -> None:
        """`router` and `kv-p2p-transfer` stand at the top or in the rows, not in both; `disagg` needs a transfer."""
        if not self._rules.has(Feature.COMPONENTS):
            return
        fields = self._entry.fields
        arms = list(_arms(fields.get("scenarios")))
        for name in ("router", "kv-p2p-transfer"):
            top = _either(fields, name) is not None and (name == "router" or multinode)
            first = next((place for place, arm in arms if _either(arm, name) is not None), None)
            if top and first is not None:
                self.report(
                    f"{first}.{name}", "declared-twice", f"`{name}` stands at the top and in rows; one is wrong."
                )
        transfers = [_either(arm, "kv-p2p-transfer") is not None for _, arm in arms]
        if not multinode and any(transfers):
            place = arms[transfers.index(True)][0]
            self.report(place, "multinode-only", "`kv-p2p-transfer` is for multi-node keys only.")
        top_transfer = _either(fields, "kv-p2p-transfer") is not None
        if multinode and _truthy(fields.get("disagg")) and not top_transfer and not (arms and all(transfers)):
            place = next((place for (place, _), has in zip(arms, transfers, strict=True) if not has), "disagg")
            self.report(place, "disagg-transfer", "`disagg: true` needs `kv-p2p-transfer` at the top or in every row.")


def _arms(scenarios: Any) -> Iterable[tuple[str, dict[Any, Any]]]:
    if not isinstance(scenarios, dict):
        return
    for scenario in ("fixed-seq-len", "agentic-coding"):
        items = _either(scenarios, scenario)
        name = scenario if scenario in scenarios else scenario.replace("-", "_")
        for index, item in enumerate(items if isinstance(items, list) else ()):
            space = _either(item, "search-space") if isinstance(item, dict) else None
            for number, arm in enumerate(space if isinstance(space, list) else ()):
                if isinstance(arm, dict):
                    yield f"scenarios.{name}.{index}.search-space.{number}", arm


def _either(holder: dict[Any, Any], name: str) -> Any:
    """A field under its own or its snake_case name."""
    return holder[name] if name in holder else holder.get(name.replace("-", "_"))


def _truthy(value: Any) -> bool:
    return bool(value) and not isinstance(value, dict | list)


# --- values ---


def _text(checker: _Checker, value: Any, place: str) -> None:
    if not isinstance(value, str):
        checker.report(place, "type", f"`{place}` must be text.")


def _optional_text(checker: _Checker, value: Any, place: str) -> None:
    if value is None:
        return
    _text(checker, value, place)
    if value == "":
        checker.report(place, "empty", f"`{place}` is empty.")


def _is_whole(value: Any) -> bool:
    if isinstance(value, int):
        return True
    if isinstance(value, float):
        return value.is_integer() and abs(value) < 2**63
    return isinstance(value, str) and len(value) < MAX_NUMBER_TEXT and _NUMBER_TEXT.match(value) is not None


def _whole(checker: _Checker, value: Any, place: str) -> None:
    if not _is_whole(value):
        checker.report(place, "type", f"`{place}` must be a whole number.")


def _optional_whole(checker: _Checker, value: Any, place: str) -> None:
    if value is not None:
        _whole(checker, value, place)


def _count(checker: _Checker, value: Any, place: str) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        checker.report(place, "type", f"`{place}` must be a positive whole number.")


def _bool(checker: _Checker, value: Any, place: str) -> None:
    known = (
        value.lower() in _BOOL_TEXT if isinstance(value, str) else isinstance(value, int | float) and value in (0, 1)
    )
    if not known:
        checker.report(place, "type", f"`{place}` must be true or false.")


def _optional_bool(checker: _Checker, value: Any, place: str) -> None:
    if value is not None:
        _bool(checker, value, place)


def _exactly(wanted: bool) -> Test:
    def test(checker: _Checker, value: Any, place: str) -> None:
        if not isinstance(value, int | float) or value != wanted:
            checker.report(place, "value", f"`{place}` must be {'true' if wanted else 'false'} here.")

    return test


def _one_of(*names: str, optional: bool = False) -> Test:
    def test(checker: _Checker, value: Any, place: str) -> None:
        if value not in names if isinstance(value, str) else not (optional and value is None):
            checker.report(place, "value", f"`{place}` must be one of {', '.join(names)}.")

    return test


def _utilization(checker: _Checker, value: Any, place: str) -> None:
    if value is None:
        return
    try:
        number = float(value) if isinstance(value, int | float | str) else None
    except (ValueError, OverflowError):
        number = None
    if number is None or not 0 < number <= 1:
        checker.report(place, "value", f"`{place}` must be a number above 0 and at most 1.")


def _component(*, version_needed: bool) -> Test:
    version = _component_version if version_needed else _optional_component_version
    schema = _Schema({"name": (True, _filled_text), "version": (version_needed, version)})

    def test(checker: _Checker, value: Any, place: str) -> None:
        if value is None:
            return
        checker.mapping(value, schema, place)

    return test


def _filled_text(checker: _Checker, value: Any, place: str) -> None:
    _text(checker, value, place)
    if value == "":
        checker.report(place, "empty", f"`{place}` is empty.")


def _component_version(checker: _Checker, value: Any, place: str) -> None:
    _filled_text(checker, value, place)
    if isinstance(value, str) and value.startswith("image:"):
        checker.report(place, "version-from-image", f"`{place}` must be the component's own version, not an image.")


def _optional_component_version(checker: _Checker, value: Any, place: str) -> None:
    if value is not None:
        _component_version(checker, value, place)


def _whole_list(checker: _Checker, value: Any, place: str) -> None:
    if value is None:
        return
    if not isinstance(value, list):
        checker.report(place, "type", f"`{place}` must be a list of whole numbers.")
        return
    for item in value:
        if not _is_whole(item):
            checker.report(place, "type", f"`{place}` must hold whole numbers only.")
            return
        if isinstance(item, str):
            text = f"`{place}` holds {item!r} as text; the generator fails when it chooses what to evaluate."
            checker.report(place, "text-number", text)
            return


def _text_list(checker: _Checker, value: Any, place: str) -> None:
    if value is not None and not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
        checker.report(place, "type", f"`{place}` must be a list of texts.")


_router = _component(version_needed=True)
_backend = _component(version_needed=False)


# --- scenarios, rows, workers ---


@cache
def _entry_schema(feature: Feature, multinode: bool, listed: bool) -> _Schema:
    """`listed`: the entry has the list of sequence lengths that stood for scenarios until May 2026."""
    fields: dict[str, tuple[bool, Test]] = {
        **dict.fromkeys(("image", "model", "model-prefix", "precision", "framework", "runner"), (True, _text)),
        "multinode": (True, _exactly(multinode)),
        "disagg": (False, _bool if multinode else _exactly(False)),
    }
    if listed:
        fields["seq-len-configs"] = (True, _listed(_fixed_item))
    else:
        fields["scenarios"] = (True, _scenarios)
    if feature >= Feature.COMPONENTS:
        fields["router"] = (False, _router)
        if multinode:
            fields["kv-p2p-transfer"] = (False, _optional_text)
    return _Schema(fields)


def _scenarios(checker: _Checker, value: Any, place: str) -> None:
    checker.mapping(value, _SCENARIOS, place)
    if not isinstance(value, dict):
        return
    if not _either(value, "fixed-seq-len") and not _either(value, "agentic-coding"):
        checker.report(place, "no-scenario", "at least one scenario must be given.")
        return
    for name in ("fixed-seq-len", "agentic-coding"):
        if name in value and value[name] is None:
            checker.report(f"{place}.{name}", "null-scenario", f"`{name}` is empty: the generator fails on it.")


def _listed(test: Test) -> Test:
    """A list, or null, of values with this test."""

    def check(checker: _Checker, value: Any, place: str) -> None:
        if value is not None:
            _each(checker, value, place, test)

    return check


def _each(checker: _Checker, value: Any, place: str, test: Test) -> None:
    if not isinstance(value, list):
        checker.report(place, "type", f"`{place}` must be a list.")
        return
    for index, item in enumerate(value):
        if len(checker.problems) >= MAX_PROBLEMS:
            return
        test(checker, item, f"{place}.{index}")


def _fixed_item(checker: _Checker, value: Any, place: str) -> None:
    checker.mapping(value, _MULTINODE_ITEM if checker.multinode else _SINGLE_NODE_ITEM, place)


def _fixed_schema(arm: Test) -> _Schema:
    def space(checker: _Checker, value: Any, place: str) -> None:
        checker.arms(value, arm, place)

    return _Schema({"isl": (True, _whole), "osl": (True, _whole), "search-space": (True, space)})


def _agentic_item(checker: _Checker, value: Any, place: str) -> None:
    offloads = checker.rules.has(Feature.KV_OFFLOADING)
    checker.mapping(value, _AGENTIC_ITEM if offloads else _JUNE_AGENTIC_ITEM, place)
    if not offloads or not isinstance(value, dict) or _either(value, "dram-utilization") is not None:
        return
    space = _either(value, "search-space")
    for index, arm in enumerate(space if isinstance(space, list) else ()):
        if isinstance(arm, dict) and _either(arm, "kv-offloading") == "dram":
            where = f"{place}.search-space.{index}"
            checker.report(where, "dram-utilization", "offloading to memory needs a `dram-utilization`.")
            return


def _agentic_space(checker: _Checker, value: Any, place: str) -> None:
    checker.arms(value, _agentic_arm, place)


def _row_fields(feature: Feature) -> dict[str, tuple[bool, Test]]:
    """What every row of a search space may hold."""
    fields: dict[str, tuple[bool, Test]] = {
        "spec-decoding": (False, _one_of(*_SPECULATION)),
        "conc-start": (False, _optional_whole),
        "conc-end": (False, _optional_whole),
        "conc-list": (False, _whole_list),
    }
    if feature >= Feature.COMPONENTS:
        fields["router"] = (False, _router)
    return fields


def _sizes(feature: Feature, pipeline: Feature, context: Feature) -> dict[str, tuple[bool, Test]]:
    """The parallel sizes that only count: known since these features."""
    fields: dict[str, tuple[bool, Test]] = {}
    if feature >= pipeline:
        fields["pp"] = (False, _count)
    if feature >= context:
        fields.update({"dcp-size": (False, _count), "pcp-size": (False, _count)})
    return fields


@cache
def _single_node_schema(feature: Feature) -> _Schema:
    return _Schema(
        {
            **_row_fields(feature),
            **_sizes(feature, Feature.PIPELINE_PARALLEL, Feature.CONTEXT_PARALLEL),
            "tp": (True, _whole),
            "ep": (False, _optional_whole),
            "dp-attn": (False, _optional_bool),
        }
    )


@cache
def _multinode_schema(feature: Feature) -> _Schema:
    fields = {**_row_fields(feature), "prefill": (True, _worker), "decode": (True, _worker)}
    if feature >= Feature.COMPONENTS:
        fields["kv-p2p-transfer"] = (False, _optional_text)
    return _Schema(fields)


@cache
def _agentic_schema(feature: Feature) -> _Schema:
    fields: dict[str, tuple[bool, Test]] = {
        **_row_fields(feature),
        **_sizes(feature, Feature.PIPELINE_PARALLEL, Feature.CONTEXT_PARALLEL),
        "tp": (False, _optional_whole),
        "ep": (False, _optional_whole),
        "dp-attn": (False, _optional_bool),
        "prefill": (False, _optional_worker),
        "decode": (False, _optional_worker),
    }
    if feature >= Feature.KV_OFFLOADING:
        fields["kv-offloading"] = (False, _one_of(*_JULY_OFFLOADING, optional=True))
        fields["kv-offload-backend"] = (False, _backend if feature >= Feature.COMPONENTS else _backend_name)
    else:
        fields["offloading"] = (False, _one_of(*_JUNE_OFFLOADING))
    if feature >= Feature.COMPONENTS:
        fields["kv-p2p-transfer"] = (False, _optional_text)
    return _Schema(fields)


@cache
def _worker_schema(feature: Feature) -> _Schema:
    fields: dict[str, tuple[bool, Test]] = {
        "num-worker": (True, _whole),
        "tp": (True, _whole),
        **_sizes(feature, Feature.WORKER_DEFAULTS, Feature.WORKER_DEFAULTS),
        "ep": (True, _whole),
        "dp-attn": (True, _bool),
        "additional-settings": (False, _text_list),
    }
    if feature >= Feature.CONTEXT_PARALLEL:
        fields["hardware"] = (False, _optional_text)
    return _Schema(fields)


def _single_node_arm(checker: _Checker, value: Any, place: str) -> None:
    checker.mapping(value, _single_node_schema(checker.rules.feature), place)
    _concurrency(checker, value, place)
    _divides(checker, value, place)


def _multinode_arm(checker: _Checker, value: Any, place: str) -> None:
    checker.mapping(value, _multinode_schema(checker.rules.feature), place)
    _concurrency(checker, value, place)
    _hardware_pair(checker, value, place)


def _agentic_arm(checker: _Checker, value: Any, place: str) -> None:
    checker.mapping(value, _agentic_schema(checker.rules.feature), place)
    if not isinstance(value, dict):
        return
    _concurrency(checker, value, place)
    _offloading(checker, value, place)
    single = value.get("tp") is not None
    workers = [value.get(role) is not None for role in ("prefill", "decode")]
    if single == any(workers) or (not single and not all(workers)):
        checker.report(place, "topology", "an agentic row has either `tp`, or both `prefill` and `decode`.")
        return
    if single and checker.rules.has(Feature.KV_OFFLOADING) and _either(value, "kv-offloading") is None:
        checker.report(place, "missing-field", "an agentic single-node row needs `kv-offloading`.")
    if single:
        _divides(checker, value, place)
    else:
        _agentic_workers(checker, value, place)
    if single == checker.multinode:
        what = "`tp` under `multinode: true`" if single else "workers under `multinode: false`"
        checker.report(place, "topology", f"{what} passes the schema, but the generator fails on it.")


def _agentic_workers(checker: _Checker, value: dict[Any, Any], place: str) -> None:
    for name in ("pp", "dcp-size", "pcp-size"):
        if name in value or name.replace("-", "_") in value:
            checker.report(f"{place}.{name}", "workers-only", f"`{name}` belongs to the workers of a multi-node row.")
    for name in ("ep", "dp-attn"):
        if _either(value, name) is not None:
            checker.report(f"{place}.{name}", "ignored-field", f"`{name}` next to workers is ignored.")
    _hardware_pair(checker, value, place)


def _worker(checker: _Checker, value: Any, place: str) -> None:
    checker.mapping(value, _worker_schema(checker.rules.feature), place)
    _divides(checker, value, place)


def _optional_worker(checker: _Checker, value: Any, place: str) -> None:
    if value is not None:
        _worker(checker, value, place)


def _backend_name(checker: _Checker, value: Any, place: str) -> None:
    if value is not None:
        _text(checker, value, place)


def _hardware_pair(checker: _Checker, value: Any, place: str) -> None:
    if not isinstance(value, dict):
        return
    workers = [value.get(role) for role in ("prefill", "decode")]
    named = [bool(worker.get("hardware")) for worker in workers if isinstance(worker, dict)]
    if len(named) == 2 and named[0] != named[1]:
        checker.report(place, "hardware-pair", "`hardware` must be given for both workers or for neither.")


def _divides(checker: _Checker, value: Any, place: str) -> None:
    if not isinstance(value, dict):
        return
    tensor, context = _number(value.get("tp")), _either(value, "dcp-size")
    if isinstance(context, int) and context > 0 and tensor is not None and tensor % context:
        checker.report(place, "dcp-size", f"`tp` ({tensor}) must be divisible by `dcp-size` ({context}).")


def _offloading(checker: _Checker, value: dict[Any, Any], place: str) -> None:
    if not checker.rules.has(Feature.KV_OFFLOADING):
        return
    mode, backend = _either(value, "kv-offloading"), _either(value, "kv-offload-backend")
    if not checker.rules.has(Feature.COMPONENTS):
        backend = None if backend == "" else backend
    if mode in (None, "none") and backend is not None:
        checker.report(place, "offload-backend", "`kv-offload-backend` needs a `kv-offloading` other than none.")
    if mode == "dram" and (backend is None or (isinstance(backend, str) and not backend.strip())):
        checker.report(place, "offload-backend", "`kv-offloading: dram` needs a `kv-offload-backend`.")


def _concurrency(checker: _Checker, value: Any, place: str) -> None:
    """A list, or start and end; positive, and the start not above the end."""
    if not isinstance(value, dict):
        return
    start, end, listed = (_either(value, name) for name in ("conc-start", "conc-end", "conc-list"))
    has_range = start is not None and end is not None
    has_list = isinstance(listed, list) and len(listed) > 0
    if has_range and has_list:
        checker.report(place, "concurrency", "give a `conc-list` or a range, not both.")
    elif not has_range and not has_list:
        checker.report(place, "concurrency", "give a `conc-list`, or both `conc-start` and `conc-end`.")
    elif has_list:
        numbers = [_number(item) for item in listed or ()]
        if any(number is not None and number <= 0 for number in numbers):
            checker.report(place, "concurrency", "concurrencies must be above 0.")
        if start is not None or end is not None:
            checker.report(place, "list-with-half-range", "half a range next to a `conc-list` is ignored.")
    else:
        first, last = _number(start), _number(end)
        if first is not None and last is not None:
            if first <= 0 or last <= 0:
                checker.report(place, "concurrency", "concurrencies must be above 0.")
            elif first > last:
                checker.report(place, "concurrency", f"`conc-start` ({start}) is above `conc-end` ({end}).")
        if listed is not None:
            text = "an empty `conc-list` next to a range: fixed sequence lengths take the list, agentic rows the range."
            checker.report(place, "empty-list-with-range", text)


def _number(value: Any) -> int | None:
    if not isinstance(value, int | float | str) or not _is_whole(value):
        return None
    return int(value) if isinstance(value, int | float) else int(value.strip().partition(".")[0])


_SCENARIOS = _Schema(
    {"fixed-seq-len": (False, _listed(_fixed_item)), "agentic-coding": (False, _listed(_agentic_item))}
)
_SINGLE_NODE_ITEM = _fixed_schema(_single_node_arm)
_MULTINODE_ITEM = _fixed_schema(_multinode_arm)
_AGENTIC_ITEM = _Schema({"search-space": (True, _agentic_space), "dram-utilization": (False, _utilization)})
_JUNE_AGENTIC_ITEM = _Schema({"search-space": (True, _agentic_space), "duration": (False, _whole)})
