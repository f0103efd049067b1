"""Comparing lines: which stay, which go, which come, in bounded time whatever somebody wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher

MAX_LINES = 6_000
MAX_PAIRS = 150_000
"""How many pairs of equal lines are looked at: the work grows with them, and a stranger can repeat a line at will."""

Step = tuple[str, int, int, int, int]
"""difflib's opcode: `equal`, `insert`, `delete` or `replace`, and the two ranges."""


def steps(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Step]:
    """How `new` comes from `old`, as difflib's opcodes. A common start is taken as long as possible, then a common end.

    What lies between is one `replace` where comparing it would take too long.
    """
    start = 0
    shorter = min(len(old), len(new))
    while start < shorter and old[start] == new[start]:
        start += 1
    end = 0
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    old_end, new_end = len(old) - end, len(new) - end
    between = _between(old[start:old_end], new[start:new_end])
    found: list[Step] = [("equal", 0, start, 0, start)] if start else []
    found.extend((kind, a + start, b + start, c + start, d + start) for kind, a, b, c, d in between)
    if end:
        found.append(("equal", old_end, len(old), new_end, len(new)))
    return found


def _between(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Step]:
    if not old and not new:
        return []
    if not old or not new:
        return [("insert" if new else "delete", 0, len(old), 0, len(new))]
    mine, yours = Counter(old), Counter(new)
    pairs = sum(count * yours[line] for line, count in mine.items())
    if len(old) + len(new) > MAX_LINES or pairs > MAX_PAIRS:
        return [("replace", 0, len(old), 0, len(new))]
    return [(kind, a, b, c, d) for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes()]
