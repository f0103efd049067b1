"""The configs of one revision: master configs, runners and the generator's rules, found by the revision's layout."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from reviewer_tui.model.config import Entry
from reviewer_tui.model.finding import Problem
from reviewer_tui.model.tree import Tree
from reviewer_tui.policy.layout import Layout, discover_layout
from reviewer_tui.sweeps.evals import EvalMode
from reviewer_tui.sweeps.expand import Expansion, expand_entries, matching_keys
from reviewer_tui.sweeps.master import MasterConfig, duplicates, parse_master
from reviewer_tui.sweeps.rows import SCENARIOS
from reviewer_tui.sweeps.rules import GeneratorRules, read_rules
from reviewer_tui.sweeps.runners import NO_RUNNERS, Runners, parse_runners


class Configs:
    """What can be swept at one revision. Everything is read at once, entries are parsed when asked for."""

    def __init__(self, tree: Tree, layout: Layout | None = None, like: Configs | None = None) -> None:
        """`like` are configs of another revision: files that are equal there are not read again."""
        self.tree = tree
        self.layout = layout or discover_layout(tree)
        # The repository's documentation gives the generator the NVIDIA file first; rows come in that order.
        paths = sorted(self.layout.master_configs, reverse=True)
        self.masters: tuple[MasterConfig, ...] = tuple(self._master(path, like) for path in paths)
        self.runners: Runners = self._runners(like)
        self.rules: GeneratorRules = self._rules(like)

    @cached_property
    def _home(self) -> dict[str, MasterConfig]:
        home: dict[str, MasterConfig] = {}
        for master in self.masters:
            for key in master.keys:
                home.setdefault(key, master)
        return home

    def _master(self, path: str, like: Configs | None) -> MasterConfig:
        name = path.rpartition("/")[2]
        known = next((master for master in like.masters if master.path.endswith(f"/{name}")), None) if like else None
        if like and known and known.path == path and like.tree.blob(path) == self.tree.blob(path):
            return known
        return parse_master(self.tree.read(path) or b"", path, known)

    def _runners(self, like: Configs | None) -> Runners:
        path = self.layout.runners
        if path is None:
            return NO_RUNNERS
        if like and like.runners.path == path and like.tree.blob(path) == self.tree.blob(path):
            return like.runners
        return parse_runners(self.tree.read(path) or b"", path)

    def _rules(self, like: Configs | None) -> GeneratorRules:
        path = self.layout.generator
        if like and path and like.layout.generator == path and like.tree.blob(path) == self.tree.blob(path):
            return like.rules
        return read_rules(self.tree, path)

    @property
    def keys(self) -> tuple[str, ...]:
        """All config keys; one that stands in two files counts where it stands first."""
        return tuple(self._home)

    def master(self, key: str) -> MasterConfig | None:
        """The file a key stands in."""
        return self._home.get(key)

    def entry(self, key: str) -> Entry | None:
        """One entry; None where there is none or it cannot be read."""
        master = self._home.get(key)
        return None if master is None else master.entry(key)

    def entries(self, keys: Iterable[str] | None = None) -> dict[str, Entry]:
        """The readable ones of these entries (None: all), in the order given."""
        wanted = self.keys if keys is None else keys
        return {key: entry for key in wanted if (entry := self.entry(key)) is not None}

    def expand(
        self,
        patterns: Iterable[str] = ("*",),
        evals: EvalMode = "default",
        scenarios: Sequence[str] = SCENARIOS,
    ) -> Expansion:
        """The rows of these keys (names, or patterns with `*` and `?`) in one invocation.

        A name or pattern without a key is a problem with the rule `no-such-key`.
        """
        patterns = tuple(patterns)
        if "*" in patterns:
            for master in self.masters:
                master.entries()
        keys, missing = matching_keys(patterns, self.keys)
        expansion = expand_entries(self.entries(keys).values(), self.runners, self.rules, evals, scenarios)
        where = self.layout.configs or "the configs"
        unknown = tuple(
            Problem(path=where, message=f"No config key matches {pattern!r}.", rule="no-such-key")
            for pattern in missing
        )
        return Expansion(rows=expansion.rows, problems=(*unknown, *expansion.problems))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The faults of the files met so far: as YAML, of keys that stand in two files, and of the runners file."""
        found = [problem for master in self.masters for problem in master.problems]
        return (*found, *duplicates(self.masters), *self.runners.problems)


def expand(
    configs: Configs, keys: Iterable[str], evals: EvalMode = "default", scenarios: Sequence[str] = SCENARIOS
) -> Expansion:
    """The rows of these keys; see `Configs.expand`."""
    return configs.expand(keys, evals, scenarios)
