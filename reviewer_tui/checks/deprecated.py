"""Deprecated: nothing is submitted that the models file has retired by the day of the review."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

import msgspec

from reviewer_tui.checks.check import Check, Evidence, Outcome, outcome
from reviewer_tui.checks.scope import Arm, arms, entry_changed, submitted
from reviewer_tui.model.config import Entry
from reviewer_tui.model.finding import Finding, Status
from reviewer_tui.policy.deprecations import Deprecations, Ruling, RulingStatus

EXPLANATION = """\
Decides whether any submitted config key runs a model, scenario, precision or speculative arm that the models file has
retired. A named day is the last allowed one, so the review date (UTC) decides, not the day of the pull request or of
the sweep. A line that is announced but not enacted only warns; an end that is near is named with the days left.
Reads: the models file of the policy revision (deprecation notice, scenarios, support matrix), the submitted entries.
Cannot know: prefixes and combinations that the file does not list, and arms whose method only the launch reveals; they
are the reviewer's judgement. A removed key is no submission."""

_STATUS: dict[RulingStatus, Status] = {
    "allowed": Status.PASS,
    "upcoming": Status.PASS,
    "not_enacted": Status.WARN,
    "unknown": Status.JUDGEMENT,
    "deprecated": Status.FAIL,
}


class Combination(msgspec.Struct, frozen=True):
    """What the models file rules on: `method` is empty without speculation."""

    prefix: str
    scenario: str
    precision: str
    method: str


def decide(evidence: Evidence) -> Outcome:
    changes = submitted(evidence)
    if not changes:
        return Outcome(status=Status.NOT_APPLICABLE, summary="no benchmark configuration is submitted")
    models = evidence.policy.deprecations.value
    if models is None:
        reason = evidence.policy.deprecations.reason
        finding = Finding(status=Status.UNVERIFIED, message=reason)
        return Outcome(status=Status.UNVERIFIED, summary=reason, findings=(finding,))
    findings: list[Finding] = []
    for change in changes:
        if change.new is not None:
            judged = _judge_entry(evidence, models, change.new)
            findings += judged if entry_changed(change) else map(_only_served, judged)
    return outcome(tuple(findings), _summary(findings))


def _only_served(finding: Finding) -> Finding:
    """What holds for an entry that itself stays as it is: whether a change of its files submits it is human."""
    if finding.status is not Status.FAIL:
        return finding
    message = f"{finding.message} The entry is unchanged, only files that serve it are: is it submitted?"
    return msgspec.structs.replace(finding, status=Status.JUDGEMENT, message=message)


def _judge_entry(evidence: Evidence, models: Deprecations, entry: Entry) -> Iterator[Finding]:
    """One finding for each combination of an entry; an entry without any arm cannot be judged."""
    judged: dict[Combination, Arm] = {}
    for arm in arms(entry):
        scenario = "agentic" if arm.lengths is None else models.scenario_of(*arm.lengths)
        judged.setdefault(Combination(entry.model_prefix, scenario, entry.precision, arm.method), arm)
    if not judged:
        message = f"{entry.key} has no scenario that this program can read."
        yield Finding(status=Status.UNVERIFIED, message=message, path=entry.path, line=entry.line)
    for combination, arm in judged.items():
        yield _judge(evidence, models, entry, combination, arm)


def _judge(evidence: Evidence, models: Deprecations, entry: Entry, what: Combination, arm: Arm) -> Finding:
    rulings = models.ruling(what.prefix, what.scenario, what.precision, what.method, evidence.review_date)
    named = " ".join(
        word for word in (what.prefix, what.scenario, what.precision, what.method or "no speculation") if word
    )
    ruling = rulings[0]
    return Finding(
        status=_STATUS[ruling.status],
        message=f"{entry.key} ({named}): {ruling.message}{_days_left(ruling, evidence.review_date)}",
        path=entry.path,
        line=arm.line,
        commit=evidence.snapshot.head,
        url=evidence.snapshot.ref.blob_url(evidence.policy.revision, ruling.path, ruling.line),
        expected=f"allowed on {evidence.review_date}",
        actual=f"{ruling.status}, last day {ruling.last_day}" if ruling.last_day else ruling.status,
    )


def _days_left(ruling: Ruling, review_date: str) -> str:
    """How long an announced end still allows a submission, the last day included."""
    if ruling.status != "upcoming" or ruling.last_day is None:
        return ""
    left = (datetime.date.fromisoformat(ruling.last_day) - datetime.date.fromisoformat(review_date)).days
    return " Today is the last day." if left == 0 else f" {left} {'day' if left == 1 else 'days'} left."


def _summary(findings: list[Finding]) -> str:
    for status in (Status.FAIL, Status.UNVERIFIED, Status.JUDGEMENT, Status.WARN):
        if found := next((finding for finding in findings if finding.status is status), None):
            return found.message
    ending = [finding for finding in findings if finding.actual and finding.actual.startswith("upcoming")]
    return ending[0].message if ending else "nothing deprecated is submitted"


CHECK = Check(
    name="deprecated",
    title="No deprecated models or scenarios",
    pane="diff",
    explanation=EXPLANATION,
    decide=decide,
)
