"""The commands that a shell script holds, as they stand there: read, never evaluated.

Every command is taken, whichever branch or function it stands in, because a reviewer wants to know what a script can
do. Values of variables are not computed; `Script.expanded` puts the texts of their assignments in their places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

import msgspec

from reviewer_tui.launch.shell_parser import parse
from reviewer_tui.launch.syntax import (
    AndOr,
    Arithmetic,
    Assignment,
    Background,
    Block,
    Case,
    Comparison,
    Compute,
    Condition,
    CountedFor,
    Expression,
    For,
    Function,
    Group,
    If,
    Junction,
    Literal,
    Negation,
    Parameter,
    Part,
    Pipeline,
    Process,
    Redirect,
    Simple,
    Statement,
    Substitution,
    Unreadable,
    While,
    Word,
)

MAX_COMMANDS = 20_000
MAX_EXPANDED = 20_000
"""Characters of one text with its variables written out."""

_MAX_DEPTH = 40
_EXPANSIONS = 3
_MOST_VARIABLES = 300
_LONGEST_VALUES = 4_000
_VARIABLE = re.compile(r"\$(?:\{[#!]?([A-Za-z_]\w*)([^{}]*)\}|([A-Za-z_]\w*))")
_SHELLS = frozenset({"bash", "sh", "dash", "zsh"})


class ShellCommand(msgspec.Struct, frozen=True, kw_only=True):
    """One command. `words` are as written, without quotes, variables as `${NAME}`; `line` to `end_line` (from 1,
    inclusive) are its lines, here-documents included; `targets` are the files its output goes to; `source` is the file
    it reads, `stdin` the text of its here-documents; `folder` is the argument of the `cd` before it; `piped` is the
    program whose output it reads (`?`: another kind of command); `function` is the function it stands in."""

    words: tuple[str, ...]
    line: int
    end_line: int
    assignments: tuple[tuple[str, str], ...] = ()
    targets: tuple[str, ...] = ()
    source: str = ""
    stdin: str = ""
    stdin_line: int = 0
    folder: str = ""
    piped: str = ""
    function: str = ""

    @property
    def text(self) -> str:
        """The words in one line."""
        return " ".join(self.words)


class Script:
    """A script taken apart: its commands in their order, the texts that its variables may have (`grown` are those put
    together from several), the functions it defines with their lines, and the line from which it cannot be read (None:
    all of it was read). `values` are those of the script that it stands in."""

    def __init__(self, text: str, path: str, values: Mapping[str, list[str]] | None = None) -> None:
        self.path = path
        self.commands: list[ShellCommand] = []
        self.values: dict[str, list[str]] = dict(values or {})
        self._own: set[str] = set()
        self.grown: set[str] = set()
        self.functions: dict[str, int] = {}
        self.unread: tuple[int, str] | None = None
        self._folder = self._function = ""
        self._shift = 0
        try:
            self._block(parse(text, path), 0)
        except RecursionError:
            self._stop(1, "it is nested too deeply")

    def expanded(self, text: str) -> str:
        """The text with every text that its variables are given somewhere in the script in their places, as far as its
        first `MAX_EXPANDED` characters go."""
        head, tail = text[:MAX_EXPANDED], text[MAX_EXPANDED:]
        for _ in range(_EXPANSIONS):
            if "$" not in head:
                break
            head = _VARIABLE.sub(self._values_of, head, count=_MOST_VARIABLES)[:MAX_EXPANDED]
        return head.replace("\0", "$") + tail

    def _values_of(self, found: re.Match[str]) -> str:
        name, rest = found[1] or found[3], found[2] or ""
        values = " ".join(dict.fromkeys(self.values.get(name, ())))[:_LONGEST_VALUES]
        default = rest.lstrip(":-+=?") if rest[:1] in (":", "-", "+", "=", "?") else ""
        return " ".join(part for part in (values, default, f"\0{name}") if part)

    def _put(self, name: str, value: str) -> None:
        """Adds a text to those of a variable; the lists of the script around this one stay as they are."""
        if name not in self._own:
            self._own.add(name)
            self.values[name] = list(self.values.get(name, ()))
        self.values[name].append(value)

    def _stop(self, line: int, message: str) -> None:
        if self.unread is None:
            self.unread = (line + self._shift, message)

    # -- statements -----------------------------------------------------------------------------------------------

    def _block(self, block: Block, depth: int) -> None:
        if depth > _MAX_DEPTH:
            self._stop(block.statements[0].line if block.statements else 1, "it is nested too deeply")
            return
        for statement in block.statements:
            self._statement(statement, depth)

    def _statement(self, statement: Statement, depth: int) -> None:
        if len(self.commands) > MAX_COMMANDS:
            self._stop(statement.line, f"it holds more than {MAX_COMMANDS:,} commands")
            return
        match statement:
            case Simple():
                self._simple(statement, depth, piped="")
            case Pipeline():
                self._pipeline(statement, depth)
            case AndOr():
                for part in (statement.first, *(step for _, step in statement.rest)):
                    self._statement(part, depth)
            case Background():
                self._statement(statement.statement, depth)
            case Group():
                folder = self._folder
                self._block(statement.body, depth + 1)
                self._folder = folder if statement.subshell else self._folder
            case If():
                blocks = [block for branch in statement.branches for block in branch]
                self._blocks([*blocks, *([statement.otherwise] if statement.otherwise else [])], depth)
            case Case():
                for word in (statement.subject, *(word for item in statement.items for word in item.patterns)):
                    self._word(word, depth)
                self._blocks([item.body for item in statement.items], depth)
            case For():
                for word in statement.words or ():
                    self._put(statement.name, self._word(word, depth))
                self._block(statement.body, depth + 1)
            case CountedFor():
                for word in (statement.start, statement.condition, statement.step):
                    self._word(word, depth)
                self._block(statement.body, depth + 1)
            case Compute():
                self._word(statement.expression, depth)
            case Condition():
                self._test(statement.test, depth)
            case While():
                self._blocks([statement.condition, statement.body], depth)
            case Function():
                outer = self._folder, self._function
                self._folder, self._function = "", statement.name
                self.functions.setdefault(statement.name, statement.line + self._shift)
                self._statement(statement.parse(), depth + 1)
                self._folder, self._function = outer
            case Unreadable():
                self._stop(statement.line, statement.message)
        redirects = getattr(statement, "redirects", ())
        if redirects and not isinstance(statement, Simple):
            self._redirected(statement.line, redirects, depth)

    def _test(self, test: Expression, depth: int) -> None:
        match test:
            case Comparison():
                for word in (test.left, test.right):
                    if word is not None:
                        self._word(word, depth)
            case Negation():
                self._test(test.inner, depth)
            case Junction():
                self._test(test.left, depth)
                self._test(test.right, depth)

    def _blocks(self, blocks: list[Block], depth: int) -> None:
        for block in blocks:
            self._block(block, depth + 1)

    def _pipeline(self, pipeline: Pipeline, depth: int) -> None:
        programs = [self._program(stage) if isinstance(stage, Simple) else "?" for stage in pipeline.stages]
        for stage, before in zip(pipeline.stages, ["", *programs], strict=False):
            if isinstance(stage, Simple):
                self._simple(stage, depth, piped=before)
            else:
                self._statement(stage, depth)

    def _program(self, simple: Simple) -> str:
        words = [word for word in simple.words if isinstance(word, Word)]
        return (words[0].constant or "?").rpartition("/")[2] if words else "?"

    # -- commands -------------------------------------------------------------------------------------------------

    def _simple(self, simple: Simple, depth: int, *, piped: str) -> None:
        assignments = tuple((item.name, self._assigned(item, depth)) for item in simple.assignments)
        words: list[str] = []
        for item in simple.words:
            if isinstance(item, Assignment):
                words.append(f"{item.name}={self._assigned(item, depth)}")
            else:
                words.append(self._word(item, depth))
        targets, stdin, stdin_line, last = self._redirects(simple.redirects, depth)
        sources = [item.target for item in simple.redirects if item.operator == "<" and item.target is not None]
        # Words come in the order of their lines, so the last ones tell where the command ends.
        last = max(simple.line, last, *(_last_line(items[-1]) for items in (simple.assignments, simple.words) if items))
        command = ShellCommand(
            words=tuple(words),
            line=simple.line + self._shift,
            end_line=last + self._shift,
            assignments=assignments,
            targets=targets,
            source=self._word(sources[-1], depth) if sources else "",
            stdin=stdin,
            stdin_line=stdin_line + self._shift if stdin_line else 0,
            folder=self._folder,
            piped=piped,
            function=self._function,
        )
        self.commands.append(command)
        if words[:1] in (["cd"], ["pushd"]) and len(words) > 1:
            self._folder = words[-1]
        self._inner(command, simple, depth)

    def _inner(self, command: ShellCommand, simple: Simple, depth: int) -> None:
        """Scripts inside of a command: `bash -c TEXT`, `eval TEXT`, a here-document that a shell reads."""
        names = [word.rpartition("/")[2] for word in command.words]
        for index, name in enumerate(names):
            if name in _SHELLS and index + 1 < len(names):
                option = next((n for n in range(index + 1, len(names)) if re.fullmatch(r"-[a-z]*c", names[n])), None)
                if option is not None and option + 1 < len(names):
                    source = simple.words[option + 1]
                    self._text(command.words[option + 1], source.line, depth)
                    break
        if names[:1] == ["eval"] and "$" not in command.text:
            self._text(" ".join(command.words[1:]), simple.line, depth)
        if command.stdin and any(name in _SHELLS or name in ("ssh", "srun") for name in names):
            self._text(command.stdin, command.stdin_line - self._shift, depth)

    def _text(self, text: str, line: int, depth: int) -> None:
        """A script that stands as a text in this one, its first line at `line`."""
        if depth + 10 > _MAX_DEPTH:
            self._stop(line, "scripts stand in scripts too deeply")
            return
        shift, folder = self._shift, self._folder
        self._shift += line - 1
        self._block(parse(text, self.path), depth + 10)
        self._shift, self._folder = shift, folder

    def _redirected(self, line: int, redirects: tuple[Redirect, ...], depth: int) -> None:
        targets, stdin, stdin_line, last = self._redirects(redirects, depth)
        if targets or stdin:
            self.commands.append(
                ShellCommand(
                    words=(),
                    line=line + self._shift,
                    end_line=max(line, last) + self._shift,
                    targets=targets,
                    stdin=stdin,
                    stdin_line=stdin_line + self._shift if stdin_line else 0,
                    folder=self._folder,
                    function=self._function,
                )
            )

    def _redirects(self, redirects: tuple[Redirect, ...], depth: int) -> tuple[tuple[str, ...], str, int, int]:
        """Files written, text read, the line where that text begins, and the last line."""
        targets: list[str] = []
        texts: list[str] = []
        first = last = 0
        for redirect in redirects:
            last = max(last, redirect.line)
            if redirect.heredoc is not None:
                body = redirect.heredoc.body
                texts.append(self._word(body, depth))
                first = first or body.line
                last = max(last, body.line + texts[-1].count("\n"))
            elif redirect.target is not None:
                name = self._word(redirect.target, depth)
                if redirect.operator == "<<<":
                    texts.append(name)
                    first = first or redirect.line
                elif ">" in redirect.operator and not name.startswith(("/dev/", "&")) and not name.isdigit():
                    targets.append(name)
        return tuple(targets), "\n".join(texts), first, last

    # -- words ----------------------------------------------------------------------------------------------------

    def _assigned(self, assignment: Assignment, depth: int) -> str:
        words = [] if assignment.value is None else [assignment.value]
        words += [element.value for element in assignment.elements or ()]
        value = " ".join(self._word(word, depth) for word in words)
        self._put(assignment.name, value)
        if assignment.append or assignment.index is not None:
            self.grown.add(assignment.name)
        return value

    def _word(self, word: Word, depth: int) -> str:
        if word.constant is not None:
            return word.constant
        return "".join(self._part(part, depth) for part in word.parts)

    def _part(self, part: Part, depth: int) -> str:
        match part:
            case Literal():
                return part.text
            case Parameter():
                return self._parameter(part, depth)
            case Arithmetic():
                return f"$(({self._word(part.expression, depth)}))"
            case Substitution() | Process():
                return f"$({'; '.join(self._nested(part.body, depth))})"

    def _parameter(self, part: Parameter, depth: int) -> str:
        rest = "".join(self._word(word, depth) for word in (part.argument, part.second) if word is not None)
        return f"${{{part.prefix}{part.name}{part.operator}{rest}}}"

    def _nested(self, body: Block, depth: int) -> Iterator[str]:
        """The texts of the commands of a substitution, which are commands of the script too."""
        start, folder = len(self.commands), self._folder
        self._block(body, depth + 1)
        self._folder = folder
        for command in self.commands[start:]:
            yield f"{command.text} {command.stdin}".strip()


@lru_cache(maxsize=64)
def read_script(text: str, path: str) -> Script:
    """A script taken apart, kept for all checks that look at it; not to be changed."""
    return Script(text, path)


def _last_line(item: Word | Assignment) -> int:
    """The last line of a word, or of an assignment, as far as its own text tells."""
    if isinstance(item, Assignment):
        words = [word for word in (item.value, *(element.value for element in item.elements or ())) if word is not None]
        return max(item.line, *(_last_line(word) for word in words[-1:])) if words else item.line
    return item.line + sum(part.text.count("\n") for part in item.parts if isinstance(part, Literal))
