"""Partial evaluation of JavaScript: the small language in which cookbook widgets compute their commands.

Functions are compiled from the syntax tree to Python closures that know literals, variables, conditions, loops,
template texts, closures and a short list of methods on texts, arrays, objects, sets and maps. Nothing else exists:
no modules, no globals, no clock, no I/O, no regular expressions. What is not known stops the evaluation with its
line (`UnreadableError`) and is never guessed. Steps, depth and sizes are bounded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tree_sitter import Node

from reviewer_tui.recipes.javascript import key_of, number_of, paired, string_of, text_of, unescaped
from reviewer_tui.recipes.script_machine import GLOBALS, Evaluate, Machine, Return, Scope, ScriptFunction, hashable
from reviewer_tui.recipes.script_values import (
    UNDEFINED,
    ScriptArray,
    ScriptObject,
    ScriptSet,
    normal,
    same,
    to_number,
    truthy,
    type_name,
)

_MAX_NESTING = 150

Assign = Callable[[Scope, Any], None]


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class _ShortCircuit(Exception):
    """An optional chain met null or undefined: the whole chain is undefined."""


class Interpreter(Machine):
    """Compiles the nodes of one file."""

    # -- statements -----------------------------------------------------------------------------------------------

    def block(self, nodes: list[Node], depth: int = 0) -> Evaluate:
        """The statements of a block in a scope of their own; functions are declared first."""
        hoisted = [self.function_declaration(node, depth) for node in nodes if node.type == "function_declaration"]
        statements = [
            self.statement(node, depth) for node in nodes if node.type not in ("comment", "function_declaration")
        ]

        def run(scope: Scope) -> Any:
            for declare in hoisted:
                declare(scope)
            for statement in statements:
                statement(scope)
            return UNDEFINED

        return run

    def statement(self, node: Node, depth: int) -> Evaluate:
        if depth > _MAX_NESTING:
            raise self.fail(node, "The widget's script is too deeply nested.", "too-large")
        handler = _STATEMENTS.get(node.type)
        if handler is not None:
            return handler(self, node, depth + 1)
        return self.refusal(node)

    def refusal(self, node: Node) -> Evaluate:
        def refuse(scope: Scope) -> Any:
            raise self.unknown(node)

        return refuse

    def _statement_block(self, node: Node, depth: int) -> Evaluate:
        inner = self.block(node.named_children, depth)
        return lambda scope: inner(Scope(scope))

    def _expression_statement(self, node: Node, depth: int) -> Evaluate:
        return self.expression(node.named_children[0], depth)

    def _declaration(self, node: Node, depth: int) -> Evaluate:
        steps = [self.declarator(child, depth) for child in node.named_children if child.type == "variable_declarator"]

        def run(scope: Scope) -> Any:
            for step in steps:
                step(scope)
            return UNDEFINED

        return run

    def declarator(self, node: Node, depth: int) -> Evaluate:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            return self.refusal(node)
        evaluate = self.expression(value, depth) if value is not None else (lambda scope: UNDEFINED)
        bind = self.pattern(name, depth)

        def run(scope: Scope) -> Any:
            bind(scope, evaluate(scope))
            return UNDEFINED

        return run

    def function_declaration(self, node: Node, depth: int) -> Evaluate:
        name = node.child_by_field_name("name")
        make = self.function(node, depth)

        def run(scope: Scope) -> Any:
            if name is not None:
                scope.names[text_of(name)] = make(scope)
            return UNDEFINED

        return run

    def _if(self, node: Node, depth: int) -> Evaluate:
        condition = self.field(node, "condition", depth)
        consequence = self.body(node.child_by_field_name("consequence"), depth)
        alternative_node = node.child_by_field_name("alternative")
        alternative = self.body(alternative_node.named_children[-1], depth) if alternative_node is not None else None

        def run(scope: Scope) -> Any:
            self.step(node)
            if truthy(condition(scope)):
                consequence(scope)
            elif alternative is not None:
                alternative(scope)
            return UNDEFINED

        return run

    def body(self, node: Node | None, depth: int) -> Evaluate:
        return (lambda scope: UNDEFINED) if node is None else self.statement(node, depth)

    def _return(self, node: Node, depth: int) -> Evaluate:
        values = [child for child in node.named_children if child.type != "comment"]
        value = self.expression(values[0], depth) if values else (lambda scope: UNDEFINED)

        def run(scope: Scope) -> Any:
            raise Return(value(scope))

        return run

    def _for_in(self, node: Node, depth: int) -> Evaluate:
        left, operator = node.child_by_field_name("left"), node.child_by_field_name("operator")
        right = self.field(node, "right", depth)
        if left is None or operator is None:
            return self.refusal(node)
        bind = self.pattern(left, depth)
        body = self.body(node.child_by_field_name("body"), depth)
        over_keys = text_of(operator) == "in"

        def run(scope: Scope) -> Any:
            value = right(scope)
            items = list(value) if over_keys and isinstance(value, ScriptObject) else self.iterate(value, node)
            for item in items:
                self.step(node)
                inner = Scope(scope)
                bind(inner, item)
                try:
                    body(inner)
                except _Break:
                    break
                except _Continue:
                    continue
            return UNDEFINED

        return run

    def _for(self, node: Node, depth: int) -> Evaluate:
        start = node.child_by_field_name("initializer")
        test = node.child_by_field_name("condition")
        increment = node.child_by_field_name("increment")
        begin = self.statement(start, depth) if start is not None and start.is_named else (lambda scope: UNDEFINED)
        holds = (
            self.expression(test.named_children[0] if test.type == "expression_statement" else test, depth)
            if (test is not None and test.is_named and (test.named_child_count or test.type != "empty_statement"))
            else (lambda scope: True)
        )
        advance = self.expression(increment, depth) if increment is not None else (lambda scope: UNDEFINED)
        return self.loop(node, begin, holds, advance, depth)

    def _while(self, node: Node, depth: int) -> Evaluate:
        nothing: Evaluate = lambda scope: UNDEFINED  # noqa: E731
        return self.loop(node, nothing, self.field(node, "condition", depth), nothing, depth)

    def loop(self, node: Node, begin: Evaluate, holds: Evaluate, advance: Evaluate, depth: int) -> Evaluate:
        body = self.body(node.child_by_field_name("body"), depth)

        def run(scope: Scope) -> Any:
            inner = Scope(scope)
            begin(inner)
            while truthy(holds(inner)):
                self.step(node)
                try:
                    body(inner)
                except _Break:
                    break
                except _Continue:
                    pass
                advance(inner)
            return UNDEFINED

        return run

    def _switch(self, node: Node, depth: int) -> Evaluate:
        subject = self.field(node, "value", depth)
        cases = node.child_by_field_name("body")
        arms: list[tuple[Evaluate | None, list[Evaluate]]] = []
        for case in cases.named_children if cases is not None else []:
            if case.type == "comment":
                continue
            value = case.child_by_field_name("value")
            rest = [c for c in case.named_children if c.type != "comment" and (value is None or c.id != value.id)]
            arms.append(
                (None if value is None else self.expression(value, depth), [self.statement(c, depth) for c in rest])
            )

        def run(scope: Scope) -> Any:
            wanted = subject(scope)
            chosen = next(
                (i for i, (test, _) in enumerate(arms) if test is not None and same(test(scope), wanted)), None
            )
            if chosen is None:
                chosen = next((i for i, (test, _) in enumerate(arms) if test is None), len(arms))
            inner = Scope(scope)
            try:
                for _, statements in arms[chosen:]:
                    for statement in statements:
                        statement(inner)
            except _Break:
                pass
            return UNDEFINED

        return run

    def _break(self, node: Node, depth: int) -> Evaluate:
        def run(scope: Scope) -> Any:
            raise _Break if node.type == "break_statement" else _Continue

        return self.refusal(node) if node.named_child_count else run

    def _nothing(self, node: Node, depth: int) -> Evaluate:
        return lambda scope: UNDEFINED

    # -- patterns -------------------------------------------------------------------------------------------------

    def pattern(self, node: Node, depth: int) -> Assign:
        """How to bind a declared name, or the names of a destructuring."""
        if node.type in ("identifier", "shorthand_property_identifier_pattern"):
            name = text_of(node)

            def bind(scope: Scope, value: Any) -> None:
                scope.names[name] = value

            return bind
        if node.type == "object_pattern":
            return self._object_pattern(node, depth)
        if node.type == "array_pattern":
            return self._array_pattern(node, depth)
        if node.type in ("assignment_pattern", "object_assignment_pattern"):
            left, default = node.child_by_field_name("left"), self.field(node, "right", depth)
            inner = self.pattern(left if left is not None else node.named_children[0], depth)
            return lambda scope, value: inner(scope, default(scope) if value is UNDEFINED else value)

        def refuse(scope: Scope, value: Any) -> None:
            raise self.unknown(node)

        return refuse

    def _object_pattern(self, node: Node, depth: int) -> Assign:
        parts: list[tuple[str, Assign]] = []
        rest: Assign | None = None
        for child in node.named_children:
            if child.type == "comment":
                continue
            if child.type == "rest_pattern":
                rest = self.pattern(child.named_children[0], depth)
            elif child.type == "pair_pattern":
                key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
                if key is not None and value is not None:
                    parts.append((key_of(key, self.path), self.pattern(value, depth)))
            else:
                named = child.child_by_field_name("left") or child
                parts.append((text_of(named), self.pattern(child, depth)))

        def bind(scope: Scope, value: Any) -> None:
            if value is None or value is UNDEFINED:
                raise self.thrown(node)
            for key, part in parts:
                part(scope, self.member(value, key, node))
            if rest is not None:
                taken = {key for key, _ in parts}
                rest(scope, ScriptObject({k: v for k, v in self.entries(value, node) if k not in taken}, self.era))

        return bind

    def _array_pattern(self, node: Node, depth: int) -> Assign:
        slots: list[Assign | None] = []
        rest: Assign | None = None
        expecting = True
        for child in node.children:
            if child.type == ",":
                slots += [None] if expecting else []
                expecting = True
            elif child.type == "rest_pattern":
                rest = self.pattern(child.named_children[0], depth)
            elif child.is_named and child.type != "comment":
                slots.append(self.pattern(child, depth))
                expecting = False

        def bind(scope: Scope, value: Any) -> None:
            items = self.iterate(value, node)
            for index, slot in enumerate(slots):
                if slot is not None:
                    slot(scope, items[index] if index < len(items) else UNDEFINED)
            if rest is not None:
                rest(scope, ScriptArray(items[len(slots) :], self.era))

        return bind

    # -- expressions ----------------------------------------------------------------------------------------------

    def field(self, node: Node, name: str, depth: int) -> Evaluate:
        child = node.child_by_field_name(name)
        return self.refusal(node) if child is None else self.expression(child, depth)

    def expression(self, node: Node, depth: int) -> Evaluate:
        if depth > _MAX_NESTING:
            raise self.fail(node, "The widget's script is too deeply nested.", "too-large")
        handler = _EXPRESSIONS.get(node.type)
        return handler(self, node, depth + 1) if handler is not None else self.refusal(node)

    def _identifier(self, node: Node, depth: int) -> Evaluate:
        name = text_of(node)
        if name == "undefined":
            return lambda scope: UNDEFINED

        def read(scope: Scope) -> Any:
            here: Scope | None = scope
            while here is not None:
                if name in here.names:
                    return here.names[name]
                if here.lazy is not None and name in here.lazy:
                    return here.lazy[name]()
                here = here.parent
            if name in GLOBALS:
                return GLOBALS[name]
            raise self.unknown(node)

        return read

    def _constant(self, node: Node, depth: int) -> Evaluate:
        value: Any
        if node.type == "string":
            value = string_of(node, self.path)
        elif node.type == "number":
            value = number_of(node, self.path)
        else:
            value = {"true": True, "false": False, "null": None, "undefined": UNDEFINED}[node.type]
        return lambda scope: value

    def _template(self, node: Node, depth: int) -> Evaluate:
        parts: list[str | Evaluate] = []
        for child in node.named_children:
            if child.type == "string_fragment":
                parts.append(text_of(child))
            elif child.type == "escape_sequence":
                parts.append(unescaped(text_of(child)))
            elif child.type == "template_substitution":
                parts.append(self.expression(child.named_children[0], depth))
        return lambda scope: paired(
            self.joined((part if isinstance(part, str) else part(scope) for part in parts), "", node)
        )

    def _parenthesized(self, node: Node, depth: int) -> Evaluate:
        inner = [child for child in node.named_children if child.type != "comment"]
        return self.expression(inner[0], depth) if len(inner) == 1 else self.refusal(node)

    def _object(self, node: Node, depth: int) -> Evaluate:
        makers: list[Callable[[Scope, ScriptObject], None]] = []
        for child in node.named_children:
            if child.type != "comment":
                makers.append(self._object_member(child, depth))

        def make(scope: Scope) -> Any:
            self.step(node)
            result = ScriptObject(era=self.era)
            for maker in makers:
                maker(scope, result)
            return result

        return make

    def _object_member(self, node: Node, depth: int) -> Callable[[Scope, ScriptObject], None]:
        if node.type == "shorthand_property_identifier":
            return self.setter(text_of(node), self._identifier(node, depth))
        if node.type == "spread_element":
            spread = self.expression(node.named_children[0], depth)
            return lambda scope, target: target.update(self.entries(spread(scope), node))
        key = node.child_by_field_name("key" if node.type == "pair" else "name")
        if node.type == "method_definition" and key is not None:
            return self.setter(key_of(key, self.path), self.function(node, depth))
        if node.type == "pair" and key is not None:
            value = self.field(node, "value", depth)
            if key.type == "computed_property_name":
                name = self.expression(key.named_children[0], depth)
                return lambda scope, target: target.__setitem__(self.shown(name(scope), node), value(scope))
            return self.setter(key_of(key, self.path), value)

        def refuse(scope: Scope, target: ScriptObject) -> None:
            raise self.unknown(node)

        return refuse

    @staticmethod
    def setter(name: str, value: Evaluate) -> Callable[[Scope, ScriptObject], None]:
        return lambda scope, target: target.__setitem__(name, value(scope))

    def _array(self, node: Node, depth: int) -> Evaluate:
        parts = self.arguments(node, depth)

        def make(scope: Scope) -> Any:
            self.step(node)
            return ScriptArray(parts(scope), self.era)

        return make

    def arguments(self, node: Node | None, depth: int) -> Callable[[Scope], list[Any]]:
        """The values of a list of expressions with spreads."""
        parts: list[tuple[bool, Evaluate, Node]] = []
        for child in node.named_children if node is not None else []:
            if child.type == "spread_element":
                parts.append((True, self.expression(child.named_children[0], depth), child))
            elif child.type != "comment":
                parts.append((False, self.expression(child, depth), child))

        def values(scope: Scope) -> list[Any]:
            result: list[Any] = []
            for spread, evaluate, child in parts:
                if spread:
                    result.extend(self.iterate(evaluate(scope), child))
                else:
                    result.append(evaluate(scope))
            return result

        return values

    def function(self, node: Node, depth: int) -> Evaluate:
        parameters = node.child_by_field_name("parameters")
        single = node.child_by_field_name("parameter")
        listed = [c for c in parameters.named_children if c.type != "comment"] if parameters is not None else []
        patterns = [single] if single is not None else listed
        rest = patterns.pop() if patterns and patterns[-1].type == "rest_pattern" else None
        binds = [self.pattern(pattern, depth) for pattern in patterns]
        rest_bind = None if rest is None else self.pattern(rest.named_children[0], depth)
        body_node = node.child_by_field_name("body")
        if body_node is None or node.has_error or any(child.type == "async" for child in node.children):
            return self.refusal(node)
        is_block = body_node.type == "statement_block"
        # Compiled when it is first called: most of a widget's functions draw the page and never are.
        compiled: list[Evaluate] = []

        def bind(scope: Scope, arguments: list[Any]) -> None:
            for index, parameter in enumerate(binds):
                parameter(scope, arguments[index] if index < len(arguments) else UNDEFINED)
            if rest_bind is not None:
                rest_bind(scope, ScriptArray(arguments[len(binds) :], self.era))

        def body(scope: Scope) -> Any:
            if not compiled:
                compiled.append(
                    self.block(body_node.named_children, depth) if is_block else self.expression(body_node, depth)
                )
            return compiled[0](scope)

        is_arrow = node.type == "arrow_function"
        return lambda scope: ScriptFunction(bind, body, scope, is_arrow)

    def _ternary(self, node: Node, depth: int) -> Evaluate:
        condition = self.field(node, "condition", depth)
        yes, no = self.field(node, "consequence", depth), self.field(node, "alternative", depth)
        return lambda scope: yes(scope) if truthy(condition(scope)) else no(scope)

    def _unary(self, node: Node, depth: int) -> Evaluate:
        operator = node.child_by_field_name("operator")
        if operator is not None and text_of(operator) == "delete":
            return self._delete(node, depth)
        operand = self.field(node, "argument", depth)
        match text_of(operator) if operator is not None else "":
            case "!":
                return lambda scope: not truthy(operand(scope))
            case "-":
                return lambda scope: normal(-self.number(operand(scope), node))
            case "+":
                return lambda scope: normal(to_number(operand(scope)))
            case "typeof":
                return lambda scope: type_name(operand(scope))
        return self.refusal(node)

    def _delete(self, node: Node, depth: int) -> Evaluate:
        target = node.child_by_field_name("argument")
        if target is None or target.type not in ("member_expression", "subscript_expression") or _is_optional(target):
            return self.refusal(node)
        owner, key = self.field(target, "object", depth), self.key(target, depth)

        def run(scope: Scope) -> Any:
            value = owner(scope)
            if not isinstance(value, ScriptObject):
                raise self.unknown(node)
            self.changing(value, node)
            value.pop(self.shown(key(scope), node), None)
            return True

        return run

    def _binary(self, node: Node, depth: int) -> Evaluate:
        left, right = self.field(node, "left", depth), self.field(node, "right", depth)
        operator_node = node.child_by_field_name("operator")
        operator = text_of(operator_node) if operator_node is not None else ""
        if operator == "&&":
            return lambda scope: right(scope) if truthy(value := left(scope)) else value
        if operator == "||":
            return lambda scope: value if truthy(value := left(scope)) else right(scope)
        if operator == "??":
            return lambda scope: right(scope) if (value := left(scope)) is None or value is UNDEFINED else value
        return lambda scope: self.operate(operator, left(scope), right(scope), node)

    def _assignment(self, node: Node, depth: int) -> Evaluate:
        target, value = node.child_by_field_name("left"), self.field(node, "right", depth)
        if target is None:
            return self.refusal(node)
        assign = self.target(target, depth)

        def run(scope: Scope) -> Any:
            result = value(scope)
            assign(scope, result)
            return result

        return run

    def _augmented(self, node: Node, depth: int) -> Evaluate:
        target, value = node.child_by_field_name("left"), self.field(node, "right", depth)
        operator_node = node.child_by_field_name("operator")
        if target is None or operator_node is None:
            return self.refusal(node)
        operator = text_of(operator_node)[:-1]
        read, assign = self.expression(target, depth), self.target(target, depth)

        def run(scope: Scope) -> Any:
            self.step(node)
            old = read(scope)
            if operator in ("||", "&&", "??"):
                keeps = {"||": truthy(old), "&&": not truthy(old), "??": old is not None and old is not UNDEFINED}
                if keeps[operator]:
                    return old
                result = value(scope)
            else:
                result = self.operate(operator, old, value(scope), node)
            assign(scope, result)
            return result

        return run

    def _update(self, node: Node, depth: int) -> Evaluate:
        target = node.child_by_field_name("argument")
        operator = node.child_by_field_name("operator")
        if target is None or operator is None:
            return self.refusal(node)
        read, assign = self.expression(target, depth), self.target(target, depth)
        change = 1 if text_of(operator) == "++" else -1
        prefix = operator.start_byte < target.start_byte

        def run(scope: Scope) -> Any:
            old = self.number(read(scope), node)
            assign(scope, normal(old + change))
            return normal(old + change) if prefix else normal(old)

        return run

    def target(self, node: Node, depth: int) -> Assign:
        """How to assign to a variable or a member."""
        if node.type == "identifier":
            name = text_of(node)

            def assign(scope: Scope, value: Any) -> None:
                here: Scope | None = scope
                while here is not None:
                    if name in here.names and here.lazy is None:
                        here.names[name] = value
                        return
                    here = here.parent
                raise self.unknown(node)

            return assign
        if node.type in ("member_expression", "subscript_expression"):
            owner, key = self.field(node, "object", depth), self.key(node, depth)
            return lambda scope, value: self.set_member(owner(scope), key(scope), value, node)

        def refuse(scope: Scope, value: Any) -> None:
            raise self.unknown(node)

        return refuse

    def key(self, node: Node, depth: int) -> Evaluate:
        if node.type == "subscript_expression":
            return self.field(node, "index", depth)
        prop = node.child_by_field_name("property")
        name = text_of(prop) if prop is not None and prop.type == "property_identifier" else None
        return self.refusal(node) if name is None else (lambda scope: name)

    def _member(self, node: Node, depth: int) -> Evaluate:
        read = self.reference(node, depth)
        return self.chain(node, lambda scope: read(scope)[1])

    def reference(self, node: Node, depth: int) -> Callable[[Scope], tuple[Any, Any]]:
        """An object and its member."""
        owner, key = self.field(node, "object", depth), self.key(node, depth)
        optional = _is_optional(node)

        def read(scope: Scope) -> tuple[Any, Any]:
            value = owner(scope)
            if value is None or value is UNDEFINED:
                if optional:
                    raise _ShortCircuit
                raise self.thrown(node)
            return value, self.member(value, key(scope), node)

        return read

    def callee(self, node: Node, depth: int) -> Callable[[Scope], tuple[Any, Any]]:
        """What a call's `this` is, and the function."""
        if node.type in ("member_expression", "subscript_expression"):
            return self.reference(node, depth)
        function = self.expression(node, depth)
        return lambda scope: (UNDEFINED, function(scope))

    @staticmethod
    def chain(node: Node, read: Evaluate) -> Evaluate:
        """The evaluation of a chain's outermost link: a short circuit anywhere in it makes it undefined."""
        if not _ends_optional_chain(node):
            return read

        def whole(scope: Scope) -> Any:
            try:
                return read(scope)
            except _ShortCircuit:
                return UNDEFINED

        return whole

    def _call(self, node: Node, depth: int) -> Evaluate:
        callee_node, argument_node = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if callee_node is None or argument_node is None or argument_node.type != "arguments":
            return self.refusal(node)
        callee, arguments = self.callee(callee_node, depth), self.arguments(argument_node, depth)
        optional = _is_optional(node)

        def run(scope: Scope) -> Any:
            this, function = callee(scope)
            if optional and (function is None or function is UNDEFINED):
                raise _ShortCircuit
            return self.call(function, arguments(scope), node, this)

        return self.chain(node, run)

    def _new(self, node: Node, depth: int) -> Evaluate:
        constructor = node.child_by_field_name("constructor")
        name = text_of(constructor) if constructor is not None else ""
        arguments = self.arguments(node.child_by_field_name("arguments"), depth)
        if name not in ("Set", "Map", "Array"):
            return self.refusal(node)

        def make(scope: Scope) -> Any:
            self.step(node)
            values = arguments(scope)
            items = self.iterate(values[0], node) if values and values[0] not in (None, UNDEFINED) else []
            if name == "Array":
                return ScriptArray(items, self.era)
            result = ScriptSet(name == "Map", self.era)
            for item in items:
                pair = self.iterate(item, node) if name == "Map" else [item, item]
                result.items[hashable(pair[0])] = (pair[0], pair[1] if len(pair) > 1 else UNDEFINED)
            return result

        return make

    def _sequence(self, node: Node, depth: int) -> Evaluate:
        parts = [self.expression(child, depth) for child in node.named_children if child.type != "comment"]

        def run(scope: Scope) -> Any:
            result: Any = UNDEFINED
            for part in parts:
                result = part(scope)
            return result

        return run


_STATEMENTS: dict[str, Callable[[Interpreter, Node, int], Evaluate]] = {
    "statement_block": Interpreter._statement_block,
    "expression_statement": Interpreter._expression_statement,
    "lexical_declaration": Interpreter._declaration,
    "variable_declaration": Interpreter._declaration,
    "function_declaration": Interpreter.function_declaration,
    "if_statement": Interpreter._if,
    "return_statement": Interpreter._return,
    "for_in_statement": Interpreter._for_in,
    "for_statement": Interpreter._for,
    "while_statement": Interpreter._while,
    "switch_statement": Interpreter._switch,
    "break_statement": Interpreter._break,
    "continue_statement": Interpreter._break,
    "empty_statement": Interpreter._nothing,
}

_EXPRESSIONS: dict[str, Callable[[Interpreter, Node, int], Evaluate]] = {
    "identifier": Interpreter._identifier,
    "this": Interpreter._identifier,
    "undefined": Interpreter._constant,
    "string": Interpreter._constant,
    "number": Interpreter._constant,
    "true": Interpreter._constant,
    "false": Interpreter._constant,
    "null": Interpreter._constant,
    "template_string": Interpreter._template,
    "parenthesized_expression": Interpreter._parenthesized,
    "object": Interpreter._object,
    "array": Interpreter._array,
    "arrow_function": Interpreter.function,
    "function_expression": Interpreter.function,
    "function": Interpreter.function,
    "ternary_expression": Interpreter._ternary,
    "unary_expression": Interpreter._unary,
    "binary_expression": Interpreter._binary,
    "assignment_expression": Interpreter._assignment,
    "augmented_assignment_expression": Interpreter._augmented,
    "update_expression": Interpreter._update,
    "member_expression": Interpreter._member,
    "subscript_expression": Interpreter._member,
    "call_expression": Interpreter._call,
    "new_expression": Interpreter._new,
    "sequence_expression": Interpreter._sequence,
}


_LINKS = ("member_expression", "subscript_expression", "call_expression")


def _is_optional(node: Node) -> bool:
    return any(child.type == "optional_chain" for child in node.children)


def _inner(node: Node) -> Node | None:
    """The link to the left in a chain."""
    return node.child_by_field_name("function" if node.type == "call_expression" else "object")


def _ends_optional_chain(node: Node) -> bool:
    """Whether the node is the outermost link of a chain that has a `?.` in it."""
    parent = node.parent
    if parent is not None and parent.type in _LINKS:
        inner = _inner(parent)
        if inner is not None and inner.id == node.id:
            return False
    here: Node | None = node
    while here is not None and here.type in _LINKS:
        if _is_optional(here):
            return True
        here = _inner(here)
    return False
