"""Posting from the workstation: a real desk at a fake GitHub, nothing sent by a slip, nothing sent twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest

from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.review.desk import ComposedSignOff
from reviewer_tui.review.desks import ReviewDesk, SampleDesk
from reviewer_tui.review.load import ReviewRequest
from reviewer_tui.review.posting import Poster
from reviewer_tui.review.session import Review
from reviewer_tui.signoff.comment_text import unmarked
from reviewer_tui.sources.clone import CloneSource
from reviewer_tui.sources.github.auth import Token
from reviewer_tui.sources.github.client import GitHubClient
from reviewer_tui.sources.github.hosts import parse_host
from reviewer_tui.sources.github.loader import GitHubSource
from reviewer_tui.store.cache import Cache
from reviewer_tui.store.drafts import Conflict, DraftStore
from reviewer_tui.store.posts import Post, PostJournal, PostState
from reviewer_tui.tui.app import ReviewerApp
from reviewer_tui.tui.screens.conflicts import ConflictScreen
from reviewer_tui.tui.screens.post import PostScreen
from reviewer_tui.tui.screens.signoff import SignOffScreen
from tests.evidence import summer
from tests.fake_github.server import FakeGitHub, Fault, Reply
from tests.fake_github.story_2550 import NUMBER, REPOSITORY, TOKEN, Story
from tests.fake_github.world import Comment
from tests.gitrepo import GitRepo
from tests.review.posts import LOGIN, SIGN_OFF, Bench
from tests.tui.reviews import NOW, FakeDesk, make_review
from tests.tui.screen import rows, settle, shown_app, until

SIZE = (140, 45)
EDITING = r"/issues/comments/\d+$"
POSTING = rf"/issues/{NUMBER}/comments$"


class Play:
    """The story of #2550 and a workstation on it."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self.story = Story(folder)
        self.fake = stack.enter_context(FakeGitHub(self.story.world))
        cache = stack.enter_context(Cache(folder / "cache.sqlite"))
        client = GitHubClient(parse_host(self.fake.host), Token(TOKEN, "a test"), answers=cache)
        self.source = GitHubSource(stack.enter_context(client), cache, REPOSITORY)
        self.ref = PullRequestRef(REPOSITORY, NUMBER, self.fake.host)
        self.journal = PostJournal(folder / "data")

    def app(self, *, signer: str = "ankur-singh", **facts: Any) -> ReviewerApp:
        request = ReviewRequest(review_date="2026-08-12", signer=signer)
        desk = ReviewDesk(lambda tell: self.source, self.ref, request, self.folder / "data")
        return ReviewerApp(desk, now=lambda: NOW, **{"ascii_only": False, **facts})

    @property
    def own(self) -> list[Comment]:
        return [c for c in self.story.pull.comments if c.user is not None and c.user.login == "ankur-singh"]

    def writes(self) -> int:
        return sum(seen.method != "GET" and "/comments" in seen.path for seen in self.fake.seen)


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Play]:
    with ExitStack() as stack:
        yield Play(tmp_path, stack)


def text(app: ReviewerApp) -> str:
    return "\n".join(rows(app))


def said(app: ReviewerApp) -> str:
    return "\n".join(notification.message for notification in app._notifications)


async def ready(pilot: Any, app: ReviewerApp) -> None:
    await pilot.press("s", "p")
    await until(pilot, lambda: "Exactly this is sent" in text(app))


async def test_only_the_deliberate_keys_post_and_the_conversation_shows_it(play: Play) -> None:
    (mine,) = play.own
    before, app = mine.body, play.app()
    async with shown_app(app, SIZE) as pilot:
        await pilot.press("e", *"A note of mine", "escape")
        await ready(pilot, app)
        for told in (
            "ankur-singh",
            f"{REPOSITORY} #{NUMBER}",
            "edits your comment of 2026-08-11, no second one",
            "the one you reviewed",
            "12 faults",
            "REJECTED is expected",
            "J Lint: Item 2 is open",
        ):
            assert told in text(app), told
        await pilot.press("enter", "p", "space", "P", "y")
        await settle(pilot)
        assert "Not yet: read what is marked" in said(app)
        assert (mine.body, play.writes()) == (before, 0)
        await pilot.press("a")
        await until(pilot, lambda: "P edit the comment now" in text(app))
        await pilot.press("enter")
        await settle(pilot)
        assert play.writes() == 0
        await pilot.press("P")
        await until(pilot, lambda: "It is posted: http" in text(app) and not app.loading_review)
        assert "What stands there now: 12 faults" in text(app)
        assert (len(play.own), play.writes()) == (1, 1)
        assert app.composed is not None
        assert unmarked(mine.body) == app.composed.text.rstrip()
        assert "A note of mine" in mine.body
        await pilot.press("escape", "escape", "6")
        await until(pilot, lambda: ", edited" in text(app) and not app.loading_review)
        assert app.review is not None
        bodies = [comment.body for comment in app.review.snapshot.conversation.value or ()]
        assert any("A note of mine" in body for body in bodies), "read again"


async def test_the_footer_offers_what_can_be_done_now(play: Play) -> None:
    app = play.app()
    async with shown_app(app, SIZE) as pilot:
        await ready(pilot, app)
        footer = rows(app)[-1]
        assert "a all the same" in footer
        assert "n new/edit" in footer
        assert "P post it" not in footer
        assert "An edit sends no mail" in text(app)
        await pilot.press("a")
        await until(pilot, lambda: "P post it" in rows(app)[-1])
        assert "all the same" not in rows(app)[-1]
        await pilot.press("P")
        await until(pilot, lambda: "It is posted" in text(app) and not app.loading_review)
        assert "P post it" not in rows(app)[-1]
        assert "new/edit" not in rows(app)[-1]
        await pilot.press("r")
        await until(pilot, lambda: "Exactly this is sent" in text(app))
        assert "says exactly this already" in text(app)
        assert " mail" not in text(app).partition("Exactly this is sent")[0]


async def test_a_sentence_in_the_corner_goes_with_the_next_key(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    app = play.app()
    async with shown_app(app, (80, 24)) as pilot:
        await pilot.press("s", "p")
        await until(pilot, lambda: "a go on in spite of what is marked J" in text(app))
        await pilot.press("P")
        await settle(pilot)
        assert "Not yet: read what is marked" in said(app)
        await pilot.press("down")
        assert "Not yet: read what is marked" in said(app), "nobody has read it so quickly"
        monkeypatch.setattr(app, "_stays_until", 0.0)
        await pilot.press("down")
        await settle(pilot)
        assert "Not yet" not in said(app)
        app.say("Something is broken.", "error")
        monkeypatch.setattr(app, "_stays_until", app._stays_until - 2)
        await pilot.press("down")
        await settle(pilot)
        assert "Something is broken." in said(app)


async def test_a_new_comment_instead_is_a_choice_that_is_asked_about(play: Play) -> None:
    app = play.app()
    async with shown_app(app, SIZE) as pilot:
        await ready(pilot, app)
        await pilot.press("n")
        await until(pilot, lambda: "a new sign-off" in text(app))
        assert "You have signed off already on 2026-08-11: edit it instead" in text(app)
        await pilot.press("n")
        await until(pilot, lambda: "edits your comment" in text(app))
        await pilot.press("n")
        await until(pilot, lambda: "a new sign-off" in text(app))
        await pilot.press("a", "P")
        await until(pilot, lambda: "It is posted" in text(app) and not app.loading_review)
        assert len(play.own) == 2


async def test_the_mouse_posts_too(play: Play) -> None:
    app = play.app()
    async with shown_app(app, SIZE) as pilot:
        await ready(pilot, app)
        keys = rows(app)[-1]
        await pilot.click(offset=(keys.index("all the same"), SIZE[1] - 1))
        await until(pilot, lambda: "P edit the comment now" in text(app))
        await pilot.click(offset=(rows(app)[-1].index("post it"), SIZE[1] - 1))
        await until(pilot, lambda: "It is posted" in text(app) and not app.loading_review)


async def test_looking_can_be_left(play: Play) -> None:
    app = play.app()
    async with shown_app(app, SIZE) as pilot:
        play.fake.faults.append(Fault(rf"/pulls/{NUMBER}$", delay=1.0, afterwards=True))
        await pilot.press("s", "p")
        await pilot.pause(0.2)
        assert "Looking how things stand" in text(app)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, SignOffScreen))
        assert said(app) == ""


async def test_sending_can_be_stopped_until_it_is_on_its_way(play: Play) -> None:
    app = play.app()
    async with shown_app(app, SIZE) as pilot:
        await ready(pilot, app)
        await pilot.press("a")
        play.fake.faults.append(Fault(rf"/pulls/{NUMBER}$", delay=1.0, afterwards=True))
        await pilot.press("P")
        await pilot.pause(0.2)
        assert "Esc stops it" in text(app)
        await pilot.press("escape")
        await until(pilot, lambda: "You stopped it: nothing was sent." in text(app))
        assert play.writes() == 0
        await pilot.press("r")
        await until(pilot, lambda: "Exactly this is sent" in text(app))
        play.fake.faults[:] = [Fault(EDITING, method="PATCH", afterwards=True, delay=1.0)]
        await pilot.press("a", "P")
        await pilot.pause(0.6)
        assert "cannot be stopped any more" in text(app)
        await pilot.press("escape", "P", "P")
        assert "It is on its way" in said(app)
        await until(pilot, lambda: "It is posted" in text(app) and not app.loading_review)
        assert play.writes() == 1


async def test_an_unclear_answer_is_explained_looked_for_and_offered(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reviewer_tui.review.posting.time.sleep", lambda seconds: None)
    play.story.pull.comments.clear()
    app = play.app(signer="")
    async with shown_app(app, SIZE) as pilot:
        await ready(pilot, app)
        assert "a new sign-off" in text(app)
        assert "FILL_IN" not in text(app), "whose token posts, signs"
        play.fake.faults.append(Fault(POSTING, Reply(502), method="POST"))
        await pilot.press("a", "P")
        await until(pilot, lambda: "GitHub gave no clear answer" in text(app))
        assert [post.state for post in play.journal.unfinished()] == [PostState.UNKNOWN]
        await pilot.press("r")
        await until(pilot, lambda: "Exactly this is sent" in text(app))
        assert "not in the conversation now, but may still appear" in text(app)
        await pilot.press("P")
        assert play.own == []
        await pilot.press("a", "P")
        await until(pilot, lambda: "It is posted" in text(app) and not app.loading_review)
        assert len(play.own) == 1
        assert "Signed: `ankur-singh`" in play.own[0].body
        await pilot.press("r")
        await until(pilot, lambda: "This cannot be posted" in text(app))
        assert "says exactly this already" in text(app)
        await pilot.press("a")
        assert "cannot be passed over" in said(app)


async def test_what_changes_after_the_preview_is_shown_before_anything_is_sent(play: Play) -> None:
    app = play.app()
    async with shown_app(app, SIZE) as pilot:
        await ready(pilot, app)
        play.story.pull.draft = True
        await pilot.press("a", "P")
        await until(pilot, lambda: "Nothing was sent: something has changed since you looked" in text(app))
        assert "is a draft" in text(app)
        assert play.writes() == 0


class BenchDesk(FakeDesk):
    """A desk whose sign-off has no fault, and is posted to the bench's pull request."""

    def __init__(self, bench: Bench) -> None:
        info = msgspec.structs.replace(make_review().snapshot, ref=bench.ref, head=bench.plain.pull.head_sha)
        super().__init__(msgspec.structs.replace(make_review(), snapshot=info, signer=LOGIN))
        self.bench = bench

    def compose(self, review: Review) -> ComposedSignOff:
        return msgspec.structs.replace(super().compose(review), text=SIGN_OFF)

    def poster(self, review: Review) -> Poster:
        return self.bench.poster()


async def test_going_on_holds_for_the_preview_it_was_said_of(tmp_path: Path) -> None:
    with ExitStack() as stack:
        bench = Bench(tmp_path, stack)
        bench.fail(status=502)
        assert bench.post(SIGN_OFF).state == "unknown"
        app = ReviewerApp(BenchDesk(bench), now=lambda: NOW, ascii_only=False)
        async with shown_app(app, SIZE) as pilot:
            await ready(pilot, app)
            await pilot.press("a")
            await until(pilot, lambda: "P post it now" in text(app))
            bench.plain.say(SIGN_OFF, login="member")
            await pilot.press("P")
            await until(pilot, lambda: "Nothing was sent: something has changed since you looked" in text(app))
            writes = bench.writes()
            await pilot.press("P")
            await settle(pilot)
            assert "Not yet: read what is marked" in said(app)
            assert (bench.writes(), bench.own) == (writes, [])
            await pilot.press("a", "P")
            await until(pilot, lambda: "It is posted" in text(app) and not app.loading_review)
            assert len(bench.own) == 1


async def test_a_refusal_is_a_sentence(play: Play) -> None:
    app = play.app()
    async with shown_app(app, SIZE) as pilot:
        await ready(pilot, app)
        play.fake.faults.append(Fault(EDITING, Reply(403, {"message": "User is blocked"}), method="PATCH"))
        await pilot.press("a", "P")
        await until(pilot, lambda: "it is blocked there" in text(app))
        assert "nothing was sent" in text(app)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, SignOffScreen))


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_the_next_key_is_in_sight_on_small_screens(play: Play, size: tuple[int, int]) -> None:
    app = play.app(ascii_only=True)
    async with shown_app(app, size) as pilot:
        await pilot.press("s", "p")
        await until(pilot, lambda: "go on in spite of what is marked J" in " ".join(text(app).replace("|", "").split()))
        frame = rows(app)
        assert all(ord(character) < 128 for row in frame for character in row), "ASCII only"
        assert max(map(len, frame)) <= size[0]
        await pilot.press("question_mark")
        await settle(pilot)
        assert "Post what is shown, once" in text(app) or size[1] < 20


async def test_what_an_earlier_process_left_is_told_at_the_start(play: Play) -> None:
    left = Post(
        uuid="0d1b6a9e-0000-4000-8000-000000000001",
        ref=play.ref,
        login="ankur-singh",
        head=play.story.pull.head_sha,
        body="Thank you!",
        started_at="2026-08-12T09:00:00Z",
    )
    play.journal.intend(left)
    play.journal.claim(left.uuid)
    app = play.app()
    async with shown_app(app, SIZE) as pilot:
        await settle(pilot)
        assert "The post of 2026-08-12 09:00 UTC had no clear answer" in said(app)
    assert play.writes() == 0


async def test_what_is_unfinished_elsewhere_is_told_on_the_queue(desk: FakeDesk) -> None:
    told = "A post to #7 is unfinished; opening the pull request looks for it."
    app = ReviewerApp(desk, now=lambda: NOW, ascii_only=False, told=[told])
    async with shown_app(app, SIZE) as pilot:
        await settle(pilot)
        assert told in said(app)


async def test_the_sample_posts_nothing(tmp_path: Path) -> None:
    app = ReviewerApp(SampleDesk(tmp_path), now=lambda: NOW, ascii_only=False)
    async with shown_app(app, SIZE) as pilot:
        await pilot.press("s", "p")
        await settle(pilot)
        assert "the bundled sample: nothing is posted from it" in said(app)
        assert isinstance(app.screen, SignOffScreen)


async def test_a_clone_posts_nothing(tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "InferenceX.git")
    base = repo.commit(dict(summer()), on="main", message="Start")
    repo.pull(7, repo.commit({"README.md": "words\n"}, parents=[base]))
    with CloneSource(repo.path) as source:
        desk = ReviewDesk(
            lambda tell: source,
            PullRequestRef(REPOSITORY, 7),
            ReviewRequest(review_date="2026-08-12"),
            tmp_path / "data",
        )
        app = ReviewerApp(desk, now=lambda: NOW, ascii_only=False)
        async with shown_app(app, SIZE) as pilot:
            await pilot.press("s", "p")
            await settle(pilot)
            assert "was not read from GitHub" in said(app)
            assert "reviewer-tui post 7 FILE" in said(app)


# --- what two processes wrote -----------------------------------------------------------------------------------------


async def test_the_other_text_of_a_conflict_is_seen_and_taken_and_taken_back(tmp_path: Path) -> None:
    app = ReviewerApp(SampleDesk(tmp_path), now=lambda: NOW, ascii_only=False)
    async with shown_app(app, SIZE) as pilot:
        assert app.review is not None
        review, drafts = app.review, DraftStore(tmp_path / "sample" / "drafts")
        other = msgspec.structs.replace(review.notes, detail="What the other wrote.")
        await pilot.press("s", "O")
        assert "No other process wrote anything differently." in said(app)
        drafts.save(review.snapshot.ref, review.snapshot.head, other, template=review.policy.template.value)
        await pilot.press("i", *"Mine. ", "escape")
        await until(pilot, lambda: "O in the sign-off shows both" in said(app))
        mine = app.review.notes.detail
        assert mine is not None
        assert mine.startswith("Mine. ")
        await pilot.press("O")
        await settle(pilot)
        assert isinstance(app.screen, ConflictScreen)
        assert "1 of 1: the detail section" in text(app)
        assert "What the other wrote." in text(app)
        await pilot.press("t")
        await until(pilot, lambda: not app.saving and app.unsaved is None)
        assert app.review.notes.detail == "What the other wrote."
        await pilot.press("t")
        await until(pilot, lambda: app.review is not None and app.review.notes.detail == mine)
        await pilot.press("t", "x")
        await until(pilot, lambda: isinstance(app.screen, SignOffScreen))
        draft = drafts.load(review.snapshot.ref, review.snapshot.head)
        assert draft is not None
        assert (draft.conflicts, draft.notes.detail) == ((), "What the other wrote.")
        await pilot.press("O")
        assert app.screen.__class__ is SignOffScreen


async def test_a_section_that_nobody_edited_is_drafted_again_when_it_is_taken_back(tmp_path: Path) -> None:
    app = ReviewerApp(SampleDesk(tmp_path), now=lambda: NOW, ascii_only=False)
    drafts = DraftStore(tmp_path / "sample" / "drafts")
    async with shown_app(app, SIZE) as pilot:
        assert app.review is not None
        review = app.review
        place = (review.snapshot.ref, review.snapshot.head)
        template = review.policy.template.value
        edited = msgspec.structs.replace(review.notes, detail="Edited before.")
        drafts.save(*place, edited, template=template)
        other = msgspec.structs.replace(edited, detail="What the other wrote.")
        saved = drafts.save(*place, other, template=template, base=edited)
        assert saved.conflicts == ()
        back = msgspec.structs.replace(edited, detail=None)
        (conflict,) = drafts.save(*place, back, template=template, base=edited).conflicts
        assert (conflict.ours, conflict.theirs) == (None, "What the other wrote.")
    app = ReviewerApp(SampleDesk(tmp_path), now=lambda: NOW, ascii_only=False)
    async with shown_app(app, SIZE) as pilot:
        assert app.review is not None
        await pilot.press("s")
        await until(pilot, lambda: app.composed is not None)
        drafted = app.composed
        assert drafted is not None
        assert drafted.detail
        await pilot.press("O")
        await settle(pilot)
        assert "(drafted by the program, not edited)" in text(app)
        await pilot.press("t")
        await until(pilot, lambda: app.review is not None and app.review.notes.detail == "What the other wrote.")
        await pilot.press("t")
        await until(pilot, lambda: app.review is not None and app.review.notes.detail is None)
        await pilot.press("escape")
        await until(pilot, lambda: app.composed is not None and app.composed.text == drafted.text)


async def test_a_text_typed_after_the_conflict_is_not_lost_by_taking_the_other(desk: FakeDesk) -> None:
    desk.kept_conflicts = (
        Conflict(label="4", ours="mine", theirs="theirs"),
        Conflict(label="3", ours="accepted", theirs="disputed"),
    )
    app = ReviewerApp(desk, now=lambda: NOW, ascii_only=False)
    async with shown_app(app, SIZE) as pilot:
        app.write_note("4", "mine, and more")
        await pilot.press("s", "O")
        await settle(pilot)
        assert "2 of 2: item 3" in text(app)
        await pilot.press("t")
        assert app.review is not None
        assert app.review.notes.mark("3").decision == "disputed"
        await pilot.press("n", "t")
        assert app.review.notes.mark("4").note == "theirs"
        await pilot.press("t")
        assert app.review.notes.mark("4").note == "mine, and more"
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, ConflictScreen))
        assert len(desk.kept_conflicts) == 2
        assert not isinstance(app.screen, PostScreen)
