"""Which endpoints scripts name on the way from their first line through the functions that they call: read, never
evaluated."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from reviewer_tui.checks.shell_commands import ShellCommand, read_script

# The type of an endpoint, or its path; other things have endpoints too, which are not asked for completions.
_ENDPOINT = re.compile(r"(?<![\w-])--(?:endpoint-type[= ]+(\S+)|(?:custom-)?endpoint[= ]+(\S*completions\S*))")


def endpoints_named(texts: Iterable[tuple[str, str]]) -> frozenset[bool]:
    """Of every endpoint that is named on the way, whether it is the chat endpoint. `texts` are paths and contents of
    shell scripts: their commands outside of functions run, and the functions that these call."""
    commands = [command for path, text in texts for command in read_script(text, path).commands]
    return frozenset(
        _is_chat(found[1] or found[2])
        for command in _on_the_way(commands)
        for said in (command.text, *(value for _, value in command.assignments))
        for found in _ENDPOINT.finditer(said)
    )


def _is_chat(value: str) -> bool:
    plain = value.strip("\"'").rstrip("/")
    return plain == "chat" or plain.endswith("/chat/completions")


def _on_the_way(commands: list[ShellCommand]) -> Iterator[ShellCommand]:
    inside: dict[str, list[ShellCommand]] = {}
    for command in commands:
        inside.setdefault(command.function, []).append(command)
    due, seen = [""], {""}
    while due:
        for command in inside.get(due.pop(), ()):
            yield command
            called = {word for word in command.text.split() if word in inside and word not in seen}
            seen |= called
            due += called
