"""Which workflow publishes, and which pull requests measured a key before."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reviewer_tui.model.tree import DictTree
from reviewer_tui.policy.layout import discover_layout
from reviewer_tui.sources.clone import CloneSource
from reviewer_tui.sweeps.changelog import ChangelogEntry, parse_changelog
from reviewer_tui.sweeps.publishing import measured_before, publishing_workflow
from tests.fake_github.merged import OTHER_WORKFLOW, WORKFLOW_TEXT
from tests.fake_github.plain import FILES, WORKFLOW


def workflow(text: str = WORKFLOW_TEXT, branch: str = "main", **files: str) -> str | None:
    tree = DictTree({**FILES, ".github/workflows/a.yml": OTHER_WORKFLOW, WORKFLOW: text, **files}, "a" * 40)
    return publishing_workflow(tree, discover_layout(tree), branch)


def test_the_workflow_is_found_by_its_trigger_and_its_lanes() -> None:
    assert workflow() == WORKFLOW
    assert workflow(WORKFLOW_TEXT.replace("on:", '"on":')) == WORKFLOW
    assert workflow(WORKFLOW_TEXT.replace("    branches: [main]\n", "", 1)) == WORKFLOW


@pytest.mark.parametrize(
    "text",
    [
        OTHER_WORKFLOW,
        WORKFLOW_TEXT.replace("  push:", "  workflow_call:"),
        WORKFLOW_TEXT.replace("[main]", "[release]"),
        WORKFLOW_TEXT.replace("perf-changelog.yaml", "other.yaml"),
        WORKFLOW_TEXT.replace("single-node 8k1k /", "unit tests"),
        "on: push\njobs: [1]\n# perf-changelog.yaml\n",
        "on: [push\n# perf-changelog.yaml",
        "- a list\n- perf-changelog.yaml\n",
        "",
    ],
)
def test_what_publishes_nothing(text: str) -> None:
    assert workflow(text) is None


def test_a_branch_that_is_not_swept() -> None:
    assert workflow(branch="release") is None


def test_the_real_workflow() -> None:
    clone = os.environ.get("REVIEWER_TUI_CLONE")
    if not clone:
        pytest.skip("REVIEWER_TUI_CLONE names no clone of InferenceX")
    with CloneSource(Path(clone)) as source:
        for revision in ("main", "843c6254ff69b567f772f6a5fd97675af3d04431"):
            tree = source.tree(revision)
            assert publishing_workflow(tree, discover_layout(tree), "main") == ".github/workflows/run-sweep.yml"


def entries(text: str) -> tuple[ChangelogEntry, ...]:
    found, problems = parse_changelog(text, "perf-changelog.yaml")
    assert not problems
    return found


def made(keys: str, number: int, more: str = "") -> str:
    link = f"https://github.com/o/r/pull/{number}"
    return f'- config-keys: {keys}\n  description: ["x"]\n  pr-link: {link}\n{more}'


HISTORY = entries(
    "\n".join(
        (
            made("[a]", 1),
            made('["a*", "b"]', 2),
            made("[a]", 3, "  evals-only: true\n"),
            made("[b]", 4, "  scenario-type: [agentic-coding]\n"),
            made("[a, b]", 2),
            made("[c]", 5).replace("/pull/5", "/pull/XXX"),
        )
    )
)


@pytest.mark.parametrize(
    ("added", "expected"),
    [
        (made("[a]", 9), {2: ("a",), 1: ("a",)}),
        (made("[b]", 9), {2: ("b",), 4: ("b",)}),
        (made("[b]", 9, "  scenario-type: [fixed-seq-len]\n"), {2: ("b",)}),
        (made('["*"]', 9), {2: ("a", "b"), 4: ("b",), 1: ("a",)}),
        (made("[ab]", 9), {2: ("ab",)}),
        (made("[c]", 9), {}),
        (made("[new]", 9), {}),
        (made("[a]", 9, "  all-evals: true\n"), {}),
    ],
)
def test_who_measured_a_key_before(added: str, expected: dict[int, tuple[str, ...]]) -> None:
    found = measured_before(HISTORY, entries(added), each=2)
    assert list(found.items()) == list(expected.items())


def test_only_so_many_of_each_key() -> None:
    assert list(measured_before(HISTORY, entries(made("[a]", 9)), each=1)) == [2]
