"""The posting journal: what was about to be sent is on the disk before it is sent, and what became of it after.

A post is `intended` (confirmed, nothing sent), `sent` (from the moment before the request leaves, so it may have
arrived), `posted` (GitHub told its comment), `unknown` (no clear answer, and not found by looking) or `abandoned`
(surely not sent, refused, or given up by the person). Only one process can bring a post from `intended` to `sent`, and
none while another post of the same login to the same pull request is `sent` or `unknown`. Whatever dies, a later start
finds the state before or after a step.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

import msgspec

from reviewer_tui.model.errors import DataError
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.signoff.comment_text import normalised
from reviewer_tui.store.lock import locked
from reviewer_tui.store.migrations import POST_STEPS, migrate

JOURNAL_FILE = "posts.sqlite"

_BUSY = 10.0
"""Seconds to wait for another process that writes."""

_LOCK_PATIENCE = 0.5
"""Seconds to wait for another process that posts to the same pull request."""


class PostState(StrEnum):
    """Where a post stands."""

    INTENDED = "intended"
    SENT = "sent"
    POSTED = "posted"
    UNKNOWN = "unknown"
    ABANDONED = "abandoned"


UNFINISHED = (PostState.INTENDED, PostState.SENT, PostState.UNKNOWN)
MAYBE_THERE = (PostState.SENT, PostState.UNKNOWN)
"""States in which nobody here knows whether GitHub has the comment."""

_BEFORE: dict[PostState, Collection[PostState]] = {
    PostState.POSTED: MAYBE_THERE,
    PostState.UNKNOWN: MAYBE_THERE,
    PostState.ABANDONED: UNFINISHED,
}


class Post(msgspec.Struct, frozen=True, kw_only=True):
    """One post. `edits` is the id of the comment that is edited (None: a new one), `body` exactly what is sent;
    `started_at` is by GitHub's clock, ISO 8601, UTC. `comment` and `url` are known once it is posted; `reason` says why
    a post is unknown or abandoned."""

    uuid: str
    ref: PullRequestRef
    login: str
    head: str
    body: str
    started_at: str
    edits: int | None = None
    state: PostState = PostState.INTENDED
    reason: str = ""
    comment: int | None = None
    url: str = ""
    changed_at: str = ""


class JournalError(DataError):
    """The journal cannot be used, or does not allow a step; nothing is posted then."""


def digest_of(body: str) -> str:
    """What equal comments share: a SHA-256 of their words."""
    return hashlib.sha256(normalised(body).encode("utf-8", "surrogatepass")).hexdigest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


class PostJournal:
    """The journal in a folder (both are made when something is first written). All methods raise JournalError where
    the disk refuses, from any thread and process. `now` is this machine's clock, ISO 8601, UTC."""

    def __init__(self, directory: Path, now: Callable[[], str] = _now) -> None:
        self.path = directory / JOURNAL_FILE
        self._directory = directory
        self._now = now

    @contextlib.contextmanager
    def alone(self, ref: PullRequestRef) -> Iterator[None]:
        """Keep every other process from posting to a pull request meanwhile; the system frees the lock of whoever dies.
        Raises JournalError where another process is at it."""
        where = f"{ref.host}/{ref.repository}/{ref.number}".lower()
        name = f"posting-{hashlib.sha256(where.encode()).hexdigest()[:16]}.lock"
        self._make_directory()
        with contextlib.ExitStack() as held:
            try:
                held.enter_context(locked(self._directory / name, patience=_LOCK_PATIENCE))
            except DataError:
                raise JournalError(
                    f"Another reviewer-tui is posting to #{ref.number} at this moment.", "Wait for it, then look again."
                ) from None
            except OSError as fault:
                raise self._refused(fault.strerror or str(fault)) from None
            yield

    def intend(self, post: Post) -> None:
        """Write down a post that is about to be sent."""
        row = (
            post.uuid,
            *_place(post.ref),
            post.login,
            post.head,
            post.edits,
            post.body,
            digest_of(post.body),
            post.started_at,
            PostState.INTENDED.value,
            self._now(),
        )
        with self._writing() as connection:
            connection.execute(
                "INSERT INTO post (uuid, host, repository, number, login, head, edits, body, digest, started_at, state,"
                " changed_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                row,
            )

    def claim(self, uuid: str, *, instead_of: Collection[str] = ()) -> None:
        """Take the right to send a post: it counts as sent from here on, and the unknown posts in whose place it goes
        (uuids) as given up. Raises JournalError where it is not intended any more, or where another post of the same
        login to the same pull request may be on its way; nothing is given up then."""
        with self._writing() as connection:
            for other in instead_of:
                connection.execute(
                    "UPDATE post SET state = 'abandoned', reason = ?, changed_at = ?"
                    " WHERE uuid = ? AND state = 'unknown'",
                    (f"given up for {uuid}", self._now(), other),
                )
            changed = connection.execute(
                "UPDATE post SET state = 'sent', changed_at = ? WHERE uuid = ? AND state = 'intended' AND NOT EXISTS ("
                "SELECT 1 FROM post AS other WHERE other.host = post.host AND other.repository = post.repository"
                " AND other.number = post.number AND other.login = post.login AND other.state IN ('sent', 'unknown'))",
                (self._now(), uuid),
            ).rowcount
            if changed != 1:
                raise JournalError(
                    "Another post to this pull request has been sent meanwhile, or may have been.",
                    "Look at the conversation, then start again.",
                )

    def settle(
        self, uuid: str, state: PostState, *, reason: str = "", comment: int | None = None, url: str = ""
    ) -> None:
        """Write down what became of a post. Raises JournalError where its state does not allow that."""
        before = [one.value for one in _BEFORE[state]]
        with self._writing() as connection:
            changed = connection.execute(
                "UPDATE post SET state = ?, reason = ?, comment = coalesce(?, comment), url = ?, changed_at = ?"
                f" WHERE uuid = ? AND state IN ({', '.join('?' * len(before))})",
                (state.value, reason, comment, url, self._now(), uuid, *before),
            ).rowcount
        if changed != 1:
            raise JournalError(f"The journal has no post {uuid} that could become {state.value}.")

    def unfinished(self, ref: PullRequestRef | None = None) -> tuple[Post, ...]:
        """The posts of a pull request, or of all, that are neither posted nor abandoned, oldest first."""
        return self._posts_in(UNFINISHED, ref)

    def posted(self, ref: PullRequestRef) -> tuple[Post, ...]:
        """The posts of a pull request that GitHub has told the comment of, oldest first."""
        return self._posts_in((PostState.POSTED,), ref)

    # --- inside -----------------------------------------------------------------------------------------------------

    def _posts_in(self, states: Collection[PostState], ref: PullRequestRef | None) -> tuple[Post, ...]:
        condition = f"state IN ({', '.join('?' * len(states))})"
        values: tuple[str | int, ...] = tuple(state.value for state in states)
        if ref is not None:
            condition += " AND host = ? AND repository = ? AND number = ?"
            values = (*values, *_place(ref))
        return self._posts(condition, values)

    def _posts(self, condition: str, values: Sequence[str | int]) -> tuple[Post, ...]:
        if not self.path.exists():
            return ()
        columns = (
            "uuid, host, repository, number, login, head, edits, body, started_at, state, reason, comment, url,"
            " changed_at"
        )
        with self._connected() as connection:
            rows = connection.execute(
                f"SELECT {columns} FROM post WHERE {condition} ORDER BY started_at, rowid", values
            ).fetchall()
        return tuple(
            Post(
                uuid=row[0],
                ref=PullRequestRef(row[2], row[3], row[1]),
                login=row[4],
                head=row[5],
                edits=row[6],
                body=row[7],
                started_at=row[8],
                state=PostState(row[9]),
                reason=row[10],
                comment=row[11],
                url=row[12],
                changed_at=row[13],
            )
            for row in rows
        )

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it is on the disk when this ends well, nothing of it otherwise."""
        self._make_directory()
        with contextlib.suppress(OSError):
            self.path.touch(mode=0o600)
        with self._connected() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                connection.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """A connection of its own for each step: posts are rare, threads and processes many."""
        try:
            connection = sqlite3.connect(self.path, timeout=_BUSY, isolation_level=None)
            try:
                # Each commit is flushed to the disk, so that a power failure does not forget what was sent.
                connection.execute("PRAGMA synchronous = FULL")
                if not migrate(connection, POST_STEPS):
                    raise JournalError(
                        f"The posting journal {self.path} was written by a newer reviewer-tui.", "Install that version."
                    )
                yield connection
            finally:
                connection.close()
        except (sqlite3.Error, ValueError) as fault:  # a ValueError: a state that no version knows
            raise self._refused(str(fault)) from None

    def _make_directory(self) -> None:
        try:
            self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as fault:
            raise self._refused(fault.strerror or str(fault)) from None

    def _refused(self, why: str) -> JournalError:
        return JournalError(
            f"The posting journal {self.path} cannot be used: {why}.",
            "Nothing is posted without it. Free or repair the data folder, or move the file away.",
        )


def _place(ref: PullRequestRef) -> tuple[str, str, int]:
    return ref.host, ref.repository, ref.number
