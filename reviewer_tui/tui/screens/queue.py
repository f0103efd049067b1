"""The queue: pull requests in the order in which they wait for a human, read page after page in a thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import ClassVar, cast

from rich.style import Style
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.screen import Screen
from textual.widgets import DataTable

from reviewer_tui.model.errors import ReviewerError
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.review.queue import QueueRow, Waits, short_age
from reviewer_tui.review.queue_columns import HEADINGS, columns, gap, pad, row_cells
from reviewer_tui.review.queues import QueuePage
from reviewer_tui.tui.actions import LAST, Place, actions_of, bindings
from reviewer_tui.tui.app import AGE_INTERVAL, Opening, ReviewerApp
from reviewer_tui.tui.screens.base import TALL
from reviewer_tui.tui.texts.header import VERDICT_STYLES
from reviewer_tui.tui.texts.naming import many
from reviewer_tui.tui.texts.page import Line, Piece, clean, cut, line
from reviewer_tui.tui.widgets.bars import HeaderBar, KeyBar, SearchBar
from reviewer_tui.tui.widgets.looks import make_looks
from reviewer_tui.tui.widgets.pane import Pane
from reviewer_tui.tui.widgets.scroll import fit_scroll_bars

WAITS_STYLES = {
    Waits.READY: "pass",
    Waits.RUNNING: "unverified",
    Waits.BLOCKED: "warn",
    Waits.PENDING: "judgement",
    Waits.MOVED: "pass",
    Waits.UNKNOWN: "dim",
    Waits.DONE: "plain",
    Waits.OTHERS: "dim",
}


class QueueTable(DataTable[Text], inherit_bindings=False):
    """The rows of a queue. The cursor stays on its pull request, wherever that goes."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("list")
    DEFAULT_CSS = """
    QueueTable { height: 1fr; background: $surface; scrollbar-size-vertical: 1; overflow-x: hidden; }
    QueueTable > .datatable--header { background: $surface; color: $foreground 70%; text-style: none; }
    """

    def __init__(self) -> None:
        super().__init__(cursor_type="row", cell_padding=0, id="queue")
        self.shown: tuple[QueueRow, ...] = ()
        self._laid_out: object = None
        self._again: Callable[[], None] = lambda: None

    def on_mount(self) -> None:
        fit_scroll_bars(self)

    @property
    def row(self) -> QueueRow | None:
        """The row under the cursor."""
        return self.shown[self.cursor_row] if 0 <= self.cursor_row < len(self.shown) else None

    def show_rows(self, rows: tuple[QueueRow, ...], among: tuple[QueueRow, ...], now: datetime) -> None:
        """Show some of the rows, in columns that fit all; the cursor goes on being about the same pull request as long
        as it is there."""
        self._again = partial(self.show_rows, rows, among, now)
        texts = {row.ref: row_cells(row, now) for row in among}
        room = self.size.width - 3  # the mark, and the scroll bar
        layout = rows, texts, room
        if room <= 0 or layout == self._laid_out:
            return
        kept, top = self.row, self.scroll_offset.y
        self._laid_out, self.shown = layout, rows
        looks = make_looks(self.app)
        chosen, between = columns(tuple(texts.values()), room), gap(room)
        self.clear(columns=True)
        self.add_column("", width=1, key="mark")
        for name, width in chosen.items():
            self.add_column(Text(HEADINGS[name]), width=width + between, key=name)
        for row in rows:
            text = texts[row.ref]
            cells = [Text(pad(text[name], width), looks[_style(row, name)]) for name, width in chosen.items()]
            self.add_row(Text(" "), *cells, key=_key(row.ref))
        self.scroll_to(y=top, animate=False, force=True)
        here = next((i for i, row in enumerate(rows) if kept and row.ref == kept.ref), 0)
        self.move_cursor(row=here)
        self._mark(here, looks["key"])

    def notify_style_update(self) -> None:
        """Another theme: the styles in the cells are made anew."""
        super().notify_style_update()
        self._laid_out = None
        self._again()

    def watch_cursor_coordinate(self, old: object, new: object) -> None:
        super().watch_cursor_coordinate(old, new)  # type: ignore[arg-type]
        if self.row_count == len(self.shown):
            self._mark(self.cursor_row, make_looks(self.app)["key"])

    def _mark(self, here: int, style: Style) -> None:
        """The cursor has a sign besides its ground, which not every terminal shows."""
        for place, row in enumerate(self.shown):
            sign = ">" if place == here else " "
            if self.get_cell(_key(row.ref), "mark").plain != sign:
                self.update_cell(_key(row.ref), "mark", Text(sign, style))

    def action_up(self) -> None:
        self.action_cursor_up()

    def action_down(self) -> None:
        self.action_cursor_down()

    def action_first(self) -> None:
        self.move_cursor(row=0)

    def action_last(self) -> None:
        self.move_cursor(row=self.row_count - 1)

    def action_choose(self) -> None:
        self.action_select_cursor()


def _key(ref: PullRequestRef) -> str:
    return f"{ref.repository}#{ref.number}"


def _style(row: QueueRow, column: str) -> str:
    """How a cell looks: colour only repeats what the words say."""
    if column == "waits_for":
        return WAITS_STYLES[row.waits]
    if row.waits is Waits.OTHERS:
        return "dim"
    if column == "verdict" and row.verdict is not None:
        return VERDICT_STYLES[row.verdict]
    return "strong" if column == "number" else "dim" if column in ("age", "verdict") else "plain"


class _Read(Message):
    """A page of the queue; None and a failure where the reading ended with one. Of an older reading it is dropped."""

    def __init__(self, reading: int, page: QueuePage | None, message: str = "", remedy: str = "") -> None:
        super().__init__()
        self.reading = reading
        self.page = page
        self.message = message
        self.remedy = remedy


class _Told(Message):
    """What is being read, in a few words."""

    def __init__(self, reading: int, words: str) -> None:
        super().__init__()
        self.reading = reading
        self.words = words


class QueueScreen(Screen[None]):
    """The queue above, what is known of the chosen pull request below."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = bindings("queue")
    DEFAULT_CSS = """
    QueueScreen {
        layout: vertical;
        #detail { height: 8; }
        &.-short #detail { display: none; }
    }
    """
    places: tuple[Place, ...] = ("queue", "list", "everywhere")

    def __init__(self) -> None:
        super().__init__()
        self.page: QueuePage | None = None
        self._reading = 0
        self._busy = ""
        self._opening = ""
        self._failure = ("", "")
        self._filter: tuple[str, ...] = ()

    @property
    def reviewer(self) -> ReviewerApp:
        return cast(ReviewerApp, self.app)

    @property
    def table(self) -> QueueTable:
        return self.query_one(QueueTable)

    def compose(self) -> ComposeResult:
        yield HeaderBar()
        yield QueueTable()
        yield Pane("Pull request", name="detail")
        yield SearchBar()
        yield KeyBar()

    def on_mount(self) -> None:
        self.table.focus()
        shown = [action for action in actions_of("queue", "everywhere") if action.footer and action.name != "queue"]
        shown.sort(key=lambda action: (action.footer >= LAST, action.footer))
        self.query_one(KeyBar).show_actions(shown)
        self.set_interval(AGE_INTERVAL, self.show_page)
        self.action_refresh()

    def on_resize(self) -> None:
        self.set_class(self.app.size.height < TALL, "-short")
        self.call_after_refresh(self.show_page)

    def on_screen_resume(self) -> None:
        self._opening = ""
        self.show_page()

    # --- reading ----------------------------------------------------------------------------------------------------

    def action_refresh(self) -> None:
        """Read the queue again; a reading that is under way ends, and what is shown stays until there is better."""
        queue = self.reviewer.queue
        assert queue is not None
        queue.stop()
        self._reading += 1
        self._busy, self._failure = "reading", ("", "")
        threading.Thread(target=self._read, args=(self._reading,), daemon=True, name="queue").start()
        self.show_page()

    def _read(self, reading: int) -> None:
        """In a thread: read page after page, as long as nobody asks for another reading."""
        queue = self.reviewer.queue
        assert queue is not None
        try:
            for page in queue.pages(lambda words: self._tell(reading, words)):
                self.post_message(_Read(reading, page))
                if reading != self._reading:
                    return
        except ReviewerError as error:
            self.post_message(_Read(reading, None, error.message, error.remedy))
        except Exception as fault:
            message = f"The queue could not be read ({type(fault).__name__}: {fault})."
            self.post_message(_Read(reading, None, message, "This is a fault of the program; please report it."))

    def _tell(self, reading: int, words: str) -> None:
        self.post_message(_Told(reading, words))

    def on__told(self, message: _Told) -> None:
        if message.reading == self._reading and self._busy:
            self._busy = message.words
            self._show_header()

    def on__read(self, message: _Read) -> None:
        if message.reading != self._reading:
            return
        self.reviewer.without_data = message.page is None and self.page is None
        if message.page is None:
            self._busy, self._failure = "", (message.message, message.remedy)
        else:
            self.page = message.page
            self._busy = "" if message.page.complete else self._busy
        self.show_page()

    def on_opening(self, message: Opening) -> None:
        self._opening = message.words
        self._show_header()

    # --- contents ---------------------------------------------------------------------------------------------------

    def show_page(self) -> None:
        """Everything, for the present page, filter and time."""
        rows = self.page.rows if self.page else ()
        self.table.show_rows(tuple(row for row in rows if self._passes(row)), rows, self.reviewer.now())
        self._show_header()
        self._show_detail()

    def _passes(self, row: QueueRow) -> bool:
        """Whether a row has every word of the filter, in any case."""
        words = (str(row.number), row.title, row.head, row.author, row.waits, row.waits_for, row.recipe)
        text = " ".join((*words, *(row.labels or ()), *(row.keys or ()), *(row.owners or ()))).lower()
        return all(word in text for word in self._filter)

    def _show_header(self) -> None:
        self.query_one(HeaderBar).show_header(self._header)

    def _header(self, width: int) -> list[Line]:
        page = self.page
        left = self.reviewer.queue.title if self.reviewer.queue else ""
        if page is not None:
            left = f"Queue of {page.repository} for {page.signer or 'every owner'}"
        right = ""
        if page is not None:
            ready = sum(row.waits is Waits.READY for row in page.rows)
            of = f"{len(self.table.shown)} of " if self._filter else ""
            right = f"{of}{many(len(page.rows), 'pull request')}, {ready} ready to sign"
            right = right if width >= 100 else f"{of}{len(page.rows)}, {ready} ready"
        room = width - len(right) - 1
        first = line(Piece(cut(clean(left), room), "title"), " " * max(room - len(clean(left)) + 1, 1), right)
        return [first] if self.has_class("-short") and not self._news else [first, self._status(width)]

    @property
    def _news(self) -> bool:
        return bool(self._opening or self._failure[0] or self._busy)

    def _status(self, width: int) -> Line:
        """What goes on, else what is missing, else how old the listing is."""
        if self._opening:
            return line(Piece(cut(clean(self._opening), width), "key"))
        if self._failure[0]:
            return line(Piece(cut(clean(self._failure[0]), width), "fail"))
        if self._busy:
            return line(Piece(cut(clean(self._busy), width), "dim"))
        page = self.page
        if page is None:
            return line("")
        read = f"read from {page.source} {short_age(page.taken_at, self.reviewer.now())} ago"
        return line(Piece(cut(clean(" ".join((f"{read}.", *page.notes))), width), "dim"))

    def _show_detail(self) -> None:
        detail, row = self.query_one("#detail", Pane), self.table.row
        if self._failure[0]:
            detail.title = "Not read"
            detail.show_facts("", [line(Piece(self._failure[0], "strong")), line(self._failure[1])])
        elif row is not None:
            detail.title = f"#{row.number}"
            detail.show_facts(row.title, self._row_lines(row))
        else:
            detail.title = "Pull request"
            detail.show_facts("", [line(self._why_empty())])

    def _why_empty(self) -> str:
        if self.page is None or not self.page.complete:
            return "Nothing is read yet."
        return "No row has these words; Escape shows all." if self.page.rows else "There is no pull request here."

    def _row_lines(self, row: QueueRow) -> list[Line]:
        now = self.reviewer.now()
        lines = [line(Piece(row.why, "strong"))]
        facts = [
            f"by {row.author}" if row.author else "",
            "draft" if row.draft else "",
            f"changed {short_age(row.updated_at, now)} ago" if row.updated_at else "",
            f"owners {' '.join(row.owners)}" if row.owners else "",
            f"labels {' '.join(row.labels)}" if row.labels else "",
        ]
        lines.append(line(",  ".join(fact for fact in facts if fact)))
        if row.keys:
            lines.append(line(f"{many(len(row.keys), 'key')}: {', '.join(row.keys)}"))
        age = f"facts read {row.age(now)} ago" if row.taken_at else "not loaded"
        lines.append(line(Piece(f"{age}, {row.ref.url}", "dim")))
        return lines

    @on(DataTable.RowHighlighted)
    def _highlighted(self) -> None:
        self._show_detail()

    # --- actions ----------------------------------------------------------------------------------------------------

    @on(DataTable.RowSelected)
    def action_open(self) -> None:
        row = self.table.row
        if row is not None:
            self._opening = f"opening #{row.number}"
            self._show_header()
            self.reviewer.call_later(partial(self.reviewer.open_pull_request, row.ref))

    def action_follow(self) -> None:
        row = self.table.row
        if row is not None:
            self.app.open_url(row.ref.url)
            self.reviewer.say(f"Asked the browser for {row.ref.url}")

    def action_back(self) -> None:
        """End what is under way; where nothing is, show all rows again."""
        queue = self.reviewer.queue
        if self._opening:
            self.reviewer.give_up_opening()
            self._opening = ""
        elif self._busy and queue is not None:
            queue.stop()
        else:
            self._filter = ()
        self.show_page()

    def action_filter(self) -> None:
        self.query_one(SearchBar).open()

    @on(SearchBar.Sought)
    def _sought(self, message: SearchBar.Sought) -> None:
        """Typing filters; Enter goes to the rows."""
        self._filter = tuple(message.text.lower().split())
        self.show_page()
        self.query_one(SearchBar).tell(bool(self.table.shown))
        if not message.stay:
            self.query_one(SearchBar).remove_class("-open")
            self.table.focus()

    @on(SearchBar.Left)
    def _left(self) -> None:
        self._filter = ()
        self.show_page()
        self.table.focus()
