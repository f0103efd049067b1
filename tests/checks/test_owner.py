"""The owner check."""

from __future__ import annotations

import pytest

from reviewer_tui.checks.owner import decide
from reviewer_tui.model.finding import Status
from tests.evidence import AMD, NVIDIA, evidence_of, summer


@pytest.mark.parametrize(
    ("path", "signer", "status"),
    [
        (NVIDIA, "ankur-singh", Status.PASS),
        (NVIDIA, "Ankur-Singh", Status.PASS),
        (NVIDIA, "chunfangamd", Status.UNVERIFIED),
        (AMD, "1am9trash", Status.PASS),
        (AMD, "ankur-singh", Status.FAIL),
        ("utils/x.py", "ankur-singh", Status.PASS),
        ("utils/x.py", "stranger", Status.UNVERIFIED),
        (AMD, "github-actions[bot]", Status.FAIL),
        (AMD, "", Status.UNVERIFIED),
    ],
)
def test_who_may_sign_for_a_path(path: str, signer: str, status: Status) -> None:
    decided = decide(evidence_of(summer(), {**summer(), path: "changed: 1\n"}, signer=signer))
    assert decided.status is status


def test_the_worst_path_decides() -> None:
    head = {**summer(), NVIDIA: "a: 1\n", AMD: "b: 1\n"}
    decided = decide(evidence_of(summer(), head, signer="chunfangamd"))
    assert {f.status for f in decided.findings} == {Status.PASS, Status.UNVERIFIED}
    assert decide(evidence_of(summer(), head, signer="ankur-singh")).status is Status.FAIL


def test_owners_are_read_from_the_policy_not_from_the_pull_request() -> None:
    head = {**summer(), AMD: "b: 1\n", ".github/CODEOWNERS": "* @ankur-singh\n"}
    assert decide(evidence_of(summer(), head, signer="ankur-singh")).status is Status.FAIL


def test_missing_owners_are_unverified() -> None:
    policy = summer()
    del policy[".github/CODEOWNERS"]
    decided = decide(evidence_of(summer(), {**summer(), AMD: "b: 1\n"}, policy=policy))
    assert decided.status is Status.UNVERIFIED


def test_no_change_is_not_applicable() -> None:
    assert decide(evidence_of(summer(), summer())).status is Status.NOT_APPLICABLE


def test_a_path_without_any_rule_needs_no_owner() -> None:
    policy = {**summer(), ".github/CODEOWNERS": "configs/amd-master.yaml @chunfangamd\n"}
    decided = decide(evidence_of(summer(), {**summer(), "README": "x"}, policy=policy, signer="stranger"))
    assert decided.status is Status.PASS


def test_a_line_that_is_too_complex_leaves_the_owner_open() -> None:
    policy = {**summer(), ".github/CODEOWNERS": "* @ankur-singh\n**/**/**/amd* @other\n"}
    decided = decide(evidence_of(summer(), {**summer(), AMD: "b: 1\n"}, policy=policy, signer="ankur-singh"))
    assert decided.status is Status.UNVERIFIED
    assert "too complex" in decided.summary
