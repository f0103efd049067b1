"""From a source to a review: snapshot and trees, policy, what the pull request changes, and every check's result."""

from __future__ import annotations

import msgspec

from reviewer_tui.checks.registry import run_checks
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.model.tree import Tree
from reviewer_tui.policy.policy import Policy, load_policy
from reviewer_tui.review.conversation import comment_at, current_sign_off
from reviewer_tui.review.session import Review, evidence_of
from reviewer_tui.signoff.parse import parse_sign_off
from reviewer_tui.sources.source import Loaded, PublishedSource, RecipeSource, Source
from reviewer_tui.sweeps.diff import config_changes


class ReviewRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of a review. `review_date` is `YYYY-MM-DD`, UTC; `head` and `policy_ref` are revisions as typed;
    `sign_off` is the text under judgement, `comment` the address of the one that holds it, where it is not the newest
    one of the conversation."""

    review_date: str
    head: str | None = None
    policy_ref: str | None = None
    signer: str = ""
    sign_off: str | None = None
    comment: str | None = None


class Reviewer:
    """Reviews pull requests of one source. A policy is read once for each revision."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._policies: dict[str, Policy] = {}

    def review(self, ref: PullRequestRef, request: ReviewRequest, *, published: bool = False) -> Review:
        """One pull request, reviewed; with `published` beside what the default branch published, where the source can
        look that up. Raises DataError where it cannot be loaded."""
        loaded = self._source.load(ref, head=request.head, policy_ref=request.policy_ref)
        if isinstance(self._source, RecipeSource):
            loaded = self._source.with_recipes(loaded, _said(loaded, request), request.review_date)
        if published and isinstance(self._source, PublishedSource):
            loaded = self._source.with_published(loaded)
        return review_of(loaded, request, self.policy(loaded.trees.policy))

    def with_published(self, review: Review, request: ReviewRequest) -> Review | None:
        """A review again, beside what the default branch published; None where the source cannot look that up."""
        before = Loaded(review.snapshot, review.trees)
        loaded = self._source.with_published(before) if isinstance(self._source, PublishedSource) else before
        if loaded is before:
            return None
        return review_of(loaded, request, review.policy).with_notes(review.notes)

    def policy(self, tree: Tree) -> Policy:
        """The policy of a revision."""
        if tree.revision not in self._policies:
            self._policies[tree.revision] = load_policy(tree)
        return self._policies[tree.revision]


def review_of(loaded: Loaded, request: ReviewRequest, policy: Policy) -> Review:
    """The review of loaded facts. Does no input or output beyond reading the trees. Raises UsageError or DataError
    where the comment that is asked about is not there."""
    trees = loaded.trees
    text, signer = _sign_off(loaded, request)
    changes = config_changes(trees.base, trees.head)
    review = Review(
        snapshot=loaded.snapshot,
        trees=trees,
        policy=policy,
        changes=changes,
        results=(),
        review_date=request.review_date,
        signer=signer,
        sign_off=text,
    )
    return msgspec.structs.replace(review, results=run_checks(evidence_of(review)))


def _said(loaded: Loaded, request: ReviewRequest) -> tuple[str, ...]:
    """The texts whose links matter: the sign-off that is asked about, and the conversation."""
    comments = loaded.snapshot.conversation.value or ()
    return tuple(filter(None, (request.sign_off, *(comment.body for comment in comments))))


def _sign_off(loaded: Loaded, request: ReviewRequest) -> tuple[str | None, str]:
    """The text under judgement, and who signs: as asked, else the author of the text, else its signature."""
    if request.sign_off is not None:
        return request.sign_off, request.signer or parse_sign_off(request.sign_off).signer or ""
    if request.comment is not None:
        named = comment_at(loaded.snapshot, request.comment)
        return named.body, request.signer or named.author
    posted = current_sign_off(loaded.snapshot, request.signer)
    if posted is None:
        return None, request.signer
    return posted.body, request.signer or posted.author
