"""Rows of the generator: plain dicts with its own field names, and the few things everybody asks of a row."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import msgspec

Row = dict[str, Any]

AGENTIC = "agentic-coding"
FIXED = "fixed-seq-len"
SCENARIOS = (FIXED, AGENTIC)

_POINT_FIELDS = frozenset({"conc", "exp-name", "recipe-fingerprint"})
_encoder = msgspec.json.Encoder(order="deterministic")


def canonical(value: Any) -> bytes:
    """The same bytes for equal values, whatever the order of their fields. For comparing, not for reading."""
    try:
        return _encoder.encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        # Keys that are no text, or numbers beyond 64 bits.
        return repr(_sorted(value)).encode("utf-8", "backslashreplace")


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return sorted(((repr(key), _sorted(item)) for key, item in value.items()), key=lambda pair: pair[0])
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def concurrencies(row: Row) -> tuple[float, ...]:
    """The concurrencies of a row, in its order; what is no number is left out."""
    conc = row.get("conc")
    values = conc if isinstance(conc, list) else [conc]
    return tuple(value for value in values if isinstance(value, int | float))


def is_multinode(row: Row) -> bool:
    return row.get("prefill") is not None


def is_agentic(row: Row) -> bool:
    return row.get("scenario-type") == AGENTIC


def recipe_fingerprint(row: Row) -> str:
    """The repository's identity of what a row measures, apart from concurrency and name (`process_changelog.py`).

    It is taken from the generator's row as it is, before any default is filled in.
    """
    recipe = {name: value for name, value in row.items() if name not in _POINT_FIELDS}
    text = json.dumps(recipe, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return sha256(text.encode("utf-8")).hexdigest()


def curve(row: Row) -> bytes:
    """The row without what differs between the points of one curve (`process_changelog.py`)."""
    return canonical({name: value for name, value in row.items() if name not in _POINT_FIELDS})


def arm_label(row: Row) -> str:
    """The arm in a few words: `8k1k tp2 ep2 mtp`, `agentic 1xtp4ep4 + 2xtp8dpa`."""
    words = [sequence_label(row)]
    prefill, decode = row.get("prefill"), row.get("decode")
    if isinstance(prefill, dict) and isinstance(decode, dict):
        words.append(f"{_worker(prefill)} + {_worker(decode)}")
    else:
        words.extend(_parallelism(row))
    speculation = row.get("spec-decoding", "none")
    if speculation != "none":
        words.append(str(speculation))
    if row.get("kv-offloading", "none") != "none":
        words.append(f"kv-{row['kv-offloading']}")
    return " ".join(words)


def sequence_label(row: Row) -> str:
    """`8k1k`, `1k1k`, `agentic`, or the two lengths."""
    if is_agentic(row):
        return "agentic"
    isl, osl = row.get("isl"), row.get("osl")
    return "".join(_thousands(length) for length in (isl, osl))


def _thousands(length: Any) -> str:
    if isinstance(length, int) and length and length % 1024 == 0:
        return f"{length // 1024}k"
    return f"[{length}]"


def _parallelism(holder: dict[str, Any]) -> list[str]:
    words = [f"tp{holder.get('tp')}"]
    for field, name in (("pp", "pp"), ("dcp-size", "dcp"), ("pcp-size", "pcp"), ("ep", "ep")):
        if holder.get(field, 1) not in (1, None):
            words.append(f"{name}{holder[field]}")
    if holder.get("dp-attn"):
        words.append("dpa")
    return words


def _worker(worker: dict[str, Any]) -> str:
    return f"{worker.get('num-worker')}x{''.join(_parallelism(worker))}"
