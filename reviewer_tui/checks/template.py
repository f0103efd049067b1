"""Template: the sign-off has every item of the current checklist, ticked or explained."""

from __future__ import annotations

from reviewer_tui.checks.check import Check, Evidence, Outcome, outcome
from reviewer_tui.model.checklist import ChecklistTemplate
from reviewer_tui.model.finding import Finding, Status

EXPLANATION = """\
Decides whether the sign-off answers the checklist of the policy revision: every item is there (minor drift in wording
is fine), and each is ticked or explained in the additional detail section.
Reads: the checklist template of the policy revision, and the sign-off text (--sign-off FILE, or the newest one of the
conversation).
Cannot know: whether an explanation is good enough; that is the reviewer's judgement. Without a sign-off the check is
unverified: the one that this program composes is made of the current template."""

_LATEST, _EXCEPTIONS = "latest", "exceptions"
_ABOUT_OPEN_BOXES = ("item-unexplained", "item-open", "item-said-open")


def decide(evidence: Evidence) -> Outcome:
    template = evidence.policy.template.value
    if template is None:
        return _unverified(f"The checklist template is not known: {evidence.policy.template.reason}")
    if evidence.sign_off_text is None:
        where = f"{template.path} at {evidence.policy.revision[:9]}"
        return _unverified(f"{evidence.no_sign_off}; the current template is {where}.{evidence.no_sign_off_because}")
    return _judge(evidence, template, evidence.sign_off_text)


def _judge(evidence: Evidence, template: ChecklistTemplate, text: str) -> Outcome:
    # Comparing texts word by word costs 25 ms to import, which only a review with a sign-off should pay.
    from reviewer_tui.signoff.lint import REJECTING, lint

    report = lint(text, template)
    findings = [
        Finding(
            status=Status.FAIL if fault.rule in REJECTING else Status.WARN,
            message=fault.message,
            line=fault.line,
            expected=fault.expected,
            actual=fault.actual,
            item=_item_of(fault.rule),
        )
        for fault in report.faults
    ]
    findings += [
        Finding(status=remark.status, message=remark.message, line=remark.line, item=_item_of(remark.rule))
        for remark in report.remarks
        if remark.status is Status.JUDGEMENT
    ]
    answered = sum(match.box is not None for match in report.matching.items)
    findings.append(
        Finding(
            status=Status.PASS if answered == len(report.matching.items) else Status.FAIL,
            message=f"{answered} of {len(report.matching.items)} items of the current template are in the sign-off.",
            path=template.path,
            commit=evidence.policy.revision,
            item=_LATEST,
        )
    )
    if not any(finding.item == _EXCEPTIONS for finding in findings):
        left = sum(match.box is not None and not match.box.checked for match in report.matching.items)
        told = f"{left} of the boxes {'is' if left == 1 else 'are'} open, with a reason." if left else "No box is open."
        findings.append(Finding(status=Status.PASS, message=told, item=_EXCEPTIONS))
    decided = outcome(tuple(findings), "")
    return Outcome(status=decided.status, summary=_summary(decided), findings=decided.findings)


def _item_of(rule: str) -> str:
    """The item that a rule of the lint speaks to: how open boxes are explained, or whether the template is current."""
    return _EXCEPTIONS if rule in _ABOUT_OPEN_BOXES else _LATEST


def _summary(decided: Outcome) -> str:
    return next(finding.message for finding in decided.findings if finding.status is decided.status)


def _unverified(reason: str) -> Outcome:
    finding = Finding(status=Status.UNVERIFIED, message=reason)
    return Outcome(status=Status.UNVERIFIED, summary=reason, findings=(finding,))


CHECK = Check(
    name="template",
    title="The sign-off uses the latest checklist template",
    pane="checklist",
    explanation=EXPLANATION,
    decide=decide,
)
