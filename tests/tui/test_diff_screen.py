"""The diff screen and its view."""

from __future__ import annotations

import threading
from collections.abc import Callable

import msgspec
import pytest
from textual.app import App, ComposeResult
from textual.strip import Strip

from reviewer_tui.model.part import complete, unavailable
from reviewer_tui.model.pull_request import ChangedFile
from reviewer_tui.model.snapshot import Trees
from reviewer_tui.model.tree import DictTree
from reviewer_tui.review.session import Review
from reviewer_tui.tui.app import ReviewerApp
from reviewer_tui.tui.diff.file_diff import file_diff
from reviewer_tui.tui.diff.read import read_diff, viewed_mark
from reviewer_tui.tui.diff.rows import Row
from reviewer_tui.tui.screens.diff import DiffScreen
from reviewer_tui.tui.widgets.diff_view import DiffView
from tests.tui.reviews import CONFIG, FakeDesk, make_review
from tests.tui.screen import rows, settle, shown_app, until

Open = Callable[..., ReviewerApp]
SIZE = (120, 30)


def with_files(*files: ChangedFile, old: dict[str, bytes], new: dict[str, bytes]) -> Review:
    review = make_review()
    trees = Trees(
        policy=review.trees.policy,
        base=DictTree(old, "base"),
        head=DictTree(new, "head"),
        default_branch=review.trees.policy,
    )
    snapshot = msgspec.structs.replace(review.snapshot, files=complete(files))
    return msgspec.structs.replace(review, snapshot=snapshot, trees=trees)


def many_files(count: int) -> Review:
    files = tuple(
        ChangedFile(path=f"f{i}.yaml", status="modified", old_blob=f"{i}", new_blob=f"{i}n") for i in range(count)
    )
    old = {file.path: b"a: 1\nb: 2\n" for file in files}
    new = {file.path: b"a: 1\nb: 3\n" for file in files}
    return with_files(*files, old=old, new=new)


def text(app: ReviewerApp) -> str:
    return "\n".join(rows(app))


async def test_walking_changes_and_files(desk: FakeDesk, open_app: Open) -> None:
    app = open_app(desk)
    async with shown_app(app, SIZE) as pilot:
        await pilot.press("d")
        await settle(pilot)
        assert "change 1/2" in text(app)
        await pilot.press("full_stop")
        assert "change 2/2" in text(app)
        await pilot.press("left_square_bracket")
        assert "change 1/2" in text(app)
        await pilot.press("f")
        await settle(pilot)
        assert "New file." in text(app)
        assert "perf-changelog.yaml  change 1/1" in text(app)
        await pilot.press("less_than_sign")
        await settle(pilot)
        assert "nvidia-master.yaml  change 1/2" in text(app)


async def test_the_finding_leads_to_its_line(desk: FakeDesk, open_app: Open) -> None:
    """Enter on a finding with a place in a changed file opens the diff there, unfolding what hides it."""
    review = make_review()
    desk.review = review
    app = open_app(desk)
    async with shown_app(app, SIZE) as pilot:
        app.push_screen(DiffScreen(CONFIG, 5))
        await settle(pilot)
        view = app.screen.query_one(DiffView)
        assert view.rows is not None
        assert view.rows[view.cursor].new == 4
        await pilot.press("escape", *"5", "end")
        await pilot.press("up", "enter")
        await settle(pilot)
        assert isinstance(app.screen, DiffScreen)
        view = app.screen.query_one(DiffView)
        assert view.rows is not None
        assert view.rows[view.cursor].new == 38


async def test_viewed_marks_are_kept_and_fall_with_the_content(open_app: Open) -> None:
    desk = FakeDesk(many_files(3))
    app = open_app(desk)
    async with shown_app(app, SIZE) as pilot:
        await pilot.press("d", "m", "M")
        await settle(pilot)
        assert "f1.yaml  change" in text(app)
        await pilot.press("m", "M", "m", "M")
        await settle(pilot)
        assert "3/3 viewed" in text(app)
        assert len(desk.marks) == 3
        await pilot.press("m")
        await settle(pilot)
        assert "2/3 viewed" in text(app)
        assert len(desk.marks) == 2
    before = ChangedFile(path="a", status="modified", old_blob="1", new_blob="2")
    assert viewed_mark(before) != viewed_mark(msgspec.structs.replace(before, new_blob="3"))


async def test_search_unfolds_goes_on_and_tells(desk: FakeDesk, open_app: Open) -> None:
    app = open_app(desk)
    async with shown_app(app, SIZE) as pilot:
        await pilot.press("d")
        await settle(pilot)
        await pilot.press("slash", *"value 7")
        await settle(pilot)
        view = app.screen.query_one(DiffView)
        assert view.rows is not None
        assert view.rows[view.cursor].new == 10
        await pilot.press("escape")
        assert app.focused is view
        await pilot.press("slash", *"zzz")
        await settle(pilot)
        assert "nothing found" in text(app)


async def test_only_the_last_file_asked_for_is_shown(open_app: Open) -> None:
    app = open_app(FakeDesk(many_files(8)))
    async with shown_app(app, SIZE) as pilot:
        await pilot.press("d", "f", "f", "f", "F", "f")
        await settle(pilot)
        assert app.screen.query_one(DiffView).diff is not None
        assert "f3.yaml  change" in text(app)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (ChangedFile(path="link", status="added", new_mode="120000"), "This is a symbolic link"),
        (ChangedFile(path="sub", status="modified", old_mode="160000", new_mode="160000"), "This is a submodule"),
        (ChangedFile(path="gone", status="modified"), "The old and the new side of this file could not be read"),
        (ChangedFile(path="bin", status="added"), "A binary file: absent before, 3 bytes after."),
    ],
)
def test_a_file_without_text_says_why(file: ChangedFile, said: str) -> None:
    trees = with_files(file, old={}, new={"bin": b"\0\1\2"}).trees
    assert read_diff(trees, file).unreadable.startswith(said)


def test_a_rename_reads_its_old_side_under_its_old_name() -> None:
    file = ChangedFile(path="b", previous_path="a", status="renamed", old_mode="100644", new_mode="100755")
    diff = read_diff(with_files(file, old={"a": b"1\n"}, new={"b": b"2\n"}).trees, file)
    assert (list(diff.old), list(diff.new)) == (["1"], ["2"])
    assert diff.notes == ("Renamed from a.", "Mode 100644 became 100755.")


async def test_unknown_files_are_said_to_be_unknown(open_app: Open) -> None:
    review = make_review()
    snapshot = msgspec.structs.replace(review.snapshot, files=unavailable("More than 3,000 files.", "Use --clone."))
    app = open_app(FakeDesk(msgspec.structs.replace(review, snapshot=snapshot)))
    async with shown_app(app, SIZE) as pilot:
        await pilot.press("d")
        await settle(pilot)
        assert "3,000 files." in text(app)
        assert "To get it: Use --clone." in text(app)


# --- the view alone -------------------------------------------------------------------------------------------------


class Host(App[None]):
    def compose(self) -> ComposeResult:
        yield DiffView("text")


async def view_rows(old: bytes, new: bytes, *, size: tuple[int, int] = (60, 12), keys: int = 0) -> list[str]:
    app = Host()
    async with app.run_test(size=size) as pilot:
        view = app.query_one(DiffView)
        view.focus()
        view.show(file_diff("x.yaml", old, new))
        for _ in range(keys):
            view.scroll_relative(x=8, animate=False)
            await pilot.pause()
        await pilot.pause()
        return rows(app)


async def test_hostile_lines_are_shown_as_what_they_are() -> None:
    shown = await view_rows(b"a: 1\n", "a: \u202e1\x1b[2J\t[red]x[/]\n".encode())
    assert shown[1:][:1] == ["       1 + a: <U+202E>1<U+001B>[2J\u00bb[red]x[/]"]


async def test_wide_characters_keep_the_columns() -> None:
    shown = await view_rows("a: 中文字\nx: 1\n".encode(), "a: 中文\nx: 1\n".encode(), size=(24, 8))
    assert shown[:3] == [">  1     - a: 中文字", "       1 + a: 中文", "   2   2   x: 1"]


async def test_long_lines_scroll_sideways_under_fixed_numbers() -> None:
    line = "k: " + "".join(f"{i:04}" for i in range(60))
    shown = await view_rows(b"", f"{line}\n".encode(), size=(40, 6), keys=2)
    assert shown[0].startswith(">      1 + 001000200030004")


@pytest.mark.parametrize("lines", [300, 60_000])
async def test_a_page_costs_the_same_in_a_file_of_any_length(lines: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: a page paints its own rows and no others."""
    painted = 0
    original = DiffView._unified_strip

    def counted(view: DiffView, row: Row, width: int) -> Strip:
        nonlocal painted
        painted += 1
        return original(view, row, width)

    monkeypatch.setattr(DiffView, "_unified_strip", counted)
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        view = app.query_one(DiffView)
        view.show(file_diff("x", b"", "\n".join(f"line {i}" for i in range(lines)).encode()))
        await pilot.pause()
        painted = 0
        view.action_page_down()
        await pilot.pause()
    assert 10 <= painted <= 22


async def test_reading_is_announced_where_it_takes_long(open_app: Open) -> None:
    gate = threading.Event()

    class Slow(DictTree):
        def read(self, path: str) -> bytes | None:
            gate.wait(10)
            return super().read(path)

    review = many_files(1)
    trees = msgspec.structs.replace(review.trees, head=Slow({"f0.yaml": b"a: 1\nb: 3\n"}))
    app = open_app(FakeDesk(msgspec.structs.replace(review, trees=trees)))
    async with shown_app(app, SIZE) as pilot:
        await pilot.press("d")
        for _ in range(200):
            if "reading f0.yaml" in text(app):
                break
            await pilot.pause(0.02)
        assert "reading f0.yaml" in text(app)
        gate.set()
        await until(pilot, lambda: "change 1/1" in text(app))
