"""GitHub's answers, reduced to what this program reads. Field names are GitHub's; what is not named here is ignored.

Both versions of the interface (2022-11-28, 2026-03-10) fit. Enumerations are plain texts: GitHub adds values without
notice. Accounts may be gone (`user` is null), and so may the repository of a fork.
"""

from __future__ import annotations

import msgspec


class Account(msgspec.Struct, frozen=True):
    login: str
    type: str = "User"


class Label(msgspec.Struct, frozen=True):
    name: str


class RepositoryName(msgspec.Struct, frozen=True):
    full_name: str


class Branch(msgspec.Struct, frozen=True):
    """One side of a pull request."""

    ref: str
    sha: str
    repo: RepositoryName | None = None


class Pull(msgspec.Struct, frozen=True):
    """`GET /repos/{o}/{r}/pulls/{n}`."""

    number: int
    title: str
    state: str
    base: Branch
    head: Branch
    commits: int
    changed_files: int
    comments: int
    review_comments: int
    updated_at: str
    created_at: str = ""
    user: Account | None = None
    body: str | None = None
    draft: bool = False
    merged: bool = False
    merged_at: str | None = None
    merge_commit_sha: str | None = None
    labels: tuple[Label, ...] = ()


class ListedPull(msgspec.Struct, frozen=True):
    """An item of `GET /repos/{o}/{r}/pulls`."""

    number: int
    title: str
    state: str
    base: Branch
    head: Branch
    updated_at: str
    user: Account | None = None
    body: str | None = None
    draft: bool = False
    labels: tuple[Label, ...] = ()


class PullFile(msgspec.Struct, frozen=True):
    """An item of `GET /repos/{o}/{r}/pulls/{n}/files` and of a comparison. Differences are always made from both
    blobs, so `patch`, which GitHub leaves out for large, binary and renamed files, is not read."""

    filename: str
    status: str
    additions: int
    deletions: int
    changes: int
    sha: str | None = None
    previous_filename: str | None = None


class Signature(msgspec.Struct, frozen=True):
    """Who and when, as git has it."""

    name: str = ""
    date: str = ""


class TreeName(msgspec.Struct, frozen=True):
    sha: str


class GitCommit(msgspec.Struct, frozen=True):
    message: str
    tree: TreeName
    author: Signature | None = None
    committer: Signature | None = None


class Parent(msgspec.Struct, frozen=True):
    sha: str


class CommitItem(msgspec.Struct, frozen=True):
    """A commit in lists, comparisons and by itself. `author` may be null, or an empty object."""

    sha: str
    commit: GitCommit
    parents: tuple[Parent, ...] = ()


class Comparison(msgspec.Struct, frozen=True):
    """`GET /repos/{o}/{r}/compare/{base}...{head}`; `files` only on the first page, at most 300."""

    base_commit: CommitItem
    merge_base_commit: CommitItem
    status: str
    ahead_by: int
    behind_by: int
    total_commits: int
    commits: tuple[CommitItem, ...] = ()
    files: tuple[PullFile, ...] = ()


class IssueComment(msgspec.Struct, frozen=True):
    """An item of `GET /repos/{o}/{r}/issues/{n}/comments`."""

    id: int
    created_at: str
    updated_at: str
    html_url: str = ""
    author_association: str = ""
    user: Account | None = None
    body: str | None = None


class Review(msgspec.Struct, frozen=True):
    """An item of `GET /repos/{o}/{r}/pulls/{n}/reviews`; a pending one has no `submitted_at`."""

    id: int
    state: str
    html_url: str
    author_association: str = ""
    user: Account | None = None
    body: str | None = None
    commit_id: str | None = None
    submitted_at: str | None = None


class ReviewComment(msgspec.Struct, frozen=True):
    """An item of `GET /repos/{o}/{r}/pulls/{n}/comments`."""

    id: int
    created_at: str
    updated_at: str
    html_url: str
    path: str
    commit_id: str
    author_association: str = ""
    user: Account | None = None
    body: str | None = None
    line: int | None = None


class IssueEvent(msgspec.Struct, frozen=True):
    """An item of `GET /repos/{o}/{r}/issues/{n}/events`."""

    event: str
    created_at: str
    actor: Account | None = None
    label: Label | None = None
    commit_id: str | None = None


class App(msgspec.Struct, frozen=True):
    slug: str | None = None


class SuiteName(msgspec.Struct, frozen=True):
    id: int


class CheckRunItem(msgspec.Struct, frozen=True):
    """An item of `GET /repos/{o}/{r}/commits/{sha}/check-runs`."""

    id: int
    name: str
    head_sha: str
    status: str
    conclusion: str | None
    started_at: str | None = None
    completed_at: str | None = None
    details_url: str | None = None
    html_url: str | None = None
    app: App | None = None
    check_suite: SuiteName | None = None


class CheckRunPage(msgspec.Struct, frozen=True, rename={"items": "check_runs"}):
    total_count: int
    items: tuple[CheckRunItem, ...]


class HeadCommit(msgspec.Struct, frozen=True):
    """The commit that a run ran on, as the run tells it."""

    message: str = ""


class WorkflowRun(msgspec.Struct, frozen=True):
    """`GET /repos/{o}/{r}/actions/runs/{id}` and an item of the list of runs."""

    id: int
    event: str
    head_sha: str
    status: str | None
    conclusion: str | None
    created_at: str
    html_url: str
    path: str = ""
    name: str | None = None
    head_branch: str | None = None
    run_attempt: int = 1
    run_number: int = 0
    check_suite_id: int | None = None
    head_repository: RepositoryName | None = None
    head_commit: HeadCommit | None = None


class WorkflowRunPage(msgspec.Struct, frozen=True, rename={"items": "workflow_runs"}):
    total_count: int
    items: tuple[WorkflowRun, ...]


class StatusItem(msgspec.Struct, frozen=True):
    """A status of `GET /repos/{o}/{r}/commits/{sha}/status`, which leaves out who set it, and an item of
    `GET /repos/{o}/{r}/commits/{sha}/statuses`, which has it.
    Statuses from before there were contexts have none, and count as GitHub's default one."""

    id: int
    state: str
    context: str = "default"
    description: str | None = None
    target_url: str | None = None
    updated_at: str = ""
    creator: Account | None = None


class CombinedStatus(msgspec.Struct, frozen=True, rename={"items": "statuses"}):
    """`GET /repos/{o}/{r}/commits/{sha}/status`: the newest status of each context. Its own `state` is pending where
    there is none, so it is not read."""

    total_count: int
    items: tuple[StatusItem, ...]


class Job(msgspec.Struct, frozen=True):
    """An item of `GET /repos/{o}/{r}/actions/runs/{id}/jobs`; its id is that of its check-run."""

    id: int
    run_id: int
    name: str
    head_sha: str
    status: str
    conclusion: str | None
    started_at: str | None = None
    completed_at: str | None = None
    html_url: str | None = None
    run_attempt: int = 1


class JobPage(msgspec.Struct, frozen=True, rename={"items": "jobs"}):
    total_count: int
    items: tuple[Job, ...]


class ArtifactItem(msgspec.Struct, frozen=True):
    """An item of `GET /repos/{o}/{r}/actions/runs/{id}/artifacts`."""

    id: int
    name: str
    size_in_bytes: int
    expired: bool
    created_at: str | None = None
    digest: str | None = None


class ArtifactPage(msgspec.Struct, frozen=True, rename={"items": "artifacts"}):
    total_count: int
    items: tuple[ArtifactItem, ...]


class TreeItem(msgspec.Struct, frozen=True):
    path: str
    mode: str
    type: str
    sha: str


class TreeListing(msgspec.Struct, frozen=True):
    """`GET /repos/{o}/{r}/git/trees/{sha}`."""

    sha: str
    tree: tuple[TreeItem, ...]
    truncated: bool = False


class BlobText(msgspec.Struct, frozen=True, rename="camel"):
    """A blob as GraphQL gives it: `text` is null for binary ones."""

    oid: str = ""
    text: str | None = None
    is_truncated: bool = False


class BlobTexts(msgspec.Struct, frozen=True):
    """The answer to a query for many blobs, by alias."""

    repository: dict[str, BlobText | None] | None = None


class Viewer(msgspec.Struct, frozen=True):
    """`GET /user`."""

    login: str


class PermissionLevel(msgspec.Struct, frozen=True):
    """`GET /repos/{o}/{r}/collaborators/{login}/permission`."""

    permission: str
    role_name: str = ""


class PostedComment(msgspec.Struct, frozen=True):
    """The answer to posting or editing a comment, and a comment by its id."""

    id: int
    created_at: str
    updated_at: str
    html_url: str = ""
    user: Account | None = None
    body: str | None = None
