"""The fake's answers and our requests, held against GitHub's published interface (githubkit-schemas, 2026-03-10).

Every request that a load of #2550 and a posted comment make is looked up in the generated clients: its query must be
one that the endpoint takes, its body one that it reads, and the answer one that it gives.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Union
from urllib.parse import parse_qs, urlsplit

import pytest

from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.sources.github.auth import Token
from reviewer_tui.sources.github.client import GitHubClient
from reviewer_tui.sources.github.hosts import parse_host
from reviewer_tui.sources.github.loader import GitHubSource
from reviewer_tui.sources.github.shapes import PermissionLevel, PostedComment
from reviewer_tui.store.cache import Cache
from tests.fake_github.server import FakeGitHub, Seen
from tests.fake_github.story_2550 import NUMBER, REPOSITORY, TOKEN, Story
from tests.fake_github.world import Job, Run

SCHEMAS = "githubkit_schemas.v2026_03_10"

# Endpoint, the generated client's module and method.
ENDPOINTS = (
    ("GET", r"/repos/[^/]+/[^/]+/pulls/\d+", "pulls", "get"),
    ("GET", r"/repos/[^/]+/[^/]+/pulls/\d+/commits", "pulls", "list_commits"),
    ("GET", r"/repos/[^/]+/[^/]+/pulls/\d+/files", "pulls", "list_files"),
    ("GET", r"/repos/[^/]+/[^/]+/pulls/\d+/reviews", "pulls", "list_reviews"),
    ("GET", r"/repos/[^/]+/[^/]+/pulls/\d+/comments", "pulls", "list_review_comments"),
    ("GET", r"/repos/[^/]+/[^/]+/issues/\d+/comments", "issues", "list_comments"),
    ("GET", r"/repos/[^/]+/[^/]+/issues/\d+/events", "issues", "list_events"),
    ("POST", r"/repos/[^/]+/[^/]+/issues/\d+/comments", "issues", "create_comment"),
    ("PATCH", r"/repos/[^/]+/[^/]+/issues/comments/\d+", "issues", "update_comment"),
    ("GET", r"/repos/[^/]+/[^/]+/commits/[^/]+", "repos", "get_commit"),
    ("GET", r"/repos/[^/]+/[^/]+/compare/.+", "repos", "compare_commits"),
    ("GET", r"/repos/[^/]+/[^/]+/collaborators/[^/]+/permission", "repos", "get_collaborator_permission_level"),
    ("GET", r"/repos/[^/]+/[^/]+/git/trees/\w+", "git", "get_tree"),
    ("GET", r"/repos/[^/]+/[^/]+/commits/\w+/check-runs", "checks", "list_for_ref"),
    ("GET", r"/repos/[^/]+/[^/]+/commits/\w+/status", "repos", "get_combined_status_for_ref"),
    ("GET", r"/repos/[^/]+/[^/]+/commits/\w+/statuses", "repos", "list_commit_statuses_for_ref"),
    ("GET", r"/repos/[^/]+/[^/]+/actions/runs", "actions", "list_workflow_runs_for_repo"),
    ("GET", r"/repos/[^/]+/[^/]+/actions/workflows/[^/]+/runs", "actions", "list_workflow_runs"),
    ("GET", r"/repos/[^/]+/[^/]+/actions/runs/\d+", "actions", "get_workflow_run"),
    ("GET", r"/repos/[^/]+/[^/]+/actions/runs/\d+/jobs", "actions", "list_jobs_for_workflow_run"),
    ("GET", r"/repos/[^/]+/[^/]+/actions/runs/\d+/artifacts", "actions", "list_workflow_run_artifacts"),
    ("GET", r"/repos/[^/]+/[^/]+/actions/artifacts/\d+/zip", "actions", "download_artifact"),
    ("GET", r"/repos/[^/]+/[^/]+/actions/jobs/\d+/logs", "actions", "download_job_logs_for_workflow_run"),
    ("GET", r"/user", "users", "get_authenticated"),
)

# GraphQL and storage are no part of the REST description.
OUTSIDE = ("/api/graphql", "/blob/", "/log/")

# Where the generated models are stricter than GitHub: its own example of a pull request fails at the same place.
ALLOWED = {("PullRequest", "archived_by", "missing")}

# The union described for the events of one issue lacks `merged` and `closed`, which GitHub sends; the model of the same
# objects in the list of all events has them.
DESCRIBED_ELSEWHERE = {("issues", "list_events"): "Response[list[IssueEvent], dict]"}


def schema(module: str) -> Any:
    try:
        return importlib.import_module(f"{SCHEMAS}.{module}")
    except ImportError as fault:
        pytest.skip(f"githubkit-schemas cannot be imported (githubkit 0.16 needs hishel below 2): {fault}")


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> list[Seen]:
    """Everything asked and answered while #2550 is loaded at both moments, and a comment is posted and edited."""
    folder: Path = tmp_path_factory.mktemp("schema")
    story = Story(folder)
    with ExitStack() as stack:
        fake = stack.enter_context(FakeGitHub(story.world))
        cache = stack.enter_context(Cache(folder / "cache.sqlite"))
        client = stack.enter_context(GitHubClient(parse_host(fake.host), Token(TOKEN, "a test"), answers=cache))
        source = GitHubSource(client, cache, REPOSITORY)
        first = source.with_published(source.load(PullRequestRef(REPOSITORY, NUMBER, fake.host)))
        source.job_log(PullRequestRef(REPOSITORY, NUMBER, fake.host), (first.snapshot.runs.value or ())[0].jobs[0])
        story.go_on()
        story.repository.runs[77] = Run(77, "a.yml", story.base, "main", jobs=[Job(78, "a job")])
        story.pull.comments[0].body += f"\nhttps://github.com/{REPOSITORY}/actions/runs/77"
        story.repository.runs[31432304739].attempt = 2
        source.load(PullRequestRef(REPOSITORY, NUMBER, fake.host), policy_ref="main")
        base = f"/repos/{REPOSITORY}"
        posted = client.run(client.write("POST", f"{base}/issues/2550/comments", {"body": "x"}, PostedComment))
        client.run(client.write("PATCH", f"{base}/issues/comments/{posted.id}", {"body": "y"}, PostedComment))
        client.run(client.get(f"{base}/collaborators/a-collaborator/permission", PermissionLevel))
        return fake.requests()


def endpoint(request: Seen) -> tuple[str, str] | None:
    path = urlsplit(request.path).path
    if path.startswith(OUTSIDE):
        return None
    path = path.removeprefix("/api/v3")
    for method, pattern, module, name in ENDPOINTS:
        if request.method == method and re.fullmatch(pattern, path):
            return module, name
    raise AssertionError(f"an endpoint that is not listed: {request.method} {path}")


def operation(module: str, name: str) -> Any:
    client = getattr(schema(f"rest.{module}"), f"{module.capitalize()}Client")
    return getattr(client, name)


def faults_of(kind: Any, body: Any) -> set[tuple[str, str, str]]:
    """Model, field and kind of everything in a body that the model does not allow."""
    from pydantic import TypeAdapter, ValidationError

    try:
        TypeAdapter(kind).validate_python(body)
    except ValidationError as fault:
        return {(fault.title, str(error["loc"][-1]), error["type"]) for error in fault.errors()}
    return set()


def answer_type(annotation: str, models: Any) -> Any:
    """The first of the two types in `Response[ANSWER, ANSWER_AS_DICT]`."""
    depth = 0
    inside = annotation.removeprefix("Response[")
    for at, character in enumerate(inside):
        depth += {"[": 1, "]": -1}.get(character, 0)
        if character == "," and depth == 0:
            names = set(re.findall(r"[A-Z]\w+", inside[:at])) - {"Union"}
            return eval(inside[:at], {"Union": Union, **{name: getattr(models, name) for name in names}})
    raise AssertionError(annotation)


def test_every_endpoint_is_one_of_githubs_and_takes_our_questions(seen: list[Seen]) -> None:
    for request in seen:
        found = endpoint(request)
        if found is None:
            continue
        parameters = {name.rstrip("_") for name in inspect.signature(operation(*found)).parameters}
        question = parse_qs(urlsplit(request.path).query)
        assert set(question) <= parameters, (request.path, found)
        assert all(1 <= int(value) <= 100 for value in question.get("per_page", ()))


def test_every_answer_is_one_that_the_endpoint_gives(seen: list[Seen]) -> None:
    models = schema("models")
    checked: Counter[str] = Counter()
    for request in seen:
        found = endpoint(request)
        if found is None or request.status not in (200, 201) or request.body is None:
            continue
        annotation = str(inspect.signature(operation(*found)).return_annotation)
        annotation = DESCRIBED_ELSEWHERE.get(found, annotation)
        assert faults_of(answer_type(annotation, models), request.body) <= ALLOWED, request.path
        checked[str(found)] += 1
    assert set(checked) == {str((module, name)) for _, _, module, name in ENDPOINTS if not name.startswith("download_")}


def test_what_we_send_is_what_the_endpoints_read(seen: list[Seen]) -> None:
    models = schema("models")
    bodies = {
        "POST": models.ReposOwnerRepoIssuesIssueNumberCommentsPostBody,
        "PATCH": models.ReposOwnerRepoIssuesCommentsCommentIdPatchBody,
    }
    writes = [request for request in seen if request.method in bodies and endpoint(request)]
    assert sorted(request.method for request in writes) == ["PATCH", "POST"]
    for request in writes:
        bodies[request.method].model_validate(json.loads(request.sent))


def test_every_request_has_the_headers_that_github_wants(seen: list[Seen]) -> None:
    for request in seen:
        assert request.headers["user-agent"].startswith("reviewer-tui/")
        if not request.path.startswith(("/blob/", "/log/")):
            assert request.headers["accept"].startswith("application/vnd.github")
            assert request.headers["x-github-api-version"] == "2022-11-28"
