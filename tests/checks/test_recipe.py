"""The recipe check: what needs a recipe, which links count, and how the arms stand to the linked pages."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.checks import recipe, recipe_examination
from reviewer_tui.checks.check import Evidence, Outcome
from reviewer_tui.checks.recipe_comparison import standing_of
from reviewer_tui.model.errors import DataError
from reviewer_tui.model.finding import Finding, Status
from reviewer_tui.model.part import partial
from reviewer_tui.model.tree import DictTree
from reviewer_tui.recipes.compare import compare
from reviewer_tui.recipes.links import judge
from reviewer_tui.recipes.sglang import read_fenced
from tests.checks.documented import (
    AUTUMN_CHECK,
    BIG_LINK,
    BIG_VLLM_LINK,
    JUNE_CHECK,
    KEY,
    MERGE,
    QWEN_ARGUMENTS,
    QWEN_LINK,
    SGLANG,
    TEP2,
    TP2,
    TP4,
    VLLM,
    at_hand,
    cells_alone,
    documented,
    entry,
    files,
    link,
    pull,
    script_path,
    serve,
    sign_off,
    spread,
    worked_example,
)
from tests.recipes.upstreams import QWEN_PAGE, QWEN_WIDGET, upstream, variant

PASS, FAIL, JUDGEMENT = Status.PASS, Status.FAIL, Status.JUDGEMENT
UNVERIFIED, NOT_APPLICABLE = Status.UNVERIFIED, Status.NOT_APPLICABLE


def decide(evidence: Evidence) -> Outcome:
    return recipe.decide(evidence)


def told(decided: Outcome, status: Status) -> list[str]:
    return [finding.message for finding in decided.findings if finding.status is status]


def only(decided: Outcome, status: Status) -> Finding:
    (finding,) = (finding for finding in decided.findings if finding.status is status)
    return finding


# -- what needs a recipe ----------------------------------------------------------------------------------------------


def test_several_nodes_need_none_in_the_policys_own_words() -> None:
    decided = decide(documented(files(""), files(spread("a-disagg"))))
    assert decided.status is NOT_APPLICABLE
    assert decided.summary == "a-disagg: several nodes are not asked for a recipe."


def test_of_a_mixed_pull_request_the_single_node_is_judged() -> None:
    base, head = files(entry(KEY, TP4)), files(entry(KEY, TP4, TP2) + spread("a-disagg"))
    decided = decide(documented(base, head, text=sign_off()))
    assert decided.status is FAIL
    assert "a-disagg" not in told(decided, FAIL)[0]
    assert "a-disagg" in told(decided, NOT_APPLICABLE)[0]


@pytest.mark.parametrize(
    ("framework", "check", "status"),
    [
        ("atom", JUNE_CHECK, JUDGEMENT),
        ("trt", JUNE_CHECK, JUDGEMENT),
        ("atom", "", JUDGEMENT),
        ("atom", AUTUMN_CHECK, NOT_APPLICABLE),
    ],
)
def test_vendor_frameworks_have_no_recipe_site(framework: str, check: str, status: Status) -> None:
    added = entry("big-fp8-b200-vendor", TP4, framework=framework, prefix="big")
    evidence = documented(files(""), files(added), check=check or "", text=sign_off(link()))
    assert decide(evidence).status is status


def test_before_july_every_node_needs_one_and_in_autumn_again() -> None:
    for check in (JUNE_CHECK, AUTUMN_CHECK):
        decided = decide(documented(files(""), files(spread("a-disagg")), check=check, text=sign_off()))
        assert decided.status is FAIL


def test_the_checklist_tells_the_scope_where_the_verifier_cannot_be_read() -> None:
    decided = decide(documented(files(""), files(spread("a-disagg")), check="", text=sign_off()))
    assert decided.status is NOT_APPLICABLE


def test_nothing_is_asked_where_nothing_is_served() -> None:
    same = files(entry(KEY, TP4))
    assert decide(documented(same, {**same, "README.md": "words\n"})).status is NOT_APPLICABLE
    assert decide(documented(same, files(""), text=sign_off())).status is NOT_APPLICABLE  # a removed key


def test_a_changed_script_that_no_key_runs_is_for_a_person() -> None:
    same = files(entry(KEY, TP4))
    decided = decide(documented(same, {**same, script_path("lost_fp4_b200"): "echo\n"}))
    assert decided.status is JUDGEMENT
    assert "lost_fp4_b200_mtp.sh" in decided.summary


# -- which links count ------------------------------------------------------------------------------------------------


def test_without_a_sign_off_nothing_is_linked_yet() -> None:
    decided = decide(worked_example(upstream_trees=at_hand()))
    assert decided.status is UNVERIFIED
    assert "Whether there is a sign-off is not known" in decided.summary
    assert told(decided, NOT_APPLICABLE) == [f"{QWEN_LINK} documents 1 of 1 submitted arms."]


def test_no_link_fails_and_an_open_box_is_said() -> None:
    assert decide(worked_example(text=sign_off())).status is FAIL
    finding = only(decide(worked_example(text=sign_off("see the logs", ticked=False))), FAIL)
    assert finding.message.endswith("for qwen3.5-fp4-b200-sglang-mtp, and the box is left open.")
    assert finding.line == 3


def test_the_templates_own_links_are_none() -> None:
    decided = decide(worked_example(text=sign_off(), pulls=[pull(1)], upstream_trees=at_hand()))
    assert decided.status is FAIL


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://recipes.vllm.ai/browse", "title page"),
        ("https://docs.sglang.io/cookbook/autoregressive/intro", "introduction"),
        ("https://github.com/vllm-project/vllm/pull/7", "an engine repository"),
        ("https://github.com/SemiAnalysisAI/InferenceX/pull/1900", "documents nothing upstream"),
        (f"https://github.com/sgl-project/sglang/blob/main/{QWEN_PAGE}", QWEN_LINK),
        ("https://github.com/sgl-project/sglang/tree/my-branch", "branch"),
        ("https://github.com/sgl-project/sglang/commit/abcdef", "commit"),
        ("https://docs.vllm.ai/projects/recipes/en/latest/acme/Big.html", "https://recipes.vllm.ai/acme/Big"),
        ("https://cookbook.sglang.io/autoregressive/Qwen/Qwen3.5", QWEN_LINK),
    ],
)
def test_what_is_no_recipe_link_fails_and_says_why(url: str, words: str) -> None:
    decided = decide(worked_example(text=sign_off(f"Recipe: {url}"), upstream_trees=at_hand()))
    assert decided.status is FAIL
    assert len(told(decided, FAIL)) == 2
    assert words in told(decided, FAIL)[1]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"state": "open", "merged_at": None}, "still open"),
        ({"state": "draft", "merged_at": None}, "still a draft"),
        ({"state": "closed", "merged_at": None}, "closed without being merged"),
        ({"base_ref": "release"}, "not into main"),
        ({"files": ("python/sglang/srt/server_args.py",)}, "not a recipe pull request"),
    ],
)
def test_a_pull_request_that_is_no_merged_recipe_fails(fields: dict[str, Any], words: str) -> None:
    decided = decide(worked_example(text=sign_off(link()), pulls=[pull(**fields)], upstream_trees=at_hand()))
    assert decided.status is FAIL
    assert words in only(decided, FAIL).message
    assert only(decided, FAIL).url == link()


def test_an_unknown_state_is_unverified_and_says_how_to_learn_it() -> None:
    decided = decide(worked_example(text=sign_off(link()), upstream_trees=at_hand()))
    assert decided.status is UNVERIFIED
    assert "The test knows nothing of it." in decided.summary
    evidence = worked_example(text=sign_off(link()), upstream_trees=at_hand())
    told_part = partial((), "It is newer than the clone.", "Fetch.")
    snapshot = msgspec.structs.replace(evidence.snapshot, upstream=told_part)
    assert "Fetch." in decide(msgspec.structs.replace(evidence, snapshot=snapshot)).summary


def test_a_page_without_its_repository_names_the_option() -> None:
    decided = decide(worked_example(text=sign_off(QWEN_LINK)))
    assert decided.status is UNVERIFIED
    assert "--sglang-clone DIR" in decided.summary


def test_a_page_that_is_not_there_fails_and_offers_where_it_went() -> None:
    moved = QWEN_LINK.replace("Qwen/Qwen3.5", "Alibaba/Qwen3.5")
    decided = decide(worked_example(text=sign_off(moved), upstream_trees=at_hand()))
    assert decided.status is FAIL
    assert f"Link {QWEN_LINK} instead." in only(decided, FAIL).message


def test_a_link_beside_the_item_is_not_where_the_check_looks() -> None:
    evidence = worked_example(text=sign_off(beside=link()), pulls=[pull()], upstream_trees=at_hand())
    decided = decide(evidence)
    assert decided.status is JUDGEMENT
    assert "beside item 2a" in only(decided, JUDGEMENT).message


def test_an_open_pull_request_beside_a_merged_one_is_weighed() -> None:
    text = sign_off(link(), link(34358), "https://docs.sglang.io/cookbook/intro")
    opened = pull(34358, state="open", merged_at=None)
    decided = decide(worked_example(text=text, pulls=[pull(), opened], upstream_trees=at_hand()))
    assert decided.status is JUDGEMENT
    assert "34358 is still open" in only(decided, JUDGEMENT).message


def test_the_other_engines_recipe_is_none() -> None:
    trees = {**at_hand(), **at_hand("vllm", VLLM)}
    decided = decide(worked_example(text=sign_off(BIG_VLLM_LINK), upstream_trees=trees))
    assert decided.status is FAIL
    assert only(decided, FAIL).message == f"No recipe of {SGLANG} is linked, and {KEY} runs SGLang."


# -- how arms stand to pages ------------------------------------------------------------------------------------------


def test_the_worked_example_passes_on_the_arm_that_it_adds() -> None:
    decided = decide(worked_example(text=sign_off(link()), pulls=[pull()], upstream_trees=at_hand()))
    assert decided.status is PASS
    assert decided.summary == f"{link()}: the submitted arm is documented"
    added = [finding for finding in decided.findings if finding.status is PASS][1]
    assert "8k1k tp2 ep2 mtp c16 c32 c64" in added.message
    assert "NCCL symmetric memory" in added.message
    assert (added.path, added.line, added.url) == (script_path(), 2, QWEN_LINK)
    before = told(decided, NOT_APPLICABLE)
    assert [message.partition(":")[0] for message in before] == [
        f"{KEY} (8k1k tp4 mtp c4)",
        f"{KEY} (8k1k tp2 mtp c4 c8 c16 c32 c64)",
    ]
    assert all("not judged" in message and "not documented" in message for message in before)


def test_before_the_upstream_change_the_arm_is_not_documented() -> None:
    decided = decide(worked_example(text=sign_off(QWEN_LINK), upstream_trees=at_hand("before")))
    assert decided.status is FAIL
    assert any("checkpoint" in message and "NVFP4-V2" in message for message in told(decided, FAIL))


def test_pages_are_read_as_merged_and_as_published() -> None:
    trees = {SGLANG: upstream("before"), f"{SGLANG}@{MERGE}": upstream("after")}
    assert decide(worked_example(text=sign_off(link()), pulls=[pull()], upstream_trees=trees)).status is PASS
    trees = {SGLANG: upstream("after"), f"{SGLANG}@{MERGE}": upstream("before")}
    assert decide(worked_example(text=sign_off(link()), pulls=[pull()], upstream_trees=trees)).status is PASS


def test_a_snippet_without_its_page_belongs_to_the_models_page() -> None:
    told_pull = pull(files=(QWEN_WIDGET,))
    assert decide(worked_example(text=sign_off(link()), pulls=[told_pull], upstream_trees=at_hand())).status is PASS


def test_files_that_are_not_at_hand_are_not_compared() -> None:
    decided = decide(worked_example(text=sign_off(link()), pulls=[pull()]))
    assert decided.status is UNVERIFIED
    assert "--sglang-clone DIR" in decided.summary
    assert "reviewer-tui fetch" in decided.summary


def test_what_seems_missing_may_stand_in_what_is_not_at_hand() -> None:
    trees = {SGLANG: upstream("before")}
    decided = decide(worked_example(text=sign_off(link()), pulls=[pull()], upstream_trees=trees))
    assert decided.status is UNVERIFIED
    assert any("as merged are not at hand" in message for message in told(decided, UNVERIFIED))


def test_a_page_that_cannot_be_read_verifies_nothing() -> None:
    broken = DictTree({QWEN_PAGE: upstream("after").read(QWEN_PAGE) or b"", QWEN_WIDGET: b"export const = ;"}, "broken")
    decided = decide(worked_example(text=sign_off(QWEN_LINK), upstream_trees={SGLANG: broken}))
    assert decided.status is UNVERIFIED
    assert any(QWEN_WIDGET in message for message in told(decided, UNVERIFIED))


class Absent(DictTree):
    """A tree whose files are known by name and not at hand."""

    def read(self, path: str) -> bytes | None:
        raise DataError(f"{path} is not at hand.", "Fetch it.")


def test_files_that_are_listed_and_not_at_hand_are_said() -> None:
    trees = {SGLANG: Absent({QWEN_PAGE: "", QWEN_WIDGET: ""})}
    decided = decide(worked_example(text=sign_off(QWEN_LINK), upstream_trees=trees))
    assert decided.status is UNVERIFIED
    assert any("is not at hand. Fetch it." in message for message in told(decided, UNVERIFIED))
    assert decide(worked_example(text=sign_off(), upstream_trees=trees)).status is FAIL
    assert decide(worked_example(upstream_trees=trees)).status is UNVERIFIED


@pytest.mark.parametrize(
    ("old", "new", "status", "words"),
    [
        ("--kv-cache-dtype fp8_e4m3", "--kv-cache-dtype fp4_e2m1", FAIL, "KV cache data type"),
        ("--speculative-algorithm EAGLE", "--speculative-algorithm NGRAM", FAIL, "speculative method"),
        ("--attention-backend trtllm_mha", "--attention-backend fa3", JUDGEMENT, "attention backend"),
        ("--attention-backend trtllm_mha", "--attention-backend trtllm_mha --enable-dp-lm-head", FAIL, "LM head"),
        ("--speculative-num-steps 3", "--speculative-num-steps 5", JUDGEMENT, "speculative steps"),
        ("--enable-symm-mem", "--enable-two-batch-overlap", PASS, "two-batch overlap"),
        ('"$CONC"', '"$((CONC * 2))"', PASS, "documented by"),
    ],
)
def test_arguments_that_differ(old: str, new: str, status: Status, words: str) -> None:
    script = serve(QWEN_ARGUMENTS.replace(old, new))
    base = files(entry(KEY, TP4), {script_path(): script})
    head = files(entry(KEY, TP4, TEP2), {script_path(): script})
    decided = decide(documented(base, head, text=sign_off(QWEN_LINK), upstream_trees=at_hand()))
    assert decided.status is status
    assert any(words in message for message in told(decided, status))


def test_what_a_script_leaves_open_is_unverified() -> None:
    script = serve(QWEN_ARGUMENTS.replace("--kv-cache-dtype fp8_e4m3", '--kv-cache-dtype "$(choose)"'))
    base, head = (files(entry(KEY, *rows), {script_path(): script}) for rows in ([TP4], [TP4, TEP2]))
    decided = decide(documented(base, head, text=sign_off(QWEN_LINK), upstream_trees=at_hand()))
    assert decided.status is UNVERIFIED
    assert any("KV cache data type" in message for message in told(decided, UNVERIFIED))


def test_an_arm_whose_script_is_not_there_is_unverified() -> None:
    head = files(entry(KEY, TP4, TEP2))
    base = files(entry(KEY, TP4))
    del base[script_path()], head[script_path()]
    decided = decide(documented(base, head, text=sign_off(QWEN_LINK), upstream_trees=at_hand()))
    assert decided.status is UNVERIFIED
    assert any("its serve command is not known" in message for message in told(decided, UNVERIFIED))


BIG_SCRIPT = script_path("big_fp4_b200", "")


def big(*rows: str, arguments: str = "--moe-runner-backend flashinfer_mxfp4") -> dict[str, bytes | str]:
    """A key that the cookbook documents in cells."""
    return files(
        entry("big-fp4-b200-sglang", *rows, model="acme/Big", prefix="big"), {BIG_SCRIPT: serve(f"    {arguments}")}
    )


@pytest.mark.parametrize(
    ("row", "arguments", "status"),
    [
        ("{ tp: 4, conc-list: [4] }", "--moe-runner-backend flashinfer_mxfp4", PASS),
        ("{ tp: 2, conc-list: [4] }", "--moe-runner-backend flashinfer_mxfp4", FAIL),
        ("{ tp: 4, conc-list: [4] }", "--moe-runner-backend triton", FAIL),
        ("{ tp: 4, conc-list: [4] }", "--moe-runner-backend flashinfer_mxfp4 --attention-backend fa3", JUDGEMENT),
    ],
)
def test_a_page_of_single_commands_is_taken_by_its_letter(row: str, arguments: str, status: Status) -> None:
    evidence = documented(
        files(""),
        big(row, arguments=arguments),
        text=sign_off(BIG_LINK),
        upstream_trees={SGLANG: cells_alone()},
    )
    assert decide(evidence).status is status


def test_widths_of_pages_that_build_their_commands_are_weighed() -> None:
    fp8 = entry("qwen3.5-fp8-b200-sglang", "{ tp: 8, conc-list: [4] }", model="Qwen/Qwen3.5-397B-A17B-FP8")
    script = {script_path("qwen3.5_fp4_b200", ""): serve("    --attention-backend trtllm_mha")}
    evidence = documented(files(""), files(fp8, script), text=sign_off(QWEN_LINK), upstream_trees=at_hand())
    decided = decide(evidence)
    assert decided.status is JUDGEMENT
    finding = only(decided, JUDGEMENT)
    assert (finding.actual, finding.expected) == ("8", "4")


def test_hardware_that_the_page_does_not_have_fails() -> None:
    other = entry("big-fp4-h200-sglang", "{ tp: 4, conc-list: [4] }", model="acme/Big", prefix="big", runner="h200")
    head = files(other, {script_path("big_fp4_h200", ""): serve("")})
    evidence = documented(files(""), head, text=sign_off(BIG_LINK), upstream_trees={SGLANG: cells_alone()})
    decided = decide(evidence)
    assert decided.status is FAIL
    assert "no arm for h200" in only(decided, FAIL).message


@pytest.mark.parametrize("number", [3840, 2550])
def test_a_page_made_from_submissions_is_no_evidence_of_its_own(number: int) -> None:
    own = entry(
        "big-fp8-gb300-sglang-agentic", "{ tp: 4, conc-list: [4] }", model="acme/Big-FP8", prefix="big", runner="gb300"
    )
    head = files(
        own.replace("precision: fp4", "precision: fp8"),
        {script_path("big_fp8_gb300", ""): serve("    --speculative-algorithm NEXTN")},
    )
    trees = {SGLANG: upstream("cells")}
    decided = decide(documented(files(""), head, text=sign_off(BIG_LINK), upstream_trees=trees, number=number))
    assert decided.status is JUDGEMENT
    said = "this very pull request" if number == 3840 else "not merged"
    assert any(said in message for message in told(decided, JUDGEMENT))


# -- which arms are submitted -----------------------------------------------------------------------------------------


def test_a_new_image_submits_every_arm_and_still_needs_a_link() -> None:
    base = files(entry(KEY, TP4, TEP2))
    head = files(entry(KEY, TP4, TEP2, image="lmsysorg/sglang:v0.5.17"))
    assert decide(documented(base, head, text=sign_off())).status is FAIL
    decided = decide(documented(base, head, text=sign_off(QWEN_LINK), upstream_trees=at_hand()))
    assert decided.status is FAIL  # tensor parallelism of four is documented without drafts only
    assert any("8k1k tp4 mtp c4" in message for message in told(decided, FAIL))


def test_a_changed_script_submits_what_it_serves_differently() -> None:
    guarded = serve().replace(
        "python3", 'EXTRA=()\nif [ "$EP_SIZE" -gt 1 ]; then EXTRA+=(--disable-radix-cache); fi\npython3', 1
    )
    base = files(entry(KEY, TP4, TEP2))
    head = files(entry(KEY, TP4, TEP2), {script_path(): guarded.rstrip() + ' "${EXTRA[@]}"\n'})
    decided = decide(documented(base, head, text=sign_off(QWEN_LINK), upstream_trees=at_hand()))
    assert decided.status is PASS
    assert "8k1k tp2 ep2 mtp" in told(decided, PASS)[1]
    assert "8k1k tp4 mtp" in told(decided, NOT_APPLICABLE)[0]


def test_arms_that_only_stay_are_for_a_person() -> None:
    base, head = files(entry(KEY, TP4, TEP2)), files(entry(KEY, TEP2))
    decided = decide(documented(base, head, text=sign_off(QWEN_LINK), upstream_trees=at_hand()))
    assert decided.status is JUDGEMENT
    assert "no arm is added or served differently" in decided.summary


def test_a_key_without_any_arm_verifies_nothing() -> None:
    head = files(entry(KEY, "{ tp: x }"))
    decided = decide(documented(files(""), head, text=sign_off(QWEN_LINK), upstream_trees=at_hand()))
    assert decided.status is UNVERIFIED


def test_a_script_that_serves_the_same_submits_all_of_its_arms() -> None:
    base, head = files(entry(KEY, TEP2)), files(entry(KEY, TEP2), {script_path(): serve() + "# a word\n"})
    decided = decide(documented(base, head, text=sign_off(QWEN_LINK), upstream_trees=at_hand()))
    assert (decided.status, len(told(decided, PASS))) == (PASS, 2)


def test_thresholds_of_the_concurrency_are_found() -> None:
    script = serve().rstrip() + ' "${EXTRA[@]}"\n'
    script = script.replace(
        "python3", 'EXTRA=()\nif [ "$CONC" -ge 32 ]; then EXTRA=(--kv-cache-dtype auto); fi\npython3', 1
    )
    base, head = (files(entry(KEY, *rows), {script_path(): script}) for rows in ([TP4], [TP4, TEP2]))
    decided = decide(documented(base, head, text=sign_off(QWEN_LINK), upstream_trees=at_hand()))
    assert decided.status is FAIL
    assert "c32 c64" in only(decided, FAIL).message
    assert "c16" in told(decided, PASS)[1]


def test_a_concurrency_that_a_script_asks_for_is_found_between_others() -> None:
    script = serve().rstrip() + ' "${EXTRA[@]}"\n'
    script = script.replace(
        "python3", 'EXTRA=()\nif [ "$CONC" -eq 32 ]; then EXTRA=(--kv-cache-dtype auto); fi\npython3', 1
    )
    base, head = (files(entry(KEY, *rows), {script_path(): script}) for rows in ([TP4], [TP4, TEP2]))
    decided = decide(documented(base, head, text=sign_off(QWEN_LINK), upstream_trees=at_hand()))
    assert "(8k1k tp2 ep2 mtp c32)" in only(decided, FAIL).message


def test_too_many_keys_are_not_all_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe_examination, "MOST_KEYS", 1)
    head = files(entry(KEY, TEP2) + entry(f"{KEY}-2", TEP2))
    decided = decide(documented(files(""), head, text=sign_off(QWEN_LINK), upstream_trees=at_hand()))
    assert decided.status is UNVERIFIED
    assert "1 further keys" in decided.summary


def test_in_autumn_each_role_is_asked_for() -> None:
    recipe_file = "benchmarks/multi_node/srt-slurm-recipes/m/a.yaml"
    text = """\
model: {path: acme/Big-FP8}
resources: {prefill_nodes: 1, decode_nodes: 1, prefill_workers: 1, decode_workers: 1}
backend:
  type: sglang
  sglang_config:
    prefill: {model-path: acme/Big-FP8, tensor-parallel-size: 8, disaggregation-mode: prefill}
    decode: {model-path: acme/Big-FP8, tensor-parallel-size: 8, disaggregation-mode: decode}
"""
    head = files(spread("big-fp8-gb300-dynamo-sglang"), {recipe_file: text})
    trees = {SGLANG: cells_alone()}
    decided = decide(documented(files(""), head, check=AUTUMN_CHECK, text=sign_off(BIG_LINK), upstream_trees=trees))
    assert decided.status is FAIL
    assert any("no prefill and no decode" in message for message in told(decided, FAIL))


# -- never a false pass -----------------------------------------------------------------------------------------------

LINKS = (
    link(),
    QWEN_LINK,
    BIG_LINK,
    BIG_VLLM_LINK,
    "https://recipes.vllm.ai/",
    "https://docs.sglang.io/cookbook/intro",
    f"https://github.com/sgl-project/sglang/blob/main/{QWEN_PAGE}",
    "https://github.com/vllm-project/recipes/pull/645",
    "https://inferencex.com/inference?unofficialRun=1",
    "sgl-project/sglang#34357",
    "![](x) [a](b)",
)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(LINKS) | st.text(max_size=30), max_size=4),
    st.sampled_from([None, "merged", "open", "closed"]),
    st.sampled_from([None, "after", "before", "cells"]),
    st.booleans(),
)
def test_it_never_passes_without_an_accepted_link_and_a_page(
    details: list[str], state: str | None, tree: str | None, ticked: bool
) -> None:
    told_pulls = None if state is None else [pull(state=state, merged_at="2026-08-11" if state == "merged" else None)]
    trees = None if tree is None else at_hand(tree)
    decided = decide(worked_example(text=sign_off(*details, ticked=ticked), pulls=told_pulls, upstream_trees=trees))
    if decided.status is PASS:
        counting = [judge(word) for detail in details for word in detail.split()]
        assert any(found.form in ("pull_request", "page") and found.engine == "sglang" for found in counting)
        assert tree == "after"
    assert decided.findings
    assert decided.summary


def test_the_explanation_names_its_options() -> None:
    assert all(option in recipe.EXPLANATION for option in ("--recipes-clone", "--sglang-clone"))


@pytest.mark.parametrize(
    ("only_theirs", "status"),
    [
        ("--moe-a2a-backend megamoe", JUDGEMENT),
        ("--fp8-gemm-backend deep_gemm", PASS),
        ("--page-size 64", PASS),
        ("--dp 1", PASS),
    ],
)
def test_what_must_match_and_only_the_recipe_sets_is_for_a_person(only_theirs: str, status: Status) -> None:
    page = f"### B200\n\n```shell\nsglang serve --model-path acme/Big --tp 4 {only_theirs}\n```\n"
    origin = {"repository": SGLANG, "path": "p.mdx", "commit": "c", "url": "u"}
    compared = compare([variant({"--tp": 4})], read_fenced(page, origin).arms).variants[0]
    assert standing_of(compared, ()).status is status


def test_a_merged_link_whose_merge_commit_is_not_known_fails_nothing() -> None:
    evidence = worked_example(
        text=sign_off(link()), pulls=[pull(merge_commit=None)], upstream_trees={SGLANG: upstream("before")}
    )
    assert decide(evidence).status is Status.UNVERIFIED
