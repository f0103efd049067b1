"""The map of the checklist: stable item names, the text that gives an item away, and the checks that speak to it.

The map is data (`checklists/items.json`), so that a reworded item needs no code. Numbers of items and checks move
from version to version; names do not. Whatever the map does not know keeps its place under a name made of its label
or number (`item-18`, `check-16`) and is the reviewer's judgement.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Literal

import msgspec

Pane = Literal["checklist", "diff", "runs", "evals", "recipes", "conversation"]


class ItemFacts(msgspec.Struct, frozen=True):
    """What is known about an item: its pane, the checks that speak to it, and regular expressions that find it by
    its English or Chinese text (any one suffices, case does not matter)."""

    name: str
    pane: Pane
    checks: tuple[str, ...]
    anchors: tuple[str, ...]
    anchors_zh: tuple[str, ...] = ()


class CheckFacts(msgspec.Struct, frozen=True):
    """What is known about a check: a title for policies that give none, and regular expressions for its heading,
    `tried_last` where other checks' headings may hold its words too."""

    name: str
    title: str
    headings: tuple[str, ...]
    tried_last: bool = False


class ChecklistMap(msgspec.Struct, frozen=True):
    """The whole map: items in the order in which their patterns are tried, checks in that of the verifier."""

    items: tuple[ItemFacts, ...]
    checks: tuple[CheckFacts, ...]


# More of an item than any template ever had; what follows does not name it.
MAX_TEXT = 3_000

_PACKAGE = Path(__file__).resolve().parent.parent
# A wheel carries the data inside the package, a source checkout beside it.
_DATA_FOLDERS = (_PACKAGE / "checklists", _PACKAGE.parent / "checklists")


def data_file(name: str) -> Path:
    """A bundled data file by its name below `checklists/`."""
    return next((folder / name for folder in _DATA_FOLDERS if (folder / name).exists()), _DATA_FOLDERS[0] / name)


@functools.cache
def checklist_map() -> ChecklistMap:
    """The bundled map; read once."""
    return msgspec.json.decode(data_file("items.json").read_bytes(), type=ChecklistMap)


@functools.cache
def _items_by_name() -> dict[str, ItemFacts]:
    return {item.name: item for item in checklist_map().items}


@functools.cache
def _patterns(language: Literal["en", "zh"]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (item.name, _any_of(item.anchors if language == "en" else item.anchors_zh)) for item in checklist_map().items
    )


@functools.cache
def _heading_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    checks = sorted(checklist_map().checks, key=lambda check: check.tried_last)
    return tuple((check.name, _any_of(check.headings)) for check in checks)


def _any_of(alternatives: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{a})" for a in alternatives) or "(?!)", re.IGNORECASE | re.DOTALL)


_LINK = re.compile(r"\[([^\[\]]{0,2000})\]\([^()\s]{0,2000}\)")


def plain_text(markdown: str) -> str:
    """An item's text as it is compared: links reduced to their text, blanks to one."""
    return " ".join(_LINK.sub(r"\1", markdown).split())


def name_of(item_text: str) -> str | None:
    """The stable name of an item by its English wording; None where this program does not know it."""
    text = plain_text(item_text[:MAX_TEXT])
    return next((name for name, pattern in _patterns("en") if pattern.search(text)), None)


def names_in_chinese(item_text: str) -> tuple[str, ...]:
    """The stable names of the items that a Chinese explanation speaks about; one paragraph may cover an item and its
    sub-item."""
    text = plain_text(item_text[:MAX_TEXT])
    return tuple(name for name, pattern in _patterns("zh") if pattern.search(text))


def checks_of(item_name: str) -> tuple[str, ...]:
    """The names of the checks that speak to an item; none for an item that is the reviewer's judgement alone."""
    item = _items_by_name().get(item_name)
    return item.checks if item else ()


def pane_of(item_name: str) -> Pane:
    """The pane that shows an item's evidence; the checklist itself for an unknown item."""
    item = _items_by_name().get(item_name)
    return item.pane if item else "checklist"


def check_name(heading: str, number: int | None) -> str:
    """The fixed name of a check by the title in its heading; `check-<N>` where this program does not know it."""
    found = next((name for name, pattern in _heading_patterns() if pattern.search(heading)), None)
    return found or f"check-{number if number is not None else 'unnumbered'}"


def known_checks() -> tuple[CheckFacts, ...]:
    """All checks this program knows, in the verifier's order."""
    return checklist_map().checks
