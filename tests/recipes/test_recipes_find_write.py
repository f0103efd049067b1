from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.model.finding import Status
from reviewer_tui.model.recipe import UpstreamPullRequest
from reviewer_tui.model.tree import DictTree, Tree
from reviewer_tui.recipes import cells, sglang, vllm
from reviewer_tui.recipes.arm import Engine
from reviewer_tui.recipes.compare import compare
from reviewer_tui.recipes.find import candidate_pages, find, find_pull_requests
from reviewer_tui.recipes.reading import UnreadableError
from reviewer_tui.recipes.submitted import Variant
from reviewer_tui.recipes.vllm_recipe import load_catalog, load_recipe
from reviewer_tui.recipes.write import Changed, UpstreamChange, command_text, write_sglang, write_vllm
from tests.recipes.upstreams import BIG_CONFIG, BIG_PAGE, BIG_RECIPE, QWEN_PAGE, QWEN_WIDGET, qwen, upstream, variant

VLLM = upstream("vllm")


def big(args: dict[str, Any], **fields: Any) -> Variant:
    return variant(args, "vllm", fields.pop("checkpoint", "acme/Big-NVFP4"), **fields)


# -- find -------------------------------------------------------------------------------------------------------------


def test_the_page_that_covers_most_is_proposed() -> None:
    found = find([qwen(2, 2), qwen(4, 1)], {"sglang": upstream("after"), "vllm": VLLM})
    assert [proposal.path for proposal in found] == [QWEN_PAGE]
    assert found[0].url == "https://docs.sglang.io/cookbook/autoregressive/Qwen/Qwen3.5"
    assert found[0].covers == ("qwen3.5-fp4-b200-sglang-mtp tp2 ep2 mtp",)
    assert len(found[0].lacks) == 1
    assert "--speculative-algorithm" in found[0].lacks[0]
    assert found[0].commit == "after"


def test_a_vllm_proposal_links_the_selection_that_covers() -> None:
    ours = big({"--tensor-parallel-size": 4, "--kv-cache-dtype": "fp8", "--moe-backend": "flashinfer_trtllm"})
    proposal = find([ours], {"vllm": VLLM})[0]
    assert proposal.covers == ("big-fp4",)
    assert proposal.url.startswith(
        "https://recipes.vllm.ai/acme/Big?hardware=b200&variant=nvfp4&strategy=single_node_tp"
    )


def test_a_page_is_held_against_the_variants_of_its_model_only() -> None:
    other = variant({"--tp": 8}, checkpoint="acme/Unheard", key="other")
    proposal = find([qwen(2, 2), other], {"sglang": upstream("after")})[0]
    assert [result.variant.key for result in proposal.comparison.variants] == ["qwen3.5-fp4-b200-sglang-mtp"]
    assert not proposal.lacks


def test_a_page_without_the_hardware_says_what_it_has() -> None:
    ours = big({"-tp": 8}, checkpoint="acme/Big-FP8", hardware="mi355x")
    proposal = find([ours], {"vllm": VLLM})[0]
    assert not proposal.covers
    assert proposal.lacks == ("big-fp4: The recipe documents no arm for mi355x (documented: b200, gb300, h200).",)


def test_pages_are_found_by_checkpoint_and_by_name() -> None:
    names = ["GLM-5", "GLM-5.1", "GLM-5.2", "Other"]
    tree = DictTree({f"docs/cookbook/autoregressive/GLM/{name}.mdx": "" for name in names})
    ours = variant({}, checkpoint="nvidia/GLM-5.2-NVFP4")
    assert candidate_pages([ours], tree, "sglang") == ("docs/cookbook/autoregressive/GLM/GLM-5.2.mdx",)
    assert candidate_pages([big({})], VLLM, "vllm") == (BIG_RECIPE,)
    assert candidate_pages([big({}, checkpoint="acme/Unheard")], VLLM, "vllm") == ()
    assert candidate_pages([], VLLM, "vllm") == ()


def pull(number: int, state: str, *files: str) -> UpstreamPullRequest:
    return UpstreamPullRequest(
        repository="sgl-project/sglang",
        number=number,
        title="",
        state=state,  # type: ignore[arg-type]
        url="",
        merged_at="2026-08-12T00:00:00Z" if state == "merged" else None,
        files=files,
    )


def test_pull_requests_about_the_model_are_found() -> None:
    pulls = [
        pull(1, "open", QWEN_PAGE),
        pull(2, "merged", "docs/src/snippets/autoregressive/qwen35-deployment.jsx", "python/x.py"),
        pull(3, "merged", "docs/cookbook/autoregressive/GLM/GLM-5.mdx"),
        pull(4, "merged", "python/sglang/qwen35.py"),
    ]
    found = find_pull_requests([qwen(2, 2)], pulls)
    assert [proposal.upstream.number for proposal in found] == [2, 1]
    assert found[0].sentence.startswith("sgl-project/sglang#2 (merged on 2026-08-12) changes ")


# -- write: vLLM ------------------------------------------------------------------------------------------------------


def merged(recipe: Any, fragment: Any) -> Any:
    if not isinstance(recipe, dict) or not isinstance(fragment, dict):
        return fragment
    return {**recipe, **{key: merged(recipe.get(key), value) for key, value in fragment.items()}}


def status_after(ours: Variant, change: UpstreamChange, tree: DictTree = VLLM) -> Status:
    """The comparison with the document as it would be after the change, the fragment read from its text."""
    fragment = yaml.safe_load(change.text)
    recipe = load_recipe(tree, change.path) if tree.blob(change.path) else {}
    reading = vllm.read_recipe(merged(dict(recipe), fragment), load_catalog(tree), change.path, "c", [ours.hardware])
    best = compare([ours], reading.arms, "summer").variants[0].best
    assert best is not None
    assert best.covers is change.covers
    return best.status


@pytest.mark.parametrize(
    "args",
    [
        {"-tp": 2},
        {"-tp": 4, "--kv-cache-dtype": "fp8", "--moe-backend": "deep_gemm"},
        {"-tp": 4, "--enable-expert-parallel": True, "--attention-backend": "FLASHINFER"},
        {"-dp": 8, "--enable-expert-parallel": True, "--block-size": 256},
        {"-tp": 8, "--speculative-config": '{"method":"mtp","num_speculative_tokens":3}'},
        {"-tp": 8, "--speculative-config": '{"method":"dspark","model":"acme/D","num_speculative_tokens":7}'},
        {"-tp": 8, "--attention-config": '{"use_fp4_indexer_cache":true,"deep":{"a.b":1}}'},
        {"-tp": 8, "--max-num-seqs": 512, "--max-model-len": 9216},
    ],
)
def test_a_written_fragment_covers_the_variant(args: dict[str, Any]) -> None:
    ours = big(args, env={"VLLM_USE_FLASHINFER_MOE_FP4": "1", "HOME": "x"})
    change = write_vllm(ours, VLLM, BIG_RECIPE)
    assert change.covers
    assert change.kind == "yaml_fragment"
    assert status_after(ours, change) in (Status.PASS, Status.JUDGEMENT)
    assert "max-model-len" not in change.text, "what the policy does not want upstream is left out"
    assert "HOME" not in change.text


def test_a_fragment_for_another_hardware_and_a_new_variant() -> None:
    ours = big({"-tp": 8, "--kv-cache-dtype": "fp8"}, checkpoint="amd/Big-MXFP4", hardware="mi355x")
    change = write_vllm(ours, VLLM, BIG_RECIPE)
    assert change.covers
    assert status_after(ours, change) is not Status.FAIL
    assert yaml.safe_load(change.text)["meta"] == {"hardware": {"mi355x": "verified"}}
    assert any("called mi355x unsupported" in remark for remark in change.remarks)
    assert any("variant mxfp4 is new" in remark for remark in change.remarks)


def test_a_recipe_that_is_not_there_is_written_whole() -> None:
    ours = big({"-tp": 4, "--enable-expert-parallel": True}, checkpoint="acme/New-FP8")
    change = write_vllm(ours, VLLM)
    assert (change.path, change.covers) == ("models/acme/New-FP8.yaml", True)
    document = yaml.safe_load(change.text)
    assert document["model"]["model_id"] == "acme/New-FP8"
    assert document["compatible_strategies"] == ["single_node_tep"]
    assert status_after(ours, change) in (Status.PASS, Status.JUDGEMENT)


def test_a_width_that_another_arm_holds_is_remarked() -> None:
    change = write_vllm(big({"-tp": 8}), VLLM, BIG_RECIPE)
    assert change.covers
    assert any("one tensor parallel size for b200; it was 4" in remark for remark in change.remarks)


def test_what_cannot_be_undone_is_said() -> None:
    """The recipe quantizes the KV cache on every NVIDIA hardware; a fragment cannot take that away."""
    change = write_vllm(big({"-tp": 4, "--kv-cache-dtype": "auto"}), VLLM, BIG_RECIPE)
    assert change.covers
    assert "- --kv-cache-dtype\n" in change.text


# -- write: SGLang ----------------------------------------------------------------------------------------------------


def test_a_written_command_covers_the_variant() -> None:
    change = write_sglang(qwen(4, 1), upstream("after"), QWEN_PAGE)
    assert (change.kind, change.covers, change.path) == ("command", True, QWEN_PAGE)
    page = (upstream("after").read(QWEN_PAGE) or b"").decode() + "\n" + change.text
    tree = DictTree({QWEN_PAGE: page})
    best = compare([qwen(4, 1)], sglang.read_page(tree, QWEN_PAGE, ["b200"]).arms).variants[0].best
    assert best is not None
    assert best.covers
    assert "--chunked-prefill-size" not in change.text
    assert change.title == "Document nvidia/Qwen3.5-397B-A17B-NVFP4-V2 on B200 as tp4 EAGLE"


def test_production_settings_are_written_where_the_policy_wants_them() -> None:
    text = command_text(qwen(4, 1), qwen(4, 1).roles[0], "autumn")
    assert "--chunked-prefill-size 16384" in text
    assert "--max-running-requests" not in text


def test_a_written_cell_covers_the_variant() -> None:
    ours = variant({"--tp": 4, "--kv-cache-dtype": "fp8_e4m3"}, checkpoint="amd/Big-MXFP4", hardware="mi355x")
    change = write_sglang(ours, upstream("cells"), BIG_PAGE)
    assert (change.kind, change.path, change.covers) == ("cell", BIG_CONFIG, True)
    assert (
        'match: { hw: "mi355x", variant: "base", quant: "fp4", strategy: "balanced", nodes: "single" }' in change.text
    )
    source = (upstream("cells").read(BIG_CONFIG) or b"").decode().replace("cells: [", "cells: [\n" + change.text)
    origin = {"repository": "r", "path": BIG_CONFIG, "commit": "c", "url": "u"}
    result = compare([ours], cells.read(source.encode(), origin).arms).variants[0]
    assert result.status is Status.PASS


def test_a_cell_says_what_else_must_be_declared() -> None:
    ours = variant({"--tp": 4}, checkpoint="acme/Big-INT8", hardware="h200")
    change = write_sglang(ours, upstream("cells"), BIG_PAGE)
    assert not change.covers
    assert any('Add "h200" to supportedHardware' in remark for remark in change.remarks)
    assert any('"acme/Big-INT8" to modelNames' in remark for remark in change.remarks)
    full = write_sglang(variant({"--tp": 8}), upstream("cells"), BIG_PAGE)
    assert any("Every strategy has a cell already" in remark for remark in full.remarks)


def page_with(config: str) -> DictTree:
    page = 'import { config } from "/src/snippets/configs/acme/big.jsx"\n'
    return DictTree({BIG_PAGE: page, BIG_CONFIG: config})


CROWDED = """
export const config = {
  supportedHardware: ["b200"],
  variants: ["base"], quantizations: ["fp8", "fp4"], strategies: ["fast", "wide"], nodesOptions: ["single"],
  modelNames: { "base|fp8": "acme/Big", "base|fp4": "acme/Big" },
  playground: { knobs: [{ showWhen: (b) => b.hw === "b200", values: [...Array(3).keys()] }] },
  cells: [
    { match: { hw: "b200", variant: "base", quant: "fp4", strategy: "fast", nodes: "single" }, flags: ["--tp 4"] },
  ],
};
"""


def test_two_arms_get_two_places_beside_the_pages_own_cells() -> None:
    tree: Tree = page_with(CROWDED)
    places = []
    for width in (8, 2, 2):
        change = write_sglang(variant({"--tp": width}), tree, BIG_PAGE)
        places.append((change.text.partition("match: ")[2].partition("\n")[0], change.covers))
        tree = Changed(tree, change)
    match = '{ hw: "b200", variant: "base", quant: "fp4", strategy: "%s", nodes: "single" },'
    assert places == [(match % "wide", True), (match % "tp2", False), (match % "tp2-2", False)]
    assert [arm.roles[0].tp for arm in sglang.read_page(tree, BIG_PAGE).arms] == [8, 4]
    assert tree.blob(BIG_CONFIG) != page_with(CROWDED).blob(BIG_CONFIG)
    assert tree.blob(BIG_PAGE) == page_with(CROWDED).blob(BIG_PAGE)
    assert tree.list("docs") == page_with(CROWDED).list("docs")


DECLARED = """
export const config = {
  supportedHardware: ["b200"],
  matchDims: [
    { id: "pdMode", options: [{ id: "prefill" }, { id: "unified" }] },
    { id: "strategy", options: [{ id: "long", showWhen: (s) => s.pdMode === "prefill" }, { id: "fast" }] },
  ],
  modelNames: { default: "acme/Big" },
  // cells: one for each place
  cells: [{ match: { hw: "b200", pdMode: "prefill", strategy: "long" }, flags: ["--tp 4"] }],
};
"""


def test_a_cell_of_declared_dimensions_is_written_where_it_can_be_chosen() -> None:
    change = write_sglang(variant({"--tp": 8}, nodes=2), page_with(DECLARED), BIG_PAGE)
    assert 'match: { hw: "b200", pdMode: "unified", strategy: "fast" },' in change.text
    assert "nnodes: 2," in change.text
    assert change.covers
    assert change.remarks == (
        "The cell stands at the strategy fast, the first that is free; choose the one that it is.",
    )


def test_a_checkpoint_of_its_own_precision_takes_no_name_away() -> None:
    change = write_sglang(variant({"--tp": 8}, checkpoint="acme/Big-MXFP4"), page_with(CROWDED), BIG_PAGE)
    assert 'quant: "mxfp4"' in change.text
    assert change.remarks[:2] == (
        'Add "mxfp4" to quantizations.',
        'Add "b200|base|mxfp4": "acme/Big-MXFP4" to modelNames.',
    )


def test_what_the_engine_does_anyway_is_not_written() -> None:
    ours = variant(
        {"--tp": 8, "--dp": 1, "--ep-size": 1, "--kv-cache-dtype": "fp8_e4m3"},
        env={"SGLANG_ENABLE_SPEC_V2": "1", "SGLANG_USE_AITER": "1"},
        image="lmsysorg/sglang:v0.5.14-cu130",
    )
    text = command_text(ours, ours.roles[0])
    assert text.split(" \\\n  ") == [
        "SGLANG_USE_AITER=1 \\\nsglang serve",
        "--model-path acme/Big",
        "--tp 8",
        "--kv-cache-dtype fp8_e4m3",
    ]


def test_beside_a_widget_the_nearest_choice_is_told() -> None:
    change = write_sglang(qwen(2, 1), upstream("after"), QWEN_PAGE)
    assert change.kind == "command"
    assert QWEN_WIDGET in change.remarks[0]
    assert "expert parallel (--expert-parallel-size) is 1 here and 2 in the recipe" in change.remarks[0]


def test_each_process_gets_a_command() -> None:
    roles = [variant({"--tp": n}, role=role).roles[0] for n, role in ((1, "prefill"), (8, "decode"))]  # type: ignore[arg-type]
    both = msgspec.structs.replace(variant({}), roles=tuple(roles), nodes=2)
    change = write_sglang(both, upstream("cells"), BIG_PAGE, "autumn")
    assert change.kind == "command"
    assert change.text.count("```shell Command") == 2
    assert "# prefill\nsglang serve" in change.text


def test_a_page_that_is_not_there_cannot_be_written_to() -> None:
    with pytest.raises(UnreadableError):
        write_sglang(qwen(4, 1), DictTree({}), QWEN_PAGE)
    with pytest.raises(UnreadableError):
        write_vllm(big({}), DictTree({}))


vllm_args = st.fixed_dictionaries(
    {"-tp": st.sampled_from([1, 2, 4, 8])},
    optional={
        "--enable-expert-parallel": st.just(True),
        "--kv-cache-dtype": st.sampled_from(["fp8", "auto", "fp8_e4m3"]),
        "--moe-backend": st.sampled_from(["marlin", "flashinfer_trtllm"]),
        "--attention-backend": st.sampled_from(["FLASHINFER_MLA", "TRITON_MLA"]),
        "--block-size": st.sampled_from([64, 256]),
        "--speculative-config": st.sampled_from(
            [f'{{"method":"{m}","num_speculative_tokens":{n}}}' for m, n in itertools.product(["mtp", "eagle"], [2, 3])]
        ),
        "--compilation-config": st.just('{"cudagraph_mode":"FULL","pass_config":{"fuse_allreduce_rms":true}}'),
        "--made-up": st.sampled_from(["x", "1"]),
    },
)


@settings(max_examples=40, deadline=None)
@given(vllm_args, st.sampled_from(["b200", "h200", "gb300"]), st.sampled_from(["acme/Big-FP8", "acme/Big-NVFP4"]))
def test_every_fragment_says_truly_whether_it_covers(args: dict[str, Any], hardware: str, checkpoint: str) -> None:
    ours = big(args, hardware=hardware, checkpoint=checkpoint)
    status_after(ours, write_vllm(ours, VLLM, BIG_RECIPE))


@pytest.mark.parametrize(("engine", "name"), [("sglang", "after"), ("sglang", "cells"), ("vllm", "vllm")])
def test_what_was_read_can_be_said_as_json(engine: Engine, name: str) -> None:
    tree = upstream(name)
    paths = list(sglang.pages(tree)) if engine == "sglang" else [BIG_RECIPE]
    for path in paths:
        reading = sglang.read_page(tree, path) if engine == "sglang" else vllm.read_page(tree, path)
        ours = Variant(key="k", label="", engine=engine, checkpoint="a/b", hardware="b200", roles=())
        assert reading.arms
        assert msgspec.json.decode(msgspec.json.encode(reading))["arms"]
        assert msgspec.json.decode(msgspec.json.encode(compare([ours], reading.arms)))["variants"]
