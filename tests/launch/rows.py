"""Rows of the generator, as short as a test needs them."""

from __future__ import annotations

from typing import Any


def one_node(**fields: Any) -> dict[str, Any]:
    """A row of a benchmark on one node; `_` in a name stands for `-`."""
    row = {
        "image": "lmsysorg/sglang:v0.5.14-cu130",
        "model": "org/Big-FP8",
        "model-prefix": "big",
        "precision": "fp8",
        "framework": "sglang",
        "runner": "b200",
        "isl": 8192,
        "osl": 1024,
        "max-model-len": 9472,
        "tp": 8,
        "ep": 1,
        "dp-attn": False,
        "spec-decoding": "none",
        "conc": 16,
        "exp-name": "big_8k1k",
        "disagg": False,
        "run-eval": False,
    }
    return row | {name.replace("_", "-"): value for name, value in fields.items()}


def several_nodes(**fields: Any) -> dict[str, Any]:
    """A row of a benchmark with prefill and decode workers."""
    worker = {"num-worker": 1, "tp": 4, "ep": 1, "dp-attn": False, "additional-settings": []}
    row = one_node(framework="dynamo-sglang", prefill=dict(worker), decode=dict(worker), disagg=True, conc=[4, 8])
    for name in ("tp", "ep", "dp-attn"):
        del row[name]
    return row | {name.replace("_", "-"): value for name, value in fields.items()}
