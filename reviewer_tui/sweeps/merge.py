"""What a merge would give: a three-way merge of texts, and a tree that reads as main with the branch's changes in it.

Master configs are merged key by key, so that changes of two keys that stand next to each other never collide.
"""

from __future__ import annotations

from collections.abc import Sequence

from reviewer_tui.model.finding import Problem
from reviewer_tui.model.tree import Tree, git_blob_id
from reviewer_tui.policy.layout import Layout
from reviewer_tui.sweeps.lines import steps
from reviewer_tui.sweeps.master import MasterConfig, parse_master


def merge_texts(base: str, ours: str, theirs: str) -> tuple[str, tuple[int, ...]]:
    """Three-way merge by lines: the merged text, and the lines in it (from 1) at which both sides changed the same.

    Where both changed the same lines otherwise, `ours` is kept. Changes next to each other do not collide.
    """
    if ours == theirs or theirs == base:
        return ours, ()
    if ours == base:
        return theirs, ()
    return _merge_lines(*(text.split("\n") for text in (base, ours, theirs)))


def _merge_lines(base: list[str], ours: list[str], theirs: list[str]) -> tuple[str, tuple[int, ...]]:
    mine, yours = _anchors(base, ours), _anchors(base, theirs)
    merged: list[str] = []
    collisions: list[int] = []
    start = our_start = their_start = 0
    # Lines of the base that both sides kept hold the three texts together; between them lie the changes.
    kept = [(line, mine[line], yours[line]) for line in sorted(mine.keys() & yours.keys())]
    for line, our_line, their_line in [*kept, (len(base), len(ours), len(theirs))]:
        before, one, other = base[start:line], ours[our_start:our_line], theirs[their_start:their_line]
        if one == other or other == before:
            merged.extend(one)
        elif one == before:
            merged.extend(other)
        elif not before:
            # Both put something in at the same place: theirs is there already, ours comes behind.
            merged.extend([*other, *one])
        else:
            collisions.append(len(merged) + 1)
            merged.extend(one)
        merged.extend(base[line : line + 1])
        start, our_start, their_start = line + 1, our_line + 1, their_line + 1
    return "\n".join(merged), tuple(collisions)


def _anchors(base: Sequence[str], other: Sequence[str]) -> dict[int, int]:
    """Lines of the base that the other side kept, with their place there."""
    found: dict[int, int] = {}
    for kind, start, end, other_start, other_end in steps(base, other):
        if kind == "equal":
            found.update(zip(range(start, end), range(other_start, other_end), strict=True))
    return found


class MergedTree:
    """The files as they would be if the branch were merged into main now; paths are main's.

    Unlike git it never stops: where both sides changed the same lines, the branch's are kept and `collisions` says so
    of the files read so far. Files that only moved with the layout are paired by it.
    """

    def __init__(self, base: Tree, branch: Tree, main: Tree, layouts: tuple[Layout, Layout, Layout]) -> None:
        """`layouts` are those of the merge base, the branch and main."""
        self._base, self._branch, self._main = base, branch, main
        self._layouts = layouts
        self._made: dict[str, bytes] = {}
        self.collisions: list[Problem] = []

    @property
    def revision(self) -> str:
        return f"merge of {self._branch.revision} into {self._main.revision}"

    def read(self, path: str) -> bytes | None:
        source = self._source(path)
        if source is not None:
            tree, place = source
            return None if place is None else tree.read(place)
        if path not in self._made:
            self._made[path] = self._merged(path)
        return self._made[path]

    def blob(self, path: str) -> str | None:
        source = self._source(path)
        if source is None:
            content = self.read(path)
            return None if content is None else git_blob_id(content)
        tree, place = source
        return None if place is None else tree.blob(place)

    def list(self, prefix: str) -> tuple[str, ...]:
        branch_layout, main_layout = self._layouts[1], self._layouts[2]
        there = self._branch.list(relocated(prefix, main_layout, branch_layout))
        names = {*self._main.list(prefix), *(relocated(path, branch_layout, main_layout) for path in there)}
        return tuple(sorted(path for path in names if self._exists(path)))

    def _places(self, path: str) -> tuple[str, str, str]:
        base_layout, branch_layout, main_layout = self._layouts
        return relocated(path, main_layout, base_layout), relocated(path, main_layout, branch_layout), path

    def _blobs(self, path: str) -> tuple[str | None, str | None, str | None]:
        trees = (self._base, self._branch, self._main)
        base, branch, main = (tree.blob(place) for tree, place in zip(trees, self._places(path), strict=True))
        return base, branch, main

    def _exists(self, path: str) -> bool:
        base, branch, main = self._blobs(path)
        return (main if branch == base else branch if main == base else branch or main) is not None

    def _source(self, path: str) -> tuple[Tree, str | None] | None:
        """The side that a file is taken from whole, and its path there (None: it is gone); None where both changed."""
        base, branch, main = self._blobs(path)
        _, branch_path, _ = self._places(path)
        if branch in (base, main):
            return self._main, path if main is not None else None
        if main == base:
            return self._branch, branch_path if branch is not None else None
        if branch is None or main is None:
            # One side deleted what the other changed: git would stop here; what is left is kept.
            return (self._main, path) if branch is None else (self._branch, branch_path)
        return None

    def _merged(self, path: str) -> bytes:
        base_path, branch_path, _ = self._places(path)
        base, branch, main = (
            (tree.read(place) or b"").decode("utf-8", "replace")
            for tree, place in ((self._base, base_path), (self._branch, branch_path), (self._main, path))
        )
        if path in self._layouts[2].master_configs:
            text, collisions = merge_masters(*(parse_master(side, path) for side in (base, branch, main)))
        else:
            text, collisions = merge_texts(base, branch, main)
        for line in collisions:
            message = "The branch and main both changed these lines; the branch's are kept here."
            self.collisions.append(Problem(path=path, message=message, rule="merge-collision", line=line))
        return text.encode()


def relocated(path: str, source: Layout, target: Layout) -> str:
    """The name of a file in another layout."""
    if source.configs == target.configs and source.root == target.root:
        return path
    if source.configs and target.configs and (path == source.configs or path.startswith(f"{source.configs}/")):
        return f"{target.configs}{path[len(source.configs) :]}"
    inside = path.removeprefix(source.root)
    return path if inside.startswith(".github") else f"{target.root}{inside}"


def merge_masters(base: MasterConfig, branch: MasterConfig, main: MasterConfig) -> tuple[str, tuple[int, ...]]:
    """Main's text with the branch's changes in it, key by key, and the lines at which both changed the same."""
    parts: list[str] = []
    collisions: list[int] = []
    lines = main.text.split("\n")
    written = 0

    def write(text: str) -> None:
        nonlocal written
        parts.append(text)
        written += text.count("\n") + 1

    position = 0
    for key in main.keys:
        block = main.block(key)
        assert block is not None
        if block.line - 1 > position:
            write("\n".join(lines[position : block.line - 1]))
        position = block.end_line
        old, ours = base.block(key), branch.block(key)
        if ours is None and old is not None and old.text == block.text:
            continue
        if ours is None or (old is not None and ours.text == old.text):
            write(block.text)
            continue
        text, found = merge_texts(old.text if old else "", ours.text, block.text)
        collisions.extend(written + line for line in found)
        write(text)
    write("\n".join(lines[position:]))
    for key in branch.keys:
        ours, old = branch.block(key), base.block(key)
        if ours is not None and main.block(key) is None and (old is None or old.text != ours.text):
            write(ours.text)
    return "\n".join(parts).rstrip("\n") + "\n", tuple(collisions)
