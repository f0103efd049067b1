"""What one file does to the serving stack, as it is told to the check."""

from __future__ import annotations

from typing import Literal

import msgspec

from reviewer_tui.checks.patches.rules import Kind

How = Literal["script", "program", "setup", "patch", "function", "variable"]


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """Something that touches the serving stack, or might. `what` ends a sentence that begins with the place; `idle`
    names the function it stands in where the script itself never calls it."""

    kind: Kind
    line: int
    end_line: int
    what: str
    idle: str = ""


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """What stands elsewhere and is used from here: a file that is run (`script`; `program`: by its path alone), run in
    the engine's container (`setup`) or applied (`patch`); a command that another script must define (`function`), or
    put into this variable (`variable`)."""

    name: str
    how: How
    line: int
    end_line: int


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What one file does."""

    hits: tuple[Hit, ...] = ()
    references: tuple[Reference, ...] = ()

    def moved(self, lines: int) -> Reading:
        """The same, of a text that begins so many lines further down."""
        return Reading(
            hits=tuple(
                msgspec.structs.replace(hit, line=hit.line + lines, end_line=hit.end_line + lines) for hit in self.hits
            ),
            references=tuple(
                msgspec.structs.replace(item, line=item.line + lines, end_line=item.end_line + lines)
                for item in self.references
            ),
        )

    def at(self, line: int, end_line: int) -> Reading:
        """The same, of a text that stands in a command at these lines."""
        return Reading(
            hits=tuple(msgspec.structs.replace(hit, line=line, end_line=end_line) for hit in self.hits),
            references=tuple(msgspec.structs.replace(item, line=line, end_line=end_line) for item in self.references),
        )
