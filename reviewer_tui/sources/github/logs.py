"""The log of one job, which GitHub keeps at a storage of its own and only for a while."""

from __future__ import annotations

from reviewer_tui.model.run import CheckRun, JobLog
from reviewer_tui.sources.github.client import GitHubClient
from reviewer_tui.sources.github.errors import GoneError, HiddenError
from reviewer_tui.sources.job_logs import tail_of

LARGEST_LOG = 64 << 20
"""Bytes of the largest log that is downloaded."""


async def read_log(client: GitHubClient, repository: str, job: CheckRun) -> JobLog:
    """The end of a job's log. Raises GitHubError: GoneError where it has expired, HiddenError where there is none or
    none yet, TooLargeError beyond LARGEST_LOG."""
    path = f"/repos/{repository}/actions/jobs/{job.id}/logs"
    try:
        content = await client.download(path, limit=LARGEST_LOG)
    except GoneError as fault:
        raise GoneError(
            f"The log of job {job.id} is gone: GitHub keeps logs only for some time.",
            "Only running the job again brings another one.",
            endpoint=fault.endpoint,
            status=fault.status,
        ) from None
    except HiddenError as fault:
        running = "it is not done" if job.status != "completed" else "it wrote none, or it is hidden from this token"
        raise HiddenError(
            f"GitHub has no log of job {job.id}: {running}.",
            "Look again when the job is done." if job.status != "completed" else f"Look at its page: {job.url}",
            endpoint=fault.endpoint,
            status=fault.status,
        ) from None
    return tail_of(job.id, content)
