"""The recipe links of a sign-off: which count, and what upstream says of them."""

from __future__ import annotations

import msgspec

from reviewer_tui.checks.check import Evidence
from reviewer_tui.model.errors import DataError
from reviewer_tui.model.finding import Status
from reviewer_tui.model.recipe import UpstreamPullRequest
from reviewer_tui.model.snapshot import Snapshot
from reviewer_tui.model.tree import Tree
from reviewer_tui.policy.policy import Policy
from reviewer_tui.recipes.arm import Engine, Reading
from reviewer_tui.recipes.links import (
    SGLANG,
    VLLM_RECIPES,
    LinkJudgement,
    RecipeLink,
    judge,
    judge_page,
    judge_pull_request,
)

REPOSITORIES: dict[Engine, str] = {"vllm": VLLM_RECIPES, "sglang": SGLANG}
CLONE_OPTIONS: dict[str, str] = {VLLM_RECIPES: "--recipes-clone", SGLANG: "--sglang-clone"}
"""The options that name a local clone of a recipe repository."""

_RECIPE_ITEMS = ("recipe", "recipe_merged")


class JudgedLink(msgspec.Struct, frozen=True, kw_only=True):
    """A link of the sign-off that is, or is taken for, one to a recipe.

    `line` is the sign-off's; `beside` is the label of the item where it stands outside the detail section; `remedy`
    is how to learn what is not known; `upstream` the linked pull request where its state is known.
    """

    link: RecipeLink
    status: Status
    sentence: str
    line: int
    beside: str | None = None
    remedy: str = ""
    offer: str | None = None
    upstream: UpstreamPullRequest | None = None

    @property
    def accepted(self) -> bool:
        return self.status is Status.PASS


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """A documentation page as it was read at one commit; `link` is the link that led to it."""

    link: RecipeLink
    engine: Engine
    repository: str
    path: str
    commit: str
    reading: Reading


class Pages(msgspec.Struct, frozen=True, kw_only=True):
    """What the accepted links document. `absent` says of each thing that is not at hand what it is and how to get
    it: what these pages do not say may stand there."""

    pages: tuple[Page, ...] = ()
    absent: tuple[str, ...] = ()


def judged_links(evidence: Evidence) -> tuple[JudgedLink, ...] | None:
    """The recipe links of the sign-off, judged by their form and by what upstream says; None without a sign-off.

    Only the detail section and the recipe items are looked at, and the template's own links are no links.
    """
    text, sign_off = evidence.sign_off_text, evidence.sign_off
    if text is None or sign_off is None:
        return None
    # Comparing texts word by word costs 25 ms to import, which only a review with a sign-off should pay.
    from reviewer_tui.signoff.links import LinkKind, links_of
    from reviewer_tui.signoff.match import Matching, match_boxes

    template = evidence.policy.template.value
    matching = match_boxes(sign_off, template) if template else Matching(items=())
    kinds = {
        LinkKind.UPSTREAM_PULL_REQUEST,
        LinkKind.UPSTREAM_FILE,
        LinkKind.RECIPE_PAGE,
        LinkKind.LEGACY_RECIPE,
        LinkKind.RECIPE_ROOT,
        LinkKind.PULL_REQUEST,
    }
    ref = evidence.snapshot.ref
    items = {match.item.label for match in matching.items if match.item.name in _RECIPE_ITEMS}
    judged: dict[str, JudgedLink] = {}
    for link in links_of(text, sign_off, matching, template, repository=ref.repository, host=ref.host):
        if link.own or link.kind not in kinds or link.place not in ("detail", *items):
            continue
        found = _judged(judge(link.target.url), evidence, link.line, None if link.place == "detail" else link.place)
        known = judged.get(found.link.url)
        if known is None or (known.beside and not found.beside):
            judged[found.link.url] = found
    return tuple(judged.values())


def _judged(link: RecipeLink, evidence: Evidence, line: int, beside: str | None) -> JudgedLink:
    upstream = pull_request_of(evidence.snapshot, link)
    remedy = ""
    try:
        if link.form == "pull_request":
            decided = judge_pull_request(link, upstream)
            part = evidence.snapshot.upstream
            if upstream is None:
                remedy = " ".join(filter(None, (part.reason, part.remedy))) or how_to_get(link.repository or "")
        else:
            main = evidence.trees.upstream.get(link.repository or REPOSITORIES[link.engine or "vllm"])
            decided = judge_page(link, main)
            remedy = how_to_get(link.repository or "") if decided.status is Status.UNVERIFIED else ""
    except DataError as error:
        decided = LinkJudgement(link=link, status=Status.UNVERIFIED, sentence=f"{link.url} could not be looked up.")
        remedy = str(error)
    return JudgedLink(
        link=link,
        status=decided.status,
        sentence=decided.sentence,
        line=line,
        beside=beside,
        remedy=remedy,
        offer=decided.offer,
        upstream=upstream,
    )


def how_to_get(repository: str) -> str:
    """How to get a recipe repository's files."""
    option = CLONE_OPTIONS.get(repository)
    clone = f"Name a clone of {repository} with {option} DIR" if option else "Load the pull request with the network"
    return f"{clone}, or load the pull request with reviewer-tui fetch." if option else f"{clone}: reviewer-tui fetch."


def pull_request_of(snapshot: Snapshot, link: RecipeLink) -> UpstreamPullRequest | None:
    """The pull request that a link names, where its state is known."""
    if link.number is None or link.repository is None:
        return None
    wanted = (link.repository.casefold(), link.number)
    pulls = snapshot.upstream.value or ()
    return next((pull for pull in pulls if (pull.repository.casefold(), pull.number) == wanted), None)


def main_trees(evidence: Evidence) -> dict[Engine, Tree]:
    """The published pages that are at hand, by engine."""
    trees = evidence.trees.upstream
    return {engine: trees[repository] for engine, repository in REPOSITORIES.items() if repository in trees}


def verifier_text(policy: Policy) -> str:
    """The check of recipes in the verifier's words; empty where it has none."""
    check = policy.check("recipe")
    return f"{check.title}\n{check.text}" if check is not None and check.text else ""


def checklist_text(policy: Policy) -> str:
    """The checklist's items about recipes."""
    template = policy.template.value
    return "\n".join(item.text for item in template.items if item.name in _RECIPE_ITEMS) if template else ""
