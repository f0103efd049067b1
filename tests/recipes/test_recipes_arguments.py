from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.recipes.arguments import (
    concept_of,
    engine_of,
    read_arguments,
    read_mapping,
    scalar,
    table,
    variable_class,
    words_of,
)
from reviewer_tui.recipes.arm import Engine, Located, Role
from reviewer_tui.recipes.command import server_commands, split_words
from reviewer_tui.recipes.hardware import named_in, sku


def values(engine: Engine, text: str) -> dict[str, Any]:
    return {name: argument.value for name, argument in read_arguments(engine, text.split()).items()}


@pytest.mark.parametrize(
    ("engine", "text", "expected"),
    [
        ("sglang", "--tp 4 --tensor-parallel-size=8", {"tp": 8}),
        ("sglang", "--model x --ep-size 2 --expert-parallel-size 4 --ep 1", {"model": "x", "ep": 1}),
        ("sglang", "--attn-dp-size 8", {"dp": 8, "dp_attn": True}),
        ("sglang", "--enable-dp-attention --dp 8", {"dp_attn": True, "dp": 8}),
        ("sglang", "--enable-dp-attention", {}),
        ("sglang", "--enable-dp-attention --dp-size 1", {"dp": 1}),
        ("sglang", "--enable-flashinfer-allreduce-fusion", {"allreduce_fusion": "auto"}),
        ("sglang", "--nsa-decode-backend tilelang", {"sparse_decode": "tilelang"}),
        ("sglang", "--mamba-scheduler-strategy extra_buffer", {"radix_strategy": "extra_buffer"}),
        ("sglang", "--cuda-graph-bs 1 2 4", {"graph_sizes": (1, 2, 4)}),
        ("sglang", "--mem-fraction-static 0.80", {"memory_fraction": 0.8}),
        ("sglang", "--unknown-flag --other -1", {"--unknown-flag": True, "--other": -1}),
        ("vllm", "acme/Big -tp 4 -ep", {"model": "acme/Big", "tp": 4, "ep_enabled": True}),
        ("vllm", "--tensor_parallel_size 2", {"tp": 2}),
        ("vllm", "--no-enable-prefix-caching", {"prefix_cache": False}),
        ("vllm", '-sc {"method":"mtp","num_speculative_tokens":3,"rejection_sample_method":"synthetic"}',
         {"spec.method": "mtp", "spec.tokens": 3}),
        ("vllm", '-sc {"method":"mtp","n":3} -sc {"method":"eagle"}', {"spec.method": "eagle"}),
        ("vllm", "--attention-config.backend=FLASHINFER", {"attention": "FLASHINFER"}),
        ("vllm", '--attention_config.use_fp4_indexer_cache=true', {"attention_config.use_fp4_indexer_cache": True}),
        ("vllm", '-cc {"pass_config":{"fuse_allreduce_rms":true},"custom_ops":["+x"]}',
         {"allreduce_fusion_rms": True, "compilation.custom_ops": '["+x"]'}),
        ("vllm", '--attention-config.a {"b":1,"c":2} --attention-config.a.b 3',
         {"attention_config.a.c": 2, "attention_config.a.b": 3}),
        ("vllm", "--compilation-config 3", {"compilation": "3"}),
        ("vllm", "--kv-transfer-config {broken", {"kv_transfer": "{broken"}),
    ],
)  # fmt: skip
def test_every_spelling_has_one_name(engine: Engine, text: str, expected: dict[str, Any]) -> None:
    assert values(engine, text) == expected


def test_a_mapping_says_the_same_as_words() -> None:
    mapping = {
        "tensor_parallel_size": 4,
        "--enable-expert-parallel": True,
        "enable-prefix-caching": False,
        "speculative-config": {"method": "mtp"},
        "cudagraph-capture-sizes": [1, 2],
        "eager": None,
    }
    words = read_arguments(
        "vllm",
        [
            "--tensor-parallel-size", "4", "--enable-expert-parallel", "--no-enable-prefix-caching",
            "--speculative-config", '{"method": "mtp"}', "--cudagraph-capture-sizes", "1", "2", "--eager",
        ],
    )  # fmt: skip
    read = read_mapping("vllm", mapping)
    assert {n: a.value for n, a in read.items()} == {n: a.value for n, a in words.items()}


def test_arguments_know_their_lines() -> None:
    words = [Located("--tp", 7), Located("4", 8)]
    assert read_arguments("sglang", words)["tp"].line == 7


def test_degrees_of_parallelism_follow_from_the_arguments() -> None:
    vllm = Role(name="worker", args=read_arguments("vllm", ["m", "-tp", "2", "-dp", "4", "-ep"]))
    assert (vllm.tp, vllm.dp, vllm.ep, vllm.dp_attn) == (2, 4, 8, True)
    sglang = Role(
        name="worker", args=read_arguments("sglang", ["--tp", "8", "--ep", "8", "--speculative-algo", "NEXTN"])
    )
    assert (sglang.tp, sglang.ep, sglang.dp_attn, sglang.shape) == (8, 8, False, "tp8 ep8 NEXTN")
    odd = Role(name="worker", args=read_arguments("sglang", ["--tp", "$TP"]))
    assert odd.tp == 1


flags = st.sampled_from(
    ["--tp", "--attn-dp-size", "--enable-dp-attention", "--dp", "--attention-backend", "--unknown",
     "--mem-fraction-static", "--enable-flashinfer-allreduce-fusion", "--cuda-graph-bs", "--disable-radix-cache"]
)  # fmt: skip
vllm_flags = st.sampled_from(
    ["-tp", "--data-parallel-size", "--enable-expert-parallel", "--speculative-config", "--compilation-config",
     "--kv-transfer-config", "--no-enable-prefix-caching", "--attention-config.backend", "--made-up", "-dcp",
     "--attention_config.a.b", "--attention-config.a", "-sc", "--speculative-config.method.x"]
)  # fmt: skip
words = st.sampled_from(
    ["4", "0.9", "true", "x", "{}", '{"a.b":{"c":[1]},"method":"mtp","n":null}', '{"method":3}', "{", "", "-1", "a=b",
     '{"a\\\\":{".":"[1, 2]"},"":{"":0}}']
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(["sglang", "vllm"]), st.lists(flags | vllm_flags | words, max_size=12))
def test_written_arguments_are_read_back(engine: Engine, tokens: list[str]) -> None:
    first = read_arguments(engine, tokens)
    written = [word for unit in words_of(engine, first) for word in unit]
    again = read_arguments(engine, written)
    assert {n: a.value for n, a in again.items()} == {n: a.value for n, a in first.items()}


def test_the_table_is_consistent() -> None:
    concepts = table().concepts
    assert len({concept.name for concept in concepts}) == len(concepts)
    for engine in ("sglang", "vllm"):
        spelled = [flag for c in concepts for flag in (c.sglang if engine == "sglang" else c.vllm)]
        assert len(set(spelled)) == len(spelled)
    targets = {target for concept in concepts for target in concept.into.values()}
    assert targets <= {concept.name for concept in concepts}
    assert set(table().policies) == {"summer", "autumn"}


def test_classes_of_flags_and_variables() -> None:
    assert concept_of("kv_dtype").cls == "major"
    assert concept_of("--hicache-ratio").cls == "review"
    assert concept_of("compilation.mode").cls == "review"
    assert concept_of("--never-seen").cls == "review"
    assert variable_class("VLLM_ROCM_USE_AITER_MOE") == "review"
    assert variable_class("SGLANG_SIMULATE_ACC_LEN") == "sweep"
    assert variable_class("PYTHONNOUSERSITE") == "plumbing"
    assert [engine_of(name) for name in ("sglang-disagg", "dynamo-vllm", "atom", "trt")] == [
        "sglang",
        "vllm",
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("8", 8),
        ("0.50", 0.5),
        ("1e3", 1000),
        ("-3", -3),
        ("True", True),
        ("x", "x"),
        ('{"b": 1, "a": 2}', '{"a":2,"b":1}'),
    ],
)
def test_scalars_are_typed(word: str, value: Any) -> None:
    assert scalar(word) == value
    assert type(scalar(word)) is type(value)


def test_commands_are_found_in_running_text() -> None:
    text = (
        "export A=1\nB='two words'\n# sglang serve --not this\n"
        "C=3 python3 -m sglang.launch_server --model-path x \\\n  --json '{\"a\": 1}' > log 2>&1 &\n"
        "curl http://x && vllm serve acme/Big -tp 2; echo sglang\n"
    )
    first, second = server_commands(text, 10)
    assert first.words == ("--model-path", "x", "--json", '{"a": 1}')
    assert first.env == {"A": "1", "B": "two words", "C": "3"}
    assert first.line == 13
    assert (second.engine, second.words, second.line) == ("vllm", ("acme/Big", "-tp", "2"), 15)


def test_what_a_page_leaves_to_its_reader_is_a_word() -> None:
    text = "sglang serve --model-path x --node-rank <node-rank> --dist-init-addr <node0-ip>:20000 --tp 16 < /dev/null"
    assert server_commands(text)[0].words[2:] == (
        "--node-rank", "<node-rank>", "--dist-init-addr", "<node0-ip>:20000", "--tp", "16",
    )  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.text("ab '\"\\\n\r\t#=$|&;-", max_size=120))
def test_splitting_words_never_crashes_and_lines_only_grow(text: str) -> None:
    lines = [word.line for word in split_words(text) if isinstance(word, Located)]
    assert lines == sorted(lines)
    assert all(1 <= line <= text.count("\n") + 1 for line in lines)


def test_hardware_names_in_text() -> None:
    assert named_in("On GB200 and b200, MI355X/MI350, RTX PRO 6000 and 8xH100") == (
        "gb200", "b200", "mi355x", "mi350x", "rtx6000pro",
    )  # fmt: skip
    assert named_in("H1000 B2001 xb200x") == ()
    assert [sku(r) for r in ("cluster:b200-dgxc", "h200-cw_1", "mi355x")] == ["b200", "h200", "mi355x"]
