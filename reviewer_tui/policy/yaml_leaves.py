"""YAML (and JSON, which is YAML) of the small policy files as a flat list of values with their lines.

The text is read as a stream of events: aliases are never expanded, nothing is constructed, and depth and size are
bounded, so that no file can take more than it has.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import yaml

try:
    from yaml import CSafeLoader as EventLoader
except ImportError:  # PyYAML without libyaml
    from yaml import SafeLoader as EventLoader  # type: ignore[assignment]

MAX_BYTES = 1 << 16
MAX_DEPTH = 16
MAX_LEAVES = 20_000


class Leaf(msgspec.Struct, frozen=True):
    """A scalar: the keys that lead to it (list places as `[0]`), its text, its line (from 1)."""

    path: tuple[str, ...]
    value: str
    line: int


class LeafError(Exception):
    """The text is no YAML, or more of it than a policy file can be; `line` from 1 where it is known."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


def leaves(text: str, loader: Any = None) -> tuple[Leaf, ...]:
    """All scalars of the first document. Raises `LeafError`; a second document and an alias are errors too."""
    if len(text) > MAX_BYTES:
        raise LeafError(f"it is longer than {MAX_BYTES} characters")
    try:
        return tuple(_walk(yaml.parse(text, Loader=loader or EventLoader)))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise LeafError(str(error.problem or error.context or "it is no valid YAML"), line) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise LeafError(str(error).splitlines()[0] if str(error) else "it is no valid YAML") from None


class _Frame:
    """An open mapping or list: the key that waits for its value, or the place of the next element."""

    def __init__(self, is_mapping: bool) -> None:
        self.is_mapping = is_mapping
        self.key: str | None = None
        self.place = 0

    def name(self) -> str:
        return (self.key or "") if self.is_mapping else f"[{self.place}]"

    def advance(self) -> None:
        self.key = None
        self.place += 1


def _walk(events: Iterator[yaml.Event]) -> Iterator[Leaf]:
    stack: list[_Frame] = []
    count = documents = 0
    for event in events:
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise LeafError("it holds more than one document", line)
        elif isinstance(event, yaml.AliasEvent):
            raise LeafError("it uses an alias, which no policy file does", line)
        elif isinstance(event, yaml.ScalarEvent):
            top = stack[-1] if stack else None
            if top is not None and top.is_mapping and top.key is None:
                top.key = event.value
                continue
            count += 1
            if count > MAX_LEAVES:
                raise LeafError(f"it holds more than {MAX_LEAVES} values", line)
            yield Leaf(tuple(frame.name() for frame in stack), event.value, line)
            if top is not None:
                top.advance()
        elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            if stack and stack[-1].is_mapping and stack[-1].key is None:
                raise LeafError("a key is no plain text", line)
            if len(stack) >= MAX_DEPTH:
                raise LeafError(f"it is nested deeper than {MAX_DEPTH} levels", line)
            stack.append(_Frame(isinstance(event, yaml.MappingStartEvent)))
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            stack.pop()
            if stack:
                stack[-1].advance()
