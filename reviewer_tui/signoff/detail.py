"""Draft the additional detail section from what the checks found.

One entry a matter, in the order of the checklist, made of findings that hold (passes, warnings, reasons why something
does not apply) and their evidence. What failed, is unverified or waits for judgement is left to the reviewer.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from reviewer_tui.model.checklist import ChecklistItem, ChecklistTemplate
from reviewer_tui.model.config import ConfigChanges, KeyChange, Point
from reviewer_tui.model.finding import CheckResult, Finding, Status
from reviewer_tui.model.text import visible
from reviewer_tui.signoff.titles import check_title

SectionKind = Literal["edited", "scope", "finding", "note", "open_item"]

# Of the sign-off itself and of the description nothing is said in a sign-off.
_UNSPOKEN = ("owner", "template", "description")
_HOLDS = (Status.PASS, Status.WARN)
_MOST_FACTS = 6
_MOST_KEYS = 8
_LONGEST_FACT = 400


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the detail section. `source` is the check it comes from, or the label of the item it speaks about;
    empty for the scope and for text edited by hand."""

    kind: SectionKind
    text: str
    source: str = ""


def draft(
    template: ChecklistTemplate,
    results: Sequence[CheckResult],
    checks_of: Callable[[str], tuple[str, ...]],
    *,
    links: Mapping[str, tuple[str, ...]],
    accepted: frozenset[str],
    changes: ConfigChanges | None = None,
) -> tuple[Section, ...]:
    """The entries that can be drafted. `links` are URLs by item label that belong into the section; `accepted` are the
    labels of ticked items: why a check does not apply is said here only for those, an open box says it itself."""
    by_name = {result.name: result for result in results}
    sections: list[Section] = []
    if changes and (text := scope(changes)):
        sections.append(Section(kind="scope", text=_entry("Scope", text)))
    drafted: set[str] = set()
    for item in template.items:
        shown = links.get(item.label, ())
        for name in checks_of(item.name):
            result = by_name.get(name)
            if result is None or name in drafted or name in _UNSPOKEN:
                continue
            if result.status is Status.NOT_APPLICABLE and item.label not in accepted:
                continue
            drafted.add(name)
            sections += _section(result, shown)
            shown = ()
        if shown:
            sections.append(Section(kind="finding", source=item.label, text=_entry(f"Item {item.label}", *shown)))
    return tuple(sections)


def facts(result: CheckResult) -> tuple[str, ...]:
    """What holds of a result, a short sentence each, with its evidence; nothing of a check that fails."""
    if result.status is Status.FAIL:
        return ()
    found = []
    if result.status in (*_HOLDS, Status.NOT_APPLICABLE):
        found.append(_sentence(result.summary))
    for finding in result.findings:
        if finding.status in _HOLDS or finding.status is result.status is Status.NOT_APPLICABLE:
            found.append(_with_evidence(finding))
    different = _without_repeated([fact for fact in dict.fromkeys(found) if fact])
    more = len(different) - _MOST_FACTS
    return (*different[:_MOST_FACTS], *([f"{more} more of the same check."] if more > 0 else []))


def _without_repeated(sentences: Sequence[str]) -> list[str]:
    """Different sentences without those that another one repeats with more behind them: a summary that a finding gives
    with its evidence is said once. In order, all that begin alike stand together, so two neighbours tell."""
    ordered = sorted(sentences)

    def is_repeated(sentence: str) -> bool:
        stem = sentence[:-1]
        first = bisect.bisect_left(ordered, stem)
        return any(other != sentence and other.startswith(stem) for other in ordered[first : first + 2])

    return [sentence for sentence in sentences if not is_repeated(sentence)]


def reason_not_applicable(item: ChecklistItem, results: Iterable[CheckResult], names: Sequence[str]) -> str:
    """Why an item does not apply; empty unless all its checks say so."""
    own = [result for result in results if result.name in names]
    if not own or any(result.status is not Status.NOT_APPLICABLE for result in own):
        return ""
    texts = (own[0].summary, *(finding.message for finding in own[0].findings))
    return next((_sentence(text) for text in texts if text.strip()), "")


def scope(changes: ConfigChanges) -> str:
    """What the pull request changes, key by key."""
    keys = [_key(change) for change in changes.keys[:_MOST_KEYS]]
    more = len(changes.keys) - _MOST_KEYS
    return " ".join([*keys, *([f"{more} more keys."] if more > 0 else [])])


def harmless(text: str) -> str:
    """Foreign text as one line that says what it says: no line break, control character, HTML or mention has effect."""
    flat = visible(" ".join(text.split()))
    parts = re.split(r"(`[^`]*`)", flat)
    return "".join(part if n % 2 else _defused(part) for n, part in enumerate(parts))


def _defused(text: str) -> str:
    text = re.sub(r"<(?=[A-Za-z!/?])", r"\\<", text)
    return re.sub(r"(?<![\w@`])@(?=[A-Za-z\d])([\w/-]+)", r"`@\1`", text)


def _section(result: CheckResult, links: Sequence[str]) -> Iterator[Section]:
    said = facts(result)
    new = [link for link in links if not any(link in fact for fact in said)]
    if said or new:
        title = harmless(check_title(result.name, result.title))
        yield Section(kind="finding", source=result.name, text=_entry(title, *said, *new))


def _entry(title: str, *sentences: str) -> str:
    return f"- {title}: {' '.join(sentences)}"


def _sentence(text: str) -> str:
    flat = harmless(text)
    if len(flat) > _LONGEST_FACT:
        flat = f"{flat[:_LONGEST_FACT].rsplit(' ', 1)[0]} ..."
    return flat if not flat or flat.endswith((".", "!", "?", ":")) else f"{flat}."


def _with_evidence(finding: Finding) -> str:
    sentence = _sentence(finding.message)
    url = finding.url or ""
    if re.fullmatch(r"https?://[^\s<>()`]{1,500}", url) and url not in sentence:
        return f"{sentence[:-1]} ({url})."
    place = f"{finding.path}:{finding.line}" if finding.path and finding.line else finding.path or ""
    if place and "`" not in place and place not in sentence:
        return f"{sentence[:-1]} (`{visible(' '.join(place.split()))}`)."
    return sentence


def _key(change: KeyChange) -> str:
    counts = []
    if change.points_added:
        counts.append(f"{len(change.points_added)} points added ({_arms(change.points_added)})")
    if change.points_removed:
        counts.append(f"{len(change.points_removed)} points removed ({_arms(change.points_removed)})")
    if change.fields:
        counts.append("fields changed: " + ", ".join(field.field for field in change.fields[:_MOST_KEYS]))
    files = [f"`{path.rsplit('/', 1)[-1]}`" for path in change.files[:_MOST_KEYS]]
    if files:
        counts.append(f"served by changed {', '.join(files)}")
    return harmless(f"`{change.key}` {change.change}{': ' if counts else ''}{', '.join(counts)}.")


def _arms(points: Sequence[Point]) -> str:
    """Points by arm: `8k1k tp2 ep2 c16 c32`."""
    arms: dict[str, list[str]] = {}
    for point in points:
        arms.setdefault(point.label, []).append(f"c{point.conc}")
    shown = [f"{label} {' '.join(concs)}" for label, concs in list(arms.items())[:_MOST_KEYS]]
    return "; ".join([*shown, *(["..."] if len(arms) > _MOST_KEYS else [])])
