from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.model.finding import Status
from reviewer_tui.recipes import sglang
from reviewer_tui.recipes.arguments import read_arguments
from reviewer_tui.recipes.arm import Engine, Provenance, RecipeArm, Role, RoleName
from reviewer_tui.recipes.compare import (
    ArmComparison,
    Outcome,
    PolicyName,
    Scope,
    compare,
    in_scope,
    policy_of,
    scope_of,
)
from reviewer_tui.recipes.equivalence import equivalences, same_hardware, same_value
from reviewer_tui.recipes.submitted import Variant, grouped
from tests.recipes.upstreams import QWEN_PAGE, UNKNOWN, qwen, upstream, variant

ARMS = {"tp4 ep1": qwen(4, 1), "tp2 ep1": qwen(2, 1), "tp2 ep2": qwen(2, 2)}


def worked_example(revision: str, name: str) -> ArmComparison:
    reading = sglang.read_page(upstream(revision), QWEN_PAGE, ["b200"])
    assert not reading.problems
    best = compare([ARMS[name]], reading.arms).variants[0].best
    assert best is not None
    return best


# -- the worked example: sgl-project/sglang#34357 and the arms of InferenceX #2550 ------------------------------------


def test_the_documented_arm_matches_in_everything_major() -> None:
    best = worked_example("after", "tp2 ep2")
    assert best.covers
    outcomes = {a.name: a.outcome for a in best.arguments}
    for name in ("model", "hardware", "tp", "ep", "quantization", "kv_dtype", "attention", "moe"):
        assert outcomes[name] is Outcome.MATCH
    for name in ("spec.steps", "spec.topk", "spec.tokens"):
        assert outcomes[name] is Outcome.MATCH
    method = best.of("spec.method")
    assert method is not None
    assert (method.outcome, method.ours, method.theirs) == (Outcome.EQUIVALENT, "EAGLE", "NEXTN")
    assert method.why == "SGLang folds NEXTN into EAGLE"
    assert "speculative_hook.py" in method.source


def test_the_documented_arm_leaves_these_differences_to_look_at() -> None:
    best = worked_example("after", "tp2 ep2")
    ours_only = {a.our_flag for a in best.arguments if a.outcome is Outcome.MISSING and a.demand == "judge"}
    assert ours_only == {"--mamba-ssm-dtype", "--enable-symm-mem"}
    theirs_only = {a.their_flag for a in best.arguments if a.outcome is Outcome.UPSTREAM_ONLY and a.group != "plumbing"}
    assert theirs_only == {
        "--fp4-gemm-backend",
        "--linear-attn-backend",
        "--linear-attn-decode-backend",
        "--linear-attn-prefill-backend",
        "--mamba-radix-cache-strategy",
    }
    assert best.status is Status.JUDGEMENT
    default = best.of("linear_attention")
    assert default is not None
    assert default.why == "triton is the default"
    removed = best.of("SGLANG_ENABLE_SPEC_V2")
    assert removed is not None
    assert removed.outcome is Outcome.EQUIVALENT, "the engine of this image ignores the variable"


def test_tp4_with_speculation_is_not_documented() -> None:
    best = worked_example("after", "tp4 ep1")
    assert best.status is Status.FAIL
    assert [(a.name, a.outcome) for a in best.blocking] == [("spec.method", Outcome.MISSING)]
    assert best.arm.roles[0].shape == "tp4"


def test_tp2_without_expert_parallelism_is_not_documented() -> None:
    best = worked_example("after", "tp2 ep1")
    assert best.status is Status.FAIL
    assert [(a.name, a.ours, a.theirs) for a in best.blocking] == [("ep", 1, 2)]


@pytest.mark.parametrize("name", list(ARMS))
def test_before_the_merge_no_arm_is_documented(name: str) -> None:
    best = worked_example("before", name)
    assert best.status is Status.FAIL
    assert best.of("model") in best.blocking
    result = compare([ARMS[name]], sglang.read_page(upstream("before"), QWEN_PAGE, ["b200"]).arms).variants[0]
    assert result.notes == (
        "The recipe serves nvidia/Qwen3.5-397B-A17B-NVFP4 instead of nvidia/Qwen3.5-397B-A17B-NVFP4-V2: another "
        "revision of the checkpoint.",
    )


def test_the_whole_names_exactly_what_is_not_documented() -> None:
    reading = sglang.read_page(upstream("after"), QWEN_PAGE, ["b200"])
    whole = compare(list(ARMS.values()), reading.arms)
    assert whole.status is Status.FAIL
    assert whole.summary == "1 of 3 submitted variants are documented in every major argument."
    assert whole.gaps == (
        "qwen3.5-fp4-b200-sglang-mtp tp4 ep1 mtp, worker: speculative method (--speculative-algorithm) = EAGLE is not "
        "in the recipe.",
        "qwen3.5-fp4-b200-sglang-mtp tp2 ep1 mtp, worker: expert parallel (--expert-parallel-size) is 1 here and 2 in "
        "the recipe.",
    )


def test_a_page_that_disagrees_with_itself_is_said() -> None:
    reading = sglang.read_page(upstream("after"), QWEN_PAGE, ["b300"])
    told = compare([], reading.arms).disagreements
    assert len(told) == 1
    assert "NVFP4-V2 on b300 without speculation (widget: tp4 ep1 dp1; command: tp2 ep1 dp1)" in told[0]


# -- single arguments -------------------------------------------------------------------------------------------------


def arm(text: str, engine: Engine = "sglang", role: RoleName = "worker", **fields: Any) -> RecipeArm:
    words = text.split()
    args = read_arguments(engine, words)
    return msgspec.structs.replace(
        RecipeArm(
            repository="r",
            path="p",
            commit="c",
            url="u",
            label="l",
            engine=engine,
            checkpoint="acme/Big",
            hardware="b200",
            roles=(Role(name=role, args=args, env=fields.pop("env", {})),),
            encoding="cells",
        ),
        **fields,
    )


def outcome(
    ours: Mapping[str, Any],
    theirs: str,
    name: str,
    engine: Engine = "sglang",
    policy: PolicyName = "summer",
    **fields: Any,
) -> tuple[Outcome, str]:
    result = compare([variant(ours, engine, **fields)], [arm(theirs, engine)], policy).variants[0].best
    assert result is not None
    found = result.of(name)
    assert found is not None
    return found.outcome, found.demand


@pytest.mark.parametrize(
    ("engine", "ours", "theirs", "name", "expected", "demand"),
    [
        ("sglang", {"--tp": 4}, "--tensor-parallel-size 4", "tp", Outcome.MATCH, "inform"),
        ("sglang", {"--tp": 4}, "--tp 8", "tp", Outcome.CONTRADICTS, "must"),
        ("sglang", {}, "--tp 8", "tp", Outcome.CONTRADICTS, "must"),
        ("sglang", {"--tp": 4}, "", "tp", Outcome.MISSING, "must"),
        ("sglang", {"--tp": 1}, "", "tp", Outcome.EQUIVALENT, "inform"),
        ("sglang", {}, "--ep 1", "ep", Outcome.UPSTREAM_ONLY, "inform"),
        ("sglang", {"--quantization": "fp8"}, "", "quantization", Outcome.EQUIVALENT, "inform"),
        ("sglang", {"--quantization": "fp8"}, "--quantization w8a8", "quantization", Outcome.CONTRADICTS, "must"),
        ("sglang", {"--kv-cache-dtype": "fp8_e4m3"}, "", "kv_dtype", Outcome.MISSING, "must"),
        ("sglang", {"--kv-cache-dtype": "auto"}, "", "kv_dtype", Outcome.EQUIVALENT, "inform"),
        ("sglang", {}, "--kv-cache-dtype fp8_e4m3", "kv_dtype", Outcome.UPSTREAM_ONLY, "judge"),
        ("sglang", {"--attention-backend": "FA3"}, "--attention-backend fa3", "attention", Outcome.MATCH, "inform"),
        (
            "sglang",
            {"--enable-flashinfer-allreduce-fusion": True},
            "--flashinfer-allreduce-fusion-backend auto",
            "allreduce_fusion",
            Outcome.MATCH,
            "inform",
        ),
        ("sglang", {"--tp": 8, "--ep": 8, "--moe-a2a-backend": "deepep"}, "--tp 8 --moe-a2a-backend deepep", "ep",
         Outcome.EQUIVALENT, "inform"),
        ("sglang", {"--tp": 8, "--ep": 4, "--moe-a2a-backend": "deepep"}, "--tp 8 --moe-a2a-backend deepep", "ep",
         Outcome.MISSING, "must"),
        ("sglang", {"--moe-a2a-backend": "none"}, "", "moe_a2a", Outcome.EQUIVALENT, "inform"),
        ("sglang", {"--fp4-gemm-backend": "a"}, "--fp4-gemm-backend b", "fp4_gemm", Outcome.CONTRADICTS, "must"),
        ("sglang", {"--page-size": 64}, "--page-size 16", "page_size", Outcome.CONTRADICTS, "judge"),
        ("sglang", {"--chunked-prefill-size": 1}, "", "chunked_prefill", Outcome.MISSING, "inform"),
        ("sglang", {"--never-heard-of": 1}, "", "--never-heard-of", Outcome.MISSING, "judge"),
        ("sglang", {}, "--speculative-algorithm EAGLE", "spec.method", Outcome.CONTRADICTS, "must"),
        ("vllm", {"--kv-cache-dtype": "fp8"}, "m --kv-cache-dtype fp8_e4m3", "kv_dtype", Outcome.EQUIVALENT, "inform"),
        ("vllm", {"--enable-expert-parallel": True}, "m", "ep_enabled", Outcome.MISSING, "must"),
        ("vllm", {"--speculative-config": '{"method":"deepseek_mtp"}'}, 'm -sc {"method":"mtp"}', "spec.method",
         Outcome.EQUIVALENT, "inform"),
    ],
)  # fmt: skip
def test_one_argument(
    engine: Engine, ours: Mapping[str, Any], theirs: str, name: str, expected: Outcome, demand: str
) -> None:
    assert outcome(ours, theirs, name, engine) == (expected, demand)


def test_defaults_may_depend_on_checkpoint_and_hardware() -> None:
    ours = {"--kv-cache-dtype": "fp8_e4m3"}
    glm = {"checkpoint": "zai-org/GLM-5.2-FP8"}
    for hardware, expected in (("b200", Outcome.EQUIVALENT), ("h200", Outcome.MISSING)):
        page = arm("", checkpoint="zai-org/GLM-5.2-FP8", hardware=hardware)
        best = compare([variant(ours, hardware=hardware, **glm)], [page]).variants[0].best
        assert best is not None
        found = best.of("kv_dtype")
        assert found is not None
        assert found.outcome is expected


def test_a_variable_may_set_an_argument() -> None:
    page = arm("", env={"SGLANG_MAMBA_SSM_DTYPE": "bfloat16"})
    best = compare([variant({"--mamba-ssm-dtype": "bfloat16"})], [page]).variants[0].best
    assert best is not None
    found = best.of("mamba_dtype")
    assert found is not None
    assert found.outcome is Outcome.MATCH
    assert best.of("SGLANG_MAMBA_SSM_DTYPE") is None


def test_variables_are_compared_by_meaning() -> None:
    page = arm("", env={"SGLANG_USE_AITER": "True", "SGLANG_OPT_A": "1", "HOME": "x"})
    ours = variant({}, env={"SGLANG_USE_AITER": "1", "SGLANG_OPT_B": "2"})
    best = compare([ours], [page]).variants[0].best
    assert best is not None
    told = {a.name: (a.outcome, a.demand) for a in best.arguments if a.group == "environment"}
    assert told == {
        "SGLANG_USE_AITER": (Outcome.MATCH, "inform"),
        "SGLANG_OPT_B": (Outcome.MISSING, "judge"),
        "SGLANG_OPT_A": (Outcome.UPSTREAM_ONLY, "inform"),
        "HOME": (Outcome.UPSTREAM_ONLY, "inform"),
    }


def test_what_could_not_be_evaluated_is_not_comparable() -> None:
    result = compare([variant({"--tp": UNKNOWN, "--port": UNKNOWN})], [arm("--tp 8")]).variants[0]
    assert result.status is Status.UNVERIFIED
    assert result.best is not None
    assert [(a.name, a.outcome) for a in result.best.blocking] == [("tp", Outcome.NOT_COMPARABLE)]


def test_an_unknown_variable_matters_only_where_the_variable_does() -> None:
    ours = variant({"--tp": 8}, env={"SGLANG_OPT_X": UNKNOWN, "HSA_NO_SCRATCH_RECLAIM": UNKNOWN})
    best = compare([ours], [arm("--tp 8")]).variants[0].best
    assert best is not None
    assert [a.name for a in best.arguments if a.outcome is Outcome.NOT_COMPARABLE] == ["SGLANG_OPT_X"]
    assert best.status is Status.JUDGEMENT


def test_a_command_in_doubt_neither_passes_nor_fails_for_what_it_may_have() -> None:
    known = variant({"--tp": 8})
    role = msgspec.structs.replace(known.roles[0], doubt="line 9: whether this condition holds is unknown")
    ours = msgspec.structs.replace(known, roles=(role,))
    assert compare([ours], [arm("--tp 8")]).status is Status.UNVERIFIED
    assert compare([ours], [arm("--tp 8 --ep 8")]).status is Status.UNVERIFIED, "we may have --ep"
    assert compare([ours], [arm("--tp 4")]).status is Status.FAIL
    notes = compare([ours], [arm("--tp 8")]).variants[0].notes
    assert notes == (
        "The worker command at benchmarks/single_node/big.sh:12 is not known for certain: line 9: whether this "
        "condition holds is unknown.",
    )


def test_points_that_serve_alike_are_one_variant() -> None:
    alike = [variant({"--tp": 8, "--max-running-requests": n}, points=(n,), label="tp8") for n in (4, 8, 16)]
    other = variant({"--tp": 8, "--page-size": 64}, points=(32,), label="tp8")
    found = grouped([*alike, other])
    assert [v.points for v in found] == [(4, 8, 16), (32,)]
    assert found[0].roles[0].args["max_requests"].value == 4


def test_submitted_arguments_keep_their_spelling_and_line() -> None:
    role = variant({"--cuda-graph-max-bs": 4, "--tp": 2, "--disable-piecewise-cuda-graph": True}).roles[0]
    assert {n: (a.value, a.flag, a.line) for n, a in role.args.items()} == {
        "graph_max_bs": (4, "--cuda-graph-max-bs", 12),
        "tp": (2, "--tp", 12),
        "piecewise_off": (True, "--disable-piecewise-cuda-graph", 12),
    }


def test_hardware_and_checkpoint_of_an_arm() -> None:
    ours = variant({"--tp": 4}, hardware="mi355x", checkpoint="amd/Big-FP4-V2")
    same = arm("--tp 4", hardware="mi350x", checkpoint="amd/Big-FP4-v2")
    best = compare([ours], [same]).variants[0].best
    assert best is not None
    assert best.status is Status.PASS
    assert [(a.name, a.outcome) for a in best.arguments[:2]] == [
        ("hardware", Outcome.EQUIVALENT),
        ("model", Outcome.EQUIVALENT),
    ]
    nowhere = compare([ours], [arm("--tp 4", hardware="", checkpoint="amd/Big-FP4-V2")]).variants[0]
    assert nowhere.status is Status.UNVERIFIED
    elsewhere = compare([ours], [arm("--tp 4", hardware="h200")]).variants[0]
    assert elsewhere.status is Status.FAIL
    assert elsewhere.summary == "The recipe documents no arm for mi355x (documented: h200)."


def test_nothing_to_compare_is_never_a_pass() -> None:
    assert compare([], [arm("")]).status is Status.NOT_APPLICABLE
    alone = compare([variant({})], [])
    assert alone.status is Status.UNVERIFIED
    other = compare([variant({})], [arm("m", "vllm")])
    assert other.status is Status.UNVERIFIED


def test_the_best_arm_comes_first() -> None:
    near, far = arm("--tp 4 --page-size 1", label="near"), arm("--tp 8", label="far")
    exact, prose = arm("--tp 4", label="exact"), arm("--tp 4", label="prose", encoding="command")
    ranked = compare([variant({"--tp": 4})], [far, prose, near, exact]).variants[0].ranked
    assert [r.arm.label for r in ranked] == ["exact", "near", "prose", "far"]
    assert ranked[0].status is Status.PASS


def test_the_worst_argument_comes_first() -> None:
    best = worked_example("before", "tp2 ep2")
    demands = [a.demand for a in best.arguments if a.differs]
    assert demands == sorted(demands, key=["must", "judge", "inform"].index)


# -- roles and policies -----------------------------------------------------------------------------------------------


def test_every_role_must_be_documented() -> None:
    prefill = variant({"--tp": 1}, role="prefill").roles[0]
    decode = variant({"--tp": 8}, role="decode").roles[0]
    both = msgspec.structs.replace(variant({}), roles=(prefill, decode), nodes=1)
    page = arm("--tp 1", role="prefill")
    half = compare([both], [page], "autumn").variants[0]
    assert half.status is Status.FAIL
    assert half.best is not None
    assert half.best.missing_roles == ("decode",)
    assert compare([both], [page], "autumn").gaps == ("big-fp4, decode: the recipe does not document this role.",)
    whole = msgspec.structs.replace(page, roles=(*page.roles, *arm("--tp 4", role="decode").roles))
    gaps = compare([both], [whole], "autumn").gaps
    assert gaps == ("big-fp4, decode: tensor parallel (--tp) is 8 here and 4 in the recipe.",)


def test_the_policies_of_summer_and_autumn_differ_in_production_settings() -> None:
    ours = {"--chunked-prefill-size": 1, "--max-running-requests": 4}
    assert outcome(ours, "", "chunked_prefill", policy="summer")[1] == "inform"
    assert outcome(ours, "", "chunked_prefill", policy="autumn")[1] == "judge"
    assert outcome(ours, "", "max_requests", policy="autumn")[1] == "inform"


@pytest.mark.parametrize(
    ("prompt", "scope"),
    [
        ("## Check 3 — Recipe linked, MERGED, AND complete (SINGLE-NODE recipes only)", "single_node"),
        ("the recipe-link requirement applies to\nsingle-node recipes only", "single_node"),
        ("Every production serving configuration, single- and multi-node, per role", "all"),
        ("", "all"),
    ],
)
def test_scope_and_demands_are_what_the_prompt_says(prompt: str, scope: Scope) -> None:
    assert scope_of(prompt) == scope
    assert policy_of(prompt) == ("autumn" if "production" in prompt else "summer")
    assert in_scope(True, scope) is (scope == "all")
    assert in_scope(False, scope)


def test_the_scope_of_every_known_prompt(real_data: Path) -> None:
    prompts = sorted((real_data / "inferencex" / "verifier").glob("*.md"))
    assert prompts
    assert {(scope_of(p.read_text()), policy_of(p.read_text())) for p in prompts} == {("single_node", "summer")}


def test_one_node_is_not_documented_by_two() -> None:
    result = compare([variant({"--tp": 8})], [arm("--tp 8", nodes=2)]).variants[0]
    assert result.status is Status.FAIL
    assert result.best is not None
    assert [a.name for a in result.best.blocking] == ["nodes"]


# -- provenance -------------------------------------------------------------------------------------------------------


def test_circular_evidence_is_never_a_plain_pass() -> None:
    told = Provenance(repository="o/InferenceX", commit="abcdef0123", status="verified", pull_request=7)
    page = arm("--tp 4", provenance=told, encoding="agentx")
    ours = [variant({"--tp": 4})]
    generated = compare(ours, [page]).variants[0]
    assert generated.status is Status.JUDGEMENT
    assert generated.best is not None
    assert generated.best.covers
    assert "generated from o/InferenceX itself (abcdef012)" in generated.summary
    own = compare(ours, [page], pull_request=7).variants[0]
    assert "this very pull request (#7)" in own.summary
    pending = arm("--tp 4", provenance=msgspec.structs.replace(told, status="in-progress"), encoding="agentx")
    assert "not merged (in-progress)" in compare(ours, [pending]).variants[0].summary
    independent = compare(ours, [page, arm("--tp 4")]).variants[0]
    assert independent.status is Status.PASS


# -- the table --------------------------------------------------------------------------------------------------------


def test_equivalences_have_a_source_and_a_known_concept() -> None:
    from reviewer_tui.recipes.arguments import table

    names = {concept.name for concept in table().concepts}
    found = equivalences()
    rows = [*found.values, *found.absent, *found.environment, *found.hardware, *found.implied, *found.inert]
    assert all(row.why and row.source for row in rows)
    assert {row.concept for row in (*found.values, *found.absent, *found.environment, *found.implied)} <= names
    assert {row.when for row in found.implied} | {row.equals for row in found.implied} <= names


def test_sameness() -> None:
    assert same_value(0.8, 0.80)
    assert not same_value(True, 1)
    assert not same_value("8", 8)
    assert same_value(("a", 1), ("a", 1))
    assert same_hardware("b200", "b200") == ""
    assert same_hardware("b200", "b300") is None


# -- properties -------------------------------------------------------------------------------------------------------

some_args = st.dictionaries(
    st.sampled_from(["--tp", "--ep", "--dp", "--attention-backend", "--kv-cache-dtype", "--page-size", "--quantization",
                     "--speculative-algorithm", "--moe-a2a-backend", "--unknown", "--enable-dp-attention"]),
    st.sampled_from([1, 2, 8, "fa3", "deepep", "EAGLE", "fp8_e4m3", True]),
    max_size=6,
)  # fmt: skip


def as_arm(ours: Variant) -> RecipeArm:
    return arm(
        "", roles=tuple(role.as_role() for role in ours.roles), checkpoint=ours.checkpoint, hardware=ours.hardware
    )


@settings(max_examples=100, deadline=None)
@given(some_args)
def test_a_command_documented_as_it_is_passes(args: dict[str, Any]) -> None:
    ours = variant(args)
    whole = compare([ours], [as_arm(ours)])
    assert whole.status is Status.PASS
    assert not whole.gaps


@settings(max_examples=150, deadline=None)
@given(some_args, some_args)
def test_a_pass_means_that_nothing_major_differs(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    result = compare([variant(ours)], [as_arm(variant(theirs))]).variants[0]
    assert result.best is not None
    differing = [a for a in result.best.arguments if a.differs and a.cls == "major" and not a.why]
    if result.status is Status.PASS:
        assert not differing
    if result.best.blocking:
        assert result.status in (Status.FAIL, Status.UNVERIFIED)
