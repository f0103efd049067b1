"""The recipes of a review as the faces show them: side by side, with what to link and what to write upstream."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from reviewer_tui.checks.check import Evidence
from reviewer_tui.checks.registry import run_checks
from reviewer_tui.cli.panes import upstream_text
from reviewer_tui.model.finding import Status
from reviewer_tui.recipes.write import UpstreamChange
from reviewer_tui.review.desks import sample_review
from reviewer_tui.review.recipes import Unwritten, examination_of, recipe_view, upstream_changes
from reviewer_tui.review.session import Review
from reviewer_tui.sample import MOMENTS
from tests.checks.documented import (
    KEY,
    QWEN_LINK,
    TEP2,
    TP2,
    TP4,
    VLLM,
    at_hand,
    documented,
    entry,
    files,
    link,
    pull,
    script_path,
    serve,
    sign_off,
    spread,
    worked_example,
)
from tests.recipes.upstreams import BIG_RECIPE


def review_of(evidence: Evidence) -> Review:
    return Review(
        snapshot=evidence.snapshot,
        trees=evidence.trees,
        policy=evidence.policy,
        changes=evidence.changes,
        results=run_checks(evidence),
        review_date=evidence.review_date,
        signer=evidence.signer,
        sign_off=evidence.sign_off_text,
    )


def linked(**told: Any) -> Review:
    facts: dict[str, Any] = {"text": sign_off(link()), "pulls": [pull()], "upstream_trees": at_hand(), **told}
    return review_of(worked_example(**facts))


def test_the_worked_example_side_by_side() -> None:
    view = recipe_view(linked())
    assert view.status is Status.PASS
    assert [(v.label, v.submitted, v.status.value, v.against) for v in view.variants] == [
        ("8k1k tp2 ep2 mtp", True, "pass", "linked"),
        ("8k1k tp4 mtp", False, "fail", "linked"),
        ("8k1k tp2 mtp", False, "fail", "linked"),
    ]
    first, tp4, tp2 = view.variants
    assert first.place.startswith("docs/src/snippets/autoregressive/qwen35-deployment.jsx:")
    assert (first.url, first.line, first.path) == (QWEN_LINK, 2, script_path())
    by_flag = {row.flag: row for row in first.arguments}
    assert (by_flag["--speculative-algorithm"].weight, by_flag["--speculative-algorithm"].theirs) == ("same", "NEXTN")
    assert "NEXTN" in by_flag["--speculative-algorithm"].why
    assert by_flag["--enable-symm-mem"].weight == "aside"
    assert "--port" not in by_flag
    assert [row.title for row in tp4.arguments if row.weight == "fails"] == ["speculative method"]
    assert [row.title for row in tp2.arguments if row.weight == "fails"] == ["expert parallel"]
    for variant in view.variants:
        weights = [row.weight for row in variant.arguments]
        order = ["fails", "unknown", "weigh", "aside", "same"]
        assert weights == sorted(weights, key=order.index)
    assert "sglang serve" in first.command
    assert [(told.pull.number, told.age, told.linked) for told in view.pulls] == [
        (34357, "2026-08-11, a day ago", True)
    ]


@pytest.mark.parametrize(
    ("fields", "age"),
    [
        ({"merged_at": "2026-08-12T01:00:00Z"}, "2026-08-12, today"),
        ({"merged_at": "2026-08-14T01:00:00Z"}, "2026-08-14, after this review"),
        ({"state": "open", "merged_at": None, "opened_at": "2026-08-02T00:00:00Z"}, "opened 2026-08-02, 10 days ago"),
        ({"state": "open", "merged_at": None}, ""),
        ({"merged_at": "some day"}, ""),
    ],
)
def test_the_age_of_a_pull_request(fields: dict[str, Any], age: str) -> None:
    (told,) = recipe_view(linked(pulls=[pull(**fields)])).pulls
    assert told.age == age


def test_without_a_link_it_is_held_against_what_could_be_linked() -> None:
    view = recipe_view(linked(text=sign_off()))
    assert {variant.against for variant in view.variants if variant.submitted} == {"proposed"}
    assert [page.url for page in view.proposals] == [QWEN_LINK]
    assert view.proposals[0].covers == (f"{KEY} 8k1k tp2 ep2 mtp",)
    assert view.links == ()
    assert any("#34357" in note for note in view.notes)


def test_without_pages_our_commands_are_shown_alone() -> None:
    view = recipe_view(linked(upstream_trees={}))
    assert {(variant.against, variant.arguments) for variant in view.variants} == {("nothing", ())}
    assert all("--kv-cache-dtype fp8_e4m3" in variant.command for variant in view.variants)


def test_keys_without_a_recipe_are_told() -> None:
    view = recipe_view(review_of(documented(files(""), files(spread("a-disagg")))))
    assert view.exempt == ("a-disagg: several nodes are not asked for a recipe.",)
    assert view.variants == ()


def test_it_becomes_json() -> None:
    told = msgspec.json.decode(msgspec.json.encode(recipe_view(linked())))
    assert told["variants"][0]["arguments"][0].keys() >= {"ours", "theirs", "outcome", "weight", "group", "flag"}
    assert told["pulls"][0]["pull"]["merged_at"] == "2026-08-11T20:00:00Z"


def test_marking_an_item_does_not_look_again() -> None:
    review = linked()
    assert examination_of(review.marked("1", review.notes.mark("1").decision)) is examination_of(review)
    assert examination_of(linked()) is not examination_of(review)


# -- what to write ----------------------------------------------------------------------------------------------------


def test_nothing_is_written_for_what_is_documented() -> None:
    assert upstream_changes(linked()) == ()


def test_a_cookbook_command_is_written_for_an_arm_without_one() -> None:
    evidence = documented(
        files(entry(KEY, TP4)),
        files(entry(KEY, TP4, TP2)),
        text=sign_off(QWEN_LINK),
        upstream_trees=at_hand(),
    )
    (change,) = upstream_changes(review_of(evidence))
    assert isinstance(change, UpstreamChange)
    assert (change.kind, change.covers) == ("command", True)
    assert "--tensor-parallel-size 2" in change.text
    assert "--expert-parallel-size" not in change.text, "1 is the default"
    assert "SGLANG_ENABLE_SPEC_V2" not in change.text, "the engine of this image ignores it"
    assert "the nearest choice is " in change.remarks[0]


def test_a_recipe_fragment_is_written_for_vllm() -> None:
    script = (
        'vllm serve "$MODEL" --tensor-parallel-size "$TP" --quantization modelopt_fp4 '
        "--moe-backend flashinfer_trtllm --kv-cache-dtype auto\n"
    )
    master = entry(
        "big-fp4-b200-vllm", "{ tp: 8, conc-list: [4] }", model="acme/Big-NVFP4", prefix="big", framework="vllm"
    )
    head = files(master, {script_path("big_fp4_b200", ""): script})
    trees = at_hand("vllm", VLLM)
    evidence = documented(files(""), head, text=sign_off("https://recipes.vllm.ai/acme/Big"), upstream_trees=trees)
    review = review_of(evidence)
    assert recipe_view(review).status is Status.FAIL
    (change,) = upstream_changes(review)
    assert isinstance(change, UpstreamChange)
    assert (change.repository, change.path, change.kind) == (VLLM, BIG_RECIPE, "yaml_fragment")
    assert "b200: 8" in change.text


def test_what_cannot_be_written_says_why() -> None:
    (change,) = upstream_changes(linked(upstream_trees={}))
    assert isinstance(change, Unwritten)
    assert "not at hand" in change.reason
    other = entry("new-fp4-b200-sglang", TEP2, model="acme/Unheard", prefix="new")
    head = files(other, {script_path("new_fp4_b200"): serve()})
    (change,) = upstream_changes(
        review_of(documented(files(""), head, text=sign_off(), upstream_trees=at_hand("after")))
    )
    assert isinstance(change, Unwritten)
    assert "no page of this model" in change.reason


def test_arms_that_were_not_looked_at_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    head = files(entry(KEY, TP4) + entry("another-fp4-b200-sglang", TP2, prefix="another"))
    del head[script_path("qwen3.5_fp4_b200")]
    review = review_of(documented(files(""), head, text=sign_off(), upstream_trees=at_hand()))
    changes = upstream_changes(review)
    assert {change.title for change in changes if isinstance(change, Unwritten)} == {
        f"{KEY} 8k1k tp4 mtp",
        "another-fp4-b200-sglang 8k1k tp2 mtp",
    }
    monkeypatch.setattr("reviewer_tui.checks.recipe_examination.MOST_KEYS", 1)
    again = review_of(documented(files(""), head, text=sign_off(), upstream_trees=at_hand()))
    assert [change.title for change in upstream_changes(again)][-1] == "1 further keys"
    assert "Every submitted arm is documented" not in "\n".join(upstream_text(again, 100))


def test_the_sample_shows_the_worked_example() -> None:
    first, second = (recipe_view(sample_review(moment)) for moment in MOMENTS)
    assert (first.status, second.status) == (Status.FAIL, Status.PASS)
    assert [(v.label, v.submitted, v.status.value) for v in second.variants] == [
        ("8k1k tp2 ep2 mtp", True, "pass"),
        ("8k1k tp4 mtp", False, "fail"),
        ("8k1k tp2 mtp", False, "fail"),
    ]
    assert {variant.against for variant in first.variants} == {"nothing"}
