"""The plan of a sweep: lanes, canary, labels, names, coverage, and append-only additions."""

from __future__ import annotations

import pytest

from reviewer_tui.sweeps.append_only import append_only_delta, append_only_scope
from reviewer_tui.sweeps.changelog import ChangelogEntry
from reviewer_tui.sweeps.diff import config_changes
from reviewer_tui.sweeps.lanes import (
    artifact_names,
    callee_name,
    collapse,
    family_of,
    job_name,
    prefix_of,
    result_filename,
)
from reviewer_tui.sweeps.plan import SweepPlan, coverage, plan_sweep
from reviewer_tui.sweeps.rows import Row, recipe_fingerprint
from tests.sweeps import small

FULL = ("full-sweep-enabled",)
SGLANG = "dsr1-fp8-b200-sglang"
AGENTIC = "dsv4-fp4-b200-vllm-agentic"
CONFIGS = small.configs()


def entry(*keys: str, **fields: object) -> ChangelogEntry:
    return ChangelogEntry(line=5, end_line=9, config_keys=keys, **fields)  # type: ignore[arg-type]


def plan(*entries: ChangelogEntry, labels: tuple[str, ...] = FULL) -> SweepPlan:
    made = plan_sweep(entries, CONFIGS, labels=labels)
    assert made.problems == ()
    return made


def test_lanes_of_a_key() -> None:
    made = plan(entry(SGLANG))
    assert made.counts == {"single-node 1k1k": 5, "single-node 8k1k": 5, "eval": 2}
    assert made.scenarios == {SGLANG: ("fixed-seq-len", "agentic-coding")}
    assert [lane.row["conc"] for lane in made.family("eval")] == [64, 32]


def test_lanes_of_all_kinds() -> None:
    made = plan(entry("ds*"))
    assert made.counts == {
        "single-node 1k1k": 5,
        "single-node 8k1k": 10,
        "agentic": 3,
        "multi-node 8k1k": 1,
        "multi-node agentic": 3,
        "eval": 4,
        "agentic eval": 1,
        "multi-node eval": 1,
        "multi-node agentic eval": 1,
    }
    assert made.family("multi-node eval")[0].row["eval-conc"] == 256


def test_the_canary_is_the_lowest_concurrency_and_counts_in_its_family() -> None:
    made = plan(entry(SGLANG))
    assert made.canary is not None
    assert (made.canary.family, made.canary.row["conc"], made.canary.prefix) == ("single-node 1k1k", 4, "canary")
    assert made.canary.name.startswith("canary / / ")
    assert plan(entry(SGLANG), labels=("full-sweep-fail-fast-no-canary",)).canary is None
    assert plan(entry(AGENTIC)).canary is None


def test_trimmed_sweeps() -> None:
    made = plan(entry("ds*"), labels=("sweep-enabled",))
    assert [lane.row["conc"] for lane in made.family("single-node 8k1k")] == [4, 16, 4]
    assert [lane.row["conc"] for lane in made.family("multi-node 8k1k")] == [[8]]
    assert len(made.family("multi-node agentic")) == 3
    assert len(made.family("eval")) == 4


def test_labels_that_change_evals() -> None:
    assert plan(entry(SGLANG), labels=("evals-only",)).counts == {"eval": 2}
    wide = plan(entry(SGLANG, "dsv4-fp4-gb200-dynamo-vllm-agentic"), labels=(*FULL, "all-evals"))
    assert wide.counts["eval"] == 5
    assert wide.counts["single-node 8k1k"] == 5
    (merged,) = wide.family("multi-node agentic eval")
    assert (merged.row["conc"], merged.row["eval-conc"]) == ([8, 16, 32], 32)


def test_entries_that_change_evals() -> None:
    assert plan(entry(SGLANG, evals_only=True)).counts == {"eval": 2}
    assert plan(entry(SGLANG, all_evals=True)).counts == {"eval": 5}
    assert plan(entry("ds*", eval_min_prefill_ep=8)).counts["multi-node agentic eval"] == 1
    assert "multi-node eval" not in plan(entry("ds*", eval_min_prefill_ep=8)).counts


def test_an_entry_for_some_scenarios() -> None:
    made = plan(entry("ds*", scenario_types=("agentic-coding",)))
    assert set(made.counts) == {"agentic", "multi-node agentic", "agentic eval", "multi-node agentic eval"}


def test_a_key_named_twice_runs_once_and_the_wider_choice_of_evals_wins() -> None:
    made = plan(entry(SGLANG), entry("dsr1-fp8-b200*"), entry(SGLANG, all_evals=True))
    assert made.counts == {"single-node 1k1k": 5, "single-node 8k1k": 5, "eval": 5}


def test_keys_of_one_entry_share_an_agentic_eval() -> None:
    other = small.AGENTIC.replace(AGENTIC, "dsv4-fp4-b200-vllm-agentic-two").replace("[8]", "[6]")
    configs = small.configs(nvidia=f"{small.AGENTIC}{other}")
    together = plan_sweep([entry("dsv4-*")], configs)
    apart = plan_sweep([entry(AGENTIC), entry(f"{AGENTIC}-two")], configs)
    assert together.counts["agentic eval"] == 1
    assert apart.counts["agentic eval"] == 2


def test_lengths_that_no_job_reads() -> None:
    configs = small.configs(amd=small.AMD_FIXED.replace("isl: 8192", "isl: 4096"))
    made = plan_sweep([entry("dsr1-fp8-mi355x-vllm")], configs)
    assert made.lanes == ()
    assert len(made.unread) == 5


def test_keys_that_do_not_exist() -> None:
    made = plan_sweep([entry("absent", SGLANG)], CONFIGS)
    assert [(problem.rule, problem.line) for problem in made.problems] == [("no-such-key", 5)]
    assert made.counts["single-node 8k1k"] == 5


def test_coverage() -> None:
    old = small.tree()
    new = small.tree(nvidia=small.ALL.replace("conc-end: 48", "conc-end: 64"), amd=small.AMD_FIXED.replace("v1", "v2"))
    changes = config_changes(old, new)
    seen = coverage(changes, plan_sweep([entry(SGLANG, AGENTIC)], small.configs()))
    assert seen.covered == (SGLANG,)
    assert seen.uncovered == {"dsr1-fp8-mi355x-vllm": ("fixed-seq-len",)}
    assert seen.rerun == (AGENTIC,)
    other = coverage(changes, plan_sweep([entry("dsr1-*", scenario_types=("agentic-coding",))], small.configs()))
    assert other.uncovered == {SGLANG: ("fixed-seq-len",), "dsr1-fp8-mi355x-vllm": ("fixed-seq-len",)}


# --- append-only ---


def appended(old: str, new: str, *keys: str, labels: tuple[str, ...] = FULL) -> SweepPlan:
    base, head = small.configs(nvidia=old), small.configs(nvidia=new)
    return plan_sweep([entry(*keys, append_only=True)], head, base, labels)


def test_only_additions_run_and_nothing_is_evaluated() -> None:
    new = small.ALL.replace("conc-list: [16, 64, 32]", "conc-list: [16, 128, 64, 32]")
    made = appended(small.ALL, new, SGLANG)
    assert made.problems == ()
    assert made.append_only
    assert [lane.row["conc"] for lane in made.lanes] == [128]
    multinode = small.ALL.replace("[8, 256, 64]", "[512, 8, 256, 64, 4, 4]")
    made = appended(small.ALL, multinode, "dsr1-fp8-gb200-dynamo-sglang")
    assert [lane.row["conc"] for lane in made.lanes] == [[512, 4]]


@pytest.mark.parametrize(
    ("old", "new", "rules"),
    [
        ("conc-list: [16, 64, 32]", "conc-list: [16, 64, 8]", {"append-only-removed"}),
        (
            "tp: 8, ep: 8, dp-attn: true, conc-list: [16",
            "tp: 8, ep: 4, dp-attn: true, conc-list: [16",
            {"append-only-changed"},
        ),
        ("nothing", "nothing", {"append-only-empty"}),
        (
            "image: lmsysorg/sglang:v1\n  model: org/Model\n  model-prefix: dsr1\n  runner: b200",
            "image: lmsysorg/sglang:v2\n  model: org/Model\n  model-prefix: dsr1\n  runner: b200",
            {"append-only-changed", "append-only-image"},
        ),
        ("  - isl: 1024\n", "  - isl: 2048\n", {"append-only-changed", "append-only-image"}),
        ("conc-list: [1, 4]", "conc-list: [1, 4, 6]", {"append-only-empty", "append-only-scope"}),
    ],
)
def test_what_append_only_may_not_do(old: str, new: str, rules: set[str]) -> None:
    made = appended(small.ALL, small.ALL.replace(old, new), SGLANG)
    assert {problem.rule for problem in made.problems} == rules


def test_append_only_needs_a_key_on_both_sides() -> None:
    made = appended(small.MULTINODE, small.ALL, SGLANG)
    assert {"append-only-scope", "append-only-new-curve"} <= {problem.rule for problem in made.problems}


def test_append_only_does_not_mix() -> None:
    head = small.configs()
    mixed = plan_sweep([entry(SGLANG, append_only=True), entry(AGENTIC)], head, head)
    assert "append-only-mixed" in {problem.rule for problem in mixed.problems}
    labelled = appended(small.ALL, small.ALL.replace("[16, 64, 32]", "[16, 64, 32, 8]"), SGLANG, labels=("all-evals",))
    assert "append-only-label" in {problem.rule for problem in labelled.problems}
    alone = plan_sweep([entry(SGLANG, append_only=True)], head)
    assert (alone.lanes, [problem.rule for problem in alone.problems]) == ((), ["append-only-base"])


def test_append_only_of_one_scenario_keeps_the_others_and_what_is_above() -> None:
    both = small.AGENTIC.replace(
        "    agentic-coding:\n",
        "    fixed-seq-len:\n    - isl: 8192\n      osl: 1024\n      search-space:\n      - { tp: 8, conc-list: [4] }\n"
        "    agentic-coding:\n",
    )
    base = small.configs(nvidia=both)
    for old, new in (("conc-list: [4]", "conc-list: [4, 8]"), ("precision: fp4", "precision: fp8")):
        head = small.configs(nvidia=both.replace(old, new))
        assert len(append_only_scope(base, head, {AGENTIC: ["agentic-coding"]})) == 1
    head = small.configs(nvidia=both.replace("conc-list: [8]", "conc-list: [8, 9]"))
    assert append_only_scope(base, head, {AGENTIC: ["agentic-coding"]}) == ()


def test_the_delta_has_each_new_point_once() -> None:
    base = small.configs().expand([SGLANG], "none").rows
    head = small.configs(nvidia=small.ALL.replace("[16, 64, 32]", "[16, 64, 32, 8, 8]")).expand([SGLANG], "none").rows
    assert [item.row["conc"] for item in append_only_delta(base, head, "x").rows] == [8]


# --- names ---


def rows(key: str, mode: str = "none") -> list[Row]:
    return CONFIGS.expand([key], mode).plain_rows()  # type: ignore[arg-type]


def test_names_of_single_node_jobs() -> None:
    first, *_, last = rows(SGLANG)
    assert callee_name(first) == "dsr1 fp8 b200 sgl TP8    c4"
    assert callee_name(last) == "dsr1 fp8 b200 sgl TP4 mtp   c8"
    assert callee_name(rows(SGLANG)[5]) == "dsr1 fp8 b200 sgl TP8/EP8/DPA    c16"
    assert job_name(first, "3.500") == f"single-node 1k1k / / p3.500 | {callee_name(first)}"
    assert callee_name({**first, "pp": 2, "dcp-size": 4, "pcp-size": 2}) == "dsr1 fp8 b200 sgl TP8/PP2/DCP4/PCP2    c4"


def test_names_of_agentic_jobs() -> None:
    assert (
        collapse(callee_name(rows(AGENTIC)[-1])) == "dsv4 fp4 cluster:b200-dgxc vllm TP4 mtp dram KV offload hicache c8"
    )
    assert collapse(callee_name(rows(AGENTIC, "only")[0])).endswith("c8 | eval-only")


def test_names_of_multi_node_jobs() -> None:
    (row,) = rows("dsr1-fp8-gb200-dynamo-sglang")
    assert collapse(callee_name(row)) == "dsr1 fp8 gb200 dyn-sgl 2P (TP4/EP4/DPA) x 1D (TP8) mtp c8x256x64"
    first, *_ = rows("dsv4-fp4-gb200-dynamo-vllm-agentic")
    assert collapse(callee_name(first)) == "dsv4 fp4 cluster:gb200-nv dynamo-vllm (TP8/EP8/DPA) c8"
    assert job_name(first).startswith("multi-node agentic / / dsv4")


@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        ("canary / / p1.000 | dsr1", "canary"),
        ("single-node 8k1k /", "single-node 8k1k"),
        ("single-node  8k1k / (dsr1) / p1 | x", "single-node 8k1k"),
        ("single-node 8k1k", "single-node 8k1k"),
        ("multi-node agentic eval / / p1", "multi-node agentic eval"),
        ("multi-node agentic / / p1", "multi-node agentic"),
        ("multi-node eval / / p1", "multi-node eval"),
        ("agentic eval / / p1", "agentic eval"),
        ("eval / / p1", "eval"),
        ("evaluation / x", None),
        ("multi-node / / p1", "multi-node"),
        ("collect-evals / eval", None),
        ("check-changelog", None),
    ],
)
def test_prefixes_of_check_runs(name: str, prefix: str | None) -> None:
    assert prefix_of(name) == prefix


def test_a_lane_knows_its_check_run() -> None:
    lane = plan(entry(SGLANG)).family("single-node 8k1k")[0]
    other = plan(entry(SGLANG)).family("single-node 8k1k")[1]
    shown = f"single-node 8k1k / ({lane.row['image']}) / p2.250 | {callee_name(lane.row)}"
    assert lane.matches(shown)
    assert lane.matches(collapse(shown))
    assert not other.matches(shown)
    assert not lane.matches(shown.replace("single-node 8k1k", "single-node 1k1k"))


def test_families_of_rows() -> None:
    kinds = {item.key: family_of(item.row) for item in CONFIGS.expand(["*"], "none").rows}
    assert kinds == {
        SGLANG: "single-node 8k1k",
        "dsr1-fp8-gb200-dynamo-sglang": "multi-node 8k1k",
        AGENTIC: "agentic",
        "dsv4-fp4-gb200-dynamo-vllm-agentic": "multi-node agentic",
        "dsr1-fp8-mi355x-vllm": "single-node 8k1k",
    }
    assert family_of({"isl": 1, "osl": 2}) is None


def test_names_of_artifacts() -> None:
    row = rows(SGLANG)[0]
    print_of = recipe_fingerprint(row)
    name = "dsr1_1k1k_fp8_sglang_tp8-pp1-dcp1-pcp1-ep1-dpafalse_disagg-false_spec-none_conc4_b200-cw_0"
    assert result_filename(row, "b200-cw_0") == f"{name}_recipe-{print_of[:16]}"
    assert artifact_names(row, "b200-cw_0", "") == (f"bmk_{name}",)
    evaluated = rows(SGLANG, "only")[0]
    assert artifact_names(evaluated, "m") == (f"eval_dsr1_8k1k_{result_filename(evaluated, 'm', '')}",)
    agentic = rows(AGENTIC)[0]
    assert [name.partition("_dsv4")[0] for name in artifact_names(agentic, "m")] == ["bmk_agentic", "agentic"]
    (multinode,) = rows("dsr1-fp8-gb200-dynamo-sglang", "only")
    assert artifact_names(multinode, "m") == (
        "eval_dsr1_8k1k_fp8_dynamo-sglang_prefill-tp4-pp1-dcp1-pcp1-ep4-dptrue-nw2"
        "_decode-tp8-pp1-dcp1-pcp1-ep1-dpfalse-nw1_disagg-true_spec-mtp_conc8x256x64_m",
    )


def test_fingerprints_leave_the_point_aside() -> None:
    made = rows(SGLANG)
    assert len({recipe_fingerprint(row) for row in made[:5]}) == 1
    assert len({recipe_fingerprint(row) for row in made}) == 3
    assert recipe_fingerprint({**made[0], "run-eval": True}) != recipe_fingerprint(made[0])
    assert recipe_fingerprint({"b": "é", "a": [1]}) == recipe_fingerprint({"a": [1], "b": "é", "conc": 5})
    assert recipe_fingerprint({"a": 1}) == "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"
