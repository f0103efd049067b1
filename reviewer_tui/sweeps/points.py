"""Points: the single measurements that rows stand for, and what identifies them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from reviewer_tui.model.config import Entry, Point
from reviewer_tui.sweeps.evals import apply_evals
from reviewer_tui.sweeps.expand import ExpandedRow
from reviewer_tui.sweeps.rows import AGENTIC, FIXED, Row, arm_label, canonical, concurrencies, is_agentic
from reviewer_tui.sweeps.rules import GeneratorRules

# Marks of the eval selection: they say what is checked about a point, not what the point is.
_EVAL_MARKS = frozenset({"run-eval", "eval-only", "eval-conc", "eval-all-concs", "recipe-fingerprint"})


Place = tuple[ExpandedRow, float]
"""One concurrency of a row."""


def points_of(rows: Sequence[ExpandedRow], rules: GeneratorRules, chosen: Iterable[Place] | None = None) -> list[Point]:
    """The points of benchmark rows (`evals="none"`), in their order; `chosen` those of them.

    `evaluated` says whether a sweep of all these rows alone would evaluate the point, agentic points included.
    """
    marked = {id(item): dict(item.row) for item in rows}
    apply_evals(list(marked.values()), "only", rules)
    places = chosen if chosen is not None else ((item, conc) for item in rows for conc in concurrencies(item.row))
    points: list[Point] = []
    for item, conc in places:
        marks = marked[id(item)]
        points.append(
            Point(
                key=item.key,
                scenario=AGENTIC if is_agentic(item.row) else FIXED,
                label=arm_label(item.row),
                conc=int(conc),
                row=item.row,
                line=item.line,
                evaluated=bool(marks.get("run-eval")) and marks.get("eval-conc", conc) == conc,
            )
        )
    return points


def identity(point: Point) -> bytes:
    """What a point is: its row with this one concurrency. Equal for equal points of any revision."""
    return row_identity(point.row, point.conc)


def row_identity(row: Row, conc: float, without: frozenset[str] = frozenset()) -> bytes:
    """The identity of one concurrency of a row, some fields left out."""
    kept = {name: value for name, value in row.items() if name not in _EVAL_MARKS and name not in without}
    kept["conc"] = conc
    return canonical(kept)


def identities(rows: Iterable[ExpandedRow]) -> dict[bytes, Place]:
    """Every point of benchmark rows (`evals="none"`, so without marks to leave out) by its identity in such rows."""
    found: dict[bytes, Place] = {}
    for item in rows:
        row = item.row
        if isinstance(row.get("conc"), list):
            for conc in concurrencies(row):
                found[canonical({**row, "conc": conc})] = (item, conc)
        else:
            for conc in concurrencies(row):
                found[canonical(row)] = (item, conc)
    return found


def arms(rows: Iterable[ExpandedRow]) -> set[bytes]:
    """The identities of all points of these rows, image and model aside."""
    aside = frozenset({"image", "model"})
    return {row_identity(item.row, conc, aside) for item in rows for conc in concurrencies(item.row)}


def family(entry: Entry) -> tuple[Any, ...]:
    """What two entries share that could be one key under two names."""
    fields = entry.fields
    names = ("model-prefix", "precision", "framework", "runner")
    return (*(str(fields.get(name)) for name in names), entry.multinode, entry.disagg)
