"""From a changed file to its diff: both sides read out of the review's trees, and the marks of what was viewed."""

from __future__ import annotations

import hashlib

from reviewer_tui.model.errors import ReviewerError
from reviewer_tui.model.pull_request import ChangedFile
from reviewer_tui.model.snapshot import Trees
from reviewer_tui.tui.diff.file_diff import FileDiff, file_diff

_SYMBOLIC_LINK, _SUBMODULE = "120000", "160000"


def read_diff(trees: Trees, file: ChangedFile) -> FileDiff:
    """The diff of a file between merge base and head. Blocks while trees are read; a failure is said, not raised."""
    notes = file_notes(file)
    special = {_SYMBOLIC_LINK: "a symbolic link", _SUBMODULE: "a submodule"}
    kind = special.get(file.new_mode or "") or special.get(file.old_mode or "")
    if kind:
        reason = f"This is {kind}; it is never followed. Look at it with git diff."
        return FileDiff(path=file.path, old=(), new=(), ops=(), notes=notes, unreadable=reason)
    try:
        old = None if file.status == "added" else trees.base.read(file.previous_path or file.path)
        new = None if file.status == "removed" else trees.head.read(file.path)
    except ReviewerError as error:
        return FileDiff(path=file.path, old=(), new=(), ops=(), notes=notes, unreadable=str(error))
    missing = [
        side
        for side, content, expected in (("old", old, file.status != "added"), ("new", new, file.status != "removed"))
        if content is None and expected
    ]
    if missing:
        reason = f"The {' and the '.join(missing)} side of this file could not be read; it may not have been loaded."
        return FileDiff(path=file.path, old=(), new=(), ops=(), notes=notes, unreadable=reason)
    return file_diff(file.path, old, new, notes)


def file_notes(file: ChangedFile) -> tuple[str, ...]:
    """What git knows about the file beside its lines: another name, another mode."""
    notes = []
    if file.previous_path not in (None, file.path):
        notes.append(f"{file.status.capitalize()} from {file.previous_path}.")
    if file.old_mode and file.new_mode and file.old_mode != file.new_mode:
        notes.append(f"Mode {file.old_mode} became {file.new_mode}.")
    return tuple(notes)


def viewed_mark(file: ChangedFile) -> str:
    """Names this very change of content, so that a mark on it falls when either side changes."""
    facts = (file.path, file.previous_path, file.old_blob, file.new_blob, file.old_mode, file.new_mode)
    return hashlib.sha256("\0".join("" if fact is None else fact for fact in facts).encode()).hexdigest()
