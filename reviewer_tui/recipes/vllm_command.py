"""The serve commands of a vLLM recipe, by the merge order of the site's own builder.

A recipe says what to add for a variant, a hardware and a feature; a strategy says how to spread it over GPUs. The
command is put together in this order, later arguments winning over earlier ones of the same flag:

1. the model's base arguments, 2. the variant's (and the variant's on exactly this hardware), 3. the strategy's and its
degree of parallelism, 4. the recipe's own for the strategy, 5. the hardware's (exact id over generation over brand; a
strategy's block for a generation replaces the recipe's and the variant's), 6. the features', 7. a KV store's or an
offload option's.

Source: `src/lib/command-synthesis.js` of vllm-project/recipes, with which the results are compared argument for
argument (see the tests).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from reviewer_tui.recipes.reading import UnreadableError
from reviewer_tui.recipes.vllm_recipe import (
    Catalog,
    Data,
    at,
    by_hardware,
    generation_block,
    gpus,
    mode_names,
    number,
    pool_modes,
    single_node_size,
    variables,
    variant_of,
    words_of,
)

# Meaningful on GB200 and GB300 trays only; the builder drops them elsewhere from prefill and decode clusters.
_TRAY_VARIABLES = (
    "VLLM_USE_NCCL_SYMM_MEM",
    "NCCL_CUMEM_ENABLE",
    "NCCL_MNNVL_ENABLE",
    "NCCL_NVLS_ENABLE",
    "UCX_NET_DEVICES",
)
_TRAYS = ("gb200", "gb300")


class Process(msgspec.Struct, frozen=True, kw_only=True):
    """One command of a rendering. `role` is worker, prefill or decode; `rank` counts the nodes of a process that
    spans several (0 is the head). `argv` are the words after `vllm serve <model>`."""

    role: str
    argv: tuple[str, ...]
    env: Mapping[str, Any]
    rank: int = 0


class Rendering(msgspec.Struct, frozen=True, kw_only=True):
    """What the page shows for one selection. `strategy` is the layout (for a KV store: of each instance)."""

    variant: str
    hardware: str
    strategy: str
    deploy_type: str
    model: str
    processes: tuple[Process, ...]
    node_count: int = 1
    kv_store: str | None = None
    instances: int = 1
    features: tuple[str, ...] = ()
    pools: Mapping[str, int] = {}
    router: tuple[str, ...] = ()


class PoolNodes(msgspec.Struct, frozen=True):
    """Whole nodes of the prefill and the decode pool; 0 where both share one node."""

    prefill: int
    decode: int

    def of(self, role: str) -> int:
        return self.prefill if role == "prefill" else self.decode


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """What a visitor of the page has chosen."""

    recipe: Mapping[str, Any]
    catalog: Catalog
    variant: str
    strategy: str
    hardware: str
    features: tuple[str, ...] = ()
    modes: Mapping[str, str] = {}
    nodes: int = 1
    pools: PoolNodes | None = None
    kv_store: str | None = None
    kv_offload: str | None = None

    @property
    def profile(self) -> Data:
        return self.catalog.hardware.get(self.hardware, {})

    @property
    def variant_data(self) -> Data:
        return variant_of(self.recipe, self.variant)

    @property
    def strategy_data(self) -> Data:
        return self.catalog.strategy(self.strategy)

    @property
    def overrides(self) -> Any:
        return at(self.recipe, "strategy_overrides", self.strategy)

    @property
    def is_cluster(self) -> bool:
        return self.strategy_data.get("deploy_type") == "pd_cluster"

    @property
    def spans_nodes(self) -> bool:
        return self.strategy_data.get("deploy_type") == "multi_node" and self.nodes > 1

    @property
    def store(self) -> Data | None:
        """The KV store that is chosen, if one is."""
        chosen = self.catalog.strategies.get(self.kv_store) if self.kv_store else None
        return chosen if chosen is not None and chosen.get("deploy_type") == "kv_store_lb" else None

    @property
    def offload(self) -> Data | None:
        """The offload option that is chosen, where strategy, recipe and hardware allow it."""
        option = self.catalog.kv_offload.get(self.kv_offload) if self.kv_offload else None
        if option is None or self.strategy_data.get("deploy_type") in ("pd_cluster", "kv_store_lb"):
            return None
        strategies, brands = words_of(option.get("strategies")), words_of(option.get("brands"))
        support = at(self.recipe, "kv_offload_support", self.kv_offload or "")
        allowed = support == "verified" if option.get("requires_opt_in") else support != "unsupported"
        fits = not strategies or self.strategy in strategies
        return option if allowed and fits and (not brands or self.profile.get("brand") in brands) else None

    @property
    def composes(self) -> bool:
        """Whether the KV store wraps the strategy's instances (in a cluster it joins the roles instead)."""
        return self.store is not None and not self.is_cluster

    @property
    def instances(self) -> int:
        return int(number(at(self.store, "default_instances")) or 2) if self.store is not None else 1

    def role_nodes(self, role: str) -> int:
        """Whole nodes of a pool; 0 where prefill and decode share one."""
        return self.pools.of(role) if self.pools is not None else int(self.nodes > 1)

    def role_settings(self, role: str) -> tuple[Data, Data]:
        """The recipe's and the strategy's settings of a role."""
        own, general = at(self.overrides, role), self.strategy_data.get(role)
        return own if isinstance(own, Mapping) else {}, general if isinstance(general, Mapping) else {}

    def role_mode(self, role: str) -> str:
        own, general = self.role_settings(role)
        return str(own.get("parallelism") or general.get("parallelism") or "tp")


def render(selection: Selection) -> Rendering:
    """The commands that the page shows for a selection. Raises `UnreadableError` where an argument is no text."""
    chosen = selection
    if chosen.is_cluster:
        processes = tuple(
            Process(role=role, argv=_argv(chosen, _arguments(chosen, role)), env=_environment(chosen, role))
            for role in ("prefill", "decode")
        )
        deploy_type = "pd_cluster"
    else:
        env = _environment(chosen, None)
        ranks = range(chosen.nodes) if chosen.spans_nodes else range(1)
        processes = tuple(
            Process(role="worker", argv=_argv(chosen, _arguments(chosen, None, rank)), env=env, rank=rank)
            for rank in ranks
        )
        deploy_type = (
            "kv_store_lb" if chosen.composes else str(chosen.strategy_data.get("deploy_type") or "single_node")
        )
    return Rendering(
        variant=chosen.variant,
        hardware=chosen.hardware,
        strategy=chosen.strategy,
        deploy_type=deploy_type,
        model=_model(chosen),
        processes=processes,
        node_count=chosen.nodes,
        kv_store=chosen.kv_store if chosen.composes else None,
        instances=chosen.instances if chosen.composes else 1,
        features=chosen.features,
        pools={role: chosen.role_nodes(role) for role in ("prefill", "decode")} if chosen.is_cluster else {},
        router=_router(chosen) if chosen.is_cluster else (),
    )


def _router(chosen: Selection) -> tuple[str, ...]:
    """The words of the router in front of a prefill and decode cluster, after `vllm-router`."""
    words = ["--policy", str(at(chosen.strategy_data, "router", "policy") or "round_robin"), "--vllm-pd-disaggregation"]
    local = [1]
    for role, port in (("prefill", 8001), ("decode", 8002)):
        own, general = chosen.role_settings(role)
        spread = chosen.role_mode(role) == "dep"
        for index in range(max(1, chosen.role_nodes(role)) if spread else 1):
            words += [f"--{role}", f"http://${role.upper()}_NODE_{index + 1}:{port}"]
        size = int(number(own.get("tp")) or number(general.get("tp")) or 1)
        local += [gpus(chosen.profile) // size] if spread else []
    declared = at(chosen.overrides, "router", "intra_node_data_parallel_size")
    ranks = max(local) if declared is None else declared
    return (*words, "--host", "$ROUTER_HOST", "--port", "$ROUTER_PORT", "--intra-node-data-parallel-size", str(ranks))


def _model(chosen: Selection) -> str:
    return str(chosen.variant_data.get("model_id") or at(chosen.recipe, "model", "model_id") or "unknown")


def _arguments(chosen: Selection, role: str | None, rank: int = 0) -> list[Any]:
    """All arguments in merge order, repeated flags included."""
    recipe, variant, profile = chosen.recipe, chosen.variant_data, chosen.profile
    args: list[Any] = []
    args += words_of(at(recipe, "model", "base_args"))
    args += words_of(variant.get("extra_args"))
    args += words_of(at(variant, "hardware_overrides", chosen.hardware, "extra_args"))
    args += _strategy_arguments(chosen, role, rank)
    own = at(chosen.overrides, role) if role else chosen.overrides
    args += words_of(at(own, "extra_args")) + words_of(at(own, "vllm_args"))
    for block in _hardware_blocks(chosen, role):
        args += words_of(at(block, "extra_args"))
    for feature in chosen.features:
        args += _feature_arguments(chosen, feature, profile)
    args += words_of(at(chosen.offload, "args"))
    if chosen.composes:
        args += words_of(at(chosen.store, "vllm", "vllm_args"))
    elif role:
        args += words_of(at(chosen.store, "pd", role, "args"))
    return args


def _strategy_arguments(chosen: Selection, role: str | None, rank: int) -> list[Any]:
    """The strategy's own arguments with its degrees of parallelism."""
    strategy, count = chosen.strategy_data, gpus(chosen.profile)
    if chosen.is_cluster:
        return words_of(at(strategy, role or "", "vllm_args")) + _pool_arguments(chosen, role or "")
    args = words_of(strategy.get("vllm_args"))
    flag = strategy.get("parallel_flag") or "--tensor-parallel-size"
    if not chosen.spans_nodes:
        size = single_node_size(chosen.recipe, chosen.variant_data, chosen.profile, chosen.strategy, chosen.hardware)
        return [*args, flag, str(size)]
    head = "$VLLM_INSTANCE_1" if chosen.composes and chosen.instances > 1 else "$HEAD_IP"
    total = count * chosen.nodes
    if flag == "--data-parallel-size":
        args += ["--data-parallel-size", str(total), "--data-parallel-size-local", str(count)]
        args += ["--data-parallel-address", head]
        return args + (["--data-parallel-start-rank", _whole(rank * _local_ranks(chosen))] if rank else [])
    if strategy.get("parallelism") == "tp_dp":
        args += ["--tensor-parallel-size", str(count), "--data-parallel-size", str(chosen.nodes)]
        args += ["--data-parallel-size-local", "1", "--data-parallel-address", head]
        return args + (["--data-parallel-start-rank", str(rank)] if rank else [])
    if strategy.get("parallelism") == "tp_pp":
        args += ["--tensor-parallel-size", str(count), "--pipeline-parallel-size", str(chosen.nodes)]
    else:
        args += ["--tensor-parallel-size", str(total)]
    args += ["--nnodes", str(chosen.nodes), "--node-rank", str(rank), "--master-addr", head]
    return args + (["--headless"] if rank else [])


def _local_ranks(chosen: Selection) -> float:
    """Data parallel ranks of one node: what the recipe says for the strategy, else one a GPU."""
    own = chosen.overrides
    words = words_of(at(own, "vllm_args")) + words_of(at(own, "extra_args"))
    words += words_of(at(generation_block(at(own, "hardware_overrides"), chosen.profile), "extra_args"))
    words += words_of(at(own, "hardware_overrides", chosen.hardware, "extra_args"))
    places = [index for index, word in enumerate(words) if word == "--data-parallel-size-local"]
    if not places or places[-1] + 1 >= len(words):
        return gpus(chosen.profile)
    try:
        return float(words[places[-1] + 1])
    except ValueError:
        return math.nan


def _whole(value: float) -> str:
    return "NaN" if math.isnan(value) else str(int(value)) if float(value).is_integer() else str(value)


def _pool_arguments(chosen: Selection, role: str) -> list[Any]:
    """The degrees of parallelism of a prefill or decode pool, as its first node shows them."""
    own, general = chosen.role_settings(role)
    count, nodes = gpus(chosen.profile), chosen.role_nodes(role)
    modes = pool_modes(chosen.recipe)
    mode = chosen.role_mode(role)
    mode = mode if mode in modes else modes[0]
    name = role.upper()
    if mode == "dep":
        declared = own.get("tp") if own.get("tp") is not None else general.get("tp")
        size = int(number(declared) or 1)
        local = max(1, count // size)
        args = ["--tensor-parallel-size", str(size)] if declared is not None else []
        args += ["--data-parallel-size", str(max(1, nodes) * local), "--data-parallel-size-local", str(local)]
        args += ["--data-parallel-start-rank", "0", "--data-parallel-address", f"${name}_NODE_1"]
        args += ["--data-parallel-rpc-port", f"${name}_DP_RPC_PORT"]
        args += ["--data-parallel-hybrid-lb"] if nodes > 1 else []
        return [*args, "--enable-expert-parallel"]
    flag = own.get("parallel_flag") or general.get("parallel_flag") or chosen.strategy_data.get("parallel_flag")
    pool = nodes * count if nodes else count // 2
    args = [flag or "--tensor-parallel-size", str(max(1, pool))]
    args += ["--enable-expert-parallel"] if mode == "tep" else []
    if nodes > 1:
        args += ["--nnodes", str(nodes), "--node-rank", "0", "--master-addr", f"${name}_NODE_1"]
    return args


def _hardware_blocks(chosen: Selection, role: str | None) -> Iterator[Any]:
    """The blocks for this hardware, in merge order.

    A strategy's block for the generation stands for the recipe's and the variant's; the strategy's and the role's
    blocks for exactly this hardware are added to whatever there is.
    """
    profile, own = chosen.profile, chosen.overrides
    replacing = generation_block(at(own, "hardware_overrides"), profile)
    if replacing:
        yield replacing
    else:
        yield generation_block(chosen.recipe.get("hardware_overrides"), profile)
        yield generation_block(chosen.variant_data.get("hardware_overrides"), profile)
    yield at(own, "hardware_overrides", chosen.hardware)
    if role:
        yield at(own, role, "hardware_overrides", chosen.hardware)


def _feature_arguments(chosen: Selection, feature: str, profile: Data) -> list[Any]:
    data = at(chosen.recipe, "features", feature)
    if not isinstance(data, Mapping):
        return []
    strategies = words_of(data.get("strategies"))
    if strategies and chosen.strategy not in strategies:
        return []
    if chosen.composes and at(data, "companion", "command"):
        return []
    if isinstance(data.get("modes"), Mapping):
        mode = at(data, "modes", _mode(chosen, feature, data) or "")
        replacing = by_hardware(at(mode, "hardware_overrides"), profile, chosen.hardware)
    else:
        mode = data
        replacing = generation_block(data.get("hardware_overrides"), profile)
    own = at(replacing, "args")
    return words_of(own if own is not None else at(mode, "args"))


def _mode(chosen: Selection, feature: str, data: Data) -> str | None:
    """The mode that is in force: the chosen one, the variant's, the feature's, else the first that is allowed."""
    allowed = mode_names(chosen.recipe, feature, chosen.variant, chosen.hardware, chosen.profile)
    preferred = (chosen.modes.get(feature), at(chosen.variant_data, "default_modes", feature), data.get("default_mode"))
    return next((str(mode) for mode in preferred if mode in allowed), allowed[0] if allowed else None)


def _environment(chosen: Selection, role: str | None) -> dict[str, Any]:
    """The environment in merge order."""
    recipe, variant, strategy = chosen.recipe, chosen.variant_data, chosen.strategy_data
    env: dict[str, Any] = {}
    env |= variables(at(recipe, "model", "base_env"))
    env |= variables(variant.get("extra_env"))
    env |= variables(at(variant, "hardware_overrides", chosen.hardware, "extra_env"))
    env |= variables(at(strategy, role, "env") if role else strategy.get("env"))
    env |= variables(at(chosen.offload, "env"))
    if chosen.composes or (role and at(chosen.store, "pd")):
        env |= variables(at(chosen.store, "vllm", "env"))
    if role:
        env |= _pool_environment(chosen, role)
    own = chosen.overrides
    env |= variables(at(own, "env"))
    env |= variables(at(own, role, "env") if role else at(own, "extra_env"))
    for block in _hardware_blocks(chosen, role):
        env |= variables(at(block, "extra_env"))
    if role and chosen.hardware not in _TRAYS:
        env = {name: value for name, value in env.items() if name not in _TRAY_VARIABLES}
    return env


def _pool_environment(chosen: Selection, role: str) -> dict[str, str]:
    """Which GPUs a pool's node uses, and the network of a pool over several nodes."""
    count, nodes = gpus(chosen.profile), chosen.role_nodes(role)
    if nodes >= 1:
        env = {"CUDA_VISIBLE_DEVICES": ",".join(map(str, range(count)))}
        network = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME") if nodes >= 2 else ()
        return env | dict.fromkeys(network, "$IFACE_NAME")
    half = count // 2
    if half <= 0:
        return {}
    used = range(half) if role == "prefill" else range(half, count)
    return {"CUDA_VISIBLE_DEVICES": ",".join(map(str, used))}


def _argv(chosen: Selection, args: Iterable[Any]) -> tuple[str, ...]:
    """The words of a command: empty ones left out, of repeated flags the last."""
    words = [word for word in args if word]
    if not all(isinstance(word, str) for word in words):
        wrong = next(word for word in words if not isinstance(word, str))
        raise UnreadableError(_model(chosen), f"The argument {wrong!r} is no text.", "bad-argument")
    return tuple(last_wins(words))


def last_wins(words: Sequence[str]) -> Iterator[str]:
    """Of each flag only the last occurrence, with its value; other words stay."""
    units: list[tuple[str, ...]] = []
    index = 0
    while index < len(words):
        takes_value = words[index].startswith("-") and index + 1 < len(words) and not words[index + 1].startswith("-")
        units.append(tuple(words[index : index + 2]) if takes_value else (words[index],))
        index += len(units[-1])
    last = {unit[0]: place for place, unit in enumerate(units) if unit[0].startswith("-")}
    for place, unit in enumerate(units):
        if last.get(unit[0], place) == place:
            yield from unit
