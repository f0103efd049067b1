"""Files of benchmarks and launchers that differ between two revisions, and the keys whose own files they are."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from reviewer_tui.model.tree import Tree
from reviewer_tui.policy.layout import Layout
from reviewer_tui.sweeps.configs import Configs

_ASIDE = ("/deprecated/", "/speedbench/")
_RECIPE_FOLDERS = ("/srt-slurm-recipes/", "/llm-d-recipes/")
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
    before, after = _files(old, old_layout), _files(new, new_layout)
    found: list[TouchedFile] = []
    for name in sorted(before.keys() | after.keys()):
        mine, yours = before.get(name), after.get(name)
        if (old.blob(mine) if mine else None) != (new.blob(yours) if yours else None):
            found.append(TouchedFile(mine, yours))
    return tuple(found)


def _files(tree: Tree, layout: Layout) -> dict[str, str]:
    """The files by a name that is the same in every layout."""
    found: dict[str, str] = {}
    for start, folder in (("benchmarks", layout.benchmarks), ("launchers", layout.launchers)):
        for path in tree.list(folder) if folder else ():
            if not any(part in path for part in _ASIDE):
                found[f"{start}{path[len(folder or '') :]}"] = path
    return found


def likely_keys(path: str, configs: Configs) -> Iterator[str]:
    """The keys that may have this file as their own script or recipe, told from their text without parsing them.

    Empty for helpers and launchers, which belong to no key.
    """
    name = path.rpartition("/")[2]
    recipe = any(folder in path for folder in _RECIPE_FOLDERS)
    parts = name.removesuffix(".sh").split("_")
    if not recipe and (not name.endswith(".sh") or len(parts) < 3 or "_utils/" in path):
        return
    for key in configs.keys:
        master = configs.master(key)
        block = master.block(key) if master else None
        if block is None:
            continue
        if recipe:
            if name in block.text:
                yield key
        elif (
            _first(_PREFIX, block.text) == parts[0]
            and _first(_PRECISION, block.text) == parts[1]
            and parts[2] in _first(_RUNNER, block.text)
        ):
            yield key


def _first(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[1] if match else ""
