"""Drafts survive whatever dies, and two processes do not lose each other's words."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.model.checklist import ChecklistTemplate, Decision, ItemMark, ReviewNotes
from reviewer_tui.model.errors import DataError
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.policy.checklist import bundled_templates
from reviewer_tui.store.atomic import remove_leftovers, write_atomic
from reviewer_tui.store.drafts import DraftStore, carry_over, for_template, merge
from reviewer_tui.store.lock import locked

REF = PullRequestRef("SemiAnalysisAI/InferenceX", 2550)
HEAD, OLDER = "a" * 40, "b" * 40
TWENTY, TWENTY_ONE = bundled_templates()[19:21]
ACCEPTED = ItemMark(Decision.ACCEPTED)


def notes(detail: str | None = None, **marks: ItemMark) -> ReviewNotes:
    return ReviewNotes(marks={label.removeprefix("i"): mark for label, mark in marks.items()}, detail=detail)


def at(*moments: str) -> object:
    times = iter(moments)
    return lambda: next(times)


@pytest.fixture
def store(tmp_path: Path) -> DraftStore:
    return DraftStore(tmp_path)


def saved(store: DraftStore, some: ReviewNotes, base: ReviewNotes | None = None, head: str = HEAD) -> ReviewNotes:
    return store.save(REF, head, some, template=TWENTY_ONE, base=base).notes


def file_of(tmp_path: Path, head: str = HEAD) -> Path:
    return tmp_path / "github.com" / "semianalysisai" / "inferencex" / "2550" / f"{head}.json"


def test_what_was_saved_is_loaded(store: DraftStore) -> None:
    assert store.load(REF, HEAD) is None
    mine = notes(
        "Mein Text: 中文\n\u202e", i3=ItemMark(Decision.ACCEPTED, "two\nlines"), i11a=ItemMark(Decision.DISPUTED, "no")
    )
    stored = saved(store, mine)
    draft = store.load(REF, HEAD)
    assert draft is not None
    assert draft.notes == stored
    assert (draft.notes.marks, draft.notes.detail) == (mine.marks, mine.detail)
    assert draft.notes.updated_at
    assert draft.items["11a"].name == "recipe_merged"
    assert draft.warnings == ()


def test_keys_are_host_repository_number_and_head(store: DraftStore) -> None:
    saved(store, notes(i1=ACCEPTED))
    same = PullRequestRef("semianalysisai/INFERENCEX", 2550)
    assert store.load(same, HEAD) is not None
    for other in (
        PullRequestRef("SemiAnalysisAI/InferenceX", 2551),
        PullRequestRef("SemiAnalysisAI/Other", 2550),
        PullRequestRef("SemiAnalysisAI/InferenceX", 2550, "github.example.org:8443"),
    ):
        assert store.load(other, HEAD) is None
    assert store.load(REF, OLDER) is None


@pytest.mark.parametrize(
    ("ref", "head"),
    [
        (PullRequestRef("../../etc", 1), HEAD),
        (PullRequestRef("a/..", 1), HEAD),
        (PullRequestRef("a/b/c", 1), HEAD),
        (PullRequestRef("a/b", 1, "../x"), HEAD),
        (PullRequestRef("a/b", -1), HEAD),
        (REF, "main"),
        (REF, "../../../x"),
        (REF, HEAD[:12]),
    ],
)
def test_names_that_climb_are_refused(store: DraftStore, tmp_path: Path, ref: PullRequestRef, head: str) -> None:
    with pytest.raises(DataError):
        store.save(ref, head, notes(), template=None)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_drafts_are_private(store: DraftStore, tmp_path: Path) -> None:
    saved(store, notes(i1=ACCEPTED))
    assert file_of(tmp_path).stat().st_mode & 0o777 == 0o600
    assert file_of(tmp_path).parent.stat().st_mode & 0o077 == 0


def test_changes_of_two_processes_are_merged(store: DraftStore) -> None:
    base = saved(store, notes(i1=ACCEPTED, i2=ItemMark(note="start")))
    saved(store, notes(i1=ACCEPTED, i2=ItemMark(note="start"), i3=ItemMark(Decision.ACCEPTED, "theirs")), base)
    result = store.save(
        REF, HEAD, notes("mine", i2=ItemMark(Decision.ACCEPTED, "start")), template=TWENTY_ONE, base=base
    )
    assert result.conflicts == ()
    assert result.notes.marks == {"2": ItemMark(Decision.ACCEPTED, "start"), "3": ItemMark(Decision.ACCEPTED, "theirs")}
    assert result.notes.detail == "mine"


def test_a_process_that_keeps_its_own_notes_does_not_undo_the_other(store: DraftStore) -> None:
    mine = notes(i1=ACCEPTED)
    saved(store, mine)
    saved(store, notes(i2=ItemMark(note="theirs")))
    more = notes(i1=ACCEPTED, i3=ACCEPTED)
    assert saved(store, more, mine).marks["2"].note == "theirs"
    assert saved(store, notes(i1=ACCEPTED), more).marks == {"1": ACCEPTED, "2": ItemMark(note="theirs")}


def test_a_conflict_keeps_both_and_ticks_nothing(store: DraftStore) -> None:
    base = saved(store, notes("d", i1=ItemMark(note="a")))
    saved(store, notes("theirs", i1=ItemMark(Decision.DISPUTED, "theirs")), base)
    result = store.save(
        REF, HEAD, notes("ours", i1=ItemMark(Decision.ACCEPTED, "ours")), template=TWENTY_ONE, base=base
    )
    assert [(c.label, c.ours, c.theirs) for c in result.conflicts] == [
        ("1", "accepted", "disputed"),
        ("1", "ours", "theirs"),
        ("detail", "ours", "theirs"),
    ]
    assert result.notes.marks == {"1": ItemMark(Decision.OPEN, "ours")}
    assert result.notes.detail == "ours"
    draft = store.load(REF, HEAD)
    assert draft is not None
    assert draft.conflicts == result.conflicts
    store.resolve(REF, HEAD)
    resolved = store.load(REF, HEAD)
    assert resolved is not None
    assert (resolved.conflicts, resolved.notes) == ((), result.notes)


_MARK = st.builds(ItemMark, st.sampled_from(list(Decision)), st.sampled_from(["", "a", "b"]))
_NOTES = st.builds(
    ReviewNotes,
    marks=st.dictionaries(st.sampled_from(["1", "2", "11a"]), _MARK),
    detail=st.sampled_from([None, "", "a", "b"]),
)


@given(_NOTES, _NOTES, _NOTES)
@settings(max_examples=150, deadline=None)
def test_merging_loses_no_word(base: ReviewNotes, ours: ReviewNotes, theirs: ReviewNotes) -> None:
    merged, conflicts = merge(base, ours, theirs)
    kept = {c.theirs for c in conflicts}
    for label in ("1", "2", "11a"):
        note = merged.mark(label).note
        for side in (ours, theirs):
            changed = side.mark(label).note
            assert changed in (note, base.mark(label).note) or changed in kept
        if merged.mark(label).decision is Decision.ACCEPTED:
            assert Decision.ACCEPTED in (ours.mark(label).decision, theirs.mark(label).decision)
    assert merge(base, ours, base)[0].marks == {k: m for k, m in ours.marks.items() if m != ItemMark()}
    assert merge(base, ours, ours)[1] == merge(base, base, theirs)[1] == ()


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff\xfe", b'{"schema": 1}', b'{"schema": 1, "head": 5, "notes": []}'])
def test_a_damaged_file_is_kept_aside_and_the_version_before_comes_back(
    store: DraftStore, tmp_path: Path, damage: bytes
) -> None:
    first = saved(store, notes(i1=ACCEPTED))
    saved(store, notes(i1=ACCEPTED, i2=ACCEPTED), first)
    path = file_of(tmp_path)
    path.write_bytes(damage)
    draft = store.load(REF, HEAD)
    assert draft is not None
    assert draft.notes == first
    aside = path.with_name(f"{path.name}.damaged")
    assert aside.read_bytes() == damage
    assert str(aside) in draft.warnings[0]
    path.write_bytes(damage)
    result = store.save(REF, HEAD, notes(i3=ACCEPTED), template=TWENTY_ONE, base=first)
    assert result.warnings
    assert result.notes.marks == {"3": ACCEPTED}
    assert path.with_name(f"{path.name}.damaged-2").read_bytes() == damage


def test_nothing_readable_at_all(store: DraftStore, tmp_path: Path) -> None:
    saved(store, notes(i1=ACCEPTED))
    file_of(tmp_path).write_bytes(b"x")
    draft = store.load(REF, HEAD)
    assert draft is not None
    assert draft.notes == ReviewNotes()
    assert len(draft.warnings) == 1
    assert store.load(REF, HEAD) is None


def test_every_cut_of_the_file_is_survived(store: DraftStore, tmp_path: Path) -> None:
    first = saved(store, notes(i1=ACCEPTED))
    path = file_of(tmp_path)
    content = path.read_bytes()
    saved(store, notes(i1=ACCEPTED, i2=ACCEPTED), first)
    before = path.with_suffix(".before")
    assert before.read_bytes() == content
    for length in range(0, len(content), 97):
        path.write_bytes(content[:length])
        before.write_bytes(content)
        draft = store.load(REF, HEAD)
        assert draft is not None
        assert draft.notes == first


def test_a_file_of_a_newer_program_is_left_alone(store: DraftStore, tmp_path: Path) -> None:
    saved(store, notes(i1=ACCEPTED))
    path = file_of(tmp_path)
    newer = path.read_bytes().replace(b'"schema": 1', b'"schema": 2')
    path.write_bytes(newer)
    with pytest.raises(DataError, match="newer reviewer-tui"):
        saved(store, notes(i2=ACCEPTED))
    assert path.read_bytes() == newer


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DataError, match="cannot be kept") as error:
        saved(DraftStore(tmp_path / "file"), notes(i1=ACCEPTED))
    assert error.value.remedy


def test_the_latest_draft_of_another_head(tmp_path: Path) -> None:
    store = DraftStore(tmp_path, now=at("2026-08-10T10:00", "2026-08-12T10:00", "2026-08-11T10:00"))  # type: ignore[arg-type]
    assert store.latest_for(REF) is None
    saved(store, notes(i1=ACCEPTED), head="c" * 40)
    saved(store, notes(i2=ACCEPTED), head=OLDER)
    saved(store, notes(i3=ACCEPTED), head=HEAD)
    assert store.heads(REF) == (HEAD, OLDER, "c" * 40)
    latest = store.latest_for(REF)
    assert latest is not None
    assert latest.head == OLDER
    other = store.latest_for(REF, other_than=OLDER)
    assert other is not None
    assert other.head == HEAD


def test_carrying_over_keeps_notes_and_takes_decisions_back(store: DraftStore) -> None:
    saved(
        store,
        notes("run 1 was green", i2=ItemMark(Decision.ACCEPTED, "read"), i3=ACCEPTED, i5=ItemMark(Decision.OPEN, "hm")),
    )
    draft = store.load(REF, HEAD)
    assert draft is not None
    carried = carry_over(draft, TWENTY_ONE, unchanged=["validation"])
    assert carried.notes.marks == {
        "2": ItemMark(Decision.OPEN, "read"),
        "3": ACCEPTED,
        "5": ItemMark(Decision.OPEN, "hm"),
    }
    assert carried.notes.detail == "run 1 was green"
    assert carried.reopened == ("2", "detail")
    assert carry_over(draft, TWENTY_ONE).reopened == ("2", "3", "detail")


def test_labels_that_moved_take_their_marks_along(store: DraftStore) -> None:
    last = ItemMark(Decision.ACCEPTED, "all is explained")
    store.save(REF, HEAD, notes(i13=last, i1=ACCEPTED), template=TWENTY)
    draft = store.load(REF, HEAD)
    assert draft is not None
    assert draft.items["13"].name == "exceptions"
    today = for_template(draft, TWENTY_ONE)
    assert today.notes.marks == {"14": last, "1": ACCEPTED}
    assert today.reopened == ()
    again = store.save(REF, HEAD, notes(i14=last, i13=ACCEPTED, i1=ACCEPTED), template=TWENTY_ONE, base=today.notes)
    assert again.notes.marks == {"14": last, "13": ACCEPTED, "1": ACCEPTED}
    newer = store.load(REF, HEAD)
    assert newer is not None
    assert for_template(newer, TWENTY).notes.marks == {"13": last, "1": ACCEPTED}


def test_a_reworded_item_loses_its_decision_not_its_note(store: DraftStore) -> None:
    seventeen, eighteen = bundled_templates()[16:18]
    recipe = ItemMark(Decision.ACCEPTED, "similar enough")
    store.save(REF, HEAD, notes(i10=recipe), template=seventeen)
    draft = store.load(REF, HEAD)
    assert draft is not None
    assert draft.items["10"].name == "recipe"
    today = for_template(draft, eighteen)
    assert (today.notes.marks, today.reopened) == ({"10": ItemMark(Decision.OPEN, "similar enough")}, ("10",))


def test_notes_of_an_item_that_is_gone_are_left_behind_not_lost(store: DraftStore) -> None:
    gone = notes(i13=ItemMark(Decision.ACCEPTED, "only new points"))
    store.save(REF, HEAD, gone, template=TWENTY_ONE)
    stored = store.load(REF, HEAD)
    assert stored is not None
    assert for_template(stored, TWENTY).left_behind == {"append_only": "only new points"}
    store.save(REF, HEAD, notes(i1=ACCEPTED), template=TWENTY, base=notes())
    draft = store.load(REF, HEAD)
    assert draft is not None
    assert (draft.notes.marks, draft.left_behind) == ({"1": ACCEPTED}, {"append_only": "only new points"})


def test_marks_of_unknown_labels_are_never_trusted(store: DraftStore) -> None:
    store.save(REF, HEAD, notes(i1=ItemMark(Decision.ACCEPTED, "n"), i99=ItemMark(note="lost?")), template=None)
    draft = store.load(REF, HEAD)
    assert draft is not None
    today = for_template(draft, TWENTY_ONE)
    assert today.notes.marks == {"1": ItemMark(Decision.OPEN, "n")}
    assert today.left_behind == {"99": "lost?"}


_WRITER = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from reviewer_tui.model.checklist import Decision, ItemMark, ReviewNotes
    from reviewer_tui.model.pull_request import PullRequestRef
    from reviewer_tui.store.drafts import DraftStore

    directory, prefix, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    store, ref, head = DraftStore(directory), PullRequestRef("SemiAnalysisAI/InferenceX", 2550), "a" * 40
    notes = ReviewNotes()
    for number in range(count):
        mark = ItemMark(Decision.ACCEPTED, f"{prefix}{number} " + "x" * 500)
        wanted = ReviewNotes(marks={**notes.marks, f"{prefix}{number % 40}": mark}, detail=notes.detail)
        notes = store.save(ref, head, wanted, template=None, base=notes).notes
        print(number, flush=True)
    """
)


def writer(directory: Path, prefix: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _WRITER, str(directory), prefix, str(count)]
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def test_two_processes_at_once(store: DraftStore, tmp_path: Path) -> None:
    writers = [writer(tmp_path, prefix, 30) for prefix in ("a", "b")]
    for process in writers:
        process.communicate(timeout=60)
        assert process.returncode == 0
    draft = store.load(REF, HEAD)
    assert draft is not None
    assert set(draft.notes.marks) == {f"{prefix}{number}" for prefix in ("a", "b") for number in range(30)}
    assert (draft.conflicts, draft.warnings) == ((), ())


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_process_killed_at_any_moment(tmp_path: Path) -> None:
    for wait in (0.0, 0.003, 0.007, 0.011, 0.02):
        folder = tmp_path / str(wait)
        process = writer(folder, "k", 100_000)
        assert process.stdout is not None
        told = [process.stdout.readline()]
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        told += process.stdout.read().splitlines()
        process.stdout.close()
        process.wait()
        store = DraftStore(folder)
        draft = store.load(REF, HEAD)
        assert draft is not None
        assert draft.warnings == ()
        newest = max(int(mark.note.split()[0][1:]) for mark in draft.notes.marks.values())
        assert newest >= int(told[-1])
        saved(store, notes(i1=ACCEPTED))
        assert not list(file_of(folder).parent.glob(".*.tmp"))


def test_a_lock_held_too_long_is_said(tmp_path: Path) -> None:
    lock = tmp_path / "x.lock"
    with locked(lock), pytest.raises(DataError, match="Another process"), locked(lock, patience=0.05):
        pass
    with locked(lock, patience=0.05):
        pass


def test_write_atomic(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomic(path, b"one")
    write_atomic(path, b"two")
    assert path.read_bytes() == b"two"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
    with pytest.raises(OSError, match="No such file"):
        write_atomic(tmp_path / "absent" / "file", b"x")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write_atomic(tmp_path / "folder", b"x")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "folder"]
    (tmp_path / ".file.0011.tmp").write_bytes(b"left by a killed process")
    remove_leftovers(path)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "folder"]


def test_a_template_is_no_requirement(store: DraftStore) -> None:
    assert isinstance(TWENTY_ONE, ChecklistTemplate)
    store.save(REF, HEAD, notes(i1=ACCEPTED), template=TWENTY_ONE)
    store.save(REF, HEAD, notes(i1=ACCEPTED, i2=ACCEPTED), template=None, base=notes(i1=ACCEPTED))
    draft = store.load(REF, HEAD)
    assert draft is not None
    assert (set(draft.notes.marks), draft.items["2"].name) == ({"1", "2"}, "quality")
