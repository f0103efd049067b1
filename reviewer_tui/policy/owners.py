"""Who must vouch for a path: the rules of CODEOWNERS."""

from __future__ import annotations

from typing import Literal

import msgspec


class Owner(msgspec.Struct, frozen=True):
    """One owner of a line: a login without `@`, a team as `org/team`, or an e-mail address."""

    kind: Literal["user", "team", "email"]
    name: str

    def __str__(self) -> str:
        return self.name if self.kind == "email" else f"@{self.name}"


class OwnerRule(msgspec.Struct, frozen=True, kw_only=True):
    """One line of CODEOWNERS. A rule without owners takes the ownership away from earlier lines."""

    pattern: str
    owners: tuple[Owner, ...]
    line: int

    @property
    def is_catch_all(self) -> bool:
        """Whether the line speaks about every path of the repository."""
        return self.pattern in ("*", "**", "/**", "**/*", "/**/*")


class Owners(msgspec.Struct, frozen=True, kw_only=True):
    """CODEOWNERS of one revision; `rules` in the file's order."""

    path: str
    rules: tuple[OwnerRule, ...]
