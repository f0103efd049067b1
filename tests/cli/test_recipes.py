"""`recipes`: the coverage of config keys, from a clone of the repository and one of the cookbook."""

from __future__ import annotations

from tests.checks.documented import KEY
from tests.cli.conftest import Run
from tests.cli.test_show_recipes import Clones, clones

__all__ = ["clones"]


def options(clones: Clones) -> tuple[str, ...]:
    return (*clones.options[:4], "--ref", "main", "--date", "2026-08-12")


def test_a_table_with_the_commits_that_were_read(run: Run, clones: Clones) -> None:
    ran = run("recipes", *options(clones))
    assert (ran.code, ran.err) == (1, "")
    lines = ran.out.splitlines()
    assert any(
        line.startswith("  vllm-project/recipes: The pages of vllm-project/recipes are not at") for line in lines
    )
    assert any(line.startswith("  sgl-project/sglang: ") and len(line.split()[-1]) == 9 for line in lines)
    row = next(line.split() for line in lines if KEY in line)
    assert row[:5] == ["F", KEY, "1", "0", "0"]
    assert lines[-1] == "arms: 1, of the same shape 0, covered 0"
    gaps = run("recipes", *options(clones), "--gaps").out.splitlines()
    assert any(line.startswith(f"- {KEY} 8k1k tp4 mtp: ") for line in gaps)


def test_as_json(run: Run, clones: Clones) -> None:
    told = run("recipes", "qwen*", "--json", *options(clones)).json
    assert (told["schema"], told["review_date"]) == (1, "2026-08-12")
    assert told["demands"] == {"scope": "single_node", "policy": "summer"}
    upstream = {row["repository"]: row["commit"] for row in told["upstream"]}
    assert upstream["vllm-project/recipes"] is None
    assert len(upstream["sgl-project/sglang"]) == 40
    assert [(row["key"], row["arms"], row["status"]) for row in told["keys"]] == [(KEY, 1, "fail")]
    assert told["totals"]["keys"] == 1


def test_the_pages_of_a_day(run: Run, clones: Clones) -> None:
    pulled = ("recipes", KEY, "--ref", "refs/pull/7/head", *clones.options[:4], "--json")
    told = run(*pulled, "--date", "2026-08-12").json
    assert [(row["arms"], row["covered"]) for row in told["keys"]] == [(2, 1)]
    assert run(*pulled, "--date", "9999-12-31").json["keys"] == told["keys"]


def test_a_clone_of_something_else_is_an_error_and_documents_nothing(run: Run, clones: Clones) -> None:
    repository = ("--clone", str(clones.repository), "--date", "2026-08-12")
    for command in (("recipes", KEY, "--ref", "main"), ("check", "7"), ("show", "7", "recipes")):
        ran = run(*command, *repository, "--sglang-clone", str(clones.repository))
        assert (ran.code, ran.out) == (4, ""), command
        assert "is no clone of sgl-project/sglang: it holds no cookbook at " in ran.err
        ran = run(*command, *repository, "--recipes-clone", str(clones.cookbook))
        assert (ran.code, ran.out) == (4, ""), command
        assert "is no clone of vllm-project/recipes: it holds no recipes at " in ran.err


def test_what_is_not_there_is_said(run: Run, clones: Clones) -> None:
    ran = run("recipes", *clones.options[:2])
    assert ran.code == 4
    assert "--sglang-clone DIR" in ran.err
    ran = run("recipes", "nothing-*", *options(clones))
    assert ran.code == 4
    assert "No config key is named nothing-*" in ran.err
    ran = run("recipes", *clones.options[:4], "--ref", "absent")
    assert ran.code == 4
