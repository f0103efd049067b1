"""Sweep: every lane that the change asks for ran green in one sweep of a commit that is still in the pull request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reviewer_tui.checks.check import Check, Evidence, Outcome
from reviewer_tui.checks.runs import (
    RanLane,
    Sweep,
    Sweeps,
    added_entries,
    alone,
    by_the_letter,
    number_of_lanes,
    place_of_run,
    plan_of,
    sweeps_of,
    was_trimmed,
)
from reviewer_tui.checks.scope import submitted
from reviewer_tui.checks.stale import stale_findings
from reviewer_tui.model.finding import Finding, Status
from reviewer_tui.model.run import CheckRun
from reviewer_tui.sweeps.lanes import callee_name, collapse
from reviewer_tui.sweeps.plan import SweepPlan, coverage
from reviewer_tui.sweeps.rows import arm_label

EXPLANATION = """\
Decides whether a full sweep, evals included, is green on a commit that is still part of the pull request. The lanes
that are expected follow from the changelog entries that the pull request adds and the configs of the swept commit; the
canary counts for its point. Only executed lanes of a run of the sweep workflow that the pull request itself started
count: skipped lanes, aggregating jobs, dispatched runs and commits that were pushed out do not.
Reads: the changelog and master configs at head and at the swept commit, the pull request's commits, its workflow runs
with the jobs of every attempt, its labels.
Also names stale evidence: what the branch changed after the sweep waits for judgement, what main changed under it is a
remark that leaves the status as the rule's letter has it. Changed keys that no entry runs wait for judgement.
Cannot know: whether a change after the sweep is inert, and whether a lane that was stopped matters."""

ROOT = "No passing sweep/eval was found on any commit in this PR."
"""The verifier's own words for its failure."""

_MOST_NAMED = 4


def decide(evidence: Evidence) -> Outcome:
    if (aside := nothing_to_sweep(evidence)) is not None:
        return aside
    runs = evidence.snapshot.runs
    if runs.value is None:
        return alone(Status.UNVERIFIED, runs.reason, runs.remedy)
    plan, sweeps = plan_of(evidence, evidence.trees.head), sweeps_of(evidence)
    findings = [*_sweep_findings(evidence, plan, sweeps), *_uncovered(evidence, plan)]
    return by_the_letter(findings, _summary(evidence, sweeps, findings))


def nothing_to_sweep(evidence: Evidence) -> Outcome | None:
    """The outcome where the pull request changes nothing that a sweep could run; None where it does.

    The verifier by its letter still asks for a sweep, so this is no “not applicable”.
    """
    changes = evidence.changes
    if submitted(evidence) or changes.problems or added_entries(evidence.trees.base, evidence.trees.head):
        return None
    message = "No sweep is applicable: no config key is changed and no changelog entry is added."
    if changes.shared_files:
        message = f"{message[:-1]}, though files that serve benchmarks are ({_listed(changes.shared_files)})."
    return alone(Status.JUDGEMENT, f"{message} The rule by its letter asks for a green sweep all the same.")


def _sweep_findings(evidence: Evidence, plan: SweepPlan, sweeps: Sweeps) -> Iterator[Finding]:
    best = sweeps.best
    if best is None or best.standing == "red":
        yield from _none(plan, sweeps)
        return
    yield from _standing(evidence, best)
    yield from stale_findings(evidence, best)


def _none(plan: SweepPlan, sweeps: Sweeps) -> Iterator[Finding]:
    """No sweep counts: a failure only where everything there could be is known."""
    details = []
    if not plan.lanes:
        problem = plan.problems[0].message if plan.problems else "No new changelog entry runs the changed keys."
        details.append(f"The changelog asks for no lane: {problem}")
    if sweeps.best is not None:
        details.append(why_red(sweeps.best))
    details += [f"Run {run.id} does not count: {why}." for run, why in sweeps.elsewhere[:_MOST_NAMED]]
    url = sweeps.best.run.url if sweeps.best else next((run.url for run, _ in sweeps.elsewhere), "")
    if sweeps.doubts:
        message = f"No passing sweep is known, and not all runs are: {' '.join(sweeps.doubts)}"
        yield Finding(status=Status.UNVERIFIED, message=message, url=url or None)
    else:
        expected = number_of_lanes(plan.counts) if plan.lanes else None
        yield Finding(status=Status.FAIL, message=ROOT, url=url or None, expected=expected)
    status = Status.UNVERIFIED if sweeps.doubts else Status.FAIL
    for detail in details:
        yield Finding(status=status, message=detail, url=url or None)


def why_red(sweep: Sweep) -> str:
    """Why a sweep that ran does not pass."""
    if failed := sweep.failed:
        return f"Run {sweep.run.id} has {len(failed)} failed {_lanes(len(failed))}: {_jobs(failed)}."
    empty = [family for family in sweep.plan.counts if not sweep.states([family])["pass"]]
    return f"Run {sweep.run.id} has no green lane of {' and '.join(empty)}: {_states(sweep)}."


def _standing(evidence: Evidence, sweep: Sweep) -> Iterator[Finding]:
    """What the best sweep is worth."""
    run, where = sweep.run, place_of_run(evidence, sweep.run)
    match sweep.standing:
        case "green":
            yield from _green(evidence, sweep)
        case "incomplete":
            yield from _incomplete(evidence, sweep)
        case "running":
            done = sweep.states()["pass"]
            message = f"Run {run.id} {where} is still running: {done} of {len(sweep.lanes)} lanes are green."
            yield Finding(status=Status.UNVERIFIED, message=message, url=run.url or None)
        case "unknown":
            message = f"Run {run.id} {where}: not all of its jobs are known. {_states(sweep)}."
            yield Finding(status=Status.UNVERIFIED, message=message, url=run.url or None)
        case _:
            message = f"Run {run.id} {where} executed {len(sweep.extra)} lanes, and no changelog entry asks for any."
            yield Finding(status=Status.JUDGEMENT, message=message, url=run.url or None)


def _green(evidence: Evidence, sweep: Sweep) -> Iterator[Finding]:
    run = sweep.run
    for family, number in sweep.plan.counts.items():
        how = " (told by their number: their names are written otherwise)" if family in sweep.by_number else ""
        canary = any(ran.job and ran.job.name.startswith("canary") for ran in sweep.lanes if ran.lane.family == family)
        yield Finding(
            status=Status.PASS,
            message=f"Run {run.id} {place_of_run(evidence, run)}: all {number} {family} lanes are green"
            f"{', the canary among them' if canary else ''}{how}.",
            url=run.url or None,
            commit=run.head_sha,
            expected=str(number),
            actual=str(sweep.states([family])["pass"]),
        )
    unexplained = [problem for problem in sweep.plan.problems if sweep.extra]
    for problem in unexplained[:_MOST_NAMED]:
        message = f"The expected lanes may not be all: {problem.message}"
        yield Finding(status=Status.UNVERIFIED, message=message, path=problem.path, line=problem.line)


def _incomplete(evidence: Evidence, sweep: Sweep) -> Iterator[Finding]:
    """Green as far as it ran: whether that is enough is human."""
    run, missing = sweep.run, sweep.not_run
    message = f"Run {run.id} {place_of_run(evidence, run)} is no full sweep: {_states(sweep)}."
    if was_trimmed(evidence, sweep):
        message += " The label sweep-enabled trims a sweep to the lowest concurrency of each arm."
    yield Finding(
        status=Status.JUDGEMENT,
        message=message,
        url=run.url or None,
        expected=number_of_lanes(sweep.plan.counts),
        actual=f"{sweep.states()['pass']} green",
    )
    if any(ran.state == "cancelled" for ran in missing):
        detail = evidence.sign_off.detail.lower() if evidence.sign_off else ""
        said = "speaks" if "cancel" in detail else "does not speak"
        message = f"Lanes were cancelled, and the sign-off's detail section {said} of it."
        yield Finding(status=Status.JUDGEMENT, message=message, url=run.url or None)
    yield Finding(status=Status.JUDGEMENT, message=f"Not run: {_named(missing)}.", url=run.url or None)


def _uncovered(evidence: Evidence, plan: SweepPlan) -> Iterator[Finding]:
    """Keys that the pull request changes and no entry of it runs, and points that no job can run."""
    if not plan.lanes:
        return
    if plan.unread:
        names = _listed(dict.fromkeys(f"{item.key} {arm_label(item.row)}" for item in plan.unread))
        message = f"No job of the workflow reads these sequence lengths, so they never run: {names}."
        yield Finding(status=Status.JUDGEMENT, message=message, path=plan.unread[0].path, line=plan.unread[0].line)
    uncovered = coverage(evidence.changes, plan).uncovered
    for change in evidence.changes.keys:
        if change.new is not None and change.key in uncovered:
            what = " and ".join(uncovered[change.key])
            yield Finding(
                status=Status.JUDGEMENT,
                message=f"{change.key} ({what}) is changed, and no new changelog entry runs it.",
                path=change.new.path,
                line=change.new.line,
                commit=evidence.snapshot.head,
            )


def _summary(evidence: Evidence, sweeps: Sweeps, findings: Iterable[Finding]) -> str:
    some = list(findings)
    for status in (Status.FAIL, Status.UNVERIFIED, Status.JUDGEMENT):
        if found := next((finding for finding in some if finding.status is status), None):
            return found.message
    best = sweeps.best
    assert best is not None
    summary = f"run {best.run.id} {place_of_run(evidence, best.run)}: {number_of_lanes(best.plan.counts)} green"
    remark = next((finding for finding in some if finding.status is Status.WARN), None)
    return f"{summary}; {remark.message}" if remark else summary


def _states(sweep: Sweep) -> str:
    """`7 of 9 single-node 8k1k green, 4 of 4 eval green`."""
    return ", ".join(
        f"{sweep.states([family])['pass']} of {number} {family} green" for family, number in sweep.plan.counts.items()
    )


def _named(lanes: tuple[RanLane, ...]) -> str:
    names = [f"{ran.lane.family} {collapse(callee_name(ran.lane.row))} ({ran.state})" for ran in lanes]
    return _listed(names)


def _jobs(jobs: tuple[CheckRun, ...]) -> str:
    return _listed([collapse(job.name) for job in jobs])


def _listed(names: Iterable[str]) -> str:
    some = list(names)
    more = len(some) - _MOST_NAMED
    return "; ".join(some[:_MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")


def _lanes(number: int) -> str:
    return "lane" if number == 1 else "lanes"


CHECK = Check(
    name="sweep",
    title="A passing sweep and evals ran on a commit of the pull request",
    pane="runs",
    explanation=EXPLANATION,
    decide=decide,
)
