"""`show`, `expand`, `explain`, `completion`, and the workstation without a terminal."""

from __future__ import annotations

import pytest

from reviewer_tui.cli.panes import PANES
from tests.cli.conftest import Run


@pytest.mark.parametrize("pane", sorted(PANES))
def test_every_pane_answers(run: Run, at: tuple[str, ...], pane: str) -> None:
    ran = run("show", "7", pane, *at)
    assert ran.code == 0
    assert len(ran.out.splitlines()) > 4
    assert not ran.err


def test_panes_without_data_say_why_and_how_to_get_it(run: Run, at: tuple[str, ...]) -> None:
    for pane in ("runs", "evals", "results", "recipes", "conversation"):
        assert "unavailable." in run("show", "7", pane, *at).out


def test_results_as_json_say_what_is_not_known(run: Run, at: tuple[str, ...]) -> None:
    told = run("show", "7", "results", "--json", *at).json
    assert (told["schema"], told["number"], told["curves"]) == (1, 7, [])
    assert told["results"]["state"] == told["published"]["state"] == "unavailable"
    assert told["published"]["reason"] == "Published results were not looked up."
    assert run("show", "7", "evals", "--json", *at).code == 2


def test_the_points_pane_lists_what_is_added(run: Run, at: tuple[str, ...]) -> None:
    out = run("show", "7", "points", *at).out
    assert [line.split()[-4] for line in out.splitlines() if line.startswith("+")].count("eval") <= 3
    assert out.count("tp2 ep2") == 3


def test_without_a_terminal_the_workstation_is_text(run: Run, at: tuple[str, ...]) -> None:
    ran = run("7", *at)
    assert ran.code == 0
    assert "-- checklist " in ran.out
    assert "\x1b" not in ran.out


def test_expand_prints_rows_of_the_generator(run: Run, at: tuple[str, ...]) -> None:
    rows = run("expand", "*", "--evals", "none", *at[:2], "--json").json["rows"]
    assert {row["model-prefix"] for row in rows} == {"qwen3.5", "dsr1"}
    assert all(row["job_name"] for row in rows)
    assert run("expand", "nothing*", *at[:2]).code == 4


def test_explain_knows_every_check(run: Run) -> None:
    names = [line.split()[0] for line in run("explain").out.splitlines()]
    assert {"owner", "recipe", "pareto"} <= set(names)
    assert names[:5] == ["owner", "sweep", "evals", "recipe", "reuse"], "in the order of the checks"
    for name in names:
        assert run("explain", name).code == 0
    assert run("explain", "nonsense").code == 2


def test_explain_fills_its_lines(run: Run) -> None:
    for name in ("recipe", "golden_al", "draft_as_shipped"):
        lines = run("explain", name).out.splitlines()[2:]
        assert max(map(len, lines)) <= 100
        short = [line for line in lines if len(line) < 60]
        assert all(line.endswith(".") for line in short), short
        assert any(line.startswith("Reads") for line in lines)
        assert any(line.startswith("Cannot know: ") for line in lines)


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion_scripts_name_the_commands(run: Run, shell: str) -> None:
    assert "signoff" in run("completion", shell).out


def test_help_lists_every_command(run: Run) -> None:
    ran = run("--help")
    assert ran.code == 0
    assert "signoff" in ran.out
    assert run("--version").out.startswith("reviewer-tui ")
