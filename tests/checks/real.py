"""Real pull requests out of a clone, as evidence for one check."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from reviewer_tui.checks.check import Evidence, Outcome
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.policy.policy import load_policy
from reviewer_tui.sources.clone import CloneSource
from reviewer_tui.sweeps.diff import config_changes


def real_outcome(decide: Callable[[Evidence], Outcome], clone: Path, number: int, head: str | None = None) -> Outcome:
    """What a check decides about a pull request of the real repository by its newest policy."""
    with CloneSource(clone) as source:
        loaded = source.load(PullRequestRef("SemiAnalysisAI/InferenceX", number), head=head)
        return decide(
            Evidence(
                snapshot=loaded.snapshot,
                trees=loaded.trees,
                policy=load_policy(loaded.trees.policy),
                changes=config_changes(loaded.trees.base, loaded.trees.head),
                review_date="2026-08-22",
            )
        )
