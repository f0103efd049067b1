"""What recipes, workflows and other YAML or JSON do to the serving stack: setup scripts, mounts, settings, commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise

from reviewer_tui.checks.patches import rules
from reviewer_tui.checks.patches.environment import read_setting
from reviewer_tui.checks.patches.programs import mounted
from reviewer_tui.checks.patches.reading import Hit, Reading, Reference
from reviewer_tui.checks.patches.shell import UNREAD, read_shell
from reviewer_tui.checks.yaml_scalars import Scalar, scalars

_SETUP_KEY = re.compile(r"setup[-_]?scripts?\Z|SRTCTL_SETUP_SCRIPT\Z", re.I)
_SETTING_KEY = re.compile(r"[A-Z][A-Z0-9_]+\Z")
_SETTING = re.compile(r"([A-Z][A-Z0-9_]+)=(.*)\Z", re.S)
_MOUNTED = re.compile(r":(/[^:\s,\"']+)")
_PATH = re.compile(r"[/$.]")
_MOUNT_KEY = re.compile(r"mount|volume|bind", re.I)
# Keys whose values are commands, whatever program they name.
_COMMAND_KEY = re.compile(
    r"(?:^|[_-])(?:cmds?|commands?|entry[-_]?point|run|script|pre|post|prolog(?:ue)?|epilog(?:ue)?|hooks?|exec)\Z|^args\Z",
    re.I,
)
# Texts that may be commands wherever they stand.
_COMMANDS = re.compile(r"\b(?:pip3?|git|patch|sed|perl|cp|mv|ln|tee|curl|wget|python3?|bash|sh|source)\s|&&|\n|>")
_GITHUB_EXPRESSION = re.compile(r"\$\{\{.*?\}\}", re.S)
_NAMES_A_FILE = ("script", "setup", "patch")


def read_recipe(path: str, text: str) -> Reading:
    """What a YAML or JSON text brings in by its settings, and what the commands in its values do."""
    values = scalars(text)
    if values is None:
        unreadable = Hit(kind="unclear", line=1, end_line=text.count("\n") + 1, what="cannot be read as YAML")
        return Reading(hits=(unreadable, *_lines(text)))
    hits: list[Hit] = []
    references: list[Reference] = []
    for scalar in values:
        hits.extend(_brought(scalar))
        if _SETUP_KEY.search(scalar.key) and scalar.value.strip():
            references.append(_setup(scalar.value, scalar.line))
    hits.extend(_named_values(values))
    for reading in _commands(path, values):
        hits.extend(reading.hits)
        references.extend(reading.references)
    return Reading(hits=tuple(dict.fromkeys(hits)), references=tuple(dict.fromkeys(references)))


def _lines(text: str) -> Iterator[Hit]:
    """Settings and mounts in a text that is no YAML, as its lines tell."""
    for number, line in enumerate(text.split("\n"), 1):
        name, _, value = line.strip().lstrip("- ").partition(":")
        if not line.lstrip().startswith("#"):
            yield from _brought(Scalar((name.strip("\"' "),), value.strip("\"' "), number))


def _setup(name: str, line: int) -> Reference:
    return Reference(name=name, how="setup", line=line, end_line=line)


# -- settings and mounts ----------------------------------------------------------------------------------------------


def _brought(scalar: Scalar) -> Iterator[Hit]:
    """What one value brings into the engine's container by itself."""
    line, end = scalar.line, scalar.line + scalar.value.count("\n")
    name, value = scalar.key, scalar.value
    if (pair := _SETTING.match(value)) is not None and " " not in pair[1]:
        name, value = pair[1], pair[2]
    if _SETTING_KEY.match(name):
        yield from read_setting(name, value, "", line, end)
    loads = rules.LOADS_CODE.match(f"--{scalar.key.replace('_', '-')} ")
    if loads and value and not rules.OWN_MEMBER.match(value):
        yield Hit(kind="unclear", line=line, end_line=end, what=f"loads code of its own into the engine ({scalar.key})")
    is_mount = any(_MOUNT_KEY.search(key) for key in scalar.keys)
    if is_mount or not _SETTING_KEY.match(name):
        yield from (mounted(place, line, end) for place in _MOUNTED.findall(value) if rules.place(place))
    if (is_mount or _PATH.match(scalar.key)) and value.startswith("/") and rules.place(value.partition(":")[0]):
        yield mounted(value, line, end)


def _named_values(values: Iterable[Scalar]) -> Iterator[Hit]:
    """Settings as Kubernetes writes them: an element with a `name` and a `value`."""
    for one, other in pairwise(values):
        if {one.key, other.key} == {"name", "value"} and one.mapping == other.mapping:
            name, value = (one, other) if one.key == "name" else (other, one)
            yield from read_setting(name.value, value.value, "", one.line, other.line)


# -- commands ---------------------------------------------------------------------------------------------------------


def _commands(path: str, values: Iterable[Scalar]) -> Iterator[Reading]:
    """The commands among the values: texts, and lists whose elements are words, or texts, of a command."""
    for (sequence, _), group in groupby(values, lambda scalar: (scalar.sequence, scalar.keys)):
        elements = list(group)
        words = [element.value for element in elements]
        if sequence and len(words) > 1 and not any(re.search(r"\s", word) for word in words[:2]):
            first = elements[0]
            joined = Scalar(first.keys, " ".join(shlex.quote(word) for word in words), first.line)
            yield from _command(path, joined, elements[-1].line)
            elements = [element for element in elements if re.search(r"\s", element.value)]
        for element in elements:
            yield from _command(path, element, element.line)


def _command(path: str, scalar: Scalar, last: int) -> Iterator[Reading]:
    """Commands that stand in a value, with their lines in the file. Under a key that is not known to hold commands a
    value may be prose, so what is no script, or a word that no rule knows as a program, tells nothing there."""
    is_command = any(_COMMAND_KEY.search(key) for key in scalar.keys[-1:]) and not scalar.value.startswith("-")
    if not is_command and not (" " in scalar.value and _COMMANDS.search(scalar.value)):
        return
    reading = read_shell(path, _GITHUB_EXPRESSION.sub("github", scalar.value))
    if not is_command or path.startswith(".github/"):
        hits = tuple(hit for hit in reading.hits if is_command or not hit.what.startswith(UNREAD))
        references = tuple(item for item in reading.references if item.how in _NAMES_A_FILE)
        reading = Reading(hits=hits, references=references)
    yield reading.moved(scalar.line - 1) if "\n" in scalar.value else reading.at(scalar.line, last)
