"""Waivers of engine patches: `docs/waiver/<PR>.md`, named after the pull request that introduces the patch.

A waiver states what is patched, why the unmodified image cannot run the benchmark, the upstream link, and the removal
plan (the checklist's item on engine patches, and the verifier's check of the same name).
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from reviewer_tui.model.part import Part, complete, unavailable
from reviewer_tui.model.tree import Tree, read_text
from reviewer_tui.policy.layout import Layout
from reviewer_tui.policy.markdown import Block, blocks, plain

WaiverPart = Literal["what is patched", "why the unmodified image cannot run", "upstream link", "removal plan"]

MAX_BYTES = 1 << 20
_LINK: WaiverPart = "upstream link"

_HEADINGS: tuple[tuple[WaiverPart, re.Pattern[str]], ...] = (
    ("why the unmodified image cannot run", re.compile(r"\bwhy\b|cannot run|unmodified", re.IGNORECASE)),
    ("removal plan", re.compile(r"\bremov|\bretire|\bexit (plan|criteria)", re.IGNORECASE)),
    (_LINK, re.compile(r"\bupstream\b", re.IGNORECASE)),
    ("what is patched", re.compile(r"\bpatched\b|\bwhat\b|\bscope\b", re.IGNORECASE)),
)
_LABEL = re.compile(r"^\*\*(.{1,100}?)\*\*:?\s*|^([A-Z][\w /-]{1,80}):\s")
_URL = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/(?:pull|issues|commit)/[0-9a-f]+")


class Waiver(msgspec.Struct, frozen=True, kw_only=True):
    """A waiver taken apart. `parts` holds the text under each heading; `upstream` the pull requests, issues and
    commits of other repositories that it names; `missing` what it does not state."""

    path: str
    text: str
    parts: dict[WaiverPart, str]
    upstream: tuple[str, ...]
    missing: tuple[WaiverPart, ...]

    @property
    def filled_out(self) -> bool:
        return not self.missing

    def mentions(self, name: str) -> bool:
        """Whether the waiver speaks about a file, a config key or an image by its name."""
        return bool(name) and name in self.text


def read_waiver(tree: Tree, layout: Layout, pull_request: int, repository: str = "") -> Part[Waiver]:
    """The waiver of a pull request at a revision; unavailable where there is none.

    `repository` (`owner/name`) is the one whose own links do not count as upstream.
    """
    path = layout.waiver(pull_request)
    text = read_text(tree, path)
    if text is None:
        return unavailable(f"There is no waiver {path}.", "File it in the pull request that introduces the patch.")
    if len(text) > MAX_BYTES:
        return unavailable(f"The waiver {path} is larger than 1 MB and was not read.")
    return complete(parse_waiver(text, path, repository))


def parse_waiver(text: str, path: str, repository: str = "") -> Waiver:
    """A waiver's text taken apart. Never fails: what is not stated is `missing`."""
    parts: dict[WaiverPart, list[str]] = {}
    current: WaiverPart | None = None
    level = 0
    for block in blocks(text):
        if block.kind == "heading":
            # A heading below a recognised one belongs to it, whatever it says.
            if current is None or block.level <= level:
                current, level = (_part(block.text) if block.level > 1 else None), block.level
            continue
        labelled = _label(block) if current is None else None
        if (place := labelled or current) is not None:
            parts.setdefault(place, []).append(_text_of(block))
    own = f"https://github.com/{repository}/".lower() if repository else None
    upstream = tuple(dict.fromkeys(url for url in _URL.findall(text) if own is None or not url.lower().startswith(own)))
    stated: dict[WaiverPart, str] = {name: "\n".join(lines) for name, lines in parts.items()}
    missing = tuple(name for name, _ in _HEADINGS if not (upstream if name == _LINK else plain(stated.get(name, ""))))
    return Waiver(path=path, text=text, parts=stated, upstream=upstream, missing=missing)


def _part(heading: str) -> WaiverPart | None:
    return next((name for name, pattern in _HEADINGS if pattern.search(heading)), None)


def _label(block: Block) -> WaiverPart | None:
    """The part that a paragraph or list item with a leading label (`**Removal plan:** …`) states."""
    match = _LABEL.match(block.text)
    rest = block.text[match.end() :] if match else ""
    return _part(match[1] or match[2] or "") if match and rest.strip() else None


def _text_of(block: Block) -> str:
    if block.kind == "table":
        return "\n".join(" | ".join(row.cells) for row in block.rows)
    return block.text
