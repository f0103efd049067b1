"""A pane of the review: evidence with a title, which folds to its title and summary where there is no room."""

from __future__ import annotations

from rich.segment import Segment
from textual.content import Content
from textual.strip import Strip

from reviewer_tui.tui.texts.page import Line, clean, cut
from reviewer_tui.tui.widgets.line_view import LineView


class Pane(LineView):
    """Lines under a title. With the class `-folded` it is one line: the title and the summary."""

    DEFAULT_CSS = """
    Pane {
        border: solid $foreground 35%;
        border-title-color: $foreground;
        border-title-style: bold;

        &:focus { border: solid $primary; border-title-color: $text-primary; }
        &.-related { border: solid $accent; border-title-color: $text-accent; }
        &.-folded { border: none; height: 1; overflow: hidden hidden; }
        &.-folded:focus { background: $primary 25%; }
        &.-folded:focus:nocolor { text-style: reverse; }
    }
    """

    def __init__(self, title: str, *, name: str, number: int | None = None, wrapped: bool = True) -> None:
        super().__init__(wrapped=wrapped, name=name)
        self.title = title
        self.summary = ""
        self.number = number
        self.related = False
        self._title_border()

    def show_facts(self, summary: str, lines: list[Line], *, top: bool = False) -> None:
        """Other contents."""
        self.summary = clean(summary)
        self._title_border()
        self.show(lines, top=top)

    def relate(self, related: bool) -> None:
        """Whether the pane holds the evidence of the item in focus: a mark in the title says so, and a colour."""
        if related != self.related:
            self.related = related
            self.set_class(related, "-related")
            self._title_border()

    @property
    def folded(self) -> bool:
        return self.has_class("-folded")

    @property
    def heading(self) -> str:
        mark = "> " if self.related else ""
        key = f"{self.number} " if self.number else ""
        return f"{mark}{key}{self.title}  {self.summary}".rstrip()

    def _title_border(self) -> None:
        self.border_title = Content(self.heading)

    def render_line(self, y: int) -> Strip:
        if not self.folded:
            return super().render_line(y)
        width = self.size.width
        text = f"  {self.heading}" if not self.related else self.heading
        style = self.rich_style + self.look("judgement" if self.related else "strong")
        return Strip([Segment(cut(text, width), style)]).crop_extend(0, width, self.rich_style)
