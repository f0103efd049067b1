"""Texts of a launch script that may be known only in part.

A value is a plain `str` where it is known, else a `Mixed`: known pieces and `Unknown` ones in their order. An unknown
piece says why it could not be evaluated and where, so that whatever depends on it can name the place.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import msgspec

_LONGEST_HINT = 40


class Unknown(msgspec.Struct, frozen=True):
    """A piece of text that could not be evaluated: `value of X`, at `path` and `line` (0 where there is none).

    `nonempty` tells that, whatever it is, it is not the empty text.
    """

    reason: str
    line: int = 0
    path: str = ""
    nonempty: bool = False

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason} unknown" if self.line else f"{self.reason} unknown"


class Mixed(msgspec.Struct, frozen=True):
    """A text with at least one unknown piece."""

    parts: tuple[str | Unknown, ...]

    @property
    def nonempty(self) -> bool:
        return any(part if isinstance(part, str) else part.nonempty for part in self.parts)

    def __str__(self) -> str:
        return show(self)


Text: TypeAlias = str | Mixed


def unknown(reason: str, line: int = 0, path: str = "", nonempty: bool = False) -> Mixed:
    """A text of which nothing is known."""
    return Mixed((Unknown(reason, line, path, nonempty),))


def concat(texts: Iterable[Text | Unknown]) -> Text:
    """The texts and unknown pieces one after the other."""
    pieces = list(texts)
    if all(type(piece) is str for piece in pieces):
        return "".join(pieces)  # type: ignore[arg-type]
    parts: list[str | Unknown] = []
    for text in pieces:
        for part in text.parts if isinstance(text, Mixed) else (text,):
            if isinstance(part, str) and parts and isinstance(parts[-1], str):
                parts[-1] += part
            elif part != "":
                parts.append(part)
    if not parts:
        return ""
    if len(parts) == 1 and isinstance(parts[0], str):
        return parts[0]
    return Mixed(tuple(parts))


def without_last_breaks(text: Text) -> Text:
    """The text without its trailing line breaks, as a substitution takes it."""
    if isinstance(text, str):
        return text.rstrip("\n")
    parts = list(text.parts)
    last = parts.pop()
    if isinstance(last, str):
        return concat([*parts, last.rstrip("\n")])
    if not last.nonempty and parts and isinstance(parts[-1], str):
        # The unknown piece may be empty, and then the line break before it goes too.
        parts[-1] = parts[-1].rstrip("\n")
    return concat([*parts, last])


def unknowns(text: Text) -> tuple[Unknown, ...]:
    """The unknown pieces of a text."""
    return () if isinstance(text, str) else tuple(part for part in text.parts if isinstance(part, Unknown))


def is_empty(text: Text) -> bool | None:
    """Whether the text is empty; None where that depends on an unknown piece."""
    if isinstance(text, str):
        return not text
    return False if text.nonempty else None


def show(text: Text) -> str:
    """The text for a person: unknown pieces stand as `<reason>`."""
    if isinstance(text, str):
        return text
    return "".join(part if isinstance(part, str) else f"<{part.reason}>" for part in text.parts)


def equal(left: Text, right: Text) -> bool | None:
    """Whether two texts are equal; None where that depends on an unknown piece."""
    if isinstance(left, str) and isinstance(right, str):
        return left == right
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Mixed) and isinstance(other, str) and _contradicts(one, other):
            return False
    return None


def _contradicts(mixed: Mixed, text: str) -> bool:
    """Whether the known pieces of `mixed` rule out that it equals `text`."""
    first, last = mixed.parts[0], mixed.parts[-1]
    if isinstance(first, str) and not text.startswith(first):
        return True
    if isinstance(last, str) and not text.endswith(last):
        return True
    return (not text and mixed.nonempty) or sum(len(p) for p in mixed.parts if isinstance(p, str)) > len(text)


def either(first: Text, second: Text, reason: str, line: int, path: str) -> Text:
    """What is known of a text that is one of two: itself where they agree, else unknown with both named."""
    if first == second:
        return first
    nonempty = is_empty(first) is False and is_empty(second) is False
    return unknown(f"{reason} ({_short(first)} or {_short(second)})", line, path, nonempty)


def _short(text: Text) -> str:
    shown = " ".join(show(text).split()) or "empty"
    return shown if len(shown) <= _LONGEST_HINT else f"{shown[: _LONGEST_HINT - 1]}…"
