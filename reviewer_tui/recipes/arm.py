"""A recipe arm: one deployment that an upstream page documents, whatever encoding the page keeps it in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from reviewer_tui.model.finding import Problem

Engine = Literal["sglang", "vllm"]
RoleName = Literal["worker", "prefill", "decode", "router"]
Encoding = Literal["yaml", "guide", "widget", "cells", "agentx", "command"]
Scalar = bool | int | float | str
Value = Scalar | tuple[Scalar, ...]

# Which source of one page to believe first where they disagree (reference: recipes of SGLang, trap 5).
ENCODING_RANK: Mapping[Encoding, int] = {"yaml": 0, "widget": 0, "cells": 1, "agentx": 2, "command": 3, "guide": 4}


class Located(str):
    """A text with the line (from 1) of the file where it stands."""

    __slots__ = ("line",)
    line: int | None

    def __new__(cls, text: str, line: int | None = None) -> Located:
        located = super().__new__(cls, text)
        located.line = line
        return located


def line_of(text: object) -> int | None:
    """The line of a located text; None for anything else."""
    return text.line if isinstance(text, Located) else None


class Argument(msgspec.Struct, frozen=True):
    """One server argument: its value, the flag as it was written, and its line where that is known."""

    value: Value
    flag: str
    line: int | None = None


class Role(msgspec.Struct, frozen=True, kw_only=True):
    """One process of a deployment. `args` is by concept (see `arguments`); `workers` is how many of them run, each
    over `nodes` nodes."""

    name: RoleName
    args: Mapping[str, Argument]
    env: Mapping[str, str] = {}
    workers: int = 1
    nodes: int = 1

    def value(self, concept: str) -> Value | None:
        argument = self.args.get(concept)
        return None if argument is None else argument.value

    def size(self, concept: str) -> int:
        """A degree of parallelism; 1 where it is absent or no number."""
        value = self.value(concept)
        return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 1

    @property
    def tp(self) -> int:
        return self.size("tp")

    @property
    def pp(self) -> int:
        return self.size("pp")

    @property
    def dp(self) -> int:
        return self.size("dp")

    @property
    def dcp(self) -> int:
        return self.size("dcp")

    @property
    def ep(self) -> int:
        """The expert parallel degree; vLLM's switch spreads the experts over all tensor and data ranks."""
        return self.tp * self.dp if self.value("ep_enabled") is True else self.size("ep")

    @property
    def dp_attn(self) -> bool:
        """Whether attention runs data-parallel: SGLang's switch, or vLLM's data parallel ranks with shared experts."""
        return self.value("dp_attn") is True or (self.value("ep_enabled") is True and self.dp > 1)

    @property
    def speculative(self) -> str | None:
        """The speculative method; None without speculation."""
        method = self.value("spec.method")
        return method if isinstance(method, str) else None

    @property
    def shape(self) -> str:
        """The parallelism in a few words: `tp2 ep2 EAGLE`."""
        words = [f"tp{self.tp}"]
        words += [f"{name}{size}" for name, size in (("pp", self.pp), ("ep", self.ep), ("dp", self.dp)) if size > 1]
        words += ["dp-attention"] if self.dp_attn else []
        words += [f"dcp{self.dcp}"] if self.dcp > 1 else []
        return " ".join([*words, *([self.speculative] if self.speculative else [])])


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """Where a generated page has an arm from. `pull_request` and `commit` are of `repository` (`owner/name`)."""

    repository: str
    commit: str
    status: str
    pull_request: int | None = None
    run: str = ""
    config_key: str = ""


class RecipeArm(msgspec.Struct, frozen=True, kw_only=True):
    """One documented deployment.

    `repository` and `path` name the file, `commit` the revision it was read at, `line` the arm's place in it; `url`
    is the published page. `hardware` is the page's own id in lower case, empty where the page does not say.
    `verified` is True where the page says so, False where it denies it, None where it does not speak of it.
    """

    repository: str
    path: str
    commit: str
    url: str
    label: str
    engine: Engine
    checkpoint: str
    hardware: str
    roles: tuple[Role, ...]
    encoding: Encoding
    nodes: int = 1
    line: int | None = None
    verified: bool | None = None
    provenance: Provenance | None = None
    notes: tuple[str, ...] = ()
    selection: Mapping[str, str] = {}

    def role(self, name: RoleName) -> Role | None:
        return next((role for role in self.roles if role.name == name), None)

    @property
    def serving(self) -> Role | None:
        """The first role that serves a model (not the router)."""
        return next((role for role in self.roles if role.name != "router"), None)

    @property
    def place(self) -> str:
        """Where the arm stands, for people: path and line."""
        return self.path if self.line is None else f"{self.path}:{self.line}"


class Width(msgspec.Struct, frozen=True, kw_only=True):
    """What a page says in words: tensor parallel degrees for hardware, of a precision where it names one."""

    hardware: str
    precision: str
    tp: tuple[int, ...]
    path: str
    line: int


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What a reader found on a page, what it could not read (each located), and what the page says in words."""

    arms: tuple[RecipeArm, ...] = ()
    problems: tuple[Problem, ...] = ()
    stated: tuple[Width, ...] = ()


def joined(readings: tuple[Reading, ...] | list[Reading]) -> Reading:
    """Several readings as one."""
    return Reading(
        arms=tuple(arm for reading in readings for arm in reading.arms),
        problems=tuple(problem for reading in readings for problem in reading.problems),
        stated=tuple(width for reading in readings for width in reading.stated),
    )
