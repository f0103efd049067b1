"""Hosts: github.com, tenants on ghe.com, Enterprise servers, and a server on the own machine."""

from __future__ import annotations

import ipaddress
import re
from typing import Literal

import msgspec

from reviewer_tui.model.errors import UsageError

HostKind = Literal["github.com", "tenant", "enterprise", "loopback"]

# The newest version known where GitHub keeps itself up to date, the oldest where a server may be years old.
NEWEST_VERSION = "2026-03-10"
OLDEST_VERSION = "2022-11-28"

_NAME = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,62})(?:\.[a-z0-9][a-z0-9-]{0,62})*|\[[0-9a-f:]+\])(?::\d{1,5})?\Z")


class Host(msgspec.Struct, frozen=True):
    """One GitHub: its name as people write it (`github.com`, `git.example.org`), and where it answers."""

    name: str
    kind: HostKind

    @property
    def api(self) -> str:
        """Where the REST interface starts, without a trailing slash."""
        if self.kind == "github.com":
            return "https://api.github.com"
        if self.kind == "tenant":
            return f"https://api.{self.name}"
        return f"{self._web}/api/v3"

    @property
    def graphql(self) -> str:
        """Where GraphQL answers."""
        return f"{self._web}/api/graphql" if self.kind in ("enterprise", "loopback") else f"{self.api}/graphql"

    @property
    def version(self) -> str:
        """The version of the interface to ask for."""
        return NEWEST_VERSION if self.kind in ("github.com", "tenant") else OLDEST_VERSION

    @property
    def _web(self) -> str:
        return f"{'http' if self.kind == 'loopback' else 'https'}://{self.name}"


def parse_host(text: str) -> Host:
    """A host as typed or as it stands in a URL: any subdomain of github.com is github.com. Only the own machine
    (127.0.0.1, ::1, localhost) is spoken to without encryption. Raises UsageError."""
    name = text.strip().lower().removeprefix("https://").removeprefix("http://").rstrip("/")
    if not _NAME.match(name):
        raise UsageError(f"“{text}” names no host.", "Write --host as a name, for example github.com.")
    if name == "github.com" or name.endswith(".github.com"):
        return Host("github.com", "github.com")
    if name.endswith(".ghe.com"):
        return Host(name.removeprefix("api."), "tenant")
    return Host(name, "loopback" if _is_loopback(name) else "enterprise")


def _is_loopback(name: str) -> bool:
    bare = name.rsplit(":", 1)[0] if re.search(r":\d+\Z", name) and not name.endswith("]") else name
    bare = bare.strip("[]")
    if bare == "localhost":
        return True
    try:
        return ipaddress.ip_address(bare).is_loopback
    except ValueError:
        return False
