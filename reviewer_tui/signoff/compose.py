"""Write the sign-off comment: the policy's own template, the reviewer's ticks, and the detail section.

A box is ticked only where the reviewer accepted the item. Every line of the template is kept as it stands; run links
are appended to the items that ask for them. The detail section is a draft that can be edited by hand, and below it a
line for each note and each open box: those lines follow the boxes, whatever was edited.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from reviewer_tui.model.checklist import ChecklistItem, ChecklistTemplate, Decision, ReviewNotes
from reviewer_tui.model.config import ConfigChanges
from reviewer_tui.model.errors import DataError, UsageError
from reviewer_tui.model.finding import CheckResult, Status
from reviewer_tui.signoff.detail import Section, draft, harmless, reason_not_applicable
from reviewer_tui.signoff.explanations import explain, said_of, still_to_do
from reviewer_tui.signoff.links import LinkKind, classify, find_urls
from reviewer_tui.signoff.lint import asks_for_run
from reviewer_tui.signoff.parse import PLACEHOLDER_LOGIN
from reviewer_tui.signoff.titles import item_title

TODO = "TODO"
NOTHING_TO_ADD = "- No additional details."

_BOX = re.compile(r"(?P<before>[ \t]*[-*+][ \t]+\[)[ \txX]?(?P<after>\](?!\().*)")
_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,38}")
_URL = re.compile(r"https?://[^\s<>()`\[\]]{1,2000}")
# Sections that are made anew from the boxes and notes each time.
_FOLLOWING = ("note", "open_item")
_RECIPE_ITEMS = ("recipe", "recipe_merged")
_RECIPE_LINKS = (LinkKind.UPSTREAM_PULL_REQUEST, LinkKind.RECIPE_PAGE)


class Unfinished(msgspec.Struct, frozen=True):
    """Something the reviewer has still to do: `label` is the item's, or `detail` or `signature`."""

    label: str
    reason: str


class ComposedSignOff(msgspec.Struct, frozen=True, kw_only=True):
    """A sign-off ready to be looked at. `sections` are the entries of the detail section in their order."""

    text: str
    unfinished: tuple[Unfinished, ...]
    sections: tuple[Section, ...]

    @property
    def detail(self) -> str:
        """The detail section's text, without its heading."""
        return _detail_text(self.sections)

    @property
    def editable(self) -> str:
        """The part of the detail section that is edited by hand: without the lines that follow the boxes."""
        return _detail_text([section for section in self.sections if section.kind not in _FOLLOWING])


def compose(
    template: ChecklistTemplate,
    results: tuple[CheckResult, ...],
    notes: ReviewNotes,
    signer: str,
    *,
    links: Mapping[str, tuple[str, ...]] | None = None,
    checks_of: Callable[[str], tuple[str, ...]],
    changes: ConfigChanges | None = None,
) -> ComposedSignOff:
    """The sign-off of a review.

    `links` are URLs by item label or name: those of items that ask for a run are appended to the item, others go into
    the detail section. `checks_of` names the checks that speak to an item. `changes` gives the scope, where known.
    Raises UsageError for a signer that is no login, DataError for a template that contradicts itself.
    """
    login = _login(signer)
    by_label = _links_by_label(template, links or {})
    accepted = frozenset(i.label for i in template.items if notes.mark(i.label).decision is Decision.ACCEPTED)
    if notes.detail is not None:
        sections: tuple[Section, ...] = (Section(kind="edited", text=notes.detail.strip("\n")),)
    else:
        in_detail = {i.label: by_label[i.label] for i in template.items if i.label in by_label and not asks_for_run(i)}
        sections = draft(template, results, checks_of, links=in_detail, accepted=accepted, changes=changes)
    following = (*_notes_of(template, notes, accepted), *_open_items(template, results, notes, checks_of))
    sections = tuple(section for section in (*sections, *following) if section.text)
    text = _fill(template, accepted, by_label, _detail_text(sections), login)
    unfinished = tuple(_unfinished(template, results, notes, checks_of, by_label, sections, login))
    return ComposedSignOff(text=text, unfinished=unfinished, sections=sections)


def apply(
    notes: ReviewNotes, template: ChecklistTemplate, ticks: Sequence[str], note_args: Sequence[str]
) -> ReviewNotes:
    """The notes with `--tick ITEM` and `--note ITEM=TEXT` arguments applied in order.

    An item is its label (`3`, `11a`) or its name (`evals`). A tick accepts the item and keeps its note; a note keeps
    the decision, an empty text takes the note away. Raises UsageError for what names no item.
    """
    marks = dict(notes.marks)
    for tick in ticks:
        item = _named(template, tick)
        marks[item.label] = msgspec.structs.replace(notes.mark(item.label), decision=Decision.ACCEPTED)
    for argument in note_args:
        name, equals, text = argument.partition("=")
        if not equals:
            raise UsageError(
                f"“{harmless(argument)}” is no note.", "Write --note ITEM=TEXT, for example --note 6='not agentic'."
            )
        item = _named(template, name)
        current = marks.get(item.label, notes.mark(item.label))
        marks[item.label] = msgspec.structs.replace(current, note=text.strip())
    return msgspec.structs.replace(notes, marks=marks)


def _named(template: ChecklistTemplate, name: str) -> ChecklistItem:
    item = template.item(name.strip())
    if item is None or not item.boxed:
        known = ", ".join(f"{i.label} ({i.name})" if i.known else i.label for i in template.items if i.boxed)
        raise UsageError(f"The checklist has no item “{harmless(name)}”.", f"Its items are: {known}.")
    return item


def _login(signer: str) -> str:
    login = signer.strip().removeprefix("@")
    if login and not _LOGIN.fullmatch(login):
        raise UsageError(
            f"“{harmless(signer)}” is no GitHub login.", "Give the login alone, for example --signer octocat."
        )
    return login


def _links_by_label(template: ChecklistTemplate, links: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for item in template.items:
        urls = dict.fromkeys((*links.get(item.label, ()), *links.get(item.name, ())))
        if fit := tuple(url for url in urls if _URL.fullmatch(url)):
            found[item.label] = fit
    return found


def _notes_of(template: ChecklistTemplate, notes: ReviewNotes, accepted: frozenset[str]) -> Iterator[Section]:
    """A line for each note on a ticked item, unless text edited by hand says it of the item already."""
    for item in template.items:
        note = notes.mark(item.label).note.strip()
        if note and item.label in accepted and not _says(said_of(item, template, notes.detail or ""), note):
            yield Section(kind="note", source=item.label, text=f"- {_item(item)}: {_indented(note)}")


def _open_items(
    template: ChecklistTemplate,
    results: Sequence[CheckResult],
    notes: ReviewNotes,
    checks_of: Callable[[str], tuple[str, ...]],
) -> Iterator[Section]:
    """A line for each open box; text edited by hand is not repeated where it explains the box already, or says itself
    that the reason is still to come."""
    announced = frozenset(label for to_do in still_to_do(notes.detail or "", template) for label in to_do.labels)
    for item in template.items:
        mark = notes.mark(item.label)
        if not item.boxed or mark.decision is Decision.ACCEPTED:
            continue
        if notes.detail is not None and explain(item, template, notes.detail).recognised:
            continue
        note = _indented(mark.note.strip()) if re.search(r"\w", mark.note) else ""
        reason = note or reason_not_applicable(item, results, checks_of(item.name))
        if reason and (mark.decision is Decision.NOT_APPLICABLE or not note):
            reason = reason if re.match(r"not applicable|n/a\b", reason, re.IGNORECASE) else f"not applicable: {reason}"
        if not reason and item.label in announced:
            continue
        text = f"- {_item(item)} is left open: {reason or f'{TODO}: say why.'}"
        yield Section(kind="open_item", source=item.label, text=text)


def _item(item: ChecklistItem) -> str:
    return f"Item {item.label} ({harmless(item_title(item))})"


def _says(statements: Iterable[str], note: str) -> bool:
    """Whether one of some statements has a note's words, whole and in a row."""
    words = re.compile(rf"(?<!\w){re.escape(' '.join(note.split()))}(?!\w)")
    return any(words.search(statement) for statement in statements)


def _indented(note: str) -> str:
    """A note of several lines stays inside its list entry."""
    return "\n".join(line if n == 0 or not line.strip() else f"  {line}" for n, line in enumerate(note.splitlines()))


def _detail_text(sections: Sequence[Section]) -> str:
    return "\n".join(section.text for section in sections)


def _fill(
    template: ChecklistTemplate,
    accepted: frozenset[str],
    links: Mapping[str, tuple[str, ...]],
    detail: str,
    login: str,
) -> str:
    lines = template.text.split("\n")
    signature = _last_index(lines, template.signature)
    heading = _last_index(lines, template.detail_heading)
    boxed = iter([item for item in template.items if item.boxed])
    body = [_box_line(line, boxed, accepted, links, template) for line in lines[: heading or signature]]
    if next(boxed, None) is not None:
        raise DataError(f"The template in {template.path} has fewer boxes than items.", "Give another --policy-ref.")
    parts = ["\n".join(body).rstrip("\n")]
    if heading is not None:
        parts.append(
            "\n".join(_section_lines(lines[heading:signature], template, detail or NOTHING_TO_ADD)).rstrip("\n")
        )
    elif detail:
        parts.append(detail)
    if signature is not None:
        parts.append(_signed(lines[signature], login))
    return "\n\n".join(parts)


def _last_index(lines: Sequence[str], wanted: str | None) -> int | None:
    return next((n for n in range(len(lines) - 1, -1, -1) if lines[n] == wanted), None) if wanted is not None else None


def _box_line(
    line: str,
    boxed: Iterator[ChecklistItem],
    accepted: frozenset[str],
    links: Mapping[str, tuple[str, ...]],
    template: ChecklistTemplate,
) -> str:
    """A line of the template: as it stands, or with its box ticked or cleared and the item's run links appended."""
    found = _BOX.fullmatch(line)
    if found is None:
        return line
    item = next(boxed, None)
    if item is None or not line.rstrip().endswith(item.text.split("\n", 1)[0].rstrip()):
        raise DataError(f"The template in {template.path} has a box that is no item.", "Give another --policy-ref.")
    runs = links.get(item.label, ()) if asks_for_run(item) else ()
    tick = "x" if item.label in accepted else " "
    return f"{found['before']}{tick}{found['after']}" + "".join(f" [Link]({url})" for url in runs)


def _section_lines(lines: Sequence[str], template: ChecklistTemplate, detail: str) -> Iterator[str]:
    """The heading, then the detail in the placeholder's place."""
    if template.placeholder is None or template.placeholder not in lines:
        yield from (lines[0], detail, *lines[1:])
        return
    at = lines.index(template.placeholder)
    yield from (*lines[:at], detail, *lines[at + 1 :])


def _signed(line: str, login: str) -> str:
    if not login:
        return line
    if PLACEHOLDER_LOGIN in line:
        return line.replace(PLACEHOLDER_LOGIN, login)
    return f"{line.partition(':')[0]}: `{login}`"


def _unfinished(
    template: ChecklistTemplate,
    results: Sequence[CheckResult],
    notes: ReviewNotes,
    checks_of: Callable[[str], tuple[str, ...]],
    links: Mapping[str, tuple[str, ...]],
    sections: Sequence[Section],
    login: str,
) -> Iterator[Unfinished]:
    by_name = {result.name: result for result in results}
    detail = _detail_text(sections)
    for item in template.items:
        mark = notes.mark(item.label)
        accepted = mark.decision is Decision.ACCEPTED
        failing = [by_name[name] for name in checks_of(item.name) if name in by_name]
        failing = [result for result in failing if result.status is Status.FAIL]
        if item.boxed and not accepted and explain(item, template, detail).grade == "none":
            yield Unfinished(item.label, f"{_item(item)} is open and nothing says why.")
        if accepted and failing and not mark.note.strip():
            yield Unfinished(
                item.label, f"{_item(item)} is ticked although {failing[0].name} fails: {failing[0].summary}"
            )
        if accepted and asks_for_run(item) and item.label not in links:
            yield Unfinished(item.label, f"{_item(item)} has no link of a workflow run.")
    if any(section.kind != "open_item" and re.search(rf"\b{TODO}\b", section.text) for section in sections):
        yield Unfinished("detail", f"The detail section says {TODO}.")
    yield from _missing_recipe_link(template, by_name, notes, sections)
    if template.signature is not None and not login:
        yield Unfinished("signature", "Nobody has signed: give --signer LOGIN.")


def _missing_recipe_link(
    template: ChecklistTemplate, by_name: Mapping[str, CheckResult], notes: ReviewNotes, sections: Sequence[Section]
) -> Iterator[Unfinished]:
    """A ticked recipe item without a link to a recipe: the most frequent reason of a rejection."""
    recipe = by_name.get("recipe")
    ticked = [
        item
        for item in template.items
        if item.name in _RECIPE_ITEMS and notes.mark(item.label).decision is Decision.ACCEPTED
    ]
    if not ticked or (recipe is not None and recipe.status is Status.NOT_APPLICABLE):
        return
    kinds = {classify(found.url).kind for found in find_urls(_detail_text(sections))}
    if not kinds & set(_RECIPE_LINKS):
        yield Unfinished(ticked[0].label, f"{_item(ticked[0])} is ticked, but the detail section links no recipe.")
