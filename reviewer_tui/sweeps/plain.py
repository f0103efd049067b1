"""The fast lane for YAML as people write it here: block mappings and lists, one-line flow values, simple scalars.

What lies outside of that (anchors, tags, escapes, text over several lines, duplicate keys, unusual numbers) is not
judged: `read_plain` gives up and the caller reads the text with `sweeps.document`. What it does read, it reads exactly
as PyYAML's SafeLoader does.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

MAX_DEPTH = 24
MAX_LINE = 2000

_WORDS = r"[\w./+-]++(?::[\w./+-]++)*+"
_LINE = re.compile(rf"^( *+)(- *+|)(?:({_WORDS}):(?: ++(.*+)|)|(.*+))$", re.MULTILINE)
_KEY = re.compile(rf"(- ++|)(?:({_WORDS}):(?: ++(.*+)|)|(.*+))$")
_TAIL = re.compile(r" *(?: #.*)?$")
_DOUBLE = re.compile(r'"([^"\\]*)"')
_SINGLE = re.compile(r"'([^']*)'")
_COMMENT = re.compile(r" +#.*$")
_FLOW_TOKEN = re.compile(
    r""" *(?:([\[\]{},])|([\w./+-]+):(?= )|"([^"\\]*)"|'([^']*)'|([\w./][^\[\]{},:#"'\\]*))""",
)
_INT = re.compile(r"-?(?:0|[1-9][0-9_]{0,17})$")
_FLOAT = re.compile(r"-?[0-9]{1,15}\.[0-9]{1,15}$")
# Text that starts like a number: it holds a letter that no number or date of YAML 1.1 can hold, or is a version.
_TEXT_AFTER_DIGIT = re.compile(r"[0-9][^:]*[g-su-wyG-SU-WY]|[0-9]+(?:\.[0-9]+){2,}$")
_RESOLVED_WORDS = frozenset({"yes", "no", "true", "false", "on", "off", "null"})


class NotPlainError(Exception):
    """The text leaves the subset that this reader knows."""


def read_plain(text: str, first_line: int = 1) -> tuple[Any, dict[str, int]] | None:
    """The value of a block-style YAML text and the line of each dotted path in it; None outside the subset.

    The text may be indented as a whole; `first_line` is the number of its first line. Flow values have the line of
    their key or dash only.
    """
    reader = _Reader(text, first_line)
    try:
        value = reader.document()
    except NotPlainError:
        return None
    return value, reader.found


_Line = tuple[int, str, str, str, int]
"""A line with content: indent, dash with its blanks, key, what is behind, number. Empty texts where there is none."""
_END: _Line = (-1, "", "", "", 0)


class _Reader:
    """A cursor over the lines that carry content."""

    def __init__(self, text: str, first_line: int) -> None:
        self._lines: list[_Line] = [
            (len(blanks), dash, key, value if key else other, number)
            for number, (blanks, dash, key, value, other) in enumerate(_LINE.findall(text), first_line)
            if key or dash or (other and other[0] != "#")
        ]
        self._lines.append(_END)
        self._place = 0
        self.found: dict[str, int] = {}

    def document(self) -> Any:
        indent = self._lines[0][0]
        if indent < 0:
            return None
        value = self._node(indent, "", 0)
        if self._lines[self._place] is not _END:
            raise NotPlainError
        return value

    def _node(self, indent: int, path: str, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise NotPlainError
        return (self._list if self._lines[self._place][1] else self._mapping)(indent, path, depth)

    def _list(self, indent: int, path: str, depth: int) -> list[Any]:
        items: list[Any] = []
        lines, found = self._lines, self.found
        while True:
            place = self._place
            here, dash, key, rest, number = lines[place]
            if here != indent or not dash:
                break
            name = f"{path}{len(items)}"
            found[name] = number
            if dash == "-" or (not key and rest[:1] in ("", "#")):
                # A minus without a blank is no dash; and a value below its dash is nothing that anybody writes here.
                raise NotPlainError
            inner = indent + len(dash)
            if not key and rest[0] == "-":
                lines[place] = _nested_dash(inner, rest, number)
            elif key:
                lines[place] = (inner, "", key, rest, number)
            else:
                items.append(_value(rest))
                self._place = place + 1
                if lines[place + 1][0] > indent:
                    raise NotPlainError
                continue
            items.append(self._node(inner, f"{name}.", depth + 1))
        if here > indent:
            raise NotPlainError
        return items

    def _mapping(self, indent: int, path: str, depth: int) -> dict[Any, Any]:
        fields: dict[Any, Any] = {}
        lines, found = self._lines, self.found
        while True:
            place = self._place
            here, dash, text, rest, number = lines[place]
            if here != indent or dash:
                break
            if not text:
                raise NotPlainError
            key = _key(text)
            if key in fields:
                raise NotPlainError
            name = f"{path}{text}"
            found[name] = number
            self._place = place + 1
            below, next_dash, *_ = lines[place + 1]
            if rest and rest[0] != "#":
                fields[key] = _value(rest)
                if below > indent:
                    # The scalar would go on there.
                    raise NotPlainError
            elif below > indent or (below == indent and next_dash):
                # A list may stand at the indent of its key.
                fields[key] = self._node(below, f"{name}.", depth + 1)
            else:
                fields[key] = None
        if here >= indent:
            raise NotPlainError
        return fields


def _nested_dash(indent: int, rest: str, number: int) -> _Line:
    """What follows a dash and begins with another one, as if it stood alone on its line."""
    match = _KEY.match(rest)
    if match is None or not match[1]:
        raise NotPlainError
    return indent, match[1], match[2] or "", (match[3] if match[2] else match[4]) or "", number


@lru_cache(maxsize=2048)
def _key(text: str) -> str | int:
    key = _plain(text)
    if not isinstance(key, (str, int)) or isinstance(key, bool):
        raise NotPlainError
    return key


@lru_cache(maxsize=8192)
def _value(text: str) -> Any:
    """The value after a key or dash, a comment at its end left out."""
    if len(text) > MAX_LINE:
        raise NotPlainError
    first = text[0]
    if first == '"':
        return _quoted(_DOUBLE, text)
    if first == "'":
        return _quoted(_SINGLE, text)
    if first in "[{":
        return _flow(text)
    return _plain(_COMMENT.sub("", text).rstrip(" ") if " #" in text else text.rstrip(" "))


def _quoted(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.match(text)
    if match is None or not _TAIL.match(text, match.end()):
        raise NotPlainError
    return match[1]


@lru_cache(maxsize=8192)
def _plain(text: str) -> Any:
    """The value of an unquoted scalar by YAML 1.1's rules as PyYAML has them."""
    if not text.isascii() or not text.isprintable() or ": " in text or text.endswith(":"):
        raise NotPlainError
    first = text[0]
    if first.isalpha() or first in "_/":
        if text.lower() not in _RESOLVED_WORDS:
            return text
        if text in ("true", "false"):
            return text == "true"
        raise NotPlainError
    if _INT.match(text):
        return int(text.replace("_", ""))
    if _FLOAT.match(text):
        return float(text)
    if _TEXT_AFTER_DIGIT.match(text):
        return text
    raise NotPlainError


def _flow(text: str) -> Any:
    """A one-line `{...}` or `[...]`."""
    tokens, end = _flow_tokens(text)
    if not _TAIL.match(text, end):
        raise NotPlainError
    value, position = _flow_node(tokens, 0, 0)
    if position != len(tokens):
        raise NotPlainError
    return value


def _flow_tokens(text: str) -> tuple[list[tuple[str, Any]], int]:
    tokens: list[tuple[str, Any]] = []
    open_brackets = 0
    position = 0
    while True:
        match = _FLOW_TOKEN.match(text, position)
        if match is None:
            raise NotPlainError
        position = match.end()
        mark, key, double, single, plain = match.groups()
        if mark:
            tokens.append((mark, None))
            open_brackets += (mark in "[{") - (mark in "]}")
            if open_brackets <= 0:
                return tokens, position
        elif key is not None:
            tokens.append((":", _plain(key)))
        elif plain is not None:
            tokens.append(("value", _plain(plain.rstrip(" "))))
        else:
            tokens.append(("value", double if double is not None else single))


def _flow_node(tokens: list[tuple[str, Any]], position: int, depth: int) -> tuple[Any, int]:
    kind, value = tokens[position]
    if kind == "value":
        return value, position + 1
    if kind not in "[{" or depth > MAX_DEPTH:
        raise NotPlainError
    close = "]" if kind == "[" else "}"
    items: list[Any] = []
    fields: dict[Any, Any] = {}
    position += 1
    while tokens[position][0] != close:
        if kind == "{":
            mark, key = tokens[position]
            if mark != ":" or key in fields or not isinstance(key, str):
                raise NotPlainError
            fields[key], position = _flow_node(tokens, position + 1, depth + 1)
        else:
            item, position = _flow_node(tokens, position, depth + 1)
            items.append(item)
        if tokens[position][0] == ",":
            position += 1
            if tokens[position][0] == ",":
                raise NotPlainError
        elif tokens[position][0] != close:
            raise NotPlainError
    return (items if kind == "[" else fields), position + 1
