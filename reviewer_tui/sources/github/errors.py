"""What can go wrong between this program and GitHub, each as a sentence with what to do next.

One tree under `DataError`. No message, argument or chained exception of these ever holds a token or a signed URL:
every text that came from outside goes through `redact` first.
"""

from __future__ import annotations

import datetime

from reviewer_tui.model.errors import DataError, NotFoundError
from reviewer_tui.sources.github.redaction import redact


class GitHubError(DataError):
    """Base of everything GitHub or the way to it can answer. `endpoint` is method and path, `status` the HTTP status
    (None where there was no answer)."""

    def __init__(self, message: str, remedy: str = "", *, endpoint: str = "", status: int | None = None) -> None:
        super().__init__(redact(message), redact(remedy))
        self.endpoint = redact(endpoint)
        self.status = status


class HiddenError(GitHubError, NotFoundError):
    """404: the thing is not there, or this token may not see it; GitHub does not say which."""


class GoneError(GitHubError):
    """410: it was there and is not any more (an expired artifact, disabled comments)."""


class TokenRefusedError(GitHubError):
    """401: the token is wrong, expired or revoked. Nothing more is sent with it: repeated tries lock the user out."""


class PermissionMissingError(GitHubError):
    """403: the token lacks something. `missing` names the scope or permission where GitHub said it."""

    def __init__(
        self, message: str, remedy: str = "", *, missing: str = "", endpoint: str = "", status: int | None = 403
    ) -> None:
        super().__init__(message, remedy, endpoint=endpoint, status=status)
        self.missing = missing


class SingleSignOnError(GitHubError):
    """403: the organisation wants the token authorised for single sign-on. `link` is where to do it (good for an hour);
    empty where GitHub gave none or one on a foreign host."""

    def __init__(self, message: str, remedy: str, *, link: str, endpoint: str = "", status: int | None = 403) -> None:
        super().__init__(message, remedy, endpoint=endpoint, status=status)
        self.link = link


class RateLimitedError(GitHubError):
    """The hourly budget (`kind` `primary`) is used up, or requests came too fast (`secondary`). `until` is the moment
    from which it may be tried again, in seconds since 1970."""

    def __init__(self, message: str, *, kind: str, until: float, endpoint: str = "", status: int | None = None) -> None:
        super().__init__(message, f"Try again after {clock_time(until)}.", endpoint=endpoint, status=status)
        self.kind = kind
        self.until = until


class TooLargeError(GitHubError):
    """406 or a cap of this program: the answer is larger than GitHub gives, or than is read from a stranger."""


class RequestRefusedError(GitHubError):
    """400, 422 and other refusals of what was asked."""


class CommentRefusedError(GitHubError):
    """GitHub surely did not take a comment, for a reason that lies with the comment or the conversation. `kind` is
    `locked`, `blocked`, `too_long`, `spam` or `invalid`."""

    def __init__(self, message: str, remedy: str, *, kind: str, endpoint: str = "", status: int | None = None) -> None:
        super().__init__(message, remedy, endpoint=endpoint, status=status)
        self.kind = kind


class ServerFaultError(GitHubError):
    """GitHub failed (5xx), also after several tries."""


class ConnectionLostError(GitHubError):
    """No answer: no network, a name that does not resolve, a connection cut or timed out, a certificate refused."""


class ShapeError(GitHubError):
    """The answer is not what GitHub documents. `field` is the place in it (`$[0].user.login`)."""

    def __init__(self, message: str, *, field: str = "", endpoint: str = "", status: int | None = 200) -> None:
        super().__init__(
            message,
            "If this repeats, GitHub's interface may have changed; please report the endpoint and field.",
            endpoint=endpoint,
            status=status,
        )
        self.field = field


class RedirectRefusedError(GitHubError):
    """GitHub sent the request somewhere it must not go."""


class UncertainWriteError(GitHubError):
    """A write whose fate is unknown: it was sent, and no clear answer came. It must be looked for before it is sent
    again."""


class LoadCancelledError(GitHubError):
    """The reader asked to stop."""

    def __init__(self) -> None:
        super().__init__("Loading was cancelled.", "What was loaded so far is kept; start again to get the rest.")


def clock_time(moment: float) -> str:
    """A moment (seconds since 1970) as people read it, in UTC: `2026-08-12 14:05 UTC`."""
    return datetime.datetime.fromtimestamp(moment, datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
