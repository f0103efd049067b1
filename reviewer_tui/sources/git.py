"""Running git on a clone that nobody vouches for: no configuration of the reader, no program of the clone.

A clone's configuration can name programs (hooks, filters, textconv, external diff, fsmonitor, remote helpers for a lazy
fetch). Only plumbing commands run here, in an environment and with options that leave none of those a way in.
"""

from __future__ import annotations

import contextlib
import os
import select
import shlex
import shutil
import subprocess
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

import msgspec

from reviewer_tui.model.errors import DataError
from reviewer_tui.sources.quoting import shown

_TIMEOUT = 60.0  # seconds that git may take for one answer
_CHUNK = 1 << 20  # bytes read from a pipe at once

# Git's own switches before the command: no hooks, no fsmonitor, no object of refs/replace, nothing streamed whole into
# memory that is larger than any file this program reads.
_SWITCHES = (
    "--no-pager",
    "--no-replace-objects",
    "--bare",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.bigFileThreshold=32m",
)


class Clone(msgspec.Struct, frozen=True, kw_only=True):
    """Where a clone keeps its objects and refs. `path` is what the reader named, `git_dir` is absolute."""

    path: str
    git_dir: str
    bare: bool
    shallow: bool
    executable: str


def find_clone(path: Path | str) -> Clone:
    """The clone that `path` is, or lies in: a bare one, a normal one, a work tree, or a folder inside of one.

    The reader's own git configuration is in force for this single question, because it says which folders of other
    users are trusted (`safe.directory`).
    """
    named = os.fspath(path)
    executable = shutil.which("git")
    if executable is None:
        raise DataError("Git is not installed, and a clone is read through it.", "Install git, or drop --clone.")
    if not Path(named).is_dir():
        raise DataError(f"There is no folder {shown(named)}.", "Name the folder of a clone.")
    question = ("rev-parse", "--is-bare-repository", "--is-shallow-repository", "--absolute-git-dir")
    command = (executable, "-c", "safe.bareRepository=all", "-c", "core.fsmonitor=false", *question)
    try:
        answer = subprocess.run(
            command,
            cwd=named,
            env=_environment({}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DataError(f"Git could not look into {shown(named)}: {shown(error)}.") from error
    if answer.returncode != 0:
        raise _no_clone(named, answer.stderr)
    bare, shallow, git_dir = os.fsdecode(answer.stdout).rstrip("\n").split("\n", 2)
    return Clone(path=named, git_dir=git_dir, bare=bare == "true", shallow=shallow == "true", executable=executable)


def _no_clone(path: str, stderr: bytes) -> DataError:
    said = _complaint(stderr)
    if "dubious ownership" in said or "unsafe repository" in said:
        trust = f"git config --global --add safe.directory {shlex.quote(str(Path(path).resolve()))}"
        return DataError(
            f"{shown(path)} belongs to another user, so git does not read it.", f"If you trust it: {trust}"
        )
    if "not a git repository" in said:
        return DataError(f"{shown(path)} is no git repository.", "Name the folder of a clone, bare or not.")
    return DataError(f"Git cannot read {shown(path)}: {said}.")


def run(clone: Clone, *arguments: str) -> bytes:
    """What a short plumbing command prints."""
    try:
        done = subprocess.run(
            (clone.executable, *_SWITCHES, *arguments),
            cwd=clone.git_dir,
            env=isolated(clone.git_dir),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DataError(f"Git failed on {shown(clone.path)}: {shown(error)}.") from error
    if done.returncode != 0:
        raise failed(clone, done.stderr)
    return done.stdout


def isolated(git_dir: str) -> dict[str, str]:
    """The environment of every command: no configuration but the clone's own, no network, no prompt, no locks."""
    return _environment(
        {
            "GIT_DIR": git_dir,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "none",  # stops a lazy fetch also in versions of git without the variable above
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_GRAFT_FILE": os.devnull,
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "HOME": os.devnull,
            "XDG_CONFIG_HOME": os.devnull,
        }
    )


def _environment(settings: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, "LC_ALL": "C", "LANGUAGE": "", **settings}


def failed(clone: Clone, stderr: bytes) -> DataError:
    """What to tell a person about a git command that gave up."""
    said = _complaint(stderr)
    if "promisor" in said or "lazy fetch" in said or "not allowed" in said:
        return DataError(f"{shown(clone.path)} is a partial clone and lacks an object: {said}.", refetch(clone))
    return DataError(f"Git failed on {shown(clone.path)}: {said}.", look_for_damage(clone))


def command(clone: Clone, words: str) -> str:
    """A git command on the clone as a person would type it."""
    return f"git -C {shlex.quote(clone.path)} {words}"


def look_for_damage(clone: Clone) -> str:
    return f"Look for damage with `{command(clone, 'fsck')}`."


def refetch(clone: Clone) -> str:
    """How to get the objects that a partial clone left out."""
    return f"Fetch everything with `{command(clone, 'fetch --refetch --no-filter origin')}`."


def _complaint(stderr: bytes) -> str:
    """Git's last complaint as one line that is safe to print."""
    lines = [line for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    for prefix in ("fatal: ", "error: ", ""):
        if found := [line.removeprefix(prefix) for line in lines if line.startswith(prefix)]:
            return shown(found[-1]).rstrip(".")
    return "it gave no reason"


class Pipe:
    """A git command that lives as long as its source and answers questions, one line each.

    Started with the first question. A command whose answer was not read to its end, because it died, was too slow or
    said something unexpected, is started anew with the next question.
    """

    def __init__(self, clone: Clone, *arguments: str, timeout: float = _TIMEOUT) -> None:
        self.lock = threading.RLock()
        self._clone = clone
        self._arguments = arguments
        self._timeout = timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._complaints: IO[bytes] | None = None
        self._stop: weakref.finalize[[subprocess.Popen[bytes], IO[bytes]], Pipe] | None = None
        self._closed = False
        self._buffer = b""
        self._deadline = 0.0

    @contextlib.contextmanager
    def asking(self, lines: bytes) -> Iterator[None]:
        """Send whole lines, and read their whole answer inside of the block; other threads wait for its end.

        At most a few kilobytes, so that they fit into the pipe while nobody reads the other end.
        """
        with self.lock:
            try:
                self._send(lines)
                yield
            except BaseException:
                self.stop()
                raise

    def line(self) -> bytes:
        """The next line of the answer without its end."""
        while (end := self._buffer.find(b"\n")) < 0:
            self._fill()
        line, self._buffer = self._buffer[:end], self._buffer[end + 1 :]
        return line

    def take(self, size: int) -> bytes:
        """The next `size` bytes of the answer."""
        if len(self._buffer) < size:
            parts = [self._buffer]
            missing = size - len(self._buffer)
            while missing > 0:
                self._buffer = b""
                self._fill()
                parts.append(self._buffer)
                missing -= len(self._buffer)
            self._buffer = b"".join(parts)
        taken, self._buffer = self._buffer[:size], self._buffer[size:]
        return taken

    def until(self, mark: bytes, limit: int) -> bytes:
        """The answer up to `mark`, which must be its very end. Raises DataError above `limit` bytes."""
        parts: list[bytes] = []
        size = 0
        tail = b""
        while not tail.endswith(mark):
            if not self._buffer:
                self._fill()
            parts.append(self._buffer)
            size += len(self._buffer)
            tail = (tail + self._buffer)[-len(mark) :]
            self._buffer = b""
            if size > limit:
                raise DataError(f"Git's answer is longer than {limit:,} bytes.")
        return b"".join(parts)[: -len(mark)]

    def stop(self) -> None:
        """End the command; the next question starts a new one."""
        if self._stop is not None:
            self._stop()
        self._process = None
        self._complaints = None
        self._buffer = b""

    def close(self) -> None:
        """End the command for good."""
        with self.lock:
            self._closed = True
            self.stop()

    def _send(self, lines: bytes) -> None:
        if self._closed:
            raise DataError(f"The clone {shown(self._clone.path)} was closed.")
        process = self._process or self._start()
        self._deadline = time.monotonic() + self._timeout
        assert process.stdin is not None
        try:
            process.stdin.write(lines)
        except OSError as error:
            raise self._died() from error

    def _start(self) -> subprocess.Popen[bytes]:
        complaints = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        try:
            process = subprocess.Popen(
                (self._clone.executable, *_SWITCHES, *self._arguments),
                cwd=self._clone.git_dir,
                env=isolated(self._clone.git_dir),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                bufsize=0,
            )
        except OSError as error:
            complaints.close()
            raise DataError(f"Git could not be started: {shown(error)}.") from error
        self._process, self._complaints = process, complaints
        self._stop = weakref.finalize(self, _end, process, complaints)
        return process

    def _fill(self) -> None:
        """Wait for bytes, at most until the deadline, and put them behind the buffer."""
        process = self._process
        assert process is not None
        assert process.stdout is not None
        patience = max(0.0, self._deadline - time.monotonic())
        if not select.select((process.stdout,), (), (), patience)[0]:
            raise DataError(f"Git took more than {self._timeout:.0f} seconds on {shown(self._clone.path)}.")
        more = process.stdout.read(_CHUNK)
        if not more:
            raise self._died()
        self._buffer = self._buffer + more if self._buffer else more

    def _died(self) -> DataError:
        process, complaints = self._process, self._complaints
        assert process is not None
        assert complaints is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1.0)
        complaints.seek(0)
        return failed(self._clone, complaints.read(1 << 16))


def _end(process: subprocess.Popen[bytes], complaints: IO[bytes]) -> None:
    process.kill()
    for stream in (process.stdin, process.stdout, complaints):
        if stream is not None:
            stream.close()
    process.wait()
