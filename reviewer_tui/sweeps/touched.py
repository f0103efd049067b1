"""Files of benchmarks and launchers that differ between two revisions, and the keys whose own files they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

import msgspec

from reviewer_tui.model.tree import Tree, blobs_below
from reviewer_tui.policy.layout import Layout
from reviewer_tui.sweeps.configs import Configs
from reviewer_tui.sweeps.master import Block

_ASIDE = ("/deprecated/", "/speedbench/")
_RECIPE_FOLDERS = ("/srt-slurm-recipes/", "/llm-d-recipes/")
_RECIPE_ENDING = ".yaml"
_FIELD = r"^ +{name}: *[\"']?([^\s\"'#]*)"
_RUNNER = re.compile(_FIELD.format(name="runner"), re.MULTILINE)
_PREFIX = re.compile(_FIELD.format(name="model-prefix"), re.MULTILINE)
_PRECISION = re.compile(_FIELD.format(name="precision"), re.MULTILINE)


class TouchedFile(msgspec.Struct, frozen=True):
    """A file whose content differs; a path is None on a side without the file. Moved layouts are paired."""

    old: str | None
    new: str | None

    @property
    def path(self) -> str:
        return self.new or self.old or ""


def touched_files(old: Tree, old_layout: Layout, new: Tree, new_layout: Layout) -> tuple[TouchedFile, ...]:
    """What differs below the benchmarks and launchers of two revisions, archived files left out."""
    found: list[TouchedFile] = []
    for before, after in (
        (old_layout.benchmarks, new_layout.benchmarks),
        (old_layout.launchers, new_layout.launchers),
    ):
        mine, yours = _files(old, before), _files(new, after)
        for name in sorted({name for name, _ in mine.items() ^ yours.items()}):
            if not any(part in name for part in _ASIDE):
                found.append(
                    TouchedFile(
                        f"{before}{name}" if name in mine else None, f"{after}{name}" if name in yours else None
                    )
                )
    return tuple(found)


def _files(tree: Tree, folder: str | None) -> dict[str, str]:
    """The object name of each file below a folder by what follows the folder in its path, which is the same in every
    layout."""
    start = len(folder or "")
    return {path[start:]: blob for path, blob in blobs_below(tree, folder).items()} if folder else {}


class LikelyKeys:
    """Which keys may have a file as their own script or recipe, told from their text without parsing them."""

    def __init__(self, configs: Configs) -> None:
        self._configs = configs

    def of(self, path: str) -> Iterator[str]:
        """The keys of a file; none for helpers and launchers, which belong to no key."""
        name = path.rpartition("/")[2]
        if any(folder in path for folder in _RECIPE_FOLDERS):
            yield from self._by_recipe.get(name, ())
            return
        parts = name.removesuffix(".sh").split("_")
        if name.endswith(".sh") and len(parts) >= 3 and "_utils/" not in path:
            yield from (key for key, runner in self._by_script.get((parts[0], parts[1]), ()) if parts[2] in runner)

    def _blocks(self) -> Iterator[Block]:
        for key in self._configs.keys:
            master = self._configs.master(key)
            if master is not None and (block := master.block(key)) is not None:
                yield block

    @cached_property
    def _by_script(self) -> dict[tuple[str, str], list[tuple[str, str]]]:
        """Model prefix and precision, with which a script's name begins, to keys and their runners."""
        found: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for block in self._blocks():
            start = (_first(_PREFIX, block.text), _first(_PRECISION, block.text))
            found.setdefault(start, []).append((block.key, _first(_RUNNER, block.text)))
        return found

    @cached_property
    def _by_recipe(self) -> dict[str, list[str]]:
        """The names of recipes to the keys that mention them."""
        found: dict[str, list[str]] = {}
        for block in self._blocks():
            for name in _recipe_names(block.text):
                found.setdefault(name, []).append(block.key)
        return found


def _recipe_names(text: str) -> dict[str, None]:
    """The names of the recipe files that a text mentions, each once. A search for names would try every word."""
    names: dict[str, None] = {}
    for before in text.split(_RECIPE_ENDING)[:-1]:
        start = len(before)
        while start and (before[start - 1].isalnum() or before[start - 1] in "_.-"):
            start -= 1
        names[before[start:] + _RECIPE_ENDING] = None
    return names


def _first(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[1] if match else ""
