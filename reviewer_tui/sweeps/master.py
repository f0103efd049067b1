"""Master configs: config keys as blocks of text, parsed only where somebody asks for them.

An entry is a top-level block of the file, so two revisions can be compared block by block and only what differs is
parsed. A file that is not written that way (anchors, several documents, a key in quotes, ...) is parsed whole; both
ways give the same entries.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Container, Iterable, Mapping
from typing import Any, NamedTuple

from reviewer_tui.model.config import Entry
from reviewer_tui.model.finding import Problem
from reviewer_tui.sweeps.document import Document, read_document
from reviewer_tui.sweeps.plain import read_plain

MAX_ENTRY_KEY = 200
_MAX_LAST = 8  # files of which a version is remembered

# A top-level key alone on its line.
_KEY_LINE = re.compile(r"([A-Za-z0-9_][\w./+-]*):[ ]*(?:#.*)?$")
# Tabs and other line ends make lines that are not what they seem.
_OTHER_BREAKS = re.compile(r"[\t\r\0\u0085\u2028\u2029\ufeff]")
_ANCHOR = re.compile(r"&(?<![^\s\[{,:-].)([^\s,\[\]{}]+)")
_ALIAS = re.compile(r"[*](?<![^\s\[{,:-].)([^\s,\[\]{}]+)")
_QUOTED = re.compile(r"""([\[{,:-]\s*)(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')""")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_CONTENT = re.compile(r"^ *[^ #\n]", re.MULTILINE)
_TOP_LINE = re.compile(r"^[^ #\n].*", re.MULTILINE)
# Indented lines with a quote or bracket, but for those with one plain quotation or one flat flow value at the end.
_NOT_SIMPLE = re.compile(
    r"""^(?=\ [^"'\[\]{}\n]*["'\[\]{}])
    (?!\ *\#|[^"'\[\]{}\#\n]*(?:"[^"\\\n]*"|\[[^"'\[\]{}\#\n]*\]|\{[^"'\[\]{}\#\n]*\})\ *$).*""",
    re.MULTILINE | re.VERBOSE,
)


class Block(NamedTuple):
    """The lines of one top-level key, from its line (from 1) to its last line that is no comment; `start` counts the
    characters of the file before it."""

    key: str
    line: int
    start: int
    text: str

    @property
    def end_line(self) -> int:
        return self.line + self.text.count("\n")


class MasterConfig:
    """One master config: its keys in the file's order, and each key's block, entry and faults on demand."""

    def __init__(
        self, text: str, path: str, like: MasterConfig | None = None, faults: tuple[Problem, ...] = ()
    ) -> None:
        """`faults` are those of the bytes that the text was read from."""
        self._byte_faults = faults
        self.path = path
        self.text = text
        self._entries: dict[str, Entry] = {}
        self._problems: dict[str, tuple[Problem, ...]] = {}
        self._whole: Document | None = None
        self._faults: list[Problem] = []
        blocks = None
        if like is not None and like._settled()._whole is None and not like._faults:
            blocks = _split_like(text, like)
        if blocks is None:
            blocks, self._faults = _split(text, path)
        self._blocks = {block.key: block for block in blocks or ()}
        self._unsure = [block.text for block in blocks or ()]
        if blocks is None:
            self._parse_whole()

    def _settled(self) -> MasterConfig:
        """This file, once it is sure where its blocks end: no bracket or quotation reaches from one into the next."""
        if any(_reaches_on(block) for block in self._unsure):
            self._parse_whole()
        self._unsure = []
        return self

    @property
    def keys(self) -> tuple[str, ...]:
        """The config keys in the file's order."""
        return tuple(self._settled()._blocks)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The faults of the file as YAML, of the keys parsed so far; the schema's are `schema.check_entry`."""
        self._settled()
        return (
            *self._byte_faults,
            *self._faults,
            *(problem for key in self._problems for problem in self._problems[key]),
        )

    def block(self, key: str) -> Block | None:
        """The text of a key."""
        return self._settled()._blocks.get(key)

    def same_block(self, other: MasterConfig, key: str) -> bool:
        """Whether a key is written alike and means the same in both files. It may do so in other words, too."""
        if self is other:
            return True
        mine, theirs = self.block(key), other.block(key)
        if mine is None or theirs is None or mine.text != theirs.text:
            return False
        if self._whole is None and other._whole is None:
            return True
        # What a block means may be said elsewhere in the file, by an anchor.
        one, two = self.entry(key), other.entry(key)
        return one is not None and two is not None and one.fields == two.fields

    def entry(self, key: str) -> Entry | None:
        """One entry; None where the key is absent or its block cannot be read (then `problems` says why)."""
        block = self.block(key)
        if block is not None and key not in self._entries and self._whole is None:
            self._parse_block(block)
        return self._entries.get(key)

    def entries(self, keys: Iterable[str] | None = None) -> dict[str, Entry]:
        """The entries of these keys (None: all) that can be read, in the order of the file."""
        if keys is None and self._unsure and all(self._parse_plain(block) for block in self._blocks.values()):
            # Blocks whose every line is complete in itself end where they seem to.
            self._unsure = []
        wanted = self._settled()._blocks if keys is None else set(keys)
        found: dict[str, Entry] = {}
        for key in self.keys:
            if key in wanted and (entry := self.entry(key)) is not None:
                found[key] = entry
        return found

    def _parse_plain(self, block: Block) -> bool:
        """Parse a block by the fast lane; False where it is not for that."""
        if block.key in self._entries:
            return True
        read = _read_block(block.text, block.line)
        if read is not None:
            self._add(block, *read, ())
        return read is not None

    def _parse_block(self, block: Block) -> None:
        if self._parse_plain(block):
            return
        document = read_document(block.text, self.path)
        if not isinstance(document.value, dict) or list(document.value) != [block.key]:
            # The block is no mapping of its key by itself, so its borders may be wrong: only the whole file can tell.
            self._parse_whole()
            return
        shift = block.line - 1
        problems = tuple(_moved(problem, shift) for problem in document.problems)
        lines = _below(document.lines, document.value).get(block.key, {})
        moved = {path: line + shift for path, line in lines.items()}
        self._add(block, document.value[block.key], moved, problems)

    def _parse_whole(self) -> None:
        """The tested fall-back: read the file as one document."""
        self._entries, self._problems, self._unsure = {}, {}, []
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
        below = _below(document.lines, keys)
        for block in _blocks_of(self.text, document, keys):
            self._blocks[block.key] = block
            self._add(block, keys[block.key], below.get(block.key, {}), ())

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


def parse_master(text: bytes | str, path: str, like: MasterConfig | None = None) -> MasterConfig:
    """A master config, split into blocks; entries are parsed when asked for. Never fails: faults are problems.

    `like` is another version of the file: what it begins and ends with alike is not looked through again. Without it,
    the last few files are remembered, since many pull requests share a base, and a new one is read like the last one.
    """
    if isinstance(text, bytes) and like is None:
        return _remembered(text, path)
    decoded, faults = _decoded(text, path) if isinstance(text, bytes) else (text, ())
    return MasterConfig(decoded.removeprefix("\ufeff"), path, like, faults)


@functools.lru_cache(maxsize=6)
def _remembered(content: bytes, path: str) -> MasterConfig:
    text, faults = _decoded(content, path)
    made = MasterConfig(text.removeprefix("\ufeff"), path, _last_of.get(path), faults)
    if len(_last_of) < _MAX_LAST or path in _last_of:
        _last_of[path] = made
    return made


_last_of: dict[str, MasterConfig] = {}
"""The version of each file that was read last."""


@functools.lru_cache(maxsize=1024)
def _read_block(text: str, line: int) -> tuple[Any, dict[str, int]] | None:
    """What stands below the key of a block that begins on a line; most blocks are the same in many revisions."""
    return read_plain(text.partition("\n")[2], line + 1)


def _decoded(content: bytes, path: str) -> tuple[str, tuple[Problem, ...]]:
    """The text of a file; where it is no UTF-8, as much of it as can be read, and the place of the fault."""
    try:
        return content.decode("utf-8"), ()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = Problem(path=path, message="The file is not UTF-8.", rule="encoding", line=line)
        return content.decode("utf-8", "replace"), (problem,)


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


def _below(lines: Mapping[str, int], keys: Container[Any]) -> dict[str, dict[str, int]]:
    """For each top-level key the lines of what is below it, under their paths inside of it. `lines` are in order."""
    found: dict[str, dict[str, int]] = {}
    key = ""
    for path, line in lines.items():
        if path in keys:
            key = path
            found[key] = {}
        elif key:
            found[key][path[len(key) + 1 :]] = line
    return found


def _moved(problem: Problem, lines: int) -> Problem:
    line = None if problem.line is None else problem.line + lines
    return Problem(path=problem.path, message=problem.message, rule=problem.rule, line=line, column=problem.column)


def _split(text: str, path: str, line: int = 1, start: int = 0) -> tuple[list[Block] | None, list[Problem]]:
    """The blocks of a text that is written as such; None where only the whole file can be read.

    `line` and `start` are the place of the text in its file.
    """
    if _OTHER_BREAKS.search(text):
        return None, []
    starts: list[tuple[str, int, int]] = []
    problems: list[Problem] = []
    seen: set[str] = set()
    counted = 0
    for match in _TOP_LINE.finditer(text):
        line, counted = line + text.count("\n", counted, match.start()), match.start()
        key = _KEY_LINE.match(match[0])
        if key is None or len(key[1]) > MAX_ENTRY_KEY or _reads_otherwise(key[1]):
            return None, []
        if key[1] in seen:
            message = f"The key {key[1]!r} is given twice; the last one counts."
            problems.append(Problem(path=path, message=message, rule="duplicate-key", line=line, column=1))
        seen.add(key[1])
        starts.append((key[1], line, match.start()))
    if _CONTENT.search(text, 0, starts[0][2] if starts else len(text)):
        return None, []
    blocks = _cut(text, starts, start)
    if not _anchors_once(text) or any("*" in block.text and _borrows(block.text) for block in blocks):
        return None, []
    return blocks, problems


def _split_like(text: str, other: MasterConfig) -> list[Block] | None:
    """The blocks of a text by those of another version: only what lies between their common start and common end is
    looked through. None where that is not written as blocks, or gives a key twice."""
    known = list(other._blocks.values())
    alike, alike_behind = _common_ends(other.text, text)
    first = next((index - 1 for index, block in enumerate(known) if block.start > alike), len(known) - 1)
    if first <= 0:
        return None
    last = next(
        (
            index
            for index, block in enumerate(known)
            if index >= first and len(other.text) - block.start <= alike_behind
        ),
        len(known),
    )
    grown = len(text) - len(other.text)
    end = known[last].start + grown if last < len(known) else len(text)
    start, line = known[first].start, known[first].line
    if end < start or (end > start and text[end - 1] != "\n"):
        return None
    between, faults = _split(text[start:end], other.path, line, start)
    if between is None or faults:
        return None
    moved = text.count("\n", start, end) - other.text.count("\n", start, end - grown)
    behind = [block._replace(line=block.line + moved, start=block.start + grown) for block in known[last:]]
    blocks = [*known[:first], *between, *behind]
    if len({block.key for block in blocks}) < len(blocks) or not _anchors_once(text):
        return None
    return blocks


def _common_ends(one: str, other: str) -> tuple[int, int]:
    """How many characters two texts have in common at their start, and at their end behind that."""
    longest = min(len(one), len(other))
    low, high = 0, longest
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    start, rest = low, longest - low
    low, high = 0, rest
    while low < high:
        middle = (low + high + 1) // 2
        same = one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]
        low, high = (middle, high) if same else (low, middle - 1)
    return start, low


def _anchors_once(text: str) -> bool:
    anchors = _ANCHOR.findall(text) if "&" in text else ()
    return len(set(anchors)) == len(anchors)


def _borrows(block: str) -> bool:
    """Whether a block may hold an alias whose anchor stands in another one."""
    for match in _ALIAS.finditer(block):
        line = block[block.rfind("\n", 0, match.start()) + 1 : match.start()]
        in_comment = "#" in line and '"' not in line and "'" not in line
        if not in_comment and f"&{match[1]}" not in block[: match.start()]:
            return True
    return False


def _cut(text: str, starts: list[tuple[str, int, int]], offset: int = 0) -> list[Block]:
    """The blocks that begin at these places (key, line, characters before), without blank lines and comments behind."""
    blocks: list[Block] = []
    ends = [*(start for _, _, start in starts[1:]), len(text)]
    for (key, line, start), end in zip(starts, ends, strict=False):
        lines = text[start:end].split("\n")
        while len(lines) > 1 and (not lines[-1].strip(" ") or lines[-1].lstrip(" ")[0] == "#"):
            lines.pop()
        blocks.append(Block(key, line, start + offset, "\n".join(lines)))
    return blocks


def _reads_otherwise(key: str) -> bool:
    """Whether YAML may read an unquoted key as something else than this text (a number, a date, yes or no)."""
    return not key[0].isalpha() or key.lower() in ("yes", "no", "true", "false", "on", "off", "null")


@functools.lru_cache(maxsize=2048)
def _reaches_on(block: str) -> bool:
    """Whether a bracket or a quotation of a block may end outside of it."""
    return any(_stays_open(line) for line in _NOT_SIMPLE.findall(block))


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
    """The blocks of a file that was read whole, in the order of its keys."""
    offsets = [0]
    for line in text.split("\n"):
        offsets.append(offsets[-1] + len(line) + 1)
    places = sorted((document.lines.get(key, 1), key) for key in keys)
    blocks = _cut(text, [(key, line, offsets[min(line, len(offsets)) - 1]) for line, key in places])
    order = {key: index for index, key in enumerate(keys)}
    return sorted(blocks, key=lambda block: order[block.key])
