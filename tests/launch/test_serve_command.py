"""The servers and clients that a script starts, however they are written."""

from __future__ import annotations

from typing import Any

import pytest

from reviewer_tui.launch.serve_command import ClientRun, ScriptCommands, ServeCommand, script_commands, serve_command
from reviewer_tui.launch.text import Unknown
from reviewer_tui.model.tree import DictTree
from tests.launch.rows import one_node


def commands(script: str, row: dict[str, Any] | None = None, **options: Any) -> ScriptCommands:
    return script_commands(DictTree({"b/run.sh": script}), "b/run.sh", row or one_node(), **options)


def server(script: str, row: dict[str, Any] | None = None, **options: Any) -> ServeCommand:
    (found,) = commands(script, row, **options).servers
    return found


def client(script: str, row: dict[str, Any] | None = None) -> ClientRun:
    (found,) = commands(script, row).clients
    return found


FORMS = {
    "plain": "sglang serve --model-path $MODEL --tp $TP",
    "module": "python3 -m sglang.launch_server --model-path=$MODEL --tp=$TP",
    "interpreter": 'PY=$(command -v python3)\n"$PY" -u -m sglang.launch_server --model-path $MODEL --tp $TP',
    "background": "sglang serve --model-path $MODEL --tp $TP > log 2>&1 &\nwait",
    "variables before": "A=1 B=$TP sglang serve --model-path $MODEL --tp $TP",
    "env": "env -u X A=1 sglang serve --model-path $MODEL --tp $TP",
    "wrappers": "nohup setsid numactl --interleave=all sglang serve --model-path $MODEL --tp $TP &",
    "exec": "exec sglang serve --model-path $MODEL --tp $TP",
    "pipe": "sglang serve --model-path $MODEL --tp $TP 2>&1 | tee log &",
    "array": 'C=(sglang serve)\nC+=(--model-path "$MODEL")\nC+=(--tp "$TP")\n"${C[@]}" &',
    "words": 'C="sglang serve --model-path $MODEL --tp $TP"\n$C &',
    "function": 'launch() { sglang serve --model-path "$1" "${@:2}" & }\nlaunch "$MODEL" --tp $TP',
    "eval": 'C="sglang serve --model-path $MODEL --tp $TP"\neval "$C > log &"',
    "inner shell": 'bash -c "sglang serve --model-path $MODEL --tp $TP"',
    "subshell": "( cd /x; sglang serve --model-path $MODEL --tp $TP ) &",
    "path": "/opt/venv/bin/sglang serve --model-path $MODEL --tp $TP",
    "time limit": "timeout 3h sglang serve --model-path $MODEL --tp $TP",
}


@pytest.mark.parametrize("script", FORMS.values(), ids=FORMS.keys())
def test_forms_of_a_server(script: str) -> None:
    found = server(script)
    assert found.args == {"--model-path": "org/Big-FP8", "--tensor-parallel-size": 8}
    assert (found.engine, found.role, found.version, found.model) == ("sglang", "worker", "0.5.14", "org/Big-FP8")
    assert found.known
    assert found.path == "b/run.sh"


@pytest.mark.parametrize(
    ("script", "engine", "role", "args"),
    [
        ("vllm serve $MODEL --port 1", "vllm", "worker", {"--model": "org/Big-FP8", "--port": 1}),
        (
            "python3 -m vllm.entrypoints.openai.api_server --model $MODEL",
            "vllm",
            "worker",
            {"--model": "org/Big-FP8"},
        ),
        ("python -m atom.entrypoints.openai_server --model $MODEL -tp 2", "atom", "worker", None),
        (
            "trtllm-serve $MODEL --tp_size 8",
            "trtllm",
            "worker",
            {"--model": "org/Big-FP8", "--tensor_parallel_size": 8},
        ),
        ("mpirun -n 1 --oversubscribe trtllm-serve $MODEL --tp_size 8", "trtllm", "worker", None),
        ("python3 -m dynamo.sglang --model-path x --disaggregation-mode decode", "sglang", "decode", None),
        ("python3 -m dynamo.vllm --model x", "vllm", "worker", {"--model": "x"}),
        ("vllm-router --port 1", "other", "router", {"--port": 1}),
        ("python3 -m sglang_router.launch_router --policy x", "other", "router", {"--policy": "x"}),
    ],
)
def test_engines(script: str, engine: str, role: str, args: dict[str, Any] | None) -> None:
    found = server(script)
    assert (found.engine, found.role) == (engine, role)
    assert args is None or found.args == args


@pytest.mark.parametrize(
    "script",
    [
        "vllm bench serve --model x",
        "echo sglang serve",
        "python3 -m sglang.bench_serving --model x",
        "python3 -m pip install sglang",
        "pkill -f sglang.launch_server",
        "curl http://localhost/sglang",
        "cat <<EOF\nsglang serve --tp 8\nEOF",
        "# sglang serve",
    ],
)
def test_what_serves_nothing(script: str) -> None:
    assert commands(script).servers == ()


def test_arms_of_a_row() -> None:
    script = """
A=(--tp "$TP")
if [[ "$DP_ATTENTION" == "true" ]]; then A+=(--dp "$TP" --enable-dp-attention); fi
(( CONC > 64 )) && A+=(--max-running-requests "$CONC") || A+=(--max-running-requests 64)
case "$SPEC_DECODING" in
  mtp) A+=(--speculative-algorithm EAGLE --speculative-num-steps 3) ;;
esac
sglang serve --model-path "$MODEL" "${A[@]}" &
"""
    assert server(script).args["--max-running-requests"] == 64
    assert "--enable-dp-attention" not in server(script).args
    wide = server(script, one_node(dp_attn=True, conc=128, spec_decoding="mtp", tp=4))
    assert wide.args == {
        "--model-path": "org/Big-FP8",
        "--tensor-parallel-size": 4,
        "--data-parallel-size": 4,
        "--enable-dp-attention": True,
        "--max-running-requests": 128,
        "--speculative-algorithm": "EAGLE",
        "--speculative-num-steps": 3,
    }


def test_the_script_s_own_variables() -> None:
    found = server("export A=1 TP=2\nB=3\nC=4 sglang serve --tp $TP &")
    assert {name: found.env[name] for name in ("A", "C", "TP")} == {"A": "1", "C": "4", "TP": "2"}
    assert "B" not in found.env
    assert "MODEL" not in found.env


def test_what_is_unknown_is_named() -> None:
    found = server("N=$(nproc)\nexport X=$(hostname)\nsglang serve --tp 8 --tokenizer-worker-num $N &")
    assert not found.known
    assert found.unknowns["--tokenizer-worker-num"] == "line 1: output of `nproc` unknown"
    assert found.unknowns["X"].startswith("line 2:")
    assert "" not in found.unknowns


def test_a_condition_that_is_open_is_named() -> None:
    found = server("if nvidia-smi; then\n  sglang serve --tp 8\nfi")
    assert not found.known
    assert found.unknowns[""] == "line 1: whether this condition holds is unknown"


def test_of_several_servers_the_certain_one() -> None:
    script = "if probe; then\n sglang serve --tp 1\nfi\nsglang serve --tp 2\n"
    found = serve_command(DictTree({"run.sh": script}), "run.sh", one_node())
    assert found is not None
    assert found.args == {"--tensor-parallel-size": 2}
    assert serve_command(DictTree({"run.sh": "echo"}), "run.sh", one_node()) is None


def test_a_server_that_runs_either_way_is_one() -> None:
    (found,) = commands("start() { sglang serve --tp 8 & }\nprobe && start || start\n").servers
    assert found.args == {"--tensor-parallel-size": 8}


def test_evaluations_have_their_own_server() -> None:
    script = 'M=100; [ "$EVAL_ONLY" = true ] && M=200\nsglang serve --context-length $M &'
    assert server(script).args["--context-length"] == 100
    assert server(script, eval_only=True).args["--context-length"] == 200


def test_options_of_trtllm_in_a_file() -> None:
    script = """
if [ "$SPEC_DECODING" = mtp ]; then SPEC='speculative_config:
  decoding_type: MTP
  num_nextn_predict_layers: 3'
fi
cat > options.yml <<EOF
enable_attention_dp: $DP_ATTENTION
max_batch_size: $(( CONC * 2 ))
kv_cache_config:
  free_gpu_memory_fraction: 0.8
  host: $(hostname)
${SPEC:-}
EOF
trtllm-serve $MODEL --max_batch_size 8 --extra_llm_api_options options.yml --port 1
"""
    found = server(script, one_node(framework="trt", spec_decoding="mtp"))
    assert found.args["--max_batch_size"] == 32
    assert found.args["--enable_attention_dp"] is False
    assert found.args["--speculative_config"] == {"decoding_type": "MTP", "num_nextn_predict_layers": 3}
    assert isinstance(found.args["--kv_cache_config"]["host"], Unknown)
    assert set(found.unknowns) == {"--kv_cache_config"}
    lost = server("trtllm-serve m --extra_llm_api_options /models/o.yml")
    assert not lost.known
    assert "content of /models/o.yml" in lost.unknowns[""]


@pytest.mark.parametrize(
    ("words", "chat"),
    [
        ("--use-chat-template", True),
        ("--dsv4", True),
        ("--model x", False),
        ("$EXTRA", False),
        ("$(extra)", None),
        ('"$(quoted)"', False),
    ],
)
def test_the_client_s_chat_template(words: str, chat: bool | None) -> None:
    found = client(f"sglang serve &\npython3 utils/bench_serving/benchmark_serving.py --port 1 {words}\n")
    assert (found.kind, found.chat_template, found.line) == ("fixed", chat, 2)


def test_a_client_of_a_helper() -> None:
    files = {
        "benchmarks/lib.sh": """run_client() {
  local extra=()
  while [[ $# -gt 0 ]]; do
    case "$1" in
      --use-chat-template) extra+=(--use-chat-template); shift ;;
      --model) model="$2"; shift 2 ;;
      *) echo "Unknown parameter: $1"; return 1 ;;
    esac
  done
  python3 /x/benchmark_serving.py --model "$model" "${extra[@]}"
}
""",
        "benchmarks/one/run.sh": '. "$(dirname "$0")/../lib.sh"\nrun_client --model "$MODEL" --use-chat-template\n',
        "benchmarks/one/wrong.sh": 'source "$(dirname "$0")/../lib.sh"\nrun_client --model "$MODEL" EP_SIZE\n',
    }
    tree = DictTree(files)
    (found,) = script_commands(tree, "benchmarks/one/run.sh", one_node()).clients
    assert (found.path, found.line, found.chat_template) == ("benchmarks/lib.sh", 10, True)
    assert script_commands(tree, "benchmarks/one/wrong.sh", one_node()).clients == ()


def test_agentic_clients_and_evaluations() -> None:
    script = "aiperf profile --endpoint-type chat --url x\npython3 -m lm_eval --apply_chat_template --tasks a\n"
    first, second = commands(script).clients
    assert (first.kind, first.chat_template) == ("agentic", True)
    assert (second.kind, second.chat_template) == ("eval", True)


def test_a_script_that_cannot_be_read_to_its_end() -> None:
    found = server("sglang serve --tp 8 &\nif true; then\n")
    assert not found.known
    assert "cannot be read" in found.unknowns[""]


@pytest.mark.parametrize(
    ("program", "name"),
    [("vllm serve $MODEL", "--max-num-seqs"), ("sglang serve --model-path $MODEL", "--max-num-seqs")],
)
def test_options_in_a_file_yield_to_the_command_line(program: str, name: str) -> None:
    written = "cat > /tmp/c.yaml <<E\nmax-num-seqs: 8\nport: $PORT\nE\n"
    found = server(f"PORT=9; {written}{program} --config /tmp/c.yaml --port 1")
    assert (found.args[name], found.args["--port"], found.open) == (8, 1, ())


@pytest.mark.parametrize("file", ["/data/c.yaml", "$FILE", '"$(cat /data/name)"'])
def test_options_in_a_file_that_is_not_known_are_open(file: str) -> None:
    assert server(f"vllm serve $MODEL --config {file}").open


def test_what_stands_for_the_model_leaves_no_arguments_open() -> None:
    assert server("M=$(cat /data/m); vllm serve $M --port 1").open == ()
    assert server("M=$(cat /data/m); vllm serve $MODEL $M --port 1").open
    assert server('M=$(cat /data/m); vllm serve $M --model "$MODEL" --port 1').open


def test_external_names_are_open() -> None:
    script = 'sglang serve --port "${PORT:-1}"'
    assert server(script).known
    assert "--port" in server(script, external=["PORT"]).unknowns
