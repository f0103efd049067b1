"""Folders and files of a repository on GitHub, fetched by object name and kept for ever.

A folder listing (`git/trees`, recursive) is turned back into git's own tree objects, and everything is checked against
its name, so that what is kept is what git has. Many files come in one GraphQL query; what that cannot give exactly
(binary, large, not UTF-8, no token) comes one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from reviewer_tui.model.errors import DataError
from reviewer_tui.model.tree import git_blob_id, git_object_id
from reviewer_tui.sources.github.background import together
from reviewer_tui.sources.github.client import GitHubClient
from reviewer_tui.sources.github.errors import GitHubError, ShapeError
from reviewer_tui.sources.github.shapes import BlobText, BlobTexts, TreeItem, TreeListing
from reviewer_tui.sources.objects import parse_folder
from reviewer_tui.sources.stored import ObjectStore, StoredObjects, folder_object

LARGEST_FILE = 32 << 20
"""Bytes of the largest file that is read."""

_FILES_A_QUERY = 100


class GitHubObjects(StoredObjects):
    """The objects of one repository: out of the store, else from GitHub into it."""

    def __init__(self, client: GitHubClient, host: str, repository: str, store: ObjectStore) -> None:
        super().__init__(store, host, repository)
        self._client = client
        self._base = f"/repos/{repository}"

    async def load_folders(self, roots: Iterable[str]) -> None:
        """Have whole trees at hand, by the names of their root folders."""
        wanted = list(dict.fromkeys(roots))
        here = self.store.has_objects(wanted)
        await together(*(self._load_tree(root) for root in wanted if root not in here))

    async def load_below(self, root: str, names: Sequence[str]) -> None:
        """Have a root folder by its name at hand, and these folders in it with everything below them, nothing else."""
        if not self.store.has_objects((root,)):
            await self._load_tree(root, whole=False)
        content = self.store.read_object(root, "tree")
        entries = parse_folder(content, len(root) // 2) if content is not None else None
        if entries is None:
            raise self._unusable("folder", root)
        await self.load_folders(entries[name].sha for name in names if name in entries and entries[name].is_folder)

    async def load_files(self, names: Collection[str], *, whatever_the_cost: bool = True) -> None:
        """Have files at hand, by object name. Where GraphQL does not answer and `whatever_the_cost` is False, those
        that would take a request each are left for when they are read."""
        here = self.store.has_objects(names)
        missing = [name for name in dict.fromkeys(names) if name not in here]
        if self._client.has_token:
            portions = [missing[at : at + _FILES_A_QUERY] for at in range(0, len(missing), _FILES_A_QUERY)]
            missing = [name for left in await together(*map(self._load_texts, portions)) for name in left]
        if whatever_the_cost:
            await together(*map(self._load_file, missing))

    def missing_folder(self, sha: str) -> bytes:
        self._client.run(self._load_tree(sha))
        content = self.store.read_object(sha, "tree")
        if content is None:
            raise self._unusable("folder", sha)
        return content

    def missing_file(self, sha: str) -> bytes:
        self._client.run(self._load_file(sha))
        content = self.store.read_object(sha, "blob")
        if content is None:
            raise self._unusable("file", sha)
        return content

    async def _load_tree(self, root: str, *, whole: bool = True) -> None:
        """A tree with everything below it; where GitHub cuts that off, the one folder (the rest when it is read)."""
        address = f"{self._base}/git/trees/{root}"
        folders: dict[str, bytes] = {}
        if whole:
            listing = await self._client.get(address, TreeListing, recursive=1)
            folders = tree_objects(root, listing.tree)
        if root not in folders:
            listing = await self._client.get(address, TreeListing)
            folders |= tree_objects(root, listing.tree)
        if root not in folders:
            raise ShapeError(
                f"GitHub's listing of the folder {root} is not what git has.", field="$.tree", endpoint=f"GET {address}"
            )
        self.store.write_objects("tree", folders.values())

    async def _load_texts(self, names: Sequence[str]) -> list[str]:
        """Files in one query; the names of those that it did not give exactly."""
        owner, _, name = self.repository.partition("/")
        fields = "".join(f'f{number}:object(oid:"{sha}"){{...t}}' for number, sha in enumerate(names))
        query = (
            "query($owner:String!,$name:String!){repository(owner:$owner,name:$name){"
            f"{fields}}}}} fragment t on Blob{{oid text isTruncated}}"
        )
        try:
            answer = await self._client.query(query, {"owner": owner, "name": name}, BlobTexts)
        except GitHubError:
            return list(names)
        found = dict(_exact((answer.repository or {}).values()))
        self.store.write_objects("blob", (found[sha] for sha in names if sha in found))
        return [sha for sha in names if sha not in found]

    async def _load_file(self, sha: str) -> None:
        content = await self._client.raw(f"{self._base}/git/blobs/{sha}", limit=LARGEST_FILE)
        if git_blob_id(content) != sha:
            raise ShapeError(
                f"GitHub's content of the file {sha} does not fit its name.",
                endpoint=f"GET {self._base}/git/blobs/{sha}",
            )
        self.store.write_objects("blob", (content,))

    def _unusable(self, what: str, sha: str) -> DataError:
        return DataError(
            f"The {what} {sha} was loaded but cannot be read back from the cache.",
            "Look whether the disk is full, and run reviewer-tui cache verify.",
        )


def tree_objects(root: str, items: Iterable[TreeItem]) -> dict[str, bytes]:
    """Git's tree objects, by name, of a recursive listing below the folder `root`; folders whose listing is cut off or
    otherwise not exact are left out."""
    inside: dict[str, list[tuple[str, str, str]]] = {"": []}
    names = {"": root}
    for item in items:
        folder, _, name = item.path.rpartition("/")
        inside.setdefault(folder, []).append((item.mode, name, item.sha))
        if item.type == "tree":
            names[item.path] = item.sha
            inside.setdefault(item.path, [])
    objects = {}
    for path, entries in inside.items():
        content = folder_object(entries)
        if git_object_id("tree", content) == names.get(path):
            objects[names[path]] = content
    return objects


def _exact(blobs: Iterable[BlobText | None]) -> Iterator[tuple[str, bytes]]:
    """Name and content of the blobs whose text is exactly their content."""
    for blob in blobs:
        if blob is not None and blob.text is not None and not blob.is_truncated:
            content = blob.text.encode("utf-8", "surrogatepass")
            if git_blob_id(content) == blob.oid:
                yield blob.oid, content
