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

_LINE = re.compile(r"^( *)(- *|)(?:([\w./:+-]+?) *:(?: +(.*)|)|(.*))$", re.MULTILINE)
_KEY = re.compile(r"(- +|)(?:([\w./:+-]+?) *:(?: +(.*)|)|(.*))$")
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


class _Reader:
    """A cursor over the lines that carry content. `indent`, `dash`, `key`, `rest` describe the line at the cursor."""

    def __init__(self, text: str, first_line: int) -> None:
        self._lines: list[tuple[str, str, str, str, str]] = _LINE.findall(text)
        self._offset = first_line
        self._next = 0
        self.found: dict[str, int] = {}
        self.indent = -1
        self.dash = ""
        self.key = ""
        self.rest = ""
        self.line = 0

    def document(self) -> Any:
        self._advance()
        if self.indent < 0:
            return None
        value = self._node(self.indent, "", 0)
        if self.indent >= 0:
            raise NotPlainError
        return value

    def _advance(self) -> None:
        lines = self._lines
        index = self._next
        end = len(lines)
        while index < end:
            blanks, dash, key, value, other = lines[index]
            index += 1
            if key:
                self.rest = value
            elif (not other and not dash) or (other and other[0] == "#" and not dash):
                continue
            else:
                self.rest = other
            if dash == "-" and (key or other):
                # A minus without a blank is no dash: a negative number or a word.
                raise NotPlainError
            self.indent = len(blanks)
            self.dash = dash
            self.key = key
            self.line = self._offset + index - 1
            self._next = index
            return
        self._next = index
        self.indent = -1

    def _node(self, indent: int, path: str, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise NotPlainError
        return self._list(indent, path, depth) if self.dash else self._mapping(indent, path, depth)

    def _list(self, indent: int, path: str, depth: int) -> list[Any]:
        items: list[Any] = []
        found = self.found
        while self.indent == indent and self.dash:
            here = f"{path}{len(items)}"
            found[here] = self.line
            width = len(self.dash)
            if not self.key and (not self.rest or self.rest[0] == "#"):
                # A value below its dash: nobody writes that here.
                raise NotPlainError
            self._shed_dash(indent + width)
            if not self.key and not self.dash:
                items.append(self._scalar_line(indent))
            else:
                items.append(self._node(indent + width, f"{here}.", depth + 1))
        if self.indent > indent:
            raise NotPlainError
        return items

    def _shed_dash(self, indent: int) -> None:
        """Look at what follows the dash as if it stood alone on its line."""
        self.indent = indent
        self.dash = ""
        if not self.key and self.rest.startswith("-"):
            match = _KEY.match(self.rest)
            if match is None or not match[1]:
                raise NotPlainError
            self.dash = match[1]
            self.key = match[2] or ""
            self.rest = (match[3] if match[2] else match[4]) or ""

    def _mapping(self, indent: int, path: str, depth: int) -> dict[Any, Any]:
        fields: dict[Any, Any] = {}
        found = self.found
        while self.indent == indent and not self.dash:
            text = self.key
            if not text:
                raise NotPlainError
            key = _plain(text)
            if key in fields or not isinstance(key, (str, int)) or isinstance(key, bool):
                raise NotPlainError
            here = f"{path}{text}"
            found[here] = self.line
            rest = self.rest
            if rest and rest[0] != "#":
                fields[key] = self._scalar_line(indent)
            else:
                fields[key] = self._below(indent, f"{here}.", depth)
        if self.indent >= indent:
            raise NotPlainError
        return fields

    def _below(self, indent: int, path: str, depth: int) -> Any:
        """The value below the key at the cursor (a list may stand at the key's own indent); None (null) without any."""
        self._advance()
        if self.indent > indent or (self.indent == indent and self.dash):
            return self._node(self.indent, path, depth + 1)
        return None

    def _scalar_line(self, indent: int) -> Any:
        value = _value(self.rest)
        self._advance()
        if self.indent > indent:
            # The scalar would go on there.
            raise NotPlainError
        return value


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
