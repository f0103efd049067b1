"""Foreign text on a terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer_tui.model.text import cells, has_unsafe, shorten, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[31mred", "<U+001B>[31mred"),
        ("a\u202eb", "a<U+202E>b"),
        ("zero\u200bwidth", "zero<U+200B>width"),
        ("cr\r\n", "cr<U+000D>\n"),
        ("\x9b31m", "<U+009B>31m"),
        ("tag\U000e0041", "tag<U+E0041>"),
        ("调优 é", "调优 é"),
    ],
)
def test_what_steers_or_deceives_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert has_unsafe(text) == (text != shown)


@given(st.text(max_size=80))
def test_no_control_character_survives(text: str) -> None:
    assert not any(unicodedata.category(c) == "Cc" and c not in "\t\n" for c in visible(text))
    assert visible(visible(text)) == visible(text)


def test_cells_count_wide_and_combining_characters() -> None:
    assert cells("abc") == 3
    assert cells("调优") == 4
    assert cells("e\u0301") == 1


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "Zs"]), max_size=60), st.integers(0, 40))
def test_shortened_text_fits(text: str, width: int) -> None:
    short = shorten(text, width)
    assert cells(short) <= max(width, 0) or short == text
    if cells(text) <= width:
        assert short == text
