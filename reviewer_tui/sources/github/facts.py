"""From GitHub's answers to the model's facts. Pure."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Mapping

import msgspec

from reviewer_tui.model.pull_request import ChangedFile, Comment, Commit, Event, FileStatus, PullRequestInfo
from reviewer_tui.model.recipe import UpstreamPullRequest
from reviewer_tui.model.run import Artifact, CheckRun, CommitStatus, Run
from reviewer_tui.sources.github.shapes import (
    Account,
    ArtifactItem,
    CheckRunItem,
    CommitItem,
    IssueComment,
    IssueEvent,
    Job,
    ListedPull,
    Pull,
    PullFile,
    RepositoryName,
    Review,
    ReviewComment,
    StatusItem,
    WorkflowRun,
)
from reviewer_tui.sources.objects import GitCommit, GitEntry

ACTIONS = "github-actions"
"""The app whose check-runs are jobs of workflow runs."""

EMPTY_FILE = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"

_RUN_ADDRESS = re.compile(r"/actions/runs/(\d{1,18})(?:/|\Z)")


# --- the pull request ------------------------------------------------------------------------------------------------


def info_of(pull: Pull | ListedPull) -> PullRequestInfo:
    """What only the host knows of a pull request."""
    return PullRequestInfo(
        title=pull.title,
        author=login_of(pull.user),
        state=pull.state,
        draft=pull.draft,
        merged=isinstance(pull, Pull) and is_merged(pull),
        body=plain_lines(pull.body),
        labels=tuple(label.name for label in pull.labels),
        base_ref=pull.base.ref,
        head_ref=pull.head.ref,
        head_repository=pull.head.repo.full_name if pull.head.repo else None,
        updated_at=pull.updated_at,
    )


def git_commit_of(item: CommitItem) -> GitCommit:
    """A commit as trees need it."""
    author, committer = item.commit.author, item.commit.committer
    return GitCommit(
        sha=item.sha,
        tree=item.commit.tree.sha,
        parents=tuple(parent.sha for parent in item.parents),
        time=_seconds(committer.date) if committer else 0,
        author=author.name if author else "",
        authored_at=author.date if author else "",
        subject=item.commit.message.partition("\n")[0].strip(),
    )


def _seconds(when: str) -> int:
    """A time as GitHub writes it, in seconds since 1970; 0 where it is none."""
    try:
        return int(datetime.datetime.fromisoformat(when).timestamp())
    except (ValueError, OverflowError):
        return 0


def commit_of(commit: GitCommit) -> Commit:
    """A commit as panes show it."""
    return Commit(
        sha=commit.sha,
        parents=commit.parents,
        author=commit.author,
        authored_at=commit.authored_at,
        subject=commit.subject,
    )


def changed_files(
    changes: Iterable[tuple[str, GitEntry | None, GitEntry | None]], listed: Iterable[PullFile]
) -> tuple[ChangedFile, ...]:
    """The changed files, from both sides' folders (which know every file) and GitHub's list (which knows renames and
    line counts, but stops at 3,000)."""
    sides = {path: (old, new) for path, old, new in changes}
    counted = {file.filename: file for file in listed}
    files: list[ChangedFile] = []
    for path, file in counted.items():
        if file.status == "renamed" and file.previous_filename in sides and path in sides:
            previous, renamed = sides[file.previous_filename], sides[path]
            if previous[0] and not previous[1] and renamed[1] and not renamed[0]:
                files.append(_changed(path, "renamed", previous[0], renamed[1], file, file.previous_filename))
                del sides[file.previous_filename], sides[path]
    files += [_changed(path, _status(old, new), old, new, counted.get(path)) for path, (old, new) in sides.items()]
    return tuple(sorted(files, key=lambda changed: changed.path))


def _changed(
    path: str,
    status: FileStatus,
    old: GitEntry | None,
    new: GitEntry | None,
    listed: PullFile | None,
    previous: str | None = None,
) -> ChangedFile:
    blobs = {entry.sha for entry in (old, new) if entry}
    uncounted = listed is not None and listed.changes == 0
    return ChangedFile(
        path=path,
        status=status,
        previous_path=previous,
        old_blob=old.sha if old else None,
        new_blob=new.sha if new else None,
        old_mode=old.mode if old else None,
        new_mode=new.mode if new else None,
        additions=listed.additions if listed else None,
        deletions=listed.deletions if listed else None,
        binary=uncounted and blobs != {EMPTY_FILE} and (len(blobs) == 2 or None in (old, new)),
    )


def _status(old: GitEntry | None, new: GitEntry | None) -> FileStatus:
    if old is None or new is None:
        return "added" if old is None else "removed"
    return "modified" if old.mode[:3] == new.mode[:3] else "type_changed"


# --- the conversation ------------------------------------------------------------------------------------------------


def conversation_of(
    comments: Iterable[IssueComment], reviews: Iterable[Review], inline: Iterable[ReviewComment]
) -> tuple[Comment, ...]:
    """Everything that was said, oldest first. A review that only holds inline comments says nothing itself."""
    said = [
        *map(_issue_comment, comments),
        *(_review(review) for review in reviews if review.body or review.state != "COMMENTED"),
        *map(_review_comment, inline),
    ]
    return tuple(sorted(said, key=lambda comment: (comment.created_at, comment.id)))


def _issue_comment(comment: IssueComment) -> Comment:
    return Comment(
        id=comment.id,
        kind="issue_comment",
        author=login_of(comment.user),
        body=plain_lines(comment.body),
        created_at=comment.created_at,
        updated_at=comment.updated_at,
        association=comment.author_association,
        url=comment.html_url,
        is_bot=is_bot(comment.user),
    )


def _review(review: Review) -> Comment:
    return Comment(
        id=review.id,
        kind="review",
        author=login_of(review.user),
        body=plain_lines(review.body),
        created_at=review.submitted_at or "",
        updated_at=review.submitted_at or "",
        association=review.author_association,
        url=review.html_url,
        is_bot=is_bot(review.user),
        commit=review.commit_id,
        review_state=review.state,
    )


def _review_comment(comment: ReviewComment) -> Comment:
    return Comment(
        id=comment.id,
        kind="review_comment",
        author=login_of(comment.user),
        body=plain_lines(comment.body),
        created_at=comment.created_at,
        updated_at=comment.updated_at,
        association=comment.author_association,
        url=comment.html_url,
        is_bot=is_bot(comment.user),
        commit=comment.commit_id,
    )


def events_of(events: Iterable[IssueEvent]) -> tuple[Event, ...]:
    """What happened to the pull request, oldest first."""
    told = [
        Event(
            kind=event.event,
            actor=login_of(event.actor),
            created_at=event.created_at,
            label=event.label.name if event.label else None,
        )
        for event in events
    ]
    return tuple(sorted(told, key=lambda event: event.created_at))


def login_of(account: Account | None) -> str:
    """The login; empty for an account that is gone."""
    return account.login if account else ""


def is_bot(account: Account | None) -> bool:
    return account is not None and (account.type == "Bot" or account.login.endswith("[bot]"))


def plain_lines(text: str | None) -> str:
    """A text with plain line ends: what is written in the browser has carriage returns."""
    return (text or "").replace("\r\n", "\n").replace("\r", "\n")


# --- runs ------------------------------------------------------------------------------------------------------------


def run_of_check(check: CheckRunItem) -> int | None:
    """The run that a check-run's address names."""
    found = _RUN_ADDRESS.search(check.details_url or check.html_url or "")
    return int(found[1]) if found else None


def check_of_item(check: CheckRunItem, run: WorkflowRun) -> CheckRun:
    """A check-run of a run that has had one attempt."""
    return CheckRun(
        id=check.id,
        name=check.name,
        status=check.status,
        conclusion=check.conclusion,
        head_sha=check.head_sha,
        run_id=run.id,
        run_attempt=run.run_attempt if run.run_attempt == 1 else None,
        suite_id=check.check_suite.id if check.check_suite else None,
        app=(check.app.slug or "") if check.app else "",
        url=check.html_url or "",
        started_at=check.started_at or "",
        completed_at=check.completed_at or "",
    )


def status_of(status: StatusItem, creator: Account | None) -> CommitStatus:
    """A commit status, with whoever set it."""
    return CommitStatus(
        id=status.id,
        context=status.context,
        state=status.state,
        description=plain_lines(status.description),
        url=status.target_url or "",
        updated_at=status.updated_at,
        creator=login_of(creator),
        creator_is_bot=is_bot(creator),
    )


def check_of_job(job: Job, run: WorkflowRun) -> CheckRun:
    """A job as the check-run that it is (they share their id)."""
    return CheckRun(
        id=job.id,
        name=job.name,
        status=job.status,
        conclusion=job.conclusion,
        head_sha=job.head_sha,
        run_id=job.run_id,
        run_attempt=job.run_attempt,
        suite_id=run.check_suite_id,
        app=ACTIONS,
        url=job.html_url or "",
        started_at=job.started_at or "",
        completed_at=job.completed_at or "",
    )


def run_of(run: WorkflowRun, jobs: Iterable[CheckRun], *, jobs_complete: bool) -> Run:
    """A run with its jobs, artifacts still unknown."""
    return Run(
        id=run.id,
        attempt=run.run_attempt,
        path=run.path.partition("@")[0],
        event=run.event,
        status=run.status or "",
        conclusion=run.conclusion,
        head_sha=run.head_sha,
        head_branch=run.head_branch or "",
        created_at=run.created_at,
        url=run.html_url,
        jobs=tuple(sorted(jobs, key=lambda job: (job.name, job.id))),
        jobs_complete=jobs_complete,
    )


def checks_by_run(
    checks: Iterable[CheckRunItem], runs: Iterable[WorkflowRun]
) -> Mapping[int, tuple[CheckRunItem, ...]]:
    """The check-runs of each run: by check suite, else by the run that their address names. Never by name: a second
    run of a commit has a full set of the same names."""
    by_suite = {run.check_suite_id: run.id for run in runs if run.check_suite_id is not None}
    found: dict[int, dict[int, CheckRunItem]] = {}
    for check in checks:
        suite = check.check_suite.id if check.check_suite else None
        run_id = run_of_check(check) if suite is None else by_suite.get(suite, run_of_check(check))
        if run_id is not None:
            found.setdefault(run_id, {})[check.id] = check
    return {run_id: tuple(some.values()) for run_id, some in found.items()}


def is_repository(named: RepositoryName | None, repository: str) -> bool:
    """Whether something comes from the repository itself, and not from a fork of it or from one that is gone."""
    return named is not None and named.full_name.lower() == repository.lower()


def measures(run: Run) -> bool:
    """Whether a run did the work of a sweep: a lane is a job of a called workflow, so its name is two names joined by
    ` / `, and one that was skipped measured nothing."""
    return any(" / " in job.name and job.conclusion not in (None, "skipped") for job in run.jobs)


def newest_artifacts(items: Iterable[ArtifactItem]) -> tuple[Artifact, ...]:
    """The newest artifact of each name: all attempts of a run leave theirs in one list."""
    newest: dict[str, ArtifactItem] = {}
    for item in sorted(items, key=lambda item: (item.created_at or "", item.id)):
        newest[item.name] = item
    return tuple(
        Artifact(
            id=item.id,
            name=item.name,
            size=item.size_in_bytes,
            expired=item.expired,
            created_at=item.created_at or "",
            digest=item.digest or "",
        )
        for item in newest.values()
    )


def with_artifacts(run: Run, artifacts: tuple[Artifact, ...], *, complete: bool) -> Run:
    """The run with what is known of its artifacts."""
    return msgspec.structs.replace(run, artifacts=artifacts, artifacts_complete=complete)


def is_merged(pull: Pull) -> bool:
    """Whether it was merged; the newer interface says it in two places, some servers in one."""
    return pull.merged or pull.merged_at is not None


# --- upstream --------------------------------------------------------------------------------------------------------


def upstream_of(
    repository: str, pull: Pull, files: Iterable[PullFile], merge_commit: str | None, read_at: str
) -> UpstreamPullRequest:
    """The state of a pull request of another repository, which is on github.com."""
    merged = is_merged(pull)
    return UpstreamPullRequest(
        repository=repository,
        number=pull.number,
        title=pull.title,
        state="merged" if merged else "closed" if pull.state == "closed" else "draft" if pull.draft else "open",
        url=f"https://github.com/{repository}/pull/{pull.number}",
        merged_at=pull.merged_at,
        merge_commit=merge_commit if merged else None,
        files=tuple(file.filename for file in files),
        base_ref=pull.base.ref,
        opened_at=pull.created_at,
        read_at=read_at,
    )
