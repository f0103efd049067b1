"""Everything that is found out about the recipes of a pull request, before it is judged: for the check and the pane."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from reviewer_tui.checks.check import Evidence
from reviewer_tui.checks.recipe_comparison import Standing, standing_of
from reviewer_tui.checks.recipe_links import JudgedLink, Pages, checklist_text, judged_links, main_trees, verifier_text
from reviewer_tui.checks.recipe_variants import Arms, arms_of
from reviewer_tui.checks.scope import submitted
from reviewer_tui.model.config import KeyChange
from reviewer_tui.model.errors import DataError
from reviewer_tui.model.finding import Status
from reviewer_tui.policy.policy import Policy
from reviewer_tui.recipes.arguments import engine_of
from reviewer_tui.recipes.compare import Comparison, PolicyName, Scope, compare, policy_of, scope_of
from reviewer_tui.recipes.submitted import Variant

if TYPE_CHECKING:
    from reviewer_tui.recipes.find import Proposal, PullRequestProposal

MOST_KEYS = 100
"""Keys whose serve commands are worked out; what is beyond is said to be left out."""

_NOT_APPLICABLE = re.compile(r"`N/A\s+[—–-]\s+([^`]{10,300})`")
_SINGLE_NODE = "the recipe-link requirement applies to single-node recipes only"


class Demands(msgspec.Struct, frozen=True, kw_only=True):
    """What the policy of a revision wants documented: of which nodes, which arguments, and its words for what it does
    not want."""

    scope: Scope
    policy: PolicyName
    exempt: str

    @property
    def roles_apart(self) -> bool:
        """Whether routers in front of the workers count too, and only vLLM and SGLang at all."""
        return self.policy == "autumn"


class Scoped(msgspec.Struct, frozen=True, kw_only=True):
    """A submitted key and whether it needs a recipe: PASS that it does, NOT_APPLICABLE or JUDGEMENT with the reason."""

    change: KeyChange
    status: Status
    reason: str = ""

    @property
    def applies(self) -> bool:
        return self.status is Status.PASS


class Examination(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about the recipes of a pull request.

    `links` is None without a sign-off. `standings` are the submitted arms held against the linked pages, `unchanged`
    those that were there before (for information); both are empty where no linked page could be read. `proposals` are
    published pages about the arms that no linked page is about, `pulls` pull requests that change such pages; `sought`
    says why pages could not be looked for. `doubts` say what of the linked pages could not be read; `left_out` counts
    the keys beyond the most that are compared.
    """

    demands: Demands
    keys: tuple[Scoped, ...] = ()
    links: tuple[JudgedLink, ...] | None = None
    arms: tuple[Arms, ...] = ()
    pages: Pages = Pages()
    standings: tuple[Standing, ...] = ()
    unchanged: tuple[Standing, ...] = ()
    disagreements: tuple[str, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    pulls: tuple[PullRequestProposal, ...] = ()
    sought: str = ""
    doubts: tuple[str, ...] = ()
    left_out: int = 0

    @property
    def accepted(self) -> tuple[JudgedLink, ...]:
        return tuple(link for link in self.links or () if link.accepted)

    @property
    def submitted(self) -> tuple[Variant, ...]:
        return tuple(variant for arms in self.arms for variant in arms.submitted)


def demands_of(policy: Policy) -> Demands:
    """What the policy wants, read from the verifier's own text, or where that cannot be read from the checklist's."""
    text, item = verifier_text(policy), checklist_text(policy)
    worded = _NOT_APPLICABLE.search(text)
    single_node = "single-node" in item.lower() and not text
    return Demands(
        scope="single_node" if single_node else scope_of(text),
        policy=policy_of(text or item),
        exempt=" ".join(worded[1].split()) if worded else _SINGLE_NODE,
    )


def scoped(evidence: Evidence, demands: Demands) -> tuple[Scoped, ...]:
    """Every submitted key with whether it needs a recipe."""
    return tuple(scoped_change(change, demands) for change in submitted(evidence))


def scoped_change(change: KeyChange, demands: Demands) -> Scoped:
    """Whether one submitted key needs a recipe."""
    entry = change.new
    assert entry is not None
    spread = (
        entry.multinode or entry.disagg or entry.framework.startswith("dynamo-") or entry.framework.endswith("-disagg")
    )
    if spread and demands.scope == "single_node":
        return Scoped(change=change, status=Status.NOT_APPLICABLE, reason=demands.exempt)
    if engine_of(entry.framework) is not None:
        return Scoped(change=change, status=Status.PASS)
    if demands.roles_apart:
        reason = f"it serves with {entry.framework}, and only vLLM and SGLang configurations need a recipe"
        return Scoped(change=change, status=Status.NOT_APPLICABLE, reason=reason)
    reason = (
        f"it serves with {entry.framework}, which no upstream recipe site documents; the checklist asks for recipes of "
        "vLLM and SGLang only, the verifier's check does not say so"
    )
    return Scoped(change=change, status=Status.JUDGEMENT, reason=reason)


def examine(evidence: Evidence, *, commands: bool = False) -> Examination:
    """Find everything out. `commands` also works out the serve commands where there is nothing to hold them against."""
    demands = demands_of(evidence.policy)
    found = Examination(demands=demands, keys=scoped(evidence, demands))
    wanted = [key.change for key in found.keys if key.applies]
    if not wanted:
        return found
    found = msgspec.structs.replace(found, links=judged_links(evidence))
    if evidence.trees.upstream or commands:
        arms = (arms_of(evidence, change, routers=demands.roles_apart) for change in wanted[:MOST_KEYS])
        found = msgspec.structs.replace(
            found,
            arms=tuple(one for one in arms if one is not None),
            left_out=max(len(wanted) - MOST_KEYS, 0),
        )
        found = _compared(evidence, found)
    return _proposed(evidence, found)


def _compared(evidence: Evidence, found: Examination) -> Examination:
    """With the arms held against the pages that the accepted links stand for."""
    # Reading pages costs 40 ms to import, which only a review that has pages at hand should pay.
    from reviewer_tui.checks.recipe_pages import linked_pages, problems_of

    unchanged = tuple(variant for arms in found.arms for variant in arms.unchanged)
    pages = linked_pages(evidence, found.accepted, (*found.submitted, *unchanged))
    doubts = (*pages.absent, *map(str, problems_of(pages.pages)))
    found = msgspec.structs.replace(found, pages=pages, doubts=doubts)
    if not pages.pages:
        return found
    mine = compared(found.submitted, pages, found.demands.policy, evidence.snapshot.ref.number)
    others = compared(unchanged, pages, found.demands.policy, evidence.snapshot.ref.number)
    return msgspec.structs.replace(
        found,
        standings=_standings(mine, doubts),
        unchanged=_standings(others, doubts),
        disagreements=mine.disagreements,
    )


def compared(variants: Sequence[Variant], pages: Pages, policy: PolicyName, pull_request: int) -> Comparison:
    """Variants against the arms of pages."""
    readings = [page.reading for page in pages.pages]
    return compare(
        variants,
        [arm for reading in readings for arm in reading.arms],
        policy,
        pull_request,
        [width for reading in readings for width in reading.stated],
    )


def _standings(comparison: Comparison, doubts: Sequence[str]) -> tuple[Standing, ...]:
    return tuple(standing_of(result, doubts) for result in comparison.variants)


def _proposed(evidence: Evidence, found: Examination) -> Examination:
    """With pages to link for the arms that no linked page is about."""
    from reviewer_tui.recipes.find import find, find_pull_requests

    lost = {one.variant.title for one in found.standings if one.arm is None}
    variants = [variant for variant in found.submitted if not found.standings or variant.title in lost]
    if not variants or not (main_trees(evidence) or evidence.snapshot.upstream.value):
        return found
    linked = {(link.link.repository, link.link.number) for link in found.links or ()}
    pulls = tuple(
        pull
        for pull in find_pull_requests(variants, evidence.snapshot.upstream.value or ())
        if (pull.upstream.repository, pull.upstream.number) not in linked
    )
    try:
        proposals = find(variants, main_trees(evidence), found.demands.policy, evidence.snapshot.ref.number)
    except DataError as error:
        return msgspec.structs.replace(found, pulls=pulls, sought=str(error))
    return msgspec.structs.replace(found, proposals=proposals, pulls=pulls)
