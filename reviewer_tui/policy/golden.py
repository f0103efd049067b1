"""The golden acceptance-length curves, and which of them a configuration is held to."""

from __future__ import annotations

import msgspec


class GoldenCurve(msgspec.Struct, frozen=True, kw_only=True):
    """One curve: acceptance length by level (number of speculative tokens), with the line of each.

    `name` is the file's name without suffix, `model` the key in the file, `mode` is `thinking_on` or `thinking_off`,
    `source` the first comment line of the file (the run it was measured in; empty if there is none).
    """

    path: str
    name: str
    model: str
    mode: str
    levels: dict[int, float]
    lines: dict[int, int]
    line: int
    source: str = ""


class GoldenCurves(msgspec.Struct, frozen=True, kw_only=True):
    """All curves of one revision."""

    folder: str
    curves: tuple[GoldenCurve, ...]
