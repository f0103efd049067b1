"""GitHub's answers in full, as its published schema has them; the tests hold them against that schema."""

from __future__ import annotations

import base64
import re
from typing import Any

from tests.fake_github.world import (
    Artifact,
    Comment,
    Event,
    GitCommit,
    Job,
    LineComment,
    Pull,
    Repository,
    Review,
    Run,
    Status,
    User,
)

Json = dict[str, Any]

_USER_LINKS = (
    "followers",
    "following",
    "gists",
    "starred",
    "subscriptions",
    "organizations",
    "repos",
    "events",
    "received_events",
)
_REPOSITORY_LINKS = (
    "archive",
    "assignees",
    "blobs",
    "branches",
    "collaborators",
    "comments",
    "commits",
    "compare",
    "contents",
    "contributors",
    "deployments",
    "downloads",
    "events",
    "forks",
    "git_commits",
    "git_refs",
    "git_tags",
    "issue_comment",
    "issue_events",
    "issues",
    "keys",
    "labels",
    "languages",
    "merges",
    "milestones",
    "notifications",
    "pulls",
    "releases",
    "stargazers",
    "statuses",
    "subscribers",
    "subscription",
    "tags",
    "teams",
    "trees",
    "hooks",
)


class Answers:
    """Makes answers for one server: `api` and `web` are where its addresses start."""

    def __init__(self, api: str, web: str) -> None:
        self.api = api
        self.web = web

    # --- people and places -------------------------------------------------------------------------------------------

    def user(self, user: User | None) -> Json | None:
        if user is None:
            return None
        return {
            "login": user.login,
            "id": user.id,
            "node_id": f"U_{user.id}",
            "avatar_url": f"{self.web}/avatars/{user.id}",
            "gravatar_id": "",
            "url": f"{self.api}/users/{user.login}",
            "html_url": f"{self.web}/{user.login}",
            "type": user.type,
            "site_admin": False,
            **{f"{name}_url": f"{self.api}/users/{user.login}/{name}" for name in _USER_LINKS},
        }

    def owner(self, repository: Repository) -> Json:
        made = self.user(User(repository.full_name.split("/")[0], id=1, type="Organization"))
        assert made is not None
        return made

    def repository(self, repository: Repository) -> Json:
        url = f"{self.api}/repos/{repository.full_name}"
        return {
            "id": repository.id,
            "node_id": f"R_{repository.id}",
            "name": repository.full_name.split("/")[1],
            "full_name": repository.full_name,
            "owner": self.owner(repository),
            "private": repository.private,
            "html_url": f"{self.web}/{repository.full_name}",
            "description": None,
            "fork": False,
            "url": url,
            "default_branch": "main",
            **{f"{name}_url": f"{url}/{name}" for name in _REPOSITORY_LINKS},
        }

    def full_repository(self, repository: Repository) -> Json:
        """As in the sides of a pull request."""
        web = f"{self.web}/{repository.full_name}"
        return {
            **self.repository(repository),
            **{f"{name}_url": web for name in ("git", "ssh", "clone", "svn", "mirror")},
            **dict.fromkeys(("has_issues", "has_projects", "has_wiki"), True),
            **dict.fromkeys(("has_pages", "disabled"), False),
            "archived": repository.archived,
            **dict.fromkeys(
                ("forks", "forks_count", "open_issues", "open_issues_count", "watchers", "watchers_count"), 0
            ),
            "stargazers_count": 0,
            "size": 1,
            "homepage": None,
            "language": None,
            "license": None,
            "pushed_at": "2026-08-12T00:00:00Z",
            "created_at": "2025-10-01T00:00:00Z",
            "updated_at": "2026-08-12T00:00:00Z",
        }

    # --- pull requests -----------------------------------------------------------------------------------------------

    def listed_pull(self, repository: Repository, pull: Pull, head: Repository | None) -> Json:
        url = f"{self.api}/repos/{repository.full_name}/pulls/{pull.number}"
        web = f"{self.web}/{repository.full_name}/pull/{pull.number}"
        issue = f"{self.api}/repos/{repository.full_name}/issues/{pull.number}"
        links = {
            "self": url,
            "html": web,
            "issue": issue,
            "comments": f"{issue}/comments",
            "review_comments": f"{url}/comments",
            "review_comment": f"{url}/comments{{/number}}",
            "commits": f"{url}/commits",
            "statuses": f"{url}/statuses",
        }
        return {
            "url": url,
            "id": repository.id * 1000 + pull.number,
            "node_id": f"PR_{pull.number}",
            "html_url": web,
            "diff_url": f"{web}.diff",
            "patch_url": f"{web}.patch",
            "issue_url": issue,
            "commits_url": links["commits"],
            "review_comments_url": links["review_comments"],
            "review_comment_url": links["review_comment"],
            "comments_url": links["comments"],
            "statuses_url": links["statuses"],
            "number": pull.number,
            "state": pull.state,
            "locked": pull.locked,
            "title": pull.title,
            "user": self.user(pull.user),
            "body": pull.body.replace("\n", "\r\n"),
            "labels": [self.label(repository, name) for name in pull.labels],
            "milestone": None,
            "active_lock_reason": None,
            "created_at": pull.created_at,
            "updated_at": pull.updated_at,
            "closed_at": pull.merged_at if pull.state == "closed" else None,
            "merged_at": pull.merged_at,
            "assignees": [],
            "requested_reviewers": [],
            "requested_teams": [],
            "head": self._side(pull.head_ref, pull.head_sha, head),
            "base": self._side(pull.base_ref, pull.base_sha, repository),
            "_links": {name: {"href": address} for name, address in links.items()},
            "author_association": "CONTRIBUTOR",
            "auto_merge": None,
            "draft": pull.draft,
        }

    def pull(
        self, repository: Repository, pull: Pull, head: Repository | None, commits: int, files: list[Json]
    ) -> Json:
        return {
            **self.listed_pull(repository, pull, head),
            "merged": pull.merged_at is not None,
            "mergeable": None,
            "mergeable_state": "unknown",
            "rebaseable": None,
            "merged_by": None,
            "comments": len(pull.comments),
            "review_comments": len(pull.line_comments),
            "maintainer_can_modify": False,
            "commits": commits,
            "additions": sum(file["additions"] for file in files),
            "deletions": sum(file["deletions"] for file in files),
            "changed_files": len(files),
        }

    def _side(self, ref: str, sha: str, repository: Repository | None) -> Json:
        owner = self.owner(repository) if repository else None
        return {
            "label": f"{owner['login'] if owner else 'unknown'}:{ref}",
            "ref": ref,
            "sha": sha,
            "user": owner,
            "repo": self.full_repository(repository) if repository else None,
        }

    def label(self, repository: Repository, name: str) -> Json:
        return {
            "id": sum(map(ord, name)),
            "node_id": f"L_{name}",
            "url": f"{self.api}/repos/{repository.full_name}/labels/{name}",
            "name": name,
            "color": "ededed",
            "description": None,
            "default": False,
        }

    def file(self, repository: Repository, head: str, file: Json, patch: str | None) -> Json:
        web = f"{self.web}/{repository.full_name}"
        answer = {
            "sha": file["sha"],
            "filename": file["filename"],
            "status": file["status"],
            "additions": file["additions"],
            "deletions": file["deletions"],
            "changes": file["additions"] + file["deletions"],
            "blob_url": f"{web}/blob/{head}/{file['filename']}",
            "raw_url": f"{web}/raw/{head}/{file['filename']}",
            "contents_url": f"{self.api}/repos/{repository.full_name}/contents/{file['filename']}?ref={head}",
        }
        if file["previous"]:
            answer["previous_filename"] = file["previous"]
        if patch:
            answer["patch"] = patch
        return answer

    def commit(self, repository: Repository, commit: GitCommit) -> Json:
        url = f"{self.api}/repos/{repository.full_name}/commits/{commit.sha}"

        def signature(line: str) -> Json:
            name, _, rest = line.partition(" <")
            address, _, when = rest.partition("> ")
            return {"name": name, "email": address, "date": _time(when)}

        return {
            "url": url,
            "sha": commit.sha,
            "node_id": f"C_{commit.sha}",
            "html_url": f"{self.web}/{repository.full_name}/commit/{commit.sha}",
            "comments_url": f"{url}/comments",
            "commit": {
                "url": f"{self.api}/repos/{repository.full_name}/git/commits/{commit.sha}",
                "author": signature(commit.author),
                "committer": signature(commit.committer),
                "message": commit.message.rstrip("\n"),
                "comment_count": 0,
                "tree": {
                    "sha": commit.tree,
                    "url": f"{self.api}/repos/{repository.full_name}/git/trees/{commit.tree}",
                },
            },
            "author": None,
            "committer": None,
            "parents": [
                {"sha": sha, "url": f"{self.api}/repos/{repository.full_name}/commits/{sha}", "html_url": ""}
                for sha in commit.parents
            ],
        }

    def comparison(
        self,
        repository: Repository,
        base: GitCommit,
        merge_base: GitCommit,
        ahead: list[GitCommit],
        behind: int,
        commits: list[GitCommit],
        files: list[Json],
        names: str,
    ) -> Json:
        web = f"{self.web}/{repository.full_name}/compare/{names}"
        status = ("diverged" if behind else "ahead") if ahead else ("behind" if behind else "identical")
        return {
            "url": f"{self.api}/repos/{repository.full_name}/compare/{names}",
            "html_url": web,
            "permalink_url": web,
            "diff_url": f"{web}.diff",
            "patch_url": f"{web}.patch",
            "base_commit": self.commit(repository, base),
            "merge_base_commit": self.commit(repository, merge_base),
            "status": status,
            "ahead_by": len(ahead),
            "behind_by": behind,
            "total_commits": len(ahead),
            "commits": [self.commit(repository, commit) for commit in commits],
            "files": files,
        }

    # --- what was said -----------------------------------------------------------------------------------------------

    def comment(self, repository: Repository, pull: Pull, comment: Comment) -> Json:
        url = f"{self.api}/repos/{repository.full_name}/issues"
        return {
            "id": comment.id,
            "node_id": f"IC_{comment.id}",
            "url": f"{url}/comments/{comment.id}",
            "html_url": f"{self.web}/{repository.full_name}/pull/{pull.number}#issuecomment-{comment.id}",
            "issue_url": f"{url}/{pull.number}",
            "user": self.user(comment.user),
            "body": comment.body,
            "created_at": comment.created_at,
            "updated_at": comment.updated_at,
            "author_association": comment.association,
            "performed_via_github_app": None,
        }

    def review(self, repository: Repository, pull: Pull, review: Review) -> Json:
        url = f"{self.api}/repos/{repository.full_name}/pulls/{pull.number}"
        web = f"{self.web}/{repository.full_name}/pull/{pull.number}#pullrequestreview-{review.id}"
        answer = {
            "id": review.id,
            "node_id": f"PRR_{review.id}",
            "user": self.user(review.user),
            "body": review.body,
            "state": review.state,
            "html_url": web,
            "pull_request_url": url,
            "_links": {"html": {"href": web}, "pull_request": {"href": url}},
            "commit_id": review.commit_id,
            "author_association": review.association,
        }
        return answer if review.submitted_at is None else {**answer, "submitted_at": review.submitted_at}

    def line_comment(self, repository: Repository, pull: Pull, comment: LineComment) -> Json:
        base = f"{self.api}/repos/{repository.full_name}/pulls"
        web = f"{self.web}/{repository.full_name}/pull/{pull.number}#discussion_r{comment.id}"
        url = f"{base}/comments/{comment.id}"
        return {
            "url": url,
            "pull_request_review_id": None,
            "id": comment.id,
            "node_id": f"PRRC_{comment.id}",
            "diff_hunk": "@@ -1 +1 @@",
            "path": comment.path,
            "commit_id": comment.commit_id,
            "original_commit_id": comment.commit_id,
            "user": self.user(comment.user),
            "body": comment.body,
            "created_at": comment.created_at,
            "updated_at": comment.created_at,
            "html_url": web,
            "pull_request_url": f"{base}/{pull.number}",
            "author_association": comment.association,
            "_links": {
                "self": {"href": url},
                "html": {"href": web},
                "pull_request": {"href": f"{base}/{pull.number}"},
            },
            "line": 1,
            "side": "RIGHT",
        }

    def event(self, repository: Repository, number: int, event: Event) -> Json:
        answer: Json = {
            "id": number,
            "node_id": f"E_{number}",
            "url": f"{self.api}/repos/{repository.full_name}/issues/events/{number}",
            "actor": self.user(event.actor),
            "event": event.event,
            "commit_id": event.commit_id,
            "commit_url": None,
            "created_at": event.created_at,
            "performed_via_github_app": None,
        }
        return {**answer, "label": {"name": event.label, "color": "ededed"}} if event.label else answer

    # --- runs --------------------------------------------------------------------------------------------------------

    def check_run(self, repository: Repository, run: Run, job: Job) -> Json:
        url = f"{self.api}/repos/{repository.full_name}/check-runs/{job.id}"
        web = f"{self.web}/{repository.full_name}/actions/runs/{run.id}/job/{job.id}"
        return {
            "id": job.id,
            "head_sha": run.head_sha,
            "node_id": f"CR_{job.id}",
            "external_id": f"e-{job.id}",
            "url": url,
            "html_url": web,
            "details_url": web,
            "status": job.status,
            "conclusion": job.conclusion,
            "started_at": run.created_at,
            "completed_at": run.created_at if job.conclusion else None,
            "output": {
                "title": None,
                "summary": None,
                "text": None,
                "annotations_count": 0,
                "annotations_url": f"{url}/annotations",
            },
            "name": job.name,
            "check_suite": {"id": run.suite_id},
            "app": self._actions_app(),
            "pull_requests": [],
        }

    def _actions_app(self) -> Json:
        owner = self.user(User("github", id=9919, type="Organization"))
        return {
            "id": 15368,
            "slug": "github-actions",
            "node_id": "A_15368",
            "owner": owner,
            "name": "GitHub Actions",
            "description": "",
            "external_url": f"{self.web}/features/actions",
            "html_url": f"{self.web}/apps/github-actions",
            "created_at": "2018-07-30T09:30:17Z",
            "updated_at": "2024-04-10T20:33:16Z",
            "permissions": {"actions": "write"},
            "events": ["check_run"],
        }

    def run(self, repository: Repository, run: Run, commit: GitCommit | None) -> Json:
        url = f"{self.api}/repos/{repository.full_name}/actions/runs/{run.id}"
        head = {
            "id": run.head_sha,
            "tree_id": commit.tree if commit else "0" * 40,
            "message": commit.message if commit else "",
            "timestamp": run.created_at,
            "author": {"name": "Ada", "email": "ada@example.org"},
            "committer": {"name": "Ada", "email": "ada@example.org"},
        }
        return {
            "id": run.id,
            "node_id": f"WFR_{run.id}",
            "name": "Run Sweep",
            "head_branch": run.head_branch,
            "head_sha": run.head_sha,
            "path": run.path,
            "run_number": run.id % 1000,
            "run_attempt": run.attempt,
            "event": run.event,
            "status": run.status,
            "conclusion": run.conclusion,
            "workflow_id": 77,
            "check_suite_id": run.suite_id,
            "check_suite_node_id": f"CS_{run.suite_id}",
            "url": url,
            "html_url": f"{self.web}/{repository.full_name}/actions/runs/{run.id}",
            "pull_requests": [],
            "created_at": run.created_at,
            "updated_at": run.created_at,
            "run_started_at": run.created_at,
            "jobs_url": f"{url}/jobs",
            "logs_url": f"{url}/logs",
            "check_suite_url": f"{self.api}/repos/{repository.full_name}/check-suites/{run.suite_id}",
            "artifacts_url": f"{url}/artifacts",
            "cancel_url": f"{url}/cancel",
            "rerun_url": f"{url}/rerun",
            "previous_attempt_url": f"{url}/attempts/{run.attempt - 1}" if run.attempt > 1 else None,
            "workflow_url": f"{self.api}/repos/{repository.full_name}/actions/workflows/77",
            "head_commit": head,
            "repository": self.repository(repository),
            "head_repository": self.repository(repository)
            if run.head_repo is None
            else {**self.repository(repository), "full_name": run.head_repo},
            "display_title": "A run",
        }

    def combined_status(self, repository: Repository, sha: str, statuses: list[Status], total: int) -> Json:
        states = [status.state for status in statuses]
        worst = (
            "failure" if {"failure", "error"} & set(states) else "success" if set(states) == {"success"} else "pending"
        )
        url = f"{self.api}/repos/{repository.full_name}/commits/{sha}"
        return {
            "state": worst,
            "statuses": [self._plain_status(repository, sha, status) for status in statuses],
            "sha": sha,
            "total_count": total,
            "repository": self.repository(repository),
            "commit_url": url,
            "url": f"{url}/status",
        }

    def _plain_status(self, repository: Repository, sha: str, status: Status) -> Json:
        """A status in the combined form, which does not say who set it."""
        return {
            "url": f"{self.api}/repos/{repository.full_name}/statuses/{sha}",
            "avatar_url": None,
            "id": status.id,
            "node_id": f"SC_{status.id}",
            "state": status.state,
            "description": status.description,
            "target_url": status.target_url,
            "context": status.context,
            "created_at": status.updated_at,
            "updated_at": status.updated_at,
        }

    def status(self, repository: Repository, sha: str, status: Status) -> Json:
        return {**self._plain_status(repository, sha, status), "creator": self.user(status.creator)}

    def job(self, repository: Repository, run: Run, job: Job) -> Json:
        base = f"{self.api}/repos/{repository.full_name}"
        return {
            "id": job.id,
            "run_id": run.id,
            "run_url": f"{base}/actions/runs/{run.id}",
            "run_attempt": job.attempt,
            "node_id": f"CR_{job.id}",
            "head_sha": run.head_sha,
            "url": f"{base}/actions/jobs/{job.id}",
            "html_url": f"{self.web}/{repository.full_name}/actions/runs/{run.id}/job/{job.id}",
            "status": job.status,
            "conclusion": job.conclusion,
            "created_at": run.created_at,
            "started_at": run.created_at,
            "completed_at": run.created_at if job.conclusion else None,
            "name": job.name,
            "steps": [],
            "check_run_url": f"{base}/check-runs/{job.id}",
            "labels": ["b200"],
            "runner_id": 1,
            "runner_name": "b200-dgxc_0",
            "runner_group_id": 1,
            "runner_group_name": "Default",
            "workflow_name": "Run Sweep",
            "head_branch": run.head_branch,
        }

    def artifact(self, repository: Repository, run: Run, artifact: Artifact) -> Json:
        url = f"{self.api}/repos/{repository.full_name}/actions/artifacts/{artifact.id}"
        return {
            "id": artifact.id,
            "node_id": f"AR_{artifact.id}",
            "name": artifact.name,
            "size_in_bytes": len(artifact.content),
            "url": url,
            "archive_download_url": f"{url}/zip",
            "expired": artifact.expired,
            "created_at": artifact.created_at,
            "expires_at": "2026-11-09T00:00:00Z",
            "updated_at": artifact.created_at,
            "digest": artifact.digest,
            "workflow_run": {
                "id": run.id,
                "repository_id": repository.id,
                "head_repository_id": repository.id,
                "head_branch": run.head_branch,
                "head_sha": run.head_sha,
            },
        }

    # --- git ---------------------------------------------------------------------------------------------------------

    def tree(
        self, repository: Repository, sha: str, entries: list[tuple[str, str, str, str, int | None]], *, truncated: bool
    ) -> Json:
        base = f"{self.api}/repos/{repository.full_name}/git"
        items = []
        for mode, kind, name, path, size in entries:
            item: Json = {"path": path, "mode": mode, "type": kind, "sha": name}
            if kind != "commit":
                item["url"] = f"{base}/{kind}s/{name}"
            items.append(item if size is None else {**item, "size": size})
        return {"sha": sha, "url": f"{base}/trees/{sha}", "tree": items, "truncated": truncated}

    def blob(self, repository: Repository, sha: str, content: bytes) -> Json:
        return {
            "sha": sha,
            "node_id": f"B_{sha}",
            "size": len(content),
            "url": f"{self.api}/repos/{repository.full_name}/git/blobs/{sha}",
            "content": base64.encodebytes(content).decode(),
            "encoding": "base64",
        }


def _time(when: str) -> str:
    import datetime

    found = re.match(r"(\d+)", when)
    stamp = int(found[1]) if found else 0
    return datetime.datetime.fromtimestamp(stamp, datetime.UTC).isoformat().replace("+00:00", "Z")
