"""Master configs: entries, points, and what a pull request changes in them."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from reviewer_tui.model.finding import Problem

Change = Literal["added", "changed", "removed", "renamed"]


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One config key of a master config.

    `line` and `end_line` (from 1, inclusive) are the block's lines; `fields` is the mapping as YAML gives it, never
    changed after parsing; `lines` maps a dotted path inside the entry (`image`, `scenarios.fixed-seq-len.0`) to its
    line.
    """

    key: str
    path: str
    line: int
    end_line: int
    fields: dict[str, Any]
    lines: dict[str, int] = {}

    def line_of(self, field: str) -> int:
        """The line of a dotted path, or of the nearest thing around it; the entry's line where nothing is known."""
        while field:
            if field in self.lines:
                return self.lines[field]
            field = field.rpartition(".")[0]
        return self.line

    def text(self, field: str) -> str:
        """A text field; empty where it is absent or no text."""
        value = self.fields.get(field)
        return value if isinstance(value, str) else ""

    @property
    def image(self) -> str:
        return self.text("image")

    @property
    def model(self) -> str:
        return self.text("model")

    @property
    def model_prefix(self) -> str:
        return self.text("model-prefix")

    @property
    def precision(self) -> str:
        return self.text("precision")

    @property
    def framework(self) -> str:
        return self.text("framework")

    @property
    def runner(self) -> str:
        return self.text("runner")

    @property
    def multinode(self) -> bool:
        return self.fields.get("multinode") is True

    @property
    def disagg(self) -> bool:
        return self.fields.get("disagg") is True

    @property
    def scenarios(self) -> tuple[str, ...]:
        """The scenario names of the entry (`fixed-seq-len`, `agentic-coding`) in the file's order."""
        scenarios = self.fields.get("scenarios")
        return tuple(str(s) for s in scenarios) if isinstance(scenarios, dict) else ()


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One concurrency of one arm: the smallest thing a sweep measures.

    `row` is the generator's row it belongs to (its field names); `label` is the arm in a few words (`8k1k tp2 ep2
    mtp`); `line` is the search-space row's line in the master config.
    """

    key: str
    scenario: str
    label: str
    conc: int
    row: dict[str, Any]
    line: int = 0
    evaluated: bool = False


class FieldChange(msgspec.Struct, frozen=True, kw_only=True):
    """A field of an entry with its old and new value (None: absent) and their lines."""

    field: str
    old: str | None
    new: str | None
    old_line: int | None = None
    new_line: int | None = None


class KeyChange(msgspec.Struct, frozen=True, kw_only=True):
    """What happens to one config key between two revisions.

    `files` are the launchers, scripts, recipes and helpers behind the key whose content differs, under their newer
    path; a key can be changed by them alone.
    """

    key: str
    change: Change
    old: Entry | None
    new: Entry | None
    previous_key: str | None = None
    fields: tuple[FieldChange, ...] = ()
    points_added: tuple[Point, ...] = ()
    points_removed: tuple[Point, ...] = ()
    points_kept: int = 0
    files: tuple[str, ...] = ()


class ConfigChanges(msgspec.Struct, frozen=True, kw_only=True):
    """All key changes between two revisions, and the faults met on the way (each side named).

    `reworded` are the keys whose text changed without any change in what runs. `shared_files` are changed files of
    benchmarks and launchers that are no key's own script or recipe: they reach keys that are not listed here.
    """

    keys: tuple[KeyChange, ...] = ()
    reworded: tuple[str, ...] = ()
    shared_files: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    base_problems: tuple[Problem, ...] = ()
