"""The desk of a pull request: what comes first, what comes after, and what it has of logs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from reviewer_tui.model.checklist import Decision
from reviewer_tui.model.errors import DataError, UsageError
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.review import recipes
from reviewer_tui.review.desks import ReviewDesk, SampleDesk
from reviewer_tui.review.load import ReviewRequest
from reviewer_tui.review.recipes import examination_of
from reviewer_tui.sources.cached import CacheSource
from reviewer_tui.sources.github.auth import Token
from reviewer_tui.sources.github.client import GitHubClient
from reviewer_tui.sources.github.hosts import parse_host
from reviewer_tui.sources.github.loader import GitHubSource
from reviewer_tui.sources.recipe_clones import WithRecipeClones
from reviewer_tui.sources.source import Source
from reviewer_tui.store.cache import Cache
from tests.fake_github.server import FakeGitHub
from tests.fake_github.story_2550 import MAIN_RUN, NUMBER, REPOSITORY, TOKEN, Story


class Desks:
    """Desks at the story, with the network and without."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self.story = Story(folder)
        self.fake = stack.enter_context(FakeGitHub(self.story.world))
        self.cache = stack.enter_context(Cache(folder / "cache.sqlite"))
        client = GitHubClient(parse_host(self.fake.host), Token(TOKEN, "a test"), answers=self.cache)
        self.online = GitHubSource(stack.enter_context(client), self.cache, REPOSITORY)
        self.offline = CacheSource(self.cache, REPOSITORY, self.fake.host)

    def desk(self, source: Source) -> ReviewDesk:
        request = ReviewRequest(review_date="2026-08-12", signer="ankur-singh")
        ref = PullRequestRef(REPOSITORY, NUMBER, self.fake.host)
        return ReviewDesk(lambda tell: source, ref, request, self.folder / "data")


@pytest.fixture
def desks(tmp_path: Path) -> Iterator[Desks]:
    with ExitStack() as stack:
        yield Desks(tmp_path, stack)


def nothing(words: str) -> None:
    """Nobody listens."""


def test_what_was_published_comes_after_the_review_and_leaves_the_notes(
    desks: Desks, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = desks.desk(desks.online)
    review = desk.load(None, nothing)
    assert review.snapshot.published.value is None
    assert not [seen for seen in desks.fake.requests() if "/actions/workflows/" in seen.path]
    marked = review.marked("1", Decision.ACCEPTED, "a note")
    whole = desk.load_rest(marked, nothing)
    assert whole is not None
    assert whole.notes == marked.notes
    assert whole.snapshot.published.value is not None
    assert [run.id for run in whole.snapshot.published.value.runs] == [MAIN_RUN]
    assert [result.name for result in whole.results] == [result.name for result in review.results]
    monkeypatch.setattr(recipes, "examine", None)
    assert examination_of(whole), "it was examined before a screen asks for it"


def test_without_the_network_all_is_there_at_once(desks: Desks) -> None:
    desk = desks.desk(desks.online)
    whole = desk.load_rest(desk.load(None, nothing), nothing)
    assert whole is not None
    later = desks.desk(desks.offline)
    review = later.load(None, nothing)
    assert review.snapshot.published == whole.snapshot.published
    assert later.load_rest(review, nothing) is None


def test_a_source_that_has_nothing_published_is_not_reviewed_again(desks: Desks) -> None:
    desks.online.load(PullRequestRef(REPOSITORY, NUMBER, desks.fake.host))
    with WithRecipeClones(desks.offline, []) as source:
        desk = desks.desk(source)
        assert desk.load_rest(desk.load(None, nothing), nothing) is None


def test_a_job_has_a_log_where_its_source_has_one(desks: Desks, tmp_path: Path) -> None:
    desk = desks.desk(desks.online)
    review = desk.load(None, nothing)
    job = (review.snapshot.runs.value or ())[0].jobs[0]
    with pytest.raises(UsageError, match="Nothing is loaded yet"):
        desks.desk(desks.online).job_log(review, job)
    assert desk.job_log(review, job).job_id == job.id
    sample = SampleDesk(tmp_path)
    shown = sample.load(None, nothing)
    assert sample.load_rest(shown, nothing) is None
    with pytest.raises(DataError, match="not part of the sample"):
        sample.job_log(shown, job)
