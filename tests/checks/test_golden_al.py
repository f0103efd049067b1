"""The golden acceptance length check."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.checks.check import Outcome
from reviewer_tui.checks.golden_al import decide
from reviewer_tui.checks.golden_pin import Pin, compare
from reviewer_tui.model.finding import Finding, Status
from reviewer_tui.policy.golden import GoldenCurve, GoldenCurves, parse_golden
from tests.checks.speculative import (
    AGENTIC,
    FIXED,
    GOLDEN,
    INJECTING,
    LAUNCHER,
    PLAIN_LAUNCHER,
    RECIPES,
    multi,
    pinned,
    recipe,
    repository,
    script,
    single,
    vllm,
)
from tests.evidence import NVIDIA, evidence_of, summer
from tests.policy.autumn import autumn_files

EMPTY = {**summer(), **GOLDEN, NVIDIA: "{}\n"}
VLLM_SCRIPT = f"{AGENTIC}/dsv4_fp4_b200_vllm_mtp.sh"


def decided(entries: str, files: dict[str, str], sign_off: str | None = None, **options: object) -> Outcome:
    """What the check says to a pull request that adds these entries and files."""
    return decide(evidence_of(EMPTY, repository(entries, files), sign_off=sign_off, **options))  # type: ignore[arg-type]


def of_vllm(config: str, before: str = "", prefix: str = "dsv4", sign_off: str | None = None) -> Outcome:
    path = f"{AGENTIC}/{prefix}_fp4_b200_vllm_mtp.sh"
    return decided(single("vllm", prefix), {path: vllm(config, before)}, sign_off)


def only(outcome: Outcome) -> Finding:
    assert len(outcome.findings) == 1, [finding.message for finding in outcome.findings]
    return outcome.findings[0]


# -- the value ------------------------------------------------------------------------------------------------------


def test_the_golden_length_passes_and_says_what_was_assumed() -> None:
    finding = only(of_vllm(pinned("2.49")))
    assert finding.status is Status.PASS
    assert "assumed on" in finding.message
    assert finding.path == VLLM_SCRIPT
    assert finding.url is not None
    assert "golden_al_distribution/dsv4_mtp.yaml#L3" in finding.url


@pytest.mark.parametrize(("length", "level"), [("2.49", "2"), ("2.54", "3"), ("2.484", "3"), ("2.27", "3")])
def test_another_length_fails_with_both_values_and_the_place(length: str, level: str) -> None:
    finding = only(of_vllm(pinned(length, level)))
    assert finding.status is Status.FAIL
    assert finding.expected == f"{ {'2': 2.27, '3': 2.49}[level] } (dsv4_mtp thinking on)"
    assert finding.actual == f"{length} ({level} draft tokens)"
    assert (finding.path, finding.line) == (VLLM_SCRIPT, 5)


@pytest.mark.parametrize("length", ["2.49", "2.490", "2.494", "2.486"])
def test_values_that_round_to_the_golden_one_pass(length: str) -> None:
    assert of_vllm(pinned(length)).status is Status.PASS


def test_branches_on_the_concurrency_are_judged_point_by_point() -> None:
    before = 'if [ "$CONC" -le 8 ]; then K=3; AL=2.49; else K=2; AL=2.49; fi'
    decision = of_vllm(pinned("$AL", "$K"), before)
    assert [(f.status, "c4" in f.message, "c32" in f.message) for f in decision.findings] == [
        (Status.PASS, True, False),
        (Status.FAIL, False, True),
    ]


def test_points_without_draft_tokens_need_no_simulation() -> None:
    before = 'if [ "$CONC" -le 8 ]; then K=3; AL=2.49; else K=0; AL=1; fi'
    assert "c4" in only(of_vllm(pinned("$AL", "$K"), before)).message
    decision = of_vllm('{"method": "mtp", "num_speculative_tokens": 0}')
    assert decision.status is Status.NOT_APPLICABLE


def test_what_only_the_machine_knows_is_unverified_with_its_place() -> None:
    finding = only(of_vllm(pinned("$AL"), "AL=$(read_length_from_disk)"))
    assert finding.status is Status.UNVERIFIED
    assert "read_length_from_disk" in finding.message
    finding = only(of_vllm(pinned("2.49", "$K"), "K=$(nproc)"))
    assert finding.status is Status.UNVERIFIED


# -- whether acceptance is simulated --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ('{"method": "mtp", "num_speculative_tokens": 3}', "real acceptance"),
        ('{"method": "mtp", "num_speculative_tokens": 3, "synthetic_acceptance_length": 2.49}', "is set without"),
        (pinned("2.49").replace('"synthetic"', '"block"'), "is set without"),
    ],
)
def test_real_acceptance_fails(config: str, said: str) -> None:
    finding = only(of_vllm(config))
    assert finding.status is Status.FAIL
    assert said in finding.message
    assert finding.path == VLLM_SCRIPT


def test_a_rate_is_not_the_length_that_the_rule_names() -> None:
    config = pinned("2.5").replace('"synthetic_acceptance_length": 2.5', '"synthetic_acceptance_rate": 0.4967')
    assert of_vllm(config).status is Status.JUDGEMENT


def test_evaluations_should_not_simulate_but_that_only_warns() -> None:
    config, real = pinned("2.49"), '{"method": "mtp", "num_speculative_tokens": 3}'
    serve = 'vllm serve "$MODEL" --speculative-config "$CONFIG" &'
    warned = decided(single("vllm"), {VLLM_SCRIPT: script(f"CONFIG='{config}'\n{serve}")})
    assert [finding.status for finding in warned.findings] == [Status.PASS, Status.WARN]
    assert "c32" in warned.findings[1].message  # the highest concurrency is the one that is evaluated
    assert "c4" not in warned.findings[1].message
    branch = f"CONFIG='{config}'\nif [ \"$EVAL_ONLY\" = true ]; then CONFIG='{real}'; fi\n{serve}"
    assert decided(single("vllm"), {VLLM_SCRIPT: script(branch)}).status is Status.PASS


# -- engines --------------------------------------------------------------------------------------------------------

UNSIMULATED = """\
if [ "$EVAL_ONLY" = true ]; then
  unset SGLANG_SIMULATE_ACC_LEN TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS
fi
"""
SGLANG = "python3 -m sglang.launch_server --model-path $MODEL --speculative-algorithm EAGLE --speculative-eagle-topk 1"
SIMULATED = """\
export SGLANG_SIMULATE_ACC_LEN=2.49
export SGLANG_SIMULATE_ACC_METHOD=match-expected
export SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token
"""


@pytest.mark.parametrize(
    ("steps", "exports", "status"),
    [
        (3, SIMULATED, Status.PASS),
        (2, SIMULATED, Status.FAIL),
        (4, SIMULATED, Status.JUDGEMENT),
        (3, SIMULATED.partition("\n")[0], Status.JUDGEMENT),
        (3, SIMULATED.replace("match-expected", "multinomial"), Status.JUDGEMENT),
        (3, "", Status.FAIL),
        (3, "export SGLANG_SIMULATE_ACC_LEN=-1", Status.FAIL),
    ],
)
def test_sglang_is_held_to_its_number_of_steps(steps: int, exports: str, status: Status) -> None:
    flags = f"--speculative-num-steps {steps} --speculative-num-draft-tokens {steps + 1}"
    text = script(f"{exports}\n{UNSIMULATED}{SGLANG} {flags} &")
    decision = decided(single("sglang"), {f"{AGENTIC}/dsv4_fp4_b200_sglang_mtp.sh": text})
    if steps == 4:  # the curve of these tests ends at three
        assert "no cell for 4" in decision.summary
    assert decision.status is status, decision.summary


@pytest.mark.parametrize(("forced", "status"), [("1.49", Status.PASS), ("2.49", Status.FAIL), (None, Status.FAIL)])
def test_tensorrt_counts_accepted_drafts_only(forced: str | None, status: Status) -> None:
    export = f"export TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS={forced}" if forced else ""
    options = "cat > o.yaml <<EOF\nspeculative_config:\n  decoding_type: MTP\n  max_draft_len: 3\nEOF"
    text = script(f"{options}\n{export}\n{UNSIMULATED}trtllm-serve $MODEL --extra_llm_api_options o.yaml &")
    assert decided(single("trt"), {f"{AGENTIC}/dsv4_fp4_b200_trt_mtp.sh": text}).status is status


@pytest.mark.parametrize(
    ("knob", "status"),
    [
        ("--spec-decode-acceptance-length 2.49", Status.PASS),
        ("--spec-decode-acceptance-length 2.97", Status.JUDGEMENT),
        ("--spec-decode-acceptance-length 1.49", Status.FAIL),
        ("--spec-decode-acceptance-rate 0.496667", Status.PASS),
        ("", Status.FAIL),
    ],
)
def test_atom_takes_the_length_itself_or_a_rate(knob: str, status: Status) -> None:
    serve = "python3 -m atom.entrypoints.openai_server --model $MODEL --method mtp --num-speculative-tokens 3"
    text = script(f'if [ "$EVAL_ONLY" = true ]; then {serve} & exit; fi\n{serve} {knob} &')
    decision = decided(single("atom"), {f"{AGENTIC}/dsv4_fp4_b200_atom_mtp.sh": text})
    assert decision.status is status, decision.summary


# -- recipes and launchers ------------------------------------------------------------------------------------------

REAL = 'speculative-config: \'{"method": "mtp", "num_speculative_tokens": 2}\''
ASKED = ', "SYNTHETIC_ACCEPTANCE=true", "SYNTHETIC_ACCEPTANCE_LENGTH=2.27"'


def of_recipe(text: str, launcher: str = PLAIN_LAUNCHER, asked: str = "", **options: bool) -> Outcome:
    files = {f"{RECIPES}/m/agentic.yaml": text, LAUNCHER: launcher}
    return decided(multi(settings=asked, **options), files)  # type: ignore[arg-type]


def test_a_launcher_that_injects_pins_the_length_and_leaves_evaluations_alone() -> None:
    assert of_recipe(recipe(REAL), INJECTING, ASKED).status is Status.PASS
    wrong = of_recipe(recipe(REAL), INJECTING, ASKED.replace("2.27", "2.49"))
    assert only(wrong).status is Status.FAIL


def test_asking_a_launcher_that_does_not_inject_is_no_simulation() -> None:
    finding = only(of_recipe(recipe(REAL), PLAIN_LAUNCHER, ASKED))
    assert finding.status is Status.FAIL
    assert "has no effect" in finding.message
    assert LAUNCHER in finding.message


def test_a_launcher_that_cannot_be_followed_leaves_real_acceptance_unverified() -> None:
    decision = of_recipe(recipe(REAL), "if true; then\n" + INJECTING, ASKED)
    assert decision.status is Status.UNVERIFIED


def test_decode_workers_count_where_roles_are_apart() -> None:
    text = recipe(f"speculative-config: '{pinned('2.27', '2')}'", role="decode")
    text = text.replace("    decode:\n", f"    prefill:\n      {REAL}\n    decode:\n")
    assert Status.FAIL not in {finding.status for finding in of_recipe(text, disagg=True).findings}


def test_recipes_of_other_repositories_are_unverified_by_name() -> None:
    decision = decided(multi(recipe="recipes/elsewhere.yaml"), {LAUNCHER: PLAIN_LAUNCHER})
    assert only(decision).status is Status.UNVERIFIED
    assert "recipes/elsewhere.yaml" in decision.summary
    plain = decided(multi(recipe="recipes/elsewhere.yaml", spec="none"), {LAUNCHER: PLAIN_LAUNCHER})
    assert plain.status is Status.UNVERIFIED
    fixed = decided(multi(recipe="recipes/elsewhere.yaml", fixed=True), {LAUNCHER: PLAIN_LAUNCHER})
    assert fixed.status is Status.UNVERIFIED
    neither = decided(multi(recipe="recipes/elsewhere.yaml", fixed=True, spec="none"), {LAUNCHER: PLAIN_LAUNCHER})
    assert neither.status is Status.NOT_APPLICABLE


def test_a_missing_script_is_unverified() -> None:
    assert decided(single("vllm"), {}).status is Status.UNVERIFIED


def test_the_newest_layout_may_fill_the_length_in_at_launch() -> None:
    real = '{"method": "mtp", "num_speculative_tokens": 3}'
    head = repository(single("vllm"), {VLLM_SCRIPT: vllm(real)})
    assert decide(evidence_of(EMPTY, head, policy=autumn_files())).status is Status.UNVERIFIED


# -- which curve ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("length", "sampling", "status"),
    [
        ("3.36", ', "draft_sample_method": "probabilistic"', Status.PASS),
        ("3.22", ', "draft_sample_method": "probabilistic"', Status.FAIL),
        ("3.22", "", Status.PASS),
        ("3.36", "", Status.FAIL),  # pull request 2811: the probabilistic curve without probabilistic drafts
    ],
)
def test_the_draft_sampling_chooses_between_curves_of_one_model(length: str, sampling: str, status: Status) -> None:
    assert of_vllm(pinned(length, "4", "dspark", sampling), prefix="kimik3").status is status


def test_an_engine_that_does_not_say_how_it_samples_takes_judgement() -> None:
    def of_atom(length: str) -> Outcome:
        serve = "python3 -m atom.entrypoints.openai_server --model $MODEL --method dspark --num-speculative-tokens 7"
        text = script(f'if [ "$EVAL_ONLY" = true ]; then exit; fi\n{serve} --spec-decode-acceptance-length {length} &')
        return decided(single("atom", "kimik3"), {f"{AGENTIC}/kimik3_fp4_b200_atom_mtp.sh": text})

    assert of_atom("3.84").status is Status.JUDGEMENT
    assert of_atom("3.78").status is Status.JUDGEMENT
    assert of_atom("3.80").status is Status.FAIL


@pytest.mark.parametrize(("draft", "length"), [("org/M3-EAGLE3-GQA", "2.78"), ("org/M3-EAGLE3", "2.83")])
def test_the_name_of_the_draft_chooses_its_curve(draft: str, length: str) -> None:
    for value in ("2.78", "2.83"):
        config = pinned(value, "3", "eagle3", f', "model": "{draft}"')
        wanted = Status.PASS if value == length else Status.FAIL
        assert of_vllm(config, prefix="minimaxm3").status is wanted


@pytest.mark.parametrize(
    ("mode", "length", "status"),
    [
        ("enabled", "2.49", Status.PASS),
        ("enabled", "2.97", Status.FAIL),
        ("disabled", "2.97", Status.PASS),
        ("disabled", "2.49", Status.JUDGEMENT),
        ("disabled", "2.27", Status.FAIL),
    ],
)
def test_settings_of_thinking_choose_the_mode(mode: str, length: str, status: Status) -> None:
    config = f"dyn-default-thinking-mode: {mode}\nspeculative-config: '{pinned(length)}'"
    decision = of_recipe(recipe(config, benchmark="type: sa-bench"))
    assert {f.status for f in decision.findings} - {Status.WARN} == {status}, decision.summary


def test_without_a_curve_the_detail_section_must_name_the_source() -> None:
    def judged(sign_off: str | None) -> Status:
        return of_vllm(pinned("2.49"), prefix="newmodel", sign_off=sign_off).status

    assert judged(None) is Status.JUDGEMENT
    heading = "As a PR reviewer and CODEOWNER\n- [x] all\n\n### Additional detail section:\n"
    assert judged(heading + "- the AL is of the pending collection https://x/runs/9\n") is Status.JUDGEMENT
    assert judged(heading + "- nothing\n") is Status.FAIL


def test_the_curves_of_the_pull_request_do_not_count() -> None:
    curve = {"golden_al_distribution/dsv4_mtp.yaml": "deepseek-v4-pro:\n  thinking_on: {3: 2.6}\n"}
    assert decided(single("vllm"), {VLLM_SCRIPT: vllm(pinned("2.6")), **curve}).status is Status.FAIL


def test_without_curves_nothing_can_be_compared() -> None:
    head = repository(single("vllm"), {VLLM_SCRIPT: vllm(pinned("2.49"))})
    assert decide(evidence_of(EMPTY, head, policy=summer())).status is Status.UNVERIFIED


# -- configurations that are not agentic ----------------------------------------------------------------------------

FIXED_SCRIPT = f"{FIXED}/dsv4_fp4_b200_vllm_mtp.sh"


def test_simulation_elsewhere_fails_unless_the_detail_section_documents_it() -> None:
    entries, files = single("vllm", fixed=True), {FIXED_SCRIPT: vllm(pinned("2.49"))}
    finding = only(decided(entries, files))
    assert finding.status is Status.FAIL
    assert (finding.path, finding.line) == (FIXED_SCRIPT, 5)
    text = (
        "As a PR reviewer and CODEOWNER\n- [x] all\n\n### Additional detail section:\n- simulated acceptance: agreed\n"
    )
    assert decided(entries, files, text).status is Status.JUDGEMENT


def test_real_acceptance_elsewhere_is_not_applicable() -> None:
    text = vllm('{"method": "mtp", "num_speculative_tokens": 3}')
    assert decided(single("vllm", fixed=True), {FIXED_SCRIPT: text}).status is Status.NOT_APPLICABLE
    plain = decided(single("vllm", fixed=True, spec="none"), {f"{FIXED}/dsv4_fp4_b200_vllm.sh": script("vllm serve x")})
    assert plain.status is Status.NOT_APPLICABLE


def test_asking_for_injection_elsewhere_fails_even_where_it_has_no_effect() -> None:
    assert of_recipe(recipe(REAL), INJECTING, ASKED, fixed=True).status is Status.FAIL
    assert of_recipe(recipe(REAL), PLAIN_LAUNCHER, ASKED, fixed=True).status is Status.FAIL
    off = ASKED.replace("true", "1")  # the injector wants the word `true`
    assert of_recipe(recipe(REAL), INJECTING, off, fixed=True).status is Status.NOT_APPLICABLE


# -- what is submitted ----------------------------------------------------------------------------------------------


def test_a_fault_of_the_base_still_fails_a_submitted_key_and_says_so() -> None:
    base = repository(single("vllm"), {VLLM_SCRIPT: vllm(pinned("2.27"))})
    head = {**base, NVIDIA: single("vllm").replace("v0.25.1", "v0.26.0")}
    finding = only(decide(evidence_of(base, head)))
    assert finding.status is Status.FAIL
    assert "base had this already" in finding.message
    worse = {**base, VLLM_SCRIPT: vllm(pinned("2.28"))}
    assert "already" not in only(decide(evidence_of(base, worse))).message
    assert decide(evidence_of(base, {**base, "docs/x.md": "x"})).status is Status.NOT_APPLICABLE


def test_equal_findings_of_a_key_are_told_as_one_with_every_place() -> None:
    entries = multi().replace("conc-list: [4, 32]", "conc-list: [4]")
    arm = entries.partition("search-space:\n")[2]
    entries += arm.replace("m/agentic.yaml", "m/other.yaml").replace("[4]", "[8]")
    wrong = recipe(f"speculative-config: '{pinned('2.3', '2')}'")
    files = {f"{RECIPES}/m/agentic.yaml": wrong, f"{RECIPES}/m/other.yaml": wrong, LAUNCHER: PLAIN_LAUNCHER}
    failed = [finding for finding in decided(entries, files).findings if finding.status is Status.FAIL]
    assert len(failed) == 1
    assert f"Also {RECIPES}/m/other.yaml:" in failed[0].message


def test_nothing_submitted_is_not_applicable() -> None:
    assert decide(evidence_of(summer(), summer())).status is Status.NOT_APPLICABLE


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=60))
def test_no_speculative_configuration_breaks_the_check(text: str) -> None:
    escaped = text.replace("'", "")
    serve = script(f"vllm serve x --speculative-config '{escaped}' &")
    assert decided(single("vllm", concs="[4]"), {VLLM_SCRIPT: serve}).status is not Status.PASS


# -- a pin against curves -------------------------------------------------------------------------------------------


def curves() -> GoldenCurves:
    found: list[GoldenCurve] = []
    for path, text in GOLDEN.items():
        found += parse_golden(text, path)[0]
    return GoldenCurves(folder="golden_al_distribution", curves=tuple(found))


@given(
    st.sampled_from(["dsv4", "kimik3", "minimaxm3", "other"]),
    st.sampled_from(["mtp", "eagle3", "dspark", ""]),
    st.integers(0, 9),
    st.floats(1, 9),
    st.sampled_from([(), ("on",), ("off",), ("on", "off")]),
    st.sampled_from([None, "greedy", "probabilistic", "other"]),
)
def test_only_a_pin_on_all_curves_that_may_apply_matches(
    prefix: str, method: str, level: int, length: float, modes: tuple[str, ...], sampling: str | None
) -> None:
    pin = Pin(prefix=prefix, method=method, level=level, length=length, modes=modes, sampling=sampling)  # type: ignore[arg-type]
    found = compare(pin, curves())
    assert found.reason
    if found.agreement == "match":
        assert all(abs(value - length) <= 0.0051 for _, value in found.cells)
    if found.agreement == "mismatch":
        assert all(abs(value - length) > 0.0049 for _, value in found.cells)


# -- what is not known ------------------------------------------------------------------------------------------------

FIXED_VLLM = f"{FIXED}/dsv4_fp4_b200_vllm_mtp.sh"
CLIENT = 'run_benchmark_serving --model "$MODEL" --max-concurrency "$CONC"'


@pytest.mark.parametrize("more", ["$EXTRA_ARGS", "$(cat /data/flags)", "--config /data/c.yaml", '"${EXTRA[@]}"'])
def test_a_pin_that_something_unread_may_follow_is_not_verified(more: str) -> None:
    outcome = decided(single("vllm"), {VLLM_SCRIPT: vllm(pinned("2.49")).replace('}" &', f'}}" {more} &')})
    assert outcome.status is Status.UNVERIFIED, outcome.summary
    wrong = decided(single("vllm"), {VLLM_SCRIPT: vllm(pinned("2.11")).replace('}" &', f'}}" {more} &')})
    assert wrong.status is Status.FAIL, wrong.summary


@pytest.mark.parametrize("more", ["$SPEC_ARGS", "--config /data/c.yaml", "$(cat /data/flags)"])
@pytest.mark.parametrize("fixed", [True, False])
def test_speculation_that_nothing_tells_is_not_verified(more: str, fixed: bool) -> None:
    path, client = (FIXED_VLLM, CLIENT) if fixed else (VLLM_SCRIPT, "replay")
    outcome = decided(single("vllm", fixed=fixed), {path: script(f"vllm serve $MODEL {more} &", client)})
    assert outcome.status is Status.UNVERIFIED, outcome.summary
    empty = decided(single("vllm", fixed=fixed), {path: script("EXTRA=; vllm serve $MODEL $EXTRA &", client)})
    assert empty.status is Status.NOT_APPLICABLE, empty.summary


SIMULATED = (
    "export SGLANG_SIMULATE_ACC_LEN=2.49 SGLANG_SIMULATE_ACC_METHOD=match-expected\n"
    "export SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token"
)
SGLANG_SERVES = "sglang serve --model-path $MODEL --speculative-algorithm EAGLE --speculative-num-steps 3 &"


@pytest.mark.parametrize(
    "line",
    [
        "source /data/env.sh",
        'eval "$(cat /data/env)"',
        "set -a; . /data/env; set +a",
        "export $(cat /data/env | xargs)",
        'while read l; do export "$l"; done < /data/env',
        "export SGLANG_SIMULATE_ACC_LEN=$LENGTH_OF_CI",
    ],
)
@pytest.mark.parametrize("fixed", [True, False])
def test_variables_that_something_unread_may_set_are_not_verified(line: str, fixed: bool) -> None:
    path, client = (FIXED, CLIENT) if fixed else (AGENTIC, "replay")
    before = "" if fixed else SIMULATED
    text = script(f"{before}\n{line}\n{SGLANG_SERVES}", client)
    outcome = decided(single("sglang", fixed=fixed), {f"{path}/dsv4_fp4_b200_sglang_mtp.sh": text})
    assert outcome.status is Status.UNVERIFIED, outcome.summary
    after = script(f"{before}\n{SGLANG_SERVES}\n{line}", client)
    outcome = decided(single("sglang", fixed=fixed), {f"{path}/dsv4_fp4_b200_sglang_mtp.sh": after})
    assert outcome.status is (Status.NOT_APPLICABLE if fixed else Status.WARN), outcome.summary


@pytest.mark.parametrize("config", ['"$(cat /data/spec.json)"', "@/data/spec.json", '"$SPEC_CONFIG"'])
def test_real_traffic_with_a_speculation_that_nothing_tells_is_not_verified(config: str) -> None:
    serve = f"vllm serve $MODEL --speculative-config {config} &"
    outcome = decided(single("vllm", fixed=True), {FIXED_VLLM: script(serve, CLIENT)})
    assert outcome.status is Status.UNVERIFIED, outcome.summary


def test_a_checkpoint_that_only_the_launcher_knows_leaves_no_arguments_open() -> None:
    serve = "MODEL_PATH=$(cat /data/path); vllm serve $MODEL_PATH --port 1 &"
    outcome = decided(single("vllm", fixed=True), {FIXED_VLLM: script(serve, CLIENT)})
    assert outcome.status is Status.NOT_APPLICABLE, outcome.summary
