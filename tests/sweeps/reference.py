"""The generator told again, slowly and from its description, to judge the program's expansion by.

Nothing here is shared with the package: rows by plain loops, memory in exact fractions, evals chosen by comparing every
row with every other.
"""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from typing import Any

Row = dict[str, Any]

DRAM_CAP = 2_861_022
MIN_EVAL_CONC = 16


def rows_of(entries: list[dict[str, Any]], hardware: dict[str, tuple[int, int]], mode: str) -> list[Row]:
    """The rows of these entries; `hardware` is label to (available MiB, GPUs of a node)."""
    rows: list[Row] = []
    for entry in entries:
        for item in entry["scenarios"].get("fixed-seq-len", []):
            for arm in item["search-space"]:
                rows += fixed_rows(entry, item, arm)
        for item in entry["scenarios"].get("agentic-coding", []):
            for arm in item["search-space"]:
                rows += agentic_rows(entry, item, arm, hardware)
    rows = copy.deepcopy(rows)
    if mode != "none":
        mark(rows, agentic=mode != "default")
    if mode == "all":
        rows = widen(rows)
    if mode in ("only", "all"):
        rows = [row for row in rows if row["run-eval"]]
        for row in rows:
            row["eval-only"] = True
    return rows


def concs_of(arm: dict[str, Any]) -> list[int]:
    if "conc-list" in arm:
        return list(arm["conc-list"])
    found: list[int] = []
    conc = arm["conc-start"]
    while True:
        if conc >= arm["conc-end"]:
            return [*found, arm["conc-end"]]
        found.append(conc)
        conc = conc * 2


def common(entry: dict[str, Any]) -> Row:
    return {name: entry[name] for name in ("image", "model", "model-prefix", "precision", "framework", "runner")}


def components(entry: dict[str, Any], arm: dict[str, Any]) -> Row:
    return {
        name: arm.get(name, entry.get(name))
        for name in ("router", "kv-p2p-transfer")
        if arm.get(name, entry.get(name)) is not None
    }


def worker(value: dict[str, Any]) -> Row:
    return {"pp": 1, "dcp-size": 1, "pcp-size": 1, **value}


def fixed_rows(entry: dict[str, Any], item: dict[str, Any], arm: dict[str, Any]) -> list[Row]:
    isl, osl = item["isl"], item["osl"]
    name = {(1024, 1024): "1k1k", (8192, 1024): "8k1k"}.get((isl, osl), f"{isl}_{osl}")
    row: Row = {
        **common(entry),
        "isl": isl,
        "osl": osl,
        "max-model-len": isl + osl + 256,
        "spec-decoding": arm.get("spec-decoding", "none"),
        "exp-name": f"{entry['model-prefix']}_{name}",
        "disagg": entry.get("disagg", False),
        "run-eval": False,
        **components(entry, arm),
    }
    if entry["multinode"]:
        return [{**row, "prefill": worker(arm["prefill"]), "decode": worker(arm["decode"]), "conc": concs_of(arm)}]
    sizes = {
        "tp": arm["tp"],
        **{field: arm.get(field, 1) for field in ("pp", "dcp-size", "pcp-size", "ep")},
        "dp-attn": arm.get("dp-attn", False),
    }
    return [{**row, **sizes, "conc": conc} for conc in concs_of(arm)]


def agentic_rows(
    entry: dict[str, Any], item: dict[str, Any], arm: dict[str, Any], hardware: dict[str, tuple[int, int]]
) -> list[Row]:
    mode = arm.get("kv-offloading", "none")
    row: Row = {
        **common(entry),
        "spec-decoding": arm.get("spec-decoding", "none"),
        "kv-offloading": mode,
        "total-cpu-dram-gb": budget(item, arm, hardware.get(entry["runner"])) if mode == "dram" else 0,
        "duration": 3600,
        "scenario-type": "agentic-coding",
        **components(entry, arm),
    }
    if "kv-offload-backend" in arm:
        row["kv-offload-backend"] = arm["kv-offload-backend"]
    offload = f"kv{mode}-{arm['kv-offload-backend']['name']}" if mode != "none" else "kvnone"
    rows: list[Row] = []
    for conc in concs_of(arm):
        if entry["multinode"]:
            names = []
            for letter, role in (("p", "prefill"), ("d", "decode")):
                each = arm[role]
                ep = f"ep{each['ep']}" if each["ep"] != 1 else ""
                names.append(f"{letter}{each['num-worker']}x{each['tp']}{ep}{'dpa' if each['dp-attn'] else ''}")
            tail = "" if mode == "none" else f"_{offload}"
            rows.append(
                {
                    **row,
                    "prefill": worker(arm["prefill"]),
                    "decode": worker(arm["decode"]),
                    "conc": [conc],
                    "disagg": entry.get("disagg", False),
                    "exp-name": f"{entry['model-prefix']}_{names[0]}_{names[1]}_conc{conc}{tail}",
                }
            )
            continue
        spec = "" if row["spec-decoding"] == "none" else f"_spec-{row['spec-decoding']}"
        rows.append(
            {
                **row,
                "tp": arm["tp"],
                **{field: arm.get(field, 1) for field in ("pp", "dcp-size", "pcp-size", "ep")},
                "dp-attn": arm.get("dp-attn", False),
                "conc": conc,
                "exp-name": f"{entry['model-prefix']}_tp{arm['tp']}_conc{conc}_{offload}{spec}",
            }
        )
    return rows


def budget(item: dict[str, Any], arm: dict[str, Any], node: tuple[int, int] | None) -> int:
    assert node is not None
    available, gpus_per_node = node
    holder = arm.get("prefill", arm)
    gpus = min(holder["tp"] * holder.get("pp", 1) * holder.get("pcp-size", 1), gpus_per_node)
    share = Fraction(min(available, DRAM_CAP) * 1024 * 1024) * Fraction(str(item["dram-utilization"]))
    return int(share * gpus / gpus_per_node / 1_000_000_000)


def is_8k1k(row: Row) -> bool:
    return (row.get("isl"), row.get("osl")) == (8192, 1024)


def same(one: Row, other: Row, fields: tuple[str, ...]) -> bool:
    return all(one.get(field) == other.get(field) for field in fields)


def shape(row: Row) -> str:
    aside = ("conc", "exp-name", "run-eval", "eval-only", "eval-conc", "eval-all-concs")
    return json.dumps({name: value for name, value in row.items() if name not in aside}, sort_keys=True)


def mark(rows: list[Row], *, agentic: bool) -> None:
    for place, row in enumerate(rows):
        row["run-eval"] = False
        is_agentic = "scenario-type" in row
        if is_agentic and not agentic:
            continue
        if not is_agentic and not is_8k1k(row):
            continue
        if "prefill" in row:
            best = max((conc for conc in row["conc"] if conc >= MIN_EVAL_CONC), default=0)
            rivals = [other for other in enumerate(rows) if "prefill" in other[1] and shape(other[1]) == shape(row)]
            bests = {where: max((c for c in other["conc"] if c >= MIN_EVAL_CONC), default=0) for where, other in rivals}
            first = min(where for where, value in bests.items() if value == max(bests.values()))
            if best and place == first:
                row["run-eval"] = True
                row["eval-conc"] = best
        elif is_agentic:
            shared = ("model", "runner", "framework", "precision")
            group = [
                (where, other)
                for where, other in enumerate(rows)
                if "scenario-type" in other and "prefill" not in other and same(row, other, shared)
            ]
            highest = max(other["conc"] for _, other in group)
            row["run-eval"] = place == min(where for where, other in group if other["conc"] == highest)
        else:
            fields = ("model", "runner", "framework", "precision", "isl", "osl", "spec-decoding", "dp-attn")
            concs = sorted(
                {
                    other["conc"]
                    for other in rows
                    if "prefill" not in other and same(row, other, fields) and other["conc"] >= MIN_EVAL_CONC
                }
            )
            row["run-eval"] = bool(concs) and row["conc"] in (concs[-1], concs[len(concs) // 2])


def widen(rows: list[Row]) -> list[Row]:
    made: list[Row] = []
    for row in rows:
        is_agentic = "scenario-type" in row
        if not is_agentic and not is_8k1k(row):
            made.append(row)
            continue
        row["run-eval"] = True
        if "prefill" not in row:
            made.append(row)
            continue
        twin = next((other for other in made if "prefill" in other and shape(other) == shape(row)), None)
        merged = sorted({*row["conc"], *(twin["conc"] if twin else [])})
        if twin is None:
            made.append(row)
            twin = row
        twin["conc"] = merged
        if is_agentic:
            twin["eval-conc"] = max(merged)
        else:
            twin.pop("eval-conc", None)
            twin["eval-all-concs"] = True
    return made
