"""What the panes say: a review as lines of text, one function a pane. Pure; every foreign text goes in as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from reviewer_tui.model.config import KeyChange, Point
from reviewer_tui.model.pull_request import Comment
from reviewer_tui.model.result import EvalScore
from reviewer_tui.model.run import CheckRun, Run
from reviewer_tui.policy.items import Pane
from reviewer_tui.review.logs import failed_jobs
from reviewer_tui.review.recipes import recipe_view
from reviewer_tui.review.session import Review
from reviewer_tui.review.statuses import status_views
from reviewer_tui.sweeps.lanes import collapse
from reviewer_tui.tui.texts.evidence import check_lines, finding_section, part_lines, value_text
from reviewer_tui.tui.texts.naming import checks_in, many
from reviewer_tui.tui.texts.page import BLANK, Line, Piece, Target, line, table
from reviewer_tui.tui.texts.recipes import comparison_lines, pull_lines
from reviewer_tui.tui.texts.results import result_lines

# A comment is shown to this many lines; all of it is on its page.
_LONGEST_BODY = 400

# So many failed jobs of a run are told one by one.
_MOST_FAILED = 12


class PaneFacts(NamedTuple):
    """A pane: its one-line summary and its lines."""

    summary: str
    lines: list[Line]


def pane_facts(review: Review, pane: Pane) -> PaneFacts:
    """One pane of a review."""
    return _PANES[pane](review)


def _diff(review: Review) -> PaneFacts:
    keys = review.changes.keys
    added = sum(len(change.points_added) for change in keys)
    removed = sum(len(change.points_removed) for change in keys)
    evals = sum(point.evaluated for change in keys for point in change.points_added)
    summary = ", ".join(
        part
        for part in (
            many(len(keys), "key") if keys else "no key changes",
            f"+{many(added, 'point')}" if added else "",
            f"-{many(removed, 'point')}" if removed else "",
            f"+{many(evals, 'eval')}" if evals else "",
        )
        if part
    )
    lines = list(head_problem_lines(review))
    if not keys and not lines:
        lines.append(line(Piece("No config key differs between merge base and head.", "dim")))
    for change in keys:
        lines += key_lines(change)
    lines += reach_lines(review)
    lines += [BLANK, *file_lines(review), *other_problem_lines(review)]
    return PaneFacts(summary, lines)


def head_problem_lines(review: Review) -> Iterator[Line]:
    """Located faults of the head's configs."""
    for problem in review.changes.problems:
        target = Target(path=problem.path, line=problem.line)
        yield line(Piece("F", "fail"), f" {problem}", indent=2, target=target)


def other_problem_lines(review: Review) -> Iterator[Line]:
    """Faults that the pull request found there: of the base's configs, and of the policy."""
    for problem in review.changes.base_problems:
        yield line(Piece("already on the base: ", "dim"), str(problem), indent=2)
    for problem in review.policy.plain_problems:
        yield line(Piece("policy: ", "dim"), str(problem), indent=2)


def reach_lines(review: Review) -> Iterator[Line]:
    """What is changed beside the keys' own entries: wording only, and files that other keys share."""
    if review.changes.reworded:
        yield line(Piece("reworded only: ", "dim"), ", ".join(review.changes.reworded), indent=2)
    for file in review.changes.shared_files:
        yield line(Piece("W", "warn"), f" {file}  reaches keys that are not listed", indent=2, target=Target(path=file))


def key_lines(change: KeyChange) -> Iterator[Line]:
    """One config key: what happens to it, its fields with lines, its points by arm, the files it runs."""
    entry = change.new or change.old
    target = Target(path=entry.path, line=entry.line) if entry else None
    was = f"  was {change.previous_key}" if change.previous_key else ""
    yield line(Piece(change.key, "title"), f"  {change.change}{was}", indent=2, target=target)
    for field in change.fields:
        place = Target(path=entry.path, line=field.new_line or field.old_line) if entry else None
        number = field.new_line or field.old_line
        yield line(
            f"  {field.field}  ",
            Piece(value_text(field.old), "removed"),
            " -> ",
            Piece(value_text(field.new), "added"),
            Piece(f"  line {number}" if number else "", "dim"),
            indent=4,
            target=place,
        )
    path = entry.path if entry else ""
    yield from _arms(change.points_removed, "-", "removed", path)
    yield from _arms(change.points_added, "+", "added", path)
    if change.points_kept:
        yield line(Piece(f"    {many(change.points_kept, 'point')} unchanged", "dim"))
    for file in change.files:
        yield line(Piece("  runs ", "dim"), file, Piece("  changed here", "dim"), indent=7, target=Target(path=file))


def _arms(points: tuple[Point, ...], sign: str, style: str, path: str) -> Iterator[Line]:
    """Points by arm: `+ 8k1k tp2 ep2 mtp  c16 c32* c64*   line 1304`; a star marks an evaluated point."""
    arms: dict[tuple[str, int], list[Point]] = {}
    for point in points:
        arms.setdefault((point.label, point.line), []).append(point)
    for (label, number), arm in arms.items():
        concs = " ".join(f"c{p.conc}{'*' if p.evaluated else ''}" for p in arm)
        evaluated = "  * evaluated" if any(p.evaluated for p in arm) else ""
        yield line(
            Piece(f"  {sign} {label}  {concs}", style),
            Piece(f"{evaluated}{f'  line {number}' if number else ''}", "dim"),
            indent=6,
            target=Target(path=path, line=number or None) if path else None,
        )


def file_lines(review: Review) -> Iterator[Line]:
    """The changed files with their counts."""
    part = review.snapshot.files
    yield from part_lines(part, "Changed files")
    for file in part.value or ():
        counted = "binary" if file.binary else f"+{_known(file.additions)} -{_known(file.deletions)}"
        name = f"{file.previous_path} -> {file.path}" if file.previous_path not in (None, file.path) else file.path
        state = "" if file.status == "modified" else f"  {file.status.replace('_', ' ')}"
        yield line(name, Piece(f"  {counted}{state}", "dim"), indent=2, target=Target(path=file.path))


def _runs(review: Review) -> PaneFacts:
    part = review.snapshot.runs
    lines = part_lines(part, "Runs") + check_lines(checks_in(review, "runs"), findings=False)
    runs = sorted(part.value or (), key=lambda run: (run.head_sha != review.snapshot.head, -run.id))
    lines += status_lines(review)
    for run in runs:
        lines += run_lines(run, review.snapshot.head)
    lines += finding_section(checks_in(review, "runs"))
    if not part.known:
        return PaneFacts("not known", lines)
    here = [run for run in runs if run.head_sha == review.snapshot.head]
    if not here:
        summary = f"none on this head, {many(len(runs), 'run')} elsewhere" if runs else "none"
    else:
        summary = f"run {here[0].id}, {here[0].conclusion or here[0].status}, on this head"
        summary += f", {len(runs) - 1} more" if len(runs) > 1 else ""
    return PaneFacts(summary, lines)


def status_lines(review: Review) -> Iterator[Line]:
    """The commit statuses of the head, the verifier's own as such; nothing where there is none."""
    part = review.snapshot.statuses
    if review.snapshot.runs.known and not part.complete:
        yield from part_lines(part, "Commit statuses")
    for view in status_views(review):
        status = view.status
        yield line(
            Piece(view.title, "strong" if view.verifier else "plain"),
            f"  {status.description}" if status.description else "",
            Piece(f"  {view.origin}", "dim"),
            Piece(f"  {view.doubt}" if view.doubt else "", "warn"),
            indent=2,
            target=Target(url=status.url) if status.url else None,
        )


def run_lines(run: Run, head: str) -> Iterator[Line]:
    """A run and its jobs by family."""
    where = "on this head" if run.head_sha == head else f"on {run.head_sha[:7]}"
    attempt = f" attempt {run.attempt}" if run.attempt > 1 else ""
    yield line(
        Piece(f"run {run.id}{attempt}", "title"),
        f"  {run.conclusion or run.status}, ",
        Piece(where, "plain" if run.head_sha == head else "warn"),
        Piece(f"  {run.event}  {run.path.removeprefix('.github/workflows/')}  {run.created_at[:10]}", "dim"),
        indent=2,
        target=Target(url=run.url) if run.url else None,
    )
    families: dict[str, list[CheckRun]] = {}
    for job in run.jobs:
        families.setdefault(job.name.partition(" / ")[0].removesuffix(" /"), []).append(job)
    lanes = {name: jobs for name, jobs in families.items() if any(" / " in job.name for job in jobs)}
    skipped = [name for name, jobs in families.items() if {job.conclusion for job in jobs} == {"skipped"}]
    plain = {name: jobs for name, jobs in families.items() if name not in lanes and name not in skipped}
    rest = [job for jobs in plain.values() for job in jobs]
    worst_first = sorted(lanes.items(), key=lambda family: all(job.conclusion == "success" for job in family[1]))
    rows = [[f"  {name}", *_tally(jobs)] for name, jobs in worst_first if name not in skipped]
    failed = failed_jobs(run.jobs)
    bad = [f"{j.name} {j.conclusion or j.status}" for j in rest if j.conclusion != "success" and j not in failed]
    if rest:
        rows.append(["  other jobs", *_tally(rest)])
    yield from table(rows)
    if bad:
        yield line(Piece("    ", "dim"), Piece(", ".join(bad), "warn"), indent=4)
    yield from _failed_lines(failed)
    if skipped:
        yield line(Piece(f"  skipped     {', '.join(skipped)}", "dim"), indent=14)


def _failed_lines(jobs: tuple[CheckRun, ...]) -> Iterator[Line]:
    """The jobs that failed, each with its log behind it."""
    for job in jobs[:_MOST_FAILED]:
        yield line(
            Piece("  F", "fail"),
            f" {collapse(job.name)}  ",
            Piece(job.conclusion or "", "fail"),
            Piece("  Enter: its log", "key"),
            indent=4,
            target=Target(url=job.url, job=job.id),
        )
    if len(jobs) > _MOST_FAILED:
        yield line(Piece(f"    {len(jobs) - _MOST_FAILED} more failed; o on the run opens its page", "key"))


def _tally(jobs: list[CheckRun]) -> list[Piece | str]:
    """`8/8 success` of the jobs that were not skipped, and whatever else they came to."""
    states: dict[str, int] = {}
    for job in jobs:
        state = job.conclusion or job.status
        states[state] = states.get(state, 0) + 1
    meant = len(jobs) - states.get("skipped", 0)
    good = states.pop("success", 0)
    bad = not states.keys() <= {"skipped", "neutral", "queued", "in_progress", "waiting", "pending"}
    rest = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    return [f"{good}/{meant} success" if meant else "", Piece(rest, "fail" if bad else "dim")]


def _evals(review: Review) -> PaneFacts:
    part = review.snapshot.evals
    lines = part_lines(part, "Evals") + check_lines(checks_in(review, "evals"), findings=False)
    scores = part.value or ()
    lines += table([_score_row(review, score) for score in scores])
    results = result_lines(review)
    lines += [BLANK, *results, *finding_section(checks_in(review, "evals"))]
    if not part.known:
        return PaneFacts("not known", lines)
    stricts = [score.strict for score in scores if score.strict is not None]
    tasks = ", ".join(sorted({score.task for score in scores}))
    lowest = f", lowest strict {min(stricts):.3f}" if stricts else ""
    return PaneFacts(f"{tasks}, {many(len(scores), 'score')}{lowest}" if scores else "none", lines)


def _score_row(review: Review, score: EvalScore) -> list[Piece | str]:
    bars = review.policy.eval_bars.value
    bar = bars.bar(score.task, score.model_prefix) if bars else None
    known = [value for value in (score.strict, score.flexible) if value is not None]
    if score.infrastructure_success is False:
        verdict = Piece("infrastructure failed", "fail")
    elif bar is None or not known:
        verdict = Piece("no bar known" if known else "no score", "unverified")
    elif min(known) < bar.value:
        verdict = Piece(f"BELOW {bar.value:g}", "fail")
    else:
        verdict = Piece(f">= {bar.value:g}", "pass")
    return [
        f"{score.parallelism} c{score.conc}",
        f"strict {_share(score.strict)}",
        f"flex {_share(score.flexible)}",
        verdict,
        Piece(f"{_known(score.samples)} samples", "dim"),
        Piece(score.task, "dim"),
        Piece(f"run {score.run_id}", "dim"),
    ]


def _recipes(review: Review) -> PaneFacts:
    part, view = review.snapshot.upstream, recipe_view(review)
    lines = part_lines(part, "Upstream recipes")
    lines += [found for pull in view.pulls for found in pull_lines(pull)]
    lines += check_lines(checks_in(review, "recipes"))
    lines += comparison_lines(view)
    if not part.known:
        return PaneFacts("not known", lines)
    pulls = part.value or ()
    summary = ", ".join(f"{pull.repository}#{pull.number} {pull.state.upper()}" for pull in pulls)
    return PaneFacts(summary or "none linked", lines)


def _conversation(review: Review) -> PaneFacts:
    part = review.snapshot.conversation
    lines = list(part_lines(part, "The conversation"))
    info = review.snapshot.info.value
    if info and info.body:
        lines += [line(Piece(f"{info.author or '(deleted account)'}", "title"), " opened it"), *_body(info.body), BLANK]
    for comment in part.value or ():
        lines += comment_lines(comment)
    if not part.known:
        return PaneFacts("not known", lines)
    return PaneFacts(many(len(part.value or ()), "comment"), lines)


def comment_lines(comment: Comment) -> Iterator[Line]:
    """A comment: who, when, in which role, and its text."""
    edited = ", edited" if comment.updated_at not in ("", comment.created_at) else ""
    kind = "" if comment.kind == "issue_comment" else f"  {comment.kind.replace('_', ' ')} {comment.review_state or ''}"
    yield line(
        Piece(comment.author or "(deleted account)", "title"),
        Piece(f"  {comment.association.lower()}", "dim"),
        f"{kind}  {comment.created_at[:16].replace('T', ' ')}{edited}",
        indent=2,
        target=Target(url=comment.url) if comment.url else None,
    )
    yield from _body(comment.body)
    yield BLANK


def _body(text: str) -> Iterator[Line]:
    rows = text.splitlines()
    for row in rows[:_LONGEST_BODY]:
        yield line(Piece("| ", "dim"), row, indent=2)
    if len(rows) > _LONGEST_BODY:
        yield line(Piece(f"| {len(rows) - _LONGEST_BODY:,} more lines: o opens the page", "key"))


def _known(value: int | None) -> str:
    return "?" if value is None else f"{value}"


def _share(value: float | None) -> str:
    return "  -  " if value is None else f"{value:.3f}"


_PANES: dict[Pane, Callable[[Review], PaneFacts]] = {
    "diff": _diff,
    "runs": _runs,
    "evals": _evals,
    "recipes": _recipes,
    "conversation": _conversation,
}
