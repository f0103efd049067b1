"""Writing the note of an item: every key is kept, Escape only closes."""

from __future__ import annotations

from typing import ClassVar, cast

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from reviewer_tui.model.checklist import ChecklistItem
from reviewer_tui.policy.items import plain_text
from reviewer_tui.tui.actions import bindings
from reviewer_tui.tui.app import ReviewerApp
from reviewer_tui.tui.texts.naming import short_name
from reviewer_tui.tui.texts.page import clean


class NoteScreen(ModalScreen[None]):
    """The note of one item over the review."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("note", priority=True)
    DEFAULT_CSS = """
    NoteScreen { align: center middle; }
    NoteScreen #box {
        width: 100; max-width: 100%; height: 60%; min-height: 9; max-height: 100%;
        border: solid $primary; background: $surface; border-title-style: bold;
    }
    NoteScreen Static { height: auto; max-height: 4; padding: 0 1; }
    NoteScreen .key { color: $text-accent; }
    NoteScreen TextArea, NoteScreen TextArea:focus { height: 1fr; border: none; padding: 0 1; }
    """

    def __init__(self, item: ChecklistItem, note: str, draft: str) -> None:
        super().__init__()
        self.item = item
        self.note = note
        self.draft = draft

    def compose(self) -> ComposeResult:
        with Vertical(id="box") as box:
            box.border_title = Content(f"Note for {self.item.label} {short_name(self.item)}")
            yield Static(clean(plain_text(self.item.text)), markup=False)
            yield TextArea(self.note, soft_wrap=True)
            if self.draft:
                yield Static(f"offered: {clean(self.draft)}", markup=False)
            take = "Ctrl+T take the offered sentence   " if self.draft else ""
            yield Static(f"{take}Esc close, the text is kept", markup=False, classes="key")

    def on_mount(self) -> None:
        area = self.query_one(TextArea)
        area.focus()
        area.move_cursor(area.document.end)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        text = event.text_area.text
        if text != self.note:
            self.note = text
            cast(ReviewerApp, self.app).write_note(self.item.label, text)

    def action_draft(self) -> None:
        if self.draft:
            area = self.query_one(TextArea)
            area.insert(self.draft if not area.text else f"\n{self.draft}", area.document.end)

    def action_close(self) -> None:
        self.dismiss()
