"""Real git repositories for tests, written object by object.

Quick (one process a repository), repeatable, and able to hold what no git command would write: file names with line
feeds, links that climb, folders that contain themselves a billion times.

    repo = GitRepo(tmp_path / "clone.git")
    base = repo.commit({"a.txt": "one\\n"}, on="main")
    head = repo.commit({"a.txt": "two\\n", "gone.txt": None}, on="feature", parents=[base])
    repo.pull(7, head)
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple


class Item(NamedTuple):
    """An entry of a folder that is no plain file: git's mode and object name."""

    mode: str
    sha: str


Content = str | bytes | Item | None
Changes = Mapping[str, Content] | Mapping[bytes, Content] | Mapping[str | bytes, Content]


class GitRepo:
    """A repository at `path`. A commit starts from the files of its first parent; None removes a file."""

    def __init__(self, path: Path, *, bare: bool = True) -> None:
        self.path = path
        git("init", "-q", "-b", "main", *(["--bare"] if bare else []), str(path))
        self.git_dir = path if bare else path / ".git"
        self._files: dict[str, dict[bytes, Item]] = {}
        self._tips: dict[str, str] = {}
        self._time = 1_785_000_000

    def commit(
        self,
        changes: Changes | None = None,
        *,
        on: str | None = None,
        parents: Sequence[str] | None = None,
        merge: str | None = None,
        message: str = "A commit",
        author: str = "Ada <ada@example.org>",
        time: int | None = None,
        committed: int | None = None,
    ) -> str:
        """Write a commit and return its SHA. `on` moves that branch, and is the first parent unless `parents` says
        otherwise; `merge` is one more parent."""
        before = [self._tips[on]] if parents is None and on in self._tips else list(parents or ())
        before += [merge] if merge else []
        files = dict(self._files[before[0]]) if before else {}
        for name, content in (changes or {}).items():
            path = name.encode() if isinstance(name, str) else name
            if content is None:
                del files[path]
            else:
                files[path] = content if isinstance(content, Item) else Item("100644", self.blob(content))
        sha = self.commit_of(self.tree(files), before, message=message, author=author, time=time, committed=committed)
        self._files[sha] = files
        if on is not None:
            self.branch(on, sha)
        return sha

    def commit_of(
        self,
        tree: str,
        parents: Sequence[str] = (),
        *,
        message: str = "A commit",
        author: str = "Ada <ada@example.org>",
        time: int | None = None,
        committed: int | None = None,
    ) -> str:
        """Write a commit of a tree object. Each is a minute younger than the last unless `time` says otherwise, and
        committed when it was written unless `committed` says otherwise."""
        self._time += 60
        written = self._time if time is None else time
        lines = [
            f"tree {tree}",
            *(f"parent {p}" for p in parents),
            f"author {author} {written} +0200",
            f"committer {author} {written if committed is None else committed} +0200",
        ]
        return self.write("commit", "\n".join([*lines, "", message, ""]).encode())

    def branch(self, name: str, sha: str) -> None:
        """Point a branch at a commit."""
        self._tips[name] = sha
        self.ref(f"refs/heads/{name}", sha)

    def pull(self, number: int, sha: str) -> None:
        """Point the head of a pull request at a commit."""
        self.ref(f"refs/pull/{number}/head", sha)

    def ref(self, name: str, target: str) -> None:
        """Write a ref: an object name, or `ref: …` for a symbolic one."""
        place = self.git_dir / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{target}\n")

    def blob(self, content: str | bytes) -> str:
        return self.write("blob", content.encode() if isinstance(content, str) else content)

    def tree(self, files: Mapping[bytes, Item]) -> str:
        """Write the folders for files given by path."""
        here: dict[bytes, Item] = {}
        below: dict[bytes, dict[bytes, Item]] = {}
        for path, item in files.items():
            name, slash, rest = path.partition(b"/")
            if slash:
                below.setdefault(name, {})[rest] = item
            else:
                here[name] = item
        for name, inside in below.items():
            here[name] = Item("40000", self.tree(inside))
        return self.folder(here)

    def folder(self, entries: Mapping[bytes, Item]) -> str:
        """Write one tree object with exactly these entries, in git's order."""

        def order(entry: tuple[bytes, Item]) -> bytes:
            return entry[0] + (b"/" if entry[1].mode == "40000" else b"")

        return self.write(
            "tree",
            b"".join(
                item.mode.encode() + b" " + name + b"\0" + bytes.fromhex(item.sha)
                for name, item in sorted(entries.items(), key=order)
            ),
        )

    def write(self, kind: str, content: bytes) -> str:
        """Write a loose object of any content and return its name."""
        whole = f"{kind} {len(content)}".encode() + b"\0" + content
        sha = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
        place = self.object_path(sha)
        if not place.exists():
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(zlib.compress(whole, 1))
        return sha

    def object_path(self, sha: str) -> Path:
        """Where a loose object lies."""
        return self.git_dir / "objects" / sha[:2] / sha[2:]

    def executable(self, content: str | bytes) -> Item:
        return Item("100755", self.blob(content))

    def link(self, target: str) -> Item:
        return Item("120000", self.blob(target))

    def submodule(self, sha: str = "1" * 40) -> Item:
        return Item("160000", sha)

    def config(self, **settings: str) -> None:
        """Set configuration of the repository; `__` in a name stands for a dot, `_` for a dash."""
        for name, value in settings.items():
            git("-C", str(self.path), "config", name.replace("__", ".").replace("_", "-"), value)

    def git(self, *arguments: str) -> str:
        """What a git command on this repository prints."""
        return git("-C", str(self.path), *arguments)


def git(*arguments: str) -> str:
    """What git prints, with no configuration of this machine in force."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    people = {f"GIT_{who}_{what}": "test" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(
        ("git", *arguments), env={**clean, **settings, **people}, capture_output=True, check=False, timeout=60
    )
    if done.returncode != 0:
        raise RuntimeError(f"git {' '.join(arguments)}: {done.stderr.decode('utf-8', 'replace')}")
    return done.stdout.decode("utf-8", "replace")
