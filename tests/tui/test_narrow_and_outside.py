"""Keys of the diff on narrow screens, pages that nobody opened, and editors that cannot be used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reviewer_tui.tui.app import ReviewerApp
from reviewer_tui.tui.screens.diff import DiffScreen
from tests.tui.reviews import NOW, FakeDesk
from tests.tui.screen import settle, shown_app
from tests.tui.test_diff_screen import many_files
from tests.tui.test_terminal import Terminal


def app_on(desk: FakeDesk) -> ReviewerApp:
    return ReviewerApp(desk, now=lambda: NOW, ascii_only=False)


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
@pytest.mark.parametrize("keys", [("f",), ("m", "M")])
async def test_the_next_file_is_reached_on_a_narrow_screen(
    size: tuple[int, int], keys: tuple[str, ...], tmp_path: Path
) -> None:
    app = app_on(FakeDesk(many_files(3), folder=tmp_path))
    async with shown_app(app, size) as pilot:
        await pilot.press("d")
        await settle(pilot)
        assert isinstance(app.screen, DiffScreen)
        before = app.screen.path
        await pilot.press(*keys)
        await settle(pilot)
        assert app.screen.path != before


async def test_a_page_that_no_browser_opened_is_not_called_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webbrowser.open", lambda *_, **__: False)
    app = app_on(FakeDesk(folder=tmp_path))
    async with shown_app(app, (120, 40)) as pilot:
        await pilot.press("d")
        await settle(pilot)
        await pilot.press("o")
        await settle(pilot)
        assert not [notice for notice in app._notifications if "Opened" in notice.message]


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def start(**environment: str) -> Terminal:
        opened.append(Terminal(tmp_path, environment))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


@pytest.mark.parametrize("editor", ["/nonexistent/editor", "vi '", "rm"])
def test_an_editor_that_cannot_be_used_leaves_the_workstation_as_it_was(
    editor: str, terminal: Callable[..., Terminal]
) -> None:
    screen = terminal(EDITOR=editor, VISUAL="")
    screen.wait_for("help")
    screen.press("s")
    screen.wait_for("Preview")
    screen.press("e")
    for _ in range(20):
        assert screen.read(0.05), f"it ended: {screen.written[-400:]!r}"
    screen.press("?")
    screen.wait_for("Help", seconds=5)
