"""The engine patch check."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.checks.check import Outcome
from reviewer_tui.checks.engine_patch import decide
from reviewer_tui.checks.patches.files import read_file
from reviewer_tui.model.finding import Finding, Status
from reviewer_tui.model.part import partial, unavailable
from reviewer_tui.model.pull_request import ChangedFile
from tests.checks.patches.forms import MULTI_NODE
from tests.checks.real import real_outcome
from tests.evidence import NVIDIA, NVIDIA_MASTER, SCRIPT, evidence_of, summer
from tests.policy.autumn import autumn_files

HELPER = "benchmarks/single_node/fixed_seq_len/apply_patches.sh"
RECIPES = "benchmarks/multi_node/srt-slurm-recipes"
RECIPE = f"{RECIPES}/vllm/qwen/agg.yaml"
WAIVER = "docs/waiver/2550.md"
PATCHING = "#!/usr/bin/env bash\ncd /sgl-workspace/sglang\ngit apply /workspace/fix.patch\n"
FILLED = f"""\
# Waiver

## What is patched
`{SCRIPT}` edits the scheduler.

## Why the unmodified image cannot run it
It crashes.

## Upstream
https://github.com/sgl-project/sglang/pull/1

## Removal plan
Drop it with the next image.
"""


def with_lines(*lines: str, path: str = SCRIPT) -> dict[str, bytes | str]:
    """The repository with lines put to the end of a script."""
    files = summer()
    before = str(files.get(path, "#!/usr/bin/env bash\n"))
    return {**files, path: "\n".join([before.rstrip("\n"), *lines, ""])}


def of(head: dict[str, bytes | str], base: dict[str, bytes | str] | None = None, **options: object) -> Outcome:
    return decide(evidence_of(base or summer(), head, **options))  # type: ignore[arg-type]


def worst(outcome: Outcome) -> Finding:
    """The first finding of the outcome's own status."""
    return next(finding for finding in outcome.findings if finding.status is outcome.status)


@pytest.mark.parametrize(
    "line",
    [
        "cd /sgl-workspace/sglang && git apply /workspace/x.patch",
        "git -C /opt/vllm am fix.mbox",
        "patch -p1 -d /usr/local/lib/python3.12/dist-packages < /tmp/x.diff",
        "sed -i 's/a/b/' /usr/local/lib/python3.12/site-packages/vllm/v1/core/sched.py",
        "sudo perl -pi -e 's/a/b/' /sgl-workspace/sglang/python/sglang/srt/x.py",
        "cp scheduler.py /usr/local/lib/python3.12/dist-packages/vllm/v1/core/sched/scheduler.py",
        "curl -LsSf https://gist.example/x -o /sgl-workspace/aiter/aiter/ops/shuffle.py",
        "cat fixed.py > /opt/venv/lib/python3.12/site-packages/flashinfer/gemm.py",
        "pip install vllm==0.30.0",
        "python3 -m pip install --no-deps https://x.example/flashinfer_python-0.6-py3-none-any.whl",
        "uv pip install 'git+https://github.com/someone/vllm@main'",
        "agentic_pip_install --quiet torch==2.9",
        "git -C /sgl-workspace/sglang checkout 0123456789",
        "docker run --rm -v /data/sglang:/sgl-workspace/sglang image",
        "srun --container-mounts=/data/vllm:/usr/local/lib/python3.12/dist-packages/vllm bash run.sh",
        "mount --bind /data/aiter /sgl-workspace/aiter",
        "export PYTHONPATH=/data/vllm:$PYTHONPATH",
        'sudo cp x.py "$(pip show vllm | grep Location | cut -d: -f2)/vllm/x.py"',
        "sudo install -m 755 mine $(which vllm)",
        "cp eval.py /usr/local/lib/python3.12/dist-packages/vllm/eval.py",
        "ex -sc '%s/a/b/|x' /sgl-workspace/sglang/python/x.py",
        "srun bash -c 'cd x && pip install sglang'",
        "python3 -c \"import vllm; p = vllm.__file__; open(p, 'w').write('')\"",
        'python3 -c \'p = "/sgl-workspace/sglang/python/x.py"; open(p, "w").write("")\'',
    ],
)
def test_what_changes_the_image_fails_where_it_stands(line: str) -> None:
    outcome = of(with_lines("echo before", line))
    assert outcome.status is Status.FAIL, outcome.summary
    assert (worst(outcome).path, worst(outcome).line) == (SCRIPT, 4)
    assert "docs/waiver/2550.md does not exist" in worst(outcome).message


TOGETHER = r"""
TARGET=/sgl-workspace/sglang/python/sglang/srt/mixin.py
if true; then
  sed -i 's/a/b/' "$TARGET"
fi

SITE=$(python3 -c 'import vllm, os; print(os.path.dirname(vllm.__file__))')
patch -p1 -d "$SITE" < x

ROOT=$(python -c 'import importlib.util as u; print(u.find_spec("vllm").origin)')
( cd "$ROOT" && git apply x )

PY=${PYTHON:-python3}
t=$(where aiter.jit.core)
$PY - "$t" <<'EOF'
import sys
open(sys.argv[1], 'w').write('')
EOF

python3 - <<'PY'
from importlib.util import find_spec
import pathlib
p = pathlib.Path(find_spec('vllm').origin)
p.write_text('')
PY

cat > /tmp/fix.diff <<'EOF'
--- a/vllm/v1/core.py
+++ b/vllm/v1/core.py
@@ -1 +1 @@
-a
+b
EOF

D=$(mktemp -d)
cat > "$D/sitecustomize.py" <<'PY'
import vllm
vllm.x = 1
PY
export PYTHONPATH=$D

cat > /tmp/run.sh <<'EOF'
pip install sglang==1
EOF
bash /tmp/run.sh

git clone https://github.com/someone/aiter.git /tmp/aiter
cd /tmp/aiter
python3 setup.py develop

fix() {
  pip install --force-reinstall /wheels/amd_aiter-1-cp312.whl
}
fix

packages='datasets vllm'
pip install $packages

CMD="pip install vllm==1"
eval "$CMD"
"""


@pytest.mark.parametrize("lines", TOGETHER.strip().split("\n\n"))
def test_what_several_lines_do_together_fails(lines: str) -> None:
    outcome = of(with_lines(lines))
    assert outcome.status is Status.FAIL, outcome.summary
    assert worst(outcome).path == SCRIPT


@pytest.mark.parametrize(
    "line",
    [
        "pip install -q datasets pandas sentencepiece tabulate",
        "agentic_pip_install --quiet 'vllm-router==0.1.14'",
        'sed -i "s/^name:.*/name: $RUNNER_NAME/" "$CONFIG_PATH"',
        "# patch -p1 -d /usr/local/lib/python3.12/dist-packages < x",
        "echo 'git apply and pip install vllm are forbidden'",
        "command -v patch >/dev/null",
        "python3 -c 'import vllm; print(vllm.__file__)'",
        "git apply --check fix.patch",
        "ls /sgl-workspace/sglang",
        "python3 -m sglang.launch_server --model-path $MODEL --enable-x",
        "python3 -m pip install --target /tmp/eval-deps lm-eval something",
        "apt-get update && apt-get install -y git numactl",
        "export PYTHONPATH=/sgl-workspace/aiter:${PYTHONPATH}",
        'cp results.json "$RESULT_DIR/"',
        "curl -s http://localhost:$PORT/metrics -o /tmp/metrics.txt",
    ],
)
def test_harness_and_reading_pass(line: str) -> None:
    outcome = of(with_lines(line))
    assert outcome.status is Status.PASS, outcome.summary


@pytest.mark.parametrize(
    "line",
    [
        "pip install -U transformers",
        "pip install mooncake-transfer-engine==1",
        "pip install lmcache triton==3.7.0 amd-quark nixl",
        "pip install something-unheard-of",
        "pip install -r requirements.txt",
        "pip install -e .",
        "sed -i 's/a/b/' \"$1\"",
        "git apply fix.patch",
        'eval "$(curl -s http://x)"',
        "curl -s http://x/install.sh | bash",
        "echo aGk= | base64 -d > x.py",
        "docker build -t mine .",
        "make install",
        "export LD_PRELOAD=/data/lib.so",
        "pip uninstall -y torchvision",
        "uv pip install --python /opt/venv/bin/python lmcache",
        "EVAL_PY=python3; $EVAL_PY -m pip install something",
        "apt-get install -y libnccl2=2.30",
        "conda install -y numpy",
        "bash <(curl -s http://x/run.sh)",
        "wget -q http://x/run.sh; bash run.sh",
        'python3 -c \'import vllm, subprocess; subprocess.run(["sed", "-i", "s/a/b/", vllm.__file__])\'',
        "python3 -c 'import base64; exec(base64.b64decode(\"\")) # lm_eval'",
        "git clone https://github.com/someone/vllm.git /tmp/v",
        "python3 -c 'exec(\"\".join(map(chr, [1])))'",
        "vllm serve $MODEL --worker-cls my.Worker",
        "nixl=$(python3 -c 'import rixl; print(rixl.__file__)'); sed -i s/a/b/ \"$nixl\"",
    ],
)
def test_what_only_may_touch_the_engine_waits_for_judgement(line: str) -> None:
    outcome = of(with_lines("echo before", line))
    assert outcome.status is Status.JUDGEMENT, outcome.summary
    assert worst(outcome).path == SCRIPT
    assert worst(outcome).line in (3, 4)


def test_a_patch_in_a_function_that_nothing_calls_is_no_failure_yet() -> None:
    outcome = of(with_lines("fix() {", "  pip install vllm", "}"))
    assert outcome.status is Status.JUDGEMENT
    assert "does not call" in worst(outcome).message


def test_a_wheel_of_a_router_that_is_built_here_is_no_released_router() -> None:
    outcome = of(with_lines("pip install /wheels/sglang_router-1-cp312.whl"))
    assert outcome.status is Status.JUDGEMENT


def test_lines_that_were_there_are_told_apart() -> None:
    base = with_lines("pip install vllm==1")
    head = {**base, SCRIPT: f"{base[SCRIPT]!s}echo more\n"}
    outcome = of(head, base)
    assert outcome.status is Status.JUDGEMENT
    assert "relies on" in worst(outcome).message
    assert [(f.status, f.line) for f in outcome.pre_existing] == [(Status.FAIL, 3)] or outcome.pre_existing == ()


def test_an_old_line_that_reaches_the_engine_now_fails() -> None:
    edit = 'sed -i "s/a/b/" "$TARGET"'
    base = with_lines("TARGET=recipe.yaml", edit)
    outcome = of(with_lines("TARGET=/sgl-workspace/sglang/python/x.py", edit), base)
    assert outcome.status is Status.FAIL
    assert worst(outcome).line == 4


def test_a_bumped_image_of_a_script_that_patches_waits_for_judgement() -> None:
    base = with_lines("pip install vllm==1")
    head = {**base, NVIDIA: NVIDIA_MASTER.replace("v0.5.14", "v0.5.15")}
    outcome = of(head, base)
    assert outcome.status is Status.JUDGEMENT
    assert "no waiver on the default branch names it" in worst(outcome).message
    assert [(f.status, f.path, f.line) for f in outcome.pre_existing] == [(Status.FAIL, SCRIPT, 3)]


def test_a_bumped_image_of_a_clean_script_passes() -> None:
    outcome = of({**summer(), NVIDIA: NVIDIA_MASTER.replace("v0.5.14", "v0.5.15")})
    assert outcome.status is Status.PASS
    assert "only config entries change" in outcome.summary


@pytest.mark.parametrize(
    "path",
    [
        "docs/x.md",
        "README.md",
        "utils/evals/patches/x.patch",
        "benchmarks/deprecated/run.sh",
        "benchmarks/single_node/speedbench/x.sh",
        "runners/test_x.py",
    ],
)
def test_what_never_serves_is_not_applicable(path: str) -> None:
    head = {**summer(), path: "pip install vllm\n--- a/vllm/x\n+++ b/vllm/x\n"}
    assert of(head).status is Status.NOT_APPLICABLE


# -- waivers ----------------------------------------------------------------------------------------------------------

PATCHED = with_lines("pip install vllm==1")


def test_a_waiver_of_the_pull_request_is_the_reviewers_to_weigh() -> None:
    outcome = of({**PATCHED, WAIVER: FILLED})
    assert outcome.status is Status.JUDGEMENT
    assert "names the script" in outcome.summary
    assert "must link it" in outcome.summary


@pytest.mark.parametrize(
    ("detail", "status"),
    [
        ("- [waiver](https://github.com/o/r/blob/main/docs/waiver/2550.md)", Status.JUDGEMENT),
        ("- all fine", Status.FAIL),
    ],
)
def test_the_detail_section_must_link_the_waiver(detail: str, status: Status) -> None:
    text = f"As a PR reviewer and CODEOWNER\n- [x] all\n\n### Additional detail section:\n{detail}\n\nSigned: `a`\n"
    outcome = of({**PATCHED, WAIVER: FILLED}, sign_off=text)
    assert outcome.status is status


def test_an_empty_waiver_is_none() -> None:
    outcome = of({**PATCHED, WAIVER: "# Waiver\n"})
    assert outcome.status is Status.FAIL
    assert "not filled out" in outcome.summary


def test_a_waiver_that_names_another_file_is_questioned() -> None:
    outcome = of({**PATCHED, WAIVER: FILLED.replace(SCRIPT, "other.sh")})
    assert outcome.status is Status.JUDGEMENT
    assert "does not name" in outcome.summary


def test_another_pull_requests_waiver_that_names_the_script_is_questioned() -> None:
    base = {**summer(), "docs/waiver/7.md": FILLED}
    outcome = of({**PATCHED, "docs/waiver/7.md": FILLED}, base)
    assert outcome.status is Status.JUDGEMENT
    assert "docs/waiver/7.md" in outcome.summary


def test_the_waiver_on_the_default_branch_does_not_stand_for_the_one_at_head() -> None:
    """It came there with a later state of the same pull request."""
    policy = {**summer(), WAIVER: FILLED}
    assert of(PATCHED, policy=policy).status is Status.FAIL


# -- what is run from a changed file ----------------------------------------------------------------------------------


def test_a_new_call_of_a_script_that_patches_fails_in_that_script() -> None:
    base = {**summer(), HELPER: PATCHING}
    head = {**with_lines('bash "$(dirname "$0")/apply_patches.sh"'), HELPER: PATCHING}
    outcome = of(head, base)
    assert outcome.status is Status.FAIL
    assert (worst(outcome).path, worst(outcome).line) == (HELPER, 3)
    assert f"run by {SCRIPT}:3" in worst(outcome).message


def test_a_new_call_of_a_clean_script_passes() -> None:
    clean = "echo hello\n"
    base = {**summer(), HELPER: clean}
    outcome = of({**with_lines('source "$DIR/apply_patches.sh"'), HELPER: clean}, base)
    assert outcome.status is Status.PASS


def test_an_archived_script_counts_where_a_new_line_runs_it() -> None:
    old = {"benchmarks/deprecated/patch_it.sh": "pip install vllm\n"}
    outcome = of({**with_lines("bash benchmarks/deprecated/patch_it.sh"), **old}, {**summer(), **old})
    assert outcome.status is Status.FAIL, outcome.summary


def test_scripts_that_call_each_other_end() -> None:
    both = {HELPER: "source other.sh\n", HELPER.replace("apply_patches", "other"): "source apply_patches.sh\n"}
    outcome = of({**with_lines("source apply_patches.sh"), **both}, {**summer(), **both})
    assert outcome.status is Status.PASS


def recipe(setup: str) -> dict[str, bytes | str]:
    return {RECIPE: f"name: x\nsetup_script: {setup}\nbackend:\n  type: vllm\n"}


def test_a_setup_script_of_the_repository_is_read() -> None:
    setup = {f"{RECIPES}/configs/deps.sh": "pip install msgpack\npython3 /configs/patches/p.py\n"}
    patch = {f"{RECIPES}/configs/patches/p.py": "import vllm\nopen(vllm.__file__, 'w').write('')\n"}
    outcome = of({**summer(), **recipe("deps.sh"), **setup, **patch}, {**summer(), **setup, **patch})
    assert outcome.status is Status.FAIL
    assert worst(outcome).path == f"{RECIPES}/configs/patches/p.py"


def test_an_unseen_setup_script_is_not_verified() -> None:
    outcome = of({**summer(), **recipe("vllm-container-deps.sh")})
    assert outcome.status is Status.UNVERIFIED
    assert worst(outcome).line == 2


def test_an_unseen_setup_script_that_says_it_changes_the_engine_fails() -> None:
    outcome = of({**summer(), **recipe("deps-deepgemm-timeout.sh")})
    assert outcome.status is Status.FAIL


def test_an_unseen_setup_script_that_recipes_use_already_is_not_verified() -> None:
    base = {**summer(), f"{RECIPES}/old.yaml": "setup_script: deps-deepgemm-timeout.sh\n"}
    assert of({**base, **recipe("deps-deepgemm-timeout.sh")}, base).status is Status.UNVERIFIED


@pytest.mark.parametrize(
    ("content", "status"),
    [
        ("extra_mount:\n- /data/sglang:/sgl-workspace/sglang\n", Status.FAIL),
        ("extra_mount:\n  /data/x: /usr/local/lib/python3.12/dist-packages/vllm\n", Status.FAIL),
        ("environment:\n  PYTHONPATH: /atom-source:/x\n", Status.FAIL),
        ("environment:\n  PYTHONPATH: /data/atom:/x\n", Status.FAIL),
        ("pre: |\n  set -e\n  pip install vllm\n", Status.FAIL),
        ('commands: [hostname, date, "pip install vllm"]\n', Status.FAIL),
        ("pre:\n- hostname\n- date\n- git apply /x.patch\n", Status.JUDGEMENT),
        ('env: [{name: FOO, value: /x}, {name: LD_PRELOAD, value: ""}]\n', Status.PASS),
        ("environment:\n  UCX_MODULE_DIR: /usr/local/lib/python3.12/dist-packages/nixl.libs/ucx\n", Status.PASS),
        ("# setup_script: patch-vllm.sh\nname: x\n", Status.PASS),
        ("a: &x [1]\nb: *x\ncommand: bash /infmax-workspace/benchmarks/b.sh && echo done\n", Status.PASS),
        ("command: bash /data/run.sh && echo done\n", Status.JUDGEMENT),
        ("note: |\n  Runs fast, and never stops.\n  See docs/x for more.\n", Status.PASS),
        ("environment:\n  SGLANG_EXTERNAL_MODEL_PACKAGE: mine\n", Status.JUDGEMENT),
        ("a: [\npip install numpy\n", Status.JUDGEMENT),
    ],
)
def test_recipes_are_read(content: str, status: Status) -> None:
    base = {**summer(), "benchmarks/b.sh": "echo\n"}
    outcome = of({**base, RECIPE: content}, base)
    assert outcome.status is status, outcome.summary


def test_a_command_in_a_recipe_is_found_on_its_line() -> None:
    outcome = of({**summer(), RECIPE: "name: x\npre: |\n  set -e\n  pip install vllm\n"})
    assert worst(outcome).line == 4


@pytest.mark.parametrize(
    ("path", "content", "status"),
    [
        ("benchmarks/patches/x.patch", "--- a/vllm/x.py\n+++ b/vllm/x.py\n", Status.FAIL),
        ("runners/patches/x.patch", "--- a/src/srtctl/x.py\n+++ b/src/srtctl/x.py\n", Status.JUDGEMENT),
        ("benchmarks/patches/y.diff", "what is this\n", Status.JUDGEMENT),
        ("experimental/aiter_site/sitecustomize.py", "import aiter\n", Status.FAIL),
        ("benchmarks/patch_scheduler.py", "import vllm\np = vllm.__file__\nopen(p, 'w').write('')\n", Status.FAIL),
        ("benchmarks/plug.py", "from vllm.core import Scheduler\nScheduler.step = lambda self: None\n", Status.FAIL),
        ("benchmarks/up.py", "import subprocess\nsubprocess.run(['pip', 'install', 'vllm'])\n", Status.FAIL),
        ("benchmarks/mounts.py", "MOUNTS = f'{folder}:/sgl-workspace/sglang'\n", Status.JUDGEMENT),
        ("benchmarks/client.py", "import json\nopen('x', 'w').write(json.dumps({}))\n", Status.PASS),
        ("benchmarks/llm-d/Dockerfile", "FROM vllm/vllm-openai:v1\n", Status.JUDGEMENT),
        ("benchmarks/lib.so", b"\x7fELF\0\0", Status.JUDGEMENT),
        ("benchmarks/table.json", '{"a": "vllm"}\n', Status.PASS),
        ("benchmarks/steps.json", '{"setup": "pip install vllm"}\n', Status.FAIL),
        ("benchmarks/notes.txt", "cp x /usr/local/lib/python3.12/dist-packages/vllm/x.py\n", Status.JUDGEMENT),
    ],
)
def test_new_files_of_other_kinds(path: str, content: bytes | str, status: Status) -> None:
    outcome = of({**summer(), path: content})
    assert outcome.status is status, outcome.summary
    assert status is Status.PASS or worst(outcome).path == path


def test_what_a_workflow_installs_is_on_the_machine_that_starts_containers() -> None:
    base = {**summer(), "runners/launch_b200-dgxc.sh": "echo\n"}
    steps = "jobs:\n  run:\n    steps:\n    - run: |\n        pip install vllm\n        bash ./runners/launch_${X}.sh\n"
    outcome = of({**base, ".github/workflows/run.yml": steps}, base)
    assert outcome.status is Status.JUDGEMENT
    assert worst(outcome).line == 5
    other = of({**base, ".github/workflows/test.yml": "run: pip install vllm\n"}, base)
    assert other.status is Status.NOT_APPLICABLE


def test_a_symbolic_link_is_never_followed() -> None:
    evidence = evidence_of(summer(), summer())
    link = ChangedFile(path="benchmarks/x.sh", status="added", new_mode="120000", new_blob="0" * 40)
    snapshot = msgspec.structs.replace(
        evidence.snapshot, files=msgspec.structs.replace(evidence.snapshot.files, value=(link,))
    )
    outcome = decide(msgspec.structs.replace(evidence, snapshot=snapshot))
    assert outcome.status is Status.JUDGEMENT
    assert "symbolic link" in outcome.summary


# -- what is not known ------------------------------------------------------------------------------------------------


def test_a_new_key_with_a_recipe_of_another_repository_is_not_verified() -> None:
    outcome = of({**summer(), NVIDIA: f"{NVIDIA_MASTER}{MULTI_NODE}"})
    assert outcome.status is Status.UNVERIFIED
    assert "recipes/vllm/kimi/agg.yaml" in outcome.summary
    assert worst(outcome).path == NVIDIA


def test_a_recipe_of_another_repository_that_was_named_before_is_as_it_was() -> None:
    base = {**summer(), NVIDIA: f"{NVIDIA_MASTER}{MULTI_NODE}"}
    outcome = of({**base, NVIDIA: f"{base[NVIDIA]!s}".replace("openai:v1", "openai:v2")}, base)
    assert outcome.status is Status.PASS


def test_a_setting_of_an_entry_counts() -> None:
    entry = MULTI_NODE.replace("CONFIG_FILE=", 'PYTHONPATH=/data/vllm", "CONFIG_FILE=')
    outcome = of({**summer(), NVIDIA: f"{NVIDIA_MASTER}{entry}", f"{RECIPES}/vllm/kimi/agg.yaml": "a: 1\n"})
    assert outcome.status is Status.FAIL
    assert worst(outcome).path == NVIDIA


def test_without_the_changed_files_nothing_is_verified() -> None:
    evidence = evidence_of(summer(), summer())
    for files in (unavailable("No network."), partial((), "Only 300 files are told.")):
        snapshot = msgspec.structs.replace(evidence.snapshot, files=files)
        assert decide(msgspec.structs.replace(evidence, snapshot=snapshot)).status is Status.UNVERIFIED


def test_the_newest_layout_is_read_in_its_own_folders() -> None:
    root = "inferencex-e2e"
    recipe_path = f"{root}/benchmarks/single_node/srt-slurm-recipes/qwen3.5/sglang/b300-fp4/8k1k.yaml"
    base: dict[str, bytes | str] = {**autumn_files(), recipe_path: "base:\n  a: 1\n"}
    outcome = of({**base, recipe_path: "base:\n  a: 1\n  pre: pip install sglang\n"}, base)
    assert outcome.status is Status.FAIL
    assert f"{root}/docs/waiver/2550.md does not exist" in outcome.summary


# -- hostile texts ----------------------------------------------------------------------------------------------------

PLAIN = st.text(st.characters(codec="utf-8"), max_size=200)
LINES = st.lists(
    st.sampled_from(["echo hi", "x=1", "if [ $x = 1 ]; then echo; fi", "# comment", "", "ls | sort", "f() { echo; }"]),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["x.sh", "x.py", "x.yaml", "x.patch", "Dockerfile", "x.txt"]), PLAIN)
def test_no_text_breaks_the_reading(name: str, text: str) -> None:
    read_file(f"benchmarks/{name}", text)


@settings(max_examples=40, deadline=None)
@given(LINES, LINES)
def test_a_patch_is_found_wherever_it_stands(before: list[str], after: list[str]) -> None:
    text = "\n".join([*before, "pip install vllm==9", *after])
    found = [hit.line for hit in read_file("benchmarks/x.sh", text).hits if hit.kind == "engine"]
    assert found == [len(before) + 1]


@pytest.mark.parametrize(
    "text",
    ["for (( ;; )", "$(" * 5_000, "a" * 1_000_001, "x=${x:-${x" * 3_000, "if true; then\n" * 3_000, "echo '" * 3],
)
def test_scripts_beyond_all_measure_are_read_in_bounded_time_and_never_pass(text: str) -> None:
    outcome = of({**summer(), "benchmarks/x.sh": f"pip install numpy\n{text}"})
    assert outcome.status is not Status.PASS


# -- real pull requests -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "head", "status"),
    [
        (2139, "2b5c030", "fail"),
        (2139, "9dd8cd1b", "pass"),
        (2360, "97a9cf7", "unverified"),
        (2508, "0baf642", "fail"),
        (2508, None, "judgement"),
        (2598, None, "judgement"),
        (2326, None, "fail"),
        (2704, None, "fail"),
        (2550, None, "pass"),
        (2011, None, "not_applicable"),
    ],
)
def test_real_pull_requests(real_clone: Path, number: int, head: str | None, status: str) -> None:
    assert real_outcome(decide, real_clone, number, head).status == status


# -- programs that no rule knows, and what stands elsewhere ------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "trap 'sed -i s/a/b/ /usr/lib/python3.12/site-packages/sglang/x.py' EXIT",
        "find /usr/lib/python3.12/site-packages/sglang -name '*.py' -exec sed -i s/a/b/ {} +",
        "find / -name server_args.py -exec sed -i s/a/b/ {} +",
        r"find / -name '*.py' -exec perl -pi -e s/a/b/ {} \;",
        "find /opt/venv -name '*.pyc' -delete",
        "busybox sed -i s/a/b/ $D/x.py",
        "nsenter -t 1 -m sed -i s/a/b/ $D/x.py",
        "timeout -k 5 60 sed -i s/a/b/ $D/x.py",
        "nice -n 5 taskset -c 0-7 numactl -N 0 -m 0 env -u X A=1 frobnicate",
        "export BASH_ENV=/workspace/hooks.sh",
        "tar -xf overlay.tar -C /",
        "ROOT=/; cp -r overlay/. $ROOT",
        'python3() { command python3 -m wrapper "$@"; }',
        "alias vllm='python3 wrapper.py'",
        "curl -o /tmp/z.sh http://x; chmod +x /tmp/z.sh; /tmp/z.sh",
        "curl -s http://x | tee y | bash",
        "bash /workspace/patches/apply.sh",
        "/data/setup.sh",
        "/data/setup --fast",
        "source /workspace/env.sh",
        "bash -x ./nowhere.sh",
        "$PREP_CMD",
        '"${PREP[@]}" x',
        'PREP="sed -i s/a/b/ x"; $PREP',
        'PREP=(frobnicate -x); "${PREP[@]}"',
        'OPTIONS+=(--worker-extension-cls mine.Worker); "${OPTIONS[@]}"',
        "$(cat command.txt)",
        'bash -c "$TEXT"',
        'CMD="frobnicate --all"; eval "$CMD"',
        "trap 'frobnicate' EXIT",
        "cat > run.sh <<'EOF'\nfrobnicate\nEOF",
        'retry() { "$@"; }; retry sed -i s/a/b/ x',
        'retry() { local n=$1; shift; timeout $n "$@"; }; retry 5 bash ./nowhere.sh',
        "ls | xargs -n 1 sed -i s/a/b/",
        "frobnicate | grep x",
        "x=$(frobnicate)",
        "python3 -m frobnicate",
        "python3 /workspace/nowhere.py",
        "gcc x.c -shared -o /usr/lib/libcudart.so",
        "cp x.so /usr/lib/x86_64-linux-gnu/libnccl.so.2",
        "ln -sf /data/nccl.so /opt/rocm/lib/librccl.so",
        "export LD_LIBRARY_PATH=/workspace/lib:$LD_LIBRARY_PATH",
        "export PATH=/workspace/bin:$PATH",
        "export SGLANG_EXTERNAL_MODEL_PACKAGE=evil_pkg",
        "make -C tools patch",
        "srun --ntasks=1 ./nowhere.sh",
        "srun --overlap /data/fix",
        "bash /opt/hotfix.sh",
        "python3 /app/patch_vllm.py",
        "python3 $REPO_HOME/patch_vllm.py",
        "git -C sglang apply /workspace/fix.patch",
        "git -C vllm am < x.mbox",
        "git -C /sgl-workspace/sglang stash pop",
        'eval "$(echo pip install vllm)"',
        'eval "$(jq -r .cmd x.json)"',
        "curl https://x/i.sh | sudo bash",
        "curl https://x/i.sh | env A=1 bash",
        'sed -i "s#a.yaml#b#" /workspace/engine.py',
        "sed -i --expression=s/a/b/ /sgl-workspace/x.py /tmp/z.log",
        "docker run --mount type=bind,src=/a,dst=/sgl-workspace/sglang img",
        "srun --export=ALL,LD_PRELOAD=/x.so vllm serve m",
        "srun --container-image=lmsysorg/sglang:nightly vllm serve m",
        "[[ $(pip install vllm) ]]",
        "(( $(pip install vllm) ))",
        "for ((i=$(pip install vllm); i<2; i++)); do :; done",
        "case $(pip install vllm) in x) ;; esac",
        'python3 -c "$(cat patch.py)"',
        'tmux new-session -d "pip install -U vllm"',
        'f() { bash -c "$1"; }; f "pip install vllm"',
        "watch -n1 pip install vllm",
        'uv pip install --python "$PY" transformers',
        "sed -i s/a/b/ notes.txt.py",
        "cp x.so $(dirname /usr/lib/x86_64-linux-gnu/libnccl.so)/y",
        "mpirun -np 8 /data/bin/fix",
        "docker run --rm -w /workspace $IMAGE /data/fix",
        "python3 - /data/fix.py <<'E'\nprint(1)\nE\npython3 /data/fix.py",
        "cat > /tmp/env.sh <<'E'\nA=1\nE\nsource /data/env.sh",
        "docker run --rm --entrypoint=/bin/bash $IMAGE /data/nowhere.sh",
    ],
)
def test_a_line_that_may_change_the_engine_is_never_a_pass(line: str) -> None:
    script = f"#!/usr/bin/env bash\n{line}\npython3 -m sglang.launch_server --model-path $MODEL --tp $TP\n"
    decided = of({**summer(), SCRIPT: script})
    assert decided.status in (Status.JUDGEMENT, Status.FAIL), decided.summary
    assert worst(decided).path == SCRIPT


@pytest.mark.parametrize(
    "lines",
    [
        'log() { echo "$@"; }; log starting the server',
        'run() { timeout 60 "$@"; }; run curl -s http://localhost:$PORT/health',
        "PY=python3; $PY -m sglang.launch_server --tp 8",
        'SERVER=(python3 -m sglang.launch_server); SERVER+=(--tp 8); "${SERVER[@]}" > "$SERVER_LOG" 2>&1 &',
        '${PY:-python3} -c "print(1)"',
        "MAYBE=; [ -n $X ] && MAYBE=exec; $MAYBE python3 -m vllm.entrypoints.openai.api_server",
        "$(command -v python3) -m json.tool x.json",
        "cleanup() { kill $PID; }; trap cleanup EXIT; trap 'cleanup; exit 1' INT; trap - TERM",
        "source /etc/os-release; source $HOME/venv/bin/activate",
        "sudo -u root nice -n 5 ls",
        "/usr/bin/env bash -c 'echo hi'",
        "find . -name '*.json' -exec cat {} +; find \"$RESULT_DIR\" -type f -print",
        "export LD_LIBRARY_PATH=/usr/local/cuda/lib64:$LD_LIBRARY_PATH PATH=$PATH:/workspace/bin",
        "export PATH=$HOME/.local/bin:$PATH",
        "command -v frobnicate || type frobnicate",
        'DETECT=\'if true; then RUN=docker; else RUN="sudo docker"; fi\'; eval "$DETECT"; $RUN ps',
    ],
)
def test_what_starts_the_server_in_other_words_passes(lines: str) -> None:
    outcome = of(with_lines(lines))
    assert outcome.status is Status.PASS, outcome.summary


LIBRARY = "benchmarks/benchmark_lib.sh"
SOURCED = 'source "$(dirname "$0")/../../benchmark_lib.sh"'
ENGINE = "/usr/local/lib/python3.12/dist-packages/sglang/srt/server_args.py"


def test_a_function_of_the_library_is_known_and_an_engine_patch_in_it_fails_where_it_stands() -> None:
    library = f"start_clock() {{\n  date\n}}\napply_local_patches() {{\n  sed -i s/a/b/ {ENGINE}\n}}\n"
    base = {**summer(), LIBRARY: library}
    assert of({**with_lines(SOURCED, "start_clock"), LIBRARY: library}, base).status is Status.PASS
    assert of({**with_lines(SOURCED, "stop_clock"), LIBRARY: library}, base).status is Status.JUDGEMENT
    outcome = of({**with_lines(SOURCED, "apply_local_patches"), LIBRARY: library}, base)
    assert outcome.status is Status.FAIL
    assert (worst(outcome).path, worst(outcome).line) == (LIBRARY, 5)
    new = of({**with_lines(SOURCED, "apply_local_patches"), LIBRARY: library})
    assert new.status is Status.FAIL


def test_a_program_in_a_variable_of_another_script_passes_while_that_script_is_unchanged() -> None:
    library = {LIBRARY: "export CLIENT=/venv/bin/client\n"}
    line = with_lines(SOURCED, "$CLIENT --port $PORT")
    assert of({**line, **library}, {**summer(), **library}).status is Status.PASS
    assert of({**line, **library}).status is Status.JUDGEMENT


@pytest.mark.parametrize(
    ("line", "path", "content"),
    [
        ("./tools/fix", "tools/fix", f"#!/bin/bash\nsed -i s/a/b/ {ENGINE}\n"),
        ("python3 tools/run.py", "tools/run.py", f"import os\nos.system('sed -i s/a/b/ {ENGINE}')\n"),
        ("python3 -m tools.run", "tools/run.py", f"import os\nos.system('sed -i s/a/b/ {ENGINE}')\n"),
        ("bash tools/one.sh", "tools/one.sh", "frobnicate\n"),
        (
            "python3 benchmarks/entry.py",
            "benchmarks/entry.py",
            "import importlib\nm = importlib.import_module('sg' + 'lang')\nopen(m.__path__[0] + '/x', 'a').write('')\n",
        ),
        ("python3 tools/blob", "tools/blob", b"\0\1"),
    ],
)
def test_a_new_file_that_a_new_line_runs_is_read_wherever_it_lies(line: str, path: str, content: bytes | str) -> None:
    outcome = of({**with_lines(line), path: content})
    assert outcome.status in (Status.JUDGEMENT, Status.FAIL), outcome.summary
    assert worst(outcome).path == path
    assert of({**summer(), "tools/x": content}).status is Status.NOT_APPLICABLE


def test_a_script_whose_name_variables_choose_is_one_of_the_repository_or_unknown() -> None:
    known = {"benchmarks/single_node/qwen3.5_fp4_b200.sh": "echo\n"}
    chosen = 'BASE="benchmarks/single_node/${EXP%%_*}_${PRECISION}_b200"; bash "${BASE}${SUFFIX}.sh"'
    assert of({**with_lines(chosen), **known}, {**summer(), **known}).status is Status.PASS
    assert of({**with_lines('bash "benchmarks/${NAME}.sh"'), **known}).status is Status.JUDGEMENT
    assert of({**with_lines(chosen.replace("_b200", "_h999")), **known}).status is Status.JUDGEMENT
