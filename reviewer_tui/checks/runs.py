"""Which sweeps of a pull request count, each lane by lane against the plan of the commit it ran on.

A sweep counts if it is a run of the sweep workflow, started by the pull request, on a commit that is still part of it
(`validate_reusable_run` in the repository). Only executed lanes speak: aggregating jobs are green over nothing, and a
skipped lane measured nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Literal, cast

import msgspec

from reviewer_tui.checks.check import Evidence, Outcome
from reviewer_tui.model.errors import DataError
from reviewer_tui.model.finding import Finding, Status, worst
from reviewer_tui.model.run import CheckRun, Run
from reviewer_tui.model.tree import Tree
from reviewer_tui.policy.layout import discover_layout
from reviewer_tui.sweeps.changelog import ChangelogEntry, view_changelog
from reviewer_tui.sweeps.configs import Configs
from reviewer_tui.sweeps.lanes import (
    CANARY,
    EVAL_FAMILIES,
    THROUGHPUT_FAMILIES,
    Family,
    Lane,
    callee_name,
    collapse,
    prefix_of,
)
from reviewer_tui.sweeps.plan import TRIMMED_LABEL, SweepPlan, plan_sweep

SWEEP_WORKFLOW = "run-sweep.yml"
"""The only workflow whose runs can be reused (`find_reusable_sweep_run.py`; later `reuse.py`)."""

# The workflow of dispatched trials, whose jobs share names with those of sweeps.
_TRIAL_WORKFLOW = "e2e-tests.yml"

SWEEP_EVENT = "pull_request"

ALL_EVALS_LABEL = "all-evals"

LaneState = Literal["pass", "fail", "pending", "cancelled", "skipped", "missing"]
Standing = Literal["green", "incomplete", "running", "unknown", "red", "unplanned"]

# The better one first: which of several sweeps speaks for the pull request.
_BEST_FIRST: tuple[Standing, ...] = ("green", "incomplete", "running", "unknown", "unplanned", "red")
_FAMILIES: tuple[Family, ...] = (*THROUGHPUT_FAMILIES, *EVAL_FAMILIES)
# The families whose points a canary can be (the canary step of the sweep workflow).
_CANARY_FAMILIES: tuple[Family, ...] = ("single-node 1k1k", "single-node 8k1k")
_LONGEST_NAME = 2_000


class RanLane(msgspec.Struct, frozen=True, kw_only=True):
    """A lane that the plan asks for, and the newest job that ran it (None: there is none)."""

    lane: Lane
    state: LaneState
    job: CheckRun | None = None


class Sweep(msgspec.Struct, frozen=True, kw_only=True):
    """A run that counts, against its plan.

    `own_plan` says that the plan is that of the swept commit; else its files are not known and the head's plan stands
    in. `extra` are executed lanes beside the plan. In the families of `by_number` no name fits the plan, but the number
    of jobs does.
    """

    run: Run
    plan: SweepPlan
    own_plan: bool
    lanes: tuple[RanLane, ...]
    extra: tuple[CheckRun, ...] = ()
    by_number: tuple[Family, ...] = ()

    def states(self, families: Iterable[Family] = _FAMILIES) -> Counter[LaneState]:
        """How many planned lanes of these families are in which state."""
        wanted = frozenset(families)
        return Counter(ran.state for ran in self.lanes if ran.lane.family in wanted)

    @property
    def failed(self) -> tuple[CheckRun, ...]:
        """The jobs of all failed lanes, planned or not."""
        planned = (ran.job for ran in self.lanes if ran.state == "fail" and ran.job)
        return (*planned, *(job for job in self.extra if state_of(job) == "fail"))

    @property
    def not_run(self) -> tuple[RanLane, ...]:
        """The planned lanes that are neither green nor red nor under way."""
        return tuple(ran for ran in self.lanes if ran.state in ("cancelled", "skipped", "missing"))

    @property
    def standing(self) -> Standing:
        """`green` (all lanes), `incomplete` (some of every family and none red), `running`, `unknown` (jobs are not all
        known), `red` (a failed lane, or a family without any green one), `unplanned` (nothing was expected)."""
        states = self.states()
        if self.failed:
            return "red"
        if not self.lanes:
            return "unplanned"
        if states["pending"] or (states["missing"] and self.run.status != "completed"):
            return "running"
        if states["missing"] and not self.run.jobs_complete:
            return "unknown"
        if not all(self.states([family])["pass"] for family in self.plan.counts):
            return "red"
        return "incomplete" if self.not_run else "green"


class Sweeps(msgspec.Struct, frozen=True, kw_only=True):
    """The sweeps that count, the best first. `elsewhere` are executed runs that do not count, each with the reason;
    `doubts` say why there may be others."""

    counted: tuple[Sweep, ...]
    elsewhere: tuple[tuple[Run, str], ...] = ()
    doubts: tuple[str, ...] = ()

    @property
    def best(self) -> Sweep | None:
        return self.counted[0] if self.counted else None


def sweeps_of(evidence: Evidence) -> Sweeps:
    """All that is known of the pull request's sweeps. Without known runs there are none, and the doubts say so."""
    snapshot = evidence.snapshot
    doubts: list[str] = []
    if not snapshot.runs.complete:
        doubts.append(f"{snapshot.runs.reason} {snapshot.runs.remedy}".strip())
    counted: list[Sweep] = []
    elsewhere: list[tuple[Run, str]] = []
    for run in snapshot.runs.value or ():
        if not _may_be_sweep(run):
            continue
        if why := _not_counted(evidence, run):
            elsewhere.append((run, why))
        elif doubt := _doubted(evidence, run):
            doubts.append(doubt)
        else:
            counted.append(_sweep(evidence, run))
    counted.sort(
        key=lambda sweep: (_BEST_FIRST.index(sweep.standing), sweep.run.head_sha != snapshot.head, -sweep.run.id)
    )
    return Sweeps(counted=tuple(counted), elsewhere=tuple(elsewhere), doubts=tuple(dict.fromkeys(doubts)))


def configs_of(tree: Tree) -> Configs:
    """The configs of a revision; kept for the trees of the review at hand, which several checks share."""
    return _kept_configs(cast(Hashable, tree))


@lru_cache(maxsize=6)
def _kept_configs(tree: Any) -> Configs:
    return Configs(tree)


def added_entries(old: Tree, new: Tree) -> tuple[ChangelogEntry, ...]:
    """The changelog entries that one revision has beyond another, each in the layout of its time."""
    return _kept_entries(cast(Hashable, old), cast(Hashable, new))


@lru_cache(maxsize=8)
def _kept_entries(old: Any, new: Any) -> tuple[ChangelogEntry, ...]:
    path, old_path = discover_layout(new).changelog, discover_layout(old).changelog
    if path is None or (old_path and old.blob(old_path) == new.blob(path)):
        return ()
    return view_changelog(old.read(old_path) if old_path else None, new.read(path), path).entries


def plan_of(evidence: Evidence, tree: Tree, labels: Iterable[str] = ()) -> SweepPlan:
    """The full sweep that a commit of the pull request asks for; a canary is counted in its family."""
    return _kept_plan(cast(Hashable, evidence.trees.base), cast(Hashable, tree), frozenset(labels))


@lru_cache(maxsize=8)
def _kept_plan(base: Any, tree: Any, labels: frozenset[str]) -> SweepPlan:
    entries = added_entries(base, tree)
    append_only = any(entry.append_only for entry in entries)
    return plan_sweep(entries, configs_of(tree), configs_of(base) if append_only else None, labels)


def swept_tree(evidence: Evidence, run: Run) -> Tree | None:
    """The files of the commit that a run swept, where they are known."""
    if run.head_sha == evidence.snapshot.head:
        return evidence.trees.head
    return evidence.trees.swept.get(run.head_sha)


def labels_ever(evidence: Evidence) -> frozenset[str]:
    """The labels that the pull request has, or is known to have had."""
    info, events = evidence.snapshot.info.value, evidence.snapshot.events.value
    return frozenset((*(info.labels if info else ()), *(event.label for event in events or () if event.label)))


def was_trimmed(evidence: Evidence, sweep: Sweep) -> bool:
    """Whether what a sweep left out looks like the work of the label that trims sweeps."""
    return TRIMMED_LABEL in labels_ever(evidence) and not sweep.states(EVAL_FAMILIES)["missing"]


def state_of(job: CheckRun) -> LaneState:
    """What became of a job; one that was neither green nor stopped nor skipped failed."""
    if job.status != "completed" or job.conclusion is None:
        return "pending"
    known: dict[str, LaneState] = {
        "success": "pass",
        "skipped": "skipped",
        "neutral": "skipped",
        "cancelled": "cancelled",
        "stale": "cancelled",
    }
    return known.get(job.conclusion, "fail")


def number_of_lanes(counts: dict[Family, int]) -> str:
    """`9 single-node 8k1k and 4 eval lanes`."""
    words = [f"{number} {family}" for family, number in counts.items()]
    if not words:
        return "no lanes"
    listed = f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]
    return f"{listed} {'lane' if sum(counts.values()) == 1 else 'lanes'}"


def place_of_run(evidence: Evidence, run: Run) -> str:
    """`on this head` or `on a1b2c3d4e`."""
    return "on this head" if run.head_sha == evidence.snapshot.head else f"on {run.head_sha[:9]}"


def by_the_letter(findings: Sequence[Finding], summary: str) -> Outcome:
    """The outcome of a rule that knows no warning: a WARN finding is a remark beside the rule, for the reviewer to
    weigh, and changes nothing about whether the rule is kept."""
    status = worst((f.status for f in findings if f.status is not Status.WARN), empty=Status.UNVERIFIED)
    return Outcome(status=status, summary=summary, findings=tuple(findings))


def alone(status: Status, message: str, remedy: str = "") -> Outcome:
    """An outcome of one finding that is its own summary."""
    finding = Finding(status=status, message=f"{message} {remedy}".strip())
    return Outcome(status=status, summary=message, findings=(finding,))


# --- one run -------------------------------------------------------------------------------------------------------


def _is_lane(job: CheckRun) -> bool:
    return prefix_of(job.name[:_LONGEST_NAME]) is not None


def _may_be_sweep(run: Run) -> bool:
    """Whether a run has a lane that did or does something, or may still get one."""
    if any(_is_lane(job) and state_of(job) != "skipped" for job in run.jobs):
        return True
    starting = run.status != "completed" or not run.jobs_complete
    return starting and run.event == SWEEP_EVENT and run.path.endswith(f"/{SWEEP_WORKFLOW}")


def _not_counted(evidence: Evidence, run: Run) -> str:
    """Why a run does certainly not count; empty where it may."""
    workflow = run.path.rpartition("/")[2]
    if run.event != SWEEP_EVENT:
        return f"it was started by {run.event or 'an unknown event'}, not by the pull request"
    named = any(SWEEP_WORKFLOW in check.text for check in evidence.policy.checks)
    if workflow == _TRIAL_WORKFLOW or (workflow != SWEEP_WORKFLOW and named):
        return f"it is a run of {run.path}, and only runs of {SWEEP_WORKFLOW} can be reused"
    if evidence.snapshot.commits.complete and not _is_in_pull_request(evidence, run):
        return f"{run.head_sha[:9]} is no longer a commit of the pull request"
    return ""


def _doubted(evidence: Evidence, run: Run) -> str:
    """Why it cannot be told whether a run counts; empty where it does."""
    if run.path.rpartition("/")[2] != SWEEP_WORKFLOW:
        return f"Run {run.id} is one of {run.path}, and the policy does not say whether that is its sweep workflow."
    if not _is_in_pull_request(evidence, run):
        reason = evidence.snapshot.commits.reason
        return f"Whether {run.head_sha[:9]}, which run {run.id} swept, is in the pull request is not known: {reason}"
    return ""


def _is_in_pull_request(evidence: Evidence, run: Run) -> bool:
    commits = evidence.snapshot.commits.value or ()
    return run.head_sha == evidence.snapshot.head or any(run.head_sha == commit.sha for commit in commits)


def _sweep(evidence: Evidence, run: Run) -> Sweep:
    tree = swept_tree(evidence, run)
    try:
        plans = _plans(evidence, evidence.trees.head if tree is None else tree)
    except DataError:
        # The commit is known, and a file of it is not: the head's plan stands in.
        tree, plans = None, _plans(evidence, evidence.trees.head)
    fits = [put_to_plan(run, plan, own_plan=tree is not None) for plan in plans]
    # The label widens the evals if it was there when the sweep began: the plan that fits better tells.
    return min(fits, key=lambda sweep: len(sweep.extra) + sweep.states()["missing"])


def _plans(evidence: Evidence, tree: Tree) -> list[SweepPlan]:
    """The plans that a sweep of a commit may have followed."""
    labels = ((), (ALL_EVALS_LABEL,)) if ALL_EVALS_LABEL in labels_ever(evidence) else ((),)
    return [plan_of(evidence, tree, some) for some in labels]


def put_to_plan(run: Run, plan: SweepPlan, *, own_plan: bool = True) -> Sweep:
    """The jobs of a run put to the lanes of a plan."""
    return _Matching(plan, run.jobs).sweep(run, own_plan=own_plan)


class _Matching:
    """The jobs of one run put to the lanes of one plan, by family and name, each name as often as the plan has it."""

    def __init__(self, plan: SweepPlan, jobs: Iterable[CheckRun]) -> None:
        self._plan = plan
        self._lanes: dict[tuple[Family, str], list[Lane]] = {}
        for lane in plan.lanes:
            self._lanes.setdefault((lane.family, collapse(callee_name(lane.row))), []).append(lane)
        self._jobs: dict[tuple[Family, str], list[CheckRun]] = {}
        self._canaries: dict[str, list[CheckRun]] = {}
        self._others: dict[str, list[CheckRun]] = {}
        for job in jobs:
            self._place(job)

    def _place(self, job: CheckRun) -> None:
        name = collapse(job.name[:_LONGEST_NAME])
        prefix = prefix_of(name)
        if prefix is None:
            return
        for suffix in _suffixes(name):
            if prefix == CANARY and any((family, suffix) in self._lanes for family in _CANARY_FAMILIES):
                self._canaries.setdefault(suffix, []).append(job)
                return
            if (key := (cast(Family, prefix), suffix)) in self._lanes:
                self._jobs.setdefault(key, []).append(job)
                return
        self._others.setdefault(prefix, []).append(job)

    def sweep(self, run: Run, *, own_plan: bool) -> Sweep:
        self._give_canaries()
        ran: dict[int, RanLane] = {}
        for key, lanes in self._lanes.items():
            newest = sorted(self._jobs.get(key, ()), key=_age)[: len(lanes)]
            for place, lane in enumerate(lanes):
                job = newest[place] if place < len(newest) else None
                ran[id(lane)] = RanLane(lane=lane, state=state_of(job) if job else "missing", job=job)
        by_number = tuple(family for family in self._plan.counts if self._take_by_number(family, ran))
        self._note_skipped(ran)
        extra = [job for jobs in self._others.values() for job in _newest_of_each_name(jobs)]
        return Sweep(
            run=run,
            plan=self._plan,
            own_plan=own_plan,
            lanes=tuple(ran[id(lane)] for lane in self._plan.lanes),
            extra=tuple(job for job in extra if state_of(job) != "skipped"),
            by_number=by_number,
        )

    def _give_canaries(self) -> None:
        """A canary is its point's lane, which the matrix then leaves out; that of the family without a job for it."""
        for suffix, jobs in self._canaries.items():
            keys = [(family, suffix) for family in _CANARY_FAMILIES if (family, suffix) in self._lanes]
            short = [key for key in keys if len(self._jobs.get(key, ())) < len(self._lanes[key])]
            self._jobs.setdefault((short or keys)[0], []).extend(jobs)

    def _take_by_number(self, family: Family, ran: dict[int, RanLane]) -> bool:
        """Where no name of a family fits, because names were written otherwise then, the number of jobs decides."""
        lanes = self._plan.family(family)
        if any(ran[id(lane)].job for lane in lanes):
            return False
        sources = (family, CANARY) if family in _CANARY_FAMILIES else (family,)
        jobs = [job for source in sources for job in _newest_of_each_name(self._others.get(source, ()))]
        executed = [job for job in jobs if state_of(job) != "skipped"]
        if len(executed) != len(lanes):
            return False
        for lane, job in zip(lanes, executed, strict=True):
            ran[id(lane)] = RanLane(lane=lane, state=state_of(job), job=job)
        for source in sources:
            self._others.pop(source, None)
        return True

    def _note_skipped(self, ran: dict[int, RanLane]) -> None:
        """A skipped family has one job without a name of its own; its lanes are skipped, not missing."""
        for lane in self._plan.lanes:
            jobs = self._others.get(lane.family, ())
            if ran[id(lane)].state == "missing" and any(state_of(job) == "skipped" for job in jobs):
                ran[id(lane)] = RanLane(lane=lane, state="skipped")


def _suffixes(name: str) -> Iterable[str]:
    """The ends of a job's name that can be the benchmark's own part of it."""
    for separator in ("| ", "/ "):
        at = name.find(separator)
        while at >= 0:
            yield name[at + len(separator) :]
            at = name.find(separator, at + 1)


def _age(job: CheckRun) -> tuple[int, int]:
    """Newest first: by attempt, then by id."""
    return -(job.run_attempt or 0), -job.id


def _newest_of_each_name(jobs: Iterable[CheckRun]) -> list[CheckRun]:
    """Of each name the jobs of its last attempt; a matrix can have several jobs of one name."""
    last: dict[str, int] = {}
    some = list(jobs)
    for job in some:
        last[job.name] = max(last.get(job.name, 0), job.run_attempt or 0)
    return [job for job in some if (job.run_attempt or 0) == last[job.name]]
