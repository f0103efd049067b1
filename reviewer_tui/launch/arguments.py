"""Server arguments under one name each, whatever way they are written.

Which flags an engine knows, their aliases, how many values they take and what replaced them is data, one file an
engine (`flags/*.json`, read when first asked for), by version where the engine's versions are known. A flag that no
table knows is kept under its own spelling and listed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources
from typing import Any, Literal, TypeAlias

import msgspec

from reviewer_tui.launch.shell_words import Argument
from reviewer_tui.launch.text import Mixed, Text, Unknown, concat, show, unknowns

Engine = Literal["sglang", "vllm", "trtllm", "atom", "other"]
Value: TypeAlias = Any
"""A flag's value: number, truth, text, list or mapping; an `Unknown` where it could not be evaluated."""

ENGINES_WITH_FLAGS = frozenset({"sglang", "vllm", "trtllm", "atom"})
"""Engines whose flags are known."""

_TABLES = ENGINES_WITH_FLAGS | {"dynamo"}
_NUMBER = re.compile(r"-?(?:\d+|\d*\.\d+|\d+\.\d*)(?:[eE][+-]?\d+)?")
_FLAG = re.compile(r"--?[A-Za-z]")
_VERSION = re.compile(r"(?<![\d.])v?(\d{1,3}\.\d{1,3}(?:\.\d{1,3})?)(?:\.?(?:post|rc|dev)\d*)?(?![\d.])")
_MAX_JSON = 100_000


class Flag(msgspec.Struct, frozen=True):
    """One flag of an engine version. `names` hold the canonical name first; `takes` is `0` (switch), `1`, `+`, `*`,
    `?` (values), `b` (switch with a `--no-` twin) or `j` (JSON, also key by key); `replacement` is the flag (perhaps
    with `=value`) that a deprecated one stands for, empty where it has none, None where it is not deprecated."""

    names: tuple[str, ...]
    takes: str
    replacement: str | None = None

    @property
    def name(self) -> str:
        return self.names[0]


class Arguments(msgspec.Struct, frozen=True, kw_only=True):
    """A server's arguments by canonical flag, the last of repeated ones.

    `spellings` tells how a flag was written and `lines` where; `unknown_flags` are those that no table knows;
    `deprecated` maps a spelling to what replaced it; `positional` are words that belong to no flag (vLLM's model);
    `open` says why there may be arguments that are not listed (an unquoted value that is unknown); `listed` are the
    flags whose values stand as words of their own.
    """

    values: Mapping[str, Value] = {}
    spellings: Mapping[str, str] = {}
    lines: Mapping[str, int] = {}
    unknown_flags: tuple[str, ...] = ()
    deprecated: Mapping[str, str] = {}
    positional: tuple[Text, ...] = ()
    open: tuple[Unknown, ...] = ()
    listed: frozenset[str] = frozenset()

    @property
    def unknowns(self) -> dict[str, str]:
        """The flags whose value could not be evaluated, with the reason."""
        return {name: str(found) for name, value in self.values.items() if (found := unknown_in(value)) is not None}

    def words(self) -> list[Argument]:
        """The arguments as words again: what `canonical` reads back to the same values."""
        words: list[Argument] = [Argument(text, 0) for text in self.positional]
        words.extend(Argument(Mixed((reason,)), 0, open=True) for reason in self.open)
        for name, value in self.values.items():
            words.extend(self._words_of(name, value, self.lines.get(name, 0)))
        return words

    def _words_of(self, name: str, value: Value, line: int) -> list[Argument]:
        if value is True:
            return [Argument(name, line)]
        if value is False:
            negated = self.spellings.get(name, "").startswith("--no-")
            return [Argument(f"--no-{name[2:]}" if negated else f"{name}=false", line)]
        texts = [_text_of(item) for item in value] if name in self.listed and isinstance(value, list) else []
        if len(texts) < 2 or any(_FLAG.match(show(text)) for text in texts):
            text = _text_of(value)
            if _FLAG.match(show(text)):
                return [Argument(concat([f"{name}=", text]), line)]
            texts = [text]
        return [Argument(name, line), *(Argument(text, line) for text in texts)]


def unknown_in(value: Value) -> Unknown | None:
    """The unknown piece of a value, in whatever depth of it."""
    if isinstance(value, Unknown):
        return value
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next((found for item in items if (found := unknown_in(item)) is not None), None)


class _Table(msgspec.Struct, frozen=True):
    engine: str
    source: str
    versions: tuple[str, ...]
    flags: tuple[tuple[str, ...], ...]


@lru_cache(maxsize=8)
def _table(engine: str) -> _Table:
    content = resources.files("reviewer_tui.launch").joinpath("flags", f"{engine}.json").read_bytes()
    return msgspec.json.decode(content, type=_Table)


@lru_cache(maxsize=32)
def flags_of(engine: str, version: str | None = None) -> Mapping[str, Flag]:
    """The flags of an engine by every name, for the newest known version that is not newer than `version`; without a
    version, those of all versions, the newest declaration first."""
    if engine not in _TABLES:
        return {}
    table = _table(engine)
    index = _version_index(table.versions, version)
    found: dict[str, Flag] = {}
    newest_first = sorted(table.flags, key=lambda row: _rank(table.versions, row), reverse=True)
    for row in newest_first:
        flag = _flag(table.versions, row, index)
        if flag is not None:
            for name in flag.names:
                found.setdefault(_lookup(engine, name), flag)
    return found


def _rank(versions: Sequence[str], row: Sequence[str]) -> int:
    until = row[3] if len(row) > 3 else ""
    return versions.index(until) if until in versions else len(versions)


def _flag(versions: Sequence[str], row: Sequence[str], index: int | None) -> Flag | None:
    """A row of the table (names, takes, first version, last version, replacement), if it holds at a version."""
    names, takes = row[0].split(" "), row[1]
    first = versions.index(row[2]) if len(row) > 2 and row[2] else 0
    last = versions.index(row[3]) if len(row) > 3 and row[3] else len(versions)
    if index is not None and not first <= index <= last:
        return None
    names.sort(key=len, reverse=True)
    return Flag(tuple(names), takes, row[4] if len(row) > 4 else None)


def _version_index(versions: Sequence[str], version: str | None) -> int | None:
    wanted = _numbers(version or "")
    if not wanted or not versions:
        return None
    older = [n for n, known in enumerate(versions) if _numbers(known) <= wanted]
    return older[-1] if older else 0


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def version_of(engine: str, image: str) -> str | None:
    """The engine's version that an image's tag names (`…/sglang:v0.5.14-cu130` is `0.5.14`); None for nightly and
    private tags, whose version the tag does not tell."""
    tag = image.partition("@")[0].replace("#", "/").rpartition("/")[2].partition(":")[2]
    if not tag or "nightly" in tag:
        return None
    match = (
        _VERSION.match(tag)
        or re.search(rf"{re.escape(engine)}[-_]?v?(\d+\.\d+(?:\.\d+)?)", tag)
        or re.search(r"-v?(\d+\.\d+\.\d+)(?=-|$)", tag)
    )
    return match.group(1) if match else None


def _lookup(engine: str, name: str) -> str:
    """The name under which a flag is looked up: SGLang alone tells `-` and `_` apart."""
    return name if engine == "sglang" or not name.startswith("--") else name.replace("_", "-")


def _own_name(engine: str, name: str) -> str:
    """The name of a flag that no table knows: its own, in the engine's usual spelling."""
    if engine == "trtllm" and name.startswith("--"):
        return f"--{name[2:].replace('-', '_')}"
    return _lookup(engine, name)


def find_flag(engine: str, name: str, version: str | None = None) -> tuple[Flag, bool] | None:
    """The flag that a spelling stands for, and whether the spelling negates it (`--no-…`).

    An unambiguous start of a flag's name stands for it too, as argparse has it. A flag that only other versions know
    is taken from them, and one that is none of the engine's from Dynamo, whose workers take the engine's flags and
    their own. None where no table knows it.
    """
    for at in dict.fromkeys((version, None)):
        found = _find(engine, _lookup(engine, name), flags_of(engine, at))
        if found is not None:
            return found
    own = flags_of("dynamo").get(name) if engine != "dynamo" else None
    return None if own is None else (own, False)


def _find(engine: str, name: str, flags: Mapping[str, Flag]) -> tuple[Flag, bool] | None:
    flag = flags.get(name)
    if flag is not None:
        return flag, False
    if name.startswith("--no-"):
        positive = flags.get(f"--{name[5:]}")
        if positive is not None and positive.takes == "b":
            return positive, True
    if name.startswith("--") and len(name) > 3 and engine != "trtllm":
        begun = {id(found): found for known, found in flags.items() if known.startswith(name)}
        if len(begun) == 1:
            return next(iter(begun.values())), False
    return None


def canonical(words: Sequence[Argument], engine: str, version: str | None = None) -> Arguments:
    """The arguments of a server command. `words` are those after the program (`vllm serve`)."""
    return _Reader(engine, version).read(words)


def canonical_mapping(
    mapping: Mapping[str, Any], engine: str, version: str | None = None, lines: Mapping[str, int] | None = None
) -> Arguments:
    """The same for arguments that are already a mapping of flag names without dashes to values, as recipes in YAML
    have them: True is a bare switch, False and null leave an argument out, apart from a switch that can be negated and
    from TensorRT-LLM's options, where False is a value."""
    reader = _Reader(engine, version)
    for name, value in mapping.items():
        reader.line = (lines or {}).get(str(name), 0)
        reader.take_value(f"--{name}", value)
    found = reader.result()
    # TensorRT-LLM's options in YAML are those of its API, of which the command line knows a part.
    return msgspec.structs.replace(found, unknown_flags=()) if engine == "trtllm" else found


class _Reader:
    def __init__(self, engine: str, version: str | None) -> None:
        self.engine, self.version = engine, version
        self.values: dict[str, Value] = {}
        self.spellings: dict[str, str] = {}
        self.lines: dict[str, int] = {}
        self.unknown_flags: dict[str, None] = {}
        self.deprecated: dict[str, str] = {}
        self.positional: list[Text] = []
        self.open: list[Unknown] = []
        self.listed: set[str] = set()
        self.dotted: dict[str, dict[str, Value]] = {}
        self.line = 0

    def result(self) -> Arguments:
        for name, value in self.dotted.items():
            self._put(name, value, name)
        return Arguments(
            values=self.values,
            spellings=self.spellings,
            lines=self.lines,
            unknown_flags=tuple(self.unknown_flags),
            deprecated=self.deprecated,
            positional=tuple(self.positional),
            open=tuple(self.open),
            listed=frozenset(self.listed),
        )

    def read(self, words: Sequence[Argument]) -> Arguments:
        at = 0
        while at < len(words):
            word = words[at]
            at += 1
            self.line = word.line
            name, value = _split(word.text)
            if name is None:
                if word.open and isinstance(word.text, Mixed):
                    self.open.extend(unknowns(word.text))
                else:
                    self.positional.append(word.text)
                continue
            name, value = self._optimization_level(name, value)
            following: list[Argument] = []
            while at + len(following) < len(words) and not _is_flag(words[at + len(following)]):
                following.append(words[at + len(following)])
            at += self._take(name, value, following)
        return self.result()

    def _optimization_level(self, name: str, value: Text | None) -> tuple[str, Text | None]:
        """vLLM's `-O3` and `-O 3`."""
        if self.engine == "vllm" and re.fullmatch(r"-O\w*", name):
            return "--optimization-level", name[2:] or value
        return name, value

    def _take(self, name: str, value: Text | None, following: Sequence[Argument]) -> int:
        """One flag with its values; returns how many of the words after it belong to it."""
        base, _, path = name.partition(".") if self.engine == "vllm" else (name, "", "")
        found = find_flag(self.engine, base, self.version)
        takes = found[0].takes if found else None
        if path and (found is None or takes == "j"):
            return self._take_dotted(base, path, value, following)
        if value is not None:
            self._settle(name, found, [value])
            return 0
        count = self._count(takes, following)
        # The first word is the value; one after it that is unquoted and unknown may bring arguments of its own.
        self.open.extend(piece for word in following[1:count] if word.open for piece in unknowns(word.text))
        self._settle(name, found, [argument.text for argument in following[:count]])
        return count

    def _count(self, takes: str | None, following: Sequence[Argument]) -> int:
        if takes in ("0", "b"):
            return 0
        if takes in ("1", "j", "?"):
            return min(len(following), 1)
        if takes in ("+", "*"):
            return len(following)
        # An unknown flag takes what follows it; a word that may be no word at all, or several, is no sure value.
        return len(following)

    def _take_dotted(self, base: str, path: str, value: Text | None, following: Sequence[Argument]) -> int:
        """`--config.key value`: one key of a JSON argument."""
        count = 0 if value is not None else min(len(following), 1)
        text = value if value is not None else (following[0].text if following else "")
        found = find_flag(self.engine, base, self.version)
        name = found[0].name if found else _own_name(self.engine, base)
        parsed: Value = typed(text)
        *keys, last = path.removesuffix("+").split(".")
        if path.endswith("+") and isinstance(text, str):
            parsed = [typed(item) for item in text.split(",")]
        target = self.dotted.setdefault(name, {})
        for key in keys:
            inner = target.setdefault(key, {})
            target = inner if isinstance(inner, dict) else {}
        target[last] = parsed
        self.lines.setdefault(name, self.line)
        if found is None:
            self.unknown_flags.setdefault(base)
        return count

    def take_value(self, name: str, value: Value) -> None:
        """A flag of a mapping."""
        found = find_flag(self.engine, name, self.version)
        if value is None or value is False:
            if value is False and (self.engine == "trtllm" or (found is not None and found[0].takes == "b")):
                self._put(
                    found[0].name if found else _own_name(self.engine, name), found is not None and found[1], name
                )
            return
        if value is True:
            self._settle(name, found, [])
            return
        if isinstance(value, str):
            self._settle(name, found, [value])
        elif isinstance(value, list) and (found is None or found[0].takes in ("+", "*")):
            self._settle(name, found, [item if isinstance(item, str) else json.dumps(item) for item in value])
        else:
            self._settle(name, found, [value])

    def _settle(self, name: str, found: tuple[Flag, bool] | None, texts: Sequence[Text | Value]) -> None:
        values = [text if not isinstance(text, str | Mixed) else typed(text) for text in texts]
        if found is None:
            self.unknown_flags.setdefault(name)
            value: Value = True if not values else values[0] if len(values) == 1 else values
            self._put(_own_name(self.engine, name), value, name, listed=len(values) > 1)
            return
        flag, negated = found
        if flag.takes in ("0", "b"):
            value = not negated
            if values and isinstance(values[0], bool):
                value = values[0] is not negated
        elif flag.takes in ("+", "*"):
            value = values[0] if len(values) == 1 and isinstance(values[0], list) else values
        else:
            value = values[0] if values else True
        self._put_flag(flag, value, name)

    def _put_flag(self, flag: Flag, value: Value, spelling: str) -> None:
        if flag.replacement is not None and self.version is not None:
            self.deprecated[spelling] = flag.replacement
        name, _, fixed = (flag.replacement or flag.name).partition("=")
        replaced = find_flag(self.engine, name, self.version)
        name = replaced[0].name if replaced else name
        if fixed and value is False:
            return
        self._put(name, typed(fixed) if fixed else value, spelling, listed=flag.takes in ("+", "*"))

    def _put(self, name: str, value: Value, spelling: str, listed: bool = False) -> None:
        self.values.pop(name, None)
        self.values[name] = value
        (self.listed.add if listed else self.listed.discard)(name)
        self.spellings[name] = spelling
        self.lines[name] = self.lines.get(name, self.line) if name in self.dotted else self.line


def _split(text: Text) -> tuple[str | None, Text | None]:
    """The flag of a word and the value glued to it with `=`; no flag where the word is none."""
    if isinstance(text, str):
        if not _looks_like_flag(text):
            return None, None
        name, sign, value = text.partition("=")
        return name, value if sign else None
    first = text.parts[0]
    if not isinstance(first, str) or not _looks_like_flag(first) or "=" not in first:
        return None, None
    name, _, value = first.partition("=")
    return name, concat([value, *text.parts[1:]])


def _looks_like_flag(text: str) -> bool:
    return _FLAG.match(text) is not None


def _is_flag(word: Argument) -> bool:
    return _split(word.text)[0] is not None


def typed(text: Text) -> Value:
    """A text as the value it spells: number, truth, JSON, else the text itself. Unknown pieces of a JSON text become
    unknown values inside it."""
    if isinstance(text, Mixed):
        return _typed_mixed(text)
    if len(text) < 40 and _NUMBER.fullmatch(text):
        number = float(text)
        if number in (float("inf"), float("-inf")):
            return text
        return int(number) if number.is_integer() and abs(number) < 1e15 and not re.search(r"[eE]", text) else number
    if text in ("true", "True", "false", "False"):
        return text in ("true", "True")
    if text[:1] in ("{", "["):
        parsed = json_of(text)
        return text if parsed is None else parsed
    return text


def _typed_mixed(text: Mixed) -> Value:
    known = "".join(part if isinstance(part, str) else f"\ue000{n}\ue001" for n, part in enumerate(text.parts))
    if known[:1] in ("{", "["):
        quoted = re.sub(r"(?<=[:,\[])(\s*)\ue000(\d+)\ue001(?=\s*[,}\]])", r'\1"' + "\ue000\\2\ue001" + '"', known)
        parsed = json_of(quoted)
        if parsed is not None:
            return _with_unknowns(parsed, text)
    piece = unknowns(text)[0]
    if len(text.parts) == 1:
        return piece
    return Unknown(f"part of `{show(text)[:80]}`: {piece.reason}", piece.line, piece.path, nonempty=True)


def _with_unknowns(value: Value, text: Mixed) -> Value:
    if isinstance(value, dict):
        return {key: _with_unknowns(item, text) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_unknowns(item, text) for item in value]
    if isinstance(value, str) and "\ue000" in value:
        found = re.search("\ue000(\\d+)\ue001", value)
        part = text.parts[int(found.group(1))] if found and int(found.group(1)) < len(text.parts) else None
        if isinstance(part, Unknown):
            if found and found.group() == value:
                return part
            return Unknown(f"part of a text: {part.reason}", part.line, part.path, nonempty=True)
    return value


def json_of(text: str) -> Any:
    """What a JSON text says; None where it is none, or too long or too deep to be read."""
    if len(text) > _MAX_JSON:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _text_of(value: Value) -> Text:
    if isinstance(value, Unknown):
        return Mixed((value,))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        return _json_text(value)
    return str(value)


def _json_text(value: Value) -> Text:
    """A value as JSON in which unknown pieces stand as such."""
    holes: list[Unknown] = []

    def hole(unknown: Any) -> str:
        if not isinstance(unknown, Unknown):
            return str(unknown)
        holes.append(unknown)
        return f"\ue000{len(holes) - 1}\ue001"

    pieces = re.split('"\ue000(\\d+)\ue001"', json.dumps(value, default=hole, ensure_ascii=False))
    return concat(holes[int(piece)] if number % 2 else piece for number, piece in enumerate(pieces))
