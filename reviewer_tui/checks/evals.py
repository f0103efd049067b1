"""Evals: every eval lane of the sweep that counts has a score, and each score reaches the bar of its model."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from reviewer_tui.checks.check import Check, Evidence, Outcome
from reviewer_tui.checks.runs import Sweep, Sweeps, alone, by_the_letter, configs_of, place_of_run, plan_of, sweeps_of
from reviewer_tui.checks.scores import Evaluation, evaluations_of
from reviewer_tui.checks.stale import measured, same_image, stale_findings
from reviewer_tui.checks.sweep import nothing_to_sweep, why_red
from reviewer_tui.model.config import Entry
from reviewer_tui.model.finding import Finding, Status
from reviewer_tui.model.result import EvalScore
from reviewer_tui.policy.eval_bars import EvalBar, EvalBars
from reviewer_tui.sweeps.lanes import EVAL_FAMILIES, prefix_of
from reviewer_tui.sweeps.plan import SweepPlan
from reviewer_tui.sweeps.rows import is_agentic
from reviewer_tui.sweeps.rules import Feature

EXPLANATION = """\
Decides whether the evals of the sweep that counts are real and good enough: each expected eval lane has one row of
scores, every judged score of it (strict and flexible) reaches the bar of its task and model prefix, no row reports an
error or a smoke slice, and the run used the image that the config names at head. Where by the repository's own
selection no eval lane exists, the check does not apply, and the reason is given.
Reads: the eval bars of the policy revision, the eval rows of the run, images in its results or else in the configs of
the swept commit, the expected lanes.
Cannot know: what the samples look like inside, and rows that were not read. What main changed since the sweep is a
remark; what the branch changed waits for judgement."""

# Questions of the whole test split; fewer are a smoke slice (EVALS.md: an eval limit is for trying out).
_FULL_SPLIT = {"gsm8k": 1319}
_MOST_NAMED = 4


def decide(evidence: Evidence) -> Outcome:
    if (aside := nothing_to_sweep(evidence)) is not None:
        return aside
    runs = evidence.snapshot.runs
    if runs.value is None:
        return alone(Status.UNVERIFIED, runs.reason, runs.remedy)
    sweeps = sweeps_of(evidence)
    best = sweeps.best
    plan = plan_of(evidence, evidence.trees.head)
    if not _has_evals(plan) and (best is None or not _has_evals(best.plan)):
        return _no_lanes(evidence, plan, sweeps)
    if best is None or best.standing == "red":
        return _no_sweep(sweeps)
    if best.standing in ("running", "unknown"):
        message = f"Run {best.run.id} {place_of_run(evidence, best.run)} has not shown all of its lanes yet."
        return alone(Status.UNVERIFIED, message)
    if not _has_evals(best.plan):
        message = (
            f"Run {best.run.id} {place_of_run(evidence, best.run)} had no eval to run, and the head asks for some."
        )
        return alone(Status.JUDGEMENT, message)
    findings = tuple(_judge(evidence, best))
    return by_the_letter(findings, _summary(evidence, best, findings))


def _has_evals(plan: SweepPlan) -> bool:
    return any(family in plan.counts for family in EVAL_FAMILIES)


def _no_lanes(evidence: Evidence, plan: SweepPlan, sweeps: Sweeps) -> Outcome:
    """No eval lane is planned: by design, or because the plan could not be made."""
    if plan.problems:
        return alone(Status.UNVERIFIED, f"Which evals are expected is not known: {plan.problems[0].message}")
    if not plan.lanes:
        message = "No new changelog entry asks for any lane, so no eval is expected."
        return alone(Status.JUDGEMENT, message) if sweeps.best else _no_sweep(sweeps)
    message = f"By design no eval lane exists: {_why_no_lanes(evidence, plan)}."
    best = sweeps.best
    if best is not None and any(prefix_of(job.name) in EVAL_FAMILIES for job in best.extra):
        return alone(Status.JUDGEMENT, f"{message} Run {best.run.id} executed eval lanes all the same.")
    if not configs_of(evidence.trees.head).rules.recognised:
        return alone(Status.JUDGEMENT, f"{message} The generator of this revision is not one that this program knows.")
    finding = Finding(status=Status.NOT_APPLICABLE, message=message)
    return Outcome(status=Status.NOT_APPLICABLE, summary=message, findings=(finding,))


def _why_no_lanes(evidence: Evidence, plan: SweepPlan) -> str:
    rules = configs_of(evidence.trees.head).rules
    if plan.append_only:
        return "append-only sweeps run additions without evals"
    if all(is_agentic(lane.row) for lane in plan.lanes):
        if not rules.has(Feature.AGENTIC_EVALS) or rules.agentic_evals_disabled:
            return "this generator evaluates no agentic points"
        if not rules.has(Feature.MULTINODE_AGENTIC_EVALS):
            return "this generator evaluates no agentic multi-node points"
    isl, osl = rules.eval_sequence
    named = rules.sequence_name(isl, osl)
    if not any(is_agentic(lane.row) or (lane.row.get("isl"), lane.row.get("osl")) == (isl, osl) for lane in plan.lanes):
        return f"only {named} is evaluated"
    return f"no swept point that can be evaluated has a concurrency of {rules.min_eval_conc} or more"


def _no_sweep(sweeps: Sweeps) -> Outcome:
    """Without a sweep that counts no eval counts."""
    why = why_red(sweeps.best) if sweeps.best else "No eval ran on any commit in this PR."
    if sweeps.doubts:
        return alone(Status.UNVERIFIED, f"No evals that count are known: {why} {' '.join(sweeps.doubts)}")
    return alone(Status.FAIL, f"There are no evals that count. {why}")


def _judge(evidence: Evidence, sweep: Sweep) -> Iterator[Finding]:
    part, bars = evidence.snapshot.evals, evidence.policy.eval_bars
    if part.value is None or bars.value is None:
        reason = f"{part.reason} {part.remedy}".strip() if part.value is None else bars.reason
        yield Finding(status=Status.UNVERIFIED, message=reason, url=sweep.run.url or None)
        return
    judge = _Judge(evidence, sweep, bars.value)
    found = evaluations_of(sweep, (score for score in part.value if score.run_id == sweep.run.id))
    for evaluation in found.expected:
        yield from judge.evaluation(evaluation, bool(found.others))
    for score in found.others:
        yield from judge.other(score)
    keys = dict.fromkeys(evaluation.ran.lane.key for evaluation in found.expected)
    for key in keys:
        yield judge.image(key)
        yield from judge.model(key)
    yield from stale_findings(evidence, sweep)


class _Judge:
    """Judges the evals of one run."""

    def __init__(self, evidence: Evidence, sweep: Sweep, bars: EvalBars) -> None:
        self._evidence = evidence
        self._sweep = sweep
        self._bars = bars

    def evaluation(self, evaluation: Evaluation, others: bool) -> Iterator[Finding]:
        """One expected evaluation; `others` says that the run has rows which fit no lane."""
        tasks = [score.task for score in evaluation.scores]
        if not tasks:
            yield self._missing(evaluation, others)
        if len(tasks) != len(set(tasks)):
            message = f"{evaluation.name} has {len(tasks)} rows of {', '.join(sorted(set(tasks)))}; one is expected."
            yield self._finding(Status.JUDGEMENT, message)
        for score in evaluation.scores:
            yield self._score(evaluation.name, score)

    def _missing(self, evaluation: Evaluation, others: bool) -> Finding:
        state, part = evaluation.ran.state, self._evidence.snapshot.evals
        if state != "pass":
            how = "has no job" if state == "missing" else f"was {state}"
            return self._finding(Status.JUDGEMENT, f"{evaluation.name}: its eval lane {how}, so there is no score.")
        if part.complete and not others:
            return self._finding(
                Status.FAIL, f"{evaluation.name}: the eval lane is green, and the run has no score of it."
            )
        why = part.reason or "some rows of the run fit no expected lane."
        return self._finding(
            Status.UNVERIFIED, f"{evaluation.name}: no score of it is known: {why} {part.remedy}".strip()
        )

    def other(self, score: EvalScore) -> Iterator[Finding]:
        """A row of the run that no lane expects speaks only against it."""
        judged = self._score(_told(score), score)
        if judged.status is not Status.PASS:
            yield judged

    def _score(self, name: str, score: EvalScore) -> Finding:
        """One row against its bar."""
        bar = self._bars.bar(score.task, score.model_prefix)
        scores = _judged(score)
        shown = ", ".join(f"{label} {value:.4g}" for label, value in scores)
        if score.error or score.infrastructure_success is False:
            why = f"an error ({score.error})" if score.error else "that its infrastructure failed"
            return self._finding(Status.FAIL, f"{name} {score.task} reports {why}.", bar)
        if not scores:
            return self._finding(Status.FAIL, f"{name} {score.task} has no score.", bar)
        if score.samples is not None and score.samples <= 0:
            return self._finding(Status.FAIL, f"{name} {score.task} {shown} rests on no sample.", bar)
        if bar is None:
            message = f"{name} {score.task} {shown}: {self._bars.path} names no bar for this task."
            return self._finding(Status.JUDGEMENT, message)
        return self._against_bar(f"{name} {score.task} {shown}", scores, bar, score)

    def _against_bar(self, what: str, scores: list[tuple[str, float]], bar: EvalBar, score: EvalScore) -> Finding:
        actual = f"{min(value for _, value in scores):.4g}"
        full = _FULL_SPLIT.get(score.task)
        if below := [label for label, value in scores if value < bar.value]:
            message = f"{what}: {' and '.join(below)} below the bar {bar.value:g} ({bar.source})."
            return self._finding(Status.FAIL, message, bar, actual)
        message = f"{what} reaches the bar {bar.value:g} ({bar.source})"
        if score.samples is None:
            return self._finding(Status.PASS, f"{message}; the number of samples is not told.", bar, actual)
        if full is not None and score.samples < full:
            message = f"{message}, on {score.samples:,} of {full:,} samples: a smoke slice."
            return self._finding(Status.JUDGEMENT, message, bar, actual)
        return self._finding(Status.PASS, f"{message}, {score.samples:,} samples.", bar, actual)

    def image(self, key: str) -> Finding:
        """Whether the run used the image that the config names at head."""
        entry = configs_of(self._evidence.trees.head).entry(key)
        if entry is None:
            message = f"{key} was evaluated and is not readable at head, so its image cannot be compared."
            return self._finding(Status.UNVERIFIED, message)
        images, source = self._images(entry)
        if not images:
            message = f"{key}: which image the run used is not known; neither its rows nor the swept commit tell."
            return self._at(entry, Status.UNVERIFIED, message)
        if same_image(entry.image) in images:
            return self._at(entry, Status.PASS, f"{key}: evaluated on {entry.image}, the image at head ({source}).")
        used = ", ".join(sorted(images))
        message = f"{key}: evaluated on {used} ({source}), and the image at head is {entry.image}."
        main = configs_of(self._evidence.trees.default_branch).entry(key)
        if main is not None and images == {same_image(main.image)}:
            finding = self._at(entry, Status.JUDGEMENT, f"{message[:-1]}; main names the one that was used.")
        else:
            finding = self._at(entry, Status.FAIL, message)
        return msgspec.structs.replace(finding, expected=entry.image, actual=used)

    def _images(self, entry: Entry) -> tuple[frozenset[str], str]:
        """The images of a key's evals, and where they stand."""
        if told := measured(self._evidence, self._sweep, entry).images:
            return told, "the run's rows"
        if not self._sweep.own_plan:
            return frozenset(), ""
        lanes = (ran.lane for ran in self._sweep.lanes if ran.lane.key == entry.key)
        planned = frozenset(same_image(str(lane.row.get("image", ""))) for lane in lanes)
        return planned, f"the config at the swept commit {self._sweep.run.head_sha[:9]}"

    def model(self, key: str) -> Iterator[Finding]:
        """A row that names another checkpoint than both the head and main do."""
        trees = self._evidence.trees
        head = configs_of(trees.head).entry(key)
        if head is None:
            return
        models = measured(self._evidence, self._sweep, head).models
        if not models or head.model in models:
            return
        main = configs_of(trees.default_branch).entry(key)
        if main is None or main.model not in models:
            used = ", ".join(sorted(models))
            message = f"{key}: the run evaluated {used}, and the config at head names {head.model}."
            yield self._at(head, Status.JUDGEMENT, message)

    def _at(self, entry: Entry, status: Status, message: str) -> Finding:
        return Finding(
            status=status,
            message=message,
            path=entry.path,
            line=entry.line_of("image"),
            commit=self._evidence.snapshot.head,
            url=self._sweep.run.url or None,
        )

    def _finding(self, status: Status, message: str, bar: EvalBar | None = None, actual: str | None = None) -> Finding:
        return Finding(
            status=status,
            message=message,
            path=bar.path if bar else None,
            line=bar.line if bar else None,
            commit=self._evidence.policy.revision if bar else None,
            url=self._sweep.run.url or None,
            expected=f"at least {bar.value:g}" if bar else None,
            actual=actual,
        )


def _judged(score: EvalScore) -> list[tuple[str, float]]:
    """The scores of a row that the repository's validator judges: every exact match, else the published one."""
    exact = [("strict", score.strict), ("flexible", score.flexible)]
    known = [(label, value) for label, value in exact if value is not None]
    if not known and score.score is not None:
        known = [(score.score_name or "score", score.score)]
    return known


def _told(score: EvalScore) -> str:
    return f"{score.model_prefix} {score.hardware} {score.parallelism} c{score.conc}".replace("  ", " ")


def _summary(evidence: Evidence, sweep: Sweep, findings: tuple[Finding, ...]) -> str:
    for status in (Status.FAIL, Status.UNVERIFIED, Status.JUDGEMENT):
        if found := next((finding for finding in findings if finding.status is status), None):
            return found.message
    lowest = min((finding.actual for finding in findings if finding.actual and finding.expected), default="")
    bars = sorted({finding.expected for finding in findings if finding.expected and finding.status is Status.PASS})
    number = sum(sweep.states(EVAL_FAMILIES).values())
    where = f"run {sweep.run.id} {place_of_run(evidence, sweep.run)}"
    summary = f"{where}: {number} evals, lowest score {lowest}, {' or '.join(bars)} wanted"
    remark = next((finding for finding in findings if finding.status is Status.WARN), None)
    return f"{summary}; {remark.message}" if remark else summary


CHECK = Check(
    name="evals",
    title="Evals pass their bars on the run that counts",
    pane="evals",
    explanation=EXPLANATION,
    decide=decide,
)
