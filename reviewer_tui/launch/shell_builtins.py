"""Bash's builtin commands, as far as they change what a script holds or prints."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence

from reviewer_tui.launch.command_line import ASSIGNMENT
from reviewer_tui.launch.shell_conditions import Conditions
from reviewer_tui.launch.shell_printf import formatted, unescaped
from reviewer_tui.launch.shell_state import BREAK, CONTINUE, EXIT, ON, RETURN, Array, Gap, gap_in, unknown_array
from reviewer_tui.launch.shell_words import Argument, LimitReached
from reviewer_tui.launch.syntax import Assignment, Simple, Word
from reviewer_tui.launch.text import Mixed, Text, Unknown, concat, show, unknown, unknowns
from reviewer_tui.model.finding import Problem

Builtin = Callable[[list[Argument], Simple], int]


_ECHO_OPTIONS = re.compile(r"-[neE]+")


class Builtins(Conditions):
    """Each builtin takes the words of the command, its own name first, and tells how the statement ends."""

    def builtins(self) -> Mapping[str, Builtin]:
        return {
            ":": self._nothing,
            "true": self._nothing,
            "false": self._false,
            "[": self.test,
            "test": self.test,
            "break": self._break,
            "continue": self._break,
            "cat": self._cat,
            "cd": self._cd,
            "declare": self._declare,
            "echo": self._echo,
            "exit": self._exit,
            "export": self._declare,
            "getopts": self._unknown_status,
            "let": self._let,
            "local": self._declare,
            "mapfile": self._mapfile,
            "mktemp": self._temporary,
            "popd": self._popd,
            "printf": self._printf,
            "pushd": self._cd,
            "pwd": self._pwd,
            "read": self._read,
            "readarray": self._mapfile,
            "readonly": self._declare,
            "return": self._return,
            "set": self._set,
            "shift": self._shift,
            "shopt": self._of_the_process,
            "tee": self._tee,
            "trap": self._of_the_process,
            "typeset": self._declare,
            "ulimit": self._of_the_process,
            "umask": self._of_the_process,
            "unset": self._unset,
            "wait": self._unknown_status,
        }

    def _nothing(self, arguments: list[Argument], command: Simple) -> int:
        self.state.status = True
        return ON

    @abstractmethod
    def record(self, arguments: Sequence[Argument], line: int, environment: Mapping[str, Text]) -> None:
        """Notes a command that the script runs."""

    def _of_the_process(self, arguments: list[Argument], command: Simple) -> int:
        """What changes the shell itself and so whatever it runs later: noted as it stands."""
        self.record(arguments, command.line, self.state.exported)
        return self._nothing(arguments, command)

    def _false(self, arguments: list[Argument], command: Simple) -> int:
        self.state.status = False
        return ON

    def _unknown_status(self, arguments: list[Argument], command: Simple) -> int:
        self.state.status = None
        return ON

    def _echo(self, arguments: list[Argument], command: Simple) -> int:
        words = arguments[1:]
        ending, escapes = "\n", False
        while words and isinstance(words[0].text, str) and _ECHO_OPTIONS.fullmatch(words[0].text):
            ending = "" if "n" in words[0].text else ending
            escapes |= "e" in words[0].text
            words = words[1:]
        pieces: list[Text] = []
        for number, word in enumerate(words):
            text = word.text
            if escapes and isinstance(text, str):
                text = unescaped(text)
            pieces.extend((" ", text) if number else (text,))
        self.state.print(concat([*pieces, ending]))
        self.state.status = True
        return ON

    def _printf(self, arguments: list[Argument], command: Simple) -> int:
        words = arguments[1:]
        variable: Text | None = None
        if len(words) > 1 and words[0].text == "-v":
            variable, words = words[1].text, words[2:]
        if words and words[0].text == "--":
            words = words[1:]
        text = formatted(words, command.line, self.path) if words else ""
        if variable is None:
            self.state.print(text)
        elif isinstance(variable, str):
            self.assign(variable, text)
        self.state.status = True
        return ON

    def _cat(self, arguments: list[Argument], command: Simple) -> int:
        names = [argument.text for argument in arguments[1:]]
        if not names or names == ["-"]:
            self.state.print(self.state.input)
            self.state.status = True
            return ON
        if self.state.printed is None:
            self.state.status = None
            return ON
        for name in names:
            content = self.content(name)
            self.state.print(
                unknown(f"content of {show(name)}", command.line, self.path) if content is None else content
            )
        self.state.status = None
        return ON

    def _tee(self, arguments: list[Argument], command: Simple) -> int:
        content = self.state.input
        append = any(argument.text in ("-a", "--append") for argument in arguments)
        for argument in arguments[1:]:
            if isinstance(argument.text, str) and not argument.text.startswith("-"):
                self.write_file(argument.text, content, append)
        self.state.print(content)
        self.state.status = True
        return ON

    def _cd(self, arguments: list[Argument], command: Simple) -> int:
        target = next(
            (a.text for a in arguments[1:] if not (isinstance(a.text, str) and a.text in ("-P", "-L", "--"))), None
        )
        self.state.status = True
        if isinstance(target, str) and target not in ("-", ""):
            self.state.cwd = (
                self.absolute(target) if isinstance(self.state.cwd, str) or target[0] == "/" else self.state.cwd
            )
        else:
            self.state.cwd = unknown("working directory", command.line, self.path, nonempty=True)
        return ON

    def _popd(self, arguments: list[Argument], command: Simple) -> int:
        self.state.cwd = unknown("working directory", command.line, self.path, nonempty=True)
        self.state.status = True
        return ON

    def _pwd(self, arguments: list[Argument], command: Simple) -> int:
        self.state.print(concat((self.state.cwd, "\n")))
        self.state.status = True
        return ON

    def declare_words(self, name: str, command: Simple) -> int:
        """`export`, `local` and their like: options, names and assignments."""
        self.state.status = True
        options = ""
        for word in command.words[1:]:
            if isinstance(word, Assignment):
                self._declared(name, options, word.name, word)
                continue
            for argument in self.arguments(word):
                text = argument.text
                if not isinstance(text, str):
                    reason = unknowns(text)[0]
                    self.taint(
                        reason, f"line {command.line}: what `{name}` sets is unknown ({reason.reason}).", command.line
                    )
                elif text[:1] in "-+" and text:
                    options += text[1:] if text[0] == "-" else ""
                elif "=" in text and (found := ASSIGNMENT.match(text)):
                    value = text[found.end() :]
                    plain = Assignment(found.group(1), word.line, Word((), word.line, value))
                    self._declared(name, options, plain.name, plain)
                else:
                    self._declared(name, options, text, None)
        # The declaration succeeds, whatever became of a substitution in it.
        self.state.status = True
        return ON

    def _declare(self, arguments: list[Argument], command: Simple) -> int:
        """A declaration whose name came out of an expansion."""
        words: list[Word | Assignment] = [
            Word((), a.line, a.text) if isinstance(a.text, str) else Word((), a.line, "") for a in arguments
        ]
        name = arguments[0].text
        assert isinstance(name, str)
        return self.declare_words(name, Simple(command.line, (), tuple(words), ()))

    def _declared(self, command: str, options: str, name: str, assignment: Assignment | None) -> None:
        frame = self.frames[-1]
        if "n" in options and command != "export":
            self.assign(name, unknown(f"value of {name} (a reference)", self.line, self.path))
            return
        local = command == "local" or (
            command in ("declare", "typeset") and len(self.frames) > 1 and "g" not in options
        )
        if local and name not in frame.hidden:
            frame.hidden[name] = self.state.variables.get(name), name in self.state.exported
            if assignment is None:
                self.state.variables[name] = ""
        if "A" in options:
            current = self.state.variables.get(name)
            if not isinstance(current, Array) or (local and assignment is not None):
                self.assign(name, Array({}, associative=True))
        elif "a" in options and assignment is None and not isinstance(self.state.variables.get(name), Array):
            self.assign(name, Array({}))
        if assignment is not None:
            self.line = assignment.line
            self.apply(assignment)
        if (command == "export" and "n" not in options) or "x" in options:
            self.export(name)
        if command == "export" and "n" in options and name in self.state.exported:
            self.state.exported = {k: v for k, v in self.state.exported.items() if k != name}

    def _unset(self, arguments: list[Argument], command: Simple) -> int:
        functions = False
        for argument in arguments[1:]:
            name = argument.text
            if not isinstance(name, str):
                continue
            if name.startswith("-"):
                functions = "f" in name
            elif functions:
                self.state.functions = {k: v for k, v in self.state.functions.items() if k != name}
            elif "[" in name:
                self._unset_element(name, command.line)
            else:
                self.unset(name)
        self.state.status = True
        return ON

    def _unset_element(self, name: str, line: int) -> None:
        base, _, index = name.rstrip("]").partition("[")
        current = self.state.variables.get(base)
        if isinstance(current, Array):
            key = self.key(base, Word((), line, index), line)
            if current.gap is not None or isinstance(key, Unknown):
                self.assign(base, unknown_array(Unknown(f"value of {base}", line, self.path), current.associative))
            else:
                items = {k: v for k, v in current.items.items() if k != key}
                self.assign(base, Array(items, current.associative))

    def _let(self, arguments: list[Argument], command: Simple) -> int:
        self.line = command.line
        value: int | Unknown = 0
        for argument in arguments[1:]:
            value = self.number(argument.text, command.line)
        self.state.status = None if isinstance(value, Unknown) else bool(value)
        return ON

    def set_positional(self, arguments: Sequence[Argument]) -> None:
        """New positional parameters."""
        self.state.arguments = tuple(argument.item for argument in arguments)

    def _set(self, arguments: list[Argument], command: Simple) -> int:
        self.state.status = True
        words = arguments[1:]
        for number, argument in enumerate(words):
            if isinstance(argument.text, str):
                named = number > 0 and words[number - 1].text in ("-o", "+o")
                self._option(argument.text, str(words[number - 1]) if named else argument.text)
            if argument.text == "--":
                self.set_positional(words[number + 1 :])
                return ON
            if isinstance(argument.text, str) and argument.text[:1] not in ("-", "+"):
                if (number and words[number - 1].text in ("-o", "+o")) or _sets_option(words[:number]):
                    continue
                self.set_positional(words[number:])
                return ON
        return ON

    def _option(self, text: str, sign: str) -> None:
        """`-e`, `-o errexit` and the like; `sign` begins with `-` where an option is switched on."""
        letters = text[1:] if re.fullmatch(r"[-+][A-Za-z]+", text) else ""
        if "e" in letters or text == "errexit":
            self.state.failing = sign.startswith("-")
        if "u" in letters or text == "nounset":
            self.state.insisting = sign.startswith("-")

    def _shift(self, arguments: list[Argument], command: Simple) -> int:
        self.state.status = True
        count = self.number(arguments[1].text, command.line) if len(arguments) > 1 else 1
        if isinstance(count, Unknown):
            self.state.arguments, self.state.status = (Gap(count),), None
        elif (gap := gap_in(self.state.arguments[:count])) is not None:
            self.state.arguments, self.state.status = (Gap(gap),), None
        elif count <= len(self.state.arguments):
            self.state.arguments = self.state.arguments[max(count, 0) :]
        else:
            self.state.status = False
        return ON

    def _status_of(self, arguments: list[Argument], line: int) -> None:
        if len(arguments) > 1:
            value = self.number(arguments[1].text, line)
            self.state.status = None if isinstance(value, Unknown) else value % 256 == 0
            self.state.code = 1 if isinstance(value, Unknown) else value % 256

    def _return(self, arguments: list[Argument], command: Simple) -> int:
        self._status_of(arguments, command.line)
        return RETURN

    def _exit(self, arguments: list[Argument], command: Simple) -> int:
        self._status_of(arguments, command.line)
        return self.leave(command.line)

    def leave(self, line: int) -> int:
        """The script stops here; where it does so for certain and with a failure, this is told."""
        if self.ended is None and self.state.status is not True and not any(self.doubts()):
            message = f"line {line}: the script stops here with a failure."
            self.ended = Problem(path=self.path, message=message, rule="stops", line=line)
        return EXIT

    def _break(self, arguments: list[Argument], command: Simple) -> int:
        self.state.status = True
        if not self.frames[-1].loops:
            return ON
        if len(arguments) > 1 and arguments[1].text not in ("1",):
            raise LimitReached("`break` and `continue` of an outer loop are not evaluated", command.line)
        return BREAK if arguments[0].text == "break" else CONTINUE

    def _read(self, arguments: list[Argument], command: Simple) -> int:
        words = list(arguments[1:])
        names: list[str] = []
        array = False
        while words:
            text = words.pop(0).text
            if isinstance(text, str) and text.startswith("-") and len(text) > 1:
                array |= "a" in text
                if text[-1] in "dptnNui" and words:
                    words.pop(0)
            elif isinstance(text, str):
                names.append(text)
        stdin = self.state.input
        if not isinstance(stdin, str):
            reason = unknowns(stdin)[0]
            for name in names or ["REPLY"]:
                self.assign(name, unknown_array(reason) if array else Mixed((reason,)))
            self.state.status = None
            return ON
        line, _, self.state.input = stdin.partition("\n")
        self.state.status = bool(stdin)
        fields = (
            [f for f in re.split(f"[{re.escape(self._separators())}]+", line.strip(" \t")) if f]
            if self._separators()
            else [line]
        )
        if array:
            self.assign(names[0] if names else "REPLY", Array(dict(enumerate(fields))))
        elif len(names) <= 1:
            self.assign(
                names[0] if names else "REPLY",
                line if self._separators().strip(" \t\n") else line.strip(" \t"),
            )
        else:
            for number, name in enumerate(names):
                last = number == len(names) - 1
                value = " ".join(fields[number:]) if last else fields[number] if number < len(fields) else ""
                self.assign(name, value)
        return ON

    def _temporary(self, arguments: list[Argument], command: Simple) -> int:
        """A name for a new file; the number stands where `mktemp` puts what it likes."""
        self.temporary_files += 1
        words = [a.text for a in arguments[1:] if isinstance(a.text, str) and not a.text.startswith("-")]
        pattern = words[-1] if words else "/tmp/tmp.XXXXXX"
        self.state.print(re.sub("X{3,}", str(self.temporary_files), pattern) + "\n")
        self.state.status = True
        return ON

    def _mapfile(self, arguments: list[Argument], command: Simple) -> int:
        names = [a.text for a in arguments[1:] if isinstance(a.text, str) and not a.text.startswith("-")]
        name = names[-1] if names else "MAPFILE"
        text = self.state.input
        if isinstance(text, str) and text:
            self.assign(name, Array(dict(enumerate(text.rstrip("\n").split("\n")))))
        else:
            self.assign(name, unknown_array(Unknown(f"value of {name}", command.line, self.path)))
        self.state.status = True
        return ON


def _sets_option(words: Sequence[Argument]) -> bool:
    """Whether the words before end in a cluster such as `-eo`, whose value follows."""
    last = words[-1].text if words else ""
    return isinstance(last, str) and re.fullmatch(r"[-+][A-Za-z]*o", last) is not None
