"""What runs inside of a container or a batch job, with which variables."""

from __future__ import annotations

import pytest

from reviewer_tui.launch.containers import container_environment, inside
from reviewer_tui.launch.shell import Evaluation, evaluate
from reviewer_tui.launch.shell_words import Argument
from reviewer_tui.launch.text import Mixed, Unknown
from reviewer_tui.model.tree import DictTree


def run(script: str, **files: str) -> Evaluation:
    tree = {"runners/launch.sh": script, **{name.replace("__", "/") + ".sh": text for name, text in files.items()}}
    return evaluate(DictTree(tree), "runners/launch.sh", {"TP": "8", "MODEL": "org/big", "IMAGE": "x:1"})


def served(evaluation: Evaluation) -> list[tuple[str, list[str]]]:
    found = [command for command in evaluation.commands if command.name == "serve"]
    return [(command.path, [str(argument) for argument in command.argv[1:]]) for command in found]


SERVE = 'serve "$TP" "${MODEL-}" "${HERE-unset}"\n'


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ("docker run --rm -e TP -e HERE=1 -v $PWD:/workspace x:1 bash -c 'bash bench/run.sh'", ["8", "", "1"]),
        ("sudo docker run -e TP=4 --env MODEL x:1 bash bench/run.sh", ["4", "org/big", "unset"]),
        ("docker run --env-file e -e TP -w /workspace/bench x:1 /bin/bash run.sh", ["8", "", "unset"]),
        ("docker run -v $PWD:/data -e TP x:1 bash /data/bench/run.sh", ["8", "", "unset"]),
        ("srun --container-image=x --export=ALL,HERE=2 bash bench/run.sh", ["8", "org/big", "2"]),
        ("srun --container-mounts=$PWD:/mnt bash /mnt/bench/run.sh", ["8", "org/big", "unset"]),
        ("sbatch --nodes 2 bench/run.sh", ["8", "org/big", "unset"]),
        ("HERE=3 bash bench/run.sh", ["8", "org/big", "3"]),
        ("./bench/run.sh", ["8", "org/big", "unset"]),
        ("timeout 3h bash -x -e bench/run.sh", ["8", "org/big", "unset"]),
        ("bash -lc 'cd bench && exec bash run.sh'", ["8", "org/big", "unset"]),
        ("(cd bench && bash run.sh) > log 2>&1 &", ["8", "org/big", "unset"]),
        ('D=$(which docker || echo podman)\n$D run -e TP x:1 bash -c "bash bench/run.sh"', ["8", "", "unset"]),
    ],
)
def test_what_runs_inside(start: str, said: list[str]) -> None:
    found = run(f"export TP MODEL\n{start}\n", bench__run=SERVE)
    assert served(found) == [("bench/run.sh", said)]


def test_variables_that_are_not_exported_stay_outside() -> None:
    assert served(run("HERE=1\nbash bench/run.sh\n", bench__run=SERVE))[0][1][2] == "unset"


def test_a_program_in_a_container_is_none_of_ours() -> None:
    assert served(run("docker run x:1 serve\ndocker ps\ndocker pull x:1\n")) == []


def test_files_written_before_are_mounted() -> None:
    script = "echo 'TP=2' > env.sh\ndocker run -v $PWD/env.sh:/etc/env.sh x:1 bash -c '. /etc/env.sh; serve $TP'\n"
    assert served(run(script)) == [("runners/launch.sh", ["2"])]


def test_an_unknown_text_to_run_is_located() -> None:
    found = run('bash -c "$(script)"\n')
    assert [(problem.rule, problem.line) for problem in found.problems] == [("unknown-command", 1)]


def test_the_environment_of_a_container() -> None:
    hole = Unknown("x", 1)
    words = [Argument(w, 1) for w in ("docker", "run", "-e", "A", "-e", "B=2", "-e")]
    words += [Argument(Mixed(("C=", hole)), 1), *(Argument(w, 1) for w in ("img", "bash", "-c", "serve"))]
    found = inside(words)
    assert found is not None
    environment = container_environment(found, {"A": "1", "SECRET": "s"})
    assert {name: environment[name] for name in "ABC"} == {"A": "1", "B": "2", "C": Mixed((hole,))}
    assert "SECRET" not in environment
    assert inside([Argument("ls", 1)]) is None
    assert inside([]) is None
