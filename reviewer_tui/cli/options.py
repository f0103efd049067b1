"""The options that several commands share, and what they mean together."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from reviewer_tui.model.errors import DataError, UsageError
from reviewer_tui.model.refs import DEFAULT_HOST, DEFAULT_REPOSITORY

# What reads options must start quickly: the parts that review come in only where they are used.
if TYPE_CHECKING:
    from reviewer_tui.review.load import ReviewRequest
    from reviewer_tui.sources.source import Source

CLONE_VARIABLE = "REVIEWER_TUI_CLONE"

# Local clones of recipe repositories: option, variable, and the repository that it is a clone of.
RECIPE_CLONES = (
    ("recipes_clone", "REVIEWER_TUI_RECIPES_CLONE", "vllm-project/recipes"),
    ("sglang_clone", "REVIEWER_TUI_SGLANG_CLONE", "sgl-project/sglang"),
)
_LOGIN = re.compile(r"@?([A-Za-z\d](?:[A-Za-z\d-]{0,38})(?:\[bot\])?)\Z")
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*\Z")
_WEB = re.compile(r"https?://", re.IGNORECASE)
_LARGEST_SIGN_OFF = 1 << 20


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are this program's own errors."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog}: {message}.", f"See “{self.prog} --help”.")


def add_source(parser: argparse.ArgumentParser) -> None:
    """Where pull requests are read from."""
    group = parser.add_argument_group("source")
    group.add_argument(
        "--clone",
        metavar="DIR",
        help=f"read a local clone, bare or not, refs/pull/N/head included; no network (default: ${CLONE_VARIABLE})",
    )
    group.add_argument("--offline", action="store_true", help="read the cache only; no network")
    for name, variable, repository in RECIPE_CLONES:
        group.add_argument(
            f"--{name.replace('_', '-')}",
            metavar="DIR",
            help=f"read recipes from a local clone of {repository} (default: ${variable})",
        )
    group.add_argument("--repo", metavar="OWNER/NAME", default=DEFAULT_REPOSITORY, help="default: %(default)s")
    group.add_argument("--host", metavar="HOST", default=DEFAULT_HOST, help="default: %(default)s")


def add_review(parser: argparse.ArgumentParser, *, sign_off: bool = True) -> None:
    """At which moment, by which rules, and for whom; with `sign_off` also by which text."""
    group = parser.add_argument_group("review")
    group.add_argument("--head", metavar="SHA", help="review this commit of the pull request (default: its newest)")
    group.add_argument(
        "--policy-ref", metavar="REV", help="read the rules at this revision (default: tip of the default branch)"
    )
    group.add_argument("--date", metavar="YYYY-MM-DD", help="review date, UTC (default: today)")
    group.add_argument("--signer", metavar="LOGIN", default="", help="who signs")
    if sign_off:
        told = "judge this sign-off text as well (- for standard input, or the URL of a comment)"
        group.add_argument("--sign-off", metavar="FILE", help=told)
    else:
        parser.set_defaults(sign_off=None)


def add_pull_request(parser: argparse.ArgumentParser) -> None:
    """The one pull request that a command is about."""
    parser.add_argument("pull_request", metavar="PR", help="number, URL or owner/repo#n")


def add_common(parser: argparse.ArgumentParser, *, sign_off: bool = True) -> None:
    """What every command has that reviews: where it reads, how it judges (`sign_off`: by a text that an option names),
    and its answer as JSON."""
    add_source(parser)
    add_review(parser, sign_off=sign_off)
    add_json(parser)


def add_queue(parser: argparse.ArgumentParser) -> None:
    """How far a queue is read."""
    from reviewer_tui.review.queues import DEFAULT_LIMIT

    group = parser.add_argument_group("queue")
    group.add_argument(
        "--limit",
        metavar="N",
        type=int,
        default=DEFAULT_LIMIT,
        help="look into at most N pull requests, yours and those that changed last first (default: %(default)s)",
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON, stable and versioned")


def review_request(args: argparse.Namespace) -> ReviewRequest:
    """The request that the review options make."""
    from reviewer_tui.review.load import ReviewRequest

    return ReviewRequest(
        review_date=review_date(args.date),
        head=args.head,
        policy_ref=args.policy_ref,
        signer=login(args.signer),
        **sign_off_of(args.sign_off),
    )


def sign_off_of(name: str | None) -> dict[str, str]:
    """Where the text under judgement is, as the field of a request: the content of a file, or a comment's address."""
    if name is None:
        return {}
    if _WEB.match(name):
        return {"comment": name}
    return {"sign_off": read_text_file(name, "sign-off")}


def review_date(text: str | None) -> str:
    """A date as typed, or today in UTC."""
    if text is None:
        return datetime.datetime.now(datetime.UTC).date().isoformat()
    try:
        return datetime.datetime.strptime(text, "%Y-%m-%d").date().isoformat()
    except ValueError:
        raise UsageError(f"“{text}” is no date.", "Write --date as YYYY-MM-DD, for example 2026-08-12.") from None


def login(text: str) -> str:
    """A login without `@`; empty stays empty."""
    if not text:
        return ""
    found = _LOGIN.match(text.strip())
    if found is None:
        raise UsageError(f"“{text}” is no login.", "Give --signer a GitHub user name, for example ankur-singh.")
    return found[1]


def read_text_file(name: str, what: str) -> str:
    """A file as typed on the command line, `-` for standard input. Raises DataError with a sentence."""
    try:
        content = sys.stdin.buffer.read(_LARGEST_SIGN_OFF + 1) if name == "-" else _read_limited(Path(name))
    except OSError as fault:
        raise DataError(f"The {what} “{name}” cannot be read: {fault.strerror or fault}.") from None
    if len(content) > _LARGEST_SIGN_OFF:
        raise DataError(f"The {what} “{name}” is larger than {_LARGEST_SIGN_OFF >> 20} MiB; that is no comment.")
    return content.decode("utf-8", "replace").removeprefix("\ufeff")


def _read_limited(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_LARGEST_SIGN_OFF + 1)


@contextlib.contextmanager
def source_of(
    args: argparse.Namespace, progress: Callable[[str], None] | None = None, *, live: bool = False
) -> Iterator[Source]:
    """The source that the options name, open for as long as it is used: a clone, the cache, or GitHub, and beside it
    the clones of recipe repositories.

    `progress` is told what is being loaded and waited for; without it, waits show on stderr. With `live` only GitHub
    will do: a clone that the environment names is passed over, one that an option names is an error.
    """
    folders = {repo: getattr(args, name) or os.environ.get(variable) for name, variable, repo in RECIPE_CLONES}
    with _reviewed(args, progress, live) as source:
        if not any(folders.values()):
            yield source
            return
        from reviewer_tui.sources.recipe_clones import RecipeClone, WithRecipeClones

        clones = [RecipeClone(folder, repository) for repository, folder in folders.items() if folder]
        with WithRecipeClones(source, clones) as both:
            yield both


@contextlib.contextmanager
def _reviewed(args: argparse.Namespace, progress: Callable[[str], None] | None, live: bool) -> Iterator[Source]:
    """The source of pull requests."""
    if not _REPOSITORY.match(args.repo):
        raise UsageError(
            f"“{args.repo}” names no repository.", f"Write --repo as owner/name, e.g. {DEFAULT_REPOSITORY}."
        )
    if args.clone and args.offline:
        raise UsageError("--clone and --offline name two sources.", "A clone needs no network anyway.")
    if live and (args.clone or args.offline):
        option = "--clone" if args.clone else "--offline"
        raise UsageError(f"Posting needs GitHub, but {option} keeps away from it.", f"Leave {option} out.")
    passed_over = args.offline or live
    clone_folder = args.clone or (None if passed_over else os.environ.get(CLONE_VARIABLE))
    if clone_folder:
        from reviewer_tui.sources.clone import CloneSource

        with CloneSource(Path(clone_folder), repository=args.repo, host=args.host) as clone:
            yield clone
        return
    from reviewer_tui.cli.network import github, offline

    with offline(args) if args.offline else github(args, progress) as source:
        yield source
