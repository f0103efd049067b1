"""Foreign text inside of a message for a person."""

from __future__ import annotations

from reviewer_tui.model.text import shorten, visible

_LONGEST = 300  # cells


def shown(text: object) -> str:
    """One line of bounded length that steers no terminal and can be written in UTF-8."""
    encodable = str(text).encode("utf-8", "replace").decode()
    return shorten(visible(" ".join(encodable.split())), _LONGEST)
