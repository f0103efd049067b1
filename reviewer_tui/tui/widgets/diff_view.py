"""A diff on the screen: it paints the rows that are visible, and costs the same however long the file is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import ClassVar, Literal

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from reviewer_tui.tui.actions import bindings
from reviewer_tui.tui.diff.file_diff import FileDiff
from reviewer_tui.tui.diff.rows import Mode, Row, Rows
from reviewer_tui.tui.diff.shown import Shown, Span, show_line
from reviewer_tui.tui.diff.syntax import syntax_spans
from reviewer_tui.tui.diff.words import Marks, word_marks
from reviewer_tui.tui.texts.page import clean, cut
from reviewer_tui.tui.widgets.looks import make_looks
from reviewer_tui.tui.widgets.scroll import fit_scroll_bars

_SIGNS = {"same": " ", "removed": "-", "added": "+"}

# How far up a fold looks for the key or function it lies in.
_HEADING_REACH = 2_000


class DiffView(ScrollView, can_focus=True):
    """The rows of one file's diff with a cursor row; lines are never wrapped, they scroll sideways."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = bindings("list")
    DEFAULT_CSS = """
    DiffView {
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 1;
        scrollbar-gutter: stable;
        background: $surface;
        color: $foreground;
    }
    """

    cursor: reactive[int] = reactive(0, repaint=False)

    class Moved(Message):
        """The cursor is on another row."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(id=name)
        self.rows: Rows | None = None
        self.reason = ""
        self.mode: Mode = "unified"
        self.whole = False
        self._expanded: frozenset[int] = frozenset()
        self._found = ""
        self._made_looks: dict[str, Style] | None = None
        self._strips: LRUCache[tuple[object, ...], Strip] = LRUCache(512)
        self._shown: LRUCache[tuple[object, ...], Shown] = LRUCache(1_024)

    # --- contents ---------------------------------------------------------------------------------------------------

    @property
    def diff(self) -> FileDiff | None:
        return self.rows.diff if self.rows is not None else None

    def show(self, diff: FileDiff, rows: Rows | None = None) -> None:
        """Show a file's diff from its first change on; `rows` where they were made already."""
        self._expanded = frozenset()
        self._shown.clear()
        self.reason = diff.unreadable
        self._set_rows(rows or Rows(diff, self.mode, whole=self.whole))
        assert self.rows is not None
        self.cursor = self.rows.changes[0] if self.rows.changes else 0
        self.scroll_to(0, max(self.cursor - 4, 0), animate=False)

    def say(self, reason: str) -> None:
        """Show a sentence instead of a diff."""
        self.rows, self.reason = None, reason
        self.virtual_size = Size(0, 0)
        self.refresh()

    def set_mode(self, mode: Mode, *, whole: bool) -> None:
        """Unified or split, folded or whole; the cursor stays on its line."""
        self.mode, self.whole = mode, whole
        self._remake()

    def _remake(self) -> None:
        if self.rows is None or self.diff is None or not len(self.rows):
            return
        row = self.rows[min(self.cursor, len(self.rows) - 1)]
        top = self.cursor - self.scroll_offset.y
        self._set_rows(Rows(self.diff, self.mode, whole=self.whole, expanded=self._expanded))
        side: Literal["old", "new"] = "new" if row.new is not None else "old"
        line = row.new if row.new is not None else row.old
        place = self.rows.row_of(side, line) if line is not None else 0
        self.cursor = place or 0
        self.scroll_to(None, max(self.cursor - top, 0), animate=False)

    def _set_rows(self, rows: Rows) -> None:
        self.rows = rows
        self._strips.clear()
        self._measure()
        self.refresh()

    def _measure(self) -> None:
        """The whole size: notes above the rows; to the side, as far as the widest line does not fit its column."""
        if self.rows is None or self.diff is None:
            return
        width = self.size.width
        column = (width - 1) // 2 if self.mode == "split" else width
        beyond = max(self.diff.width + self._gutter - column, 0)
        self.virtual_size = Size(width + beyond, len(self.notes) + len(self.rows))

    @property
    def notes(self) -> tuple[str, ...]:
        """What stands above the rows."""
        if self.diff is None:
            return ()
        nothing = () if self.diff.unreadable or self.rows is None or self.rows.changes else ("No line is changed.",)
        return (*self.diff.notes, *nothing)

    def go_to_line(self, line: int) -> None:
        """Put the cursor on a line (from 1) of the new side, unfolding it."""
        if self.rows is None:
            return
        row = self.rows.row_of("new", line - 1)
        if row is not None and self.rows[row].kind == "fold":
            self._expanded |= {self.rows[row].op}
            self._remake()
            row = self.rows.row_of("new", line - 1)
        if row is not None:
            self.move_to(row, middle=True)

    # --- painting ---------------------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        fit_scroll_bars(self)

    def on_resize(self) -> None:
        self._strips.clear()
        self._measure()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._made_looks = None
        self._strips.clear()

    @property
    def _looks(self) -> dict[str, Style]:
        if self._made_looks is None:
            self._made_looks = make_looks(self.app)
        return self._made_looks

    @property
    def _digits(self) -> int:
        longest = max(len(self.diff.old), len(self.diff.new)) if self.diff is not None else 0
        return max(len(str(longest)), 3)

    @property
    def _gutter(self) -> int:
        """Columns before the text: the number or both, and the sign."""
        return (self._digits + 1) * (1 if self.mode == "split" else 2) + 3

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        row = self.scroll_offset.y + y
        if self.rows is None or self.diff is None or self.reason:
            text = f" {clean(self.reason)}" if y == 1 else ""
            return Strip([Segment(cut(text, width), self.rich_style)]).crop_extend(0, width, self.rich_style)
        if row < len(self.notes):
            style = self.rich_style + self._looks["fold"]
            return Strip([Segment(cut(f" {clean(self.notes[row])}", width), style)]).crop_extend(0, width, style)
        row -= len(self.notes)
        if row >= len(self.rows):
            return Strip.blank(width, self.rich_style)
        under = row == self.cursor
        key = (row, width, self.scroll_offset.x, under, self._found)
        strip = self._strips.get(key)
        if strip is None:
            paint = self._split_strip if self.mode == "split" else self._unified_strip
            made = self.rows[row]
            strip = self._fold_strip(made, width) if made.kind == "fold" else paint(made, width)
            if under:
                strip = self._with_cursor(strip)
            self._strips[key] = strip
        return strip

    def _with_cursor(self, strip: Strip) -> Strip:
        """The row under the cursor: a mark in front, and a colour where nothing else has one."""
        look = self._looks["cursor"]
        plain = self.rich_style.bgcolor
        first, *rest = strip
        segments = [Segment(first.text[1:], first.style), *rest]
        return Strip(
            [
                Segment(">", (first.style or Style.null()) + self._looks["mark"]),
                *(
                    Segment(text, (style or Style.null()) + look if style is None or style.bgcolor == plain else style)
                    for text, style, _ in segments
                ),
            ]
        )

    def _fold_strip(self, row: Row, width: int) -> Strip:
        style = self.rich_style + self._looks["fold"]
        heading = self._heading(row)
        text = f" ...  {row.lines:,} unchanged lines{f', then {heading}' if heading else ''}   (Enter unfolds)"
        return Strip([Segment(cut(text, width), style)]).crop_extend(0, width, style)

    def _heading(self, row: Row) -> str:
        """The line at the left margin that what follows the fold belongs to: a config key, a function."""
        assert self.diff is not None
        if row.op == len(self.diff.ops) - 1:
            return ""
        end = (row.new or 0) + row.lines
        for at in range(end - 1, max(end - _HEADING_REACH, -1), -1):
            text = self.diff.new[at]
            if text[:1].strip() and text[0] not in "#-}])":
                return clean(text.strip().removesuffix(":"))[:80]
        return ""

    def _unified_strip(self, row: Row, width: int) -> Strip:
        assert self.diff is not None
        digits = self._digits
        numbers = f" {_number(row.old, digits)} {_number(row.new, digits)} {_SIGNS[row.kind]} "
        side: Literal["old", "new"] = "old" if row.new is None else "new"
        base = self._base(row.kind)
        gutter = Segment(numbers, base + self._looks["number"])
        index = row.new if row.new is not None else row.old
        body = self._text(side, index or 0, row.partner, base, row.kind, width - len(numbers))
        return Strip([gutter, *body]).crop_extend(0, width, base)

    def _split_strip(self, row: Row, width: int) -> Strip:
        half = (width - 1) // 2
        left = self._half("old", row.old, row.new if row.kind == "changed" else None, row.kind, half)
        right = self._half("new", row.new, row.old if row.kind == "changed" else None, row.kind, width - 1 - half)
        return Strip([*left, Segment("|", self.rich_style + self._looks["number"]), *right])

    def _half(
        self, side: Literal["old", "new"], index: int | None, partner: int | None, kind: str, width: int
    ) -> Iterable[Segment]:
        """One side of a split row."""
        if index is None:
            return [Segment(" " * width, self.rich_style + self._looks["line-absent"])]
        own = "same" if kind == "same" else "removed" if side == "old" else "added"
        base = self._base(own)
        numbers = f" {_number(index, self._digits)} {_SIGNS[own]} "
        gutter = Segment(numbers, base + self._looks["number"])
        body = self._text(side, index, partner, base, own, width - len(numbers))
        return Strip([gutter, *body]).crop_extend(0, width, base)

    def _base(self, kind: str) -> Style:
        return self.rich_style + self._looks[f"line-{kind}"] if kind in ("added", "removed") else self.rich_style

    def _text(
        self, side: Literal["old", "new"], index: int, partner: int | None, base: Style, kind: str, width: int
    ) -> list[Segment]:
        """The visible part of a line as segments."""
        shown = self._show(side, index, partner, kind)
        start, end = _window(shown.text, self.scroll_offset.x, width)
        spans = [span for span in shown.spans if span.start < end and span.end > start]
        spans += self._found_spans(shown.text, start, end)
        return self._painted(shown.text, start, end, spans, base, kind)

    def _show(self, side: Literal["old", "new"], index: int, partner: int | None, kind: str) -> Shown:
        assert self.diff is not None
        key = (side, index, partner)
        shown = self._shown.get(key)
        if shown is None:
            lines: Sequence[str] = self.diff.old if side == "old" else self.diff.new
            words = self._words(side, index, partner)
            shown = show_line(lines[index], words, blanks=kind != "same")
            syntax = syntax_spans(self.diff.path, shown.text)
            shown = Shown(shown.text, (*syntax, *shown.spans))
            self._shown[key] = shown
        return shown

    def _words(self, side: str, index: int, partner: int | None) -> tuple[tuple[int, int], ...]:
        assert self.diff is not None
        if partner is None:
            return ()
        old, new = (index, partner) if side == "old" else (partner, index)
        marks: Marks = word_marks(self.diff.old[old], self.diff.new[new])
        return marks.old if side == "old" else marks.new

    def _found_spans(self, text: str, start: int, end: int) -> list[Span]:
        if not self._found:
            return []
        exact = self._found != self._found.lower()
        lowered = text if exact else text.lower()
        spans, at = [], lowered.find(self._found, max(start - len(self._found), 0))
        while 0 <= at < end:
            spans.append(Span(at, at + len(self._found), "found"))
            at = lowered.find(self._found, at + len(self._found))
        return spans

    def _painted(self, text: str, start: int, end: int, spans: list[Span], base: Style, kind: str) -> list[Segment]:
        """The text from start to end, cut wherever a span begins or ends; later spans lie over earlier ones."""
        cuts = sorted({start, end, *(at for span in spans for at in (span.start, span.end) if start < at < end)})
        segments = []
        for a, b in pairwise(cuts):
            style = base
            for span in spans:
                if span.start <= a and b <= span.end:
                    style += self._looks[_look_of(span.kind, kind)]
            segments.append(Segment(text[a:b], style))
        return segments

    # --- moving -----------------------------------------------------------------------------------------------------

    def watch_cursor(self, old: int, new: int) -> None:
        if old != new:
            self.refresh_line(old + len(self.notes))
            self.refresh_line(new + len(self.notes))
            self.post_message(self.Moved())

    def move_to(self, row: int, *, middle: bool = False) -> None:
        """Put the cursor on a row and bring it into view, in the middle if wished."""
        if self.rows is None:
            return
        self.cursor = max(0, min(row, len(self.rows) - 1))
        place = self.cursor + len(self.notes)
        if middle and not 0 <= place - self.scroll_offset.y < self.size.height - 2:
            self.scroll_to(None, max(place - self.size.height // 3, 0), animate=False)
        self.scroll_to_region(Region(self.scroll_offset.x, place, 1, 1), animate=False, force=True)

    @property
    def change(self) -> tuple[int, int]:
        """Which change the cursor is at or behind (from 1; 0 before the first), and how many there are."""
        if self.rows is None:
            return 0, 0
        return sum(first <= self.cursor for first in self.rows.changes), len(self.rows.changes)

    def next_change(self) -> bool:
        """Go to the next change; whether there is one."""
        row = self.rows.next_change(self.cursor) if self.rows is not None else None
        if row is not None:
            self.move_to(row, middle=True)
        return row is not None

    def previous_change(self) -> bool:
        """Go to the change before; whether there is one."""
        row = self.rows.previous_change(self.cursor) if self.rows is not None else None
        if row is not None:
            self.move_to(row, middle=True)
        return row is not None

    def find(self, text: str, *, forward: bool = True, stay: bool = False) -> bool:
        """Mark a text and go to the next row that has it, round the end, unfolding it; whether there is one."""
        self._found = text
        self._strips.clear()
        self.refresh()
        if not text or self.rows is None:
            return False
        start = self.cursor - 1 if stay else self.cursor
        row = self.rows.find(text, start, backwards=not forward)
        if row is None:
            return False
        if self.rows[row].kind == "fold":
            before = self.rows[row]
            self._expanded |= {before.op}
            self._remake()
            first = self.rows.row_of("new", before.new or 0)
            row = self.rows.find(text, (first or 0) - 1)
        if row is not None:
            self.move_to(row, middle=True)
        return row is not None

    def action_up(self) -> None:
        self.move_to(self.cursor - 1)

    def action_down(self) -> None:
        self.move_to(self.cursor + 1)

    def action_page_up(self) -> None:
        self._page(-1)

    def action_page_down(self) -> None:
        self._page(1)

    def _page(self, direction: int) -> None:
        """A screenful on: the view and the cursor together, one row kept."""
        step = max(self.size.height - 1, 1)
        self.scroll_to(None, self.scroll_offset.y + direction * step, animate=False)
        self.move_to(self.cursor + direction * step)

    def action_first(self) -> None:
        self.move_to(0)

    def action_last(self) -> None:
        self.move_to(len(self.rows) - 1 if self.rows is not None else 0)

    def action_choose(self) -> None:
        """Unfold the fold under the cursor."""
        if self.rows is not None and len(self.rows) and self.rows[self.cursor].kind == "fold":
            self._expanded |= {self.rows[self.cursor].op}
            self._remake()

    def on_click(self, event: events.Click) -> None:
        place = event.get_content_offset(self)
        row = place.y + self.scroll_offset.y - len(self.notes) if place is not None else -1
        if self.rows is not None and 0 <= row < len(self.rows):
            self.move_to(row)
            if event.chain > 1:
                self.action_choose()


def _look_of(span: str, row: str) -> str:
    """The look of a span in a row of some kind."""
    if span == "word":
        return f"word-{row}" if row != "same" else "strong"
    return f"syntax-{span}" if span in ("key", "comment") else span


def _number(index: int | None, digits: int) -> str:
    return " " * digits if index is None else f"{index + 1:>{digits}}"


def _window(text: str, left: int, width: int) -> tuple[int, int]:
    """The characters (start, end) that lie in the cells from `left` on; a wide one cut at the edge is left out."""
    if text.isascii():
        return min(left, len(text)), min(left + max(width, 0), len(text))
    start, used = 0, 0
    while start < len(text) and used < left:
        used += cell_len(text[start])
        start += 1
    end, used = start, 0
    while end < len(text):
        used += cell_len(text[end])
        if used > width:
            break
        end += 1
    return start, end
