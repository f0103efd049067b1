"""The workflow runs of a pull request: the jobs of every commit, and the runs that the conversation names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import msgspec

from reviewer_tui.model.part import Part
from reviewer_tui.model.run import CheckRun, Run
from reviewer_tui.sources.github.background import both, together
from reviewer_tui.sources.github.client import GitHubClient
from reviewer_tui.sources.github.facts import check_of_item, check_of_job, checks_by_run, run_of
from reviewer_tui.sources.github.paging import Listing
from reviewer_tui.sources.github.shapes import CheckRunItem, CheckRunPage, JobPage, WorkflowRun, WorkflowRunPage
from reviewer_tui.sources.github.stages import Doubts, Report, Stage

MOST_COMMITS = 100
"""The newest commits of a pull request whose checks are loaded: each takes a request or more."""

MOST_SINGLE_RUNS = 40
"""Runs that are loaded one by one, because the conversation or a check names them and no list had them."""


class Branch(msgspec.Struct, frozen=True):
    """Where a pull request's runs are found: its branch, and its commits from old to new. `own` says whether the branch
    lies in the repository itself and is not the one merged into."""

    name: str
    own: bool
    commits: tuple[str, ...]


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
        known = {run.id: run for run in listed or () if run.head_sha in branch.commits}
        named = [*checks_by_run(checks or (), known.values()), *linked]
        for run in await self._single_runs([run_id for run_id in named if run_id not in known], linked, doubts):
            known[run.id] = run
        grouped = checks_by_run(checks or (), known.values())
        stage = Stage(self._report, "jobs of runs", len(known))
        runs = await together(
            *(stage.piece(self._with_jobs(run, grouped.get(run.id, ()), doubts)) for run in known.values())
        )
        return doubts.part(tuple(sorted(runs, key=lambda run: (run.created_at, run.id), reverse=True)))

    async def _all_checks(self, commits: Sequence[str], doubts: Doubts) -> list[CheckRunItem] | None:
        """The check-runs of all commits; None where GitHub gave those of none."""
        if len(commits) > MOST_COMMITS:
            doubts.add(f"The checks of the oldest {len(commits) - MOST_COMMITS} commits were not loaded.")
        newest = commits[-MOST_COMMITS:]
        stage = Stage(self._report, "check-runs of commits", len(newest))
        listings = await together(*(stage.piece(self._checks(sha, doubts)) for sha in newest))
        if commits and not any(listings):
            return None
        return [check for listing in listings if listing for check in listing.items]

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

    async def _with_jobs(self, run: WorkflowRun, checks: Sequence[CheckRunItem], doubts: Doubts) -> Run:
        """A run with its jobs: the check-runs, where it had one attempt; a run that was repeated, or that lies on
        another commit, is asked for its jobs, which know their attempt."""
        plain = [check_of_item(check, run) for check in checks]
        if run.run_attempt == 1 and checks:
            return run_of(run, plain, jobs_complete=True)
        listing = await doubts.attempt(
            self._client.counted_listing(f"{self._base}/actions/runs/{run.id}/jobs", JobPage, filter="all"),
            f"The jobs of run {run.id}",
        )
        if doubts.counted(listing, f"jobs of run {run.id}") is None or listing is None:
            return run_of(run, plain, jobs_complete=False)
        jobs: list[CheckRun] = [check_of_job(job, run) for job in listing.items]
        return run_of(run, jobs, jobs_complete=listing.complete)
