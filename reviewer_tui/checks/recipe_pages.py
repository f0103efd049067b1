"""The pages behind recipe links: of a pull request as it was merged and as they are published now, read into arms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from reviewer_tui.checks.check import Evidence
from reviewer_tui.checks.recipe_links import REPOSITORIES, JudgedLink, Page, Pages, how_to_get
from reviewer_tui.model.errors import DataError
from reviewer_tui.model.finding import Problem
from reviewer_tui.model.tree import Tree
from reviewer_tui.recipes import sglang
from reviewer_tui.recipes.arm import Engine
from reviewer_tui.recipes.find import candidate_pages, read_page
from reviewer_tui.recipes.links import judge, page_address, page_file, page_of_file, recipe_files
from reviewer_tui.recipes.reading import NOT_PUBLISHED
from reviewer_tui.recipes.submitted import Variant


def linked_pages(evidence: Evidence, links: Iterable[JudgedLink], variants: Sequence[Variant]) -> Pages:
    """The pages that accepted links stand for, read for the hardware of the variants: of a pull request the pages that
    it changes, as it left them and as they are published now; of a page what is published."""
    pages: dict[tuple[str, str], Page] = {}
    absent: dict[str, None] = {}
    for judged in links:
        mine = [variant for variant in variants if variant.engine == judged.link.engine]
        if not judged.accepted or not mine:
            continue
        for tree, missing in _revisions(evidence, judged):
            if tree is None:
                absent[missing] = None
                continue
            try:
                for page in _pages_of(judged, tree, mine):
                    pages.setdefault((page.path, _content(page, tree)), page)
            except DataError as error:
                absent[str(error)] = None
    return Pages(pages=tuple(pages.values()), absent=tuple(absent))


def _revisions(evidence: Evidence, judged: JudgedLink) -> Iterator[tuple[Tree | None, str]]:
    """Where to read what a link stands for: the tree if it is at hand, and what to say if not."""
    repository, trees = judged.link.repository or "", evidence.trees.upstream
    commit = judged.upstream.merge_commit if judged.upstream else None
    if judged.link.form == "pull_request":
        merged = (
            f"The recipe files of {repository}#{judged.link.number} as merged are not at hand. {how_to_get(repository)}"
        )
        yield trees.get(f"{repository}@{commit}") if commit else None, merged
    yield trees.get(repository), f"The published pages of {repository} are not at hand. {how_to_get(repository)}"


def _content(page: Page, tree: Tree) -> str:
    """The objects that make up a page: pages that did not change between two commits are one."""
    files = sglang.page_files(tree, page.path) if page.engine == "sglang" else (page.path,)
    return " ".join(tree.blob(path) or "" for path in files)


def _pages_of(judged: JudgedLink, tree: Tree, variants: Sequence[Variant]) -> Iterator[Page]:
    engine = judged.link.engine or "sglang"
    for path in _paths(judged, tree, engine, variants):
        yield Page(
            link=judged.link,
            engine=engine,
            repository=judged.link.repository or REPOSITORIES[engine],
            path=path,
            commit=tree.revision,
            reading=read_page(tree, engine, path, variants),
        )


def _paths(judged: JudgedLink, tree: Tree, engine: Engine, variants: Sequence[Variant]) -> tuple[str, ...]:
    """The files of the pages that a link stands for."""
    if judged.upstream is None:
        path = page_file(judged.link, tree)
        return (path,) if path else ()
    repository, files = judged.upstream.repository, judged.upstream.files
    pages = {file: page_of_file(repository, file) for file in recipe_files(repository, files)}
    links = (judge(page_address(engine, page)) for page in pages.values() if page)
    found = dict.fromkeys(path for link in links if (path := page_file(link, tree)))
    # Snippets and strategies have no page of their own: the submitted models' pages may be made of them.
    parts = _inside(file for file, page in pages.items() if page is None)
    if engine == "sglang":
        parts -= _inside(file for path in found for file in sglang.page_files(tree, path))
    for path in candidate_pages(variants, tree, engine) if parts else ():
        if engine == "vllm" or parts & _inside(sglang.page_files(tree, path)):
            found[path] = None
    return tuple(found)


def _inside(paths: Iterable[str]) -> set[str]:
    """Paths below the documentation's folder, which was renamed on the way."""
    return {path.partition("/")[2] for path in paths}


def problems_of(pages: Iterable[Page]) -> tuple[Problem, ...]:
    """What could not be read on the pages, each once. What a page does not publish was read, and counts for
    nothing."""
    found = dict.fromkeys(problem for page in pages for problem in page.reading.problems)
    return tuple(problem for problem in found if problem.rule not in NOT_PUBLISHED)
