"""The command line: which command, its errors as sentences, its exit code."""

from __future__ import annotations

import argparse
import gc
import importlib
import io
import os
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
    "post": ("post", "post a sign-off or comment, once: preview, confirm, send, read back"),
    "fetch": ("fetch", "load pull requests from GitHub into the cache"),
    "expand": ("expand", "the points of config keys at a revision"),
    "recipes": ("recipes", "what upstream recipes document of config keys at a revision"),
    "auth": ("auth", "keep, look at or forget the token for a host"),
    "cache": ("cache", "see and keep what is stored for work without the network"),
    "doctor": ("doctor", "tell what this machine has, and what each feature lacks"),
    "explain": ("explain", "what a check decides, from which files, by which rule"),
    "completion": ("completion", "print a shell completion script"),
}
TRACEBACK_VARIABLE = "REVIEWER_TUI_TRACEBACK"
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
    _mend_streams()
    code = main(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError as fault:
        # What could not be written must not be tried again at the interpreter's end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"reviewer-tui: The output could not be written: {fault.strerror}.", file=sys.stderr)
        code = Exit.NO_DATA
    sys.exit(code)


def _mend_streams() -> None:
    """Streams that everything can be written to: closed ones lead nowhere, and an encoding that lacks a character gets
    its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123
        elif mode == "w" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def main(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code. Every failure becomes a sentence on stderr; with
    REVIEWER_TUI_TRACEBACK in the environment, an unexpected one is raised."""
    from reviewer_tui.model.errors import ReviewerError, UsageError

    try:
        if not all(_is_text(argument) for argument in arguments):
            raise UsageError("An argument holds bytes that are not UTF-8.", "Write it in the terminal's encoding.")
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
    except OSError as fault:
        what = f"{fault.filename}: " if fault.filename else ""
        _complain(ReviewerError(f"{what}{fault.strerror or fault}."))
        return Exit.NO_DATA
    except Exception as fault:
        if TRACEBACK_VARIABLE in os.environ:
            raise
        told = f"Something unexpected happened ({type(fault).__name__}: {fault})."
        _complain(ReviewerError(told, f"Please report it, with what {TRACEBACK_VARIABLE}=1 prints."))
        return Exit.NO_DATA


def _is_text(argument: str) -> bool:
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True


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
