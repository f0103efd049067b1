"""The desks a workstation can sit at: pull requests of a source, and the bundled sample."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from reviewer_tui.model.checklist import ReviewNotes
from reviewer_tui.model.errors import DataError, ReviewerError, UsageError
from reviewer_tui.model.finding import Finding
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.model.run import CheckRun, JobLog
from reviewer_tui.policy.policy import load_policy
from reviewer_tui.review.desk import ComposedSignOff, Moment, Progress
from reviewer_tui.review.load import Reviewer, ReviewRequest, review_of
from reviewer_tui.review.recipes import examination_of
from reviewer_tui.review.session import Review
from reviewer_tui.review.signing import compose_sign_off, lint_sign_off, note_drafts
from reviewer_tui.sample import MOMENTS, SampleMoment, load_sample
from reviewer_tui.sources.source import Loaded, Source, log_of
from reviewer_tui.store.atomic import write_atomic
from reviewer_tui.store.drafts import Conflict, DraftStore, carry_over, for_template
from reviewer_tui.store.viewed import ViewedStore

# Only who posts pays for the network's libraries.
if TYPE_CHECKING:
    from reviewer_tui.review.posting import Poster


class _Paperwork:
    """What every desk does alike: notes, marks and the sign-off, kept below one folder."""

    def __init__(self, directory: Path) -> None:
        self._drafts = DraftStore(directory / "drafts")
        self._viewed = ViewedStore(directory / "viewed")
        self._sign_offs = directory / "sign-offs"
        self._kept: dict[str, ReviewNotes] = {}
        self._notices: list[str] = []

    def load_rest(self, review: Review, progress: Progress) -> Review | None:
        """Nothing more, where everything was at hand."""
        return None

    def save_notes(self, review: Review) -> None:
        """Keep the notes of a review. Only what changed here since they were loaded or last saved counts, so that what
        another process kept meanwhile stays."""
        head = review.snapshot.head
        template = review.policy.template.value
        base = self._kept.get(head)
        saved = self._drafts.save(review.snapshot.ref, head, review.notes, template=template, base=base)
        self._kept[head] = review.notes
        self._tell(saved.warnings)
        self._tell(
            f"Another process changed {conflict.label} as well; O in the sign-off shows both."
            for conflict in saved.conflicts
        )

    def conflicts(self, review: Review) -> tuple[Conflict, ...]:
        """What another process wrote differently, as far as nobody has looked at it."""
        draft = self._drafts.load(review.snapshot.ref, review.snapshot.head)
        return draft.conflicts if draft else ()

    def forget_conflicts(self, review: Review) -> None:
        self._drafts.resolve(review.snapshot.ref, review.snapshot.head)

    def notices(self) -> tuple[str, ...]:
        """What the reviewer should know about the kept notes; each sentence is told once."""
        told, self._notices = tuple(self._notices), []
        return told

    def _tell(self, sentences: Iterable[str]) -> None:
        self._notices += sentences

    def compose(self, review: Review) -> ComposedSignOff:
        """The sign-off as it stands, with every fault and remark."""
        composed = compose_sign_off(review)
        report = lint_sign_off(review, composed.text)
        return ComposedSignOff(
            text=composed.text,
            detail=composed.editable,
            unfinished=tuple(missing.reason for missing in composed.unfinished),
            lint=tuple(
                Finding(
                    status=found.status,
                    message=found.message,
                    line=found.line,
                    expected=found.expected,
                    actual=found.actual,
                )
                for found in (*report.faults, *report.remarks)
            ),
            drafts=note_drafts(review),
        )

    def save_sign_off(self, review: Review, text: str) -> Path:
        """Write the sign-off to its own file and return its path."""
        ref = review.snapshot.ref
        path = self._sign_offs / f"{ref.repository.replace('/', '+')}-{ref.number}-{review.snapshot.head[:9]}.md"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, text.encode())
        except OSError as fault:
            raise DataError(f"The sign-off cannot be written to {path}: {fault.strerror or fault}.") from None
        return path

    def viewed(self, review: Review) -> frozenset[str]:
        return self._viewed.load(review.snapshot.ref)

    def save_viewed(self, review: Review, marks: frozenset[str]) -> None:
        self._viewed.save(review.snapshot.ref, marks)

    def with_notes(self, review: Review) -> Review:
        """The review with the notes kept for its head, or with those of an earlier head as far as they still hold."""
        ref, head = review.snapshot.ref, review.snapshot.head
        template = review.policy.template.value
        draft = self._drafts.load(ref, head)
        earlier = None if draft else self._drafts.latest_for(ref, other_than=head)
        found = draft or earlier
        if found is None or template is None:
            return review if found is None else self._noted(review, found.notes)
        self._tell(found.warnings)
        carried = for_template(found, template) if draft else carry_over(found, template)
        if earlier:
            self._tell([f"Your notes of {earlier.head[:9]} were brought along; every decision is open again."])
        elif carried.reopened:
            self._tell([f"The checklist changed: {', '.join(carried.reopened)} are open again."])
        self._tell(
            f"The checklist lost the item “{name}”; its note was: {note}" for name, note in carried.left_behind.items()
        )
        return self._noted(review, carried.notes)

    def _noted(self, review: Review, notes: ReviewNotes) -> Review:
        self._kept[review.snapshot.head] = notes
        return review.with_notes(notes)


class ReviewDesk(_Paperwork):
    """The desk for one pull request of a source."""

    moments: tuple[Moment, ...] = ()

    def __init__(
        self, open_source: Callable[[Progress], Source], ref: PullRequestRef, request: ReviewRequest, directory: Path
    ) -> None:
        super().__init__(directory)
        self._directory = directory
        self._open_source = open_source
        self._source: Source | None = None
        self._reviewer: Reviewer | None = None
        self._progress: Progress = lambda _: None
        self._ref = ref
        self._request = request
        self.title = f"{ref.repository} #{ref.number}"

    def load(self, moment: str | None, progress: Progress) -> Review:
        self._progress = progress
        progress(f"reading {self.title}")
        if self._source is None:
            self._source = self._open_source(lambda words: self._progress(words))
        self._reviewer = Reviewer(self._source)
        review = self._reviewer.review(self._ref, self._request)
        examination_of(review)  # now, while no screen waits for it
        self._look_for_posts(review)
        return self.with_notes(review)

    def load_rest(self, review: Review, progress: Progress) -> Review | None:
        """The review beside what was published, after it is on the screen."""
        self._progress = progress
        whole = self._reviewer.with_published(review, self._request) if self._reviewer else None
        if whole is not None:
            examination_of(whole)  # now, while no screen waits for it
        return whole

    def job_log(self, review: Review, job: CheckRun) -> JobLog:
        if self._source is None:
            raise UsageError("Nothing is loaded yet whose logs could be read.")
        return log_of(self._source, review.snapshot.ref, job)

    def poster(self, review: Review) -> Poster:
        from reviewer_tui.review.post_desk import poster_of

        if self._source is None:
            raise UsageError("Nothing is loaded yet that could be posted to.")
        return poster_of(self._source, review, self._directory)

    def _look_for_posts(self, review: Review) -> None:
        """Tell what became of a post that an earlier process left unfinished."""
        from reviewer_tui.store.posts import PostJournal

        ref = review.snapshot.ref
        try:
            if PostJournal(self._directory).unfinished(ref):
                self._tell(left.message for left in self.poster(review).leftovers(ref))
        except ReviewerError as error:
            self._tell([f"A post to #{ref.number} is unfinished, and could not be looked for: {error}"])


class SampleDesk(_Paperwork):
    """The desk for the bundled sample at its moments: what was known, and by which day's rules."""

    title = "sample: InferenceX #2550"

    def __init__(self, directory: Path) -> None:
        super().__init__(directory / "sample")
        self.moments = tuple(Moment(moment.name, moment.title) for moment in MOMENTS)

    def load(self, moment: str | None, progress: Progress) -> Review:
        progress("reading the bundled sample")
        chosen = next((known for known in MOMENTS if known.name == moment), MOMENTS[0])
        return self.with_notes(sample_review(chosen))

    def job_log(self, review: Review, job: CheckRun) -> JobLog:
        raise DataError("The logs of jobs are not part of the sample.")

    def poster(self, review: Review) -> Poster:
        raise UsageError(
            "This is the bundled sample: nothing is posted from it.",
            "With a pull request of GitHub, p shows exactly what will be sent, and asks.",
        )


def sample_review(moment: SampleMoment) -> Review:
    """The sample's review at a moment, without anybody's notes."""
    loaded: Loaded = load_sample(moment.name)
    request = ReviewRequest(review_date=moment.review_date, signer=moment.signer)
    return review_of(loaded, request, load_policy(loaded.trees.policy))
