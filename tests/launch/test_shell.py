"""Evaluating a script: what stays unknown and why, what a repository's own files add, and where evaluation ends."""

from __future__ import annotations

import time
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.launch.command_line import Command
from reviewer_tui.launch.shell import Evaluation, evaluate
from reviewer_tui.launch.text import Mixed, Unknown, unknowns
from reviewer_tui.model.tree import DictTree


def run(script: str, environment: Mapping[str, str] | None = None, /, **files: str) -> Evaluation:
    """Evaluates `bench/run.sh` in a tree that holds `files` beside it (`lib__x_sh` is `lib/x.sh`)."""
    named = {name.replace("__", "/").replace("_sh", ".sh").replace("_yaml", ".yaml"): t for name, t in files.items()}
    return evaluate(DictTree({"bench/run.sh": script, **named}), "bench/run.sh", environment or {})


def calls(evaluation: Evaluation, name: str = "serve") -> list[Command]:
    return [command for command in evaluation.commands if command.name == name]


def words(command: Command) -> list[str]:
    return [str(argument) for argument in command.argv[1:]]


def only(evaluation: Evaluation) -> Command:
    (command,) = calls(evaluation)
    return command


# -- what is not known ----------------------------------------------------------------------------------------------


def test_an_unknown_value_says_where_it_comes_from() -> None:
    command = only(run("set -e\nN=$(nproc)\nserve --threads $N --tag=x-$N-y --tp 8\n"))
    threads, tag, tp = command.argv[2], command.argv[3], command.argv[5]
    assert isinstance(threads.text, Mixed)
    assert threads.open
    (reason,) = unknowns(threads.text)
    assert (reason.reason, reason.line, reason.path) == ("output of `nproc`", 2, "bench/run.sh")
    assert str(reason) == "line 2: output of `nproc` unknown"
    assert isinstance(tag.text, Mixed)
    assert tag.text.parts[0] == "--tag=x-"
    assert tag.text.parts[2] == "-y"
    assert not tag.open
    assert tp.text == "8"


def test_branches_of_an_open_condition_are_both_walked_and_joined() -> None:
    found = run("A=1\nif grep -q x /etc/os; then\n  A=2; serve a\nelse\n  serve b\nfi\nserve $A --same 3\n")
    first, second, third = calls(found)
    assert first.conditions == second.conditions == (2,)
    assert third.conditions == ()
    assert isinstance(third.argv[1].text, Mixed)
    assert str(third.argv[1]) == "<value of A (2 or 1)>"
    assert words(third)[1:] == ["--same", "3"]


def test_branches_that_agree_leave_nothing_open() -> None:
    found = run("if [ -d /data ]; then A=x; B=1; else B=2; A=x; fi\nserve $A\n")
    assert words(only(found)) == ["x"]


def test_a_branch_that_leaves_does_not_count_afterwards() -> None:
    found = run('M=a\nif ! ls /data; then\n  M=b\n  exit 1\nfi\nserve "$M"\n')
    assert words(only(found)) == ["a"]


def test_a_list_keeps_the_place_where_something_may_stand() -> None:
    script = 'A=(--tp 8)\nif [ -e /x ]; then A+=(--fast); fi\nA+=(--port 1)\nserve "${A[@]}" --last\n'
    command = only(run(script))
    assert [argument.open for argument in command.argv[1:]] == [False, False, True, False, False, False]
    assert words(command)[-3:] == ["--port", "1", "--last"]


def test_an_unquoted_unknown_may_be_any_words_also_through_lists_and_functions() -> None:
    script = 'X=$(hostname)\nA=($X --a)\nf() { serve "$@"; }\nf "${A[@]}"\nserve "$X" $X\n'
    first, second = calls(run(script))
    assert [argument.open for argument in first.argv[1:]] == [True, False]
    assert [argument.open for argument in second.argv[1:]] == [False, True]


def test_a_variable_that_nothing_sets_is_taken_as_unset_and_said() -> None:
    found = run('serve "${PORT:-8000}" "$TOKEN"\n')
    assert words(only(found)) == ["8000", ""]
    assert [(a.name, a.path, a.line) for a in found.assumptions] == [
        ("PORT", "bench/run.sh", 1),
        ("TOKEN", "bench/run.sh", 1),
    ]


def test_a_variable_that_the_launcher_may_set_is_unknown() -> None:
    tree = DictTree({"run.sh": 'serve "${PORT:-8000}"\n'})
    found = evaluate(tree, "run.sh", {}, external=["PORT"])
    assert not isinstance(only(found).argv[1].text, str)


def test_a_text_nobody_knows_may_set_any_variable() -> None:
    found = run('A=1\neval "$(machine-settings)"\nserve "$A" "${B:-2}"\n')
    a, b = only(found).argv[1:]
    assert a.text == "1"
    assert isinstance(b.text, Mixed)
    assert [(p.rule, p.line) for p in found.problems] == [("unknown-effect", 2)]


def test_a_file_from_elsewhere_may_set_any_variable() -> None:
    found = run('source /opt/venv/bin/activate\nserve "${B:-2}"\n')
    assert isinstance(only(found).argv[1].text, Mixed)
    assert "/opt/venv/bin/activate is read here" in found.problems[0].message


def test_an_unknown_command_is_located() -> None:
    found = run("CMD=$(pick)\n$CMD run x\nserve\n")
    assert [(p.rule, p.line) for p in found.problems] == [("unknown-command", 2)]
    assert only(found).line == 3


def test_a_loop_that_waits_is_left_without_turning_forever() -> None:
    script = "N=0\nuntil curl -sf http://localhost; do sleep 5; N=$((N+1)); [ $N -gt 600 ] && exit 1; done\nserve\n"
    started = time.process_time()
    command = only(run(script))
    assert command.line == 3
    assert time.process_time() - started < 0.5


def test_what_hangs_on_a_file_s_presence_is_open() -> None:
    script = "which x && echo v > note\n[ -f note ] && A=1\nserve $A\n[ -f bench/run.sh ] && serve there\n"
    first, second = calls(run(script))
    assert first.argv[1].open
    assert words(second) == ["there"]
    assert second.conditions == ()


# -- files ----------------------------------------------------------------------------------------------------------


def test_helpers_of_the_repository_are_read() -> None:
    found = run(
        'source "$(dirname "$0")/../lib/common.sh"\nprepare 4\nserve "$SIZE" "$HERE"\n',
        lib__common_sh='prepare() {\n  SIZE=$(( $1 * 2 ))\n}\nHERE=$(basename "${BASH_SOURCE[0]}")\n',
    )
    assert words(only(found)) == ["8", "common.sh"]
    assert found.sources == ("bench/run.sh", "lib/common.sh")


def test_a_command_of_a_helper_knows_its_own_place() -> None:
    found = run(". lib.sh\ncd bench\n. ./part.sh\nstart\n", bench__part_sh="start() {\n  serve\n}\n", lib_sh=":\n")
    assert (only(found).path, only(found).line) == ("bench/part.sh", 2)


def test_files_that_the_script_writes_are_known() -> None:
    script = """cat > config.yaml <<EOF
tp: $TP
mode: fast
EOF
echo 'more: 1' >> config.yaml
sed -i 's/fast/slow/' config.yaml
cp config.yaml other.yaml
serve --config other.yaml
rm config.yaml
serve again
"""
    first, second = calls(run(script, {"TP": "4"}))
    assert first.files["/workspace/other.yaml"] == "tp: 4\nmode: slow\nmore: 1\n"
    assert second.files["/workspace/config.yaml"] is None


def test_other_shells_know_the_exported_variables_only() -> None:
    script = 'A=1\nexport B=2\nbash -c \'serve "$A" "$B" "$1"\' x y\nbash part.sh z\n'
    first, second = calls(run(script, part_sh='serve "$A" "$B" "$1"\nexit 3\n'))
    assert words(first) == ["", "2", "y"]
    assert words(second) == ["", "2", "z"]
    assert second.path == "part.sh"


def test_environment_of_a_command() -> None:
    script = "export A=1\nB=2\nC=3 serve\nenv D=4 serve\n"
    first, second = calls(run(script))[0], run(script).commands[-1]
    assert {k: v for k, v in first.environment.items() if k in "ABC"} == {"A": "1", "C": "3"}
    assert [str(a) for a in second.argv] == ["env", "D=4", "serve"]


def test_what_the_shell_itself_is_told_counts_for_later_commands() -> None:
    found = run("trap 'rm x' EXIT; ulimit -n 4; cd /data; PATH=/data/bin:/bin; serve")
    assert [command.name for command in found.commands] == ["trap", "ulimit", "serve"]
    assert only(found).folder == "/data"
    assert only(found).environment["PATH"] == "/data/bin:/bin"


def test_a_command_knows_what_nobody_read_before_it() -> None:
    assert only(run("serve; source /opt/env.sh")).tainted is None
    assert only(run("source /opt/env.sh; serve")).tainted is not None
    assert only(run('eval "$(cat /x)"; serve')).tainted is not None


def test_a_small_program_that_reads_the_repository() -> None:
    script = """eval "$(python3 - <<'PY'
import yaml
with open("/workspace/models.yaml") as f:
    m = yaml.safe_load(f)["big"]
for k, v in m.items():
    print(f"{k.upper()}='{v}'")
PY
)"
serve "$FLAGS" "$SIZE"
"""
    assert words(only(run(script, models_yaml="big:\n  flags: --a 1\n  size: 3\n"))) == ["--a 1", "3"]


# -- ends -----------------------------------------------------------------------------------------------------------


def test_a_certain_failure_ends_the_script_and_is_told() -> None:
    found = run('need() { [ -n "${!1}" ] || { echo "$1 missing"; exit 1; }; }\nneed SIZE\nserve\n')
    assert not calls(found)
    assert found.ended is not None
    assert found.ended.line == 1


def test_a_failure_that_ends_the_script() -> None:
    found = run("set -e\nserve a\n[ $# -gt 3 ]\nserve b\n")
    assert [words(c) for c in calls(found)] == [["a"]]
    assert found.ended is not None
    assert found.ended.line == 3
    assert len(calls(run("set -e\nprobe\nserve\n"))) == 1


def test_a_function_that_certainly_fails_is_told() -> None:
    found = run("f() { [ $# -gt 1 ] || return 1; client; }\nf a\nif f a; then :; fi\nserve\n")
    assert [(problem.rule, problem.line) for problem in found.problems] == [("fails", 2)]
    assert calls(found, "client") == []


def test_a_missing_script_is_a_problem() -> None:
    found = evaluate(DictTree({}), "bench/run.sh", {})
    assert not found.complete
    assert [problem.rule for problem in found.problems] == ["missing"]


def test_what_cannot_be_read_ends_the_evaluation_there() -> None:
    found = run("serve a\necho 'open\nserve b\n")
    assert [words(c) for c in calls(found)] == [["a"]]
    assert not found.complete
    assert found.problems[0].line == 2


HOSTILE = {
    "a script that reads itself": 'serve\nsource "$0"\n',
    "a script that runs itself": 'serve\nbash "$0"\n',
    "a function that calls itself": "serve\nf() { f; f; }\nf\n",
    "evaluations without end": 'serve\nX=\'eval "$X"\'\neval "$X"\n',
    "an endless loop": "serve\nwhile true; do A=$A.; done\n",
    "doubling text": "serve\nA=aaaaaaaa\nfor i in {1..64}; do A=$A$A; done\n",
    "doubling lists": 'serve\nA=(a b)\nfor i in {1..64}; do A+=("${A[@]}"); done\n',
    "a huge brace list": "serve\necho {1..999999999}\n",
    "nested brace lists": "serve\necho " + "{a,b}" * 60 + "\n",
    "many commands": "serve\n" + "x y\n" * 60_000,
    "many branches": "serve\n" + "probe && A=1 || B=2 && C=3 || D=4 && E=5 || F=6 && G=7 || H=8\n" * 200,
    "nested open conditions": "serve\n" + "if probe; then " * 40 + ":" + "; fi" * 40 + "\n",
    "nested open loops": "serve\n" + "while probe; do A=$A.; " * 25 + ":" + "; done" * 25 + "\n",
    "a hard pattern": "serve\nA=" + "a" * 5000 + "\n[[ $A == *a*a*a*a*a*a*a*a*b ]]\necho ${A//*a*a*a*b/x}\n",
    "a hard expression": "serve\nA=" + "a" * 5000 + "\n[[ $A =~ ^(a+)+$ ]]\n[[ $A =~ (a|aa)+b ]]\n",
    "large numbers": "serve\necho $(( 9**9**9**9 )) $(( 1 << 99999 )) {1..3}\nlet x=10#" + "9" * 5000 + "\n",
    "arithmetic that reads itself": "serve\nA=B\nB=A\necho $(( A )) $(( " + "(" * 500 + "1" + ")" * 500 + " ))\n",
    "a variable that names itself": 'serve\nA=A\necho "${!A}" $(( A[A[A[A]]] ))\n',
    "long output": 'serve\nX=$(for i in {1..2000}; do echo "$i aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"; done)\n',
    "sequences": "serve\nX=$(seq 1 999999999)\nfor i in $(seq 1 50000); do :; done\n",
    "unclosed quotes in a text": 'serve\neval "echo \'a"\n',
    "replacing the process": "serve\nexec serve\nserve never\n",
}


@pytest.mark.parametrize("script", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_scripts_end_in_time(script: str) -> None:
    started = time.process_time()
    found = run(script)
    assert time.process_time() - started < 2
    assert words(calls(found)[0]) == []
    if not found.complete:
        assert any(problem.line for problem in found.problems if problem.rule in ("limit", "unreadable"))


def test_nothing_runs_after_exec() -> None:
    found = run("exec serve --a\nserve --b\n")
    assert [[str(argument) for argument in command.argv] for command in found.commands] == [["exec", "serve", "--a"]]


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.sampled_from(list("aA1 \n\"'`$(){}[]<>|&;#=*?!\\-+~,:/@%^")), max_size=80))
def test_any_text_is_evaluated(source: str) -> None:
    found = run("serve\n" + source)
    assert isinstance(found, Evaluation)


_PIECES = st.sampled_from(
    [
        *["if x; then ", "fi;", "else ", "while y; do ", "done;", "case $a in ", "esac;", "a) ", ";;"],
        *["f() { ", "};", "$(", ")", "((", "))", "[[ ", " ]] ", "&& "],
        *["A=$B ", "A+=(x ", "${A[@]", ":-b}", "<<E", "E", "exit ", "return ", "break "],
        *["continue ", "local a=1 ", "set -- a ", "shift;", "f;", "$A ", '"', "eval ", "! "],
        "\n",
    ]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(_PIECES, max_size=25))
def test_any_pieces_are_evaluated(pieces: list[str]) -> None:
    assert isinstance(run("".join(pieces)), Evaluation)


def test_texts_know_their_unknown_pieces() -> None:
    reason = Unknown("x", 3, "a.sh")
    assert str(Mixed(("a", reason, "b"))) == "a<x>b"
    assert unknowns("plain") == ()


def test_a_variable_that_the_script_insists_on_is_set_by_its_surroundings() -> None:
    found = run('set -euo pipefail\nserve "$HERE" "${PORT:-1}"\n')
    here, port = only(found).argv[1:]
    assert not isinstance(here.text, str)
    assert port.text == "1"


def test_what_follows_a_possible_return_hangs_on_it() -> None:
    script = """start() {
  probe && return
  serve inner
}
start
for i in 1 2; do
  probe && break
  serve turn
done
serve last
wait_for() { for i in 1 2; do probe && return 0; done; exit 1; }
wait_for
"""
    found = run(script)
    assert [(words(c)[0], c.conditions) for c in calls(found)] == [
        ("inner", (2,)),
        ("turn", (7,)),
        ("turn", (7,)),
        ("last", ()),
    ]
    assert found.ended is None


def test_a_declaration_succeeds_whatever_became_of_a_substitution_in_it() -> None:
    found = run("set -e\npick() { echo $1; false; }\nserve one\nexport K=$(pick 1)\nserve two\n")
    assert [words(command) for command in calls(found)] == [["one"], ["two"]]


def test_the_body_of_a_pattern_sees_the_status_before_it() -> None:
    found = run('false\ncase a in a) A="$?" ;; esac\nserve $A\nfalse\ncase a in a) ;; esac\nserve $?\n')
    assert [words(command) for command in calls(found)] == [["1"], ["0"]]
