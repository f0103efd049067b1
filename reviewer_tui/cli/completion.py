"""`completion SHELL`: a completion script."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from reviewer_tui.cli.exits import Exit
from reviewer_tui.cli.main import COMMANDS, load
from reviewer_tui.cli.options import Parser
from reviewer_tui.cli.output import put_raw

SHELLS = ("bash", "zsh", "tcsh")


def parser() -> argparse.ArgumentParser:
    made = Parser(prog="reviewer-tui completion", description="Print a completion script for your shell.")
    made.add_argument("shell", choices=SHELLS)
    return made


def main(arguments: Sequence[str]) -> Exit:
    import shtab

    args = parser().parse_args(arguments)
    put_raw(shtab.complete(_whole_program(), args.shell).encode())
    return Exit.DONE


def _whole_program() -> argparse.ArgumentParser:
    """All commands as sub-commands of one parser: the form in which shtab reads them."""
    whole = argparse.ArgumentParser(prog="reviewer-tui")
    commands = whole.add_subparsers()
    for name, (module, help_line) in COMMANDS.items():
        command = load(module).parser()
        commands.add_parser(name, parents=[command], help=help_line, add_help=False, conflict_handler="resolve")
    return whole
