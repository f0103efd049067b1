"""The marks of files that a reviewer has looked at, one small file for each pull request."""

from __future__ import annotations

from pathlib import Path

import msgspec

from reviewer_tui.model.errors import DataError
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.store.atomic import write_atomic


class ViewedStore:
    """Marks below a folder. A mark is a digest of content, so a file that changes loses its mark by itself."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def load(self, ref: PullRequestRef) -> frozenset[str]:
        """The marks of a pull request; none where nothing was kept or the file is damaged: they only save time."""
        try:
            return msgspec.json.decode(self._path(ref).read_bytes(), type=frozenset[str])
        except (OSError, msgspec.DecodeError):
            return frozenset()

    def save(self, ref: PullRequestRef, marks: frozenset[str]) -> None:
        """Keep the marks. Raises DataError where the disk refuses."""
        path = self._path(ref)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, msgspec.json.encode(sorted(marks)))
        except OSError as fault:
            raise DataError(f"The marks of viewed files cannot be kept at {path}: {fault.strerror or fault}.") from None

    def _path(self, ref: PullRequestRef) -> Path:
        host, repository = ref.host.replace(":", "_"), ref.repository.replace("/", "+")
        return self._directory / f"{host}+{repository}+{ref.number}.json".lower()
