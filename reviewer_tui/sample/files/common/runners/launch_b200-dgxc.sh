#!/usr/bin/env bash
# Runs the benchmark script of a point. Written for the sample of reviewer-tui.
SUFFIX=$([ "$SPEC_DECODING" = "mtp" ] && echo _mtp)
FOLDER="benchmarks/single_node/fixed_seq_len"
SCRIPT="$FOLDER/${EXP_NAME%%_*}_${PRECISION}_b200_${FRAMEWORK}${SUFFIX}.sh"
[ -f "$SCRIPT" ] || SCRIPT="$FOLDER/${EXP_NAME%%_*}_${PRECISION}_b200${SUFFIX}.sh"
bash "$SCRIPT"
