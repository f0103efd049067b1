"""The image check."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer_tui.checks.image import Image, decide, parse_image
from reviewer_tui.model.finding import Status
from tests.evidence import AMD, AMD_MASTER, NVIDIA, NVIDIA_MASTER, evidence_of, summer

UPSTREAM = "lmsysorg/sglang:v0.5.14-cu130"
KEY = "qwen3.5-fp4-b200-sglang-mtp"


def with_image(image: str) -> dict[str, bytes | str]:
    return {**summer(), NVIDIA: NVIDIA_MASTER.replace(UPSTREAM, image)}


@pytest.mark.parametrize(
    ("reference", "image"),
    [
        ("vllm/vllm-openai:v0.19.0", Image("", "vllm/vllm-openai")),
        ("docker.io/vllm/vllm-openai@sha256:abc", Image("", "vllm/vllm-openai")),
        ("lmsysorg/sglang:v1@sha256:abc", Image("", "lmsysorg/sglang")),
        ("nvcr.io#nvidia/ai-dynamo/x:1.0", Image("nvcr.io", "nvidia/ai-dynamo/x")),
        ("localhost:5000/vllm/x:1", Image("localhost:5000", "vllm/x")),
        ("ghcr.io/vllm/vllm-openai:1", Image("ghcr.io", "vllm/vllm-openai")),
        ("sglang:latest", Image("", "sglang")),
    ],
)
def test_references_are_taken_apart(reference: str, image: Image) -> None:
    assert parse_image(reference) == image


@given(st.text(max_size=60))
def test_any_text_is_an_image_of_some_kind(reference: str) -> None:
    parse_image(reference)


@pytest.mark.parametrize(
    "image", ["lmsysorg/sglang:v9", "lmsysorg/sglang-rocm:v9", "docker.io/lmsysorg/sglang@sha256:ab"]
)
def test_upstream_images_pass(image: str) -> None:
    decided = decide(evidence_of(summer(), with_image(image)))
    assert decided.status is Status.PASS
    assert [f.status for f in decided.findings] == [Status.PASS]


@pytest.mark.parametrize(
    "image",
    ["rocm/sgl-dev:1", "vllm/vllm-openai:1", "ghcr.io#lmsysorg/sglang:1", "lmsysorg-fork/sglang:1", "sglang:1", "''"],
)
def test_other_images_fail_on_established_hardware(image: str) -> None:
    decided = decide(evidence_of(summer(), with_image(image)))
    assert decided.status is Status.FAIL
    assert decided.findings[0].path == NVIDIA
    assert decided.findings[0].line == 2


def test_other_images_are_judged_on_hardware_that_is_not_listed() -> None:
    head = {
        **summer(),
        NVIDIA: NVIDIA_MASTER.replace(UPSTREAM, "rocm/sgl-dev:1").replace("runner: b200", "runner: vr200"),
    }
    assert decide(evidence_of(summer(), head)).status is Status.JUDGEMENT


def test_a_documented_exception_is_judged_not_passed() -> None:
    sign_off = (
        f"- [x] a\n\n### Additional detail section:\n{KEY} needs rocm/sgl-dev: new model architecture.\n\nSigned: `a`"
    )
    decided = decide(evidence_of(summer(), with_image("rocm/sgl-dev:1"), sign_off=sign_off))
    assert decided.status is Status.JUDGEMENT


def test_no_entry_changed_is_not_applicable() -> None:
    assert decide(evidence_of(summer(), summer())).status is Status.NOT_APPLICABLE


def test_a_removed_entry_is_no_submission() -> None:
    assert decide(evidence_of(summer(), {**summer(), NVIDIA: ""})).status is Status.NOT_APPLICABLE


def test_a_policy_without_the_rules_is_unverified() -> None:
    policy = {**summer(), ".github/codeowner-signoff-verify-prompt.md": "## Check 6 — Upstream images\nNothing.\n"}
    assert decide(evidence_of(summer(), with_image("rocm/x:1"), policy=policy)).status is Status.UNVERIFIED


def vendor_entry(prefix: str, runner: str, framework: str) -> str:
    entry = AMD_MASTER.replace("dsr1-fp8-mi355x-vllm", f"{prefix}-fp8-{runner}-{framework}")
    entry = entry.replace("model-prefix: dsr1", f"model-prefix: {prefix}").replace(
        "runner: mi355x", f"runner: {runner}"
    )
    return entry.replace("framework: vllm", f"framework: {framework}").replace("vllm/vllm-openai-rocm", "rocm/atom")


@pytest.mark.parametrize(
    ("prefix", "runner", "framework", "status"),
    [
        ("dsr1", "mi355x", "atom", Status.PASS),
        ("dsr1", "cluster:mi355x-amds", "atom-disagg", Status.PASS),
        ("qwen3.5", "mi355x", "atom", Status.FAIL),
        ("dsr1", "b200", "trt", Status.FAIL),
        ("dsr1", "b200", "tilert", Status.FAIL),
        ("dsr1", "b200", "llmd-vllm", Status.JUDGEMENT),
        ("dsr1", "vr200", "trt", Status.JUDGEMENT),
    ],
)
def test_a_new_vendor_entry_needs_an_open_source_one_first(
    prefix: str, runner: str, framework: str, status: Status
) -> None:
    head = {**summer(), AMD: AMD_MASTER + vendor_entry(prefix, runner, framework)}
    findings = decide(evidence_of(summer(), head)).findings
    order = [finding for finding in findings if finding.expected and "open-source" in finding.expected]
    assert [finding.status for finding in order] == [status]


def test_an_open_source_entry_of_the_same_pull_request_is_judged() -> None:
    both = AMD_MASTER + vendor_entry("qwen3.5", "mi355x", "atom")
    beside = AMD_MASTER.replace("dsr1", "qwen3.5")
    findings = decide(evidence_of(summer(), {**summer(), AMD: both + beside})).findings
    assert any(f.status is Status.JUDGEMENT and "only added by this pull request" in f.message for f in findings)


@pytest.mark.parametrize("name", ["dsr1-fp8-mi355x-vllm:", "dsr1-fp8-mi355x-atom:"])
def test_an_entry_that_becomes_a_vendor_s_is_new_and_no_open_source_one_is_left(name: str) -> None:
    atom = AMD_MASTER.replace("framework: vllm", "framework: atom").replace("dsr1-fp8-mi355x-vllm:", name)
    outcome = decide(evidence_of(summer(), {**summer(), AMD: atom}))
    assert outcome.status is Status.FAIL, outcome.summary


def test_a_vendor_entry_beside_one_that_changes_its_engine_passes() -> None:
    sglang = AMD_MASTER.replace("framework: vllm", "framework: sglang").replace(
        "vllm/vllm-openai-rocm", "lmsysorg/sglang"
    )
    outcome = decide(evidence_of(summer(), {**summer(), AMD: sglang + vendor_entry("dsr1", "mi355x", "atom")}))
    assert outcome.status is Status.PASS, outcome.summary


def test_a_vendor_entry_in_whose_favour_the_open_source_one_is_removed_fails() -> None:
    outcome = decide(evidence_of(summer(), {**summer(), AMD: vendor_entry("dsr1", "mi355x", "atom")}))
    assert outcome.status is Status.FAIL, outcome.summary
