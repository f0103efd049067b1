"""The queue as a table for both faces: what stands in the columns, and which of them a width has room for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from reviewer_tui.model.text import cells, shorten, visible
from reviewer_tui.review.queue import QueueRow

HEADINGS: Mapping[str, str] = {
    "number": "PR",
    "title": "title",
    "head": "head",
    "lanes": "lanes",
    "evals": "evals",
    "recipe": "recipe",
    "verdict": "verdict",
    "waits_for": "waits for",
    "age": "age",
}
"""The columns in their order. `verdict` is the verifier's on this head, in brackets what this program predicts; `age`
is that of the row's facts."""

# What goes first where there is no room for all.
_DISPENSABLE = ("head", "recipe", "evals", "age", "verdict", "lanes")
_READABLE_TITLE = 24
_ROOMY = 100


def row_cells(row: QueueRow, now: datetime) -> dict[str, str]:
    """The texts of a row, harmless and on one line each; `-` for what is not known."""
    predicted = f"({row.predicted.lower()})" if row.predicted else "-"
    texts = {
        "number": str(row.number),
        "title": row.title or "-",
        "head": row.head[:7] or "-",
        "lanes": "-" if row.lanes is None else str(row.lanes),
        "evals": "-" if row.evals is None else str(row.evals),
        "recipe": row.recipe or "-",
        "verdict": str(row.verdict) if row.verdict else predicted,
        "waits_for": row.waits_for,
        "age": row.age(now),
    }
    return {name: visible(" ".join(text.split())) for name, text in texts.items()}


def gap(width: int) -> int:
    """The blanks between two columns."""
    return 2 if width >= _ROOMY else 1


def columns(rows: Sequence[Mapping[str, str]], width: int) -> dict[str, int]:
    """The columns that `width` cells have room for, each with its own width. The title takes what the others leave; a
    narrow table does without columns before its titles become unreadable."""
    widths = {
        name: max([cells(heading), *(cells(row[name]) for row in rows)], default=0)
        for name, heading in HEADINGS.items()
    }
    widths["waits_for"] = min(widths["waits_for"], max(width // 5, 14))
    wanted = widths.pop("title")
    for name in _DISPENSABLE:
        if _left(widths, width) >= min(wanted, _READABLE_TITLE):
            break
        del widths[name]
    title = max(min(wanted, _left(widths, width)), 1)
    return {name: title if name == "title" else widths[name] for name in HEADINGS if name in widths or name == "title"}


def _left(widths: Mapping[str, int], width: int) -> int:
    """What a title gets beside the other columns."""
    return width - sum(widths.values()) - gap(width) * len(widths)


def table_lines(rows: Sequence[QueueRow], width: int, now: datetime) -> list[str]:
    """The whole table as text, headings first."""
    texts = [row_cells(row, now) for row in rows]
    chosen = columns(texts, width)
    between = " " * gap(width)
    return [between.join(pad(text[name], chosen[name]) for name in chosen).rstrip() for text in (HEADINGS, *texts)]


def pad(text: str, width: int) -> str:
    """The text in exactly `width` cells."""
    shown = shorten(text, width)
    return shown + " " * (width - cells(shown))
