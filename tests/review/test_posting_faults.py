"""Whatever goes wrong, in whatever order, and whoever dies: nothing stands there twice without the person's word."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reviewer_tui.review.post_concerns import Grade
from reviewer_tui.review.posting import NotSentError
from reviewer_tui.signoff.comment_text import normalised
from reviewer_tui.sources.github.errors import GitHubError
from reviewer_tui.store.posts import JournalError, PostJournal, PostState
from tests.fake_github.plain import TOKEN
from tests.fake_github.server import Fault, Reply
from tests.review.posts import COMMAND, EDITING, LISTING, LOOKING, POSTING, SIGN_OFF, Bench, rules

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with ExitStack() as stack:
        yield Bench(tmp_path_factory.mktemp("faults"), stack)


# --- any sequence of faults -------------------------------------------------------------------------------------------


class Killed(BaseException):
    """The process dies here."""


FAULTS: dict[str, list[dict[str, Any]]] = {
    "none": [],
    "502 after": [{"path": POSTING, "reply": Reply(502), "method": "POST", "afterwards": True}],
    "502 before": [{"path": POSTING, "reply": Reply(502), "method": "POST"}],
    "reset before": [{"path": POSTING, "method": "POST", "drop": True}],
    "reset after": [{"path": POSTING, "method": "POST", "afterwards": True, "drop": True}],
    "refused": [{"path": POSTING, "reply": Reply(403, {"message": "locked"}), "method": "POST"}],
    "502 after, and the list lags": [
        {"path": POSTING, "reply": Reply(502), "method": "POST", "afterwards": True},
        {"path": LOOKING, "reply": Reply(200, []), "times": 2},
    ],
    "502 after, and nothing can be read": [
        {"path": POSTING, "reply": Reply(502), "method": "POST", "afterwards": True},
        {"path": LOOKING, "reply": Reply(404, {}), "times": 2},
    ],
    "the list lags": [{"path": LISTING, "reply": Reply(200, []), "times": None}],
    "not read back": [{"path": EDITING, "reply": Reply(404, {})}],
}
DEATHS = ("", "sending", "no clear answer: looking for the comment", "reading it back")
FOLDERS = itertools.count()

steps = st.lists(
    st.tuples(
        st.sampled_from(list(FAULTS)), st.sampled_from(DEATHS), st.booleans(), st.sampled_from((COMMAND, "Thanks!"))
    ),
    min_size=1,
    max_size=6,
)


@given(steps)
@example([("502 after, and the list lags", "", False, COMMAND), ("the list lags", "", False, COMMAND)])
@example([("502 after, and the list lags", "", False, COMMAND), ("the list lags", "", True, COMMAND)])
@example([("none", "sending", True, COMMAND), ("none", "", False, COMMAND), ("none", "", True, COMMAND)])
@settings(max_examples=40, deadline=None)
def test_nothing_stands_there_twice_unless_the_person_said_so(
    bench: Bench, steps: list[tuple[str, str, bool, str]]
) -> None:
    bench.plain.pull.comments.clear()
    bench.journal = PostJournal(bench.journal.path.parent.parent / str(next(FOLDERS)))
    allowed: Counter[str] = Counter()
    for fault, death, again, text in steps:
        bench.fake.faults[:] = [Fault(**facts) for facts in FAULTS[fault]]

        def progress(stage: str, death: str = death) -> None:
            if stage == death:
                raise Killed

        try:
            preview = bench.preview(text)
            if preview.graded(Grade.AGAIN) and again:
                preview = bench.preview(text, again=True)
                allowed[text] += bool(preview.graded(Grade.AGAIN))
            bench.poster().send(preview, accepted=True, progress=progress)
        except (GitHubError, JournalError, NotSentError, Killed):
            pass
        there = Counter(normalised(comment.body) for comment in bench.own)
        assert all(there[one] <= 1 + allowed[one] for one in there), there
    bench.fake.faults.clear()
    bench.preview("Something new")
    known = {post.comment for post in bench.journal.posted(bench.ref)}
    strange = {comment.id for comment in bench.own} - known
    assert len(strange) <= sum(allowed.values()), "the journal knows every comment but those that were given up"


# --- a process that is killed -----------------------------------------------------------------------------------------

CHILD = """
import sys, time
from pathlib import Path
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.review.post_concerns import PostRequest
from reviewer_tui.review.posting import Poster, Waits
from reviewer_tui.sources.github.auth import Token
from reviewer_tui.sources.github.client import GitHubClient
from reviewer_tui.sources.github.hosts import parse_host
from reviewer_tui.sources.github.posting import CommentBoard
from reviewer_tui.store.posts import PostJournal
from tests.fake_github import plain
from tests.review.posts import judge

host, folder, stage, text = sys.argv[1:]

class Journal(PostJournal):
    def claim(self, uuid, **facts):
        reached("intended")
        super().claim(uuid, **facts)

def reached(name):
    if name == stage:
        print("there", flush=True)
        time.sleep(60)

ref = PullRequestRef(plain.REPOSITORY, plain.NUMBER, host)
with GitHubClient(parse_host(host), Token(plain.TOKEN, "a test")) as client:
    poster = Poster(CommentBoard(client, ref), Journal(Path(folder)), judge, pause=lambda _: reached("looking"))
    preview = poster.preview(PostRequest(ref=ref, text=text))
    poster.send(preview, accepted=True, progress=reached)
"""


def killed(bench: Bench, folder: Path, stage: str, text: str, *, seen_by_server: bool = False) -> None:
    """Post in another process, and kill it at a stage, or as soon as the server has the comment."""
    arguments = [sys.executable, "-c", CHILD, bench.fake.host, str(folder), stage, text]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    child = subprocess.Popen(arguments, stdout=subprocess.PIPE, cwd=ROOT, env=environment)
    assert child.stdout is not None
    with child:
        if seen_by_server:
            for _ in range(600):
                if bench.own or child.poll() is not None:
                    break
                with pytest.raises(subprocess.TimeoutExpired):
                    child.wait(0.05)
        else:
            assert child.stdout.readline() == b"there\n"
        os.kill(child.pid, signal.SIGKILL)


KILLS = [
    # where it dies, faults of the server, the state it leaves, whether the comment is there
    ("intended", "none", PostState.INTENDED, False),
    ("sending", "none", PostState.SENT, False),
    ("server", "none", PostState.SENT, True),
    ("looking", "502 before", PostState.UNKNOWN, False),
    ("looking", "502 after", PostState.UNKNOWN, True),
    ("reading it back", "none", PostState.POSTED, True),
]


@pytest.mark.parametrize("text", [SIGN_OFF, COMMAND], ids=["sign-off", "command"])
@pytest.mark.parametrize(("stage", "fault", "state", "there"), KILLS)
def test_a_kill_at_any_state_loses_and_doubles_nothing(
    bench: Bench, tmp_path: Path, text: str, stage: str, fault: str, state: PostState, there: bool
) -> None:
    bench.plain.pull.comments.clear()
    bench.journal = PostJournal(tmp_path)
    bench.fake.faults[:] = [Fault(**facts) for facts in FAULTS[fault]]
    if stage == "server":
        bench.fake.faults.append(Fault(POSTING, method="POST", afterwards=True, delay=1.0))
    killed(bench, tmp_path, stage, text, seen_by_server=stage == "server")
    assert len(bench.own) == int(there)
    bench.fake.faults.clear()
    unfinished = bench.journal.unfinished()
    assert [post.state for post in unfinished] == ([] if state is PostState.POSTED else [state])
    if unfinished:
        assert normalised(unfinished[0].body) == normalised(text), "what was typed is kept"
        (left,) = bench.poster().leftovers(bench.ref)
        told = {PostState.INTENDED: "never sent"}.get(state, "did arrive" if there else "no clear answer")
        assert told in left.message
    preview = bench.preview(text)
    if there:
        expected = "same-text" if text == SIGN_OFF else "posted-already"
        assert rules(preview.concerns)[0] == expected
        with pytest.raises(NotSentError):
            bench.send(preview, accepted=True)
    elif state is PostState.INTENDED:
        assert bench.send(preview, accepted=True).state == "posted"
    else:
        assert "fate-unknown" in rules(preview.graded(Grade.AGAIN))
        with pytest.raises(NotSentError, match="may still appear"):
            bench.send(preview, accepted=True)
        assert bench.send(bench.preview(text, again=True), accepted=True).state == "posted"
    assert len(bench.own) == 1
    assert TOKEN not in bench.journal.path.read_bytes().decode("latin-1")
