"""The exit codes of every command."""

from __future__ import annotations

from enum import IntEnum

from reviewer_tui.model.finding import Verdict


class Exit(IntEnum):
    """0 PASS or WARN, or done · 1 REJECTED, or lint faults · 2 usage · 3 UNDECIDED · 4 no data · 130 interrupted."""

    DONE = 0
    REJECTED = 1
    USAGE = 2
    UNDECIDED = 3
    NO_DATA = 4
    INTERRUPTED = 130


def exit_of(verdict: Verdict) -> Exit:
    """The exit code that says this verdict."""
    if verdict is Verdict.REJECTED:
        return Exit.REJECTED
    return Exit.UNDECIDED if verdict is Verdict.UNDECIDED else Exit.DONE


# What several verdicts add up to: the first of these that occurred.
_GRAVEST = (Exit.INTERRUPTED, Exit.NO_DATA, Exit.REJECTED, Exit.UNDECIDED)


def gravest(exits: set[Exit]) -> Exit:
    """The exit code of several pull requests."""
    return next((code for code in _GRAVEST if code in exits), Exit.DONE)
