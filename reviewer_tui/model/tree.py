"""A revision seen through one small read-only interface.

Policy, sweeps, launch, recipes and checks take trees (policy revision, merge base, head, swept commit), never a
repository or a client. A tree comes from a clone, from cached blobs, or from a dict in tests.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Protocol, runtime_checkable


@runtime_checkable
class Tree(Protocol):
    """The files of one revision. Paths are relative, with `/`, without a leading `./`."""

    @property
    def revision(self) -> str:
        """Full commit SHA, or a label where there is no commit."""
        ...

    def read(self, path: str) -> bytes | None:
        """The bytes of a regular file; None where the path is absent, a folder, a symbolic link or a submodule.

        A symbolic link is never followed: its target is chosen by the author of the pull request.
        """
        ...

    def blob(self, path: str) -> str | None:
        """Git's object name of the file's content (40 hex digits); None as in `read`."""
        ...

    def list(self, prefix: str) -> tuple[str, ...]:
        """The paths of all files below a folder (`prefix` without trailing `/`; empty for all), sorted."""
        ...


def git_object_id(kind: str, content: bytes) -> str:
    """Git's name of an object of a kind (`blob`, `tree`) with this content."""
    header = f"{kind} {len(content)}\0".encode()
    return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()


def git_blob_id(content: bytes) -> str:
    """Git's object name of a blob with this content."""
    return git_object_id("blob", content)


class DictTree:
    """A tree held in memory: path to bytes (or text, taken as UTF-8)."""

    def __init__(self, files: Mapping[str, bytes | str], revision: str = "memory") -> None:
        self._files = {p: f.encode() if isinstance(f, str) else f for p, f in sorted(files.items())}
        self._revision = revision

    @property
    def revision(self) -> str:
        return self._revision

    def read(self, path: str) -> bytes | None:
        return self._files.get(path)

    def blob(self, path: str) -> str | None:
        content = self._files.get(path)
        return None if content is None else git_blob_id(content)

    def list(self, prefix: str) -> tuple[str, ...]:
        start = f"{prefix}/" if prefix else ""
        return tuple(path for path in self._files if path.startswith(start))


@runtime_checkable
class BlobLister(Protocol):
    """A tree that can tell the object names of many files at once."""

    def blobs(self, prefix: str) -> dict[str, str]:
        """The files below a folder, as `Tree.list` names them, with git's object names of their contents."""
        ...


def blobs_below(tree: Tree, prefix: str) -> dict[str, str]:
    """The files below a folder with git's object names of their contents, sorted by path."""
    if isinstance(tree, BlobLister):
        return tree.blobs(prefix)
    return {path: blob for path in tree.list(prefix) if (blob := tree.blob(path)) is not None}


def read_text(tree: Tree, path: str) -> str | None:
    """The file as text: UTF-8, undecodable bytes replaced, a leading byte-order mark dropped; line ends untouched."""
    content = tree.read(path)
    return None if content is None else content.decode("utf-8", "replace").removeprefix("\ufeff")
