"""A client, a cache and a fake GitHub that belong together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.sources.github.auth import Token
from reviewer_tui.sources.github.client import GitHubClient
from reviewer_tui.sources.github.hosts import parse_host
from reviewer_tui.sources.github.limits import Pace, Wait
from reviewer_tui.sources.github.loader import GitHubSource, Watch
from reviewer_tui.sources.github.stages import Progress
from reviewer_tui.sources.github.transport import Timeouts
from reviewer_tui.sources.source import Loaded
from reviewer_tui.store.cache import Cache
from tests.fake_github import plain as plain_world
from tests.fake_github.plain import Plain
from tests.fake_github.server import FakeGitHub, Fault, Reply


class Rig:
    """Everything that a test of the network needs; clients wait a hundredth of what real ones wait."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self.waits: list[Wait] = []
        self.progress: list[Progress] = []
        self.partials: list[Loaded] = []
        self._stack = stack
        self._plain: Plain | None = None
        self._fake: FakeGitHub | None = None
        self._client: GitHubClient | None = None
        self.cache = stack.enter_context(Cache(folder / "cache.sqlite"))

    def build(self, **size: Any) -> Plain:
        """Choose the size and the files of the world; before anything else."""
        self._plain = Plain(self.folder, **size)
        return self._plain

    @property
    def plain(self) -> Plain:
        return self._plain or self.build()

    @property
    def fake(self) -> FakeGitHub:
        if self._fake is None:
            self._fake = self._stack.enter_context(FakeGitHub(self.plain.world))
        return self._fake

    @property
    def client(self) -> GitHubClient:
        if self._client is None:
            self._client = self.new_client()
        return self._client

    @property
    def source(self) -> GitHubSource:
        return GitHubSource(self.client, self.cache, plain_world.REPOSITORY, watch=Watch(self.progress.append))

    @property
    def ref(self) -> PullRequestRef:
        return PullRequestRef(plain_world.REPOSITORY, plain_world.NUMBER, self.fake.host)

    def new_client(self, token: str | None = plain_world.TOKEN, **facts: Any) -> GitHubClient:
        given = {"answers": self.cache, "pace": Pace(self.waits.append, patience=3.0, pause_unit=0.01), **facts}
        given.setdefault("timeouts", Timeouts(connect=2, read=2, write=2, whole=4))
        host = parse_host(self.fake.host)
        return self._stack.enter_context(GitHubClient(host, Token(token, "a test") if token else None, **given))

    def load(self, **facts: Any) -> Loaded:
        """The pull request, with everything noted that is told on the way."""
        return self.source.load(self.ref, watch=Watch(self.progress.append, self.partials.append), **facts)

    def fail(self, path: str, status: int = 500, message: str = "", times: int | None = 1, **facts: Any) -> Fault:
        """Let requests to a path fail."""
        headers = facts.pop("headers", {})
        fault = Fault(path, Reply(status, {"message": message}, headers), times=times, **facts)
        self.fake.faults.append(fault)
        return fault

    def paths(self, part: str = "") -> list[str]:
        """The addresses asked for since the last `forget` that hold a text."""
        return [seen.path for seen in self.fake.requests() if part in seen.path]


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with ExitStack() as stack:
        yield Rig(tmp_path, stack)
