"""Reading files out of a zip that a stranger's run made: in memory only, within limits, nothing unpacked to disk."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable

from reviewer_tui.sources.github.errors import ShapeError, TooLargeError

MOST_MEMBERS = 20_000
LARGEST_MEMBER = 64 << 20
LARGEST_TOTAL = 128 << 20


def read_members(content: bytes, wanted: Callable[[str], bool], what: str) -> dict[str, bytes]:
    """The wanted files of a zip by their name in it, which is a label and never a path to write to.

    `what` names the archive in errors: ShapeError where it is damaged, encrypted, or holds a file twice; TooLargeError
    where it holds more files or unpacks to more bytes than any result has.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _read(archive, wanted, what)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError, ValueError, RuntimeError) as fault:
        raise ShapeError(f"{what} is no readable zip: {fault}.", field="zip") from None


def _read(archive: zipfile.ZipFile, wanted: Callable[[str], bool], what: str) -> dict[str, bytes]:
    members = archive.infolist()
    if len(members) > MOST_MEMBERS:
        raise TooLargeError(f"{what} holds {len(members):,} files; at most {MOST_MEMBERS:,} are read.")
    chosen = [member for member in members if not member.is_dir() and wanted(member.filename)]
    if len({member.filename for member in chosen}) < len(chosen):
        raise ShapeError(f"{what} holds a file twice.", field="zip")
    found: dict[str, bytes] = {}
    left = LARGEST_TOTAL
    for member in chosen:
        most = min(LARGEST_MEMBER, left)
        with archive.open(member) as file:
            unpacked = file.read(most + 1)
        if len(unpacked) > most:
            raise TooLargeError(f"{what} unpacks to more than any result has; it was not read.")
        left -= len(unpacked)
        found[member.filename] = unpacked
    return found
