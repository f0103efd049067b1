// Generated data for tests.
export const agentx = {
 "model": "Big",
 "source": {"repo": "https://github.com/SemiAnalysisAI/InferenceX", "main": "aaaa", "prs": {}},
 "envs": [{"SGLANG_SHARED": "1"}],
 "cells": [
  {
   "id": "big#0", "hw": "gb300", "ckpt": "acme/Big-FP8", "label": "Agg TP4",
   "configKey": "big-fp8-gb300-sglang-agentic", "submitted": "sglang",
   "kv": {"available": ["none"]},
   "prov": {"sha": "bbbb", "pr": "3840", "status": "in-progress"},
   "points": [
    {"concs": [1], "kv": "none"},
    {"concs": [44], "kv": "none", "patch": {"sglang": [{"args": {"--max-running-requests": ["4"], "--trust-remote-code": null}, "env": {"X": null}}, null]}}
   ],
   "routers": {
    "sglang": {"blocks": [
     {"kind": "worker", "role": "agg", "workers": 1, "nodes_per_worker": 1, "cmd": "python3 -m sglang.launch_server",
      "env": {"X": "1"},
      "args": [["--model-path", "acme/Big-FP8"], ["--tensor-parallel-size", "4"], ["--expert-parallel-size", "1"],
               ["--trust-remote-code"], ["--max-running-requests", "1"], ["--speculative-algorithm", "NEXTN"]]},
     {"kind": "sglang-router", "cmd": "python3 -m sglang_router.launch_router", "env": {}, "args": [["--policy", "cache_aware"]]}
    ]},
    "dynamo": {"blocks": [{"from": 0, "cmd": "python3 -m dynamo.sglang", "diff": {"args": {"--request-plane": ["tcp"]}}}]}
   }
  },
  {
   "id": "big#1", "hw": "gb300", "ckpt": "acme/Big-FP8", "label": "Disagg 1P1D",
   "configKey": "big-fp8-gb300-dynamo-sglang-agentic", "submitted": "dynamo",
   "kv": {"available": ["none"]},
   "prov": {"sha": "cccc", "pr": "3231", "status": "verified", "run": "1/attempts/2"},
   "points": [{"concs": [8], "kv": "none"}],
   "routers": {
    "dynamo": {"blocks": [
     {"kind": "etcd", "cmd": "etcd", "args": []},
     {"kind": "dynamo-frontend", "count": 2, "cmd": "python3 -m dynamo.frontend", "args": [["--router-mode", "kv"]]},
     {"ref": [0, "sglang", 0], "role": "prefill", "diff": {"args": {"--disaggregation-mode": ["prefill"], "--tensor-parallel-size": ["1"]}}},
     {"ref": [0, "dynamo", 0], "role": "decode", "nodes_per_worker": 2, "envRef": 0, "diff": {"args": {"--disaggregation-mode": ["decode"], "--tensor-parallel-size": ["8"], "--trust-remote-code": null}}}
    ]}
   }
  },
  {
   "id": "big#2", "hw": "gb300", "ckpt": "acme/Big-FP8", "submitted": "sglang", "prov": {}, "points": [],
   "routers": {"sglang": {"blocks": [{"ref": [3, "sglang", 0]}]}}
  },
  {
   "id": "big#3", "hw": "gb300", "ckpt": "acme/Big-FP8", "submitted": "sglang", "prov": {}, "points": [],
   "routers": {"sglang": {"blocks": [{"ref": [2, "sglang", 0]}]}}
  }
 ]
};
