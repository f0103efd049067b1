"""A cookbook page's own script, run as a browser would run it: what a visitor can click, and the command then shown.

JSX is rewritten to calls (node reads no JSX) and the script runs in node with a small stand-in for React that keeps
state and effects. From the state in which the page opens, every enabled control is clicked, again and again, until no
new selection appears.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tree_sitter import Node

from reviewer_tui.recipes.javascript import parse, text_of

_ELEMENTS = ("jsx_element", "jsx_self_closing_element", "jsx_fragment")

_RUNTIME = (Path(__file__).parent / "browser.mjs").read_text()


def plain_script(source: bytes, path: str = "page.jsx") -> str:
    """The script with every JSX element as a call of `h(name, attributes, …children)`, and without `export`."""
    return _plain(parse(source, path)).replace("export const ", "const ").replace("export function ", "function ")


def _plain(node: Node) -> str:
    if node.type in _ELEMENTS:
        return _call(node)
    if not node.children:
        return text_of(node)
    raw, start, parts = node.text or b"", node.start_byte, []
    at = 0
    for child in node.children:
        parts.append(raw[at : child.start_byte - start].decode())
        parts.append(_plain(child))
        at = child.end_byte - start
    return "".join([*parts, raw[at:].decode()])


def _call(node: Node) -> str:
    opening = node if node.type == "jsx_self_closing_element" else node.child_by_field_name("open_tag")
    name = opening.child_by_field_name("name") if opening is not None else None
    attributes = [_attribute(child) for child in (opening.named_children if opening is not None and name else [])]
    children = [] if node.type == "jsx_self_closing_element" else list(_children(node))
    tag = json.dumps(text_of(name)) if name is not None else "null"
    return f"h({', '.join([tag, '{' + ', '.join(filter(None, attributes)) + '}', *children])})"


def _attribute(node: Node) -> str:
    if node.type == "jsx_expression":
        return _plain(node)[1:-1]
    if node.type != "jsx_attribute":
        return ""
    name, *value = node.named_children
    key = json.dumps(text_of(name))
    if not value:
        return f"{key}: true"
    return f"{key}: {_plain(value[0])[1:-1] if value[0].type == 'jsx_expression' else _plain(value[0])}"


def _children(node: Node) -> Iterator[str]:
    for child in node.children:
        if child.type in _ELEMENTS:
            yield _call(child)
        elif child.type == "jsx_expression":
            inner = [c for c in child.named_children if c.type != "comment"]
            if inner:
                yield _plain(inner[0])
        elif child.type == "jsx_text":
            lines = [line.strip() for line in text_of(child).split("\n")]
            text = " ".join(line for line in lines if line)
            if text:
                yield json.dumps(text)
        elif child.type == "html_character_reference":
            yield json.dumps(text_of(child))


def visit(jobs: Sequence[Mapping[str, Any]], timeout: float = 300) -> list[dict[str, Any]]:
    """What the pages of these jobs show. A job has `script`, `component`, `options` (names of the choices), and may
    have `props` (JavaScript) and `fixed` (choices that are not changed). An answer has `shown`: pairs of selection and
    command, or `error`."""
    ran = subprocess.run(
        [shutil.which("node") or "node", "--stack-size=4000", "--input-type=module", "-e", _RUNTIME],
        input=json.dumps(list(jobs)),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    answers: list[dict[str, Any]] = json.loads(ran.stdout)
    return answers
