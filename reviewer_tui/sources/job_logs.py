"""The logs of jobs as they are kept: the end of each, by host, repository and job. Those of finished jobs stay."""

from __future__ import annotations

from typing import Protocol

import msgspec

from reviewer_tui.model.run import JobLog

LONGEST_TAIL = 256 << 10
"""Bytes of a log that are kept: its end, where a failure says why."""


class LogStore(Protocol):
    """Where logs are kept: opaque bytes by key. A damaged or absent one is None."""

    def read_answer(self, key: str) -> bytes | None: ...

    def write_answer(self, key: str, content: bytes) -> None: ...


def kept_log(store: LogStore, host: str, repository: str, job_id: int) -> JobLog | None:
    """The kept log of a job."""
    content = store.read_answer(_key(host, repository, job_id))
    try:
        return None if content is None else msgspec.json.decode(content, type=JobLog)
    except msgspec.MsgspecError:
        return None


def keep_log(store: LogStore, host: str, repository: str, log: JobLog) -> None:
    """Keep the log of a job that is done."""
    store.write_answer(_key(host, repository, log.job_id), msgspec.json.encode(log))


def tail_of(job_id: int, content: bytes) -> JobLog:
    """The end of a log in whole lines; bytes that are no UTF-8 are replaced."""
    tail = content[-LONGEST_TAIL:]
    if len(tail) < len(content):
        # The line at which it was cut is not whole, unless there is no other.
        _, line_feed, rest = tail.partition(b"\n")
        tail = rest if line_feed and rest else tail
    return JobLog(job_id=job_id, text=tail.decode("utf-8", "replace"), size=len(content), kept=len(tail))


def _key(host: str, repository: str, job_id: int) -> str:
    return f"log {host} {repository.lower()} {job_id}"
