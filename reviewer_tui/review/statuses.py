"""The commit statuses of a head, as both faces show them."""

from __future__ import annotations

import msgspec

from reviewer_tui.model.errors import DataError
from reviewer_tui.model.run import CommitStatus
from reviewer_tui.policy.verifier import verdict_contexts
from reviewer_tui.review.session import Review


class StatusView(msgspec.Struct, frozen=True, kw_only=True):
    """A status. `verifier` says that the policy's own verifier sets this context; `doubt` why that need not have been
    the verifier, empty where there is none."""

    status: CommitStatus
    verifier: bool
    doubt: str = ""

    @property
    def title(self) -> str:
        """`the verifier's verdict codeowner-signoff-verify: success`."""
        whose = "the verifier's verdict" if self.verifier else "status"
        return f"{whose} {self.status.context}: {self.status.state}"

    @property
    def origin(self) -> str:
        """Who set it and when."""
        by = f"@{self.status.creator}" if self.status.creator else "nobody who is told"
        return f"set by {by}, {self.status.updated_at[:16].replace('T', ' ')}"


def status_views(review: Review) -> tuple[StatusView, ...]:
    """The head's statuses, the verifier's own first."""
    try:
        contexts = verdict_contexts(review.trees.policy)
    except DataError:
        contexts = frozenset[str]()
    views = [_view(status, contexts) for status in review.snapshot.statuses.value or ()]
    return tuple(sorted(views, key=lambda view: (not view.verifier, view.status.context)))


def _view(status: CommitStatus, contexts: frozenset[str]) -> StatusView:
    verifier = status.context in contexts
    doubt = ""
    if verifier and not status.creator:
        doubt = "Who set it is not told, and whoever may push can set it."
    elif verifier and not status.creator_is_bot:
        doubt = "A person set it, not the verifier's workflow: whoever may push can."
    return StatusView(status=status, verifier=verifier, doubt=doubt)
