"""Waivers of engine patches."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer_tui.model.tree import DictTree
from reviewer_tui.policy.layout import discover_layout
from reviewer_tui.policy.waivers import parse_waiver, read_waiver

REPOSITORY = "SemiAnalysisAI/InferenceX"
SECTIONS = {
    "what is patched": "## What is patched\n\nThe sampler.\n\n### Details\n\nTwo files.\n",
    "why the unmodified image cannot run": "## Why the unmodified image cannot run this benchmark\n\nIt faults.\n",
    "upstream link": "## Upstream tracking\n\nhttps://github.com/vllm-project/vllm/pull/1\n",
    "removal plan": "## Removal plan\n\nOnce released.\n",
}


def test_a_filled_out_waiver() -> None:
    waiver = parse_waiver("# Waiver for 7\n\n" + "\n".join(SECTIONS.values()), "docs/waiver/7.md", REPOSITORY)
    assert waiver.filled_out
    assert waiver.parts["what is patched"] == "The sampler.\nTwo files."
    assert waiver.upstream == ("https://github.com/vllm-project/vllm/pull/1",)


@pytest.mark.parametrize("left_out", list(SECTIONS))
def test_what_is_left_out_is_named(left_out: str) -> None:
    text = "# Waiver\n\n" + "\n".join(text for name, text in SECTIONS.items() if name != left_out)
    assert parse_waiver(text, "w.md", REPOSITORY).missing == (left_out,)


def test_an_empty_section_states_nothing() -> None:
    text = "\n".join(SECTIONS.values()).replace("Once released.", "****")
    assert parse_waiver(text, "w.md", REPOSITORY).missing == ("removal plan",)


def test_a_link_to_the_repository_itself_is_not_upstream() -> None:
    text = "\n".join(SECTIONS.values()).replace("vllm-project/vllm", "semianalysisai/InferenceX")
    assert parse_waiver(text, "w.md", REPOSITORY).missing == ("upstream link",)


def test_labels_serve_as_headings() -> None:
    text = (
        "- **What is patched:** one file\n- **Why:** it faults\n"
        "- **Removal plan:** next image, see https://github.com/ROCm/aiter/issues/5\n"
    )
    assert parse_waiver(text, "w.md", REPOSITORY).filled_out


def test_a_title_alone_is_no_section() -> None:
    assert len(parse_waiver("# What is patched and why, and removal plan\n\nText.\n", "w.md").missing) == 4


def test_a_waiver_is_found_by_the_number_of_its_pull_request() -> None:
    tree = DictTree({"configs/amd-master.yaml": "", "docs/waiver/7.md": "\n".join(SECTIONS.values())})
    layout = discover_layout(tree)
    assert read_waiver(tree, layout, 7, REPOSITORY).complete
    missing = read_waiver(tree, layout, 8, REPOSITORY)
    assert missing.state == "unavailable"
    assert "docs/waiver/8.md" in missing.reason


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    waiver = parse_waiver(text, "w.md", REPOSITORY)
    assert waiver.filled_out == (not waiver.missing)


def test_the_real_waiver(real_tree: Callable[[str], DictTree]) -> None:
    tree = real_tree("2026-08-22")
    waiver = read_waiver(tree, discover_layout(tree), 2508, REPOSITORY).value
    assert waiver is not None
    assert waiver.filled_out
    assert "https://github.com/ROCm/aiter/pull/4521" in waiver.upstream
    assert waiver.mentions("kimik3-fp4-mi355x-vllm-agentic-mtp")
    assert not waiver.mentions("dsv4-fp4-mi355x-vllm")
