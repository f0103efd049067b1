"""Write it for me: the upstream change that would document a submitted variant, ready for a pull request there.

For vLLM a fragment of the recipe document, for SGLang a cell of the page's config or a fenced command. What is written
is read back and compared, so that the change is known to cover what it says. Arguments that the policy does not want
upstream (sweeps, plumbing) are left out.
"""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
import yaml

from reviewer_tui.model.tree import Tree, git_blob_id
from reviewer_tui.recipes import cells, sglang, vllm
from reviewer_tui.recipes.arguments import concept_of, variable_class, words_of
from reviewer_tui.recipes.arm import Argument, Reading, RoleName
from reviewer_tui.recipes.cell_config import CellConfig
from reviewer_tui.recipes.compare import Comparison, Outcome, PolicyName, compare, policy
from reviewer_tui.recipes.equivalence import hardware_names, inert_variable, same_value
from reviewer_tui.recipes.javascript import exported_members
from reviewer_tui.recipes.links import SGLANG, VLLM_RECIPES
from reviewer_tui.recipes.mdx import imports
from reviewer_tui.recipes.prose import precision_named
from reviewer_tui.recipes.reading import UnreadableError
from reviewer_tui.recipes.submitted import SubmittedRole, Variant
from reviewer_tui.recipes.vllm_recipe import (
    Catalog,
    Data,
    at,
    generation,
    load_catalog,
    load_recipe,
    table,
)
from reviewer_tui.recipes.vllm_recipe import (
    words_of as listed,
)

MAX_ROUNDS = 4
MAX_PLACES = 2_000


class UpstreamChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change to propose.

    `kind` says what `text` is: a fragment to merge into the document at `path`, a cell for its `cells`, or Markdown
    for the page. `covers` tells whether a page with the change covers the variant, as read back; `remarks` are for the
    author of the pull request.
    """

    repository: str
    path: str
    kind: Literal["yaml_fragment", "cell", "command"]
    title: str
    text: str
    covers: bool
    remarks: tuple[str, ...] = ()


def wanted_words(variant: Variant, role: SubmittedRole, name: PolicyName) -> list[tuple[str, ...]]:
    """Our arguments that the policy wants to see upstream, one tuple a flag, without the checkpoint and what the engine
    does anyway."""
    classes = policy(name).classes
    kept = {
        name: argument
        for name, argument in role.args.items()
        if name != "model" and classes[concept_of(name).cls].missing != "inform" and not _is_default(name, argument)
    }
    flags = {argument.flag for argument in kept.values()}
    whole = {name: argument for name, argument in role.args.items() if argument.flag in flags and name != "model"}
    return list(words_of(variant.engine, whole))


def _is_default(name: str, argument: Argument) -> bool:
    default = concept_of(name).default
    return default is not None and same_value(argument.value, default)


def wanted_variables(variant: Variant, role: SubmittedRole, name: PolicyName) -> dict[str, str]:
    """Our environment variables that the policy wants to see upstream, without those that the engine ignores."""
    classes = policy(name).classes
    return {
        name: value
        for name, value in role.env.items()
        if classes[variable_class(name)].missing != "inform"
        and inert_variable(variant.engine, name, variant.image) is None
    }


# -- vLLM -------------------------------------------------------------------------------------------------------------


def write_vllm(variant: Variant, tree: Tree, path: str | None = None, name: PolicyName = "summer") -> UpstreamChange:
    """The fragment of a recipe document that documents a variant; of a new document where `path` is None or absent.

    Raises `UnreadableError` where the recipe repository cannot be read.
    """
    catalog = load_catalog(tree)
    target = path or f"models/{variant.checkpoint}.yaml"
    is_new = tree.blob(target) is None
    recipe = _skeleton(variant) if is_new else load_recipe(tree, target)
    draft = _Draft(variant, recipe, catalog, target, tree.revision, name)
    covers = draft.complete()
    document = draft.recipe if is_new else draft.fragment
    text = yaml.safe_dump(_plain(document), sort_keys=False, allow_unicode=True, width=1_000)
    head = f"# {target}: " + ("a new recipe" if is_new else "merge these keys into the recipe")
    return UpstreamChange(
        repository=VLLM_RECIPES,
        path=target,
        kind="yaml_fragment",
        title=f"Document {variant.checkpoint} on {variant.hardware.upper()} as {_shape(variant)}",
        text=f"{head}\n{text}",
        covers=covers,
        remarks=tuple(draft.remarks),
    )


def _skeleton(variant: Variant) -> dict[str, Any]:
    return {
        "meta": {"title": variant.checkpoint.rpartition("/")[2], "hardware": {}},
        "model": {"model_id": variant.checkpoint, "base_args": []},
        "variants": {"default": {"description": "Fill in."}},
        "compatible_strategies": [],
    }


class _Draft:
    """A recipe with what has been added to it so far, and the additions alone."""

    def __init__(
        self, variant: Variant, recipe: Data, catalog: Catalog, path: str, commit: str, name: PolicyName
    ) -> None:
        self.variant = variant
        self.recipe: dict[str, Any] = copy.deepcopy(dict(recipe))
        self.fragment: dict[str, Any] = {}
        self.catalog = catalog
        self.path = path
        self.commit = commit
        self.policy: PolicyName = name
        self.remarks: list[str] = []
        self.strategy = _strategy(variant)
        self.key = self._variant_key()

    def put(self, value: Any, *keys: str) -> None:
        """Set a value below these keys, in the recipe and in the fragment."""
        for document in (self.recipe, self.fragment):
            here = document
            for key in keys[:-1]:
                inner = here.get(key)
                here[key] = dict(inner) if isinstance(inner, Mapping) else {}
                here = here[key]
            here[keys[-1]] = copy.deepcopy(value)

    def complete(self) -> bool:
        """Add what is missing, round by round, until the page covers the variant or nothing more can be added."""
        self._offer()
        for level in range(MAX_ROUNDS):
            comparison = self._compared()
            best = comparison.variants[0].best
            if best is not None and best.covers and not self._missing(best.arguments):
                return True
            names = self._missing(best.arguments) if best is not None else {}
            if not names or not self._add(names, level):
                break
        best = self._compared().variants[0].best
        if best is not None:
            self.remarks += [a.sentence() for a in best.blocking]
        return best is not None and best.covers

    def _compared(self) -> Comparison:
        names = hardware_names(self.variant.hardware)
        reading = vllm.read_recipe(self.recipe, self.catalog, self.path, self.commit, names)
        wanted = [arm for arm in reading.arms if arm.selection.get("strategy") == self.strategy]
        return compare([self.variant], wanted or reading.arms, self.policy)

    @staticmethod
    def _missing(arguments: Sequence[Any]) -> dict[RoleName, set[str]]:
        """By role the names of our arguments and variables that the recipe lacks or contradicts."""
        found: dict[RoleName, set[str]] = {}
        for argument in arguments:
            lacks = argument.outcome in (Outcome.MISSING, Outcome.CONTRADICTS) and argument.ours is not None
            if lacks and argument.demand != "inform" and argument.name not in ("model", "hardware"):
                found.setdefault(argument.role, set()).add(argument.name)
        return found

    # -- variant, hardware, strategy -------------------------------------------------------------------------------

    def _variant_key(self) -> str:
        wanted = self.variant.checkpoint.casefold()
        base = str(at(self.recipe, "model", "model_id") or "")
        for key, data in table(self.recipe.get("variants")).items():
            if str(data.get("model_id") or base).casefold() == wanted:
                return key
        key = self.variant.checkpoint.rpartition("/")[2].rpartition("-")[2].casefold() or "variant"
        self.put({"model_id": self.variant.checkpoint, "description": "Fill in."}, "variants", key)
        self.remarks.append(f"The variant {key} is new: fill in precision, vram_minimum_gb and description.")
        return key

    def _offer(self) -> None:
        """Let the page offer the hardware and the strategy, with our tensor parallel size."""
        hardware = self._hardware_id()
        told = at(self.recipe, "meta", "hardware", hardware)
        if told != "verified":
            self.put("verified", "meta", "hardware", hardware)
            if told == "unsupported":
                self.remarks.append(
                    f"The recipe called {hardware} unsupported; say in the pull request why it now runs."
                )
        allowed = listed(at(self.recipe, "variants", self.key, "supported_hardware"))
        if allowed and hardware not in allowed:
            self.put([*allowed, hardware], "variants", self.key, "supported_hardware")
        if self.strategy not in listed(self.recipe.get("compatible_strategies")):
            if listed(self.recipe.get("compatible_strategies")):
                self.put("supported", "strategy_hardware", self.strategy, hardware)
            else:
                self.put([self.strategy], "compatible_strategies")
        if self.strategy == "single_node_tp":
            self._widen(hardware)

    def _hardware_id(self) -> str:
        names = hardware_names(self.variant.hardware)
        return next((name for name in names if name in self.catalog.hardware), self.variant.hardware)

    def _widen(self, hardware: str) -> None:
        declared = at(self.recipe, "variants", self.key, "tp")
        size = self.variant.roles[0].as_role().tp
        if isinstance(declared, Mapping):
            if declared.get(hardware) not in (None, size):
                self.remarks.append(
                    f"The page holds one tensor parallel size for {hardware}; it was {declared[hardware]}."
                )
            self.put({**declared, hardware: size}, "variants", self.key, "tp")
        else:
            default = {"default": declared} if declared is not None else {}
            self.put({**default, hardware: size}, "variants", self.key, "tp")

    # -- arguments -------------------------------------------------------------------------------------------------

    def _add(self, names: Mapping[RoleName, set[str]], level: int) -> bool:
        """Add arguments at the next stronger place; whether there was one."""
        changed = False
        for role in self.variant.roles:
            wanted = names.get(role.name, set())
            speculative = {name for name in wanted if concept_of(name).group == "speculative"}
            if speculative and level == 0:
                self._add_speculation(role)
                changed = True
            changed |= self._add_to(role, wanted - speculative, level)
        return changed

    def _add_to(self, role: SubmittedRole, names: set[str], level: int) -> bool:
        hardware = self._hardware_id()
        exact = ("strategy_overrides", self.strategy, "hardware_overrides", hardware)
        places: list[tuple[str, ...]] = [("variants", self.key, "hardware_overrides", hardware), exact]
        if role.name != "worker":
            places = [("strategy_overrides", self.strategy, role.name, "hardware_overrides", hardware)]
        if not names or level >= len(places):
            return False
        place = places[level]
        flags = {role.args[name].flag for name in names if name in role.args}
        chosen: dict[str, Argument] = {n: a for n, a in role.args.items() if a.flag in flags}
        words = [word for unit in words_of("vllm", chosen) for word in unit]
        if words:
            self.put([*listed(at(self.recipe, *place, "extra_args")), *words], *place, "extra_args")
        env = {name: role.env[name] for name in sorted(names) if name in role.env}
        if env:
            self.put({**(at(self.recipe, *place, "extra_env") or {}), **env}, *place, "extra_env")
        return bool(words or env)

    def _add_speculation(self, role: SubmittedRole) -> None:
        chosen = {n: a for n, a in role.args.items() if concept_of(n).group == "speculative"}
        args = [word for unit in words_of("vllm", chosen) for word in unit]
        feature = at(self.recipe, "features", "spec_decoding")
        if not isinstance(feature, Mapping):
            self.put({"description": "Speculative decoding.", "args": args}, "features", "spec_decoding")
            self.put([*listed(self.recipe.get("opt_in_features")), "spec_decoding"], "opt_in_features")
        elif isinstance(feature.get("modes"), Mapping):
            method = str(role.as_role().speculative or "draft")
            self.put({"args": args}, "features", "spec_decoding", "modes", f"{method}_{self.variant.hardware}")
        else:
            profile = self.catalog.hardware.get(self._hardware_id(), {})
            self.put(args, "features", "spec_decoding", "hardware_overrides", generation(profile) or "default", "args")
        strategies = listed(at(self.recipe, "features", "spec_decoding", "strategies"))
        if strategies and self.strategy not in strategies:
            self.put([*strategies, self.strategy], "features", "spec_decoding", "strategies")


def _strategy(variant: Variant) -> str:
    """The recipe site's strategy for a variant's parallelism."""
    if any(role.name in ("prefill", "decode") for role in variant.roles):
        return "pd_cluster"
    role = variant.roles[0].as_role()
    spread = "multi_node" if variant.nodes > 1 else "single_node"
    experts = role.value("ep_enabled") is True
    if experts and role.dp > 1:
        return f"{spread}_dep"
    if variant.nodes > 1 and role.pp > 1:
        return "multi_node_tp_pp"
    return f"{spread}_tep" if experts else f"{spread}_tp"


def _plain(value: Any) -> Any:
    """Values that the YAML writer takes: located texts as plain ones."""
    if isinstance(value, str):
        return str.__str__(value) if type(value) is str else "".join(value)
    if isinstance(value, Mapping):
        return {_plain(k): _plain(v) for k, v in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _shape(variant: Variant) -> str:
    shapes = dict.fromkeys(
        role.as_role().shape if len(variant.roles) == 1 else f"{role.name} {role.as_role().shape}"
        for role in variant.roles
        if role.name != "router"
    )
    return ", ".join(shapes)


# -- SGLang -----------------------------------------------------------------------------------------------------------


def write_sglang(variant: Variant, tree: Tree, page: str, name: PolicyName = "summer") -> UpstreamChange:
    """A cell for the page's config where it has one and the variant is one process, else a fenced command.

    Raises `UnreadableError` where the page cannot be read.
    """
    content = tree.read(page)
    if content is None:
        raise UnreadableError(page, "There is no such page at this revision.", "no-page")
    if len(variant.roles) == 1:
        for found in imports(content.decode("utf-8", "replace"), page):
            source = tree.read(found.path) if "/configs/" in found.path and found.exported == "config" else None
            if source is not None:
                return _cell(variant, source, found.path, tree.revision, name)
    return _command(variant, page, tree.revision, name, _beside_widget(variant, tree, page, name))


def _beside_widget(variant: Variant, tree: Tree, page: str, name: PolicyName) -> tuple[str, ...]:
    """Where the page builds its commands from choices, what would have to change in the nearest one."""
    hardware = hardware_names(variant.hardware)
    built = [arm for arm in sglang.read_page(tree, page, hardware).arms if arm.encoding == "widget"]
    best = compare([variant], built, name).variants[0].best
    if best is None:
        return ()
    differs = [a.sentence() for a in best.arguments if a.differs and a.demand != "inform" and a.ours is not None]
    arm = best.arm
    return (
        f"This page builds its commands in {arm.place}; there the nearest choice is {arm.label}. For this arm to be "
        f"offered there as well, change: {' '.join(differs) or 'nothing'}",
    )


def _command(
    variant: Variant, page: str, commit: str, name: PolicyName, beside: tuple[str, ...] = ()
) -> UpstreamChange:
    """A heading and a fenced command for each process."""
    title = f"{variant.hardware.upper()}: {variant.checkpoint.rpartition('/')[2]}, {_shape(variant)}"
    blocks = []
    for role in variant.roles:
        head = f"# {role.name}\n" if len(variant.roles) > 1 else ""
        blocks.append(f"```shell Command\n{head}{command_text(variant, role, name)}\n```")
    text = f"### {title}\n\n" + "\n\n".join(blocks) + "\n"
    origin = {"repository": SGLANG, "path": page, "commit": commit, "url": sglang.page_url(page)}
    covers = len(variant.roles) == 1 and _covers(variant, sglang.read_fenced(text, origin), name)
    return UpstreamChange(
        repository=SGLANG,
        path=page,
        kind="command",
        title=f"Document {variant.checkpoint} on {variant.hardware.upper()} as {_shape(variant)}",
        text=text,
        covers=covers,
        remarks=beside
        if covers or len(variant.roles) == 1
        else (*beside, "Commands of several processes are not read back; compare them by hand."),
    )


def command_text(variant: Variant, role: SubmittedRole, name: PolicyName = "summer") -> str:
    """The serve command to put on a page, with the variables that matter before it."""
    program = "sglang serve" if variant.engine == "sglang" else "vllm serve"
    if role.name == "router":
        program = "python3 -m sglang_router.launch_router"
    model = [("--model-path", variant.checkpoint)] if variant.engine == "sglang" else [(variant.checkpoint,)]
    units = [*([] if role.name == "router" else model), *wanted_words(variant, role, name)]
    lines = [f"{name}={_quoted(value)}" for name, value in wanted_variables(variant, role, name).items()]
    lines += [program, *("  " + " ".join(map(_quoted, unit)) for unit in units)]
    return " \\\n".join(lines)


def _quoted(word: str) -> str:
    safe = all(character.isalnum() or character in "_./:@%+=,-" for character in word)
    return word if word and safe else "'" + word.replace("'", "'\\''") + "'"


def _cell(variant: Variant, source: bytes, path: str, commit: str, name: PolicyName) -> UpstreamChange:
    config = CellConfig(source, path)
    match, needed = _cell_match(variant, config)
    remarks = needed or _placed(match, config)
    role = variant.roles[0]
    flags = ["--model-path {{MODEL_NAME}}"]
    flags += [" ".join(map(_quoted, unit)) for unit in wanted_words(variant, role, name)]
    flags += ["--host {{HOST_IP}}", "--port {{PORT}}"]
    env = [f"{name}={value}" for name, value in wanted_variables(variant, role, name).items()]
    written = ", ".join(f"{key}: {json.dumps(value)}" for key, value in match.items())
    nodes = f"      nnodes: {variant.nodes},\n" if variant.nodes > 1 and "nodes" not in match else ""
    listed_env = "[]" if not env else "[\n" + "".join(f"        {json.dumps(e)},\n" for e in env) + "      ]"
    text = (
        "    {\n"
        f"      match: {{ {written} }},\n"
        f"{nodes}"
        "      verified: true,\n"
        f"      env: {listed_env},\n"
        "      flags: [\n" + "".join(f"        {json.dumps(flag)},\n" for flag in flags) + "      ],\n    },\n"
    )
    return UpstreamChange(
        repository=SGLANG,
        path=path,
        kind="cell",
        title=f"Document {variant.checkpoint} on {variant.hardware.upper()} as {_shape(variant)}",
        text=text,
        covers=not needed and _covers(variant, _reading_with(source, text, path, commit), name),
        remarks=tuple(remarks),
    )


def _cell_match(variant: Variant, config: CellConfig) -> tuple[dict[str, str], list[str]]:
    """A free place in the page's matrix for the variant, and what else must be declared for it."""
    remarks: list[str] = []
    supported = config.data.get("supportedHardware")
    names = hardware_names(variant.hardware)
    hardware = next((h for h in names if isinstance(supported, list) and h in supported), None)
    if hardware is None:
        hardware = variant.hardware
        remarks.append(f"Add {json.dumps(hardware)} to supportedHardware.")
    choices = {name: [str(option.get("id", "")) for option in row] for name, row in config.options.items()}
    if "nodes" in choices:
        nodes = "single" if variant.nodes == 1 else f"multi-{variant.nodes}"
        if nodes not in choices["nodes"]:
            remarks.append(f"Add {json.dumps(nodes)} to nodesOptions.")
        choices["nodes"] = [nodes]
    if "pdMode" in choices:
        choices["pdMode"] = [mode for mode in choices["pdMode"] if mode not in cells.ROLES]
    places = [
        dict(zip(config.dimensions, place, strict=True))
        for place in itertools.islice(itertools.product([hardware], *choices.values()), MAX_PLACES)
    ]
    named = [p for p in places if cells.checkpoint_of(config.data, p).casefold() == variant.checkpoint.casefold()]
    undeclared: set[str | None] = {None, "hw"}
    if places and not named:
        named, told = _newly_named(variant.checkpoint, places, config)
        remarks += told
        undeclared.add("quant")
    taken = [cell["match"] for cell in config.cells if isinstance(cell, dict) and isinstance(cell.get("match"), dict)]
    named = _customary(named, taken, config)
    for place in named:
        if place not in taken and config.hidden(place) in undeclared:
            return place, remarks
    wanted = "-".join(_shape(variant).casefold().split())
    used = {match.get("strategy") for match in taken}
    numbered = itertools.chain([wanted], (f"{wanted}-{number}" for number in itertools.count(2)))
    strategy = next(name for name in numbered if name not in used)
    remarks.append(f"Every strategy has a cell already: declare {json.dumps(strategy)} in strategies.")
    return {**(named or [{"hw": hardware}])[0], "strategy": strategy}, remarks


def _newly_named(
    checkpoint: str, places: Sequence[dict[str, str]], config: CellConfig
) -> tuple[list[dict[str, str]], list[str]]:
    """Places for a checkpoint that the page does not name yet, and what to declare: a name that is free, else a
    quantization of its own."""
    free = [place for place in places if not cells.checkpoint_of(config.data, place)]
    remarks: list[str] = []
    if not free and "quant" in config.options:
        quantization = precision_named(checkpoint) or "".join(checkpoint.rpartition("-")[2:]).casefold()
        free = [dict(t) for t in dict.fromkeys(tuple({**place, "quant": quantization}.items()) for place in places)]
        remarks.append(f"Add {json.dumps(quantization)} to quantizations.")
    chosen = free or list(places)
    key = _name_of(chosen[0], config)
    remarks.append(f"Add {json.dumps(key)}: {json.dumps(checkpoint)} to modelNames.")
    return [place for place in chosen if _name_of(place, config) == key], remarks


def _customary(
    places: Sequence[dict[str, str]], taken: Sequence[Mapping[str, str]], config: CellConfig
) -> list[dict[str, str]]:
    """Of places with one checkpoint those that call it as the page's cells do, on this hardware or else on any."""
    for dimensions in (("hw", "variant", "quant"), ("variant", "quant")):
        wanted = [name for name in dimensions if name in config.dimensions]
        used = {tuple(match.get(name) for name in wanted) for match in taken}
        customary = [place for place in places if tuple(place[name] for name in wanted) in used]
        if customary:
            return customary
    return list(places)


def _placed(match: Mapping[str, str], config: CellConfig) -> list[str]:
    """What to know about a free place that was chosen."""
    if "strategy" not in match or len(config.options.get("strategy", ())) < 2:
        return []
    return [f"The cell stands at the strategy {match['strategy']}, the first that is free; choose the one that it is."]


def _name_of(place: Mapping[str, str], config: CellConfig) -> str:
    """The key under which a config names the checkpoint of a place."""
    return "|".join([place["hw"], *(place[name] for name in ("variant", "quant") if name in config.options)])


def _with_cell(source: bytes, cell: str, path: str) -> bytes:
    """The config with one more cell."""
    start = exported_members(source, "config", path)["cells"].start_byte + 1
    return source[:start] + b"\n" + cell.encode() + source[start:]


def _reading_with(source: bytes, cell: str, path: str, commit: str) -> Reading:
    try:
        origin = {"repository": SGLANG, "path": path, "commit": commit, "url": ""}
        return cells.read(_with_cell(source, cell, path), origin)
    except UnreadableError as error:
        return Reading(problems=(error.problem,))


class Changed:
    """A tree after a change that was written for it: the place of a cell is taken then."""

    def __init__(self, tree: Tree, change: UpstreamChange) -> None:
        self._tree = tree
        source = tree.read(change.path) or b""
        self._files = {change.path: _with_cell(source, change.text, change.path)} if change.kind == "cell" else {}

    @property
    def revision(self) -> str:
        return self._tree.revision

    def read(self, path: str) -> bytes | None:
        return self._files[path] if path in self._files else self._tree.read(path)

    def blob(self, path: str) -> str | None:
        return git_blob_id(self._files[path]) if path in self._files else self._tree.blob(path)

    def list(self, prefix: str) -> tuple[str, ...]:
        return self._tree.list(prefix)


def _covers(variant: Variant, reading: Reading, name: PolicyName) -> bool:
    best = compare([variant], reading.arms, name).variants[0].best
    return best is not None and best.covers
