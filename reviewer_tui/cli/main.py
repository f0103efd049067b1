"""The command line: which command, its errors as sentences, its exit code."""

from __future__ import annotations

import argparse
import gc
import importlib
import sys
from collections.abc import Sequence
from typing import Protocol

from reviewer_tui import __version__
from reviewer_tui.cli.exits import Exit

# Command, module below reviewer_tui.cli, one line of help.
COMMANDS: dict[str, tuple[str, str]] = {
    "queue": ("queue", "the pull requests that wait for a sign-off, as text"),
    "demo": ("demo", "the workstation on the bundled sample: offline, no token, no configuration"),
    "show": ("show", "one pane of a pull request as text"),
    "check": ("check", "run the checks on one or several pull requests"),
    "signoff": ("signoff", "compose the sign-off comment"),
    "lint": ("lint", "judge an existing sign-off text"),
    "fetch": ("fetch", "load pull requests from GitHub into the cache"),
    "expand": ("expand", "the points of config keys at a revision"),
    "auth": ("auth", "keep, look at or forget the token for a host"),
    "cache": ("cache", "see and keep what is stored for work without the network"),
    "doctor": ("doctor", "tell what this machine has, and what each feature lacks"),
    "explain": ("explain", "what a check decides, from which files, by which rule"),
    "completion": ("completion", "print a shell completion script"),
}
DEFAULT_COMMAND = ("workstation", "the workstation on a pull request, or on the queue")

USAGE = "usage: reviewer-tui [PR] [options]\n       reviewer-tui COMMAND …"


class Command(Protocol):
    """What a command's module offers."""

    def parser(self) -> argparse.ArgumentParser:
        """The parser of the command's arguments."""
        ...

    def main(self, arguments: Sequence[str]) -> Exit:
        """Parse the command's own arguments and run it."""
        ...


def run() -> None:
    """The console script."""
    # A command makes many small objects that live until its end: the collector would only walk them again and again.
    gc.set_threshold(200_000, 50, 50)
    sys.exit(main(sys.argv[1:]))


def main(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code. Expected failures become a sentence on stderr."""
    from reviewer_tui.model.errors import ReviewerError, UsageError

    try:
        return int(_dispatch(list(arguments)))
    except UsageError as error:
        _complain(error)
        return Exit.USAGE
    except ReviewerError as error:
        _complain(error)
        return Exit.NO_DATA
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return Exit.INTERRUPTED


def _dispatch(arguments: list[str]) -> Exit:
    if arguments[:1] in (["--help"], ["-h"], ["help"]):
        print(help_text())
        return Exit.DONE
    if arguments[:1] in (["--version"], ["version"]):
        print(f"reviewer-tui {__version__}")
        return Exit.DONE
    if arguments and arguments[0] in COMMANDS:
        return load(COMMANDS[arguments[0]][0]).main(arguments[1:])
    return load(DEFAULT_COMMAND[0]).main(arguments)


def load(module: str) -> Command:
    """The module of a command, imported only when the command is used."""
    command: Command = importlib.import_module(f"reviewer_tui.cli.{module}")
    return command


def help_text() -> str:
    """What `--help` prints."""
    width = max(map(len, COMMANDS))
    commands = [f"  {name:<{width}}  {line}" for name, (_, line) in COMMANDS.items()]
    return "\n".join(
        [
            USAGE,
            "",
            "The workstation of InferenceX reviewers: evidence, checks and sign-off of a pull request.",
            "PR is 2550, #2550, owner/repo#2550, or a URL; some commands take ranges such as 2000..2100.",
            "",
            "commands:",
            f"  {'[PR]':<{width}}  {DEFAULT_COMMAND[1]}",
            *commands,
            "",
            "“reviewer-tui COMMAND --help” tells a command's options.",
            "exit: 0 PASS or WARN, or done · 1 REJECTED, or lint found faults · 2 usage · 3 UNDECIDED · 4 no data",
        ]
    )


def _complain(error: Exception) -> None:
    from reviewer_tui.model.text import visible

    print(f"reviewer-tui: {visible(str(error))}", file=sys.stderr)
