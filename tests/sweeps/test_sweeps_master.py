"""Master configs: blocks, entries on demand, and the whole-file reading that must agree with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.sweeps.document import read_document
from reviewer_tui.sweeps.master import MasterConfig, duplicates, parse_master
from tests.sweeps import small
from tests.sweeps.yamls import texts


def whole(text: str) -> MasterConfig:
    """The same file read as one document, whatever it looks like."""
    master = parse_master(text, "x")
    master._parse_whole()
    return master


def assert_same(one: MasterConfig, other: MasterConfig) -> None:
    assert one.keys == other.keys
    mine, yours = one.entries(), other.entries()
    assert {key: (entry.fields, entry.lines) for key, entry in mine.items()} == {
        key: (entry.fields, entry.lines) for key, entry in yours.items()
    }
    if any(problem.rule == "duplicate-key" for problem in one.problems):
        # Read whole, the lines of a key that does not count are taken for those of the key before it.
        return
    assert mine == yours
    assert [one.block(key) for key in one.keys] == [other.block(key) for key in other.keys]


def test_both_ways_of_reading_agree_on_real_files(real_data: Path) -> None:
    for path in sorted((real_data / "inferencex").glob("2026-*/configs/*-master.yaml")):
        text = path.read_text()
        assert_same(parse_master(text, "x"), whole(text))


blocks = st.sampled_from(
    [
        *(small.FIXED, small.MULTINODE, small.AGENTIC, small.AGENTIC_MULTINODE, small.AMD_FIXED),
        *(
            "# between\n\n",
            "other:\n  a: 1\n  # behind\n\n",
            "other:\n  a: 2\n",
            "empty:\n",
            "text: 5\n",
            "'quoted':\n  a: 1\n",
        ),
        *("anchored: &it\n  a: 1\n", "borrowed: *it\n", "own:\n  a: &own [1]\n  b: *own\n", "again:\n  a: &own [1]\n"),
        *(
            "open:\n  a: [1,\n",
            "  2]\n",
            "---\n",
            "tab:\n\ta: 1\n",
            "yes:\n  a: 1\n",
            "8:\n  a: 1\n",
            "a.b-c:\n  q: 'x'\n",
        ),
        *(
            "merged:\n  <<: {a: 1}\n",
            'quoted:\n  a: "two\nlines: 5\n  end"\n',
            "tagged:\n  a: !!str 5\n",
            "x: |\n  text\n",
        ),
    ]
)


@settings(max_examples=120, deadline=None)
@given(st.lists(blocks, max_size=5).map("".join))
def test_both_ways_of_reading_agree(text: str) -> None:
    master = parse_master(text, "x")
    if not read_document(text, "x").readable and set(master.keys):
        # Only the whole file can tell that it is broken elsewhere; the blocks that were read are sound by themselves.
        return
    assert_same(master, whole(text))


@settings(max_examples=80, deadline=None)
@given(st.lists(blocks, max_size=4).map("".join), st.lists(blocks, max_size=4).map("".join), st.integers(0, 3))
def test_another_version_only_saves_work(one: str, other: str, kept: int) -> None:
    start, end = small.ALL[: kept * 200], small.AMD_FIXED
    former = parse_master(f"{start}{one}{end}", "x")
    text = f"{start}{other}{end}"
    like, alone = parse_master(text, "x", former), parse_master(text, "x")
    assert_same(like, alone)
    assert like.problems == alone.problems


@settings(max_examples=100, deadline=None)
@given(st.one_of(texts, st.text(), st.binary()))
def test_no_file_crashes_the_parser(content: str | bytes) -> None:
    master = parse_master(content, "x")
    assert set(master.entries()) <= set(master.keys)


def test_only_what_is_asked_for_is_parsed() -> None:
    text = f"{small.FIXED}broken:\n  a: {{\n\n{small.AMD_FIXED}"
    master = parse_master(small.ALL, "x")
    assert list(master.entries(["dsv4-fp4-b200-vllm-agentic"])) == ["dsv4-fp4-b200-vllm-agentic"]
    assert list(master._entries) == ["dsv4-fp4-b200-vllm-agentic"]
    assert [problem.rule for problem in parse_master(text, "x").problems] == ["yaml"]


def test_lines_and_last_lines() -> None:
    text = f"# head\n{small.FIXED}  # behind\n\n# of the next\n{small.AMD_FIXED}"
    entry = parse_master(text, "x").entry("dsr1-fp8-b200-sglang")
    assert entry is not None
    lines = text.split("\n")
    assert lines[entry.line - 1] == "dsr1-fp8-b200-sglang:"
    assert "spec-decoding: mtp" in lines[entry.end_line - 1]
    assert lines[entry.lines["image"] - 1] == "  image: lmsysorg/sglang:v1"
    assert entry.line_of("scenarios.fixed-seq-len.1.search-space.0.tp") == entry.line_of(
        "scenarios.fixed-seq-len.1.search-space.0"
    )
    assert entry.line_of("nowhere.at.all") == entry.line


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("a:\n  b: 1\na:\n  b: 2\n", ["duplicate-key"]),
        ("a:\n  b: 1\n  b: 2\n", ["duplicate-key"]),
        ("a*:\n  b: 1\n", ["wildcard-key"]),
        ("a: 5\n", ["no-fields"]),
        ("a:\n", ["no-fields"]),
        ("- a\n- b\n", ["no-mapping"]),
        ("a:\n  b: 1\n---\nc:\n  b: 1\n", ["multi-document"]),
    ],
)
def test_faults_of_a_file(text: str, rules: list[str]) -> None:
    master = parse_master(text, "some.yaml")
    master.entries()
    assert [problem.rule for problem in master.problems] == rules
    assert all(problem.path == "some.yaml" and problem.line for problem in master.problems)


def test_the_last_of_two_equal_keys_counts() -> None:
    entry = parse_master("a:\n  b: 1\na:\n  b: 2\n", "x").entry("a")
    assert entry is not None
    assert (entry.fields, entry.line) == ({"b": 2}, 3)


def test_anchors_reach_from_block_to_block() -> None:
    text = "one:\n  a: &it {x: 1}\ntwo:\n  a: *it\n"
    master, changed = parse_master(text, "x"), parse_master(text.replace("x: 1", "x: 2"), "x")
    two = changed.entry("two")
    assert two is not None
    assert two.fields == {"a": {"x": 2}}
    assert not master.same_block(changed, "two")
    assert master.same_block(parse_master(f"# moved\n{text}", "x"), "two")


def test_a_key_in_two_files() -> None:
    masters = [parse_master(small.FIXED, small.NVIDIA), parse_master(small.FIXED, small.AMD)]
    (problem,) = duplicates(masters)
    assert (problem.path, problem.rule, problem.line) == (small.AMD, "duplicate-across-files", 1)
    assert small.NVIDIA in problem.message


def test_bytes_that_are_no_text_are_located() -> None:
    master = parse_master(small.FIXED.encode().replace(b"org/Model", b"org/\xffModel"), "x")
    entry = master.entry("dsr1-fp8-b200-sglang")
    assert [(problem.rule, problem.line) for problem in master.problems] == [("encoding", 3)]
    assert entry is not None
    assert entry.model == "org/\ufffdModel"


def test_a_byte_order_mark_is_no_text() -> None:
    assert parse_master("\ufeff" + small.FIXED, "x").keys == ("dsr1-fp8-b200-sglang",)


def test_windows_line_ends() -> None:
    text = small.FIXED.replace("\n", "\r\n")
    entry = parse_master(text, "x").entry("dsr1-fp8-b200-sglang")
    expected = parse_master(small.FIXED, "x").entry("dsr1-fp8-b200-sglang")
    assert entry is not None
    assert expected is not None
    assert (entry.fields, entry.lines) == (expected.fields, expected.lines)
