"""What a script's variables, functions and files hold at one moment, and the join of two such moments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

import msgspec

from reviewer_tui.launch.syntax import Function
from reviewer_tui.launch.text import Text, Unknown, concat, either, show, unknown


class Gap(msgspec.Struct, frozen=True):
    """A place in a list at which any number of items may stand."""

    reason: Unknown


Item: TypeAlias = Text | Gap


class Array(msgspec.Struct, frozen=True):
    """An array: its items by index (numbers from 0, or names where it is `associative`), in their order.

    Behind a gap, numbers keep the order but are no indexes any more; an associative array with a gap is wholly unknown.
    """

    items: dict[int | str, Item]
    associative: bool = False

    @property
    def ordered(self) -> list[Item]:
        if self.associative:
            return list(self.items.values())
        return [self.items[key] for key in sorted(self.items, key=int)]

    @property
    def next_index(self) -> int:
        return max((key for key in self.items if isinstance(key, int)), default=-1) + 1

    @property
    def gap(self) -> Unknown | None:
        """Why it may hold items that are not known."""
        return gap_in(self.items.values())

    @property
    def known_until(self) -> int | None:
        """The index from which on items are not known; None where all are."""
        if self.gap is None:
            return None
        return 0 if self.associative else min(int(k) for k, v in self.items.items() if isinstance(v, Gap))


def unknown_array(reason: Unknown, associative: bool = False) -> Array:
    return Array({"" if associative else 0: Gap(reason)}, associative)


def gap_in(items: Iterable[Item]) -> Unknown | None:
    return next((item.reason for item in items if isinstance(item, Gap)), None)


class Unset(msgspec.Struct, frozen=True):
    """A variable that the script itself has unset."""


UNSET = Unset()
Value: TypeAlias = Text | Array | Unset
Files: TypeAlias = Mapping[str, Text | None]
"""Content by path, of files that the script has touched; None where what it left there, if anything, is not known."""
Functions: TypeAlias = Mapping[str, tuple[Function | None, ...]]
Printed: TypeAlias = tuple[Text, ...]
"""What was printed, in pieces, so that printing more does not copy it all."""
_MOST_PIECES = 256


class State:
    """One moment of a script. `exported`, `files` and `functions` are never changed in place, so that commands may keep
    them and copies share them."""

    __slots__ = (
        *("_status", "arguments", "code", "cwd", "exported", "failing", "files", "functions", "input", "insisting"),
        *("printed", "tainted", "variables"),
    )

    def __init__(self) -> None:
        self.variables: dict[str, Value] = {}
        self.exported: Mapping[str, Text] = {}
        self.files: Files = {}
        # What a name may call: several definitions where it is open which holds, None among them if it may be none.
        self.functions: Functions = {}
        self.arguments: tuple[Item, ...] = ()
        self.cwd: Text = "/"
        self._status: bool | None = True
        # The status as a number, where it is known.
        self.code = 0
        # Why variables that nothing known has set may be set all the same.
        self.tainted: Unknown | None = None
        # Whether a failure ends the script (`set -e`), and a variable that is not set (`set -u`).
        self.failing = self.insisting = False
        # What was printed where it is kept (a substitution, a pipe, a file), else None; and what is still to be read.
        self.printed: Printed | None = None
        self.input: Text = ""

    @property
    def status(self) -> bool | None:
        """Whether the last command succeeded; None where that is not known."""
        return self._status

    @status.setter
    def status(self, value: bool | None) -> None:
        self._status = value
        self.code = 0 if value else 1

    def copy(self) -> State:
        other = State.__new__(State)
        other.variables = self.variables.copy()
        other.exported, other.files, other.functions = self.exported, self.files, self.functions
        other.arguments, other.cwd = self.arguments, self.cwd
        other._status, other.code, other.tainted = self._status, self.code, self.tainted
        other.printed, other.input = self.printed, self.input
        other.failing, other.insisting = self.failing, self.insisting
        return other

    def print(self, text: Text) -> None:
        """Adds to what was printed, where that is kept."""
        if self.printed is not None:
            pieces = self.printed if len(self.printed) < _MOST_PIECES else (concat(self.printed),)
            self.printed = (*pieces, text)

    def after(self, inner: State) -> None:
        """What a process of its own leaves behind: its status, files and output, and the input it did not read."""
        self._status, self.code = inner._status, inner.code
        self.files, self.printed, self.input = inner.files, inner.printed, inner.input

    def same_values(self, other: State, ignoring: str = "") -> bool:
        """Whether both hold the same values, apart from one variable."""
        if self.files != other.files or self.cwd != other.cwd:
            return False
        if self.printed != other.printed or self.input != other.input:
            return False
        if self.variables == other.variables:
            return True
        if not ignoring:
            return False
        left, right = dict(self.variables), dict(other.variables)
        left.pop(ignoring, None)
        right.pop(ignoring, None)
        return left == right


ON, BREAK, CONTINUE, RETURN, EXIT = range(5)
"""How a statement ends: on to the next one, or out of a loop, a function, or the script."""


class Loop:
    """The states in which a loop may have been left or gone on, by a condition that could not be decided, and the
    lines of these conditions."""

    __slots__ = ("broken", "continued", "lines")

    def __init__(self) -> None:
        self.broken: list[State] = []
        self.continued: list[State] = []
        self.lines: list[int] = []


class Frame:
    """A function call: the states in which it may have returned, the lines of the conditions for that, and what its
    locals hide (a value, and whether it was exported). A `contained` one is a process of its own, which `exit` ends; it
    has the states in which that may have happened."""

    __slots__ = ("contained", "exited", "hidden", "lines", "loops", "returned")

    def __init__(self, contained: bool = False) -> None:
        self.contained = contained
        self.returned: list[State] = []
        self.exited: list[State] = []
        self.lines: list[int] = []
        self.hidden: dict[str, tuple[Value | None, bool]] = {}
        self.loops: list[Loop] = []


def distinct(states: Iterable[State]) -> list[State]:
    """States without those that are the same as the one before."""
    found: list[State] = []
    for state in states:
        last = found[-1] if found else None
        if (
            last is None
            or state.status != last.status
            or state.exported != last.exported
            or not state.same_values(last)
        ):
            found.append(state)
    return found


def joined(states: Iterable[State], line: int, path: str, repeated: bool = False) -> State:
    """What holds whichever of the states is the real one. `repeated`: the later ones come from turns of a loop whose
    number is not known, so that a difference means any value, not one of two."""
    result, *others = states
    if not others:
        return result.copy()
    for state in others:
        result = _join(result, state, line, path, repeated)
    return result


def _join(first: State, second: State, line: int, path: str, repeated: bool) -> State:
    result = first.copy()
    if first.variables != second.variables:
        for name in {**first.variables, **second.variables}:
            one, other = first.variables.get(name), second.variables.get(name)
            if one is not other and one != other:
                result.variables[name] = _either(one, other, name, line, path, repeated)
    result.functions = _join_functions(first, second)
    if first.files is not second.files and first.files != second.files:
        result.files = {
            name: _either_content(first.files.get(name), second.files.get(name), name, line, path, repeated)
            for name in {**first.files, **second.files}
        }
    if first.exported is not second.exported and first.exported != second.exported:
        names = {**first.exported, **second.exported}
        values = {name: result.variables.get(name) for name in names}
        result.exported = {name: v for name, v in values.items() if v is not None and not isinstance(v, Array | Unset)}
    if first.cwd != second.cwd:
        result.cwd = either(first.cwd, second.cwd, "working directory", line, path)
    if first.arguments != second.arguments:
        result.arguments = (Gap(Unknown("positional parameters", line, path)),)
    if first.status != second.status or first.code != second.code:
        result.status = first.status if first.status == second.status else None
    result.tainted = first.tainted or second.tainted
    result.failing = first.failing and second.failing
    result.insisting = first.insisting and second.insisting
    if first.printed != second.printed:
        result.printed = _either_printed(first.printed, second.printed, line, path, repeated)
    if first.input != second.input:
        result.input = unknown("input", line, path)
    return result


def _either_printed(one: Printed | None, other: Printed | None, line: int, path: str, repeated: bool) -> Printed:
    """What both have printed first, and then either's rest, whose common line break stays known."""
    if one is None or other is None:
        return (unknown("output", line, path),)
    common = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        common += 1
    first, second = concat(one[common:]), concat(other[common:])
    if repeated:
        return (*one[:common], unknown("output", line, path))
    if isinstance(first, str) and isinstance(second, str) and first.endswith("\n") and second.endswith("\n"):
        return (*one[:common], either(first[:-1], second[:-1], "output", line, path), "\n")
    return (*one[:common], either(first, second, "output", line, path))


def _join_functions(first: State, second: State) -> Functions:
    if first.functions is second.functions or first.functions == second.functions:
        return first.functions
    joined = {**first.functions, **second.functions}
    for name in joined:
        definitions = (*first.functions.get(name, (None,)), *second.functions.get(name, (None,)))
        joined[name] = tuple(dict.fromkeys(definitions))
    return joined


def _either(one: Value | None, other: Value | None, name: str, line: int, path: str, repeated: bool) -> Value:
    reason = f"value of {name}"
    if isinstance(one, Array) and isinstance(other, Array) and one.associative == other.associative:
        return _either_array(one, other, reason, line, path)
    if isinstance(one, Array) or isinstance(other, Array):
        return unknown_array(Unknown(reason, line, path))
    return _either_text(_plain(one), _plain(other), reason, line, path, repeated)


def _plain(value: Text | Unset | None) -> Text | None:
    return None if isinstance(value, Unset) else value


def _either_text(one: Text | None, other: Text | None, reason: str, line: int, path: str, repeated: bool) -> Text:
    if one is None or other is None or repeated:
        return unknown(reason, line, path)
    return either(one, other, reason, line, path)


def _either_content(
    one: Text | None, other: Text | None, name: str, line: int, path: str, repeated: bool
) -> Text | None:
    if one is None or other is None:
        return None
    return _either_text(one, other, f"content of {name}", line, path, repeated)


def _either_array(one: Array, other: Array, reason: str, line: int, path: str) -> Array:
    """The items both begin with; what follows in either is not known."""
    common: dict[int | str, Item] = {}
    pairs = zip(one.items.items(), other.items.items(), strict=False)
    for (key, left), (second_key, right) in pairs:
        if key != second_key or left != right:
            break
        common[key] = left
    added = max(one.items, other.items, key=len)
    others = (item for item in list(added.values())[len(common) :][:4] if not isinstance(item, Gap))
    hint = ", ".join(map(show, others))
    why = Unknown(f"{reason}, which may also hold `{hint}`," if hint else reason, line, path)
    if one.associative:
        return unknown_array(why, associative=True)
    after = max((int(key) for key in common), default=-1) + 1
    return Array({**common, after: Gap(why)})
