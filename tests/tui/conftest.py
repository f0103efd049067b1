"""Screens are tested without animations, with a frozen clock, and apart from the machine's environment."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

# Textual reads these when it is imported.
os.environ["TEXTUAL_ANIMATIONS"] = "none"
os.environ.pop("NO_COLOR", None)

from textual import _wait

from reviewer_tui.tui.app import ReviewerApp
from tests.tui.reviews import NOW, FakeDesk

# The pilot waits in steps of 20 ms; the screens here are quicker than that.
_wait.SLEEP_GRANULARITY, _wait.SLEEP_IDLE = 0.005, 0.0025

_FOREIGN = (
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "SSH_CONNECTION",
    "SSH_TTY",
    "SSH_CLIENT",
    "WSL_DISTRO_NAME",
    "VISUAL",
    "EDITOR",
)


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _FOREIGN:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def desk(tmp_path: Path) -> FakeDesk:
    return FakeDesk(folder=tmp_path)


@pytest.fixture
def open_app() -> Callable[..., ReviewerApp]:
    """Makes the workstation on a desk, at a fixed time, with frames that are the same everywhere."""

    def make(desk: FakeDesk, *, ascii_only: bool = False) -> ReviewerApp:
        return ReviewerApp(desk, now=lambda: NOW, ascii_only=ascii_only)

    return make
