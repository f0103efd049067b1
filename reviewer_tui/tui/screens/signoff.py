"""The sign-off as it would be posted, beside what is wrong with it; its detail section can be edited."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from functools import partial
from pathlib import Path
from typing import ClassVar

import msgspec
from textual import events, on
from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import TextArea

from reviewer_tui.model.errors import ReviewerError
from reviewer_tui.model.finding import Status
from reviewer_tui.review.conversation import current_sign_off
from reviewer_tui.signoff.comment_text import LONGEST_BODY
from reviewer_tui.tui.actions import Place, bindings
from reviewer_tui.tui.clipboard import copy_natively
from reviewer_tui.tui.screens.base import ReviewerScreen
from reviewer_tui.tui.texts.page import Line, Piece, letter, line
from reviewer_tui.tui.widgets.bars import HeaderBar, KeyBar
from reviewer_tui.tui.widgets.pane import Pane

_EDITORS = ("sensible-editor", "editor", "nano", "vi")


class SignOffScreen(ReviewerScreen):
    """The detail section at the left, the whole text at the right, faults and open ends below."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("signoff")
    PLACES: ClassVar[tuple[Place, ...]] = ("signoff",)
    DEFAULT_CSS = """
    SignOffScreen {
        #body { height: 1fr; }
        #edit { width: 1fr; height: 1fr; border: solid $foreground 35%; border-title-style: bold; }
        #edit TextArea, #edit TextArea:focus { height: 1fr; border: none; padding: 0; }
        #edit:focus-within { border: solid $primary; }
        #preview { width: 1fr; height: 1fr; }
        #lint { height: 30%; min-height: 4; }
        &.-narrow #edit { display: none; }
        &.-narrow.-editing #edit { display: block; }
        &.-narrow.-editing #preview { display: none; }
        &.-short #lint { display: none; }
        &.-short.-at-lint #lint { display: block; height: 1fr; }
        &.-short.-at-lint #body { display: none; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._detail = ""

    def compose(self) -> ComposeResult:
        yield HeaderBar()
        with Horizontal(id="body"):
            with Vertical(id="edit") as box:
                box.border_title = Content("Detail section  i edits, Esc leaves")
                yield TextArea(soft_wrap=True)
            yield Pane("Preview", name="preview")
        yield Pane("Lint", name="lint")
        yield KeyBar()

    @property
    def area(self) -> TextArea:
        return self.query_one(TextArea)

    @property
    def preview(self) -> Pane:
        return self.query_one("#preview", Pane)

    @property
    def lint(self) -> Pane:
        return self.query_one("#lint", Pane)

    def on_mount(self) -> None:
        self.fit()
        self.preview.focus()
        self.review_changed()
        self.show_keys()

    # --- contents ---------------------------------------------------------------------------------------------------

    def review_changed(self) -> None:
        super().review_changed()
        composed = self.reviewer.composed
        if composed is None:
            self.preview.show_facts("composing", [])
            return
        if composed.detail != self.area.text and not self.area.has_focus:
            self._set_area(composed.detail)
        kind = "as edited" if self.review.notes.detail is not None else "as drafted"
        self.query_one("#edit").border_title = Content(f"Detail section, {kind}  i edits, Esc leaves")
        length = len(composed.text)
        self.preview.show_facts(f"{length:,} of {LONGEST_BODY:,} characters", preview_lines(composed.text))
        faults = sum(finding.status is Status.FAIL for finding in composed.lint)
        remarks = len(composed.lint) - faults
        summary = f"{_many(faults, 'fault')}, {_many(remarks, 'remark')}, {len(composed.unfinished)} unfinished"
        self.lint.show_facts(summary, self._lint_lines(length))

    def _set_area(self, text: str) -> None:
        """Put a text into the editor that the reviewer did not type."""
        self._detail = text
        self.area.load_text(text)

    def _lint_lines(self, length: int) -> list[Line]:
        composed = self.reviewer.composed
        assert composed is not None
        lines = []
        if length > LONGEST_BODY:
            over = f" The text is {length - LONGEST_BODY:,} characters too long for one comment: shorten it."
            lines.append(line(letter(Status.FAIL), over, indent=2))
        for finding in sorted(composed.lint, key=lambda found: found.status is not Status.FAIL):
            place = Piece(f"  line {finding.line}" if finding.line else "", "dim")
            lines.append(line(letter(finding.status), f" {finding.message}", place, indent=2))
        lines += [line(Piece("open ", "key"), sentence, indent=5) for sentence in composed.unfinished]
        return lines or [line(letter(Status.PASS), " No fault, no remark, nothing unfinished.")]

    @on(TextArea.Changed)
    def _typed(self, event: TextArea.Changed) -> None:
        text = event.text_area.text
        if text != self._detail:
            self._detail = text
            self._write_detail(text)

    def _write_detail(self, detail: str | None) -> None:
        self.reviewer.write_notes(msgspec.structs.replace(self.review.notes, detail=detail))

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self.set_class(self.area.has_focus, "-editing")
        self.set_class(self.lint.has_focus, "-at-lint")
        self.show_keys()

    # --- actions ----------------------------------------------------------------------------------------------------

    def action_edit(self) -> None:
        self.add_class("-editing")
        self.area.focus()

    def action_back(self) -> None:
        """Out of the editor first, then back to the review."""
        if self.area.has_focus:
            self.preview.focus()
        else:
            self.dismiss()

    def action_other_side(self) -> None:
        self.set_class(self.focused is self.preview, "-at-lint")
        (self.lint if self.focused is self.preview else self.preview).focus()

    def action_redraft(self) -> None:
        if self.review.notes.detail is None:
            self.reviewer.say("The detail section is the draft already.")
            return
        self._write_detail(None)
        self.reviewer.say("The detail section is drafted again from findings and notes.")

    def action_compare(self) -> None:
        """The newest posted sign-off of the signer against this one."""
        composed, posted = self.reviewer.composed, current_sign_off(self.review.snapshot, self.review.signer)
        if posted is None:
            part = self.review.snapshot.conversation
            known = "No sign-off of yours is posted." if part.complete else f"Not known: {part.reason} {part.remedy}"
            self.reviewer.say(known)
        elif composed is not None:
            from reviewer_tui.tui.screens.comparison import ComparisonScreen

            title = f"From the sign-off posted by {posted.author} on {posted.created_at[:10]} to this one"
            self.app.push_screen(ComparisonScreen(title, posted.body, composed.text))

    def action_post(self) -> None:
        """On to the preview of the post; nothing is sent by this."""
        try:
            poster = self.reviewer.desk.poster(self.review)
        except ReviewerError as error:
            self.reviewer.say(str(error), "warning")
            return
        from reviewer_tui.tui.screens.post import PostScreen

        self.app.push_screen(PostScreen(poster))

    def action_conflicts(self) -> None:
        """What another process wrote differently."""
        try:
            conflicts = self.reviewer.desk.conflicts(self.review)
        except ReviewerError as error:
            self.reviewer.say(str(error), "error")
            return
        if not conflicts:
            self.reviewer.say("No other process wrote anything differently.")
            return
        from reviewer_tui.tui.screens.conflicts import ConflictScreen

        self.app.push_screen(ConflictScreen(conflicts))

    def action_copy(self) -> None:
        composed = self.reviewer.composed
        if composed is not None:
            work = partial(self._copy, composed.text)
            self.run_worker(work, thread=True, group="copy", exclusive=True, exit_on_error=False)

    def _copy(self, text: str) -> None:
        """In a thread: the machine's clipboard, else the terminal's and a file, since nobody knows if it arrived."""
        copied = copy_natively(text)
        if copied is not None:
            self.app.call_from_thread(self.reviewer.say, copied.message)
            return
        saved = self._written(text)
        self.app.call_from_thread(self.app.copy_to_clipboard, text)
        message = f"Sent {len(text):,} characters to the terminal's clipboard by OSC 52, which not all take. {saved}"
        self.app.call_from_thread(self.reviewer.say, message, "warning")

    def _written(self, text: str) -> str:
        """Save the text, and what to say about it."""
        try:
            return f"Also saved: {self.reviewer.desk.save_sign_off(self.review, text)}"
        except ReviewerError as error:
            return f"It could not be saved to a file: {error}"
        except OSError as error:
            return f"It could not be saved to a file: {error.strerror or error}"

    def action_save(self) -> None:
        composed = self.reviewer.composed
        if composed is not None:
            work = partial(self._save, composed.text)
            self.run_worker(work, thread=True, group="copy", exclusive=True, exit_on_error=False)

    def _save(self, text: str) -> None:
        self.app.call_from_thread(self.reviewer.say, self._written(text).replace("Also saved", "Saved"))

    def action_editor(self) -> None:
        """Edit the detail section in the reviewer's own editor; what is saved there becomes the section."""
        command = editor_command()
        if command is None or shutil.which(command[0]) is None:
            named = f"{command[0]} is not there" if command else "No editor found"
            self.reviewer.say(f"{named}: set EDITOR to one that is, or press i to edit here.", "warning")
            return
        with tempfile.TemporaryDirectory(prefix="sign-off-") as folder:
            path = Path(folder) / f"detail-{self.review.snapshot.ref.number}.md"
            path.write_text(self.area.text, encoding="utf-8")
            try:
                with self.app.suspend():
                    code = subprocess.run([*command, str(path)], check=False).returncode
            except SuspendNotSupported:
                self.reviewer.say("This terminal cannot be lent to an editor; press i to edit here.", "warning")
                return
            except OSError as error:
                self.reviewer.say(f"{command[0]} did not start: {error.strerror}", "error")
                return
            if not path.is_file():
                self.reviewer.say(f"{command[0]} left no text behind; the section stays as it was.", "warning")
                return
            text = path.read_text(encoding="utf-8", errors="replace").removesuffix("\n")
        self.app.refresh(layout=True, repaint=True)
        if code:
            self.reviewer.say(f"{command[0]} ended with {code}; what it saved is taken all the same.", "warning")
        if text != self.area.text:
            self._set_area(text)
            self._write_detail(text)


def preview_lines(text: str) -> list[Line]:
    """The comment as it will look, as near as text can: boxes and headings stand out."""
    lines = []
    for row in text.splitlines():
        bare = row.lstrip()
        if bare.startswith("#"):
            lines.append(line(Piece(row, "title")))
        elif bare.startswith(("- [x]", "- [X]")):
            lines.append(line(Piece(row, "pass"), indent=len(row) - len(bare) + 6))
        else:
            lines.append(line(row, indent=len(row) - len(bare) + (6 if bare.startswith("- [") else 0)))
    return lines


def editor_command() -> list[str] | None:
    """The reviewer's editor with its arguments: VISUAL, EDITOR, else one that is there."""
    chosen = os.environ.get("VISUAL", "").strip() or os.environ.get("EDITOR", "").strip()
    if chosen:
        try:
            return shlex.split(chosen) or None
        except ValueError:
            # An open quotation names no program.
            return None
    return next(([name] for name in _EDITORS if shutil.which(name)), None)


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
