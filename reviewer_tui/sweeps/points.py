"""Points: the single measurements that rows stand for, and what identifies them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reviewer_tui.model.config import Entry, Point
from reviewer_tui.sweeps.evals import apply_evals
from reviewer_tui.sweeps.expand import ExpandedRow
from reviewer_tui.sweeps.rows import AGENTIC, FIXED, Row, arm_label, canonical, concurrencies, is_agentic
from reviewer_tui.sweeps.rules import GeneratorRules

# Marks of the eval selection: they say what is checked about a point, not what the point is.
_EVAL_MARKS = frozenset({"run-eval", "eval-only", "eval-conc", "eval-all-concs", "recipe-fingerprint"})


def points_of(rows: Sequence[ExpandedRow], rules: GeneratorRules) -> list[Point]:
    """All points of benchmark rows (`evals="none"`), in their order.

    `evaluated` says whether a sweep of these rows alone would evaluate the point, agentic points included.
    """
    marked = [dict(item.row) for item in rows]
    apply_evals(marked, "only", rules)
    points: list[Point] = []
    for item, marks in zip(rows, marked, strict=True):
        scenario = AGENTIC if is_agentic(item.row) else FIXED
        label = arm_label(item.row)
        for conc in concurrencies(item.row):
            evaluated = bool(marks.get("run-eval")) and marks.get("eval-conc", conc) == conc
            points.append(
                Point(
                    key=item.key,
                    scenario=scenario,
                    label=label,
                    conc=int(conc),
                    row=item.row,
                    line=item.line,
                    evaluated=evaluated,
                )
            )
    return points


def identity(point: Point) -> bytes:
    """What a point is: its row with this one concurrency. Equal for equal points of any revision."""
    return row_identity(point.row, point.conc)


def row_identity(row: Row, conc: int, without: frozenset[str] = frozenset()) -> bytes:
    """The identity of one concurrency of a row, some fields left out."""
    kept = {name: value for name, value in row.items() if name not in _EVAL_MARKS and name not in without}
    kept["conc"] = conc
    return canonical(kept)


def arms_alike(one: Iterable[Point], other: Iterable[Point]) -> float:
    """The share (0 to 1) of points that two keys have in common when image and model are left aside."""
    aside = frozenset({"image", "model"})
    mine = {row_identity(point.row, point.conc, aside) for point in one}
    theirs = {row_identity(point.row, point.conc, aside) for point in other}
    return len(mine & theirs) / max(len(mine | theirs), 1)


def same_family(one: Entry, other: Entry) -> bool:
    """Whether two entries could be one key under two names: same model prefix, precision, framework and runner."""
    fields = ("model_prefix", "precision", "framework", "runner", "multinode", "disagg")
    return all(getattr(one, field) == getattr(other, field) for field in fields)
