"""What a Python program does to the serving stack, by what tells in its text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reviewer_tui.checks.patches import rules
from reviewer_tui.checks.patches.reading import Hit
from reviewer_tui.checks.patches.rules import Kind

_SHOWN = 110
_ASSIGNED = re.compile(r"^\s*((?:[A-Za-z_]\w*)(?:\.\w+)+)\s*=[^=]", re.M)
_IMPORTED = re.compile(
    rf"^\s*(?:from\s+(?:{rules.ENGINE_MODULES})[\w.]*\s+import\s+(.+)|import\s+((?:{rules.ENGINE_MODULES})[^\n#]*))",
    re.M,
)


def read_python(name: str, text: str) -> Iterator[Hit]:
    """What a program file does; `name` is its last name."""
    if rules.WRITES.search(text):
        kind = rules.place(text)
        if kind is None and rules.CHANGES_BY_NAME.search(name) and not rules.ORCHESTRATION.search(text):
            kind = "unclear"
        if kind is not None:
            yield written(text, kind)
        elif rules.LOCATES_BY_A_VALUE.search(text):
            yield _hit(
                text, rules.LOCATES_BY_A_VALUE, "looks up a module that its text does not name, and writes files"
            )
    elif rules.RUNS_PROGRAMS.search(text) and rules.place(text) is not None:
        yield _hit(text, rules.RUNS_PROGRAMS, "runs programs and knows where the image keeps its engine")
    for number, line in enumerate(text.split("\n"), 1):
        if rules.STARTS_CHANGE.search(line) and not line.lstrip().startswith("#"):
            what = f"starts something that may change the image ({line.strip()[:_SHOWN]})"
            yield Hit(kind="unclear", line=number, end_line=number, what=what)
    yield from _monkey_patches(text)


def written(text: str, kind: Kind) -> Hit:
    """A program that writes files of this kind: from where it writes to its end."""
    found = rules.WRITES.search(text)
    offset = text.count("\n", 0, found.start()) if found else 0
    what = "rewrites files of the installed engine" if kind == "engine" else "rewrites files that may serve"
    return Hit(kind=kind, line=1 + offset, end_line=1 + text.count("\n"), what=f"{what} (Python)")


def _hit(text: str, pattern: re.Pattern[str], what: str) -> Hit:
    found = pattern.search(text)
    line = text.count("\n", 0, found.start()) + 1 if found else 1
    return Hit(kind="unclear", line=line, end_line=1 + text.count("\n"), what=what)


def _monkey_patches(text: str) -> Iterator[Hit]:
    """Assignments to members of engine modules: `vllm.x.y = z`, `Scheduler.step = mine`."""
    names: set[str] = set()
    for found in _IMPORTED.finditer(text):
        for part in (found[1] or found[2]).strip("()").split(","):
            words = part.split()
            if words:
                names.add(words[-1].partition(".")[0].strip("()"))
    for found in _ASSIGNED.finditer(text):
        if found[1].partition(".")[0] in names:
            line = text.count("\n", 0, found.start(1)) + 1
            what = f"replaces a member of the engine at run time ({found[1]})"
            yield Hit(kind="engine", line=line, end_line=line, what=what)
