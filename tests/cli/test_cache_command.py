"""`cache verify`: what it finds, what it does about it, and how it ends."""

from __future__ import annotations

from pathlib import Path

from reviewer_tui.store.cache import Cache
from tests.cli.conftest import Run


def _path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "reviewer-tui" / "cache.sqlite"


def test_a_whole_cache_is_said_to_be_whole(run: Run) -> None:
    ran = run("cache", "verify")
    assert (ran.code, ran.out) == (0, "")
    assert "0 objects, 0 snapshots and 0 answers were read." in ran.err


def test_a_file_that_is_no_database_is_moved_aside(run: Run, tmp_path: Path) -> None:
    """The remedy that every other command names is what this one does."""
    path = _path(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"this is no database at all, but long enough to look" * 40)
    other = run("cache", "list")
    assert other.code == 4
    assert "reviewer-tui cache verify moves it aside and begins a new one." in other.err
    ran = run("cache", "verify")
    assert ran.code == 4
    aside = path.with_name("cache.sqlite.damaged-1")
    assert str(aside) in ran.out
    assert aside.read_bytes().startswith(b"this is no database")
    assert "cache verify" not in ran.out + ran.err
    assert run("cache", "verify").code == 0


def test_a_file_with_a_broken_page_is_moved_aside(run: Run, tmp_path: Path) -> None:
    """The head of the file is whole, so that it opens, and what is read later is not."""
    path = _path(tmp_path)
    with Cache(path) as cache:
        cache.write_objects("blob", [f"{number}".encode() * 3000 for number in range(200)])
    content = bytearray(path.read_bytes())
    content[4096 : len(content)] = b"\x07" * (len(content) - 4096)
    path.write_bytes(bytes(content))
    assert run("cache", "verify").code == 4
    assert path.with_name("cache.sqlite.damaged-1").exists()
    assert run("cache", "verify").code == 0
