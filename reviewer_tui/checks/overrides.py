"""Settings in a file that change what a model computes: located, with their effect; nothing is executed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, zip_longest
from typing import Any

import msgspec

from reviewer_tui.checks import override_rules as rules
from reviewer_tui.checks.override_rules import Effect
from reviewer_tui.checks.patches.rules import WRITES
from reviewer_tui.checks.shell_commands import Script, ShellCommand, read_script
from reviewer_tui.checks.yaml_scalars import Scalar, scalars
from reviewer_tui.launch.serve_command import STARTS_A_SERVER
from reviewer_tui.launch.text import Unknown

MAX_VALUE = 20_000
"""Characters of one override that are read."""

_MOST_STEPS = 4
_LONGEST_LITERAL = 40
_EVENTS_WORD = re.compile(r"(?:--)?(?:no-)?(?:[A-Za-z]+_)*publish[-_]events[-_]and[-_]metrics", re.I)
_ROLE_KEY = re.compile(r"(prefill|decode|agg(?=\Z|_)|aggregated)(?:_(?:environment|extra_args|config|args))?")

_PAIR = re.compile(r"[\"']?([A-Za-z_][\w.-]*)[\"']?\s*[:=]\s*[\"']?([\w.$-]+)")
_SHELL_ENDINGS = (".sh", ".bash", ".slurm", ".sbatch")
_RECIPE_ENDINGS = (".yaml", ".yml", ".json")
_OPTION = re.compile(r"(?<![\w-])--([A-Za-z][\w-]*)")
_KEY = re.compile(r"([A-Za-z][\w-]*)[\"']?\s*:")
_NAME = re.compile(r"([A-Za-z][\w-]*)[\"']?\s*[:=]")
_VARIABLE = re.compile(r"(?:-e|--env=)?([A-Z][A-Z0-9_]*)=(.*)", re.S)
# Options that other programs than servers have too, for other things.
_OF_SERVERS = ("revision", "code-revision")
# Names of options as programs give them.
_IN_PROGRAMS = tuple(
    name.replace("-", "_")
    for name in (*rules.OVERRIDE_OPTIONS, *rules.OTHER_OPTIONS, *rules.SPARSE_OPTIONS, rules.LOAD_FORMAT)
    if name not in _OF_SERVERS
)

# Programs that show a file or look at it, or end the script, whatever their options.
_READERS = frozenset(
    (
        *("cat", "head", "tail", "less", "wc", "stat", "ls", "file", "du", "find", "grep", "egrep", "fgrep", "diff"),
        *("cmp", "md5sum", "sha256sum", "realpath", "readlink", "basename", "dirname", "echo", "printf", "test", "["),
        *("export", "local", "declare", "readonly", "typeset", "true", ":", "cd", "pushd", "exit", "return"),
        *("hostname", "date", "pwd", "whoami", "id", "uname"),
    )
)
_SHELL_TEXT = re.compile(r"(?:^|[\s/])(?:ba|da|z)?sh\s+(?:-\S+\s+)*-[a-z]*c\s")
_ANY_JSON = re.compile(r"\*\.json|config\.\*")
_IN_PLACE = re.compile(r"-[a-zA-Z]*i|--in-?place")
# Programs that put files somewhere, and the folder that scripts serve from.
_PUTS = frozenset({"ln", "mount", "cp", "mv", "rsync", "git"})
_MODEL_NAMED = re.compile(r"\$\{?MODEL")
_CHECKPOINT_FOLDER = re.compile(r"\$\{MODEL_(?:PATH|DIR)\}/?")
_NAMES_OF_A_FOLDER = re.compile(r"\$\{?MODEL_(?:PATH|DIR)")
_EDITORS_IN_PLACE = frozenset({"sed", "perl"})
# Programs that only print what they make of a file, unless their output goes somewhere.
_FILTERS = frozenset({"jq", "yq", "awk", "gawk", "cut", "sort", "uniq", "tr"})
_SAYS = frozenset({"echo", "printf", "log", "grep", "test", "["})


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
    if path.endswith(_RECIPE_ENDINGS):
        return tuple(dict.fromkeys(_in_yaml(path, text))) if _tells(text, _KEY) else ()
    if path.endswith(_SHELL_ENDINGS) or text.startswith("#!"):
        return tuple(dict.fromkeys(_in_shell(path, text))) if _script_tells(text) else ()
    if path.endswith(".py"):
        return tuple(dict.fromkeys(_in_python(text))) if _tells(text, _NAME) else ()
    return ()


def overrides_in_setting(setting: str) -> tuple[Override, ...]:
    """What a setting of a config entry (`NAME=value`) changes; its lines are 0."""
    return (*_in_words(setting), *_in_variable(setting))


def overrides_in_arguments(words: str) -> tuple[Override, ...]:
    """What the arguments of a command change, its words given with spaces between them; its lines are 0."""
    return tuple(_in_words(words))


def overrides_in_values(values: Mapping[str, Any]) -> Iterator[Override]:
    """Fields of a model's config inside the JSON arguments of a command, whichever option takes them; the options that
    are there for them are told by `overrides_in_arguments`, and what a draft is told is not the model's."""
    for name, value in values.items():
        option = rules.option_of(name.lstrip("-"))
        if isinstance(value, dict) and "speculative" not in name and (option is None or option.takes != "fields"):
            for path, leaf in _flat(value, ()):
                if (rule := rules.field_rule(path)).effect == "reduces" and not isinstance(leaf, Unknown):
                    yield _named("unclear", 0, 0, name, ".".join(path), _shown(leaf), rule.reason)


def _tells(text: str, names: re.Pattern[str] | None = None) -> bool:
    """Whether a text holds any option, name (as the pattern finds them) or variable that touches a model, or names a
    checkpoint's config."""
    return (
        "config.json" in text
        or (any(part in text for part in rules.PARTS) and any(map(rules.names_a_part, rules.ENVIRONMENT.findall(text))))
        or any(map(rules.option_of, set(_OPTION.findall(text))))
        or (names is not None and any(map(rules.option_of, set(names.findall(text)))))
    )


def _script_tells(text: str) -> bool:
    """The same for a shell script, with the programs inside of it, edits of files and what is put into the folder that
    is served. It spares taking most scripts apart, and may say yes too often but not too rarely."""
    return (
        _tells(text)
        or ("python" in text and any(name in text for name in _IN_PROGRAMS))
        or (_ANY_JSON.search(text) is not None and any(editor in text for editor in _EDITORS_IN_PLACE))
        or any(map(_may_put_checkpoint, text.replace("\\\n", " ").split("\n")))
    )


def _may_put_checkpoint(line: str) -> bool:
    if "MODEL_PATH" not in line and "MODEL_DIR" not in line:
        return False
    puts = "--local-dir" in line or any(f"{program} " in line for program in _PUTS)
    return puts and _MODEL_NAMED.search(_NAMES_OF_A_FOLDER.sub("", line)) is None


# -- shell ------------------------------------------------------------------------------------------------------------


def _in_shell(path: str, text: str) -> Iterator[Override]:
    script, lines = read_script(text, path), text.split("\n")
    configs = _config_variables(script)
    for command in script.commands:
        for said in (command.text, *(value for _, value in command.assignments)):
            for found in _in_words(said, script):
                line, end_line = _lines_of(lines, command, found)
                yield msgspec.structs.replace(found, line=line, end_line=end_line)
        yield from _in_command(command, script, configs)
    if script.unread is not None and (line := script.unread[0]) <= len(lines):
        reason = f"the script cannot be read from here on ({script.unread[1]})"
        yield _named("unclear", line, len(lines), path.rpartition("/")[2], "", "", reason)


def _in_command(command: ShellCommand, script: Script, configs: frozenset[str]) -> Iterator[Override]:
    said = () if command.words[:1] and command.words[0] in _SAYS else command.words
    for word in (*(f"{name}={value}" for name, value in command.assignments), *said):
        for found in _in_variable(word):
            yield msgspec.structs.replace(found, line=command.line, end_line=command.end_line)
    for found in _in_program(command):
        yield found
    if _puts_checkpoint(command, script):
        reason = "it puts something in the place of the entry's checkpoint"
        yield _named("unclear", command.line, command.end_line, command.words[0], "", command.words[-1], reason)
    whole = f"{command.text} {command.stdin} {' '.join(command.targets)}"
    if any(name in whole for name in configs):
        command = _written_out(command, script)
        whole = f"{whole} config.json"
    if (rules.MODEL_CONFIG.search(whole) and _edits_model(command, script)) or (
        _ANY_JSON.search(command.text) and _edits_in_place(command)
    ):
        yield from _edited(whole, command.line, command.end_line)


def _in_program(command: ShellCommand) -> Iterator[Override]:
    """What a Python program in a command sets: one in a here-document, or behind `-c`."""
    if not command.words or not command.words[0].rpartition("/")[2].startswith("python"):
        return
    at = command.words.index("-c") + 1 if "-c" in command.words else 0
    text, line = (command.words[at], 0) if 0 < at < len(command.words) else (command.stdin, command.stdin_line)
    for found in _in_python_lines(text) if text else ():
        place = (line + found.line - 1, line + found.line - 1) if line else (command.line, command.end_line)
        yield msgspec.structs.replace(found, line=place[0], end_line=place[1])


def _puts_checkpoint(command: ShellCommand, script: Script) -> bool:
    """Whether a command copies, links or downloads something that is not named after the model into the folder that
    the server serves."""
    program = command.words[0].rpartition("/")[2] if command.words else ""
    into = [word for before, word in pairwise(command.words) if before == "--local-dir"]
    into += command.words[-1:] if program in _PUTS else ()
    if not any(_CHECKPOINT_FOLDER.fullmatch(word) for word in into):
        return False
    others = (script.expanded(word) for word in command.words[1:] if word not in into)
    return not any(_MODEL_NAMED.search(word) for word in others)


def _in_variable(word: str) -> Iterator[Override]:
    """A variable that names a part of the model, given as `NAME=value` or as a container's `-eNAME=value`."""
    found = _VARIABLE.match(word)
    if found is not None and rules.names_a_part(found[1]):
        yield _named("unclear", 0, 0, found[1], "", found[2], "it names a part of the model")


def _config_variables(script: Script) -> frozenset[str]:
    """The variables, as commands write them, that may hold the name of a checkpoint's config."""
    if not any(rules.MODEL_CONFIG.search(value) for values in script.values.values() for value in values):
        return frozenset()
    found: frozenset[str] = frozenset()
    for _ in range(_MOST_STEPS):
        more = frozenset(
            f"${{{name}"
            for name, values in script.values.items()
            if any(rules.MODEL_CONFIG.search(value) or any(known in value for known in found) for value in values)
        )
        if more == found:
            break
        found = more
    return found


def _written_out(command: ShellCommand, script: Script) -> ShellCommand:
    """The command with the values of its variables in their places."""
    words = tuple(script.expanded(word) for word in command.words)
    return msgspec.structs.replace(
        command, words=words, targets=tuple(script.expanded(target) for target in command.targets)
    )


def _edits_model(command: ShellCommand, script: Script) -> bool:
    """Whether a command that names a checkpoint's config may write it: whatever is not known only to read it does."""
    names = [word.rpartition("/")[2] for word in command.words]
    into = any(rules.MODEL_CONFIG.search(target) for target in command.targets)
    if into or not names or _SHELL_TEXT.search(command.text):
        return into  # the commands of a text that a shell runs are judged by themselves
    if _EDITORS_IN_PLACE & set(names):
        return _edits_in_place(command)
    if names[0].startswith(("python", "$")):
        runs_file = any(name.endswith(".py") for name in names[1:]) and not command.stdin
        return runs_file or WRITES.search(f"{command.text} {command.stdin}") is not None
    if names[0] in _FILTERS:
        return bool(command.targets) or any(_IN_PLACE.match(word) for word in command.words)
    return not _only_reads(names[0], script)


def _edits_in_place(command: ShellCommand) -> bool:
    names = {word.rpartition("/")[2] for word in command.words}
    return bool(_EDITORS_IN_PLACE & names) and any(_IN_PLACE.match(word) for word in command.words)


def _only_reads(name: str, script: Script) -> bool:
    """Whether a program, or a function of the script, only looks at files or says something."""
    if name not in script.functions:
        return name in _READERS or "=" in name
    inside = [command for command in script.commands if command.function == name]
    return all(not command.targets and command.words[:1] and command.words[0] in _READERS for command in inside)


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
    for found in _OPTION.finditer(text):
        option = rules.option_of(found[1])
        if option is None or (option.name in _OF_SERVERS and not _serves(text, script)):
            continue
        after = text[found.end() : found.end() + MAX_VALUE]
        if option.takes == "fields" and after.startswith("."):
            yield from _dotted(found[0], after[:200])
            continue
        rest = after.lstrip("= ")
        value = rest if rest[:1] in ("{", "'", '"') else rest.partition(" ")[0]
        if "$" in value and script is not None:
            value = script.expanded(value)
        yield from _told(found[0], option, value)


def _serves(text: str, script: Script | None) -> bool:
    """Whether these words are those of a server: what is no command of a script is taken for its arguments."""
    return script is None or STARTS_A_SERVER.search(f"{text} ") is not None


def _told(name: str, option: rules.Option, value: str) -> Iterator[Override]:
    """What an option with this value sets."""
    match option.takes:
        case "fields":
            yield from _fields_of(name, value)
        case "field":
            effect = "none" if value.lower() in rules.FALSE and not value.isdigit() else option.rule.effect
            yield _named(effect, 0, 0, name, "", "" if value.startswith("-") else value, option.rule.reason)
        case "weights":
            if rules.loads_nothing(value):
                yield _named(option.rule.effect, 0, 0, name, "", value, option.rule.reason)
        case "other" if value.lower() not in rules.FALSE:
            bare = value.startswith("-") or value.lower() in rules.TRUE
            yield _named(option.rule.effect, 0, 0, name, "", "" if bare else value, option.rule.reason)


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
    options = [rules.option_of(key) for key in scalar.keys]
    place = next((n for n, option in enumerate(options) if option is not None and option.takes == "fields"), None)
    last = options[-1] if options else None
    if place is not None and place == len(scalar.keys) - 1:
        yield from _fields_of(scalar.key, scalar.value)
    elif place is not None:
        yield _judged(scalar.keys[place], scalar.keys[place + 1 :], scalar.value, beside)
    elif "--" in scalar.value:
        yield from _in_words(scalar.value, None)
    elif scalar.key == "use_index_cache" or (last is not None and last.takes == "field"):
        yield _judged(scalar.key, (scalar.key,), scalar.value, beside)
    elif last is not None and last.name not in _OF_SERVERS:
        yield from _told(scalar.key, last, scalar.value)
    named = scalar.value if scalar.key == "name" else scalar.key
    yield from _in_variable(f"{named}={scalar.value}")
    yield from _in_variable(scalar.value)


def _in_python(text: str) -> Iterator[Override]:
    """Options that a program composes, overrides that it gives as arguments or keys, and edits of a model's config."""
    yield from _in_python_lines(text)
    if (config := rules.MODEL_CONFIG.search(text)) and WRITES.search(text):
        line_number = text.count("\n", 0, config.start()) + 1
        yield from _edited(text, line_number, line_number)


def _is_given(option: rules.Option) -> bool:
    """Whether an option's name is of no other use in a program: fields of a config are also names of its own."""
    return option.takes != "field" and option.name not in (*_OF_SERVERS, *rules.OVERRIDE_KEYS)


def _in_python_lines(text: str) -> Iterator[Override]:
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("#"):
            continue
        found = [
            _named("unclear", 0, 0, name, "", "", "it names a part of the model")
            for name in rules.ENVIRONMENT.findall(line)
            if rules.names_a_part(name)
        ]
        found += [*_in_words(line.replace('", "', " ").replace("', '", " "), None)]
        for name in _NAME.finditer(line):
            option = rules.option_of(name[1])
            if option is not None and _is_given(option) and not line[: name.start()].endswith("--"):
                rest = "\n".join((line[name.end() :], *lines[number : number + _LONGEST_LITERAL]))
                found += _told(name[1], option, _literal(rest))
        for item in found:
            yield msgspec.structs.replace(item, line=number, end_line=number)


def _literal(text: str) -> str:
    """The value at the beginning of a text: a mapping up to its closing bracket, else one word."""
    text = text.lstrip()
    if not text.startswith("{"):
        return re.split(r"[\s,)}]", text, maxsplit=1)[0]
    depth = 0
    for at, character in enumerate(text[:MAX_VALUE]):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth == 0:
            return text[: at + 1]
    return text[:MAX_VALUE]


# -- the setting that a policy may forbid to switch off ---------------------------------------------------------------


class EventSetting(msgspec.Struct, frozen=True, kw_only=True):
    """Where a file sets `publish_events_and_metrics`: `value` is None where it is no plain truth value; `block` is the
    top-level key of a recipe that it stands in, `role` the kind of worker whose settings these are (empty: of all)."""

    line: int
    value: bool | None
    block: str = ""
    role: str = ""


@lru_cache(maxsize=256)
def event_settings(path: str, text: str) -> tuple[EventSetting, ...]:
    """Every place of a file that sets `publish_events_and_metrics`; comments do not."""
    if not _EVENTS_WORD.search(text):
        return ()
    values = scalars(text) if path.endswith(_RECIPE_ENDINGS) else None
    return tuple(_events_in_lines(text) if values is None else _events_in_recipe(values))


@lru_cache(maxsize=256)
def roles_in(path: str, text: str) -> frozenset[str]:
    """The kinds of workers that a recipe has settings for."""
    values = scalars(text) if path.endswith(_RECIPE_ENDINGS) else None
    return frozenset(role for scalar in values or () for key in scalar.keys if (role := _role(key)))


def _events_in_lines(text: str) -> Iterator[EventSetting]:
    for number, line in enumerate(text.split("\n"), 1):
        code = line.partition(" #")[0]
        if not code.lstrip().startswith(("#", "//")):
            for match in rules.EVENTS_SET.finditer(code):
                yield EventSetting(line=number, value=_truth(match))


def _events_in_recipe(values: Sequence[Scalar]) -> Iterator[EventSetting]:
    for scalar, after in zip_longest(values, values[1:]):
        said = f"{scalar.key}: {scalar.value}" if _EVENTS_WORD.search(scalar.key) else scalar.value
        if scalar.key == "value":
            said = ""
        named = _EVENTS_WORD.fullmatch(scalar.value) is not None
        if named and after is not None and (after.keys == scalar.keys or after.key == "value"):
            said = f"{scalar.value} {after.value}"  # the flag and its value are words of one list, or name and value
        block = scalar.keys[0] if scalar.keys else ""
        role = next((found for key in scalar.keys if (found := _role(key))), "")
        for match in rules.EVENTS_SET.finditer(said):
            yield EventSetting(line=scalar.line, value=_truth(match), block=block, role=role)


def _role(key: str) -> str:
    found = _ROLE_KEY.fullmatch(key)
    return found[1] if found else ""


def _truth(match: re.Match[str]) -> bool | None:
    word = match[2].lower()
    value = False if word in rules.FALSE else True if word in rules.TRUE else None
    if match[1]:
        return False
    # An option without a value switches it on; a key without one says nothing.
    return True if value is None and match[0].startswith("--") and not word else value
