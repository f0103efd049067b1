"""What the models file allows and forbids to submit, and until when.

A combination is model prefix, scenario, precision and speculative method. The file's notices, its table of scenarios
and its support matrix decide together; every line that speaks about a combination gives one ruling. A thing is dead
only after its last day (UTC), what is announced but not enacted is not dead, and a combination that no line allows is
never allowed: it is `unknown`, the reviewer's judgement.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

RulingStatus = Literal["allowed", "deprecated", "upcoming", "not_enacted", "unknown"]
RuleSource = Literal["notice", "scenarios", "matrix"]

AGENTIC = "agentic"

_WORST_FIRST: tuple[RulingStatus, ...] = ("deprecated", "unknown", "not_enacted", "upcoming", "allowed")


class DeprecationRule(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a line calls deprecated, now or from some day on.

    `prefixes` empty is every model; `scenario` (`8k1k`, `agentic`), `precision` and `arm` None is every one. `arm` is
    the speculative method that the rule leaves alive: `mtp` stands for the retired non-MTP arm. `last_day`
    (`YYYY-MM-DD`) is the last allowed day, None where the thing is dead already. `binding` is false where it is
    announced but not enacted, `clear` false where the line cannot be read as a plain rule. `keeps` is true where the
    line itself says that the thing is allowed until its last day, `enacted` where the text says it was carried out.
    """

    prefixes: tuple[str, ...]
    scenario: str | None
    precision: str | None = None
    arm: str | None = None
    last_day: str | None = None
    binding: bool = True
    clear: bool = True
    keeps: bool = False
    enacted: bool = False
    source: RuleSource
    line: int
    text: str

    def dead_on(self, date: str) -> bool:
        """Whether the day lies after the last allowed one (none given: dead already)."""
        return self.last_day is None or date > self.last_day


class ScenarioRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the table of scenarios; `lengths` is input and output length in tokens, None for a trace replay."""

    scenario: str
    lengths: tuple[int, int] | None
    status: str
    line: int


class ModelRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the support matrix. `names` are the models of the row, each in lower case without blanks and dashes
    (`kimik2.6`); `precisions` limits the active scenarios where it is not empty."""

    model: str
    names: tuple[str, ...]
    prefixes: tuple[str, ...]
    active: tuple[str, ...]
    precisions: tuple[str, ...]
    line: int
    active_text: str
    deprecated_text: str


class EngineRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the engine table: the engines (`vllm`, `sglang`) that come first for a model, and its agreed draft
    models in the file's words."""

    model: str
    prefixes: tuple[str, ...]
    engines: tuple[str, ...]
    drafts: str
    line: int


class Ruling(msgspec.Struct, frozen=True, kw_only=True):
    """What one line of the file says about a combination on a day."""

    status: RulingStatus
    message: str
    path: str
    line: int | None
    last_day: str | None = None


class Deprecations(msgspec.Struct, frozen=True, kw_only=True):
    """The models file of one revision."""

    path: str
    rules: tuple[DeprecationRule, ...]
    rows: tuple[ModelRow, ...]
    scenarios: tuple[ScenarioRow, ...] = ()
    engines: tuple[EngineRow, ...] = ()

    def scenario_of(self, isl: int, osl: int) -> str:
        """The scenario of a fixed sequence length by the table of scenarios; by its lengths where it has no row, which
        are whole thousands (of 1024) only where they are no others."""
        listed = next((row.scenario for row in self.scenarios if row.lengths == (isl, osl)), None)
        even = isl % 1024 == 0 and osl % 1024 == 0
        return listed or (f"{isl // 1024}k{osl // 1024}k" if even else f"{isl}_{osl}")

    def row_of(self, prefix: str) -> ModelRow | None:
        """The matrix row that lists a model prefix, else the one whose model name it is (`kimik2.6`)."""
        wanted = prefix.lower()
        listed = next((row for row in self.rows if wanted in row.prefixes), None)
        return listed or next((row for row in self.rows if wanted in row.names), None)

    def engines_of(self, prefix: str) -> EngineRow | None:
        """The engine table's row for a model prefix."""
        return next((row for row in self.engines if prefix.lower() in row.prefixes), None)

    def ruling(self, prefix: str, scenario: str, precision: str, method: str | None, date: str) -> tuple[Ruling, ...]:
        """Every line's ruling on a combination on a day (`YYYY-MM-DD`, UTC), the worst first; never empty.

        `method` is the speculative method that runs, empty or `none` without speculation, None where it is not known.
        `allowed` comes only from a matrix row that lists the prefix itself and the scenario as active.
        """
        row = self.row_of(prefix)
        prefixes = {prefix.lower(), *(row.prefixes if row else ())}
        if row and prefix.lower() in row.prefixes:
            prefixes = {prefix.lower()}
        concerned = [rule for rule in self.rules if _concerns(rule, prefixes, scenario)]
        rulings = [
            found
            for rule in concerned
            if (found := self._ruling_by(rule, concerned, scenario, precision, method, date, row)) is not None
        ]
        matrix = self._ruling_by_matrix(prefix, scenario, precision, row)
        if matrix.status == "allowed" or not any(_still_kept(rule, prefix, precision, date) for rule in concerned):
            rulings.append(matrix)
        if any(found.status == "deprecated" for found in rulings):
            rulings = [found for found in rulings if found.status not in ("allowed", "unknown")]
        return tuple(sorted(rulings, key=lambda found: _WORST_FIRST.index(found.status)))

    def _ruling_by(
        self,
        rule: DeprecationRule,
        concerned: list[DeprecationRule],
        scenario: str,
        precision: str,
        method: str | None,
        date: str,
        row: ModelRow | None,
    ) -> Ruling | None:
        """What one rule says; None where it does not meet the precision or the method."""
        met = _meets(rule, precision, method)
        if met is False:
            return None
        what = f"{self.path}:{rule.line} says: {rule.text}"
        if not rule.dead_on(date):
            return self._ruled("upcoming", f"Allowed until {rule.last_day}. {what}", rule)
        if not rule.binding:
            return self._ruled("not_enacted", f"Announced, but not enacted. {what}", rule)
        if not rule.clear or met is None:
            return self._ruled("unknown", f"It takes judgement whether this line applies. {what}", rule)
        kept = next((other for other in concerned if _keeps(other, rule, date)), None)
        if kept is not None:
            if rule.source == "matrix" and kept.source == "notice" and kept.last_day == date:
                return None
            return self._ruled("unknown", f"Line {kept.line} allows it until {kept.last_day}, but {what}", rule)
        if row and scenario in row.active and _contradicts_matrix(rule):
            return self._ruled("unknown", f"The support matrix lists it as active (line {row.line}), but {what}", rule)
        when = f"the last day was {rule.last_day}" if rule.last_day else "the file gives no last day"
        return self._ruled("deprecated", f"Deprecated ({when}). {what}", rule)

    def _ruling_by_matrix(self, prefix: str, scenario: str, precision: str, row: ModelRow | None) -> Ruling:
        if row is None:
            message = f"{self.path} has no row for the model prefix {prefix}."
            return Ruling(status="unknown", message=message, path=self.path, line=None)
        place = f"{self.path}:{row.line}"
        if scenario not in row.active:
            message = f"{place} does not list {scenario} as active for {row.model}."
        elif prefix.lower() not in row.prefixes:
            message = f"{place} names the model {prefix}, but not as a prefix."
        elif row.precisions and _precision(precision) not in row.precisions:
            message = f"{place} limits {row.model} to {', '.join(row.precisions)}, not {precision or 'unknown'}."
        else:
            message = f"{place} lists {scenario} as active for {row.model}: {row.active_text}"
            return Ruling(status="allowed", message=message, path=self.path, line=row.line)
        return Ruling(status="unknown", message=message, path=self.path, line=row.line)

    def _ruled(self, status: RulingStatus, message: str, rule: DeprecationRule) -> Ruling:
        return Ruling(status=status, message=message, path=self.path, line=rule.line, last_day=rule.last_day)


def _concerns(rule: DeprecationRule, prefixes: set[str], scenario: str) -> bool:
    return (not rule.prefixes or bool(prefixes & set(rule.prefixes))) and rule.scenario in (None, scenario)


def _meets(rule: DeprecationRule, precision: str, method: str | None) -> bool | None:
    """Whether a rule speaks about this precision and method; None where that is not known."""
    if rule.precision:
        if not precision:
            return None
        if _precision(precision) != rule.precision:
            return False
    if rule.arm is None:
        return True
    if method is None:
        return None
    word = method.strip().lower()
    if word in ("", "none"):
        return True
    # What is retired is the arm without speculation: another method is neither that nor plainly the kept one.
    same = word == rule.arm or (rule.arm == "mtp" and word in ("eagle", "nextn"))
    return False if same or not rule.binding else None


def _still_kept(rule: DeprecationRule, prefix: str, precision: str, date: str) -> bool:
    """Whether a line itself allows the prefix's scenario or precision until a day that has not passed."""
    named = rule.scenario is not None or (rule.precision is not None and rule.precision == _precision(precision))
    return rule.keeps and rule.clear and prefix.lower() in rule.prefixes and named and not rule.dead_on(date)


def _contradicts_matrix(rule: DeprecationRule) -> bool:
    """Whether a dead rule and an active cell cannot both be true: the thing was carried out, or stands beside the cell
    without a day. A notice whose day has just passed merely runs ahead of the matrix."""
    if rule.precision or rule.arm:
        return False
    return rule.enacted or (rule.source != "notice" and not rule.keeps)


def _keeps(other: DeprecationRule, rule: DeprecationRule, date: str) -> bool:
    """Whether another line says of the same thing that it is still allowed on the day."""
    same_thing = other.scenario == rule.scenario and other.precision == rule.precision and other.arm == rule.arm
    exception = other.scenario is None and other.precision is None and other.arm is None and not other.clear
    return other.keeps and not other.dead_on(date) and (same_thing or exception)


def _precision(text: str) -> str:
    """A precision in the file's words: `nvfp4` and `mxfp4` are fp4."""
    return re.sub(r"^(?:nv|mx)(?=fp\d)", "", text.strip().lower())
