"""Find what a detail section says about an item whose box was left open.

The verifier accepts an open box whose reason stands in the detail section, and judges the reason by its meaning. What
can be recognised mechanically is graded here; whether a reason is good enough is the reader's judgement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from reviewer_tui.model.checklist import ChecklistItem, ChecklistTemplate
from reviewer_tui.signoff.titles import item_title

Grade = Literal["named", "worded", "hinted", "general", "none"]

# Words by which reviewers speak about an item without naming it.
_VOCABULARY: dict[str, str] = {
    "latest": "latest version template",
    "quality": "quality",
    "validation": "validation sweep sweeps ci",
    "evals": "eval evals evaluation accuracy gsm8k",
    "chat_template": "chat-template chat speculative spec-decode spec-decoding non-speculative mtp eagle",
    "draft_as_shipped": "draft speculative spec-decode non-speculative mtp eagle dspark",
    "golden_al": "golden al acceptance synthetic agentic non-agentic speculative non-speculative mtp eagle 8k1k",
    "deprecated": "deprecated deprecation models.md retired",
    "architecture": "architecture flops hf-overrides",
    "upstream_images": "image images docker upstream fork",
    "engine_first": "engine-first trt trt-llm tensorrt atom framework frameworks",
    "recipe": "recipe recipes cookbook disagg disaggregated multi-node multinode",
    "recipe_merged": "recipe recipes cookbook merged upstream disagg disaggregated multi-node multinode",
    "engine_patch": "patch patches patched patching waiver",
    "append_only": "append-only append appended",
    "exceptions": "exception exceptions reasoning",
    "pareto": "pareto frontier",
}

_LABEL = r"\d{1,2}[a-z]?"
_ASIDE = r"(?:\s{0,3}\([^()]{0,80}\))?"
_JOIN = r"\s{0,3}(?:,\s{0,3}and|,|;|/|&|\+|and|or|to|through|-|–|、|和|及|与|至|到)\s{0,3}"
_REFERENCE = re.compile(
    r"(?:\b(?:items?|check ?box(?:es)?|box(?:es)?|bullets?|nos?\.)\s{0,3}[#(]?\s{0,2}|第\s{0,2}|(?<![\w/])(?<!PR )#)"
    rf"(?P<list>{_LABEL}{_ASIDE}(?:{_JOIN}#?{_LABEL}{_ASIDE}){{0,40}})(?![A-Za-z0-9_])",
    re.IGNORECASE,
)
_RANGE = re.compile(r"(\d{1,2})[a-z]?\s{0,3}(?:-|–|to|through|至|到)\s{0,3}#?(\d{1,2})", re.IGNORECASE)
_ONE_LABEL = re.compile(_LABEL, re.IGNORECASE)
_LEADING = re.compile(rf"\s*(?:[-*+•]\s+)?\**\(?(?P<label>{_LABEL})\)?\**\s*[.:：)–—-]\s", re.IGNORECASE)
_CHECK = re.compile(rf"\b(?:checks?|points?|lines?)\s{{1,3}}#?({_LABEL})(?![A-Za-z0-9_])", re.IGNORECASE)
_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s")
_GENERAL = re.compile(
    r"\b(?:un-?(?:ticked|checked|marked)|(?:left|kept) (?:open|blank|empty|un\w+)|not (?:ticked|checked)|remaining"
    r"|(?:other|open|empty) (?:items?|boxes)|rest of the)\b|未勾选|其余",
    re.IGNORECASE,
)
_EXCUSE = re.compile(
    r"\bn\s?/\s?a\b|\bnot?\b|\bnone\b|n't\b|\bwithout\b|\bcannot\b|\bskip(?:s|ped)?\b|\bopen\b|\bpending\b|\bun(?:supported|changed|touched)\b"
    r"|\bnon-\w|不适用|没有|未|无",
    re.IGNORECASE,
)
# What says of the items named right before that their boxes are not ticked.
_SAID_OPEN = re.compile(
    r"\s{0,3}[:,–—-]?\s{0,3}(?:(?:is|are|was|were|stays?|remains?)\s{1,3})?(?:still\s{1,3})?(?:"
    r"(?:left|kept)\s{1,3}(?:open|blank|empty|un(?:ticked|checked|marked))\b|un(?:ticked|checked|marked)\b"
    r"|not\s{1,3}(?:ticked|checked)\b|(?<=\s)open(?=\s{0,3}(?:[:;,.()–—]|$|because\b|as\b|since\b)))",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.;!?])\s+|(?<=[。；！？])")
_FILLER = frozenset(("is", "are", "was", "left", "kept", "open", "unticked", "unchecked", "the", "a", "and", "or"))
_TOKEN = re.compile(r"[^\W_]+(?:[-./][^\W_]+)*")
_URL = re.compile(r"https?://\S+")
_TODO = re.compile(r"\bTODO\b.*", re.DOTALL)


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """What the detail section says about an item, in its own words.

    `grade`: `named` (the item's number, with a reason), `worded` (its subject, with a reason), `hinted` (its subject
    is spoken of), `general` (a sentence about open boxes, none by name) or `none`.
    """

    grade: Grade
    text: str = ""
    line: int | None = None

    @property
    def recognised(self) -> bool:
        return self.grade in ("named", "worded")


class Saying(msgspec.Struct, frozen=True, kw_only=True):
    """What a paragraph or list entry says of the items whose numbers are `labels` (lower case, as in the text). It
    stands on the lines from `line` to `last_line`."""

    labels: frozenset[str]
    text: str
    line: int
    last_line: int


class _Statement(msgspec.Struct, frozen=True, kw_only=True):
    """A paragraph or list entry: its text (up to what is still to do in it), its first and last line, the items it
    names by number, and those of them that it says to be open."""

    text: str
    line: int
    last_line: int
    labels: frozenset[str]
    said_open: frozenset[str]
    to_do: bool


def explain(item: ChecklistItem, template: ChecklistTemplate, detail: str, first_line: int = 1) -> Explanation:
    """The best that a detail section has for one open item. `first_line` is the line of the section's first line in
    the whole text."""
    statements = tuple(_statements(detail, template, first_line))
    graded = [(_grade(statement, item), statement) for statement in statements]
    to_do = any(statement.to_do and item.label.lower() in statement.labels for statement in statements)
    # A reason that is announced as still to do is none, whatever else the section says.
    grades: tuple[Grade, ...] = ("named",) if to_do else ("named", "worded", "hinted", "general")
    for grade in grades:
        for found, statement in graded:
            if found == grade:
                return Explanation(grade=grade, text=statement.text, line=statement.line)
    return Explanation(grade="none")


def still_to_do(detail: str, template: ChecklistTemplate, first_line: int = 1) -> tuple[Saying, ...]:
    """Where the section announces that something is still to do, with the items named there."""
    return tuple(
        Saying(labels=said.labels, text=said.text, line=said.line, last_line=said.last_line)
        for said in _statements(detail, template, first_line)
        if said.to_do
    )


def said_open(detail: str, template: ChecklistTemplate, first_line: int = 1) -> tuple[Saying, ...]:
    """Where the section says of items, by number, that their boxes are open."""
    return tuple(
        Saying(labels=said.said_open, text=said.text, line=said.line, last_line=said.last_line)
        for said in _statements(detail, template, first_line)
        if said.said_open
    )


def said_of(item: ChecklistItem, template: ChecklistTemplate, detail: str) -> tuple[str, ...]:
    """What the section says of an item: the paragraphs and list entries that name its number, and those under its
    subject (`Quality: …`) that name no other's."""
    return tuple(
        said.text
        for said in _statements(detail, template, 1)
        if item.label.lower() in said.labels or (not said.labels and _is_under(said.text, item))
    )


def _is_under(text: str, item: ChecklistItem) -> bool:
    heading, colon, _ = text.partition(":")
    return bool(colon and _tokens(heading) & _vocabulary(item))


def _statements(detail: str, template: ChecklistTemplate, first_line: int) -> Iterator[_Statement]:
    """The section's paragraphs and list entries, without the placeholder and whatever is still to do."""
    block: list[str] = []
    start = first_line
    lines = detail.split("\n")
    placeholder = " ".join((template.placeholder or "").strip(" -*+\t").casefold().split())
    for number, line in enumerate([*lines, ""], first_line):
        ends = not line.strip() or _BULLET.match(line) or _LEADING.match(line)
        if ends and block:
            text = " ".join(" ".join(block).split())
            if text.strip(" -*+\t").casefold() != placeholder:
                yield _statement(text, start, number - 1)
            block = []
        if line.strip():
            start = start if block else number
            block.append(line)


def _statement(text: str, line: int, last_line: int) -> _Statement:
    named = [(found, frozenset(_labels(found["list"]))) for found in _REFERENCE.finditer(text)]
    return _Statement(
        text=_TODO.sub("", text),
        line=line,
        last_line=last_line,
        labels=frozenset().union(*(labels for _, labels in named)),
        said_open=frozenset().union(*(labels for found, labels in named if _SAID_OPEN.match(text, found.end()))),
        to_do=_TODO.search(text) is not None,
    )


def _labels(listed: str) -> Iterator[str]:
    listed = re.sub(r"\([^()]*\)", " ", listed)
    for first, last in _RANGE.findall(listed):
        yield from (str(number) for number in range(int(first), min(int(last), 99) + 1))
    yield from (found[0].lower() for found in _ONE_LABEL.finditer(listed))


def _grade(statement: _Statement, item: ChecklistItem) -> Grade:
    if item.label.lower() in statement.labels:
        return "named" if _has_reason(statement.text, item) else "none"
    vocabulary = _vocabulary(item)
    hinted = False
    for sentence in _SENTENCE.split(statement.text):
        if not _tokens(sentence) & vocabulary or not _has_reason(sentence, item):
            continue
        if item.known and _EXCUSE.search(sentence):
            return "worded"
        hinted = True
    if hinted or (_perhaps_numbered(statement.text, item.label) and _has_reason(statement.text, item)):
        return "hinted"
    return "general" if _GENERAL.search(statement.text) and not statement.labels else "none"


def _perhaps_numbered(text: str, label: str) -> bool:
    """Whether a number may mean the item: as a list entry's, or a check's (those are numbered differently)."""
    leading = _LEADING.match(text)
    numbers = [leading["label"]] if leading else []
    return label.lower() in (number.lower() for number in (*numbers, *_CHECK.findall(text)))


def _has_reason(text: str, item: ChecklistItem) -> bool:
    """Whether anything is said besides links, the item's number and its name."""
    rest = _LEADING.sub(" ", _REFERENCE.sub(_asides, _URL.sub(" ", text)))
    return bool(_tokens(rest) - _FILLER - frozenset(item.name.split("_")) - _tokens(item_title(item)))


def _asides(reference: re.Match[str]) -> str:
    """What stands in brackets after the numbers of a reference."""
    return " ".join(re.findall(r"\([^()]*\)", reference["list"]))


def _tokens(text: str) -> frozenset[str]:
    words = _TOKEN.findall(_URL.sub(" ", text).casefold())
    return frozenset(token for word in words for token in (word, *re.split(r"[-./]", word)))


def _vocabulary(item: ChecklistItem) -> frozenset[str]:
    if item.known:
        return frozenset(_VOCABULARY.get(item.name, item.name.replace("_", " ")).split())
    # Of an item this program does not know, only its longer words can hint at it.
    return frozenset(token for token in _TOKEN.findall(_URL.sub(" ", item.text).casefold()) if len(token) > 6)
