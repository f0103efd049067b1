"""The chat template check."""

from __future__ import annotations

import pytest

from reviewer_tui.checks.chat_template import decide
from reviewer_tui.checks.check import Outcome
from reviewer_tui.model.finding import Status
from tests.checks.speculative import (
    AGENTIC,
    FIXED,
    GOLDEN,
    LAUNCHER,
    PLAIN_LAUNCHER,
    RECIPES,
    multi,
    recipe,
    repository,
    script,
    single,
    vllm,
)
from tests.evidence import NVIDIA, evidence_of, summer

EMPTY = {**summer(), **GOLDEN, NVIDIA: "{}\n"}
SPECULATION = '{"method": "mtp", "num_speculative_tokens": 3}'
SERVE = f"vllm serve \"$MODEL\" --speculative-config '{SPECULATION}' &"
CLIENT = 'run_benchmark_serving --model "$MODEL" --max-concurrency "$CONC"'
FIXED_SCRIPT = f"{FIXED}/dsv4_fp4_b200_vllm_mtp.sh"


def decided(entries: str, files: dict[str, str]) -> Outcome:
    return decide(evidence_of(EMPTY, repository(entries, files)))


def of_client(client: str, serve: str = SERVE) -> Outcome:
    return decided(single("vllm", fixed=True), {FIXED_SCRIPT: script(serve, client)})


@pytest.mark.parametrize("flag", ["--use-chat-template", "--dsv4"])
def test_a_client_with_the_template_passes(flag: str) -> None:
    decision = of_client(f"# {flag} is needed\n{CLIENT} \\\n  {flag}")
    assert decision.status is Status.PASS
    assert (decision.findings[0].path, decision.findings[0].line) == (FIXED_SCRIPT, 6)


def test_raw_completions_fail_with_config_and_line() -> None:
    decision = of_client(CLIENT)
    assert decision.status is Status.FAIL
    finding = decision.findings[0]
    assert finding.message.startswith("dsv4-fp4-b200-vllm: its client sends raw completions")
    assert (finding.path, finding.line) == (FIXED_SCRIPT, 4)


def test_a_template_that_only_some_points_use_fails_the_others() -> None:
    branch = f'ARGS=()\nif [ "$CONC" -gt 8 ]; then ARGS+=(--use-chat-template); fi\n{CLIENT} "${{ARGS[@]}}"'
    decision = of_client(branch)
    failed = [finding.message for finding in decision.findings if finding.status is Status.FAIL]
    assert len(failed) == 1
    assert "c4" in failed[0]
    assert "c32" not in failed[0]


def test_what_the_machine_decides_takes_judgement() -> None:
    assert of_client(f"{CLIENT} $(extra_flags)").status is Status.JUDGEMENT
    assert of_client(f"if is_ready; then {CLIENT}; fi").status is Status.JUDGEMENT
    always = f"if is_ready; then {CLIENT} --use-chat-template; else {CLIENT} --dsv4; fi"
    assert of_client(always).status is Status.PASS


def test_a_script_without_a_client_is_unverified() -> None:
    assert of_client("echo done").status is Status.UNVERIFIED
    assert decided(single("vllm", fixed=True), {}).status is Status.UNVERIFIED


@pytest.mark.parametrize("serve", ['vllm serve "$MODEL" &', SERVE.replace(": 3", ": 0")])
def test_points_that_draft_nothing_need_no_template(serve: str) -> None:
    assert of_client(CLIENT, serve).status is Status.NOT_APPLICABLE


def test_speculation_counts_though_the_config_does_not_name_it() -> None:
    entries = single("vllm", fixed=True, spec="none")
    plain = {f"{FIXED}/dsv4_fp4_b200_vllm.sh": script(SERVE, CLIENT)}
    assert decided(entries, plain).status is Status.FAIL
    unsure = {f"{FIXED}/dsv4_fp4_b200_vllm.sh": script("vllm serve x $(speculative_flags) &", CLIENT)}
    assert decided(entries, unsure).status is Status.UNVERIFIED
    harmless = {name: text.replace(CLIENT, f"{CLIENT} --dsv4") for name, text in unsure.items()}
    assert decided(entries, harmless).status is Status.NOT_APPLICABLE


def test_agentic_replay_sends_chat_requests() -> None:
    path = f"{AGENTIC}/dsv4_fp4_b200_vllm_mtp.sh"
    assert decided(single("vllm"), {path: vllm(SPECULATION)}).status is Status.PASS
    raw = script(SERVE, "aiperf profile --endpoint-type completions")
    assert decided(single("vllm"), {path: raw}).status is Status.FAIL
    helper = {path: script(SERVE, "$(client_of_the_day)")}
    assert decided(single("vllm"), helper).status is Status.JUDGEMENT  # only its library names the chat endpoint
    library = {"benchmarks/benchmark_lib.sh": "replay() { :; }\n"}
    assert decided(single("vllm"), {**helper, **library}).status is Status.JUDGEMENT


@pytest.mark.parametrize(
    ("block", "status"),
    [
        ("type: sa-bench\n  use_chat_template: true", Status.PASS),
        ("type: sa-bench\n  use_chat_template: false", Status.FAIL),
        ("type: sa-bench", Status.JUDGEMENT),
        ("type: unheard-of", Status.UNVERIFIED),
    ],
)
def test_recipes_say_it_in_their_benchmark_block(block: str, status: Status) -> None:
    text = recipe(f"speculative-config: '{SPECULATION}'", benchmark=block)
    files = {f"{RECIPES}/m/agentic.yaml": text, LAUNCHER: PLAIN_LAUNCHER}
    assert decided(multi(fixed=True), files).status is status


def test_recipes_of_other_repositories_are_unverified_by_name() -> None:
    for fixed in (True, False):
        decision = decided(multi(recipe="recipes/elsewhere.yaml", fixed=fixed), {LAUNCHER: PLAIN_LAUNCHER})
        assert decision.status is Status.UNVERIFIED
        assert "recipes/elsewhere.yaml" in decision.summary
    unlabelled = multi(recipe="recipes/elsewhere.yaml", fixed=True, spec="none")
    assert decided(unlabelled, {LAUNCHER: PLAIN_LAUNCHER}).status is Status.NOT_APPLICABLE


def test_a_fault_of_the_base_fails_a_submitted_key_and_says_so() -> None:
    base = repository(single("vllm", fixed=True), {FIXED_SCRIPT: script(SERVE, CLIENT)})
    head = {**base, NVIDIA: single("vllm", fixed=True).replace("v0.25.1", "v0.26.0")}
    decision = decide(evidence_of(base, head))
    assert decision.status is Status.FAIL
    assert "base had this already" in decision.summary
    assert decide(evidence_of(base, {**base, "docs/x.md": "x"})).status is Status.NOT_APPLICABLE


@pytest.mark.parametrize("serve", ["vllm serve $MODEL --config /data/c.yaml &", "vllm serve $MODEL $SPEC_ARGS &"])
def test_where_nothing_tells_whether_it_speculates_the_config_s_word_counts(serve: str) -> None:
    assert of_client(CLIENT, serve).status is Status.FAIL
    assert of_client(f"{CLIENT} --dsv4", serve).status is Status.PASS
    unlabelled = {f"{FIXED}/dsv4_fp4_b200_vllm.sh": script(serve, CLIENT)}
    assert decided(single("vllm", fixed=True, spec="none"), unlabelled).status is Status.UNVERIFIED


@pytest.mark.parametrize(
    ("client", "status"),
    [
        ("aiperf profile --endpoint /v1/completions", Status.FAIL),
        ("aiperf profile --custom-endpoint=/v1/chat/completions", Status.PASS),
        ("aiperf profile --endpoint-type chat --endpoint /v1/completions", Status.FAIL),
        ("aiperf profile --endpoint-type $(cat /data/type)", Status.JUDGEMENT),
        ("aiperf profile", Status.JUDGEMENT),
        ("python3 mine.py --endpoint-type completions", Status.JUDGEMENT),
        ("CMD=$(pick); CMD+=' --endpoint-type chat'; eval $CMD", Status.PASS),
        ("send() { CMD+=' --endpoint-type chat'; $CMD; }; CMD=$(pick) send", Status.PASS),
        ("send() { CMD+=' --endpoint-type chat'; $CMD; }; python3 mine.py", Status.JUDGEMENT),
        (
            "CMD=$(pick); CMD+=' --endpoint-type chat'; $CMD; python3 mine.py --endpoint /v1/completions",
            Status.JUDGEMENT,
        ),
        ("replay; aiperf profile --endpoint-type $(cat /data/type)", Status.JUDGEMENT),
    ],
)
def test_the_client_that_runs_decides_about_replay(client: str, status: Status) -> None:
    outcome = decided(single("vllm"), {f"{AGENTIC}/dsv4_fp4_b200_vllm_mtp.sh": script(SERVE, client)})
    assert outcome.status is status, outcome.summary
