"""A real pull request as bundled data: InferenceX #2550 at two moments, shown by `reviewer-tui demo`.

#2550 adds one search-space row to one config key. It was signed off twice: first without a merged upstream recipe,
which was rejected, then at a new head that was swept again, because the default branch had switched the checkpoint.

The facts are the real ones as far as they are told; what is not told is partial or unavailable, never filled in. The
object names of commits are real. The files of the trees and the comments are written for the sample: miniatures that
say what the real ones say. Of times only the day is known, and eleven in the evening stands for all of them.
"""

from __future__ import annotations

import msgspec

from reviewer_tui.model.errors import UsageError
from reviewer_tui.sample.facts import snapshot_of
from reviewer_tui.sample.texts import comment, trees_of
from reviewer_tui.sources.source import Loaded


class SampleMoment(msgspec.Struct, frozen=True, kw_only=True):
    """One moment of the sample: a short name, a sentence about it, the day of the review (`YYYY-MM-DD`, UTC) and who
    signed."""

    name: str
    title: str
    review_date: str
    signer: str

    @property
    def sign_off(self) -> str:
        """The sign-off that was posted at that moment."""
        return comment(f"{self.name}-sign-off")


MOMENTS = (
    SampleMoment(
        name="first",
        title="The first head, swept on the old checkpoint and signed off without a recipe: rejected.",
        review_date="2026-08-11",
        signer="Ankur-singh",
    ),
    SampleMoment(
        name="second",
        title="The next head, swept on the new checkpoint, with a recipe that is merged upstream: passed.",
        review_date="2026-08-12",
        signer="Ankur-singh",
    ),
)


def load_sample(moment: str) -> Loaded:
    """The pull request at a moment (`first` or `second`). Reads package data only."""
    if moment not in (known.name for known in MOMENTS):
        raise UsageError(f"The sample has no moment “{moment}”.", "Its moments are “first” and “second”.")
    trees = trees_of(moment)
    return Loaded(snapshot_of(moment, trees), trees)
