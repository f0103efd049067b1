"""A bundle: one pull request as a file that a colleague can open (`.prbundle`).

A zip, or a folder with the same members:

    manifest.json          format, schema, and which revision plays which part
    snapshot.json          the facts of the pull request
    trees/REVISION.json    every path of a revision with the object name of its content
    blobs/NAME             contents, by git's object name

The index of a tree is always whole, so that an absent path is truly absent; a path whose content was left out is an
error where somebody reads it. A bundle may be made by anyone: sizes, names and hashes are checked.
"""

from __future__ import annotations

import io
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from reviewer_tui.model.errors import DataError, NotFoundError
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.model.snapshot import Snapshot, Trees
from reviewer_tui.model.tree import Tree, git_blob_id
from reviewer_tui.sources.quoting import shown
from reviewer_tui.sources.source import Loaded

T = TypeVar("T")

SUFFIX = ".prbundle"
SCHEMA = 1
_FORMAT = "reviewer-tui bundle"

# Far above any real bundle (all texts of InferenceX at four revisions: 3 MB packed), far below what hurts.
_LARGEST_FILE = 64 << 20
_LARGEST_DIRECTORY = 4 << 20
_LARGEST_MEMBER = 32 << 20
_LARGEST_WHOLE = 256 << 20
_LARGEST_TEXT = 1 << 20  # of one file, when everything is taken along

_REVISION = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,127}\Z")
_BLOB = re.compile(r"[0-9a-f]{40}\Z")
_MEMBER = re.compile(r"manifest\.json|snapshot\.json|trees/[0-9A-Za-z][0-9A-Za-z._-]{0,127}\.json|blobs/[0-9a-f]{40}")
_MADE_ANEW = "Ask for a new one, made with “reviewer-tui cache export”."

_ZIP_END = struct.Struct("<12xI6x")  # of the end record only the directory's size, in a record without a comment
_ZIP_FAULTS = (  # everything that zipfile raises on files made to confuse it
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    RuntimeError,
    NotImplementedError,
    ValueError,
    struct.error,
)


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a bundle says about itself: the revisions that the review reads, and others that came along."""

    format: str
    schema: int
    policy: str
    base: str
    head: str
    default_branch: str
    others: tuple[str, ...] = ()

    @property
    def revisions(self) -> tuple[str, ...]:
        """Every revision in it, once."""
        return tuple(dict.fromkeys((self.policy, self.base, self.head, self.default_branch, *self.others)))


class BundleSource:
    """The one pull request of a bundle."""

    def __init__(self, path: Path | str) -> None:
        self._path = Path(path)
        self._members: _Members = _Folder(self._path) if self._path.is_dir() else _Zip(self._path)
        self._manifest = self._decode("manifest.json", Manifest)
        if self._manifest.format != _FORMAT:
            raise DataError(f"{shown(path)} is no bundle of this program.", _MADE_ANEW)
        if self._manifest.schema != SCHEMA:
            raise DataError(
                f"{shown(path)} has schema {self._manifest.schema}; this program reads schema {SCHEMA}.",
                "Use the version of reviewer-tui that made it, or the newest one.",
            )
        snapshot = self._decode("snapshot.json", Snapshot)
        self._snapshot = msgspec.structs.replace(snapshot, source="bundle")
        self._trees: dict[str, BundleTree] = {}

    @property
    def ref(self) -> PullRequestRef:
        """The pull request that the bundle holds."""
        return self._snapshot.ref

    def load(self, ref: PullRequestRef, *, head: str | None = None, policy_ref: str | None = None) -> Loaded:
        """The pull request of the bundle; another one, or another head, is an error."""
        if (ref.repository.lower(), ref.number) != (self.ref.repository.lower(), self.ref.number):
            raise NotFoundError(
                f"{shown(self._path)} holds {self.ref.repository}#{self.ref.number}, not {shown(ref.url)}."
            )
        if head is not None and not self._snapshot.head.startswith(head.lower()):
            raise NotFoundError(f"{shown(self._path)} holds the head {self._snapshot.head[:9]}, not {shown(head)}.")
        named = self._manifest
        trees = Trees(
            policy=self.tree(named.policy if policy_ref is None else policy_ref),
            base=self.tree(named.base),
            head=self.tree(named.head),
            default_branch=self.tree(named.default_branch),
        )
        return Loaded(self._snapshot, trees)

    def tree(self, revision: str) -> BundleTree:
        """A revision of the bundle by its name or a unique beginning of it."""
        known = self._manifest.revisions
        found = [revision] if revision in known else [name for name in known if name.startswith(revision)]
        if len(found) != 1 or not revision:
            have = ", ".join(name[:12] for name in known)
            raise NotFoundError(f"{shown(self._path)} holds no revision “{shown(revision)}”.", f"It has {have}.")
        if found[0] not in self._trees:
            self._trees[found[0]] = self._load_tree(found[0])
        return self._trees[found[0]]

    def _load_tree(self, revision: str) -> BundleTree:
        if not _REVISION.match(revision):
            raise DataError(f"{shown(self._path)} names a revision “{shown(revision)}”.", _MADE_ANEW)
        name = f"trees/{revision}.json"
        index = self._decode(name, dict[str, str])
        for path, blob in index.items():
            if not _is_path(path) or not _BLOB.match(blob):
                raise DataError(f"{name} of {shown(self._path)} has the entry “{shown(path)}”.", _MADE_ANEW)
        return BundleTree(self._members, revision, index)

    def _decode(self, name: str, kind: type[T]) -> T:
        content = self._members.read(name)
        if content is None:
            raise DataError(f"{shown(self._path)} is no bundle: it has no {name}.", _MADE_ANEW)
        try:
            return msgspec.json.decode(content, type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise DataError(f"{name} of {shown(self._path)} is malformed: {shown(str(error))}.", _MADE_ANEW) from None


class BundleTree:
    """A revision of a bundle as a `Tree`."""

    def __init__(self, members: _Members, revision: str, index: dict[str, str]) -> None:
        self._members = members
        self._revision = revision
        self._index = dict(sorted(index.items()))

    @property
    def revision(self) -> str:
        return self._revision

    def read(self, path: str) -> bytes | None:
        """The bytes of a file, None where the revision has none; a DataError where the bundle left its content out."""
        blob = self._index.get(path)
        if blob is None:
            return None
        content = self._members.read(f"blobs/{blob}")
        if content is None:
            raise DataError(
                f"The bundle does not hold the content of {shown(path)} at {self._revision[:9]}.",
                "Load the pull request itself: reviewer-tui fetch.",
            )
        if git_blob_id(content) != blob:
            raise DataError(f"The content of {shown(path)} in the bundle is not {blob}.", _MADE_ANEW)
        return content

    def blob(self, path: str) -> str | None:
        return self._index.get(path)

    def list(self, prefix: str) -> tuple[str, ...]:
        start = f"{prefix}/" if prefix else ""
        return tuple(path for path in self._index if path.startswith(start))


class _Members(Protocol):
    """The members of a bundle."""

    def read(self, name: str) -> bytes | None:
        """A member's content, None where there is none. `name` is one that a bundle has."""
        ...


class _Folder:
    """An unpacked bundle."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self, name: str) -> bytes | None:
        place = self._path / name
        if place.is_symlink() or not place.is_file():
            return None
        try:
            with place.open("rb") as file:
                content = file.read(_LARGEST_MEMBER + 1)
        except OSError as error:
            raise DataError(f"{shown(place)} cannot be read: {error.strerror}.") from error
        if len(content) > _LARGEST_MEMBER:
            raise DataError(f"{shown(place)} is larger than {_LARGEST_MEMBER >> 20} MiB.", _MADE_ANEW)
        return content


class _Zip:
    """A packed bundle, read into memory. Sizes are checked as its directory tells them, and as contents come out."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            with path.open("rb") as file:
                content = file.read(_LARGEST_FILE + 1)
        except OSError as error:
            raise DataError(f"{shown(path)} cannot be read: {error.strerror}.") from None
        self._check_end(content)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except _ZIP_FAULTS as error:
            raise DataError(f"{shown(path)} is no bundle: {shown(error)}.", _MADE_ANEW) from None
        self._infos = self._checked(self._zip.infolist())

    def read(self, name: str) -> bytes | None:
        info = self._infos.get(name)
        if info is None:
            return None
        try:
            with self._zip.open(info) as member:
                content = member.read(info.file_size + 1)
        except _ZIP_FAULTS as error:
            raise DataError(f"{name} of {shown(self._path)} is damaged: {shown(error)}.", _MADE_ANEW) from None
        if len(content) > info.file_size:
            raise DataError(f"{name} of {shown(self._path)} is larger than it says.", _MADE_ANEW)
        return content

    def _check_end(self, content: bytes) -> None:
        """Refuse a directory that would fill the memory while it is read, before it is read."""
        if len(content) > _LARGEST_FILE:
            raise DataError(f"{shown(self._path)} is larger than {_LARGEST_FILE >> 20} MiB.", _MADE_ANEW)
        end = content[-_ZIP_END.size :]
        if len(end) < _ZIP_END.size or not end.startswith(b"PK\5\6"):
            raise DataError(f"{shown(self._path)} is no bundle: it does not end like a zip.", _MADE_ANEW)
        (directory,) = _ZIP_END.unpack(end)
        if directory > _LARGEST_DIRECTORY or content[-_ZIP_END.size - 20 :].startswith(b"PK\6\7"):
            raise DataError(f"{shown(self._path)} is no bundle: it has too many members.", _MADE_ANEW)

    def _checked(self, infos: list[zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
        members: dict[str, zipfile.ZipInfo] = {}
        for info in infos:
            if not _MEMBER.fullmatch(info.filename) or info.filename in members:
                raise DataError(
                    f"{shown(self._path)} holds “{shown(info.filename)}”, which no bundle does.", _MADE_ANEW
                )
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise DataError(f"{info.filename} of {shown(self._path)} is packed in a way that no bundle uses.")
            if info.file_size > _LARGEST_MEMBER:
                raise DataError(f"{info.filename} of {shown(self._path)} is larger than {_LARGEST_MEMBER >> 20} MiB.")
            members[info.filename] = info
        if sum(info.file_size for info in infos) > _LARGEST_WHOLE:
            raise DataError(f"{shown(self._path)} unpacks to more than {_LARGEST_WHOLE >> 20} MiB.", _MADE_ANEW)
        return members


def write_bundle(
    target: Path | str, loaded: Loaded, extra: Iterable[Tree] = (), *, paths: Iterable[str] | None = None
) -> Path:
    """Write a bundle and return its path. What stood there is replaced at the very end, or stays as it was.

    `extra` are more revisions that go along (swept commits). Of each revision all paths are listed; contents go along
    below `paths` (files or folders) and of the changed files, or where `paths` is None of every text up to 1 MiB.
    """
    named, others = loaded.trees, tuple(extra)
    trees = {tree.revision: tree for tree in (named.policy, named.base, named.head, named.default_branch, *others)}
    manifest = Manifest(
        format=_FORMAT,
        schema=SCHEMA,
        policy=named.policy.revision,
        base=named.base.revision,
        head=named.head.revision,
        default_branch=named.default_branch.revision,
        others=tuple(tree.revision for tree in others),
    )
    members = {
        "manifest.json": _pretty(manifest),
        "snapshot.json": _pretty(msgspec.structs.replace(loaded.snapshot, source="bundle")),
    }
    chosen = (
        None
        if paths is None
        else (*paths, *(path for file in loaded.snapshot.files.value or () for path in file.paths))
    )
    for revision, tree in trees.items():
        if not _REVISION.match(revision):
            raise DataError(f"A revision called “{shown(revision)}” cannot go into a bundle.")
        index = {path: blob for path in tree.list("") if (blob := tree.blob(path)) is not None}
        members[f"trees/{revision}.json"] = _pretty(index)
        for path, blob in index.items():
            name = f"blobs/{blob}"
            if name not in members and (content := _content(tree, path, chosen)) is not None:
                members[name] = content
    if sum(map(len, members.values())) > _LARGEST_WHOLE or max(map(len, members.values())) > _LARGEST_MEMBER:
        raise DataError("The pull request is too large for a bundle.", "Name the paths that are to go along.")
    return _write_zip(Path(target), members)


def _content(tree: Tree, path: str, chosen: tuple[str, ...] | None) -> bytes | None:
    """What goes along of a file: its content if it was chosen, or is a text of a sane size."""
    if chosen is not None and not any(path == choice or path.startswith(f"{choice}/") for choice in chosen):
        return None
    try:
        content = tree.read(path)
    except DataError:
        return None  # its reader will be told that the bundle does not hold it
    if content is None or len(content) > (_LARGEST_MEMBER if chosen else _LARGEST_TEXT):
        return None
    return content if chosen or b"\0" not in content[:8192] else None


def _pretty(value: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def _write_zip(target: Path, members: dict[str, bytes]) -> Path:
    """The same members always make the same bytes."""
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with draft.open("xb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
                for name in sorted(members):
                    packed.writestr(zipfile.ZipInfo(name), members[name], zipfile.ZIP_DEFLATED)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except OSError as error:
        raise DataError(f"{shown(target)} cannot be written: {error.strerror}.") from None
    finally:
        draft.unlink(missing_ok=True)
    return target


def _is_path(path: str) -> bool:
    return all(name not in ("", ".", "..") for name in path.split("/")) and "\0" not in path
