"""Reuse: somebody who may do so has told the merge to reuse a sweep of this pull request."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

import msgspec

from reviewer_tui.checks.check import Check, Evidence, Outcome
from reviewer_tui.checks.runs import SWEEP_EVENT, SWEEP_WORKFLOW, alone, by_the_letter
from reviewer_tui.model.finding import Finding, Status
from reviewer_tui.model.pull_request import Comment
from reviewer_tui.model.run import Run

EXPLANATION = """\
Decides whether the command that lets a merge reuse a sweep stands in the conversation, on a line of its own in an issue
comment (not in a review) of an owner, member or collaborator of the repository. The newest such comment counts, and the
last command in it. Which commands there are, and whether a missing one fails or only warns, is in the policy's text.
Reads: the reuse check in the verifier's own words, the conversation with its authors' associations, labels, runs.
Also names the run that the command pins and whether it can be reused; that is a remark, unless the run was not read:
then what would be reused is unverified.
Cannot know: a membership that the token which read the conversation cannot see. Such an author is unverified, no
failure."""

AUTHORISED = ("OWNER", "MEMBER", "COLLABORATOR")
"""Associations whose commands count (`find_reusable_sweep_run.py`)."""

OLDER, NEWER = "/reuse-sweep-run", "/use"

# As the repository's scripts read them, one line at a time: the older command's number may stand below it as long as
# it is the only command, the newer rule wants every number on its line (`find_reusable_sweep_run.py`, `reuse.py`).
_SUMMER = re.compile(rf"^[^\S\n]*{OLDER}(?:\s+(\d+))?[^\S\n]*$", re.MULTILINE)
_AUTUMN = re.compile(rf"^[^\S\n]*(?:{OLDER}(?:[^\S\r\n]+(\d+))?|{NEWER}[^\S\r\n]+(\d+))[^\S\n]*$", re.MULTILINE)
_LONGEST_RUN = 18
# A sweep with one of these labels cannot be reused (`find_reusable_sweep_run.py`).
_NOT_REUSABLE = ("evals-only", "agentx-fast")

# What is told about the sweep beside the command, the graver first.
_TOLD = (Status.UNVERIFIED, Status.WARN)


class ReuseRule(msgspec.Struct, frozen=True):
    """What the policy's text demands: the commands that it names, and how a missing one stands."""

    commands: tuple[str, ...]
    missing: Status


class Command(msgspec.Struct, frozen=True):
    """A reuse command: the comment it stands in, and the run it pins (None: the newest green one is found)."""

    comment: Comment
    run_id: int | None


def reuse_rule(text: str) -> ReuseRule:
    """The rule in the words of the reuse check. Where they name no command, its lack is the reviewer's to judge."""
    commands = tuple(name for name in (NEWER, OLDER) if re.search(rf"(?<![\w/-]){name}(?![\w-])", text))
    if not commands:
        return ReuseRule((), Status.JUDGEMENT)
    warns = re.search(r"\bWARN\b|\badvisory\b", text) is not None
    fails = re.search(r"\bFAIL\b", text) is not None
    # “WARN …, not a failing criterion” against “FAIL if no … comment is present”.
    return ReuseRule(commands, Status.WARN if warns else Status.FAIL if fails else Status.JUDGEMENT)


def commands_of(comments: Iterable[Comment], rule: ReuseRule) -> tuple[Command, ...]:
    """The command of each issue comment that has one, oldest comment first."""
    pattern = _AUTUMN if NEWER in rule.commands else _SUMMER
    said = sorted(comments, key=lambda comment: (comment.created_at, comment.id))
    found: list[Command] = []
    for comment in said:
        if comment.kind != "issue_comment":
            continue
        matches = list(pattern.finditer(comment.body))
        if matches:
            number = next((group for group in matches[-1].groups() if group), "")
            found.append(Command(comment, int(number) if 0 < len(number) <= _LONGEST_RUN else None))
    return tuple(found)


def decide(evidence: Evidence) -> Outcome:
    policy_check, conversation = evidence.policy.check("reuse"), evidence.snapshot.conversation
    rule = reuse_rule(f"{policy_check.title}\n{policy_check.text}" if policy_check else "")
    if conversation.value is None:
        return alone(Status.UNVERIFIED, conversation.reason, conversation.remedy)
    commands = commands_of(conversation.value, rule)
    authorised = [command for command in commands if command.comment.association in AUTHORISED]
    if authorised:
        return _posted(evidence, rule, authorised[-1])
    if commands:
        return _not_authorised(evidence, commands[-1].comment)
    if not conversation.complete:
        message = f"No reuse command is known, and the conversation is not complete: {conversation.reason}"
        return alone(Status.UNVERIFIED, message, conversation.remedy)
    named = " or ".join(f"`{name}`" for name in rule.commands) or f"`{OLDER}`"
    return alone(rule.missing, f"No authorized {named} command has been posted on this PR.")


def _posted(evidence: Evidence, rule: ReuseRule, command: Command) -> Outcome:
    comment = command.comment
    who = f"@{comment.author or '(deleted account)'} ({comment.association.lower()})"
    pinned = f"run {command.run_id}" if command.run_id is not None else "the newest green sweep"
    message = f"{who} told the merge to reuse {pinned}."
    # Without the policy's own words for the command its presence proves nothing by itself.
    status = Status.PASS if rule.commands else Status.JUDGEMENT
    first = Finding(status=status, message=message, url=comment.url or None)
    findings = (first, *_remarks(evidence, rule, command))
    remark = next((one for status in _TOLD for one in findings[1:] if one.status is status), None)
    summary = f"{message[:-1]}; {remark.message}" if remark else message
    return by_the_letter(findings, summary)


def _not_authorised(evidence: Evidence, comment: Comment) -> Outcome:
    """GitHub tells an author's association as the reading token sees it, and hides memberships from strangers."""
    viewer = f" (read as @{evidence.snapshot.viewer})" if evidence.snapshot.viewer else ""
    told = comment.association.lower() or "not told"
    message = (
        f"@{comment.author or '(deleted account)'} posted the reuse command, and the association of this author is "
        f"{told}{viewer}: whether it is an owner, member or collaborator is unverified with this token."
    )
    finding = Finding(status=Status.UNVERIFIED, message=message, url=comment.url or None)
    return Outcome(status=Status.UNVERIFIED, summary=message, findings=(finding,))


def _remarks(evidence: Evidence, rule: ReuseRule, command: Command) -> Iterator[Finding]:
    """What would keep the merge from reusing the sweep, beside the rule."""
    if command.run_id is not None:
        yield _pinned(evidence, command.run_id, command.comment.url)
    info = evidence.snapshot.info.value
    labels = [label for label in (info.labels if info else ()) if label in _NOT_REUSABLE]
    if labels and NEWER not in rule.commands:
        message = f"A sweep with the label {' and '.join(labels)} cannot be reused."
        yield Finding(status=Status.WARN, message=message, url=evidence.snapshot.ref.url)


def _pinned(evidence: Evidence, run_id: int, url: str) -> Finding:
    """The run that a command pins: whether it is a sweep of a commit in the pull request."""
    snapshot = evidence.snapshot
    run = next((run for run in snapshot.runs.value or () if run.id == run_id), None)
    if run is None:
        said = (f"Run {run_id} is not among the known runs.", snapshot.runs.reason, snapshot.runs.remedy)
        return Finding(status=Status.UNVERIFIED, message=" ".join(filter(None, said)), url=url or None)
    commits = {commit.sha for commit in snapshot.commits.value or ()}
    status, message = reusable(run, snapshot.head, commits, complete=snapshot.commits.complete)
    commit = run.head_sha if status is Status.PASS else None
    return Finding(status=status, message=message, url=run.url or None, commit=commit)


def reusable(run: Run, head: str, commits: Collection[str], *, complete: bool) -> tuple[Status, str]:
    """Whether a run is a sweep of a pull request with this head and these commits (`complete`: all of them), so that a
    merge can reuse it: `pass` or `warn`, and a sentence (`validate_reusable_run`)."""
    short = run.head_sha[:9]
    if run.event != SWEEP_EVENT or run.path.rpartition("/")[2] != SWEEP_WORKFLOW:
        return Status.WARN, f"Run {run.id} cannot be reused: it is a run of {run.path} by {run.event}."
    if run.head_sha == head:
        return Status.PASS, f"Run {run.id} swept this head."
    if run.head_sha in commits:
        return Status.PASS, f"Run {run.id} swept {short}, a commit of the pull request."
    if complete:
        why = f"it swept {short}, which is no longer a commit of the pull request"
        return Status.WARN, f"Run {run.id} cannot be reused: {why}."
    return Status.WARN, f"Run {run.id} swept {short}; whether that is a commit of the pull request is not known."


CHECK = Check(
    name="reuse",
    title="The reuse command is posted",
    pane="conversation",
    explanation=EXPLANATION,
    decide=decide,
)
