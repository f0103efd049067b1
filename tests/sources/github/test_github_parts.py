"""The small parts by themselves: hosts, links, redaction, refusals, mentions, tree objects."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.model.errors import UsageError
from reviewer_tui.model.text import has_unsafe
from reviewer_tui.sources.github.archive import read_members
from reviewer_tui.sources.github.errors import ShapeError, TooLargeError
from reviewer_tui.sources.github.etags import answer_key, pack, shape_fingerprint, unpack
from reviewer_tui.sources.github.facts import is_merged
from reviewer_tui.sources.github.failures import failure_of, missing_permission, missing_scope, refusal_message
from reviewer_tui.sources.github.hosts import parse_host
from reviewer_tui.sources.github.limits import Pace
from reviewer_tui.sources.github.mentions import mentioned_pulls, mentioned_runs
from reviewer_tui.sources.github.objects import tree_objects
from reviewer_tui.sources.github.paging import following_pages, links_of
from reviewer_tui.sources.github.redaction import redact
from reviewer_tui.sources.github.shapes import Pull, TreeItem, Viewer
from reviewer_tui.sources.github.transport import Transport
from tests.fake_github.world import archive
from tests.gitrepo import GitRepo

# --- hosts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "name", "api", "graphql", "version"),
    [
        ("github.com", "github.com", "https://api.github.com", "https://api.github.com/graphql", "2026-03-10"),
        (
            "https://API.github.com/",
            "github.com",
            "https://api.github.com",
            "https://api.github.com/graphql",
            "2026-03-10",
        ),
        ("acme.ghe.com", "acme.ghe.com", "https://api.acme.ghe.com", "https://api.acme.ghe.com/graphql", "2026-03-10"),
        (
            "git.acme.example:8443",
            "git.acme.example:8443",
            "https://git.acme.example:8443/api/v3",
            "https://git.acme.example:8443/api/graphql",
            "2022-11-28",
        ),
        (
            "127.0.0.1:9000",
            "127.0.0.1:9000",
            "http://127.0.0.1:9000/api/v3",
            "http://127.0.0.1:9000/api/graphql",
            "2022-11-28",
        ),
        ("[::1]:80", "[::1]:80", "http://[::1]:80/api/v3", "http://[::1]:80/api/graphql", "2022-11-28"),
    ],
)
def test_where_a_host_answers(typed: str, name: str, api: str, graphql: str, version: str) -> None:
    host = parse_host(typed)
    assert (host.name, host.api, host.graphql, host.version) == (name, api, graphql, version)


@pytest.mark.parametrize("typed", ["", "a b", "user@host", "host/path", "-x", "127.0.0.1:port", "a..b", "évil.example"])
def test_what_is_no_host(typed: str) -> None:
    with pytest.raises(UsageError):
        parse_host(typed)


def test_only_the_own_machine_is_spoken_to_in_the_clear() -> None:
    assert all(
        parse_host(name).api.startswith("https://") for name in ("localhost.example", "127.0.0.1.example", "10.0.0.1")
    )


@pytest.mark.parametrize(
    ("address", "own"),
    [
        ("https://api.github.com/repos/a/b", True),
        ("http://api.github.com/repos/a/b", False),
        ("https://api.github.com.evil.example/x", False),
        ("https://api.github.com:444/x", False),
        ("https://user@api.github.com/x", False),
        ("https://github.com/x", False),
        ("https://[/x", False),
        ("//api.github.com/x", False),
    ],
)
def test_where_the_token_may_go(address: str, own: bool) -> None:
    assert Transport(parse_host("github.com"), None).is_own(address) is own


# --- paging -----------------------------------------------------------------------------------------------------------


def test_the_pages_between_next_and_last() -> None:
    links = links_of(
        '<https://api.github.com/repositories/5/x?per_page=100&page=2>; rel="next", '
        '<https://api.github.com/repositories/5/x?per_page=100&page=4>; rel="last"'
    )
    assert following_pages(links) == [
        f"https://api.github.com/repositories/5/x?per_page=100&page={number}" for number in (2, 3, 4)
    ]
    assert following_pages({}) == []
    assert following_pages({"next": "https://h/x?after=abc"}) is None
    assert following_pages({"next": "https://h/x?page=2", "last": "https://other/x?page=9"}) is None
    assert following_pages({"next": "https://h/x?page=2"}) is None


def test_a_claim_of_endless_pages_is_cut() -> None:
    links = {"next": "https://h/x?page=2", "last": "https://h/x?page=999999"}
    pages = following_pages(links)
    assert pages is not None
    assert len(pages) == 201


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200))
def test_a_link_header_of_any_kind(text: str) -> None:
    following_pages(links_of(text))
    following_pages(links_of(f'<https://h/x?page={text}>; rel="next", <{text}>; rel="last"'))


# --- redaction --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "secret",
    [
        "ghp_" + "a1B2" * 9,
        "gho_" + "a1B2" * 9,
        "ghs_" + "a1B2" * 9,
        "github_pat_" + "11ABCDEFG0_" + "x" * 60,
    ],
)
def test_tokens_are_taken_out(secret: str) -> None:
    assert redact(f"sent {secret}, got 401") == "sent [secret], got 401"
    assert secret not in redact(f"Authorization: Bearer {secret}")


def test_signed_addresses_and_passwords_are_taken_out() -> None:
    assert redact("https://x.example/b?sv=1&sig=abc%3D&se=2") == "https://x.example/b?sv=1&sig=[secret]&se=2"
    assert redact("https://x.example/b?X-Amz-Signature=abc") == "https://x.example/b?X-Amz-Signature=[secret]"
    assert redact("http://me:pass@proxy:80") == "http://[secret]@proxy:80"
    assert redact("the word bearer of news", "news") == "the word bearer of [secret]"


# --- refusals ---------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    st.integers(400, 599),
    st.dictionaries(
        st.sampled_from(["x-github-sso", "x-oauth-scopes", "x-accepted-oauth-scopes", "x-accepted-github-permissions"]),
        st.text(max_size=60),
    ),
    st.one_of(
        st.binary(max_size=60),
        st.builds(lambda m, e: msgspec.json.encode({"message": m, "errors": e}), st.text(), st.lists(st.text())),
    ),
)
def test_every_refusal_is_a_sentence(status: int, headers: dict[str, str], body: bytes) -> None:
    failure = failure_of("GET /x", status, headers, body, web_host="github.com", has_token=True)
    assert failure.message.endswith((".", ")")) or "GitHub says" in failure.message
    assert not has_unsafe(str(failure))


def test_what_github_says_is_on_one_line() -> None:
    body = b'{"message": "Validation\\nFailed\\u001b[31m", "errors": [{"resource": "Issue", "field": "body"}, "plain"]}'
    assert refusal_message(body) == "Validation Failed<U+001B>[31m (Issue body; plain)"
    assert refusal_message(b'{"message": "x", "errors": "odd"}') == "x"
    assert refusal_message(b'["x"]') == refusal_message(b"\xff") == ""


def test_scopes_and_permissions_in_words() -> None:
    assert missing_scope({"x-accepted-oauth-scopes": "repo", "x-oauth-scopes": ""}) == "repo"
    assert missing_scope({"x-accepted-oauth-scopes": "repo, public_repo", "x-oauth-scopes": "public_repo"}) == ""
    assert missing_scope({"x-accepted-oauth-scopes": "repo"}) == ""  # a fine-grained token has no scopes
    assert (
        missing_permission({"x-accepted-github-permissions": "a=read,b=write; c=read"})
        == "a:read and b:write or c:read"
    )
    assert missing_permission({}) == ""


# --- kept answers -----------------------------------------------------------------------------------------------------


def test_the_key_of_an_answer_knows_everything_it_depends_on() -> None:
    facts = {
        "api": "https://api.github.com",
        "url": "/x",
        "accept": "a",
        "version": "v",
        "reader": "r",
        "shape": Viewer,
    }
    keys = {answer_key(**facts)}
    for name in facts:
        keys.add(answer_key(**{**facts, name: Pull if name == "shape" else "other"}))
    assert len(keys) == 7


def test_a_shape_that_gains_a_field_has_another_fingerprint() -> None:
    one = msgspec.defstruct("Shape", [("a", int)])
    two = msgspec.defstruct("Shape", [("a", int), ("b", int, 0)])
    assert shape_fingerprint(one) != shape_fingerprint(two)
    assert shape_fingerprint(one) == shape_fingerprint(one)


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=50))
def test_a_damaged_kept_answer_is_none(content: bytes) -> None:
    unpack(content)
    assert unpack(None) is None
    kept = unpack(pack('W/"x"', "<l>", content))
    assert kept is not None
    assert (kept.etag, kept.link, kept.body) == ('W/"x"', "<l>", content)


def test_both_versions_of_the_interface_are_read() -> None:
    """2026-03-10 dropped `merge_commit_sha` and `assignee`; nobody relies on them."""
    side = {"ref": "main", "sha": "a" * 40, "repo": None}
    newer = {
        "number": 1,
        "title": "T",
        "state": "closed",
        "base": side,
        "head": side,
        "commits": 1,
        "changed_files": 1,
        "comments": 0,
        "review_comments": 0,
        "updated_at": "2026-08-12T00:00:00Z",
        "merged": True,
        "merged_at": "2026-08-12T00:00:00Z",
        "user": None,
        "body": None,
        "a_field_of_the_future": [1],
    }
    older = {**newer, "merge_commit_sha": "b" * 40, "assignee": None}
    shapes = [msgspec.json.decode(msgspec.json.encode(body), type=Pull) for body in (newer, older)]
    assert [shape.merge_commit_sha for shape in shapes] == [None, "b" * 40]
    assert {is_merged(shape) for shape in shapes} == {True}


# --- rate limits ------------------------------------------------------------------------------------------------------


def test_the_order_in_which_a_limit_is_read() -> None:
    pace = Pace(clock=lambda: 1000.0)
    secondary = "You have exceeded a secondary rate limit"
    assert pace.limited(200, {}, "") is None
    assert pace.limited(403, {}, "Forbidden") is None
    assert pace.limited(403, {"retry-after": "7"}, secondary) == ("secondary", 1007)
    assert pace.limited(429, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1500"}, "") == ("primary", 1500)
    assert pace.limited(403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1500"}, secondary) == (
        "secondary",
        1060,
    )
    assert pace.limited(429, {}, "") == ("secondary", 1060)


def test_repeated_warnings_double_the_pause_but_one_volley_counts_once() -> None:
    now = [1000.0]
    pace = Pace(clock=lambda: now[0])
    for _ in range(5):
        limited = pace.limited(429, {}, "")
        assert limited is not None
        pace.close("core", *limited)
    now[0] = 1061.0
    assert pace.limited(429, {}, "") == ("secondary", 1061 + 120)


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.sampled_from(["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]), st.text()))
def test_headers_that_make_no_sense_are_passed_over(headers: dict[str, str]) -> None:
    Pace().note(headers)


# --- mentions ---------------------------------------------------------------------------------------------------------


def test_runs_in_order_and_once() -> None:
    texts = [
        "See https://github.com/Acme/Bench/actions/runs/12/job/3 and [x](https://x/inference?a=1&unofficialRun=13)",
        "/reuse-sweep-run 14\nhttps://github.com/acme/bench/actions/runs/12",
        "> /use 99\nplease /use 98\n/use 97 now\n/use\n96",
        "https://github.com/other/bench/actions/runs/95",
    ]
    assert mentioned_runs(texts, "acme/bench") == (12, 13, 14)


def test_pulls_of_others_once() -> None:
    texts = [
        "https://github.com/sgl-project/sglang/pull/34357/files#diff https://GitHub.com/SGL-project/sglang/pull/34357",
        "https://github.com/acme/bench/pull/1 https://github.com/vllm-project/recipes/issues/2 "
        "https://github.com/vllm-project/recipes/pull/3.",
    ]
    assert mentioned_pulls(texts, "Acme/bench") == (("sgl-project/sglang", 34357), ("vllm-project/recipes", 3))


@pytest.mark.parametrize(
    "text", ["\n" * 200_000, "/use " * 40_000, "/reuse-sweep-run\n" * 12_000, "/reuse-sweep-run" + " " * 190_000]
)
def test_long_comments_take_no_time(text: str) -> None:
    began = time.process_time()
    mentioned_runs([text], "acme/bench")
    mentioned_pulls([text], "acme/bench")
    assert time.process_time() - began < 1


# --- tree objects -----------------------------------------------------------------------------------------------------


def test_tree_objects_are_gits_own(tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "r.git")
    repo.commit(
        {
            "a.txt": "1",
            "a/b/c": "2",
            "a-b": "3",
            "run.sh": repo.executable("x"),
            "link": repo.link("a"),
            "sub": repo.submodule(),
            "ünïcode/日本": "4",
        },
        on="main",
    )
    root = repo.git("rev-parse", "main^{tree}").strip()
    items = [
        TreeItem(path=path, mode=facts.split()[0], type=facts.split()[1], sha=facts.split()[2])
        for line in repo.git("ls-tree", "-rtz", "main").split("\0")[:-1]
        for facts, path in [line.split("\t")]
    ]
    objects = tree_objects(root, items)
    folders = {root, *(item.sha for item in items if item.type == "tree")}
    assert set(objects) == folders
    assert set(tree_objects(root, items[:-1])) < folders
    assert root not in tree_objects(root, items[1:])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.builds(TreeItem, path=st.text(), mode=st.text(), type=st.sampled_from(["tree", "blob"]), sha=st.text()),
        max_size=6,
    )
)
def test_a_listing_of_any_kind_gives_nothing_that_is_not_exact(items: list[TreeItem]) -> None:
    assert tree_objects("0" * 40, items).get("0" * 40) is None


# --- archives ---------------------------------------------------------------------------------------------------------


def test_names_in_a_zip_are_labels() -> None:
    content = archive({"../../etc/passwd.json": "[]", "/abs.json": "1", "ok/x.json": "2", "skip.txt": "3"})
    assert sorted(read_members(content, lambda name: name.endswith(".json"), "It")) == [
        "../../etc/passwd.json",
        "/abs.json",
        "ok/x.json",
    ]


def test_a_file_twice_in_a_zip_is_refused() -> None:
    import io
    import warnings
    import zipfile

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made.writestr("a.json", "1")
        made.writestr("a.json", "2")
    with pytest.raises(ShapeError, match="twice"):
        read_members(buffer.getvalue(), lambda _: True, "It")


def test_too_many_files_in_a_zip_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviewer_tui.sources.github.archive.MOST_MEMBERS", 3)
    with pytest.raises(TooLargeError, match="4 files"):
        read_members(archive({f"{n}.json": "1" for n in range(4)}), lambda _: True, "It")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_damaged_zip_never_crashes(data: st.DataObject) -> None:
    content = bytearray(archive({"a.json": "[1, 2, 3]" * 20, "b.json": "{}"}))
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(ShapeError, TooLargeError):
        read_members(bytes(content), lambda _: True, "It")


# --- what is imported -------------------------------------------------------------------------------------------------


def test_loading_needs_no_other_github_library_and_no_terminal() -> None:
    code = (
        "import sys, reviewer_tui.sources.github.loader, reviewer_tui.store.cache\n"
        "bad = {'githubkit', 'hishel', 'pydantic', 'textual', 'keyring', 'yaml'} & set(sys.modules)\n"
        "assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[3])


def test_the_cache_needs_no_network_library() -> None:
    code = (
        "import sys, reviewer_tui.sources.cached, reviewer_tui.store.cache\n"
        "bad = {'httpx', 'asyncio', 'ssl', 'textual'} & set(sys.modules)\n"
        "assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[3])
