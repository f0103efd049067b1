"""Whether a change of scripts leaves a benchmark point as it was: both revisions' scripts are evaluated for the point,
and everything they would run is compared. Nothing is executed."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

from reviewer_tui.checks.changed_text import added_lines
from reviewer_tui.checks.shell_commands import read_script
from reviewer_tui.launch.command_line import Command
from reviewer_tui.launch.points import container_folders, external_names
from reviewer_tui.launch.serve_command import as_client, script_commands
from reviewer_tui.launch.shell import Evaluation
from reviewer_tui.launch.text import show, unknowns
from reviewer_tui.model.config import Entry
from reviewer_tui.model.tree import read_text
from reviewer_tui.sweeps.rows import Row, is_multinode
from reviewer_tui.sweeps.serving import Serving

Standing = Literal["same", "different", "unknown"]

_LONGEST = 90
_TRACES = re.compile(r"set(?: [-+][xv]+)+")


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """How a point stands between two revisions. `why` ends a sentence that begins with the point; `path` and `line`
    are at head."""

    standing: Standing
    why: str = ""
    path: str | None = None
    line: int | None = None


class Side:
    """One revision, and which lines of its scripts the other does not have."""

    def __init__(self, serving: Serving, changed: Mapping[str, frozenset[int]]) -> None:
        self.serving, self.changed = serving, changed
        self._unseen: dict[str, tuple[tuple[int, str], ...]] = {}

    def evaluate(self, row: Row, entry: Entry) -> Evaluation | None:
        """What the script of a single-node row runs; None where the row has no script."""
        if is_multinode(row):
            return None
        files = self.serving.resolver.files(row, entry)
        if any(file.role == "recipe" for file in files):
            return None
        path = next((file.path for file in files if file.role == "script" and file.path), None)
        if path is None:
            return None
        launchers = [file.path for file in files if file.role == "launcher" and file.path]
        return script_commands(
            self.serving.tree,
            path,
            row,
            eval_only=False,
            external=external_names(self.serving.tree, launchers),
            aliases=container_folders(self.serving.layout),
        ).evaluation

    def unseen(self, path: str) -> tuple[tuple[int, str], ...]:
        """Changed lines of a script whose effect no command shows, whether or not the row runs them: variables that
        the script itself never reads, which count only if its surroundings export them, and modes of the shell."""
        if path not in self._unseen:
            lines = self.changed.get(path, frozenset())
            text = read_text(self.serving.tree, path) or "" if lines else ""
            self._unseen[path] = tuple(_unseen_effects(text, path, lines))
        return self._unseen[path]

    def is_changed(self, path: str, line: int | None) -> bool:
        return line is not None and line in self.changed.get(path, frozenset())


def sides(base: Serving, head: Serving, paths: Mapping[str, str]) -> tuple[Side, Side]:
    """Both revisions, with the lines that only one has, of files by their path at head and at the base."""
    removed: dict[str, frozenset[int]] = {}
    added: dict[str, frozenset[int]] = {}
    for path, former in paths.items():
        old, new = read_text(base.tree, former), read_text(head.tree, path)
        added[path] = added_lines(old, new or "")
        removed[former] = added_lines(new, old) if old is not None else frozenset()
    return Side(base, removed), Side(head, added)


def compare(base: Side, head: Side, row: Row, old: Entry, new: Entry) -> Comparison:
    """How a row that both revisions have stands between them."""
    before, after = base.evaluate(row, old), head.evaluate(row, new)
    if before is None or after is None:
        return Comparison(standing="unknown", why="has no script that could be evaluated")
    for side, evaluation in ((base, before), (head, after)):
        if doubt := next(_doubts(side, evaluation), None):
            return doubt if side is head else msgspec.structs.replace(doubt, path=None, line=None)
    found = _difference(before, after)
    if found.standing == "same":
        unseen = (_unknown(path, line, what) for path in after.sources for line, what in head.unseen(path))
        gone = (_unknown(None, None, what) for path in before.sources for _, what in base.unseen(path))
        return next(itertools.chain(unseen, gone), found)
    return found


def _doubts(side: Side, evaluation: Evaluation) -> Iterator[Comparison]:
    """Why an evaluation does not tell all: it stopped, or changed lines hold something that it could not know."""
    if not evaluation.complete or evaluation.ended is not None:
        problem = evaluation.ended or next(iter(evaluation.problems), None)
        reason = problem.message if problem else "a part of its script was not evaluated"
        yield Comparison(standing="unknown", why=f"cannot be evaluated to its end: {reason}")
    for problem in evaluation.problems:
        if side.is_changed(problem.path, problem.line):
            yield _unknown(problem.path, problem.line, problem.message)
    for assumption in evaluation.assumptions:
        if side.is_changed(assumption.path, assumption.line):
            yield _unknown(assumption.path, assumption.line, f"whether {assumption.name} is set is not known")
    for command in evaluation.commands:
        for line in command.conditions:
            if side.is_changed(command.path, line):
                yield _unknown(command.path, line, "whether this condition holds is not known")
        for text in (*(argument.text for argument in command.argv), *command.environment.values(), command.folder):
            for piece in unknowns(text):
                if side.is_changed(piece.path, piece.line):
                    yield _unknown(piece.path, piece.line, f"{piece.reason} is not known")


def _unseen_effects(text: str, path: str, lines: frozenset[int]) -> Iterator[tuple[int, str]]:
    for command in read_script(text, path).commands if text else ():
        if command.line not in lines:
            continue
        if command.words[:1] in (("set",), ("unset",)) and not _TRACES.fullmatch(command.text):
            yield command.line, f"what `{command.text[:40]}` does to later commands is not known"
        for name, _ in () if command.words else command.assignments:
            if not _reads(text, name):
                yield command.line, f"nothing reads {name} here, and whether programs see it is not known"


def _reads(text: str, name: str) -> bool:
    """Whether a line of a script that is no comment uses a variable, or hands it on to programs."""
    used = re.compile(
        rf"\$\{{?[#!]?{re.escape(name)}\b|\(\([^\n]*\b{re.escape(name)}\b"
        rf"|^\s*(?:export|declare|typeset)\b[^\n]*\b{re.escape(name)}\b"
    )
    return any(used.search(line) for line in text.split("\n") if not line.lstrip().startswith("#"))


def _unknown(path: str | None, line: int | None, what: str) -> Comparison:
    return Comparison(standing="unknown", why=f"hangs on a changed line: {what}", path=path, line=line)


def _difference(before: Evaluation, after: Evaluation) -> Comparison:
    """The first command that is not the same, with what is other about it."""
    old, new = [_Told(command) for command in before.commands], [_Told(command) for command in after.commands]
    for former, now in zip(old, new, strict=False):
        if former.same != now.same:
            return Comparison(
                standing="different" if former.measures and now.measures else "unknown",
                why=_other(former, now),
                path=now.command.path,
                line=now.command.line,
            )
    if len(old) != len(new):
        extra = (new if len(new) > len(old) else old)[min(len(old), len(new))]
        verb = "also runs" if len(new) > len(old) else "no longer runs"
        why = f"{verb} {extra.shown}"
        standing: Standing = "different" if extra.measures else "unknown"
        at_head = len(new) > len(old)
        return Comparison(
            standing=standing,
            why=why,
            path=extra.command.path if at_head else None,
            line=extra.command.line if at_head else None,
        )
    return Comparison(standing="same")


class _Told:
    """A command as it is compared: its words, its environment, its folder and the files that the script wrote before
    it. Unknown pieces count by their reason, for the lines they come from are the same on both sides."""

    def __init__(self, command: Command) -> None:
        self.command = command
        self.words = tuple(show(argument.text) for argument in command.argv)
        self.environment = {name: show(value) for name, value in command.environment.items()}
        self.files = {name: None if text is None else show(text) for name, text in command.files.items()}
        self.folder = show(command.folder)
        self.same = self.words, self.environment, self.files, len(command.conditions), command.background, self.folder

    @property
    def measures(self) -> bool:
        """Whether the command serves or measures, so that any difference in it shows in the numbers."""
        return self.command.background or as_client(self.command) is not None

    @property
    def shown(self) -> str:
        text = " ".join(self.words)
        return f"`{text if len(text) <= _LONGEST else f'{text[: _LONGEST - 3]}...'}`"


def _other(former: _Told, now: _Told) -> str:
    if former.words != now.words:
        new = [word for word in now.words if word not in former.words]
        gone = [word for word in former.words if word not in now.words]
        if former.words[:1] == now.words[:1] and (new or gone):
            both = [part for part in (_listed(new, "now with"), _listed(gone, "without")) if part]
            return f"runs `{now.words[0][:40]}` {' and '.join(both)}"
        return f"runs {now.shown} where it ran {former.shown}"
    for name in {*former.environment, *now.environment}:
        if former.environment.get(name) != now.environment.get(name):
            value = now.environment.get(name)
            return f"runs {now.shown} with {name}={value}" if value is not None else f"runs {now.shown} without {name}"
    if former.folder != now.folder:
        return f"runs {now.shown} in {now.folder}"
    return f"runs {now.shown} with other files or conditions"


def _listed(words: list[str], how: str) -> str:
    return f"{how} {' '.join(words)[:_LONGEST]}" if words else ""
