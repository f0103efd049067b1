"""Arithmetic as bash has it, and its limits."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.launch import arithmetic
from reviewer_tui.launch.text import Mixed, Text, Unknown
from tests.launch.bash import bash_says, needs_bash

numbers = st.integers(-40, 99).map(lambda n: f"({n})" if n < 0 else str(n))
_BINARY = st.sampled_from(
    ["+", "-", "*", "/", "%", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&", "^", "|", "&&", "||"]
)


def expressions() -> st.SearchStrategy[str]:
    return st.recursive(
        numbers | st.sampled_from(["A", "B", "0x1f", "010", "2#101"]),
        lambda inner: st.one_of(
            st.tuples(inner, _BINARY, inner).map(lambda t: f"{t[0]} {t[1]} {t[2]}"),
            st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} ? {t[1]} : {t[2]})"),
            inner.map(lambda t: f"({t})"),
            inner.map(lambda t: f"-({t})"),
            inner.map(lambda t: f"!({t})"),
            inner.map(lambda t: f"~({t})"),
        ),
        max_leaves=6,
    )


class Names:
    """Variables for an expression."""

    def __init__(self, **values: Text) -> None:
        self.values = values

    def read(self, name: str, index: int | Unknown | None) -> Text:
        return self.values.get(name, "")

    def write(self, name: str, index: int | Unknown | None, value: int | Unknown) -> None:
        self.values[name] = Mixed((value,)) if isinstance(value, Unknown) else str(value)


@needs_bash
@settings(max_examples=60, deadline=None)
@given(st.lists(expressions(), min_size=1, max_size=12))
def test_as_bash(found: list[str]) -> None:
    lines = "".join(f'emit "$(echo $(( {expression} )) 2>/dev/null)"\n' for expression in found)
    said = bash_says(f"exec 2>/dev/null\nA=7; B='A + 1'\n{lines}")
    for expression, (text,) in zip(found, said, strict=True):
        value = arithmetic.evaluate(expression, Names(A="7", B="A + 1"))
        assert str(value) == text if text else isinstance(value, Unknown), expression


def test_an_unknown_operand_makes_the_result_unknown() -> None:
    reason = Unknown("value of X", 3)
    assert arithmetic.evaluate("X * 2", Names(X=Mixed((reason,)))) == reason
    assert arithmetic.evaluate("0 && X", Names(X=Mixed((reason,)))) == 0


@pytest.mark.parametrize("text", ["1 +", "1 / 0", "a b", "1 $ 2", "((1)", "2 ** -1", "08", "1.5", "{}"])
def test_what_is_an_error_is_unknown(text: str) -> None:
    assert isinstance(arithmetic.evaluate(text, Names(a="1")), Unknown)


def test_names_that_lead_to_themselves() -> None:
    assert isinstance(arithmetic.evaluate("A", Names(A="B", B="A")), Unknown)


def test_side_effects() -> None:
    names = Names(i="3")
    assert arithmetic.evaluate("i++ + i, j = i * 2, j += 1", names) == 9
    assert names.values == {"i": "4", "j": "9"}


@pytest.mark.parametrize(
    "text", ["9" * 100_000, "(" * 50_000, "1+" * 50_000 + "1", "2**2**2**2**2**2", "1<<" * 9000 + "1"]
)
def test_long_expressions_end_in_time(text: str) -> None:
    started = time.process_time()
    arithmetic.evaluate(text, Names())
    assert time.process_time() - started < 1


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="0123456789aA+-*/%()[]{}<>=!&|^~?:,#x $'\"", max_size=30))
def test_any_text(text: str) -> None:
    assert isinstance(arithmetic.evaluate(text, Names(a="1")), int | Unknown)
