"""The variables that the workflows set for a row."""

from __future__ import annotations

from reviewer_tui.launch.environment import environment_of, settings_of
from reviewer_tui.launch.text import Mixed
from tests.launch.rows import one_node, several_nodes


def test_one_node() -> None:
    found = environment_of(one_node(dp_attn=True, tp=4, conc=[2, 8]))
    assert {k: found[k] for k in ("TP", "DP_ATTENTION", "CONC", "ISL", "MODEL", "IS_AGENTIC", "EVAL_ONLY")} == {
        "TP": "4",
        "DP_ATTENTION": "true",
        "CONC": "2",
        "ISL": "8192",
        "MODEL": "org/Big-FP8",
        "IS_AGENTIC": "0",
        "EVAL_ONLY": "false",
    }
    assert isinstance(found["HF_TOKEN"], Mixed)


def test_agentic_rows_and_their_offload() -> None:
    found = environment_of(one_node(scenario_type="agentic-coding", kv_offload_backend={"name": "hicache", "size": 3}))
    assert found["IS_AGENTIC"] == "1"
    assert found["SCENARIO_SUBDIR"] == "agentic/"
    assert found["KV_OFFLOAD_BACKEND"] == "hicache"
    assert found["KV_OFFLOAD_BACKEND_METADATA"] == '{"name": "hicache", "size": 3}'
    assert environment_of(one_node(kv_offload_backend="lmcache"))["KV_OFFLOAD_BACKEND"] == "lmcache"


def test_evaluations() -> None:
    assert environment_of(one_node(), eval_only=True)["EVAL_ONLY"] == "true"
    assert environment_of(one_node(), eval_only=True)["RUN_EVAL"] == "true"
    assert environment_of(one_node(eval_only=True), eval_only=False)["EVAL_ONLY"] == "false"


def test_several_nodes() -> None:
    worker = {"num-worker": 2, "tp": 8, "ep": 8, "dp-attn": True}
    settings = {"additional-settings": ["CONFIG_FILE=a/b.yaml", "DECODE_NODES=2", "MORE='x y'"]}
    found = environment_of(several_nodes(prefill=worker, decode=worker | settings))
    assert found["CONC_LIST"] == "4 8"
    assert found["PREFILL_NUM_WORKERS"] == "2"
    assert found["DECODE_DP_ATTN"] == "true"
    assert (found["CONFIG_FILE"], found["DECODE_NODES"], found["MORE"]) == ("a/b.yaml", "2", "x y")


def test_settings_are_read_as_the_shell_reads_them() -> None:
    found = settings_of(["A=1", "B=$HOME/x", 'C="a b"', "not a setting"])
    assert (found["A"], found["C"]) == ("1", "a b")
    assert isinstance(found["B"], Mixed)
    assert settings_of(None) == {} == settings_of([])
