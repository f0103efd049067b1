"""Clones and pull requests made to run something, to climb, to lie or to exhaust."""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewer_tui.model.errors import DataError
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.model.tree import DictTree
from reviewer_tui.sources import difference
from reviewer_tui.sources.clone import CloneSource
from reviewer_tui.sources.difference import Differences, parse_difference
from reviewer_tui.sources.git import Clone, Pipe
from reviewer_tui.sources.objects import LARGEST, GitTree, Objects, parse_commit, parse_folder
from reviewer_tui.sources.source import Loaded
from tests.gitrepo import GitRepo, Item, git

PULL = PullRequestRef("SemiAnalysisAI/InferenceX", 7)

STRANGE_NAMES = [
    b"-rf",
    b"--upload-pack=touch",
    b"line\nfeed",
    b"tab\tand \"quotes\" and 'more'",
    b"back\\slash",
    b"folder/\xc3\xa4\xe2\x80\xae.txt",
    b"folder/:colon:",
    b"*?[x]",
    b" ",
    b"\x1b[31m",
]


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    return GitRepo(tmp_path / "clone.git")


def pull(repo: GitRepo, before: dict[Any, Any], after: dict[Any, Any]) -> None:
    """Main with the files `before`, and a pull request that changes them."""
    base = repo.commit(before, on="main")
    repo.pull(7, repo.commit(after, parents=[base]))


def load(repo: GitRepo) -> Loaded:
    """Loaded by a source that stays open as long as the trees."""
    return CloneSource(repo.path).load(PULL)


class TestPrograms:
    """Whatever the clone's configuration, environment and attributes name, nothing of it runs."""

    @pytest.fixture
    def marker(self, tmp_path: Path) -> Path:
        return tmp_path / "it-ran"

    @pytest.fixture
    def program(self, tmp_path: Path, marker: Path) -> str:
        script = tmp_path / "program"
        script.write_text(f"#!/bin/sh\ntouch '{marker}'\ncat\n")
        script.chmod(0o755)
        return str(script)

    @pytest.fixture
    def trapped(self, tmp_path: Path, program: str) -> GitRepo:
        """A normal clone in which every setting that can name a program names one."""
        repo = GitRepo(tmp_path / "trapped", bare=False)
        attributes = "* diff=evil filter=evil merge=evil\n"
        base = repo.commit({".gitattributes": attributes, "a.txt": "a\n" * 50, "b.txt": "b\n"}, on="main")
        repo.pull(7, repo.commit({"c.txt": "a\n" * 50 + "c\n", "a.txt": None, "b.txt": "bb\n"}, parents=[base]))
        repo.git("checkout", "-q", "-f", "main")
        (repo.git_dir / "info").mkdir(exist_ok=True)
        (repo.git_dir / "info" / "attributes").write_text(attributes)
        hooks = tmp_path / "hooks"
        hooks.mkdir()
        for name in (
            "post-checkout",
            "reference-transaction",
            "pre-auto-gc",
            "post-index-change",
            "fsmonitor-watchman",
        ):
            (hooks / name).symlink_to(program)
        settings = {
            "core.hooksPath": str(hooks),
            "core.fsmonitor": program,
            "core.pager": program,
            "core.editor": program,
            "core.sshCommand": program,
            "core.gitProxy": program,
            "core.askPass": program,
            "core.alternateRefsCommand": program,
            "diff.external": program,
            "diff.evil.command": program,
            "diff.evil.textconv": program,
            "filter.evil.clean": program,
            "filter.evil.smudge": program,
            "filter.evil.process": program,
            "filter.evil.required": "true",
            "gpg.program": program,
            "log.showSignature": "true",
            "credential.helper": f"!{program}",
            "alias.cat-file": f"!{program}",
            "alias.diff-tree": f"!{program}",
            "remote.origin.url": f"ext::{program}",
            "remote.origin.promisor": "true",
            "remote.origin.partialclonefilter": "blob:none",
            "protocol.ext.allow": "always",
            "extensions.partialClone": "origin",
            "core.repositoryFormatVersion": "1",
        }
        for name, value in settings.items():
            repo.git("config", name, value)
        return repo

    def test_the_trap_works_where_nobody_takes_care(self, trapped: GitRepo, marker: Path) -> None:
        with contextlib.suppress(RuntimeError):
            trapped.git("diff", "main", "refs/pull/7/head")
        assert marker.exists()

    def test_nothing_of_the_clone_runs(self, trapped: GitRepo, marker: Path) -> None:
        with CloneSource(trapped.path) as source:
            loaded = source.load(PULL)
            assert loaded.snapshot.files.complete
            assert [file.status for file in loaded.snapshot.files.value or ()] == ["modified", "renamed"]
            assert loaded.trees.head.read("b.txt") == b"bb\n"
            assert source.pull_request_numbers() == (7,)
        assert not marker.exists()

    def test_nothing_of_the_environment_runs(
        self, trapped: GitRepo, marker: Path, program: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_PROXY_COMMAND"):
            monkeypatch.setenv(name, program)
        monkeypatch.setenv("GIT_DIR", "/nowhere")
        monkeypatch.setenv("GIT_OBJECT_DIRECTORY", "/nowhere")
        monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
        monkeypatch.setenv("GIT_CONFIG_KEY_0", "diff.external")
        monkeypatch.setenv("GIT_CONFIG_VALUE_0", program)
        monkeypatch.setenv("GIT_TRACE", str(marker))
        assert load(trapped).snapshot.files.complete
        assert not marker.exists()

    def test_nothing_of_the_readers_configuration_runs(
        self, repo: GitRepo, marker: Path, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pull(repo, {".gitattributes": "* diff=evil\n", "a.txt": "a\n"}, {"a.txt": "b\n"})
        (tmp_path / ".gitconfig").write_text(
            f'[diff]\nexternal = "{program}"\n[core]\nfsmonitor = "{program}"\n[diff "evil"]\ntextconv = "{program}"\n'
        )
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
        assert load(repo).snapshot.files.complete
        assert not marker.exists()

    def test_a_missing_file_of_a_partial_clone_is_not_fetched(self, trapped: GitRepo, marker: Path) -> None:
        blob = trapped.git("rev-parse", "refs/pull/7/head:b.txt").strip()
        trapped.object_path(blob).unlink()
        with CloneSource(trapped.path) as source:
            loaded = source.load(PULL)
            assert loaded.snapshot.files.state == "partial"
            with pytest.raises(DataError, match=r"partial clone|lacks") as caught:
                loaded.trees.head.read("b.txt")
            assert "--refetch" in caught.value.remedy
            assert loaded.trees.base.read("b.txt") == b"b\n"
        assert not marker.exists()

    def test_a_replaced_object_is_not_believed(self, repo: GitRepo) -> None:
        pull(repo, {"a.txt": "a\n"}, {"a.txt": "true\n"})
        true, false = repo.blob("true\n"), repo.blob("false\n")
        repo.ref(f"refs/replace/{true}", false)
        assert git("-C", str(repo.path), "cat-file", "blob", true) == "false\n"
        assert load(repo).trees.head.read("a.txt") == b"true\n"

    def test_a_graft_is_not_believed(self, repo: GitRepo) -> None:
        first = repo.commit({"a": "1\n"}, on="main")
        second = repo.commit({"a": "2\n"}, on="main")
        repo.pull(7, repo.commit({"b": "b\n"}, parents=[second]))
        head = repo.git("rev-parse", "refs/pull/7/head").strip()
        (repo.git_dir / "info").mkdir(exist_ok=True)
        (repo.git_dir / "info" / "grafts").write_text(f"{head} {first}\n")
        snapshot = load(repo).snapshot
        assert snapshot.merge_base == second
        assert [file.path for file in snapshot.files.value or ()] == ["b"]


class TestNames:
    """Names are what the author of the pull request likes."""

    @pytest.mark.parametrize("name", STRANGE_NAMES)
    def test_a_strange_name_is_read_and_told(self, repo: GitRepo, name: bytes) -> None:
        pull(repo, {"a.txt": "a\n"}, {name: "strange\n"})
        loaded = load(repo)
        path = name.decode()
        assert [(file.path, file.additions) for file in loaded.snapshot.files.value or ()] == [(path, 1)]
        assert loaded.trees.head.read(path) == b"strange\n"
        assert path in loaded.trees.head.list("")

    def test_renames_between_strange_names(self, repo: GitRepo) -> None:
        text = "".join(f"{number}\n" for number in range(40))
        pull(repo, {b"old\nname": text, b"-x\ty": text + "y\n"}, {b"old\nname": None, b"new\n:100644": text})
        files = load(repo).snapshot.files
        assert files.complete
        assert [(file.previous_path, file.path) for file in files.value or ()] == [("old\nname", "new\n:100644")]

    def test_bytes_that_are_no_text_stay_writable(self, repo: GitRepo) -> None:
        pull(repo, {"a.txt": "a\n"}, {b"caf\xe9.txt": "latin\n", rb"caf\xe9.txt.md": "plain\n"})
        loaded = load(repo)
        assert [file.path for file in loaded.snapshot.files.value or ()] == ["caf\\xe9.txt", "caf\\xe9.txt.md"]
        assert loaded.trees.head.read("caf\\xe9.txt") == b"latin\n"
        assert all(path.encode() for path in loaded.trees.head.list(""))

    def test_a_name_that_spells_the_bytes_of_another_wins(self, repo: GitRepo) -> None:
        pull(repo, {"a.txt": "a\n"}, {b"\xe9": "bytes\n", rb"\xe9": "spelled\n"})
        assert load(repo).trees.head.read("\\xe9") == b"spelled\n"

    def test_names_that_climb_do_not_exist(self, repo: GitRepo) -> None:
        item = Item("100644", repo.blob("x\n"))
        inside = repo.folder({b"..": item, b".": item, b"a/../../b": item, b"": item, b"ok": item})
        commit = repo.commit_of(repo.folder({b"d": Item("40000", inside)}))
        repo.branch("main", commit)
        with CloneSource(repo.path) as source:
            tree = source.tree("main")
            assert tree.list("") == ("d/ok",)
            assert tree.read("d/../d/ok") is None
            assert tree.read("d/..") is None
            assert tree.read("/d/ok") is None
            assert tree.read("d//ok") is None

    def test_links_submodules_and_folders_are_no_files(self, repo: GitRepo) -> None:
        base = repo.commit({"d/a.txt": "a\n", "l": "text\n"}, on="main")
        after = {
            "link": repo.link("/etc/passwd"),
            "sub": repo.submodule(),
            "l": repo.link("a"),
            "d/x": repo.executable("x"),
        }
        repo.pull(7, repo.commit(after, parents=[base]))
        loaded = load(repo)
        tree = loaded.trees.head
        assert [tree.read(path) for path in ("link", "sub", "d", "", "absent", "l")] == [None] * 6
        assert [tree.blob(path) for path in ("link", "sub", "d", "", "link/x", "d/a.txt/x")] == [None] * 6
        assert tree.list("") == ("d/a.txt", "d/x")
        assert tree.list("d") == ("d/a.txt", "d/x")
        assert tree.list("d/a.txt") == tree.list("link") == tree.list("no") == ()
        told = {file.path: (file.status, file.old_mode, file.new_mode) for file in loaded.snapshot.files.value or ()}
        assert told == {
            "d/x": ("added", None, "100755"),
            "l": ("type_changed", "100644", "120000"),
            "link": ("added", None, "120000"),
            "sub": ("added", None, "160000"),
        }

    def test_a_file_becomes_a_folder(self, repo: GitRepo) -> None:
        pull(repo, {"a": "a\n"}, {"a": None, "a/b": "b\n"})
        loaded = load(repo)
        assert {file.path: file.status for file in loaded.snapshot.files.value or ()} == {
            "a": "removed",
            "a/b": "added",
        }
        assert loaded.trees.head.read("a/b") == b"b\n"


class TestSizes:
    """Time and memory are bounded, whatever the pull request holds."""

    def test_a_huge_file_is_an_error_and_the_next_file_is_read(
        self, repo: GitRepo, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pull(repo, {"a.txt": "a\n"}, {"huge": b"x" * 5_000_000, "small": "s\n"})
        monkeypatch.setitem(LARGEST, "blob", 4_000_000)
        tree = load(repo).trees.head
        for _ in range(2):
            with pytest.raises(DataError, match=r"5,000,000 bytes; at most 4,000,000"):
                tree.read("huge")
        assert tree.read("small") == b"s\n"

    def test_a_large_file_comes_whole(self, repo: GitRepo) -> None:
        content = os.urandom(3_000_000)
        pull(repo, {"a.txt": "a\n"}, {"large": content})
        assert load(repo).trees.head.read("large") == content

    @pytest.fixture
    def bomb(self, repo: GitRepo) -> str:
        """A folder of ten thousand million files in eleven objects."""
        entry = Item("100644", repo.blob("x\n"))
        for _ in range(10):
            entry = Item("40000", repo.folder({str(number).encode(): entry for number in range(10)}))
        return entry.sha

    def test_a_folder_that_repeats_itself(self, repo: GitRepo, bomb: str) -> None:
        base = repo.commit({"a.txt": "a\n"}, on="main")
        repo.pull(7, repo.commit_of(bomb, [base]))
        loaded = load(repo)
        files = loaded.snapshot.files
        assert files.state == "partial"
        assert "the others are left out" in files.reason
        assert len(files.value or ()) <= 10 * Differences.most_files
        with pytest.raises(DataError, match="more than 200,000 files"):
            loaded.trees.head.list("")
        assert loaded.trees.head.read("1/1/1/1/1/1/1/1/1/1") == b"x\n"

    def test_empty_folders_that_repeat_themselves(self, repo: GitRepo) -> None:
        entry = Item("40000", repo.folder({}))
        for _ in range(10):
            entry = Item("40000", repo.folder({str(number).encode(): entry for number in range(10)}))
        base = repo.commit({"a.txt": "a\n"}, on="main")
        repo.pull(7, repo.commit_of(entry.sha, [base]))
        loaded = load(repo)
        assert loaded.snapshot.files.state == "partial"
        with pytest.raises(DataError, match="more than 200,000 files"):
            loaded.trees.head.list("")

    def test_many_files_are_told_without_counts(self, repo: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Differences, "most_files", 3)
        pull(repo, {"a.txt": "a\n"}, {f"{number}": "x\n" for number in range(4)})
        files = load(repo).snapshot.files
        assert (files.state, len(files.value or ())) == ("partial", 4)
        assert {file.additions for file in files.value or ()} == {None}

    def test_a_slow_git_is_given_up(self, tmp_path: Path) -> None:
        slow = tmp_path / "git"
        slow.write_text("#!/bin/sh\nexec sleep 60\n")
        slow.chmod(0o755)
        clone = Clone(path=".", git_dir=str(tmp_path), bare=True, shallow=False, executable=str(slow))
        pipe = Pipe(clone, "cat-file", timeout=0.05)
        with pytest.raises(DataError, match="took more than"), pipe.asking(b"x\n"):
            pipe.line()
        pipe.close()

    def test_too_long_an_answer_leaves_the_plain_list(self, repo: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(difference, "_LONGEST", 100)
        pull(repo, {"a.txt": "a\n"}, {f"{number}.txt": "x\n" for number in range(9)})
        files = load(repo).snapshot.files
        assert (files.state, len(files.value or ())) == ("partial", 9)


def test_threads_share_a_source(repo: GitRepo) -> None:
    contents = {f"d{number % 7}/{number}.txt": f"{number}\n" * 500 for number in range(60)}
    pull(repo, contents, {"new.txt": "n\n"})
    wrong: list[str] = []
    with CloneSource(repo.path) as source:

        def read_all() -> None:
            tree = source.load(PULL).trees.head
            wrong.extend(path for path, text in contents.items() if tree.read(path) != text.encode())

        threads = [threading.Thread(target=read_all) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


_names = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=4)
_paths = st.lists(_names.filter(lambda name: name not in (".", "..")), min_size=1, max_size=3).map("/".join)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    return GitRepo(tmp_path_factory.mktemp("shared") / "clone.git")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=st.dictionaries(_paths, st.binary(max_size=20), max_size=8), asked=_paths)
def test_a_tree_of_a_clone_is_like_one_in_memory(shared: GitRepo, files: dict[str, bytes], asked: str) -> None:
    folders = {path[:at] for path in files for at in range(len(path)) if path[at] == "/"}
    files = {path: content for path, content in files.items() if path not in folders}
    shared.branch("main", shared.commit({**files}, parents=[]))
    with CloneSource(shared.path) as source:
        tree, memory = source.tree("main"), DictTree(files)
        for path in [*files, *folders, asked, ""]:
            assert tree.read(path) == memory.read(path)
            assert tree.blob(path) == memory.blob(path)
            assert tree.list(path) == memory.list(path)


@given(st.binary(max_size=200))
def test_any_bytes_of_a_folder(content: bytes) -> None:
    parsed = parse_folder(content, 20)
    assert parsed is None or all("/" not in name and name.encode() for name in parsed)


@given(st.binary(max_size=300))
def test_any_bytes_of_a_commit(content: bytes) -> None:
    start = b"tree " + b"a" * 40 + b"\nauthor "
    assert parse_commit("b" * 40, start + content) is not None
    parse_commit("b" * 40, content)


@pytest.mark.parametrize("line", [b"parent HEAD", b"parent abcd", b"parent ", b"tree main", b"tree"])
def test_a_commit_that_names_no_objects(line: bytes) -> None:
    assert parse_commit("b" * 40, b"tree " + b"a" * 40 + b"\n" + line + b"\n\nx") is None


@pytest.mark.parametrize(
    ("line", "authored_at"),
    [
        (b"A <a@x> 1785000000 +0530", "2026-07-25T22:50:00+05:30"),
        (b"A <a@x> 1785000000 -0030", "2026-07-25T16:50:00-00:30"),
        (b"A <a@x> 99999999999999999999 +0000", ""),
        (b"A <a@x> 1785000000 +9999", ""),
        (b"A <a@x>", ""),
        (b"", ""),
    ],
)
def test_odd_dates_of_commits(line: bytes, authored_at: str) -> None:
    commit = parse_commit("b" * 40, b"tree " + b"a" * 40 + b"\nauthor " + line + b"\ncommitter " + line + b"\n\nx")
    assert commit is not None
    assert commit.authored_at == authored_at


def test_a_commit_in_another_encoding() -> None:
    content = (
        b"tree " + b"a" * 40 + b"\nauthor J\xf6rg <j@x> 1 +0000\nencoding ISO-8859-1\n\nGr\xfc\xdfe\nund mehr\n\nx"
    )
    commit = parse_commit("b" * 40, content)
    assert commit is not None
    assert (commit.author, commit.subject) == ("Jörg", "Grüße und mehr")


@given(
    st.lists(
        st.sampled_from([b":100644 100644 " + b"a" * 40 + b" " + b"b" * 40 + b" M", b"path", b"1\t2\tpath", b"", b":"])
    )
)
def test_any_answer_about_changed_files(fields: list[bytes]) -> None:
    try:
        files = parse_difference(b"\0".join(fields))
    except DataError:
        return
    assert all(file.path for file in files)


def test_trees_of_one_source_share_what_they_read(repo: GitRepo) -> None:
    pull(repo, {"a.txt": "a\n", "d/b.txt": "b\n"}, {"a.txt": "aa\n"})
    with CloneSource(repo.path) as source:
        loaded = source.load(PULL)
        loaded.trees.base.read("d/b.txt")
        repo.object_path(repo.blob("b\n")).unlink()
        assert loaded.trees.head.read("d/b.txt") == b"b\n"


def test_a_tree_by_itself(repo: GitRepo) -> None:
    sha = repo.commit({"a.txt": "a\n"}, on="main")
    clone = Clone(path=str(repo.path), git_dir=str(repo.git_dir), bare=True, shallow=False, executable="git")
    objects = Objects(clone)
    assert GitTree(objects, objects.resolve(sha[:7])).read("a.txt") == b"a\n"
    objects.close()
