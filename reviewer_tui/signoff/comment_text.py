"""The text of a comment on its way to GitHub and back: an invisible mark by which it is found again, and equality.

GitHub has no key that would make a post repeatable, so a comment is recognised by a mark in it, or by its words.
"""

from __future__ import annotations

import re

from reviewer_tui.signoff.parse import has_trigger, parse_sign_off, read_lines

LONGEST_BODY = 65_536
"""What GitHub takes as the body of one comment, in characters."""

_MARK = re.compile(r"\s*<!-- ixr:(?P<uuid>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) -->\s*\Z")
_LINE_END = re.compile(r"\r\n|\r|\n")


def speaks_as_sign_off(text: str) -> bool:
    """Whether a text is a sign-off or would be taken for one: the verifier starts on the trigger sentence alone, and
    boxes without it are a sign-off that lost its opening."""
    return has_trigger(text) or bool(parse_sign_off(text).boxes)


def marked(text: str, uuid: str) -> str:
    """The text as it is sent, with plain line ends and its end trimmed: a sign-off ends in an HTML comment with the
    identity of this one post (in the place of an earlier post's); other texts, and those in which the comment would be
    more than a comment (an open fence, say), get none."""
    bare = unmarked("\n".join(_LINE_END.split(text.removeprefix("\ufeff"))))
    if not speaks_as_sign_off(bare):
        return bare
    with_mark = f"{bare}\n\n<!-- ixr:{uuid} -->"
    in_code = read_lines(with_mark)[-1].fenced
    return bare if in_code or parse_sign_off(with_mark) != parse_sign_off(bare) else with_mark


def unmarked(text: str) -> str:
    """The text without the mark and without blanks at its end."""
    return _MARK.sub("", text).rstrip()


def mark_of(text: str) -> str | None:
    """The identity in the text's mark, if it ends in one."""
    found = _MARK.search(text)
    return found["uuid"] if found else None


def normalised(text: str) -> str:
    """What two texts have in common that are one comment: without mark, line ends as `\\n`, no blanks at the ends of
    lines or of the text."""
    lines = _LINE_END.split(unmarked(text.removeprefix("\ufeff")))
    return "\n".join(line.rstrip() for line in lines).strip("\n")
