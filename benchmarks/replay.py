"""How many recorded real answers of GitHub this program's decoders read.

    REVIEWER_TUI_REPLAY_DATA=FOLDER python benchmarks/replay.py

FOLDER holds recordings as the public repository PyGithub keeps them in `tests/ReplayData` (LGPL, so they are fetched
and never part of this project): plain text, ten lines for each exchange. Every successful answer of an endpoint that
this program reads goes through the decoder of that endpoint. Printed for each: how many decode, and what does not.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from reviewer_tui.sources.github import shapes  # noqa: E402
from reviewer_tui.sources.github.failures import failure_of  # noqa: E402

VARIABLE = "REVIEWER_TUI_REPLAY_DATA"

_REPO = r"/(?:repos/[^/]+/[^/]+|repositories/\d+)"
_SHA = r"[0-9a-f]{40}"
SHAPES: tuple[tuple[str, Any], ...] = (
    (rf"{_REPO}/pulls/\d+", shapes.Pull),
    (rf"{_REPO}/pulls", tuple[shapes.ListedPull, ...]),
    (rf"{_REPO}/pulls/\d+/files", tuple[shapes.PullFile, ...]),
    (rf"{_REPO}/pulls/\d+/commits", tuple[shapes.CommitItem, ...]),
    (rf"{_REPO}/pulls/\d+/reviews", tuple[shapes.Review, ...]),
    (rf"{_REPO}/pulls/\d+/comments", tuple[shapes.ReviewComment, ...]),
    (rf"{_REPO}/issues/\d+/comments", tuple[shapes.IssueComment, ...]),
    (rf"{_REPO}/issues/comments/\d+", shapes.PostedComment),
    (rf"{_REPO}/issues/\d+/events", tuple[shapes.IssueEvent, ...]),
    (rf"{_REPO}/commits/[^/]+", shapes.CommitItem),
    (rf"{_REPO}/commits", tuple[shapes.CommitItem, ...]),
    (rf"{_REPO}/compare/.+", shapes.Comparison),
    (rf"{_REPO}/commits/[^/]+/check-runs", shapes.CheckRunPage),
    (rf"{_REPO}/commits/[^/]+/status", shapes.CombinedStatus),
    (rf"{_REPO}/(?:commits/[^/]+/)?statuses(?:/{_SHA})?", tuple[shapes.StatusItem, ...]),
    (rf"{_REPO}/check-suites/\d+/check-runs", shapes.CheckRunPage),
    (rf"{_REPO}/actions/runs", shapes.WorkflowRunPage),
    (rf"{_REPO}/actions/runs/\d+", shapes.WorkflowRun),
    (rf"{_REPO}/actions/runs/\d+/attempts/\d+", shapes.WorkflowRun),
    (rf"{_REPO}/actions/workflows/[^/]+/runs", shapes.WorkflowRunPage),
    (rf"{_REPO}/actions/runs/\d+/(?:attempts/\d+/)?jobs", shapes.JobPage),
    (rf"{_REPO}/actions/(?:runs/\d+/)?artifacts", shapes.ArtifactPage),
    (rf"{_REPO}/actions/artifacts/\d+", shapes.ArtifactItem),
    (rf"{_REPO}/git/trees/[^/]+", shapes.TreeListing),
    (rf"{_REPO}/collaborators/[^/]+/permission", shapes.PermissionLevel),
    (r"/user", shapes.Viewer),
)


class Exchange(NamedTuple):
    """One recorded request with its answer."""

    file: str
    method: str
    path: str
    status: int
    headers: dict[str, str]
    body: bytes


class Tally(NamedTuple):
    """What came of all recordings: decoded and not, by shape; one sentence for each failure; refusals by error."""

    decoded: Counter[str]
    failed: Counter[str]
    faults: list[str]
    refusals: Counter[str]


def exchanges(folder: Path) -> Iterator[Exchange]:
    """Every exchange of every recording: protocol, method, host, port, path, headers, body, status, headers, body."""
    for file in sorted(folder.rglob("*.txt")):
        lines = file.read_text("utf-8", "replace").split("\n")
        at = 0
        while at + 9 < len(lines):
            if lines[at] not in ("http", "https"):
                at += 1
                continue
            _, method, _, _, path, _, _, status, headers, body = lines[at : at + 10]
            at += 10
            if status.isdigit():
                yield Exchange(file.name, method, path, int(status), _headers(headers), body.encode())


def tally(folder: Path) -> Tally:
    """Decode what can be decoded."""
    found = Tally(Counter(), Counter(), [], Counter())
    for one in exchanges(folder):
        path = urlsplit(one.path).path
        if one.status >= 400:
            error = failure_of("GET /x", one.status, one.headers, one.body, web_host="github.com", has_token=True)
            found.refusals[type(error).__name__] += 1
            continue
        shape = next((shape for pattern, shape in SHAPES if re.fullmatch(pattern, path)), None)
        writes = one.method in ("POST", "PATCH") and shape in (tuple[shapes.IssueComment, ...], shapes.PostedComment)
        if one.method != "GET" and not writes:
            continue
        shape = shapes.PostedComment if writes else shape
        if shape is None or one.status != 200 + writes * (one.method == "POST") or not one.body.strip():
            continue
        name = getattr(shape, "__name__", None) if not hasattr(shape, "__args__") else shape.__args__[0].__name__
        try:
            msgspec.json.decode(one.body, type=shape)
            found.decoded[f"{name} {one.method}"] += 1
        except msgspec.MsgspecError as fault:
            found.failed[f"{name} {one.method}"] += 1
            found.faults.append(f"{one.file}: {one.method} {path}: {fault}")
    return found


def _headers(line: str) -> dict[str, str]:
    try:
        return {str(name).lower(): str(value) for name, value in ast.literal_eval(line)}
    except (ValueError, SyntaxError, TypeError):
        return {}


def main() -> None:
    folder = os.environ.get(VARIABLE)
    if not folder:
        sys.exit(f"{VARIABLE} names no folder with recordings.")
    found = tally(Path(folder))
    for name in sorted({*found.decoded, *found.failed}):
        print(f"{name:24} {found.decoded[name]:4} decode, {found.failed[name]} do not")
    print(f"{'all':24} {found.decoded.total():4} decode, {found.failed.total()} do not")
    print("refusals:", ", ".join(f"{count} {name}" for name, count in sorted(found.refusals.items())))
    for fault in found.faults[:40]:
        print(f"  {fault}")


if __name__ == "__main__":
    main()
