"""The mark in a posted sign-off: invisible to every reader of sign-offs, and found again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer_tui.model.checklist import ChecklistTemplate
from reviewer_tui.policy.checklist import bundled_templates
from reviewer_tui.signoff.comment_text import mark_of, marked, normalised, speaks_as_sign_off, unmarked
from reviewer_tui.signoff.lint import lint
from reviewer_tui.signoff.parse import is_sign_off, parse_sign_off
from reviewer_tui.signoff.verdict_comment import is_verdict_comment
from tests.signoff.texts import newest, signed, strange

ONE, OTHER = "0d1b6a9e-0000-4000-8000-000000000000", "ffffffff-0000-4000-8000-00000000000f"
TEMPLATES = (*bundled_templates(), strange())


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.version or "strange")
def test_no_reader_of_a_sign_off_sees_the_mark(template: ChecklistTemplate) -> None:
    text = signed(template)
    with_mark = marked(text, ONE)
    assert mark_of(with_mark) == ONE
    assert parse_sign_off(with_mark) == parse_sign_off(text)
    assert lint(with_mark, template).remarks == lint(text, template).remarks
    assert lint(with_mark, template).faults == lint(text, template).faults == ()
    assert is_sign_off(with_mark)
    assert not is_verdict_comment(with_mark)
    assert with_mark.rstrip().splitlines()[:-2] == text.rstrip().splitlines(), "the signature is the last line to see"


def test_a_later_post_has_its_own_mark_only() -> None:
    again = marked(marked(signed(), ONE), OTHER)
    assert mark_of(again) == OTHER
    assert again.count("<!-- ixr:") == 1
    assert unmarked(again) == signed().rstrip()


@pytest.mark.parametrize("broken", ["\n```\nopen fence", "\n~~~~"])
def test_a_mark_that_would_be_read_is_left_out(broken: str) -> None:
    text = signed() + broken
    assert marked(text, ONE) == text


@pytest.mark.parametrize("text", ["/use 31628689774", "/reuse-sweep-run", "Thank you!"])
def test_other_comments_are_sent_as_they_are(text: str) -> None:
    assert marked(f"{text}\n", ONE) == text
    assert not speaks_as_sign_off(text)


def test_the_phrase_alone_or_boxes_alone_speak_as_a_sign_off() -> None:
    assert speaks_as_sign_off("Please post “As a PR reviewer and CODEOWNER …”.")
    assert speaks_as_sign_off(signed(newest()).split("\n", 1)[1])


@given(st.text("ab \t\r\n", max_size=20))
def test_what_github_may_change_is_no_difference(text: str) -> None:
    changed = text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n") + "  \r\n"
    assert normalised(changed) == normalised(text)
    assert normalised(marked(changed, ONE)) == normalised(text)
    assert normalised(normalised(text)) == normalised(text)
