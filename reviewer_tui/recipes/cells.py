"""Encoding B: a `config` literal whose cells are deployments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from reviewer_tui.model.finding import Problem
from reviewer_tui.recipes.arguments import read_arguments
from reviewer_tui.recipes.arm import Reading, RecipeArm, Role, RoleName, line_of
from reviewer_tui.recipes.cell_config import CellConfig
from reviewer_tui.recipes.command import plain_words

MAX_CELLS = 5_000

_PLACEHOLDER = re.compile(r"\{\{(\w{1,60})\}\}")
_NODES = re.compile(r"multi-(\d{1,3})$")
_FIRST = re.compile(r"[\s=]")
ROLES: Mapping[str, RoleName] = {"prefill": "prefill", "decode": "decode"}
"""What a cell serves where the dimension `pdMode` has one of these values."""


def read(source: bytes, origin: Mapping[str, str], name: str = "config") -> Reading:
    """The published cells of a config file, each with every overlay that can be laid over it.

    A cell is published where the page's selectors can reach it: each value of its `match` is declared and can be
    chosen, and no earlier cell has the same match (SGLang's page engine shows the first). What the playground's knobs
    could add is not published. Raises `UnreadableError` where the file is no literal.
    """
    path = origin["path"]
    config = CellConfig(source, path, name)
    arms: dict[tuple[str, ...], RecipeArm] = {}
    taken: set[tuple[str, ...]] = set()
    problems: list[Problem] = []
    for cell in config.cells[:MAX_CELLS]:
        match = _match(cell, config)
        if match is None:
            problems.append(Problem(path=path, message="A cell has no complete match.", rule="bad-cell"))
            continue
        hidden = config.hidden(match)
        if hidden is not None:
            problems.append(_unreachable(path, match, hidden, cell, config))
        elif tuple(match.values()) not in taken and cell.get("redirect") is not True:
            taken.add(tuple(match.values()))
            for selection in config.selections(match):
                arms[tuple(selection.values())] = _arm(cell, match, selection, config, origin)
    return Reading(arms=tuple(arms.values()), problems=tuple(problems))


def _match(cell: Any, config: CellConfig) -> dict[str, str] | None:
    match = cell.get("match") if isinstance(cell, dict) else None
    if not isinstance(match, dict) or not all(isinstance(match.get(d), str) for d in config.dimensions):
        return None
    return {dimension: match[dimension] for dimension in config.dimensions}


def _unreachable(
    path: str, match: Mapping[str, str], dimension: str, cell: Mapping[str, Any], config: CellConfig
) -> Problem:
    message = (
        f"The cell {' · '.join(match.values())} is not published: {match[dimension]} is not among the page's "
        f"{config.listed_in(dimension)}."
    )
    return Problem(path=path, message=message, rule="unpublished-cell", line=line_of(cell["match"][dimension]))


def _arm(
    cell: Mapping[str, Any],
    match: Mapping[str, str],
    selection: Mapping[str, str],
    config: CellConfig,
    origin: Mapping[str, str],
) -> RecipeArm:
    checkpoint = checkpoint_of(config.data, match)
    texts = _defaults(config.data) | {"MODEL_NAME": checkpoint}
    stripped = config.overlay(selection, "stripPrefixes")
    flags = [flag for flag in _texts(cell.get("flags")) if _FIRST.split(flag, 1)[0] not in stripped]
    words = [word for flag in (*flags, *config.overlay(selection, "flags")) for word in _words(flag, texts)]
    variables = (*_texts(cell.get("env")), *config.overlay(selection, "env"))
    env = dict(_assignment(text, texts) for text in variables)
    nodes = _nodes(cell, match)
    args = read_arguments("sglang", words)
    model = args["model"].value if "model" in args else checkpoint
    chosen = {**match, **config.overlaid(selection)}
    return RecipeArm(
        repository=origin["repository"],
        path=origin["path"],
        commit=origin["commit"],
        url=origin["url"],
        label=" · ".join(chosen.values()),
        engine="sglang",
        checkpoint=str(model),
        hardware=match["hw"].lower(),
        nodes=nodes,
        roles=(Role(name=ROLES.get(match.get("pdMode", ""), "worker"), args=args, env=env, nodes=nodes),),
        encoding="cells",
        line=line_of(cell["match"]["hw"]),
        verified=_verified(cell),
        selection={name: str(value) for name, value in chosen.items()},
    )


def _nodes(cell: Mapping[str, Any], match: Mapping[str, str]) -> int:
    """How many nodes a cell spans: by its dimension `nodes` where the config has one, else as the cell says."""
    if "nodes" in match:
        found = _NODES.match(match["nodes"])
        count: Any = int(found[1]) if found else 1
    else:
        count = cell.get("nnodes", 1)
    return count if isinstance(count, int) and not isinstance(count, bool) and count > 0 else 1


def checkpoint_of(config: Mapping[str, Any], match: Mapping[str, str]) -> str:
    """The checkpoint of a cell: named by hardware, variant and quantization, or by fewer of them; the first that there
    is, else the only one."""
    names = config.get("modelNames")
    if not isinstance(names, dict):
        return ""
    hardware, variant, quantization = match["hw"], match.get("variant", ""), match.get("quant", "")
    keys = (
        f"{hardware}|{variant}|{quantization}",
        f"{variant}|{quantization}",
        f"{hardware}|{quantization}",
        quantization,
        hardware,
        "default",
    )
    return next((str(names[key]) for key in keys if names.get(key)), "")


def _defaults(config: Mapping[str, Any]) -> dict[str, str]:
    placeholders = config.get("placeholders")
    if not isinstance(placeholders, dict):
        return {}
    return {
        str(name): str(settings.get("default", ""))
        for name, settings in placeholders.items()
        if isinstance(settings, dict)
    }


def _texts(values: Any) -> list[str]:
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []


def _filled(text: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)


def _words(flag: str, values: Mapping[str, str]) -> list[str]:
    return plain_words(_filled(flag, values), line_of(flag))


def _assignment(text: str, values: Mapping[str, str]) -> tuple[str, str]:
    name, _, value = _filled(text, values).partition("=")
    return name.strip(), value.strip("'\"")


def _verified(cell: Mapping[str, Any]) -> bool:
    """Whether the page shows the cell as verified; without a word it shows it as not verified."""
    status = cell.get("verificationStatus")
    return status == "verified" if isinstance(status, str) else cell.get("verified") is True
