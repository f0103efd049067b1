"""Lists that come in pages: their links, and what came together."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Generic, Protocol, TypeVar

import msgspec

T = TypeVar("T")
Item_co = TypeVar("Item_co", covariant=True)

PAGE_SIZE = 100
MOST_PAGES = 200
"""More pages than any capped list of GitHub has; what claims more is cut, and its count shows it."""

_LINK = re.compile(r'<([^<>]*)>\s*;[^,<]*?\brel="?([A-Za-z]+)"?')
_LONGEST_HEADER = 20_000
_PAGE_NUMBER = re.compile(r"(?<=[?&]page=)\d{1,6}(?=&|\Z)")


class Page(Protocol[Item_co]):
    """A list that GitHub wraps in an object with the count of all items."""

    @property
    def total_count(self) -> int: ...

    @property
    def items(self) -> tuple[Item_co, ...]: ...


class Listing(msgspec.Struct, Generic[T], frozen=True):
    """All pages of a list. `total` is GitHub's own count where it gives one; `withheld` is a sentence where GitHub
    left something out."""

    items: tuple[T, ...]
    total: int | None = None
    withheld: str = ""

    @property
    def complete(self) -> bool:
        return not self.withheld and (self.total is None or len(self.items) >= self.total)


def links_of(header: str) -> dict[str, str]:
    """The addresses of a Link header by relation."""
    return {relation: url for url, relation in _LINK.findall(header[:_LONGEST_HEADER])}


def following_pages(links: Mapping[str, str]) -> list[str] | None:
    """The addresses of all pages after the first, made from the links `next` and `last` by their page number; None
    where the links have none, which means to follow `next` page by page."""
    if "next" not in links:
        return []
    following, last = links["next"], links.get("last", "")
    first_number, last_number = _PAGE_NUMBER.search(following), _PAGE_NUMBER.search(last)
    if not first_number or not last_number or _PAGE_NUMBER.sub("", following) != _PAGE_NUMBER.sub("", last):
        return None
    start = int(first_number[0])
    end = min(int(last_number[0]), start + MOST_PAGES)
    return [_PAGE_NUMBER.sub(str(number), following) for number in range(start, end + 1)]
