from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.recipes.arm import line_of
from reviewer_tui.recipes.javascript import exported_literal, exported_names, unescaped
from reviewer_tui.recipes.reading import UnreadableError


def value_of(text: str) -> Any:
    return exported_literal(f"export const it = {text};".encode(), "it", "page.jsx")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{a: 1, 'b-c': [true, false, null], \"d\": -2.5}", {"a": 1, "b-c": [True, False, None], "d": -2.5}),
        ("`two\nlines \\` and \\${not}`", "two\nlines ` and ${not}"),
        (
            r"'it\'s\u0041\x42\u{43}\
'",
            "it'sABC",
        ),
        ("{ /* none */ a: 1, // last\n }", {"a": 1}),
        ("{a: 1, a: 2}", {"a": 2}),
        ("[0x10, 1e3, 1_000, (7)]", [16, 1000, 1000, 7]),
        ("{16: 'x'}", {"16": "x"}),
    ],
)
def test_a_literal_has_its_value(text: str, value: Any) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "{...other}",
        "{a: f()}",
        "`${x}`",
        "{[a]: 1}",
        "{m() {}}",
        "{x}",
        "x",
        "-'a'",
        "() => 1",
        "{a: 1",
        "/re/",
        "new Set()",
    ],
)
def test_what_is_no_literal_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(UnreadableError) as refused:
        value_of(text)
    assert refused.value.problem.path == "page.jsx"
    assert refused.value.problem.rule in ("no-literal", "no-export")


def test_texts_know_their_lines_and_unwanted_keys_are_not_read() -> None:
    source = b"export const config = {\n  skipped: compute(),\n  cells: [\n    'one',\n  ],\n};\n"
    cells = exported_literal(source, "config", "page.jsx", only=("cells",))["cells"]
    assert cells == ["one"]
    assert line_of(cells[0]) == 4
    with pytest.raises(UnreadableError, match="compute"):
        exported_literal(source, "config", "page.jsx")


def test_the_exports_of_a_file_are_known() -> None:
    source = b"const hidden = 1;\nexport const a = 1, b = 2;\nexport default a;\nexport function f() {}\n"
    assert exported_names(source, "page.jsx") == ("a", "b")


def test_depth_and_size_are_bounded() -> None:
    with pytest.raises(UnreadableError, match="deeply"):
        value_of("[" * 500 + "]" * 500 + ", f()")
    with pytest.raises(UnreadableError, match="bytes"):
        exported_literal(b"x" * 5_000_000, "it", "page.jsx")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**50), 2**50) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=15,
)


@settings(max_examples=60, deadline=None)
@given(json_values)
def test_json_is_read_as_json(value: Any) -> None:
    plain = json.dumps({"it": value})
    assert exported_literal(f"export const it = {plain};".encode(), "it", "page.jsx") == {"it": value}
    # The syntax tree gives the same as the shortcut for plain JSON.
    assert exported_literal(f"export const it = ({plain});".encode(), "it", "page.jsx") == {"it": value}


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200) | st.text("export const it={}[]()'\"`$:,.-0aé\n\\", max_size=200).map(str.encode))
def test_hostile_files_never_crash(source: bytes) -> None:
    for text in (source, b"export const it = " + source):
        with contextlib.suppress(UnreadableError):
            exported_literal(text, "it", "page.jsx")


def test_escapes_out_of_range_are_harmless() -> None:
    assert unescaped(r"\u{110000}") == "\ufffd"
    assert value_of(r"'\ud800 \ud83d\ude00'") == "\ufffd \U0001f600"
