"""A stranger's lines on a terminal: sanitised, measured, marked."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from reviewer_tui.tui.diff.file_diff import file_diff
from reviewer_tui.tui.diff.shown import LONGEST_SHOWN, NO_LINE_FEED, Shown, show_line, widest
from reviewer_tui.tui.diff.syntax import syntax_spans
from reviewer_tui.tui.diff.words import NO_MARKS, alike, word_marks


def marked(shown: Shown, kind: str) -> list[str]:
    return [shown.text[span.start : span.end] for span in shown.spans if span.kind == kind]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("a\tb", "a\u00bb  b"),
        ("\t\tb", "\u00bb   \u00bb   b"),
        ("中\tb", "中\u00bb b"),
        ("\x1b[31mred", "<U+001B>[31mred"),
        ("user\u202egnp.exe", "user<U+202E>gnp.exe"),
        ("a\u00a0b\u200bc", "a<U+00A0>b<U+200B>c"),
        ("dos\r", "dos<CR>"),
        ("mid\rdle", "mid<U+000D>dle"),
        ("end" + NO_LINE_FEED, "end<no line feed at the end of the file>"),
        ("plain: 中文 [bold]", "plain: 中文 [bold]"),
    ],
)
def test_nothing_invisible_stays_hidden(line: str, text: str) -> None:
    assert show_line(line).text == text


def test_marked_words_stay_on_their_words_behind_what_was_made_visible() -> None:
    shown = show_line("\u202e\tx: old", [(5, 8)])
    assert marked(shown, "word") == ["old"]
    assert marked(shown, "hidden")[0] == "<U+202E>"


def test_blanks_at_the_end_are_marked_where_wished() -> None:
    assert marked(show_line("x: 1  ", blanks=True), "blank") == ["  "]
    assert marked(show_line("x: 1  "), "blank") == []


def test_a_very_long_line_is_cut_and_says_so() -> None:
    shown = show_line("x" * (LONGEST_SHOWN + 1_234))
    assert shown.text.endswith("x<1,234 more characters>")


@given(st.text(max_size=60))
@settings(max_examples=80, deadline=None)
def test_no_text_steers_the_terminal_and_its_width_is_known(line: str) -> None:
    line = line.replace("\n", "")
    shown = show_line(line, [(0, len(line))], blanks=True)
    assert not any(unicodedata.category(c) in ("Cc", "Zl", "Zp") for c in shown.text)
    assert not any(c in shown.text for c in "\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069")
    assert widest([line]) >= cell_len(shown.text)
    assert all(0 <= span.start <= span.end <= len(shown.text) for span in shown.spans)


def test_changed_words_of_a_pair() -> None:
    old, new = "  - { tp: 2, ep: 1, mode: mtp }", "  - { tp: 2, ep: 2, mode: eagle }"
    marks = word_marks(old, new)
    assert [old[a:b] for a, b in marks.old] == ["1", "mtp"]
    assert [new[a:b] for a, b in marks.new] == ["2", "eagle"]


def test_unlike_or_endless_lines_get_no_marks() -> None:
    assert word_marks("alpha beta", "gamma delta") == NO_MARKS
    assert word_marks("x " * 2_000, "x " * 2_000 + "y") == NO_MARKS
    assert word_marks("same", "same") == NO_MARKS
    assert alike("image: a", "image: b") > alike("image: a", "runs: z")


@given(st.text(max_size=30), st.text(max_size=30))
@settings(max_examples=40, deadline=None)
def test_what_is_not_marked_is_equal_on_both_sides(old: str, new: str) -> None:
    marks = word_marks(old, new)

    def kept(line: str, spans: tuple[tuple[int, int], ...]) -> str:
        for start, end in reversed(spans):
            line = line[:start] + line[end:]
        return line

    if marks != NO_MARKS:
        assert kept(old, marks.old) == kept(new, marks.new)


def test_keys_and_comments_of_yaml() -> None:
    text = "  - image: x  # key: no"
    assert [(text[s.start : s.end], s.kind) for s in syntax_spans("a.yaml", text)] == [
        ("image", "key"),
        (" # key: no", "comment"),
    ]
    assert [s.kind for s in syntax_spans("a.sh", "run  # why")] == ["comment"]
    assert syntax_spans("a.md", "x: 1") == []


# --- whole files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "note"),
    [
        (b"a\nb\n", b"a\r\nb\r\n", "Line ends change from LF to CRLF."),
        (b"a\r\nb\r\n", b"a\r\nc\r\n", "Line ends: CRLF."),
        (b"a\n", b"a\nb\r\n", "Line ends change from LF to mixed CRLF and LF."),
        (None, b"a\n", "New file."),
        (b"a\n", None, "File removed."),
        (b"a\n", b"\xff\xfe\n", "The new side is not UTF-8: undecodable bytes are shown as U+FFFD."),
    ],
)
def test_what_no_line_shows_is_said(old: bytes | None, new: bytes | None, note: str) -> None:
    assert note in file_diff("x", old, new).notes


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b"\0\1", b"\0\2\3", "A binary file: 2 bytes before, 3 bytes after."),
        (None, b"\0", "A binary file: absent before, 1 bytes after."),
        (None, None, "Neither side"),
        (b"a", b"x" * 33_000_000, "Too large to show"),
    ],
)
def test_a_file_that_cannot_be_shown_says_why(old: bytes | None, new: bytes | None, reason: str) -> None:
    diff = file_diff("x", old, new)
    assert diff.unreadable.startswith(reason)
    assert not diff.ops


def test_a_missing_line_feed_is_a_change() -> None:
    diff = file_diff("x", b"a\nb", b"a\nb\n")
    assert (diff.added, diff.removed) == (1, 1)
    assert [diff.old[-1], diff.new[-1]] == ["b" + NO_LINE_FEED, "b"]


@given(st.binary(max_size=80), st.binary(max_size=80))
@settings(max_examples=80, deadline=None)
def test_no_bytes_break_it(old: bytes, new: bytes) -> None:
    diff = file_diff("x", old, new)
    if not diff.unreadable:
        assert diff.width >= max((cell_len(show_line(line).text) for line in (*diff.old, *diff.new)), default=0)


def test_a_line_of_nothing_visible_is_cut_soon() -> None:
    shown = show_line("\u202e" * 15_000)
    assert shown.text.count("<U+202E>") == 1_000
    assert shown.text.endswith("<14,000 more characters>")
