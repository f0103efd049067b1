#!/usr/bin/env bash
# Qwen3.5 in FP4 on B200 with multi-token prediction: one server, then one client for each point.
# Written for the sample of reviewer-tui.
set -euo pipefail
source "$(dirname "$0")/../../benchmark_lib.sh"

SERVER_ARGS=(
    --model-path "$MODEL"
    --port "$PORT"
    --tensor-parallel-size "$TP"
    --expert-parallel-size "$EP_SIZE"
    --quantization modelopt_fp4
    --kv-cache-dtype fp8_e4m3
    --mamba-ssm-dtype bfloat16
    --attention-backend trtllm_mha
    --moe-runner-backend flashinfer_trtllm
    --enable-symm-mem
    --disable-radix-cache
    --mem-fraction-static 0.8
    --max-running-requests "$CONC"
    --speculative-algorithm EAGLE
    --speculative-num-steps 3
    --speculative-eagle-topk 1
    --speculative-num-draft-tokens 4
)
python3 -m sglang.launch_server "${SERVER_ARGS[@]}" > server.log 2>&1 &

wait_for_server_ready --port "$PORT" --server-log server.log --server-pid "$!"

if [ "${EVAL_ONLY:-false}" = "true" ]; then
    run_eval --framework lm-eval --port "$PORT"
else
    run_benchmark_serving \
        --model "$MODEL" \
        --port "$PORT" \
        --input-len "$ISL" \
        --output-len "$OSL" \
        --max-concurrency "$CONC" \
        --result-filename "$RESULT_FILENAME" \
        --use-chat-template
fi
