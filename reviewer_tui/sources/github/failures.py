"""Reading a refusal: which error an answer of status 400 and above stands for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

import msgspec

from reviewer_tui.model.refs import host_option
from reviewer_tui.model.text import visible
from reviewer_tui.sources.github.errors import (
    GitHubError,
    GoneError,
    HiddenError,
    PermissionMissingError,
    RequestRefusedError,
    ServerFaultError,
    SingleSignOnError,
    TokenRefusedError,
    TooLargeError,
)

_SSO = re.compile(r"\s*required;\s*url=(\S+)")


_LONGEST_MESSAGE = 300


def refusal_message(body: bytes) -> str:
    """What GitHub says about a refusal, on one line; empty where it is not GitHub's form."""
    try:
        refusal = msgspec.json.decode(body)
    except (msgspec.MsgspecError, RecursionError):
        return ""
    if not isinstance(refusal, dict) or not isinstance(refusal.get("message"), str):
        return ""
    errors = refusal.get("errors")
    details = "; ".join(filter(None, map(_detail, errors[:3]))) if isinstance(errors, list) else ""
    text = f"{refusal['message']} ({details})" if details else refusal["message"]
    return visible(" ".join(text.split()))[:_LONGEST_MESSAGE]


def _detail(error: object) -> str:
    if isinstance(error, str):
        return error
    if isinstance(error, dict):
        words = (error.get(key) for key in ("resource", "field", "code", "message"))
        return " ".join(word for word in words if isinstance(word, str))
    return ""


def failure_of(
    endpoint: str, status: int, headers: Mapping[str, str], body: bytes, *, web_host: str, has_token: bool
) -> GitHubError:
    """The error for an answer that is not a success and no rate limit. `web_host` is the host, to which alone a single
    sign-on link may point."""
    said = refusal_message(body)
    quoted = f" GitHub says: {said}{'' if said.endswith(('.', '!', '?')) else '.'}" if said else ""
    if status == 401 and not has_token:
        return PermissionMissingError(
            f"{endpoint} needs a token.{quoted}",
            log_in_first(web_host),
            missing="a token",
            endpoint=endpoint,
            status=status,
        )
    if status == 401:
        return TokenRefusedError(
            f"GitHub refuses the token.{quoted}",
            log_in_again(web_host),
            endpoint=endpoint,
            status=status,
        )
    if status in (403, 404) and (sso := _single_sign_on(endpoint, status, headers, web_host)):
        return sso
    if status == 403:
        return _permission(endpoint, headers, quoted, "" if has_token else log_in_first(web_host))
    if status == 404:
        return HiddenError(
            f"{endpoint} is not there, or hidden from this {'token' if has_token else 'reader'}.",
            _remedy_for_hidden(headers, web_host, has_token),
            endpoint=endpoint,
            status=status,
        )
    if status == 410:
        return GoneError(f"{endpoint} is gone.{quoted}", endpoint=endpoint, status=status)
    if status == 406:
        return TooLargeError(f"{endpoint} is larger than GitHub gives.{quoted}", endpoint=endpoint, status=status)
    if status >= 500:
        return ServerFaultError(
            f"GitHub failed with {status} for {endpoint}.{quoted}",
            "Try again in a minute; https://www.githubstatus.com tells about outages.",
            endpoint=endpoint,
            status=status,
        )
    return RequestRefusedError(f"GitHub refused {endpoint} with {status}.{quoted}", endpoint=endpoint, status=status)


def log_in_first(host: str) -> str:
    """What to do where a host wants a token and there is none."""
    return f"Log in first: {_log_in(host)}."


def log_in_again(host: str) -> str:
    """What to do where a host refuses the token."""
    option = host_option(host)
    gh = f"gh auth login{option.replace(' --host', ' --hostname')}"
    return f"Log in again ({_log_in(host)}, or {gh}); see reviewer-tui auth status{option}."


def _log_in(host: str) -> str:
    return f"reviewer-tui auth login{host_option(host)}"


def missing_scope(headers: Mapping[str, str]) -> str:
    """The scope that a classic token lacks: what was accepted, if the token has none of it. Empty where nothing
    lacks or the answer does not say."""
    accepted = _words(headers.get("x-accepted-oauth-scopes", ""))
    if not accepted or "x-oauth-scopes" not in headers:
        return ""
    return "" if set(accepted) & set(_words(headers["x-oauth-scopes"])) else visible(" or ".join(accepted))[:200]


def missing_permission(headers: Mapping[str, str]) -> str:
    """The permission that a fine-grained token needs, in words (GitHub's header: comma is and, semicolon is or)."""
    text = headers.get("x-accepted-github-permissions", "")
    choices = [" and ".join(_words(choice)) for choice in text.split(";")]
    return visible(" or ".join(choice.replace("=", ":") for choice in choices if choice))[:200]


def _permission(endpoint: str, headers: Mapping[str, str], quoted: str, log_in: str) -> PermissionMissingError:
    """`log_in` says how to log in where there is no token, else it is empty."""
    if scope := missing_scope(headers):
        return PermissionMissingError(
            f"The token may not do {endpoint}: it lacks the scope {scope}.",
            f"Give it that scope, for example with gh auth refresh --scopes {scope.split(' ')[0]}.",
            missing=scope,
            endpoint=endpoint,
        )
    needed = missing_permission(headers)
    wanted = f": it needs the permission {needed}" if needed else ""
    if log_in:
        remedy = log_in
    elif needed:
        remedy = "Add that permission to the token, or use a classic token or gh's."
    else:
        remedy = "A classic token with the scope repo, or gh's token, can do it if your account may."
    return PermissionMissingError(
        f"The token may not do {endpoint}{wanted}.{quoted}", remedy, missing=needed, endpoint=endpoint
    )


def _single_sign_on(endpoint: str, status: int, headers: Mapping[str, str], web_host: str) -> SingleSignOnError | None:
    header = headers.get("x-github-sso", "")
    if not header.strip().startswith("required"):
        return None
    found = _SSO.match(header)
    link = found[1] if found and _leads_to(found[1], web_host) else ""
    where = f"Open {link} within the hour" if link else "Authorise it in your settings, under tokens"
    return SingleSignOnError(
        f"The organisation wants this token authorised for single sign-on before {endpoint}.",
        f"{where}, then try again.",
        link=link,
        endpoint=endpoint,
        status=status,
    )


def _leads_to(link: str, host: str) -> bool:
    parts = urlsplit(link)
    return parts.scheme == "https" and parts.netloc.lower() == host


def _remedy_for_hidden(headers: Mapping[str, str], host: str, has_token: bool) -> str:
    if not has_token:
        return f"If it is private, log in first: {_log_in(host)}."
    if scope := missing_scope(headers):
        return f"The token lacks the scope {scope}, which private repositories need."
    return "Check the name and number, and whether your account can see it in the browser."


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
