"""The client against a server that is as difficult as GitHub can be."""

from __future__ import annotations

import threading
import time

import pytest

from reviewer_tui.model.errors import DataError, NotFoundError
from reviewer_tui.sources.github.errors import (
    ConnectionLostError,
    GoneError,
    HiddenError,
    LoadCancelledError,
    PermissionMissingError,
    RateLimitedError,
    RedirectRefusedError,
    RequestRefusedError,
    ServerFaultError,
    ShapeError,
    SingleSignOnError,
    TokenRefusedError,
    TooLargeError,
    UncertainWriteError,
)
from reviewer_tui.sources.github.limits import Pace
from reviewer_tui.sources.github.shapes import CheckRunPage, IssueComment, PostedComment, Pull, Viewer
from reviewer_tui.sources.github.transport import Timeouts
from tests.fake_github.plain import TOKEN
from tests.fake_github.server import Fault, Reply
from tests.sources.github.conftest import Rig

PULL = "/repos/acme/bench/pulls/7"
COMMENTS = "/repos/acme/bench/issues/7/comments"


def pull(rig: Rig) -> Pull:
    return rig.client.run(rig.client.get(PULL, Pull))


# --- conditional requests ---------------------------------------------------------------------------------------------


def test_an_unchanged_answer_costs_nothing(rig: Rig) -> None:
    first = pull(rig)
    left = rig.fake.budget.remaining
    assert pull(rig) == first
    assert rig.fake.budget.remaining == left
    assert [seen.status for seen in rig.fake.seen] == [200, 304]


def test_a_changed_answer_is_read_anew(rig: Rig) -> None:
    pull(rig)
    rig.plain.pull.title = "Another"
    assert pull(rig).title == "Another"
    assert rig.fake.seen[-1].headers["if-none-match"].startswith('W/"')


def test_each_page_is_revalidated_because_an_edit_may_be_on_the_second(rig: Rig) -> None:
    comments = [rig.plain.say(f"Number {number}") for number in range(150)]
    client = rig.client
    assert len(client.run(client.listing(COMMENTS, IssueComment)).items) == 152
    comments[140].body = "Edited"
    rig.fake.forget()
    items = client.run(client.listing(COMMENTS, IssueComment)).items
    assert [seen.status for seen in rig.fake.seen] == [304, 200]
    assert items[142].body == "Edited"


def test_a_kept_answer_is_for_the_same_token_only(rig: Rig) -> None:
    pull(rig)
    other = rig.new_client(rig.plain.world.token("ghp_" + "other" * 8, "other"))
    other.run(other.get(PULL, Pull))
    assert [seen.status for seen in rig.fake.seen] == [200, 200]
    assert "if-none-match" not in rig.fake.seen[-1].headers


def test_a_damaged_kept_answer_is_asked_for_again(rig: Rig) -> None:
    pull(rig)
    rig.cache._connection.execute("UPDATE answer SET content = x'00'")
    assert pull(rig).title == "Widen the range"
    assert [seen.status for seen in rig.fake.seen] == [200, 200]


def test_neither_token_nor_untold_fields_are_kept(rig: Rig) -> None:
    rig.load()
    rig.cache._connection.execute("VACUUM")
    kept = (rig.folder / "cache.sqlite").read_bytes() + b"".join(
        rig.cache.read_answer(key) or b"" for (key,) in rig.cache._connection.execute("SELECT key FROM answer")
    )
    assert TOKEN.encode() not in kept
    assert b"very-secret" not in kept
    assert b"avatar" not in kept


# --- paging -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("only_next", [False, True])
def test_all_pages_are_read_through_their_links(rig: Rig, only_next: bool) -> None:
    """Once with a link to the last page, and once with nothing but the next."""
    rig.build(lanes=250)
    rig.fake.plain_links = only_next
    client = rig.client
    address = f"/repos/acme/bench/commits/{rig.plain.shas[0]}/check-runs"
    listing = client.run(client.counted_listing(address, CheckRunPage, filter="all"))
    assert len({check.id for check in listing.items}) == 250
    assert listing.complete
    assert len(rig.fake.seen) == 3


def test_links_of_a_renamed_repository_are_followed_as_they_are(rig: Rig) -> None:
    rig.build(lanes=250)
    rig.fake.moved_links = True
    client = rig.client
    address = f"/repos/acme/bench/commits/{rig.plain.shas[0]}/check-runs"
    assert len(client.run(client.counted_listing(address, CheckRunPage, filter="all")).items) == 250
    assert len(rig.paths("/repositories/")) == 2


def test_a_link_to_another_host_is_not_followed(rig: Rig) -> None:
    rig.fake.faults.append(Fault("/comments", Reply(200, [], {"Link": '<https://evil.example/x?page=2>; rel="next"'})))
    with pytest.raises(RedirectRefusedError, match="another host"):
        rig.client.run(rig.client.listing(COMMENTS, IssueComment))


def test_a_list_that_never_ends_is_cut(rig: Rig) -> None:
    own = f'<http://{rig.fake.host}/api/v3{COMMENTS}?page=2>; rel="next"'
    rig.fake.faults.append(Fault("/comments", Reply(200, [], {"Link": own}), times=None))
    assert rig.client.run(rig.client.listing(COMMENTS, IssueComment)).items == ()
    assert len(rig.fake.seen) == 2


def test_what_single_sign_on_withholds_is_said(rig: Rig) -> None:
    rig.fake.faults.append(Fault("/comments", Reply(200, [], {"X-GitHub-SSO": "partial-results; organizations=1"})))
    listing = rig.client.run(rig.client.listing(COMMENTS, IssueComment))
    assert "single sign-on" in listing.withheld
    assert not listing.complete


# --- limits -----------------------------------------------------------------------------------------------------------


def test_a_request_to_slow_down_is_waited_for_in_sight(rig: Rig) -> None:
    rig.fail("/pulls/7", 429, "You have exceeded a secondary rate limit.", headers={"Retry-After": "1"})
    began = time.monotonic()
    assert pull(rig).number == 7
    assert 0.9 < time.monotonic() - began < 3
    assert rig.waits[0].reason.startswith("GitHub asks to slow down.")
    assert rig.waits[0].seconds_left > 0.5
    assert rig.waits[-1].seconds_left == 0


def test_a_secondary_limit_without_a_time_means_a_minute(rig: Rig) -> None:
    rig.fail("/pulls/7", 403, "You have triggered an abuse detection mechanism.")
    with pytest.raises(RateLimitedError, match="slow down") as caught:
        pull(rig)
    assert caught.value.kind == "secondary"
    assert 50 < caught.value.until - time.time() < 70
    assert len(rig.fake.seen) == 1


def test_a_used_up_budget_names_the_time(rig: Rig) -> None:
    rig.fake.budget.remaining = 0
    rig.fake.budget.reset = int(time.time()) + 1800
    with pytest.raises(RateLimitedError, match=r"hourly budget of 5,000 requests is used up.*UTC") as caught:
        pull(rig)
    assert caught.value.kind == "primary"
    assert len(rig.fake.seen) == 1


def test_a_budget_that_comes_back_soon_is_waited_for(rig: Rig) -> None:
    rig.fake.budget.remaining = 0
    rig.fake.budget.reset = int(time.time()) + 2
    timer = threading.Timer(0.3, lambda: setattr(rig.fake.budget, "remaining", 50))
    timer.start()
    assert pull(rig).number == 7
    timer.join()
    assert "used up" in rig.waits[0].reason


def test_without_a_listener_no_long_wait_is_taken(rig: Rig) -> None:
    client = rig.new_client(pace=Pace())
    rig.fail("/pulls/7", 403, "secondary rate limit", headers={"Retry-After": "45"})
    with pytest.raises(RateLimitedError):
        client.run(client.get(PULL, Pull))


def test_the_books_are_kept_by_resource(rig: Rig) -> None:
    pull(rig)
    (budget,) = rig.client.pace.budgets
    assert (budget.resource, budget.limit, budget.remaining) == ("core", 5000, 4999)


def test_a_wait_can_be_cancelled(rig: Rig) -> None:
    rig.fail("/pulls/7", 403, "secondary rate limit", headers={"Retry-After": "3"}, times=None)
    threading.Timer(0.2, rig.client.cancel).start()
    began = time.monotonic()
    with pytest.raises(LoadCancelledError):
        pull(rig)
    assert time.monotonic() - began < 2


# --- failures ---------------------------------------------------------------------------------------------------------


def test_server_faults_are_tried_again_and_then_told(rig: Rig) -> None:
    rig.fail("/pulls/7", 502, times=2)
    assert pull(rig).number == 7
    rig.fail("/pulls/7", 503, "Unicorn", times=None)
    with pytest.raises(ServerFaultError, match=r"503.*Unicorn"):
        pull(rig)
    assert [seen.status for seen in rig.fake.seen] == [502, 502, 200, 503, 503, 503, 503]


def test_a_cut_connection_is_tried_again(rig: Rig) -> None:
    rig.fake.faults.append(Fault("/pulls/7", Reply(), drop=True, times=2))
    assert pull(rig).number == 7
    assert any("connection" in wait.reason for wait in rig.waits)


def test_a_server_that_is_gone_is_a_sentence(rig: Rig) -> None:
    client = rig.client
    rig.fake.stop()
    with pytest.raises(ConnectionLostError, match="could not be reached") as caught:
        pull(rig)
    assert "--offline" in caught.value.remedy
    assert client.requests == 4


def test_an_answer_that_drips_has_an_end(rig: Rig) -> None:
    client = rig.new_client(timeouts=Timeouts(connect=1, read=1, write=1, whole=0.15))
    rig.fake.faults.append(Fault("/pulls/7", Reply(200, {"a": "b" * 100}), drip=0.05, times=None))
    with pytest.raises(ConnectionLostError, match="no answer in time"):
        client.run(client.get(PULL, Pull))


def test_an_answer_without_end_is_cut(rig: Rig) -> None:
    rig.fake.faults.append(Fault("/git/blobs", Reply(200, raw=b"x" * 5000)))
    with pytest.raises(TooLargeError, match="larger than 1,000 bytes"):
        rig.client.run(rig.client.raw("/repos/acme/bench/git/blobs/" + "0" * 40, limit=1000))


def test_nothing_is_sent_after_a_refused_token(rig: Rig) -> None:
    client = rig.new_client("ghp_" + "wrong" * 8)
    with pytest.raises(TokenRefusedError) as refused:
        client.run(client.get(PULL, Pull))
    host = rig.fake.host
    assert str(refused.value) == (
        "GitHub refuses the token. GitHub says: Bad credentials. "
        f"Log in again (reviewer-tui auth login --host {host}, or gh auth login --hostname {host}); "
        f"see reviewer-tui auth status --host {host}."
    )
    for _ in range(2):
        with pytest.raises(TokenRefusedError, match="nothing more is sent"):
            client.run(client.get(PULL, Pull))
    assert len(rig.fake.seen) == 1


def test_a_missing_thing_may_be_hidden(rig: Rig) -> None:
    with pytest.raises(HiddenError, match="not there, or hidden") as caught:
        rig.client.run(rig.client.get("/repos/acme/bench/pulls/99", Pull))
    assert isinstance(caught.value, NotFoundError)
    assert isinstance(caught.value, DataError)


def test_the_missing_scope_is_named(rig: Rig) -> None:
    headers = {"X-Accepted-OAuth-Scopes": "repo", "X-OAuth-Scopes": "gist, read:org"}
    rig.fail("/pulls/7", 403, "Forbidden", headers=headers)
    with pytest.raises(PermissionMissingError, match="lacks the scope repo") as caught:
        pull(rig)
    assert caught.value.missing == "repo"


def test_the_missing_permission_of_a_fine_grained_token_is_named(rig: Rig) -> None:
    rig.fail(
        "/pulls/7",
        403,
        "Resource not accessible by personal access token",
        headers={"X-Accepted-GitHub-Permissions": "actions=read,checks=read; statuses=read"},
    )
    with pytest.raises(PermissionMissingError, match="actions:read and checks:read or statuses:read"):
        pull(rig)


def test_single_sign_on_comes_with_its_link(rig: Rig) -> None:
    link = f"https://{rig.fake.host}/orgs/acme/sso?authorization_request=A"
    rig.fail("/pulls/7", 403, "Resource protected by SAML", headers={"X-GitHub-SSO": f"required; url={link}"})
    with pytest.raises(SingleSignOnError) as caught:
        pull(rig)
    assert caught.value.link == link
    assert link in caught.value.remedy


def test_a_single_sign_on_link_to_elsewhere_is_not_shown(rig: Rig) -> None:
    rig.fail("/pulls/7", 403, "x", headers={"X-GitHub-SSO": "required; url=https://evil.example/login"})
    with pytest.raises(SingleSignOnError) as caught:
        pull(rig)
    assert caught.value.link == ""
    assert "evil" not in str(caught.value)


def test_other_refusals_have_their_own_errors(rig: Rig) -> None:
    for status, kind in ((410, GoneError), (406, TooLargeError), (422, RequestRefusedError)):
        rig.fail("/pulls/7", status, "So it is")
        with pytest.raises(kind, match="So it is"):
            pull(rig)


def test_an_unexpected_shape_names_endpoint_and_field(rig: Rig) -> None:
    rig.fake.faults.append(Fault("/user", Reply(200, {"login": 5})))
    with pytest.raises(ShapeError, match=r"GET /user .*\$\.login") as caught:
        rig.client.run(rig.client.get("/user", Viewer))
    assert (caught.value.endpoint, caught.value.field) == ("GET /user", "$.login")


@pytest.mark.parametrize("body", [b"<html>Please log in</html>", b"", b"[" * 100_000, b'{"login": "\xff"}'])
def test_what_is_no_json_is_said_so(rig: Rig, body: bytes) -> None:
    rig.fake.faults.append(Fault("/user", Reply(200, raw=body)))
    with pytest.raises(ShapeError, match="GET /user"):
        rig.client.run(rig.client.get("/user", Viewer))


def test_a_host_that_does_not_know_the_version_is_asked_without(rig: Rig) -> None:
    rig.fake.versions = ()
    assert pull(rig).number == 7
    assert [seen.status for seen in rig.fake.seen] == [400, 200]
    assert "x-github-api-version" not in rig.fake.seen[-1].headers


# --- redirects --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_on_the_same_host_is_followed_with_the_token(rig: Rig, status: int) -> None:
    moved = f"/api/v3/repositories/{rig.plain.repository.id}/pulls/7"
    rig.fake.faults.append(Fault(r"/repos/acme/bench/pulls/7", Reply(status, headers={"Location": moved})))
    assert pull(rig).number == 7
    assert rig.fake.seen[-1].headers["authorization"] == f"Bearer {TOKEN}"


def test_a_redirect_to_another_host_is_refused(rig: Rig) -> None:
    rig.fake.faults.append(Fault("/pulls/7", Reply(302, headers={"Location": f"{rig.fake.storage}/steal"})))
    with pytest.raises(RedirectRefusedError, match="another host"):
        pull(rig)
    assert rig.fake.stored == []


def test_a_redirect_in_circles_ends(rig: Rig) -> None:
    rig.fake.faults.append(Fault("/pulls/7", Reply(301, headers={"Location": f"/api/v3{PULL}"}), times=None))
    with pytest.raises(RedirectRefusedError, match="circles"):
        pull(rig)


def test_the_token_stays_behind_when_a_download_leads_elsewhere(rig: Rig) -> None:
    artifact = rig.plain.repository.runs[1001].artifacts[0]
    client = rig.client
    address = f"/repos/acme/bench/actions/artifacts/{artifact.id}/zip"
    assert client.run(client.download(address, limit=10_000, digest=artifact.digest)) == artifact.content
    (stored,) = rig.fake.stored
    assert "authorization" not in stored.headers
    assert TOKEN not in str(stored)


def test_a_download_is_checked_against_its_digest_and_limit(rig: Rig) -> None:
    artifact = rig.plain.repository.runs[1001].artifacts[0]
    client = rig.client
    address = f"/repos/acme/bench/actions/artifacts/{artifact.id}/zip"
    with pytest.raises(ShapeError, match="does not fit its digest"):
        client.run(client.download(address, limit=10_000, digest="sha256:" + "0" * 64))
    with pytest.raises(TooLargeError):
        client.run(client.download(address, limit=10))


def test_a_download_over_an_open_line_is_refused_and_the_signed_address_never_shown(rig: Rig) -> None:
    rig.fake.faults.append(Fault("/zip", Reply(302, headers={"Location": "ftp://x.example/blob?sig=very-secret"})))
    with pytest.raises(RedirectRefusedError, match="unencrypted") as caught:
        rig.client.run(rig.client.download("/repos/acme/bench/actions/artifacts/1/zip", limit=10))
    assert "very-secret" not in str(caught.value)


# --- writing ----------------------------------------------------------------------------------------------------------


def post(rig: Rig, body: str = "Hello") -> PostedComment:
    return rig.client.run(rig.client.write("POST", COMMENTS, {"body": body}, PostedComment))


def test_a_comment_is_posted(rig: Rig) -> None:
    posted = post(rig)
    assert posted.body == "Hello"
    assert posted.user is not None
    assert posted.user.login == "reader"
    assert rig.plain.pull.comments[-1].id == posted.id


@pytest.mark.parametrize(
    "fault",
    [
        Fault("/comments", Reply(502), method="POST", afterwards=True),
        Fault("/comments", Reply(504, {"message": "timeout"}), method="POST", afterwards=True),
        Fault("/comments", Reply(201, {"ok": True}), method="POST", afterwards=True),
        Fault("/comments", method="POST", afterwards=True, drop=True),
        Fault("/comments", method="POST", afterwards=True, delay=1),
    ],
    ids=["502", "504", "odd answer", "cut", "timeout"],
)
def test_a_post_of_unknown_fate_is_not_sent_again(rig: Rig, fault: Fault) -> None:
    before = len(rig.plain.pull.comments)
    rig.fake.faults.append(fault)
    client = rig.new_client(timeouts=Timeouts(read=0.4))
    with pytest.raises(UncertainWriteError, match="not known whether"):
        client.run(client.write("POST", COMMENTS, {"body": "Hello"}, PostedComment))
    assert len(rig.plain.pull.comments) == before + 1
    assert client.requests == 1


def test_a_post_that_surely_failed_says_so(rig: Rig) -> None:
    with pytest.raises(RequestRefusedError, match="Validation Failed"):
        post(rig, "x" * 70_000)
    rig.fail("/comments", 403, "secondary rate limit", method="POST", headers={"Retry-After": "90"})
    other = rig.new_client()
    with pytest.raises(RateLimitedError):
        other.run(other.write("POST", COMMENTS, {"body": "x"}, PostedComment))
    assert len(rig.plain.pull.comments) == 2


def test_a_post_is_not_sent_after_a_redirect(rig: Rig) -> None:
    rig.fake.faults.append(Fault("/comments", Reply(307, headers={"Location": "/api/v3/other"}), method="POST"))
    with pytest.raises(RedirectRefusedError):
        post(rig)
    assert len(rig.plain.pull.comments) == 2


def test_writes_keep_a_distance(rig: Rig) -> None:
    began = time.monotonic()
    post(rig)
    post(rig)
    assert time.monotonic() - began > 0.95


def test_the_loop_refuses_to_wait_for_itself(rig: Rig) -> None:
    async def inside() -> None:
        rig.client.run(rig.client.get(PULL, Pull))

    with pytest.raises(RuntimeError, match="itself"):
        rig.client.run(inside())
