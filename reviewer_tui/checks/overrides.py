"""Settings in a file that change what a model computes: located, with their effect; nothing is executed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from reviewer_tui.checks import override_rules as rules
from reviewer_tui.checks.override_rules import Effect
from reviewer_tui.checks.patches.rules import WRITES
from reviewer_tui.checks.shell_commands import Script, ShellCommand, read_script
from reviewer_tui.checks.yaml_scalars import Scalar, scalars

MAX_VALUE = 20_000
"""Characters of one override that are read."""

_PAIR = re.compile(r"[\"']?([A-Za-z_][\w.-]*)[\"']?\s*[:=]\s*[\"']?([\w.$-]+)")
_SHELL_ENDINGS = (".sh", ".bash", ".slurm", ".sbatch")


class Override(msgspec.Struct, frozen=True, kw_only=True):
    """One setting. `option` is how it is given, `field` and `value` are what it sets; `line` to `end_line` hold it."""

    effect: Effect
    line: int
    end_line: int
    option: str
    field: str
    value: str
    reason: str

    def __str__(self) -> str:
        shown = f" {self.field}={self.value}" if self.field else ""
        return f"{self.option}{shown}"


@lru_cache(maxsize=256)
def overrides_in(path: str, text: str) -> tuple[Override, ...]:
    """Every setting of a file that touches a model's architecture, harmless ones included."""
    recipe = path.endswith((".yaml", ".yml"))
    if not _tells(text, rules.TELLTALES if recipe else rules.TELLTALES[:-1]):
        return ()
    if recipe:
        return tuple(dict.fromkeys(_in_yaml(path, text)))
    if path.endswith(_SHELL_ENDINGS) or text.startswith("#!"):
        return tuple(dict.fromkeys(_in_shell(path, text)))
    if path.endswith(".py"):
        return tuple(dict.fromkeys(_in_lines(text)))
    return ()


def overrides_in_setting(setting: str) -> tuple[Override, ...]:
    """What a setting of a config entry (`NAME=value`) changes; its lines are 0."""
    found = list(_in_words(setting))
    if name := rules.ENVIRONMENT.match(setting):
        found.append(_named("unclear", 0, 0, name[1], "", setting[name.end() :], "it names a part of the model"))
    return tuple(found)


def overrides_in_arguments(words: str) -> tuple[Override, ...]:
    """What the arguments of a command change, its words given with spaces between them; its lines are 0."""
    return tuple(_in_words(words))


def _tells(text: str, tokens: Iterable[str]) -> bool:
    """Whether any line but comments holds one of these texts."""
    for token in tokens:
        at = text.find(token)
        while at >= 0:
            start = text.rfind("\n", 0, at) + 1
            if not text[start:at].lstrip().startswith("#"):
                return True
            at = text.find(token, at + 1)
    return False


# -- shell ------------------------------------------------------------------------------------------------------------


def _in_shell(path: str, text: str) -> Iterator[Override]:
    script, lines = read_script(text, path), text.split("\n")
    for command in script.commands:
        for said in (command.text, *(value for _, value in command.assignments)):
            for found in _in_words(said, script):
                line, end_line = _lines_of(lines, command, found)
                yield msgspec.structs.replace(found, line=line, end_line=end_line)
        yield from _in_command(command)
    if script.unread is not None and (line := script.unread[0]) <= len(lines):
        reason = f"the script cannot be read from here on ({script.unread[1]})"
        yield _named("unclear", line, len(lines), path.rpartition("/")[2], "", "", reason)


def _in_command(command: ShellCommand) -> Iterator[Override]:
    whole = f"{command.text} {command.stdin} {' '.join(command.targets)}"
    for name, value in command.assignments:
        if rules.ENVIRONMENT.match(f"{name}="):
            yield _named("unclear", command.line, command.end_line, name, "", value, "it names a part of the model")
    if "config.json" in whole and _edits_model(command):
        yield from _edited(whole, command.line, command.end_line)


def _edits_model(command: ShellCommand) -> bool:
    """Whether a command that speaks of a config.json writes one."""
    names = {word.rpartition("/")[2] for word in command.words}
    if names & {"sed", "perl"}:
        return any(re.match(r"-[a-zA-Z]*i|--in-place", word) for word in command.words)
    if any(name.startswith(("python", "$")) for name in names) and WRITES.search(f"{command.text} {command.stdin}"):
        return True
    written = [*command.targets, *(command.words[-1:] if names & {"cp", "mv", "ln", "install", "tee"} else ())]
    return any(target.endswith("config.json") for target in written) or ("jq" in names and bool(command.targets))


def _edited(text: str, line: int, end_line: int) -> Iterator[Override]:
    """A program that edits a model's config.json: what it sets where that can be told."""
    worst: Effect = "unclear"
    fields = [(name, value) for name, value in _PAIR.findall(text) if rules.field_rule((name,)).effect == "reduces"]
    if fields and re.search(r"sed\s+-i|jq\b|json\.dump|write", text):
        worst = "reduces" if any(_assigned(text, name) for name, _ in fields) else "unclear"
    field, value = fields[0] if fields and worst == "reduces" else ("", "")
    reason = "it rewrites the model's own config"
    yield _named(worst, line, end_line, "an edit of config.json", field, value, reason)


def _assigned(text: str, name: str) -> bool:
    """Whether a program sets this field, and does not only read or compare it."""
    pattern = rf"\[[\"']{name}[\"']\]\s*=[^=]|\.{name}\s*=[^=]|\"?{name}\"?\s*:\s*\S+.*/[gI]*[\"']?\s"
    return re.search(pattern, text) is not None


def _lines_of(lines: list[str], command: ShellCommand, found: Override) -> tuple[int, int]:
    """The line of the command on which the option stands, and the next one where its value does not follow there."""
    option = found.option.lstrip("-")
    for number in range(command.line, min(command.end_line, len(lines)) + 1):
        if option in lines[number - 1]:
            after = lines[number - 1].partition(option)[2].strip("\\ \"'")
            return number, number if after else min(number + 1, command.end_line)
    return command.line, command.end_line


def _in_words(text: str, script: Script | None = None) -> Iterator[Override]:
    """Overrides among the words of a command or of flags that a recipe holds as text (all at line 0)."""
    for found in rules.OVERRIDES.finditer(text):
        # Keys of a recipe are read as such; among words an option begins with dashes.
        if not text[found.start() :].startswith("--"):
            continue
        rest = text[found.end() : found.end() + MAX_VALUE].lstrip("= ")
        if text[found.end() : found.end() + 1] == ".":
            yield from _dotted(found[0], text[found.end() : found.end() + 200])
            continue
        value = rest if rest[:1] in ("{", "'", '"') else rest.partition(" ")[0]
        if "$" in value and script is not None:
            value = script.expanded(value)
        yield from _fields_of(found[0], value)
    for found in rules.DIRECT.finditer(text):
        rule = rules.field_rule((found[1],))
        yield _named(rule.effect, 0, 0, f"--{found[1]}", "", found[2] or "", rule.reason)
    if other := rules.OTHER_CONFIG.search(text):
        yield _named("unclear", 0, 0, other[0], "", "", "it puts another config in the place of the model's own")


def _dotted(option: str, rest: str) -> Iterator[Override]:
    """`--hf-overrides.text_config.index_topk_freq 4`."""
    if found := re.match(r"\.([\w.]+)[= ]+(\S+)", rest):
        yield _judged(option, tuple(found[1].split(".")), found[2], {})


def _fields_of(option: str, text: str) -> Iterator[Override]:
    """The fields that an override's value sets: JSON, or what looks like it."""
    value = _json(text)
    if isinstance(value, dict) and value:
        flat = dict(_flat(value, ()))
        for path, leaf in flat.items():
            yield _judged(option, path, _shown(leaf), {name[-1]: _shown(item) for name, item in flat.items()})
        return
    pairs = _PAIR.findall(text[:MAX_VALUE])
    for name, leaf in pairs:
        yield _judged(option, tuple(name.split(".")), leaf, dict(pairs))
    if not pairs and value != {}:
        yield _named("unclear", 0, 0, option, "", text[:60].strip(), "what it sets cannot be read here")


def _json(text: str) -> Any:
    """The first JSON object in a text; None where there is none."""
    start = text.find("{")
    if start < 0:
        return None
    try:
        return json.JSONDecoder().raw_decode(text[start : start + MAX_VALUE])[0]
    except (ValueError, RecursionError):
        return None


def _flat(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, Mapping) and value and len(path) < 12:
        for name, inner in value.items():
            yield from _flat(inner, (*path, str(name)))
    else:
        yield path, value


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)[:60]


def _judged(option: str, path: tuple[str, ...], value: str, beside: Mapping[str, str]) -> Override:
    rule = rules.field_rule(path)
    effect, reason = _by_value(path[-1].lower() if path else "", value.strip("\"'").lower(), rule, beside)
    return _named(effect, 0, 0, option, ".".join(path), value, reason)


def _by_value(field: str, value: str, rule: rules.FieldRule, beside: Mapping[str, str]) -> tuple[Effect, str]:
    """The effect of a field with this value; a value that switches nothing on changes nothing."""
    if rule.effect == "none":
        return "none", rule.reason
    if value in rules.FALSE and not value.isdigit():
        return "none", "it is switched off"
    if "$" in value or "%" in value:
        return "unclear", f"{rule.reason}, and its value is not known here"
    if field == "index_topk_freq" and value == "1":
        return "none", "every layer keeps its indexer"
    if field == "use_index_cache" and "index_topk_pattern" in beside:
        return "unclear", "its pattern must be the one that the model ships"
    return rule.effect, rule.reason


def _named(effect: Effect, line: int, end_line: int, option: str, field: str, value: str, reason: str) -> Override:
    shown = value if len(value) <= 60 else f"{value[:57]}..."
    return Override(effect=effect, line=line, end_line=end_line, option=option, field=field, value=shown, reason=reason)


# -- recipes and other files ------------------------------------------------------------------------------------------


def _in_yaml(path: str, text: str) -> Iterator[Override]:
    values = scalars(text)
    if values is None:
        reason = "the file cannot be read as YAML"
        yield _named("unclear", 1, text.count("\n") + 1, path.rpartition("/")[2], "", "", reason)
        return
    beside = {scalar.key: scalar.value for scalar in values}
    for scalar in values:
        found = list(_in_scalar(scalar, beside))
        last = scalar.line + scalar.value.count("\n")
        yield from (msgspec.structs.replace(item, line=scalar.line, end_line=last) for item in found)


def _in_scalar(scalar: Scalar, beside: Mapping[str, str]) -> Iterator[Override]:
    place = next((n for n, key in enumerate(scalar.keys) if rules.OVERRIDE_KEY.fullmatch(key)), None)
    if place is not None and place == len(scalar.keys) - 1:
        yield from _fields_of(scalar.key, scalar.value)
    elif place is not None:
        yield _judged(scalar.keys[place], scalar.keys[place + 1 :], scalar.value, beside)
    elif "--" in scalar.value:
        yield from _in_words(scalar.value, None)
    elif scalar.key == "sparse_disable_index_value" or re.fullmatch(
        r"index_topk(?:_freq|_pattern)?|use_index_cache", scalar.key
    ):
        yield _judged(scalar.key, (scalar.key,), scalar.value, beside)
    if rules.ENVIRONMENT.match(f"{scalar.key}="):
        yield _named("unclear", 0, 0, scalar.key, "", scalar.value, "it names a part of the model")


def _in_lines(text: str) -> Iterator[Override]:
    """Options that a Python program composes."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.lstrip().startswith("#"):
            for found in _in_words(line.replace('", "', " ").replace("', '", " "), None):
                yield msgspec.structs.replace(found, line=number, end_line=number)


# -- the setting that a policy may forbid to switch off ---------------------------------------------------------------


class EventSetting(msgspec.Struct, frozen=True, kw_only=True):
    """Where a file sets `publish_events_and_metrics`: `value` is None where it is no plain truth value; `block` is the
    top-level key of a recipe that it stands in."""

    line: int
    value: bool | None
    block: str = ""


@lru_cache(maxsize=256)
def event_settings(path: str, text: str) -> tuple[EventSetting, ...]:
    """Every place of a file that sets `publish_events_and_metrics`; comments do not."""
    found: list[EventSetting] = []
    block = ""
    for number, line in enumerate(text.split("\n"), 1):
        if path.endswith((".yaml", ".yml")) and (top := re.match(r"[\"']?([\w.\[\]-]+)[\"']?\s*:", line)):
            block = top[1]
        code = line.partition(" #")[0]
        if code.lstrip().startswith(("#", "//")):
            continue
        found += [
            EventSetting(line=number, value=_truth(match), block=block) for match in rules.EVENTS_SET.finditer(code)
        ]
    return tuple(found)


def _truth(match: re.Match[str]) -> bool | None:
    word = match[2].lower()
    value = False if word in rules.FALSE else True if word in rules.TRUE else None
    if match[1]:
        return False
    # An option without a value switches it on; a key without one says nothing.
    return True if value is None and match[0].startswith("--") and not word else value
