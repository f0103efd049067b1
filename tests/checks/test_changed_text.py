"""Which lines of a file are new, and the parts of files that the checks read."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.checks.changed_text import ChangedText, added_lines, changed_text
from reviewer_tui.checks.shell_commands import Script
from reviewer_tui.checks.yaml_scalars import MAX_DEPTH, scalars
from tests.evidence import SCRIPT, evidence_of, summer

LINES = st.lists(st.sampled_from(["a", "b", "c", "d", ""]), max_size=12)


@given(LINES, LINES)
def test_new_lines_are_those_that_the_base_lacks(old: list[str], new: list[str]) -> None:
    added = added_lines("\n".join(old), "\n".join(new))
    before, after = "\n".join(old).split("\n"), "\n".join(new).split("\n")
    assert Counter(after[number - 1] for number in added) == Counter(after) - Counter(before)


def test_a_moved_line_is_not_new_and_of_equal_lines_the_last_is() -> None:
    assert added_lines("a\nb\nc", "c\na\nb") == frozenset()
    assert added_lines("a\nb", "a\na\nb") == {2}
    assert added_lines(None, "a\nb") == {1, 2}


def test_a_file_under_a_former_layouts_name_is_the_same_file() -> None:
    moved = f"inferencex-e2e/{SCRIPT}"
    base = summer()
    head = {**{path: text for path, text in base.items() if path != SCRIPT}, moved: f"{base[SCRIPT]!s}echo\n"}
    evidence = evidence_of(base, head)
    file = next(file for file in evidence.snapshot.files.value or () if file.path == moved)
    changed = changed_text(evidence, file).value
    assert changed is not None
    assert changed.added_lines == [(3, "echo")]


def changed(base: str, text: str) -> ChangedText:
    return ChangedText(path="x.sh", text=text, base=base, added=added_lines(base, text))


# -- YAML -------------------------------------------------------------------------------------------------------------

WORDS = st.text("abc xyz-_:{}", min_size=1, max_size=8)
VALUES: st.SearchStrategy[Any] = st.recursive(
    WORDS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3), max_leaves=10
)


def leaves(value: Any, keys: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], str]]:
    if isinstance(value, dict):
        return [leaf for key, inner in value.items() for leaf in leaves(inner, (*keys, key))]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in leaves(inner, keys)]
    return [(keys, value)]


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(WORDS, VALUES, max_size=4))
def test_scalars_are_the_leaves_of_the_document(value: dict[str, Any]) -> None:
    found = scalars(yaml.safe_dump(value, sort_keys=False))
    assert found is not None
    assert [(scalar.keys, scalar.value) for scalar in found] == leaves(value)


def test_scalars_know_their_lines_and_aliases_stand_for_what_they_name() -> None:
    found = scalars("a: &x 1\nb: *x\nc:\n  - d: |\n      one\n      two\n? [k]\n: v\ne: &m {f: [g, h]}\ni: *m\n")
    assert found is not None
    assert [(s.key, s.value, s.line) for s in found] == [
        ("a", "1", 1),
        ("b", "1", 2),
        ("d", "one\ntwo\n", 5),
        ("", "k", 7),
        ("", "v", 8),
        ("f", "g", 9),
        ("f", "h", 9),
        ("f", "g", 10),
        ("f", "h", 10),
    ]
    assert len({s.sequence for s in found[-4:]}) == 1
    assert found[-1].sequence > 0
    assert found[-1].keys == ("i", "f")


def test_aliases_that_multiply_end() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    bomb += "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12))
    assert scalars(bomb) is None


def test_anchors_that_stand_in_one_another_end() -> None:
    chain = "a0: &a0 {k: v}\n" + "".join(f"a{n}: &a{n} {{k: *a{n - 1}}}\n" for n in range(1, 2_000))
    assert scalars(chain) is None


@pytest.mark.parametrize("text", ["a: [", "a: b: c", "[" * (MAX_DEPTH + 2), "\x00"])
def test_what_is_no_yaml_has_no_scalars(text: str) -> None:
    assert scalars(text) is None


# -- shell ------------------------------------------------------------------------------------------------------------


def test_commands_know_their_lines_their_input_and_their_place() -> None:
    script = Script(
        """\
setup() {
  ( cd "$ROOT" && git apply "$1" ) 2>/dev/null
}
CMD=(
  vllm serve m
  --flag
)
python3 - "$X" <<'PY' | tee log
import os
PY
srun bash -c "
pip install x
"
""",
        "x.sh",
    )
    told = [(c.words, c.line, c.end_line, c.function, c.folder) for c in script.commands if c.words]
    assert (("git", "apply", "${1}"), 2, 2, "setup", "${ROOT}") in told
    assert (("pip", "install", "x"), 12, 12, "", "") in told
    python = next(c for c in script.commands if c.words[:1] == ("python3",))
    assert (python.line, python.end_line, python.stdin, python.stdin_line) == (
        8,
        10,
        "import os\n",
        9,
    )
    assert [(c.line, c.end_line) for c in script.commands if c.assignments] == [(4, 6)]
    assert script.unread is None


def test_variables_are_written_out_once_with_their_defaults() -> None:
    script = Script("A=$B\nB=${C:-one}\nB=two\nA=$A$A\n", "x.sh")
    assert {"one", "two"} <= set(script.expanded("${A}").split())
    assert len(script.expanded("${A}" * 10_000)) <= 60_000


def test_a_script_tells_from_where_it_cannot_be_read() -> None:
    assert Script("echo\nfor (( ;; )\n", "x.sh").unread is not None
    assert Script("echo '\n", "x.sh").unread is not None
    assert Script("eval 'if'\necho\n", "x.sh").unread is not None


@settings(max_examples=80, deadline=None)
@given(st.text(st.sampled_from("abc $\"'`(){}<>|&;\n\\=#[]-!*"), max_size=80))
def test_any_text_is_a_script_of_some_kind(text: str) -> None:
    script = Script(text, "x.sh")
    lines = text.count("\n") + 1
    assert all(1 <= command.line <= lines + 1 for command in script.commands)
    script.expanded(text)
