"""The whole diff: files at the left, what the change means or its text at the right."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from reviewer_tui.model.config import KeyChange
from reviewer_tui.model.pull_request import ChangedFile
from reviewer_tui.model.snapshot import Trees
from reviewer_tui.tui.actions import Place, bindings
from reviewer_tui.tui.diff.file_diff import FileDiff
from reviewer_tui.tui.diff.read import read_diff, viewed_mark
from reviewer_tui.tui.diff.rows import Mode, Rows
from reviewer_tui.tui.screens.base import ReviewerScreen
from reviewer_tui.tui.texts.evidence import part_lines
from reviewer_tui.tui.texts.page import BLANK, Line, Piece, Target, clean, line, table
from reviewer_tui.tui.texts.panes import key_lines
from reviewer_tui.tui.widgets.bars import HeaderBar, KeyBar, SearchBar
from reviewer_tui.tui.widgets.diff_view import DiffView
from reviewer_tui.tui.widgets.line_view import LineView
from reviewer_tui.tui.widgets.pane import Pane

_STATUS_LETTERS = {
    "added": "A",
    "modified": "M",
    "removed": "D",
    "renamed": "R",
    "copied": "C",
    "type_changed": "T",
}

# A file that takes longer to read than this many seconds is announced.
_PATIENCE = 0.15

# Diffs of so many lines together are kept for going back and forth between files.
_KEPT_LINES = 400_000


class FileList(Pane):
    """The changed files; the cursor chooses."""

    DEFAULT_CSS = """
    FileList { width: 44; height: 1fr; }
    """

    class Picked(LineView.Chosen):
        """The cursor went to another file."""

    def watch_cursor(self, old: int, new: int) -> None:
        super().watch_cursor(old, new)
        if old != new and self.target:
            self.post_message(self.Picked(self, self.target))

    @property
    def cursor_shown(self) -> bool:
        return True


class DiffScreen(ReviewerScreen):
    """Every changed file of the review. Opens at a path and a line of the head where they are given."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("diff")
    PLACES: ClassVar[tuple[Place, ...]] = ("diff",)
    DEFAULT_CSS = """
    DiffScreen {
        #body { height: 1fr; }
        #text { width: 1fr; height: 1fr; border: solid $foreground 35%; }
        #text:focus { border: solid $primary; }
        #meaning { width: 1fr; height: 1fr; display: none; }
        &.-semantic #meaning { display: block; }
        &.-semantic #text { display: none; }
        &.-narrow {
            FileList { display: none; width: 1fr; border: none; }
            #text { border: none; border-top: solid $foreground 35%; }
            &.-files FileList { display: block; }
            &.-files #text { display: none; }
            &.-files #meaning { display: none; }
        }
    }
    """

    def __init__(self, path: str = "", number: int | None = None) -> None:
        super().__init__()
        self.path = path
        self._number = number
        self._shown_snapshot: object = None
        self._diffs: dict[str, FileDiff] = {}
        self._searched = ""

    def compose(self) -> ComposeResult:
        yield HeaderBar()
        with Horizontal(id="body"):
            yield FileList("Files", name="files")
            yield DiffView("text")
            yield Pane("What it means", name="meaning")
        yield SearchBar()
        yield KeyBar()

    @property
    def list(self) -> FileList:
        return self.query_one(FileList)

    @property
    def view(self) -> DiffView:
        return self.query_one(DiffView)

    @property
    def meaning(self) -> Pane:
        return self.query_one("#meaning", Pane)

    @property
    def semantic(self) -> bool:
        return self.has_class("-semantic")

    @property
    def files(self) -> tuple[ChangedFile, ...]:
        return self.review.snapshot.files.value or ()

    @property
    def file(self) -> ChangedFile | None:
        """The file shown now."""
        return next((file for file in self.files if self.path in file.paths), None)

    @property
    def reading(self) -> bool:
        """Whether the file asked for is not shown yet."""
        return self.file is not None and (self.view.diff is None or self.view.diff.path != self.file.path)

    def on_mount(self) -> None:
        self.fit()
        self.view.focus()
        self.review_changed()

    def review_changed(self) -> None:
        super().review_changed()
        if self._shown_snapshot is self.review.snapshot:
            return
        self._shown_snapshot = self.review.snapshot
        self._diffs.clear()
        if self.file is None:
            self.path = self.files[0].path if self.files else ""
        self._show_list()
        self.open(self.path, self._number)
        self.show_keys()

    # --- the list of files ------------------------------------------------------------------------------------------

    def _show_list(self) -> None:
        part = self.review.snapshot.files
        lines = [self._file_line(file) for file in self.files] + part_lines(part, "Changed files")
        seen = sum(self._viewed(file) for file in self.files)
        self.list.show_facts(f"{seen}/{len(self.files)} viewed", lines)
        self.list.move_to(self._at)

    def _file_line(self, file: ChangedFile) -> Line:
        counted = "bin" if file.binary else f"+{_count(file.additions)} -{_count(file.deletions)}"
        return line(
            Piece("[v] " if self._viewed(file) else "[ ] ", "pass" if self._viewed(file) else "plain"),
            f"{_STATUS_LETTERS[file.status]} ",
            file.path.rpartition("/")[2],
            Piece(f"  {counted}", "dim"),
            Piece(f"  {file.path.rpartition('/')[0]}", "dim"),
            target=Target(path=file.path),
        )._replace(row=True)

    def _viewed(self, file: ChangedFile) -> bool:
        return viewed_mark(file) in self.reviewer.viewed

    @on(FileList.Picked)
    def _picked(self, message: FileList.Picked) -> None:
        message.stop()
        if message.target.path != self.path:
            self.open(message.target.path)

    @on(LineView.Chosen, "#files")
    def _chosen(self, message: LineView.Chosen) -> None:
        if not isinstance(message, FileList.Picked):
            self.remove_class("-files")
            (self.meaning if self.semantic else self.view).focus()

    @on(LineView.Chosen, "#meaning")
    def _place_chosen(self, message: LineView.Chosen) -> None:
        if message.target.path == self.path:
            self.remove_class("-semantic")
            self.view.focus()
            self.view.go_to_line(message.target.line or 1)

    # --- the diff of a file -----------------------------------------------------------------------------------------

    def open(self, path: str, number: int | None = None) -> None:
        """Show a file, at a line of the head where one is given. Reads it in a thread; only the last one asked for
        is shown."""
        self.path, self._number = path, number
        file = self.file
        self._show_meaning()
        if file is None:
            self.view.say(
                "No changed file." if self.review.snapshot.files.known else "The changed files are not known."
            )
            return
        if file.path in self._diffs:
            self._show(self._diffs[file.path], None, number)
            return
        self.set_timer(_PATIENCE, partial(self._announce, path))
        # A daemon, so that leaving does not wait for a slow source.
        arrived = partial(self.reviewer.from_thread, self._arrived, number, file)
        work = partial(_read, self.review.trees, file, self.view.mode, self.view.whole, arrived)
        threading.Thread(target=work, daemon=True, name="diff").start()

    def _announce(self, path: str) -> None:
        if self.path == path and self.reading:
            self.view.say(f"reading {path}")
            self._title()

    def _arrived(self, number: int | None, file: ChangedFile, rows: Rows) -> None:
        """A diff was read: shown if it is still the one asked for, on a screen that is still there."""
        if not self.is_attached or self.file is not file:
            return
        diff = rows.diff
        kept = sum(len(known.old) + len(known.new) for known in self._diffs.values())
        if kept > _KEPT_LINES:
            self._diffs.clear()
        self._diffs[file.path] = diff
        self._show(diff, rows if rows.mode == self.view.mode and rows.whole == self.view.whole else None, number)

    def _show(self, diff: FileDiff, rows: Rows | None, number: int | None) -> None:
        self.view.show(diff, rows)
        if number:
            self.view.go_to_line(number)
        self._title()

    def _show_meaning(self) -> None:
        keys = [change for change in self.review.changes.keys if self._is_of_file(change)]
        lines = meaning_lines(keys)
        self.meaning.show_facts(self.path, lines, top=True)

    def _is_of_file(self, change: KeyChange) -> bool:
        file = self.file
        paths = file.paths if file is not None else (self.path,)
        return any(entry is not None and entry.path in paths for entry in (change.old, change.new))

    def _title(self) -> None:
        from textual.content import Content

        at, count = self.view.change
        mark = "  [viewed]" if self.file is not None and self._viewed(self.file) else ""
        changes = f"  change {at}/{count}" if count else ""
        self.view.border_title = Content(f"{clean(self.path)}{mark}{changes}  {self.view.mode}")

    @on(DiffView.Moved)
    def _moved(self) -> None:
        self._title()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self.show_keys()

    # --- actions ----------------------------------------------------------------------------------------------------

    def action_next_change(self) -> None:
        if not self.view.next_change():
            self.reviewer.say("That was the last change of this file; f goes to the next file.")

    def action_previous_change(self) -> None:
        if not self.view.previous_change():
            self.reviewer.say("That was the first change of this file; F goes to the file before.")

    def action_next_file(self) -> None:
        self._step(1)

    def action_previous_file(self) -> None:
        self._step(-1)

    def _step(self, direction: int) -> None:
        at = self._at + direction
        if 0 <= at < len(self.files):
            self._go_to(at)
        else:
            self.reviewer.say("That was the last file." if direction > 0 else "That was the first file.")

    @property
    def _at(self) -> int:
        """The place of the shown file among all."""
        return next((i for i, file in enumerate(self.files) if file.path == self.path), 0)

    def _go_to(self, at: int) -> None:
        """Show a file by its place. The list follows where it is on the screen; hidden, it has no rows to move on."""
        self.list.move_to(at)
        if self.files[at].path != self.path:
            self.open(self.files[at].path)

    def action_left(self) -> None:
        self.view.scroll_relative(x=-8, animate=False)

    def action_right(self) -> None:
        self.view.scroll_relative(x=8, animate=False)

    def action_view(self) -> None:
        self.toggle_class("-semantic")
        self.remove_class("-files")
        (self.meaning if self.semantic else self.view).focus()

    def action_split(self) -> None:
        self.view.set_mode("unified" if self.view.mode == "split" else "split", whole=self.view.whole)
        self._title()

    def action_whole(self) -> None:
        self.view.set_mode(self.view.mode, whole=not self.view.whole)

    def action_mark_viewed(self) -> None:
        if self.file is None:
            return
        self.reviewer.mark_viewed(self.reviewer.viewed ^ {viewed_mark(self.file)})
        self._show_list()
        self._title()

    def action_next_unviewed(self) -> None:
        files = self.files
        order = [*files[self._at + 1 :], *files[: self._at + 1]]
        unviewed = next((file for file in order if not self._viewed(file)), None)
        if unviewed is None:
            self.reviewer.say("Every file is marked as viewed.")
        else:
            self._go_to(files.index(unviewed))

    def action_follow(self) -> None:
        if self.file is not None:
            snapshot = self.review.snapshot
            removed = self.file.status == "removed"
            commit = snapshot.merge_base if removed else snapshot.head
            url = snapshot.ref.blob_url(commit, self.file.path)
            self.app.open_url(url)
            self.reviewer.say(f"Asked the browser for {url}")

    def action_other_side(self) -> None:
        if self.focused is self.list:
            self.remove_class("-files")
            (self.meaning if self.semantic else self.view).focus()
        else:
            self.add_class("-files")
            self.list.focus()

    def action_back(self) -> None:
        self.dismiss()

    # --- search -----------------------------------------------------------------------------------------------------

    def action_search(self) -> None:
        self.remove_class("-semantic")
        self.query_one(SearchBar).open()

    @on(SearchBar.Sought)
    def _sought(self, message: SearchBar.Sought) -> None:
        self._searched = message.text
        found = self.view.find(message.text, forward=message.forward, stay=message.stay)
        self.query_one(SearchBar).tell(found)

    @on(SearchBar.Left)
    def _search_left(self) -> None:
        self.view.focus()

    def action_next_match(self) -> None:
        self._match(forward=True)

    def action_previous_match(self) -> None:
        self._match(forward=False)

    def _match(self, *, forward: bool) -> None:
        if not self._searched:
            self.action_search()
        elif not self.view.find(self._searched, forward=forward):
            self.reviewer.say(f"“{self._searched}” is not in this file.")


def _read(trees: Trees, file: ChangedFile, mode: Mode, whole: bool, arrived: Callable[[Rows], None]) -> None:
    """In a thread: both sides, their difference, and the rows."""
    arrived(Rows(read_diff(trees, file), mode, whole=whole))


def meaning_lines(keys: list[KeyChange]) -> list[Line]:
    """What the changes of a file's config keys mean: fields, arms, and every point that comes or goes."""
    if not keys:
        return [line(Piece("No config key changes in this file. v shows its text.", "dim"))]
    lines: list[Line] = []
    for change in keys:
        lines += key_lines(change)
        rows = [
            [
                Piece(f"  {sign} {point.label}", style),
                Piece(f"c{point.conc}", style),
                "eval" if point.evaluated else "",
                place,
            ]
            for sign, style, points in (("-", "removed", change.points_removed), ("+", "added", change.points_added))
            for point in points
            for place in [Piece(f"line {point.line}" if point.line else "", "dim")]
        ]
        if rows:
            lines += [BLANK, line(Piece("  Points", "strong")), *table(rows)]
        lines.append(BLANK)
    return lines


def _count(value: int | None) -> str:
    return "?" if value is None else str(value)
