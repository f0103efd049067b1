"""Append-only: an append-only entry adds points to published curves and leaves everything else as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from reviewer_tui.checks.check import Check, Evidence, Outcome, outcome
from reviewer_tui.checks.isolation import Comparison, Side, compare, sides
from reviewer_tui.checks.runs import added_entries, plan_of
from reviewer_tui.checks.serving import can_serve
from reviewer_tui.model.config import Entry
from reviewer_tui.model.finding import Finding, Problem, Status
from reviewer_tui.model.pull_request import ChangedFile
from reviewer_tui.model.tree import read_text
from reviewer_tui.policy.layout import canonical_path, discover_layout
from reviewer_tui.sweeps.changelog import ChangelogEntry, ChangelogView, stops_ci, view_changelog
from reviewer_tui.sweeps.document import read_document
from reviewer_tui.sweeps.plan import SweepPlan
from reviewer_tui.sweeps.resolve import ResolvedFile
from reviewer_tui.sweeps.rows import Row, arm_label, canonical, concurrencies
from reviewer_tui.sweeps.serving import serving_at

EXPLANATION = """\
Applies where the pull request adds a changelog entry with `append-only: true`. Decides whether all added entries are
append-only, whether every existing point and recipe of the selected curves is still there unchanged, whether each new
point belongs to a published curve with its one image, and whether no other key changes. Then every changed file beside
the configs: for each existing point both revisions' scripts are evaluated, and everything they would run is compared.
Reads: the changelog, master configs, runners and generator rules at the merge base and at head, the files behind the
selected keys on both sides.
Cannot know: what launchers, shared helpers, workflows and clients do to points of other keys; that is the reviewer's
judgement, and so is every point whose script cannot be evaluated fully."""

_MOST_POINTS = 150
_MOST = 8
_OWN = ("script", "recipe", "eval_recipe")
_INERT = re.compile(
    r"\.(?:md|txt|rst|png|svg|ipynb)$|(?:^|/)(?:docs|tests?)/|(?:^|/)test_[^/]*\.py$|(?:^|/)(?:LICENSE|CODEOWNERS)$"
)


def decide(evidence: Evidence) -> Outcome:
    view = _changelog(evidence)
    if isinstance(view, str):
        return _alone(Status.UNVERIFIED, view)
    broken = [
        problem for problem in view.problems if problem.rule not in ("deleted-line", "link") and stops_ci(problem)
    ]
    if not any(entry.append_only for entry in view.entries):
        unread = [problem for problem in broken if problem.rule not in ("no-final-newline", "no-additions")]
        if unread:
            return _alone(Status.UNVERIFIED, f"The added changelog entries cannot be read: {unread[0].message}")
        return Outcome(status=Status.NOT_APPLICABLE, summary="no added changelog entry is append-only")
    review = _Review(evidence, view)
    findings = list(review.findings())
    if all(finding.status is Status.PASS for finding in findings):
        findings.insert(0, Finding(status=Status.PASS, message=f"Only points are added: {review.added}."))
    return outcome(tuple(findings), _summary(findings))


def _changelog(evidence: Evidence) -> ChangelogView | str:
    """What the pull request does to the changelog, or why that is not known."""
    head, base = evidence.trees.head, evidence.trees.base
    path, former = discover_layout(head).changelog, discover_layout(base).changelog
    if path is None:
        return "There is no changelog at head, so what it adds is not known."
    text, old = head.read(path), base.read(former) if former else None
    if text is None:
        return f"{path} could not be read at head."
    if _says_nothing_of_it(old or b"", text, len(added_entries(base, head))):
        return ChangelogView(base="merge_base", path=path, touched=text != old, appended=True)
    return view_changelog(old, text, path, repository=evidence.snapshot.ref.repository)


def _says_nothing_of_it(old: bytes, new: bytes, entries: int) -> bool:
    """Whether plain text is put to the end, all of it read as entries, that does not even hold the word."""
    added = new[len(old) :]
    if not new.startswith(old) or any(mark in added for mark in (b"append", b"\\", b"<<", b"*", b"!", b"%")):
        return False
    return not added.strip() or f"\n{added.decode('utf-8', 'replace')}".count("\n- ") == entries


def _unread(view: ChangelogView) -> list[Problem]:
    """The faults by which an added entry may say something else than what was read."""
    told = ("deleted-line", "no-final-newline", "no-additions")
    return [p for p in view.problems if stops_ci(p) and p.rule not in told and not p.rule.startswith("append-only")]


class _Pair(NamedTuple):
    """One key's entry on both sides."""

    old: Entry
    new: Entry


class _Review:
    """One append-only pull request on its way."""

    def __init__(self, evidence: Evidence, view: ChangelogView) -> None:
        self._evidence, self._view = evidence, view
        self._base, self._head = serving_at(evidence.trees.base), serving_at(evidence.trees.head)
        info = evidence.snapshot.info.value
        self._plan: SweepPlan = plan_of(evidence, evidence.trees.head, info.labels if info else ())
        self._compared = 0

    @property
    def added(self) -> str:
        """The new points, counted."""
        number = sum(len(concurrencies(lane.row)) for lane in self._plan.lanes)
        keys = dict.fromkeys(lane.key for lane in self._plan.lanes)
        return f"{number} {'point' if number == 1 else 'points'} of {', '.join(keys) or 'no key'}"

    def findings(self) -> Iterator[Finding]:
        if unread := _unread(self._view):
            for problem in unread[:_MOST]:
                yield self._finding(Status.UNVERIFIED, problem.message, problem.path, problem.line)
            return
        yield from self._entries()
        yield from self._rules()
        files = self._evidence.snapshot.files
        if files.value is None:
            yield self._finding(Status.UNVERIFIED, f"The changed files are not known: {files.reason}")
            return
        if not files.complete:
            yield self._finding(Status.UNVERIFIED, f"Some changed files are not known: {files.reason}")
        yield from self._isolation(files.value)

    def _finding(self, status: Status, message: str, path: str | None = None, line: int | None = None) -> Finding:
        return Finding(status=status, message=message, path=path, line=line, commit=self._evidence.snapshot.head)

    # -- the changelog and the matrix -------------------------------------------------------------------------------

    def _entries(self) -> Iterator[Finding]:
        regular = [entry for entry in self._view.entries if not entry.append_only]
        for entry in regular:
            yield self._at_entry(
                Status.FAIL, entry, "This entry is regular; it cannot share a sweep with append-only ones."
            )
        for problem in self._view.problems:
            if problem.rule == "deleted-line":
                yield self._finding(Status.JUDGEMENT, problem.message, problem.path, problem.line)
            elif problem.rule == "append-only-with-evals":
                yield self._finding(Status.FAIL, problem.message, problem.path, problem.line)

    def _at_entry(self, status: Status, entry: ChangelogEntry, message: str) -> Finding:
        return self._finding(status, message, self._view.path, entry.line)

    def _rules(self) -> Iterator[Finding]:
        """The mechanical part: existing points are all there, and the new ones belong to published curves."""
        shown = 0
        for problem in self._plan.problems:
            # Mixed entries are told entry by entry.
            if problem.rule == "append-only-mixed" or shown >= _MOST:
                continue
            shown += 1
            yield self._finding(self._status(problem), problem.message, problem.path, problem.line)
        if self._evidence.changes.problems:
            problem = self._evidence.changes.problems[0]
            yield self._finding(Status.JUDGEMENT, problem.message, problem.path, problem.line)
        if not self._plan.problems:
            entry = self._view.entries[0]
            message = f"Every existing point is still there with its image and recipe; new: {self.added}."
            yield self._at_entry(Status.PASS, entry, message)

    @staticmethod
    def _status(problem: Problem) -> Status:
        return Status.FAIL if problem.rule.startswith("append-only") else Status.UNVERIFIED

    # -- everything else that changes -------------------------------------------------------------------------------

    def _isolation(self, files: Sequence[ChangedFile]) -> Iterator[Finding]:
        matrix = {self._view.path, self._head.layout.runners, *self._head.layout.master_configs}
        others = [file for file in files if file.path not in matrix and not self._is_inert(file)]
        serving = [file for file in others if self._can_serve(file)]
        owned = {path for change in self._evidence.changes.keys for path in change.files}
        shared = {canonical_path(path) for path in self._evidence.changes.shared_files}
        for file in others:
            if file not in serving:
                yield self._judge_other(file)
            elif (file.path not in owned or canonical_path(file.path) in shared) and file.status != "added":
                yield self._judge_shared(file)
        paths = {file.path: file.previous_path or file.path for file in serving if file.status != "removed"}
        before, after = sides(self._base, self._head, paths)
        for change in self._evidence.changes.keys:
            if change.old is not None and change.new is not None:
                yield from self._untouched(_Pair(change.old, change.new), before, after, paths)

    def _is_inert(self, file: ChangedFile) -> bool:
        """Whether a file is prose or a test by its names, stands where nothing serves, and no file that serves the
        selected keys names it."""
        if self._can_serve(file) or not all(map(_INERT.search, file.paths)):
            return False
        name = file.path.rpartition("/")[2]
        return not any(name in text for text in self._serving_texts())

    def _serving_texts(self) -> Iterator[str]:
        for change in self._evidence.changes.keys:
            for item in self._head.of(change.new)[1] if change.new is not None else ():
                yield (read_text(self._evidence.trees.head, item.path) or "") if item.path else ""

    def _can_serve(self, file: ChangedFile) -> bool:
        if file.status == "removed":
            return can_serve(file.path, self._base.layout, self._evidence.trees.base)
        return can_serve(file.path, self._head.layout, self._evidence.trees.head)

    def _judge_other(self, file: ChangedFile) -> Finding:
        message = f"{file.path} changes too: does it reach any existing point?"
        return self._finding(Status.JUDGEMENT, message, file.path)

    def _judge_shared(self, file: ChangedFile) -> Finding:
        message = (
            f"{file.path} serves other points too, and it changes: is the change reachable only for the new points?"
        )
        return self._finding(Status.JUDGEMENT, message, file.path)

    # -- existing points of one key -----------------------------------------------------------------------------------

    def _untouched(self, pair: _Pair, before: Side, after: Side, touched: Mapping[str, str]) -> Iterator[Finding]:
        """Every row of the base against the same row at head, as far as changed files are behind it."""
        same = 0
        others: dict[tuple[str, str | None, int | None], list[tuple[Row, Comparison]]] = {}
        there = {_curve(item.row) for item in self._head.of(pair.new)[0]}
        for item in self._base.of(pair.old)[0]:
            if _curve(item.row) not in there:
                continue  # the rules above name what is gone
            found = self._row(item.row, pair, before, after, touched)
            if found is None:
                continue
            if found.standing == "same":
                same += 1
            else:
                others.setdefault((found.standing, found.path, found.line), []).append((item.row, found))
        for rows in list(others.values())[:_MOST]:
            yield self._told(pair, rows)
        if same and not others:
            message = f"{pair.new.key}: all {same} existing rows run the same on both sides of the changed files."
            yield self._finding(Status.PASS, message, pair.new.path, pair.new.line)

    def _told(self, pair: _Pair, rows: Sequence[tuple[Row, Comparison]]) -> Finding:
        """The first of the rows that a line changes, and how many more there are."""
        row, found = rows[0]
        status = Status.FAIL if found.standing == "different" else Status.JUDGEMENT
        concs = "/".join(f"{conc:g}" for conc in concurrencies(row))
        more = f" (so {'does one more' if len(rows) == 2 else f'do {len(rows) - 1} more'})" if len(rows) > 1 else ""
        path, line = (found.path, found.line) if found.path else (pair.new.path, pair.new.line)
        message = f"{pair.new.key}, existing point {arm_label(row)} c{concs}: it {found.why}{more}."
        return self._finding(status, message, path, line)

    def _row(self, row: Row, pair: _Pair, before: Side, after: Side, touched: Mapping[str, str]) -> Comparison | None:
        """How one existing row stands; None where nothing that changes is behind it."""
        former = [file for file in self._base.resolver.files(row, pair.old) if file.role in _OWN]
        now = [file for file in self._head.resolver.files(row, pair.new) if file.role in _OWN]
        if [_name(file) for file in former] != [_name(file) for file in now]:
            names = ", ".join(file.path or file.wanted for file in now) or "nothing"
            return Comparison(standing="different", why=f"is served by other files than before ({names})")
        behind = [file for file in self._head.resolver.files(row, pair.new) if file.path in touched]
        recipes = [file for file in behind if file.role in ("recipe", "eval_recipe")]
        if recipes:
            return self._recipe(recipes[0], touched)
        if not any(file.role in ("script", "helper") for file in behind):
            return None
        self._compared += 1
        if self._compared > _MOST_POINTS:
            return Comparison(standing="unknown", why=f"was not compared; only {_MOST_POINTS} points are")
        return compare(before, after, row, pair.old, pair.new)

    def _recipe(self, file: ResolvedFile, touched: Mapping[str, str]) -> Comparison:
        """A changed recipe: its values count, not how they are written."""
        assert file.path is not None
        old = read_document(read_text(self._evidence.trees.base, touched[file.path]) or "", file.path)
        new = read_document(read_text(self._evidence.trees.head, file.path) or "", file.path)
        if old.readable and new.readable and old.value == new.value:
            return Comparison(standing="same")
        name = file.path.rpartition("/")[2]
        if file.selector and old.readable and new.readable:
            return Comparison(
                standing="unknown", why=f"uses a part of {name}, of which something changes", path=file.path
            )
        return Comparison(standing="different", why=f"uses {name}, whose values change", path=file.path)


def _curve(row: Row) -> bytes:
    """A row without what can grow in it: of a row with several concurrencies, their list."""
    return canonical({**row, "conc": None, "exp-name": None} if isinstance(row.get("conc"), list) else row)


def _name(file: ResolvedFile) -> tuple[str, str, str]:
    return file.role, canonical_path(file.path) if file.path else file.wanted, file.selector


def _summary(findings: Sequence[Finding]) -> str:
    for status in (Status.FAIL, Status.UNVERIFIED, Status.JUDGEMENT):
        if found := next((finding for finding in findings if finding.status is status), None):
            return found.message
    return findings[0].message


def _alone(status: Status, message: str) -> Outcome:
    return Outcome(status=status, summary=message, findings=(Finding(status=status, message=message),))


CHECK = Check(
    name="append_only",
    title="Append-only entries only add points",
    pane="diff",
    explanation=EXPLANATION,
    decide=decide,
)
