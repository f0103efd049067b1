"""The workflow runs of a pull request: the jobs of every commit, and the runs that the conversation names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import msgspec

from reviewer_tui.model.part import Part
from reviewer_tui.model.run import Run
from reviewer_tui.sources.github.background import both, together
from reviewer_tui.sources.github.client import GitHubClient
from reviewer_tui.sources.github.facts import check_of_item, check_of_job, checks_by_run, run_of
from reviewer_tui.sources.github.paging import Listing
from reviewer_tui.sources.github.shapes import CheckRunItem, CheckRunPage, Job, JobPage, WorkflowRun, WorkflowRunPage
from reviewer_tui.sources.github.stages import Doubts, Report, Stage

MOST_COMMITS = 100
"""The newest commits of a pull request whose checks are loaded: each takes a request or more."""

MOST_JOB_LISTS = 60
"""Runs that are asked for their jobs."""

MOST_SINGLE_RUNS = 40
"""Runs that are loaded one by one, because the conversation or a check names them and no list had them."""


class Branch(msgspec.Struct, frozen=True):
    """Where a pull request's runs are found: its branch, and its commits from old to new. `own` says whether the branch
    lies in the repository itself and is not the one merged into."""

    name: str
    own: bool
    commits: tuple[str, ...]


class _Checks(msgspec.Struct, frozen=True):
    """Check-runs of several commits, and the commits of which these are all."""

    items: tuple[CheckRunItem, ...]
    whole: frozenset[str]


class RunReader:
    """Reads the runs of one repository."""

    def __init__(self, client: GitHubClient, repository: str, report: Report) -> None:
        self._client = client
        self._base = f"/repos/{repository}"
        self._report = report

    async def runs(self, branch: Branch, linked: Sequence[int]) -> Part[tuple[Run, ...]]:
        """The runs on the branch's commits and the linked ones, each with its jobs; newest first."""
        doubts = Doubts()
        checks, listed = await both(self._all_checks(branch.commits, doubts), self._listed(branch, doubts))
        if checks is None and listed is None:
            return doubts.nothing()
        told = checks or _Checks((), frozenset())
        known = {run.id: run for run in listed or () if run.head_sha in branch.commits}
        named = [*checks_by_run(told.items, known.values()), *linked]
        for run in await self._single_runs([run_id for run_id in named if run_id not in known], linked, doubts):
            known[run.id] = run
        runs = await self._with_jobs(sorted(known.values(), key=lambda run: -run.id), told, doubts)
        return doubts.part(tuple(sorted(runs, key=lambda run: (run.created_at, run.id), reverse=True)))

    async def _all_checks(self, commits: Sequence[str], doubts: Doubts) -> _Checks | None:
        """The check-runs of all commits; None where GitHub gave those of none."""
        if len(commits) > MOST_COMMITS:
            doubts.add(f"The checks of the oldest {len(commits) - MOST_COMMITS} commits were not loaded.")
        newest = commits[-MOST_COMMITS:]
        stage = Stage(self._report, "check-runs of commits", len(newest))
        listings = await together(*(stage.piece(self._checks(sha, doubts)) for sha in newest))
        if commits and not any(listings):
            return None
        items = tuple(check for listing in listings if listing for check in listing.items)
        whole = (sha for sha, listing in zip(newest, listings, strict=True) if listing and listing.complete)
        return _Checks(items, frozenset(whole))

    async def _checks(self, sha: str, doubts: Doubts) -> Listing[CheckRunItem] | None:
        """All check-runs of a commit, not only the latest of each name: two lanes may have one name."""
        listing = await doubts.attempt(
            self._client.counted_listing(f"{self._base}/commits/{sha}/check-runs", CheckRunPage, filter="all"),
            f"The checks of {sha[:9]}",
        )
        return doubts.counted(listing, f"checks of {sha[:9]}")

    async def _listed(self, branch: Branch, doubts: Doubts) -> list[WorkflowRun] | None:
        """The runs of the branch; commit by commit where its name is no sure sign (a fork's main is not ours). None
        where GitHub gave none of the lists."""
        questions: list[dict[str, str]] = [{"branch": branch.name}]
        if not branch.own:
            questions = [{"head_sha": sha} for sha in branch.commits[-MOST_COMMITS:]]
        listings = await together(*(self._list(question, doubts) for question in questions))
        if questions and not any(listings):
            return None
        return [run for listing in listings if listing for run in listing.items]

    async def _list(self, question: dict[str, str], doubts: Doubts) -> Listing[WorkflowRun] | None:
        listing = await doubts.attempt(
            self._client.counted_listing(
                f"{self._base}/actions/runs", WorkflowRunPage, exclude_pull_requests="true", **question
            ),
            "The list of workflow runs",
        )
        return doubts.counted(listing, "workflow runs")

    async def _single_runs(self, ids: Sequence[int], linked: Collection[int], doubts: Doubts) -> Iterable[WorkflowRun]:
        wanted = sorted(dict.fromkeys(ids), key=lambda run_id: (run_id not in linked, -run_id))
        if len(wanted) > MOST_SINGLE_RUNS:
            doubts.add(f"{len(wanted) - MOST_SINGLE_RUNS} further runs that checks or comments name were not loaded.")
        stage = Stage(self._report, "runs named elsewhere", len(wanted[:MOST_SINGLE_RUNS]))
        runs = await together(
            *(
                stage.piece(
                    doubts.attempt(
                        self._client.get(f"{self._base}/actions/runs/{run_id}", WorkflowRun), f"The named run {run_id}"
                    )
                )
                for run_id in wanted[:MOST_SINGLE_RUNS]
            )
        )
        return [run for run in runs if run is not None]

    async def _with_jobs(self, runs: Sequence[WorkflowRun], checks: _Checks, doubts: Doubts) -> list[Run]:
        """Runs with their jobs. The check-runs are the jobs of a run that had one attempt; a run that was repeated, or
        whose commit's check-runs are not all known, is asked for its jobs, which know their attempt."""
        grouped = checks_by_run(checks.items, runs)
        plain = {run.id: [check_of_item(check, run) for check in grouped.get(run.id, ())] for run in runs}
        settled = {run.id for run in runs if run.run_attempt == 1 and run.head_sha in checks.whole and plain[run.id]}
        asked = [run for run in runs if run.id not in settled]
        if len(asked) > MOST_JOB_LISTS:
            doubts.add(f"The jobs of {len(asked) - MOST_JOB_LISTS} older runs were not loaded.")
        stage = Stage(self._report, "jobs of repeated runs", len(asked[:MOST_JOB_LISTS]))
        listings = await together(*(stage.piece(self._jobs(run, doubts)) for run in asked[:MOST_JOB_LISTS]))
        listed = {run.id: listing for run, listing in zip(asked, listings, strict=False) if listing is not None}
        return [
            run_of(run, [check_of_job(job, run) for job in listed[run.id].items], jobs_complete=listed[run.id].complete)
            if run.id in listed
            else run_of(run, plain[run.id], jobs_complete=run.id in settled)
            for run in runs
        ]

    async def _jobs(self, run: WorkflowRun, doubts: Doubts) -> Listing[Job] | None:
        listing = await doubts.attempt(
            self._client.counted_listing(f"{self._base}/actions/runs/{run.id}/jobs", JobPage, filter="all"),
            f"The jobs of run {run.id}",
        )
        return doubts.counted(listing, f"jobs of run {run.id}")
