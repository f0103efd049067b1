"""Hardware ids in running text and across sources."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NAMES = re.compile(
    r"(?<![A-Za-z0-9])(?:(gb300|gb200|b300|b200|h200|h100|h20)(?![0-9])|(mi3(?:55|50|25|00))x?"
    r"|(rtx[ _-]?(?:pro[ _-]?)?6000(?:[ _-]?pro)?))(?![0-9A-Za-z])",
    re.I,
)


def sku(runner: str) -> str:
    """The hardware id of a runner label: `cluster:b200-dgxc` is b200."""
    return re.split(r"[-_]", runner.removeprefix("cluster:"))[0].lower()


def named_in(text: str) -> tuple[str, ...]:
    """The hardware ids that a text names, in order, each once."""
    found: dict[str, None] = {}
    for match in _NAMES.finditer(text):
        plain, instinct = match[1], match[2]
        found[plain.lower() if plain else f"{instinct.lower()}x" if instinct else "rtx6000pro"] = None
    return tuple(found)


def nearest(texts: Iterable[str]) -> tuple[str, ...]:
    """The hardware of the innermost text (the last) that names any."""
    for text in reversed(list(texts)):
        found = named_in(text)
        if found:
            return found
    return ()
