"""The coverage table: rows of keys against the page that suits them best, and the totals."""

from __future__ import annotations

from typing import Any

from reviewer_tui.checks.recipe_coverage import KeyCoverage, best_pages, coverage_of, key_coverage, totals
from reviewer_tui.checks.recipe_variants import Unread
from reviewer_tui.model.errors import DataError
from reviewer_tui.model.finding import Status
from reviewer_tui.model.tree import DictTree, Tree
from reviewer_tui.policy.policy import load_policy
from reviewer_tui.recipes.arm import Engine
from reviewer_tui.recipes.submitted import Variant
from tests.checks.documented import (
    CHECKLIST,
    CHECKLIST_FILE,
    KEY,
    PROMPT,
    SGLANG,
    SUMMER_CHECK,
    TEP2,
    TP4,
    VLLM,
    entry,
    files,
    spread,
)
from tests.evidence import VERIFIER
from tests.recipes.upstreams import BIG_RECIPE, QWEN_PAGE, QWEN_WIDGET, qwen, upstream, variant

TREES: dict[Engine, Tree] = {"sglang": upstream("after"), "vllm": upstream("vllm")}


def big(args: dict[str, Any], **fields: Any) -> Variant:
    return variant(args, "vllm", fields.pop("checkpoint", "acme/Big-NVFP4"), **fields)


def row(*variants: Variant, trees: dict[Engine, Tree] | None = None) -> KeyCoverage:
    at_hand = TREES if trees is None else trees
    (page,) = best_pages(variants, at_hand, "summer").values()
    return key_coverage(variants, page, at_hand)


def test_rows_count_pages_shapes_and_whole_keys() -> None:
    rows = [
        row(qwen(2, 2), qwen(4, 1)),
        row(big({"--tensor-parallel-size": 4, "--kv-cache-dtype": "fp8", "--moe-backend": "flashinfer_trtllm"})),
        row(big({"-tp": 8}, checkpoint="acme/Big-FP8", hardware="mi355x", key="amd")),
        row(variant({"--tp": 8}, checkpoint="acme/Unheard", key="other")),
    ]
    told = [
        (row.key, row.page, row.has_hardware, row.has_checkpoint, row.arms, row.shapes, row.covered) for row in rows
    ]
    assert told == [
        (KEY, QWEN_PAGE, True, True, 2, 1, 1),
        ("big-fp4", BIG_RECIPE, True, True, 1, 1, 1),
        ("amd", BIG_RECIPE, False, False, 1, 0, 0),
        ("other", "", False, False, 1, 0, 0),
    ]
    assert [row.status for row in rows] == [Status.FAIL, Status.PASS, Status.FAIL, Status.FAIL]
    assert any("--speculative-algorithm" in gap for gap in rows[0].gaps)
    assert rows[3].gaps == ("No upstream page is about acme/Unheard.",)
    counted = totals(rows)
    assert (counted.keys, counted.with_page, counted.with_hardware, counted.with_checkpoint) == (4, 3, 2, 2)
    assert (counted.with_shape, counted.whole, counted.unverified) == (2, 1, 0)
    assert (counted.arms, counted.shapes, counted.covered) == (5, 2, 2)


def test_a_repository_that_is_not_at_hand_has_no_say() -> None:
    only_vllm: dict[Engine, Tree] = {"vllm": TREES["vllm"]}
    told = row(qwen(2, 2), trees=only_vllm)
    assert (told.status, told.page, told.gaps) == (Status.UNVERIFIED, "", ())
    assert "sgl-project/sglang are not at hand" in told.doubts[0]
    assert "--sglang-clone" in told.doubts[0]


def test_what_cannot_be_read_verifies_nothing() -> None:
    broken = DictTree({QWEN_PAGE: upstream("after").read(QWEN_PAGE) or b"", QWEN_WIDGET: b"export const = ;"})
    told = row(qwen(2, 2), trees={"sglang": broken})
    assert told.status is Status.UNVERIFIED
    assert QWEN_WIDGET in told.doubts[0]
    (page,) = best_pages([qwen(2, 2)], TREES, "summer").values()
    unread = Unread(key=KEY, label="tp8", reason="its script is not there.", path="m.yaml", line=1)
    told = key_coverage([qwen(2, 2)], page, TREES, [unread])
    assert (told.status, told.covered, told.doubts) == (Status.UNVERIFIED, 1, ("tp8: its script is not there.",))
    told = key_coverage([qwen(2, 2)], DataError("The pages cannot be listed."), TREES)
    assert (told.status, told.doubts) == (Status.UNVERIFIED, ("The pages cannot be listed.",))


REVISION = DictTree(
    {
        **files(entry(KEY, TP4, TEP2) + entry("other-fp4-b200-sglang", TP4, prefix="other") + spread("a-disagg")),
        PROMPT: SUMMER_CHECK + VERIFIER,
        CHECKLIST_FILE: CHECKLIST,
    },
    revision="r" * 40,
)


def test_a_revision_is_held_against_what_is_at_hand() -> None:
    found = coverage_of(REVISION, load_policy(REVISION), {SGLANG: upstream("after")})
    assert [(row.key, row.arms, row.covered, row.status) for row in found.keys] == [
        (KEY, 2, 1, Status.FAIL),
        ("other-fp4-b200-sglang", 0, 0, Status.UNVERIFIED),
    ]
    assert found.keys[1].doubts[0].startswith("8k1k tp4 mtp: this repository does not hold ")
    assert list(found.exempt) == ["a-disagg"]
    assert [(told.repository, told.commit) for told in found.upstream] == [(VLLM, None), (SGLANG, "after")]
    assert "--recipes-clone" in found.upstream[0].reason
    assert found.totals.keys == 2
    assert [row.key for row in coverage_of(REVISION, load_policy(REVISION), {}, [KEY]).keys] == [KEY]
