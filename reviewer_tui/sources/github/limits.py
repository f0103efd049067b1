"""The budget GitHub grants, and waiting for it where the reader can see and stop it."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping

import msgspec

from reviewer_tui.sources.github.errors import RateLimitedError

TRIES = 4
"""How often a read is sent before it is given up."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0
_SECONDARY_PAUSE = 60.0
_UNSEEN_PATIENCE, _SEEN_PATIENCE = 30.0, 300.0


class Budget(msgspec.Struct, frozen=True):
    """What is left of one resource (`core`, `graphql`, `search`) until `reset` (seconds since 1970)."""

    resource: str
    limit: int
    remaining: int
    reset: float


class Wait(msgspec.Struct, frozen=True):
    """A pause in loading: why, and how many seconds are left of it (0: it is over)."""

    reason: str
    seconds_left: float


class Pace:
    """Keeps the books of one client and decides how long to wait.

    `on_wait` is told of every wait, each second, from the client's own thread; without it nobody would see a wait, so
    none longer than 30 seconds is taken. `patience` is the longest wait; what would take longer is an error that names
    the time. All methods belong to the client's event loop.
    """

    def __init__(
        self,
        on_wait: Callable[[Wait], None] | None = None,
        *,
        patience: float | None = None,
        clock: Callable[[], float] = time.time,
        pause_unit: float = _FIRST_PAUSE,
    ) -> None:
        self._on_wait = on_wait
        self._patience = patience if patience is not None else (_SEEN_PATIENCE if on_wait else _UNSEEN_PATIENCE)
        self._clock = clock
        self._pause_unit = pause_unit
        self._budgets: dict[str, Budget] = {}
        self._closed_until: dict[str, tuple[float, str]] = {}
        self._secondary_pause = _SECONDARY_PAUSE

    def sibling(self) -> Pace:
        """The pace of another host or token: own books, the same listener and patience."""
        return Pace(self._on_wait, patience=self._patience, clock=self._clock, pause_unit=self._pause_unit)

    @property
    def budgets(self) -> tuple[Budget, ...]:
        """What GitHub last said is left, by resource."""
        return tuple(self._budgets[name] for name in sorted(self._budgets))

    def note(self, headers: Mapping[str, str]) -> None:
        """Take down what an answer says about the budget; headers that make no sense are passed over."""
        limit, remaining = _number(headers, "x-ratelimit-limit"), _number(headers, "x-ratelimit-remaining")
        reset = _number(headers, "x-ratelimit-reset")
        if limit is None or remaining is None or reset is None:
            return
        resource = headers.get("x-ratelimit-resource", "core")[:40]
        self._budgets[resource] = Budget(resource, int(limit), int(remaining), reset)

    def limited(self, status: int, headers: Mapping[str, str], message: str) -> tuple[str, float] | None:
        """Whether an answer is a rate limit: its kind and the moment from which to try again. None where it is not.

        Order of GitHub's documentation: `retry-after`, else the reset of a used-up budget, else a minute, twice as long
        each further time.
        """
        if status not in (403, 429):
            return None
        words = message.lower()
        secondary = "secondary rate limit" in words or "abuse detection" in words
        used_up = headers.get("x-ratelimit-remaining") == "0" and not secondary
        now = self._clock()
        if (after := _number(headers, "retry-after")) is not None:
            return ("primary" if used_up else "secondary", now + max(after, 1))
        if used_up:
            return ("primary", max(_number(headers, "x-ratelimit-reset") or now + _SECONDARY_PAUSE, now + 1))
        if secondary or status == 429:
            return ("secondary", now + self._secondary_pause)
        return None

    def close(self, resource: str, kind: str, until: float) -> None:
        """Send nothing more of a resource before this moment. What is already closed stays so: the answers to several
        requests under way count as one warning."""
        if self._closed_until.get(resource, (0.0, ""))[0] > self._clock():
            return
        self._closed_until[resource] = (until, kind)
        if kind == "secondary":
            self._secondary_pause *= 2

    async def admit(self, resource: str, endpoint: str) -> None:
        """Return when a request may be sent. Raises RateLimitedError where that would take longer than `patience`."""
        while True:
            until, kind = self._closed_until.get(resource, (0.0, ""))
            left = until - self._clock()
            if left <= 0:
                return
            sentence = _limit_sentence(kind, self._budgets.get(resource))
            if left > self._patience:
                raise RateLimitedError(sentence, kind=kind, until=until, endpoint=endpoint)
            await self._pause(f"{sentence} Waiting for it.", until)

    async def pause_before(self, attempt: int, reason: str) -> None:
        """The pause before another try (`attempt` from 1): longer each time, with full jitter."""
        longest = min(self._pause_unit * 2 ** (attempt - 1), _LONGEST_PAUSE)
        await self._pause(f"{reason} Trying again.", self._clock() + random.uniform(longest / 4, longest))

    async def _pause(self, reason: str, until: float) -> None:
        while (left := until - self._clock()) > 0:
            self._tell(Wait(reason, left))
            await asyncio.sleep(min(left, 1.0))
        self._tell(Wait(reason, 0.0))

    def _tell(self, wait: Wait) -> None:
        if self._on_wait is not None:
            self._on_wait(wait)


def _limit_sentence(kind: str, budget: Budget | None) -> str:
    if kind == "secondary":
        return "GitHub asks to slow down."
    hourly = f" of {budget.limit:,} requests" if budget else ""
    return f"GitHub's hourly budget{hourly} is used up."


def _number(headers: Mapping[str, str], name: str) -> float | None:
    text = headers.get(name, "")
    return float(text) if text.isascii() and text.isdigit() and len(text) <= 12 else None
