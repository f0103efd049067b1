"""The scalars of any YAML text with their keys and lines, read as a stream: aliases are left out, nothing is built."""

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
    begins. `key` is the nearest key, empty at the top."""

    keys: tuple[str, ...]
    value: str
    line: int

    @property
    def key(self) -> str:
        return self.keys[-1] if self.keys else ""


@lru_cache(maxsize=256)
def scalars(text: str) -> tuple[Scalar, ...] | None:
    """All values of all documents in their order; None where the text is no YAML or beyond what is read."""
    if len(text) > MAX_TEXT:
        return None
    try:
        return tuple(_walk(yaml.parse(text, Loader=EventLoader)))
    except (yaml.YAMLError, RecursionError, ValueError):
        return None


class _Frame:
    """An open collection. In a mapping `key` is None while a key is due, and the key's text while its value is."""

    def __init__(self, is_mapping: bool) -> None:
        self.is_mapping = is_mapping
        self.key: str | None = None
        self.key_is_open = False

    def closes(self, key: str = "") -> None:
        """A node of this collection is complete; `key` is its text, should it be a key."""
        if self.is_mapping:
            self.key = key if self.key is None or self.key_is_open else None
            self.key_is_open = False

    def opens(self) -> None:
        """A collection begins inside of this one."""
        self.key_is_open = self.is_mapping and self.key is None


def _walk(events: Iterator[yaml.Event]) -> Iterator[Scalar]:
    stack = [_Frame(is_mapping=False)]
    count = 0
    for event in events:
        if isinstance(event, yaml.ScalarEvent):
            frame = stack[-1]
            if not (frame.is_mapping and frame.key is None):
                count += 1
                if count > MAX_SCALARS:
                    raise ValueError("too many values")
                keys = tuple(outer.key for outer in stack if outer.key is not None)
                block = event.style in ("|", ">")
                line = event.start_mark.line if event.start_mark else 0
                yield Scalar(keys, event.value, line + (2 if block else 1))
            frame.closes(event.value)
        elif isinstance(event, yaml.AliasEvent):
            stack[-1].closes()
        elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            if len(stack) > MAX_DEPTH:
                raise ValueError("too deep")
            stack[-1].opens()
            stack.append(_Frame(isinstance(event, yaml.MappingStartEvent)))
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            stack.pop()
            stack[-1].closes()
