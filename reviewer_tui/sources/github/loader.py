"""Pull requests from GitHub: everything of one, at once and complete, and kept for when there is no network.

One load goes four round trips deep for the texts and the files, and as many more for what sweeps measured. Each part of
the snapshot is checked against GitHub's own counts. Git objects are read by name and kept for ever; all other answers
are revalidated, so that loading again costs nothing of the budget where nothing changed.
"""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec

from reviewer_tui.model.errors import NotFoundError
from reviewer_tui.model.part import Part, complete, partial, unavailable
from reviewer_tui.model.pull_request import ChangedFile, PullRequestRef
from reviewer_tui.model.refs import DEFAULT_REPOSITORY, as_typed
from reviewer_tui.model.result import Published
from reviewer_tui.model.run import CheckRun, JobLog, Run
from reviewer_tui.model.snapshot import Snapshot, Trees
from reviewer_tui.model.tree import Tree
from reviewer_tui.policy.layout import discover_layout
from reviewer_tui.recipes.links import SGLANG, VLLM_RECIPES, RecipeLink
from reviewer_tui.sources.difference import changed_entries
from reviewer_tui.sources.github.background import both, together
from reviewer_tui.sources.github.client import GitHubClient
from reviewer_tui.sources.github.errors import HiddenError
from reviewer_tui.sources.github.facts import (
    changed_files,
    commit_of,
    conversation_of,
    events_of,
    git_commit_of,
    info_of,
    plain_lines,
    status_of,
)
from reviewer_tui.sources.github.hosts import parse_host
from reviewer_tui.sources.github.logs import read_log
from reviewer_tui.sources.github.measurements import MeasurementReader, chosen_sweeps
from reviewer_tui.sources.github.mentions import mentioned_pulls, mentioned_runs
from reviewer_tui.sources.github.objects import GitHubObjects
from reviewer_tui.sources.github.paging import PAGE_SIZE, Listing
from reviewer_tui.sources.github.posting import CommentBoard, RepositoryState
from reviewer_tui.sources.github.queue import OpenPullRequest, open_pulls
from reviewer_tui.sources.github.recipes import RecipeReader, recipe_links
from reviewer_tui.sources.github.runs import Branch, RunReader
from reviewer_tui.sources.github.shapes import (
    CombinedStatus,
    CommitItem,
    Comparison,
    IssueComment,
    IssueEvent,
    PermissionLevel,
    Pull,
    PullFile,
    Review,
    ReviewComment,
    StatusItem,
    Viewer,
)
from reviewer_tui.sources.github.stages import Doubts, Progress, Report
from reviewer_tui.sources.github.upstream import UpstreamReader
from reviewer_tui.sources.github.wanted import blobs_of, config_files, launch_files, policy_files, workflow_files
from reviewer_tui.sources.job_logs import keep_log, kept_log
from reviewer_tui.sources.objects import GitCommit
from reviewer_tui.sources.source import Loaded, stranger_sentence
from reviewer_tui.sources.stored import Store, kept_pages

T = TypeVar("T")

MOST_CHANGED_FILES = 50_000
"""Changed files that are told at all."""

MOST_LIKELY_FILES = 3_000
"""Changed files and scripts that are loaded ahead; what is beyond is loaded when it is read."""

_LOADING = "This is still being loaded."


class Watch(msgspec.Struct, frozen=True):
    """Who is told while one load is under way: how far it is, and every state of the snapshot that is worth showing,
    with parts that are still unavailable. Called from another thread, and never after the load has returned or raised,
    so that a late answer cannot take a newer one's place."""

    progress: Report = lambda _: None
    partial: Callable[[Loaded], None] = lambda _: None


class TokenFacts(msgspec.Struct, frozen=True):
    """What GitHub says of a token. `scopes` are a classic token's, joined by commas (empty for others, which have
    permissions instead); `expires` is a time as GitHub writes it, empty where it does not say."""

    login: str
    scopes: str
    expires: str


class GitHubSource:
    """Pull requests of one repository, read through a client and kept in a store. Trees go on reading through both."""

    def __init__(
        self,
        client: GitHubClient,
        store: Store,
        repository: str = DEFAULT_REPOSITORY,
        *,
        now: Callable[[], str] | None = None,
        watch: Watch | None = None,
    ) -> None:
        self._client = client
        self._watch = watch or Watch()
        self._store = store
        self._repository = repository
        self._now = now or _utc_now
        self._objects: dict[str, GitHubObjects] = {}
        self._upstream, self._anonymous = _upstream_clients(client)

    def load(
        self,
        ref: PullRequestRef,
        *,
        head: str | None = None,
        policy_ref: str | None = None,
        watch: Watch | None = None,
    ) -> Loaded:
        """One pull request, at `head` (a SHA or prefix) or at its newest head, under the policy of `policy_ref`. Raises
        GitHubError where the pull request itself, its commits or its files cannot be had; what else is missing is said
        in the parts. `watch` is told of this load, instead of the one that is told of all."""
        load = _Load(self._client, self.objects(ref.repository), ref, watch or self._watch, self._now)
        progress = load.watch.progress
        upstream = UpstreamReader(self._upstream, self._anonymous, progress, self._now)
        recipes = RecipeReader(self._upstream, self._anonymous, self._store, progress)
        loaded = self._client.run(load.whole(head, policy_ref, upstream, recipes))
        loaded = Loaded(_with_kept_results(self._store, loaded.snapshot), loaded.trees)
        self._store.write_snapshot(loaded.snapshot, loaded.trees.policy.revision)
        return loaded

    def with_recipes(self, loaded: Loaded, texts: Sequence[str], day: str) -> Loaded:
        """What was loaded, with the recipes that texts link which are not in the conversation (those came with it)."""
        said = {comment.body for comment in loaded.snapshot.conversation.value or ()}
        fresh = [text for text in texts if text not in said]
        known = {(pull.repository.lower(), pull.number) for pull in loaded.snapshot.upstream.value or ()}
        pulls = [p for p in mentioned_pulls(fresh, self._repository) if (p[0].lower(), p[1]) not in known]
        links = recipe_links(fresh)
        if not pulls and not links:
            return loaded
        return self._client.run(self._with_recipes(loaded, pulls, links))

    def pages(self, day: str) -> dict[str, Tree]:
        """What earlier loads read of the published pages of recipe repositories, as of the end of a day. Asks for
        nothing."""
        return kept_pages(self._store, (self._upstream.host.name,), (VLLM_RECIPES, SGLANG), day)

    def with_published(self, loaded: Loaded) -> Loaded:
        """What was loaded, with the published results of the points that it measured. They alone are kept, beside what
        the load of the same facts has kept: what was handed over may hold what others said than GitHub. Asked for by
        itself, because nothing waits for it. Raises GitHubError only where the token is refused or the load ended."""
        # What reads YAML is slow to import, and a load begins without it.
        from reviewer_tui.sources.github.published import PublishedReader

        objects = self.objects(loaded.snapshot.ref.repository)
        reader = PublishedReader(self._client, objects, self._watch.progress)
        published = self._client.run(reader.read(loaded.snapshot, loaded.trees))
        _keep_published(self._store, loaded.snapshot, published)
        return Loaded(msgspec.structs.replace(loaded.snapshot, published=published), loaded.trees)

    async def _with_recipes(
        self, loaded: Loaded, pulls: Sequence[tuple[str, int]], links: Sequence[RecipeLink]
    ) -> Loaded:
        progress, snapshot = self._watch.progress, loaded.snapshot
        states = await UpstreamReader(self._upstream, self._anonymous, progress, self._now).states(pulls)
        told = (snapshot.upstream, states)
        every = tuple(pull for part in told for pull in part.value or ())
        reason = " ".join(part.reason for part in told if part.reason)
        part = complete(every) if all(one.complete for one in told) else partial(every, reason, states.remedy)
        found = await RecipeReader(self._upstream, self._anonymous, self._store, progress).read(part, links)
        revisions = {**snapshot.upstream_revisions, **found.revisions}
        return Loaded(
            msgspec.structs.replace(snapshot, upstream=found.pulls, upstream_revisions=revisions),
            msgspec.structs.replace(loaded.trees, upstream={**loaded.trees.upstream, **found.trees}),
        )

    def job_log(self, ref: PullRequestRef, job: CheckRun) -> JobLog:
        """The end of a job's log, kept once the job is done. Raises GitHubError."""
        kept = kept_log(self._store, ref.host, ref.repository, job.id)
        if kept is not None:
            return kept
        log = self._client.run(read_log(self._client, ref.repository, job))
        if job.status == "completed":
            keep_log(self._store, ref.host, ref.repository, log)
        return log

    def viewer(self) -> TokenFacts:
        """Whose token this is and what it may do. Raises GitHubError, for example where there is no token."""
        answer = self._client.run(self._client.answer("/user", Viewer))
        return TokenFacts(
            login=answer.value.login,
            scopes=answer.headers.get("x-oauth-scopes", ""),
            expires=answer.headers.get("github-authentication-token-expiration", ""),
        )

    def permission(self, login: str) -> str:
        """What an account may do in the repository: its role (`admin`, `maintain`, `write`, …). Raises GitHubError;
        PermissionMissingError where the token's own account may not push, which is no answer about `login`."""
        address = f"/repos/{self._repository}/collaborators/{quote(login, safe='')}/permission"
        level = self._client.run(self._client.get(address, PermissionLevel))
        return level.role_name or level.permission

    def open_pull_requests(self, watch: Watch | None = None) -> tuple[OpenPullRequest, ...]:
        """The open pull requests of the repository with the paths that they touch, newest first."""
        report = (watch or Watch()).progress
        return self._client.run(open_pulls(self._client, self._client.host.name, self._repository, report))

    def board(self, ref: PullRequestRef) -> CommentBoard:
        """The conversation of a pull request, to read it afresh and to post to it."""
        return CommentBoard(self._client, ref)

    def repository_state(self) -> RepositoryState:
        """What of the repository matters to somebody who wants to comment. Raises GitHubError."""
        return self._client.run(self._client.get(f"/repos/{self._repository}", RepositoryState))

    def cancel(self) -> None:
        """End whatever is being read, from another thread: it raises LoadCancelledError there."""
        self._client.cancel()

    def tree(self, revision: str) -> Tree:
        """Any revision by SHA, prefix or name."""
        objects = self.objects(self._repository)
        return objects.tree(self._client.run(_resolved(self._client, objects, revision)))

    def objects(self, repository: str) -> GitHubObjects:
        """The git objects of a repository on this host."""
        if repository not in self._objects:
            self._objects[repository] = GitHubObjects(self._client, self._client.host.name, repository, self._store)
        return self._objects[repository]


class _Texts(msgspec.Struct, frozen=True):
    """What the first round trip brings."""

    pull: Pull
    commits: tuple[GitCommit, ...]
    files: Listing[PullFile] | None
    mentioned: tuple[str, ...]


class _Load:
    """One load: its parts as they become known."""

    def __init__(
        self, client: GitHubClient, objects: GitHubObjects, ref: PullRequestRef, watch: Watch, now: Callable[[], str]
    ) -> None:
        self.watch = watch
        self._client = client
        self._objects = objects
        self._ref = ref
        self._base = f"/repos/{ref.repository}"
        self._now = now
        self._parts: dict[str, Part[Any]] = dict.fromkeys(
            ("files", "commits", "info", "conversation", "runs", "evals", "results", "upstream", "events", "statuses"),
            unavailable(_LOADING),
        )
        self._viewer = ""
        self._head_doubt = ""
        self._trees: Trees | None = None
        self._swept: dict[str, Tree] = {}
        self._upstream: dict[str, Tree] = {}
        self._upstream_revisions: dict[str, str] = {}

    async def whole(
        self, head: str | None, policy_ref: str | None, upstream: UpstreamReader, recipes: RecipeReader
    ) -> Loaded:
        texts = await self._texts(head)
        await together(
            self._revisions(texts, head, policy_ref),
            self._sweeps(texts),
            self._statuses(texts),
            self._linked(texts.mentioned, upstream, recipes),
        )
        return self._loaded()

    # --- the first round trip --------------------------------------------------------------------------------------

    async def _texts(self, head: str | None) -> _Texts:
        """The pull request and everything that can be asked for by its number alone."""
        number, doubts = self._ref.number, {name: Doubts() for name in ("conversation", "events", "files")}
        said, history = doubts["conversation"], doubts["events"]
        pulls, issues = f"{self._base}/pulls/{number}", f"{self._base}/issues/{number}"
        read = self._client.listing
        results: list[Any] = await together(
            self._demanded(self._client.get(pulls, Pull)),
            self._demanded(read(f"{pulls}/commits", CommitItem)),
            doubts["files"].attempt(read(f"{pulls}/files", PullFile), "The list of changed files"),
            said.attempt(read(f"{issues}/comments", IssueComment), "The comments"),
            said.attempt(read(f"{pulls}/reviews", Review), "The reviews"),
            said.attempt(read(f"{pulls}/comments", ReviewComment), "The comments on lines"),
            history.attempt(read(f"{issues}/events", IssueEvent), "The history of labels"),
            self._who_reads(),
        )
        pull: Pull = results[0]
        listed: Listing[CommitItem] = results[1]
        comments, reviews, inline, events, self._viewer = results[3:]
        self.watch.progress(Progress("pull request and conversation", 1, 1))
        commits = await self._commits(pull, listed, head)
        self._parts["info"] = complete(info_of(pull))
        self._parts["events"] = history.part(events_of(events.items)) if events else history.nothing()
        if comments or reviews or inline:
            _expect(said, comments, pull.comments, "comments")
            _expect(said, inline, pull.review_comments, "comments on lines")
            self._parts["conversation"] = said.part(conversation_of(_items(comments), _items(reviews), _items(inline)))
        else:
            self._parts["conversation"] = said.nothing()
        spoken = self._parts["conversation"].value or ()
        mentioned = (plain_lines(pull.body), *(comment.body for comment in spoken))
        return _Texts(pull, commits, results[2], mentioned)

    async def _demanded(self, work: Awaitable[T]) -> T:
        """What there is of every pull request that is there."""
        try:
            return await work
        except HiddenError as fault:
            what = f"#{self._ref.number} of {self._ref.repository}"
            raise HiddenError(
                f"Pull request {what} is not there, or hidden from this reader.",
                fault.remedy,
                endpoint=fault.endpoint,
                status=404,
            ) from None

    async def _who_reads(self) -> str:
        """The login whose token this is; empty where GitHub does not say (a token of an app has none)."""
        if not self._client.has_token:
            return ""
        viewer = await Doubts().attempt(self._client.get("/user", Viewer), "The login")
        return viewer.login if viewer else ""

    async def _commits(self, pull: Pull, listed: Listing[CommitItem], head: str | None) -> tuple[GitCommit, ...]:
        """The commits up to the head that is asked for, oldest first. GitHub lists 250 of a pull request; a comparison
        has them all."""
        items, short = listed.items, len(listed.items) < pull.commits
        chosen = [n for n, item in enumerate(items) if head is not None and item.sha.startswith(head.lower())]
        if len(chosen) == 1:
            items, short = items[: chosen[0] + 1], False
        elif head is not None and not pull.head.sha.startswith(head.lower()):
            resolved = await self._client.get(f"{self._base}/commits/{quote(head, safe='')}", CommitItem, per_page=1)
            items = await self._compared_commits(pull, resolved.sha) or (resolved,)
            own = listed.items if not short else await self._compared_commits(pull, pull.head.sha)
            if resolved.sha not in {item.sha for item in own} and pull.head.sha not in {item.sha for item in items}:
                self._head_doubt = stranger_sentence(self._ref.number, resolved.sha, pull.head.sha)
            short = False
        if short:
            items = await self._compared_commits(pull, pull.head.sha)
        commits = tuple(git_commit_of(item) for item in items)
        self._objects.keep_commits(commits)
        if len(commits) < pull.commits and head is None:
            reason = f"GitHub told {len(commits):,} of {pull.commits:,} commits."
            self._parts["commits"] = partial(tuple(map(commit_of, commits)), reason)
        else:
            self._parts["commits"] = complete(tuple(map(commit_of, commits)))
        return commits

    async def _compared_commits(self, pull: Pull, head: str) -> tuple[CommitItem, ...]:
        pages = await self._client.pages(f"{self._base}/compare/{_comparison(pull, head)}", Comparison)
        return tuple(item for page in pages for item in page.value.commits)

    # --- revisions and files ---------------------------------------------------------------------------------------

    async def _revisions(self, texts: _Texts, head: str | None, policy_ref: str | None) -> None:
        """Merge base, tip and policy, their folders, the changed files, and the files that a review reads."""
        pull = texts.pull
        sha = texts.commits[-1].sha if texts.commits else pull.head.sha
        wanted_policy = policy_ref or (pull.base.ref if pull.merged else None)
        comparison, policy = await both(
            self._client.get(f"{self._base}/compare/{_comparison(pull, sha)}", Comparison, per_page=1),
            _resolved(self._client, self._objects, wanted_policy) if wanted_policy else _nothing(),
        )
        base, tip = git_commit_of(comparison.merge_base_commit), git_commit_of(comparison.base_commit)
        tip_commit = self._objects.commit(sha) or await _resolved(self._client, self._objects, sha)
        self._objects.keep_commits((base, tip))
        if not pull.merged:
            self._objects.store.write_name(self._ref.host, self._ref.repository, pull.base.ref, tip.sha)
        sides = (policy or tip, base, tip_commit, tip)
        await self._objects.load_folders(commit.tree for commit in sides)
        self.watch.progress(Progress("folders", 1, 1))
        at_newest = sha == pull.head.sha
        listed = texts.files.items if texts.files and at_newest else comparison.files
        counted = pull.changed_files if at_newest else None
        self._parts["files"] = await asyncio.to_thread(self._changed, base, tip_commit, listed, counted)
        trees = Trees(
            policy=self._objects.tree(sides[0]),
            base=self._objects.tree(base),
            head=self._objects.tree(tip_commit),
            default_branch=self._objects.tree(tip),
        )
        needed, likely = await asyncio.to_thread(_files_to_load, trees, self._parts["files"].value or ())
        await self._objects.load_files(needed)
        self.watch.progress(Progress("policy and configs", 1, 1))
        self._trees = trees
        self._tell()
        await self._objects.load_files(likely, whatever_the_cost=False)
        self.watch.progress(Progress("scripts and recipes", 1, 1))

    def _changed(
        self, base: GitCommit, head: GitCommit, listed: Sequence[PullFile], counted: int | None
    ) -> Part[tuple[ChangedFile, ...]]:
        """The changed files: both trees know all of them, GitHub's list their renames and line counts."""
        changes, all_seen = changed_entries(self._objects, base.tree, head.tree, MOST_CHANGED_FILES)
        files = changed_files(changes, listed)
        if not all_seen:
            return partial(files, f"More than {MOST_CHANGED_FILES:,} files changed; the others are left out.")
        uncounted = sum(file.additions is None for file in files)
        if uncounted or (counted is not None and len(listed) < counted):
            return partial(files, f"Renames and line counts of {uncounted:,} files are unknown: GitHub lists 3,000.")
        return complete(files)

    # --- runs and links --------------------------------------------------------------------------------------------

    async def _sweeps(self, texts: _Texts) -> None:
        """Runs, then what they measured."""
        pull = texts.pull
        own = pull.head.repo is not None and pull.head.repo.full_name.lower() == self._ref.repository.lower()
        branch = Branch(
            name=pull.head.ref,
            own=own and pull.head.ref != pull.base.ref,
            commits=tuple(commit.sha for commit in texts.commits) or (pull.head.sha,),
        )
        linked = mentioned_runs(texts.mentioned, self._ref.repository)
        runs = await RunReader(self._client, self._ref.repository, self.watch.progress).runs(branch, linked)
        self._parts["runs"] = runs
        self._tell()
        chosen = chosen_sweeps(runs.value or (), linked)
        reader = MeasurementReader(self._client, self._ref.repository, self.watch.progress)
        measured, self._swept = await both(reader.measured(runs, chosen), self._swept_trees(chosen))
        self._parts |= {"runs": measured.runs, "evals": measured.evals, "results": measured.results}
        self._tell()

    async def _statuses(self, texts: _Texts) -> None:
        """The newest status of each context of the head, and who set it, which only the history of statuses tells."""
        sha = texts.commits[-1].sha if texts.commits else texts.pull.head.sha
        commit, doubts = f"{self._base}/commits/{sha}", Doubts()
        combined = doubts.counted(
            await doubts.attempt(
                self._client.counted_listing(f"{commit}/status", CombinedStatus), f"The statuses of {sha[:9]}"
            ),
            f"statuses of {sha[:9]}",
        )
        if combined is None:
            self._parts["statuses"] = doubts.nothing()
            return
        history: tuple[StatusItem, ...] = ()
        if combined.items:
            newest = self._client.get(f"{commit}/statuses", tuple[StatusItem, ...], per_page=PAGE_SIZE)
            history = await doubts.attempt(newest, f"Who set the statuses of {sha[:9]}") or ()
        creators = {status.id: status.creator for status in history}
        self._parts["statuses"] = doubts.part(tuple(status_of(one, creators.get(one.id)) for one in combined.items))

    async def _swept_trees(self, sweeps: Sequence[Run]) -> dict[str, Tree]:
        """The files of the commits that were swept; a commit that cannot be had is left out."""
        commits = await together(*(self._swept_commit(sha) for sha in {run.head_sha for run in sweeps}))
        trees: dict[str, Tree] = {commit.sha: self._objects.tree(commit) for commit in commits if commit}
        needed = await asyncio.to_thread(_config_blobs, trees.values())
        await self._objects.load_files(needed)
        return trees

    async def _swept_commit(self, sha: str) -> GitCommit | None:
        return await Doubts().attempt(_resolved(self._client, self._objects, sha), "The swept commit")

    async def _linked(self, texts: Sequence[str], upstream: UpstreamReader, recipes: RecipeReader) -> None:
        """Upstream pull requests, then the recipes that these and linked pages stand for."""
        states = await upstream.states(mentioned_pulls(texts, self._ref.repository))
        self._parts["upstream"] = states
        found = await recipes.read(states, await asyncio.to_thread(recipe_links, texts))
        self._parts["upstream"] = found.pulls
        self._upstream, self._upstream_revisions = found.trees, found.revisions

    # --- the snapshot ----------------------------------------------------------------------------------------------

    def _tell(self) -> None:
        if self._trees is not None:
            self.watch.partial(self._loaded())

    def _loaded(self) -> Loaded:
        assert self._trees is not None
        trees = msgspec.structs.replace(self._trees, swept=self._swept, upstream=self._upstream)
        snapshot = Snapshot(
            ref=self._ref,
            source="github",
            taken_at=self._now(),
            head=trees.head.revision,
            merge_base=trees.base.revision,
            default_branch=trees.default_branch.revision,
            viewer=self._viewer,
            head_doubt=self._head_doubt,
            upstream_revisions=self._upstream_revisions,
            published=unavailable(
                "Published results are looked up after everything else, and have not been yet.",
                _look_up_again(self._ref),
            ),
            **self._parts,
        )
        return Loaded(snapshot, trees)


def _keep_published(store: Store, snapshot: Snapshot, published: Part[Published]) -> None:
    """Put published results into the kept snapshot, unless another load of the head has taken its place meanwhile."""
    try:
        kept, policy = store.read_snapshot(snapshot.ref, snapshot.head)
    except NotFoundError:
        return
    if _looked_up_for(kept) == _looked_up_for(snapshot):
        store.write_snapshot(msgspec.structs.replace(kept, published=published), policy)


def _looked_up_for(snapshot: Snapshot) -> tuple[object, ...]:
    return snapshot.merge_base, snapshot.default_branch, snapshot.results.value


def _with_kept_results(store: Store, snapshot: Snapshot) -> Snapshot:
    """The snapshot with the published results that an earlier load of the same head and base looked up. Where other
    results were measured since, or something was merged, they need not be the newest."""
    try:
        earlier, _ = store.read_snapshot(snapshot.ref, snapshot.head)
    except NotFoundError:
        return snapshot
    published = earlier.published
    if published.value is None or earlier.merge_base != snapshot.merge_base:
        return snapshot
    news = []
    if snapshot.results.value != earlier.results.value:
        news.append("other results were measured since")
    if snapshot.default_branch != earlier.default_branch:
        news.append("the default branch has moved since")
    if news:
        reason = f"They were looked up by an earlier load; {', and '.join(news)}."
        told = published.reason.replace(reason, "").strip()
        published = partial(published.value, f"{told} {reason}".strip(), _look_up_again(snapshot.ref))
    return msgspec.structs.replace(snapshot, published=published)


def _look_up_again(ref: PullRequestRef) -> str:
    return f"Load once with the network: reviewer-tui fetch {as_typed(ref)}"


async def _nothing() -> None:
    return None


async def _resolved(client: GitHubClient, objects: GitHubObjects, revision: str) -> GitCommit:
    """A commit by SHA, prefix or name, with its folders. A full SHA that is kept needs no request."""
    kept = objects.commit(revision.lower()) if len(revision) == 40 else None
    if kept is None:
        address = f"/repos/{objects.repository}/commits/{quote(revision, safe='')}"
        kept = git_commit_of(await client.get(address, CommitItem, per_page=1))
        objects.keep_commits((kept,))
        if not kept.sha.startswith(revision.lower()):
            objects.store.write_name(objects.host, objects.repository, revision, kept.sha)
    await objects.load_folders((kept.tree,))
    return kept


def _comparison(pull: Pull, head: str) -> str:
    """What is compared: the branch merged into, as it was just before where the pull request is merged already."""
    return f"{quote(pull.base.sha if pull.merged else pull.base.ref, safe='')}...{head}"


def _files_to_load(trees: Trees, changed: Sequence[ChangedFile]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The object names of the files that every review reads, and of those that it may read."""
    policy = discover_layout(trees.policy)
    needed = list(blobs_of(trees.policy, policy_files(trees.policy, policy)))
    likely = list(blobs_of(trees.policy, workflow_files(trees.policy)))
    likely += [sha for file in changed for sha in (file.old_blob, file.new_blob) if sha and _is_file(file)]
    sides = (trees.base, trees.head, trees.default_branch)
    needed += _config_blobs(sides)
    for tree in sides:
        likely += blobs_of(tree, launch_files(tree, discover_layout(tree)))
    return tuple(dict.fromkeys(needed)), tuple(dict.fromkeys(likely))[:MOST_LIKELY_FILES]


def _config_blobs(trees: Iterable[Tree]) -> list[str]:
    return [sha for tree in trees for sha in blobs_of(tree, config_files(discover_layout(tree)))]


def _is_file(file: ChangedFile) -> bool:
    return not file.binary and all(mode is None or mode.startswith("100") for mode in (file.old_mode, file.new_mode))


def _items(listing: Listing[Any] | None) -> tuple[Any, ...]:
    return listing.items if listing else ()


def _expect(doubts: Doubts, listing: Listing[Any] | None, count: int, what: str) -> None:
    """A doubt where GitHub counts more than it told."""
    if listing is not None and len(listing.items) < count:
        doubts.add(f"GitHub told {len(listing.items):,} of {count:,} {what}.")


def _upstream_clients(client: GitHubClient) -> tuple[GitHubClient, GitHubClient]:
    """Who asks for pull requests of other projects, with the token and without: they are on github.com, whatever host
    this is; only a server on the own machine stands for that too."""
    if client.host.kind in ("github.com", "loopback"):
        return client, client.sibling(client.host) if client.has_token else client
    anonymous = client.sibling(parse_host("github.com"))
    return anonymous, anonymous


def _utc_now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
