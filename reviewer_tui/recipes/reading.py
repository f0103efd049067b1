"""How a reader of upstream files says that it cannot read something: one error, located."""

from __future__ import annotations

from reviewer_tui.model.errors import DataError
from reviewer_tui.model.finding import Problem

NOT_PUBLISHED = frozenset({"unpublished-cell", "script-fails"})
"""Rules of problems with what was read, and what the page does not show to anybody: such counts for nothing."""


class UnreadableError(DataError):
    """A page, script or document could not be read; `problem` says where and why."""

    def __init__(self, path: str, message: str, rule: str, line: int | None = None) -> None:
        self.problem = Problem(path=path, message=message, rule=rule, line=line)
        super().__init__(str(self.problem), "Compare this page by hand.")
