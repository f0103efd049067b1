"""Where things lie in each layout, and how a path is called in another."""

from __future__ import annotations

import pytest

from reviewer_tui.model.tree import DictTree
from reviewer_tui.policy.layout import canonical_path, discover_layout, layout_problems, locate, same_file

SUMMER = {
    "configs/amd-master.yaml": "",
    "configs/nvidia-master.yaml": "",
    "configs/runners.yaml": "",
    "docs/PR_REVIEW_CHECKLIST.md": "",
    "docs/PR_REVIEW_CHECKLIST_zh.md": "",
    "MODELS.md": "",
    "perf-changelog.yaml": "",
    "utils/evals/thresholds.json": "",
    "utils/matrix_logic/generate_sweep_configs.py": "",
    "golden_al_distribution/dsv4_mtp.yaml": "",
    "runners/launch_b200-nv.sh": "",
    ".github/CODEOWNERS": "",
    ".github/workflows/codeowner-signoff-verify.yml": "",
}
JUNE = {path.replace("configs/", ".github/configs/"): text for path, text in SUMMER.items()}


def test_the_newest_layout_wins_over_what_is_left_of_older_ones(autumn: DictTree) -> None:
    layout = discover_layout(autumn)
    assert (layout.era, layout.root) == ("2026-09", "inferencex-e2e/")
    assert layout.models == "inferencex-e2e/docs/MODELS.md"
    assert layout.eval_bars == "inferencex-e2e/infx/evals/thresholds.yaml"
    assert layout.golden == "inferencex-e2e/infx/golden_al_distribution"
    assert layout.generator == "inferencex-e2e/infx/matrix/generate.py"
    assert layout.launchers == "inferencex-e2e/infx/launch"
    assert layout.changelog == "inferencex-e2e/perf-changelog.yaml"
    assert layout.owners == ".github/CODEOWNERS"
    assert layout.verifier == ".github/codeowner-signoff-verify-prompt.md"
    assert layout.waiver(9) == "inferencex-e2e/docs/waiver/9.md"
    assert layout.master_configs == (
        "inferencex-e2e/configs/amd-master.yaml",
        "inferencex-e2e/configs/nvidia-master.yaml",
    )
    assert layout_problems(layout) == ()


def test_the_summer_layout_reads_its_verifier_from_the_workflow() -> None:
    layout = discover_layout(DictTree(SUMMER))
    assert (layout.era, layout.root, layout.configs) == ("2026-07", "", "configs")
    assert layout.verifier == ".github/workflows/codeowner-signoff-verify.yml"
    assert layout.eval_bars == "utils/evals/thresholds.json"


def test_the_june_layout_has_its_configs_below_github() -> None:
    layout = discover_layout(DictTree(JUNE))
    assert (layout.era, layout.configs, layout.runners) == (
        "2026-06",
        ".github/configs",
        ".github/configs/runners.yaml",
    )


def test_bars_in_yaml_win_over_json_and_infx_over_utils() -> None:
    both = {**SUMMER, "utils/evals/thresholds.yaml": ""}
    assert discover_layout(DictTree(both)).eval_bars == "utils/evals/thresholds.yaml"
    all_three = {**both, "infx/evals/thresholds.yaml": ""}
    assert discover_layout(DictTree(all_three)).eval_bars == "infx/evals/thresholds.yaml"


def test_a_revision_without_configs_is_named() -> None:
    layout = discover_layout(DictTree({"README.md": ""}))
    assert layout.era == "unknown"
    assert [problem.rule for problem in layout_problems(layout)] == ["layout-unknown"]


def test_a_missing_master_config_is_named() -> None:
    layout = discover_layout(DictTree({"configs/amd-master.yaml": ""}))
    assert [problem.path for problem in layout_problems(layout)] == ["configs/nvidia-master.yaml"]


@pytest.mark.parametrize(
    "names",
    [
        (".github/configs/amd-master.yaml", "configs/amd-master.yaml", "inferencex-e2e/configs/amd-master.yaml"),
        ("MODELS.md", "docs/MODELS.md", "inferencex-e2e/docs/MODELS.md"),
        ("MODELS_zh.md", "inferencex-e2e/docs/MODELS_zh.md"),
        ("docs/waiver/9.md", "inferencex-e2e/docs/waiver/9.md"),
        ("perf-changelog.yaml", "inferencex-e2e/perf-changelog.yaml"),
        (
            "utils/evals/thresholds.json",
            "utils/evals/thresholds.yaml",
            "infx/evals/thresholds.yaml",
            "inferencex-e2e/infx/evals/thresholds.yaml",
        ),
        ("golden_al_distribution/a.yaml", "infx/golden_al_distribution/a.yaml"),
        ("utils/matrix_logic/generate_sweep_configs.py", "inferencex-e2e/infx/matrix/generate.py"),
        ("utils/evals/gsm8k.yaml", "inferencex-e2e/infx/evals/gsm8k.yaml"),
        ("benchmarks/single_node/x.sh", "inferencex-e2e/benchmarks/single_node/fixed_seq_len/x.sh"),
        ("utils/merge_with_reuse.sh", "inferencex-e2e/infx/workflows/merge_with_reuse.py"),
    ],
)
def test_the_names_of_a_moved_file_are_one(names: tuple[str, ...]) -> None:
    assert len({canonical_path(name) for name in names}) == 1
    assert same_file(names[0], names[-1])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("README.md", "inferencex-e2e/README.md"),
        ("configs/amd-master.yaml", "configs/nvidia-master.yaml"),
        ("configs/deprecated/amd-master.yaml", "configs/amd-master.yaml"),
        ("docs/CONFIGS.md", "configs/CONFIGS.md"),
        ("benchmarks/single_node/agentic/x.sh", "benchmarks/single_node/fixed_seq_len/x.sh"),
        (".github/workflows/a.yml", "workflows/a.yml"),
    ],
)
def test_other_files_stay_different(one: str, other: str) -> None:
    assert not same_file(one, other)


def test_a_path_is_found_in_each_layout(autumn: DictTree) -> None:
    june, summer, late = (discover_layout(tree) for tree in (DictTree(JUNE), DictTree(SUMMER), autumn))
    assert locate("configs/amd-master.yaml", june) == ".github/configs/amd-master.yaml"
    assert locate(".github/configs/amd-master.yaml", summer) == "configs/amd-master.yaml"
    assert locate(".github/configs/amd-master.yaml", late) == "inferencex-e2e/configs/amd-master.yaml"
    assert locate("inferencex-e2e/docs/MODELS_zh.md", summer) == "MODELS_zh.md"
    assert locate("MODELS.md", late) == "inferencex-e2e/docs/MODELS.md"
    assert locate("inferencex-e2e/infx/evals/thresholds.yaml", summer) == "utils/evals/thresholds.json"
    assert locate("inferencex-e2e/infx/evals/gsm8k.yaml", summer) == "utils/evals/gsm8k.yaml"
    assert locate("utils/matrix_logic/validation.py", late) == "inferencex-e2e/infx/matrix/validation.py"
    assert locate("inferencex-e2e/infx/golden_al_distribution/a.yaml", june) == "golden_al_distribution/a.yaml"
    assert locate("benchmarks/benchmark_lib.sh", late) == "inferencex-e2e/benchmarks/benchmark_lib.sh"
    assert locate("inferencex-e2e/benchmarks/benchmark_lib.sh", summer) == "benchmarks/benchmark_lib.sh"
    assert locate(".github/CODEOWNERS", late) == ".github/CODEOWNERS"
    assert locate("README.md", late) == "README.md"


def test_locating_agrees_with_pairing(autumn: DictTree) -> None:
    for path in SUMMER:
        found = locate(path, discover_layout(autumn))
        assert same_file(found, path)
        assert same_file(locate(found, discover_layout(DictTree(SUMMER))), path)
