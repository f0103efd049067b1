"""What counts as the same although it is spelled differently, each with its source (`equivalences.json`)."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from reviewer_tui.recipes.arm import Scalar, Value

_VERSION = re.compile(r"(?:^|[^\d.])v?(\d{1,4}\.\d{1,4}\.\d{1,4})(?![\d])")


class SameValues(msgspec.Struct, frozen=True):
    engine: str
    concept: str
    same: tuple[Scalar, ...]
    why: str
    source: str
    checkpoints: tuple[str, ...] = ()
    hardware: tuple[str, ...] = ()


class SettingVariable(msgspec.Struct, frozen=True):
    engine: str
    variable: str
    concept: str
    why: str
    source: str


class InertVariable(msgspec.Struct, frozen=True):
    """A variable that an engine no longer reads, from a version on."""

    engine: str
    variable: str
    since: str
    why: str
    source: str


class SameHardware(msgspec.Struct, frozen=True):
    same: tuple[str, ...]
    why: str
    source: str


class ImpliedValue(msgspec.Struct, frozen=True):
    engine: str
    concept: str
    equals: str
    when: str
    values: tuple[Scalar, ...]
    why: str
    source: str


class Equivalences(msgspec.Struct, frozen=True):
    """The table of `equivalences.json`: values that are one, values that an absent argument stands for, variables
    that set an argument or nothing, hardware names, and arguments that another one implies."""

    values: tuple[SameValues, ...]
    absent: tuple[SameValues, ...]
    environment: tuple[SettingVariable, ...]
    inert: tuple[InertVariable, ...]
    hardware: tuple[SameHardware, ...]
    implied: tuple[ImpliedValue, ...]


@functools.cache
def equivalences() -> Equivalences:
    """The packaged table."""
    return msgspec.json.decode(Path(__file__).with_name("equivalences.json").read_bytes(), type=Equivalences)


def inert_variable(engine: str, variable: str, image: str) -> InertVariable | None:
    """Whether the engine in this image ignores a variable; None where it reads it or its version is not known."""
    version = _VERSION.search(image.rpartition(":")[2])
    if version is None:
        return None
    for row in equivalences().inert:
        if row.engine == engine and row.variable == variable and _numbers(version[1]) >= _numbers(row.since):
            return row
    return None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def same_value(left: Value, right: Value) -> bool:
    """Equal values: numbers by size, texts without regard to case."""
    if isinstance(left, str) and isinstance(right, str):
        return left == right or left.casefold() == right.casefold()
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return left == right


def same_hardware(ours: str, theirs: str) -> str | None:
    """Why two hardware ids are one: empty where they are equal, a reason where they are known as one, else None."""
    if ours == theirs:
        return ""
    return next((row.why for row in equivalences().hardware if ours in row.same and theirs in row.same), None)


def among(value: Value, values: Iterable[Scalar]) -> bool:
    return any(same_value(value, other) for other in values)


_TRUTHS = {"true": "1", "yes": "1", "on": "1", "false": "0", "no": "0", "off": "0"}


def same_setting(ours: str, theirs: str) -> bool:
    """Whether two values of a variable are one: `True` and `1` are."""
    one, two = ours.strip().casefold(), theirs.strip().casefold()
    return _TRUTHS.get(one, one) == _TRUTHS.get(two, two)


def shown(value: Value | None) -> str:
    """A value for people."""
    if value is None:
        return "absent"
    if isinstance(value, bool):
        return "on" if value else "off"
    return " ".join(map(shown, value)) if isinstance(value, tuple) else str(value)


def hardware_names(hardware: str) -> tuple[str, ...]:
    """All ids under which pages list a hardware."""
    groups = [row.same for row in equivalences().hardware if hardware in row.same]
    return tuple(dict.fromkeys([hardware, *(name for group in groups for name in group)]))
