"""What the models file allows and forbids, line by line and day by day."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer_tui.model.tree import DictTree
from reviewer_tui.policy.deprecations import Deprecations
from reviewer_tui.policy.layout import discover_layout
from reviewer_tui.policy.models_file import parse_models, read_deprecations

MATRIX = """\
## Model support matrix

| Model | Prefix | Date | Active scenarios | Deprecated scenarios |
|---|---|---|---|---|
"""


def models(text: str) -> Deprecations:
    part, problems = parse_models(text, "MODELS.md")
    assert problems == ()
    assert part.value is not None
    return part.value


def worst(
    known: Deprecations, date: str, prefix: str, scenario: str, precision: str = "fp8", method: str | None = ""
) -> str:
    rulings = known.ruling(prefix, scenario, precision, method, date)
    assert all(ruling.path == known.path and ruling.message for ruling in rulings)
    return rulings[0].status


def row(active: str, deprecated: str = "", model: str = "Model X", prefix: str = "`x1`") -> Deprecations:
    return models(f"{MATRIX}| {model} | {prefix} | 2026-01-01 | {active} | {deprecated} |\n")


def notice(block: str, active: str = "Single-turn 8k1k, Agentic coding") -> Deprecations:
    return models(
        f"## Deprecation Notice\n\n### Monday, August 3, 2026\n\n{block}\n\n{MATRIX}| X | `x1` | TBD | {active} | |\n"
        "| Y | `y1` | TBD | Agentic coding | |\n"
    )


RETIREMENT = "| Model | Deprecated | Remains |\n|---|---|---|\n| X (`x1`) | {} | rest |"


# One row of the matrix.


def test_active_is_allowed_and_nothing_else_is() -> None:
    known = row("Single-turn 8k1k, Agentic coding", "Single-turn 1k1k")
    assert worst(known, "2026-08-01", "x1", "8k1k") == "allowed"
    assert worst(known, "2026-08-01", "x1", "1k1k") == "deprecated"
    assert worst(known, "2026-08-01", "x1", "1k8k") == "unknown"
    assert worst(known, "2026-08-01", "x2", "8k1k") == "unknown"


def test_the_evidence_is_the_line() -> None:
    (ruling,) = row("Agentic coding").ruling("x1", "agentic", "fp8", "mtp", "2026-08-01")
    assert (ruling.status, ruling.path, ruling.line) == ("allowed", "MODELS.md", 5)
    assert "MODELS.md:5" in ruling.message


@pytest.mark.parametrize(
    ("cell", "on", "after"),
    [
        ("Single-turn 8k1k (until 2026-08-06)", "2026-08-06", "2026-08-07"),
        ("Single-turn 8k1k (until August 6, 2026)", "2026-08-06", "2026-08-07"),
        ("Single-turn 8k1k — fully retired after 2026-08-06", "2026-08-06", "2026-08-07"),
    ],
)
def test_an_active_cell_can_end(cell: str, on: str, after: str) -> None:
    known = row(cell)
    assert worst(known, on, "x1", "8k1k") == "upcoming"
    assert worst(known, after, "x1", "8k1k") == ("deprecated" if "until" in cell else "unknown")


def test_a_deprecated_cell_with_a_day_ahead_allows_until_then() -> None:
    known = row("Agentic coding", "Single-turn 8k1k (after 2026-09-08, #1)")
    assert worst(known, "2026-09-08", "x1", "8k1k") == "upcoming"
    assert worst(known, "2026-09-09", "x1", "8k1k") == "deprecated"


@pytest.mark.parametrize("cell", ["None (retired 2026-07-18, #1)", "— (retired on 2026-07-18)", "None"])
def test_a_retired_model_is_dead_in_every_scenario(cell: str) -> None:
    for scenario in ("8k1k", "agentic", "1k1k"):
        assert worst(row(cell), "2026-07-18", "x1", scenario) == "deprecated"


def test_precisions_limit_a_row() -> None:
    known = row("Single-turn 8k1k, Agentic coding; fp8/fp4 only", "all bf16 recipes (removed 2026-08-04, #1)")
    assert worst(known, "2026-08-10", "x1", "8k1k", "fp8") == "allowed"
    assert worst(known, "2026-08-10", "x1", "8k1k", "nvfp4") == "allowed"
    assert worst(known, "2026-08-10", "x1", "agentic", "bf16") == "deprecated"
    assert worst(known, "2026-08-10", "x1", "8k1k", "int4") == "unknown"
    assert worst(known, "2026-08-10", "x1", "8k1k", "") == "unknown"


def test_a_remark_can_limit_a_row_of_two_models() -> None:
    known = row("Agentic coding", "Single-turn 1k8k (GLM-5 only)", "GLM-5 / GLM-5.1", "`glm5`, `glm5.1`")
    assert worst(known, "2026-08-10", "glm5", "1k8k") == "deprecated"
    assert worst(known, "2026-08-10", "glm5.1", "1k8k") == "unknown"


def test_a_model_of_the_class_without_a_prefix_is_never_allowed() -> None:
    known = row("Agentic coding", "Single-turn 8k1k", "Kimi-K2.5/2.6/2.7-Code", "`kimik2.5`")
    assert worst(known, "2026-08-10", "kimik2.5", "agentic") == "allowed"
    assert worst(known, "2026-08-10", "kimik2.6", "agentic") == "unknown"
    assert worst(known, "2026-08-10", "kimik2.7", "8k1k") == "deprecated"
    assert worst(known, "2026-08-10", "kimik2", "8k1k") == "unknown"


def test_the_matrix_contradicting_itself_is_judgement() -> None:
    assert worst(row("Single-turn 8k1k", "Single-turn 8k1k"), "2026-08-10", "x1", "8k1k") == "unknown"


def test_only_one_method_without_a_deprecation_is_judgement() -> None:
    known = row("Agentic coding (MTP only)")
    assert worst(known, "2026-08-10", "x1", "agentic", method="mtp") == "allowed"
    assert worst(known, "2026-08-10", "x1", "agentic", method="EAGLE") == "allowed"
    assert worst(known, "2026-08-10", "x1", "agentic", method="") == "unknown"
    assert worst(known, "2026-08-10", "x1", "agentic", method=None) == "unknown"


def test_an_arm_deprecated_from_day_0_is_dead() -> None:
    known = row("Agentic coding (DSpark only)", "Agentic coding non-DSpark arm (deprecated from day 0)")
    assert worst(known, "2026-08-10", "x1", "agentic", method="none") == "deprecated"
    assert worst(known, "2026-08-10", "x1", "agentic", method="dspark") == "allowed"
    assert worst(known, "2026-08-10", "x1", "agentic", method="mtp") == "unknown"
    assert worst(known, "2026-08-10", "x1", "agentic", method=None) == "unknown"


# Notices.


def test_the_day_of_a_block_is_the_last_allowed_one() -> None:
    known = notice(RETIREMENT.format("Single-turn 8k1k"))
    assert worst(known, "2026-08-03", "x1", "8k1k") == "upcoming"
    assert worst(known, "2026-08-04", "x1", "8k1k") == "deprecated"
    assert worst(known, "2026-08-04", "x1", "agentic") == "allowed"
    assert worst(known, "2026-08-04", "y1", "agentic") == "allowed"


def test_a_precision_ends_in_every_scenario() -> None:
    known = notice(RETIREMENT.format("All **bf16** recipes, in every scenario, on NVIDIA and AMD"))
    assert worst(known, "2026-08-04", "x1", "8k1k", "bf16") == "deprecated"
    assert worst(known, "2026-08-04", "x1", "agentic", "bf16") == "deprecated"
    assert worst(known, "2026-08-04", "x1", "8k1k", "fp8") == "allowed"


def test_a_retirement_of_one_vendor_alone_is_judgement() -> None:
    known = notice(RETIREMENT.format("Single-turn 8k1k on AMD"))
    assert worst(known, "2026-08-04", "x1", "8k1k") == "unknown"


def test_an_enacted_notice_that_the_matrix_denies_is_judgement() -> None:
    block = f"**Enacted on 2026-08-04** in #1.\n\n{RETIREMENT.format('Single-turn 8k1k')}"
    assert worst(notice(block), "2026-08-05", "x1", "8k1k") == "unknown"
    assert worst(notice(block, active="Agentic coding"), "2026-08-05", "x1", "8k1k") == "deprecated"


ARMS = "| Model | {} |\n|---|---|---|\n| X (`x1`) | Agentic coding, non-MTP{} | Agentic coding, MTP |"


@pytest.mark.parametrize(
    ("header", "remark", "prose", "status"),
    [
        ("Deprecated arm | Published arm", "", "**Status: not yet enacted.** It still runs.", "not_enacted"),
        ("Standalone A/B baseline to retire | Spec-decode counterpart", "", "", "not_enacted"),
        ("Deprecated arm | Published arm", "", "", "unknown"),
        ("Deprecated arm | Published arm", "", "**Enacted on 2026-08-04** in #1.", "deprecated"),
        ("Deprecated arm | Published arm", " (deprecated from day 0)", "not yet enacted", "deprecated"),
    ],
)
def test_an_arm_is_dead_only_where_it_was_enacted(header: str, remark: str, prose: str, status: str) -> None:
    known = notice(f"{prose}\n\n{ARMS.format(header, remark)}")
    assert worst(known, "2026-08-04", "x1", "agentic", method="") == status
    assert worst(known, "2026-08-04", "x1", "agentic", method="mtp") == "allowed"
    assert worst(known, "2026-08-04", "x1", "8k1k", method="") == "allowed"
    assert worst(known, "2026-08-03", "x1", "agentic", method="") == ("deprecated" if remark else "upcoming")


def test_a_sentence_gives_a_last_day() -> None:
    known = notice("**Friday, August 7, 2026** is the last day for **Single-turn 8k1k** on **X** (`x1`).")
    assert worst(known, "2026-08-07", "x1", "8k1k") == "upcoming"
    assert worst(known, "2026-08-08", "x1", "8k1k") == "deprecated"


def test_a_sentence_that_goes_on_about_the_model_is_read() -> None:
    known = notice("`x1` gave us much. The model is **fully retired after August 6, 2026**.", "Agentic coding")
    assert worst(known, "2026-08-06", "x1", "agentic") == "upcoming"
    assert worst(known, "2026-08-07", "x1", "agentic") == "deprecated"


def test_prose_that_names_no_day_decides_nothing() -> None:
    known = notice("`x1` was deprecated in spirit. Its 8k1k script `a/x1.sh` is kept.")
    assert worst(known, "2026-08-10", "x1", "8k1k") == "allowed"


def test_a_titled_paragraph_alone_is_judgement() -> None:
    known = notice("**X retirement (2026-08-20).** We let go of 8k1k on `x1`.")
    assert worst(known, "2026-08-20", "x1", "8k1k") == "upcoming"
    assert worst(known, "2026-08-21", "x1", "8k1k") == "unknown"
    assert worst(known, "2026-08-21", "x1", "agentic") == "allowed"


# Faults.


def test_an_unknown_table_of_a_notice_is_named_and_judgement() -> None:
    table = "| Model | Moved | Where |\n|---|---|---|\n| X (`x1`) | Single-turn 8k1k | away |"
    text = f"## Deprecation Notice\n\n### August 3, 2026\n\n{table}\n\n{MATRIX}| X | `x1` | - | Single-turn 8k1k | |\n"
    part, problems = parse_models(text, "MODELS.md")
    assert part.state == "partial"
    assert [problem.rule for problem in problems] == ["models-table"]
    assert part.value is not None
    assert worst(part.value, "2026-08-04", "x1", "8k1k") == "unknown"


def test_cells_that_say_nothing_known_are_named() -> None:
    part, problems = parse_models(
        f"{MATRIX}| X | `x1` | - | Agentic coding | the old ways |\n| Y | - | - | - | |\n", "m"
    )
    assert [(problem.rule, problem.line) for problem in problems] == [("models-cell", 5), ("models-row", 6)]
    assert part.value is not None
    assert worst(part.value, "2026-08-04", "x1", "agentic") == "unknown"


def test_a_file_without_a_matrix_is_unavailable() -> None:
    part, problems = parse_models("# Models\n\nSoon.\n", "MODELS.md")
    assert part.state == "unavailable"
    assert [problem.rule for problem in problems] == ["models-matrix"]


def test_a_revision_without_the_file_states_no_deprecation() -> None:
    tree = DictTree({"configs/amd-master.yaml": ""})
    part, problems = read_deprecations(tree, discover_layout(tree))
    assert part.state == "unavailable"
    assert [problem.rule for problem in problems] == ["models-missing"]


LINES = [
    "## Deprecation Notice",
    "### August 3, 2026",
    "## Scenarios",
    "| Scenario | ISL/OSL | Status |",
    "| Model | Prefix | Active | Deprecated |",
    "| Model | Deprecated | Remains |",
    "|---|---|---|---|",
    "| `x1` | `x1` (2026-08-03) | None (until 2026-02-31) | bf16 (( |",
    "| 8k1k | 8192 / 1024 | Deprecated since 0001-01-01 |",
    "**August 6, 2026** is the last day of `x1`.",
    "",
]


@given(
    st.text(max_size=300) | st.lists(st.sampled_from(LINES) | st.text(max_size=20), max_size=25).map("\n".join),
    st.sampled_from(["x1", "", "Ω"]),
    st.sampled_from([None, "", "mtp"]),
)
def test_any_text_is_read(text: str, prefix: str, method: str | None) -> None:
    value = parse_models(text, "MODELS.md")[0].value
    if value is None:
        return
    rulings = value.ruling(prefix, "8k1k", "fp8", method, "2026-08-04")
    assert rulings
    if rulings[0].status in ("allowed", "upcoming"):
        named = {name for row in value.rows for name in row.prefixes} | {
            n for rule in value.rules for n in rule.prefixes
        }
        assert prefix in named


# The newest layout.


@pytest.fixture
def late(autumn: DictTree) -> Deprecations:
    part, problems = read_deprecations(autumn, discover_layout(autumn))
    assert problems == ()
    assert part.value is not None
    return part.value


@pytest.mark.parametrize(
    ("date", "prefix", "scenario", "method", "status"),
    [
        ("2026-09-08", "dsv4", "8k1k", "mtp", "upcoming"),
        ("2026-09-09", "dsv4", "8k1k", "mtp", "deprecated"),
        ("2026-09-09", "dsv4", "agentic", "", "allowed"),
        ("2026-10-20", "kimik3", "agentic", "", "not_enacted"),
        ("2026-10-20", "kimik3", "agentic", "dspark", "allowed"),
        ("2026-10-20", "kimik3", "8k1k", "dspark", "unknown"),
        ("2026-10-20", "glm5.3", "agentic", "", "unknown"),
        ("2026-10-20", "glm5.3", "agentic", "mtp", "allowed"),
        ("2026-10-20", "dsv41flash", "agentic", "dspark", "allowed"),
        ("2026-10-20", "dsv41flash", "1k1k", "dspark", "deprecated"),
        ("2026-10-20", "qwen3.8next", "agentic", "mtp", "allowed"),
        ("2026-10-20", "qwen3.9", "agentic", "mtp", "unknown"),
        ("2026-09-20", "glm5.1", "8k1k", "", "unknown"),
        ("2026-09-20", "glm5.1", "1k1k", "", "unknown"),
        ("2026-10-02", "glm5.1", "8k1k", "", "deprecated"),
        ("2026-10-02", "glm5.1", "1k1k", "", "deprecated"),
        ("2026-10-20", "qwen3.5", "8k1k", "mtp", "allowed"),
    ],
)
def test_the_newest_models_file(
    late: Deprecations, date: str, prefix: str, scenario: str, method: str, status: str
) -> None:
    assert worst(late, date, prefix, scenario, "fp4", method) == status


def test_scenarios_and_engines_of_the_newest_models_file(late: Deprecations) -> None:
    assert late.scenario_of(8192, 1024) == "8k1k"
    assert late.scenario_of(32768, 1024) == "32k1k"
    kimi, qwen = late.engines_of("kimik3"), late.engines_of("qwen3.8next")
    assert kimi is not None
    assert qwen is not None
    assert (kimi.engines, kimi.drafts) == (("vllm",), "x/DSpark")
    assert qwen.engines == ("sglang",)
    assert late.engines_of("dsv4") is None


# Real days. Every combination: date, prefix, scenario, precision, method, status.

JULY = """\
2026-07-28 kimik2.5 8k1k fp4 - upcoming
2026-08-06 kimik2.5 8k1k fp4 - upcoming
2026-08-07 kimik2.5 8k1k fp4 - deprecated
2026-07-28 kimik2.5 agentic fp4 - allowed
2026-07-28 minimaxm3 8k1k fp4 mtp allowed
2026-07-28 dsr1 1k1k fp8 - deprecated
2026-07-28 glm5 8k1k fp8 - deprecated
2026-07-28 kimik3 agentic fp4 - allowed
"""
EARLY_AUGUST = """\
2026-08-05 kimik2.5 8k1k fp4 - upcoming
2026-08-07 kimik2.5 8k1k fp4 - deprecated
2026-08-05 kimik2.6 8k1k fp4 - unknown
2026-08-07 kimik2.6 8k1k fp4 - deprecated
2026-08-05 kimik2.5 agentic fp4 mtp deprecated
2026-08-03 minimaxm3 8k1k fp4 mtp upcoming
2026-08-04 minimaxm3 8k1k fp4 mtp deprecated
2026-08-05 qwen3.5 8k1k bf16 - deprecated
2026-08-03 qwen3.5 8k1k bf16 - upcoming
2026-08-05 dsv4 agentic fp4 - not_enacted
2026-08-05 kimik3 agentic fp4 - deprecated
2026-08-05 kimik3 agentic fp4 dspark allowed
"""
LATE_AUGUST = """\
2026-08-22 dsr1 8k1k fp8 - allowed
2026-08-22 dsr1 8k1k fp4 mtp allowed
2026-08-22 dsv4 8k1k fp4 mtp allowed
2026-08-22 qwen3.5 8k1k fp4 mtp allowed
2026-08-22 qwen3.5 8k1k fp8 - allowed
2026-08-22 qwen3.5 agentic bf16 mtp deprecated
2026-08-22 qwen3.8 agentic fp8 mtp allowed
2026-08-22 kimik3 agentic fp4 dspark allowed
2026-08-22 kimik3 agentic fp4 - deprecated
2026-08-22 kimik3 8k1k fp4 dspark unknown
2026-08-22 glm5.2 agentic fp8 mtp allowed
2026-08-22 glm5.2 agentic fp8 - not_enacted
2026-08-22 minimaxm3 agentic fp4 eagle3 allowed
2026-08-22 minimaxm3 agentic fp4 - not_enacted
2026-08-22 minimaxm3 8k1k fp4 eagle3 deprecated
2026-08-22 dsv4 agentic fp4 - not_enacted
2026-08-22 dsv4 agentic fp4 dspark allowed
2026-08-22 qwen3.5 agentic fp8 - not_enacted
2026-08-22 kimik2.5 8k1k fp4 - deprecated
2026-08-22 kimik2.5 agentic fp4 mtp deprecated
2026-08-22 kimik2.6 8k1k fp4 - deprecated
2026-08-22 kimik2.7 agentic fp4 - deprecated
2026-08-22 glm5 8k1k fp8 - deprecated
2026-08-22 glm5.1 1k1k fp8 - deprecated
2026-08-22 minimaxm2.5 8k1k fp8 - deprecated
2026-08-22 gptoss 8k1k fp4 - deprecated
2026-08-22 llama70b 8k1k fp8 - deprecated
2026-08-22 dsv4 1k1k fp4 - deprecated
2026-08-22 dsv4 1k8k fp4 - deprecated
2026-08-22 newmodel 1k1k fp4 - deprecated
2026-08-22 newmodel 8k1k fp4 - unknown
2026-08-22 newmodel agentic fp4 mtp unknown
"""


@pytest.mark.parametrize(
    ("day", "table"),
    [
        ("2026-07-28", JULY),
        ("2026-08-05", EARLY_AUGUST),
        ("2026-08-13", LATE_AUGUST),
        ("2026-08-22", LATE_AUGUST),
    ],
)
def test_real_days(real_tree: Callable[[str], DictTree], day: str, table: str) -> None:
    tree = real_tree(day)
    part, problems = read_deprecations(tree, discover_layout(tree))
    assert problems == ()
    assert part.complete
    assert part.value is not None
    assert len(part.value.rows) == 12
    assert [row.scenario for row in part.value.scenarios] == ["agentic", "8k1k", "1k1k", "1k8k"]
    for line in table.splitlines():
        date, prefix, scenario, precision, method, status = line.split()
        assert (line, worst(part.value, date, prefix, scenario, precision, method.strip("-"))) == (line, status)


def test_1k1k_died_on_the_17th_of_july(real_tree: Callable[[str], DictTree]) -> None:
    tree = real_tree("2026-08-22")
    known = read_deprecations(tree, discover_layout(tree))[0].value
    assert known is not None
    rule = next(rule for rule in known.rules if rule.source == "scenarios" and rule.scenario == "1k1k")
    assert (rule.prefixes, rule.last_day) == ((), "2026-07-16")
    assert rule.dead_on("2026-07-17")
    assert not rule.dead_on("2026-07-16")


def test_days_before_the_file_have_no_source(real_tree: Callable[[str], DictTree]) -> None:
    tree = real_tree("2026-07-15")
    assert read_deprecations(tree, discover_layout(tree))[0].state == "unavailable"


def test_the_real_engine_table(real_tree: Callable[[str], DictTree]) -> None:
    tree = real_tree("2026-08-22")
    known = read_deprecations(tree, discover_layout(tree))[0].value
    assert known is not None
    engines = {prefix: row.engines for row in known.engines for prefix in row.prefixes}
    assert engines == {
        "dsv4": ("vllm", "sglang"),
        "kimik3": ("vllm",),
        "minimaxm3": ("vllm",),
        "glm5.2": ("sglang",),
        "qwen3.5": ("sglang",),
    }
