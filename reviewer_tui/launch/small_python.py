"""Evaluates the small Python programs by which scripts turn a YAML file into shell variables.

It is an interpreter of its own over the syntax tree: texts, numbers, lists, mappings, conditions, loops, functions and
a short list of methods. There is no import but of names it plays itself (`yaml`, `json`, `os`, `sys`), no attribute
beyond that list, no file but through the given reader. What is outside of it ends the evaluation with "not known".
"""

from __future__ import annotations

import ast
import json
import operator
import pickle
import posixpath
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from types import NoneType
from typing import Any

from reviewer_tui.sweeps.document import read_document

_MAX_PROGRAM = 20_000
_MAX_STEPS = 20_000
_MAX_TEXT = 200_000
_MAX_CALLS = 12

_BINARY: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
}
_COMPARE: Mapping[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
    ast.Is: lambda a, b: a is b,
    ast.IsNot: lambda a, b: a is not b,
}
_TEXT_METHODS = frozenset(
    (
        "strip",
        "lstrip",
        "rstrip",
        "split",
        "lower",
        "upper",
        "replace",
        "startswith",
        "endswith",
        "splitlines",
        "isdigit",
    )
)
_DUMPS = frozenset({"ensure_ascii", "separators", "sort_keys"})
_TYPES = {"int": int, "float": float, "str": str, "bool": bool, "list": list, "dict": dict, "tuple": tuple}


class _Stop(Exception):
    """The program does what is not evaluated here."""


class _Exit(Exception):
    """`sys.exit`."""


class _Failure(Exception):
    """The program raises."""


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class _Module:
    """A module that is played."""

    def __init__(self, name: str) -> None:
        self.name = name


class _Environment:
    """`os.environ`."""


class _File:
    """An open file of the repository."""

    def __init__(self, text: str, path: str) -> None:
        self.text, self.path = text, path


class _Function:
    def __init__(self, node: ast.FunctionDef) -> None:
        self.node = node


def run(
    program: str,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    unknown_names: frozenset[str],
    read: Callable[[str], str | None],
) -> str | None:
    """What the program prints; None where it does something that is not evaluated here.

    `unknown_names` are variables of the environment whose values are not known; `read` gives the text of a file of the
    repository.
    """
    if len(program) > _MAX_PROGRAM:
        return None
    try:
        tree = _parsed(program)
        return _Program(arguments, environment, unknown_names, read).run(tree)
    except (_Stop, _Failure, _Return, _Break, _Continue):
        return None
    except (SyntaxError, ValueError, TypeError, KeyError, IndexError, ArithmeticError, AttributeError):
        return None
    except (RecursionError, MemoryError):
        return None


@lru_cache(maxsize=64)
def _parsed(program: str) -> ast.Module:
    """A program's syntax tree; every row of a sweep runs the same programs."""
    return ast.parse(program)


class _Program:
    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        unknown_names: frozenset[str],
        read: Callable[[str], str | None],
    ) -> None:
        self.arguments, self.environment, self.read = list(arguments), environment, read
        self.unknown_names = unknown_names
        self.scopes: list[dict[str, Any]] = [{"__name__": "__main__"}]
        self.printed: list[str] = []
        self.size = self.steps = 0

    def run(self, tree: ast.Module) -> str:
        with suppress(_Exit):
            self.block(tree.body)
        return "".join(self.printed)

    def tick(self) -> None:
        self.steps += 1
        if self.steps > _MAX_STEPS:
            raise _Stop

    # -- statements -----------------------------------------------------------------------------------------------

    def block(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            self.tick()
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr():
                self.value(node.value)
            case ast.Assign():
                value = self.value(node.value)
                for target in node.targets:
                    self.assign(target, value)
            case ast.AugAssign():
                self.assign(node.target, self.binary(node.op, self.value(_loaded(node.target)), self.value(node.value)))
            case ast.If():
                self.block(node.body if self.value(node.test) else node.orelse)
            case ast.For():
                self.loop(node)
            case ast.Import():
                for alias in node.names:
                    self.scopes[-1][alias.asname or alias.name] = _Module(alias.name)
            case ast.With():
                self.with_files(node)
            case ast.Try():
                self.attempt(node)
            case ast.FunctionDef():
                self.scopes[-1][node.name] = _Function(node)
            case ast.Return():
                raise _Return(None if node.value is None else self.value(node.value))
            case ast.Break():
                raise _Break
            case ast.Continue():
                raise _Continue
            case ast.Pass():
                pass
            case _:
                raise _Stop

    def assign(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self.scopes[-1][target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            values = list(value)
            if len(values) != len(target.elts):
                raise _Failure
            for inner, item in zip(target.elts, values, strict=True):
                self.assign(inner, item)
        elif isinstance(target, ast.Subscript):
            holder = self.value(target.value)
            if not isinstance(holder, dict | list):
                raise _Stop
            holder[self.value(target.slice)] = value
        else:
            raise _Stop

    def loop(self, node: ast.For) -> None:
        for item in list(self.value(node.iter)):
            self.tick()
            self.assign(node.target, item)
            try:
                self.block(node.body)
            except _Break:
                return
            except _Continue:
                continue
        self.block(node.orelse)

    def with_files(self, node: ast.With) -> None:
        for item in node.items:
            value = self.value(item.context_expr)
            if not isinstance(value, _File):
                raise _Stop
            if item.optional_vars is not None:
                self.assign(item.optional_vars, value)
        self.block(node.body)

    def attempt(self, node: ast.Try) -> None:
        try:
            self.guarded(node)
        finally:
            self.block(node.finalbody)

    def guarded(self, node: ast.Try) -> None:
        try:
            self.block(node.body)
        except (_Failure, ValueError, TypeError, KeyError, IndexError, ArithmeticError) as error:
            handler = next((h for h in node.handlers if _catches(h, error)), None)
            if handler is None:
                raise
            if handler.name:
                self.scopes[-1][handler.name] = str(error)
            self.block(handler.body)
        else:
            self.block(node.orelse)

    # -- expressions ----------------------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Any:
        self.tick()
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return self.name(node.id)
            case ast.JoinedStr():
                return self.bounded("".join(self.value(part) for part in node.values))
            case ast.FormattedValue():
                return self.formatted(node)
            case ast.Attribute():
                return self.attribute(node)
            case ast.Call():
                return self.call(node)
            case ast.BinOp():
                return self.binary(node.op, self.value(node.left), self.value(node.right))
            case ast.BoolOp():
                return self.boolean(node)
            case ast.UnaryOp():
                return self.unary(node)
            case ast.Compare():
                return self.compare(node)
            case ast.IfExp():
                return self.value(node.body if self.value(node.test) else node.orelse)
            case ast.Subscript():
                return self.subscript(node)
            case ast.List() | ast.Tuple() | ast.Set():
                values = [self.value(item) for item in node.elts]
                return (
                    values
                    if isinstance(node, ast.List)
                    else tuple(values)
                    if isinstance(node, ast.Tuple)
                    else set(values)
                )
            case ast.Dict():
                return {
                    self.value(key): self.value(item) for key, item in zip(node.keys, node.values, strict=True) if key
                }
            case ast.ListComp() | ast.GeneratorExp():
                return self.comprehension(node)
            case _:
                raise _Stop

    def name(self, name: str) -> Any:
        for scope in (self.scopes[-1], self.scopes[0]):
            if name in scope:
                return scope[name]
        if name in _TYPES:
            return _TYPES[name]
        raise _Stop

    def bounded(self, text: str) -> str:
        self.size += len(text)
        if self.size > _MAX_TEXT:
            raise _Stop
        return text

    def formatted(self, node: ast.FormattedValue) -> str:
        value = self.value(node.value)
        if node.format_spec is not None or node.conversion not in (-1, ord("r"), ord("s")):
            raise _Stop
        return repr(value) if node.conversion == ord("r") else self.shown(value)

    def shown(self, value: Any) -> str:
        """A value as it is printed; sets have no order, and other objects no text that is known."""
        if not isinstance(value, str | int | float | list | tuple | dict | NoneType):
            raise _Stop
        return str(value)

    def attribute(self, node: ast.Attribute) -> Any:
        holder = self.value(node.value)
        if isinstance(holder, _Module):
            known = {
                ("os", "environ"): _Environment(),
                ("sys", "argv"): ["-c", *self.arguments],
                ("sys", "stderr"): "<stderr>",
                ("sys", "stdout"): "<stdout>",
                ("os", "path"): _Module("os.path"),
            }
            if (holder.name, node.attr) in known:
                return known[holder.name, node.attr]
        raise _Stop

    def binary(self, op: ast.operator, left: Any, right: Any) -> Any:
        function = _BINARY.get(type(op))
        numbers = isinstance(left, int | float) and isinstance(right, int | float)
        texts = isinstance(left, str) and isinstance(right, str) and isinstance(op, ast.Add)
        lists = isinstance(left, list) and isinstance(right, list) and isinstance(op, ast.Add)
        if function is None or not (numbers or texts or lists):
            raise _Stop
        if numbers and (abs(left) > 1e15 or abs(right) > 1e15):
            raise _Stop
        result = function(left, right)
        if isinstance(result, list) and len(result) > _MAX_STEPS:
            raise _Stop
        return self.bounded(result) if isinstance(result, str) else result

    def boolean(self, node: ast.BoolOp) -> Any:
        value: Any = None
        for part in node.values:
            value = self.value(part)
            if bool(value) is isinstance(node.op, ast.Or):
                return value
        return value

    def unary(self, node: ast.UnaryOp) -> Any:
        value = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return not value
        if isinstance(node.op, ast.USub) and isinstance(value, int | float):
            return -value
        raise _Stop

    def compare(self, node: ast.Compare) -> bool:
        left = self.value(node.left)
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.value(comparator)
            if not _COMPARE[type(op)](left, right):
                return False
            left = right
        return True

    def subscript(self, node: ast.Subscript) -> Any:
        holder = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            if not isinstance(holder, str | list | tuple) or node.slice.step is not None:
                raise _Stop
            lower = None if node.slice.lower is None else self.value(node.slice.lower)
            upper = None if node.slice.upper is None else self.value(node.slice.upper)
            return holder[lower:upper]
        key = self.value(node.slice)
        if isinstance(holder, _Environment):
            value = self.variable(key, None)
            if value is None:
                raise _Failure
            return value
        if not isinstance(holder, dict | list | tuple | str):
            raise _Stop
        return holder[key]

    def variable(self, name: Any, default: Any) -> Any:
        if name in self.unknown_names:
            raise _Stop
        return self.environment.get(name, default)

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> list[Any]:
        if len(node.generators) != 1:
            raise _Stop
        generator = node.generators[0]
        found: list[Any] = []
        for item in list(self.value(generator.iter)):
            self.tick()
            self.assign(generator.target, item)
            if all(self.value(condition) for condition in generator.ifs):
                found.append(self.value(node.elt))
        return found

    # -- calls ----------------------------------------------------------------------------------------------------

    def call(self, node: ast.Call) -> Any:
        arguments = [self.value(argument) for argument in node.args]
        if isinstance(node.func, ast.Attribute):
            return self.method(node, node.func, arguments)
        if not isinstance(node.func, ast.Name):
            raise _Stop
        name = node.func.id
        function = self.scopes[-1].get(name, self.scopes[0].get(name))
        if isinstance(function, _Function):
            return self.function(function, arguments, {k.arg: self.value(k.value) for k in node.keywords})
        if name == "print":
            self.print(node, arguments)
            return None
        if name == "open" and arguments and isinstance(arguments[0], str):
            return self.open(arguments[0])
        return self.builtin(name, node, arguments)

    def print(self, node: ast.Call, arguments: Sequence[Any]) -> None:
        options = {keyword.arg: self.value(keyword.value) for keyword in node.keywords}
        if options.get("file", "<stdout>") == "<stdout>":
            text = options.get("sep", " ").join(map(self.shown, arguments)) + options.get("end", "\n")
            self.printed.append(self.bounded(text))

    def open(self, path: str) -> _File:
        text = self.read(path)
        if text is None:
            raise _Stop
        return _File(text, path)

    def builtin(self, name: str, node: ast.Call, arguments: list[Any]) -> Any:
        if node.keywords:
            raise _Stop
        if name == "isinstance":
            return isinstance(arguments[0], arguments[1])
        if name == "eval" and arguments and isinstance(arguments[0], str):
            names = arguments[2] if len(arguments) > 2 else {}
            return self.formula(arguments[0], names if isinstance(names, dict) else {})
        if name == "range":
            numbers = range(*arguments)
            if len(numbers) > _MAX_STEPS:
                raise _Stop
            return numbers
        if name in _TYPES and len(arguments) <= 1:
            return _TYPES[name](*arguments)
        plain: dict[str, Callable[..., Any]] = {
            "len": len,
            "min": min,
            "max": max,
            "sorted": sorted,
            "abs": abs,
            "sum": sum,
        }
        if name in plain:
            return plain[name](*arguments)
        raise _Stop

    def formula(self, text: str, names: Mapping[str, Any]) -> Any:
        """`eval` of an arithmetic expression over given names."""
        tree = ast.parse(text.strip(), mode="eval")
        for node in ast.walk(tree):
            if not isinstance(
                node,
                ast.Expression
                | ast.BinOp
                | ast.UnaryOp
                | ast.Constant
                | ast.Name
                | ast.Load
                | ast.operator
                | ast.unaryop,
            ):
                raise _Stop
            if isinstance(node, ast.Name) and node.id in self.unknown_names:
                raise _Stop
            if isinstance(node, ast.Name) and not isinstance(names.get(node.id), int | float):
                raise _Failure(f"name {node.id!r} is not defined")
        self.scopes.append(dict(names))
        value = self.value(tree.body)
        self.scopes.pop()
        return value

    def function(self, function: _Function, arguments: Sequence[Any], named: Mapping[str | None, Any]) -> Any:
        declared = function.node.args
        if len(self.scopes) > _MAX_CALLS or declared.vararg or declared.kwarg or declared.kwonlyargs or None in named:
            raise _Stop
        names = [argument.arg for argument in (*declared.posonlyargs, *declared.args)]
        defaults = [self.value(default) for default in declared.defaults]
        values = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True)) if defaults else {}
        values |= dict(zip(names, arguments, strict=False)) | {str(name): value for name, value in named.items()}
        if set(names) != set(values) or len(arguments) > len(names):
            raise _Failure
        self.scopes.append(values)
        try:
            self.block(function.node.body)
        except _Return as result:
            return result.value
        finally:
            self.scopes.pop()
        return None

    def method(self, node: ast.Call, func: ast.Attribute, arguments: list[Any]) -> Any:
        holder = self.value(func.value)
        name = func.attr
        if isinstance(holder, _Module):
            return self.module(holder.name, name, arguments, {k.arg: self.value(k.value) for k in node.keywords})
        if node.keywords:
            raise _Stop
        if isinstance(holder, str):
            if name in _TEXT_METHODS:
                result = getattr(holder, name)(*arguments)
                return self.bounded(result) if isinstance(result, str) else result
            if name == "join":
                return self.bounded(holder.join(arguments[0]))
        if isinstance(holder, _Environment):
            if name == "get":
                return self.variable(arguments[0], arguments[1] if len(arguments) > 1 else None)
            if name == "items":
                return list(self.environment.items())
        if isinstance(holder, dict) and name in ("get", "items", "keys", "values"):
            found = getattr(holder, name)(*arguments)
            return found if name == "get" else list(found)
        if isinstance(holder, list) and name in ("append", "extend"):
            if len(holder) > _MAX_STEPS:
                raise _Stop
            return getattr(holder, name)(*arguments)
        if isinstance(holder, _File) and name == "read":
            return holder.text
        raise _Stop

    def module(self, module: str, name: str, arguments: list[Any], named: dict[str | None, Any]) -> Any:
        if named and ((module, name) != ("json", "dumps") or not set(named) <= _DUMPS):
            raise _Stop
        match module, name:
            case "yaml", "safe_load":
                return self.load(arguments[0])
            case "json", "load" | "loads":
                return json.loads(arguments[0].text if isinstance(arguments[0], _File) else arguments[0])
            case "json", "dumps":
                return self.bounded(json.dumps(arguments[0], **{str(k): v for k, v in named.items()}))
            case "sys", "exit":
                raise _Exit
            case "os", "getenv":
                return self.variable(arguments[0], arguments[1] if len(arguments) > 1 else None)
            case "os.path", "basename" | "dirname" | "join":
                return getattr(posixpath, name)(*arguments)
        raise _Stop

    def load(self, source: Any) -> Any:
        text, path = (source.text, source.path) if isinstance(source, _File) else (source, "")
        if not isinstance(text, str):
            raise _Stop
        known = _document(text, path)
        if known is None:
            raise _Failure
        return pickle.loads(known)


@lru_cache(maxsize=32)
def _document(text: str, path: str) -> bytes | None:
    """The value of a YAML text, kept as bytes because a program may change what it loads; None where it has none."""
    document = read_document(text, path)
    return pickle.dumps(document.value) if document.readable else None


def _catches(handler: ast.ExceptHandler, error: Exception) -> bool:
    """Whether an `except` is for an error. Of what fails here on its own account it is not known which error Python
    would raise, so only those that catch all catch it."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {kind.id if isinstance(kind, ast.Name) else "Exception" if kind is None else "" for kind in kinds}
    if isinstance(error, _Failure):
        if not names & {"Exception", "BaseException"}:
            raise _Stop
        return True
    return any(kind.__name__ in names for kind in type(error).__mro__)


def _loaded(target: ast.expr) -> ast.expr:
    """The target of an augmented assignment as a value."""
    if isinstance(target, ast.Name):
        return ast.Name(target.id, ast.Load())
    raise _Stop
