"""The lines above every pane: which pull request, by which policy, for whom, and the predicted verdict."""

from __future__ import annotations

import re
from datetime import datetime

from rich.cells import cell_len

from reviewer_tui.model.checklist import Decision
from reviewer_tui.model.finding import Verdict
from reviewer_tui.review.session import Review
from reviewer_tui.tui.texts.naming import age, counts
from reviewer_tui.tui.texts.page import Line, Piece, clean, cut, line

# The type and scope in front of a title, as conventional commits write them.
_PREFIX = re.compile(r"^\w{1,20}(?:\([^()]{0,80}\))?!?: *")

VERDICT_STYLES = {
    Verdict.PASS: "pass",
    Verdict.WARN: "warn",
    Verdict.UNDECIDED: "unverified",
    Verdict.REJECTED: "fail",
}


def header_lines(review: Review, now: datetime, width: int, *, moment: str = "", short: bool = False) -> list[Line]:
    """The header for a width: one line on a short screen, else two, one for a head that need not be the pull
    request's, and one for a moment that can be switched."""
    if short:
        return [_single(review, width)]
    lines = [_facts(review, now, width), _verdict(review, width)]
    if doubt := review.snapshot.head_doubt:
        lines.append(line(Piece(cut(f"Doubtful head: {clean(doubt)}", width), "fail")))
    return [*lines, line(Piece(cut(clean(moment), width), "key"))] if moment else lines


def _single(review: Review, width: int) -> Line:
    """Everything on one line: number, title as far as it fits, head, verdict, counts."""
    number, head = f"#{review.snapshot.ref.number} ", f"{review.snapshot.head[:7]} "
    right = [Piece(f"{review.verdict}", VERDICT_STYLES[review.verdict]), Piece(f" {_packed(review)}")]
    left = width - sum(cell_len(piece.text) for piece in right) - len(number) - len(head)
    title = f"{_fitting_title(review, left - 1)} " if left > 12 else ""
    gap = " " * max(left - cell_len(title), 0)
    if left < 0:
        head = ""
    return line(Piece(number, "title"), f"{title}{gap}{head}", *right)


def _facts(review: Review, now: datetime, width: int) -> Line:
    snapshot, policy = review.snapshot, review.policy
    number = f"#{snapshot.ref.number} "
    boxes = sum(item.boxed for item in policy.template.value.items) if policy.template.value else 0
    numbers = [check.number for check in policy.checks if check.number is not None]
    checks = f"checks {min(numbers)}-{max(numbers)}" if numbers else f"{len(policy.checks)} checks"
    state, head = _state(review), f"  head {snapshot.head[:7]}"
    source = f"  {snapshot.source}, {age(snapshot.taken_at, now)}"
    revisions = f"  main {snapshot.default_branch[:7]}  policy {policy.revision[:7]}: {boxes} items, {checks}"
    # The fullest that leaves room for some of the title.
    choices = (state + head + revisions + source, state + head + source, head + source, head)
    right = next((choice for choice in choices if len(number) + 28 + cell_len(choice) <= width), head)
    title = _fitting_title(review, width - len(number) - cell_len(right))
    gap = " " * max(width - len(number) - cell_len(title) - cell_len(right), 0)
    return line(Piece(number, "title"), Piece(title, "strong"), gap, Piece(right, "dim"))


def _verdict(review: Review, width: int) -> Line:
    pieces = [Piece(f"{review.verdict}", VERDICT_STYLES[review.verdict]), Piece("  ")]
    for count in counts(review):
        style = count.status.value if count.checks or count.beside else "dim"
        pieces.append(Piece(f"{count.status.letter} {count.text}", style))
        pieces.append(Piece("  " if width >= 80 else " "))
    signer = f"signing as {review.signer}" if review.signer else "no signer named (--signer LOGIN)"
    text = f"{signer}, {review.review_date}"
    left = width - sum(cell_len(piece.text) for piece in pieces)
    done, boxes = progress(review)
    ticked = f"{done}/{boxes} decided"
    if left >= len(text) + len(ticked) + 3:
        return line(*pieces, text, " " * (left - len(text) - len(ticked)), Piece(ticked, "strong"))
    return line(*pieces, cut(text, left))


def progress(review: Review) -> tuple[int, int]:
    """How many boxes the reviewer has decided, and how many there are."""
    template = review.policy.template.value
    boxed = [item for item in template.items if item.boxed] if template else []
    return sum(review.notes.mark(item.label).decision is not Decision.OPEN for item in boxed), len(boxed)


def _packed(review: Review) -> str:
    return " ".join(f"{count.status.letter}{count.text}" for count in counts(review)[:5])


def _title(review: Review) -> str:
    """The title; where only the commits are known, what the first of them says."""
    info, commits = review.snapshot.info.value, review.snapshot.commits.value
    if info:
        return clean(info.title)
    return clean(f"commit: {commits[0].subject}") if commits else "(title not known)"


def _fitting_title(review: Review, width: int) -> str:
    """The title, or what it says behind a `perf(scope):` where it is too long."""
    title = _title(review)
    subject = _PREFIX.sub("", title)
    return cut(subject if cell_len(title) > width and subject else title, width)


def _state(review: Review) -> str:
    info = review.snapshot.info.value
    if info is None:
        return ""
    state = "merged" if info.merged else "draft" if info.draft else info.state
    return f"  {clean(state)}"
