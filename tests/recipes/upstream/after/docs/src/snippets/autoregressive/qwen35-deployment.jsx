// A page for tests: the arms of Qwen3.5 as the merged change documents them.
export const Qwen35Deployment = () => {
  const EXPERTS = new Set(['397b', '122b']);
  const AMD = ['mi300x', 'mi355x'];

  const options = {
    model: {
      title: 'Model',
      items: [
        { id: '397b', label: '397B', default: true },
        { id: '122b', label: '122B', default: false },
      ],
    },
    hardware: {
      title: 'Hardware',
      getDynamicItems: (values) => {
        const blackwellOnly = values.quantization === 'fp4';
        const item = (id, extra = {}) => ({ id, label: id.toUpperCase(), default: id === 'h200', ...extra });
        return [
          item('h200', { disabled: blackwellOnly }),
          item('b200'),
          item('b300'),
          item('mi300x', { disabled: blackwellOnly }),
          item('mi355x'),
        ];
      },
    },
    quantization: {
      title: 'Quantization',
      getDynamicItems: (values) => [
        { id: 'fp8', label: 'FP8', default: true },
        { id: 'fp4', label: 'FP4', default: false, disabled: values.model !== '397b' },
      ],
    },
    reasoning: {
      title: 'Reasoning Parser',
      items: [{ id: 'off', default: false }, { id: 'on', default: true }],
    },
    speculative: {
      title: 'Speculative Decoding',
      items: [{ id: 'off', default: false }, { id: 'on', default: true }],
    },
    radix: {
      title: 'Mamba Radix Cache',
      condition: (values) => EXPERTS.has(values.model),
      getDynamicItems: (values) => {
        if (AMD.includes(values.hardware)) {
          return [{ id: 'plain', default: true }, { id: 'buffered', disabled: true }];
        }
        if (values.speculative === 'on') {
          return [{ id: 'plain', disabled: true }, { id: 'buffered', default: true }];
        }
        return [{ id: 'plain', default: true }, { id: 'buffered' }];
      },
    },
  };

  const sizes = {
    '397b': {
      h200:   { fp8: { tp: 8, ep: 8, mem: 0.8 } },
      b200:   { fp8: { tp: 4, mem: 0.8 }, fp4: { tp: 4, mem: 0.85 } },
      b300:   { fp8: { tp: 4, mem: 0.8 }, fp4: { tp: 4, mem: 0.8 } },
      mi300x: { fp8: { tp: 4, mem: 0.8 } },
      mi355x: { fp8: { tp: 2, mem: 0.8 }, fp4: { tp: 2, mem: 0.8 } },
    },
    '122b': {
      h200: { fp8: { tp: 2 } },
      b200: { fp8: { tp: 1, mem: 0.8 } },
    },
  };

  const start = () => {
    const state = {};
    Object.entries(options).forEach(([key, option]) => {
      const items = option.getDynamicItems ? option.getDynamicItems(state) : option.items;
      state[key] = (items.find((i) => i.default && !i.disabled) ?? items[0]).id;
    });
    return state;
  };
  const [values, setValues] = useState(start);
  const [dark, setDark] = useState(false);

  useEffect(() => {
    setDark(document.documentElement.classList.contains('dark'));
  }, []);

  const generateCommand = () => {
    const { model, hardware, quantization, speculative } = values;
    let size = sizes[model]?.[hardware]?.[quantization];
    if (!size) {
      return '# This combination is not documented';
    }
    const drafts = speculative === 'on';
    const smallest = model === '397b' && hardware === 'b200' && quantization === 'fp4' && drafts;
    if (smallest) {
      size = { ...size, tp: 2, ep: 2, mem: 0.8 };
    }

    let name;
    if (quantization === 'fp4') {
      name = hardware === 'mi355x' ? 'amd/Qwen3.5-397B-A17B-MXFP4-AttnFP8-V2' : 'nvidia/Qwen3.5-397B-A17B-NVFP4-V2';
    } else {
      name = `Qwen/Qwen3.5-${{ '397b': '397B-A17B', '122b': '122B-A10B' }[model]}-FP8`;
    }

    const flags = [];
    if (size.tp > 1) flags.push(`--tp ${size.tp}`);
    if (size.ep) flags.push(`--expert-parallel-size ${size.ep}`);
    const rules = {
      reasoning: (v) => (v === 'on' ? '--reasoning-parser qwen3' : null),
      speculative: (v) => v === 'on' ? '--speculative-algorithm NEXTN \\\n  --speculative-num-steps 3 \\\n  --speculative-eagle-topk 1 \\\n  --speculative-num-draft-tokens 4' : null,
      radix: (v) => (v === 'buffered' ? '--mamba-radix-cache-strategy extra_buffer' : null),
    };
    for (const key of Object.keys(options)) {
      if (!rules[key]) continue;
      const flag = rules[key](values[key]);
      if (flag) flags.push(flag);
    }
    if (smallest) {
      flags.push('--linear-attn-backend triton', '--linear-attn-decode-backend flashinfer');
      flags.push('--linear-attn-prefill-backend flashinfer');
    }
    if (hardware === 'b200' || (hardware === 'b300' && quantization === 'fp4')) flags.push('--attention-backend trtllm_mha');
    if (AMD.includes(hardware)) flags.push('--attention-backend aiter', '--page-size 16');
    if (quantization === 'fp4' && hardware === 'b200') {
      flags.push('--quantization modelopt_fp4', '--fp4-gemm-backend flashinfer_cutlass');
      flags.push('--kv-cache-dtype fp8_e4m3', '--moe-runner-backend flashinfer_trtllm');
      flags.push('--chunked-prefill-size 32768', '--max-prefill-tokens 32768', '--max-running-requests 128');
      flags.push('--stream-interval 30', '--disable-radix-cache');
    }
    if (size.mem !== undefined) flags.push(`--mem-fraction-static ${size.mem}`);

    let command = `sglang serve --model-path ${name}`;
    for (const flag of flags) {
      command += ` \\\n  ${flag}`;
    }
    return AMD.includes(hardware) ? `SGLANG_USE_AITER=1 \\\nSGLANG_MAMBA_SSM_DTYPE=bfloat16 \\\n${command}` : command;
  };

  return <pre style={{ color: dark ? 'white' : 'black' }}>{generateCommand()}</pre>;
};
