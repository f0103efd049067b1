"""The reviewers' checklist: the template's items, and a sign-off written from it."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class ChecklistItem(msgspec.Struct, frozen=True, kw_only=True):
    """One box of the template.

    `label` is the place in the list as people say it (`3`, `11a` for the first sub-item of 11); `name` is the item's
    stable name (`validation`, `recipe_merged`), or `item-<label>` where this program does not know the item; `text`
    is the template's wording, markdown included, exactly as it stands after the box; `indent` is the number of blanks
    before the bullet; `line` is the line in the template's file.
    """

    label: str
    name: str
    text: str
    indent: int = 0
    line: int = 0
    boxed: bool = True

    @property
    def known(self) -> bool:
        return not self.name.startswith("item-")


class ChecklistTemplate(msgspec.Struct, frozen=True, kw_only=True):
    """The sign-off template of one revision: its exact text and what it is made of.

    `text` runs from the opening line to the signature, without the fence. `opening` is the trigger sentence's line,
    `detail_heading` the heading line of the additional detail section (None before it existed), `placeholder` the
    bullet that the signer must replace, `signature` the signature line with its placeholder (None where there is
    none). `version` names the known version of the template with the same items, for example `20 (2026-08-10)`.
    """

    path: str
    text: str
    opening: str
    items: tuple[ChecklistItem, ...]
    fenced: bool
    detail_heading: str | None = None
    placeholder: str | None = None
    signature: str | None = None
    version: str | None = None

    def item(self, label_or_name: str) -> ChecklistItem | None:
        """The item with this label or name."""
        wanted = label_or_name.lower().lstrip("#")
        return next((i for i in self.items if wanted in (i.label, i.name)), None)


class SignOffBox(msgspec.Struct, frozen=True, kw_only=True):
    """One box of a sign-off as its author wrote it: `text` without the box, lines joined by one blank."""

    text: str
    checked: bool
    line: int
    indent: int = 0


class SignOff(msgspec.Struct, frozen=True, kw_only=True):
    """A sign-off text taken apart, without judging it."""

    boxes: tuple[SignOffBox, ...]
    has_trigger: bool
    detail: str
    detail_line: int | None
    signer: str | None
    signature_line: int | None = None


class Decision(StrEnum):
    """What the reviewer decided about an item. Only `accepted` ticks the box."""

    OPEN = "open"
    ACCEPTED = "accepted"
    DISPUTED = "disputed"
    NOT_APPLICABLE = "not_applicable"


class ItemMark(msgspec.Struct, frozen=True):
    """The reviewer's decision on one item, and the note that goes into the detail section."""

    decision: Decision = Decision.OPEN
    note: str = ""


class ReviewNotes(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the reviewer decided or typed. `marks` is by item label; `detail` is the detail section as edited by
    hand (None: drafted from findings and notes)."""

    marks: dict[str, ItemMark] = {}
    detail: str | None = None
    updated_at: str = ""

    def mark(self, label: str) -> ItemMark:
        return self.marks.get(label, ItemMark())
