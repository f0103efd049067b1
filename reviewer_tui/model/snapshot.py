"""A snapshot: all facts of one pull request at one moment, each part complete, partial or unavailable."""

from __future__ import annotations

from typing import Literal

import msgspec

from reviewer_tui.model.part import Part, unavailable
from reviewer_tui.model.pull_request import ChangedFile, Comment, Commit, Event, PullRequestInfo, PullRequestRef
from reviewer_tui.model.recipe import UpstreamPullRequest
from reviewer_tui.model.result import BenchmarkResult, EvalScore, Published
from reviewer_tui.model.run import CommitStatus, Run
from reviewer_tui.model.tree import Tree

SourceName = Literal["clone", "github", "cache", "bundle", "sample"]


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The facts of a pull request. `taken_at` is ISO 8601, UTC; SHAs are full.

    `default_branch` is the tip that would be merged into; `merge_base` is the base of the difference. `viewer` is the
    login whose token read it (empty without one): GitHub computes an author's association for that reader. `statuses`
    are those of the head. `head_doubt` is a sentence where the head is not known to be a commit of the pull request,
    else empty.
    `upstream_revisions` are the commits of recipe repositories that were read, by the names of `Trees.upstream`.
    """

    ref: PullRequestRef
    source: SourceName
    taken_at: str
    head: str
    merge_base: str
    default_branch: str
    files: Part[tuple[ChangedFile, ...]]
    commits: Part[tuple[Commit, ...]]
    info: Part[PullRequestInfo]
    conversation: Part[tuple[Comment, ...]]
    runs: Part[tuple[Run, ...]]
    evals: Part[tuple[EvalScore, ...]]
    results: Part[tuple[BenchmarkResult, ...]]
    upstream: Part[tuple[UpstreamPullRequest, ...]]
    events: Part[tuple[Event, ...]] = unavailable("The history of labels was not read.")
    statuses: Part[tuple[CommitStatus, ...]] = unavailable("Commit statuses were not read.")
    published: Part[Published] = unavailable("Published results were not looked up.")
    viewer: str = ""
    head_doubt: str = ""
    upstream_revisions: dict[str, str] = {}


class Trees(msgspec.Struct, frozen=True, kw_only=True):
    """The revisions a review reads: the policy's, both sides of the difference, and the tip to merge into.

    `swept` holds commits of the pull request that were swept, by full SHA, as far as their files are known. `upstream`
    holds recipe repositories as far as their files are at hand: the published main by `owner/name`, and what a linked
    pull request was merged as by `owner/name@SHA`. Reading a file of them that is not at hand raises DataError.
    """

    policy: Tree
    base: Tree
    head: Tree
    default_branch: Tree
    swept: dict[str, Tree] = {}
    upstream: dict[str, Tree] = {}
