"""What both faces say about a post: before it, and what became of it."""

from __future__ import annotations

from reviewer_tui.review.post_concerns import Judgement
from reviewer_tui.review.posting import PostOutcome, PostPreview
from reviewer_tui.signoff.comment_text import LONGEST_BODY, mark_of

IRREVOCABLE = "Everybody who follows the pull request gets a mail at once. It can be edited later, but not unsent."

EDITED = "An edit sends no mail, except to whom it newly calls. What stood there before stays readable at GitHub."

UNKNOWN = (
    "GitHub gave no clear answer, and the comment was not found. It may still appear. Nothing is sent again by itself:"
    " look at the pull request first."
)


def preview_facts(preview: PostPreview, known_head: str) -> tuple[tuple[str, str], ...]:
    """Who posts what, where, and on which head, as a word and a sentence each. `known_head` says which one it is where
    the head is still the request's (`the one you reviewed`)."""
    ref, length = preview.ref, len(preview.body)
    reviewed = preview.request.head
    seen = f", {known_head}" if reviewed and preview.head.startswith(reviewed.lower()) else ""
    mark = ", an invisible mark at its end" if mark_of(preview.body) else ""
    facts = [
        ("to", f"{ref.repository} #{ref.number} on {ref.host}: {preview.title}"),
        ("as", preview.login),
        ("what", what(preview)),
        ("head", f"{preview.head[:9]}{seen}; looked at {preview.at[:16].replace('T', ' ')} UTC"),
        ("text", f"{length:,} of {LONGEST_BODY:,} characters{mark}"),
    ]
    if preview.judgement is not None:
        facts.append(("lint", lint_words(preview.judgement)))
        facts.append(("verdict", f"{preview.judgement.verdict} is expected"))
    if preview.request.edits is None and preview.edits is None:
        facts.append(("note", IRREVOCABLE))
    elif preview.edits is not None:
        facts.append(("note", EDITED))
    return tuple(facts if preview.sendable else [fact for fact in facts if fact[0] != "note"])


def what(preview: PostPreview) -> str:
    """A new comment of its kind, or the one that is edited."""
    kind = {"sign-off": "sign-off", "command": "comment with a reuse command", "comment": "comment"}[preview.kind]
    if preview.edits is None and preview.request.edits is not None:
        return f"nothing: there is no comment {preview.request.edits} that could be edited"
    if preview.edits is None:
        return f"a new {kind}"
    return f"edits your comment of {preview.edits.created_at[:10]}, no second one: {preview.edits.url}"


def lint_words(judgement: Judgement) -> str:
    """How many faults and remarks a text has."""
    faults, remarks = len(judgement.lint.faults), len(judgement.lint.remarks)
    return f"{faults} {'fault' if faults == 1 else 'faults'}, {remarks} {'remark' if remarks == 1 else 'remarks'}"


def outcome_sentences(outcome: PostOutcome) -> tuple[str, ...]:
    """What became of a post, a sentence each, the most important first."""
    if outcome.state == "changed":
        return ("Nothing was sent: something has changed since you looked.",)
    if outcome.state == "unknown":
        return (UNKNOWN, outcome.reason)
    lint = (f"What stands there now: {lint_words(outcome.judgement)}.",) if outcome.judgement else ()
    return (f"It is posted: {outcome.url}", *outcome.remarks, *lint)
