"""From a row to the files that decide what it runs: launcher, script, recipe, and the helpers these name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Literal

import msgspec

from reviewer_tui.model.config import Entry
from reviewer_tui.model.tree import Tree, read_text
from reviewer_tui.policy.layout import Layout
from reviewer_tui.sweeps.launchers import Launcher, launcher_name, read_launcher
from reviewer_tui.sweeps.rows import Row, canonical, is_agentic, is_multinode
from reviewer_tui.sweeps.runners import CLUSTER_PREFIX, Runners

Role = Literal["launcher", "script", "recipe", "eval_recipe", "helper"]

MAX_HELPERS = 60
MAX_SCANNED = 200_000
MAX_LINE = 2_000
MAX_FOLDERS = 200
MAX_REMEMBERED = 4_096

_RECIPES = "srt-slurm-recipes"
_OTHER_RECIPES = "llm-d-recipes"
_NAMED_FILE = re.compile(r"(?<![\w-])[\w-]++\.(?:sh|slurm|py|patch|diff|jinja|j2|yaml|yml|json)\b")
_FOLDERS_BEFORE = re.compile(r"[\w./-]*$")
_ASIDE = ("/deprecated/", "/speedbench/")
# What decides the files of a row, next to the start of its name and the settings of its workers.
_DECIDING_IN_ENTRY = ("spec-decoding", "scenario-type", "srt-recipe-dir", "srt-recipe", "eval-srt-recipe")
_DECIDING = ("runner", "model-prefix", "precision", "framework", *_DECIDING_IN_ENTRY)
_SETTINGS = {"CONFIG_FILE": "recipe", "EVAL_CONFIG_FILE": "eval_recipe"}


class ResolvedFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file behind a row. `path` is None where the repository does not hold it (then it comes from elsewhere, or is
    missing); `wanted` is the name as it is written, `selector` what follows its colon (`override_x`)."""

    role: Role
    path: str | None
    wanted: str = ""
    selector: str = ""


class Resolver:
    """Finds the files of rows at one revision."""

    def __init__(self, tree: Tree, layout: Layout, runners: Runners) -> None:
        self._tree = tree
        self._layout = layout
        self._runners = runners
        self._launchers: dict[str, Launcher | None] = {}
        self._by_label: dict[str, tuple[Launcher, ...]] = {}
        self._helpers: dict[str, tuple[str, ...]] = {}
        self._files: dict[bytes, tuple[ResolvedFile, ...]] = {}
        self._of_row: dict[int, tuple[Row, Entry | None, tuple[ResolvedFile, ...]]] = {}
        self._folders: dict[str, list[str]] = {}

    def files(self, row: Row, entry: Entry | None = None) -> tuple[ResolvedFile, ...]:
        """The launchers, scripts and recipes of a row and their helpers, each once.

        A label can stand for machines with different launchers, so there can be several launchers and scripts.
        `entry` is needed for the folder of recipes that an entry names (`srt-recipe-dir`).
        """
        known = self._of_row.get(id(row))
        if known is None or known[0] is not row or known[1] is not entry:
            known = self._of_row[id(row)] = row, entry, self._of_its_kind(row, entry)
        return known[2]

    def _of_its_kind(self, row: Row, entry: Entry | None) -> tuple[ResolvedFile, ...]:
        """The files of a row, worked out once for all rows that cannot have others."""
        same = canonical(
            [
                [row.get(name) for name in _DECIDING],
                str(row.get("exp-name", "")).partition("_")[0],
                [_settings(row.get(role)) for role in ("prefill", "decode")],
                entry.fields.get("srt-recipe-dir") if entry is not None else None,
            ]
        )
        if same not in self._files:
            self._files[same] = self._resolved(row, entry)
        return self._files[same]

    def paths(self, entry: Entry, rows: Iterable[Row]) -> set[str]:
        """The paths of all files behind the rows of an entry. Rows of one arm share their workers and their files."""
        arms: dict[tuple[Any, ...], Row] = {}
        for row in rows:
            workers = (id(row.get("prefill")), id(row.get("decode")))
            arms.setdefault((*workers, *(str(row.get(name)) for name in _DECIDING_IN_ENTRY)), row)
        return {file.path for row in arms.values() for file in self.files(row, entry) if file.path is not None}

    def _resolved(self, row: Row, entry: Entry | None) -> tuple[ResolvedFile, ...]:
        found: dict[tuple[Role, str | None, str], ResolvedFile] = {}

        def add(items: Iterable[ResolvedFile]) -> None:
            for item in items:
                found.setdefault((item.role, item.path, item.wanted), item)

        launchers = self.launchers(str(row.get("runner", "")))
        add(ResolvedFile(role="launcher", path=launcher.path) for launcher in launchers)
        recipes = [*self._recipes(row, launchers), *self._named_recipes(row, entry)]
        add(recipes)
        if not any(recipe.role == "recipe" for recipe in recipes) or not is_multinode(row):
            add(self._scripts(row, launchers))
        for item in tuple(found.values()):
            if item.path is not None:
                add(ResolvedFile(role="helper", path=path) for path in self.helpers(item.path))
        main = {item.path for item in found.values() if item.role != "helper"}
        return tuple(item for item in found.values() if item.role != "helper" or item.path not in main)

    def script(self, row: Row) -> str | None:
        """The benchmark script of a row: the first one that exists; None where there is none."""
        scripts = self._scripts(row, self.launchers(str(row.get("runner", ""))))
        return next((item.path for item in scripts if item.path is not None), None)

    def launchers(self, label: str) -> tuple[Launcher, ...]:
        """The launchers of a runner label's machines; of an undefined label those that its text begins like."""
        if label not in self._by_label:
            self._by_label[label] = self._label_launchers(label)
        return self._by_label[label]

    def _label_launchers(self, label: str) -> tuple[Launcher, ...]:
        machines = self._runners.machines(label) or (label.removeprefix(CLUSTER_PREFIX),)
        found = dict.fromkeys(name for machine in machines for name in self._launcher_names(launcher_name(machine)))
        return tuple(launcher for name in found if (launcher := self._launcher(name)) is not None)

    def _launcher_names(self, wanted: str) -> list[str]:
        """The launcher of this name. A machine whose launcher is a link has that of the longest name it begins with; a
        label that is no machine has those whose names begin with it."""
        if self._launcher(wanted) is not None:
            return [wanted]
        stem = wanted.removesuffix(".sh")
        names = [path.rpartition("/")[2] for path in self._launcher_paths if path.endswith(".sh")]
        shorter = [name for name in names if stem.startswith(f"{name.removesuffix('.sh')}-")]
        longer = [name for name in names if name.startswith(f"{stem}-")]
        return [max(shorter, key=len)] if shorter else longer

    @cached_property
    def _launcher_paths(self) -> tuple[str, ...]:
        folder = self._layout.launchers
        return self._tree.list(folder) if folder else ()

    @cached_property
    def _benchmark_files(self) -> frozenset[str]:
        return frozenset(path for path in self._tree.list(self._layout.benchmarks))

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in (*sorted(self._benchmark_files), *self._launcher_paths):
            if not any(part in path for part in _ASIDE):
                found.setdefault(path.rpartition("/")[2], []).append(path)
        return found

    def _launcher(self, name: str) -> Launcher | None:
        if name not in self._launchers:
            folder = self._layout.launchers
            text = read_text(self._tree, f"{folder}/{name}") if folder else None
            self._launchers[name] = read_launcher(f"{folder}/{name}", text) if text is not None else None
        return self._launchers[name]

    def _scripts(self, row: Row, launchers: Sequence[Launcher]) -> list[ResolvedFile]:
        """Per launcher the first script that exists; without any, what the launchers would look for first."""
        found: dict[str, None] = {}
        missing: dict[str, None] = {}
        for launcher in launchers:
            candidates = self._preferred(
                [path for path in self._candidates(launcher, row) if self._fits(path, row)], row
            )
            existing = next((path for path in candidates if path in self._benchmark_files), None)
            if existing is not None:
                found[existing] = None
            elif candidates:
                missing[candidates[0]] = None
        if not launchers:
            guess = next((path for path in self._usual_scripts(row) if path in self._benchmark_files), None)
            found.update({guess: None} if guess else {})
        if found:
            return [ResolvedFile(role="script", path=path, wanted=path) for path in found]
        return [ResolvedFile(role="script", path=None, wanted=path) for path in missing]

    @staticmethod
    def _preferred(candidates: list[str], row: Row) -> list[str]:
        """A launcher that knows scripts for speculation starts no other for a speculative row."""
        speculative = [path for path in candidates if path.endswith("_mtp.sh")]
        return speculative if speculative and row.get("spec-decoding") == "mtp" else candidates

    def _candidates(self, launcher: Launcher, row: Row) -> list[str]:
        root = self._layout.root
        paths: dict[str, None] = {}
        for subfolder in ("agentic/",) if is_agentic(row) else ("fixed_seq_len/", ""):
            for path in launcher.scripts(self._environment(row, subfolder)):
                paths[f"{root}{path}" if not path.startswith(root) else path] = None
        return list(paths)

    @staticmethod
    def _environment(row: Row, subfolder: str) -> dict[str, str]:
        # Launchers use of the experiment's name only what is before its first underscore.
        prefix = str(row.get("exp-name", "")).partition("_")[0]
        return {
            "EXP_NAME": prefix,
            "MODEL_CODE": prefix,
            "MODEL_PREFIX": str(row.get("model-prefix", "")),
            "PRECISION": str(row.get("precision", "")),
            "FRAMEWORK": str(row.get("framework", "")),
            "SPEC_DECODING": str(row.get("spec-decoding", "none")),
            "SPEC_SUFFIX": "_mtp" if row.get("spec-decoding") == "mtp" else "",
            "SCENARIO_SUBDIR": subfolder,
            "GITHUB_WORKSPACE": "",
        }

    def _fits(self, path: str, row: Row) -> bool:
        """Whether a script can be that of the row: of its kind of node and scenario."""
        inside = path.removeprefix(f"{self._layout.benchmarks}/")
        if inside == path or any(part in path for part in _ASIDE):
            return False
        if inside.startswith("multi_node/") != is_multinode(row) and inside.startswith(("multi_node/", "single_node/")):
            return False
        return ("/agentic/" in path) == is_agentic(row) or (not is_agentic(row) and "/" not in inside)

    def _usual_scripts(self, row: Row) -> list[str]:
        """What launchers usually look for, for a label without any launcher: by the label's SKU."""
        sku = str(row.get("runner", "")).removeprefix(CLUSTER_PREFIX).partition("-")[0]
        prefix = str(row.get("exp-name", "")).partition("_")[0]
        speculation = "_mtp" if row.get("spec-decoding") == "mtp" else ""
        framework = str(row.get("framework", ""))
        folders = ("agentic/",) if is_agentic(row) else ("fixed_seq_len/", "")
        stem = f"{prefix}_{row.get('precision')}_{sku}"
        return [
            f"{self._layout.benchmarks}/single_node/{folder}{stem}{engine}{speculation}.sh"
            for folder in folders
            for engine in (f"_{framework}", "")
        ]

    def _recipes(self, row: Row, launchers: Sequence[Launcher]) -> Iterable[ResolvedFile]:
        """The recipes that workers name in their additional settings."""
        seen: set[tuple[str, str]] = set()
        for worker in (row.get("prefill"), row.get("decode")):
            for setting in _settings(worker):
                name, equals, value = str(setting).partition("=")
                if not equals or name not in _SETTINGS or (name, value) in seen:
                    continue
                seen.add((name, value))
                wanted, _, selector = value.partition(":")
                role: Role = "recipe" if name == "CONFIG_FILE" else "eval_recipe"
                path = self._recipe_path(wanted, launchers)
                yield ResolvedFile(role=role, path=path, wanted=wanted, selector=selector)

    def _recipe_path(self, wanted: str, launchers: Sequence[Launcher]) -> str | None:
        base = f"{self._layout.benchmarks}/multi_node"
        inner = wanted.removeprefix("recipes/")
        candidates = [
            *self._copied(wanted, launchers),
            f"{base}/{_RECIPES}/{inner}",
            f"{base}/{_OTHER_RECIPES}/{inner}",
            f"{self._layout.root}{wanted}",
            wanted,
        ]
        return next((path for path in candidates if path in self._benchmark_files), None)

    def _copied(self, wanted: str, launchers: Sequence[Launcher]) -> Iterable[str]:
        for launcher in launchers:
            for source, destination in launcher.copies:
                if wanted.startswith(f"{destination}/"):
                    yield f"{self._layout.root}{source}{wanted[len(destination) :]}"

    def _named_recipes(self, row: Row, entry: Entry | None) -> Iterable[ResolvedFile]:
        """Recipes that rows name themselves, in the folder that the entry names (`srt-recipe`, autumn 2026)."""
        fields: dict[str, Any] = entry.fields if entry is not None else {}
        folder = str(row.get("srt-recipe-dir") or fields.get("srt-recipe-dir") or "").strip("/")
        node = "multi_node" if is_multinode(row) else "single_node"
        for name, role in (("srt-recipe", "recipe"), ("eval-srt-recipe", "eval_recipe")):
            value = row.get(name)
            if not isinstance(value, str) or not value:
                continue
            wanted, _, selector = value.partition(":")
            inside = f"{folder}/{wanted}" if folder else wanted
            path = f"{self._layout.benchmarks}/{node}/{_RECIPES}/{inside}"
            known = path if path in self._benchmark_files else None
            yield ResolvedFile(
                role="recipe" if role == "recipe" else "eval_recipe", path=known, wanted=inside, selector=selector
            )

    def helpers(self, path: str) -> tuple[str, ...]:
        """The files of the repository that a script, recipe or launcher names, and those that these name."""
        if path not in self._helpers:
            self._helpers[path] = ()
            self._helpers[path] = self._reachable(path)
        return self._helpers[path]

    def _reachable(self, path: str) -> tuple[str, ...]:
        found: dict[str, None] = {}
        waiting = [path]
        # A launcher names the files of all keys; those that start a row are found by the rules above.
        folder = f"{self._layout.launchers}/" if path in self._launcher_paths else ""
        while waiting and len(found) < MAX_HELPERS:
            for named in self._names(waiting.pop(0)):
                for helper in (named, *self._siblings(named)):
                    if helper != path and helper not in found and helper.startswith(folder):
                        found[helper] = None
                        waiting.append(helper)
        return tuple(found)

    def _siblings(self, path: str) -> list[str]:
        """The other files of a folder of helpers (`amd_utils`): these call each other by names they compose."""
        folder = path.rpartition("/")[0]
        if not folder.endswith("_utils"):
            return []
        if folder not in self._folders:
            self._folders[folder] = [other for other in sorted(self._benchmark_files) if other.startswith(f"{folder}/")]
        return self._folders[folder]

    def _named_in(self, path: str) -> tuple[str, ...]:
        blob = self._tree.blob(path) or ""
        names = _named.get(blob)
        if names is None:
            if len(_named) >= MAX_REMEMBERED:
                _named.clear()
            names = _named[blob] = _named_files(read_text(self._tree, path) or "")
        return names

    def _names(self, path: str) -> list[str]:
        found: dict[str, None] = {}
        for clean in self._named_in(path):
            known = [
                candidate
                for candidate in self._by_name.get(clean.rpartition("/")[2], ())
                if candidate == clean or candidate.endswith(f"/{clean}")
            ]
            if len(known) > 1:
                known = [max(known, key=lambda candidate: _common(candidate, path))]
            found.update(dict.fromkeys(known))
        return list(found)


_named: dict[str, tuple[str, ...]] = {}
"""By blob, which files a text names: most files are the same in many revisions."""


def _named_files(text: str) -> tuple[str, ...]:
    """The names of files in a text, comments left out, with the folders that stand before them."""
    found: dict[str, None] = {}
    for line in text[:MAX_SCANNED].split("\n"):
        if "." not in line or line.lstrip().startswith("#"):
            continue
        for match in _NAMED_FILE.finditer(line[:MAX_LINE]):
            folders = _FOLDERS_BEFORE.search(line[max(0, match.start() - MAX_FOLDERS) : match.start()])
            named = f"{folders[0] if folders else ''}{match[0]}"
            found[named.rpartition("../")[2].lstrip("./")] = None
    return tuple(found)


def _settings(worker: Any) -> list[Any]:
    settings = worker.get("additional-settings") if isinstance(worker, dict) else None
    return settings if isinstance(settings, list) else []


def _common(one: str, other: str) -> int:
    """How many leading folders two paths share."""
    count = 0
    for mine, yours in zip(one.split("/"), other.split("/"), strict=False):
        if mine != yours:
            break
        count += 1
    return count
