"""Eval scores put to the eval lanes that they belong to.

A score's row names its model prefix, hardware, framework, precision, speculation, parallelism and concurrency, and no
config key, so several lanes can look alike: what fits alike is counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from reviewer_tui.checks.runs import RanLane, Sweep
from reviewer_tui.checks.scope import sku
from reviewer_tui.model.result import EvalScore
from reviewer_tui.sweeps.lanes import EVAL_FAMILIES
from reviewer_tui.sweeps.rows import Row, arm_label, concurrencies, is_agentic

# `2x(tp8 ep8)+1x(tp16 dpa)`: workers of a multi-node point as the artifacts' reader labels them.
_WORKER = re.compile(r"(\d+)x\(([^()]*)\)")
_SIZE = re.compile(r"(tp|ep)(\d+)")


class Worker(msgspec.Struct, frozen=True):
    """What eval rows say of one role's workers."""

    number: int
    tp: int
    ep: int
    dp_attn: bool


class Evaluation(msgspec.Struct, frozen=True, kw_only=True):
    """One point that an eval lane has to evaluate, and the rows that speak of it (of one task each, usually one)."""

    ran: RanLane
    conc: int
    scores: tuple[EvalScore, ...] = ()

    @property
    def name(self) -> str:
        """`qwen3.5-fp4-b200-sglang-mtp 8k1k tp2 ep2 mtp c32`."""
        return f"{self.ran.lane.key} {arm_label(self.ran.lane.row)} c{self.conc}"


class Evaluations(msgspec.Struct, frozen=True):
    """Every expected evaluation, and the rows of the run that belong to none."""

    expected: tuple[Evaluation, ...]
    others: tuple[EvalScore, ...]


def evaluations_of(sweep: Sweep, scores: Iterable[EvalScore]) -> Evaluations:
    """The scores of a sweep's run by the lanes of its plan. Rows that fit several lanes alike are dealt out in turn."""
    left: dict[tuple[Any, ...], list[EvalScore]] = {}
    for score in scores:
        left.setdefault(_common(score), []).append(score)
    found: list[Evaluation] = []
    groups: dict[tuple[Any, ...], list[tuple[RanLane, int]]] = {}
    for ran in sweep.lanes:
        if ran.lane.family in EVAL_FAMILIES:
            for conc in evaluated_concurrencies(ran.lane.row):
                groups.setdefault(_identity(ran.lane.row, conc), []).append((ran, conc))
    for lanes in groups.values():
        ran, conc = lanes[0]
        rows = left.get(_common_of_row(ran.lane.row, conc), [])
        mine = [score for score in rows if _fits(score, ran.lane.row)]
        rows[:] = [score for score in rows if score not in mine]
        for place, (one, its_conc) in enumerate(lanes):
            dealt = tuple(score for rank, score in _ranked(mine) if _owner(rank, len(lanes)) == place)
            found.append(Evaluation(ran=one, conc=its_conc, scores=dealt))
    return Evaluations(tuple(found), tuple(score for rows in left.values() for score in rows))


def evaluated_concurrencies(row: Row) -> tuple[int, ...]:
    """The concurrencies that an eval row evaluates: all of its list with `eval-all-concs`, else the chosen one."""
    concs = tuple(int(conc) for conc in concurrencies(row))
    if row.get("eval-all-concs") is True or not isinstance(row.get("conc"), list):
        return concs
    chosen = row.get("eval-conc")
    return (int(chosen),) if isinstance(chosen, int | float) else concs


def _ranked(scores: Iterable[EvalScore]) -> Iterable[tuple[int, EvalScore]]:
    """Each row with its rank among the rows of its task."""
    seen: dict[str, int] = {}
    for score in scores:
        rank = seen.get(score.task, 0)
        seen[score.task] = rank + 1
        yield rank, score


def _owner(rank: int, lanes: int) -> int:
    """The lane that the row of this rank belongs to; what is left over shows at the last one."""
    return min(rank, lanes - 1)


def _common(score: EvalScore) -> tuple[Any, ...]:
    return (
        score.model_prefix,
        sku(score.hardware),
        score.framework.lower(),
        score.precision.lower(),
        score.spec_decoding.lower(),
        score.conc,
    )


def _common_of_row(row: Row, conc: int) -> tuple[Any, ...]:
    words = (str(row.get(name, "")).lower() for name in ("framework", "precision"))
    speculation = str(row.get("spec-decoding") or "none").lower()
    return (str(row.get("model-prefix", "")), sku(str(row.get("runner", ""))), *words, speculation, conc)


def _identity(row: Row, conc: int) -> tuple[Any, ...]:
    """What rows can tell apart."""
    lengths = None if is_agentic(row) else (row.get("isl"), row.get("osl"))
    return (_common_of_row(row, conc), lengths, _topology(row))


def _topology(row: Row) -> tuple[Worker, ...]:
    if row.get("prefill") is None:
        return (_worker(row),)
    return tuple(_worker(row[role]) for role in ("prefill", "decode") if isinstance(row.get(role), dict))


def _worker(holder: Row) -> Worker:
    tp, ep = (int(v) if str(v := holder.get(name, 1)).isdigit() else 0 for name in ("tp", "ep"))
    number = holder.get("num-worker", 1)
    return Worker(number if isinstance(number, int) else 0, tp, ep, holder.get("dp-attn") is True)


def _fits(score: EvalScore, row: Row) -> bool:
    if not is_agentic(row) and (score.isl, score.osl) != (row.get("isl"), row.get("osl")):
        return False
    wanted = _topology(row)
    if row.get("prefill") is None:
        one = wanted[0]
        return (
            not score.multinode
            and (score.tp, score.ep or 1) == (one.tp, one.ep)
            and score.dp_attn in (None, one.dp_attn)
        )
    told = tuple(_told_worker(int(number), words) for number, words in _WORKER.findall(score.parallelism))
    return score.multinode and bool(told) and told == wanted[: len(told)]


def _told_worker(number: int, words: str) -> Worker:
    sizes = {name: int(size) for name, size in _SIZE.findall(words)}
    return Worker(number, sizes.get("tp", 1), sizes.get("ep", 1), "dpa" in words.split())
