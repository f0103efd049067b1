"""Recipe links of a sign-off: which forms count, what they point to, and what to offer instead of those that do not.

Accepted are pull requests of the two recipe repositories (once merged) and published pages; roots, introductions,
files, branches, commits, legacy sites and engine pull requests are not. Source: check 3 of the repository's verifier
prompt, and the layouts of vllm-project/recipes and sgl-project/sglang.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from typing import Literal
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

import msgspec

from reviewer_tui.model.finding import Status
from reviewer_tui.model.recipe import UpstreamPullRequest
from reviewer_tui.model.tree import Tree
from reviewer_tui.recipes.arm import Engine

VLLM_RECIPES = "vllm-project/recipes"
SGLANG = "sgl-project/sglang"
VLLM_SITE = "recipes.vllm.ai"
SGLANG_SITE = "docs.sglang.io"

MAX_URL = 2_000

Standing = Literal["accepted", "needs_state", "rejected"]
Form = Literal[
    "pull_request",
    "page",
    "root",
    "file",
    "branch",
    "commit",
    "legacy_page",
    "legacy_repository",
    "engine_pull_request",
    "inferencex",
    "other",
]

_ENGINE: Mapping[str, Engine] = {VLLM_RECIPES: "vllm", SGLANG: "sglang"}
_LEGACY_REPOSITORIES = ("sgl-project/sgl-cookbook", "sgl-project/sglang-cookbook", "sgl-project/sgl-docs")
_ENGINE_REPOSITORIES = (
    "vllm-project/vllm",
    "vllm-project/vllm-omni",
    "rocm/atom",
    "ai-dynamo/dynamo",
    "nvidia/tensorrt-llm",
)
_SHORT = re.compile(r"([\w.-]{1,100}/[\w.-]{1,100})#(\d{1,9})")
_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
_PULL = re.compile(rf"/({_NAME}/{_NAME})/pulls?/(\d{{1,9}})(?:\.(?:diff|patch))?(?:/.*)?")
_REPOSITORY = re.compile(rf"/({_NAME}/{_NAME})(?:/(.*))?")
_NOT_PAGES = ("browse", "models", "search", "about", "strategies", "taxonomy", "quickstart", "platforms", "api")
_INTRODUCTIONS = ("", "intro", "introduction", "index", "overview")
_RECIPE_FILES: Mapping[str, re.Pattern[str]] = {
    VLLM_RECIPES: re.compile(r"(?:models/.+\.ya?ml|(?:strategies|kv_store)/.+\.ya?ml|taxonomy\.yaml)"),
    SGLANG: re.compile(r"docs(?:_new)?/(?:cookbook/.+|src/snippets/.+\.(?:jsx|mdx))"),
}


class RecipeLink(msgspec.Struct, frozen=True, kw_only=True):
    """A judged link.

    `standing` is `needs_state` where only the upstream repository can tell (is it merged, is the page there);
    `reason` says in a sentence why a link does not count or what is still to be found out. `files` are the places
    where a page's file can be, the newest layout first; `page` is `org/repo` of a vLLM recipe or the path below
    `/cookbook/`; `query` the arm that a vLLM link selects; `offer` an address to use instead.
    """

    url: str
    form: Form
    standing: Standing
    reason: str = ""
    engine: Engine | None = None
    repository: str | None = None
    number: int | None = None
    page: str | None = None
    query: Mapping[str, str] = {}
    files: tuple[str, ...] = ()
    offer: str | None = None


class LinkJudgement(msgspec.Struct, frozen=True, kw_only=True):
    """A link together with what the upstream repository says of it."""

    link: RecipeLink
    status: Status
    sentence: str
    offer: str | None = None


# -- the form alone ---------------------------------------------------------------------------------------------------


def judge(url: str) -> RecipeLink:
    """What a URL (or `owner/name#N`) is worth as a recipe link, by its form alone. Never raises."""
    text = url.strip().lstrip("<").rstrip(">.,;:!?)]}'\"*")[:MAX_URL]
    short = _SHORT.fullmatch(text)
    if short is not None:
        return _pull_request(url, short[1], int(short[2]))
    try:
        parts = urlsplit(text if "://" in text else f"https://{text}")
        host = (parts.hostname or "").removeprefix("www.").removesuffix(".")
        well_formed = parts.scheme in ("http", "https") and not parts.username and parts.port in (None, 80, 443)
    except ValueError:
        return _rejected(url, "other", "This is no address.")
    if not well_formed:
        return _rejected(url, "other", "This is not the plain address of a page.")
    path = posixpath.normpath(unquote(parts.path) or "/")
    match host:
        case "github.com" | "api.github.com":
            return _github(url, path.removeprefix("/repos") if host.startswith("api.") else path)
        case "recipes.vllm.ai":
            return _vllm_page(url, path, parts)
        case "docs.sglang.io":
            return _sglang_page(url, path)
        case "cookbook.sglang.io" | "lmsysorg.mintlify.app":
            return _legacy(url, "sglang", _legacy_site_page(path), "The cookbook moved to docs.sglang.io/cookbook.")
        case "docs.vllm.ai":
            return _legacy_vllm(url, path)
        case "raw.githubusercontent.com":
            return _rejected(url, "file", "A file at a revision is no published page and no merged pull request.")
        case _:
            return _rejected(url, "other", f"{host or 'This'} is not a recipe site.")


def _rejected(url: str, form: Form, reason: str, **fields: object) -> RecipeLink:
    return msgspec.structs.replace(RecipeLink(url=url, form=form, standing="rejected", reason=reason), **fields)


def _pull_request(url: str, repository: str, number: int) -> RecipeLink:
    name = next((known for known in _ENGINE if known.lower() == repository.lower()), None)
    if name is not None:
        return RecipeLink(
            url=url,
            form="pull_request",
            standing="needs_state",
            reason="Whether it is merged and touches recipe files, only its repository tells.",
            engine=_ENGINE[name],
            repository=name,
            number=number,
        )
    plain = repository.lower()
    if plain in _LEGACY_REPOSITORIES:
        reason = f"{repository} is a retired copy of the cookbook; a current published page is needed."
        return _rejected(url, "legacy_repository", reason, repository=repository, number=number)
    if plain.endswith("/inferencex"):
        reason = "A pull request of InferenceX documents nothing upstream."
        return _rejected(url, "inferencex", reason, repository=repository, number=number)
    kind = "an engine" if plain in _ENGINE_REPOSITORIES else "not a recipe"
    reason = f"{repository} is {kind} repository; recipes are in {VLLM_RECIPES} and {SGLANG}."
    return _rejected(url, "engine_pull_request", reason, repository=repository, number=number)


def _github(url: str, path: str) -> RecipeLink:
    pull = _PULL.fullmatch(path)
    if pull is not None and int(pull[2]) > 0:
        return _pull_request(url, pull[1], int(pull[2]))
    place = _REPOSITORY.fullmatch(path)
    if place is None:
        return _rejected(url, "other", "This is not a page of a repository.")
    repository, rest = place[1], place[2] or ""
    if repository.lower() in _LEGACY_REPOSITORIES:
        offer = _offered_page("sglang", _legacy_cookbook_page(rest))
        reason = f"{repository} is a retired copy of the cookbook; a current published page is needed."
        return _rejected(url, "legacy_repository", reason, repository=repository, offer=offer)
    if repository.lower().endswith("/inferencex"):
        return _rejected(url, "inferencex", "A page of InferenceX documents nothing upstream.", repository=repository)
    name = next((known for known in _ENGINE if known.lower() == repository.lower()), None)
    if name is None:
        return _rejected(url, "other", f"{repository} is not a recipe repository.", repository=repository)
    return _repository_page(url, name, rest)


def _repository_page(url: str, repository: str, rest: str) -> RecipeLink:
    """A page of a recipe repository that is no pull request."""
    engine = _ENGINE[repository]
    view, _, tail = rest.partition("/")
    if view in ("blob", "raw", "edit", "blame"):
        file = tail.partition("/")[2]
        page = page_of_file(repository, file)
        reason = "A file at a revision is no published page and no merged pull request."
        return _rejected(
            url, "file", reason, engine=engine, repository=repository, page=page, offer=_offered_page(engine, page)
        )
    if view == "tree" and tail:
        reason = "A branch or folder is no published page and no merged pull request."
        return _rejected(url, "branch", reason, engine=engine, repository=repository)
    if view in ("commit", "commits", "compare"):
        reason = "A commit is no published page and no merged pull request."
        return _rejected(url, "commit", reason, engine=engine, repository=repository)
    reason = f"The front page of {repository} names no recipe."
    return _rejected(url, "root" if not view else "other", reason, engine=engine, repository=repository)


def _vllm_page(url: str, path: str, parts: SplitResult) -> RecipeLink:
    words = [word for word in path.split("/") if word]
    if words and words[-1].endswith(".json"):
        words[-1] = words[-1].removesuffix(".json")
    if len(words) < 2 or words[0] in _NOT_PAGES or words[1] in ("hw", "strategies"):
        reason = "The title page names no recipe; a recipe's page is recipes.vllm.ai/<org>/<model>."
        return _rejected(url, "root", reason, engine="vllm")
    page = "/".join(words[:2])
    query = dict(parse_qsl(parts.query, max_num_fields=50)) if parts.query.count("&") < 50 else {}
    return RecipeLink(
        url=url,
        form="page",
        standing="needs_state",
        reason="Whether the recipe is on its main branch, only its repository tells.",
        engine="vllm",
        repository=VLLM_RECIPES,
        page=page,
        query=query,
        files=(f"models/{page}.yaml", f"models/{page}.yml"),
    )


def _sglang_page(url: str, path: str) -> RecipeLink:
    page = _below_cookbook(path)
    if page is None:
        reason = "This page of the SGLang documentation is not a page of the cookbook."
        return _rejected(url, "other", reason, engine="sglang")
    if page.rpartition("/")[2].lower() in _INTRODUCTIONS or page.count("/") < 1:
        reason = (
            "The cookbook's introduction names no recipe; a page is docs.sglang.io/cookbook/<kind>/<vendor>/<model>."
        )
        return _rejected(url, "root", reason, engine="sglang")
    return RecipeLink(
        url=url,
        form="page",
        standing="needs_state",
        reason="Whether the page is on main, only its repository tells.",
        engine="sglang",
        repository=SGLANG,
        page=page,
        files=cookbook_files(page),
    )


def _below_cookbook(path: str) -> str | None:
    """The page below `/cookbook/`, without a file's ending."""
    words = [word for word in path.split("/") if word]
    if "cookbook" not in words:
        return None
    page = "/".join(words[words.index("cookbook") + 1 :])
    for ending in (".html", ".mdx", ".md"):
        page = page.removesuffix(ending)
    return page


def cookbook_files(page: str) -> tuple[str, ...]:
    """Where the file of a cookbook page can be, today's folder first."""
    return tuple(f"{root}/cookbook/{page}{ending}" for root in ("docs", "docs_new") for ending in (".mdx", ".md"))


def _legacy(url: str, engine: Engine, page: str | None, reason: str) -> RecipeLink:
    return _rejected(
        url,
        "legacy_page",
        f"{reason} A current published page is needed.",
        engine=engine,
        page=page,
        offer=_offered_page(engine, page),
    )


def _legacy_vllm(url: str, path: str) -> RecipeLink:
    match = re.fullmatch(rf"/projects/recipes/(?:[\w.-]+/)*?(?:latest|stable|main)/({_NAME}/{_NAME})", path)
    if match is None:
        if path.startswith("/projects/recipes"):
            return _rejected(url, "root", "The title page of the earlier recipe site names no recipe.", engine="vllm")
        return _rejected(url, "other", "The engine's documentation is not a recipe.", engine="vllm")
    page = match[1].removesuffix(".html").removesuffix(".md")
    return _legacy(url, "vllm", page, "The recipes moved to recipes.vllm.ai.")


def _legacy_site_page(path: str) -> str | None:
    """The page of an address of the earlier cookbook site, which had the kinds at its root."""
    page = _below_cookbook(path if "/cookbook/" in path else f"/cookbook/{path.removeprefix('/docs').lstrip('/')}")
    return page if page and page.count("/") >= 2 else None


def _legacy_cookbook_page(rest: str) -> str | None:
    """The cookbook page of a file of the retired repository (`blob/main/docs/autoregressive/Qwen/Qwen3.5.md`)."""
    match = re.search(rf"docs/((?:autoregressive|diffusion|omni|base)/{_NAME}/{_NAME})", rest)
    return None if match is None else re.sub(r"\.mdx?$", "", match[1])


def _offered_page(engine: Engine, page: str | None) -> str | None:
    return None if page is None else page_address(engine, page)


def page_address(engine: Engine, page: str) -> str:
    """The published address of a page (`org/repo` of a vLLM recipe, or the path below `/cookbook/`)."""
    return f"https://{VLLM_SITE}/{page}" if engine == "vllm" else f"https://{SGLANG_SITE}/cookbook/{page}"


def page_of_file(repository: str, path: str) -> str | None:
    """The page that a file of a recipe repository is published as; None for other files."""
    if repository == VLLM_RECIPES:
        match = re.fullmatch(rf"models/({_NAME}/{_NAME})\.ya?ml", path)
        return None if match is None else match[1]
    match = re.fullmatch(r"docs(?:_new)?/cookbook/([\w./+-]{1,200}?)\.mdx?", path)
    return None if match is None else match[1]


# -- with what upstream says ------------------------------------------------------------------------------------------


def recipe_files(repository: str, files: Iterable[str]) -> tuple[str, ...]:
    """Those of the changed files that hold recipes."""
    pattern = _RECIPE_FILES.get(repository)
    return tuple(file for file in files if pattern is not None and pattern.fullmatch(file))


def judge_pull_request(link: RecipeLink, upstream: UpstreamPullRequest | None) -> LinkJudgement:
    """A linked pull request with its state; None where the state could not be read."""
    name = f"{link.repository}#{link.number}"
    if upstream is None:
        sentence = f"Whether {name} is merged could not be read."
        return LinkJudgement(link=link, status=Status.UNVERIFIED, sentence=sentence)
    if upstream.state != "merged" or not upstream.merged_at:
        state = {"open": "still open", "draft": "still a draft", "closed": "closed without being merged"}
        told = state.get(upstream.state, "said to be merged, but without a date")
        return LinkJudgement(
            link=link, status=Status.FAIL, sentence=f"{name} is {told}; a recipe counts once it is merged."
        )
    if upstream.base_ref not in ("", "main", "master"):
        sentence = f"{name} was merged into {upstream.base_ref}, not into main."
        return LinkJudgement(link=link, status=Status.FAIL, sentence=sentence)
    if not upstream.files:
        sentence = f"{name} is merged ({upstream.merged_at[:10]}); which files it changes could not be read."
        return LinkJudgement(link=link, status=Status.UNVERIFIED, sentence=sentence)
    touched = recipe_files(link.repository or "", upstream.files)
    if not touched:
        sentence = f"{name} is merged, but it is not a recipe pull request: it changes no file of the recipes."
        return LinkJudgement(link=link, status=Status.FAIL, sentence=sentence)
    pages = sorted({page for page in (page_of_file(link.repository or "", file) for file in touched) if page})
    about = f" and documents {', '.join(pages[:3])}" if pages else f" and changes {touched[0]}"
    return LinkJudgement(
        link=link, status=Status.PASS, sentence=f"{name} was merged on {upstream.merged_at[:10]}{about}."
    )


def judge_page(link: RecipeLink, main: Tree | None) -> LinkJudgement:
    """A linked page with the recipe repository's main; None where it could not be read."""
    if link.form != "page":
        offer = link.offer or (redirected_page(link, main) if main is not None else None)
        return LinkJudgement(link=link, status=Status.FAIL, sentence=f"{link.url}: {link.reason}", offer=offer)
    if main is None:
        sentence = f"Whether {link.page} is published could not be read: {link.repository} is not at hand."
        return LinkJudgement(link=link, status=Status.UNVERIFIED, sentence=sentence)
    file = next((path for path in link.files if main.blob(path) is not None), None)
    if file is not None:
        sentence = f"{link.page} is published ({file} at {main.revision[:9]})."
        return LinkJudgement(link=link, status=Status.PASS, sentence=sentence)
    parent = recipe_of_variant(link.page or "", main) if link.engine == "vllm" else None
    if parent is not None:
        sentence = f"{link.page} is published as a variant of {page_of_file(VLLM_RECIPES, parent)} ({parent})."
        return LinkJudgement(link=link, status=Status.PASS, sentence=sentence)
    offer = redirected_page(link, main) or moved_page(link, main)
    hint = f" It may have moved to {offer}." if offer else ""
    sentence = f"There is no page {link.page} on main at {main.revision[:9]}.{hint}"
    return LinkJudgement(link=link, status=Status.FAIL, sentence=sentence, offer=offer)


def page_file(link: RecipeLink, tree: Tree) -> str | None:
    """The file of a linked page at a revision, also of a variant that a vLLM recipe serves; None where it is not
    there."""
    own = next((path for path in link.files if tree.blob(path) is not None), None)
    return own or (recipe_of_variant(link.page, tree) if link.engine == "vllm" and link.page else None)


def recipe_of_variant(checkpoint: str, tree: Tree) -> str | None:
    """The vLLM recipe that has a variant with this checkpoint: the site sends its address there."""
    named = re.compile(
        rb"^\s*model_id:\s*[\"']?" + re.escape(checkpoint.encode()) + rb"[\"']?\s*(?:#.*)?$", re.M | re.I
    )
    for path in tree.list("models"):
        content = tree.read(path) if path.endswith((".yaml", ".yml")) else None
        if content is not None and named.search(content):
            return path
    return None


def redirected_page(link: RecipeLink, tree: Tree) -> str | None:
    """Where the documentation site sends an address that moved (`redirects` of `docs.json`); None where nowhere."""
    if link.engine != "sglang" or not link.url.startswith("http"):
        return None
    wanted = _plain_path(urlsplit(link.url).path)
    for root in ("docs", "docs_new"):
        for source, destination in _redirects(tree.read(f"{root}/docs.json")):
            if _plain_path(source) == wanted and destination.startswith("/cookbook/"):
                return f"https://{SGLANG_SITE}{destination}"
    return None


def _redirects(content: bytes | None) -> list[tuple[str, str]]:
    try:
        document = msgspec.json.decode(content or b"{}")
    except (msgspec.DecodeError, RecursionError):
        return []
    rows = document.get("redirects") if isinstance(document, dict) else None
    return [
        (row["source"], row["destination"])
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, dict) and isinstance(row.get("source"), str) and isinstance(row.get("destination"), str)
    ]


def _plain_path(path: str) -> str:
    return path.rstrip("/").removesuffix(".html").removesuffix(".md").lower()


def moved_page(link: RecipeLink, tree: Tree) -> str | None:
    """A published page of the same name in another folder or another case, or one that the legacy page became."""
    if link.page is None or link.engine is None:
        return None
    name = link.page.rpartition("/")[2].casefold()
    repository = VLLM_RECIPES if link.engine == "vllm" else SGLANG
    roots = ("models",) if link.engine == "vllm" else ("docs/cookbook", "docs_new/cookbook")
    for root in roots:
        pages = [page for path in tree.list(root) if (page := page_of_file(repository, path)) is not None]
        found = [page for page in pages if page.rpartition("/")[2].casefold() == name]
        if found:
            return _offered_page(link.engine, found[0])
    return None
