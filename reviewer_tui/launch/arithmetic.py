"""Shell arithmetic (`$((…))`): C's operators on 64-bit integers, with values that may be unknown.

Source: the bash reference manual, "Shell Arithmetic".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Protocol, TypeAlias

import msgspec

from reviewer_tui.launch.text import Text, Unknown, unknowns

Number: TypeAlias = int | Unknown

_MAX_TEXT = 4096
_MAX_DEPTH = 12
_MAX_OPERATORS = 60
_TOKEN = re.compile(
    r"\s*(?:(0[xX][0-9a-fA-F]+|\d+#[0-9a-zA-Z@_]+|\d+)|([A-Za-z_]\w*)"
    r"|(<<=|>>=|\*\*|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^~!<>=?:,()\[\]]))"
)
_LEVELS = ("||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %", "**")
_BINDING = {operator: number for number, level in enumerate(_LEVELS, 1) for operator in level.split()}
_ASSIGNS = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|="))


class Scope(Protocol):
    """The variables an expression reads and writes. An index is None for a plain variable."""

    def read(self, name: str, index: Number | None) -> Text: ...

    def write(self, name: str, index: Number | None, value: Number) -> None: ...


class _Number(msgspec.Struct, frozen=True):
    value: int


class _Name(msgspec.Struct, frozen=True):
    name: str
    index: _Node | None


class _Unary(msgspec.Struct, frozen=True):
    operator: str
    operand: _Node


class _Binary(msgspec.Struct, frozen=True):
    operator: str
    left: _Node
    right: _Node


class _Choice(msgspec.Struct, frozen=True):
    condition: _Node
    yes: _Node
    no: _Node


class _Assign(msgspec.Struct, frozen=True):
    """`name operator= value`; `postfix` for `x++`, whose value is the old one."""

    operator: str
    target: _Name
    value: _Node
    postfix: bool = False


_Node: TypeAlias = _Number | _Name | _Unary | _Binary | _Choice | _Assign


class ArithmeticFault(Exception):
    """The text is no arithmetic expression, or too large a one."""


def evaluate(text: str, scope: Scope, line: int = 0, path: str = "", depth: int = 0) -> Number:
    """The value of an expression. Unknown where a variable or the expression itself cannot be evaluated."""
    try:
        return _Evaluation(scope, line, path, depth).value(_parse(text))
    except ArithmeticFault as fault:
        return Unknown(f"{fault} of `{text[:60]}`", line, path, nonempty=True)


@lru_cache(maxsize=2048)
def _parse(text: str) -> _Node:
    if len(text) > _MAX_TEXT:
        raise ArithmeticFault("the value (the expression is too long)")
    tokens: list[str] = []
    at = 0
    while at < len(text.rstrip()):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ArithmeticFault("the value (no arithmetic)")
        tokens.append(match.group().strip())
        at = match.end()
    return _Reader(tokens).whole() if tokens else _Number(0)


class _Reader:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens, self.at, self.depth, self.operators = tokens, 0, 0, 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def expect(self, token: str) -> None:
        if self.take() != token:
            raise ArithmeticFault("the value (no arithmetic)")

    def whole(self) -> _Node:
        node = self.comma()
        if self.peek():
            raise ArithmeticFault("the value (no arithmetic)")
        return node

    def comma(self) -> _Node:
        node = self.assignment()
        while self.peek() == ",":
            self.take()
            self.operators += 1
            if self.operators > _MAX_OPERATORS:
                raise ArithmeticFault("the value (the expression is too long)")
            node = _Binary(",", node, self.assignment())
        return node

    def assignment(self) -> _Node:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise ArithmeticFault("the value (the expression is nested too deeply)")
        node = self.choice()
        if self.peek() in _ASSIGNS and isinstance(node, _Name):
            operator = self.take()
            node = _Assign(operator[:-1], node, self.assignment())
        self.depth -= 1
        return node

    def choice(self) -> _Node:
        condition = self.binary(1)
        if self.peek() != "?":
            return condition
        self.take()
        yes = self.comma()
        self.expect(":")
        return _Choice(condition, yes, self.assignment())

    def binary(self, least: int) -> _Node:
        """Operators that bind at least as tightly as `least`."""
        node = self.unary()
        while (binding := _BINDING.get(self.peek(), 0)) >= least:
            operator = self.take()
            self.operators += 1
            if self.operators > _MAX_OPERATORS:
                raise ArithmeticFault("the value (the expression is too long)")
            # `**` binds to the right.
            node = _Binary(operator, node, self.binary(binding if operator == "**" else binding + 1))
        return node

    def unary(self) -> _Node:
        token = self.peek()
        if token in ("+", "-", "!", "~", "++", "--"):
            self.take()
            self.depth += 1
            if self.depth > _MAX_DEPTH:
                raise ArithmeticFault("the value (the expression is nested too deeply)")
            operand = self.unary()
            self.depth -= 1
            if token in ("++", "--"):
                if isinstance(operand, _Name):
                    return _Assign(token[0], operand, _Number(1))
                return _Unary(token[0], _Unary(token[0], operand))
            return _Unary(token, operand)
        return self.primary()

    def primary(self) -> _Node:
        token = self.take()
        if token == "(":
            node = self.comma()
            self.expect(")")
            return node
        if token[:1].isdigit():
            return _Number(_literal(token))
        if not (token[:1].isalpha() or token[:1] == "_"):
            raise ArithmeticFault("the value (no arithmetic)")
        index = None
        if self.peek() == "[":
            self.take()
            index = self.comma()
            self.expect("]")
        name = _Name(token, index)
        if self.peek() in ("++", "--"):
            return _Assign(self.take()[0], name, _Number(1), postfix=True)
        return name


def _literal(token: str) -> int:
    try:
        if token[:2].lower() == "0x":
            return _wrap(int(token, 16))
        if "#" in token:
            base, _, digits = token.partition("#")
            return _wrap(int(digits, int(base)))
        return _wrap(int(token, 8 if token.startswith("0") and len(token) > 1 else 10))
    except ValueError:
        raise ArithmeticFault("the value (no number)") from None


def _wrap(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


class _Evaluation:
    def __init__(self, scope: Scope, line: int, path: str, depth: int) -> None:
        self.scope, self.line, self.path, self.depth = scope, line, path, depth

    def value(self, node: _Node) -> Number:
        match node:
            case _Number():
                return node.value
            case _Name():
                return self.name(node)
            case _Unary():
                return self.unary(node)
            case _Choice():
                return self.choice(node)
            case _Assign():
                return self.assign(node)
            case _Binary():
                return self.binary(node)

    def name(self, node: _Name) -> Number:
        index = None if node.index is None else self.value(node.index)
        return self.number(node.name, self.scope.read(node.name, index))

    def number(self, name: str, text: Text) -> Number:
        """A variable's value as a number: it is itself an expression, whose names are read in turn."""
        if not isinstance(text, str):
            return unknowns(text)[0]
        stripped = text.strip()
        if not stripped:
            return 0
        if stripped.isdigit() and (stripped[0] != "0" or stripped == "0"):
            return _wrap(int(stripped[:40]))
        if self.depth >= 8:
            return Unknown(f"value of {name} (it refers to itself)", self.line, self.path, nonempty=True)
        return evaluate(stripped, self.scope, self.line, self.path, self.depth + 1)

    def unary(self, node: _Unary) -> Number:
        value = self.value(node.operand)
        if isinstance(value, Unknown):
            return value
        return _wrap({"+": value, "-": -value, "~": ~value, "!": int(not value)}[node.operator])

    def choice(self, node: _Choice) -> Number:
        condition = self.value(node.condition)
        if not isinstance(condition, Unknown):
            return self.value(node.yes if condition else node.no)
        yes, no = self.value(node.yes), self.value(node.no)
        return yes if yes == no else condition

    def assign(self, node: _Assign) -> Number:
        index = None if node.target.index is None else self.value(node.target.index)
        value = self.value(node.value)
        old: Number = 0
        if node.operator:
            old = self.number(node.target.name, self.scope.read(node.target.name, index))
            value = self.apply(node.operator, old, value)
        self.scope.write(node.target.name, index, value)
        return old if node.postfix else value

    def binary(self, node: _Binary) -> Number:
        left = self.value(node.left)
        if node.operator in ("&&", "||"):
            return self.logical(node, left)
        right = self.value(node.right)
        return right if node.operator == "," else self.apply(node.operator, left, right)

    def logical(self, node: _Binary, left: Number) -> Number:
        decides = node.operator == "||"
        if not isinstance(left, Unknown):
            if bool(left) is decides:
                return int(decides)
            right = self.value(node.right)
            return right if isinstance(right, Unknown) else int(bool(right))
        right = self.value(node.right)
        return int(decides) if not isinstance(right, Unknown) and bool(right) is decides else left

    def apply(self, operator: str, left: Number, right: Number) -> Number:
        if isinstance(left, Unknown):
            return left
        if isinstance(right, Unknown):
            return right
        if operator in ("/", "%") and right == 0:
            raise ArithmeticFault("the value (division by zero)")
        if operator == "**" and not 0 <= right <= 64:
            raise ArithmeticFault("the value (an exponent out of range)")
        return _wrap(int(_OPERATIONS[operator](left, right)))


def _divide(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide,
    "%": lambda a, b: a - b * _divide(a, b),
    "**": lambda a, b: pow(a, b, 1 << 64),
    "<<": lambda a, b: a << (b % 64),
    ">>": lambda a, b: a >> (b % 64),
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
}
