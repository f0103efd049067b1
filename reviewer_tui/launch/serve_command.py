"""The commands of a script that serve a model, and what its benchmark client is told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

import msgspec

from reviewer_tui.launch.arguments import Arguments, Engine, Value, canonical, canonical_mapping, version_of
from reviewer_tui.launch.command_line import Command, program_name, without_prefixes
from reviewer_tui.launch.environment import environment_of
from reviewer_tui.launch.shell import Evaluation, evaluate
from reviewer_tui.launch.shell_words import Argument
from reviewer_tui.launch.text import Mixed, Text, Unknown, show, unknowns
from reviewer_tui.model.finding import Problem
from reviewer_tui.model.tree import Tree
from reviewer_tui.sweeps.document import read_document
from reviewer_tui.sweeps.rows import Row

Role = Literal["worker", "prefill", "decode", "router"]
ClientKind = Literal["fixed", "agentic", "eval"]

_MODULES: Mapping[str, tuple[Engine, Role]] = {
    "sglang.launch_server": ("sglang", "worker"),
    "sglang.srt.entrypoints.http_server": ("sglang", "worker"),
    "vllm.entrypoints.openai.api_server": ("vllm", "worker"),
    "vllm.entrypoints.cli.main": ("vllm", "worker"),
    "atom.entrypoints.openai_server": ("atom", "worker"),
    "dynamo.sglang": ("sglang", "worker"),
    "dynamo.vllm": ("vllm", "worker"),
    "dynamo.trtllm": ("trtllm", "worker"),
    "tensorrt_llm.commands.serve": ("trtllm", "worker"),
    "tilert.server": ("other", "worker"),
    "sglang_router.launch_router": ("other", "router"),
    "sglang.srt.disaggregation.mini_lb": ("other", "router"),
    "dynamo.frontend": ("other", "router"),
}
_PROGRAMS: Mapping[str, tuple[Engine, Role, str]] = {
    "sglang": ("sglang", "worker", "serve"),
    "vllm": ("vllm", "worker", "serve"),
    "trtllm-serve": ("trtllm", "worker", ""),
    "vllm-router": ("other", "router", ""),
    "sglang-router": ("other", "router", ""),
    "sgl-router": ("other", "router", ""),
}
"""Programs that serve, with the subcommand that makes them."""

STARTS_A_SERVER = re.compile(
    "|".join(
        (
            *(rf"(?<![\w.]){re.escape(module)}\b" for module in _MODULES),
            *(
                rf"(?<![\w.-]){name}\s+{after}\b" if after else rf"(?<![\w.-]){name}\s"
                for name, (_, _, after) in _PROGRAMS.items()
            ),
        )
    )
)
"""Words of a command that serves."""

_STARTERS = frozenset({"mpirun", "mpiexec", "trtllm-llmapi-launch", "srun"})
"""Programs behind whose options the serving program stands."""

_OPTIONS_FILES: Mapping[str, str] = {"vllm": "--config", "sglang": "--config", "trtllm": "--extra_llm_api_options"}
"""The option of each engine that names a file of further options."""

_MODEL_FLAGS = ("--model-path", "--model")
_BEFORE_A_MODEL = ("serve", *_MODEL_FLAGS)
_ENDPOINT = re.compile(r"--(?:custom-)?endpoint(?:-type)?(?:=|\Z)")
_PORTS = re.compile(r"python[\d.]*")


class ServeCommand(msgspec.Struct, frozen=True, kw_only=True):
    """One process that serves (or routes to) a model, as far as it is known.

    `argv` are its words without what only wraps it; `env` the variables that the script itself exports or puts before
    the command (those of the row left out); `version` is the engine's where the image's tag tells; `conditions` are
    the lines of undecided conditions it hangs on; `notes` are located faults met on the way; `model_name` is the
    checkpoint where something else than the arguments tells it; `tainted` is what nobody read (a file from elsewhere, a
    text that is run) and may have set variables otherwise than `env` says.
    """

    role: Role
    engine: Engine
    argv: tuple[Argument, ...]
    arguments: Arguments
    env: Mapping[str, Text]
    path: str
    line: int
    version: str | None = None
    conditions: tuple[int, ...] = ()
    notes: tuple[Problem, ...] = ()
    complete: bool = True
    model_name: str | None = None
    tainted: Unknown | None = None

    @property
    def args(self) -> Mapping[str, Value]:
        """Canonical flag to typed value; a value that could not be evaluated is an `Unknown`."""
        return self.arguments.values

    @property
    def unknowns(self) -> dict[str, str]:
        """What of this command is not known, each with its reason: flags, variables, and under the empty name why the
        whole is in doubt."""
        found = self.arguments.unknowns
        found |= {name: str(unknowns(text)[0]) for name, text in self.env.items() if isinstance(text, Mixed)}
        doubts = [str(reason) for reason in self.arguments.open]
        doubts += [f"line {line}: whether this condition holds is unknown" for line in self.conditions]
        if not self.complete:
            doubts += [note.message for note in self.notes if note.rule in ("limit", "unreadable", "missing")]
        if doubts:
            found[""] = "; ".join(dict.fromkeys(doubts))
        return found

    @property
    def open(self) -> tuple[Unknown, ...]:
        """Why there may be arguments that are not listed. What stands in the place of the model is taken for it,
        unless an option names the model."""
        named = any(word.text in _MODEL_FLAGS for word in self.argv)
        models = (
            word.text
            for before, word in pairwise(self.argv)
            if before.text in _BEFORE_A_MODEL and not (before.text == "serve" and named)
        )
        chosen = {piece for text in models for piece in unknowns(text)}
        return tuple(reason for reason in self.arguments.open if reason not in chosen)

    @property
    def known(self) -> bool:
        """Whether every argument is known and nothing is in doubt."""
        return not self.arguments.unknowns and not self.arguments.open and not self.conditions and self.complete

    def argument(self, *names: str) -> Value | None:
        """The value of the first of these flags that is there."""
        return next((self.args[name] for name in names if name in self.args), None)

    @property
    def model(self) -> str | None:
        """The checkpoint: the model's argument, or the name it is served under where that is a path or not known."""
        value = self.argument(*_MODEL_FLAGS)
        served = self.argument("--served-model-name", "--served_model_name")
        name = self.model_name or (served[0] if isinstance(served, list) and served else served)
        if isinstance(value, str) and (not value.startswith(("/", ".")) or not isinstance(name, str)):
            return value
        return name if isinstance(name, str) else None


class ClientRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a client against the server. `chat_template` tells whether prompts go through a chat template (None:
    not known); `agentic` clients send chat requests by their nature."""

    kind: ClientKind
    chat_template: bool | None
    path: str
    line: int
    reason: str = ""
    argv: tuple[Argument, ...] = ()
    conditions: tuple[int, ...] = ()


class ScriptCommands(msgspec.Struct, frozen=True, kw_only=True):
    """What a script serves and measures for a row. `problems` are located; `sources` the files read."""

    servers: tuple[ServeCommand, ...]
    clients: tuple[ClientRun, ...]
    evaluation: Evaluation

    @property
    def problems(self) -> tuple[Problem, ...]:
        ended = self.evaluation.ended
        return self.evaluation.problems if ended is None else (*self.evaluation.problems, ended)


def script_commands(
    tree: Tree,
    path: str,
    row: Row,
    *,
    eval_only: bool | None = None,
    external: Iterable[str] = (),
    aliases: Mapping[str, str] | None = None,
    extra: Mapping[str, Text] | None = None,
) -> ScriptCommands:
    """Evaluates the benchmark script at `path` for a row and picks what serves and what measures.

    `external` names variables that the launcher sets to something not known here; `extra` adds variables to the
    row's; `eval_only` overrides the row's own.
    """
    environment = environment_of(row, eval_only=eval_only) | dict(extra or {})
    evaluation = evaluate(tree, path, environment, external=external, aliases=aliases)
    image = str(row.get("image", ""))
    servers: list[ServeCommand] = []
    clients: list[ClientRun] = []
    for command in _distinct(evaluation.commands):
        if (server := as_server(command, environment, image, evaluation)) is not None:
            servers.append(server)
        elif (run := as_client(command)) is not None:
            clients.append(run)
    return ScriptCommands(servers=tuple(servers), clients=tuple(clients), evaluation=evaluation)


def _distinct(commands: Iterable[Command]) -> Iterator[Command]:
    """Commands without those that a script runs alike whichever way an open condition goes."""
    seen: dict[tuple[str, int, tuple[Argument, ...]], list[Mapping[str, Text]]] = {}
    for command in commands:
        before = seen.setdefault((command.path, command.line, command.argv), [])
        if command.environment not in before:
            before.append(command.environment)
            yield command


def serve_command(tree: Tree, path: str, row: Row, **options: Any) -> ServeCommand | None:
    """The server that a benchmark script starts for a row: of several, the first that certainly runs. None where the
    script starts none. Options as for `script_commands`."""
    servers = [s for s in script_commands(tree, path, row, **options).servers if s.role != "router"]
    return min(servers, key=lambda server: len(server.conditions), default=None)


def as_server(
    command: Command, environment: Mapping[str, Text], image: str, evaluation: Evaluation
) -> ServeCommand | None:
    """A command as a server, if it is one. `environment` is what the script began with."""
    found = _server_words(command)
    if found is None:
        return None
    engine, role, added, argv, at = found
    version = version_of(engine, image)
    arguments = _settled(engine, canonical(argv[at:], engine, version), version, command)
    variables = {**command.environment, **added}
    return ServeCommand(
        role=_role(arguments, role),
        engine=engine,
        argv=tuple(argv),
        arguments=arguments,
        env={name: value for name, value in variables.items() if environment.get(name) != value},
        path=command.path,
        line=command.line,
        version=version,
        conditions=command.conditions,
        notes=evaluation.problems,
        complete=evaluation.complete,
        tainted=command.tainted,
    )


def _server_words(command: Command) -> tuple[Engine, Role, dict[str, Text], Sequence[Argument], int] | None:
    """Engine, role, variables set by prefixes, the words of the serving program, and where its arguments begin."""
    added, argv = without_prefixes(command.argv)
    if not argv:
        return None
    if program_name(argv[0].text) in _STARTERS:
        at = next((n for n, a in enumerate(argv[1:], 1) if program_name(a.text) in _PROGRAMS), None)
        argv = argv if at is None else argv[at:]
    name = program_name(argv[0].text)
    if name in _PROGRAMS:
        engine, role, subcommand = _PROGRAMS[name]
        second = argv[1].text if len(argv) > 1 else None
        if subcommand and second != subcommand:
            return None
        return engine, role, added, argv, 2 if second == "serve" else 1
    if _PORTS.fullmatch(name) or name == "uv":
        return _module(added, argv)
    return None


def _module(
    added: dict[str, Text], argv: Sequence[Argument]
) -> tuple[Engine, Role, dict[str, Text], Sequence[Argument], int] | None:
    for at, argument in enumerate(argv[1:8], 1):
        if argument.text == "-m" and at + 1 < len(argv):
            module = argv[at + 1].text
            found = _MODULES.get(module) if isinstance(module, str) else None
            if found is None:
                return None
            start = at + 2
            if start < len(argv) and argv[start].text == "serve":
                start += 1
            return *found, added, argv, start
    return None


def _role(arguments: Arguments, role: Role) -> Role:
    mode = arguments.values.get("--disaggregation-mode")
    return mode if role == "worker" and mode in ("prefill", "decode") else role


def _settled(engine: Engine, arguments: Arguments, version: str | None, command: Command) -> Arguments:
    """The model that stands without a flag, and TensorRT-LLM's file of further options, put among the arguments."""
    values = dict(arguments.values)
    if engine in ("vllm", "trtllm") and arguments.positional and "--model" not in values:
        first = arguments.positional[0]
        values = {"--model": first if isinstance(first, str) else unknowns(first)[0], **values}
        arguments = msgspec.structs.replace(arguments, values=values, positional=arguments.positional[1:])
    config = values.get(_OPTIONS_FILES.get(engine, ""))
    if config is not None:
        arguments = _with_options_file(engine, arguments, config, version, command)
    return arguments


def _with_options_file(
    engine: Engine, arguments: Arguments, config: Value, version: str | None, command: Command
) -> Arguments:
    """The arguments with those of a YAML file, as far as the script wrote it: they win over the command line where
    `trtllm-serve` reads them; vLLM and SGLang let the command line win."""
    text = command.files.get(config) if isinstance(config, str) else None
    if text is None and isinstance(config, str):
        text = next((content for path, content in command.files.items() if path.endswith(f"/{config}")), None)
    if text is None:
        reason = Unknown(f"content of {config}", command.line, command.path)
        return msgspec.structs.replace(arguments, open=(*arguments.open, reason))
    options = read_options(text, command.path)
    if isinstance(options, Unknown):
        return msgspec.structs.replace(arguments, open=(*arguments.open, options))
    read = canonical_mapping(options, engine, version)
    first, second = (arguments, read) if engine == "trtllm" else (read, arguments)
    return msgspec.structs.replace(
        arguments,
        values={**first.values, **second.values},
        spellings={**first.spellings, **second.spellings},
        unknown_flags=tuple(dict.fromkeys((*arguments.unknown_flags, *read.unknown_flags))),
        lines={**dict.fromkeys(read.values, command.line), **arguments.lines},
    )


def read_options(text: Text, path: str) -> dict[str, Value] | Unknown:
    """A YAML mapping that a script wrote, its unknown pieces as unknown values."""
    holes: list[Unknown] = []
    pieces: list[str] = []
    for part in (text,) if isinstance(text, str) else text.parts:
        if isinstance(part, str):
            pieces.append(part)
        else:
            pieces.append(f"unknown_value_{len(holes)}_")
            holes.append(part)
    document = read_document("".join(pieces), path)
    if not document.readable or not isinstance(document.value, dict):
        return Unknown("the options file, which is no YAML mapping, and its content", 0, path)
    if isinstance(text, Mixed) and any("unknown_value_" in str(key) for key in document.value):
        return Unknown("the keys of the options file", holes[0].line, path)
    return {str(key): _filled(value, holes) for key, value in document.value.items()}


def _filled(value: Value, holes: Sequence[Unknown]) -> Value:
    if isinstance(value, dict):
        return {key: _filled(item, holes) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, holes) for item in value]
    found = re.search(r"unknown_value_(\d+)_", value) if isinstance(value, str) and holes else None
    return holes[int(found.group(1))] if found and int(found.group(1)) < len(holes) else value


def as_client(command: Command) -> ClientRun | None:
    """A command as a run of a client, if it is one."""
    _, argv = without_prefixes(command.argv)
    words = [argument.text for argument in argv]
    if not words:
        return None
    first = words[0]
    name = program_name(first)
    module = next((words[n + 1] for n in range(1, min(len(words) - 1, 4)) if words[n] == "-m"), None)
    script = program_name(words[1]) if len(words) > 1 else ""

    def run(kind: ClientKind, chat: bool | None, reason: str) -> ClientRun:
        return ClientRun(
            kind=kind,
            chat_template=chat,
            path=command.path,
            line=command.line,
            reason=reason,
            argv=tuple(argv),
            conditions=command.conditions,
        )

    if script == "benchmark_serving.py" or name in ("run_benchmark_serving", "benchmark_serving.py"):
        return run("fixed", *_chat_template(argv))
    if name == "aiperf" or (isinstance(module, str) and module.startswith("aiperf")):
        return run("agentic", *_aiperf_chat(argv)) if "profile" in words[:6] else None
    if module in ("lm_eval", "lm_eval.__main__") or name == "lm_eval":
        return run("eval", "--apply_chat_template" in words, "")
    return None


def _chat_template(argv: Sequence[Argument]) -> tuple[bool | None, str]:
    words = [argument.text for argument in argv]
    for flag in ("--use-chat-template", "--dsv4"):
        if flag in words:
            return True, flag
    loose = next((argument for argument in argv if argument.open), None)
    if loose is not None:
        return None, f"line {loose.line}: {show(loose.text)} may hold it"
    return False, ""


def _aiperf_chat(argv: Sequence[Argument]) -> tuple[bool | None, str]:
    """AIPerf speaks to the chat endpoint if told so, by its type or by its path."""
    said = [_endpoint(argv, at) for at, argument in enumerate(argv) if _ENDPOINT.match(show(argument.text))]
    answers = {chat for chat, _ in said}
    if not said:
        return None, "the endpoint type is not given"
    chat = None if None in answers else answers == {True}
    return chat, next(reason for found, reason in said if found is chat)


def _endpoint(argv: Sequence[Argument], at: int) -> tuple[bool | None, str]:
    """Whether an option about the endpoint names the chat endpoint (None: not known), and the option as it is."""
    name, sign, value = show(argv[at].text).partition("=")
    told = argv[at].text if sign else (argv[at + 1].text if at + 1 < len(argv) else "")
    value = value if sign else show(told)
    if not isinstance(told, str):
        return None, f"{name} {value}"
    return value == "chat" or value.rstrip("/").endswith("/chat/completions"), f"{name} {value}"
