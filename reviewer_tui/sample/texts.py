"""The sample's texts: files of its trees, and comments."""

from __future__ import annotations

import functools
from pathlib import Path

from reviewer_tui.model.snapshot import Trees
from reviewer_tui.model.tree import DictTree

_HERE = Path(__file__).parent

FIRST_HEAD = "e36439994615e02aaaf042482234dc7060a6126d"
SECOND_HEAD = "21d6bbbcbd2d72c59e5b0c11714a62248be45fe0"
COOKBOOK = "sgl-project/sglang"
MERGED_PAGES = "sample"
"""The revision of the recipe's page: what the merged pull request left, and what is published."""

# Each revision is the common files and those of one state: the old or the new checkpoint, without or with the new arm.
_REVISIONS = {
    "first": {
        "base": ("f064a86f82409e577702d5884cd3c8e9106a0be9", "v1"),
        "head": (FIRST_HEAD, "v1-tep2"),
        "default_branch": ("f4eaa3981832f9a47b73dbf6c07945ddb07b82e3", "v2"),
    },
    "second": {
        "base": ("1446647b58d0337238f9051dfaa1b0957c5d3ede", "v2"),
        "head": (SECOND_HEAD, "v2-tep2"),
        "default_branch": ("a007419c003e5b7b4e4426f98b740360ea31db82", "v2"),
    },
}


def trees_of(moment: str) -> Trees:
    """The revisions of a moment; the policy is that of the default branch. At the second moment the recipe's page is
    published upstream."""
    trees = {role: DictTree(_files(state), revision) for role, (revision, state) in _REVISIONS[moment].items()}
    main = trees["default_branch"]
    page = DictTree(_below("upstream"), MERGED_PAGES)
    return Trees(
        policy=main,
        base=trees["base"],
        head=trees["head"],
        default_branch=main,
        upstream={COOKBOOK: page, f"{COOKBOOK}@{MERGED_PAGES}": page} if moment == "second" else {},
    )


def comment(name: str) -> str:
    """The body of a comment, without the file's last line feed."""
    return (_HERE / "comments" / f"{name}.md").read_text("utf-8").removesuffix("\n")


def _files(state: str) -> dict[str, bytes]:
    return {**_below("files/common"), **_below(f"files/{state}")}


@functools.cache
def _below(folder: str) -> dict[str, bytes]:
    top = _HERE / folder
    return {path.relative_to(top).as_posix(): path.read_bytes() for path in top.rglob("*") if path.is_file()}
