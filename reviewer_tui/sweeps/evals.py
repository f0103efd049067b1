"""Which rows are evaluated: the generator's selection (`mark_eval_entries` and `--all-evals`), in its four modes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from reviewer_tui.sweeps.rows import Row, canonical, concurrencies, is_agentic
from reviewer_tui.sweeps.rules import Feature, GeneratorRules

EvalMode = Literal["default", "none", "only", "all"]
"""`default` marks the rows, `none` marks nothing, `only` keeps the evaluated rows, `all` evaluates all it can."""

_NOT_TOPOLOGY = frozenset({"conc", "run-eval", "eval-only", "eval-conc", "eval-all-concs"})
_SINGLE_NODE_GROUP = ("model", "runner", "framework", "precision", "isl", "osl", "spec-decoding", "dp-attn")
_AGENTIC_GROUP = ("model", "runner", "framework", "precision")


def apply_evals(rows: Sequence[Row], mode: EvalMode, rules: GeneratorRules) -> list[tuple[int, Row]]:
    """The rows of one invocation of the generator in this mode, each with its place in `rows` (a merged row: of the
    first that went into it). Rows are marked in place.

    Rows of all keys of the invocation compete with each other: keys with the same group share an eval.
    """
    marked = list(enumerate(rows))
    if mode == "none":
        return marked
    _mark(rows, rules, agentic=mode != "default")
    if mode == "all":
        marked = _widen(marked, rules)
    if mode in ("only", "all"):
        marked = [(place, row) for place, row in marked if row.get("run-eval")]
        for _, row in marked:
            row["eval-only"] = True
    return marked


def _mark(rows: Sequence[Row], rules: GeneratorRules, *, agentic: bool) -> None:
    """Set `run-eval` (and `eval-conc` of multi-node rows) by the repository's selection."""
    chosen: dict[int, float | None] = {}
    single: dict[bytes, list[int]] = {}
    agentic_single: dict[bytes, list[int]] = {}
    topologies: dict[bytes, list[tuple[int, float]]] = {}
    lengths = rules.eval_sequence
    for index, row in enumerate(rows):
        single_node = "prefill" not in row
        if is_agentic(row):
            if not agentic or not _can_be_evaluated(row, rules):
                continue
            if single_node:
                agentic_single.setdefault(_group(row, _AGENTIC_GROUP), []).append(index)
                continue
        elif (row.get("isl"), row.get("osl")) != lengths:
            continue
        highest = max(concurrencies(row), default=0)
        if highest < rules.min_eval_conc:
            continue
        if single_node:
            single.setdefault(_group(row, _SINGLE_NODE_GROUP), []).append(index)
        else:
            topologies.setdefault(topology(row, rules), []).append((index, highest))
    for group in single.values():
        concs = sorted({rows[index]["conc"] for index in group})
        wanted = (concs[-1], concs[len(concs) // 2])
        chosen.update((index, None) for index in group if rows[index]["conc"] in wanted)
    for group in agentic_single.values():
        chosen[max(group, key=lambda index: max(concurrencies(rows[index]), default=0))] = None
    for candidates in topologies.values():
        index, conc = max(candidates, key=lambda item: item[1])
        chosen[index] = conc
    for index, row in enumerate(rows):
        if is_agentic(row) and not rules.has(Feature.AGENTIC_EVALS):
            continue
        row["run-eval"] = index in chosen
        if chosen.get(index) is not None:
            row["eval-conc"] = chosen[index]


def _widen(rows: list[tuple[int, Row]], rules: GeneratorRules) -> list[tuple[int, Row]]:
    """Evaluate every row that can be: multi-node rows of one topology become one, which evaluates all its concurrencies
    (agentic: the highest)."""
    widened: list[tuple[int, Row]] = []
    merged: dict[bytes, Row] = {}
    for place, row in rows:
        agentic, multinode = is_agentic(row), "prefill" in row
        if not _can_be_evaluated(row, rules):
            widened.append((place, row))
        elif not multinode:
            row["run-eval"] = True
            widened.append((place, row))
        else:
            known = merged.get(same := topology(row, rules))
            concs = sorted({*(concurrencies(known) if known else ()), *concurrencies(row)})
            if known is None:
                known = merged[same] = {**row, "run-eval": True}
                widened.append((place, known))
                if not agentic:
                    known["eval-all-concs"] = True
                    known.pop("eval-conc", None)
            known["conc"] = concs
            if agentic:
                known["eval-conc"] = max(concs, default=0)
    return widened


def _can_be_evaluated(row: Row, rules: GeneratorRules) -> bool:
    if not is_agentic(row):
        return (row.get("isl"), row.get("osl")) == rules.eval_sequence
    needed = Feature.MULTINODE_AGENTIC_EVALS if "prefill" in row else Feature.AGENTIC_EVALS
    return rules.has(needed) and not rules.agentic_evals_disabled


def topology(row: Row, rules: GeneratorRules) -> bytes:
    """What stays of a multi-node row without its concurrencies and eval marks."""
    ignored = _NOT_TOPOLOGY | {"exp-name"} if rules.has(Feature.MULTINODE_AGENTIC_EVALS) else _NOT_TOPOLOGY
    return canonical({name: value for name, value in row.items() if name not in ignored})


def _group(row: Row, fields: tuple[str, ...]) -> bytes:
    return canonical([row.get(field) for field in fields])
