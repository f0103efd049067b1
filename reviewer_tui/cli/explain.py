"""`explain [CHECK]`: what a check decides, from which files, by which rule, and what it cannot know."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from reviewer_tui.checks.registry import known_checks
from reviewer_tui.cli.exits import Exit
from reviewer_tui.cli.options import Parser
from reviewer_tui.cli.output import page_width, put, table, wrap
from reviewer_tui.model.errors import UsageError
from reviewer_tui.policy.items import known_checks as named_checks


def parser() -> argparse.ArgumentParser:
    made = Parser(prog="reviewer-tui explain", description="Tell what a check decides, and from what.")
    made.add_argument("check", metavar="CHECK", nargs="?", help="a check's name; without it, all names")
    return made


def main(arguments: Sequence[str]) -> Exit:
    args = parser().parse_args(arguments)
    derived, named = known_checks(), {facts.name: facts.title for facts in named_checks()}
    if args.check is None:
        put(table(((name, derived[name].title if name in derived else title) for name, title in named.items()), ""))
        return Exit.DONE
    if args.check in derived:
        check = derived[args.check]
        put([f"{check.name}: {check.title}", ""])
        for paragraph in paragraphs(check.explanation):
            put(wrap(paragraph, page_width()))
        return Exit.DONE
    if args.check in named:
        put([f"{args.check}: {named[args.check]}", "", "This check is not yet derived by this program: unverified."])
        return Exit.DONE
    raise UsageError(f"There is no check named “{args.check}”.", f"The names are {', '.join(named)}.")


def paragraphs(text: str) -> list[str]:
    """A text that is broken at the source's width as whole paragraphs: a line that ends a sentence before the width is
    used up, or stands before a blank one, is the last of its paragraph."""
    lines = text.splitlines()
    widest = max(map(len, lines), default=0)
    found: list[str] = []
    current: list[str] = []
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        current.append(line)
        first, _, _ = after.partition(" ")
        if not after or (line.endswith((".", ":")) and len(line) + 1 + len(first) <= widest):
            found.append(" ".join(current))
            current = []
    return found
