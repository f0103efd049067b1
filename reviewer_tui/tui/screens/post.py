"""Posting the sign-off: what will be sent, a deliberate key, how it goes, and what became of it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import ClassVar

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType

from reviewer_tui.model.errors import DataError, ReviewerError
from reviewer_tui.review.post_concerns import Grade, PostRequest
from reviewer_tui.review.posting import Gate, NotSentError, Poster, PostOutcome, PostPreview
from reviewer_tui.tui.actions import Action, Place, bindings
from reviewer_tui.tui.screens.base import ReviewerScreen
from reviewer_tui.tui.texts.page import Line
from reviewer_tui.tui.texts.post import error_text, outcome_text, preview_text, progress_text
from reviewer_tui.tui.widgets.bars import HeaderBar, KeyBar
from reviewer_tui.tui.widgets.line_view import LineView
from reviewer_tui.tui.widgets.pane import Pane

# The actions that are about what a preview shows.
_OF_PREVIEW = ("send", "go_on", "new_or_edit")


class PostScreen(ReviewerScreen):
    """One post of the review's sign-off, from the first look to the comment that stands there."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("post")
    PLACES: ClassVar[tuple[Place, ...]] = ("post",)
    DEFAULT_CSS = """
    PostScreen Pane { height: 1fr; }
    """

    def __init__(self, poster: Poster) -> None:
        super().__init__()
        self._poster = poster
        self._new = False
        self._preview: PostPreview | None = None
        self._accepted = False
        self._gate: Gate | None = None
        self._url = ""
        self._stopped = False
        self.reading = False
        """Whether a thread looks or posts."""

    def compose(self) -> ComposeResult:
        yield HeaderBar()
        yield Pane("Post", name="post")
        yield KeyBar()

    @property
    def pane(self) -> Pane:
        return self.query_one("#post", Pane)

    def on_mount(self) -> None:
        self.fit()
        self.pane.focus()
        self.show_keys()
        self._look()

    # --- looking ----------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """See how things stand, in a thread."""
        if self.reading:
            return
        self._preview, self._accepted, self._gate, self._stopped = None, False, None, False
        self._show("looking", progress_text("Looking how things stand on the pull request.", stoppable=True))
        self._in_thread(self._look_in_thread)

    def _look_in_thread(self) -> None:
        app, review = self.reviewer, self.review
        self._poster = app.desk.poster(review)  # the review may have been loaded again
        if not app.keep_notes():
            raise DataError("Your notes could not be saved, so nothing is posted from them.")
        # Where nobody was named as signer, it is whose token posts.
        signed = msgspec.structs.replace(review, signer=review.signer or review.snapshot.viewer)
        text = app.desk.compose(signed).text
        request = PostRequest(ref=review.snapshot.ref, text=text, head=review.snapshot.head, new=self._new)
        app.from_thread(self._take_preview, self._poster.preview(request))

    def _take_preview(self, preview: PostPreview, told: tuple[str, ...] = ()) -> None:
        """Show a preview; the reviewer's word on an earlier one does not hold for it."""
        self.reading = False
        request = msgspec.structs.replace(preview.request, again=False)
        self._preview, self._accepted = msgspec.structs.replace(preview, request=request), False
        self._url = preview.edits.url if preview.edits else preview.ref.url
        self._show_preview(told)

    def _show_preview(self, told: tuple[str, ...] = ()) -> None:
        if self._preview is not None:
            number = self._preview.ref.number
            words = "ready" if not self._preview.obstacles(accepted=self._accepted) else "not yet"
            self._show(f"to #{number}, {words}", preview_text(self._preview, accepted=self._accepted, told=told))

    # --- sending ----------------------------------------------------------------------------------------------------

    def action_send(self) -> None:
        preview = self._preview
        if preview is None or self.reading:
            return
        if preview.obstacles(accepted=self._accepted):
            self.reviewer.say("Not yet: read what is marked F or J first; a goes on in spite of J.", "warning")
            return
        self._gate, self._stopped = Gate(), False
        self._tell("Looking once more, then sending.")
        self._in_thread(lambda: self._send_in_thread(preview, self._accepted, self._gate))

    def _send_in_thread(self, preview: PostPreview, accepted: bool, gate: Gate | None) -> None:
        def progress(words: str) -> None:
            self.reviewer.from_thread(self._tell, words)

        outcome = self._poster.send(preview, accepted=accepted, gate=gate, progress=progress)
        self.reviewer.from_thread(self._take_outcome, outcome)

    def _tell(self, words: str) -> None:
        stoppable = self._gate is not None and self._gate.open
        self._show("posting", progress_text(f"{words[:1].upper()}{words[1:].removesuffix('.')}.", stoppable=stoppable))

    def _take_outcome(self, outcome: PostOutcome) -> None:
        self.reading = False
        self._preview = None
        if outcome.preview is not None:
            self._take_preview(outcome.preview, ("Nothing was sent: something has changed since you looked.",))
            return
        lines = outcome_text(outcome)
        if outcome.state == "posted":
            self._url = outcome.url
            self.reviewer.load_review()
        if not self.is_attached or self.app.screen is not self:
            self.reviewer.say(lines[0].text, "information" if outcome.state == "posted" else "warning")
        self._show(outcome.state, lines)

    # --- threads ----------------------------------------------------------------------------------------------------

    def _in_thread(self, work: Callable[[], None]) -> None:
        # A daemon: leaving does not wait for a network, and the journal knows what was on its way.
        self.reading = True
        self.show_keys()
        threading.Thread(target=self._guarded, args=(work,), daemon=True, name="post").start()

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except ReviewerError as error:
            self.reviewer.from_thread(self._failed, error)
        except Exception as fault:
            told = DataError(f"Something unexpected happened ({type(fault).__name__}: {fault}).", "Please report it.")
            self.reviewer.from_thread(self._failed, told)

    def _failed(self, error: ReviewerError) -> None:
        self.reading = False
        self._preview = None
        if self._stopped:
            error = NotSentError("You stopped it: nothing was sent.")
        elif not self.is_attached or self.app.screen is not self:
            self.reviewer.say(str(error), "error")
        self._show("nothing was sent", error_text(error))

    def _show(self, summary: str, lines: list[Line]) -> None:
        if self.is_attached:
            self.pane.show_facts(summary, lines, top=True)
            self.show_keys()

    def offers(self, action: Action) -> bool:
        """Posting only where a preview waits for it."""
        preview = None if self.reading else self._preview
        if action.place != self.PLACES[0] or action.name not in _OF_PREVIEW:
            return True
        if preview is None:
            return False
        obstacles = preview.obstacles(accepted=self._accepted)
        passable = bool(obstacles) and not preview.graded(Grade.STOP)
        return {"send": not obstacles, "go_on": passable, "new_or_edit": preview.may_edit}[action.name]

    # --- the other keys ---------------------------------------------------------------------------------------------

    def action_go_on(self) -> None:
        """The reviewer's word on everything that is asked."""
        preview = self._preview
        if preview is None or self.reading:
            return
        if preview.graded(Grade.STOP):
            self.reviewer.say("What is marked F cannot be passed over.", "warning")
            return
        self._accepted = True
        again = bool(preview.graded(Grade.AGAIN))
        self._preview = msgspec.structs.replace(preview, request=msgspec.structs.replace(preview.request, again=again))
        self._show_preview()

    def action_new_or_edit(self) -> None:
        if self._preview is not None and self._preview.may_edit and not self.reading:
            self._new = not self._new
            self._look()

    def action_look_again(self) -> None:
        self._look()

    def action_follow(self) -> None:
        target = self.pane.target
        url = target.url if target and target.url else self._url
        if url.startswith(("https://", "http://")):
            self.app.open_url(url)
            self.reviewer.say(f"Asked the browser for {url}")

    @on(LineView.Chosen)
    def _chosen(self, message: LineView.Chosen) -> None:
        """Enter and clicks open pages, and never post anything."""
        self.action_follow()

    def action_back(self) -> None:
        if not self.reading:
            self.dismiss()
        elif self._gate is None:
            self._stopped = self._poster.stop(Gate())
            self.dismiss()
        elif self._poster.stop(self._gate):
            self._stopped = True
        else:
            self.reviewer.say("It is on its way; what became of it is shown in a moment.", "warning")
