"""The golden curves, and which of them applies."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer_tui.model.tree import DictTree
from reviewer_tui.policy.golden import GoldenCurves, parse_golden, read_golden
from reviewer_tui.policy.layout import discover_layout

FILE = "# Source run: https://example.org/1\n# method\nmodel-x:\n  thinking_on:\n    1: 1.80\n    2: 2.50\n"


def curves_named(*names: str) -> GoldenCurves:
    curves = [curve for name in names for curve in parse_golden(FILE, f"golden/{name}.yaml")[0]]
    return GoldenCurves(folder="golden", curves=tuple(curves))


SUMMER = curves_named(
    "dsv4_mtp",
    "dsv4-pro-0813-dspark",
    "dsv41flash_dspark",
    "glm5.2_mtp",
    "kimik3_dspark",
    "kimik3_dspark_probabilistic_sample_method_block_rejection_sample_method",
    "minimaxm3_eagle3",
    "minimaxm3_eagle3_gqa",
    "qwen3.5_mtp",
)
LONG = "kimik3_dspark_probabilistic_sample_method_block_rejection_sample_method"


def test_a_curve_knows_its_cells_and_lines() -> None:
    (curve,), problems = parse_golden(FILE, "golden/model_mtp.yaml")
    assert problems == ()
    assert (curve.name, curve.model, curve.mode) == ("model_mtp", "model-x", "thinking_on")
    assert (curve.levels, curve.lines) == ({1: 1.8, 2: 2.5}, {1: 5, 2: 6})
    assert curve.source == "Source run: https://example.org/1"


def test_a_missing_cell_is_no_curve() -> None:
    (curve,), _ = parse_golden(FILE, "x.yaml")
    assert curve.at(2) == 2.5
    assert curve.at(3) is None


@pytest.mark.parametrize("cell", ["3: 4.1", "3: 0.9", "3: no", "0: 1.0", "x: 1.0", "-1: 1.0", "3: [1.5]", "3: .nan"])
def test_an_impossible_cell_is_named_and_left_out(cell: str) -> None:
    curves, problems = parse_golden(f"{FILE}    {cell}\n", "x.yaml")
    assert [(problem.rule, problem.line) for problem in problems] == [("golden-value", 7)]
    assert curves[0].levels == {1: 1.8, 2: 2.5}


def test_a_repeated_level_is_named() -> None:
    _, problems = parse_golden(f"{FILE}    2: 2.6\n", "x.yaml")
    assert [problem.rule for problem in problems] == ["golden-duplicate"]


@pytest.mark.parametrize(
    ("prefix", "method", "name"),
    [
        ("qwen3.5", "mtp", "qwen3.5_mtp"),
        ("qwen3.5", "EAGLE", "qwen3.5_mtp"),
        ("glm5.2", "nextn", "glm5.2_mtp"),
        ("dsv4", "deepseek_mtp", "dsv4_mtp"),
        ("dsv4", "dspark", "dsv4-pro-0813-dspark"),
        ("dsv41flash", "DSPARK", "dsv41flash_dspark"),
        ("minimaxm3", "eagle", "minimaxm3_eagle3"),
        ("minimaxm3", "eagle3", "minimaxm3_eagle3"),
    ],
)
def test_the_file_is_chosen_by_prefix_and_method(prefix: str, method: str, name: str) -> None:
    choice = SUMMER.choose(prefix, method)
    assert choice.certain
    assert [curve.name for curve in choice.curves] == [name]


def test_the_draft_model_chooses_between_two_heads() -> None:
    choice = SUMMER.choose("minimaxm3", "eagle3", draft_model="Inferact/MiniMax-M3-EAGLE3-GQA")
    assert choice.certain
    assert choice.curve == SUMMER.named("minimaxm3_eagle3_gqa")


@pytest.mark.parametrize(("sampling", "name"), [("greedy", "kimik3_dspark"), ("probabilistic", LONG)])
def test_the_sampling_method_chooses_between_two_curves(sampling: str, name: str) -> None:
    choice = SUMMER.choose("kimik3", "dspark", draft_sample_method=sampling)
    assert choice.certain
    assert [curve.name for curve in choice.curves] == [name]


def test_without_a_sampling_method_two_curves_may_apply_the_plain_one_first() -> None:
    choice = SUMMER.choose("kimik3", "dspark")
    assert not choice.certain
    assert [curve.name for curve in choice.curves] == ["kimik3_dspark", LONG]


def test_a_curve_measured_with_another_sampling_is_not_certain() -> None:
    text = FILE.replace("# method", "# speculative-config: method=dspark | draft_sample_method=probabilistic")
    known = GoldenCurves(folder="golden", curves=parse_golden(text, "golden/dsv4-pro-0813-dspark.yaml")[0])
    assert not known.choose("dsv4", "dspark", draft_sample_method="greedy").certain
    assert known.choose("dsv4", "dspark", draft_sample_method="probabilistic").certain
    assert known.choose("dsv4", "dspark").certain


@pytest.mark.parametrize(
    ("prefix", "method"), [("dsr1", "mtp"), ("glm5", "mtp"), ("kimik2.6", "eagle3"), ("qwen3.5", "dspark"), ("", "mtp")]
)
def test_no_curve_is_no_neighbours_curve(prefix: str, method: str) -> None:
    choice = SUMMER.choose(prefix, method)
    assert choice.curve is None
    assert choice.curves == ()


def test_the_general_word_for_speculation_is_not_certain_for_a_model_without_native_heads() -> None:
    choice = SUMMER.choose("minimaxm3", "mtp")
    assert not choice.certain
    assert [curve.name for curve in choice.curves] == ["minimaxm3_eagle3"]


def test_a_missing_mode_is_no_curve() -> None:
    assert SUMMER.choose("qwen3.5", "mtp", mode="thinking_off").curves == ()


def test_an_unknown_variant_of_a_file_is_not_chosen_silently() -> None:
    choice = curves_named("kimik3_dspark", "kimik3_dspark_int4draft").choose("kimik3", "dspark")
    assert not choice.certain
    assert len(choice.curves) == 2


def test_the_newest_layout(autumn: DictTree) -> None:
    part, problems = read_golden(autumn, discover_layout(autumn))
    assert problems == ()
    assert part.value is not None
    curve = part.value.choose("dsv41flash", "dspark").curve
    assert curve is not None
    assert curve.at(5) == 3.51
    assert curve.at(6) is None
    provisional = part.value.choose("glm5.3", "mtp").curve
    assert provisional is not None
    assert provisional.levels == {3: 2.99}


def test_only_the_folders_own_yaml_files_are_curves() -> None:
    tree = DictTree(
        {
            "golden_al_distribution/a_mtp.yaml": FILE,
            "golden_al_distribution/README.md": "# no curve",
            "golden_al_distribution/raw/b_mtp.yaml": FILE,
        }
    )
    part, problems = read_golden(tree, discover_layout(tree))
    assert problems == ()
    assert part.value is not None
    assert [curve.name for curve in part.value.curves] == ["a_mtp"]


def test_one_bad_file_leaves_the_others() -> None:
    tree = DictTree({"golden_al_distribution/a_mtp.yaml": FILE, "golden_al_distribution/b_mtp.yaml": "{"})
    part, problems = read_golden(tree, discover_layout(tree))
    assert part.state == "partial"
    assert [problem.path for problem in problems] == ["golden_al_distribution/b_mtp.yaml"]


@given(st.text(max_size=200) | st.from_regex(r"m:\n thinking_on:\n(  [0-9]{1,2}: [0-9.]{1,4}\n){1,5}", fullmatch=True))
def test_any_text_is_read(text: str) -> None:
    curves, _ = parse_golden(text, "x.yaml")
    assert all(1 <= value <= level + 1 for curve in curves for level, value in curve.levels.items())


# The committed values of 2026-08-22: file, model key, mode, levels 1 to 8.
TABLE = """\
dsv4_mtp deepseek-v4-pro on 1.79 2.27 2.49 2.54 2.55 2.55 2.54 2.58
dsv4_mtp deepseek-v4-pro off 1.92 2.61 2.97 3.00 3.10 3.16 3.00 3.11
dsv4-pro-0813-dspark deepseek-v4-pro-0813 on 1.84 2.51 3.01 3.36 3.61 3.77 3.73 3.47
glm5.2_mtp glm-5.2-fp8 on 1.84 2.50 2.99 3.33 3.61 3.78 3.91 4.06
kimik2.5_eagle3 kimi-k2.5-nvfp4 on 1.83 2.43 2.88 3.24 3.46 3.62 3.71 3.77
kimik2.5_eagle3 kimi-k2.5-nvfp4 off 1.80 2.33 2.75 3.06 3.25 3.43 3.46 3.51
kimik3_dspark kimi-k3 on 1.84 2.45 2.87 3.22 3.44 3.54 3.78 3.88
LONG kimi-k3 on 1.85 2.51 3.00 3.36 3.62 3.75 3.84 4.00
minimaxm3_eagle3 minimax-m3 on 1.78 2.38 2.83 3.11 3.35 3.45 3.53 3.74
minimaxm3_eagle3 minimax-m3 off 1.84 2.52 2.93 3.41 3.59 3.57 3.85 4.06
minimaxm3_eagle3_gqa minimax-m3 on 1.79 2.39 2.78 3.02 3.21 3.30 3.52 3.51
minimaxm3_eagle3_gqa minimax-m3 off 1.83 2.46 2.97 3.29 3.72 3.76 3.75 3.93
qwen3.5_mtp qwen3.5-397b-a17b-nvfp4 on 1.93 2.73 3.39 3.97 4.41 4.80 5.04 5.21
qwen3.5_mtp qwen3.5-397b-a17b-nvfp4 off 1.92 2.70 3.33 3.83 4.20 4.48 4.73 4.71
"""


def test_the_real_table(real_tree: Callable[[str], DictTree]) -> None:
    tree = real_tree("2026-08-22")
    part, problems = read_golden(tree, discover_layout(tree))
    assert problems == ()
    assert part.value is not None
    found = {(c.name, c.model, c.mode): c.levels for c in part.value.curves}
    expected = {}
    for row in TABLE.replace("LONG", LONG).splitlines():
        name, model, mode, *values = row.split()
        expected[name, model, f"thinking_{mode}"] = {n: float(value) for n, value in enumerate(values, start=1)}
    assert found == expected
    assert all(curve.source.startswith("Source GitHub Actions run: https://") for curve in part.value.curves)
    dspark = part.value.named("dsv4-pro-0813-dspark")
    assert dspark is not None
    assert dspark.sampling == "probabilistic"
