"""Environment variables that bring other code into the engine's process, or run it before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from reviewer_tui.checks.patches import rules
from reviewer_tui.checks.patches.reading import Hit
from reviewer_tui.checks.patches.rules import Kind, PackageRule

_SHOWN = 60
_NOTHING = ("", "0", "none", "false", "off")
_ENGINE_FOLDER = re.compile(
    rf"(?:^|/)(?:{rules.ENGINE_MODULES})(?:[-_]?(?:src|source|fork|patched|dev|site|main))?(?:/|$)"
)
_LISTS = ("PYTHONPATH", "LD_LIBRARY_PATH", "PATH")


def read_setting(name: str, value: str, around: str, line: int, end_line: int) -> Iterator[Hit]:
    """What a variable with this value does; `around` is the text of the command that sets it. Empty values do
    nothing."""
    found = _effect(name, value, around) if value.strip("\"'").lower() not in _NOTHING else None
    if found is not None:
        what = f"{found[1]} ({name} {value[:_SHOWN]})"
        yield Hit(kind=found[0], line=line, end_line=end_line, what=what)


def _effect(name: str, value: str, around: str) -> tuple[Kind, str] | None:
    if name in _LISTS:
        return _folders(name, value, around)
    rule = _rule(name)
    others = re.sub(rf"\$\{{?{name}\b[^}}\s]*\}}?|\$\{{?(?=\s|$)", " ", value).split()
    own = bool(others) and all(map(rules.IMAGE_PLACE.search, others))
    return None if rule is None or (own and "folder" in rule.reason) else (rule.kind, rule.reason)


@lru_cache(maxsize=4096)
def _rule(name: str) -> PackageRule | None:
    return next((rule for rule in rules.SETTINGS if rule.names.match(name)), None)


def _folders(name: str, value: str, around: str) -> tuple[Kind, str] | None:
    """Folders that are searched before the image's own."""
    itself = re.compile(rf"\$\{{{name}(?:[^{{}}]|\{{[^{{}}]*\}})*\}}|\${name}\b")
    before = itself.split(value)[0] if name == "PATH" and itself.search(value) else itself.sub("", value)
    folders = [part for part in re.split(r"[:\s]", before) if part]
    own = rules.ENGINE_PLACE if name == "PYTHONPATH" else rules.IMAGE_PLACE
    foreign = [part for part in folders if not own.search(part)]
    if name != "PYTHONPATH":
        what = "programs" if name == "PATH" else "libraries"
        return ("unclear", f"puts {what} before the image's") if foreign else None
    if not foreign:
        return "harness", "puts folders of the image itself first"
    if any(_ENGINE_FOLDER.search(part) for part in foreign):
        return "engine", "puts an engine of its own before the image's"
    client = rules.EVAL_CLIENT.search(f"{value} {around}")
    return ("harness" if client else "unclear"), "puts Python code before the image's"
