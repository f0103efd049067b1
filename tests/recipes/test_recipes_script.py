from __future__ import annotations

import contextlib
import json
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.recipes.reading import UnreadableError
from reviewer_tui.recipes.widget import Widget
from tests.recipes.upstreams import QWEN_WIDGET, upstream


def widget(body: str, options: str = "{ hw: { items: [{ id: 'x', default: true }] } }") -> str:
    """A widget whose command function has this body."""
    return (
        f"export const W = () => {{\n  const options = {options};\n"
        "  const [values, setValues] = useState(() => ({}));\n"
        f"  const generateCommand = () => {{ const unused = values.hw; {body} }};\n"
        "  return <pre>{generateCommand()}</pre>;\n};\n"
    )


def command(body: str) -> str:
    """The command of such a widget."""
    made = Widget(widget(body).encode(), "w.jsx")
    return made.command(next(made.offer.selections(None)))


EVALUATED = [
    ("return 'a' + 1 + 2;", "a12"),
    ("return 1 + 2 + 'a';", "3a"),
    ("return `${1 / 2} ${0.1 + 0.2} ${10 % 3} ${2 ** 3} ${7 / 0}`;", "0.5 0.30000000000000004 1 8 Infinity"),
    (
        "const { a, b: { c = 3, ...d }, ...rest } = { a: 1, b: { e: 2 }, f: 4 }; return [a, c, d.e, rest.f].join();",
        "1,3,2,4",
    ),
    ("const [x, , y = 9, ...z] = [1, 2, undefined, 4, 5]; return `${x}${y}${z.length}`;", "192"),
    ("const o = null; return String(o?.a.b.c) + String(o?.[0]) + String(o?.f());", "undefinedundefinedundefined"),
    (
        "let n = 0; for (let i = 0; i < 5; i++) { if (i === 1) continue; if (i === 4) break; n += i; } return n + '';",
        "5",
    ),
    (
        "let s = ''; for (const k in { a: 1, b: 2 }) s += k;"
        "for (const [k, v] of new Map([['x', 1]])) s += k + v; return s;",
        "abx1",
    ),
    ("let i = 3, s = ''; while (i --> 0) s += i; return s;", "210"),
    ("switch ('b') { case 'a': return 'no'; case 'b': case 'c': return 'yes'; default: return 'other'; }", "yes"),
    ("switch (1) { case 2: return 'no'; default: return 'other'; }", "other"),
    ("const f = (a, b = a + 1, ...c) => a + b + c.length; return f(1) + '/' + f(1, 1, 1, 1);", "3/4"),
    ("function g(n) { return n <= 1 ? 1 : n * g(n - 1); } return `${g(5)}`;", "120"),
    ("const s = new Set(['a', 'b', 'a']); s.add('c'); return [...s].join('-') + s.size + s.has('b');", "a-b-c3true"),
    ("return ['c', 'a'].concat('b').map((x, i) => x + i).filter((x) => x !== 'a1').join('|');", "c0|b2"),
    (
        "return [1, 2, 3].reduce((a, b) => a + b, 10) + '' + [1, 2].some((x) => x > 1) + [].every((x) => false);",
        "16truetrue",
    ),
    (
        "const a = []; a.push('x', 'y'); a.unshift('w'); a.pop();return a.join('') + a.includes('x') + a.indexOf('q');",
        "wxtrue-1",
    ),
    ("return Object.entries({ a: 1 }).map(([k, v]) => `${k}=${v}`).join() + Object.keys({ b: 1 })[0];", "a=1b"),
    ("return { ...{ a: 1, b: 2 }, b: 3, ['c' + 1]: 4 }.c1 + '' + Object.assign({}, { z: 5 }).z;", "45"),
    (
        "return 'a-b-c'.replace('-', '+') + 'a-b-c'.replaceAll('-', '')"
        "+ 'x'.repeat(3) + 'AbC'.toLowerCase().slice(1, 3);",
        "a+b-cabcxxxbc",
    ),
    (
        "return typeof undefined + typeof null + typeof 'a' + typeof 1 + typeof (() => 1) + typeof {};",
        "undefinedobjectstringnumberfunctionobject",
    ),
    ("return `${null ?? 'd'}${0 || 'e'}${'' && 'f'}${0 ?? 'g'}${!![]}${!''}`;", "de0truetrue"),
    ("let a; a ??= 'x'; a ||= 'y'; a &&= a + 'z'; return a;", "xz"),
    ("return `${1 == '1'}${null == undefined}${0 == null}${'1' === 1}${NaN === NaN}`;", "truetruefalsefalsefalse"),
    (
        "const o = { m() { return 'm'; }, f: function () { return 'f'; } };"
        "return o.m() + o.f() + [[1, [2]], 3].flat().length;",
        "mf3",
    ),
    (
        "const o = { n: 2, m() { return [1].map((x) => x + this.n)[0]; },"
        "p: { n: 5, q: function () { return this.n; } } };"
        "return `${o.m()}${o.p.q()}${o['m']()}${o?.p?.q()}`;",
        "3535",
    ),
    (
        "return [10, 9, 'b', 'a', undefined, 1].sort().join() + [3, 20, 1].sort((a, b) => b - a).join();",
        "1,10,9,a,b,20,3,1",
    ),
    ("const o = { a: 1, b: 2 }; delete o.a; delete o['q']; return Object.keys(o).join();", "b"),
    ("return `${Number('4')}${Number.parseInt('7x', 10)}${Number.isInteger(2.5)}${Number.isNaN(NaN)}`;", "47falsetrue"),
    (
        "return Math.max(1, 5, 2) + '' + Math.floor(2.7) + Math.round(-0.5) + parseInt('12px') + Number('3.5');",
        "5201 23.5".replace(" ", ""),
    ),
    (
        "return 'ab'.padEnd(5, 'xy') + 'ab'.padStart(4) + [1, [2, [], null, [3]]] + JSON.stringify('é');",
        'abxyx  ab1,2,,,3"é"',
    ),
    ("const s = []; [4].forEach((x) => s.push(x)); return `${[].forEach(() => 1)}${s}`;", "undefined4"),
    (
        "return JSON.stringify({ a: [1, 'b', null] }) + Array.isArray([])"
        "+ Array.from({ length: 2 }, (_, i) => i).join();",
        '{"a":[1,"b",null]}true0,1',
    ),
]


@pytest.mark.parametrize(("body", "result"), EVALUATED)
def test_a_command_function_is_evaluated(body: str, result: str) -> None:
    assert command(body) == result


@pytest.mark.parametrize(
    "body",
    [
        "return fetch('http://x');",
        "return window.location.href;",
        "return 'a'.match(/a/)[0];",
        "return eval('1');",
        "return (() => {}).constructor('return 1')();",
        "return [].map.call([], 1);",
        "return ''.__proto__;",
        "return new Function('return 1')();",
        "return process.env.HOME;",
        "return require('fs');",
        "return import('x');",
        "return undefinedName;",
        "return this.hw;",
        "throw new Error('x');",
        "return <b>x</b>;",
        "return [1].map();",
        "return (async () => 1)();",
        "return JSON.stringify({}, null, 2);",
        "return [[1]].flat(2);",
        "unknown = 1; return 'x';",
    ],
)
def test_what_is_not_known_stops_with_its_line(body: str) -> None:
    with pytest.raises(UnreadableError) as refused:
        command(body)
    assert refused.value.problem.line == 4
    assert refused.value.problem.rule in ("cannot-evaluate", "too-large")


def test_one_selection_that_cannot_be_evaluated_leaves_the_others() -> None:
    body = "return values.hw === 'x' ? fetch('http://x') : 'shown';"
    shown = list(Widget(widget(body, "{ hw: { items: [{ id: 'x' }, { id: 'y' }] } }").encode(), "w.jsx").commands())
    assert [(one.text, one.fails and one.fails.rule) for one in shown] == [("", "cannot-evaluate"), ("shown", None)]


@pytest.mark.parametrize(
    "body",
    [
        "return null.x;",
        "const { a } = undefined; return a;",
        "const o = {}; return o.f();",
        "const o = { n: 1, f() { return this.n; } }; const f = o.f; return f();",
    ],
)
def test_where_the_script_itself_fails_no_command_is_shown(body: str) -> None:
    shown = next(iter(Widget(widget(body).encode(), "w.jsx").commands()))
    assert shown.text == ""
    assert shown.fails is not None
    assert (shown.fails.rule, shown.fails.line) == ("script-fails", 4)


LONG = "const t = 'x'.repeat(90000);"
GROWING = "let a = [1, 1, 1, 1, 1, 1, 1, 1]; for (let i = 0; i < 12; i++) a = [a, a, a, a, a, a, a, a];"


@pytest.mark.parametrize(
    "body",
    [
        "while (true) {}",
        "for (;;) {}",
        "const f = () => f(); return f();",
        "const f = (n) => n && [f(n - 1), f(n - 1)]; return f(40);",
        "let s = 'x'; for (let i = 0; i < 60; i++) s += s; return s;",
        "let a = [1]; for (let i = 0; i < 60; i++) a = [...a, ...a]; return a.length;",
        "return 'x'.repeat(1e12).length;",
        "return Array.from({ length: 1e9 }).length;",
        "return " + "(" * 3000 + "1" + ")" * 3000 + ";",
        "return " + "1 + " * 3000 + "1;",
        "let a = []; while (a.push(a)) {}",
        LONG + "return t.replaceAll('', t);",
        LONG + "return t.concat(" + "t, " * 5000 + "t);",
        LONG + "return `" + "${t}" * 5000 + "`;",
        LONG + "return Array.from({ length: 40000 }, () => t).join('');",
        LONG + "return [].concat(" + "t.split('x'), " * 50 + "[]).length;",
        LONG + "const a = []; for (let i = 0; i < 40000; i++) a.push(t + i); return a.length;",
        GROWING + "return '' + a;",
        GROWING + "return JSON.stringify(a);",
        GROWING + "const o = {}; o[a] = 1; return 'x';",
        "let a = [1]; for (let i = 0; i < 5000; i++) a = [a]; return `${a}`;",
        "let a = [1]; for (let i = 0; i < 5000; i++) a = [a]; return JSON.stringify(a);",
        "const o = {}; o.o = o; return JSON.stringify(o);",
        "const a = Array.from({ length: 40000 }, () => 1); return a.flatMap(() => a).length;",
        "const a = Array.from({ length: 40000 }, () => 1); for (;;) { a.reverse(); }",
        "const a = Array.from({ length: 40000 }, () => 1); for (;;) { a.includes(2); }",
    ],
)
def test_evaluation_is_bounded(body: str) -> None:
    with pytest.raises(UnreadableError) as refused:
        command(body)
    assert refused.value.problem.rule in ("too-large", "cannot-evaluate")


def test_one_selection_does_not_leak_into_the_next() -> None:
    options = "{ hw: { items: [{ id: 'x' }, { id: 'y' }] } }"
    body = "shared.push(values.hw); return shared.join();"
    source = (
        f"export const W = () => {{ const options = {options}; const shared = [];"
        "const [values, set] = useState(start);"
        f"const generateCommand = () => {{ {body} }}; return null; }};"
    )
    shown = list(Widget(source.encode(), "w.jsx").commands())
    assert [one.fails is not None and "shares between selections" in one.fails.message for one in shown] == [True, True]


@settings(max_examples=120, deadline=None)
@given(st.text("returnfconstlet=>(){}[];:,.?!&|+-*/'`${}values01 \n", max_size=120))
def test_hostile_functions_never_crash(body: str) -> None:
    with contextlib.suppress(UnreadableError):
        command(body)


HARNESS = """
const state = JSON.parse(process.argv[1] || '{}');
const useState = (start) => [typeof start === 'function' ? state : start, () => {}];
const useEffect = () => {};
SOURCE
const rows = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const out = rows.map((row) => {
  Object.assign(state, row);
  return Qwen35Deployment()();
});
console.log(JSON.stringify(out));
"""


def test_node_computes_the_same_commands() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    source = (upstream("after").read(QWEN_WIDGET) or b"").decode()
    shown = list(Widget(source.encode(), "w.jsx").commands())
    plain = source.replace("export const", "const").split("  return <pre")[0] + "  return generateCommand;\n};\n"
    script = HARNESS.replace("SOURCE", plain)
    ran = subprocess.run(
        [node, "-e", script],
        input=json.dumps([s.selection for s in shown]),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert json.loads(ran.stdout) == [s.text for s in shown]


def test_node_agrees_on_every_construct() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    functions = ",".join(f"() => {{ const values = {{hw: 'x'}}; {body} }}" for body, _ in EVALUATED)
    script = f"console.log(JSON.stringify([{functions}].map((f) => String(f()))))"
    ran = subprocess.run([node, "-e", script], capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(ran.stdout) == [result for _, result in EVALUATED]
