"""The deprecation check."""

from __future__ import annotations

import pytest

from reviewer_tui.checks.check import Outcome
from reviewer_tui.checks.deprecated import decide
from reviewer_tui.model.finding import Status
from tests.checks.speculative import AGENTIC, single, vllm
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


SHORT = """\
    fixed-seq-len:
    - isl: LENGTH
      osl: 1024
      search-space:
      - { tp: 8, conc-start: 4, conc-end: 64 }
"""


@pytest.mark.parametrize(
    ("length", "status"), [('"1024"', Status.FAIL), ("1024.0", Status.FAIL), ("1k", Status.UNVERIFIED)]
)
def test_lengths_count_in_every_spelling_that_is_valid(length: str, status: Status) -> None:
    entry = key().replace("    fixed-seq-len:\n", SHORT.replace("LENGTH", length))
    outcome = decide(evidence_of(summer(), with_key(entry), review_date="2026-08-12"))
    assert outcome.status is status, outcome.summary


@pytest.mark.parametrize(("isl", "osl"), [(9000, 1100), (8193, 1024), (8192, 2000)])
def test_other_lengths_are_no_scenario_of_the_table(isl: int, osl: int) -> None:
    entry = key(isl=isl).replace("osl: 1024", f"osl: {osl}")
    outcome = decide(evidence_of(summer(), with_key(entry), review_date="2026-08-12"))
    assert outcome.status is Status.JUDGEMENT, outcome.summary


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


# -- speculative arms -----------------------------------------------------------------------------------------------

DSPARK_ONLY = """\
| Kimi K3 | `kimik3` | 2026-07-27 | Agentic coding (DSpark only) \
| Agentic coding non-DSpark arm (deprecated from day 0) |
"""
KIMI = f"{AGENTIC}/kimik3_fp4_b200_vllm_mtp.sh"
BRANCH = 'if [ "$CONC" -gt 8 ]; then K=0; else K=7; fi'
DRAFTS = '{"method": "METHOD", "num_speculative_tokens": $K}'


def of_kimi(method: str, before: str = BRANCH, *, spec: str = "mtp", script: str = KIMI) -> Outcome:
    """A Kimi K3 entry (concurrencies 4 and 32) under a models file that retires its arm without DSpark."""
    base = {**summer(), NVIDIA: "{}\n", "MODELS.md": f"{summer()['MODELS.md']!s}{DSPARK_ONLY}"}
    entry = {NVIDIA: single("vllm", "kimik3", spec=spec)}
    return decide(evidence_of(base, {**base, **entry, script: vllm(DRAFTS.replace("METHOD", method), before)}))


def test_the_method_that_a_point_runs_decides_about_its_arm() -> None:
    assert of_kimi("dspark", "K=7").status is Status.PASS
    assert of_kimi("mtp", "K=7").status is Status.JUDGEMENT  # another draft: neither the retired arm nor the kept one


def test_points_that_draft_nothing_are_the_arm_without_speculation_whatever_the_config_calls_them() -> None:
    decided = of_kimi("dspark")  # pull request 2810
    failed = [finding for finding in decided.findings if finding.status is Status.FAIL]
    assert len(failed) == 1
    assert "no speculation; agentic tp8 mtp c32" in failed[0].message
    assert [finding.status for finding in decided.findings if finding not in failed] == [Status.PASS]


def test_where_the_launch_cannot_be_read_the_config_has_the_word() -> None:
    assert of_kimi("dspark", script="elsewhere.sh").status is Status.JUDGEMENT
    assert of_kimi("dspark", spec="none", script="elsewhere.sh").status is Status.FAIL
