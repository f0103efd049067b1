"""What every source of pull requests gives: a snapshot and the trees it talks about."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import msgspec

from reviewer_tui.model.errors import DataError
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.model.refs import place_options
from reviewer_tui.model.run import CheckRun, JobLog
from reviewer_tui.model.snapshot import Snapshot, Trees
from reviewer_tui.model.tree import Tree

# Only what really posts pays for the network's libraries.
if TYPE_CHECKING:
    from reviewer_tui.sources.github.posting import CommentBoard


_DAY = 86_400

MOST_OTHERS = 3
"""Other pull requests that are named where a commit is theirs."""


class Loaded(msgspec.Struct, frozen=True):
    """A snapshot with its trees."""

    snapshot: Snapshot
    trees: Trees


class Source(Protocol):
    """A place pull requests are read from. Every method raises `DataError` with a sentence and a remedy."""

    def load(self, ref: PullRequestRef, *, head: str | None = None, policy_ref: str | None = None) -> Loaded:
        """One pull request, at `head` (a SHA or prefix) or at its newest head, under the policy of `policy_ref`."""
        ...

    def tree(self, revision: str) -> Tree:
        """Any revision by SHA, prefix or name."""
        ...


def stranger_sentence(number: int, sha: str, newest: str, others: Sequence[int] = ()) -> str:
    """What to say of a commit that is named as the head of a pull request without being in the history of its newest
    head, or having that in its own. `others` are pull requests that have it."""
    named = ", ".join(f"#{other}" for other in others[:MOST_OTHERS])
    more = f" and {len(others) - MOST_OTHERS} more" if len(others) > MOST_OTHERS else ""
    where = f"It is in the history of {named}{more}." if others else "It was pushed out, or is another's."
    return f"{sha[:9]} is not in the history of #{number}, whose newest head is {newest[:9]}. {where}"


@runtime_checkable
class RecipeSource(Protocol):
    """A source that can also say what recipe repositories hold."""

    def with_recipes(self, loaded: Loaded, texts: Sequence[str], day: str) -> Loaded:
        """What was loaded, with the pull requests that texts link and the recipe repositories' files as far as they
        are at hand, as of the end of a day (`YYYY-MM-DD`, UTC)."""
        ...


def end_of_day(day: str) -> int:
    """The moment at which a day (`YYYY-MM-DD`, UTC) is over, in seconds since 1970."""
    return int(datetime.datetime.fromisoformat(day).replace(tzinfo=datetime.UTC).timestamp()) + _DAY


@runtime_checkable
class PagesSource(Protocol):
    """A source that can also give the published pages of recipe repositories by themselves."""

    def pages(self, day: str) -> dict[str, Tree]:
        """Main of each recipe repository (`owner/name`) that is at hand, as of the end of a day (`YYYY-MM-DD`, UTC).
        Reading a file that is not at hand raises DataError."""
        ...


@runtime_checkable
class LogSource(Protocol):
    """A source that can also give the logs of jobs."""

    def job_log(self, ref: PullRequestRef, job: CheckRun) -> JobLog:
        """The end of the log of one job of a pull request's runs."""
        ...


def log_of(source: Source, ref: PullRequestRef, job: CheckRun) -> JobLog:
    """The end of a job's log, from whichever source. Raises DataError, also where the source has no logs at all."""
    if isinstance(source, LogSource):
        return source.job_log(ref, job)
    raise DataError(
        f"The log of job {job.id} is on GitHub, and this source reads only what lies here.",
        f"Leave out --clone: reviewer-tui show {ref.number} runs --log {job.id}{place_options(ref)}",
    )


@runtime_checkable
class PostingSource(Protocol):
    """A source through which somebody can also speak."""

    def board(self, ref: PullRequestRef) -> CommentBoard:
        """The conversation of a pull request, to read it afresh and to post to it."""
        ...


@runtime_checkable
class PublishedSource(Protocol):
    """A source that can also look up what the default branch has published."""

    def with_published(self, loaded: Loaded) -> Loaded:
        """What was loaded, with the published results of the points that the pull request measured; the very same
        where the source has none to tell."""
        ...
