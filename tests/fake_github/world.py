"""What a fake GitHub knows: repositories with real git objects, pull requests, what was said, runs and their files.

Plain mutable records; a test builds them, changes them between two loads, and looks at what a write left behind.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import subprocess
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

_ids = itertools.count(1)


@dataclass
class User:
    login: str
    id: int = 0
    type: str = "User"
    scopes: str = "repo, read:org"


@dataclass
class Comment:
    """A conversation comment. `user` is None for a deleted account."""

    id: int
    user: User | None
    body: str
    created_at: str
    updated_at: str
    association: str = "NONE"


@dataclass
class Review:
    id: int
    user: User | None
    body: str
    state: str
    commit_id: str
    submitted_at: str | None
    association: str = "NONE"


@dataclass
class LineComment:
    id: int
    user: User | None
    body: str
    path: str
    commit_id: str
    created_at: str
    association: str = "NONE"


@dataclass
class Event:
    event: str
    actor: User | None
    created_at: str
    label: str | None = None
    commit_id: str | None = None


@dataclass
class Pull:
    number: int
    title: str
    user: User | None
    base_ref: str
    base_sha: str
    head_ref: str
    head_sha: str
    body: str = ""
    head_repo: str | None = None
    draft: bool = False
    locked: bool = False
    state: str = "open"
    merged_at: str | None = None
    merge_commit_sha: str | None = None
    labels: list[str] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    line_comments: list[LineComment] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    created_at: str = "2026-08-08T08:00:00Z"
    updated_at: str = "2026-08-12T08:00:00Z"


@dataclass
class Job:
    """One job. `log` is what it wrote; None where GitHub no longer has it."""

    id: int
    name: str
    conclusion: str | None = "success"
    status: str = "completed"
    attempt: int = 1
    log: bytes | None = b""


@dataclass
class Status:
    """A commit status; of a context the last one of the list is the newest."""

    id: int
    context: str
    state: str
    description: str | None
    creator: User | None
    target_url: str | None = None
    updated_at: str = "2026-08-12T09:00:00Z"


@dataclass
class Artifact:
    id: int
    name: str
    content: bytes
    created_at: str
    expired: bool = False

    @property
    def digest(self) -> str:
        return f"sha256:{hashlib.sha256(self.content).hexdigest()}"


@dataclass
class Run:
    id: int
    path: str
    head_sha: str
    head_branch: str
    event: str = "pull_request"
    status: str = "completed"
    conclusion: str | None = "success"
    attempt: int = 1
    created_at: str = "2026-08-10T10:00:00Z"
    jobs: list[Job] = field(default_factory=list)
    artifacts: list[Artifact] = field(default_factory=list)
    head_repo: str | None = None
    """Where the branch lies, if not in the repository itself."""

    @property
    def suite_id(self) -> int:
        return self.id + 7_000_000


@dataclass
class Repository:
    """`git_dir` is the folder of its git objects; `branches` names commits."""

    full_name: str
    git_dir: Path
    branches: dict[str, str] = field(default_factory=dict)
    pulls: dict[int, Pull] = field(default_factory=dict)
    runs: dict[int, Run] = field(default_factory=dict)
    permissions: dict[str, str] = field(default_factory=dict)
    statuses: dict[str, list[Status]] = field(default_factory=dict)
    """By the commit's SHA, oldest first."""
    private: bool = False
    archived: bool = False
    id: int = field(default_factory=lambda: 900_000 + next(_ids))

    @property
    def git(self) -> Git:
        return _git(self.git_dir)


class World:
    """Repositories, accounts and tokens."""

    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.users: dict[str, User] = {}
        self.tokens: dict[str, User] = {}

    def user(self, login: str, **facts: Any) -> User:
        """The account of this login, made where it is not there yet."""
        return self.users.setdefault(login, User(login, id=1000 + len(self.users), **facts))

    def token(self, value: str, login: str, **facts: Any) -> str:
        """Let a token stand for an account."""
        self.tokens[value] = self.user(login, **facts)
        return value

    def repository(self, full_name: str, git_dir: Path, **facts: Any) -> Repository:
        return self.repositories.setdefault(full_name.lower(), Repository(full_name, git_dir, **facts))

    def next_id(self) -> int:
        return 5_000_000 + next(_ids)


def archive(files: Mapping[str, str | bytes]) -> bytes:
    """A zip as Actions makes it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(zipfile.ZipInfo(name, (2026, 8, 11, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def json_archive(name: str, rows: object) -> bytes:
    """An artifact that holds one JSON file."""
    return archive({name: json.dumps(rows)})


# --- git -------------------------------------------------------------------------------------------------------------


class GitCommit:
    """A commit object taken apart."""

    def __init__(self, sha: str, content: bytes) -> None:
        head, _, message = content.decode("utf-8", "replace").partition("\n\n")
        lines = [line.partition(" ") for line in head.split("\n")]
        self.sha = sha
        self.tree = next(value for key, _, value in lines if key == "tree")
        self.parents = [value for key, _, value in lines if key == "parent"]
        self.author = next(value for key, _, value in lines if key == "author")
        self.committer = next(value for key, _, value in lines if key == "committer")
        self.message = message


class Git:
    """What git says about one repository; commits and their relations never change, so each is asked for once."""

    def __init__(self, git_dir: Path) -> None:
        self._git_dir = git_dir
        self._known: dict[Sequence[str], bytes] = {}

    def ask(self, *arguments: str) -> bytes:
        if arguments not in self._known:
            done = subprocess.run(
                ("git", "--git-dir", str(self._git_dir), *arguments), capture_output=True, check=False, timeout=60
            )
            if done.returncode != 0:
                raise LookupError(done.stderr.decode("utf-8", "replace"))
            self._known[arguments] = done.stdout
        return self._known[arguments]

    def object(self, kind: str, sha: str) -> bytes:
        loose = self._git_dir / "objects" / sha[:2] / sha[2:]
        if loose.exists():
            return zlib.decompress(loose.read_bytes()).partition(b"\0")[2]
        return self.ask("cat-file", kind, sha)

    def commit(self, sha: str) -> GitCommit:
        return GitCommit(sha, self.object("commit", sha))

    def full_name(self, prefix: str) -> str:
        return self.ask("rev-parse", "--verify", "-q", f"{prefix}^{{commit}}").decode().strip()

    def merge_base(self, left: str, right: str) -> str:
        return self.ask("merge-base", left, right).decode().strip()

    def ahead(self, base: str, head: str) -> list[str]:
        """What `head` adds to `base`, oldest first."""
        return self.ask("rev-list", "--reverse", "--topo-order", f"{base}..{head}").decode().split()

    def tree(self, sha: str, *, recursive: bool) -> list[tuple[str, str, str, str, int | None]]:
        """Mode, type, object name, path and size of the entries."""
        options = ("-r", "-t") if recursive else ()
        entries = []
        for line in self.ask("ls-tree", "-z", "-l", *options, sha).split(b"\0")[:-1]:
            facts, _, path = line.partition(b"\t")
            mode, kind, name, size = facts.decode().split()
            entries.append((mode, kind, name, path.decode("utf-8", "replace"), int(size) if size != "-" else None))
        return entries

    def difference(self, old: str, new: str) -> list[dict[str, Any]]:
        """The changed files with renames and line counts, as GitHub lists them."""
        words = {"A": "added", "M": "modified", "D": "removed", "R": "renamed", "C": "copied", "T": "changed"}
        raw = self.ask("diff-tree", "-r", "-M", "-z", "--raw", "--numstat", old, new).decode("utf-8", "replace")
        fields = iter(raw.split("\0"))
        files: dict[str, dict[str, Any]] = {}
        for one in fields:
            if one.startswith(":"):
                _, _, before, after, letter = one[1:].split(" ")
                previous = next(fields)
                path = next(fields) if letter[0] in "RC" else previous
                files[path] = {
                    "filename": path,
                    "status": words[letter[0]],
                    "sha": before if letter[0] == "D" else after,
                    "previous": previous if letter[0] in "RC" else None,
                }
            elif one:
                added, deleted, path = one.split("\t", 2)
                if not path:
                    next(fields)
                    path = next(fields)
                counts = [0 if number == "-" else int(number) for number in (added, deleted)]
                files[path] |= {"additions": counts[0], "deletions": counts[1], "binary": added == "-"}
        return list(files.values())


@cache
def _git(git_dir: Path) -> Git:
    return Git(git_dir)
