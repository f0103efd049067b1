"""Encoding C: AgentX data, generated from InferenceX's own submissions.

The data says where each cell came from, for all of its points (`prov`) or point by point. A cell that matches a pull
request may have been made from that very pull request, so every arm carries its provenance. Only the router and cache
tier that were measured count; the page derives the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reviewer_tui.model.finding import Problem
from reviewer_tui.recipes.arguments import read_arguments
from reviewer_tui.recipes.arm import Provenance, Reading, RecipeArm, Role, RoleName
from reviewer_tui.recipes.javascript import exported_literal
from reviewer_tui.recipes.reading import UnreadableError

MAX_CELLS = 2_000
MAX_CHAIN = 50

_ROLES: Mapping[str, RoleName] = {"agg": "worker", "prefill": "prefill", "decode": "decode"}
_ROUTERS = ("sglang-router", "dynamo-frontend", "vllm-router")
_OWN_KEYS = ("from", "ref", "diff", "drop")


def read(source: bytes, origin: Mapping[str, str]) -> Reading:
    """The measured deployments of an AgentX file, one arm a point of a cell.

    Raises `UnreadableError` where the file is no literal; a cell that cannot be decoded is a problem.
    """
    data = exported_literal(source, "agentx", origin["path"])
    if not isinstance(data, dict) or not isinstance(data.get("cells"), list):
        raise UnreadableError(origin["path"], "The AgentX data has no list of cells.", "unknown-format")
    decoder = _Decoder(data, origin["path"])
    arms: list[RecipeArm] = []
    problems: list[Problem] = []
    for index in range(min(len(data["cells"]), MAX_CELLS)):
        try:
            arms.extend(_cell_arms(decoder, index, data, origin))
        except UnreadableError as error:
            problems.append(error.problem)
    return Reading(arms=tuple(arms), problems=tuple(problems))


class _Decoder:
    """Blocks of cells with their references and differences applied."""

    def __init__(self, data: Mapping[str, Any], path: str) -> None:
        self.data = data
        self.path = path
        self.cells: list[Any] = data["cells"]
        self.memo: dict[tuple[int, str], list[dict[str, Any]]] = {}
        self.pending: set[tuple[int, str]] = set()

    def fail(self, index: int, message: str) -> UnreadableError:
        cell = self.cells[index] if 0 <= index < len(self.cells) else None
        name = cell.get("id", index) if isinstance(cell, dict) else index
        return UnreadableError(self.path, f"Cell {name}: {message}", "bad-cell")

    def blocks(self, index: int, router: str) -> list[dict[str, Any]]:
        """The processes of a cell under a router, as its first point measured them."""
        key = (index, router)
        if key in self.memo:
            return self.memo[key]
        if key in self.pending or len(self.pending) > MAX_CHAIN:
            raise self.fail(index, "its references lead back to itself.")
        self.pending.add(key)
        try:
            self.memo[key] = [self.block(index, entry) for entry in self.entries(index, router)]
        finally:
            self.pending.discard(key)
        return self.memo[key]

    def entries(self, index: int, router: str) -> list[Any]:
        cell = self.cells[index] if 0 <= index < len(self.cells) else None
        routers = cell.get("routers") if isinstance(cell, dict) else None
        under = routers.get(router) if isinstance(routers, dict) else None
        entries = under.get("blocks") if isinstance(under, dict) else None
        if not isinstance(entries, list):
            raise self.fail(index, f"it has no processes for the router {router}.")
        return entries

    def block(self, index: int, entry: Any) -> dict[str, Any]:
        if not isinstance(entry, dict):
            raise self.fail(index, "a process of it is no object.")
        base = self.base(index, entry)
        block = dict(entry) if base is None else self.derived(index, base, entry)
        reference = block.pop("envRef", None)
        if reference is not None:
            shared = self.data.get("envs")
            if not isinstance(shared, list) or not isinstance(reference, int) or not 0 <= reference < len(shared):
                raise self.fail(index, "it refers to an environment that is not there.")
            block["env"] = shared[reference]
        return block

    def base(self, index: int, entry: Mapping[str, Any]) -> dict[str, Any] | None:
        """The block that an entry refers to; None for a full one."""
        if entry.get("ref"):
            reference = entry["ref"]
            if not isinstance(reference, list) or len(reference) != 3:
                raise self.fail(index, "a reference of it is not cell, router and number.")
            cell, router, place = reference
        elif "from" in entry:
            cell, router, place = index, str(self.cells[index].get("submitted", "")), entry["from"]
        else:
            return None
        if not isinstance(cell, int) or not 0 <= cell < len(self.cells):
            raise self.fail(index, "it refers to a cell that is not there.")
        blocks = self.blocks(cell, str(router))
        if not isinstance(place, int) or not 0 <= place < len(blocks):
            raise self.fail(index, "it refers to a process that is not there.")
        return blocks[place]

    def derived(self, index: int, base: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
        dropped = entry.get("drop")
        block = {k: v for k, v in base.items() if not isinstance(dropped, list) or k not in dropped}
        block.update({k: v for k, v in entry.items() if k not in _OWN_KEYS})
        return self.changed(index, block, entry.get("diff"))

    def changed(self, index: int, block: Mapping[str, Any], difference: Any) -> dict[str, Any]:
        """A block with a difference applied: null takes an argument or a variable away."""
        if difference is None:
            return dict(block)
        if not isinstance(difference, dict):
            raise self.fail(index, "a difference of it is no object.")
        if isinstance(difference.get("block"), dict):
            return dict(difference["block"])
        args = {row[0]: row[1:] for row in _rows(block.get("args"))}
        for flag, values in _mapping(difference.get("args")).items():
            args.pop(flag, None) if values is None else args.update({flag: _list(values)})
        env = {**_mapping(block.get("env")), **_mapping(difference.get("env"))}
        return {
            **block,
            "args": [[flag, *values] for flag, values in args.items()],
            "env": {name: value for name, value in env.items() if value is not None},
        }

    def point(self, index: int, blocks: list[dict[str, Any]], patch: Any) -> list[dict[str, Any]]:
        """The processes of a later point: the first point's, patched."""
        if not patch:
            return blocks
        if isinstance(patch, dict) and isinstance(patch.get("replace"), list):
            return [self.block(index, entry) for entry in patch["replace"]]
        if isinstance(patch, list):
            return [
                self.changed(index, block, patch[place] if place < len(patch) else None)
                for place, block in enumerate(blocks)
            ]
        raise self.fail(index, "a point's patch has an unknown form.")


def _rows(value: Any) -> list[list[Any]]:
    """Arguments, each a flag and its values."""
    rows = value if isinstance(value, list) else []
    return [row for row in rows if isinstance(row, list) and row and isinstance(row[0], str)]


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _cell_arms(decoder: _Decoder, index: int, data: Mapping[str, Any], origin: Mapping[str, str]) -> list[RecipeArm]:
    cell = data["cells"][index]
    if not isinstance(cell, dict):
        raise decoder.fail(index, "it is no object.")
    router = str(cell.get("submitted", ""))
    first = decoder.blocks(index, router)
    points = cell.get("points") if isinstance(cell.get("points"), list) else []
    arms = []
    for place, point in enumerate(points or [{}]):
        patch = _mapping(_mapping(point).get("patch")).get(router) if place else None
        roles = _roles(decoder.point(index, first, patch))
        if any(role.name != "router" for role in roles):
            arms.append(_arm(cell, _mapping(point), roles, data, origin))
    return arms


def _roles(blocks: list[dict[str, Any]]) -> tuple[Role, ...]:
    roles = []
    for block in blocks:
        kind, role = block.get("kind"), _ROLES.get(str(block.get("role", "")))
        name: RoleName | None = role if kind == "worker" else "router" if kind in _ROUTERS else None
        if name is None:
            continue
        words = [str(word) for row in _rows(block.get("args")) for word in row]
        env = {str(k): str(v) for k, v in _mapping(block.get("env")).items()}
        roles.append(
            Role(
                name=name,
                args=read_arguments("sglang", words),
                env=env,
                workers=_count(block.get("workers", block.get("count"))),
                nodes=_count(block.get("nodes_per_worker")),
            )
        )
    return tuple(roles)


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 1


def _arm(
    cell: Mapping[str, Any],
    point: Mapping[str, Any],
    roles: tuple[Role, ...],
    data: Mapping[str, Any],
    origin: Mapping[str, str],
) -> RecipeArm:
    provenance = _provenance(cell, point, data)
    concurrencies = point.get("concs")
    measured = f"c{'/'.join(map(str, concurrencies))}" if isinstance(concurrencies, list) else ""
    words = (str(cell.get("label", cell.get("id", ""))), str(cell.get("detail", "")), measured)
    return RecipeArm(
        repository=origin["repository"],
        path=origin["path"],
        commit=origin["commit"],
        url=origin["url"],
        label=" · ".join(filter(None, words)),
        engine="sglang",
        checkpoint=str(cell.get("ckpt", "")),
        hardware=str(cell.get("hw", "")).lower(),
        nodes=sum(role.workers * role.nodes for role in roles if role.name != "router"),
        roles=roles,
        encoding="agentx",
        verified=provenance.status.startswith("verified"),
        provenance=provenance,
        selection={"cell": str(cell.get("id", ""))},
    )


def _provenance(cell: Mapping[str, Any], point: Mapping[str, Any], data: Mapping[str, Any]) -> Provenance:
    """Where a point came from. What it says itself goes before what its cell says."""
    own = {name: point[name] for name in ("sha", "status", "pr") if point.get(name) is not None}
    told = {**_mapping(cell.get("prov")), **own}
    source = _mapping(data.get("source"))
    number = str(told.get("pr", ""))
    return Provenance(
        repository=str(source.get("repo", "")).removeprefix("https://github.com/"),
        commit=str(told.get("sha", "")),
        status=str(told.get("status", "unknown")),
        pull_request=int(number) if number.isdecimal() and len(number) < 12 else None,
        run=str(point.get("runUrl") or told.get("run") or ""),
        config_key=str(cell.get("configKey", "")),
    )
