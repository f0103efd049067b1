"""A line of a stranger's file as it may reach a terminal: nothing steers it, nothing is hidden, columns are true."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.cells import cell_len

from reviewer_tui.model.text import has_unsafe, visible

# Not in any line, since lines are cut at it: at a line's end it says that the file ends there without a line feed.
NO_LINE_FEED = "\n"

TAB_WIDTH = 4
TAB_MARK = "\u00bb"

# A line is laid out to this many characters; what follows is counted, not shown.
LONGEST_SHOWN = 20_000

# Blanks that look like the plain one but are none, and invisible characters beyond control codes and overrides.
_LOOKALIKES = re.compile(
    "[\u00a0\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u1680\u2000-\u200f\u202f\u205f\u3164\uffa0]"
)
_SPECIAL = re.compile("[\t\r]")
_UNPLAIN = re.compile("[^ -~]")

# A line with more of them is cut: nobody reads it, and each takes eight cells.
_MOST_HIDDEN = 1_000


# What may stand behind a line: how much of it was cut, and that the file ends without a line feed.
_ROOM = 40

# So many characters of lines that are not plain ASCII are measured exactly; of the rest a bound will do.
_MEASURED = 200_000


class Span(NamedTuple):
    """A stretch of the shown text (start, end in its characters) and what it is: `word` changed, `hidden` stands for
    something invisible, `blank` is a trailing blank."""

    start: int
    end: int
    kind: str


class Shown(NamedTuple):
    """A line ready to paint: no control character in `text`; `spans` in order of painting."""

    text: str
    spans: tuple[Span, ...]


def show_line(line: str, words: Iterable[tuple[int, int]] = (), *, blanks: bool = False) -> Shown:
    """The line with a tab as a mark and blanks to the next stop, everything invisible as `<U+202E>`, a carriage return
    at the end as `<CR>`, and a missing line feed as `<no line feed at the end of the file>`.

    `words` are the changed stretches in characters of the line; `blanks` marks blanks at the end.
    """
    body = line.removesuffix(NO_LINE_FEED)
    text, hidden, places, taken = _unhidden(body[:LONGEST_SHOWN])
    tail = f"<{len(body) - taken:,} more characters>" if taken < len(body) else ""
    if len(body) < len(line):
        tail += "<no line feed at the end of the file>"
    spans = [Span(_at(places, start), _at(places, end), "word") for start, end in words]
    if blanks:
        spans.extend(_trailing_blanks(text))
    spans.extend(Span(start, end, "hidden") for start, end in hidden)
    if tail:
        spans.append(Span(len(text), len(text) + len(tail), "hidden"))
    return Shown(text + tail, tuple(spans))


def widest(lines: Sequence[str], *, plain: bool = False) -> int:
    """How many cells the widest of the lines takes when it is shown, or a little more; quick where all of them are
    known to be plain printable ASCII."""
    if not lines:
        return 0
    if plain:
        longest = max(map(len, lines))
        if longest > LONGEST_SHOWN:
            return LONGEST_SHOWN + _ROOM
        # Only the last line can have something behind it.
        return max(longest, len(show_line(lines[-1]).text))
    common = special = measured = 0
    for line in lines:
        if line.isascii() and line.isprintable():
            common = max(common, len(line))
        elif measured < _MEASURED:
            measured += len(line)
            special = max(special, cell_len(show_line(line).text))
        else:
            special = max(special, min(10 * len(line), 2 * LONGEST_SHOWN))
    return max(min(common, LONGEST_SHOWN + _ROOM), special)


def _at(places: list[int] | None, index: int) -> int:
    return index if places is None else places[min(index, len(places) - 1)]


def _trailing_blanks(text: str) -> list[Span]:
    end = len(text.rstrip(" "))
    return [Span(end, len(text), "blank")] if end < len(text) else []


def _unhidden(body: str) -> tuple[str, list[tuple[int, int]], list[int] | None, int]:
    """The text to show, its stretches that stand for something hidden, where indexes moved each character's new index
    (and one more for the end), and how many characters of the body were taken."""
    if not _SPECIAL.search(body) and not has_unsafe(body) and not _LOOKALIKES.search(body):
        return body, [], None, len(body)
    pieces: list[str] = []
    hidden: list[tuple[int, int]] = []
    places: list[int] = []
    length = taken = 0
    for found in _UNPLAIN.finditer(body):
        at = found.start()
        if found[0] == "\t":
            piece = _tab(cell_len("".join(pieces) + body[taken:at]))
        else:
            piece = _piece(found[0], at_end=at == len(body) - 1)
        if piece == found[0]:
            continue
        if len(hidden) == _MOST_HIDDEN:
            return "".join(pieces), hidden, [*places, length], taken
        places.extend(range(length, length + at - taken + 1))
        pieces += (body[taken:at], piece)
        length += at - taken + len(piece)
        hidden.append((length - len(piece), length))
        taken = at + 1
    places.extend(range(length, length + len(body) - taken + 1))
    pieces.append(body[taken:])
    return "".join(pieces), hidden, places, len(body)


def _tab(column: int) -> str:
    return TAB_MARK.ljust(TAB_WIDTH - column % TAB_WIDTH)


def _piece(character: str, *, at_end: bool) -> str:
    """What stands for a character: itself where it can be seen."""
    if character == "\r" and at_end:
        return "<CR>"
    if _LOOKALIKES.match(character):
        return f"<U+{ord(character):04X}>"
    return visible(character)
