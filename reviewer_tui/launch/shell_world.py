"""The world around a script: the repository's files, the files it writes itself, its input and output, and what is
noted about it on the way."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from reviewer_tui.launch.command_line import Command
from reviewer_tui.launch.shell_parser import parse
from reviewer_tui.launch.shell_state import Frame, State
from reviewer_tui.launch.shell_words import Expander
from reviewer_tui.launch.syntax import Block, Redirect
from reviewer_tui.launch.text import Text, Unknown, concat, unknown
from reviewer_tui.model.finding import Problem
from reviewer_tui.model.tree import Tree

ROOT = "/workspace"
"""Where the repository stands for a script; containers mount it there, and some scripts say so."""


@lru_cache(maxsize=128)
def _parsed(blob: str, source: str, path: str) -> Block:
    """A script's syntax tree; kept by the content's name, since every row of a sweep reads the same scripts."""
    return parse(source, path)


class World(Expander):
    """Files, problems and streams of one evaluation."""

    def __init__(
        self,
        tree: Tree,
        environment: Mapping[str, Text],
        external: frozenset[str],
        aliases: Mapping[str, str],
        cwd: str,
    ) -> None:
        state = State()
        state.variables.update(environment)
        state.exported = dict(environment)
        state.cwd = cwd
        super().__init__(state, external)
        self.tree, self.aliases = tree, aliases
        self.commands: list[Command] = []
        self.problems: dict[tuple[str, int | None, str], Problem] = {}
        self.read_paths: dict[str, None] = {}
        self.complete = True
        self.ended: Problem | None = None
        self.conditions: list[int] = []
        self.frames = [Frame()]
        self.output: list[Text] | None = None
        self.stdin: Text | None = ""

    def problem(self, rule: str, message: str, line: int, path: str = "") -> None:
        where = path or self.path
        if len(self.problems) < 500:
            self.problems.setdefault(
                (where, line, message), Problem(path=where, message=message, rule=rule, line=line or None)
            )

    def script(self, path: str) -> Block | None:
        blob = self.tree.blob(path)
        content = self.tree.read(path) if blob is not None else None
        if content is None or blob is None:
            return None
        self.read_paths.setdefault(path)
        source = content.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
        return _parsed(blob, source, path)

    def taint(self, reason: Unknown, message: str, line: int) -> None:
        """From here on a variable that nothing known sets may be set all the same."""
        self.problem("unknown-effect", message, line)
        self.state.tainted = self.state.tainted or reason

    def print(self, text: Text) -> None:
        if self.output is not None:
            self.output.append(text)

    def content(self, name: Text) -> Text | None:
        """A file that the script wrote or that the repository holds."""
        if not isinstance(name, str):
            return None
        written = self.state.files.get(self.absolute(name))
        if written is not None:
            return written
        path = self.repository_path(name)
        content = self.tree.read(path) if path is not None else None
        return content.decode("utf-8", "replace") if content is not None and len(content) < 500_000 else None

    # -- redirections ---------------------------------------------------------------------------------------------

    def redirected(self, redirects: Sequence[Redirect], run: Callable[[], int]) -> int:
        """Runs something with its redirections: its output may go to a file, its input come from one."""
        if not redirects:
            return run()
        output, stdin = self.output, self.stdin
        target: tuple[Text, bool] | None = None
        for redirect in redirects:
            target = self._redirect(redirect, target)
        captured = self.output
        flow = run()
        self.output, self.stdin = output, stdin
        if target is not None and captured is not None:
            self.write_file(target[0], concat(captured), target[1])
        return flow

    def _redirect(self, redirect: Redirect, target: tuple[Text, bool] | None) -> tuple[Text, bool] | None:
        operator, descriptor = redirect.operator, redirect.descriptor
        if redirect.heredoc is not None:
            self.stdin = self.text(redirect.heredoc.body)
            return target
        assert redirect.target is not None
        if operator == "<<<":
            self.stdin = concat((self.text(redirect.target), "\n"))
        elif operator == "<":
            name = self.text(redirect.target)
            content = self.state.files.get(self.absolute(name)) if isinstance(name, str) else None
            self.stdin = content if content is not None else unknown("content of a file", redirect.line, self.path)
        elif operator in (">&", "<&"):
            if operator == ">&" and descriptor in (-1, 1) and redirect.target.constant == "2":
                self.output = None
                return None
        elif operator in (">", ">>", ">|", "&>", "&>>") and descriptor in (-1, 1):
            name = self.text(redirect.target)
            self.output = None if name in ("/dev/null", "/dev/stderr") else []
            return None if self.output is None else (name, ">>" in operator)
        return target

    def write_file(self, name: Text, content: Text, append: bool) -> None:
        if not isinstance(name, str):
            return
        path = self.absolute(name)
        if append:
            content = concat((self.state.files.get(path, ""), content))
        self.state.files = {**self.state.files, path: content}

    def absolute(self, name: str) -> str:
        if name.startswith("/"):
            return posixpath.normpath(name)
        cwd = self.state.cwd
        return posixpath.normpath(f"{cwd}/{name}") if isinstance(cwd, str) else name

    def repository_path(self, name: str) -> str | None:
        """A path of the script's world as a path of the tree; None where it lies outside."""
        path = self.absolute(name)
        for prefix, folder in self.aliases.items():
            if path == prefix or path.startswith(f"{prefix}/"):
                return posixpath.normpath(f"{folder}{path[len(prefix) :]}").lstrip("/")
        return path[len(ROOT) + 1 :] if path.startswith(f"{ROOT}/") else None
