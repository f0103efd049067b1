"""Eval bars in all three forms of their file."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer_tui.model.tree import DictTree
from reviewer_tui.policy.eval_bars import EvalBars, parse_eval_bars, read_eval_bars
from reviewer_tui.policy.layout import discover_layout

NESTED_YAML = "# note\ndefault:\n  gsm8k: 0.90\nmodels:\n  glm5.1:\n    gsm8k: 0.93\n"
NESTED_JSON = json.dumps({"default": {"gsm8k": 0.9}, "models": {"glm5.1": {"gsm8k": 0.93}}}, indent=2)


def bars(text: str) -> EvalBars:
    part, problems = parse_eval_bars(text, "bars")
    assert problems == ()
    assert part.complete
    assert part.value is not None
    return part.value


@pytest.mark.parametrize("text", [NESTED_YAML, NESTED_JSON, NESTED_JSON.replace("  ", "\t")])
def test_model_bars_override_the_default_by_exact_prefix(text: str) -> None:
    found = bars(text)
    model, default = found.bar("gsm8k", "glm5.1"), found.bar("gsm8k", "glm5.2")
    assert model is not None
    assert default is not None
    assert (model.value, model.source) == (0.93, "models.glm5.1")
    assert (default.value, default.source) == (0.9, "default")
    assert found.bar("swebench_lite", "glm5.1") is None


def test_the_line_of_a_bar_is_known() -> None:
    bar = bars(NESTED_YAML).bar("gsm8k", "glm5.1")
    assert bar is not None
    assert (bar.path, bar.line) == ("bars", 6)


def test_a_flat_file_is_all_default() -> None:
    found = bars('{"gsm8k": 0.85, "default": 0.5}')
    assert {task: bar.value for task, bar in found.default.items()} == {"gsm8k": 0.85, "default": 0.5}
    assert found.models == {}


def test_a_bar_of_zero_is_a_bar(autumn: DictTree) -> None:
    part, problems = read_eval_bars(autumn, discover_layout(autumn))
    assert problems == ()
    assert part.value is not None
    bar = part.value.bar("kimi_tool_call_schema", "kimik3")
    assert bar is not None
    assert (bar.value, bar.line) == (0.0, 2)


@pytest.mark.parametrize("value", ["1.5", "-0.1", ".nan", "high", "[0.9]", "{deep: {er: 0.9}}", "null"])
def test_what_is_no_bar_is_named_and_left_out(value: str) -> None:
    part, problems = parse_eval_bars(f"default:\n  gsm8k: 0.9\n  other: {value}\n", "bars")
    assert part.state == "partial"
    assert [(problem.rule, problem.line) for problem in problems] == [("eval-bars-value", 3)]
    assert part.value is not None
    assert set(part.value.default) == {"gsm8k"}


def test_a_repeated_bar_is_named_and_the_later_one_counts() -> None:
    part, problems = parse_eval_bars("default:\n  gsm8k: 0.9\n  gsm8k: 0.8\n", "bars")
    assert [problem.rule for problem in problems] == ["eval-bars-duplicate"]
    assert part.value is not None
    assert part.value.default["gsm8k"].value == 0.8


@pytest.mark.parametrize("text", ["", "# nothing\n", "default: {", "a: &x 0.1\nb: *x\n", "---\na: 0.1\n---\nb: 0.2\n"])
def test_a_file_without_bars_is_unavailable(text: str) -> None:
    part, problems = parse_eval_bars(text, "bars")
    assert part.state == "unavailable"
    assert part.value is None
    assert problems


def test_a_missing_file_is_a_problem() -> None:
    tree = DictTree({"configs/amd-master.yaml": ""})
    part, problems = read_eval_bars(tree, discover_layout(tree))
    assert part.state == "unavailable"
    assert [(problem.rule, problem.path) for problem in problems] == [
        ("eval-bars-missing", "utils/evals/thresholds.yaml")
    ]


@given(st.text(max_size=200) | st.from_regex(r"(default|models|a):\n( {1,3}[a-z]{1,3}: ?[0-9.\[{&*]{0,4}\n){0,4}"))
def test_any_text_is_read(text: str) -> None:
    part, _ = parse_eval_bars(text, "bars")
    assert (part.value is None) == (part.state == "unavailable")
    if part.value:
        assert all(0 <= bar.value <= 1 for bar in part.value.default.values())


@pytest.mark.parametrize(
    ("day", "suffix", "swebench"),
    [("2026-07-04", ".json", None), ("2026-07-15", ".json", None), ("2026-08-22", ".yaml", 0.5)],
)
def test_real_days(real_tree: Callable[[str], DictTree], day: str, suffix: str, swebench: float | None) -> None:
    tree = real_tree(day)
    part, problems = read_eval_bars(tree, discover_layout(tree))
    assert problems == ()
    assert part.value is not None
    assert part.value.path.endswith(suffix)
    expected = {"dsr1": 0.91, "dsv4": 0.91, "glm5": 0.94, "glm5.1": 0.93, "gptoss": 0.91, "minimaxm2.5": 0.92}
    expected |= {"qwen3.5": 0.94, "kimik2.5": 0.9, "kimik3": 0.9, "minimaxm3": 0.9, "glm5.2": 0.9}
    for prefix, value in expected.items():
        bar = part.value.bar("gsm8k", prefix)
        assert bar is not None
        assert bar.value == value
        line = (tree.read(part.value.path) or b"").decode().splitlines()[(bar.line or 0) - 1]
        assert f"{value:.2f}" in line
    found = part.value.bar("swebench_lite", "dsr1")
    assert (found.value if found else None) == swebench
