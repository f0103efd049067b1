"""Owner: the signer is a CODEOWNER of what the pull request changes."""

from __future__ import annotations

from reviewer_tui.checks.check import Check, Evidence, Outcome, outcome
from reviewer_tui.model.finding import Finding, Status
from reviewer_tui.model.text import shorten
from reviewer_tui.policy.owners import OwnerRule, Owners

EXPLANATION = """\
Decides whether the signer may vouch for the changed files. Each changed path (both names of a rename) belongs to the
last matching line of CODEOWNERS at the policy revision; owners do not add up. On a line that names people, the signer
must be one of them; a path that only the catch-all line owns takes any owner named anywhere in the file.
Reads: CODEOWNERS of the policy revision, the list of changed files, the signer (--signer, or the signature).
Cannot know: who is a member of a team. Where only a team could make the signer an owner, the check is unverified."""

_MOST_PATHS_NAMED = 3


def decide(evidence: Evidence) -> Outcome:
    owners, files = evidence.policy.owners.value, evidence.snapshot.files
    if owners is None:
        return _unverified(evidence.policy.owners.reason)
    if files.value is None:
        return _unverified(f"The changed files are not known: {files.reason}")
    if not evidence.signer:
        return _unverified("Who signs is not known; name the signer with --signer LOGIN.")
    paths: dict[OwnerRule | None, list[str]] = {}
    for path in dict.fromkeys(path for file in files.value for path in file.paths):
        paths.setdefault(owners.rule_of(path), []).append(path)
    if not paths:
        return Outcome(status=Status.NOT_APPLICABLE, summary="no file is changed")
    findings = tuple(_judge(evidence, owners, rule, owned) for rule, owned in paths.items())
    if not files.complete:
        findings += (Finding(status=Status.UNVERIFIED, message=f"Some changed files are not known: {files.reason}"),)
    if not evidence.policy.owners.complete:
        message = f"Which line owns the files is not certain: {evidence.policy.owners.reason}"
        findings += (Finding(status=Status.UNVERIFIED, message=message, path=owners.path),)
    return outcome(findings, _summary(evidence.signer, findings))


def _judge(evidence: Evidence, owners: Owners, rule: OwnerRule | None, paths: list[str]) -> Finding:
    """What one line of CODEOWNERS means for the paths that it owns."""
    signer, what = evidence.signer, _named(paths)
    commit = evidence.policy.revision
    if rule is None or not rule.owners:
        line = rule.line if rule else None
        message = f"{what}: no line of {owners.path} asks for an owner."
        return Finding(status=Status.PASS, message=message, path=owners.path, line=line, commit=commit)
    named = ", ".join(str(owner) for owner in rule.owners)
    if owners.names(rule, signer):
        status, message = Status.PASS, f"{what}: @{signer} is an owner."
    elif rule.is_catch_all and owners.is_owner(signer):
        status, message = Status.PASS, f"{what}: only the catch-all line owns it, and @{signer} is a named owner."
    elif rule.is_catch_all:
        status = Status.UNVERIFIED
        message = f"{what}: only {named} owns it; whether @{signer} belongs to it cannot be read from here."
    elif any(owner.kind != "user" for owner in rule.owners):
        status = Status.UNVERIFIED
        message = (
            f"{what}: @{signer} is not named; whether a team or address on the line stands for @{signer} is not known."
        )
    else:
        status, message = (
            Status.FAIL,
            f"{what}: @{signer} is no owner; {named} {'is' if len(rule.owners) == 1 else 'are'}.",
        )
    return Finding(
        status=status,
        message=message,
        path=owners.path,
        line=rule.line,
        commit=commit,
        expected=named,
        actual=f"@{signer}",
    )


def _named(paths: list[str]) -> str:
    shown = ", ".join(shorten(path, 100) for path in paths[:_MOST_PATHS_NAMED])
    more = len(paths) - _MOST_PATHS_NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def _summary(signer: str, findings: tuple[Finding, ...]) -> str:
    decisive = next((f for s in (Status.FAIL, Status.UNVERIFIED) for f in findings if f.status is s), None)
    return decisive.message if decisive else f"@{signer} owns every changed file"


def _unverified(reason: str) -> Outcome:
    finding = Finding(status=Status.UNVERIFIED, message=reason)
    return Outcome(status=Status.UNVERIFIED, summary=reason, findings=(finding,))


CHECK = Check(
    name="owner",
    title="The signer is a CODEOWNER of the changed files",
    pane="checklist",
    explanation=EXPLANATION,
    decide=decide,
)
