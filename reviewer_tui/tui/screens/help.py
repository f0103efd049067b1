"""Texts to read over a screen: the help, made from the one list of actions, and how checks decide."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import ModalScreen

from reviewer_tui.checks.registry import known_checks
from reviewer_tui.model.finding import CheckResult
from reviewer_tui.policy.policy import Policy
from reviewer_tui.tui.actions import GROUPS, Place, actions_of, bindings
from reviewer_tui.tui.texts.page import BLANK, Line, Piece, line
from reviewer_tui.tui.widgets.pane import Pane

# An explanation is wrapped where it is written; a new paragraph starts with a word and a colon.
_PARAGRAPHS = re.compile(r"\n(?=[A-Z][a-z ]+:)")

LETTERS = (
    ("P", "pass", "pass"),
    ("F", "fail", "fail"),
    ("W", "warn", "warn"),
    ("J", "judgement", "the evidence is here, the decision is yours"),
    ("U", "unverified", "evidence is missing; the pane says how to get it"),
    ("-", "not_applicable", "not applicable"),
    ("!", "warn", "behind P or -: the rule is kept, and a finding warns (W 0+1)"),
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


def explanation_lines(results: Sequence[CheckResult], policy: Policy) -> list[Line]:
    """What each check decides, from which files and by which rule, what it cannot know; and the policy's own words."""
    lines: list[Line] = []
    for result in results:
        check, own = known_checks().get(result.name), policy.check(result.name)
        lines.append(line(Piece(f"{result.name}: {result.title}", "title"), indent=2))
        told = check.explanation if check else "This program does not derive this check: it is yours to judge."
        lines += [line(" ".join(paragraph.split()), indent=2) for paragraph in _PARAGRAPHS.split(told)]
        if own and own.text:
            lines += [BLANK, line(Piece("In the policy's own words", "strong"))]
            lines += [line(Piece("| ", "dim"), row, indent=2) for row in own.text.splitlines()]
        lines.append(BLANK)
    return lines or [line("No check speaks to this item: it is yours to judge.")]


class TextScreen(ModalScreen[None]):
    """Lines to read, over the screen that they are about."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("dialog")
    DEFAULT_CSS = """
    TextScreen { align: center middle; }
    TextScreen Pane { width: 90; max-width: 100%; height: 90%; max-height: 100%; }
    """

    def __init__(self, title: str, lines: list[Line]) -> None:
        super().__init__()
        self.heading = title
        self.lines = lines

    def compose(self) -> ComposeResult:
        yield Pane(self.heading, name="text")

    def on_mount(self) -> None:
        pane = self.query_one(Pane)
        pane.show_facts("Esc closes", self.lines)
        pane.focus()

    def action_close(self) -> None:
        self.dismiss()


class HelpScreen(TextScreen):
    """The help of a screen."""

    def __init__(self, places: tuple[Place, ...]) -> None:
        super().__init__("Help", help_lines(places))
