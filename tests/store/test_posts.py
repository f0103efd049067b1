"""The posting journal: one sender, every state on the disk, whatever dies."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.store.posts import JournalError, Post, PostJournal, PostState, digest_of

ROOT = Path(__file__).parents[2]
REF = PullRequestRef("SemiAnalysisAI/InferenceX", 2550)
FIRST, SECOND = "0d1b6a9e-0000-4000-8000-000000000001", "0d1b6a9e-0000-4000-8000-000000000002"


def post(uuid: str = FIRST, body: str = "Hello", **changed: object) -> Post:
    made = Post(uuid=uuid, ref=REF, login="octocat", head="a" * 40, body=body, started_at="2026-08-12T10:00:00Z")
    return msgspec.structs.replace(made, **changed)


@pytest.fixture
def journal(tmp_path: Path) -> PostJournal:
    return PostJournal(tmp_path / "data", now=lambda: "2026-08-12T10:00:01Z")


def state_of(journal: PostJournal, uuid: str = FIRST) -> PostState | None:
    """What the file says of a post, finished ones included."""
    with contextlib.closing(sqlite3.connect(journal.path)) as connection:
        row = connection.execute("SELECT state FROM post WHERE uuid = ?", (uuid,)).fetchone()
    return PostState(row[0]) if row else None


def test_nothing_is_written_by_looking(journal: PostJournal) -> None:
    assert journal.unfinished() == journal.posted(REF) == ()
    assert not journal.path.exists()


def test_a_post_from_start_to_end(journal: PostJournal) -> None:
    text = "Mein Text: 中文\r\n\u202e <!-- x -->"
    journal.intend(post(body=text))
    assert journal.unfinished(REF) == (post(body=text, changed_at="2026-08-12T10:00:01Z"),)
    journal.claim(FIRST)
    assert state_of(journal) is PostState.SENT
    journal.settle(FIRST, PostState.UNKNOWN, reason="GitHub answered 502.")
    assert journal.unfinished(REF)[0].reason == "GitHub answered 502."
    journal.settle(FIRST, PostState.POSTED, comment=7, url="https://example.org/7")
    assert journal.unfinished() == ()
    done = journal.posted(msgspec.structs.replace(REF, repository="semianalysisai/inferencex"))
    assert [(one.comment, one.url, one.body) for one in done] == [(7, "https://example.org/7", text)]
    assert journal.posted(msgspec.structs.replace(REF, number=1)) == ()
    assert journal.path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("path", "refused"),
    [
        ([], PostState.POSTED),
        ([], PostState.UNKNOWN),
        ([PostState.SENT, PostState.POSTED], PostState.UNKNOWN),
        ([PostState.SENT, PostState.POSTED], PostState.ABANDONED),
        ([PostState.ABANDONED], PostState.POSTED),
    ],
)
def test_no_state_is_reached_out_of_turn(journal: PostJournal, path: list[PostState], refused: PostState) -> None:
    journal.intend(post())
    for state in path:
        journal.claim(FIRST) if state is PostState.SENT else journal.settle(FIRST, state)
    before = state_of(journal)
    with pytest.raises(JournalError, match="could become"):
        journal.settle(FIRST, refused)
    assert state_of(journal) is before


def test_a_post_is_sent_once(journal: PostJournal) -> None:
    journal.intend(post())
    journal.claim(FIRST)
    with pytest.raises(JournalError, match="sent meanwhile"):
        journal.claim(FIRST)


@pytest.mark.parametrize("state", [PostState.SENT, PostState.UNKNOWN])
def test_nothing_is_sent_while_another_post_may_be_on_its_way(journal: PostJournal, state: PostState) -> None:
    journal.intend(post())
    journal.claim(FIRST)
    if state is PostState.UNKNOWN:
        journal.settle(FIRST, state)
    journal.intend(post(SECOND, "Something else"))
    with pytest.raises(JournalError, match="may have been"):
        journal.claim(SECOND)
    journal.settle(FIRST, PostState.ABANDONED, reason="given up")
    journal.claim(SECOND)
    assert state_of(journal, SECOND) is PostState.SENT


def test_what_is_sent_in_the_place_of_another_gives_that_up_or_nothing(journal: PostJournal) -> None:
    third = f"{SECOND[:-1]}3"
    for uuid in (FIRST, SECOND):
        journal.intend(post(uuid))
        journal.claim(uuid)
        if uuid == FIRST:
            journal.settle(uuid, PostState.ABANDONED)
    journal.settle(SECOND, PostState.UNKNOWN)
    journal.intend(post(third))
    with pytest.raises(JournalError, match="may have been"):
        journal.claim(third, instead_of=[FIRST])
    assert state_of(journal, SECOND) is PostState.UNKNOWN
    journal.claim(third, instead_of=[SECOND])
    assert [state_of(journal, uuid) for uuid in (SECOND, third)] == [PostState.ABANDONED, PostState.SENT]
    journal.settle(third, PostState.UNKNOWN)
    with pytest.raises(JournalError, match="may have been"):
        journal.claim(SECOND, instead_of=[third])
    assert state_of(journal, third) is PostState.UNKNOWN, "what is not sent gives nothing up"


def test_others_and_other_pull_requests_are_free(journal: PostJournal) -> None:
    journal.intend(post())
    journal.claim(FIRST)
    for number, changed in enumerate((post(login="hubot"), post(ref=PullRequestRef(REF.repository, 1)))):
        uuid = f"{SECOND[:-1]}{number + 3}"
        journal.intend(msgspec.structs.replace(changed, uuid=uuid))
        journal.claim(uuid)


def test_of_many_processes_one_sends(journal: PostJournal) -> None:
    journal.intend(post())

    def attempt(_: int) -> bool:
        try:
            PostJournal(journal.path.parent).claim(FIRST)
        except JournalError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(16))) == 1


CHILD = """
import os, signal, sys, time
from pathlib import Path
from reviewer_tui.store.posts import PostJournal, PostState
from tests.store.test_posts import FIRST, REF, post

journal, step = PostJournal(Path(sys.argv[1])), sys.argv[2]
with journal.alone(REF):
    journal.intend(post())
    if step != "intended":
        journal.claim(FIRST)
    if step in ("unknown", "abandoned"):
        journal.settle(FIRST, PostState(step), reason="why")
    if step == "posted":
        journal.settle(FIRST, PostState.POSTED, comment=7, url="u")
    print("there", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("state", list(PostState))
def test_what_was_written_survives_a_kill(journal: PostJournal, state: PostState) -> None:
    folder = journal.path.parent
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(folder), state.value],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert child.stdout is not None
    with child:
        assert child.stdout.readline() == b"there\n"
        with pytest.raises(JournalError, match="at this moment"), journal.alone(REF):
            pass
        os.kill(child.pid, signal.SIGKILL)
    assert state_of(journal) is state
    with journal.alone(REF):
        pass


def test_a_kill_in_the_middle_of_writing_leaves_the_state_before_or_after(journal: PostJournal) -> None:
    program = (
        "import sys; from pathlib import Path; from reviewer_tui.store.posts import PostJournal, PostState\n"
        "from tests.store.test_posts import FIRST, post\n"
        "journal = PostJournal(Path(sys.argv[1])); journal.intend(post()); journal.claim(FIRST)\n"
        "print('go', flush=True)\n"
        "while True: journal.settle(FIRST, PostState.UNKNOWN, reason='x' * 50_000)\n"
    )
    for delay in (0.0, 0.003, 0.011, 0.02):
        folder = journal.path.parent / str(delay)
        child = subprocess.Popen(
            [sys.executable, "-c", program, str(folder)],
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert child.stdout is not None
        with child:
            child.stdout.readline()
            time.sleep(delay)
            os.kill(child.pid, signal.SIGKILL)
        left = PostJournal(folder)
        assert state_of(left) in (PostState.SENT, PostState.UNKNOWN)
        left.settle(FIRST, PostState.POSTED, comment=1)


def test_a_journal_that_cannot_be_used_is_a_sentence(tmp_path: Path) -> None:
    journal = PostJournal(tmp_path)
    journal.path.write_bytes(b"no database " * 100)
    with pytest.raises(JournalError, match="Nothing is posted without it"):
        journal.intend(post())
    with pytest.raises(JournalError, match="cannot be used"):
        journal.unfinished()
    (tmp_path / "file").write_text("x")
    with pytest.raises(JournalError, match="cannot be used"):
        PostJournal(tmp_path / "file").intend(post())


def test_a_newer_programs_journal_is_left_alone(journal: PostJournal) -> None:
    import sqlite3

    journal.intend(post())
    with sqlite3.connect(journal.path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(JournalError, match="newer reviewer-tui"):
        journal.claim(FIRST)


def test_equal_comments_share_their_digest() -> None:
    assert digest_of("a  \r\nb\r\n") == digest_of("a\nb")
    assert digest_of("a b") != digest_of("a\nb")
