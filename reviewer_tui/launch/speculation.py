"""Speculative decoding of a serve command: method, draft, level, and whether its acceptance is synthetic.

Source: the acceptance length section of the verifier's prompt and the golden curves' README, which name the knobs of
each engine: vLLM's `synthetic_acceptance_length`, SGLang's `SGLANG_SIMULATE_ACC_LEN`, TensorRT-LLM's
`TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS` (which counts the accepted drafts, one less than the length), ATOM's
`--spec-decode-acceptance-length` or `-rate`. The level is what the curves are indexed by: SGLang's number of steps,
not its number of draft tokens; DSpark's block size there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec

from reviewer_tui.launch.arguments import Value
from reviewer_tui.launch.serve_command import ServeCommand
from reviewer_tui.launch.text import Mixed, Text, Unknown, show, unknowns

Thinking = Literal["on", "off"]

_LEVELS_OF_SGLANG = ("--speculative-num-steps",)
_BLOCK_SIZES_OF_SGLANG = ("--speculative-dspark-block-size", "--speculative-dflash-block-size")
_ON = frozenset({"1", "true", "enabled", "on", "yes"})
_OFF = frozenset({"0", "false", "disabled", "off", "no"})
_THINKING_VARIABLES = ("SGLANG_DEFAULT_THINKING", "SGLANG_ENABLE_THINKING", "DYN_DEFAULT_THINKING_MODE")


class Knob(msgspec.Struct, frozen=True):
    """One setting that speaks about speculation: a flag (perhaps a key inside it) or a variable, its value as written,
    and its line (0 where it is not known)."""

    name: str
    value: str
    line: int = 0


class Speculation(msgspec.Struct, frozen=True, kw_only=True):
    """How one serve command speculates.

    `method` is in lower case as the engine names it (`mtp`, `eagle`, `nextn`, `eagle3`, `dspark`); `draft_model` is
    None where the checkpoint's own head drafts. `level` is the number that golden curves are indexed by, None where it
    is not known. `synthetic` tells whether acceptance is prescribed (None: not known), then `acceptance_length` is
    the mean length prescribed. `sample_method` is vLLM's `draft_sample_method`. `unknown` holds the reasons for what
    is missing.
    """

    method: str
    draft_model: str | None
    level: int | None
    synthetic: bool | None
    acceptance_length: float | None
    sample_method: str | None = None
    rejection_method: str | None = None
    knobs: tuple[Knob, ...] = ()
    unknown: tuple[str, ...] = ()


class ThinkingSignal(msgspec.Struct, frozen=True):
    """A setting that turns thinking on or off."""

    mode: Thinking
    knob: Knob


def speculation_of(command: ServeCommand) -> Speculation | None:
    """The speculation of a serve command; None where it certainly has none."""
    match command.engine:
        case "vllm":
            found = _vllm(command)
        case "sglang":
            found = _sglang(command)
        case "trtllm":
            found = _trtllm(command)
        case "atom":
            found = _atom(command)
        case _:
            found = None
    if found is None and command.open:
        # There may be arguments that are not listed, and one of them may switch speculation on.
        reasons = tuple(str(reason) for reason in command.open)
        return Speculation(
            method="", draft_model=None, level=None, synthetic=None, acceptance_length=None, unknown=reasons
        )
    return found


def thinking_signals(command: ServeCommand, client_env: Mapping[str, Text] | None = None) -> tuple[ThinkingSignal, ...]:
    """What tells the thinking mode: variables, chat template arguments, and what the client sends along."""
    return tuple(_thinking(command, client_env or {}))


# -- engines ------------------------------------------------------------------------------------------------------


class _Facts:
    """Collects values, knobs and reasons while an engine's settings are read."""

    def __init__(self, command: ServeCommand) -> None:
        self.command = command
        self.knobs: list[Knob] = []
        self.unknown: list[str] = []

    def flag(self, *names: str) -> Value | None:
        for name in names:
            if name in self.command.args:
                value = self.command.args[name]
                self.knobs.append(Knob(name, _shown(value), self.command.arguments.lines.get(name, 0)))
                return value
        return None

    def key(self, flag: str, config: Mapping[str, Any], *keys: str) -> Value | None:
        for key in keys:
            if key in config:
                line = self.command.arguments.lines.get(flag, 0)
                self.knobs.append(Knob(f"{flag}.{key}", _shown(config[key]), line))
                return config[key]
        return None

    def variable(self, name: str) -> Text | None:
        value = self.command.env.get(name)
        if value is not None:
            self.knobs.append(Knob(name, show(value), self.command.line))
        return value

    def number(self, value: Value | None, what: str) -> float | None:
        """A number; a value that is no number, or not known, is noted as missing."""
        if isinstance(value, Unknown):
            self.unknown.append(str(value))
            return None
        if isinstance(value, Mixed):
            self.unknown.append(str(unknowns(value)[0]))
            return None
        if isinstance(value, str):
            try:
                return float(value)
            except ValueError:
                self.unknown.append(f"{what} is {value!r}, which is no number")
                return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            if value is not None:
                self.unknown.append(f"{what} is {value!r}, which is no number")
            return None
        return float(value)

    def level(self, value: Value | None, what: str) -> int | None:
        number = self.number(value, what)
        return int(number) if number is not None and number == int(number) else None

    def name(self, value: Value | None, what: str) -> str | None:
        if isinstance(value, Unknown):
            self.unknown.append(f"{what}: {value}")
            return f"<{value.reason}>"
        return None if value is None else str(value)

    def speculation(
        self,
        method: str,
        draft: str | None,
        level: int | None,
        synthetic: bool | None,
        length: float | None,
        sample: str | None = None,
        rejection: str | None = None,
    ) -> Speculation:
        return Speculation(
            method=method.lower(),
            draft_model=draft,
            level=level,
            synthetic=synthetic,
            acceptance_length=length,
            sample_method=sample,
            rejection_method=rejection,
            knobs=tuple(self.knobs),
            unknown=tuple(dict.fromkeys(self.unknown)),
        )


def _shown(value: Value) -> str:
    return f"<{value.reason}>" if isinstance(value, Unknown) else str(value)


def _config(facts: _Facts, flag: str) -> dict[str, Any] | Speculation | None:
    """A JSON argument as a mapping; a speculation of which nothing is known where it cannot be read."""
    value = facts.command.args.get(flag)
    if value is None:
        return None
    if isinstance(value, dict):
        return value
    facts.flag(flag)
    reason = str(value) if isinstance(value, Unknown) else f"{flag} is no JSON mapping"
    facts.unknown.append(reason)
    return facts.speculation("", None, None, None, None)


def _vllm(command: ServeCommand) -> Speculation | None:
    facts = _Facts(command)
    flag = "--speculative-config"
    config = _config(facts, flag)
    if config is None or isinstance(config, Speculation):
        return config
    level = facts.level(facts.key(flag, config, "num_speculative_tokens"), "num_speculative_tokens")
    if level == 0:
        return None
    method = facts.name(facts.key(flag, config, "method"), "method") or ""
    draft = facts.name(facts.key(flag, config, "model"), "model")
    sample = facts.name(facts.key(flag, config, "draft_sample_method"), "draft_sample_method")
    rejection_value = facts.key(flag, config, "rejection_sample_method")
    rejection = facts.name(rejection_value, "rejection_sample_method")
    length = facts.number(facts.key(flag, config, "synthetic_acceptance_length"), "synthetic_acceptance_length")
    rates = facts.key(flag, config, "synthetic_acceptance_rates", "synthetic_acceptance_rate")
    synthetic = None if isinstance(rejection_value, Unknown) else rejection == "synthetic"
    if synthetic and length is None and isinstance(rates, int | float) and level:
        length = 1 + rates * level
    return facts.speculation(method, draft, level, synthetic, length if synthetic else None, sample, rejection)


def _sglang(command: ServeCommand) -> Speculation | None:
    facts = _Facts(command)
    algorithm = facts.flag("--speculative-algorithm")
    if algorithm is None:
        return None
    method = facts.name(algorithm, "--speculative-algorithm") or ""
    if method.lower() == "none":
        return None
    draft = facts.name(facts.flag("--speculative-draft-model-path"), "draft model")
    block = "dspark" in method.lower() or "dflash" in method.lower()
    names = _BLOCK_SIZES_OF_SGLANG if block else _LEVELS_OF_SGLANG
    level = facts.level(facts.flag(*names), names[0])
    topk = facts.flag("--speculative-eagle-topk")
    facts.flag("--speculative-num-draft-tokens")
    if not block and topk not in (None, 1):
        facts.unknown.append(f"--speculative-eagle-topk is {_shown(topk)}: the curves hold for 1")
        level = None
    if level is None and not facts.unknown:
        facts.unknown.append(f"{names[0]} is not set")
    length_text = facts.variable("SGLANG_SIMULATE_ACC_LEN")
    facts.variable("SGLANG_SIMULATE_ACC_METHOD")
    facts.variable("SGLANG_SIMULATE_ACC_TOKEN_MODE")
    if length_text is None:
        return facts.speculation(method, draft, level, False, None)
    length = facts.number(length_text, "SGLANG_SIMULATE_ACC_LEN")
    if length is None:
        return facts.speculation(method, draft, level, None, None)
    # SGLang's own default is -1, which leaves acceptance real.
    return facts.speculation(method, draft, level, length > 0, length if length > 0 else None)


def _trtllm(command: ServeCommand) -> Speculation | None:
    facts = _Facts(command)
    flag = "--speculative_config"
    config = _config(facts, flag)
    if config is None or isinstance(config, Speculation):
        return config
    method = facts.name(facts.key(flag, config, "decoding_type"), "decoding_type") or ""
    value = facts.key(flag, config, "max_draft_len", "num_nextn_predict_layers")
    level = facts.level(value, "max_draft_len")
    if level == 0:
        return None
    keys = ("speculative_model", "speculative_model_dir")
    draft = facts.name(facts.key(flag, config, *keys), "draft model")
    forced = facts.variable("TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS")
    if forced is None:
        return facts.speculation(method, draft, level, False, None)
    accepted = facts.number(forced, "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS")
    if accepted is None:
        return facts.speculation(method, draft, level, None, None)
    length = round(accepted + 1, 6)
    return facts.speculation(method, draft, level, accepted > 0, length if accepted > 0 else None)


def _atom(command: ServeCommand) -> Speculation | None:
    facts = _Facts(command)
    value = facts.flag("--method")
    if value is None:
        return None
    method = facts.name(value, "--method") or ""
    draft = facts.name(facts.flag("--draft-model"), "draft model")
    tokens = facts.flag("--num-speculative-tokens")
    # ATOM drafts one token where the number is not given.
    level = 1 if tokens is None else facts.level(tokens, "--num-speculative-tokens")
    if level == 0:
        return None
    length_value = facts.flag("--spec-decode-acceptance-length")
    rate_value = facts.flag("--spec-decode-acceptance-rate")
    if length_value is None and rate_value is None:
        return facts.speculation(method, draft, level, False, None)
    length = facts.number(length_value, "--spec-decode-acceptance-length")
    rate = facts.number(rate_value, "--spec-decode-acceptance-rate")
    if length is None and rate is not None and level is not None:
        length = round(1 + rate * level, 4)
    return facts.speculation(method, draft, level, True if length is not None else None, length)


# -- thinking -----------------------------------------------------------------------------------------------------


def _thinking(command: ServeCommand, client_env: Mapping[str, Text]) -> Iterator[ThinkingSignal]:
    for name in _THINKING_VARIABLES:
        yield from _signal(name, command.env.get(name), command.line)
    flags = ("--dyn-default-thinking-mode", "--default-chat-template-kwargs", "--chat-template")
    for flag in flags:
        value = command.args.get(flag)
        line = command.arguments.lines.get(flag, 0)
        if flag == "--chat-template":
            if isinstance(value, str) and "thinking" in value.lower():
                yield ThinkingSignal("on", Knob(flag, value, line))
        elif isinstance(value, dict):
            for key in ("thinking", "enable_thinking", "thinking_mode"):
                yield from _signal(f"{flag}.{key}", value.get(key), line)
        else:
            yield from _signal(flag, value, line)
    extra = client_env.get("AIPERF_EXTRA_INPUTS")
    if isinstance(extra, str) and "thinking" in extra:
        words = extra.replace('"', " ").replace(":", " ").replace(",", " ").lower().split()
        at = next((n for n, word in enumerate(words) if "thinking" in word), len(words))
        yield from _signal("AIPERF_EXTRA_INPUTS", words[at + 1] if at + 1 < len(words) else None, 0, extra)


def _signal(name: str, value: Any, line: int, shown: str | None = None) -> Iterator[ThinkingSignal]:
    text = str(value).lower() if value is not None and not isinstance(value, Unknown | Mixed) else ""
    mode: Thinking | None = "on" if text in _ON else "off" if text in _OFF else None
    if mode is not None:
        yield ThinkingSignal(mode, Knob(name, shown or str(value), line))
