"""Everything that is found out about the recipes of a pull request, before it is judged: for the check and the pane."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from reviewer_tui.checks.check import Evidence
from reviewer_tui.checks.recipe_comparison import Standing, standing_of
from reviewer_tui.checks.recipe_links import (
    JudgedLink,
    Pages,
    judged_links,
    linked_pages,
    main_trees,
    problems_of,
    recipe_text,
)
from reviewer_tui.checks.recipe_variants import Arms, arms_of
from reviewer_tui.checks.scope import submitted
from reviewer_tui.model.config import KeyChange
from reviewer_tui.model.errors import DataError
from reviewer_tui.model.finding import Status
from reviewer_tui.recipes.arguments import engine_of
from reviewer_tui.recipes.compare import Comparison, PolicyName, Scope, compare, policy_of, scope_of
from reviewer_tui.recipes.find import Proposal, PullRequestProposal, find, find_pull_requests
from reviewer_tui.recipes.submitted import Variant

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
    published pages that document the submitted arms, looked for where the links leave something undocumented; `sought`
    tells whether they could be looked for, and if not why. `doubts` say what of the linked pages could not be read.
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

    @property
    def accepted(self) -> tuple[JudgedLink, ...]:
        return tuple(link for link in self.links or () if link.accepted)

    @property
    def submitted(self) -> tuple[Variant, ...]:
        return tuple(variant for arms in self.arms for variant in arms.submitted)


def demands_of(evidence: Evidence) -> Demands:
    """What the policy wants, read from its own text."""
    text = recipe_text(evidence.policy)
    worded = _NOT_APPLICABLE.search(text)
    return Demands(
        scope=scope_of(text), policy=policy_of(text), exempt=" ".join(worded[1].split()) if worded else _SINGLE_NODE
    )


def scoped(evidence: Evidence, demands: Demands) -> tuple[Scoped, ...]:
    """Every submitted key with whether it needs a recipe."""
    return tuple(_scoped(change, demands) for change in submitted(evidence))


def _scoped(change: KeyChange, demands: Demands) -> Scoped:
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
    demands = demands_of(evidence)
    found = Examination(demands=demands, keys=scoped(evidence, demands))
    wanted = [key.change for key in found.keys if key.applies]
    if not wanted:
        return found
    found = msgspec.structs.replace(found, links=judged_links(evidence))
    if evidence.trees.upstream or commands:
        arms = (arms_of(evidence, change, routers=demands.roles_apart) for change in wanted)
        found = msgspec.structs.replace(found, arms=tuple(one for one in arms if one is not None))
        found = _compared(evidence, found)
    return _proposed(evidence, found)


def _compared(evidence: Evidence, found: Examination) -> Examination:
    """With the arms held against the pages that the accepted links stand for."""
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
    """With pages to link, where the links do not document everything."""
    if found.standings and all(one.status is Status.PASS for one in found.standings):
        return found
    engines = {engine_of(key.change.new.framework) for key in found.keys if key.applies and key.change.new}
    trees = {engine: tree for engine, tree in main_trees(evidence).items() if engine in engines}
    pulls = find_pull_requests(found.submitted, evidence.snapshot.upstream.value or ())
    try:
        proposals = find(found.submitted, trees, found.demands.policy, evidence.snapshot.ref.number)
    except DataError as error:
        return msgspec.structs.replace(found, pulls=_not_linked(pulls, found.links), sought=str(error))
    return msgspec.structs.replace(found, proposals=proposals, pulls=_not_linked(pulls, found.links))


def _not_linked(
    pulls: Iterable[PullRequestProposal], links: Sequence[JudgedLink] | None
) -> tuple[PullRequestProposal, ...]:
    linked = {(link.link.repository, link.link.number) for link in links or ()}
    return tuple(pull for pull in pulls if (pull.upstream.repository, pull.upstream.number) not in linked)
