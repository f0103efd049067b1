"""The syntax tree of a bash script, as `shell_parser` makes it and `shell` evaluates it.

Lines count from 1. A word is a row of parts; `constant` holds its text where nothing in it is to be expanded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal as Choice
from typing import TypeAlias

import msgspec


class Literal(msgspec.Struct, frozen=True):
    """Plain text. Unquoted text is active in patterns (`*`, `?`, `[`)."""

    text: str
    quoted: bool


class Parameter(msgspec.Struct, frozen=True):
    """`$name`, `${name[index]operator argument}`. `prefix` is `#` (length) or `!` (indirect); `whole` is `@` or `*`
    for `${A[@]}` and `$@`; `operator` is empty for a plain value; `second` is the replacement of `/` and the length
    of `:`."""

    name: str
    line: int
    quoted: bool
    index: Word | None = None
    whole: str = ""
    prefix: str = ""
    operator: str = ""
    argument: Word | None = None
    second: Word | None = None


class Substitution(msgspec.Struct, frozen=True):
    """`$(…)` or backquotes."""

    body: Block
    line: int
    quoted: bool


class Arithmetic(msgspec.Struct, frozen=True):
    """`$((…))`."""

    expression: Word
    line: int
    quoted: bool


class Process(msgspec.Struct, frozen=True):
    """`<(…)` or `>(…)`: the name of a pipe, which nobody can know."""

    body: Block
    line: int


Part: TypeAlias = Literal | Parameter | Substitution | Arithmetic | Process


class Word(msgspec.Struct, frozen=True):
    parts: tuple[Part, ...]
    line: int
    constant: str | None = None


class Assignment(msgspec.Struct, frozen=True):
    """`name=value`, `name+=value`, `name[index]=value`, or an array's `name=(words)`."""

    name: str
    line: int
    value: Word | None = None
    elements: tuple[ArrayElement, ...] | None = None
    index: Word | None = None
    append: bool = False


class ArrayElement(msgspec.Struct, frozen=True):
    """One word of an array, perhaps with its index (`[index]=value`)."""

    value: Word
    index: Word | None = None


class Heredoc:
    """The text of a here-document; its body follows the line that names it, so it is filled in later."""

    __slots__ = ("body", "delimiter", "indented", "line", "raw")

    def __init__(self, delimiter: str, raw: bool, indented: bool, line: int) -> None:
        self.delimiter, self.raw, self.indented, self.line = delimiter, raw, indented, line
        self.body: Word = Word((), line, "")


class Redirect(msgspec.Struct, frozen=True):
    """`operator` as written (`>`, `>>`, `<`, `<<<`, `>&`, `&>`, `<<`); `descriptor` is the number before it, or -1."""

    operator: str
    descriptor: int
    target: Word | None
    line: int
    heredoc: Heredoc | None = None


class Simple(msgspec.Struct, frozen=True):
    """A command with its assignments and redirections. `words` hold assignments too where the command is one of the
    declarations (`export A=1`)."""

    line: int
    assignments: tuple[Assignment, ...]
    words: tuple[Word | Assignment, ...]
    redirects: tuple[Redirect, ...]


class Pipeline(msgspec.Struct, frozen=True):
    line: int
    stages: tuple[Statement, ...]
    negated: bool = False


class AndOr(msgspec.Struct, frozen=True):
    """`first && … || …`, from left to right."""

    line: int
    first: Statement
    rest: tuple[tuple[Choice["&&", "||"], Statement], ...]


class Background(msgspec.Struct, frozen=True):
    line: int
    statement: Statement


class Group(msgspec.Struct, frozen=True):
    """`{ … }`, or `( … )` where `subshell`."""

    line: int
    body: Block
    subshell: bool
    redirects: tuple[Redirect, ...] = ()


class If(msgspec.Struct, frozen=True):
    line: int
    branches: tuple[tuple[Block, Block], ...]
    otherwise: Block | None
    redirects: tuple[Redirect, ...] = ()


class CaseItem(msgspec.Struct, frozen=True):
    """`ending` is `;;`, `;&` (go on with the next body) or `;;&` (go on with the next patterns)."""

    patterns: tuple[Word, ...]
    body: Block
    ending: str
    line: int


class Case(msgspec.Struct, frozen=True):
    line: int
    subject: Word
    items: tuple[CaseItem, ...]
    redirects: tuple[Redirect, ...] = ()


class For(msgspec.Struct, frozen=True):
    """`for name in words`; `words` is None for the positional parameters."""

    line: int
    name: str
    words: tuple[Word, ...] | None
    body: Block
    redirects: tuple[Redirect, ...] = ()


class CountedFor(msgspec.Struct, frozen=True):
    """`for ((start; condition; step))`."""

    line: int
    start: Word
    condition: Word
    step: Word
    body: Block
    redirects: tuple[Redirect, ...] = ()


class While(msgspec.Struct, frozen=True):
    line: int
    condition: Block
    body: Block
    until: bool
    redirects: tuple[Redirect, ...] = ()


class Function(msgspec.Struct, frozen=True):
    """A definition. `parse` makes the body when the function is first called: most of a library never is."""

    line: int
    name: str
    parse: Callable[[], Statement]
    path: str


class Compute(msgspec.Struct, frozen=True):
    """`((…))`."""

    line: int
    expression: Word
    redirects: tuple[Redirect, ...] = ()


class Condition(msgspec.Struct, frozen=True):
    """`[[ … ]]`."""

    line: int
    test: Expression
    redirects: tuple[Redirect, ...] = ()


class Comparison(msgspec.Struct, frozen=True):
    """`-n "$x"` (operator `-n`), `$x = y` (with `right`), or one word alone (operator empty)."""

    operator: str
    left: Word
    right: Word | None = None


class Negation(msgspec.Struct, frozen=True):
    inner: Expression


class Junction(msgspec.Struct, frozen=True):
    operator: Choice["&&", "||"]
    left: Expression
    right: Expression


Expression: TypeAlias = Comparison | Negation | Junction


class Unreadable(msgspec.Struct, frozen=True):
    """Where the text stops being bash, or goes beyond what is read. Nothing after it is known."""

    line: int
    message: str


Statement: TypeAlias = (
    Simple
    | Pipeline
    | AndOr
    | Background
    | Group
    | If
    | Case
    | For
    | CountedFor
    | While
    | Function
    | Compute
    | Condition
    | Unreadable
)


class Block(msgspec.Struct, frozen=True):
    statements: tuple[Statement, ...]
