from __future__ import annotations

import contextlib
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.model.tree import DictTree
from reviewer_tui.recipes import vllm
from reviewer_tui.recipes.arm import RecipeArm, line_of
from reviewer_tui.recipes.reading import UnreadableError
from reviewer_tui.recipes.vllm_command import PoolNodes, Selection, last_wins, render
from reviewer_tui.recipes.vllm_recipe import (
    Catalog,
    default_hardware,
    hardware_ids,
    load_catalog,
    load_recipe,
    recommended_strategy,
    single_node_size,
    variant_of,
)
from reviewer_tui.recipes.vllm_site import published
from reviewer_tui.recipes.yaml12 import load
from tests.recipes.upstreams import BIG_RECIPE, upstream

TREE = upstream("vllm")
CATALOG = load_catalog(TREE)
BIG = load_recipe(TREE, BIG_RECIPE)


def arms(**wanted: str) -> list[RecipeArm]:
    reading = vllm.read_page(TREE, BIG_RECIPE)
    assert not reading.problems
    return [arm for arm in reading.arms if wanted.items() <= arm.selection.items()]


def argv(variant: str, strategy: str, hardware: str, **fields: Any) -> tuple[str, ...]:
    chosen = Selection(recipe=BIG, catalog=CATALOG, variant=variant, strategy=strategy, hardware=hardware, **fields)
    return render(chosen).processes[0].argv


def test_later_layers_win() -> None:
    assert argv("nvfp4", "single_node_tep", "b200", features=("tools",)) == (
        "--trust-remote-code",
        "--quantization",
        "modelopt_fp4",
        "--moe-backend",
        "flashinfer_trtllm",
        "--enable-expert-parallel",
        "--tensor-parallel-size",
        "8",
        "--attention-backend",
        "FLASHINFER_MLA",
        "--max-num-seqs",
        "8",
        "--tool-call-parser",
        "big",
    )


def test_a_strategy_block_for_a_generation_replaces_the_recipes() -> None:
    assert "--kv-cache-dtype" in argv("default", "single_node_tp", "b200")
    assert "--kv-cache-dtype" not in argv("default", "single_node_tep", "b200")
    assert "--kv-cache-dtype" in argv("default", "single_node_tep", "h200"), "NVIDIA's block stands for Hopper too"
    chosen = Selection(recipe=BIG, catalog=CATALOG, variant="default", strategy="single_node_tep", hardware="b200")
    assert render(chosen).processes[0].env == {"VLLM_USE_FLASHINFER_MOE_FP8": 1, "TEP": "1"}


@pytest.mark.parametrize(
    ("variant", "hardware", "size"),
    [
        ("nvfp4", "b200", 4),
        ("nvfp4", "gb300", 2),
        ("default", "b200", 8),
        ("default", "gb300", 4),
        ("default", "h200", 8),
    ],
)
def test_the_width_on_one_node(variant: str, hardware: str, size: int) -> None:
    profile = CATALOG.hardware[hardware]
    assert single_node_size(BIG, variant_of(BIG, variant), profile, "single_node_tp", hardware) == size


def test_a_small_model_is_fitted_to_one_gpu_and_says_so() -> None:
    recipe = {**BIG, "variants": {"default": {"vram_minimum_gb": 100}}}
    assert single_node_size(recipe, {"vram_minimum_gb": 100}, CATALOG.hardware["b200"], "single_node_tp", "b200") == 1
    assert single_node_size(recipe, {"tp": 16}, CATALOG.hardware["b200"], "single_node_tp", "b200") == 8
    arm = next(a for a in arms(hardware="b200", strategy="single_node_tp", variant="default"))
    assert any("no other is documented" in note for note in arm.notes)
    declared = next(a for a in arms(hardware="b200", strategy="single_node_tp", variant="nvfp4"))
    assert not any("no other is documented" in note for note in declared.notes)


def test_hardware_that_a_page_offers() -> None:
    assert hardware_ids(BIG, variant_of(BIG, "default"), CATALOG) == ("h200", "b200", "gb300")
    assert hardware_ids(BIG, variant_of(BIG, "nvfp4"), CATALOG) == ("b200", "gb300")
    assert default_hardware({"meta": {"hardware": {"h200": "unsupported"}}}, {}, CATALOG) == "b200"
    assert default_hardware({"meta": {"default_hardware": "mi355x"}}, {}, CATALOG) == "mi355x"
    assert recommended_strategy({"compatible_strategies": ["single_node_tep", "multi_node_dep"]}, 2) == "multi_node_dep"


def test_speculation_is_a_choice_and_gated_by_hardware() -> None:
    methods = {(arm.hardware, role.speculative) for arm in arms(strategy="single_node_tp") for role in arm.roles}
    assert ("b200", None) in methods
    assert ("b200", "eagle3") in methods
    assert ("h200", "mtp") in methods
    assert ("h200", "eagle3") not in methods
    eagle = next(a for a in arms(hardware="b200") if a.roles[0].speculative == "eagle3")
    assert eagle.roles[0].value("spec.model") == "acme/Big-EAGLE"
    assert eagle.selection["features"] == "tools,spec_decoding"


def test_arms_carry_badge_address_and_lines() -> None:
    verified = next(a for a in arms(hardware="b200", variant="default", strategy="single_node_tp"))
    assumed = next(a for a in arms(hardware="gb300", variant="default", strategy="single_node_tp"))
    assert (verified.verified, assumed.verified) == (True, None)
    assert "does not say that gb300 was verified" in assumed.notes[0]
    assert verified.url.startswith("https://recipes.vllm.ai/acme/Big?hardware=b200&variant=default&strategy=")
    assert verified.roles[0].args["kv_dtype"].line == 31
    assert not arms(hardware="mi355x"), "unsupported hardware is not published"
    assert not arms(hardware="desk"), "a restricted profile is published where the recipe names it"


def test_multi_node_and_clusters_have_a_command_for_each_process() -> None:
    chosen = Selection(
        recipe=BIG, catalog=CATALOG, variant="default", strategy="multi_node_tp", hardware="h200", nodes=3
    )
    processes = render(chosen).processes
    assert [p.argv[-1] for p in processes if p.rank == 0] == ["fp8"]
    assert [(p.rank, "--headless" in p.argv) for p in processes] == [(0, False), (1, True), (2, True)]
    cluster = next(a for a in arms(hardware="h200", strategy="pd_cluster") if a.roles[0].speculative is None)
    assert [(role.name, role.shape, role.nodes) for role in cluster.roles] == [
        ("prefill", "tp8 ep8", 1),
        ("decode", "tp8 ep8", 1),
        ("router", "tp1", 1),
    ]
    assert cluster.nodes == 2
    prefill = cluster.role("prefill")
    assert prefill is not None
    assert "NCCL_MNNVL_ENABLE" not in prefill.env, "tray variables are dropped elsewhere"
    shared = next(a for a in arms(hardware="b200", variant="nvfp4", strategy="pd_cluster"))
    assert (shared.nodes, shared.roles[0].tp) == (1, 4)


def test_reading_single_nodes_leaves_out_what_spans_them() -> None:
    reading = vllm.read_page(TREE, BIG_RECIPE, ["h200"], single_node=True)
    assert {arm.nodes for arm in reading.arms} == {1}
    assert {role.name for arm in reading.arms for role in arm.roles} == {"worker"}


def test_a_kv_store_and_an_offload_option_add_their_connector() -> None:
    pooled = argv("default", "single_node_tp", "b200", kv_store="pool")
    assert pooled[-1] == '{"kv_connector":"Pool"}'
    offloaded = argv("default", "single_node_tp", "b200", kv_offload="simple")
    assert offloaded[-1] == '{"kv_connector":"Simple"}'
    assert '{"kv_connector":"Simple"}' not in argv("default", "pd_cluster", "b200", kv_offload="simple")


def test_the_guide_is_read_with_its_lines() -> None:
    guide = [arm for arm in vllm.read_page(TREE, BIG_RECIPE).arms if arm.encoding == "guide"]
    assert [(a.hardware, a.roles[0].shape, a.line) for a in guide] == [("h200", "tp2 ep2", 48)]
    text = (TREE.read(BIG_RECIPE) or b"").decode().split("\n")
    assert "vllm serve acme/Big-FP8 -tp 2" in text[47]


def test_what_the_site_publishes() -> None:
    found = published(BIG, "default", "b200", CATALOG)
    assert found is not None
    assert found.recommended.strategy == "single_node_tp"
    assert set(found.alternatives) == {"single_node_tep", "single_node_dep", "multi_node_tp", "pd_cluster", "pool"}
    assert published({**BIG, "meta": {"tasks": ["omni"]}}, "default", "b200", CATALOG) is None
    assert published(BIG, "missing", "b200", CATALOG) is None


def test_whole_nodes_and_pools_of_a_cluster() -> None:
    chosen = Selection(
        recipe=BIG,
        catalog=CATALOG,
        variant="default",
        strategy="pd_cluster",
        hardware="gb300",
        pools=PoolNodes(2, 1),
    )
    prefill, decode = render(chosen).processes
    assert prefill.argv[prefill.argv.index("--tensor-parallel-size") + 1] == "8"
    assert prefill.env["GLOO_SOCKET_IFNAME"] == "$IFACE_NAME"
    assert "NCCL_MNNVL_ENABLE" in prefill.env
    assert decode.env["CUDA_VISIBLE_DEVICES"] == "0,1,2,3"


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({BIG_RECIPE: b"a: [1"}, "yaml"),
        ({BIG_RECIPE: b"- a"}, "unknown-format"),
        ({"taxonomy.yaml": b"a: b: c"}, "yaml"),
    ],
)
def test_an_unreadable_document_is_a_problem(changes: dict[str, bytes], rule: str) -> None:
    files = {path: TREE.read(path) or b"" for path in TREE.list("")}
    problems = vllm.read_page(DictTree({**files, **changes}), BIG_RECIPE).problems
    assert [problem.rule for problem in problems] == [rule]


def test_a_missing_recipe_and_an_argument_that_is_no_text_are_problems() -> None:
    assert vllm.read_page(TREE, "models/acme/None.yaml").problems[0].rule == "no-page"
    recipe = {**BIG, "model": {"model_id": "acme/Big", "base_args": ["--max-num-seqs", 8]}}
    reading = vllm.read_recipe(recipe, CATALOG, BIG_RECIPE, "c", ["b200"], single_node=True)
    assert {problem.rule for problem in reading.problems} == {"bad-argument"}


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(["--a", "--b", "-c", "1", "x", ""]), max_size=12))
def test_only_the_last_of_a_flag_stays(words: list[str]) -> None:
    kept = list(last_wins(words))
    assert list(last_wins(kept)) == kept
    flags = [word for word in kept if word.startswith("-")]
    assert len(flags) == len(set(flags))
    assert set(flags) == {word for word in words if word.startswith("-")}


anything = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 9) | st.sampled_from(["b200", "--tp", "unsupported", "supported", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "b200",
                    "default",
                    "blackwell",
                    "single_node_tp",
                    "pd_cluster",
                    "extra_args",
                    "args",
                    "modes",
                    "tp",
                    "hardware",
                ]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(
            ["meta", "model", "variants", "features", "strategy_overrides", "hardware_overrides", "strategy_hardware",
             "strategy_min_gpus", "compatible_strategies", "opt_in_features", "guide"]
        ),
        anything,
        max_size=6,
    )
)  # fmt: skip
def test_hostile_recipes_never_crash(recipe: dict[str, Any]) -> None:
    with contextlib.suppress(UnreadableError):
        vllm.read_recipe({**BIG, **recipe}, CATALOG, BIG_RECIPE, "c", ["b200"])


# -- YAML -------------------------------------------------------------------------------------------------------------

PURE = yaml.SafeLoader


@pytest.mark.parametrize("loader", [None, PURE])
def test_scalars_are_those_of_yaml_1_2(loader: Any) -> None:
    text = (
        b"{a: on, b: yes, c: true, d: 0x1F, e: 0o17, f: 1e3, g: 1_000, h: 08:30, i: ~, j: 'true', k: .5, l: 2026-07-27}"
    )
    assert load(text, "x.yaml", loader) == {
        "a": "on", "b": "yes", "c": True, "d": 31, "e": 15, "f": 1000.0, "g": 1000, "h": "08:30", "i": None,
        "j": "true", "k": 0.5, "l": "2026-07-27",
    }  # fmt: skip


@pytest.mark.parametrize("loader", [None, PURE])
def test_anchors_merges_and_lines(loader: Any) -> None:
    text = b"base: &b {x: 1, y: 2}\nother:\n  <<: *b\n  y: three\nlist: [*b]\n"
    document = load(text, "x.yaml", loader)
    assert document == {"base": {"x": 1, "y": 2}, "other": {"y": "three", "x": 1}, "list": [{"x": 1, "y": 2}]}
    assert line_of(document["other"]["y"]) == 4


@pytest.mark.parametrize("loader", [None, PURE])
@pytest.mark.parametrize(
    ("text", "rule", "line"),
    [
        (b"a: 1\nb: 2\na: 3\n", "duplicate-key", 3),
        (b"a: 1\n---\nb: 2\n", "yaml", 2),
        (b"a: *nothing\n", "yaml", 1),
        (b"a: [1, 2\nb: }\n", "yaml", 2),
        (b"[" * 60 + b"]" * 60, "too-large", 1),
        (b"a: &a [x]\nb: [" + b"*a," * 300 + b"]\n", "too-large", 2),
    ],
)
def test_faults_of_a_document_are_located(text: bytes, rule: str, line: int, loader: Any) -> None:
    with pytest.raises(UnreadableError) as refused:
        load(text, "x.yaml", loader)
    assert (refused.value.problem.rule, refused.value.problem.line) == (rule, line)


def test_a_document_of_aliases_does_not_explode() -> None:
    lines = [b"a0: &a0 [x, x, x, x, x, x, x, x]"]
    lines += [b"a%d: &a%d [%s]" % (n, n, b",".join([b"*a%d" % (n - 1)] * 8)) for n in range(1, 20)]
    document = load(b"\n".join(lines), "x.yaml")
    assert len(document) == 20
    catalog = Catalog(hardware={}, strategies={}, kv_offload={})
    assert vllm.read_recipe(document, catalog, "x.yaml", "c").arms == ()


@settings(max_examples=150, deadline=None)
@given(st.text("ab:-[]{}&*!|>'\"#%\n ,?~.01\t", max_size=80).map(str.encode) | st.binary(max_size=60))
def test_hostile_yaml_never_crashes(content: bytes) -> None:
    with contextlib.suppress(UnreadableError):
        load(content, "x.yaml")
