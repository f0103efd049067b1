"""The links of a sign-off: where each stands, and what it points to.

The template's own text is full of links, among them the roots of both recipe sites; they say nothing about the pull
request and are marked as the template's own wherever they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import islice
from urllib.parse import unquote, urlsplit

import msgspec

from reviewer_tui.model.checklist import ChecklistTemplate, SignOff
from reviewer_tui.model.refs import DEFAULT_HOST, DEFAULT_REPOSITORY
from reviewer_tui.recipes.links import SGLANG, VLLM_RECIPES, Form, RecipeLink, judge
from reviewer_tui.signoff.match import Matching
from reviewer_tui.signoff.parse import read_lines

MAX_LINKS = 2_000

_UPSTREAM = (VLLM_RECIPES, SGLANG)
_RECIPE_FOLDERS = ("docs", "docs_new", "docs/cookbook", "docs_new/cookbook", "models")


class LinkKind(StrEnum):
    """What a link points to."""

    RUN = "run"
    CHECK_RUN = "check_run"
    DASHBOARD = "dashboard"
    UPSTREAM_PULL_REQUEST = "upstream_pull_request"
    UPSTREAM_FILE = "upstream_file"
    RECIPE_PAGE = "recipe_page"
    LEGACY_RECIPE = "legacy_recipe"
    RECIPE_ROOT = "recipe_root"
    PULL_REQUEST = "pull_request"
    COMMENT = "comment"
    WAIVER = "waiver"
    CHECKLIST = "checklist"
    FILE = "file"
    OTHER = "other"


_RECIPE_KINDS: Mapping[Form, LinkKind] = {
    "pull_request": LinkKind.UPSTREAM_PULL_REQUEST,
    "page": LinkKind.RECIPE_PAGE,
    "root": LinkKind.RECIPE_ROOT,
    "file": LinkKind.UPSTREAM_FILE,
    "branch": LinkKind.UPSTREAM_FILE,
    "commit": LinkKind.UPSTREAM_FILE,
    "legacy_page": LinkKind.LEGACY_RECIPE,
    "legacy_repository": LinkKind.LEGACY_RECIPE,
}


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """What a URL says. Only the fields of its kind are set.

    `repository` is `owner/name` in its own spelling; `number` a pull request's or a waiver's; `run_ids` the Actions
    runs (a dashboard link may name several); `comment` an anchor such as `issuecomment-123`; `revision` and `path` of a
    file link; `page` is `org/model` of a vLLM recipe or the path below `/cookbook/` of a cookbook page; `query` the
    arm that a recipe page link chooses.
    """

    url: str
    kind: LinkKind
    repository: str | None = None
    number: int | None = None
    run_ids: tuple[int, ...] = ()
    attempt: int | None = None
    job_id: int | None = None
    comment: str | None = None
    revision: str | None = None
    path: str | None = None
    page: str | None = None
    query: dict[str, str] = {}


class FoundUrl(msgspec.Struct, frozen=True, kw_only=True):
    """A URL in a text: its line (from 1), and the text of the Markdown link around it, if there is one."""

    url: str
    line: int
    text: str = ""


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """A link of a sign-off. `place` is the label of the item it stands in, `detail`, or `text` for anywhere else;
    `own` says that the template has the same link itself."""

    target: Target
    line: int
    place: str
    text: str = ""
    own: bool = False

    @property
    def kind(self) -> LinkKind:
        return self.target.kind


_BODY = r"[^\s<>\"\\^`{|}\u3000-\u303f\uff00-\uffef]{1,4000}"
_MARKDOWN = re.compile(
    r"\[(?P<text>[^\[\]\n]{0,500})\]\([ \t]{0,20}<?(?P<url>(?:[^\s<>()]|\([^\s<>()]{0,500}\)){1,4000})>?"
    r"(?:[ \t]{1,20}[\"'][^\n\"']{0,500}[\"'])?[ \t]{0,20}\)"
)
_BARE = re.compile(rf"https?://{_BODY}", re.IGNORECASE)
_SCHEMELESS = re.compile(
    rf"(?<![\w/.@:-])(?:www\.)?(?:github\.com|recipes\.vllm\.ai|docs\.sglang\.io)/{_BODY}", re.IGNORECASE
)
_SHORT = re.compile(
    r"(?<![\w/.-])(?P<repository>" + "|".join(map(re.escape, _UPSTREAM)) + r")#(?P<number>[1-9]\d{0,8})\b",
    re.IGNORECASE,
)
_WAIVER_PATH = re.compile(r"(?<![\w/.-])(?:[\w.-]+/){0,6}waivers?/(?P<number>[1-9]\d{0,8})(?:_zh)?\.md\b")
_TRAILING = ".,;:!?'\"*_~。，；：！？、"
_CLOSERS = {")": "(", "]": "[", "}": "{"}

_RUN = re.compile(r"/actions/runs/(?P<run>\d{1,20})(?:/attempts/(?P<attempt>\d{1,6}))?(?:/jobs?/(?P<job>\d{1,20}))?")
_CHECK_RUN = re.compile(r"/runs/(?P<job>\d{1,20})")
_PULL = re.compile(r"/pull/(?P<number>[1-9]\d{0,8})(?:/|$)")
_COMMENT = re.compile(r"(?:issuecomment-|pullrequestreview-|discussion_r|r)\d{1,20}$")
_REVISION = re.compile(
    r"/(?P<form>blob|tree|edit|raw|blame|commit|commits|compare|branches)(?:/(?P<revision>[^/]+))?(?:/(?P<path>.*))?"
)
_WAIVER = re.compile(r"(?:^|/)waivers?/(?P<number>[1-9]\d{0,8})(?:_zh)?\.md$")
_DASHBOARD_RUN = re.compile(r"&unofficialRuns?=([^&]{1,2000})", re.IGNORECASE)
_IDS = re.compile(r"\d{1,20}")


def find_urls(text: str) -> tuple[FoundUrl, ...]:
    """All URLs of a text in order: Markdown links, bare ones (closing punctuation cut off), the known hosts without a
    scheme, `owner/repo#N` of the recipe repositories, and paths of waivers. At most the first 2,000."""
    return _urls_in(enumerate(re.split(r"\r\n|\r|\n", text), 1))


def classify(url: str, repository: str = DEFAULT_REPOSITORY, host: str = DEFAULT_HOST) -> Target:
    """What a URL points to. `repository` is the reviewed one, `host` where it lives. Never fails."""
    try:
        parts = urlsplit(url)
        name = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return Target(url=url, kind=LinkKind.OTHER)
    if not parts.scheme and _WAIVER.search(parts.path):
        return _waiver(url, None, None, parts.path)
    if ids := _dashboard_runs(parts.query):
        return Target(url=url, kind=LinkKind.DASHBOARD, run_ids=ids, path=parts.path)
    path = parts.path
    if name == "raw.githubusercontent.com":
        name, path = "github.com", re.sub(r"^(/[^/]+/[^/]+)/", r"\1/raw/", path)
    if name in (host.lower(), "github.com"):
        return _on_github(url, name, path, parts.fragment, repository)
    return _recipe(url, judge(url), path) or Target(url=url, kind=LinkKind.OTHER)


def links_of(
    text: str,
    sign_off: SignOff,
    matching: Matching,
    template: ChecklistTemplate | None,
    *,
    repository: str = DEFAULT_REPOSITORY,
    host: str = DEFAULT_HOST,
) -> tuple[Link, ...]:
    """All links of a sign-off with the place each stands in. Quotations and hidden text are left out."""
    own = {_same(found.url) for found in find_urls(template.text)} if template else set()
    lines = ((line.number, line.text) for line in read_lines(text) if not line.quoted)
    return tuple(
        Link(
            target=classify(found.url, repository, host),
            line=found.line,
            place=_place(found.line, sign_off, matching),
            text=found.text,
            own=_same(found.url) in own,
        )
        for found in _urls_in(lines)
    )


def in_detail(links: Iterable[Link]) -> tuple[Link, ...]:
    """The links that the signer put into the detail section."""
    return tuple(link for link in links if link.place == "detail")


def _urls_in(lines: Iterable[tuple[int, str]]) -> tuple[FoundUrl, ...]:
    found = (FoundUrl(url=url, line=number, text=shown) for number, line in lines for url, shown in _in_line(line))
    return tuple(islice(found, MAX_LINKS))


def _in_line(line: str) -> Iterator[tuple[str, str]]:
    """URL and link text, from left to right; what one form has taken is blanked for the next."""
    found: list[tuple[int, str, str]] = []

    def take(match: re.Match[str]) -> str:
        if match.re is _MARKDOWN:
            if not (_BARE.match(match["url"]) or _WAIVER.search(match["url"])):
                return match[0]
            found.append((match.start(), match["url"], match["text"]))
        else:
            found.append((match.start(), _whole(match), ""))
        return " " * len(match[0])

    for pattern in (_MARKDOWN, _BARE, _SCHEMELESS, _SHORT, _WAIVER_PATH):
        line = pattern.sub(take, line)
    for _, url, shown in sorted(found):
        yield url, shown


def _whole(found: re.Match[str]) -> str:
    if found.re is _SHORT:
        return f"https://github.com/{found['repository']}/pull/{found['number']}"
    url = _trimmed(found[0])
    return f"https://{url}" if found.re is _SCHEMELESS else url


def _trimmed(url: str) -> str:
    """A bare URL without the punctuation of the sentence around it; a bracket stays where it was opened inside."""
    while url:
        last = url[-1]
        closes = last in _CLOSERS and url.count(last) > url.count(_CLOSERS[last])
        if last not in _TRAILING and not closes:
            break
        url = url[:-1]
    return url


def _same(url: str) -> str:
    """URLs that only differ in case of the host, a trailing slash or the fragment are the same link."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return f"{parts.netloc.lower()}{parts.path.rstrip('/')}?{parts.query}"


def _place(line: int, sign_off: SignOff, matching: Matching) -> str:
    if sign_off.detail_line is not None and line >= sign_off.detail_line:
        ends = [n for n in (sign_off.signature_line,) if n and n > sign_off.detail_line]
        first_box = sign_off.boxes[0].line if sign_off.boxes else 0
        if sign_off.detail_line < first_box:
            ends.append(first_box)
        if line < min(ends, default=line + 1):
            return "detail"
    before = [box for box in sign_off.boxes if box.line <= line]
    if not before or (sign_off.signature_line and line >= sign_off.signature_line > before[-1].line):
        return "text"
    match = matching.at_line(before[-1].line)
    return match.item.label if match else "text"


def _dashboard_runs(query: str) -> tuple[int, ...]:
    """The runs of a dashboard link: `?unofficialRun=<id>`, wherever the dashboard is served."""
    found = _DASHBOARD_RUN.search(f"&{query}")
    return tuple(int(number) for number in _IDS.findall(unquote(found[1]))) if found else ()


def _on_github(url: str, host: str, path: str, fragment: str, reviewed: str) -> Target:
    pieces = [unquote(piece) for piece in path.split("/") if piece]
    if len(pieces) < 2:
        return Target(url=url, kind=LinkKind.OTHER)
    repository, rest = f"{pieces[0]}/{pieces[1].removesuffix('.git')}", "".join(f"/{piece}" for piece in pieces[2:])
    if found := _RUN.match(rest):
        return Target(
            url=url,
            kind=LinkKind.RUN,
            repository=repository,
            run_ids=(int(found["run"]),),
            attempt=int(found["attempt"]) if found["attempt"] else None,
            job_id=int(found["job"]) if found["job"] else None,
        )
    if found := _CHECK_RUN.match(rest):
        return Target(url=url, kind=LinkKind.CHECK_RUN, repository=repository, job_id=int(found["job"]))
    comment = fragment if _COMMENT.match(fragment) else None
    if upstream := _recipe(url, judge(f"https://{host}/{repository}{rest}"), rest, comment):
        return upstream
    if found := _PULL.match(f"{rest}/"):
        kind = LinkKind.COMMENT if comment else LinkKind.PULL_REQUEST
        return Target(url=url, kind=kind, repository=repository, number=int(found["number"]), comment=comment)
    return _file(url, repository, rest, repository.lower() == reviewed.lower())


def _file(url: str, repository: str, rest: str, reviewed: bool) -> Target:
    revision, path = _revision_and_path(rest)
    if _WAIVER.search(path or ""):
        return _waiver(url, repository, revision, path or "")
    if (path or "").endswith("PR_REVIEW_CHECKLIST.md"):
        kind = LinkKind.CHECKLIST
    else:
        kind = LinkKind.FILE if reviewed and revision else LinkKind.OTHER
    return Target(url=url, kind=kind, repository=repository, revision=revision, path=path)


def _revision_and_path(rest: str) -> tuple[str | None, str | None]:
    """Of a link into a repository (`/blob/main/a/b`); without a revision, the path is the page's own."""
    found = _REVISION.match(rest)
    if not found:
        return None, rest.lstrip("/") or None
    return found["revision"], (found["path"] or "").rstrip("/") or None


def _waiver(url: str, repository: str | None, revision: str | None, path: str) -> Target:
    found = _WAIVER.search(path)
    return Target(
        url=url,
        kind=LinkKind.WAIVER,
        repository=repository,
        revision=revision,
        path=path,
        number=int(found["number"]) if found else None,
    )


def _recipe(url: str, link: RecipeLink, path: str, comment: str | None = None) -> Target | None:
    """A link to an upstream recipe or to something that is taken for one; None for any other."""
    kind = _RECIPE_KINDS.get(link.form)
    if kind is None and link.engine is not None:
        kind = LinkKind.LEGACY_RECIPE if path.strip("/") else LinkKind.RECIPE_ROOT
    if kind is None:
        return None
    in_repository = link.form in ("file", "branch", "commit", "legacy_repository")
    revision, file = _revision_and_path(path) if in_repository else (None, None)
    # The template links the folder of all cookbook pages: it names no recipe.
    if link.form == "branch" and (file in _RECIPE_FOLDERS or (file is None and revision in ("main", "master"))):
        kind = LinkKind.RECIPE_ROOT
    return Target(
        url=url,
        kind=kind,
        repository=link.repository,
        number=link.number,
        comment=comment,
        revision=revision,
        path=file,
        page=link.page if kind is LinkKind.RECIPE_PAGE else None,
        query=dict(link.query),
    )
