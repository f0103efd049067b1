"""Foreign text on a terminal: how wide it is, and how to show what would otherwise steer or deceive."""

from __future__ import annotations

import re
import unicodedata

# Control characters (C0 without line feed and tab, DEL, C1), bidirectional overrides and isolates, invisible marks,
# and the tag block: none of them may reach a terminal as they are.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff"
    "\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """The text with every control character, override and invisible mark as `<U+202E>`; tabs and line feeds stay."""
    return _UNSAFE.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)


def has_unsafe(text: str) -> bool:
    """Whether the text holds anything that `visible` would show."""
    return _UNSAFE.search(text) is not None


def cells(text: str) -> int:
    """How many terminal cells a line takes: wide and full-width characters two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(_width(character) for character in text)


def _width(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def shorten(text: str, width: int) -> str:
    """The text cut to `width` cells, with three dots where something was cut."""
    if cells(text) <= width:
        return text
    kept, used = [], 0
    for character in text:
        used += _width(character)
        if used > width - 3:
            break
        kept.append(character)
    return ("".join(kept) + "...")[: max(width, 0)]
