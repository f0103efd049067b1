"""How long `reviewer-tui expand '*'` takes, beside the repository's own generator, and how long a semantic diff takes.

    REVIEWER_TUI_CLONE=DIR REVIEWER_TUI_CHECKOUT=DIR python benchmarks/expand.py [rounds] [pull request ...]

REVIEWER_TUI_CLONE is a clone of InferenceX with `refs/pull/*/head`; REVIEWER_TUI_CHECKOUT a checkout of its main,
whose generator is run by this interpreter (it needs PyYAML and pydantic for it). Whole processes in turn, medians, and
whether the rows are equal; then the diffs of the pull requests, after reading, with peak memory. Nothing is asserted.
Standard library only.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODES = {"default": [], "none": ["--no-evals"], "only": ["--evals-only"], "all": ["--evals-only", "--all-evals"]}
PULL_REQUESTS = ("2550", "2302", "2690", "2643", "2263")

DIFF = """
import resource, sys, time
from reviewer_tui.sources.clone import CloneSource
from reviewer_tui.sweeps.diff import config_changes
with CloneSource(sys.argv[1]) as clone:
    head = f"refs/pull/{sys.argv[2]}/head"
    base = clone.merge_base("HEAD", head)
    config_changes(clone.tree(base), clone.tree(head))
    times = []
    for _ in range(int(sys.argv[3])):
        # What is worked out once for a tree is worked out again for another one of the same revision.
        old, new = clone.tree(base), clone.tree(head)
        started = time.perf_counter()
        changes = config_changes(old, new)
        times.append(time.perf_counter() - started)
    times.sort()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(len(changes.keys), f"{times[0] * 1000:.1f}", f"{times[len(times) // 2] * 1000:.1f}", peak)
"""


def main() -> None:
    clone, checkout = os.environ.get("REVIEWER_TUI_CLONE"), os.environ.get("REVIEWER_TUI_CHECKOUT")
    if not clone or not checkout:
        sys.exit("REVIEWER_TUI_CLONE and REVIEWER_TUI_CHECKOUT must name a clone and a checkout of InferenceX.")
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    revision = git(checkout, "rev-parse", "HEAD")
    for mode in MODES:
        compare(clone, checkout, revision, mode, rounds)
    for number in sys.argv[2:] or PULL_REQUESTS:
        keys, best, middle, peak = run([sys.executable, "-c", DIFF, clone, number, str(rounds)], ROOT)[0].split()
        print(f"diff of {number}: {keys} keys, best {best} ms, median {middle} ms, peak of the process {peak} MB")


def compare(clone: str, checkout: str, revision: str, mode: str, rounds: int) -> None:
    """Both programs in turn, in one mode of evals."""
    ours = [sys.executable, "-m", "reviewer_tui", "expand", "*", "--clone", clone, "--ref", revision, "--evals", mode]
    configs = [f"configs/{vendor}-master.yaml" for vendor in ("nvidia", "amd")]
    generator = "utils/matrix_logic/generate_sweep_configs.py"
    theirs = [sys.executable, generator, "test-config", "--config-keys", "*", "--config-files", *configs, *MODES[mode]]
    times: dict[str, list[float]] = {"expand": [], "generator": []}
    for _ in range(rounds):
        mine, taken = run([*ours, "--json"], ROOT)
        times["expand"].append(taken)
        yours, taken = run(theirs, Path(checkout))
        times["generator"].append(taken)
    rows = [{name: value for name, value in row.items() if name != "job_name"} for row in json.loads(mine)["rows"]]
    same = "equal" if rows == json.loads(yours) else "DIFFERENT"
    fast, slow = (statistics.median(times[name]) for name in ("expand", "generator"))
    print(
        f"{mode:8} {len(rows):5} rows {same}: {fast * 1000:5.0f} ms against {slow * 1000:5.0f} ms, {slow / fast:.1f}x"
    )


def run(command: Sequence[str], folder: Path) -> tuple[str, float]:
    """What a whole process prints, and how long it takes in seconds."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    started = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    taken = time.perf_counter() - started
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout, taken


def git(checkout: str, *arguments: str) -> str:
    command = ("git", "-C", checkout, *arguments)
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
