"""Encoding A: a React widget whose function builds the command from the visitor's choices.

The widget's options give the choices, its command function the text. Both are evaluated from the syntax tree
(`script`), choice by choice; what cannot be evaluated is said with its line.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from tree_sitter import Node

from reviewer_tui.model.finding import Problem
from reviewer_tui.recipes.choices import Choices, Offer
from reviewer_tui.recipes.javascript import exported, line_of_node, parse, text_of
from reviewer_tui.recipes.reading import UnreadableError
from reviewer_tui.recipes.script import Interpreter
from reviewer_tui.recipes.script_machine import Scope, ScriptFunction
from reviewer_tui.recipes.script_values import UNDEFINED, ScriptArray, ScriptObject

MAX_SELECTIONS = 20_000

_COMMAND_FUNCTION = re.compile(r"(?:generate|build|render|make|get)\w*Command$")
_OPTIONS_FUNCTION = re.compile(r"get\w*Options$")
_HANDLER = re.compile(r"(?:handle|on)\w*(?:Change|Select|Click)$")
_SWITCHED = ("enabled", "disabled", "on", "off", "true", "false", "none", "default")
_DECISIONS = ("if_statement", "switch_statement", "for_statement", "for_in_statement", "ternary_expression")


_Change = tuple[Node, Callable[[Scope], Any], str | None]


class WidgetCommand(msgspec.Struct, frozen=True, kw_only=True):
    """One reachable selection, in words too (`label`), and the command that the widget shows for it; none where its
    script `fails`, or cannot be evaluated."""

    selection: dict[str, str]
    label: str
    text: str
    line: int
    fails: Problem | None = None


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
        self.setters: set[str] = set()
        self.after: Any = UNDEFINED
        self._declare()
        self.owner = self._owner()
        self.command_name = self._command_name()
        self.offer = self._offer()

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
        for setter in self.setters:
            outer.names[setter] = self._set
        outer.names["useState"] = lambda initial=UNDEFINED: ScriptArray([initial, UNDEFINED], -1)
        outer.names["useMemo"] = lambda function, *_: self.interpreter.call(function, [], self.body)
        outer.names["useCallback"] = lambda function, *_: function
        self.scope = Scope(outer)
        self.scope.lazy = lazy

    def _declare_declarator(self, lazy: dict[str, Callable[[], Any]], declarator: Node) -> None:
        name, value = declarator.child_by_field_name("name"), declarator.child_by_field_name("value")
        if declarator.type != "variable_declarator" or name is None:
            return
        state = _state_names(name, value)
        if state:
            lazy[state[0]] = functools.partial(self._read_state, state[0])
            self.setters.update(state[1:])
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

    def _set(self, following: Any = UNDEFINED, *_: Any) -> Any:
        """The page changes the choices."""
        if isinstance(following, ScriptFunction):
            following = self.interpreter.call(following, [self.after], self.body)
        self.after = following
        return UNDEFINED

    def get(self, name: str) -> Any:
        """The value of one of the component's declarations; undefined where it has none of that name."""
        lazy = self.scope.lazy or {}
        if name not in lazy:
            return UNDEFINED
        return self.scope.names[name] if name in self.scope.names else lazy[name]()

    # -- what the widget offers -----------------------------------------------------------------------------------

    def _owner(self) -> str | None:
        """The name of the object that holds both the options and the command function, where one does."""
        for name, value in self.declared.items():
            keys = _keys_of(value)
            if "options" in keys and any(map(_COMMAND_FUNCTION.match, keys)):
                return name
        return None

    def _command_name(self) -> str:
        names = self.scope.lazy or {} if self.owner is None else _keys_of(self.declared[self.owner])
        for name in names:
            if _COMMAND_FUNCTION.match(name):
                return name
        raise UnreadableError(self.path, "The widget has no function that builds a command.", "unknown-format")

    def _offer(self) -> Offer:
        """The widget's options: a table, or a table from which a function makes the one that is shown."""
        display: ScriptFunction | None = None
        if self.owner is not None:
            owner = self.guarded(lambda: self.get(str(self.owner)))
            options = owner.get("options", UNDEFINED) if isinstance(owner, ScriptObject) else UNDEFINED
        else:
            options = self.guarded(lambda: self.get("options"))
            if options is UNDEFINED:
                options = self.guarded(lambda: self.get("baseOptions"))
                name = next((n for n in self.declared if _OPTIONS_FUNCTION.match(n)), "")
                made = self.guarded(lambda: self.get(name))
                display = made if isinstance(made, ScriptFunction) else None
        if not isinstance(options, ScriptObject) or not all(isinstance(o, ScriptObject) for o in options.values()):
            raise UnreadableError(self.path, "The widget has no table of options.", "unknown-format")
        return Offer(self.path, options, display, self.ask, self.text)

    def ask(self, function: ScriptFunction, choices: Choices) -> Any:
        """What a function of the widget says to these choices."""
        self.start(choices)
        return self.guarded(lambda: self.interpreter.call(function, [choices], self.body))

    def guarded(self, evaluate: Callable[[], Any]) -> Any:
        try:
            return evaluate()
        except RecursionError:
            raise UnreadableError(self.path, "The widget's script is too deeply nested.", "too-large") from None

    @property
    def hardware_option(self) -> str | None:
        """The option that chooses the hardware."""
        return self.offer.hardware_option

    def commands(self, hardware: Sequence[str] | None = None) -> Iterator[WidgetCommand]:
        """The command of every selection that a visitor can reach, one at a time.

        `hardware` keeps only these ids of the hardware option. Options that only pick a parser stay at their default.
        Where the script cannot be evaluated for a selection, or fails in a browser as well, there is no command
        (`fails` says why). Raises `UnreadableError` where the options cannot be evaluated or are too many.
        """
        told: set[tuple[str, str]] = set()
        for count, selection in enumerate(self.offer.selections(hardware)):
            if count >= MAX_SELECTIONS:
                raise UnreadableError(
                    self.path, f"The widget offers more than {MAX_SELECTIONS} selections.", "too-large"
                )
            shown = self._shown(selection)
            # Pages file a command under its hardware, so the same text there is no other arm.
            here = shown.selection.get(self.hardware_option or "", ""), shown.text
            if here in told or self.stays(selection):
                if shown.text:
                    told.add(here)
                yield shown

    def _shown(self, selection: Mapping[str, Any]) -> WidgetCommand:
        fails = None
        try:
            text = self.command(selection)
        except UnreadableError as error:
            if error.problem.rule not in ("cannot-evaluate", "script-fails"):
                raise
            text, fails = "", error.problem
        chosen = {name: self.chosen(value) for name, value in selection.items()}
        return WidgetCommand(
            selection=chosen,
            label=" · ".join(self._words(selection, chosen)),
            text=text,
            line=self.command_line,
            fails=fails,
        )

    def _words(self, selection: Mapping[str, Any], chosen: Mapping[str, str]) -> Iterator[str]:
        """A selection in words: a switch with its name; parsers, and what sets nothing apart, left out."""
        for name, value in chosen.items():
            if not self.offer.picks_parser(name) and self.offer.tells(name, selection):
                yield f"{name} {value}" if value in _SWITCHED else value

    def command(self, selection: Mapping[str, Any]) -> str:
        """The text that the widget shows for a selection."""
        choices = Choices(selection)
        self.start(choices)
        this = UNDEFINED if self.owner is None else self.guarded(lambda: self.get(str(self.owner)))
        function = (
            this.get(self.command_name, UNDEFINED)
            if isinstance(this, ScriptObject)
            else self.guarded(lambda: self.get(self.command_name))
        )
        if not isinstance(function, ScriptFunction):
            raise UnreadableError(self.path, "The widget's command function is no function.", "unknown-format")
        text = self.text(self.guarded(lambda: self.interpreter.call(function, [choices], self.body, this)))
        if not choices.read and not self._takes_choices:
            raise UnreadableError(self.path, "The widget keeps its choices in an unknown way.", "unknown-format")
        return text

    # -- what the page does to the choices ----------------------------------------------------------------------------

    def stays(self, selection: Mapping[str, Any]) -> bool:
        """Whether the page leaves a selection as it is: choosing again what is chosen changes nothing, nor do its
        effects. A selection that does not stay is hardly ever shown. What of this cannot be evaluated is taken to
        change nothing."""
        return all(self._leaves(selection, change) for change in self._changes)

    def _leaves(self, selection: Mapping[str, Any], change: _Change) -> bool:
        node, make, clicked = change
        choices = Choices(selection)
        self.start(choices)
        self.after = choices
        try:
            function = self.guarded(lambda: make(self.scope))
            arguments = [] if clicked is None else [clicked, selection[clicked]]
            self.guarded(lambda: self.interpreter.call(function, arguments, node))
        except UnreadableError as error:
            if error.problem.rule == "too-large":
                raise
            return True
        after = self.after
        return isinstance(after, ScriptObject) and all(after.get(name) == value for name, value in selection.items())

    @functools.cached_property
    def _changes(self) -> list[_Change]:
        """The functions that may change more than what was clicked, with the option that they are called for: effects
        (for none), and handlers that decide something."""
        effects = [node for node in map(_effect, self.body.named_children) if node is not None]
        handlers = [
            value
            for name, value in self.declared.items()
            if value is not None and _HANDLER.match(name) and _decides(value) and _parameter_count(value) == 2
        ]
        radios = [name for name, option in self.offer.options.items() if option.get("type") not in ("checkbox", "text")]
        changes: list[_Change] = []
        for node in filter(self._sets, (*effects, *handlers)):
            make = self.interpreter.expression(node, 0)
            changes += [(node, make, name) for name in (radios if node in handlers else [None])]
        return changes

    def _sets(self, node: Node) -> bool:
        return any(re.search(rf"\b{re.escape(setter)}\b", text_of(node)) for setter in self.setters)

    @functools.cached_property
    def _takes_choices(self) -> bool:
        """Whether the command function takes the choices as its argument."""
        return self._command_node is not None and _parameter_count(self._command_node) > 0

    @functools.cached_property
    def _command_node(self) -> Node | None:
        """The command function."""
        if self.owner is None:
            return self.declared[self.command_name]
        owner = self.declared[self.owner]
        members = owner.named_children if owner is not None else []
        member = next((member for member in members if _key_of(member) == self.command_name), None)
        return member if member is None or member.type == "method_definition" else member.child_by_field_name("value")

    @property
    def command_line(self) -> int:
        """The line of the command function."""
        node = self._command_node
        return self.lines[self.owner or self.command_name] if node is None else line_of_node(node)

    def text(self, value: Any) -> str:
        return self.interpreter.shown(value, self.body)

    def chosen(self, value: Any) -> str:
        """The chosen item, or items, in a word."""
        return self.interpreter.joined(value if isinstance(value, ScriptArray) else [value], "+", self.body)

    def start(self, choices: Choices) -> None:
        """Begin an evaluation with these choices: forget what depended on the previous ones."""
        self.interpreter.era += 1
        self.scope.names = {name: value for name, value in self.scope.names.items() if name in self.shared}
        for name in self.scope.lazy or {}:
            if name not in self.lines:
                self.states[name] = choices


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


def _keys_of(value: Node | None) -> list[str]:
    """The names of an object literal's members; none for anything else."""
    if value is None or value.type != "object":
        return []
    return [key for key in map(_key_of, value.named_children) if key]


def _key_of(member: Node) -> str:
    key = member.child_by_field_name("name" if member.type == "method_definition" else "key")
    return "" if key is None else text_of(key)


def _parameter_count(function: Node) -> int:
    parameters = function.child_by_field_name("parameters")
    if function.child_by_field_name("parameter") is not None:
        return 1
    return 0 if parameters is None else sum(child.type != "comment" for child in parameters.named_children)


def _decides(node: Node) -> bool:
    """Whether anything in a function hangs on a condition, or is repeated."""
    return any(child.type in _DECISIONS or _decides(child) for child in node.named_children)


def _effect(statement: Node) -> Node | None:
    """The function of a statement `useEffect(() => …, [...])`."""
    call = statement.named_children[0] if statement.type == "expression_statement" else None
    if call is None or call.type != "call_expression":
        return None
    function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if function is None or text_of(function).split(".")[-1] != "useEffect" or arguments is None:
        return None
    return next((child for child in arguments.named_children if child.type == "arrow_function"), None)


def _state_names(name: Node, value: Node | None) -> list[str]:
    """The names of `const [values, setValues] = useState(getInitialState)`: the state, and what changes it.

    Only state whose start is computed by a function, or given as an object, holds the visitor's choices.
    """
    if name.type != "array_pattern" or value is None or value.type != "call_expression":
        return []
    function, arguments = value.child_by_field_name("function"), value.child_by_field_name("arguments")
    if function is None or text_of(function).split(".")[-1] != "useState" or arguments is None:
        return []
    first = next((child for child in arguments.named_children if child.type != "comment"), None)
    holds_choices = first is not None and first.type in ("identifier", "arrow_function", "call_expression", "object")
    return [text_of(child) for child in name.named_children if child.type == "identifier"] if holds_choices else []


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
