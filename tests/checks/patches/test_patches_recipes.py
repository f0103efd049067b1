"""What recipes and other YAML or JSON bring in."""

from __future__ import annotations

import pytest

from reviewer_tui.model.finding import Status
from tests.checks.patches.forms import PLACE, RECIPE, Files, patch, seen
from tests.evidence import summer
from tests.policy.autumn import autumn_files


@pytest.mark.parametrize(
    ("path", "content"),
    [
        (RECIPE, "environment: {PYTHONPATH: /data/vllm}\n"),
        (RECIPE, "environment: {A: 1, LD_PRELOAD: /data/x.so}\n"),
        (RECIPE, "env:\n- name: LD_PRELOAD\n  value: /data/x.so\n"),
        (RECIPE, 'env: ["PYTHONPATH=/data/vllm"]\n'),
        (RECIPE, "environment:\n  PYTHONPATH:\n    /data/vllm\n"),
        ("benchmarks/x.json", '{"env": {"PYTHONPATH": "/data/vllm"}}\n'),
    ],
)
def test_variable_of_a_recipe_in_another_yaml_spelling(path: str, content: str) -> None:
    seen(patch({**summer(), path: content}))


@pytest.mark.parametrize(
    ("path", "content"),
    [
        (RECIPE, "extra_mount:\n- /data/sglang:/sgl-workspace/sglang:ro\n"),
        (RECIPE, 'extra_mount: ["/data/sglang:/sgl-workspace/sglang"]\n'),
        (RECIPE, f"volumeMounts:\n- name: ov\n  mountPath: {PLACE}\n"),
        ("benchmarks/x.json", '{"mounts": ["/data/ov:/sgl-workspace/sglang"]}\n'),
    ],
)
def test_mount_in_a_recipe(path: str, content: str) -> None:
    assert patch({**summer(), path: content}).status is Status.FAIL


@pytest.mark.parametrize(
    "command",
    [
        f"rsync -a /data/ov/ {PLACE}/",
        "tar -xf ov.tar -C /usr/local/lib/python3.12/dist-packages",
        "dd if=x of=/sgl-workspace/sglang/x.py",
        "install -m644 x.py /sgl-workspace/sglang/x.py",
        "apt-get install -y libnccl2=2.30",
        "frobnicate --all",
    ],
)
def test_command_of_a_recipe_with_another_program(command: str) -> None:
    seen(patch({**summer(), RECIPE: f"pre_cmd: {command}\n"}))


@pytest.mark.parametrize(
    "content",
    [
        "pre_cmd: [pip, install, vllm]\n",
        "command:\n- pip\n- install\n- vllm==1\n",
        'entrypoint: ["python3", "/workspace/launch_patched.py"]\n',
        "entrypoint: /workspace/launch_patched.sh\n",
        "vllm_config:\n  worker-extension-cls: mine.Worker\n",
    ],
)
def test_command_of_a_recipe_as_words(content: str) -> None:
    seen(patch({**summer(), RECIPE: content}))


@pytest.mark.parametrize(
    "content",
    [
        "backend: {setup_script: patch-vllm.sh}\n",
        "setup_script:\n  patch-vllm.sh\n",
        "x: &s patch-vllm.sh\nsetup_script: *s\n",
        "setup_script: patch-vllm\n",
        "setup_script: ${SETUP}\n",
        "setup_scripts: [patch-vllm.sh]\n",
    ],
)
def test_setup_script_in_another_spelling(content: str) -> None:
    seen(patch({**summer(), RECIPE: content}))


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("infx/launch/env.py", 'ENV = {"PYTHONPATH": "/data/vllm", "LD_PRELOAD": "/data/x.so"}\n'),
        ("infx/launch/prep.py", 'PRE = "pip3 -q install vllm"\n'),
        ("infx/launch/templates/run.sh.j2", "pip install my-kernels\n"),
        ("infx/runtime/setup.sh", "pip install vllm\n"),
        (
            "benchmarks/single_node/srt-slurm-recipes/qwen3.5/vllm/b300-fp4/8k1k.yaml",
            "base:\n  extra_mount: ['/data/ov:/sgl-workspace/sglang:ro']\n",
        ),
    ],
)
def test_autumn_layout(path: str, content: str) -> None:
    base: Files = {**autumn_files()}
    seen(patch({**base, f"inferencex-e2e/{path}": content}, base))
