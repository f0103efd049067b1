"""What recipes, workflows and other YAML or JSON do to the serving stack: setup scripts, mounts, settings, commands."""

from __future__ import annotations

import re

from reviewer_tui.checks.patches import rules
from reviewer_tui.checks.patches.environment import read_setting
from reviewer_tui.checks.patches.reading import Hit, Reading, Reference
from reviewer_tui.checks.patches.shell import UNREAD, mounted, read_shell
from reviewer_tui.checks.yaml_scalars import Scalar, scalars

_SETUP_SETTING = re.compile(
    r"^\s*(?:-\s*)?[\"']?(?:setup_script|SRTCTL_SETUP_SCRIPT)[\"']?\s*[:=]\s*[\"']?([\w./-]+\.\w+)"
)
_SETTING = re.compile(r"\s*(?:-\s*)?[\"']?([A-Z][A-Z0-9_]+)[\"']?\s*:\s*(.+)")
_MOUNT = re.compile(r"[\"']?[\w./${}-]+[\"']?\s*:\s*[\"']?(/[\w./-]+)[\"']?\s*\Z")
_COMMANDS = re.compile(r"\b(?:pip3?|git|patch|sed|perl|cp|mv|ln|tee|curl|wget|python3?|bash|sh|source)\s|&&|\n|>")
_GITHUB_EXPRESSION = re.compile(r"\$\{\{.*?\}\}", re.S)


def read_recipe(path: str, text: str) -> Reading:
    """What a YAML or JSON text brings in by its settings, and what the commands in its values do."""
    hits: list[Hit] = []
    references: list[Reference] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("#"):
            continue
        if setup := _SETUP_SETTING.match(line):
            references.append(Reference(name=setup[1], how="setup", line=number, end_line=number))
        elif (mount := _MOUNT.search(line)) and rules.place(mount[1]) and _is_mapping_of_paths(line):
            hits.append(mounted(mount[1], number, number))
        elif found := _SETTING.match(line):
            hits.extend(read_setting(found[1], found[2].strip("\"' "), "", number, number))
    values = scalars(text)
    if values is None:
        hits.append(Hit(kind="unclear", line=1, end_line=text.count("\n") + 1, what="cannot be read as YAML"))
    for scalar in values or ():
        if " " in scalar.value and _COMMANDS.search(scalar.value):
            reading = _embedded(path, scalar)
            hits.extend(reading.hits)
            references.extend(reading.references)
    return Reading(hits=tuple(hits), references=tuple(references))


def _embedded(path: str, scalar: Scalar) -> Reading:
    """Commands that stand in a value, with their lines in the file. A value may be prose, so what is no script, or a
    word that no rule knows as a program, tells nothing."""
    reading = read_shell(path, _GITHUB_EXPRESSION.sub("github", scalar.value))
    return Reading(
        hits=tuple(hit for hit in reading.hits if not hit.what.startswith(UNREAD)),
        references=tuple(item for item in reading.references if item.how in ("script", "setup", "patch")),
    ).moved(scalar.line - 1)


def _is_mapping_of_paths(line: str) -> bool:
    key = line.strip().lstrip("- ").strip("\"'")
    return key.startswith(("/", "$", "."))
