"""What holds of every check."""

from __future__ import annotations

import pytest

from reviewer_tui.checks.registry import run_checks
from reviewer_tui.model.finding import Status
from tests.evidence import NVIDIA, evidence_of, summer


@pytest.mark.parametrize("content", ["a: *nowhere\n", "a: 1\n---\nb: 2\n", "\0", "[1, 2", None])
def test_a_master_config_that_cannot_be_read_is_never_not_applicable(content: str | None) -> None:
    head = {**summer(), NVIDIA: content} if content is not None else {p: c for p, c in summer().items() if p != NVIDIA}
    results = {result.name: result.status for result in run_checks(evidence_of(summer(), head))}
    assert results["image"] is Status.UNVERIFIED
    assert results["deprecated"] is Status.UNVERIFIED
