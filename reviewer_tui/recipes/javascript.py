"""Literals of JavaScript files, read from the syntax tree and never executed.

SGLang's cookbook keeps its cells in `export const NAME = {...}`. Objects, arrays, strings, templates without
substitutions, numbers, booleans, null and the unary minus are read; whatever else stands in a literal makes it
unreadable. Size, depth and the number of values are bounded, for the file is written by strangers.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from typing import Any

import tree_sitter_javascript
from tree_sitter import Language, Node, Parser

from reviewer_tui.recipes.arm import Located
from reviewer_tui.recipes.reading import UnreadableError

MAX_BYTES = 4_000_000
MAX_VALUES = 400_000
MAX_DEPTH = 60

_LANGUAGE = Language(tree_sitter_javascript.language())
_EXPORTED_JSON = re.compile(rb"^export\s+const\s+([A-Za-z_$][\w$]*)\s*=\s*([{\[])", re.M)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|[\s\S]))")


@functools.lru_cache(maxsize=4)
def parse(source: bytes, path: str) -> Node:
    """The root of the syntax tree; the last few are kept, for a file is asked for several things. Raises
    `UnreadableError` for a file that is too large."""
    if len(source) > MAX_BYTES:
        raise UnreadableError(path, f"The script has {len(source)} bytes; at most {MAX_BYTES} are read.", "too-large")
    return Parser(_LANGUAGE).parse(source).root_node


def line_of_node(node: Node) -> int:
    """The node's first line, from 1."""
    return int(node.start_point[0]) + 1


def exported(root: Node) -> Iterator[tuple[str, Node]]:
    """Name and value of every `export const`, in the file's order."""
    for statement in root.named_children:
        if statement.type != "export_statement":
            continue
        declaration = statement.child_by_field_name("declaration")
        if declaration is None or declaration.type != "lexical_declaration":
            continue
        for declarator in declaration.named_children:
            name = declarator.child_by_field_name("name")
            value = declarator.child_by_field_name("value")
            if name is not None and value is not None and name.type == "identifier":
                yield text_of(name), value


def exported_names(source: bytes, path: str) -> tuple[str, ...]:
    """The names of the file's `export const`."""
    return tuple(name for name, _ in exported(parse(source, path)))


def exported_literal(source: bytes, name: str, path: str, only: tuple[str, ...] = ()) -> Any:
    """The value of `export const <name> = <literal>`.

    Objects become dicts (the last of repeated keys wins), arrays lists, texts `Located`. With `only`, the other keys
    of the outermost object are not looked at. Raises `UnreadableError` where the export is absent or no literal.
    """
    quick = _as_json(source, name)
    if quick is not None:
        return quick
    for found, node in exported(parse(source, path)):
        if found == name and node.has_error:
            raise UnreadableError(path, f"The constant {name} has a syntax error.", "no-literal", line_of_node(node))
        if found == name:
            return _Literal(path).read(node, only)
    raise UnreadableError(path, f"The script exports no constant named {name}.", "no-export")


def exported_members(source: bytes, name: str, path: str) -> dict[str, Node]:
    """The members of `export const <name> = {…}`, unread, by key. Raises `UnreadableError` where there is no such
    object, or a member of it has a syntax error."""
    for found, node in exported(parse(source, path)):
        if found == name and node.type == "object":
            pairs = [(child.child_by_field_name("key"), child.child_by_field_name("value")) for child in node.children]
            return {key_of(key, path): value for key, value in pairs if key is not None and value is not None}
    raise UnreadableError(path, f"The script exports no object named {name}.", "no-export")


def _as_json(source: bytes, name: str) -> Any:
    """The literal where it is plain JSON up to the end of the file (generated files are); None otherwise."""
    for match in _EXPORTED_JSON.finditer(source[:20_000]):
        if match[1].decode() != name or len(source) > MAX_BYTES:
            continue
        try:
            return json.loads(source[match.start(2) :].rstrip().removesuffix(b";"))
        except (ValueError, RecursionError):
            return None
    return None


class _Literal:
    """Reads one literal, counting what it has read."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.values = 0

    def fail(self, node: Node, message: str, rule: str) -> UnreadableError:
        return UnreadableError(self.path, message, rule, line_of_node(node))

    def read(self, node: Node, only: tuple[str, ...] = (), depth: int = 0) -> Any:
        self.values += 1
        if self.values > MAX_VALUES or depth > MAX_DEPTH:
            raise self.fail(node, "The literal is too large or too deeply nested to be read.", "too-large")
        match node.type:
            case "object":
                return self.members(node, only, depth)
            case "array":
                return [self.read(child, (), depth + 1) for child in node.named_children if child.type != "comment"]
            case "string" | "template_string":
                return Located(string_of(node, self.path), line_of_node(node))
            case "number":
                return number_of(node, self.path)
            case "true" | "false":
                return node.type == "true"
            case "null":
                return None
            case "unary_expression" if text_of(node).startswith("-"):
                return self.negative(node, depth)
            case "parenthesized_expression" if node.named_child_count == 1:
                return self.read(node.named_children[0], only, depth + 1)
        raise self.fail(node, f"A literal is expected here, not {_described(node)}.", "no-literal")

    def members(self, node: Node, only: tuple[str, ...], depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for child in node.named_children:
            if child.type == "comment":
                continue
            key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
            if child.type != "pair" or key is None or value is None:
                raise self.fail(child, f"A literal is expected here, not {_described(child)}.", "no-literal")
            name = key_of(key, self.path)
            if not only or name in only:
                result.pop(name, None)
                result[name] = self.read(value, (), depth + 1)
        return result

    def negative(self, node: Node, depth: int) -> int | float:
        value = self.read(node.named_children[0], (), depth + 1)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return -value
        raise self.fail(node, "The minus sign stands before something that is no number.", "no-literal")


def text_of(node: Node) -> str:
    """The source text of a node."""
    return "" if node.text is None else node.text.decode("utf-8", "replace")


def key_of(node: Node, path: str) -> str:
    """The name of an object's key. Raises `UnreadableError` for a computed key."""
    if node.type == "string":
        return string_of(node, path)
    if node.type in ("property_identifier", "number", "identifier"):
        return text_of(node)
    raise UnreadableError(path, "A computed key is no literal.", "no-literal", line_of_node(node))


def string_of(node: Node, path: str) -> str:
    """The text of a string or of a template without substitutions."""
    parts = []
    for child in node.named_children:
        if child.type == "string_fragment":
            parts.append(text_of(child))
        elif child.type == "escape_sequence":
            parts.append(unescaped(text_of(child)))
        else:
            raise UnreadableError(
                path, "A template with a substitution is no literal.", "no-literal", line_of_node(child)
            )
    return paired("".join(parts))


def paired(text: str) -> str:
    """The text with surrogate pairs of escape sequences joined, and single surrogates replaced."""
    if text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def unescaped(text: str) -> str:
    """Escape sequences of JavaScript resolved; half of a surrogate pair stays as it is."""
    return _ESCAPE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    if code is not None:
        number = int(code, 16)
        return chr(number) if number <= 0x10FFFF else "\ufffd"
    character = match[4]
    return "" if character in ("\n", "\r\n") else _ESCAPES.get(character, character)


def number_of(node: Node, path: str) -> int | float:
    """The value of a number literal, as an int where it is whole."""
    text = text_of(node).replace("_", "").lower()
    try:
        if text[:2] in ("0x", "0b", "0o"):
            return int(text, 0)
        value = float(text)
    except (ValueError, OverflowError):
        raise UnreadableError(path, f"{text_of(node)} is no number.", "no-literal", line_of_node(node)) from None
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _described(node: Node) -> str:
    if node.type in ("ERROR", "MISSING"):
        return "a syntax error"
    return "`" + " ".join(text_of(node).split())[:60] + "`"
