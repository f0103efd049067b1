"""Master configs: config keys as blocks of text, parsed only where somebody asks for them.

An entry is a top-level block of the file, so two revisions can be compared block by block and only what differs is
parsed. A file that is not written that way (anchors, several documents, a key in quotes, ...) is parsed whole; both
ways give the same entries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from reviewer_tui.model.config import Entry
from reviewer_tui.model.finding import Problem
from reviewer_tui.sweeps.document import Document, read_document
from reviewer_tui.sweeps.plain import read_plain

MAX_ENTRY_KEY = 200

# A top-level key alone on its line.
_KEY_LINE = re.compile(r"([A-Za-z0-9_][\w./+-]*):[ ]*(?:#.*)?$")
# Tabs, other line ends, directives and document marks reach beyond a block; so do anchors, aliases and tags.
_OTHER_BREAKS = re.compile(r"[\t\r\0\u0085\u2028\u2029\ufeff]")
_DOCUMENT_MARK = re.compile(r"^(?:---|\.\.\.|%)", re.MULTILINE)
_ANCHOR_OR_TAG = re.compile(r"[&*!](?<![^\s\[{,:-].)(?=[^\s=&])")
_QUOTED = re.compile(r"""([\[{,:-]\s*)(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')""")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_TOP_LINE = re.compile(r"^[^ #\n].*", re.MULTILINE)
# Indented lines with a quote or bracket, but for those with one plain quotation or one flat flow value at the end.
_NOT_SIMPLE = re.compile(
    r"""^(?=\ [^"'\[\]{}\n]*["'\[\]{}])
    (?!\ *\#|[^"'\[\]{}\#\n]*(?:"[^"\\\n]*"|\[[^"'\[\]{}\#\n]*\]|\{[^"'\[\]{}\#\n]*\})\ *$).*""",
    re.MULTILINE | re.VERBOSE,
)


class Block:
    """The lines of one top-level key, from its line to its last line that is no comment (both from 1)."""

    __slots__ = ("end_line", "key", "line", "text")

    def __init__(self, key: str, line: int, end_line: int, text: str) -> None:
        self.key = key
        self.line = line
        self.end_line = end_line
        self.text = text


class MasterConfig:
    """One master config: its keys in the file's order, and each key's block, entry and faults on demand."""

    def __init__(self, text: str, path: str) -> None:
        self.path = path
        self.text = text
        self._entries: dict[str, Entry] = {}
        self._problems: dict[str, tuple[Problem, ...]] = {}
        self._whole: Document | None = None
        blocks, self._faults = _split(text, path)
        self._blocks = {} if blocks is None else {block.key: block for block in blocks}
        if blocks is None:
            self._parse_whole()

    @property
    def keys(self) -> tuple[str, ...]:
        """The config keys in the file's order."""
        return tuple(self._blocks)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The faults of the file as YAML, of the keys parsed so far; the schema's are `schema.check_entry`."""
        return (*self._faults, *(problem for key in self._problems for problem in self._problems[key]))

    def block(self, key: str) -> Block | None:
        """The text of a key."""
        return self._blocks.get(key)

    def same_block(self, other: MasterConfig, key: str) -> bool:
        """Whether a key is written alike in both files. False says nothing: the values may still be equal."""
        if self is other:
            return True
        if self._whole is not None or other._whole is not None:
            return False
        mine, theirs = self._blocks.get(key), other._blocks.get(key)
        return mine is not None and theirs is not None and mine.text == theirs.text

    def entry(self, key: str) -> Entry | None:
        """One entry; None where the key is absent or its block cannot be read (then `problems` says why)."""
        if key not in self._blocks:
            return None
        if key not in self._entries and self._whole is None:
            self._parse_block(self._blocks[key])
        return self._entries.get(key)

    def entries(self, keys: Iterable[str] | None = None) -> dict[str, Entry]:
        """The entries of these keys (None: all) that can be read, in the order of the file."""
        wanted = self._blocks if keys is None else set(keys)
        found: dict[str, Entry] = {}
        for key in self.keys:
            if key in wanted and (entry := self.entry(key)) is not None:
                found[key] = entry
        return found

    def _parse_block(self, block: Block) -> None:
        read = read_plain(block.text.partition("\n")[2], block.line + 1)
        if read is not None:
            self._add(block, *read, ())
            return
        document = read_document(block.text, self.path)
        if not isinstance(document.value, dict) or list(document.value) != [block.key]:
            # The block is no mapping of its key by itself, so its borders may be wrong: only the whole file can tell.
            self._parse_whole()
            return
        problems = tuple(_moved(problem, block.line - 1) for problem in document.problems)
        self._add(block, document.value[block.key], _below(document.lines, block.key, block.line - 1), problems)

    def _parse_whole(self) -> None:
        """The tested fall-back: read the file as one document."""
        self._entries, self._problems = {}, {}
        document = read_document(self.text, self.path)
        self._whole = document
        self._faults = list(document.problems)
        self._blocks = {}
        if not isinstance(document.value, dict):
            if document.readable:
                message = "The file is no mapping of config keys."
                self._faults.append(Problem(path=self.path, message=message, rule="no-mapping", line=1, column=1))
            return
        keys = {str(key): value for key, value in document.value.items()}
        for block in _blocks_of(self.text, document, keys):
            self._blocks[block.key] = block
            self._add(block, keys[block.key], _below(document.lines, block.key, 0), ())

    def _add(self, block: Block, fields: Any, lines: dict[str, int], problems: tuple[Problem, ...]) -> None:
        found = list(problems)
        if "*" in block.key:
            message = f"The config key {block.key!r} holds a '*', which is kept for patterns."
            found.append(Problem(path=self.path, message=message, rule="wildcard-key", line=block.line, column=1))
        if isinstance(fields, dict):
            self._entries[block.key] = Entry(
                key=block.key,
                path=self.path,
                line=block.line,
                end_line=block.end_line,
                fields=fields,
                lines=lines,
            )
        else:
            message = f"The config key {block.key!r} has no mapping of fields."
            found.append(Problem(path=self.path, message=message, rule="no-fields", line=block.line, column=1))
        self._problems[block.key] = tuple(found)


def parse_master(text: bytes | str, path: str) -> MasterConfig:
    """A master config, split into blocks; entries are parsed when asked for. Never fails: faults are problems."""
    decoded = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return MasterConfig(decoded.removeprefix("\ufeff"), path)


def duplicates(masters: Iterable[MasterConfig]) -> tuple[Problem, ...]:
    """Config keys that stand in more than one file, which the repository's loader refuses."""
    seen: dict[str, MasterConfig] = {}
    found: list[Problem] = []
    for master in masters:
        for key in master.keys:
            if key in seen:
                block = master.block(key)
                message = f"The config key {key!r} is also in {seen[key].path}."
                line = block.line if block else None
                found.append(
                    Problem(path=master.path, message=message, rule="duplicate-across-files", line=line, column=1)
                )
            else:
                seen[key] = master
    return tuple(found)


def _below(lines: Mapping[str, int], key: str, shift: int) -> dict[str, int]:
    """The lines of what is below a top-level key, under their paths inside of it."""
    start = f"{key}."
    return {path[len(start) :]: line + shift for path, line in lines.items() if path.startswith(start)}


def _moved(problem: Problem, lines: int) -> Problem:
    line = None if problem.line is None else problem.line + lines
    return Problem(path=problem.path, message=problem.message, rule=problem.rule, line=line, column=problem.column)


def _split(text: str, path: str) -> tuple[list[Block] | None, list[Problem]]:
    """The blocks of a file that is written as one; None where only the whole file can be read."""
    if _reaches_beyond_blocks(text) or any(_stays_open(line) for line in _NOT_SIMPLE.findall(text)):
        return None, []
    starts: list[tuple[str, int]] = []
    problems: list[Problem] = []
    seen: set[str] = set()
    line, counted = 1, 0
    for match in _TOP_LINE.finditer(text):
        line, counted = line + text.count("\n", counted, match.start()), match.start()
        key = _KEY_LINE.match(match[0])
        if key is None or len(key[1]) > MAX_ENTRY_KEY or _reads_otherwise(key[1]):
            return None, []
        if key[1] in seen:
            message = f"The key {key[1]!r} is given twice; the last one counts."
            problems.append(Problem(path=path, message=message, rule="duplicate-key", line=line, column=1))
        seen.add(key[1])
        starts.append((key[1], line - 1))
    lines = text.split("\n")
    if any(line.strip(" ") and line.lstrip(" ")[0] != "#" for line in lines[: starts[0][1] if starts else None]):
        return None, []
    return _cut(lines, starts), problems


def _reaches_beyond_blocks(text: str) -> bool:
    if _OTHER_BREAKS.search(text) or _DOCUMENT_MARK.search(text):
        return True
    for match in _ANCHOR_OR_TAG.finditer(text):
        before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if "#" not in before or '"' in before or "'" in before:
            return True
    return False


def _cut(lines: list[str], starts: list[tuple[str, int]]) -> list[Block]:
    blocks: list[Block] = []
    ends = [*(start for _, start in starts[1:]), len(lines)][: len(starts)]
    for (key, start), end in zip(starts, ends, strict=True):
        last = end - 1
        while last > start and (not lines[last].strip(" ") or lines[last].lstrip(" ")[0] == "#"):
            last -= 1
        blocks.append(Block(key, start + 1, last + 1, "\n".join(lines[start : last + 1])))
    return blocks


def _reads_otherwise(key: str) -> bool:
    """Whether YAML may read an unquoted key as something else than this text (a number, a date, yes or no)."""
    return not key[0].isalpha() or key.lower() in ("yes", "no", "true", "false", "on", "off", "null")


def _stays_open(line: str) -> bool:
    """Whether a bracket or a quotation that begins on this line may end on another one."""
    bare = _COMMENT.sub("", _QUOTED.sub(r"\1", line))
    if '"' in bare or "'" in bare:
        return True
    depth = 0
    for mark in bare:
        if mark in "[{":
            depth += 1
        elif mark in "]}":
            depth -= 1
            if depth < 0:
                return True
    return depth != 0


def _blocks_of(text: str, document: Document, keys: Mapping[str, Any]) -> Iterable[Block]:
    lines = text.split("\n")
    starts = sorted((document.lines.get(key, 1) - 1, key) for key in keys)
    order = {key: index for index, key in enumerate(keys)}
    blocks = _cut(lines, [(key, start) for start, key in starts])
    return sorted(blocks, key=lambda block: order[block.key])
