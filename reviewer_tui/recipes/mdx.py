"""Cookbook pages: what a page imports, and the commands in its fenced blocks with the headings above them."""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Iterator, Sequence

import msgspec

MAX_TEXT = 1_000_000
MAX_IMPORTS = 200

_IMPORT = re.compile(r"""^import\s*\{([^}]{1,400})\}\s*from\s*["']([^"']{1,300})["']""", re.M)
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([^\n`]*)$")
_HEADING = re.compile(r"^(#{1,6})[ \t]+(.+?)[ \t#]*$")
_TAG = re.compile(
    r"""<(/?)(Tab|Accordion|CodeGroup|Step|Expandable)\b(?:[^>]*?\btitle=["']([^"']{1,200})["'])?[^>]*?(/?)>"""
)
_SHELL = ("", "bash", "shell", "sh", "console", "text", "zsh")


class PageImport(msgspec.Struct, frozen=True, kw_only=True):
    """One imported name of a page: the name in the file, the name on the page, the file, and the line."""

    exported: str
    local: str
    path: str
    line: int


class FencedBlock(msgspec.Struct, frozen=True, kw_only=True):
    """A fenced block: its text, the line of its first line of text, and the titles that it stands under, outermost
    first (headings, then tabs and accordions)."""

    text: str
    line: int
    language: str
    context: tuple[str, ...]


def imports(page: str, page_path: str) -> tuple[PageImport, ...]:
    """The snippets that a page imports, at most `MAX_IMPORTS`.

    A path from the root (`/src/snippets/…`) is below the documentation's root, which is the part of the page's own
    path before `/cookbook/`. Paths that leave it are left out.
    """
    root = docs_root(page_path)
    found = []
    for match in itertools.islice(_IMPORT.finditer(page[:MAX_TEXT]), MAX_IMPORTS):
        base = root if match[2].startswith("/") else posixpath.dirname(page_path)
        path = posixpath.normpath(posixpath.join(base, match[2].lstrip("/")))
        if not path.startswith(f"{root}/"):
            continue
        for part in match[1].split(","):
            names = part.split()
            if names:
                line = page.count("\n", 0, match.start()) + 1
                found.append(PageImport(exported=names[0], local=names[-1], path=path, line=line))
    return tuple(found)


def docs_root(page_path: str) -> str:
    """The folder that the site is built from: `docs` or `docs_new`."""
    return page_path.partition("/cookbook/")[0]


def fenced_blocks(page: str) -> Iterator[FencedBlock]:
    """The page's fenced blocks of shell text, in order."""
    headings: list[tuple[int, str]] = []
    titles: list[str] = []
    lines = page[:MAX_TEXT].split("\n")
    index = 0
    while index < len(lines):
        fence = _FENCE.match(lines[index])
        if fence is None:
            _enter(lines[index], headings, titles)
            index += 1
            continue
        end = _closing(lines, index + 1, fence[1])
        language = fence[2].split()[0].lower() if fence[2].split() else ""
        if language in _SHELL:
            context = (*(title for _, title in headings), *(title for title in titles if title))
            text = "\n".join(lines[index + 1 : end])
            yield FencedBlock(text=text, line=index + 2, language=language, context=context)
        index = end + 1


def _closing(lines: Sequence[str], index: int, fence: str) -> int:
    while index < len(lines):
        text = lines[index].strip()
        if text.startswith(fence) and not text.strip(fence[0]):
            return index
        index += 1
    return index


def _enter(line: str, headings: list[tuple[int, str]], titles: list[str]) -> None:
    """Take note of a heading, or of a tab that opens or closes."""
    heading = _HEADING.match(line)
    if heading is not None:
        level = len(heading[1])
        while headings and headings[-1][0] >= level:
            headings.pop()
        headings.append((level, heading[2]))
        titles.clear()
        return
    for closing, _, title, empty in _TAG.findall(line):
        if closing:
            del titles[-1:]
        elif not empty and len(titles) < 20:
            titles.append(title)
