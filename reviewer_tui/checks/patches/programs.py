"""What known programs do to the serving stack, by their words: where they write, what they install, apply or load."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import msgspec

from reviewer_tui.checks.patches import rules
from reviewer_tui.checks.patches.packages import installed
from reviewer_tui.checks.patches.python import read_python, written
from reviewer_tui.checks.patches.reading import Hit, How, Reading, Reference
from reviewer_tui.checks.patches.rules import Kind
from reviewer_tui.checks.shell_commands import Script, ShellCommand

VARIABLE = re.compile(r"\$\{(\w+|[@*])(?::?[-=+?](.*))?\}\Z", re.S)
"""A word that is one variable, with its default."""
GIVEN = re.compile(r"[@*\d]\Z")
"""What a script or function is given."""
MOUNTED = re.compile(r"[\w./${}@:=-]*?:(/[\w./*-]+)")
"""The places of a container that a list of mounts names."""
MOST_INDIRECT = 5
"""Names and programs behind one another that are followed."""

_SHOWN = 110
_VARIABLE_FIRST = re.compile(r"\$\{(\w+)(?::?[-=+?]([^{}]*))?\}")
_DESTINATION = re.compile(r"\b(?:dst|target|destination)=")
_GIT_VALUES = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path")
_GIT_MOVES = frozenset(
    {"checkout", "reset", "pull", "merge", "cherry-pick", "switch", "restore", "revert", "rebase", "stash", "submodule"}
)
_DEMANDS = re.compile(r"\$\{\w+:?\?")
_EXPANSIONS = re.compile(r"\$\{[^{}]*\}")
_RUNS_A_TEXT = re.compile(r"\bsystem\s*\(|\|\s*&?\s*[\"'](?:sh|bash)|\|\s*getline")
_SED_RUNS = re.compile(r"(?:^|[;{}\s$\d/])[ew]\s+\S")


class Programs:
    """The commands of one script, by what its programs do; `references` are what stands elsewhere."""

    def __init__(self, script: Script, read_shell: Callable[[str, str], Reading]) -> None:
        self._script = script
        self._read_shell = read_shell
        self.references: list[Reference] = []

    def _refer(self, name: str, how: How, command: ShellCommand) -> None:
        """Notes what is used from elsewhere."""
        for spelled in dict.fromkeys(self._spelled(name, 0) if how in ("script", "program") else (name,)):
            if spelled in self._written_here:
                continue  # its text stands in this script, and was read there
            variable = VARIABLE.match(spelled)
            if command.function and variable and GIVEN.match(variable[1]):
                continue  # who calls the function tells
            reference = Reference(name=spelled, how=how, line=command.line, end_line=command.end_line)
            self.references.append(reference)

    @cached_property
    def _written_here(self) -> frozenset[str]:
        """The files whose whole texts stand in the script as here-documents of `cat` and `tee`."""
        texts = (c for c in self._script.commands if c.stdin and c.words[:1] in (("cat",), ("tee",)))
        return frozenset(name for c in texts for name in (c.targets if c.words[0] == "cat" else c.words[1:]))

    def _spelled(self, name: str, depth: int) -> Iterator[str]:
        """The names that a file may have: where variables make all of it, those that their values give it."""
        last = re.split(r"/(?![^{]*\})", name)[-1]
        found = _VARIABLE_FIRST.match(last)
        literal = re.sub(r"\.\w+\Z", "", _EXPANSIONS.sub("", last))
        values = self._values(found) if found and depth < MOST_INDIRECT and not re.search(r"\w", literal) else ()
        for value in values:
            folder = "" if value.startswith("/") else name.removesuffix(last)
            yield from self._spelled(folder + value + last[found.end() if found else 0 :], depth + 1)
        if not values:
            yield name

    def _values(self, variable: re.Match[str]) -> tuple[str, ...]:
        """What the script puts into a variable, and its default, each once."""
        given = variable[2] is not None and not _DEMANDS.match(variable[0])
        default = (variable[2],) if given else ()
        put = (*self._script.values.get(variable[1], ()), *self._evaluated.get(variable[1], ()))
        return tuple(dict.fromkeys((*put, *default)))

    @cached_property
    def _evaluated(self) -> dict[str, list[str]]:
        """What texts that the script evaluates put into variables."""
        found: dict[str, list[str]] = {}
        for command in self._script.commands:
            variables = (VARIABLE.match(word) for word in command.words[1:] if command.words[0] == "eval")
            for text in (
                text for found_in in variables if found_in for text in self._script.values.get(found_in[1], ())
            ):
                for name, values in Script(text, self._script.path).values.items():
                    found.setdefault(name, []).extend(values)
        return found

    def _hit(self, command: ShellCommand, kind: Kind, what: str) -> Hit:
        shown = " ".join((*command.text.split(), *(f"> {target}" for target in command.targets)))
        shown = shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 3]}..."
        return Hit(kind=kind, line=command.line, end_line=command.end_line, what=f"{what} ({shown})" if shown else what)

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
            for index, word in enumerate(command.words):
                if (program := word.rpartition("/")[2]) in ("curl", "wget"):
                    words = command.words[index + 1 :]
                    named = [*command.targets, *destinations(program, words), *(w for w in words if "://" in w)]
                    found.update(name.rpartition("/")[2] for name in named)
        return frozenset(found)

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
        elif (found := VARIABLE.match(target)) and found[1].islower() and found[1] not in self._script.values:
            if not GIVEN.match(found[1]):
                yield self._hit(command, "unclear", f"{verb} to a file whose name is made at run time")
        elif rules.SHELL_STARTUP.search(expanded):
            yield self._hit(command, "unclear", f"{verb} a file that every shell reads at its start")
        elif self._is_system(target, expanded):
            yield self._hit(command, "unclear", f"{verb} into the image's libraries or its root")

    def _is_system(self, target: str, expanded: str) -> bool:
        """Whether a place is the root of the image, or among its libraries. Texts of commands name many others."""
        variable = VARIABLE.match(target)
        values = self._values(variable) if variable else (target,)
        named = target if "$(" in expanded else expanded
        return any(value == "/" for value in values) or rules.SYSTEM_PLACE.search(named) is not None

    def _mounts(self, command: ShellCommand, value: str) -> Iterator[Hit]:
        for path in MOUNTED.findall(self._script.expanded(value)):
            if rules.place(path) is not None:
                yield mounted(path, command.line, command.end_line)

    # -- what each of them does -------------------------------------------------------------------------------------

    def _apply(self, command: ShellCommand, program: str, arguments: Sequence[str]) -> Iterator[Hit]:
        if any(word in ("--check", "--dry-run", "--stat", "--numstat", "--summary") for word in arguments):
            return
        for word in (*arguments, *command.targets):
            if rules.PATCH_FILE.search(word):
                self._refer(word, "patch", command)
        kind = self._place(command, *arguments, command.stdin)
        where = self._script.expanded(f"{command.folder} {command.text}")
        if kind is None and rules.ORCHESTRATION.search(f"{where} {self._script.path}"):
            yield self._hit(command, "unclear", "patches the job launcher (srt-slurm)")
            return
        kind = kind or self._locates
        if kind == "engine":
            yield self._hit(command, "engine", "applies a patch to the installed engine")
        else:
            yield self._hit(command, "unclear", "applies a patch, and to what is not plain")

    def _git(self, command: ShellCommand, program: str, arguments: Sequence[str]) -> Iterator[Hit]:
        before = ("", *arguments)
        words = (word for option, word in zip(before, arguments, strict=False) if option not in _GIT_VALUES)
        verb = next((word for word in words if re.fullmatch(r"[a-z][a-z-]+", word)), "")
        if verb in ("apply", "am"):
            yield from self._apply(command, program, arguments)
        elif any(re.match(r"alias\.|core\.|include\.|filter\.|credential\.helper=!", word) for word in arguments):
            yield self._hit(command, "unclear", "makes git run something of its own")
        elif verb == "clone":
            if arguments and self._place(command, arguments[-1]):
                yield self._hit(command, "unclear", "puts files among those of the engine")
            if any(rules.REPOSITORIES[0].names.search(word) for word in self._script.expanded(command.text).split()):
                yield self._hit(command, "unclear", "fetches the sources of an engine")
        elif verb in _GIT_MOVES and self._place(command, *arguments):
            yield self._hit(command, "engine", "moves the engine's source tree to another state")

    def _edit(self, command: ShellCommand, program: str, arguments: Sequence[str]) -> Iterator[Hit]:
        if program in ("awk", "gawk", "perl") and any(map(_RUNS_A_TEXT.search, arguments)):
            yield self._hit(command, "unclear", "runs commands out of a program of its own")
        if program == "sed" and any(_SED_RUNS.search(word) for word in arguments if not word.startswith("-")):
            yield self._hit(command, "unclear", "runs commands or writes files by itself")
        in_place = program in ("ed", "ex", "vim") or any(re.match(r"-[a-zA-Z]*i|--in-place", w) for w in arguments)
        if not in_place:
            return
        # What is edited is named last, behind the program where no option brings it.
        target = arguments[-1] if arguments else ""
        plain = [word for word in arguments if not word.startswith("-")]
        given = any(re.match(r"-[a-zA-Z]*[ef]\Z|--(?:expression|file)", word) for word in arguments)
        files = (plain if given else plain[1:]) or [target]
        kind = self._place(command, *files)
        if kind == "engine":
            yield self._hit(command, "engine", "edits files of the installed engine in place")
        elif kind == "unclear":
            yield self._hit(command, "unclear", "edits files of a library that the engine uses in place")
        elif rules.LAUNCH_CONFIG.search(self._script.expanded(target)):
            yield self._hit(command, "harness", "fills in a recipe or a launch setting")
        elif re.search(r"\.(?:csv|tsv|log|txt|jsonl)[\"'}]*\Z", target):
            return
        elif rules.ORCHESTRATION.search(self._script.expanded(f"{command.folder} {target}")):
            yield self._hit(command, "unclear", "edits the job launcher (srt-slurm)")
        else:
            yield self._hit(command, "unclear", "edits a file in place, and which one is not plain")

    def _copy(self, command: ShellCommand, program: str, arguments: Sequence[str]) -> Iterator[Hit]:
        if program == "tar" and any(
            re.match(r"--(?:to-command|checkpoint-action|use-compress|rsh)|-I", w) for w in arguments
        ):
            yield self._hit(command, "unclear", "runs a program on what it unpacks")
        if program == "tar" and any(
            re.fullmatch(r"-?t[a-zA-Z]*|-[a-zA-Z]*t[a-zA-Z]*|--list", w) for w in arguments[:3]
        ):
            return  # it only lists
        for target in destinations(program, arguments):
            yield from self._into(command, target, "copies")

    def _remove(self, command: ShellCommand, program: str, arguments: Sequence[str]) -> Iterator[Hit]:
        if self._place(command, *arguments) == "engine":
            yield self._hit(command, "unclear", "removes files of the image")

    def _mount(self, command: ShellCommand, program: str, arguments: Sequence[str]) -> Iterator[Hit]:
        if arguments and self._place(command, arguments[-1]) == "engine":
            yield self._hit(command, "engine", "mounts something over files of the image")

    def _container(self, command: ShellCommand, program: str, arguments: Sequence[str]) -> Iterator[Hit]:
        verb = next((word for word in arguments if not word.startswith("-")), "")
        if verb in ("build", "commit", "buildx", "load", "import", "tag", "cp") or "image" in arguments[:1]:
            yield self._hit(command, "unclear", "makes or changes an image; the pinned one must run as shipped")
        if any(
            re.match(r"--(?:volumes-from|env-file|entrypoint=(?!\S*\b(?:bash|sh|python3?)\b))\b", word)
            for word in arguments
        ):
            yield self._hit(command, "unclear", "brings files, settings or a program that are not read here")

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
        where = self._script.expanded(f"{command.folder} {' '.join(arguments)}")
        if not set(arguments) <= {"--version", "-v", "-V"} and not rules.ORCHESTRATION.search(where):
            yield self._hit(command, "unclear", "builds something from source, by steps that stand elsewhere")

    def _hide(self, command: ShellCommand, program: str, arguments: Sequence[str]) -> Iterator[Hit]:
        if any("=" in word for word in arguments):
            yield self._hit(command, "unclear", "gives commands another meaning")

    def _decode(self, command: ShellCommand, program: str, arguments: Sequence[str]) -> Iterator[Hit]:
        if any(word in ("-d", "-D", "--decode") for word in arguments):
            yield self._hit(command, "unclear", "decodes a text that cannot be read here")

    def _pip(self, command: ShellCommand, arguments: Sequence[str]) -> Iterator[Hit]:
        if "uninstall" in arguments:
            names = [word for word in arguments if rules.package_rule(word.partition("=")[0]).kind == "engine"]
            if names:
                yield self._hit(command, "unclear", f"removes {', '.join(names)} from the image")
        if "install" not in arguments:
            return
        items = list(installed(self._script, command, arguments[arguments.index("install") + 1 :]))
        if not items and not {"--help", "-h"} & set(arguments):
            yield self._hit(command, "unclear", "installs packages that are named elsewhere")
        for item in items:
            yield self._hit(command, item.kind, f"installs {item.name}: {item.reason}")

    def _options(self, command: ShellCommand) -> Iterator[Hit]:
        words = command.words
        for index, word in enumerate(words):
            if not word.startswith("-"):
                continue
            following = words[index + 1] if index + 1 < len(words) else ""
            if word.startswith("--mount"):
                yield from self._mounts(command, _DESTINATION.sub(":", f"{word}{following}"))
            elif word in ("-v", "--volume", "--bind", "--container-mounts") or word.startswith(
                ("--container-mounts=", "--volume=", "--bind=")
            ):
                value = word.partition("=")[2] if "=" in word else following
                yield from self._mounts(command, value)
            elif word.startswith("--container-image=") and "$" not in word:
                yield self._hit(command, "unclear", "names an image of its own")
            elif word == "--setup-script" and re.fullmatch(r"[\w./-]+\.\w+", following):
                self._refer(following, "setup", command)
            elif (
                word.startswith("--")
                and rules.LOADS_CODE.match(f"{word} {following}")
                and not rules.OWN_MEMBER.match(word.partition("=")[2] or following)
            ):
                yield self._hit(command, "unclear", "loads code of its own into the engine")

    def _program_text(self, command: ShellCommand, text: str, arguments: Sequence[str]) -> Iterator[Hit]:
        """A Python program that stands in the script."""
        members = Reading(
            hits=tuple(
                hit for hit in read_python("", text, self._read_shell, certain=False) if "(Python" not in hit.what
            )
        )
        yield from members.at(command.line, command.end_line).hits
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
            hit = written(text, kind)
            end = max(hit.end_line + line - 1, command.end_line)
            yield msgspec.structs.replace(hit, line=command.line, end_line=end)
        elif rules.MODEL_CONFIG.search(f"{text} {' '.join(given)}") and writes:
            yield self._hit(command, "unclear", "rewrites a model's or draft's config.json")
        elif rules.EVAL_CLIENT.search(f"{text} {' '.join(given)}") and not rules.HIDDEN.search(text):
            return
        elif rules.OPAQUE.search(text) and (writes or re.search(r"pip|install|b64decode|urlopen|exec\(", text)):
            yield self._hit(command, "unclear", "runs Python whose effect its text does not show")


def destinations(program: str, arguments: Sequence[str]) -> Iterator[str]:
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


def mounted(path: str, line: int, end_line: int) -> Hit:
    """A mount over a path of the image."""
    return Hit(kind="engine", line=line, end_line=end_line, what=f"mounts something over files of the image ({path})")
