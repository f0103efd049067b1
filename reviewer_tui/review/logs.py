"""The log of a job in lines to read, and finding the job that somebody names."""

from __future__ import annotations

import re

from reviewer_tui.model.errors import NotFoundError, UsageError
from reviewer_tui.model.run import CheckRun, JobLog
from reviewer_tui.model.snapshot import Snapshot
from reviewer_tui.model.text import visible
from reviewer_tui.sweeps.lanes import collapse

FAILED = frozenset({"failure", "timed_out", "startup_failure"})
"""Conclusions of jobs whose logs say why."""

_MOST_NAMED = 8
# What the runner writes before each line, and colours: neither says anything here.
_TIME = re.compile(r"^\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z ?")
_COLOUR = re.compile(r"\x1b\[[0-9;:]{0,40}m")


def log_lines(log: JobLog) -> tuple[str, ...]:
    """The lines without the runner's times and colours; whatever else could steer a terminal is made visible."""
    rows = log.text.replace("\r\n", "\n").split("\n")
    lines = [visible(_COLOUR.sub("", _TIME.sub("", row))) for row in rows]
    return tuple(lines[:-1] if lines and not lines[-1] else lines)


def log_title(log: JobLog) -> str:
    """How much of the log this is."""
    if log.kept >= log.size:
        return f"the whole log, {log.size:,} bytes"
    return f"the last {log.kept:,} of {log.size:,} bytes"


def failed_jobs(jobs: tuple[CheckRun, ...]) -> tuple[CheckRun, ...]:
    """The jobs that failed."""
    return tuple(job for job in jobs if job.conclusion in FAILED)


def find_job(snapshot: Snapshot, name: str) -> CheckRun:
    """The job of the known runs with an id, or with a text in its name; where several have it, the one that failed.
    Raises NotFoundError where no job is known, UsageError for a name that none or several have, with those several."""
    if snapshot.runs.value is None:
        raise NotFoundError(f"No job is known. {snapshot.runs.reason}", snapshot.runs.remedy)
    jobs = [job for run in snapshot.runs.value for job in run.jobs]
    wanted = collapse(name).lower()
    found = [job for job in jobs if wanted and (str(job.id) == wanted or wanted in collapse(job.name).lower())]
    if len(found) > 1:
        exact = [job for job in found if wanted in (str(job.id), collapse(job.name).lower())]
        found = exact if len(exact) == 1 else [job for job in found if job.conclusion in FAILED] or found
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(f"No job of the known runs is called “{visible(name)[:80]}”.", "Name its id, or a part of it.")
    some = "; ".join(f"{job.id} {collapse(visible(job.name))}" for job in found[:_MOST_NAMED])
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    raise UsageError(
        f"{len(found)} jobs have “{visible(name)[:80]}” in their name.", f"Name one by its id: {some}{more}."
    )
