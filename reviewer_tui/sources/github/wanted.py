"""Which files of a revision a review will read, so that they come together and not one by one."""

from __future__ import annotations

from collections.abc import Iterable

from reviewer_tui.model.tree import Tree
from reviewer_tui.policy.layout import WORKFLOW_PATH, WORKFLOWS, Layout


def policy_files(tree: Tree, layout: Layout) -> tuple[str, ...]:
    """What the rules are read from: every file that the layout names, and all files of the folders it names."""
    named = (
        layout.checklist,
        layout.checklist_zh,
        layout.models,
        layout.changelog,
        layout.eval_bars,
        layout.verifier,
        WORKFLOW_PATH,
        layout.owners,
    )
    return (*filter(None, named), *_below(tree, layout.configs, layout.golden, layout.waivers))


def config_files(layout: Layout) -> tuple[str, ...]:
    """What the difference of two revisions is read from."""
    return tuple(filter(None, (*layout.master_configs, layout.runners, layout.changelog)))


def launch_files(tree: Tree, layout: Layout) -> tuple[str, ...]:
    """What serves the models: scripts, recipes and launchers."""
    return tuple(_below(tree, layout.benchmarks, layout.launchers))


def workflow_files(tree: Tree) -> tuple[str, ...]:
    """What continuous integration runs: the sweep, and the verifier."""
    return tuple(path for path in tree.list(WORKFLOWS) if path.endswith((".yml", ".yaml")))


def blobs_of(tree: Tree, paths: Iterable[str]) -> tuple[str, ...]:
    """The object names of the files that are there."""
    return tuple(sha for path in paths if (sha := tree.blob(path)) is not None)


def _below(tree: Tree, *folders: str | None) -> Iterable[str]:
    return (path for folder in folders if folder for path in tree.list(folder))
