"""What speaks for or against something: checks, findings, the evidence of an item, and why something is not known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from reviewer_tui.model.checklist import ChecklistItem, Decision
from reviewer_tui.model.finding import CheckResult, Finding, Status
from reviewer_tui.model.part import Part
from reviewer_tui.policy.items import plain_text
from reviewer_tui.review.session import Review
from reviewer_tui.tui.texts.page import BLANK, Line, Piece, Target, beside_mark, letter, line

# What stands above the findings of a pane's checks.
FINDINGS = "Findings"


def evidence_lines(review: Review, item: ChecklistItem, *, chinese: bool, draft: str) -> list[Line]:
    """Everything that speaks for or against an item: its words, the checks with their findings, note and draft."""
    lines = [line(Piece(plain_text(item.text), "strong"))]
    if chinese:
        lines.append(line(Piece(chinese_text(review, item), "plain")))
    mark = review.notes.mark(item.label)
    if mark.decision is not Decision.OPEN or mark.note:
        decided = Piece(f"{mark.decision.value.replace('_', ' ')}", "strong")
        lines.append(line(Piece("you    ", "key"), decided, f"  {mark.note}" if mark.note else "", indent=7))
    results = review.results_for(item)
    lines += check_lines(results)
    if not results:
        lines.append(line(letter(Status.JUDGEMENT), "  No check speaks to this item: it is yours to judge.", indent=3))
    if draft and not mark.note:
        lines.append(line(Piece("draft  ", "key"), draft, indent=7))
    return lines


def chinese_text(review: Review, item: ChecklistItem) -> str:
    """The item in Chinese, or why there is none."""
    translation = review.policy.translation
    found = translation.value.item(item.label) if translation.value else None
    if found:
        return plain_text(found.text)
    return translation.reason or "This revision has no Chinese text for the item."


def check_lines(results: Iterable[CheckResult], *, findings: bool = True) -> list[Line]:
    """Checks, each with its findings, places and comparisons, or one line each."""
    lines: list[Line] = []
    for result in results:
        number = "" if result.number is None else f"check {result.number}, "
        lone = _lone_finding(result)
        place = place_of(lone) if lone else ""
        lines.append(
            line(
                letter(result.status),
                beside_mark(result.warns_beside),
                f" {result.summary or result.title}",
                Piece(f"  {place}" if findings and place else "", "dim"),
                Piece(f"  {number}{result.name}", "dim"),
                indent=3,
                target=target_of(lone) if findings and place and lone else None,
            )
        )
        if findings:
            lines += _findings_of(result)
    return lines


def _lone_finding(result: CheckResult) -> Finding | None:
    """The one finding that says no more than the summary, but for its place."""
    said = [finding for finding in result.findings if finding.message.rstrip(".") == result.summary.rstrip(".")]
    return said[0] if len(said) == len(result.findings) == 1 and said[0].expected is said[0].actual is None else None


def _findings_of(result: CheckResult) -> Iterator[Line]:
    for finding in result.findings:
        if finding is not _lone_finding(result):
            yield from finding_lines(finding)
    for finding in result.pre_existing:
        yield from finding_lines(finding, before="already so on the base: ")
    if result.text:
        yield line(Piece("   the policy says: ", "dim"), result.text, indent=3)


def finding_section(results: Iterable[CheckResult]) -> list[Line]:
    """The findings of a pane's checks, below its data."""
    lines = [found for result in results for found in _findings_of(result)]
    return [BLANK, line(Piece(FINDINGS, "strong")), *lines] if lines else []


def finding_lines(finding: Finding, before: str = "") -> Iterator[Line]:
    """A finding as a sentence with its place, and what was compared."""
    place = place_of(finding)
    yield line(
        "   ",
        letter(finding.status),
        f" {before}{finding.message}",
        Piece(f"  {place}" if place else "", "link" if finding.url else "dim"),
        indent=5,
        target=target_of(finding) if place else None,
    )
    if finding.expected is not None or finding.actual is not None:
        yield line(
            Piece("     expected ", "dim"),
            value_text(finding.expected),
            Piece("  found ", "dim"),
            value_text(finding.actual),
            indent=7,
        )


def target_of(finding: Finding) -> Target:
    return Target(path=finding.path or "", line=finding.line, url=finding.url or "")


def place_of(finding: Finding) -> str:
    """`path:line at 21d6bbb`, else the address; empty where a finding has neither."""
    if not finding.path:
        return finding.url or ""
    number = f":{finding.line}" if finding.line else ""
    at = f" at {finding.commit[:7]}" if finding.commit else ""
    return f"{finding.path}{number}{at}"


def part_lines(part: Part[Any], what: str) -> list[Line]:
    """Why a part is not all there and how to get the rest; that it is empty, where it is; nothing otherwise."""
    if part.state == "complete":
        return [] if part.value else [line(Piece(f"{what}: none.", "dim"))]
    state = "only part of it is known" if part.state == "partial" else "not known"
    lines = [line(Piece("U", "unverified"), Piece(f" {what}: {state}. ", "strong"), part.reason, indent=2)]
    if part.remedy:
        lines.append(line(Piece("  To get it: ", "key"), part.remedy, indent=4))
    return lines


def value_text(value: str | None) -> str:
    """A value, or that there is none."""
    return "(absent)" if value is None else value
