"""The help: every action that works on a screen, by group, made from the one list of actions."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import ModalScreen

from reviewer_tui.tui.actions import GROUPS, Place, actions_of, bindings
from reviewer_tui.tui.texts.page import BLANK, Line, Piece, line
from reviewer_tui.tui.widgets.pane import Pane

LETTERS = (
    ("P", "pass", "pass"),
    ("F", "fail", "fail"),
    ("W", "warn", "warn"),
    ("J", "judgement", "the evidence is here, the decision is yours"),
    ("U", "unverified", "evidence is missing; the pane says how to get it"),
    ("-", "not_applicable", "not applicable"),
)


def help_lines(places: tuple[Place, ...]) -> list[Line]:
    """Keys and sentences by group, then what the letters mean."""
    lines: list[Line] = []
    for place in dict.fromkeys((*places, "everywhere")):
        actions = actions_of(place)
        if not actions:
            continue
        lines.append(line(Piece(GROUPS[place], "title")))
        lines += [line(Piece(f"  {action.shown_keys:<12} ", "key"), action.help, indent=15) for action in actions]
        lines.append(BLANK)
    lines.append(line(Piece("Letters", "title")))
    lines += [line("  ", Piece(f"{letter:<12} ", style), meaning, indent=15) for letter, style, meaning in LETTERS]
    lines += [
        line(Piece("  [x] ", "strong"), "accepted    ", Piece("[!] ", "strong"), "disputed    "),
        line(Piece("  [-] ", "strong"), "does not apply    ", Piece("+ ", "strong"), "has a note"),
        BLANK,
        line(Piece("Colours only repeat the letters. Esc may be slow in tmux: set -sg escape-time 10 there.", "dim")),
    ]
    return lines


class HelpScreen(ModalScreen[None]):
    """The help over the screen it is about."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("dialog")
    DEFAULT_CSS = """
    HelpScreen { align: center middle; }
    HelpScreen Pane { width: 90; max-width: 100%; height: 90%; max-height: 100%; }
    """

    def __init__(self, places: tuple[Place, ...]) -> None:
        super().__init__()
        self.places = places

    def compose(self) -> ComposeResult:
        yield Pane("Help", name="help")

    def on_mount(self) -> None:
        pane = self.query_one(Pane)
        pane.show_facts("Esc closes", help_lines(self.places))
        pane.focus()

    def action_close(self) -> None:
        self.dismiss()
