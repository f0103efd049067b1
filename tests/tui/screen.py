"""What is on the screen of a running app, as text, compared with the goldens."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from textual.app import App
from textual.pilot import Pilot

from reviewer_tui.tui.app import ReviewerApp

GOLDENS = Path(__file__).parent / "goldens"


def rows(app: App[Any]) -> list[str]:
    """The rows of the screen, blanks at the end cut."""
    width, height = app.size
    strips = app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip).rstrip()[:width] for strip in strips[:height]]


async def settle(pilot: Pilot[Any]) -> None:
    """Until every key is handled, no worker runs, nothing waits to be saved or shown, and everything is painted."""
    app = pilot.app
    for _ in range(400):
        if app._exit:
            return
        await handled(app)
        await app.workers.wait_for_complete()
        await handled(app)
        await pilot.pause()
        waits = getattr(app, "saving", False) or getattr(app, "composing", 0) or getattr(app.screen, "reading", False)
        if not waits and not any(worker.is_running for worker in app.workers):
            break
    await pilot.pause()


async def handled(app: App[Any]) -> None:
    """Until the app, and then its screen, have handled what they were sent before."""
    for pump in (app, app.screen, app, app.screen):
        done = asyncio.Event()
        pump.call_later(done.set)
        with suppress(TimeoutError):  # one that is just closing handles nothing any more
            await asyncio.wait_for(done.wait(), 0.5)


async def until(pilot: Pilot[Any], condition: Callable[[], object], seconds: float = 5.0) -> None:
    """Until a condition holds; fails when it does not in time."""
    waited = 0.0
    while not condition():
        assert waited < seconds, "it did not happen in time"
        await pilot.pause(0.02)
        waited += 0.02
    await settle(pilot)


def changed_goldens(screens: dict[str, list[str]]) -> list[str]:
    """The names of the screens that differ from their golden files; REVIEWER_TUI_UPDATE_GOLDENS=1 writes the files."""
    changed = []
    for name, shown in screens.items():
        path, text = GOLDENS / f"{name}.txt", "\n".join(shown) + "\n"
        if os.environ.get("REVIEWER_TUI_UPDATE_GOLDENS"):
            path.write_text(text, encoding="utf-8")
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            changed.append(name)
    return changed


@asynccontextmanager
async def shown_app(app: ReviewerApp, size: tuple[int, int]) -> AsyncIterator[Pilot[None]]:
    """The workstation on a screen of some size, loaded and at rest."""
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.composed is not None)
        yield pilot
