"""Description: what the pull request's text claims agrees with the assessed commit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal

import msgspec

from reviewer_tui.checks.check import Check, Evidence, Outcome, outcome
from reviewer_tui.checks.claims import Claim, claims_of, number_of
from reviewer_tui.checks.runs import SWEEP_EVENT, alone
from reviewer_tui.checks.scope import arms, submitted
from reviewer_tui.checks.stale import same_image
from reviewer_tui.model.config import Entry
from reviewer_tui.model.finding import Finding, Status
from reviewer_tui.sweeps.rows import Row

EXPLANATION = """\
Decides whether explicit claims of the pull request's text hold at the assessed commit: parallelism (tp, ep, …) and
concurrencies of the submitted keys, images, numbers of added points, linked runs, named commits, GSM8K scores. A claim
that is contradicted, or that is in scope and cannot be confirmed, only warns; without such a claim the check does not
apply. Values of the state before count too: a text may speak of what it changes.
Reads: the text of the pull request, the submitted entries before and after, its commits, runs and eval scores.
Cannot know: claims in prose, tables, code blocks or quotations; a missing detail is no mismatch."""

# Names of a search-space row's fields for what texts call by fewer letters.
_FIELDS = {"tp": "tp", "ep": "ep", "pp": "pp", "dcp": "dcp-size", "pcp": "pcp-size"}


def decide(evidence: Evidence) -> Outcome:
    info = evidence.snapshot.info
    if info.value is None:
        return alone(Status.UNVERIFIED, info.reason, info.remedy)
    if not info.value.body:
        if not info.complete:
            return alone(Status.UNVERIFIED, info.reason, info.remedy)
        return _no_claim("The pull request has no description.")
    judge = _Judge(evidence)
    claims = claims_of(info.value.body, evidence.snapshot.ref)
    findings = tuple(finding for claim in claims if (finding := judge.claim(claim)) is not None)
    if not findings:
        return _no_claim("The description claims nothing that can be compared.")
    return outcome(findings, _summary(findings))


def _no_claim(message: str) -> Outcome:
    finding = Finding(status=Status.NOT_APPLICABLE, message=message)
    return Outcome(status=Status.NOT_APPLICABLE, summary=message, findings=(finding,))


class Values(msgspec.Struct, frozen=True):
    """What the submitted entries say, before and after: parameters by name, concurrencies, images."""

    parameters: dict[str, frozenset[int]]
    concurrencies: frozenset[int]
    images: frozenset[str]


class _Judge:
    """Puts claims to the facts of one pull request; None for a claim that is out of scope."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._changes = submitted(evidence)
        self._values = _values(entry for change in self._changes for entry in (change.new, change.old) if entry)

    def claim(self, claim: Claim) -> Finding | None:
        match claim.kind:
            case "run":
                return self._run(claim)
            case "commit":
                return self._commit(claim)
            case "score":
                return self._score(claim)
        if not self._changes:
            return None
        match claim.kind:
            case "parameter":
                values = self._values.parameters.get(claim.subject, frozenset())
                return self._value(claim, f"{claim.subject} {claim.value}", values)
            case "concurrency":
                return self._value(claim, f"concurrency {claim.value}", self._values.concurrencies)
            case "image":
                return self._image(claim)
            case _:
                return self._points(claim)

    def _value(self, claim: Claim, what: str, values: frozenset[int]) -> Finding | None:
        if not values:
            return None
        known = ", ".join(map(str, sorted(values)))
        if int(claim.value) in values:
            return _finding(claim, Status.PASS, f"{what} is in the submitted keys.")
        return _finding(claim, Status.WARN, f"{what} is in no submitted key (there: {known}).", known)

    def _image(self, claim: Claim) -> Finding | None:
        """An image; what is of no registry or organisation of the submitted ones may be the path of a file."""
        image = same_image(claim.value)
        if image.partition("/")[0] not in {known.partition("/")[0] for known in self._values.images}:
            return None
        if image in self._values.images:
            return _finding(claim, Status.PASS, f"image {claim.value} is in the submitted keys.")
        known = ", ".join(sorted(self._values.images))
        return _finding(claim, Status.WARN, f"image {claim.value} is in no submitted key (there: {known}).", known)

    def _points(self, claim: Claim) -> Finding:
        claimed = number_of(claim.value)
        added = [len(change.points_added) for change in self._changes]
        if claimed in (*added, sum(added)):
            return _finding(claim, Status.PASS, f"{claimed} points are added.")
        message = f"{claimed} points are claimed to be added, and {sum(added)} are."
        return _finding(claim, Status.WARN, message, str(sum(added)))

    def _run(self, claim: Claim) -> Finding | None:
        """A link to a run; one that another event started speaks of something else."""
        snapshot = self._evidence.snapshot
        run = next((run for run in snapshot.runs.value or () if run.id == int(claim.value)), None)
        if run is None:
            if snapshot.runs.complete:
                return _finding(claim, Status.WARN, f"run {claim.value} is not among the runs of the pull request.")
            return _finding(claim, Status.UNVERIFIED, f"run {claim.value} is not known: {snapshot.runs.reason}")
        if run.head_sha in self._commits():
            return _finding(claim, Status.PASS, f"run {run.id} is of {run.head_sha[:9]}, a commit of the pull request.")
        if run.event != SWEEP_EVENT:
            return None
        message = f"run {run.id} is of {run.head_sha[:9]}, which is"
        if snapshot.commits.complete:
            return _finding(claim, Status.WARN, f"{message} no commit of the pull request now.")
        return _finding(claim, Status.UNVERIFIED, f"{message} not known to be a commit of the pull request.")

    def _commit(self, claim: Claim) -> Finding:
        if any(sha.startswith(claim.value) for sha in self._commits()):
            return _finding(claim, Status.PASS, f"{claim.value[:9]} is a commit of the pull request.")
        if self._evidence.snapshot.commits.complete:
            return _finding(claim, Status.WARN, f"{claim.value[:9]} is no commit of the pull request now.")
        return _finding(claim, Status.UNVERIFIED, f"Whether {claim.value[:9]} is in the pull request is not known.")

    def _commits(self) -> frozenset[str]:
        snapshot = self._evidence.snapshot
        return frozenset((snapshot.head, *(commit.sha for commit in snapshot.commits.value or ())))

    def _score(self, claim: Claim) -> Finding:
        part = self._evidence.snapshot.evals
        if part.value is None:
            return _finding(
                claim, Status.UNVERIFIED, f"{claim.subject} {claim.value}: no scores are known. {part.reason}"
            )
        known = [
            value
            for score in part.value
            if score.task == claim.subject
            for value in (score.strict, score.flexible, score.score)
            if value is not None
        ]
        if any(_rounds_to(value, claim.value) for value in known):
            return _finding(claim, Status.PASS, f"{claim.subject} {claim.value} is a score of its runs.")
        status = Status.WARN if part.complete else Status.UNVERIFIED
        actual = f"{min(known):.4g} to {max(known):.4g}" if known else None
        between = f" (there: {actual})" if actual else ""
        return _finding(claim, status, f"{claim.subject} {claim.value} is no known score of its runs{between}.", actual)


def _values(entries: Iterable[Entry]) -> Values:
    parameters: dict[str, set[int]] = {}
    concurrencies: set[int] = set()
    images: set[str] = set()
    for entry in entries:
        images.add(same_image(entry.image))
        for arm in arms(entry):
            concurrencies.update(_concurrencies(arm.row))
            for holder in (arm.row, arm.row.get("prefill"), arm.row.get("decode")):
                for name, value in _sizes(holder if isinstance(holder, dict) else {}):
                    parameters.setdefault(name, set()).add(value)
    # A size that a row does not name is one.
    named = {name: frozenset({*values, 1}) for name, values in parameters.items()}
    return Values(named, frozenset(concurrencies), frozenset(images))


def _sizes(holder: Row) -> Iterator[tuple[str, int]]:
    for name, field in _FIELDS.items():
        value = holder.get(field)
        if isinstance(value, int) and not isinstance(value, bool):
            yield name, value


def _concurrencies(row: Row) -> Iterator[int]:
    """The concurrencies of a search-space row: its list, or the powers of two from start to end."""
    listed = row.get("conc-list")
    if isinstance(listed, list) and listed:
        yield from (value for value in listed if isinstance(value, int))
        return
    start, end = row.get("conc-start"), row.get("conc-end")
    if isinstance(start, int) and isinstance(end, int) and 0 < start <= end:
        while start < end:
            yield start
            start *= 2
        yield end


def _rounds_to(value: float, written: str) -> bool:
    """Whether a score, rounded or cut as a person would, is what is written (`0.968`, `96.8%`)."""
    percent = written.rstrip().endswith("%")
    claimed = Decimal(written.rstrip("% "))
    step = Decimal(1).scaleb(int(claimed.as_tuple().exponent))
    exact = Decimal(repr(value)) * (100 if percent else 1)
    return abs(exact - claimed) < step


def _finding(claim: Claim, status: Status, message: str, expected: str | None = None) -> Finding:
    return Finding(
        status=status,
        message=f"Line {claim.line} of the description: {message}",
        line=claim.line,
        expected=expected,
        actual=claim.value,
    )


def _summary(findings: tuple[Finding, ...]) -> str:
    for status in (Status.UNVERIFIED, Status.WARN):
        if found := next((finding for finding in findings if finding.status is status), None):
            return found.message
    return f"{len(findings)} {'claim' if len(findings) == 1 else 'claims'} of the description hold"


CHECK = Check(
    name="description",
    title="The description agrees with the assessed commit",
    pane="conversation",
    explanation=EXPLANATION,
    decide=decide,
)
