#!/usr/bin/env bash
# Runs the benchmark script of a point. Written for the sample of reviewer-tui.
DRAFTS=$([[ "$SPEC_DECODING" == "mtp" ]] && printf '_mtp' || printf '')
STEM="benchmarks/single_node/fixed_seq_len/${EXP_NAME%%_*}_${PRECISION}_b200"
SCRIPT="${STEM}_${FRAMEWORK}${DRAFTS}.sh"
[[ -f "$SCRIPT" ]] || SCRIPT="${STEM}${DRAFTS}.sh"
bash "$SCRIPT"
