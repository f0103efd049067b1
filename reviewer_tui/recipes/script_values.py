"""Values of the small language that `script` evaluates, and how JavaScript converts and compares them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

MAX_ITEMS = 50_000
MAX_TEXT = 100_000
_MAX_NESTING = 20


class _Undefined:
    def __repr__(self) -> str:
        return "undefined"

    def __bool__(self) -> bool:
        return False


UNDEFINED = _Undefined()


class ScriptArray(list[Any]):
    """An array; `era` is when it was made (see `Interpreter.era`)."""

    __slots__ = ("era",)

    def __init__(self, items: Iterable[Any] = (), era: int = 0) -> None:
        super().__init__(items)
        self.era = era


class ScriptObject(dict[str, Any]):
    """An object, its keys in insertion order."""

    __slots__ = ("era",)

    def __init__(self, items: Mapping[str, Any] | Iterable[tuple[str, Any]] = (), era: int = 0) -> None:
        super().__init__(items)
        self.era = era


class ScriptSet:
    """A `Set`, or with values a `Map`."""

    __slots__ = ("era", "is_map", "items")

    def __init__(self, is_map: bool, era: int) -> None:
        self.items: dict[Any, Any] = {}
        self.is_map = is_map
        self.era = era


def normal(value: Any) -> Any:
    """A number as an int where it is whole, so that it reads as JavaScript writes it."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value if not isinstance(value, int) or abs(value) < 2**53 else float(value)


def truthy(value: Any) -> bool:
    """JavaScript's truth: empty text, 0, NaN, null and undefined are false, every object is true."""
    if isinstance(value, str | bool | int):
        return bool(value)
    if isinstance(value, float):
        return bool(value) and not math.isnan(value)
    return value is not None and value is not UNDEFINED


def same(left: Any, right: Any) -> bool:
    """`===`: values of one type by value, objects by identity."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, int | float) and isinstance(right, int | float):
        return left == right
    if isinstance(left, str) and isinstance(right, str):
        return left == right
    return left is right


def loosely_same(left: Any, right: Any) -> bool:
    """`==` between what widgets compare: null is undefined, a number may be spelled as text."""
    nothing = (None, UNDEFINED)
    if any(left is n for n in nothing) or any(right is n for n in nothing):
        return any(left is n for n in nothing) and any(right is n for n in nothing)
    if isinstance(left, str) != isinstance(right, str) and isinstance(left, str | int | float):
        return to_number(left) == to_number(right)
    return same(left, right)


def type_name(value: Any) -> str:
    """`typeof`."""
    if value is UNDEFINED:
        return "undefined"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int | float):
        return "number"
    return "function" if callable(value) else "object"


def to_number(value: Any) -> float:
    """A value as a number; NaN where it spells none."""
    if isinstance(value, bool | int | float):
        return int(value) if isinstance(value, bool) else value
    if value is None:
        return 0
    if isinstance(value, str):
        text = value.strip()
        try:
            return 0 if not text else float(text) if len(text) < 40 else math.nan
        except ValueError:
            return math.nan
    return math.nan


def to_text(value: Any) -> str:
    """A value as JavaScript puts it into a text. Raises `ValueError` where an array gives too much of it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if value is UNDEFINED:
        return "undefined"
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        return repr(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, ScriptArray):
        return _array_text(value, [MAX_TEXT], 0)
    return "[object Object]"


def _array_text(array: ScriptArray, left: list[int], depth: int) -> str:
    """The items joined by commas, those of arrays in it too; `left` is how much text there may still be."""
    texts: list[str] = []
    for item in array:
        if isinstance(item, ScriptArray):
            if depth > _MAX_NESTING:
                raise ValueError("too deeply nested")
            texts.append(_array_text(item, left, depth + 1))
        else:
            texts.append("" if item is None or item is UNDEFINED else to_text(item))
        left[0] -= len(texts[-1]) + 1
        if left[0] < 0:
            raise ValueError("too long")
    return ",".join(texts)
