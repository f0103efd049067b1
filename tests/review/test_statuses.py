"""Commit statuses as both faces show them: the verifier's own as such, and why it need not be the verifier's."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from reviewer_tui.cli.panes import runs
from reviewer_tui.model.part import complete, partial, unavailable
from reviewer_tui.model.run import CommitStatus
from reviewer_tui.model.tree import DictTree
from reviewer_tui.policy.layout import WORKFLOW_PATH
from reviewer_tui.policy.verifier import verdict_contexts
from reviewer_tui.review.session import Review
from reviewer_tui.review.statuses import status_views
from reviewer_tui.tui.texts.panes import pane_facts
from tests.fake_github.merged import VERIFY_WORKFLOW
from tests.tui.reviews import make_review

CONTEXT = "codeowner-signoff-verify"
USUAL = CommitStatus(
    id=1, context=CONTEXT, state="success", creator="github-actions[bot]", creator_is_bot=True, description="PASS"
)


def review_with(*statuses: CommitStatus, workflow: str = VERIFY_WORKFLOW, **parts: Any) -> Review:
    review = make_review()
    trees = msgspec.structs.replace(review.trees, policy=DictTree({WORKFLOW_PATH: workflow}, "f" * 40))
    snapshot = msgspec.structs.replace(review.snapshot, **{"statuses": complete(statuses), **parts})
    return msgspec.structs.replace(review, trees=trees, snapshot=snapshot)


def texts(review: Review) -> tuple[str, str]:
    """The pane of the terminal's text, and of the workstation."""
    return " ".join("\n".join(runs(review, 400)).split()), " ".join(
        " ".join(row.text for row in pane_facts(review, "runs").lines).split()
    )


def test_the_verifiers_own_status_comes_first_and_is_called_so() -> None:
    review = review_with(msgspec.structs.replace(USUAL, context="a build", id=2), USUAL)
    assert [(view.verifier, view.status.context) for view in status_views(review)] == [
        (True, CONTEXT),
        (False, "a build"),
    ]
    for text in texts(review):
        assert "the verifier's verdict codeowner-signoff-verify: success PASS" in text
        assert "status a build: success" in text
        assert "set by @github-actions[bot]" in text


@pytest.mark.parametrize(
    ("changed", "doubt"),
    [
        ({"creator": "mallory", "creator_is_bot": False}, "A person set it, not the verifier's workflow"),
        ({"creator": "", "creator_is_bot": False}, "Who set it is not told"),
    ],
)
def test_anybody_who_may_push_can_set_it(changed: dict[str, Any], doubt: str) -> None:
    for text in texts(review_with(msgspec.structs.replace(USUAL, **changed))):
        assert doubt in text


def test_a_context_that_the_policy_does_not_set_is_no_verdict() -> None:
    """The verdict became advisory; statuses of that name may still stand on older commits."""
    review = review_with(USUAL, workflow=VERIFY_WORKFLOW.replace("'codeowner-signoff-verify'", "name"))
    (view,) = status_views(review)
    assert (view.verifier, view.title) == (False, "status codeowner-signoff-verify: success")


def test_statuses_that_are_not_known_are_said() -> None:
    for part in (unavailable("They are hidden."), partial((USUAL,), "They are hidden.")):
        for text in texts(review_with(statuses=part)):
            assert "They are hidden." in text
    for text in texts(review_with(statuses=unavailable("No."), runs=unavailable("A clone holds no runs."))):
        assert "A clone holds no runs." in text
        assert "Commit statuses" not in text


def test_no_contexts_without_the_workflow() -> None:
    assert verdict_contexts(DictTree({}, "f" * 40)) == frozenset()
    assert verdict_contexts(DictTree({WORKFLOW_PATH: VERIFY_WORKFLOW}, "f" * 40)) == {CONTEXT}
