"""The open pull requests of a repository, and which paths each touches: what a queue is made of."""

from __future__ import annotations

import msgspec

from reviewer_tui.model.part import Part
from reviewer_tui.model.pull_request import PullRequestInfo, PullRequestRef
from reviewer_tui.sources.github.background import together
from reviewer_tui.sources.github.client import GitHubClient
from reviewer_tui.sources.github.facts import info_of
from reviewer_tui.sources.github.shapes import ListedPull, PullFile
from reviewer_tui.sources.github.stages import Doubts, Report, Stage

MOST_LISTED_FILES = 3_000
"""The files of a pull request that GitHub lists."""


class OpenPullRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One open pull request. `paths` are the changed ones, both names of a rename."""

    ref: PullRequestRef
    head: str
    info: PullRequestInfo
    paths: Part[tuple[str, ...]]


async def open_pulls(client: GitHubClient, host: str, repository: str, report: Report) -> tuple[OpenPullRequest, ...]:
    """All open pull requests, newest first. Their files take a request each, which costs nothing where they are
    unchanged."""
    listing = await client.listing(f"/repos/{repository}/pulls", ListedPull, state="open")
    pulls = {pull.number: pull for pull in listing.items}
    stage = Stage(report, "open pull requests", len(pulls))
    paths = await together(*(stage.piece(_paths(client, repository, number)) for number in pulls))
    found = [
        OpenPullRequest(
            ref=PullRequestRef(repository, pull.number, host), head=pull.head.sha, info=info_of(pull), paths=touched
        )
        for pull, touched in zip(pulls.values(), paths, strict=True)
    ]
    return tuple(sorted(found, key=lambda one: -one.ref.number))


async def _paths(client: GitHubClient, repository: str, number: int) -> Part[tuple[str, ...]]:
    doubts = Doubts()
    files = await doubts.attempt(
        client.listing(f"/repos/{repository}/pulls/{number}/files", PullFile), f"The files of #{number}"
    )
    if files is None:
        return doubts.nothing()
    if len(files.items) >= MOST_LISTED_FILES:
        doubts.add(f"GitHub lists no more than {MOST_LISTED_FILES:,} files.")
    names = (name for file in files.items for name in (file.previous_filename, file.filename) if name)
    return doubts.part(tuple(dict.fromkeys(names)))
