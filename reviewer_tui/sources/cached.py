"""Pull requests out of the cache: the same review as with the network, without it."""

from __future__ import annotations

import msgspec

from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.model.refs import DEFAULT_HOST, DEFAULT_REPOSITORY
from reviewer_tui.model.snapshot import Trees
from reviewer_tui.model.tree import Tree
from reviewer_tui.sources.source import Loaded
from reviewer_tui.sources.stored import NotCachedError, Store, StoredObjects


class CacheSource:
    """What a store holds of one repository. Nothing is fetched: what is not there is an error that says so."""

    def __init__(self, store: Store, repository: str = DEFAULT_REPOSITORY, host: str = DEFAULT_HOST) -> None:
        self._store = store
        self._repository = repository
        self._host = host
        self._objects = StoredObjects(store, host, repository)

    def load(self, ref: PullRequestRef, *, head: str | None = None, policy_ref: str | None = None) -> Loaded:
        """The newest kept snapshot of a pull request, or that of a head, under the policy it was taken with unless
        `policy_ref` names another. Its `taken_at` says how old it is."""
        snapshot, policy = self._store.read_snapshot(ref, head)
        objects = self._objects_of(ref)
        trees = Trees(
            policy=_tree(objects, policy if policy_ref is None else policy_ref),
            base=_tree(objects, snapshot.merge_base),
            head=_tree(objects, snapshot.head),
            default_branch=_tree(objects, snapshot.default_branch),
        )
        return Loaded(msgspec.structs.replace(snapshot, source="cache"), trees)

    def tree(self, revision: str) -> Tree:
        """Any kept revision by SHA, prefix or name."""
        return _tree(self._objects, revision)

    def _objects_of(self, ref: PullRequestRef) -> StoredObjects:
        same = (ref.host, ref.repository.lower()) == (self._host, self._repository.lower())
        return self._objects if same else StoredObjects(self._store, ref.host, ref.repository)


def _tree(objects: StoredObjects, revision: str) -> Tree:
    commit = objects.resolve(revision)
    if commit is None:
        raise NotCachedError(
            f"The cache holds no revision “{revision}” of {objects.repository}.",
            "Load it once with the network: the same command without --offline.",
        )
    return objects.tree(commit)
