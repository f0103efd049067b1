"""`show PR recipes` with a clone of the cookbook beside the clone of the repository."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from tests.checks.documented import (
    CHECKLIST,
    CHECKLIST_FILE,
    KEY,
    PROMPT,
    SUMMER_CHECK,
    TEP2,
    TP2,
    TP4,
    entry,
    files,
    sign_off,
)
from tests.cli.conftest import Run
from tests.evidence import NVIDIA, VERIFIER
from tests.gitrepo import GitRepo
from tests.recipes.upstreams import QWEN_PAGE, QWEN_WIDGET, upstream

LINK = "https://github.com/sgl-project/sglang/pull/34357"
NOON = 1_786_399_200 + 43_200  # of 2026-08-11


class Clones(NamedTuple):
    repository: Path
    cookbook: Path
    sign_off: Path

    @property
    def options(self) -> tuple[str, ...]:
        return (
            *("--clone", str(self.repository), "--sglang-clone", str(self.cookbook)),
            *("--date", "2026-08-12", "--sign-off", str(self.sign_off)),
        )


@pytest.fixture(scope="module")
def clones(tmp_path_factory: pytest.TempPathFactory) -> Clones:
    """Pull request 7 adds the documented arm, 8 one that is not documented."""
    folder = tmp_path_factory.mktemp("recipes")
    repo = GitRepo(folder / "InferenceX.git")
    policy = {PROMPT: SUMMER_CHECK + VERIFIER, CHECKLIST_FILE: CHECKLIST}
    base = repo.commit({**files(entry(KEY, TP4)), **policy}, on="main")
    repo.pull(7, repo.commit({NVIDIA: entry(KEY, TP4, TEP2)}, parents=[base]))
    repo.pull(8, repo.commit({NVIDIA: entry(KEY, TP4, TP2)}, parents=[base]))
    cookbook = GitRepo(folder / "sglang.git")
    tree = upstream("after")
    pages = {path: tree.read(path) for path in (QWEN_PAGE, QWEN_WIDGET)}
    cookbook.commit(pages, on="main", message="Document B200 (#34357)", time=NOON)
    text = folder / "sign-off.md"
    text.write_text(sign_off(f"Recipe: {LINK}"))
    return Clones(repo.path, cookbook.path, text)


def test_side_by_side(run: Run, clones: Clones) -> None:
    ran = run("show", "7", "recipes", *clones.options)
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert "sgl-project/sglang#34357 MERGED 2026-08-11, a day ago Document B200" in lines
    assert f"{KEY} 8k1k tp2 ep2 mtp c16 c32 c64" in lines
    assert f"{KEY} 8k1k tp4 mtp c4 (was there before)" in lines
    row = next(line.split() for line in lines if "--speculative-algorithm" in line and " EAGLE " in line)
    assert row == ["=", "speculative", "--speculative-algorithm", "EAGLE", "NEXTN"]
    assert "SGLang folds NEXTN into EAGLE" in ran.out
    assert max(map(len, lines)) <= 120


def test_as_json(run: Run, clones: Clones) -> None:
    told = run("show", "7", "recipes", "--json", *clones.options).json
    assert (told["schema"], told["number"], told["status"]) == (1, 7, "pass")
    assert told["links"][0]["url"] == LINK
    assert told["variants"][0]["against"] == "linked"


def test_what_to_write_upstream(run: Run, clones: Clones) -> None:
    ran = run("show", "8", "recipes", "--write", *clones.options)
    assert ran.code == 0
    assert "covers the arm, as read back" in ran.out
    assert "```shell Command" in ran.out
    assert "Every submitted arm is documented" in run("show", "7", "recipes", "--write", *clones.options).out


def test_the_check_with_and_without_the_clone(run: Run, clones: Clones, monkeypatch: pytest.MonkeyPatch) -> None:
    def status(*options: str) -> str:
        checks = run("check", "7", "--json", *options).json["checks"]
        return str(next(check["status"] for check in checks if check["name"] == "recipe"))

    without = (*clones.options[:2], *clones.options[4:])
    assert status(*clones.options) == "pass"
    assert status(*without) == "unverified"
    monkeypatch.setenv("REVIEWER_TUI_SGLANG_CLONE", str(clones.cookbook))
    assert status(*without) == "pass"


def test_options_that_make_no_sense(run: Run, clones: Clones, tmp_path: Path) -> None:
    assert run("show", "7", "runs", "--json", *clones.options).code == 2
    assert run("show", "7", "--write", *clones.options).code == 2
    assert run("show", "7", "recipes", "--json", "--write", *clones.options).code == 2
    ran = run("show", "7", "recipes", *clones.options[:2], "--recipes-clone", str(tmp_path / "absent"))
    assert ran.code == 4
    assert "There is no folder" in ran.err
