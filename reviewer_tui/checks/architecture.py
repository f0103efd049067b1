"""Architecture: the model that is measured computes what its own config asks for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import msgspec

from reviewer_tui.checks.changed_text import ChangedText, changed_text
from reviewer_tui.checks.check import Check, Evidence, Outcome, outcome
from reviewer_tui.checks.launches import LaunchPoint, Untold, launches_at, sentence, unread
from reviewer_tui.checks.override_rules import EVENTS, TEXT_ONLY, Effect, option_of
from reviewer_tui.checks.overrides import (
    EventSetting,
    Override,
    event_settings,
    overrides_in,
    overrides_in_arguments,
    overrides_in_setting,
    overrides_in_values,
    roles_in,
)
from reviewer_tui.checks.scope import entry_changed
from reviewer_tui.checks.serving import Served, absence, can_serve, served
from reviewer_tui.launch.arguments import ENGINES_WITH_FLAGS
from reviewer_tui.launch.serve_command import ServeCommand
from reviewer_tui.launch.text import Unknown, unknowns
from reviewer_tui.model.finding import Finding, Status
from reviewer_tui.model.part import Part
from reviewer_tui.model.pull_request import ChangedFile
from reviewer_tui.model.tree import read_text
from reviewer_tui.policy.layout import discover_layout

EXPLANATION = """\
Decides whether a setting makes the model compute less than it ships: overrides of the model's config that cut layers,
experts, heads or the indexer, server arguments and variables that are named after such parts, whatever may write a
checkpoint's config.json, another checkpoint or revision than the entry names. Lower precision, positions, tokens and
sampling are fine. Where the policy forbids to switch publish_events_and_metrics off, every affected serving
file is searched for it: false fails, and where nothing sets it, for all kinds of workers or for one, the default of the
image decides, which is not known. Arguments that nothing in the repository tells (an unset variable, the output of a
program, a file of options that the script does not write) are not verified.
Reads: new lines of scripts, recipes, launchers and helpers; the files of submitted keys and what they start, point by
point; the check in the verifier's own words; the sign-off's detail section.
Cannot know: whether the model's own config ships a mode (then an override changes nothing), recipes of another
repository, and what an image does by default. An override that was there before is told apart."""

_STATUS: dict[Effect, Status] = {"reduces": Status.FAIL, "unclear": Status.JUDGEMENT, "none": Status.PASS}
_BAN = re.compile(rf"`?{EVENTS}:\s*false`?", re.I)
_MOST = 12
_READABLE = (".sh", ".slurm", ".py", ".yaml", ".yml", ".json")
# Where srt-slurm mounts the folder that a recipe's `model.path` names.
_MOUNTED_MODEL = "/model"
# Variables that tell scripts which checkpoint to serve.
_CHECKPOINTS = ("MODEL", "MODEL_PATH", "MODEL_NAME", "MODEL_DIR")
_OVERRIDE_BLOCK = re.compile(r"(?:zip_)?override_")


def decide(evidence: Evidence) -> Outcome:
    files = evidence.snapshot.files
    if files.value is None:
        reason = f"The changed files are not known: {files.reason}"
        return Outcome(status=Status.UNVERIFIED, summary=reason, findings=(_finding(Status.UNVERIFIED, reason),))
    review = _Review(evidence, files.value)
    findings = list(review.findings())
    if not files.complete:
        findings.append(_finding(Status.UNVERIFIED, f"Some changed files are not known: {files.reason}"))
    if not review.changed and not review.keys and not findings:
        return Outcome(status=Status.NOT_APPLICABLE, summary="no server argument is touched")
    if not findings or all(finding.status is Status.PASS for finding in findings):
        message = f"Nothing changes what the model computes ({review.scope})."
        findings.insert(0, _finding(Status.PASS, message))
    return outcome(tuple(findings), _summary(findings), tuple(review.pre_existing))


class _Review:
    """One pull request on its way through its files."""

    def __init__(self, evidence: Evidence, files: Sequence[ChangedFile]) -> None:
        self._evidence = evidence
        head = evidence.trees.head
        self._layout = discover_layout(head)
        self.changed = [f for f in files if f.status != "removed" and can_serve(f.path, self._layout, head)]
        self.keys = list(served(evidence))
        self.pre_existing: list[Finding] = []
        self._text_only = False
        self._texts: dict[str, Part[ChangedText]] = {file.path: changed_text(evidence, file) for file in self.changed}
        self._serving: dict[str, str] = {}
        for item in self.keys:
            for path in item.own:
                self._serving.setdefault(path, item.change.key)

    @property
    def scope(self) -> str:
        """What was read, in a few words."""
        files, keys = len(self._texts.keys() | self._serving.keys()), len(self.keys)
        return f"{_count(files, 'file')} read for {_count(keys, 'submitted key')}"

    def findings(self) -> Iterator[Finding]:
        for path, part in self._texts.items():
            if part.value is None and path.endswith(_READABLE):
                yield self._at(Status.JUDGEMENT, f"{part.reason} Look at what it sets.", path)
            elif part.value is None:
                continue
            else:
                yield from self._changed(part.value)
        for item in self.keys:
            yield from self._settings(item)
        yield from self._relied_on()
        yield from self._evaluated()
        yield from self._outside()
        check = self._evidence.policy.check("architecture")
        if check is not None and _BAN.search(check.text):
            yield from self._events()

    def _at(self, status: Status, message: str, path: str, line: int | None = None) -> Finding:
        return _finding(status, message, path, line, self._evidence.snapshot.head)

    # -- overrides ------------------------------------------------------------------------------------------------

    def _changed(self, text: ChangedText) -> Iterator[Finding]:
        """What the file sets now and did not before; what it set before goes apart."""
        new = self._new_overrides(text)
        for found in new[:_MOST]:
            yield self._judged(text.path, found)
        for found in overrides_in(text.path, text.text):
            if found not in new:
                self._before(text.path, found)
        for number, line in text.added_lines:
            if TEXT_ONLY.search(line) and not line.lstrip().startswith("#") and not self._text_only:
                self._text_only = True
                message = (
                    "language-model-only leaves out towers that a text benchmark never uses; upstream publishes it."
                )
                yield self._at(Status.PASS, message, text.path, number)

    @staticmethod
    def _new_overrides(text: ChangedText) -> list[Override]:
        """The overrides that the base did not have as often. Of equal ones those on new lines are new; on an old line
        stands one whose variable has another value now."""
        before = Counter(_what(found) for found in overrides_in(text.path, text.base or ""))
        new: list[Override] = []
        for found in sorted(overrides_in(text.path, text.text), key=lambda item: text.adds(item.line, item.end_line)):
            if before[_what(found)] > 0:
                before[_what(found)] -= 1
            else:
                new.append(found)
        return sorted(new, key=lambda item: item.line)

    def _judged(self, path: str, found: Override) -> Finding:
        status, ending = _STATUS[found.effect], ""
        if found.effect == "reduces":
            ending = " It must be a mode that the model ships."
            if self._explained(found):
                status, ending = Status.JUDGEMENT, " The detail section speaks of it: does the model ship this mode?"
        return self._at(status, f"{found}: {found.reason}.{ending}", path, found.line)

    def _settings(self, item: Served) -> Iterator[Finding]:
        """What new settings of an entry's workers change."""
        for found in (found for setting in item.new_settings for found in overrides_in_setting(setting)):
            yield self._judged(item.entry.path, msgspec.structs.replace(found, line=item.entry.line))
        for setting in item.new_settings:
            name, _, value = setting.partition("=")
            if name in _CHECKPOINTS and _last(value.strip("\"'")) != _last(item.entry.model):
                message = f"{item.change.key} sets {setting}, its entry names {item.entry.model}: the same checkpoint?"
                yield self._at(Status.JUDGEMENT, message, item.entry.path, item.entry.line)

    def _explained(self, found: Override) -> bool:
        detail = self._evidence.sign_off.detail if self._evidence.sign_off else ""
        name = found.field.rpartition(".")[2] or found.option.lstrip("-")
        return name in detail and re.search(r"\b(?:native|ships?|shipped|support)", detail, re.I) is not None

    def _before(self, path: str, found: Override) -> None:
        if found.effect != "none":
            message = f"{found}: {found.reason}; it was so before this pull request."
            self.pre_existing.append(self._at(_STATUS[found.effect], message, path, found.line))

    def _relied_on(self) -> Iterator[Finding]:
        """Overrides that submitted keys run with although the pull request does not touch them."""
        for path, key in self._serving.items():
            text = read_text(self._evidence.trees.head, path) or ""
            changed = self._texts[path].value if path in self._texts else None
            new = self._new_overrides(changed) if changed is not None else []
            for found in overrides_in(path, text):
                if found in new:
                    continue
                if changed is None:
                    self._before(path, found)
                if found.effect == "reduces":
                    message = (
                        f"{key} runs with {found}, which was there before: {found.reason} unless the model ships so."
                    )
                    yield self._at(Status.JUDGEMENT, message, path, found.line)

    def _outside(self) -> Iterator[Finding]:
        for item in self.keys:
            if entry_changed(item.change) and (new := item.brought_from_outside):
                yield self._at_entry(item, absence(item.change.key, new, self._layout))
            elif entry_changed(item.change) and not item.files:
                yield self._at_entry(item, f"{item.change.key}: what serves it was not found, so it was not read.")

    # -- what servers are told, evaluated -------------------------------------------------------------------------

    def _evaluated(self) -> Iterator[Finding]:
        """What new or changed scripts tell their servers beyond what their text shows: overrides that a file or a
        variable brings, and arguments that nothing in the repository tells."""
        for item in self.keys:
            if _rows_changed(item) or any(path in self._texts for path in item.own):
                points = launches_at(self._evidence.trees.head).of(item.entry)
                yield from self._not_known(item, points)
                yield from self._brought(item, points)
                yield from self._checkpoints(item, points)
                yield from self._unknown_options(item, points)

    def _not_known(self, item: Served, points: Sequence[LaunchPoint]) -> Iterator[Finding]:
        found = [doubt for point in points for doubt in point.untold if self._is_new(doubt)]
        told: dict[tuple[str, int | None, str], None]
        told = dict.fromkeys((doubt.path, doubt.line, doubt.reason) for doubt in found)
        told |= dict.fromkeys(reason for point in points for reason in _not_evaluated(point))
        for path, line, reason in told:
            message = f"{item.change.key}: what the server is told is not known in full: {reason}"
            yield self._at(Status.UNVERIFIED, sentence(message), path or item.entry.path, line)

    def _is_new(self, doubt: Untold) -> bool:
        """Whether new lines bring a doubt; of what was evaluated all counts, for new lines may lead there."""
        text = self._texts[doubt.path].value if doubt.path in self._texts else None
        return not doubt.from_outside or (text is not None and text.adds(doubt.line, doubt.end_line))

    def _brought(self, item: Served, points: Sequence[LaunchPoint]) -> Iterator[Finding]:
        """Overrides among the evaluated arguments that no text of the key's files shows."""
        head = self._evidence.trees.head
        shown = {_what(found) for path in item.paths() for found in overrides_in(path, read_text(head, path) or "")}
        new = {what: place for what, place in _evaluated_overrides(points) if what not in shown}
        if new and item.change.old is not None:
            before = launches_at(self._evidence.trees.base).of(item.change.old)
            new = {what: place for what, place in new.items() if what not in dict(_evaluated_overrides(before))}
        for found, path, line in new.values():
            yield self._judged(path, msgspec.structs.replace(found, line=line))

    def _checkpoints(self, item: Served, points: Sequence[LaunchPoint]) -> Iterator[Finding]:
        """Servers that serve another checkpoint than their row names, or one that is not known."""
        found = {_said(what): (what, worker) for point in points for what, worker in _other_checkpoints(point)}
        if found and item.change.old is not None:
            former = launches_at(self._evidence.trees.base).of(item.change.old)
            before = {_said(what) for point in former for what, _ in _other_checkpoints(point)}
            found = {name: place for name, place in found.items() if name not in before}
        for (checkpoint, named), worker in found.values():
            if isinstance(checkpoint, Unknown):
                message = f"{item.change.key}: which checkpoint is served is not known: {checkpoint}"
                yield self._at(Status.UNVERIFIED, sentence(message), worker.path, worker.line)
            else:
                message = f"{item.change.key} serves {checkpoint}, its entry names {named}: is it the same checkpoint?"
                yield self._at(Status.JUDGEMENT, message, worker.path, worker.line)

    def _unknown_options(self, item: Served, points: Sequence[LaunchPoint]) -> Iterator[Finding]:
        """Options that no known version of an engine has, so that nothing tells what they change."""
        found = {
            (worker.engine, flag): worker for worker in _workers(points) for flag in worker.arguments.unknown_flags
        }
        if found and item.change.old is not None:
            former = launches_at(self._evidence.trees.base).of(item.change.old)
            old = {(worker.engine, flag) for worker in _workers(former) for flag in worker.arguments.unknown_flags}
            found = {what: worker for what, worker in found.items() if what not in old}
        for (engine, flag), worker in found.items():
            # What is named after a part of the model is told as an override.
            if engine in ENGINES_WITH_FLAGS and option_of(flag.lstrip("-")) is None:
                message = (
                    f"{item.change.key}: no version of {engine} that this program knows has {flag}: what does it do?"
                )
                yield self._at(Status.JUDGEMENT, message, worker.path, worker.arguments.lines.get(flag, worker.line))

    def _at_entry(self, item: Served, message: str) -> Finding:
        entry = item.entry
        return self._at(Status.UNVERIFIED, message, entry.path, entry.line)

    # -- publish_events_and_metrics -------------------------------------------------------------------------------

    def _events(self) -> Iterator[Finding]:
        """The setting in every affected serving configuration, by the policy's ban on switching it off."""
        for item in self.keys:
            yield from self._events_of(item)
        own = {path for item in self.keys for path in item.paths()}
        for text in (part.value for part in self._texts.values() if part.value is not None):
            if text.path in own:
                continue
            for setting in event_settings(text.path, text.text):
                yield self._event(text.path, setting, text.path.rpartition("/")[2])
        if not self.keys and self.changed:
            path = self.changed[0].path
            message = f"Whom this serves is not plain, so whether {EVENTS} is switched off there is not known."
            yield self._at(Status.UNVERIFIED, message, path)

    def _events_of(self, item: Served) -> Iterator[Finding]:
        key, found = item.change.key, False
        selectors = {file.selector.partition("[")[0] for file in item.files if file.selector}
        for path in item.paths():
            text = read_text(self._evidence.trees.head, path) or ""
            covered: set[str] = set()
            for setting in event_settings(path, text):
                if selectors and _OVERRIDE_BLOCK.match(setting.block) and setting.block not in selectors:
                    continue
                found = True
                covered.add(setting.role)
                yield self._event(path, setting, key)
            open_roles = roles_in(path, text) - covered if covered and "" not in covered else frozenset()
            for role in sorted(open_roles):
                message = f"{key}: nothing sets {EVENTS} for its {role} workers, while others have it."
                yield self._at(Status.UNVERIFIED, message, path)
        unread = "; its files are not all in this repository" if item.outside else ""
        if not found or unread:
            message = (
                f"{key}: nothing that was read sets {EVENTS}{unread}. It is fine only where {item.entry.framework}"
                " has no such setting, or the pinned image has it on by default."
            )
            yield self._at_entry(item, message)

    def _event(self, path: str, setting: EventSetting, what: str) -> Finding:
        if setting.value is None:
            message = f"{what}: whether {EVENTS} is on here cannot be read."
            return self._at(Status.UNVERIFIED, message, path, setting.line)
        if setting.value:
            return self._at(Status.PASS, f"{what}: {EVENTS} is on.", path, setting.line)
        message = f"{what}: {EVENTS} is switched off, which the policy forbids."
        return self._at(Status.FAIL, message, path, setting.line)


def _rows_changed(item: Served) -> bool:
    """Whether an entry is new, or says something else than before but for its image."""
    old, new = item.change.old, item.entry
    return old is None or {**old.fields, "image": ""} != {**new.fields, "image": ""}


def _not_evaluated(point: LaunchPoint) -> Iterator[tuple[str, int | None, str]]:
    """Why what a point starts is not known at all. Files that the repository does not hold are told apart."""
    launch = point.launch
    if not launch.missing and (reason := unread(launch)):
        yield launch.script or "", None, reason


def _evaluated_overrides(
    points: Sequence[LaunchPoint],
) -> Iterator[tuple[tuple[str, str, str, str], tuple[Override, str, int]]]:
    """The overrides that servers of these points are started with: what each is, with its command's file and line."""
    for worker in _workers(points):
        for found in overrides_in_arguments(" ".join(str(word.text) for word in worker.arguments.words())):
            yield _what(found), (found, worker.path, worker.line)
        for found in overrides_in_values(worker.args):
            yield _what(found), (found, worker.path, worker.arguments.lines.get(found.option) or worker.line)


def _workers(points: Sequence[LaunchPoint]) -> Iterable[ServeCommand]:
    """The workers of these points, each once where points share a launch."""
    return {id(worker): worker for point in points for worker in point.launch.workers}.values()


def _other_checkpoints(point: LaunchPoint) -> Iterator[tuple[tuple[str | Unknown, str], ServeCommand]]:
    """What a point's servers serve where it does not go by the name of the row's checkpoint, with that name. Folders
    that a recipe's launcher mounts are named by the recipe alone."""
    named = str(point.row.get("model", ""))
    launch = point.launch
    for worker in launch.workers:
        found = worker.argument("--model-path", "--model")
        if launch.recipe is not None and (found is None or str(found).rstrip("/") == _MOUNTED_MODEL):
            found = worker.model_name
        if found is None and launch.recipe is None and not _has_a_model(worker):
            found = Unknown("the checkpoint of a server that names none", worker.line, worker.path)
        if isinstance(found, str | Unknown) and (isinstance(found, Unknown) or _last(found) != _last(named)):
            yield (found, named), worker


def _has_a_model(worker: ServeCommand) -> bool:
    """Whether a variable that is not known stands where a server's model does; a program's output may be anything."""
    found = (word.text for before, word in pairwise(worker.argv) if before.text == "serve")
    return any(piece.reason.startswith("value of ") for text in found for piece in unknowns(text))


def _said(what: tuple[str | Unknown, str]) -> tuple[str, str]:
    """The same wherever it stands: a checkpoint that is not known by what keeps it from being known."""
    return (what[0].reason if isinstance(what[0], Unknown) else what[0]), what[1]


def _last(checkpoint: str) -> str:
    """The name of a checkpoint without the folder or organisation that it is kept under."""
    return checkpoint.rstrip("/").rpartition("/")[2].lower()


def _what(found: Override) -> tuple[str, str, str, str]:
    option = option_of(found.option.lstrip("-"))
    return found.effect, option.name if option else found.option, found.field, found.value


def _finding(
    status: Status, message: str, path: str | None = None, line: int | None = None, commit: str | None = None
) -> Finding:
    return Finding(status=status, message=message, path=path, line=line, commit=commit)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _summary(findings: Sequence[Finding]) -> str:
    for status in (Status.FAIL, Status.UNVERIFIED, Status.JUDGEMENT):
        if found := next((finding for finding in findings if finding.status is status), None):
            return found.message
    return findings[0].message


CHECK = Check(
    name="architecture",
    title="The model's architecture is not changed",
    pane="diff",
    explanation=EXPLANATION,
    decide=decide,
)
