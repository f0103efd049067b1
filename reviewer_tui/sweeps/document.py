"""Reading any YAML text of a stranger: bounded in size, depth and expanded aliases, with the line of every value.

The values are those of PyYAML's SafeLoader. Faults are located problems, never exceptions: duplicate keys (the last one
wins, as for SafeLoader), more than one document, recursive or exploding aliases, unknown tags, broken syntax.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from reviewer_tui.model.finding import Problem

MAX_DEPTH = 64
MAX_EVENTS = 200_000
"""A master config of 10,000 lines has about 45,000 events; this many are read in well under a second."""
MAX_PURE_EVENTS = 20_000
"""The same bound where libyaml is missing and PyYAML's own scanner, ten times slower, reads the text."""
MAX_EXPANDED = 300_000
"""How many values the text may stand for once every alias is written out."""
MAX_CHARACTERS = 8_000_000
MAX_SCALAR = 100_000
MAX_PATH = 400
MAX_PROBLEMS = 100

_MERGE_TAG = "tag:yaml.org,2002:merge"
_STRING_TAG = "tag:yaml.org,2002:str"
_COLLECTION_TAGS = (None, "!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """One YAML text: its value, the line (from 1) of each dotted path outside of flow values, and its faults.

    `readable` is false where the text as a whole has no value that a SafeLoader would give; `value` is None then.
    """

    value: Any
    lines: dict[str, int]
    problems: tuple[Problem, ...] = ()
    readable: bool = True


class _UnreadableError(Exception):
    """The text has no value. `mark` is where (PyYAML's, from 0)."""

    def __init__(self, rule: str, message: str, mark: Any = None) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message
        self.mark = mark


def read_document(text: str, path: str, *, pure: bool = False) -> Document:
    """The single document of a text. `pure` reads without libyaml, as happens by itself where libyaml is missing."""
    import yaml

    composer = _Composer(path, libyaml=yaml.__with_libyaml__ and not pure)
    try:
        value = composer.compose(text)
    except _UnreadableError as fault:
        composer.report(fault.rule, fault.message, fault.mark)
    except yaml.YAMLError as error:
        said = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read"
        mark = getattr(error, "problem_mark", None) or _position(text, getattr(error, "position", None))
        composer.report("yaml", f"This is not valid YAML: {said}.", mark)
    except (ValueError, OverflowError) as error:
        composer.report("yaml", f"This is not valid YAML: {error}.", None)
    else:
        return Document(value=value, lines=composer.lines, problems=tuple(composer.problems))
    return Document(value=None, lines={}, problems=tuple(composer.problems), readable=False)


class _Mark(NamedTuple):
    """A place as PyYAML has it: line and column from 0."""

    line: int
    column: int


def _position(text: str, position: int | None) -> _Mark | None:
    """The place of a character that YAML does not allow, of which PyYAML says only how many are before it."""
    if position is None:
        return None
    return _Mark(text.count("\n", 0, position), position - text.rfind("\n", 0, position) - 1)


class _Anchor:
    """What an anchor stands for, and for how many values. Open while its value is still being composed."""

    __slots__ = ("open", "value", "weight")

    def __init__(self, value: Any, *, is_open: bool) -> None:
        self.value = value
        self.weight = 1
        self.open = is_open


class _Frame:
    """A list or mapping that is being composed: its path (None where none is kept), and the key that waits."""

    __slots__ = ("anchor", "has_key", "key", "key_mark", "merged", "path", "value", "weight")

    def __init__(self, value: list[Any] | dict[Any, Any], path: str | None, anchor: _Anchor | None) -> None:
        self.value = value
        self.path = path
        self.anchor = anchor
        self.weight = 1
        self.has_key = False
        self.key: Any = None
        self.key_mark: Any = None
        self.merged: dict[Any, Any] | None = None

    def child_path(self) -> str | None:
        """The path of the value that comes next; None where it is a key, or where the path grows too long."""
        if self.path is None or len(self.path) > MAX_PATH:
            return None
        if isinstance(self.value, list):
            return f"{self.path}{len(self.value)}"
        return f"{self.path}{self.key}" if self.has_key and len(str(self.key)) <= MAX_PATH else None

    def close(self) -> None:
        """Put merged keys before the mapping's own, which win."""
        if self.merged is not None and isinstance(self.value, dict):
            own = dict(self.value)
            self.value.clear()
            self.value.update(self.merged)
            self.value.update(own)
        if self.anchor is not None:
            self.anchor.weight = self.weight
            self.anchor.open = False


class _Merge:
    """The key `<<`."""


class _Composer:
    """Builds the value from the stream of events, without recursion, counting what it builds."""

    def __init__(self, path: str, *, libyaml: bool) -> None:
        self._path = path
        self._libyaml = libyaml
        self._anchors: dict[str, _Anchor] = {}
        self._plain: dict[str, Any] = {}
        self._expanded = 0
        self.problems: list[Problem] = []
        self.lines: dict[str, int] = {}

    def report(self, rule: str, message: str, mark: Any) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            line, column = (None, None) if mark is None else (mark.line + 1, mark.column + 1)
            self.problems.append(Problem(path=self._path, message=message, rule=rule, line=line, column=column))

    def compose(self, text: str) -> Any:
        import yaml

        if len(text) > MAX_CHARACTERS:
            raise _UnreadableError(
                "too-large", f"The file has more than {MAX_CHARACTERS:,} characters; it is not read."
            )
        loader = yaml.CSafeLoader if self._libyaml else yaml.SafeLoader
        events = self._bounded(yaml.parse(text, Loader=loader))
        value: Any = None
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise _UnreadableError(
                        "multi-document", "The file holds more than one YAML document.", event.start_mark
                    )
                value = self._root(events)
        return value

    def _bounded(self, events: Iterator[Any]) -> Iterator[Any]:
        limit = MAX_EVENTS if self._libyaml else MAX_PURE_EVENTS
        for count, event in enumerate(events):
            if count > limit:
                raise _UnreadableError("too-large", f"The file has more than {limit:,} parts.", event.start_mark)
            yield event

    def _root(self, events: Iterator[Any]) -> Any:
        import yaml

        stack: list[_Frame] = []
        for event in events:
            if isinstance(event, yaml.CollectionEndEvent):
                frame = stack.pop()
                frame.close()
                if not stack:
                    return frame.value
                self._add(stack[-1], frame.value, frame.weight, event.start_mark)
            elif isinstance(event, yaml.CollectionStartEvent):
                stack.append(self._open(stack, event))
            else:
                value, weight = self._leaf(event)
                if not stack:
                    if value is _Merge:
                        raise _misplaced_merge(event.start_mark)
                    return value
                self._note_line(stack[-1], event.start_mark)
                self._add(stack[-1], value, weight, event.start_mark)
        return None

    def _open(self, stack: list[_Frame], event: Any) -> _Frame:
        import yaml

        mark = event.start_mark
        if len(stack) >= MAX_DEPTH:
            raise _UnreadableError("depth", f"The nesting is deeper than {MAX_DEPTH} levels.", mark)
        if event.tag not in _COLLECTION_TAGS:
            raise _UnreadableError("tag", f"The tag {event.tag[:80]!r} is not read.", mark)
        value: list[Any] | dict[Any, Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
        anchor = self._anchor(event, value, is_open=True)
        path: str | None = ""
        if stack:
            path = self._note_line(stack[-1], mark)
            path = None if path is None or event.flow_style else f"{path}."
        return _Frame(value, path, anchor)

    def _note_line(self, frame: _Frame, mark: Any) -> str | None:
        path = frame.child_path()
        if path is not None:
            self.lines[path] = (frame.key_mark if frame.has_key else mark).line + 1
        return path

    def _leaf(self, event: Any) -> tuple[Any, int]:
        import yaml

        if isinstance(event, yaml.AliasEvent):
            name = str(event.anchor)
            target = self._anchors.get(name)
            if target is None or target.open:
                what = "is not defined" if target is None else "stands inside of what it names"
                raise _UnreadableError("alias", f"The alias *{name[:80]} {what}.", event.start_mark)
            return target.value, target.weight
        value = self._scalar(event)
        self._anchor(event, value, is_open=False)
        return value, 1

    def _anchor(self, event: Any, value: Any, *, is_open: bool) -> _Anchor | None:
        if event.anchor is None:
            return None
        if event.anchor in self._anchors:
            raise _UnreadableError("anchor", f"The anchor &{event.anchor[:80]} is set twice.", event.start_mark)
        anchor = self._anchors[event.anchor] = _Anchor(value, is_open=is_open)
        return anchor

    def _scalar(self, event: Any) -> Any:
        """The value of a scalar: its tag by SafeLoader's resolvers, its value by SafeLoader's constructors."""
        import yaml

        text: str = event.value
        if len(text) > MAX_SCALAR:
            raise _UnreadableError("too-large", f"One value has more than {MAX_SCALAR:,} characters.", event.start_mark)
        if event.tag is None and not event.implicit[0]:
            return text
        untagged = event.tag is None or event.tag == "!"
        if untagged and text in self._plain:
            return self._plain[text]
        tag: str = event.tag or ""
        if untagged:
            resolvers = yaml.SafeLoader.yaml_implicit_resolvers
            candidates = resolvers.get(text[:1], ()) if event.implicit[0] else ()
            tag = next((str(name) for name, pattern in candidates if pattern.match(text)), _STRING_TAG)
        if tag == _MERGE_TAG:
            value: Any = _Merge
        else:
            construct = yaml.SafeLoader.yaml_constructors.get(tag)
            if construct is None:
                raise _UnreadableError("tag", f"The tag {tag[:80]!r} is not read.", event.start_mark)
            node = yaml.ScalarNode(tag, text, event.start_mark, event.end_mark)
            value = construct(yaml.constructor.SafeConstructor(), node)
        if untagged and event.implicit[0]:
            self._plain[text] = value
        return value

    def _add(self, frame: _Frame, value: Any, weight: int, mark: Any) -> None:
        self._expanded += weight
        frame.weight += weight
        if max(self._expanded, frame.weight) > MAX_EXPANDED:
            raise _UnreadableError("alias-expansion", f"The aliases stand for more than {MAX_EXPANDED:,} values.", mark)
        if value is _Merge and (frame.has_key or isinstance(frame.value, list)):
            raise _misplaced_merge(mark)
        if isinstance(frame.value, list):
            frame.value.append(value)
        elif not frame.has_key:
            if isinstance(value, list | dict):
                raise _UnreadableError("key", "A mapping has a list or a mapping as key.", mark)
            frame.key, frame.key_mark, frame.has_key = value, mark, True
        else:
            self._put(frame, value, mark)
            frame.has_key = False

    def _put(self, frame: _Frame, value: Any, mark: Any) -> None:
        fields = frame.value
        assert isinstance(fields, dict)
        if frame.key is _Merge:
            frame.merged = {**_merged(value, mark), **(frame.merged or {})}
            return
        if frame.key in fields:
            message = f"The key {str(frame.key)[:80]!r} is given twice; the last one counts."
            self.report("duplicate-key", message, frame.key_mark)
        fields[frame.key] = value


def _misplaced_merge(mark: Any) -> _UnreadableError:
    return _UnreadableError("merge", "The word << stands where only a value can.", mark)


def _merged(value: Any, mark: Any) -> dict[Any, Any]:
    """The keys that `<<: value` brings in: of several mappings the first one wins."""
    sources = value if isinstance(value, list) else [value]
    fields: dict[Any, Any] = {}
    for source in reversed(sources):
        if not isinstance(source, dict):
            raise _UnreadableError("merge", "Only mappings can be merged with '<<'.", mark)
        fields.update(source)
    return fields
