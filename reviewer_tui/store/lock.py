"""One writer at a time, among threads and processes; the system frees the lock of whoever dies."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from reviewer_tui.model.errors import DataError

PATIENCE = 10.0
"""Seconds to wait for another process before giving up."""

_PAUSE = 0.01

if sys.platform == "win32":
    import msvcrt

    def _try(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _try(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextlib.contextmanager
def locked(path: Path, *, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock file at `path` (made if absent, never removed). Raises DataError if another process keeps it
    longer than `patience` seconds."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        deadline = time.monotonic() + patience
        while True:
            try:
                _try(descriptor)
                break
            except OSError as error:
                if time.monotonic() >= deadline:
                    raise DataError(
                        f"Another process keeps {path.parent} locked.", "Close the other reviewer-tui, then try again."
                    ) from error
                time.sleep(_PAUSE)
        yield
    finally:
        os.close(descriptor)
