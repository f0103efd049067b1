"""What the commands of scripts do to the engine."""

from __future__ import annotations

import pytest

from reviewer_tui.checks import engine_patch, image
from reviewer_tui.model.finding import Status
from tests.checks.patches.forms import LAUNCHER, LOOK, Files, patch, seen, with_lines
from tests.evidence import NVIDIA, NVIDIA_MASTER, evidence_of, summer

FINDS = "D=$(python3 -c 'import vllm,os;print(os.path.dirname(vllm.__file__))')\n"


@pytest.mark.parametrize(
    "line",
    [
        'wget -qO "$D/x.py" http://x',
        'curl -sSLo "$D/x.py" http://x',
        'curl -fsSL -o"$D/x.py" http://x',
        'cd "$D" && curl -LO http://x/x.py',
        'cd "$D"; wget http://x/x.py',
        'cd "$D"; curl -L http://x/x.tgz | tar xz',
        'cd "$D"; tar xf /workspace/x.tar',
        'cd "$D"; unzip -o /workspace/x.zip',
        'tar -C"$D" -xzf /workspace/overlay.tgz',
        'tar -xzf /workspace/overlay.tgz --directory="$D"',
        'cp --target-directory="$D" x.py',
        "cd / && tar xzf /workspace/overlay.tgz",
        "tar --to-command='sh fix.sh' -xf x.tar",
    ],
)
def test_download_or_archive_into_the_engine(line: str) -> None:
    seen(patch(with_lines(FINDS + line)))


@pytest.mark.parametrize(
    "line",
    [
        "sed -i s/a/b/ $D/x.py /tmp/config.yaml",
        "mv $D/x.py /tmp",
        "truncate -s0 $D/x.py",
        "sed s/a/b/ $D/x.py | sort -o $D/x.py",
        "chmod 000 $D/x.so",
        "hf download org/kernels --local-dir $D",
        "git clone https://github.com/me/overlay $D/overlay",
        "awk '{print > \"'$D'/x.py\"}' in",
        'put() { cp "$1" "$2"; }; put x.py $D/x.py',
        'find / -name scheduler.py | while read f; do cat mine.py > "$f"; done',
    ],
)
def test_known_program_that_changes_the_engine(line: str) -> None:
    seen(patch(with_lines(FINDS + line)))


@pytest.mark.parametrize(
    "line",
    [
        "bash < /workspace/fix.sh",
        "python3 < /workspace/fix.py",
        "python3 - < /workspace/fix.py",
        "ssh $HOST bash -s < fix.sh",
        "echo vllm | xargs pip install",
        "xargs -a packages.txt pip install",
        "uv add vllm",
        "uv sync",
    ],
)
def test_program_or_packages_by_redirection(line: str) -> None:
    seen(patch(with_lines(line)))


@pytest.mark.parametrize(
    "line",
    [
        "ssh node1 'pip install vllm'",
        "kubectl exec pod -- pip install vllm",
        'env -S "pip install vllm"',
        "awk 'BEGIN{system(\"pip install vllm\")}'",
        "sed -n '1e pip install vllm' /dev/null",
        "git -c core.pager='sh /x/fix' log",
        "git -c alias.x='!pip install vllm' x",
        "git config --global core.hooksPath /workspace/hooks",
        "python3 -m pdb -c continue /workspace/fix.py",
        "python3 -m timeit -n1 'import os; os.system(\"sh /workspace/fix\")'",
    ],
)
def test_known_program_that_runs_a_text(line: str) -> None:
    seen(patch(with_lines(line)))


def test_array_by_index() -> None:
    assert patch(with_lines("A[0]=pip; A[1]=install; A[2]=vllm", '"${A[@]}"')).status is Status.FAIL


@pytest.mark.parametrize(
    "line",
    [
        "echo 'source /workspace/fix.sh' >> ~/.bashrc",
        "echo 'export LD_PRELOAD=/data/x.so' >> $HOME/.profile; source $HOME/.profile",
    ],
)
def test_startup_file_of_a_shell(line: str) -> None:
    seen(patch(with_lines(line)))


@pytest.mark.parametrize(
    "line",
    [
        "docker pull me/vllm:patched && docker tag me/vllm:patched $IMAGE",
        "docker load -i patched.tar",
        "export IMAGE=me/sglang-patched:1",
        "docker run --volumes-from patched $IMAGE",
        "docker run --env-file /workspace/env $IMAGE",
        "docker run --env=PYTHONPATH=/data/vllm $IMAGE",
        "docker cp fix.py server:/app/x.py",
    ],
)
def test_another_image_or_container(line: str) -> None:
    launcher = "docker run $IMAGE ls\n"
    base: Files = {**summer(), LAUNCHER: launcher}
    head: Files = {**base, LAUNCHER: f"{line}\n{launcher}", NVIDIA: NVIDIA_MASTER.replace("v0.5.14", "v0.5.15")}
    evidence = evidence_of(base, head)
    assert any(check.decide(evidence).status in LOOK for check in (engine_patch, image))


def test_another_image_or_container_by_a_batch_script_or_workflow() -> None:
    batch = "#!/bin/bash\n#SBATCH --container-image=me/p\n#SBATCH --container-mounts=/d:/sgl-workspace/sglang\n"
    seen(patch({**summer(), "benchmarks/z.sbatch": batch}))


@pytest.mark.parametrize(
    "argument",
    [
        "--scheduler-cls mine.Scheduler",
        '--compilation-config \'{"backend": "mine.backend"}\'',
        "--logits-processors mine:Processor",
        "--middleware mine.Middleware",
        "--tool-parser-plugin /workspace/parser.py",
        "--custom-weight-loader mine.load",
        '--forward-hooks \'[{"name": "x", "hook_factory": "mine:f"}]\'',
    ],
)
def test_server_argument_that_loads_code(argument: str) -> None:
    seen(patch(with_lines(f"vllm serve $MODEL {argument}")))


@pytest.mark.parametrize(
    "line",
    [
        "export TRITON_KERNEL_OVERRIDE=1 TRITON_OVERRIDE_DIR=/workspace/kernels",
        "export AITER_META_DIR=/workspace/aiter",
        "export FLASHINFER_CUBIN_DIR=/workspace/cubins",
        "export NCCL_NET_PLUGIN=/workspace/libnet.so",
        "export NCCL_TUNER_PLUGIN=/workspace/libtuner.so",
        "export PYTHONUSERBASE=/workspace/site",
        "export CUDA_HOME=/workspace/cuda",
        "export HF_ENDPOINT=http://mirror",
        "export PIP_REQUIREMENT=/data/r.txt; pip install pip",
    ],
)
def test_variable_that_brings_code(line: str) -> None:
    seen(patch(with_lines(line)))


@pytest.mark.parametrize(
    "line",
    [
        "trtllm-llmapi-launch trtllm-serve $MODEL",
        "if grep -q x /usr/local/lib/python3.12/dist-packages/vllm/config.py; then HAVE=1; fi",
        "grep -q synthetic /usr/local/lib/python3.12/dist-packages/vllm/config.py && HAVE=1",
        "ls /usr/local/lib/python3.12/dist-packages/ | grep vllm",
        'echo "nothing is patched in site-packages" >&2',
        "pip install openai",
        "pip install nvidia-ml-py",
        "sed -i 's/x/y/' \"$RESULT_DIR/results.csv\"",
        "ray start --head --port 6379",
        "redis-cli ping",
        "tmux ls",
        "zip -r logs.zip logs",
        "envsubst < a.txt > b.txt",
        "sysctl -n net.core.somaxconn",
        "gcc --version; nvcc --version",
        "systemctl status docker",
        "ib_write_bw --version",
        "lstopo --version",
        'bash -n "$0"',
        "pip install datasets --upgrade --upgrade-strategy eager",
    ],
)
def test_harmless_line(line: str) -> None:
    decided = patch(with_lines(line))
    assert decided.status is Status.PASS, decided.summary


@pytest.mark.parametrize(
    "line",
    [
        'taskset -pc "0-7" "$PPID"',
        "python3 - --config qualitative <<'E'\nprint(1)\nE",
        'P="A=1 B=2 C=3 D=4 E=5 F=6 G=7"; $P python3 -m sglang.launch_server --tp 8',
        "${LAUNCH_PREFIX:-} python3 -m sglang.launch_server --tp 8",
        'run_file() { python3 "$1"; }',
        "export ENVIRONMENT=prod ENVOY_PORT=8080",
        "ROCM_PATH=${ROCM_PATH:-/opt/rocm}",
        "ROCM_PATH=${ROCM_PATH:-/opt/rocm}; export ROCM_PATH=$ROCM_PATH",
        "python3 -m pip install --help | grep -q break-system",
        'C="vllm bench serve"; C+=" --url http://x"; $C',
        "A=(); ${A[@]} -c x",
        'CACHE=$(tar -C / -tf x); exec 9>"$CACHE.lock"; mv -f a "$CACHE"',
        "cat > collect.py <<'E'\nprint(1)\nE\npython3 collect.py",
        'for py in python3 "$VENV/bin/python"; do $py -m pip install -q pandas; done',
        "export PATH=$UV_INSTALL_DIR:$PATH",
    ],
)
def test_plain_line_in_other_words(line: str) -> None:
    decided = patch(with_lines(line))
    assert decided.status is Status.PASS, decided.summary


@pytest.mark.parametrize(
    "name", ["openai-triton", "modal-sglang", "pip-vllm", "pytest-vllm", "datasets2", "torchao", "pytorch-lightning"]
)
def test_a_rule_for_a_package_is_about_its_whole_name(name: str) -> None:
    decided = patch(with_lines(f"pip install {name}==1"))
    assert decided.status is Status.JUDGEMENT, decided.summary


def test_places_are_told_once_each_and_none_is_left_out() -> None:
    lines = [f"frobnicate {number}; other-tool {number}" for number in range(30)]
    decided = patch(with_lines(*lines))
    told = [finding for finding in decided.findings if finding.status is Status.JUDGEMENT]
    assert len({(finding.path, finding.line) for finding in told}) == len(told)
    assert "and 1 more there" in told[0].message
    assert "lines" in told[-1].message or ", line 15, 16" in told[-1].message


def test_why_a_patch_fails_is_said_once_for_a_file() -> None:
    decided = patch(with_lines("pip install vllm==1", "pip install sglang==1"))
    failed = [finding for finding in decided.findings if finding.status is Status.FAIL]
    assert ["does not exist at head" in finding.message for finding in failed] == [True, False]
