"""GitHub and the cache as the commands open them."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from reviewer_tui.model.text import visible
from reviewer_tui.sources.cached import CacheSource
from reviewer_tui.sources.github.auth import Surroundings, find_token, surroundings
from reviewer_tui.sources.github.client import GitHubClient
from reviewer_tui.sources.github.hosts import parse_host
from reviewer_tui.sources.github.limits import Pace
from reviewer_tui.sources.github.loader import GitHubSource, Watch
from reviewer_tui.sources.github.stages import Progress
from reviewer_tui.store.cache import Cache
from reviewer_tui.store.places import cache_directory, config_directory

CACHE_FILE = "cache.sqlite"


def around() -> Surroundings:
    """Where this program looks for tokens."""
    return surroundings(config_directory())


def cache_path() -> Path:
    """Where the user's cache lies."""
    return cache_directory() / CACHE_FILE


def open_cache() -> Cache:
    """The user's cache."""
    return Cache(cache_path())


@contextlib.contextmanager
def github(args: argparse.Namespace, progress: Callable[[str], None] | None = None) -> Iterator[GitHubSource]:
    """Pull requests of the host and repository that the options name.

    `progress` is told in words of loads and waits; without it, they show on a terminal's stderr.
    """
    host = parse_host(args.host)
    tell = progress or show_status
    with open_cache() as cache:
        pace = Pace(lambda wait: tell(f"waiting {wait.seconds_left:.0f} s: {wait.reason}"))
        with GitHubClient(host, find_token(host, around()), answers=cache, pace=pace) as client:
            watch = Watch(progress=lambda stage: tell(in_words(stage)))
            try:
                yield GitHubSource(client, cache, args.repo, watch=watch)
            finally:
                if progress is None:
                    clear_status()


@contextlib.contextmanager
def offline(args: argparse.Namespace) -> Iterator[CacheSource]:
    """What the cache holds of the host and repository that the options name."""
    with open_cache() as cache:
        yield CacheSource(cache, args.repo, parse_host(args.host).name)


def in_words(progress: Progress) -> str:
    """How far a stage of loading is: `check-runs: 3 of 10`."""
    total = "" if progress.total is None else f" of {progress.total}"
    return f"{progress.stage}: {progress.done}{total}"


def show_status(text: str) -> None:
    """A line on stderr that is written over. Only a terminal gets it; a log would fill with it."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{visible(text)}")
        sys.stderr.flush()


def clear_status() -> None:
    """Take the status line away."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
