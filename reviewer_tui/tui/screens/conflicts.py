"""What two processes wrote differently: both texts, and a key to take the other one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

import msgspec
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from reviewer_tui.model.checklist import Decision, ItemMark, ReviewNotes
from reviewer_tui.model.errors import ReviewerError
from reviewer_tui.store.drafts import DETAIL, Conflict
from reviewer_tui.tui.actions import actions_of, bindings
from reviewer_tui.tui.app import ReviewerApp
from reviewer_tui.tui.diff.file_diff import file_diff
from reviewer_tui.tui.texts.page import clean
from reviewer_tui.tui.widgets.diff_view import DiffView

_DECISIONS = frozenset(decision.value for decision in Decision)

_DRAFTED = "(drafted by the program, not edited)"
"""What is shown in the place of a detail section that nobody edited."""


class ConflictScreen(ModalScreen[None]):
    """One conflict at a time, the text that stands now against the other one."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("conflict")
    DEFAULT_CSS = """
    ConflictScreen #text { border: solid $primary; border-title-style: bold; height: 1fr; }
    ConflictScreen Static { height: auto; padding: 0 1; background: $panel; color: $text-accent; }
    """

    def __init__(self, conflicts: Sequence[Conflict]) -> None:
        super().__init__()
        self.conflicts = conflicts
        self._at = len(conflicts) - 1
        # What stood there before the other text was taken: the text of the conflict, or one that was typed since.
        self._mine = {at: conflict.ours for at, conflict in enumerate(conflicts)}

    @property
    def reviewer(self) -> ReviewerApp:
        return cast(ReviewerApp, self.app)

    def compose(self) -> ComposeResult:
        yield DiffView("text")
        keys = "   ".join(f"{action.shown_key} {action.label}" for action in actions_of("conflict"))
        yield Static(keys, markup=False)

    def on_mount(self) -> None:
        view = self.query_one(DiffView)
        view.whole = True
        view.focus()
        self._show()

    def _show(self) -> None:
        """The text that stands now as the old side, the other one as the new."""
        conflict = self.conflicts[self._at]
        now, other = self._present(conflict), self._other(conflict)
        what = "the detail section" if conflict.label == DETAIL else f"item {conflict.label}"
        view = self.query_one(DiffView)
        count = f"{self._at + 1} of {len(self.conflicts)}"
        view.border_title = Content(clean(f"{count}: {what}, from what stands now (-) to the other (+)"))
        view.show(file_diff(f"{conflict.label}.md", _bytes(now), _bytes(other)))

    def _present(self, conflict: Conflict) -> str | None:
        """What the notes have now; None for a detail section that nobody edited."""
        review = self.reviewer.review
        notes = review.notes if review else ReviewNotes()
        if conflict.label == DETAIL:
            return notes.detail
        mark = notes.mark(conflict.label)
        return mark.decision.value if _is_decision(conflict) else mark.note

    def _other(self, conflict: Conflict) -> str | None:
        return self._mine[self._at] if self._present(conflict) == conflict.theirs else conflict.theirs

    def action_take(self) -> None:
        """Exchange what stands now for the other text; the conflict stays, so that a second time takes it back."""
        review = self.reviewer.review
        if review is None:
            return
        conflict = self.conflicts[self._at]
        now, taken = self._present(conflict), self._other(conflict)
        if now != conflict.theirs:
            self._mine[self._at] = now
        self.reviewer.write_notes(_with(review.notes, conflict, taken))
        self._show()

    def action_next(self) -> None:
        self._at = (self._at + 1) % len(self.conflicts)
        self._show()

    def action_forget(self) -> None:
        review = self.reviewer.review
        if review is None or not self.reviewer.keep_notes():
            return
        try:
            self.reviewer.desk.forget_conflicts(review)
        except ReviewerError as error:
            self.reviewer.say(str(error), "error")
            return
        self.dismiss()

    def action_close(self) -> None:
        self.dismiss()


def _is_decision(conflict: Conflict) -> bool:
    return {conflict.ours, conflict.theirs} <= _DECISIONS


def _with(notes: ReviewNotes, conflict: Conflict, text: str | None) -> ReviewNotes:
    """The notes with one side of a conflict in its place."""
    if conflict.label == DETAIL or text is None:
        return msgspec.structs.replace(notes, detail=text)
    mark = notes.mark(conflict.label)
    new = ItemMark(Decision(text), mark.note) if _is_decision(conflict) else ItemMark(mark.decision, text)
    return msgspec.structs.replace(notes, marks={**notes.marks, conflict.label: new})


def _bytes(text: str | None) -> bytes:
    return ((_DRAFTED if text is None else text.rstrip()) + "\n").encode("utf-8", "replace")
