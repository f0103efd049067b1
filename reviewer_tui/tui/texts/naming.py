"""What things are called on the screens, and small counts."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from reviewer_tui.model.checklist import ChecklistItem
from reviewer_tui.model.finding import CheckResult, Status
from reviewer_tui.policy.items import Pane, checklist_map, checks_of, plain_text
from reviewer_tui.review.session import Review

# How an item is called where its sentence does not fit; other items go by the start of their own text.
SHORT_NAMES = {
    "latest": "latest template",
    "quality": "code quality",
    "validation": "PR validation",
    "evals": "evals",
    "chat_template": "chat template",
    "draft_as_shipped": "draft as shipped",
    "golden_al": "golden AL",
    "deprecated": "MODELS.md",
    "architecture": "architecture",
    "upstream_images": "upstream images",
    "engine_first": "engine first",
    "recipe": "recipe documented",
    "recipe_merged": "linked and MERGED",
    "engine_patch": "no engine patches",
    "append_only": "append-only",
    "exceptions": "exceptions told",
    "pareto": "Pareto counts",
}

LETTER_ORDER = (Status.PASS, Status.FAIL, Status.WARN, Status.JUDGEMENT, Status.UNVERIFIED, Status.NOT_APPLICABLE)

PANE_TITLES: dict[Pane, str] = {
    "checklist": "Checklist",
    "diff": "Config diff",
    "runs": "Runs",
    "evals": "Evals",
    "recipes": "Recipes",
    "conversation": "Talk",
}

# The panes beside the checklist, in the order of their keys.
PANES: tuple[Pane, ...] = ("diff", "runs", "evals", "recipes", "conversation")


def short_name(item: ChecklistItem) -> str:
    """An item in two or three words."""
    return SHORT_NAMES.get(item.name) or " ".join(plain_text(item.text).split()[:3])


def item_summary(review: Review, item: ChecklistItem) -> str:
    """What the checks say to an item, in a few words: the worst first."""
    results = sorted(review.results_for(item), key=lambda r: _gravity(r.status))
    return "; ".join(dict.fromkeys(r.summary for r in results if r.summary)) or "yours to judge"


def _gravity(status: Status) -> int:
    order = (Status.FAIL, Status.UNVERIFIED, Status.JUDGEMENT, Status.WARN, Status.PASS, Status.NOT_APPLICABLE)
    return order.index(status)


class Count(NamedTuple):
    """How many checks have a status, and how many more (of warnings) keep their rule and warn beside it."""

    status: Status
    checks: int
    beside: int = 0

    @property
    def text(self) -> str:
        """`0`, or `0+1`."""
        return f"{self.checks}+{self.beside}" if self.beside else f"{self.checks}"


def counts(review: Review) -> list[Count]:
    """How many checks stand where, in the order of the header."""
    statuses = [result.status for result in review.results]
    beside = {Status.WARN: sum(result.warns_beside for result in review.results)}
    return [Count(status, statuses.count(status), beside.get(status, 0)) for status in LETTER_ORDER]


def age(taken_at: str, now: datetime) -> str:
    """How long ago facts were taken: `12 s ago`, `5 min ago`, `3 h ago`, `2 d ago`, beyond a month the day; the raw
    text if it is no time."""
    try:
        taken = datetime.fromisoformat(taken_at)
    except ValueError:
        return taken_at
    seconds = (now - (taken if taken.tzinfo else taken.replace(tzinfo=now.tzinfo))).total_seconds()
    if seconds < 0:
        return taken_at[:16].replace("T", " ")
    for unit, length, limit in (("s", 1, 90), ("min", 60, 90), ("h", 3_600, 36)):
        if seconds < limit * length:
            return f"{int(seconds // length)} {unit} ago"
    days = int(seconds // 86_400)
    return f"{days} d ago" if days <= 30 else taken_at[:10]


def checks_in(review: Review, pane: Pane) -> list[CheckResult]:
    """The checks whose evidence a pane shows."""
    names = {name for item in checklist_map().items if item.pane == pane for name in item.checks}
    return [result for result in review.results if result.name in names]


def checks_apart(review: Review) -> list[CheckResult]:
    """The checks that speak to no item of the checklist, and count all the same."""
    template = review.policy.template.value
    spoken = {name for item in (template.items if template else ()) for name in checks_of(item.name)}
    return [result for result in review.results if result.name not in spoken]


def many(count: int, what: str) -> str:
    """`1 point`, `3 points`."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
