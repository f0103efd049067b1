"""The queue: open pull requests in the order in which they wait for a human.

Two kinds of facts meet here, and nothing is read: what a listing tells of every pull request, and what a look into one
told, at one head and moment. A pull request that nobody looked into, or only at an earlier head, has no lanes, scores
or verdict here; it is never shown as one without any.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Literal

import msgspec

from reviewer_tui.checks.check import Evidence
from reviewer_tui.checks.runs import Standing, Sweep, plan_of, sweeps_of
from reviewer_tui.checks.sweep import nothing_to_sweep
from reviewer_tui.model.finding import Status, Verdict
from reviewer_tui.model.part import Part, complete, partial, unavailable
from reviewer_tui.model.pull_request import Comment, PullRequestInfo, PullRequestRef
from reviewer_tui.model.snapshot import Snapshot
from reviewer_tui.policy.items import check_name, known_checks
from reviewer_tui.policy.owners import Owner, Owners
from reviewer_tui.review.conversation import posted_sign_offs
from reviewer_tui.review.session import Review, evidence_of
from reviewer_tui.review.statuses import StatusView, status_views
from reviewer_tui.signoff.verdict_comment import VerdictComment, newest_verdict
from reviewer_tui.sweeps.lanes import EVAL_FAMILIES

MOST_PATHS = 3_000
"""Changed paths of one pull request whose owners are looked up."""

SweepState = Standing | Literal["none", "not_needed"]

# A composed sign-off mends these; whoever signs need not wait for anybody.
_IN_THE_SIGNERS_HAND = ("template",)
# Who can mend a failing check, where it is not the author.
_WHO_MENDS = {"owner": "another owner", "reuse": "maintainer: reuse"}
# Fail as long as a sweep runs, and say nothing yet.
_LATER = ("reuse", "evals")

_ANCHORS = {"issue_comment": "issuecomment-", "review": "pullrequestreview-", "review_comment": "discussion_r"}


class Waits(StrEnum):
    """What a pull request waits for, the most pressing for a human first."""

    READY = "ready"
    RUNNING = "running"
    BLOCKED = "blocked"
    PENDING = "pending"
    MOVED = "moved"
    UNKNOWN = "unknown"
    DONE = "done"
    OTHERS = "others"


_ORDER = tuple(Waits)


class Count(msgspec.Struct, frozen=True):
    """So many of so many; of none at all where none is expected."""

    done: int
    total: int

    def __str__(self) -> str:
        return f"{self.done}/{self.total}" if self.total else "none"


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """A pull request as a listing knows it. `head` is empty where only a look tells it; `asked` are the owners of its
    changed paths (see `owners_asked`); `trouble` says why a look into it failed."""

    ref: PullRequestRef
    head: str
    info: Part[PullRequestInfo]
    asked: Part[tuple[Owner, ...]]
    title: str = ""
    trouble: str = ""


class SignedOff(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody's newest sign-off. `at` is when it was last edited; `at_head` whether it was made for the present head
    (None: that cannot be told). `judged` says that the verifier has spoken since, on this head: its `verdict` (None
    where what it said is none) and the checks that it failed. `status` is the state of the verifier's commit status on
    this head where that was set since (empty: none was), and `status_doubt` why somebody else may have set it."""

    author: str
    at: str
    at_head: bool | None
    judged: bool = False
    verdict: Verdict | None = None
    failing: tuple[str, ...] = ()
    status: str = ""
    status_doubt: str = ""


class Failing(msgspec.Struct, frozen=True):
    """A check that fails, and why."""

    name: str
    summary: str


class Insight(msgspec.Struct, frozen=True, kw_only=True):
    """What a look into a pull request told. `lanes` and `evals` count the green of the planned ones (None: not known);
    `recipe` is the state of the linked recipe pull requests; `verdict` what the verifier last said of this head, and
    `predicted` what this program predicts; `updated_at` is the host's own time of the last change that was seen;
    `unread` says why sign-offs are not known."""

    head: str
    taken_at: str
    updated_at: str
    sweep: SweepState
    lanes: Count | None
    evals: Count | None
    recipe: str
    predicted: Verdict
    keys: tuple[str, ...] = ()
    verdict: Verdict | None = None
    sign_offs: tuple[SignedOff, ...] = ()
    failing: tuple[Failing, ...] = ()
    unverified: tuple[str, ...] = ()
    sweep_summary: str = ""
    unread: str = ""

    def of(self, login: str) -> SignedOff | None:
        """The newest sign-off of a login, or of anybody where none is named."""
        own = [one for one in self.sign_offs if not login or one.author.lower() == login.lower()]
        return max(own, key=lambda one: one.at, default=None)


class QueueRow(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the queue. What is not known is None, or empty; `waits_for` is for a column, `why` a sentence.

    `taken_at` is when the facts of the row were read (empty: nobody looked into the pull request), `outdated` says that
    the pull request changed since.
    """

    ref: PullRequestRef
    title: str
    head: str
    waits: Waits
    waits_for: str
    why: str
    author: str = ""
    draft: bool | None = None
    labels: tuple[str, ...] | None = None
    updated_at: str = ""
    owners: tuple[str, ...] | None = None
    keys: tuple[str, ...] | None = None
    lanes: Count | None = None
    evals: Count | None = None
    recipe: str = ""
    verdict: Verdict | None = None
    predicted: Verdict | None = None
    taken_at: str = ""
    outdated: bool = False

    @property
    def number(self) -> int:
        return self.ref.number

    def age(self, now: datetime) -> str:
        """How old the row's facts are; `-` where there are none."""
        return short_age(self.taken_at, now)


def short_age(moment: str, now: datetime) -> str:
    """The time since a moment (ISO 8601) in its largest unit: `12 s`, `5 min`, `3 h`, `9 d`; `-` where it is no
    time."""
    then = _time(moment)
    if then is None:
        return "-"
    seconds = max((now - then).total_seconds(), 0)
    for unit, length, limit in (("s", 1, 90), ("min", 60, 90), ("h", 3_600, 36)):
        if seconds < limit * length:
            return f"{int(seconds // length)} {unit}"
    return f"{int(seconds // 86_400):,} d"


# --- who is asked ----------------------------------------------------------------------------------------------------


def owners_asked(owners: Part[Owners], paths: Part[tuple[str, ...]]) -> Part[tuple[Owner, ...]]:
    """Whom CODEOWNERS asks to vouch for changed paths, those of most paths first.

    The last matching line decides about a path. A team on a line for every path asks nobody by name: today's process
    wants no sign-off for what only such a team owns.
    """
    if owners.value is None:
        return unavailable(owners.reason, owners.remedy)
    if paths.value is None:
        return unavailable(paths.reason, paths.remedy)
    counts: dict[Owner, int] = {}
    for path in paths.value[:MOST_PATHS]:
        rule = owners.value.rule_of(path)
        for owner in rule.owners if rule else ():
            if not (rule and rule.is_catch_all and owner.kind == "team"):
                counts[owner] = counts.get(owner, 0) + 1
    asked = tuple(sorted(counts, key=lambda owner: -counts[owner]))
    if len(paths.value) > MOST_PATHS:
        return partial(asked, f"Only the owners of {MOST_PATHS:,} of {len(paths.value):,} paths were looked up.")
    doubts = " ".join(part.reason for part in (owners, paths) if not part.complete)
    return partial(asked, doubts) if doubts else complete(asked)


# --- from a review to what the queue needs of it ---------------------------------------------------------------------


def listed_of(review: Review) -> Listed:
    """A pull request as a listing would have told it, where there is none: the cache, a clone."""
    snapshot = review.snapshot
    files = snapshot.files
    paths: Part[tuple[str, ...]] = Part(
        files.state,
        None if files.value is None else tuple(path for file in files.value for path in file.paths),
        files.reason,
        files.remedy,
    )
    return Listed(
        ref=snapshot.ref,
        head=snapshot.head,
        info=snapshot.info,
        asked=owners_asked(review.policy.owners, paths),
        title=_title(review),
    )


def _title(review: Review) -> str:
    """The title, else the changed keys, else what the first commit says."""
    info, commits = review.snapshot.info.value, review.snapshot.commits.value
    if info is not None:
        return info.title
    keys = ", ".join(change.key for change in review.changes.keys)
    return keys or (f"commit: {commits[0].subject}" if commits else "")


def insight_of(review: Review) -> Insight:
    """What a review tells the queue. Reads trees, and raises DataError where their files cannot be had."""
    snapshot = review.snapshot
    state, lanes, evals = _sweep_counts(evidence_of(review))
    spoken = newest_verdict(snapshot.conversation.value or (), snapshot.head)
    sweep = review.result("sweep")
    return Insight(
        head=snapshot.head,
        taken_at=snapshot.taken_at,
        updated_at=snapshot.info.value.updated_at if snapshot.info.value else "",
        sweep=state,
        lanes=lanes,
        evals=evals,
        recipe=_recipe(review),
        predicted=review.verdict,
        keys=tuple(change.key for change in review.changes.keys),
        verdict=spoken[1].overall if spoken else None,
        sign_offs=_sign_offs(review),
        failing=tuple(
            Failing(result.name, result.summary)
            for result in review.results
            if result.status is Status.FAIL and result.name not in _IN_THE_SIGNERS_HAND
        ),
        unverified=tuple(result.name for result in review.results if result.status is Status.UNVERIFIED),
        sweep_summary=sweep.summary if sweep else "",
        unread="" if snapshot.conversation.value is not None else snapshot.conversation.reason,
    )


def _sweep_counts(evidence: Evidence) -> tuple[SweepState, Count | None, Count | None]:
    """How the best sweep stands, with its lanes and its eval lanes; without any sweep, what the head asks for."""
    if nothing_to_sweep(evidence) is not None:
        return "not_needed", Count(0, 0), Count(0, 0)
    if evidence.snapshot.runs.value is None:
        return "unknown", None, None
    sweeps = sweeps_of(evidence)
    if (best := sweeps.best) is not None:
        return best.standing, _count(best), _count(best, evals=True)
    if sweeps.doubts:
        return "unknown", None, None
    plan = plan_of(evidence, evidence.trees.head)
    expected = sum(number for family, number in plan.counts.items() if family in EVAL_FAMILIES)
    return "none", Count(0, len(plan.lanes)), Count(0, expected)


def _count(sweep: Sweep, *, evals: bool = False) -> Count:
    states = sweep.states(EVAL_FAMILIES) if evals else sweep.states()
    return Count(states["pass"], states.total())


def _recipe(review: Review) -> str:
    """`merged` where every linked recipe pull request is, else the state of one that is not; `none` where none is
    linked, empty where that is not known."""
    result, part = review.result("recipe"), review.snapshot.upstream
    if result is not None and result.status is Status.NOT_APPLICABLE:
        return "n/a"
    if part.value is None or (not part.value and not part.complete):
        return ""
    return next((pull.state for pull in part.value if pull.state != "merged"), "merged" if part.value else "none")


# --- sign-offs and verdicts ------------------------------------------------------------------------------------------


def _sign_offs(review: Review) -> tuple[SignedOff, ...]:
    """The newest sign-off of each author."""
    newest: dict[str, Comment] = {}
    for comment in sorted(posted_sign_offs(review.snapshot), key=_said_at):
        newest[comment.author.lower()] = comment
    verdicts = [view for view in status_views(review) if view.verifier]
    return tuple(_with_status(_signed_off(review.snapshot, comment), verdicts, comment) for comment in newest.values())


def _with_status(sign_off: SignedOff, verdicts: Iterable[StatusView], comment: Comment) -> SignedOff:
    """The sign-off with the newest commit status of the verifier that was set after it."""
    signed = _time(_said_at(comment))
    told = [(then, view) for view in verdicts if signed and (then := _time(view.status.updated_at)) and then >= signed]
    if sign_off.judged or not told:
        return sign_off
    _, view = max(told, key=lambda one: one[0])
    return msgspec.structs.replace(sign_off, status=view.status.state, status_doubt=view.doubt)


def _signed_off(snapshot: Snapshot, comment: Comment) -> SignedOff:
    said, at = snapshot.conversation.value or (), _said_at(comment)
    found = newest_verdict(said, snapshot.head, f"{_ANCHORS[comment.kind]}{comment.id}")
    if found is None:
        return SignedOff(author=comment.author, at=at, at_head=_made_for_head(snapshot, comment))
    if _said_at(found[0]) < at:  # an edit of the sign-off starts a new verification
        return SignedOff(author=comment.author, at=at, at_head=True)
    verdict = found[1]
    return SignedOff(
        author=comment.author,
        at=at,
        at_head=True,
        judged=True,
        verdict=verdict.overall,
        failing=_failed_checks(verdict),
    )


def _failed_checks(verdict: VerdictComment) -> tuple[str, ...]:
    """The names of the checks that a verdict fails."""
    known = {check.name for check in known_checks()}
    names = []
    for row in verdict.rows:
        if row.status is Status.FAIL:
            plain = row.name.lower().replace(" ", "_")
            names.append(plain if plain in known else check_name(row.name, row.number))
    return tuple(names)


def _made_for_head(snapshot: Snapshot, comment: Comment) -> bool | None:
    """Whether a sign-off speaks of the present head. A review names its commit; of a comment only the time is known.

    A run of the head that began before proves that the head was there; a push in force or a commit after it proves
    that it was not. Anything else proves nothing: a commit can be older than its push.
    """
    if comment.commit:
        return comment.commit == snapshot.head
    at = _time(_said_at(comment))
    if at is None:
        return None
    if _any_before(at, (run.created_at for run in snapshot.runs.value or () if run.head_sha == snapshot.head)):
        return True
    pushed = [event.created_at for event in snapshot.events.value or () if event.kind == "head_ref_force_pushed"]
    written = [commit.authored_at for commit in snapshot.commits.value or ()]
    return False if any(then > at for then in _times((*pushed, *written))) else None


def _any_before(at: datetime, moments: Iterable[str]) -> bool:
    return any(then <= at for then in _times(moments))


def _said_at(comment: Comment) -> str:
    return comment.updated_at or comment.created_at


def _times(moments: Iterable[str]) -> list[datetime]:
    return [then for then in map(_time, moments) if then is not None]


def _time(moment: str) -> datetime | None:
    """A moment with its offset; None for a text that is none."""
    try:
        then = datetime.fromisoformat(moment)
    except ValueError:
        return None
    return then if then.tzinfo else None


# --- rows ------------------------------------------------------------------------------------------------------------


def queue_rows(
    listed: Iterable[Listed], insights: Mapping[PullRequestRef, Insight], signer: str = ""
) -> tuple[QueueRow, ...]:
    """The rows of pull requests, sorted by what waits for a human, then the one that changed last first.

    `signer` is a login without `@`; empty stands for every owner. An insight counts only at the listed head.
    """
    rows = [_row(one, insights.get(one.ref), signer) for one in listed]
    rows.sort(key=lambda row: (row.updated_at, row.number), reverse=True)
    return tuple(sorted(rows, key=lambda row: _ORDER.index(row.waits)))


def to_look_into(listed: Iterable[Listed], signer: str = "") -> list[Listed]:
    """In which order pull requests are worth a look: those that the signer owns, no drafts, those that changed last."""

    def worth(one: Listed) -> tuple[bool, bool, str, int]:
        info = one.info.value
        return (
            _concerns(one, signer) is not False,
            not (info and info.draft),
            info.updated_at if info else "",
            one.ref.number,
        )

    return sorted(listed, key=worth, reverse=True)


def is_outdated(listed: Listed, insight: Insight) -> bool:
    """Whether a pull request is another one than was looked into: its head moved, or something changed since. Both
    times are the host's: the clock of this machine may be wrong."""
    if listed.head not in ("", insight.head):
        return True
    return listed.info.value is not None and listed.info.value.updated_at > insight.updated_at


def _concerns(listed: Listed, signer: str) -> bool | None:
    """Whether a pull request waits for the signer's vouching, or anybody's; None where that is not known."""
    asked = listed.asked.value or ()
    if any(owner.is_user(signer) if signer else True for owner in asked):
        return True
    return False if listed.asked.complete else None


def _row(listed: Listed, insight: Insight | None, signer: str) -> QueueRow:
    info = listed.info.value
    at_head = insight is not None and listed.head in ("", insight.head)
    outdated = insight is not None and is_outdated(listed, insight)
    waits, waits_for, why = _waits(listed, insight, signer)
    row = QueueRow(
        ref=listed.ref,
        title=info.title if info and info.title else listed.title,
        head=listed.head or (insight.head if insight else ""),
        waits=waits,
        waits_for=f"{waits_for}?" if at_head and outdated else waits_for,
        why=f"{why} It changed since it was looked into." if at_head and outdated else why,
        author=info.author if info else "",
        draft=info.draft if info else None,
        labels=info.labels if info else None,
        updated_at=info.updated_at if info else "",
        owners=None if listed.asked.value is None else tuple(map(str, listed.asked.value)),
        taken_at=insight.taken_at if insight else "",
        outdated=outdated,
    )
    if insight is None or not at_head:
        return row
    return msgspec.structs.replace(
        row,
        keys=insight.keys,
        lanes=insight.lanes,
        evals=insight.evals,
        recipe=insight.recipe,
        verdict=insight.verdict,
        predicted=insight.predicted,
    )


_Told = tuple[Waits, str, str]


def _waits(listed: Listed, insight: Insight | None, signer: str) -> _Told:
    """What a pull request waits for: in a word or two for the column, and in a sentence."""
    concerns = _concerns(listed, signer)
    if concerns is False:
        return _others(listed, insight)
    info = listed.info.value
    if info is not None and info.draft:
        return Waits.BLOCKED, "author: draft", "It is a draft; nothing is verified before it is ready for review."
    if insight is None:
        return Waits.UNKNOWN, "not loaded", listed.trouble or "Nobody looked into it yet."
    if listed.head not in ("", insight.head):
        why = f"The head moved to {listed.head[:9]}; what is loaded is of {insight.head[:9]}. {listed.trouble}"
        return Waits.UNKNOWN, "not loaded", why.rstrip()
    own = insight.of(signer)
    if own is not None:
        return _signed(own, "you" if signer else "owner")
    other = insight.of("")
    if other is not None and other.at_head:
        return _signed_by_other(other)
    waits, waits_for, why = _unsigned(insight, "you" if signer else "owner")
    if concerns is None and waits is Waits.READY:
        return Waits.UNKNOWN, "an owner?", f"Whom it waits for is not known: {listed.asked.reason}"
    if other is not None and other.at_head is None:
        why = f"{why} {other.author} signed on {other.at[:10]}; whether for this head cannot be told."
    return waits, waits_for, why


def _others(listed: Listed, insight: Insight | None) -> _Told:
    names = tuple(map(str, listed.asked.value or ()))
    if not names:
        return Waits.OTHERS, "nobody by name", "No line of CODEOWNERS names a person for what it changes."
    shown = names[0] if len(names) == 1 else f"{names[0]} +{len(names) - 1}"
    signed = insight.of("") if insight and listed.head in ("", insight.head) else None
    told = f" {signed.author} signed." if signed and signed.at_head else ""
    return Waits.OTHERS, shown, f"It waits for {_listing(names)}.{told}"


def _signed(sign_off: SignedOff, who: str) -> _Told:
    """The signer's own sign-off is there."""
    on = f"{sign_off.author or 'Somebody'} signed on {sign_off.at[:10]}"
    if sign_off.judged and sign_off.verdict is Verdict.REJECTED:
        failing = _listing(sign_off.failing) or "a check"
        mender = who if set(sign_off.failing) <= set(_IN_THE_SIGNERS_HAND) else "author"
        first = sign_off.failing[0] if sign_off.failing else "rejected"
        return Waits.BLOCKED, f"{mender}: {first}", f"{on}, and was rejected: {failing}."
    if sign_off.judged and sign_off.verdict is not None:
        return Waits.DONE, "merge", f"{on}; the verdict is {sign_off.verdict}."
    if sign_off.judged:
        return Waits.PENDING, "verdict", f"{on}; what the verifier wrote is no valid verdict."
    if sign_off.at_head is False:
        return Waits.MOVED, f"{who}: head moved", f"{on}, and the head moved since: the sign-off does not cover it."
    doubt = "" if sign_off.at_head else " Whether for this head cannot be told."
    if not sign_off.status:
        return Waits.PENDING, "verdict", f"{on}; the verifier has not spoken.{doubt}"
    doubt = f" {sign_off.status_doubt}{doubt}" if sign_off.status_doubt else doubt
    if sign_off.status == "pending":
        return Waits.PENDING, "verdict", f"{on}; the verifier's commit status is pending.{doubt}"
    why = f"{on}; the verifier's commit status says {sign_off.status}, and no comment gives its verdict.{doubt}"
    if sign_off.status == "success" or sign_off.status_doubt:
        return Waits.PENDING, "verdict", why
    return Waits.BLOCKED, f"{who}: {sign_off.status}", why


def _signed_by_other(sign_off: SignedOff) -> _Told:
    """Another owner's sign-off covers the head: one checklist is enough."""
    waits, _, why = _signed(sign_off, f"@{sign_off.author}")
    return (waits, "merge", why) if waits is Waits.DONE else (Waits.OTHERS, f"@{sign_off.author}", why)


def _unsigned(insight: Insight, who: str) -> _Told:
    """Nobody's sign-off covers the head: what stands in the way of one."""
    running = insight.sweep == "running"
    failing = [one for one in insight.failing if not (running and one.name in _LATER)]
    if failing:
        names = _listing(tuple(one.name for one in failing))
        first = failing[0]
        why = _sentence(f"{names}: {first.summary}")
        return Waits.BLOCKED, _WHO_MENDS.get(first.name, f"author: {first.name}"), why
    if running:
        lanes = f"{insight.lanes} lanes are green." if insight.lanes else ""
        return Waits.RUNNING, "sweep", f"The sweep is running. {lanes}".strip()
    if insight.unread:
        return Waits.UNKNOWN, "not known", f"Whether it is signed is not known. {insight.unread}"
    if insight.sweep == "unknown":
        return Waits.UNKNOWN, "sweep not known", _sentence(f"Sweep: {insight.sweep_summary or 'not known'}")
    open_ends = f" Unverified: {_listing(insight.unverified)}." if insight.unverified else ""
    sweep = _sentence(f" Sweep: {insight.sweep_summary}") if insight.sweep_summary else ""
    return Waits.READY, who, f"No check fails.{sweep}{open_ends}"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _listing(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)
