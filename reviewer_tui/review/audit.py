"""An audit of one revision: the checks that the repository alone can decide, over every config key it has.

Every key is taken as added at that revision: what a check finds is then a fault that stands there now. Checks about a
pull request's runs, conversation, owners or sign-off have nothing to look at, nor has one that compares with before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from reviewer_tui.checks.check import Evidence
from reviewer_tui.checks.registry import run_checks
from reviewer_tui.checks.serving import served
from reviewer_tui.model.config import ConfigChanges, KeyChange
from reviewer_tui.model.finding import CheckResult, Status, Verdict, verdict_of, worst
from reviewer_tui.model.part import complete, unavailable
from reviewer_tui.model.pull_request import ChangedFile, PullRequestRef
from reviewer_tui.model.snapshot import Snapshot, Trees
from reviewer_tui.model.tree import DictTree, Tree
from reviewer_tui.policy.policy import Policy
from reviewer_tui.sweeps.configs import Configs

AUDITED = frozenset(
    {"image", "deprecated", "architecture", "chat_template", "engine_patch", "golden_al", "draft_as_shipped"}
)
"""The checks that read nothing but the repository."""

# These tell what is new from what was there before, and weigh the waivers of one change: each key is a change of its
# own to them, with the files that serve it.
_BY_KEY = frozenset({"architecture", "engine_patch"})


class Audit(msgspec.Struct, frozen=True, kw_only=True):
    """What the checks say of a revision. `keys` counts the config keys that were looked at; `left_out` names the
    policy's checks that were not run, for they are about pull requests."""

    repository: str
    revision: str
    policy: Policy
    review_date: str
    keys: int
    results: tuple[CheckResult, ...]
    left_out: tuple[str, ...] = ()

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
    audited = _only(policy, AUDITED)
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
        results=tuple(_results(evidence)),
        left_out=tuple(check.name for check in policy.checks if check.name not in AUDITED),
    )


def _only(policy: Policy, names: frozenset[str]) -> Policy:
    return msgspec.structs.replace(policy, checks=tuple(check for check in policy.checks if check.name in names))


def _results(evidence: Evidence) -> Iterator[CheckResult]:
    """The results in the policy's order."""
    at_once = msgspec.structs.replace(evidence, policy=_only(evidence.policy, AUDITED - _BY_KEY))
    results = {result.name: result for result in run_checks(at_once)}
    by_key: dict[str, list[CheckResult]] = {}
    for key in _keys_as_added(evidence):
        for result in run_checks(key):
            by_key.setdefault(result.name, []).append(result)
    results |= {name: together(found) for name, found in by_key.items()}
    yield from (results[check.name] for check in evidence.policy.checks if check.name in results)


def _keys_as_added(evidence: Evidence) -> Iterator[Evidence]:
    """The evidence of each key as if a pull request to an empty repository added it with what serves it."""
    policy = _only(evidence.policy, _BY_KEY)
    head = evidence.trees.head
    trees = msgspec.structs.replace(evidence.trees, base=DictTree({}, head.revision))
    for item in served(evidence):
        files = tuple(ChangedFile(path=path, status="added", new_blob=head.blob(path)) for path in item.own)
        yield msgspec.structs.replace(
            evidence,
            snapshot=msgspec.structs.replace(evidence.snapshot, files=complete(files)),
            trees=trees,
            policy=policy,
            changes=ConfigChanges(keys=(item.change,)),
        )


def together(results: Sequence[CheckResult]) -> CheckResult:
    """One check's results of several keys (at least one): the worst status, and what they say alike once."""
    findings = tuple(dict.fromkeys(finding for result in results for finding in result.findings))
    status = worst((result.status for result in results), empty=Status.NOT_APPLICABLE)
    first = next((result for result in results if result.status is status), results[0])
    return msgspec.structs.replace(first, status=status, findings=findings, pre_existing=())


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
