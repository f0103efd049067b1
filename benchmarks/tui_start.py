"""How long until the workstation shows something, beside a bare Textual app: both in a real pseudo-terminal.

    python benchmarks/tui_start.py [rounds]

Prints milliseconds from the start of the process to its first content (the title, the word of the bare app), best and
median, for both in turn, the ratio, and for the workstation the time until all panes of a review in memory are ready.
Nothing is asserted: a wall clock on a shared machine proves nothing by itself, the two side by side tell enough.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import sys
import termios
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

BARE = """
from textual.app import App
from textual.widgets import Static
class Bare(App):
    def compose(self):
        yield Static("first content")
Bare().run()
"""

WORKSTATION = """
from reviewer_tui.tui.app import run_workstation
class LazyDesk:
    title = "first content"
    moments = ()
    _desk = None
    def __getattr__(self, name):
        from tests.tui.reviews import FakeDesk
        if self._desk is None:
            self._desk = FakeDesk()
        return getattr(self._desk, name)
run_workstation(LazyDesk())
"""


def watch(program: str, marks: list[bytes], columns: int = 160, rows: int = 48) -> list[float]:
    """Milliseconds from the start of a program in a pseudo-terminal until each mark was written, in order."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        environment = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
        os.execve(sys.executable, [sys.executable, "-c", program], environment)
    started = time.perf_counter()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    written = b""
    times: list[float] = []
    try:
        while len(times) < len(marks) and time.perf_counter() - started < 20:
            if select.select([terminal], [], [], 0.2)[0]:
                written += os.read(terminal, 65_536)
                while len(times) < len(marks) and marks[len(times)] in written:
                    times.append((time.perf_counter() - started) * 1000)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)
    if len(times) < len(marks):
        sys.exit(f"the program never wrote {marks[len(times)]!r}")
    return times


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    bare, first, ready = [], [], []
    for _ in range(rounds):
        bare += watch(BARE, [b"first content"])
        content, panes = watch(WORKSTATION, [b"first content", b"Evidence for"])
        first.append(content)
        ready.append(panes)
    for name, times in (("bare Textual app", bare), ("workstation", first), ("all panes ready", ready)):
        print(f"{name:<18} best {min(times):6.0f} ms   median {statistics.median(times):6.0f} ms")
    best, median = min(first) / min(bare), statistics.median(first) / statistics.median(bare)
    print(f"first content, workstation to bare: best {best:.2f}, median {median:.2f}")
    print(f"from first content to all panes: median {statistics.median(ready) - statistics.median(first):.0f} ms")


if __name__ == "__main__":
    main()
