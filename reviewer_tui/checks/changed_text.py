"""Changed files as text: both sides, and which lines of the head are new."""

from __future__ import annotations

from collections import Counter

import msgspec

from reviewer_tui.checks.check import Evidence
from reviewer_tui.checks.serving import can_serve
from reviewer_tui.model.part import Part, complete, unavailable
from reviewer_tui.model.pull_request import ChangedFile
from reviewer_tui.model.tree import Tree, read_text
from reviewer_tui.policy.layout import discover_layout, locate

MAX_TEXT = 2_000_000
"""Bytes of one file that are read; the longest text file of the repository has 400,000."""

_REGULAR = ("100644", "100755", None)


class ChangedText(msgspec.Struct, frozen=True, kw_only=True):
    """A changed file at head: `text` there, `base` before (None for a new file), `added` the numbers (from 1) of the
    lines that are new."""

    path: str
    text: str
    base: str | None
    added: frozenset[int]

    def adds(self, line: int, end_line: int) -> bool:
        """Whether any of these lines (inclusive) is new."""
        if self.base is None:
            return True
        return any(number in self.added for number in range(line, end_line + 1))

    @property
    def loses_lines(self) -> bool:
        """Whether the base had lines that are gone."""
        return bool(Counter((self.base or "").split("\n")) - Counter(self.text.split("\n"))) and self.base is not None

    @property
    def added_lines(self) -> list[tuple[int, str]]:
        """Number and text of each new line, in order."""
        lines = self.text.split("\n")
        return [(number, lines[number - 1]) for number in sorted(self.added)]


def changed_text(evidence: Evidence, file: ChangedFile) -> Part[ChangedText]:
    """The text of a changed file that is there at head; unavailable, with the reason, where it is no plain text."""
    if file.new_mode == "160000":
        return unavailable(f"{file.path} is a submodule; its files are in another repository.")
    if file.new_mode not in _REGULAR:
        return unavailable(f"{file.path} is a symbolic link, which is never followed.")
    content = evidence.trees.head.read(file.path)
    if content is None:
        return unavailable(f"{file.path} could not be read at head.")
    if len(content) > MAX_TEXT:
        return unavailable(f"{file.path} is larger than {MAX_TEXT // 1_000_000} MB and was not read.")
    if b"\0" in content:
        return unavailable(f"{file.path} is a binary file.")
    text = content.decode("utf-8", "replace").replace("\r\n", "\n")
    base = _base(evidence.trees.base, file)
    return complete(ChangedText(path=file.path, text=text, base=base, added=added_lines(base, text)))


def _base(tree: Tree, file: ChangedFile) -> str | None:
    """The file before: under its former name, its own, or the one it had in the base's layout. Where it could not
    serve under its former name (in an archive, among documents), all of it is new."""
    layout = discover_layout(tree)
    for path in dict.fromkeys((file.previous_path or file.path, file.path)):
        if (text := read_text(tree, path)) is not None and (path == file.path or can_serve(path, layout, tree)):
            return text.replace("\r\n", "\n")
    moved = locate(file.path, layout)
    text = read_text(tree, moved) if moved != file.path else None
    return None if text is None else text.replace("\r\n", "\n")


def added_lines(old: str | None, new: str) -> frozenset[int]:
    """The numbers (from 1) of lines of `new` that `old` does not hold. A line that only moved is not new; of equal
    lines the last ones are. Linear in the length of both."""
    after = new.split("\n")
    if old is None:
        return frozenset(range(1, len(after) + 1))
    before = old.split("\n")
    start, limit = 0, min(len(before), len(after))
    while start < limit and before[start] == after[start]:
        start += 1
    end = 0
    while end < limit - start and before[-1 - end] == after[-1 - end]:
        end += 1
    known = Counter(before[start : len(before) - end])
    found: set[int] = set()
    for number in range(start, len(after) - end):
        line = after[number]
        if known[line] > 0:
            known[line] -= 1
        else:
            found.add(number + 1)
    return frozenset(found)
