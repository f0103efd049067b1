"""Streams that are closed, full, or of another encoding, and arguments that are no UTF-8."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.evidence import summer
from tests.gitrepo import GitRepo

ROOT = Path(__file__).parents[2]
PROGRAM = f"{sys.executable} -c 'from reviewer_tui.cli.main import run; run()'"


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    clean = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(["bash", "-c", line], capture_output=True, env=clean, cwd=ROOT, check=False, timeout=60)


@pytest.mark.parametrize("streams", ["<&-", "</dev/null >&-", "<&- >&-", "</dev/null >/dev/full", "</dev/null 2>&-"])
def test_closed_and_full_streams_are_no_reason_for_a_traceback(streams: str) -> None:
    done = shell(f"{PROGRAM} demo {streams}")
    assert b"Traceback" not in done.stderr, done.stderr[-300:]
    assert done.returncode != 1, "1 says REJECTED"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_output_that_is_not_utf8_gets_what_it_can_take(encoding: str) -> None:
    done = shell(f"{PROGRAM} demo </dev/null", PYTHONIOENCODING=encoding, PYTHONUTF8="0")
    assert b"Traceback" not in done.stderr, done.stderr[-300:]
    assert done.returncode == 0


@pytest.mark.parametrize("arguments", ["check 7 --head", "check 7 --policy-ref", "check --audit", "expand '*' --ref"])
def test_a_revision_that_is_no_utf8_is_not_found(arguments: str, tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "x.git")
    base = repo.commit(dict(summer()), on="main")
    repo.pull(7, repo.commit({"README.md": "x\n"}, parents=[base]))
    done = shell(f"{PROGRAM} {arguments} $'\\xff' --clone {repo.path}")
    assert b"Traceback" not in done.stderr, done.stderr[-300:]
    assert done.returncode in (2, 4)
