"""Bundles: written from a real clone, read packed and unpacked, and made by somebody who means no good."""

from __future__ import annotations

import json
import os
import struct
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewer_tui.model.errors import DataError, NotFoundError
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.sources import bundle
from reviewer_tui.sources.bundle import BundleSource, write_bundle
from reviewer_tui.sources.clone import CloneSource
from reviewer_tui.sources.source import Loaded, Source
from tests.gitrepo import GitRepo

PULL = PullRequestRef("SemiAnalysisAI/InferenceX", 7)
TREES = ("policy", "base", "head", "default_branch")


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    repo = GitRepo(tmp_path_factory.mktemp("bundle") / "clone.git")
    texts: dict[str, str | bytes] = {"a.txt": "a\n", "docs/b.md": "b\n", "big.txt": "x" * 2_000_000}
    base = repo.commit({**texts, "pic.bin": b"\0\1"}, on="main")
    repo.pull(7, repo.commit({"a.txt": "aa\n", "new\nline.txt": "n\n"}, parents=[base]))
    repo.commit({"docs/b.md": "bb\n"}, on="main")
    return CloneSource(repo.path).load(PULL)


@pytest.fixture
def packed(loaded: Loaded, tmp_path: Path) -> Path:
    return write_bundle(tmp_path / "pull.prbundle", loaded)


def unpacked(packed: Path) -> Path:
    folder = packed.with_name("unpacked")
    with zipfile.ZipFile(packed) as file:
        file.extractall(folder)
    return folder


def repacked(packed: Path, changes: Mapping[str, bytes | None]) -> Path:
    """The same bundle with some members changed, added or left out."""
    with zipfile.ZipFile(packed) as file:
        members: dict[str, bytes | None] = {name: file.read(name) for name in file.namelist()}
    with zipfile.ZipFile(packed, "w") as file:
        for name, content in {**members, **changes}.items():
            if content is not None:
                file.writestr(name, content)
    return packed


def member(packed: Path, name: str) -> Any:
    with zipfile.ZipFile(packed) as file:
        return json.loads(file.read(name))


@pytest.mark.parametrize("form", ["packed", "unpacked"])
def test_what_was_written_is_read(loaded: Loaded, packed: Path, form: str) -> None:
    source: Source = BundleSource(packed if form == "packed" else unpacked(packed))
    again = source.load(PULL)
    assert again.snapshot == msgspec.structs.replace(loaded.snapshot, source="bundle")
    for name in TREES:
        old, new = getattr(loaded.trees, name), getattr(again.trees, name)
        assert (new.revision, new.list(""), new.list("docs")) == (old.revision, old.list(""), old.list("docs"))
        for path in ("a.txt", "docs/b.md", "new\nline.txt", "docs", "no", ""):
            assert (new.read(path), new.blob(path)) == (old.read(path), old.blob(path))


def test_it_says_which_pull_request_it_holds(packed: Path) -> None:
    assert BundleSource(packed).ref == PULL


def test_contents_left_out_are_an_error_and_not_an_absent_file(loaded: Loaded, packed: Path) -> None:
    head = BundleSource(packed).load(PULL).trees.head
    for path in ("big.txt", "pic.bin"):
        assert path in head.list("")
        assert head.blob(path) == loaded.trees.head.blob(path)
        with pytest.raises(DataError, match="does not hold the content"):
            head.read(path)


def test_only_the_chosen_paths_and_the_changed_files(loaded: Loaded, tmp_path: Path) -> None:
    source = BundleSource(write_bundle(tmp_path / "few.prbundle", loaded, paths=["docs", "pic.bin"]))
    trees = source.load(PULL).trees
    assert trees.base.read("docs/b.md") == b"b\n"
    assert trees.default_branch.read("docs/b.md") == b"bb\n"
    assert trees.base.read("pic.bin") == b"\0\1"
    assert trees.base.read("a.txt") == b"a\n"
    assert trees.head.read("new\nline.txt") == b"n\n"
    with pytest.raises(DataError, match="does not hold the content"):
        trees.base.read("big.txt")


def test_more_revisions_go_along(loaded: Loaded, tmp_path: Path) -> None:
    bare = Loaded(loaded.snapshot, msgspec.structs.replace(loaded.trees, default_branch=loaded.trees.base))
    bare = Loaded(bare.snapshot, msgspec.structs.replace(bare.trees, policy=loaded.trees.base))
    tip = loaded.trees.default_branch
    source = BundleSource(write_bundle(tmp_path / "more.prbundle", bare, [tip]))
    assert source.tree(tip.revision[:8]).read("docs/b.md") == b"bb\n"
    assert source.load(PULL, policy_ref=tip.revision).trees.policy.revision == tip.revision


def test_another_pull_request_head_or_revision_is_not_there(loaded: Loaded, packed: Path) -> None:
    source = BundleSource(packed)
    assert source.load(PULL, head=loaded.snapshot.head[:7]).snapshot.head == loaded.snapshot.head
    with pytest.raises(NotFoundError, match="InferenceX/pull/8"):
        source.load(PullRequestRef(PULL.repository, 8))
    with pytest.raises(NotFoundError, match="holds the head"):
        source.load(PULL, head="0000000")
    for revision in ("0000000", "", "../manifest"):
        with pytest.raises(NotFoundError, match="holds no revision"):
            source.tree(revision)


def test_the_same_facts_make_the_same_bytes(loaded: Loaded, packed: Path, tmp_path: Path) -> None:
    assert write_bundle(tmp_path / "again.prbundle", loaded).read_bytes() == packed.read_bytes()


def test_a_bundle_that_cannot_be_written_leaves_the_old_one(
    loaded: Loaded, packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = packed.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError, match="cannot be written: No space left on device"):
        write_bundle(packed, loaded)
    assert packed.read_bytes() == before
    assert list(packed.parent.iterdir()) == [packed]


def test_a_folder_that_does_not_exist(loaded: Loaded, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be written"):
        write_bundle(tmp_path / "no" / "x.prbundle", loaded)


class TestFaults:
    """Bundles that are broken, or made to break something."""

    @pytest.mark.parametrize("content", [b"", b"PK", b"no zip, but long enough to be one", b"PK\5\6" + bytes(18)])
    def test_no_bundle(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "x.prbundle"
        path.write_bytes(content)
        with pytest.raises(DataError, match="is no bundle"):
            BundleSource(path)

    def test_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="cannot be read"):
            BundleSource(tmp_path / "no.prbundle")

    def test_an_empty_folder(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match=r"is no bundle: it has no manifest\.json"):
            BundleSource(tmp_path)

    @pytest.mark.parametrize(
        "name",
        ["../../evil", "/etc/passwd", "blobs/../../x", "trees/../x.json", "notes.txt", "blobs/" + "A" * 40, "blobs/"],
    )
    def test_members_that_climb_or_do_not_belong(self, packed: Path, name: str) -> None:
        with pytest.raises(DataError, match="which no bundle does"):
            BundleSource(repacked(packed, {name: b"x"}))

    def test_a_member_that_is_there_twice(self, packed: Path) -> None:
        with warnings.catch_warnings(), zipfile.ZipFile(packed, "a") as file:
            warnings.simplefilter("ignore")
            file.writestr("snapshot.json", b"{}")
        with pytest.raises(DataError, match="which no bundle does"):
            BundleSource(packed)

    def test_a_content_that_is_not_what_its_name_says(self, loaded: Loaded, packed: Path) -> None:
        blob = loaded.trees.head.blob("a.txt")
        head = BundleSource(repacked(packed, {f"blobs/{blob}": b"forged\n"})).load(PULL).trees.head
        with pytest.raises(DataError, match="is not"):
            head.read("a.txt")
        assert head.read("docs/b.md") == b"b\n"

    def test_a_forged_content_in_a_folder(self, loaded: Loaded, packed: Path, tmp_path: Path) -> None:
        folder = unpacked(packed)
        (folder / f"blobs/{loaded.trees.head.blob('a.txt')}").write_bytes(b"forged\n")
        linked = folder / f"blobs/{loaded.trees.head.blob('docs/b.md')}"
        linked.unlink()
        (tmp_path / "target").write_bytes(b"b\n")
        linked.symlink_to(tmp_path / "target")
        head = BundleSource(folder).load(PULL).trees.head
        for path in ("a.txt", "docs/b.md"):
            with pytest.raises(DataError):
                head.read(path)

    def test_a_damaged_member(self, packed: Path, loaded: Loaded) -> None:
        with zipfile.ZipFile(packed) as file:
            info = file.getinfo(f"blobs/{loaded.trees.head.blob('docs/b.md')}")
        content = bytearray(packed.read_bytes())
        at = info.header_offset + 30 + len(info.filename)
        content[at : at + info.compress_size] = b"\xff" * info.compress_size
        packed.write_bytes(content)
        with pytest.raises(DataError, match="is damaged"):
            BundleSource(packed).load(PULL).trees.head.read("docs/b.md")

    def test_a_member_that_unpacks_to_more_than_it_says(self, packed: Path) -> None:
        repacked(packed, {"blobs/" + "0" * 40: b"x" * 1000})
        content = packed.read_bytes().replace(struct.pack("<II", 1000, 1000), struct.pack("<II", 1000, 10))
        packed.write_bytes(content)
        tree = bundle.BundleTree(bundle._Zip(packed), "r", {"f": "0" * 40})
        with pytest.raises(DataError, match=r"damaged|larger than it says"):
            tree.read("f")

    def test_a_bomb_is_refused_before_it_is_unpacked(self, packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bundle, "_LARGEST_MEMBER", 100_000)
        packing = {"blobs/" + "0" * 40: b"\0" * 100_001}
        with pytest.raises(DataError, match="is larger than"):
            BundleSource(repacked(packed, packing))

    def test_many_members_that_are_too_much_together(self, packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bundle, "_LARGEST_WHOLE", 100_000)
        with pytest.raises(DataError, match="unpacks to more than"):
            BundleSource(repacked(packed, {f"blobs/{number:040}": b"\0" * 50_000 for number in range(2)}))

    def test_a_directory_that_is_too_large(self, packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bundle, "_LARGEST_DIRECTORY", 100)
        with pytest.raises(DataError, match="too many members"):
            BundleSource(packed)

    def test_a_second_end_record_of_another_size(self, packed: Path) -> None:
        content = packed.read_bytes()
        packed.write_bytes(content[:-22] + b"PK\6\7" + bytes(16) + content[-22:])
        with pytest.raises(DataError, match="too many members"):
            BundleSource(packed)

    def test_a_way_of_packing_that_no_bundle_uses(self, packed: Path) -> None:
        with zipfile.ZipFile(packed, "a", zipfile.ZIP_LZMA) as file:
            file.writestr("blobs/" + "0" * 40, b"x")
        with pytest.raises(DataError, match="packed in a way"):
            BundleSource(packed)

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("manifest.json", b"{"),
            ("manifest.json", b"[" * 100_000),
            ("manifest.json", b"\xff\xfe"),
            ("snapshot.json", b"{}"),
            ("snapshot.json", None),
            ("manifest.json", None),
        ],
    )
    def test_malformed_facts(self, packed: Path, name: str, content: bytes | None) -> None:
        with pytest.raises(DataError, match=r"malformed|has no"):
            BundleSource(repacked(packed, {name: content}))

    @pytest.mark.parametrize(
        "index", [{"../x": "0" * 40}, {"/x": "0" * 40}, {"a//b": "0" * 40}, {"x": "../y"}, {"x": ""}]
    )
    def test_an_index_that_climbs(self, packed: Path, loaded: Loaded, index: dict[str, str]) -> None:
        changes: dict[str, bytes | None] = {f"trees/{loaded.snapshot.head}.json": json.dumps(index).encode()}
        with pytest.raises(DataError, match="has the entry"):
            BundleSource(repacked(packed, changes)).load(PULL)

    def test_a_revision_that_climbs(self, packed: Path) -> None:
        manifest = member(packed, "manifest.json") | {"head": "../../secret"}
        with pytest.raises(DataError, match="names a revision"):
            BundleSource(repacked(packed, {"manifest.json": json.dumps(manifest).encode()})).load(PULL)

    @pytest.mark.parametrize(("field", "value"), [("schema", 2), ("format", "another")])
    def test_another_schema_or_format(self, packed: Path, field: str, value: object) -> None:
        manifest = member(packed, "manifest.json") | {field: value}
        with pytest.raises(DataError, match=r"has schema 2|no bundle of this program"):
            BundleSource(repacked(packed, {"manifest.json": json.dumps(manifest).encode()}))


@pytest.fixture(scope="module")
def whole(loaded: Loaded, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return write_bundle(tmp_path_factory.mktemp("whole") / "x.prbundle", loaded).read_bytes()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_bundle_with_any_bytes_changed(whole: bytes, tmp_path: Path, data: st.DataObject) -> None:
    content = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "x.prbundle"
    path.write_bytes(bytes(content[: data.draw(st.sampled_from([None, len(content) // 2]))]))
    try:
        trees = BundleSource(path).load(PULL).trees
        for name in TREES:
            tree = getattr(trees, name)
            assert all(tree.read(path) is not None for path in ("a.txt", "docs/b.md"))
    except DataError:
        pass


def test_a_real_pull_request(real_clone: Path, tmp_path: Path) -> None:
    pull = PullRequestRef("SemiAnalysisAI/InferenceX", 2550)
    with CloneSource(real_clone) as source:
        loaded = source.load(pull)
        path = write_bundle(tmp_path / "2550.prbundle", loaded)
        again = BundleSource(path).load(pull)
        assert again.snapshot.files == loaded.snapshot.files
        assert again.trees.head.list("") == loaded.trees.head.list("")
        master = "configs/nvidia-master.yaml"
        assert again.trees.head.read(master) == loaded.trees.head.read(master)
        assert path.stat().st_size < 8_000_000
