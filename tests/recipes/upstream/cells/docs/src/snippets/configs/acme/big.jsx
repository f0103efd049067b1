// A config for tests.
export const config = {
  modelName: "Big",
  supportedHardware: ["b200", "gb300", "mi355x"],
  variants: [{ id: "base", label: "Base" }],
  quantizations: [{ id: "fp8" }, { id: "fp4" }],
  strategies: [{ id: "low-latency" }, { id: "balanced" }],
  nodesOptions: [{ id: "single" }, { id: "multi-2" }],
  modelNames: {
    "base|fp8": "acme/Big-FP8",
    "base|fp4": "acme/Big",
    "mi355x|base|fp4": "amd/Big-MXFP4",
  },
  placeholders: {
    HOST_IP: { target: "command", default: "0.0.0.0" },
    PORT: { target: "command", default: "30000" },
  },
  curl: `curl http://x \
-d '{}'`,
  playgroundFeatures: { moe: { options: [{ flags: ["--moe-a2a-backend deepep"] }] } },
  cells: [
    {
      match: { hw: "b200", variant: "base", quant: "fp4", strategy: "low-latency", nodes: "single" },
      verified: true,
      env: ["SGLANG_OPT_X=1"],
      flags: [
        "--model-path {{MODEL_NAME}}",
        "--tp 4",
        "--moe-runner-backend flashinfer_mxfp4",
        "--deepep-config '{\"sms\":{\"num\":96}}'",
        "--host {{HOST_IP}}",
        "--port {{PORT}}",
      ],
    },
    {
      // Balanced: attention data parallel.
      match: { hw: "b200", variant: "base", quant: "fp4", strategy: "balanced", nodes: "single" },
      verificationStatus: "in-progress",
      env: [],
      flags: ["--model-path {{MODEL_NAME}}", "--tp 8", "--attn-dp-size 8", "--moe-a2a-backend deepep"],
    },
    {
      match: { hw: "gb300", variant: "base", quant: "fp8", strategy: "balanced", nodes: "multi-2" },
      env: [],
      flags: ["--model-path {{MODEL_NAME}}", "--tp 8"],
    },
    {
      match: { hw: "mi355x", variant: "base", quant: "fp4", strategy: "low-latency", nodes: "single" },
      verified: false,
      env: [],
      flags: ["--model-path {{MODEL_NAME}}", "--tp 4"],
    },
    {
      match: { hw: "b200", variant: "base", quant: "fp4", strategy: "mtp-314", nodes: "single" },
      verified: true,
      env: [],
      flags: ["--model-path {{MODEL_NAME}}", "--tp 1"],
    },
    {
      match: { hw: "b200", variant: "base", quant: "fp4", strategy: "low-latency", nodes: "single" },
      verified: true,
      env: [],
      flags: ["--model-path {{MODEL_NAME}}", "--tp 2"],
    },
  ],
};
