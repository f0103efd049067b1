"""Published results: which run of main they come from, and everything that can be wrong with it."""

from __future__ import annotations

import dataclasses
import io
import zipfile
from typing import Any

import pytest

from reviewer_tui.checks.published import curves_beside, summary_of
from reviewer_tui.model.part import Part
from reviewer_tui.model.result import Published, PublishedRun
from reviewer_tui.sources.cached import CacheSource
from reviewer_tui.sources.github.errors import TokenRefusedError
from reviewer_tui.sources.github.published import MOST_RUN_PAGES, MOST_SWEEPS
from reviewer_tui.sources.source import Loaded
from tests.fake_github import plain as plain_world
from tests.fake_github.merged import KEY, artifact, entry, files, head_files, merge, reused
from tests.fake_github.plain import Plain, result_row
from tests.fake_github.server import Reply
from tests.fake_github.world import Run
from tests.sources.github.conftest import Rig


def world(rig: Rig, *numbers: int, history: str = "", **more: Any) -> Plain:
    """A pull request whose key these ones measured before, the last one last."""
    return rig.build(before=files(*numbers, history=history), adds=head_files(*numbers, history=history), **more)


def looked_up(rig: Rig) -> Part[Published]:
    return rig.source.with_published(rig.load()).snapshot.published


def value(part: Part[Published]) -> Published:
    assert part.value is not None, part.reason
    return part.value


def test_the_newest_sweep_of_main_that_measured_the_key(rig: Rig) -> None:
    plain = world(rig, 3, 5)
    merge(plain, 3, result_row(16, tput_per_gpu=500.0), result_row(8, tput_per_gpu=400.0), day=1)
    newest = merge(plain, 5, result_row(16, tput_per_gpu=800.0), result_row(4, isl=1024), day=9)
    merge(plain, 4, result_row(16, tput_per_gpu=1.0), day=20)  # of another key, as the changelog knows
    loaded = rig.source.with_published(rig.load())
    part = loaded.snapshot.published
    assert (part.state, part.reason) == ("complete", "")
    published = value(part)
    assert {(row.run_id, row.conc, row.throughput_per_gpu) for row in published.rows} == {
        (2005, 16, 800.0),
        (2003, 8, 400.0),
    }, "rows of other curves are left out, and older rows of the same point"
    assert published.run(2005) == PublishedRun(
        id=2005,
        commit=newest.head_sha,
        published_at="2026-07-09T09:00:00Z",
        url=f"http://{rig.fake.host}/{plain_world.REPOSITORY}/actions/runs/2005",
        pull_request=5,
    )
    (curve,) = curves_beside(loaded.snapshot.results.value or (), published)
    assert round(curve.matched[0].throughput or 0, 6) == 0.27
    assert "published by run 2005 of #5 at" in summary_of(curve, "2026-08-12")
    assert any(step.stage == "published results" and step.done == step.total == 2 for step in rig.progress)


def test_looking_up_is_a_stage_of_its_own(rig: Rig) -> None:
    merge(world(rig, 5), 5, result_row(16))
    loaded = rig.load()
    assert (
        loaded.snapshot.published.reason
        == "Published results are looked up after everything else, and have not been yet."
    )
    assert not rig.paths("/actions/workflows/")
    rig.fake.forget()
    rig.source.with_published(loaded)
    assert [path.partition("?")[0].rpartition("/")[2] for path in rig.paths()] == [
        *("runs", "artifacts", "zip"),
        rig.paths("/blob/")[0].partition("?")[0].rpartition("/")[2],
    ]
    assert rig.fake.depth() == 4


def test_a_later_load_keeps_them(rig: Rig) -> None:
    plain = world(rig, 5)
    merge(plain, 5, result_row(16))
    first = looked_up(rig)
    assert value(first).rows
    assert rig.load().snapshot.published == first
    rig.fake.stop()
    offline = CacheSource(rig.cache, plain_world.REPOSITORY, rig.fake.host).load(rig.ref)
    assert offline.snapshot.published == first


def test_a_load_that_measured_more_does_not_take_them_for_all(rig: Rig) -> None:
    plain = world(rig, 5)
    merge(plain, 5, result_row(16))
    before = looked_up(rig)
    plain.repository.runs[1001].artifacts[1] = plain.artifact(
        "results_bmk", "agg_bmk.json", [result_row(16), result_row(8)]
    )
    part = rig.load().snapshot.published
    assert (part.state, part.value) == ("partial", before.value)
    assert "other results were measured since" in part.reason
    assert "reviewer-tui fetch" in part.remedy


def test_after_something_was_merged_they_need_not_be_the_newest(rig: Rig) -> None:
    plain = world(rig, 5)
    merge(plain, 5, result_row(16)).artifacts.append(artifact(plain, {}, "results_bmk", expired=True))
    before = looked_up(rig)
    main = plain.repository.branches["main"]
    plain.repository.branches["main"] = plain.git.commit({"b.txt": "b"}, parents=[main], message="Another")
    for _ in range(2):  # a third load has not looked either
        part = rig.load().snapshot.published
        assert (part.state, part.value) == ("partial", before.value)
        assert part.reason == (
            f"{before.reason} They were looked up by an earlier load; the default branch has moved since."
        )
        assert "reviewer-tui fetch" in part.remedy


def test_another_head_has_none_yet(rig: Rig) -> None:
    plain = rig.build(before=files(5), adds=head_files(5), commits=2)
    merge(plain, 5, result_row(16))
    assert value(looked_up(rig)).rows
    earlier = rig.load(head=plain.shas[0]).snapshot.published
    assert (earlier.state, earlier.remedy) == (
        "unavailable",
        f"Load once with the network: reviewer-tui fetch {plain_world.NUMBER} --repo {plain_world.REPOSITORY}"
        f" --host {rig.fake.host}",
    )


def test_again_it_costs_nothing_and_without_the_network_it_is_there(rig: Rig) -> None:
    plain = world(rig, 3, 5)
    merge(plain, 5, result_row(16))
    merge(plain, 3)
    reused(plain, 3, result_row(8))
    first = looked_up(rig)
    rig.fake.forget()
    budget = rig.fake.budget.remaining
    assert looked_up(rig) == first
    assert {seen.status for seen in rig.fake.requests()} == {304}
    assert rig.fake.budget.remaining == budget
    offline = CacheSource(rig.cache, plain_world.REPOSITORY, rig.fake.host).load(rig.ref)
    assert offline.snapshot.published == first


def test_a_merge_that_reused_its_own_sweep(rig: Rig) -> None:
    """Main's run has no results then; those of the pull request's newest green sweep were published."""
    plain = world(rig, 5)
    main = merge(plain, 5)
    sweep = reused(plain, 5, result_row(16, tput_per_gpu=700.0))
    later = Run(4000, sweep.path, sweep.head_sha, sweep.head_branch, created_at="2026-08-01T09:00:00Z")
    failed = Run(2999, sweep.path, sweep.head_sha, sweep.head_branch, conclusion="failure")
    dropped = Run(3999, sweep.path, "e" * 40, sweep.head_branch, created_at="2026-06-21T09:00:00Z")
    for run in (later, failed, dropped):
        plain.repository.runs[run.id] = run
    part = looked_up(rig)
    assert part.complete, part.reason
    (row,) = value(part).rows
    assert (row.run_id, row.throughput_per_gpu) == (3005, 700.0)
    (run_,) = value(part).runs
    assert (run_.id, run_.commit, run_.reused) == (3005, main.head_sha, True)
    assert run_.published_at == main.created_at, "when main published it, not when it was measured"


@pytest.mark.parametrize("pinned", ["/reuse-sweep-run 3005", "ok\n/use 3005\n"])
def test_a_pinned_sweep_counts_even_if_it_failed(rig: Rig, pinned: str) -> None:
    prompt = "## Check 4 — Reuse command posted\n`/use <run_id>` or `/reuse-sweep-run [<run_id>]`, WARN if none.\n"
    more = {".github/codeowner-signoff-verify-prompt.md": prompt}
    plain = rig.build(before={**files(5), **more}, adds=head_files(5))
    merge(plain, 5)
    reused(plain, 5, result_row(16), body=pinned).conclusion = "failure"
    assert [row.run_id for row in value(looked_up(rig)).rows] == [3005]


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"head_repo": "mallory/bench"}, "is no sweep of that pull request"),
        ({"event": "workflow_dispatch"}, "is no sweep of that pull request"),
        ({"path": ".github/workflows/e2e-tests.yml"}, "is no sweep of that pull request"),
        ({"head_sha": "e" * 40}, "is no sweep of that pull request"),
        ({"artifacts": []}, "which the merge of #5 reused, left no results behind"),
    ],
)
def test_a_pinned_run_that_is_no_sweep_of_the_pull_request(rig: Rig, facts: dict[str, Any], sentence: str) -> None:
    plain = world(rig, 5)
    merge(plain, 5)
    run = reused(plain, 5, result_row(16), body="/reuse-sweep-run 3005")
    for name, fact in facts.items():
        setattr(run, name, fact)
    part = looked_up(rig)
    assert (part.state, value(part).rows) == ("partial", ())
    assert sentence in part.reason


def test_a_command_of_somebody_who_may_not_is_none(rig: Rig) -> None:
    plain = world(rig, 5)
    merge(plain, 5)
    reused(plain, 5, result_row(16), association="CONTRIBUTOR")
    part = looked_up(rig)
    assert value(part).rows == ()
    assert "the command that says which sweep it reused is not visible to this token" in part.reason


def test_a_command_after_the_merge_decides_nothing(rig: Rig) -> None:
    plain = world(rig, 5)
    main = merge(plain, 5)
    sweep = reused(plain, 5, result_row(16), body="/reuse-sweep-run 3005")
    other = Run(2999, sweep.path, sweep.head_sha, sweep.head_branch, created_at="2026-06-19T09:00:00Z")
    other.artifacts = [artifact(plain, [result_row(16, tput_per_gpu=1.0)])]
    plain.repository.runs[other.id] = other
    said = plain.repository.pulls[5].comments
    later = "2026-07-02T09:00:00Z"
    assert later > main.created_at
    said.append(
        dataclasses.replace(said[0], id=99_001, body="/reuse-sweep-run 2999", created_at=later, updated_at=later)
    )
    part = looked_up(rig)
    assert (part.state, [row.run_id for row in value(part).rows]) == ("complete", [3005])
    said[0].body, said[0].updated_at = "/reuse-sweep-run 2999", later
    part = looked_up(rig)
    assert value(part).rows == ()
    assert part.reason == "The command that says which sweep the merge of #5 reused was edited after the merge."
    del said[0]
    assert "the command that says which sweep it reused is not visible" in looked_up(rig).reason


def test_a_run_after_the_merge_was_not_reused(rig: Rig) -> None:
    plain = world(rig, 5)
    merge(plain, 5)
    reused(plain, 5, result_row(16), body="/reuse-sweep-run 3005").created_at = "2026-07-02T09:00:00Z"
    part = looked_up(rig)
    assert value(part).rows == ()
    assert part.reason == "Run 3005, which a comment on #5 names, is newer than the merge."


def test_a_merge_without_any_green_sweep(rig: Rig) -> None:
    plain = world(rig, 5)
    merge(plain, 5)
    reused(plain, 5, result_row(16)).conclusion = "failure"
    assert "No green sweep of #5 is known" in looked_up(rig).reason


@pytest.mark.parametrize(
    "facts",
    [
        {"head_repo": "mallory/bench"},
        {"event": "schedule"},
        {"head_branch": "other"},
        {"path": ".github/workflows/e2e-tests.yml"},
    ],
)
def test_only_a_push_to_main_itself_publishes(rig: Rig, facts: dict[str, Any]) -> None:
    """A fork's main has the same name, and its author writes the subject."""
    plain = world(rig, 5)
    merge(plain, 5, result_row(16), **facts)
    merge(plain, 6, result_row(16))
    part = looked_up(rig)
    assert value(part).rows == ()
    seen = 2 if "head_repo" in facts else 1
    assert part.reason == f"The sweep of #5, which measured {KEY}, is not among the newest {seen} runs."


@pytest.mark.parametrize(
    "subject", ["Merge pull request #5 from acme/branch", "Revert (#3) (#5) [skip-sweep]\n\nand (#9)"]
)
def test_how_a_merge_names_its_pull_request(rig: Rig, subject: str) -> None:
    merge(world(rig, 5), 5, result_row(16), subject=subject)
    assert value(looked_up(rig)).rows


def hostile(**files_: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files_.items():
            made.writestr(name.replace("__", "/"), content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"no zip at all", "is no readable zip"),
        (hostile(**{"agg.json": b"[" * 50}), "The file is no JSON."),
        (hostile(**{"agg.json": b" " * (70 << 20)}), "unpacks to more than any result has"),
        (hostile(**{"readme.txt": b"x"}), "It holds no rows."),
        (hostile(**{"a__..__..__agg.json": b'[{"conc": 0}]'}), "names no concurrency"),
    ],
    ids=["no zip", "no JSON", "bomb", "no rows", "climbing"],
)
def test_a_hostile_artifact_is_a_sentence(rig: Rig, content: bytes, reason: str) -> None:
    run = merge(world(rig, 5), 5, result_row(16))
    run.artifacts[0].content = content
    part = looked_up(rig)
    assert (part.state, value(part).rows) == ("partial", ())
    assert reason in part.reason


def test_another_digest_is_refused(rig: Rig) -> None:
    run = merge(world(rig, 5), 5, result_row(16))
    loaded = rig.load()
    fault = rig.fail(rf"/blob/{run.artifacts[0].id}", times=None)
    fault.reply = Reply(200, raw=hostile(**{"agg.json": b"[]"}))
    part = rig.source.with_published(loaded).snapshot.published
    assert value(part).rows == ()
    assert "does not fit its digest" in part.reason


def test_an_expired_artifact_is_said_and_an_older_sweep_is_no_secret(rig: Rig) -> None:
    plain = world(rig, 3, 5)
    merge(plain, 3, result_row(16), day=1)
    merge(plain, 5, result_row(16), day=9).artifacts[0].expired = True
    part = looked_up(rig)
    assert part.state == "partial"
    assert "results_bmk of run 2005 has expired" in part.reason
    assert [row.run_id for row in value(part).rows] == [2003]
    assert "zip" not in " ".join(rig.paths(f"/artifacts/{plain.repository.runs[2005].artifacts[0].id}/"))


def test_an_artifact_of_another_name_is_not_read(rig: Rig) -> None:
    plain = world(rig, 5)
    run = merge(plain, 5, result_row(16))
    run.artifacts[0].name = "results_bmk_2"
    reused(plain, 5, result_row(16, tput_per_gpu=700.0))
    assert [row.run_id for row in value(looked_up(rig)).rows] == [3005]


def test_single_agentic_lanes_are_read_where_main_collected_none(rig: Rig) -> None:
    plain = world(rig, 5)
    run = merge(plain, 5)
    run.artifacts += [artifact(plain, [result_row(conc)], f"bmk_agentic_{conc}") for conc in (8, 16)]
    assert sorted(row.conc for row in value(looked_up(rig)).rows) == [8, 16]


def test_rows_of_another_key_are_no_answer(rig: Rig) -> None:
    merge(world(rig, 5), 5, result_row(16, infmax_model_prefix="b"), result_row(16, precision="fp4"))
    part = looked_up(rig)
    assert (part.state, value(part)) == ("complete", Published())


def test_the_runs_are_looked_through_page_by_page_and_not_for_ever(rig: Rig) -> None:
    plain = world(rig, 3, 5)
    for number in range(1000, 1000 + 100 * MOST_RUN_PAGES):
        merge_run = Run(9000 + number, ".github/workflows/run-sweep.yml", plain.base, "main", "push")
        merge_run.created_at = f"2026-07-20T{number % 24:02}:00:00Z"
        plain.repository.runs[merge_run.id] = merge_run
    plain.repository.runs.pop(9000 + 1000)
    merge(plain, 5, result_row(16), day=19)
    merge(plain, 3, result_row(16), day=18)
    part = looked_up(rig)
    assert [row.run_id for row in value(part).rows] == [2005]
    assert part.reason == f"The sweep of #3, which measured {KEY}, is not among the newest 400 runs."
    assert len(rig.paths("/actions/workflows/run-sweep.yml/runs")) == MOST_RUN_PAGES


def test_a_new_key_has_nothing_published_and_costs_nothing(rig: Rig) -> None:
    history = entry(5, key="another-key") + "\n" + entry(6, more="  evals-only: true\n")
    world(rig, history=history)
    loaded = rig.load()
    rig.fake.forget()
    part = rig.source.with_published(loaded).snapshot.published
    assert (part.state, part.value) == ("complete", Published())
    assert rig.paths() == []


@pytest.mark.parametrize(
    ("history", "head", "sentence"),
    [
        ("- [", "", "The changelog of the default branch could not all be read: perf-changelog.yaml:"),
        (entry(5).replace("config-keys", "keys"), "", "could not all be read"),
        ("", "- config-keys: [", "The changelog of the head could not all be read: perf-changelog.yaml:"),
    ],
    ids=["broken", "another schema", "broken at the head"],
)
def test_a_changelog_that_cannot_be_read_says_nothing_of_what_was_published(
    rig: Rig, history: str, head: str, sentence: str
) -> None:
    before = files(5, history=history)
    adds = {"perf-changelog.yaml": f"{before['perf-changelog.yaml']}\n{head or entry(7)}"}
    rig.build(before=before, adds=adds)
    part = looked_up(rig)
    assert (part.state, part.value) == ("unavailable", None)
    assert sentence in part.reason


def test_a_default_branch_without_a_changelog_says_nothing_of_what_was_published(rig: Rig) -> None:
    plain = world(rig, 5)
    main = plain.git.commit({"perf-changelog.yaml": None}, parents=[plain.base], message="Begin anew")
    plain.repository.branches["main"] = main
    part = looked_up(rig)
    assert (part.state, part.reason) == ("unavailable", f"The default branch has no changelog at {main[:9]}.")


def test_an_entry_of_the_history_that_cannot_be_read_leaves_the_rest(rig: Rig) -> None:
    history = entry(5) + "\n- no entry\n"
    plain = rig.build(before=files(history=history), adds=head_files(history=history))
    merge(plain, 5, result_row(16))
    part = looked_up(rig)
    assert (part.state, [row.run_id for row in value(part).rows]) == ("partial", [2005])
    assert "An entry must be a mapping." in part.reason


def test_patterns_and_scenarios_of_the_changelog(rig: Rig) -> None:
    agentic = "  scenario-type: [agentic-coding]\n"
    history = "\n".join((entry(4, key="a-fp8-*"), entry(5, more=agentic), entry(6, key="b-*")))
    head = f"{history}\n{entry(7, key='a-*', more='  scenario-type: [fixed-seq-len]' + chr(10))}"
    plain = rig.build(before=files(history=history), adds={"perf-changelog.yaml": head})
    for number in (4, 5, 6):
        merge(plain, number, result_row(16), day=number)
    assert [run.pull_request for run in value(looked_up(rig)).runs] == [4]


def test_no_more_than_some_sweeps_are_read(rig: Rig) -> None:
    keys = [f"key-{n}" for n in range(MOST_SWEEPS + 2)]
    history = "\n".join(entry(10 + n, key=key) for n, key in enumerate(keys))
    head = history + "\n" + "\n".join(entry(7, key=key) for key in keys)
    plain = rig.build(before=files(history=history), adds={"perf-changelog.yaml": head})
    for n in range(len(keys)):
        merge(plain, 10 + n, result_row(16), day=n + 1)
    part = looked_up(rig)
    assert (
        f"Of {MOST_SWEEPS + 2} sweeps that measured the keys before, the newest {MOST_SWEEPS} were read." in part.reason
    )
    assert len(rig.paths("/zip")) == MOST_SWEEPS + 2, "and the two of the pull request's own sweep"


def test_a_sweep_that_is_still_running(rig: Rig) -> None:
    merge(world(rig, 5), 5, status="in_progress", conclusion=None)
    assert "The sweep of #5 (run 2005) is still running." in looked_up(rig).reason


def test_a_rate_limit_in_the_middle_leaves_what_was_read(rig: Rig) -> None:
    plain = world(rig, 3, 5)
    merge(plain, 3, result_row(8), day=1)
    merge(plain, 5, result_row(16), day=9)
    loaded = rig.load()
    headers = {"Retry-After": "7000", "X-RateLimit-Remaining": "0"}
    rig.fail(r"/runs/2003/artifacts", 403, "API rate limit exceeded", times=None, headers=headers)
    part = rig.source.with_published(loaded).snapshot.published
    assert part.state == "partial"
    assert "could not be read" in part.reason


@pytest.mark.parametrize("status", [403, 404, 500])
def test_runs_that_are_not_told(rig: Rig, status: int) -> None:
    merge(world(rig, 5), 5, result_row(16))
    rig.fail(r"/actions/workflows/", status, times=None)
    part = looked_up(rig)
    assert value(part).rows == ()
    assert "The runs of run-sweep.yml on main could not be read" in part.reason


def test_a_repository_whose_workflows_do_not_say_so(rig: Rig) -> None:
    before = {**files(5), ".github/workflows/run-sweep.yml": "on: [push]\njobs: {}\n# perf-changelog.yaml\n"}
    rig.build(before=before, adds=head_files(5))
    part = looked_up(rig)
    assert (part.state, part.value) == ("unavailable", None)
    assert part.reason == "No workflow file says that it sweeps what is pushed to main."


def test_without_results_or_token_nothing_is_asked(rig: Rig) -> None:
    plain = world(rig, 5)
    merge(plain, 5, result_row(16))
    plain.repository.runs[1001].artifacts.clear()
    loaded = rig.load()
    rig.fake.forget()
    part = rig.source.with_published(loaded).snapshot.published
    assert "no results of this pull request are known" in part.reason
    assert rig.paths() == []


def test_a_stranger_is_told_to_log_in(rig: Rig) -> None:
    plain = world(rig, 5)
    merge(plain, 5, result_row(16))
    loaded = rig.load()
    source = type(rig.source)(rig.new_client(token=None), rig.cache, plain_world.REPOSITORY)
    part = source.with_published(loaded).snapshot.published
    assert part.reason == "Published results lie in artifacts, which GitHub gives to nobody without a token."
    assert part.remedy.startswith("Log in first")


def test_a_refused_token_ends_it(rig: Rig) -> None:
    merge(world(rig, 5), 5, result_row(16))
    loaded: Loaded = rig.load()
    rig.fail(r"/actions/workflows/", 401, "Bad credentials", times=None)
    with pytest.raises(TokenRefusedError):
        rig.source.with_published(loaded)


def test_a_lost_storage_is_a_sentence(rig: Rig) -> None:
    run = merge(world(rig, 5), 5, result_row(16))
    loaded = rig.load()
    fault = rig.fail(rf"/blob/{run.artifacts[0].id}", times=None)
    fault.reply = Reply(410, {"message": "gone"})
    part = rig.source.with_published(loaded).snapshot.published
    assert value(part).rows == ()
    assert "could not be read" in part.reason
