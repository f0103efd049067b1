"""The deprecation check."""

from __future__ import annotations

import pytest

from reviewer_tui.checks.deprecated import decide
from reviewer_tui.model.finding import Status
from tests.evidence import AMD, AMD_MASTER, NVIDIA, NVIDIA_MASTER, SCRIPT, evidence_of, summer


def with_key(text: str) -> dict[str, bytes | str]:
    return {**summer(), AMD: AMD_MASTER + text}


def key(prefix: str = "dsr1", isl: int = 8192, precision: str = "fp8") -> str:
    new = AMD_MASTER.replace("dsr1-fp8-mi355x-vllm", f"{prefix}-{precision}-mi355x-vllm-new")
    new = new.replace("model-prefix: dsr1", f"model-prefix: {prefix}").replace("isl: 8192", f"isl: {isl}")
    return new.replace("precision: fp8", f"precision: {precision}")


@pytest.mark.parametrize(
    ("entry", "date", "status"),
    [
        (key(), "2026-08-12", Status.PASS),
        (key(isl=1024), "2026-07-17", Status.FAIL),
        (key("oldmodel"), "2026-08-06", Status.PASS),
        (key("oldmodel"), "2026-08-07", Status.FAIL),
        (key("unheard-of"), "2026-08-12", Status.JUDGEMENT),
    ],
)
def test_the_review_date_decides(entry: str, date: str, status: Status) -> None:
    decided = decide(evidence_of(summer(), with_key(entry), review_date=date))
    assert decided.status is status, decided.summary


def test_an_end_that_is_near_is_named_with_the_days_left() -> None:
    assert "3 days left" in decide(evidence_of(summer(), with_key(key("oldmodel")), review_date="2026-08-03")).summary
    assert "last day" in decide(evidence_of(summer(), with_key(key("oldmodel")), review_date="2026-08-06")).summary


def test_findings_name_both_places() -> None:
    finding = decide(evidence_of(summer(), with_key(key("oldmodel")), review_date="2026-08-07")).findings[0]
    assert (finding.path, finding.commit) == (AMD, "a" * 40)
    assert finding.line
    assert finding.url
    assert "MODELS.md#L" in finding.url


def test_removing_or_keeping_keys_is_no_submission() -> None:
    assert decide(evidence_of(summer(), {**summer(), AMD: ""})).status is Status.NOT_APPLICABLE
    assert decide(evidence_of(summer(), summer())).status is Status.NOT_APPLICABLE


def test_the_models_file_of_the_pull_request_does_not_count() -> None:
    head = {**with_key(key("oldmodel")), "MODELS.md": "# Models\n"}
    assert decide(evidence_of(summer(), head, review_date="2026-08-07")).status is Status.FAIL


def test_without_a_models_file_nothing_is_verified() -> None:
    policy = summer()
    del policy["MODELS.md"]
    assert decide(evidence_of(summer(), with_key(key()), policy=policy)).status is Status.UNVERIFIED


def test_an_unchanged_entry_whose_files_change_is_judged_not_failed() -> None:
    old = {**summer(), NVIDIA: NVIDIA_MASTER.replace("isl: 8192", "isl: 1024")}
    head = {**old, SCRIPT: f"{old[SCRIPT]!s}# more\necho more\n"}
    decided = decide(evidence_of(old, head, review_date="2026-08-12"))
    assert decided.status is Status.JUDGEMENT
