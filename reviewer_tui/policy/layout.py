"""Where the repository keeps its things at one revision, and how a path is called at another.

The folders moved twice (2026-07-02 and late September 2026). One pull request can have its base, head and swept
commit in different layouts, so a layout is found per revision, and old and new names of a file are paired before
anything is compared: a pure move changes no key and no script.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from functools import lru_cache
from typing import Any, Literal, cast

import msgspec

from reviewer_tui.model.finding import Problem
from reviewer_tui.model.tree import Tree

Era = Literal["2026-06", "2026-07", "2026-09", "unknown"]

NEW_ROOT = "inferencex-e2e"

OWNERS_PATHS = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
MASTER_CONFIGS = ("amd-master.yaml", "nvidia-master.yaml")
PROMPT_PATH = ".github/codeowner-signoff-verify-prompt.md"
WORKFLOWS = ".github/workflows"
WORKFLOW_PATH = f"{WORKFLOWS}/codeowner-signoff-verify.yml"


# What lies below the new root; everything else stayed at the top.
_MOVED_WITH_ROOT = frozenset({"benchmarks", "configs", "docs", "infx", "perf-changelog.yaml", "runners", "utils"})
_MOVED_FILES = {
    "MODELS.md": "docs/MODELS.md",
    "MODELS_zh.md": "docs/MODELS_zh.md",
    "utils/evals/thresholds.yaml": "infx/evals/thresholds.yaml",
    "utils/evals/thresholds.json": "infx/evals/thresholds.yaml",
    "utils/matrix_logic/generate_sweep_configs.py": "infx/matrix/generate.py",
    "utils/find_reusable_sweep_run.py": "infx/workflows/reuse.py",
    "utils/merge_with_reuse.sh": "infx/workflows/merge_with_reuse.py",
}
_MOVED_FOLDERS = (
    (".github/configs", "configs"),
    ("golden_al_distribution", "infx/golden_al_distribution"),
    ("utils/evals", "infx/evals"),
    ("utils/matrix_logic", "infx/matrix"),
)
# Single-node scripts were sorted by scenario on 2026-06-02.
_UNSORTED_SCRIPT = re.compile(r"^benchmarks/single_node/[^/]+\.sh$")


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """The paths of one revision: folders without a trailing `/`, None where the revision has no such thing.

    `root` is empty or `inferencex-e2e/`; `verifier` is the prompt file, or the workflow that holds the prompt;
    `waivers` is where a waiver would lie, whether or not there is one yet.
    """

    era: Era
    root: str
    configs: str | None
    master_configs: tuple[str, ...]
    runners: str | None
    checklist: str | None
    checklist_zh: str | None
    models: str | None
    changelog: str | None
    eval_bars: str | None
    golden: str | None
    waivers: str
    generator: str | None
    verifier: str | None
    owners: str | None
    benchmarks: str
    launchers: str | None

    def waiver(self, pull_request: int) -> str:
        """The path at which the waiver of a pull request lies."""
        return f"{self.waivers}/{pull_request}.md"


def layout_problems(layout: Layout) -> tuple[Problem, ...]:
    """What a revision lacks that no review can do without, beyond what its own readers name."""
    if layout.configs is None:
        message = "This revision has no folder of master configs in any known place."
        return (Problem(path="configs", message=message, rule="layout-unknown"),)
    return tuple(
        Problem(path=f"{layout.configs}/{name}", message="This master config is missing.", rule="layout-master-config")
        for name in MASTER_CONFIGS
        if f"{layout.configs}/{name}" not in layout.master_configs
    )


def canonical_path(path: str) -> str:
    """One name for a path of any layout: two paths are the same file, moved, exactly if these names are equal.

    It is the newest layout's name below its root (`inferencex-e2e/configs/amd-master.yaml`, `configs/…` and
    `.github/configs/…` are all `configs/amd-master.yaml`). A path that never moved is its own name.
    """
    inner = path.removeprefix(f"{NEW_ROOT}/")
    if inner != path and inner.split("/", 1)[0] not in _MOVED_WITH_ROOT:
        return path
    if inner in _MOVED_FILES:
        return _MOVED_FILES[inner]
    for old, new in _MOVED_FOLDERS:
        if inner.startswith(f"{old}/"):
            return f"{new}{inner[len(old) :]}"
    if _UNSORTED_SCRIPT.match(inner):
        return f"benchmarks/single_node/fixed_seq_len/{inner.rsplit('/', 1)[1]}"
    return inner


def same_file(path: str, other: str) -> bool:
    """Whether two paths, each of any layout, name the same file."""
    return canonical_path(path) == canonical_path(other)


def locate(path: str, layout: Layout) -> str:
    """The name that a path of any layout has in this one; the path itself where nothing is known to have moved."""
    name = canonical_path(path)
    files = {
        "docs/MODELS.md": layout.models,
        "docs/MODELS_zh.md": layout.models and layout.models.replace(".md", "_zh.md"),
        "infx/evals/thresholds.yaml": layout.eval_bars,
        "infx/matrix/generate.py": layout.generator,
    }
    if found := files.get(name):
        return found
    folders = {
        "configs": layout.configs,
        "infx/golden_al_distribution": layout.golden,
        "infx/evals": layout.eval_bars and layout.eval_bars.rpartition("/")[0],
        "infx/matrix": layout.generator and layout.generator.rpartition("/")[0],
    }
    for canonical, folder in folders.items():
        if folder and name.startswith(f"{canonical}/"):
            return f"{folder}{name[len(canonical) :]}"
    if not layout.root:
        return _before_the_move(name)
    return f"{layout.root}{name}" if name.split("/", 1)[0] in _MOVED_WITH_ROOT else name


def _before_the_move(name: str) -> str:
    """The summer's name of a canonical one: the reverse of the tables, where they are one to one."""
    old_file = next((old for old, new in _MOVED_FILES.items() if new == name), None)
    if old_file is not None:
        return old_file
    for old, new in _MOVED_FOLDERS:
        if name.startswith(f"{new}/") and old != ".github/configs":
            return f"{old}{name[len(new) :]}"
    return name


def discover_layout(tree: Tree) -> Layout:
    """The layout of a revision: of each thing the first path that exists, newest layout first. Kept for the trees of
    the review at hand, of which many ask."""
    return _discovered(cast(Hashable, tree))


@lru_cache(maxsize=8)
def _discovered(tree: Any) -> Layout:
    root = f"{NEW_ROOT}/" if tree.list(f"{NEW_ROOT}/configs") else ""
    configs = _first_folder(tree, f"{root}configs", ".github/configs")
    checklist = _first_file(tree, f"{root}docs/PR_REVIEW_CHECKLIST.md")
    return Layout(
        era=_era(root, configs),
        root=root,
        configs=configs,
        master_configs=_files(tree, *(f"{configs}/{name}" for name in MASTER_CONFIGS)) if configs else (),
        runners=_first_file(tree, f"{configs}/runners.yaml") if configs else None,
        checklist=checklist,
        checklist_zh=_first_file(tree, f"{root}docs/PR_REVIEW_CHECKLIST_zh.md"),
        models=_first_file(tree, f"{root}docs/MODELS.md", "MODELS.md"),
        changelog=_first_file(tree, f"{root}perf-changelog.yaml"),
        eval_bars=_first_file(
            tree,
            f"{root}infx/evals/thresholds.yaml",
            "utils/evals/thresholds.yaml",
            "utils/evals/thresholds.json",
        ),
        golden=_first_folder(tree, f"{root}infx/golden_al_distribution", "golden_al_distribution"),
        waivers=f"{root}docs/waiver",
        generator=_first_file(tree, f"{root}infx/matrix/generate.py", "utils/matrix_logic/generate_sweep_configs.py"),
        verifier=_first_file(tree, PROMPT_PATH, WORKFLOW_PATH),
        owners=_first_file(tree, *OWNERS_PATHS),
        benchmarks=f"{root}benchmarks",
        launchers=_first_folder(tree, f"{root}infx/launch", "runners"),
    )


def _era(root: str, configs: str | None) -> Era:
    if root:
        return "2026-09"
    if configs is None:
        return "unknown"
    return "2026-06" if configs == ".github/configs" else "2026-07"


def _files(tree: Tree, *paths: str) -> tuple[str, ...]:
    return tuple(path for path in paths if tree.blob(path) is not None)


def _first_file(tree: Tree, *paths: str) -> str | None:
    return next(iter(_files(tree, *paths)), None)


def _first_folder(tree: Tree, *paths: str) -> str | None:
    return next((path for path in paths if tree.list(path)), None)
