"""Screens that say what went wrong and what to do next."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import ClassVar, cast

import msgspec
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from reviewer_tui.tui.app import ReviewerApp
from reviewer_tui.tui.texts.page import clean


class ErrorScreen(Screen[None]):
    """The pull request could not be loaded: why, what to do, and a way to try again."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("r,enter", "retry", "try again")]
    DEFAULT_CSS = """
    ErrorScreen { padding: 1 2; }
    ErrorScreen #message { color: $text-error; text-style: bold; }
    ErrorScreen Static { height: auto; margin-bottom: 1; }
    """

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__()
        self.message = message
        self.remedy = remedy

    def compose(self) -> ComposeResult:
        app = cast(ReviewerApp, self.app)
        yield Static(clean(app.desk.title), markup=False)
        yield Static(clean(self.message), id="message", markup=False)
        if self.remedy:
            yield Static(clean(self.remedy), markup=False)
        yield Static(f"r try again   {'Q queue   ' if app.queue else ''}q quit", markup=False)

    def action_retry(self) -> None:
        self.query_one("#message", Static).update("loading")
        cast(ReviewerApp, self.app).load_review()


class UnsavedScreen(ModalScreen[None]):
    """Leaving failed because notes could not be saved: nothing is thrown away unasked."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "retry", "try again"),
        Binding("w", "write", "write to a file"),
        Binding("x", "discard", "leave without"),
        Binding("escape", "stay", "stay"),
    ]
    DEFAULT_CSS = """
    UnsavedScreen { align: center middle; }
    UnsavedScreen Static { width: 64; max-width: 100%; height: auto; padding: 1 2; background: $panel; }
    """

    def compose(self) -> ComposeResult:
        yield Static(
            "Your notes could not be saved, so nothing was closed.\n\n"
            "r try again   w write them to a file and leave\nx leave without them   Esc stay",
            markup=False,
        )

    @property
    def reviewer(self) -> ReviewerApp:
        return cast(ReviewerApp, self.app)

    async def action_retry(self) -> None:
        self.dismiss()
        await self.reviewer.leave()

    def action_write(self) -> None:
        unsaved = self.reviewer.unsaved
        if unsaved is not None:
            name = f"review-notes-{unsaved.snapshot.ref.number}-{unsaved.snapshot.head[:7]}-"
            with tempfile.NamedTemporaryFile("w", prefix=name, suffix=".json", delete=False) as file:
                json.dump(msgspec.to_builtins(unsaved.notes), file, ensure_ascii=False, indent=2)
            self.reviewer.unsaved = None
            self.app.exit(message=f"Your notes are in {Path(file.name)}")

    def action_discard(self) -> None:
        self.reviewer.unsaved = None
        self.app.exit()

    def action_stay(self) -> None:
        self.dismiss()
