"""Somebody who posts: a fake GitHub, a journal on the disk, and posters with short waits."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from reviewer_tui.model.finding import Verdict
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.review.post_concerns import Concern, Judgement, PostRequest
from reviewer_tui.review.posting import Poster, PostOutcome, PostPreview, Waits
from reviewer_tui.signoff.lint import lint
from reviewer_tui.sources.github.auth import Token
from reviewer_tui.sources.github.client import GitHubClient
from reviewer_tui.sources.github.hosts import parse_host
from reviewer_tui.sources.github.limits import Pace
from reviewer_tui.sources.github.posting import CommentBoard
from reviewer_tui.sources.github.transport import Timeouts
from reviewer_tui.store.posts import PostJournal
from tests.fake_github import plain as plain_world
from tests.fake_github.plain import Plain
from tests.fake_github.server import FakeGitHub, Fault, Reply
from tests.fake_github.world import Comment
from tests.signoff.texts import newest, signed

LOGIN = "reader"
POSTING = r"/issues/7/comments$"
LISTING = r"/issues/7/comments\?"
LOOKING = r"/issues/7/comments\?.*since="
EDITING = r"/issues/comments/\d+$"
SIGN_OFF = signed(login=LOGIN)
COMMAND = "/reuse-sweep-run 1001"


def judge(text: str, login: str) -> Judgement:
    """What the newest bundled template says of a text."""
    return Judgement(lint=lint(text, newest(), author=login), verdict=Verdict.PASS)


class Bench:
    """The pull request of `Plain` on a fake GitHub, and a data folder."""

    def __init__(self, folder: Path, stack: ExitStack, *, commits: int = 1) -> None:
        self.plain = Plain(folder, commits=commits)
        self.fake = stack.enter_context(FakeGitHub(self.plain.world))
        self.journal = PostJournal(folder / "data")
        self.pauses: list[float] = []
        self.progress: list[str] = []
        self._stack = stack

    @property
    def ref(self) -> PullRequestRef:
        return PullRequestRef(plain_world.REPOSITORY, plain_world.NUMBER, self.fake.host)

    def client(self, token: str = plain_world.TOKEN) -> GitHubClient:
        """A new one each time: a client keeps a second between two writes."""
        return self._stack.enter_context(
            GitHubClient(
                parse_host(self.fake.host),
                Token(token, "a test"),
                pace=Pace(patience=0.1, pause_unit=0.002),
                timeouts=Timeouts(connect=2, read=0.3, write=2, whole=2),
            )
        )

    def poster(self, token: str = plain_world.TOKEN, **facts: Any) -> Poster:
        given: dict[str, Any] = {"waits": Waits((0.0, 0.0), 15.0), "pause": self.pauses.append, **facts}
        return Poster(CommentBoard(self.client(token), self.ref), self.journal, judge, **given)

    def request(self, text: str = SIGN_OFF, **facts: Any) -> PostRequest:
        return PostRequest(ref=self.ref, text=text, **facts)

    def preview(self, text: str = SIGN_OFF, **facts: Any) -> PostPreview:
        return self.poster().preview(self.request(text, **facts))

    def send(self, preview: PostPreview, *, accepted: bool = False, **facts: Any) -> PostOutcome:
        return self.poster().send(preview, accepted=accepted, progress=self.progress.append, **facts)

    def post(self, text: str = SIGN_OFF, **facts: Any) -> PostOutcome:
        return self.send(self.preview(text, **facts))

    def fail(self, path: str = POSTING, status: int = 500, message: str = "", **facts: Any) -> None:
        facts.setdefault("method", "POST")
        self.fake.faults.append(Fault(path, Reply(status, {"message": message}), **facts))

    @property
    def own(self) -> list[Comment]:
        """What the poster's account has said."""
        return [c for c in self.plain.pull.comments if c.user is not None and c.user.login == LOGIN]

    def writes(self) -> int:
        """How many requests to write have reached GitHub."""
        return sum(seen.method != "GET" for seen in self.fake.seen)


def rules(concerns: tuple[Concern, ...]) -> list[str]:
    return [concern.rule for concern in concerns]
