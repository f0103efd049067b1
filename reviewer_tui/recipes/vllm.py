"""vLLM recipes as recipe arms: every deployment that a visitor of the recipe page can select.

A page is one document (`models/<org>/<repo>.yaml`); its variants, hardware, strategies and features are read as the
page offers them. Features that only pick parsers stay as they are; each other feature counts both on and off. The
commands in the recipe's guide are read too, as weaker evidence.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import msgspec

from reviewer_tui.model.finding import Problem
from reviewer_tui.model.tree import Tree
from reviewer_tui.recipes.arguments import concept_for, read_arguments
from reviewer_tui.recipes.arm import Reading, RecipeArm, Role, RoleName, line_of
from reviewer_tui.recipes.mdx import fenced_blocks
from reviewer_tui.recipes.reading import UnreadableError
from reviewer_tui.recipes.sglang import block_arms
from reviewer_tui.recipes.vllm_command import Process, Rendering, Selection, render
from reviewer_tui.recipes.vllm_recipe import (
    REPOSITORY,
    Catalog,
    Data,
    at,
    by_hardware,
    compatible_strategies,
    hardware_ids,
    load_catalog,
    load_recipe,
    mode_names,
    number,
    table,
    variant_of,
    words_of,
)
from reviewer_tui.recipes.vllm_site import alternative_selection, selecting

SITE = "https://recipes.vllm.ai"
MAX_FEATURE_SETS = 64
MAX_ARMS = 20_000

_ROLES: Mapping[str, RoleName] = {"worker": "worker", "prefill": "prefill", "decode": "decode"}


def page_url(recipe_path: str) -> str:
    """The published address of a recipe file."""
    return f"{SITE}/{recipe_path.removeprefix('models/').removesuffix('.yaml')}"


def read_page(
    tree: Tree, recipe_path: str, hardware: Sequence[str] | None = None, single_node: bool = False
) -> Reading:
    """All arms of a recipe page at the tree's revision.

    `hardware` (ids) leaves out other hardware; `single_node` leaves out what spans nodes. A missing page and an
    unreadable document are problems with their place.
    """
    try:
        recipe = load_recipe(tree, recipe_path)
        return read_recipe(recipe, load_catalog(tree), recipe_path, tree.revision, hardware, single_node)
    except UnreadableError as error:
        return Reading(problems=(error.problem,))


def read_recipe(
    recipe: Data,
    catalog: Catalog,
    path: str,
    commit: str,
    hardware: Sequence[str] | None = None,
    single_node: bool = False,
) -> Reading:
    """The same for a recipe and a catalog that are already loaded."""
    arms: dict[tuple[Any, ...], RecipeArm] = {}
    problems: list[Problem] = []
    for selection in selections(recipe, catalog, hardware, single_node):
        try:
            rendering = render(selection)
        except UnreadableError as error:
            problems.append(Problem(path=path, message=error.problem.message, rule=error.problem.rule))
            continue
        arm = _arm(rendering, selection, path, commit)
        key = (arm.hardware, arm.checkpoint, *((p.role, p.argv, tuple(p.env.items())) for p in rendering.processes))
        arms.setdefault(key, arm)
        if len(arms) >= MAX_ARMS:
            problems.append(
                Problem(path=path, message=f"Only {MAX_ARMS} arms of the page were read.", rule="too-large")
            )
            break
    guide = _guide_arms(recipe, path, commit, hardware)
    return Reading(arms=(*arms.values(), *guide), problems=tuple(problems))


def checkpoints(recipe: Data) -> tuple[str, ...]:
    """The checkpoints that a recipe serves: its own, and its variants'."""
    own = [at(recipe, "model", "model_id"), *(at(v, "model_id") for v in table(recipe.get("variants")).values())]
    return tuple(dict.fromkeys(str(model) for model in own if isinstance(model, str)))


def selections(
    recipe: Data, catalog: Catalog, hardware: Sequence[str] | None = None, single_node: bool = False
) -> Iterator[Selection]:
    """What a visitor can select: variant, hardware, strategy and features."""
    if "omni" in words_of(at(recipe, "meta", "tasks")):
        return
    for variant_key in table(recipe.get("variants")):
        variant = variant_of(recipe, variant_key)
        for name in hardware_ids(recipe, variant, catalog):
            if hardware is not None and name not in hardware:
                continue
            for strategy in compatible_strategies(recipe, name, catalog):
                chosen = _layout(recipe, catalog, variant_key, name, strategy)
                if chosen is None or (single_node and (chosen.spans_nodes or chosen.is_cluster or chosen.nodes > 1)):
                    continue
                yield from _with_features(chosen)


def _layout(recipe: Data, catalog: Catalog, variant_key: str, hardware: str, strategy: str) -> Selection | None:
    select = selecting(recipe, catalog, variant_key, hardware)
    return alternative_selection(recipe, variant_of(recipe, variant_key), hardware, strategy, catalog, select)


def _with_features(chosen: Selection) -> Iterator[Selection]:
    """The selection with every set of features that changes more than parsers, and every mode of those."""
    material = [name for name in table(chosen.recipe.get("features")) if _is_material(chosen, name)]
    choices = [[None, *_modes(chosen, name)] for name in material]
    sets = itertools.islice(itertools.product(*choices), MAX_FEATURE_SETS)
    for picked in sets:
        on = {name: mode for name, mode in zip(material, picked, strict=True) if mode is not None}
        names = [name for name in table(chosen.recipe.get("features")) if _is_on(name, on, material, chosen)]
        yield msgspec.structs.replace(
            chosen, features=tuple(names), modes={name: mode for name, mode in on.items() if mode}
        )


def _is_on(name: str, on: Mapping[str, str], material: Sequence[str], chosen: Selection) -> bool:
    return name in on if name in material else name in chosen.features


def _modes(chosen: Selection, feature: str) -> list[str]:
    """The modes to try; one empty name for a feature without modes."""
    data = at(chosen.recipe, "features", feature)
    if not isinstance(at(data, "modes"), Mapping):
        return [""]
    return list(mode_names(chosen.recipe, feature, chosen.variant, chosen.hardware, chosen.profile))


def _is_material(chosen: Selection, feature: str) -> bool:
    """Whether a feature is allowed here and sets more than parsers and templates."""
    data = at(chosen.recipe, "features", feature)
    strategies = words_of(at(data, "strategies"))
    if strategies and chosen.strategy not in strategies:
        return False
    blocks = [data, *table(at(data, "modes")).values(), *table(at(data, "hardware_overrides")).values()]
    flags = [word for block in blocks for word in words_of(at(block, "args")) if str(word).startswith("-")]
    return any(concept_for("vllm", str(flag))[0].cls != "plumbing" for flag in flags)


def _arm(rendering: Rendering, selection: Selection, path: str, commit: str) -> RecipeArm:
    told = at(selection.recipe, "meta", "hardware", rendering.hardware)
    query = {"hardware": rendering.hardware, "variant": rendering.variant, "strategy": rendering.strategy}
    query |= {"features": ",".join(rendering.features)} if rendering.features else {}
    roles = tuple(_role(rendering, process) for process in rendering.processes if process.rank == 0)
    if rendering.router:
        roles += (Role(name="router", args=read_arguments("vllm", rendering.router)),)
    pools = [max(1, nodes) for nodes in rendering.pools.values()]
    words = [rendering.variant, rendering.hardware, rendering.kv_store or rendering.strategy, *selection.modes.values()]
    return RecipeArm(
        repository=REPOSITORY,
        path=path,
        commit=commit,
        url=f"{page_url(path)}?{urlencode(query, safe=',')}",
        label=" · ".join(words),
        engine="vllm",
        checkpoint=rendering.model,
        hardware=rendering.hardware,
        nodes=sum(pools) if any(rendering.pools.values()) else rendering.node_count,
        roles=roles,
        encoding="yaml",
        verified=True if told == "verified" else None,
        notes=_notes(rendering, selection, told),
        selection={name: str(value) for name, value in query.items()},
    )


def _role(rendering: Rendering, process: Process) -> Role:
    words = (rendering.model, *process.argv)
    nodes = rendering.pools.get(process.role, rendering.node_count)
    return Role(
        name=_ROLES[process.role],
        args=read_arguments("vllm", words),
        env={name: _variable(value) for name, value in process.env.items()},
        workers=rendering.instances,
        nodes=max(1, nodes),
    )


def _variable(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _notes(rendering: Rendering, selection: Selection, told: Any) -> tuple[str, ...]:
    notes = [] if told == "verified" else [f"The recipe does not say that {rendering.hardware} was verified."]
    declared = [selection.variant_data.get("tp"), at(selection.overrides, "tp")]
    sizes = [by_hardware(d, selection.profile, selection.hardware) if isinstance(d, Mapping) else d for d in declared]
    if rendering.strategy == "single_node_tp" and not any(number(size) for size in sizes):
        notes.append(
            "The page fits the tensor parallel size itself (one GPU, or the whole node); no other is documented."
        )
    return tuple(notes)


def _guide_arms(recipe: Data, path: str, commit: str, hardware: Sequence[str] | None) -> tuple[RecipeArm, ...]:
    guide = recipe.get("guide")
    if not isinstance(guide, str):
        return ()
    first = line_of(guide) or 0
    origin = {"repository": REPOSITORY, "path": path, "commit": commit, "url": page_url(path)}
    arms = (arm for block in fenced_blocks(guide) for arm in block_arms(block, origin, "guide", first))
    return tuple(arm for arm in arms if hardware is None or not arm.hardware or arm.hardware in hardware)
