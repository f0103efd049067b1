"""From a row and the files behind it to what it starts."""

from __future__ import annotations

from typing import Any

from reviewer_tui.launch.launcher import Launcher
from reviewer_tui.launch.points import Launch, container_folders, external_names, launch_of
from reviewer_tui.launch.speculation import speculation_of
from reviewer_tui.launch.text import unknown
from reviewer_tui.model.tree import DictTree
from reviewer_tui.policy.layout import discover_layout
from reviewer_tui.sweeps.resolve import ResolvedFile
from tests.launch.rows import one_node, several_nodes

SCRIPT = """source "$(dirname "$0")/../../benchmark_lib.sh"
check TP CONC MODEL
sglang serve --model-path "${MODEL_PATH:-$MODEL}" --tp "$TP" --port "${PORT:-8888}" --level "${LEVEL:-1}" &
run_benchmark_serving --model "$MODEL" --use-chat-template
"""
LIBRARY = """check() {
  for name in "$@"; do
    if [[ -z "${!name}" ]]; then echo "$name is missing"; exit 1; fi
  done
}
run_benchmark_serving() {
  python3 utils/bench_serving/benchmark_serving.py "$@"
}
"""
LAUNCHER = """export MODEL_PATH=/models/$MODEL PORT=9999
docker run -e TP image bash benchmarks/single_node/fixed_seq_len/big_fp8_b200.sh
"""
RECIPE = """model: {path: org/Big-FP8}
backend:
  type: vllm
  vllm_config:
    prefill: {tensor-parallel-size: 4}
    decode:
      tensor-parallel-size: 8
      speculative-config: '{"method": "mtp", "num_speculative_tokens": 2}'
"""
INJECTING = """if [[ "$SYNTHETIC_ACCEPTANCE" == true ]]; then
  python3 runners/inject_synthetic_acceptance.py recipe.yaml
fi
if [[ "$EVAL_ONLY" == true ]]; then
  find recipes -name '*.yaml' -exec sed -i '/FORCED_TOKENS/d' {} +
fi
"""
JOB = """export IMAGE MODEL SIZE=8
sbatch --nodes 2 benchmarks/multi_node/job.slurm
"""
NODES = """srun bash -lc "
if [ \\$SLURM_PROCID = 0 ]; then
  docker run -e ROLE=prefill -e SIZE -v $PWD:/work image bash -c 'bash /work/benchmarks/multi_node/node.sh'
else
  docker run -e ROLE=decode -e SIZE -v $PWD:/work image bash -c 'bash /work/benchmarks/multi_node/node.sh'
fi
"
"""
NODE = """if [ "$ROLE" = prefill ]; then
  python3 -m sglang.launch_server --tp "$SIZE" --disaggregation-mode prefill --dist-init-addr $(hostname)
else
  python3 -m sglang.launch_server --tp "$SIZE" --disaggregation-mode decode
fi
"""


def tree(**more: str) -> DictTree:
    files = {
        "configs/nvidia-master.yaml": "{}\n",
        "benchmarks/benchmark_lib.sh": LIBRARY,
        "benchmarks/single_node/fixed_seq_len/big_fp8_b200.sh": SCRIPT,
        "runners/launch_b200.sh": LAUNCHER,
        "runners/launch_inject.sh": INJECTING,
        "runners/launch_job.sh": "bash benchmarks/multi_node/start.sh\n",
        "benchmarks/multi_node/start.sh": JOB,
        "benchmarks/multi_node/job.slurm": NODES,
        "benchmarks/multi_node/node.sh": NODE,
        "recipes/a.yaml": RECIPE,
        "recipes/eval.yaml": RECIPE.replace("tensor-parallel-size: 8", "tensor-parallel-size: 2"),
    }
    return DictTree(files | {name.replace("__", "/"): text for name, text in more.items()})


def launch(
    row: dict[str, Any], *files: tuple[str, str | None], source: DictTree | None = None, **options: Any
) -> Launch:
    found = source or tree()
    resolved = [ResolvedFile(role=role, path=path, wanted=path or "elsewhere.yaml") for role, path in files]  # type: ignore[arg-type]
    return launch_of(found, discover_layout(found), row, resolved, **options)


SINGLE = ("script", "benchmarks/single_node/fixed_seq_len/big_fp8_b200.sh")


def test_one_node() -> None:
    found = launch(one_node(tp=4), ("launcher", "runners/launch_b200.sh"), SINGLE)
    (server,) = found.servers
    assert server.args["--tensor-parallel-size"] == 4
    assert (found.script, found.recipe, found.missing, found.problems) == (SINGLE[1], None, (), ())
    assert found.sources == (SINGLE[1], "benchmarks/benchmark_lib.sh")
    assert found.generating == found.workers == (server,)
    assert found.known
    assert server.model == "org/Big-FP8"
    (client,) = found.clients
    assert (client.chat_template, client.path) == (True, "benchmarks/benchmark_lib.sh")


def test_what_the_launcher_may_set_is_open() -> None:
    changed = tree(runners__launch_b200__sh="", **{"runners/launch_b200.sh": LAUNCHER + "export LEVEL=$(pick)\n"})
    found = launch(one_node(), ("launcher", "runners/launch_b200.sh"), SINGLE, source=changed)
    assert set(found.unknowns) == {"--level"}
    assert external_names(changed, ["runners/launch_b200.sh"]) == {"LEVEL"}


def test_variables_that_are_left_open_hold_for_any_value() -> None:
    found = launch(one_node(), SINGLE, extra={"TP": unknown("any TP", nonempty=True)})
    assert set(found.unknowns) == {"--tensor-parallel-size"}
    assert found.clients


def test_a_script_that_certainly_stops() -> None:
    row = one_node()
    del row["tp"]
    found = launch(row | {"model": ""}, SINGLE)
    assert not found.servers
    assert "benchmark_lib.sh" in str(found.problems[-1].path)
    assert found.unknowns[""]


def test_files_that_the_repository_does_not_hold() -> None:
    assert launch(one_node(), ("script", None)).missing == ("elsewhere.yaml",)
    assert launch(one_node()).missing == ("the benchmark script",)
    found = launch(several_nodes(), ("recipe", None))
    assert found.missing == ("elsewhere.yaml",)
    assert "not in this repository" in found.unknowns[""]
    assert not found.known


def test_a_recipe_and_its_evaluation() -> None:
    files = ("recipe", "recipes/a.yaml"), ("eval_recipe", "recipes/eval.yaml")
    found = launch(several_nodes(), *files)
    assert [(s.role, s.args["--tensor-parallel-size"]) for s in found.servers] == [("prefill", 4), ("decode", 8)]
    assert [server.role for server in found.generating] == ["decode"]
    assert found.recipe is not None
    assert launch(several_nodes(), *files, eval_only=True).of("decode")[0].args["--tensor-parallel-size"] == 2


def test_acceptance_that_the_launcher_writes_into_the_recipe() -> None:
    settings = ["SYNTHETIC_ACCEPTANCE=true", "SYNTHETIC_ACCEPTANCE_LENGTH=2.4"]
    worker = {"num-worker": 1, "tp": 4, "ep": 1, "dp-attn": False, "additional-settings": settings}
    row = several_nodes(framework="dynamo-vllm", decode=worker)
    files = ("launcher", "runners/launch_inject.sh"), ("recipe", "recipes/a.yaml")
    found = launch(row, *files)
    assert found.injected == 2.4
    speculation = speculation_of(found.generating[0])
    assert speculation is not None
    assert (speculation.level, speculation.synthetic, speculation.acceptance_length) == (2, True, 2.4)
    real = speculation_of(launch(row, *files, eval_only=True).generating[0])
    assert real is not None
    assert real.synthetic is False
    assert launch(several_nodes(framework="dynamo-vllm"), *files).injected is None


def test_lines_that_the_launcher_deletes_for_an_evaluation() -> None:
    text = RECIPE.replace("  vllm_config", '  decode_environment: {FORCED_TOKENS: "2", KEPT: "1"}\n  vllm_config')
    source = tree(**{"recipes/a.yaml": text})
    files = ("launcher", "runners/launch_inject.sh"), ("recipe", "recipes/a.yaml")
    assert launch(several_nodes(), *files, source=source).of("decode")[0].env == {"FORCED_TOKENS": "2", "KEPT": "1"}
    assert launch(several_nodes(), *files, source=source, eval_only=True).of("decode")[0].env == {"KEPT": "1"}


def test_a_launcher_that_is_no_shell_script_is_told() -> None:
    source = tree(**{"runners/launch.py": "print(1)\n"})
    effects = Launcher(source, "runners/launch.py", {}).effects(several_nodes(), True)
    assert [problem.rule for problem in effects.problems] == ["launcher"]


def test_a_job_is_followed_to_its_nodes() -> None:
    row = several_nodes(framework="sglang-disagg")
    found = launch(row, ("launcher", "runners/launch_job.sh"), ("script", "benchmarks/multi_node/start.sh"))
    assert [(s.role, s.args["--tensor-parallel-size"], s.path) for s in found.servers] == [
        ("prefill", 8, "benchmarks/multi_node/node.sh"),
        ("decode", 8, "benchmarks/multi_node/node.sh"),
    ]
    assert set(found.unknowns) == {"--dist-init-addr"}
    lost = launch(row, ("script", "benchmarks/multi_node/start.sh"))
    assert [problem.rule for problem in lost.problems] == ["missing"]


def test_folders_of_containers() -> None:
    layout = discover_layout(tree())
    assert container_folders(layout)["/ix"] == ""
    autumn = discover_layout(DictTree({"inferencex-e2e/configs/nvidia-master.yaml": "{}"}))
    assert container_folders(autumn)["/ix"] == "inferencex-e2e"
    assert container_folders(autumn)["/workspace/benchmarks"] == "inferencex-e2e/benchmarks"
