"""What is said of files that serve a key and are not in the repository."""

from __future__ import annotations

import pytest

from reviewer_tui.checks.serving import absence
from reviewer_tui.model.tree import DictTree
from reviewer_tui.policy.layout import discover_layout
from reviewer_tui.sweeps.resolve import ResolvedFile, Role
from tests.evidence import SCRIPT, summer


def lost(role: Role, *paths: str) -> list[ResolvedFile]:
    return [ResolvedFile(role=role, path=None, wanted=path) for path in paths]


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (lost("script", SCRIPT), f"k names the script {SCRIPT}, which does not exist at head, so its job will fail."),
        (
            lost("script", SCRIPT, f"{SCRIPT}x"),
            f"k names the script {SCRIPT} and 1 more, which do not exist at head, so its job will fail.",
        ),
        (
            lost("recipe", "recipes/a.yaml"),
            "k: the recipe recipes/a.yaml is not in this repository. Look at it where the launcher checks it out.",
        ),
        (
            lost("recipe", "recipes/a.yaml", "recipes/b.yaml"),
            "k: the recipe recipes/a.yaml and 1 more are not in this repository."
            " Look at them where the launcher checks them out.",
        ),
        (
            [*lost("recipe", "recipes/a.yaml"), *lost("script", SCRIPT)],
            f"k names the script {SCRIPT}, which does not exist at head, so its job will fail.",
        ),
    ],
)
def test_a_path_of_the_repository_itself_comes_from_no_checkout(files: list[ResolvedFile], told: str) -> None:
    assert absence("k", files, discover_layout(DictTree(summer(), "a" * 40))) == told
