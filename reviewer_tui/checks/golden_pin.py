"""A pinned acceptance length against the golden curves that may apply to it."""

from __future__ import annotations

from typing import Literal

import msgspec

from reviewer_tui.launch.speculation import Thinking
from reviewer_tui.policy.golden import CurveChoice, GoldenCurve, GoldenCurves

TOLERANCE = 0.005
"""Curves hold two digits; a value that rounds to the same is the same."""

Agreement = Literal["match", "mismatch", "unsure", "no_curve"]


class Pin(msgspec.Struct, frozen=True, kw_only=True):
    """An acceptance length that a launch prescribes, and what decides the curve it is held to.

    `level` is the number of speculative tokens; `modes` are the thinking modes that settings name (empty: none does);
    `sampling` is how the draft samples, None where that is not known.
    """

    prefix: str
    method: str
    level: int
    length: float
    draft_model: str = ""
    sampling: str | None = None
    modes: tuple[Thinking, ...] = ()


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """How a pin stands. `reason` is a sentence; `cells` are the curves that may apply, each with its value at the
    pin's level, the likeliest first (none without a curve)."""

    agreement: Agreement
    reason: str
    cells: tuple[tuple[GoldenCurve, float], ...] = ()

    @property
    def expected(self) -> str:
        """The values that may apply, in a few words."""
        return " or ".join(dict.fromkeys(f"{value:.2f} ({curve.name} {words(curve)})" for curve, value in self.cells))


def compare(pin: Pin, golden: GoldenCurves) -> Comparison:
    """Hold a pin to its curve. Where several may apply, it matches only if it matches all of them, and mismatches only
    if it matches none. Without any sign of the thinking mode, thinking is assumed on; a pin that is right in the other
    mode is unsure, unless thinking is turned on: settings that turn it off are defaults, which requests override."""
    choices = [_choice(pin, golden, mode) for mode in pin.modes or ("on",)]
    curves = [curve for choice in choices for curve in choice.curves]
    if len(choices) == 1 and choices[0].certain:
        curves = curves[:1]
    reason = " ".join(choice.reason for choice in choices)
    found = ((curve, curve.at(pin.level)) for curve in curves)
    cells = tuple((curve, value) for curve, value in found if value is not None)
    if not cells:
        if curves:
            reason = f"{curves[0].path} has no cell for {pin.level} draft tokens, {words(curves[0])}."
        return Comparison(agreement="no_curve", reason=reason)
    matching = [curve for curve, value in cells if _equal(value, pin.length)]
    if len(matching) == len(curves):
        return Comparison(agreement="match", reason=f"{matching[0].name} {words(matching[0])} says so.", cells=cells)
    if matching:
        reason = f"It is that of {matching[0].name}, but: {reason}"
        return Comparison(agreement="unsure", reason=reason, cells=cells)
    said = " and ".join(dict.fromkeys(f"{curve.name} {words(curve)} says {value:.2f}" for curve, value in cells))
    if pin.modes != ("on",) and (other := _in_other_mode(pin, golden)) is not None:
        reason = f"{said}, but it is that of {other[0].name} {words(other[0])}: in which mode does the workload run?"
        return Comparison(agreement="unsure", reason=reason, cells=(*cells, other))
    return Comparison(agreement="mismatch", reason=f"{said}.", cells=cells)


def words(curve: GoldenCurve) -> str:
    """The mode of a curve as people say it."""
    return curve.mode.replace("_", " ")


def _choice(pin: Pin, golden: GoldenCurves, mode: Thinking) -> CurveChoice:
    return golden.choose(
        pin.prefix,
        pin.method,
        draft_model=pin.draft_model,
        draft_sample_method=pin.sampling,
        mode=f"thinking_{mode}",
    )


def _in_other_mode(pin: Pin, golden: GoldenCurves) -> tuple[GoldenCurve, float] | None:
    """The cell of the mode that no setting names and that holds the pinned length."""
    for mode in ("off", "on"):
        for curve in () if mode in (pin.modes or ("on",)) else _choice(pin, golden, mode).curves:
            value = curve.at(pin.level)
            if value is not None and _equal(value, pin.length):
                return curve, value
    return None


def _equal(one: float, other: float) -> bool:
    return abs(one - other) <= TOLERANCE + 1e-9
