"""The environment a launch script starts with: the variables that the benchmark workflows set for one row.

Source: the `env:` blocks of `benchmark-tmpl.yml` and `benchmark-multinode-tmpl.yml` and the inputs that `run-sweep.yml`
gives them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from reviewer_tui.launch.shell_parser import parse
from reviewer_tui.launch.shell_world import ROOT
from reviewer_tui.launch.syntax import Assignment, Simple
from reviewer_tui.launch.text import Text, unknown
from reviewer_tui.sweeps.rows import Row, is_agentic, is_multinode

_PLAIN = {
    "EXP_NAME": "exp-name",
    "MODEL": "model",
    "MODEL_PREFIX": "model-prefix",
    "IMAGE": "image",
    "FRAMEWORK": "framework",
    "PRECISION": "precision",
    "SPEC_DECODING": "spec-decoding",
    "RUNNER_TYPE": "runner",
    "RECIPE_FINGERPRINT": "recipe-fingerprint",
    "KV_P2P_TRANSFER": "kv-p2p-transfer",
    "KV_OFFLOADING": "kv-offloading",
}
_SINGLE_NODE = {
    "TP": "tp",
    "PP_SIZE": "pp",
    "DCP_SIZE": "dcp-size",
    "PCP_SIZE": "pcp-size",
    "EP_SIZE": "ep",
    "DP_ATTENTION": "dp-attn",
}
_WORKER = {
    "NUM_WORKERS": "num-worker",
    "TP": "tp",
    "PP_SIZE": "pp",
    "DCP_SIZE": "dcp-size",
    "PCP_SIZE": "pcp-size",
    "EP": "ep",
    "DP_ATTN": "dp-attn",
}
_SET_ELSEWHERE = ("RESULT_FILENAME", "RANDOM_RANGE_RATIO", "RUNNER_NAME", "HF_TOKEN", "GITHUB_RUN_ID")
"""Variables that are set to something which no row tells."""


def environment_of(row: Row, *, eval_only: bool | None = None) -> dict[str, Text]:
    """The exported variables for a row of the generator. `eval_only` overrides what the row itself says.

    A row of several concurrencies has them in `CONC_LIST`; `CONC` is then the first of them.
    """
    values = {name: row.get(field) for name, field in _PLAIN.items()}
    environment: dict[str, Text] = {name: _text(value) for name, value in values.items()}
    environment.update({name: unknown(f"value of {name}", nonempty=True) for name in _SET_ELSEWHERE})
    only = bool(row.get("eval-only")) if eval_only is None else eval_only
    agentic = is_agentic(row)
    environment |= {
        "ISL": _text(row.get("isl", 0)),
        "OSL": _text(row.get("osl", 0)),
        "MAX_MODEL_LEN": _text(row.get("max-model-len", 0)),
        "DISAGG": _text(row.get("disagg", False)),
        "RUN_EVAL": _text(bool(row.get("run-eval")) or only),
        "EVAL_ONLY": _text(only),
        "SCENARIO_TYPE": "agentic-coding" if agentic else "fixed-seq-len",
        "SCENARIO_SUBDIR": "agentic/" if agentic else "fixed_seq_len/",
        "IS_AGENTIC": "1" if agentic else "0",
        "KV_OFFLOAD_BACKEND": _backend(row.get("kv-offload-backend")),
        "KV_OFFLOAD_BACKEND_METADATA": _metadata(row.get("kv-offload-backend")),
        "ROUTER_METADATA": _metadata(row.get("router")),
        "TOTAL_CPU_DRAM_GB": _text(row.get("total-cpu-dram-gb", 0)),
        "DURATION": _text(row.get("duration", 3600)),
        "GITHUB_WORKSPACE": ROOT,
        "CONC": _concurrencies(row)[0] if _concurrencies(row) else "",
    }
    if is_multinode(row):
        _add_workers(environment, row)
    else:
        environment |= {name: _text(row.get(field, 1)) for name, field in _SINGLE_NODE.items()}
        environment |= {"RESULT_DIR": f"{ROOT}/results", "DP_ATTENTION": _text(row.get("dp-attn", False))}
    return environment


def _add_workers(environment: dict[str, Text], row: Row) -> None:
    concurrencies = _concurrencies(row)
    environment["CONC_LIST"] = " ".join(concurrencies)
    environment["EVAL_CONC"] = _text(row.get("eval-conc"))
    environment["IS_MULTINODE"] = "true"
    for role in ("prefill", "decode"):
        worker = row.get(role)
        if not isinstance(worker, Mapping):
            continue
        for name, field in _WORKER.items():
            environment[f"{role.upper()}_{name}"] = _text(worker.get(field))
        environment[f"{role.upper()}_HARDWARE"] = _text(worker.get("hardware"))
    for role in ("prefill", "decode"):
        worker = row.get(role)
        settings = worker.get("additional-settings") if isinstance(worker, Mapping) else None
        environment.update(settings_of(settings))


def settings_of(settings: object) -> dict[str, Text]:
    """`additional-settings` as the shell reads them: the workflow pastes them after `export`."""
    if not isinstance(settings, list):
        return {}
    line = "export " + " ".join(str(setting) for setting in settings)
    found: dict[str, Text] = {}
    for statement in parse(line, "additional-settings").statements[:1]:
        for word in statement.words if isinstance(statement, Simple) else ():
            if isinstance(word, Assignment):
                value = word.value.constant if word.value is not None else None
                found[word.name] = unknown(f"value of {word.name}") if value is None else value
    return found


def _backend(value: object) -> str:
    """The name of an offload backend, which until July 2026 was all that a row had."""
    return _text(value.get("name") if isinstance(value, Mapping) else value)


def _concurrencies(row: Row) -> list[str]:
    conc = row.get("conc")
    return [str(value) for value in conc] if isinstance(conc, list) else ([] if conc is None else [str(conc)])


def _text(value: object) -> str:
    """A value as GitHub's expressions print it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _metadata(value: object) -> str:
    return json.dumps(value) if value else ""
