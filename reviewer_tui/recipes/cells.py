"""Encoding B: a `config` literal whose cells are deployments, flat and complete."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from reviewer_tui.model.finding import Problem
from reviewer_tui.recipes.arguments import read_arguments
from reviewer_tui.recipes.arm import Reading, RecipeArm, Role, line_of
from reviewer_tui.recipes.command import plain_words
from reviewer_tui.recipes.javascript import exported_literal
from reviewer_tui.recipes.reading import UnreadableError

MAX_CELLS = 5_000

_DIMENSIONS = {
    "hw": "supportedHardware",
    "variant": "variants",
    "quant": "quantizations",
    "strategy": "strategies",
    "nodes": "nodesOptions",
}
_KEYS = (*_DIMENSIONS.values(), "hardware", "modelNames", "placeholders", "cells")
_PLACEHOLDER = re.compile(r"\{\{(\w{1,60})\}\}")
_NODES = re.compile(r"multi-(\d{1,3})$")


def read(source: bytes, origin: Mapping[str, str], name: str = "config") -> Reading:
    """The published cells of a config file.

    A cell is published where the page's selectors can reach it: each value of its `match` is declared, and no earlier
    cell has the same match (SGLang's page engine shows the first). What the playground's knobs could add is not
    published. Raises `UnreadableError` where the file is no literal.
    """
    path = origin["path"]
    config = exported_literal(source, name, path, only=_KEYS)
    cells = config.get("cells") if isinstance(config, dict) else None
    if not isinstance(cells, list):
        raise UnreadableError(path, f"The {name} has no list of cells.", "unknown-format")
    declared = {dimension: _declared(config, key) for dimension, key in _DIMENSIONS.items()}
    arms: dict[tuple[str, ...], RecipeArm] = {}
    problems: list[Problem] = []
    for cell in cells[:MAX_CELLS]:
        match = _match(cell)
        if match is None:
            problems.append(Problem(path=path, message="A cell has no complete match.", rule="bad-cell"))
            continue
        hidden = next((d for d, value in match.items() if value not in declared[d]), None)
        if hidden is not None:
            problems.append(_unreachable(path, match, hidden, cell))
        elif tuple(match.values()) not in arms:
            arms[tuple(match.values())] = _arm(cell, match, config, origin)
    return Reading(arms=tuple(arms.values()), problems=tuple(problems))


def _declared(config: Mapping[str, Any], key: str) -> frozenset[str]:
    values = config.get(key)
    listed = values if isinstance(values, list) else []
    return frozenset(str(v.get("id", "")) if isinstance(v, dict) else str(v) for v in listed)


def _match(cell: Any) -> dict[str, str] | None:
    match = cell.get("match") if isinstance(cell, dict) else None
    if not isinstance(match, dict) or not all(isinstance(match.get(d), str) for d in _DIMENSIONS):
        return None
    return {dimension: match[dimension] for dimension in _DIMENSIONS}


def _unreachable(path: str, match: Mapping[str, str], dimension: str, cell: Mapping[str, Any]) -> Problem:
    message = (
        f"The cell {' · '.join(match.values())} is not published: {match[dimension]} is not among the page's "
        f"{_DIMENSIONS[dimension]}."
    )
    return Problem(path=path, message=message, rule="unpublished-cell", line=line_of(cell["match"][dimension]))


def _arm(
    cell: Mapping[str, Any], match: Mapping[str, str], config: Mapping[str, Any], origin: Mapping[str, str]
) -> RecipeArm:
    checkpoint = _checkpoint(config, match)
    texts = _defaults(config) | {"MODEL_NAME": checkpoint}
    words = [word for flag in _texts(cell.get("flags")) for word in _words(flag, texts)]
    env = dict(_assignment(text, texts) for text in _texts(cell.get("env")))
    nodes = _NODES.match(match["nodes"])
    count = int(nodes[1]) if nodes and int(nodes[1]) > 0 else 1
    args = read_arguments("sglang", words)
    model = args["model"].value if "model" in args else checkpoint
    return RecipeArm(
        repository=origin["repository"],
        path=origin["path"],
        commit=origin["commit"],
        url=origin["url"],
        label=" · ".join(match.values()),
        engine="sglang",
        checkpoint=str(model),
        hardware=match["hw"].lower(),
        nodes=count,
        roles=(Role(name="worker", args=args, env=env, nodes=count),),
        encoding="cells",
        line=line_of(cell["match"]["hw"]),
        verified=_verified(cell),
        selection={name: str(value) for name, value in match.items()},
    )


def _checkpoint(config: Mapping[str, Any], match: Mapping[str, str]) -> str:
    """The checkpoint of a cell: by hardware, variant and quantization, else by variant and quantization."""
    names = config.get("modelNames")
    if not isinstance(names, dict):
        return ""
    pair = f"{match['variant']}|{match['quant']}"
    return str(names.get(f"{match['hw']}|{pair}") or names.get(pair) or "")


def _defaults(config: Mapping[str, Any]) -> dict[str, str]:
    placeholders = config.get("placeholders")
    if not isinstance(placeholders, dict):
        return {}
    return {
        str(name): str(settings["default"])
        for name, settings in placeholders.items()
        if isinstance(settings, dict) and "default" in settings
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
