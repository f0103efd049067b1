"""Launchers (`runners/launch_<machine>.sh`): which script they start for a row, read from their text, never executed.

A launcher composes a path from few variables (`benchmarks/single_node/${SCENARIO_SUBDIR}${EXP_NAME%%_*}_...`). Its
assignments are substituted as text; where a variable is set in more than one place, every value is tried in order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache

MAX_LAUNCHER = 300_000
MAX_ALTERNATIVES = 12
MAX_DEPTH = 6

_ASSIGNMENT = re.compile(r"^\s*(?:export\s+|local\s+|readonly\s+)?([A-Z_][A-Z0-9_]*)=(.+?)\s*$")
_WORD = re.compile(r"""(?:"[^"]*"|'[^']*'|\$\{[^}]*\}|[^\s"'();|&<>])+""")
_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)(?:(%%|%|##|#|:-|-)([^}]*))?\}|\$([A-Za-z_]\w*)")
# NAME=$([[ "$X" == "value" ]] && printf 'one' || printf 'other')
_CHOICE = re.compile(
    r"""\$\(\[\[ "\$\{?(\w+)(?::-[^}]*)?\}?" == "([^"]*)" \]\] && (?:printf|echo) ['"]([^'"]*)['"]"""
    r""" \|\| (?:printf|echo) ['"]([^'"]*)['"]\)$"""
)
_COPY = re.compile(
    r"""\bcp\s+-\S*r\S*\s+(?:\\\n\s*)?"?\$\{?GITHUB_WORKSPACE\}?/([^\s"]+)"?\s+(?:\\\n\s*)?"?([^\s"|;&]+)"?"""
)


class Launcher:
    """One launcher's text taken apart."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text[:MAX_LAUNCHER]
        self._values: dict[str, list[str]] = {}
        self._words: list[str] = []
        self._scripts: dict[frozenset[tuple[str, str]], tuple[str, ...]] = {}
        for line in self.text.split("\n"):
            if line.lstrip().startswith("#"):
                continue
            match = _ASSIGNMENT.match(line)
            if match is not None:
                values = self._values.setdefault(match[1], [])
                if len(values) < MAX_ALTERNATIVES:
                    values.append(match[2])
            if "$" in line and (".sh" in line or "benchmarks/" in line):
                self._words.extend(word for word in _WORD.findall(line) if ".sh" in word or "benchmarks/" in word)

    def scripts(self, environment: Mapping[str, str]) -> tuple[str, ...]:
        """The paths of shell scripts that the launcher may start in this environment, in the order it tries them.

        Paths are relative to the repository; whether they exist is not looked at.
        """
        place = frozenset(environment.items())
        if place not in self._scripts:
            self._scripts[place] = self._started(environment)
        return self._scripts[place]

    def _started(self, environment: Mapping[str, str]) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for word in self._words:
            text = word.partition("=")[2] if re.match(r"[A-Za-z_]\w*=", word) else word
            for path in self._evaluate(_unquoted(text), environment, 0):
                if path.endswith(".sh") and "$" not in path:
                    found[path.removeprefix("/").removeprefix("./")] = None
        return tuple(found)

    @cached_property
    def copies(self) -> list[tuple[str, str]]:
        """Folders of the repository that are copied elsewhere before a recipe is read: (source, destination)."""
        return [
            (source.rstrip("/"), destination.rstrip("/"))
            for source, destination in _COPY.findall(self.text)
            if "$" not in source
            for destination in self._evaluate(destination, {}, 0)
        ]

    def _evaluate(self, text: str, environment: Mapping[str, str], depth: int) -> Iterator[str]:
        """The texts that `text` may stand for; a variable without a value stays as it is."""
        match = _VARIABLE.search(text)
        if match is None or depth > MAX_DEPTH:
            yield text
            return
        name = match[1] or match[4]
        before, after = text[: match.start()], text[match.end() :]
        made = 0
        for value in self._alternatives(name, match[3] if match[2] in (":-", "-") else None, environment, depth):
            shaped = _shaped(value, match[2], match[3] or "")
            for rest in self._evaluate(after, environment, depth):
                yield f"{before}{shaped}{rest}"
                made += 1
                if made >= MAX_ALTERNATIVES:
                    return

    def _alternatives(
        self, name: str, default: str | None, environment: Mapping[str, str], depth: int
    ) -> Iterable[str]:
        if name in environment:
            return [environment[name]]
        values: dict[str, None] = {}
        for text in self._values.get(name, ()):
            choice = _CHOICE.match(text)
            if choice is not None:
                subject, wanted, one, other = choice.groups()
                values[one if environment.get(subject) == wanted else other] = None
            elif "$(" not in text and "`" not in text:
                values.update(dict.fromkeys(self._evaluate(_unquoted(text), environment, depth + 1)))
        return values or ([""] if default == "" else [default] if default is not None else [f"\x24{{{name}}}"])


@lru_cache(maxsize=64)
def read_launcher(path: str, text: str) -> Launcher:
    """A launcher taken apart, remembered with what was asked of it: most are the same in many revisions."""
    return Launcher(path, text)


def _unquoted(text: str) -> str:
    return text.replace('"', "").replace("'", "")


def _shaped(value: str, operator: str | None, pattern: str) -> str:
    """`${NAME%%_*}` and the like, for the two forms of patterns that launchers use: `X*` behind, a plain prefix."""
    if operator == "%%" and pattern.endswith("*"):
        return value.partition(pattern[:-1])[0] if pattern[:-1] else ""
    if operator == "%" and pattern.endswith("*"):
        return value.rpartition(pattern[:-1])[0] if pattern[:-1] in value else value
    if operator == "%":
        return value.removesuffix(pattern)
    if operator == "#":
        return value.removeprefix(pattern)
    return value


def launcher_name(machine: str) -> str:
    """The launcher's file name for a machine: `launch_<name up to the first underscore>.sh`."""
    return f"launch_{machine.partition('_')[0]}.sh"
