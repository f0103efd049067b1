"""The log of a job, over the review: its end first, which is where a failure says why."""

from __future__ import annotations

from functools import partial
from typing import cast

from reviewer_tui.model.errors import ReviewerError
from reviewer_tui.model.run import CheckRun, JobLog
from reviewer_tui.review.logs import log_lines, log_title
from reviewer_tui.review.session import Review
from reviewer_tui.sweeps.lanes import collapse
from reviewer_tui.tui.app import ReviewerApp
from reviewer_tui.tui.screens.help import TextScreen
from reviewer_tui.tui.texts.page import Line, Piece, line
from reviewer_tui.tui.widgets.pane import Pane

# How the runner marks what went wrong, and what it thinks worth a look.
_MARKS = (("##[error]", "fail"), ("##[warning]", "warn"), ("##[group]", "strong"), ("##[", "dim"))


class LogScreen(TextScreen):
    """The end of a job's log, read when the screen opens."""

    DEFAULT_CSS = """
    LogScreen Pane { width: 100%; height: 100%; }
    """

    def __init__(self, review: Review, job: CheckRun) -> None:
        super().__init__("Log", [line("reading the log")])
        self._review = review
        self._job = job

    def on_mount(self) -> None:
        super().on_mount()
        self.run_worker(self._read, thread=True, exit_on_error=False)

    def _read(self) -> None:
        """In a thread: read the log, and have it shown."""
        app = cast(ReviewerApp, self.app)
        try:
            log = app.desk.job_log(self._review, self._job)
        except ReviewerError as error:
            remedy = [line(error.remedy)] if error.remedy else []
            app.from_thread(self._show, "Esc closes", [line(Piece(error.message, "fail")), *remedy])
        else:
            app.from_thread(partial(self._show_log, log))

    def _show_log(self, log: JobLog) -> None:
        self._show(
            f"{log_title(log)}, Esc closes  {collapse(self._job.name)}", [_line(text) for text in log_lines(log)]
        )
        pane = self.query_one(Pane)
        pane.call_after_refresh(pane.action_last)

    def _show(self, summary: str, lines: list[Line]) -> None:
        if self.is_mounted:
            self.query_one(Pane).show_facts(summary, lines)


def _line(text: str) -> Line:
    style = next((style for mark, style in _MARKS if text.startswith(mark)), "plain")
    return line(Piece(text, style), indent=2)
