"""The world around a script: the repository's files, the files it writes itself, its input and output, and what is
noted about it on the way."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from reviewer_tui.launch import tools
from reviewer_tui.launch.command_line import Command, program_name
from reviewer_tui.launch.shell_parser import parse
from reviewer_tui.launch.shell_state import Files, Frame, State
from reviewer_tui.launch.shell_words import Argument, Expander
from reviewer_tui.launch.syntax import Block, Process, Redirect
from reviewer_tui.launch.text import Text, Unknown, concat, unknown
from reviewer_tui.model.finding import Problem
from reviewer_tui.model.tree import Tree

ROOT = "/workspace"
"""Where the repository stands for a script; containers mount it there, and some scripts say so."""


_EDITORS = frozenset({"cp", "mv", "patch", "perl", "python", "python3", "rm", "truncate", "yq"})
_IN_PLACE = re.compile(r"-[nErsz]*i(\.\w+)?|--in-place(=.*)?")
_READS = frozenset({"<", "<<", "<<-", "<<<"})


def _is_option(word: Text) -> bool:
    return isinstance(word, str) and word.startswith("-")


class _Sink(NamedTuple):
    """A file that takes what is printed (None: nobody reads it)."""

    name: Text | None
    append: bool


@lru_cache(maxsize=128)
def _script(content: bytes, path: str) -> Block:
    """The statements of a script. Its bytes, which a source hands out again and again, are quicker told apart than the
    text made of them."""
    return parse(content.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n"), path)


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
        self.temporary_files = 0
        self.frames = [Frame()]

    def doubts(self) -> Iterator[int]:
        """The lines of the undecided conditions on which it hangs that the present place is reached, if its script
        goes on at all."""
        yield from self.conditions
        for frame in self.frames:
            yield from frame.lines
            for loop in frame.loops:
                yield from loop.lines

    def problem(self, rule: str, message: str, line: int, path: str = "") -> None:
        where = path or self.path
        if len(self.problems) < 500:
            self.problems.setdefault(
                (where, line, message), Problem(path=where, message=message, rule=rule, line=line or None)
            )

    def script(self, path: str) -> Block | None:
        content = self.tree.read(path)
        if content is None:
            return None
        self.read_paths.setdefault(path)
        return _script(content, path)

    def taint(self, reason: Unknown, message: str, line: int) -> None:
        """From here on a variable that nothing known sets may be set all the same."""
        self.problem("unknown-effect", message, line)
        self.state.tainted = self.state.tainted or reason

    def content(self, name: Text) -> Text | None:
        """A file that the script wrote or that the repository holds."""
        if not isinstance(name, str):
            return None
        if self.absolute(name) in self.state.files:
            return self.state.files[self.absolute(name)]
        path = self.repository_path(name)
        content = self.tree.read(path) if path is not None else None
        return content.decode("utf-8", "replace") if content is not None and len(content) < 500_000 else None

    # -- redirections ---------------------------------------------------------------------------------------------

    def redirected(self, redirects: Sequence[Redirect], run: Callable[[], int]) -> int:
        """Runs something with its redirections: its output may go to a file, its input come from one."""
        if not redirects:
            return run()
        printed, rest = self.state.printed, self.state.input
        writes: _Sink | None = None
        reads = False
        for redirect in redirects:
            if redirect.operator in _READS:
                self.state.input, reads = self._read_from(redirect), True
            else:
                writes = self._written_to(redirect) or writes
        if writes is not None:
            self.state.printed = None if writes.name is None else ()
        flow = run()
        if writes is not None:
            if writes.name is not None and self.state.printed is not None:
                self.write_file(writes.name, concat(self.state.printed), writes.append)
            self.state.printed = printed
        if reads:
            self.state.input = rest
        return flow

    def _read_from(self, redirect: Redirect) -> Text:
        if redirect.heredoc is not None:
            return self.text(redirect.heredoc.body)
        assert redirect.target is not None
        if len(redirect.target.parts) == 1 and isinstance(process := redirect.target.parts[0], Process):
            return self.output(process.body, process.line)
        name = self.text(redirect.target)
        if redirect.operator == "<<<":
            return concat((name, "\n"))
        content = self.state.files.get(self.absolute(name)) if isinstance(name, str) else None
        return content if content is not None else unknown("content of a file", redirect.line, self.path)

    def _written_to(self, redirect: Redirect) -> _Sink | None:
        """Where a redirection sends what is printed; None where it leaves that alone."""
        assert redirect.target is not None
        if redirect.descriptor not in (-1, 1):
            return None
        if redirect.operator == ">&":
            return _Sink(None, False) if redirect.target.constant == "2" else None
        if redirect.operator not in (">", ">>", ">|", "&>", "&>>"):
            return None
        name = self.text(redirect.target)
        return _Sink(None if name in ("/dev/null", "/dev/stderr") else name, ">>" in redirect.operator)

    def write_file(self, name: Text, content: Text, append: bool) -> None:
        if not isinstance(name, str):
            return
        path = self.absolute(name)
        if append:
            before = self.state.files.get(path, "")
            content = concat((unknown(f"content of {path}") if before is None else before, content))
        self.state.files = {**self.state.files, path: content}

    def edit_files(self, arguments: Sequence[Argument]) -> None:
        """What a program does to the files it names: those that move, copy, delete or edit in place."""
        name = program_name(arguments[0].text)
        words = [argument.text for argument in arguments[1:]]
        plain = [word for word in words if isinstance(word, str) and not word.startswith("-")]
        if name in ("cp", "mv") and len(plain) == len(words) - sum(map(_is_option, words)) == 2:
            self._copy(plain[0], plain[1], moved=name == "mv")
        elif name == "sed" and any(isinstance(word, str) and _IN_PLACE.fullmatch(word) for word in words):
            self._edit_in_place([word for word in words if isinstance(word, str)])
        elif name in _EDITORS and not (name in ("python", "python3") and "-m" in words[:2]):
            touched = [self.absolute(word) for word in plain]
            inside = {p: None for p in self.state.files if any(p == t or p.startswith(f"{t}/") for t in touched)}
            self.state.files = {**self.state.files, **inside}

    def _copy(self, source: str, target: str, moved: bool) -> None:
        path = self.repository_path(target)
        if target.endswith("/") or (path is not None and self.tree.list(path)):
            target = f"{target.rstrip('/')}/{posixpath.basename(source)}"
        copied: Files = {self.absolute(target): self.content(source)}
        left: Files = {self.absolute(source): None} if moved else {}
        self.state.files = {**self.state.files, **left, **copied}

    def _edit_in_place(self, words: Sequence[str]) -> None:
        """`sed -i SCRIPT FILE`."""
        rest = [word for word in words if not _IN_PLACE.fullmatch(word)]
        names = [name for name in rest[1:] if not name.startswith("-")]
        edited: dict[str, Text | None] = {}
        for name in names:
            content = self.content(name)
            result = tools.run("sed", rest[:-1], content) if len(names) == 1 and isinstance(content, str) else None
            edited[self.absolute(name)] = None if result is None else result[0]
        self.state.files = {**self.state.files, **edited}

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
