"""What a widget offers: its options, what is offered and enabled under a selection, and all selections.

A widget may ask one choice before it offers another. Which choices an answer read is noted, so that an answer counts
for every selection that agrees in those, and a selection that cannot be reached is dropped as soon as that is certain.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from reviewer_tui.recipes.reading import UnreadableError
from reviewer_tui.recipes.script_machine import ScriptFunction
from reviewer_tui.recipes.script_values import UNDEFINED, ScriptArray, ScriptObject, truthy

MAX_SUBSETS = 64

PICKS_PARSER = re.compile(r"\bparser\b", re.I)
"""The title of an option that only picks a parser; such options stay at their default."""

_HARDWARE = ("hardware", "hw", "gpu", "platform", "hardwarePlatform")


class Choices(ScriptObject):
    """A selection, by option; `read` are the options that a script asked for."""

    __slots__ = ("read",)

    def __init__(self, selection: Mapping[str, Any]) -> None:
        super().__init__(selection, -1)
        self.read: set[str] = set()

    def __contains__(self, name: object) -> bool:
        self.read.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        return super().__getitem__(name)

    def __iter__(self) -> Iterator[str]:
        self.read.update(super().keys())
        return super().__iter__()

    def items(self) -> Any:
        self.read.update(super().keys())
        return super().items()


class _Answers:
    """What a function of the widget answered so far. `names` are the choices that any answer read: a further selection
    that agrees in those gets the same answer."""

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()
        self.known: dict[tuple[Any, ...], Any] = {}

    def key(self, selection: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(_hashable(selection.get(name)) for name in self.names)

    def keep(self, selection: Mapping[str, Any], read: set[str], answer: Any) -> None:
        if not read <= set(self.names):
            self.names = tuple(sorted({*self.names, *read}))
            self.known = {}
        self.known[self.key(selection)] = answer


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else (type(value), value)


Ask = Callable[[ScriptFunction, Choices], Any]
_Offered = tuple[list[Any], list[Any]]


class Offer:
    """The options of a widget.

    `options` is its table, `display` a function that makes the table that is shown under a selection from it; `ask`
    puts a selection to a function of the widget, `text` writes a value.
    """

    def __init__(
        self, path: str, options: ScriptObject, display: ScriptFunction | None, ask: Ask, text: Callable[[Any], str]
    ) -> None:
        self.path = path
        self.options: Mapping[str, ScriptObject] = options
        self.names = list(options)
        self.display = display
        self.asker = ask
        self.text = text
        self.answers: dict[tuple[str, str], _Answers] = {}

    @property
    def hardware_option(self) -> str | None:
        """The option that chooses the hardware."""
        return next((name for name in self.names if name in _HARDWARE), None)

    def picks_parser(self, name: str) -> bool:
        """Whether an option only picks a parser."""
        return PICKS_PARSER.search(self.text(self.options[name].get("title", ""))) is not None

    def tells(self, name: str, selection: Mapping[str, Any]) -> bool:
        """Whether an option sets a selection apart: a visitor sees it, or it keeps what was chosen while one did."""
        return self._shown(name, selection)[0] or selection[name] != self._start[name]

    # -- selections ---------------------------------------------------------------------------------------------------

    def selections(self, hardware: Sequence[str] | None) -> Iterator[dict[str, Any]]:
        """All reachable selections: each chosen item is offered and enabled under the whole selection; an option that
        is not shown keeps what was chosen while it was. `hardware` keeps only these ids (lower case) of the hardware
        option."""
        yield from self._extend(dict(self._start), self.names, hardware)

    @functools.cached_property
    def _start(self) -> Mapping[str, Any]:
        """Where the page starts; what an option offers may depend on the others, those with fixed items first."""
        chosen: dict[str, Any] = {}
        for dynamic in (False, True):
            for name in self.names:
                option = self.options[name]
                if isinstance(option.get("getDynamicItems"), ScriptFunction) is dynamic:
                    chosen[name] = self._default(option, name, chosen)
        return chosen

    def _default(self, option: ScriptObject, name: str, chosen: Mapping[str, Any]) -> Any:
        if option.get("type") == "text":
            return option.get("default", "")
        items, _ = self.items(name, chosen)
        if option.get("type") == "checkbox":
            return ScriptArray([item["id"] for item in items if truthy(item.get("default", False))], -1)
        return _first(items)

    def _extend(
        self, chosen: dict[str, Any], remaining: list[str], hardware: Sequence[str] | None
    ) -> Iterator[dict[str, Any]]:
        if not remaining:
            if all(self._reachable(name, chosen) for name in self.names):
                yield chosen
            return
        name, values = self._next(chosen, remaining, hardware)
        rest = [other for other in remaining if other != name]
        for value in values:
            yield from self._extend({**chosen, name: value}, rest, hardware)

    def _next(
        self, chosen: Mapping[str, Any], remaining: list[str], hardware: Sequence[str] | None
    ) -> tuple[str, list[Any]]:
        """The option to choose next, and what to choose from: first one whose items hang on no later choice; where
        there is none, everything that the first one may offer."""
        for name in remaining:
            (_, enabled), read = self._offered(name, chosen, hardware)
            if not read & set(remaining) - {name}:
                return name, enabled
        (everything, _), _ = self._offered(remaining[0], chosen, hardware)
        return remaining[0], everything

    def _offered(
        self, name: str, chosen: Mapping[str, Any], hardware: Sequence[str] | None
    ) -> tuple[_Offered, set[str]]:
        """What an option offers, and what of it is enabled, under a selection; and the choices that this hangs on."""
        option, read = self.option(name, chosen)
        kind = option.get("type")
        if kind == "text":
            text = option.get("default", "")
            return ([text], [text]), read
        items, more = self.items(name, chosen)
        shown, why = self._shown(name, chosen)
        read = read | more | why
        disabled = []
        for item in items:
            is_disabled, more = self._disabled(item, name, chosen)
            read |= more
            disabled += [item["id"]] if is_disabled else []
        if kind == "checkbox":
            sets = self._subsets(items)
            return (sets, [ids for ids in sets if not any(i in disabled for i in ids)]), read
        ids = [item["id"] for item in items]
        if name == self.hardware_option and hardware is not None:
            ids = [i for i in ids if self.text(i).lower() in hardware]
        elif self.picks_parser(name):
            ids = [_first(items)] if ids else []
        return (ids, [i for i in ids if not shown or i not in disabled]), read

    def _subsets(self, items: list[ScriptObject]) -> list[Any]:
        required = [item["id"] for item in items if truthy(item.get("required", False))]
        free = [item["id"] for item in items if not truthy(item.get("required", False))]
        if 2 ** len(free) > MAX_SUBSETS:
            raise UnreadableError(self.path, f"The widget offers more than {MAX_SUBSETS} combinations.", "too-large")
        order = [item["id"] for item in items]
        chosen_sets = (
            {*required, *subset} for size in range(len(free) + 1) for subset in itertools.combinations(free, size)
        )
        return [ScriptArray([i for i in order if i in ids], -1) for ids in chosen_sets]

    def _reachable(self, name: str, selection: Mapping[str, Any]) -> bool:
        option, _ = self.option(name, selection)
        if option.get("type") == "text":
            return True
        items, _ = self.items(name, selection)
        value = selection[name]
        if option.get("type") == "checkbox":
            return not any(item["id"] in value and self._disabled(item, name, selection)[0] for item in items)
        if not self._shown(name, selection)[0]:
            return True
        item = next((item for item in items if item["id"] == value), None)
        return item is not None and not self._disabled(item, name, selection)[0]

    # -- what the widget says to a selection --------------------------------------------------------------------------

    def option(self, name: str, selection: Mapping[str, Any]) -> tuple[ScriptObject, set[str]]:
        """An option as it is under a selection; where it is not shown, as its table has it."""
        displayed, read = self._displayed(name, selection)
        return (displayed or self.options[name]), read

    def _displayed(self, name: str, selection: Mapping[str, Any]) -> tuple[ScriptObject | None, set[str]]:
        if self.display is None:
            return self.options[name], set()
        shown, read = self._ask(("display", ""), self.display, selection)
        option = shown.get(name) if isinstance(shown, ScriptObject) else None
        return (option if isinstance(option, ScriptObject) else None), read

    def items(self, name: str, selection: Mapping[str, Any]) -> tuple[list[ScriptObject], set[str]]:
        """The items of an option under a selection."""
        option, read = self.option(name, selection)
        dynamic = option.get("getDynamicItems", UNDEFINED)
        items = option.get("items", UNDEFINED)
        if isinstance(dynamic, ScriptFunction):
            items, more = self._ask((name, "items"), dynamic, selection)
            read = read | more
        if not isinstance(items, ScriptArray) or not all(isinstance(i, ScriptObject) and "id" in i for i in items):
            raise UnreadableError(self.path, f"The widget's option {name} has no list of items.", "unknown-format")
        return list(items), read

    def _shown(self, name: str, selection: Mapping[str, Any]) -> tuple[bool, set[str]]:
        option, read = self._displayed(name, selection)
        condition = UNDEFINED if option is None else option.get("condition", UNDEFINED)
        if not isinstance(condition, ScriptFunction):
            return option is not None, read
        answer, more = self._ask((name, "shown"), condition, selection)
        return truthy(answer), read | more

    def _disabled(self, item: ScriptObject, name: str, selection: Mapping[str, Any]) -> tuple[bool, set[str]]:
        condition = item.get("disabledWhen", UNDEFINED)
        if not isinstance(condition, ScriptFunction):
            return truthy(item.get("disabled", False)), set()
        changes = self.display is not None or "getDynamicItems" in self.options[name]
        question = None if changes else (name, f"disabled {self.text(item['id'])}")
        answer, read = self._ask(question, condition, selection)
        return truthy(answer) or truthy(item.get("disabled", False)), read

    def _ask(
        self, question: tuple[str, str] | None, function: ScriptFunction, selection: Mapping[str, Any]
    ) -> tuple[Any, set[str]]:
        """The answer to a question, and the choices that it hangs on. What functions that an answer holds remember is
        not known: such an answer hangs on every choice and is not kept, nor what is asked of those (no `question`)."""
        choices = Choices(selection)
        if question is None:
            return self.asker(function, choices), set(self.names)
        answers = self.answers.setdefault(question, _Answers())
        key = answers.key(selection)
        if key in answers.known:
            return answers.known[key], set(answers.names)
        answer = self.asker(function, choices)
        if _holds_functions(answer):
            return answer, set(self.names)
        answers.keep(selection, choices.read, answer)
        return answer, choices.read


def _holds_functions(value: Any) -> bool:
    if isinstance(value, ScriptObject):
        return any(map(_holds_functions, value.values()))
    return any(map(_holds_functions, value)) if isinstance(value, ScriptArray) else isinstance(value, ScriptFunction)


def _first(items: list[ScriptObject]) -> Any:
    """The item that a page starts with."""
    enabled = [item for item in items if not truthy(item.get("disabled", False))]
    preferred = [item for item in enabled if truthy(item.get("default", False))]
    chosen = (preferred or enabled or items)[:1]
    return chosen[0].get("id") if chosen else UNDEFINED
