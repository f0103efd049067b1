"""Small programs print what Python prints, and everything beyond is not known."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.launch.small_python import run

MODELS = """
big:
  flags: "--a 1 --b 'x y'"
  sizes: [1, 2, 4]
  dp: {env: A=1, max: 512}
  fast: yes
small: {}
"""
# Each part is a program of its own, under `#: its name`.
_PARTS = re.split(r"^#: (.+)\n", (Path(__file__).parent / "programs.txt").read_text("utf-8"), flags=re.M)[1:]
PROGRAMS = dict(zip(_PARTS[::2], _PARTS[1::2], strict=True))
UNKNOWN = [
    "print('a' * 999999999)",
    "print([0] * 999999999)",
    "print('%999999999d' % 1)",
    "x = 1\nprint(f'{x:999999999}')",
    "print(" + "-" * 15_000 + "1)",
    "print(" + "(" * 9_000 + ")" * 9_000 + ")",
    "x = 'a'\nfor i in range(100):\n    x = x + x\nprint(x)",
    "while True:\n    pass",
    "def f():\n    f()\nf()",
    "for i in range(10 ** 9):\n    pass",
    "print(list(range(10 ** 9)))",
    "x = [[]]\nfor i in range(60):\n    x = x + x\nprint(len(x))",
    "x = 9\nfor i in range(10000):\n    x = x * x\nprint(x)",
    "import os\nprint(os.system('true'))",
    "print((1).__class__.__base__)",
    "print(open('/etc/passwd').read())",
    "print(__import__('os'))",
    "print(eval('x.y'))",
    "print({1, 2})",
    "def f(*a):\n    return a\nprint(f(1))",
    "import json\nprint(json.dumps({}, default=str))",
    "import os\nprint(os.environ['SECRET'])",
    "not a program",
    "x = {}['a']\nprint(x)",
]


def ours(program: str, arguments: tuple[str, ...] = ("one", "two", "three")) -> str | None:
    files = {"models.yaml": MODELS}
    return run(program, list(arguments), {"A": "1", "B": "b"}, frozenset({"SECRET"}), files.get)


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_as_python(program: str, tmp_path: Path) -> None:
    (tmp_path / "models.yaml").write_text(MODELS)
    done = subprocess.run(
        [sys.executable, "-c", program, "one", "two", "three"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"A": "1", "B": "b"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert ours(program) == done.stdout


@pytest.mark.parametrize("program", UNKNOWN)
def test_the_rest_is_not_known_and_ends_in_time(program: str) -> None:
    started = time.process_time()
    assert ours(program) is None
    assert time.process_time() - started < 0.5


_PIECES = ["print", "x", "=", "y", "(", ")", "[", "]", "{", "}", ":", ",", ".", "1", "'a'", "+", "*", "for", "in", "if"]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from([*_PIECES, "else", "def", "return", "lambda", "\n"]), max_size=15))
def test_any_text(pieces: list[str]) -> None:
    assert isinstance(ours(" ".join(pieces)), str | None)
