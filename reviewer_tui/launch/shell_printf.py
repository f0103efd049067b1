"""The builtin `printf` and the escapes of `echo -e`, over texts that may be unknown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reviewer_tui.launch.shell_words import Argument
from reviewer_tui.launch.text import Text, concat, show, unknown

_PRINTF = re.compile(r"%([-0 +#]*)(\d*)(?:\.(\d+))?([sdiufgeqbxXc%])|\\(n|t|r|\\|\"|0[0-7]{0,3}|[0-7]{1,3})")


def formatted(words: Sequence[Argument], line: int, path: str) -> Text:
    """`printf`: the format again and again while arguments are left."""
    form = words[0].text
    if not isinstance(form, str):
        return form
    rest = list(words[1:])
    pieces: list[Text] = []
    while True:
        taken = len(rest)
        pieces.append(_format_once(form, rest, line, path))
        if not rest or len(rest) == taken or len(pieces) > 20_000:
            return concat(pieces)


def _format_once(form: str, rest: list[Argument], line: int, path: str) -> Text:
    pieces: list[Text] = []
    at = 0
    for match in _PRINTF.finditer(form):
        pieces.append(form[at : match.start()])
        at = match.end()
        if match.group(5):
            pieces.append(unescaped(match.group()))
            continue
        if match.group(4) == "%":
            pieces.append("%")
            continue
        value = rest.pop(0).text if rest else ""
        pieces.append(_conversion(match, value, line, path))
    pieces.append(form[at:])
    return concat(pieces)


def _conversion(match: re.Match[str], value: Text, line: int, path: str) -> Text:
    flags, width, precision, kind = match.group(1), match.group(2), match.group(3), match.group(4)
    if kind == "s" and not width and precision is None:
        return value
    if not isinstance(value, str):
        return unknown(f"formatted {show(value)}", line, path, nonempty=True)
    if len(width) > 3 or len(precision or "") > 3:
        return unknown("a formatted text", line, path)
    if kind == "q":
        return value if re.fullmatch(r"[\w@%+=:,./-]+", value) else "'" + value.replace("'", "'\\''") + "'"
    if kind == "b":
        return unescaped(value)
    if kind == "c":
        return value[:1]
    shape = f"%{flags}{width}{'.' + precision if precision is not None else ''}{'d' if kind in 'iu' else kind}"
    try:
        if kind == "s":
            return shape % value
        return shape % (int(value or "0", 0) if kind in "diuxX" else float(value or "0"))
    except ValueError:
        return unknown(f"formatted `{value[:20]}`", line, path, nonempty=True)


def unescaped(text: str) -> str:
    simple = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"'}
    return re.sub(
        r"\\(n|t|r|\\|\"|0?[0-7]{1,3})",
        lambda m: simple[m.group(1)] if m.group(1) in simple else chr(int(m.group(1), 8) % 256),
        text,
    )
