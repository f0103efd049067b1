"""Real verdicts as facts: what the verifier said of real sign-offs, against what this program says of the same heads.

Reads a full clone (REVIEWER_TUI_CLONE) and `../shared/cases/verdicts.jsonl` (or REVIEWER_TUI_CASES). What a clone
cannot know must come out unverified; a check that the verifier failed may never pass here, one that it passed may not
fail.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from reviewer_tui.model.checklist import ChecklistTemplate, Decision, ItemMark, ReviewNotes
from reviewer_tui.model.errors import DataError
from reviewer_tui.model.finding import Status
from reviewer_tui.model.part import complete
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.model.refs import DEFAULT_REPOSITORY
from reviewer_tui.policy.checklist import bundled_templates
from reviewer_tui.review.load import Reviewer, ReviewRequest
from reviewer_tui.review.session import Review
from reviewer_tui.review.signing import compose_sign_off
from reviewer_tui.sources.clone import CloneSource

CASES = Path(os.environ.get("REVIEWER_TUI_CASES") or Path(__file__).parents[3] / "shared" / "cases" / "verdicts.jsonl")
BOT = "github-actions[bot]"
# The cases' words for items of the checklist.
ITEMS = {
    "recipe-similar": "recipe",
    "recipe-merged": "recipe_merged",
    "no-engine-patch": "engine_patch",
    "models-deprecated": "deprecated",
    "spec-decode chat template": "chat_template",
    "golden-AL": "golden_al",
}


def cases() -> list[dict[str, Any]]:
    return [msgspec.json.decode(line) for line in CASES.read_bytes().splitlines()] if CASES.exists() else []


@pytest.fixture(scope="module")
def source(real_clone: Path) -> Iterator[CloneSource]:
    with CloneSource(real_clone) as opened:
        yield opened


@pytest.fixture(scope="module")
def reviewer(source: CloneSource) -> Reviewer:
    return Reviewer(source)


def policy_of_the_day(clone: Path, day: str) -> str:
    command = ["git", "-C", str(clone), "rev-list", "-1", "--first-parent", f"--before={day}T23:59:59Z", "main"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def an_owner(review: Review) -> str:
    """A login that owns every specifically owned path of the pull request."""
    owners = review.policy.owners.value
    assert owners is not None
    common: set[str] | None = None
    for file in review.snapshot.files.value or ():
        for path in file.paths:
            rule = owners.rule_of(path)
            if rule and not rule.is_catch_all:
                users = {user.lower() for user in rule.users}
                common = users if common is None else common & users
    return min(common) if common else owners.users[0]


def older(template: ChecklistTemplate) -> ChecklistTemplate:
    """The newest known template with fewer items: what a stale copy looks like."""
    return [known for known in bundled_templates() if len(known.items) < len(template.items)][-1]


def sign_off_of(case: dict[str, Any], review: Review, signer: str) -> str | None:
    """The sign-off that the case tells of, written on the template of the day (or an older one, where it was stale)."""
    template = review.policy.template.value
    if template is None:
        return None
    told = case.get("sign_off") or {}
    template = older(template) if "stale" in case["why"].get("template", "") else template
    left_open = {ITEMS.get(name, name) for name in told.get("unchecked_items", [])}
    marks = {
        item.label: ItemMark(Decision.OPEN if item.name in left_open else Decision.ACCEPTED) for item in template.items
    }
    detail = ["- Notes of the signer."]
    detail += [f"- Recipe: {url}" for url in told.get("recipe_links", [])]
    detail += [
        f"- Item {i.label} ({i.name}) is left open, as explained." for i in template.items if i.name in left_open
    ]
    notes = ReviewNotes(marks=marks, detail="\n".join(detail))
    policy = msgspec.structs.replace(review.policy, template=complete(template))
    author = "octocat" if signer == BOT else signer
    return compose_sign_off(msgspec.structs.replace(review, policy=policy, notes=notes, signer=author)).text


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case['pr']}-{case['date']}")
def test_no_false_pass_and_no_false_fail(case: dict[str, Any], reviewer: Reviewer, real_clone: Path) -> None:
    ref = PullRequestRef(DEFAULT_REPOSITORY, case["pr"])
    request = ReviewRequest(
        review_date=case["date"], policy_ref=policy_of_the_day(real_clone, case["date"]), head=case["head"]
    )
    try:
        review = reviewer.review(ref, request)
    except DataError:
        request = msgspec.structs.replace(request, head=None)
        try:
            review = reviewer.review(ref, request)
        except DataError as absent:
            pytest.skip(str(absent))
    signer = BOT if case["signer"] == "bot" else an_owner(review)
    sign_off = sign_off_of(case, review, signer)
    review = reviewer.review(ref, msgspec.structs.replace(request, signer=signer, sign_off=sign_off))
    for name, label in case["checks"].items():
        result = review.result(name)
        assert result is not None, name
        if label == "fail":
            assert result.status is not Status.PASS, f"false pass of {name}: {result.summary}"
        else:
            assert result.status is not Status.FAIL, f"false fail of {name}: {result.summary}"
