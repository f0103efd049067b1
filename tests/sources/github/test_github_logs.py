"""The logs of jobs: where they lie, what becomes of large and hostile ones, and that they are kept."""

from __future__ import annotations

import pytest

from reviewer_tui.model.errors import DataError
from reviewer_tui.model.run import CheckRun
from reviewer_tui.sources.cached import CacheSource
from reviewer_tui.sources.clone import CloneSource
from reviewer_tui.sources.github import logs
from reviewer_tui.sources.github.errors import GoneError, HiddenError, PermissionMissingError, TooLargeError
from reviewer_tui.sources.job_logs import LONGEST_TAIL, tail_of
from reviewer_tui.sources.source import log_of
from reviewer_tui.sources.stored import NotCachedError
from tests.fake_github import plain as plain_world
from tests.fake_github.world import Job
from tests.sources.github.conftest import Rig

TEXT = "\ufeff2026-08-11T09:00:00.1234567Z \x1b[31m##[error]Out of memory\x1b[0m\n"


def failed(rig: Rig, log: bytes | None = TEXT.encode(), **facts: str) -> CheckRun:
    """A failed job with a log, as a load gives it."""
    job = Job(77, "eval / / x", **{"conclusion": "failure", **facts}, log=log)  # type: ignore[arg-type]
    rig.plain.repository.runs[1001].jobs.append(job)
    (run,) = rig.load().snapshot.runs.value or ()
    return next(job for job in run.jobs if job.id == 77)


def test_a_log_is_read_from_the_storage_and_the_token_stays_here(rig: Rig) -> None:
    job = failed(rig)
    log = rig.source.job_log(rig.ref, job)
    assert (log.job_id, log.text, log.size, log.kept) == (77, TEXT, len(TEXT.encode()), len(TEXT.encode()))
    (stored,) = [seen for seen in rig.fake.stored if seen.path.startswith("/log/")]
    assert "authorization" not in stored.headers


def test_it_is_read_once_and_there_without_the_network(rig: Rig) -> None:
    job = failed(rig)
    offline = CacheSource(rig.cache, plain_world.REPOSITORY, rig.fake.host)
    with pytest.raises(NotCachedError, match="holds no log of job 77") as caught:
        offline.job_log(rig.ref, job)
    assert "show 7 runs --log 77" in caught.value.remedy
    log = rig.source.job_log(rig.ref, job)
    rig.fake.forget()
    assert rig.source.job_log(rig.ref, job) == log
    assert rig.paths() == []
    assert offline.job_log(rig.ref, job) == log
    assert log_of(offline, rig.ref, job) == log


def test_the_log_of_a_running_job_is_not_kept(rig: Rig) -> None:
    job = failed(rig, b"half\n", conclusion="", status="in_progress")
    rig.source.job_log(rig.ref, job)
    rig.fake.forget()
    rig.source.job_log(rig.ref, job)
    assert len(rig.paths("/logs")) == 1


def test_of_a_large_log_the_end_is_kept(rig: Rig) -> None:
    content = b"".join(b"%09d\n" % number for number in range(60_000))
    log = rig.source.job_log(rig.ref, failed(rig, content))
    assert log.size == 600_000
    assert LONGEST_TAIL - 10 <= log.kept <= LONGEST_TAIL
    assert log.text.endswith("000059999\n")
    assert len(log.text.split("\n", 1)[0]) == 9, "it begins with a whole line"


def test_a_log_larger_than_any_is_not_read_to_its_end(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "LARGEST_LOG", 1000)
    with pytest.raises(TooLargeError):
        rig.source.job_log(rig.ref, failed(rig, b"x" * 2000))


def test_an_expired_log_is_a_sentence(rig: Rig) -> None:
    with pytest.raises(GoneError) as caught:
        rig.source.job_log(rig.ref, failed(rig, None))
    assert caught.value.message == "The log of job 77 is gone: GitHub keeps logs only for some time."
    assert "running the job again" in caught.value.remedy


@pytest.mark.parametrize(("status", "said"), [("completed", "it wrote none, or it is hidden"), ("queued", "not done")])
def test_a_job_without_a_log(rig: Rig, status: str, said: str) -> None:
    job = failed(rig, status=status)
    rig.fail(r"/logs", 404, "Not Found", times=None)
    with pytest.raises(HiddenError, match=said):
        rig.source.job_log(rig.ref, job)


def test_a_reader_without_rights(rig: Rig) -> None:
    job = failed(rig)
    stranger = type(rig.source)(rig.new_client(token=None), rig.cache, plain_world.REPOSITORY)
    with pytest.raises(PermissionMissingError) as caught:
        stranger.job_log(rig.ref, job)
    assert "Log in first" in caught.value.remedy


def test_a_source_without_logs_says_where_they_are(rig: Rig) -> None:
    job = failed(rig)
    with CloneSource(rig.plain.git.path) as clone, pytest.raises(DataError, match="is on GitHub") as caught:
        log_of(clone, rig.ref, job)
    assert "Leave out --clone" in caught.value.remedy


def test_bytes_that_are_no_text_and_a_line_without_end() -> None:
    assert tail_of(1, b"\xff\xfe\n").text == "\ufffd\ufffd\n"
    assert tail_of(1, b"").text == ""
    endless = tail_of(1, b"x" * (LONGEST_TAIL + 5))
    assert (len(endless.text), endless.size) == (LONGEST_TAIL, LONGEST_TAIL + 5)
