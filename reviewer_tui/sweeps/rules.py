"""The rules by which the repository's generator turned entries into rows at one revision.

The generator's source is read as text, never executed: its constants as they stand there, and which of its features it
has already. Where there is no source that is recognised, the newest rules that are known apply.
"""

from __future__ import annotations

import re
from enum import IntEnum

import msgspec

from reviewer_tui.model.tree import Tree, read_text

MAX_SOURCE = 400_000


class Feature(IntEnum):
    """What the generator learned, in the order in which it did (`utils/matrix_logic/` of the repository, 2026).

    The features came one upon the other, so a generator that has one has all before it.
    """

    BASE = 0
    """All before. The choice of evals is that of 2026-06-20; earlier generators chose fewer."""
    KV_OFFLOADING = 1
    """`kv-offloading`, memory budgets and lists of concurrencies for agentic rows; before, `offloading` (07-02)."""
    CONTEXT_PARALLEL = 2
    """`dcp-size` and `pcp-size` (07-06)."""
    MULTINODE_OFFLOADING = 3
    """`kv-offloading` of agentic multi-node rows (07-09)."""
    PIPELINE_PARALLEL = 4
    """`pp` (07-10)."""
    WORKER_DEFAULTS = 5
    """`pp`, `dcp-size` and `pcp-size` filled in for workers (07-10)."""
    COMPONENTS = 6
    """`router`, `kv-p2p-transfer`, and offload backends with name and version (07-13)."""
    AGENTIC_SPECULATION = 7
    """`spec-decoding` of agentic single-node rows (07-13)."""
    AGENTIC_EVALS = 8
    """Evals of agentic single-node rows (07-16)."""
    MULTINODE_BUDGET = 9
    """Memory budgets of agentic multi-node rows (07-20)."""
    MULTINODE_AGENTIC_EVALS = 10
    """Evals of agentic multi-node rows, and their topology in experiment names (08-11)."""


NEWEST = max(Feature)

# A piece of the generator's source that came with the feature.
_TRACES = {
    Feature.KV_OFFLOADING: "Fields.KV_OFFLOADING",
    Feature.CONTEXT_PARALLEL: "Fields.DCP_SIZE",
    Feature.MULTINODE_OFFLOADING: "offload_suffix =",
    Feature.PIPELINE_PARALLEL: "Fields.PP.value",
    Feature.WORKER_DEFAULTS: "def with_worker_parallelism_defaults",
    Feature.COMPONENTS: "def component_metadata",
    Feature.AGENTIC_SPECULATION: "_spec-{spec_decoding}",
    Feature.AGENTIC_EVALS: "include_agentic",
    Feature.MULTINODE_BUDGET: "def worker_gpus_per_node",
    Feature.MULTINODE_AGENTIC_EVALS: "def multinode_agentic_exp_name",
}
_KNOWN_SOURCE = "def generate_test_config_sweep"
_KNOWN_FOLDER = "matrix_logic/"
_SEQUENCES = re.compile(r"^seq_len_stoi\s*=\s*\{([^}]{1,2000})\}", re.MULTILINE)
_SEQUENCE = re.compile(r"[\"']([\w.-]{1,40})[\"']\s*:\s*\(\s*(\d{1,9})\s*,\s*(\d{1,9})\s*\)")


class GeneratorRules(msgspec.Struct, frozen=True, kw_only=True):
    """How entries become rows. Memory in MiB, duration in seconds; `sequences` holds (name, isl, osl).

    `recognised` says whether they are read from a generator this program knows; else they are the newest it knows."""

    feature: Feature = NEWEST
    recognised: bool = False
    min_eval_conc: int = 16
    agentic_concs_per_row: int = 1
    dram_cap_mib: int = 2_861_022
    agentic_duration: int = 3600
    agentic_evals_disabled: bool = False
    sequences: tuple[tuple[str, int, int], ...] = (("1k1k", 1024, 1024), ("8k1k", 8192, 1024))

    def has(self, feature: Feature) -> bool:
        return self.feature >= feature

    @property
    def eval_sequence(self) -> tuple[int, int]:
        """The only sequence lengths that are evaluated (`mark_eval_entries`: 8k1k)."""
        return next(((isl, osl) for name, isl, osl in self.sequences if name == "8k1k"), (8192, 1024))

    def sequence_name(self, isl: object, osl: object) -> str:
        """`8k1k`, or `<isl>_<osl>` for a pair without a name."""
        return next((name for name, *pair in self.sequences if pair == [isl, osl]), f"{isl}_{osl}")


def read_rules(tree: Tree, generator: str | None) -> GeneratorRules:
    """The rules of a revision; `generator` is the path of its generator (`layout.generator`), None: it has none."""
    source = (read_text(tree, generator) or "")[:MAX_SOURCE] if generator else ""
    if generator is None or _KNOWN_SOURCE not in source or _KNOWN_FOLDER not in generator:
        return GeneratorRules()
    schema = (read_text(tree, f"{generator.rpartition('/')[0]}/validation.py") or "")[:MAX_SOURCE]
    newest = GeneratorRules()
    feature = next((feature for feature in sorted(_TRACES, reverse=True) if _TRACES[feature] in source), Feature.BASE)
    return GeneratorRules(
        feature=feature,
        recognised=True,
        min_eval_conc=_number(source, "MIN_EVAL_CONC", newest.min_eval_conc),
        agentic_concs_per_row=max(1, _number(source, "MAX_MULTINODE_AGENTIC_CONCURRENCIES_PER_ALLOCATION", 1)),
        dram_cap_mib=_number(source, "MAX_AGENTIC_AVAILABLE_CPU_DRAM_MIB", newest.dram_cap_mib),
        agentic_duration=_number(schema, "DEFAULT_AGENTIC_DURATION_SECONDS", newest.agentic_duration),
        agentic_evals_disabled=re.search(r"^AGENTIC_EVALS_DISABLED\s*=\s*True\b", source, re.MULTILINE) is not None,
        sequences=_sequences(source) or newest.sequences,
    )


def _number(source: str, name: str, otherwise: int) -> int:
    match = re.search(rf"^{name}\s*=\s*([0-9][0-9_]{{0,15}})\s*(?:#.*)?$", source, re.MULTILINE)
    return int(match[1].replace("_", "")) if match else otherwise


def _sequences(source: str) -> tuple[tuple[str, int, int], ...]:
    table = _SEQUENCES.search(source)
    if table is None:
        return ()
    return tuple((name, int(isl), int(osl)) for name, isl, osl in _SEQUENCE.findall(table[1]))
