"""Write a file so that a reader sees the old or the new content whole, whatever dies in between."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

TEMPORARY_SUFFIX = ".tmp"


def write_atomic(path: Path, content: bytes, *, mode: int = 0o600) -> None:
    """Replace a file's content at once: a temporary file in the same folder, flushed to the disk, takes its place.

    The folder must exist. `mode` are the new file's permissions. Raises OSError; the old file is then untouched. A
    process killed in between leaves a temporary file named `.<name>.<random>.tmp` behind.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}{TEMPORARY_SUFFIX}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _flush_folder(path.parent)


def remove_leftovers(path: Path) -> None:
    """Remove the temporary files that killed writers of this file left behind; only while nobody else writes it."""
    for leftover in path.parent.glob(f".{path.name}.*{TEMPORARY_SUFFIX}"):
        with contextlib.suppress(OSError):
            leftover.unlink()


def _flush_folder(folder: Path) -> None:
    """Make the new name durable, where the system can flush a folder."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
