"""Writing for people and for pipes: stdout is data, stderr is talk, and foreign text cannot steer the terminal."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Iterable

import msgspec

from reviewer_tui.model.text import cells, visible

PIPE_WIDTH = 100
_WIDEST = 160


def page_width() -> int:
    """The columns to fill: the terminal's, or 100 where stdout is none."""
    if not sys.stdout.isatty():
        return PIPE_WIDTH
    return max(40, min(shutil.get_terminal_size((PIPE_WIDTH, 24)).columns, _WIDEST))


def say(message: str) -> None:
    """One line of talk."""
    print(visible(message), file=sys.stderr)


def put(lines: Iterable[str]) -> None:
    """Lines of data. Each is made harmless; a reader that went away ends the program quietly."""
    try:
        for line in lines:
            sys.stdout.write(f"{visible(line)}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        _leave_quietly()


def put_raw(content: bytes) -> None:
    """Bytes as they are: a sign-off or JSON that must arrive unchanged."""
    try:
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
    except BrokenPipeError:
        _leave_quietly()


def _leave_quietly() -> None:
    """The reader closed the pipe: nothing more can be said, and the interpreter must not complain at its end."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(0)


def to_json(value: object, *, pretty: bool) -> bytes:
    """JSON with a final line feed; one line unless pretty."""
    encoded = msgspec.json.encode(value)
    return (msgspec.json.format(encoded, indent=2) if pretty else encoded) + b"\n"


def wrap(text: str, width: int, first: str = "", rest: str | None = None) -> list[str]:
    """Break a text at blanks to lines of at most `width` cells, behind `first` on the first line and `rest` on the
    others (as many blanks as `first` is wide, if not given). A word wider than a line stands alone, uncut."""
    rest = " " * cells(first) if rest is None else rest
    lines: list[str] = []
    current, used, start = first, cells(first), True
    for word in text.split():
        needed = cells(word) + (0 if start else 1)
        if not start and used + needed > width:
            lines.append(current)
            current, used, start = rest, cells(rest), True
            needed = cells(word)
        current += word if start else f" {word}"
        used += needed
        start = False
    lines.append(current)
    return [line.rstrip() for line in lines]


def table(rows: Iterable[tuple[str, ...]], indent: str = "  ") -> list[str]:
    """Rows as columns, each as wide as its widest cell, the last one ragged."""
    cooked = [tuple(visible(cell) for cell in row) for row in rows]
    if not cooked:
        return []
    widths = [max(cells(row[i]) for row in cooked if i < len(row)) for i in range(max(len(row) for row in cooked))]
    return [
        (indent + "  ".join(cell + " " * (widths[i] - cells(cell)) for i, cell in enumerate(row))).rstrip()
        for row in cooked
    ]
