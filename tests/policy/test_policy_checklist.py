"""The sign-off template in all its forms, its versions, and its Chinese explanations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer_tui.model.checklist import ChecklistTemplate
from reviewer_tui.model.finding import Problem
from reviewer_tui.model.tree import DictTree
from reviewer_tui.policy.checklist import (
    bundled_template,
    bundled_templates,
    parse_template,
    read_template,
    read_translation,
    translate,
)
from reviewer_tui.policy.items import (
    check_name,
    checklist_map,
    checks_of,
    known_checks,
    name_of,
    names_in_chinese,
    pane_of,
)
from reviewer_tui.policy.layout import discover_layout

FENCED = """\
# Checklist

- [ ] a box before the template

## Template
```
As a PR reviewer and CODEOWNER, I did:
- [ ] Verified the general code quality
- [x] Something quite new
  that goes on here
  - [ ] and something below it
* [] Verified that this PR passes evals

### Additional detail section:
- put it here

Signed: `NAME`
```
After it - [ ] nothing
"""
AUTUMN_LABELS = [*map(str, range(1, 13)), "12a", "13", "14", "15", "16"]
AUTUMN_NAMES = [
    *("latest", "quality", "validation", "evals", "chat_template", "draft_as_shipped", "golden_al", "deprecated"),
    *("architecture", "upstream_images", "engine_first", "recipe", "recipe_merged", "engine_patch", "append_only"),
    *("exceptions", "pareto"),
]
UNFENCED = FENCED.replace("```\n", "").replace("After it", "## Example\nAfter it")


def parsed(text: str) -> ChecklistTemplate:
    template = parse_template(text, "docs/PR_REVIEW_CHECKLIST.md")
    assert isinstance(template, ChecklistTemplate)
    return template


def names(template: ChecklistTemplate) -> list[tuple[str, str]]:
    return [(item.label, item.name) for item in template.items]


@pytest.mark.parametrize(("text", "fenced"), [(FENCED, True), (UNFENCED, False)])
def test_both_forms_give_the_same_template(text: str, fenced: bool) -> None:
    template = parsed(text)
    assert template.fenced is fenced
    assert names(template) == [("1", "quality"), ("2", "item-2"), ("2a", "item-2a"), ("3", "evals")]
    assert template.opening == "As a PR reviewer and CODEOWNER, I did:"
    assert template.text.startswith(template.opening)
    assert template.text.endswith("\nSigned: `NAME`")
    assert (template.detail_heading, template.placeholder) == ("### Additional detail section:", "- put it here")
    assert template.signature == "Signed: `NAME`"
    assert template.version is None


def test_an_item_keeps_its_wording_and_its_line() -> None:
    template = parsed(FENCED)
    item = template.item("2")
    assert item is not None
    assert item.text == "Something quite new\n  that goes on here"
    assert FENCED.splitlines()[item.line - 1] == "- [x] Something quite new"
    assert not item.known
    below = template.item("2a")
    assert below is not None
    assert (below.indent, below.text) == (2, "and something below it")


def test_a_second_item_of_one_name_keeps_its_own() -> None:
    text = FENCED.replace("Something quite new", "general code quality of tests")
    assert names(parsed(text))[:2] == [("1", "quality"), ("2", "item-2")]


def test_a_file_without_boxes_is_a_problem() -> None:
    found = parse_template("# Checklist\n\n## Template\nNothing yet\n", "docs/x.md")
    assert isinstance(found, Problem)
    assert found.rule == "checklist-template"


def test_an_indented_list_and_windows_lines() -> None:
    text = UNFENCED.replace("\n", "\r\n").replace("- [", "  - [").replace("* [", "  * [")
    assert [label for label, _ in names(parsed(text))] == ["1", "2", "2a", "3"]


def test_a_missing_checklist_is_a_problem() -> None:
    tree = DictTree({"configs/amd-master.yaml": ""})
    part, problems = read_template(tree, discover_layout(tree))
    assert part.state == "unavailable"
    assert [problem.rule for problem in problems] == ["checklist-missing"]
    assert read_translation(tree, discover_layout(tree), None)[1] == ()


def test_the_newest_layout_has_seventeen_boxes(autumn: DictTree) -> None:
    part, problems = read_template(autumn, discover_layout(autumn))
    assert problems == ()
    assert part.value is not None
    assert names(part.value) == list(zip(AUTUMN_LABELS, AUTUMN_NAMES, strict=True))


@given(st.text(max_size=400) | st.lists(st.sampled_from(FENCED.splitlines()), max_size=30).map("\n".join))
def test_any_text_is_read(text: str) -> None:
    template = parse_template(text, "x.md")
    if isinstance(template, ChecklistTemplate):
        assert template.items
        assert len({item.label for item in template.items}) == len(template.items)
        assert len({item.name for item in template.items}) == len(template.items)
        translate(template, text, "x_zh.md")


# The map.


def test_every_item_of_the_map_has_a_pane_and_known_checks() -> None:
    known = {check.name for check in known_checks()}
    for item in checklist_map().items:
        assert set(checks_of(item.name)) <= known
        assert pane_of(item.name) == item.pane
    assert len({item.name for item in checklist_map().items}) == 17
    assert len(known) == 16


def test_every_check_but_owner_and_description_speaks_to_an_item() -> None:
    spoken = {check for item in checklist_map().items for check in item.checks}
    assert {check.name for check in known_checks()} - spoken == {"owner", "description"}


def test_an_unknown_item_is_the_reviewers_alone() -> None:
    assert checks_of("item-18") == ()
    assert pane_of("item-18") == "checklist"
    assert name_of("Verified that the moon is full") is None


def test_items_nine_and_ten_are_told_apart_by_their_ends() -> None:
    start = "If an company claims that they support vLLM/SGLang as first class engines, "
    assert name_of(f"{start}images come from https://hub.docker.com/u/vllm") == "upstream_images"
    assert name_of(f"{start}they came before additional frameworks") == "engine_first"


def test_first_wording_of_the_draft_item_is_known() -> None:
    assert name_of("Verified that draft models and draft heads retain their precision") == "draft_as_shipped"


def test_a_check_is_named_by_its_heading() -> None:
    assert check_name("Upstream vLLM/SGLang images, and engine-first ordering", 6) == "image"
    assert check_name("The moon is full", 16) == "check-16"
    for check in known_checks():
        assert check_name(check.title, None) == check.name


# The bundled versions.


def test_the_bundled_templates_name_themselves() -> None:
    versions = [template.version.split()[0] for template in bundled_templates() if template.version]
    # Where only the prose around the items changed, the newest of the same items gives the name.
    assert versions[:12] == ["1", "3", "3", "4", "5", "6", "7", "8", "12", "12", "12", "12"]
    assert versions[12:21] == ["13", "14", "15", "16", "17", "18", "20", "20", "21"]
    assert versions[21:] == [str(number) for number in range(22, len(versions) + 1)]


def test_the_newest_bundled_template_is_ready_to_use() -> None:
    template = bundled_template()
    assert names(template) == list(zip(AUTUMN_LABELS, AUTUMN_NAMES, strict=True))
    assert all(item.boxed for item in template.items)
    assert template.signature == "Signed: `FILL_IN_GITHUB_USERNAME`"


BOXES = {
    1: 6,
    4: 6,
    5: 7,
    6: 7,
    7: 8,
    8: 9,
    9: 10,
    13: 10,
    14: 11,
    15: 12,
    16: 12,
    17: 13,
    18: 13,
    19: 14,
    20: 14,
    21: 15,
}


def test_all_real_versions(real_data: Path) -> None:
    files = sorted((real_data / "inferencex" / "checklists").iterdir())
    assert len(files) == 21
    for number, (file, bundled) in enumerate(zip(files, bundled_templates()[:21], strict=True), start=1):
        template = parsed(file.read_text())
        assert template.text == bundled.text
        assert template.version == bundled.version
        assert template.fenced is (number >= 11)
        assert sum(item.boxed for item in template.items) == BOXES.get(number, len(template.items) - 1)
        assert all(item.known for item in template.items)
        assert template.items[-1].name == "exceptions"
        sub_item = next(item for item in template.items if item.name == "recipe_merged")
        assert sub_item.label.endswith("a")
        assert sub_item.boxed is (number >= 17)
        assert (template.detail_heading is not None) is (number >= 2)
        assert (template.placeholder is not None) is (number >= 2)
        lines = file.read_text().splitlines()
        assert all(item.text.splitlines()[0] in lines[item.line - 1] for item in template.items)


# The Chinese explanations.


def test_explanations_are_matched_by_what_they_say_not_by_their_number() -> None:
    template = parsed(FENCED)
    chinese = "## 各条目\n1. 已确认该 PR 通过了 evals（准确性评测）\n2. 已确认整体代码质量\n3. Verified evals\n"
    found = translate(template, chinese, "zh.md")
    assert [(item.label, item.text[:7]) for item in found.items] == [("1", "已确认整体代码"), ("3", "已确认该 PR")]
    assert [item.line for item in found.items] == [3, 2]
    assert found.path == "zh.md"


def test_one_explanation_can_cover_an_item_and_its_sub_item() -> None:
    text = "每个单节点 recipe 均已记录在官方文档中；已链接上游 PR，并确认其已合并（MERGED）。"
    assert names_in_chinese(text) == ("recipe", "recipe_merged")


@pytest.mark.parametrize(
    ("day", "missing"), [("2026-07-04", []), ("2026-07-15", []), ("2026-08-13", []), ("2026-08-22", ["13"])]
)
def test_real_translations(real_tree: Callable[[str], DictTree], day: str, missing: list[str]) -> None:
    tree = real_tree(day)
    layout = discover_layout(tree)
    template, _ = read_template(tree, layout)
    assert template.value is not None
    part, problems = read_translation(tree, layout, template.value)
    assert part.value is not None
    assert [item.label for item in template.value.items if part.value.item(item.label) is None] == missing
    assert [problem.rule for problem in problems] == ["translation-behind"] * bool(missing)
    assert part.complete is not bool(missing)
