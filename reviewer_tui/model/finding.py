"""Statuses, findings, the result of a check, and the verdict."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import StrEnum

import msgspec


class Status(StrEnum):
    """How a check or a finding stands. Missing evidence is `unverified`, a human matter is `judgement`."""

    PASS = "pass"
    FAIL = "fail"
    WARN = "warn"
    NOT_APPLICABLE = "not_applicable"
    UNVERIFIED = "unverified"
    JUDGEMENT = "judgement"

    @property
    def letter(self) -> str:
        """One ASCII character that carries the status where colour cannot."""
        return _LETTERS[self]


_LETTERS = {
    Status.PASS: "P",
    Status.FAIL: "F",
    Status.WARN: "W",
    Status.NOT_APPLICABLE: "-",
    Status.UNVERIFIED: "U",
    Status.JUDGEMENT: "J",
}

# Worst first: the status of a whole follows from the first of these that any of its findings has.
_WORST_FIRST = (Status.FAIL, Status.UNVERIFIED, Status.JUDGEMENT, Status.WARN, Status.PASS, Status.NOT_APPLICABLE)


def worst(statuses: Iterable[Status], empty: Status) -> Status:
    """The status of a whole from its parts; `empty` where there are none."""
    present = set(statuses)
    return next((status for status in _WORST_FIRST if status in present), empty)


class Verdict(StrEnum):
    """The predicted verdict on a pull request."""

    PASS = "PASS"
    WARN = "WARN"
    UNDECIDED = "UNDECIDED"
    REJECTED = "REJECTED"


def verdict_of(statuses: Iterable[Status]) -> Verdict:
    """REJECTED if any check fails, UNDECIDED if one is unverified or waits for judgement, WARN, or PASS."""
    present = set(statuses)
    if Status.FAIL in present:
        return Verdict.REJECTED
    if not present or present & {Status.UNVERIFIED, Status.JUDGEMENT}:
        return Verdict.UNDECIDED
    return Verdict.WARN if Status.WARN in present else Verdict.PASS


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One fact that speaks for a status, with its evidence.

    `message` is one sentence for a person. `path` and `line` (from 1) are at `commit`. `expected` and `actual` are
    short texts, present where something was compared. `item` is the stable name of the one checklist item that it
    speaks to, where its check speaks to several.
    """

    status: Status
    message: str
    path: str | None = None
    line: int | None = None
    commit: str | None = None
    url: str | None = None
    expected: str | None = None
    actual: str | None = None
    item: str | None = None


class CheckResult(msgspec.Struct, frozen=True, kw_only=True):
    """What one check of the policy came to.

    `number` is the policy's own at that revision (None where it names none); `text` is the policy's wording for a
    check that this program does not know. `pre_existing` are faults that the base already had.
    """

    name: str
    number: int | None
    title: str
    status: Status
    summary: str
    findings: tuple[Finding, ...] = ()
    pre_existing: tuple[Finding, ...] = ()
    text: str = ""

    @property
    def warns_beside(self) -> bool:
        """Whether the rule is kept and a finding warns all the same: a rule may know no warning of its own."""
        kept = self.status in (Status.PASS, Status.NOT_APPLICABLE)
        return kept and any(finding.status is Status.WARN for finding in self.findings)

    def about(self, item: str, others: Collection[str]) -> CheckResult | None:
        """What the check says to one checklist item (stable name), without what it says to one of the others alone.
        None where that is nothing."""
        found = tuple(one for one in self.findings if one.item in (None, item) or one.item not in others)
        if len(found) == len(self.findings):
            return self
        if not found:
            return None
        status = worst((one.status for one in found), empty=self.status)
        summary = next(one.message for one in found if one.status is status)
        return msgspec.structs.replace(self, status=status, summary=summary, findings=found)


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """A located fault of a file: what is wrong, in which file, where (from 1), by which rule (a short slug)."""

    path: str
    message: str
    rule: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.message}"
