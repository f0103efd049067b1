"""The rows of a diff."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.tui.diff.file_diff import FileDiff, file_diff
from reviewer_tui.tui.diff.rows import Mode, Rows, pair_lines

OLD = "a\nb\nc\nd\ne\nf\ng\nh\nimage: v1\nmodel: z\nlast\n"
NEW = "a\nb\nc\nd\ne\nf\ng\nh\nnew: 1\nimage: v2\nmodel: z\nlast\n"
TEXT = st.lists(st.sampled_from(["a", "b", "key: 1", "key: 2", "", "other: 1"]), max_size=30).map("\n".join)


def made(old: str, new: str) -> FileDiff:
    return file_diff("x.yaml", old.encode(), new.encode())


def shown(rows: Rows) -> list[str]:
    """Rows as people write them."""
    signs = {"same": " ", "removed": "-", "added": "+", "changed": "~", "fold": "."}
    texts = []
    for row in rows:
        sides = [
            None if index is None else lines[index]
            for index, lines in ((row.old, rows.diff.old), (row.new, rows.diff.new))
        ]
        if row.kind == "fold":
            texts.append(f".{row.lines}")
        elif row.kind == "changed":
            texts.append(f"~{sides[0]}|{sides[1]}")
        else:
            texts.append(f"{signs[row.kind]}{sides[1] if sides[0] is None else sides[0]}")
    return texts


def test_unified_rows_fold_what_is_far_from_a_change() -> None:
    rows = Rows(made(OLD, NEW))
    assert shown(rows) == [".5", " f", " g", " h", "-image: v1", "+new: 1", "+image: v2", " model: z", " last"]
    assert rows.changes == [4]


def test_a_changed_line_knows_the_line_it_came_from() -> None:
    rows = Rows(made(OLD, NEW))
    removed, new, changed = rows[4:7]
    assert (removed.partner, new.partner, changed.partner) == (9, None, 8)


def test_split_rows_stand_beside_their_like() -> None:
    assert shown(Rows(made(OLD, NEW), "split"))[4:6] == ["+new: 1", "~image: v1|image: v2"]


def test_a_fold_is_opened_alone_or_all_are() -> None:
    diff = made(OLD, NEW)
    assert shown(Rows(diff, expanded=frozenset({0})))[:2] == [" a", " b"]
    assert len(Rows(diff, whole=True)) == 13


def test_the_ways_to_the_changes() -> None:
    lines = [f"line {i}" for i in range(60)]
    changed = [f"{line}!" if i in (10, 30, 50) else line for i, line in enumerate(lines)]
    rows = Rows(made("\n".join(lines), "\n".join(changed)))
    first, second, third = rows.changes
    assert rows.next_change(0) == first
    assert rows.next_change(first) == second
    assert rows.next_change(third) is None
    assert rows.previous_change(third) == second
    assert rows.previous_change(third + 1) == third
    assert rows.previous_change(first) is None


def test_a_line_is_found_behind_its_fold() -> None:
    rows = Rows(made(OLD, NEW))
    assert rows.row_of("new", 2) == 0
    assert rows[rows.row_of("new", 9) or 0].new == 9
    assert rows.row_of("new", 99) is None


def test_searching_goes_round_and_regards_capitals_only_where_there_are_some() -> None:
    rows = Rows(made(OLD, NEW))
    assert [rows.find("image", row) for row in (0, 4, 6)] == [4, 6, 4]
    assert rows.find("image", 4, backwards=True) == 6
    assert rows.find("Image", 0) is None
    assert rows.find("b", 3) == 0, "the fold that hides it"


@pytest.mark.parametrize("mode", ["unified", "split"])
@pytest.mark.parametrize("whole", [False, True])
@given(old=TEXT, new=TEXT)
@settings(max_examples=40, deadline=None)
def test_every_line_of_both_sides_is_in_exactly_one_row(old: str, new: str, mode: Mode, whole: bool) -> None:
    rows = Rows(made(old, new), mode, whole=whole)
    seen: dict[str, list[int]] = {"old": [], "new": []}
    for at, row in enumerate(rows):
        for side, index in (("old", row.old), ("new", row.new)):
            if index is not None:
                seen[side] += range(index, index + row.lines)
                name: Literal["old", "new"] = "old" if side == "old" else "new"
                assert rows.row_of(name, index) == at
    assert sorted(seen["old"]) == list(range(len(rows.diff.old)))
    assert sorted(seen["new"]) == list(range(len(rows.diff.new)))
    assert rows.changes == [
        at for at, row in enumerate(rows) if row.kind not in ("same", "fold") and (at == 0 or rows[at - 1].op != row.op)
    ]


def test_lines_are_paired_by_likeness() -> None:
    assert list(pair_lines(["image: v1", "model: a"], ["new: 1", "image: v2", "other: 3", "model: b"])) == [1, 3]
    assert list(pair_lines([], ["x"])) == []


def test_rows_of_a_long_file_are_made_when_asked_for() -> None:
    """A quarter of a million rows are a handful of segments."""
    lines = [f"line {i}" for i in range(250_000)]
    rows = Rows(made("\n".join(lines), "\n".join([*lines[:200_000], "new", *lines[200_000:]])), whole=True)
    assert len(rows) == 250_001
    assert len(rows._segments) == 3
    assert rows[200_000].kind == "added"
