// A miniature of the page's command builder, written for the sample of reviewer-tui: what the merged change documents.
export const Qwen35Deployment = () => {
  const options = {
    hardware: {
      title: 'Hardware',
      items: [
        { id: 'b200', label: 'B200', default: true },
        { id: 'h200', label: 'H200', default: false },
      ],
    },
    speculative: {
      title: 'Multi-token prediction',
      items: [{ id: 'off', default: false }, { id: 'on', default: true }],
    },
  };

  const checkpoints = {
    b200: 'nvidia/Qwen3.5-397B-A17B-NVFP4-V2',
    h200: 'Qwen/Qwen3.5-397B-A17B-FP8',
  };
  const sizes = { b200: { tp: 4, mem: 0.85 }, h200: { tp: 8, ep: 8, mem: 0.8 } };

  const start = () => ({ hardware: 'b200', speculative: 'on' });
  const [values, setValues] = useState(start);

  const generateCommand = () => {
    const drafts = values.speculative === 'on';
    const blackwell = values.hardware === 'b200';
    const size = blackwell && drafts ? { tp: 2, ep: 2, mem: 0.8 } : sizes[values.hardware];

    const flags = [`--tp ${size.tp}`];
    if (size.ep) flags.push(`--expert-parallel-size ${size.ep}`);
    if (drafts) {
      flags.push('--speculative-algorithm NEXTN', '--speculative-num-steps 3');
      flags.push('--speculative-eagle-topk 1', '--speculative-num-draft-tokens 4');
      flags.push('--mamba-radix-cache-strategy extra_buffer');
    }
    if (blackwell) {
      flags.push('--attention-backend trtllm_mha', '--quantization modelopt_fp4');
      flags.push('--fp4-gemm-backend flashinfer_cutlass', '--kv-cache-dtype fp8_e4m3');
      flags.push('--moe-runner-backend flashinfer_trtllm', '--linear-attn-backend triton');
      flags.push('--max-running-requests 128', '--disable-radix-cache');
    }
    flags.push(`--mem-fraction-static ${size.mem}`);

    let command = `sglang serve --model-path ${checkpoints[values.hardware]}`;
    for (const flag of flags) {
      command += ` \\\n  ${flag}`;
    }
    return command;
  };

  return <pre>{generateCommand()}</pre>;
};
