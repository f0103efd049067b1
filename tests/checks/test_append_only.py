"""The append-only check, and what tells whether a change leaves existing points as they are."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from reviewer_tui.checks.append_only import decide
from reviewer_tui.checks.check import Outcome
from reviewer_tui.model.finding import Finding, Status
from reviewer_tui.model.part import unavailable
from tests.checks.real import real_outcome
from tests.evidence import CHANGELOG, NVIDIA, NVIDIA_MASTER, SCRIPT, evidence_of, summer

KEY = "qwen3.5-fp4-b200-sglang-mtp"
LIBRARY = "benchmarks/benchmark_lib.sh"
LAUNCHER = "runners/launch_b200-dgxc.sh"
RECIPES = "benchmarks/multi_node/srt-slurm-recipes"
ENTRY = f"""
- config-keys:
    - {KEY}
  append-only: true
  description:
    - "Add a point"
  pr-link: https://github.com/SemiAnalysisAI/InferenceX/pull/2550
"""
REGULAR = ENTRY.replace("  append-only: true\n", "")
# The base has concurrencies 4 (tp 4) and 4 to 64 (tp 2); 128 is new.
APPENDED = NVIDIA_MASTER.replace("conc-end: 64,", "conc-end: 128,")
SERVE = """\
#!/usr/bin/env bash
source "$(dirname "$0")/../../benchmark_lib.sh"
MAX=16
CHANGED
python3 -m sglang.launch_server --model-path $MODEL --tp $TP --max-running-requests $MAX "${EXTRA[@]}" &
run_benchmark_serving --model "$MODEL" --max-concurrency "$CONC" --port 8888
"""


def script(*lines: str) -> str:
    return SERVE.replace("CHANGED", "\n".join(lines) or ":")


BASE: dict[str, bytes | str] = {
    **summer(),
    SCRIPT: script(),
    LIBRARY: 'run_benchmark_serving() {\n    python3 bench.py "$@"\n}\n',
    LAUNCHER: "bash benchmarks/single_node/fixed_seq_len/${EXP_NAME%%_*}_${PRECISION}_b200_mtp.sh\n",
}


def head(master: str = APPENDED, changelog: str = ENTRY, **files: str) -> dict[str, bytes | str]:
    return {**BASE, NVIDIA: master, "perf-changelog.yaml": CHANGELOG + changelog, **files}


def of(files: dict[str, bytes | str], base: dict[str, bytes | str] | None = None) -> Outcome:
    return decide(evidence_of(base or BASE, files))


def with_script(*lines: str, master: str = APPENDED) -> Outcome:
    return of({**head(master), SCRIPT: script(*lines)})


def worst(outcome: Outcome) -> Finding:
    return next(finding for finding in outcome.findings if finding.status is outcome.status)


# -- applicability and the mechanical rules ---------------------------------------------------------------------------


@pytest.mark.parametrize("changelog", ["", REGULAR])
def test_without_an_append_only_entry_it_is_not_applicable(changelog: str) -> None:
    assert of(head(changelog=changelog)).status is Status.NOT_APPLICABLE


def test_an_entry_of_history_is_none_of_this_pull_request() -> None:
    base = {**BASE, "perf-changelog.yaml": CHANGELOG + ENTRY}
    assert of({**base, "perf-changelog.yaml": f"{base['perf-changelog.yaml']!s}{REGULAR}"}, base).status is (
        Status.NOT_APPLICABLE
    )


@pytest.mark.parametrize(
    "changelog", ["\n- config-keys: [\n", '\n- "\\x61ppend-only": 1\n', "\n- append-only: maybe\n"]
)
def test_entries_that_cannot_be_read_are_not_verified(changelog: str) -> None:
    assert of(head(changelog=changelog)).status is Status.UNVERIFIED


def test_without_a_changelog_nothing_is_verified() -> None:
    files = head()
    del files["perf-changelog.yaml"]
    assert of(files).status is Status.UNVERIFIED


def test_added_points_pass() -> None:
    outcome = of(head())
    assert outcome.status is Status.PASS, outcome.summary
    assert f"1 point of {KEY}" in outcome.summary


def test_a_new_arm_of_the_curve_passes() -> None:
    arm = "      - { tp: 8, ep: 1, conc-start: 4, conc-end: 4, spec-decoding: mtp }\n"
    assert of(head(NVIDIA_MASTER + arm)).status is Status.PASS


def test_regular_and_append_only_entries_do_not_mix() -> None:
    outcome = of(head(changelog=ENTRY + REGULAR))
    assert outcome.status is Status.FAIL
    assert (worst(outcome).path, worst(outcome).line) == ("perf-changelog.yaml", 14)


@pytest.mark.parametrize(
    ("master", "said"),
    [
        (NVIDIA_MASTER, "adds no point"),
        (APPENDED.replace("conc-start: 4, conc-end: 4,", "conc-start: 8, conc-end: 8,"), "removed"),
        (APPENDED.replace("v0.5.14", "v0.5.15"), "changed or removed"),
        (f"{APPENDED}other-key:\n  image: x\n", "no append-only entry selects it"),
        (NVIDIA_MASTER.replace("tp: 4, ep: 1", "tp: 4, ep: 4"), "changed or removed"),
    ],
)  # fmt: skip
def test_what_touches_existing_points_fails(master: str, said: str) -> None:
    outcome = of(head(master))
    assert outcome.status is Status.FAIL
    assert any(said in finding.message for finding in outcome.findings), [f.message for f in outcome.findings]


def test_without_the_changed_files_isolation_is_not_verified() -> None:
    evidence = evidence_of(BASE, head())
    snapshot = msgspec.structs.replace(evidence.snapshot, files=unavailable("No network."))
    assert decide(msgspec.structs.replace(evidence, snapshot=snapshot)).status is Status.UNVERIFIED


# -- isolation of a script --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "lines",
    [
        ('if [ "$CONC" -eq 128 ]; then MAX=256; fi',),
        ('case "$CONC" in 128|256) EXTRA=(--fast) ;; *) EXTRA=() ;; esac',),
        ('[[ $CONC == 128 ]] && export SGLANG_FAST=1 || true',),
        ('if [ "$CONC" -eq 128 ]; then cd /data; ulimit -v 1000000; fi',),
        ('if (( CONC > 64 )); then', '    pip install something', 'fi'),
        ('# only a comment',),
        ('MAX=$((8 * 2))',),
        ('set -x', 'LIMIT=16', 'MAX=$(( LIMIT ))'),
    ],
)  # fmt: skip
def test_a_change_that_only_new_points_reach_passes(lines: tuple[str, ...]) -> None:
    outcome = with_script(*lines)
    assert outcome.status is Status.PASS, [finding.message for finding in outcome.findings]
    assert any("existing rows run the same" in finding.message for finding in outcome.findings)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("MAX=32",), "32"),
        (('if [ "$CONC" -ge 64 ]; then MAX=256; fi',), "c64"),
        (('if [ "$TP" -eq 2 ]; then EXTRA=(--fast); fi',), "--fast"),
        (("export SGLANG_FAST=1",), "SGLANG_FAST=1"),
        (("PATH=/data/bin:/usr/bin",), "PATH=/data/bin"),
        (("cd /data/overlay",), "in /data/overlay"),
        (('case "$CONC" in 128|4) EXTRA=(--fast) ;; esac',), "c4"),
        (("python3 -m sglang.launch_server --model-path other &",), "other"),
    ],
)
def test_a_change_that_an_existing_point_reaches_fails_and_names_it(lines: tuple[str, ...], said: str) -> None:
    outcome = with_script(*lines)
    assert outcome.status is Status.FAIL, [finding.message for finding in outcome.findings]
    found = " ".join(finding.message for finding in outcome.findings if finding.status is Status.FAIL)
    assert said in found
    assert worst(outcome).path == SCRIPT


@pytest.mark.parametrize(
    "lines",
    [
        ('if [ "$(cat /etc/mode)" = fast ]; then MAX=256; fi',),
        ('if [ "$UNSET_BY_ALL" = 1 ]; then MAX=256; fi',),
        ("MAX=$(nproc)",),
        ("export SEED=$RANDOM",),
        ("source /data/settings.sh",),
        ("pip install something",),
        ("ulimit -v 1000000",),
        ("umask 077",),
        ("unset PATH",),
        ("set -a",),
        ("NCCL_DEBUG=INFO",),
        ("alias python3=/data/python3",),
        ("PATH=/data/bin:$PATH",),
        ("trap 'sed -i s/a/b/ x' EXIT",),
        ("for (( ;; )",),
        ('eval "$(curl -s http://x)"',),
    ],
)
def test_a_change_that_cannot_be_evaluated_waits_for_judgement(lines: tuple[str, ...]) -> None:
    outcome = with_script(*lines)
    assert outcome.status is Status.JUDGEMENT, [finding.message for finding in outcome.findings]


def test_the_line_that_an_existing_point_hangs_on_is_named() -> None:
    outcome = with_script('if [ "$(cat /etc/mode)" = fast ]; then MAX=256; fi')
    assert (worst(outcome).path, worst(outcome).line) == (SCRIPT, 4)


def test_another_script_for_the_same_points_fails() -> None:
    more_exact = SCRIPT.replace("_b200_mtp", "_b200_sglang_mtp")
    launcher = BASE[LAUNCHER]
    both = f"{str(launcher).replace('b200_mtp', 'b200_${FRAMEWORK}_mtp')}{launcher!s}"
    base = {**BASE, LAUNCHER: both}
    outcome = of({**head(), LAUNCHER: both, more_exact: script("MAX=32")}, base)
    assert outcome.status is Status.FAIL
    assert "other files" in outcome.summary


# -- other files ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (LIBRARY, Status.JUDGEMENT),
        (LAUNCHER, Status.JUDGEMENT),
        ("utils/bench_serving/client.py", Status.JUDGEMENT),
        (".github/workflows/run-sweep.yml", Status.JUDGEMENT),
        ("docs/PR.md", Status.PASS),
        ("utils/test_x.py", Status.PASS),
        ("benchmarks/new_helper.sh", Status.PASS),
    ],
)
def test_other_files_are_looked_at(path: str, status: Status) -> None:
    files = {**head(), path: f"{BASE.get(path, '')!s}\n# more\n"}
    outcome = of(files)
    assert outcome.status is status, [finding.message for finding in outcome.findings]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("benchmarks/flags.txt", "EXTRA=($(cat benchmarks/flags.txt))"),
        ("benchmarks/tests/env.sh", "source benchmarks/tests/env.sh"),
        ("benchmarks/test_client.py", "python3 benchmarks/test_client.py"),
        ("utils/tests/env.txt", "EXTRA=($(cat utils/tests/env.txt))"),
    ],
)
def test_a_name_alone_makes_no_file_inert(path: str, line: str) -> None:
    base = {**BASE, path: "MAX=16\n", SCRIPT: script(line)}
    outcome = of({**base, **head(), path: "MAX=32\n", SCRIPT: script(line)}, base)
    assert outcome.status in (Status.JUDGEMENT, Status.FAIL), outcome.summary


MULTI_NODE = """\
kimik3-fp4-b200-dynamo-vllm:
  image: vllm/vllm-openai:v1
  model: moonshotai/Kimi-K3
  model-prefix: kimik3
  runner: b200
  precision: fp4
  framework: dynamo-vllm
  multinode: true
  disagg: false
  scenarios:
    fixed-seq-len:
    - isl: 8192
      osl: 1024
      search-space:
      - conc-list: [8]
        prefill: { num-worker: 1, tp: 8, ep: 1, dp-attn: false,
          additional-settings: ["CONFIG_FILE=recipes/kimi/a.yaml"] }
        decode: { num-worker: 0, tp: 8, ep: 1, dp-attn: false }
"""
GROWN = MULTI_NODE + MULTI_NODE[MULTI_NODE.index("      - conc-list") :].replace("[8]", "[16]").replace(
    "a.yaml", "b.yaml"
)
RECIPE = "backend:\n  type: vllm\n  args: {tp: 8}\n"


@pytest.mark.parametrize(
    ("old", "status"),
    [
        (RECIPE, Status.PASS),
        (f"# a comment\n{RECIPE}", Status.PASS),
        (RECIPE.replace("{tp: 8}", "{tp: 8, x: 1}"), Status.FAIL),
    ],
)
def test_recipes_of_existing_points_stay(old: str, status: Status) -> None:
    a, b = f"{RECIPES}/kimi/a.yaml", f"{RECIPES}/kimi/b.yaml"
    base = {**BASE, NVIDIA: MULTI_NODE, a: RECIPE}
    entry = ENTRY.replace(KEY, "kimik3-fp4-b200-dynamo-vllm")
    outcome = of({**head(GROWN, entry), a: old, b: RECIPE}, base)
    assert outcome.status is status, [finding.message for finding in outcome.findings]
    assert status is Status.PASS or worst(outcome).path == a


def test_more_concurrencies_of_a_row_are_additions() -> None:
    base = {**BASE, NVIDIA: MULTI_NODE, f"{RECIPES}/kimi/a.yaml": RECIPE}
    entry = ENTRY.replace(KEY, "kimik3-fp4-b200-dynamo-vllm")
    files = {**head(MULTI_NODE.replace("[8]", "[8, 16]"), entry), f"{RECIPES}/kimi/a.yaml": RECIPE}
    assert of(files, base).status is Status.PASS


# -- real pull requests -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "status"),
    [
        (2302, "pass"),
        (2614, "judgement"),
        (2647, "pass"),
        (2665, "pass"),
        (2702, "pass"),
        (2613, "not_applicable"),
        (2550, "not_applicable"),
    ],
)
def test_real_pull_requests(real_clone: Path, number: int, status: str) -> None:
    outcome = real_outcome(decide, real_clone, number)
    assert outcome.status == status


@pytest.mark.parametrize("lines", [("# VLLM_FAST: faster", "VLLM_FAST=1"), ('echo "VLLM_FAST is on"', "VLLM_FAST=1")])
def test_a_word_in_a_comment_or_a_message_reads_no_variable(lines: tuple[str, ...]) -> None:
    outcome = with_script(*lines)
    assert outcome.status is Status.JUDGEMENT, outcome.summary
