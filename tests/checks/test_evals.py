"""The evals check: scores against bars, on the image of the head, of the sweep that counts."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.checks.evals import decide
from reviewer_tui.checks.runs import put_to_plan, sweeps_of
from reviewer_tui.checks.scores import evaluated_concurrencies, evaluations_of
from reviewer_tui.model.finding import Status
from reviewer_tui.model.part import complete, partial, unavailable
from reviewer_tui.model.result import EvalScore
from reviewer_tui.sweeps.lanes import Lane
from reviewer_tui.sweeps.plan import SweepPlan
from tests.checks.swept import (
    CANARY,
    EARLIER,
    GONE,
    IMAGE,
    KEY,
    LANES,
    NEW_ARM,
    RESULTS,
    RUN,
    SCORES,
    after,
    jobs,
    run,
    score,
    swept,
)
from tests.evidence import CHANGELOG, NVIDIA, NVIDIA_MASTER, summer


def with_scores(*scores: EvalScore, **parts: Any) -> Any:
    return swept(run(), evals=complete(scores), **parts)


def test_every_expected_eval_has_a_good_score() -> None:
    decided = decide(swept(run()))
    assert decided.status is Status.PASS
    assert decided.summary == f"run {RUN} on this head: 4 evals, lowest score 0.958, at least 0.94 wanted"
    first, image = decided.findings[0], decided.findings[-1]
    assert first.message == (
        f"{KEY} 8k1k tp2 mtp c32 gsm8k strict 0.968, flexible 0.958 reaches the bar 0.94 (models.qwen3.5), "
        "1,319 samples."
    )
    assert (first.path, first.expected, first.actual) == ("utils/evals/thresholds.yaml", "at least 0.94", "0.958")
    assert f"evaluated on {IMAGE}, the image at head (the run's rows)" in image.message


@pytest.mark.parametrize(
    ("changed", "status", "word"),
    [
        ({"strict": 0.9399}, Status.FAIL, "strict below the bar 0.94"),
        ({"flexible": 0.93}, Status.FAIL, "flexible below the bar"),
        ({"strict": 0.94, "flexible": 0.94}, Status.PASS, "reaches the bar"),
        ({"flexible": None}, Status.PASS, "strict 0.968 reaches"),
        ({"strict": None, "flexible": None, "score": 0.9}, Status.FAIL, "em_strict below"),
        ({"strict": None, "flexible": None, "score": None}, Status.FAIL, "has no score"),
        ({"samples": 200}, Status.JUDGEMENT, "200 of 1,319 samples: a smoke slice"),
        ({"samples": 0}, Status.FAIL, "rests on no sample"),
        ({"samples": None}, Status.PASS, "the number of samples is not told"),
        ({"infrastructure_success": False}, Status.FAIL, "its infrastructure failed"),
        ({"infrastructure_success": True}, Status.PASS, "reaches the bar"),
        ({"error": "timeout", "strict": None, "flexible": None, "score": None}, Status.FAIL, "an error (timeout)"),
        ({"task": "moon_phase"}, Status.JUDGEMENT, "names no bar for this task"),
        ({"hardware": "B200"}, Status.PASS, "reaches the bar"),
        ({"hardware": "cluster:b200-dgxc"}, Status.PASS, "reaches the bar"),
        ({"dp_attn": None}, Status.PASS, "reaches the bar"),
    ],
)
def test_one_row_against_its_bar(changed: dict[str, Any], status: Status, word: str) -> None:
    decided = decide(with_scores(msgspec.structs.replace(SCORES[0], **changed), *SCORES[1:]))
    assert decided.status is status
    assert any(word in finding.message for finding in decided.findings if finding.status is status)


@pytest.mark.parametrize(
    "changed",
    [
        {"tp": 4},
        {"ep": 8},
        {"conc": 16},
        {"isl": 1024},
        {"spec_decoding": "none"},
        {"precision": "fp8"},
        {"dp_attn": True},
        {"model_prefix": "qwen3"},
        {"framework": "vllm"},
        {"hardware": "b300"},
        {"multinode": True},
    ],
)
def test_a_row_of_another_point_is_no_evidence_for_this_one(changed: dict[str, Any]) -> None:
    decided = decide(with_scores(msgspec.structs.replace(SCORES[0], **changed), *SCORES[1:]))
    assert decided.status is Status.UNVERIFIED
    assert "tp2 mtp c32: no score of it is known" in decided.summary


def test_missing_scores_fail_only_where_all_is_known() -> None:
    assert decide(with_scores(*SCORES[1:])).status is Status.FAIL
    assert "the run has no score of it" in decide(with_scores(*SCORES[1:])).summary
    assert decide(swept(run(), evals=partial(SCORES[1:], "One artifact expired."))).status is Status.UNVERIFIED
    assert decide(swept(run(), evals=partial(SCORES, "An older sweep was not read."))).status is Status.PASS
    assert decide(swept(run(), evals=unavailable("Not read."))).status is Status.UNVERIFIED
    assert decide(with_scores()).status is Status.FAIL
    others = tuple(msgspec.structs.replace(one, run_id=RUN + 1) for one in SCORES)
    assert decide(with_scores(*others)).status is Status.FAIL


def test_a_point_evaluated_twice_waits_for_judgement() -> None:
    assert decide(with_scores(*SCORES, SCORES[0])).status is Status.JUDGEMENT
    other_task = msgspec.structs.replace(SCORES[0], task="moon_phase")
    assert "one is expected" not in " ".join(f.message for f in decide(with_scores(*SCORES, other_task)).findings)


def test_a_row_that_no_lane_expects_speaks_only_against_the_run() -> None:
    extra = score(4, 1, 4)
    assert decide(with_scores(*SCORES, extra)).status is Status.PASS
    assert decide(with_scores(*SCORES, msgspec.structs.replace(extra, strict=0.5))).status is Status.FAIL


def test_the_image_of_the_run_is_that_of_the_head() -> None:
    other = "lmsysorg/sglang:v0.5.13-cu130"
    told = tuple(msgspec.structs.replace(one, image=other) for one in RESULTS)
    decided = decide(swept(run(), results=complete(told)))
    assert decided.status is Status.FAIL
    assert (decided.findings[-1].expected, decided.findings[-1].actual) == (IMAGE, other)
    main = {**summer(), NVIDIA: NVIDIA_MASTER.replace("v0.5.14", "v0.5.13")}
    assert decide(swept(run(), results=complete(told), main=main)).status is Status.JUDGEMENT
    dressed = tuple(msgspec.structs.replace(one, image=IMAGE.replace("/", "#")) for one in SCORES)
    assert decide(swept(run(), evals=complete(dressed), results=complete(()))).status is Status.PASS


def test_without_rows_the_swept_commit_tells_the_image() -> None:
    none: dict[str, Any] = {"results": complete(())}
    assert "the config at the swept commit" in decide(swept(run(), **none)).findings[-1].message
    earlier = run(head_sha=EARLIER)
    unknown = decide(swept(earlier, **none))
    assert unknown.status is Status.UNVERIFIED
    assert "which image the run used is not known" in unknown.summary
    changed = after(NVIDIA_MASTER.replace("v0.5.14", "v0.5.13") + NEW_ARM)
    assert decide(swept(earlier, earlier=changed, **none)).status is Status.FAIL
    assert decide(swept(earlier, earlier=after(), **none)).status is Status.PASS


def test_another_checkpoint_than_the_heads_waits_for_judgement() -> None:
    told = tuple(msgspec.structs.replace(one, model="somebody/else") for one in SCORES)
    decided = decide(swept(run(), evals=complete(told), results=complete(())))
    assert decided.status is Status.JUDGEMENT
    assert "the run evaluated somebody/else" in decided.summary


@pytest.mark.parametrize(
    ("runs", "status", "word"),
    [
        ((run(jobs(eval="failure")),), Status.FAIL, "4 failed lanes"),
        ((run(jobs((CANARY, *LANES))),), Status.FAIL, "no green lane of eval"),
        ((run(head_sha=GONE),), Status.FAIL, "No eval ran on any commit in this PR"),
        ((), Status.FAIL, "No eval ran"),
        ((run(jobs(EP2_mtp___c64="in_progress")),), Status.UNVERIFIED, "not shown all of its lanes"),
        ((run(jobs(canary="cancelled")),), Status.PASS, "4 evals"),
    ],
)
def test_evals_count_only_in_a_sweep_that_counts(runs: tuple[Any, ...], status: Status, word: str) -> None:
    decided = decide(swept(*runs))
    assert decided.status is status
    assert word in decided.summary


def test_an_eval_lane_that_did_not_run_has_no_score() -> None:
    made = [
        msgspec.structs.replace(one, conclusion="cancelled") if "TP2 mtp   c64 | eval" in one.name else one
        for one in jobs()
    ]
    decided = decide(swept(run(made), evals=complete(tuple(one for one in SCORES if (one.ep, one.conc) != (1, 64)))))
    assert decided.status is Status.JUDGEMENT
    assert "its eval lane was cancelled" in decided.summary


def test_partly_known_runs_do_not_fail() -> None:
    assert decide(swept(runs=partial((), "Not all were read."))).status is Status.UNVERIFIED
    assert decide(swept(runs=unavailable("None was read."))).status is Status.UNVERIFIED


def test_without_bars_nothing_is_judged() -> None:
    evidence = swept(run())
    policy = msgspec.structs.replace(evidence.policy, eval_bars=unavailable("There is no file of eval bars."))
    assert decide(msgspec.structs.replace(evidence, policy=policy)).status is Status.UNVERIFIED


GENERATOR = """\
MIN_EVAL_CONC = 16
seq_len_stoi = {"1k1k": (1024, 1024), "8k1k": (8192, 1024)}
def generate_test_config_sweep(): ...
"""
LOW = NVIDIA_MASTER.replace("conc-end: 64", "conc-end: 8")


@pytest.mark.parametrize(
    ("master", "changelog", "word"),
    [
        (LOW, "", "has a concurrency of 16 or more"),
        (NVIDIA_MASTER.replace("isl: 8192", "isl: 1024"), "", "only 8k1k is evaluated"),
        (NVIDIA_MASTER + NEW_ARM, "  append-only: true\n", "append-only sweeps run additions without evals"),
    ],
)
def test_no_eval_lane_by_design_is_not_applicable(master: str, changelog: str, word: str) -> None:
    generator: dict[str, bytes | str] = {"utils/matrix_logic/generate_sweep_configs.py": GENERATOR}
    head: dict[str, bytes | str] = {**after(master), **generator}
    head["perf-changelog.yaml"] = str(head["perf-changelog.yaml"]) + changelog
    base = {**summer(), **generator}
    decided = decide(swept(run(jobs((CANARY, *LANES))), base=base, head=head))
    assert decided.status is Status.NOT_APPLICABLE
    assert word in decided.summary
    surprised = decide(swept(run(), base=base, head=head))
    assert surprised.status is Status.JUDGEMENT
    assert "executed eval lanes all the same" in surprised.summary


def test_no_eval_lane_is_no_certainty_where_the_generator_or_the_entries_are_not_understood() -> None:
    assert decide(swept(run(), head=after(LOW))).status is Status.JUDGEMENT
    broken = after(changelog=CHANGELOG + "\n- config-keys:\n    - no-such-key\n  description: [x]\n  pr-link: XXX\n")
    assert decide(swept(run(), head=broken)).status is Status.UNVERIFIED
    assert decide(swept(head={**summer(), "README.md": "Words.\n"})).status is Status.JUDGEMENT


# --- rows and lanes ------------------------------------------------------------------------------------------------


def worker(number: int, tp: int, ep: int, dpa: bool = False) -> dict[str, Any]:
    return {"num-worker": number, "tp": tp, "ep": ep, "dp-attn": dpa}


def multinode(prefill: dict[str, Any], decode: dict[str, Any], **more: Any) -> Lane:
    row = {
        "model-prefix": "dsv4",
        "precision": "fp4",
        "runner": "cluster:gb300-nv",
        "framework": "dynamo-sglang",
        "spec-decoding": "mtp",
        "isl": 8192,
        "osl": 1024,
        "prefill": prefill,
        "decode": decode,
        "disagg": True,
        "eval-only": True,
        "conc": [16, 512],
        "eval-conc": 512,
        **more,
    }
    return Lane(family="multi-node eval", key="k", row=row)


def told(parallelism: str, conc: int = 512) -> EvalScore:
    return score(
        conc=conc,
        model_prefix="dsv4",
        hardware="cluster:gb300-nv",
        framework="dynamo-sglang",
        multinode=True,
        parallelism=parallelism,
    )


def test_workers_tell_multi_node_points_apart() -> None:
    lanes = (
        multinode(worker(2, 8, 8), worker(1, 16, 16, True)),
        multinode(worker(1, 8, 8), worker(1, 16, 16, True)),
    )
    sweep = put_to_plan(run([]), SweepPlan(lanes=lanes))
    rows = (
        told("1x(tp8 ep8)+1x(tp16 ep16 dpa)"),
        told("2x(tp8 ep8)+1x(tp16 ep16 dpa)"),
        told("2x(tp8 ep8)+1x(tp16 ep16)"),
    )
    found = evaluations_of(sweep, rows)
    assert [tuple(one.parallelism for one in each.scores) for each in found.expected] == [
        ("2x(tp8 ep8)+1x(tp16 ep16 dpa)",),
        ("1x(tp8 ep8)+1x(tp16 ep16 dpa)",),
    ]
    assert [one.parallelism for one in found.others] == ["2x(tp8 ep8)+1x(tp16 ep16)"]


def test_lanes_that_look_alike_share_their_rows() -> None:
    alike = multinode(worker(1, 8, 8), worker(1, 8, 8))
    sweep = put_to_plan(run([]), SweepPlan(lanes=(alike, msgspec.structs.replace(alike, key="other"))))
    one = told("1x(tp8 ep8)+1x(tp8 ep8)")
    assert [len(each.scores) for each in evaluations_of(sweep, [one, one]).expected] == [1, 1]
    assert [len(each.scores) for each in evaluations_of(sweep, [one]).expected] == [1, 0]


def test_which_concurrencies_are_evaluated() -> None:
    assert evaluated_concurrencies({"conc": 32}) == (32,)
    assert evaluated_concurrencies({"conc": [16, 64], "eval-conc": 64}) == (64,)
    assert evaluated_concurrencies({"conc": [16, 64], "eval-all-concs": True}) == (16, 64)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from([*SCORES, told("x"), told("1x(", 32), score(9, 9, 9)]), max_size=8))
def test_no_row_is_lost_or_counted_twice(rows: list[EvalScore]) -> None:
    best = sweeps_of(swept(run())).best
    assert best is not None
    found = evaluations_of(best, rows)
    dealt = [one for each in found.expected for one in each.scores] + list(found.others)
    assert sorted(map(repr, dealt)) == sorted(map(repr, rows))
    assert len(found.expected) == 4
