"""A scrolling view of lines, the base of every pane and list: its cost follows what is visible, not what there is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from reviewer_tui.tui.actions import bindings
from reviewer_tui.tui.texts.page import Line, Target, wrap
from reviewer_tui.tui.widgets.looks import make_looks
from reviewer_tui.tui.widgets.scroll import fit_scroll_bars


class LineView(ScrollView, can_focus=True):
    """Lines, wrapped to the width or cut at it, with a cursor line while it has the focus."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = bindings("list")
    DEFAULT_CSS = """
    LineView {
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 1;
        scrollbar-gutter: stable;
        overflow-x: hidden;
        background: $surface;
        color: $foreground;
    }
    """

    cursor: reactive[int] = reactive(0, repaint=False)

    class Chosen(Message):
        """Enter, or a click, on a line that is about something."""

        def __init__(self, view: LineView, target: Target) -> None:
            super().__init__()
            self.view = view
            self.target = target

        @property
        def control(self) -> LineView:
            return self.view

    def __init__(self, lines: Sequence[Line] = (), *, wrapped: bool = True, name: str | None = None) -> None:
        super().__init__(id=name)
        self.wrapped = wrapped
        self.lines: Sequence[Line] = lines
        self.rows: list[tuple[int, Line]] = []
        self._laid_out_for = -1
        self._found = ""
        self._wanted = ""
        self._looks: dict[str, Style] | None = None

    def show(self, lines: Sequence[Line], *, top: bool = False) -> None:
        """Show other lines; the place is kept as far as it exists, or the view goes to the top."""
        self.lines = lines
        self._laid_out_for = -1
        if top:
            self.cursor = 0
            self.scroll_to(0, 0, animate=False)
        self._lay_out()

    def _lay_out(self) -> None:
        width = self.scrollable_content_region.width
        if width <= 0 or width == self._laid_out_for:
            return
        self._laid_out_for = width
        self.rows = self.make_rows(width)
        self.virtual_size = Size(width, len(self.rows))
        self.cursor = min(self.cursor, max(len(self.rows) - 1, 0))
        self.refresh()
        if self._wanted:
            self.go_to_heading(self._wanted)

    def make_rows(self, width: int) -> list[tuple[int, Line]]:
        """The rows for a width, each with the index of its line."""
        lines = self.lines if self.wrapped else [line._replace(row=True) for line in self.lines]
        return wrap(lines, width)

    def on_mount(self) -> None:
        fit_scroll_bars(self)

    def on_resize(self) -> None:
        self._lay_out()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    @property
    def cursor_shown(self) -> bool:
        return self.has_focus

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        row = self.scroll_offset.y + y
        if row >= len(self.rows):
            return Strip.blank(width, self.rich_style)
        line = self.marked(row, self.rows[row][1])
        return self.paint(row, line).crop_extend(0, width, self._row_style(row))

    def marked(self, row: int, line: Line) -> Line:
        """The row with whatever marks its place; nothing here."""
        return line

    def paint(self, row: int, line: Line) -> Strip:
        """A row as segments."""
        base = self._row_style(row)
        segments = [Segment(text, base + self.look(style)) for text, style in line.pieces if text]
        return Strip(self._with_found(segments) if self._found else segments)

    def look(self, style: str) -> Style:
        """What a style's name looks like, to be put over the row's own style."""
        if self._looks is None:
            self._looks = make_looks(self.app)
        return self._looks[style]

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._looks = None

    def _row_style(self, row: int) -> Style:
        if row == self.cursor and self.cursor_shown:
            return self.rich_style + self.look("cursor")
        return self.rich_style

    def _with_found(self, segments: list[Segment]) -> list[Segment]:
        """The segments with every place of the searched text marked."""
        mark = self.look("found")
        marked: list[Segment] = []
        for text, style, _ in segments:
            rest, lowered = text, text.lower()
            while (at := lowered.find(self._found)) >= 0:
                end = at + len(self._found)
                marked += [Segment(rest[:at], style), Segment(rest[at:end], (style or Style.null()) + mark)]
                rest, lowered = rest[end:], lowered[end:]
            marked.append(Segment(rest, style))
        return marked

    def watch_cursor(self, old: int, new: int) -> None:
        self.refresh_line(old)
        self.refresh_line(new)

    def move_to(self, row: int) -> None:
        """Put the cursor on a row and bring it into view."""
        self.cursor = max(0, min(row, len(self.rows) - 1))
        self.scroll_to_row(self.cursor)

    def scroll_to_row(self, row: int) -> None:
        self.scroll_to_region(Region(0, row, 1, 1), animate=False, force=True)

    def find(self, text: str, *, forward: bool = True, stay: bool = False) -> bool:
        """Mark a text (any case) and go to the next row that has it, round the end; whether there is one."""
        self._found = text.lower()
        self.refresh()
        if not text:
            return False
        count = len(self.rows)
        step = 1 if forward else -1
        for distance in range(0 if stay else 1, count + 1):
            row = (self.cursor + step * distance) % count if count else 0
            if count and self._found in self.full_text(row).lower():
                self.move_to(row)
                return True
        return False

    def go_to_heading(self, heading: str) -> None:
        """Bring the first row that starts with a text, a status letter before it or not, to the top; as soon as the
        view has rows."""
        starts = (heading, f"U {heading}")
        row = next((i for i, (_, row) in enumerate(self.rows) if row.text.startswith(starts)), None)
        self._wanted = "" if self.rows else heading
        if row is not None:
            self.move_to(row)
            self.scroll_to(None, row, animate=False)

    def full_text(self, row: int) -> str:
        """What a row says, with what was cut off."""
        index, shown = self.rows[row]
        return self.lines[index].text if shown.row and index < len(self.lines) else shown.text

    @property
    def target(self) -> Target | None:
        """What the cursor's line is about."""
        return self.rows[self.cursor][1].target if self.cursor < len(self.rows) else None

    def action_up(self) -> None:
        self.move_to(self.cursor - 1)

    def action_down(self) -> None:
        self.move_to(self.cursor + 1)

    def action_page_up(self) -> None:
        self.move_to(self.cursor - max(self.size.height - 1, 1))

    def action_page_down(self) -> None:
        self.move_to(self.cursor + max(self.size.height - 1, 1))

    def action_first(self) -> None:
        self.move_to(0)

    def action_last(self) -> None:
        self.move_to(len(self.rows) - 1)

    def action_choose(self) -> None:
        if self.target:
            self.post_message(self.Chosen(self, self.target))

    def on_click(self, event: events.Click) -> None:
        place = event.get_content_offset(self)
        row = place.y + self.scroll_offset.y if place is not None else -1
        if place is not None and 0 <= row < len(self.rows):
            self.clicked(row, place.x, twice=event.chain > 1)

    def clicked(self, row: int, column: int, *, twice: bool) -> None:
        """One click puts the cursor on the line, two open it."""
        self.move_to(row)
        if twice:
            self.action_choose()
