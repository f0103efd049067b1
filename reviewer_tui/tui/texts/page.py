"""Text as the screens hold it: lines of pieces, each piece with the name of a style (see `widgets.looks`), free of any
terminal.

Pieces may hold a stranger's text as it is: it is made harmless in one place, `clean`, before it is laid out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rich.cells import cell_len

from reviewer_tui.model.finding import Status
from reviewer_tui.model.text import visible


class Target(NamedTuple):
    """What a line is about: a place in a file, a page, a checklist item, or a job (by its id) whose log can be read."""

    path: str = ""
    line: int | None = None
    url: str = ""
    item: str = ""
    job: int = 0


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


def beside_mark(warns: bool) -> Piece:
    """The column behind a letter: an exclamation mark where something is warned of beside the rule."""
    return Piece("!", Status.WARN.value) if warns else Piece(" ")


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
        text = cleaned.text
        if width <= 0 or (len(text) if text.isascii() else cell_len(text)) <= width:
            rows.append((index, cleaned))
        elif cleaned.row:
            rows.append((index, cleaned._replace(pieces=tuple(_cut_pieces(cleaned.pieces, width)))))
        else:
            indent = min(whole.indent, width // 2)
            rows.extend((index, part) for part in _parts(cleaned, _breaks(text, width, indent), indent))
    return rows


def _breaks(text: str, width: int, indent: int) -> Iterator[tuple[int, int]]:
    """Where a text is broken: the start and end of each row, the blanks between two rows left out."""
    start, room = 0, width
    while start < len(text):
        fits = start + _fitting(text, start, room)
        if fits >= len(text):
            yield start, len(text)
            return
        end = text.rfind(" ", start, fits + 1)
        if end < 0 or not text[start:end].strip(" "):
            end = fits
        yield start, end
        start = end
        while start < len(text) and text[start] == " ":
            start += 1
        room = width - indent


def _fitting(text: str, start: int, room: int) -> int:
    """How many characters from a place on fit into so many cells; at least one."""
    some = text[start : start + room]
    if some.isascii():
        return max(len(some), 1)
    used = 0
    for count, character in enumerate(some):
        used += cell_len(character)
        if used > room:
            return max(count, 1)
    return max(len(some), 1)


def _parts(whole: Line, breaks: Iterable[tuple[int, int]], indent: int) -> Iterator[Line]:
    """The rows of a broken line; from the second on they are indented."""
    pieces = list(whole.pieces)
    passed = 0  # characters of the pieces that are used up
    before: tuple[Piece, ...] = ()
    for start, end in breaks:
        row = []
        at = start
        while at < end:
            text, style = pieces[0]
            if passed + len(text) <= at:
                passed += len(text)
                pieces.pop(0)
                continue
            part = text[at - passed : end - passed]
            row.append(Piece(part, style))
            at += len(part)
        yield whole._replace(pieces=(*before, *row))
        before = (Piece(" " * indent),) if indent else ()


def _cut_pieces(pieces: Iterable[Piece], width: int) -> Iterator[Piece]:
    for text, style in pieces:
        yield Piece(cut(text, width), style)
        width -= cell_len(text)
        if width <= 0:
            return


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
