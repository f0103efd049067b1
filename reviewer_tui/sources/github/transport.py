"""Single requests: one pool of kept-alive HTTP/1.1 connections to the own host, another, without token, to strangers.

The token is a default header of the first pool and of nothing else, so that no redirect, hook or traceback carries it.
Answers are read up to a limit and within a time, whatever the other side does.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from urllib.parse import urljoin, urlsplit

import httpx
import msgspec

from reviewer_tui import __version__
from reviewer_tui.sources.github.auth import Token
from reviewer_tui.sources.github.errors import ConnectionLostError, RedirectRefusedError, TooLargeError
from reviewer_tui.sources.github.hosts import Host
from reviewer_tui.sources.github.redaction import redact

CONNECTIONS = 16
"""Requests under way at once: GitHub allows a hundred, and asks to stay far below."""

MOVED = (301, 302, 307, 308)
MOST_REDIRECTS = 5

NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
"""Faults that happen before anything of a request has left."""

BROKEN = (httpx.HTTPError, TimeoutError)
"""Every fault of the way; `NOT_SENT` are among them."""


class Timeouts(msgspec.Struct, frozen=True):
    """Seconds to connect, between two pieces of an answer, to send, and for one request as a whole (downloads get
    four times that)."""

    connect: float = 5.0
    read: float = 30.0
    write: float = 10.0
    whole: float = 60.0


class Response(msgspec.Struct, frozen=True):
    """An answer read to its end. Header names are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """Sends single requests for one host and token. All coroutines run on one event loop."""

    def __init__(
        self, host: Host, token: Token | None, timeouts: Timeouts | None = None, connections: int = CONNECTIONS
    ) -> None:
        self.requests = 0
        self._host = host
        self._token = token
        self._timeouts = timeouts or Timeouts()
        self._connections = connections
        self._slots = asyncio.Semaphore(connections)
        self._own: httpx.AsyncClient | None = None
        self._strangers: httpx.AsyncClient | None = None
        self._tls: ssl.SSLContext | None = None

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes | None, limit: int
    ) -> Response:
        """One request to the own host, with the token; redirects are not followed. Raises the faults of `BROKEN`,
        TooLargeError, and RedirectRefusedError for an address elsewhere."""
        if not self.is_own(url):
            raise RedirectRefusedError(f"An answer of GitHub names an address on another host: {urlsplit(url).netloc}.")
        if self._own is None:
            token = {"Authorization": f"Bearer {self._token.value}"} if self._token else {}
            self._own = self._pool(token)
        async with self._slots, asyncio.timeout(self._timeouts.whole):
            return await self._exchange(self._own, method, url, headers, content, limit)

    async def fetch_elsewhere(self, url: str, limit: int, endpoint: str) -> Response:
        """What lies at a signed address of some storage, its redirects followed; no token, and the address is never
        shown. Raises ConnectionLostError, TooLargeError and RedirectRefusedError."""
        if self._strangers is None:
            self._strangers = self._pool({})
        for _ in range(MOST_REDIRECTS):
            if not self._may_fetch(url):
                raise RedirectRefusedError(f"{endpoint} was sent to an unencrypted address.", endpoint=endpoint)
            try:
                async with self._slots, asyncio.timeout(self._timeouts.whole * 4):
                    response = await self._exchange(self._strangers, "GET", url, {}, None, limit)
            except BROKEN as fault:
                raise lost(f"the storage behind {endpoint}", fault) from None
            if response.status not in MOVED:
                return response
            url = urljoin(url, response.headers.get("location", ""))
        raise RedirectRefusedError(f"{endpoint} is sent round in circles.", endpoint=endpoint)

    def is_own(self, url: str) -> bool:
        """Whether an address is on this host's interface: only there may the token go."""
        try:
            target = urlsplit(url)
            place = (target.scheme, target.hostname, target.port)
        except ValueError:
            return False
        own = (urlsplit(self._host.api), urlsplit(self._host.graphql))
        return target.username is None and place in [(url.scheme, url.hostname, url.port) for url in own]

    async def close(self) -> None:
        """Close all connections; later requests open new ones."""
        pools = [pool for pool in (self._own, self._strangers) if pool]
        self._own = self._strangers = None
        for pool in pools:
            await pool.aclose()

    async def _exchange(
        self,
        pool: httpx.AsyncClient,
        method: str,
        url: str,
        headers: Mapping[str, str],
        content: bytes | None,
        limit: int,
    ) -> Response:
        self.requests += 1
        async with pool.stream(method, url, headers=headers, content=content) as response:
            pieces, size = [], 0
            async for piece in response.aiter_bytes():
                size += len(piece)
                if size > limit:
                    raise TooLargeError(f"The answer to {endpoint_of(method, url)} is larger than {limit:,} bytes.")
                pieces.append(piece)
            return Response(response.status_code, dict(response.headers), b"".join(pieces))

    def _pool(self, headers: Mapping[str, str]) -> httpx.AsyncClient:
        """A pool; the TLS context (tens of milliseconds) is made with the first one."""
        loopback = self._host.kind == "loopback"
        if self._tls is None and not loopback:
            self._tls = httpx.create_ssl_context()
        seconds = self._timeouts
        return httpx.AsyncClient(
            verify=self._tls or False,
            headers={"User-Agent": f"reviewer-tui/{__version__}", **headers},
            trust_env=not loopback,
            follow_redirects=False,
            timeout=httpx.Timeout(connect=seconds.connect, read=seconds.read, write=seconds.write, pool=None),
            limits=httpx.Limits(max_connections=self._connections, max_keepalive_connections=self._connections),
        )

    def _may_fetch(self, url: str) -> bool:
        try:
            parts = urlsplit(url)
        except ValueError:
            return False
        encrypted = parts.scheme == "https" or (parts.scheme == "http" and self._host.kind == "loopback")
        return encrypted and bool(parts.netloc)


def endpoint_of(method: str, url: str) -> str:
    """Method and path of an address, without host and query, for messages."""
    return f"{method} {urlsplit(url).path.removeprefix('/api/v3')}"


def is_hopeless(fault: Exception) -> bool:
    """Whether trying again cannot help: a certificate that is refused stays refused."""
    return "CERTIFICATE" in str(fault).upper()


def lost(endpoint: str, fault: Exception) -> ConnectionLostError:
    """The error for a fault of the way."""
    silent = isinstance(fault, TimeoutError | httpx.TimeoutException)
    what = "no answer in time" if silent else redact(str(fault)) or type(fault).__name__
    if is_hopeless(fault):
        remedy = "If your company inspects traffic, name its certificate in SSL_CERT_FILE."
    else:
        remedy = "Check the network; --offline works with what the cache holds."
    return ConnectionLostError(f"GitHub could not be reached for {endpoint}: {what}.", remedy, endpoint=endpoint)
