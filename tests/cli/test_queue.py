"""`queue`, and `reviewer-tui` alone: GitHub on real sockets, then the cache with the server gone, then a clone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reviewer_tui.cli.main import main
from tests.checks.swept import GREEN, after
from tests.cli.conftest import Ran, Run
from tests.evidence import AMD, AMD_MASTER, NVIDIA_MASTER, summer
from tests.fake_github.server import FakeGitHub, Fault, Reply
from tests.fake_github.world import Comment, Job, Pull, World
from tests.fake_github.world import Run as Sweep
from tests.gitrepo import GitRepo

REPOSITORY = "acme/bench"
TOKEN = "ghp_" + "queue" * 8
SIGN_OFF = (
    "As a PR reviewer and CODEOWNER, I have reviewed this and have:\n- [x] Verified all.\n\nSigned: `ankur-singh`"
)
REJECTED = """\
<!-- codeowner-signoff-verify sha={head} -->
## ❌❌❌ **REJECTED** ❌❌❌

@ankur-singh look at the image.

❌ Check 6 (image): FAIL — Not upstream.
"""
COMMITTED = 1_786_352_400  # 2026-08-10 09:00 UTC
DAY = 86_400


class Bench:
    """A repository with a pull request for everything that one can wait for."""

    def __init__(self, folder: Path) -> None:
        self.world = World()
        self.world.token(TOKEN, "ankur-singh")
        self.git = GitRepo(folder / "bench.git")
        self.base = self.git.commit(dict(summer()), on="main", time=COMMITTED - DAY)
        self.repository = self.world.repository(REPOSITORY, self.git.git_dir, branches={"main": self.base})
        self.swept(self.pull(7, after()))
        self.swept(self.pull(8, after()), running=4)
        self.swept(self.pull(9, after(NVIDIA_MASTER.replace("lmsysorg/sglang", "rocm/sgl-dev") + "# a fork\n")))
        self.pull(10, {"README.md": "words\n"})
        self.pull(11, after(), draft=True)
        self.signed(self.swept(self.pull(12, after())))
        rejected = self.signed(self.swept(self.pull(13, after())))
        self.say(rejected, "github-actions[bot]", REJECTED.format(head=rejected.head_sha), hour=20)
        self.pull(14, {AMD: AMD_MASTER.replace("conc-end: 64", "conc-end: 32")})
        moved = self.signed(self.swept(self.pull(15, after())))
        moved.head_sha = self.commit({"docs/more.md": "more\n"}, [moved.head_sha], COMMITTED + 2 * DAY)

    def commit(self, files: Any, parents: list[str], time: int = COMMITTED) -> str:
        return self.git.commit(files, parents=parents, time=time)

    def pull(self, number: int, files: Any, **facts: Any) -> Pull:
        head = self.commit({**files, "docs/number.md": f"{number}\n"}, [self.base])
        made = Pull(
            number=number,
            title=f"Change number {number}",
            user=self.world.user("author"),
            base_ref="main",
            base_sha=self.base,
            head_ref=f"branch-{number}",
            head_sha=head,
            labels=["full-sweep-enabled"],
            updated_at=f"2026-08-12T08:{number:02}:00Z",
            **facts,
        )
        self.repository.pulls[number] = made
        return made

    def swept(self, pull: Pull, *, running: int = 0) -> Pull:
        """A sweep of the head, with so many jobs still running."""
        names = list(GREEN)
        jobs = [Job(self.world.next_id(), name) for name in names[running:]]
        jobs += [Job(self.world.next_id(), name, None, "in_progress") for name in names[:running]]
        run_id = 1000 + pull.number
        self.repository.runs[run_id] = Sweep(
            id=run_id,
            path=".github/workflows/run-sweep.yml",
            head_sha=pull.head_sha,
            head_branch=pull.head_ref,
            status="in_progress" if running else "completed",
            conclusion=None if running else "success",
            created_at="2026-08-10T10:00:00Z",
            jobs=jobs,
        )
        return pull

    def signed(self, pull: Pull) -> Pull:
        return self.say(pull, "ankur-singh", SIGN_OFF, hour=12)

    def say(self, pull: Pull, login: str, body: str, *, hour: int) -> Pull:
        when = f"2026-08-11T{hour:02}:00:00Z"
        user = self.world.user(login, type="Bot" if login.endswith("[bot]") else "User")
        pull.comments.append(Comment(self.world.next_id(), user, body, when, when, "CONTRIBUTOR"))
        return pull


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture
def fake(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGitHub]:
    monkeypatch.setenv("GH_ENTERPRISE_TOKEN", TOKEN)
    with FakeGitHub(bench.world) as server:
        yield server


def asked(fake: FakeGitHub, *more: str) -> tuple[str, ...]:
    return ("queue", "--host", fake.host, "--repo", REPOSITORY, "--date", "2026-08-12", *more)


def waits(ran: Ran) -> dict[int, tuple[str, str]]:
    return {row["number"]: (row["waits"], row["waits_for"]) for row in ran.json["rows"]}


def lines(ran: Ran) -> dict[int, str]:
    return {int(line.split()[0]): line for line in ran.out.splitlines() if line[:1].isdigit()}


def test_the_queue_online_and_then_offline_with_the_server_gone(run: Run, fake: FakeGitHub) -> None:
    ran = run(*asked(fake, "--json"))
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["signer"] == "ankur-singh"
    assert waits(ran) == {
        7: ("ready", "you"),
        8: ("running", "sweep"),
        13: ("blocked", "author: image"),
        11: ("blocked", "author: draft"),
        9: ("blocked", "author: image"),
        12: ("pending", "verdict"),
        15: ("moved", "you: head moved"),
        14: ("others", "@chunfangamd +1"),
        10: ("others", "nobody by name"),
    }
    assert list(waits(ran)) == [7, 8, 13, 11, 9, 12, 15, 14, 10]
    rows = {row["number"]: row for row in ran.json["rows"]}
    assert rows[8]["lanes"] == {"done": 9, "total": 13}
    assert rows[10]["lanes"] == {"done": 0, "total": 0}
    assert rows[7]["labels"] == ["full-sweep-enabled"]
    assert rows[7]["keys"] == ["qwen3.5-fp4-b200-sglang-mtp"]
    assert rows[13]["verdict"] == "REJECTED"
    assert rows[14]["owners"] == ["@chunfangamd", "@1am9trash"]
    fake.stop()
    gone = run(*asked(fake, "--json", "--offline"))
    assert gone.code == 0
    assert gone.json["source"] == "cache"
    assert gone.json["signer"] == "ankur-singh", "who loaded them"
    assert waits(gone) == waits(ran)
    assert [row["lanes"] for row in gone.json["rows"]] == [row["lanes"] for row in ran.json["rows"]]


def test_as_text_what_waits_for_me_comes_first(run: Run, fake: FakeGitHub, bench: Bench) -> None:
    bench.repository.pulls = {number: bench.repository.pulls[number] for number in (7, 8, 10)}
    bench.repository.pulls[7].title = "Evil \x1b[31m\u202etitle\nover two lines"
    ran = run(*asked(fake))
    assert ran.code == 0
    assert ran.out.splitlines()[0] == (
        "Queue of acme/bench for ankur-singh: 3 pull requests, 1 ready to sign  (github)"
    )
    assert list(lines(ran)) == [7, 8, 10]
    assert "13/13  4/4" in lines(ran)[7]
    assert " 9/13  " in lines(ran)[8]
    assert "\x1b" not in ran.out
    assert "<U+001B>" in lines(ran)[7]
    assert all(len(line) <= 100 for line in ran.out.splitlines())


def test_without_a_pull_request_and_without_a_terminal_the_queue_is_printed(run: Run, fake: FakeGitHub) -> None:
    ran = run("--host", fake.host, "--repo", REPOSITORY, "--limit", "0")
    assert ran.code == 0
    assert set(lines(ran)) == {7, 8, 9, 10, 11, 12, 13, 14, 15}
    assert "Only 0 of 9 open pull requests are looked into; --limit N asks for more." in ran.err
    assert "  -      -      -       -        not loaded" in lines(ran)[7]


def test_a_limit_looks_into_mine_that_changed_last(run: Run, fake: FakeGitHub) -> None:
    ran = run(*asked(fake, "--limit", "1", "--json"))
    known = [row["number"] for row in ran.json["rows"] if row["taken_at"]]
    assert known == [15]
    unknown = next(row for row in ran.json["rows"] if row["number"] == 7)
    assert (unknown["waits"], unknown["lanes"], unknown["verdict"], unknown["keys"]) == ("unknown", None, None, None)


def test_what_is_known_and_unchanged_is_not_loaded_again(run: Run, fake: FakeGitHub, bench: Bench) -> None:
    bench.repository.pulls = {number: bench.repository.pulls[number] for number in (7, 8)}
    first = run(*asked(fake, "--json"))
    fake.forget()
    bench.signed(bench.repository.pulls[7])
    bench.repository.pulls[7].updated_at = "2026-08-12T09:00:00Z"
    second = run(*asked(fake, "--json"))
    assert (waits(first)[7][0], waits(second)[7][0]) == ("ready", "pending")
    assert waits(second)[8] == waits(first)[8]
    assert [seen.path for seen in fake.seen if seen.path.endswith("/pulls/8")] == []


def test_a_moved_head_is_looked_into_again(run: Run, fake: FakeGitHub, bench: Bench) -> None:
    bench.repository.pulls = {7: bench.repository.pulls[7]}
    run(*asked(fake))
    pull = bench.repository.pulls[7]
    pull.head_sha = bench.commit({"docs/more.md": "more\n"}, [pull.head_sha], COMMITTED + DAY)
    (row,) = run(*asked(fake, "--json", "--limit", "0")).json["rows"]
    assert (row["head"], row["waits_for"], row["lanes"]) == (pull.head_sha, "not loaded", None)
    (row,) = run(*asked(fake, "--json")).json["rows"]
    assert (row["head"], row["lanes"]) == (pull.head_sha, {"done": 13, "total": 13})


def test_one_that_cannot_be_loaded_does_not_take_the_others_along(run: Run, fake: FakeGitHub, bench: Bench) -> None:
    bench.repository.pulls = {number: bench.repository.pulls[number] for number in (7, 8)}
    fake.faults.append(Fault(r"/pulls/8$", Reply(404, {"message": "Not Found"}), times=None))
    ran = run(*asked(fake, "--json"))
    assert ran.code == 0
    assert waits(ran)[7] == ("ready", "you")
    assert waits(ran)[8] == ("unknown", "not loaded")
    assert any("#8" in note for note in ran.json["notes"])


def test_a_limit_of_the_host_ends_the_looking_and_keeps_what_is_known(
    run: Run, fake: FakeGitHub, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The budget is used up for the hour: nobody waits for that, and nothing more is asked."""
    limited = Reply(
        403, {"message": "API rate limit exceeded"}, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "4102444800"}
    )
    fake.faults.append(Fault(r"/pulls/14$", limited, times=None))
    fake.faults.append(Fault(r"/pulls/13$", limited, times=None))
    ran = run(*asked(fake, "--json"))
    assert ran.code == 0
    known = [row["number"] for row in ran.json["rows"] if row["taken_at"]]
    assert known == [15]
    assert ran.json["notes"][-1] == "Ended after 1 of 9."


def test_without_a_token_the_queue_is_everybodys(
    run: Run, fake: FakeGitHub, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GH_ENTERPRISE_TOKEN")
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    ran = run(*asked(fake, "--limit", "0", "--json"))
    assert (ran.code, ran.json["signer"]) == (0, None)
    named = run(*asked(fake, "--limit", "0", "--json", "--signer", "@chunfangamd"))
    assert named.json["signer"] == "chunfangamd"
    assert waits(named)[14] == ("unknown", "not loaded")
    assert waits(named)[7][0] == "others"


def test_a_host_that_is_not_there_is_said(run: Run, fake: FakeGitHub) -> None:
    fake.stop()
    ran = run(*asked(fake))
    assert (ran.code, ran.out) == (4, "")
    assert "--offline works with what the cache holds" in ran.err


def test_offline_closed_pull_requests_are_left_out_and_damage_is_told(run: Run, fake: FakeGitHub, bench: Bench) -> None:
    bench.repository.pulls = {number: bench.repository.pulls[number] for number in (7, 8)}
    run(*asked(fake))
    bench.repository.pulls[8].state = "closed"
    assert run("fetch", "8", "--host", fake.host, "--repo", REPOSITORY).code == 0
    ran = run(*asked(fake, "--offline", "--json"))
    assert list(waits(ran)) == [7]
    assert list(waits(run(*asked(fake, "--offline", "--json", "--limit", "0")))) == [8, 7]
    assert run("queue", "--offline", "--host", fake.host, "--repo", "acme/other", "--json").json["rows"] == []


def test_a_clone_lists_the_newest_and_claims_nothing_else(run: Run, at: tuple[str, ...]) -> None:
    ran = run("queue", *at, "--json")
    assert ran.code == 0
    assert ran.json["source"] == "clone"
    assert "A clone does not tell which pull requests are open" in ran.json["notes"][0]
    rows = {row["number"]: row for row in ran.json["rows"]}
    assert (rows[8]["waits"], rows[8]["predicted"], rows[8]["waits_for"]) == ("blocked", "REJECTED", "author: image")
    assert (rows[7]["waits"], rows[7]["predicted"], rows[7]["lanes"]) == ("unknown", "UNDECIDED", None)
    assert rows[7]["keys"] == ["qwen3.5-fp4-b200-sglang-mtp"]
    assert (rows[10]["waits_for"], rows[10]["title"]) == ("nobody by name", "commit: Say more")
    assert {row["verdict"] for row in rows.values()} == {row["labels"] for row in rows.values()} == {None}
    few = run("queue", *at, "--limit", "2")
    assert list(lines(few)) == [9, 10]
    assert "Only 2 of 4 pull requests, the newest are looked into" in few.err


def test_what_makes_no_sense_is_said(run: Run, at: tuple[str, ...]) -> None:
    assert run("queue", *at, "--limit", "-1").code == 2
    assert run("queue", "7").code == 2
    ran = run(*at, "--head", "abcdef")
    assert ran.code == 2
    assert "one pull request" in ran.err


def test_the_queue_is_among_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "queue " in capsys.readouterr().out
