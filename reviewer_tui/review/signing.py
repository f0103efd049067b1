"""From a review to its sign-off: composed from the template, and judged before anybody else does."""

from __future__ import annotations

from reviewer_tui.model.errors import DataError
from reviewer_tui.model.run import Run
from reviewer_tui.policy.checklist import bundled_templates
from reviewer_tui.policy.items import checks_of
from reviewer_tui.review.session import Review
from reviewer_tui.signoff.compose import ComposedSignOff, compose
from reviewer_tui.signoff.detail import facts
from reviewer_tui.signoff.lint import LintReport, lint

_EVAL_FAMILY = "eval /"


def compose_sign_off(review: Review) -> ComposedSignOff:
    """The sign-off of a review as it stands. Raises DataError where the policy has no template."""
    template = review.policy.template
    if template.value is None:
        raise DataError(f"There is no checklist to sign: {template.reason}", "Choose another --policy-ref.")
    return compose(
        template.value,
        review.results,
        review.notes,
        review.signer,
        links=evidence_links(review),
        checks_of=checks_of,
        changes=review.changes,
    )


def lint_sign_off(review: Review, text: str, author: str | None = None) -> LintReport:
    """A text judged against the template of the review's policy. Raises DataError where there is none."""
    template = review.policy.template
    if template.value is None:
        raise DataError(f"There is no checklist to judge by: {template.reason}", "Choose another --policy-ref.")
    ref = review.snapshot.ref
    return lint(
        text,
        template.value,
        author=author,
        signer=review.signer or None,
        known=bundled_templates(),
        repository=ref.repository,
        host=ref.host,
    )


def note_drafts(review: Review) -> dict[str, str]:
    """What the program offers as a note, by item label: the facts of the item's checks."""
    template = review.policy.template.value
    drafts: dict[str, str] = {}
    for item in template.items if template else ():
        sentences = [fact for result in review.results_for(item) for fact in facts(result)]
        if sentences:
            drafts[item.label] = " ".join(dict.fromkeys(sentences))
    return drafts


def evidence_links(review: Review) -> dict[str, tuple[str, ...]]:
    """URLs by item name: the runs that belong to this head, and the merged upstream pull requests."""
    runs = [run for run in review.snapshot.runs.value or () if _belongs(review, run)]
    merged = [pull.url for pull in review.snapshot.upstream.value or () if pull.state == "merged"]
    links = {
        "validation": tuple(run.url for run in runs),
        "evals": tuple(run.url for run in runs if _evaluates(run)),
        "recipe_merged": tuple(merged),
    }
    return {name: urls for name, urls in links.items() if urls}


def _belongs(review: Review, run: Run) -> bool:
    """Whether a run passed on the reviewed head."""
    return bool(run.url) and run.conclusion == "success" and run.head_sha == review.snapshot.head


def _evaluates(run: Run) -> bool:
    return any(_EVAL_FAMILY in job.name and job.conclusion == "success" for job in run.jobs)
