"""A part of a snapshot: what is known, and if not all of it, why and how to get the rest."""

from __future__ import annotations

from typing import Generic, Literal, TypeVar

import msgspec

T = TypeVar("T")


class Part(msgspec.Struct, Generic[T], frozen=True):
    """One part of a snapshot.

    `state` is `complete` (the value is all there is), `partial` (the value is true but not all; `reason` says what
    is missing) or `unavailable` (no value; `reason` says why). `remedy` tells the reader how to get what is missing.
    An absent part is never an empty list.
    """

    state: Literal["complete", "partial", "unavailable"]
    value: T | None = None
    reason: str = ""
    remedy: str = ""

    @property
    def known(self) -> bool:
        """Whether there is a value at all (complete or partial)."""
        return self.value is not None

    @property
    def complete(self) -> bool:
        return self.state == "complete"


def complete(value: T) -> Part[T]:
    """All of it."""
    return Part("complete", value)


def partial(value: T, reason: str, remedy: str = "") -> Part[T]:
    """True, but not all of it."""
    return Part("partial", value, reason, remedy)


def unavailable(reason: str, remedy: str = "") -> Part[T]:
    """Nothing of it; `reason` is a sentence for a person."""
    return Part("unavailable", None, reason, remedy)
