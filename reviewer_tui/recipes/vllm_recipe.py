"""vLLM recipe documents (`models/<org>/<repo>.yaml`): what a recipe offers on which hardware.

Source of the rules: `src/lib/command-synthesis.js` of vllm-project/recipes, with which the results are compared in
the tests.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

import msgspec

from reviewer_tui.model.tree import Tree
from reviewer_tui.recipes.reading import UnreadableError
from reviewer_tui.recipes.yaml12 import load

REPOSITORY = "vllm-project/recipes"
MAX_NODES = 16

Data = Mapping[str, Any]

_BLACKWELL_PRECISIONS = ("nvfp4", "fp4")
_BLACKWELL = {"brand": "NVIDIA", "generation": "blackwell"}


class Catalog(msgspec.Struct, frozen=True, kw_only=True):
    """What all recipes share: hardware profiles, serving strategies, KV stores and offload options, each by id."""

    hardware: Mapping[str, Data]
    strategies: Mapping[str, Data]
    kv_offload: Mapping[str, Data]

    def strategy(self, name: str) -> Data:
        return self.strategies.get(name, {})

    @property
    def kv_stores(self) -> tuple[str, ...]:
        return tuple(name for name, s in self.strategies.items() if s.get("deploy_type") == "kv_store_lb")


def load_catalog(tree: Tree) -> Catalog:
    """The taxonomy and the strategies at a revision. Raises `UnreadableError`."""
    taxonomy = _document(tree, "taxonomy.yaml")
    strategies: dict[str, Data] = {}
    for folder in ("strategies", "kv_store"):
        for path in tree.list(folder):
            if path.endswith(".yaml"):
                strategy = _document(tree, path)
                strategies[str(strategy.get("name", ""))] = strategy
    return Catalog(
        hardware=table(taxonomy.get("hardware_profiles")),
        strategies=strategies,
        kv_offload=table(taxonomy.get("kv_offload")),
    )


def load_recipe(tree: Tree, path: str) -> Data:
    """One recipe document. Raises `UnreadableError`, also where there is none."""
    return _document(tree, path)


def _document(tree: Tree, path: str) -> Data:
    content = tree.read(path)
    if content is None:
        raise UnreadableError(path, "There is no such file at this revision.", "no-page")
    document = _loaded(content, path)
    if not isinstance(document, dict):
        raise UnreadableError(path, "The file is no mapping.", "unknown-format")
    return document


@functools.lru_cache(maxsize=256)
def _loaded(content: bytes, path: str) -> Any:
    """A document by its content: pages and points of one review ask for the same ones. Nobody changes it."""
    return load(content, path)


# -- small readers of untyped data ------------------------------------------------------------------------------------


def at(data: Any, *keys: str) -> Any:
    """The value below these keys; None where any of them is missing."""
    for key in keys:
        if not isinstance(data, Mapping):
            return None
        data = data.get(key)
    return data


def table(value: Any) -> dict[str, Data]:
    return {str(k): v for k, v in value.items() if isinstance(v, Mapping)} if isinstance(value, Mapping) else {}


def words_of(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else []


def names_of(value: Any) -> list[str]:
    """The texts of a list."""
    return [item for item in words_of(value) if isinstance(item, str)]


def variables(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def generation(profile: Data) -> str | None:
    """The hardware's generation (the first of several)."""
    value = profile.get("generation") or profile.get("gpu_generation")
    first = value[0] if isinstance(value, list) and value else value
    return str(first) if isinstance(first, str) else None


def gpus(profile: Data) -> int:
    """GPUs of one node."""
    count = number(profile.get("gpu_count"))
    return int(count) if count is not None else 1


def by_hardware(table: Any, profile: Data, hardware: str | None) -> Any:
    """The value of a map by hardware: exact id over generation over brand over `default`."""
    if not isinstance(table, Mapping):
        return None
    brand = profile.get("brand")
    for key in (hardware, generation(profile), brand.lower() if isinstance(brand, str) else None, "default"):
        if key and table.get(key) is not None:
            return table[key]
    return None


def generation_block(table: Any, profile: Data) -> Any:
    """The block of a generation, else NVIDIA's for NVIDIA hardware."""
    gen = generation(profile)
    block = at(table, gen) if gen else None
    return block or (at(table, "nvidia") if profile.get("brand") == "NVIDIA" else None)


# -- what a recipe offers ---------------------------------------------------------------------------------------------


def variant_of(recipe: Data, key: str) -> Data:
    variant = at(recipe, "variants", key) or at(recipe, "variants", "default") or {}
    return variant if isinstance(variant, Mapping) else {}


def is_supported(recipe: Data, variant: Data, hardware: str, profile: Data) -> bool:
    """Whether precision, recipe and variant allow this hardware."""
    return (
        fits_precision(variant, profile)
        and at(recipe, "meta", "hardware", hardware) != "unsupported"
        and variant_allows(variant, hardware)
    )


def _constraint(variant: Data) -> Data | None:
    own = variant.get("precision_hardware")
    if own:
        return own if isinstance(own, Mapping) else {}
    return _BLACKWELL if variant.get("precision") in _BLACKWELL_PRECISIONS else None


def fits_precision(variant: Data, profile: Data) -> bool:
    constraint = _constraint(variant)
    if not constraint:
        return True
    if constraint.get("brand") and profile.get("brand") != constraint["brand"]:
        return False
    wanted = constraint.get("generation")
    own = profile.get("generation") or profile.get("gpu_generation")
    return not wanted or wanted in (own if isinstance(own, list) else [own])


def variant_allows(variant: Data, hardware: str) -> bool:
    allowed = words_of(variant.get("supported_hardware"))
    return not allowed or hardware in allowed


def hardware_ids(recipe: Data, variant: Data, catalog: Catalog) -> tuple[str, ...]:
    """The hardware that the page offers for a variant, the default first. Restricted profiles only where the recipe
    names them."""
    declared = variables(at(recipe, "meta", "hardware"))
    offered = [
        hardware
        for hardware, profile in catalog.hardware.items()
        if is_supported(recipe, variant, hardware, profile) and (not profile.get("restricted") or hardware in declared)
    ]
    return tuple(dict.fromkeys([default_hardware(recipe, variant, catalog), *offered]))


def default_hardware(recipe: Data, variant: Data, catalog: Catalog) -> str:
    """The hardware that the page opens with."""
    declared = variables(at(recipe, "meta", "hardware"))
    usable = [
        hardware
        for hardware, profile in catalog.hardware.items()
        if is_supported(recipe, variant, hardware, profile) and (not profile.get("restricted") or hardware in declared)
    ]
    authored = at(recipe, "meta", "default_hardware")
    constraint = _constraint(variant) or {}
    preferred = ["b200", "gb200"] if constraint.get("generation") == "blackwell" else []
    for hardware in [authored, *preferred, "h200"]:
        if hardware in usable:
            return str(hardware)
    brands = {"NVIDIA": 0, "AMD": 1}
    usable.sort(key=lambda h: (brands.get(catalog.hardware[h].get("brand", ""), 9), h.replace("_", " ")))
    return usable[0] if usable else "h200"


def offered_strategies(recipe: Data) -> tuple[str, ...]:
    """The strategies that a recipe offers anywhere: listed ones, then those that it grants to some hardware."""
    listed = names_of(recipe.get("compatible_strategies"))
    granted = [
        name
        for name, table in table(recipe.get("strategy_hardware")).items()
        if name not in listed and "supported" in table.values()
    ]
    return (*listed, *granted)


def _offers(recipe: Data, strategy: str, profile: Data, hardware: str) -> bool:
    gate = by_hardware(at(recipe, "strategy_hardware", strategy), profile, hardware)
    return gate != "unsupported" if gate is not None else strategy in names_of(recipe.get("compatible_strategies"))


def fits_one_node(profile: Data, variant: Data) -> bool:
    """Whether the weights fit one node; unknown sizes fit."""
    node, model = number(profile.get("vram_gb")) or 0, number(variant.get("vram_minimum_gb")) or 0
    return node <= 0 or model <= 0 or model <= node


def is_scalable(profile: Data) -> bool:
    return profile.get("scalable") is not False


def _has_kv_transfer(profile: Data) -> bool:
    return profile.get("brand") in ("NVIDIA", "AMD")


def _floor(recipe: Data, key: str, hardware: str) -> float:
    """The least number of GPUs that a recipe wants for a strategy."""
    table = recipe.get("strategy_min_gpus")
    if not isinstance(table, Mapping):
        return number(table) or 0
    return max(_floor_of(table, key), _floor_of(table.get(hardware), key))


def _floor_of(block: Any, key: str) -> float:
    if not isinstance(block, Mapping):
        return number(block) or 0
    for name in (key, f"multi_node_{key}", f"single_node_{key}"):
        if block.get(name) is not None:
            return number(block[name]) or 0
    return 0


def nodes_for(recipe: Data, key: str, profile: Data, hardware: str) -> int:
    """Nodes that a strategy needs to reach the recipe's floor."""
    return math.ceil(_floor(recipe, key, hardware) / (gpus(profile) or 8)) or 1


def compatible_strategies(recipe: Data, hardware: str, catalog: Catalog) -> tuple[str, ...]:
    """The strategies, and the KV stores, that the page offers on a hardware."""
    profile = catalog.hardware.get(hardware, {})
    scalable = is_scalable(profile)

    def offered(name: str) -> bool:
        deploy_type = catalog.strategy(name).get("deploy_type")
        if deploy_type == "kv_store_lb":
            gate = at(recipe, "kv_cache_strategy_hardware", name, hardware)
            return scalable and _has_kv_transfer(profile) and gate != "unsupported"
        if not _offers(recipe, name, profile, hardware):
            return False
        most = MAX_NODES if deploy_type in ("multi_node", "pd_cluster") else 1
        if most * (gpus(profile) or 8) < _floor(recipe, name, hardware):
            return False
        return scalable or not (name.startswith("multi_node_") or name == "pd_cluster")

    return tuple(name for name in dict.fromkeys([*offered_strategies(recipe), *catalog.kv_stores]) if offered(name))


def recommended_strategy(recipe: Data, nodes: int = 1) -> str:
    """The strategy that the page opens with on this many nodes."""
    offered = offered_strategies(recipe)
    authored = recipe.get("default_strategy")
    if authored and authored in offered:
        if nodes <= 1 or not str(authored).startswith("single_node_"):
            return str(authored)
        sibling = "multi_node_" + str(authored).removeprefix("single_node_")
        if sibling in offered:
            return sibling
    preferred = ["multi_node_tp", "multi_node_dep", "multi_node_tep"] if nodes > 1 else []
    for name in [*preferred, "single_node_tp"]:
        if name in offered:
            return name
    return offered[0] if offered else "single_node_tp"


def pool_modes(recipe: Data) -> tuple[str, ...]:
    """How the prefill and decode pools of a cluster may be spread: some of tp, tep, dep."""
    modes = set()
    for name in offered_strategies(recipe):
        parts = name.split("_")
        if name == "pd_cluster":
            continue
        if parts[-1] in ("dep", "tep", "tp"):
            modes.add(parts[-1])
        elif parts[-2:] in (["tp", "pp"], ["tp", "dp"]):
            modes.add("tp")
    ordered = [mode for mode in ("tp", "tep", "dep") if mode in (modes or {"tp"})]
    wanted = words_of(at(recipe, "strategy_overrides", "pd_cluster", "pool_modes"))
    return tuple([mode for mode in ordered if mode in wanted] or ordered)


def default_features(recipe: Data, hardware: str, variant_key: str) -> tuple[str, ...]:
    """The features that are on without a choice: all that are not opt-in, and those that the variant forces."""
    opt_in = {*names_of(recipe.get("opt_in_features")), *names_of(at(recipe, "hardware_opt_in_features", hardware))}
    forced = variables(at(recipe, "variants", variant_key, "default_modes"))
    return tuple(name for name in table(recipe.get("features")) if name in forced or name not in opt_in)


def mode_names(recipe: Data, feature: str, variant_key: str, hardware: str, profile: Data) -> tuple[str, ...]:
    """The modes of a feature that this variant and hardware allow; empty for a feature without modes."""
    modes = at(recipe, "features", feature, "modes")
    if not isinstance(modes, Mapping):
        return ()
    return tuple(key for key, mode in modes.items() if _mode_allowed(mode, variant_key, hardware, profile))


def _mode_allowed(mode: Any, variant_key: str, hardware: str, profile: Data) -> bool:
    variants = words_of(at(mode, "variants"))
    if variants and variant_key not in variants:
        return False
    gates = at(mode, "hardware")
    gen = generation(profile)
    return not isinstance(gates, Mapping) or "unsupported" not in (gates.get(gen or ""), gates.get(hardware))


def single_node_size(recipe: Data, variant: Data, profile: Data, strategy: str, hardware: str) -> int:
    """The degree of parallelism on one node: the variant's, the recipe's, one GPU if the weights fit it, all else."""
    count = gpus(profile)
    if strategy != "single_node_tp":
        return count
    for table in (variant.get("tp"), at(recipe, "strategy_overrides", strategy, "tp")):
        size = number(table) if not isinstance(table, Mapping) else number(by_hardware(table, profile, hardware))
        if size is not None and size > 0:
            return int(size) if profile.get("generation") == "cpu" else min(int(size), count)
    weights = number(variant.get("vram_minimum_gb")) or 0
    per_gpu = (number(profile.get("vram_gb")) or 0) / count if count else 0
    return 1 if 0 < weights <= per_gpu else count
