"""What a `pip install` in a script installs: each package with its kind, and whether it goes to the serving Python."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from reviewer_tui.checks.patches import rules
from reviewer_tui.checks.patches.rules import Kind
from reviewer_tui.checks.shell_commands import Script, ShellCommand

_WITH_VALUE = frozenset(
    {
        *("-i", "--index-url", "--extra-index-url", "-f", "--find-links", "-c", "--constraint", "--python", "--prefix"),
        *("--root", "--platform", "--progress-bar", "--timeout", "--retries", "--trusted-host", "--cache-dir", "--abi"),
        *("--config-settings", "-C", "--index-strategy", "--torch-backend", "--link-mode", "--index", "-t", "--target"),
        *("--python-version", "--upgrade-strategy", "--only-binary", "--no-binary", "--report", "--log", "--cert"),
    }
)
_UNSET = re.compile(r"\$\{?\w+\}?")
_OWN_FOLDER = re.compile(r"deps|target", re.I)
_OWN_PYTHON = re.compile(r"AIPERF|EVAL|VERIFIER|VENV|BENCH|CLIENT")
_PLAIN_PYTHON = re.compile(r"(?:^|[\s\"'/-])(?:python|pip)[\d.]*(?:$|[\s\"'}])")


class Installed(msgspec.Struct, frozen=True):
    """Something that is installed, with its kind and the reason for it."""

    name: str
    kind: Kind
    reason: str


def installed(script: Script, command: ShellCommand, arguments: Sequence[str]) -> Iterator[Installed]:
    """What the words after `install` name. Nothing that is installed beside the serving Python is more than harness,
    but for engines."""
    own = _goes_elsewhere(script, command, arguments)
    for item in _items(script, command, arguments):
        if own and item.kind != "engine":
            yield Installed(item.name, "harness", "it goes into an environment of its own")
        else:
            yield item


def from_source(script: Script, command: ShellCommand, folder: str) -> Installed:
    """A folder that is installed: what it is follows from its name, or from where it was cloned from."""
    where = script.expanded(f"{command.folder} {folder.partition('[')[0]}")
    what = f"the source folder {folder}"
    if rules.ORCHESTRATION.search(where) and not rules.place(where):
        return Installed(what, "harness", "it is the job launcher (srt-slurm)")
    clones = [other.text for other in script.commands if other.words[:2] == ("git", "clone")]
    last = _last_name(where)
    near = [text for text in clones if last and last in script.expanded(text)] or clones[-1:]
    return _by_origin(what, script.expanded(f"{where} {' '.join(near)}"))


def _items(script: Script, command: ShellCommand, arguments: Sequence[str]) -> Iterator[Installed]:
    words = iter(arguments)
    for word in words:
        if word in ("-r", "--requirement"):
            yield Installed(f"the requirements {next(words, '')}", "unclear", "what they are is not read")
        elif word in ("-e", "--editable"):
            yield from_source(script, command, next(words, "."))
        elif word in _WITH_VALUE:
            next(words, "")
        else:
            for part in _values(script, word):
                if not part.startswith("-") and part not in ("", "\\"):
                    yield _package(script, command, part)


def _package(script: Script, command: ShellCommand, word: str) -> Installed:
    if ".whl" in word:
        name = word.rpartition("/")[2].partition("-")[0].strip("\"'*")
        rule = rules.package_rule(name) if re.fullmatch(r"[A-Za-z]\w+", name) else rules.UNKNOWN_PACKAGE
        if rule.kind == "harness" and rules.ENGINE_BY_NAME.search(name):
            rule = rules.BUILT_HERE
        return Installed(f"the wheel {word}", rule.kind, rule.reason)
    if "git+" in word or "://" in word or " @ " in word:
        return _by_origin(word, word)
    if word.startswith((".", "/", "$")) or "/" in word:
        return from_source(script, command, word)
    found = re.match(r"[A-Za-z0-9][\w.-]*", word)
    rule = rules.package_rule(found[0]) if found else rules.UNKNOWN_PACKAGE
    return Installed(found[0] if found else word, rule.kind, rule.reason)


def _values(script: Script, word: str) -> Iterator[str]:
    """A word; of a variable the words of the values that the script gives it, and of its default."""
    variable = re.fullmatch(r"\$\{(\w+)(?::?[-=]([^{}]*))?\}", word)
    values = [*script.values.get(variable[1], []), variable[2] or ""] if variable else []
    parts = [part for value in dict.fromkeys(values) for part in value.split() if word not in part]
    yield from parts if parts or (variable and variable[1] in script.values) else (word,)


def _by_origin(what: str, text: str) -> Installed:
    """What is built, by the addresses and folders that a text names."""
    parts = text.split()
    rule = next((rule for rule in rules.REPOSITORIES if any(rule.names.search(part) for part in parts)), None)
    if rule is not None:
        return Installed(what, rule.kind, rule.reason)
    if rules.place(text) == "engine":
        return Installed(what, "engine", "it is an engine built from source")
    if rules.ORCHESTRATION.search(text):
        return Installed(what, "harness", "it is the job launcher (srt-slurm)")
    if rules.EVAL_CLIENT.search(text):
        return Installed(what, "harness", "it is a client that measures")
    return Installed(what, "unclear", "what is built and installed is not plain")


def _goes_elsewhere(script: Script, command: ShellCommand, arguments: Sequence[str]) -> bool:
    """Whether the installation goes to another Python than the one that serves: into a folder or a Python that the
    options name, or by a Python of its own, which no plain `python3` stands behind."""
    for index, word in enumerate(arguments):
        option, sign, value = word.partition("=")
        if option in ("--target", "-t", "--python", "-p"):
            value = value if sign else arguments[index + 1] if index + 1 < len(arguments) else ""
            where = script.expanded(value)
            known = _UNSET.sub("", where).strip("/\"' ") or _OWN_PYTHON.search(value) or _OWN_FOLDER.search(value)
            return bool(known) and rules.place(where) != "engine" and not _PLAIN_PYTHON.fullmatch(where)
    before = command.words[: command.words.index("install")] if "install" in command.words else ()
    for word in before:
        if "venv/" in word:
            return True
        if word.startswith("$") and _OWN_PYTHON.search(word) and not _PLAIN_PYTHON.search(script.expanded(word)):
            return True
    return False


def _last_name(path: str) -> str:
    words = [part for part in re.split(r"[\s/\"']+", path) if part not in ("", ".", "..")]
    return words[-1].strip("${}") if words else ""
