"""What every submitted config key starts, point by point, and how findings about many points are told as few."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, cast

import msgspec

from reviewer_tui.checks.check import Evidence
from reviewer_tui.checks.patches.definitions import sets
from reviewer_tui.checks.scope import submitted
from reviewer_tui.checks.server_words import outside_words, substitutes
from reviewer_tui.launch.environment import environment_of, settings_of
from reviewer_tui.launch.points import Launch, launch_of
from reviewer_tui.launch.serve_command import ServeCommand
from reviewer_tui.launch.speculation import Speculation, speculation_of
from reviewer_tui.launch.text import Text, concat, unknown
from reviewer_tui.model.config import Entry
from reviewer_tui.model.finding import Finding, Status
from reviewer_tui.model.tree import Tree, read_text
from reviewer_tui.sweeps.expand import ExpandedRow
from reviewer_tui.sweeps.points import points_of
from reviewer_tui.sweeps.resolve import ResolvedFile
from reviewer_tui.sweeps.rows import arm_label, canonical, concurrencies, is_agentic, is_multinode
from reviewer_tui.sweeps.serving import Serving, serving_at

_SPECULATIVE_NAME = re.compile(r"(?:^|[-_/.])(?:mtp(?!0)\d*|eagle\d*|dspark|draft)(?:[-_/.]|$)", re.I)
_SPECULATION = re.compile(
    rb"speculative|spec-decode|spec_decode|--method|max_draft_len|num_nextn_predict_layers|MTP_SIZE", re.I
)
# Flags and variables that speak about speculation, drafts, their precision, or thinking.
_OF_INTEREST = re.compile(r"spec|draft|method|mtp|nextn|dtype|quant|chat|think|simulate|accept", re.I)
# A file of further options of a server.
_OPTIONS_FILE = re.compile(rb"(?<![\w-])--config[ =\"']")
_OF_THE_POINT = frozenset({"conc", "exp-name"})
_MOST_ARMS_NAMED = 3
_MOST_NAMES = 3


class Untold(msgspec.Struct, frozen=True, kw_only=True):
    """Why a server may be told more than what is listed: a clause such as `value of X may add arguments`, and the lines
    (from 1, inclusive) of the command or text that brings it. `from_outside`: a variable that nothing sets, which was
    evaluated as empty."""

    reason: str
    path: str
    line: int
    end_line: int
    from_outside: bool = False


class Drafting(msgspec.Struct, frozen=True):
    """A server that speculates, or may do so, and how."""

    command: ServeCommand
    speculation: Speculation


class LaunchPoint:
    """One row of a submitted key (a concurrency, or the list that one job runs) and what it starts.

    Launches are worked out when they are first asked for, so a check pays only for the points it looks at.
    """

    def __init__(self, entry: Entry, expanded: ExpandedRow, evaluated: bool, launches: Launches) -> None:
        self.entry, self.expanded, self.evaluated = entry, expanded, evaluated
        self.key = canonical([entry.key, expanded.row])
        self._launches = launches

    @property
    def row(self) -> dict[str, Any]:
        """The generator's row."""
        return self.expanded.row

    @property
    def agentic(self) -> bool:
        return is_agentic(self.row)

    @property
    def arm(self) -> str:
        """The arm in a few words (`8k1k tp2 ep2 mtp`)."""
        return arm_label(self.row)

    @property
    def labelled(self) -> bool:
        """Whether the config calls this row speculative, by its field or by the names of its key and files."""
        label = self.row.get("spec-decoding")
        if label not in (None, "none"):
            return True
        return any(_SPECULATIVE_NAME.search(name) for name in (self.entry.key, *(file.wanted for file in self.files)))

    @property
    def settings(self) -> dict[str, str]:
        """The workers' additional settings whose values are plain text."""
        found: dict[str, str] = {}
        for role in ("prefill", "decode"):
            worker = self.row.get(role)
            listed = worker.get("additional-settings") if isinstance(worker, dict) else None
            found.update({name: text for name, text in settings_of(listed).items() if isinstance(text, str)})
        return found

    @property
    def files(self) -> tuple[ResolvedFile, ...]:
        """The launchers, scripts, recipes and helpers behind the row."""
        return self._launches.files(self)

    @property
    def external(self) -> bool:
        """Whether a script or recipe of the row is not in this repository."""
        return any(file.path is None for file in self.files if file.role in ("script", "recipe"))

    @property
    def launch(self) -> Launch:
        """What the row's benchmark starts."""
        return self._launches.launch(self, eval_only=False)

    @property
    def evaluation(self) -> Launch:
        """What an evaluation of the row starts."""
        return self._launches.launch(self, eval_only=True)

    @property
    def untold(self) -> tuple[Untold, ...]:
        """Why the servers may be told more than is listed; nothing may be concluded then from what is not there."""
        return self._launches.untold(self)

    @property
    def siblings(self) -> tuple[LaunchPoint, ...]:
        """All rows of the same key, this one included."""
        return self._launches.of(self.entry)

    @property
    def may_speculate(self) -> bool:
        """Whether the row is called speculative, any file behind it speaks of speculation, or its script leaves open
        what a server is told. False is certain as far as the repository holds the files."""
        return self.labelled or self._launches.mention(self, _SPECULATION) or self._launches.leaves_open(self)

    def reads(self, pattern: re.Pattern[bytes]) -> bool:
        """Whether any file that the launch read matches a pattern."""
        return any(self._launches.text_matches(path, pattern) for path in self.launch.sources)

    @property
    def source_texts(self) -> tuple[tuple[str, str], ...]:
        """The scripts that the launch read, with their texts."""
        paths = (path for path in self.launch.sources if path.endswith((".sh", ".slurm")))
        return tuple((path, self._launches.text(path)) for path in paths)

    def script_line(self, *texts: str) -> int | None:
        """The first line (from 1) of the row's script that holds one of these texts, the first text first; comments do
        not count."""
        return self._launches.line_of(self.launch.script, texts)


class Launches:
    """The launches of one revision, each worked out once for all checks."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._serving: Serving = serving_at(tree)
        self._points: dict[str, tuple[LaunchPoint, ...]] = {}
        self._launched: dict[tuple[str, bytes, bool], Launch] = {}
        self._known: dict[tuple[bytes, bool], Launch] = {}
        self._shared: dict[tuple[bytes, bytes, int, bool], Launch | None] = {}
        self._mentioned: dict[tuple[str, bytes], bool] = {}
        self._outside: dict[tuple[str, tuple[ResolvedFile, ...]], tuple[Untold, ...]] = {}

    def of(self, entry: Entry) -> tuple[LaunchPoint, ...]:
        """The benchmark rows of an entry of this revision."""
        if entry.key not in self._points:
            rows, _ = self._serving.of(entry)
            evaluated = {canonical(p.row) for p in points_of(rows, self._serving.rules) if p.evaluated}
            self._points[entry.key] = tuple(
                LaunchPoint(entry, row, canonical(row.row) in evaluated, self) for row in rows
            )
        return self._points[entry.key]

    def files(self, point: LaunchPoint) -> tuple[ResolvedFile, ...]:
        return self._serving.resolver.files(point.row, point.entry)

    def launch(self, point: LaunchPoint, *, eval_only: bool) -> Launch:
        """What a row starts."""
        place = point.key, eval_only
        if place not in self._known:
            self._known[place] = self._shared_or_own(point, eval_only)
        return self._known[place]

    def _shared_or_own(self, point: LaunchPoint, eval_only: bool) -> Launch:
        """What a row starts. What a recipe serves does not depend on the concurrency; of a script it is tried whether
        its rows can share one launch, in which all that they differ in is left open."""
        files = self.files(point)
        if any(file.role == "recipe" for file in files):
            return self._once(_without_concurrency(point.row), point, eval_only)
        for like in self._alike(point):
            shared = self._for_all(like, eval_only)
            if shared is not None:
                return shared
        return self._once(point.key, point, eval_only)

    def _once(self, same: bytes, point: LaunchPoint, eval_only: bool) -> Launch:
        place = point.entry.key, same, eval_only
        if place not in self._launched:
            self._launched[place] = self._start(point, eval_only)
        return self._launched[place]

    def _start(self, point: LaunchPoint, eval_only: bool, extra: dict[str, Text] | None = None) -> Launch:
        layout, files = self._serving.layout, self.files(point)
        return launch_of(self._tree, layout, point.row, files, eval_only=eval_only, extra=extra)

    def _alike(self, point: LaunchPoint) -> Iterator[tuple[LaunchPoint, ...]]:
        """Rows of the key that may start the same as this one, the most first: those that run the same files on one
        node, then those that differ in the concurrency alone. A job of several nodes hangs on its sizes altogether."""
        files, label, arm = self.files(point), point.row.get("spec-decoding"), _without_concurrency(point.row)
        same = [other for other in self.of(point.entry) if other.row.get("spec-decoding") == label]
        one_node = () if is_multinode(point.row) else tuple(other for other in same if self.files(other) == files)
        one_arm = tuple(other for other in same if _without_concurrency(other.row) == arm)
        for rows in dict.fromkeys((one_node, one_arm)):
            if len(rows) > 1:
                yield rows

    def _for_all(self, points: tuple[LaunchPoint, ...], eval_only: bool) -> Launch | None:
        """One launch for all of these rows; None where anything that it says about speculation, drafts or the client
        hangs on what the rows differ in."""
        place = points[0].key, points[-1].key, len(points), eval_only
        if place not in self._shared:
            launch = self._start(points[0], eval_only, _left_open(points))
            self._shared[place] = launch if _is_settled(launch) else None
        return self._shared[place]

    def untold(self, point: LaunchPoint) -> tuple[Untold, ...]:
        launch = point.launch
        found = [doubt for worker in launch.workers for doubt in _open_arguments(worker)]
        return tuple(dict.fromkeys((*self._from_outside(point), *found)))

    def leaves_open(self, point: LaunchPoint) -> bool:
        """Whether the texts behind a row alone show that a server is told something which no file of it tells."""
        scripts = (file.path for file in self.files(point) if file.role == "script" and file.path is not None)
        return (
            self.mention(point, _OPTIONS_FILE)
            or bool(self._from_outside(point))
            or any(substitutes(path, read_text(self._tree, path) or "") for path in scripts)
        )

    def _from_outside(self, point: LaunchPoint) -> tuple[Untold, ...]:
        """Variables among the words of serve commands that neither the script, nor its helpers, launcher or row set."""
        files = self.files(point)
        known = environment_of(point.row)
        found: list[Untold] = []
        for path in (file.path for file in files if file.role == "script" and file.path is not None):
            place = path, files
            if place not in self._outside:
                self._outside[place] = tuple(self._outside_words(path, files))
            found += (word for word in self._outside[place] if word.reason not in known)
        return tuple(
            msgspec.structs.replace(word, reason=f"nothing in the repository sets {word.reason}") for word in found
        )

    def _outside_words(self, path: str, files: tuple[ResolvedFile, ...]) -> Iterator[Untold]:
        """Those of one script; the reasons are their names."""
        words = tuple(outside_words(path, read_text(self._tree, path) or ""))
        others = [file.path for file in files if file.path is not None and file.path != path] if words else []
        texts = [read_text(self._tree, other) or "" for other in others]
        for word in words:
            if not any(sets(text, word.name) for text in texts):
                yield Untold(reason=word.name, path=path, line=word.line, end_line=word.end_line, from_outside=True)

    def mention(self, point: LaunchPoint, pattern: re.Pattern[bytes]) -> bool:
        paths = (file.path for file in self.files(point) if file.path is not None and file.role != "launcher")
        return any(self.text_matches(path, pattern) for path in paths)

    def line_of(self, path: str | None, texts: Iterable[str]) -> int | None:
        lines = (read_text(self._tree, path) or "").split("\n") if path else []
        code = [(number, line) for number, line in enumerate(lines, 1) if not line.lstrip().startswith("#")]
        found = (number for text in texts for number, line in code if text in line)
        return next(found, None)

    def text(self, path: str) -> str:
        return read_text(self._tree, path) or ""

    def text_matches(self, path: str, pattern: re.Pattern[bytes]) -> bool:
        place = path, pattern.pattern
        if place not in self._mentioned:
            self._mentioned[place] = bool(pattern.search(self._tree.read(path) or b""))
        return self._mentioned[place]


def _open_arguments(worker: ServeCommand) -> Iterator[Untold]:
    if worker.tainted is not None:
        found = worker.tainted
        line = found.line or worker.line
        reason = f"{found.reason} may set variables of the server"
        yield Untold(reason=reason, path=found.path or worker.path, line=line, end_line=line)
    for found in worker.open:
        line = found.line or worker.line
        reason = f"{found.reason} may add arguments"
        yield Untold(reason=reason, path=found.path or worker.path, line=line, end_line=line)


def _without_concurrency(row: dict[str, Any]) -> bytes:
    return canonical({name: value for name, value in row.items() if name not in _OF_THE_POINT})


def _left_open(points: Sequence[LaunchPoint]) -> dict[str, Text]:
    """The variables in which rows differ: what their texts begin with, then something unknown."""
    environments = [environment_of(point.row) for point in points]
    found: dict[str, Text] = {}
    for name in dict.fromkeys(name for environment in environments for name in environment):
        texts = dict.fromkeys(environment.get(name, "") for environment in environments)
        if len(texts) > 1:
            known = [text for text in texts if isinstance(text, str)]
            start = _common_start(known) if len(known) == len(texts) else ""
            found[name] = concat((start, unknown(f"value of {name}", nonempty=start not in known)))
    return found


def _common_start(texts: Sequence[str]) -> str:
    first, last = min(texts), max(texts)
    length = next((n for n, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    return first[:length]


def _is_settled(launch: Launch) -> bool:
    """Whether everything that a launch says about speculation, drafts and its client is known."""
    runs = [run for run in launch.clients if run.kind != "eval"]
    chat = all(run.chat_template for run in runs)
    return (
        bool(launch.workers)
        and all(
            worker.complete
            and not worker.conditions
            and not worker.arguments.open
            and not any(_OF_INTEREST.search(name) for name in worker.unknowns)
            for worker in launch.workers
        )
        and (chat or all(run.chat_template is not None and not run.conditions for run in runs))
    )


def launches_at(tree: Tree) -> Launches:
    """The launches of a revision; kept for the trees of the review at hand, which all checks share."""
    return _kept(cast(Hashable, tree))


@lru_cache(maxsize=4)
def _kept(tree: Any) -> Launches:
    return Launches(tree)


def submitted_points(evidence: Evidence) -> Iterator[LaunchPoint]:
    """Every row of every submitted key at head."""
    launches = launches_at(evidence.trees.head)
    for change in submitted(evidence):
        if change.new is not None:
            yield from launches.of(change.new)


def drafting(servers: Iterable[ServeCommand]) -> tuple[Drafting, ...]:
    """Those of some servers that speculate, or may do so; the others certainly do not."""
    found = ((command, speculation_of(command)) for command in servers)
    return tuple(Drafting(command, spec) for command, spec in found if spec is not None)


def speculates(point: LaunchPoint) -> bool | None:
    """Whether a row speculates: as its servers say, or where these cannot be read, as the config calls it; None where
    neither tells."""
    if not point.may_speculate:
        return False
    launch = point.launch
    drafts = drafting(launch.generating)
    if not launch.workers or (drafts and not any(draft.speculation.method for draft in drafts)):
        return point.labelled or (None if launch.workers else False)
    if not drafts and point.untold:
        return point.labelled or None
    return bool(drafts)


def unread(launch: Launch) -> str | None:
    """Why nothing can be concluded from what a launch does not show; None where everything was read."""
    if launch.missing:
        return f"{', '.join(launch.missing)} is not in this repository"
    if not launch.workers:
        return launch.unknowns.get("", "no serve command was found")
    unfinished = next((worker for worker in launch.generating if not worker.complete), None)
    return None if unfinished is None else unfinished.unknowns.get("", "the script was not evaluated to its end")


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """What is found about one point, before equal findings of a key's points are told as one. `text` is the rest of a
    sentence that begins with the key and its points; `names` are put to its end, those of all points together; `line`
    is in `path` at the revision of the point."""

    point: LaunchPoint
    status: Status
    text: str
    names: tuple[str, ...] = ()
    path: str | None = None
    line: int | None = None
    url: str | None = None
    expected: str | None = None
    actual: str | None = None

    @property
    def same(self) -> tuple[object, ...]:
        """What is told as one finding, wherever it was found."""
        return self.point.entry.key, self.status, self.text, self.expected, self.actual


def with_history(
    evidence: Evidence, said: Iterable[Said], judge: Callable[[LaunchPoint], Iterable[Said]]
) -> list[Said]:
    """The same, where failures that the base had word for word say so. They fail all the same: a submitted key is run
    again. `judge` is asked about the former points of failing keys only."""
    result: list[Said] = []
    before: dict[str, set[str]] = {}
    for one in said:
        key = one.point.entry.key
        if one.status is Status.FAIL:
            if key not in before:
                former = (old for point in _former_points(evidence, key) for old in judge(point))
                before[key] = {old.text for old in former if old.status is Status.FAIL}
            if one.text in before[key]:
                one = msgspec.structs.replace(one, text=f"{one.text} The base had this already.")
        result.append(one)
    return result


def _former_points(evidence: Evidence, key: str) -> tuple[LaunchPoint, ...]:
    """The rows that a submitted key had at the base, under its former name where it was renamed."""
    entry = next((change.old for change in evidence.changes.keys if change.key == key), None)
    return () if entry is None else launches_at(evidence.trees.base).of(entry)


def told(said: Iterable[Said], commit: str) -> tuple[Finding, ...]:
    """One finding for each key and thing found, its points named, in the order in which they came up."""
    groups: dict[tuple[object, ...], list[Said]] = {}
    for one in said:
        groups.setdefault(one.same, []).append(one)
    return tuple(_finding(group, commit) for group in groups.values())


def _finding(group: list[Said], commit: str) -> Finding:
    first = group[0]
    rows = {canonical(one.point.row): one.point for one in group}
    whole = len(rows) == len({canonical(point.row) for point in first.point.siblings})
    where = "" if whole else f" ({named(rows.values())})"
    names = dict.fromkeys(name for one in group for name in one.names)
    places = dict.fromkeys(f"{one.path}:{one.line}" for one in group if one.path and one.line)
    message = f"{first.point.entry.key}{where}: {first.text}"
    message += f": {_listed(list(names))}." if names else ""
    message += f" Also {_listed(list(places)[1:])}." if len(places) > 1 else ""
    return Finding(
        status=first.status,
        message=message,
        path=first.path or first.point.entry.path,
        line=first.line if first.path else first.point.expanded.line,
        commit=commit,
        url=first.url,
        expected=first.expected,
        actual=first.actual,
    )


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST_NAMES
    return f"{', '.join(names[:_MOST_NAMES])}{f' and {more} more' if more > 0 else ''}"


def named(points: Iterable[LaunchPoint]) -> str:
    """Points by arm, the first arms in full: `agentic tp8 mtp c1 c4, …`."""
    arms: dict[str, list[str]] = {}
    for point in points:
        arms.setdefault(point.arm, []).extend(f"c{conc:g}" for conc in concurrencies(point.row))
    shown = [f"{arm} {' '.join(dict.fromkeys(concs))}" for arm, concs in list(arms.items())[:_MOST_ARMS_NAMED]]
    more = len(arms) - len(shown)
    return ", ".join((*shown, f"{more} more arms" if more > 1 else "one more arm") if more else shown)


def unreadable(point: LaunchPoint, what: str, otherwise: str = "nothing tells it") -> Said:
    """What cannot be verified because the files that would tell are not here, or could not be evaluated. `otherwise` is
    the reason where the launch was read."""
    if missing := point.launch.missing:
        text = f"{what}, because this repository does not hold what it runs"
        return Said(point=point, status=Status.UNVERIFIED, text=text, names=missing)
    text = f"{what}: {sentence(unread(point.launch) or otherwise)}"
    return Said(point=point, status=Status.UNVERIFIED, text=text, path=point.launch.script)


def doubtful(point: LaunchPoint) -> Said:
    """What is said where nothing tells whether a row speculates."""
    reasons = {reason for draft in drafting(point.launch.generating) for reason in draft.speculation.unknown}
    reasons |= {doubt.reason for doubt in point.untold}
    text = f"whether it speculates cannot be evaluated: {'; '.join(sorted(reasons))}."
    return Said(point=point, status=Status.UNVERIFIED, text=text, path=point.launch.script)


def sentence(text: str) -> str:
    """A text with a full stop at its end."""
    return text if text.endswith((".", "?", "!")) else f"{text}."
