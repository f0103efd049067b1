"""What a file of the repository does to the serving stack: located, with the reason; nothing is executed.

Shell scripts are read command by command, Python and recipes by what tells in their text. A command whose effect its
text does not show is `unclear`, never nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from reviewer_tui.checks.patches import rules
from reviewer_tui.checks.patches.python import read_python
from reviewer_tui.checks.patches.reading import Hit, Reading
from reviewer_tui.checks.patches.recipes import read_recipe
from reviewer_tui.checks.patches.shell import read_shell

_SHELL = re.compile(r"#!\S*(?:bash|sh|env (?:bash|sh))\b")
_ENGINE_FILE = re.compile(rf"/(?:{rules.ENGINE_MODULES})/(?:[\w-]+/)*[\w-]+\.py\Z")
_PYTHON = re.compile(r"#!.*python")


@lru_cache(maxsize=1024)
def read_file(path: str, text: str) -> Reading:
    """What a file of any kind does to the serving stack, by its name and text."""
    name = path.rpartition("/")[2]
    lines = text.count("\n") + 1
    if rules.STARTUP_HOOK.search(path) and not rules.EVAL_CLIENT.search(path):
        return _whole("engine", lines, "is run by every Python program at its start (a hook to change the engine)")
    if rules.PATCH_FILE.search(path):
        return _patch_file(text, lines)
    if path.endswith(rules.SHELL_ENDINGS) or _SHELL.match(text):
        return read_shell(path, text)
    if path.endswith(".py") or _PYTHON.match(text):
        hits = tuple(read_python(name, text, read_shell))
        if not hits and _ENGINE_FILE.search(path):
            return _whole("unclear", lines, "is named like a file of the engine: does it take that one's place?")
        return Reading(hits=hits)
    if path.startswith(".github/"):
        return _on_the_host(read_recipe(path, text))
    if path.endswith((".yaml", ".yml", ".json")):
        return read_recipe(path, text)
    if rules.DOCKERFILE.search(name):
        return _whole("unclear", lines, "builds an image; the pinned one must run as shipped")
    if rules.CODE_OR_PACKAGES.search(name):
        return _whole("unclear", lines, "is code or a list of packages that an engine may be built from")
    if rules.may_replace(text) or rules.SAYS_COMMANDS.search(text):
        return _whole("unclear", lines, "is no program that can be read, and its text speaks of changing the image")
    return Reading()


def _whole(kind: rules.Kind, lines: int, what: str) -> Reading:
    return Reading(hits=(Hit(kind=kind, line=1, end_line=lines, what=what),))


def _on_the_host(reading: Reading) -> Reading:
    """A workflow works on the machine that starts containers, so what it installs is not the engine's by itself."""
    hits = tuple(msgspec.structs.replace(h, kind="unclear") if h.kind == "engine" else h for h in reading.hits)
    return Reading(hits=hits, references=reading.references)


def _patch_file(text: str, lines: int) -> Reading:
    if rules.PATCHED_ENGINE.search(text):
        return _whole("engine", lines, "is a patch of engine sources")
    if rules.PATCHED_ORCHESTRATION.search(text):
        return _whole("unclear", lines, "is a patch of the job launcher (srt-slurm)")
    return _whole("unclear", lines, "is a patch, and what it patches is not plain")
