from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.model.finding import Status
from reviewer_tui.model.tree import DictTree
from reviewer_tui.recipes import agentx, cells, prose, sglang
from reviewer_tui.recipes.arm import RecipeArm
from reviewer_tui.recipes.compare import compare
from reviewer_tui.recipes.mdx import fenced_blocks, imports
from reviewer_tui.recipes.reading import UnreadableError
from reviewer_tui.recipes.widget import Widget
from tests.recipes.upstreams import BIG_AGENTX, BIG_CONFIG, BIG_PAGE, QWEN_PAGE, QWEN_WIDGET, upstream, variant

ORIGIN = {
    "repository": "sgl-project/sglang",
    "path": "x.jsx",
    "commit": "abc",
    "url": "https://docs.sglang.io/cookbook/x",
}


def arms_of(encoding: str, page: str = BIG_PAGE, tree: str = "cells") -> list[RecipeArm]:
    return [arm for arm in sglang.read_page(upstream(tree), page).arms if arm.encoding == encoding]


# -- widgets ----------------------------------------------------------------------------------------------------------


def test_a_widget_gives_an_arm_for_each_command_it_can_show() -> None:
    arms = arms_of("widget", QWEN_PAGE, "after")
    shapes = {
        (arm.hardware, arm.checkpoint, role.shape) for arm in arms for role in arm.roles if "NVFP4" in arm.checkpoint
    }
    assert shapes == {
        ("b200", "nvidia/Qwen3.5-397B-A17B-NVFP4-V2", "tp4"),
        ("b200", "nvidia/Qwen3.5-397B-A17B-NVFP4-V2", "tp2 ep2 NEXTN"),
        ("b300", "nvidia/Qwen3.5-397B-A17B-NVFP4-V2", "tp4"),
        ("b300", "nvidia/Qwen3.5-397B-A17B-NVFP4-V2", "tp4 NEXTN"),
    }
    amd = next(arm for arm in arms if arm.hardware == "mi355x" and "MXFP4" in arm.checkpoint)
    assert amd.roles[0].env == {"SGLANG_USE_AITER": "1", "SGLANG_MAMBA_SSM_DTYPE": "bfloat16"}
    assert {arm.url for arm in arms} == {"https://docs.sglang.io/cookbook/autoregressive/Qwen/Qwen3.5"}


def test_unreachable_selections_are_not_published() -> None:
    widget = Widget(upstream("after").read(QWEN_WIDGET) or b"", "w.jsx")
    chosen = [shown.selection for shown in widget.commands()]
    assert not [c for c in chosen if c["hardware"] == "h200" and c["quantization"] == "fp4"]
    assert not [c for c in chosen if c["model"] == "122b" and c["quantization"] == "fp4"]
    assert not [c for c in chosen if c["hardware"] == "mi355x" and c["radix"] == "buffered"]
    assert {c["reasoning"] for c in chosen} == {"on"}, "options that only pick a parser stay at their default"


def test_reading_for_one_hardware_reads_no_other() -> None:
    reading = sglang.read_page(upstream("after"), QWEN_PAGE, ["b300"])
    assert {arm.hardware for arm in reading.arms} == {"b300"}
    assert {arm.encoding for arm in reading.arms} == {"widget", "command"}


CHECKBOXES = """
export const W = () => {
  const options = {
    hardware: { items: [{ id: 'b200', default: true }, { id: 'xeon' }] },
    strategy: { type: 'checkbox', items: [
      { id: 'tp', required: true, default: true },
      { id: 'dp', disabledWhen: (v) => v.hardware === 'xeon' },
      { id: 'mtp', disabledWhen: (v) => v.hardware === 'xeon' },
    ] },
    name: { type: 'text', default: 'me' },
  };
  const generateCommand = (values) => {
    const chosen = Array.isArray(values.strategy) ? values.strategy : [];
    if (values.hardware === 'xeon' && chosen.length > 1) return '# Error: not there';
    let text = 'python3 -m sglang.launch_server \\\\\\n  --model-path acme/Big';
    if (chosen.includes('tp')) text += ' \\\\\\n  --tp 8';
    if (chosen.includes('dp')) text += ' \\\\\\n  --attn-dp-size 8 # optional, but good';
    if (chosen.includes('mtp')) text += ' \\\\\\n  --speculative-algorithm EAGLE';
    return text;
  };
  const [values, setValues] = useState(() => ({}));
  return <pre>{generateCommand(values)}</pre>;
};
"""


def test_checkboxes_are_tried_in_all_allowed_combinations() -> None:
    arms = sglang.read_widget(CHECKBOXES.encode(), ORIGIN, "W").arms
    assert sorted((arm.hardware, arm.roles[0].shape) for arm in arms) == [
        ("b200", "tp8"),
        ("b200", "tp8 EAGLE"),
        ("b200", "tp8 dp8 dp-attention"),
        ("b200", "tp8 dp8 dp-attention EAGLE"),
        ("xeon", "tp8"),
    ]


SNAPPING = """
export const W = () => {
  const baseOptions = {
    hardware: { items: [{ id: 'b200' }, { id: 'h200' }] },
    quant: { items: [{ id: 'fp8' }, { id: 'fp4' }] },
    draft: { items: [{ id: 'on' }, { id: 'off' }] },
    cache: { items: [{ id: 'warm' }, { id: 'cold' }] },
  };
  const getShownOptions = (values) => {
    const shown = { ...baseOptions };
    if (values.hardware === 'h200') delete shown.cache;
    return shown;
  };
  const [values, setValues] = useState(() => ({}));
  useEffect(() => {
    if (values.quant === 'fp4' && values.draft === 'on') setValues((prev) => ({ ...prev, draft: 'off' }));
  }, [values.quant]);
  const handleRadioChange = (name, id) => {
    setValues((prev) => {
      const next = { ...prev, [name]: id };
      if (name === 'hardware' && next.hardware === 'h200') next.quant = 'fp8';
      return next;
    });
  };
  const generateCommand = () =>
    `sglang serve --model-path acme/${values.hardware}-${values.quant} --tp ${values.draft === 'on' ? 2 : 4}` +
    (values.cache === 'cold' ? ' --disable-radix-cache' : '');
  return <pre>{generateCommand()}</pre>;
};
"""


def test_a_label_leaves_out_what_the_page_does_not_show() -> None:
    """Unless it keeps what was chosen while it was shown: then the command differs."""
    arms = sglang.read_widget(SNAPPING.encode(), ORIGIN, "W").arms
    labels = {arm.label for arm in arms}
    assert len(labels) == len(arms)
    assert {label for label in labels if "b200" in label and "draft on" in label} == {
        "b200 · fp8 · draft on · warm",
        "b200 · fp8 · draft on · cold",
    }
    assert {label for label in labels if "h200" in label and "draft on" in label} == {
        "h200 · fp8 · draft on",
        "h200 · fp8 · draft on · cold",
    }


def test_selections_that_the_page_moves_away_from_are_not_published() -> None:
    arms = sglang.read_widget(SNAPPING.encode(), ORIGIN, "W").arms
    assert sorted((arm.checkpoint, arm.roles[0].tp, "radix_off" in arm.roles[0].args) for arm in arms) == [
        ("acme/b200-fp4", 4, False),
        ("acme/b200-fp4", 4, True),
        ("acme/b200-fp8", 2, False),
        ("acme/b200-fp8", 2, True),
        ("acme/b200-fp8", 4, False),
        ("acme/b200-fp8", 4, True),
        ("acme/h200-fp8", 2, False),
        ("acme/h200-fp8", 2, True),
        ("acme/h200-fp8", 4, False),
        ("acme/h200-fp8", 4, True),
    ], "an option that is not shown keeps what was chosen before"


IN_ONE_OBJECT = """
export const W = () => {
  const config = {
    sizes: { big: 8 },
    options: {
      tp: { getDynamicItems: (values) => values.size === 'big' ? [{ id: 'all' }] : [{ id: 'one' }, { id: 'two' }] },
      size: { items: [{ id: 'small' }, { id: 'big' }] },
    },
    generateCommand: function (values) {
      const width = { one: 1, two: 2, all: this.sizes[values.size] }[values.tp];
      return values.tp === 'two' ? missing.path : `sglang serve --model-path acme/${values.size} --tp ${width}`;
    },
  };
  const missing = undefined;
  const [values, setValues] = useState(getInitialState);
  return <pre>{config.generateCommand(values)}</pre>;
};
"""


def test_options_and_command_may_stand_in_one_object() -> None:
    reading = sglang.read_widget(IN_ONE_OBJECT.encode(), ORIGIN, "W")
    assert [(arm.checkpoint, arm.roles[0].tp) for arm in reading.arms] == [("acme/small", 1), ("acme/big", 8)]
    assert [(problem.rule, problem.line) for problem in reading.problems] == [("script-fails", 11)]


def test_a_snippet_without_a_server_holds_no_recipe() -> None:
    drawing = "export const Tags = ({ name }) => { return <b>{name}</b>; };"
    page = 'import { Tags } from "/src/snippets/tags.jsx"\n'
    tree = DictTree({"docs/cookbook/a/B.mdx": page, "docs/src/snippets/tags.jsx": drawing})
    assert sglang.read_page(tree, "docs/cookbook/a/B.mdx").problems == ()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("export const W = () => { const options = {}; return null; };", "no function that builds a command"),
        ("export const W = () => { const generateCommand = () => 'x'; return null; };", "no table of options"),
        ("export const W = { a: 1 };", "exports no component"),
        ("export const other = 1;", "exports no component"),
        (
            "export const W = () => { const options = {hw: {items: [{id: 'a'}]}};"
            "const [hw, set] = useState('a'); const generateCommand = () => `${hw}`; };",
            "unknown way",
        ),
    ],
)
def test_an_unknown_format_is_said(source: str, message: str) -> None:
    with pytest.raises(UnreadableError, match=message):
        sglang.read_widget(source.encode(), ORIGIN, "W")


def test_a_widget_with_too_many_selections_is_refused() -> None:
    items = ",".join(f"{{ id: 'i{n}' }}" for n in range(20))
    options = ",".join(f"o{n}: {{ items: [{items}] }}" for n in range(6))
    source = (
        f"export const W = () => {{ const options = {{ {options} }};"
        "const generateCommand = (v) => 'sglang serve --model-path x'; };"
    )
    with pytest.raises(UnreadableError, match=r"selections|steps"):
        sglang.read_widget(source.encode(), ORIGIN, "W")


def test_a_script_that_cannot_be_evaluated_is_located_and_the_rest_is_read() -> None:
    files = {path: upstream("after").read(path) or b"" for path in upstream("after").list("")}
    files[QWEN_WIDGET] = files[QWEN_WIDGET].replace(b"const drafts = ", b"const drafts = fetch('x') && ")
    reading = sglang.read_page(DictTree(files), QWEN_PAGE)
    assert [problem.rule for problem in reading.problems] == ["cannot-evaluate"]
    assert reading.problems[0].path == QWEN_WIDGET
    assert reading.problems[0].line == 93
    assert [arm.encoding for arm in reading.arms] == ["command"]


# -- cells ------------------------------------------------------------------------------------------------------------


def test_cells_are_read_with_their_checkpoint_and_badge() -> None:
    arms = arms_of("cells")
    assert [(a.hardware, a.checkpoint, a.roles[0].shape, a.nodes, a.verified) for a in arms] == [
        ("b200", "acme/Big", "tp4", 1, True),
        ("b200", "acme/Big", "tp8 dp8 dp-attention", 1, False),
        ("gb300", "acme/Big-FP8", "tp8", 2, False),
        ("mi355x", "amd/Big-MXFP4", "tp4", 1, False),
    ]
    first = arms[0]
    assert first.roles[0].env == {"SGLANG_OPT_X": "1"}
    assert first.roles[0].args["deepep_config"].value == '{"sms":{"num":96}}'
    assert first.roles[0].args["host"].value == "0.0.0.0"
    assert first.roles[0].args["moe"].line == 29
    assert first.line == 23


def test_only_declared_and_first_cells_are_published() -> None:
    reading = cells.read(upstream("cells").read(BIG_CONFIG) or b"", ORIGIN)
    assert [problem.rule for problem in reading.problems] == ["unpublished-cell"]
    assert "mtp-314 is not among the page's strategies" in reading.problems[0].message
    assert reading.problems[0].line == 54
    widths = [arm.roles[0].tp for arm in reading.arms if arm.selection["strategy"] == "low-latency"]
    assert widths == [4, 4], "a second cell of the same match is never shown"


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ("export const config = { cells: [compute()] };", "no-literal"),
        ("export const config = { cells: {} };", "unknown-format"),
        ("export const config = [];", "no-export"),
        ("export const config = { cells: [], matchDims: fetch('x') };", "cannot-evaluate"),
        ("export const other = {};", "no-export"),
    ],
)
def test_a_config_that_is_no_literal_is_refused(source: str, rule: str) -> None:
    with pytest.raises(UnreadableError) as refused:
        cells.read(source.encode(), ORIGIN)
    assert refused.value.problem.rule == rule


def test_a_cell_without_a_full_match_is_a_problem() -> None:
    reading = cells.read(b"export const config = { cells: [{ match: { hw: 'b200' } }, 3, null] };", ORIGIN)
    assert not reading.arms
    assert [problem.rule for problem in reading.problems] == ["bad-cell"] * 3


DIMENSIONS = """
export const config = {
  supportedHardware: ["b300", "b200"],
  matchDims: [
    { id: "pdMode", options: [{ id: "unified" }, { id: "prefill" }] },
    { id: "strategy", options: [
      { id: "fast", showWhen: (s) => s.pdMode !== "prefill" },
      { id: "wide", disabled: (s) => s.hw === "b200" },
    ] },
  ],
  overlayDims: [
    { id: "spec", options: [
      { id: "none" },
      { id: "draft", disabled: (s) => s.strategy === "wide",
        flags: (s) => ["--speculative-algorithm EAGLE", ...(s.hw === "b300" ? ["--speculative-num-steps 3"] : [])] },
    ] },
    { id: "cache", showWhen: (s) => s.hw === "b300", options: [
      { id: "off" },
      { id: "tiers", flags: ["--enable-hierarchical-cache"], env: ["CONFIG={{WHERE}}"],
        stripPrefixes: ["--dcp-size"] },
    ] },
  ],
  modelNames: { b200: "acme/Small", default: "acme/Big" },
  placeholders: { WHERE: { default: "x.json" }, PORT: {} },
  cells: [
    { match: { hw: "b300", pdMode: "unified", strategy: "fast" }, nnodes: 2, env: ["A=1"],
      flags: ["--model-path {{MODEL_NAME}}", "--tp 8", "--dcp-size 8"] },
    { match: { hw: "b200", pdMode: "unified", strategy: "wide" }, env: [], flags: ["--model-path {{MODEL_NAME}}"] },
    { match: { hw: "b300", pdMode: "prefill", strategy: "fast" }, env: [], flags: [] },
    { match: { hw: "b300", pdMode: "prefill", strategy: "wide" }, env: [], flags: ["--tp 4"] },
    { match: { hw: "b300", pdMode: "unified", strategy: "wide" }, redirect: true, env: [], flags: ["--tp 2"] },
    { match: { hw: "h100", pdMode: "unified", strategy: "fast" }, env: [], flags: ["--tp 1"] },
  ],
};
"""


def test_cells_are_read_by_the_dimensions_that_a_config_declares() -> None:
    reading = cells.read(DIMENSIONS.encode(), ORIGIN)
    seen = {
        (arm.hardware, *arm.selection.values()): (arm.checkpoint, arm.nodes, arm.roles[0].name, arm.roles[0].shape)
        for arm in reading.arms
    }
    assert seen == {
        ("b300", "b300", "unified", "fast", "none", "off"): ("acme/Big", 2, "worker", "tp8 dcp8"),
        ("b300", "b300", "unified", "fast", "none", "tiers"): ("acme/Big", 2, "worker", "tp8"),
        ("b300", "b300", "unified", "fast", "draft", "off"): ("acme/Big", 2, "worker", "tp8 dcp8 EAGLE"),
        ("b300", "b300", "unified", "fast", "draft", "tiers"): ("acme/Big", 2, "worker", "tp8 EAGLE"),
        ("b300", "b300", "prefill", "wide", "none", "off"): ("acme/Big", 1, "prefill", "tp4"),
        ("b300", "b300", "prefill", "wide", "none", "tiers"): ("acme/Big", 1, "prefill", "tp4"),
    }
    tiers = next(arm for arm in reading.arms if arm.selection.get("cache") == "tiers")
    assert tiers.roles[0].env == {"A": "1", "CONFIG": "x.json"}
    draft = next(arm for arm in reading.arms if arm.selection.get("spec") == "draft")
    assert draft.roles[0].args["spec.steps"].value == 3
    assert [problem.message.partition(" is not published: ")[2] for problem in reading.problems] == [
        "wide is not among the page's matchDims strategy.",
        "fast is not among the page's matchDims strategy.",
        "h100 is not among the page's supportedHardware.",
    ]


@pytest.mark.parametrize(
    ("names", "checkpoint"),
    [
        ({"default": "a/D"}, "a/D"),
        ({"default": "a/D", "b200": "a/B"}, "a/B"),
        ({"b200": "a/B", "fp4": "a/Q"}, "a/Q"),
        ({"fp4": "a/Q", "b200|fp4": "a/BQ"}, "a/BQ"),
        ({"b200|fp4": "a/BQ", "big|fp4": "a/VQ"}, "a/VQ"),
        ({"big|fp4": "a/VQ", "b200|big|fp4": "a/BVQ"}, "a/BVQ"),
        ({"h100": "a/H"}, ""),
        ([], ""),
    ],
)
def test_the_most_special_name_of_a_checkpoint_counts(names: object, checkpoint: str) -> None:
    assert cells.checkpoint_of({"modelNames": names}, {"hw": "b200", "variant": "big", "quant": "fp4"}) == checkpoint


def test_too_many_overlays_are_refused() -> None:
    rows = ",".join(f"{{ id: 'o{n}', options: [{{ id: 'a' }}, {{ id: 'b' }}, {{ id: 'c' }}] }}" for n in range(6))
    source = (
        f"export const config = {{ supportedHardware: ['b200'], matchDims: [], overlayDims: [{rows}],"
        "cells: [{ match: { hw: 'b200' }, flags: [] }] };"
    )
    with pytest.raises(UnreadableError, match="more than 200 ways"):
        cells.read(source.encode(), ORIGIN)


# -- AgentX -----------------------------------------------------------------------------------------------------------


def test_agentx_cells_are_decoded_with_references_differences_and_patches() -> None:
    arms = arms_of("agentx")
    assert [arm.label for arm in arms] == ["Agg TP4 · c1", "Agg TP4 · c44", "Disagg 1P1D · c8"]
    first, patched, split = arms
    assert first.roles[0].args["max_requests"].value == 1
    assert patched.roles[0].args["max_requests"].value == 4
    assert "trust" not in patched.roles[0].args
    assert patched.roles[0].env == {}
    roles = {role.name: role for role in split.roles}
    assert roles["prefill"].tp == 1
    assert (roles["decode"].tp, roles["decode"].nodes) == (8, 2)
    assert roles["decode"].env == {"SGLANG_SHARED": "1"}
    assert roles["router"].workers == 2
    assert split.nodes == 3


def test_agentx_arms_say_where_they_came_from() -> None:
    first, _, split = arms_of("agentx")
    assert first.provenance is not None
    assert split.provenance is not None
    assert (first.provenance.pull_request, first.provenance.status, first.verified) == (3840, "in-progress", False)
    assert (split.provenance.commit, split.provenance.run, split.verified) == ("cccc", "1/attempts/2", True)
    assert first.provenance.config_key == "big-fp8-gb300-sglang-agentic"
    assert first.provenance.repository == "SemiAnalysisAI/InferenceX"


MEASURED = [
    {"concs": [1], "kv": "none"},
    {"concs": [2], "kv": "none", "status": "verified-pr", "pr": "4100", "sha": "dddd", "runUrl": "https://x/runs/9"},
    {"concs": [4], "kv": "none", "status": "in-progress", "pr": None},
]
POINTED = {
    "source": {"repo": "https://github.com/o/InferenceX"},
    "cells": [
        {
            "id": "big#0",
            "hw": "GB200",
            "ckpt": "acme/Big",
            "label": "Agg TP4",
            "detail": "MTP 3-1-4",
            "submitted": "sglang",
            "points": MEASURED,
            "routers": {"sglang": {"blocks": [{"kind": "worker", "role": "agg", "args": [["--tp", "4"]]}]}},
        }
    ],
}


def agentx_arms(cell: dict[str, object]) -> tuple[RecipeArm, ...]:
    source = f"export const agentx = {json.dumps({**POINTED, 'cells': [{**POINTED['cells'][0], **cell}]})};"
    reading = agentx.read(source.encode(), ORIGIN)
    assert not reading.problems
    return reading.arms


def test_a_point_says_where_it_came_from_before_its_cell_does() -> None:
    bare, own, pending = (arm.provenance for arm in agentx_arms({}))
    assert bare is not None
    assert own is not None
    assert pending is not None
    assert (bare.status, bare.pull_request, bare.commit) == ("unknown", None, "")
    assert (own.status, own.pull_request, own.commit) == ("verified-pr", 4100, "dddd")
    assert own.run == "https://x/runs/9"
    assert (pending.status, pending.pull_request) == ("in-progress", None)
    cell = {"prov": {"sha": "cccc", "pr": "3231", "status": "verified", "run": "1/attempts/2"}}
    arms = agentx_arms(cell)
    told = [
        (arm.provenance.status, arm.provenance.pull_request, arm.provenance.commit, arm.provenance.run, arm.verified)
        for arm in arms
        if arm.provenance is not None
    ]
    assert told == [
        ("verified", 3231, "cccc", "1/attempts/2", True),
        ("verified-pr", 4100, "dddd", "https://x/runs/9", True),
        ("in-progress", 3231, "cccc", "1/attempts/2", False),
    ]


def test_a_point_of_the_pull_request_under_review_is_no_evidence() -> None:
    ours = variant({"--tp": 4}, checkpoint="acme/Big", hardware="gb200")
    (own,) = (arm for arm in agentx_arms({}) if arm.provenance is not None and arm.provenance.pull_request == 4100)
    judged = compare([ours], [own], pull_request=4100).variants[0]
    assert judged.status is Status.JUDGEMENT
    assert "generated from this very pull request (#4100)" in judged.summary


def test_agentx_labels_tell_cells_of_one_shape_apart() -> None:
    assert [arm.label for arm in agentx_arms({})] == [f"Agg TP4 · MTP 3-1-4 · c{conc}" for conc in (1, 2, 4)]


@pytest.mark.parametrize("number", ["²", "٣x", "-1", "9" * 40, None, [1]])
def test_a_pull_request_number_that_is_none_is_not_known(number: object) -> None:
    arms = agentx_arms({"points": [], "prov": {"pr": number, "status": "verified"}})
    assert [arm.provenance.pull_request for arm in arms if arm.provenance is not None] == [None]


def test_rows_without_a_flag_are_left_out_of_a_difference() -> None:
    block = {"kind": "worker", "role": "agg", "args": [[["--x"], "y"], [], [7], ["--tp", "4"]]}
    patched = [{"concs": [1]}, {"concs": [2], "patch": {"sglang": [{"args": {"--tp": ["2"]}}]}}]
    arms = agentx_arms({"routers": {"sglang": {"blocks": [block]}}, "points": patched})
    assert [arm.roles[0].shape for arm in arms] == ["tp4", "tp2"]
    assert [set(arm.roles[0].args) for arm in arms] == [{"tp"}, {"tp"}]


def test_references_in_a_circle_are_problems() -> None:
    reading = agentx.read(upstream("cells").read(BIG_AGENTX) or b"", ORIGIN)
    assert [problem.message for problem in reading.problems] == [
        "Cell big#2: its references lead back to itself.",
        "Cell big#3: its references lead back to itself.",
    ]


fragments = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.sampled_from(["sglang", "--tp", "agg", "worker", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["ref", "from", "diff", "args", "env", "blocks", "kind", "role", "routers", "points", "patch", "sglang"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=100, deadline=None)
@given(st.lists(fragments, max_size=3), fragments)
def test_hostile_agentx_data_never_crashes(found: list[object], cell: object) -> None:
    submitted = {"submitted": "sglang", **cell} if isinstance(cell, dict) else cell
    source = f"export const agentx = {json.dumps({'cells': [*found, submitted], 'envs': found})};"
    with contextlib.suppress(UnreadableError):
        agentx.read(source.encode(), ORIGIN)


# -- pages ------------------------------------------------------------------------------------------------------------


def test_fenced_commands_have_the_hardware_that_stands_over_them() -> None:
    arms = arms_of("command")
    assert [(a.hardware, a.checkpoint, a.roles[0].shape) for a in arms] == [
        ("mi355x", "amd/Big-MXFP4", "tp4"),
        ("h100", "acme/Big", "tp8"),
        ("h200", "acme/Big", "tp8"),
        ("b200", "acme/Big", "tp2"),
    ]
    assert arms[0].roles[0].env == {"SGLANG_USE_AITER": "1"}
    assert arms[0].roles[0].args["attention"].value == "aiter", "a remark does not end a continued command"
    assert arms[3].roles[0].env == {"SGLANG_X": "1"}, "what docker hands to the container counts"
    assert arms[0].label == "Advanced / MI355X"


def test_a_command_without_hardware_says_so() -> None:
    page = "# Big\n\n```bash\nsglang serve --model-path acme/Big\n```\n"
    arm = sglang.read_fenced(page, ORIGIN).arms[0]
    assert arm.hardware == ""
    assert arm.line == 4
    assert "does not say" in arm.notes[0]


def test_imports_stay_below_the_documentation() -> None:
    page = (
        'import { a as b, c } from "/src/snippets/x.jsx"\n'
        "import { d } from '../../../../../etc/passwd'\n"
        "import Everything from 'react'\n"
        "import { e } from '../snippet.jsx'\n"
    )
    found = imports(page, "docs/cookbook/autoregressive/Acme/Big.mdx")
    assert [(i.exported, i.local, i.path, i.line) for i in found] == [
        ("a", "b", "docs/src/snippets/x.jsx", 1),
        ("c", "c", "docs/src/snippets/x.jsx", 1),
        ("e", "e", "docs/cookbook/autoregressive/snippet.jsx", 4),
    ]


def test_a_missing_page_and_a_missing_snippet_are_problems() -> None:
    assert sglang.read_page(DictTree({}), QWEN_PAGE).problems[0].rule == "no-page"
    only_page = DictTree({QWEN_PAGE: upstream("after").read(QWEN_PAGE) or b""})
    problem = sglang.read_page(only_page, QWEN_PAGE).problems[0]
    assert (problem.rule, problem.line) == ("no-file", 5)


def test_the_pages_and_files_of_a_cookbook_are_listed() -> None:
    assert list(sglang.pages(upstream("cells"))) == [BIG_PAGE]
    assert sglang.page_files(upstream("cells"), BIG_PAGE) == (BIG_PAGE, BIG_CONFIG, BIG_AGENTX)
    assert list(sglang.pages(DictTree({"docs_new/cookbook/a/B/C.mdx": ""}))) == ["docs_new/cookbook/a/B/C.mdx"]


@settings(max_examples=100, deadline=None)
@given(st.text("`~#<>/TabCodeitl=\"' \n\\$sglangerv-", max_size=300))
def test_hostile_pages_never_crash(page: str) -> None:
    lines = page.count("\n") + 1
    assert all(1 <= block.line <= lines + 1 for block in fenced_blocks(page))
    assert isinstance(sglang.read_fenced(page, ORIGIN).arms, tuple)


def test_a_page_of_commands_is_read_in_part() -> None:
    origin = {"repository": "o/r", "path": "p.mdx", "commit": "c", "url": "u"}
    reading = sglang.read_fenced("```bash\nsglang serve --tp 4\n```\n" * 1500, origin)
    assert len(reading.arms) == sglang.MAX_COMMANDS
    assert [problem.rule for problem in reading.problems] == ["too-large"]


# -- words ------------------------------------------------------------------------------------------------------------

WORDS = """
- FP8
    - **B300 (288GB)** runs with tp=2 or, with MTP, TP 4.
    - H200 needs `--tp 8`, tensor parallel 16 for BF16.
- BF16: tp=8 on nothing named before it
- MI300X/MI325X: tp=4 (NVFP4), tp=8 (BF16)

```bash
- B300 tp=1
```

| GPU | memory | FP8 | NVFP4 |
|---|---|---|---|
| B200 | 8 | tp=4 | 4 / 2 + EP2 (MTP) |
| GB300 | 288 | - | 1440 GB |
"""


def test_widths_are_read_from_words() -> None:
    told = [(w.hardware, w.precision, w.tp, w.line) for w in prose.widths(WORDS, "p.mdx")]
    assert told == [
        ("b300", "fp8", (2, 4), 3),
        ("h200", "fp8", (8,), 4),
        ("h200", "bf16", (16,), 4),
        ("mi300x", "fp4", (4,), 6),
        ("mi325x", "fp4", (4,), 6),
        ("mi300x", "bf16", (8,), 6),
        ("mi325x", "bf16", (8,), 6),
        ("b200", "fp8", (4,), 14),
        ("b200", "fp4", (4, 2), 14),
    ]


def test_words_that_no_command_agrees_with_are_said() -> None:
    reading = sglang.read_page(upstream("after"), QWEN_PAGE, ["b200", "b300"])
    assert [(w.hardware, w.precision, w.tp) for w in reading.stated] == [("b200", "fp4", (4, 2))]
    assert not list(prose.contradicted(reading.stated, reading.arms))
    wrong = prose.widths("- B200: tp=1 (NVFP4), tp=1 (FP8)\n- H100: tp=1 (NVFP4)\n", "p.mdx")
    told = list(prose.contradicted(wrong, reading.arms))
    assert "p.mdx:1 says tensor parallel 1 for b200 fp4, where the page's commands have 2 or 4." in told
    assert not any("h100" in sentence for sentence in told)


@settings(max_examples=150, deadline=None)
@given(st.text("-*| \n`tpTP=248B300FP8()/+", max_size=200))
def test_hostile_words_never_crash(page: str) -> None:
    assert all(width.tp for width in prose.widths(page, "p.mdx"))
