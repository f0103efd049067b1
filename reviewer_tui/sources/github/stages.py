"""Loading in stages: counting what is done, and noting what could not be had."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec

from reviewer_tui.model.part import Part, complete, partial, unavailable
from reviewer_tui.sources.github.errors import GitHubError, LoadCancelledError, TokenRefusedError
from reviewer_tui.sources.github.paging import Listing

T = TypeVar("T")


class Progress(msgspec.Struct, frozen=True):
    """How far a stage of loading is; `total` is None where it is not known yet."""

    stage: str
    done: int
    total: int | None = None


Report = Callable[[Progress], None]


class Stage:
    """Counts the pieces of a stage as they are done."""

    def __init__(self, report: Report, name: str, total: int) -> None:
        self._report, self._name, self._total, self._done = report, name, total, 0
        report(Progress(name, 0, total))

    async def piece(self, work: Awaitable[T]) -> T:
        """The result of one piece, counted."""
        result = await work
        self._done += 1
        self._report(Progress(self._name, self._done, self._total))
        return result


class Doubts:
    """What keeps a part of a snapshot from being complete: a sentence each, and the first remedy that is known."""

    def __init__(self) -> None:
        self._sentences: dict[str, None] = {}
        self.remedy = ""

    def __bool__(self) -> bool:
        return bool(self._sentences)

    def add(self, sentence: str, remedy: str = "") -> None:
        if sentence:
            self._sentences[sentence] = None
        self.remedy = self.remedy or remedy

    async def attempt(self, work: Awaitable[T], what: str) -> T | None:
        """The result, or None and a doubt about `what` where GitHub does not give it. A refused token ends the load."""
        try:
            return await work
        except (LoadCancelledError, TokenRefusedError):
            raise
        except GitHubError as fault:
            self.add(f"{what} could not be read: {fault.message}", fault.remedy)
            return None

    def counted(self, listing: Listing[T] | None, what: str) -> Listing[T] | None:
        """The listing; a doubt where GitHub counts more than it told."""
        if listing is not None and not listing.complete:
            self.add(listing.withheld or f"GitHub told {len(listing.items):,} of {listing.total:,} {what}.")
        return listing

    @property
    def reason(self) -> str:
        return " ".join(self._sentences)

    def part(self, value: T) -> Part[T]:
        """The value as a part: complete only where nothing is in doubt."""
        return partial(value, self.reason, self.remedy or AGAIN) if self else complete(value)

    def nothing(self) -> Part[T]:
        """A part of which nothing could be had."""
        return unavailable(self.reason, self.remedy or AGAIN)


AGAIN = "Load the pull request again."
