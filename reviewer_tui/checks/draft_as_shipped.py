"""Draft as shipped: draft models and heads run at the precision in which they ship."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from reviewer_tui.checks.check import Check, Evidence, Outcome, outcome
from reviewer_tui.checks.launches import (
    Drafting,
    LaunchPoint,
    Said,
    doubtful,
    drafting,
    speculates,
    submitted_points,
    told,
    unread,
    unreadable,
    with_history,
)
from reviewer_tui.launch.serve_command import ServeCommand
from reviewer_tui.launch.text import Text, Unknown, show
from reviewer_tui.model.finding import Finding, Status

EXPLANATION = """\
Decides whether submitted speculative configurations, image-only changes included, serve their draft model or head at
the precision in which it ships, through the pinned image's own handling. What the verifier prohibits by name and what
lowers the draft in plain words (a draft quantization) fails; other settings that may reach the draft are named for the
reviewer.
Reads, at head: the entry and the effective serve commands with their variables, the recipe, the verifier's own words
(the variables and flags that it names), the agreed draft models of the models file, and the detail section.
Cannot know: in which precision a checkpoint stores its head, and what an image does when it loads one. So the check
never passes by itself: the detail section must name the draft, its stored precision, the image's handling and the
effective precision, and the reviewer judges that; without it the verifier fails the check."""

# The prohibition and the leads that are known by name; the verifier's own words add to both.
_PROHIBITED = frozenset({"SGLANG_NVFP4_CKPT_FP8_NEXTN_MOE"})
_LOWERING_VARIABLES = frozenset({"SGLANG_GLM_NEXTN_MOE_PTPC"})
_DRAFT_QUANTIZATION = ("--speculative-draft-model-quantization",)
_ONLINE_QUANTIZATION = ("--online_quant_config", "--online-quant-config")
_CONFIG = "--speculative-config"
_QUANTIZATION_KEYS = ("quantization", "draft_quantization")
_DTYPE_KEYS = ("dtype", "draft_dtype", "kv_cache_dtype", "draft_kv_cache_dtype")
# Values that name no precision of their own.
_AS_STORED = frozenset({"", "none", "null", "auto", "unquant", "unquantized", "default"})
_OFF = frozenset({"", "0", "false", "off", "no", "none"})
_FULL = re.compile(r"auto|(?:b?f(?:loat)?16|half|bf?loat16|float32|fp32)", re.I)

_NAMED = re.compile(r"`(?:env )?([A-Z][A-Z0-9_]{7,}|--[a-z][\w-]{3,})(?:[= ][^`]*)?`")
_NAMES = re.compile(r"[\w./-]+")
_SENTENCES = re.compile(r"(?<=[.;:])\s+|\n\s*[-*\n]\s*")
_PROHIBITS = re.compile(r"\b(?:prohibit|forbidden|forbids|banned)", re.I)

_SPEAKS_OF_DRAFT = re.compile(r"\b(?:draft|drafter|head|mtp|nextn|eagle\d?|dspark)\b", re.I)
_SPEAKS_OF_PRECISION = re.compile(r"\b(?:bf16|bfloat16|fp16|fp8\w*|fp4|nvfp4|mxfp[48]|int[48]|w\da\d)\b", re.I)


def decide(evidence: Evidence) -> Outcome:
    rules = _Rules(evidence)
    said = [one for point in submitted_points(evidence) for one in _judge(evidence, rules, point)]
    findings = told(with_history(evidence, said, lambda point: _judge(evidence, rules, point)), evidence.snapshot.head)
    if not findings:
        return Outcome(status=Status.NOT_APPLICABLE, summary="no speculative configuration is submitted")
    return outcome(findings, _summary(findings))


class _Rules:
    """What the verifier of the policy revision prohibits by name, and what it names at all."""

    def __init__(self, evidence: Evidence) -> None:
        policy_check = evidence.policy.check("draft_as_shipped")
        text = policy_check.text if policy_check else ""
        named = frozenset(_NAMED.findall(text))
        stated = {name for part in _SENTENCES.split(text) if _PROHIBITS.search(part) for name in _NAMED.findall(part)}
        # A verifier whose words name other things only no longer prohibits what it once did.
        self.prohibited = frozenset(name for name in stated if not name.startswith("--")) or (
            _PROHIBITED if not named or named & _PROHIBITED else frozenset()
        )
        self.named = named


def _judge(evidence: Evidence, rules: _Rules, point: LaunchPoint) -> Iterator[Said]:
    speculative = speculates(point)
    if speculative is None:
        yield doubtful(point)
    if not speculative:
        return
    launch = point.launch
    if unread(launch) is not None:
        yield unreadable(point, "the precision of its draft cannot be verified")
    for server in launch.workers:
        yield from _prohibitions(rules, point, server)
        yield from _lowering(evidence, point, server)
    drafts = drafting(launch.generating)
    if not drafts and point.untold:
        yield doubtful(point)
    for draft in drafts:
        yield from _leads(rules, point, draft)
        yield _documented(evidence, point, draft)


# -- what lowers a draft ------------------------------------------------------------------------------------------


def _prohibitions(rules: _Rules, point: LaunchPoint, server: ServeCommand) -> Iterator[Said]:
    for name in sorted(rules.prohibited & server.env.keys()):
        value = server.env[name]
        enabled = _enabled(value)
        if enabled:
            text = f"{name}={show(value)} is set for its {server.role}, which the verifier prohibits by name."
            yield _at(point, server, Status.FAIL, text, f"{name} not enabled", show(value))
        elif enabled is None:
            text = f"{name}, which the verifier prohibits, may be set for its {server.role}: {show(value)}."
            yield _at(point, server, Status.UNVERIFIED, text)


def _lowering(evidence: Evidence, point: LaunchPoint, server: ServeCommand) -> Iterator[Said]:
    """Settings whose plain meaning is a draft of lower precision; the detail section may show that it ships so."""
    for name, value, line in _lower_settings(server):
        detail = evidence.sign_off.detail if evidence.sign_off is not None else ""
        documented = name in detail or (len(value) > 2 and value.lower() in detail.lower())
        text = f"{name}={value} lowers the precision of its draft."
        if documented:
            text = f"{name}={value}: does the detail section show that the draft ships in this precision?"
        status = Status.JUDGEMENT if documented else Status.FAIL
        yield _at(point, server, status, text, "the draft as it ships", f"{name}={value}", line)


def _lower_settings(server: ServeCommand) -> Iterator[tuple[str, str, int]]:
    """Name, value and line (0: unknown) of settings that quantize the draft."""
    lines = server.arguments.lines
    for flag in _DRAFT_QUANTIZATION:
        value = server.args.get(flag)
        if isinstance(value, str) and value.lower() not in _AS_STORED:
            yield flag, value, lines.get(flag, 0)
    for key, value in _draft_config(server).items():
        if not isinstance(value, str) or value.lower() in _AS_STORED:
            continue
        target = str(server.args.get("--kv-cache-dtype", ""))
        lower_type = key in _DTYPE_KEYS and not _FULL.fullmatch(value) and value != target
        if key in _QUANTIZATION_KEYS or lower_type:
            yield f"{_CONFIG}.{key}", value, lines.get(_CONFIG, 0)
    for name in sorted(_LOWERING_VARIABLES & server.env.keys()):
        if _enabled(server.env[name]):
            yield name, show(server.env[name]), 0


def _draft_config(server: ServeCommand) -> dict[str, Any]:
    config = server.args.get(_CONFIG)
    return config if isinstance(config, dict) else {}


# -- what a reviewer should look at -------------------------------------------------------------------------------


def _leads(rules: _Rules, point: LaunchPoint, draft: Drafting) -> Iterator[Said]:
    server = draft.command
    for flag in _ONLINE_QUANTIZATION:
        if flag in server.args:
            text = f"{flag} quantizes at load{_left_out(server.args[flag])}: is the whole draft left out?"
            yield _at(point, server, Status.JUDGEMENT, text, line=server.arguments.lines.get(flag, 0))
    dtype = server.args.get("--dtype")
    if isinstance(dtype, Unknown) or (isinstance(dtype, str) and dtype not in _AS_STORED):
        text = f"--dtype is {dtype}: does the draft keep its own precision?"
        yield _at(point, server, Status.JUDGEMENT, text, line=server.arguments.lines.get("--dtype", 0))
    known = {*_PROHIBITED, *_LOWERING_VARIABLES, *_DRAFT_QUANTIZATION, *_ONLINE_QUANTIZATION, _CONFIG, "--dtype"}
    for name in sorted(rules.named - known - rules.prohibited):
        value: object = server.args.get(name) if name.startswith("--") else server.env.get(name)
        if value is not None and name != "--speculative-draft-model-path":
            text = f"{name} is {value}, which the verifier names as a lead: does it reach the draft?"
            yield _at(point, server, Status.JUDGEMENT, text, line=server.arguments.lines.get(name, 0))


def _left_out(config: object) -> str:
    layers = config.get("exclude_layer") if isinstance(config, dict) else None
    return f" and leaves out {', '.join(map(str, layers))}" if isinstance(layers, list) and layers else ""


def _documented(evidence: Evidence, point: LaunchPoint, draft: Drafting) -> Said:
    """What is known of the draft, and whether the detail section says the rest."""
    known = f"it drafts with {draft.speculation.method or 'an unknown method'}, {_named_draft(evidence, point, draft)}"
    if evidence.sign_off is None:
        status = Status.JUDGEMENT
        rest = "the detail section must name the draft, its stored precision, the image's handling of it and the "
        rest += "effective precision, or the verifier fails the check"
    else:
        missing = _missing_evidence(evidence.sign_off.detail)
        status = Status.FAIL if missing else Status.JUDGEMENT
        rest = (
            f"the detail section does not name {missing}" if missing else "does the detail section show how it ships?"
        )
    text = f"{known}; {rest}{'' if rest.endswith('?') else '.'}"
    return _at(point, draft.command, status, text, "the draft as it ships")


def _missing_evidence(detail: str) -> str:
    missing = [] if _SPEAKS_OF_DRAFT.search(detail) else ["the draft"]
    if not _SPEAKS_OF_PRECISION.search(detail):
        missing.append("its stored and effective precision")
    return " and ".join(missing)


def _named_draft(evidence: Evidence, point: LaunchPoint, draft: Drafting) -> str:
    name = draft.speculation.draft_model
    if name is None:
        return f"the head of {point.entry.model}"
    models = evidence.policy.deprecations.value
    row = models.engines_of(point.entry.model_prefix) if models is not None else None
    if models is None or row is None:
        return name
    # A checkpoint goes by the end of its name: launchers keep it under other folders.
    agreed = name.rpartition("/")[2].lower() in {word.rpartition("/")[2].lower() for word in _NAMES.findall(row.drafts)}
    where = f"{models.path}:{row.line}"
    return f"{name}, an agreed draft of {where}" if agreed else f"{name}, which {where} does not name"


# -- words --------------------------------------------------------------------------------------------------------


def _enabled(value: Text) -> bool | None:
    """Whether a variable is switched on; None where its value is not known."""
    return value.strip().lower() not in _OFF if isinstance(value, str) else None


def _at(
    point: LaunchPoint,
    server: ServeCommand,
    status: Status,
    text: str,
    expected: str | None = None,
    actual: str | None = None,
    line: int = 0,
) -> Said:
    return Said(
        point=point,
        status=status,
        text=text,
        path=server.path,
        line=line or server.line,
        expected=expected,
        actual=actual,
    )


def _summary(findings: tuple[Finding, ...]) -> str:
    for status in (Status.FAIL, Status.UNVERIFIED, Status.JUDGEMENT):
        if found := next((finding for finding in findings if finding.status is status), None):
            return found.message
    return "drafts are served as they ship"


CHECK = Check(
    name="draft_as_shipped",
    title="Draft models and heads are served as they ship",
    pane="diff",
    explanation=EXPLANATION,
    decide=decide,
)
