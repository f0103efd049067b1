"""Read the verifier's verdict comments, in every form they have had.

Era A (from 2026-06-23): marker with the head's SHA, free text, rows without emoji. Era B (from 07-03): a headline and
emoji rows. Era C (from 09-15): a bare marker and an `Assessed commit` line, one comment updated in place. Era D (from
about 09-22): the marker names the sign-off, an overall WARN exists, the output is validated before it is published.
Anybody can write such a comment, so only the verifier's own accounts are believed; and a comment that contradicts
itself is no verdict, never a pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from reviewer_tui.model.finding import Status, Verdict
from reviewer_tui.model.pull_request import Comment

Era = Literal["A", "B", "C", "D"]

TRUSTED_AUTHORS = frozenset({"klaud-cold", "github-actions[bot]"})
"""The accounts that publish verdicts, in lower case."""

_MARKER = re.compile(
    r"\s{0,100}<!-- codeowner-signoff-verify(?: (?:sha=(?P<sha>[0-9a-f]{7,40})"
    r"|signoff=(?P<signoff>(?:issuecomment-|pullrequestreview-|discussion_r)[1-9]\d{0,19})))? -->"
)
_ANY_MARKER = re.compile(r"\s{0,100}<!--\s{0,20}codeowner-signoff-verify")
_MARKS = r"[✅❌⚠\ufe0f* \t]*"
_HEADLINE = re.compile(
    rf"[ \t]*#{{1,3}}{_MARKS}(?:Verdict:[* \t]*(?P<word>PASS|REJECTED|WARN)|(?P<rejected>REJECTED))\b{_MARKS}$"
)
_ROW = re.compile(
    r"\s*(?:[-*+]\s+)?(?:(?P<emoji>✅|❌|➖|⚠)\ufe0f?\s*)?\**Check\s+(?P<number>\d{1,4})\**\s*(?:\((?P<name>.*?)\)\**\s*)?[:—–-]\s*"
    r"\**(?P<status>PASS|FAIL|N/A|WARN)\**(?:\s*[:—–-]\s*(?P<text>.*))?$"
)
_ROW_LIKE = re.compile(r"\s*(?:[-*+]\s+)?(?:[✅❌➖⚠]\ufe0f?\s*)\**Check\s+\d")
_ASSESSED = re.compile(r"[ \t]*Assessed commit:[ \t]*`?(?P<sha>[0-9a-f]{7,40})`?\.?[ \t]*$")
_COVERED = re.compile(r"[ \t]*Covered commit:[ \t]*`?(?P<sha>[0-9a-f]{7,40})`?\.?[ \t]*$")
_FOLD = re.compile(r"[ \t]*</?(?:details|summary)\b", re.IGNORECASE)
_BLOCKED = re.compile(r"\bblocked\b", re.IGNORECASE)
_PASS_WORD = re.compile(r"\bPASS(?:ED|ES)?\b")
_FAIL_WORD = re.compile(r"\b(?:FAIL(?:ED|S)?|REJECTED|NOT\s+PASS)\b")
_LINE_END = re.compile(r"\r\n|\r|\n")

_STATUSES = {"PASS": Status.PASS, "FAIL": Status.FAIL, "N/A": Status.NOT_APPLICABLE, "WARN": Status.WARN}
_EMOJI = {"✅": Status.PASS, "❌": Status.FAIL, "➖": Status.NOT_APPLICABLE, "⚠": Status.WARN}
_OVERALL = {"PASS": Verdict.PASS, "REJECTED": Verdict.REJECTED, "WARN": Verdict.WARN}


class VerdictRow(msgspec.Struct, frozen=True, kw_only=True):
    """One check of a verdict. `name` is empty where the row gives none; `line` is counted in the comment."""

    number: int
    name: str
    status: Status
    text: str
    line: int


class VerdictComment(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict comment taken apart.

    `overall` is None where the comment is no verdict: `malformed` then says why. `head` is the assessed commit where
    the comment names one, `covered` a later commit to which it was carried on, `sign_off` the anchor of the judged
    sign-off (`issuecomment-123`). `marked` says whether the marker stands; `trusted` whether its author is one of the
    verifier's accounts; `forged` is a marker or headline by a known other author.
    """

    era: Era
    overall: Verdict | None
    rows: tuple[VerdictRow, ...]
    head: str | None = None
    covered: str | None = None
    sign_off: str | None = None
    marked: bool = True
    trusted: bool = False
    forged: bool = False
    malformed: str = ""

    def row(self, number: int) -> VerdictRow | None:
        """The row of a check by the policy's number."""
        return next((row for row in self.rows if row.number == number), None)


def is_verdict_comment(body: str) -> bool:
    """Whether a body is (or pretends to be) a verdict: the marker first, or, in a copy without it, the headline."""
    text = body.removeprefix("\ufeff")
    if _ANY_MARKER.match(text):
        return True
    first = next((line for line in _lines(text[:2000]) if line.strip()), "")
    return _HEADLINE.match(first) is not None


def parse_verdict(body: str, author: str | None = None) -> VerdictComment | None:
    """A verdict comment taken apart; None where the body is none. Never fails.

    `author` is the login of the comment's author: empty for a deleted account (not trusted), None where it is not
    known, as in an exported copy (not trusted, not called forged).
    """
    if not is_verdict_comment(body):
        return None
    text = body.removeprefix("\ufeff")
    marker = _MARKER.match(text)
    lines = _lines(text)
    content = _lines(text[marker.end() :]) if marker else lines
    rows = _rows(lines)
    assessed, covered = _last(_ASSESSED, content), _last(_COVERED, content)
    era = _era(marker, assessed, content)
    overall, malformed = _overall(era, content, rows)
    trusted = author is not None and author.lower() in TRUSTED_AUTHORS
    return VerdictComment(
        era=era,
        overall=overall,
        rows=rows,
        head=assessed or (marker["sha"] if marker else None),
        covered=covered,
        sign_off=marker["signoff"] if marker else None,
        marked=marker is not None,
        trusted=trusted,
        forged=author is not None and not trusted,
        malformed=malformed,
    )


def newest_verdict(
    comments: Iterable[Comment], head: str, sign_off: str | None = None
) -> tuple[Comment, VerdictComment] | None:
    """The verifier's newest word on a head (full SHA), with its comment; None where it has not spoken.

    Only trusted comments count. A malformed one is returned as well (its `overall` is None): it replaced what stood
    there before. With `sign_off` (an anchor such as `issuecomment-123`), verdicts on other sign-offs are left out.
    """
    best: tuple[Comment, VerdictComment] | None = None
    for comment in comments:
        verdict = parse_verdict(comment.body, comment.author)
        if verdict is None or not verdict.trusted or not _speaks_of(verdict, head):
            continue
        if sign_off and verdict.sign_off and verdict.sign_off != sign_off:
            continue
        if best is None or _moment(comment) >= _moment(best[0]):
            best = comment, verdict
    return best


def _speaks_of(verdict: VerdictComment, head: str) -> bool:
    return any(sha is not None and head.startswith(sha) for sha in (verdict.head, verdict.covered))


def _moment(comment: Comment) -> tuple[str, int]:
    return comment.updated_at or comment.created_at, comment.id


def _lines(text: str) -> list[str]:
    return _LINE_END.split(text)


def _last(pattern: re.Pattern[str], lines: Sequence[str]) -> str | None:
    found = [match["sha"] for match in map(pattern.match, lines) if match]
    return found[-1] if found else None


def _era(marker: re.Match[str] | None, assessed: str | None, content: Sequence[str]) -> Era:
    if marker and marker["signoff"]:
        return "D"
    headline = _headline(content)
    if assessed:
        return "D" if marker is None and headline and _claim(headline) is Verdict.WARN else "C"
    if marker and not marker["sha"]:
        return "C"
    return "B" if headline else "A"


def _headline(content: Sequence[str]) -> re.Match[str] | None:
    first = next((line for line in content if line.strip()), "")
    return _HEADLINE.match(first)


def _claim(headline: re.Match[str]) -> Verdict:
    return _OVERALL[headline["word"] or headline["rejected"]]


def _rows(lines: Sequence[str]) -> tuple[VerdictRow, ...]:
    """The rows with the indented lines that carry a row's text on; quotations are nobody's rows."""
    rows: list[VerdictRow] = []
    open_row = False
    for number, line in enumerate(lines, 1):
        found = _ROW.match(line)
        if found:
            rows.append(
                VerdictRow(
                    number=int(found["number"]),
                    name=(found["name"] or "").strip(),
                    status=_STATUSES[found["status"]],
                    text=(found["text"] or "").strip(),
                    line=number,
                )
            )
            open_row = True
        elif open_row and line[:1] in (" ", "\t") and line.strip() and not _FOLD.match(line):
            text = f"{rows[-1].text} {line.strip()}".strip()
            rows[-1] = msgspec.structs.replace(rows[-1], text=text)
        else:
            open_row = False
    return tuple(rows)


def _overall(era: Era, content: Sequence[str], rows: tuple[VerdictRow, ...]) -> tuple[Verdict | None, str]:
    """The overall verdict, or None and the sentence that says why the comment is none."""
    if era == "A":
        return _overall_of_prose(content, rows)
    headline = _headline(content)
    if headline is None:
        return None, "The comment has no verdict headline."
    if sum(1 for line in content if _HEADLINE.match(line)) > 1:
        return None, "The comment has more than one verdict headline."
    claimed, follows = _claim(headline), _follows({row.status for row in rows})
    if era == "D" and (reason := _fault_of_published_rows(content, rows)):
        return None, reason
    if rows and claimed is not follows and (era == "D" or claimed is not Verdict.REJECTED):
        return None, f"The headline says {claimed}, the rows say {follows}."
    return claimed, ""


def _follows(statuses: set[Status]) -> Verdict:
    if Status.FAIL in statuses:
        return Verdict.REJECTED
    return Verdict.WARN if Status.WARN in statuses else Verdict.PASS


def _overall_of_prose(content: Sequence[str], rows: tuple[VerdictRow, ...]) -> tuple[Verdict | None, str]:
    """Era A has no headline: the rows decide, else the first line's own words."""
    first = next((line for line in content if line.strip()), "")
    blocked = bool(_BLOCKED.search(first) or _FAIL_WORD.search(first))
    passes = bool(_PASS_WORD.search(first)) and not blocked
    if any(row.status is Status.FAIL for row in rows):
        return (None, "The first line says PASS, a row says FAIL.") if passes else (Verdict.REJECTED, "")
    if blocked:
        return Verdict.REJECTED, ""
    if passes:
        return Verdict.PASS, ""
    return None, "The comment states no overall verdict in words this program knows."


def _fault_of_published_rows(content: Sequence[str], rows: tuple[VerdictRow, ...]) -> str:
    """What the publisher's rules of era D forbid: rows that do not match, doubled or skipped checks, a wrong emoji, no
    rows at all (its own body for output that was not valid)."""
    if not rows:
        return "The comment has no rows: the verifier produced no valid verdict."
    for line in content:
        found = _ROW.match(line)
        if found is None and _ROW_LIKE.match(line):
            return f"A row cannot be read: {' '.join(line.split())[:120]}"
        if found and found["emoji"] and _EMOJI[found["emoji"]] is not _STATUSES[found["status"]]:
            return f"The mark of check {found['number']} does not fit its status."
    numbers = [row.number for row in rows]
    if len(set(numbers)) < len(numbers):
        return "A check stands there twice."
    if set(numbers) != set(range(max(numbers) + 1)):
        return "Not every check has a row."
    return ""
