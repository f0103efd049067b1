"""The little Markdown that the policy files are made of: headings, paragraphs, list items, tables, fences, by line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

BlockKind = Literal["heading", "paragraph", "item", "table", "fence"]

_HEADING = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]|$)")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)、])[ \t]+(?=\S)")
_LINK = re.compile(r"\[([^\[\]]{0,2000})\]\([^()\s]{0,2000}\)")


class Row(msgspec.Struct, frozen=True):
    """A table's row: its cells, and its line (from 1)."""

    cells: tuple[str, ...]
    line: int


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """One block. `line` is its first line (from 1); `text` is a heading's title, a paragraph's or list item's lines
    joined by one blank, or a fence's content; `level` is a heading's; `rows` are a table's, header first."""

    kind: BlockKind
    line: int
    text: str = ""
    level: int = 0
    rows: tuple[Row, ...] = ()


def plain(markdown: str) -> str:
    """Text without links, emphasis and code marks, blanks reduced to one."""
    return " ".join(_LINK.sub(r"\1", markdown).replace("*", "").replace("`", "").split())


def unlinked(markdown: str) -> str:
    """Text with links reduced to what they show; all else as it is."""
    return _LINK.sub(r"\1", markdown)


def blocks(text: str) -> tuple[Block, ...]:
    """The blocks of a Markdown text in order. Never fails: what is nothing else is a paragraph."""
    return tuple(_blocks(text.splitlines()))


def _blocks(lines: list[str]) -> Iterator[Block]:
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
        elif heading := heading_of(line):
            yield Block(kind="heading", line=at + 1, text=heading[1], level=heading[0])
            at += 1
        elif fence := _FENCE.match(line):
            end = _fence_end(lines, at, fence[1])
            yield Block(kind="fence", line=at + 1, text="\n".join(lines[at + 1 : end]))
            at = end + 1
        elif "|" in line and at + 1 < len(lines) and _is_separator(lines[at + 1]):
            end = _table_end(lines, at + 2)
            rows = [Row(_cells(line), at + 1)] + [Row(_cells(lines[n]), n + 1) for n in range(at + 2, end)]
            yield Block(kind="table", line=at + 1, rows=tuple(rows))
            at = end
        else:
            end = _paragraph_end(lines, at + 1)
            item = _ITEM.match(line)
            parts = [line[item.end() :] if item else line, *lines[at + 1 : end]]
            text = " ".join(part.strip() for part in parts)
            yield Block(kind="item" if item else "paragraph", line=at + 1, text=text)
            at = end


def heading_of(line: str) -> tuple[int, str] | None:
    """Level and title of a heading line."""
    mark = _HEADING.match(line)
    return (len(mark[1]), line[mark.end() :].strip().rstrip("#").rstrip()) if mark else None


def _is_separator(line: str) -> bool:
    return "|" in line and "-" in line and not line.strip("|-: \t")


def _fence_end(lines: list[str], start: int, mark: str) -> int:
    closing = re.compile(rf"^ {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$")
    return next((n for n in range(start + 1, len(lines)) if closing.match(lines[n])), len(lines))


def _table_end(lines: list[str], start: int) -> int:
    return next((n for n in range(start, len(lines)) if "|" not in lines[n]), len(lines))


def _paragraph_end(lines: list[str], start: int) -> int:
    def ends(line: str) -> bool:
        return not line.strip() or bool(_HEADING.match(line) or _FENCE.match(line) or _ITEM.match(line))

    return next((n for n in range(start, len(lines)) if ends(lines[n])), len(lines))


def _cells(line: str) -> tuple[str, ...]:
    row = line.strip().removeprefix("|").replace("\\|", "\0").removesuffix("|")
    return tuple(cell.strip().replace("\0", "|") for cell in row.split("|"))
