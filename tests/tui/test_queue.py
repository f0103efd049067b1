"""The workstation on a queue: rows and what is known of them, into a review and back, and loads that come late."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from reviewer_tui.model.checklist import Decision
from reviewer_tui.model.errors import DataError
from reviewer_tui.model.finding import Verdict
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.review.desk import Desk, Progress
from reviewer_tui.review.queue import Count, QueueRow, Waits
from reviewer_tui.review.queues import QueuePage
from reviewer_tui.review.session import Review
from reviewer_tui.tui.app import ReviewerApp
from reviewer_tui.tui.screens.message import ErrorScreen
from reviewer_tui.tui.screens.queue import QueueScreen, QueueTable
from reviewer_tui.tui.screens.review import ReviewScreen
from tests.tui.reviews import NOW, FakeDesk, make_review
from tests.tui.screen import changed_goldens, rows, settle, until

SIZES = {"40x12": (40, 12), "80x24": (80, 24), "120x40": (120, 40)}
REPOSITORY = "SemiAnalysisAI/InferenceX"


def row(number: int, title: str, waits: Waits, waits_for: str, **facts: Any) -> QueueRow:
    usual: dict[str, Any] = {
        "head": f"{number:07x}" + "a" * 33,
        "author": "an-author",
        "draft": False,
        "labels": ("full-sweep-enabled",),
        "updated_at": "2026-08-12T08:00:00Z",
        "owners": ("@ankur-singh", "@kedarpotdar-nv"),
        "why": f"Why {number} waits.",
    }
    ref = PullRequestRef(REPOSITORY, number)
    return QueueRow(ref=ref, title=title, waits=waits, waits_for=waits_for, **{**usual, **facts})


LOOKED = {"taken_at": "2026-08-12T08:00:00Z", "predicted": Verdict.UNDECIDED}
ROWS = (
    row(
        2550,
        "qwen3.5-fp4-b200-sglang-mtp TEP2 arm",
        Waits.READY,
        "you",
        keys=("qwen3.5-fp4-b200-sglang-mtp",),
        lanes=Count(13, 13),
        evals=Count(4, 4),
        recipe="merged",
        **LOOKED,
    ),
    row(
        2707,
        "dsv4-fp4-b200-vllm agentic cudagraphs",
        Waits.RUNNING,
        "sweep",
        lanes=Count(3, 13),
        evals=Count(0, 0),
        recipe="open",
        outdated=True,
        **LOOKED,
    ),
    row(
        2640,
        "qwen3.5 MXFP4 MI355X \x1b[31mfusion\u202e off [bold]on[/]",
        Waits.BLOCKED,
        "author: recipe",
        lanes=Count(13, 13),
        evals=Count(4, 4),
        recipe="open",
        verdict=Verdict.REJECTED,
        **LOOKED,
    ),
    row(2711, "Nobody looked into this one", Waits.UNKNOWN, "not loaded", taken_at=""),
    row(2500, "Something for AMD", Waits.OTHERS, "@chunfangamd +1", owners=("@chunfangamd", "@1am9trash")),
)


def page(*chosen: QueueRow, complete: bool = True, **facts: Any) -> QueuePage:
    usual = {"source": "github", "signer": "ankur-singh", "taken_at": "2026-08-12T10:00:00Z", "notes": ()}
    return QueuePage(repository=REPOSITORY, rows=chosen or ROWS, complete=complete, **{**usual, **facts})


class FakeQueue:
    """A queue in memory. Each reading gives the pages of the next script; a gate holds a reading before its last page,
    an exception in a script is raised."""

    title = f"queue of {REPOSITORY}"

    def __init__(self, *scripts: tuple[QueuePage | Exception, ...]) -> None:
        self.scripts = list(scripts) or [(page(),)]
        self.gates: list[threading.Event | None] = []
        self.desks: dict[int, FakeDesk] = {}
        self.stops = 0

    def pages(self, progress: Progress) -> Iterator[QueuePage]:
        script = self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]
        gate = self.gates.pop(0) if self.gates else None
        for place, step in enumerate(script, start=1):
            progress(f"looking into {place} of {len(script)}")
            if gate is not None and place == len(script):
                assert gate.wait(10)
            if isinstance(step, Exception):
                raise step
            yield step

    def stop(self) -> None:
        self.stops += 1

    def desk(self, ref: PullRequestRef) -> Desk:
        return self.desks.setdefault(ref.number, FakeDesk(review_of(ref.number)))


def review_of(number: int) -> Review:
    """The review of the tests under another number."""
    made = make_review()
    ref = PullRequestRef(REPOSITORY, number)
    return msgspec.structs.replace(made, snapshot=msgspec.structs.replace(made.snapshot, ref=ref))


@asynccontextmanager
async def shown(queue: FakeQueue, size: str = "120x40") -> AsyncIterator[tuple[ReviewerApp, Pilot[None]]]:
    """The workstation on a queue, with its first page there."""
    app = ReviewerApp(None, queue=queue, now=lambda: NOW, ascii_only=False)
    async with app.run_test(size=SIZES[size]) as pilot:
        await until(pilot, lambda: isinstance(app.screen, QueueScreen) and app.screen.page is not None)
        yield app, pilot


def text(app: ReviewerApp) -> str:
    return "\n".join(rows(app))


def table(app: ReviewerApp) -> QueueTable:
    return app.screen.query_one(QueueTable)


def at(app: ReviewerApp) -> int:
    """The pull request under the cursor, as the mark in the first column has it."""
    (marked,) = [line for line in rows(app) if line.startswith(">")]
    return int(marked[1:].split()[0])


# --- what it looks like ---------------------------------------------------------------------------------------------

WALK: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("queue", (), ()),
    ("queue_blocked", ("down", "down"), ()),
    ("queue_filter", ("slash", *"mi355x"), ("escape",)),
    ("queue_help", ("question_mark",), ("escape",)),
)


@pytest.mark.parametrize("size", SIZES)
async def test_the_queue_looks_as_it_did(size: str) -> None:
    screens: dict[str, list[str]] = {}
    async with shown(FakeQueue(), size) as (app, pilot):
        for view, keys, back in WALK:
            await pilot.press(*keys)
            await settle(pilot)
            screens[f"{view}_{size}"] = rows(app)
            await pilot.press(*back)
    width, height = SIZES[size]
    for seen in screens.values():
        assert len(seen) == height
        assert all(cell_len(line) <= width for line in seen)
    assert changed_goldens(screens) == []


async def test_what_a_stranger_wrote_is_shown_and_does_nothing() -> None:
    async with shown(FakeQueue()) as (app, pilot):
        await pilot.press("down", "down")
        await settle(pilot)
        assert "<U+001B>[31mfusion<U+202E> off [bold]on[/]" in text(app)


async def test_the_columns_follow_the_terminal_and_the_cursor_stays() -> None:
    async with shown(FakeQueue()) as (app, pilot):
        await pilot.press("down")
        await settle(pilot)
        before = rows(app)
        for size in ("40x12", "80x24"):
            await pilot.resize_terminal(*SIZES[size])
            await settle(pilot)
            assert at(app) == 2707
            assert any("sweep" in line for line in rows(app))
        await pilot.resize_terminal(*SIZES["120x40"])
        await settle(pilot)
        assert rows(app) == before


async def test_both_themes_show_it() -> None:
    async with shown(FakeQueue()) as (app, pilot):
        before = rows(app)
        await pilot.press("L")
        await settle(pilot)
        assert app.theme == "reviewer-light"
        assert rows(app) == before


# --- reading --------------------------------------------------------------------------------------------------------


async def test_what_is_known_first_is_shown_while_the_rest_is_read() -> None:
    queue = FakeQueue((page(ROWS[3], complete=False), page()))
    gate = threading.Event()
    queue.gates = [gate]
    async with shown(queue) as (app, pilot):
        await until(pilot, lambda: "looking into 2 of 2" in text(app))
        assert at(app) == 2711
        gate.set()
        await until(pilot, lambda: len(table(app).shown) == 5)
        assert at(app) == 2711
        assert "looking into" not in text(app)


async def test_leaving_does_not_wait_for_what_is_being_read() -> None:
    queue = FakeQueue((page(complete=False), page()))
    gate = threading.Event()
    queue.gates = [gate]
    async with shown(queue) as (app, pilot):
        await pilot.press("q")
        await pilot.pause()
        assert app._exit
    gate.set()


async def test_the_cursor_stays_on_its_pull_request_when_rows_are_sorted_anew() -> None:
    queue = FakeQueue((page(),), (page(*reversed(ROWS)),))
    async with shown(queue) as (app, pilot):
        await pilot.press("down")
        await settle(pilot)
        assert at(app) == 2707
        await pilot.press("r")
        await until(pilot, lambda: table(app).shown[0].number == 2500)
        assert at(app) == 2707
        await pilot.press("G")
        await settle(pilot)
        assert at(app) == 2550
        await pilot.press("k", "g")
        await settle(pilot)
        assert at(app) == 2500


async def test_a_page_of_an_older_reading_is_dropped() -> None:
    gate = threading.Event()
    queue = FakeQueue((page(ROWS[0], complete=False), page(ROWS[4])), (page(ROWS[1]),))
    queue.gates = [gate]
    async with shown(queue) as (app, pilot):
        await pilot.press("r")
        await until(pilot, lambda: at(app) == 2707)
        assert queue.stops == 2, "every new reading ends the one before"
        gate.set()
        await pilot.pause(0.1)
        await settle(pilot)
        assert [made.number for made in table(app).shown] == [2707]


async def test_escape_ends_the_reading() -> None:
    gate = threading.Event()
    queue = FakeQueue((page(complete=False), page(notes=("Stopped after 3 of 20.",))))
    queue.gates = [gate]
    async with shown(queue) as (app, pilot):
        await pilot.press("escape")
        assert queue.stops == 2
        gate.set()
        await until(pilot, lambda: "Stopped after 3 of 20." in text(app))


async def test_a_queue_that_cannot_be_read_says_why_and_can_be_read_again() -> None:
    queue = FakeQueue((DataError("GitHub could not be reached.", "Try --offline."),), (ValueError("odd"),), (page(),))
    app = ReviewerApp(None, queue=queue, now=lambda: NOW, ascii_only=False)
    async with app.run_test(size=SIZES["120x40"]) as pilot:
        await until(pilot, lambda: "GitHub could not be reached." in text(app))
        assert "Try --offline." in text(app)
        await pilot.press("r")
        await until(pilot, lambda: "could not be read (ValueError: odd)" in text(app))
        await pilot.press("R")
        await until(pilot, lambda: at(app) == 2550)
        assert "could not be read" not in text(app)


async def test_an_empty_queue_says_so() -> None:
    async with shown(FakeQueue((QueuePage(**{**msgspec.structs.asdict(page()), "rows": ()}),))) as (app, pilot):
        assert "There is no pull request here." in text(app)
        await pilot.press("enter", "o", "down", "G", "k")
        await settle(pilot)
        assert isinstance(app.screen, QueueScreen)


# --- filter ---------------------------------------------------------------------------------------------------------


async def test_a_filter_takes_every_word_from_any_fact_and_escape_drops_it() -> None:
    async with shown(FakeQueue()) as (app, pilot):
        await pilot.press("slash", *"QWEN recipe")
        await settle(pilot)
        assert [made.number for made in table(app).shown] == [2640]
        assert "1 of 5 pull requests" in text(app)
        await pilot.press("enter")
        await settle(pilot)
        assert app.focused is table(app)
        assert [made.number for made in table(app).shown] == [2640]
        await pilot.press("escape")
        await settle(pilot)
        assert len(table(app).shown) == 5
        await pilot.press("slash", *"nonsense")
        await settle(pilot)
        assert "No row has these words" in text(app)


# --- into a review and back -------------------------------------------------------------------------------------------


async def open_first(app: ReviewerApp, pilot: Pilot[None]) -> None:
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(app.screen, ReviewScreen) and app.composed is not None)


async def test_a_review_opens_and_one_key_leads_back() -> None:
    queue = FakeQueue()
    async with shown(queue) as (app, pilot):
        await open_first(app, pilot)
        assert "#2550" in rows(app)[0]
        assert " Q queue " in rows(app)[-1]
        await pilot.press("d")
        await settle(pilot)
        await pilot.press("Q")
        await settle(pilot)
        assert isinstance(app.screen, QueueScreen)
        assert at(app) == 2550
        await pilot.press("down")
        await open_first(app, pilot)
        assert "#2707" in rows(app)[0]
        assert len(app.screen_stack) == 3


async def test_the_way_back_is_told_where_there_is_no_room_for_other_keys() -> None:
    async with shown(FakeQueue(), "40x12") as (app, pilot):
        await open_first(app, pilot)
        assert rows(app)[-1].endswith("Q queue  ? help  q quit")


async def test_what_was_decided_stays_with_its_pull_request() -> None:
    queue = FakeQueue()
    async with shown(queue) as (app, pilot):
        await open_first(app, pilot)
        await pilot.press("space", "Q", "down", "enter")
        await until(pilot, lambda: app.review is not None and app.review.snapshot.ref.number == 2707)
        await settle(pilot)
        assert app.review is not None
        assert app.review.notes.marks == {}
        kept = queue.desks[2550].kept
        assert kept is not None
        assert kept.mark("1").decision is Decision.ACCEPTED
        assert queue.desks[2707].saves == 0


async def test_notes_that_cannot_be_saved_keep_the_review_open() -> None:
    queue = FakeQueue()
    async with shown(queue) as (app, pilot):
        await open_first(app, pilot)
        queue.desks[2550].fail_save = "The disk is full."
        await pilot.press("space", "Q")
        await settle(pilot)
        assert isinstance(app.screen, ReviewScreen)
        assert any("NOT saved" in told.message for told in app._notifications)
        queue.desks[2550].fail_save = ""
        await pilot.press("Q")
        await settle(pilot)
        assert isinstance(app.screen, QueueScreen)
        assert queue.desks[2550].kept is not None


async def test_a_slow_opening_is_told_and_escape_gives_it_up() -> None:
    queue = FakeQueue()
    slow = queue.desks[2550] = FakeDesk(review_of(2550))
    gate = slow.gates[None] = threading.Event()
    async with shown(queue) as (app, pilot):
        await pilot.press("enter")
        await until(pilot, lambda: "opening InferenceX #2550: reading the pull request" in text(app))
        await pilot.press("escape")
        gate.set()
        await pilot.pause(0.1)
        await settle(pilot)
        assert isinstance(app.screen, QueueScreen)
        assert "opening" not in text(app)
        await open_first(app, pilot)


async def test_the_last_one_chosen_is_opened() -> None:
    queue = FakeQueue()
    slow = queue.desks[2550] = FakeDesk(review_of(2550))
    gate = slow.gates[None] = threading.Event()
    async with shown(queue) as (app, pilot):
        await pilot.press("enter", "down", "enter")
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen))
        assert "#2707" in rows(app)[0]
        gate.set()
        await pilot.pause(0.1)
        await settle(pilot)
        assert "#2707" in rows(app)[0]


async def test_a_pull_request_that_cannot_be_loaded_leaves_the_way_back_open() -> None:
    queue = FakeQueue()
    desk = queue.desks[2550] = FakeDesk(review_of(2550))
    desk.fail_load = [DataError("It is gone.", "Look elsewhere.")]
    async with shown(queue) as (app, pilot):
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ErrorScreen))
        assert "It is gone." in text(app)
        assert "Q queue" in text(app)
        await pilot.press("Q")
        await settle(pilot)
        assert isinstance(app.screen, QueueScreen)
        assert "opening" not in text(app)
        await open_first(app, pilot)


async def test_keys_of_a_review_do_no_harm_on_the_queue() -> None:
    async with shown(FakeQueue()) as (app, pilot):
        await pilot.press("t", "Q", "space", "x", "d", "s", "1", "tab", "f5")
        await settle(pilot)
        assert isinstance(app.screen, QueueScreen)
        assert app.review is None


async def test_without_a_queue_its_key_says_so(open_app: Callable[..., ReviewerApp], desk: FakeDesk) -> None:
    app = open_app(desk)
    async with app.run_test(size=SIZES["120x40"]) as pilot:
        await until(pilot, lambda: app.composed is not None)
        assert "Q queue" not in rows(app)[-1]
        await pilot.press("Q")
        await settle(pilot)
        assert isinstance(app.screen, ReviewScreen)
        assert any("There is no queue here" in told.message for told in app._notifications)


async def test_the_page_of_a_pull_request_opens_in_a_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    async with shown(FakeQueue()) as (app, pilot):
        monkeypatch.setattr(app, "open_url", opened.append)
        await pilot.press("down", "o")
        await settle(pilot)
    assert opened == [f"https://github.com/{REPOSITORY}/pull/2707"]


async def test_q_leaves() -> None:
    async with shown(FakeQueue()) as (app, pilot):
        await pilot.press("q")
        await pilot.pause()
        assert app._exit
