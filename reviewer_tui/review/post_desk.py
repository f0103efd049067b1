"""From a review to a poster: whose conversation, judged how, written down where."""

from __future__ import annotations

from pathlib import Path

from reviewer_tui.model.errors import UsageError
from reviewer_tui.model.finding import Status
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.review.load import ReviewRequest, review_of
from reviewer_tui.review.post_concerns import Judge, Judgement
from reviewer_tui.review.posting import Poster
from reviewer_tui.review.session import Review
from reviewer_tui.review.signing import lint_sign_off
from reviewer_tui.sources.github.posting import CommentBoard
from reviewer_tui.sources.recipe_clones import WithRecipeClones
from reviewer_tui.sources.source import Loaded, PostingSource, RecipeSource, Source
from reviewer_tui.store.posts import PostJournal


def board_of(source: Source, ref: PullRequestRef) -> CommentBoard:
    """The conversation of a pull request of a source. Raises UsageError where the source is none to speak through."""
    inner = source.source if isinstance(source, WithRecipeClones) else source
    if not isinstance(inner, PostingSource):
        raise UsageError(
            f"#{ref.number} was not read from GitHub, so nothing can be posted from here.",
            f"Save the text, then: reviewer-tui post {ref.number} FILE",
        )
    return inner.board(ref)


def poster_of(source: Source, review: Review, directory: Path) -> Poster:
    """Who posts to the pull request of a review; `directory` is the data directory."""
    return Poster(board_of(source, review.snapshot.ref), PostJournal(directory), judge_of(review, source))


def judge_of(review: Review, source: Source) -> Judge:
    """Judges sign-off texts as the review's policy does, its recipes looked up."""

    def judge(text: str, login: str) -> Judgement:
        loaded = Loaded(review.snapshot, review.trees)
        if isinstance(source, RecipeSource):
            loaded = source.with_recipes(loaded, (text,), review.review_date)
        request = ReviewRequest(review_date=review.review_date, signer=login, sign_off=text)
        judged = review_of(loaded, request, review.policy)
        failing = tuple(result.name for result in judged.results if result.status is Status.FAIL)
        return Judgement(lint=lint_sign_off(judged, text, author=login), verdict=judged.verdict, failing=failing)

    return judge
