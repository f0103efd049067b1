"""Arguments under one name each, whatever way they are written."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.launch.arguments import (
    Arguments,
    canonical,
    canonical_mapping,
    find_flag,
    flags_of,
    typed,
    version_of,
)
from reviewer_tui.launch.shell_words import Argument
from reviewer_tui.launch.text import Mixed, Unknown

ENGINES = ["sglang", "vllm", "trtllm", "atom", "dynamo"]


def read(text: str, engine: str, version: str | None = None) -> Arguments:
    return canonical([Argument(word, 3) for word in text.split()], engine, version)


@pytest.mark.parametrize(
    ("engine", "text", "values"),
    [
        ("sglang", "--tp 8", {"--tensor-parallel-size": 8}),
        ("sglang", "--tp-size=8 --tp 4", {"--tensor-parallel-size": 4}),
        ("sglang", "--tensor-parallel-s 8", {"--tensor-parallel-size": 8}),
        ("sglang", "--trust-remote-code --port 1", {"--trust-remote-code": True, "--port": 1}),
        ("sglang", "--cuda-graph-bs 1 2 4 --port 1", {"--cuda-graph-bs-decode": [1, 2, 4], "--port": 1}),
        ("sglang", "--mem-fraction-static 0.80", {"--mem-fraction-static": 0.8}),
        ("vllm", "--tensor_parallel_size 8", {"--tensor-parallel-size": 8}),
        ("vllm", "-tp 8 -dp=2", {"--tensor-parallel-size": 8, "--data-parallel-size": 2}),
        ("vllm", "--no-enable-prefix-caching", {"--enable-prefix-caching": False}),
        ("vllm", "--enable-prefix-caching --no-enable-prefix-caching", {"--enable-prefix-caching": False}),
        ("vllm", '--compilation-config {"a":[1,2]}', {"--compilation-config": {"a": [1, 2]}}),
        (
            "vllm",
            "--compilation-config.a.b=3 --compilation-config.c x",
            {"--compilation-config": {"a": {"b": 3}, "c": "x"}},
        ),
        ("vllm", "-O3", {"--optimization-level": 3}),
        (
            "vllm",
            "-cc.pass_config.fuse true -cc.mode=3",
            {"--compilation-config": {"pass_config": {"fuse": True}, "mode": 3}},
        ),
        ("trtllm", "--tp_size 8 --ep_size=4", {"--tensor_parallel_size": 8, "--moe_expert_parallel_size": 4}),
        ("atom", "-tp 8 --kv_cache_dtype fp8", {"--tensor-parallel-size": 8, "--kv-cache-dtype": "fp8"}),
    ],
)
def test_spellings(engine: str, text: str, values: dict[str, object]) -> None:
    found = read(text, engine)
    assert found.values == values
    assert not found.unknown_flags
    assert set(found.lines.values()) == {3}


def test_the_spelling_is_remembered() -> None:
    assert read("--tp 8", "sglang").spellings == {"--tensor-parallel-size": "--tp"}


def test_unknown_flags_are_kept_and_listed() -> None:
    found = read("--frobnicate 3 --tp 8 --zap --q a b", "sglang")
    assert found.values == {"--frobnicate": 3, "--tensor-parallel-size": 8, "--zap": True, "--q": ["a", "b"]}
    assert found.unknown_flags == ("--frobnicate", "--zap", "--q")


def test_words_without_a_flag() -> None:
    found = read("org/model --port 1 rest", "vllm")
    assert found.positional == ("org/model", "rest")


def test_renamed_flags_by_version() -> None:
    replaced = {
        f.name: f.replacement for f in flags_of("sglang", "0.5.14").values() if f.replacement and f.takes == "1"
    }
    assert replaced
    for name, replacement in replaced.items():
        found = read(f"{name} 3", "sglang", "0.5.14")
        assert found.deprecated == {name: replacement}
        assert found.values == {replacement: 3}


def test_a_switch_may_stand_for_a_value_of_its_successor() -> None:
    assert read("--cuda-graph-max-bs 3", "sglang", "0.5.8").deprecated == {}
    found = read("--disable-piecewise-cuda-graph", "sglang", "0.5.14")
    assert found.values == {"--cuda-graph-backend-prefill": "disabled"}


def test_a_flag_of_another_version_is_still_known() -> None:
    for engine in ("sglang", "vllm"):
        everything = {flag.name for flag in flags_of(engine).values()}
        first = "0.5.8" if engine == "sglang" else "0.25.1"
        own = {flag.name for flag in flags_of(engine, first).values()}
        assert own < everything
        for name in everything - own:
            assert find_flag(engine, name, first) is not None


def test_unknown_values_stay_where_they_stand() -> None:
    hole = Unknown("value of N", 4)
    words = [
        Argument("-tp", 1),
        Argument(Mixed((hole,)), 1),
        Argument("--compilation-config", 2),
        Argument(Mixed(('{"a": ', hole, ', "b": "x', hole, '"}')), 2),
        Argument(Mixed(("--port=80", hole)), 2),
    ]
    found = canonical(words, "vllm")
    assert found.values["--tensor-parallel-size"] == hole
    assert found.values["--compilation-config"]["a"] == hole
    assert isinstance(found.values["--compilation-config"]["b"], Unknown)
    assert "80<value of N>" in found.values["--port"].reason
    assert set(found.unknowns) == {"--tensor-parallel-size", "--compilation-config", "--port"}


def test_a_word_that_may_be_any_words_leaves_the_arguments_open() -> None:
    hole = Unknown("value of EXTRA", 4)
    found = canonical([Argument("--port", 1), Argument("1", 1), Argument(Mixed((hole,)), 1, open=True)], "vllm")
    assert found.values == {"--port": 1}
    assert found.open == (hole,)


def test_mappings() -> None:
    found = canonical_mapping(
        {"tp-size": 8, "trust-remote-code": True, "disable-radix-cache": False, "cuda-graph-bs": [1, 2], "port": None},
        "sglang",
        None,
        {"tp-size": 12},
    )
    assert found.values == {"--tensor-parallel-size": 8, "--trust-remote-code": True, "--cuda-graph-bs-decode": [1, 2]}
    assert found.lines["--tensor-parallel-size"] == 12
    assert canonical_mapping({"enable-prefix-caching": False}, "vllm").values == {"--enable-prefix-caching": False}
    assert canonical_mapping({"compilation-config": '{"a": 1}'}, "vllm").values == {"--compilation-config": {"a": 1}}


@pytest.mark.parametrize(
    ("engine", "image", "version"),
    [
        ("sglang", "lmsysorg/sglang:v0.5.14-cu130", "0.5.14"),
        ("sglang", "lmsysorg/sglang:v0.5.14.post1", "0.5.14"),
        ("vllm", "vllm/vllm-openai:v0.27.1", "0.27.1"),
        ("sglang", "lmsysorg/sglang:nightly-dev-20260701", None),
        ("sglang", "lmsysorg/sglang:nightly-v0.5.14", None),
        ("vllm", "registry.example/team#vllm-openai:v0.25.1", "0.25.1"),
        ("trtllm", "nvcr.io#nvidia/tensorrt-llm/release:1.3.0rc20", "1.3.0"),
        ("sglang", "example/sglang@sha256:0123", None),
        ("vllm", "", None),
    ],
)
def test_versions_of_images(engine: str, image: str, version: str | None) -> None:
    assert version_of(engine, image) == version


@pytest.mark.parametrize("engine", ENGINES)
def test_tables_are_sound(engine: str) -> None:
    flags = {flag.name: flag for flag in flags_of(engine).values()}
    assert flags
    for flag in flags.values():
        assert flag.takes in set("01+*?bj")
        assert all(name.startswith("-") for name in flag.names)
        if flag.replacement:
            assert find_flag(engine, flag.replacement.partition("=")[0]) is not None


words = st.one_of(
    st.sampled_from(["--tp", "--port", "--trust-remote-code", "--no-enable-prefix-caching", "--compilation-config"]),
    st.sampled_from(["-tp", "--x-y", "--x_y=1", "--speculative-config.method=mtp", '{"a": [1, "b"]}', "8", "0.5"]),
    st.sampled_from(["true", "model/name", "-1", "[1,2]", "--cuda-graph-bs", "--", "-", "--a=b=c", "--tensor-par"]),
    st.text(alphabet='ab-_=.{}[]"1 ', max_size=8),
)
arguments = st.builds(
    lambda text, hole, is_open: Argument(Mixed((Unknown("x"),)) if hole else text, 1, hole and is_open),
    words,
    st.integers(0, 9).map(lambda n: n == 0),
    st.booleans(),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(arguments, max_size=10), st.sampled_from(ENGINES), st.sampled_from([None, "0.5.14", "0.27.1"]))
def test_canonical_arguments_read_as_themselves(found: list[Argument], engine: str, version: str | None) -> None:
    once = canonical(found, engine, version)
    twice = canonical(once.words(), engine, version)
    assert twice.values == once.values
    assert len(twice.open) == len(once.open)


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet='{}[]",:0123456789.eE-truefalsnox \\', max_size=30))
def test_any_value_has_a_type(text: str) -> None:
    value = typed(text)
    assert value is None or isinstance(value, str | int | float | bool | list | dict)
