"""The verifier's checks, by name, in all forms of its prompt."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer_tui.model.tree import DictTree
from reviewer_tui.policy.layout import discover_layout
from reviewer_tui.policy.verifier import bundled_checks, parse_checks, read_checks

FIRST_NINE = ["owner", "sweep", "evals", "recipe", "reuse", "template", "image"]
ALL = [
    *FIRST_NINE,
    *("deprecated", "architecture", "chat_template", "engine_patch", "golden_al", "append_only"),
    *("draft_as_shipped", "pareto", "description"),
]

WORKFLOW = """\
# ## Check 9 — a comment of the workflow
jobs:
  verify:
    steps:
      - uses: someone/something
        with:
          prompt: |
            You verify.

            ## Check 1 — A passing sweep + evals ran
            Look at the runs.
            ```bash
            gh run list
            ```

            ## Verdict and output
            Post it.
          other: |
            ## Check 2 — Evals pass
"""


def test_the_prompt_block_of_a_workflow() -> None:
    checks, problems = parse_checks(WORKFLOW, "a.yml")
    assert problems == ()
    assert [(check.number, check.name, check.title) for check in checks] == [
        (1, "sweep", "A passing sweep + evals ran")
    ]
    assert checks[0].text == "Look at the runs.\n```bash\ngh run list\n```"
    assert WORKFLOW.splitlines()[(checks[0].line or 0) - 1].strip().startswith("## Check 1")


@pytest.mark.parametrize(
    "heading",
    [
        "## Check 4 — Reuse command posted",
        "### Check 4: Reuse command posted",
        "#### **Check 4** - Reuse command posted ##",
        "# check 4. Reuse command posted",
        "## Check 4 Reuse command posted",
    ],
)
def test_other_forms_of_a_heading(heading: str) -> None:
    (check,), _ = parse_checks(f"{heading}\ntext\n", "p.md")
    assert (check.number, check.name, check.title, check.text) == (4, "reuse", "Reuse command posted", "text")


def test_an_unknown_check_keeps_its_text_and_number() -> None:
    (check,), problems = parse_checks("## Check 16 — The moon is full\nLook up.\n\n### How\nWith eyes.\n", "p.md")
    assert problems == ()
    assert (check.name, check.text) == ("check-16", "Look up.\n\n### How\nWith eyes.")


def test_two_checks_of_one_name_are_both_kept_and_named() -> None:
    text = "## Check 3 — Recipe linked\n## Check 9 — Recipe merged\n## Check 9 — Recipe complete\n"
    checks, problems = parse_checks(text, "p.md")
    assert [check.name for check in checks] == ["recipe", "check-9", "check-9b"]
    assert [problem.line for problem in problems] == [2, 3]


def test_without_a_verifier_the_known_checks_have_no_numbers() -> None:
    tree = DictTree({"configs/amd-master.yaml": ""})
    checks, problems = read_checks(tree, discover_layout(tree))
    assert checks == bundled_checks()
    assert {check.name for check in checks} == set(ALL)
    assert all(check.number is None and check.title for check in checks)
    assert [problem.rule for problem in problems] == ["verifier-missing"]


def test_a_verifier_without_checks_is_a_problem() -> None:
    tree = DictTree({".github/workflows/codeowner-signoff-verify.yml": "jobs: {}\n"})
    checks, problems = read_checks(tree, discover_layout(tree))
    assert checks == bundled_checks()
    assert [problem.rule for problem in problems] == ["verifier-empty"]


def test_the_newest_layout_has_sixteen_checks(autumn: DictTree) -> None:
    checks, problems = read_checks(autumn, discover_layout(autumn))
    assert problems == ()
    assert [(check.number, check.name) for check in checks] == list(enumerate(ALL))


@given(st.text(max_size=300) | st.lists(st.sampled_from(WORKFLOW.splitlines()), max_size=25).map("\n".join))
def test_any_text_is_read(text: str) -> None:
    for path in ("p.md", "w.yml"):
        checks, _ = parse_checks(text, path)
        assert len({check.name for check in checks}) == len(checks)


def test_all_real_prompt_files(real_data: Path) -> None:
    expected = {
        "2026-07-10-a2b54b814": [*FIRST_NINE, "architecture", "chat_template", "engine_patch"],
        "2026-07-10-7abe6612a": [*FIRST_NINE, "architecture", "chat_template", "engine_patch", "golden_al"],
        "2026-08-03-b4be78a29": ALL[:12],
        "2026-08-14-35d731a9e": ALL[:13],
    }
    expected["2026-07-14-9aeaa75d8"] = expected["2026-07-25-ec7168fdd"] = expected["2026-07-10-7abe6612a"]
    expected["2026-08-10-f559835ae"] = expected["2026-08-03-b4be78a29"]
    files = sorted((real_data / "inferencex" / "verifier").iterdir())
    assert [file.stem for file in files] == sorted(expected)
    for file in files:
        checks, problems = parse_checks(file.read_text(), file.name)
        assert problems == ()
        assert [(check.number, check.name) for check in checks] == list(enumerate(expected[file.stem]))
        assert all(len(check.text) > 200 for check in checks)


def test_a_check_moves_its_number_and_keeps_its_name(real_tree: Callable[[str], DictTree]) -> None:
    numbers = []
    for day in ("2026-07-15", "2026-08-22"):
        tree = real_tree(day)
        checks, _ = read_checks(tree, discover_layout(tree))
        numbers.append({check.name: check.number for check in checks})
    assert (numbers[0]["architecture"], numbers[1]["architecture"]) == (7, 8)
    assert (numbers[0]["golden_al"], numbers[1]["golden_al"]) == (10, 11)
