"""Encoding A: a React widget whose function builds the command from the visitor's choices.

The widget's `options` give the choices, its command function the text. Both are evaluated from the syntax tree
(`script`), choice by choice; what cannot be evaluated is said with its line.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from tree_sitter import Node

from reviewer_tui.recipes.javascript import exported, line_of_node, parse, text_of
from reviewer_tui.recipes.reading import UnreadableError
from reviewer_tui.recipes.script import Interpreter
from reviewer_tui.recipes.script_machine import Scope, ScriptFunction
from reviewer_tui.recipes.script_values import UNDEFINED, ScriptArray, ScriptObject, truthy

MAX_SELECTIONS = 4_000
MAX_SUBSETS = 64

_COMMAND_FUNCTION = re.compile(r"(?:generate|build|render|make|get)\w*Command$")
_PARSER = re.compile(r"\bparser\b", re.I)
_HARDWARE = ("hardware", "hw", "gpu", "platform", "hardwarePlatform")


class WidgetCommand(msgspec.Struct, frozen=True, kw_only=True):
    """One reachable selection and the command that the widget shows for it."""

    selection: dict[str, str]
    text: str
    line: int


class Widget:
    """A widget, ready to be asked for commands.

    `source` is the `.jsx` file; `component` the exported name that the page imports (None: the first function).
    Raises `UnreadableError` where the file has no component with options and a command function.
    """

    def __init__(self, source: bytes, path: str, component: str | None = None) -> None:
        self.path = path
        self.interpreter = Interpreter(path)
        self.body = _component_body(parse(source, path), path, component)
        self.scope = Scope()
        self.states: dict[str, Any] = {}
        self.reads = 0
        self.shared: dict[str, Any] = {}
        self.lines: dict[str, int] = {}
        self.declared: dict[str, Node | None] = {}
        self._declare()
        self.command_name = self._command_name()
        self.options = self._options()

    # -- the component's own scope --------------------------------------------------------------------------------

    def _declare(self) -> None:
        """Bind the component's declarations so that each is evaluated when it is first needed."""
        lazy: dict[str, Callable[[], Any]] = {}
        outer = Scope()
        for node in self.body.named_children:
            if node.type == "function_declaration":
                name = node.child_by_field_name("name")
                if name is not None:
                    self._declare_one(lazy, text_of(name), node, node)
            elif node.type in ("lexical_declaration", "variable_declaration"):
                for declarator in node.named_children:
                    self._declare_declarator(lazy, declarator)
        outer.names["useState"] = lambda initial=UNDEFINED: ScriptArray([initial, UNDEFINED], -1)
        outer.names["useMemo"] = lambda function, *_: self.interpreter.call(function, [], self.body)
        outer.names["useCallback"] = lambda function, *_: function
        self.scope = Scope(outer)
        self.scope.lazy = lazy

    def _declare_declarator(self, lazy: dict[str, Callable[[], Any]], declarator: Node) -> None:
        name, value = declarator.child_by_field_name("name"), declarator.child_by_field_name("value")
        if declarator.type != "variable_declarator" or name is None:
            return
        state = _state_name(name, value)
        if state is not None:
            lazy[state] = functools.partial(self._read_state, state)
            return
        for bound in _bound_names(name):
            self._declare_one(lazy, bound, declarator, value)

    def _declare_one(self, lazy: dict[str, Callable[[], Any]], name: str, node: Node, value: Node | None) -> None:
        self.lines[name] = line_of_node(node)
        self.declared[name] = value
        compiled: list[Callable[[Scope], Any]] = []

        def evaluate() -> Any:
            if name in self.shared:
                return self.shared[name]
            if not compiled:
                is_function = node.type == "function_declaration"
                make = self.interpreter.function_declaration if is_function else self.interpreter.declarator
                compiled.append(make(node, 0))
            before = self.reads
            compiled[0](self.scope)
            value = self.scope.names.get(name, UNDEFINED)
            if self.reads == before:
                self.interpreter.freeze(value)
                self.shared[name] = value
            return value

        lazy[name] = evaluate

    def _read_state(self, name: str) -> Any:
        """The visitor's choices. Reads are counted: what was evaluated with them is evaluated anew for the next."""
        self.reads += 1
        if name not in self.states:
            raise UnreadableError(self.path, f"The widget's state {name} is not known.", "cannot-evaluate")
        return self.states[name]

    def get(self, name: str) -> Any:
        """The value of one of the component's declarations; undefined where it has none of that name."""
        lazy = self.scope.lazy or {}
        if name not in lazy:
            return UNDEFINED
        return self.scope.names[name] if name in self.scope.names else lazy[name]()

    # -- what the widget offers -----------------------------------------------------------------------------------

    def _command_name(self) -> str:
        for name in self.scope.lazy or {}:
            if _COMMAND_FUNCTION.match(name):
                return name
        raise UnreadableError(self.path, "The widget has no function that builds a command.", "unknown-format")

    def _options(self) -> Mapping[str, ScriptObject]:
        options = self.guarded(lambda: self.get("options"))
        if not isinstance(options, ScriptObject) or not all(isinstance(o, ScriptObject) for o in options.values()):
            raise UnreadableError(self.path, "The widget has no table of options.", "unknown-format")
        return options

    def guarded(self, evaluate: Callable[[], Any]) -> Any:
        try:
            return evaluate()
        except RecursionError:
            raise UnreadableError(self.path, "The widget's script is too deeply nested.", "too-large") from None

    @property
    def hardware_option(self) -> str | None:
        """The option that chooses the hardware."""
        return next((name for name in self.options if name in _HARDWARE), None)

    def commands(self, hardware: Sequence[str] | None = None) -> Iterator[WidgetCommand]:
        """The command of every selection that a visitor can reach, one at a time.

        `hardware` keeps only these ids of the hardware option. Options that only pick a parser stay at their default.
        Raises `UnreadableError` where the script cannot be evaluated or offers too many selections.
        """
        for count, selection in enumerate(self.selections(hardware)):
            if count >= MAX_SELECTIONS:
                raise UnreadableError(
                    self.path, f"The widget offers more than {MAX_SELECTIONS} selections.", "too-large"
                )
            yield WidgetCommand(
                selection={name: self.chosen(value) for name, value in selection.items()},
                text=self.command(selection),
                line=self.lines[self.command_name],
            )

    def command(self, selection: Mapping[str, Any]) -> str:
        """The text that the widget shows for a selection."""
        values = self._start(selection)
        function = self.guarded(lambda: self.get(self.command_name))
        if not isinstance(function, ScriptFunction):
            raise UnreadableError(self.path, "The widget's command function is no function.", "unknown-format")
        before = self.reads
        text = self.text(self.guarded(lambda: self.interpreter.call(function, [values], self.body)))
        if self.reads == before and not self._takes_values:
            raise UnreadableError(self.path, "The widget keeps its choices in an unknown way.", "unknown-format")
        return text

    def text(self, value: Any) -> str:
        return self.interpreter.shown(value, self.body)

    def chosen(self, value: Any) -> str:
        """The chosen item, or items, in a word."""
        return self.interpreter.joined(value if isinstance(value, ScriptArray) else [value], "+", self.body)

    @functools.cached_property
    def _takes_values(self) -> bool:
        """Whether the command function takes the choices as its argument."""
        for name, value in self.declared.items():
            if name == self.command_name and value is not None:
                parameters = value.child_by_field_name("parameters")
                single = value.child_by_field_name("parameter") is not None
                return single or (parameters is not None and parameters.named_child_count > 0)
        return False

    def _start(self, selection: Mapping[str, Any]) -> ScriptObject:
        """Begin an evaluation with these choices: forget what depended on the previous ones."""
        self.interpreter.era += 1
        self.scope.names = {name: value for name, value in self.scope.names.items() if name in self.shared}
        values = ScriptObject(dict(selection), -1)
        for name in self.scope.lazy or {}:
            if name not in self.lines:
                self.states[name] = values
        return values

    # -- selections -----------------------------------------------------------------------------------------------

    def selections(self, hardware: Sequence[str] | None) -> Iterator[dict[str, Any]]:
        """All reachable selections: each chosen item is offered and enabled under the whole selection."""
        names = list(self.options)
        for selection in self._extend({}, names, hardware):
            if all(self._reachable(name, selection) for name in names):
                yield selection

    def _extend(
        self, chosen: dict[str, Any], names: list[str], hardware: Sequence[str] | None
    ) -> Iterator[dict[str, Any]]:
        if not names:
            yield chosen
            return
        name, rest = names[0], names[1:]
        for value in self._values(name, chosen, hardware):
            yield from self._extend({**chosen, name: value}, rest, hardware)

    def _values(self, name: str, chosen: Mapping[str, Any], hardware: Sequence[str] | None) -> list[Any]:
        option = self.options[name]
        if option.get("type") == "text":
            return [option.get("default", "")]
        items = self.items(name, chosen)
        if option.get("type") == "checkbox":
            return self._subsets(items, chosen)
        ids = [item["id"] for item in items if "id" in item]
        if name == self.hardware_option and hardware is not None:
            return [i for i in ids if self.text(i).lower() in hardware]
        if not self._shown(option, chosen) or _PARSER.search(self.text(option.get("title", ""))):
            return [_default(items)] if ids else []
        return ids

    def _subsets(self, items: list[ScriptObject], chosen: Mapping[str, Any]) -> list[Any]:
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
        option = self.options[name]
        if option.get("type") == "text":
            return True
        items = self.items(name, selection)
        value = selection[name]
        if option.get("type") == "checkbox":
            return not any(item["id"] in value and self._disabled(item, selection) for item in items)
        item = next((item for item in items if item.get("id") == value), None)
        if not self._shown(option, selection):
            return bool(value == _default(items))
        return item is not None and not self._disabled(item, selection)

    def items(self, name: str, values: Mapping[str, Any]) -> list[ScriptObject]:
        """The items of an option under a selection."""
        option = self.options[name]
        dynamic = option.get("getDynamicItems", UNDEFINED)
        items = self._ask(dynamic, values) if isinstance(dynamic, ScriptFunction) else option.get("items", UNDEFINED)
        if not isinstance(items, ScriptArray) or not all(isinstance(i, ScriptObject) and "id" in i for i in items):
            raise UnreadableError(self.path, f"The widget's option {name} has no list of items.", "unknown-format")
        return list(items)

    def _shown(self, option: ScriptObject, values: Mapping[str, Any]) -> bool:
        condition = option.get("condition", UNDEFINED)
        return not isinstance(condition, ScriptFunction) or truthy(self._ask(condition, values))

    def _disabled(self, item: ScriptObject, values: Mapping[str, Any]) -> bool:
        condition = item.get("disabledWhen", UNDEFINED)
        if isinstance(condition, ScriptFunction) and truthy(self._ask(condition, values)):
            return True
        return truthy(item.get("disabled", False))

    def _ask(self, function: ScriptFunction, values: Mapping[str, Any]) -> Any:
        argument = self._start(values)
        return self.guarded(lambda: self.interpreter.call(function, [argument], self.body))


def _default(items: list[ScriptObject]) -> Any:
    enabled = [item for item in items if not truthy(item.get("disabled", False))]
    preferred = [item for item in enabled if truthy(item.get("default", False))]
    chosen = (preferred or enabled or items)[:1]
    return chosen[0].get("id") if chosen else UNDEFINED


def _component_body(root: Node, path: str, component: str | None) -> Node:
    """The statements of the exported component."""
    for name, value in exported(root):
        if component not in (None, name):
            continue
        body = value.child_by_field_name("body")
        if (
            value.type in ("arrow_function", "function_expression")
            and body is not None
            and body.type == "statement_block"
        ):
            return body
    for statement in root.named_children:
        declaration = statement.child_by_field_name("declaration") if statement.type == "export_statement" else None
        if declaration is not None and declaration.type == "function_declaration":
            body = declaration.child_by_field_name("body")
            if body is not None:
                return body
    wanted = "component" if component is None else f"component {component}"
    raise UnreadableError(path, f"The script exports no {wanted}.", "unknown-format")


def _state_name(name: Node, value: Node | None) -> str | None:
    """The name of the state variable of `const [values, setValues] = useState(getInitialState)`.

    Only state whose start is computed by a function, or given as an object, holds the visitor's choices.
    """
    if name.type != "array_pattern" or value is None or value.type != "call_expression":
        return None
    function, arguments = value.child_by_field_name("function"), value.child_by_field_name("arguments")
    if function is None or text_of(function).split(".")[-1] != "useState" or arguments is None:
        return None
    first = next((child for child in arguments.named_children if child.type != "comment"), None)
    names = [child for child in name.named_children if child.type == "identifier"]
    holds_choices = first is not None and first.type in ("identifier", "arrow_function", "call_expression", "object")
    return text_of(names[0]) if names and holds_choices else None


def _bound_names(pattern: Node) -> Iterator[str]:
    """All names that a pattern binds."""
    if pattern.type in ("identifier", "shorthand_property_identifier_pattern"):
        yield text_of(pattern)
        return
    for child in pattern.named_children:
        if child.type == "pair_pattern":
            value = child.child_by_field_name("value")
            yield from _bound_names(value) if value is not None else ()
        elif child.type != "comment":
            yield from _bound_names(child.child_by_field_name("left") or child)
