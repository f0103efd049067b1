"""Statuses and the verdict that follows from them."""

from __future__ import annotations

import itertools

import pytest

from reviewer_tui.model.finding import Status, Verdict, verdict_of, worst


def test_every_status_has_its_own_letter() -> None:
    assert len({status.letter for status in Status}) == len(Status)


SOME_STATUSES = [some for n in range(4) for some in itertools.combinations(Status, n)]


@pytest.mark.parametrize("statuses", SOME_STATUSES)
def test_the_verdict_is_pass_only_when_nothing_speaks_against_it(statuses: tuple[Status, ...]) -> None:
    verdict = verdict_of(statuses)
    if Status.FAIL in statuses:
        assert verdict is Verdict.REJECTED
    elif not statuses or {Status.UNVERIFIED, Status.JUDGEMENT} & set(statuses):
        assert verdict is Verdict.UNDECIDED
    else:
        assert verdict is (Verdict.WARN if Status.WARN in statuses else Verdict.PASS)


def test_the_worst_of_several() -> None:
    assert worst([Status.PASS, Status.UNVERIFIED, Status.JUDGEMENT], empty=Status.PASS) is Status.UNVERIFIED
    assert worst([], empty=Status.JUDGEMENT) is Status.JUDGEMENT
    assert worst([Status.NOT_APPLICABLE, Status.PASS], empty=Status.FAIL) is Status.PASS
