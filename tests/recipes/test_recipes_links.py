from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.model.finding import Status
from reviewer_tui.model.recipe import UpstreamPullRequest
from reviewer_tui.model.tree import DictTree
from reviewer_tui.recipes.links import (
    judge,
    judge_page,
    judge_pull_request,
    moved_page,
    page_file,
    page_of_file,
    recipe_files,
)
from tests.recipes.upstreams import BIG_PAGE, upstream

PULLS = [
    "https://github.com/vllm-project/recipes/pull/645",
    "http://www.github.com/vllm-project/recipes/pull/645/files#diff-1",
    "https://github.com/vllm-project/recipes/pull/645.diff",
    "<https://github.com/vllm-project/recipes/pull/645>.",
    "https://api.github.com/repos/vllm-project/recipes/pulls/645",
    "https://github.com/VLLM-project/Recipes/pull/645#issuecomment-1",
    "vllm-project/recipes#645",
]


@pytest.mark.parametrize("url", PULLS)
def test_every_form_of_a_recipe_pull_request_needs_its_state(url: str) -> None:
    link = judge(url)
    assert (link.form, link.standing) == ("pull_request", "needs_state")
    assert (link.engine, link.repository, link.number) == ("vllm", "vllm-project/recipes", 645)


@pytest.mark.parametrize(
    ("url", "engine", "page", "query"),
    [
        ("https://recipes.vllm.ai/moonshotai/Kimi-K3", "vllm", "moonshotai/Kimi-K3", {}),
        (
            "https://recipes.vllm.ai/a/B?hardware=b200&features=x,y&variant=",
            "vllm",
            "a/B",
            {"hardware": "b200", "features": "x,y"},
        ),
        ("recipes.vllm.ai/a/B.json", "vllm", "a/B", {}),
        (
            "https://docs.sglang.io/cookbook/autoregressive/Qwen/Qwen3.5#tips",
            "sglang",
            "autoregressive/Qwen/Qwen3.5",
            {},
        ),
        ("https://docs.sglang.io/cookbook/autoregressive/Qwen/Qwen3.5.md", "sglang", "autoregressive/Qwen/Qwen3.5", {}),
    ],
)
def test_published_pages_need_their_state(url: str, engine: str, page: str, query: dict[str, str]) -> None:
    link = judge(url)
    assert (link.form, link.standing, link.engine, link.page, link.query) == (
        "page",
        "needs_state",
        engine,
        page,
        query,
    )


def test_a_page_is_looked_for_in_both_layouts() -> None:
    assert judge("https://docs.sglang.io/cookbook/a/B/C").files == (
        "docs/cookbook/a/B/C.mdx",
        "docs/cookbook/a/B/C.md",
        "docs_new/cookbook/a/B/C.mdx",
        "docs_new/cookbook/a/B/C.md",
    )


@pytest.mark.parametrize(
    ("url", "form", "reason"),
    [
        ("https://recipes.vllm.ai/", "root", "title page"),
        ("https://recipes.vllm.ai/browse", "root", "title page"),
        ("https://recipes.vllm.ai/models.json", "root", "title page"),
        ("https://docs.sglang.io/cookbook/intro", "root", "introduction"),
        ("https://docs.sglang.io/cookbook", "root", "introduction"),
        ("https://docs.sglang.io/", "other", "not a page of the cookbook"),
        ("https://github.com/vllm-project/recipes", "root", "front page"),
        ("https://github.com/sgl-project/sglang/tree/main", "branch", "branch"),
        ("https://github.com/sgl-project/sglang/commit/0a1b2c", "commit", "commit"),
        ("https://github.com/sgl-project/sglang/compare/a...b", "commit", "commit"),
        ("https://github.com/sgl-project/sglang/issues/7", "other", "front page"),
        ("https://raw.githubusercontent.com/vllm-project/recipes/main/models/a/B.yaml", "file", "revision"),
        ("https://github.com/SemiAnalysisAI/InferenceX/pull/2550", "inferencex", "InferenceX"),
        ("https://github.com/vllm-project/vllm/pull/1", "engine_pull_request", "engine"),
        ("https://github.com/someone/fork/pull/1", "engine_pull_request", "not a recipe"),
        ("https://github.com/sgl-project/sgl-cookbook/pull/263", "legacy_repository", "retired"),
        ("https://docs.vllm.ai/en/latest/serving.html", "other", "documentation"),
        ("https://docs.vllm.ai/projects/recipes/", "root", "earlier recipe site"),
        ("https://docs.sglang.io@evil.example/cookbook/a/b/c", "other", "plain address"),
        ("https://docs.sglang.io.evil.example/cookbook/a/b/c", "other", "not a recipe site"),
        ("ftp://recipes.vllm.ai/a/B", "other", "plain address"),
        ("https://recipes.vllm.ai:8443/a/B", "other", "plain address"),
        ("http://[bad", "other", "no address"),
        ("", "other", "not a recipe site"),
        ("https://github.com/vllm-project/recipes/pull/0", "other", "front page"),
    ],
)
def test_what_does_not_count_says_why(url: str, form: str, reason: str) -> None:
    link = judge(url)
    assert (link.form, link.standing) == (form, "rejected")
    assert reason in link.reason


@pytest.mark.parametrize(
    ("url", "offer"),
    [
        (
            "https://github.com/sgl-project/sglang/blob/main/docs_new/cookbook/autoregressive/Qwen/Qwen3.5.mdx",
            "https://docs.sglang.io/cookbook/autoregressive/Qwen/Qwen3.5",
        ),
        ("https://github.com/vllm-project/recipes/blob/main/models/a/B.yaml", "https://recipes.vllm.ai/a/B"),
        (
            "https://cookbook.sglang.io/autoregressive/Qwen/Qwen3.5",
            "https://docs.sglang.io/cookbook/autoregressive/Qwen/Qwen3.5",
        ),
        (
            "https://cookbook.sglang.io/cookbook/autoregressive/Qwen/Qwen3.5.html",
            "https://docs.sglang.io/cookbook/autoregressive/Qwen/Qwen3.5",
        ),
        (
            "https://docs.vllm.ai/projects/recipes/en/latest/moonshotai/Kimi-K2.5.html",
            "https://recipes.vllm.ai/moonshotai/Kimi-K2.5",
        ),
        (
            "https://github.com/sgl-project/sgl-cookbook/blob/main/docs/autoregressive/Qwen/Qwen3.5.md",
            "https://docs.sglang.io/cookbook/autoregressive/Qwen/Qwen3.5",
        ),
        ("https://github.com/sgl-project/sglang/blob/main/README.md", None),
        ("https://cookbook.sglang.io/", None),
    ],
)
def test_the_page_to_use_instead_is_offered(url: str, offer: str | None) -> None:
    link = judge(url)
    assert link.standing == "rejected"
    assert link.offer == offer


@settings(max_examples=200, deadline=None)
@given(
    st.text(max_size=60)
    | st.builds(
        lambda host, path: f"https://{host}/{path}",
        st.sampled_from(["github.com", "recipes.vllm.ai", "docs.sglang.io", "docs.vllm.ai", "cookbook.sglang.io"]),
        st.text("/.%abP#?&=0-é\x00", max_size=40),
    )
)
def test_no_text_crashes_the_judgement(url: str) -> None:
    link = judge(url)
    assert link.standing in ("needs_state", "rejected")
    assert link.reason
    assert all(".." not in path.split("/") for path in link.files)


# -- with what upstream says ------------------------------------------------------------------------------------------


def pull(state: str = "merged", files: tuple[str, ...] = ("models/a/B.yaml",), **fields: str) -> UpstreamPullRequest:
    merged_at = "2026-08-12T00:00:00Z" if state == "merged" else None
    told = {"merged_at": merged_at, "base_ref": "main", **fields}
    return UpstreamPullRequest(
        repository="vllm-project/recipes", number=645, title="t", state=state, url="u", files=files, **told
    )  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("upstream_pull", "status", "sentence"),
    [
        (pull(), Status.PASS, "was merged on 2026-08-12 and documents a/B"),
        (pull(files=("strategies/x.yaml",)), Status.PASS, "changes strategies/x.yaml"),
        (pull("open"), Status.FAIL, "still open"),
        (pull("draft"), Status.FAIL, "still a draft"),
        (pull("closed"), Status.FAIL, "without being merged"),
        (pull(merged_at=""), Status.FAIL, "without a date"),
        (pull(base_ref="release"), Status.FAIL, "into release"),
        (pull(files=("README.md", "src/app.js")), Status.FAIL, "not a recipe pull request"),
        (pull(files=()), Status.UNVERIFIED, "could not be read"),
        (None, Status.UNVERIFIED, "could not be read"),
    ],
)
def test_a_pull_request_counts_once_it_is_merged_and_touches_recipes(
    upstream_pull: UpstreamPullRequest | None, status: Status, sentence: str
) -> None:
    judged = judge_pull_request(judge(PULLS[0]), upstream_pull)
    assert judged.status is status
    assert sentence in judged.sentence


def test_recipe_files_of_both_repositories() -> None:
    cookbook = ("docs/cookbook/a/B.mdx", "docs_new/src/snippets/configs/a/b.jsx", "docs/index.mdx", "python/x.py")
    assert recipe_files("sgl-project/sglang", cookbook) == cookbook[:2]
    assert recipe_files("vllm-project/recipes", ("models/a/B.yaml", "models/a/B.md", "x/models/a/B.yaml")) == (
        "models/a/B.yaml",
    )
    assert recipe_files("someone/else", ("models/a/B.yaml",)) == ()
    assert page_of_file("sgl-project/sglang", "docs/src/x.jsx") is None


def test_a_page_must_be_on_main() -> None:
    link = judge("https://docs.sglang.io/cookbook/autoregressive/Acme/Big")
    published = judge_page(link, upstream("cells"))
    assert (published.status, page_file(link, upstream("cells"))) == (Status.PASS, BIG_PAGE)
    assert judge_page(link, None).status is Status.UNVERIFIED
    assert judge_page(link, DictTree({})).status is Status.FAIL
    assert judge_page(judge("https://docs.sglang.io/cookbook/intro"), upstream("cells")).status is Status.FAIL


def test_a_page_that_moved_is_offered() -> None:
    tree = DictTree({"docs/cookbook/autoregressive/Meta/Llama3.mdx": "", "docs/docs.json": "{}"})
    link = judge("https://docs.sglang.io/cookbook/autoregressive/Llama/llama3")
    judged = judge_page(link, tree)
    assert judged.status is Status.FAIL
    assert judged.offer == "https://docs.sglang.io/cookbook/autoregressive/Meta/Llama3" == moved_page(link, tree)


def test_redirects_of_the_site_are_followed() -> None:
    rows = [
        {"source": "/basic_usage/big.html", "destination": "/cookbook/autoregressive/Acme/Big"},
        {"source": "/elsewhere", "destination": "/other"},
        {"source": 3},
        "text",
    ]
    tree = DictTree({"docs/docs.json": json.dumps({"redirects": rows})})
    judged = judge_page(judge("https://docs.sglang.io/basic_usage/Big"), tree)
    assert judged.offer == "https://docs.sglang.io/cookbook/autoregressive/Acme/Big"
    assert judge_page(judge("https://docs.sglang.io/elsewhere"), tree).offer is None
    assert judge_page(judge("https://docs.sglang.io/x"), DictTree({"docs/docs.json": "[" * 9000})).offer is None


def test_the_address_of_a_variant_leads_to_its_recipe() -> None:
    link = judge("https://recipes.vllm.ai/acme/Big-NVFP4")
    judged = judge_page(link, upstream("vllm"))
    assert judged.status is Status.PASS
    assert "variant of acme/Big" in judged.sentence
    assert page_file(link, upstream("vllm")) == "models/acme/Big.yaml"
