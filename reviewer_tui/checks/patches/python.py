"""What a Python program does to the serving stack, by what its text says; nothing is executed."""

from __future__ import annotations

import ast
import re
import shlex
import warnings
from collections.abc import Callable, Iterator

from reviewer_tui.checks.patches import rules
from reviewer_tui.checks.patches.environment import read_setting
from reviewer_tui.checks.patches.reading import Hit, Reading
from reviewer_tui.checks.patches.rules import Kind

ReadShell = Callable[[str, str], Reading]

_SHOWN = 110
_ENGINE = re.compile(rf"(?:{rules.ENGINE_MODULES})(?:\.|\Z)")
_SETTING = re.compile(r"[A-Z][A-Z0-9_]+\Z")
_COMMAND = re.compile(
    r"\s*(?:sudo\s+)?(?:pip[\d.]*|uv|git|patch|sed|perl|cp|mv|ln|rsync|tar|curl|wget|apt-get|python3?\s+-m\s+pip)\s+\S"
)
_STARTERS = frozenset(
    {"system", "popen", "run", "Popen", "call", "check_call", "check_output", "getoutput", "getstatusoutput"}
    | {f"{kind}{how}" for kind in ("exec", "spawn") for how in ("v", "ve", "vp", "vpe", "l", "le", "lp", "lpe")}
    | {"create_subprocess_exec", "create_subprocess_shell", "posix_spawn"}
)
_PATCHERS = frozenset({"setattr", "patch", "object", "register_model", "register", "override", "update", "__setitem__"})


def read_python(name: str, text: str, read_shell: ReadShell, *, certain: bool = True) -> Iterator[Hit]:
    """What a program does; `name` is the last name of its file, `read_shell` reads the commands that it starts. A text
    that is not `certain` to be Python tells nothing more where it is none."""
    yield from _places(name, text)
    if not rules.SPEAKS_OF_CODE.search(text):
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield from _lines(text) if certain else ()
        return
    program = _Program(read_shell)
    program.visit(tree)
    yield from program.hits


def written(text: str, kind: Kind) -> Hit:
    """A program that writes files of this kind: from where it writes to its end."""
    found = rules.WRITES.search(text)
    offset = text.count("\n", 0, found.start()) if found else 0
    what = "rewrites files of the installed engine" if kind == "engine" else "rewrites files that may serve"
    named = (
        rules.ENGINE_PLACE.search(text) or rules.COMPANION_PLACE.search(text) or rules.LOCATES_SOMETHING.search(text)
    )
    place = f": {named[0].strip('.(')}" if named else ""
    return Hit(kind=kind, line=1 + offset, end_line=1 + text.count("\n"), what=f"{what} (Python{place})")


def _places(name: str, text: str) -> Iterator[Hit]:
    """Files that the program writes, by the places that its text names anywhere."""
    if rules.WRITES.search(text):
        kind = rules.place(text)
        if kind is None and rules.CHANGES_BY_NAME.search(name) and not rules.ORCHESTRATION.search(text):
            kind = "unclear"
        if kind is not None:
            yield written(text, kind)
        elif rules.LOCATES_BY_A_VALUE.search(text):
            yield _hit(
                text, rules.LOCATES_BY_A_VALUE, "looks up a module that its text does not name, and writes files"
            )
    elif rules.RUNS_PROGRAMS.search(text) and rules.place(text) is not None:
        yield _hit(text, rules.RUNS_PROGRAMS, "runs programs and knows where the image keeps its engine")


def _hit(text: str, pattern: re.Pattern[str], what: str) -> Hit:
    found = pattern.search(text)
    line = text.count("\n", 0, found.start()) + 1 if found else 1
    return Hit(kind="unclear", line=line, end_line=1 + text.count("\n"), what=what)


def _lines(text: str) -> Iterator[Hit]:
    """The lines of a text that is no Python and speaks of code or programs that it starts."""
    for number, line in enumerate(text.split("\n"), 1):
        if rules.SPEAKS_OF_CODE.search(line) and not line.lstrip().startswith("#"):
            what = f"cannot be read as Python, and may change the image here ({line.strip()[:_SHOWN]})"
            yield Hit(kind="unclear", line=number, end_line=number, what=what)


class _Program(ast.NodeVisitor):
    """Walks a program: which names are an engine's, and what is done to them."""

    def __init__(self, read_shell: ReadShell) -> None:
        self.hits: list[Hit] = []
        self._read_shell = read_shell
        self._engine: set[str] = set()

    def _add(self, node: ast.stmt | ast.expr, kind: Kind, what: str) -> None:
        self.hits.append(Hit(kind=kind, line=node.lineno, end_line=node.end_lineno or node.lineno, what=what))

    # -- names of the engine --------------------------------------------------------------------------------------

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if _ENGINE.match(alias.name):
                self._engine.add(alias.asname or alias.name.partition(".")[0])

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.module and _ENGINE.match(node.module):
            self._engine.update(alias.asname or alias.name for alias in node.names)

    def _is_engine(self, node: ast.expr) -> bool:
        """Whether an expression is a part of an engine: a name that was imported, a member of one, a module that is
        looked up by name."""
        while isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        if isinstance(node, ast.Call):
            return _called(node) in ("import_module", "__import__") and any(map(_names_engine, node.args))
        return isinstance(node, ast.Name) and node.id in self._engine

    # -- what is set ----------------------------------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self._assigned(target, node.value, node)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._assigned(node.target, node.value, node)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._assigned(node.target, node.value, node)
        self.generic_visit(node)

    def _assigned(self, target: ast.expr, value: ast.expr, node: ast.stmt) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            for element in target.elts:
                self._assigned(element, value, node)
        elif isinstance(target, ast.Name):
            if self._is_engine(value) and not isinstance(value, ast.Subscript):
                self._engine.add(target.id)
            if (said := _text(value)) is not None:
                self._setting(target.id, said, node)
        elif isinstance(target, ast.Attribute | ast.Subscript):
            if self._is_engine(target):
                self._add(
                    node, "engine", f"replaces a member of the engine at run time ({ast.unparse(target)[:_SHOWN]})"
                )
            elif ast.unparse(target).startswith("sys.modules["):
                self._add(node, "unclear", "puts a module in the place of another")
            elif isinstance(target, ast.Subscript) and (name := _text(target.slice)):
                self._setting(name, _text(value) or "a value", node)

    def _setting(self, name: str, value: str, node: ast.stmt | ast.expr) -> None:
        if _SETTING.match(name):
            self.hits.extend(read_setting(name, value, "", node.lineno, node.end_lineno or node.lineno))

    def visit_Dict(self, node: ast.Dict) -> None:
        for key, value in zip(node.keys, node.values, strict=True):
            if key is not None and (name := _text(key)):
                self._setting(name, _text(value) or "a value", value)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and len(node.value) < 5_000:
            for place in re.findall(r":(/[\w./-]+)", node.value):
                if rules.place(place) is not None:
                    self._add(node, "unclear", f"may mount something over files of the image ({place})")
            if _COMMAND.match(node.value) or rules.STARTS_CHANGE.search(node.value):
                hits = self._read_shell("", node.value).hits
                if any(hit.kind in ("engine", "unclear") for hit in hits):
                    self._add(
                        node, "unclear", f"holds a command that may change the image ({node.value.strip()[:_SHOWN]})"
                    )

    # -- what is called -------------------------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> None:
        name = _called(node)
        if name in _PATCHERS and (any(map(self._is_engine, node.args)) or self._is_engine(node.func)):
            self._add(node, "engine" if name == "setattr" else "unclear", f"changes the engine at run time ({name})")
        elif name == "patch" and any(map(_names_engine, node.args)):
            self._add(node, "engine", "replaces a member of the engine at run time (patch)")
        elif name in ("exec", "eval", "execfile", "run_path", "run_module", "loads") and _hides(node, name):
            self._add(node, "unclear", f"runs code that its text does not show ({name})")
        elif name == "main" and ast.unparse(node.func).startswith("pip."):
            self._add(node, "unclear", "installs packages by pip itself")
        elif name in ("insert", "append", "extend") and ast.unparse(node.func).startswith("sys.path."):
            self._path(node)
        elif name in _STARTERS:
            self._started(node)
        self.generic_visit(node)

    def _path(self, node: ast.Call) -> None:
        said = " ".join(ast.unparse(argument) for argument in node.args)
        if "__file__" not in said and not rules.EVAL_CLIENT.search(said):
            self._add(node, "unclear", f"puts Python code before the image's ({said[:_SHOWN]})")

    def _started(self, node: ast.Call) -> None:
        """A program that is started: its words are read as a command where they are spelled out."""
        first = node.args[0] if node.args else None
        elements = first.elts if isinstance(first, ast.List | ast.Tuple) else None
        if elements is not None:
            words = [_text(element) for element in elements]
            said = " ".join(shlex.quote(word) if word is not None else '"$GIVEN"' for word in words)
            if words and words[0] is None:
                return
        else:
            said = (_text(first) if first is not None else None) or ""
        reading = self._read_shell("", said).at(node.lineno, node.end_lineno or node.lineno)
        self.hits.extend(hit for hit in reading.hits if hit.kind != "harness")
        for item in reading.references:
            if item.how in ("script", "program", "setup", "patch") and not rules.is_shipped(item.name):
                self._add(node, "unclear", f"runs {item.name}, which was not read")


def _called(node: ast.Call) -> str:
    """The last name of what is called."""
    function = node.func
    return (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _names_engine(node: ast.expr) -> bool:
    said = _text(node)
    return said is not None and _ENGINE.match(said) is not None


def _hides(node: ast.Call, name: str) -> bool:
    """Whether a call runs something that is no plain text of the program; a formula is evaluated with its own names."""
    if name == "loads":
        return ast.unparse(node.func).startswith(("marshal.", "pickle.", "dill.", "cloudpickle."))
    formula = name == "eval" and len(node.args) > 1
    return bool(node.args) and not formula and isinstance(node.func, ast.Name) and _text(node.args[0]) is None
