"""How much of what the config keys of a revision serve is documented upstream: a table over keys, and its totals.

Each key is held against the published page that suits its checkpoint and hardware best, arm by arm, as the recipe check
would hold it if a pull request submitted the whole key. A repository whose pages are not at hand documents nothing and
lacks nothing: its keys are unverified.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from reviewer_tui.checks.recipe_comparison import Standing, sentence_of, standing_of
from reviewer_tui.checks.recipe_examination import Demands, demands_of, scoped_change
from reviewer_tui.checks.recipe_links import REPOSITORIES, how_to_get
from reviewer_tui.checks.recipe_variants import Unread, arms_at
from reviewer_tui.model.config import Entry, KeyChange
from reviewer_tui.model.errors import DataError
from reviewer_tui.model.finding import Status, worst
from reviewer_tui.model.tree import Tree
from reviewer_tui.policy.policy import Policy
from reviewer_tui.recipes.arm import Engine
from reviewer_tui.recipes.compare import ArmComparison, PolicyName, VariantComparison, gaps_of
from reviewer_tui.recipes.find import Proposal, candidate_pages, propose
from reviewer_tui.recipes.reading import NOT_PUBLISHED
from reviewer_tui.recipes.submitted import Variant
from reviewer_tui.sweeps.configs import Configs

_Kind = tuple[Engine, str, str]


class KeyCoverage(msgspec.Struct, frozen=True, kw_only=True):
    """What the best page documents of one config key.

    `page` and `url` are empty where no page is about the checkpoint. Of the `arms` of the key (points that serve alike
    are one arm), `shapes` have a documented arm with the same checkpoint, hardware, parallelism and speculation on or
    off, and `covered` one with every argument that must match. `status` is what the recipe check would say; `gaps` are
    sentences, `doubts` say what could not be read of the key or of the page.
    """

    key: str
    engine: Engine
    checkpoint: str
    hardware: str
    status: Status
    page: str = ""
    url: str = ""
    has_hardware: bool = False
    has_checkpoint: bool = False
    arms: int = 0
    shapes: int = 0
    covered: int = 0
    gaps: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


class CoverageTotals(msgspec.Struct, frozen=True, kw_only=True):
    """A coverage table in numbers: keys, then arms; `whole` are keys with every arm covered."""

    keys: int
    with_page: int
    with_hardware: int
    with_checkpoint: int
    with_shape: int
    whole: int
    unverified: int
    arms: int
    shapes: int
    covered: int


class Upstream(msgspec.Struct, frozen=True, kw_only=True):
    """A recipe repository as it was read: at which commit, or why not at all."""

    engine: Engine
    repository: str
    commit: str | None
    reason: str = ""


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """The table of a revision. `exempt` are the keys that need no recipe by the policy, or perhaps none, each with the
    reason; `unreadable` the entries that are no config."""

    revision: str
    demands: Demands
    upstream: tuple[Upstream, ...]
    keys: tuple[KeyCoverage, ...]
    totals: CoverageTotals
    exempt: dict[str, str]
    unreadable: tuple[str, ...] = ()

    @property
    def status(self) -> Status:
        """The worst of all keys."""
        return worst((row.status for row in self.keys), empty=Status.NOT_APPLICABLE)


def coverage_of(
    tree: Tree, policy: Policy, published: Mapping[str, Tree], keys: Sequence[str] | None = None
) -> Coverage:
    """The coverage of config keys (None: all) at a revision, by the demands of a policy.

    `published` are the recipe repositories at hand, by name (`owner/name`). Does no input or output beyond reading
    the trees.
    """
    configs = Configs(tree)
    entries = configs.entries(keys)
    demands = demands_of(policy)
    trees = {engine: published[name] for engine, name in REPOSITORIES.items() if name in published}
    exempt, served = {}, {}
    for key, entry in entries.items():
        scope = scoped_change(KeyChange(key=key, change="added", old=None, new=entry), demands)
        if scope.applies:
            served[key] = entry
        else:
            exempt[key] = scope.reason
    rows = tuple(_rows(tree, served, trees, demands))
    wanted = configs.keys if keys is None else keys
    return Coverage(
        revision=tree.revision,
        demands=demands,
        upstream=tuple(_upstream(engine, trees) for engine in REPOSITORIES),
        keys=rows,
        totals=totals(rows),
        exempt=exempt,
        unreadable=tuple(key for key in wanted if key not in entries),
    )


def _upstream(engine: Engine, trees: Mapping[Engine, Tree]) -> Upstream:
    repository, tree = REPOSITORIES[engine], trees.get(engine)
    reason = "" if tree else f"The pages of {repository} are not at hand. {how_to_get(repository)}"
    return Upstream(engine=engine, repository=repository, commit=tree.revision if tree else None, reason=reason)


def _rows(
    tree: Tree, entries: Mapping[str, Entry], trees: Mapping[Engine, Tree], demands: Demands
) -> Iterator[KeyCoverage]:
    arms: dict[str, tuple[Variant, ...]] = {}
    unread: dict[str, tuple[Unread, ...]] = {}
    for key, entry in entries.items():
        arms[key], unread[key] = arms_at(tree, entry, routers=demands.roles_apart)
    pages = best_pages([variant for found in arms.values() for variant in found], trees, demands.policy)
    for key, entry in entries.items():
        for kind, variants in _by_kind(arms[key]).items():
            yield key_coverage(variants, pages[kind], trees, unread[key])
        if not arms[key]:
            yield _unread_key(entry, unread[key])


def _kind(variant: Variant) -> _Kind:
    return (variant.engine, variant.checkpoint, variant.hardware)


def _by_kind(variants: Iterable[Variant]) -> dict[_Kind, list[Variant]]:
    kinds: dict[_Kind, list[Variant]] = {}
    for variant in variants:
        kinds.setdefault(_kind(variant), []).append(variant)
    return kinds


class PageFit(msgspec.Struct, frozen=True, kw_only=True):
    """How a page suits arms of one checkpoint on one hardware: a result for each arm, and what could not be read."""

    path: str
    url: str
    results: tuple[VariantComparison, ...]
    problems: tuple[str, ...] = ()


def best_pages(
    variants: Sequence[Variant], trees: Mapping[Engine, Tree], policy: PolicyName
) -> dict[_Kind, PageFit | DataError | None]:
    """For every checkpoint on a hardware the page that suits it best, None where no page is about it, or why pages
    could not be looked for. Each page is read once, for all arms that it may be about."""
    kinds = _by_kind(variants)
    candidates: dict[_Kind, tuple[str, ...] | DataError] = {}
    wanted: dict[tuple[Engine, str], list[Variant]] = {}
    for kind, mine in kinds.items():
        tree = trees.get(kind[0])
        try:
            paths = candidate_pages(mine, tree, kind[0]) if tree is not None else ()
        except DataError as error:
            candidates[kind] = error
            continue
        candidates[kind] = paths
        for path in paths:
            wanted.setdefault((kind[0], path), []).extend(mine)
    read: dict[tuple[Engine, str], Proposal | DataError] = {}
    for (engine, path), mine in wanted.items():
        try:
            read[engine, path] = propose(mine, trees[engine], engine, path, policy, whole=True)
        except DataError as error:
            read[engine, path] = error
    return {kind: _best_of(kind, candidates[kind], read) for kind in kinds}


def _best_of(
    kind: _Kind, paths: tuple[str, ...] | DataError, read: Mapping[tuple[Engine, str], Proposal | DataError]
) -> PageFit | DataError | None:
    if isinstance(paths, DataError):
        return paths
    pages = [read[kind[0], path] for path in paths]
    fits = [_fit(kind, page) for page in pages if isinstance(page, Proposal)]
    failed = next((page for page in pages if isinstance(page, DataError)), None)
    if not fits:
        return failed
    best = min(fits, key=_unfitness)
    # A page that could not be read may suit better: what the best of the others lacks is not missing for certain.
    return msgspec.structs.replace(best, problems=(*best.problems, str(failed))) if failed else best


def _fit(kind: _Kind, page: Proposal) -> PageFit:
    return PageFit(
        path=page.path,
        url=page.page_url,
        results=tuple(result for result in page.comparison.variants if _kind(result.variant) == kind),
        problems=tuple(str(problem) for problem in page.reading.problems if problem.rule not in NOT_PUBLISHED),
    )


def _unfitness(fit: PageFit) -> tuple[int, int, str]:
    """The best page covers most, then lacks least."""
    covered = sum(any(arm.covers for arm in result.ranked) for result in fit.results)
    return (-covered, sum(len(list(gaps_of(result))) for result in fit.results), fit.path)


def key_coverage(
    variants: Sequence[Variant],
    page: PageFit | DataError | None,
    trees: Mapping[Engine, Tree],
    unread: Sequence[Unread] = (),
) -> KeyCoverage:
    """The row of one key: its arms, of one checkpoint on one hardware, against the page that suits those best."""
    first = variants[0]
    doubts = [f"{one.label}: {one.reason}" for one in unread]
    row = KeyCoverage(
        key=first.key,
        engine=first.engine,
        checkpoint=first.checkpoint,
        hardware=first.hardware,
        status=Status.UNVERIFIED,
        arms=len(variants),
    )
    if not isinstance(page, PageFit):
        lacking = f"No upstream page is about {first.checkpoint}."
        at_hand = first.engine in trees
        if page is not None or not at_hand:
            doubts.append(str(page) if page else _upstream(first.engine, trees).reason)
            return msgspec.structs.replace(row, doubts=tuple(doubts))
        status = Status.UNVERIFIED if doubts else Status.FAIL
        return msgspec.structs.replace(row, status=status, gaps=(lacking,), doubts=tuple(doubts))
    results = [result for result in page.results if result.variant.key == first.key]
    standings = [standing_of(result, page.problems) for result in results]
    ranked = [arm for result in results for arm in result.ranked]
    statuses = [standing.status for standing in standings] + ([Status.UNVERIFIED] if unread else [])
    return msgspec.structs.replace(
        row,
        status=worst(statuses, empty=Status.UNVERIFIED),
        page=page.path,
        url=page.url,
        has_hardware=any(_agrees(arm, "hardware") for arm in ranked),
        has_checkpoint=any(_agrees(arm, "hardware") and _agrees(arm, "model") for arm in ranked),
        shapes=sum(any(map(_same_shape, result.ranked)) for result in results),
        covered=sum(any(arm.covers for arm in result.ranked) for result in results),
        gaps=tuple(gap for standing in standings for gap in _gaps(standing)),
        doubts=(*doubts, *page.problems),
    )


def _unread_key(entry: Entry, unread: Sequence[Unread]) -> KeyCoverage:
    """The row of a key of which no arm could be read."""
    engine: Engine = "vllm" if "vllm" in entry.framework else "sglang"
    return KeyCoverage(
        key=entry.key,
        engine=engine,
        checkpoint=entry.model,
        hardware=entry.runner,
        status=Status.UNVERIFIED,
        doubts=tuple(f"{one.label}: {one.reason}" for one in unread) or ("It has no arm.",),
    )


def _agrees(compared: ArmComparison, name: str) -> bool:
    argument = compared.of(name)
    return argument is not None and not argument.differs


def _same_shape(compared: ArmComparison) -> bool:
    if compared.missing_roles or any(a.group in ("model", "parallelism") for a in compared.blocking):
        return False
    pairs = ((role.as_role(), compared.arm.role(role.name)) for role in compared.variant.roles)
    return all(theirs and (ours.speculative is None) is (theirs.speculative is None) for ours, theirs in pairs)


def _gaps(standing: Standing) -> Iterator[str]:
    """What keeps an arm from passing, one sentence an argument."""
    title = standing.variant.title
    if standing.status is Status.PASS:
        return
    if standing.decided_otherwise:
        yield f"{title}: {standing.sentence}"
    for argument in standing.differences:
        yield f"{title}: {sentence_of(argument)}"


def totals(rows: Iterable[KeyCoverage]) -> CoverageTotals:
    """The table in numbers."""
    table = tuple(rows)
    return CoverageTotals(
        keys=len(table),
        with_page=sum(bool(row.page) for row in table),
        with_hardware=sum(row.has_hardware for row in table),
        with_checkpoint=sum(row.has_checkpoint for row in table),
        with_shape=sum(row.shapes > 0 for row in table),
        whole=sum(0 < row.arms == row.covered for row in table),
        unverified=sum(row.status is Status.UNVERIFIED for row in table),
        arms=sum(row.arms for row in table),
        shapes=sum(row.shapes for row in table),
        covered=sum(row.covered for row in table),
    )
