"""The bars that eval scores must reach."""

from __future__ import annotations

import msgspec


class EvalBar(msgspec.Struct, frozen=True, kw_only=True):
    """One bar: a share from 0 to 1, and where it stands. `prefix` is None for the default of all models."""

    task: str
    value: float
    path: str
    line: int | None
    prefix: str | None = None


class EvalBars(msgspec.Struct, frozen=True, kw_only=True):
    """All bars of one revision: `default` by task, `models` by exact model prefix and task."""

    path: str
    default: dict[str, EvalBar]
    models: dict[str, dict[str, EvalBar]]

    def bar(self, task: str, prefix: str) -> EvalBar | None:
        """The bar of a task for a model prefix (exact: `glm5.2` does not inherit `glm5`), else the task's default."""
        return self.models.get(prefix, {}).get(task) or self.default.get(task)
