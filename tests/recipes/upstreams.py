"""Upstream pages for tests (files below `upstream/`), and submitted variants to hold against them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reviewer_tui.launch.arguments import canonical
from reviewer_tui.launch.serve_command import ServeCommand
from reviewer_tui.launch.shell_words import Argument
from reviewer_tui.launch.text import Mixed, Unknown
from reviewer_tui.model.tree import DictTree
from reviewer_tui.recipes.arm import Engine, RoleName
from reviewer_tui.recipes.submitted import Variant, submitted_role

QWEN_PAGE = "docs/cookbook/autoregressive/Qwen/Qwen3.5.mdx"
QWEN_WIDGET = "docs/src/snippets/autoregressive/qwen35-deployment.jsx"
BIG_PAGE = "docs/cookbook/autoregressive/Acme/Big.mdx"
BIG_CONFIG = "docs/src/snippets/configs/acme/big.jsx"
BIG_AGENTX = "docs/src/snippets/agentx/acme/big.jsx"
BIG_RECIPE = "models/acme/Big.yaml"

_ROOT = Path(__file__).parent / "upstream"


def upstream(name: str) -> DictTree:
    """One of the upstream trees: `before` and `after` the merged change of the worked example, `cells`, `vllm`."""
    files = {
        str(path.relative_to(_ROOT / name)): path.read_bytes() for path in (_ROOT / name).rglob("*") if path.is_file()
    }
    return DictTree(files, revision=name)


UNKNOWN = Mixed((Unknown("value of X", 7),))
"""The text of an argument that could not be evaluated."""


def serve(
    args: Mapping[str, Any], engine: Engine = "sglang", env: Mapping[str, Any] | None = None, role: RoleName = "worker"
) -> ServeCommand:
    """A serve command with these arguments, as the launch script at line 12 has it."""
    words = [
        Argument(word if isinstance(word, Mixed) else str(word), 12)
        for flag, value in args.items()
        for word in ((flag,) if value is True else (flag, value))
    ]
    return ServeCommand(
        role=role,
        engine=engine,
        argv=tuple(words),
        arguments=canonical(words, engine, "0.5.14" if engine == "sglang" else "0.25.1"),
        env=env or {},
        path="benchmarks/single_node/big.sh",
        line=12,
    )


def variant(
    args: Mapping[str, Any],
    engine: Engine = "sglang",
    checkpoint: str = "acme/Big",
    hardware: str = "b200",
    env: Mapping[str, Any] | None = None,
    role: RoleName = "worker",
    **fields: Any,
) -> Variant:
    """A submitted variant of one process."""
    submitted = submitted_role(engine, serve(args, engine, env, role))
    return Variant(
        key=fields.pop("key", "big-fp4"),
        label=fields.pop("label", ""),
        engine=engine,
        checkpoint=checkpoint,
        hardware=hardware,
        roles=(submitted,),
        **fields,
    )


def qwen(tp: int, ep: int) -> Variant:
    """An arm of `qwen3.5-fp4-b200-sglang-mtp` as its launch script serves it."""
    args = {
        "--model-path": "nvidia/Qwen3.5-397B-A17B-NVFP4-V2",
        "--host": "0.0.0.0",
        "--port": 8888,
        "--trust-remote-code": True,
        "--tensor-parallel-size": tp,
        "--data-parallel-size": 1,
        "--expert-parallel-size": ep,
        "--enable-symm-mem": True,
        "--disable-radix-cache": True,
        "--quantization": "modelopt_fp4",
        "--kv-cache-dtype": "fp8_e4m3",
        "--mamba-ssm-dtype": "bfloat16",
        "--attention-backend": "trtllm_mha",
        "--moe-runner-backend": "flashinfer_trtllm",
        "--cuda-graph-max-bs": 16,
        "--max-running-requests": 16,
        "--max-prefill-tokens": 16384,
        "--chunked-prefill-size": 16384,
        "--mem-fraction-static": 0.8,
        "--stream-interval": 50,
        "--scheduler-recv-interval": 30,
        "--tokenizer-worker-num": 6,
        "--tokenizer-path": "nvidia/Qwen3.5-397B-A17B-NVFP4-V2",
        "--speculative-algorithm": "EAGLE",
        "--speculative-num-steps": 3,
        "--speculative-eagle-topk": 1,
        "--speculative-num-draft-tokens": 4,
        "--context-length": 9236,
    }
    return variant(
        args,
        checkpoint="nvidia/Qwen3.5-397B-A17B-NVFP4-V2",
        env={"SGLANG_ENABLE_SPEC_V2": "1", "PYTHONNOUSERSITE": "1"},
        key="qwen3.5-fp4-b200-sglang-mtp",
        label=f"tp{tp} ep{ep} mtp",
        image="lmsysorg/sglang:v0.5.14-cu130",
        points=(16, 32, 64),
    )
