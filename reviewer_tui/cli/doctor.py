"""`doctor`: what this machine has, and what each feature lacks."""

from __future__ import annotations

import argparse
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence

from reviewer_tui import __version__
from reviewer_tui.cli.exits import Exit
from reviewer_tui.cli.network import around, github, open_cache
from reviewer_tui.cli.options import Parser, add_source
from reviewer_tui.cli.output import page_width, put, wrap
from reviewer_tui.model.errors import ReviewerError
from reviewer_tui.sources.github.auth import environment_variables, find_token
from reviewer_tui.sources.github.hosts import parse_host
from reviewer_tui.sources.github.posting import COMMENT_SCOPES, RepositoryState
from reviewer_tui.store.places import cache_directory, data_directory
from reviewer_tui.store.posts import PostJournal


def parser() -> argparse.ArgumentParser:
    made = Parser(prog="reviewer-tui doctor", description="Tell what this machine has, and what each feature lacks.")
    add_source(made)
    return made


def main(arguments: Sequence[str]) -> Exit:
    args = parser().parse_args(arguments)
    width = page_width()
    healthy = True
    for good, what, told in _examined(args):
        healthy = healthy and good
        put(wrap(told, width, f"{'P' if good else 'F'} {what:<9} "))
    return Exit.DONE if healthy else Exit.NO_DATA


def _examined(args: argparse.Namespace) -> Iterator[tuple[bool, str, str]]:
    """One line for each thing: whether it is well, what it is, and a sentence."""
    python = f"reviewer-tui {__version__}, Python {platform.python_version()}"
    yield sys.version_info >= (3, 11), "program", python
    yield _git()
    encoding = sys.stdout.encoding or "unknown"
    yield True, "terminal", f"encoding {encoding}, {shutil.get_terminal_size().columns} columns"
    yield True, "folders", f"drafts and sign-offs in {data_directory()}, cache in {cache_directory()}"
    yield _cache()
    yield _journal()
    if args.clone:
        yield _clone(args)
    if not args.offline:
        yield from _github(args)


def _git() -> tuple[bool, str, str]:
    program = shutil.which("git")
    if program is None:
        return False, "git", "git is not installed: reading a clone with --clone needs it."
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    return bool(version), "git", version or f"{program} does not answer."


def _cache() -> tuple[bool, str, str]:
    try:
        with open_cache() as cache:
            return True, "cache", f"{len(cache.snapshots())} snapshots, {cache.size() / 1e6:.1f} MB"
    except ReviewerError as error:
        return False, "cache", str(error)


def _journal() -> tuple[bool, str, str]:
    """Whether a post was left without an answer."""
    try:
        unfinished = PostJournal(data_directory()).unfinished()
    except ReviewerError as error:
        return False, "posts", str(error)
    if not unfinished:
        return True, "posts", "none is unfinished"
    named = ", ".join(f"#{post.ref.number} ({post.state}, {post.started_at[:10]})" for post in unfinished)
    return False, "posts", f"unfinished: {named}. “reviewer-tui post PR FILE” looks for them before it sends anything."


def _clone(args: argparse.Namespace) -> tuple[bool, str, str]:
    from reviewer_tui.sources.clone import CloneSource

    try:
        with CloneSource(args.clone, repository=args.repo, host=args.host) as clone:
            numbers = clone.pull_request_numbers()
    except ReviewerError as error:
        return False, "clone", str(error)
    if not numbers:
        return (
            False,
            "clone",
            ("no pull request refs; fetch them with: git fetch origin '+refs/pull/*/head:refs/pull/*/head'"),
        )
    return True, "clone", f"{len(numbers):,} pull requests, up to #{max(numbers)}"


def _github(args: argparse.Namespace) -> Iterator[tuple[bool, str, str]]:
    host = parse_host(args.host)
    token = find_token(host, around())
    if token is None:
        names = " or ".join(environment_variables(host, around().environ))
        yield False, "token", f"no token for {host.name}: set {names}, log in with gh, or “reviewer-tui auth login”."
        return
    try:
        with github(args) as source:
            facts = source.viewer()
            repository = source.repository_state()
    except ReviewerError as error:
        yield False, "token", f"from {token.source}: {error}"
        return
    yield True, "token", f"from {token.source}, of {facts.login} on {host.name}"
    scopes = {scope.strip() for scope in facts.scopes.split(",") if scope.strip()}
    if not scopes:
        yield True, "rights", "a token with permissions instead of scopes; artifacts need “Actions: read”."
    elif scopes & set(COMMENT_SCOPES):
        yield True, "rights", "reads runs and artifacts."
    else:
        yield False, "rights", "without the scope public_repo, artifacts (evals, results) cannot be downloaded."
    yield _comments(repository, scopes, facts.login)


def _comments(repository: RepositoryState, scopes: set[str], login: str) -> tuple[bool, str, str]:
    """Whether the token may post comments, as far as that can be told without posting one."""
    name, needed = repository.full_name, ("repo",) if repository.private else COMMENT_SCOPES
    if repository.archived:
        return False, "comments", f"{name} is archived: nobody can comment there."
    if not scopes:
        unsure = "a token without scopes shows whether it may comment only when it does; fine-grained tokens cannot in"
        return True, "comments", f"{unsure} an organisation that their owner is no member of."
    if scopes & set(needed):
        return True, "comments", f"{login} may comment on pull requests of {name}."
    lacks = " or ".join(needed)
    return False, "comments", f"the token cannot post to {name}: it lacks the scope {lacks}; reviewing works without."
