"""A review: a snapshot, its findings, and the reviewer's ticks and notes."""

from __future__ import annotations

import msgspec

from reviewer_tui.checks.check import Evidence
from reviewer_tui.model.checklist import ChecklistItem, Decision, ItemMark, ReviewNotes
from reviewer_tui.model.config import ConfigChanges
from reviewer_tui.model.finding import CheckResult, Status, Verdict, verdict_of, worst
from reviewer_tui.model.snapshot import Snapshot, Trees
from reviewer_tui.policy.items import checks_of
from reviewer_tui.policy.policy import Policy
from reviewer_tui.signoff.parse import parse_sign_off


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a face shows. `review_date` is `YYYY-MM-DD`, UTC; `signer` is a login without `@`, or empty;
    `sign_off` is the text that was judged, where there is one."""

    snapshot: Snapshot
    trees: Trees
    policy: Policy
    changes: ConfigChanges
    results: tuple[CheckResult, ...]
    review_date: str
    signer: str = ""
    notes: ReviewNotes = ReviewNotes()
    sign_off: str | None = None

    @property
    def verdict(self) -> Verdict:
        """The predicted verdict; at best undecided on a head that need not be the pull request's."""
        doubts = [Status.UNVERIFIED] if self.snapshot.head_doubt else []
        return verdict_of([*(result.status for result in self.results), *doubts])

    def result(self, name: str) -> CheckResult | None:
        """The result of a check by name."""
        return next((result for result in self.results if result.name == name), None)

    def results_for(self, item: ChecklistItem) -> tuple[CheckResult, ...]:
        """The checks that speak to an item of the checklist, each with what it says to this item."""
        names, template = checks_of(item.name), self.policy.template.value
        others = {other.name for other in template.items} if template else set[str]()
        told = (result.about(item.name, others) for result in self.results if result.name in names)
        return tuple(result for result in told if result is not None)

    def item_status(self, item: ChecklistItem) -> Status:
        """An item stands as the worst of its checks; one without any check is the reviewer's judgement."""
        return worst((result.status for result in self.results_for(item)), empty=Status.JUDGEMENT)

    def item_warns_beside(self, item: ChecklistItem) -> bool:
        """Whether an item stands well although one of its checks warns of something beside its rule."""
        stands = self.item_status(item) in (Status.PASS, Status.NOT_APPLICABLE)
        return stands and any(result.warns_beside for result in self.results_for(item))

    def marked(self, label: str, decision: Decision, note: str | None = None) -> Review:
        """The review with one item decided; the note is kept where none is given."""
        mark = ItemMark(decision, self.notes.mark(label).note if note is None else note)
        return self.with_notes(msgspec.structs.replace(self.notes, marks={**self.notes.marks, label: mark}))

    def with_notes(self, notes: ReviewNotes) -> Review:
        return msgspec.structs.replace(self, notes=notes)


def evidence_of(review: Review) -> Evidence:
    """What the checks of a review look at."""
    text = review.sign_off
    return Evidence(
        snapshot=review.snapshot,
        trees=review.trees,
        policy=review.policy,
        changes=review.changes,
        review_date=review.review_date,
        signer=review.signer,
        sign_off=None if text is None else parse_sign_off(text),
        sign_off_text=text,
    )
