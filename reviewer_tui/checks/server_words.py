"""Words of a script's serve commands that come from outside of it, as they are written: nothing is evaluated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import get_args

import msgspec

from reviewer_tui.checks.shell_commands import Script, read_script
from reviewer_tui.launch.arguments import Engine, find_flag
from reviewer_tui.launch.serve_command import STARTS_A_SERVER

_MOST_INDIRECT = 4
_ARITHMETIC = re.compile(r"\$\(\((?:[^()]|\([^()]*\))*\)\)")
_WORD = re.compile(r"(?:\$\((?:[^()]|\([^()]*\))*\)|\$\{[^{}]*\}|\S)+")
_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)\}")


class OutsideWord(msgspec.Struct, frozen=True, kw_only=True):
    """A variable that stands as a word of its own in a command that serves, not as a flag's value, and that the script
    does not set; the command's lines (from 1, inclusive)."""

    name: str
    line: int
    end_line: int


def outside_words(path: str, text: str) -> Iterator[OutsideWord]:
    """Every such word of a shell script, in the order of the commands."""
    if not STARTS_A_SERVER.search(text):
        return
    script = read_script(text, path)
    for command in script.commands:
        for said in (command.text, *(value for _, value in command.assignments)):
            for before, word in pairwise(said.split()) if STARTS_A_SERVER.search(f"{said} ") else ():
                found = _VARIABLE.fullmatch(word)
                if found is not None and found[1] not in script.values and not _takes_a_value(before):
                    yield OutsideWord(name=found[1], line=command.line, end_line=command.end_line)


@lru_cache(maxsize=512)
def substitutes(path: str, text: str) -> bool:
    """Whether the output of a program stands among the words of a serve command, by itself or in a variable."""
    if not STARTS_A_SERVER.search(text) or ("$(" not in text and "`" not in text):
        return False
    script = read_script(text, path)
    said = (part for c in script.commands for part in (c.text, *(value for _, value in c.assignments)))
    return any(_is_substituted(script, word, 0) for text in said for word in _server_words(text))


def _server_words(said: str) -> Iterator[str]:
    """The words of a text that starts a server, but for the values of flags."""
    for before, word in pairwise(_WORD.findall(said)) if STARTS_A_SERVER.search(f"{said} ") else ():
        if "$" in word and not _takes_a_value(before):
            yield word


def _is_substituted(script: Script, word: str, depth: int) -> bool:
    if "$(" in _ARITHMETIC.sub("", word):
        return True
    names = _VARIABLE.findall(word) if depth < _MOST_INDIRECT else []
    return any(_is_substituted(script, value, depth + 1) for name in names for value in script.values.get(name, ()))


def _takes_a_value(word: str) -> bool:
    """Whether a word is a flag that takes the next word as its value, or the word before the model."""
    if word == "serve" or not word.startswith("--"):
        return word == "serve"
    flags = (find_flag(engine, word, None) for engine in get_args(Engine))
    return any(flag is not None and flag[0].takes not in ("0", "b") for flag in flags)
