"""`perf-changelog.yaml`: its entries with their lines, what a pull request adds to it, and every rule it must keep.

Two programs of the repository judge the file. Continuous integration (`validate_perf_changelog.py` with
`process_changelog.py`) compares with the tip of main and wants a final newline, no deleted line and entries that it can
expand: `stops_ci`. The merge helper (`prepare_perf_changelog_merge.py`) also wants the old bytes untouched, exact
separators and exact links.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Literal

import msgspec

from reviewer_tui.model.finding import Problem
from reviewer_tui.sweeps.document import read_document
from reviewer_tui.sweeps.lines import steps
from reviewer_tui.sweeps.rows import SCENARIOS

View = Literal["merge_base", "main"]

MAX_PATTERN = 300
MAX_PROBLEMS = 200

PLACEHOLDER_LINK = "XXX"

_ENTRY_START = "- config-keys:"
_LINK = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/pull/\d+")
_FIELDS = (
    "config-keys",
    "description",
    "pr-link",
    "evals-only",
    "all-evals",
    "append-only",
    "eval-min-prefill-ep",
    "scenario-type",
)
_FLAGS = ("evals-only", "all-evals", "append-only")
_CI_RULES = frozenset(
    {
        *(
            "no-final-newline",
            "deleted-line",
            "no-additions",
            "yaml",
            "no-list",
            "multi-document",
            "alias",
            "tag",
            "depth",
        ),
        *("entry-type", "missing-field", "unknown-field", "field-type", "append-only-with-evals", "append-only-mixed"),
        *("append-only-label", "no-such-key", "too-large", "alias-expansion", "key", "merge"),
    }
)


class ChangelogEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One entry. `line` and `end_line` are in the file it stands in (from 1); `unknown` are fields this program does
    not know, with their values as text; `fields` is the mapping as YAML gives it."""

    line: int
    end_line: int
    config_keys: tuple[str, ...]
    description: tuple[str, ...] = ()
    pr_link: str = ""
    evals_only: bool = False
    all_evals: bool = False
    append_only: bool = False
    eval_min_prefill_ep: int | None = None
    scenario_types: tuple[str, ...] = ()
    unknown: tuple[tuple[str, str], ...] = ()
    fields: dict[str, Any] = {}

    @property
    def scenarios(self) -> tuple[str, ...]:
        """The scenarios it runs, in the repository's order: those it names, or all."""
        return tuple(name for name in SCENARIOS if name in (self.scenario_types or SCENARIOS))


class ChangelogView(msgspec.Struct, frozen=True, kw_only=True):
    """What a pull request does to the changelog, seen against one base.

    `entries` are the added ones; `deleted` are lines of the base that are gone (line in the base, text); `corrections`
    are (line in the head, old link, new link) of history entries whose `pr-link` alone changed; `appended` says that
    the base's bytes are untouched and all additions stand at the end.
    """

    base: View
    path: str
    touched: bool
    appended: bool
    entries: tuple[ChangelogEntry, ...] = ()
    deleted: tuple[tuple[int, str], ...] = ()
    corrections: tuple[tuple[int, str, str], ...] = ()
    problems: tuple[Problem, ...] = ()


def stops_ci(problem: Problem) -> bool:
    """Whether continuous integration fails on this problem (seen against main's tip), not only the merge helper."""
    return problem.rule in _CI_RULES


def view_changelog(
    base: bytes | None,
    head: bytes | None,
    path: str,
    *,
    against: View = "merge_base",
    repository: str = "",
    pull_request: int | None = None,
) -> ChangelogView:
    """The changelog of the head against that of a base (None: the file is absent there).

    `repository` (`owner/name`) and `pull_request` are what a new entry's link must name; empty or None: not judged.
    """
    old, new = base or b"", head or b""
    if old == new:
        return ChangelogView(base=against, path=path, touched=False, appended=True)
    problems = _byte_faults(old, new, path)
    old_text, new_text = old.decode("utf-8", "replace"), new.decode("utf-8", "replace")
    if new.startswith(old) and (not old or old.endswith(b"\n")):
        added = list(_numbered(new_text[len(old_text) :], old_text.count("\n")))
        removed: list[tuple[int, str]] = []
    else:
        added, removed = _differences(old_text.split("\n"), new_text.split("\n"))
    deleted = [(number, line) for number, line in removed if line.strip()]
    corrections = _corrections(deleted, added)
    corrected = {line for line, _, _ in corrections}
    entries, faults = _read_added([(number, line) for number, line in added if number not in corrected], path)
    problems.extend(faults)
    for number, line in deleted:
        message = f"Line {number} of the base is gone: {line.strip()[:120]!r}. History must stay as it is."
        problems.append(Problem(path=path, message=message, rule="deleted-line", line=None))
    if not entries and not corrections and not any(line.strip() for _, line in added):
        problems.append(Problem(path=path, message="No entry is added.", rule="no-additions"))
    problems.extend(_history_faults(old, new, entries, corrections, path))
    problems.extend(_link_faults(entries, path, repository, pull_request))
    return ChangelogView(
        base=against,
        path=path,
        touched=True,
        appended=new.startswith(old),
        entries=tuple(entries),
        deleted=tuple(deleted),
        corrections=tuple(corrections),
        problems=tuple(problems[:MAX_PROBLEMS]),
    )


def parse_changelog(text: bytes | str, path: str) -> tuple[tuple[ChangelogEntry, ...], tuple[Problem, ...]]:
    """All entries of a changelog, and its faults as YAML and by the entries' schema."""
    decoded = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    entries, problems = _read_added(list(_numbered(decoded)), path)
    return tuple(entries), tuple(problems)


def _numbered(text: str, before: int = 0) -> Iterable[tuple[int, str]]:
    """Number (from 1, with `before` lines before the text) and text of each line, but for the empty rest at the end."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return enumerate(lines, before + 1)


def _differences(old: Sequence[str], new: Sequence[str]) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """The added and the removed lines with their numbers on their side: entry by entry, then line by line in those that
    are not equal."""
    mine, yours = _by_entry(old), _by_entry(new)
    added: list[tuple[int, str]] = []
    removed: list[tuple[int, str]] = []
    for kind, old_from, old_to, new_from, new_to in steps([part for _, part in mine], [part for _, part in yours]):
        if kind == "equal":
            continue
        old_lines = list(_lines_of(mine[old_from:old_to]))
        new_lines = list(_lines_of(yours[new_from:new_to]))
        old_start = mine[old_from][0] if old_from < len(mine) else len(old)
        new_start = yours[new_from][0] if new_from < len(yours) else len(new)
        for change, a, b, c, d in steps(old_lines, new_lines):
            if change == "equal":
                continue
            first, last = new_start + c, new_start + d
            if change == "insert":
                first, last = _slid_to_entry(new, first, last)
            removed.extend((old_start + index + 1, old_lines[index]) for index in range(a, b))
            added.extend((index + 1, new[index]) for index in range(first, last))
    return added, removed


def _by_entry(lines: Sequence[str]) -> list[tuple[int, tuple[str, ...]]]:
    """The lines cut before each entry: place of the first line (from 0), lines."""
    starts = [index for index, line in enumerate(lines) if line.startswith("- ")]
    cuts = [0, *(start for start in starts if start), len(lines)]
    return [(start, tuple(lines[start:end])) for start, end in pairwise(cuts)]


def _lines_of(parts: Sequence[tuple[int, tuple[str, ...]]]) -> Iterator[str]:
    for _, part in parts:
        yield from part


def _slid_to_entry(lines: Sequence[str], first: int, last: int) -> tuple[int, int]:
    """The same insertion, moved up to begin with an entry where equal lines around it allow that, as git shows it."""
    start, end = first, last
    while not lines[start].startswith(_ENTRY_START):
        if start == 0 or lines[start - 1] != lines[end - 1]:
            return first, last
        start, end = start - 1, end - 1
    return start, end


def _corrections(deleted: Sequence[tuple[int, str]], added: Sequence[tuple[int, str]]) -> list[tuple[int, str, str]]:
    """Changed `pr-link` lines of history: every deleted line is one, and an added one stands in its place."""
    if not deleted or not all(line.startswith("  pr-link:") for _, line in deleted):
        return []
    by_line = dict(added)
    found: list[tuple[int, str, str]] = []
    for number, line in deleted:
        instead = by_line.get(number, "")
        if not instead.startswith("  pr-link:"):
            return []
        found.append((number, line.partition(":")[2].strip(), instead.partition(":")[2].strip()))
    return found


def _read_added(lines: Sequence[tuple[int, str]], path: str) -> tuple[list[ChangelogEntry], list[Problem]]:
    """The entries that these lines make up when put together, as the repository reads them."""
    text = "\n".join(line for _, line in lines)
    if not text.strip():
        return [], []
    document = read_document(text, path)
    numbers = [number for number, _ in lines]
    problems = [_relocated(problem, numbers) for problem in document.problems]
    if not document.readable:
        return [], problems
    if not isinstance(document.value, list):
        problems.append(Problem(path=path, message="The added lines are no list of entries.", rule="no-list"))
        return [], problems
    # YAML ends lines at other characters, too; then places are only near.
    places = {path: min(line, len(lines)) - 1 for path, line in document.lines.items()}
    starts = [places.get(str(index), 0) for index in range(len(document.value))]
    entries: list[ChangelogEntry] = []
    for index, value in enumerate(document.value):
        first = starts[index]
        last = (starts[index + 1] if index + 1 < len(starts) else len(lines)) - 1
        while last > first and not lines[last][1].strip():
            last -= 1
        reader = _EntryReader(path, value, numbers[first])
        entry = reader.entry(
            numbers[last],
            {
                field: numbers[place]
                for field in (value if isinstance(value, dict) else ())
                if (place := places.get(f"{index}.{field}")) is not None
            },
        )
        problems.extend(reader.problems)
        if entry is not None:
            entries.append(entry)
    return entries, problems


def _relocated(problem: Problem, numbers: Sequence[int]) -> Problem:
    line = problem.line
    if line is not None:
        line = numbers[min(line, len(numbers)) - 1]
    return Problem(path=problem.path, message=problem.message, rule=problem.rule, line=line, column=problem.column)


class _EntryReader:
    """One entry by its schema (`ChangelogEntry` in `validation.py`); snake_case names are accepted and take effect."""

    def __init__(self, path: str, value: Any, line: int) -> None:
        self._path = path
        self._value = value
        self._line = line
        self._lines: dict[Any, int] = {}
        self.problems: list[Problem] = []

    def entry(self, end_line: int, lines: dict[Any, int]) -> ChangelogEntry | None:
        self._lines = lines
        if not isinstance(self._value, dict):
            self._report(None, "entry-type", "An entry must be a mapping.")
            return None
        fields = {str(name): value for name, value in self._value.items()}
        known = {name: fields[spelling] for name in _FIELDS if (spelling := _spelling(name, fields)) is not None}
        unknown = [name for name in fields if name.replace("_", "-") not in _FIELDS]
        for name in unknown:
            self._report(name, "unknown-field", f"The field {name[:80]!r} is unknown.")
        entry = ChangelogEntry(
            line=self._line,
            end_line=end_line,
            config_keys=self._texts(known, "config-keys", required=True),
            description=self._texts(known, "description", required=True),
            pr_link=self._link(known),
            evals_only=self._flag(known, "evals-only"),
            all_evals=self._flag(known, "all-evals"),
            append_only=self._flag(known, "append-only"),
            eval_min_prefill_ep=self._threshold(known),
            scenario_types=self._scenarios(known),
            unknown=tuple((name, str(fields[name])[:400]) for name in unknown),
            fields=fields,
        )
        if entry.append_only and (entry.evals_only or entry.all_evals or entry.eval_min_prefill_ep is not None):
            message = "`append-only` cannot be combined with fields that choose evals."
            self._report("append-only", "append-only-with-evals", message)
        return entry

    def _report(self, field: str | None, rule: str, message: str) -> None:
        line = self._lines.get(field, self._lines.get((field or "").replace("-", "_"), self._line))
        self.problems.append(Problem(path=self._path, message=message, rule=rule, line=line))

    def _texts(self, known: dict[str, Any], name: str, *, required: bool) -> tuple[str, ...]:
        if name not in known:
            if required:
                self._report(None, "missing-field", f"`{name}` is missing.")
            return ()
        value = known[name]
        if not isinstance(value, list) or not value or not all(isinstance(item, str) for item in value):
            self._report(name, "field-type", f"`{name}` must be a list of texts with at least one.")
            items = value if isinstance(value, list) else [value]
            return tuple(item for item in items if isinstance(item, str))
        return tuple(value)

    def _link(self, known: dict[str, Any]) -> str:
        value = known.get("pr-link")
        if "pr-link" not in known:
            self._report(None, "missing-field", "`pr-link` is missing.")
        elif not isinstance(value, str):
            self._report("pr-link", "field-type", "`pr-link` must be a text.")
        return value if isinstance(value, str) else ""

    def _flag(self, known: dict[str, Any], name: str) -> bool:
        value = known.get(name, False)
        if isinstance(value, bool):
            return value
        text = str(value).lower()
        if text not in ("0", "1", "on", "off", "t", "f", "true", "false", "y", "n", "yes", "no"):
            self._report(name, "field-type", f"`{name}` must be true or false.")
        return text in ("1", "on", "t", "true", "y", "yes")

    def _threshold(self, known: dict[str, Any]) -> int | None:
        value = known.get("eval-min-prefill-ep")
        if value is None:
            return None
        if not isinstance(value, int) or value < 1:
            self._report(
                "eval-min-prefill-ep", "field-type", "`eval-min-prefill-ep` must be a whole number of 1 or more."
            )
            return None
        return int(value)

    def _scenarios(self, known: dict[str, Any]) -> tuple[str, ...]:
        value = known.get("scenario-type")
        if value is None:
            return ()
        if not isinstance(value, list) or not value or not all(item in SCENARIOS for item in value):
            self._report("scenario-type", "field-type", f"`scenario-type` must list {' or '.join(SCENARIOS)}.")
            return tuple(item for item in value if item in SCENARIOS) if isinstance(value, list) else ()
        return tuple(value)


def _spelling(name: str, fields: dict[str, Any]) -> str | None:
    """How a field is written here: as it should be, or in snake_case."""
    if name in fields:
        return name
    snake = name.replace("-", "_")
    return snake if snake in fields else None


def _byte_faults(old: bytes, new: bytes, path: str) -> list[Problem]:
    """Faults of the head's bytes; those that the base already has are not the pull request's."""
    found: list[Problem] = []

    def report(rule: str, message: str, line: int | None = None) -> None:
        found.append(Problem(path=path, message=message, rule=rule, line=line))

    if not new.endswith(b"\n"):
        report("no-final-newline", "The file does not end with a newline.", new.count(b"\n") + 1)
    for name, byte in (("a carriage return", b"\r"), ("a tab", b"\t"), ("a NUL byte", b"\0")):
        if byte in new and byte not in old:
            report("forbidden-byte", f"The file holds {name}.", new.count(b"\n", 0, new.index(byte)) + 1)
    try:
        new.decode("utf-8")
    except UnicodeDecodeError as error:
        report("encoding", "The file is not UTF-8.", new.count(b"\n", 0, error.start) + 1)
    return found


def _history_faults(
    old: bytes,
    new: bytes,
    entries: Sequence[ChangelogEntry],
    corrections: Sequence[tuple[int, str, str]],
    path: str,
) -> Iterable[Problem]:
    """The merge helper's rules about bytes: history untouched, one empty line between entries, one final newline."""

    def problem(rule: str, message: str, line: int | None = None) -> Problem:
        return Problem(path=path, message=message, rule=rule, line=line)

    if corrections and entries:
        yield problem("mixed-correction", "Corrections of old links and new entries cannot be in one pull request.")
    for line, _, link in corrections:
        if not _LINK.fullmatch(link):
            yield problem("correction-link", f"The corrected link {link[:120]!r} names no pull request.", line)
    if not entries:
        if not corrections and not new.startswith(old):
            yield problem(
                "history-changed", "Old entries are changed, be it only in blanks; history must stay as it is."
            )
        return
    if not new.startswith(old):
        yield problem("history-changed", "The old bytes of the file are changed; new entries must be put at its end.")
        return
    start = "" if not old or old.endswith(b"\n\n") else "\n"
    added = new[len(old) :].decode("utf-8", "replace")
    if not added.startswith(f"{start}{_ENTRY_START}"):
        yield problem(
            "separator", "One empty line must stand between the old entries and the new one.", entries[0].line
        )
    lines = new.decode("utf-8", "replace").split("\n")
    for entry in entries[1:]:
        before = lines[max(0, entry.line - 3) : entry.line - 1]
        if before[-1:] != [""] or before[-2:-1] == [""]:
            yield problem("separator", "Exactly one empty line must stand between entries.", entry.line)
    if new.endswith(b"\n\n"):
        yield problem("final-newlines", "The file must end with one newline, not more.", len(lines) - 1)
    if added.count(f"\n{_ENTRY_START}") + added.startswith(_ENTRY_START) != len(entries):
        yield problem("entry-start", f"Every entry must begin with `{_ENTRY_START}`.", entries[0].line)


def _link_faults(
    entries: Iterable[ChangelogEntry], path: str, repository: str, pull_request: int | None
) -> Iterable[Problem]:
    """A new entry links this pull request, or holds the placeholder that the merge helper fills in."""
    if not repository or pull_request is None:
        return
    expected = f"https://github.com/{repository}/pull/{pull_request}"
    allowed = (expected, PLACEHOLDER_LINK, f"https://github.com/{repository}/pull/{PLACEHOLDER_LINK}")
    for entry in entries:
        if entry.pr_link not in allowed:
            message = f"The link {entry.pr_link[:120]!r} is neither {expected} nor the placeholder."
            yield Problem(path=path, message=message, rule="pr-link", line=entry.line)


def resolve_keys(entry: ChangelogEntry, keys: Sequence[str], path: str) -> tuple[list[str], list[Problem]]:
    """The config keys an entry means: names, and patterns in which `*` stands for anything (`?` does not)."""
    known = set(keys)
    found: dict[str, None] = {}
    problems: list[Problem] = []
    for name in entry.config_keys:
        if "*" in name and len(name) <= MAX_PATTERN:
            matches = [key for key in keys if _matches(name, key)]
        else:
            matches = [name] if name in known else []
        if not matches:
            message = (
                f"No config key matches {name[:120]!r}." if "*" in name else f"There is no config key {name[:120]!r}."
            )
            problems.append(Problem(path=path, message=message, rule="no-such-key", line=entry.line))
        found.update(dict.fromkeys(matches))
    return list(found), problems


def covers(entry: ChangelogEntry, key: str) -> bool:
    """Whether an entry means a config key, by name or by pattern."""
    return any(name == key or ("*" in name and _matches(name, key)) for name in entry.config_keys)


def _matches(pattern: str, key: str) -> bool:
    """Whether `pattern` with `*` for anything covers the whole key; in one pass, whatever the pattern."""
    parts = pattern.split("*")
    if not key.startswith(parts[0]) or len(key) < sum(map(len, parts)):
        return False
    position = len(parts[0])
    for part in parts[1:-1]:
        position = key.find(part, position)
        if position < 0:
            return False
        position += len(part)
    return key.endswith(parts[-1]) and len(key) - len(parts[-1]) >= position
