"""Chat template: speculative configs are measured through the model's chat template."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer_tui.checks.check import Check, Evidence, Outcome, outcome
from reviewer_tui.checks.launches import (
    LaunchPoint,
    Said,
    doubtful,
    speculates,
    submitted_points,
    told,
    unread,
    unreadable,
    with_history,
)
from reviewer_tui.checks.replay import endpoints_named
from reviewer_tui.launch.serve_command import ClientRun
from reviewer_tui.model.finding import Finding, Status

EXPLANATION = """\
Decides, point by point, whether the benchmark client of a speculative configuration sends its prompts through the
model's chat template, so that drafts are accepted as in real traffic. A point counts as speculative by what its servers
run (draft tokens above zero); where these cannot be read, by what the config calls it.
Reads, at head: the entry, and the client's command in the benchmark script and what it sources, or the recipe's
`benchmark` block (`use_chat_template`). Of agentic replay, the endpoint that the command names, or the scripts where
no command could be evaluated.
Cannot know: recipes of other repositories (unverified), and what a client does whose template setting is not written
down, so that its own default decides (judgement)."""

# The function of the benchmark library that scripts call to run the client.
_CALL = "run_benchmark_serving"


def decide(evidence: Evidence) -> Outcome:
    said = with_history(evidence, [one for point in submitted_points(evidence) for one in _judge(point)], _judge)
    findings = told(said, evidence.snapshot.head)
    if not findings:
        return Outcome(status=Status.NOT_APPLICABLE, summary="no speculative configuration is submitted")
    return outcome(findings, _summary(findings))


def _judge(point: LaunchPoint) -> Iterator[Said]:
    speculative = speculates(point)
    if speculative is None:
        yield from _judge_doubtful(point)
    elif not speculative:
        return
    elif point.agentic:
        yield from _judge_replay(point)
    else:
        yield from _judge_client(point)


def _judge_client(point: LaunchPoint) -> Iterator[Said]:
    """The client of a fixed sequence length. Of several the ones count that certainly run."""
    clients = {(run.path, run.line, run.chat_template): run for run in point.launch.clients if run.kind == "fixed"}
    if not clients:
        yield unreadable(point, "whether its client uses the chat template cannot be verified", "it runs none")
    sure = [run for run in clients.values() if not run.conditions] or list(clients.values())
    if {run.chat_template for run in sure} == {True}:
        yield _client(point, sure[0], Status.PASS, f"its client uses the chat template ({sure[0].reason})")
        return
    for run in sure:
        if run.chat_template is False and not run.conditions:
            yield _client(point, run, Status.FAIL, f"its client sends raw completions ({run.reason or 'no template'})")
        elif run.chat_template is not True:
            why = run.reason or "whether this client runs depends on what only the machine tells"
            yield _client(point, run, Status.JUDGEMENT, f"does its client use the chat template? {why}")


def _judge_doubtful(point: LaunchPoint) -> Iterator[Said]:
    """A point that may speculate: whatever its client sends is right only if it goes through the template."""
    found = list(_judge_replay(point) if point.agentic else _judge_client(point))
    if any(one.status is not Status.PASS for one in found):
        yield doubtful(point)


def _client(point: LaunchPoint, run: ClientRun, status: Status, text: str) -> Said:
    """A finding about a client, at the place of the row's own script that calls it, if there is one."""
    called = point.script_line(*(text for text in (run.reason, _CALL) if text.startswith(("--", _CALL))))
    return Said(
        point=point,
        status=status,
        text=f"{text}.",
        path=point.launch.script if called else run.path,
        line=called or run.line,
        expected="prompts through the chat template",
        actual=run.reason or None,
    )


def _judge_replay(point: LaunchPoint) -> Iterator[Said]:
    """Agentic replay: chat requests, as the client's command says."""
    runs = [run for run in point.launch.clients if run.kind == "agentic"]
    raw = next((run for run in runs if run.chat_template is False), None)
    unsure = next((run for run in runs if run.chat_template is None), None)
    if point.external:
        yield unreadable(point, "whether its client sends chat requests cannot be verified")
    elif raw is not None:
        yield _client(point, raw, Status.FAIL, f"its replay sends no chat requests ({raw.reason})")
    elif unsure is not None:
        yield _client(point, unsure, Status.JUDGEMENT, f"does its replay send chat requests? {unsure.reason}")
    elif runs:
        yield _client(point, runs[0], Status.PASS, f"its replay sends chat requests ({runs[0].reason})")
    elif unread(point.launch) is not None:
        yield unreadable(point, "whether its client sends chat requests cannot be verified")
    elif endpoints_named(point.source_texts) == {True}:
        text = "its replay sends chat requests: its scripts name that endpoint on their way, and no other."
        yield Said(point=point, status=Status.PASS, text=text, path=point.launch.script)
    else:
        text = "does its replay send chat requests? No client that this program knows is run."
        yield Said(point=point, status=Status.JUDGEMENT, text=text, path=point.launch.script)


def _summary(findings: tuple[Finding, ...]) -> str:
    for status in (Status.FAIL, Status.UNVERIFIED, Status.JUDGEMENT):
        if found := next((finding for finding in findings if finding.status is status), None):
            return found.message
    return "every speculative point is measured through the chat template"


CHECK = Check(
    name="chat_template",
    title="Speculative configs benchmark through chat templates",
    pane="diff",
    explanation=EXPLANATION,
    decide=decide,
)
