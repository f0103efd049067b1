"""The bars that eval scores must reach.

Three forms of the file are in use: a flat mapping of tasks (the oldest, all of it the default), `default` and
`models` in JSON or YAML, and JSON text in a `.yaml` file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

import msgspec

from reviewer_tui.model.finding import Problem
from reviewer_tui.model.part import Part, complete, partial, unavailable
from reviewer_tui.model.tree import Tree, read_text
from reviewer_tui.policy.layout import Layout
from reviewer_tui.policy.yaml_leaves import MAX_BYTES, Leaf, LeafError, leaves


class EvalBar(msgspec.Struct, frozen=True, kw_only=True):
    """One bar: a share from 0 to 1, and where it stands. `prefix` is None for the default of all models; `line` is
    None where the file's form hides it."""

    task: str
    value: float
    path: str
    line: int | None
    prefix: str | None = None

    @property
    def source(self) -> str:
        """Where the bar comes from, in the file's words: `default` or `models.<prefix>`."""
        return "default" if self.prefix is None else f"models.{self.prefix}"


class EvalBars(msgspec.Struct, frozen=True, kw_only=True):
    """All bars of one revision: `default` by task, `models` by exact model prefix and task."""

    path: str
    default: dict[str, EvalBar]
    models: dict[str, dict[str, EvalBar]]

    def bar(self, task: str, prefix: str) -> EvalBar | None:
        """The bar of a task for a model prefix (exact: `glm5.2` does not inherit `glm5`), else the task's default.

        None: the file names none, and the repository's own validator falls back to its `--min-score`.
        """
        return self.models.get(prefix, {}).get(task) or self.default.get(task)


def read_eval_bars(tree: Tree, layout: Layout) -> tuple[Part[EvalBars], tuple[Problem, ...]]:
    """The bars of a revision, and what is wrong in their file."""
    if layout.eval_bars is None or (text := read_text(tree, layout.eval_bars)) is None:
        problem = Problem(
            path=f"{layout.root}infx/evals/thresholds.yaml" if layout.root else "utils/evals/thresholds.yaml",
            message="This revision has no file of eval bars.",
            rule="eval-bars-missing",
        )
        return unavailable(problem.message), (problem,)
    return parse_eval_bars(text, layout.eval_bars)


def parse_eval_bars(text: str, path: str) -> tuple[Part[EvalBars], tuple[Problem, ...]]:
    """The bars of a file's text, whichever form it has. Never fails."""
    try:
        found = _leaves(text)
    except LeafError as error:
        message = f"The eval bars cannot be read: {error.message}."
        return unavailable(message), (Problem(path=path, line=error.line, message=message, rule="eval-bars-syntax"),)
    nested = any(leaf.path[0] in ("default", "models") and len(leaf.path) > 1 for leaf in found if leaf.path)
    default: dict[str, EvalBar] = {}
    models: dict[str, dict[str, EvalBar]] = {}
    problems: list[Problem] = []
    for leaf in found:
        bar = _bar(leaf, nested, path)
        if isinstance(bar, Problem):
            problems.append(bar)
            continue
        place = default if bar.prefix is None else models.setdefault(bar.prefix, {})
        if bar.task in place:
            message = f"The bar of {bar.source}.{bar.task} stands twice; the later one counts."
            problems.append(Problem(path=path, line=bar.line, message=message, rule="eval-bars-duplicate"))
        place[bar.task] = bar
    if not default and not models:
        message = "The file of eval bars holds no bar."
        return unavailable(message), (*problems, Problem(path=path, message=message, rule="eval-bars-empty"))
    bars = EvalBars(path=path, default=default, models=models)
    unread = sum(problem.rule == "eval-bars-value" for problem in problems)
    part = partial(bars, f"{unread} entries of {path} are no bars.") if unread else complete(bars)
    return part, tuple(problems)


def _bar(leaf: Leaf, nested: bool, path: str) -> EvalBar | Problem:
    line = leaf.line or None
    match leaf.path:
        case ("default", task) if nested:
            prefix = None
        case ("models", name, task) if nested:
            prefix = name
        case (task,) if not nested:
            prefix = None
        case _:
            return _not_a_bar(leaf, path)
    try:
        value = float(leaf.value)
    except ValueError:
        value = math.nan
    if not 0.0 <= value <= 1.0:
        return _not_a_bar(leaf, path)
    return EvalBar(task=task, value=value, path=path, line=line, prefix=prefix)


def _not_a_bar(leaf: Leaf, path: str) -> Problem:
    name = ".".join(leaf.path)[:80] or "The file"
    message = f"{name} = {leaf.value[:40]!r} is no bar: a share from 0 to 1 is expected there."
    return Problem(path=path, line=leaf.line or None, message=message, rule="eval-bars-value")


def _leaves(text: str) -> tuple[Leaf, ...]:
    """The file's values; JSON that YAML refuses (tabs) is read as JSON, then without lines."""
    try:
        return leaves(text)
    except LeafError:
        if len(text) > MAX_BYTES:
            raise
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            content = None
        if not isinstance(content, Mapping):
            raise
        return tuple(_flat(content, ()))


def _flat(content: Mapping[str, object], path: tuple[str, ...]) -> list[Leaf]:
    found: list[Leaf] = []
    for key, value in content.items():
        if isinstance(value, Mapping) and len(path) < 3:
            found += _flat(value, (*path, key))
        else:
            found.append(Leaf((*path, key), str(value), 0))
    return found
