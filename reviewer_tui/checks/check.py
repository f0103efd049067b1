"""What a check is, and what it may look at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from reviewer_tui.model.checklist import SignOff
from reviewer_tui.model.config import ConfigChanges
from reviewer_tui.model.finding import Finding, Status, worst
from reviewer_tui.model.snapshot import Snapshot, Trees
from reviewer_tui.policy.policy import Policy

Pane = Literal["checklist", "diff", "runs", "evals", "recipes", "conversation"]


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a check may look at: facts, rules, and the day of the review (`YYYY-MM-DD`, UTC).

    `sign_off_text` is the text under judgement where there is one, and `sign_off` the same taken apart; `signer` is a
    login without `@`, or empty.
    """

    snapshot: Snapshot
    trees: Trees
    policy: Policy
    changes: ConfigChanges
    review_date: str
    signer: str = ""
    sign_off: SignOff | None = None
    sign_off_text: str | None = None

    @property
    def no_sign_off(self) -> str:
        """Why there is no text to judge, without a full stop: there is none, or that is not known."""
        said = self.snapshot.conversation
        return "There is no sign-off yet" if said.complete else "Whether there is a sign-off is not known"

    @property
    def no_sign_off_because(self) -> str:
        """What hides a sign-off from this program and how to get it, with a blank before; empty where nothing does."""
        said = self.snapshot.conversation
        return "" if said.complete else f" {said.reason} {said.remedy}".rstrip()


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a check decided, before the policy's number and title are put to it."""

    status: Status
    summary: str
    findings: tuple[Finding, ...] = ()
    pre_existing: tuple[Finding, ...] = ()


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One check: its fixed name, a title for policies that give none, the pane that shows its evidence, the
    explanation for people (what it decides, from which files, by which rule, what it cannot know), and the decision."""

    name: str
    title: str
    pane: Pane
    explanation: str
    decide: Callable[[Evidence], Outcome]


def outcome(findings: tuple[Finding, ...], summary: str, pre_existing: tuple[Finding, ...] = ()) -> Outcome:
    """The outcome whose status is the worst of its findings; no finding at all is `unverified`, never a pass."""
    status = worst((finding.status for finding in findings), empty=Status.UNVERIFIED)
    return Outcome(status=status, summary=summary, findings=findings, pre_existing=pre_existing)
