"""The one-line bars: the header, the tab strip of a narrow screen, the keys at the foot, and the search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from reviewer_tui.tui.actions import LAST, Action
from reviewer_tui.tui.texts.page import Line, Piece, line
from reviewer_tui.tui.widgets.line_view import LineView

Header = Callable[[int], Sequence[Line]]


class Bar(LineView, can_focus=False):
    """Lines that never scroll."""

    DEFAULT_CSS = """
    Bar { height: 1; background: $panel; overflow: hidden hidden; scrollbar-gutter: auto; }
    """

    def __init__(self, name: str) -> None:
        super().__init__(wrapped=False, name=name)


class HeaderBar(Bar):
    """The lines above everything, made for the width at hand."""

    DEFAULT_CSS = """
    HeaderBar { padding: 0 1; }
    """

    def __init__(self) -> None:
        super().__init__("header")
        self._make: Header = lambda width: ()

    def show_header(self, make: Header) -> None:
        """Show what `make` gives for a width, now and whenever the width changes."""
        self._make = make
        self.show(())
        self.styles.height = max(len(self.rows), 1)

    def make_rows(self, width: int) -> list[tuple[int, Line]]:
        return list(enumerate(self._make(width)))

    def on_resize(self) -> None:
        super().on_resize()
        self.styles.height = max(len(self.rows), 1)


class Tab(NamedTuple):
    """A tab: what it goes to, its title, and a letter behind it."""

    name: str
    title: str
    letter: str = ""


class TabStrip(Bar):
    """Titles in a row, the active one in brackets."""

    class Picked(Message):
        """A tab was clicked."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self) -> None:
        super().__init__("tabs")
        self.tabs: tuple[Tab, ...] = ()
        self.active = ""

    def show_tabs(self, tabs: tuple[Tab, ...], active: str) -> None:
        self.tabs, self.active = tabs, active
        self.show(())

    def make_rows(self, width: int) -> list[tuple[int, Line]]:
        roomy = self._line(gap=" ", letters=True)
        return [(0, roomy if cell_len(roomy.text) <= width else self._line(gap="", letters=False))]

    def _line(self, *, gap: str, letters: bool) -> Line:
        pieces = []
        for tab in self.tabs:
            title = f"{tab.title} {tab.letter}".strip() if letters else tab.title
            if tab.name == self.active:
                pieces.append(Piece(f"[{title}]{gap}", "key"))
            else:
                pieces.append(Piece(f" {title} {gap}" if gap else f" {title}"))
        return line(*pieces)

    def clicked(self, row: int, column: int, *, twice: bool) -> None:
        at = 0
        for tab, piece in zip(self.tabs, self.rows[0][1].pieces, strict=False):
            at += cell_len(piece.text)
            if column < at:
                self.post_message(self.Picked(tab.name))
                return


class KeyBar(Bar):
    """The keys that matter where the focus is; a click does what the key does. What has no room is in the help."""

    def __init__(self) -> None:
        super().__init__("keys")
        self.actions: Sequence[Action] = ()

    def show_actions(self, actions: Sequence[Action]) -> None:
        self.actions = actions
        self.show(())

    def make_rows(self, width: int) -> list[tuple[int, Line]]:
        """As many as there is room for, those of the end (help and quit) always."""
        parts = [(f" {action.shown_key}", f" {action.label} ") for action in self.actions]
        fixed = len(parts) - sum(action.footer >= LAST for action in self.actions)
        ends = parts[fixed:]
        room = width - sum(len(key) + len(label) for key, label in ends)
        kept: list[tuple[str, str]] = []
        for part in parts[:fixed]:
            room -= len(part[0]) + len(part[1])
            if room < 0:
                break
            kept.append(part)
        return [(0, line(*(piece for key, label in kept + ends for piece in (Piece(key, "key"), Piece(label)))))]

    def clicked(self, row: int, column: int, *, twice: bool) -> None:
        at = 0
        pieces = self.rows[0][1].pieces
        for index in range(0, len(pieces), 2):
            at += len(pieces[index].text) + len(pieces[index + 1].text)
            if column < at:
                label = pieces[index + 1].text.strip()
                action = next(action for action in self.actions if action.label == label)
                self.app.simulate_key(action.keys[0])
                return


class SearchBar(Horizontal):
    """A line to type a search into. Enter goes to the next place, Escape leaves."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False, priority=True),
        Binding("up", "previous", show=False, priority=True),
        Binding("down", "next", show=False, priority=True),
    ]
    DEFAULT_CSS = """
    SearchBar {
        height: 1; background: $panel; display: none;
        &.-open { display: block; }
        Static { width: auto; }
        Input { border: none; height: 1; padding: 0 1; background: $panel; width: 1fr; }
        Input:focus { border: none; }
    }
    """

    class Sought(Message):
        """Look for a text: `stay` may find it where the cursor is, `forward` False looks upwards."""

        def __init__(self, text: str, *, forward: bool = True, stay: bool = False) -> None:
            super().__init__()
            self.text = text
            self.forward = forward
            self.stay = stay

    class Left(Message):
        """The search was closed."""

    def compose(self) -> ComposeResult:
        yield Static(" search:")
        yield Input()
        yield Static(id="found")

    @property
    def text(self) -> str:
        return self.query_one(Input).value

    def open(self) -> None:
        self.add_class("-open")
        self.query_one(Input).focus()

    def tell(self, found: bool) -> None:
        """Say whether the text is there."""
        self.query_one("#found", Static).update("" if found or not self.text else " nothing found ")

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Sought(event.value, stay=True))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_next()

    def action_next(self) -> None:
        self.post_message(self.Sought(self.text))

    def action_previous(self) -> None:
        self.post_message(self.Sought(self.text, forward=False))

    def action_leave(self) -> None:
        self.remove_class("-open")
        self.post_message(self.Left())

    def on_click(self, event: events.Click) -> None:
        event.stop()
