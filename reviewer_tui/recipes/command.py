"""Server commands in running text: where one begins, its environment, its words with their lines.

Nothing is expanded and nothing is run: a word with a shell variable stays as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from reviewer_tui.recipes.arm import Engine, Located, line_of

MAX_TEXT = 200_000
MAX_WORDS = 5_000

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_OPERATORS = ";&|<>"
# What a page leaves to its reader (`<node0-ip>`) is a word and no redirection.
_PLACEHOLDER = re.compile(r"<[A-Za-z][\w .-]{0,60}>")


class _Operator(str):
    """A line end, or what the shell puts between commands and before a redirection's target."""

    __slots__ = ()


class FoundCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A server command: `words` are the arguments after the program, `env` what stands before it (or was exported
    earlier in the same text), `line` where the program stands."""

    engine: Engine
    words: tuple[str, ...]
    env: dict[str, str]
    line: int


def server_commands(text: str, first_line: int = 1) -> list[FoundCommand]:
    """The server commands of a text, in order. `first_line` is the text's own line in its file."""
    found: list[FoundCommand] = []
    exported: dict[str, str] = {}
    for words in _commands(text[:MAX_TEXT], first_line):
        assigned, rest = _assignments(words)
        if rest[:1] == ["export"]:
            exported.update(_assignments(rest[1:])[0])
            continue
        if not rest:
            exported.update(assigned)
            continue
        start = _program(rest)
        if start is not None:
            engine, index = start
            inner = {**exported, **assigned, **_container_env(rest[:index])}
            found.append(
                FoundCommand(
                    engine=engine, words=tuple(rest[index:]), env=inner, line=line_of(rest[index - 1]) or first_line
                )
            )
    return found


def _program(words: list[str]) -> tuple[Engine, int] | None:
    """Which engine's server the words start, and the index of the first argument."""
    for index, word in enumerate(words):
        following = words[index + 1] if index + 1 < len(words) else ""
        if word in ("sglang", "vllm") and following == "serve":
            return ("sglang" if word == "sglang" else "vllm", index + 2)
        if word in ("sglang.launch_server", "dynamo.sglang"):
            return ("sglang", index + 1)
        if word in ("vllm.entrypoints.openai.api_server", "dynamo.vllm"):
            return ("vllm", index + 1)
    return None


def _assignments(words: list[str]) -> tuple[dict[str, str], list[str]]:
    env: dict[str, str] = {}
    for index, word in enumerate(words):
        if not _ASSIGNMENT.match(word):
            return env, words[index:]
        name, _, value = word.partition("=")
        env[name] = value
    return env, []


def _container_env(words: list[str]) -> dict[str, str]:
    """The variables that `docker run` hands to the container."""
    env: dict[str, str] = {}
    for index, word in enumerate(words):
        value = ""
        if word in ("-e", "--env") and index + 1 < len(words):
            value = words[index + 1]
        elif word.startswith("--env="):
            value = word.removeprefix("--env=")
        if _ASSIGNMENT.match(value):
            name, _, setting = value.partition("=")
            env[name] = setting
    return env


def _commands(text: str, first_line: int) -> Iterator[list[str]]:
    words: list[str] = []
    count = 0
    for word in split_words(text, first_line):
        count += 1
        if count > MAX_WORDS:
            return
        if isinstance(word, _Operator):
            if words:
                yield words
            words = []
            continue
        words.append(word)
    if words:
        yield words


def split_words(text: str, first_line: int = 1) -> Iterator[str]:
    """Shell words with their lines; line ends that are not continued and operators come as words of their own kind.

    Quotes are taken off, comments dropped (also one after a continued line's backslash, as the cookbook writes them).
    An unclosed quote ends with the text.
    """
    index, line, length = 0, first_line, len(text)
    word: list[str] | None = None
    started = first_line
    while index < length:
        character = text[index]
        if character == "\\" and index + 1 < length:
            jump = _line_end(text, index + 1)
            if jump:
                line += 1
                index += 1 + jump
                if word is not None and (index >= length or text[index] in " \t"):
                    yield Located("".join(word), started)
                    word = None
                continue
            started, word = (line, []) if word is None else (started, word)
            word.append(text[index + 1])
            index += 2
        elif character in "'\"":
            started, word = (line, []) if word is None else (started, word)
            closing, inner = _quoted(text, index)
            line += text.count("\n", index, closing)
            word.append(inner)
            index = closing
        elif character in " \t\r\n" or (character == "#" and word is None):
            if word is not None:
                yield Located("".join(word), started)
                word = None
            if character == "#":
                index, continued = _skip_comment(text, index)
                line += 1
                if not continued:
                    yield _Operator("\n")
                continue
            if character == "\n":
                yield _Operator("\n")
                line += 1
            index += 1
        elif (placeholder := _PLACEHOLDER.match(text, index)) is not None:
            started, word = (line, []) if word is None else (started, word)
            word.append(placeholder[0])
            index = placeholder.end()
        elif character in _OPERATORS:
            end = index + 1
            while end < length and text[end] in _OPERATORS:
                end += 1
            if word is not None and not (character in "<>" and "".join(word).isdigit()):
                yield Located("".join(word), started)
            word = None
            yield _Operator(text[index:end])
            index = end
        else:
            end = index + 1
            while end < length and text[end] not in " \t\r\n\\'\"" and text[end] not in _OPERATORS:
                end += 1
            started, word = (line, []) if word is None else (started, word)
            word.append(text[index:end])
            index = end
    if word is not None:
        yield Located("".join(word), started)


def plain_words(text: str, line: int | None) -> list[str]:
    """The words of one flag of a page, all on this line; operators are words there (a page runs no shell)."""
    return [Located(word, line) for word in split_words(text) if word != "\n"]


def _line_end(text: str, index: int) -> int:
    """The length of a line end at this place; 0 where there is none."""
    if text.startswith("\r\n", index):
        return 2
    return 1 if text.startswith("\n", index) else 0


def _quoted(text: str, index: int) -> tuple[int, str]:
    """The index after a quoted part, and what stands in it."""
    quote = text[index]
    parts: list[str] = []
    index += 1
    while index < len(text) and text[index] != quote:
        if quote == '"' and text[index] == "\\" and index + 1 < len(text) and text[index + 1] in '"\\$`':
            index += 1
        parts.append(text[index])
        index += 1
    return index + 1, "".join(parts)


def _skip_comment(text: str, index: int) -> tuple[int, bool]:
    """The index after a comment's line, and whether its end is a backslash that a reader means as a continuation."""
    end = text.find("\n", index)
    end = len(text) if end < 0 else end
    return end + 1, text[index:end].rstrip().endswith("\\")
