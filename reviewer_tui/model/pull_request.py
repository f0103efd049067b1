"""A pull request: how it is named, what it changes, what was said in it."""

from __future__ import annotations

from typing import Literal

import msgspec

FileStatus = Literal["added", "modified", "removed", "renamed", "copied", "type_changed"]


class PullRequestRef(msgspec.Struct, frozen=True):
    """Which pull request: host, `owner/name` and number."""

    repository: str
    number: int
    host: str = "github.com"

    @property
    def url(self) -> str:
        return f"https://{self.host}/{self.repository}/pull/{self.number}"

    def blob_url(self, commit: str, path: str, line: int | None = None) -> str:
        """The page of a file at a commit."""
        place = f"#L{line}" if line else ""
        return f"https://{self.host}/{self.repository}/blob/{commit}/{path}{place}"


class ChangedFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file of the difference between merge base and head. Modes are git's (`100644`); None on an absent side."""

    path: str
    status: FileStatus
    previous_path: str | None = None
    old_blob: str | None = None
    new_blob: str | None = None
    old_mode: str | None = None
    new_mode: str | None = None
    additions: int | None = None
    deletions: int | None = None
    binary: bool = False

    @property
    def paths(self) -> tuple[str, ...]:
        """Both names of a rename, else the one name."""
        return (self.path,) if self.previous_path in (None, self.path) else (self.previous_path or "", self.path)


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """A commit of the pull request. `authored_at` is ISO 8601 with offset."""

    sha: str
    parents: tuple[str, ...]
    author: str
    authored_at: str
    subject: str


class PullRequestInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What only the host knows about a pull request."""

    title: str
    author: str
    state: str
    draft: bool = False
    merged: bool = False
    body: str = ""
    labels: tuple[str, ...] = ()
    base_ref: str = "main"
    head_ref: str = ""
    head_repository: str | None = None
    updated_at: str = ""


class Comment(msgspec.Struct, frozen=True, kw_only=True):
    """A comment, review body or inline comment. `author` is empty for a deleted account. Times are ISO 8601, UTC."""

    id: int
    kind: Literal["issue_comment", "review", "review_comment"]
    author: str
    body: str
    created_at: str
    updated_at: str = ""
    association: str = ""
    url: str = ""
    is_bot: bool = False
    commit: str | None = None
    review_state: str | None = None


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened to the pull request. `kind` is GitHub's word (`labeled`, `unlabeled`,
    `head_ref_force_pushed`, `ready_for_review`, …); the time is ISO 8601, UTC."""

    kind: str
    actor: str
    created_at: str
    label: str | None = None
