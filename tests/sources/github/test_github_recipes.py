"""The pages behind recipe links from GitHub: what is asked for, what is kept, what is said where they cannot be had."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer_tui.model.tree import Tree
from reviewer_tui.recipes.links import judge
from reviewer_tui.review.load import Reviewer, ReviewRequest
from reviewer_tui.sources.cached import CacheSource
from reviewer_tui.sources.github.loader import GitHubSource
from reviewer_tui.sources.github.recipes import MOST_REVISIONS, recipe_links, wanted_revisions
from reviewer_tui.sources.recipe_clones import RecipeClone, WithRecipeClones
from reviewer_tui.sources.stored import NotCachedError
from tests.checks.documented import BIG_LINK, BIG_VLLM_LINK, QWEN_LINK, SGLANG, VLLM, pull
from tests.fake_github import merged
from tests.fake_github.plain import REPOSITORY, result_row
from tests.fake_github.world import Event, Pull
from tests.gitrepo import GitRepo
from tests.recipes.upstreams import BIG_RECIPE, QWEN_PAGE, QWEN_WIDGET, upstream
from tests.sources.github.conftest import Rig

OTHER_PAGE = "docs/cookbook/autoregressive/Other/Other.mdx"
ENGINE = "python/sglang/srt/server_args.py"


def files_of(name: str, *paths: str) -> dict[str, bytes | str | None]:
    tree = upstream(name)
    return {path: tree.read(path) for path in paths or tree.list("")}


def cookbook(rig: Rig, folder: Path, *changed: str) -> str:
    """A cookbook whose pull request 34357 is merged and changed these files; the merge commit."""
    git = GitRepo(folder / "sglang.git")
    common: dict[str, bytes | str | None] = {ENGINE: "ARGS = 1\n", OTHER_PAGE: "# Other\n", "docs/docs.json": "{}"}
    base = git.commit({**files_of("before"), **common}, on="main")
    merged = git.commit(files_of("after", *changed), parents=[base], message="Document B200 (#34357)")
    tip = git.commit({ENGINE: "ARGS = 2\n"}, parents=[merged])
    repository = rig.plain.world.repository(SGLANG, git.git_dir, branches={"main": tip})
    told = Pull(34357, "Document B200", rig.plain.world.user("author"), "main", base, "b200", merged)
    told.state, told.merged_at, told.merge_commit_sha = "closed", "2026-08-11T23:00:00Z", merged
    told.events.append(Event("merged", rig.plain.world.user("author"), "2026-08-11T23:00:00Z", commit_id=merged))
    repository.pulls[34357] = told
    return merged


def recipes(rig: Rig, folder: Path) -> str:
    """The vLLM recipes; main."""
    git = GitRepo(folder / "recipes.git")
    tip = git.commit(files_of("vllm"), on="main")
    rig.plain.world.repository(VLLM, git.git_dir, branches={"main": tip})
    return tip


def test_a_linked_pull_request_brings_its_pages_as_merged_and_as_published(rig: Rig, tmp_path: Path) -> None:
    merged = cookbook(rig, tmp_path, QWEN_PAGE, QWEN_WIDGET)
    rig.plain.say("Recipe: https://github.com/sgl-project/sglang/pull/34357")
    online = rig.load()
    assert set(online.trees.upstream) == {SGLANG, f"{SGLANG}@{merged}"}
    assert online.snapshot.upstream.complete
    assert "upstream recipes" in {progress.stage for progress in rig.progress}
    rig.fake.stop()
    offline = CacheSource(rig.cache, REPOSITORY, rig.fake.host).load(rig.ref)
    assert offline.snapshot.upstream_revisions == online.snapshot.upstream_revisions
    for loaded in (online, offline):
        for tree in loaded.trees.upstream.values():
            assert tree.read(QWEN_PAGE) == upstream("after").read(QWEN_PAGE)
            assert tree.read(QWEN_WIDGET) == upstream("after").read(QWEN_WIDGET)
            assert OTHER_PAGE in tree.list("docs/cookbook")
            with pytest.raises(NotCachedError):
                tree.read(OTHER_PAGE)
            with pytest.raises(NotCachedError):
                tree.read(ENGINE)


def test_pages_that_a_load_read_are_there_by_themselves(rig: Rig, tmp_path: Path) -> None:
    cookbook(rig, tmp_path, QWEN_PAGE, QWEN_WIDGET)
    assert rig.source.pages("2999-12-31") == {}
    rig.plain.say("Recipe: https://github.com/sgl-project/sglang/pull/34357")
    online = rig.load()
    cached = CacheSource(rig.cache, REPOSITORY, rig.fake.host)
    rig.fake.forget()
    for source in (rig.source, cached):
        pages = source.pages("2999-12-31")
        assert set(pages) == {SGLANG}
        assert pages[SGLANG].revision == online.snapshot.upstream_revisions[SGLANG]
        assert pages[SGLANG].read(QWEN_PAGE) == online.trees.upstream[SGLANG].read(QWEN_PAGE)
        with pytest.raises(NotCachedError):
            pages[SGLANG].read(OTHER_PAGE)
        assert source.pages("1999-12-31") == {}, "they were published later"
    assert not rig.paths("/")


def test_a_snippet_alone_brings_the_page_that_imports_it(rig: Rig, tmp_path: Path) -> None:
    cookbook(rig, tmp_path, QWEN_WIDGET)
    rig.plain.say("https://github.com/sgl-project/sglang/pull/34357")
    for tree in rig.load().trees.upstream.values():
        assert tree.read(QWEN_PAGE) is not None
        assert tree.read(OTHER_PAGE) == b"# Other\n"


def test_a_linked_page_brings_main(rig: Rig, tmp_path: Path) -> None:
    cookbook(rig, tmp_path)
    rig.plain.say(f"Recipe: {QWEN_LINK} and again {QWEN_LINK}/")
    loaded = rig.load()
    assert list(loaded.trees.upstream) == [SGLANG]
    assert loaded.trees.upstream[SGLANG].read(QWEN_WIDGET) is not None


@pytest.mark.parametrize("address", [BIG_VLLM_LINK, "https://recipes.vllm.ai/acme/Big-NVFP4"])
def test_a_recipe_comes_with_what_it_is_read_with(rig: Rig, tmp_path: Path, address: str) -> None:
    tip = recipes(rig, tmp_path)
    rig.plain.say(address)
    loaded = rig.load()
    tree = loaded.trees.upstream[VLLM]
    assert tree.revision == tip
    assert all(tree.read(path) is not None for path in (BIG_RECIPE, "taxonomy.yaml", "strategies/tep.yaml"))


def test_without_a_token_pages_are_read_one_by_one_and_no_more_than_needed(rig: Rig, tmp_path: Path) -> None:
    recipes(rig, tmp_path)
    cookbook(rig, tmp_path, QWEN_WIDGET)
    rig.plain.say(f"{BIG_VLLM_LINK} https://github.com/sgl-project/sglang/pull/34357")
    rig.plain.say("https://recipes.vllm.ai/acme/Big-NVFP4")
    source = GitHubSource(rig.new_client(token=None), rig.cache, REPOSITORY)
    trees: dict[str, Tree] = source.load(rig.ref).trees.upstream
    assert trees[VLLM].read(BIG_RECIPE) is not None
    assert trees[SGLANG].read(QWEN_WIDGET) is not None
    with pytest.raises(NotCachedError):
        trees[SGLANG].read(OTHER_PAGE)


def test_loading_again_asks_for_no_file_again(rig: Rig, tmp_path: Path) -> None:
    cookbook(rig, tmp_path, QWEN_PAGE, QWEN_WIDGET)
    rig.plain.say("https://github.com/sgl-project/sglang/pull/34357")
    rig.load()
    rig.fake.forget()
    rig.load()
    assert rig.paths("/sgl-project/sglang/git/") == []
    assert {seen.status for seen in rig.fake.requests()} == {304}


def test_a_repository_that_cannot_be_read_is_said_and_the_rest_is_there(rig: Rig, tmp_path: Path) -> None:
    cookbook(rig, tmp_path, QWEN_PAGE, QWEN_WIDGET)
    rig.plain.say(f"https://github.com/sgl-project/sglang/pull/34357 {BIG_VLLM_LINK}")
    rig.fail("/sgl-project/sglang/git/trees", 404, "Not Found", times=None)
    loaded = rig.load()
    assert loaded.trees.upstream == {}
    assert loaded.snapshot.upstream.state == "partial"
    assert "What sgl-project/sglang documents could not be read" in loaded.snapshot.upstream.reason
    assert "What vllm-project/recipes documents could not be read" in loaded.snapshot.upstream.reason
    assert [pull.number for pull in loaded.snapshot.upstream.value or ()] == [34357]


def test_an_organisation_that_refuses_the_token_is_read_without(rig: Rig, tmp_path: Path) -> None:
    cookbook(rig, tmp_path)
    rig.plain.say(QWEN_LINK)
    words = "`sgl-project` forbids access via a personal access token (classic)."
    rig.fail("/sgl-project/sglang/commits", 403, words, times=1)
    tree = rig.load().trees.upstream[SGLANG]
    assert tree.read(QWEN_WIDGET) is not None
    asked = [seen for seen in rig.fake.seen if "sgl-project" in seen.path]
    assert ["authorization" in seen.headers for seen in asked][:2] == [True, False]


def test_links_of_a_sign_off_that_is_not_posted(rig: Rig, tmp_path: Path) -> None:
    merged = cookbook(rig, tmp_path, QWEN_PAGE, QWEN_WIDGET)
    comment = rig.plain.say("Nothing is linked yet.")
    source = rig.source
    loaded = source.load(rig.ref)
    rig.fake.forget()
    assert source.with_recipes(loaded, [comment.body, "no link"], "2026-08-12") is loaded
    assert rig.fake.requests() == []
    link = "https://github.com/sgl-project/sglang/pull/34357"
    more = source.with_recipes(loaded, [f"Recipe: {link}", comment.body], "2026-08-12")
    assert [pull.number for pull in more.snapshot.upstream.value or ()] == [34357]
    assert more.trees.upstream[f"{SGLANG}@{merged}"].read(QWEN_WIDGET) is not None
    missing = source.with_recipes(loaded, [link.replace("34357", "5")], "2026-08-12").snapshot.upstream
    assert (missing.state, missing.value) == ("partial", ())
    assert "sgl-project/sglang#5" in missing.reason


def test_what_is_wanted() -> None:
    links = recipe_links([f"{QWEN_LINK} https://docs.sglang.io/cookbook/intro", f"again {QWEN_LINK} {BIG_VLLM_LINK}"])
    assert [link.page for link in links] == ["autoregressive/Qwen/Qwen3.5", "acme/Big"]
    engine = pull(5, files=(ENGINE,))
    opened = pull(6, state="open", merged_at=None)
    foreign = pull(7, "acme/bench", files=(QWEN_PAGE,))
    assert [w.name for w in wanted_revisions([pull(), engine, opened, foreign], links)] == [
        SGLANG,
        VLLM,
        f"{SGLANG}@{'1' * 40}",
    ]
    many = [pull(number, merge_commit=f"{number:040x}") for number in range(1, 30)]
    found = wanted_revisions(many, [judge(BIG_LINK)])
    assert len(found) == MOST_REVISIONS
    assert found[1].revision == f"{29:040x}"
    assert {link.page for link in found[0].pages} == {"autoregressive/Acme/Big", "autoregressive/Qwen/Qwen3.5"}


def test_the_load_stays_shallow(rig: Rig, tmp_path: Path) -> None:
    cookbook(rig, tmp_path, QWEN_PAGE, QWEN_WIDGET)
    rig.plain.say("https://github.com/sgl-project/sglang/pull/34357")
    rig.fake.latency = 0.2
    rig.load()
    assert rig.fake.depth() <= 8


def test_what_a_clone_says_is_not_kept_as_the_word_of_the_host(rig: Rig, tmp_path: Path) -> None:
    rig.build(before=merged.files(5), adds=merged.head_files(5))
    merged.merge(rig.plain, 5, result_row(16))
    cookbook(rig, tmp_path, QWEN_PAGE, QWEN_WIDGET)
    told = rig.plain.world.repositories[SGLANG].pulls[34357]
    told.state, told.merged_at, told.merge_commit_sha = "open", None, None
    told.events.clear()
    link = "https://github.com/sgl-project/sglang/pull/34357"
    rig.plain.say(f"Recipe: {link}")
    clone = GitRepo(tmp_path / "clone.git")
    clone.commit(files_of("after"), on="main", message="Document B200 (#34357)")
    request = ReviewRequest(review_date="2999-12-31", sign_off=f"Recipe: {link}")
    with WithRecipeClones(rig.source, [RecipeClone(clone.path, SGLANG)]) as source:
        reviewer = Reviewer(source)
        for published in (True, False):
            review = reviewer.review(rig.ref, request, published=published)
            whole = review if published else reviewer.with_published(review, request)
            assert whole is not None
            assert whole.snapshot.published.complete
            assert [pull.state for pull in whole.snapshot.upstream.value or ()] == ["merged"], "as the clone says"
            kept, _ = rig.cache.read_snapshot(rig.ref)
            assert [pull.state for pull in kept.upstream.value or ()] == ["open"], "as GitHub says"
            assert kept.published == whole.snapshot.published


def test_a_page_written_on_a_day_and_merged_later_was_not_published_then(rig: Rig, tmp_path: Path) -> None:
    git = GitRepo(tmp_path / "recipes.git")
    noon = 1_786_449_600  # of 2026-08-11, UTC
    tip = git.commit(files_of("vllm"), on="main", time=noon, committed=noon + 86_400)
    rig.plain.world.repository(VLLM, git.git_dir, branches={"main": tip})
    rig.plain.say(f"Recipe: {BIG_VLLM_LINK}")
    rig.load()
    assert rig.source.pages("2026-08-11") == {}
    assert set(rig.source.pages("2026-08-12")) == {VLLM}
