"""What was read from GitHub, kept in one SQLite file: git objects by name, snapshots, answers with their ETag.

Objects are shared between pull requests and checked against their name whenever they are read; a damaged one counts as
absent, so that it is fetched again. A snapshot is written last and in one transaction: a load that is killed leaves
objects that nothing names yet, and everything else whole. Any number of processes may use the file at once.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from reviewer_tui.model.errors import DataError, NotFoundError
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.model.refs import as_typed
from reviewer_tui.model.snapshot import Snapshot
from reviewer_tui.model.tree import git_object_id
from reviewer_tui.store.migrations import CACHE_STEPS, migrate

ObjectKind = Literal["blob", "tree"]

ANSWER_DAYS = 60
"""Answers that were not used for so long are dropped: they only save budget."""

_GRACE = 24 * 3600
"""Seconds that an object stays although no snapshot needs it: its snapshot may just be loading in another process."""

_BUSY = 15.0
_LEVEL = 6
_AT_ONCE = 500
_FOLDER = b"40000"


class CacheError(DataError):
    """The cache file cannot be used."""


class DamagedCacheError(CacheError):
    """The cache file as a whole is no database any more, or parts of it cannot be read."""


class CachedSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """One snapshot of the cache, without its facts. `size` is in bytes, shared objects left out."""

    ref: PullRequestRef
    head: str
    title: str
    taken_at: str
    size: int


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """What `verify` looked at and found. `damaged` has a sentence for each thing that was dropped; `refetch` are the
    pull requests that are no longer whole."""

    objects: int
    snapshots: int
    answers: int
    damaged: tuple[str, ...] = ()
    refetch: tuple[PullRequestRef, ...] = ()


class Cache:
    """The cache at a path (made if it is not there; `:memory:` keeps nothing). From any thread."""

    def __init__(self, path: Path | str, *, clock: Any = time.time) -> None:
        self.path = path
        self._clock = clock
        self._lock = threading.RLock()
        self._connection = self._open()

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- objects ---------------------------------------------------------------------------------------------------

    def read_object(self, name: str, kind: ObjectKind) -> bytes | None:
        """The content of a blob or tree; None where it is absent, of the other kind, or damaged."""
        row = self._row("SELECT content FROM object WHERE name = ? AND kind = ?", (bytes.fromhex(name), kind))
        content = None if row is None else _unpacked(row[0])
        return content if content is not None and git_object_id(kind, content) == name else None

    def has_objects(self, names: Iterable[str]) -> frozenset[str]:
        """Which of these objects are here (whether whole is seen when they are read)."""
        found: set[str] = set()
        for some in _portions(list(dict.fromkeys(names))):
            marks = ",".join("?" * len(some))
            rows = self._rows(
                f"SELECT name FROM object WHERE name IN ({marks})", [bytes.fromhex(name) for name in some]
            )
            found.update(row[0].hex() for row in rows)
        return frozenset(found)

    def write_objects(self, kind: ObjectKind, contents: Iterable[bytes]) -> None:
        """Keep blobs or trees under the names that their content gives them."""
        now = int(self._clock())
        rows = [
            (bytes.fromhex(git_object_id(kind, content)), kind, now, zlib.compress(content, _LEVEL))
            for content in contents
        ]
        self._write("INSERT OR REPLACE INTO object VALUES (?, ?, ?, ?)", rows)

    # --- revisions -------------------------------------------------------------------------------------------------

    def read_revision(self, host: str, repository: str, sha: str) -> bytes | None:
        """What was kept of a commit, by its full SHA."""
        row = self._row(
            "SELECT content FROM revision WHERE repository = ? AND sha = ?", (_where(host, repository), sha)
        )
        return None if row is None else bytes(row[0])

    def find_revisions(self, host: str, repository: str, name: str) -> tuple[str, ...]:
        """The SHAs that a name, a SHA or the beginning of one stands for; more than one where it is ambiguous."""
        where = _where(host, repository)
        row = self._row("SELECT sha FROM name WHERE repository = ? AND name = ?", (where, name))
        if row is not None:
            return (str(row[0]),)
        if not _is_prefix(name):
            return ()
        low = name.lower()
        rows = self._rows(
            "SELECT sha FROM revision WHERE repository = ? AND sha >= ? AND sha < ? LIMIT 2", (where, low, f"{low}g")
        )
        return tuple(str(row[0]) for row in rows)

    def write_revisions(self, host: str, repository: str, revisions: Mapping[str, bytes]) -> None:
        """Keep what is known of commits, by SHA."""
        where = _where(host, repository)
        self._write(
            "INSERT OR REPLACE INTO revision VALUES (?, ?, ?)",
            [(where, sha, content) for sha, content in revisions.items()],
        )

    def write_name(self, host: str, repository: str, name: str, sha: str) -> None:
        """Keep what a branch or tag stood for."""
        self._write("INSERT OR REPLACE INTO name VALUES (?, ?, ?)", [(_where(host, repository), name, sha)])

    # --- snapshots -------------------------------------------------------------------------------------------------

    def write_snapshot(self, snapshot: Snapshot, policy: str) -> None:
        """Keep a snapshot in the place of an earlier one of the same head. `policy` is the policy's revision."""
        ref = snapshot.ref
        title = snapshot.info.value.title if snapshot.info.value else ""
        content = zlib.compress(msgspec.json.encode(snapshot), _LEVEL)
        where = _where(ref.host, ref.repository)
        self._write(
            "INSERT OR REPLACE INTO snapshot VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(where, ref.number, snapshot.head, snapshot.taken_at, title, policy, content)],
        )

    def read_snapshot(self, ref: PullRequestRef, head: str | None = None) -> tuple[Snapshot, str]:
        """The newest snapshot of a pull request, or of one of its heads (a SHA or the beginning of one), and the
        revision of its policy. Raises NotFoundError."""
        rows = self._rows(
            "SELECT head, content, policy FROM snapshot WHERE repository = ? AND number = ?"
            " ORDER BY taken_at DESC, rowid DESC",
            (_where(ref.host, ref.repository), ref.number),
        )
        chosen = [row for row in rows if head is None or (_is_prefix(head) and row[0].startswith(head.lower()))]
        for row in chosen:
            if (snapshot := _decoded(row[1])) is not None:
                return snapshot, str(row[2])
        what = f"#{ref.number} of {ref.repository}" + (f" at {head}" if head is not None else "")
        if chosen:
            raise NotFoundError(f"What the cache holds of {what} is damaged.", _fetch(ref))
        raise NotFoundError(f"The cache holds nothing of {what}.", _fetch(ref))

    def snapshots(self) -> tuple[CachedSnapshot, ...]:
        """All snapshots, by repository and number, the newest of a pull request first."""
        rows = self._rows(
            "SELECT repository, number, head, title, taken_at, length(content) FROM snapshot"
            " ORDER BY repository, number, taken_at DESC, rowid DESC",
            (),
        )
        return tuple(
            CachedSnapshot(ref=_ref(row[0], row[1]), head=row[2], title=row[3], taken_at=row[4], size=row[5])
            for row in rows
        )

    def size(self) -> int:
        """Bytes of the file."""
        pages = self._rows("SELECT page_count, page_size FROM pragma_page_count(), pragma_page_size()", ())
        return int(pages[0][0]) * int(pages[0][1])

    # --- answers ---------------------------------------------------------------------------------------------------

    def read_answer(self, key: str) -> bytes | None:
        """The kept answer with this key; None where it is absent or damaged."""
        row = self._row("SELECT content, used_on FROM answer WHERE key = ?", (key,))
        if row is None:
            return None
        if row[1] != self._today():
            self._write("UPDATE answer SET used_on = ? WHERE key = ?", [(self._today(), key)])
        return _unpacked(row[0])

    def write_answer(self, key: str, content: bytes) -> None:
        """Keep an answer."""
        packed = zlib.compress(content, _LEVEL)
        self._write("INSERT OR REPLACE INTO answer VALUES (?, ?, ?)", [(key, self._today(), packed)])

    # --- keeping house ---------------------------------------------------------------------------------------------

    def remove(self, refs: Iterable[PullRequestRef]) -> int:
        """Drop the snapshots of pull requests and everything that no snapshot needs any more; how many there were."""
        before = len(self.snapshots())
        self._write(
            "DELETE FROM snapshot WHERE repository = ? AND number = ?",
            [(_where(ref.host, ref.repository), ref.number) for ref in refs],
        )
        self.tidy()
        return before - len(self.snapshots())

    def tidy(self) -> None:
        """Drop objects that no snapshot reaches, answers that were long not used, and give the room back."""
        needed = set[str]()
        for snapshot in self._whole_snapshots():
            needed |= self._reachable(snapshot)
        stale = int(self._clock()) - _GRACE
        names = [row[0] for row in self._rows("SELECT name FROM object WHERE written_at < ?", (stale,))]
        self._write("DELETE FROM object WHERE name = ?", [(name,) for name in names if name.hex() not in needed])
        self._write("DELETE FROM answer WHERE used_on < ?", [(self._today() - ANSWER_DAYS,)])
        with self._lock, self._faults():
            self._connection.execute("VACUUM")

    def verify(self) -> Verification:
        """Read everything, and drop what is damaged so that it is fetched again."""
        damaged: list[str] = []
        bad_names, objects = self._verify_objects(damaged)
        refetch: dict[PullRequestRef, None] = {}
        rows = self._rows("SELECT repository, number, head, content FROM snapshot", ())
        for where, number, head, content in rows:
            snapshot = _decoded(content)
            if snapshot is None:
                damaged.append(f"The snapshot of #{number} at {head[:9]} is damaged.")
                self._write(
                    "DELETE FROM snapshot WHERE repository = ? AND number = ? AND head = ?", [(where, number, head)]
                )
            if snapshot is None or self._reachable(snapshot) & bad_names or not self._has_folders(snapshot):
                refetch[_ref(where, number)] = None
        answers = self._rows("SELECT key, content FROM answer", ())
        bad = [(key,) for key, content in answers if _unpacked(content) is None]
        if bad:
            damaged.append(f"{len(bad)} kept answers are damaged.")
            self._write("DELETE FROM answer WHERE key = ?", bad)
        return Verification(
            objects=objects,
            snapshots=len(rows),
            answers=len(answers),
            damaged=tuple(damaged),
            refetch=tuple(refetch),
        )

    def _verify_objects(self, damaged: list[str]) -> tuple[frozenset[str], int]:
        bad: list[bytes] = []
        names = [row[0] for row in self._rows("SELECT name FROM object", ())]
        for name in names:
            row = self._row("SELECT kind, content FROM object WHERE name = ?", (name,))
            if row is None:
                continue
            content = _unpacked(row[1])
            if content is None or git_object_id(row[0], content) != name.hex():
                bad.append(name)
                damaged.append(f"The {row[0]} {name.hex()} is damaged.")
        self._write("DELETE FROM object WHERE name = ?", [(name,) for name in bad])
        return frozenset(name.hex() for name in bad), len(names)

    def _whole_snapshots(self) -> Iterator[Snapshot]:
        for row in self._rows("SELECT content FROM snapshot", ()):
            if (snapshot := _decoded(row[0])) is not None:
                yield snapshot

    def _roots(self, snapshot: Snapshot, *others: str) -> list[str]:
        """The names of the root folders of a snapshot's revisions, and of `others`, as far as they are known."""
        ref = snapshot.ref
        policies = self._rows(
            "SELECT policy FROM snapshot WHERE repository = ? AND number = ? AND head = ?",
            (_where(ref.host, ref.repository), ref.number, snapshot.head),
        )
        own = (snapshot.head, snapshot.merge_base, snapshot.default_branch)
        commits = {*own, *(row[0] for row in policies), *others}
        roots = (self.read_revision(ref.host, ref.repository, sha) for sha in sorted(commits))
        return [tree for content in roots if content and (tree := _tree_of(content))]

    def _reachable(self, snapshot: Snapshot) -> set[str]:
        """The names of all trees and blobs that a snapshot's revisions hold (submodules too, which are nowhere)."""
        seen: set[str] = set()
        pending = self._roots(snapshot, *(run.head_sha for run in snapshot.runs.value or ()))
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            for mode, below in _entries(self.read_object(name, "tree") or b""):
                if mode == _FOLDER:
                    pending.append(below)
                else:
                    seen.add(below)
        return seen

    def _has_folders(self, snapshot: Snapshot) -> bool:
        roots = self._roots(snapshot)
        return bool(roots) and self.has_objects(roots) >= set(roots)

    # --- the file --------------------------------------------------------------------------------------------------

    def _open(self) -> sqlite3.Connection:
        with self._faults():
            if self.path != ":memory:":
                Path(self.path).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                Path(self.path).touch(mode=0o600)
            connection = sqlite3.connect(self.path, timeout=_BUSY, isolation_level=None, check_same_thread=False)
        try:
            with self._faults():
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
                known = migrate(connection, CACHE_STEPS)
            if not known:
                raise CacheError(
                    f"The cache {self.path} was written by a newer version of this program.",
                    "Update reviewer-tui, or move the file away.",
                )
        except BaseException:
            connection.close()
            raise
        return connection

    def _row(self, statement: str, values: Sequence[Any]) -> Any:
        with self._lock, self._faults():
            return self._connection.execute(statement, values).fetchone()

    def _rows(self, statement: str, values: Sequence[Any]) -> list[Any]:
        with self._lock, self._faults():
            return self._connection.execute(statement, values).fetchall()

    def _write(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Write rows in one transaction: all of them, or none where the process dies."""
        if not rows:
            return
        with self._lock, self._faults():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._connection.executemany(statement, rows)
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        """Faults of the file as sentences."""
        try:
            yield
        except sqlite3.OperationalError as fault:
            raise CacheError(
                f"The cache {self.path} cannot be used: {fault}.",
                "Look whether the disk is full or the folder is yours, and whether another program holds the file.",
            ) from None
        except sqlite3.DatabaseError as fault:
            raise DamagedCacheError(
                f"The cache {self.path} is damaged: {fault}.",
                "reviewer-tui cache verify moves it aside and begins a new one.",
            ) from None
        except OSError as fault:
            raise CacheError(f"The cache {self.path} cannot be opened: {fault.strerror or fault}.") from None

    def _today(self) -> int:
        return int(self._clock()) // 86_400


def set_aside(path: Path) -> Path:
    """Move a cache file that cannot be read out of the way, so that a new one can take its place; its new name."""
    for number in range(1, 1000):
        aside = path.with_name(f"{path.name}.damaged-{number}")
        if not aside.exists():
            path.rename(aside)
            for suffix in ("-wal", "-shm"):
                path.with_name(path.name + suffix).unlink(missing_ok=True)
            return aside
    raise CacheError(f"Too many damaged caches lie beside {path}.", "Remove them.")


def _entries(tree: bytes) -> Iterator[tuple[bytes, str]]:
    """Mode and object name of each entry of a tree object (its content is checked by its name already)."""
    at = 0
    while at < len(tree):
        blank, end = tree.index(b" ", at), tree.index(b"\0", at)
        yield tree[at:blank], tree[end + 1 : end + 21].hex()
        at = end + 21


def _tree_of(revision: bytes) -> str:
    try:
        return msgspec.json.decode(revision, type=_Revision).tree
    except msgspec.MsgspecError:
        return ""


class _Revision(msgspec.Struct):
    tree: str


def _decoded(content: bytes) -> Snapshot | None:
    unpacked = _unpacked(content)
    try:
        return None if unpacked is None else msgspec.json.decode(unpacked, type=Snapshot)
    except msgspec.MsgspecError:
        return None


def _unpacked(content: bytes) -> bytes | None:
    try:
        return zlib.decompress(content)
    except (zlib.error, TypeError):
        return None


def _portions(names: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(names), _AT_ONCE):
        yield names[start : start + _AT_ONCE]


def _is_prefix(text: str) -> bool:
    return 4 <= len(text) <= 40 and all(digit in "0123456789abcdefABCDEF" for digit in text)


def _where(host: str, repository: str) -> str:
    return f"{host}/{repository}"


def _ref(where: str, number: int) -> PullRequestRef:
    host, _, repository = where.partition("/")
    return PullRequestRef(repository, number, host)


def _fetch(ref: PullRequestRef) -> str:
    return f"Load it once with the network: reviewer-tui fetch {as_typed(ref)}"
