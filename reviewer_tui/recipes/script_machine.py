"""What the small language of `script` runs on: scopes, closures, operators, and the methods that values have.

No method reaches outside the values it is given. What is not known stops the evaluation with its line
(`UnreadableError`). Steps, depth of calls and sizes are bounded.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import re
from collections.abc import Callable, Iterable
from typing import Any

from tree_sitter import Node

from reviewer_tui.recipes.javascript import line_of_node, text_of
from reviewer_tui.recipes.reading import UnreadableError
from reviewer_tui.recipes.script_values import (
    MAX_ITEMS,
    MAX_TEXT,
    UNDEFINED,
    ScriptArray,
    ScriptObject,
    ScriptSet,
    loosely_same,
    normal,
    same,
    to_number,
    to_text,
    truthy,
)

MAX_STEPS = 400_000
MAX_CALLS = 60


class ThrownError(UnreadableError):
    """The script itself fails here, as it would in a browser: it asks null or undefined for something, or calls what is
    no function. Nothing is unknown about it."""

    def __init__(self, path: str, message: str, line: int) -> None:
        super().__init__(path, message, "script-fails", line)


class Scope:
    """Variables of one block. `lazy` are those that are evaluated when they are asked for."""

    __slots__ = ("lazy", "names", "parent")

    def __init__(self, parent: Scope | None = None) -> None:
        self.parent = parent
        self.names: dict[str, Any] = {}
        self.lazy: dict[str, Callable[[], Any]] | None = None


class Return(Exception):
    """A function returns."""

    def __init__(self, value: Any) -> None:
        self.value = value


Evaluate = Callable[[Scope], Any]
Native = Callable[..., Any]


class ScriptFunction:
    """A closure. It is called through `Interpreter.call`; an arrow function has its surroundings' `this`."""

    __slots__ = ("bind", "body", "is_arrow", "scope")

    def __init__(self, bind: Callable[[Scope, list[Any]], None], body: Evaluate, scope: Scope, is_arrow: bool) -> None:
        self.bind = bind
        self.body = body
        self.scope = scope
        self.is_arrow = is_arrow

    def __call__(self, *arguments: Any) -> Any:
        raise TypeError("closures are called through the interpreter")


class Machine:
    """Values and calls of one file's evaluation.

    `era` counts evaluations of the whole command: an object that an earlier era made may be read, never changed, so
    that one evaluation cannot leak into the next.
    """

    def __init__(self, path: str, steps: int = MAX_STEPS) -> None:
        self.path = path
        self.steps = steps
        self.calls = 0
        self.era = 0

    # -- faults -------------------------------------------------------------------------------------------------------

    def fail(self, node: Node, message: str, rule: str = "cannot-evaluate") -> UnreadableError:
        return UnreadableError(self.path, message, rule, line_of_node(node))

    def unknown(self, node: Node) -> UnreadableError:
        shown = " ".join(text_of(node).split())[:60]
        return self.fail(node, f"The widget's script cannot be evaluated here: `{shown}`.")

    def thrown(self, node: Node) -> ThrownError:
        shown = " ".join(text_of(node).split())[:60]
        return ThrownError(self.path, f"The widget's script fails here: `{shown}`.", line_of_node(node))

    def too_long(self, node: Node) -> UnreadableError:
        return self.fail(node, "The widget's script builds a text or a list that is too long.", "too-large")

    def step(self, node: Node, amount: int = 1) -> None:
        """Pay for work; what grows with the size of a value costs more."""
        self.steps -= amount
        if self.steps < 0:
            raise self.fail(node, "The widget's script takes too many steps.", "too-large")

    # -- calls --------------------------------------------------------------------------------------------------------

    def call(self, function: Any, arguments: list[Any], node: Node, this: Any = UNDEFINED) -> Any:
        """Call a closure or a native method; `this` is the object it is a method of."""
        if isinstance(function, ScriptFunction):
            self.step(node)
            self.calls += 1
            if self.calls > MAX_CALLS:
                raise self.fail(node, "The widget's functions call each other too deeply.", "too-large")
            scope = Scope(function.scope)
            if not function.is_arrow:
                scope.names["this"] = this
            try:
                function.bind(scope, arguments)
                return function.body(scope)
            except Return as result:
                return result.value
            finally:
                self.calls -= 1
        if callable(function):
            try:
                return function(*arguments)
            except (TypeError, ValueError, IndexError, OverflowError):
                raise self.unknown(node) from None
        raise self.thrown(node) if function is None or function is UNDEFINED else self.unknown(node)

    def freeze(self, value: Any) -> None:
        """Make a shared value read-only for this and later eras."""
        stack = [value]
        while stack:
            item = stack.pop()
            if isinstance(item, ScriptArray | ScriptObject | ScriptSet) and item.era >= 0:
                item.era = -1
                if isinstance(item, ScriptSet):
                    stack.extend(itertools.chain.from_iterable(item.items.values()))
                else:
                    stack.extend(item if isinstance(item, ScriptArray) else item.values())

    def changing(self, target: Any, node: Node) -> None:
        if getattr(target, "era", self.era) != self.era:
            raise self.fail(node, "The widget's script changes data that it shares between selections.")

    # -- texts and lists of bounded size -------------------------------------------------------------------------------

    def text(self, value: str, node: Node) -> str:
        if len(value) > MAX_TEXT:
            raise self.too_long(node)
        self.step(node, len(value) >> 8)
        return value

    def shown(self, value: Any, node: Node) -> str:
        """A value as text."""
        try:
            return value if isinstance(value, str) else to_text(value)
        except ValueError:
            raise self.too_long(node) from None

    def joined(self, values: Iterable[Any], glue: str, node: Node) -> str:
        texts: list[str] = []
        size = 0
        for value in values:
            texts.append(self.shown(value, node))
            size += len(texts[-1]) + len(glue)
            if size > MAX_TEXT + len(glue):
                raise self.too_long(node)
        return self.text(glue.join(texts), node)

    def array(self, items: Iterable[Any], node: Node) -> ScriptArray:
        result = ScriptArray(itertools.islice(items, MAX_ITEMS + 1), self.era)
        if len(result) > MAX_ITEMS:
            raise self.too_long(node)
        self.step(node, len(result) >> 4)
        return result

    def json(self, value: Any, node: Node) -> str:
        """A value as JSON."""
        stack, size = [value], 0
        while stack:
            item = stack.pop()
            inner = [*item, *item.values()] if isinstance(item, ScriptObject) else item
            size += len(inner) if isinstance(inner, list | str) else 1
            if size > MAX_TEXT:
                raise self.too_long(node)
            stack.extend(inner if isinstance(inner, list) else ())
        return self.text(json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False), node)

    # -- operators ----------------------------------------------------------------------------------------------------

    def number(self, value: Any, node: Node) -> float:
        if isinstance(value, int | float):
            return value
        if value is UNDEFINED or value is None or isinstance(value, str):
            return to_number(value)
        raise self.unknown(node)

    def finite(self, value: Any, node: Node) -> float:
        number = self.number(value, node)
        if not math.isfinite(number):
            raise self.unknown(node)
        return number

    def operate(self, operator: str, left: Any, right: Any, node: Node) -> Any:
        match operator:
            case "===" | "!==":
                return same(left, right) is (operator == "===")
            case "==" | "!=":
                return loosely_same(left, right) is (operator == "==")
            case "+":
                if isinstance(left, str) or isinstance(right, str):
                    return self.joined((left, right), "", node)
                return normal(self.number(left, node) + self.number(right, node))
            case "-" | "*" | "/" | "%" | "**":
                return normal(_arithmetic(operator, self.number(left, node), self.number(right, node)))
            case "<" | ">" | "<=" | ">=":
                return self.compare(operator, left, right, node)
            case "in" if isinstance(right, ScriptObject):
                return self.shown(left, node) in right
        raise self.unknown(node)

    def compare(self, operator: str, left: Any, right: Any, node: Node) -> bool:
        one: Any = left
        two: Any = right
        if not (isinstance(left, str) and isinstance(right, str)):
            one, two = self.number(left, node), self.number(right, node)
        return bool({"<": one < two, ">": one > two, "<=": one <= two, ">=": one >= two}[operator])

    # -- members ------------------------------------------------------------------------------------------------------

    def member(self, value: Any, key: Any, node: Node) -> Any:
        """A property or a method of a value; undefined where it has none."""
        if value is None or value is UNDEFINED:
            raise self.thrown(node)
        if isinstance(value, ScriptObject):
            name = self.shown(key, node)
            if name in value:
                return value[name]
            if name == "hasOwnProperty":
                return lambda wanted=UNDEFINED, *_: self.shown(wanted, node) in value
            return UNDEFINED
        if isinstance(value, ScriptArray | str):
            if isinstance(key, int | float) and not isinstance(key, bool):
                whole = int(key)
                return value[whole] if whole == key and 0 <= whole < len(value) else UNDEFINED
            if key == "length":
                return len(value)
        if isinstance(value, ScriptSet) and key == "size":
            return len(value.items)
        if isinstance(value, Namespace):
            return self.namespace(value.name, self.shown(key, node), node)
        method = self.method(value, self.shown(key, node), node)
        if method is None:
            raise self.unknown(node)
        return method

    def set_member(self, owner: Any, key: Any, value: Any, node: Node) -> None:
        self.changing(owner, node)
        if isinstance(owner, ScriptObject):
            owner[self.shown(key, node)] = value
        elif isinstance(owner, ScriptArray) and isinstance(key, int) and 0 <= key <= len(owner) < MAX_ITEMS:
            owner[key : key + 1] = [value]
        else:
            raise self.unknown(node)

    def iterate(self, value: Any, node: Node) -> list[Any]:
        """The items of an array, a text, a set (or a map, as pairs)."""
        if isinstance(value, ScriptSet):
            self.step(node, len(value.items))
            pairs = value.items.values()
            return [ScriptArray(pair, self.era) for pair in pairs] if value.is_map else [item for item, _ in pairs]
        if isinstance(value, ScriptArray | str):
            self.step(node, len(value))
            return list(value)
        raise self.unknown(node)

    def entries(self, value: Any, node: Node) -> list[tuple[str, Any]]:
        """The keys and values of an object; of other values none."""
        if isinstance(value, ScriptObject):
            self.step(node, len(value))
            return list(value.items())
        if isinstance(value, ScriptArray):
            self.step(node, len(value))
            return [(str(index), item) for index, item in enumerate(value)]
        return []

    def sequence(self, value: Any, node: Node) -> list[Any]:
        """The items of an iterable, or of an object with a length."""
        if isinstance(value, ScriptObject):
            length = value.get("length", 0)
            if not isinstance(length, int) or not 0 <= length <= MAX_ITEMS:
                raise self.unknown(node)
            self.step(node, length)
            return [value.get(str(index), UNDEFINED) for index in range(length)]
        return self.iterate(value, node)

    def assigned(self, target: Any, others: Iterable[Any], node: Node) -> Any:
        if not isinstance(target, ScriptObject):
            raise self.unknown(node)
        self.changing(target, node)
        for other in others:
            target.update(self.entries(other, node))
        return target

    # -- what globals and values know ---------------------------------------------------------------------------------

    def namespace(self, space: str, name: str, node: Node) -> Native:
        """A function of `Object`, `Array`, `Math`, `JSON` or `Number`."""
        functions: dict[str, Native] = {
            "Object.keys": lambda o: ScriptArray([k for k, _ in self.entries(o, node)], self.era),
            "Object.values": lambda o: ScriptArray([v for _, v in self.entries(o, node)], self.era),
            "Object.entries": lambda o: ScriptArray(
                [ScriptArray(pair, self.era) for pair in self.entries(o, node)], self.era
            ),
            "Object.fromEntries": lambda pairs: ScriptObject(
                [
                    (self.shown(pair[0], node), pair[1])
                    for pair in (self.iterate(p, node) for p in self.iterate(pairs, node))
                ],
                self.era,
            ),
            "Object.assign": lambda target, *others: self.assigned(target, others, node),
            "Object.freeze": lambda o: o,
            "Array.isArray": lambda o=UNDEFINED: isinstance(o, ScriptArray),
            "Array.from": lambda items, function=None: ScriptArray(
                [
                    item if function is None else self.call(function, [item, index], node)
                    for index, item in enumerate(self.sequence(items, node))
                ],
                self.era,
            ),
            "Array.of": lambda *items: ScriptArray(items, self.era),
            "Math.max": lambda *n: normal(max((self.number(x, node) for x in n), default=-math.inf)),
            "Math.min": lambda *n: normal(min((self.number(x, node) for x in n), default=math.inf)),
            "Math.floor": lambda n: normal(math.floor(self.finite(n, node))),
            "Math.ceil": lambda n: normal(math.ceil(self.finite(n, node))),
            "Math.round": lambda n: normal(math.floor(self.finite(n, node) + 0.5)),
            "Math.abs": lambda n: normal(abs(self.finite(n, node))),
            "JSON.stringify": lambda value: self.json(value, node),
            "Number.parseInt": _parsed_int,
            "Number.parseFloat": _parsed_float,
            "Number.isFinite": lambda n=UNDEFINED: _is_number(n) and math.isfinite(n),
            "Number.isInteger": lambda n=UNDEFINED: _is_number(n) and math.isfinite(n) and n == math.floor(n),
            "Number.isNaN": lambda n=UNDEFINED: _is_number(n) and math.isnan(n),
        }
        function = functions.get(f"{space}.{name}")
        if function is None:
            raise self.unknown(node)
        return function

    def method(self, value: Any, name: str, node: Node) -> Native | None:
        """A method of a text, an array, a set or a map; None where it is not known."""
        if isinstance(value, str):
            self.step(node, len(value) >> 8)
            return self.text_method(value, name, node)
        if isinstance(value, ScriptArray):
            self.step(node, len(value) >> 2)
            return self.array_method(value, name, node)
        if isinstance(value, ScriptSet):
            return self.set_method(value, name, node)
        if isinstance(value, int | float) and name in ("toString", "toFixed"):
            digits = name == "toFixed"
            return lambda n=0: f"{float(value):.{min(max(int(n), 0), 20)}f}" if digits else to_text(value)
        return None

    def text_method(self, value: str, name: str, node: Node) -> Native | None:
        def plain(wanted: Any) -> str:
            if not isinstance(wanted, str):
                raise self.unknown(node)
            return wanted

        def replaced(old: Any, new: Any, count: int) -> str:
            made = (
                self.shown(self.call(new, [plain(old)], node), node) if isinstance(new, ScriptFunction) else plain(new)
            )
            found = value.count(plain(old)) if count < 0 else 1
            if len(value) + found * len(made) > 2 * MAX_TEXT:
                raise self.too_long(node)
            return self.text(value.replace(plain(old), made, count), node)

        def padding(length: Any, fill: Any) -> str:
            missing = max(min(int(length), MAX_TEXT) - len(value), 0)
            return (plain(fill) * (missing // max(len(fill), 1) + 1))[:missing]

        def cut(start: Any = 0, end: Any = UNDEFINED) -> str:
            return value[slice(int(start), None if end is UNDEFINED else int(end))]

        methods: dict[str, Native] = {
            "includes": lambda s, *_: plain(s) in value,
            "startsWith": lambda s, *_: value.startswith(plain(s)),
            "endsWith": lambda s, *_: value.endswith(plain(s)),
            "indexOf": lambda s, *_: value.find(plain(s)),
            "split": lambda s=UNDEFINED: self.array(
                [value] if s is UNDEFINED else value.split(plain(s)) if s != "" else list(value), node
            ),
            "replace": lambda old, new: replaced(old, new, 1),
            "replaceAll": lambda old, new: replaced(old, new, -1),
            "trim": lambda: value.strip(),
            "trimEnd": lambda: value.rstrip(),
            "trimStart": lambda: value.lstrip(),
            "toUpperCase": lambda: value.upper(),
            "toLowerCase": lambda: value.lower(),
            "slice": cut,
            "substring": lambda start=0, end=UNDEFINED: cut(max(int(start), 0), end),
            "concat": lambda *others: self.joined((value, *others), "", node),
            "charAt": lambda index=0: value[int(index) : int(index) + 1],
            "repeat": lambda n: self.text(value * min(max(int(n), 0), MAX_TEXT // max(len(value), 1) + 1), node),
            "padEnd": lambda n, fill=" ": value + padding(n, fill),
            "padStart": lambda n, fill=" ": padding(n, fill) + value,
            "toString": lambda: value,
        }
        return methods.get(name)

    def array_method(self, value: ScriptArray, name: str, node: Node) -> Native | None:
        def each(function: Any) -> Iterable[tuple[int, Any, Any]]:
            for index, item in enumerate(list(value)):
                yield index, item, self.call(function, [item, index, value], node)

        def made(items: Iterable[Any]) -> ScriptArray:
            return self.array(items, node)

        def push(*items: Any) -> int:
            self.changing(value, node)
            if len(value) + len(items) > MAX_ITEMS:
                raise self.too_long(node)
            value.extend(items)
            return len(value)

        def unshift(*items: Any) -> int:
            self.changing(value, node)
            value[:0] = items
            return push()

        def take(index: int) -> Any:
            self.changing(value, node)
            return value.pop(index) if value else UNDEFINED

        def reverse() -> ScriptArray:
            self.changing(value, node)
            value.reverse()
            return value

        def ordered(function: Any = UNDEFINED) -> ScriptArray:
            self.changing(value, node)
            self.step(node, len(value))

            def compared(one: Any, two: Any) -> int:
                if function is UNDEFINED:
                    left, right = (self.shown(item, node).encode("utf-16-be", "surrogatepass") for item in (one, two))
                    return (left > right) - (left < right)
                told = self.number(self.call(function, [one, two], node), node)
                return (told > 0) - (told < 0)

            present = [item for item in value if item is not UNDEFINED]
            missing = len(value) - len(present)
            value[:] = [*sorted(present, key=functools.cmp_to_key(compared)), *itertools.repeat(UNDEFINED, missing)]
            return value

        def reduced(function: Any, *start: Any) -> Any:
            items = list(value)
            total = start[0] if start else items.pop(0) if items else UNDEFINED
            for index, item in enumerate(items):
                total = self.call(function, [total, item, index, value], node)
            return total

        def flat(items: Iterable[Any]) -> Iterable[Any]:
            return (x for item in items for x in (item if isinstance(item, ScriptArray) else [item]))

        def for_each(function: Any) -> Any:
            for _ in each(function):
                pass
            return UNDEFINED

        def position(wanted: Any) -> int:
            return next((i for i, item in enumerate(value) if same(item, wanted)), -1)

        methods: dict[str, Native] = {
            "push": push,
            "unshift": unshift,
            "pop": lambda: take(-1),
            "shift": lambda: take(0),
            "includes": lambda wanted=UNDEFINED, *_: position(wanted) >= 0,
            "indexOf": lambda wanted=UNDEFINED, *_: position(wanted),
            "find": lambda f: next((item for _, item, hit in each(f) if truthy(hit)), UNDEFINED),
            "findIndex": lambda f: next((index for index, _, hit in each(f) if truthy(hit)), -1),
            "filter": lambda f: made(item for _, item, hit in each(f) if truthy(hit)),
            "map": lambda f: made(result for _, _, result in each(f)),
            "flatMap": lambda f: made(flat(result for _, _, result in each(f))),
            "forEach": for_each,
            "some": lambda f: any(truthy(hit) for _, _, hit in each(f)),
            "every": lambda f: all(truthy(hit) for _, _, hit in each(f)),
            "reduce": reduced,
            "flat": lambda: made(flat(value)),
            "join": lambda glue=",": self.joined(
                ("" if x is None or x is UNDEFINED else x for x in value), self.shown(glue, node), node
            ),
            "concat": lambda *others: made(itertools.chain(value, flat(others))),
            "slice": lambda start=0, end=UNDEFINED: made(
                value[slice(int(start), None if end is UNDEFINED else int(end))]
            ),
            "keys": lambda: made(range(len(value))),
            "reverse": reverse,
            "sort": ordered,
        }
        return methods.get(name)

    def set_method(self, value: ScriptSet, name: str, node: Node) -> Native | None:
        def add(key: Any, item: Any = UNDEFINED) -> ScriptSet:
            self.changing(value, node)
            value.items[hashable(key)] = (key, item if value.is_map else key)
            return value

        def delete(key: Any) -> bool:
            self.changing(value, node)
            return value.items.pop(hashable(key), None) is not None

        def for_each(function: Any) -> Any:
            for key, item in list(value.items.values()):
                self.call(function, [item, key, value], node)
            return UNDEFINED

        methods: dict[str, Native] = {
            "has": lambda key=UNDEFINED: hashable(key) in value.items,
            "get": lambda key=UNDEFINED: value.items.get(hashable(key), (None, UNDEFINED))[1],
            "delete": delete,
            "forEach": for_each,
            "values": lambda: self.array((v for _, v in value.items.values()), node),
            "keys": lambda: self.array((k for k, _ in value.items.values()), node),
        }
        return add if name == ("set" if value.is_map else "add") else methods.get(name)


class Namespace:
    """A global object of which only functions are known."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Constructor(Namespace):
    """A global object that can be called as well."""

    __slots__ = ("function",)

    def __init__(self, name: str, function: Native) -> None:
        super().__init__(name)
        self.function = function

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _parsed_float(value: Any = UNDEFINED, *_: Any) -> Any:
    """The number that a text begins with."""
    found = re.match(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", to_text(value).strip())
    return normal(float(found[0])) if found else math.nan


def _parsed_int(text: Any = UNDEFINED, *_: Any) -> Any:
    digits = ""
    for character in to_text(text).strip():
        if not character.isdigit() or not character.isascii():
            break
        digits += character
    return int(digits[:15]) if digits else math.nan


GLOBALS: dict[str, Any] = {
    **{name: Namespace(name) for name in ("Object", "Array", "Math", "JSON")},
    "String": lambda value="", *_: to_text(value),
    "Number": Constructor("Number", lambda value=0, *_: normal(to_number(value))),
    "Boolean": lambda value=UNDEFINED, *_: truthy(value),
    "parseInt": _parsed_int,
    "parseFloat": _parsed_float,
    "NaN": math.nan,
    "Infinity": math.inf,
}


def hashable(value: Any) -> Any:
    """A key by JavaScript's sameness: values by value, objects by identity."""
    if isinstance(value, bool):
        return ("boolean", value)
    return value if isinstance(value, str | int | float) or value is None else id(value)


def _arithmetic(operator: str, left: float, right: float) -> float:
    try:
        match operator:
            case "-":
                return left - right
            case "*":
                return left * right
            case "/":
                return left / right
            case "%":
                return math.fmod(left, right)
            case _:
                return math.pow(left, right)
    except (ZeroDivisionError, OverflowError, ValueError):
        return math.nan if operator in ("%", "**") or left == 0 else math.copysign(math.inf, left)
