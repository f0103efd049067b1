"""Logs in lines to read, and which job somebody means."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer_tui.model.errors import NotFoundError, UsageError
from reviewer_tui.model.part import complete, unavailable
from reviewer_tui.model.run import CheckRun, JobLog
from reviewer_tui.model.snapshot import Snapshot
from reviewer_tui.model.text import has_unsafe
from reviewer_tui.review.logs import find_job, log_lines, log_title
from tests.tui.reviews import make_review


def lines(text: str) -> tuple[str, ...]:
    return log_lines(JobLog(job_id=1, text=text, size=len(text), kept=len(text)))


def test_times_and_colours_go_and_what_steers_is_shown() -> None:
    text = (
        "\ufeff2026-08-11T09:00:00.1234567Z ##[group]Run\r\n"
        "2026-08-11T09:00:01.0000000Z \x1b[1;31mred\x1b[0m and \x1b[2Jcleared\n"
        "\n"
        "\u202egnp.exe\x07"
    )
    assert lines(text) == ("##[group]Run", "red and <U+001B>[2Jcleared", "", "<U+202E>gnp.exe<U+0007>")
    assert lines("") == ()


@given(st.text(alphabet=st.characters() | st.sampled_from("\x1b[m0;\r\n\x9b\u202e"), max_size=60))
def test_no_log_steers_the_terminal(text: str) -> None:
    assert not any(has_unsafe(line) or "\n" in line for line in lines(text))


def test_how_much_of_it_this_is() -> None:
    assert log_title(JobLog(job_id=1, text="x", size=1, kept=1)) == "the whole log, 1 bytes"
    assert log_title(JobLog(job_id=1, text="x", size=5000, kept=1)) == "the last 1 of 5,000 bytes"


def snapshot(*jobs: tuple[int, str, str]) -> Snapshot:
    review = make_review()
    (run,) = review.snapshot.runs.value or ()
    made = tuple(
        CheckRun(id=number, name=name, status="completed", conclusion=conclusion, head_sha="a" * 40)
        for number, name, conclusion in jobs
    )
    return msgspec.structs.replace(review.snapshot, runs=complete((msgspec.structs.replace(run, jobs=made),)))


JOBS = snapshot(
    (10, "eval / / p1 | a  c32", "success"),
    (11, "eval / / p1 | a c64", "failure"),
    (12, "setup", "success"),
    (13, "setup two", "failure"),
    (14, "single / x c1", "success"),
    (15, "single / x c12", "success"),
)


@pytest.mark.parametrize(
    ("name", "job"),
    [("11", 11), ("a c32", 10), ("EVAL", 11), ("setup", 12), ("two", 13), ("single / x c1", 14), (" c12 ", 15)],
)
def test_a_job_is_named_by_id_or_part_of_its_name_and_the_failed_one_is_meant(name: str, job: int) -> None:
    assert find_job(JOBS, name).id == job


def test_what_fits_several_or_none_is_said() -> None:
    with pytest.raises(UsageError, match="2 jobs have “single” in their name") as caught:
        find_job(JOBS, "single")
    assert caught.value.remedy == "Name one by its id: 14 single / x c1; 15 single / x c12."
    with pytest.raises(UsageError, match="No job of the known runs is called “nothing<U"):
        find_job(JOBS, "nothing\x1b")
    with pytest.raises(UsageError):
        find_job(JOBS, " ")
    with pytest.raises(NotFoundError, match="No job is known"):
        find_job(msgspec.structs.replace(JOBS, runs=unavailable("A clone holds no runs.")), "11")
