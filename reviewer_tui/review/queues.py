"""Where a queue comes from: GitHub, the cache, or a clone. Each is read page after page, every page truer than the one
before, so that a face can show the first at once and stop at any."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import msgspec

from reviewer_tui.model.errors import DataError
from reviewer_tui.model.part import Part, complete, unavailable
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.model.snapshot import SourceName
from reviewer_tui.policy.layout import discover_layout
from reviewer_tui.policy.owners import Owners, read_owners
from reviewer_tui.review.desk import Desk, Progress
from reviewer_tui.review.load import Reviewer, ReviewRequest
from reviewer_tui.review.queue import (
    Insight,
    Listed,
    QueueRow,
    insight_of,
    is_outdated,
    listed_of,
    owners_asked,
    queue_rows,
    to_look_into,
)
from reviewer_tui.review.session import Review
from reviewer_tui.sources.cached import CacheSource, imported
from reviewer_tui.sources.github.errors import (
    ConnectionLostError,
    GitHubError,
    LoadCancelledError,
    RateLimitedError,
    TokenRefusedError,
)
from reviewer_tui.sources.source import Source

if TYPE_CHECKING:
    from reviewer_tui.sources.clone import CloneSource
    from reviewer_tui.sources.github.loader import GitHubSource
    from reviewer_tui.sources.github.queue import OpenPullRequest
    from reviewer_tui.store.cache import Cache, CachedSnapshot

DEFAULT_LIMIT = 20
"""Pull requests that are looked into unless more are asked for: a look at a new one costs some fifty requests."""

FRESH = 120
"""Seconds within which facts of an unchanged pull request are not loaded again."""

# After one of these every further look would end in the same way.
_HOPELESS = (LoadCancelledError, RateLimitedError, ConnectionLostError, TokenRefusedError)

_NOT_LOOKED = "Nobody looked into it yet."


class QueueRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of a queue. `review_date` is `YYYY-MM-DD`, UTC; an empty `signer` stands for whoever reads; `limit`
    is the number of pull requests to look into."""

    repository: str
    host: str
    review_date: str
    signer: str = ""
    policy_ref: str | None = None
    limit: int = DEFAULT_LIMIT

    def ref(self, number: int) -> PullRequestRef:
        return PullRequestRef(self.repository, number, self.host)


class QueuePage(msgspec.Struct, frozen=True, kw_only=True):
    """The queue as it is known at one moment (`taken_at`, ISO 8601, UTC). `signer` is for whom it is sorted (empty: for
    every owner); `notes` are sentences about what is missing; `complete` says that nothing more is being read."""

    repository: str
    source: SourceName
    signer: str
    taken_at: str
    rows: tuple[QueueRow, ...]
    notes: tuple[str, ...] = ()
    complete: bool = False


class Queue(Protocol):
    """A queue that can be read, again and again."""

    def pages(self, progress: Progress) -> Iterator[QueuePage]:
        """The queue, read now. Blocks; raises DataError where there is nothing to list."""
        ...

    def stop(self) -> None:
        """End the reading that is under way, from any thread."""
        ...


class QueueDesk(Queue, Protocol):
    """What a workstation sits at that was opened without a pull request: a queue, and a desk for whatever is chosen."""

    @property
    def title(self) -> str:
        """What will be shown, known before anything is read."""
        ...

    def desk(self, ref: PullRequestRef) -> Desk:
        """The desk of a pull request of the queue."""
        ...


def _utc_now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


class _Board:
    """What is known so far."""

    def __init__(
        self, source: SourceName, request: QueueRequest, signer: str, now: Callable[[], datetime.datetime]
    ) -> None:
        self.signer = signer
        self.insights: dict[PullRequestRef, Insight] = {}
        self.notes: list[str] = []
        self._source: SourceName = source
        self._repository = request.repository
        self._now = now
        self._listed: dict[PullRequestRef, Listed] = {}

    @property
    def listed(self) -> list[Listed]:
        return list(self._listed.values())

    def put(self, listed: Listed, insight: Insight | None = None) -> None:
        self._listed[listed.ref] = listed
        if insight is not None:
            self.insights[listed.ref] = insight

    def drop(self, ref: PullRequestRef) -> None:
        self._listed.pop(ref, None)

    def fail(self, ref: PullRequestRef, why: str) -> None:
        """A pull request could not be looked into; it stays, and says so."""
        self._listed[ref] = msgspec.structs.replace(self._listed[ref], trouble=why)
        self.notes.append(f"#{ref.number}: {why}")

    def page(self, *, complete: bool = False) -> QueuePage:
        return QueuePage(
            repository=self._repository,
            source=self._source,
            signer=self.signer,
            taken_at=self._now().isoformat(timespec="seconds").replace("+00:00", "Z"),
            rows=queue_rows(self.listed, self.insights, self.signer),
            notes=tuple(self.notes),
            complete=complete,
        )


class _Looker:
    """Looks into pull requests of a source, one after the other."""

    def __init__(self, source: Source, request: QueueRequest, now: Callable[[], datetime.datetime] = _utc_now) -> None:
        self._request = request
        self._now = now
        self._stopped = False
        self._reviewer = Reviewer(source)

    def stop(self) -> None:
        self._stopped = True

    def _board(self, source: SourceName, signer: str) -> _Board:
        self._stopped = False
        return _Board(source, self._request, signer, self._now)

    def _asked(self, signer: str, head: str | None = None) -> ReviewRequest:
        request = self._request
        return ReviewRequest(review_date=request.review_date, policy_ref=request.policy_ref, signer=signer, head=head)

    def _looks(
        self, board: _Board, refs: Sequence[PullRequestRef], progress: Progress
    ) -> Iterator[tuple[Review, Insight]]:
        """The reviews of pull requests, and what they tell; those that cannot be had are noted on the board."""
        for place, ref in enumerate(refs, start=1):
            if self._stopped:
                board.notes.append(f"Stopped after {place - 1} of {len(refs)}.")
                return
            progress(f"looking into #{ref.number}, {place} of {len(refs)}")
            try:
                review = self._reviewer.review(ref, self._asked(board.signer))
                insight = insight_of(review)
            except LoadCancelledError:
                board.notes.append(f"Stopped after {place - 1} of {len(refs)}.")
                return
            except _HOPELESS as fault:
                board.fail(ref, str(fault))
                board.notes.append(f"Ended after {place - 1} of {len(refs)}.")
                return
            except DataError as fault:
                board.fail(ref, str(fault))
            except Exception as fault:
                # One stranger's pull request must not take the queue down with it.
                board.fail(ref, f"It cannot be looked into ({type(fault).__name__}: {fault}); please report it.")
            else:
                yield review, insight


class GitHubQueue(_Looker):
    """The open pull requests of a repository. What the cache knows of them comes first, then what is new."""

    def __init__(
        self,
        source: GitHubSource,
        cache: Cache,
        request: QueueRequest,
        now: Callable[[], datetime.datetime] = _utc_now,
    ) -> None:
        super().__init__(source, request, now)
        self._source = source
        self._kept = Reviewer(CacheSource(cache, request.repository, request.host))

    def stop(self) -> None:
        super().stop()
        self._source.cancel()

    def pages(self, progress: Progress) -> Iterator[QueuePage]:
        board = self._board("github", self._request.signer or self._login())
        for listed in self._open(progress):
            board.put(listed)
        yield board.page()
        chosen = to_look_into(board.listed, board.signer)[: self._request.limit]
        if len(chosen) < len(board.listed):
            board.notes.append(_limited(len(chosen), f"{len(board.listed)} open pull requests"))
        progress("reading what the cache has of them")
        for one in chosen:
            if (kept := self._remembered(one, board.signer)) is not None:
                board.put(one, kept)
        yield board.page()
        old = {one.ref: one for one in chosen if self._is_old(one, board.insights.get(one.ref))}
        for review, insight in self._looks(board, tuple(old), progress):
            listed = old[review.snapshot.ref]
            board.put(msgspec.structs.replace(listed, head=insight.head, info=review.snapshot.info), insight)
            yield board.page()
        yield board.page(complete=True)

    def _login(self) -> str:
        """Whose token it is; empty without one, or with one of an app."""
        try:
            return self._source.viewer().login
        except _HOPELESS:
            raise
        except GitHubError:
            return ""

    def _open(self, progress: Progress) -> Iterator[Listed]:
        """The open pull requests, each with the owners that the branch it goes into names."""
        from reviewer_tui.sources.github.loader import Watch

        progress("listing the open pull requests")
        watch = Watch(progress=lambda stage: progress(f"{stage.stage}: {stage.done} of {stage.total}"))
        owners: dict[str, Part[Owners]] = {}
        for found in self._source.open_pull_requests(watch):
            branch = self._request.policy_ref or found.info.base_ref
            if branch not in owners:
                owners[branch] = self._owners(branch)
            yield _listed(found, owners[branch])

    def _owners(self, revision: str) -> Part[Owners]:
        try:
            tree = self._source.tree(revision)
            return read_owners(tree, discover_layout(tree))[0]
        except _HOPELESS:
            raise
        except DataError as fault:
            return unavailable(f"CODEOWNERS of {revision} is not known: {fault}")

    def _remembered(self, listed: Listed, signer: str) -> Insight | None:
        """What the cache has of a pull request at the listed head, as GitHub told it; a bundle is nobody's word."""
        try:
            review = self._kept.review(listed.ref, self._asked(signer, listed.head))
            return insight_of(review) if review.snapshot.source == "cache" else None
        except Exception:
            return None  # it is loaded instead, and what is wrong with it told then

    def _is_old(self, listed: Listed, insight: Insight | None) -> bool:
        if insight is None or is_outdated(listed, insight):
            return True
        try:
            age = self._now() - datetime.datetime.fromisoformat(insight.taken_at)
        except (ValueError, TypeError):
            return True
        return not 0 <= age.total_seconds() <= FRESH


class CacheQueue(_Looker):
    """The pull requests of the cache that were open when they were loaded, without the network."""

    def __init__(
        self,
        source: CacheSource,
        cache: Cache,
        request: QueueRequest,
        now: Callable[[], datetime.datetime] = _utc_now,
    ) -> None:
        super().__init__(source, request, now)
        self._cache = cache

    def pages(self, progress: Progress) -> Iterator[QueuePage]:
        kept = self._newest()
        board = self._board("cache", self._request.signer or self._reader(kept))
        refs = [msgspec.structs.replace(one.ref, host=self._request.host) for one in kept]
        for ref, one in zip(refs, kept, strict=True):
            board.put(_of_cache(one, ref))
        yield board.page()
        chosen = refs[: self._request.limit]
        if len(chosen) < len(kept):
            board.notes.append(_limited(len(chosen), f"{len(kept)} cached pull requests"))
        for review, insight in self._looks(board, chosen, progress):
            info = review.snapshot.info.value
            if info is not None and (info.merged or info.state != "open"):
                board.drop(review.snapshot.ref)
            else:
                board.put(listed_of(review), insight)
            yield board.page()
        yield board.page(complete=True)

    def _newest(self) -> list[CachedSnapshot]:
        """The newest snapshot of each pull request, the newest first; what GitHub told goes before a bundle's."""
        request = self._request
        chosen: dict[int, CachedSnapshot] = {}
        for host in (request.host, imported(request.host)):
            for one in self._cache.snapshots():
                if (one.ref.host, one.ref.repository.lower()) == (host, request.repository.lower()):
                    chosen.setdefault(one.ref.number, one)
        return sorted(chosen.values(), key=lambda one: one.taken_at, reverse=True)

    def _reader(self, kept: Sequence[CachedSnapshot]) -> str:
        """Who loaded the newest of them with a token; a bundle's reader is somebody else."""
        newest = next((one for one in kept if one.ref.host == self._request.host), None)
        try:
            return self._cache.read_snapshot(newest.ref)[0].viewer if newest else ""
        except DataError:
            return ""


class CloneQueue(_Looker):
    """The newest pull requests of a clone. It does not know which of them are open, nor what was swept or said."""

    def __init__(
        self, source: CloneSource, request: QueueRequest, now: Callable[[], datetime.datetime] = _utc_now
    ) -> None:
        super().__init__(source, request, now)
        self._clone = source

    def pages(self, progress: Progress) -> Iterator[QueuePage]:
        progress("listing the pull requests of the clone")
        numbers = self._clone.pull_request_numbers()[::-1]
        chosen = [self._request.ref(number) for number in numbers[: self._request.limit]]
        board = self._board("clone", self._request.signer)
        board.notes.append("A clone does not tell which pull requests are open, nor what was swept, said or signed.")
        if len(chosen) < len(numbers):
            board.notes.append(_limited(len(chosen), f"{len(numbers):,} pull requests, the newest"))
        for ref in chosen:
            board.put(_of_clone(ref))
        yield board.page()
        for review, insight in self._looks(board, chosen, progress):
            board.put(listed_of(review), insight)
            yield board.page()
        yield board.page(complete=True)


class SourceQueueDesk:
    """The desk of a queue whose source is opened when it is first read."""

    def __init__(
        self,
        title: str,
        open_queue: Callable[[Progress], Queue],
        open_desk: Callable[[PullRequestRef, str], Desk],
    ) -> None:
        self.title = title
        self._open_queue = open_queue
        self._open_desk = open_desk
        self._queue: Queue | None = None
        self._progress: Progress = lambda _: None
        self._signer = ""

    def pages(self, progress: Progress) -> Iterator[QueuePage]:
        self._progress = progress
        if self._queue is None:
            self._queue = self._open_queue(lambda words: self._progress(words))
        for page in self._queue.pages(progress):
            self._signer = page.signer
            yield page

    def stop(self) -> None:
        if self._queue is not None:
            self._queue.stop()

    def desk(self, ref: PullRequestRef) -> Desk:
        """A desk for whom the queue is sorted."""
        return self._open_desk(ref, self._signer)


def _listed(found: OpenPullRequest, owners: Part[Owners]) -> Listed:
    return Listed(ref=found.ref, head=found.head, info=complete(found.info), asked=owners_asked(owners, found.paths))


def _of_cache(kept: CachedSnapshot, ref: PullRequestRef) -> Listed:
    return Listed(
        ref=ref, head=kept.head, info=unavailable(_NOT_LOOKED), asked=unavailable(_NOT_LOOKED), title=kept.title
    )


def _of_clone(ref: PullRequestRef) -> Listed:
    return Listed(ref=ref, head="", info=unavailable(_NOT_LOOKED), asked=unavailable(_NOT_LOOKED))


def _limited(number: int, of: str) -> str:
    return f"Only {number} of {of} are looked into; --limit N asks for more."
