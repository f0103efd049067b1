"""What the conversation points to: runs of this repository, and pull requests of others."""

from __future__ import annotations

import re
from collections.abc import Iterable

LONGEST_TEXT = 200_000

# The two reuse commands as the repository's own scripts read them: a line of its own; the number of the older one may
# stand on the next line (`find_reusable_sweep_run.py`), that of the newer one may not (`reuse.py`).
_REUSE = r"(?m:^[^\S\n]*(?:/reuse-sweep-run\s+(?P<pinned>\d{1,18})|/use[^\S\r\n]+(?P<used>\d{1,18}))\s*$)"
_DASHBOARD = r"[?&]unofficialRun=(?P<shown>\d{1,18})"
_PULL = re.compile(
    r"(?i:https?://github\.com/)(?P<repository>[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100})"
    r"/pull/(?P<number>[1-9]\d{0,8})\b"
)


def mentioned_runs(texts: Iterable[str], repository: str) -> tuple[int, ...]:
    """The ids of runs that texts link or command to reuse, each once, in order: addresses of this repository's Actions,
    the dashboard's `unofficialRun=`, and the reuse commands."""
    linked = rf"(?i:/{re.escape(repository)})/actions/runs/(?P<linked>\d{{1,18}})"
    pattern = re.compile(f"{linked}|{_DASHBOARD}|{_REUSE}")
    found = (
        int(next(filter(None, match.groups()))) for text in texts for match in pattern.finditer(text[:LONGEST_TEXT])
    )
    return tuple(dict.fromkeys(found))


def mentioned_pulls(texts: Iterable[str], repository: str) -> tuple[tuple[str, int], ...]:
    """Repository and number of the pull requests of other repositories on github.com that texts link, each once, in
    order."""
    found: dict[tuple[str, int], tuple[str, int]] = {}
    for text in texts:
        for match in _PULL.finditer(text[:LONGEST_TEXT]):
            name, number = match["repository"], int(match["number"])
            if name.lower() != repository.lower():
                found.setdefault((name.lower(), number), (name, number))
    return tuple(found.values())
