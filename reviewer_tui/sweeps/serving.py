"""What serves what at one revision: the benchmark rows of config entries and the files behind them."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from typing import Any, cast

from reviewer_tui.model.config import Entry
from reviewer_tui.model.tree import Tree
from reviewer_tui.policy.layout import Layout, discover_layout
from reviewer_tui.sweeps.expand import ExpandedRow, Expansion, expand_entries
from reviewer_tui.sweeps.resolve import ResolvedFile, Resolver
from reviewer_tui.sweeps.rules import read_rules
from reviewer_tui.sweeps.runners import NO_RUNNERS, parse_runners


class Serving:
    """What serves what at one revision, worked out once for the diff and all checks."""

    def __init__(self, tree: Tree, layout: Layout) -> None:
        self.tree, self.layout = tree, layout
        path = layout.runners
        self.runners = parse_runners(tree.read(path) or b"", path) if path else NO_RUNNERS
        self.rules = read_rules(tree, layout.generator)
        self.resolver = Resolver(tree, layout, self.runners)
        self._expansions: dict[str, Expansion] = {}
        self._found: dict[str, tuple[tuple[ExpandedRow, ...], tuple[ResolvedFile, ...]]] = {}

    def expansion(self, entry: Entry) -> Expansion:
        """The benchmark rows of an entry of this revision, without evals, and the faults of expanding it."""
        if entry.key not in self._expansions:
            self._expansions[entry.key] = expand_entries([entry], self.runners, self.rules, "none")
        return self._expansions[entry.key]

    def of(self, entry: Entry) -> tuple[tuple[ExpandedRow, ...], tuple[ResolvedFile, ...]]:
        """The benchmark rows of an entry of this revision and the files behind them, each once."""
        if entry.key not in self._found:
            rows = self.expansion(entry).rows
            files = {file: None for row in rows for file in self.resolver.files(row.row, entry)}
            self._found[entry.key] = rows, tuple(files)
        return self._found[entry.key]


def serving_at(tree: Tree, layout: Layout | None = None) -> Serving:
    """What serves what at a revision; kept for the trees of the review at hand."""
    return _kept(cast(Hashable, tree), layout or discover_layout(tree))


@lru_cache(maxsize=4)
def _kept(tree: Any, layout: Layout) -> Serving:
    return Serving(tree, layout)
