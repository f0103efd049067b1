"""The sweep check, and which runs of a pull request count."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.checks.runs import Sweep, put_to_plan
from reviewer_tui.checks.sweep import ROOT, decide
from reviewer_tui.model.finding import Status
from reviewer_tui.model.part import complete, partial, unavailable
from reviewer_tui.model.run import CheckRun
from reviewer_tui.policy.policy import load_policy
from reviewer_tui.review.load import ReviewRequest, review_of
from reviewer_tui.sample import load_sample
from reviewer_tui.sweeps.lanes import Lane, callee_name, collapse, family_of
from reviewer_tui.sweeps.plan import SweepPlan
from tests.checks.swept import (
    ASIDE,
    CANARY,
    EARLIER,
    ENTRY,
    EVALS,
    GONE,
    GREEN,
    HEAD,
    KEY,
    LANES,
    NEW_ARM,
    RUN,
    after,
    before,
    commit,
    job,
    jobs,
    run,
    swept,
)
from tests.evidence import AMD, AMD_MASTER, CHANGELOG, NVIDIA, NVIDIA_MASTER, SCRIPT, summer


def messages(evidence: Any, status: Status) -> list[str]:
    return [finding.message for finding in decide(evidence).findings if finding.status is status]


def test_a_green_sweep_of_the_head_passes_with_its_canary() -> None:
    decided = decide(swept(run()))
    assert decided.status is Status.PASS
    assert decided.summary == f"run {RUN} on this head: 9 single-node 8k1k and 4 eval lanes green"
    assert [(f.expected, f.actual) for f in decided.findings] == [("9", "9"), ("4", "4")]
    assert "the canary among them" in decided.findings[0].message


@pytest.mark.parametrize(
    ("made", "status", "word"),
    [
        (jobs(canary="failure"), Status.FAIL, "1 failed lane: canary"),
        (jobs(EP2_mtp___c16="timed_out"), Status.FAIL, "failed lane"),
        (jobs(eval="skipped"), Status.FAIL, "no green lane of eval"),
        (jobs((CANARY, *LANES, "eval /"), eval_="skipped"), Status.FAIL, "no green lane of eval"),
        (jobs((CANARY, *LANES)), Status.FAIL, "no green lane of eval"),
        (jobs(EVALS), Status.FAIL, "no green lane of single-node 8k1k"),
        (jobs(single="cancelled", canary="cancelled"), Status.FAIL, "no green lane of single-node 8k1k"),
        (jobs(EP2_mtp___c16="cancelled"), Status.JUDGEMENT, "8 of 9 single-node 8k1k green"),
        (jobs((CANARY, *LANES[1:], *EVALS)), Status.JUDGEMENT, "TP2 mtp c4 (missing)"),
        (jobs((CANARY, *LANES, *EVALS[1:])), Status.JUDGEMENT, "3 of 4 eval green"),
        (jobs(EP2_mtp___c16="in_progress"), Status.UNVERIFIED, "still running: 12 of 13"),
        ((*jobs(), job(f"{EVALS[0]} again", 99, "failure")), Status.FAIL, "failed lane"),
        ((*jobs(), job("multi-node 8k1k /", 99, "skipped")), Status.PASS, ""),
        ((*jobs(), job("compare-results", 99, "failure")), Status.PASS, ""),
    ],
)
def test_what_became_of_the_lanes(made: tuple[CheckRun, ...], status: Status, word: str) -> None:
    decided = decide(swept(run(made)))
    assert decided.status is status
    assert not word or any(word in finding.message for finding in decided.findings)


def test_a_failure_has_the_verifiers_words_first() -> None:
    decided = decide(swept(run(jobs(canary="failure"))))
    assert decided.findings[0].message == decided.summary == ROOT


def test_missing_lanes_are_unknown_where_jobs_are() -> None:
    told = jobs((CANARY, *LANES[1:], *EVALS))
    assert decide(swept(run(told, jobs_complete=False))).status is Status.UNVERIFIED
    assert decide(swept(run(told, status="in_progress", conclusion=None))).status is Status.UNVERIFIED
    assert decide(swept(run(jobs(), jobs_complete=False))).status is Status.PASS


def test_the_last_attempt_of_a_lane_counts() -> None:
    first = tuple(job(name, number, "success", 1) for number, name in enumerate(GREEN, start=1))
    red = tuple(msgspec.structs.replace(one, conclusion="failure") if "c64" in one.name else one for one in first)
    again = tuple(job(one.name, one.id + 100, "success", 2) for one in red if one.conclusion == "failure")
    assert decide(swept(run(red))).status is Status.FAIL
    assert decide(swept(run((*again, *red), attempt=2))).status is Status.PASS
    worse = tuple(msgspec.structs.replace(one, conclusion="failure") for one in again)
    assert decide(swept(run((*first, *worse), attempt=2))).status is Status.FAIL


def test_names_fit_whatever_their_priority_matrix_suffix_and_blanks() -> None:
    dressed = [
        name.replace(" / / p2.500", f" / ({KEY}, {number}, true) / p0.{number:03}") for number, name in enumerate(GREEN)
    ]
    plain = [" ".join(name.split()) for name in dressed]
    assert decide(swept(run(jobs(dressed)))).status is Status.PASS
    assert decide(swept(run(jobs(plain)))).status is Status.PASS


def test_names_of_another_time_are_told_by_their_number() -> None:
    old = [f"{name.partition(' /')[0]} / job {number}" for number, name in enumerate(GREEN)]
    decided = decide(swept(run(jobs(old))))
    assert decided.status is Status.PASS
    assert all("told by their number" in finding.message for finding in decided.findings)
    assert decide(swept(run(jobs(old[1:])))).status is not Status.PASS
    assert decide(swept(run(jobs([*old, "eval / job 99"])))).status is not Status.PASS


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"event": "workflow_dispatch"}, "started by workflow_dispatch"),
        ({"path": ".github/workflows/e2e-tests.yml", "event": "workflow_dispatch"}, "started by workflow_dispatch"),
        ({"path": ".github/workflows/e2e-tests.yml"}, "only runs of run-sweep.yml"),
        ({"head_sha": GONE}, "no longer a commit of the pull request"),
    ],
)
def test_runs_that_never_count(changed: dict[str, Any], word: str) -> None:
    decided = decide(swept(run(**changed)))
    assert decided.status is Status.FAIL
    assert decided.summary == ROOT
    assert word in decided.findings[1].message


def test_a_workflow_of_another_name_counts_only_where_the_policy_leaves_it_open() -> None:
    renamed = run(path=".github/workflows/ci.yml")
    decided = decide(swept(renamed))
    assert decided.status is Status.UNVERIFIED
    assert "the policy does not say whether that is its sweep workflow" in decided.summary
    named = "## Check 4 — The reuse command is posted\nOnly `run-sweep.yml` runs are reused.\n"
    assert decide(swept(renamed, check=named)).status is Status.FAIL
    assert decide(swept(run(), check=named)).status is Status.PASS


@pytest.mark.parametrize(
    ("parts", "status"),
    [
        ({"runs": unavailable("A clone does not hold workflow runs.")}, Status.UNVERIFIED),
        ({"runs": partial((), "Not all were read.")}, Status.UNVERIFIED),
        ({"runs": partial((run(jobs(canary="failure")),), "Not all were read.")}, Status.UNVERIFIED),
        ({"runs": partial((run(),), "Not all were read.")}, Status.PASS),
        ({"runs": complete(())}, Status.FAIL),
        (
            {"commits": partial((commit(HEAD),), "GitHub tells 250."), "runs": complete((run(head_sha=GONE),))},
            Status.UNVERIFIED,
        ),
        ({"commits": unavailable("Not read."), "runs": complete((run(),))}, Status.PASS),
        ({"commits": unavailable("Not read."), "runs": complete((run(head_sha=EARLIER),))}, Status.UNVERIFIED),
    ],
)
def test_only_what_is_known_completely_can_fail(parts: dict[str, Any], status: Status) -> None:
    assert decide(swept(**parts)).status is status


def test_any_green_sweep_is_enough() -> None:
    red = run(jobs(canary="failure"), id=RUN + 1)
    decided = decide(swept(red, run()))
    assert decided.status is Status.PASS
    assert str(RUN) in decided.summary


def test_a_head_with_skipped_lanes_rests_on_an_earlier_commit() -> None:
    reused = run(jobs(("eval /", "canary /", "single-node 8k1k /"), eval="skipped", canary="skipped", single="skipped"))
    earlier = run(id=RUN - 1, head_sha=EARLIER)
    decided = decide(swept(reused, earlier))
    assert decided.status is Status.UNVERIFIED
    assert "what changed since the swept commit" in decided.summary
    assert decide(swept(reused, earlier, earlier=after())).status is Status.PASS
    assert decide(swept(reused)).status is Status.FAIL


def test_what_the_branch_changed_after_the_sweep_waits_for_judgement() -> None:
    earlier = run(id=RUN - 1, head_sha=EARLIER)
    image = after(NVIDIA_MASTER.replace("v0.5.14", "v0.5.15") + NEW_ARM)
    script = {**after(), SCRIPT: "#!/usr/bin/env bash\npython3 -m sglang.launch_server --tp $TP --page-size 64\n"}
    for head, word in ((image, "v0.5.14-cu130 was swept"), (script, "changed what serves")):
        decided = decide(swept(earlier, head=head, earlier=after()))
        assert decided.status is Status.JUDGEMENT
        assert "stale evidence" in decided.summary
        assert word in decided.summary
    points = decide(swept(earlier, earlier=after(NVIDIA_MASTER)))
    assert points.status is Status.JUDGEMENT
    assert "8k1k tp2 ep2 mtp c16 c32 c64 would merge and were not swept" in " ".join(
        messages(swept(earlier, earlier=after(NVIDIA_MASTER)), Status.JUDGEMENT)
    )


OLD_MODEL = NVIDIA_MASTER.replace("NVFP4-V2", "NVFP4")
MAIN_ENTRY = ENTRY.replace("2550", "2205")


def test_what_main_changed_under_the_sweep_is_a_remark() -> None:
    base, head = before(**{NVIDIA: OLD_MODEL}), after(OLD_MODEL + NEW_ARM)
    main = after(NVIDIA_MASTER, CHANGELOG + MAIN_ENTRY)
    evidence = swept(run(), base=base, head=head, main=main, evals=complete(()), results=complete(()))
    decided = decide(evidence)
    assert decided.status is Status.PASS
    (remark,) = messages(evidence, Status.WARN)
    assert "NVFP4 was swept" in remark
    assert "NVFP4-V2 would merge" in remark
    assert "main (#2205) has since changed" in remark
    assert remark in decided.summary
    # The sweep ran on the branch merged into main, and its rows name main's checkpoint already.
    assert messages(swept(run(), base=base, head=head, main=main), Status.WARN) == []


def test_main_merged_into_the_branch_after_the_sweep_is_a_remark_too() -> None:
    earlier = run(id=RUN - 1, head_sha=EARLIER)
    evidence = swept(
        earlier,
        base=before(),
        head=after(),
        main=before(**{SCRIPT: "#!/usr/bin/env bash\necho main\n"}),
        earlier=after(OLD_MODEL + NEW_ARM),
        evals=complete(()),
        results=complete(()),
    )
    assert decide(evidence).status is Status.PASS
    told = " ".join(messages(evidence, Status.WARN))
    assert "NVFP4 was swept" in told
    assert f"changed what serves {KEY}: {SCRIPT}" in told


def test_lines_that_both_sides_changed_are_a_remark() -> None:
    head = after(NVIDIA_MASTER.replace("v0.5.14", "v0.5.15") + NEW_ARM)
    main = before(**{NVIDIA: NVIDIA_MASTER.replace("v0.5.14", "v0.5.16")})
    evidence = swept(run(), head=head, main=main)
    assert decide(evidence).status is Status.PASS
    assert "what would merge is not certain" in messages(evidence, Status.WARN)[0]


def test_points_of_lengths_that_no_job_reads_never_run() -> None:
    more = (
        "    - isl: 4096\n      osl: 512\n      search-space:\n      - { tp: 2, conc-list: [16], spec-decoding: mtp }\n"
    )
    evidence = swept(run(), head=after(NVIDIA_MASTER + NEW_ARM + more))
    assert decide(evidence).status is Status.JUDGEMENT
    assert "so they never run" in messages(evidence, Status.JUDGEMENT)[0]


def test_nothing_to_sweep_is_the_reviewers_to_judge() -> None:
    evidence = swept(head={**summer(), "README.md": "Words.\n"})
    assert decide(evidence).status is Status.JUDGEMENT
    assert "No sweep is applicable" in decide(evidence).summary


def test_a_changed_key_that_no_entry_runs() -> None:
    silent = after(changelog=CHANGELOG)
    assert decide(swept(head=silent)).status is Status.FAIL
    assert "No new changelog entry runs the changed keys" in decide(swept(head=silent)).findings[1].message
    assert decide(swept(run(), head=silent)).status is Status.JUDGEMENT
    both = {**after(), AMD: AMD_MASTER.replace("conc-end: 64", "conc-end: 128")}
    evidence = swept(run(), head=both)
    assert decide(evidence).status is Status.JUDGEMENT
    assert "dsr1-fp8-mi355x-vllm" in messages(evidence, Status.JUDGEMENT)[0]


def test_a_trimmed_sweep_is_no_full_one() -> None:
    evidence = swept(run(jobs((CANARY, LANES[0], LANES[5], *EVALS))), labels=("sweep-enabled",))
    assert decide(evidence).status is Status.JUDGEMENT
    assert "3 of 9 single-node 8k1k green" in decide(evidence).summary
    assert "trims a sweep" in decide(evidence).summary


def test_cancelled_lanes_and_what_the_sign_off_says_of_them() -> None:
    made = run(jobs(EP2_mtp___c16="cancelled"))
    detail = "As a PR reviewer and CODEOWNER\n- [x] x\n\n### Additional detail section:\n- One lane was cancelled.\n"
    assert any("does not speak of it" in text for text in messages(swept(made), Status.JUDGEMENT))
    assert any("speaks of it" in text for text in messages(swept(made, sign_off=detail), Status.JUDGEMENT))


def test_more_evals_than_planned_by_label() -> None:
    more = tuple(f"eval / / p1.000 | qwen3.5 fp4 b200 sgl TP2 mtp c{conc} | eval-only" for conc in (4, 8, 16))
    more += ("eval / / p1.000 | qwen3.5 fp4 b200 sgl TP4 mtp c4 | eval-only",)
    more += ("eval / / p1.000 | qwen3.5 fp4 b200 sgl TP2/EP2 mtp c16 | eval-only",)
    decided = decide(swept(run(jobs((*GREEN, *more))), labels=("all-evals",)))
    assert decided.status is Status.PASS
    assert "9 eval lanes" in decided.summary
    assert decide(swept(run(jobs((*GREEN, *more))))).status is Status.PASS


@pytest.mark.parametrize("moment", ["first", "second"])
def test_the_sample(moment: str) -> None:
    loaded = load_sample(moment)
    review = review_of(loaded, ReviewRequest(review_date="2026-08-12"), load_policy(loaded.trees.policy))
    results = {name: review.result(name) for name in ("sweep", "evals", "reuse")}
    assert {name: result.status for name, result in results.items() if result} == dict.fromkeys(results, Status.PASS)
    remarks = [f.message for name in ("sweep", "evals") for f in results[name].findings if f.status is Status.WARN]  # type: ignore[union-attr]
    assert len(remarks) == (2 if moment == "first" else 0)
    assert all("NVFP4-V2 would merge: main (#2205)" in remark for remark in remarks)


# --- lanes and jobs, whatever they are -----------------------------------------------------------------------------


def single_node(draw: Callable[[Any], Any]) -> dict[str, Any]:
    row = {
        "model-prefix": draw(st.sampled_from(["dsr1", "qwen3.5"])),
        "precision": "fp8",
        "runner": "b200",
        "framework": draw(st.sampled_from(["sglang", "vllm"])),
        "tp": draw(st.sampled_from([1, 8])),
        "ep": draw(st.sampled_from([1, 8])),
        "dp-attn": draw(st.booleans()),
        "conc": draw(st.sampled_from([4, 16, 64])),
        "spec-decoding": draw(st.sampled_from(["none", "mtp"])),
    }
    if draw(st.booleans()):
        return {**row, "scenario-type": "agentic-coding"}
    return {**row, "isl": draw(st.sampled_from([1024, 8192])), "osl": 1024}


@st.composite
def lanes(draw: Callable[[Any], Any]) -> Lane:
    row = single_node(draw)
    if draw(st.booleans()):
        worker = {"num-worker": draw(st.integers(1, 3)), "tp": row.pop("tp"), "ep": row.pop("ep"), "dp-attn": False}
        row = {**row, "prefill": worker, "decode": {**worker, "num-worker": 1}, "conc": [row["conc"]], "disagg": True}
    if draw(st.booleans()) and row.get("isl") != 1024:
        row["eval-only"] = True
    family = family_of(row)
    assert family is not None
    return Lane(family=family, key="k", row=row)


def as_jobs(plan: SweepPlan, seed: int) -> list[CheckRun]:
    """The jobs that GitHub would show, in any order, some lanes as the canary, names written as it writes them."""
    chance = random.Random(seed)
    made = []
    for number, lane in enumerate(plan.lanes):
        prefix = "canary" if number == 0 and lane.family.startswith("single-node") else lane.family
        suffix = chance.choice(("", " (k, 1, {a: b | c})"))
        made.append(job(f"{prefix} /{suffix} / p{chance.random():.3f} | {callee_name(lane.row)}", number))
    made += [job(name, 1000 + number) for number, name in enumerate(ASIDE)]
    chance.shuffle(made)
    return made


def standing(plan: SweepPlan, made: list[CheckRun], **changed: Any) -> Sweep:
    return put_to_plan(run(made, **changed), plan)


@settings(max_examples=60, deadline=None)
@given(st.lists(lanes(), min_size=1, max_size=12), st.integers(0, 1 << 16), st.data())
def test_a_plan_is_green_with_all_of_its_jobs_and_never_with_less(some: list[Lane], seed: int, data: Any) -> None:
    plan = SweepPlan(lanes=tuple(some))
    made = as_jobs(plan, seed)
    green = standing(plan, made)
    assert green.standing == "green"
    assert (green.extra, green.by_number) == ((), ())
    for ran in green.lanes:
        assert ran.job is not None
        assert collapse(ran.job.name).endswith(f"| {collapse(callee_name(ran.lane.row))}")
        assert ran.job.name.startswith((f"{ran.lane.family} /", "canary /"))
    assert len({ran.job.id for ran in green.lanes if ran.job}) == len(plan.lanes)
    place = data.draw(st.sampled_from([n for n, one in enumerate(made) if one.id < 1000]))
    for state, fitting in (
        ("failure", {"red"}),
        ("cancelled", {"incomplete", "red"}),
        ("skipped", {"incomplete", "red"}),
    ):
        worse = [msgspec.structs.replace(one, conclusion=state) if n == place else one for n, one in enumerate(made)]
        assert standing(plan, worse).standing in fitting
    fewer = made[:place] + made[place + 1 :]
    assert standing(plan, fewer).standing in {"incomplete", "red"}
    assert standing(plan, fewer, jobs_complete=False).standing == "unknown"
    waiting = [
        msgspec.structs.replace(one, status="queued", conclusion=None) if n == place else one
        for n, one in enumerate(made)
    ]
    assert standing(plan, waiting).standing == "running"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=8), st.lists(lanes(), max_size=4))
def test_any_names_are_survived_and_none_makes_a_plan_green(names: list[str], some: list[Lane]) -> None:
    made = [job(f"eval / {name}", number) for number, name in enumerate(names)] + [job(name, 99) for name in names]
    plan = SweepPlan(lanes=tuple(lane for lane in some if lane.family != "eval"))
    assert put_to_plan(run(made), plan).standing in {"red", "unplanned"}


def test_a_name_of_many_separators_does_not_hold_the_review_up() -> None:
    made = [job("eval / " + "| / " * 50_000, number) for number in range(50)]
    assert put_to_plan(run(made), SweepPlan(lanes=())).standing == "unplanned"


def moved(files: Mapping[str, bytes | str]) -> dict[str, bytes | str]:
    """The same files in the newest layout."""
    return {path if path.startswith(".github/") else f"inferencex-e2e/{path}": text for path, text in files.items()}


@pytest.mark.parametrize("base", [before(), moved(before())], ids=["moved", "new"])
def test_the_newest_layout(base: dict[str, bytes | str]) -> None:
    decided = decide(swept(run(), base=base, head=moved(after())))
    assert decided.status is Status.PASS
    assert "9 single-node 8k1k and 4 eval lanes green" in decided.summary
    assert decide(swept(base=base, head={**base, "experimental/x": "y"})).status is Status.JUDGEMENT
