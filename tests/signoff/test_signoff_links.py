"""Links are found whole, classified, and told apart from the template's own."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.model.checklist import ChecklistTemplate
from reviewer_tui.policy.checklist import bundled_templates
from reviewer_tui.signoff.links import Link, LinkKind, Target, classify, find_urls, in_detail, links_of
from reviewer_tui.signoff.match import match_boxes
from reviewer_tui.signoff.parse import parse_sign_off
from tests.signoff.texts import RECIPE, RUN, newest, signed, version

HOME = "https://github.com/SemiAnalysisAI/InferenceX"


def links(text: str) -> tuple[Link, ...]:
    sign_off = parse_sign_off(text)
    return links_of(text, sign_off, match_boxes(sign_off, newest()), newest())


@pytest.mark.parametrize(
    ("text", "url", "shown"),
    [
        ("[Link](https://a.b/c)", "https://a.b/c", "Link"),
        ('[Link](https://a.b/c "title")', "https://a.b/c", "Link"),
        ("[Link]( <https://a.b/c> )", "https://a.b/c", "Link"),
        ("[Link](https://a.b/c_(d))", "https://a.b/c_(d)", "Link"),
        ("see https://a.b/c.", "https://a.b/c", ""),
        ("see https://a.b/c, and", "https://a.b/c", ""),
        ("(see https://a.b/c)", "https://a.b/c", ""),
        ("https://a.b/c_(d)", "https://a.b/c_(d)", ""),
        ("https://a.b/c?x=1&y=2#z!", "https://a.b/c?x=1&y=2#z", ""),
        ("<https://a.b/c>", "https://a.b/c", ""),
        ("`https://a.b/c`", "https://a.b/c", ""),
        ("**https://a.b/c**", "https://a.b/c", ""),
        ("链接https://a.b/c，谢谢", "https://a.b/c", ""),
        ("链接：https://a.b/c。", "https://a.b/c", ""),
        ("HTTPS://A.b/C", "HTTPS://A.b/C", ""),
        ("github.com/vllm-project/recipes/pull/645", "https://github.com/vllm-project/recipes/pull/645", ""),
        ("vllm-project/recipes#645.", "https://github.com/vllm-project/recipes/pull/645", ""),
        ("docs/waiver/2508.md", "docs/waiver/2508.md", ""),
        ("[waiver](inferencex-e2e/docs/waiver/2508.md)", "inferencex-e2e/docs/waiver/2508.md", "waiver"),
    ],
)
def test_urls_are_found_whole(text: str, url: str, shown: str) -> None:
    (found,) = find_urls(f"\n{text}")
    assert (found.url, found.text, found.line) == (url, shown, 2)


@pytest.mark.parametrize(
    "text", ["", "http:/a.b", "[x](y)", "configs/a.yaml#12", "me@github.com", "somebody/recipes#1"]
)
def test_what_is_no_url(text: str) -> None:
    assert find_urls(text) == ()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (RUN, {"kind": "run", "repository": "SemiAnalysisAI/InferenceX", "run_ids": (31628689774,)}),
        (f"{RUN}/?pr=2550", {"kind": "run", "run_ids": (31628689774,)}),
        (f"{RUN}/attempts/2?pr=1", {"kind": "run", "attempt": 2}),
        (f"{RUN}/job/77#step:3:1", {"kind": "run", "job_id": 77}),
        (f"{RUN}/attempts/2/jobs/77", {"kind": "run", "attempt": 2, "job_id": 77}),
        (f"{HOME}/runs/77?check_suite_focus=true", {"kind": "check_run", "job_id": 77}),
        ("https://x.dev/inference?unofficialRun=12", {"kind": "dashboard", "run_ids": (12,), "path": "/inference"}),
        ("https://x.dev/evaluation?a=b&unofficialRun=12,13", {"kind": "dashboard", "run_ids": (12, 13)}),
        (RECIPE, {"kind": "upstream_pull_request", "repository": "sgl-project/sglang", "number": 34357}),
        (f"{RECIPE}/files#diff-1", {"kind": "upstream_pull_request", "number": 34357}),
        ("https://github.com/vllm-project/Recipes/pull/645", {"kind": "upstream_pull_request", "number": 645}),
        (f"{RECIPE}#issuecomment-5", {"kind": "upstream_pull_request", "comment": "issuecomment-5"}),
        (f"{HOME}/pull/2550", {"kind": "pull_request", "number": 2550}),
        (f"{HOME}/pull/2550/changes", {"kind": "pull_request", "number": 2550}),
        (f"{HOME}/pull/2550#issuecomment-77", {"kind": "comment", "number": 2550, "comment": "issuecomment-77"}),
        (f"{HOME}/pull/2550#discussion_r77", {"kind": "comment", "comment": "discussion_r77"}),
        (
            "https://recipes.vllm.ai/deepseek-ai/DeepSeek-V4-Pro?hardware=b200&variant=nvfp4",
            {
                "kind": "recipe_page",
                "page": "deepseek-ai/DeepSeek-V4-Pro",
                "query": {"hardware": "b200", "variant": "nvfp4"},
            },
        ),
        (
            "https://docs.sglang.io/cookbook/autoregressive/Qwen/Qwen3.5",
            {"kind": "recipe_page", "page": "autoregressive/Qwen/Qwen3.5"},
        ),
        ("https://docs.sglang.io/cookbook/autoregressive/Qwen/Qwen3.5.md", {"page": "autoregressive/Qwen/Qwen3.5"}),
        ("https://recipes.vllm.ai/", {"kind": "recipe_root"}),
        ("https://recipes.vllm.ai/browse/all", {"kind": "recipe_root"}),
        ("https://recipes.vllm.ai/Qwen", {"kind": "recipe_root"}),
        ("https://docs.sglang.io/cookbook/intro", {"kind": "recipe_root"}),
        ("https://docs.sglang.io/", {"kind": "recipe_root"}),
        ("https://github.com/vllm-project/recipes", {"kind": "recipe_root"}),
        ("https://github.com/sgl-project/sglang/tree/main/docs_new", {"kind": "recipe_root"}),
        ("https://github.com/sgl-project/sglang/tree/main/docs/cookbook/", {"kind": "recipe_root"}),
        ("https://cookbook.sglang.io/docs/x", {"kind": "legacy_recipe"}),
        ("https://docs.sglang.io/basic_usage/qwen3_5.html", {"kind": "legacy_recipe"}),
        ("https://docs.vllm.ai/projects/recipes/en/latest/moonshotai/Kimi-K2.5.html", {"kind": "legacy_recipe"}),
        ("https://github.com/sgl-project/sgl-cookbook/pull/247", {"kind": "legacy_recipe", "path": "pull/247"}),
        ("https://github.com/sgl-project/sgl-cookbook/blob/main/a.md", {"kind": "legacy_recipe"}),
        (
            "https://github.com/vllm-project/recipes/blob/main/models/Qwen/Qwen3.5-397B-A17B.yaml",
            {"kind": "upstream_file", "revision": "main", "path": "models/Qwen/Qwen3.5-397B-A17B.yaml"},
        ),
        ("https://github.com/sgl-project/sglang/commit/00c17caf", {"kind": "upstream_file", "revision": "00c17caf"}),
        ("https://github.com/sgl-project/sglang/tree/my-branch", {"kind": "upstream_file", "revision": "my-branch"}),
        (
            "https://raw.githubusercontent.com/vllm-project/recipes/main/models/a.yaml",
            {"kind": "upstream_file", "path": "models/a.yaml"},
        ),
        (f"{HOME}/blob/main/docs/waiver/2508.md", {"kind": "waiver", "number": 2508, "revision": "main"}),
        (f"{HOME}/blob/abc/inferencex-e2e/docs/waiver/2508_zh.md#why", {"kind": "waiver", "number": 2508}),
        ("docs/waiver/2508.md", {"kind": "waiver", "number": 2508, "repository": None}),
        (f"{HOME}/edit/main/docs/PR_REVIEW_CHECKLIST.md", {"kind": "checklist"}),
        (f"{HOME}/blob/main/inferencex-e2e/docs/PR_REVIEW_CHECKLIST.md", {"kind": "checklist"}),
        (f"{HOME}/blob/main/MODELS.md", {"kind": "file", "path": "MODELS.md"}),
        ("https://github.com/someone/fork/blob/main/MODELS.md", {"kind": "other"}),
        ("https://github.com/SemiAnalysisAI", {"kind": "other"}),
        ("https://github.com.evil.example/SemiAnalysisAI/InferenceX/actions/runs/1", {"kind": "other"}),
        ("https://evil.example/https://github.com/sgl-project/sglang/pull/1", {"kind": "other"}),
        ("https://[broken", {"kind": "other"}),
    ],
)
def test_what_a_link_points_to(url: str, expected: dict[str, object]) -> None:
    target = msgspec.structs.asdict(classify(url))
    assert {key: target[key] for key in expected} == expected


def test_another_host() -> None:
    run = "https://github.example.org/Owner/Name/actions/runs/7"
    assert classify(run).kind is LinkKind.OTHER
    assert classify(run, "Owner/Name", "github.example.org").kind is LinkKind.RUN


@pytest.mark.parametrize("template", bundled_templates(), ids=lambda t: str(t.version))
def test_all_links_of_a_bare_template_are_its_own(template: ChecklistTemplate) -> None:
    sign_off = parse_sign_off(template.text)
    found = links_of(template.text, sign_off, match_boxes(sign_off, template), template)
    assert found
    assert all(link.own for link in found)
    assert not {link.kind for link in found} & {LinkKind.RUN, LinkKind.RECIPE_PAGE, LinkKind.UPSTREAM_PULL_REQUEST}


def test_places_of_links() -> None:
    text = (
        f"See {HOME}/pull/1\n"
        + signed(detail=f"Recipe: {RECIPE}\nRoot: https://recipes.vllm.ai\n> https://quoted.example")
        + "\n"
        + RUN
    )
    mine = [(link.place, link.kind.value) for link in links(text) if not link.own]
    assert mine == [
        ("text", "pull_request"),
        ("3", "run"),
        ("4", "run"),
        ("detail", "upstream_pull_request"),
        ("text", "run"),
    ]
    root = in_detail(links(text))[1]
    assert (root.own, root.kind) == (True, LinkKind.RECIPE_ROOT)


def test_links_in_a_detail_section_without_heading_and_before_the_boxes() -> None:
    without = signed().replace("### Additional detail section:\n", "")
    assert [link.target.url for link in in_detail(links(without))] == [RECIPE]
    before = f"### Additional detail section:\n{RECIPE}\n\n{signed().partition('### Additional')[0]}\nSigned: me"
    assert [link.target.url for link in in_detail(links(before))] == [RECIPE]


def test_links_in_hidden_comments_do_not_count() -> None:
    assert in_detail(links(signed(detail=f"<!-- {RECIPE} -->"))) == ()


def test_links_of_another_layout_are_not_the_templates_own() -> None:
    text = version(22).text
    moved = [link for link in links(text) if link.kind is LinkKind.CHECKLIST]
    assert [link.own for link in moved] == [False]


@given(st.text(max_size=80))
@settings(max_examples=100, deadline=None)
def test_any_text_can_be_searched(text: str) -> None:
    for found in find_urls(f"{text} https://github.com/{text} [a](https://b/{text})"):
        assert isinstance(classify(found.url), Target)


def test_hostile_lines_take_bounded_time() -> None:
    assert len(find_urls("https://a.b/c " * 20_000)) == 2_000
    find_urls("[" * 60_000 + "](" * 30_000 + "https://" * 20_000 + "a/" * 60_000)
