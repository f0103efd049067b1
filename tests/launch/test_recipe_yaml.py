"""Servers and clients of YAML recipes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.launch.recipe_yaml import Recipe, read_recipe
from reviewer_tui.model.tree import DictTree
from tests.launch.rows import several_nodes

OLDER = """name: x
model:
  path: org/Big-FP8
  container: lmsysorg/sglang:v0.5.14
  precision: fp8
setup_script: prepare.sh
environment:
  ALL: 1
backend:
  type: sglang
  prefill_environment:
    P: "2"
  decode_environment:
    D: true
  sglang_config:
    prefill:
      tp-size: 4
      disaggregation-mode: prefill
      trust-remote-code: true
      disable-radix-cache: false
    decode:
      tp-size: 8
      cuda-graph-bs: [1, 2]
      disaggregation-mode: decode
benchmark:
  type: sa-bench
  use_chat_template: true
frontend:
  type: sglang
  args:
    policy: round_robin
"""
NEWER = """name: x
model:
  path: org/Big-FP8
engine: sglang
roles:
  prefill:
    env: {P: "2"}
    args:
      tp-size: 4
      trust-remote-code: true
  decode:
    extra_args: [--enable-metrics, --port, "3"]
    args:
      tp-size: 8
environment:
  ALL: 1
"""
VARIANTS = """base:
  model: {path: org/Big-FP8}
  backend:
    type: vllm
    vllm_config:
      aggregated:
        tensor-parallel-size: 4
        max-num-seqs: 64
        compilation-config: {mode: 3, sizes: [1, 2]}
override_wide:
  backend:
    vllm_config:
      aggregated:
        tensor-parallel-size: 8
        max-num-seqs: null
        compilation-config: {sizes: [4]}
zip_override_swept:
  backend:
    vllm_config:
      aggregated:
        max-num-seqs: [1, 2, 3]
        compilation-config: {sizes: [[8, 16]]}
"""


def recipe(text: str, selector: str = "", row: dict[str, Any] | None = None, **files: str) -> Recipe:
    tree = DictTree({"recipes/a.yaml": text, **{name.replace("__", "/") + ".sh": t for name, t in files.items()}})
    return read_recipe(tree, "recipes/a.yaml", row or several_nodes(), selector, aliases={"/ix": ""})


def args(found: Recipe) -> dict[str, dict[str, Any]]:
    return {server.role: dict(server.args) for server in found.servers}


def test_workers_of_an_srt_slurm_recipe() -> None:
    found = recipe(OLDER)
    assert args(found) == {
        "prefill": {"--tensor-parallel-size": 4, "--disaggregation-mode": "prefill", "--trust-remote-code": True},
        "decode": {"--tensor-parallel-size": 8, "--cuda-graph-bs-decode": [1, 2], "--disaggregation-mode": "decode"},
        "router": {"--policy": "round_robin"},
    }
    prefill, decode, router = found.servers
    assert (prefill.env, decode.env) == ({"ALL": "1", "P": "2"}, {"ALL": "1", "D": "true"})
    assert (prefill.engine, prefill.version, prefill.model) == ("sglang", "0.5.14", "org/Big-FP8")
    assert prefill.known
    assert (prefill.path, prefill.line, prefill.arguments.lines["--tensor-parallel-size"]) == ("recipes/a.yaml", 16, 17)
    assert router.engine == "other"
    assert (found.container, found.model_path, found.precision) == ("lmsysorg/sglang:v0.5.14", "org/Big-FP8", "fp8")
    assert found.setup_scripts == ("prepare.sh",)
    (client,) = found.clients
    assert (client.kind, client.chat_template, client.line) == ("fixed", True, 27)
    assert not found.problems


def test_the_newer_schema_says_the_same() -> None:
    found = recipe(NEWER)
    assert args(found) == {
        "prefill": {"--tensor-parallel-size": 4, "--trust-remote-code": True},
        "decode": {"--tensor-parallel-size": 8, "--enable-metrics": True, "--port": 3},
    }
    prefill, decode = found.servers
    assert prefill.env == {"ALL": "1", "P": "2"}
    assert (prefill.line, prefill.arguments.lines["--tensor-parallel-size"]) == (6, 9)
    assert decode.arguments.lines["--port"] == 12


def test_variants() -> None:
    base = {"--tensor-parallel-size": 4, "--max-num-seqs": 64, "--compilation-config": {"mode": 3, "sizes": [1, 2]}}
    assert args(recipe(VARIANTS, "base")) == {"worker": base}
    wide = {"--tensor-parallel-size": 8, "--compilation-config": {"mode": 3, "sizes": [4]}}
    assert args(recipe(VARIANTS, "override_wide")) == {"worker": wide}
    swept = recipe(VARIANTS, "zip_override_swept[1]")
    assert args(swept) == {
        "worker": base | {"--max-num-seqs": 2, "--compilation-config": {"mode": 3, "sizes": [8, 16]}}
    }
    assert swept.servers[0].arguments.lines["--max-num-seqs"] == 21
    assert swept.servers[0].arguments.lines["--tensor-parallel-size"] == 7


@pytest.mark.parametrize(
    ("text", "selector", "says"),
    [
        (VARIANTS, "override_none", "no variant override_none"),
        (VARIANTS, "", "none is chosen"),
        (VARIANTS, "zip_override_swept", "none is chosen"),
        (VARIANTS, "zip_override_swept[9]", "3 values and variant 9"),
        (OLDER, "override_wide", "has no variants"),
        ("backend: {type: sglang}\n", "", "configures no worker"),
        ("other: 1\n", "", "of no known kind"),
        ("- 1\n", "", "no YAML mapping"),
        ("a: [\n", "", ""),
        ("", "", ""),
    ],
)
def test_faults_are_told(text: str, selector: str, says: str) -> None:
    found = recipe(text, selector)
    assert any(says in problem.message and problem.path == "recipes/a.yaml" for problem in found.problems)


def test_a_missing_recipe() -> None:
    found = read_recipe(DictTree({}), "recipes/a.yaml", several_nodes())
    assert not found.readable
    assert [problem.rule for problem in found.problems] == ["missing"]


def test_a_repeated_key_is_told() -> None:
    found = recipe(OLDER.replace("tp-size: 8", "tp-size: 8\n      tp-size: 2"))
    assert args(found)["decode"]["--tensor-parallel-size"] == 2
    assert any(problem.rule == "duplicate-key" and problem.line == 23 for problem in found.problems)


def test_an_image_of_the_row_wins_over_the_container() -> None:
    found = recipe(OLDER, row=several_nodes(image="lmsysorg/sglang:nightly-1"))
    assert found.servers[0].version is None


def test_a_client_without_a_word_on_templates_is_unknown() -> None:
    (client,) = recipe(OLDER.replace("  use_chat_template: true\n", "")).clients
    assert client.chat_template is None


def test_a_client_script_of_the_repository_is_followed() -> None:
    text = OLDER.replace(
        "type: sa-bench\n  use_chat_template: true", "type: custom\n  command: bash /ix/benchmarks/c.sh"
    )
    found = recipe(text, benchmarks__c="aiperf profile --endpoint-type chat\n")
    (client,) = found.clients
    assert (client.kind, client.chat_template, client.path) == ("agentic", True, "benchmarks/c.sh")
    assert found.sources == ("recipes/a.yaml", "benchmarks/c.sh")


def test_llm_d_recipes() -> None:
    text = """prefill:
  tp: 4
  extra-args: --max-num-seqs 8
decode:
  tp: 8
  enable-expert-parallel: true
  env: {A: 1}
"""
    found = recipe(text)
    assert args(found) == {
        "prefill": {"--tensor-parallel-size": 4, "--max-num-seqs": 8},
        "decode": {"--tensor-parallel-size": 8, "--enable-expert-parallel": True},
    }
    assert found.servers[1].env == {"A": "1"}


values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 99) | st.sampled_from(["sglang", "a", "--x 1", "8", "[1]", "true"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["tp-size", "prefill", "x"]), inner),
    max_leaves=6,
)
_KEYS = ["base", "override_a", "backend", "roles", "engine", "model", "type", "sglang_config", "vllm_config", "decode"]
_KEYS += ["aggregated", "environment", "decode_environment", "benchmark", "frontend", "args", "env", "setup_script"]
mappings = st.recursive(values, lambda inner: st.dictionaries(st.sampled_from(_KEYS), inner, max_size=5), max_leaves=20)


@settings(max_examples=150, deadline=None)
@given(mappings, st.sampled_from(["", "base", "override_a", "zip_override_a[1]", "::"]))
def test_any_recipe_is_read(value: Any, selector: str) -> None:
    assert isinstance(recipe(json.dumps(value), selector), Recipe)
