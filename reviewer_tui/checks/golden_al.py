"""Golden AL: agentic speculative configs simulate the acceptance length of the golden curve; others simulate none."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from reviewer_tui.checks.check import Check, Evidence, Outcome, outcome
from reviewer_tui.checks.golden_pin import Agreement, Comparison, Pin, compare
from reviewer_tui.checks.launches import (
    Drafting,
    LaunchPoint,
    Said,
    doubtful,
    drafting,
    sentence,
    submitted_points,
    told,
    unread,
    unreadable,
    with_history,
)
from reviewer_tui.launch.points import Launch
from reviewer_tui.launch.speculation import Speculation, thinking_signals
from reviewer_tui.model.finding import Finding, Status

EXPLANATION = """\
Decides two things, point by point. An agentic point that speculates must simulate acceptance, at the acceptance length
that the committed curve holds for its model, thinking mode and draft length (SGLang's number of steps, TensorRT-LLM's
forced tokens plus one). A point that is not agentic must not simulate acceptance at all.
Reads: the golden curves of the policy revision, and at head the entry, the benchmark script or recipe with everything
it sources, and the launcher, which may write an acceptance length into the recipe. Nothing is executed.
Cannot know: recipes of other repositories, what a script learns only on the machine or from a file that it does not
write (such points are unverified, with the place, whatever was read before it), and the thinking mode where nothing
sets it (thinking is then assumed on, as all curves in use are). A model without a curve needs the source of its value
in the detail section, and whether that suffices is human.
A mismatch counts although the base had it already: a submitted configuration is run again."""

# The names under which engines take a prescribed acceptance; a file without any of them prescribes none.
_KNOBS = re.compile(
    rb"SIMULATE_ACC_LEN|synthetic_acceptance|rejection_sample_method|FORCE_NUM_ACCEPTED_TOKENS|spec-decode-acceptance",
    re.I,
)
# The setting by which an entry asks its launcher to write the acceptance length into the recipe.
_ASKED = "SYNTHETIC_ACCEPTANCE"
_SOURCE = re.compile(r"golden|acceptance[ -]length|\bAL\b|speed-?bench", re.I)
_EXCEPTION = re.compile(r"synthetic|simulat|acceptance|golden", re.I)
# With these SGLang simulates the prescribed mean and commits the draft's own tokens.
_SGLANG_USUAL = {
    "SGLANG_SIMULATE_ACC_METHOD": "match-expected",
    "SGLANG_SIMULATE_ACC_TOKEN_MODE": "real-draft-token",
}
_STATUS: dict[Agreement, Status] = {
    "match": Status.PASS,
    "mismatch": Status.FAIL,
    "unsure": Status.JUDGEMENT,
    "no_curve": Status.JUDGEMENT,
}


def decide(evidence: Evidence) -> Outcome:
    said = [one for point in submitted_points(evidence) for one in _judge(evidence, point)]
    said = with_history(evidence, said, lambda point: _judge(evidence, point))
    findings = told(said, evidence.snapshot.head)
    if not findings:
        return Outcome(status=Status.NOT_APPLICABLE, summary="no agentic speculative configuration is submitted")
    return outcome(findings, _summary(findings))


def _judge(evidence: Evidence, point: LaunchPoint) -> Iterator[Said]:
    if not (point.may_speculate or (point.agentic and point.external)):
        return
    if point.agentic:
        yield from _judge_agentic(evidence, point)
    else:
        yield from _judge_other(evidence, point)


# -- agentic points -----------------------------------------------------------------------------------------------


def _judge_agentic(evidence: Evidence, point: LaunchPoint) -> Iterator[Said]:
    launch = point.launch
    drafts = drafting(launch.generating)
    if not drafts and unread(launch) is not None:
        yield unreadable(point, "its acceptance cannot be verified")
    elif not drafts and point.untold:
        yield doubtful(point)
    for draft in drafts:
        yield from _judge_draft(evidence, point, draft)
        if draft.speculation.synthetic and (reasons := _untold(point)):
            yield _said(point, draft, Status.UNVERIFIED, f"another acceptance length may follow: {reasons}.")
    if drafts and point.evaluated:
        yield from _judge_evaluation(point)


def _judge_draft(evidence: Evidence, point: LaunchPoint, draft: Drafting) -> Iterator[Said]:
    spec, command = draft.speculation, draft.command
    if not command.complete:
        reason = command.unknowns.get("", "the script was not evaluated to its end")
        yield _said(point, draft, Status.UNVERIFIED, f"its acceptance cannot be verified: {sentence(reason)}")
    elif spec.synthetic is False:
        yield _real_acceptance(evidence, point, draft)
    elif spec.acceptance_length is None:
        text = f"its acceptance length cannot be evaluated: {_reasons(spec)}."
        yield _said(point, draft, Status.UNVERIFIED, text)
    elif spec.level is None:
        text = f"the draft length behind its {spec.acceptance_length:g} cannot be evaluated: {_reasons(spec)}."
        yield _said(point, draft, Status.UNVERIFIED, text)
    else:
        yield from _unusual(point, draft)
        yield _held_to_curve(evidence, point, draft, _pin(point, draft, spec.level, spec.acceptance_length))


def _real_acceptance(evidence: Evidence, point: LaunchPoint, draft: Drafting) -> Said:
    """A point that runs the draft's real acceptance, or seems to."""
    if reasons := _untold(point):
        text = f"nothing that was read pins its acceptance length, but {reasons}."
        return _said(point, draft, Status.UNVERIFIED, text)
    doubt = next((problem.message for problem in point.launch.problems if problem.rule == "launcher"), None)
    if doubt is not None:
        return _said(point, draft, Status.UNVERIFIED, f"it pins no acceptance length, but {sentence(doubt)}")
    if evidence.policy.layout.root:
        # In the newest layout the repository's resolver may fill the length in when it launches.
        text = "its recipe holds no acceptance length; look at how its launch fills one in."
        return _said(point, draft, Status.UNVERIFIED, text)
    half = next((knob.name for knob in draft.speculation.knobs if "synthetic" in knob.name), None)
    text = f"it speculates ({_drafts(draft.speculation)}) with real acceptance; the curve's must be simulated."
    if half is not None:
        text = f"{half} is set without the synthetic rejection_sample_method, so its acceptance is real."
    elif _ASKED in point.settings:
        launchers = ", ".join(file.path for file in point.files if file.role == "launcher" and file.path)
        text = (
            f"{_ASKED}={point.settings[_ASKED]} has no effect ({launchers or 'no launcher'}): its acceptance is real."
        )
    return _said(point, draft, Status.FAIL, text, expected="simulated acceptance", actual="real acceptance")


def _unusual(point: LaunchPoint, draft: Drafting) -> Iterator[Said]:
    """Ways of simulating that the rule does not name."""
    names = {knob.name.rpartition(".")[2] for knob in draft.speculation.knobs}
    if draft.command.engine == "vllm" and "synthetic_acceptance_length" not in names:
        text = "it prescribes an acceptance rate, not the length that the rule names."
        yield _said(point, draft, Status.JUDGEMENT, text)
    if draft.command.engine == "sglang":
        for name, usual in _SGLANG_USUAL.items():
            value = draft.command.env.get(name)
            if value != usual:
                text = f"{name} is {value or 'not set'}, normally {usual}: is the simulated mean still the pinned one?"
                yield _said(point, draft, Status.JUDGEMENT, text)


def _pin(point: LaunchPoint, draft: Drafting, level: int, length: float) -> Pin:
    spec = draft.speculation
    recipe = point.launch.recipe
    client = recipe.setting("benchmark.env") if recipe is not None else None
    env = {str(name): str(value) for name, value in client.items()} if isinstance(client, dict) else {}
    # vLLM drafts greedily where its configuration says nothing.
    sampling = spec.sample_method or ("greedy" if draft.command.engine == "vllm" else None)
    return Pin(
        prefix=point.entry.model_prefix,
        method=spec.method,
        level=level,
        length=length,
        draft_model=spec.draft_model or "",
        sampling=sampling,
        modes=tuple(sorted({signal.mode for signal in thinking_signals(draft.command, env)}, reverse=True)),
    )


def _held_to_curve(evidence: Evidence, point: LaunchPoint, draft: Drafting, pin: Pin) -> Said:
    golden = evidence.policy.golden
    pinned = f"acceptance length {pin.length:g} with {pin.level} draft tokens ({_drafts(draft.speculation)})"
    if golden.value is None:
        return _said(point, draft, Status.UNVERIFIED, f"{pinned} cannot be compared: {sentence(golden.reason)}")
    found = compare(pin, golden.value)
    status, rest = _STATUS[found.agreement], found.reason
    if found.agreement == "no_curve":
        status, rest = _sourced(evidence, found)
    elif found.agreement == "match" and not pin.modes:
        rest = f"{rest} Nothing sets the thinking mode; it is assumed on."
    one = _said(
        point,
        draft,
        status,
        f"{pinned}: {rest}",
        expected=found.expected or None,
        actual=f"{pin.length:g} ({pin.level} draft tokens)",
    )
    return msgspec.structs.replace(one, url=_curve_url(evidence, found, pin.level))


def _sourced(evidence: Evidence, found: Comparison) -> tuple[Status, str]:
    """Without a curve the detail section must say where the value comes from."""
    if evidence.sign_off is None:
        return Status.JUDGEMENT, f"{found.reason} The detail section must say where the value comes from."
    if _SOURCE.search(evidence.sign_off.detail):
        return Status.JUDGEMENT, f"{found.reason} The detail section speaks of it: is it the source of the value?"
    return Status.FAIL, f"{found.reason} The detail section does not say where the value comes from."


def _curve_url(evidence: Evidence, found: Comparison, level: int) -> str | None:
    if not found.cells:
        return None
    curve, _ = found.cells[0]
    line = curve.lines.get(level, curve.line)
    return evidence.snapshot.ref.blob_url(evidence.policy.revision, curve.path, line)


def _judge_evaluation(point: LaunchPoint) -> Iterator[Said]:
    """An evaluation should verify its drafts: simulated acceptance commits whatever was drafted."""
    for draft in drafting(point.evaluation.generating):
        if draft.speculation.synthetic:
            text = "its evaluation simulates acceptance too, so that its score is not one of verified tokens"
            yield Said(point=point, status=Status.WARN, text=text, names=(draft.command.path,))


# -- other points -------------------------------------------------------------------------------------------------


def _judge_other(evidence: Evidence, point: LaunchPoint) -> Iterator[Said]:
    """A point that is measured with real traffic, and so must run real acceptance."""
    launch = point.launch
    drafts = [draft for draft in drafting(launch.workers) if draft.speculation.synthetic is not False]
    simulating = next((draft for draft in drafts if draft.speculation.synthetic), None)
    if simulating is not None or point.settings.get(_ASKED, "").strip().lower() == "true":
        yield _forbidden(evidence, point, launch, simulating)
    elif drafts and (not drafts[0].speculation.method or point.reads(_KNOBS)):
        text = f"whether it simulates acceptance cannot be evaluated: {_reasons(drafts[0].speculation)}."
        yield _said(point, drafts[0], Status.UNVERIFIED, text)
    elif reasons := _untold(point):
        text = f"whether it simulates acceptance is not known: {reasons}."
        yield Said(point=point, status=Status.UNVERIFIED, text=text, path=launch.script)
    elif point.labelled and unread(launch) is not None:
        yield unreadable(point, "whether it simulates acceptance cannot be verified")


def _forbidden(evidence: Evidence, point: LaunchPoint, launch: Launch, draft: Drafting | None) -> Said:
    """Simulated acceptance where real traffic is measured."""
    how = f"{_ASKED} asks for it"
    if draft is not None and draft.speculation.acceptance_length is not None:
        how = f"length {draft.speculation.acceptance_length:g}"
    text = f"it is not agentic and simulates acceptance ({how}), and no sanctioned exception is documented."
    status = Status.FAIL
    if evidence.sign_off is not None and _EXCEPTION.search(evidence.sign_off.detail):
        text = f"it is not agentic and simulates acceptance ({how}): is the exception in the detail section sanctioned?"
        status = Status.JUDGEMENT
    server = draft.command if draft is not None else next(iter(launch.workers), None)
    return Said(
        point=point,
        status=status,
        text=text,
        path=server.path if server else None,
        line=server.line if server else None,
        expected="real acceptance",
        actual="simulated acceptance",
    )


# -- words --------------------------------------------------------------------------------------------------------


def _said(
    point: LaunchPoint,
    draft: Drafting,
    status: Status,
    text: str,
    *,
    expected: str | None = None,
    actual: str | None = None,
) -> Said:
    """A finding at the line of the knob that prescribes acceptance, else of the server."""
    knobs = draft.speculation.knobs
    line = next((knob.line for knob in knobs if knob.line and _KNOBS.search(knob.name.encode())), draft.command.line)
    return Said(
        point=point,
        status=status,
        text=text,
        path=draft.command.path,
        line=line,
        expected=expected,
        actual=actual,
    )


def _drafts(spec: Speculation) -> str:
    method = spec.method or "unknown method"
    return f"{method}, draft {spec.draft_model}" if spec.draft_model else method


def _untold(point: LaunchPoint) -> str:
    """Why its servers may be told more than was read; empty where they are not."""
    return "; ".join(dict.fromkeys(doubt.reason for doubt in point.untold))


def _reasons(spec: Speculation) -> str:
    return "; ".join(spec.unknown) or "nothing tells it"


def _summary(findings: tuple[Finding, ...]) -> str:
    for status in (Status.FAIL, Status.UNVERIFIED, Status.JUDGEMENT, Status.WARN):
        if found := next((finding for finding in findings if finding.status is status), None):
            return found.message
    return "every agentic speculative point simulates its golden acceptance length"


CHECK = Check(
    name="golden_al",
    title="Agentic speculative configs use the golden acceptance length",
    pane="diff",
    explanation=EXPLANATION,
    decide=decide,
)
