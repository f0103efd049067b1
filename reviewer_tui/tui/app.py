"""The workstation: it loads a review off the screen's thread, shows it, and keeps what the reviewer decides.

Only what the first screen needs is imported here; every other screen is imported when it is first shown.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.filter import Monochrome, NoColor
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Static

from reviewer_tui.model.errors import ReviewerError, UsageError
from reviewer_tui.tui.actions import Place, actions_of, bindings
from reviewer_tui.tui.texts.page import clean
from reviewer_tui.tui.themes import DARK, LIGHT

if TYPE_CHECKING:
    from reviewer_tui.model.checklist import Decision, ReviewNotes
    from reviewer_tui.model.pull_request import PullRequestRef
    from reviewer_tui.review.desk import ComposedSignOff, Desk, Moment
    from reviewer_tui.review.queues import QueueDesk
    from reviewer_tui.review.session import Review
    from reviewer_tui.tui.screens.base import ReviewerScreen

# Typed text is on the disk at most this many seconds later; a decision at once. Saving takes a few milliseconds in a
# thread; the sign-off, which takes more, is composed anew only after the longer pause.
TYPING_PAUSE = 0.1
COMPOSING_PAUSE = 0.4

# A load that takes longer than this many seconds is announced while something older is shown.
LOADING_PATIENCE = 0.4

# How often the age of the facts in the header is brought up to date, in seconds.
AGE_INTERVAL = 10.0

# Seconds in which a sentence in the corner is read.
_GLANCE = 1.0
_PLEASE_REPORT = "This is a fault of the program; please report it."


class _Returned(Message):
    """A thread has something to do on the screen's thread."""

    def __init__(self, call: Callable[[], None]) -> None:
        super().__init__()
        self.call = call


class Opening(Message):
    """A pull request of the queue is being opened: how far that is, in a few words."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words = words


class ReviewerApp(App[None]):
    """The workstation: at one desk, or on a queue and at one desk after the other."""

    TITLE = "reviewer-tui"
    PAUSE_GC_ON_SCROLL = True
    # Leaving works over every dialog too, and where text is typed.
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("everywhere"),
        Binding("ctrl+q", "quit", show=False, priority=True),
    ]
    CSS = """
    Screen { background: $surface; color: $foreground; }
    #start { padding: 1 2; }
    Toast { max-width: 100%; }
    .-ascii {
        Pane, #text, #edit { border: ascii $foreground 35%; }
        Pane:focus, #text:focus, #edit:focus-within, #box { border: ascii $primary; }
        Pane.-related { border: ascii $accent; }
        Pane.-folded, .-narrow #checklist, .-narrow #panes Pane, .-zoom Pane { border: none; }
        .-narrow #text { border: none; border-top: ascii $foreground 35%; }
    }
    """

    def __init__(
        self,
        desk: Desk | None,
        *,
        queue: QueueDesk | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        ascii_only: bool | None = None,
        told: Iterable[str] = (),
    ) -> None:
        super().__init__()
        self._stays_until = 0.0
        self.queue = queue
        self._told_at_start = tuple(told)
        self._desk = desk
        self.now = now
        self.review: Review | None = None
        self.composed: ComposedSignOff | None = None
        self.viewed: frozenset[str] = frozenset()
        self.moment: Moment | None = None
        self.ascii_only = must_be_ascii(os.environ, sys.stdout.encoding) if ascii_only is None else ascii_only
        self.unsaved: Review | None = None
        """The review whose notes are not yet kept; None when all is."""
        self._generation = 0
        self.loading_review = False
        self.without_data = False
        """Whether what was asked for could not be loaded, and nothing older is shown in its place."""
        # Composing touches nothing that is kept, so it never keeps notes from being saved.
        self._desk_lock, self._compose_lock = threading.Lock(), threading.Lock()
        self._unsaved_lock = threading.Lock()
        self._save_due = False
        self.saving = False
        """Whether a change waits to be saved or composed."""
        self.composing = 0
        """How many threads compose the sign-off, or wait to."""
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.theme = DARK.name
        if self.no_color:
            self._filters = [NoColor() if isinstance(found, Monochrome) else found for found in self._filters]

    @property
    def desk(self) -> Desk:
        """The desk of the pull request at hand."""
        assert self._desk is not None
        return self._desk

    # --- start ------------------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        title = self.desk.title if self.queue is None else self.queue.title
        yield Static(f"{clean(title)}\n\nloading", id="start", markup=False)

    def on_mount(self) -> None:
        self.set_class(self.ascii_only, "-ascii")
        self._leave_on_signals()
        # Nothing is read before the first screen stands.
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self.set_interval(AGE_INTERVAL, self._tell_age)
        for sentence in self._told_at_start:
            self.say(sentence, "warning")
        if self._desk is None:
            from reviewer_tui.tui.screens.queue import QueueScreen

            self.push_screen(QueueScreen())
            return
        self.moment = next(iter(self.desk.moments), None)
        self.load_review()

    def _leave_on_signals(self) -> None:
        """A closed terminal or a polite kill must lose nothing either."""
        if self.is_headless:
            return
        loop = asyncio.get_running_loop()
        for name in ("SIGTERM", "SIGHUP"):
            with contextlib.suppress(AttributeError, NotImplementedError, ValueError, RuntimeError):
                loop.add_signal_handler(getattr(signal, name), lambda: self.call_later(self.leave))

    # --- loading ----------------------------------------------------------------------------------------------------

    def load_review(self) -> None:
        """Load the review at the present moment; a load that is still running is given up and its result dropped."""
        self._generation += 1
        # A daemon, so that leaving does not wait for a network.
        arguments = (self._generation, self.moment.name if self.moment else None)
        threading.Thread(target=self._load, args=arguments, daemon=True, name="load").start()
        self.loading_review = True
        self.set_timer(LOADING_PATIENCE, partial(self._tell_loading, self._generation))

    def _tell_loading(self, generation: int) -> None:
        if self.loading_review and generation == self._generation and self.review is not None:
            self.say(f"Loading {self.desk.title}; what you see is the state before.")

    def _load(self, generation: int, moment: str | None) -> None:
        desk = self.desk
        self.keep_notes()
        try:
            review = desk.load(moment, partial(self._tell_from_thread, generation))
            viewed = desk.viewed(review)
            self._tell_notices()
        except ReviewerError as error:
            self.from_thread(self._load_failed, generation, error.message, error.remedy)
        except Exception as fault:
            message = f"The pull request could not be loaded ({type(fault).__name__}: {fault})."
            self.from_thread(self._load_failed, generation, message, _PLEASE_REPORT)
        else:
            # Imported here, while the first screen already stands.
            importlib.import_module("reviewer_tui.tui.screens.review")
            self.from_thread(self._loaded, generation, review, viewed)
            self._load_rest(generation, desk, review)

    def _load_rest(self, generation: int, desk: Desk, review: Review) -> None:
        """In the loading thread, with the review on the screen: what nothing waits for."""
        try:
            whole = desk.load_rest(review, partial(self._tell_from_thread, generation))
        except ReviewerError as error:
            self.from_thread(self._rest_failed, generation, str(error))
        except Exception as fault:
            what = f"Not everything could be loaded ({type(fault).__name__}: {fault})."
            self.from_thread(self._rest_failed, generation, f"{what} {_PLEASE_REPORT}")
        else:
            if whole is not None:
                self.from_thread(self._completed, generation, whole)

    def _completed(self, generation: int, whole: Review) -> None:
        """Show the rest; what was decided meanwhile stays."""
        if generation == self._generation and self.review is not None:
            self.review = whole.with_notes(self.review.notes)
            self.compose_sign_off()
            self._tell_screens()

    def _rest_failed(self, generation: int, sentence: str) -> None:
        if generation == self._generation:
            self.say(sentence, "warning")

    def from_thread(self, function: Callable[..., None], *arguments: object) -> None:
        """Have a function called on the screen's thread, without waiting; never, where the screen is gone meanwhile."""
        self.post_message(_Returned(partial(function, *arguments)))

    def on__returned(self, message: _Returned) -> None:
        message.call()

    def _tell_from_thread(self, generation: int, progress: str) -> None:
        self.from_thread(self._tell, generation, progress)

    def _tell(self, generation: int, progress: str) -> None:
        if generation == self._generation and self.review is None:
            self.query_one("#start", Static).update(f"{clean(self.desk.title)}\n\n{clean(progress)}")
            if self.queue is not None and not self.screen.is_modal:
                self.screen.post_message(Opening(f"opening {self.desk.title}: {progress}"))

    def _loaded(self, generation: int, review: Review, viewed: frozenset[str]) -> None:
        if generation != self._generation:
            return
        self.loading_review = self.without_data = False
        if self.unsaved is not None and self.unsaved.snapshot.head == review.snapshot.head:
            review = review.with_notes(self.unsaved.notes)  # decided while it was loading
        self.review, self.viewed, self.composed = review, viewed, None
        self.compose_sign_off()
        from reviewer_tui.tui.screens.base import ReviewerScreen
        from reviewer_tui.tui.screens.message import ErrorScreen
        from reviewer_tui.tui.screens.review import ReviewScreen

        if isinstance(self.screen, ErrorScreen):
            self.pop_screen()
        if any(isinstance(screen, ReviewerScreen) for screen in self.screen_stack):
            self._tell_screens()
        else:
            self.push_screen(ReviewScreen())

    def _load_failed(self, generation: int, message: str, remedy: str) -> None:
        if generation != self._generation:
            return
        self.loading_review = False
        if self.review is not None:
            self.say(f"{message} {remedy} What you see is the state before.", "error")
            return
        self.without_data = True
        from reviewer_tui.tui.screens.message import ErrorScreen

        if isinstance(self.screen, ErrorScreen):
            self.pop_screen()
        self.push_screen(ErrorScreen(message, remedy))

    # --- from the queue and back --------------------------------------------------------------------------------------

    async def open_pull_request(self, ref: PullRequestRef) -> None:
        """Go over to the desk of a pull request of the queue, once everything of the desk before is saved."""
        assert self.queue is not None
        if not await asyncio.to_thread(self.keep_notes):
            return
        self._desk = self.queue.desk(ref)
        self.review, self.composed, self.viewed = None, None, frozenset()
        self.moment = next(iter(self.desk.moments), None)
        self.load_review()

    def give_up_opening(self) -> bool:
        """Drop a load that is still running; whether there was one."""
        was_loading, self.loading_review = self.loading_review, False
        self._generation += 1
        return was_loading

    async def action_queue(self) -> None:
        """Save what is not saved, then go back to the queue."""
        from reviewer_tui.tui.screens.queue import QueueScreen

        if not any(isinstance(screen, QueueScreen) for screen in self.screen_stack):
            self.say("There is no queue here: start reviewer-tui without a pull request.")
            return
        if not await asyncio.to_thread(self.keep_notes):
            return
        self.without_data = False
        self.give_up_opening()
        while not isinstance(self.screen, QueueScreen):
            self.pop_screen()

    # --- what the reviewer decides ------------------------------------------------------------------------------------

    def decide(self, label: str, decision: Decision) -> None:
        """Keep the decision on an item."""
        if self.review is not None:
            self._change(self.review.marked(label, decision))

    def write_note(self, label: str, note: str) -> None:
        """Keep the note of an item as it stands while it is typed."""
        if self.review is not None:
            self._change(self.review.marked(label, self.review.notes.mark(label).decision, note), typing=True)

    def write_notes(self, notes: ReviewNotes) -> None:
        """Keep all notes, the detail section included, as they stand while they are typed."""
        if self.review is not None:
            self._change(self.review.with_notes(notes), typing=True)

    def mark_viewed(self, marks: frozenset[str]) -> None:
        """Keep which files were looked at."""
        self.viewed = marks
        if self.review is not None:
            work = partial(self._on_desk, self.desk.save_viewed, self.review, marks)
            self.run_worker(work, thread=True, group="viewed", exit_on_error=False)

    def _change(self, review: Review, *, typing: bool = False) -> None:
        with self._unsaved_lock:
            self.review = self.unsaved = review
        if not self._save_due:
            self._save_due = True
            self.set_timer(TYPING_PAUSE if typing else 0.01, self._save_soon)
        if not self.saving:
            self.saving = True
            self.set_timer(COMPOSING_PAUSE if typing else 0.01, self._compose_soon)
        self._tell_screens()

    def _save_soon(self) -> None:
        self._save_due = False
        self.run_worker(self.keep_notes, thread=True, group="notes", exit_on_error=False)

    def _compose_soon(self) -> None:
        self.saving = False
        self.compose_sign_off()

    def keep_notes(self) -> bool:
        """Save the notes if they are not saved; whether all is saved. Blocks: for a thread, or the very end."""
        with self._desk_lock:
            review = self.unsaved
            if review is None:
                return True
            try:
                self.desk.save_notes(review)
                self._tell_notices()
            except Exception as error:
                reason = str(error) if isinstance(error, ReviewerError) else f"{type(error).__name__}: {error}"
                self.from_thread(self.say, f"Your notes are NOT saved: {reason}", "error")
                return False
            with self._unsaved_lock:
                if self.unsaved is review:
                    self.unsaved = None
            return True

    def _tell_notices(self) -> None:
        """Pass on what the desk has to say about the notes it keeps."""
        for notice in self.desk.notices():
            self.from_thread(self.say, notice, "warning")

    def _on_desk(self, function: Callable[..., None], *arguments: object) -> None:
        """Call a method of the desk in a thread, and say its failure."""
        with self._desk_lock:
            try:
                function(*arguments)
            except ReviewerError as error:
                self.from_thread(self.say, str(error), "error")

    # --- the sign-off -----------------------------------------------------------------------------------------------

    def compose_sign_off(self) -> None:
        """Compose the sign-off anew, in a thread; only the newest result counts."""
        if self.review is not None:
            self.composing += 1
            # A daemon, so that leaving does not wait for a large pull request.
            threading.Thread(target=self._compose_in_thread, args=(self.review,), daemon=True, name="compose").start()

    def _compose_in_thread(self, review: Review) -> None:
        composed: ComposedSignOff | None = None
        try:
            with self._compose_lock:
                if review is self.review:  # else a newer one waits already
                    composed = self.desk.compose(review)
        except ReviewerError as error:
            self.from_thread(self.say, str(error), "error")
        finally:
            self.from_thread(self._take_composed, review, composed)

    def _take_composed(self, review: Review, composed: ComposedSignOff | None) -> None:
        self.composing -= 1
        if composed is not None and review is self.review:
            self.composed = composed
            self._tell_screens()

    # --- screens ----------------------------------------------------------------------------------------------------

    def _reviewer_screens(self) -> list[ReviewerScreen]:
        from reviewer_tui.tui.screens.base import ReviewerScreen

        return [screen for screen in self.screen_stack if isinstance(screen, ReviewerScreen)]

    def _tell_screens(self) -> None:
        for screen in self._reviewer_screens():
            screen.review_changed()

    def _tell_age(self) -> None:
        for screen in self._reviewer_screens():
            screen.show_header()

    def say(self, message: str, severity: str = "information") -> None:
        """A sentence in a corner; errors and warnings stay longer."""
        patience = {"information": 5.0, "warning": 10.0, "error": 20.0}[severity]
        now = time.monotonic()
        self._stays_until = max(self._stays_until, now + (patience if severity == "error" else _GLANCE))
        self.notify(clean(message), severity=severity, timeout=patience, markup=False)  # type: ignore[arg-type]

    async def on_event(self, event: events.Event) -> None:
        """Sentences in the corner cover what is below them: the next key takes those away that were there to read."""
        if isinstance(event, events.Key) and time.monotonic() > self._stays_until:
            self.clear_notifications()
        await super().on_event(event)

    # --- actions ----------------------------------------------------------------------------------------------------

    def action_moment(self) -> None:
        """The next of the desk's moments."""
        moments = self._desk.moments if self._desk else ()
        if len(moments) < 2 or self.moment is None:
            self.say("There is only this one moment of the pull request.")
            return
        self.moment = moments[(moments.index(self.moment) + 1) % len(moments)]
        self.load_review()

    def action_reload(self) -> None:
        self.load_review()

    def action_light_dark(self) -> None:
        self.theme = DARK.name if self.theme == LIGHT.name else LIGHT.name

    def action_palette(self) -> None:
        self.action_command_palette()

    def action_help(self) -> None:
        from reviewer_tui.tui.screens.help import HelpScreen

        self.push_screen(HelpScreen(places_of(self.screen)))

    async def action_quit(self) -> None:
        await self.leave()

    async def leave(self) -> None:
        """Save what is not saved, then go; where saving fails, ask."""
        if await asyncio.to_thread(self.keep_notes):
            self.exit()
            return
        from reviewer_tui.tui.screens.message import UnsavedScreen

        if not isinstance(self.screen, UnsavedScreen):
            self.push_screen(UnsavedScreen())

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The palette: every action that works on the screen, and the themes."""
        for action in actions_of(*(places_of(screen) or ("everywhere",))):
            if action.place != "list" and action.name != "palette":
                title = f"{action.label} ({action.shown_keys})"
                yield SystemCommand(title, action.help, partial(self.simulate_key, action.keys[0]))
        yield SystemCommand("theme", "Choose one of all themes.", self.action_change_theme)


def must_be_ascii(environment: object, encoding: str | None) -> bool:
    """Whether frames must be drawn in ASCII: the terminal takes no UTF-8, or its language draws box characters two
    cells wide."""
    values = environment if isinstance(environment, dict | os._Environ) else {}
    language = next((values[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if values.get(name)), "")
    return "utf" not in (encoding or "").lower() or language.startswith(("zh", "ja", "ko"))


def places_of(screen: Screen[object]) -> tuple[Place, ...]:
    """Where the actions that work on a screen belong to; none for a dialog."""
    places: tuple[Place, ...] = () if screen.is_modal else getattr(screen, "places", ())
    return places


def run_workstation(
    desk: Desk | None,
    *,
    queue: QueueDesk | None = None,
    ascii_only: bool | None = None,
    theme: str | None = None,
    mouse: bool = True,
    told: Iterable[str] = (),
) -> bool:
    """Run the workstation at a desk, or on a queue, until the reviewer leaves; whether there was anything to show then.
    `told` are sentences to begin with. Raises ReviewerError where notes could not be saved at the end."""
    app = ReviewerApp(desk, queue=queue, ascii_only=ascii_only, told=told)
    if theme is not None:
        if theme not in app.available_themes:
            names = ", ".join(sorted(app.available_themes))
            raise UsageError(f"There is no theme called {theme}.", f"Choose one of: {names}.")
        app.theme = theme
    try:
        app.run(mouse=mouse)
    finally:
        # Whatever ended the screens, what was typed is saved.
        if app.unsaved is not None:
            app.desk.save_notes(app.unsaved)
    return not app.without_data
