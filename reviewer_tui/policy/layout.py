"""Where the repository keeps its things at one revision, and how a path is called at another.

The folders moved twice (2026-07-02 and late September 2026). One pull request can have its base, head and swept
commit in different layouts, so a layout is found per revision, and old and new names of a file are paired before
anything is compared: a pure move changes no key and no script.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from reviewer_tui.model.tree import Tree

Era = Literal["2026-06", "2026-07", "2026-09", "unknown"]

NEW_ROOT = "inferencex-e2e"

OWNERS_PATHS = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
PROMPT_PATH = ".github/codeowner-signoff-verify-prompt.md"
WORKFLOW_PATH = ".github/workflows/codeowner-signoff-verify.yml"


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


def discover_layout(tree: Tree) -> Layout:
    """The layout of a revision: of each thing the first path that exists, newest layout first."""
    root = f"{NEW_ROOT}/" if tree.list(f"{NEW_ROOT}/configs") else ""
    configs = _first_folder(tree, f"{root}configs", ".github/configs")
    checklist = _first_file(tree, f"{root}docs/PR_REVIEW_CHECKLIST.md")
    return Layout(
        era=_era(root, configs),
        root=root,
        configs=configs,
        master_configs=_files(tree, f"{configs}/amd-master.yaml", f"{configs}/nvidia-master.yaml") if configs else (),
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
