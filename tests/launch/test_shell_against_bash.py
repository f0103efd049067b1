"""The evaluation says what bash does, for everything that is known."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.launch.bash import bash_says, needs_bash, we_say

pytestmark = needs_bash

_PART = re.compile(r"^#: (.+)\n", re.M)
_PARTS = _PART.split((Path(__file__).parent / "snippets.sh").read_text("utf-8"))[1:]
SNIPPETS = dict(zip(_PARTS[::2], _PARTS[1::2], strict=True))


@pytest.mark.parametrize("script", SNIPPETS.values(), ids=SNIPPETS.keys())
def test_as_bash(script: str) -> None:
    expected = bash_says(script)
    assert expected
    assert we_say(script) == expected


names = st.sampled_from(["A", "B", "C"])
texts = st.text(alphabet="ab .,*/'-_\"$é{}", max_size=6)
numbers = st.integers(-20, 40)


def quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


@st.composite
def words(draw: st.DrawFn) -> str:
    name = draw(names)
    kind = draw(st.integers(0, 11))
    text = draw(texts)
    plain = "".join(c for c in text if c not in "'\"$*{}")
    number = draw(numbers)
    return [
        quoted(text),
        f'"${name}"',
        f"${name}",
        f"${{{name}:-{quoted(text)}}}",
        f'"${{{name}%{quoted(text[:1])}*}}"',
        f'"${{{name}//{quoted(text[:1]) if text else "x"}/{plain}}}"',
        f'"${{#{name}}}"',
        f"$(( {number} + {draw(numbers)} * 3 - ({draw(numbers)} << 1) ))",
        f'"$(echo {quoted(plain)})"',
        f'"${{{name}:{draw(st.integers(0, 4))}:{draw(st.integers(0, 4))}}}"',
        f'"${{{name}:+{plain.replace(" ", "_")}}}"',
        f"pre{{{plain.replace(' ', '') or 'x'},y}}",
    ][kind]


@st.composite
def statements(draw: st.DrawFn, depth: int = 2) -> str:
    kind = draw(st.integers(0, 8 if depth else 2))
    if kind == 0:
        return f"{draw(names)}={draw(words())}"
    if kind in (1, 2):
        return "emit " + " ".join(draw(st.lists(words(), min_size=1, max_size=3)))
    inner = draw(statements(depth - 1))
    other = draw(statements(depth - 1))
    name, word = draw(names), draw(words())
    return {
        3: f'if [ "${name}" = {word if word.startswith(chr(34)) else quoted("ab")} ]; then\n{inner}\nelse\n{other}\nfi',
        4: f"for {name} in {word} {draw(words())}; do\n{inner}\ndone",
        5: f'case "${name}" in {quoted("a")}*) {inner} ;; *[b.]) {other} ;; *) emit none ;; esac',
        6: f"[[ -n ${name} ]] && {{ {inner}; }} || {{ {other}; }}",
        7: f"( {inner} )\nf() {{\n{other}\n}}\nf {word}",
        8: f'{name}="$(for x in {word} z; do [ "$x" = ab ] && continue; echo "<$x>"; [ "$x" != a ] || exit; done)"',
    }[kind]


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(statements(), min_size=1, max_size=4))
def test_any_script_as_bash(lines: list[str]) -> None:
    script = "A=; B='a b'; C=ab.b\n" + "\n".join(lines) + '\nemit "$A" "$B" "$C"\n'
    assert we_say(script) == bash_says(script)
