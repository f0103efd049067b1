"""The schema's rules, one by one, each with the line of its fault."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.model.config import Entry
from reviewer_tui.sweeps.rules import Feature, GeneratorRules
from reviewer_tui.sweeps.runners import parse_runners
from reviewer_tui.sweeps.schema import MAX_PROBLEMS, check_entry, refuses
from tests.sweeps import small
from tests.sweeps.yamls import values

ARM = "{ tp: 4, conc-start: 4, conc-end: 8, spec-decoding: mtp }"
OFFLOADED = "{ tp: 4, kv-offloading: dram, kv-offload-backend: { name: hicache }, spec-decoding: mtp, conc-list: [8] }"
PREFILL = "prefill: { num-worker: 1, tp: 8, ep: 8, dp-attn: true }"


def found(text: str, rules: GeneratorRules | None = None) -> list[tuple[str, int | None]]:
    problems = check_entry(small.entry_of(text), rules or GeneratorRules())
    assert all(problem.path == small.NVIDIA for problem in problems)
    return [(problem.rule, problem.line) for problem in problems]


@pytest.mark.parametrize("text", [small.FIXED, small.MULTINODE, small.AGENTIC, small.AGENTIC_MULTINODE])
def test_sound_entries_have_no_faults(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "old", "new", "rule"),
    [
        (small.FIXED, "  precision: fp8\n", "", "missing-field"),
        (small.FIXED, "  precision: fp8\n", "  precision: 8\n", "type"),
        (small.FIXED, "  precision: fp8\n", "  precision: fp8\n  colour: red\n", "unknown-field"),
        (small.FIXED, "  precision: fp8\n", "  precision: fp8\n  kv-p2p-transfer: nixl\n", "unknown-field"),
        (small.FIXED, "multinode: false", "multinode: no-idea", "value"),
        (small.FIXED, "multinode: false", "multinode: false\n  disagg: true", "value"),
        (small.FIXED, "  multinode: false\n", "", "missing-field"),
        (small.FIXED, "model-prefix: dsr1", "model_prefix: dsr1", "snake-case"),
        (small.FIXED, ARM, ARM.replace("spec-decoding", "spec_decoding"), "snake-case"),
        (small.FIXED, ARM, ARM.replace("mtp", "eagle"), "value"),
        (small.FIXED, ARM, ARM.replace("mtp", "null"), "value"),
        (small.FIXED, ARM, ARM.replace("tp: 4", "tp: four"), "type"),
        (small.FIXED, ARM, ARM.replace("tp: 4", "tp: 4, pp: '2'"), "type"),
        (small.FIXED, ARM, ARM.replace("tp: 4", "tp: 4, pp: 0"), "type"),
        (small.FIXED, ARM, ARM.replace("tp: 4", "tp: 4, dcp-size: 3"), "dcp-size"),
        (small.FIXED, ARM, ARM.replace("tp: 4", "tp: 4, dp-attn: maybe"), "type"),
        (small.FIXED, ARM, ARM.replace("conc-end: 8", "conc-end: 2"), "concurrency"),
        (small.FIXED, ARM, ARM.replace("conc-start: 4", "conc-start: 0"), "concurrency"),
        (small.FIXED, ARM, ARM.replace("conc-start: 4, ", ""), "concurrency"),
        (small.FIXED, ARM, ARM.replace("conc-start: 4", "conc-start: 4, conc-list: [1]"), "concurrency"),
        (small.FIXED, ARM, ARM.replace("conc-start: 4, conc-end: 8", "conc-list: [0]"), "concurrency"),
        (small.FIXED, ARM, ARM.replace("conc-start: 4, conc-end: 8", "conc-list: [x]"), "type"),
        (small.FIXED, ARM, ARM.replace("conc-start: 4, conc-end: 8", "conc-list: ['4']"), "text-number"),
        (small.FIXED, ARM, ARM.replace("conc-start: 4", "conc-start: 4, conc-list: []"), "empty-list-with-range"),
        (small.FIXED, ARM, ARM.replace("conc-end: 8", "conc-list: [8]"), "list-with-half-range"),
        (small.FIXED, ARM, ARM.replace("tp: 4", "tp: 4, router: { name: r }"), "missing-field"),
        (
            small.FIXED,
            ARM,
            ARM.replace("tp: 4", "tp: 4, router: { name: r, version: 'image:1' }"),
            "version-from-image",
        ),
        (small.FIXED, ARM, ARM.replace("tp: 4", "tp: 4, router: { name: '', version: '1' }"), "empty"),
        (small.FIXED, "    - isl: 1024\n", "    - isl: 1024\n      seed: 1\n", "unknown-field"),
        (small.MULTINODE, "  kv-p2p-transfer: nixl\n", "", "disagg-transfer"),
        (small.MULTINODE, "conc-list:", "router: { name: r, version: '1' }\n        conc-list:", "declared-twice"),
        (small.MULTINODE, "          num-worker: 2\n", "", "missing-field"),
        (
            small.MULTINODE,
            "          num-worker: 2\n",
            "          num-worker: 2\n          hardware: h1\n",
            "hardware-pair",
        ),
        (small.MULTINODE, "        decode:", "        encode:", "missing-field"),
        (small.AGENTIC, "runner: cluster:b200-dgxc", "runner: b200", "agentic-runner"),
        (small.AGENTIC, "dram-utilization: 0.5", "dram-utilization: 1.5", "value"),
        (small.AGENTIC, "- dram-utilization: 0.5\n      search", "- search", "dram-utilization"),
        (small.AGENTIC, OFFLOADED, OFFLOADED.replace("kv-offload-backend: { name: hicache }, ", ""), "offload-backend"),
        (small.AGENTIC, OFFLOADED, OFFLOADED.replace("dram", "none"), "offload-backend"),
        (small.AGENTIC, OFFLOADED, OFFLOADED.replace("dram", "ssd"), "value"),
        (small.AGENTIC, OFFLOADED, OFFLOADED.replace("tp: 4, ", ""), "topology"),
        (small.AGENTIC, "{ tp: 4, kv-offloading: none,", "{ tp: 4,", "missing-field"),
        (small.AGENTIC, "multinode: false", "multinode: true", "topology"),
        (small.AGENTIC, "agentic-coding:\n", "fixed-seq-len: null\n    agentic-coding:\n", "null-scenario"),
        (small.AGENTIC_MULTINODE, PREFILL, f"{PREFILL}\n        pp: 1", "workers-only"),
        (small.AGENTIC_MULTINODE, PREFILL, f"{PREFILL}\n        ep: 8", "ignored-field"),
        (small.AGENTIC_MULTINODE, PREFILL, "tp: 8", "topology"),
    ],
)
def test_every_rule(text: str, old: str, new: str, rule: str) -> None:
    assert old in text
    changed = text.replace(old, new)
    rules = found(changed)
    assert rule in [name for name, _ in rules]
    lines = changed.split("\n")
    assert all(line is not None and 0 < line <= len(lines) for _, line in rules)


def test_no_scenario() -> None:
    text = f"{small.FIXED.split('scenarios:')[0]}scenarios: {{}}\n"
    assert found(text) == [("no-scenario", 9)]


def test_the_line_of_a_fault_inside_of_a_row() -> None:
    text = small.FIXED.replace(ARM, ARM.replace("mtp", "eagle"))
    ((rule, line),) = found(text)
    assert rule == "value"
    assert line is not None
    assert "eagle" in text.split("\n")[line - 1]


@pytest.mark.parametrize("rule", ["snake-case", "undefined-runner", "ignored-field", "list-with-half-range"])
def test_remarks_do_not_refuse(rule: str) -> None:
    cases = {
        "snake-case": small.FIXED.replace(ARM, ARM.replace("spec-decoding", "spec_decoding")),
        "undefined-runner": small.FIXED.replace("runner: b200", "runner: b999"),
        "ignored-field": small.AGENTIC_MULTINODE.replace(PREFILL, f"{PREFILL}\n        ep: 8"),
        "list-with-half-range": small.FIXED.replace(ARM, ARM.replace("conc-end: 8", "conc-list: [8]")),
    }
    runners = parse_runners(small.RUNNERS, "runners.yaml")
    problems = check_entry(small.entry_of(cases[rule]), GeneratorRules(), runners)
    assert [problem.rule for problem in problems] == [rule]
    assert not any(refuses(problem) for problem in problems)


@pytest.mark.parametrize(
    ("feature", "field", "known"),
    [
        (Feature.CONTEXT_PARALLEL, "pp: 1", False),
        (Feature.PIPELINE_PARALLEL, "pp: 1", True),
        (Feature.KV_OFFLOADING, "dcp-size: 1", False),
        (Feature.CONTEXT_PARALLEL, "dcp-size: 1", True),
        (Feature.WORKER_DEFAULTS, "router: { name: r, version: '1' }", False),
        (Feature.COMPONENTS, "router: { name: r, version: '1' }", True),
    ],
)
def test_fields_are_known_since_the_generator_knows_them(feature: Feature, field: str, known: bool) -> None:
    text = small.FIXED.replace(ARM, ARM.replace("tp: 4", f"tp: 4, {field}"))
    assert found(text, GeneratorRules(feature=feature)) == [] if known else ["unknown-field"]


def test_backends_were_names_before_they_had_versions() -> None:
    text = small.AGENTIC.replace("kv-offload-backend: { name: hicache }", "kv-offload-backend: hicache")
    assert found(text, GeneratorRules(feature=Feature.PIPELINE_PARALLEL)) == []
    assert [rule for rule, _ in found(text)] == ["type"]


def test_rows_known_to_be_faultless_are_not_checked_again() -> None:
    memory: set[bytes] = set()
    sound, faulty = small.entry_of(small.FIXED), small.entry_of(small.FIXED.replace(ARM, ARM.replace("mtp", "eagle")))
    assert check_entry(sound, GeneratorRules(), faultless=memory) == ()
    assert len(memory) == 3
    assert [problem.rule for problem in check_entry(faulty, GeneratorRules(), faultless=memory)] == ["value"]
    assert [problem.rule for problem in check_entry(faulty, GeneratorRules(), faultless=memory)] == ["value"]


def test_a_flood_of_faults_is_cut_off() -> None:
    arms = "\n".join("      - { tp: x }" for _ in range(500))
    text = small.FIXED.split("      - {")[0] + arms
    assert len(found(text)) == MAX_PROBLEMS


@settings(max_examples=50, deadline=None)
@given(
    st.dictionaries(st.sampled_from(["image", "runner", "multinode", "scenarios", "router", 5, "tp"]), values()),
    st.data(),
)
def test_no_entry_crashes_the_schema(fields: dict[Any, Any], data: st.DataObject) -> None:
    if data.draw(st.booleans()):
        scenario = data.draw(st.sampled_from(["fixed-seq-len", "agentic-coding"]))
        item = {"isl": data.draw(values()), "search-space": [data.draw(values()), {"tp": data.draw(values())}]}
        fields["scenarios"] = {scenario: [item, data.draw(values())]}
    entry = Entry(key="k", path="x", line=1, end_line=1, fields=fields)
    for feature in (Feature.BASE, Feature.COMPONENTS, max(Feature)):
        assert check_entry(entry, GeneratorRules(feature=feature))
