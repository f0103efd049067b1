"""Trees of real days, and one of the newest layout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reviewer_tui.model.tree import DictTree
from tests.policy.autumn import VERIFIER_PROMPT, autumn_files


@pytest.fixture
def autumn() -> DictTree:
    return DictTree(autumn_files(), revision="a" * 40)


@pytest.fixture(scope="session")
def real_tree(real_data: Path) -> Callable[[str], DictTree]:
    """The tree of a day by the start of its folder's name, with the verifier prompt of that day where it is there."""

    def tree(day: str) -> DictTree:
        root = real_data / "inferencex"
        folder = next(iter(sorted(root.glob(f"{day}*/"))))
        files = {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
        prompts = [p for p in sorted((root / "verifier").iterdir()) if p.name[:10] <= folder.name[:10]]
        if prompts:
            files[VERIFIER_PROMPT] = prompts[-1].read_bytes()
        return DictTree(files, revision=folder.name)

    return tree
