"""The cache: whole whatever happens, shared between processes, and honest about damage."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from reviewer_tui.model.errors import NotFoundError
from reviewer_tui.model.part import complete, unavailable
from reviewer_tui.model.pull_request import PullRequestInfo, PullRequestRef
from reviewer_tui.model.snapshot import Snapshot
from reviewer_tui.model.tree import git_object_id
from reviewer_tui.sources.cached import CacheSource
from reviewer_tui.sources.objects import GitCommit
from reviewer_tui.sources.stored import NotCachedError, StoredObjects
from reviewer_tui.store.cache import Cache, CacheError, set_aside
from reviewer_tui.store.migrations import CACHE_STEPS, migrate
from tests.gitrepo import GitRepo

REF = PullRequestRef("Acme/Bench", 7)
PROJECT = Path(__file__).parents[2]


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    with Cache(tmp_path / "folder" / "cache.sqlite") as cache:
        yield cache


def snapshot(
    head: str = "a" * 40, base: str = "b" * 40, taken_at: str = "2026-08-12T00:00:00Z", number: int = 7
) -> Snapshot:
    return Snapshot(
        ref=PullRequestRef("Acme/Bench", number),
        source="github",
        taken_at=taken_at,
        head=head,
        merge_base=base,
        default_branch=base,
        files=complete(()),
        commits=complete(()),
        info=complete(PullRequestInfo(title="A title", author="ada", state="open")),
        conversation=complete(()),
        runs=unavailable("x"),
        evals=unavailable("x"),
        results=unavailable("x"),
        upstream=unavailable("x"),
    )


def fill(cache: Cache, repo: GitRepo, *commits: str) -> None:
    """Take everything of commits into the cache."""
    objects = StoredObjects(cache, "github.com", "Acme/Bench")
    for commit in commits:
        tree = repo.git("rev-parse", f"{commit}^{{tree}}").strip()
        objects.keep_commits([_commit(commit, tree)])
        lines = [line.split() for line in repo.git("ls-tree", "-rt", commit).splitlines()]
        for kind in ("tree", "blob"):
            names = [sha for _, what, sha, _ in lines if what == kind] + ([tree] if kind == "tree" else [])
            cache.write_objects(
                kind, [zlib.decompress(repo.object_path(n).read_bytes()).partition(b"\0")[2] for n in names]
            )


def _commit(sha: str, tree: str) -> GitCommit:
    return GitCommit(sha=sha, tree=tree, parents=(), time=0, author="ada", authored_at="", subject="x")


def damage(cache: Cache, statement: str) -> None:
    """Change the file behind the cache's back."""
    connection = sqlite3.connect(cache.path)
    connection.execute(statement)
    connection.commit()
    connection.close()


# --- objects ----------------------------------------------------------------------------------------------------------


def test_objects_are_kept_under_gits_names(cache: Cache) -> None:
    cache.write_objects("blob", [b"hello\n", b""])
    assert cache.read_object("ce013625030ba8dba906f756967f9e9ca394464a", "blob") == b"hello\n"
    assert cache.read_object("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "blob") == b""
    assert cache.read_object("ce013625030ba8dba906f756967f9e9ca394464a", "tree") is None
    assert cache.read_object("0" * 40, "blob") is None
    assert cache.has_objects(["ce013625030ba8dba906f756967f9e9ca394464a", "0" * 40]) == {
        "ce013625030ba8dba906f756967f9e9ca394464a"
    }


def test_many_objects_are_looked_for_at_once(cache: Cache) -> None:
    contents = [f"{number}".encode() for number in range(1200)]
    cache.write_objects("blob", contents)
    names = [git_object_id("blob", content) for content in contents]
    assert cache.has_objects([*names, "0" * 40]) == set(names)


def test_a_damaged_object_counts_as_absent(cache: Cache) -> None:
    name = git_object_id("blob", b"hello\n")
    cache.write_objects("blob", [b"hello\n"])
    damage(cache, "UPDATE object SET content = x'0102'")
    assert cache.read_object(name, "blob") is None
    cache.write_objects("blob", [b"hello\n"])
    assert cache.read_object(name, "blob") == b"hello\n"
    packed = zlib.compress(b"forged\n").hex()
    damage(cache, f"UPDATE object SET content = x'{packed}'")
    assert cache.read_object(name, "blob") is None


# --- snapshots --------------------------------------------------------------------------------------------------------


def test_the_newest_snapshot_or_that_of_a_head(cache: Cache) -> None:
    old, new = snapshot("a" * 40, taken_at="2026-08-11T00:00:00Z"), snapshot("c" * 40)
    cache.write_snapshot(new, "p" * 40)
    cache.write_snapshot(old, "q" * 40)
    assert cache.read_snapshot(REF) == (new, "p" * 40)
    assert cache.read_snapshot(REF, "aaaaa") == (old, "q" * 40)
    assert cache.read_snapshot(PullRequestRef("acme/BENCH", 7), "AAAAAA")[0] == old
    for ref, head in ((PullRequestRef("acme/bench", 8), None), (REF, "dddd"), (REF, "%"), (REF, "a")):
        with pytest.raises(NotFoundError, match="holds nothing"):
            cache.read_snapshot(ref, head)


def test_a_later_snapshot_takes_the_place_of_one_of_the_same_head(cache: Cache) -> None:
    cache.write_snapshot(snapshot(), "p" * 40)
    later = msgspec.structs.replace(snapshot(), taken_at="2026-08-13T00:00:00Z")
    cache.write_snapshot(later, "p" * 40)
    (kept,) = cache.snapshots()
    assert (kept.ref, kept.head, kept.title, kept.taken_at) == (REF, "a" * 40, "A title", "2026-08-13T00:00:00Z")
    assert kept.size > 100


def test_a_damaged_snapshot_is_said_and_the_older_one_used(cache: Cache) -> None:
    cache.write_snapshot(snapshot("a" * 40, taken_at="2026-08-11T00:00:00Z"), "p" * 40)
    cache.write_snapshot(snapshot("c" * 40), "p" * 40)
    damage(cache, f"UPDATE snapshot SET content = x'00' WHERE head = '{'c' * 40}'")
    assert cache.read_snapshot(REF)[0].head == "a" * 40
    with pytest.raises(NotFoundError, match="is damaged"):
        cache.read_snapshot(REF, "cccc")


# --- revisions --------------------------------------------------------------------------------------------------------


def test_revisions_by_name_and_prefix(cache: Cache) -> None:
    where = ("github.com", "acme/bench")
    cache.write_revisions(*where, {"ab" * 20: b"1", "ac" * 20: b"2", "abab" + "0" * 36: b"3"})
    cache.write_name(*where, "main", "ac" * 20)
    assert cache.find_revisions(*where, "main") == ("ac" * 20,)
    assert cache.find_revisions(*where, "ACAC") == ("ac" * 20,)
    assert len(cache.find_revisions(*where, "abab")) == 2
    assert cache.find_revisions(*where, "ab") == ()
    assert cache.find_revisions(*where, "feature") == ()
    assert cache.find_revisions("other.example", "acme/bench", "acac") == ()
    assert cache.read_revision(*where, "ab" * 20) == b"1"


def test_a_review_without_the_network(tmp_path: Path, cache: Cache) -> None:
    repo = GitRepo(tmp_path / "r.git")
    base = repo.commit({"a/b.txt": "one\n", "c.txt": "two\n"}, on="main")
    head = repo.commit({"a/b.txt": "three\n"}, parents=[base])
    fill(cache, repo, base, head)
    cache.write_snapshot(snapshot(head, base), base)
    source = CacheSource(cache, "Acme/Bench")
    loaded = source.load(REF)
    assert (loaded.snapshot.source, loaded.snapshot.taken_at) == ("cache", "2026-08-12T00:00:00Z")
    assert loaded.trees.head.read("a/b.txt") == b"three\n"
    assert loaded.trees.policy.list("") == ("a/b.txt", "c.txt")
    assert source.tree(base[:8]).read("c.txt") == b"two\n"
    with pytest.raises(NotCachedError, match="no revision"):
        source.load(REF, policy_ref="v1.0")
    damage(cache, f"DELETE FROM object WHERE name = x'{repo.blob('three' + chr(10))}'")
    with pytest.raises(NotCachedError, match="lacks a file"):
        loaded.trees.head.read("a/b.txt")
    assert loaded.trees.head.read("nowhere") is None


# --- answers ----------------------------------------------------------------------------------------------------------


def test_answers_that_are_not_used_are_dropped_in_time(tmp_path: Path) -> None:
    now = [1_800_000_000.0]
    with Cache(tmp_path / "c.sqlite", clock=lambda: now[0]) as cache:
        cache.write_answer("used", b"1")
        cache.write_answer("unused", b"2")
        now[0] += 40 * 86_400
        assert cache.read_answer("used") == b"1"
        now[0] += 40 * 86_400
        cache.tidy()
        assert (cache.read_answer("used"), cache.read_answer("unused")) == (b"1", None)


# --- keeping house ----------------------------------------------------------------------------------------------------


def test_removing_a_pull_request_keeps_what_others_need(tmp_path: Path) -> None:
    now = [1_800_000_000.0]
    repo = GitRepo(tmp_path / "r.git")
    base = repo.commit({"shared.txt": "s\n", "only/base.txt": "b\n"}, on="main")
    one, two = (repo.commit({"own.txt": f"{n}\n"}, parents=[base]) for n in (1, 2))
    with Cache(tmp_path / "c.sqlite", clock=lambda: now[0]) as cache:
        fill(cache, repo, base, one, two)
        cache.write_snapshot(snapshot(one, base), base)
        cache.write_snapshot(snapshot(two, base, number=8), base)
        assert cache.remove([REF]) == 1
        assert cache.has_objects([repo.blob("1\n")])  # too young: another process may be about to need it
        now[0] += 2 * 86_400
        cache.tidy()
        assert not cache.has_objects([repo.blob("1\n")])
        kept = CacheSource(cache, "Acme/Bench").load(PullRequestRef("Acme/Bench", 8))
        assert kept.trees.head.read("own.txt") == b"2\n"
        assert kept.trees.base.read("only/base.txt") == b"b\n"
        with pytest.raises(NotFoundError):
            cache.read_snapshot(REF)


def test_verify_finds_damage_and_says_what_to_load_again(tmp_path: Path, cache: Cache) -> None:
    repo = GitRepo(tmp_path / "r.git")
    base = repo.commit({"a.txt": "one\n", "b.txt": "two\n"}, on="main")
    head = repo.commit({"a.txt": "three\n"}, parents=[base])
    fill(cache, repo, base, head)
    cache.write_snapshot(snapshot(head, base), base)
    cache.write_snapshot(snapshot(base, base, number=8), base)
    cache.write_answer("k", b"v")
    whole = cache.verify()
    assert (whole.snapshots, whole.answers, whole.damaged, whole.refetch) == (2, 1, (), ())
    assert whole.objects == 5
    damage(cache, f"UPDATE object SET content = x'00' WHERE name = x'{repo.blob('three' + chr(10))}'")
    damage(cache, "UPDATE answer SET content = x'00'")
    found = cache.verify()
    assert found.refetch == (REF,)
    assert len(found.damaged) == 2
    damage(cache, "UPDATE snapshot SET content = x'00' WHERE number = 8")
    assert PullRequestRef("Acme/Bench", 8) in cache.verify().refetch
    assert cache.verify().damaged == ()


def test_verify_notices_that_folders_are_missing(tmp_path: Path, cache: Cache) -> None:
    repo = GitRepo(tmp_path / "r.git")
    base = repo.commit({"a.txt": "one\n"}, on="main")
    fill(cache, repo, base)
    cache.write_snapshot(snapshot(base, base), base)
    damage(cache, "DELETE FROM object WHERE kind = 'tree'")
    assert cache.verify().refetch == (REF,)


# --- the file ---------------------------------------------------------------------------------------------------------


def test_only_the_owner_may_read_it(cache: Cache) -> None:
    cache.write_objects("blob", [b"x"])
    path = Path(cache.path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_file_that_is_no_database_can_be_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    path.write_bytes(b"this is no database at all, but long enough to look" * 40)
    with pytest.raises(CacheError, match="damaged") as caught:
        Cache(path)
    assert "cache verify" in caught.value.remedy
    aside = set_aside(path)
    assert aside.read_bytes().startswith(b"this is no database")
    with Cache(path) as fresh:
        assert fresh.snapshots() == ()


def test_a_newer_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    Cache(path).close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {len(CACHE_STEPS) + 1}")
    connection.close()
    with pytest.raises(CacheError, match="newer version"):
        Cache(path)
    assert sqlite3.connect(path).execute("PRAGMA user_version").fetchone() == (len(CACHE_STEPS) + 1,)


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CacheError, match="cannot be"):
        Cache(tmp_path / "file" / "cache.sqlite")


def test_a_step_that_fails_changes_nothing(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "c.sqlite", isolation_level=None)
    steps = ("CREATE TABLE one (a)", "CREATE TABLE two (a); THIS IS NO SQL")
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, steps)
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == []
    assert migrate(connection, steps[:1])
    assert migrate(connection, (steps[0], "CREATE TABLE two (a)"))
    assert connection.execute("PRAGMA user_version").fetchone() == (2,)
    assert not migrate(connection, steps[:1])
    connection.close()


# --- several at once --------------------------------------------------------------------------------------------------


def _write_many(path: str, number: int) -> None:
    with Cache(path) as cache:
        for at in range(30):
            cache.write_objects("blob", [f"{number} {at} {n}".encode() for n in range(5)])
            cache.write_snapshot(snapshot(number=number), "p" * 40)


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    """Also the very first opening, which creates the tables, may be raced for."""
    path = tmp_path / "cache.sqlite"
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=_write_many, args=(str(path), number)) for number in (7, 8)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    with Cache(path) as cache:
        assert [kept.ref.number for kept in cache.snapshots()] == [7, 8]
        assert cache.verify().objects == 300
        assert cache.verify().damaged == ()


def test_threads_share_a_cache(cache: Cache) -> None:
    def work(number: int) -> None:
        for at in range(20):
            cache.write_objects("blob", [f"{number} {at}".encode()])
            cache.read_object(git_object_id("blob", f"{number} {at}".encode()), "blob")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache.verify().objects == 80


def test_a_writer_that_is_killed_leaves_the_cache_whole(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    code = (
        "import sys\n"
        "from reviewer_tui.store.cache import Cache\n"
        "from tests.store.test_cache import snapshot\n"
        "cache = Cache(sys.argv[1])\n"
        "at = 0\n"
        "while True:\n"
        "    at += 1\n"
        "    cache.write_objects('blob', [f'{at} {n}'.encode() * 200 for n in range(40)])\n"
        "    cache.write_snapshot(snapshot(number=at), 'p' * 40)\n"
        "    print(at, flush=True)\n"
    )
    environ = {**os.environ, "PYTHONPATH": str(PROJECT)}
    for _ in range(2):
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, env=environ, cwd=PROJECT
        )
        assert process.stdout is not None
        for _ in range(5):
            done = int(process.stdout.readline())
        time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        process.stdout.close()
        with Cache(path) as cache:
            assert cache.verify().damaged == ()
            assert len(cache.snapshots()) >= done
            assert len({kept.ref.number for kept in cache.snapshots()}) == len(cache.snapshots())
