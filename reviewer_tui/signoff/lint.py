"""Judge a sign-off text against the template: what the verifier will reject, and what it may stumble over.

A fault is certain and mechanical. What needs a reader (is this reason good enough, does this wording still say the
same) is a remark with the status `judgement`; everything else worth knowing is a `warn`.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Collection, Iterator, Sequence

import msgspec

from reviewer_tui.model.checklist import ChecklistItem, ChecklistTemplate, SignOff
from reviewer_tui.model.finding import Status, worst
from reviewer_tui.model.refs import DEFAULT_HOST, DEFAULT_REPOSITORY
from reviewer_tui.model.text import has_unsafe, visible
from reviewer_tui.policy.checklist import TRIGGER
from reviewer_tui.policy.items import name_of
from reviewer_tui.signoff.explanations import Explanation, explain, said_open, still_to_do
from reviewer_tui.signoff.links import Link, LinkKind, find_urls, in_detail, links_of
from reviewer_tui.signoff.match import ItemMatch, Matching, Segment, match_boxes, written_from
from reviewer_tui.signoff.parse import (
    PLACEHOLDER_LOGIN,
    TextLine,
    bare_box,
    detail_heading,
    own_lines,
    parse_sign_off,
    read_lines,
)
from reviewer_tui.signoff.verdict_comment import is_verdict_comment

MAX_CHARACTERS = 65_000
"""GitHub refuses a body of more than 65,536 characters; the rest is slack for line ends and our own marker."""

REJECTING = frozenset({"trigger-missing", "boxes-missing", "item-missing", "item-inverted", "item-unexplained"})
"""The rules on which the verifier's own template check fails a sign-off (or does not start at all)."""

# What is still to do about an item is told by these.
_SAYS_TO_DO = ("item-unexplained", "item-said-open")
# Below this share of an item's words, the wording is no longer the same by its looks.
_STILL_THE_SAME = 0.75
# A negation in a longer change than this is part of another statement, not the turn of this one.
_FEW_WORDS = 3
_MOST_SHOWN = 5
_NEGATION = re.compile(r"(?:not|no|never|without|cannot|\w+n't)\W*$", re.IGNORECASE)
_ASIDE = re.compile(r"\([^()]*\)|\bnot applicable\b", re.IGNORECASE)
_ASKS_FOR_RUN = re.compile(r"link to (?:the |a )?GitHub Actions?\b", re.IGNORECASE)
_RUN_ITEMS = ("validation", "evals")
_COMMENT = re.compile(r"<!--(?P<text>.*?)(?:-->|\Z)", re.DOTALL)
_OUR_MARKER = re.compile(r"\s*(?:ixr|reviewer-tui)[: ][\w:. =-]{0,200}\Z")
_STRUCK = re.compile(r"~~\S|<(?:s|del|strike)\b[^>]*>", re.IGNORECASE)
_TODO = re.compile(r"\bTODO\b")


class LintFinding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing about a text. `rule` is a short slug; `line` counts from 1 in the text; `label` is the item's.

    `status` is `fail` for a fault, `judgement` or `warn` for a remark. `segments` compares an altered item word by
    word with the template (`insert`: only in the sign-off).
    """

    rule: str
    status: Status
    message: str
    line: int | None = None
    label: str | None = None
    expected: str | None = None
    actual: str | None = None
    segments: tuple[Segment, ...] = ()


class LintReport(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about a text, by line. With a fault the text will be rejected or is not what its author means."""

    faults: tuple[LintFinding, ...]
    remarks: tuple[LintFinding, ...]
    sign_off: SignOff
    matching: Matching

    @property
    def status(self) -> Status:
        """`fail` with any fault, else the worst remark, else `pass`."""
        return worst((finding.status for finding in (*self.faults, *self.remarks)), empty=Status.PASS)

    @property
    def rejecting(self) -> tuple[LintFinding, ...]:
        """The faults on which the verifier's template check fails."""
        return tuple(finding for finding in self.faults if finding.rule in REJECTING)


class _Subject(msgspec.Struct, frozen=True, kw_only=True):
    """A text with everything that is read from it once."""

    text: str
    lines: tuple[TextLine, ...]
    own: tuple[TextLine, ...]
    sign_off: SignOff
    template: ChecklistTemplate
    matching: Matching
    links: tuple[Link, ...]
    waived: frozenset[str]
    repository: str
    host: str

    @property
    def detail_start(self) -> int:
        """The line of the first line of `sign_off.detail`."""
        heading = detail_heading(self.own)
        line = self.sign_off.detail_line or 1
        return line + 1 if heading and heading.number == line else line


def lint(
    text: str,
    template: ChecklistTemplate,
    *,
    waived: Collection[str] = (),
    author: str | None = None,
    signer: str | None = None,
    known: Sequence[ChecklistTemplate] = (),
    repository: str = DEFAULT_REPOSITORY,
    host: str = DEFAULT_HOST,
) -> LintReport:
    """Judge a text. Never fails, whatever the text is.

    `waived` are labels or names of items that may stay open without a reason (a remark instead of a fault). `author` is
    who posted the text, `signer` who is going to; a signature by somebody else is remarked. `known` are all templates
    from oldest to newest, to say which one the text was copied from.
    """
    lines = read_lines(text)
    sign_off = parse_sign_off(text)
    matching = match_boxes(sign_off, template)
    subject = _Subject(
        text=text,
        lines=lines,
        own=own_lines(lines),
        sign_off=sign_off,
        template=template,
        matching=matching,
        links=links_of(text, sign_off, matching, template, repository=repository, host=host),
        waived=frozenset(waived),
        repository=repository,
        host=host,
    )
    boxes = (*_open_items(subject), *_said_open(subject))
    found = [
        *_opening(subject),
        *_items(subject, known),
        *boxes,
        *_detail(subject, frozenset(one.label.lower() for one in boxes if one.label and one.rule in _SAYS_TO_DO)),
        *_run_links(subject),
        *_changed_links(subject),
        *_signature(subject, author or signer),
        *_form(subject),
    ]
    found.sort(key=lambda finding: finding.line or 0)
    return LintReport(
        faults=tuple(finding for finding in found if finding.status is Status.FAIL),
        remarks=tuple(finding for finding in found if finding.status is not Status.FAIL),
        sign_off=sign_off,
        matching=matching,
    )


def asks_for_run(item: ChecklistItem) -> bool:
    """Whether an item is answered with the link of a workflow run."""
    return item.name in _RUN_ITEMS or _ASKS_FOR_RUN.search(item.text) is not None


def _finding(
    rule: str,
    message: str,
    line: int | None = None,
    *,
    status: Status,
    label: str | None = None,
    expected: str | None = None,
    actual: str | None = None,
) -> LintFinding:
    return LintFinding(
        rule=rule, status=status, message=message, line=line, label=label, expected=expected, actual=actual
    )


_fault = functools.partial(_finding, status=Status.FAIL)
_remark = functools.partial(_finding, status=Status.WARN)
_question = functools.partial(_finding, status=Status.JUDGEMENT)


def _opening(subject: _Subject) -> Iterator[LintFinding]:
    """The sentence that starts the verifier; a verdict comment is no sign-off whatever it quotes."""
    opening = subject.template.opening.strip()
    if is_verdict_comment(subject.text):
        yield _fault("verdict-comment", "This is a verdict comment, not a sign-off.", 1)
    if not subject.sign_off.has_trigger:
        message = f"The sentence that starts the verifier is missing: {TRIGGER}."
        yield _fault("trigger-missing", message, 1, expected=opening)
        return
    if any(" ".join(line.text.split()) == " ".join(opening.split()) for line in subject.own):
        return
    line = next((line for line in subject.lines if TRIGGER.casefold() in line.text.casefold()), None)
    yield _remark(
        "trigger-altered",
        "The opening line differs from the template's.",
        line.number if line else None,
        expected=opening,
        actual=line.text.strip() if line else None,
    )


def _items(subject: _Subject, known: Sequence[ChecklistTemplate]) -> Iterator[LintFinding]:
    """Boxes against items: missing, altered, unknown, doubled; and the template they were copied from."""
    if not subject.sign_off.boxes:
        yield _fault(
            "boxes-missing", "The text has no checklist boxes.", expected=f"{len(subject.matching.items)} boxes"
        )
        return
    for match in subject.matching.items:
        if match.fidelity == "missing":
            message = f"Item {match.item.label} of the template is missing."
            yield _fault("item-missing", message, label=match.item.label, expected=_short(match.item.text))
        elif match.fidelity == "drifted":
            yield _altered(match)
    for box in subject.matching.unknown:
        yield _remark("item-unknown", "The template has no such item.", box.line, actual=_short(box.text))
    for duplicate in subject.matching.duplicates:
        yield _duplicate(subject.matching, duplicate.item, duplicate.box.line, duplicate.box.checked)
    if any(match.fidelity != "exact" for match in subject.matching.items) and known:
        yield from _origin(subject, known)


def _altered(match: ItemMatch) -> LintFinding:
    label, line = match.item.label, match.box.line if match.box else None
    rule, status, message = "item-altered", Status.WARN, f"Item {label} is not in the template's words."
    negated = _negations(match.segments)
    text = match.box.text if match.box else ""
    if _STRUCK.search(text) and not _STRUCK.search(match.item.text):
        rule, status, message = "item-struck", Status.JUDGEMENT, f"Item {label} is struck out, as a whole or in part."
    elif name_of(text) not in (None, match.item.name):
        status, message = Status.JUDGEMENT, f"Item {label} is answered in the words of another item."
    elif match.kept < _STILL_THE_SAME or (negated and max(negated) > _FEW_WORDS):
        status = Status.JUDGEMENT
        message = (
            f"Item {label} says less or something else than the template; a reader must say if it still answers it."
        )
    elif len(negated) % 2:
        rule, status = "item-inverted", Status.FAIL
        message = f"Item {label} says the opposite of the template's item."
    return LintFinding(
        rule=rule,
        status=status,
        message=message,
        line=line,
        label=label,
        expected=_short(match.item.text),
        actual=_short(match.box.text) if match.box else None,
        segments=match.segments,
    )


def _negations(segments: Sequence[Segment]) -> list[int]:
    """The negations that went in or out inside the wording, as the length of the change each stands in, in words. What
    is added in brackets or at the end is the signer's own remark."""
    last = max((n for n, segment in enumerate(segments) if segment.operation == "equal"), default=-1)
    changes = [_ASIDE.sub(" ", s.text).split() for s in segments[: last + 1] if s.operation != "equal"]
    return [len(words) for words in changes for word in words if _NEGATION.match(word)]


def _duplicate(matching: Matching, item: ChecklistItem, line: int, checked: bool) -> LintFinding:
    answer = matching.of(item.label)
    if answer and answer.checked != checked:
        message = f"Item {item.label} stands there twice, once ticked and once open."
        return _question("item-duplicate", message, line, label=item.label)
    return _remark("item-duplicate", f"Item {item.label} stands there twice.", line, label=item.label)


def _origin(subject: _Subject, known: Sequence[ChecklistTemplate]) -> Iterator[LintFinding]:
    origin = written_from(subject.sign_off, known)
    if origin and origin.version and [item.text for item in origin.items] != [i.text for i in subject.template.items]:
        current = subject.template.version or "another one"
        message = f"The text was copied from checklist version {origin.version}; the current one is {current}."
        yield _remark("template-stale", message, expected=current, actual=origin.version)


def _open_items(subject: _Subject) -> Iterator[LintFinding]:
    """Every open box needs its reason in the detail section (the verifier's template check)."""
    for match in subject.matching.items:
        if match.box is None or match.box.checked:
            continue
        explanation = explain(match.item, subject.template, subject.sign_off.detail, subject.detail_start)
        yield _open_item(subject, match, match.box.line, explanation)


def _open_item(subject: _Subject, match: ItemMatch, line: int, explanation: Explanation) -> LintFinding:
    label = match.item.label
    said = _short(explanation.text)
    if explanation.recognised:
        return _remark(
            "item-open", f"Item {label} is open; the detail section explains it.", line, label=label, actual=said
        )
    if label in subject.waived or match.item.name in subject.waived:
        return _remark("item-open", f"Item {label} is open and needs no reason here.", line, label=label)
    if explanation.grade in ("hinted", "general"):
        message = f"Item {label} is open; whether the detail section explains it is for a reader."
        return _question("item-open", message, line, label=label, actual=said)
    if added := _said_at_item(match):
        message = f"Item {label} is open; its reason stands at the item, not in the detail section."
        return _question("item-open", message, line, label=label, actual=_short(added))
    message = f"Item {label} is open and the detail section gives no reason."
    return _fault("item-unexplained", message, line, label=label, expected=f"Item {label}: why it is open")


def _said_at_item(match: ItemMatch) -> str:
    """What the signer added behind an item's wording, where it is more than a link."""
    last = match.segments[-1] if match.segments else None
    if last is None or last.operation != "insert":
        return ""
    words = [word for word in last.text.split() if "://" not in word and re.search(r"\w", word)]
    return " ".join(words) if len(words) > 1 or any("/" in word for word in words) else ""


def _said_open(subject: _Subject) -> Iterator[LintFinding]:
    """A ticked box of which the detail section says that it is open: a reader cannot know which of both is meant."""
    ticked = {match.item.label.lower(): match.item.label for match in subject.matching.items if match.checked}
    for said in said_open(subject.sign_off.detail, subject.template, subject.detail_start):
        for label in (label for key, label in ticked.items() if key in said.labels):
            message = f"Item {label} is ticked, but the detail section says that it is open."
            yield _question("item-said-open", message, said.line, label=label, actual=_short(said.text))


def _to_do(subject: _Subject, told: frozenset[str]) -> Iterator[LintFinding]:
    """What is still to do, except where it is about an item of `told` (labels in lower case)."""
    sign_off = subject.sign_off
    if not sign_off.detail_line:
        return
    quiet = {
        line
        for said in still_to_do(sign_off.detail, subject.template, subject.detail_start)
        if said.labels & told
        for line in range(said.line, said.last_line + 1)
    }
    for line in subject.own:
        if line.number >= sign_off.detail_line and line.number not in quiet and _TODO.search(line.text):
            yield _remark("todo-left", "Something is still to do.", line.number, actual=_short(line.text))


def _detail(subject: _Subject, told: frozenset[str]) -> Iterator[LintFinding]:
    """The placeholder, links that say nothing, and what is still to do. `told` are the labels, in lower case, of items
    whose own finding says already that something is to do."""
    template, sign_off = subject.template, subject.sign_off
    if template.detail_heading and sign_off.boxes and detail_heading(subject.own) is None:
        message = "The heading of the additional detail section is missing."
        yield _remark("heading-missing", message, sign_off.detail_line, expected=template.detail_heading.strip())
    placeholder = _bare(template.placeholder or "")
    for line in subject.own:
        if placeholder and _bare(line.text) == placeholder:
            yield _fault("placeholder-left", "The template's placeholder was left in the detail section.", line.number)
    yield from _to_do(subject, told)
    links = in_detail(subject.links)
    roots = [link for link in links if link.kind is LinkKind.RECIPE_ROOT]
    if roots and all(link.own or link in roots for link in links):
        ticked = [m for m in (subject.matching.of("recipe"), subject.matching.of("recipe_merged")) if m and m.checked]
        finding = _fault if ticked else _remark
        message = "The links in the detail section are the template's own or bare start pages: they name no recipe."
        urls = " ".join(link.target.url for link in roots)
        yield finding("links-template-only", message, roots[0].line, actual=_short(urls))


def _run_links(subject: _Subject) -> Iterator[LintFinding]:
    """The items that ask for a workflow run: is it linked, and is it a run of this repository?"""
    in_section = {link.kind for link in in_detail(subject.links)}
    for match in subject.matching.items:
        if match.box is None or not asks_for_run(match.item):
            continue
        links = [link for link in subject.links if link.place == match.item.label and not link.own]
        runs = [link for link in links if link.kind is LinkKind.RUN]
        for link in runs:
            if (link.target.repository or "").lower() != subject.repository.lower():
                yield _about_run("run-link-foreign", "links a run of another repository", match, link)
        if runs:
            continue
        dashboards = [link for link in links if link.kind is LinkKind.DASHBOARD]
        for link in dashboards:
            run = f"https://{subject.host}/{subject.repository}/actions/runs/{link.target.run_ids[0]}"
            yield _about_run("run-link-dashboard", "links the dashboard instead of the Actions run", match, link, run)
        for link in [] if dashboards else links:
            yield _about_run("run-link-other", "links something that is no Actions run", match, link)
        asked = _ASKS_FOR_RUN.search(match.item.text) is not None
        if asked and match.checked and not links and not in_section & {LinkKind.RUN, LinkKind.DASHBOARD}:
            message = f"Item {match.item.label} asks for the link of the workflow run; none is there."
            yield _remark("run-link-missing", message, match.box.line, label=match.item.label)


def _about_run(rule: str, what: str, match: ItemMatch, link: Link, expected: str | None = None) -> LintFinding:
    message = f"Item {match.item.label} {what}."
    return _remark(rule, message, link.line, label=match.item.label, expected=expected, actual=_short(link.target.url))


def _changed_links(subject: _Subject) -> Iterator[LintFinding]:
    """Links of the template that point elsewhere in the text: an old layout, or the checklist's edit page."""
    for match in subject.matching.items:
        if match.box is None:
            continue
        wanted = {found.text: found.url for found in find_urls(match.item.text) if found.text}
        for link in subject.links:
            expected = wanted.get(link.text)
            if link.place != match.item.label or expected is None or link.target.url == expected:
                continue
            stale = link.kind is LinkKind.CHECKLIST
            place = "another place of the checklist" if stale else "another page"
            yield _remark(
                "self-link-stale" if stale else "link-altered",
                f"Item {match.item.label} links {place} than the template.",
                link.line,
                label=match.item.label,
                expected=expected,
                actual=_short(link.target.url),
            )


def _signature(subject: _Subject, author: str | None) -> Iterator[LintFinding]:
    sign_off, template = subject.sign_off, subject.template
    placeholder = next((line for line in subject.own if PLACEHOLDER_LOGIN in line.text), None)
    if placeholder:
        yield _fault("signature-placeholder", f"{PLACEHOLDER_LOGIN} was left in the text.", placeholder.number)
    elif template.signature and sign_off.signer is None:
        message = "The signature is empty." if sign_off.signature_line else "The text is not signed."
        yield _fault("signature-missing", message, sign_off.signature_line, expected=template.signature.strip())
    if sign_off.signer and author and sign_off.signer.casefold() != author.casefold():
        message = f"The text is signed by {sign_off.signer}, but posted by {author}: the verifier goes by who posts."
        yield _remark("signature-differs", message, sign_off.signature_line, expected=author, actual=sign_off.signer)


def _form(subject: _Subject) -> Iterator[LintFinding]:
    """What GitHub draws differently than it was meant, or not at all."""
    length = len(subject.text.replace("\r\n", "\n"))
    if length > MAX_CHARACTERS:
        message = f"The text has {length:,} characters; GitHub takes no more than 65,536."
        yield _fault("too-long", message, expected=f"{MAX_CHARACTERS:,}", actual=f"{length:,}")
    yield from _dead_boxes(subject)
    yield from _hidden(subject)


def _dead_boxes(subject: _Subject) -> Iterator[LintFinding]:
    boxes = subject.sign_off.boxes
    if not boxes:
        return
    by_number = {line.number: line for line in subject.own}
    first = by_number[boxes[0].line]
    if first.fenced:
        message = "The boxes stand inside a code fence, where GitHub draws no boxes: take the fence away."
        yield _fault("boxes-fenced", message, first.number)
    elif first.indent >= 4:
        message = "The boxes are indented so far that GitHub shows them as code: move them to the left."
        yield _fault("boxes-indented", message, first.number)
    bare = [box.line for box in boxes if bare_box(by_number[box.line])]
    if bare:
        message = f"GitHub draws no box on {_lines_named(bare)}."
        yield _remark("box-not-drawn", message, bare[0], expected="- [x] text", actual=_short(by_number[bare[0]].text))


def _hidden(subject: _Subject) -> Iterator[LintFinding]:
    """Characters and comments that a reader of the page does not see."""
    raw = re.split(r"\r\n|\r|\n", subject.text.removeprefix("\ufeff"))
    strange = [(number, line) for number, line in enumerate(raw, 1) if has_unsafe(line)]
    for number, line in strange[:_MOST_SHOWN]:
        yield _remark(
            "hidden-character", "The line has characters that are not shown.", number, actual=_short(visible(line))
        )
    comments = (found for found in _COMMENT.finditer(subject.text) if found["text"].strip())
    for found in itertools.islice((c for c in comments if not _OUR_MARKER.match(c["text"].rstrip())), _MOST_SHOWN):
        number = 1 + len(re.findall(r"\r\n|\r|\n", subject.text[: found.start()]))
        message = "An HTML comment is not shown on the page."
        yield _remark("hidden-text", message, number, actual=_short(found["text"]))


def _lines_named(numbers: Sequence[int]) -> str:
    shown = ", ".join(str(number) for number in numbers[:_MOST_SHOWN])
    more = f" and {len(numbers) - _MOST_SHOWN} more" if len(numbers) > _MOST_SHOWN else ""
    return f"line{'s' if len(numbers) > 1 else ''} {shown}{more}"


def _bare(text: str) -> str:
    return " ".join(text.strip(" \t-*+•").casefold().split())


def _short(text: str, limit: int = 200) -> str:
    flat = visible(" ".join(text.split()))
    return flat if len(flat) <= limit else f"{flat[: limit - 3]}..."
