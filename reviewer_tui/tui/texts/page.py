"""Text as the screens hold it: lines of pieces, each piece with the name of a style (see `widgets.looks`), free of any
terminal.

Pieces may hold a stranger's text as it is: it is made harmless in one place, `clean`, before it is laid out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rich.cells import cell_len

from reviewer_tui.model.finding import Status
from reviewer_tui.model.text import visible


class Target(NamedTuple):
    """What a line is about: a place in a file, a page, or a checklist item."""

    path: str = ""
    line: int | None = None
    url: str = ""
    item: str = ""


class Piece(NamedTuple):
    """A stretch of text in one style."""

    text: str
    style: str = "plain"


class Line(NamedTuple):
    """One line. `indent` is where its continuation starts when it is wrapped; a `row` of a table is cut instead."""

    pieces: tuple[Piece, ...]
    indent: int = 0
    target: Target | None = None
    row: bool = False

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)


def line(*pieces: Piece | str, indent: int = 0, target: Target | None = None) -> Line:
    """A line of pieces; a bare text is plain."""
    return Line(tuple(Piece(p) if isinstance(p, str) else p for p in pieces), indent, target)


BLANK = line("")


def letter(status: Status) -> Piece:
    """A status as its letter."""
    return Piece(status.letter, status.value)


def clean(text: str) -> str:
    """Text on one line: line feeds and tabs as blanks, everything that could steer or deceive made visible."""
    return visible(text.replace("\r\n", " ").translate(_TO_BLANK))


_TO_BLANK = {ord("\n"): " ", ord("\t"): " ", ord("\r"): " ", 0x2028: " ", 0x2029: " "}


def cut(text: str, width: int) -> str:
    """The text in at most `width` cells, two dots where something is missing."""
    if cell_len(text) <= width:
        return text
    if width <= 2:
        return "." * max(width, 0)
    used, kept = 2, []
    for character in text:
        used += cell_len(character)
        if used > width:
            break
        kept.append(character)
    return "".join(kept) + ".."


def pad(text: str, width: int) -> str:
    """The text in exactly `width` cells."""
    shown = cut(text, width)
    return shown + " " * (width - cell_len(shown))


def wrap(lines: Iterable[Line], width: int) -> list[tuple[int, Line]]:
    """The lines laid out to a width, each with the index of the line it comes from. Breaks at blanks, and inside a word
    only where the word alone is wider than the line."""
    rows: list[tuple[int, Line]] = []
    for index, whole in enumerate(lines):
        cleaned = whole._replace(pieces=tuple(Piece(clean(text), style) for text, style in whole.pieces))
        if width <= 0 or cell_len(cleaned.text) <= width:
            rows.append((index, cleaned))
        elif cleaned.row:
            rows.append((index, cleaned._replace(pieces=tuple(_cut_pieces(cleaned.pieces, width)))))
        else:
            rows.extend((index, part) for part in _wrapped(cleaned, width))
    return rows


def _cut_pieces(pieces: Iterable[Piece], width: int) -> Iterator[Piece]:
    for text, style in pieces:
        yield Piece(cut(text, width), style)
        width -= cell_len(text)
        if width <= 0:
            return


def _wrapped(whole: Line, width: int) -> Iterator[Line]:
    indent = min(whole.indent, width // 2)
    row: list[Piece] = []
    used = 0
    at_start = False  # of a continued line, where a blank is dropped
    for word, style in _words(whole.pieces, width - indent):
        length = cell_len(word)
        blank = word.isspace()
        if used + length > width and not blank:
            yield whole._replace(pieces=tuple(row))
            row, used, at_start = [Piece(" " * indent)], indent, True
        if blank and (at_start or used + length > width):
            continue
        at_start = False
        row.append(Piece(word, style))
        used += length
    yield whole._replace(pieces=tuple(row))


def _words(pieces: Sequence[Piece], longest: int) -> Iterator[Piece]:
    """The pieces cut at blanks (a run of blanks is a word), and words wider than a line cut to it."""
    for text, style in pieces:
        for word in _RUNS.findall(text):
            yield from (Piece(part, style) for part in _fitting(word, longest))


_RUNS = re.compile(" +|[^ ]+")


def _fitting(word: str, longest: int) -> Iterator[str]:
    """The word in parts of at most `longest` cells."""
    if len(word) <= longest // 2:
        yield word
        return
    start = used = 0
    for index, character in enumerate(word):
        width = cell_len(character)
        if used + width > longest and index > start:
            yield word[start:index]
            start, used = index, 0
        used += width
    yield word[start:]


def table(rows: Sequence[Sequence[Piece | str]], gap: int = 2) -> list[Line]:
    """Rows as columns, each as wide as its widest cell, the most important first: what does not fit is cut."""
    cooked = [[Piece(clean(p)) if isinstance(p, str) else Piece(clean(p.text), p.style) for p in row] for row in rows]
    columns = max((len(row) for row in cooked), default=0)
    widths = [max((cell_len(row[i].text) for row in cooked if i < len(row)), default=0) for i in range(columns)]
    lines = []
    for row in cooked:
        cells = [
            Piece(text + " " * (widths[i] - cell_len(text) + gap) if i < len(row) - 1 else text, style)
            for i, (text, style) in enumerate(row)
        ]
        lines.append(Line(tuple(cells), row=True))
    return lines
