"""Expands the words of a script: parameters, arithmetic, command substitution, splitting and quoting.

Source: the bash reference manual, "Shell Expansions".
"""

from __future__ import annotations

import posixpath
import re
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import msgspec

from reviewer_tui.launch import arithmetic, patterns
from reviewer_tui.launch.shell_state import UNSET, Array, Gap, Item, State, Unset, Value, gap_in, unknown_array
from reviewer_tui.launch.syntax import (
    Arithmetic,
    Assignment,
    Block,
    Literal,
    Parameter,
    Part,
    Process,
    Substitution,
    Word,
)
from reviewer_tui.launch.text import (
    Mixed,
    Text,
    Unknown,
    concat,
    either,
    is_empty,
    show,
    unknown,
    unknowns,
    without_last_breaks,
)

_INHERITED = frozenset({"PATH", "HOME", "USER", "LOGNAME", "HOSTNAME", "SHELL", "LD_LIBRARY_PATH", "PYTHONPATH"})
"""Variables that a container's environment holds already, so that whatever a script gives them, its programs see."""

_ALWAYS_SET = frozenset(
    (
        *(
            "PATH",
            "HOME",
            "USER",
            "LOGNAME",
            "HOSTNAME",
            "SHELL",
            "PPID",
            "UID",
            "EUID",
            "RANDOM",
            "SRANDOM",
            "SECONDS",
        ),
        *("LINENO", "BASHPID", "BASH", "EPOCHSECONDS", "EPOCHREALTIME", "BASH_VERSION", "OSTYPE", "HOSTTYPE"),
        *("SHLVL", "MACHTYPE", "TERM"),
    )
)
_DEFAULTS = frozenset((":-", "-", ":=", "=", ":+", "+", ":?", "?"))
_BLANKS = re.compile(r"[^ \t\n]+")
_MAX_CHARACTERS = 4_000_000
HOLE = "\ue000"
_HOLE_END = "\ue001"


class Argument(msgspec.Struct, frozen=True):
    """One word of a command after expansion. `open` where it is unquoted and unknown, or stands for the items of a
    list that may have more: it may be no word, or several."""

    text: Text
    line: int
    open: bool = False

    @property
    def known(self) -> bool:
        return isinstance(self.text, str)

    @property
    def item(self) -> Item:
        """The word as an item of a list."""
        return Gap(unknowns(self.text)[0]) if self.open else self.text

    def __str__(self) -> str:
        return show(self.text)


def argument_of(item: Item, line: int) -> Argument:
    """An item of a list as a word of its own."""
    return Argument(Mixed((item.reason,)), line, open=True) if isinstance(item, Gap) else Argument(item, line)


class Assumption(msgspec.Struct, frozen=True):
    """A variable that nothing known sets, taken as unset where the script looks for it."""

    name: str
    path: str
    line: int


class LimitReached(Exception):
    """The script goes beyond what is evaluated."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message, self.line = message, line


Expanded: TypeAlias = "Text | list[Text] | _Elements"


class _Elements(msgspec.Struct, frozen=True):
    """The elements of `$@` or `${array[@]}`, one word each."""

    items: Sequence[Item]

    @property
    def gap(self) -> Unknown | None:
        return gap_in(self.items)


class Expander:
    """Expansion over a state. Running the commands of a substitution is left to the interpreter."""

    def __init__(self, state: State, external: frozenset[str]) -> None:
        self.state = state
        self.external = external
        self.path = ""
        self.script_name: Text = ""
        self.sources: list[str] = []
        self.call_names: list[str] = []
        self.holes: list[Unknown] = []
        self.assumptions: dict[str, Assumption] = {}
        self.characters = 0
        self.line = 0

    @abstractmethod
    def output(self, body: Block, line: int) -> Text:
        """What the commands print."""

    # -- variables ------------------------------------------------------------------------------------------------

    def lookup(self, name: str, line: int) -> Value | None:
        """A variable's value; None where it is unset (or, if nothing known sets it, taken as unset)."""
        value = self.state.variables.get(name)
        if value is not None:
            return None if isinstance(value, Unset) else value
        return self._special(name, line)

    def _special(self, name: str, line: int) -> Value | None:
        state = self.state
        if name.isdigit():
            number = int(name[:6])
            if number == 0:
                return self.script_name
            if gap_in(state.arguments[:number]) is not None:
                return unknown(f"value of ${name}", line, self.path)
            return _text(state.arguments[number - 1]) if number <= len(state.arguments) else None
        match name:
            case "#":
                if gap_in(state.arguments) is not None:
                    return unknown("number of positional parameters", line, self.path, nonempty=True)
                return str(len(state.arguments))
            case "?":
                if state.status is None:
                    return unknown("status of the command before", line, self.path, nonempty=True)
                return str(state.code)
            case "-" | "_":
                return unknown(f"value of ${name}", line, self.path)
            case "!" | "$":
                return unknown("number of a process", line, self.path, nonempty=True)
            case "PWD":
                return state.cwd
            case "BASH_SOURCE":
                return Array(dict(enumerate(reversed(self.sources))))
            case "FUNCNAME":
                return Array(dict(enumerate([*reversed(self.call_names), "main"]))) if self.call_names else None
            case "IFS":
                return " \t\n"
        if name in _ALWAYS_SET or name in self.external:
            return unknown(f"value of {name}", line, self.path, nonempty=True)
        if state.tainted is not None:
            return unknown(f"value of {name} ({state.tainted.reason} may set it)", line, self.path)
        if name not in self.assumptions:
            self.assumptions[name] = Assumption(name, self.path, line)
        return None

    def scalar(self, name: str, line: int) -> Text | None:
        """A variable as one text: of an array, the first element."""
        value = self.lookup(name, line)
        if isinstance(value, Array):
            return self.element(value, name, 0, line)
        return None if isinstance(value, Unset) else value

    def element(self, array: Array, name: str, key: int | str, line: int) -> Text | None:
        known = array.known_until
        if known is not None and (isinstance(key, str) or not 0 <= key < known):
            return unknown(f"value of {name}[{key}]", line, self.path)
        if isinstance(key, int) and key < 0 and not array.associative:
            key += array.next_index
        found = array.items.get(key)
        return None if found is None else _text(found)

    def assign(self, name: str, value: Value) -> None:
        state = self.state
        state.variables[name] = value
        if name in state.exported or name in _INHERITED:
            exported = dict(state.exported)
            if isinstance(value, Array | Unset):
                exported.pop(name, None)
            else:
                exported[name] = value
            state.exported = exported

    def export(self, name: str) -> None:
        value = self.lookup(name, self.line)
        if value is not None and not isinstance(value, Array | Unset):
            self.state.exported = {**self.state.exported, name: value}
            self.state.variables.setdefault(name, value)

    def unset(self, name: str) -> None:
        self.assign(name, UNSET)

    def set_element(self, name: str, key: int | str | Unknown, value: Text, line: int) -> None:
        current = self.state.variables.get(name)
        if not isinstance(current, Array):
            first: dict[int | str, Item] = {} if current is None or isinstance(current, Unset) else {0: current}
            current = Array(first, isinstance(key, str))
        self.assign(name, Array(self._placed(current, key, value, name, line), current.associative))

    def _placed(
        self, array: Array, key: int | str | Unknown, value: Text, name: str, line: int
    ) -> dict[int | str, Item]:
        """The items with one of them replaced or added by its index."""
        known = array.known_until
        if isinstance(key, Unknown) or (known is not None and (isinstance(key, str) or not 0 <= key < known)):
            reason = Unknown(f"value of {name}", line, self.path)
            return unknown_array(reason, array.associative).items
        if isinstance(key, int) and key < 0:
            key += array.next_index
        return {**array.items, key: value}

    def apply(self, assignment: Assignment) -> None:
        """An assignment of the script."""
        name, line = assignment.name, assignment.line
        if assignment.elements is not None:
            self.assign(name, self._array(assignment))
            return
        value = self.text(assignment.value) if assignment.value is not None else ""
        if assignment.index is not None:
            key = self.key(name, assignment.index, line)
            if assignment.append and not isinstance(key, Unknown):
                current = self.lookup(name, line)
                old = self.element(current, name, key, line) if isinstance(current, Array) else None
                value = concat((old or "", value))
            self.set_element(name, key, value, line)
            return
        current = self.state.variables.get(name)
        if isinstance(current, Array):
            old = self.element(current, name, 0, line) if assignment.append else None
            self.set_element(name, 0, concat((old or "", value)), line)
        elif assignment.append:
            self.assign(name, concat((self.scalar(name, line) or "", value)))
        else:
            self.assign(name, value)

    def _array(self, assignment: Assignment) -> Array:
        name, current = assignment.name, self.state.variables.get(assignment.name)
        associative = isinstance(current, Array) and current.associative
        items: dict[int | str, Item] = {}
        if assignment.append and isinstance(current, Array):
            items = dict(current.items)
        elif assignment.append and isinstance(current, str | Mixed):
            items = {0: current}
        position = max((k for k in items if isinstance(k, int)), default=-1) + 1
        for element in assignment.elements or ():
            if element.index is not None:
                key = self.key(name, element.index, assignment.line, associative)
                value = self.text(element.value)
                items = self._placed(Array(items, associative), key, value, name, assignment.line)
                position = key + 1 if isinstance(key, int) else max((k for k in items if isinstance(k, int)), default=0)
                continue
            for argument in self.arguments(element.value):
                items[position] = argument.item
                position += 1
        if len(items) > 50_000:
            raise LimitReached("an array has more than 50,000 elements", assignment.line)
        return Array(items, associative)

    def key(self, name: str, index: Word, line: int, associative: bool | None = None) -> int | str | Unknown:
        current = self.state.variables.get(name)
        if associative is None:
            associative = isinstance(current, Array) and current.associative
        text = self.text(index)
        if associative:
            return text if isinstance(text, str) else unknowns(text)[0]
        return self.number(text, line)

    # -- arithmetic -----------------------------------------------------------------------------------------------

    def number(self, text: Text, line: int) -> int | Unknown:
        if not isinstance(text, str):
            # The unknown pieces are operands: read the expression with each as a variable of unknown value.
            return _with_operands(text, self, line)
        if text.isdigit() and len(text) < 18 and (text[0] != "0" or text == "0"):
            return int(text)
        return arithmetic.evaluate(text, self, line, self.path)

    def read(self, name: str, index: int | Unknown | None) -> Text:
        """A variable for the arithmetic."""
        if index is None:
            return self.scalar(name, self.line) or ""
        if isinstance(index, Unknown):
            return Mixed((index,))
        value = self.lookup(name, self.line)
        if isinstance(value, Array):
            return self.element(value, name, index, self.line) or ""
        return value if index == 0 and value is not None and not isinstance(value, Unset) else ""

    def write(self, name: str, index: int | Unknown | None, value: int | Unknown) -> None:
        """An assignment inside arithmetic."""
        text: Text = Mixed((value,)) if isinstance(value, Unknown) else str(value)
        if index is None:
            self.assign(name, text)
        else:
            self.set_element(name, index, text, self.line)

    # -- words ----------------------------------------------------------------------------------------------------

    def text(self, word: Word) -> Text:
        """A word as one text, without splitting."""
        if word.constant is not None:
            return self._fill(word.constant) if self.holes else word.constant
        return self._checked(concat([self._flat(part) for part in word.parts]))

    def _flat(self, part: Part) -> Text:
        if isinstance(part, Literal):
            return self._fill(part.text) if self.holes else part.text
        value = self._expand(part)
        if isinstance(value, _Elements):
            return _spaced(value.items)
        return value

    def _fill(self, text: str) -> Text:
        """A literal of a text that was itself made with unknown pieces: puts them back."""
        if HOLE not in text:
            return text
        parts: list[Text] = []
        for number, piece in enumerate(text.split(HOLE)):
            if number == 0:
                parts.append(piece)
                continue
            key, _, rest = piece.partition(_HOLE_END)
            known_hole = key.isdigit() and int(key) < len(self.holes)
            parts.extend((Mixed((self.holes[int(key)],)) if known_hole else key, rest))
        return concat(parts)

    def with_holes(self, text: Text) -> str:
        """A text for reading as a script, its unknown pieces marked so that they come out as unknown again."""
        if isinstance(text, str):
            return text.replace(HOLE, "?")
        pieces = []
        for part in text.parts:
            if isinstance(part, str):
                pieces.append(part.replace(HOLE, "?"))
            else:
                self.holes.append(part)
                pieces.append(f"{HOLE}{len(self.holes) - 1}{_HOLE_END}")
        return "".join(pieces)

    def _checked(self, text: Text) -> Text:
        self.characters += len(text) if isinstance(text, str) else 64
        if self.characters > _MAX_CHARACTERS:
            raise LimitReached("its texts grow beyond 4 million characters", self.line)
        return text

    def arguments(self, word: Word) -> list[Argument]:
        """A word after splitting: none, one or several arguments."""
        if word.constant is not None:
            if not self.holes:
                # Brace expansion may leave a word without any part, which is no argument.
                return [Argument(word.constant, word.line)] if word.parts else []
            text = self._fill(word.constant)
            return [Argument(text, word.line, isinstance(text, Mixed) and len(text.parts) == 1)]
        if len(word.parts) == 1 and _is_one_argument(word.parts[0]):
            return [Argument(self._checked(self._flat(word.parts[0])), word.line)]
        fields = _Fields(word.line, self._separators())
        for part in word.parts:
            self._add(fields, part)
        found = fields.finish()
        for argument in found:
            self._checked(argument.text)
        return found

    def _add(self, fields: _Fields, part: Part, inner: bool = False) -> None:
        """One part of a word; `inner` where it stands in the argument of an expansion, whose plain text is split."""
        if isinstance(part, Literal):
            text = self._fill(part.text) if self.holes else part.text
            if inner and not part.quoted:
                fields.split(text)
            else:
                fields.add(text)
            return
        if isinstance(part, Parameter) and not part.quoted and part.operator in _DEFAULTS and not part.whole:
            self._add_default(fields, part)
            return
        value = self._expand(part)
        quoted = isinstance(part, Process) or part.quoted
        if isinstance(value, _Elements):
            fields.add_elements(value, quoted)
        elif quoted:
            fields.add(value)
        else:
            fields.split(value)

    def _add_default(self, fields: _Fields, part: Parameter) -> None:
        """`${x:-a "b c"}` outside of quotes: the argument's own quotes hold its words together."""
        value = self._value(part) if part.prefix != "!" else None
        takes = self._takes_argument(part, value) if part.prefix != "!" else None
        if takes and part.operator[-1] in "-+" and part.argument is not None:
            for piece in part.argument.parts:
                self._add(fields, piece, inner=True)
        else:
            expanded = self._expand(part)
            if isinstance(expanded, _Elements):
                fields.add_elements(expanded, quoted=False)
            else:
                fields.split(expanded)

    def _separators(self) -> str:
        value = self.state.variables.get("IFS")
        return value if isinstance(value, str) else " \t\n"

    def pattern(self, word: Word) -> patterns.Pieces | None:
        """A word as a pattern; None where a piece of it is unknown."""
        if word.constant is not None and len(word.parts) == 1 and not self.holes:
            part = word.parts[0]
            assert isinstance(part, Literal)
            return ((part.text, part.quoted),)
        pieces: list[tuple[str, bool]] = []
        for part in word.parts:
            text = self._flat(part)
            if not isinstance(text, str):
                return None
            pieces.append((text, True if isinstance(part, Process) else part.quoted))
        return tuple(pieces)

    # -- expansions -----------------------------------------------------------------------------------------------

    def _expand(self, part: Parameter | Substitution | Arithmetic | Process) -> Text | _Elements:
        if isinstance(part, Parameter):
            self.line = part.line
            if not (part.operator or part.prefix or part.whole or part.index):
                value = self.state.variables.get(part.name)
                if isinstance(value, str):
                    return value
            return self._parameter(part)
        if isinstance(part, Arithmetic):
            self.line = part.line
            number = self.number(self.text(part.expression), part.line)
            return Mixed((number,)) if isinstance(number, Unknown) else str(number)
        if isinstance(part, Substitution):
            return without_last_breaks(self.output(part.body, part.line))
        return unknown("name of a pipe", part.line, self.path, nonempty=True)

    def _parameter(self, part: Parameter) -> Text | _Elements:
        if part.whole:
            return self._whole(part)
        if part.prefix == "!":
            return self._indirect(part)
        value = self._value(part)
        if part.prefix == "#":
            return _length(value, part.line, self.path)
        if not part.operator and value is None and self.state.insisting and part.name not in ("@", "*"):
            # The script goes on only where its surroundings set the variable.
            return unknown(f"value of {part.name}", part.line, self.path)
        if not part.operator:
            return "" if value is None else value
        return self._operate(part, value)

    def _value(self, part: Parameter) -> Text | None:
        if part.index is None:
            return self.scalar(part.name, part.line)
        key = self.key(part.name, part.index, part.line)
        if isinstance(key, Unknown):
            return Mixed((key,))
        value = self.lookup(part.name, part.line)
        if isinstance(value, Array):
            return self.element(value, part.name, key, part.line)
        return value if key == 0 and not isinstance(value, Unset) else None

    def _indirect(self, part: Parameter) -> Text | _Elements:
        name = self.scalar(part.name, part.line) or ""
        if not isinstance(name, str):
            return name
        plain = name.split("[")[0]
        if plain != name:
            return unknown(f"value of ${{!{part.name}}}", part.line, self.path)
        value = self.scalar(plain, part.line)
        if not part.operator:
            return "" if value is None else value
        return self._operate(
            Parameter(plain, part.line, part.quoted, None, "", "", part.operator, part.argument), value
        )

    def elements(self, name: str, line: int) -> _Elements:
        """All elements of an array (or the positional parameters)."""
        if name in ("@", "*"):
            return _Elements(self.state.arguments)
        value = self.lookup(name, line)
        if isinstance(value, Array):
            return _Elements(value.ordered)
        return _Elements([] if value is None or isinstance(value, Unset) else [value])

    def _whole(self, part: Parameter) -> Text | _Elements:
        found = self.elements(part.name, part.line)
        if part.prefix == "#":
            if found.gap is not None:
                return unknown(f"number of elements of {part.name}", part.line, self.path, nonempty=True)
            return str(len(found.items))
        if part.operator in _DEFAULTS:
            return self._whole_default(part, found)
        if len(found.items) > 1 and self._unordered(part):
            found = _Elements([Gap(Unknown(f"order of the items of {part.name}", part.line, self.path))])
        elif part.prefix == "!":
            found = self._keys(part)
        if part.operator == ":":
            found = self._slice(part, found)
        elif part.operator:
            found = _Elements([i if isinstance(i, Gap) else self._operate(part, i) for i in found.items])
        if part.whole == "*" and part.quoted:
            return _spaced(found.items, self._separators()[:1])
        return found

    def _whole_default(self, part: Parameter, found: _Elements) -> Text | _Elements:
        texts = [item for item in found.items if not isinstance(item, Gap)]
        present: bool | None = bool(texts) or (None if found.gap is not None else False)
        if present and ":" in part.operator and len(texts) == 1:
            empty = is_empty(texts[0])
            present = None if empty is None or (empty and found.gap is not None) else not empty
        argument = self.text(part.argument) if part.argument is not None else ""
        if "+" in part.operator:
            if present is None:
                inner = self._argument_elements(part)
                if inner.gap is not None and all(isinstance(item, Gap) for item in inner.items):
                    return inner
                return either(argument, "", f"value of {part.name}", part.line, self.path)
            if not present:
                return _Elements([])
            return self._argument_elements(part)
        return found if present or present is None else argument

    def _argument_elements(self, part: Parameter) -> _Elements:
        """`${A[@]+"${A[@]}"}`: the argument keeps its words."""
        words = self.arguments(part.argument) if part.argument is not None else []
        return _Elements([argument.item for argument in words])

    def _unordered(self, part: Parameter) -> bool:
        """Bash lists an associative array in an order of its own."""
        value = None if part.name in ("@", "*") else self.lookup(part.name, part.line)
        return isinstance(value, Array) and value.associative

    def _keys(self, part: Parameter) -> _Elements:
        value = self.lookup(part.name, part.line)
        if not isinstance(value, Array):
            return _Elements([] if value is None else ["0"])
        keys = value.items if value.associative else sorted(value.items, key=int)
        return _Elements([item if isinstance(item := value.items[key], Gap) else str(key) for key in keys])

    def _slice(self, part: Parameter, found: _Elements) -> _Elements:
        start = self.number(self.text(part.argument), part.line) if part.argument is not None else 0
        length = self.number(self.text(part.second), part.line) if part.second is not None else None
        if isinstance(start, Unknown) or isinstance(length, Unknown):
            reason = start if isinstance(start, Unknown) else length
            assert isinstance(reason, Unknown)
            return _Elements([Gap(reason)])
        items = list(found.items)
        if part.name in ("@", "*"):
            items = [self.script_name, *items]
        if start < 0:
            gap = found.gap
            if gap is not None:
                return _Elements([Gap(gap)])
            start += len(items)
        stop = None if length is None else start + length
        gap = gap_in(items if stop is None else items[:stop])
        if gap is not None:
            first = next(number for number, item in enumerate(items) if isinstance(item, Gap))
            behind = items[first + 1 :] if stop is None and start <= first else ()
            return _Elements([*items[max(start, 0) : first], Gap(gap), *behind])
        return _Elements(items[max(start, 0) : stop])

    def _operate(self, part: Parameter, value: Text | None) -> Text:
        operator, line = part.operator, part.line
        if operator in _DEFAULTS:
            return self._default(part, value)
        if value is None:
            return ""
        if not isinstance(value, str):
            return self._operate_unknown(part, value)
        if operator == ":":
            return self._substring(part, value)
        if operator[0] in "^,":
            return _change_case(operator, value) if not part.argument or not part.argument.parts else self._lost(part)
        if operator.startswith("@"):
            return value if operator == "@Q" and value.isalnum() else self._lost(part)
        pattern = self.pattern(part.argument) if part.argument is not None else ()
        if pattern is None:
            return self._lost(part)
        if operator.startswith("/"):
            replacement = self.text(part.second) if part.second is not None else ""
            if not isinstance(replacement, str):
                return self._lost(part)
            anchor = operator[1:] if operator[1:] in ("#", "%") else ""
            found = patterns.replace(pattern, value, replacement, operator == "//", anchor)
        else:
            found = patterns.strip(pattern, value, operator[0] == "%", len(operator) == 2)
        return unknown(f"value of ${{{part.name}{operator}…}}", line, self.path) if found is None else found

    def _lost(self, part: Parameter) -> Text:
        return unknown(f"value of ${{{part.name}{part.operator}…}}", part.line, self.path)

    def _operate_unknown(self, part: Parameter, value: Mixed) -> Text:
        """Removing a known end from a text that is known in part."""
        pattern = self.pattern(part.argument) if part.argument is not None else ()
        operator = part.operator
        if pattern and operator[0] in "%#" and len(pattern) == 1:
            text, quoted = pattern[0]
            first, last = value.parts[0], value.parts[-1]
            if quoted or not any(char in text for char in "*?["):
                if operator[0] == "%" and isinstance(last, str):
                    return concat((*value.parts[:-1], last.removesuffix(text)))
                if operator[0] == "#" and isinstance(first, str):
                    return concat((first.removeprefix(text), *value.parts[1:]))
            if operator == "##" and text == "*/" and isinstance(last, str) and "/" in last:
                return posixpath.basename(last)
            cut = text[:-1] if operator == "%%" and not quoted and text.endswith("*") else ""
            if cut and not any(char in cut for char in "*?[\\") and isinstance(first, str) and cut in first:
                # The longest end to remove begins in what is known.
                return first.partition(cut)[0]
        return Mixed((Unknown(f"value of ${{{part.name}{operator}…}}", part.line, self.path),))

    def _default(self, part: Parameter, value: Text | None) -> Text:
        kind, line = part.operator[-1], part.line
        takes = self._takes_argument(part, value)
        if takes is False:
            return "" if kind == "+" else value or ""
        if kind == "?":
            # A variable the script insists on is one its surroundings set.
            return unknown(f"value of {part.name}", line, self.path, nonempty=True)
        argument = self.text(part.argument) if part.argument is not None else ""
        if takes is None:
            other = "" if kind == "+" else value or ""
            argument = either(other, argument, f"value of {part.name}", line, self.path)
        if kind == "=":
            self.assign(part.name, argument)
        return argument

    def _takes_argument(self, part: Parameter, value: Text | None) -> bool | None:
        """Whether `${x:-argument}` or `${x:+argument}` comes to the argument."""
        absent = True if value is None else (is_empty(value) if part.operator[0] == ":" else False)
        if part.operator[-1] == "+":
            return None if absent is None else not absent
        return absent

    def _substring(self, part: Parameter, value: str) -> Text:
        start = self.number(self.text(part.argument), part.line) if part.argument is not None else 0
        length = self.number(self.text(part.second), part.line) if part.second is not None else len(value)
        if isinstance(start, Unknown) or isinstance(length, Unknown):
            return self._lost(part)
        if start < 0:
            start += len(value)
            if start < 0:
                return ""
        stop = len(value) + length if length < 0 else start + length
        return value[start : max(stop, start)]


def _is_one_argument(part: Part) -> bool:
    """Whether a part makes exactly one argument where it is the whole word: `"$name"`."""
    return isinstance(part, Parameter) and part.quoted and not part.whole and part.prefix != "!"


class _Fields:
    """The arguments that the parts of one word make."""

    __slots__ = ("current", "done", "gap", "line", "open", "separators")

    def __init__(self, line: int, separators: str) -> None:
        self.line, self.separators = line, separators
        self.done: list[Argument] = []
        self.current: list[Text] | None = None
        self.open = True
        self.gap = False

    def add(self, text: Text) -> None:
        if self.current is None:
            self.current = []
        self.current.append(text)
        self.open = False

    def close(self) -> None:
        if self.current is not None:
            text = concat(self.current)
            self.done.append(Argument(text, self.line, self.gap or (self.open and isinstance(text, Mixed))))
        self.current, self.open, self.gap = None, True, False

    def split(self, text: Text) -> None:
        for part in (text,) if isinstance(text, str) else text.parts:
            if isinstance(part, str):
                self._split_known(part)
            else:
                self.current = [*(self.current or []), Mixed((part,))]

    def _split_known(self, text: str) -> None:
        if not text:
            return
        if text[0] in self.separators:
            self.close()
        words = _BLANKS.findall(text) if self.separators == " \t\n" else _split(text, self.separators)
        for number, piece in enumerate(words):
            if number:
                self.close()
            self.add(piece)
        if text[-1] in self.separators:
            self.close()

    def add_elements(self, elements: _Elements, quoted: bool) -> None:
        for number, item in enumerate(elements.items):
            if number:
                self.close()
            if isinstance(item, Gap):
                self.current, self.gap = [*(self.current or []), Mixed((item.reason,))], True
            elif quoted:
                self.add(item)
            else:
                self.split(item)

    def finish(self) -> list[Argument]:
        self.close()
        return self.done


def _split(text: str, separators: str) -> list[str]:
    """Splitting at other separators than blanks: each that is no blank ends a field."""
    if not separators:
        return [text]
    for separator in separators[1:]:
        text = text.replace(separator, separators[0])
    pieces = text.split(separators[0])
    if separators[0].isspace():
        return [piece for piece in pieces if piece]
    return pieces[:-1] if pieces[-1] == "" else pieces


def _text(item: Item) -> Text:
    return Mixed((item.reason,)) if isinstance(item, Gap) else item


def _spaced(items: Sequence[Item], separator: str = " ") -> Text:
    """Items in one text. A gap may be empty or bring its own separators."""
    pieces: list[Text | Unknown] = []
    after_gap = True
    for item in items:
        if isinstance(item, Gap):
            pieces.append(item.reason)
        else:
            pieces.extend((item,) if after_gap else (separator, item))
        after_gap = isinstance(item, Gap)
    return concat(pieces)


def _length(value: Text | None, line: int, path: str) -> Text:
    if value is None:
        return "0"
    return str(len(value)) if isinstance(value, str) else unknown("length of a text", line, path, nonempty=True)


def _change_case(operator: str, value: str) -> str:
    change = str.upper if operator[0] == "^" else str.lower
    return change(value) if len(operator) == 2 else change(value[:1]) + value[1:]


class _Operands:
    """Arithmetic in which some operands are unknown."""

    def __init__(self, expander: Expander, operands: dict[str, Unknown]) -> None:
        self.expander, self.operands = expander, operands

    def read(self, name: str, index: int | Unknown | None) -> Text:
        operand = self.operands.get(name)
        return Mixed((operand,)) if operand is not None else self.expander.read(name, index)

    def write(self, name: str, index: int | Unknown | None, value: int | Unknown) -> None:
        self.expander.write(name, index, value)


def _with_operands(text: Mixed, expander: Expander, line: int) -> int | Unknown:
    operands: dict[str, Unknown] = {}
    pieces: list[str] = []
    for part in text.parts:
        named = isinstance(part, Unknown)
        name = f"__unknown_{len(operands)}" if isinstance(part, Unknown) else part
        if pieces and (pieces[-1] in operands or named) and _glued(pieces[-1], name):
            return unknowns(text)[0]
        if isinstance(part, Unknown):
            operands[name] = part
        pieces.append(name)
    found = arithmetic.evaluate("".join(pieces), _Operands(expander, operands), line, expander.path)
    return found if isinstance(found, int) or found in operands.values() else unknowns(text)[0]


def _glued(left: str, right: str) -> bool:
    """Whether two pieces of an expression would be read as one name or number."""
    return (left[-1].isalnum() or left[-1] == "_") and (right[0].isalnum() or right[0] == "_")


def all_known(arguments: Iterable[Argument]) -> list[str] | None:
    """The texts of arguments, None where one is unknown."""
    texts: list[str] = []
    for argument in arguments:
        if not isinstance(argument.text, str):
            return None
        texts.append(argument.text)
    return texts
