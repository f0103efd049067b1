"""The commit statuses of a head: the newest of each context, who set them, and what to do where they are not told."""

from __future__ import annotations

from typing import Any

import pytest

from reviewer_tui.model.run import CommitStatus
from reviewer_tui.sources.cached import CacheSource
from tests.fake_github import plain as plain_world
from tests.fake_github.world import Status, User
from tests.sources.github.conftest import Rig

CONTEXT = "codeowner-signoff-verify"


def set_status(rig: Rig, state: str, creator: User | None, context: str = CONTEXT, **facts: Any) -> None:
    statuses = rig.plain.repository.statuses.setdefault(rig.plain.shas[-1], [])
    statuses.append(Status(rig.plain.world.next_id(), context, state, f"It is {state}\r\nnow", creator, **facts))


def test_the_newest_of_each_context_with_whoever_set_it(rig: Rig) -> None:
    bot = rig.plain.world.user("github-actions[bot]", type="Bot")
    set_status(rig, "pending", bot)
    set_status(rig, "success", bot, target_url="https://example.org/run")
    set_status(rig, "failure", rig.plain.world.user("mallory"), "a person's")
    set_status(rig, "error", None, "of nobody")
    part = rig.load().snapshot.statuses
    assert part.complete
    first, second, third = part.value or ()
    assert first == CommitStatus(
        id=first.id,
        context=CONTEXT,
        state="success",
        description="It is success\nnow",
        url="https://example.org/run",
        updated_at="2026-08-12T09:00:00Z",
        creator="github-actions[bot]",
        creator_is_bot=True,
    )
    assert (second.creator, second.creator_is_bot) == ("mallory", False)
    assert (third.creator, third.url) == ("", "")
    offline = CacheSource(rig.cache, plain_world.REPOSITORY, rig.fake.host).load(rig.ref)
    assert offline.snapshot.statuses == part


def test_a_head_without_any_costs_one_request(rig: Rig) -> None:
    part = rig.load().snapshot.statuses
    assert (part.complete, part.value) == (True, ())
    assert len(rig.paths("/status")) == 1
    rig.fake.forget()
    rig.load()
    assert {seen.status for seen in rig.fake.requests()} == {304}


def test_only_the_statuses_of_the_head_that_is_asked_for(rig: Rig) -> None:
    rig.build(commits=2)
    set_status(rig, "success", None)
    first = rig.plain.shas[0]
    assert rig.load(head=first).snapshot.statuses.value == ()
    assert [status.state for status in rig.load().snapshot.statuses.value or ()] == ["success"]


@pytest.mark.parametrize("status", [403, 404, 500])
def test_statuses_that_are_not_told_keep_nothing_else_from_loading(rig: Rig, status: int) -> None:
    rig.fail(r"/status(\?|$)", status, times=None)
    loaded = rig.load()
    part = loaded.snapshot.statuses
    assert (part.state, part.value) == ("unavailable", None)
    assert part.reason.startswith(f"The statuses of {rig.plain.shas[-1][:9]} could not be read: ")
    assert part.remedy
    assert loaded.snapshot.runs.complete


def test_who_set_them_may_be_hidden_alone(rig: Rig) -> None:
    set_status(rig, "success", rig.plain.world.user("mallory"))
    rig.fail(r"/statuses", 403, times=None)
    part = rig.load().snapshot.statuses
    assert part.state == "partial"
    assert "Who set the statuses" in part.reason
    assert [(one.state, one.creator) for one in part.value or ()] == [("success", "")]


def test_more_contexts_than_a_page_holds(rig: Rig) -> None:
    for number in range(130):
        set_status(rig, "success", rig.plain.world.user("member"), f"context {number}")
    part = rig.load().snapshot.statuses
    assert len(part.value or ()) == 130
    assert [one.creator for one in part.value or ()].count("member") == 100, "the history is read for its newest page"
