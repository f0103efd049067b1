"""A small InferenceX as a real git repository, and the command line as a person calls it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reviewer_tui.cli.main import main
from tests.evidence import NVIDIA, NVIDIA_MASTER, summer
from tests.gitrepo import GitRepo

NEW_ARM = "      - { tp: 2, ep: 2, conc-list: [16, 32, 64], spec-decoding: mtp }\n"


class Ran(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a command line in this process; its files go below the test's folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("REVIEWER_TUI_CLONE", "REVIEWER_TUI_RECIPES_CLONE", "REVIEWER_TUI_SGLANG_CLONE"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str) -> Ran:
        capfd.readouterr()
        code = main(arguments)
        captured = capfd.readouterr()
        return Ran(code, captured.out, captured.err)

    return call


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pull requests 7 (a new arm), 8 (a fork's image), 9 (YAML that does not parse) and 10 (nothing in the configs)."""
    repo = GitRepo(tmp_path_factory.mktemp("cli") / "InferenceX.git")
    base = repo.commit(dict(summer()), on="main", message="Start")
    repo.pull(7, repo.commit({NVIDIA: NVIDIA_MASTER + NEW_ARM}, parents=[base], message="Add an arm"))
    fork = NVIDIA_MASTER.replace("lmsysorg/sglang", "rocm/sgl-dev")
    repo.pull(8, repo.commit({NVIDIA: fork}, parents=[base], message="Use another image"))
    repo.pull(9, repo.commit({NVIDIA: NVIDIA_MASTER + "broken: [1, 2\n"}, parents=[base], message="Break"))
    repo.pull(10, repo.commit({"README.md": "words\n"}, parents=[base], message="Say more"))
    return repo.path


@pytest.fixture
def at(clone: Path) -> tuple[str, ...]:
    """The options of every call."""
    return ("--clone", str(clone), "--date", "2026-08-12", "--signer", "ankur-singh")
