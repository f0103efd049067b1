"""The README's commands are the ones that are really run."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def shell_commands(markdown: str) -> list[str]:
    return [command.strip() for command in re.findall(r"```sh\n(.*?)```", markdown, re.DOTALL)]


def test_ci_runs_the_test_command_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    tests = [command for command in shell_commands(readme) if "pytest" in command]
    assert len(tests) == 1
    assert tests[0] in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def test_readme_opens_the_sample_with_one_command() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert any(command.endswith("reviewer-tui demo") for command in shell_commands(readme))
