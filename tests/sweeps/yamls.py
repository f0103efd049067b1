"""Random YAML of the kind that pull requests bring: mostly well formed, in all the ways YAML knows."""

from __future__ import annotations

from hypothesis import strategies as st

SCALARS = st.sampled_from(
    [
        *("8", "-8", "0", "08", "0x1f", "1_000", "1.5", "1e3", ".5", "1.2.3", "12:30", "2026-08-22", "~", "null", ""),
        *(
            "true",
            "True",
            "yes",
            "off",
            "n",
            "mtp",
            "a b",
            "a: b",
            "a:b",
            "org/M-1",
            "v0.5.14-cu130",
            "8k1k",
            "<<",
            "=",
        ),
        *('"8"', "'8'", '"a # b"', "'it''s'", '"a\\nb"', '"open', "x # note", "x#y", "# only", "*a", "&a 1", "!!str 8"),
        *("[1, 2]", "[]", "{}", "{a: 1, b: [x, 'y']}", "{a: 1, a: 2}", "[1, [2, {c: 3}]]", "[1,2,]", "{a}", "[a: 1]"),
        *("|", ">-", "- 1", "-1", "- ", "'''", "{", "]", "@x", "`x", "%x", "\t8", "é", "\u2028", "cluster:b200-nv"),
    ]
)
KEYS = st.sampled_from(["a", "b", "tp", "conc-list", "a.b", '"q"', "8", "yes", "x y", "?", "<<", "a:b", "é"])
INDENTS = st.sampled_from(["", "  ", "  ", "    ", "    ", "      ", " "])


@st.composite
def lines(draw: st.DrawFn) -> str:
    indent = draw(INDENTS)
    dash = draw(st.sampled_from(["", "", "", "- ", "-   ", "- - "]))
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return draw(st.sampled_from(["", "   ", "# a comment", "  # indented", "---", "...", "\t", "%YAML 1.1"]))
    if kind < 3:
        return f"{indent}{dash}{draw(SCALARS)}"
    if kind < 6:
        return f"{indent}{dash}{draw(KEYS)}:"
    return f"{indent}{dash}{draw(KEYS)}: {draw(SCALARS)}{draw(st.sampled_from(['', ' ', '  # why']))}"


texts = st.lists(lines(), max_size=12).map("\n".join)


@st.composite
def values(draw: st.DrawFn, depth: int = 0) -> object:
    """A value that YAML can hold in block style."""
    plain = st.one_of(st.integers(-5, 10**6), st.booleans(), st.sampled_from(["mtp", "org/M", "8k1k", "a b", "8"]))
    if depth > 2:
        return draw(plain)
    kind = draw(st.integers(0, 3))
    if kind == 0:
        return draw(plain)
    if kind == 1:
        return draw(st.lists(values(depth=depth + 1), max_size=3))
    return draw(
        st.dictionaries(st.sampled_from(["a", "b", "tp", "conc-list", "x.y"]), values(depth=depth + 1), max_size=3)
    )
