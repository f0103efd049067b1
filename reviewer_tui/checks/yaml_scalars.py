"""The scalars of any YAML text with their keys and lines, read as a stream: nothing is built."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import msgspec
import yaml

try:
    from yaml import CSafeLoader as EventLoader
except ImportError:  # PyYAML without libyaml
    from yaml import SafeLoader as EventLoader  # type: ignore[assignment]

MAX_TEXT = 1_000_000
MAX_SCALARS = 50_000
MAX_DEPTH = 64


class Scalar(msgspec.Struct, frozen=True):
    """One value: the keys that lead to it (list elements add none), its text, and the line (from 1) where the text
    begins. `key` is the nearest key, empty at the top; `sequence` tells the list it is an element of (0: of none),
    `mapping` the mapping it stands in (0: in none). What an alias stands for is there again, at the alias's line."""

    keys: tuple[str, ...]
    value: str
    line: int
    sequence: int = 0
    mapping: int = 0

    @property
    def key(self) -> str:
        return self.keys[-1] if self.keys else ""


@lru_cache(maxsize=256)
def scalars(text: str) -> tuple[Scalar, ...] | None:
    """All values of all documents in their order; None where the text is no YAML or beyond what is read."""
    if len(text) > MAX_TEXT:
        return None
    try:
        return tuple(_Reader().read(yaml.parse(text, Loader=EventLoader)))
    except (yaml.YAMLError, RecursionError, ValueError):
        return None


class _Frame:
    """An open collection. In a mapping `key` is None while a key is due, and the key's text while its value is.
    `anchor` names it; `start` and `depth` are how many values and keys came before it."""

    def __init__(
        self, *, sequence: int = 0, mapping: int = 0, anchor: str | None = None, start: int = 0, depth: int = 0
    ) -> None:
        self.sequence, self.mapping = sequence, mapping
        self.is_mapping = mapping > 0
        self.key: str | None = None
        self.key_is_open = False
        self.anchor, self.start, self.depth = anchor, start, depth

    def closes(self, key: str = "") -> None:
        """A node of this collection is complete; `key` is its text, should it be a key."""
        if self.is_mapping:
            self.key = key if self.key is None or self.key_is_open else None
            self.key_is_open = False

    def opens(self) -> None:
        """A collection begins inside of this one."""
        self.key_is_open = self.is_mapping and self.key is None


class _Reader:
    def __init__(self) -> None:
        self._stack = [_Frame()]
        self._found: list[Scalar] = []
        self._anchors: dict[str, tuple[Scalar, ...]] = {}
        self._collections = 0

    def read(self, events: Iterator[yaml.Event]) -> list[Scalar]:
        for event in events:
            frame = self._stack[-1]
            if isinstance(event, yaml.ScalarEvent):
                self._scalar(event, frame)
                frame.closes(event.value)
            elif isinstance(event, yaml.AliasEvent):
                self._alias(event, frame)
                frame.closes()
            elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
                self._open(event, frame)
            elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
                closed = self._stack.pop()
                if closed.anchor is not None:
                    inner = self._found[closed.start :]
                    self._anchors[closed.anchor] = tuple(_below(scalar, closed.depth) for scalar in inner)
                self._stack[-1].closes()
        return self._found

    def _keys(self) -> tuple[str, ...]:
        return tuple(outer.key for outer in self._stack if outer.key is not None)

    def _scalar(self, event: yaml.ScalarEvent, frame: _Frame) -> None:
        mark = event.start_mark.line if event.start_mark else 0
        line = mark + (2 if event.style in ("|", ">") else 1)
        if event.anchor is not None:
            self._anchors[event.anchor] = (Scalar((), event.value, line),)
        if not (frame.is_mapping and frame.key is None):
            self._add(Scalar(self._keys(), event.value, line, frame.sequence, frame.mapping))

    def _alias(self, event: yaml.AliasEvent, frame: _Frame) -> None:
        line = (event.start_mark.line if event.start_mark else 0) + 1
        for scalar in self._anchors.get(event.anchor or "", ()):
            inside = (scalar.sequence, scalar.mapping) if scalar.sequence or scalar.mapping else None
            sequence, mapping = inside or (frame.sequence, frame.mapping)
            self._add(Scalar((*self._keys(), *scalar.keys), scalar.value, line, sequence, mapping))

    def _open(self, event: yaml.CollectionStartEvent, frame: _Frame) -> None:
        if len(self._stack) > MAX_DEPTH:
            raise ValueError("too deep")
        frame.opens()
        self._collections += 1
        is_list = isinstance(event, yaml.SequenceStartEvent)
        sequence, mapping = (self._collections, 0) if is_list else (0, self._collections)
        start, depth = len(self._found), len(self._keys())
        self._stack.append(_Frame(sequence=sequence, mapping=mapping, anchor=event.anchor, start=start, depth=depth))

    def _add(self, scalar: Scalar) -> None:
        if len(self._found) >= MAX_SCALARS or len(scalar.keys) > MAX_DEPTH:
            raise ValueError("too many values, or too deep")
        self._found.append(scalar)


def _below(scalar: Scalar, depth: int) -> Scalar:
    """A value as it is seen from inside a collection that this many keys lead to."""
    return Scalar(scalar.keys[depth:], scalar.value, scalar.line, scalar.sequence, scalar.mapping)
