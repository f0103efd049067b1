"""The draft check of the newest policy."""

from __future__ import annotations

import pytest

from reviewer_tui.checks.check import Outcome
from reviewer_tui.checks.draft_as_shipped import decide
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
PROMPT = ".github/codeowner-signoff-verify-prompt.md"
SPECULATION = '{"method": "mtp", "num_speculative_tokens": 3}'
SIGN_OFF = "As a PR reviewer and CODEOWNER\n- [x] all\n\n### Additional detail section:\n- "
SHOWN = f"{SIGN_OFF}the MTP head is stored in FP8, the image loads it as it is, effective precision FP8\n"
VLLM = f"{AGENTIC}/dsv4_fp4_b200_vllm_mtp.sh"
SGLANG = f"{FIXED}/dsv4_fp4_b200_sglang_mtp.sh"


def decided(entries: str, files: dict[str, str], sign_off: str | None = None, words: str = "Own words.") -> Outcome:
    """What a policy whose verifier uses these words says to a pull request that adds these entries and files."""
    policy = {**EMPTY, PROMPT: f"## Check 13 — Draft models and heads are served as they ship\n{words}\n"}
    head = repository(entries, files)
    return decide(evidence_of(EMPTY, head, policy=policy, sign_off=sign_off))


def of_sglang(flags: str = "", exports: str = "", **options: str | None) -> Outcome:
    serve = f"{exports}\npython3 -m sglang.launch_server --model-path x --speculative-algorithm EAGLE {flags} &"
    return decided(single("sglang", fixed=True), {SGLANG: script(serve)}, **options)  # type: ignore[arg-type]


# -- evidence -------------------------------------------------------------------------------------------------------


def test_it_never_passes_by_itself() -> None:
    without = decided(single("vllm"), {VLLM: vllm(SPECULATION)})
    assert without.status is Status.JUDGEMENT
    assert "mtp, the head of org/Model" in without.summary
    assert "must name the draft" in without.summary
    shown = decided(single("vllm"), {VLLM: vllm(SPECULATION)}, SHOWN)
    assert shown.status is Status.JUDGEMENT


@pytest.mark.parametrize(
    ("detail", "missing"),
    [
        ("nothing", "the draft and its stored and effective precision"),
        ("the draft is fine", "its stored and effective precision"),
        ("all is FP8", "the draft"),
    ],
)
def test_a_sign_off_without_the_evidence_fails(detail: str, missing: str) -> None:
    decision = decided(single("vllm"), {VLLM: vllm(SPECULATION)}, f"{SIGN_OFF}{detail}\n")
    assert decision.status is Status.FAIL
    assert f"does not name {missing}." in decision.summary


def test_a_draft_of_its_own_is_named_with_the_agreed_ones() -> None:
    def of_draft(draft: str) -> str:
        config = f'{{"method": "eagle3", "model": "{draft}", "num_speculative_tokens": 3}}'
        models = (
            f"{summer()['MODELS.md']!s}\n## AgentX Guidelines\n\n"
            "| Model | Primary native engines | Agreed draft models | Additional engines |\n|---|---|---|---|\n"
            "| DeepSeek-R1 (`dsr1`) | upstream vLLM | `org/R1-EAGLE3` | any |\n"
        )
        policy = {**EMPTY, "MODELS.md": models}
        head = repository(single("vllm", "dsr1"), {f"{AGENTIC}/dsr1_fp4_b200_vllm_mtp.sh": vllm(config)})
        return decide(evidence_of(EMPTY, head, policy=policy)).summary

    assert "org/R1-EAGLE3, an agreed draft of MODELS.md:" in of_draft("org/R1-EAGLE3")
    assert "elsewhere/R1, which MODELS.md:" in of_draft("elsewhere/R1")


# -- what lowers a draft --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "status"),
    [("1", Status.FAIL), ("true", Status.FAIL), ("0", Status.JUDGEMENT), ("$(cat x)", Status.UNVERIFIED)],
)
def test_the_named_prohibition_fails_wherever_it_is_enabled(value: str, status: Status) -> None:
    assert of_sglang(exports=f"export SGLANG_NVFP4_CKPT_FP8_NEXTN_MOE={value}").status is status
    assert of_sglang(exports=f"export SGLANG_NVFP4_CKPT_FP8_NEXTN_MOE={value}", sign_off=SHOWN).status is status


def test_the_prohibition_counts_in_any_role_of_a_recipe() -> None:
    decode = "speculative-algorithm: EAGLE\nspeculative-num-steps: 3"
    text = recipe(decode, engine="sglang", role="decode", env="A: '1'")
    text = text.replace("  sglang_config:\n", "  prefill_environment: { SGLANG_NVFP4_CKPT_FP8_NEXTN_MOE: '1' }\n"
                        "  sglang_config:\n    prefill: { trust-remote-code: true }\n")  # fmt: skip
    files = {f"{RECIPES}/m/agentic.yaml": text, LAUNCHER: PLAIN_LAUNCHER}
    decision = decided(multi("dynamo-sglang", disagg=True), files, SHOWN)
    assert decision.status is Status.FAIL
    assert "for its prefill" in decision.summary


def test_the_verifiers_own_words_name_the_prohibited_and_the_leads() -> None:
    prohibits = "Setting `SGLANG_NEW_SWITCH=1` is prohibited. Look at `--speculative-token-map` too."
    assert of_sglang(exports="export SGLANG_NEW_SWITCH=1", words=prohibits).status is Status.FAIL
    lead = of_sglang("--speculative-token-map x", words=prohibits)
    assert any("names as a lead" in finding.message for finding in lead.findings)
    other = "Inspect `SGLANG_OTHER_THING`."
    lifted = of_sglang(exports="export SGLANG_NVFP4_CKPT_FP8_NEXTN_MOE=1", words=other)
    assert lifted.status is Status.JUDGEMENT


@pytest.mark.parametrize(
    ("flags", "exports", "status"),
    [
        ("--speculative-draft-model-quantization quark_mxfp4", "", Status.FAIL),
        ("--speculative-draft-model-quantization fp8", "", Status.FAIL),
        ("--speculative-draft-model-quantization unquant", "", Status.JUDGEMENT),
        ("", "export SGLANG_GLM_NEXTN_MOE_PTPC=1", Status.FAIL),
        ("", "export SGLANG_GLM_NEXTN_MOE_PTPC=0", Status.JUDGEMENT),
    ],
)
def test_quantizing_the_draft_fails(flags: str, exports: str, status: Status) -> None:
    assert of_sglang(flags, exports).status is status


def test_a_quantization_that_the_detail_section_documents_takes_judgement() -> None:
    flags = "--speculative-draft-model-quantization fp8"
    assert of_sglang(flags, sign_off=SHOWN).status is Status.JUDGEMENT
    assert of_sglang(flags.replace("fp8", "quark_mxfp4"), sign_off=SHOWN).status is Status.FAIL


@pytest.mark.parametrize(
    ("key", "value", "status"),
    [
        ("quantization", "fp8", Status.FAIL),
        ("dtype", "float8_e4m3fn", Status.FAIL),
        ("dtype", "bfloat16", Status.JUDGEMENT),
        ("kv_cache_dtype", "fp8", Status.JUDGEMENT),
        ("kv_cache_dtype", "fp4", Status.FAIL),
    ],
)
def test_settings_inside_of_the_speculative_configuration(key: str, value: str, status: Status) -> None:
    config = SPECULATION.replace("}", f', "{key}": "{value}"}}')
    serve = f"vllm serve x --kv-cache-dtype fp8 --speculative-config '{config}' &"
    assert decided(single("vllm"), {VLLM: script(serve)}).status is status


def test_leads_are_named_for_the_reviewer() -> None:
    serve = "python3 -m atom.entrypoints.openai_server --model x --method mtp --num-speculative-tokens 1"
    quantized = f'{serve} --online_quant_config \'{{"global_quant_config": "fp8", "exclude_layer": ["lm_head"]}}\' &'
    decision = decided(single("atom"), {f"{AGENTIC}/dsv4_fp4_b200_atom_mtp.sh": script(quantized)})
    assert any("leaves out lm_head" in finding.message for finding in decision.findings)
    assert any("--dtype is half" in finding.message for finding in of_sglang("--dtype half").findings)


# -- applicability --------------------------------------------------------------------------------------------------


def test_without_speculation_it_does_not_apply() -> None:
    plain = script("vllm serve x &")
    assert decided(single("vllm", spec="none"), {f"{AGENTIC}/dsv4_fp4_b200_vllm.sh": plain}).status is (
        Status.NOT_APPLICABLE
    )
    base = repository(single("vllm"), {VLLM: vllm(SPECULATION)})
    removed = {**base, VLLM: plain}
    assert decide(evidence_of(base, removed)).status is Status.NOT_APPLICABLE


def test_where_nothing_tells_whether_it_speculates_it_is_unverified() -> None:
    unsure = script("vllm serve x $(speculative_flags) &")
    decision = decided(single("vllm", spec="none"), {f"{AGENTIC}/dsv4_fp4_b200_vllm.sh": unsure})
    assert decision.status is Status.UNVERIFIED
    assert "whether it speculates" in decision.summary


def test_an_image_bump_is_judged_too() -> None:
    base = repository(single("vllm"), {VLLM: vllm(SPECULATION)})
    head = {**base, NVIDIA: single("vllm").replace("v0.25.1", "v0.26.0")}
    assert decide(evidence_of(base, head)).status is Status.JUDGEMENT


def test_recipes_of_other_repositories_are_unverified_by_name() -> None:
    decision = decided(multi(recipe="recipes/elsewhere.yaml"), {LAUNCHER: PLAIN_LAUNCHER})
    assert decision.status is Status.UNVERIFIED
    assert "recipes/elsewhere.yaml" in decision.summary


@pytest.mark.parametrize("more", ["--config /data/c.yaml", "$SPEC_ARGS"])
def test_a_draft_that_nothing_tells_is_not_verified(more: str) -> None:
    files = {f"{FIXED}/dsv4_fp4_b200_vllm_mtp.sh": script(f"vllm serve $MODEL {more} &")}
    outcome = decided(single("vllm", fixed=True), files)
    assert outcome.status in (Status.UNVERIFIED, Status.JUDGEMENT), outcome.summary
