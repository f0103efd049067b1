"""Recipes side by side: our commands and the documented ones, the worst first, and the pages that could be linked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from reviewer_tui.review.recipes import PullView, RecipeView, VariantView, Weight
from reviewer_tui.tui.texts.page import BLANK, Line, Piece, Target, letter, line, table

_LETTERS: dict[Weight, Piece] = {
    "fails": Piece("F", "fail"),
    "unknown": Piece("U", "unverified"),
    "weigh": Piece("J", "judgement"),
    "aside": Piece(".", "dim"),
    "same": Piece("=", "dim"),
}


def pull_lines(told: PullView) -> Iterator[Line]:
    """An upstream pull request: its state with its age, and its recipe files."""
    pull = told.pull
    yield line(
        Piece(f"{pull.repository}#{pull.number}", "title"),
        Piece(f"  {pull.state.upper()} {told.age}", "pass" if pull.state == "merged" else "warn"),
        f"  {pull.title}",
        Piece("" if told.linked else "  not linked", "dim"),
        indent=2,
        target=Target(url=pull.url),
    )
    if pull.summary:
        yield line(f"  {pull.summary}", indent=2)
    yield from (line(Piece(f"  {file}", "dim"), indent=4) for file in pull.files)


def comparison_lines(view: RecipeView) -> Iterator[Line]:
    """Every arm beside the documented one, then what could be linked, and what could not be read."""
    for variant in view.variants:
        yield BLANK
        yield from variant_lines(variant)
    for page in view.proposals:
        yield BLANK
        found = Piece(f"  {page.path} at {page.commit[:7]}", "dim")
        yield line(Piece("could be linked ", "key"), page.url, found, indent=2, target=Target(url=page.url))
        yield from (line(Piece("  covers ", "pass"), title, indent=9) for title in page.covers)
        yield from (line(Piece("  lacks  ", "warn"), gap, indent=9) for gap in page.lacks)
    yield from (line(Piece("note ", "key"), note, indent=5) for note in view.notes)


def variant_lines(variant: VariantView) -> Iterator[Line]:
    """One arm: where both commands stand, then argument by argument."""
    before = "" if variant.submitted else "  was there before, not judged"
    yield line(
        letter(variant.status),
        Piece(f" {variant.title}", "title"),
        Piece(before, "dim"),
        indent=2,
        target=Target(path=variant.path, line=variant.line) if variant.path else None,
    )
    yield line(f"  {variant.sentence}", indent=2)
    if not variant.arguments:
        yield from (line(Piece(f"    {row}", "dim")) for row in variant.command.splitlines())
        return
    linked = "" if variant.against == "linked" else ", not linked"
    theirs = f"{variant.arm}, {variant.place} at {variant.commit[:7]}{linked}"
    yield line(Piece("  recipe ", "key"), theirs, indent=9, target=Target(url=variant.url))
    yield from table([["  ", "argument", "ours", "recipe"], *_rows(variant)])


def _rows(variant: VariantView) -> Iterator[list[Piece | str]]:
    flags = Counter(row.flag for row in variant.arguments)
    for row in variant.arguments:
        style = _LETTERS[row.weight].style
        name = row.flag if flags[row.flag] == 1 else row.title
        yield [
            Piece(f"  {_LETTERS[row.weight].text}", style),
            name,
            Piece(row.ours, "plain" if style == "dim" else style),
            Piece(row.theirs, "plain" if style == "dim" else style),
            Piece(row.why, "dim"),
        ]
