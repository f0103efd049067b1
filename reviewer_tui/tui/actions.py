"""Every action of the workstation with its keys: the one list that bindings, footer, help and palette are made from.

No action needs a lone Ctrl-J, S, B, A or O (taken by multiplexers and terminals), and a bracket key, hard to type on
many keyboards, always has a second key beside it.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from textual.binding import Binding, BindingType

Place = Literal[
    "everywhere", "queue", "list", "review", "checklist", "diff", "signoff", "post", "conflict", "note", "dialog"
]


class Action(NamedTuple):
    """One thing to do. `name` is the method `action_<name>` of whoever owns the place; `keys` are Textual's key names,
    the first is shown; `label` is for the footer; `help` is a sentence; `footer` orders the footer (0: not there)."""

    place: Place
    name: str
    keys: tuple[str, ...]
    label: str
    help: str
    footer: int = 0

    @property
    def shown_key(self) -> str:
        return key_label(self.keys[0])

    @property
    def shown_keys(self) -> str:
        return " ".join(key_label(key) for key in self.keys)


# From this place in the footer on, an action is always there, at the end.
LAST = 90

ACTIONS: tuple[Action, ...] = (
    Action("queue", "open", ("enter",), "review", "Open the review of the pull request.", 1),
    Action("queue", "refresh", ("r", "R", "f5"), "read again", "Read the queue again.", 2),
    Action("queue", "filter", ("slash",), "filter", "Show only rows with these words; Escape shows all.", 3),
    Action("queue", "follow", ("o",), "open page", "Open the pull request in a browser.", 4),
    Action(
        "queue", "back", ("escape",), "stop", "End the reading or the opening that is under way; then drop the filter."
    ),
    Action("checklist", "accept", ("space",), "accept", "Accept the item: tick its box. Again: take it back.", 1),
    Action("checklist", "dispute", ("x",), "dispute", "Dispute the item: its box stays empty, say why in a note.", 2),
    Action("checklist", "not_applicable", ("n",), "not applicable", "The item does not apply here: box empty.", 3),
    Action("checklist", "edit_note", ("e",), "edit note", "Write the item's note; it goes into the detail section.", 4),
    Action("checklist", "explain", ("E",), "explain", "How the item's checks decide, and what they cannot know."),
    Action("checklist", "reopen", ("backspace", "U"), "reopen", "Take back whatever was decided about the item."),
    Action("checklist", "open", ("enter",), "evidence", "Open the item's evidence.", 5),
    Action("review", "diff", ("d",), "diff", "The whole diff, file by file.", 6),
    Action(
        "review", "sign_off", ("s",), "sign-off", "The sign-off as it would be posted, and what is wrong with it.", 7
    ),
    Action("review", "results", ("r",), "results", "Measured throughput against the published points."),
    Action("review", "zoom", ("z",), "zoom", "Give the whole screen to the focused pane, and back."),
    Action("review", "chinese", ("c",), "Chinese", "Show the items in Chinese beside the English."),
    Action("review", "follow", ("o",), "open link", "Open what the line speaks about: the page in a browser."),
    Action("review", "search", ("slash",), "search", "Search in the focused pane; Enter goes on, Escape leaves.", 8),
    Action("review", "pane(1)", ("1",), "checklist", "Go to the checklist."),
    Action("review", "pane(2)", ("2",), "config diff", "Go to the config diff."),
    Action("review", "pane(3)", ("3",), "runs", "Go to the runs."),
    Action("review", "pane(4)", ("4",), "evals", "Go to the evals and results."),
    Action("review", "pane(5)", ("5",), "recipes", "Go to the upstream recipes."),
    Action("review", "pane(6)", ("6",), "talk", "Go to the conversation."),
    Action("review", "next_pane", ("tab",), "pane", "The next pane.", 9),
    Action("review", "previous_pane", ("shift+tab",), "previous pane", "The pane before."),
    Action("review", "back", ("escape",), "back", "Leave the zoomed pane or the open evidence."),
    Action("diff", "next_change", ("full_stop", "right_square_bracket"), "next change", "The next change.", 1),
    Action("diff", "previous_change", ("comma", "left_square_bracket"), "previous change", "The change before.", 2),
    Action("diff", "next_file", ("f", "greater_than_sign"), "next file", "The next file.", 3),
    Action("diff", "previous_file", ("F", "less_than_sign"), "previous file", "The file before."),
    Action("diff", "left", ("left", "h"), "left", "Scroll long lines to the left."),
    Action("diff", "right", ("right", "l"), "right", "Scroll long lines to the right."),
    Action("diff", "view", ("v",), "semantic/text", "What the change means, or its text.", 4),
    Action("diff", "split", ("u",), "unified/split", "Both sides in one column or side by side.", 5),
    Action("diff", "whole", ("z",), "whole file", "Unfold every unchanged line, and back."),
    Action(
        "diff", "mark_viewed", ("m",), "viewed", "Mark the file as viewed; the mark falls when its content changes.", 6
    ),
    Action("diff", "next_unviewed", ("M",), "next unviewed", "The next file that is not marked as viewed.", 7),
    Action("diff", "search", ("slash",), "search", "Search in the file; Enter goes on, Escape leaves.", 8),
    Action("diff", "next_match", ("n",), "next match", "The next place with the text searched for."),
    Action("diff", "previous_match", ("N",), "previous match", "The place before with the text searched for."),
    Action("diff", "follow", ("o",), "open page", "Open the file at the head in a browser."),
    Action("diff", "other_side", ("tab",), "files/diff", "From the list of files to the diff, and back."),
    Action("diff", "back", ("escape", "q"), "back", "Back to the review.", 92),
    Action("signoff", "edit", ("i", "enter"), "edit detail", "Edit the detail section; Escape leaves the editor.", 1),
    Action(
        "signoff", "post", ("p",), "post...", "Show exactly what would be posted, where and as whom; then it asks.", 2
    ),
    Action("signoff", "copy", ("c",), "copy", "Copy the sign-off, and say how it went.", 3),
    Action("signoff", "save", ("w",), "save to a file", "Write the sign-off to a file, and say where.", 4),
    Action("signoff", "editor", ("e",), "$EDITOR", "Edit the detail section in your own editor.", 5),
    Action("signoff", "redraft", ("r",), "draft again", "Forget the edited detail section and draft it again.", 6),
    Action("signoff", "compare", ("D",), "diff to posted", "Compare with your sign-off that is posted already.", 7),
    Action("signoff", "conflicts", ("O",), "other texts", "What another process wrote differently: see it, take it."),
    Action("signoff", "other_side", ("tab",), "next part", "From the preview to the faults, and back."),
    Action("signoff", "back", ("escape", "q"), "back (kept)", "Back to the review; everything is kept.", 92),
    Action("post", "send", ("P",), "post it", "Post what is shown, once (a capital P, so that no slip does it).", 1),
    Action("post", "go_on", ("a",), "all the same", "Go on in spite of what is marked J; then P posts.", 2),
    Action("post", "new_or_edit", ("n",), "new/edit", "Post a new comment instead of editing yours, and back.", 3),
    Action(
        "post", "look_again", ("r",), "look again", "Look again how things stand, also for a post without an answer.", 4
    ),
    Action("post", "follow", ("o",), "open page", "Open the comment, or the pull request, in a browser.", 5),
    Action("post", "back", ("escape", "q"), "stop/back", "Stop what is not sent yet, then back to the sign-off.", 92),
    Action("conflict", "take", ("t",), "take the other", "Put the other text in the place of yours; again: yours.", 1),
    Action("conflict", "next", ("n", "tab"), "next", "The next conflict.", 2),
    Action("conflict", "forget", ("x",), "forget them", "You have seen them: forget all conflicts of this head.", 3),
    Action("conflict", "close", ("escape", "q"), "close", "Close; the conflicts are kept.", 4),
    Action("note", "draft", ("ctrl+t",), "take the draft", "Put the offered sentence into the note.", 1),
    Action("note", "close", ("escape",), "close (kept)", "Close; the text is kept.", 2),
    Action("dialog", "close", ("escape", "q"), "close", "Close.", 1),
    Action("list", "up", ("up", "k"), "up", "One line up."),
    Action("list", "down", ("down", "j"), "down", "One line down."),
    Action("list", "page_up", ("pageup", "ctrl+b"), "page up", "One page up."),
    Action("list", "page_down", ("pagedown", "ctrl+f"), "page down", "One page down."),
    Action("list", "first", ("home", "g"), "first", "To the first line."),
    Action("list", "last", ("end", "G"), "last", "To the last line."),
    Action("list", "choose", ("enter",), "open", "Open what the line speaks about."),
    Action(
        "everywhere", "moment", ("t",), "moment", "Show the pull request at its other moment, where there are several."
    ),
    Action("everywhere", "reload", ("R", "f5"), "load again", "Load the pull request again; what you decided is kept."),
    Action("everywhere", "queue", ("Q",), "queue", "Back to the queue that the workstation was opened on.", LAST),
    Action("everywhere", "light_dark", ("L",), "light/dark", "Change between the light and the dark theme."),
    Action("everywhere", "palette", ("ctrl+p", "colon"), "all actions", "Every action by name."),
    Action("everywhere", "help", ("question_mark", "f1"), "help", "This list.", LAST),
    Action(
        "everywhere", "quit", ("q",), "quit", "Leave; what was decided and typed is kept. Ctrl+Q does so anywhere.", 91
    ),
)

GROUPS: dict[Place, str] = {
    "queue": "Queue",
    "checklist": "Checklist",
    "review": "Review",
    "diff": "Diff",
    "signoff": "Sign-off",
    "post": "Post",
    "conflict": "Conflict",
    "note": "Note",
    "dialog": "Dialog",
    "list": "In every pane and list",
    "everywhere": "Everywhere",
}

_KEY_LABELS = {
    "question_mark": "?",
    "slash": "/",
    "full_stop": ".",
    "comma": ",",
    "colon": ":",
    "right_square_bracket": "]",
    "left_square_bracket": "[",
    "greater_than_sign": ">",
    "less_than_sign": "<",
    "enter": "Enter",
    "escape": "Esc",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "backspace": "Backspace",
    "shift+tab": "Shift+Tab",
    "ctrl+p": "Ctrl+P",
    "ctrl+t": "Ctrl+T",
    "ctrl+b": "Ctrl+B",
    "ctrl+f": "Ctrl+F",
    "f1": "F1",
    "f5": "F5",
}


def key_label(key: str) -> str:
    """How a key is written for people."""
    return _KEY_LABELS.get(key, key)


def actions_of(*places: Place) -> list[Action]:
    """The actions of some places, in the list's order."""
    return [action for action in ACTIONS if action.place in places]


def bindings(place: Place, *, prefix: str = "", priority: bool = False) -> list[BindingType]:
    """Textual's bindings of a place."""
    return [
        Binding(
            ",".join(action.keys),
            prefix + action.name,
            action.help,
            show=False,
            id=f"{place}.{action.name}",
            priority=priority,
        )
        for action in actions_of(place)
    ]
