"""The generator's rules read from its source, the runners file in its three forms, and the queue scores."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings

from reviewer_tui.model.tree import DictTree
from reviewer_tui.sweeps.priority import read_priority
from reviewer_tui.sweeps.rules import NEWEST, Feature, GeneratorRules, read_rules
from reviewer_tui.sweeps.runners import parse_runners
from tests.sweeps import small
from tests.sweeps.yamls import texts

GENERATOR = "utils/matrix_logic/generate_sweep_configs.py"
JUNE = 'def generate_test_config_sweep(args):\n    """Own words."""\n'


def rules_of(source: str, schema: str = "", path: str = GENERATOR) -> GeneratorRules:
    folder = path.rpartition("/")[0]
    return read_rules(DictTree({path: source, f"{folder}/validation.py": schema}), path)


def test_a_generator_without_any_trace_is_the_oldest() -> None:
    rules = rules_of(JUNE)
    assert (rules.feature, rules.recognised) == (Feature.BASE, True)


def test_the_newest_trace_decides() -> None:
    source = f"{JUNE}\nrow[Fields.PP.value] = 1\ndef component_metadata(x): ...\n"
    assert rules_of(source).feature == Feature.COMPONENTS
    assert rules_of(f"{source}\ndef multinode_agentic_exp_name(): ...").feature == NEWEST


def test_constants_are_those_of_the_source() -> None:
    source = (
        f"{JUNE}seq_len_stoi = {{\n  '1k1k': (1024, 1024),\n  '8k1k': (8192, 1024),\n  '4k': (4096, 64),\n}}\n"
        "MIN_EVAL_CONC = 32\nMAX_MULTINODE_AGENTIC_CONCURRENCIES_PER_ALLOCATION = 4  # why\n"
        "MAX_AGENTIC_AVAILABLE_CPU_DRAM_MIB = 1_000\nAGENTIC_EVALS_DISABLED = True\n"
    )
    rules = rules_of(source, "DEFAULT_AGENTIC_DURATION_SECONDS = 60\n")
    assert rules.min_eval_conc == 32
    assert rules.agentic_concs_per_row == 4
    assert rules.dram_cap_mib == 1000
    assert rules.agentic_duration == 60
    assert rules.agentic_evals_disabled
    assert rules.sequence_name(4096, 64) == "4k"
    assert rules.sequence_name(5, 6) == "5_6"


@pytest.mark.parametrize("path", ["infx/matrix/generate.py", "inferencex-e2e/infx/matrix/generate.py"])
def test_an_unknown_generator_follows_the_newest_rules(path: str) -> None:
    assert rules_of(JUNE, path=path) == GeneratorRules()
    assert not rules_of("print()", path=GENERATOR).recognised
    assert read_rules(DictTree({}), None) == GeneratorRules()


@pytest.mark.parametrize(
    ("revision", "feature"),
    [
        ("303669b0e~1", Feature.BASE),
        ("303669b0e", Feature.KV_OFFLOADING),
        ("af224d6c4", Feature.CONTEXT_PARALLEL),
        ("299362730", Feature.MULTINODE_OFFLOADING),
        ("65b8d7f50", Feature.PIPELINE_PARALLEL),
        ("62b2c9bc7", Feature.WORKER_DEFAULTS),
        ("dbc515b38", Feature.COMPONENTS),
        ("f9c22f0e7", Feature.AGENTIC_SPECULATION),
        ("295249127", Feature.AGENTIC_EVALS),
        ("a141bfcb0", Feature.MULTINODE_BUDGET),
        ("23f879df2", Feature.MULTINODE_AGENTIC_EVALS),
    ],
)
def test_the_real_generator_learned_one_after_the_other(real_clone: Path, revision: str, feature: Feature) -> None:
    shown = subprocess.run(
        ["git", "-C", str(real_clone), "show", f"{revision}:{GENERATOR}"], capture_output=True, text=True, check=True
    )
    assert rules_of(shown.stdout).feature == feature


# --- runners ---


def test_labels_machines_and_hardware() -> None:
    runners = parse_runners(small.RUNNERS, "configs/runners.yaml")
    assert runners.machines("b200") == ("b200-cw_0", "b200-dgxc-slurm_1")
    assert runners.machines("nothing") == ()
    assert runners.knows("gb200")
    assert runners.knows("gb200-nv_0")
    assert not runners.knows("h100")
    assert runners.hardware["cluster:b200-dgxc"].available_cpu_dram_mib == 2_000_000
    assert runners.problems == ()


def test_the_mapping_of_june() -> None:
    runners = parse_runners("h100:\n- 'h100-cr_0'\n- 'h100-cr_1'\n", "x")
    assert runners.machines("h100") == ("h100-cr_0", "h100-cr_1")
    assert runners.hardware == {}


def test_the_clusters_of_the_autumn() -> None:
    facts = "    gpus-per-node: 8\n    available-cpu-dram-mib: 5\n"
    text = f"labels:\n  cluster:b200-x: [b200-x_0]\nclusters:\n  b200-x:\n{facts}"
    hardware = parse_runners(text, "x").hardware["cluster:b200-x"]
    assert (hardware.available_cpu_dram_mib, hardware.gpus_per_node) == (5, 8)


@pytest.mark.parametrize(
    ("text", "rule", "line"),
    [
        ("- a\n", "no-mapping", 1),
        ("labels:\n  a: []\n", "runner-label", 2),
        ("labels:\n  a: [x]\n  b: [5]\n", "runner-label", 3),
        ("labels:\n  a: [x]\nhardware:\n  a: { gpus-per-node: 8 }\n", "runner-hardware", 4),
        ("labels:\n  a: [x]\nhardware: []\n", "runner-hardware", 3),
        ("labels:\n  a: [x]\nhardware:\n  a: 5\n", "runner-hardware", 4),
        ("labels: {a: [x]\n", "yaml", 2),
    ],
)
def test_faults_of_the_runners_file_are_located(text: str, rule: str, line: int) -> None:
    runners = parse_runners(text, "configs/runners.yaml")
    assert [(problem.path, problem.rule, problem.line) for problem in runners.problems] == [
        ("configs/runners.yaml", rule, line)
    ]


@settings(max_examples=80, deadline=None)
@given(texts)
def test_no_text_crashes_the_runners_reader(text: str) -> None:
    assert parse_runners(text, "x").path == "x"
    assert parse_runners(f"labels:\n  a: [b]\nhardware:\n{text}", "x").path == "x"


# --- priority ---

PRIORITY = """\
base-score: 1.0
adjustments:
  event: { push: 2.0 }
  multi-node: 1.25
  agentic: 1.0
  eval-only: 0.25
  precision: { fp4: 0.75 }
  spec-decoding: { mtp: 0.75 }
  framework-prefix: { sglang: 0.5, vllm: 0.5, dynamo-sglang: 0.125 }
  model-prefix: { dsr1: 0.0625 }
labels:
  checklist-complete: { names: [done], adjustment: 0.25 }
  patchwork: { names: [patched], score: 0.0, waived-by: [waived] }
"""


@pytest.mark.parametrize(
    ("row", "event", "labels", "score"),
    [
        ({"precision": "fp8", "framework": "trt"}, "pull_request", (), "1.000"),
        ({"precision": "fp4", "framework": "sglang-disagg", "spec-decoding": "mtp"}, "push", (), "5.000"),
        ({"prefill": {}, "scenario-type": "agentic-coding", "eval-only": True}, "pull_request", (), "3.500"),
        ({"framework": "dynamo-sglang", "model-prefix": "dsr1"}, "pull_request", ("done",), "1.438"),
        ({"precision": "fp4"}, "pull_request", ("patched",), "0.000"),
        ({"precision": "fp4"}, "pull_request", ("patched", "waived"), "1.750"),
    ],
)
def test_scores(row: dict[str, object], event: str, labels: tuple[str, ...], score: str) -> None:
    policy = read_priority(DictTree({"configs/ci-priority.yaml": PRIORITY}), "configs")
    assert policy is not None
    assert policy.score(row, event, labels) == score


def test_no_scores_before_there_was_a_file() -> None:
    assert read_priority(DictTree({}), "configs") is None
    assert read_priority(DictTree({}), None) is None
    odd = read_priority(DictTree({"configs/ci-priority.yaml": "base-score: [x]\nlabels: 5\n"}), "configs")
    assert odd is not None
    assert odd.score({}) == "0.000"
