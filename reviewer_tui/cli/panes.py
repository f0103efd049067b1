"""A review as text: the same facts as on the screens in the same order, one finding a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from reviewer_tui.checks.published import Beside, curves_beside, percent, summary_of
from reviewer_tui.cli.output import table, wrap
from reviewer_tui.model.checklist import Decision
from reviewer_tui.model.config import KeyChange, Point
from reviewer_tui.model.finding import CheckResult, Finding, Status
from reviewer_tui.model.part import Part
from reviewer_tui.model.result import Published
from reviewer_tui.model.run import CheckRun
from reviewer_tui.model.text import shorten
from reviewer_tui.review.logs import failed_jobs
from reviewer_tui.review.session import Review
from reviewer_tui.review.statuses import status_views
from reviewer_tui.sweeps.lanes import collapse

if TYPE_CHECKING:
    from reviewer_tui.review.audit import Audit
    from reviewer_tui.review.recipes import VariantView

_SILENT_IN_AUDIT = (Status.PASS, Status.NOT_APPLICABLE)

Pane = Callable[[Review, int], Iterator[str]]


def header(review: Review, width: int) -> Iterator[str]:
    """What is reviewed, by which policy, for whom, and the predicted verdict."""
    snapshot, policy = review.snapshot, review.policy
    info = snapshot.info.value
    title = info.title if info else ""
    yield from wrap(f"#{snapshot.ref.number} {title}".rstrip(), width)
    boxes = [item for item in policy.template.value.items if item.boxed] if policy.template.value else []
    yield (
        f"{snapshot.ref.repository}  head {snapshot.head[:9]}  base {snapshot.merge_base[:9]}"
        f"  policy {policy.revision[:9]}: {len(boxes)} items, {len(policy.checks)} checks  ({snapshot.source})"
    )
    signer = f"signing as {review.signer}" if review.signer else "no signer given"
    yield f"{review.verdict}  {counts(review.results)}  {signer}, {review.review_date}"
    if snapshot.head_doubt:
        yield from wrap(f"{snapshot.head_doubt} All that follows is about that commit.", width, "problem (head): ")


def counts(results: Iterable[CheckResult]) -> str:
    """How many checks stand where: `P 9  F 0  W 0+1  J 1  U 0  - 2`. Behind the plus are those that keep their rule and
    warn of something beside it."""
    known = tuple(results)
    statuses = [result.status for result in known]
    beside = sum(result.warns_beside for result in known)
    order = (Status.PASS, Status.FAIL, Status.WARN, Status.JUDGEMENT, Status.UNVERIFIED, Status.NOT_APPLICABLE)
    told = {Status.WARN: f"+{beside}"} if beside else {}
    return "  ".join(f"{status.letter} {statuses.count(status)}{told.get(status, '')}" for status in order)


def _letter(result: CheckResult) -> str:
    """The letter of a check, with an exclamation mark where it warns of something beside its rule; two columns."""
    return f"{result.status.letter}{'!' if result.warns_beside else ' '}"


def checks(review: Review, width: int) -> Iterator[str]:
    """Every check with its findings, and the policy's problems."""
    for result in review.results:
        number = "--" if result.number is None else f"{result.number:>2}"
        yield from wrap(result.summary, width, f"{_letter(result)}{number} {result.name:<15} ")
        for finding in result.findings:
            if finding.message != result.summary or finding.path or finding.url:
                yield from finding_lines(finding, width, "       ")
        for finding in result.pre_existing:
            yield from finding_lines(finding, width, "       already so on the base: ")
        if result.text:
            yield from wrap(result.text, width, "       policy: ")
    yield from _problems(review, width)


def audit(found: Audit, width: int) -> Iterator[str]:
    """What stands wrong at a revision, check by check; findings that pass are only counted."""
    yield f"{found.repository} at {found.revision[:9]}, {found.keys} config keys, {found.review_date}"
    yield f"{found.verdict}  {counts(found.results)}"
    if found.left_out:
        yield from wrap(f"Not run, for an audit sees no pull request: {', '.join(found.left_out)}.", width)
    for result in found.results:
        spoken = [finding for finding in result.findings if finding.status not in _SILENT_IN_AUDIT]
        silent = len(result.findings) - len(spoken)
        yield ""
        yield from wrap(f"{len(spoken)} to look at, {silent} well", width, f"{result.status.letter} {result.name:<15} ")
        for finding in spoken:
            yield from finding_lines(finding, width, "  ")


def finding_lines(finding: Finding, width: int, indent: str) -> list[str]:
    """One finding as a sentence with its place."""
    place = place_of(finding)
    text = f"{finding.message}{f'  [{place}]' if place else ''}"
    return wrap(text, width, f"{indent}{finding.status.letter} ")


def place_of(finding: Finding) -> str:
    """`path:line` or the URL; empty where a finding has neither."""
    if finding.path:
        line = f":{finding.line}" if finding.line else ""
        at = f" at {finding.commit[:9]}" if finding.commit else ""
        return f"{finding.path}{line}{at}"
    return finding.url or ""


def _problems(review: Review, width: int) -> Iterator[str]:
    groups = (
        ("policy", review.policy.plain_problems),
        ("head", review.changes.problems),
        ("base", review.changes.base_problems),
    )
    for side, problems in groups:
        for problem in problems:
            yield from wrap(str(problem), width, f"problem ({side}): ")


def diff(review: Review, width: int) -> Iterator[str]:
    """What changes: keys, fields and points first, then the files."""
    changes = review.changes.keys
    if not changes:
        yield "Nothing that runs is changed: no config key differs between merge base and head."
    for change in changes:
        yield from key_change(change, width)
    yield from _part(review.snapshot.files, width, "Changed files")
    rows = []
    for file in review.snapshot.files.value or ():
        counted = "binary" if file.binary else f"+{file.additions or 0} -{file.deletions or 0}"
        name = f"{file.previous_path} -> {file.path}" if file.previous_path not in (None, file.path) else file.path
        rows.append((file.status, counted, name))
    yield from table(rows)
    yield from _problems(review, width)


def key_change(change: KeyChange, width: int) -> Iterator[str]:
    """One config key: what happens to it, its fields, its points, its files."""
    yield from wrap(f"{change.key}  {change.change}", width)
    if change.previous_key:
        yield f"  was {change.previous_key}"
    for field in change.fields:
        yield from wrap(f"{field.field}: {_value(field.old)} -> {_value(field.new)}", width, "  ")
    yield from (f"  + {line}" for line in _points(change.points_added))
    yield from (f"  - {line}" for line in _points(change.points_removed))
    if change.points_kept:
        yield f"  {change.points_kept} points unchanged"
    yield from (f"  runs {path}  changed" for path in change.files)


def _points(points: tuple[Point, ...]) -> list[str]:
    """Points by arm: `8k1k tp2 ep2 mtp  c16 c32 c64`."""
    arms: dict[str, list[Point]] = {}
    for point in points:
        arms.setdefault(point.label, []).append(point)
    return [
        f"{label}  {' '.join(f'c{p.conc}' + ('*' if p.evaluated else '') for p in arm)}" for label, arm in arms.items()
    ]


def _value(value: str | None) -> str:
    return "(absent)" if value is None else value


def points(review: Review, width: int) -> Iterator[str]:
    """Every point added or removed, one a line; evaluated ones are marked `eval`."""
    rows = [
        (sign, change.key, point.label, f"c{point.conc}", "eval" if point.evaluated else "", f"line {point.line}")
        for change in review.changes.keys
        for sign, some in (("+", change.points_added), ("-", change.points_removed))
        for point in some
    ]
    if not rows:
        yield "No point is added or removed."
    yield from table(rows, indent="")
    yield from _problems(review, width)


def runs(review: Review, width: int) -> Iterator[str]:
    """Runs with their jobs by bucket."""
    part = review.snapshot.runs
    yield from _part(part, width, "Runs")
    statuses = review.snapshot.statuses
    if part.known and not statuses.complete:
        yield from _part(statuses, width, "Commit statuses")
    for view in status_views(review):
        said = f"  {view.status.description}" if view.status.description else ""
        yield from wrap(f"{view.title}{said}  ({view.origin}) {view.doubt}".rstrip(), width)
    for run in part.value or ():
        on_head = "on this head" if run.head_sha == review.snapshot.head else f"on {run.head_sha[:9]}"
        yield f"run {run.id} attempt {run.attempt}  {run.conclusion or run.status}  {on_head}  {run.path}"
        yield from table(_families(run.jobs))
        for job in failed_jobs(run.jobs):
            name = collapse(job.name)
            yield from wrap(f"{name}: {job.conclusion}; its log: --log {job.id}", width, "  F ")


def _families(jobs: tuple[CheckRun, ...]) -> list[tuple[str, ...]]:
    families: dict[str, dict[str, int]] = {}
    for job in jobs:
        family = job.name.partition(" /")[0]
        state = job.conclusion or job.status
        families.setdefault(family, {})[state] = families.get(family, {}).get(state, 0) + 1
    return [(name, ", ".join(f"{n} {state}" for state, n in sorted(found.items()))) for name, found in families.items()]


def evals(review: Review, width: int) -> Iterator[str]:
    """Eval scores of the runs."""
    part = review.snapshot.evals
    yield from _part(part, width, "Evals")
    rows = [
        (
            score.parallelism,
            f"c{score.conc}",
            score.task,
            f"strict {_score(score.strict)}",
            f"flexible {_score(score.flexible)}",
            f"{score.samples or '?'} samples",
            f"run {score.run_id}",
        )
        for score in part.value or ()
    ]
    yield from table(rows, indent="")
    yield from _check(review, "evals", width)


def _score(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def results(review: Review, width: int) -> Iterator[str]:
    """Measured throughput and interactivity, curve by curve, against the published values of the same points."""
    part, published = review.snapshot.results, review.snapshot.published
    yield from _part(part, width, "Results")
    if part.value and (published.value is None or not published.complete):
        yield from _part(published, width, "Published results")
    looked_up = published.value is not None
    for curve in curves_beside(part.value or (), published.value or Published()):
        by = f" by run {curve.run_id}" if curve.run_id else ""
        told = f": {summary_of(curve, review.review_date)}." if looked_up else ""
        yield from wrap(f"{curve.curve}{by}{told}", width)
        yield from table(_measured_row(point, looked_up) for point in curve.points)


def _measured_row(point: Beside, looked_up: bool) -> tuple[str, ...]:
    measured = point.measured
    return (
        measured.parallelism,
        f"c{measured.conc}",
        _measured(measured.throughput_per_gpu, "tok/s/GPU", point.throughput),
        _measured(measured.interactivity, "tok/s/user", point.interactivity),
        point.why if looked_up else "",
    )


def _measured(value: float | None, unit: str, gain: float | None) -> str:
    """A value with its distance from the published one."""
    if value is None:
        return ""
    return f"{value:.2f} {unit}{f' ({percent(gain)})' if gain is not None else ''}"


def recipes(review: Review, width: int) -> Iterator[str]:
    """Links and upstream pull requests, then each arm beside the documented one, the worst first, and what to link."""
    # The readers of pages are slow to import, and most commands show no recipes.
    from reviewer_tui.review.recipes import recipe_view

    view = recipe_view(review)
    yield from _part(review.snapshot.upstream, width, "Upstream pull requests")
    for told in view.pulls:
        pull = told.pull
        linked = "" if told.linked else "  (not linked)"
        words = f"{pull.repository}#{pull.number}  {pull.state.upper()} {told.age}  {pull.title}{linked}"
        yield from wrap(words, width)
        if pull.summary:
            yield from wrap(pull.summary, width, "  ")
    yield from _check(review, "recipe", width)
    for variant in view.variants:
        yield ""
        yield from _side_by_side(variant, width)
    for page in view.proposals:
        yield ""
        yield from wrap(f"could be linked: {page.url}  ({page.path} at {page.commit[:9]})", width)
        yield from (line for title in page.covers for line in wrap(title, width, "  covers "))
        yield from (line for gap in page.lacks for line in wrap(gap, width, "  lacks  "))
    for note in view.notes:
        yield from wrap(note, width, "note: ")


def _side_by_side(variant: VariantView, width: int) -> Iterator[str]:
    """One arm: where ours and theirs stand, then argument by argument."""
    yield from wrap(f"{variant.title}{'' if variant.submitted else '  (was there before)'}", width)
    place = f"{variant.path}:{variant.line}" if variant.line else variant.path
    yield from wrap(f"{variant.checkpoint} on {variant.hardware}, {place}", width, "  ours   ")
    if variant.arm:
        linked = "" if variant.against == "linked" else ", not linked"
        yield from wrap(f"{variant.arm}, {variant.place} at {variant.commit[:9]}{linked}", width, "  theirs ")
    yield from wrap(variant.sentence, width, f"  {variant.status.letter}      ")
    widest = max((width - _NAMES_WIDTH) // 2, _NARROWEST_VALUE)
    flags = Counter(row.flag for row in variant.arguments)
    rows = [
        (
            _WEIGHTS[row.weight],
            row.group,
            # One flag can carry several arguments (`--compilation-config`): then each goes by its own name.
            row.flag if flags[row.flag] == 1 else row.title,
            shorten(row.ours, widest),
            shorten(row.theirs, widest),
        )
        for row in variant.arguments
    ]
    if not rows:
        yield from (f"    {line}" for line in variant.command.splitlines())
        return
    head, *lines = table([("", "", "argument", "ours", "recipe"), *rows])
    yield head
    for row, line in zip(variant.arguments, lines, strict=True):
        yield line
        if row.why:
            yield from wrap(row.why, width, "       ")


_WEIGHTS = {"fails": "F", "unknown": "U", "weigh": "J", "aside": ".", "same": "="}
# What the columns before ours and the recipe's values take, and the least that a value gets.
_NAMES_WIDTH, _NARROWEST_VALUE = 54, 12


def checklist(review: Review, width: int) -> Iterator[str]:
    """Every item with its status and what the checks say to it."""
    template = review.policy.template
    yield from _part(template, width, "The checklist")
    for item in template.value.items if template.value else ():
        mark = review.notes.mark(item.label)
        box = "[x]" if mark.decision is Decision.ACCEPTED else "[ ]"
        box = box if item.boxed else "   "
        status = review.item_status(item)
        beside = "!" if review.item_warns_beside(item) else " "
        yield from wrap(item.text, width, f"{box} {status.letter}{beside}{item.label:>3} ")
        for result in review.results_for(item):
            yield from wrap(result.summary, width, f"          {_letter(result)}{result.name}: ")
        if mark.note:
            yield from wrap(mark.note, width, "          note: ")


def conversation(review: Review, width: int) -> Iterator[str]:
    """What was said, oldest first."""
    part = review.snapshot.conversation
    yield from _part(part, width, "The conversation")
    for comment in part.value or ():
        edited = ", edited" if comment.updated_at not in ("", comment.created_at) else ""
        yield f"{comment.created_at}  {comment.author or '(deleted account)'}  {comment.association.lower()}{edited}"
        for line in comment.body.splitlines():
            yield from wrap(line, width, "  | ")


def _part(part: Part[object] | Part[tuple[object, ...]] | Part, width: int, what: str) -> Iterator[str]:  # type: ignore[type-arg]
    """Why a part is not all there, and how to get the rest; nothing where it is complete and not empty."""
    if part.state == "complete":
        if part.value == ():
            yield f"{what}: none."
        return
    yield from wrap(f"{what}: {part.state}. {part.reason} {part.remedy}".rstrip(), width)


def _check(review: Review, name: str, width: int) -> Iterator[str]:
    result = review.result(name)
    if result is not None:
        yield from wrap(f"{name}: {result.summary}", width, _letter(result))
        for finding in result.findings:
            yield from finding_lines(finding, width, "  ")


def upstream_text(review: Review, width: int) -> Iterator[str]:
    """What to propose upstream for the arms that no page documents, ready for a pull request there."""
    from reviewer_tui.review.recipes import Unwritten, upstream_changes

    changes = upstream_changes(review)
    if not changes:
        yield "Every submitted arm is documented, or there is none that needs a recipe."
    for change in changes:
        if isinstance(change, Unwritten):
            yield from wrap(f"{change.title}: {change.reason}", width)
            continue
        yield from wrap(f"{change.title}", width)
        covers = "covers the arm, as read back" if change.covers else "does not cover the arm yet"
        yield from wrap(f"{change.repository}, {change.path} ({covers})", width)
        yield from (line for remark in change.remarks for line in wrap(remark, width, "  note: "))
        yield ""
        yield from change.text.rstrip("\n").split("\n")
        yield ""


PANES: dict[str, Pane] = {
    "diff": diff,
    "points": points,
    "runs": runs,
    "evals": evals,
    "results": results,
    "recipes": recipes,
    "checklist": checklist,
    "conversation": conversation,
}


def whole(review: Review, width: int) -> Iterator[str]:
    """The whole review, pane after pane."""
    yield from header(review, width)
    yield ""
    yield from checks(review, width)
    for name, pane in PANES.items():
        if name in ("points", "conversation"):
            continue
        yield ""
        yield f"-- {name} " + "-" * max(width - len(name) - 4, 0)
        yield from pane(review, width)
