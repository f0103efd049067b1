"""Which lines of a file changed: bounded in time whatever the file holds.

Lines are paired at the ones that occur once on both sides, in the longest run that keeps their order (as git's
patience), then inside each gap by the standard matcher while the gap is small. A gap that is neither is one
replacement: true, only coarse.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice
from operator import lt
from typing import Literal, NamedTuple

OpKind = Literal["same", "removed", "added", "replaced"]

# The largest product of both sides of a gap that the quadratic matcher is given: some 30 ms at the worst.
_GAP_PRODUCT = 160_000


class Op(NamedTuple):
    """A run of lines: `old[old_start:old_end]` became `new[new_start:new_end]` (from 0, end exclusive)."""

    kind: OpKind
    old_start: int
    old_end: int
    new_start: int
    new_end: int


def diff_lines(old: Sequence[str], new: Sequence[str]) -> list[Op]:
    """The runs that make `new` of `old`, in order, covering both sides wholly, neighbours of different kind."""
    return _slid(list(_ops(_matches(old, new), len(old), len(new))), old, new)


def _matches(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int]]:
    """Equal runs as (old start, new start, length), in order."""
    found: list[tuple[int, int, int]] = []
    gaps = [(0, len(old), 0, len(new))]
    while gaps:
        a, b, c, d = gaps.pop()
        head = _common_head(old, new, a, b, c, d)
        if head:
            found.append((a, c, head))
            a, c = a + head, c + head
        tail = _common_tail(old, new, a, b, c, d)
        if tail:
            found.append((b - tail, d - tail, tail))
            b, d = b - tail, d - tail
        if a == b or c == d:
            continue
        anchors = _runs(_anchors(old, new, a, b, c, d))
        if anchors:
            found.extend(anchors)
            gaps.extend(_between(anchors, a, b, c, d))
        elif (b - a) * (d - c) <= _GAP_PRODUCT:
            blocks = SequenceMatcher(None, old[a:b], new[c:d], autojunk=False).get_matching_blocks()
            found.extend((a + block.a, c + block.b, block.size) for block in blocks if block.size)
    found.sort()
    return found


def _common_head(old: Sequence[str], new: Sequence[str], a: int, b: int, c: int, d: int) -> int:
    length, limit = 0, min(b - a, d - c)
    while length < limit and old[a + length] == new[c + length]:
        length += 1
    return length


def _common_tail(old: Sequence[str], new: Sequence[str], a: int, b: int, c: int, d: int) -> int:
    length, limit = 0, min(b - a, d - c)
    while length < limit and old[b - 1 - length] == new[d - 1 - length]:
        length += 1
    return length


def _anchors(old: Sequence[str], new: Sequence[str], a: int, b: int, c: int, d: int) -> list[tuple[int, int]]:
    """Lines that occur once on either side of the gap, in the longest common order."""
    left, right = old[a:b], new[c:d]
    repeated = _repeated(left) | _repeated(right)
    places = dict(zip(right, range(c, d), strict=True))
    pairs = [
        (i, j)
        for i, (line, j) in enumerate(zip(left, map(places.get, left), strict=True), a)
        if j is not None and line not in repeated
    ]
    # Mostly nothing has moved, and then there is no order to look for.
    seconds = [j for _, j in pairs]
    return pairs if all(map(lt, seconds, islice(seconds, 1, None))) else _longest_increasing(pairs)


def _repeated(lines: Sequence[str]) -> set[str]:
    counts = Counter(lines)
    return set() if len(counts) == len(lines) else {line for line, count in counts.items() if count > 1}


def _runs(anchors: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Anchors that follow each other on both sides, taken together as (old start, new start, length)."""
    runs: list[tuple[int, int, int]] = []
    start = before = (-1, -1)
    for anchor in anchors:
        if anchor != (before[0] + 1, before[1] + 1):
            if start[0] >= 0:
                runs.append((*start, before[0] + 1 - start[0]))
            start = anchor
        before = anchor
    if start[0] >= 0:
        runs.append((*start, before[0] + 1 - start[0]))
    return runs


def _longest_increasing(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest sub-sequence of pairs (sorted by the first) whose second grows."""
    tops: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, second) in enumerate(pairs):
        pile = bisect_left(tops, second)
        before.append(ends[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(second)
            ends.append(index)
        else:
            tops[pile] = second
            ends[pile] = index
    chain: list[tuple[int, int]] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        chain.append(pairs[at])
        at = before[at]
    chain.reverse()
    return chain


def _between(
    anchors: list[tuple[int, int, int]], a: int, b: int, c: int, d: int
) -> Iterator[tuple[int, int, int, int]]:
    """The gaps that the anchors leave and that hold lines on both sides."""
    for i, j, length in [*anchors, (b, d, 0)]:
        if i > a and j > c:
            yield (a, i, c, j)
        a, c = i + length, j + length


def _ops(matches: list[tuple[int, int, int]], old_length: int, new_length: int) -> Iterator[Op]:
    old_at = new_at = 0
    same: Op | None = None
    for i, j, length in [*matches, (old_length, new_length, 0)]:
        if i > old_at or j > new_at:
            if same:
                yield same
                same = None
            yield _change(old_at, i, new_at, j)
        if length:
            start = same or Op("same", i, i, j, j)
            same = start._replace(old_end=i + length, new_end=j + length)
        old_at, new_at = i + length, j + length
    if same:
        yield same


def _change(a: int, b: int, c: int, d: int) -> Op:
    if c == d:
        return Op("removed", a, b, c, d)
    return Op("added", a, b, c, d) if a == b else Op("replaced", a, b, c, d)


def _slid(ops: list[Op], old: Sequence[str], new: Sequence[str]) -> list[Op]:
    """Pure additions and removals moved, where the text allows several places, to the one that starts with the least
    indented line, and of equals the lowest: a whole list item or block then, not the end of one and the start of the
    next."""
    for index, op in enumerate(ops):
        if op.kind not in ("added", "removed") or not 0 < index < len(ops) - 1:
            continue
        before, after = ops[index - 1], ops[index + 1]
        if before.kind != "same" or after.kind != "same":
            continue
        lines, start, end = (new, op.new_start, op.new_end) if op.kind == "added" else (old, op.old_start, op.old_end)
        shift = _best_shift(lines, start, end, _length(before) - 1, _length(after) - 1)
        if shift:
            ops[index - 1] = before._replace(old_end=before.old_end + shift, new_end=before.new_end + shift)
            ops[index] = Op(op.kind, *(place + shift for place in op[1:]))
            ops[index + 1] = after._replace(old_start=after.old_start + shift, new_start=after.new_start + shift)
    return ops


def _length(op: Op) -> int:
    return op.old_end - op.old_start


def _best_shift(lines: Sequence[str], start: int, end: int, room_up: int, room_down: int) -> int:
    reach = 200
    lowest = 0
    while lowest < min(room_down, reach) and lines[start + lowest] == lines[end + lowest]:
        lowest += 1
    highest = 0
    while highest < min(room_up, reach) and lines[start - highest - 1] == lines[end - highest - 1]:
        highest += 1
    return min(range(-highest, lowest + 1), key=lambda shift: (_indent(lines[start + shift]), -shift))


def _indent(line: str) -> int:
    """Columns before the first character; a blank line is a worse start than any other."""
    stripped = line.lstrip()
    return len(line) - len(stripped) if stripped else 1_000
