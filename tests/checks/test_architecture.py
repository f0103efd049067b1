"""The architecture check."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.checks.architecture import decide
from reviewer_tui.checks.check import Outcome
from reviewer_tui.checks.overrides import event_settings, overrides_in
from reviewer_tui.model.finding import Finding, Status
from tests.checks.real import real_outcome
from tests.evidence import NVIDIA, NVIDIA_MASTER, SCRIPT, VERIFIER, evidence_of, summer

RECIPES = "benchmarks/multi_node/srt-slurm-recipes"
RECIPE = f"{RECIPES}/trtllm/kimi/agg.yaml"
PROMPT = ".github/codeowner-signoff-verify-prompt.md"
BAN = """\
## Check 8 — No benchmark hacks that change the model architecture
EXPLICIT PROHIBITION: `publish_events_and_metrics: false`. FAIL if an affected configuration disables it.

"""
MULTI_NODE = """\
kimik3-fp4-gb200-dynamo-trt:
  image: nvcr.io#nvidia/x:1
  model: moonshotai/Kimi-K3
  model-prefix: kimik3
  runner: b200
  precision: fp4
  framework: dynamo-trt
  multinode: true
  disagg: false
  scenarios:
    fixed-seq-len:
    - isl: 8192
      osl: 1024
      search-space:
      - conc-list: [8]
        prefill: { num-worker: 1, tp: 8, ep: 1, dp-attn: false,
          additional-settings: ["CONFIG_FILE=recipes/trtllm/kimi/agg.yamlSELECTOR"] }
        decode: { num-worker: 0, tp: 8, ep: 1, dp-attn: false }
"""


def with_lines(*lines: str) -> dict[str, bytes | str]:
    files = summer()
    return {**files, SCRIPT: "\n".join([str(files[SCRIPT]).rstrip("\n"), *lines, ""])}


def of(head: dict[str, bytes | str], base: dict[str, bytes | str] | None = None, **options: object) -> Outcome:
    return decide(evidence_of(base or summer(), head, **options))  # type: ignore[arg-type]


def worst(outcome: Outcome) -> Finding:
    return next(finding for finding in outcome.findings if finding.status is outcome.status)


def serving_with(arguments: str, *lines: str) -> dict[str, bytes | str]:
    """The repository with further arguments of the server, and lines before it."""
    files = summer()
    first, rest = str(files[SCRIPT]).replace("--tp $TP", f"--tp $TP {arguments}").split("\n", 1)
    return {**files, SCRIPT: "\n".join([first, *lines, rest])}


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ("$(cat /data/flags.txt)", ()),
        ("$(curl -s http://x)", ()),
        ("$EXTRA_FROM_CI", ()),
        ("--enable-metrics $EXTRA_FROM_CI", ()),
        ('"${EXTRA[@]}"', ("read -ra EXTRA < flags.txt",)),
        ("`cat flags/$NAME_FROM_CI`", ()),
        ("$MORE", ("MORE=$(python3 -c 'import flags; print(flags.more)')",)),
        ("", ("exit 1",)),
        ("", ("for (( ;; ) --hf-overrides x",)),
        ("", ("SERVER=$(cat server.txt); eval $SERVER; exit 0",)),
    ],
)
def test_arguments_that_nothing_tells_are_not_verified(arguments: str, lines: tuple[str, ...]) -> None:
    outcome = of(serving_with(arguments, *lines))
    assert outcome.status is Status.UNVERIFIED, outcome.summary
    assert worst(outcome).path == SCRIPT


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ('"${EXTRA[@]}"', ("EXTRA=(--stream-interval 30)",)),
        ("${EXTRA:-}", ("EXTRA=",)),
        ("--port $(( PORT + 1 ))", ()),
        ('--served-model-name "$NAME_FROM_CI"', ()),
    ],
)
def test_arguments_that_the_script_tells_pass(arguments: str, lines: tuple[str, ...]) -> None:
    outcome = of(serving_with(arguments, *lines))
    assert outcome.status is Status.PASS, outcome.summary


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ("$(cat benchmarks/flags.txt)", ()),
        ("`cat benchmarks/flags.txt`", ()),
        ("--json-model-override-args '{\"num_hidden_layers\":'$N'}'", ("N=1",)),
    ],
)
def test_an_override_that_a_file_or_a_variable_brings_fails(arguments: str, lines: tuple[str, ...]) -> None:
    flags = {"benchmarks/flags.txt": '--json-model-override-args {"num_hidden_layers":1}\n'}
    outcome = of({**serving_with(arguments, *lines), **flags})
    assert outcome.status is Status.FAIL, outcome.summary
    assert (worst(outcome).path, "num_hidden_layers" in worst(outcome).message) == (SCRIPT, True)
    again = of({**serving_with(arguments, *lines, "echo"), **flags}, {**serving_with(arguments, *lines), **flags})
    assert again.status is not Status.FAIL, again.summary


@pytest.mark.parametrize("field", ["use_cache_layers", "top_k_layers", "dtype_of_experts"])
def test_a_rule_for_a_field_is_about_its_whole_name(field: str) -> None:
    outcome = of(serving_with(f"--json-model-override-args '{{\"{field}\": 2}}'"))
    assert outcome.status in (Status.FAIL, Status.JUDGEMENT), outcome.summary


def test_a_program_whose_output_stands_for_the_model_is_not_verified() -> None:
    files = summer()
    serve = "#!/usr/bin/env bash\nvllm serve $(cat /opts) --port 1 &\n"
    outcome = of({**files, SCRIPT: serve})
    assert outcome.status is Status.UNVERIFIED, outcome.summary


def test_an_entry_that_names_another_model_is_held_to_the_script_that_did_not_change() -> None:
    files = summer()
    base = {**files, SCRIPT: str(files[SCRIPT]).replace("$MODEL", "org/Model")}
    base = {**base, NVIDIA: NVIDIA_MASTER.replace("nvidia/Qwen3.5-397B-A17B-NVFP4-V2", "org/Model")}
    outcome = of({**base, NVIDIA: str(base[NVIDIA]).replace("org/Model", "org/Other")}, base)
    assert outcome.status is Status.JUDGEMENT, outcome.summary


def test_open_arguments_of_an_unchanged_script_are_as_they_were() -> None:
    base = serving_with("$EXTRA_FROM_CI")
    outcome = of({**base, NVIDIA: NVIDIA_MASTER.replace("v0.5.14", "v0.5.15")}, base)
    assert outcome.status is Status.PASS, outcome.summary


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("vllm serve $MODEL --hf-overrides '{\"use_index_cache\": true, \"index_topk_freq\": 4}'", "use_index_cache"),
        ("vllm serve $M --hf-overrides='{\"text_config\": {\"index_topk_freq\": 4}}'", "text_config.index_topk_freq"),
        ("vllm serve $MODEL --hf-overrides.text_config.index_topk_freq 4", "index_topk_freq=4"),
        ("ARGS=(--hf_overrides '{\"num_hidden_layers\": 10}')", "num_hidden_layers=10"),
        ("X='{\"n_routed_experts\": 64}'; vllm serve m --hf-overrides \"$X\"", "n_routed_experts=64"),
        ("python3 -m sglang.x --json-model-override-args '{\"num_experts_per_tok\": 2}'", "num_experts_per_tok=2"),
        ("vllm serve m --num-hidden-layers 4", "num-hidden-layers"),
        ("srun bash -c 'vllm serve m --hf-overrides \"{\\\"num_attention_heads\\\": 8}\"'", "num_attention_heads=8"),
        ("sed -i 's/\"num_hidden_layers\": 61/\"num_hidden_layers\": 30/' $MODEL_PATH/config.json ", "config.json"),
    ],
)  # fmt: skip
def test_overrides_that_compute_less_fail_and_are_named(line: str, named: str) -> None:
    outcome = of(with_lines("echo before", line))
    assert outcome.status is Status.FAIL, outcome.summary
    assert named in worst(outcome).message
    assert (worst(outcome).path, worst(outcome).line) == (SCRIPT, 4)


@pytest.mark.parametrize(
    "line",
    [
        "vllm serve $MODEL --hf-overrides '{\"rope_scaling\": {\"type\": \"yarn\"}, \"max_position_embeddings\": 9}'",
        "vllm serve $MODEL --hf-overrides '{\"dtype\": \"bfloat16\", \"quantization_config\": {\"num_layers\": 1}}'",
        "vllm serve $MODEL --hf-overrides '{\"use_index_cache\": false, \"index_topk_freq\": 1}'",
        "vllm serve $MODEL --override-generation-config '{\"temperature\": 0.1}'",
        "vllm serve $MODEL --model-loader-extra-config '{\"enable_multithread_load\": true}'",
        "vllm serve $MODEL --language-model-only",
        "vllm serve $MODEL --hf-overrides '{}'",
        "# vllm serve $MODEL --hf-overrides '{\"num_hidden_layers\": 1}'",
        "python3 -c 'import json; print(json.load(open(\"config.json\"))[\"num_hidden_layers\"])'",
        "vllm serve $MODEL --kv-cache-dtype fp8 --quantization modelopt",
    ],
)  # fmt: skip
def test_what_computes_the_same_passes(line: str) -> None:
    outcome = of(with_lines(line))
    assert outcome.status is Status.PASS, outcome.summary


@pytest.mark.parametrize(
    "line",
    [
        "vllm serve m --hf-overrides '{\"architectures\": [\"Other\"]}'",
        "vllm serve m --hf-overrides '{\"something_new\": 1}'",
        "vllm serve m --hf-overrides '{\"use_index_cache\": true, \"index_topk_pattern\": \"FFSS\"}'",
        "vllm serve m --hf-overrides '{\"index_topk\": 512}'",
        "vllm serve m --hf-overrides \"$UNKNOWN\"",
        "vllm serve m --hf-overrides \"{\\\"index_topk_freq\\\": $FREQ}\"",
        "vllm serve m --hf-config-path /data/config",
        "vllm serve m --model-impl transformers",
        "vllm serve m --config-format mistral",
        "printf '%s' x > /models/config.json",
        "jq '.rope_theta = 1' config.json > /tmp/config.json",
        "python3 -c 'c = open(\"config.json\").read(); open(\"config.json\", \"w\").write(c[1:])'",
        "VLLM_NUM_LAYERS=10 vllm serve m",
    ],
)  # fmt: skip
def test_what_cannot_be_told_waits_for_judgement(line: str) -> None:
    outcome = of(with_lines("echo before", line))
    assert outcome.status is Status.JUDGEMENT, outcome.summary
    assert worst(outcome).path == SCRIPT


@pytest.mark.parametrize(
    ("content", "status"),
    [
        ("backend:\n  hf-overrides: '{\"index_topk_freq\": 4}'\n", Status.FAIL),
        ("model-a:\n  hf_overrides:\n    text_config:\n      num_hidden_layers: 3\n", Status.FAIL),
        ("flags: |\n  --tp 8 --hf-overrides '{\"num_experts\": 3}' --x\n", Status.FAIL),
        ("sparse_attention_config:\n  algorithm: dsa\n  enable_heuristic_topk: true\n", Status.PASS),
        ("sparse_attention_config:\n  sparse_disable_index_value: true\n", Status.JUDGEMENT),
        ("zip_override_a:\n  conc: [1]\nlanguage-model-only: true\n", Status.PASS),
        ("model_kwargs:\n  num_hidden_layers: 4\n", Status.FAIL),
        ("a: [\nhf_overrides: x\n", Status.JUDGEMENT),
        ("x: &o {num_hidden_layers: 1}\nbackend:\n  hf_overrides: *o\n", Status.FAIL),
        ("hf-config-path: /data/config\n", Status.JUDGEMENT),
        ("engine:\n  num-hidden-layers: 1\n", Status.FAIL),
        ("load-format: dummy\n", Status.JUDGEMENT),
        ("enable-hisparse: true\n", Status.JUDGEMENT),
        ("enable-hisparse: false\n", Status.PASS),
        ("load-format: auto\nidentity: {model: {revision: abc}}\n", Status.PASS),
        ("env: [{name: VLLM_NUM_LAYERS, value: 3}]\n", Status.JUDGEMENT),
        ("env: [VLLM_NUM_LAYERS=3]\n", Status.JUDGEMENT),
        ("speculative_config: {num_nextn_predict_layers: 3}\n", Status.PASS),
    ],
)
def test_recipes_are_read(content: str, status: Status) -> None:
    outcome = of({**summer(), RECIPE: content})
    assert outcome.status is status, outcome.summary


# argparse completes an option that is begun far enough.
@pytest.mark.parametrize(
    "option", ["--json-model", "--json-model-override", "--json-model-override-arg", "--json_model_override_args"]
)
def test_an_abbreviated_option_is_the_option(option: str) -> None:
    outcome = of(serving_with(f"{option} '{{\"num_hidden_layers\": 1}}'"))
    assert outcome.status is Status.FAIL, outcome.summary
    assert "num_hidden_layers" in worst(outcome).message


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("export VLLM_NUM_LAYERS=10", Status.JUDGEMENT),
        ("env VLLM_NUM_LAYERS=10 vllm serve $MODEL", Status.JUDGEMENT),
        ("declare -x VLLM_NUM_LAYERS=10", Status.JUDGEMENT),
        ("export SGLANG_INDEX_TOPK_FREQ=4", Status.JUDGEMENT),
        ("docker run -e VLLM_NUM_LAYERS=10 $IMAGE", Status.JUDGEMENT),
        ("docker run --env=VLLM_NUM_LAYERS=10 $IMAGE", Status.JUDGEMENT),
        ("vllm serve $MODEL --index-topk-freq 4", Status.FAIL),
        ("vllm serve $MODEL --num-layers 2", Status.FAIL),
        ("vllm serve $MODEL --enable-index-cache", Status.FAIL),
        ('vllm serve $MODEL --model-class-overrides \'{"a": "b"}\'', Status.JUDGEMENT),
        ("python3 -m sglang.launch_server --model-path $MODEL --moe-top-k 2", Status.FAIL),
        ("export SGLANG_SKIP_EXPERTS=1 VLLM_PRUNE_EXPERTS=8", Status.JUDGEMENT),
        ('vllm serve $MODEL --additional-config \'{"a": {"num_layers": 1}}\'', Status.JUDGEMENT),
        ('vllm serve $MODEL --additional-config \'{"a": {"num_streams": 1}}\'', Status.PASS),
        ("export VLLM_SKIP_WARMUP=1", Status.PASS),
        ("echo VLLM_NUM_LAYERS=10", Status.PASS),
        ("export EPLB_REDUNDANT_EXPERTS=8", Status.PASS),
        ("vllm serve $MODEL --kv-cache-dtype-skip-layers 1", Status.PASS),
        ("python3 -m sglang.launch_server --model-path $MODEL --ep-num-redundant-experts 8", Status.PASS),
    ],
)
def test_variables_and_flags_that_are_named_after_a_part_of_the_model(line: str, status: Status) -> None:
    outcome = of(with_lines(line))
    assert outcome.status is status, outcome.summary


@pytest.mark.parametrize(
    ("argument", "line", "status"),
    [
        ("--model-path /data/pruned-model", ":", Status.JUDGEMENT),
        ("", "export MODEL=me/Qwen3.5-pruned", Status.JUDGEMENT),
        ("--revision pruned", ":", Status.JUDGEMENT),
        ("--load-format dummy", ":", Status.JUDGEMENT),
        ('--model-path "$(cat /data/model)"', ":", Status.UNVERIFIED),
        ("--model-path /models/qwen3.5-397b-a17b-nvfp4-v2/", ":", Status.PASS),
        ("--load-format fastsafetensors", ":", Status.PASS),
        ("", "hf download $MODEL --revision abc", Status.PASS),
        ("", "hf download me/pruned --local-dir $MODEL_PATH", Status.JUDGEMENT),
        ("", 'ln -sfn /data/pruned "$MODEL_PATH"', Status.JUDGEMENT),
        ("", 'hf download "$MODEL" --local-dir "$MODEL_PATH"', Status.PASS),
        ("", 'ID="$MODEL"; hf download "$ID" --local-dir "$MODEL_PATH"', Status.PASS),
        ("", 'rsync -a "/lustre/${MODEL##*/}/" "$MODEL_PATH/"', Status.PASS),
    ],
)
def test_the_checkpoint_is_the_row_s(argument: str, line: str, status: Status) -> None:
    outcome = of(serving_with(argument, line))
    assert outcome.status is status, outcome.summary
    again = of(serving_with(argument, line, "echo"), serving_with(argument, line))
    assert status is Status.UNVERIFIED or again.status is Status.PASS, again.summary


def test_a_recipe_that_names_another_checkpoint_is_judged() -> None:
    entry = MULTI_NODE.replace("SELECTOR", "").replace("dynamo-trt", "dynamo-vllm")
    content = (
        "backend:\n  type: vllm\n  vllm_config: {aggregated: {tensor-parallel-size: 8}}\nidentity: {model: {repo: R}}\n"
    )
    for repo, status in (("moonshotai/Kimi-K3", Status.PASS), ("me/Kimi-K3-pruned", Status.JUDGEMENT)):
        outcome = of({**summer(), NVIDIA: NVIDIA_MASTER + entry, RECIPE: content.replace("R}", f"{repo}}}")})
        assert outcome.status is status, outcome.summary


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        (("cat > /tmp/c.yaml <<'E'", "hf-overrides: {num_hidden_layers: 1}", "E", "--config /tmp/c.yaml"), Status.FAIL),
        (("cat > /tmp/c.yaml <<'E'", "max-num-seqs: 8", "E", "--config /tmp/c.yaml"), Status.PASS),
        (("--config /data/c.yaml",), Status.UNVERIFIED),
        (("--config $FILE_OF_CI",), Status.UNVERIFIED),
    ],
)
def test_a_file_of_options_is_read_or_not_verified(lines: tuple[str, ...], status: Status) -> None:
    outcome = of(with_lines(*lines[:-1], f"vllm serve $MODEL {lines[-1]}"))
    assert outcome.status is status, outcome.summary


@pytest.mark.parametrize(
    "line",
    [
        "CFG=m/config.json; sed -i 's/61/30/' $CFG",
        'DIR=m; CFG=$DIR/config.json; TARGET=$CFG; sed -i s/61/30/ "$TARGET"',
        "yq -i '.num_hidden_layers=1' m/config.json",
        "jq '.num_hidden_layers=1' m/config.json | sponge m/config.json",
        "cp benchmarks/config.json m/",
        "curl -so m/config.json http://x",
        "hf download me/cfg config.json --local-dir m",
        "patch m/config.json < x",
        "srun bash -c 'cp mine.json m/config.json'",
        "python3 edit.py m/config.json",
        'put() { cp mine.json "$1"; }; put m/config.json',
        "sed -i s/61/30/ $MODEL_PATH/*.json",
        "sed \\\n  -i s/61/30/ $MODEL_PATH/*.json",
        "rsync -a /data/pruned/ \\\n  $MODEL_PATH/",
        "find m -name '*.json' -exec sed -i s/61/30/ {} +",
    ],
)
def test_whatever_may_write_the_model_s_config_is_seen(line: str) -> None:
    assert of(with_lines(line)).status in (Status.FAIL, Status.JUDGEMENT)


@pytest.mark.parametrize(
    "line",
    [
        "jq .num_hidden_layers m/config.json",
        "yq .a m/config.json | head",
        "srun bash -c 'test -f m/config.json'",
        'fail() { echo "$1" >&2; exit 1; }; fail "no config.json"',
        "for f in config.json x.json; do ls $f; done",
        "cp /etc/mooncake_config.json /tmp",
        "sed -n 1,3p m/config.json",
        "mv results/*.json out/; sed -n 1p *.json",
    ],
)
def test_what_only_reads_the_model_s_config_passes(line: str) -> None:
    outcome = of(with_lines(line))
    assert outcome.status is Status.PASS, outcome.summary


def test_programs_inside_of_scripts_are_read() -> None:
    text = "from vllm import LLM\nLLM(model='x', hf_overrides={'num_hidden_layers': 1})"
    outcome = of(with_lines("python3 - <<'E'", text, "E"))
    assert (outcome.status, worst(outcome).line) == (Status.FAIL, 5), outcome.summary
    outcome = of(with_lines("python3 -c \"import os; os.environ['X_NUM_LAYERS'] = '1'\""))
    assert (outcome.status, worst(outcome).line) == (Status.JUDGEMENT, 3), outcome.summary


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("import json\np = 'm/config.json'\nc = json.load(open(p))\njson.dump(c, open(p, 'w'))\n", Status.JUDGEMENT),
        ("LLM(model='m', hf_overrides={'num_hidden_layers': 1})\n", Status.FAIL),
        ("ARGS = {'hf_overrides': {'rope_scaling': 1}}\n", Status.PASS),
        ("LLM(hf_overrides=cut)\n", Status.JUDGEMENT),
        ("LLM(load_format='dummy')\n", Status.JUDGEMENT),
        ("CMD = ['--hf-overrides', '{\"num_layers\": 1}']\n", Status.FAIL),
        ("import os\nos.environ['VLLM_NUM_LAYERS'] = '1'\n", Status.JUDGEMENT),
        ("import json\nprint(json.load(open('m/config.json')))\n", Status.PASS),
        ("Layer(num_kv_heads=8, hidden_size=4)\n", Status.PASS),
    ],
)
def test_programs_are_read(text: str, status: Status) -> None:
    outcome = of({**summer(), "benchmarks/e.py": text})
    assert outcome.status is status, outcome.summary


REDUCING = "vllm serve m --hf-overrides '{\"index_topk_freq\": 4}'"


def test_an_override_that_was_there_is_told_apart() -> None:
    base = with_lines(REDUCING)
    bump = {**base, NVIDIA: NVIDIA_MASTER.replace("v0.5.14", "v0.5.15")}
    outcome = of(bump, base)
    assert outcome.status is Status.JUDGEMENT
    assert "was there before" in outcome.summary
    assert [(f.status, f.line) for f in outcome.pre_existing] == [(Status.FAIL, 3)]


ARRAY = "CMD=(\n  vllm serve m\n  --hf-overrides '{\"index_topk_freq\": 4}'\n  --port 1\n)"


def test_another_new_flag_beside_an_old_override_is_no_new_override() -> None:
    outcome = of(with_lines(ARRAY.replace("--port 1", "--port 1\n  --swap 2")), with_lines(ARRAY))
    assert outcome.status is Status.JUDGEMENT
    assert "was there before" in outcome.summary


def test_a_new_override_in_an_old_array_fails() -> None:
    outcome = of(with_lines(ARRAY), with_lines(ARRAY.replace("  --hf-overrides '{\"index_topk_freq\": 4}'\n", "")))
    assert outcome.status is Status.FAIL
    assert worst(outcome).line == 5


def test_an_old_flag_whose_variable_has_another_value_fails() -> None:
    use = 'vllm serve m --hf-overrides "$X"'
    assert of(with_lines("X='{\"num_layers\": 2}'", use), with_lines("X='{}'", use)).status is Status.FAIL


def test_an_override_elsewhere_does_not_touch_a_key() -> None:
    other = {SCRIPT.replace("qwen3.5", "glm5"): f"#!/bin/bash\n{REDUCING}\n"}
    base = {**summer(), **other}
    outcome = of({**base, NVIDIA: NVIDIA_MASTER.replace("v0.5.14", "v0.5.15")}, base)
    assert outcome.status is Status.PASS
    assert outcome.pre_existing == ()


def test_a_mode_that_the_detail_section_calls_shipped_is_the_reviewers() -> None:
    text = "As a PR reviewer and CODEOWNER\n- [x] a\n\n### Additional detail section:\n- {}\n\nSigned: `a`\n"
    native = text.format("index_topk_freq is native: the checkpoint ships it")
    assert of(with_lines(REDUCING), sign_off=native).status is Status.JUDGEMENT
    assert of(with_lines(REDUCING), sign_off=text.format("all fine")).status is Status.FAIL


def test_recipes_in_json_are_read() -> None:
    outcome = of({**summer(), "benchmarks/x.json": '{"hf_overrides": {"num_hidden_layers": 1}}'})
    assert outcome.status is Status.FAIL, outcome.summary


def test_a_setting_of_an_entry_counts() -> None:
    setting = 'CONFIG_FILE=recipes/trtllm/kimi/agg.yaml", "EXTRA=--hf-overrides {num_hidden_layers: 3}'
    entry = MULTI_NODE.replace("CONFIG_FILE=recipes/trtllm/kimi/agg.yamlSELECTOR", setting)
    outcome = of({**summer(), NVIDIA: NVIDIA_MASTER + entry, RECIPE: "a: 1\n"})
    assert outcome.status is Status.FAIL
    assert worst(outcome).path == NVIDIA


def test_a_setting_that_names_another_checkpoint_is_judged() -> None:
    for model, status in (("/models/Kimi-K3", Status.PASS), ("/models/Kimi-K3-pruned", Status.JUDGEMENT)):
        entry = MULTI_NODE.replace("agg.yamlSELECTOR", f'agg.yaml", "MODEL_PATH={model}')
        outcome = of(
            {
                **summer(),
                NVIDIA: NVIDIA_MASTER + entry,
                RECIPE: "backend: {type: trtllm, trtllm_config: {aggregated: {tp: 8}}}\n",
            }
        )
        assert outcome.status is status, outcome.summary


@pytest.mark.parametrize(
    ("argument", "status"),
    [
        ("--cut-corners", Status.JUDGEMENT),
        ("--enable-double-sparsity", Status.JUDGEMENT),
        ("--enable-double-spars", Status.JUDGEMENT),
        ("--chunked-prefill-size 8", Status.PASS),
        ("--chunked-pref 8", Status.PASS),
    ],
)
def test_an_option_that_no_engine_is_known_to_have_is_judged(argument: str, status: Status) -> None:
    outcome = of(serving_with(argument))
    assert outcome.status is status, outcome.summary
    assert of(serving_with(argument, "echo"), serving_with(argument)).status is Status.PASS


def test_without_server_arguments_it_is_not_applicable() -> None:
    assert of({**summer(), "docs/x.md": "--hf-overrides"}).status is Status.NOT_APPLICABLE


def test_a_new_key_with_a_recipe_of_another_repository_is_not_verified() -> None:
    outcome = of({**summer(), NVIDIA: NVIDIA_MASTER + MULTI_NODE.replace("SELECTOR", "")})
    assert outcome.status is Status.UNVERIFIED
    assert "not in this repository" in outcome.summary


# -- publish_events_and_metrics ---------------------------------------------------------------------------------------

AUTUMN = {**summer(), PROMPT: f"{BAN}{VERIFIER}"}


def of_recipe(content: str, selector: str = "", policy: dict[str, bytes | str] = AUTUMN) -> Outcome:
    """What the check says to a bumped image of a key that runs this recipe, which the base has too."""
    base = {**summer(), NVIDIA: NVIDIA_MASTER + MULTI_NODE.replace("SELECTOR", selector), RECIPE: content}
    head = {**base, NVIDIA: str(base[NVIDIA]).replace("x:1", "x:2")}
    return of(head, base, policy=policy)


@pytest.mark.parametrize(
    ("content", "status"),
    [
        ("a:\n  publish_events_and_metrics: false\n", Status.FAIL),
        ('a:\n  "publish_events_and_metrics": "False"\n', Status.FAIL),
        ("a:\n  args: --no-publish-events-and-metrics\n", Status.FAIL),
        ("a:\n  args: --publish-events-and-metrics=0\n", Status.FAIL),
        ("a:\n  publish_events_and_metrics: true\nb:\n  publish_events_and_metrics: off\n", Status.FAIL),
        ("a:\n  publish_events_and_metrics: true\n", Status.PASS),
        ("a:\n  args: --publish-events-and-metrics --x\n", Status.PASS),
        ("a: 1\n", Status.UNVERIFIED),
        ("a: 1  # publish_events_and_metrics: false\n", Status.UNVERIFIED),
        ("# publish_events_and_metrics: false\na: 1\n", Status.UNVERIFIED),
        ("a:\n  publish_events_and_metrics: $X\n", Status.UNVERIFIED),
    ],
)
def test_the_ban_is_on_what_serves(content: str, status: Status) -> None:
    outcome = of_recipe(content)
    assert outcome.status is status, outcome.summary
    if status is Status.FAIL:
        assert worst(outcome).path == RECIPE


@pytest.mark.parametrize(
    ("content", "status"),
    [
        ("a:\n  args: [--publish-events-and-metrics, 'false']\n", Status.FAIL),
        ("a:\n  args: [--publish-events-and-metrics, --x]\n", Status.PASS),
        ("a: {env: {DYN_PUBLISH_EVENTS_AND_METRICS: 'false'}, publish_events_and_metrics: true}\n", Status.FAIL),
        ("env: [{name: DYN_PUBLISH_EVENTS_AND_METRICS, value: 'false'}]\n", Status.FAIL),
        ("prefill:\n  a: 1\ndecode:\n  publish_events_and_metrics: true\n", Status.UNVERIFIED),
        ("prefill:\n  publish_events_and_metrics: true\ndecode:\n  publish_events_and_metrics: true\n", Status.PASS),
        ("publish_events_and_metrics: true\nprefill:\n  a: 1\ndecode:\n  a: 1\n", Status.PASS),
        ("resources: {prefill_nodes: 0, agg_nodes: 1}\naggregated: {publish_events_and_metrics: true}\n", Status.PASS),
    ],
)
def test_every_spelling_and_every_role_counts(content: str, status: Status) -> None:
    outcome = of_recipe(content)
    assert outcome.status is status, outcome.summary


def test_without_the_ban_in_the_policy_the_setting_does_not_matter() -> None:
    assert of_recipe("publish_events_and_metrics: false\n", policy=summer()).status is Status.PASS


def test_other_blocks_of_a_recipe_do_not_count() -> None:
    content = (
        "base:\n  publish_events_and_metrics: true\noverride_x:\n  publish_events_and_metrics: false\noverride_y: {}\n"
    )
    assert of_recipe(content, ":override_y").status is Status.PASS
    assert of_recipe(content, ":override_x").status is Status.FAIL


def test_a_single_node_script_without_the_setting_is_not_verified() -> None:
    outcome = of({**summer(), NVIDIA: NVIDIA_MASTER.replace("v0.5.14", "v0.5.15")}, policy=AUTUMN)
    assert outcome.status is Status.UNVERIFIED
    assert "has no such setting" in outcome.summary


def test_a_file_that_serves_nobody_known_is_not_verified() -> None:
    assert of({**summer(), "benchmarks/lib.sh": "echo\n"}, policy=AUTUMN).status is Status.UNVERIFIED
    assert of({**summer(), "docs/x.md": "x"}, policy=AUTUMN).status is Status.NOT_APPLICABLE


# -- hostile texts and real pull requests -----------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["x.sh", "x.py", "x.yaml"]), st.text(max_size=120), st.text(max_size=80))
def test_no_text_breaks_the_reading(name: str, before: str, value: str) -> None:
    text = f"{before}\nvllm serve m --hf-overrides {value}\nhf_overrides: {value}\npublish_events_and_metrics: {value}"
    overrides_in(f"benchmarks/{name}", text)
    event_settings(f"benchmarks/{name}", text)


def test_a_deep_override_is_not_read_to_its_end() -> None:
    deep = '{"a":' * 5_000 + "1" + "}" * 5_000
    assert of(with_lines(f"vllm serve m --hf-overrides '{deep}'")).status is Status.JUDGEMENT


@pytest.mark.parametrize(
    ("number", "status"),
    [
        *((number, "fail") for number in (1930, 1940, 1967, 1968, 1969, 1979, 2017, 2102, 2487)),
        (2187, "pass"),
        (2332, "judgement"),
        (2404, "judgement"),
        (2574, "judgement"),
        (2289, "pass"),
        (2550, "pass"),
        (2011, "not_applicable"),
    ],
)
def test_real_pull_requests(real_clone: Path, number: int, status: str) -> None:
    outcome = real_outcome(decide, real_clone, number)
    assert outcome.status == status
    assert status != "fail" or "use_index_cache" in outcome.summary
