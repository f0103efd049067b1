"""The difference of one file as lines, whatever its bytes are."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from reviewer_tui.tui.diff.lines import Op, diff_lines
from reviewer_tui.tui.diff.shown import NO_LINE_FEED, widest

# A side beyond this is described, not shown: the whole must stay within the memory of a small machine.
LARGEST_SIDE = 32_000_000

# The start of a file in which git looks for a zero byte to call it binary.
_BINARY_PROBE = 8_000

_PLAIN = bytes(range(0x20, 0x7F)) + b"\n"


class FileDiff(msgspec.Struct, frozen=True, kw_only=True):
    """Both sides of a file as lines (without line feed, a carriage return kept), and the runs that changed.

    `notes` are facts that no line shows: a rename, modes, line ends, bytes that are no UTF-8. `unreadable` says why
    there are no lines to show; empty where there are. `width` is how many cells the widest line takes, or some more.
    """

    path: str
    old: Sequence[str]
    new: Sequence[str]
    ops: Sequence[Op]
    notes: tuple[str, ...] = ()
    unreadable: str = ""
    width: int = 0

    @property
    def added(self) -> int:
        return sum(op.new_end - op.new_start for op in self.ops if op.kind != "same")

    @property
    def removed(self) -> int:
        return sum(op.old_end - op.old_start for op in self.ops if op.kind != "same")


def file_diff(path: str, old: bytes | None, new: bytes | None, notes: tuple[str, ...] = ()) -> FileDiff:
    """The difference of two contents; None is an absent side. Never fails; bounded time and memory."""
    reason = _unreadable(old, new)
    if reason:
        return FileDiff(path=path, old=(), new=(), ops=(), notes=notes, unreadable=reason)
    old_lines, new_lines = _lines(old), _lines(new)
    return FileDiff(
        path=path,
        old=old_lines,
        new=new_lines,
        ops=diff_lines(old_lines, new_lines),
        notes=(*notes, *_content_notes(old, new)),
        width=max(widest(old_lines, plain=_is_plain(old)), widest(new_lines, plain=_is_plain(new))),
    )


def _unreadable(old: bytes | None, new: bytes | None) -> str:
    if old is None and new is None:
        return "Neither side of this file could be read: it is a symbolic link, a submodule, or was not loaded."
    sides = [side for side in (old, new) if side is not None]
    if any(b"\0" in side[:_BINARY_PROBE] for side in sides):
        return f"A binary file: {_size(old)} before, {_size(new)} after."
    if any(len(side) > LARGEST_SIDE for side in sides):
        return f"Too large to show: {_size(old)} before, {_size(new)} after. Look at it with git diff."
    return ""


def _size(side: bytes | None) -> str:
    return "absent" if side is None else f"{len(side):,} bytes"


def _lines(content: bytes | None) -> list[str]:
    """The lines without their line feeds; `NO_LINE_FEED` behind the last one where the file ends without."""
    if not content:
        return []
    lines = content.decode("utf-8", "replace").split("\n")
    last = lines.pop()
    if last:
        lines.append(last + NO_LINE_FEED)
    return lines


def _is_plain(content: bytes | None) -> bool:
    """Whether a side holds printable ASCII and line feeds only."""
    return not content or not content.translate(None, _PLAIN)


def _content_notes(old: bytes | None, new: bytes | None) -> list[str]:
    notes = []
    if old is None or new is None:
        notes.append("New file." if old is None else "File removed.")
    before, after = _line_ends(old), _line_ends(new)
    if before != after and before and after:
        notes.append(f"Line ends change from {before} to {after}.")
    elif "CRLF" in (after or before):
        notes.append(f"Line ends: {after or before}.")
    for name, side in (("old", old), ("new", new)):
        if side and not _is_utf8(side):
            notes.append(f"The {name} side is not UTF-8: undecodable bytes are shown as U+FFFD.")
    return notes


def _line_ends(side: bytes | None) -> str:
    feeds = side.count(b"\n") if side else 0
    if not side or not feeds:
        return ""
    returns = side.count(b"\r\n")
    if returns == 0:
        return "LF"
    return "CRLF" if returns == feeds else "mixed CRLF and LF"


def _is_utf8(side: bytes) -> bool:
    try:
        side.decode()
    except UnicodeDecodeError:
        return False
    return True
