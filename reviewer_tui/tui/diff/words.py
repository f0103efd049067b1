"""Which words of a changed line changed."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

# Longer lines are shown without word marks: nobody reads them, and the cost grows with the square.
LONGEST_MARKED = 2_000

# Pairs that share less than this part of their words are two different lines: marks would only be noise.
_LEAST_ALIKE = 0.35

_TOKEN = re.compile(r"[^\W_]+|\s+|.", re.DOTALL)


class Marks(NamedTuple):
    """Changed spans (start, end in characters) of the old and of the new line."""

    old: tuple[tuple[int, int], ...] = ()
    new: tuple[tuple[int, int], ...] = ()


NO_MARKS = Marks()


@lru_cache(maxsize=4_096)
def word_marks(old: str, new: str) -> Marks:
    """The changed words of a pair of lines; none where the lines are equal, too long, or have too little in common."""
    if old == new or max(len(old), len(new)) > LONGEST_MARKED:
        return NO_MARKS
    # 23 ms to import, and only a reader of changed lines needs it.
    from diff_match_patch import diff_match_patch

    words: dict[str, str] = {}
    left, left_words = _encode(old, words)
    right, right_words = _encode(new, words)
    matcher = diff_match_patch()
    matcher.Diff_Timeout = 0.05
    diffs = matcher.diff_main(left, right, False)
    matcher.diff_cleanupSemantic(diffs)
    spelled = {code: word for word, code in words.items()}
    kept = sum(len(spelled[code]) for kind, text in diffs if kind == 0 for code in text if not spelled[code].isspace())
    longest = max(_visible_length(left_words), _visible_length(right_words))
    if kept < _LEAST_ALIKE * longest:
        return NO_MARKS
    return Marks(_spans(diffs, -1, spelled), _spans(diffs, 1, spelled))


def alike(old: str, new: str) -> float:
    """How much of their words two lines share, 0 to 1, order not regarded. Cheap."""
    left, right = set(_TOKEN.findall(old.strip())), set(_TOKEN.findall(new.strip()))
    if not left or not right:
        return 1.0 if left == right else 0.0
    return 2 * len(left & right) / (len(left) + len(right))


def _encode(line: str, words: dict[str, str]) -> tuple[str, list[str]]:
    """The line with one character for each word, and its words."""
    tokens = _TOKEN.findall(line)
    return "".join(words.setdefault(token, chr(0x100 + len(words))) for token in tokens), tokens


def _visible_length(tokens: list[str]) -> int:
    return sum(len(token) for token in tokens if not token.isspace())


def _spans(diffs: list[tuple[int, str]], side: int, spelled: dict[str, str]) -> tuple[tuple[int, int], ...]:
    spans: list[tuple[int, int]] = []
    at = 0
    for kind, text in diffs:
        if kind not in (0, side):
            continue
        length = sum(len(spelled[code]) for code in text)
        if kind == side:
            spans.append((at, at + length))
        at += length
    return tuple(spans)
