"""How people name pull requests."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer_tui.model.errors import UsageError
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.model.refs import (
    DEFAULT_REPOSITORY,
    as_typed,
    comment_anchor,
    comment_of,
    is_range,
    parse_ref,
    parse_refs,
)
from reviewer_tui.model.text import has_unsafe

HERE = PullRequestRef(DEFAULT_REPOSITORY, 2550)


@pytest.mark.parametrize(
    "text",
    [
        "2550",
        "#2550",
        " 2550 ",
        "SemiAnalysisAI/InferenceX#2550",
        "https://github.com/SemiAnalysisAI/InferenceX/pull/2550",
        "github.com/SemiAnalysisAI/InferenceX/pull/2550/files",
        "https://github.com/SemiAnalysisAI/InferenceX/pull/2550#issuecomment-4891711640",
        "https://github.com/SemiAnalysisAI/InferenceX/pull/2550/files?w=1#r123",
        "https://GitHub.com/SemiAnalysisAI/InferenceX/issues/2550#issuecomment-1",
    ],
)
def test_every_form_names_the_same_pull_request(text: str) -> None:
    assert parse_ref(text) == HERE


def test_another_repository_and_host() -> None:
    assert parse_ref("a/b#7") == PullRequestRef("a/b", 7)
    assert parse_ref("7", "a/b", "ghe.example") == PullRequestRef("a/b", 7, "ghe.example")
    assert parse_ref("http://127.0.0.1:8080/a/b/pull/7") == PullRequestRef("a/b", 7, "127.0.0.1:8080")


@pytest.mark.parametrize("text", ["", "0", "-1", "2550x", "a/b", "a/b#0", "main", "https://github.com/a/b", "２５５０"])
def test_what_names_no_pull_request_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError):
        parse_ref(text)


def test_ranges_count_every_number_once() -> None:
    refs = parse_refs(["5", "3..6", "#9"])
    assert [ref.number for ref in refs] == [5, 3, 4, 6, 9]
    assert is_range("3..6")
    assert not is_range("36")


@pytest.mark.parametrize("text", ["6..3", "1..999999"])
def test_an_empty_or_endless_range_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_refs([text])


@pytest.mark.parametrize(
    ("url", "anchor"),
    [
        ("https://github.com/a/b/pull/1#issuecomment-12", "issuecomment-12"),
        ("https://github.com/a/b/pull/1#pullrequestreview-3", "pullrequestreview-3"),
        ("https://github.com/a/b/pull/1#discussion_r9", "discussion_r9"),
        ("https://github.com/a/b/pull/1", None),
    ],
)
def test_a_url_of_a_comment_names_the_comment(url: str, anchor: str | None) -> None:
    assert comment_anchor(url) == anchor


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("https://github.com/Acme/bench/pull/1#issuecomment-12", "issuecomment-12"),
        ("github.com/acme/bench/issues/1#issuecomment-12", "issuecomment-12"),
        ("https://github.com/acme/bench/pull/2#issuecomment-12", None),
        ("https://github.com/acme/other/pull/1#issuecomment-12", None),
        ("https://git.example.org/acme/bench/pull/1#issuecomment-12", None),
        ("https://github.com/acme/bench/pull/1", None),
        ("1", None),
    ],
)
def test_a_comment_of_one_pull_request(text: str, named: str | None) -> None:
    assert comment_of(text, PullRequestRef("acme/bench", 1)) == named


@given(st.text(max_size=60))
def test_any_text_is_a_reference_or_a_usage_error(text: str) -> None:
    try:
        refs = parse_refs([text])
    except UsageError as error:
        refs, shown = (), error.message
    else:
        shown = ""
    assert all(ref.number > 0 for ref in refs)
    assert not has_unsafe(shown)


def test_a_hint_names_it_with_the_options_that_lead_there_again() -> None:
    assert as_typed(PullRequestRef(DEFAULT_REPOSITORY, 7)) == "7"
    elsewhere = PullRequestRef("acme/bench", 7, "git.example.org")
    assert as_typed(elsewhere) == "7 --repo acme/bench --host git.example.org"
    number, _, repository, _, host = as_typed(elsewhere).split()
    assert parse_ref(number, repository, host) == elsewhere
