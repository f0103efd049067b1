"""Command lines: a command as a script would run it, and what only wraps it (`nohup`, `numactl`, `bash -c`)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from reviewer_tui.launch.shell_state import Files
from reviewer_tui.launch.shell_words import Argument
from reviewer_tui.launch.text import Text, Unknown

ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=")
SHELLS = frozenset({"bash", "sh", "/bin/bash", "/bin/sh", "/usr/bin/bash", "dash", "zsh"})
_PREFIXES = frozenset(
    (
        *("exec", "nohup", "setsid", "time", "nice", "ionice", "stdbuf", "env", "sudo", "command", "builtin"),
        *("timeout", "taskset", "numactl", "chrt"),
    )
)
_VALUED_PREFIX_OPTIONS = {
    "nice": {"-n"},
    "ionice": {"-c", "-n"},
    "stdbuf": {"-o", "-e", "-i"},
    "env": {"-u", "-C"},
    "sudo": {"-u", "-g"},
    "timeout": {"-k", "-s", "--signal", "--kill-after"},
    "exec": {"-a"},
    "taskset": {"-c", "--cpu-list"},
    "numactl": {"-C", "-N", "-m", "-l", "-i", "-p", "--cpunodebind", "--membind", "--physcpubind", "--interleave"},
}


class Command(msgspec.Struct, frozen=True):
    """One command the script would run. `environment` and `files` (content by path, as far as the script itself wrote
    them) are what held at that moment; `conditions` are the lines of the conditions it hangs on and that could not be
    decided; `background` where it was started with `&`; `folder` is where it runs; `tainted` is what nobody
    read and may have set any variable before."""

    argv: tuple[Argument, ...]
    environment: Mapping[str, Text]
    files: Files
    path: str
    line: int
    conditions: tuple[int, ...] = ()
    background: bool = False
    folder: Text = ""
    tainted: Unknown | None = None

    @property
    def name(self) -> str:
        """The program's name without its folder; empty where it is unknown."""
        return program_name(self.argv[0].text) if self.argv else ""


def program_name(text: Text) -> str:
    """The last part of a program's path; empty where that is unknown."""
    if isinstance(text, str):
        return text.rpartition("/")[2]
    last = text.parts[-1]
    return last.rpartition("/")[2] if isinstance(last, str) and "/" in last else ""


def without_prefixes(arguments: Sequence[Argument]) -> tuple[dict[str, Text], Sequence[Argument]]:
    """A command without what only wraps it (`nohup`, `env A=1`, `numactl --membind 0`), and the variables set there."""
    added: dict[str, Text] = {}
    at = 0
    while at < len(arguments):
        name = arguments[at].text
        base = name.rpartition("/")[2] if isinstance(name, str) else ""
        if base not in _PREFIXES:
            return added, arguments[at:]
        at += 1
        valued = _VALUED_PREFIX_OPTIONS.get(base, set())
        operands = {"timeout": 1, "taskset": 1, "chrt": 1}.get(base, 0)
        while at < len(arguments):
            text = arguments[at].text
            if not isinstance(text, str):
                break
            if base == "env" and (found := ASSIGNMENT.match(text)):
                added[found.group(1)] = text[found.end() :]
            elif text == "--":
                at += 1
                break
            elif text.startswith("-") and len(text) > 1:
                if text in valued:
                    at += 1
                if base == "taskset":
                    operands = 0
            elif operands:
                operands -= 1
            else:
                break
            at += 1
    return added, arguments[at:]


def shell_words(arguments: Sequence[Argument]) -> tuple[str, Argument | None, Sequence[Argument]]:
    """Options, script (text or name) and arguments of a shell's command line."""
    options, at = "", 0
    while at < len(arguments):
        text = arguments[at].text
        if not isinstance(text, str) or not text.startswith(("-", "+")) or text in ("-", "--"):
            break
        if text.startswith("--"):
            at += 1
            continue
        options += text[1:]
        at += 2 if text[-1] in ("o", "O") else 1
    if at >= len(arguments):
        return options, None, ()
    rest = arguments[at + 1 :]
    return options, arguments[at], rest[1:] if "c" in options else rest
