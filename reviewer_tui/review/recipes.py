"""The recipes of a review as both faces show them: our command and the recipe's side by side, the links, the pages that
could be linked instead, and what would have to be written upstream."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from reviewer_tui.checks.recipe_comparison import Standing, standing_of
from reviewer_tui.checks.recipe_examination import Examination, examine
from reviewer_tui.checks.recipe_links import REPOSITORIES, main_trees
from reviewer_tui.model.errors import DataError
from reviewer_tui.model.finding import Status
from reviewer_tui.model.recipe import UpstreamPullRequest
from reviewer_tui.model.tree import Tree
from reviewer_tui.recipes.compare import ArgumentComparison, Outcome, PolicyName
from reviewer_tui.recipes.equivalence import shown
from reviewer_tui.recipes.submitted import Variant
from reviewer_tui.recipes.write import Changed, UpstreamChange, command_text, write_sglang, write_vllm
from reviewer_tui.review.session import Review, evidence_of

Weight = Literal["fails", "unknown", "weigh", "aside", "same"]
"""What an argument means: it fails the check, could not be evaluated, waits for a person, is not asked to match, or is
the same (an equivalent spelling included)."""


Against = Literal["linked", "proposed", "nothing"]
"""Which pages an arm is held against: those that the sign-off links, the best that could be linked, or none."""


class ArgumentRow(msgspec.Struct, frozen=True, kw_only=True):
    """One argument of our command beside the recipe's. `group` is where it belongs (`parallelism`, `backends`, …),
    `why` the reason of an equivalence or of what cannot be compared; `line` is of our file, `their_line` of the page's.
    """

    role: str
    group: str
    title: str
    flag: str
    ours: str
    theirs: str
    outcome: Outcome
    weight: Weight
    why: str = ""
    line: int | None = None
    their_line: int | None = None


class VariantView(msgspec.Struct, frozen=True, kw_only=True):
    """One arm of a submitted key beside the documented arm that suits it best.

    `submitted` is False for an arm that the pull request leaves as it was. `command` is ours, as a page would show it;
    `path` and `line` are where it stands at head; `arm`, `url` and `place` (at `commit`) are the page's. The arguments
    come worst first, without plumbing.
    """

    key: str
    label: str
    points: tuple[int, ...]
    checkpoint: str
    hardware: str
    command: str
    path: str
    line: int | None
    status: Status
    sentence: str
    submitted: bool
    against: Against
    arm: str = ""
    url: str = ""
    place: str = ""
    commit: str = ""
    arguments: tuple[ArgumentRow, ...] = ()

    @property
    def title(self) -> str:
        concurrencies = " ".join(f"c{conc}" for conc in self.points)
        return f"{self.key}  {self.label}  {concurrencies}".rstrip()


class PullView(msgspec.Struct, frozen=True, kw_only=True):
    """An upstream pull request; `age` says when it was merged or opened, and how long that is before the review.
    `linked` is False only where there is a sign-off that does not link it."""

    pull: UpstreamPullRequest
    age: str
    linked: bool


class LinkView(msgspec.Struct, frozen=True, kw_only=True):
    """A recipe link of the sign-off and what it is worth."""

    url: str
    status: Status
    sentence: str
    line: int
    remedy: str = ""
    offer: str = ""


class ProposalView(msgspec.Struct, frozen=True, kw_only=True):
    """A published page that could be linked: which submitted arms it documents, and what it lacks."""

    url: str
    path: str
    commit: str
    covers: tuple[str, ...]
    lacks: tuple[str, ...]


class RecipeView(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about the recipes of a review. `exempt` are the keys that need none, or perhaps none, each with the
    reason; `links` is None without a sign-off; `notes` say what could not be read and how to get it."""

    status: Status
    summary: str
    exempt: tuple[str, ...] = ()
    links: tuple[LinkView, ...] | None = None
    pulls: tuple[PullView, ...] = ()
    variants: tuple[VariantView, ...] = ()
    proposals: tuple[ProposalView, ...] = ()
    notes: tuple[str, ...] = ()


_kept: tuple[object, Examination] | None = None


def examination_of(review: Review) -> Examination:
    """What is known about the recipes of a review, the serve commands included. The last one is kept: marking items
    changes nothing of it."""
    global _kept
    kept = _kept
    if kept is None or kept[0] is not review.results:
        kept = _kept = review.results, examine(evidence_of(review), commands=True)
    return kept[1]


def recipe_view(review: Review) -> RecipeView:
    """The recipes of a review, ready to be shown. Does no input or output beyond reading the trees."""
    found = examination_of(review)
    result = review.result("recipe")
    return RecipeView(
        status=result.status if result else Status.NOT_APPLICABLE,
        summary=result.summary if result else "the policy has no check of recipes",
        exempt=tuple(f"{key.change.key}: {key.reason}." for key in found.keys if not key.applies),
        links=None if found.links is None else tuple(_links(found)),
        pulls=tuple(_pulls(review, found)),
        variants=tuple(_variants(found)),
        proposals=tuple(_proposals(found)),
        notes=tuple(_notes(found)),
    )


def _links(found: Examination) -> Iterator[LinkView]:
    for link in found.links or ():
        yield LinkView(
            url=link.link.url,
            status=link.status,
            sentence=link.sentence,
            line=link.line,
            remedy=link.remedy,
            offer=link.offer or "",
        )


def _pulls(review: Review, found: Examination) -> Iterator[PullView]:
    linked = {(link.link.repository, link.link.number) for link in found.links or ()}
    for pull in review.snapshot.upstream.value or ():
        age = _age(pull, review.review_date)
        is_linked = found.links is None or (pull.repository, pull.number) in linked
        yield PullView(pull=pull, age=age, linked=is_linked)


def _age(pull: UpstreamPullRequest, day: str) -> str:
    """`2026-08-11, a day ago` of the merge, else `opened 2026-08-01, 11 days ago`; empty where no time is known."""
    when = (pull.merged_at if pull.state == "merged" else pull.opened_at) or ""
    try:
        days = (datetime.date.fromisoformat(day) - datetime.date.fromisoformat(when[:10])).days
    except ValueError:
        return ""
    ago = (
        "today" if days == 0 else "a day ago" if days == 1 else f"{days} days ago" if days > 0 else "after this review"
    )
    return f"{'' if pull.state == 'merged' else 'opened '}{when[:10]}, {ago}"


def _variants(found: Examination) -> Iterator[VariantView]:
    """The submitted arms, then those that stay as they were; without linked pages against the best proposal."""
    policy = found.demands.policy
    if found.standings:
        for standings, submitted in ((found.standings, True), (found.unchanged, False)):
            for one in _worst_first(standings):
                yield _variant(one, "linked", policy, submitted=submitted)
        return
    proposed = {
        _identity(result.variant): standing_of(result, ())
        for proposal in reversed(found.proposals)
        for result in proposal.comparison.variants
    }
    for arms in found.arms:
        for variant in (*arms.submitted, *arms.unchanged):
            standing = proposed.get(_identity(variant))
            against: Against = "proposed" if standing else "nothing"
            nothing = Standing(variant=variant, status=Status.UNVERIFIED, sentence="There is no page to compare with.")
            yield _variant(standing or nothing, against, policy, submitted=variant in arms.submitted)


_ORDER = (Status.FAIL, Status.UNVERIFIED, Status.JUDGEMENT, Status.PASS)


def _worst_first(standings: Iterable[Standing]) -> list[Standing]:
    return sorted(standings, key=lambda one: _ORDER.index(one.status))


def _identity(variant: Variant) -> tuple[object, ...]:
    return (variant.key, variant.label, variant.points)


def _variant(standing: Standing, against: Against, policy: PolicyName, *, submitted: bool) -> VariantView:
    variant, arm = standing.variant, standing.arm.arm if standing.arm else None
    role = variant.roles[0]
    return VariantView(
        key=variant.key,
        label=variant.label,
        points=variant.points,
        checkpoint=variant.checkpoint,
        hardware=variant.hardware,
        command="\n\n".join(command_text(variant, one, policy) for one in variant.roles),
        path=role.path,
        line=role.line,
        status=standing.status,
        sentence=standing.sentence,
        submitted=submitted,
        against=against,
        arm=arm.label if arm else "",
        url=arm.url if arm else "",
        place=arm.place if arm else "",
        commit=arm.commit if arm else "",
        arguments=tuple(_rows(standing)),
    )


def _rows(standing: Standing) -> Iterator[ArgumentRow]:
    """Every argument once, the worst first; within one weight as a command is read."""
    if standing.arm is None:
        return
    weights: tuple[tuple[Weight, tuple[ArgumentComparison, ...]], ...] = (
        ("fails", standing.failing),
        ("unknown", standing.unknown),
        ("weigh", standing.weighed),
    )
    told = [a for _, some in weights for a in some]
    rest = [a for a in standing.arm.arguments if a not in told and a.cls != "plumbing"]
    for weight, some in (
        *weights,
        ("aside", tuple(a for a in rest if a.differs)),
        ("same", tuple(a for a in rest if not a.differs)),
    ):
        for argument in some:
            yield _row(argument, weight)


def _row(argument: ArgumentComparison, weight: Weight) -> ArgumentRow:
    return ArgumentRow(
        role=argument.role,
        group=argument.group,
        title=argument.title,
        flag=argument.our_flag or argument.their_flag or argument.name,
        ours="not known"
        if argument.outcome is Outcome.NOT_COMPARABLE and argument.ours is None
        else shown(argument.ours),
        theirs=shown(argument.theirs),
        outcome=argument.outcome,
        weight=weight,
        why=argument.why,
        line=argument.our_line,
        their_line=argument.line,
    )


def _proposals(found: Examination) -> Iterator[ProposalView]:
    for proposal in found.proposals:
        yield ProposalView(
            url=proposal.url,
            path=proposal.path,
            commit=proposal.commit,
            covers=proposal.covers,
            lacks=proposal.lacks,
        )


def _notes(found: Examination) -> Iterator[str]:
    yield from found.doubts
    yield from (f"{one.key} ({one.label}): {one.reason}" for arms in found.arms for one in arms.unread)
    yield from found.disagreements
    if found.sought:
        yield f"Pages to link could not be looked for: {found.sought}"
    yield from (pull.sentence for pull in found.pulls)


# -- what to write upstream -------------------------------------------------------------------------------------------


class Unwritten(msgspec.Struct, frozen=True, kw_only=True):
    """An arm, or several, for which nothing can be written, and why."""

    title: str
    reason: str


def upstream_changes(review: Review) -> tuple[UpstreamChange | Unwritten, ...]:
    """For each submitted arm that upstream does not document, the change there that would document it; then the arms
    of which that is not known."""
    found = examination_of(review)
    trees = main_trees(evidence_of(review))
    covered = {_identity(one.variant) for one in found.standings if one.status is Status.PASS}
    if not found.standings:
        covered = {
            _identity(best.variant)
            for proposal in found.proposals
            for result in proposal.comparison.variants
            if (best := result.best) is not None and best.covers
        }
    pages = [(page.engine, page.path) for page in found.pages.pages]
    pages += [(proposal.engine, proposal.path) for proposal in found.proposals]
    written: list[UpstreamChange | Unwritten] = []
    for variant in found.submitted:
        if _identity(variant) not in covered:
            tree = trees.get(variant.engine)
            here = (path for engine, path in pages if engine == variant.engine and tree and tree.blob(path))
            change = _written(variant, tree, next(here, None), found)
            if tree is not None and isinstance(change, UpstreamChange):
                trees[variant.engine] = Changed(tree, change)
            written.append(change)
    return (*written, *_not_looked_at(found))


def _not_looked_at(found: Examination) -> Iterator[Unwritten]:
    """The submitted arms that were held against no page, because they could not be read or are too many."""
    for one in (one for arms in found.arms for one in arms.unread):
        yield Unwritten(title=f"{one.key} {one.label}".rstrip(), reason=one.reason)
    if found.left_out:
        reason = "There are too many submitted keys to compare them all; look at these by hand."
        yield Unwritten(title=f"{found.left_out} further keys", reason=reason)


def _written(variant: Variant, tree: Tree | None, path: str | None, found: Examination) -> UpstreamChange | Unwritten:
    repository = REPOSITORIES[variant.engine]
    if tree is None:
        return Unwritten(title=variant.title, reason=f"The pages of {repository} are not at hand.")
    try:
        if variant.engine == "vllm":
            return write_vllm(variant, tree, path, found.demands.policy)
        if path is None:
            return Unwritten(title=variant.title, reason=f"{repository} has no page of this model to add to.")
        return write_sglang(variant, tree, path, found.demands.policy)
    except DataError as error:
        return Unwritten(title=variant.title, reason=str(error))
