"""Speaking to one GitHub: reads with revalidation, paging, retries and visible waits; writes once and only once.

Everything runs on one event loop in a thread of its own: plain code hands coroutines to `run`. Answers are validated
where they come in; an unexpected shape is an error that names endpoint and field.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Coroutine, Iterable, Mapping
from functools import lru_cache
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode, urljoin

import msgspec

from reviewer_tui.sources.github.auth import Token
from reviewer_tui.sources.github.background import Background, together
from reviewer_tui.sources.github.errors import (
    GitHubError,
    RateLimitedError,
    RedirectRefusedError,
    RequestRefusedError,
    ShapeError,
    TokenRefusedError,
    TooLargeError,
    UncertainWriteError,
)
from reviewer_tui.sources.github.etags import AnswerStore, answer_key, pack, unpack
from reviewer_tui.sources.github.failures import failure_of, log_in_again, refusal_message
from reviewer_tui.sources.github.hosts import Host
from reviewer_tui.sources.github.limits import TRIES, Pace
from reviewer_tui.sources.github.paging import MOST_PAGES, PAGE_SIZE, Listing, Page, following_pages, links_of
from reviewer_tui.sources.github.transport import (
    BROKEN,
    CONNECTIONS,
    MOST_REDIRECTS,
    MOVED,
    NOT_SENT,
    Response,
    Timeouts,
    Transport,
    endpoint_of,
    is_hopeless,
    lost,
)

T = TypeVar("T")
Item = TypeVar("Item")

JSON = "application/vnd.github+json"
RAW = "application/vnd.github.raw+json"

LARGEST_ANSWER = 40 << 20
"""Bytes of one answer; GitHub's own caps (7 MB for a tree) are below."""

WRITE_INTERVAL = 1.0
"""Seconds between two writes, as GitHub's best practices ask."""

_SERVER_FAULTS = (500, 502, 503, 504)
_FIELD = re.compile(r" - at `(.+)`\Z")


class Answer(msgspec.Struct, Generic[T], frozen=True):
    """One validated answer, the addresses of its Link header by relation, and its headers."""

    value: T
    links: dict[str, str]
    headers: Mapping[str, str]


class GitHubClient:
    """One host with one token (or none). `answers` keeps validated answers with their ETag; `pace` waits."""

    def __init__(
        self,
        host: Host,
        token: Token | None = None,
        *,
        answers: AnswerStore | None = None,
        pace: Pace | None = None,
        timeouts: Timeouts | None = None,
        connections: int = CONNECTIONS,
        background: Background | None = None,
    ) -> None:
        self.host = host
        self.answers = answers
        self.pace = pace or Pace()
        self.has_token = token is not None
        self.reader = token.fingerprint if token else ""
        self._version = host.version
        self._timeouts = timeouts
        self._transport = Transport(host, token, timeouts, connections)
        self._background = background or Background()
        self._siblings: list[GitHubClient] = []
        self._writing = asyncio.Lock()
        self._next_write = 0.0
        self._refused = False

    @property
    def requests(self) -> int:
        """How many requests were sent so far, storage included."""
        return self._transport.requests

    # --- life ------------------------------------------------------------------------------------------------------

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine of this client, waited for in the calling thread."""
        return self._background.run(work)

    def cancel(self) -> None:
        """End everything under way; callers of `run` get LoadCancelledError. From any thread."""
        self._background.cancel()

    def sibling(self, host: Host, token: Token | None = None) -> GitHubClient:
        """A client of another host or token on the same event loop, closed together with this one."""
        sibling = GitHubClient(
            host,
            token,
            answers=self.answers,
            pace=self.pace.sibling(),
            timeouts=self._timeouts,
            background=self._background,
        )
        self._siblings.append(sibling)
        return sibling

    def close(self) -> None:
        """Close all connections, those of siblings too, and end the thread, for good."""
        for client in (*self._siblings, self):
            if client.requests:
                self.run(client._transport.close())
        self._background.stop()

    def __enter__(self) -> GitHubClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- reading ---------------------------------------------------------------------------------------------------

    async def get(self, path: str, shape: type[T], **params: str | int) -> T:
        """One validated answer. `path` starts with `/` below the host's interface, or is an address from an answer."""
        return (await self.answer(path, shape, **params)).value

    async def answer(self, path: str, shape: type[T], **params: str | int) -> Answer[T]:
        """One validated answer with its links; the kept one where GitHub says that it did not change (304)."""
        url = self._address(path, params)
        key = answer_key(
            api=self.host.api, url=url, accept=JSON, version=self._version, reader=self.reader, shape=shape
        )
        kept = unpack(self.answers.read_answer(key)) if self.answers else None
        response = await self._read(url, JSON, etag=kept.etag if kept else "")
        if response.status == 304 and kept:
            try:
                value: T = _kept_value(kept.body, shape)
                return Answer(value, links_of(kept.link), response.headers)
            except msgspec.MsgspecError:
                response = await self._read(url, JSON)
        value = self._decoded(response, shape, endpoint_of("GET", url))
        link = response.headers.get("link", "")
        if self.answers and (etag := response.headers.get("etag")):
            self.answers.write_answer(key, pack(etag, link, msgspec.json.encode(value)))
        return Answer(value, links_of(link), response.headers)

    async def listing(self, path: str, item: type[Item], **params: str | int) -> Listing[Item]:
        """All pages of a list."""
        shape: type[tuple[Item, ...]] = tuple[item, ...]  # type: ignore[valid-type]
        pages = await self.pages(path, shape, **params)
        return Listing(tuple(one for page in pages for one in page.value), withheld=_withheld(pages))

    async def counted_listing(self, path: str, page: type[Page[Item]], **params: str | int) -> Listing[Item]:
        """All pages of a list that GitHub wraps in an object with a count."""
        pages = await self.pages(path, page, **params)
        items = tuple(one for answer in pages for one in answer.value.items)
        return Listing(items, max(answer.value.total_count for answer in pages), _withheld(pages))

    async def pages(self, path: str, shape: type[T], **params: str | int) -> list[Answer[T]]:
        """All pages: the first, then the others at once where their addresses follow from the links, else in turn."""
        first = await self.answer(path, shape, **{"per_page": PAGE_SIZE, **params})
        following = following_pages(first.links)
        if following is not None:
            return [first, *await together(*(self.answer(url, shape) for url in following))]
        pages, seen = [first], set[str]()
        while (url := pages[-1].links.get("next", "")) and url not in seen and len(pages) < MOST_PAGES:
            seen.add(url)
            pages.append(await self.answer(url, shape))
        return pages

    async def raw(self, path: str, *, limit: int = LARGEST_ANSWER, **params: str | int) -> bytes:
        """The bytes behind an address in GitHub's raw form; neither kept nor revalidated."""
        url = self._address(path, params)
        response = await self._read(url, RAW, limit=limit)
        if response.status != 200:
            raise self._failure(endpoint_of("GET", url), response)
        return response.body

    async def query(self, query: str, variables: Mapping[str, str], shape: type[T]) -> T:
        """A GraphQL query: a read, sent again where it fails. `shape` is that of `data`. Needs a token."""
        content = msgspec.json.encode({"query": query, "variables": variables})
        response = await self._read(self.host.graphql, JSON, content=content, resource="graphql")
        endpoint = "POST /graphql"
        envelope: _Envelope = self._decoded(response, _Envelope, endpoint)
        if envelope.errors:
            said = "; ".join(error.message for error in envelope.errors[:3])[:300]
            raise RequestRefusedError(f"GitHub refused a query: {said}", endpoint=endpoint, status=response.status)
        data: T = _decode(bytes(envelope.data), shape, endpoint)
        return data

    async def download(self, path: str, *, limit: int, digest: str = "") -> bytes:
        """A file that GitHub keeps elsewhere: the redirect is followed by hand, without the token. `digest` is
        `sha256:` with hex digits; content that differs is refused, and so is more than `limit` bytes."""
        url = self._address(path, {})
        endpoint = endpoint_of("GET", url)
        response = await self._read(url, JSON, limit=limit, follow=False)
        if response.status in MOVED:
            response = await self._transport.fetch_elsewhere(response.headers.get("location", ""), limit, endpoint)
        if response.status != 200:
            raise self._failure(endpoint, response)
        _check_digest(response.body, digest, endpoint)
        return response.body

    # --- writing ---------------------------------------------------------------------------------------------------

    async def write(self, method: str, path: str, content: Any, shape: type[T]) -> T:
        """Send a POST or PATCH exactly once. Raises UncertainWriteError where GitHub may have done it without saying so
        clearly (so it is, too, when the caller was cancelled or interrupted); any other error means that nothing was
        written."""
        url = self._address(path, {})
        endpoint = endpoint_of(method, url)
        async with self._writing:
            await self._wait_to_write(endpoint)
            try:
                response = await self._transport.send(
                    method, url, self._headers(JSON, "", content), msgspec.json.encode(content), LARGEST_ANSWER
                )
            except NOT_SENT as fault:
                raise lost(endpoint, fault) from None
            except (*BROKEN, TooLargeError) as fault:
                raise _uncertain(endpoint, str(fault) or type(fault).__name__) from None
        self.pace.note(response.headers)
        if limited := self.pace.limited(response.status, response.headers, refusal_message(response.body)):
            self.pace.close("core", *limited)
            kind, until = limited
            raise RateLimitedError("GitHub asks to wait before writing.", kind=kind, until=until, endpoint=endpoint)
        if response.status >= 500:
            raise _uncertain(endpoint, f"GitHub answered {response.status}")
        if response.status in MOVED:
            raise RedirectRefusedError(
                f"GitHub sent {endpoint} elsewhere; a write is not sent after it.",
                "The repository may have been renamed: use its new name.",
                endpoint=endpoint,
                status=response.status,
            )
        try:
            written: T = self._decoded(response, shape, endpoint)
            return written
        except ShapeError as fault:
            raise _uncertain(endpoint, fault.message) from None

    async def _wait_to_write(self, endpoint: str) -> None:
        await self.pace.admit("core", endpoint)
        self._stop_if_refused()
        now = asyncio.get_running_loop().time()
        await asyncio.sleep(max(0.0, self._next_write - now))
        self._next_write = max(now, self._next_write) + WRITE_INTERVAL

    # --- inside ----------------------------------------------------------------------------------------------------

    async def _read(
        self,
        url: str,
        accept: str,
        *,
        etag: str = "",
        content: bytes | None = None,
        resource: str = "core",
        limit: int = LARGEST_ANSWER,
        follow: bool = True,
    ) -> Response:
        """The final answer to a read, of whatever status: asked again without the version where the host does not know
        it, and after redirects on the same host."""
        for _ in range(MOST_REDIRECTS):
            response = await self._tried(url, accept, etag, content, resource, limit)
            if self._version and response.status == 400 and "version" in refusal_message(response.body).lower():
                self._version = ""
                continue
            if not follow or response.status not in MOVED:
                return response
            endpoint, url = endpoint_of("GET", url), urljoin(url, response.headers.get("location", ""))
            if not self._transport.is_own(url):
                raise RedirectRefusedError(
                    f"{endpoint} was sent to another host, which is not followed.",
                    endpoint=endpoint,
                    status=response.status,
                )
        raise RedirectRefusedError(f"{endpoint_of('GET', url)} is sent round in circles.")

    async def _tried(
        self, url: str, accept: str, etag: str, content: bytes | None, resource: str, limit: int
    ) -> Response:
        """The answer to a read, sent again after faults of the way, server faults and rate limits, with visible
        waits."""
        method = "GET" if content is None else "POST"
        endpoint = endpoint_of(method, url)
        for attempt in range(1, TRIES + 1):
            await self.pace.admit(resource, endpoint)
            self._stop_if_refused()
            last = attempt == TRIES
            try:
                response = await self._transport.send(method, url, self._headers(accept, etag, content), content, limit)
            except BROKEN as fault:
                if last or is_hopeless(fault):
                    raise lost(endpoint, fault) from None
                await self.pace.pause_before(attempt, "The connection to GitHub broke.")
                continue
            self.pace.note(response.headers)
            if limited := self.pace.limited(response.status, response.headers, refusal_message(response.body)):
                self.pace.close(resource, *limited)
                if last:
                    kind, until = limited
                    raise RateLimitedError(
                        "GitHub keeps asking to slow down.", kind=kind, until=until, endpoint=endpoint
                    )
            elif response.status in _SERVER_FAULTS and not last:
                await self.pace.pause_before(attempt, f"GitHub answered {response.status}.")
            else:
                break
        self._refused = self._refused or (response.status == 401 and self.has_token)
        return response

    def _headers(self, accept: str, etag: str, content: object) -> dict[str, str]:
        headers = {"Accept": accept, "X-GitHub-Api-Version": self._version, "If-None-Match": etag}
        if content is not None:
            headers["Content-Type"] = "application/json"
        return {name: value for name, value in headers.items() if value}

    def _address(self, path: str, params: Mapping[str, str | int]) -> str:
        url = path if path.startswith(("http://", "https://")) else f"{self.host.api}{path}"
        return f"{url}{'&' if '?' in url else '?'}{urlencode(params)}" if params else url

    def _stop_if_refused(self) -> None:
        if self._refused:
            raise TokenRefusedError(
                "GitHub refuses the token; nothing more is sent with it.",
                log_in_again(self.host.name),
                status=401,
            )

    def _decoded(self, response: Response, shape: Any, endpoint: str) -> Any:
        if not 200 <= response.status < 300:
            raise self._failure(endpoint, response)
        return _decode(response.body, shape, endpoint)

    def _failure(self, endpoint: str, response: Response) -> GitHubError:
        return failure_of(
            endpoint,
            response.status,
            response.headers,
            response.body,
            web_host=self.host.name,
            has_token=self.has_token,
        )


class _QueryError(msgspec.Struct, frozen=True):
    message: str = ""
    type: str = ""


class _Envelope(msgspec.Struct, frozen=True):
    data: msgspec.Raw = msgspec.Raw(b"null")
    errors: tuple[_QueryError, ...] = ()


@lru_cache(maxsize=256)
def _decoder(shape: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(shape)


def _decode(body: bytes, shape: Any, endpoint: str) -> Any:
    """A body in its shape. Raises ShapeError that names endpoint and field."""
    try:
        return _decoder(shape).decode(body)
    except msgspec.ValidationError as fault:
        found = _FIELD.search(str(fault))
        field, what = (found[1] if found else "$"), _FIELD.sub("", str(fault))
        raise ShapeError(
            f"{endpoint} answered in an unknown shape at {field}: {what}.", field=field, endpoint=endpoint
        ) from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise ShapeError(f"{endpoint} answered with something that is no JSON.", field="$", endpoint=endpoint) from None


def _kept_value(body: bytes, shape: Any) -> Any:
    return _decoder(shape).decode(body)


def _withheld(pages: Iterable[Answer[Any]]) -> str:
    marked = any("partial-results" in page.headers.get("x-github-sso", "") for page in pages)
    return "GitHub left out what organisations with single sign-on hold back from this token." if marked else ""


def _check_digest(content: bytes, digest: str, endpoint: str) -> None:
    algorithm, _, expected = digest.partition(":")
    if algorithm == "sha256" and hashlib.sha256(content).hexdigest() != expected.lower():
        raise ShapeError(f"{endpoint} gave content that does not fit its digest.", field="digest", endpoint=endpoint)


def _uncertain(endpoint: str, what: str) -> UncertainWriteError:
    return UncertainWriteError(
        f"It is not known whether GitHub did {endpoint}: {what}.",
        "Look at the pull request before sending it again.",
        endpoint=endpoint,
    )
