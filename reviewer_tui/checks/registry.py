"""All checks of a policy, in the policy's order: the ones this program derives, and, never left out, the others."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from functools import lru_cache

from reviewer_tui import checks
from reviewer_tui.checks.check import Check, Evidence, Outcome
from reviewer_tui.checks.scope import unread_masters
from reviewer_tui.model.finding import CheckResult, Finding, Status
from reviewer_tui.policy.policy import PolicyCheck

NOT_DERIVED = "not yet derived by this program"


@lru_cache(maxsize=1)
def known_checks() -> dict[str, Check]:
    """Every check of this package by name: each module that holds a `CHECK`."""
    found = (check_named(module.name) for module in pkgutil.iter_modules(checks.__path__))
    return {check.name: check for check in found if check}


@lru_cache(maxsize=64)
def check_named(name: str) -> Check | None:
    """The check with this name: its module has the same name, and is imported only when a policy has the check."""
    module = f"{checks.__name__}.{name}"
    if not name.isidentifier() or importlib.util.find_spec(module) is None:
        return None
    check = getattr(importlib.import_module(module), "CHECK", None)
    return check if isinstance(check, Check) else None


def run_checks(evidence: Evidence) -> tuple[CheckResult, ...]:
    """The result of every check that the policy names, in its order."""
    return tuple(_result(policy_check, evidence) for policy_check in evidence.policy.checks)


def _result(policy_check: PolicyCheck, evidence: Evidence) -> CheckResult:
    check = check_named(policy_check.name)
    decided = _undecided(policy_check) if check is None else _decide(check, evidence)
    return CheckResult(
        name=policy_check.name,
        number=policy_check.number,
        title=policy_check.title or (check.title if check else policy_check.name),
        status=decided.status,
        summary=decided.summary,
        findings=decided.findings,
        pre_existing=decided.pre_existing,
        text=policy_check.text if _is_unknown(policy_check) else "",
    )


def _undecided(policy_check: PolicyCheck) -> Outcome:
    """A check without a module here: one of an unknown policy is the reviewer's, a known one is not derived yet."""
    if _is_unknown(policy_check):
        message = "This program does not know this check: read the policy's own text and judge."
        finding = Finding(status=Status.JUDGEMENT, message=message, line=policy_check.line)
        return Outcome(status=Status.JUDGEMENT, summary="unknown to this program", findings=(finding,))
    finding = Finding(status=Status.UNVERIFIED, message=f"This check is {NOT_DERIVED}.")
    return Outcome(status=Status.UNVERIFIED, summary=NOT_DERIVED, findings=(finding,))


def _is_unknown(policy_check: PolicyCheck) -> bool:
    """Whether the policy has a check that this program has never heard of."""
    return policy_check.name.startswith("check-")


def _as_far_as_read(decided: Outcome, evidence: Evidence) -> Outcome:
    """The outcome, but for what an unread master config may hide: where one cannot be read, no check that found nothing
    to look at may say so."""
    unread = unread_masters(evidence) if decided.status is Status.NOT_APPLICABLE else ()
    if not unread:
        return decided
    message = f"{', '.join(unread)} cannot be read at head, so what it submits is not known."
    finding = Finding(status=Status.UNVERIFIED, message=message, path=unread[0], commit=evidence.snapshot.head)
    return Outcome(status=Status.UNVERIFIED, summary=message, findings=(*decided.findings, finding))


def _decide(check: Check, evidence: Evidence) -> Outcome:
    """The check's decision. A fault of the check itself must neither pass nor take the other checks down with it."""
    try:
        return _as_far_as_read(check.decide(evidence), evidence)
    except Exception as fault:
        message = f"The check broke on this pull request ({type(fault).__name__}: {fault}); please report it."
        finding = Finding(status=Status.UNVERIFIED, message=message)
        return Outcome(status=Status.UNVERIFIED, summary="the check broke on this pull request", findings=(finding,))
