"""The errors that reach a person: a sentence that says what happened to which thing, and what to do next."""

from __future__ import annotations


class ReviewerError(Exception):
    """Base of every expected failure. `remedy` is what to do next, in a sentence or a command; empty if unknown."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


class UsageError(ReviewerError):
    """The command line asks for something that makes no sense (exit code 2)."""


class DataError(ReviewerError):
    """Data could not be loaded (exit code 4)."""


class NotFoundError(DataError):
    """The thing is not there, or hidden from this reader."""
