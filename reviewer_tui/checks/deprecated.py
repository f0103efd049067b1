"""Deprecated: nothing is submitted that the models file has retired by the day of the review."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

import msgspec

from reviewer_tui.checks.check import Check, Evidence, Outcome, outcome
from reviewer_tui.checks.launches import LaunchPoint, drafting, launches_at, named, unread
from reviewer_tui.checks.scope import Arm, arms, entry_changed, lengths_of, submitted
from reviewer_tui.model.config import Entry
from reviewer_tui.model.finding import Finding, Status
from reviewer_tui.policy.deprecations import Deprecations, Ruling, RulingStatus

EXPLANATION = """\
Decides whether any submitted config key runs a model, scenario, precision or speculative arm that the models file has
retired. A named day is the last allowed one, so the review date (UTC) decides, not the day of the pull request or of
the sweep. A line that is announced but not enacted only warns; an end that is near is named with the days left.
Where a line speaks about a speculative arm, the method counts that a point's servers run: an arm that the config calls
`mtp` and that drafts no token at some concurrency has no speculation there.
Reads: the models file of the policy revision (deprecation notice, scenarios, support matrix), the submitted entries,
and what their points launch, where an arm matters and it can be evaluated (else the config's own word counts).
Cannot know: prefixes and combinations that the file does not list; they are the reviewer's judgement. A removed key is
no submission."""

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
    judged: dict[Combination, tuple[Arm, list[LaunchPoint]]] = {}
    for arm in arms(entry):
        scenario = "agentic" if arm.lengths is None else models.scenario_of(*arm.lengths)
        for method, points in _methods(evidence, models, entry, arm, scenario).items():
            combination = Combination(entry.model_prefix, scenario, entry.precision, method)
            judged.setdefault(combination, (arm, []))[1].extend(points)
    for line in _unread_lengths(entry):
        message = f"{entry.key}: the lengths of this scenario are no whole numbers, so what it is cannot be told."
        yield Finding(status=Status.UNVERIFIED, message=message, path=entry.path, line=line)
    if not judged:
        message = f"{entry.key} has no scenario that this program can read."
        yield Finding(status=Status.UNVERIFIED, message=message, path=entry.path, line=entry.line)
    for combination, (arm, points) in judged.items():
        yield _judge(evidence, models, entry, combination, arm, points)


def _unread_lengths(entry: Entry) -> Iterator[int]:
    """The lines of scenario items of which no arm can be read."""
    scenarios = entry.fields.get("scenarios")
    items = scenarios.get("fixed-seq-len") if isinstance(scenarios, dict) else None
    for index, item in enumerate(items if isinstance(items, list) else ()):
        if not isinstance(item, dict) or lengths_of(item) is None:
            yield entry.line_of(f"scenarios.fixed-seq-len.{index}")


def _methods(
    evidence: Evidence, models: Deprecations, entry: Entry, arm: Arm, scenario: str
) -> dict[str, list[LaunchPoint]]:
    """The methods that an arm runs, each with its points: the config's word where no line asks for more."""
    what = entry.model_prefix, scenario, entry.precision
    spoken_of = {"", *(rule.arm for rule in models.rules if rule.arm)}
    if len({models.ruling(*what, method, evidence.review_date) for method in spoken_of}) == 1:
        return {arm.method: []}
    found: dict[str, list[LaunchPoint]] = {}
    for point in launches_at(evidence.trees.head).of(entry):
        if point.expanded.line == arm.line:
            found.setdefault(_launched_method(point, arm), []).append(point)
    return found or {arm.method: []}


def _launched_method(point: LaunchPoint, arm: Arm) -> str:
    """The method that a point runs, empty without speculation; the config's word where that cannot be read."""
    if not point.may_speculate and not point.external:
        return ""
    launch = point.launch
    if unread(launch) is not None:
        return arm.method
    methods = {draft.speculation.method or arm.method for draft in drafting(launch.generating)}
    return methods.pop() if len(methods) == 1 else arm.method if methods else ""


def _judge(
    evidence: Evidence,
    models: Deprecations,
    entry: Entry,
    what: Combination,
    arm: Arm,
    points: list[LaunchPoint],
) -> Finding:
    rulings = models.ruling(what.prefix, what.scenario, what.precision, what.method, evidence.review_date)
    words = [word for word in (what.prefix, what.scenario, what.precision, what.method or "no speculation") if word]
    where = f"; {named(points)}" if points and what.method != arm.method else ""
    ruling = rulings[0]
    return Finding(
        status=_STATUS[ruling.status],
        message=f"{entry.key} ({' '.join(words)}{where}): {ruling.message}{_days_left(ruling, evidence.review_date)}",
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
