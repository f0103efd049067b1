"""The description check, and what counts as a claim."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.checks.claims import MOST_CLAIMS, claims_of
from reviewer_tui.checks.description import decide
from reviewer_tui.model.finding import Status
from reviewer_tui.model.part import partial, unavailable
from reviewer_tui.model.pull_request import PullRequestInfo, PullRequestRef
from tests.checks.swept import EARLIER, GONE, HEAD, IMAGE, RUN, after, run, swept
from tests.evidence import NVIDIA_MASTER, summer

REF = PullRequestRef("SemiAnalysisAI/InferenceX", 2550)
RUNS = "https://github.com/SemiAnalysisAI/InferenceX/actions/runs"


def claimed(body: str) -> list[tuple[str, str, str]]:
    return [(claim.kind, claim.subject, claim.value) for claim in claims_of(body, REF)]


@pytest.mark.parametrize(
    ("body", "claims"),
    [
        ("tp 2, ep=2 and `TP: 4`", [("parameter", "tp", "2"), ("parameter", "ep", "2"), ("parameter", "tp", "4")]),
        ("Adds TP2/EP2.", [("parameter", "tp", "2"), ("parameter", "ep", "2")]),
        ("conc-list: [16, 32, 64]", [("concurrency", "", value) for value in ("16", "32", "64")]),
        ("concurrency 4-64", [("concurrency", "", "4"), ("concurrency", "", "64")]),
        ("concurrency 16, 32 and 64, 3 points", [("concurrency", "", value) for value in ("16", "32", "64")]),
        (f"image `{IMAGE}`.", [("image", "", IMAGE)]),
        (f"Bumps to {IMAGE}.", [("image", "", IMAGE)]),
        (f"{RUNS}/123/job/4", [("run", "", "123")]),
        ("https://inferencex.com/inference?unofficialRun=123", [("run", "", "123")]),
        ("https://github.com/sgl-project/sglang/actions/runs/123", []),
        ("https://github.com/SemiAnalysisAI/InferenceX/pull/2550/commits/abcdef1", [("commit", "", "abcdef1")]),
        ("https://github.com/SemiAnalysisAI/InferenceX/pull/2551/commits/abcdef1", []),
        ("head commit `ABCDEF1`", [("commit", "", "abcdef1")]),
        ("GSM8K strict 0.968", [("score", "gsm8k", "0.968")]),
        ("gsm8k: 96.8 %", [("score", "gsm8k", "96.8 %")]),
        ("GSM8K bar 0.94, gsm8k >= 0.94, GSM8K was 0.91, gsm8k +0.01", []),
        ("adds three new points", [("points", "", "three")]),
        ("Added 3 points.", [("points", "", "3")]),
        ("step 2, +2 pp, http2, tp 2.5, --tp-size 2, mtp 3, x/tp/3, tp2x", []),
        ("```\ntp 9\n```\n> ep 9\n<!-- tp 9\nep 9 -->", []),
        ("see configs/nvidia-master.yaml:1252", [("image", "", "configs/nvidia-master.yaml:1252")]),
    ],
)
def test_what_is_a_claim(body: str, claims: list[tuple[str, str, str]]) -> None:
    assert claimed(body) == claims


def decided(body: str, **more: Any) -> Any:
    return decide(swept(run(), body=body, **more))


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("Adds tp 2 ep 2 at concurrency 16, 32 and 64.", Status.PASS),
        ("tp 4 is unchanged.", Status.PASS),
        ("Adds tp 8.", Status.WARN),
        ("Adds EP=4.", Status.WARN),
        ("concurrency 128", Status.WARN),
        ("pp 1", Status.NOT_APPLICABLE),
        (f"Runs on {IMAGE}.", Status.PASS),
        ("Runs on lmsysorg/sglang:v0.5.15-cu130.", Status.WARN),
        ("See configs/nvidia-master.yaml:1252.", Status.NOT_APPLICABLE),
        ("Adds three points.", Status.PASS),
        ("Adds 4 points.", Status.WARN),
        (f"Sweep: {RUNS}/{RUN}", Status.PASS),
        (f"Sweep: {RUNS}/{RUN + 1}", Status.WARN),
        (f"head commit {HEAD}", Status.PASS),
        (f"head: {EARLIER[:9]}", Status.PASS),
        (f"head: {GONE[:9]}", Status.WARN),
        ("GSM8K 0.968", Status.PASS),
        ("GSM8K 0.97", Status.PASS),
        ("gsm8k 96.8%", Status.PASS),
        ("GSM8K 0.951", Status.WARN),
        ("A fine change.", Status.NOT_APPLICABLE),
        ("", Status.NOT_APPLICABLE),
    ],
)
def test_claims_against_the_facts(body: str, status: Status) -> None:
    assert decided(body).status is status


def test_a_contradiction_names_the_line_and_what_is_there() -> None:
    (finding,) = decided("Words.\n\nAdds tp 8.").findings
    assert finding.message == "Line 3 of the description: tp 8 is in no submitted key (there: 1, 2, 4)."
    assert (finding.line, finding.actual) == (3, "8")


def test_values_of_the_state_before_count_too() -> None:
    head = after(NVIDIA_MASTER.replace("v0.5.14", "v0.5.15"))
    assert decided(f"Bumps {IMAGE} to lmsysorg/sglang:v0.5.15-cu130.", head=head).status is Status.PASS


def test_what_is_not_known_is_unverified_and_what_does_not_concern_it_no_claim() -> None:
    assert decide(swept(info=unavailable("A clone holds no description."))).status is Status.UNVERIFIED
    half = partial(PullRequestInfo(title="", author="", state="open"), "The description is not part of it.")
    assert decide(swept(info=half)).status is Status.UNVERIFIED
    assert decided("GSM8K 0.968", evals=unavailable("Not read.")).status is Status.UNVERIFIED
    assert decided(f"{RUNS}/5", runs=partial((), "Not all.")).status is Status.UNVERIFIED
    assert decided(f"{RUNS}/{RUN}", commits=unavailable("Not read.")).status is Status.PASS
    dispatched = run(event="workflow_dispatch", head_sha=GONE)
    assert decide(swept(dispatched, body=f"{RUNS}/{RUN}")).status is Status.NOT_APPLICABLE
    assert decided("Adds tp 8.", head={**summer(), "README.md": "x"}).status is Status.NOT_APPLICABLE


_PIECES = [
    "tp",
    "ep",
    "conc",
    "2",
    "64",
    ",",
    " ",
    "/",
    "gsm8k",
    "0.97",
    "%",
    "head",
    "abcdef1",
    "\n",
    "`",
    "<!--",
    "-->",
]
_PIECES += ["```", ">", "a/b:c", "adds", "points", RUNS, "[", "]", "-", "."]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(_PIECES), max_size=40).map("".join) | st.text(max_size=200))
def test_any_text_is_survived(body: str) -> None:
    claims = claims_of(body, REF)
    assert len(claims) == len({(claim.kind, claim.subject, claim.value) for claim in claims}) <= MOST_CLAIMS
    assert all(1 <= claim.line <= body.count("\n") + 1 for claim in claims)
    assert decided(body).status in (Status.PASS, Status.WARN, Status.NOT_APPLICABLE)
