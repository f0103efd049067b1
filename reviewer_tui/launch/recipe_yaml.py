"""Serve commands from YAML recipes: srt-slurm (both generations of its schema, variants included) and llm-d.

Source: srt-slurm's `docs/config-overrides.md` (base and variants: mappings are merged, lists and scalars replaced,
null deletes a key, every list of a `zip_override_…` holds one value a variant) and its `roles:` schema, which says
the same as `resources`, `backend.<role>_environment` and `backend.<engine>_config` in one block a role.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from reviewer_tui.launch.arguments import Arguments, Engine, canonical, canonical_mapping, version_of
from reviewer_tui.launch.environment import environment_of
from reviewer_tui.launch.serve_command import ClientRun, Role, ServeCommand, as_client
from reviewer_tui.launch.shell import evaluate
from reviewer_tui.launch.shell_words import Argument
from reviewer_tui.launch.text import Text
from reviewer_tui.model.finding import Problem
from reviewer_tui.model.tree import Tree
from reviewer_tui.sweeps.document import Document, read_document
from reviewer_tui.sweeps.rows import Row

_ENGINE_CONFIGS: Mapping[str, Engine] = {
    "sglang_config": "sglang",
    "vllm_config": "vllm",
    "trtllm_config": "trtllm",
    "atom_config": "atom",
}
_ROLES: Mapping[str, Role] = {"prefill": "prefill", "decode": "decode", "aggregated": "worker", "agg": "worker"}
_MODES = ("prefill", "decode", "aggregated")
_FIXED_CLIENTS = frozenset({"sa-bench", "sa_bench", "vllm-bench"})
_SELECTOR = re.compile(r"(\w+?)(?:\[(\d{1,4})\])?\Z")
_COMMAND_SCRIPT = re.compile(r"\A\s*(?:bash|sh)\s+(\S+\.sh)\s*\Z")
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+\Z")
_MAX_DEPTH = 30


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """One recipe with its variant chosen and merged.

    `settings` is the merged mapping (empty where it could not be read); `servers` are its roles, the router included;
    `clients` what measures; `container`, `model_path`, `precision` and `model` (the checkpoint's repository, where
    the recipe names it) are as written; `setup_scripts` run in the containers before the servers.
    """

    path: str
    selector: str
    settings: Mapping[str, Any]
    lines: Mapping[str, int]
    servers: tuple[ServeCommand, ...] = ()
    clients: tuple[ClientRun, ...] = ()
    container: str = ""
    model_path: str = ""
    precision: str = ""
    model: str | None = None
    setup_scripts: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def readable(self) -> bool:
        return bool(self.settings)

    def line_of(self, dotted: str) -> int | None:
        """The line that sets a dotted path (`backend.type`): the variant's, else the base's."""
        variant = self.selector.partition("[")[0]
        names = (f"{variant}.{dotted}", f"base.{dotted}", dotted)
        return next((self.lines[name] for name in names if name in self.lines), None)

    def setting(self, dotted: str) -> Any:
        """The value at a dotted path; None where there is none."""
        value: Any = self.settings
        for key in dotted.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        return value


@lru_cache(maxsize=256)
def _document(blob: str, text: str, path: str) -> Document:
    """A recipe's YAML; kept by the content's name, since every point of an arm reads the same one."""
    return read_document(text, path)


def read_recipe(
    tree: Tree,
    path: str,
    row: Row,
    selector: str = "",
    *,
    eval_only: bool | None = None,
    aliases: Mapping[str, str] | None = None,
) -> Recipe:
    """The recipe at `path` of the tree with the variant that `selector` names (`override_x`, `zip_override_x[1]`,
    `base`, or empty). `aliases` map folders of the containers to folders of the tree, for the client's script."""
    content = tree.read(path)
    blob = tree.blob(path)
    if content is None or blob is None:
        return _empty(path, selector, Problem(path=path, message=f"The recipe {path} is missing.", rule="missing"))
    text = content.decode("utf-8", "replace").removeprefix("\ufeff")
    document = _document(blob, text, path)
    if not document.readable or not isinstance(document.value, dict):
        fault = Problem(path=path, message=f"The recipe {path} is no YAML mapping.", rule="unreadable")
        return _empty(path, selector, *(document.problems or (fault,)))
    problems = list(document.problems)
    settings = _variant(document.value, path, selector, problems)
    recipe = Recipe(path=path, selector=selector, settings=settings, lines=document.lines)
    if "backend" in settings or "roles" in settings or "engine" in settings:
        return _srt_slurm(recipe, tree, row, problems, eval_only, aliases or {})
    return _llm_d(recipe, row, problems)


def _empty(path: str, selector: str, *problems: Problem) -> Recipe:
    return Recipe(path=path, selector=selector, settings={}, lines={}, problems=problems, sources=(path,))


# -- variants -----------------------------------------------------------------------------------------------------


def _variant(value: dict[str, Any], path: str, selector: str, problems: list[Problem]) -> Mapping[str, Any]:
    """The settings of one variant. A file with variants, of which none is chosen, is read as its base, with a note."""
    base = value.get("base")
    if not isinstance(base, dict):
        if selector not in ("", "base"):
            problems.append(_fault(path, f"The recipe has no variants, yet {selector} is asked for.", "variant"))
        return value
    if selector in ("", "base"):
        if not selector:
            problems.append(_fault(path, "The recipe has variants and none is chosen; its base is read.", "variant"))
        return base
    match = _SELECTOR.match(selector)
    name, index = (match.group(1), match.group(2)) if match else (selector, None)
    chosen = value.get(name)
    if not isinstance(chosen, dict):
        problems.append(_fault(path, f"The recipe has no variant {name}.", "variant"))
        return {}
    if name.startswith("zip_override_"):
        if index is None:
            problems.append(_fault(path, f"{name} stands for several variants and none is chosen.", "variant"))
        chosen = _slice(chosen, int(index or 0), path, problems)
    return _merged(base, chosen)


def _fault(path: str, message: str, rule: str) -> Problem:
    return Problem(path=path, message=message, rule=rule)


def _merged(base: Mapping[str, Any], over: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    result = dict(base)
    for key, value in over.items():
        below = result.get(key)
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(below, dict) and depth < _MAX_DEPTH:
            result[key] = _merged(below, value, depth + 1)
        else:
            result[key] = value
    return result


def _slice(over: Mapping[str, Any], index: int, path: str, problems: list[Problem]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in over.items():
        if isinstance(value, dict):
            result[key] = _slice(value, index, path, problems)
        elif isinstance(value, list):
            at = 0 if len(value) == 1 else index
            if at >= len(value):
                problems.append(
                    _fault(path, f"{key} has {len(value)} values and variant {index} is asked for.", "variant")
                )
                continue
            result[key] = value[at]
        else:
            result[key] = value
    return result


# -- srt-slurm ----------------------------------------------------------------------------------------------------


def _srt_slurm(
    recipe: Recipe,
    tree: Tree,
    row: Row,
    problems: list[Problem],
    eval_only: bool | None,
    aliases: Mapping[str, str],
) -> Recipe:
    settings = _with_roles_folded(recipe.settings)
    recipe = msgspec.structs.replace(recipe, settings=settings)
    model = settings.get("model")
    model = model if isinstance(model, dict) else {}
    container = str(model.get("container") or "")
    backend = settings.get("backend")
    backend = backend if isinstance(backend, dict) else {}
    repository = recipe.setting("identity.model.repo")
    path = str(model.get("path") or "")
    name = repository if isinstance(repository, str) else (path if _REPOSITORY.match(path) else None)
    servers = _servers(recipe, backend, str(row.get("image") or "") or container, name)
    if not servers:
        problems.append(_fault(recipe.path, "The recipe configures no worker.", "no-server"))
    clients, sources = _clients(recipe, tree, row, eval_only, aliases)
    return msgspec.structs.replace(
        recipe,
        servers=(*servers, *_router(recipe)),
        clients=clients,
        container=container,
        model_path=path,
        precision=str(model.get("precision") or ""),
        model=name,
        setup_scripts=_setup_scripts(settings),
        sources=(recipe.path, *sources),
        problems=tuple(problems),
    )


def _setup_scripts(settings: Mapping[str, Any]) -> tuple[str, ...]:
    value = settings.get("setup_script", settings.get("setup_scripts"))
    return tuple(str(item) for item in value) if isinstance(value, list) else ((str(value),) if value else ())


def _with_roles_folded(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The newer schema (`engine:`, `roles:`) in the older one's terms."""
    result = dict(settings)
    engine, roles = result.get("engine"), result.get("roles")
    backend = dict(result["backend"]) if isinstance(result.get("backend"), dict) else {}
    if isinstance(engine, str):
        backend.setdefault("type", engine)
    elif isinstance(engine, dict):
        backend = {**engine, **backend}
    kind = str(backend.get("type") or "sglang")
    for name, spec in roles.items() if isinstance(roles, dict) else ():
        if not isinstance(spec, dict) or name not in _ROLES:
            continue
        mode = "aggregated" if name == "agg" else name
        kind = str(spec.get("engine") or kind)
        backend.setdefault("type", kind)
        if isinstance(spec.get("env"), dict):
            backend[f"{mode}_environment"] = spec["env"]
        if "extra_args" in spec:
            backend[f"{mode}_extra_args"] = spec["extra_args"]
        config = dict(backend.get(f"{kind}_config") or {})
        config[mode] = spec.get("args") if isinstance(spec.get("args"), dict) else {}
        backend[f"{kind}_config"] = config
    result["backend"] = backend
    return result


def _servers(recipe: Recipe, backend: Mapping[str, Any], image: str, model: str | None) -> list[ServeCommand]:
    found: list[ServeCommand] = []
    for key, engine in _ENGINE_CONFIGS.items():
        config = backend.get(key)
        if not isinstance(config, dict):
            continue
        if backend.get("type") is not None and not key.startswith(str(backend["type"])):
            continue
        for mode in (*_MODES, "agg"):
            arguments = config.get(mode)
            if isinstance(arguments, dict):
                found.append(_server(recipe, backend, key, mode, arguments, engine, version_of(engine, image), model))
    return found


def _server(
    recipe: Recipe,
    backend: Mapping[str, Any],
    key: str,
    mode: str,
    arguments: Mapping[str, Any],
    engine: Engine,
    version: str | None,
    model: str | None,
) -> ServeCommand:
    place = f"backend.{key}.{mode}"
    lines = {str(name): _line(recipe, f"{place}.{name}", mode, str(name)) for name in arguments}
    read = canonical_mapping({str(name): value for name, value in arguments.items()}, engine, version, lines)
    extra = backend.get(f"{mode}_extra_args")
    if extra:
        read = _with_words(read, extra, engine, version, _extra_line(recipe, mode))
    env = {**_variables(recipe.settings.get("environment")), **_variables(backend.get(f"{_mode(mode)}_environment"))}
    return ServeCommand(
        role=_ROLES[mode],
        engine=engine,
        argv=tuple(read.words()),
        arguments=read,
        env=env,
        path=recipe.path,
        line=recipe.line_of(place) or recipe.line_of(f"roles.{mode}") or 1,
        version=version,
        model_name=model,
    )


def _mode(mode: str) -> str:
    return "aggregated" if mode == "agg" else mode


def _line(recipe: Recipe, dotted: str, mode: str, name: str) -> int:
    role = "agg" if mode == "aggregated" else mode
    return recipe.line_of(dotted) or recipe.line_of(f"roles.{role}.args.{name}") or 0


def _extra_line(recipe: Recipe, mode: str) -> int:
    role = "agg" if mode == "aggregated" else mode
    return recipe.line_of(f"backend.{mode}_extra_args") or recipe.line_of(f"roles.{role}.extra_args") or 0


def _with_words(read: Arguments, extra: Any, engine: Engine, version: str | None, line: int) -> Arguments:
    """Arguments that a recipe adds as words (a list, or one text)."""
    words = [str(item) for item in extra] if isinstance(extra, list) else str(extra).split()
    more = canonical([Argument(word, line) for word in words], engine, version)
    return msgspec.structs.replace(
        read,
        values={**read.values, **more.values},
        spellings={**read.spellings, **more.spellings},
        lines={**read.lines, **more.lines},
        unknown_flags=(*read.unknown_flags, *more.unknown_flags),
        positional=(*read.positional, *more.positional),
    )


def _variables(value: Any) -> dict[str, Text]:
    if not isinstance(value, dict):
        return {}
    return {str(name): _as_text(item) for name, item in value.items() if not isinstance(item, dict | list)}


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _router(recipe: Recipe) -> tuple[ServeCommand, ...]:
    frontend = recipe.settings.get("frontend")
    if not isinstance(frontend, dict):
        return ()
    arguments = frontend.get("args")
    arguments = {str(k): v for k, v in arguments.items()} if isinstance(arguments, dict) else {}
    lines = {name: recipe.line_of(f"frontend.args.{name}") or 0 for name in arguments}
    read = canonical_mapping(arguments, "other", None, lines)
    return (
        ServeCommand(
            role="router",
            engine="other",
            argv=(Argument(str(frontend.get("type") or "dynamo"), recipe.line_of("frontend.type") or 0), *read.words()),
            arguments=msgspec.structs.replace(read, unknown_flags=()),
            env=_variables(frontend.get("env")),
            path=recipe.path,
            line=recipe.line_of("frontend") or 1,
        ),
    )


def _clients(
    recipe: Recipe, tree: Tree, row: Row, eval_only: bool | None, aliases: Mapping[str, str]
) -> tuple[tuple[ClientRun, ...], tuple[str, ...]]:
    """What the recipe's `benchmark` runs, and the scripts read for it."""
    benchmark = recipe.settings.get("benchmark")
    if not isinstance(benchmark, dict):
        return (), ()
    kind = str(benchmark.get("type") or "")
    line = recipe.line_of("benchmark.use_chat_template") or recipe.line_of("benchmark.type") or 1
    template = benchmark.get("use_chat_template")
    if kind in _FIXED_CLIENTS:
        chat = template if isinstance(template, bool) else None
        reason = f"use_chat_template: {str(template).lower()}" if chat is not None else "use_chat_template is not set"
        run = ClientRun(kind="fixed", chat_template=chat, path=recipe.path, line=line, reason=reason)
        return (run,), ()
    command = benchmark.get("command")
    if kind != "custom" or not isinstance(command, str):
        return (), ()
    match = _COMMAND_SCRIPT.match(command)
    if match is None:
        return (), ()
    variables = _variables(benchmark.get("env"))
    environment = environment_of(row, eval_only=eval_only)
    if "KV_OFFLOADING" in variables:
        # A recipe that says this itself says all of it: the row's backend does not go with it.
        environment.pop("KV_OFFLOAD_BACKEND", None)
    environment |= variables
    return _script_clients(tree, match.group(1), environment, aliases)


def _script_clients(
    tree: Tree, script: str, environment: Mapping[str, Text], aliases: Mapping[str, str]
) -> tuple[tuple[ClientRun, ...], tuple[str, ...]]:
    for prefix, folder in aliases.items():
        if script.startswith(f"{prefix}/"):
            path = f"{folder}{script[len(prefix) :]}".lstrip("/")
            if tree.blob(path) is None:
                continue
            evaluation = evaluate(tree, path, environment, aliases=aliases)
            runs = tuple(run for command in evaluation.commands if (run := as_client(command)) is not None)
            return runs, evaluation.sources
    return (), ()


# -- llm-d --------------------------------------------------------------------------------------------------------


def _llm_d(recipe: Recipe, row: Row, problems: list[Problem]) -> Recipe:
    """Roles with `tp`, `enable-expert-parallel`, `extra-args` and `env`; the launcher's script adds the rest."""
    version = version_of("vllm", str(row.get("image") or ""))
    servers: list[ServeCommand] = []
    for role in ("prefill", "decode"):
        spec = recipe.settings.get(role)
        if isinstance(spec, dict):
            servers.append(_llm_d_server(recipe, role, spec, version))
    if not servers:
        problems.append(_fault(recipe.path, "The recipe is of no known kind: it configures no role.", "no-server"))
    return msgspec.structs.replace(recipe, servers=tuple(servers), problems=tuple(problems), sources=(recipe.path,))


def _llm_d_server(recipe: Recipe, role: str, spec: Mapping[str, Any], version: str | None) -> ServeCommand:
    line = recipe.line_of(f"{role}.extra-args") or recipe.line_of(role) or 1
    words: Sequence[str] = str(spec.get("extra-args") or "").split()
    if spec.get("enable-expert-parallel"):
        words = ["--enable-expert-parallel", *words]
    if spec.get("tp") is not None:
        words = ["--tensor-parallel-size", str(spec["tp"]), *words]
    arguments = canonical([Argument(word, line) for word in words], "vllm", version)
    return ServeCommand(
        role="prefill" if role == "prefill" else "decode",
        engine="vllm",
        argv=tuple(Argument(word, line) for word in words),
        arguments=arguments,
        env=_variables(spec.get("env")),
        path=recipe.path,
        line=line,
        version=version,
        notes=(_fault(recipe.path, "The serving script adds further arguments to those of the recipe.", "partial"),),
    )
