"""What a shell script does to the serving stack, command by command.

A command whose effect its text does not show is `unclear`, and so is a program that no rule knows; one that another
script of the repository may define is a reference.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise

import msgspec

from reviewer_tui.checks.patches import rules
from reviewer_tui.checks.patches.environment import read_setting
from reviewer_tui.checks.patches.packages import from_source
from reviewer_tui.checks.patches.programs import GIVEN, MOST_INDIRECT, MOUNTED, VARIABLE, Programs, mounted
from reviewer_tui.checks.patches.python import read_python
from reviewer_tui.checks.patches.reading import Hit, Reading
from reviewer_tui.checks.shell_commands import Script, ShellCommand, read_script

UNREAD = "cannot be read as a shell script"
"""How the hit of a text that is no script begins."""

_PYTHON = re.compile(r"(?:python|pypy)[\d.]*\Z")
_PIP = re.compile(r"pip[\d.]*\Z")
_SHELLS = ("bash", "sh", "dash", "zsh", "source", ".")
_SCRIPT_NAME = re.compile(r"[\w./${}()\"-]*?([\w-][\w.-]*\.(?:sh|py|slurm|sbatch|bash))\Z")
_WORD = re.compile(r"(?:\$\([^()]*\)|\$\{[^{}]*\}|\S)+")
_READ = re.compile(r"\$\{[!#]?(\w+)")
_PACKAGE = re.compile(r"[A-Za-z][\w-]*(?===)")
_RAW = ("PYTHONPATH", "LD_LIBRARY_PATH", "PATH")
_DEFAULT = re.compile(r"\A\$\{\w+:?-(/[\w./-]+)\}\Z")
_PATH = re.compile(r"\.{0,2}/[\w./-]*[\w-]\Z")
# Options of starters that take a path which is no program.
_BEFORE_A_PATH = frozenset(
    {
        *(
            "-v",
            "--volume",
            "--mount",
            "--bind",
            "-w",
            "--workdir",
            "--env-file",
            "-o",
            "--output",
            "-e",
            "--error",
            "-f",
        ),
        *("-D", "--chdir", "--container-workdir", "--container-mounts", "--root", "--mca", "-x", "-i", "--device"),
    }
)
_SETTING = re.compile(r"[A-Za-z_]\w*=")
_FINDS_PROGRAM = re.compile(r"\$\((?:which|command -v|type -[pP])\s+([\w.-]+)")
_HOOK = re.compile(
    r"(?:\w+_)?(?:PRE|POST|SETUP|INIT|PROLOG|EPILOG)\w*(?:CMD|COMMAND|HOOK|SCRIPT)S?\Z|(?:PRE|POST)_\w+\Z"
)
_BATCH = re.compile(r"#SBATCH\s+(--container-(?:image|mounts?|name)\S*)")
_BIN = re.compile(r"(?:^|/)s?bin/[^/]+\Z")
# Programs that run the words behind their own: the options that take a value, and how many words come first.
_WRAPPERS: dict[str, tuple[str, int]] = {
    "sudo": ("-u -g -p -C", 0),
    "env": ("-u -C -S", 0),
    "timeout": ("-k -s", 1),
    "nice": ("-n", 0),
    "ionice": ("-c -n", 0),
    "numactl": ("-N -m -C -i -p -l", 0),
    "taskset": ("", 1),
    "flock": ("-w -E", 1),
    "xargs": ("-n -I -P -L -d -a -E -s", 0),
    "stdbuf": ("-i -o -e", 0),
    "exec": ("-a", 0),
    "trtllm-llmapi-launch": ("", 0),
    **dict.fromkeys(("nohup", "command", "builtin", "time", "setsid", "chronic", "coproc"), ("", 0)),
}
# Commands that change nothing but the shell itself, whatever their words are.
_ONLY_SAYS = frozenset(
    {
        *("[", "[[", "test", ":", "true", "false", "echo", "printf", "return", "exit", "break", "continue", "shift"),
        *("wait", "sleep", "kill", "cd", "set", "date", "read"),
    }
)
# Programs that run another somewhere behind options of many forms.
_STARTERS = frozenset(
    {
        *("srun", "sbatch", "salloc", "mpirun", "mpiexec", "docker", "podman", "enroot", "singularity", "apptainer"),
        *("ssh", "uv", "conda", "mamba", "micromamba", "torchrun", "tmux", "screen", "watch", "ray"),
    }
)
_TAKE_A_TEXT = ("ssh", "tmux", "screen", "watch")


@lru_cache(maxsize=256)
def read_shell(path: str, text: str) -> Reading:
    """What a shell script does, command by command."""
    reader = _ShellReader(read_script(text, path))
    hits = (*reader.hits(), *(_batch_options(text) if "#SBATCH" in text else ()))
    return Reading(hits=tuple(dict.fromkeys(hits)), references=tuple(dict.fromkeys(reader.references)))


_Reader = Callable[[ShellCommand, str, Sequence[str]], Iterator[Hit]]


class _ShellReader(Programs):
    def __init__(self, script: Script, outer: frozenset[str] = frozenset()) -> None:
        super().__init__(script, read_shell)
        self._functions = outer | script.functions.keys()
        self._programs: dict[str, _Reader] = {
            "patch": self._apply,
            "git": self._git,
            **dict.fromkeys(("sed", "perl", "awk", "gawk", "ed", "ex", "vim"), self._edit),
            "eval": self._eval,
            "trap": self._trap,
            "base64": self._decode,
            "find": self._find,
            "mount": self._mount,
            **dict.fromkeys(("dpkg", "rpm", "apt-get", "apt", "dnf", "yum", "apk"), self._install_system),
            **dict.fromkeys(("conda", "mamba", "micromamba"), self._install_environment),
            **dict.fromkeys(("make", "cmake", "ninja", "meson"), self._build),
            **dict.fromkeys(
                ("cp", "mv", "ln", "install", "rsync", "tee", "dd", "curl", "wget", "tar", "unzip"), self._copy
            ),
            "rm": self._remove,
            **dict.fromkeys(("docker", "podman", "buildah"), self._container),
            "alias": self._hide,
            **dict.fromkeys(("kubectl", "oc"), self._kubernetes),
        }

    def hits(self) -> Iterator[Hit]:
        """What the commands do; of what a function does that the script itself never calls, another script decides."""
        called = {word for command in self._script.commands for word in command.words}
        for command in self._script.commands:
            idle = command.function if command.function not in called else ""
            for hit in self._command(command):
                yield self._idle(hit, idle) if idle and hit.kind == "engine" else hit
        for name, line in self._script.functions.items():
            if name in self._programs or name in rules.KNOWN_PROGRAMS or _PYTHON.match(name) or _PIP.match(name):
                yield Hit(kind="unclear", line=line, end_line=line, what=f"puts a function in the place of {name}")
        if self._script.unread is not None:
            line, message = self._script.unread
            what = f"{UNREAD} from here on ({message})"
            yield Hit(kind="unclear", line=line, end_line=line, what=what)

    @staticmethod
    def _idle(hit: Hit, function: str) -> Hit:
        what = f"{hit.what}, in the function {function}, which this script does not call"
        return msgspec.structs.replace(hit, kind="unclear", what=what, idle=function)

    def _command(self, command: ShellCommand) -> Iterator[Hit]:
        if command.words and command.words[0] in _ONLY_SAYS and not (command.assignments or command.targets):
            return
        if command.stdin and rules.PATCHED_ENGINE.search(command.stdin):
            yield self._hit(command, "engine", "holds a patch of engine sources")
        for name, value in self._settings(command):
            shown = value if name in _RAW or "$" not in value else _DEFAULT.sub(r"\1", value)
            shown = shown if name in _RAW else self._script.expanded(shown)
            around = f"{command.text} {command.function}"
            yield from read_setting(name, shown, around, command.line, command.end_line)
            if name == "SRTCTL_SETUP_SCRIPT" and re.fullmatch(r"[\w./-]+\.\w+", value):
                self._refer(value, "setup", command)
            elif _HOOK.match(name) and value and not value.startswith("$"):
                yield from self._text(command, value)
            elif name == "IMAGE" and re.search(r"[:/#]", value) and "$" not in value:
                yield self._hit(command, "unclear", f"names an image of its own ({value[:60]})")
            elif "MOUNT" in name:
                yield from self._mounts(command, value)
        for name, value in command.assignments:
            if name not in self._used and self._says_engine(value):
                yield self._hit(
                    command, "unclear", f"puts a part of the engine into {name}, which other scripts may use"
                )
        for target in command.targets:
            yield from self._into(command, target, "writes")
        yield from self._runs(command, 0)

    @cached_property
    def _used(self) -> frozenset[str]:
        """The variables that the script itself reads."""
        texts = (text for c in self._script.commands for text in (*c.words, *(value for _, value in c.assignments)))
        return frozenset(name for text in texts if "$" in text for name in _READ.findall(text)) | {"PYTHONPATH", "PATH"}

    @staticmethod
    def _says_engine(value: str) -> bool:
        packages = (rules.package_rule(found[0]) for word in value.split() if (found := _PACKAGE.match(word)))
        return rules.place(value) == "engine" or any(rule.kind == "engine" for rule in packages)

    def _settings(self, command: ShellCommand) -> Iterator[tuple[str, str]]:
        yield from command.assignments
        for word in command.words:
            name, sign, value = word.partition("=")
            if sign and name.startswith("--env"):
                name, sign, value = value.partition("=")
            elif name == "--export":
                yield from (tuple(part.split("=", 1)) for part in value.split(",") if "=" in part)  # type: ignore[misc]
            if sign and re.fullmatch(r"(?:-e)?[A-Z_][A-Z0-9_]*", name):
                yield name.removeprefix("-e"), value

    def _runs(self, command: ShellCommand, depth: int) -> Iterator[Hit]:
        """What the program does that the words name: by itself, behind a wrapper, or in a variable. `depth` counts
        what stood before it."""
        if depth == 0:
            yield from self._options(command)
        if not command.words:
            return
        word = command.words[0]
        if word.startswith("-"):
            return  # what is empty before it, and what only adds options, runs nothing
        if depth > MOST_INDIRECT:
            yield self._hit(command, "unclear", "runs something behind too many others")
        elif word.startswith("$") and "/" not in word.rpartition("}")[2]:
            yield from self._indirect(command, word, depth)
        else:
            yield from self._program(command, word, depth)

    def _behind(self, command: ShellCommand, words: Sequence[str], depth: int) -> Iterator[Hit]:
        yield from self._runs(msgspec.structs.replace(command, words=tuple(words)), depth + 1)

    def _program(self, command: ShellCommand, word: str, depth: int) -> Iterator[Hit]:
        name, arguments = word.rpartition("/")[2], command.words[1:]
        if name in ("command", "type", "hash") and arguments[:1] != ("-p",) and _only_asks(name, arguments):
            return
        known = name in self._programs or name in rules.KNOWN_PROGRAMS
        found = list(self._what_it_does(command, word, known, depth))
        yield from found
        writes = name in rules.WRITERS or name in self._functions or not known
        reads = name in _WRAPPERS or name in _STARTERS or name in _SHELLS or _PYTHON.match(name) or _PIP.match(name)
        if writes and not reads and not found:
            if self._place(command, *arguments) is not None:
                yield self._hit(command, "unclear", "names files of the engine, and what it does to them is not plain")
            elif command.folder == "/" and name in ("tar", "unzip", "rsync", "cp"):
                yield self._hit(command, "unclear", "puts files below the root of the image")

    def _what_it_does(self, command: ShellCommand, word: str, known: bool, depth: int) -> Iterator[Hit]:
        """What the rule for a program reads; what stands elsewhere becomes a reference."""
        name, arguments = word.rpartition("/")[2], command.words[1:]
        if name in self._functions:
            if name in self._passing_on:
                yield from self._started(command, depth)
            return
        if name in self._programs:
            yield from self._programs[name](command, name, arguments)
        if name in _WRAPPERS:
            yield from self._wrapped(command, name, depth)
        elif name in _STARTERS:
            yield from self._started(command, depth)
        elif _PYTHON.match(name):
            yield from self._python(command, arguments)
        elif _PIP.match(name):
            yield from self._pip(command, arguments)
        elif name in _SHELLS:
            yield from self._run(command, name, arguments)
        elif name.endswith(("pip_install", "pip-install")):
            yield from self._pip(command, ("install", *arguments))
        elif _SCRIPT_NAME.match(word):
            self._refer(word, "script", command)
        elif "/" in word and not (known and _BIN.search(word)):
            self._refer(word, "program", command)
        elif not known and arguments not in (("--version",), ("-v",), ("-V",)):
            self._refer(word, "function", command)
        if command.stdin and not known and name not in _SHELLS and not _PYTHON.match(name):
            yield from self._program_text(command, command.stdin, arguments)
        elif command.stdin and name in ("cat", "tee"):
            yield from self._text_for(command, name, arguments)

    def _indirect(self, command: ShellCommand, word: str, depth: int) -> Iterator[Hit]:
        """A program that a variable or a substitution names: each value that the script gives it is read in its
        place."""
        if found := _FINDS_PROGRAM.match(word):
            yield from self._behind(command, (found[1], *command.words[1:]), depth)
            return
        variable = VARIABLE.match(word)
        if variable is None:
            yield self._hit(command, "unclear", "runs a program whose name is made at run time")
            return
        if GIVEN.match(variable[1]):
            if not command.function:
                yield self._hit(command, "unclear", "runs what it is given")
            return
        values = self._values(variable)
        if not values:
            self._refer(word, "variable", command)
        # Elements that are set one by one, and words that are added later, make one command together.
        together = (" ".join(values),) if variable[1] in self._script.grown else ()
        for value in (*values, *together):
            words = _WORD.findall(value)
            meant = msgspec.structs.replace(command, words=(*words, *command.words[1:]))
            if words[:1] != [word]:
                yield from self._options(meant)
                set_first = next((n for n, w in enumerate(meant.words) if not _SETTING.match(w)), len(meant.words))
                yield from self._behind(meant, meant.words[set_first:], depth)

    @cached_property
    def _passing_on(self) -> frozenset[str]:
        """Functions that run the words they are given."""
        return frozenset(c.function for c in self._script.commands if c.function and _runs_given(c.words))

    def _wrapped(self, command: ShellCommand, name: str, depth: int) -> Iterator[Hit]:
        """The program behind a wrapper: the first word that is no option, setting or number of the wrapper's."""
        with_value, leading = _WRAPPERS[name]
        if name == "taskset" and any(re.fullmatch(r"-\w*p\w*|--pid", word) for word in command.words[1:]):
            return  # it binds a process that runs already
        if name == "env" and (texts := list(_after(command.words, "-S", "--split-string"))):
            yield from self._text(command, texts[0])
        words, index = command.words, 1
        while index < len(words):
            word = words[index]
            if word.startswith("-"):
                index += 2 if word in with_value.split() else 1
            elif leading or re.fullmatch(r"[A-Za-z_]\w*=.*|[\d.,:-]+[smhd]?|\{\}", word, re.S):
                leading -= bool(leading and "=" not in word)
                index += 1
            else:
                break
        yield from self._behind(command, words[index:], depth)

    def _started(self, command: ShellCommand, depth: int) -> Iterator[Hit]:
        """The program behind options of many forms: the first word that a rule reads, or else each script that is
        named."""
        words = command.words
        for index, word in enumerate(words[1:], 1):
            name = word.rpartition("/")[2]
            if not word.startswith("-") and (
                name in self._programs or name in _SHELLS[:4] or _PYTHON.match(name) or _PIP.match(name)
            ):
                yield from self._behind(command, words[index:], depth)
                return
        if words[0] == "uv" and any(word in ("add", "sync") for word in words[1:3]):
            yield self._hit(command, "unclear", "installs what another file lists")
        elif words[0] in _TAKE_A_TEXT or words[0] in self._functions:
            yield from self._text(command, next((word for word in words[1:] if re.search(r"\s", word)), ""))
        for before, word in pairwise(words):
            if _SCRIPT_NAME.match(word):
                self._refer(word, "script", command)
            elif _PATH.match(word) and before not in _BEFORE_A_PATH:
                self._refer(word, "program", command)

    def _kubernetes(self, command: ShellCommand, program: str, arguments: Sequence[str]) -> Iterator[Hit]:
        """A program that is run in a pod."""
        if "exec" in arguments and "--" in arguments:
            yield from self._behind(command, arguments[arguments.index("--") + 1 :], 0)

    def _find(self, command: ShellCommand, program: str, arguments: Sequence[str]) -> Iterator[Hit]:
        """What is run on the files that are found, in the folder that is searched."""
        for index, word in enumerate(arguments):
            if word in ("-exec", "-execdir", "-ok", "-okdir"):
                end = next((n for n in range(index, len(arguments)) if arguments[n] in (";", "+")), len(arguments))
                found = "/".join((arguments[0], *_after(arguments, "-name", "-iname", "-path")))
                words = [found if part == "{}" else part for part in arguments[index + 1 : end]]
                yield from self._behind(command, words, 0)
            elif word == "-delete":
                yield from self._remove(command, program, arguments[:1])

    def _trap(self, command: ShellCommand, program: str, arguments: Sequence[str]) -> Iterator[Hit]:
        """Commands that wait for a signal."""
        if len(arguments) > 1 and arguments[0] != "-":
            yield from self._text(command, arguments[0])

    def _eval(self, command: ShellCommand, program: str, arguments: Sequence[str]) -> Iterator[Hit]:
        """A text that is made at run time: the values that the script gives its variables are read like scripts."""
        for word in arguments:
            made_by = re.match(r"\$\((\w+)\s*", word)
            if made_by and made_by[1] in ("echo", "printf"):
                yield from self._text(command, word[made_by.end() :].removesuffix(")"))
                continue
            if made_by and _PYTHON.match(made_by[1]):
                continue  # its own text tells what it prints, and is read as a command of the script
            variable = VARIABLE.match(word)
            values = self._values(variable) if variable else ()
            for value in values:
                if not value.startswith("$"):  # what a variable is made from is read where it is made
                    yield from self._text(command, value)
            if "$" in word and not values:
                yield self._hit(command, "unclear", "runs a text that is made at run time")

    def _text(self, command: ShellCommand, text: str, line: int = 0) -> Iterator[Hit]:
        """What a script does that stands in a command: at that command's lines, or from `line` on."""
        reader = _ShellReader(Script(text, self._script.path, self._script.values), frozenset(self._functions))
        inner = Reading(hits=tuple(reader.hits()), references=tuple(reader.references))
        inner = inner.moved(line - 1) if line else inner.at(command.line, command.end_line)
        self.references += inner.references
        yield from inner.hits

    def _run(self, command: ShellCommand, program: str, arguments: Sequence[str]) -> Iterator[Hit]:
        name = next((word for word in arguments if not word.startswith("-")), "")
        if any(re.fullmatch(r"-[a-z]*[cn]", word) for word in arguments):
            return  # its text is part of the script, or only checked
        if command.source and (not name or "-s" in arguments):
            self._refer(command.source, "script", command)
        elif not name or "-s" in arguments:
            if not command.stdin:
                yield from self._through_a_pipe(command)
        elif re.search(r"\$\(.*\b(?:curl|wget)\b", name) or name.rpartition("/")[2] in self._downloads:
            yield self._hit(command, "unclear", "runs a program from the network")
        elif name.startswith("$(") and name.endswith(")"):
            yield self._hit(command, "unclear", "runs a text that is made at run time")
        elif not rules.PLAIN_SOURCES.search(name):
            self._refer(name, "script", command)

    def _through_a_pipe(self, command: ShellCommand) -> Iterator[Hit]:
        """A program that another one prints; uv's own installer is no part of an engine."""
        same = (other.text for other in self._script.commands if other.line <= command.line <= other.end_line)
        if command.piped and not any("astral.sh/uv/" in text for text in same):
            what = "a program from the network" if command.piped in ("curl", "wget") else "what comes through a pipe"
            yield self._hit(command, "unclear", f"runs {what}")

    def _python(self, command: ShellCommand, arguments: Sequence[str]) -> Iterator[Hit]:
        if "-m" in arguments:
            module = arguments[arguments.index("-m") + 1 :]
            if module[:1] == ("pip",):
                yield from self._pip(command, module[1:])
            elif module and not rules.KNOWN_MODULES.match(module[0]):
                self._refer(f"{module[0].replace('.', '/')}.py", "script", command)
            return
        if any(word.rpartition("/")[2] == "setup.py" for word in arguments):
            if any(word in ("install", "develop") for word in arguments):
                item = from_source(self._script, command, ".")
                yield self._hit(command, item.kind, f"installs {item.name}: {item.reason}")
            return
        if "-c" in arguments:
            place = arguments.index("-c") + 1
            text = self._script.expanded(arguments[place]) if place < len(arguments) else ""
            if text.startswith("$(") or VARIABLE.match(text):
                yield self._hit(command, "unclear", "runs a text that is made at run time")
            yield from self._program_text(command, text, arguments[place + 1 :])
        elif command.stdin:
            yield from self._program_text(command, command.stdin, arguments)
        elif command.source and arguments[:1] in ((), ("-",)):
            self._refer(command.source, "script", command)
        elif arguments[:1] == ("-",):
            yield from self._through_a_pipe(command)
        else:
            name = next((word for word in arguments if not word.startswith("-")), "")
            if name.rpartition("/")[2] in self._downloads:
                yield self._hit(command, "unclear", "runs a program from the network")
            elif name:
                self._refer(name, "script", command)
            else:
                yield from self._through_a_pipe(command)

    def _text_for(self, command: ShellCommand, program: str, arguments: Sequence[str]) -> Iterator[Hit]:
        """A here-document for a program that is not Python by its name: a file that is written, or a function or
        variable that may stand for any program."""
        targets = [*command.targets, *(arguments if program == "tee" else ())]
        shell = any(target.endswith(rules.SHELL_ENDINGS) for target in targets) or command.stdin.startswith("#!")
        if shell and "python" not in command.stdin.partition("\n")[0]:
            yield from self._text(command, command.stdin, command.stdin_line)
        else:
            hits = tuple(read_python(" ".join(targets), command.stdin, read_shell, certain=False))
            yield from Reading(hits=hits).moved(command.stdin_line - 1).hits


def _batch_options(text: str) -> Iterator[Hit]:
    """What the job's own options, which stand in comments, put in the place of the image or over its files."""
    for number, line in enumerate(text.split("\n"), 1):
        if (found := _BATCH.match(line)) is None:
            continue
        places = [path for path in MOUNTED.findall(found[1]) if rules.place(path) is not None]
        yield from (mounted(path, number, number) for path in places)
        if not places:
            yield Hit(kind="unclear", line=number, end_line=number, what=f"chooses its container itself ({found[1]})")


def _after(arguments: Sequence[str], *options: str) -> Iterator[str]:
    """The words behind these options."""
    return (arguments[n + 1] for n, word in enumerate(arguments[:-1]) if word in options)


def _only_asks(program: str, arguments: Sequence[str]) -> bool:
    """Whether `command`, `type` or `hash` only tells whether a program is there."""
    return program != "command" or any(re.fullmatch(r"-[vV]+", word) for word in arguments[:1])


def _runs_given(words: Sequence[str]) -> bool:
    """Whether a command runs the words that its function is given: as its program, or behind another."""
    name = words[0].rpartition("/")[2] if words else ""
    others = name in _WRAPPERS or name in _STARTERS or name in _SHELLS or _PYTHON.match(name)
    runs = words[1:] if others else words[:1]
    return any((found := VARIABLE.match(word)) is not None and GIVEN.match(found[1]) for word in runs)
