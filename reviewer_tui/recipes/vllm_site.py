"""What the vLLM recipe site publishes: every rendering of a recipe with its default features.

Source: `scripts/build-recipes-api.mjs` of vllm-project/recipes, with whose output the tests compare.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping

import msgspec

from reviewer_tui.recipes.vllm_command import PoolNodes, Rendering, Selection, render
from reviewer_tui.recipes.vllm_recipe import (
    Catalog,
    Data,
    at,
    compatible_strategies,
    default_features,
    fits_one_node,
    fits_precision,
    gpus,
    is_scalable,
    nodes_for,
    number,
    offered_strategies,
    recommended_strategy,
    table,
    variant_allows,
    variant_of,
    words_of,
)

MAX_PD_NODES = 4


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """A variant on a hardware: what the page recommends, and what it offers besides, by strategy."""

    recommended: Rendering
    alternatives: Mapping[str, Rendering]


Select = Callable[..., Selection]
"""Makes the selections of a variant on a hardware."""


def selecting(recipe: Data, catalog: Catalog, variant_key: str, hardware: str) -> Select:
    """The selections of a variant on a hardware, with the default features."""
    features = default_features(recipe, hardware, variant_key)
    return functools.partial(
        Selection, recipe=recipe, catalog=catalog, variant=variant_key, hardware=hardware, features=features
    )


def published(recipe: Data, variant_key: str, hardware: str, catalog: Catalog) -> Published | None:
    """What the site publishes for a variant on a hardware with the default features; None where nothing is.

    A single workstation that cannot hold the variant gets the largest one that it can hold.
    """
    if "omni" in words_of(at(recipe, "meta", "tasks")) or not isinstance(at(recipe, "variants", variant_key), Mapping):
        return None
    profile = catalog.hardware.get(hardware, {})
    variant = variant_of(recipe, variant_key)
    if not is_scalable(profile) and not fits_one_node(profile, variant):
        fitting = _largest_fitting(recipe, profile, hardware)
        if fitting is None:
            return None
        variant_key, variant = fitting, variant_of(recipe, fitting)
    compatible = compatible_strategies(recipe, hardware, catalog)
    select = selecting(recipe, catalog, variant_key, hardware)
    recommended = _recommended(recipe, variant, hardware, compatible, catalog, select)
    if recommended is None:
        return None
    alternatives = {}
    for name in compatible:
        if name != recommended.strategy:
            selection = alternative_selection(recipe, variant, hardware, name, catalog, select)
            if selection is not None:
                alternatives[name] = render(selection)
    return Published(recommended=recommended, alternatives=alternatives)


def _recommended(
    recipe: Data,
    variant: Data,
    hardware: str,
    compatible: tuple[str, ...],
    catalog: Catalog,
    select: Select,
) -> Rendering | None:
    profile = catalog.hardware.get(hardware, {})
    scales = is_scalable(profile) and any(name.startswith("multi_node_") for name in compatible)
    base = 2 if scales and not fits_one_node(profile, variant) else 1
    strategy = recommended_strategy(recipe, base)
    if strategy not in compatible:
        serving = [n for n in compatible if catalog.strategy(n).get("deploy_type") != "kv_store_lb"]
        strategy = next((n for n in serving if n != "pd_cluster"), serving[0] if serving else strategy)
    nodes = max(base, _usual_nodes(recipe, strategy, hardware, catalog))
    pools = None
    if strategy == "pd_cluster":
        sizes = pool_nodes(recipe, variant, hardware, catalog)
        if sizes == "too-many":
            return None
        pools = sizes
    return render(select(strategy=strategy, nodes=nodes, pools=pools))


def _usual_nodes(recipe: Data, strategy: str, hardware: str, catalog: Catalog) -> int:
    least = 2 if catalog.strategy(strategy).get("deploy_type") == "multi_node" else 1
    return max(least, nodes_for(recipe, strategy, catalog.hardware.get(hardware, {}), hardware))


def alternative_selection(
    recipe: Data, variant: Data, hardware: str, name: str, catalog: Catalog, select: Select
) -> Selection | None:
    """The selection behind an alternative of the page; None where it has none."""
    profile = catalog.hardware.get(hardware, {})
    if name == "pd_cluster":
        sizes = pool_nodes(recipe, variant, hardware, catalog)
        return None if sizes == "too-many" else select(strategy=name, nodes=1, pools=sizes)
    if catalog.strategy(name).get("deploy_type") != "kv_store_lb":
        return select(strategy=name, nodes=_usual_nodes(recipe, name, hardware, catalog))
    for nodes in (1,) if fits_one_node(profile, variant) else (2, 1):
        serving = _serving_strategy(recipe, nodes, catalog)
        if serving is not None:
            if catalog.strategy(serving).get("deploy_type") == "multi_node":
                nodes = max(nodes, nodes_for(recipe, serving, profile, hardware))
            return select(strategy=serving, nodes=nodes, kv_store=name)
    return None


def _serving_strategy(recipe: Data, nodes: int, catalog: Catalog) -> str | None:
    """The strategy of each instance behind a KV store."""

    def serves(name: str) -> bool:
        deploy_type = catalog.strategy(name).get("deploy_type")
        if name not in catalog.strategies or deploy_type in ("pd_cluster", "kv_store_lb"):
            return False
        return (deploy_type == "multi_node") is (nodes > 1)

    candidates = [recommended_strategy(recipe, nodes), *offered_strategies(recipe)]
    return next((name for name in candidates if serves(name)), None)


def pool_nodes(recipe: Data, variant: Data, hardware: str, catalog: Catalog) -> PoolNodes | str | None:
    """Nodes of the prefill and decode pools; None where both fit one node, `too-many` where a pool needs over four."""
    profile = catalog.hardware.get(hardware, {})
    node, model = number(profile.get("vram_gb")) or 0, number(variant.get("vram_minimum_gb")) or 0
    if isinstance(profile.get("gpu_count"), int) and gpus(profile) >= 2 and node >= 2 * model:
        return None
    if node <= 0 or model <= 0:
        return None
    each = math.ceil(model / node)
    if each > MAX_PD_NODES:
        return "too-many"

    def floored(role: str) -> int:
        own = at(recipe, "strategy_overrides", "pd_cluster", role, "parallelism")
        mode = own or at(catalog.strategy("pd_cluster"), role, "parallelism") or "tp"
        return max(each, nodes_for(recipe, str(mode), profile, hardware))

    return PoolNodes(floored("prefill"), floored("decode"))


def _largest_fitting(recipe: Data, profile: Data, hardware: str) -> str | None:
    """The largest variant that a hardware without more nodes can hold."""
    fitting = [
        (-(number(variant.get("vram_minimum_gb")) or 0), place, key)
        for place, (key, variant) in enumerate(table(recipe.get("variants")).items())
        if fits_precision(variant, profile)
        and variant_allows(variant, hardware)
        and (is_scalable(profile) or fits_one_node(profile, variant))
    ]
    return min(fitting)[2] if fitting else None
