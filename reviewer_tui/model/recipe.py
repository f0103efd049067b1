"""Upstream recipes: the links of a sign-off and the state of what they point to."""

from __future__ import annotations

from typing import Literal

import msgspec


class UpstreamPullRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A pull request of a recipe repository. `state` is `open`, `closed` or `merged`; times are ISO 8601, UTC.

    `base_ref` is the branch it goes into (empty where it is not known); `read_at` is when the host was asked.
    """

    repository: str
    number: int
    title: str
    state: Literal["open", "draft", "closed", "merged"]
    url: str
    merged_at: str | None = None
    merge_commit: str | None = None
    files: tuple[str, ...] = ()
    summary: str = ""
    base_ref: str = ""
    opened_at: str = ""
    read_at: str = ""
