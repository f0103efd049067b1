"""The workstation in a real pseudo-terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from reviewer_tui.model.checklist import Decision, ReviewNotes

PROGRAM = """
import os
import sys
import time
from pathlib import Path
import msgspec
from reviewer_tui.tui.app import run_workstation
from tests.tui.reviews import FakeDesk

class FileDesk(FakeDesk):
    def save_notes(self, review):
        Path(sys.argv[1], "notes.json").write_bytes(msgspec.json.encode(review.notes))

    def compose(self, review):
        if "SLOW_COMPOSING" in os.environ and review.notes.marks:
            Path(sys.argv[1], "composing").touch()
            time.sleep(60)
        return super().compose(review)

run_workstation(FileDesk(folder=Path(sys.argv[1])), ascii_only=True)
"""


class Terminal:
    """A program in a pseudo-terminal: what it wrote, and a keyboard. With `arguments` it is reviewer-tui itself."""

    def __init__(self, folder: Path, environment: dict[str, str], arguments: tuple[str, ...] = ()) -> None:
        self.folder = folder
        self.written = b""
        self.pid, self.end = pty.fork()
        if self.pid == 0:
            os.chdir(Path(__file__).parents[2])
            clean = {key: value for key, value in os.environ.items() if not key.startswith("COV_")}
            merged = {**clean, "TERM": "xterm-256color", "PYTHONPATH": ".", "LANG": "en_US.UTF-8", **environment}
            what = ("-m", "reviewer_tui", *arguments) if arguments else ("-c", PROGRAM, str(folder))
            os.execve(sys.executable, [sys.executable, *what], merged)
        fcntl.ioctl(self.end, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))

    def read(self, seconds: float) -> bool:
        """Take what the program writes; False when it is gone."""
        if select.select([self.end], [], [], seconds)[0]:
            try:
                self.written += os.read(self.end, 65_536)
            except OSError:
                return False
        return True

    def wait_for(self, text: str, seconds: float = 20) -> None:
        limit = time.monotonic() + seconds
        while text.encode() not in self.written:
            assert time.monotonic() < limit, f"never saw {text!r} in {self.written[-2000:]!r}"
            assert self.read(0.1), f"ended without {text!r}: {self.written[-2000:]!r}"

    def press(self, keys: str) -> None:
        self.written = b""
        os.write(self.end, keys.encode())

    def exit_code(self, seconds: float = 20) -> int:
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                while self.read(0.05) and select.select([self.end], [], [], 0.05)[0]:
                    pass
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
            self.read(0.05)
        raise AssertionError("it never ended")

    def close(self) -> None:
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.end)


Open = Callable[..., Terminal]


@pytest.fixture
def terminals(tmp_path: Path) -> Iterator[Open]:
    opened: list[Terminal] = []

    def open_terminal(*arguments: str, **environment: str) -> Terminal:
        opened.append(Terminal(tmp_path, environment, arguments))
        return opened[-1]

    yield open_terminal
    for terminal in opened:
        terminal.close()


def notes(folder: Path) -> ReviewNotes:
    return msgspec.json.decode((folder / "notes.json").read_bytes(), type=ReviewNotes)


def test_a_review_from_start_to_end(terminals: Open, tmp_path: Path) -> None:
    """Decide, copy through the terminal, leave: the terminal is given back and the notes are on disk."""
    terminal = terminals()
    terminal.wait_for("Evidence for 1")
    terminal.press(" ")
    terminal.wait_for("x]")
    terminal.press("s")
    terminal.wait_for("Preview")
    terminal.press("c")
    terminal.wait_for("\x1b]52;c;")
    terminal.press("\x1b")
    terminal.wait_for("Evidence for 1")
    terminal.press("q")
    assert terminal.exit_code() == 0
    assert b"\x1b[?1049l" in terminal.written, "back from the alternate screen"
    assert b"Traceback" not in terminal.written
    assert notes(tmp_path).mark("1").decision is Decision.ACCEPTED
    assert (tmp_path / "sign-off-2550.md").exists()


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_terminal_that_goes_away_loses_nothing(terminals: Open, tmp_path: Path, name: str) -> None:
    terminal = terminals()
    terminal.wait_for("Evidence for 1")
    terminal.press("e")
    terminal.wait_for("Note for 1")
    terminal.press("half a thought")
    terminal.wait_for("ght")
    os.kill(terminal.pid, getattr(signal, name))
    assert terminal.exit_code() == 0
    assert notes(tmp_path).mark("1").note == "half a thought"


def test_composing_that_takes_long_keeps_nobody_from_saving_and_leaving(terminals: Open, tmp_path: Path) -> None:
    terminal = terminals(SLOW_COMPOSING="1")
    terminal.wait_for("Evidence for 1")
    terminal.press(" ")
    terminal.wait_for("x]")
    limit = time.monotonic() + 20
    while not (tmp_path / "composing").exists() and time.monotonic() < limit:
        terminal.read(0.05)
    terminal.press("x")
    terminal.wait_for("!]")
    terminal.press("q")
    assert terminal.exit_code(10) == 0
    assert notes(tmp_path).mark("1").decision is Decision.DISPUTED


def test_the_reviewers_own_editor(terminals: Open, tmp_path: Path) -> None:
    """The screen is lent to the editor and comes back whole, with what was written there."""
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho "IN THE EDITOR"\nprintf "written outside\\n" > "$2"\n')
    editor.chmod(0o755)
    terminal = terminals(EDITOR=f"{editor} --wait")
    terminal.wait_for("Evidence for 1")
    terminal.press("s")
    terminal.wait_for("Preview")
    terminal.press("e")
    terminal.wait_for("IN THE EDITOR")
    terminal.wait_for("written outside")
    terminal.press("\x1b")
    terminal.wait_for("Evidence for 1")
    terminal.press("q")
    assert terminal.exit_code() == 0
    assert notes(tmp_path).detail == "written outside"


@pytest.mark.parametrize("arguments", [("2550", "--offline"), ("--clone", "nowhere")])
def test_leaving_without_data_says_so_in_the_exit_code(
    terminals: Open, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    """Neither the pull request nor the queue could be loaded; 4 says so to whoever started the workstation."""
    terminal = terminals(*arguments, XDG_CACHE_HOME=str(tmp_path), XDG_DATA_HOME=str(tmp_path))
    terminal.wait_for("holds nothing of #2550" if "2550" in arguments else "no folder nowhere")
    terminal.press("q")
    assert terminal.exit_code() == 4
