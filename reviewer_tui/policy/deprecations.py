"""What the models file allows and forbids to submit, and until when."""

from __future__ import annotations

from typing import Literal

import msgspec

Scenario = Literal["1k1k", "1k8k", "8k1k", "agentic"]
RulingStatus = Literal["allowed", "deprecated", "upcoming", "not_enacted", "unknown"]


class DeprecationRule(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that the file calls deprecated.

    `prefixes` empty is every model; `scenario`, `precision` and `arm` None is every one. `arm` is the speculative
    method that the rule leaves alive: `mtp` stands for the retired `non-mtp` arm. `last_day` (`YYYY-MM-DD`) is the
    last allowed day, None where the file gives no date and the thing is dead already. A rule that is not `binding`
    is announced but not enacted.
    """

    prefixes: tuple[str, ...]
    scenario: Scenario | None
    precision: str | None = None
    arm: str | None = None
    last_day: str | None = None
    binding: bool = True
    source: Literal["notice", "scenarios", "matrix"]
    line: int
    text: str


class ModelRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the support matrix."""

    model: str
    prefixes: tuple[str, ...]
    active: tuple[Scenario, ...]
    precisions: tuple[str, ...]
    line: int
    active_text: str
    deprecated_text: str


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
