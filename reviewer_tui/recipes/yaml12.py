"""YAML as the recipe site reads it: YAML 1.2 scalars (`on` and `08:30` are texts), texts with their lines.

vLLM's builder uses js-yaml, whose truth values and numbers are not PyYAML's, so scalars are resolved here from
libyaml's events. Repeated keys are refused, as js-yaml refuses them. Size, depth and aliases are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import yaml

from reviewer_tui.recipes.arm import Located
from reviewer_tui.recipes.reading import UnreadableError

try:
    from yaml import CSafeLoader as EventLoader
except ImportError:  # PyYAML without libyaml
    from yaml import SafeLoader as EventLoader  # type: ignore[assignment]

MAX_BYTES = 2_000_000
MAX_NODES = 100_000
MAX_ALIASES = 200
MAX_DEPTH = 40

_INTEGER = re.compile(r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0o[0-7_]+|[0-9][0-9_]*)")
_FLOAT = re.compile(
    r"[-+]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?|\.[0-9_]+(?:[eE][-+]?[0-9]+)?|\.(?:inf|Inf|INF))"
    r"|\.(?:nan|NaN|NAN)"
)
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
}


def load(content: bytes, path: str, loader: Any = None) -> Any:
    """The single document of a file. Raises `UnreadableError` with the line of the fault."""
    if len(content) > MAX_BYTES:
        raise UnreadableError(path, f"The file has {len(content)} bytes; at most {MAX_BYTES} are read.", "too-large")
    try:
        return _Builder(path).build(yaml.parse(content, Loader=loader or EventLoader))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark is not None else None
        raise UnreadableError(
            path, f"This is not valid YAML: {error.problem or error.context}.", "yaml", line
        ) from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise UnreadableError(path, f"This is not valid YAML: {str(error).splitlines()[0]}.", "yaml") from None


class _Builder:
    """Builds values from events, counting them."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.anchors: dict[str, Any] = {}
        self.nodes = 0
        self.aliases = 0

    def fail(self, event: yaml.Event, message: str, rule: str) -> UnreadableError:
        return UnreadableError(self.path, message, rule, _line(event))

    def build(self, events: Iterable[yaml.Event]) -> Any:
        stream = iter(events)
        documents = 0
        value: Any = None
        for event in stream:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise self.fail(event, "The file has more than one document.", "yaml")
            elif not isinstance(event, yaml.StreamStartEvent | yaml.StreamEndEvent | yaml.DocumentEndEvent):
                value = self.value(event, stream, 0)
        return value

    def value(self, event: yaml.Event, stream: Iterator[yaml.Event], depth: int) -> Any:
        self.nodes += 1
        if self.nodes > MAX_NODES or depth > MAX_DEPTH:
            raise self.fail(event, "The document is too large or too deeply nested.", "too-large")
        if isinstance(event, yaml.ScalarEvent):
            return self.remember(event, _scalar(event))
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[Any] = self.remember(event, [])
            for child in stream:
                if isinstance(child, yaml.SequenceEndEvent):
                    return items
                items.append(self.value(child, stream, depth + 1))
        if isinstance(event, yaml.MappingStartEvent):
            return self.mapping(event, stream, depth)
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event)
        raise self.fail(event, "The document ends too early.", "yaml")

    def mapping(self, event: yaml.MappingStartEvent, stream: Iterator[yaml.Event], depth: int) -> dict[str, Any]:
        result: dict[str, Any] = self.remember(event, {})
        merged: list[dict[str, Any]] = []
        for key_event in stream:
            if isinstance(key_event, yaml.MappingEndEvent):
                for other in merged:
                    result.update({k: v for k, v in other.items() if k not in result})
                return result
            key = self.value(key_event, stream, depth + 1)
            value = self.value(next(stream), stream, depth + 1)
            if key == "<<" and isinstance(key_event, yaml.ScalarEvent) and key_event.implicit[0]:
                merged += [part for part in (value if isinstance(value, list) else [value]) if isinstance(part, dict)]
                continue
            name = _key(key)
            if name in result:
                raise self.fail(key_event, f"The key {name} is there twice.", "duplicate-key")
            result[name] = value
        raise self.fail(event, "The document ends too early.", "yaml")

    def remember(self, event: yaml.NodeEvent, value: Any) -> Any:
        if event.anchor is not None:
            self.anchors[event.anchor] = value
        return value

    def alias(self, event: yaml.AliasEvent) -> Any:
        self.aliases += 1
        if self.aliases > MAX_ALIASES:
            raise self.fail(event, f"The document has more than {MAX_ALIASES} aliases.", "too-large")
        if event.anchor not in self.anchors:
            raise self.fail(event, f"The alias {event.anchor} has no anchor before it.", "yaml")
        return self.anchors[event.anchor]


def _line(event: yaml.Event) -> int | None:
    mark = event.start_mark
    return None if mark is None else int(mark.line) + 1


def _key(value: Any) -> str:
    """A key as JavaScript writes it into an object."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def _scalar(event: yaml.ScalarEvent) -> Any:
    text = event.value
    located = Located(text, _line(event))
    if not event.implicit[0] or event.tag is not None or event.style in ("'", '"', "|", ">"):
        return located
    if text in _WORDS:
        return _WORDS[text]
    digits = text.replace("_", "")
    if _INTEGER.fullmatch(text) and not text.endswith("_"):
        return int(digits, 0 if digits.lstrip("+-")[:2] in ("0b", "0x", "0o") else 10)
    if _FLOAT.fullmatch(text) and not text.endswith("_"):
        return float(digits.lower().replace(".inf", "inf").replace(".nan", "nan"))
    return located
