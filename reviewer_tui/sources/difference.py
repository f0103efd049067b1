"""What changed between two commits of a clone: files with modes, blobs, renames and line counts."""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec

from reviewer_tui.model.errors import DataError
from reviewer_tui.model.part import Part, complete, partial
from reviewer_tui.model.pull_request import ChangedFile, FileStatus
from reviewer_tui.sources.git import Clone, Pipe
from reviewer_tui.sources.objects import Contents, GitCommit, GitEntry, Objects, path_text

_STATUS: dict[str, FileStatus] = {
    "A": "added",
    "M": "modified",
    "D": "removed",
    "R": "renamed",
    "C": "copied",
    "T": "type_changed",
}

# Renames as `git diff -M` finds them, no program of the clone asked, nothing of its configuration in force.
_OPTIONS = (
    "-r",
    "-z",
    "--raw",
    "--numstat",
    "--find-renames=50%",
    "-l1000",
    "-O/dev/null",
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    "--ignore-submodules=none",
    "--submodule=short",
    "--diff-algorithm=myers",
)

_PATIENCE = 30.0  # seconds for renames and line counts
_LONGEST = 16 << 20  # bytes of git's answer


class Differences:
    """The differences of one clone, asked of one `git diff-tree --stdin` that lives as long as the source."""

    most_files = 5_000
    """Above this many changed files, renames and line counts are left out; above ten times as many, files too."""

    def __init__(self, clone: Clone, objects: Objects) -> None:
        self._objects = objects
        self._pipe = Pipe(clone, "diff-tree", "--stdin", *_OPTIONS, timeout=_PATIENCE)

    def between(self, old: GitCommit, new: GitCommit) -> Part[tuple[ChangedFile, ...]]:
        """The changed files by path. Where git cannot count lines (too many files, contents that a partial clone
        lacks), the files are still told, as a partial answer."""
        changes, all_seen = changed_entries(self._objects, old.tree, new.tree, 10 * self.most_files)
        if not changes:
            return complete(())
        plain = tuple(sorted((_plain(*change) for change in changes), key=lambda file: file.path))
        if not all_seen:
            return partial(plain, f"More than {len(plain):,} files changed; the others are left out.")
        if len(plain) > self.most_files:
            return partial(plain, f"{len(plain):,} files changed: renames and line counts were not looked for.")
        try:
            return complete(parse_difference(self._ask(old.tree, new.tree)))
        except DataError as fault:
            return partial(plain, f"Renames and line counts are unknown. {fault.message}", fault.remedy)

    def close(self) -> None:
        self._pipe.close()

    def _ask(self, old: str, new: str) -> bytes:
        # Git echoes a line that names no object, which marks the end of the answer; no path can contain this one.
        mark = os.urandom(16).hex().encode() + b"-\n"
        with self._pipe.asking(f"{old} {new}\n".encode() + mark):
            self._pipe.line()  # git repeats the two names
            return self._pipe.until(mark, _LONGEST)


def changed_entries(
    objects: Contents, old: str, new: str, most: int
) -> tuple[list[tuple[str, GitEntry | None, GitEntry | None]], bool]:
    """Path, old and new entry of all files that differ between two tree objects, unsorted; False where there are more
    than `most`, or where as many folders were opened: folders that repeat each other can hold billions of files."""
    changes: list[tuple[str, GitEntry | None, GitEntry | None]] = []
    pending = [("", old, new)] if old != new else []
    opened = 0
    while pending:
        start, old_sha, new_sha = pending.pop()
        opened += 1
        before = objects.folder(old_sha) if old_sha else {}
        after = objects.folder(new_sha) if new_sha else {}
        for name in {**before, **after}:
            left, right = before.get(name), after.get(name)
            if left == right:
                continue
            folders = _sha_if_folder(left), _sha_if_folder(right)
            files = None if folders[0] else left, None if folders[1] else right
            if folders[0] != folders[1]:
                pending.append((f"{start}{name}/", *folders))
            if files != (None, None):
                changes.append((f"{start}{name}", *files))
        if opened > most or len(changes) > most or len(pending) > most:
            return changes[:most], False
    return changes, True


def _sha_if_folder(entry: GitEntry | None) -> str:
    return entry.sha if entry is not None and entry.is_folder else ""


def _plain(path: str, old: GitEntry | None, new: GitEntry | None) -> ChangedFile:
    status: FileStatus = "modified"
    if old is None or new is None:
        status = "added" if old is None else "removed"
    elif old.mode[:3] != new.mode[:3]:
        status = "type_changed"
    return ChangedFile(
        path=path,
        status=status,
        old_blob=old.sha if old else None,
        new_blob=new.sha if new else None,
        old_mode=old.mode if old else None,
        new_mode=new.mode if new else None,
    )


def parse_difference(answer: bytes) -> tuple[ChangedFile, ...]:
    """The answer of `git diff-tree -z --raw --numstat`: first a record for each file, then the line counts of each.

    Raises DataError where it is anything else.
    """
    fields = iter(answer.split(b"\0"))
    records: dict[str, ChangedFile] = {}
    try:
        for field in fields:
            if field.startswith(b":"):
                file = _record(field, fields)
                records[file.path] = file
            elif field:
                added, deleted, path = _counts(field, fields)
                records[path] = msgspec.structs.replace(
                    records[path], additions=added, deletions=deleted, binary=added is None
                )
    except (StopIteration, ValueError, KeyError) as error:
        raise DataError("Git's answer about the changed files is not understood.") from error
    return tuple(sorted(records.values(), key=lambda file: file.path))


def _record(field: bytes, more: Iterator[bytes]) -> ChangedFile:
    """`:MODE MODE BLOB BLOB STATUS`, then one path, or the old and the new one of a rename."""
    old_mode, new_mode, old_blob, new_blob, letter = field[1:].decode("ascii").split(" ")
    status = _STATUS[letter[:1]]
    names = [next(more) for _ in range(2 if status in ("renamed", "copied") else 1)]
    if not all(names):
        raise ValueError("a file without a name")
    previous = path_text(names[0]) if len(names) > 1 else None
    return ChangedFile(
        path=path_text(names[-1]),
        status=status,
        previous_path=previous,
        old_blob=_unless_zero(old_blob),
        new_blob=_unless_zero(new_blob),
        old_mode=_unless_zero(old_mode),
        new_mode=_unless_zero(new_mode),
    )


def _counts(field: bytes, more: Iterator[bytes]) -> tuple[int | None, int | None, str]:
    """`ADDED TAB DELETED TAB PATH`; for a rename the path is empty and the old and the new one follow. Binary: `-`."""
    added, deleted, path = field.split(b"\t", 2)
    if not path:
        next(more)
        path = next(more)
    return _number(added), _number(deleted), path_text(path)


def _number(text: bytes) -> int | None:
    return None if text == b"-" else int(text)


def _unless_zero(text: str) -> str | None:
    return text if text.strip("0") else None
