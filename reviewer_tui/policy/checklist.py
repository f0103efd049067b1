"""The sign-off template: read from the repository's checklist, in all forms it has had.

The template stood between `## Template` and the next heading until 2026-07-03, and stands in a fence since. Its items
are the boxes; a sub-item has no box of its own in the older versions, and is an item all the same where it is known.
All 21 versions until 2026-08-14 are bundled, and the one of autumn 2026 as it was read on 2026-11-30 (days between were
not read), to name the version of a template and to fall back on when a repository cannot be read.
"""

from __future__ import annotations

import functools
import re

import msgspec

from reviewer_tui.model.checklist import ChecklistItem, ChecklistTemplate
from reviewer_tui.model.finding import Problem
from reviewer_tui.model.part import Part, complete, partial, unavailable
from reviewer_tui.model.tree import Tree, read_text
from reviewer_tui.policy.items import data_file, name_of, names_in_chinese
from reviewer_tui.policy.layout import Layout
from reviewer_tui.policy.markdown import heading_of

MAX_BYTES = 1 << 18
MAX_ITEMS = 200

# The sentence that starts the verifier.
TRIGGER = "As a PR reviewer and CODEOWNER"

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_TEMPLATE_HEADING = re.compile(r"^(?:template|模板)", re.IGNORECASE)
_DETAIL = re.compile(r"^ {0,3}#{1,6}[ \t]+.*\badditional detail", re.IGNORECASE)
_BOX = re.compile(r"^([ \t]*)[-*+][ \t]+\[[ \txX]?\](?!\()[ \t]*(.*)$")
_BULLET = re.compile(r"^([ \t]*)[-*+][ \t]+(.*)$")
_SIGNATURE = re.compile(r"^[^\w\r\n]*signed(?:-off-by)?[^\w\r\n]*:", re.IGNORECASE)
_CHINESE_ENTRY = re.compile(r"^[ \t]*(?:\d{1,3}[.、)]|[-*+][ \t]+\[[ xX]?\](?!\())[ \t]*(.*)$")
_CJK = re.compile(r"[\u4e00-\u9fff]")

# What makes two templates the same: each item's wording, and whether it has a box.
_Fingerprint = tuple[tuple[bool, str], ...]


def read_template(tree: Tree, layout: Layout) -> tuple[Part[ChecklistTemplate], tuple[Problem, ...]]:
    """The sign-off template of a revision."""
    path = layout.checklist
    if path is None or (text := read_text(tree, path)) is None:
        message = "This revision has no PR_REVIEW_CHECKLIST.md."
        problem = Problem(path=f"{layout.root}docs/PR_REVIEW_CHECKLIST.md", message=message, rule="checklist-missing")
        return unavailable(message), (problem,)
    template = parse_template(text, path)
    if isinstance(template, Problem):
        return unavailable(template.message), (template,)
    return complete(template), ()


def read_translation(
    tree: Tree, layout: Layout, template: ChecklistTemplate | None
) -> tuple[Part[ChecklistTemplate], tuple[Problem, ...]]:
    """The template's items with the Chinese checklist's explanations as their texts, matched by what they say: the
    Chinese list has its own numbers and lags behind. No such file is no problem, the English one is normative."""
    path = layout.checklist_zh
    if path is None or (text := read_text(tree, path)) is None:
        return unavailable("This revision has no Chinese checklist."), ()
    if template is None:
        return unavailable("The English checklist, which the Chinese one explains, could not be read."), ()
    translation = translate(template, text, path)
    missing = [item.label for item in template.items if translation.item(item.label) is None]
    if not translation.items:
        message = "The Chinese checklist explains no item of the template."
        return unavailable(message), (Problem(path=path, message=message, rule="translation-empty"),)
    if missing:
        message = f"The Chinese checklist does not explain {', '.join(missing)}."
        return partial(translation, message), (Problem(path=path, message=message, rule="translation-behind"),)
    return complete(translation), ()


def parse_template(text: str, path: str) -> ChecklistTemplate | Problem:
    """The template in a checklist file's text; a problem where there is none. Never fails."""
    if len(text) > MAX_BYTES:
        return Problem(
            path=path, message="The checklist is larger than 256 KB and was not read.", rule="checklist-size"
        )
    lines = text.splitlines()
    span = _template_span(lines)
    body = lines[span.start : span.end] if span else []
    detail = _detail_at(body)
    drafts = _drafts(body, span.start + 1) if span else []
    if span is None or not drafts:
        message = "The checklist holds no template: no fenced block or Template section with boxes."
        return Problem(path=path, message=message, rule="checklist-template")
    if len(drafts) > MAX_ITEMS:
        message = f"The template holds more than {MAX_ITEMS} items, which is not read."
        return Problem(path=path, message=message, rule="checklist-size")
    return ChecklistTemplate(
        path=path,
        text="\n".join(body),
        opening=body[0],
        items=_labelled(drafts),
        fenced=span.fenced,
        detail_heading=None if detail is None else body[detail],
        placeholder=None if detail is None else _placeholder(body[detail + 1 :]),
        signature=body[-1] if _SIGNATURE.match(body[-1]) else None,
        version=_versions().get(_fingerprint(drafts)),
    )


def translate(template: ChecklistTemplate, text: str, path: str) -> ChecklistTemplate:
    """The template with the Chinese explanation of each item as its text; items without one are left out."""
    entries = [
        (entry[1], number)
        for number, line in enumerate(text[:MAX_BYTES].splitlines(), start=1)
        if (entry := _CHINESE_ENTRY.match(line)) and _CJK.search(entry[1])
    ]
    explained: dict[str, tuple[str, int]] = {}
    for entry_text, number in entries[:MAX_ITEMS]:
        for name in names_in_chinese(entry_text):
            explained.setdefault(name, (entry_text, number))
    items = tuple(
        msgspec.structs.replace(item, text=explained[item.name][0], line=explained[item.name][1])
        for item in template.items
        if item.name in explained
    )
    return msgspec.structs.replace(template, path=path, items=items)


@functools.cache
def bundled_templates() -> tuple[ChecklistTemplate, ...]:
    """All bundled templates, the oldest first."""
    parsed = (parse_template(text, f"bundled version {version}") for version, text in _bundled_texts())
    return tuple(template for template in parsed if isinstance(template, ChecklistTemplate))


def bundled_template() -> ChecklistTemplate:
    """The newest bundled template, for when no repository can be read."""
    return bundled_templates()[-1]


@functools.cache
def _bundled_texts() -> tuple[tuple[str, str], ...]:
    """Version and text of every bundled template, the oldest first. A file is named `<number>-<day>-<commit>.md`."""
    found = []
    for file in sorted(data_file("templates").glob("*.md")):
        number, day = file.name.split("-", 1)
        found.append((f"{int(number)} ({day[:10]})", file.read_text("utf-8")))
    return tuple(found)


@functools.cache
def _versions() -> dict[_Fingerprint, str]:
    """Version by items; of versions with the same items the newest."""
    return {_fingerprint(_drafts(text.splitlines(), 1)): version for version, text in _bundled_texts()}


class _Span(msgspec.Struct, frozen=True):
    """Where the template stands: its opening line and one past its last (places in the file's lines)."""

    start: int
    end: int
    fenced: bool


def _template_span(lines: list[str]) -> _Span | None:
    """The template from its opening sentence (or first box) to its signature (or last line with content)."""
    region = _fenced_region(lines) or _section_region(lines) or _Span(0, len(lines), False)
    boxes = [n for n in range(region.start, region.end) if _BOX.match(lines[n])]
    if not boxes:
        return None
    opening = next((n for n in range(region.start, boxes[0]) if TRIGGER in lines[n]), boxes[0])
    filled = [n for n in range(opening, region.end) if lines[n].strip()]
    signed = [n for n in filled if n > boxes[-1] and _SIGNATURE.match(lines[n])]
    return _Span(opening, (signed or filled)[-1] + 1, region.fenced)


def _fenced_region(lines: list[str]) -> _Span | None:
    """The first fence that holds boxes."""
    at = 0
    while at < len(lines):
        if fence := _FENCE.match(lines[at]):
            closes = (n for n in range(at + 1, len(lines)) if lines[n].strip().startswith(fence[1]))
            end = next(closes, len(lines))
            if any(_BOX.match(line) for line in lines[at + 1 : end]):
                return _Span(at + 1, end, True)
            at = end
        at += 1
    return None


def _section_region(lines: list[str]) -> _Span | None:
    """The section under the first heading `Template`, to the next heading of its level."""
    headings = [(n, *heading) for n, line in enumerate(lines) if (heading := heading_of(line))]
    for n, level, title in headings:
        if _TEMPLATE_HEADING.match(title):
            after = (m for m, other, _ in headings if m > n and other <= level)
            return _Span(n + 1, next(after, len(lines)), False)
    return None


def _detail_at(body: list[str]) -> int | None:
    return next((n for n, line in enumerate(body) if _DETAIL.match(line)), None)


def _placeholder(after_heading: list[str]) -> str | None:
    return next((line for line in after_heading if _BULLET.match(line)), None)


class _Draft(msgspec.Struct):
    """An item while its lines are still being read."""

    boxed: bool
    indent: int
    line: int
    lines: list[str]


def _drafts(body: list[str], first_line: int) -> list[_Draft]:
    """The items of a template's lines. A bullet without a box below an item is an item of its own where it is known,
    else it belongs to the item's text."""
    drafts: list[_Draft] = []
    detail = _detail_at(body)
    for number, line in enumerate(body[:detail], start=first_line):
        box, bullet = _BOX.match(line), _BULLET.match(line)
        if box:
            drafts.append(_Draft(True, _width(box[1]), number, [box[2]]))
        elif drafts and bullet and _width(bullet[1]) > 0 and name_of(bullet[2]):
            drafts.append(_Draft(False, _width(bullet[1]), number, [bullet[2]]))
        elif drafts and line.strip() and not _SIGNATURE.match(line):
            drafts[-1].lines.append(line)
    return drafts


def _width(blanks: str) -> int:
    return len(blanks.expandtabs(4))


def _fingerprint(drafts: list[_Draft]) -> _Fingerprint:
    return tuple((draft.boxed, " ".join(" ".join(draft.lines).split())) for draft in drafts)


def _labelled(drafts: list[_Draft]) -> tuple[ChecklistItem, ...]:
    """Top-level items are numbered, nested ones lettered below theirs; a name is given once."""
    base = min((draft.indent for draft in drafts if draft.boxed), default=0)
    items: list[ChecklistItem] = []
    names: set[str] = set()
    top = nested = 0
    for draft in drafts:
        if draft.indent <= base + 1 or not top:
            top, nested = top + 1, 0
            label = str(top)
        else:
            nested += 1
            label = f"{top}{_letters(nested)}"
        text = "\n".join(draft.lines)
        name = name_of(text)
        if name is None or name in names:
            name = f"item-{label}"
        names.add(name)
        items.append(
            ChecklistItem(label=label, name=name, text=text, indent=draft.indent, line=draft.line, boxed=draft.boxed)
        )
    return tuple(items)


def _letters(number: int) -> str:
    """1 → a, 26 → z, 27 → aa."""
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return letters
