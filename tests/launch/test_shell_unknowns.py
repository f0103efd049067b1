"""What cannot be known never makes something else look known: bash, run each way, agrees with every known piece."""

from __future__ import annotations

import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewer_tui.launch.shell_words import Argument
from reviewer_tui.launch.text import Unknown
from tests.launch.bash import bash_says, commands_of, needs_bash

pytestmark = needs_bash

# Programs nobody knows: one that succeeds some times and then fails, another such, and one that prints something.
_WAYS = """probe() {{ P=$((P + 1)); [ $P -le {0} ]; }}
ask() {{ Q=$((Q + 1)); [ $Q -gt {1} ]; }}
tell() {{ printf '%s' {2}; }}
P=0; Q=0
"""
_END = 'emit "$A" "$B" "$C" "${#A}" "${A:-none}" "${L[*]}" "${#L[@]}" "$*" "${M[*]}"; emit "${L[@]}"\n'
names = st.sampled_from(["A", "B", "C"])
unknown_conditions = st.sampled_from(["probe", "ask", "! probe", "probe && ask", "ask || probe", '[ -n "$(tell)" ]'])
ending_conditions = st.sampled_from(["probe", "! ask", "probe && ask"])


@st.composite
def words(draw: st.DrawFn) -> str:
    name, other = draw(names), draw(names)
    return draw(
        st.sampled_from(
            [
                "ab",
                "''",
                "'a b'",
                f'"${name}"',
                f'"${name}x${other}"',
                f'"${{{name}:-d}}"',
                f'"${{{name}:+s}}"',
                f'"${{{name}%b*}}"',
                f'"${{{name}//a/z}}"',
                f'"${{{name}:0:1}}"',
                '"$(tell)"',
                '"pre-$(tell)"',
                f'"$(probe && echo a || echo {other})"',
                f'"$(for x in 1 2 3; do ask && break; echo "$x${name}"; done)"',
                '"${L[0]}"',
                '"${#L[@]}"',
                f'"${{{name}-unset}}"',
                f'"${{{name}##*a}}"',
                f'"${{{name}^^}}"',
                f'"$(( ${{#{name}}} + $(probe && echo 2 || echo 3) ))"',
                '"${L[@]:1:1}"',
                '"${L[*]:1}"',
                '"${L[-1]}"',
                '"$?"',
                '"$*"',
                '"$#"',
                '"${1:-first}"',
                '"${M[k]}"',
                '"${M[*]}"',
                f'"$(echo "${name}" | while read -r x y; do echo "$y-$x"; done)"',
                f'"$(cat <<< "${name}")"',
            ]
        )
    )


@st.composite
def statements(draw: st.DrawFn, depth: int = 3) -> str:
    kind = draw(st.integers(0, 26 if depth else 14))
    name, word, condition = draw(names), draw(words()), draw(unknown_conditions)
    plain = [
        f"{name}={word}",
        f"{name}+={word}",
        f"L+=({word})",
        f"{condition} && {name}={word}",
        f"unset {name}",
        f"L=($(tell) {word})",
        f"L[$(probe && echo 1 || echo 0)]={word}; M[${{{name}:-k}}]=v",
        f'set -- {word} "$@"; ask && shift',
        f"read -r {name} <<< {word}",
        f"(( ${{#{name}}} > 2 )) && {name}={word}",
        f'[[ ${name} =~ ^a(.*)$ ]] && {name}="${{BASH_REMATCH[1]}}" || {condition}',
    ]
    plain += [
        f"{condition} && echo {word} > note",
        f"[ -f note ] && {name}={word}",
        f'[ -f note ] && {name}="$(cat note)"',
        f"echo {word} >> note",
    ]
    if kind < len(plain):
        return plain[kind]
    one, two = draw(statements(depth - 1)), draw(statements(depth - 1))
    return {
        15: f"if {condition}; then\n{one}\nelse\n{two}\nfi",
        16: f"while {draw(ending_conditions)}; do\n{one}\ndone",
        17: f"for {name} in a b c; do {condition} && break; {one}; done",
        18: f"for x in 1 2; do {condition} && continue; {one}; done; {name}=$x",
        19: f'{{ f() {{ {condition} && return; echo {word}; {one}; }}; f >/dev/null; {name}="$(f)"; }}',
        20: f'if [ "${name}" = {word} ]; then\n{one}\nelif {condition}; then\n{two}\nfi',
        21: f'case "${name}" in a*) {one} ;; *b) {two} ;; "") {name}={word} ;; esac',
        22: f"( {one}; {condition} && exit 1; echo {word} ) > file || {two}",
        23: f'[ -n "${name}" ] && {{ {one}; }} || {{ {two}; }}',
        24: f"{{ g() {{ local {name}={word}; {one}; }}; {condition} || g {word}; }}",
        25: f'for {name} in "${{L[@]:0:2}}" $(tell); do {one}; done',
        26: f'eval "{name}=\\"\\${name}\\"x"; if [[ ${name} == *b ]]; then {one}; fi; {condition}',
    }[kind]


def holds(argument: Argument, said: str) -> bool:
    """Whether a text is one of those that an argument may be."""
    if isinstance(argument.text, str):
        return argument.text == said
    pieces = (p if isinstance(p, Unknown) else re.escape(p) for p in argument.text.parts)
    pattern = "".join((".+" if p.nonempty else ".*") if isinstance(p, Unknown) else p for p in pieces)
    return re.fullmatch(pattern, said, re.S) is not None


def consistent(arguments: list[Argument], said: list[str]) -> bool:
    for number, argument in enumerate(arguments):
        if argument.open:
            return True
        if number >= len(said) or not holds(argument, said[number]):
            return False
    return len(arguments) == len(said)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(statements(), min_size=1, max_size=4),
    st.integers(0, 3),
    st.integers(0, 3),
    st.sampled_from(["ab", "''"]),
    st.sampled_from(["", "set -e\n", "set -u\n"]),
)
def test_known_is_true_whichever_way_it_goes(lines: list[str], first: int, second: int, told: str, option: str) -> None:
    start = f"{option}A=; B='a b'; C=ab; L=(x); declare -A M=([k]=m); f() {{ :; }}\n"
    script = start + "\n".join(lines) + "\n" + _END
    said = bash_says(_WAYS.format(first, second, told) + "exec 2>/dev/null\n" + script)
    if len(said) != 2:
        # The script has failed on its way.
        return
    ours = commands_of(script)[-2:]
    assert len(ours) == 2
    assert all(consistent(mine, theirs) for mine, theirs in zip(ours, said, strict=True)), (said, ours)
