"""Published results: what the default branch's newest sweeps measured of the points that a pull request measured.

Which workflow publishes is in the policy's workflow files, and which pull request measured a key last in the changelog
of the default branch; so a few runs are read, and not every one until the rows turn up. A merge may have reused the
sweep of its pull request instead of sweeping again: then that sweep's results are the published ones.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Iterable, Sequence
from urllib.parse import quote

import msgspec

from reviewer_tui.checks.curves import curve_of_result
from reviewer_tui.checks.published import Identity, identity
from reviewer_tui.checks.reuse import AUTHORISED, commands_of, reuse_rule
from reviewer_tui.model.finding import Problem
from reviewer_tui.model.part import Part, complete, unavailable
from reviewer_tui.model.result import BenchmarkResult, Published, PublishedRun
from reviewer_tui.model.run import Run
from reviewer_tui.model.snapshot import Snapshot, Trees
from reviewer_tui.model.tree import Tree
from reviewer_tui.policy.layout import Layout, discover_layout
from reviewer_tui.policy.verifier import read_checks
from reviewer_tui.sources.github.background import both, together
from reviewer_tui.sources.github.client import GitHubClient
from reviewer_tui.sources.github.facts import conversation_of, is_repository, run_of
from reviewer_tui.sources.github.failures import log_in_first
from reviewer_tui.sources.github.measurements import MeasurementReader
from reviewer_tui.sources.github.objects import GitHubObjects
from reviewer_tui.sources.github.paging import PAGE_SIZE
from reviewer_tui.sources.github.shapes import CommitItem, IssueComment, Pull, WorkflowRun, WorkflowRunPage
from reviewer_tui.sources.github.stages import Doubts, Report, Stage
from reviewer_tui.sources.github.wanted import blobs_of, workflow_files
from reviewer_tui.sweeps.changelog import ChangelogEntry, parse_changelog, stops_ci, view_changelog
from reviewer_tui.sweeps.publishing import measured_before, publishing_workflow

MOST_SWEEPS = 6
"""Sweeps of the default branch whose results are read."""

SWEEPS_A_KEY = 2
"""Of each key so many of the newest sweeps are read: the newest may have measured other points of it."""

MOST_RUN_PAGES = 4
"""Pages of the workflow's runs that are looked through, the newest runs first."""

PUSH, PULL_REQUEST = "push", "pull_request"

# What a squashed or a merged pull request leaves in a subject, marks such as `[skip-sweep]` behind it.
_MERGED = re.compile(r"\(#(\d{1,9})\)(?:\s*\[[\w -]{1,40}\])*\s*\Z|\AMerge pull request #(\d{1,9}) ")

# Faults of a changelog under which all of its new entries are read.
_ABOUT_BYTES = frozenset({"no-final-newline", "deleted-line", "no-additions"})


class _Found(msgspec.Struct, frozen=True):
    """One published sweep with its rows."""

    run: PublishedRun
    rows: Sequence[BenchmarkResult]


class PublishedReader:
    """Reads what one repository published. Everything that GitHub does not give is a sentence in the part."""

    def __init__(self, client: GitHubClient, objects: GitHubObjects, report: Report) -> None:
        self._client = client
        self._objects = objects
        self._repository = objects.repository
        self._base = f"/repos/{objects.repository}"
        self._report = report
        self._measurements = MeasurementReader(client, objects.repository, report)

    async def read(self, snapshot: Snapshot, trees: Trees) -> Part[Published]:
        """The published rows of the curves that the snapshot's results lie on."""
        results, info = snapshot.results.value, snapshot.info.value
        if not results or info is None:
            reason = "Published results were not looked up, because no results of this pull request are known."
            return unavailable(reason, snapshot.results.remedy)
        if not self._client.has_token:
            reason = "Published results lie in artifacts, which GitHub gives to nobody without a token."
            return unavailable(reason, log_in_first(self._client.host.name))
        doubts = Doubts()
        before, unread = await asyncio.to_thread(_measured_before, trees)
        before.pop(snapshot.ref.number, None)
        for sentence in unread:
            doubts.add(sentence, "Read the changelog by hand.")
        if not before:
            return doubts.nothing() if doubts else complete(Published())
        layout = discover_layout(trees.policy)
        workflow = await self._workflow(trees, layout, info.base_ref, doubts)
        if workflow is None:
            return doubts.nothing()
        lookup = _Lookup(workflow, info.base_ref, _reuse_text(trees, layout))
        runs = await self._runs(lookup, before, doubts)
        stage = Stage(self._report, "published results", len(runs))
        found = await together(*(stage.piece(self._sweep(number, run, lookup, doubts)) for number, run in runs.items()))
        return doubts.part(_newest([one for one in found if one is not None], results))

    async def _workflow(self, trees: Trees, layout: Layout, branch: str, doubts: Doubts) -> str | None:
        """The name of the workflow file that publishes."""
        tree = trees.policy
        paths = await asyncio.to_thread(workflow_files, tree)
        loading = self._objects.load_files(blobs_of(tree, paths))
        if await doubts.attempt(_then(loading), "The workflow files") is None:
            return None
        path = await asyncio.to_thread(publishing_workflow, tree, layout, branch)
        if path is None:
            doubts.add(f"No workflow file says that it sweeps what is pushed to {branch}.")
        return path.rpartition("/")[2] if path else None

    async def _runs(
        self, lookup: _Lookup, before: dict[int, tuple[str, ...]], doubts: Doubts
    ) -> dict[int, WorkflowRun]:
        """The default branch's runs for the pull requests that measured the keys before, by pull request."""
        wanted = list(before)[:MOST_SWEEPS]
        if len(wanted) < len(before):
            doubts.add(f"Of {len(before)} sweeps that measured the keys before, the newest {len(wanted)} were read.")
        found: dict[int, WorkflowRun] = {}
        seen = 0
        question = {"branch": lookup.branch, "event": PUSH, "exclude_pull_requests": "true"}
        address = f"{self._base}/actions/workflows/{quote(lookup.workflow, safe='')}/runs"
        for page in range(1, MOST_RUN_PAGES + 1):
            asked = self._client.answer(address, WorkflowRunPage, **question, per_page=PAGE_SIZE, page=page)
            answer = await doubts.attempt(asked, f"The runs of {lookup.workflow} on {lookup.branch}")
            if answer is None:
                return found
            seen += len(answer.value.items)
            for run in answer.value.items:
                number = _merged_pull(run)
                if number in wanted and self._is_push(run, lookup):
                    found.setdefault(number, run)
            if len(found) == len(wanted) or "next" not in answer.links:
                break
        for number in wanted:
            if number not in found:
                keys = ", ".join(before[number][:3])
                doubts.add(f"The sweep of #{number}, which measured {keys}, is not among the newest {seen:,} runs.")
        return found

    def _is_push(self, run: WorkflowRun, lookup: _Lookup) -> bool:
        """Whether a run is what it was asked for; a fork's branch may have the same name."""
        own = is_repository(run.head_repository, self._repository)
        return own and (run.event, run.head_branch) == (PUSH, lookup.branch) and lookup.is_of_workflow(run)

    async def _sweep(self, number: int, run: WorkflowRun, lookup: _Lookup, doubts: Doubts) -> _Found | None:
        """What a run of the default branch published: its own results, or those of the sweep that it reused."""
        rows = await self._measurements.results(_bare(run), doubts)
        if rows is not None:
            return _Found(_published_run(run, run, number), rows) if rows else None
        if run.status != "completed":
            doubts.add(f"The sweep of #{number} (run {run.id}) is still running.", "Look again when it is done.")
            return None
        reused = await self._reused(number, run, lookup, doubts)
        rows = await self._measurements.results(_bare(reused), doubts) if reused else ()
        if reused and rows is None:
            doubts.add(f"Run {reused.id}, which the merge of #{number} reused, left no results behind.")
        return _Found(_published_run(reused, run, number), rows) if reused and rows else None

    # --- reused sweeps -----------------------------------------------------------------------------------------------

    async def _reused(self, number: int, merge: WorkflowRun, lookup: _Lookup, doubts: Doubts) -> WorkflowRun | None:
        """The sweep of a pull request that its merge reused, as the repository's own script finds it
        (`find_reusable_sweep_run.py`): pinned by the newest command of somebody who may, else the newest green one."""
        comments, commits = await both(
            doubts.attempt(
                self._client.listing(f"{self._base}/issues/{number}/comments", IssueComment),
                f"The comments of #{number}",
            ),
            doubts.attempt(
                self._client.listing(f"{self._base}/pulls/{number}/commits", CommitItem), f"The commits of #{number}"
            ),
        )
        if comments is None or commits is None:
            return None
        commands = commands_of(conversation_of(comments.items, (), ()), reuse_rule(lookup.reuse_text))
        allowed = [
            command
            for command in commands
            if command.comment.association in AUTHORISED and command.comment.created_at <= merge.created_at
        ]
        if not allowed:
            doubts.add(
                f"Run {merge.id} merged #{number} without a sweep of its own, and the command that says which sweep it "
                "reused is not visible to this token."
            )
            return None
        if allowed[-1].comment.updated_at > merge.created_at:
            doubts.add(f"The command that says which sweep the merge of #{number} reused was edited after the merge.")
            return None
        shas = {commit.sha for commit in commits.items}
        pinned = allowed[-1].run_id
        run = await (
            self._newest_green(number, shas, merge, lookup, doubts)
            if pinned is None
            else doubts.attempt(self._client.get(f"{self._base}/actions/runs/{pinned}", WorkflowRun), f"Run {pinned}")
        )
        if run is not None and not self._is_sweep_of(run, shas, lookup):
            doubts.add(f"Run {run.id}, which a comment on #{number} names, is no sweep of that pull request.")
            return None
        if run is not None and run.created_at > merge.created_at:
            doubts.add(f"Run {run.id}, which a comment on #{number} names, is newer than the merge.")
            return None
        return run

    async def _newest_green(
        self, number: int, shas: set[str], merge: WorkflowRun, lookup: _Lookup, doubts: Doubts
    ) -> WorkflowRun | None:
        """The newest green sweep of a pull request before it was merged."""
        pull = await doubts.attempt(self._client.get(f"{self._base}/pulls/{number}", Pull), f"#{number}")
        if pull is None:
            return None
        address = f"{self._base}/actions/workflows/{quote(lookup.workflow, safe='')}/runs"
        question = {
            "branch": pull.head.ref,
            "event": PULL_REQUEST,
            "status": "success",
            "exclude_pull_requests": "true",
        }
        listing = await doubts.attempt(
            self._client.counted_listing(address, WorkflowRunPage, **question), f"The sweeps of #{number}"
        )
        runs = [run for run in (listing.items if listing else ()) if self._is_sweep_of(run, shas, lookup)]
        earlier = [run for run in runs if run.created_at <= merge.created_at]
        if not earlier and listing is not None:
            doubts.add(f"No green sweep of #{number} is known that its merge could have reused.")
        return max(earlier, key=lambda run: (run.created_at, run.id), default=None)

    def _is_sweep_of(self, run: WorkflowRun, shas: set[str], lookup: _Lookup) -> bool:
        own = is_repository(run.head_repository, self._repository)
        return own and run.event == PULL_REQUEST and run.head_sha in shas and lookup.is_of_workflow(run)


class _Lookup(msgspec.Struct, frozen=True):
    """What is looked for: runs of a workflow file on a branch; `reuse_text` is the policy's own rule of reuse."""

    workflow: str
    branch: str
    reuse_text: str

    def is_of_workflow(self, run: WorkflowRun) -> bool:
        return run.path.partition("@")[0].rpartition("/")[2] == self.workflow


def _measured_before(trees: Trees) -> tuple[dict[int, tuple[str, ...]], tuple[str, ...]]:
    """The pull requests that measured the keys of the head's new changelog entries before, the newest first; and what
    of the changelogs could not be read."""
    history, unread = _history(trees.default_branch)
    added, unread_too = _added(trees)
    return measured_before(history, added, each=SWEEPS_A_KEY), (*unread, *unread_too)


def _history(tree: Tree) -> tuple[tuple[ChangelogEntry, ...], tuple[str, ...]]:
    path = discover_layout(tree).changelog
    content = tree.read(path) if path else None
    if path is None or content is None:
        return (), (f"The default branch has no changelog at {tree.revision[:9]}.",)
    history, problems = parse_changelog(content, path)
    return history, _unread(problems, "the default branch")


def _added(trees: Trees) -> tuple[tuple[ChangelogEntry, ...], tuple[str, ...]]:
    new, old = discover_layout(trees.head).changelog, discover_layout(trees.base).changelog
    content = trees.head.read(new) if new else None
    if new is None or content is None:
        return (), ("The pull request's head has no changelog, so it is not known what it measured anew.",)
    view = view_changelog(trees.base.read(old) if old else None, content, new)
    return view.entries, _unread(
        [one for one in view.problems if stops_ci(one) and one.rule not in _ABOUT_BYTES], "the head"
    )


def _unread(problems: Sequence[Problem], where: str) -> tuple[str, ...]:
    """What to say of faults that may hide entries."""
    if not problems:
        return ()
    more = f" There are {len(problems) - 1} more faults." if len(problems) > 1 else ""
    return (f"The changelog of {where} could not all be read: {problems[0]}{more}",)


def _reuse_text(trees: Trees, layout: Layout) -> str:
    checks, _ = read_checks(trees.policy, layout)
    return next((f"{check.title}\n{check.text}" for check in checks if check.name == "reuse"), "")


def _merged_pull(run: WorkflowRun) -> int:
    """The pull request that a commit of the default branch merged, as its subject says; 0 where it says none."""
    subject = (run.head_commit.message if run.head_commit else "").partition("\n")[0]
    found = _MERGED.search(subject)
    return int(found[1] or found[2]) if found else 0


def _bare(run: WorkflowRun) -> Run:
    return run_of(run, (), jobs_complete=False)


def _published_run(measured: WorkflowRun, merge: WorkflowRun, number: int) -> PublishedRun:
    return PublishedRun(
        id=measured.id,
        commit=merge.head_sha,
        published_at=merge.created_at,
        url=measured.html_url,
        pull_request=number,
        reused=measured.id != merge.id,
    )


def _newest(found: Sequence[_Found], measured: Iterable[BenchmarkResult]) -> Published:
    """Of every point the rows of the newest sweep that has it, and the sweeps that they come from."""
    curves = {curve_of_result(result) for result in measured}
    taken: dict[Identity, int] = {}
    rows: list[BenchmarkResult] = []
    ordered = sorted(found, key=lambda one: (one.run.published_at, one.run.id), reverse=True)
    for one in ordered:
        for row in one.rows:
            if curve_of_result(row) in curves and taken.setdefault(identity(row), one.run.id) == one.run.id:
                rows.append(row)
    used = {row.run_id for row in rows}
    return Published(rows=tuple(rows), runs=tuple(one.run for one in ordered if one.run.id in used))


async def _then(work: Awaitable[None]) -> bool:
    """Whether work without a result was done."""
    await work
    return True
