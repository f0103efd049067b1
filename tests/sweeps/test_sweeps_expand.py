"""Expansion: equal to the repository's generator on real days, and to a slow reference on random entries."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewer_tui.model.config import Entry
from reviewer_tui.sweeps.evals import EvalMode
from reviewer_tui.sweeps.expand import expand_entries, matching_keys
from reviewer_tui.sweeps.master import parse_master
from reviewer_tui.sweeps.rows import canonical, concurrencies
from reviewer_tui.sweeps.rules import NEWEST, Feature, GeneratorRules
from reviewer_tui.sweeps.runners import Hardware, Runners, parse_runners
from reviewer_tui.sweeps.schema import check_entry, refuses
from tests.sweeps import reference, small

MODES: tuple[EvalMode, ...] = ("default", "none", "only", "all")
# What the generator of each day had learned; its source is not part of the data.
DAYS = {
    "2026-07-04": GeneratorRules(feature=Feature.KV_OFFLOADING, agentic_concs_per_row=4),
    "2026-07-15": GeneratorRules(feature=Feature.AGENTIC_SPECULATION, agentic_concs_per_row=4),
    "2026-08-05": GeneratorRules(feature=Feature.MULTINODE_BUDGET),
    "2026-08-13": GeneratorRules(feature=NEWEST),
    "2026-08-22": GeneratorRules(feature=NEWEST),
}


def day_folder(real_data: Path, day: str) -> Path:
    return next(iter((real_data / "inferencex").glob(f"{day}-*")))


def entries_of(folder: Path) -> list[Entry]:
    names = ("nvidia", "amd")
    masters = [parse_master((folder / f"configs/{name}-master.yaml").read_bytes(), f"{name}.yaml") for name in names]
    return [entry for master in masters for entry in master.entries().values()]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("day", DAYS)
def test_rows_are_those_of_the_repositorys_generator(real_data: Path, day: str, mode: EvalMode) -> None:
    folder = day_folder(real_data, day)
    runners = parse_runners((folder / "configs/runners.yaml").read_bytes(), "runners.yaml")
    expansion = expand_entries(entries_of(folder), runners, DAYS[day], mode)
    with gzip.open(folder / f"rows-{mode}.json.gz") as packed:
        assert expansion.plain_rows() == json.load(packed)
    assert not expansion.problems


@pytest.mark.parametrize("day", DAYS)
def test_the_schema_refuses_no_entry_that_the_repository_accepted(real_data: Path, day: str) -> None:
    folder = day_folder(real_data, day)
    runners = parse_runners((folder / "configs/runners.yaml").read_bytes(), "runners.yaml")
    problems = [problem for entry in entries_of(folder) for problem in check_entry(entry, DAYS[day], runners)]
    assert [problem for problem in problems if refuses(problem)] == []
    assert {problem.rule for problem in problems} <= {"undefined-runner"}


def test_a_key_that_cannot_be_expanded_leaves_all_others(real_data: Path) -> None:
    folder = day_folder(real_data, "2026-07-28")
    entries = entries_of(folder)
    runners = parse_runners((folder / "configs/runners.yaml").read_bytes(), "runners.yaml")
    expansion = expand_entries(entries, runners, GeneratorRules(feature=Feature.MULTINODE_BUDGET), "none")
    broken = {entry.key for entry in entries} - {item.key for item in expansion.rows}
    assert broken == {"dsv4-fp4-gb300-dynamo-sglang-agentic-agg", "dsv4-fp4-gb300-dynamo-sglang-agentic-disagg"}
    assert [(problem.rule, problem.line) for problem in expansion.problems] == [
        ("unexpandable", 8035),
        ("unexpandable", 8070),
    ]
    assert "cluster:gb300-nv" in expansion.problems[0].message


def test_fields_stand_in_the_generators_order() -> None:
    rows = small.configs().expand(["*"], "only").rows
    orders = {item.key: " ".join(item.row) for item in rows}
    assert orders["dsr1-fp8-b200-sglang"] == (
        "image model model-prefix precision framework runner isl osl tp pp dcp-size pcp-size conc max-model-len ep"
        " dp-attn spec-decoding exp-name disagg run-eval eval-only"
    )
    assert orders["dsr1-fp8-gb200-dynamo-sglang"] == (
        "image model model-prefix precision framework runner isl osl spec-decoding prefill decode conc max-model-len"
        " exp-name disagg run-eval router kv-p2p-transfer eval-conc eval-only"
    )
    assert orders["dsv4-fp4-b200-vllm-agentic"] == (
        "image model model-prefix precision framework runner tp pp dcp-size pcp-size ep dp-attn spec-decoding conc"
        " kv-offloading total-cpu-dram-gb duration exp-name scenario-type kv-offload-backend run-eval eval-only"
    )


def test_a_row_knows_its_key_and_line() -> None:
    item = small.configs().expand(["dsr1-fp8-b200-sglang"], "none").rows[-1]
    lines = small.ALL.split("\n")
    assert (item.key, item.path, item.row["conc"]) == ("dsr1-fp8-b200-sglang", small.NVIDIA, 8)
    assert "spec-decoding: mtp" in lines[item.line - 1]


def test_names_and_patterns() -> None:
    keys = ["b-one", "b-two", "a-one"]
    assert matching_keys(["*-one", "b-two", "b-one", "?-two", "nothing*", "absent"], keys) == (
        ["b-one", "a-one", "b-two"],
        ["nothing*", "absent"],
    )
    expansion = small.configs().expand(["absent", "dsr1-fp8-mi355x-vllm"], "none")
    assert [problem.rule for problem in expansion.problems] == ["no-such-key"]
    assert {item.key for item in expansion.rows} == {"dsr1-fp8-mi355x-vllm"}


@pytest.mark.parametrize(
    ("arm", "concs"),
    [
        ("conc-start: 4, conc-end: 48", [4, 8, 16, 32, 48]),
        ("conc-start: 7, conc-end: 7", [7]),
        ("conc-list: [9, 3, 9]", [9, 3, 9]),
        ("conc-list: [], conc-start: 1, conc-end: 2", []),
    ],
)
def test_concurrencies(arm: str, concs: list[int]) -> None:
    text = small.AMD_FIXED.replace("conc-start: 4, conc-end: 64", arm)
    rows = expand_entries([small.entry_of(text)], Runners(path=""), GeneratorRules(), "none").rows
    assert [item.row["conc"] for item in rows] == concs


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("tp: 8, conc-start: 4, conc-end: 64", "tp: 8", "`conc-start` is missing"),
        ("tp: 8, conc-start: 4, conc-end: 64", "tp: 8, conc-start: 0, conc-end: 64", "positive numbers"),
        ("conc-end: 64", "conc-end: 99999999999999999", "below a billion"),
        ("conc-start: 4, conc-end: 64", f"conc-list: [{', '.join(['1'] * 2001)}]", "more than 2,000"),
        ("isl: 8192", "isl: long", "must be numbers"),
        ("isl: 8192", "isl: 99999999999999", "below a billion"),
        ("      search-space:", "      spaces:", "`search-space` is missing"),
        ("  image: vllm/vllm-openai-rocm:v1\n", "", "`image` is missing"),
        ("{ tp: 8, conc-start: 4, conc-end: 64 }", "word", "a mapping is expected"),
        ("multinode: false", "multinode: true", "`prefill` is missing"),
    ],
)
def test_what_has_no_rows_says_why(old: str, new: str, word: str) -> None:
    entry = small.entry_of(small.AMD_FIXED.replace(old, new))
    expansion = expand_entries([entry], Runners(path=""), GeneratorRules(), "default")
    assert expansion.rows == ()
    (problem,) = expansion.problems
    assert problem.rule == "unexpandable"
    assert word in problem.message
    assert problem.line is not None


def test_a_field_of_a_newer_generator_is_kept_in_the_rows() -> None:
    text = small.AMD_FIXED.replace("{ tp: 8,", "{ tp: 8, srt-recipe: fast.yaml, spec_decoding: mtp,")
    (first, *_) = expand_entries([small.entry_of(text)], Runners(path=""), GeneratorRules(), "none").rows
    assert first.row["srt-recipe"] == "fast.yaml"
    assert "spec_decoding" not in first.row
    assert first.row["spec-decoding"] == "none"


def test_the_list_of_lengths_of_old_entries() -> None:
    text = small.AMD_FIXED.replace("  scenarios:\n    fixed-seq-len:", "  seq-len-configs:")
    entry = small.entry_of(text.replace("\n    ", "\n  "))
    expansion = expand_entries([entry], Runners(path=""), GeneratorRules(feature=Feature.BASE), "none")
    assert [item.row["conc"] for item in expansion.rows] == [4, 8, 16, 32, 64]
    assert "pp" not in expansion.rows[0].row


def test_agentic_rows_before_offloading_was_named() -> None:
    text = small.AGENTIC.replace("kv-offloading: none", "offloading: cpu").split("      - { tp: 4, kv-off")[0]
    rules = GeneratorRules(feature=Feature.BASE)
    (first, second) = expand_entries([small.entry_of(text)], Runners(path=""), rules, "none").rows
    assert first.row["exp-name"] == "dsv4_tp4_conc1_offloadcpu"
    assert first.row["duration"] == 1800
    assert concurrencies(second.row) == (4,)


# --- random entries against the reference ---

counts = st.integers(1, 4)
tensor = st.sampled_from([1, 2, 4, 8])
speculation = st.sampled_from(["mtp", "draft_model", "none"])
concurrency = st.one_of(
    st.lists(st.integers(1, 300), min_size=1, max_size=4).map(lambda values: {"conc-list": values}),
    st.tuples(st.integers(1, 60), st.integers(0, 300)).map(lambda p: {"conc-start": p[0], "conc-end": sum(p)}),
)
router = st.fixed_dictionaries({"name": st.just("router"), "version": st.sampled_from(["1", "2"])})
backend = st.sampled_from([{"name": "hicache"}, {"name": "mooncake", "version": "3"}])
HARDWARE = {"cluster:b200-dgxc": (2_000_001, 8), "cluster:gb200-nv": (4_000_000, 4)}


@st.composite
def workers(draw: st.DrawFn) -> dict[str, Any]:
    worker: dict[str, Any] = {
        "num-worker": draw(counts),
        "tp": draw(tensor),
        "ep": draw(tensor),
        "dp-attn": draw(st.booleans()),
    }
    if draw(st.booleans()):
        worker["pp"] = draw(st.sampled_from([1, 2]))
    if draw(st.booleans()):
        worker["additional-settings"] = [f"CONFIG_FILE=recipes/{draw(counts)}.yaml"]
    return worker


@st.composite
def arms(draw: st.DrawFn, multinode: bool, agentic: bool) -> dict[str, Any]:
    arm: dict[str, Any] = dict(draw(concurrency))
    if draw(st.booleans()):
        arm["spec-decoding"] = draw(speculation)
    if multinode:
        arm.update(prefill=draw(workers()), decode=draw(workers()))
    else:
        arm["tp"] = draw(tensor)
        for field, values in (("pp", [1, 2]), ("ep", [1, 2, 8]), ("pcp-size", [1, 2]), ("dp-attn", [True, False])):
            if draw(st.booleans()):
                arm[field] = draw(st.sampled_from(values))
    if agentic:
        mode = draw(st.sampled_from(["none", "dram"]))
        if not multinode or mode != "none" or draw(st.booleans()):
            arm["kv-offloading"] = mode
        if mode == "dram":
            arm["kv-offload-backend"] = draw(backend)
    return arm


@st.composite
def entries(draw: st.DrawFn) -> dict[str, Any]:
    multinode, agentic = draw(st.booleans()), draw(st.booleans())
    scenarios: dict[str, Any] = {}
    if agentic:
        space = draw(st.lists(arms(multinode, True), min_size=1, max_size=3))
        scenarios["agentic-coding"] = [
            {"dram-utilization": draw(st.sampled_from([0.5, 0.33, 1])), "search-space": space}
        ]
    if not agentic or draw(st.booleans()):
        lengths = st.sampled_from([(1024, 1024), (8192, 1024), (100, 7)])
        scenarios["fixed-seq-len"] = [
            {"isl": isl, "osl": osl, "search-space": draw(st.lists(arms(multinode, False), min_size=1, max_size=3))}
            for isl, osl in draw(st.lists(lengths, min_size=1, max_size=2))
        ]
    entry = {
        "image": draw(st.sampled_from(["a:1", "b:2"])),
        "model": "org/M",
        "model-prefix": draw(st.sampled_from(["dsr1", "qwen3.5"])),
        "precision": draw(st.sampled_from(["fp4", "fp8"])),
        "framework": draw(st.sampled_from(["vllm", "sglang"])),
        "runner": draw(st.sampled_from(sorted(HARDWARE))),
        "multinode": multinode,
        "scenarios": scenarios,
    }
    if multinode and draw(st.booleans()):
        entry.update({"disagg": True, "kv-p2p-transfer": "nixl"})
    if draw(st.booleans()):
        entry["router"] = draw(router)
    return entry


def fits_its_node(entry: dict[str, Any]) -> bool:
    """Whether rows that offload to memory tile the nodes of their runner, without which there are no rows."""
    _, per_node = HARDWARE[entry["runner"]]
    for item in entry["scenarios"].get("agentic-coding", []):
        for arm in item["search-space"]:
            holder = arm.get("prefill", arm)
            gpus = holder["tp"] * holder.get("pp", 1) * holder.get("pcp-size", 1)
            tiles = per_node % gpus == 0 or ("prefill" in arm and gpus % per_node == 0)
            if arm.get("kv-offloading") == "dram" and not (tiles or ("prefill" not in arm and gpus <= per_node)):
                return False
    return True


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(entries().filter(fits_its_node), min_size=1, max_size=3), st.sampled_from(MODES))
def test_random_entries_expand_as_the_reference_says(made: list[dict[str, Any]], mode: EvalMode) -> None:
    runners = Runners(path="", hardware={label: Hardware(*facts) for label, facts in HARDWARE.items()})
    given_entries = [
        Entry(key=f"key-{index}", path="x", line=1, end_line=1, fields=fields) for index, fields in enumerate(made)
    ]
    for entry in given_entries:
        assert [problem for problem in check_entry(entry, GeneratorRules()) if refuses(problem)] == []
    expansion = expand_entries(given_entries, runners, GeneratorRules(), mode)
    assert expansion.problems == ()
    assert expansion.plain_rows() == reference.rows_of(made, HARDWARE, mode)


# --- memory budgets, and values that no schema allows ---


def budgets(text: str, runners: str = small.RUNNERS, feature: Feature = NEWEST) -> list[int] | str:
    """The memory budgets of an entry's rows, or why there are none."""
    found = parse_runners(runners, "configs/runners.yaml")
    expansion = expand_entries([small.entry_of(text)], found, GeneratorRules(feature=feature), "none")
    if expansion.problems:
        return expansion.problems[0].message
    return [item.row["total-cpu-dram-gb"] for item in expansion.rows]


def test_the_budget_is_the_nodes_share() -> None:
    assert budgets(small.AGENTIC) == [0, 0, 524]
    assert budgets(small.AGENTIC.replace("{ tp: 4, kv-offloading: dram", "{ tp: 8, kv-offloading: dram")) == [
        0,
        0,
        1048,
    ]
    rich = small.RUNNERS.replace("2_000_000", "9_000_000")
    assert budgets(small.AGENTIC, rich) == [0, 0, 749]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("{ tp: 4, kv-offloading: dram", "{ tp: 16, kv-offloading: dram", "do not fit on a node"),
        ("{ tp: 4, kv-offloading: dram", "{ tp: '4', kv-offloading: dram", "must be positive whole numbers"),
        ("dram-utilization: 0.5", "dram-utilization: 2", "above 0 and at most 1"),
        ("kv-offload-backend: { name: hicache }", "kv-offload-backend: hicache", "has no name"),
        ("cluster:b200-dgxc", "cluster:unknown", "which configs/runners.yaml does not give"),
        ("{ tp: 4, kv-offloading: none, conc", "{ tp: 4, conc", "`kv-offloading` is missing"),
    ],
)
def test_budgets_that_cannot_be(old: str, new: str, why: str) -> None:
    assert why in budgets(small.AGENTIC.replace(old, new))


OFFLOADED = "kv-offloading: dram, kv-offload-backend: { name: hicache }, conc-list: [8]"


@pytest.mark.parametrize(
    ("tensor", "result"),
    [(2, [262]), (8, [1048]), (16, [1048]), (3, "do not divide a node"), (12, "do not fill whole nodes")],
)
def test_replicas_of_several_nodes_tile_them(tensor: int, result: list[int] | str) -> None:
    arm = (
        f"{{ prefill: {{ num-worker: 2, tp: {tensor}, ep: 1, dp-attn: false }}, decode: {{ num-worker: 1, tp: 8, ep: 1,"
    )
    text = small.AGENTIC.replace("multinode: false", "multinode: true").split("      - { tp: 4")[0]
    made = budgets(f"{text}      - {arm} dp-attn: false }}, {OFFLOADED} }}\n")
    assert made == result if isinstance(result, list) else result in str(made)


def test_rows_of_multi_node_offloading_before_it_had_budgets() -> None:
    text = small.AGENTIC_MULTINODE
    rules = GeneratorRules(feature=Feature.CONTEXT_PARALLEL, agentic_concs_per_row=2)
    rows = expand_entries([small.entry_of(text)], Runners(path=""), rules, "none").plain_rows()
    assert [row["conc"] for row in rows] == [[8, 32], [16]]
    assert rows[0]["exp-name"] == "dsv4_p1x8_d1x8_conc8x32"
    assert "total-cpu-dram-gb" not in rows[0]
    oldest = expand_entries([small.entry_of(text)], Runners(path=""), GeneratorRules(feature=Feature.BASE), "none")
    assert [item.row["conc"] for item in oldest.rows] == [8, 32, 16]


def test_values_that_no_row_should_hold_still_compare() -> None:
    assert canonical({"b": 2**70, "a": {1: "x", "y": [True]}}) == canonical({"a": {"y": [True], 1: "x"}, "b": 2**70})
    assert canonical({"a": 2**70}) != canonical({"a": 2**71})
