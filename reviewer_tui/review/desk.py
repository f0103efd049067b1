"""What a workstation needs from the outside: a review to show, and a place for what the reviewer decides and writes.

A desk stands between the screens and a clone, the sample, a bundle or GitHub. All methods may block (they are called in
a thread, one at a time for one review except `compose`, which may run beside the others; never before the first screen
is painted) and raise `ReviewerError` with a sentence and a remedy.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from reviewer_tui.model.finding import Finding
from reviewer_tui.model.run import CheckRun, JobLog
from reviewer_tui.review.session import Review
from reviewer_tui.store.drafts import Conflict

# Only who posts pays for the network's libraries.
if TYPE_CHECKING:
    from reviewer_tui.review.posting import Poster

Progress = Callable[[str], None]
"""Takes a few words about what is being loaded now (`reading the sweep of run 31628689774`)."""


class Moment(msgspec.Struct, frozen=True):
    """One state of the pull request that the reviewer can switch to: a short name, and a sentence about it."""

    name: str
    title: str


class ComposedSignOff(msgspec.Struct, frozen=True, kw_only=True):
    """A sign-off as it would be posted, and what is wrong with it.

    `text` is the whole comment; `detail` the part of its detail section that is edited by hand (as edited, or the
    draft), without the lines that follow the boxes and notes; `unfinished` holds one sentence for each thing the
    reviewer has still to decide; `lint` the faults (`fail`) and remarks of the text, `line` counted in `text`; `drafts`
    the sentences that the program offers for an item's note, by item label.
    """

    text: str
    detail: str
    unfinished: tuple[str, ...] = ()
    lint: tuple[Finding, ...] = ()
    drafts: dict[str, str] = {}


class Desk(Protocol):
    """Where a workstation gets its review from and leaves its results."""

    @property
    def title(self) -> str:
        """What will be shown, in a few words, known before anything is loaded (`InferenceX #2550`)."""
        ...

    @property
    def moments(self) -> tuple[Moment, ...]:
        """The states to choose from, the first is shown first; empty where there is only one."""
        ...

    def load(self, moment: str | None, progress: Progress) -> Review:
        """The review at a moment (None: the only one), with the notes saved before."""
        ...

    def load_rest(self, review: Review, progress: Progress) -> Review | None:
        """The review with what nothing waited for: what was published of its points. None where there is no more."""
        ...

    def job_log(self, review: Review, job: CheckRun) -> JobLog:
        """The end of the log of one job. Raises DataError where it cannot be had."""
        ...

    def save_notes(self, review: Review) -> None:
        """Keep `review.notes` so that the next `load` of the same head has them. Called after every change."""
        ...

    def notices(self) -> tuple[str, ...]:
        """What the reviewer should know about the kept notes (damage, conflicts, what was carried over); each sentence
        is told once. Asked after every `load` and `save_notes`."""
        ...

    def compose(self, review: Review) -> ComposedSignOff:
        """The sign-off of the review as it stands, judged. Touches nothing."""
        ...

    def save_sign_off(self, review: Review, text: str) -> Path:
        """Write the sign-off to a file (never over another pull request's) and return its path."""
        ...

    def conflicts(self, review: Review) -> tuple[Conflict, ...]:
        """What another process wrote differently than the notes of this head have it; both texts of each."""
        ...

    def forget_conflicts(self, review: Review) -> None:
        """The reviewer has looked at the conflicts."""
        ...

    def poster(self, review: Review) -> Poster:
        """Who posts to the pull request. Raises ReviewerError with a sentence where nothing can be posted from here."""
        ...

    def viewed(self, review: Review) -> frozenset[str]:
        """The marks of files that were looked at: digests of content, so that a changed file loses its mark."""
        ...

    def save_viewed(self, review: Review, marks: frozenset[str]) -> None:
        """Keep the marks of viewed files."""
        ...
