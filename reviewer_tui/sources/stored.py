"""Commits, folders and files out of a store, for sources that have no clone: GitHub and the cache."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Protocol

import msgspec

from reviewer_tui.model.errors import DataError, NotFoundError
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.model.snapshot import Snapshot
from reviewer_tui.model.tree import Tree
from reviewer_tui.sources.job_logs import LogStore
from reviewer_tui.sources.objects import GitCommit, GitEntry, GitTree, parse_folder
from reviewer_tui.sources.source import end_of_day

ObjectKind = Literal["blob", "tree"]


class ObjectStore(Protocol):
    """Where git objects and commits are kept. What is read fits its name; what is damaged counts as absent."""

    def read_object(self, name: str, kind: ObjectKind) -> bytes | None: ...

    def has_objects(self, names: Iterable[str]) -> frozenset[str]: ...

    def write_objects(self, kind: ObjectKind, contents: Iterable[bytes]) -> None: ...

    def read_revision(self, host: str, repository: str, sha: str) -> bytes | None: ...

    def find_revisions(self, host: str, repository: str, name: str) -> tuple[str, ...]: ...

    def write_revisions(self, host: str, repository: str, revisions: Mapping[str, bytes]) -> None: ...

    def write_name(self, host: str, repository: str, name: str, sha: str) -> None: ...


class SnapshotStore(Protocol):
    """Where snapshots are kept, each with the revision of its policy."""

    def write_snapshot(self, snapshot: Snapshot, policy: str) -> None: ...

    def read_snapshot(self, ref: PullRequestRef, head: str | None = None) -> tuple[Snapshot, str]: ...


class Store(ObjectStore, SnapshotStore, LogStore, Protocol):
    """All of it."""


def folder_object(entries: Iterable[tuple[str, str, str]]) -> bytes:
    """Git's tree object for a folder of entries, given by mode, name and object name."""
    made = []
    for mode, name, sha in entries:
        raw = name.encode("utf-8", "surrogatepass")
        plain = mode.lstrip("0").encode()
        made.append((raw + b"/" if plain == b"40000" else raw, plain + b" " + raw + b"\0" + _binary(sha)))
    return b"".join(entry for _, entry in sorted(made))


def _binary(sha: str) -> bytes:
    try:
        return bytes.fromhex(sha)
    except ValueError:
        return b""


class NotCachedError(DataError):
    """The store lacks an object or commit, and there is no other place to get it from."""


class StoredObjects:
    """The folders and files of one repository in a store. What the store lacks is an error here; a source with a
    network overrides `missing_folder` and `missing_file`."""

    def __init__(self, store: ObjectStore, host: str, repository: str) -> None:
        self.store = store
        self.host = host
        self.repository = repository
        self._folders: dict[str, dict[str, GitEntry]] = {}
        self._commits: dict[str, GitCommit] = {}

    def folder(self, sha: str) -> dict[str, GitEntry]:
        """The entries of a folder by name."""
        if sha not in self._folders:
            content = self.store.read_object(sha, "tree")
            self.keep_folder(sha, self.missing_folder(sha) if content is None else content)
        return self._folders[sha]

    def folders(self, shas: Sequence[str]) -> list[dict[str, GitEntry]]:
        return [self.folder(sha) for sha in shas]

    def file(self, sha: str) -> bytes:
        """The content of a file."""
        content = self.store.read_object(sha, "blob")
        return self.missing_file(sha) if content is None else content

    def tree(self, commit: GitCommit) -> GitTree:
        """The files of a commit."""
        return GitTree(self, commit)

    def commit(self, sha: str) -> GitCommit | None:
        """A kept commit by its full SHA."""
        if sha not in self._commits:
            content = self.store.read_revision(self.host, self.repository, sha)
            try:
                if content is not None:
                    self._commits[sha] = msgspec.json.decode(content, type=GitCommit)
            except msgspec.MsgspecError:
                return None
        return self._commits.get(sha)

    def resolve(self, revision: str) -> GitCommit | None:
        """A kept commit by SHA, prefix or name. Raises NotFoundError where a prefix fits several."""
        found = self.store.find_revisions(self.host, self.repository, revision)
        if len(found) > 1:
            raise NotFoundError(f"Several commits begin with “{revision}”.", "Write more digits.")
        return self.commit(found[0]) if found else None

    def keep_commits(self, commits: Iterable[GitCommit]) -> None:
        """Take commits into the store."""
        new = {commit.sha: commit for commit in commits if self.commit(commit.sha) != commit}
        self._commits.update(new)
        encoded = {sha: msgspec.json.encode(commit) for sha, commit in new.items()}
        self.store.write_revisions(self.host, self.repository, encoded)

    def keep_folder(self, sha: str, content: bytes) -> None:
        """Take a folder into memory."""
        folder = parse_folder(content, len(sha) // 2)
        if folder is None:
            raise DataError(f"The folder {sha} is damaged.", "Look for damage with reviewer-tui cache verify.")
        self._folders[sha] = folder

    def missing_folder(self, sha: str) -> bytes:
        """The content of a folder that the store lacks."""
        raise self._not_cached("folder", sha)

    def missing_file(self, sha: str) -> bytes:
        """The content of a file that the store lacks."""
        raise self._not_cached("file", sha)

    def _not_cached(self, what: str, sha: str) -> NotCachedError:
        return NotCachedError(
            f"The cache lacks a {what} of {self.repository} ({sha[:12]}).",
            "Load the pull request again with the network: reviewer-tui fetch.",
        )


def upstream_trees(store: ObjectStore, host: str, revisions: Mapping[str, str]) -> dict[str, Tree]:
    """Kept revisions of recipe repositories, by the names that `Trees.upstream` gives them; what is not kept is left
    out. Reading a file that is not kept is an error that says so, with the network as without."""
    trees: dict[str, Tree] = {}
    for name, sha in revisions.items():
        objects = StoredObjects(store, host, name.partition("@")[0])
        commit = objects.commit(sha)
        if commit is not None:
            trees[name] = objects.tree(commit)
    return trees


def kept_pages(store: ObjectStore, hosts: Iterable[str], repositories: Iterable[str], day: str) -> dict[str, Tree]:
    """The newest main that was read of recipe repositories kept for one of these hosts, unless it was committed after
    a day (`YYYY-MM-DD`, UTC): written it may have been long before it was published. A load reads the pages that its
    pull request links; others are not at hand."""
    trees: dict[str, Tree] = {}
    end = end_of_day(day)
    for host in hosts:
        for repository in repositories:
            objects = StoredObjects(store, host, repository)
            commit = objects.resolve("main")
            if commit is not None and 0 < commit.time < end:  # 0 is a time that is not known
                trees[repository] = objects.tree(commit)
    return trees
