"""The rows that a diff view shows, found one by one: a file of any length costs what its changes cost.

A row model is a short list of segments; row *i* is found by bisection and made when asked for.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, overload

from reviewer_tui.tui.diff.file_diff import FileDiff
from reviewer_tui.tui.diff.lines import Op
from reviewer_tui.tui.diff.words import alike

Mode = Literal["unified", "split"]
RowKind = Literal["same", "removed", "added", "changed", "fold"]

# Unchanged lines kept around a change, as everybody knows it from git.
CONTEXT = 3

# The largest product of both sides of a replacement whose lines are paired by likeness rather than by place.
_PAIRING_PRODUCT = 400


class Row(NamedTuple):
    """One row. `old` and `new` are line indexes from 0, None on a side without a line.

    Unified shows `removed` and `added` rows, each with its partner line on the other side (`partner`, an index) where
    it has one. Split shows a `changed` row with both. A `fold` stands for `lines` unchanged lines from `old` and `new`
    on. `op` is the run the row belongs to.
    """

    kind: RowKind
    op: int
    old: int | None = None
    new: int | None = None
    partner: int | None = None
    lines: int = 1


class _Segment(NamedTuple):
    """Consecutive rows of one kind and run: its first lines, how many rows, how many lines each stands for."""

    kind: RowKind
    op: int
    old: int
    new: int
    rows: int
    lines: int = 1


class Rows(Sequence[Row]):
    """The rows of a diff in one mode. `expanded` names folded runs to show whole; `whole` unfolds all."""

    def __init__(
        self, diff: FileDiff, mode: Mode = "unified", *, whole: bool = False, expanded: frozenset[int] = frozenset()
    ) -> None:
        self.diff = diff
        self.mode = mode
        self.whole = whole
        self.expanded = expanded
        self._segments = list(self._segments_of())
        self._starts: list[int] = []
        self.changes: list[int] = []
        """The first row of every changed run."""
        self._pairs: dict[int, Sequence[int]] = {}
        row, last_changed = 0, -1
        for segment in self._segments:
            self._starts.append(row)
            if segment.kind not in ("same", "fold") and segment.op != last_changed:
                self.changes.append(row)
                last_changed = segment.op
            row += segment.rows
        self._length = row

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...

    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            return [self._row(i) for i in range(*index.indices(self._length))]
        if index < 0:
            index += self._length
        if not 0 <= index < self._length:
            raise IndexError(index)
        return self._row(index)

    def next_change(self, row: int) -> int | None:
        """The first row of the next changed run below a row."""
        at = bisect_right(self.changes, row)
        return self.changes[at] if at < len(self.changes) else None

    def previous_change(self, row: int) -> int | None:
        """The first row of the changed run that starts above a row."""
        at = bisect_right(self.changes, row - 1)
        return self.changes[at - 1] if at else None

    def row_of(self, side: Literal["old", "new"], line: int) -> int | None:
        """The row that shows a line (an index from 0), or the fold that hides it."""
        for start, segment in zip(self._starts, self._segments, strict=True):
            if segment.kind in ("removed", "added") and (segment.kind == "added") != (side == "new"):
                continue
            first = segment.new if side == "new" else segment.old
            if segment.kind == "changed":
                at = self._place_in_pairs(segment, side, line)
                if at is not None:
                    return start + at
            elif first <= line < first + segment.rows * segment.lines:
                return start + (0 if segment.kind == "fold" else line - first)
        return None

    def find(self, text: str, row: int, *, backwards: bool = False) -> int | None:
        """The nearest row after (or before) a row that shows the text or folds it away; case does not matter unless the
        text has capitals. Goes round at the end. None where no line has it."""
        fits = _Matcher(text)
        hits = {
            found
            for side, lines in (("old", self.diff.old), ("new", self.diff.new))
            for found in self._rows_with(side, lines, fits)
        }
        if not hits:
            return None
        ordered = sorted(hits)
        if backwards:
            return next((hit for hit in reversed(ordered) if hit < row), ordered[-1])
        return next((hit for hit in ordered if hit > row), ordered[0])

    def _rows_with(self, side: str, lines: Sequence[str], fits: _Matcher) -> Iterator[int]:
        """The rows of one side whose text fits, in one pass over the segments."""
        for start, segment in zip(self._starts, self._segments, strict=True):
            if segment.kind in ("same", "fold") and side == "old":
                continue
            if segment.kind in ("removed", "added") and (segment.kind == "added") != (side == "new"):
                continue
            if segment.kind == "changed":
                op = self.diff.ops[segment.op]
                span = range(op.old_start, op.old_end) if side == "old" else range(op.new_start, op.new_end)
            else:
                first = segment.new if side == "new" else segment.old
                span = range(first, first + segment.rows * segment.lines)
            for line in span:
                if fits(lines[line]):
                    yield start + self._offset(segment, side, line)

    def _offset(self, segment: _Segment, side: str, line: int) -> int:
        if segment.kind == "fold":
            return 0
        if segment.kind == "changed":
            return self._place_in_pairs(segment, side, line) or 0
        return line - (segment.new if side == "new" else segment.old)

    def _place_in_pairs(self, segment: _Segment, side: str, line: int) -> int | None:
        op = self.diff.ops[segment.op]
        start, end = (op.new_start, op.new_end) if side == "new" else (op.old_start, op.old_end)
        if not start <= line < end:
            return None
        shorter_is_old = op.old_end - op.old_start <= op.new_end - op.new_start
        if (side == "old") == shorter_is_old:
            return self._pairing(segment.op)[line - start]
        return line - start

    def _segments_of(self) -> Iterator[_Segment]:
        ops = self.diff.ops
        for index, op in enumerate(ops):
            if op.kind == "same":
                yield from self._same(index, op, first=index == 0, last=index == len(ops) - 1)
            elif self.mode == "split" and op.kind == "replaced":
                rows = max(op.old_end - op.old_start, op.new_end - op.new_start)
                yield _Segment("changed", index, op.old_start, op.new_start, rows)
            else:
                if op.old_end > op.old_start:
                    yield _Segment("removed", index, op.old_start, op.new_start, op.old_end - op.old_start)
                if op.new_end > op.new_start:
                    yield _Segment("added", index, op.old_start, op.new_start, op.new_end - op.new_start)

    def _same(self, index: int, op: Op, *, first: bool, last: bool) -> Iterator[_Segment]:
        length = op.old_end - op.old_start
        head = 0 if first else CONTEXT
        tail = 0 if last else CONTEXT
        hidden = length - head - tail
        if self.whole or index in self.expanded or hidden < 2:
            yield _Segment("same", index, op.old_start, op.new_start, length)
            return
        if head:
            yield _Segment("same", index, op.old_start, op.new_start, head)
        yield _Segment("fold", index, op.old_start + head, op.new_start + head, 1, hidden)
        if tail:
            yield _Segment("same", index, op.old_end - tail, op.new_end - tail, tail)

    def _row(self, index: int) -> Row:
        at = bisect_right(self._starts, index) - 1
        segment = self._segments[at]
        offset = index - self._starts[at]
        kind, op = segment.kind, segment.op
        if kind == "same":
            return Row("same", op, segment.old + offset, segment.new + offset)
        if kind == "fold":
            return Row("fold", op, segment.old, segment.new, lines=segment.lines)
        if kind == "removed":
            return Row("removed", op, old=segment.old + offset, partner=self._partner(op, "old", offset))
        if kind == "added":
            return Row("added", op, new=segment.new + offset, partner=self._partner(op, "new", offset))
        return self._changed(segment, offset)

    def _changed(self, segment: _Segment, offset: int) -> Row:
        op = self.diff.ops[segment.op]
        places = self._pairing(segment.op)
        shorter_is_old = op.old_end - op.old_start <= op.new_end - op.new_start
        short = _index(places, offset)
        old, new = (short, offset) if shorter_is_old else (offset, short)
        if old is None:
            return Row("added", segment.op, new=op.new_start + offset)
        if new is None:
            return Row("removed", segment.op, old=op.old_start + offset)
        return Row("changed", segment.op, op.old_start + old, op.new_start + new)

    def _partner(self, index: int, side: str, offset: int) -> int | None:
        op = self.diff.ops[index]
        if op.kind != "replaced":
            return None
        places = self._pairing(index)
        shorter_is_old = op.old_end - op.old_start <= op.new_end - op.new_start
        other_start = op.new_start if side == "old" else op.old_start
        if (side == "old") == shorter_is_old:
            return other_start + places[offset]
        beside = _index(places, offset)
        return None if beside is None else other_start + beside

    def _pairing(self, index: int) -> Sequence[int]:
        """For each line of a replacement's shorter side, the place on the longer side beside which it stands."""
        if index not in self._pairs:
            op = self.diff.ops[index]
            old = self.diff.old[op.old_start : op.old_end]
            new = self.diff.new[op.new_start : op.new_end]
            short, long = (old, new) if len(old) <= len(new) else (new, old)
            self._pairs[index] = pair_lines(short, long)
        return self._pairs[index]


def _index(places: Sequence[int], place: int) -> int | None:
    return places.index(place) if place in places else None


class _Matcher:
    """Whether a line holds a text: exactly if the text has capitals, else in any case."""

    def __init__(self, text: str) -> None:
        self._exact = text != text.lower()
        self._text = text

    def __call__(self, line: str) -> bool:
        return self._text in (line if self._exact else line.lower())


def pair_lines(short: Sequence[str], long: Sequence[str]) -> Sequence[int]:
    """For each line of the shorter side a place on the longer one, growing, so that paired lines are most alike.

    By place where both are equally long or the product of their lengths is large.
    """
    if len(short) == len(long) or len(short) * len(long) > _PAIRING_PRODUCT:
        return range(len(short))
    spare = len(long) - len(short)
    # best[i][k]: the most likeness of short[i:] when short[i] may stand at i+k or later.
    best = [[0.0] * (spare + 2) for _ in range(len(short) + 1)]
    for i in range(len(short) - 1, -1, -1):
        best[i][spare + 1] = float("-inf")
        for k in range(spare, -1, -1):
            best[i][k] = max(best[i][k + 1], alike(short[i], long[i + k]) + best[i + 1][k])
    places, k = [], 0
    for i in range(len(short)):
        while k < spare and alike(short[i], long[i + k]) + best[i + 1][k] < best[i][k]:
            k += 1
        places.append(i + k)
    return places
