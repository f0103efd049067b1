"""Changed files as text: both sides, and which lines of the head are new."""

from __future__ import annotations

import re
from collections import Counter

import msgspec

from reviewer_tui.checks.check import Evidence
from reviewer_tui.model.part import Part, complete, unavailable
from reviewer_tui.model.pull_request import ChangedFile
from reviewer_tui.model.tree import Tree, read_text
from reviewer_tui.policy.layout import discover_layout, locate

MAX_TEXT = 2_000_000
"""Bytes of one file that are read; the longest text file of the repository has 400,000."""

_HEREDOC = re.compile(r"(?<!<)<<-?\s*[\\\"']?([A-Za-z_]\w*)")
_MOST_CONTINUED = 200
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
    def added_lines(self) -> list[tuple[int, str]]:
        """Number and text of each new line, in order."""
        lines = self.text.split("\n")
        return [(number, lines[number - 1]) for number in sorted(self.added)]

    @property
    def added_commands(self) -> str:
        """The new lines of a script but for comments, each behind the head of the command or here-document that it
        continues."""
        lines = self.text.split("\n")
        if self.base is None:
            return "\n".join(line for line in lines if not line.lstrip().startswith("#"))
        inside = _in_heredocs(lines)
        found: list[str] = []
        for number in sorted(self.added):
            line, head = lines[number - 1], inside.get(number)
            if head is None and line.lstrip().startswith("#"):
                continue
            start = number - 1
            while start > 0 and lines[start - 1].endswith("\\") and number - start < _MOST_CONTINUED:
                start -= 1
            found += [lines[head - 1]] if head else lines[start : number - 1]
            found.append(line)
        return "\n".join(found)


def _in_heredocs(lines: list[str]) -> dict[int, int]:
    """Each line (from 1) of a here-document with the line that begins it."""
    inside: dict[int, int] = {}
    head, mark = 0, ""
    for number, line in enumerate(lines, 1):
        if mark:
            inside[number] = head
            mark = "" if line.strip() == mark else mark
        elif "<<" in line and (opened := _HEREDOC.search(line)):
            head, mark = number, opened[1]
    return inside


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
    """The file before: under its former name, its own, or the one it had in the base's layout."""
    for path in dict.fromkeys((file.previous_path or file.path, file.path)):
        if (text := read_text(tree, path)) is not None:
            return text.replace("\r\n", "\n")
    moved = locate(file.path, discover_layout(tree))
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
