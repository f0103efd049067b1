"""The files that serve the submitted config keys, and which paths of the repository can serve at all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from reviewer_tui.checks.check import Evidence
from reviewer_tui.checks.scope import additional_settings, submitted
from reviewer_tui.model.config import Entry, KeyChange
from reviewer_tui.model.tree import Tree, read_text
from reviewer_tui.policy.layout import Layout
from reviewer_tui.sweeps.expand import ExpandedRow
from reviewer_tui.sweeps.resolve import ResolvedFile
from reviewer_tui.sweeps.serving import serving_at

# Not served from: archived scripts, and the measurement of acceptance lengths, which publishes no benchmark.
_ASIDE = ("/deprecated/", "/speedbench/")
_WORKFLOWS = ".github/workflows/"
# Frameworks as file names tell them apart (`server_atom.sh`, `models_vllm.yaml`).
_ENGINE_NAME = re.compile(r"(?:^|[_.-])(atom|vllm|sglang|trt|tilert|llmd)(?=[_.-])")


class Served(msgspec.Struct, frozen=True, kw_only=True):
    """A submitted key with its rows at head and the files that decide what they run."""

    change: KeyChange
    entry: Entry
    rows: tuple[ExpandedRow, ...]
    files: tuple[ResolvedFile, ...]

    def paths(self, *roles: str) -> tuple[str, ...]:
        """The files of these roles (none named: all) that the repository holds."""
        return tuple(file.path for file in self.files if file.path and (not roles or file.role in roles))

    @property
    def own(self) -> tuple[str, ...]:
        """Its scripts and recipes, and the helpers of these but for those that are named after another engine."""
        helpers = [path for path in self.paths("helper") if _suits(path, self.entry.framework)]
        return tuple(dict.fromkeys((*self.paths("script", "recipe"), *helpers)))

    @property
    def new_settings(self) -> tuple[str, ...]:
        """The workers' additional settings (`NAME=value`) that the entry did not have before."""
        old = set(additional_settings(self.change.old.fields)) if self.change.old else set()
        return tuple(dict.fromkeys(setting for setting in additional_settings(self.entry.fields) if setting not in old))

    @property
    def outside(self) -> tuple[ResolvedFile, ...]:
        """Its recipes and scripts that the repository does not hold."""
        return tuple(file for file in self.files if file.path is None and file.role in ("recipe", "script"))

    @property
    def brought_from_outside(self) -> tuple[ResolvedFile, ...]:
        """Those of them that the entry did not name before: nothing tells what they do."""
        before = repr(self.change.old.fields) if self.change.old else ""
        return tuple(file for file in self.outside if file.role == "script" or file.wanted not in before)


def served(evidence: Evidence) -> Iterator[Served]:
    """Every submitted key with its files at head."""
    at_head = serving_at(evidence.trees.head)
    for change in submitted(evidence):
        if change.new is not None:
            rows, files = at_head.of(change.new)
            yield Served(change=change, entry=change.new, rows=rows, files=files)


def absence(key: str, files: Sequence[ResolvedFile], layout: Layout) -> str:
    """What to say of scripts and recipes of a key that the repository does not hold (at least one). A path in the
    repository's own benchmark folder is not brought by any checkout of another repository: what starts it fails."""
    own = [file for file in files if file.wanted.startswith(f"{layout.benchmarks}/")]
    told = own or list(files)
    name = told[0].wanted if len(told) == 1 else f"{told[0].wanted} and {len(told) - 1} more"
    what = ("the recipe" if told[0].role == "recipe" else "the script") + f" {name}"
    if own:
        which = "which does" if len(own) == 1 else "which do"
        return f"{key} names {what}, {which} not exist at head, so its job will fail."
    are, them = ("is", "it") if len(told) == 1 else ("are", "them")
    return f"{key}: {what} {are} not in this repository. Look at {them} where the launcher checks {them} out."


def _suits(helper: str, framework: str) -> bool:
    """Whether a helper can be of use to a framework: one that is named after engines is of use to these only."""
    named = _ENGINE_NAME.findall(helper.rpartition("/")[2])
    return not named or any(name in framework.replace("-", "") for name in named)


def can_serve(path: str, layout: Layout, tree: Tree) -> bool:
    """Whether a file can decide what is served: benchmark scripts and recipes, launchers with the package that they
    stand in, and the workflows that start launchers. Archives, translations and prose cannot."""
    if any(part in f"/{path}" for part in _ASIDE) or path.endswith((".md", "_zh.md")):
        return False
    if path.startswith(f"{layout.benchmarks}/"):
        return True
    package = layout.launchers.rpartition("/")[0] if layout.launchers else ""
    beside = package if package and f"{package}/" != layout.root else layout.launchers
    if beside and path.startswith(f"{beside}/"):
        return "/tests/" not in path and not path.rpartition("/")[2].startswith("test_")
    return path.startswith(_WORKFLOWS) and _starts_launchers(path, layout, tree)


def _starts_launchers(path: str, layout: Layout, tree: Tree) -> bool:
    if not layout.launchers:
        return False
    module = layout.launchers.removeprefix(layout.root).replace("/", ".")
    names = [rf"(?:bash|sh|source|\.)\s+\S*{re.escape(layout.launchers)}/launch"]
    names += [rf"python\S*\s.*{re.escape(module)}\."] if "." in module else []
    text = read_text(tree, path) or ""
    return any(re.search(name, text) for name in names)
