"""Server arguments by concept: one name for every spelling, a class for how much it matters, typed values.

Spellings, classes and what each policy demands of a class are data (`concepts.json`). A flag that the table does not
know keeps its own spelling as its name, so nothing is lost.
"""

from __future__ import annotations

import fnmatch
import functools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from reviewer_tui.launch.arguments import find_flag, json_of
from reviewer_tui.recipes.arm import Argument, Engine, Scalar, Value, line_of

ArgumentClass = Literal["major", "kernel", "review", "tuning", "sweep", "plumbing"]
Demand = Literal["must", "judge", "inform"]

# Groups in the order in which people read a serve command.
GROUPS = ("model", "parallelism", "precision", "backends", "speculative", "cache", "scheduling", "graphs")

_MAX_DEPTH = 20
_NUMBER = re.compile(r"-?(?:\d+|\d*\.\d+|\d+\.\d*)(?:[eE][+-]?\d+)?")


class Concept(msgspec.Struct, frozen=True, kw_only=True, rename={"cls": "class"}):
    """One thing that can be set. `default` is what the engine does without it (None: not known); `into` sends keys of
    a JSON value to other concepts, `drop` leaves keys out; `negated` are flags that set it to false, `fixed` flags
    that set it to a value."""

    name: str
    title: str
    group: str
    cls: ArgumentClass
    kind: Literal["value", "switch", "json"] = "value"
    default: Scalar | None = None
    sglang: tuple[str, ...] = ()
    vllm: tuple[str, ...] = ()
    negated: dict[str, tuple[str, ...]] = {}
    fixed: dict[str, Scalar] = {}
    into: dict[str, str] = {}
    drop: tuple[str, ...] = ()

    def spelling(self, engine: Engine) -> str:
        """The flag to show or to write for this engine; the name where there is none."""
        flags = self.sglang if engine == "sglang" else self.vllm
        return flags[0] if flags else self.name


class ClassDemands(msgspec.Struct, frozen=True):
    """What a policy demands of a class of arguments: where the recipe lacks ours, where it has another value, and
    where only the recipe has one."""

    missing: Demand
    contradicts: Demand
    upstream_only: Demand


class RecipePolicy(msgspec.Struct, frozen=True):
    """What a policy demands, class by class."""

    title: str
    classes: dict[ArgumentClass, ClassDemands]


class _Prefix(msgspec.Struct, frozen=True, rename={"cls": "class"}):
    prefix: str
    cls: ArgumentClass
    group: str


class _Variables(msgspec.Struct, frozen=True, rename={"cls": "class"}):
    names: tuple[str, ...]
    cls: ArgumentClass


class ConceptTable(msgspec.Struct, frozen=True):
    """The whole table of `concepts.json`."""

    source: str
    concepts: tuple[Concept, ...]
    prefixes: tuple[_Prefix, ...]
    environment: tuple[_Variables, ...]
    environment_default: ArgumentClass
    unknown_class: ArgumentClass
    policies: dict[str, RecipePolicy]


@functools.cache
def table() -> ConceptTable:
    """The packaged concept table."""
    return msgspec.json.decode(Path(__file__).with_name("concepts.json").read_bytes(), type=ConceptTable)


@functools.cache
def _by_name() -> Mapping[str, Concept]:
    return {concept.name: concept for concept in table().concepts}


@functools.cache
def _by_flag(engine: Engine) -> Mapping[str, tuple[Concept, Value | None]]:
    """Flag to its concept, and the value it sets where the flag alone decides that."""
    flags: dict[str, tuple[Concept, Value | None]] = {}
    for concept in table().concepts:
        for flag in concept.sglang if engine == "sglang" else concept.vllm:
            flags[flag] = (concept, True if concept.kind == "switch" else None)
        for flag in concept.negated.get(engine, ()):
            flags[flag] = (concept, False)
        if engine == "sglang":
            flags.update({flag: (concept, value) for flag, value in concept.fixed.items()})
    return flags


@functools.cache
def concept_of(name: str) -> Concept:
    """The concept with this name; for a key inside a JSON value its parent's class; for an unknown flag a concept of
    its own."""
    known = _by_name().get(name)
    if known is not None:
        return known
    parent = _by_name().get(name.split(".")[0]) if not name.startswith("-") else None
    if parent is not None:
        return Concept(name=name, title=name, group=parent.group, cls=parent.cls)
    prefix = next((p for p in table().prefixes if name.startswith(p.prefix)), None)
    if prefix is not None:
        return Concept(name=name, title=name, group=prefix.group, cls=prefix.cls)
    return Concept(name=name, title=name, group="other", cls=table().unknown_class)


@functools.cache
def variable_class(variable: str) -> ArgumentClass:
    """How much an environment variable matters."""
    for row in table().environment:
        if any(fnmatch.fnmatchcase(variable, pattern) for pattern in row.names):
            return row.cls
    return table().environment_default


def engine_of(framework: str) -> Engine | None:
    """The open-source engine that a framework serves with; None for vendor frameworks."""
    if "sglang" in framework:
        return "sglang"
    return "vllm" if "vllm" in framework else None


def read_arguments(engine: Engine, tokens: Iterable[str]) -> dict[str, Argument]:
    """The arguments of a server command, by concept; the last of repeated flags wins, as in both engines' parsers.

    `tokens` are the words after the program (`sglang serve`, `vllm serve`); a first word without a dash is vLLM's
    positional checkpoint.
    """
    return _settled(engine, _collected(engine, _pairs(engine, list(tokens))))


def read_mapping(engine: Engine, arguments: Mapping[str, Any]) -> dict[str, Argument]:
    """The same for arguments that are already a mapping of flag (dashes or not, `-` or `_`) to value. A value of
    True or None is a bare switch, False leaves the argument out unless it negates a known switch."""
    return _settled(engine, _collected(engine, _mapped(engine, arguments)))


def _pairs(engine: Engine, tokens: Sequence[str]) -> Iterator[tuple[str, list[str], int | None]]:
    """Flag, its words, and its line."""
    index = 0
    if engine == "vllm" and tokens and not _is_flag(tokens[0]):
        yield "--model", [tokens[0]], line_of(tokens[0])
        index = 1
    while index < len(tokens):
        word = tokens[index]
        index += 1
        if not _is_flag(word):
            continue
        flag, has_value, value = word.partition("=")
        words = [value] if has_value else []
        while not has_value and index < len(tokens) and not _is_flag(tokens[index]):
            words.append(tokens[index])
            index += 1
        yield flag, words, line_of(word)


def _mapped(engine: Engine, arguments: Mapping[str, Any]) -> Iterator[tuple[str, list[str], int | None]]:
    for name, value in arguments.items():
        flag = name if name.startswith("-") else f"--{name}"
        if value is None or value is True:
            yield flag, [], line_of(name)
        elif value is False:
            negation = next(iter(concept_for(engine, flag)[0].negated.get(engine, ())), None)
            if negation is not None:
                yield negation, [], line_of(name)
        elif isinstance(value, (list, tuple)):
            yield flag, [str(item) for item in value], line_of(name)
        else:
            yield flag, [json.dumps(value) if isinstance(value, dict) else str(value)], line_of(name)


def _is_flag(word: str) -> bool:
    return len(word) > 1 and word.startswith("-") and not _NUMBER.fullmatch(word)


@functools.lru_cache(maxsize=4096)
def concept_for(engine: Engine, flag: str) -> tuple[Concept, Value | None]:
    """The concept of a flag as it is written, and the value that the flag alone sets (a switch, a negation).

    A spelling that the concepts do not list is looked up among the engine's flags: aliases, unambiguous beginnings of
    a name and names that were replaced stand for their flag.
    """
    spelled = flag.replace("_", "-") if flag.startswith("--") else flag
    flags = _by_flag(engine)
    known = flags.get(spelled) or flags.get(flag)
    if known is not None:
        return known
    found = find_flag(engine, spelled)
    if found is None:
        return concept_of(spelled), None
    declared, negated = found
    name, _, fixed = (declared.replacement or declared.name).partition("=")
    listed = next((flags[n] for n in (name, *declared.names) if n in flags), None)
    concept, alone = listed or (concept_of(name), True if declared.takes in ("0", "b") else None)
    if fixed:
        return concept, scalar(fixed)
    return concept, (not alone) if negated and isinstance(alone, bool) else alone


class _Document(msgspec.Struct):
    """A JSON argument while its flags are read; `content` is the text where it is no JSON object."""

    concept: Concept
    flag: str
    line: int | None
    content: dict[str, Any] | str


def _collected(engine: Engine, pairs: Iterable[tuple[str, list[str], int | None]]) -> dict[str, Argument]:
    units: dict[str, tuple[str, Argument] | _Document] = {}
    for flag, words, line in pairs:
        path: list[str] = []
        if engine == "vllm" and flag.startswith("--") and "." in flag:
            flag, *path = flag.split(".", _MAX_DEPTH)
        flag = str(flag)
        concept, alone = concept_for(engine, flag)
        earlier = units.pop(concept.name, None)
        if concept.kind == "json":
            content = earlier.content if path and isinstance(earlier, _Document) else {}
            units[concept.name] = _Document(concept, flag, line, _documented(content, path, words))
        else:
            units[concept.name] = concept.name, Argument(_value(words, alone), flag, line)
    found: dict[str, Argument] = {}
    for unit in units.values():
        settings = _flattened(unit) if isinstance(unit, _Document) else (unit,)
        for name, argument in settings:
            found.pop(name, None)
            found[name] = argument
    return found


def _documented(content: dict[str, Any] | str, path: list[str], words: list[str]) -> dict[str, Any] | str:
    """What a JSON argument is after one more flag: a document stands for all of it, a dotted flag sets one key."""
    text = " ".join(words)
    value = json_of(text) if not path or text.startswith("{") else None
    if not path:
        return value if isinstance(value, dict) else " ".join(text.split())
    document = content if isinstance(content, dict) else {}
    _put(document, path, scalar(text) if value is None else value)
    return document


def _flattened(document: _Document) -> Iterator[tuple[str, Argument]]:
    """A JSON argument as one value a key; what is no JSON object stays one text."""
    concept = document.concept
    if isinstance(document.content, str):
        yield concept.name, Argument(document.content, document.flag, document.line)
        return
    for key, value in _leaves(document.content, "", _MAX_DEPTH):
        if key not in concept.drop and key.split(".")[-1] not in concept.drop:
            yield concept.into.get(key, f"{concept.name}.{key}"), Argument(value, document.flag, document.line)


def _value(words: list[str], alone: Value | None) -> Value:
    if isinstance(alone, bool) and words[:1] in (["false"], ["False"]):
        return not alone
    if alone is not None:
        return alone
    if not words:
        return True
    values = tuple(scalar(word) for word in words)
    return values[0] if len(values) == 1 else values


def scalar(word: str) -> Scalar:
    """A word as the value it spells: number, truth, JSON (canonical text), else the text itself."""
    if _NUMBER.fullmatch(word) and len(word) < 40:
        number = float(word)
        return int(number) if number.is_integer() and abs(number) < 1e15 else number
    if word in ("true", "True", "false", "False"):
        return word in ("true", "True")
    if word[:1] in "{[" and word[:1]:
        document = json_of(word)
        return word if document is None else json.dumps(document, sort_keys=True, separators=(",", ":"))
    return str(word)


def _leaves(document: dict[str, Any], prefix: str, depth: int) -> Iterator[tuple[str, Scalar]]:
    for key, value in document.items():
        name = prefix + key.replace("\\", "\\\\").replace(".", "\\.")
        if isinstance(value, dict) and value and depth:
            yield from _leaves(value, f"{name}.", depth - 1)
        elif isinstance(value, bool | int | float | str):
            yield name, scalar(value) if isinstance(value, str) and value[:1] in ("[", "{") else value
        elif value is not None:
            yield name, json.dumps(value, sort_keys=True, separators=(",", ":"))


def words_of(engine: Engine, args: Mapping[str, Argument]) -> Iterator[tuple[str, ...]]:
    """The arguments as words again, one tuple a flag: what `read_arguments` reads back to the same values."""
    written: set[str] = set()
    documents: dict[str, dict[str, Any]] = {}
    for name, argument in args.items():
        concept, alone = concept_for(engine, argument.flag.split(".")[0] if engine == "vllm" else argument.flag)
        if concept.kind == "json" and name == concept.name:
            yield (argument.flag, *(str(argument.value).split() if argument.value != "" else ()))
        elif concept.kind == "json":
            document = documents.setdefault(argument.flag.split(".")[0], {})
            _put(document, _json_path(concept, name), _unwritten(argument.value))
        elif argument.flag not in written:
            written.add(argument.flag)
            values = argument.value if isinstance(argument.value, tuple) else (argument.value,)
            bare = alone is not None or (concept.kind == "value" and argument.value is True)
            undone = isinstance(alone, bool) and argument.value is not alone
            yield (argument.flag, *(("false",) if undone else () if bare else map(_word, values)))
    for flag, document in documents.items():
        yield flag, json.dumps(document, separators=(",", ":"))


def _word(value: Scalar) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _json_path(concept: Concept, name: str) -> list[str]:
    """The keys that lead to a value inside a JSON argument."""
    path = next((key for key, target in concept.into.items() if target == name), name.removeprefix(f"{concept.name}."))
    return [re.sub(r"\\(.)", r"\1", part) for part in re.findall(r"(?:^|\.)((?:[^.\\]|\\.)*)", path, re.DOTALL)]


def _put(document: dict[str, Any], path: Sequence[str], value: Any) -> None:
    for key in path[:-1]:
        inner = document.get(key)
        if not isinstance(inner, dict):
            inner = document[key] = {}
        document = inner
    document[path[-1]] = value


def _unwritten(value: Value) -> Any:
    """The value inside a JSON document that reads as this one."""
    parsed = json_of(value) if isinstance(value, str) and value[:1] in ("[", "{") else None
    return value if parsed is None else parsed


def _settled(engine: Engine, found: dict[str, Argument]) -> dict[str, Argument]:
    """Arguments that say one thing in two ways, said in one way.

    SGLang's attention data parallel size stands for the data parallel size with data-parallel attention (sglang
    #41818), and data-parallel attention over one rank is none.
    """
    if engine != "sglang":
        return found
    attention = found.pop("attn_dp", None)
    if attention is not None:
        for name in ("dp", "dp_attn"):
            found.pop(name, None)
        found["dp"] = attention
        found["dp_attn"] = Argument(True, attention.flag, attention.line)
    if "dp_attn" in found and found.get("dp", Argument(1, "")).value == 1:
        del found["dp_attn"]
    return found
