"""Lanes: the jobs of a sweep, their families, and the names that jobs and artifacts have on GitHub.

Names follow `run-sweep.yml`, `benchmark-tmpl.yml` and `benchmark-multinode-tmpl.yml` of the repository. GitHub joins
the caller's and the callee's name with ` / `, and the callers' names already end in ` /`; blank parts leave double
blanks. Compare names through `collapse`, and families by prefix.
"""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from reviewer_tui.sweeps.rows import Row, is_agentic, is_multinode, recipe_fingerprint
from reviewer_tui.sweeps.rules import GeneratorRules

Family = Literal[
    "single-node 1k1k",
    "single-node 8k1k",
    "agentic",
    "multi-node 1k1k",
    "multi-node 8k1k",
    "multi-node agentic",
    "eval",
    "agentic eval",
    "multi-node eval",
    "multi-node agentic eval",
]

THROUGHPUT_FAMILIES: tuple[Family, ...] = (
    "single-node 1k1k",
    "single-node 8k1k",
    "agentic",
    "multi-node 1k1k",
    "multi-node 8k1k",
    "multi-node agentic",
)
EVAL_FAMILIES: tuple[Family, ...] = ("eval", "agentic eval", "multi-node eval", "multi-node agentic eval")
CANARY = "canary"
# In this order: each is tried before one that its name begins with.
_PREFIXES: tuple[str, ...] = (
    CANARY,
    *("single-node 1k1k", "single-node 8k1k", "multi-node 1k1k", "multi-node 8k1k"),
    *("multi-node agentic eval", "multi-node agentic", "multi-node eval", "agentic eval", "agentic", "eval"),
)
_DISPATCHED_PREFIXES = ("single-node", "multi-node")
"""Families of `e2e-tests.yml` that carry no sequence length."""
_SHORT_FRAMEWORKS = {"sglang": "sgl", "dynamo-sglang": "dyn-sgl", "sglang-disagg": "sgl-disagg"}
_BLANKS = re.compile(r"\s+")
_FINGERPRINT_LENGTH = 16


class Lane(msgspec.Struct, frozen=True, kw_only=True):
    """One job that a sweep needs. `canary` says that it runs first, alone, as `canary /`; `row` is the generator's."""

    family: Family
    key: str
    row: Row
    line: int = 0
    canary: bool = False

    @property
    def prefix(self) -> str:
        """What the job's name begins with."""
        return CANARY if self.canary else self.family

    @property
    def name(self) -> str:
        """The job's name without the priority; see `matches`."""
        return f"{self.prefix} / / {callee_name(self.row)}"

    @property
    def fingerprint(self) -> str:
        """The recipe's fingerprint; empty for evals, which have none."""
        return "" if self.family in EVAL_FAMILIES else recipe_fingerprint(self.row)

    def matches(self, check_run: str) -> bool:
        """Whether a check-run's name is that of this lane, whatever its priority and its matrix suffix."""
        name = collapse(check_run)
        return prefix_of(name) == self.prefix and name.endswith(f"| {collapse(callee_name(self.row))}")


def family_of(row: Row, rules: GeneratorRules | None = None) -> Family | None:
    """The family of a row's job; None for sequence lengths that no job of the workflow reads."""
    evaluates = row.get("eval-only") is True
    node = "multi-node" if is_multinode(row) else ""
    if is_agentic(row):
        kind = "agentic eval" if evaluates else "agentic"
    elif evaluates:
        kind = "eval"
    else:
        name = (rules or _NEWEST).sequence_name(row.get("isl"), row.get("osl"))
        kind = f"{'' if node else 'single-node '}{name}"
    family = f"{node} {kind}".strip()
    return next((known for known in (*THROUGHPUT_FAMILIES, *EVAL_FAMILIES) if known == family), None)


_NEWEST = GeneratorRules()


def prefix_of(check_run: str) -> str | None:
    """The family prefix of a check-run's name (a family, `canary`, or as in `e2e-tests.yml`); None for other jobs."""
    name = collapse(check_run)
    for prefix in (*_PREFIXES, *_DISPATCHED_PREFIXES):
        rest = name.removeprefix(prefix)
        if rest != name and (rest.startswith(" /") or not rest):
            return prefix
    return None


def collapse(name: str) -> str:
    """A job's name with single blanks."""
    return _BLANKS.sub(" ", name).strip()


def job_name(row: Row, priority: str = "", rules: GeneratorRules | None = None) -> str:
    """The name of a row's job as GitHub shows it: `eval / / p3.500 | dsv4 fp4 ...`.

    `priority` is the score with three decimals (`sweeps.priority`); without one the part is left out. The family is
    empty for rows that no job reads, and a canary is not known from its row.
    """
    score = f"p{priority} | " if priority else ""
    return f"{family_of(row, rules) or ''} / / {score}{callee_name(row)}"


def callee_name(row: Row) -> str:
    """The part of a job's name that the benchmark template writes, after the priority."""
    framework = str(row.get("framework", ""))
    engine = _SHORT_FRAMEWORKS.get(framework, framework)
    head = f"{row.get('model-prefix')} {row.get('precision')} {row.get('runner')} {engine}"
    backend = row.get("kv-offload-backend")
    backend = backend.get("name") if isinstance(backend, dict) else backend
    mode = row.get("kv-offloading", "none")
    speculation = row.get("spec-decoding", "none")
    conc = row.get("conc")
    concs = "x".join(str(value) for value in conc) if isinstance(conc, list) else str(conc)
    parts = [
        *_topology_parts(row),
        "" if speculation == "none" else str(speculation),
        "" if mode in ("none", "", None) else f"{mode} KV offload",
        "" if backend in (None, "", "none", "default") else str(backend),
        f"c{concs}{_eval_mark(row)}",
    ]
    return " ".join([head, *parts])


def _eval_mark(row: Row) -> str:
    return " | eval-only" if row.get("eval-only") else ""


def _topology_parts(row: Row) -> list[str]:
    prefill, decode = row.get("prefill"), row.get("decode")
    if not isinstance(prefill, dict) or not isinstance(decode, dict):
        return [_parallelism(row)]
    if row.get("disagg") is not True:
        return [f"({_parallelism(prefill)})", ""]
    return [
        f"{prefill.get('num-worker')}P ({_parallelism(prefill)})",
        f"x {decode.get('num-worker')}D ({_parallelism(decode)})",
    ]


def _parallelism(holder: dict[str, Any]) -> str:
    text = f"TP{holder.get('tp')}"
    for field, letters in (("pp", "PP"), ("dcp-size", "DCP"), ("pcp-size", "PCP"), ("ep", "EP")):
        value = holder.get(field, 1)
        if str(value) not in ("", "1"):
            text += f"/{letters}{value}"
    return f"{text}/DPA" if holder.get("dp-attn") is True else text


def result_filename(row: Row, machine: str, fingerprint: str | None = None) -> str:
    """RESULT_FILENAME of a row on a runner (`machine` is its name, or `*`).

    `fingerprint` is appended for benchmarks since 2026-08-14; None: taken from the row, empty: left out.
    """
    prefill, decode = row.get("prefill"), row.get("decode")
    if isinstance(prefill, dict) and isinstance(decode, dict):
        topology = f"prefill-{_sizes(prefill, 'dp')}_decode-{_sizes(decode, 'dp')}"
    else:
        topology = _sizes(row, "dpa")
    conc = row.get("conc")
    concs = "x".join(str(value) for value in conc) if isinstance(conc, list) else str(conc)
    name = (
        f"{row.get('exp-name')}_{row.get('precision')}_{row.get('framework')}_{topology}"
        f"_disagg-{_flag(row.get('disagg', False))}_spec-{row.get('spec-decoding', 'none')}_conc{concs}_{machine}"
    )
    if fingerprint is None:
        fingerprint = "" if row.get("eval-only") else str(row.get("recipe-fingerprint") or recipe_fingerprint(row))
    return f"{name}_recipe-{fingerprint[:_FINGERPRINT_LENGTH]}" if fingerprint else name


def _sizes(holder: dict[str, Any], attention: str) -> str:
    fields = (("tp", "tp"), ("pp", "pp"), ("dcp-size", "dcp"), ("pcp-size", "pcp"), ("ep", "ep"))
    text = "-".join(f"{name}{holder.get(field, 1)}" for field, name in fields)
    text = f"{text}-{attention}{_flag(holder.get('dp-attn', False))}"
    return f"{text}-nw{holder['num-worker']}" if "num-worker" in holder else text


def _flag(value: Any) -> str:
    return "true" if value else "false"


def artifact_names(row: Row, machine: str, fingerprint: str | None = None) -> tuple[str, ...]:
    """The artifacts with data that a row's job leaves behind, logs and metrics left out."""
    name = result_filename(row, machine, fingerprint)
    if row.get("eval-only"):
        return (f"eval_{name}",) if is_multinode(row) else (f"eval_{row.get('exp-name')}_{name}",)
    return (f"bmk_agentic_{name}", f"agentic_{name}") if is_agentic(row) else (f"bmk_{name}",)
