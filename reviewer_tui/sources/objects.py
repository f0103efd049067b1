"""The objects of a clone, read through one `git cat-file --batch` that lives as long as the source."""

from __future__ import annotations

import datetime
from collections import OrderedDict
from collections.abc import Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

import msgspec

from reviewer_tui.model.errors import DataError, NotFoundError
from reviewer_tui.sources.git import Clone, Pipe, look_for_damage, refetch
from reviewer_tui.sources.quoting import shown

T = TypeVar("T")

LARGEST = {"blob": 32 << 20, "tree": 16 << 20, "commit": 4 << 20, "tag": 1 << 20}
"""Bytes of the largest object of each kind that is read; anything larger is an error that says so."""

_BLOBS = 16 << 20  # bytes of file contents kept
_TREES = 150_000  # entries of folders kept
_AT_ONCE = 32  # questions sent together; their text and git's answers' headers must fit into a pipe
_AHEAD = 16  # ancestors that are read together with a commit, because whoever asks for it walks on to them
_LONGEST_SUBJECT = 1000  # bytes of a commit's subject that are kept


class GitEntry(NamedTuple):
    """An entry of a folder: git's mode in six digits and the object's name."""

    mode: str
    sha: str

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file, executable or not."""
        return self.mode.startswith("100")

    @property
    def is_folder(self) -> bool:
        return self.mode == "040000"


class GitCommit(msgspec.Struct, frozen=True, kw_only=True):
    """A commit as history and panes need it. `time` is the committer's, in seconds since 1970."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    time: int
    author: str
    authored_at: str
    subject: str


class Contents(Protocol):
    """Where folders and files come from by object name: a clone, or a store and a network."""

    def folder(self, sha: str) -> dict[str, GitEntry]:
        """The entries of a folder by name."""
        ...

    def folders(self, shas: Sequence[str]) -> list[dict[str, GitEntry]]:
        """Several folders, asked for together."""
        ...

    def file(self, sha: str) -> bytes:
        """The content of a file."""
        ...


class Objects:
    """Commits, folders and files of a clone by object name, kept in memory up to a limit."""

    def __init__(self, clone: Clone) -> None:
        self.clone = clone
        self._pipe = Pipe(clone, "cat-file", "--batch")
        self._commits: dict[str, GitCommit] = {}
        self._folders: _Recent[dict[str, GitEntry]] = _Recent(_TREES)
        self._files: _Recent[bytes] = _Recent(_BLOBS)

    def resolve(self, revision: str) -> GitCommit:
        """The commit that a SHA, a unique prefix of one, or a name stands for. Raises NotFoundError.

        What reads like a SHA is one: a branch or tag that somebody named like a SHA does not stand in for it.
        """
        found = self.find([revision])[0]
        if found is None:
            self._refuse_ambiguous(revision)
            raise NotFoundError(
                f"{shown(self.clone.path)} knows no commit “{shown(revision)}”.",
                "Give a SHA, a unique prefix of at least four digits, or the name of a branch or tag; or fetch first.",
            )
        if _is_hex(revision) and not found.sha.startswith(revision.lower()):
            raise NotFoundError(
                f"“{shown(revision)}” reads like a SHA, but is the name of a branch or tag.",
                f"Write refs/heads/{revision} or refs/tags/{revision} if you mean that.",
            )
        return found

    def find(self, names: Sequence[str]) -> list[GitCommit | None]:
        """The commits that names stand for, None where there is none."""
        with self._pipe.lock:
            asked = [name for name in names if _is_name(name)]
            answers = dict(zip(asked, self._ask([f"{name}^{{commit}}" for name in asked]), strict=True))
            return [None if (found := answers.get(name)) is None else self._keep(*found) for name in names]

    def commit(self, sha: str) -> GitCommit | None:
        """A commit by its full SHA; None where the clone does not have it, as beyond the end of a shallow clone."""
        with self._pipe.lock:
            if sha not in self._commits:
                for found in self._ask([sha, *(f"{sha}~{steps}" for steps in range(1, _AHEAD))]):
                    if found is not None and found[1] == "commit":
                        self._keep(*found)
            return self._commits.get(sha)

    def folder(self, sha: str) -> dict[str, GitEntry]:
        """The entries of a folder by name. Bytes of a name that are no UTF-8 stand as `\\xff`."""
        with self._pipe.lock:
            kept = self._folders.get(sha)
            return self._load_folders([sha])[0] if kept is None else kept

    def folders(self, shas: Sequence[str]) -> list[dict[str, GitEntry]]:
        """Several folders, asked for together."""
        with self._pipe.lock:
            missing = [sha for sha in dict.fromkeys(shas) if self._folders.get(sha) is None]
            loaded = dict(zip(missing, self._load_folders(missing), strict=True))
            return [loaded[sha] if sha in loaded else self.folder(sha) for sha in shas]

    def file(self, sha: str) -> bytes:
        """The content of a file."""
        with self._pipe.lock:
            kept = self._files.get(sha)
            if kept is None:
                kept = self._object(sha, "blob")
                self._files.put(sha, kept, len(kept))
            return kept

    def close(self) -> None:
        self._pipe.close()

    def _refuse_ambiguous(self, prefix: str) -> None:
        if not _is_hex(prefix):
            return
        with self._pipe.asking(f"{prefix}\n".encode()):
            if self._pipe.line().endswith(b" ambiguous"):
                raise DataError(f"Several objects begin with “{prefix}”.", "Write more digits.")
            self._pipe.stop()  # whatever object it is, its content is of no interest

    def _load_folders(self, shas: Sequence[str]) -> list[dict[str, GitEntry]]:
        folders = []
        for sha, found in zip(shas, self._ask(shas), strict=True):
            folder = parse_folder(self._demand(sha, "tree", found), len(sha) // 2)
            if folder is None:
                raise self._damaged(sha)
            self._folders.put(sha, folder, len(folder) + 1)
            folders.append(folder)
        return folders

    def _keep(self, sha: str, kind: str, content: bytes) -> GitCommit:
        kept = self._commits.get(sha)
        if kept is None:
            parsed = parse_commit(sha, content)
            if kind != "commit" or parsed is None:
                raise self._damaged(sha)
            kept = self._commits[sha] = parsed
        return kept

    def _object(self, sha: str, kind: str) -> bytes:
        return self._demand(sha, kind, self._ask([sha])[0])

    def _demand(self, sha: str, kind: str, found: tuple[str, str, bytes] | None) -> bytes:
        if found is None:
            raise DataError(f"{shown(self.clone.path)} lacks the {kind} {sha}.", refetch(self.clone))
        if found[1] != kind:
            raise self._damaged(sha)
        return found[2]

    def _damaged(self, sha: str) -> DataError:
        return DataError(f"The object {sha} of {shown(self.clone.path)} is damaged.", look_for_damage(self.clone))

    def _ask(self, names: Sequence[str]) -> list[tuple[str, str, bytes] | None]:
        """Object name, kind and content for each name; None where there is no such object."""
        answers: list[tuple[str, str, bytes] | None] = []
        for start in range(0, len(names), _AT_ONCE):
            some = names[start : start + _AT_ONCE]
            with self._pipe.asking("".join(f"{name}\n" for name in some).encode()):
                answers += [self._answer(name) for name in some]
        return answers

    def _answer(self, name: str) -> tuple[str, str, bytes] | None:
        header = self._pipe.line().decode("utf-8", "replace").rsplit(" ", 2)
        if len(header) != 3 or not header[2].isdigit():
            return None
        sha, kind, size = header[0], header[1], int(header[2])
        if size > LARGEST.get(kind, 0):
            raise DataError(
                f"The {kind} {sha} has {size:,} bytes; at most {LARGEST.get(kind, 0):,} are read.",
                "Look at it with git; no file of a review is that large.",
            )
        return sha, kind, self._pipe.take(size + 1)[:-1]


class GitTree:
    """A commit as a `Tree`: reads only the folders and files it is asked for.

    Symbolic links and submodules are no files here: `list` leaves them out, `read` and `blob` give None.
    """

    most_files = 200_000  # of one listing: folders that repeat each other can hold billions of files

    def __init__(self, objects: Contents, commit: GitCommit) -> None:
        self._objects = objects
        self._commit = commit
        self._entries: dict[str, GitEntry | None] = {}
        self._below: dict[str, dict[str, str]] = {}

    @property
    def revision(self) -> str:
        return self._commit.sha

    def read(self, path: str) -> bytes | None:
        """The bytes of a regular file, or None; a DataError where the clone lacks them or they are too many."""
        sha = self.blob(path)
        return None if sha is None else self._objects.file(sha)

    def blob(self, path: str) -> str | None:
        """Git's object name of a regular file, or None."""
        entry = self._entry(path)
        return entry.sha if entry is not None and entry.is_file else None

    def list(self, prefix: str) -> tuple[str, ...]:
        """All regular files below a folder, sorted."""
        return tuple(self.blobs(prefix))

    def blobs(self, prefix: str) -> dict[str, str]:
        """All regular files below a folder with git's object names of their contents, sorted by path."""
        if prefix not in self._below:
            self._below[prefix] = self._listed(prefix)
        return self._below[prefix]

    def _listed(self, prefix: str) -> dict[str, str]:
        top = self._entry(prefix)
        if top is None or not top.is_folder:
            return {}
        files: dict[str, str] = {}
        level = [(f"{prefix}/" if prefix else "", top.sha)]
        while level:
            below: list[tuple[str, str]] = []
            for (start, _), folder in zip(level, self._objects.folders([sha for _, sha in level]), strict=True):
                files.update((f"{start}{name}", entry.sha) for name, entry in folder.items() if entry.is_file)
                below += [(f"{start}{name}/", entry.sha) for name, entry in folder.items() if entry.is_folder]
                if len(files) + len(below) > self.most_files:
                    raise DataError(
                        f"“{shown(prefix)}” at {self.revision[:9]} holds more than {self.most_files:,} files.",
                        "Look at it with git; this is no repository to review.",
                    )
            level = below
        return dict(sorted(files.items()))

    def _entry(self, path: str) -> GitEntry | None:
        if path not in self._entries:
            self._entries[path] = self._looked_up(path)
        return self._entries[path]

    def _looked_up(self, path: str) -> GitEntry | None:
        entry = GitEntry("040000", self._commit.tree)
        for name in path.split("/") if path else ():
            if not entry.is_folder:
                return None
            below = self._objects.folder(entry.sha).get(name)
            if below is None:
                return None
            entry = below
        return entry


def parse_folder(content: bytes, width: int) -> dict[str, GitEntry] | None:
    """The entries of a tree object whose object names have `width` bytes; None where it is malformed.

    Names that no path can hold (`..`, or with a `/`) are left out, so that nothing built from them climbs.
    """
    entries: dict[str, GitEntry] = {}
    strange: dict[str, GitEntry] = {}
    at = 0
    while at < len(content):
        blank = content.find(b" ", at, at + 8)
        end = content.find(b"\0", blank)
        if blank < 0 or end < 0 or len(content) < end + 1 + width:
            return None
        raw = content[blank + 1 : end]
        entry = GitEntry(
            content[at:blank].decode("ascii", "replace").rjust(6, "0"), content[end + 1 : (at := end + 1 + width)].hex()
        )
        if raw in (b"", b".", b"..") or b"/" in raw:
            continue
        name = path_text(raw)
        (entries if name.encode() == raw else strange).setdefault(name, entry)
    return {**strange, **entries} if strange else entries


def path_text(raw: bytes) -> str:
    """A path as text: bytes that are no UTF-8 stand as `\\xff`, so that it can be written anywhere."""
    return raw.decode("utf-8", "backslashreplace")


def parse_commit(sha: str, content: bytes) -> GitCommit | None:
    """A commit object taken apart; None where its tree or parents are no object names. Odd dates and encodings are
    survived."""
    head, _, message = content.partition(b"\n\n")
    tree, author, committer, encoding = b"", b"", b"", b"utf-8"
    parents: list[str] = []
    for line in head.split(b"\n"):
        field, _, value = line.partition(b" ")
        if field == b"parent":
            parents.append(value.decode("ascii", "replace"))
        elif field == b"tree":
            tree = value
        elif field == b"author":
            author = value
        elif field == b"committer":
            committer = value
        elif field == b"encoding":
            encoding = value
    if not all(_is_hex(name) and len(name) == len(sha) for name in (tree.decode("ascii", "replace"), *parents)):
        return None
    name, authored_at = _person(author)
    paragraph = message.lstrip(b"\n")[:_LONGEST_SUBJECT].partition(b"\n\n")[0]
    return GitCommit(
        sha=sha,
        tree=tree.decode(),
        parents=tuple(parents),
        time=_seconds(committer),
        author=_text(name, encoding),
        authored_at=authored_at,
        subject=" ".join(_text(paragraph, encoding).split()),
    )


def _text(raw: bytes, encoding: bytes) -> str:
    try:
        return raw.decode(encoding.decode("ascii"), "replace")
    except (LookupError, ValueError):
        return raw.decode("utf-8", "replace")


def _person(line: bytes) -> tuple[bytes, str]:
    """Name and ISO 8601 time of an `author` or `committer` line."""
    who, _, when = line.rpartition(b"> ")
    stamp, _, zone = when.decode("ascii", "replace").partition(" ")
    try:
        minutes = int(zone[:3]) * 60 + int(zone[0] + zone[3:5])
        local = datetime.timezone(datetime.timedelta(minutes=minutes))
        authored_at = datetime.datetime.fromtimestamp(int(stamp), local).isoformat()
    except (ValueError, IndexError, OverflowError, OSError):
        authored_at = ""
    return who.partition(b"<")[0].strip(), authored_at


def _seconds(line: bytes) -> int:
    stamp = line.rpartition(b"> ")[2].partition(b" ")[0]
    return int(stamp) if stamp.isdigit() and len(stamp) < 19 else 0


def _is_hex(text: str) -> bool:
    return 4 <= len(text) <= 64 and all(digit in "0123456789abcdefABCDEF" for digit in text)


def _is_name(revision: str) -> bool:
    """Whether git may be asked for this name: one word, and no path or text search in it."""
    return bool(revision) and len(revision) < 250 and not any(c.isspace() or c in ":\0" for c in revision)


class _Recent(Generic[T]):
    """The values used last, up to a total weight."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._weight = 0
        self._kept: OrderedDict[str, tuple[T, int]] = OrderedDict()

    def get(self, name: str) -> T | None:
        found = self._kept.get(name)
        if found is None:
            return None
        self._kept.move_to_end(name)
        return found[0]

    def put(self, name: str, value: T, weight: int) -> None:
        if name in self._kept or weight > self._most:
            return
        self._kept[name] = value, weight
        self._weight += weight
        while self._weight > self._most:
            self._weight -= self._kept.popitem(last=False)[1][1]
