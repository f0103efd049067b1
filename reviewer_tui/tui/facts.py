"""What the panes say: a review as lines of text, one function a pane. Pure; every foreign text goes in as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

from reviewer_tui.model.checklist import ChecklistItem, Decision
from reviewer_tui.model.config import KeyChange, Point
from reviewer_tui.model.finding import CheckResult, Finding, Status
from reviewer_tui.model.part import Part
from reviewer_tui.model.pull_request import Comment
from reviewer_tui.model.result import BenchmarkResult, EvalScore
from reviewer_tui.model.run import CheckRun, Run
from reviewer_tui.policy.items import Pane, checklist_map, checks_of, plain_text
from reviewer_tui.review.session import Review
from reviewer_tui.tui.page import BLANK, Line, Piece, Target, letter, line, table

# How an item is called where its sentence does not fit; other items go by the start of their own text.
SHORT_NAMES = {
    "latest": "latest template",
    "quality": "code quality",
    "validation": "PR validation",
    "evals": "evals",
    "chat_template": "chat template",
    "draft_as_shipped": "draft as shipped",
    "golden_al": "golden AL",
    "deprecated": "MODELS.md",
    "architecture": "architecture",
    "upstream_images": "upstream images",
    "engine_first": "engine first",
    "recipe": "recipe documented",
    "recipe_merged": "linked and MERGED",
    "engine_patch": "no engine patches",
    "append_only": "append-only",
    "exceptions": "exceptions told",
    "pareto": "Pareto counts",
}

LETTER_ORDER = (Status.PASS, Status.FAIL, Status.WARN, Status.JUDGEMENT, Status.UNVERIFIED, Status.NOT_APPLICABLE)

PANE_TITLES: dict[Pane, str] = {
    "checklist": "Checklist",
    "diff": "Config diff",
    "runs": "Runs",
    "evals": "Evals",
    "recipes": "Recipes",
    "conversation": "Talk",
}

# The panes beside the checklist, in the order of their keys.
PANES: tuple[Pane, ...] = ("diff", "runs", "evals", "recipes", "conversation")


class PaneFacts(NamedTuple):
    """A pane: its one-line summary and its lines."""

    summary: str
    lines: list[Line]


def short_name(item: ChecklistItem) -> str:
    """An item in two or three words."""
    return SHORT_NAMES.get(item.name) or " ".join(plain_text(item.text).split()[:3])


def item_summary(review: Review, item: ChecklistItem) -> str:
    """What the checks say to an item, in a few words: the worst first."""
    results = sorted(review.results_for(item), key=lambda r: _gravity(r.status))
    return "; ".join(dict.fromkeys(r.summary for r in results if r.summary)) or "yours to judge"


def _gravity(status: Status) -> int:
    order = (Status.FAIL, Status.UNVERIFIED, Status.JUDGEMENT, Status.WARN, Status.PASS, Status.NOT_APPLICABLE)
    return order.index(status)


def counts(review: Review) -> list[tuple[Status, int]]:
    """How many checks stand where, in the order of the header."""
    statuses = [result.status for result in review.results]
    return [(status, statuses.count(status)) for status in LETTER_ORDER]


def age(taken_at: str, now: datetime) -> str:
    """How long ago facts were taken: `12 s ago`, `5 min ago`, `3 h ago`, `2 d ago`, beyond a month the day; the raw
    text if it is no time."""
    try:
        taken = datetime.fromisoformat(taken_at)
    except ValueError:
        return taken_at
    seconds = (now - (taken if taken.tzinfo else taken.replace(tzinfo=now.tzinfo))).total_seconds()
    if seconds < 0:
        return taken_at[:16].replace("T", " ")
    for unit, length, limit in (("s", 1, 90), ("min", 60, 90), ("h", 3_600, 36)):
        if seconds < limit * length:
            return f"{int(seconds // length)} {unit} ago"
    days = int(seconds // 86_400)
    return f"{days} d ago" if days <= 30 else taken_at[:10]


def pane_facts(review: Review, pane: Pane) -> PaneFacts:
    """One pane of a review."""
    return _PANES[pane](review)


def checks_in(review: Review, pane: Pane) -> list[CheckResult]:
    """The checks whose evidence a pane shows."""
    names = {name for item in checklist_map().items if item.pane == pane for name in item.checks}
    return [result for result in review.results if result.name in names]


def checks_apart(review: Review) -> list[CheckResult]:
    """The checks that speak to no item of the checklist, and count all the same."""
    template = review.policy.template.value
    spoken = {name for item in (template.items if template else ()) for name in checks_of(item.name)}
    return [result for result in review.results if result.name not in spoken]


# --- the panes ------------------------------------------------------------------------------------------------------


def _diff(review: Review) -> PaneFacts:
    keys = review.changes.keys
    added = sum(len(change.points_added) for change in keys)
    removed = sum(len(change.points_removed) for change in keys)
    evals = sum(point.evaluated for change in keys for point in change.points_added)
    summary = ", ".join(
        part
        for part in (
            _many(len(keys), "key") if keys else "no key changes",
            f"+{_many(added, 'point')}" if added else "",
            f"-{_many(removed, 'point')}" if removed else "",
            f"+{_many(evals, 'eval')}" if evals else "",
        )
        if part
    )
    lines = list(problem_lines(review))
    if not keys and not lines:
        lines.append(line(Piece("No config key differs between merge base and head.", "dim")))
    for change in keys:
        lines += key_lines(change, review.snapshot.head)
    lines += [BLANK] if lines else []
    lines += file_lines(review)
    return PaneFacts(summary, lines)


def problem_lines(review: Review) -> Iterator[Line]:
    """Located faults of the configs, the head's first."""
    for problem in review.changes.problems:
        target = Target(path=problem.path, line=problem.line)
        yield line(Piece("F", "fail"), f" {problem}", indent=2, target=target)
    for problem in review.changes.base_problems:
        yield line(Piece("already on the base: ", "dim"), str(problem), indent=2)
    for problem in review.policy.problems:
        yield line(Piece("policy: ", "dim"), str(problem), indent=2)


def key_lines(change: KeyChange, head: str) -> Iterator[Line]:
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
            Piece(_value(field.old), "removed"),
            " -> ",
            Piece(_value(field.new), "added"),
            Piece(f"  line {number}" if number else "", "dim"),
            indent=4,
            target=place,
        )
    path = entry.path if entry else ""
    yield from _arms(change.points_removed, "-", "removed", path)
    yield from _arms(change.points_added, "+", "added", path)
    if change.points_kept:
        yield line(Piece(f"    {_many(change.points_kept, 'point')} unchanged", "dim"))
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
    for run in runs:
        lines += run_lines(run, review.snapshot.head)
    lines += finding_section(checks_in(review, "runs"))
    if not part.known:
        return PaneFacts("not known", lines)
    here = [run for run in runs if run.head_sha == review.snapshot.head]
    if not here:
        summary = f"none on this head, {_many(len(runs), 'run')} elsewhere" if runs else "none"
    else:
        summary = f"run {here[0].id}, {here[0].conclusion or here[0].status}, on this head"
        summary += f", {len(runs) - 1} more" if len(runs) > 1 else ""
    return PaneFacts(summary, lines)


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
    bad = [f"{job.name} {job.conclusion or job.status}" for job in rest if job.conclusion != "success"]
    if rest:
        rows.append(["  other jobs", *_tally(rest)])
    yield from table(rows)
    if bad:
        yield line(Piece("    ", "dim"), Piece(", ".join(bad), "warn"), indent=4)
    if skipped:
        yield line(Piece(f"  skipped     {', '.join(skipped)}", "dim"), indent=14)


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
    return PaneFacts(f"{tasks}, {_many(len(scores), 'score')}{lowest}" if scores else "none", lines)


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


def result_lines(review: Review) -> list[Line]:
    """Measured throughput and interactivity beside the published values of the same point."""
    part = review.snapshot.results
    results = part.value or ()
    lines = [line(Piece("Results, against the newest published value of the same point", "strong"))] if results else []
    lines += part_lines(part, "Results")
    return lines + table([_result_row(result) for result in results])


def _result_row(result: BenchmarkResult) -> list[Piece | str]:
    return [
        f"{result.parallelism} c{result.conc}",
        f"{result.throughput_per_gpu:.1f} tok/s/GPU",
        _delta(result.throughput_per_gpu, result.published_throughput_per_gpu),
        "" if result.interactivity is None else f"{result.interactivity:.2f} tok/s/user",
        _delta(result.interactivity, result.published_interactivity),
        "" if result.end_to_end_latency is None else f"{result.end_to_end_latency:.2f} s",
        Piece(f"run {result.run_id}", "dim"),
    ]


def _delta(measured: float | None, published: float | None) -> Piece:
    if measured is None or not published:
        return Piece("")
    change = (measured / published - 1) * 100
    return Piece(f"{change:+.2f} %", "added" if change >= 0 else "removed")


def _recipes(review: Review) -> PaneFacts:
    part = review.snapshot.upstream
    lines = part_lines(part, "Upstream recipes")
    for pull in part.value or ():
        merged = f" {pull.merged_at[:10]}" if pull.merged_at else ""
        lines.append(
            line(
                Piece(f"{pull.repository}#{pull.number}", "title"),
                Piece(f"  {pull.state.upper()}{merged}", "pass" if pull.state == "merged" else "warn"),
                f"  {pull.title}",
                indent=2,
                target=Target(url=pull.url),
            )
        )
        if pull.summary:
            lines.append(line(f"  {pull.summary}", indent=2))
        lines += [line(Piece(f"  {file}", "dim"), indent=4) for file in pull.files]
    lines += check_lines(checks_in(review, "recipes"))
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
    return PaneFacts(_many(len(part.value or ()), "comment"), lines)


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
    for row in text.splitlines():
        yield line(Piece("| ", "dim"), row, indent=2)


# --- the focused item -----------------------------------------------------------------------------------------------


def evidence_lines(review: Review, item: ChecklistItem, *, chinese: bool, draft: str) -> list[Line]:
    """Everything that speaks for or against an item: its words, the checks with their findings, note and draft."""
    lines = [line(Piece(plain_text(item.text), "strong"))]
    if chinese:
        lines.append(line(Piece(chinese_text(review, item), "plain")))
    mark = review.notes.mark(item.label)
    if mark.decision is not Decision.OPEN or mark.note:
        decided = Piece(f"{mark.decision.value.replace('_', ' ')}", "strong")
        lines.append(line(Piece("you    ", "key"), decided, f"  {mark.note}" if mark.note else "", indent=7))
    results = review.results_for(item)
    lines += check_lines(results)
    if not results:
        lines.append(line(letter(Status.JUDGEMENT), "  No check speaks to this item: it is yours to judge.", indent=3))
    if draft and not mark.note:
        lines.append(line(Piece("draft  ", "key"), draft, indent=7))
    return lines


def chinese_text(review: Review, item: ChecklistItem) -> str:
    """The item in Chinese, or why there is none."""
    translation = review.policy.translation
    found = translation.value.item(item.label) if translation.value else None
    if found:
        return plain_text(found.text)
    return translation.reason or "This revision has no Chinese text for the item."


def check_lines(results: Iterable[CheckResult], *, findings: bool = True) -> list[Line]:
    """Checks, each with its findings, places and comparisons, or one line each."""
    lines: list[Line] = []
    for result in results:
        number = "" if result.number is None else f"check {result.number}, "
        lone = _lone_finding(result)
        place = place_of(lone) if lone else ""
        lines.append(
            line(
                letter(result.status),
                f"  {result.summary or result.title}",
                Piece(f"  {place}" if findings and place else "", "dim"),
                Piece(f"  {number}{result.name}", "dim"),
                indent=3,
                target=_target_of(lone) if findings and place and lone else None,
            )
        )
        if findings:
            lines += _findings_of(result)
    return lines


def _lone_finding(result: CheckResult) -> Finding | None:
    """The one finding that says no more than the summary, but for its place."""
    said = [finding for finding in result.findings if finding.message.rstrip(".") == result.summary.rstrip(".")]
    return said[0] if len(said) == len(result.findings) == 1 and said[0].expected is said[0].actual is None else None


def _findings_of(result: CheckResult) -> Iterator[Line]:
    for finding in result.findings:
        if finding is not _lone_finding(result):
            yield from finding_lines(finding)
    for finding in result.pre_existing:
        yield from finding_lines(finding, before="already so on the base: ")
    if result.text:
        yield line(Piece("   the policy says: ", "dim"), result.text, indent=3)


def finding_section(results: Iterable[CheckResult]) -> list[Line]:
    """The findings of a pane's checks, below its data."""
    lines = [found for result in results for found in _findings_of(result)]
    return [BLANK, line(Piece("Findings", "strong")), *lines] if lines else []


def finding_lines(finding: Finding, before: str = "") -> Iterator[Line]:
    """A finding as a sentence with its place, and what was compared."""
    place = place_of(finding)
    yield line(
        "   ",
        letter(finding.status),
        f" {before}{finding.message}",
        Piece(f"  {place}" if place else "", "link" if finding.url else "dim"),
        indent=5,
        target=_target_of(finding) if place else None,
    )
    if finding.expected is not None or finding.actual is not None:
        yield line(
            Piece("     expected ", "dim"),
            _value(finding.expected),
            Piece("  found ", "dim"),
            _value(finding.actual),
            indent=7,
        )


def _target_of(finding: Finding) -> Target:
    return Target(path=finding.path or "", line=finding.line, url=finding.url or "")


def place_of(finding: Finding) -> str:
    """`path:line at 21d6bbb`, else the address; empty where a finding has neither."""
    if not finding.path:
        return finding.url or ""
    number = f":{finding.line}" if finding.line else ""
    at = f" at {finding.commit[:7]}" if finding.commit else ""
    return f"{finding.path}{number}{at}"


def part_lines(part: Part[Any], what: str) -> list[Line]:
    """Why a part is not all there and how to get the rest; that it is empty, where it is; nothing otherwise."""
    if part.state == "complete":
        return [] if part.value else [line(Piece(f"{what}: none.", "dim"))]
    state = "only part of it is known" if part.state == "partial" else "not known"
    lines = [line(Piece("U", "unverified"), Piece(f" {what}: {state}. ", "strong"), part.reason, indent=2)]
    if part.remedy:
        lines.append(line(Piece("  To get it: ", "key"), part.remedy, indent=4))
    return lines


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _known(value: int | None) -> str:
    return "?" if value is None else f"{value}"


def _value(value: str | None) -> str:
    return "(absent)" if value is None else value


def _share(value: float | None) -> str:
    return "  -  " if value is None else f"{value:.3f}"


_PANES: dict[Pane, Callable[[Review], PaneFacts]] = {
    "diff": _diff,
    "runs": _runs,
    "evals": _evals,
    "recipes": _recipes,
    "conversation": _conversation,
}
