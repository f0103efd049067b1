"""Sign-offs are read however they were typed."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reviewer_tui.model.checklist import ChecklistTemplate
from reviewer_tui.policy.checklist import bundled_templates
from reviewer_tui.signoff.parse import is_sign_off, parse_sign_off, read_lines
from tests.signoff.texts import RECIPE, newest, signed

TRIGGER = "As a PR reviewer and CODEOWNER, I have reviewed this and have:\n"


def boxes(text: str) -> list[tuple[bool, str]]:
    return [(box.checked, box.text) for box in parse_sign_off(text).boxes]


@pytest.mark.parametrize("template", bundled_templates(), ids=lambda t: str(t.version))
def test_every_template_is_read_whole(template: ChecklistTemplate) -> None:
    sign_off = parse_sign_off(template.text)
    assert sign_off.has_trigger
    assert len(sign_off.boxes) == sum(item.boxed for item in template.items)
    assert not any(box.checked for box in sign_off.boxes)
    assert sign_off.signer is None
    assert sign_off.signature_line == template.text.count("\n") + 1
    assert sign_off.detail == ("- insert any additional info here" if template.detail_heading else "")


@pytest.mark.parametrize(
    ("line", "checked"),
    [
        ("- [x] item", True),
        ("- [X] item", True),
        ("- [✓] item", True),
        ("- [✔️] item", True),
        ("- [ ] item", False),
        ("- [] item", False),
        ("- [ x] item", True),
        ("- [x ] item", True),
        ("* [x] item", True),
        ("+ [x] item", True),
        ("• [x] item", True),
        ("1. [x] item", True),
        ("12) [x] item", True),
        ("[x] item", True),
        ("\t- [x] item", True),
        ("    - [x]\titem", True),
        ("-\u00a0[x]\u00a0item", True),
        ("- [\u00a0] item", False),
        ("-   [x]   item  ", True),
        ("- [x]item", True),
    ],
)
def test_every_form_of_a_box(line: str, checked: bool) -> None:
    assert boxes(TRIGGER + line) == [(checked, "item")]


@pytest.mark.parametrize(
    "line", ["[x](https://example.org)", "- [link](u)", "text [x] item", "> - [x] item", "- [xx] item"]
)
def test_what_is_no_box(line: str) -> None:
    assert boxes(TRIGGER + line) == []


def test_line_ends_of_all_kinds() -> None:
    text = signed()
    plain = parse_sign_off(text)
    assert parse_sign_off(text.replace("\n", "\r\n")) == plain
    assert parse_sign_off(text.replace("\n", "\r")) == plain
    assert parse_sign_off("\ufeff" + text) == plain


def test_whole_body_indented_by_two() -> None:
    plain, indented = parse_sign_off(signed()), parse_sign_off("\n".join(f"  {line}" for line in signed().split("\n")))
    assert [box.text for box in indented.boxes] == [box.text for box in plain.boxes]
    assert (indented.signer, indented.detail.strip()) == (plain.signer, plain.detail)


@pytest.mark.parametrize("indent", ["", "  ", "    ", "\t"])
def test_sub_items_nested_or_not(indent: str) -> None:
    text = signed().replace("  - [x] I linked", f"{indent}- [x] I linked")
    found = parse_sign_off(text).boxes
    assert len(found) == 15
    assert next(box for box in found if box.text.startswith("I linked")).indent == len(indent.expandtabs(4))


def test_item_broken_over_lines() -> None:
    text = TRIGGER + "- [x] Verified that this PR\n  has passed\nPR validation.\n- [ ] next"
    assert boxes(text) == [(True, "Verified that this PR has passed PR validation."), (False, "next")]


def test_quotations_are_skipped() -> None:
    text = "\n".join(f"> {line}" for line in signed().split("\n"))
    assert parse_sign_off(text).boxes == ()
    assert not is_sign_off(text + "\nThanks, looks good.")
    mixed = parse_sign_off("> - [ ] somebody else's\n> Signed: somebody\n" + signed())
    assert len(mixed.boxes) == 15
    assert mixed.signer == "octocat"


def test_pasted_with_the_fence() -> None:
    sign_off = parse_sign_off(f"```\n{signed()}\n```")
    assert len(sign_off.boxes) == 15
    assert sign_off.signer == "octocat"
    assert RECIPE in sign_off.detail
    unsigned = signed().rpartition("\n\nSigned")[0]
    assert "```" not in parse_sign_off(f"```\n{unsigned}\n```").detail


def test_a_fenced_sample_in_the_detail_is_no_box() -> None:
    sign_off = parse_sign_off(signed(detail="```\n- [ ] sample\nSigned: nobody\n```\ndone"))
    assert len(sign_off.boxes) == 15
    assert sign_off.signer == "octocat"
    assert sign_off.detail == "```\n- [ ] sample\nSigned: nobody\n```\ndone"


def test_html_comments_hide_what_they_hold() -> None:
    sign_off = parse_sign_off(signed() + "\n<!-- ixr:1234\n- [ ] hidden\nSigned: nobody\n-->")
    assert len(sign_off.boxes) == 15
    assert sign_off.signer == "octocat"


@pytest.mark.parametrize(
    "heading",
    [
        "### Additional detail section:",
        "### Additional detail section",
        "# Additional detail section:",
        "###### additional details:",
        "**Additional detail section:**",
        "__Additional detail section__",
        "Additional detail section:",
        "### 附加说明",
        "### 补充详细信息：",
        "## 附加详情 (Additional detail section):",
        "### 📝 Additional detail section:",
    ],
)
def test_headings_of_the_detail_section(heading: str) -> None:
    sign_off = parse_sign_off(signed().replace("### Additional detail section:", heading))
    assert sign_off.detail == f"Recipe: {RECIPE}, merged on 08-11."
    assert sign_off.boxes[-1].text.endswith("additional reasoning below.")
    assert sign_off.detail_line == signed().split("\n").index("### Additional detail section:") + 1


def test_detail_text_on_the_heading_line() -> None:
    text = signed().replace("### Additional detail section:", "### Additional detail section: see below")
    assert parse_sign_off(text).detail.startswith("see below\n")
    text = signed().replace("### Additional detail section:", "**Additional detail section:** see below")
    assert parse_sign_off(text).detail.startswith("see below\n")


def test_words_of_an_item_are_no_heading() -> None:
    item = "- [x] and linked it below in the\nadditional detail section:\n- [x] last\n\n"
    text = f"{TRIGGER}{item}### Additional detail section:\nhere"
    sign_off = parse_sign_off(text)
    assert len(sign_off.boxes) == 2
    assert sign_off.detail == "here"


def test_several_headings() -> None:
    items = "### Checklist\n- [x] one\n### More\n- [x] two\n"
    text = f"## Sign-off\n{TRIGGER}{items}### Additional detail section:\na\n### Notes\nb\n\nSigned: me"
    sign_off = parse_sign_off(text)
    assert [box.text for box in sign_off.boxes] == ["one", "two"]
    assert sign_off.detail == "a\n### Notes\nb"


def test_without_a_heading_what_follows_the_last_box_is_the_detail() -> None:
    sign_off = parse_sign_off(TRIGGER + "- [x] one\n- [x] two, broken\n  over lines.\n\nRecipe: here.\n\nSigned: me")
    assert sign_off.boxes[-1].text == "two, broken over lines."
    assert sign_off.detail == "Recipe: here."
    assert sign_off.detail_line == 6
    tight = parse_sign_off(TRIGGER + "- [x] one.\nRecipe: here.\nSigned: me")
    assert (tight.boxes[0].text, tight.detail) == ("one.", "Recipe: here.")
    behind = parse_sign_off(TRIGGER + "- [x] one.\n\nSigned: me\n\nRecipe: here.")
    assert (behind.detail, behind.detail_line) == ("Recipe: here.", 6)
    nothing = parse_sign_off(TRIGGER + "- [x] one.\n\nSigned: me")
    assert (nothing.detail, nothing.detail_line) == ("", None)


def test_detail_section_before_the_boxes() -> None:
    sign_off = parse_sign_off(f"### Additional detail section:\nwhy\n\n{TRIGGER}- [x] one\n\nSigned: me")
    assert sign_off.detail.startswith("why")
    assert "one" not in sign_off.detail
    assert sign_off.boxes[0].text == "one"


@pytest.mark.parametrize(
    ("line", "login"),
    [
        ("Signed: `octocat`", "octocat"),
        ("Signed: octocat", "octocat"),
        ("Signed: @octocat", "octocat"),
        ("**Signed:** @Octo-Cat", "Octo-Cat"),
        ("signed : `octocat`", "octocat"),
        ("Signed-off-by: octocat", "octocat"),
        ("- Signed: `@octocat`", "octocat"),
        ("  Signed:\u00a0`octocat`  ", "octocat"),
        ("✍️ Signed: [octocat](https://github.com/octocat)", "octocat"),
        ("Signed: `FILL_IN_GITHUB_USERNAME`", None),
        ("Signed:", None),
        ("Signed: ``", None),
    ],
)
def test_signatures(line: str, login: str | None) -> None:
    sign_off = parse_sign_off(signed().replace("Signed: `octocat`", line))
    assert sign_off.signer == login
    assert sign_off.signature_line is not None


def test_no_signature() -> None:
    sign_off = parse_sign_off(signed().replace("Signed: `octocat`", ""))
    assert (sign_off.signer, sign_off.signature_line) == (None, None)
    assert sign_off.detail.strip() == f"Recipe: {RECIPE}, merged on 08-11."


def test_what_is_a_sign_off() -> None:
    assert is_sign_off(signed())
    assert is_sign_off(signed().replace("As a PR reviewer and CODEOWNER", "as a pr reviewer and codeowner"))
    assert not is_sign_off(signed(), author_is_bot=True)
    assert not is_sign_off("Please post the checklist: “As a PR reviewer and CODEOWNER, I have reviewed this”.")
    assert not is_sign_off("- [x] only a box")
    assert not is_sign_off(
        f"<!-- codeowner-signoff-verify sha={'a' * 40} -->\n## ❌❌❌ **REJECTED** ❌❌❌\n{signed()}"
    )
    assert not is_sign_off(f"## ❌❌❌ **REJECTED** ❌❌❌\n\n{signed()}")


def test_a_fence_that_never_ends_and_one_inside_a_longer_one() -> None:
    assert [line.fenced for line in read_lines("a\n```\nb")] == [False, True, True]
    assert [line.fenced for line in read_lines("````\n```\nb\n````\nc")] == [True, True, True, True, False]


_PIECES = st.sampled_from(
    (
        *(TRIGGER, "- [x] item", "[ ]", "> - [x] q", "```", "~~~", "### Additional detail section:", "Signed: `me`"),
        *("Signed:", "<!--", "-->", "**bold**", "---", "", "\r", "\x00", "\u2028", "附加说明", "\t", "    - [X] deep"),
        newest().items[9].text,
    )
)


@given(st.lists(st.one_of(_PIECES, st.text(max_size=30)), max_size=25).map("\n".join))
@example("### Additional detail section:")
@example("- [x] a\n### Additional detail section:\n- [ ] b\nSigned: me\n- [x] c")
@settings(max_examples=150, deadline=None)
def test_no_text_breaks_the_reader(text: str) -> None:
    sign_off = parse_sign_off(text)
    lines = [box.line for box in sign_off.boxes]
    assert lines == sorted(set(lines))
    assert is_sign_off(text) in (True, False)


def test_a_huge_hostile_text_is_read_in_bounded_time() -> None:
    assert len(parse_sign_off("[" * 200_000 + " " * 200_000).boxes) == 0
    assert len(parse_sign_off("- [ ] a\n" * 8_000).boxes) == 8_000
    parse_sign_off(("- " * 50_000 + "\n") * 3 + "<!--" * 50_000 + "# " * 50_000 + "signed" * 20_000)
