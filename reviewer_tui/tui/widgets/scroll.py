"""Scroll bars for terminals that draw block characters two cells wide, or not at all."""

from __future__ import annotations

from textual.scrollbar import ScrollBarRender
from textual.widget import Widget


class AsciiScrollBar(ScrollBarRender):
    """A bar of blanks and reversed blanks only."""

    VERTICAL_BARS = [" "] * 8
    HORIZONTAL_BARS = VERTICAL_BARS


def fit_scroll_bars(view: Widget) -> None:
    """Give a view scroll bars that suit the app's choice of characters."""
    if view.app.has_class("-ascii"):
        view.vertical_scrollbar.renderer = AsciiScrollBar  # type: ignore[misc]
        view.horizontal_scrollbar.renderer = AsciiScrollBar  # type: ignore[misc]
