"""Explicit claims in the text of a pull request: values, images, runs, commits, scores and numbers of points.

Only forms that can hardly mean anything else are taken. Code blocks, quotations and comments are no claims: they hold
logs, other people's words and the template's instructions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from reviewer_tui.model.pull_request import PullRequestRef

LONGEST_BODY = 100_000
MOST_CLAIMS = 200

Kind = Literal["parameter", "concurrency", "image", "run", "commit", "score", "points"]


class Claim(msgspec.Struct, frozen=True):
    """One claim: what is claimed (`tp`, `gsm8k`, empty where the kind says it), its value as written, and the line."""

    kind: Kind
    subject: str
    value: str
    line: int


_FENCE = re.compile(r"^[ \t]{0,3}(```|~~~)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)

_NOT_A_WORD = r"(?<![\w./-])"
# `tp 2`, `TP=2`, `ep: 2`, `--tp 2`; not `TP2.5`, `tp2x`, `step 2`. Longer names (`tp-size`) are flags of an engine.
_PARAMETER = re.compile(rf"{_NOT_A_WORD}(?:--)?(tp|ep|pp|dcp|pcp)[ \t]*[=:]?[ \t]*(\d{{1,3}})(?![\w%-]|\.\d)", re.I)
# `TP2/EP2`, `tp2ep2`: values that lean on each other.
_JOINED = re.compile(
    rf"{_NOT_A_WORD}((?:tp|ep|pp|dcp|pcp)\d{{1,3}}(?:[/ ]?(?:tp|ep|pp|dcp|pcp)\d{{1,3}})+)(?![\w%]|\.\d)", re.I
)
_PART = re.compile(r"(tp|ep|pp|dcp|pcp)(\d{1,3})", re.I)
# A number of something else ends a list: `concurrency 16, 32 on 2 GPUs`.
_ITEM = r"\d{1,6}(?![\w%]|\.\d|\s?(?:points?|gpus?|nodes?|arms?|rows?|lanes?|evals?|runs?|keys?|users?|times)\b)"
_LIST = rf"{_ITEM}(?:\s?(?:,|/|and|,\s?and|&|to|-|–|\.\.)\s?{_ITEM}){{0,30}}"
_CONCURRENCY = re.compile(
    rf"{_NOT_A_WORD}conc(?:urrency|urrencies|s|-list)?[ \t]*(?:[=:]|of|at)?[ \t]*\[?({_LIST})(?![\w%]|\.\d)", re.I
)
_NUMBER = re.compile(r"\d+")
_IMAGE = re.compile(
    r"(?<![\w./:@#-])((?:[a-z0-9][a-z0-9.-]{0,60}(?::\d{1,5})?[/#])?[a-z0-9][a-z0-9._-]{0,60}/[a-z0-9][a-z0-9._/-]{0,80}"
    r":[A-Za-z0-9_][\w.-]{0,127}(?:@sha256:[0-9a-f]{64})?)(?![\w/:-])"
)
_RUN = re.compile(
    r"https?://[\w.:-]{1,100}/([\w.-]{1,39}/[\w.-]{1,100})/actions/runs/(\d{1,18})\b|[?&]unofficialRun=(\d{1,18})\b"
)
_COMMIT = re.compile(
    r"/pull/(\d{1,9})/commits/([0-9a-f]{7,40})\b|\bhead(?: commit| sha)?:?\s{0,3}`?([0-9a-f]{7,40})\b`?", re.I
)
_SCORE = re.compile(r"\bgsm8k\b([^\n|]{0,40}?)(?<![\d.])(0\.\d{2,6}|1\.0{1,6}|\d{2}(?:\.\d{1,4})?[ ]?%|100[ ]?%)", re.I)
# What is before the number of a bar, of an older state, or of a difference.
_OTHER_SCORE = re.compile(
    r"\b(?:bar|threshold|min|minimum|baseline|published|previous|before|was|from|main|old|vs|versus|above|over)\b|[≥>≤<±+]|\bby\b",
    re.I,
)
_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_POINTS = re.compile(
    rf"\badd(?:s|ed|ing)?\s(?:the\s)?(\d{{1,4}}|{'|'.join(_WORDS)})\s(?:new\s|more\s|additional\s)?(?:sweep\s|benchmark\s)?points?\b",
    re.I,
)


def claims_of(body: str, ref: PullRequestRef) -> tuple[Claim, ...]:
    """The claims of a pull request's body, in its order. Each is told once."""
    found: dict[tuple[Kind, str, str], Claim] = {}
    for line, text in _prose(body):
        for kind, subject, value in _claims_of_line(text, ref):
            found.setdefault((kind, subject, value), Claim(kind, subject, value, line))
            if len(found) >= MOST_CLAIMS:
                return tuple(found.values())
    return tuple(found.values())


def number_of(value: str) -> int:
    """A number as written, in digits or as a word."""
    return int(value) if value.isdigit() else _WORDS.index(value.lower()) + 1


def _prose(body: str) -> Iterator[tuple[int, str]]:
    """Number (from 1) and text of the lines that speak for the author."""
    text = body[:LONGEST_BODY].replace("\r\n", "\n")
    text = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and not line.lstrip().startswith(">"):
            yield number, line


def _claims_of_line(text: str, ref: PullRequestRef) -> Iterator[tuple[Kind, str, str]]:
    for match in _RUN.finditer(text):
        if match[3] or match[1].lower() == ref.repository.lower():
            yield "run", "", match[2] or match[3]
    for match in _COMMIT.finditer(text):
        if match[3] or int(match[1]) == ref.number:
            yield "commit", "", (match[2] or match[3]).lower()
    plain = re.sub(r"https?://\S+", " ", text)
    for match in _IMAGE.finditer(plain):
        yield "image", "", match[1].rstrip(".-")
    plain = _IMAGE.sub(" ", plain)
    for match in _PARAMETER.finditer(plain):
        yield "parameter", match[1].lower(), str(int(match[2]))
    for match in _JOINED.finditer(plain):
        for name, value in _PART.findall(match[1]):
            yield "parameter", name.lower(), str(int(value))
    for match in _CONCURRENCY.finditer(plain):
        for value in _NUMBER.findall(match[1]):
            yield "concurrency", "", str(int(value))
    for match in _SCORE.finditer(plain):
        if not _OTHER_SCORE.search(match[1]):
            yield "score", "gsm8k", match[2]
    for match in _POINTS.finditer(plain):
        yield "points", "", match[1].lower()
