"""How much of what is submitted the upstream recipes document: a table over config keys, and its totals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from reviewer_tui.model.finding import Status, worst
from reviewer_tui.model.tree import Tree
from reviewer_tui.recipes.arm import Engine
from reviewer_tui.recipes.compare import ArmComparison, Comparison, PolicyName
from reviewer_tui.recipes.find import find
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
    """The table, one row a key and checkpoint in the order of the variants."""
    keys: dict[tuple[str, str, str], list[Variant]] = {}
    for variant in variants:
        keys.setdefault((variant.key, variant.checkpoint, variant.hardware), []).append(variant)
    return tuple(_covered(mine, trees, policy) for mine in keys.values())


def _covered(variants: list[Variant], trees: Mapping[Engine, Tree], policy: PolicyName) -> KeyCoverage:
    first = variants[0]
    proposals = find(variants, trees, policy)
    best = proposals[0] if proposals else None
    results = best.comparison.variants if best else ()
    ranked = [arm for result in results for arm in result.ranked]
    return KeyCoverage(
        key=first.key,
        engine=first.engine,
        checkpoint=first.checkpoint,
        hardware=first.hardware,
        page=best.path if best else "",
        has_hardware=any(_agrees(arm, "hardware") for arm in ranked),
        has_checkpoint=any(_agrees(arm, "hardware") and _agrees(arm, "model") for arm in ranked),
        variants=len(variants),
        shapes=sum(any(map(_same_shape, result.ranked)) for result in results),
        covered=_count_covered(best.comparison) if best else 0,
        status=worst((result.status for result in results), empty=Status.FAIL),
        gaps=best.lacks if best else (f"No upstream page is about {first.checkpoint}.",),
    )


def _agrees(compared: ArmComparison, name: str) -> bool:
    argument = compared.of(name)
    return argument is not None and not argument.differs


def _same_shape(compared: ArmComparison) -> bool:
    return not compared.missing_roles and not any(a.group in _SHAPE for a in compared.blocking)


def _count_covered(comparison: Comparison) -> int:
    return sum(result.status in (Status.PASS, Status.JUDGEMENT) for result in comparison.variants)


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
