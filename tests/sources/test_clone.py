"""Pull requests from a local clone, each a real repository built here."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reviewer_tui.model.errors import DataError, NotFoundError
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.model.snapshot import Snapshot
from reviewer_tui.model.tree import Tree
from reviewer_tui.sources.clone import CloneSource
from reviewer_tui.sources.source import Loaded, Source
from tests.gitrepo import GitRepo, git

REPOSITORY = "SemiAnalysisAI/InferenceX"


def ref(number: int) -> PullRequestRef:
    return PullRequestRef(REPOSITORY, number)


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    """Main with three commits; pull request 7 leaves after the first two."""
    repo = GitRepo(tmp_path / "clone.git")
    repo.commit({"a.txt": "one\ntwo\nthree\n", "docs/old.md": "text\n" * 30, "gone.txt": "x\n"}, on="main")
    base = repo.commit({"b.txt": "b\n"}, on="main", message="The base")
    repo.commit(
        {"a.txt": "one\n2\nthree\n"}, parents=[base], on="feature", message="First\n\nBody", author="Ada L <a@x>"
    )
    head = repo.commit(
        {
            "docs/old.md": None,
            "docs/new.md": "text\n" * 30 + "more\n",
            "gone.txt": None,
            "tool.sh": repo.executable("#!/bin/sh\n"),
            "blob.bin": b"\0\1\2",
        },
        on="feature",
        message="Second",
    )
    repo.commit({"b.txt": "bb\n"}, on="main", message="Main moves on")
    repo.pull(7, head)
    return repo


@pytest.fixture
def source(repo: GitRepo) -> Iterator[CloneSource]:
    with CloneSource(repo.path) as source:
        yield source


def load(repo: GitRepo, number: int = 7, **options: Any) -> Loaded:
    with CloneSource(repo.path) as source:
        return source.load(ref(number), **options)


def test_a_pull_request_with_its_trees(repo: GitRepo, source: CloneSource) -> None:
    as_source: Source = source
    loaded = as_source.load(ref(7))
    snapshot = loaded.snapshot
    assert snapshot.source == "clone"
    assert snapshot.head == repo.git("rev-parse", "feature").strip()
    assert snapshot.default_branch == repo.git("rev-parse", "main").strip()
    assert snapshot.merge_base == repo.git("merge-base", "main", "feature").strip()
    assert (loaded.trees.policy.revision, loaded.trees.default_branch.revision) == (snapshot.default_branch,) * 2
    assert loaded.trees.base.read("a.txt") == b"one\ntwo\nthree\n"
    assert loaded.trees.head.read("a.txt") == b"one\n2\nthree\n"
    assert loaded.trees.default_branch.read("b.txt") == b"bb\n"


def test_the_changed_files_are_those_of_git(repo: GitRepo, source: CloneSource) -> None:
    files = source.load(ref(7)).snapshot.files
    assert files.complete
    assert files.value is not None
    told = {file.path: file for file in files.value}
    assert [(path, told[path].status) for path in told] == [
        ("a.txt", "modified"),
        ("blob.bin", "added"),
        ("docs/new.md", "renamed"),
        ("gone.txt", "removed"),
        ("tool.sh", "added"),
    ]
    assert told["docs/new.md"].previous_path == "docs/old.md"
    assert told["docs/new.md"].paths == ("docs/old.md", "docs/new.md")
    assert told["a.txt"].old_blob == repo.git("rev-parse", "main~1:a.txt").strip()
    assert told["a.txt"].new_blob == repo.git("rev-parse", "feature:a.txt").strip()
    assert (told["a.txt"].additions, told["a.txt"].deletions) == (1, 1)
    assert (told["tool.sh"].old_mode, told["tool.sh"].new_mode, told["tool.sh"].old_blob) == (None, "100755", None)
    assert (told["blob.bin"].binary, told["blob.bin"].additions) == (True, None)
    assert (told["gone.txt"].new_blob, told["gone.txt"].deletions) == (None, 1)


def test_the_commits_oldest_first(source: CloneSource) -> None:
    commits = source.load(ref(7)).snapshot.commits
    assert commits.complete
    assert [(commit.subject, commit.author) for commit in commits.value or ()] == [
        ("First", "Ada L"),
        ("Second", "Ada"),
    ]
    assert (commits.value or ())[0].authored_at.endswith("+02:00")


def test_what_only_the_host_knows_is_unavailable(source: CloneSource) -> None:
    snapshot = source.load(ref(7)).snapshot
    for part in ("info", "conversation", "runs", "evals", "results", "upstream"):
        missing = getattr(snapshot, part)
        assert (missing.state, missing.value) == ("unavailable", None)
        assert missing.reason
        assert "reviewer-tui fetch 7" in missing.remedy


def test_an_older_head_by_prefix(repo: GitRepo, source: CloneSource) -> None:
    first = repo.git("rev-parse", "feature~1").strip()
    snapshot = source.load(ref(7), head=first[:10]).snapshot
    assert snapshot.head == first
    assert [file.path for file in snapshot.files.value or ()] == ["a.txt"]
    assert snapshot.commits.complete


def test_a_head_that_was_pushed_out_is_accepted_with_a_doubt(repo: GitRepo, source: CloneSource) -> None:
    out = repo.commit({"c.txt": "c\n"}, parents=[repo.git("rev-parse", "main~1").strip()])
    snapshot = source.load(ref(7), head=out).snapshot
    assert snapshot.commits.state == "partial"
    assert "not in the history of #7" in snapshot.commits.reason
    assert snapshot.head_doubt.endswith("It was pushed out, or is another's.")


def test_a_head_of_another_pull_request_is_doubted_by_name(repo: GitRepo, source: CloneSource) -> None:
    other = repo.commit({"c.txt": "c\n"}, parents=[repo.git("rev-parse", "main~1").strip()])
    repo.pull(9, repo.commit({"c.txt": "d\n"}, parents=[other]))
    assert source.load(ref(7), head=other).snapshot.head_doubt.endswith("It is in the history of #9.")


def test_a_commit_on_top_of_the_newest_head_is_no_stranger(repo: GitRepo, source: CloneSource) -> None:
    newest = source.load(ref(7)).snapshot
    assert newest.head_doubt == ""
    later = repo.commit({"c.txt": "c\n"}, parents=[newest.head])
    assert source.load(ref(7), head=later).snapshot.head_doubt == ""


def test_a_head_of_another_line_is_an_error(repo: GitRepo, source: CloneSource) -> None:
    elsewhere = repo.commit({"c.txt": "c\n"}, parents=[repo.git("rev-parse", "main~2").strip()])
    with pytest.raises(DataError, match="no commit of pull request #7"):
        source.load(ref(7), head=elsewhere)


def test_a_head_on_the_default_branch_is_an_error(repo: GitRepo, source: CloneSource) -> None:
    with pytest.raises(DataError, match="a commit of the default branch"):
        source.load(ref(7), head=repo.git("rev-parse", "main").strip())


def test_a_head_without_shared_history_is_an_error(repo: GitRepo, source: CloneSource) -> None:
    repo.pull(8, repo.commit({"alien.txt": "x\n"}))
    with pytest.raises(DataError, match="shares no history"):
        source.load(ref(8))


def test_the_policy_of_another_revision(repo: GitRepo, source: CloneSource) -> None:
    loaded = source.load(ref(7), policy_ref="main~2")
    assert loaded.trees.policy.revision == repo.git("rev-parse", "main~2").strip()
    assert loaded.trees.default_branch.revision == repo.git("rev-parse", "main").strip()


def test_an_annotated_tag_is_its_commit(repo: GitRepo, source: CloneSource) -> None:
    repo.git("tag", "-a", "-m", "A tag", "v1", "main~1")
    assert source.tree("v1").revision == repo.git("rev-parse", "main~1").strip()


def test_merge_base_and_ancestry(repo: GitRepo, source: CloneSource) -> None:
    assert source.merge_base("main", "feature") == repo.git("rev-parse", "main~1").strip()
    assert source.is_ancestor("main~1", "feature")
    assert source.is_ancestor("feature", "feature")
    assert not source.is_ancestor("feature", "main")


def test_a_merged_pull_request_is_seen_as_before_its_merge(repo: GitRepo) -> None:
    before = repo.git("rev-parse", "main").strip()
    repo.commit({"a.txt": "one\n2\nthree\n"}, on="main", merge=repo.git("rev-parse", "feature").strip())
    for step in range(5):
        repo.commit({"b.txt": f"{step}\n"}, on="main")
    snapshot = load(repo).snapshot
    assert snapshot.default_branch == before
    assert snapshot.merge_base == repo.git("merge-base", before, "feature").strip()
    assert snapshot.files.complete
    assert len(snapshot.files.value or ()) == 5
    assert [commit.subject for commit in snapshot.commits.value or ()] == ["First", "Second"]


def test_a_merged_pull_request_at_a_commit_before_its_head(repo: GitRepo) -> None:
    repo.commit({}, on="main", merge=repo.git("rev-parse", "feature").strip())
    snapshot = load(repo, head=repo.git("rev-parse", "feature~1").strip()).snapshot
    assert [file.path for file in snapshot.files.value or ()] == ["a.txt"]


def test_a_fast_forwarded_pull_request_says_that_its_base_is_unknown(repo: GitRepo) -> None:
    head = repo.commit({"z.txt": "z\n"}, on="main")
    repo.commit({"b.txt": "later\n"}, on="main")
    repo.pull(9, head)
    files = load(repo, 9).snapshot.files
    assert (files.state, files.value) == ("partial", ())
    assert "what it was based on is unknown" in files.reason


def test_of_several_merge_bases_git_chooses_and_it_is_said(repo: GitRepo) -> None:
    left, right = repo.git("rev-parse", "main").strip(), repo.git("rev-parse", "feature").strip()
    repo.commit({"b.txt": "m\n"}, on="main", merge=right)
    head = repo.commit({"c.txt": "c\n"}, on="feature", merge=left)
    repo.pull(7, repo.commit({"d.txt": "d\n"}, on="feature"))
    repo.commit({"e.txt": "e\n"}, on="main")
    snapshot = load(repo).snapshot
    chosen, other = repo.git("merge-base", "--all", "main", "feature").split()
    assert head
    assert snapshot.merge_base == chosen
    assert snapshot.files.state == "partial"
    assert other[:9] in snapshot.files.reason


def test_the_numbers_of_the_pull_requests_that_are_there(repo: GitRepo, source: CloneSource) -> None:
    repo.pull(12, repo.git("rev-parse", "main").strip())
    repo.ref("refs/pull/12/merge", repo.git("rev-parse", "main").strip())
    repo.ref("refs/remotes/origin/pr/3", repo.git("rev-parse", "main").strip())
    repo.ref("refs/remotes/origin/pull/no", repo.git("rev-parse", "main").strip())
    assert source.pull_request_numbers() == (3, 7, 12)


@pytest.mark.parametrize("name", ["refs/remotes/origin/pr/7", "refs/remotes/upstream/pull/7/head"])
def test_a_head_fetched_under_a_remote(repo: GitRepo, name: str) -> None:
    head = repo.git("rev-parse", "feature").strip()
    (repo.path / "refs/pull/7/head").unlink()
    repo.ref(name, head)
    assert load(repo).snapshot.head == head


def test_packed_refs_and_objects_are_read_alike(repo: GitRepo) -> None:
    before = load(repo).snapshot
    repo.git("repack", "-adq")
    repo.git("pack-refs", "--all")
    after = load(repo).snapshot
    assert (after.files, after.commits, after.merge_base) == (before.files, before.commits, before.merge_base)


def test_a_fetch_between_two_loads_is_seen(repo: GitRepo, source: CloneSource) -> None:
    source.load(ref(7))
    head = repo.commit({"new.txt": "n\n"}, on="feature")
    repo.pull(7, head)
    repo.git("repack", "-adq")
    assert source.load(ref(7)).snapshot.head == head


class TestPlaces:
    """A clone is found from whichever of its folders is named."""

    @pytest.fixture
    def normal(self, tmp_path: Path) -> Path:
        origin = GitRepo(tmp_path / "origin.git")
        base = origin.commit({"in/side/a.txt": "a\n"}, on="main")
        origin.pull(7, origin.commit({"in/side/a.txt": "b\n"}, parents=[base]))
        git("clone", "-q", str(origin.path), str(tmp_path / "normal"))
        git("-C", str(tmp_path / "normal"), "fetch", "-q", "origin", "+refs/pull/*/head:refs/pull/*/head")
        return tmp_path / "normal"

    @pytest.mark.parametrize("inside", [".", ".git", "in/side"])
    def test_a_normal_clone(self, normal: Path, inside: str) -> None:
        with CloneSource(normal / inside) as source:
            assert source.load(ref(7)).trees.head.read("in/side/a.txt") == b"b\n"

    def test_a_second_work_tree(self, normal: Path) -> None:
        git("-C", str(normal), "worktree", "add", "-q", "--detach", str(normal.parent / "second"), "refs/pull/7/head")
        with CloneSource(normal.parent / "second") as source:
            assert len(source.load(ref(7)).snapshot.files.value or ()) == 1

    def test_the_branch_that_is_checked_out_is_not_the_default_branch(self, normal: Path) -> None:
        git("-C", str(normal), "checkout", "-q", "-b", "mine", "refs/pull/7/head")
        with CloneSource(normal) as source:
            snapshot = source.load(ref(7)).snapshot
        assert snapshot.default_branch == git("-C", str(normal), "rev-parse", "origin/main").strip()
        assert len(snapshot.files.value or ()) == 1

    def test_a_local_repository_without_remotes(self, tmp_path: Path) -> None:
        repo = GitRepo(tmp_path / "local", bare=False)
        base = repo.commit({"a": "1\n"}, on="main")
        repo.pull(1, repo.commit({"a": "2\n"}, parents=[base], on="topic"))
        (repo.git_dir / "HEAD").write_text("ref: refs/heads/topic\n")
        assert len(load(repo, 1).snapshot.files.value or ()) == 1

    def test_a_path_with_blanks_and_a_dash(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        repo = GitRepo(tmp_path / "-a clone")
        base = repo.commit({"a": "1\n"}, on="main")
        repo.pull(1, repo.commit({"a": "2\n"}, parents=[base]))
        monkeypatch.chdir(tmp_path)
        with CloneSource("-a clone") as source:
            assert source.load(ref(1)).snapshot.files.complete


class TestErrors:
    """What a person reads where the clone cannot answer."""

    def test_no_repository(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="is no git repository"):
            CloneSource(tmp_path)

    def test_no_folder(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="There is no folder"):
            CloneSource(tmp_path / "nowhere")

    def test_git_is_not_installed(self, repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(DataError, match="Git is not installed"):
            CloneSource(repo.path)

    def test_no_pull_request_heads(self, repo: GitRepo, source: CloneSource) -> None:
        with pytest.raises(NotFoundError) as caught:
            source.load(ref(8))
        assert caught.value.remedy == (
            f"Fetch it with `git -C {shlex.quote(str(repo.path))} fetch origin '+refs/pull/*/head:refs/pull/*/head'`."
        )

    def test_a_head_that_is_given_needs_no_ref_but_its_membership_is_doubted(
        self, repo: GitRepo, source: CloneSource
    ) -> None:
        commits = source.load(ref(8), head="feature").snapshot.commits
        assert commits.state == "partial"
        assert "no head of #8" in commits.reason

    @pytest.mark.parametrize(
        "revision",
        ["nowhere", "deadbeef", "main:a.txt", "main\nfeature", "main feature", "", "-n", "main^{tree}", "x" * 999],
    )
    def test_an_unknown_revision(self, source: CloneSource, revision: str) -> None:
        for _ in range(2):
            with pytest.raises(NotFoundError, match="knows no commit"):
                source.tree(revision)

    def test_an_ambiguous_prefix(self, repo: GitRepo, source: CloneSource) -> None:
        seen: dict[str, str] = {}
        for number in range(100_000):
            sha = repo.commit_of(repo.tree({}), message=str(number), time=1_785_000_000)
            if sha[:4] in seen:
                break
            seen[sha[:4]] = sha
        with pytest.raises(DataError, match="Several objects begin with"):
            source.tree(sha[:4])
        assert source.tree(sha).revision == sha

    def test_a_branch_named_like_a_sha_does_not_stand_in_for_one(self, repo: GitRepo, source: CloneSource) -> None:
        repo.ref("refs/heads/abcdef12", repo.git("rev-parse", "feature").strip())
        with pytest.raises(NotFoundError, match="reads like a SHA"):
            source.load(ref(7), head="abcdef12")
        assert source.tree("refs/heads/abcdef12").revision == repo.git("rev-parse", "feature").strip()

    def test_another_repository(self, source: CloneSource) -> None:
        with pytest.raises(DataError, match="is elsewhere"):
            source.load(PullRequestRef("someone/else", 7))
        assert source.load(PullRequestRef(REPOSITORY.upper(), 7))

    def test_an_empty_repository(self, tmp_path: Path) -> None:
        with pytest.raises(NotFoundError, match="no default branch"):
            load(GitRepo(tmp_path / "empty.git"), 1)

    def test_a_shallow_clone_without_the_merge_base(self, repo: GitRepo, tmp_path: Path) -> None:
        shallow = tmp_path / "shallow"
        git("clone", "-q", "--depth", "1", f"file://{repo.path}", str(shallow))
        git("-C", str(shallow), "fetch", "-q", "--depth", "1", "origin", "+refs/pull/*/head:refs/pull/*/head")
        with CloneSource(shallow) as source, pytest.raises(DataError, match="shallow") as caught:
            source.load(ref(7))
        assert "--unshallow" in caught.value.remedy

    def test_a_shallow_clone_that_holds_the_merge_base_is_enough(self, repo: GitRepo, tmp_path: Path) -> None:
        shallow = tmp_path / "shallow"
        git("clone", "-q", "--depth", "2", f"file://{repo.path}", str(shallow))
        git("-C", str(shallow), "fetch", "-q", "--depth", "3", "origin", "+refs/pull/*/head:refs/pull/*/head")
        with CloneSource(shallow) as source:
            assert source.load(ref(7)).snapshot.merge_base == repo.git("merge-base", "main", "feature").strip()

    @pytest.mark.parametrize("junk", [b"junk", b""])
    def test_a_damaged_file(self, repo: GitRepo, source: CloneSource, junk: bytes) -> None:
        tree = source.load(ref(7)).trees.head
        repo.object_path(str(tree.blob("a.txt"))).write_bytes(junk)
        with pytest.raises(DataError, match=r"a\.txt|damaged|corrupt|lacks|Git failed"):
            tree.read("a.txt")
        assert tree.read("tool.sh") == b"#!/bin/sh\n"

    def test_a_damaged_file_leaves_the_list_of_files(self, repo: GitRepo) -> None:
        repo.object_path(repo.git("rev-parse", "feature:a.txt").strip()).write_bytes(b"junk")
        files = load(repo).snapshot.files
        assert files.state == "partial"
        assert "line counts are unknown" in files.reason
        assert "a.txt" in {file.path for file in files.value or ()}

    def test_an_object_of_another_kind(self, repo: GitRepo, source: CloneSource) -> None:
        blob = repo.blob("no folder")
        commit = repo.commit_of(blob, [])
        with pytest.raises(DataError, match="damaged"):
            source.tree(commit).list("")

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
    def test_a_clone_of_another_user(self, repo: GitRepo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        os.chown(repo.path, 12345, 12345)
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
        with pytest.raises(DataError, match="belongs to another user") as caught:
            CloneSource(repo.path)
        assert f"safe.directory {repo.path}" in caught.value.remedy
        (tmp_path / ".gitconfig").write_text(f"[safe]\n\tdirectory = {repo.path}\n")
        with CloneSource(repo.path) as source:
            assert source.load(ref(7)).snapshot.files.complete

    def test_a_closed_source(self, repo: GitRepo) -> None:
        with CloneSource(repo.path) as source:
            loaded = source.load(ref(7))
        with pytest.raises(DataError, match="was closed"):
            loaded.trees.head.read("tool.sh")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """Every process that is started."""
    processes: list[subprocess.Popen[bytes]] = []
    begin = subprocess.Popen.__init__

    def noted(self: Any, *args: Any, **options: Any) -> None:
        processes.append(self)
        begin(self, *args, **options)

    monkeypatch.setattr(subprocess.Popen, "__init__", noted)
    return processes


def test_three_processes_whatever_the_number_of_pull_requests(
    repo: GitRepo, started: list[subprocess.Popen[bytes]]
) -> None:
    del started[:]
    with CloneSource(repo.path) as source:
        for _ in range(3):
            trees: tuple[Tree, ...] = tuple(getattr(source.load(ref(7)).trees, name) for name in ("base", "head"))
            assert all(tree.list("") for tree in trees)
    assert len(started) == 3


def test_processes_live_as_long_as_the_trees(repo: GitRepo, started: list[subprocess.Popen[bytes]]) -> None:
    del started[:]
    source = CloneSource(repo.path)
    loaded = source.load(ref(7))
    del source
    assert loaded.trees.head.read("tool.sh") == b"#!/bin/sh\n"
    assert None in [process.poll() for process in started]
    del loaded
    assert None not in [process.poll() for process in started]


def test_real_pull_request(real_clone: Path) -> None:
    with CloneSource(real_clone) as source:
        snapshot: Snapshot = source.load(ref(2550)).snapshot
        assert [(file.path, file.additions) for file in snapshot.files.value or ()] == [
            ("configs/nvidia-master.yaml", 1),
            ("perf-changelog.yaml", 9),
        ]
        assert snapshot.merge_base == git("-C", str(real_clone), "merge-base", "HEAD", "refs/pull/2550/head").strip()
