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
from reviewer_tui.store.places import cache_directory, data_directory

# Classic scopes, and what each lets the program do.
_PUBLIC = ("public_repo", "repo")


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
    except ReviewerError as error:
        yield False, "token", f"from {token.source}: {error}"
        return
    yield True, "token", f"from {token.source}, of {facts.login} on {host.name}"
    scopes = {scope.strip() for scope in facts.scopes.split(",") if scope.strip()}
    if not scopes:
        yield True, "rights", "a token with permissions instead of scopes; artifacts need “Actions: read”."
    elif scopes & set(_PUBLIC):
        yield True, "rights", "reads runs and artifacts, and may comment."
    else:
        yield False, "rights", "without the scope public_repo, artifacts (evals, results) cannot be downloaded."
