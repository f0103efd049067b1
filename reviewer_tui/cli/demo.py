"""`demo`: the workstation on the bundled sample; without a terminal, both moments as text."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from reviewer_tui.cli.exits import Exit
from reviewer_tui.cli.options import Parser
from reviewer_tui.cli.output import page_width, put, wrap
from reviewer_tui.cli.panes import whole
from reviewer_tui.cli.workstation import add_screen, has_terminal, on_screen


def parser() -> argparse.ArgumentParser:
    made = Parser(
        prog="reviewer-tui demo",
        description="Open the workstation on the bundled sample: offline, no token, no configuration.",
    )
    add_screen(made)
    return made


def main(arguments: Sequence[str]) -> Exit:
    args = parser().parse_args(arguments)
    if has_terminal():
        from reviewer_tui.review.desks import SampleDesk
        from reviewer_tui.store.places import data_directory

        return on_screen(SampleDesk(data_directory()), args)
    from reviewer_tui.review.desks import sample_review
    from reviewer_tui.sample import MOMENTS

    width = page_width()
    for moment in MOMENTS:
        put(["", "=" * width, *wrap(f"{moment.name}: {moment.title}", width), "=" * width, ""])
        put(whole(sample_review(moment), width))
    return Exit.DONE
