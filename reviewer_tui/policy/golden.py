"""The golden acceptance-length curves, and which of them a configuration is held to.

One file per model and draft, `{model-key: {thinking_on|thinking_off: {level: acceptance length}}}`; the level is the
number of speculative tokens. Two files can share a model key, so a file is chosen by its name: the model prefix, the
speculative method, and what else the name says about the draft. A missing cell is no curve, never a neighbour's value.
"""

from __future__ import annotations

import math
import re

import msgspec

from reviewer_tui.model.finding import Problem
from reviewer_tui.model.part import Part, complete, partial, unavailable
from reviewer_tui.model.tree import Tree, read_text
from reviewer_tui.policy.layout import Layout
from reviewer_tui.policy.yaml_leaves import Leaf, LeafError, leaves

MODES = ("thinking_on", "thinking_off")
MAX_FILES = 64

# Native heads go by several names; a multi-token head is one method to the curves.
_NATIVE = re.compile(r"^(?:mtp|eagle|nextn|.*_mtp)$")
_SAMPLING = re.compile(r"draft_sample_method\s*[=:]\s*\"?(\w+)")
_SOURCE = re.compile(r"^#\s*(.*?)\s*$")


class GoldenCurve(msgspec.Struct, frozen=True, kw_only=True):
    """One curve: acceptance length by level (number of speculative tokens), with the line of each; `line` is the first.

    `name` is the file's name without suffix, `model` the key in the file, `mode` is `thinking_on` or `thinking_off`,
    `source` the first comment line of the file (the run it was measured in; empty if there is none), `sampling` the
    draft's sampling method where the comments name it.
    """

    path: str
    name: str
    model: str
    mode: str
    levels: dict[int, float]
    lines: dict[int, int]
    line: int
    source: str = ""
    sampling: str | None = None

    def at(self, level: int) -> float | None:
        """The acceptance length at a level; None where the curve has no such cell."""
        return self.levels.get(level)


class CurveChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The curves a configuration may be held to, the likeliest first.

    `certain` is whether the first one is the one; `reason` says in a sentence why it is, why it may not be, or why
    there is none.
    """

    curves: tuple[GoldenCurve, ...]
    certain: bool
    reason: str

    @property
    def curve(self) -> GoldenCurve | None:
        """The likeliest curve."""
        return self.curves[0] if self.curves else None


class GoldenCurves(msgspec.Struct, frozen=True, kw_only=True):
    """All curves of one revision, in the order of their files."""

    folder: str
    curves: tuple[GoldenCurve, ...]

    def named(self, name: str, mode: str = "thinking_on") -> GoldenCurve | None:
        """The curve of a file (name without suffix) in one mode."""
        return next((curve for curve in self.curves if (curve.name, curve.mode) == (name, mode)), None)

    def choose(
        self,
        prefix: str,
        method: str,
        *,
        draft_model: str = "",
        draft_sample_method: str | None = None,
        mode: str = "thinking_on",
    ) -> CurveChoice:
        """The curve for a model prefix and a speculative method.

        `method` is the engine's or the recipe's word (`mtp`, `EAGLE`, `nextn`, `eagle3`, `dspark`, any case),
        `draft_model` the draft's name or path, `draft_sample_method` the speculative configuration's own setting
        (None: it says nothing).
        """
        of_prefix = [curve for curve in self.curves if _rest_of_name(curve.name, prefix) is not None]
        if not of_prefix:
            return _no_curve(f"{self.folder} holds no curve for {prefix}.")
        wanted = _method(method)
        fitting = [curve for curve in of_prefix if wanted in _tokens(curve, prefix)]
        exact = bool(fitting)
        if not fitting and wanted == "mtp":
            # A model without native heads: `eagle` is the published draft, and `mtp` the configs' word for any draft.
            fitting = [curve for curve in of_prefix if "mtp" not in _tokens(curve, prefix)]
            exact = method.lower() == "eagle" and all("eagle3" in _tokens(curve, prefix) for curve in fitting)
        if not fitting:
            names = ", ".join(sorted({curve.name for curve in of_prefix}))
            return _no_curve(f"{self.folder} holds no {method} curve for {prefix}, only {names}.")
        gqa = draft_model.upper().rstrip("/").endswith("-EAGLE3-GQA")
        if any("eagle3" in _tokens(curve, prefix) for curve in fitting):
            fitting = [curve for curve in fitting if ("gqa" in _tokens(curve, prefix)) == gqa]
        in_mode = [curve for curve in fitting if curve.mode == mode]
        if not in_mode:
            return _no_curve(f"No {mode} curve in {self.folder} fits {prefix} with {method}.")
        return _by_sampling(in_mode, prefix, method, draft_sample_method, exact)


def _by_sampling(curves: list[GoldenCurve], prefix: str, method: str, sampling: str | None, exact: bool) -> CurveChoice:
    """The last step of the choice: by how the draft samples, where files differ in it."""
    plain = [curve for curve in curves if "probabilistic" not in _tokens(curve, prefix)]
    probabilistic = [curve for curve in curves if "probabilistic" in _tokens(curve, prefix)]
    wanted = sampling.lower() if sampling else None
    ordered = probabilistic + plain if wanted == "probabilistic" else plain + probabilistic
    first = ordered[0]
    if plain and probabilistic and wanted not in ("greedy", "probabilistic"):
        said = f"draft_sample_method is {sampling}" if sampling else "draft_sample_method is not set"
        reason = f"{said}, so {first.name} or {probabilistic[0].name} may apply."
        return CurveChoice(curves=tuple(ordered), certain=False, reason=reason)
    if wanted and first.sampling and first.sampling.lower() != wanted:
        reason = f"{first.name} was measured with draft_sample_method {first.sampling}, not {sampling}."
        return CurveChoice(curves=tuple(ordered), certain=False, reason=reason)
    if len(plain) > 1 or len(probabilistic) > 1:
        names = ", ".join(curve.name for curve in ordered)
        return CurveChoice(curves=tuple(ordered), certain=False, reason=f"Several curves fit: {names}.")
    if not exact:
        reason = f"{prefix} has no curve named after {method}; {first.name} is its only one that fits."
        return CurveChoice(curves=(first,), certain=False, reason=reason)
    return CurveChoice(curves=(first,), certain=True, reason=f"{first.name} fits {prefix} with {method}.")


def _no_curve(reason: str) -> CurveChoice:
    return CurveChoice(curves=(), certain=True, reason=reason)


def _method(method: str) -> str:
    word = method.strip().lower().replace("-", "_")
    return "mtp" if _NATIVE.match(word) else word


def _rest_of_name(name: str, prefix: str) -> str | None:
    """What a file's name says after the model prefix; None where the file is another model's (`dsv41flash` is not
    `dsv4`, `glm5.2` not `glm5`)."""
    if not prefix or not name.lower().startswith(prefix.lower()) or name[len(prefix) : len(prefix) + 1] not in "_-":
        return None
    return name[len(prefix) + 1 :]


def _tokens(curve: GoldenCurve, prefix: str) -> set[str]:
    return set(re.split(r"[_-]", (_rest_of_name(curve.name, prefix) or "").lower()))


def read_golden(tree: Tree, layout: Layout) -> tuple[Part[GoldenCurves], tuple[Problem, ...]]:
    """The curves of a revision, and what is wrong in their files."""
    if layout.golden is None:
        folder = f"{layout.root}infx/golden_al_distribution" if layout.root else "golden_al_distribution"
        message = "This revision has no folder of golden acceptance lengths."
        return unavailable(message), (Problem(path=folder, message=message, rule="golden-missing"),)
    depth = layout.golden.count("/") + 1
    paths = [p for p in tree.list(layout.golden) if p.endswith((".yaml", ".yml")) and p.count("/") == depth]
    curves: list[GoldenCurve] = []
    problems: list[Problem] = []
    for path in paths[:MAX_FILES]:
        found, faults = parse_golden(read_text(tree, path) or "", path)
        curves += found
        problems += faults
    if len(paths) > MAX_FILES:
        message = f"The folder holds {len(paths)} files; only {MAX_FILES} were read."
        problems.append(Problem(path=layout.golden, message=message, rule="golden-size"))
    if not curves:
        message = "The folder of golden acceptance lengths holds no curve that can be read."
        return unavailable(message), (*problems, Problem(path=layout.golden, message=message, rule="golden-empty"))
    value = GoldenCurves(folder=layout.golden, curves=tuple(curves))
    faulty = ", ".join(sorted({problem.path for problem in problems}))
    part = partial(value, f"Not all of {faulty} could be read.") if faulty else complete(value)
    return part, tuple(problems)


def parse_golden(text: str, path: str) -> tuple[tuple[GoldenCurve, ...], tuple[Problem, ...]]:
    """The curves of one file's text. Never fails; a cell that cannot be true is left out and named."""
    try:
        found = leaves(text)
    except LeafError as error:
        message = f"The curve cannot be read: {error.message}."
        return (), (Problem(path=path, line=error.line, message=message, rule="golden-syntax"),)
    comments = [match[1] for line in text.splitlines() if (match := _SOURCE.match(line))]
    sampling = next((match[1] for comment in comments if (match := _SAMPLING.search(comment))), None)
    cells: dict[tuple[str, str], dict[int, tuple[float, int]]] = {}
    problems: list[Problem] = []
    for leaf in found:
        cell = _cell(leaf, path)
        if isinstance(cell, Problem):
            problems.append(cell)
            continue
        model, mode, level, value = cell
        curve = cells.setdefault((model, mode), {})
        if level in curve:
            message = f"Level {level} of {model} {mode} stands twice; the later value counts."
            problems.append(Problem(path=path, line=leaf.line, message=message, rule="golden-duplicate"))
        curve[level] = (value, leaf.line)
    name = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    curves = tuple(
        GoldenCurve(
            path=path,
            name=name,
            model=model,
            mode=mode,
            levels={level: value for level, (value, _) in curve.items()},
            lines={level: line for level, (_, line) in curve.items()},
            line=min(line for _, line in curve.values()),
            source=comments[0] if comments else "",
            sampling=sampling,
        )
        for (model, mode), curve in cells.items()
    )
    return curves, tuple(problems)


def _cell(leaf: Leaf, path: str) -> tuple[str, str, int, float] | Problem:
    """Model key, mode, level and acceptance length of a leaf; an acceptance length lies in [1, level + 1]."""
    if len(leaf.path) == 3 and leaf.path[1] in MODES and leaf.path[2].isascii() and leaf.path[2].isdigit():
        level = int(leaf.path[2][:6])
        try:
            value = float(leaf.value)
        except ValueError:
            value = math.nan
        if level > 0 and 1.0 <= value <= level + 1:
            return leaf.path[0], leaf.path[1], level, value
    message = f"{'.'.join(leaf.path)[:80] or 'The file'} = {leaf.value[:40]!r} is no acceptance length."
    return Problem(path=path, line=leaf.line, message=message, rule="golden-value")
