"""Two texts against each other, over the screen that asked."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.screen import ModalScreen

from reviewer_tui.tui.actions import bindings
from reviewer_tui.tui.diff.file_diff import file_diff
from reviewer_tui.tui.texts.page import clean
from reviewer_tui.tui.widgets.diff_view import DiffView


class ComparisonScreen(ModalScreen[None]):
    """What changes from one text to another, whole, words marked."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("dialog")
    DEFAULT_CSS = """
    ComparisonScreen #text { border: solid $primary; border-title-style: bold; }
    """

    def __init__(self, title: str, old: str, new: str) -> None:
        super().__init__()
        self.heading = title
        self.old = old
        self.new = new

    def compose(self) -> ComposeResult:
        view = DiffView("text")
        view.border_title = Content(clean(self.heading))
        yield view

    def on_mount(self) -> None:
        view = self.query_one(DiffView)
        view.whole = True
        view.show(file_diff("sign-off.md", _bytes(self.old), _bytes(self.new)))
        view.focus()

    def action_close(self) -> None:
        self.dismiss()


def _bytes(text: str) -> bytes:
    """Line ends of a web form are no difference, and neither is a missing one at the end."""
    return (text.replace("\r\n", "\n").rstrip() + "\n").encode("utf-8", "replace")
