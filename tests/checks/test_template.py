"""The template check."""

from __future__ import annotations

import msgspec
import pytest
from msgspec import structs

from reviewer_tui.checks.check import Outcome
from reviewer_tui.checks.template import decide
from reviewer_tui.model.finding import CheckResult, Status
from reviewer_tui.model.part import complete
from tests.evidence import evidence_of, summer

LINK = " [Link](https://github.com/SemiAnalysisAI/InferenceX/actions/runs/1)"
LATEST = (
    "Verified that as of the moment of typing this, this is the latest version of [PR_REVIEW_CHECKLIST.md](https://x/c)"
)
VALIDATION = (
    f"Verified that this PR has passed PR validation. Please link to GitHub Action workflow that shows this.{LINK}"
)
EVALS = f"Verified that this PR passes evals.  Please link to GitHub Action workflow that shows this.{LINK}"
REASONS = "If any of the above criteria cannot reasonably be satisfied, I have provided additional reasoning below."


def judged(*items: str) -> Outcome:
    """What the check says to a sign-off with these items, all ticked."""
    boxes = "\n".join(f"- [x] {item}" for item in items)
    text = (
        f"As a PR reviewer and CODEOWNER, I have reviewed this and have:\n{boxes}\n\n"
        "### Additional detail section:\n- all fine\n\nSigned: `ankur-singh`\n"
    )
    return decide(evidence_of(summer(), {**summer(), "docs/x.md": "x"}, sign_off=text))


def test_all_items_pass() -> None:
    outcome = judged(LATEST, VALIDATION, EVALS, REASONS)
    assert outcome.status is Status.PASS, outcome.summary


def test_a_second_copy_of_an_item_answers_no_other_one() -> None:
    outcome = judged(LATEST, EVALS, EVALS, REASONS)
    assert outcome.status is Status.FAIL
    assert any("Item 2 of the template is missing" in finding.message for finding in outcome.findings)
    altered = judged(LATEST, EVALS.replace("Please", "Kindly"), EVALS, REASONS)
    assert altered.status in (Status.FAIL, Status.JUDGEMENT), altered.summary


@pytest.mark.parametrize(
    "item", [f"~~{EVALS}~~", f"<del>{EVALS}</del>", EVALS.replace("passes evals", "~~passes evals~~")]
)
def test_an_item_that_is_struck_out_is_the_reviewer_s(item: str) -> None:
    outcome = judged(LATEST, VALIDATION, item, REASONS)
    assert outcome.status is Status.JUDGEMENT, outcome.summary
    assert "struck out" in outcome.summary


def test_a_missing_item_fails_and_without_a_sign_off_nothing_is_verified() -> None:
    assert judged(LATEST, VALIDATION, REASONS).status is Status.FAIL
    assert decide(evidence_of(summer(), summer())).status is Status.UNVERIFIED


def test_an_empty_conversation_has_no_sign_off_and_an_unread_one_none_that_is_known() -> None:
    unread = evidence_of(summer(), summer())
    assert decide(unread).summary.startswith("Whether there is a sign-off is not known; ")
    assert unread.snapshot.conversation.reason in decide(unread).summary
    snapshot = msgspec.structs.replace(unread.snapshot, conversation=complete(()))
    assert decide(msgspec.structs.replace(unread, snapshot=snapshot)).summary.startswith("There is no sign-off yet; ")


def test_open_boxes_speak_to_the_item_about_exceptions_alone() -> None:
    closed = judged(LATEST, VALIDATION, EVALS, REASONS)
    assert [(one.item, one.message) for one in closed.findings][1:] == [("exceptions", "No box is open.")]
    text = (
        f"As a PR reviewer and CODEOWNER, I have reviewed this and have:\n- [x] {LATEST}\n- [ ] {VALIDATION}\n"
        f"- [x] {EVALS}\n- [x] {REASONS}\n\n### Additional detail section:\n- fine\n\nSigned: `ankur-singh`\n"
    )
    opened = decide(evidence_of(summer(), {**summer(), "docs/x.md": "x"}, sign_off=text))
    result = CheckResult(name="template", number=5, title="", **structs.asdict(opened))
    latest, exceptions = (result.about(name, {"latest", "exceptions"}) for name in ("latest", "exceptions"))
    assert latest is not None
    assert exceptions is not None
    assert (latest.status, latest.summary) == (
        Status.PASS,
        "4 of 4 items of the current template are in the sign-off.",
    )
    assert exceptions.status is Status.FAIL
    assert exceptions.summary == "Item 2 is open and the detail section gives no reason."
    # A checklist without an item about exceptions has it at the other one.
    assert result.about("latest", {"latest"}) == result
    assert result.about("evals", {"latest", "exceptions", "evals"}) is None
    explained = decide(
        evidence_of(
            summer(),
            {**summer(), "docs/x.md": "x"},
            sign_off=text.replace("- fine", "- Item 2 (PR validation) is left open: not applicable: nothing runs."),
        )
    )
    assert explained.status is Status.PASS
    assert explained.findings[-1].message == "1 of the boxes is open, with a reason."
