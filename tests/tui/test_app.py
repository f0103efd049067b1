"""The workstation as a whole: loading, failing, deciding, saving, leaving."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from textual.widgets import TextArea

from reviewer_tui.model.checklist import Decision
from reviewer_tui.model.errors import DataError, UsageError
from reviewer_tui.model.part import unavailable
from reviewer_tui.tui.app import ReviewerApp, must_be_ascii, run_workstation
from reviewer_tui.tui.screens.message import ErrorScreen, UnsavedScreen
from reviewer_tui.tui.screens.note import NoteScreen
from reviewer_tui.tui.screens.review import ReviewScreen
from reviewer_tui.tui.widgets.line_view import LineView
from tests.tui.reviews import FakeDesk
from tests.tui.screen import rows, settle, shown_app, until

Open = Callable[..., ReviewerApp]
SIZE = (120, 40)


def text(app: ReviewerApp) -> str:
    return "\n".join(rows(app))


# --- loading --------------------------------------------------------------------------------------------------------


async def test_the_first_screen_stands_before_anything_is_loaded(desk: FakeDesk, open_app: Open) -> None:
    desk.gates[None] = threading.Event()
    app = open_app(desk)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: "reading the pull request" in text(app))
        assert "InferenceX #2550" in text(app)
        desk.gates[None].set()
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen))


async def test_a_failed_load_says_why_and_can_be_tried_again(desk: FakeDesk, open_app: Open) -> None:
    desk.fail_load = [DataError("There is no pull request 2550.", "Fetch it: git fetch origin."), ValueError("odd")]
    app = open_app(desk)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ErrorScreen))
        assert "could not be loaded (ValueError: odd)" in text(app)
        assert app.without_data
        await pilot.press("r")
        await until(pilot, lambda: "There is no pull request 2550." in text(app))
        assert "Fetch it: git fetch origin." in text(app)
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen))
        assert len(app.screen_stack) == 2
        assert not app.without_data


async def test_the_rest_comes_after_the_review_and_takes_nothing_away(desk: FakeDesk, open_app: Open) -> None:
    """What was published is looked up while the reviewer works already: decisions and the place in a pane stay."""
    published = desk.review.snapshot.published
    desk.rest = desk.review
    snapshot = msgspec.structs.replace(desk.review.snapshot, published=unavailable("Not looked up yet."))
    desk.review = msgspec.structs.replace(desk.review, snapshot=snapshot)
    app = open_app(desk)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen))
        await pilot.press("space", "2", "end")
        await settle(pilot)
        pane = app.screen.query_one("#diff", LineView)
        place = pane.cursor
        assert place > 0
        assert app.review is not None
        assert app.review.snapshot.published.reason == "Not looked up yet."
        desk.rest_gate.set()
        await until(pilot, lambda: app.review is not None and app.review.snapshot.published == published)
        await settle(pilot)
        assert app.review.notes.mark("1").decision is Decision.ACCEPTED
        assert pane.cursor == place
        assert "run 31400000001" in " ".join(row.text for _, row in app.screen.query_one("#evals", LineView).rows)


@pytest.mark.parametrize("fault", [DataError("The token is refused."), ValueError("odd")])
async def test_a_rest_that_fails_is_said_and_the_review_stays(desk: FakeDesk, open_app: Open, fault: Exception) -> None:
    desk.rest = fault
    app = open_app(desk)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen))
        desk.rest_gate.set()
        await until(pilot, lambda: any(str(fault) in told.message for told in app._notifications))
        assert isinstance(app.screen, ReviewScreen)
        assert not app.without_data


async def test_a_late_rest_of_an_earlier_load_is_dropped(desk: FakeDesk, open_app: Open) -> None:
    desk.rest = desk.review
    app = open_app(desk)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen))
        desk.rest = None
        await pilot.press("R")
        await until(pilot, lambda: not app.loading_review)
        newer = app.review
        desk.rest_gate.set()
        await settle(pilot)
        await pilot.pause(0.1)
        assert app.review is newer


async def test_a_late_load_of_another_moment_is_dropped(open_app: Open) -> None:
    """The first moment is still loading when the reviewer asks for the second: its answer must not replace it."""
    desk = FakeDesk(moments=2)
    app = open_app(desk)
    async with shown_app(app, SIZE) as pilot:
        desk.gates["m2"] = threading.Event()
        await pilot.press("t")
        await pilot.press("t")
        await settle(pilot)
        desk.gates["m2"].set()
        await settle(pilot)
        assert "at m1" in text(app)
        await pilot.press("t")
        await until(pilot, lambda: "at m2" in text(app))
        assert "t  moment 2 of 2: the 2. moment" in text(app)


async def test_a_failed_reload_keeps_what_is_shown(desk: FakeDesk, open_app: Open) -> None:
    app = open_app(desk)
    async with shown_app(app, SIZE) as pilot:
        desk.fail_load = [DataError("The network is gone.", "Try later.")]
        await pilot.press("R")
        await until(pilot, lambda: any("network is gone" in n.message for n in app._notifications))
        assert isinstance(app.screen, ReviewScreen)


# --- deciding and saving --------------------------------------------------------------------------------------------


async def test_nothing_is_decided_by_the_program(desk: FakeDesk, open_app: Open) -> None:
    app = open_app(desk)
    async with shown_app(app, SIZE) as pilot:
        await pilot.press("down", "enter", "tab", "d", "escape", "s", "escape", "c", "R")
        await settle(pilot)
        assert app.review is not None
        assert app.review.notes.marks == {}
        assert desk.saves == 0


async def test_decisions_are_saved_at_once_and_taken_back(desk: FakeDesk, open_app: Open) -> None:
    app = open_app(desk)
    async with shown_app(app, SIZE) as pilot:
        await pilot.press("space", "down", "x", "down", "n", "down", "space", "space", "down", "x", "backspace")
        await settle(pilot)
        assert desk.kept is not None
        decided = {label: mark.decision for label, mark in desk.kept.marks.items()}
        assert decided == {
            "1": Decision.ACCEPTED,
            "2": Decision.DISPUTED,
            "3": Decision.NOT_APPLICABLE,
            "4": Decision.OPEN,
            "5": Decision.OPEN,
        }
        assert " [x] P   1" in text(app)


async def test_a_click_on_the_box_accepts_and_elsewhere_only_goes_there(desk: FakeDesk, open_app: Open) -> None:
    app = open_app(desk)
    async with shown_app(app, SIZE) as pilot:
        await pilot.click("#checklist", offset=(20, 5))
        await settle(pilot)
        assert ">[ ] P   5" in text(app)
        await pilot.click("#checklist", offset=(3, 3))
        await settle(pilot)
        assert ">[x] U   3" in text(app)


async def test_a_note_is_kept_while_it_is_typed_and_escape_only_closes(desk: FakeDesk, open_app: Open) -> None:
    app = open_app(desk)
    async with shown_app(app, SIZE) as pilot:
        await pilot.press("e", *"why q?")
        await until(pilot, lambda: desk.kept is not None and desk.kept.mark("1").note == "why q?")
        assert isinstance(app.screen, NoteScreen)
        await pilot.press("escape")
        await settle(pilot)
        assert isinstance(app.screen, ReviewScreen)
        assert "latest template +" in text(app)
        await pilot.press("e")
        await settle(pilot)
        assert app.screen.query_one(TextArea).text == "why q?"


async def test_the_offered_sentence_is_taken_by_key(desk: FakeDesk, open_app: Open) -> None:
    app = open_app(desk)
    async with shown_app(app, SIZE) as pilot:
        await pilot.press("down", "down", "down", "e", "ctrl+t", "escape")
        await settle(pilot)
        assert app.review is not None
        assert app.review.notes.mark("4").note == "Evals: gsm8k strict 0.966-0.970 (run 31628689774)."
        assert app.review.notes.mark("4").decision is Decision.OPEN


async def test_what_happened_to_the_notes_is_told(desk: FakeDesk, open_app: Open) -> None:
    desk.told = ("Your notes of e364399 were brought along.",)
    app = open_app(desk)
    async with shown_app(app, SIZE) as pilot:
        desk.told = ("Another process changed item 3 as well.",)
        await pilot.press("space")
        await settle(pilot)
        said = [notification.message for notification in app._notifications]
        assert said == ["Your notes of e364399 were brought along.", "Another process changed item 3 as well."]


async def test_what_was_decided_while_loading_again_stays(desk: FakeDesk, open_app: Open) -> None:
    app = open_app(desk)
    async with shown_app(app, SIZE) as pilot:
        desk.gates[None] = threading.Event()
        desk.fail_save = "disk full"
        await pilot.press("R", "space")
        await settle(pilot)
        desk.gates[None].set()
        loaded = app.review
        await until(pilot, lambda: app.review is not loaded)
        assert app.review is not None
        assert app.review.notes.mark("1").decision is Decision.ACCEPTED
        desk.fail_save = ""


# --- leaving --------------------------------------------------------------------------------------------------------


async def test_leaving_saves_what_was_typed_a_moment_ago(desk: FakeDesk, open_app: Open) -> None:
    app = open_app(desk)
    async with shown_app(app, SIZE) as pilot:
        await pilot.press("e", "z", "ctrl+q")
        await until(pilot, lambda: not app.is_running or app._exit)
    assert desk.kept is not None
    assert desk.kept.mark("1").note == "z"


async def test_leaving_without_having_saved_asks(
    desk: FakeDesk, open_app: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    desk.fail_save = "The disk is full."
    app = open_app(desk)
    async with shown_app(app, SIZE) as pilot:
        await pilot.press("space", "q")
        await until(pilot, lambda: isinstance(app.screen, UnsavedScreen))
        await pilot.press("escape")
        await settle(pilot)
        assert isinstance(app.screen, ReviewScreen)
        await pilot.press("q")
        await until(pilot, lambda: isinstance(app.screen, UnsavedScreen))
        await pilot.press("w")
        await until(pilot, lambda: app._exit)
    (written,) = tmp_path.glob("review-notes-2550-*.json")
    assert msgspec.json.decode(written.read_bytes())["marks"]["1"]["decision"] == "accepted"


async def test_a_save_that_works_the_second_time_lets_go(desk: FakeDesk, open_app: Open) -> None:
    desk.fail_save = "The disk is full."
    app = open_app(desk)
    async with shown_app(app, SIZE) as pilot:
        await pilot.press("space", "q")
        await until(pilot, lambda: isinstance(app.screen, UnsavedScreen))
        desk.fail_save = ""
        await pilot.press("r")
        await until(pilot, lambda: app._exit)
    assert desk.saves == 1


# --- around ---------------------------------------------------------------------------------------------------------


async def test_the_theme_changes_and_the_palette_knows_the_actions(desk: FakeDesk, open_app: Open) -> None:
    app = open_app(desk)
    async with shown_app(app, SIZE) as pilot:
        await pilot.press("L")
        assert app.theme == "reviewer-light"
        titles = [command.title for command in app.get_system_commands(app.screen)]
        assert "accept (space)" in titles
        await pilot.press("colon", *"dispute")
        await until(pilot, lambda: "dispute (x)" in text(app))
        await pilot.press("enter")
        await until(pilot, lambda: app.review is not None and "1" in app.review.notes.marks)


@pytest.mark.parametrize(
    ("environment", "encoding", "ascii_only"),
    [
        ({"LANG": "en_US.UTF-8"}, "utf-8", False),
        ({"LANG": "C"}, "ascii", True),
        ({"LANG": "zh_CN.UTF-8"}, "utf-8", True),
        ({"LC_ALL": "ja_JP.UTF-8", "LANG": "en_US.UTF-8"}, "utf-8", True),
        ({}, None, True),
    ],
)
def test_frames_are_ascii_where_others_would_misalign(
    environment: dict[str, str], encoding: str | None, ascii_only: bool
) -> None:
    assert must_be_ascii(environment, encoding) is ascii_only


def test_an_unknown_theme_is_named() -> None:
    with pytest.raises(UsageError, match="no theme called nonsense"):
        run_workstation(FakeDesk(), theme="nonsense")


async def test_no_colour_means_none(desk: FakeDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = ReviewerApp(desk)
    async with shown_app(app, SIZE) as pilot:
        await pilot.press("d")
        await settle(pilot)
        strips = app.screen._compositor.render_strips()
        filtered = [
            segment
            for strip in strips
            for segment in strip.apply_filter(app._filters[-1], app.screen.background_colors[1])
            if segment.style is not None
        ]
    colours = {colour for s in filtered if s.style for colour in (s.style.color, s.style.bgcolor) if colour}
    assert all(colour.is_default for colour in colours)
    assert any(s.style and s.style.reverse for s in filtered), "the cursor is seen without colour"


async def test_a_title_is_text_and_nothing_else(desk: FakeDesk, open_app: Open) -> None:
    desk.gates[None] = threading.Event()
    desk.title = "[bold]x[/] \x1b[31my"
    app = open_app(desk)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        assert "[bold]x[/] <U+001B>[31my" in text(app)
        desk.gates[None].set()
        await until(pilot, lambda: app.review is not None)


@pytest.mark.parametrize("theme", ["reviewer-light", "ansi-dark", "ansi-light", "nord", "solarized-light"])
async def test_every_theme_paints_with_its_own_colours(theme: str, desk: FakeDesk, open_app: Open) -> None:
    """The views follow a change of theme, and the cursor's line stands out in each."""
    app = open_app(desk)
    async with shown_app(app, SIZE) as pilot:
        before = painted(app)
        app.theme = theme
        await settle(pilot)
        after = painted(app)
    assert after != before
    cursor, other = after[3], after[5]
    assert cursor != other


def painted(app: ReviewerApp) -> list[set[object]]:
    """The grounds and attributes of each row of the checklist."""
    strips = app.screen._compositor.render_strips()
    return [
        {(s.style.bgcolor, s.style.color, s.style.reverse) for s in strip.crop(5, 45) if s.style is not None}
        for strip in strips
    ]
