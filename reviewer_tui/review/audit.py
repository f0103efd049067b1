"""An audit of one revision: the checks that the repository alone can decide, over every config key it has.

Every key is taken as re-enabled at that revision, with nothing else changed: what a check finds is then a fault that
stands there now. Checks about a pull request's runs, conversation, owners or sign-off have nothing to look at.
"""

from __future__ import annotations

import msgspec

from reviewer_tui.checks.check import Evidence
from reviewer_tui.checks.registry import run_checks
from reviewer_tui.model.config import ConfigChanges, KeyChange
from reviewer_tui.model.finding import CheckResult, Verdict, verdict_of
from reviewer_tui.model.part import complete, unavailable
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.model.snapshot import Snapshot, Trees
from reviewer_tui.model.tree import Tree
from reviewer_tui.policy.policy import Policy
from reviewer_tui.sweeps.configs import Configs

AUDITED = frozenset(
    {"image", "deprecated", "architecture", "chat_template", "engine_patch", "golden_al", "draft_as_shipped"}
)
"""The checks that read nothing but the repository."""


class Audit(msgspec.Struct, frozen=True, kw_only=True):
    """What the checks say of a revision. `keys` counts the config keys that were looked at."""

    repository: str
    revision: str
    policy: Policy
    review_date: str
    keys: int
    results: tuple[CheckResult, ...]

    @property
    def verdict(self) -> Verdict:
        return verdict_of(result.status for result in self.results)


def audit(tree: Tree, policy: Policy, repository: str, review_date: str) -> Audit:
    """The audit of a revision by a policy on a day (`YYYY-MM-DD`, UTC)."""
    configs = Configs(tree)
    entries = configs.entries()
    changes = ConfigChanges(
        keys=tuple(KeyChange(key=key, change="added", old=None, new=entry) for key, entry in entries.items()),
        problems=configs.problems,
    )
    audited = msgspec.structs.replace(policy, checks=tuple(check for check in policy.checks if check.name in AUDITED))
    evidence = Evidence(
        snapshot=_snapshot(tree.revision, repository, review_date),
        trees=Trees(policy=tree, base=tree, head=tree, default_branch=tree),
        policy=audited,
        changes=changes,
        review_date=review_date,
    )
    return Audit(
        repository=repository,
        revision=tree.revision,
        policy=audited,
        review_date=review_date,
        keys=len(entries),
        results=run_checks(evidence),
    )


def _snapshot(revision: str, repository: str, review_date: str) -> Snapshot:
    """The facts of a revision: no file changes, and nothing is known of any pull request."""
    unknown = "An audit looks at a revision, not at a pull request."
    return Snapshot(
        ref=PullRequestRef(repository, 0),
        source="clone",
        taken_at=f"{review_date}T00:00:00Z",
        head=revision,
        merge_base=revision,
        default_branch=revision,
        files=complete(()),
        commits=unavailable(unknown),
        info=unavailable(unknown),
        conversation=unavailable(unknown),
        runs=unavailable(unknown),
        evals=unavailable(unknown),
        results=unavailable(unknown),
        upstream=unavailable(unknown),
    )
