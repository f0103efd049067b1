"""The checklist: each item with its box, its status, and what the checks say to it; then the checks without an item."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message

from reviewer_tui.model.checklist import ChecklistItem, Decision
from reviewer_tui.review.session import Review
from reviewer_tui.tui.actions import bindings
from reviewer_tui.tui.texts.evidence import chinese_text, part_lines
from reviewer_tui.tui.texts.header import progress
from reviewer_tui.tui.texts.naming import checks_apart, item_summary, short_name
from reviewer_tui.tui.texts.page import Line, Piece, Target, beside_mark, clean, cut, letter, pad
from reviewer_tui.tui.texts.page import line as make_line
from reviewer_tui.tui.widgets.pane import Pane

BOXES = {
    Decision.OPEN: "[ ]",
    Decision.ACCEPTED: "[x]",
    Decision.DISPUTED: "[!]",
    Decision.NOT_APPLICABLE: "[-]",
}

# Where the box stands in a row: after the cursor mark.
_BOX_COLUMNS = range(1, 4)

_CHECK = "check:"


class Checklist(Pane):
    """The items; the cursor goes from item to item. Nothing is ever decided but by the reviewer's key or click."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("checklist")

    class Focused(Message):
        """The cursor went to another item."""

    class Decided(Message):
        """The reviewer decided an item."""

        def __init__(self, label: str, decision: Decision) -> None:
            super().__init__()
            self.label = label
            self.decision = decision

    class NoteWanted(Message):
        """The reviewer wants to write an item's note."""

        def __init__(self, label: str) -> None:
            super().__init__()
            self.label = label

    class ExplanationWanted(Message):
        """The reviewer wants to know how the checks of the item in focus decide."""

    class EvidenceWanted(Message):
        """The reviewer wants to see the evidence of the item in focus."""

    def __init__(self) -> None:
        super().__init__("Checklist", name="checklist", number=1, wrapped=False)
        self.review: Review | None = None
        self.chinese = False
        self._focused = ""

    def show_review(self, review: Review, *, chinese: bool) -> None:
        """Show the items of a review; the cursor stays on its item."""
        self.review = review
        self.chinese = chinese
        done, boxes = progress(review)
        template = review.policy.template
        self.show_facts(f"{done}/{boxes}" if template.known else "not known", [])
        self._go_to(self._focused)

    # --- rows -------------------------------------------------------------------------------------------------------

    def make_rows(self, width: int) -> list[tuple[int, Line]]:
        rows: list[tuple[int, Line]] = []
        if self.review is None:
            return rows
        template = self.review.policy.template
        for item in template.value.items if template.value else ():
            rows.append((len(rows), self._item_row(item, width)))
            if self.chinese:
                text = f"          {chinese_text(self.review, item)}"
                rows.append(
                    (len(rows), make_line(Piece(cut(clean(text), width), "dim"), target=Target(item=item.label)))
                )
        rows += [(len(rows) + i, row) for i, row in enumerate(part_lines(template, "The checklist"))]
        apart = checks_apart(self.review)
        if apart:
            rows.append((len(rows), make_line(Piece("     Checks beside the items", "dim"))))
        for result in apart:
            name = pad(result.name.replace("_", " "), 20)
            summary = cut(clean(result.summary), width - 31)
            mark = beside_mark(result.warns_beside)
            row = make_line("     ", letter(result.status), mark, f"    {name}", Piece(summary, "dim"))
            rows.append((len(rows), row._replace(target=Target(item=_CHECK + result.name))))
        return rows

    def _item_row(self, item: ChecklistItem, width: int) -> Line:
        assert self.review is not None
        mark = self.review.notes.mark(item.label)
        box = BOXES[mark.decision] if item.boxed else "   "
        name = pad(f"{'  ' if item.indent else ''}{short_name(item)}{' +' if mark.note else ''}", 20)
        summary = cut(clean(item_summary(self.review, item)), width - 31)
        return make_line(
            " ",
            Piece(box, "strong" if mark.decision is not Decision.OPEN else "plain"),
            " ",
            letter(self.review.item_status(item)),
            beside_mark(self.review.item_warns_beside(item)),
            f"{item.label:>3} ",
            name,
            Piece(summary, "dim"),
            target=Target(item=item.label),
        )

    def marked(self, row: int, line: Line) -> Line:
        """The row with the cursor's mark in front."""
        if row != self.cursor:
            return line
        return line._replace(pieces=(Piece(">", "key"), Piece(line.pieces[0].text[1:]), *line.pieces[1:]))

    def full_text(self, row: int) -> str:
        """An item in all its words, with all that the checks say to it."""
        shown = self.rows[row][1]
        template = self.review.policy.template.value if self.review else None
        item = template.item(shown.target.item) if template and shown.target else None
        if self.review is None or item is None:
            return shown.text
        return f"{shown.text} {item.text} {item_summary(self.review, item)}"

    @property
    def cursor_shown(self) -> bool:
        return True

    # --- the item in focus ------------------------------------------------------------------------------------------

    @property
    def item(self) -> ChecklistItem | None:
        """The item under the cursor; None on a check that belongs to no item."""
        template = self.review.policy.template.value if self.review else None
        return template.item(self._focused) if template and not self._focused.startswith(_CHECK) else None

    @property
    def check(self) -> str:
        """The name of the check under the cursor where it belongs to no item."""
        return self._focused.removeprefix(_CHECK) if self._focused.startswith(_CHECK) else ""

    def _go_to(self, focused: str) -> None:
        places = [i for i, (_, row) in enumerate(self.rows) if row.target and row.target.item == focused]
        self.move_to(places[0] if places else 0)

    def move_to(self, row: int) -> None:
        """The nearest row, in the direction of the move, that begins an item or a check."""
        stops = [i for i, (_, shown) in enumerate(self.rows) if shown.target and self._begins(i)]
        if not stops:
            return
        if row < self.cursor:
            at = next((stop for stop in reversed(stops) if stop <= row), stops[0])
        else:
            at = next((stop for stop in stops if stop >= row), stops[-1])
        super().move_to(at)
        if self.chinese:
            self.scroll_to_row(min(at + 1, len(self.rows) - 1))
        target = self.rows[at][1].target
        if target and target.item != self._focused:
            self._focused = target.item
            self.post_message(self.Focused())

    def _begins(self, row: int) -> bool:
        return row == 0 or self.rows[row - 1][1].target != self.rows[row][1].target

    # --- decisions --------------------------------------------------------------------------------------------------

    def _decide(self, decision: Decision) -> None:
        """Decide the item in focus; the same decision again takes it back."""
        if self.item is None or self.review is None:
            return
        if not self.item.boxed:
            self.app.notify("This item has no box to tick.", markup=False)
            return
        if self.review.notes.mark(self.item.label).decision is decision:
            decision = Decision.OPEN
        self.post_message(self.Decided(self.item.label, decision))

    def action_accept(self) -> None:
        self._decide(Decision.ACCEPTED)

    def action_dispute(self) -> None:
        self._decide(Decision.DISPUTED)

    def action_not_applicable(self) -> None:
        self._decide(Decision.NOT_APPLICABLE)

    def action_reopen(self) -> None:
        if self.item is not None:
            self.post_message(self.Decided(self.item.label, Decision.OPEN))

    def action_edit_note(self) -> None:
        if self.item is not None:
            self.post_message(self.NoteWanted(self.item.label))

    def action_explain(self) -> None:
        self.post_message(self.ExplanationWanted())

    def action_open(self) -> None:
        self.post_message(self.EvidenceWanted())

    def action_choose(self) -> None:
        self.action_open()

    def clicked(self, row: int, column: int, *, twice: bool) -> None:
        """A click on the box accepts, elsewhere it puts the cursor there; two clicks open the evidence."""
        self.move_to(row)
        if column in _BOX_COLUMNS and self.cursor == row:
            self.action_accept()
        elif twice:
            self.action_open()
