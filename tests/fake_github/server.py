"""A GitHub on this machine: real sockets, real git objects, and every way in which GitHub can be difficult.

    with FakeGitHub(world) as fake:
        client = GitHubClient(parse_host(fake.host), Token(secret, "a test"))
        fake.faults.append(Fault(r"/pulls/7$", Reply(502), times=2))
        ...
        assert fake.depth() <= 8

It answers as a server on the own machine does: REST below `/api/v3`, GraphQL at `/api/graphql`. Artifacts lie on a
second port, which notes whether a token came along.
"""

from __future__ import annotations

import bisect
import contextlib
import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from tests.fake_github.answers import Answers
from tests.fake_github.world import Comment, Job, Pull, Repository, Run, World

API = "/api/v3"
COMMITS_CAP, FILES_CAP, COMPARED_FILES_CAP = 250, 3000, 300


@dataclass
class Reply:
    """An answer: JSON, or bytes where `raw`."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None

    def content(self) -> bytes:
        if self.raw is not None:
            return self.raw
        return b"" if self.body is None else json.dumps(self.body).encode()


@dataclass
class Fault:
    """What happens instead of the proper answer to requests whose path matches: another reply, after `delay` seconds;
    the connection cut (`drop`), or the body sent byte by byte (`drip` seconds each). With `afterwards` the request has
    its effect first. `times` is how often, None for always; with `tokens_only` it meets requests with a token only."""

    path: str
    reply: Reply | None = None
    times: int | None = 1
    method: str = "GET"
    delay: float = 0.0
    drop: bool = False
    drip: float = 0.0
    afterwards: bool = False
    tokens_only: bool = False

    def meets(self, method: str, path: str, *, has_token: bool) -> bool:
        if self.tokens_only and not has_token:
            return False
        return self.times != 0 and method == self.method and re.search(self.path, path) is not None


class Seen(NamedTuple):
    """A request as it came and its answer, with the seconds at which it came and was answered."""

    method: str
    path: str
    headers: Mapping[str, str]
    sent: bytes
    status: int
    body: Any
    came: float
    answered: float


@dataclass
class Budget:
    limit: int = 5000
    remaining: int = 5000
    reset: int = 4_102_444_800


class Request(NamedTuple):
    method: str
    path: str
    query: dict[str, str]
    headers: Mapping[str, str]
    body: Any


Handler = Callable[..., Reply]
_ROUTES: list[tuple[str, re.Pattern[str], str]] = []


def route(method: str, pattern: str) -> Callable[[Handler], Handler]:
    """Register a handler; `{repo}` stands for a repository, which is looked up."""

    def register(handler: Handler) -> Handler:
        expression = pattern.replace("{repo}", r"/repos/(?P<repo>[^/]+/[^/]+)")
        _ROUTES.append((method, re.compile(expression + r"\Z"), handler.__name__))
        return handler

    return register


class FakeGitHub:
    """The server. `latency` seconds pass before each answer; `seen` and `stored` are the requests to it and to the
    storage, in the order of their answers; `page_cap` makes pages smaller than asked for."""

    def __init__(self, world: World, *, latency: float = 0.0) -> None:
        self.world = world
        self.latency = latency
        self.faults: list[Fault] = []
        self.budget = Budget()
        self.seen: list[Seen] = []
        self.stored: list[Seen] = []
        self.graphql = True
        self.plain_links = False
        self.moved_links = False
        self.versions: tuple[str, ...] | None = None
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _handler(self, self._answer, self.seen))
        self._storage = _Server(("127.0.0.1", 0), _handler(self, self._store_answer, self.stored))
        self.host = f"127.0.0.1:{self._server.server_port}"
        self.storage = f"http://127.0.0.1:{self._storage.server_port}"
        self.answers = Answers(f"http://{self.host}{API}", f"http://{self.host}")

    def __enter__(self) -> FakeGitHub:
        for server in (self._server, self._storage):
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Be gone: connections are refused from now on."""
        for server in (self._server, self._storage):
            server.shutdown()
            server.close_connections()
            server.server_close()

    # --- what tests ask ----------------------------------------------------------------------------------------------

    def requests(self) -> list[Seen]:
        """All requests, storage included."""
        return sorted([*self.seen, *self.stored], key=lambda seen: seen.came)

    def forget(self) -> None:
        self.seen.clear()
        self.stored.clear()

    def depth(self) -> int:
        """The longest chain of requests of which each came after the one before was answered: round trips, whether one
        needed the other or only waited for its connection."""
        chain: list[float] = []
        for seen in sorted(self.requests(), key=lambda seen: seen.answered):
            at = bisect.bisect_right(chain, seen.came)
            if at == len(chain):
                chain.append(seen.answered)
            else:
                chain[at] = min(chain[at], seen.answered)
        return len(chain)

    # --- answering ---------------------------------------------------------------------------------------------------

    def _answer(self, request: Request) -> tuple[Reply, Fault | None]:
        time.sleep(self.latency)
        path = request.path + (f"?{urlencode(request.query)}" if request.query else "")
        fault = self._fault(request, path)
        if fault is not None and not fault.afterwards:
            time.sleep(fault.delay)
            return fault.reply or Reply(500), fault
        with self._lock:
            reply = self._proper(request)
        if fault is not None:
            time.sleep(fault.delay)
            return fault.reply or reply, fault
        return reply, None

    def _fault(self, request: Request, path: str) -> Fault | None:
        has_token = "authorization" in request.headers
        with self._lock:
            meeting = (fault for fault in self.faults if fault.meets(request.method, path, has_token=has_token))
            fault = next(meeting, None)
            if fault is not None and fault.times is not None:
                fault.times -= 1
            return fault

    def _proper(self, request: Request) -> Reply:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        user = self.world.tokens.get(token)
        if token and user is None:
            return Reply(401, {"message": "Bad credentials", "documentation_url": "https://docs.github.com/rest"})
        if not request.headers.get("user-agent"):
            return Reply(403, {"message": "Request forbidden by administrative rules."})
        version = request.headers.get("x-github-api-version")
        if self.versions is not None and version is not None and version not in self.versions:
            return Reply(400, {"message": f"Unsupported API version: {version} is not a supported version."})
        if self.budget.remaining == 0:
            return self._with_budget(Reply(403, {"message": "API rate limit exceeded for user ID 1."}))
        try:
            reply = self._routed(request, user.login if user else "")
        except LookupError:
            reply = Reply(404, {"message": "Not Found", "documentation_url": "https://docs.github.com/rest"})
        if user is not None:
            reply.headers.setdefault("X-OAuth-Scopes", user.scopes)
        return self._revalidated(request, reply)

    def _routed(self, request: Request, login: str) -> Reply:
        if request.path == "/api/graphql":
            return self._graphql(request, login)
        if not request.path.startswith(API):
            raise LookupError
        path = request.path.removeprefix(API)
        for method, pattern, name in _ROUTES:
            if method == request.method and (found := pattern.match(path)):
                facts: dict[str, Any] = {key: unquote(value) for key, value in found.groupdict().items()}
                if "repo" in facts:
                    repository = self.world.repositories[facts.pop("repo").lower()]
                    if repository.private and not login:
                        raise LookupError
                    facts["repository"] = repository
                reply: Reply = getattr(self, name)(request=request, login=login, **facts)
                return reply
        raise LookupError

    def _revalidated(self, request: Request, reply: Reply) -> Reply:
        """The answer with its ETag; 304 where the reader has it already, which costs nothing if it is authorised."""
        if request.method == "GET" and reply.status == 200 and reply.raw is None:
            varies = f"{request.headers.get('accept')} {request.headers.get('authorization')}".encode()
            etag = f'W/"{hashlib.sha256(varies + reply.content()).hexdigest()[:40]}"'
            reply.headers |= {"ETag": etag, "Cache-Control": "private, max-age=60, s-maxage=60"}
            if request.headers.get("if-none-match") == etag:
                reply = Reply(304, headers=reply.headers)
        if reply.status != 304 or not request.headers.get("authorization"):
            self.budget.remaining -= 1
        return self._with_budget(reply)

    def _with_budget(self, reply: Reply) -> Reply:
        reply.headers |= {
            "X-RateLimit-Limit": str(self.budget.limit),
            "X-RateLimit-Remaining": str(self.budget.remaining),
            "X-RateLimit-Used": str(self.budget.limit - self.budget.remaining),
            "X-RateLimit-Reset": str(self.budget.reset),
            "X-RateLimit-Resource": "core",
        }
        return reply

    def _paged(self, request: Request, items: list[Any], key: str = "", total: int | None = None) -> Reply:
        """One page with its Link header; wrapped under `key` with the count of all."""
        size = min(int(request.query.get("per_page", "30")), 100)
        page = int(request.query.get("page", "1"))
        last = max(1, -(-len(items) // size))
        shown = items[(page - 1) * size : page * size]
        headers = {}
        if page < last:
            links = [(page + 1, "next"), (last, "last")] if not self.plain_links else [(page + 1, "next")]
            headers["Link"] = ", ".join(f'<{self._page_address(request, n)}>; rel="{name}"' for n, name in links)
        body = {"total_count": len(items) if total is None else total, key: shown} if key else shown
        return Reply(200, body, headers)

    def _page_address(self, request: Request, page: int) -> str:
        query = {**request.query, "page": str(page)}
        path = request.path
        if self.moved_links and (found := re.match(rf"{API}/repos/([^/]+/[^/]+)(/.*)", path)):
            repository = self.world.repositories[found[1].lower()]
            path = f"{API}/repositories/{repository.id}{found[2]}"
        return f"http://{self.host}{path}?{urlencode(query)}"

    # --- people ------------------------------------------------------------------------------------------------------

    @route("GET", "/user")
    def whoami(self, request: Request, login: str) -> Reply:
        if not login:
            return Reply(401, {"message": "Requires authentication"})
        extra = {
            "name": None,
            "company": None,
            "blog": "",
            "location": None,
            "email": None,
            "hireable": None,
            "bio": None,
            "public_repos": 0,
            "public_gists": 0,
            "followers": 0,
            "following": 0,
            "created_at": "2020-01-01T00:00:00Z",
            "updated_at": "2026-01-01T00:00:00Z",
        }
        return Reply(200, {**(self.answers.user(self.world.users[login]) or {}), **extra})

    @route("GET", "{repo}/collaborators/(?P<name>[^/]+)/permission")
    def permission(self, request: Request, login: str, repository: Repository, name: str) -> Reply:
        if repository.permissions.get(login) not in ("admin", "maintain", "write"):
            return Reply(403, {"message": "Must have push access to view collaborator permission."})
        level = repository.permissions.get(name, "read")
        user = {**(self.answers.user(self.world.user(name)) or {}), "role_name": level}
        return Reply(200, {"permission": level, "role_name": level, "user": user})

    @route("GET", r"/repositories/(?P<number>\d+)(?P<rest>/.*)")
    def by_number(self, request: Request, login: str, number: str, rest: str) -> Reply:
        name = next(one.full_name for one in self.world.repositories.values() if one.id == int(number))
        return self._routed(request._replace(path=f"{API}/repos/{name}{rest}"), login)

    @route("GET", "{repo}")
    def repository(self, request: Request, login: str, repository: Repository) -> Reply:
        return Reply(200, self.answers.full_repository(repository))

    # --- pull requests -----------------------------------------------------------------------------------------------

    @route("GET", "{repo}/pulls")
    def pulls(self, request: Request, login: str, repository: Repository) -> Reply:
        state = request.query.get("state", "open")
        chosen = [pull for pull in repository.pulls.values() if state in ("all", pull.state)]
        listed = [self.answers.listed_pull(repository, pull, self._head(repository, pull)) for pull in chosen]
        return self._paged(request, listed)

    @route("GET", r"{repo}/pulls/(?P<number>\d+)")
    def pull(self, request: Request, login: str, repository: Repository, number: str) -> Reply:
        pull = repository.pulls[int(number)]
        commits, files = self._commits(repository, pull), self._files(repository, pull)
        return Reply(200, self.answers.pull(repository, pull, self._head(repository, pull), len(commits), files))

    @route("GET", r"{repo}/pulls/(?P<number>\d+)/commits")
    def pull_commits(self, request: Request, login: str, repository: Repository, number: str) -> Reply:
        shas = self._commits(repository, repository.pulls[int(number)])[:COMMITS_CAP]
        return self._paged(request, [self.answers.commit(repository, repository.git.commit(sha)) for sha in shas])

    @route("GET", r"{repo}/pulls/(?P<number>\d+)/files")
    def pull_files(self, request: Request, login: str, repository: Repository, number: str) -> Reply:
        pull = repository.pulls[int(number)]
        files = self._files(repository, pull)[:FILES_CAP]
        return self._paged(request, [self.answers.file(repository, pull.head_sha, file, None) for file in files])

    @route("GET", r"{repo}/issues/(?P<number>\d+)/comments")
    def comments(self, request: Request, login: str, repository: Repository, number: str) -> Reply:
        pull = repository.pulls[int(number)]
        since = request.query.get("since", "")
        chosen = [comment for comment in pull.comments if comment.updated_at >= since]
        return self._paged(request, [self.answers.comment(repository, pull, comment) for comment in chosen])

    @route("GET", r"{repo}/pulls/(?P<number>\d+)/reviews")
    def reviews(self, request: Request, login: str, repository: Repository, number: str) -> Reply:
        pull = repository.pulls[int(number)]
        return self._paged(request, [self.answers.review(repository, pull, review) for review in pull.reviews])

    @route("GET", r"{repo}/pulls/(?P<number>\d+)/comments")
    def line_comments(self, request: Request, login: str, repository: Repository, number: str) -> Reply:
        pull = repository.pulls[int(number)]
        return self._paged(request, [self.answers.line_comment(repository, pull, one) for one in pull.line_comments])

    @route("GET", r"{repo}/issues/(?P<number>\d+)/events")
    def events(self, request: Request, login: str, repository: Repository, number: str) -> Reply:
        events = enumerate(repository.pulls[int(number)].events, int(number) * 1000)
        return self._paged(request, [self.answers.event(repository, at, event) for at, event in events])

    @route("POST", r"{repo}/issues/(?P<number>\d+)/comments")
    def post_comment(self, request: Request, login: str, repository: Repository, number: str) -> Reply:
        if not login:
            return Reply(401, {"message": "Requires authentication"})
        if (refused := self._refused_body(request)) is not None:
            return refused
        pull = repository.pulls[int(number)]
        if pull.locked and repository.permissions.get(login) not in ("admin", "maintain", "write"):
            return Reply(403, {"message": "Unable to create comment because issue is locked."})
        body = request.body["body"].rstrip()
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        association = "MEMBER" if repository.permissions.get(login) else "NONE"
        comment = Comment(self.world.next_id(), self.world.users[login], body, now, now, association)
        pull.comments.append(comment)
        return Reply(201, self.answers.comment(repository, pull, comment))

    @route("GET", r"{repo}/issues/comments/(?P<number>\d+)")
    def comment(self, request: Request, login: str, repository: Repository, number: str) -> Reply:
        pull, comment = self._find_comment(repository, int(number))
        return Reply(200, self.answers.comment(repository, pull, comment))

    @route("PATCH", r"{repo}/issues/comments/(?P<number>\d+)")
    def edit_comment(self, request: Request, login: str, repository: Repository, number: str) -> Reply:
        pull, comment = self._find_comment(repository, int(number))
        if comment.user is None or comment.user.login != login:
            return Reply(403, {"message": "Must have admin rights to Repository."})
        if (refused := self._refused_body(request)) is not None:
            return refused
        comment.body = request.body["body"].rstrip()
        comment.updated_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        return Reply(200, self.answers.comment(repository, pull, comment))

    def _refused_body(self, request: Request) -> Reply | None:
        """The refusal of a text that no comment may have."""
        body = request.body.get("body") if isinstance(request.body, dict) else None
        if isinstance(body, str) and body.strip() and len(body) <= 65_536:
            return None
        long = isinstance(body, str) and len(body) > 65_536
        said = "Body is too long (maximum is 65536 characters)" if long else "Body can't be blank"
        error = {"resource": "IssueComment", "code": "unprocessable", "field": "data", "message": said}
        return Reply(422, {"message": "Validation Failed", "errors": [error]})

    # --- git ---------------------------------------------------------------------------------------------------------

    @route("GET", "{repo}/commits/(?P<ref>[^/]+)")
    def commit(self, request: Request, login: str, repository: Repository, ref: str) -> Reply:
        sha = self._resolve(repository, ref)
        return Reply(200, self.answers.commit(repository, repository.git.commit(sha)))

    @route("GET", r"{repo}/compare/(?P<names>.+\.\.\..+)")
    def compare(self, request: Request, login: str, repository: Repository, names: str) -> Reply:
        left, _, right = names.partition("...")
        git = repository.git
        base, head = self._resolve(repository, left), self._resolve(repository, right)
        merge_base = git.merge_base(base, head)
        ahead = [git.commit(sha) for sha in git.ahead(base, head)]
        paged = self._paged(request, list(ahead))
        files = [] if request.query.get("page", "1") != "1" else git.difference(merge_base, head)[:COMPARED_FILES_CAP]
        body = self.answers.comparison(
            repository,
            git.commit(base),
            git.commit(merge_base),
            ahead,
            len(git.ahead(head, base)),
            paged.body,
            [self.answers.file(repository, head, file, None) for file in files],
            names,
        )
        return Reply(200, body, paged.headers)

    @route("GET", "{repo}/git/trees/(?P<sha>[0-9a-f]{40})")
    def tree(self, request: Request, login: str, repository: Repository, sha: str) -> Reply:
        entries = repository.git.tree(sha, recursive="recursive" in request.query)
        return Reply(200, self.answers.tree(repository, sha, entries, truncated=False))

    @route("GET", "{repo}/git/blobs/(?P<sha>[0-9a-f]{40})")
    def blob(self, request: Request, login: str, repository: Repository, sha: str) -> Reply:
        content = repository.git.object("blob", sha)
        if "raw" in request.headers.get("accept", ""):
            return Reply(200, raw=content)
        return Reply(200, self.answers.blob(repository, sha, content))

    def _graphql(self, request: Request, login: str) -> Reply:
        if not login:
            return Reply(401, {"message": "This endpoint requires you to be authenticated."})
        if not self.graphql:
            return Reply(200, {"data": None, "errors": [{"type": "FORBIDDEN", "message": "Resource not accessible"}]})
        variables = request.body["variables"]
        repository = self.world.repositories[f"{variables['owner']}/{variables['name']}".lower()]
        found: dict[str, Any] = {}
        for alias, sha in re.findall(r'(\w+):object\(oid:"([0-9a-f]{40})"\)', request.body["query"]):
            try:
                content = repository.git.object("blob", sha)
            except LookupError:
                found[alias] = None
                continue
            binary = b"\0" in content
            text = None if binary else content.decode("utf-8", "replace")[:512_000]
            found[alias] = {"oid": sha, "text": text, "isTruncated": len(content) > 512_000}
        return Reply(200, {"data": {"repository": found}})

    # --- runs --------------------------------------------------------------------------------------------------------

    @route("GET", "{repo}/commits/(?P<ref>[^/]+)/check-runs")
    def check_runs(self, request: Request, login: str, repository: Repository, ref: str) -> Reply:
        sha = self._resolve(repository, ref)
        latest = request.query.get("filter", "latest") == "latest"
        found = []
        for run in repository.runs.values():
            if run.head_sha == sha:
                jobs = {job.name: job for job in run.jobs}.values() if latest else run.jobs
                found += [self.answers.check_run(repository, run, job) for job in jobs]
        return self._paged(request, found, "check_runs")

    @route("GET", "{repo}/commits/(?P<ref>[^/]+)/status")
    def combined_status(self, request: Request, login: str, repository: Repository, ref: str) -> Reply:
        sha = self._resolve(repository, ref)
        newest = {status.context: status for status in repository.statuses.get(sha, ())}
        paged = self._paged(request, list(newest.values()))
        return Reply(200, self.answers.combined_status(repository, sha, paged.body, len(newest)), paged.headers)

    @route("GET", "{repo}/commits/(?P<ref>[^/]+)/statuses")
    def statuses(self, request: Request, login: str, repository: Repository, ref: str) -> Reply:
        sha = self._resolve(repository, ref)
        told = reversed(repository.statuses.get(sha, []))
        return self._paged(request, [self.answers.status(repository, sha, status) for status in told])

    @route("GET", "{repo}/actions/runs")
    def runs(self, request: Request, login: str, repository: Repository) -> Reply:
        return self._listed_runs(request, repository, list(repository.runs.values()))

    @route("GET", "{repo}/actions/workflows/(?P<file>[^/]+)/runs")
    def workflow_runs(self, request: Request, login: str, repository: Repository, file: str) -> Reply:
        own = [run for run in repository.runs.values() if run.path.rpartition("/")[2] == file]
        if not own:
            raise LookupError(file)
        return self._listed_runs(request, repository, own)

    def _listed_runs(self, request: Request, repository: Repository, runs: list[Run]) -> Reply:
        query = request.query
        chosen = [
            run
            for run in sorted(runs, key=lambda run: run.created_at, reverse=True)
            if query.get("branch") in (None, run.head_branch)
            and query.get("head_sha") in (None, run.head_sha)
            and query.get("event") in (None, run.event)
            and query.get("status") in (None, run.status, run.conclusion)
        ]
        return self._paged(request, [self._run_answer(repository, run) for run in chosen[:1000]], "workflow_runs")

    @route("GET", r"{repo}/actions/runs/(?P<number>\d+)")
    def run(self, request: Request, login: str, repository: Repository, number: str) -> Reply:
        return Reply(200, self._run_answer(repository, repository.runs[int(number)]))

    @route("GET", r"{repo}/actions/runs/(?P<number>\d+)/jobs")
    def jobs(self, request: Request, login: str, repository: Repository, number: str) -> Reply:
        run = repository.runs[int(number)]
        latest = request.query.get("filter", "latest") == "latest"
        jobs = [job for job in run.jobs if not latest or job.attempt == run.attempt]
        return self._paged(request, [self.answers.job(repository, run, job) for job in jobs], "jobs")

    @route("GET", r"{repo}/actions/runs/(?P<number>\d+)/artifacts")
    def artifacts(self, request: Request, login: str, repository: Repository, number: str) -> Reply:
        run = repository.runs[int(number)]
        chosen = [one for one in run.artifacts if request.query.get("name") in (None, one.name)]
        return self._paged(request, [self.answers.artifact(repository, run, one) for one in chosen], "artifacts")

    @route("GET", r"{repo}/actions/artifacts/(?P<number>\d+)/zip")
    def artifact(self, request: Request, login: str, repository: Repository, number: str) -> Reply:
        if not login:
            return Reply(401, {"message": "Requires authentication"})
        if self._artifact(int(number)).expired:
            return Reply(410, {"message": "Artifact has expired"})
        return Reply(302, headers={"Location": f"{self.storage}/blob/{number}?sig=very-secret&se=2026"})

    @route("GET", r"{repo}/actions/jobs/(?P<number>\d+)/logs")
    def job_log(self, request: Request, login: str, repository: Repository, number: str) -> Reply:
        if not login:
            return Reply(403, {"message": "Must have admin rights to Repository."})
        if self._job(int(number)).log is None:
            return Reply(410, {"message": "Server Error"})
        return Reply(302, headers={"Location": f"{self.storage}/log/{number}?sig=very-secret&se=2026"})

    def _store_answer(self, request: Request) -> tuple[Reply, Fault | None]:
        time.sleep(self.latency)
        fault = self._fault(request, request.path)
        if fault is not None:
            time.sleep(fault.delay)
            return fault.reply or Reply(500), fault
        if request.headers.get("authorization"):
            return Reply(400, {"message": "A token came to the storage."}), None
        number = int(request.path.rsplit("/", 1)[1])
        if request.path.startswith("/log/"):
            return Reply(200, raw=self._job(number).log), None
        return Reply(200, raw=self._artifact(number).content), None

    # --- looking up --------------------------------------------------------------------------------------------------

    def _artifact(self, number: int) -> Any:
        repositories = self.world.repositories.values()
        runs = (run for repository in repositories for run in repository.runs.values())
        found = next((one for run in runs for one in run.artifacts if one.id == number), None)
        if found is None:
            raise LookupError(number)
        return found

    def _job(self, number: int) -> Job:
        repositories = self.world.repositories.values()
        jobs = (job for repository in repositories for run in repository.runs.values() for job in run.jobs)
        found = next((job for job in jobs if job.id == number), None)
        if found is None:
            raise LookupError(number)
        return found

    def _find_comment(self, repository: Repository, number: int) -> tuple[Pull, Comment]:
        for pull in repository.pulls.values():
            for comment in pull.comments:
                if comment.id == number:
                    return pull, comment
        raise LookupError(number)

    def _resolve(self, repository: Repository, ref: str) -> str:
        return repository.branches.get(ref) or repository.git.full_name(ref)

    def _head(self, repository: Repository, pull: Pull) -> Repository | None:
        name = repository.full_name if pull.head_repo is None else pull.head_repo
        return self.world.repositories.get(name.lower())

    def _commits(self, repository: Repository, pull: Pull) -> list[str]:
        return repository.git.ahead(pull.base_sha, pull.head_sha)

    def _files(self, repository: Repository, pull: Pull) -> list[dict[str, Any]]:
        git = repository.git
        return git.difference(git.merge_base(pull.base_sha, pull.head_sha), pull.head_sha)

    def _run_answer(self, repository: Repository, run: Run) -> dict[str, Any]:
        try:
            commit = repository.git.commit(run.head_sha)
        except LookupError:
            commit = None
        return self.answers.run(repository, run, commit)


# --- sockets ---------------------------------------------------------------------------------------------------------


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._open: set[Any] = set()
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        for request in list(self._open):
            with contextlib.suppress(OSError):
                request.shutdown(2)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader that went away is no fault of the server."""


def _handler(
    fake: FakeGitHub, answer: Callable[[Request], tuple[Reply, Fault | None]], log: list[Seen]
) -> type[BaseHTTPRequestHandler]:
    class OneHandler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def _serve(self) -> None:
            came = time.monotonic()
            parts = urlsplit(self.path)
            length = int(self.headers.get("content-length") or 0)
            content = self.rfile.read(length)
            headers = {name.lower(): value for name, value in self.headers.items()}
            query = {name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
            request = Request(self.command, parts.path, query, headers, json.loads(content) if content else None)
            reply, fault = answer(request)
            now = time.monotonic()
            log.append(Seen(self.command, self.path, headers, content, reply.status, reply.body, came, now))
            if fault is not None and fault.drop:
                self.close_connection = True
                with contextlib.suppress(OSError):
                    self.connection.shutdown(2)
                return
            self._send(reply, fault.drip if fault else 0.0)

        def _send(self, reply: Reply, drip: float) -> None:
            content = reply.content()
            self.send_response(reply.status)
            kind = "application/octet-stream" if reply.raw is not None else "application/json; charset=utf-8"
            for name, value in {"Content-Type": kind, **reply.headers}.items():
                self.send_header(name, value)
            if reply.status != 304:
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            for piece in _pieces(content, drip):
                self.wfile.write(piece)
                self.wfile.flush()
                time.sleep(drip)

        do_GET = do_POST = do_PATCH = _serve

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Nothing is written to the terminal."""

    return OneHandler


def _pieces(content: bytes, drip: float) -> Iterator[bytes]:
    if not drip:
        yield content
        return
    for at in range(len(content)):
        yield content[at : at + 1]
