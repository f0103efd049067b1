"""What a page says in words about widths: `**B300 (288GB)**: tp=2 (FP8)` in a list, or a table of hardware by
precision. Words document no arm; they are only held against what the same page's arms say."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from reviewer_tui.recipes.arm import RecipeArm, Width
from reviewer_tui.recipes.hardware import named_in
from reviewer_tui.recipes.mdx import MAX_TEXT

MAX_WIDTHS = 500
_MAX_LINE = 2_000
_MAX_DEGREES = 12

_ITEM = re.compile(r"^([ \t]*)(?:[-*+]|\d+\.)[ \t]+(.*)$")
_ROW = re.compile(r"^[ \t]*\|(.*)\|[ \t]*$")
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})")
_TP = re.compile(r"(?<![\w-])(?:--)?(?:tp|tensor[ -]parallel(?:ism|-size)?)(?:[ =:]{1,2}|(?=\d))(\d{1,2})(?!\d)", re.I)
_CELL = re.compile(r"(?:^|/|,)\s*(\d{1,2})(?=\s*(?:$|[/,+(]))")
_PRECISION = re.compile(r"(?<![A-Za-z0-9])(bf16|fp16|(?:nv|mx)?fp8|(?:nv|mx)?fp4|int4|int8)(?![A-Za-z0-9])", re.I)


def widths(page: str, path: str) -> tuple[Width, ...]:
    """The widths that a page states for named hardware, at most `MAX_WIDTHS`."""
    found: list[Width] = []
    for width in _widths(page[:MAX_TEXT].split("\n"), path):
        found.append(width)
        if len(found) == MAX_WIDTHS:
            break
    return tuple(found)


def _widths(lines: Sequence[str], path: str) -> Iterator[Width]:
    parents: list[tuple[int, str]] = []
    header: list[str] = []
    fenced = False
    for number, line in enumerate(lines, 1):
        if _FENCE.match(line):
            fenced = not fenced
        if fenced or len(line) > _MAX_LINE:
            continue
        row = _ROW.match(line)
        if row is not None:
            cells = [cell.strip() for cell in row[1].split("|")]
            if header:
                yield from _table_row(cells, header, path, number)
            else:
                header = cells
            continue
        header = []
        item = _ITEM.match(line)
        if item is None:
            parents = parents if not line.strip() else []
            continue
        indent = len(item[1].expandtabs(4))
        parents = [*(parent for parent in parents if parent[0] < indent), (indent, item[2])]
        yield from _list_item([text for _, text in parents], path, number)


def _list_item(texts: list[str], path: str, line: int) -> Iterator[Width]:
    """`texts` are the item's own and those that it is nested in, outermost first."""
    text = texts[-1]
    degrees = list(itertools.islice(_TP.finditer(text), _MAX_DEGREES))
    hardware = named_in(text[: degrees[0].start()]) if degrees else ()
    told: dict[str, list[int]] = {}
    ends = [*(match.start() for match in degrees[1:]), len(text)]
    for match, end in zip(degrees, ends, strict=False):
        rest = text[match.end() : end]
        told.setdefault(_precision(rest, text[: match.start()], texts[:-1]), []).append(int(match[1]))
    for precision, degree in told.items():
        for name in hardware:
            yield Width(hardware=name, precision=precision, tp=tuple(degree), path=path, line=line)


def _precision(after: str, before: str, parents: list[str]) -> str:
    """The precision that a width is for: named after it, else before it, else by what the item is nested in."""
    following = _PRECISION.search(after)
    if following is not None:
        return _plain(following[1])
    for text in (before, *reversed(parents)):
        named = _PRECISION.findall(text)
        if named:
            return _plain(named[-1])
    return ""


def _table_row(cells: list[str], header: list[str], path: str, line: int) -> Iterator[Width]:
    hardware = named_in(cells[0])
    for title, cell in zip(header[1:], cells[1:], strict=False):
        precision = _PRECISION.search(title)
        degrees = [int(n) for n in _TP.findall(cell) or (_CELL.findall(cell) if precision else [])]
        for name in hardware if degrees else ():
            told = _plain(precision[1]) if precision else ""
            yield Width(hardware=name, precision=told, tp=tuple(degrees), path=path, line=line)


def _plain(precision: str) -> str:
    lowered = precision.lower()
    return next((kind for kind in ("fp4", "fp8") if lowered.endswith(kind)), "bf16" if lowered == "fp16" else lowered)


def precision_named(checkpoint: str) -> str:
    """The precision in a checkpoint's name, in lower case; empty where it has none."""
    named = _PRECISION.findall(checkpoint.replace("-", " ").replace("_", " "))
    return str(named[-1]).lower() if named else ""


def precision_of(checkpoint: str) -> str:
    """The precision that a checkpoint's name tells; without one it is the unquantized model."""
    named = precision_named(checkpoint)
    return _plain(named) if named else "bf16"


def contradicted(stated: Sequence[Width], arms: Sequence[RecipeArm]) -> Iterator[str]:
    """The statements that none of the arms for their hardware and precision agrees with."""
    documented: dict[tuple[str, str], set[int]] = {}
    for arm in arms:
        role = arm.serving
        if role is not None and arm.hardware and arm.encoding in ("widget", "cells"):
            for precision in ("", precision_of(arm.checkpoint)):
                documented.setdefault((arm.hardware, precision), set()).add(role.tp)
    for width in stated:
        known = documented.get((width.hardware, width.precision), set())
        if known and not known.intersection(width.tp):
            said, shown = (" or ".join(map(str, sorted(degrees))) for degrees in (set(width.tp), known))
            what = f"{width.hardware} {width.precision}".strip()
            place = f"{width.path}:{width.line}"
            yield f"{place} says tensor parallel {said} for {what}, where the page's commands have {shown}."
