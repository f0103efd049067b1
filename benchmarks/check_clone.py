"""How long `reviewer-tui check` takes on a clone, beside the repository's own processing of the same pull request.

    REVIEWER_TUI_CLONE=DIR [REVIEWER_TUI_CHECKOUT=DIR] python benchmarks/check_clone.py [rounds]

REVIEWER_TUI_CLONE is a clone of InferenceX with `refs/pull/*/head`; REVIEWER_TUI_CHECKOUT a checkout of pull request
2550 in which `git` knows its base. The checkout's own `utils/process_changelog.py` is run by this interpreter, which
needs PyYAML and pydantic for it. Whole processes in turn, medians; nothing is asserted. Then all pull requests of the
checklist era in one process, beside git printing the patches of the same pull requests: processor seconds of each, and
the peak of memory. Standard library only.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NUMBER = 2550
FIRST, LAST = 1886, 2709  # the pull requests of the checklist era


def main() -> None:
    clone = os.environ.get("REVIEWER_TUI_CLONE")
    if not clone:
        sys.exit("REVIEWER_TUI_CLONE names no clone of InferenceX.")
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    check = [sys.executable, "-m", "reviewer_tui", "check", str(NUMBER), "--clone", clone, "--json"]
    rivals = {"check": (check, ROOT), "bare python": ([sys.executable, "-c", "pass"], ROOT)}
    if checkout := os.environ.get("REVIEWER_TUI_CHECKOUT"):
        rivals["process_changelog"] = (changelog_command(clone), Path(checkout))
    times: dict[str, list[float]] = {name: [] for name in rivals}
    for _ in range(rounds):
        for name, (command, folder) in rivals.items():
            times[name].append(seconds(command, folder))
    middle = {name: statistics.median(measured) for name, measured in times.items()}
    for name, value in middle.items():
        print(f"{name:18} median {value * 1000:7.0f} ms   best {min(times[name]) * 1000:7.0f} ms")
    for name in middle:
        if name != "check":
            print(f"check takes {middle['check'] / middle[name]:.2f} times as long as {name}")
    era(clone)


def changelog_command(clone: str) -> list[str]:
    """The repository's own processing of the pull request's changelog."""
    head = git(clone, "rev-parse", f"refs/pull/{NUMBER}/head")
    base = git(clone, "merge-base", "HEAD", head)
    options = ["--base-ref", base, "--head-ref", head, "--changelog-file", "perf-changelog.yaml"]
    return [sys.executable, "utils/process_changelog.py", *options]


def era(clone: str) -> None:
    """All pull requests of the checklist era in one process, and what git needs to print their patches in one."""
    heads = git(clone, "for-each-ref", "--format=%(refname)", "refs/pull").split()
    asked = [name for name in heads if name.endswith("/head") and FIRST <= int(name.split("/")[2]) <= LAST]
    patches = ["git", "-C", clone, "log", "--patch", "--no-color", *asked, "^HEAD"]
    check = [sys.executable, "-m", "reviewer_tui", "check", f"{FIRST}..{LAST}", "--clone", clone, "--json"]
    done, git_seconds, _ = processor(patches)
    print(f"patches by git: {len(asked)} pull requests, {git_seconds:.1f} s of a processor, {len(done) / 1e6:.0f} MB")
    done, taken, peak = processor(check)
    answers = done.count(b"\n")
    print(
        f"check: {answers} pull requests, {taken:.1f} s of a processor, {answers / taken:.1f} a second, "
        f"{taken / git_seconds:.1f} times as long as git; peak of memory {peak} MB"
    )


def processor(command: Sequence[str]) -> tuple[bytes, float, int]:
    """What a process prints, its seconds of user and system time, and the peak of memory of all so far in MB."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout, taken, after.ru_maxrss // 1024


def seconds(command: Sequence[str], folder: Path) -> float:
    """How long a whole process takes. One that crashes is no measurement; exit codes are verdicts."""
    started = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, check=False)
    taken = time.perf_counter() - started
    if b"Traceback" in done.stderr or done.returncode not in (0, 1, 3):
        sys.exit(f"{' '.join(command)}: {done.stderr.decode('utf-8', 'replace')}")
    return taken


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def git(clone: str, *arguments: str) -> str:
    command = ("git", "-C", clone, *arguments)
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
