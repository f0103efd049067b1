"""How much of what is submitted the upstream recipes document: a table over config keys, and its totals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from reviewer_tui.model.finding import Status, worst
from reviewer_tui.model.tree import Tree
from reviewer_tui.recipes.arm import Engine
from reviewer_tui.recipes.compare import ArmComparison, PolicyName, gaps_of
from reviewer_tui.recipes.find import Proposal, find
from reviewer_tui.recipes.submitted import Variant

_SHAPE = ("model", "parallelism")


class KeyCoverage(msgspec.Struct, frozen=True, kw_only=True):
    """What the best page documents of one config key.

    `page` is empty where no page is about the model. Of the `variants` of the key, `shapes` have an arm with the same
    checkpoint, hardware and parallelism, and `covered` one with every argument that must match; `status` is the worst
    of them. `gaps` are the sentences of the comparison.
    """

    key: str
    engine: Engine
    checkpoint: str
    hardware: str
    page: str
    has_hardware: bool
    has_checkpoint: bool
    variants: int
    shapes: int
    covered: int
    status: Status
    gaps: tuple[str, ...] = ()


class CoverageTotals(msgspec.Struct, frozen=True, kw_only=True):
    """A coverage table in numbers: keys, then variants; `whole` are keys with every variant covered."""

    keys: int
    with_page: int
    with_hardware: int
    with_checkpoint: int
    with_shape: int
    whole: int
    variants: int
    shapes: int
    covered: int


def coverage(
    variants: Sequence[Variant], trees: Mapping[Engine, Tree], policy: PolicyName = "summer"
) -> tuple[KeyCoverage, ...]:
    """The table, one row a key in the order of the variants; the page is the best for all keys with the same
    checkpoint and hardware."""
    served: dict[tuple[str, str, str], list[Variant]] = {}
    for variant in variants:
        served.setdefault((variant.engine, variant.checkpoint, variant.hardware), []).append(variant)
    best = {kind: next(iter(find(mine, trees, policy)), None) for kind, mine in served.items()}
    keys: dict[tuple[str, tuple[str, str, str]], list[Variant]] = {}
    for kind, mine in served.items():
        for variant in mine:
            keys.setdefault((variant.key, kind), []).append(variant)
    rows = [_row(mine, best[kind]) for (_, kind), mine in keys.items()]
    order = {variant.key: index for index, variant in reversed(list(enumerate(variants)))}
    return tuple(sorted(rows, key=lambda row: order[row.key]))


def _row(variants: list[Variant], page: Proposal | None) -> KeyCoverage:
    first = variants[0]
    results = [r for r in page.comparison.variants if r.variant.key == first.key] if page else []
    ranked = [arm for result in results for arm in result.ranked]
    return KeyCoverage(
        key=first.key,
        engine=first.engine,
        checkpoint=first.checkpoint,
        hardware=first.hardware,
        page=page.path if page else "",
        has_hardware=any(_agrees(arm, "hardware") for arm in ranked),
        has_checkpoint=any(_agrees(arm, "hardware") and _agrees(arm, "model") for arm in ranked),
        variants=len(variants),
        shapes=sum(any(map(_same_shape, result.ranked)) for result in results),
        covered=sum(result.status in (Status.PASS, Status.JUDGEMENT) for result in results),
        status=worst((result.status for result in results), empty=Status.FAIL),
        gaps=tuple(gap for result in results for gap in gaps_of(result))
        if page
        else (f"No upstream page is about {first.checkpoint}.",),
    )


def _agrees(compared: ArmComparison, name: str) -> bool:
    argument = compared.of(name)
    return argument is not None and not argument.differs


def _same_shape(compared: ArmComparison) -> bool:
    return not compared.missing_roles and not any(a.group in _SHAPE for a in compared.blocking)


def totals(rows: Iterable[KeyCoverage]) -> CoverageTotals:
    """The table in numbers."""
    table = tuple(rows)
    return CoverageTotals(
        keys=len(table),
        with_page=sum(bool(row.page) for row in table),
        with_hardware=sum(row.has_hardware for row in table),
        with_checkpoint=sum(row.has_checkpoint for row in table),
        with_shape=sum(row.shapes > 0 for row in table),
        whole=sum(row.covered == row.variants for row in table),
        variants=sum(row.variants for row in table),
        shapes=sum(row.shapes for row in table),
        covered=sum(row.covered for row in table),
    )
