"""Reading a script: whatever it holds, in bounded time, and what cannot be read is located."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.launch.shell_parser import parse
from reviewer_tui.launch.syntax import Block, Function, Group, Simple, Unreadable

HOSTILE = {
    "nested groups": "{ " * 10_000,
    "nested and closed groups": "{ " * 10_000 + "x; " + "}; " * 10_000,
    "nested subshells": "(" * 10_000 + "x" + ")" * 10_000,
    "nested substitutions": "echo " + "$(" * 10_000 + "x" + ")" * 10_000,
    "nested expansions": "echo " + "${a:-" * 10_000 + "x" + "}" * 10_000,
    "nested conditions": "if x; then " * 10_000,
    "nested cases": "case x in " * 10_000,
    "nested arithmetic": "echo $((" + "(" * 10_000,
    "nested quotes": '"$(' * 10_000,
    "brackets": "[[ " + "(" * 10_000,
    "one line of a megabyte": "echo " + "a " * 499_000,
    "unclosed double quote": 'echo "' + "a $b " * 100_000,
    "unclosed single quote": "echo '" + "a $b " * 100_000,
    "unclosed function": 'f() {\n "' * 20_000,
    "closing brackets": ")" * 100_000,
    "many here-documents": "cat <<A <<B <<C\n" * 5_000,
    "here-documents in functions": "f() {\ncat <<E\n}\n" * 20_000,
    "backticks": "`" * 100_001,
    "dollars": "$" * 200_000,
    "brace lists": "echo " + "{a," * 20_000,
    "assignments": "a=b " * 100_000,
    "pipes": "a|" * 100_000,
    "double parentheses": "((x\n" * 20_000,
    "backslashes": "\\" * 300_000,
    "more than a megabyte": "echo a\n" * 200_000,
}


def last(block: Block) -> object:
    return block.statements[-1]


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_is_read_in_time(source: str) -> None:
    started = time.process_time()
    block = parse(source, "x.sh")
    assert time.process_time() - started < 2
    assert block.statements


@pytest.mark.parametrize(
    ("source", "line", "says"),
    [
        ("echo a\necho 'b\n", 2, "not closed"),
        ('echo a\n\necho "b $x\nc\n', 3, "not closed"),
        ("if true; then\n  echo\n", 3, "'fi' is missing"),
        ("echo a\n)\n", 2, ")"),
        ("for x in a; echo\n", 1, "do"),
        ("echo $(a\n", 2, "')' is missing"),
        ("echo a\n" + "{ " * 100, 2, "nested"),
    ],
)
def test_what_cannot_be_read_is_located(source: str, line: int, says: str) -> None:
    found = last(parse(source, "x.sh"))
    assert isinstance(found, Unreadable)
    assert found.line == line
    assert says in found.message


def test_what_stands_before_a_fault_is_kept() -> None:
    first, fault = parse("serve --tp 8\nfi\n", "x.sh").statements
    assert isinstance(first, Simple)
    assert isinstance(fault, Unreadable)


def test_a_function_is_read_when_it_is_called() -> None:
    good, bad = parse("f() {\n  echo a\n}\ng() {\n  if\n}\n", "x.sh").statements
    assert isinstance(good, Function)
    assert isinstance(bad, Function)
    assert isinstance(good.parse(), Group)
    fault = bad.parse()
    assert isinstance(fault, Unreadable)
    assert fault.line == 6


def test_lines_continue_and_are_counted() -> None:
    first, second = parse("a \\\n b \\\n c\n# note\n\nd\n", "x.sh").statements
    assert (first.line, second.line) == (1, 6)


def test_a_text_within_a_script_keeps_the_line_it_stands_at() -> None:
    assert [s.line for s in parse("a\nb\n", "x.sh", 7).statements] == [7, 7]


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=st.sampled_from(list("aA1 \n\t\"'`$(){}[]<>|&;#=*?!\\-+~,:/@%^")), max_size=120))
def test_any_text_is_read(source: str) -> None:
    assert isinstance(parse(source, "x.sh"), Block)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200))
def test_any_characters_are_read(source: str) -> None:
    assert isinstance(parse(source, "x.sh"), Block)
