"""The state of pull requests in other repositories: the recipes that a sign-off links."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reviewer_tui.model.part import Part
from reviewer_tui.model.recipe import UpstreamPullRequest
from reviewer_tui.sources.github.background import both, together
from reviewer_tui.sources.github.client import GitHubClient
from reviewer_tui.sources.github.errors import PermissionMissingError, SingleSignOnError, TokenRefusedError
from reviewer_tui.sources.github.facts import is_merged, upstream_of
from reviewer_tui.sources.github.shapes import IssueEvent, Pull, PullFile
from reviewer_tui.sources.github.stages import Doubts, Report, Stage

MOST_PULLS = 20
"""Linked pull requests that are looked up."""


class UpstreamReader:
    """Asks with the token first. Organisations may refuse tokens for what everybody may read: then without."""

    def __init__(self, client: GitHubClient, anonymous: GitHubClient, report: Report, now: Callable[[], str]) -> None:
        self._client = client
        self._anonymous = anonymous
        self._report = report
        self._now = now

    async def states(self, pulls: Sequence[tuple[str, int]]) -> Part[tuple[UpstreamPullRequest, ...]]:
        """The states of pull requests, given by repository and number; in their order."""
        doubts = Doubts()
        if len(pulls) > MOST_PULLS:
            doubts.add(f"{len(pulls) - MOST_PULLS} further links to pull requests were not looked up.")
        stage = Stage(self._report, "linked pull requests", len(pulls[:MOST_PULLS]))
        states = await together(
            *(
                stage.piece(doubts.attempt(self.state(repository, number), f"{repository}#{number}"))
                for repository, number in pulls[:MOST_PULLS]
            )
        )
        return doubts.part(tuple(state for state in states if state is not None))

    async def state(self, repository: str, number: int) -> UpstreamPullRequest:
        """The state of one."""
        if self._client is not self._anonymous and self._client.has_token:
            try:
                return await self._asked(self._client, repository, number)
            except (PermissionMissingError, SingleSignOnError, TokenRefusedError):
                pass
        return await self._asked(self._anonymous, repository, number)

    async def _asked(self, client: GitHubClient, repository: str, number: int) -> UpstreamPullRequest:
        base = f"/repos/{repository}"
        pull, files = await both(
            client.get(f"{base}/pulls/{number}", Pull),
            client.listing(f"{base}/pulls/{number}/files", PullFile),
        )
        commit = pull.merge_commit_sha
        if is_merged(pull) and commit is None:  # newer versions of the interface say it only among the events
            events = await client.listing(f"{base}/issues/{number}/events", IssueEvent)
            commit = next((event.commit_id for event in events.items if event.event == "merged"), None)
        return upstream_of(repository, pull, files.items, commit, self._now())
