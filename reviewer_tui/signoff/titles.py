"""Short titles of checklist items and checks, as people say them."""

from __future__ import annotations

from reviewer_tui.model.checklist import ChecklistItem
from reviewer_tui.policy.items import plain_text

_ITEMS = {
    "latest": "latest template",
    "quality": "code quality",
    "validation": "PR validation",
    "golden_al": "golden AL",
    "deprecated": "MODELS.md",
    "upstream_images": "upstream images",
    "recipe": "recipe documented",
    "recipe_merged": "recipe linked and MERGED",
    "engine_patch": "no engine patches",
    "append_only": "append-only",
    "exceptions": "exceptions explained",
    "pareto": "Pareto",
}

_CHECKS = {
    "sweep": "Validation",
    "deprecated": "Deprecation",
    "image": "Images",
    "engine_patch": "Engine patches",
    "golden_al": "Golden AL",
    "append_only": "Append-only",
}

_WORDS_OF_UNKNOWN = 6


def item_title(item: ChecklistItem) -> str:
    """A few words for an item; of one this program does not know, its own first words."""
    if item.known:
        return _ITEMS.get(item.name, item.name.replace("_", " "))
    words = plain_text(item.text).replace("*", "").replace("`", "").split()
    return " ".join(words[:_WORDS_OF_UNKNOWN]) + (" ..." if len(words) > _WORDS_OF_UNKNOWN else "")


def check_title(name: str, title: str = "") -> str:
    """A word or two for a check; of one this program does not know, the policy's title."""
    if name.startswith("check-") and title:
        return title
    return _CHECKS.get(name, name.replace("_", " ").capitalize())
