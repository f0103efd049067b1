"""Glob patterns (`case`, `[[ = ]]`, `${x%…}`) and regular expressions (`[[ =~ ]]`) of a script that nobody trusts.

A pattern is matched in bounded time: a glob without backtracking, a regular expression only where it is simple enough
that it cannot take long. What is not matched here is None, "not known".

Source: the bash reference manual, "Pattern Matching".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

Pieces: TypeAlias = tuple[tuple[str, bool], ...]
"""The pieces of a pattern: text, and whether it is quoted (then its characters stand for themselves)."""

_MAX_TEXT = 2048
_MAX_REGEX_TEXT = 200
_MAX_QUANTIFIERS = 3
_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r" \t",
    "digit": "0-9",
    "lower": "a-z",
    "punct": re.escape("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
    "space": r"\s",
    "upper": "A-Z",
    "word": r"\w",
    "xdigit": "0-9A-Fa-f",
}
_BRACKET = re.compile(r"\[([!^]?)(\]?(?:\[:\w+:\]|[^\]])*)\]")
ACTIVE = re.compile(r"[*?\[@+!]")
"""A character that may stand for others where it is not quoted."""
_CHOICES = re.compile(r"@\(([^()]*)\)")
_ESCAPED = re.compile(r"[\\\[\]^]")


class _Star:
    """`*` in a compiled glob."""


_STAR = _Star()
_Compiled: TypeAlias = tuple["re.Pattern[str] | _Star", ...]


@lru_cache(maxsize=1024)
def _compile(pieces: Pieces) -> _Compiled | None:
    """A glob as stretches of fixed length between stars; None where it uses what is not read (extended globs)."""
    compiled: list[re.Pattern[str] | _Star] = []
    fixed = ""
    for text, quoted in pieces:
        at = 0
        while at < len(text):
            char = text[at]
            if not quoted and char == "*":
                if fixed:
                    compiled.append(re.compile(fixed, re.S))
                    fixed = ""
                if not compiled or compiled[-1] is not _STAR:
                    compiled.append(_STAR)
            elif not quoted and char == "?":
                fixed += "."
            elif not quoted and char == "[" and (bracket := _BRACKET.match(text, at)):
                fixed += _class(bracket.group(1), bracket.group(2))
                at = bracket.end()
                continue
            elif not quoted and char in "@+!" and text[at + 1 : at + 2] == "(":
                return None
            else:
                fixed += re.escape(char)
            at += 1
            if not quoted and char in "*?" and text[at : at + 1] == "(":
                return None
    if fixed:
        compiled.append(re.compile(fixed, re.S))
    return tuple(compiled)


def _class(negation: str, inside: str) -> str:
    body = re.sub(r"\[:(\w+):\]", lambda m: "\0" + m.group(1) + "\0", inside)
    pieces = body.split("\0")
    text = "".join(
        _CLASSES.get(piece, "") if number % 2 else _ESCAPED.sub(lambda m: "\\" + m.group(), piece)
        for number, piece in enumerate(pieces)
    )
    try:
        re.compile(f"[{text}]")
    except re.error:
        return "(?!)"
    return f"[{'^' if negation else ''}{text}]"


@lru_cache(maxsize=4096)
def matches(pieces: Pieces, text: str) -> bool | None:
    """Whether a glob matches the whole text."""
    if all(quoted for _, quoted in pieces):
        return "".join(piece for piece, _ in pieces) == text
    alternatives = _alternatives(pieces)
    if alternatives is not None:
        found = [matches(alternative, text) for alternative in alternatives]
        return True if True in found else (None if None in found else False)
    compiled = _compile(pieces)
    return None if compiled is None else _matches(compiled, text)


def _alternatives(pieces: Pieces) -> list[Pieces] | None:
    """The choices of one `@(a|b)`, each with the text around it."""
    for number, (text, quoted) in enumerate(pieces):
        found = None if quoted else _CHOICES.search(text)
        if found:
            before, after = pieces[:number], pieces[number + 1 :]
            return [
                (*before, (text[: found.start()] + choice + text[found.end() :], False), *after)
                for choice in found.group(1).split("|")[:50]
            ]
    return None


def _matches(compiled: _Compiled, text: str) -> bool:
    at, anchored = 0, True
    for number, item in enumerate(compiled):
        if isinstance(item, _Star):
            anchored = False
            continue
        if number == len(compiled) - 1 and not anchored:
            # The last stretch stands at the end; its length is that of its only possible match there.
            return any(item.fullmatch(text, start) is not None for start in range(at, len(text) + 1))
        found = item.match(text, at) if anchored else item.search(text, at)
        if found is None:
            return False
        at, anchored = found.end(), True
    return not anchored or at == len(text)


@lru_cache(maxsize=1024)
def strip(pieces: Pieces, text: str, suffix: bool, longest: bool) -> str | None:
    """The text without the part at its end (or start) that the glob matches; None where that is not known."""
    sizes: Sequence[int] = range(len(text) + 1)
    if all(quoted or not ACTIVE.search(piece) for piece, quoted in pieces):
        whole = "".join(piece for piece, _ in pieces)
        return text.removesuffix(whole) if suffix else text.removeprefix(whole)
    if len(text) > _MAX_TEXT:
        return None
    for size in reversed(sizes) if longest else sizes:
        part = text[len(text) - size :] if suffix else text[:size]
        found = matches(pieces, part)
        if found is None:
            return None
        if found:
            return text[: len(text) - size] if suffix else text[size:]
    return text


def replace(pieces: Pieces, text: str, replacement: str, every: bool, anchor: str = "") -> str | None:
    """`${x/pattern/replacement}`; `anchor` is `#` or `%`. None where the result is not known."""
    plain = all(quoted or not ACTIVE.search(piece) for piece, quoted in pieces)
    whole = "".join(piece for piece, _ in pieces)
    if not whole:
        return {"#": replacement + text, "%": text + replacement}.get(anchor, text)
    if plain and not anchor:
        return text.replace(whole, replacement, -1 if every else 1)
    if anchor:
        return _replace_anchored(pieces, text, replacement, anchor)
    compiled = _compile(pieces)
    if compiled is None or any(isinstance(item, _Star) for item in compiled) or len(compiled) != 1:
        return None
    item = compiled[0]
    assert isinstance(item, re.Pattern)
    return item.sub(lambda _: replacement, text, count=0 if every else 1)


def _replace_anchored(pieces: Pieces, text: str, replacement: str, anchor: str) -> str | None:
    if len(text) > _MAX_TEXT:
        return None
    for size in range(len(text), -1, -1):
        part = text[:size] if anchor == "#" else text[len(text) - size :]
        found = matches(pieces, part)
        if found is None:
            return None
        if found:
            return replacement + text[size:] if anchor == "#" else text[: len(text) - size] + replacement
    return text


@lru_cache(maxsize=512)
def simple_regex(pieces: Pieces) -> re.Pattern[str] | None:
    """An extended regular expression that Python reads in the same way and cannot take long over; else None."""
    source = "".join(re.escape(text) if quoted else text for text, quoted in pieces)
    source = re.sub(r"\[:(\w+):\]", lambda m: _CLASSES.get(m.group(1), m.group()), source)
    bare = re.sub(r"\\.|\[\^?\]?[^\]]*\]", "x", source)
    quantifiers = len(re.findall(r"[*+?]|\{", bare))
    if quantifiers > _MAX_QUANTIFIERS or re.search(r"\)[*+{]|\(\?|[*+?}][*+?{]", bare) or len(source) > 500:
        return None
    try:
        return re.compile(source)
    except re.error:
        return None


def regex_groups(pieces: Pieces, text: str) -> tuple[str, ...] | bool | None:
    """The groups of a regular expression's match in the text (the whole first), False without a match, None where
    that is not known."""
    pattern = simple_regex(pieces)
    if pattern is None or len(text) > _MAX_REGEX_TEXT:
        return None
    found = pattern.search(text)
    return (found.group(), *(group or "" for group in found.groups())) if found else False
