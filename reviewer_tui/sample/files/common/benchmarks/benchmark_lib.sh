#!/usr/bin/env bash
# What the benchmark scripts share. Written for the sample of reviewer-tui: it says what is run, and no more.

wait_for_server_ready() { :; }
run_benchmark_serving() { python3 utils/bench_serving/benchmark_serving.py "$@"; }
run_eval() { python3 -m lm_eval "$@"; }
