"""The screens as they look, at four sizes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from rich.cells import cell_len

from reviewer_tui.tui.app import ReviewerApp
from tests.tui.reviews import FakeDesk, make_review, without_data
from tests.tui.screen import changed_goldens, rows, settle, shown_app

Open = Callable[..., ReviewerApp]
SIZES = {"40x12": (40, 12), "80x24": (80, 24), "120x40": (120, 40), "200x60": (200, 60)}

# A walk through the screens: the name of the view, the keys that lead there, the keys that lead back.
WALK = (
    ("review", (), ()),
    ("evidence", ("down", "down", "down", "enter"), ("escape",)),
    ("note", ("e",), ("escape",)),
    ("runs", ("3",), ()),
    ("talk", ("6",), ()),
    ("zoomed", ("4", "z"), ("z", "1")),
    ("diff", ("d",), ()),
    ("diff_split", ("u", "full_stop"), ("u",)),
    ("diff_files", ("tab", "down"), ("tab",)),
    ("diff_meaning", ("F", "v"), ("v", "escape")),
    ("signoff", ("s",), ()),
    ("signoff_edit", ("i",), ("escape", "escape")),
    ("help", ("question_mark",), ("escape",)),
    ("decided", ("home", "space", "down", "x", "down", "n", "c"), ()),
)

# Where the largest screen has its own layout; elsewhere it is the middle one with more blanks.
ROOMY = ("review", "evidence", "talk", "zoomed", "decided")


@pytest.mark.parametrize("size", SIZES)
async def test_the_screens_look_as_they_did(size: str, desk: FakeDesk, open_app: Open) -> None:
    app = open_app(desk)
    width, height = SIZES[size]
    screens: dict[str, list[str]] = {}
    async with shown_app(app, SIZES[size]) as pilot:
        for view, keys, back in WALK:
            if size == "200x60" and view not in ROOMY:
                continue
            await pilot.press(*keys)
            await settle(pilot)
            screens[f"{view}_{size}"] = rows(app)
            await pilot.press(*back)
    for shown in screens.values():
        assert len(shown) == height
        assert all(cell_len(row) <= width for row in shown)
    assert changed_goldens(screens) == []


@pytest.mark.parametrize("size", ["80x24", "200x60"])
async def test_panes_without_data_say_why_and_how_to_get_it(size: str, open_app: Open) -> None:
    app = open_app(FakeDesk(without_data(make_review())), ascii_only=True)
    async with shown_app(app, SIZES[size]) as pilot:
        await pilot.press("3")
        await settle(pilot)
        shown = rows(app)
    assert any("A clone holds no runs." in row for row in shown)
    assert any("To get it: Start with a token: reviewer-tui 2550" in row for row in shown)
    assert [row for row in shown if not row.isascii()] == [], "frames and letters in ASCII"
    assert changed_goldens({f"no_data_{size}": shown}) == []


async def test_hostile_text_is_shown_and_does_nothing(desk: FakeDesk, open_app: Open) -> None:
    app = open_app(desk)
    async with shown_app(app, SIZES["120x40"]) as pilot:
        await pilot.press("6")
        await settle(pilot)
        text = "\n".join(rows(app))
    assert "<U+001B>[31mnot red<U+001B>[0m [bold]not bold[/]" in text
    assert "Looks good <U+202E>gnp.exe" in text


async def test_the_layout_follows_the_terminal(desk: FakeDesk, open_app: Open) -> None:
    """From wide to tiny and back, the focused pane stays in focus and on the screen."""
    app = open_app(desk)
    async with shown_app(app, SIZES["200x60"]) as pilot:
        await pilot.press("4")
        await settle(pilot)
        before = rows(app)
        for size in ("80x24", "40x12", "120x40"):
            await pilot.resize_terminal(*SIZES[size])
            await settle(pilot)
            assert app.focused is not None
            assert app.focused.id == "evals"
            assert any("4/4, lowest 0.955" in row for row in rows(app))
        await pilot.resize_terminal(*SIZES["200x60"])
        await settle(pilot)
        assert rows(app) == before
