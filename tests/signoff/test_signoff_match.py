"""Boxes find their items: by wording, by what is left of it, across template versions."""

from __future__ import annotations

import itertools
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.model.checklist import ChecklistTemplate
from reviewer_tui.policy.checklist import bundled_templates
from reviewer_tui.signoff.match import Matching, diff_words, match_boxes, wording, written_from
from reviewer_tui.signoff.parse import parse_sign_off
from tests.signoff.texts import RUN, newest, signed, strange, version

TEMPLATES = bundled_templates()


def matched(text: str, template: ChecklistTemplate | None = None) -> Matching:
    return match_boxes(parse_sign_off(text), template or newest())


def fidelities(matching: Matching) -> dict[str, str]:
    return {match.item.label: match.fidelity for match in matching.items if match.fidelity != "exact"}


@pytest.mark.parametrize("template", [*TEMPLATES, strange()], ids=lambda t: str(t.version))
def test_a_copy_matches_exactly_whatever_its_order(template: ChecklistTemplate) -> None:
    text = signed(template)
    assert fidelities(matched(text, template)) == {}
    lines = text.split("\n")
    boxes = [n for n, line in enumerate(lines) if re.match(r"\s*- \[x\]", line) and "I linked" not in line]
    shuffled = random.Random(7).sample(boxes, len(boxes))
    mixed = [lines[shuffled[boxes.index(n)]] if n in boxes else line for n, line in enumerate(lines)]
    found = matched("\n".join(mixed), template)
    names = {match.item.name for match in found.items if match.box}
    assert names == {item.name for item in template.items if item.boxed}
    assert (found.unknown, found.duplicates) == ((), ())


@pytest.mark.parametrize(
    ("old", "new"), list(itertools.product(range(0, len(TEMPLATES), 3), range(1, len(TEMPLATES), 3)))
)
def test_items_find_each_other_across_versions(old: int, new: int) -> None:
    source, target = TEMPLATES[old], TEMPLATES[new]
    sign_off = parse_sign_off(source.text)
    by_line = dict(zip((box.line for box in sign_off.boxes), (i for i in source.items if i.boxed), strict=True))
    here = {item.name for item in source.items if item.boxed}
    for match in match_boxes(sign_off, target).items:
        if match.box is None:
            assert match.item.name not in here
        else:
            assert by_line[match.box.line].name == match.item.name


def test_long_common_beginnings_do_not_confuse() -> None:
    text = signed()
    lines = text.split("\n")
    nine = next(line for line in lines if "hub.docker.com/u/vllm" in line)
    matching = matched(text.replace(f"{nine}\n", ""))
    assert fidelities(matching) == {"9": "missing"}


@pytest.mark.parametrize(
    ("item", "label"),
    [
        (f"Verified that this PR has passed PR validation: {RUN}", "3"),
        (f"PR validation: {RUN}", "3"),
        (f"Passed PR validation [run]({RUN})", "3"),
        (f"This PR passes evals: {RUN}", "4"),
        (f"Evals: {RUN}", "4"),
        ("General code quality", "2"),
        ("Latest version of PR_REVIEW_CHECKLIST.md", "1"),
        ("Spec decoding PRs use chat templates", "5"),
        ("Agentic workloads run with synthetic acceptance from the golden AL curve", "6"),
        ("MODELS.md: nothing deprecated", "7"),
        ("Model architecture isn’t changed", "8"),
        ("Upstream images https://hub.docker.com/u/vllm and https://hub.docker.com/u/lmsysorg", "9"),
        ("vLLM/SGLang was submitted before additional frameworks (TRT-LLM, ATOM)", "10"),
        ("Every single-node vLLM/SGLang recipe is documented", "11"),
        ("Linked the upstream PR and verified that it is MERGED", "11a"),
        ("Does not patch the inference engine", "12"),
        ("`append-only: true` only adds points", "13"),
        ("Criteria that cannot reasonably be satisfied are explained below", "14"),
    ],
)
def test_abridged_wording(item: str, label: str) -> None:
    matching = matched(f"As a PR reviewer and CODEOWNER:\n- [x] {item}\n")
    assert [match.item.label for match in matching.items if match.box] == [label]


@pytest.mark.parametrize(
    "box", ["I am authorised to merge this", "LGTM", "Ran it on my own machine twice", "Checked the weather", "PR"]
)
def test_boxes_of_no_item_are_unknown(box: str) -> None:
    matching = matched(signed().replace("\n### Additional", f"- [x] {box}\n\n### Additional"))
    assert [unknown.text for unknown in matching.unknown] == [box]
    assert fidelities(matching) == {}


def test_doubled_items() -> None:
    text = signed()
    line = next(line for line in text.split("\n") if "general code quality" in line)
    matching = matched(text.replace(line, f"{line}\n{line.replace('[x]', '[ ]')}"))
    assert [(double.item.label, double.box.checked) for double in matching.duplicates] == [("2", False)]
    assert matching.unknown == ()


def test_boxes_in_the_detail_section_answer_only_what_is_missing() -> None:
    boxes = "- [ ] Verified that this PR passes evals.\n- [x] ran it twice"
    matching = matched(signed(detail=boxes))
    assert (matching.duplicates, matching.unknown) == ((), ())
    assert matching.items[3].checked
    text = signed(detail=boxes)
    four = next(line for line in text.split("\n") if "this PR passes evals.  Please" in line)
    match = matched(text.replace(f"{four}\n", "")).of("evals")
    assert match is not None
    assert (match.fidelity, match.checked) == ("drifted", False)


@pytest.mark.parametrize(
    "appended",
    [
        f" [Link]({RUN})",
        f" [Link]({RUN}/?pr=2550)",
        f" {RUN}",
        f": {RUN}",
        f" — {RUN}",
        f" ({RUN})",
        f" [a]({RUN}), [b]({RUN}).",
    ],
)
def test_appended_links_do_not_alter_an_item(appended: str) -> None:
    text = signed().replace(f" [Link]({RUN})", appended)
    match = matched(text).of("3")
    assert match is not None
    assert match.fidelity == "exact"
    assert RUN in match.appended


def test_harmless_differences_are_exact() -> None:
    text = (
        signed()
        .replace("isn't", "isn’t")
        .replace("**MERGED**", "MERGED")
        .replace("`append-only: true`", "append-only: true")
    )
    text = re.sub(r"\[MODELS\.md\]\([^)]*\)", "MODELS.md", text).replace("evals.  Please", "evals. Please")
    assert fidelities(matched(text)) == {}


def test_an_altered_item_is_compared_word_by_word() -> None:
    match = matched(signed().replace("has passed PR validation", "has not passed our PR validation")).of("3")
    assert match is not None
    changes = [(s.operation, s.text) for s in match.segments if s.operation != "equal"]
    assert changes[:2] == [("insert", "not"), ("insert", "our")]
    assert match.kept == 1.0


def test_segments_put_both_texts_together_again() -> None:
    old, new = wording(version(16).items[9].text), wording(newest().items[10].text)
    segments = diff_words(old, new)
    assert " ".join(s.text for s in segments if s.operation != "insert").split() == list(old)
    assert " ".join(s.text for s in segments if s.operation != "delete").split() == list(new)


@given(
    st.lists(st.text("ab", min_size=1, max_size=2), max_size=30),
    st.lists(st.text("ab", min_size=1, max_size=2), max_size=300),
)
@settings(max_examples=60, deadline=None)
def test_any_two_wordings_are_compared_without_loss(old: list[str], new: list[str]) -> None:
    segments = diff_words(old, new)
    assert " ".join(s.text for s in segments if s.operation != "insert").split() == old
    assert " ".join(s.text for s in segments if s.operation != "delete").split() == new


@pytest.mark.parametrize("number", range(1, 23))
def test_the_version_a_sign_off_was_copied_from(number: int) -> None:
    found = written_from(parse_sign_off(signed(version(number))), TEMPLATES)
    assert found is not None
    assert [item.text for item in found.items] == [item.text for item in version(number).items]


def test_a_text_of_no_version() -> None:
    assert (
        written_from(parse_sign_off("As a PR reviewer and CODEOWNER\n- [x] all is well\n- [x] evals"), TEMPLATES)
        is None
    )
    assert written_from(parse_sign_off(""), TEMPLATES) is None


@given(st.lists(st.text(max_size=60), max_size=20))
@settings(max_examples=60, deadline=None)
def test_any_boxes_can_be_matched(texts: list[str]) -> None:
    matching = matched("\n".join(f"- [x] {text}" for text in texts))
    lines = [match.box.line for match in matching.items if match.box]
    assert len(lines) == len(set(lines))
    assert len(matching.items) == 15


def test_hostile_boxes_take_bounded_time() -> None:
    matched("- [x] " + "[a](https://x) " * 4_000)
    matched("- [x] " + "verified that " * 5_000)
    matched("- [x] passes evals\n" * 1_000)
