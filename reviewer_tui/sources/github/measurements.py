"""What sweeps measured: their artifacts, and the evals and results in them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar, cast

import msgspec

from reviewer_tui.model.part import Part, unavailable
from reviewer_tui.model.result import BenchmarkResult, EvalScore
from reviewer_tui.model.run import Artifact, Run
from reviewer_tui.sources.github.archive import read_members
from reviewer_tui.sources.github.artifacts import (
    AGENTIC_PREFIX,
    EVALS,
    RESULTS,
    Rows,
    is_result_file,
    parse_evals,
    parse_results,
    with_images,
)
from reviewer_tui.sources.github.background import both, together
from reviewer_tui.sources.github.client import GitHubClient
from reviewer_tui.sources.github.etags import shape_fingerprint
from reviewer_tui.sources.github.facts import measures, newest_artifacts, with_artifacts
from reviewer_tui.sources.github.paging import Listing
from reviewer_tui.sources.github.shapes import ArtifactItem, ArtifactPage
from reviewer_tui.sources.github.stages import Doubts, Report, Stage

T = TypeVar("T")

NEWEST_SWEEPS = 3
"""Of so many of the newest sweeps are evals and results read, besides all that the conversation names."""

LARGEST_ARTIFACT = 64 << 20
"""Bytes of the largest artifact that is downloaded."""

MOST_AGENTIC_ARTIFACTS = 80
"""Results of single lanes that are downloaded where a sweep made no common file of them."""


class Measured(msgspec.Struct, frozen=True):
    """Runs with their artifacts, and what they measured."""

    runs: Part[tuple[Run, ...]]
    evals: Part[tuple[EvalScore, ...]]
    results: Part[tuple[BenchmarkResult, ...]]


class _Read(msgspec.Struct, frozen=True):
    run: Run
    evals: Sequence[EvalScore]
    results: Sequence[BenchmarkResult]


class MeasurementReader:
    """Reads the artifacts of one repository's runs."""

    def __init__(self, client: GitHubClient, repository: str, report: Report) -> None:
        self._client = client
        self._repository = repository
        self._report = report

    async def measured(self, runs: Part[tuple[Run, ...]], chosen: Sequence[Run]) -> Measured:
        """The evals and results of the sweeps that were chosen to be read."""
        if runs.value is None:
            reason = f"Workflow runs are not known. {runs.reason}"
            return Measured(runs, unavailable(reason, runs.remedy), unavailable(reason, runs.remedy))
        doubts = Doubts()
        doubts.add(runs.reason, runs.remedy)
        left = [str(run.id) for run in runs.value if measures(run) and run not in chosen]
        if left:
            older = f"What older sweeps measured was not read ({', '.join(left[:10])})."
            doubts.add(older, "Name the run in a comment.")
        stage = Stage(self._report, "artifacts of sweeps", len(chosen))
        read = await together(*(stage.piece(self._read(run, doubts)) for run in chosen))
        dressed = {one.run.id: one.run for one in read}
        results = tuple(result for one in read for result in one.results)
        return Measured(
            msgspec.structs.replace(runs, value=tuple(dressed.get(run.id, run) for run in runs.value)),
            doubts.part(with_images((score for one in read for score in one.evals), results)),
            doubts.part(results),
        )

    async def results(self, run: Run, doubts: Doubts) -> Sequence[BenchmarkResult] | None:
        """The benchmark results of one run alone; None where it left no artifact with results behind."""
        listed = await self._listing(run, RESULTS, doubts)
        if listed is not None and not listed.items:
            listed = doubts.counted(await self._listing(run, "", doubts), f"artifacts of run {run.id}")
        if listed is None:
            return ()
        chosen = _result_artifacts(newest_artifacts(listed.items), run, doubts)
        return await self._rows(chosen, run, parse_results, doubts) if chosen else None

    async def _read(self, run: Run, doubts: Doubts) -> _Read:
        artifacts, all_told = await self._artifacts(run, doubts)
        evals, results = await both(
            self._rows([one for one in artifacts if one.name == EVALS], run, parse_evals, doubts),
            self._rows(_result_artifacts(artifacts, run, doubts), run, parse_results, doubts),
        )
        return _Read(with_artifacts(run, artifacts, complete=all_told), evals, results)

    async def _artifacts(self, run: Run, doubts: Doubts) -> tuple[tuple[Artifact, ...], bool]:
        """The two collected artifacts by name, because a sweep has hundreds; all of them where the results are not
        among those: a sweep of agentic lanes alone collects none. And whether these are all."""
        evals, results = await both(self._listing(run, EVALS, doubts), self._listing(run, RESULTS, doubts))
        if evals is None or results is None:
            return (), False
        if results.items:
            return newest_artifacts((*evals.items, *results.items)), False
        everything = await self._listing(run, "", doubts)
        if doubts.counted(everything, f"artifacts of run {run.id}") is None or everything is None:
            return newest_artifacts(evals.items), False
        return newest_artifacts(everything.items), everything.complete

    async def _listing(self, run: Run, name: str, doubts: Doubts) -> Listing[ArtifactItem] | None:
        question = {"name": name} if name else {}
        address = f"/repos/{self._repository}/actions/runs/{run.id}/artifacts"
        return await doubts.attempt(
            self._client.counted_listing(address, ArtifactPage, **question), f"The artifacts of run {run.id}"
        )

    async def _rows(
        self, artifacts: Sequence[Artifact], run: Run, parse: Callable[[bytes, int], Rows[T]], doubts: Doubts
    ) -> list[T]:
        """The rows of several artifacts; what is gone, too large or not understood is a doubt."""
        read = await together(*(self._artifact_rows(artifact, run, parse, doubts) for artifact in artifacts))
        return [row for rows in read for row in rows]

    async def _artifact_rows(
        self, artifact: Artifact, run: Run, parse: Callable[[bytes, int], Rows[T]], doubts: Doubts
    ) -> tuple[T, ...]:
        what = f"The artifact {artifact.name} of run {run.id}"
        if artifact.expired:
            doubts.add(f"{what} has expired.", "Only a new sweep brings it back.")
            return ()
        if artifact.size > LARGEST_ARTIFACT:
            doubts.add(f"{what} has {artifact.size:,} bytes and was not read.")
            return ()
        rows = await doubts.attempt(self._kept_rows(artifact, run, parse), what)
        if rows is None:
            return ()
        doubts.add(f"{what}: {' '.join(rows.problems[:3])}" if rows.problems else "")
        return rows.rows

    async def _kept_rows(self, artifact: Artifact, run: Run, parse: Callable[[bytes, int], Rows[T]]) -> Rows[T]:
        """The rows of one artifact. An artifact never changes, so its rows are kept under its id and digest."""
        shape = Rows[EvalScore] if cast(object, parse) is parse_evals else Rows[BenchmarkResult]
        what = f"{artifact.id} {artifact.digest} {shape_fingerprint(shape)}"
        key = f"rows {self._client.host.api} {self._repository} {what}"
        kept = self._client.answers.read_answer(key) if self._client.answers else None
        if kept is not None:
            try:
                return cast(Rows[T], msgspec.json.decode(kept, type=shape))
            except msgspec.MsgspecError:
                pass
        rows = await self._download(artifact, run, parse)
        if self._client.answers:
            self._client.answers.write_answer(key, msgspec.json.encode(rows))
        return rows

    async def _download(self, artifact: Artifact, run: Run, parse: Callable[[bytes, int], Rows[T]]) -> Rows[T]:
        address = f"/repos/{self._repository}/actions/artifacts/{artifact.id}/zip"
        content = await self._client.download(address, limit=LARGEST_ARTIFACT, digest=artifact.digest)
        files = read_members(content, is_result_file, f"The artifact {artifact.name} of run {run.id}")
        parsed = [parse(file, run.id) for _, file in sorted(files.items())]
        problems = tuple(problem for rows in parsed for problem in rows.problems)
        return Rows(tuple(row for rows in parsed for row in rows.rows), problems if parsed else ("It holds no rows.",))


def chosen_sweeps(runs: Sequence[Run], linked: Collection[int]) -> list[Run]:
    """The sweeps that are read whole, of runs from new to old: those that the conversation names, and the newest."""
    sweeps = [run for run in runs if measures(run)]
    chosen = [run for run in sweeps if run.id in linked]
    return chosen + [run for run in sweeps if run.id not in linked][:NEWEST_SWEEPS]


def _result_artifacts(artifacts: Sequence[Artifact], run: Run, doubts: Doubts) -> Sequence[Artifact]:
    """The collected results, or where there are none the results of single agentic lanes."""
    collected = [one for one in artifacts if one.name == RESULTS]
    single = [one for one in artifacts if one.name.startswith(AGENTIC_PREFIX)]
    if not collected and len(single) > MOST_AGENTIC_ARTIFACTS:
        doubts.add(f"Of {len(single)} lanes of run {run.id} the results of {MOST_AGENTIC_ARTIFACTS} were read.")
    return collected or single[:MOST_AGENTIC_ARTIFACTS]
