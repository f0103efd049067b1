"""The queue score that job names carry (`configs/ci-priority.yaml`, `ci_priority.py`). It decides no verdict.

The repository may let a classifier restrict which criteria count; without its answer every criterion counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

from reviewer_tui.model.tree import Tree, read_text
from reviewer_tui.sweeps.document import read_document
from reviewer_tui.sweeps.rows import Row, is_agentic, is_multinode

_QUANTUM = Decimal("0.001")


class PriorityPolicy:
    """The scores of one revision."""

    def __init__(self, policy: dict[str, Any]) -> None:
        self._policy = policy
        self._adjustments = _mapping(policy, "adjustments")

    def score(self, row: Row, event: str = "pull_request", labels: Iterable[str] = ()) -> str:
        """The score of a row's job with three decimals, as its name shows it."""
        given = set(labels)
        known = _mapping(self._policy, "labels")
        patchwork = _mapping(known, "patchwork")
        if given & _names(patchwork, "names") and not given & _names(patchwork, "waived-by"):
            return _shown(_decimal(patchwork.get("score")))
        total = _decimal(self._policy.get("base-score")) + self._of("event", event)
        total += self._flat("multi-node", is_multinode(row))
        total += self._flat("agentic", is_agentic(row))
        total += self._flat("eval-only", row.get("eval-only") is True)
        total += self._of("precision", row.get("precision")) + self._of("spec-decoding", row.get("spec-decoding"))
        total += self._first_prefix("framework-prefix", row.get("framework"))
        total += self._of("model-prefix", row.get("model-prefix"))
        complete = _mapping(known, "checklist-complete")
        if given & _names(complete, "names"):
            total += _decimal(complete.get("adjustment"))
        return _shown(total)

    def _flat(self, name: str, applies: bool) -> Decimal:
        return _decimal(self._adjustments.get(name)) if applies else Decimal(0)

    def _of(self, group: str, value: Any) -> Decimal:
        return _decimal(_mapping(self._adjustments, group).get(str(value)))

    def _first_prefix(self, group: str, value: Any) -> Decimal:
        text = str(value or "")
        for prefix, adjustment in _mapping(self._adjustments, group).items():
            if text == prefix or text.startswith(f"{prefix}-"):
                return _decimal(adjustment)
        return Decimal(0)


def read_priority(tree: Tree, configs: str | None) -> PriorityPolicy | None:
    """The scores of a revision, whose config folder is `configs`; None where it has none (before 2026-07-22)."""
    text = read_text(tree, f"{configs}/ci-priority.yaml") if configs else None
    value = read_document(text, "ci-priority.yaml").value if text else None
    return PriorityPolicy(value) if isinstance(value, dict) else None


def _mapping(holder: dict[str, Any], name: str) -> dict[str, Any]:
    value = holder.get(name)
    return value if isinstance(value, dict) else {}


def _names(holder: dict[str, Any], name: str) -> set[str]:
    value = holder.get(name)
    return {str(item) for item in value} if isinstance(value, list) else set()


def _decimal(value: Any) -> Decimal:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return Decimal(0)
    return number if number.is_finite() and abs(number) < 1_000_000 else Decimal(0)


def _shown(score: Decimal) -> str:
    return f"{score.quantize(_QUANTUM, ROUND_HALF_UP):.3f}"
