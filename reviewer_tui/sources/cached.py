"""Pull requests out of the cache: the same review as with the network, without it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec

from reviewer_tui.model.errors import DataError, NotFoundError
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.model.refs import DEFAULT_HOST, DEFAULT_REPOSITORY, place_options
from reviewer_tui.model.run import CheckRun, JobLog
from reviewer_tui.model.snapshot import Snapshot, Trees
from reviewer_tui.model.tree import Tree, git_object_id
from reviewer_tui.recipes.links import SGLANG, VLLM_RECIPES
from reviewer_tui.sources.job_logs import kept_log
from reviewer_tui.sources.objects import GitCommit
from reviewer_tui.sources.source import Loaded
from reviewer_tui.sources.stored import (
    NotCachedError,
    Store,
    StoredObjects,
    folder_object,
    kept_pages,
    upstream_trees,
)

if TYPE_CHECKING:
    from reviewer_tui.sources.bundle import BundleSource


_IMPORTED = "bundle!"


class CacheSource:
    """What a store holds of one repository. Nothing is fetched: what is not there is an error that says so."""

    def __init__(self, store: Store, repository: str = DEFAULT_REPOSITORY, host: str = DEFAULT_HOST) -> None:
        self._store = store
        self._repository = repository
        self._host = host
        self._objects = StoredObjects(store, host, repository)

    def load(self, ref: PullRequestRef, *, head: str | None = None, policy_ref: str | None = None) -> Loaded:
        """The newest kept snapshot of a pull request, or that of a head, under the policy it was taken with unless
        `policy_ref` names another; what GitHub said goes before what came in a bundle. Its `taken_at` says how old it
        is."""
        try:
            return self._load(ref, ref.host, head, policy_ref)
        except NotFoundError as absent:
            try:
                return self._load(ref, imported(ref.host), head, policy_ref)
            except NotFoundError:
                raise absent from None

    def _load(self, ref: PullRequestRef, host: str, head: str | None, policy_ref: str | None) -> Loaded:
        snapshot, policy = self._store.read_snapshot(msgspec.structs.replace(ref, host=host), head)
        same = (host, ref.repository.lower()) == (self._host, self._repository.lower())
        objects = self._objects if same else StoredObjects(self._store, host, ref.repository)
        trees = Trees(
            policy=_tree(objects, policy if policy_ref is None else policy_ref),
            base=_tree(objects, snapshot.merge_base),
            head=_tree(objects, snapshot.head),
            default_branch=_tree(objects, snapshot.default_branch),
            swept=_swept(objects, snapshot),
            upstream=self._upstream(snapshot) if host == ref.host else {},
        )
        own = msgspec.structs.replace(snapshot, ref=ref, source="cache" if host == ref.host else "bundle")
        return Loaded(own, trees)

    def tree(self, revision: str) -> Tree:
        """Any kept revision by SHA, prefix or name."""
        return _tree(self._objects, revision)

    def pages(self, day: str) -> dict[str, Tree]:
        """What loads read of the published pages of recipe repositories, as of the end of a day."""
        return kept_pages(self._store, ("github.com", self._host), (VLLM_RECIPES, SGLANG), day)

    def job_log(self, ref: PullRequestRef, job: CheckRun) -> JobLog:
        """The kept end of a job's log."""
        kept = kept_log(self._store, ref.host, ref.repository, job.id)
        if kept is None:
            command = f"reviewer-tui show {ref.number} runs --log {job.id}{place_options(ref)}"
            raise NotCachedError(
                f"The cache holds no log of job {job.id}.", f"Load it once with the network: {command}"
            )
        return kept

    def _upstream(self, snapshot: Snapshot) -> dict[str, Tree]:
        """The recipe repositories that were read; what a bundle says of them is not taken. They are on github.com; a
        server on the own machine stands for it."""
        found = (upstream_trees(self._store, host, snapshot.upstream_revisions) for host in ("github.com", self._host))
        return {name: tree for trees in found for name, tree in trees.items()}


def _tree(objects: StoredObjects, revision: str) -> Tree:
    commit = objects.resolve(revision)
    if commit is None:
        raise NotCachedError(
            f"The cache holds no revision “{revision}” of {objects.repository}.",
            "Load it once with the network: the same command without --offline.",
        )
    return objects.tree(commit)


def _swept(objects: StoredObjects, snapshot: Snapshot) -> dict[str, Tree]:
    """The swept commits whose folders were kept."""
    commits = {run.head_sha: objects.commit(run.head_sha) for run in snapshot.runs.value or ()}
    known = {sha: commit for sha, commit in commits.items() if commit is not None}
    here = objects.store.has_objects(commit.tree for commit in known.values())
    return {sha: objects.tree(commit) for sha, commit in known.items() if commit.tree in here}


def imported(host: str) -> str:
    """The host under which things from bundles are kept. Anybody can make a bundle, and say of any commit what it
    holds: none of that may be taken for what GitHub said."""
    return f"{_IMPORTED}{host}"


def host_of(kept: str) -> str:
    """The host that something kept is of, whether GitHub or a bundle said it."""
    return kept.removeprefix(_IMPORTED)


def keep_bundle(bundle: BundleSource, store: Store) -> PullRequestRef:
    """Keep what a bundle holds, apart from what comes from GitHub, and say what it is. Contents that the bundle left
    out stay absent."""
    ref = bundle.ref
    loaded = bundle.load(ref)
    host = imported(ref.host)
    objects = StoredObjects(store, host, ref.repository)
    trees = loaded.trees
    all_trees = (trees.policy, trees.base, trees.head, trees.default_branch, *trees.swept.values())
    for tree in {tree.revision: tree for tree in all_trees}.values():
        files = {path: sha for path in tree.list("") if (sha := tree.blob(path)) is not None}
        root, folders = folder_objects(files)
        missing = set(files.values()) - store.has_objects(files.values())
        store.write_objects("tree", folders)
        store.write_objects("blob", _contents(tree, [path for path, sha in files.items() if sha in missing]))
        objects.keep_commits([_bare_commit(tree.revision, root)])
    store.write_snapshot(
        msgspec.structs.replace(loaded.snapshot, ref=msgspec.structs.replace(ref, host=host)), trees.policy.revision
    )
    return ref


def folder_objects(files: Mapping[str, str]) -> tuple[str, list[bytes]]:
    """The name of the root, and git's tree objects, for regular files given by path and object name."""
    inside: dict[str, dict[str, tuple[str, str]]] = {"": {}}
    for path, sha in files.items():
        folder, _, name = path.rpartition("/")
        inside.setdefault(folder, {})[name] = ("100644", sha)
        while folder:
            folder, _, name = folder.rpartition("/")
            inside.setdefault(folder, {}).setdefault(name, ("40000", ""))
    objects: list[bytes] = []
    for folder in sorted(inside, key=lambda path: (-path.count("/"), path == "", path)):
        content = folder_object((mode, name, sha) for name, (mode, sha) in inside[folder].items())
        objects.append(content)
        above, _, name = folder.rpartition("/")
        if folder:
            inside[above][name] = ("40000", git_object_id("tree", content))
    return git_object_id("tree", objects[-1]), objects


def _contents(tree: Tree, paths: Iterable[str]) -> Iterator[bytes]:
    for path in paths:
        try:
            content = tree.read(path)
        except DataError:
            continue  # the bundle left it out; its reader will be told
        if content is not None:
            yield content


def _bare_commit(sha: str, tree: str) -> GitCommit:
    return GitCommit(sha=sha, tree=tree, parents=(), time=0, author="", authored_at="", subject="")
