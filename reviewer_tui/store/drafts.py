"""Keep what a reviewer decided and typed, for each head of a pull request.

One JSON file a head, replaced as a whole, with the version before it beside it. Saving merges with what another
process saved meanwhile; where both changed the same thing, the newer one stands and the other is kept as a conflict.
A file that cannot be read is put aside, never overwritten. Items are stored with their names and words, because labels
move from one version of the checklist to the next.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Callable, Collection, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import msgspec

from reviewer_tui.model.checklist import ChecklistTemplate, Decision, ItemMark, ReviewNotes
from reviewer_tui.model.errors import DataError
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.store.atomic import remove_leftovers, write_atomic
from reviewer_tui.store.lock import locked

T = TypeVar("T")

SCHEMA = 1
DETAIL = "detail"
"""The label under which a conflict about the detail section stands."""

_BEFORE = ".before"
_PIECE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_HEAD = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_MOST_CONFLICTS = 100


class KnownItem(msgspec.Struct, frozen=True):
    """What a label meant when it was marked: the item's stable name and its words."""

    name: str
    text: str


class Conflict(msgspec.Struct, frozen=True, kw_only=True):
    """Something two processes changed differently: `ours` stands in the notes, `theirs` was there before. `label` is
    the item's, or `detail`; None is a detail section that nobody edited, which is drafted anew."""

    label: str
    ours: str | None
    theirs: str | None


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """The stored notes of one head. `items` says what the labels meant; `left_behind` holds notes of items that the
    checklist lost meanwhile, by item name; `warnings` are sentences about damage met while reading."""

    head: str
    notes: ReviewNotes
    items: dict[str, KnownItem] = {}
    conflicts: tuple[Conflict, ...] = ()
    left_behind: dict[str, str] = {}
    warnings: tuple[str, ...] = ()


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """What stands on the disk after saving: the merged notes, and the conflicts of this save (none: all is well)."""

    notes: ReviewNotes
    conflicts: tuple[Conflict, ...] = ()
    warnings: tuple[str, ...] = ()


class Carried(msgspec.Struct, frozen=True, kw_only=True):
    """Notes brought to another checklist or head. `reopened` are the labels whose decision was taken back (and `detail`
    where text edited by hand may be out of date); `left_behind` are notes of items that are gone, by item name."""

    notes: ReviewNotes
    reopened: tuple[str, ...] = ()
    left_behind: dict[str, str] = {}


class _Document(msgspec.Struct, frozen=True, kw_only=True):
    """The file's content."""

    schema: int
    head: str
    notes: ReviewNotes
    items: dict[str, KnownItem] = {}
    conflicts: tuple[Conflict, ...] = ()
    left_behind: dict[str, str] = {}


class _Schema(msgspec.Struct, frozen=True):
    schema: int


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class DraftStore:
    """Drafts below a folder, one file for each host, repository, number and head (full SHA).

    All methods raise DataError with a sentence where the disk refuses. `now` gives the time of a save (ISO 8601, UTC).
    """

    def __init__(self, directory: Path, now: Callable[[], str] = _now) -> None:
        self._directory = directory
        self._now = now

    def load(self, ref: PullRequestRef, head: str) -> Draft | None:
        """The draft of one head, with the labels it was saved under (`for_template` brings it to today's); None where
        nothing was saved."""
        path = self._path(ref, head)
        if not path.exists() and not _backup(path).exists():
            return None
        with _writing(path):
            return _read(path, head)

    def save(
        self,
        ref: PullRequestRef,
        head: str,
        notes: ReviewNotes,
        *,
        template: ChecklistTemplate | None,
        base: ReviewNotes | None = None,
    ) -> Saved:
        """Keep the notes of a head.

        `template` is the checklist whose labels the notes use (None where it could not be read). `base` are the notes
        that this process last loaded or passed here, whichever its notes were made from: only what differs from them
        counts as changed, all else stays as another process left it on the disk. A process that goes on with the
        returned notes passes those as its next `base`; one that keeps its own passes its own. Without `base`,
        everything that the notes set counts as changed.
        """
        path = self._path(ref, head)
        with _writing(path):
            for place in (path, _backup(path)):
                remove_leftovers(place)
            stored = _read(path, head) or Draft(head=head, notes=ReviewNotes())
            current = for_template(stored, template) if template and stored.items else Carried(notes=stored.notes)
            merged, conflicts = merge(base or ReviewNotes(), notes, current.notes)
            merged = msgspec.structs.replace(merged, updated_at=self._now())
            document = _Document(
                schema=SCHEMA,
                head=head,
                notes=merged,
                items=known_items(template) if template else stored.items,
                conflicts=(*stored.conflicts, *conflicts)[-_MOST_CONFLICTS:],
                left_behind=stored.left_behind | current.left_behind,
            )
            _write(path, document)
        return Saved(notes=merged, conflicts=conflicts, warnings=stored.warnings)

    def resolve(self, ref: PullRequestRef, head: str) -> None:
        """Forget the conflicts of a head: the reviewer has looked at them."""
        path = self._path(ref, head)
        with _writing(path):
            stored = _read(path, head)
            if stored and stored.conflicts:
                document = _Document(
                    schema=SCHEMA,
                    head=head,
                    notes=stored.notes,
                    items=stored.items,
                    left_behind=stored.left_behind,
                )
                _write(path, document)

    def latest_for(self, ref: PullRequestRef, *, other_than: str | None = None) -> Draft | None:
        """The draft of the pull request that was saved last; `other_than` leaves one head out."""
        drafts = [draft for head in self.heads(ref) if head != other_than and (draft := self.load(ref, head))]
        return max(drafts, key=lambda draft: (draft.notes.updated_at, draft.head), default=None)

    def heads(self, ref: PullRequestRef) -> tuple[str, ...]:
        """The heads of a pull request for which something was saved, sorted."""
        folder = self._folder(ref)
        if not folder.is_dir():
            return ()
        names = {path.stem for path in folder.iterdir() if path.suffix in (".json", _BEFORE)}
        return tuple(sorted(name for name in names if _HEAD.fullmatch(name)))

    def _folder(self, ref: PullRequestRef) -> Path:
        pieces = (ref.host.replace(":", "_"), *ref.repository.split("/"))
        if len(pieces) != 3 or not all(_PIECE.fullmatch(piece) for piece in pieces) or ref.number < 1:
            raise DataError(f"“{ref.host}/{ref.repository}#{ref.number}” names no pull request.")
        return self._directory.joinpath(*(piece.lower() for piece in pieces), str(ref.number))

    def _path(self, ref: PullRequestRef, head: str) -> Path:
        if not _HEAD.fullmatch(head):
            raise DataError(f"“{head[:80]}” is no full commit SHA, so no draft can belong to it.")
        return self._folder(ref) / f"{head}.json"


def known_items(template: ChecklistTemplate) -> dict[str, KnownItem]:
    """What the labels of a template mean."""
    return {item.label: KnownItem(item.name, _flat(item.text)) for item in template.items}


def merge(base: ReviewNotes, ours: ReviewNotes, theirs: ReviewNotes) -> tuple[ReviewNotes, tuple[Conflict, ...]]:
    """Both sides' changes since `base`. Where both changed the same note or text, ours stands; contradicting decisions
    leave an item open, so that no box is ticked that somebody disputed."""
    conflicts: list[Conflict] = []
    marks: dict[str, ItemMark] = {}
    for label in dict.fromkeys((*base.marks, *theirs.marks, *ours.marks)):
        old, our, their = base.mark(label), ours.mark(label), theirs.mark(label)
        decision, decision_clash = _three_way(old.decision, our.decision, their.decision)
        note, note_clash = _three_way(old.note, our.note, their.note)
        marks[label] = ItemMark(Decision.OPEN if decision_clash else decision, note)
        if decision_clash:
            conflicts.append(Conflict(label=label, ours=our.decision, theirs=their.decision))
        if note_clash:
            conflicts.append(Conflict(label=label, ours=our.note, theirs=their.note))
    detail, clash = _three_way(base.detail, ours.detail, theirs.detail)
    if clash:
        conflicts.append(Conflict(label=DETAIL, ours=ours.detail, theirs=theirs.detail))
    marks = {label: mark for label, mark in marks.items() if mark != ItemMark()}
    return ReviewNotes(marks=marks, detail=detail, updated_at=ours.updated_at), tuple(conflicts)


def for_template(draft: Draft, template: ChecklistTemplate) -> Carried:
    """A draft of the same head under today's labels. An item that was reworded since loses its decision, never its
    note."""
    return _relabelled(draft, template, keeps=lambda _: True)


def carry_over(draft: Draft, template: ChecklistTemplate, *, unchanged: Collection[str] = ()) -> Carried:
    """A draft of an earlier head for a new one: notes stay, decisions only for the items (by name) whose evidence is
    known to be unchanged."""
    carried = _relabelled(draft, template, keeps=lambda name: name in unchanged)
    if carried.notes.detail is None:
        return carried
    return msgspec.structs.replace(carried, reopened=(*carried.reopened, DETAIL))


def _relabelled(draft: Draft, template: ChecklistTemplate, keeps: Callable[[str], bool]) -> Carried:
    marks: dict[str, ItemMark] = {}
    reopened: list[str] = []
    left_behind = dict(draft.left_behind)
    today = known_items(template)
    for label, mark in draft.notes.marks.items():
        meant = draft.items.get(label)
        now = _label_of(meant, today) if meant else label if label in today else None
        if now is None:
            if mark.note:
                left_behind[meant.name if meant else label] = mark.note
            continue
        same = meant is not None and meant.text == today[now].text and keeps(meant.name)
        if not same and mark.decision is not Decision.OPEN:
            reopened.append(now)
        marks[now] = mark if same else ItemMark(Decision.OPEN, mark.note)
    marks = {label: mark for label, mark in marks.items() if mark != ItemMark()}
    return Carried(
        notes=msgspec.structs.replace(draft.notes, marks=marks), reopened=tuple(reopened), left_behind=left_behind
    )


def _label_of(meant: KnownItem, today: dict[str, KnownItem]) -> str | None:
    """Where an item stands today: by its name, or by its words where this program has no name for it."""
    unnamed = meant.name.startswith("item-")
    matches = (
        label for label, item in today.items() if (item.text == meant.text if unnamed else item.name == meant.name)
    )
    return next(matches, None)


def _three_way(base: T, ours: T, theirs: T) -> tuple[T, bool]:
    """The value that was changed, and whether both sides changed it to different things (ours is given then)."""
    if ours in (theirs, base):
        return theirs, False
    return ours, theirs != base


def _flat(text: str) -> str:
    return " ".join(text.split())


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    """The draft's folder made and its lock held; errors of the disk come out as sentences."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with locked(path.with_suffix(".lock")):
            yield
    except OSError as error:
        raise DataError(
            f"The draft {path} cannot be kept or read: {error.strerror or error}.", "Free or repair the data folder."
        ) from error


def _read(path: Path, head: str) -> Draft | None:
    """The file, else the version before it. A damaged one is put aside; the caller holds the lock."""
    warnings: list[str] = []
    for place in (path, _backup(path)):
        try:
            document = _decode(place.read_bytes(), place)
        except FileNotFoundError:
            continue
        if document is not None and document.head == head:
            return Draft(
                head=head,
                notes=document.notes,
                items=document.items,
                conflicts=document.conflicts,
                left_behind=document.left_behind,
                warnings=tuple(warnings),
            )
        aside = _aside(place)
        place.replace(aside)
        warnings.append(f"The draft {place.name} is damaged; it was kept as {aside}.")
    return Draft(head=head, notes=ReviewNotes(), warnings=tuple(warnings)) if warnings else None


def _decode(content: bytes, place: Path) -> _Document | None:
    """The document in a file; None where it is damaged. Raises DataError for a newer program's file."""
    try:
        schema = msgspec.json.decode(content, type=_Schema).schema
        if schema > SCHEMA:
            raise DataError(f"The draft {place} was written by a newer reviewer-tui.", "Install that version.")
        return msgspec.json.decode(content, type=_Document)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _write(path: Path, document: _Document) -> None:
    with contextlib.suppress(FileNotFoundError):
        write_atomic(_backup(path), path.read_bytes())
    write_atomic(path, msgspec.json.format(msgspec.json.encode(document), indent=1))


def _backup(path: Path) -> Path:
    return path.with_suffix(_BEFORE)


def _aside(path: Path) -> Path:
    """A name for a damaged file that no other has."""
    names = (f"{path.name}.damaged{'' if n == 1 else f'-{n}'}" for n in itertools.count(1))
    return next(place for name in names if not (place := path.with_name(name)).exists())
