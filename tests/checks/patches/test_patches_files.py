"""Which files are read, and what files of other kinds tell."""

from __future__ import annotations

import msgspec
import pytest

from reviewer_tui.checks import architecture, engine_patch
from reviewer_tui.checks.check import Evidence
from reviewer_tui.model.finding import Status
from reviewer_tui.model.part import complete
from reviewer_tui.model.pull_request import ChangedFile
from tests.checks.patches.forms import LAUNCHER, MULTI_NODE, PLACE, RECIPES, Files, patch, seen, with_lines
from tests.evidence import NVIDIA, NVIDIA_MASTER, SCRIPT, evidence_of, summer


def renamed(base: Files, head: Files, old: str, new: str) -> Evidence:
    evidence = evidence_of(base, head)
    files = [file for file in evidence.snapshot.files.value or () if file.path not in (old, new)]
    one = ChangedFile(path=new, previous_path=old, status="renamed", old_blob="1" * 40, new_blob="1" * 40)
    snapshot = msgspec.structs.replace(evidence.snapshot, files=complete((*files, one)))
    return msgspec.structs.replace(evidence, snapshot=snapshot)


RUNS_UTILS = (
    "#!/usr/bin/env bash\nbash utils/setup_env.sh\npython3 -m sglang.launch_server --model-path $MODEL --tp $TP\n"
)
LAUNCHES = "bash utils/setup_env.sh\n"


@pytest.mark.parametrize(
    ("base", "head"),
    [
        ({SCRIPT: RUNS_UTILS}, {}),
        ({SCRIPT: RUNS_UTILS}, {SCRIPT: f"{RUNS_UTILS}echo done\n"}),
        ({SCRIPT: RUNS_UTILS}, {NVIDIA: NVIDIA_MASTER.replace("v0.5.14", "v0.5.15")}),
        ({LAUNCHER: LAUNCHES}, {}),
    ],
)
def test_changed_file_that_an_unchanged_script_runs(base: Files, head: Files) -> None:
    before: Files = {**summer(), **base, "utils/setup_env.sh": "echo\n"}
    assert patch({**before, **head, "utils/setup_env.sh": "pip install vllm==1\n"}, before).status is Status.FAIL


HOOKS = "PRE_HOOK=\nPOST_HOOK=\nEXTRA_PIP=\nTARGET=config.yaml\n"


@pytest.mark.parametrize(
    "line",
    [
        "PRE_HOOK='pip install vllm==1'",
        "POST_HOOK='pip install vllm==1'",
        "EXTRA_PIP=vllm==1",
        "TARGET=$(python3 -c 'import vllm;print(vllm.__file__)')",
    ],
)
def test_variable_of_a_changed_helper_that_an_unchanged_script_runs(line: str) -> None:
    uses = (
        "source benchmarks/env.sh",
        "$PRE_HOOK",
        'eval "$POST_HOOK"',
        "pip install $EXTRA_PIP",
        'sed -i s/a/b/ "$TARGET"',
    )
    base = {**with_lines(*uses), "benchmarks/env.sh": HOOKS}
    name = line.partition("=")[0]
    helper = "\n".join(line if old.startswith(f"{name}=") else old for old in HOOKS.split("\n"))
    seen(patch({**base, "benchmarks/env.sh": helper}, base))


PATCHES = "#!/bin/bash\npip install vllm==1\nvllm serve $MODEL\n"
CUTS = "#!/bin/bash\nvllm serve m --hf-overrides '{\"num_hidden_layers\": 1}'\n"


@pytest.mark.parametrize("old", ["benchmarks/deprecated/q.sh", "docs/examples/q.sh", "utils/evals/q.sh"])
@pytest.mark.parametrize(("check", "text"), [("engine_patch", PATCHES), ("architecture", CUTS)])
def test_rename_into_the_serving_folders(old: str, check: str, text: str) -> None:
    new = "benchmarks/single_node/q.sh"
    evidence = renamed({**summer(), old: text}, {**summer(), new: text}, old, new)
    decided = engine_patch.decide(evidence) if check == "engine_patch" else architecture.decide(evidence)
    assert decided.status is Status.FAIL, decided.summary


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('if [ "$DEBUG" = 1 ]; then\npip install vllm==1\nfi\n', "pip install vllm==1\n"),
        ("exit 0\npip install vllm==1\n", "pip install vllm==1\n"),
    ],
)
def test_guard_of_an_old_patch_removed(before: str, after: str) -> None:
    path = "benchmarks/other.sh"
    seen(patch({**summer(), path: f"#!/bin/bash\n{after}"}, {**summer(), path: f"#!/bin/bash\n{before}"}))


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("benchmarks/overlay/vllm/v1/core/sched/scheduler.py", "class Scheduler: pass\n"),
        ("benchmarks/kernels/moe.cu", "__global__ void f(){}\n"),
        ("benchmarks/requirements.txt", "vllm==1\n"),
        ("benchmarks/pyproject.toml", '[project]\ndependencies = ["vllm==1"]\n'),
        ("benchmarks/vllm-1-py3-none-any.whl", "PK..\n"),
        ("benchmarks/docker/x.Dockerfile", "FROM vllm/vllm-openai:v1\n"),
        ("benchmarks/Makefile", "all:\n\tpip install my-kernels\n"),
        ("benchmarks/run.sh.j2", "pip install my-kernels\n"),
        ("benchmarks/prep.conf", "LD_PRELOAD=/data/x.so\n"),
    ],
)
def test_new_file_of_engine_code_or_packages(path: str, content: str) -> None:
    seen(patch({**summer(), path: content}))


@pytest.mark.parametrize(
    "setting",
    [
        "SRTCTL_SETUP_SCRIPT=patch-vllm.sh",
        "EXTRA_MOUNTS=/data/ov:/sgl-workspace/sglang",
        f"CONTAINER_MOUNTS=/data/ov:{PLACE}",
        "PRE_CMD=pip install vllm",
    ],
)
def test_setting_of_an_entry(setting: str) -> None:
    entry = MULTI_NODE.replace('agg.yaml"]', f'agg.yaml", "{setting}"]')
    seen(patch({**summer(), NVIDIA: NVIDIA_MASTER + entry, f"{RECIPES}/vllm/kimi/agg.yaml": "a: 1\n"}))
