"""The files of recipe repositories that links stand for: pages as a pull request was merged, and as they are published.

Only the folders and files that those pages are made of are asked for; all are kept for ever, and read from there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from reviewer_tui.model.errors import DataError
from reviewer_tui.model.part import Part, partial
from reviewer_tui.model.recipe import UpstreamPullRequest
from reviewer_tui.model.tree import Tree
from reviewer_tui.recipes import sglang
from reviewer_tui.recipes.arm import Engine
from reviewer_tui.recipes.links import (
    SGLANG,
    VLLM_RECIPES,
    RecipeLink,
    judge,
    page_address,
    page_of_file,
    recipe_files,
)
from reviewer_tui.sources.github.background import together
from reviewer_tui.sources.github.client import GitHubClient
from reviewer_tui.sources.github.errors import PermissionMissingError, SingleSignOnError, TokenRefusedError
from reviewer_tui.sources.github.facts import git_commit_of
from reviewer_tui.sources.github.mentions import LONGEST_TEXT
from reviewer_tui.sources.github.objects import GitHubObjects
from reviewer_tui.sources.github.shapes import CommitItem
from reviewer_tui.sources.github.stages import AGAIN, Doubts, Report, Stage
from reviewer_tui.sources.github.wanted import blobs_of
from reviewer_tui.sources.stored import ObjectStore, StoredObjects, upstream_trees

MOST_REVISIONS = 8
"""Revisions of recipe repositories that are read for one pull request."""

MOST_PAGES = 400
"""Pages that are looked through for the one that a snippet or a checkpoint belongs to."""

_ENGINES: Mapping[str, Engine] = {VLLM_RECIPES: "vllm", SGLANG: "sglang"}
_DOCUMENTATION = sglang.DOCS_ROOTS


class Recipes(msgspec.Struct, frozen=True):
    """Recipe repositories as far as they were read: trees by the names that `Trees.upstream` gives them, the commit of
    each, and what is known of linked pull requests."""

    trees: dict[str, Tree]
    revisions: dict[str, str]
    pulls: Part[tuple[UpstreamPullRequest, ...]]


class Wanted(msgspec.Struct, frozen=True):
    """A revision to read (a SHA, or `main`) and the name it gets, the pages that are wanted, and files that belong to
    pages not known by name."""

    name: str
    repository: str
    revision: str
    pages: tuple[RecipeLink, ...]
    parts: tuple[str, ...]


def recipe_links(texts: Iterable[str]) -> tuple[RecipeLink, ...]:
    """The published recipe pages that texts link, each once."""
    from reviewer_tui.signoff.links import find_urls

    urls = dict.fromkeys(found.url for text in texts for found in find_urls(text[:LONGEST_TEXT]))
    return tuple(link for link in map(judge, urls) if link.form == "page")


def wanted_revisions(pulls: Iterable[UpstreamPullRequest], links: Iterable[RecipeLink]) -> tuple[Wanted, ...]:
    """What links and merged pull requests stand for: main once a repository, and each merge commit, the last linked
    first."""
    found: list[Wanted] = []
    mains: dict[str, Wanted] = {}

    def publish(repository: str, pages: tuple[RecipeLink, ...], parts: tuple[str, ...] = ()) -> None:
        known = mains.get(repository, Wanted(repository, repository, "main", (), ()))
        mains[repository] = msgspec.structs.replace(known, pages=known.pages + pages, parts=known.parts + parts)

    for link in links:
        if link.form == "page" and link.repository is not None:
            publish(link.repository, (link,))
    for pull in pulls:
        engine = _ENGINES.get(pull.repository)
        changed = recipe_files(pull.repository, pull.files)
        if engine is None or pull.state != "merged" or not changed:
            continue
        named = {path: page for path in changed if (page := page_of_file(pull.repository, path))}
        pages = tuple(judge(page_address(engine, page)) for page in dict.fromkeys(named.values()))
        parts = tuple(path for path in changed if path not in named)
        publish(pull.repository, pages, parts)
        if pull.merge_commit:
            name = f"{pull.repository}@{pull.merge_commit}"
            found.append(Wanted(name, pull.repository, pull.merge_commit, pages, parts))
    return (*mains.values(), *reversed(found))[:MOST_REVISIONS]


class RecipeReader:
    """Reads with the token first, and without where an organisation refuses it for what everybody may read."""

    def __init__(self, client: GitHubClient, anonymous: GitHubClient, store: ObjectStore, report: Report) -> None:
        self._client = client
        self._anonymous = anonymous
        self._store = store
        self._report = report

    async def read(self, pulls: Part[tuple[UpstreamPullRequest, ...]], links: Sequence[RecipeLink]) -> Recipes:
        """The recipes behind links and merged pull requests. What could not be had is said with the pull requests."""
        doubts = Doubts()
        wanted = wanted_revisions(pulls.value or (), links)
        stage = Stage(self._report, "upstream recipes", len(wanted))
        found = await together(
            *(stage.piece(doubts.attempt(self._one(one), f"What {one.name} documents")) for one in wanted)
        )
        revisions = {one.name: sha for one, sha in zip(wanted, found, strict=True) if sha is not None}
        trees = upstream_trees(self._store, self._client.host.name, revisions)
        if doubts and pulls.value is not None:
            reason = " ".join(filter(None, (pulls.reason, doubts.reason)))
            pulls = partial(pulls.value, reason, pulls.remedy or doubts.remedy or AGAIN)
        return Recipes(trees, revisions, pulls)

    async def _one(self, wanted: Wanted) -> str:
        """Have what is wanted of one revision at hand; its commit."""
        if self._client is not self._anonymous and self._client.has_token:
            try:
                return await self._asked(self._client, wanted)
            except (PermissionMissingError, SingleSignOnError, TokenRefusedError):
                pass
        return await self._asked(self._anonymous, wanted)

    async def _asked(self, client: GitHubClient, wanted: Wanted) -> str:
        objects = GitHubObjects(client, self._client.host.name, wanted.repository, self._store)
        commit = objects.commit(wanted.revision)
        if commit is None:
            address = f"/repos/{wanted.repository}/commits/{wanted.revision}"
            commit = git_commit_of(await client.get(address, CommitItem, per_page=1))
            objects.keep_commits((commit,))
            if wanted.revision == "main":
                self._store.write_name(objects.host, wanted.repository, "main", commit.sha)
        if wanted.repository == SGLANG:
            await objects.load_below(commit.tree, _DOCUMENTATION)
        else:
            await objects.load_folders((commit.tree,))
        tree = StoredObjects(self._store, objects.host, wanted.repository).tree(commit)
        await objects.load_files(blobs_of(tree, (*_shared(tree, wanted), *_own(tree, wanted), *wanted.parts)))
        if (others := await asyncio.to_thread(_others, tree, wanted)) is not None:
            await objects.load_files(blobs_of(tree, others[:MOST_PAGES]), whatever_the_cost=False)
        if wanted.repository == SGLANG:
            await objects.load_files(blobs_of(tree, await asyncio.to_thread(_snippets, tree, wanted)))
        return commit.sha


def _shared(tree: Tree, wanted: Wanted) -> tuple[str, ...]:
    """What every page of the repository is read with."""
    if wanted.repository == SGLANG:
        return tuple(f"{root}/docs.json" for root in _DOCUMENTATION)
    return ("taxonomy.yaml", *tree.list("strategies"), *tree.list("kv_store"))


def _own(tree: Tree, wanted: Wanted) -> tuple[str, ...]:
    """The files of the wanted pages."""
    return tuple(path for link in wanted.pages for path in link.files if tree.blob(path) is not None)


def _others(tree: Tree, wanted: Wanted) -> tuple[str, ...] | None:
    """All pages, where one is wanted that is not known by its file; None where none is."""
    if wanted.repository == SGLANG:
        placed = {_inside(path) for page in _own(tree, wanted) for path in sglang.page_files(tree, page)}
        lost = {_inside(path) for path in wanted.parts} - placed
        return tuple(sglang.pages(tree)) if lost else None
    lacking = any(not any(tree.blob(path) for path in link.files) for link in wanted.pages)
    return tree.list("models") if lacking or wanted.parts else None


def _snippets(tree: Tree, wanted: Wanted) -> tuple[str, ...]:
    """The files that the wanted pages import."""
    own = _own(tree, wanted)
    parts = {_inside(path) for path in wanted.parts}
    found = {path: None for page in own for path in sglang.page_files(tree, page)}
    for page in sglang.pages(tree) if parts - {_inside(path) for path in found} else ():
        try:
            files = sglang.page_files(tree, page)
        except DataError:
            continue  # it was too dear to load
        if parts & {_inside(path) for path in files}:
            found.update(dict.fromkeys(files))
    return tuple(found)


def _inside(path: str) -> str:
    """A path below the documentation's folder, which was renamed on the way."""
    return path.partition("/")[2]
