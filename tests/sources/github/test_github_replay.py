"""Recorded answers of the real GitHub, which are no part of this project: run where they have been fetched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.replay import VARIABLE, tally

# A recording that was broken by hand to test another library, and one whose objects were cut by hand.
BROKEN = ("BadAttributes.testBadTransformedAttributeInList.txt", "PullRequest1682.test_string_parameters.txt")


def test_recorded_answers_decode() -> None:
    folder = os.environ.get(VARIABLE)
    if not folder:
        pytest.skip(f"{VARIABLE} names no folder with recorded answers of GitHub")
    found = tally(Path(folder))
    assert [fault for fault in found.faults if not fault.startswith(BROKEN)] == []
    assert found.decoded.total() >= 340
    assert len(found.decoded) >= 20
    assert found.refusals["HiddenError"] > 0
