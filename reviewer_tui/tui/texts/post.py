"""What the post screen says: before, while and after something is posted."""

from __future__ import annotations

from collections.abc import Iterable

from reviewer_tui.model.errors import ReviewerError
from reviewer_tui.review.post_concerns import Concern, Grade
from reviewer_tui.review.post_words import outcome_sentences, preview_facts
from reviewer_tui.review.posting import PostOutcome, PostPreview
from reviewer_tui.tui.texts.page import BLANK, Line, Piece, Target, line

_MARKS = {
    Grade.STOP: Piece("F ", "fail"),
    Grade.AGAIN: Piece("J ", "judgement"),
    Grade.ASK: Piece("J ", "judgement"),
    Grade.NOTE: Piece("W ", "warn"),
}
_WORD = 9


def preview_text(preview: PostPreview, *, accepted: bool, told: Iterable[str] = ()) -> list[Line]:
    """What is new and the next key; who, where and what; what speaks against it; and exactly what is sent."""
    lines = [line(Piece(sentence, "warn")) for sentence in (*told, *preview.leftovers)]
    lines += [_next_key(preview, accepted=accepted), BLANK]
    lines += [
        line(Piece(f"{word:<{_WORD}}", "dim"), sentence, indent=_WORD)
        for word, sentence in preview_facts(preview, "the one you reviewed")
    ]
    if preview.concerns:
        lines += [BLANK, *map(_concern, preview.concerns)]
    lines += [BLANK, line(Piece("Exactly this is sent:", "title"))]
    lines += [line(Piece("| ", "dim"), row, indent=2) for row in preview.body.split("\n")]
    return lines


def progress_text(words: str, *, stoppable: bool) -> list[Line]:
    """What is being done now."""
    rest = "Esc stops it; nothing is sent then." if stoppable else "It is on its way and cannot be stopped any more."
    return [line(words), BLANK, line(Piece(rest, "dim"))]


def outcome_text(outcome: PostOutcome) -> list[Line]:
    """What became of it."""
    style = "pass" if outcome.state == "posted" else "warn"
    target = Target(url=outcome.url) if outcome.url else None
    first, *others = outcome_sentences(outcome)
    lines = [line(Piece(first, style), target=target), *(line(sentence) for sentence in others), BLANK]
    if outcome.state == "posted":
        key = "o opens it in the browser, Esc goes back; the conversation is read again."
    else:
        key = "r looks for it again; only if you then say so with a, P sends it again. Esc goes back: nothing is lost."
    return [*lines, line(Piece(key, "key"))]


def error_text(error: ReviewerError) -> list[Line]:
    """Why nothing was sent."""
    remedy = [line(error.remedy)] if error.remedy else []
    return [line(Piece(error.message, "fail")), *remedy, BLANK, line(Piece("r looks again, Esc goes back.", "key"))]


def _concern(concern: Concern) -> Line:
    target = Target(url=concern.url) if concern.url else None
    url = Piece(f" {concern.url}" if concern.url else "", "link")
    return line(_MARKS[concern.grade], concern.message, url, indent=2, target=target)


def _next_key(preview: PostPreview, *, accepted: bool) -> Line:
    obstacles = preview.obstacles(accepted=accepted)
    other = "" if not preview.may_edit else "   n a new comment instead" if preview.edits else "   n edit yours instead"
    if any(concern.grade is Grade.STOP for concern in obstacles):
        return line(Piece(f"This cannot be posted.{other}   Esc back", "key"))
    if obstacles:
        return line(Piece(f"a go on in spite of what is marked J{other}   Esc back, nothing is sent", "key"))
    verb = "P edit the comment now" if preview.edits else "P post it now"
    return line(Piece(f"{verb}{other}   Esc back, nothing is sent", "key"))
