"""Bash itself as the judge of the evaluation: what a script of ours calls with, against what the evaluation says.

Only scripts written in these tests are run, with no program in reach.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile

import pytest

from reviewer_tui.launch.shell import Evaluation, evaluate
from reviewer_tui.launch.shell_words import Argument
from reviewer_tui.model.tree import DictTree

BASH = shutil.which("bash")
needs_bash = pytest.mark.skipif(BASH is None, reason="bash is not installed, so there is nothing to compare with")

_PRELUDE = """called() { [ $# -gt 0 ] && printf '%s\\037' "$@"; printf '\\036'; }
cat() {
  local l f
  for f in "${@:-/dev/stdin}"; do while IFS= read -r l || [ -n "$l" ]; do printf '%s\\n' "$l"; done < "$f"; done
}
"""
_COMMON = """emit() { called "$@"; return 0; }
shopt -s extglob
"""


def bash_says(script: str, environment: dict[str, str] | None = None) -> list[list[str]]:
    """The words of each call of `emit` when bash runs the script."""
    assert BASH is not None
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [BASH, "--norc", "-c", _PRELUDE + _COMMON + script],
            capture_output=True,
            env={"PATH": "/nonexistent", "LC_ALL": "C.UTF-8", **(environment or {})},
            cwd=folder,
            timeout=20,
            check=False,
        )
    calls = done.stdout.decode("utf-8", "replace").split("\x1e")[:-1]
    return [call.split("\x1f")[:-1] for call in calls]


def run(script: str, environment: dict[str, str] | None = None) -> Evaluation:
    """Evaluates a script of these tests."""
    return evaluate(DictTree({"bench/run.sh": script}), "bench/run.sh", environment or {})


def commands_of(script: str) -> list[list[Argument]]:
    """The words of each call of `emit` by the evaluation."""
    return [list(command.argv[1:]) for command in run(_COMMON + script).commands if command.name == "called"]


def we_say(script: str, environment: dict[str, str] | None = None) -> list[list[str]]:
    """The words of each call of `emit` by the evaluation; unknown ones stand as `<…>`."""
    commands = run(_COMMON + script, environment).commands
    return [[str(argument) for argument in command.argv[1:]] for command in commands if command.name == "called"]
