"""Launches that were worked out before: for the same row, from files that say the same, in whatever revision."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from reviewer_tui.model.tree import Tree

T = TypeVar("T")


class Watched:
    """A tree that notes what it is asked for."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self.blobs: dict[str, str | None] = {}
        self.lists: dict[str, tuple[str, ...]] = {}

    @property
    def revision(self) -> str:
        return self._tree.revision

    def read(self, path: str) -> bytes | None:
        return self._tree.read(path) if self.blob(path) is not None else None

    def blob(self, path: str) -> str | None:
        if path not in self.blobs:
            self.blobs[path] = self._tree.blob(path)
        return self.blobs[path]

    def list(self, prefix: str) -> tuple[str, ...]:
        if prefix not in self.lists:
            self.lists[prefix] = self._tree.list(prefix)
        return self.lists[prefix]


class Remembered(Generic[T]):
    """Results of a function of a tree and a question, those used last. A result holds for every tree that answers
    alike what was asked of the first one."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._known: OrderedDict[bytes, tuple[dict[str, str | None], dict[str, tuple[str, ...]], T]] = OrderedDict()

    def get(self, tree: Tree, question: bytes, work_out: Callable[[Tree], T]) -> T:
        """The result for a tree. `question` stands for all else that `work_out` looks at."""
        known = self._known.get(question)
        if known is not None:
            blobs, lists, result = known
            if all(tree.blob(path) == blob for path, blob in blobs.items()) and all(
                tree.list(prefix) == paths for prefix, paths in lists.items()
            ):
                self._keep(question, known)
                return result
        watched = Watched(tree)
        result = work_out(watched)
        self._keep(question, (watched.blobs, watched.lists, result))
        return result

    def _keep(self, question: bytes, known: tuple[dict[str, str | None], dict[str, tuple[str, ...]], T]) -> None:
        """Puts a result last; several threads of the workstation may do so at once."""
        with self._lock:
            self._known[question] = known
            self._known.move_to_end(question)
            if len(self._known) > self._most:
                self._known.popitem(last=False)
