"""Workflow runs, their jobs as check-runs, and artifacts."""

from __future__ import annotations

import msgspec


class CheckRun(msgspec.Struct, frozen=True, kw_only=True):
    """One job as the commit shows it. `conclusion` is None until it completed. Times are ISO 8601, UTC."""

    id: int
    name: str
    status: str
    conclusion: str | None
    head_sha: str
    run_id: int | None = None
    run_attempt: int | None = None
    suite_id: int | None = None
    app: str = ""
    url: str = ""
    started_at: str = ""
    completed_at: str = ""


class JobLog(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a job's log as the job wrote it, control characters and all. `size` is what all of it has in bytes,
    `kept` what there is of it here."""

    job_id: int
    text: str
    size: int
    kept: int


class CommitStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The newest status of one context on a commit. Anybody who may push can set any context: `creator` is the login
    that set it, empty where GitHub does not tell, and `creator_is_bot` says that it is no person's."""

    id: int
    context: str
    state: str
    description: str = ""
    url: str = ""
    updated_at: str = ""
    creator: str = ""
    creator_is_bot: bool = False


class Artifact(msgspec.Struct, frozen=True, kw_only=True):
    """A file that a run left behind. `size` in bytes."""

    id: int
    name: str
    size: int
    expired: bool
    created_at: str = ""
    digest: str = ""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A workflow run of one commit, with the jobs of all its attempts that are known.

    `artifacts` are all there are only where `artifacts_complete` says so; `jobs` likewise with `jobs_complete`.
    """

    id: int
    attempt: int
    path: str
    event: str
    status: str
    conclusion: str | None
    head_sha: str
    head_branch: str = ""
    created_at: str = ""
    url: str = ""
    jobs: tuple[CheckRun, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    jobs_complete: bool = True
    artifacts_complete: bool = False
