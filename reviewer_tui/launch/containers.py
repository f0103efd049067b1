"""Command lines that start a container or a batch job: what runs inside, with which variables and folders."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from reviewer_tui.launch.command_line import SHELLS, program_name, shell_words
from reviewer_tui.launch.shell_words import Argument
from reviewer_tui.launch.text import Text, concat

_ENGINES = frozenset({"docker", "podman"})
_JOBS = frozenset(
    {"sbatch", "srun", "salloc", "mpirun", "mpiexec", "ssh", "flock", "enroot", "singularity", "apptainer"}
)
_SCRIPT = re.compile(r"[^-:=\s][^:=\s]*\.(?:sh|slurm)")
_NAME = re.compile(r"[A-Za-z_]\w*\Z")


class Inside(msgspec.Struct, frozen=True, kw_only=True):
    """What a command runs inside of a container or job.

    `text` is a script given as text (`bash -c`), `script` the name of one; `words` are its arguments. `variables`
    replace the surrounding ones where `isolated` (a container knows only what it is given), else they are added.
    `passed` names variables that are handed on; `mounts` maps folders and files inside to those outside.
    """

    text: Argument | None = None
    script: Argument | None = None
    words: Sequence[Argument] = ()
    isolated: bool = False
    variables: Mapping[str, Text] = {}
    passed: tuple[str, ...] = ()
    mounts: Mapping[str, str] = {}
    workdir: str | None = None


def inside(arguments: Sequence[Argument]) -> Inside | None:
    """What a command runs in another place; None where it is no command that does so."""
    if not arguments:
        return None
    name = program_name(arguments[0].text)
    if name in SHELLS:
        return _shell(arguments[1:])
    if name in _ENGINES or (not name and _looks_like_docker(arguments)):
        return _docker(arguments)
    if name in _JOBS:
        return _job(name, arguments)
    return None


def _looks_like_docker(arguments: Sequence[Argument]) -> bool:
    """A command whose program is unknown and whose words are those of `docker run`."""
    words = [argument.text for argument in arguments]
    return "run" in words[1:4] and any(word in words for word in ("-e", "--entrypoint", "-v"))


def _shell(arguments: Sequence[Argument]) -> Inside | None:
    options, first, words = shell_words(arguments)
    if first is None:
        return None
    return Inside(text=first, words=words) if "c" in options else Inside(script=first, words=words)


def _inner_shell(arguments: Sequence[Argument]) -> Inside | None:
    """The shell, or the script by its name, that stands behind the options."""
    for at, argument in enumerate(arguments):
        text = argument.text
        if isinstance(text, str) and text in SHELLS:
            return _shell(arguments[at + 1 :])
        if at and isinstance(text, str) and _SCRIPT.fullmatch(text):
            return Inside(script=argument, words=arguments[at + 1 :])
    return None


def _docker(arguments: Sequence[Argument]) -> Inside | None:
    words = [argument.text for argument in arguments]
    if "run" not in words[:4]:
        return None
    found = _inner_shell(arguments)
    if found is None:
        return None
    variables, passed, mounts, workdir = _docker_options(words)
    return msgspec.structs.replace(
        found, isolated=True, variables=variables, passed=tuple(passed), mounts=mounts, workdir=workdir
    )


def _docker_options(words: Sequence[Text]) -> tuple[dict[str, Text], list[str], dict[str, str], str | None]:
    variables: dict[str, Text] = {}
    passed: list[str] = []
    mounts: dict[str, str] = {}
    workdir: str | None = None
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        option, value = _option(word)
        if option in ("-e", "--env"):
            _add_variable(following if value is None else value, variables, passed)
        elif option in ("-v", "--volume"):
            mounts.update(_mounts(following if value is None else value))
        elif option in ("-w", "--workdir"):
            folder = following if value is None else value
            workdir = folder if isinstance(folder, str) else None
    return variables, passed, mounts, workdir


def _option(word: Text) -> tuple[str, Text | None]:
    """An option and the value glued to it with `=`."""
    if isinstance(word, str):
        name, sign, value = word.partition("=")
        return (name, value if sign else None) if name.startswith("--") else (word, None)
    first = word.parts[0]
    if isinstance(first, str) and first.startswith("--") and "=" in first:
        name, _, value = first.partition("=")
        return name, concat([value, *word.parts[1:]])
    return "", None


def _add_variable(text: Text, variables: dict[str, Text], passed: list[str]) -> None:
    first = text if isinstance(text, str) else text.parts[0]
    if not isinstance(first, str):
        return
    name, sign, value = first.partition("=")
    if not _NAME.match(name):
        return
    if not sign:
        passed.append(name)
    elif isinstance(text, str):
        variables[name] = value
    else:
        variables[name] = concat([value, *text.parts[1:]])


def _mounts(text: Text) -> Iterator[tuple[str, str]]:
    """`outside:inside[:mode]`, several with commas between."""
    if not isinstance(text, str):
        return
    for mount in text.split(","):
        parts = mount.split(":")
        if len(parts) >= 2 and parts[0].startswith("/") and parts[1].startswith("/"):
            yield parts[1].rstrip("/") or "/", parts[0].rstrip("/") or "/"


def _job(name: str, arguments: Sequence[Argument]) -> Inside | None:
    found = _inner_shell(arguments)
    if found is None:
        return None
    mounts: dict[str, str] = {}
    variables: dict[str, Text] = {}
    workdir: str | None = None
    for argument in arguments[1:]:
        option, value = _option(argument.text)
        if value is None:
            continue
        if option == "--container-mounts":
            mounts.update(_mounts(value))
        elif option == "--container-workdir" and isinstance(value, str):
            workdir = value
        elif option == "--export" and isinstance(value, str):
            for item in value.split(","):
                _add_variable(item, variables, [])
    return msgspec.structs.replace(found, mounts=mounts, variables=variables, workdir=workdir)


def container_environment(found: Inside, surrounding: Mapping[str, Text]) -> dict[str, Text]:
    """The variables that hold inside."""
    if not found.isolated:
        return {**surrounding, **found.variables}
    handed = {name: surrounding[name] for name in found.passed if name in surrounding}
    return {**handed, **found.variables}
