"""Which box of a sign-off answers which item of a template, and how faithfully.

Order does not matter, links are read as their text, and each item is answered at most once. A box belongs to an item
by its stable name (the anchors of `checklists/items.json`) or by the words they share, rare words counting more than
the long beginnings that several items have in common.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec
from diff_match_patch import diff_match_patch

from reviewer_tui.model.checklist import ChecklistItem, ChecklistTemplate, SignOff, SignOffBox
from reviewer_tui.policy.items import name_of, plain_text

Fidelity = Literal["exact", "drifted", "missing"]
Operation = Literal["equal", "insert", "delete"]

# Shares of an item's or a box's weight from which they are taken for each other.
_MOST_OF_ITEM = 0.45
_MOST_OF_BOX = 0.6
_SOME_OF_BOTH = 0.1

_WORD = re.compile(r"[^\W_]+")
_EMPHASIS = re.compile(r"\*+|`+|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)")
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u2011": "-"})
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe0f\ufeff]")
_LAST_LINK = re.compile(
    r"(?:(?<!\!)\[[^\[\]]{0,300}\]\([^()\s]{0,2000}\)|(?<!\]\()<?https?://[^\s<>]{1,2000}>?)[ \t]*[).,;]?[ \t]*$"
)
_BEFORE_LINK = " \t-:—–,;(→"
_LONGEST_LINK = 2_400
_MOST_LINKS = 8


class Segment(msgspec.Struct, frozen=True):
    """Words of a comparison: `equal` in both, `insert` only in the sign-off, `delete` only in the template."""

    operation: Operation
    text: str


class ItemMatch(msgspec.Struct, frozen=True, kw_only=True):
    """What a sign-off has for one item of the template.

    `segments` is the comparison word by word of a drifted item; `appended` are the links its author put after the
    wording; `kept` is the share of the item's words (0 to 1) that still stand in their order.
    """

    item: ChecklistItem
    fidelity: Fidelity
    box: SignOffBox | None = None
    segments: tuple[Segment, ...] = ()
    appended: str = ""
    kept: float = 0.0

    @property
    def checked(self) -> bool:
        return self.box is not None and self.box.checked


class Duplicate(msgspec.Struct, frozen=True):
    """A box for an item that another box already answers."""

    item: ChecklistItem
    box: SignOffBox


class Matching(msgspec.Struct, frozen=True, kw_only=True):
    """A sign-off held against a template. `items` has every boxed item of the template in its order."""

    items: tuple[ItemMatch, ...]
    unknown: tuple[SignOffBox, ...] = ()
    duplicates: tuple[Duplicate, ...] = ()

    def of(self, label_or_name: str) -> ItemMatch | None:
        """The match of an item by label or name."""
        return next((m for m in self.items if label_or_name in (m.item.label, m.item.name)), None)

    def at_line(self, line: int) -> ItemMatch | None:
        """The match whose box starts at a line of the sign-off."""
        return next((m for m in self.items if m.box and m.box.line == line), None)


def match_boxes(sign_off: SignOff, template: ChecklistTemplate) -> Matching:
    """Match the boxes of a sign-off to the boxed items of a template.

    Boxes in the detail section are free text first of all: they answer an item only where no box before them does.
    """
    wanted = _wanted(template)
    in_list, in_detail = ([_read(box, wanted) for box in boxes] for boxes in _by_place(sign_off))
    answers: dict[str, SignOffBox] = {}
    for boxes in (in_list, in_detail):
        answers |= _assign(boxes, [item for item in wanted.items if item.item.label not in answers], wanted)
    used = {box.line for box in answers.values()}
    duplicates, unknown = [], []
    for box in in_list:
        if box.box.line in used:
            continue
        item = max(wanted.items, key=lambda item: _score(item, box, wanted), default=None)
        if item and _score(item, box, wanted) > 0:
            duplicates.append(Duplicate(item.item, box.box))
        elif box.tokens:
            unknown.append(box.box)
    return Matching(
        items=tuple(_compared(item, answers.get(item.item.label)) for item in wanted.items),
        unknown=tuple(unknown),
        duplicates=tuple(duplicates),
    )


def written_from(sign_off: SignOff, templates: Sequence[ChecklistTemplate]) -> ChecklistTemplate | None:
    """The template a sign-off was copied from, of templates from oldest to newest; the newest of equals.

    None where it follows none of them: fewer than half of the items stand in their exact words.
    """
    best: tuple[tuple[int, int], ChecklistTemplate] | None = None
    for template in templates:
        matching = match_boxes(sign_off, template)
        exact = sum(m.fidelity == "exact" for m in matching.items)
        strange = sum(m.fidelity != "exact" for m in matching.items) + len(matching.unknown)
        if 2 * exact < len(matching.items) or not exact:
            continue
        same_links = sum(m.box is not None and _flat(m.item.text) in _flat(m.box.text) for m in matching.items)
        score = (exact - strange, same_links)
        if best is None or score >= best[0]:
            best = score, template
    return best[1] if best else None


def wording(text: str) -> tuple[str, ...]:
    """The words of an item as they are compared: links as their text, emphasis and invisible marks dropped, quotation
    marks and dashes made plain."""
    plain = plain_text(unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))).translate(_QUOTES)
    return tuple(_EMPHASIS.sub("", plain).split())


def diff_words(expected: Sequence[str], actual: Sequence[str]) -> tuple[Segment, ...]:
    """The difference of two wordings, word by word. Of an overlong text the end counts as inserted unread."""
    readable = 2 * len(expected) + 100
    codes: dict[str, str] = {}
    encoded = ["".join(_code(word, codes) for word in words) for words in (expected, actual[:readable])]
    words = {code: word for word, code in codes.items()}
    engine = diff_match_patch()
    engine.Diff_Timeout = 0  # No clock: the input is bounded instead.
    differences = engine.diff_main(encoded[0], encoded[1], False)
    operations: dict[int, Operation] = {0: "equal", 1: "insert", -1: "delete"}
    segments = [Segment(operations[op], " ".join(words[c] for c in coded)) for op, coded in differences if coded]
    if len(actual) > readable:
        segments.append(Segment("insert", " ".join(actual[readable:])))
    return tuple(segments)


class _Item(msgspec.Struct, frozen=True):
    """A boxed item, ready to be looked for: its words, its different tokens and their weight."""

    item: ChecklistItem
    words: tuple[str, ...]
    tokens: frozenset[str]
    weight: float


class _Wanted(msgspec.Struct, frozen=True):
    """All boxed items of a template, and what a token says about which one is meant: rare ones say more."""

    items: tuple[_Item, ...]
    weights: dict[str, float]
    unknown: float

    def weight(self, tokens: Iterable[str]) -> float:
        """The weight of different tokens; one of no item weighs as much as one of a single item."""
        return sum(self.weights.get(token, self.unknown) for token in tokens)


class _Box(msgspec.Struct, frozen=True):
    """A box, ready to be compared: its words, their tokens without links, the item name that it gives away, and the
    label of the item whose very words it has, but for links behind them."""

    box: SignOffBox
    words: tuple[str, ...]
    tokens: frozenset[str]
    weight: float
    name: str | None
    copy_of: str | None


@functools.lru_cache(maxsize=64)
def _wanted(template: ChecklistTemplate) -> _Wanted:
    items = [item for item in template.items if item.boxed]
    words = [_without_bullets(wording(_expected(item, template))) for item in items]
    tokens = [_tokens(some) for some in words]
    counts = Counter(token for some in tokens for token in some)
    weights = {token: math.log(1 + len(items) / count) for token, count in counts.items()}
    rows = zip(items, words, tokens, strict=True)
    return _Wanted(
        items=tuple(_Item(item, some, seen, sum(weights[token] for token in seen)) for item, some, seen in rows),
        weights=weights,
        unknown=math.log(1 + len(items)),
    )


def _read(box: SignOffBox, wanted: _Wanted) -> _Box:
    words = _without_bullets(wording(box.text))
    tokens = _tokens(word for word in words if "://" not in word)
    return _Box(box, words, tokens, wanted.weight(tokens), name_of(box.text), _copy_of(box, words, wanted))


def _copy_of(box: SignOffBox, words: tuple[str, ...], wanted: _Wanted) -> str | None:
    labels = {item.words: item.item.label for item in wanted.items}
    wordings = itertools.chain((words,), (_without_bullets(wording(cut)) for cut in _cuts_before_last_links(box.text)))
    return next((labels[some] for some in wordings if some in labels), None)


def _tokens(words: Iterable[str]) -> frozenset[str]:
    return frozenset(_WORD.findall(" ".join(words).casefold()))


def _code(word: str, codes: dict[str, str]) -> str:
    """One character for each different word; the surrogates are no characters and are left out."""
    return codes.setdefault(word, chr((index := len(codes)) + (0x100 if index < 0xD000 else 0x1000)))


def _flat(text: str) -> str:
    return " ".join(text.split())


def _expected(item: ChecklistItem, template: ChecklistTemplate) -> str:
    """An item's text with the bullets without a box that stand under it: a sign-off's box contains them as well."""
    texts = [item.text]
    following = template.items[template.items.index(item) + 1 :]
    for other in following:
        if other.boxed:
            break
        texts.append(other.text)
    return "\n".join(texts)


def _by_place(sign_off: SignOff) -> tuple[list[SignOffBox], list[SignOffBox]]:
    """The boxes of the list, and those of a detail section that follows it."""
    boxes = list(sign_off.boxes)
    border = sign_off.detail_line
    if border is None or not boxes or border < boxes[0].line:
        return boxes, []
    return [box for box in boxes if box.line < border], [box for box in boxes if box.line > border]


def _assign(boxes: Sequence[_Box], items: Sequence[_Item], wanted: _Wanted) -> dict[str, SignOffBox]:
    """The best pairs first; among equals the order of the template and of the text decides."""
    pairs = []
    for box_index, box in enumerate(boxes):
        for item_index, item in enumerate(items):
            score = _score(item, box, wanted)
            if score > 0:
                pairs.append((-score, abs(box_index - item_index), item_index, box_index))
    answers: dict[str, SignOffBox] = {}
    taken: set[int] = set()
    for _, _, item_index, box_index in sorted(pairs):
        label = items[item_index].item.label
        if label not in answers and box_index not in taken:
            answers[label] = boxes[box_index].box
            taken.add(box_index)
    return answers


def _score(item: _Item, box: _Box, wanted: _Wanted) -> float:
    """How well a box answers an item, above 1 where its name says so; 0 where it does not."""
    if not box.tokens or box.copy_of not in (None, item.item.label):
        return 0.0
    if item.words == box.words:
        return 3.0
    both = wanted.weight(item.tokens & box.tokens)
    of_item, of_box = _share(both, item.weight), _share(both, box.weight)
    alike = 2 * of_item * of_box / (of_item + of_box) if both else 0.0
    if box.name is not None and box.name == item.item.name:
        return 1.0 + alike
    if of_item >= _MOST_OF_ITEM or (of_box >= _MOST_OF_BOX and alike >= _SOME_OF_BOTH):
        return alike
    return 0.0


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _compared(item: _Item, box: SignOffBox | None) -> ItemMatch:
    if box is None:
        return ItemMatch(item=item.item, fidelity="missing")
    words = _without_bullets(wording(box.text))
    if words == item.words:
        return ItemMatch(item=item.item, fidelity="exact", box=box, kept=1.0)
    for cut in _cuts_before_last_links(box.text):
        if _without_bullets(wording(cut)) == item.words:
            appended = box.text[len(cut) :].strip()
            return ItemMatch(item=item.item, fidelity="exact", box=box, appended=appended, kept=1.0)
    segments = diff_words(item.words, words)
    same = sum(len(segment.text.split()) for segment in segments if segment.operation == "equal")
    return ItemMatch(item=item.item, fidelity="drifted", box=box, segments=segments, kept=_share(same, len(item.words)))


def _cuts_before_last_links(text: str) -> Iterator[str]:
    """The text without its last link, without its last two, and so on, each with and without the mark before it."""
    for _ in range(_MOST_LINKS):
        # A link is looked for in the last stretch only, so that a long text costs no more.
        from_end = max(len(text) - _LONGEST_LINK, 0)
        starts = (from_end + found.start() for found in re.finditer(r"\[|<?https?://", text[from_end:]))
        start = next((start for start in starts if _LAST_LINK.match(text, start)), None)
        if start is None:
            return
        text = text[:start].rstrip()
        yield text
        text = text.rstrip(_BEFORE_LINK)
        yield text


def _without_bullets(words: tuple[str, ...]) -> tuple[str, ...]:
    """Bullets under an item keep their marks when the lines of a box are joined: they are no words."""
    return tuple(word for word in words if word not in ("-", "*", "+", "•"))
