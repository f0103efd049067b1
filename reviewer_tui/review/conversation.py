"""What the conversation holds of the sign-off process."""

from __future__ import annotations

from reviewer_tui.model.errors import DataError, UsageError
from reviewer_tui.model.pull_request import Comment
from reviewer_tui.model.refs import comment_anchor, comment_of
from reviewer_tui.model.snapshot import Snapshot
from reviewer_tui.signoff.parse import is_sign_off

# Reviews in these states are not on record.
OFF_THE_RECORD = ("DISMISSED", "PENDING")


def posted_sign_offs(snapshot: Snapshot) -> tuple[Comment, ...]:
    """The comments that are sign-offs, the oldest first."""
    return tuple(
        comment
        for comment in snapshot.conversation.value or ()
        if comment.review_state not in OFF_THE_RECORD and is_sign_off(comment.body, comment.is_bot)
    )


def current_sign_off(snapshot: Snapshot, signer: str) -> Comment | None:
    """The newest sign-off of the signer, or of anybody where no signer is named."""
    own = [c for c in posted_sign_offs(snapshot) if not signer or c.author.lower() == signer.lower()]
    return own[-1] if own else None


def comment_at(snapshot: Snapshot, url: str) -> Comment:
    """The comment at an address. Raises UsageError for one that is no comment of the pull request, DataError where it
    is not known."""
    ref, said = snapshot.ref, snapshot.conversation
    anchor = comment_of(url, ref)
    if anchor is None:
        raise UsageError(f"“{url}” is no comment of #{ref.number}.", "Give its address, which ends in #issuecomment-1.")
    found = next((comment for comment in said.value or () if comment_anchor(comment.url) == anchor), None)
    if found is not None:
        return found
    if said.complete:
        raise DataError(f"#{ref.number} has no comment {anchor}.", "It may be gone, or hidden from the token.")
    raise DataError(f"The comment {anchor} of #{ref.number} is not known: {said.reason}", said.remedy)
