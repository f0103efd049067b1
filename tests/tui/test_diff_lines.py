"""Which lines of a file changed."""

from __future__ import annotations

import time
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.tui.diff.lines import Op, diff_lines

LINES = st.lists(st.sampled_from(["a", "b", "c", "  x: 1", "  x: 2", "", "- y"]), max_size=40)


def rebuilt(ops: list[Op], old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Both sides as the runs tell them."""
    left = [line for op in ops for line in old[op.old_start : op.old_end]]
    right = [
        line
        for op in ops
        for line in (old[op.old_start : op.old_end] if op.kind == "same" else new[op.new_start : op.new_end])
    ]
    return left, right


@given(LINES, LINES)
@settings(max_examples=80, deadline=None)
def test_the_runs_make_the_new_side_of_the_old_one(old: list[str], new: list[str]) -> None:
    ops = diff_lines(old, new)
    assert rebuilt(ops, old, new) == (old, new)
    for before, after in pairwise(ops):
        assert (before.old_end, before.new_end) == (after.old_start, after.new_start)
        assert before.kind != after.kind
    for op in ops:
        empty = (op.old_start == op.old_end, op.new_start == op.new_end)
        assert (
            empty
            == {"same": (False, False), "replaced": (False, False), "removed": (False, True), "added": (True, False)}[
                op.kind
            ]
        )


@given(LINES)
@settings(max_examples=50, deadline=None)
def test_equal_sides_have_no_change(lines: list[str]) -> None:
    assert [op.kind for op in diff_lines(lines, list(lines))] == (["same"] if lines else [])


def test_a_moved_block_is_one_removal_and_one_addition() -> None:
    block = [f"moved {i}" for i in range(5)]
    rest = [f"line {i}" for i in range(20)]
    ops = diff_lines([*block, *rest], [*rest, *block])
    assert [op.kind for op in ops] == ["removed", "same", "added"]


def test_an_added_block_starts_at_its_own_head() -> None:
    """Where an addition may stand at several places, the one that starts with the least indented line is taken."""
    old = ["key-a:", "  image: x", "  runner: y", "key-c:", "  image: x", "  runner: y"]
    new = [*old[:3], "key-b:", "  image: x", "  runner: y", *old[3:]]
    (op,) = [op for op in diff_lines(old, new) if op.kind != "same"]
    assert new[op.new_start : op.new_end] == ["key-b:", "  image: x", "  runner: y"]


def test_nothing_repeated_makes_it_slow() -> None:
    """Two sides of nothing but a few repeated lines are the worst case of every matcher."""
    old, new = ["x", "y"] * 20_000, ["y", "x", "x"] * 20_000
    started = time.perf_counter()
    ops = diff_lines(old, new)
    assert time.perf_counter() - started < 2
    assert rebuilt(ops, old, new) == (old, new)
