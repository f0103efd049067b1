"""The programs that are computed print what the real ones print; those that are not stay unknown."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.launch import tools

CALLS = [
    ["dirname", "a/b/c"],
    ["dirname", "/a"],
    ["dirname", "a"],
    ["dirname", "a/b/"],
    ["basename", "/a/b.sh"],
    ["basename", "/a/b.sh", ".sh"],
    ["basename", "b.sh", "b.sh"],
    ["seq", "3"],
    ["seq", "2", "4"],
    ["seq", "8", "-4", "0"],
    ["seq", "-s,", "1", "3"],
    ["seq", "-s", " ", "1", "2", "9"],
    ["awk", "BEGIN { print 7 / 2 }"],
    ["awk", 'BEGIN{printf "%.2f", 3*0.85}'],
    ["awk", "-v", "a=3", "-v", "b=4", "BEGIN { print a * b + 1 }"],
    ["awk", "-v", "x=10", 'BEGIN { printf "%d\\n", x / 3 }'],
]
FILTERS = [
    (["sort"], "b\na\nc\n"),
    (["sort", "-n"], "10\n9\n-1\n"),
    (["sort", "-u"], "b\na\nb\n"),
    (["sort", "-rn"], "1\n3\n2\n"),
    (["uniq"], "a\na\nb\na\n"),
    (["head", "-n", "2"], "a\nb\nc\n"),
    (["head", "-1"], "a\nb\n"),
    (["tail", "-n", "1"], "a\nb\n"),
    (["wc", "-l"], "a\nb\n"),
    (["wc", "-w"], "a b\nc\n"),
    (["tr", ",", " "], "a,b,c\n"),
    (["tr", "a-z", "A-Z"], "abc-x\n"),
    (["tr", "-d", "0-9"], "a1b22\n"),
    (["cut", "-d,", "-f2"], "a,b,c\nd,e\n"),
    (["cut", "-d", ":", "-f", "1"], "a:b\nplain\n"),
    (["paste", "-sd,"], "a\nb\nc\n"),
    (["sed", "s/a/b/"], "aa\nca\n"),
    (["sed", "s|/|_|g"], "a/b/c\n"),
    (["sed", "s/[0-9]*$//"], "ab12\n"),
    (["sed", "-E", "s/x+y/-/g"], "axxyb\n"),
    (["sed", "-e", "s/a/1/", "-e", "s/1/2/"], "a\n"),
    (["grep", "-v", "b"], "a\nb\nab\n"),
    (["grep", "-F", "a.c"], "abc\na.c\n"),
    (["grep", "-E", "^(a|b)$"], "a\nab\nb\n"),
    (["grep", "nothing"], "a\n"),
    (["grep", "-q", "a"], "a\n"),
]


def real(words: list[str], text: str) -> tuple[str, bool]:
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not installed")
    done = subprocess.run(words, input=text, capture_output=True, text=True, env={"LC_ALL": "C"}, check=False)
    return done.stdout, done.returncode == 0


@pytest.mark.parametrize("words", CALLS, ids=" ".join)
def test_as_the_real_program(words: list[str]) -> None:
    assert tools.run(words[0], words[1:], "") == real(words, "")


@pytest.mark.parametrize(
    ("words", "text"), FILTERS, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_as_the_real_filter(words: list[str], text: str) -> None:
    assert tools.run(words[0], words[1:], text) == real(words, text)


@pytest.mark.parametrize(
    "words",
    [
        ["nproc"],
        ["seq", "1", "99999999"],
        ["sort", "-k2"],
        ["sed", "-n", "1p"],
        ["sed", "s/\\(a\\)/\\1/"],
        ["sed", "s/a/&&/"],
        ["awk", "{ print $1 }"],
        ["awk", 'BEGIN { system("x") }'],
        ["grep", "-c", "a"],
        ["cut", "-c1"],
        ["cut", "-f1-2", "-d."],
        ["sed", "-E", "s/(x|y)+/-/g"],
        ["tr", "[:lower:]", "[:upper:]"],
        ["awk", "BEGIN { print 1/0 }"],
    ],
    ids=" ".join,
)
def test_the_rest_is_not_known(words: list[str]) -> None:
    result = tools.run(words[0], words[1:], "a b\n")
    assert result is None or result == real(words, "a b\n")


def test_unknown_input_is_not_computed() -> None:
    assert tools.run("sort", [], None) is None


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(alphabet="ab1 ,.-", max_size=4), max_size=5), st.sampled_from([f[0] for f in FILTERS]))
def test_any_lines_as_the_real_filter(lines: list[str], words: list[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    result = tools.run(words[0], words[1:], text)
    assert result is None or result == real(words, text)
