"""How a server speculates, engine by engine."""

from __future__ import annotations

import pytest

from reviewer_tui.launch.serve_command import ServeCommand, serve_command
from reviewer_tui.launch.speculation import Speculation, speculation_of, thinking_signals
from reviewer_tui.model.tree import DictTree
from tests.launch.rows import one_node


def server(script: str, *, eval_only: bool = False) -> ServeCommand:
    found = serve_command(DictTree({"run.sh": script}), "run.sh", one_node(), eval_only=eval_only)
    assert found is not None
    return found


def speculation(script: str, *, eval_only: bool = False) -> Speculation:
    found = speculation_of(server(script, eval_only=eval_only))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("script", "method", "draft", "level", "length"),
    [
        (
            'vllm serve m --speculative-config \'{"method": "mtp", "num_speculative_tokens": 3}\'',
            "mtp",
            None,
            3,
            None,
        ),
        (
            "vllm serve m --speculative-config.method eagle3 --speculative-config.model o/d "
            "--speculative-config.num_speculative_tokens 5 --speculative-config.rejection_sample_method synthetic "
            "--speculative-config.synthetic_acceptance_length 2.85",
            "eagle3",
            "o/d",
            5,
            2.85,
        ),
        (
            'vllm serve m --speculative-config \'{"method": "mtp", "num_speculative_tokens": 4, '
            '"rejection_sample_method": "synthetic", "synthetic_acceptance_rate": 0.5}\'',
            "mtp",
            None,
            4,
            3.0,
        ),
        (
            "sglang serve --speculative-algorithm EAGLE --speculative-num-steps 3 --speculative-eagle-topk 1 "
            "--speculative-num-draft-tokens 4",
            "eagle",
            None,
            3,
            None,
        ),
        (
            "export SGLANG_SIMULATE_ACC_LEN=2.5\n"
            "sglang serve --speculative-algorithm EAGLE3 --speculative-draft-model-path o/d --speculative-num-steps 2",
            "eagle3",
            "o/d",
            2,
            2.5,
        ),
        (
            "SGLANG_SIMULATE_ACC_LEN=-1 sglang serve --speculative-algorithm NEXTN --speculative-num-steps 1",
            "nextn",
            None,
            1,
            None,
        ),
        (
            "sglang serve --speculative-algorithm DSPARK --speculative-dspark-block-size 5 --speculative-num-steps 9",
            "dspark",
            None,
            5,
            None,
        ),
        (
            "printf 'speculative_config:\\n  decoding_type: MTP\\n  num_nextn_predict_layers: 3\\n' > o.yml\n"
            "export TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS=1.44\n"
            "trtllm-serve m --extra_llm_api_options o.yml",
            "mtp",
            None,
            3,
            2.44,
        ),
        (
            "printf 'speculative_config:\\n  decoding_type: Eagle3\\n  max_draft_len: 2\\n' > o.yml\n"
            "printf '  speculative_model: d\\n' >> o.yml\n"
            "trtllm-serve m --extra_llm_api_options o.yml",
            "eagle3",
            "d",
            2,
            None,
        ),
        ("python3 -m atom.entrypoints.openai_server --model m --method mtp", "mtp", None, 1, None),
        (
            "python3 -m atom.entrypoints.openai_server --model m --method mtp --num-speculative-tokens 3 "
            "--spec-decode-acceptance-rate 0.5",
            "mtp",
            None,
            3,
            2.5,
        ),
    ],
)
def test_engines(script: str, method: str, draft: str | None, level: int, length: float | None) -> None:
    found = speculation(script)
    assert (found.method, found.draft_model, found.level) == (method, draft, level)
    assert (found.synthetic, found.acceptance_length) == (length is not None, length)
    assert not found.unknown
    assert found.knobs


@pytest.mark.parametrize(
    "script",
    [
        "vllm serve m --tp 8",
        "sglang serve --tp 8",
        "sglang serve --speculative-algorithm NONE",
        "SGLANG_SIMULATE_ACC_LEN=3 sglang serve --tp 8",
        "trtllm-serve m",
        "vllm serve m --speculative-config '{\"num_speculative_tokens\": 0}'",
        "python3 -m atom.entrypoints.openai_server --model m",
    ],
)
def test_no_speculation(script: str) -> None:
    assert speculation_of(server(script)) is None


def test_the_evaluation_s_twin_is_real() -> None:
    script = """S='"rejection_sample_method": "synthetic", "synthetic_acceptance_length": 2.5'
[ "$EVAL_ONLY" = "true" ] && S='"rejection_sample_method": "strict"'
vllm serve m --speculative-config "{\\"method\\": \\"mtp\\", \\"num_speculative_tokens\\": 2, $S}"
"""
    benchmark, evaluation = speculation(script), speculation(script, eval_only=True)
    assert (benchmark.synthetic, benchmark.acceptance_length) == (True, 2.5)
    assert (evaluation.synthetic, evaluation.rejection_method) == (False, "strict")


@pytest.mark.parametrize(
    "script",
    [
        'vllm serve m --speculative-config "$(settings)"',
        'vllm serve m --speculative-config "{\\"method\\": \\"mtp\\", \\"num_speculative_tokens\\": $(levels)}"',
        "sglang serve --speculative-algorithm EAGLE --speculative-num-steps $(levels)",
        "sglang serve --speculative-algorithm EAGLE --speculative-num-steps 3 --speculative-eagle-topk 4",
        "sglang serve --speculative-algorithm EAGLE",
        "sglang serve --speculative-algorithm EAGLE --speculative-num-steps many",
        "sglang serve --tp 8 $(more)",
        "trtllm-serve m --extra_llm_api_options /elsewhere.yml",
    ],
)
def test_a_level_that_is_not_known_says_why(script: str) -> None:
    found = speculation(script)
    assert found.level is None
    assert found.unknown


def test_acceptance_that_is_not_known() -> None:
    script = (
        "export SGLANG_SIMULATE_ACC_LEN=$(length)\nsglang serve --speculative-algorithm EAGLE --speculative-num-steps 3"
    )
    found = speculation(script)
    assert (found.level, found.synthetic, found.acceptance_length) == (3, None, None)
    assert "line 1" in found.unknown[0]


@pytest.mark.parametrize(
    ("script", "client", "modes"),
    [
        ("export SGLANG_ENABLE_THINKING=1\nsglang serve", {}, ["on"]),
        ("export SGLANG_DEFAULT_THINKING=false\nsglang serve", {}, ["off"]),
        ("vllm serve m --default-chat-template-kwargs '{\"enable_thinking\": false}'", {}, ["off"]),
        ("sglang serve --chat-template /x/thinking.jinja", {}, ["on"]),
        ("sglang serve", {"AIPERF_EXTRA_INPUTS": '{"thinking": "enabled"}'}, ["on"]),
        ("sglang serve", {}, []),
    ],
)
def test_thinking(script: str, client: dict[str, str], modes: list[str]) -> None:
    assert [signal.mode for signal in thinking_signals(server(script), client)] == modes
