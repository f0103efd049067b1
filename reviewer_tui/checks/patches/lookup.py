"""Where the files are that scripts run, source or choose by a name: one revision, looked through once."""

from __future__ import annotations

import re
from functools import cached_property

from reviewer_tui.checks.patches.definitions import defines, sets
from reviewer_tui.checks.patches.files import read_file
from reviewer_tui.checks.patches.reading import Reference
from reviewer_tui.checks.patches.rules import EVAL_CLIENT
from reviewer_tui.model.tree import Tree, read_text
from reviewer_tui.policy.layout import Layout

ASIDE = ("/deprecated/", "/speedbench/")
"""Folders that hold no serving script, though serving folders hold them."""

_SHELL = (".sh", ".slurm", ".bash")


class Lookup:
    """The files of one revision by what names them."""

    def __init__(self, tree: Tree, layout: Layout) -> None:
        self._tree = tree
        self._layout = layout
        self._names: dict[str, dict[str, list[str]]] = {}

    @cached_property
    def _folders(self) -> tuple[str, ...]:
        """The folders of scripts and of launchers."""
        return tuple(folder for folder in (self._layout.benchmarks, self._layout.launchers) if folder)

    def resolve(self, origin: str, reference: Reference) -> str | None:
        """The file of the repository that a reference means: the one whose path ends alike, the nearest of several."""
        name = re.split(r"[})\"']", reference.name)[-1].strip("\"' ")
        parts = [part for part in name.split("/") if part not in ("", ".", "..")]
        if not parts:
            return None
        for folder in (self._layout.benchmarks, self._layout.launchers or self._layout.benchmarks, ""):
            named = self._by_name(folder).get(parts[-1], ())
            # A container sees the files in folders of its own, so the end of the path must do.
            for length in range(len(parts), 0, -1):
                wanted = "/".join(parts[-length:])
                found = [path for path in named if path == wanted or path.endswith(f"/{wanted}")]
                if found and (length == len(parts) or name.startswith("/") or len(named) == 1):
                    return max(found, key=lambda path: _common(path, origin))
        return None

    def _by_name(self, folder: str) -> dict[str, list[str]]:
        """The files below a folder by their last name."""
        if folder not in self._names:
            names = self._names.setdefault(folder, {})
            for path in self._tree.list(folder):
                names.setdefault(path.rpartition("/")[2], []).append(path)
        return self._names[folder]

    def chosen(self, name: str) -> bool:
        """Whether a name with variables in it fits files of the repository: what serves a submitted key is resolved
        and read with the key."""
        last = re.split(r"/(?![^{]*\})", name.rstrip("\"'"))[-1]
        literal = [re.escape(part) for part in re.split(r"\$\{[^{}]*\}|\$\(.*?\)", last)]
        if "$" not in last or not any(re.search(r"\w", part.removesuffix(r"\.sh")) for part in literal):
            return False
        pattern = re.compile(".*".join(literal) + r"\Z")
        return any(pattern.match(known) for known in self._by_name(""))

    def script_with(self, origin: str, name: str, how: str) -> str | None:
        """The script that defines a function or sets a variable: one that the origin sources, or the nearest."""
        has = sets if how == "variable" else defines
        text = read_text(self._tree, origin) or ""
        scripts = [reference for reference in read_file(origin, text).references if reference.how == "script"]
        for target in filter(None, (self.resolve(origin, reference) for reference in scripts)):
            if target.endswith(_SHELL) and has(read_text(self._tree, target) or "", name):
                return target
        paths = [path for folder in self._folders for path in self._tree.list(folder) if path.endswith(_SHELL)]
        found = [path for path in paths if path != origin and has(read_text(self._tree, path) or "", name)]
        return max(found, key=lambda path: _common(path, origin), default=None)

    def is_run(self, path: str) -> bool:
        """Whether a serving script names this program, so that it may run it by a line that did not change."""
        name = path.rpartition("/")[2]
        program = path.endswith((*_SHELL, ".py")) or "." not in name
        if any(name in self._by_name(folder) for folder in self._folders):
            return False  # that one is meant
        if not program or EVAL_CLIENT.search(path) or re.search(r"(?:^|/)(?:tests?|docs)/|(?:^|/)test_", path):
            return False
        named = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])")
        return any(name in text and named.search(text) for text in self._serving_texts)

    @cached_property
    def _serving_texts(self) -> tuple[str, ...]:
        """Every script and launcher of the head."""
        paths = (
            path for folder in self._folders for path in self._tree.list(folder) if path.endswith((*_SHELL, ".py"))
        )
        return tuple(read_text(self._tree, path) or "" for path in paths if not any(part in path for part in ASIDE))


def _common(one: str, other: str) -> int:
    """How many leading folders two paths share."""
    pairs = zip(one.split("/"), other.split("/"), strict=False)
    return next((count for count, (mine, yours) in enumerate(pairs) if mine != yours), 0)
