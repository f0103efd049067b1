"""Reasons for open boxes are recognised, and doubt stays doubt."""

from __future__ import annotations

import pytest

from reviewer_tui.signoff.explanations import explain
from tests.signoff.texts import newest, strange

TEMPLATE = newest()


def grade(detail: str, label: str) -> str:
    item = TEMPLATE.item(label)
    assert item is not None
    return explain(item, TEMPLATE, detail).grade


@pytest.mark.parametrize(
    ("detail", "label"),
    [
        ("- Item 6 (golden AL) is left open: not agentic.", "6"),
        ("Item 6: N/A", "6"),
        ("Items 5, 6 and 13 do not apply here.", "13"),
        ("Items 5-7 do not apply here.", "6"),
        ("Items 5 (chat template) and 6 (golden AL): no speculation", "6"),
        ("Box 6 (not agentic)", "6"),
        ("Checkbox #6 — single-turn only", "6"),
        ("#6: single-turn only", "6"),
        ("item 11a: the page was already published", "11a"),
        ("第6项：不适用", "6"),
        ("Some text.\n\nItem 6 is open. There is no agentic scenario.", "6"),
    ],
)
def test_named_by_number(detail: str, label: str) -> None:
    assert grade(detail, label) == "named"


@pytest.mark.parametrize(
    ("detail", "label"),
    [
        ("No agentic workload in this PR.", "6"),
        ("Golden AL: N/A, fixed sequence lengths only.", "6"),
        ("This is not a speculative config.", "5"),
        ("Append-only does not apply.", "13"),
        ("append-only 不适用", "13"),
        ("The recipe PR is still open upstream.", "11a"),
        ("Evals were skipped because the sweep has no eval lane.", "4"),
        ("TRT-LLM is not touched.", "10"),
    ],
)
def test_worded_by_subject(detail: str, label: str) -> None:
    assert grade(detail, label) == "worded"


@pytest.mark.parametrize(
    ("detail", "label", "expected"),
    [
        ("Speculative decoding uses EAGLE as the recipe does.", "6", "hinted"),
        ("6. single-turn", "6", "hinted"),
        ("Check 6: single-turn", "6", "hinted"),
        ("Everything unticked is not applicable to a docs change.", "6", "general"),
        ("The remaining boxes do not apply.", "6", "general"),
        ("Recipe: https://github.com/vllm-project/recipes/pull/645", "6", "none"),
        ("Item 16 is left open: why not.", "6", "none"),
        ("Item 6 is left open.", "6", "none"),
        ("Item 6 (golden AL) is left open: TODO: say why.", "6", "none"),
        ("No agentic workload.\n- Item 6 (golden AL) is left open: TODO: say why.", "6", "none"),
        ("Item 6: https://example.org/not-agentic", "6", "none"),
        ("The throughput at conc 6 is better.", "6", "none"),
        ("See vllm-project/recipes#6 for more.", "6", "none"),
        ("- insert any additional info here", "6", "none"),
        ("https://example.org/golden/al", "6", "none"),
        ("", "6", "none"),
    ],
)
def test_doubt(detail: str, label: str, expected: str) -> None:
    assert grade(detail, label) == expected


def test_the_best_statement_and_its_line() -> None:
    item = TEMPLATE.item("6")
    assert item is not None
    found = explain(item, TEMPLATE, "Agentic things.\n\nThe rest is fine.\n- Item 6: single-turn\n  only.", 40)
    assert (found.grade, found.text, found.line) == ("named", "- Item 6: single-turn only.", 43)
    assert found.recognised


def test_an_unknown_item_is_explained_by_its_number_only() -> None:
    template = strange()
    item = template.items[-1]
    assert not item.known
    assert explain(item, template, f"Item {item.label}: there is no such device.").grade == "named"
    assert explain(item, template, "There is no capacitor in this PR.").grade == "hinted"
    assert explain(item, template, "There is no such device in this PR.").grade == "none"


def test_hostile_details_take_bounded_time() -> None:
    explain(TEMPLATE.items[5], TEMPLATE, "item 1" + ", 1" * 30_000)
    explain(TEMPLATE.items[5], TEMPLATE, "items 1-99, 1-99 " * 4_000 + "(" * 60_000)
