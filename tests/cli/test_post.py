"""`post`: GitHub on real sockets, a real terminal to confirm at, the journal on the disk."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewer_tui.signoff.comment_text import unmarked
from reviewer_tui.store.posts import PostJournal, PostState
from tests.cli.conftest import Ran, Run
from tests.fake_github.server import FakeGitHub, Fault, Reply
from tests.fake_github.story_2550 import NUMBER, REPOSITORY, TOKEN, Story
from tests.fake_github.world import Comment

ROOT = Path(__file__).parents[2]
COMMAND = "/reuse-sweep-run 31432304739"
POSTING = rf"/issues/{NUMBER}/comments$"
LOOKING = rf"/issues/{NUMBER}/comments\?.*since="


class Play:
    """The story of #2550, and somebody who posts there by command line."""

    def __init__(self, folder: Path, fake: FakeGitHub, story: Story, run: Run) -> None:
        self.folder, self.fake, self.story, self._run = folder, fake, story, run

    def __call__(self, *arguments: str) -> Ran:
        return self._run(*arguments, "--host", self.fake.host)

    def file(self, text: str) -> str:
        path = self.folder / "text.md"
        path.write_text(text, encoding="utf-8")
        return str(path)

    def post(self, text: str, *arguments: str) -> Ran:
        return self("post", str(NUMBER), self.file(text), *arguments)

    def sign_off(self) -> str:
        ticks = [part for n in range(1, 14) if n != 6 for part in ("--tick", str(n))]
        notes = ("--tick", "11a", "--note", "golden_al=not agentic, no AL applies")
        done = self("signoff", str(NUMBER), *ticks, *notes)
        assert done.code == 0, done.err
        return done.out

    @property
    def own(self) -> list[Comment]:
        return [c for c in self.story.pull.comments if c.user is not None and c.user.login == "ankur-singh"]

    @property
    def journal(self) -> PostJournal:
        return PostJournal(self.folder / "data" / "reviewer-tui")

    def writes(self) -> int:
        return sum(seen.method != "GET" and "/comments" in seen.path for seen in self.fake.seen)


@pytest.fixture
def play(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Iterator[Play]:
    monkeypatch.setenv("GH_ENTERPRISE_TOKEN", TOKEN)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    story = Story(tmp_path)
    with FakeGitHub(story.world) as fake:
        yield Play(tmp_path, fake, story, run)


def test_without_a_terminal_the_preview_is_shown_and_nothing_posted(play: Play) -> None:
    done = play.post(COMMAND)
    assert done.code == 2
    assert done.out == ""
    assert "no terminal to confirm at. Add --yes" in done.err
    for told in (COMMAND, "ankur-singh", f"{REPOSITORY} #{NUMBER}", "a new comment with a reuse command"):
        assert told in done.err
    assert play.writes() == 0


def test_with_yes_it_is_posted_once_and_its_address_printed(play: Play) -> None:
    done = play.post(COMMAND, "--yes")
    assert done.code == 0
    assert play.own[-1].body == COMMAND
    assert done.out == f"http://{play.fake.host}/{REPOSITORY}/pull/{NUMBER}#issuecomment-{play.own[-1].id}\n"
    assert "It is posted" in done.err
    count = len(play.own)
    again = play.post(COMMAND, "--yes")
    assert (again.code, again.out) == (0, done.out)
    assert "there already" in again.err
    assert len(play.own) == count
    assert play.post(COMMAND, "--yes", "--resend").code == 0
    assert len(play.own) == count + 1


def test_a_command_for_a_run_that_is_not_there_needs_force_and_leaves_the_check_unverified(play: Play) -> None:
    refused = play.post("/reuse-sweep-run 404", "--yes")
    assert refused.code == 1
    assert f"J {REPOSITORY} has no run 404" in refused.err
    assert "Add --force" in refused.err
    assert play.writes() == 0
    assert play.post("/reuse-sweep-run 404", "--yes", "--force").code == 0
    play.own[-1].association = "MEMBER"
    checked = play("check", str(NUMBER), "--json").json
    reuse = next(check for check in checked["checks"] if check["name"] == "reuse")
    assert reuse["status"] == "unverified"
    assert "Run 404 is not among the known runs." in reuse["summary"]


def test_an_own_sign_off_is_edited_and_shown_in_the_conversation(play: Play) -> None:
    text = play.sign_off()
    (mine,) = play.own
    refused = play.post(text, "--yes")
    assert refused.code == 1
    assert "reject this: recipe" in refused.err
    assert "Add --force" in refused.err
    assert play.writes() == 0
    done = play.post(text, "--yes", "--force")
    assert done.code == 0, done.err
    assert play.own == [mine]
    assert unmarked(mine.body) == text.rstrip()
    assert "edits your comment of 2026-08-11" in done.err
    assert "What stands there now: 0 faults" in done.err
    shown = play("show", str(NUMBER), "conversation")
    assert "not agentic, no AL applies" in shown.out
    linted = play("lint", str(NUMBER), play.file(mine.body))
    assert linted.code == 0


def test_a_comment_is_judged_by_its_address(play: Play) -> None:
    (mine,) = play.own
    url = f"http://{play.fake.host}/{REPOSITORY}/pull/{NUMBER}#issuecomment-{mine.id}"
    by_file = play("lint", str(NUMBER), play.file(mine.body), "--signer", "ankur-singh")
    by_url = play("lint", str(NUMBER), url)
    assert by_url.out == by_file.out
    assert by_url.code == by_file.code
    play.post("Thank you!", "--yes")
    thanks = f"{url.rpartition('-')[0]}-{play.own[-1].id}"
    assert "The sentence that starts the verifier is missing" in play("lint", str(NUMBER), thanks).out
    checked = play("check", str(NUMBER), "--sign-off", thanks, "--json").json
    template = next(check for check in checked["checks"] if check["name"] == "template")
    assert template["status"] == "fail"
    assert checked["signer"] == "ankur-singh"
    assert play("lint", str(NUMBER), url, "--offline").out == by_url.out, "from the cache"


@pytest.mark.parametrize(
    ("anchor", "code", "words"),
    [
        ("pull/{number}#issuecomment-999", 4, "has no comment issuecomment-999"),
        ("pull/{number}", 2, "is no comment of #2550"),
        ("pull/1#issuecomment-999", 2, "is no comment of #2550"),
    ],
)
def test_an_address_of_no_comment_is_a_sentence(play: Play, anchor: str, code: int, words: str) -> None:
    done = play("lint", str(NUMBER), f"http://{play.fake.host}/{REPOSITORY}/{anchor.format(number=NUMBER)}")
    assert done.code == code
    assert words in done.err


@pytest.mark.parametrize("command", ["lint", "post"])
def test_a_text_is_named_once(play: Play, command: str) -> None:
    done = play(command, str(NUMBER), play.file("x"), "--sign-off", play.file("x"))
    assert done.code == 2
    assert "--sign-off" in done.err


def test_the_preview_says_what_is_so_here(play: Play) -> None:
    new = play.post("Thank you!", "--yes")
    assert "gets a mail at once" in new.err
    url = new.out.strip()
    edited = play.post("Thanks!", "--yes", "--edit", url)
    assert "a mail at once" not in edited.err
    assert "An edit sends no mail" in edited.err
    for refused in (play.post("Thanks!", "--yes", "--edit", url), play.post("", "--yes")):
        assert " mail" not in refused.err
    absent = play.post("Thanks!", "--yes", "--edit", "999")
    assert absent.code == 1
    assert "what    nothing: there is no comment 999 that could be edited" in absent.err
    assert "a new comment" not in absent.err
    again = play.post("Thank you!", "--yes")
    assert play.post("Thank you!", "--yes").out == again.out
    assert " mail" not in play.post("Thank you!", "--yes").err
    assert "gets a mail" in play.post("Thank you!", "--yes", "--resend").err
    signed = play.post(play.sign_off(), "--yes")
    assert "the one the text is judged by" in signed.err
    assert "you reviewed" not in signed.err


def test_what_is_asked_stands_in_the_order_of_the_lines(play: Play) -> None:
    text = play.sign_off().replace("- [x]", "- [ ]")
    told = [line for line in play.post(text, "--yes").err.splitlines() if line.startswith(("J Lint: Item", "W "))]
    lines = [int(found[1]) for line in told if (found := re.search(r"\(line (\d+)\)", line)) and line[0] == "J"]
    assert len(lines) > 3
    assert lines == sorted(lines)
    assert [line[0] for line in told] == sorted((line[0] for line in told), reverse=True), "what is asked stands last"


def test_json_says_what_was_posted_or_why_not(play: Play) -> None:
    first = play.post(COMMAND, "--json")
    assert first.code == 2
    assert first.json["state"] == "previewed"
    assert first.json["body"] == COMMAND
    assert first.json["concerns"][0] == {
        "rule": "command",
        "grade": "note",
        "message": "The text tells the merge to reuse run 31432304739.",
        "url": None,
    }
    done = play.post(COMMAND, "--json", "--yes").json
    assert (done["schema"], done["state"], done["login"], done["kind"]) == (1, "posted", "ankur-singh", "command")
    assert done["url"].endswith(f"#issuecomment-{play.own[-1].id}")
    assert play.post(COMMAND, "--json", "--yes").json["state"] == "already"
    assert play.post("", "--json", "--yes").json["state"] == "refused"


def test_a_comment_of_ones_own_is_edited_by_its_address(play: Play) -> None:
    url = play.post("Thank you!", "--yes").out.strip()
    assert play.post("Thank you very much!", "--yes", "--edit", url).code == 0
    assert play.own[-1].body == "Thank you very much!"
    assert play.post("Thanks!", "--yes", "--edit", str(play.own[-1].id)).code == 0
    assert play.own[-1].body == "Thanks!"
    foreign = play.story.pull.comments[0]
    refused = play.post("Mine now", "--yes", "--edit", f"issuecomment-{foreign.id}")
    assert refused.code == 1
    assert "is by a-collaborator" in refused.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--offline",), "Leave --offline out"),
        (("--clone", "/nowhere"), "Leave --clone out"),
        (("--edit", "https://github.com/o/r/pull/1#issuecomment-1"), "no comment in the conversation"),
        (("--edit", "²"), "names no pull request"),
        (("--edit", "3", "--new"), "not allowed with"),
    ],
)
def test_what_makes_no_sense_is_a_sentence(play: Play, arguments: tuple[str, ...], words: str) -> None:
    done = play.post(COMMAND, *arguments)
    assert done.code == 2
    assert words in done.err


def test_a_clone_that_the_environment_names_is_passed_over(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVIEWER_TUI_CLONE", "/nowhere")
    assert play.post(COMMAND, "--yes").code == 0


def test_what_cannot_be_loaded_or_is_refused_is_no_data(play: Play) -> None:
    assert play("post", "999", play.file(COMMAND), "--yes").code == 4
    assert play("post", str(NUMBER), "/nowhere/at/all", "--yes").code == 4
    play.fake.faults.append(Fault(POSTING, Reply(403, {"message": "User is blocked"}), method="POST"))
    refused = play.post(COMMAND, "--yes")
    assert refused.code == 4
    assert "is blocked there" in refused.err
    assert "Traceback" not in refused.err


def test_an_unclear_answer_is_undecided_and_looked_for_by_the_next_call(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    play.fake.faults.append(Fault(POSTING, Reply(502), method="POST", afterwards=True))
    play.fake.faults.append(Fault(LOOKING, Reply(200, []), times=2))
    done = play.post(COMMAND, "--yes")
    assert done.code == 3
    assert "no clear answer" in done.err
    assert "only with --resend" in done.err
    (left,) = play.journal.unfinished()
    assert left.state is PostState.UNKNOWN
    again = play.post(COMMAND, "--yes")
    assert again.code == 0
    assert "did arrive" in again.err
    assert again.out.strip().endswith(str(play.own[-1].id))
    assert play.writes() == 1


def test_a_fate_that_stays_unknown_needs_a_word(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    count = len(play.own)
    play.fake.faults.append(Fault(POSTING, Reply(502), method="POST"))
    assert play.post(COMMAND, "--yes").code == 3
    refused = play.post(COMMAND, "--yes", "--force")
    assert refused.code == 3
    assert "Add --resend" in refused.err
    assert len(play.own) == count
    assert play.post(COMMAND, "--yes", "--resend").code == 0
    assert len(play.own) == count + 1


def test_a_post_left_elsewhere_is_mentioned(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    play.story.repository.pulls[1] = play.story.pull
    play.fake.faults.append(Fault(r"/issues/1/comments$", Reply(502), method="POST"))
    assert play("post", "1", play.file("Hello"), "--yes").code == 3
    assert "A post to #1" in play.post(COMMAND, "--yes").err


def test_what_does_not_show_by_itself_shows_in_the_preview(play: Play) -> None:
    err = play.post("a\u202eb\u2028c\x1bd<!-- hidden -->").err
    assert "a<U+202E>b<U+2028>c<U+001B>d<!-- hidden -->" in err


def test_what_changes_after_the_preview_ends_a_call_that_cannot_ask(play: Play) -> None:
    pull = rf"/pulls/{NUMBER}$"
    moved = {"title": "x", "state": "open", "head": {"ref": "b", "sha": "a" * 40, "repo": None}}
    play.fake.faults += [Fault(pull, afterwards=True), Fault(pull, Reply(200, moved))]
    done = play.post(COMMAND, "--yes", "--json")
    assert (done.code, done.json["state"]) == (1, "changed")
    assert "Nothing was sent" in done.err
    assert play.writes() == 0


def test_doctor_tells_whether_the_token_may_post_and_what_is_unfinished(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    healthy = play("doctor")
    assert "ankur-singh may comment on pull requests" in healthy.out
    assert "none is unfinished" in healthy.out
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    play.fake.faults.append(Fault(POSTING, Reply(502), method="POST"))
    play.post(COMMAND, "--yes")
    user = play.story.world.user("ankur-singh")
    user.scopes = "gist"
    ill = play("doctor")
    assert ill.code == 4
    assert "lacks the scope repo or public_repo" in " ".join(ill.out.split())
    assert f"#{NUMBER} (unknown, " in ill.out
    user.scopes = ""
    assert "shows whether it may comment only when it does" in " ".join(play("doctor").out.split())
    play.story.repository.archived = True
    assert "is archived" in play("doctor").out


# --- a real terminal --------------------------------------------------------------------------------------------------


class Terminal:
    """A shell line in a pseudo-terminal."""

    def __init__(self, line: str, environment: dict[str, str]) -> None:
        self.written = ""
        self.pid, self.end = pty.fork()
        if self.pid == 0:
            os.chdir(ROOT)
            os.execve("/bin/bash", ["bash", "-o", "pipefail", "-c", line], {**os.environ, **environment})

    def read_until(self, text: str | None, seconds: float = 30) -> None:
        """Until a text is there, or the end for None."""
        limit = time.monotonic() + seconds
        while text is None or text not in self.written:
            assert time.monotonic() < limit, f"never saw {text!r} in {self.written[-2000:]!r}"
            if select.select([self.end], [], [], 0.1)[0]:
                try:
                    self.written += os.read(self.end, 65_536).decode("utf-8", "replace")
                except OSError:
                    assert text is None, f"ended without {text!r}: {self.written[-2000:]!r}"
                    return

    def type(self, text: str) -> None:
        os.write(self.end, text.encode())

    def exit_code(self) -> int:
        self.read_until(None)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def terminal(play: Play, line: str) -> Terminal:
    program = f"{sys.executable} -m reviewer_tui"
    places = {f"XDG_{name.upper()}_HOME": str(play.folder / name) for name in ("data", "cache", "config")}
    environment = {"PYTHONPATH": str(ROOT), "GH_ENTERPRISE_TOKEN": TOKEN, "HOST": play.fake.host, **places}
    return Terminal(line.replace("reviewer-tui", program), environment)


@pytest.mark.parametrize(("answer", "posted", "code"), [("yes\n", 1, 0), ("\n", 0, 130), ("y\n", 0, 130)])
def test_only_the_whole_word_at_the_terminal_posts(play: Play, answer: str, posted: int, code: int) -> None:
    count = len(play.own)
    shell = terminal(play, f"reviewer-tui post {NUMBER} {play.file(COMMAND)} --host $HOST")
    shell.read_until("Type yes: ")
    assert play.writes() == 0
    shell.type(answer)
    assert shell.exit_code() == code
    assert len(play.own) == count + posted
    assert ("It is posted" if posted else "Nothing was posted.") in shell.written


def test_a_composed_sign_off_goes_through_a_pipe_and_is_confirmed_at_the_terminal(play: Play) -> None:
    shell = terminal(
        play,
        f"reviewer-tui signoff {NUMBER} --host $HOST 2>/dev/null | reviewer-tui post {NUMBER} - --force --host $HOST",
    )
    shell.read_until("Edit your comment as ankur-singh? Type yes: ")
    shell.type("yes\n")
    assert shell.exit_code() == 0
    assert unmarked(play.own[0].body).startswith("As a PR reviewer and CODEOWNER")
    assert "TODO" in play.own[0].body


def test_a_head_that_moves_while_one_reads_is_told_before_anything_is_sent(play: Play) -> None:
    count = len(play.own)
    shell = terminal(play, f"reviewer-tui post {NUMBER} {play.file(COMMAND)} --host $HOST")
    shell.read_until("Type yes: ")
    play.story.go_on()
    moved = len(play.own) - count
    shell.written = ""
    shell.type("yes\n")
    shell.read_until("Nothing was sent yet")
    shell.read_until("Type yes: ")
    assert len(play.own) == count + moved
    shell.type("yes\n")
    assert shell.exit_code() == 0
    assert play.own[-1].body == COMMAND


def test_an_interrupt_while_it_is_sent_says_so_and_is_looked_for(play: Play) -> None:
    play.fake.faults.append(Fault(POSTING, method="POST", afterwards=True, delay=3))
    count = len(play.own)
    shell = terminal(play, f"reviewer-tui post {NUMBER} {play.file(COMMAND)} --yes --host $HOST")
    limit = time.monotonic() + 20
    while len(play.own) == count and time.monotonic() < limit:
        shell.read_until("")
        time.sleep(0.02)
    shell.type("\x03")
    assert shell.exit_code() == 130
    assert "whether it arrived is not known" in " ".join(shell.written.split())
    done = play.post(COMMAND, "--yes")
    assert done.code == 0
    assert "did arrive" in done.err
    assert len(play.own) == count + 1


def test_a_second_process_waits_its_turn(play: Play) -> None:
    play.fake.faults.append(Fault(POSTING, method="POST", afterwards=True, delay=3))
    count = len(play.own)
    shell = terminal(play, f"reviewer-tui post {NUMBER} {play.file(COMMAND)} --yes --host $HOST")
    limit = time.monotonic() + 20
    while len(play.own) == count and time.monotonic() < limit:
        shell.read_until("")
        time.sleep(0.02)
    second = play.post(COMMAND, "--yes")
    assert second.code == 4
    assert "Another reviewer-tui is posting" in second.err
    assert shell.exit_code() == 0
    assert len(play.own) == count + 1


def test_nothing_is_asked_of_a_terminal_that_does_not_see_the_preview(play: Play) -> None:
    shell = terminal(play, f"reviewer-tui post {NUMBER} {play.file(COMMAND)} --host $HOST 2>/dev/null")
    assert shell.exit_code() == 2
    assert play.writes() == 0


def test_the_parser_starts_without_the_network_libraries() -> None:
    program = "import sys; from reviewer_tui.cli import lint, signoff, check; sys.exit('httpx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.returncode == 0
