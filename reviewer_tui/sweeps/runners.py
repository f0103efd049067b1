"""`runners.yaml`: which machines stand behind a runner label, and the memory and GPUs of their nodes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

from reviewer_tui.model.finding import Problem
from reviewer_tui.sweeps.document import read_document
from reviewer_tui.sweeps.plain import read_plain

CLUSTER_PREFIX = "cluster:"


class Hardware(msgspec.Struct, frozen=True):
    """One node of a label's machines: available memory in MiB and its GPUs; None where the file gives no number."""

    available_cpu_dram_mib: int | None
    gpus_per_node: int | None
    line: int = 0


class Runners(msgspec.Struct, frozen=True, kw_only=True):
    """The labels with their machines, and the hardware by label."""

    path: str
    labels: dict[str, tuple[str, ...]] = {}
    hardware: dict[str, Hardware] = {}
    lines: dict[str, int] = {}
    problems: tuple[Problem, ...] = ()

    def machines(self, label: str) -> tuple[str, ...]:
        """The runner names of a label; empty where the label is not defined."""
        return self.labels.get(label, ())

    def knows(self, label: str) -> bool:
        """Whether the label is defined, or is the name of a machine."""
        return label in self.labels or any(label in names for names in self.labels.values())


NO_RUNNERS = Runners(path="")


@lru_cache(maxsize=8)
def parse_runners(text: bytes | str, path: str) -> Runners:
    """All three forms of the file: `labels:` with `hardware:`, `labels:` with `clusters:` (autumn 2026), and the plain
    mapping of labels (until 2026-07-02). Never fails: faults are problems. The last few texts are remembered."""
    decoded = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    read = read_plain(decoded) if decoded.isascii() else None
    problems: list[Problem] = []
    if read is not None:
        value, lines = read
    else:
        document = read_document(decoded, path)
        value, lines = document.value, document.lines
        problems.extend(document.problems)
    if not isinstance(value, dict):
        if not problems:
            problems.append(Problem(path=path, message="The file is no mapping.", rule="no-mapping", line=1, column=1))
        return Runners(path=path, problems=tuple(problems))
    reader = _Reader(path, lines, problems)
    nested = isinstance(value.get("labels"), dict)
    labels = reader.labels(value["labels"] if nested else value, "labels." if nested else "")
    hardware = reader.hardware(value.get("hardware"), "hardware.", "") if nested else {}
    if nested and "clusters" in value:
        hardware.update(reader.hardware(value["clusters"], "clusters.", CLUSTER_PREFIX))
    return Runners(path=path, labels=labels, hardware=hardware, lines=dict(lines), problems=tuple(problems))


class _Reader:
    def __init__(self, path: str, lines: dict[str, int], problems: list[Problem]) -> None:
        self._path = path
        self._lines = lines
        self._problems = problems

    def labels(self, value: dict[Any, Any], start: str) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for label, names in value.items():
            if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
                self._report(f"{start}{label}", "runner-label", f"The label {str(label)[:80]!r} is no list of names.")
            else:
                found[str(label)] = tuple(names)
        return found

    def hardware(self, value: Any, start: str, prefix: str) -> dict[str, Hardware]:
        """The hardware table; a cluster's name is its label without `cluster:`."""
        found: dict[str, Hardware] = {}
        if value is None:
            return found
        if not isinstance(value, dict):
            self._report(start.rstrip("."), "runner-hardware", "The hardware is no mapping of labels.")
            return found
        for name, facts in value.items():
            label = str(name) if str(name).startswith(prefix) else f"{prefix}{name}"
            if not isinstance(facts, dict):
                self._report(f"{start}{name}", "runner-hardware", f"The hardware of {label[:80]!r} is no mapping.")
                continue
            memory, gpus = (self._number(f"{start}{name}", label, facts, field) for field in _HARDWARE_FIELDS)
            found[label] = Hardware(memory, gpus, self._lines.get(f"{start}{name}", 0))
        return found

    def _number(self, path: str, label: str, facts: dict[Any, Any], field: str) -> int | None:
        value = facts.get(field, facts.get(field.replace("-", "_")))
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        self._report(path, "runner-hardware", f"The hardware of {label[:80]!r} has no usable {field!r}.")
        return None

    def _report(self, where: str, rule: str, message: str) -> None:
        line = self._lines.get(where)
        self._problems.append(Problem(path=self._path, message=message, rule=rule, line=line, column=None))


_HARDWARE_FIELDS = ("available-cpu-dram-mib", "gpus-per-node")
