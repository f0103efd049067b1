"""Pull requests from a local clone: no network, no checkout, no program of the clone.

A clone knows commits and files. Title, conversation, runs, evals, results and the state of upstream recipes are the
host's, and say so as unavailable parts.
"""

from __future__ import annotations

import datetime
import re
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from reviewer_tui.model.errors import DataError, NotFoundError
from reviewer_tui.model.part import Part, complete, partial, unavailable
from reviewer_tui.model.pull_request import Commit, PullRequestRef
from reviewer_tui.model.refs import DEFAULT_HOST, DEFAULT_REPOSITORY, as_typed
from reviewer_tui.model.snapshot import Snapshot, Trees
from reviewer_tui.sources.difference import Differences
from reviewer_tui.sources.git import command, find_clone, run
from reviewer_tui.sources.history import Divergence, History
from reviewer_tui.sources.objects import GitCommit, GitTree, Objects
from reviewer_tui.sources.quoting import shown
from reviewer_tui.sources.source import Loaded, stranger_sentence

T = TypeVar("T")

_FETCH_PULLS = "fetch origin '+refs/pull/*/head:refs/pull/*/head'"

_REMOTES = ("upstream", "origin")  # the canonical repository's usual names, the better one first
_MOST_COMMITS = 1_000  # of one pull request that are told
_PULL_REF = re.compile(r"refs/(?:remotes/[^/]+/)?(?:pull|pr)/([1-9]\d{0,8})(?:/head)?\Z")


class CloneSource:
    """Pull requests of one clone (bare, normal, a work tree, or a folder inside of one).

    Not bound to a thread. Trees read from the clone for as long as they live, unless `close` ended it.
    """

    def __init__(self, path: Path | str, repository: str = DEFAULT_REPOSITORY, host: str = DEFAULT_HOST) -> None:
        self._clone = find_clone(path)
        self._repository = repository
        self._host = host
        self._objects = Objects(self._clone)
        self._history = History(self._objects)
        self._differences = Differences(self._clone, self._objects)

    def __enter__(self) -> CloneSource:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End git. What was read stays; reading more is an error."""
        self._objects.close()
        self._differences.close()

    def load(self, ref: PullRequestRef, *, head: str | None = None, policy_ref: str | None = None) -> Loaded:
        """One pull request, at `head` (a SHA or prefix) or at its newest head, under the policy of `policy_ref`.

        The base is the merge base with the default branch. Where a merge commit brought the pull request into the
        default branch already, that branch is seen as it was just before.
        """
        self._expect_repository(ref)
        tip = default_branch(self._objects)
        policy = tip if policy_ref is None else self._objects.resolve(policy_ref)
        newest = self._pull_request_head(ref.number, needed=head is None)
        target, doubts = self._before_merge(tip, newest) if newest is not None else (tip, ())
        chosen, stranger = (newest, "") if head is None else self._given_head(ref.number, head, newest, target)
        assert chosen is not None
        divergence = self._history.diverge(target.sha, chosen.sha)
        base = self._base(ref.number, chosen, target, divergence)
        doubts += _other_bases(divergence)
        snapshot = Snapshot(
            ref=ref,
            source="clone",
            taken_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
            head=chosen.sha,
            merge_base=base.sha,
            default_branch=target.sha,
            files=_doubted(self._differences.between(base, chosen), doubts),
            commits=_doubted(_commits(divergence), (*doubts, stranger)),
            head_doubt=stranger,
            info=_host_only("the title, author, state and description of a pull request", ref),
            conversation=_host_only("comments and reviews", ref),
            runs=_host_only("workflow runs", ref),
            evals=_host_only("eval scores", ref),
            results=_host_only("benchmark results", ref),
            upstream=_host_only("the state of upstream recipe pull requests", ref),
        )
        trees = Trees(
            policy=self._tree(policy),
            base=self._tree(base),
            head=self._tree(chosen),
            default_branch=self._tree(target),
        )
        return Loaded(snapshot, trees)

    def tree(self, revision: str) -> GitTree:
        """Any revision by SHA, prefix or name."""
        return self._tree(self._objects.resolve(revision))

    def merge_base(self, left: str, right: str) -> str | None:
        """The merge base of two revisions as git chooses it, a full SHA; None where they share no history."""
        return self._history.merge_base(self._objects.resolve(left).sha, self._objects.resolve(right).sha)

    def is_ancestor(self, old: str, new: str) -> bool:
        """Whether revision `new` contains revision `old`."""
        return self._history.is_ancestor(self._objects.resolve(old).sha, self._objects.resolve(new).sha)

    def pull_request_numbers(self) -> tuple[int, ...]:
        """The pull requests whose heads the clone has, ascending."""
        return self._numbers()

    def _tree(self, commit: GitCommit) -> GitTree:
        return GitTree(self._objects, commit)

    def _expect_repository(self, ref: PullRequestRef) -> None:
        if (ref.repository.lower(), ref.host.lower()) != (self._repository.lower(), self._host.lower()):
            raise DataError(
                f"{shown(self._clone.path)} is read as a clone of {self._host}/{self._repository}, "
                f"and {shown(ref.url)} is elsewhere.",
                "Name the clone's repository with --repo and --host, or give the clone of the other one.",
            )

    def _pull_request_head(self, number: int, *, needed: bool) -> GitCommit | None:
        names = [f"refs/pull/{number}/head"]
        for remote in _REMOTES:
            names += [
                f"refs/remotes/{remote}/{name}" for name in (f"pull/{number}/head", f"pull/{number}", f"pr/{number}")
            ]
        found = next((commit for commit in self._objects.find(names) if commit is not None), None)
        if found is None and needed:
            raise NotFoundError(
                f"{shown(self._clone.path)} has no head of pull request #{number}.",
                f"Fetch it with `{command(self._clone, _FETCH_PULLS)}`.",
            )
        return found

    def _before_merge(self, tip: GitCommit, newest: GitCommit) -> tuple[GitCommit, tuple[str, ...]]:
        """The default branch before a merge commit brought the pull request in, and what is uncertain about it."""
        if not self._history.is_ancestor(newest.sha, tip.sha):
            return tip, ()
        merge = self._history.merged_as(tip.sha, newest.sha)
        before = self._objects.commit(merge.parents[0]) if merge is not None else None
        if before is None or self._history.is_ancestor(newest.sha, before.sha):
            doubt = "The head is on the default branch itself, without a merge commit: what it was based on is unknown."
            return tip, (doubt,)
        return before, ()

    def _given_head(
        self, number: int, revision: str, newest: GitCommit | None, target: GitCommit
    ) -> tuple[GitCommit, str]:
        """The commit that the reader named as head, and a sentence where it need not be one of the pull request.

        What descends from the merge base may have been pushed out by force; nothing else can be the pull request's.
        """
        head = self._objects.resolve(revision)
        short = head.sha[:9]
        if newest is None:
            return head, f"The clone has no head of #{number}: that {short} is a commit of it is unverified."
        if head.sha == newest.sha:
            return head, ""
        if self._history.is_ancestor(head.sha, target.sha):
            raise DataError(
                f"{short} is a commit of the default branch, not of pull request #{number}.",
                f"Its newest head is {newest.sha[:9]}.",
            )
        if self._history.is_ancestor(head.sha, newest.sha) or self._history.is_ancestor(newest.sha, head.sha):
            return head, ""
        start = self._history.merge_base(target.sha, newest.sha)
        if start is not None and self._history.is_ancestor(start, head.sha):
            others = self._pull_requests_with(head.sha)
            return head, stranger_sentence(number, head.sha, newest.sha, others)
        raise DataError(
            f"{short} is no commit of pull request #{number}: it is not in the history of the head "
            f"{newest.sha[:9]}, and does not descend from its merge base.",
            f"Give a commit of the pull request; `{command(self._clone, f'log {newest.sha[:9]}')}` lists them.",
        )

    def _pull_requests_with(self, sha: str) -> tuple[int, ...]:
        """The pull requests whose history has a commit, ascending."""
        return self._numbers(f"--contains={sha}")

    def _numbers(self, *which: str) -> tuple[int, ...]:
        names = run(self._clone, "for-each-ref", *which, "--format=%(refname)", "refs/pull", "refs/remotes")
        found = (_PULL_REF.match(name) for name in names.decode("utf-8", "replace").splitlines())
        return tuple(sorted({int(match[1]) for match in found if match is not None}))

    def _base(self, number: int, chosen: GitCommit, target: GitCommit, divergence: Divergence) -> GitCommit:
        base = self._objects.commit(divergence.bases[0]) if divergence.bases else None
        if base is not None:
            return base
        if divergence.cut:
            raise DataError(
                f"{shown(self._clone.path)} is a shallow clone that ends before the merge base of #{number}.",
                f"Fetch the rest with `{command(self._clone, 'fetch --unshallow')}`.",
            )
        raise DataError(
            f"The head {chosen.sha[:9]} of #{number} shares no history with the default branch {target.sha[:9]}.",
            "Look whether the clone is one of this repository.",
        )


def default_branch(objects: Objects) -> GitCommit:
    """The tip of the branch that pull requests go into.

    A bare clone's HEAD names it. Elsewhere HEAD is whatever is checked out, so the remote's opinion comes first.
    """
    clone = objects.clone
    remotes = [f"refs/remotes/{remote}/{name}" for remote in _REMOTES for name in ("HEAD", "main", "master")]
    local = ["refs/heads/main", "refs/heads/master"]
    names = ["HEAD", *local, *remotes] if clone.bare else [*remotes, *local, "HEAD"]
    tip = next((commit for commit in objects.find(names) if commit is not None), None)
    if tip is None:
        raise NotFoundError(
            f"{shown(clone.path)} has no default branch: neither HEAD nor main nor master is there.",
            f"Fetch it with `{command(clone, 'fetch origin')}`.",
        )
    return tip


def _host_only(what: str, ref: PullRequestRef) -> Part[Any]:
    return unavailable(f"A clone does not hold {what}.", f"Load it from {ref.host}: reviewer-tui fetch {as_typed(ref)}")


def _doubted(part: Part[T], doubts: tuple[str, ...]) -> Part[T]:
    """The part, no longer complete where there are doubts about it."""
    if part.value is None or not any(doubts):
        return part
    return partial(part.value, " ".join(text for text in (*doubts, part.reason) if text), part.remedy)


def _other_bases(divergence: Divergence) -> tuple[str, ...]:
    if len(divergence.bases) < 2:
        return ()
    others = ", ".join(sha[:9] for sha in divergence.bases[1:])
    return (f"There are several merge bases: this is the one that git chooses, the others are {others}.",)


def _commits(divergence: Divergence) -> Part[tuple[Commit, ...]]:
    told = tuple(
        Commit(
            sha=commit.sha,
            parents=commit.parents,
            author=commit.author,
            authored_at=commit.authored_at,
            subject=commit.subject,
        )
        for commit in divergence.ahead[-_MOST_COMMITS:]
    )
    if len(told) < len(divergence.ahead):
        return partial(told, f"Only the newest {len(told):,} of {len(divergence.ahead):,} commits are told.")
    if divergence.cut:
        return partial(told, "The clone is shallow: older commits of the branch may be missing.")
    return complete(told)
