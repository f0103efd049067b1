"""Programs whose output follows from their arguments and input alone (`dirname`, `seq`, `sort`, …), computed here.

Nothing is run: each is a small function of known texts. What is not computed here is None, "not known".
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from reviewer_tui.launch.patterns import simple_regex

_MAX_OUTPUT = 200_000
Tool = Callable[[Sequence[str], str], str | None]


TESTS = frozenset({"awk", "grep", "expr"})
"""Programs that are also run for their status alone."""


def run(name: str, arguments: Sequence[str], stdin: str | None) -> tuple[str, bool] | None:
    """The output of a program and whether it succeeds; None where it is not one of the known ones, or not for these
    arguments.

    `stdin` is None where the input is unknown; a program that would read it is then not computed.
    """
    if name == "awk" and (decided := _awk_exit(arguments)) is not None:
        return "", decided
    tool = _WITHOUT_INPUT.get(name)
    if tool is not None:
        output = tool(arguments, "")
        return None if output is None else (output, True)
    if stdin is None or len(stdin) > _MAX_OUTPUT:
        return None
    if name == "grep":
        return _grep(arguments, stdin)
    tool = _FILTERS.get(name)
    output = None if tool is None else tool(arguments, stdin)
    return None if output is None else (output, True)


def known(name: str) -> bool:
    """Whether this is a program of the list at all."""
    return name in _WITHOUT_INPUT or name in _FILTERS or name in TESTS


def _grep(arguments: Sequence[str], text: str) -> tuple[str, bool] | None:
    flags = "".join(a[1:] for a in arguments if re.fullmatch(r"-[qEFviowxs]+", a))
    words = [a for a in arguments if not re.fullmatch(r"-[qEFviowxs]+", a) and a != "--"]
    if len(words) != 1 or set(flags) - set("qEFvs"):
        return None
    if "F" in flags:
        found = [words[0] in line for line in _lines(text)]
    else:
        pattern = _sed_pattern(words[0], "E" in flags)
        if pattern is None or any(len(line) > 2000 for line in _lines(text)):
            return None
        found = [pattern.search(line) is not None for line in _lines(text)]
    chosen = [line for line, hit in zip(_lines(text), found, strict=True) if hit is ("v" not in flags)]
    return ("" if "q" in flags else _joined(chosen)), bool(chosen)


def _awk_variables(arguments: Sequence[str]) -> tuple[dict[str, str], str] | None:
    """The `-v` variables and the program of an awk without input files."""
    variables: dict[str, str] = {}
    rest = list(arguments)
    while len(rest) > 2 and rest[0] == "-v":
        name, _, value = rest[1].partition("=")
        variables[name] = value
        rest = rest[2:]
    return (variables, rest[0]) if len(rest) == 1 else None


def _with_values(text: str, variables: dict[str, str]) -> str:
    for name, value in variables.items():
        text = re.sub(rf"\b{re.escape(name)}\b", lambda _, value=value: f"({value})", text)  # type: ignore[misc]
    return text


def _awk_exit(arguments: Sequence[str]) -> bool | None:
    """`awk 'BEGIN { exit !(a > b) }'`: a comparison of decimal numbers, told by the status."""
    parted = _awk_variables(arguments)
    if parted is None:
        return None
    match = re.fullmatch(
        r"\s*BEGIN\s*\{\s*exit\s*(!?)\s*\(([^<>=!&|]+)(<=|>=|==|!=|<|>)([^<>=!&|]+)\)\s*;?\s*\}\s*", parted[1]
    )
    if match is None:
        return None
    negated, left, sign, right = match.groups()
    one, other = calculate(_with_values(left, parted[0])), calculate(_with_values(right, parted[0]))
    if one is None or other is None:
        return None
    holds = {"<": one < other, ">": one > other, "<=": one <= other, ">=": one >= other}.get(
        sign, (one == other) is (sign == "==")
    )
    return holds is bool(negated)


def _dirname(arguments: Sequence[str], _: str) -> str | None:
    if len(arguments) != 1:
        return None
    stripped = arguments[0].rstrip("/") or "/"
    return (posixpath.dirname(stripped) or ".") + "\n"


def _basename(arguments: Sequence[str], _: str) -> str | None:
    if not arguments or arguments[0].startswith("-") or len(arguments) > 2:
        return None
    name = posixpath.basename(arguments[0].rstrip("/")) or "/"
    if len(arguments) == 2 and name != arguments[1]:
        name = name.removesuffix(arguments[1])
    return name + "\n"


def _seq(arguments: Sequence[str], _: str) -> str | None:
    separator, numbers = "\n", []
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        if argument == "-s" and rest:
            separator = rest.pop(0)
        elif argument.startswith("-s"):
            separator = argument[2:]
        elif re.fullmatch(r"-?\d{1,9}", argument):
            numbers.append(int(argument))
        else:
            return None
    if not 1 <= len(numbers) <= 3:
        return None
    first = numbers[0] if len(numbers) > 1 else 1
    step = numbers[1] if len(numbers) == 3 else 1
    if step == 0 or abs(numbers[-1] - first) // abs(step) > 20_000:
        return None
    values = range(first, numbers[-1] + (1 if step > 0 else -1), step)
    return separator.join(map(str, values)) + "\n" if values else ""


def _realpath(arguments: Sequence[str], _: str) -> str | None:
    paths = [a for a in arguments if not a.startswith("-")]
    return posixpath.normpath(paths[0]) + "\n" if len(paths) == 1 and paths[0].startswith("/") else None


def _tr_set(text: str) -> list[str] | None:
    text = text.replace("[:space:]", " \t\n\r\v\f").replace("[:digit:]", "0-9")
    text = text.replace("[:lower:]", "a-z").replace("[:upper:]", "A-Z").replace("[:alnum:]", "0-9A-Za-z")
    if "[:" in text:
        return None
    text = text.replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\")
    chars: list[str] = []
    at = 0
    while at < len(text):
        if at + 2 < len(text) and text[at + 1] == "-":
            chars.extend(map(chr, range(ord(text[at]), ord(text[at + 2]) + 1)))
            at += 3
        else:
            chars.append(text[at])
            at += 1
    return chars


def _tr(arguments: Sequence[str], text: str) -> str | None:
    flags = "".join(a[1:] for a in arguments if re.fullmatch(r"-[dsc]+", a))
    sets = [_tr_set(a) for a in arguments if not re.fullmatch(r"-[dsc]+", a)]
    if not sets or sets[0] is None:
        return None
    first = sets[0]
    if "d" in flags and len(sets) == 1:
        keep = "c" in flags
        return "".join(char for char in text if (char in first) is keep)
    if len(sets) != 2 or not sets[1] or flags.strip("s"):
        return None
    second = sets[1] + [sets[1][-1]] * (len(first) - len(sets[1]))
    text = text.translate({ord(a): b for a, b in zip(first, second, strict=False)})
    return re.sub(f"([{re.escape(''.join(second))}])\\1+", r"\1", text) if "s" in flags else text


def _lines(text: str) -> list[str]:
    return text[:-1].split("\n") if text.endswith("\n") else (text.split("\n") if text else [])


def _joined(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _sort(arguments: Sequence[str], text: str) -> str | None:
    flags = "".join(a[1:] for a in arguments)
    if any(not re.fullmatch(r"-[nuVrg]+", a) for a in arguments) or "V" in flags:
        return None
    lines = _lines(text)
    if "n" in flags or "g" in flags:
        if not all(re.fullmatch(r"\s*-?\d+(\.\d+)?\s*", line) for line in lines):
            return None
        lines.sort(key=float, reverse="r" in flags)
    elif not text.isascii():
        return None
    else:
        lines.sort(reverse="r" in flags)
    return _joined(list(dict.fromkeys(lines)) if "u" in flags else lines)


def _uniq(arguments: Sequence[str], text: str) -> str | None:
    if arguments:
        return None
    lines = _lines(text)
    return _joined([line for at, line in enumerate(lines) if at == 0 or line != lines[at - 1]])


def _count_of(arguments: Sequence[str]) -> int | None:
    match = re.fullmatch(r"(?:-n\s*)?-?(\d{1,6})", " ".join(arguments))
    return int(match.group(1)) if match else (10 if not arguments else None)


def _head(arguments: Sequence[str], text: str) -> str | None:
    count = _count_of(arguments)
    return None if count is None else _joined(_lines(text)[:count])


def _tail(arguments: Sequence[str], text: str) -> str | None:
    count = None if any("+" in a for a in arguments) else _count_of(arguments)
    return None if count is None else _joined(_lines(text)[-count:] if count else [])


def _paste(arguments: Sequence[str], text: str) -> str | None:
    match = re.fullmatch(r"-s -?d ?(.)|-sd ?(.)|-d ?(.) ?-s", " ".join(a for a in arguments if a != "-"))
    separator = next((group for group in match.groups() if group), None) if match else None
    return None if separator is None else separator.join(_lines(text)) + "\n"


def _cut(arguments: Sequence[str], text: str) -> str | None:
    match = re.fullmatch(r"-d ?(.) ?-f ?(\d+)|-f ?(\d+) -d ?(.)", " ".join(arguments))
    if match is None:
        return None
    separator, field = match.group(1) or match.group(4), int(match.group(2) or match.group(3))
    cells = ((line, line.split(separator)) for line in _lines(text))
    return _joined([line if len(row) == 1 else (row[field - 1] if field <= len(row) else "") for line, row in cells])


def _wc(arguments: Sequence[str], text: str) -> str | None:
    flag = "".join(arguments)
    counts = {"-l": text.count("\n"), "-w": len(text.split()), "-c": len(text.encode())}
    return f"{counts[flag]}\n" if flag in counts else None


def _sed(arguments: Sequence[str], text: str) -> str | None:
    extended = any(a in ("-E", "-r") for a in arguments)
    scripts = [a for a in arguments if a not in ("-E", "-r", "-e")]
    if not scripts or any(script.startswith("-") for script in scripts):
        return None
    for script in scripts:
        match = re.fullmatch(r"s([/|,#@])((?:(?!\1).)*)\1((?:(?!\1).)*)\1(g?)", script)
        if match is None:
            return None
        _, source, replacement, every = match.groups()
        pattern = _sed_pattern(source, extended)
        if pattern is None or "\\" in replacement or "&" in replacement or len(text) > 20_000:
            return None
        text = _joined([_substituted(pattern, replacement, line, bool(every)) for line in _lines(text)])
    return text


def _substituted(pattern: re.Pattern[str], replacement: str, line: str, every: bool) -> str:
    return pattern.sub(lambda _: replacement, line, count=0 if every else 1)


@lru_cache(maxsize=128)
def _sed_pattern(source: str, extended: bool) -> re.Pattern[str] | None:
    if not extended:
        if re.search(r"\\[(){}|+?]", source):
            return None
        source = re.sub(r"(?<!\\)([(){}|+?])", r"\\\1", source)
    # Two quantifiers at most and none in a group: a line is then searched in quadratic time at worst.
    pattern = simple_regex(((source, False),))
    return pattern if pattern is not None and len(re.findall(r"[*+]", source)) <= 2 else None


def _awk(arguments: Sequence[str], _: str) -> str | None:
    """`awk 'BEGIN{print EXPRESSION}'` and `printf` of numbers alone."""
    parted_arguments = _awk_variables(arguments)
    if parted_arguments is None:
        return None
    variables, program = parted_arguments
    match = re.fullmatch(r"\s*BEGIN\s*\{\s*(print|printf)\b\s*(.*?);?\s*\}\s*", program, re.S)
    if match is None:
        return None
    form, body = "%.6g", match.group(2).strip()
    if match.group(1) == "printf":
        parted = re.fullmatch(r"\(?\s*\"((?:%\.\d+f|%d|%s|%g|[^%\"\\])*(?:\\n)?)\"\s*,(.*?)\)?", body, re.S)
        if parted is None or parted.group(1).count("%") != 1:
            return None
        form, body = parted.group(1).replace("\\n", "\n"), parted.group(2)
    number = calculate(_with_values(body, variables))
    if number is None:
        return None
    if "%d" in form:
        return form % int(number)
    text = f"{int(number)}" if number == int(number) and ("%.6g" in form or "%s" in form) else None
    if "%s" in form or match.group(1) == "print":
        return (text or f"{number:.6g}") + ("\n" if match.group(1) == "print" else "")
    return form % number


_CALCULATED = re.compile(r"\s*(?:(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+)|([-+*/%()^])|(int)(?=\s*\())")


def calculate(text: str) -> float | None:
    """A decimal expression of numbers, `+ - * / % ( )` and `int()`; None where it is anything else."""
    tokens: list[str] = []
    at = 0
    text = text.strip()
    while at < len(text):
        match = _CALCULATED.match(text, at)
        if match is None or len(tokens) > 60:
            return None
        tokens.append(match.group().strip())
        at = match.end()
    try:
        value, rest = _sum(tokens, 0)
    except (IndexError, ValueError, ZeroDivisionError, OverflowError):
        return None
    return value if rest == len(tokens) and abs(value) < 1e15 else None


def _sum(tokens: list[str], at: int) -> tuple[float, int]:
    value, at = _product(tokens, at)
    while at < len(tokens) and tokens[at] in "+-":
        right, following = _product(tokens, at + 1)
        value, at = (value + right if tokens[at] == "+" else value - right), following
    return value, at


def _product(tokens: list[str], at: int) -> tuple[float, int]:
    value, at = _factor(tokens, at)
    while at < len(tokens) and tokens[at] in "*/%":
        right, following = _factor(tokens, at + 1)
        value = value * right if tokens[at] == "*" else value / right if tokens[at] == "/" else value % right
        at = following
    return value, at


def _factor(tokens: list[str], at: int) -> tuple[float, int]:
    token = tokens[at]
    if token in "+-":
        value, at = _factor(tokens, at + 1)
        return (-value if token == "-" else value), at
    if token == "int":
        value, at = _factor(tokens, at + 1)
        return float(int(value)), at
    if token == "(":
        value, at = _sum(tokens, at + 1)
        if tokens[at] != ")":
            raise ValueError(token)
        return value, at + 1
    return float(token), at + 1


def _bc(arguments: Sequence[str], text: str) -> str | None:
    match = re.fullmatch(r"\s*(?:scale\s*=\s*(\d{1,2})\s*;)?\s*([^;\n]*)\s*", text)
    if match is None or any(a != "-l" for a in arguments):
        return None
    number = calculate(match.group(2))
    if number is None:
        return None
    scale = int(match.group(1) or 0)
    shifted = int(number * 10**scale)
    digits = f"{abs(shifted):0{scale + 1}d}"
    text = f"{digits[:-scale].lstrip('0')}.{digits[-scale:]}" if scale else digits
    return f"{'-' if shifted < 0 else ''}{text}\n"


_WITHOUT_INPUT: dict[str, Tool] = {
    "awk": _awk,
    "basename": _basename,
    "dirname": _dirname,
    "realpath": _realpath,
    "readlink": lambda arguments, text: _realpath(arguments, text) if "-f" in arguments else None,
    "seq": _seq,
}
_FILTERS: dict[str, Tool] = {
    "bc": _bc,
    "cut": _cut,
    "head": _head,
    "paste": _paste,
    "sed": _sed,
    "sort": _sort,
    "tail": _tail,
    "tr": _tr,
    "uniq": _uniq,
    "wc": _wc,
}
