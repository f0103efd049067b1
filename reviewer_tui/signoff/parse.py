"""Take a sign-off text apart, however it was typed.

A sign-off is a comment, review or inline comment that contains the trigger sentence of the verifier's workflow and at
least one box, is not by a bot and is no verdict. Reviewers write boxes, headings and signatures in many ways; all of
them are read here and judged elsewhere (`signoff/lint.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from reviewer_tui.model.checklist import SignOff, SignOffBox
from reviewer_tui.policy.checklist import TRIGGER
from reviewer_tui.signoff.verdict_comment import is_verdict_comment

PLACEHOLDER_LOGIN = "FILL_IN_GITHUB_USERNAME"
"""What the template puts where the login belongs."""

_LINE_END = re.compile(r"\r\n|\r|\n")
_TAB = 4
_BLANKS = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2007": " ", "\u3000": " "})

_BOX = re.compile(
    r"[ \t]*(?P<bullet>(?:[-*+•]|\d{1,9}[.)])[ \t]+)?\[[ \t]*(?P<tick>[xX✓✔]?)\ufe0f?[ \t]*\](?!\()(?P<text>.*)"
)
_FENCE = re.compile(r"[ \t]*(?P<mark>`{3,}|~{3,})(?P<info>[^`]*)$")
_QUOTE = re.compile(r"[ \t]*>")
_HEADING = re.compile(r"[ \t]*#{1,6}(?:[ \t]|$)")
_BOLD_LINE = re.compile(r"[ \t]*(?:\*\*|__)[^*_]{1,200}(?:\*\*|__)[ \t]*[:：]?[ \t]*$")
_RULE = re.compile(r"[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_SIGNATURE = re.compile(
    r"[^\w\r\n]*signed(?:-off-by)?[^\w\r\n]*:[^\w\r\n]*(?P<login>[a-z\d][\w-]{0,38})", re.IGNORECASE
)
_EMPTY_SIGNATURE = re.compile(r"[^\w\r\n]*signed(?:-off-by)?[^\w\r\n]*:[^\w\r\n]*$", re.IGNORECASE)
_DETAIL = re.compile(
    r"(?:additional\s+details?(?:\s+sections?)?|(?:附加|补充|额外|其他|其它|更多|详细)[^\s:：]{0,6}?(?:说明|详情|信息|细节|内容|备注)(?:部分|栏)?)"
    r"(?P<rest>.*)$",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"^[ \t]*<!--.*?(?:-->|\Z)", re.DOTALL | re.MULTILINE)
_SENTENCE_END = (".", ":", "!", "。", "：")
_DECORATION = " \t*_#:：-–—()（）/"


class TextLine(msgspec.Struct, frozen=True):
    """One line of a comment: its number (from 1), its text with all blanks made plain, and where it stands.

    `quoted` lines belong to somebody else; `fenced` lines lie in a code fence (its delimiters, `fence`, too).
    """

    number: int
    text: str
    quoted: bool = False
    fenced: bool = False
    fence: bool = False

    @property
    def indent(self) -> int:
        """Leading blanks, a tab counted to the next multiple of four."""
        columns = 0
        for character in self.text:
            if character == "\t":
                columns += _TAB - columns % _TAB
            elif character == " ":
                columns += 1
            else:
                break
        return columns


def is_sign_off(body: str, author_is_bot: bool = False) -> bool:
    """Whether a comment is a sign-off. Verdict comments quote the trigger sentence and boxes: they are tested first."""
    if author_is_bot or is_verdict_comment(body):
        return False
    return has_trigger(body) and bool(parse_sign_off(body).boxes)


def has_trigger(text: str) -> bool:
    """Whether the verifier would start on this text."""
    return TRIGGER.casefold() in text.casefold()


def read_lines(text: str) -> tuple[TextLine, ...]:
    """The lines of a comment with quotations and fences marked; HTML comments are blanked, their lines stay."""
    shown = _COMMENT.sub(lambda found: "\n" * len(_LINE_END.findall(found[0])), text.removeprefix("\ufeff"))
    lines: list[TextLine] = []
    fence = ""
    for number, raw in enumerate(_LINE_END.split(shown), 1):
        line = raw.translate(_BLANKS)
        if not fence and _QUOTE.match(line):
            lines.append(TextLine(number, line, quoted=True))
            continue
        found = _FENCE.match(line)
        if fence:
            closes = found is not None and found["mark"].startswith(fence) and not found["info"].strip()
            lines.append(TextLine(number, line, fenced=True, fence=closes))
            fence = "" if closes else fence
        else:
            fence = found["mark"] if found else ""
            lines.append(TextLine(number, line, fenced=bool(fence), fence=bool(fence)))
    return tuple(lines)


def own_lines(lines: Sequence[TextLine]) -> tuple[TextLine, ...]:
    """The lines that are the signer's own words: no quotations, and no code samples.

    A sign-off pasted together with the template's fence is read as if it had none: a fence counts as a sample only
    where trigger sentence and boxes stand outside of it.
    """
    unquoted = [line for line in lines if not line.quoted]
    pasted = any(line.fenced and has_trigger(line.text) for line in unquoted) or not any(
        _box(line) for line in unquoted if not line.fenced
    )
    return tuple(line for line in unquoted if not line.fence and (pasted or not line.fenced))


def parse_sign_off(text: str) -> SignOff:
    """The parts of a sign-off, unjudged; never fails.

    `detail` is the additional detail section: from its heading to the signature or the end, or what follows the last
    box where no heading stands; `detail_line` is the line it starts at (the heading's). `signer` is None where no
    signature stands or the template's placeholder was left in it.
    """
    lines = read_lines(text)
    own = own_lines(lines)
    signature = _signature(own)
    heading = detail_heading(own)
    boxes, free_text = _boxes(own, signature, heading)
    if heading:
        detail_line: int | None = heading.number
        detail = _detail_under(heading, boxes, signature, lines, own)
    else:
        detail_line, detail = _detail_after_boxes(free_text, signature, own)
    return SignOff(
        boxes=boxes,
        has_trigger=has_trigger(text),
        detail=detail,
        detail_line=detail_line,
        signer=signer_of(signature.text) if signature else None,
        signature_line=signature.number if signature else None,
    )


def signer_of(line: str) -> str | None:
    """The login in a signature line; None where it is empty or still the placeholder."""
    found = _SIGNATURE.match(line)
    login = found["login"] if found else ""
    return login if login and not login.upper().startswith(PLACEHOLDER_LOGIN) else None


def detail_heading(own: Sequence[TextLine]) -> TextLine | None:
    """The heading of the additional detail section: the first one after a box, else the first one."""
    first_box = next((line.number for line in own if _box(line)), 0)
    headings = [line for line, before in _with_before(own) if _is_detail_heading(line, before)]
    return next((line for line in headings if line.number > first_box), headings[0] if headings else None)


def bare_box(line: TextLine) -> bool:
    """Whether the line is a box that GitHub does not draw: no bullet, `[]`, `[ x]`, `[✓]`, or no blank after it."""
    found = _box(line)
    if not found:
        return False
    return not re.match(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ xX]\][ \t]", line.text)


def _box(line: TextLine) -> re.Match[str] | None:
    return _BOX.match(line.text)


def _signature(own: Sequence[TextLine]) -> TextLine | None:
    """The last signature, a filled one before an empty one."""
    for pattern in (_SIGNATURE, _EMPTY_SIGNATURE):
        for line in reversed(own):
            if pattern.match(line.text):
                return line
    return None


def _with_before(own: Sequence[TextLine]) -> Iterator[tuple[TextLine, TextLine | None]]:
    before = None
    for line in own:
        yield line, before
        before = line


def _is_detail_heading(line: TextLine, before: TextLine | None) -> bool:
    """A heading by `#`, or the phrase alone on a line (bold or not) after a blank one: an item's text says it too."""
    if _HEADING.match(line.text):
        return _DETAIL.search(line.text) is not None
    found = _DETAIL.match(line.text.strip(_DECORATION))
    starts_block = before is None or not before.text.strip() or before.number < line.number - 1
    bold = line.text.lstrip().startswith(("**", "__"))
    return found is not None and starts_block and (bold or not found["rest"].strip(_DECORATION))


def _on_heading(heading: TextLine) -> str:
    """Detail text that stands on the heading's own line."""
    found = _DETAIL.search(heading.text)
    rest = re.sub(r"^[^:：]*[:：]", "", found["rest"], count=1) if found else ""
    return "" if _DETAIL.search(rest) else rest.strip(_DECORATION)


def _detail_under(
    heading: TextLine,
    boxes: Sequence[SignOffBox],
    signature: TextLine | None,
    lines: Sequence[TextLine],
    own: Sequence[TextLine],
) -> str:
    """From the heading to the signature or the end; to the first box where the section was put before the boxes."""
    ends = [line.number for line in (signature,) if line and line.number > heading.number]
    if boxes and heading.number < boxes[0].line:
        ends.append(boxes[0].line)
    pasted = any(line.fenced for line in own)
    inside = (
        line.text
        for line in lines
        if heading.number < line.number < min(ends, default=len(lines) + 1) and not (pasted and line.fence)
    )
    return _join([_on_heading(heading), *inside])


def _detail_after_boxes(
    free_text: int | None, signature: TextLine | None, own: Sequence[TextLine]
) -> tuple[int | None, str]:
    """Without a heading: what stands between the last box and the signature, else what follows the signature."""
    if free_text is None:
        return None, ""
    end = signature.number if signature else own[-1].number + 1
    before = [line for line in own if free_text <= line.number < end]
    after = [line for line in own if line.number > max(end, free_text)]
    chosen = next((part for part in (before, after) if any(line.text.strip() for line in part)), [])
    first = next((line.number for line in chosen if line.text.strip()), None)
    return first, _join([line.text for line in chosen])


def _ends_item(line: TextLine, before: TextLine | None) -> bool:
    after_blank = before is None or not before.text.strip()
    return bool(
        _HEADING.match(line.text)
        or _RULE.match(line.text)
        or _SIGNATURE.match(line.text)
        or (after_blank and _BOLD_LINE.match(line.text))
    )


def _boxes(
    own: Sequence[TextLine], signature: TextLine | None, heading: TextLine | None
) -> tuple[tuple[SignOffBox, ...], int | None]:
    """The boxes in their order, and the line at which free text begins after the last one (without a heading)."""
    starts = [index for index, line in enumerate(own) if _box(line)]
    boxes = []
    free_text = None
    for position, index in enumerate(starts):
        last = position == len(starts) - 1
        stop = len(own) if last else starts[position + 1]
        closed = not last or (heading is not None and heading.number > own[index].number)
        parts, end = _item_lines(own, index, stop, loose=closed, barriers=(signature, heading))
        found = _box(own[index])
        boxes.append(
            SignOffBox(
                text=" ".join(parts),
                checked=bool(found and found["tick"]),
                line=own[index].number,
                indent=own[index].indent,
            )
        )
        if last and end < len(own):
            free_text = own[end].number
    return tuple(boxes), free_text


def _item_lines(
    own: Sequence[TextLine], index: int, stop: int, *, loose: bool, barriers: tuple[TextLine | None, ...]
) -> tuple[list[str], int]:
    """The words of the item that starts at `index`, line by line, and the index after its last line.

    `loose` takes everything up to the next box, heading or signature. Otherwise the item ends at a blank line, or at
    a line that stands no deeper than the box once a sentence is complete: what follows is free text.
    """
    found = _box(own[index])
    parts = [" ".join(found["text"].split())] if found else []
    end = index + 1
    while end < stop:
        line, before = own[end], own[end - 1]
        if line in barriers or _ends_item(line, before):
            break
        words = " ".join(line.text.split())
        complete = parts[-1:] and parts[-1].endswith(_SENTENCE_END) and line.indent <= own[index].indent
        if not loose and (complete or not words):
            break
        if words:
            parts.append(words)
        end += 1
    return [part for part in parts if part], end


def _join(lines: Sequence[str]) -> str:
    return "\n".join(line.rstrip() for line in lines).strip("\n")
