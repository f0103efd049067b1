"""The `config` of a page with cells, as SGLang's page engine (`_deployment.jsx`) understands it.

A cell is chosen by hardware and the match dimensions: those that the config declares (`matchDims`), or the four that
every config had before. Overlay dimensions (`overlayDims`) lay flags and variables over whichever cell is chosen.
Options may hang on the selection; such functions are evaluated from the syntax tree and never executed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from reviewer_tui.recipes.javascript import exported_literal, exported_members
from reviewer_tui.recipes.reading import UnreadableError
from reviewer_tui.recipes.script import Interpreter
from reviewer_tui.recipes.script_machine import Scope, ScriptFunction
from reviewer_tui.recipes.script_values import UNDEFINED, ScriptArray, ScriptObject, truthy

MAX_OVERLAYS = 200

# The dimensions of a config without `matchDims`, and where it lists their options.
FORMER_DIMENSIONS = {
    "variant": "variants",
    "quant": "quantizations",
    "strategy": "strategies",
    "nodes": "nodesOptions",
}
_LITERAL = ("supportedHardware", "hardware", "modelNames", "placeholders", "cells")
_EVALUATED = ("matchDims", "overlayDims", *FORMER_DIMENSIONS.values())


class CellConfig:
    """A config, ready to be asked what it publishes. Raises `UnreadableError` where the file is no literal, or where
    an option cannot be evaluated."""

    def __init__(self, source: bytes, path: str, name: str = "config") -> None:
        self.path = path
        self._interpreter = Interpreter(path)
        self._nodes = exported_members(source, name, path)
        config = exported_literal(source, name, path, only=_LITERAL)
        self.data: Mapping[str, Any] = config if isinstance(config, dict) else {}
        cells = self.data.get("cells")
        if not isinstance(cells, list):
            raise UnreadableError(path, f"The {name} has no list of cells.", "unknown-format")
        self.cells = cells
        evaluated = {key: self._evaluated(key) for key in _EVALUATED}
        self.has_former_dimensions = not isinstance(evaluated["matchDims"], ScriptArray)
        self.options = self._options(evaluated)
        self.overlays = [row for row in _objects(evaluated["overlayDims"]) if isinstance(row.get("id"), str)]

    def _evaluated(self, key: str) -> Any:
        node = self._nodes.get(key)
        return UNDEFINED if node is None else self._guarded(lambda: self._interpreter.expression(node, 0)(Scope()))

    def _guarded(self, evaluate: Any) -> Any:
        try:
            return evaluate()
        except RecursionError:
            raise UnreadableError(self.path, "The config is too deeply nested.", "too-large") from None

    def _options(self, evaluated: Mapping[str, Any]) -> dict[str, list[ScriptObject]]:
        """The options of every match dimension."""
        if self.has_former_dimensions:
            return {name: _objects(evaluated[key]) for name, key in FORMER_DIMENSIONS.items()}
        rows = [row for row in _objects(evaluated["matchDims"]) if isinstance(row.get("id"), str)]
        return {row["id"]: _objects(row.get("options")) for row in rows}

    @property
    def dimensions(self) -> tuple[str, ...]:
        """What a cell is chosen by: the hardware, then the match dimensions."""
        return ("hw", *self.options)

    def listed_in(self, dimension: str) -> str:
        """Where the config lists what a dimension may be."""
        if dimension == "hw":
            return "supportedHardware"
        return FORMER_DIMENSIONS[dimension] if self.has_former_dimensions else f"matchDims {dimension}"

    # -- what is published --------------------------------------------------------------------------------------------

    def hidden(self, match: Mapping[str, str]) -> str | None:
        """The dimension of a cell's match that no visitor can choose; None where the cell is published."""
        supported = self.data.get("supportedHardware")
        if match["hw"] not in (supported if isinstance(supported, list) else []):
            return "hw"
        selections = list(self.selections(match))
        return next((d for d in self.options if not any(self._offers(d, match, chosen) for chosen in selections)), None)

    def _offers(self, dimension: str, match: Mapping[str, str], selection: Mapping[str, str]) -> bool:
        option = next((o for o in self.options[dimension] if o.get("id") == match[dimension]), None)
        return option is not None and self._is_open(option, selection)

    def selections(self, match: Mapping[str, str]) -> Iterator[dict[str, str]]:
        """Every way to lay the overlays over a cell, at most `MAX_OVERLAYS`; one without overlays where there are none.

        Of a row without an option that can be chosen, nothing is laid over.
        """
        rows = [[str(o.get("id", "")) for o in _objects(row.get("options"))] or [""] for row in self.overlays]
        names = [row["id"] for row in self.overlays]
        told: set[tuple[str, ...]] = set()
        for picked in itertools.islice(itertools.product(*rows), MAX_OVERLAYS + 1):
            selection = {**match, **dict(zip(names, picked, strict=True))}
            effective = tuple(str(option["id"]) for _, option in self._picked(selection))
            rests = all(self._rests(row, selection) for row in self.overlays)
            if rests and effective not in told:
                if len(told) == MAX_OVERLAYS:
                    message = f"A cell can be overlaid in more than {MAX_OVERLAYS} ways."
                    raise UnreadableError(self.path, message, "too-large")
                told.add(effective)
                yield selection

    def _rests(self, row: ScriptObject, selection: Mapping[str, str]) -> bool:
        """Whether the page leaves the choice in an overlay row: it moves away from one that cannot be chosen."""
        open_ids = [o.get("id") for o in _objects(row.get("options")) if self._is_open(o, selection)]
        return not open_ids or not self._row_is_shown(row, selection) or selection[row["id"]] in open_ids

    def _picked(self, selection: Mapping[str, str]) -> Iterator[tuple[ScriptObject, ScriptObject]]:
        """The rows and options that are laid over the cell."""
        for row in self.overlays:
            option = next((o for o in _objects(row.get("options")) if o.get("id") == selection[row["id"]]), None)
            if option is not None and self._row_is_shown(row, selection) and self._is_enabled(option, selection):
                yield row, option

    def overlay(self, selection: Mapping[str, str], key: str) -> list[str]:
        """What the chosen overlays contribute: their `flags`, `env` or `stripPrefixes`."""
        lists = (self._said(option.get(key, UNDEFINED), selection) for _, option in self._picked(selection))
        return [text for found in lists if isinstance(found, ScriptArray) for text in found if isinstance(text, str)]

    def overlaid(self, selection: Mapping[str, str]) -> dict[str, str]:
        """The chosen option of every overlay row that counts."""
        return {row["id"]: str(option["id"]) for row, option in self._picked(selection)}

    def _row_is_shown(self, row: ScriptObject, selection: Mapping[str, str]) -> bool:
        if not self._is_visible(row, selection):
            return False
        return any(self._is_visible(option, selection) for option in _objects(row.get("options")))

    def _is_open(self, option: ScriptObject, selection: Mapping[str, str]) -> bool:
        return self._is_visible(option, selection) and self._is_enabled(option, selection)

    def _is_visible(self, item: ScriptObject, selection: Mapping[str, str]) -> bool:
        condition = item.get("showWhen", UNDEFINED)
        return not isinstance(condition, ScriptFunction) or truthy(self._said(condition, selection))

    def _is_enabled(self, option: ScriptObject, selection: Mapping[str, str]) -> bool:
        return not truthy(self._said(option.get("disabled", UNDEFINED), selection))

    def _said(self, value: Any, selection: Mapping[str, str]) -> Any:
        """A value, or what a function makes of the selection."""
        if not isinstance(value, ScriptFunction):
            return value
        choices = ScriptObject(selection, -1)
        node = next(iter(self._nodes.values()))
        return self._guarded(lambda: self._interpreter.call(value, [choices], node))


def _objects(value: Any) -> list[ScriptObject]:
    """The objects of a list; a plain text stands for an option with that id."""
    items = value if isinstance(value, ScriptArray) else []
    return [
        item if isinstance(item, ScriptObject) else ScriptObject({"id": item})
        for item in items
        if isinstance(item, ScriptObject | str)
    ]
