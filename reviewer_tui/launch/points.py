"""From a row of the generator and the files behind it to what serves and what measures it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import msgspec

from reviewer_tui.launch.environment import environment_of
from reviewer_tui.launch.launcher import Launcher, LauncherEffects
from reviewer_tui.launch.recipe_yaml import Recipe, read_recipe
from reviewer_tui.launch.remembered import Remembered
from reviewer_tui.launch.serve_command import (
    ClientRun,
    Role,
    ScriptCommands,
    ServeCommand,
    script_commands,
)
from reviewer_tui.launch.shell_words import Assumption
from reviewer_tui.launch.shell_world import ROOT
from reviewer_tui.launch.text import Text
from reviewer_tui.model.finding import Problem
from reviewer_tui.model.tree import Tree
from reviewer_tui.policy.layout import Layout
from reviewer_tui.sweeps.resolve import ResolvedFile
from reviewer_tui.sweeps.rows import Row, canonical, is_multinode

_CONTAINER_ROOTS = ("/infmax-workspace", "/ix")
"""Where containers of srt-slurm and of SGLang's editable images see the repository."""

_INERT = frozenset({"MODEL", "MODEL_PATH", "PORT", "PYTHONPYCACHEPREFIX", "HF_HUB_CACHE"})
"""Variables of launchers that do not change what is served: where the checkpoint lies (scripts fall back to its name,
which is what is compared), where the server listens, and where caches are."""

_ROOT_FOLDERS = ("benchmarks", "configs", "infx", "runners", "utils")


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """What a row starts. `servers` hold workers and routers; `script` or `recipe` is what configures them; `sources`
    are the repository's files that were read; `missing` names files that the repository does not hold (a recipe of
    another repository); `injected` is the acceptance length that the launcher writes into the recipe.
    """

    servers: tuple[ServeCommand, ...] = ()
    clients: tuple[ClientRun, ...] = ()
    script: str | None = None
    recipe: Recipe | None = None
    sources: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    injected: float | None = None
    assumptions: tuple[Assumption, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def workers(self) -> tuple[ServeCommand, ...]:
        """The servers that run a model."""
        return tuple(server for server in self.servers if server.role != "router")

    def of(self, role: Role) -> tuple[ServeCommand, ...]:
        return tuple(server for server in self.servers if server.role == role)

    @property
    def generating(self) -> tuple[ServeCommand, ...]:
        """The workers whose speculation is measured: the decode workers where roles are apart, else all."""
        return self.of("decode") or self.workers

    @property
    def known(self) -> bool:
        """Whether there is a worker, and every argument of every worker is known."""
        return bool(self.workers) and not self.missing and all(worker.known for worker in self.workers)

    @property
    def unknowns(self) -> dict[str, str]:
        """What is not known of the workers, and why: flags and variables; under the empty name what is in doubt."""
        found: dict[str, str] = {}
        for worker in self.workers:
            found |= worker.unknowns
        if self.missing:
            found[""] = f"not in this repository: {', '.join(self.missing)}"
        elif not self.workers:
            reasons = [problem.message for problem in self.problems if problem.rule in ("stops", "limit", "unreadable")]
            found[""] = " ".join(reasons) or "no serve command was found"
        return found


def launch_of(
    tree: Tree,
    layout: Layout,
    row: Row,
    files: Sequence[ResolvedFile],
    *,
    eval_only: bool | None = None,
    extra: Mapping[str, Text] | None = None,
) -> Launch:
    """What a row starts at a revision. `files` are those that `Resolver.files` finds for it; `eval_only` asks for its
    evaluation instead of its benchmark (or the other way round), whatever the row says. `extra` variables win over the
    row's in scripts: one left unknown there makes a launch that holds whatever its value.

    Launches are remembered: most pull requests leave most files behind a row as they are.
    """
    given = dict(extra or {})
    question = canonical([layout, row, files, eval_only, given])
    return _remembered.get(tree, question, lambda seen: _worked_out(seen, layout, row, files, eval_only, given))


_remembered: Remembered[Launch] = Remembered(512)


def _worked_out(
    tree: Tree,
    layout: Layout,
    row: Row,
    files: Sequence[ResolvedFile],
    eval_only: bool | None,
    extra: Mapping[str, Text],
) -> Launch:
    launchers = [item.path for item in files if item.role == "launcher" and item.path is not None]
    only = bool(row.get("eval-only")) if eval_only is None else eval_only
    aliases = container_folders(layout)
    launcher = Launcher(tree, launchers[0], aliases) if launchers else None
    recipe = _recipe_file(files, only)
    if recipe is not None:
        return _from_recipe(tree, row, recipe, launcher, only, aliases)
    scripts = [item for item in files if item.role == "script"]
    path = next((item.path for item in scripts if item.path is not None), None)
    if path is None:
        return Launch(missing=tuple(item.wanted for item in scripts) or ("the benchmark script",))
    if is_multinode(row):
        return _from_job(row, path, launcher, only, extra)
    external = external_names(tree, launchers)
    found = script_commands(tree, path, row, eval_only=only, external=external, aliases=aliases, extra=extra)
    return _from_script(found, path)


def container_folders(layout: Layout) -> dict[str, str]:
    """Folders of containers that are folders of the repository."""
    root = layout.root.rstrip("/")
    folders = dict.fromkeys(_CONTAINER_ROOTS, root)
    if root:
        folders |= {f"{ROOT}/{name}": f"{root}/{name}" for name in _ROOT_FOLDERS}
    return folders


def _recipe_file(files: Sequence[ResolvedFile], eval_only: bool) -> ResolvedFile | None:
    """The recipe of the row: for an evaluation the one that is meant for it, if there is one."""
    roles = ("eval_recipe", "recipe") if eval_only else ("recipe",)
    found = (item for role in roles for item in files if item.role == role)
    return next(found, None)


def _from_script(found: ScriptCommands, path: str) -> Launch:
    return Launch(
        servers=found.servers,
        clients=found.clients,
        script=path,
        sources=found.evaluation.sources,
        assumptions=found.evaluation.assumptions,
        problems=found.problems,
    )


def _from_recipe(
    tree: Tree,
    row: Row,
    file: ResolvedFile,
    launcher: Launcher | None,
    eval_only: bool,
    aliases: Mapping[str, str],
) -> Launch:
    if file.path is None:
        message = f"The recipe {file.wanted} is not in this repository, so what it serves cannot be read."
        fault = Problem(path=file.wanted, message=message, rule="external")
        return Launch(missing=(file.wanted,), problems=(fault,))
    recipe = read_recipe(tree, file.path, row, file.selector, eval_only=eval_only, aliases=aliases)
    effects = LauncherEffects()
    if launcher is not None and (eval_only or launcher.may_inject(row)):
        effects = launcher.effects(row, eval_only)
    servers = tuple(effects.applied(server) for server in recipe.servers)
    return Launch(
        servers=servers,
        clients=recipe.clients,
        recipe=recipe,
        sources=recipe.sources,
        injected=effects.acceptance_length,
        problems=(*recipe.problems, *effects.problems),
    )


def _from_job(row: Row, path: str, launcher: Launcher | None, eval_only: bool, extra: Mapping[str, Text]) -> Launch:
    """A script that submits a job of several nodes: the launcher is followed down to the first and the last node."""
    if launcher is None:
        fault = Problem(path=path, message="The launcher that starts this script is not known.", rule="missing")
        return Launch(script=path, problems=(fault,))
    first, last = (launcher.node(row, eval_only, rank, extra) for rank in _ranks(row))
    servers = _distinct_servers((*first.servers, *last.servers))
    problems = first.problems
    if not servers:
        text = "No serve command was found behind this script on the first and the last node."
        problems = (*problems, Problem(path=path, message=text, rule="no-server"))
    return Launch(
        servers=servers,
        clients=first.clients,
        script=path,
        sources=tuple(dict.fromkeys((*first.evaluation.sources, *last.evaluation.sources))),
        assumptions=first.evaluation.assumptions,
        problems=problems,
    )


def _distinct_servers(servers: Iterable[ServeCommand]) -> tuple[ServeCommand, ...]:
    """Servers without those that stand at the same place of the same script as one before."""
    found: dict[tuple[str, int, str], ServeCommand] = {}
    for server in servers:
        found.setdefault((server.path, server.line, server.role), server)
    return tuple(found.values())


def _ranks(row: Row) -> tuple[int, int]:
    """The first node of a job, and the last, which decodes where roles are apart."""
    environment = environment_of(row)
    count = 0
    for role in ("prefill", "decode"):
        worker = row.get(role)
        workers = worker.get("num-worker", 1) if isinstance(worker, Mapping) else 0
        nodes = environment.get(f"{role.upper()}_NODES")
        count += int(nodes) if isinstance(nodes, str) and nodes.isdigit() else int(workers)
    return 0, max(count - 1, 1)


def external_names(tree: Tree, launchers: Sequence[str]) -> frozenset[str]:
    """Variables that launchers assign, and that a script may therefore find set to something not known here."""
    names: set[str] = set()
    for path in launchers:
        blob = tree.blob(path)
        content = tree.read(path) if blob is not None else None
        if blob is not None and content is not None:
            names |= _assigned(blob, content.decode("utf-8", "replace"))
    return frozenset(names - _INERT)


_ASSIGNED = re.compile(r"(?:^|[\s;\"'])([A-Z][A-Z0-9_]{2,})=", re.MULTILINE)


@lru_cache(maxsize=128)
def _assigned(blob: str, text: str) -> frozenset[str]:
    return frozenset(_ASSIGNED.findall(text))
