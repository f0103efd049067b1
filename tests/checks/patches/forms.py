"""A small repository with a script that patches, or may patch, and what the check on patches decides about it."""

from __future__ import annotations

from reviewer_tui.checks.check import Outcome
from reviewer_tui.checks.engine_patch import decide
from reviewer_tui.model.finding import Status
from tests.evidence import SCRIPT, evidence_of, summer

Files = dict[str, bytes | str]

RECIPES = "benchmarks/multi_node/srt-slurm-recipes"
RECIPE = f"{RECIPES}/vllm/qwen/agg.yaml"
LAUNCHER = "runners/launch_b200-dgxc.sh"
PLACE = "/usr/local/lib/python3.12/dist-packages/vllm"
LOOK = (Status.FAIL, Status.UNVERIFIED, Status.JUDGEMENT)


def seen(outcome: Outcome) -> None:
    """The least that is asked: a person is told to look."""
    assert outcome.status in LOOK, f"{outcome.status}: {outcome.summary}"


def with_lines(*lines: str) -> Files:
    """The repository with lines put to the end of its script."""
    files = summer()
    return {**files, SCRIPT: "\n".join([str(files[SCRIPT]).rstrip("\n"), *lines, ""])}


def patch(head: Files, base: Files | None = None) -> Outcome:
    """What the check decides about a change to the repository."""
    return decide(evidence_of(base or summer(), head))
