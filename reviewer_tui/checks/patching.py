"""What a file of the repository does to the serving stack: located, with the reason; nothing is executed.

Shell scripts are read command by command, Python and recipes by what tells in their text. A command whose effect its
text does not show is `unclear`, never nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Literal

import msgspec

from reviewer_tui.checks import patch_rules as rules
from reviewer_tui.checks.patch_rules import Kind
from reviewer_tui.checks.pip_packages import from_source, installed
from reviewer_tui.checks.shell_commands import Script, ShellCommand
from reviewer_tui.checks.yaml_scalars import Scalar, scalars

How = Literal["script", "setup", "patch"]

_SHOWN = 110
_SHELL_ENDINGS = (".sh", ".bash", ".slurm", ".sbatch", ".env")
_WRAPPERS = frozenset(
    {
        *(
            "sudo",
            "env",
            "timeout",
            "nohup",
            "exec",
            "command",
            "time",
            "nice",
            "stdbuf",
            "numactl",
            "taskset",
            "xargs",
        ),
        *("srun", "docker", "podman", "enroot", "singularity", "apptainer", "ssh", "flock", "retry", "uv", "conda"),
    }
)
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*\Z")
_PIP = re.compile(r"pip[\d.]*\Z")
_SCRIPT_NAME = re.compile(r"[\w./${}()\"-]*?([\w-][\w.-]*\.(?:sh|py|slurm|bash))\Z")
_SETUP_SETTING = re.compile(
    r"^\s*(?:-\s*)?[\"']?(?:setup_script|SRTCTL_SETUP_SCRIPT)[\"']?\s*[:=]\s*[\"']?([\w./-]+\.\w+)"
)
_MOUNT = re.compile(r"[\w./${}@:=-]*?:(/[\w./*-]+)")
_YAML_MOUNT = re.compile(r"[\"']?[\w./${}-]+[\"']?\s*:\s*[\"']?(/[\w./-]+)[\"']?\s*\Z")
_SHELL_IN_YAML = re.compile(r"\b(?:pip3?|git|patch|sed|perl|cp|mv|ln|tee|curl|wget|python3?|bash|sh|source)\s|&&|\n|>")
_PYTHONPATH_ITSELF = re.compile(r"\$\{PYTHONPATH(?:[^{}]|\{[^{}]*\})*\}|\$PYTHONPATH")
_ENGINE_FOLDER = re.compile(
    rf"(?:^|/)(?:{rules.ENGINE_MODULES})(?:[-_]?(?:src|source|fork|patched|dev|site|main))?(?:/|$)"
)
_GITHUB_EXPRESSION = re.compile(r"\$\{\{.*?\}\}", re.S)
_UNREAD = "cannot be read as a shell script"
_ASSIGNED = re.compile(r"^\s*((?:[A-Za-z_]\w*)(?:\.\w+)+)\s*=[^=]", re.M)
_IMPORTED = re.compile(
    rf"^\s*(?:from\s+(?:{rules.ENGINE_MODULES})[\w.]*\s+import\s+(.+)|import\s+((?:{rules.ENGINE_MODULES})[^\n#]*))",
    re.M,
)


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """Something that touches the serving stack, or might. `what` ends a sentence that begins with the place."""

    kind: Kind
    line: int
    end_line: int
    what: str


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """Another file that is run (`script`), run in the engine's container (`setup`) or applied (`patch`) from here."""

    name: str
    how: How
    line: int
    end_line: int


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What one file does."""

    hits: tuple[Hit, ...] = ()
    references: tuple[Reference, ...] = ()


@lru_cache(maxsize=256)
def read_file(path: str, text: str) -> Reading:
    """What a file of any kind does to the serving stack, by its name and text."""
    name = path.rpartition("/")[2]
    lines = text.count("\n") + 1
    if rules.STARTUP_HOOK.search(path) and not rules.EVAL_CLIENT.search(path):
        what = "is run by every Python program at its start (a hook to change the engine)"
        return Reading(hits=(Hit(kind="engine", line=1, end_line=lines, what=what),))
    if rules.PATCH_FILE.search(path):
        return Reading(hits=(_patch_file(text, lines),))
    if path.endswith(_SHELL_ENDINGS) or re.match(r"#!\S*(?:bash|sh|env (?:bash|sh))\b", text):
        return read_shell(path, text)
    if path.endswith(".py"):
        return Reading(hits=tuple(_python_file(name, text, lines)))
    if path.startswith(".github/"):
        return _on_the_host(_yaml(path, text))
    if path.endswith((".yaml", ".yml")):
        return _yaml(path, text)
    if path.endswith(".json"):
        return _yaml(path, text)
    if name.startswith(("Dockerfile", "Containerfile")) or name.endswith(".dockerfile"):
        what = "builds an image; the pinned one must run as shipped"
        return Reading(hits=(Hit(kind="unclear", line=1, end_line=lines, what=what),))
    if rules.may_replace(text):
        what = "is no program that can be read, and its text speaks of changing the image"
        return Reading(hits=(Hit(kind="unclear", line=1, end_line=lines, what=what),))
    return Reading()


def _on_the_host(reading: Reading) -> Reading:
    """A workflow works on the machine that starts containers, so what it installs is not the engine's by itself."""
    hits = tuple(msgspec.structs.replace(h, kind="unclear") if h.kind == "engine" else h for h in reading.hits)
    return Reading(hits=hits, references=reading.references)


def _patch_file(text: str, lines: int) -> Hit:
    if rules.PATCHED_ENGINE.search(text):
        return Hit(kind="engine", line=1, end_line=lines, what="is a patch of engine sources")
    if rules.PATCHED_ORCHESTRATION.search(text):
        what = "is a patch of the job launcher (srt-slurm), which is no engine"
        return Hit(kind="unclear", line=1, end_line=lines, what=what)
    return Hit(kind="unclear", line=1, end_line=lines, what="is a patch, and what it patches is not plain")


# -- Python -----------------------------------------------------------------------------------------------------------


def _python_file(name: str, text: str, lines: int) -> Iterator[Hit]:
    if rules.WRITES.search(text):
        kind = rules.place(text)
        if kind is None and rules.CHANGES_BY_NAME.search(name) and not rules.ORCHESTRATION.search(text):
            kind = "unclear"
        if kind is not None:
            yield _python_hit(text, kind, 1)
    for number, line in enumerate(text.split("\n"), 1):
        if rules.STARTS_CHANGE.search(line) and not line.lstrip().startswith("#"):
            what = f"starts something that may change the image ({line.strip()[:_SHOWN]})"
            yield Hit(kind="unclear", line=number, end_line=number, what=what)
    yield from _monkey_patches(text)


def _python_hit(text: str, kind: Kind, line: int) -> Hit:
    write = rules.WRITES.search(text)
    offset = text.count("\n", 0, write.start()) if write else 0
    what = "rewrites files of the installed engine" if kind == "engine" else "rewrites files that may serve"
    return Hit(kind=kind, line=line + offset, end_line=line + text.count("\n"), what=f"{what} (Python)")


def _monkey_patches(text: str) -> Iterator[Hit]:
    """Assignments to members of engine modules: `vllm.x.y = z`, `Scheduler.step = mine`."""
    names: set[str] = set()
    for found in _IMPORTED.finditer(text):
        for part in (found[1] or found[2]).strip("()").split(","):
            words = part.split()
            if words:
                names.add(words[-1].partition(".")[0].strip("()"))
    for found in _ASSIGNED.finditer(text):
        if found[1].partition(".")[0] in names:
            line = text.count("\n", 0, found.start(1)) + 1
            what = f"replaces a member of the engine at run time ({found[1]})"
            yield Hit(kind="engine", line=line, end_line=line, what=what)


# -- recipes ----------------------------------------------------------------------------------------------------------


def _yaml(path: str, text: str) -> Reading:
    hits: list[Hit] = []
    references: list[Reference] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("#"):
            continue
        if setup := _SETUP_SETTING.match(line):
            references.append(Reference(name=setup[1], how="setup", line=number, end_line=number))
        elif (mount := _YAML_MOUNT.search(line)) and rules.place(mount[1]) and _is_mapping_of_paths(line):
            hits.append(_mounted(mount[1], number, number))
        elif found := re.match(r"\s*[\"']?(PYTHONPATH|LD_PRELOAD|VLLM_PLUGINS)[\"']?\s*:\s*(.+)", line):
            hits.extend(_environment(found[1], found[2].strip("\"' "), "", number, number))
    values = scalars(text)
    if values is None:
        hits.append(Hit(kind="unclear", line=1, end_line=text.count("\n") + 1, what="cannot be read as YAML"))
    for scalar in values or ():
        if " " in scalar.value and _SHELL_IN_YAML.search(scalar.value):
            reading = _embedded(path, scalar)
            hits.extend(reading.hits)
            references.extend(reading.references)
    return Reading(hits=tuple(hits), references=tuple(references))


def _embedded(path: str, scalar: Scalar) -> Reading:
    """Commands that stand in a value, with their lines in the file. A value that is no script has none."""
    reading = read_shell(path, _GITHUB_EXPRESSION.sub("github", scalar.value))
    shift = scalar.line - 1
    return Reading(
        hits=tuple(
            msgspec.structs.replace(hit, line=hit.line + shift, end_line=hit.end_line + shift)
            for hit in reading.hits
            if not hit.what.startswith(_UNREAD)
        ),
        references=tuple(
            msgspec.structs.replace(item, line=item.line + shift, end_line=item.end_line + shift)
            for item in reading.references
        ),
    )


def _is_mapping_of_paths(line: str) -> bool:
    key = line.strip().lstrip("- ").strip("\"'")
    return key.startswith(("/", "$", "."))


# -- shell ------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def read_shell(path: str, text: str) -> Reading:
    """What a shell script does, command by command."""
    reader = _ShellReader(Script(text, path))
    return Reading(hits=tuple(dict.fromkeys(reader.hits())), references=tuple(dict.fromkeys(reader.references)))


_Reader = Callable[[ShellCommand, str, Sequence[str]], Iterator[Hit]]


class _ShellReader:
    def __init__(self, script: Script) -> None:
        self._script = script
        self.references: list[Reference] = []
        self._programs: dict[str, _Reader] = {
            "patch": self._apply,
            "git": self._git,
            **dict.fromkeys(("sed", "perl", "awk", "gawk", "ed", "ex", "vim"), self._edit),
            "eval": self._eval,
            "base64": self._decode,
            "mount": self._mount,
            **dict.fromkeys(("dpkg", "rpm", "apt-get", "apt", "dnf", "yum", "apk"), self._install_system),
            **dict.fromkeys(("conda", "mamba", "micromamba"), self._install_environment),
            **dict.fromkeys(("make", "cmake"), self._build),
            **dict.fromkeys(
                ("cp", "mv", "ln", "install", "rsync", "tee", "dd", "curl", "wget", "tar", "unzip"), self._copy
            ),
            "rm": self._remove,
            **dict.fromkeys(("docker", "podman", "buildah"), self._container),
        }

    def hits(self) -> Iterator[Hit]:
        called = {word for command in self._script.commands for word in command.words}
        for command in self._script.commands:
            idle = bool(command.function) and command.function not in called
            for hit in self._command(command):
                yield self._idle(hit, command.function) if idle and hit.kind == "engine" else hit
        if self._script.unread is not None:
            line, message = self._script.unread
            what = f"{_UNREAD} from here on ({message})"
            yield Hit(kind="unclear", line=line, end_line=line, what=what)

    @staticmethod
    def _idle(hit: Hit, function: str) -> Hit:
        """A hit in a function that the script itself never calls: another script may."""
        what = f"{hit.what}, in the function {function}, which this script does not call"
        return msgspec.structs.replace(hit, kind="unclear", what=what)

    def _command(self, command: ShellCommand) -> Iterator[Hit]:
        if rules.PATCHED_ENGINE.search(command.stdin):
            yield self._hit(command, "engine", "holds a patch of engine sources")
        for name, value in self._settings(command):
            shown = value if name == "PYTHONPATH" else self._script.expanded(value)
            said = f"{command.text} {command.function}"
            yield from _environment(name, shown, said, command.line, command.end_line)
            if name == "SRTCTL_SETUP_SCRIPT" and re.fullmatch(r"[\w./-]+\.\w+", value):
                self._refer(value, "setup", command)
        yield from self._written(command)
        yield from self._options(command)
        for index, program in self._called(command):
            arguments = command.words[index + 1 :]
            if program in self._programs:
                yield from self._programs[program](command, program, arguments)
            elif _PYTHON.match(program):
                yield from self._python(command, arguments)
            elif _PIP.match(program):
                yield from self._pip(command, arguments)
            elif program in ("bash", "sh", "source", "."):
                yield from self._run(command, arguments)
            elif program.endswith(("pip_install", "pip-install")):
                yield from self._pip(command, ("install", *arguments))
            elif command.stdin:
                yield from self._text_for(command, program, arguments)
            elif _SCRIPT_NAME.match(command.words[index]):
                self._refer(command.words[index], "script", command)

    def _settings(self, command: ShellCommand) -> Iterator[tuple[str, str]]:
        yield from command.assignments
        for word in command.words:
            name, sign, value = word.partition("=")
            if sign and re.fullmatch(r"(?:-e)?[A-Z_][A-Z0-9_]*", name):
                yield name.removeprefix("-e"), value

    def _called(self, command: ShellCommand) -> Iterator[tuple[int, str]]:
        """The programs of a command with their places: the first word, and behind a wrapper or a variable each known
        program among the words."""
        words = command.words
        if not words:
            return
        first = self._program(words[0])
        if first in ("command", "type", "which") and words[1:2] not in ((), ("-p",)) and words[-1] in self._programs:
            return  # it only asks whether a program is there
        yield 0, first
        if first in _WRAPPERS or words[0].startswith("$"):
            for index, word in enumerate(words[1:], 1):
                name = word.rpartition("/")[2]
                if name in self._programs or name in ("bash", "sh") or _PYTHON.match(name) or _PIP.match(name):
                    yield index, name
                    return

    def _program(self, word: str) -> str:
        """A program's name; of one that a variable names, what the script says it may be."""
        if not word.startswith("$"):
            return word.rpartition("/")[2]
        names = [part.strip("\"':-}").rpartition("/")[2] for part in self._script.expanded(word).split()]
        known = (name for name in names if name in self._programs or _PYTHON.match(name) or _PIP.match(name))
        return next(known, word)

    def _refer(self, name: str, how: How, command: ShellCommand) -> None:
        reference = Reference(name=name, how=how, line=command.line, end_line=command.end_line)
        self.references.append(reference)

    def _hit(self, command: ShellCommand, kind: Kind, what: str) -> Hit:
        shown = " ".join(command.text.split())
        shown = shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 3]}..."
        return Hit(kind=kind, line=command.line, end_line=command.end_line, what=f"{what} ({shown})" if shown else what)

    # -- where something goes -------------------------------------------------------------------------------------

    def _place(self, command: ShellCommand, *texts: str) -> Kind | None:
        """Whose files these words, or the folder that the command runs in, speak of."""
        return rules.place(self._script.expanded(" ".join((command.folder, *texts))))

    @cached_property
    def _locates(self) -> Kind | None:
        """Whether the script looks up, anywhere, where the engine is installed."""
        kinds = {rules.place(self._script.expanded(f"{c.text} {c.stdin}")) for c in self._script.commands}
        whole = " ".join(f"{c.text} {c.stdin}" for c in self._script.commands)
        if "engine" in kinds or (rules.LOCATES_SOMETHING.search(whole) and rules.ENGINE_MEMBER.search(whole)):
            return "engine"
        return "unclear" if "unclear" in kinds else None

    @cached_property
    def _downloads(self) -> frozenset[str]:
        """The last names of files that the script fetches from the network."""
        found: set[str] = set()
        for command in self._script.commands:
            for index, program in self._called(command):
                if program in ("curl", "wget"):
                    words = command.words[index + 1 :]
                    named = [*command.targets, *_destinations(program, words), *(w for w in words if "://" in w)]
                    found.update(name.rpartition("/")[2] for name in named)
        return frozenset(found)

    def _written(self, command: ShellCommand) -> Iterator[Hit]:
        for target in command.targets:
            yield from self._into(command, target, "writes")

    def _into(self, command: ShellCommand, target: str, verb: str) -> Iterator[Hit]:
        expanded = self._script.expanded(target)
        if rules.STARTUP_HOOK.search(target):
            said = f"{expanded} {command.text} {command.function} {command.stdin}"
            client = rules.EVAL_CLIENT.search(said) and not rules.ENGINE_MENTION.search(command.stdin)
            what = f"{verb} a file that every Python program runs at its start"
            yield self._hit(
                command, "harness" if client else "engine", f"{what}, for the eval client" if client else what
            )
        elif (kind := self._place(command, target)) is not None:
            whose = "the image" if kind == "engine" else "a library that the engine uses"
            yield self._hit(command, kind, f"{verb} into files of {whose}")
        elif re.match(r"\$\{?\w*(?:VLLM|SGLANG|AITER|FLASHINFER|SITE|DIST_|PACKAGE)(?!\w*LOG)\w*", target):
            yield self._hit(command, "unclear", f"{verb} to a place whose name speaks of the engine")

    # -- programs -------------------------------------------------------------------------------------------------

    def _apply(self, command: ShellCommand, program: str, arguments: Sequence[str]) -> Iterator[Hit]:
        if any(word in ("--check", "--dry-run", "--stat", "--numstat", "--summary") for word in arguments):
            return
        for word in (*arguments, *command.targets):
            if rules.PATCH_FILE.search(word):
                self._refer(word, "patch", command)
        kind = self._place(command, *arguments, command.stdin)
        where = self._script.expanded(f"{command.folder} {command.text}")
        if kind is None and rules.ORCHESTRATION.search(f"{where} {self._script.path}"):
            yield self._hit(command, "unclear", "patches the job launcher (srt-slurm), which is no engine")
            return
        kind = kind or self._locates
        if kind == "engine":
            yield self._hit(command, "engine", "applies a patch to the installed engine")
        else:
            yield self._hit(command, "unclear", "applies a patch, and to what is not plain")

    def _git(self, command: ShellCommand, program: str, arguments: Sequence[str]) -> Iterator[Hit]:
        verb = next((word for word in arguments if re.fullmatch(r"[a-z][a-z-]+", word)), "")
        if verb in ("apply", "am"):
            yield from self._apply(command, program, arguments)
        elif verb == "clone":
            if any(rules.REPOSITORIES[0].names.search(word) for word in self._script.expanded(command.text).split()):
                yield self._hit(command, "unclear", "fetches the sources of an engine")
        elif verb in ("checkout", "reset", "pull", "merge", "cherry-pick", "switch") and self._place(
            command, *arguments
        ):
            yield self._hit(command, "engine", "moves the engine's source tree to another state")

    def _edit(self, command: ShellCommand, program: str, arguments: Sequence[str]) -> Iterator[Hit]:
        in_place = program in ("ed", "ex", "vim") or any(re.match(r"-[a-zA-Z]*i|--in-place", w) for w in arguments)
        if not in_place:
            return
        # What is edited is named last; a `find … -exec sed` names it before.
        target = arguments[-1] if arguments else ""
        kind = self._place(command, target)
        if kind == "engine":
            yield self._hit(command, "engine", "edits files of the installed engine in place")
        elif kind == "unclear":
            yield self._hit(command, "unclear", "edits files of a library that the engine uses in place")
        elif rules.LAUNCH_CONFIG.search(self._script.expanded(target)) or rules.LAUNCH_CONFIG.search(command.text):
            yield self._hit(command, "harness", "fills in a recipe or a launch setting")
        elif rules.ORCHESTRATION.search(self._script.expanded(f"{command.folder} {target}")):
            yield self._hit(command, "unclear", "edits the job launcher (srt-slurm), which is no engine")
        else:
            yield self._hit(command, "unclear", "edits a file in place, and which one is not plain")

    def _copy(self, command: ShellCommand, program: str, arguments: Sequence[str]) -> Iterator[Hit]:
        runs = command.feeds in ("bash", "sh", "python", "python3", "patch") and program in ("curl", "wget")
        if runs and "astral.sh/uv/" not in command.text:
            yield self._hit(command, "unclear", "runs a program from the network")
        for target in _destinations(program, arguments):
            yield from self._into(command, target, "copies")

    def _remove(self, command: ShellCommand, program: str, arguments: Sequence[str]) -> Iterator[Hit]:
        if self._place(command, *arguments) == "engine":
            yield self._hit(command, "unclear", "removes files of the image")

    def _mount(self, command: ShellCommand, program: str, arguments: Sequence[str]) -> Iterator[Hit]:
        if arguments and self._place(command, arguments[-1]) == "engine":
            yield self._hit(command, "engine", "mounts something over files of the image")

    def _container(self, command: ShellCommand, program: str, arguments: Sequence[str]) -> Iterator[Hit]:
        if any(word in ("build", "commit", "buildx") for word in arguments[:3]):
            yield self._hit(command, "unclear", "builds an image; the pinned one must run as shipped")

    def _install_system(self, command: ShellCommand, program: str, arguments: Sequence[str]) -> Iterator[Hit]:
        if program in ("dpkg", "rpm"):
            if any(word in ("-i", "--install", "-U", "--upgrade") for word in arguments):
                yield self._hit(command, "unclear", "installs system packages beside the engine")
        elif "install" in arguments and (named := [w for w in arguments if rules.SYSTEM_PART.search(w)]):
            what = f"installs {', '.join(named)}, which the engine may use"
            yield self._hit(command, "unclear", what)

    def _install_environment(self, command: ShellCommand, program: str, arguments: Sequence[str]) -> Iterator[Hit]:
        if any(word in ("install", "update", "create") for word in arguments):
            yield self._hit(command, "unclear", "installs packages, and what the engine uses of them is not plain")

    def _build(self, command: ShellCommand, program: str, arguments: Sequence[str]) -> Iterator[Hit]:
        if "install" in arguments or "--install" in arguments:
            yield self._hit(command, "unclear", "builds and installs something from source")

    def _eval(self, command: ShellCommand, program: str, arguments: Sequence[str]) -> Iterator[Hit]:
        """A text that is made at run time: the values that the script gives its variables are read like scripts."""
        for word in arguments:
            made_by = re.match(r"\$\((\w+)", word)
            if made_by and (_PYTHON.match(made_by[1]) or made_by[1] in ("echo", "printf", "jq", "yq", "sed", "grep")):
                continue  # what makes the text is a command of the script, and read as one
            variable = re.fullmatch(r"\$\{(\w+)\}", word)
            values = self._script.values.get(variable[1], []) if variable else []
            for value in dict.fromkeys(values):
                if not re.fullmatch(r"\$\{\w+\}", value):
                    hits = read_shell(self._script.path, value).hits
                    yield from (msgspec.structs.replace(h, line=command.line, end_line=command.end_line) for h in hits)
            if "$" in word and not values:
                yield self._hit(command, "unclear", "runs a text that is made at run time")

    def _decode(self, command: ShellCommand, program: str, arguments: Sequence[str]) -> Iterator[Hit]:
        if any(word in ("-d", "-D", "--decode") for word in arguments):
            yield self._hit(command, "unclear", "decodes a text that cannot be read here")

    def _run(self, command: ShellCommand, arguments: Sequence[str]) -> Iterator[Hit]:
        name = next((word for word in arguments if not word.startswith("-")), "")
        if not name or any(re.fullmatch(r"-[a-z]*c", word) for word in arguments):
            return
        if re.search(r"\$\(.*\b(?:curl|wget)\b", name) or name.rpartition("/")[2] in self._downloads:
            yield self._hit(command, "unclear", "runs a program from the network")
        self._refer(name, "script", command)

    def _python(self, command: ShellCommand, arguments: Sequence[str]) -> Iterator[Hit]:
        if "-m" in arguments:
            module = arguments[arguments.index("-m") + 1 :]
            if module[:1] == ["pip"] or module[:1] == ("pip",):
                yield from self._pip(command, module[1:])
            return
        if any(word.rpartition("/")[2] == "setup.py" for word in arguments):
            if any(word in ("install", "develop") for word in arguments):
                item = from_source(self._script, command, ".")
                yield self._hit(command, item.kind, f"installs {item.name}: {item.reason}")
            return
        if "-c" in arguments:
            place = arguments.index("-c") + 1
            text = self._script.expanded(arguments[place]) if place < len(arguments) else ""
            yield from self._program_text(command, text, arguments[place + 1 :])
        elif command.stdin:
            yield from self._program_text(command, command.stdin, arguments)
        else:
            name = next((word for word in arguments if not word.startswith("-")), "")
            if name.rpartition("/")[2] in self._downloads:
                yield self._hit(command, "unclear", "runs a program from the network")
            if name:
                self._refer(name, "script", command)

    def _text_for(self, command: ShellCommand, program: str, arguments: Sequence[str]) -> Iterator[Hit]:
        """A here-document for a program that is not Python by its name: a file that is written, or a function or
        variable that may stand for any program."""
        if program not in ("cat", "tee"):
            yield from self._program_text(command, command.stdin, arguments)
            return
        targets = [*command.targets, *(arguments if program == "tee" else ())]
        shell = any(target.endswith(_SHELL_ENDINGS) for target in targets) or command.stdin.startswith("#!")
        if shell and "python" not in command.stdin.partition("\n")[0]:
            hits: Iterable[Hit] = read_shell(self._script.path, command.stdin).hits
        else:
            hits = _python_file(" ".join(targets), command.stdin, 0)
        shift = command.stdin_line - 1
        for hit in hits:
            yield msgspec.structs.replace(hit, line=hit.line + shift, end_line=hit.end_line + shift)

    def _program_text(self, command: ShellCommand, text: str, arguments: Sequence[str]) -> Iterator[Hit]:
        """A Python program that stands in the script."""
        if not rules.WRITES.search(text) and not rules.OPAQUE.search(text):
            return
        given = [word for word in arguments if word != "-"]
        line = command.stdin_line or command.line
        writes = bool(rules.WRITES.search(text))
        placed = rules.place(text) or self._place(command, *given)
        kind: Kind | None = placed if writes else "unclear" if placed and rules.RUNS_PROGRAMS.search(text) else None
        if kind is None and writes and rules.LOCATES_SOMETHING.search(text):
            kind = self._locates or "unclear"
        if kind is None and writes and rules.ENGINE_MEMBER.search(self._script.expanded(" ".join(given))):
            kind = "engine"
        if kind is not None:
            hit = _python_hit(text, kind, line)
            yield msgspec.structs.replace(hit, line=command.line, end_line=max(hit.end_line, command.end_line))
        elif rules.MODEL_CONFIG.search(f"{text} {' '.join(given)}") and writes:
            yield self._hit(command, "unclear", "rewrites a model's or draft's config.json")
        elif rules.EVAL_CLIENT.search(f"{text} {' '.join(given)}") and not rules.HIDDEN.search(text):
            return
        elif rules.OPAQUE.search(text) and (writes or re.search(r"pip|install|b64decode|urlopen|exec\(", text)):
            yield self._hit(command, "unclear", "runs Python whose effect its text does not show")

    def _pip(self, command: ShellCommand, arguments: Sequence[str]) -> Iterator[Hit]:
        if "uninstall" in arguments:
            names = [word for word in arguments if rules.package_rule(word.partition("=")[0]).kind == "engine"]
            if names:
                yield self._hit(command, "unclear", f"removes {', '.join(names)} from the image")
        if "install" not in arguments:
            return
        for item in installed(self._script, command, arguments[arguments.index("install") + 1 :]):
            yield self._hit(command, item.kind, f"installs {item.name}: {item.reason}")

    def _options(self, command: ShellCommand) -> Iterator[Hit]:
        words = command.words
        for index, word in enumerate(words):
            following = words[index + 1] if index + 1 < len(words) else ""
            if word in ("-v", "--volume", "--mount", "--bind", "--container-mounts") or word.startswith(
                ("--container-mounts=", "--volume=", "--mount=", "--bind=")
            ):
                value = word.partition("=")[2] if "=" in word else following
                for mounted in _MOUNT.findall(self._script.expanded(value)):
                    if rules.place(mounted) is not None:
                        yield _mounted(mounted, command.line, command.end_line)
            elif word == "--setup-script" and re.fullmatch(r"[\w./-]+\.\w+", following):
                self._refer(following, "setup", command)
            elif re.match(r"--(?:worker-extension-cls|worker-cls|load-plugins?)\b", word):
                yield self._hit(command, "unclear", "loads code of its own into the engine")


def _destinations(program: str, arguments: Sequence[str]) -> Iterator[str]:
    """Where a copying program writes to."""
    plain = [word for word in arguments if not word.startswith("-")]
    option = {"curl": "-o", "wget": "-O", "tar": "-C", "unzip": "-d", "cp": "-t", "mv": "-t", "install": "-t"}.get(
        program
    )
    named = [arguments[n + 1] for n, word in enumerate(arguments[:-1]) if word in (option, "--output", "--directory")]
    named += [word.partition("=")[2] for word in arguments if word.startswith("of=")]
    if named:
        yield from named
    elif program == "tee":
        yield from plain
    elif program in ("cp", "mv", "ln", "install", "rsync") and plain:
        yield plain[-1]


def _environment(name: str, value: str, command: str, line: int, end_line: int) -> Iterator[Hit]:
    """A variable that brings other code into the engine's process."""
    found: tuple[Kind, str] | None = None
    if name == "VLLM_PLUGINS" and value:
        found = "unclear", "loads plug-ins into vLLM"
    elif name == "LD_PRELOAD" and value:
        found = "unclear", "loads a library before all others"
    elif name == "PYTHONPATH" and value:
        found = _python_path(value, command)
    if found is not None:
        yield Hit(kind=found[0], line=line, end_line=end_line, what=f"{found[1]} ({name} {value[:60]})")


def _python_path(value: str, command: str) -> tuple[Kind, str]:
    """Folders that Python searches before its own."""
    folders = [part for part in re.split(r"[:\s]", _PYTHONPATH_ITSELF.sub("", value)) if part]
    foreign = [part for part in folders if not rules.ENGINE_PLACE.search(part)]
    if not foreign:
        return "harness", "puts folders of the image itself first"
    if any(_ENGINE_FOLDER.search(part) for part in foreign):
        return "engine", "puts an engine of its own before the image's"
    client = rules.EVAL_CLIENT.search(f"{value} {command}")
    return ("harness" if client else "unclear"), "puts Python code before the image's"


def _mounted(path: str, line: int, end_line: int) -> Hit:
    return Hit(kind="engine", line=line, end_line=end_line, what=f"mounts something over files of the image ({path})")
