"""Find it for me: which upstream pages document the submitted arms, what they cover and what they lack."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from reviewer_tui.model.recipe import UpstreamPullRequest
from reviewer_tui.model.tree import Tree
from reviewer_tui.recipes import sglang, vllm
from reviewer_tui.recipes.arm import Engine, Reading
from reviewer_tui.recipes.compare import Comparison, PolicyName, compare
from reviewer_tui.recipes.equivalence import hardware_names
from reviewer_tui.recipes.links import SGLANG, VLLM_RECIPES, page_of_file, recipe_files
from reviewer_tui.recipes.reading import NOT_PUBLISHED
from reviewer_tui.recipes.submitted import Variant

MAX_PAGES = 6
_REPOSITORY: Mapping[Engine, str] = {"vllm": VLLM_RECIPES, "sglang": SGLANG}


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """A page that documents some of the submitted arms.

    `url` is the link to put into the sign-off; `covers` are the titles of the variants that it documents in every
    major argument, `lacks` one sentence for each argument that it does not.
    """

    engine: Engine
    repository: str
    path: str
    url: str
    commit: str
    reading: Reading
    comparison: Comparison
    covers: tuple[str, ...]
    lacks: tuple[str, ...]

    @property
    def page_url(self) -> str:
        """The page's own address, without any selection on it."""
        return page_address_of(self.engine, self.path)


def page_address_of(engine: Engine, path: str) -> str:
    """The published address of a page file."""
    return vllm.page_url(path) if engine == "vllm" else sglang.page_url(path)


class PullRequestProposal(msgspec.Struct, frozen=True, kw_only=True):
    """An upstream pull request that changes a page of the submitted model."""

    upstream: UpstreamPullRequest
    pages: tuple[str, ...]
    sentence: str


def read_page(tree: Tree, engine: Engine, path: str, variants: Sequence[Variant], *, whole: bool = False) -> Reading:
    """A page's arms for the hardware of these variants; all arms of a page that has none, and of a `whole` page."""
    if whole:
        return _read(tree, engine, path, None, variants)
    hardware = sorted({name for variant in variants for name in hardware_names(variant.hardware)})
    reading = _read(tree, engine, path, hardware, variants)
    unread = any(problem.rule not in NOT_PUBLISHED for problem in reading.problems)
    return reading if reading.arms or unread else _read(tree, engine, path, None, variants)


def _read(tree: Tree, engine: Engine, path: str, hardware: list[str] | None, variants: Sequence[Variant]) -> Reading:
    if engine == "sglang":
        return sglang.read_page(tree, path, hardware)
    return vllm.read_page(tree, path, hardware, single_node=all(variant.nodes == 1 for variant in variants))


def find(
    variants: Sequence[Variant],
    trees: Mapping[Engine, Tree],
    policy: PolicyName = "summer",
    pull_request: int | None = None,
) -> tuple[Proposal, ...]:
    """The pages that document the submitted variants, those that cover most first; each is held against the variants
    of its model only. `trees` are the mains of the recipe repositories that are at hand."""
    proposals = []
    for engine, tree in trees.items():
        wanted: dict[str, list[Variant]] = {}
        for variant in variants:
            for path in candidate_pages([variant], tree, engine) if variant.engine == engine else ():
                wanted.setdefault(path, []).append(variant)
        proposals += [
            propose(found, tree, engine, path, policy, pull_request) for path, found in list(wanted.items())[:MAX_PAGES]
        ]
    return tuple(sorted(proposals, key=lambda p: (-len(p.covers), len(p.lacks), p.path)))


def propose(
    variants: Sequence[Variant],
    tree: Tree,
    engine: Engine,
    path: str,
    policy: PolicyName = "summer",
    pull_request: int | None = None,
    *,
    whole: bool = False,
) -> Proposal:
    """What one page covers of the variants, and what it lacks; `whole` reads it for every hardware."""
    reading = read_page(tree, engine, path, variants, whole=whole)
    comparison = compare(variants, reading.arms, policy, pull_request, reading.stated)
    bests = [result.best for result in comparison.variants]
    covered = [best for best in bests if best is not None and best.covers]
    plain = page_address_of(engine, path)
    return Proposal(
        engine=engine,
        repository=_REPOSITORY[engine],
        path=path,
        url=covered[0].arm.url if len(covered) == 1 and engine == "vllm" else plain,
        commit=tree.revision,
        reading=reading,
        comparison=comparison,
        covers=tuple(best.variant.title for best in covered),
        lacks=comparison.gaps,
    )


def candidate_pages(variants: Sequence[Variant], tree: Tree, engine: Engine) -> tuple[str, ...]:
    """The pages that may document the variants' checkpoints: those that name one, then those of the same model."""
    checkpoints = tuple(dict.fromkeys(variant.checkpoint for variant in variants))
    if not checkpoints:
        return ()
    finder = _vllm_pages if engine == "vllm" else _sglang_pages
    found = dict.fromkeys(path for checkpoint in checkpoints for path in finder(checkpoint, tree))
    return tuple(found)[:MAX_PAGES]


def has_pages(repository: str, tree: Tree) -> bool:
    """Whether a tree holds the pages of a recipe repository (`owner/name`) at all."""
    if repository == VLLM_RECIPES:
        return any(map(_is_recipe, tree.list("models")))
    return any(True for _ in sglang.pages(tree))


def _is_recipe(path: str) -> bool:
    return path.endswith((".yaml", ".yml"))


def _vllm_pages(checkpoint: str, tree: Tree) -> Iterator[str]:
    paths = [path for path in tree.list("models") if _is_recipe(path)]
    wanted = checkpoint.casefold().encode()
    named = re.compile(rb"^\s*model_id:\s*[\"']?" + re.escape(wanted) + rb"[\"']?\s*(?:#.*)?$", re.M)
    for path in paths:
        text = (tree.read(path) or b"").lower()
        if path.casefold() == f"models/{checkpoint}.yaml".casefold() or (wanted in text and named.search(text)):
            yield path
    yield from _same_model(checkpoint, paths)


def _sglang_pages(checkpoint: str, tree: Tree) -> Iterator[str]:
    yield from _same_model(checkpoint, list(sglang.pages(tree)))


def _same_model(checkpoint: str, paths: Iterable[str]) -> list[str]:
    """The pages whose name begins the checkpoint's: the longest such name wins (GLM-5.2 is not GLM-5)."""
    wanted = _plain(checkpoint.rpartition("/")[2])
    lengths: dict[str, int] = {}
    for path in paths:
        name = _plain(re.sub(r"\.(?:mdx?|ya?ml)$", "", path.rpartition("/")[2]))
        if name and (wanted.startswith(name) or name.startswith(wanted)):
            lengths[path] = min(len(name), len(wanted))
    longest = max(lengths.values(), default=0)
    return [path for path, length in lengths.items() if length == longest]


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def find_pull_requests(
    variants: Sequence[Variant], upstream: Iterable[UpstreamPullRequest]
) -> tuple[PullRequestProposal, ...]:
    """The upstream pull requests that change a page of a submitted checkpoint: merged ones first, then the newest."""
    wanted = [_plain(variant.checkpoint.rpartition("/")[2]) for variant in variants]
    found = []
    for pull in upstream:
        files = recipe_files(pull.repository, pull.files)
        pages = {page_of_file(pull.repository, file) or file for file in files}
        about = sorted(page for page in pages if any(_is_about(page, name) for name in wanted))
        if about:
            when = f" on {pull.merged_at[:10]}" if pull.merged_at else ""
            sentence = f"{pull.repository}#{pull.number} ({pull.state}{when}) changes {', '.join(about[:3])}."
            found.append(PullRequestProposal(upstream=pull, pages=tuple(about), sentence=sentence))
    return tuple(sorted(found, key=lambda p: (p.upstream.state != "merged", -p.upstream.number)))


def _is_about(page: str, checkpoint: str) -> bool:
    name = _plain(re.sub(r"(?:-deployment)?\.(?:jsx|mdx?|ya?ml)$", "", page.rpartition("/")[2]))
    return len(name) > 3 and (checkpoint.startswith(name) or name.startswith(checkpoint))
