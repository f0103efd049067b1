"""Reading YAML: the fast lane, the bounded reader, and their agreement with PyYAML's SafeLoader."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reviewer_tui.sweeps import document as reading
from reviewer_tui.sweeps.document import read_document
from reviewer_tui.sweeps.plain import read_plain
from tests.sweeps import small
from tests.sweeps.yamls import texts, values

ROOT = Path(__file__).parents[2]


def safe_load(text: str) -> tuple[bool, Any]:
    """What SafeLoader makes of a text, and whether it makes anything of it."""
    try:
        return True, yaml.load(text, yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError, UnicodeError):
        return False, None


@settings(max_examples=150, deadline=None)
@given(texts)
def test_the_fast_lane_reads_what_safe_loader_reads(text: str) -> None:
    read = read_plain(text)
    if read is None:
        return
    loaded, value = safe_load(text)
    assert loaded
    assert read[0] == value
    assert repr(read[0]) == repr(value)
    document = read_document(text, "x")
    assert document.problems == ()
    assert read[1] == document.lines


@settings(max_examples=150, deadline=None)
@given(texts)
@example("<<:\n- a:\n- b:\n")
def test_the_bounded_reader_reads_what_safe_loader_reads(text: str) -> None:
    document = read_document(text, "x")
    loaded, value = safe_load(text)
    if document.readable:
        assert loaded
        # Versions of PyYAML differ in the order of merged keys, and in which of two equal ones they bring in.
        merges = "<<" in text and (document.problems or document.value == value)
        assert repr(document.value) == repr(value) or merges
    else:
        assert document.problems


@settings(max_examples=60, deadline=None)
@given(values())
def test_dumped_values_come_back_by_both_ways(value: object) -> None:
    text = yaml.safe_dump(value, sort_keys=False)
    assert read_document(text, "x").value == value
    assert read_document(text, "x", pure=True).value == value
    read = read_plain(text)
    assert read is None or read[0] == value


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(), st.binary().map(lambda raw: raw.decode("utf-8", "replace"))))
def test_no_text_crashes_a_reader(text: str) -> None:
    assert read_document(text, "x").lines is not None
    read_plain(text)


def test_the_fast_lane_is_taken_by_the_files_of_the_repository(real_data: Path) -> None:
    for path in sorted((real_data / "inferencex").glob("2026-*/configs/*.yaml")):
        text = path.read_text()
        read = read_plain(text)
        assert read is not None, path
        document = read_document(text, str(path))
        assert (read[0], read[1]) == (document.value, document.lines), path


def test_lines_of_paths() -> None:
    text = "a:\n  b: 1\n  # note\n  list:\n  - x: 1\n    y: {z: 2}\n  - [3]\n"
    expected = {"a": 1, "a.b": 2, "a.list": 4, "a.list.0": 5, "a.list.0.x": 5, "a.list.0.y": 6, "a.list.1": 7}
    assert read_document(text, "x").lines == expected
    read = read_plain(text, first_line=11)
    assert read is not None
    assert read[1] == {path: line + 10 for path, line in expected.items()}


@pytest.mark.parametrize(
    ("text", "rule", "line"),
    [
        ("a: 1\nb: 2\na: 3\n", "duplicate-key", 3),
        ("a: 1\n---\nb: 2\n", "multi-document", 2),
        ("a: &x 1\nb: *y\n", "alias", 2),
        ("a: &x [1, *x]\n", "alias", 1),
        ("a: !!python/object:os.system 1\n", "tag", 1),
        ("a: !!python/tuple [1]\n", "tag", 1),
        ("? [1]\n: 2\n", "key", 1),
        ("a: [1\n", "yaml", 2),
        ("a:\n\t b: 1\n", "yaml", 2),
        ("<<: 5\n", "merge", 1),
        ("a: <<\n", "merge", 1),
        ("a: &x 1\nb: &x 2\n", "anchor", 2),
        (f"a: {'9' * 5000}\n", "yaml", None),
        ("a: 1\nb: \0\n", "yaml", 2),
        ("[" * 100, "depth", 1),
        ("a: " + "x" * 100_001, "too-large", 1),
    ],
)
def test_faults_are_located(text: str, rule: str, line: int | None) -> None:
    document = read_document(text, "some.yaml")
    assert [(problem.path, problem.rule, problem.line) for problem in document.problems] == [("some.yaml", rule, line)]
    assert document.readable is (rule == "duplicate-key")
    assert document.value == ({"a": 3, "b": 2} if document.readable else None)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: &x {k: 1, l: 2}\nb:\n  <<: *x\n  l: 3\n", {"a": {"k": 1, "l": 2}, "b": {"k": 1, "l": 3}}),
        ("a: &x {k: 1}\nb: &y {k: 2, m: 3}\nc: {<<: [*x, *y]}\n", None),
        ("a: &x {k: 1}\nc: {<<: *x, <<: {k: 4}}\n", None),
        ("a: &x [1, 2]\nb: *x\n", {"a": [1, 2], "b": [1, 2]}),
        ("a: !!str 8\nb: !!int '8'\nc: ! 8\n", None),
        ("- 2026-08-22\n- 2026-08-22 10:00:00\n- 0b11\n- .inf\n- 1:30\n", None),
    ],
)
def test_anchors_merges_and_tags_as_safe_loader_has_them(text: str, value: object) -> None:
    document = read_document(text, "x")
    assert document.readable
    assert document.value == (value if value is not None else yaml.safe_load(text))
    assert document.value == yaml.safe_load(text)


def bomb(levels: int) -> str:
    rows = ["l0: &l0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(rows)


def test_exploding_aliases_are_refused_and_small_ones_are_not() -> None:
    refused = read_document(bomb(9), "x")
    assert [problem.rule for problem in refused.problems] == ["alias-expansion"]
    assert read_document(bomb(3), "x").readable


def test_a_file_of_too_many_parts_is_refused_where_it_becomes_too_many() -> None:
    text = "".join(f"key-{n}: [1, 2, 3, 4]\n" for n in range(40_000))
    document = read_document(text, "x")
    assert [problem.rule for problem in document.problems] == ["too-large"]
    assert document.problems[0].line is not None
    assert document.problems[0].line > 10_000


def test_the_pure_reader_has_its_own_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_PURE_EVENTS", 50)
    text = "a: [1, 2, 3]\n" + "".join(f"b{n}: 1\n" for n in range(40))
    assert [problem.rule for problem in read_document(text, "x", pure=True).problems] == ["too-large"]
    assert read_document(text, "x").readable


def test_without_libyaml_the_pure_reader_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = read_document(small.FIXED, "x")
    monkeypatch.setattr(yaml, "__with_libyaml__", False)
    monkeypatch.delattr(yaml, "CSafeLoader")
    assert read_document(small.FIXED, "x") == expected


HOSTILE = """
import sys
from reviewer_tui.sweeps.document import read_document
from reviewer_tui.sweeps.master import parse_master
from reviewer_tui.sweeps.expand import expand_entries
from reviewer_tui.sweeps.rules import GeneratorRules
from reviewer_tui.sweeps.runners import Runners
entry = (
    "  image: a\\n  model: b\\n  model-prefix: c\\n  precision: d\\n  framework: e\\n  runner: f\\n"
    "  multinode: false\\n"
    "  scenarios:\\n    fixed-seq-len:\\n    - isl: 1\\n      osl: 1\\n      search-space:\\n"
)
texts = [
    "".join(f"key-{n}:\\n{entry}      - {{ tp: 1, conc-list: [1, 2, 3] }}\\n" for n in range(7_700)),
    "one:\\n" + entry + "      - { tp: 1, conc-list: [1, 2, 3, 4, 5, 6, 7, 8] }\\n" * 100_000,
    "one:\\n" + "\\n".join("  " * n + "a:" for n in range(1, 2_000)),
    "one: " + "[" * 100_000,
    "one: '" + "x" * 5_000_000,
    "&a" * 300_000,
    "\\n".join(f"l{n}: &l{n} [" + ", ".join([f"*l{n - 1}"] * 9) + "]" for n in range(1, 40)),
    "one:\\n" + "  k: \\t1\\n" * 100_000,
]
for text in texts:
    master = parse_master(text, "x")
    entries = master.entries()
    expand_entries(entries.values(), Runners(path=""), GeneratorRules(), "default")
    print(len(entries), len(master.problems))
# What getrusage calls the peak includes the process that started this one; the kernel's own record does not.
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(int(status["VmHWM"].split()[0]) // 1024, file=sys.stderr)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells a process's own peak")
def test_hostile_files_take_little_memory() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HOSTILE], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    )
    assert int(done.stderr) <= 200
    assert len(done.stdout.splitlines()) == 8
