"""Whole pull requests from a fake GitHub: complete, honest where something is missing, cheap the second time.

The traps that GitHub lays, and where each is sprung here (c: test_github_client, p: test_github_parts):

second runs of one commit and lanes of one name   two_runs_of_one_commit, two_lanes_of_one_name
associations are the reader's                     the_association_is_kept, what_an_account_may_do
patches that are left out, 406                    files_come_from_both_trees; c other_refusals
caps                                              files_beyond, more_than_250_commits, a_count_that_does_not_fit
comments that are created although it failed      c a_post_of_unknown_fate
versions of the interface                         p both_versions; c a_host_that_does_not_know; linked_pull_request
tokens that follow to storage                     c the_token_stays_behind, a_redirect_to_another_host
answers kept too long or for another token        c an_unchanged_answer, a_kept_answer_is_for_the_same_token
libraries that break                              p loading_needs_no_other_github_library
fine-grained tokens                               what_may_not_be_read; c the_missing_permission
GraphQL that fails as a whole, or with 200        without_graphql, a_graphql_budget
carriage returns, deleted accounts, edits         what_is_said_has_plain_lines; c a_changed_answer
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

from reviewer_tui.model.errors import DataError
from reviewer_tui.model.part import Part
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.model.snapshot import Snapshot
from reviewer_tui.sources.cached import CacheSource
from reviewer_tui.sources.github.errors import (
    HiddenError,
    LoadCancelledError,
    PermissionMissingError,
    TokenRefusedError,
)
from reviewer_tui.sources.github.loader import GitHubSource, Watch
from reviewer_tui.sources.source import Loaded
from tests.fake_github.plain import FILES, MASTER, REPOSITORY, TOKEN, Plain, eval_row, result_row
from tests.fake_github.server import Fault, Reply
from tests.fake_github.world import Artifact, Job, Pull, archive
from tests.sources.github.conftest import Rig

PARTS = ("files", "commits", "info", "conversation", "runs", "evals", "results", "upstream", "events")


def states(snapshot: Snapshot) -> dict[str, str]:
    return {name: getattr(snapshot, name).state for name in PARTS}


def value(part: Part) -> tuple:
    assert part.value is not None, part.reason
    return part.value


# --- everything of one pull request -----------------------------------------------------------------------------------


def test_a_whole_pull_request(rig: Rig) -> None:
    plain = rig.plain
    snapshot = rig.load().snapshot
    assert states(snapshot) == dict.fromkeys(PARTS, "complete")
    assert (snapshot.source, snapshot.viewer) == ("github", "reader")
    assert (snapshot.head, snapshot.merge_base, snapshot.default_branch) == (plain.shas[-1], plain.base, plain.base)
    info = snapshot.info.value
    assert info is not None
    assert (info.title, info.author, info.state, info.labels) == (
        "Widen the range",
        "author",
        "open",
        ("full-sweep-enabled",),
    )
    assert (info.base_ref, info.head_ref, info.head_repository) == ("main", "feature", REPOSITORY)
    assert [(event.kind, event.actor, event.label) for event in value(snapshot.events)] == [
        ("labeled", "member", "full-sweep-enabled")
    ]
    (run,) = value(snapshot.runs)
    assert (run.id, run.attempt, run.head_sha, len(run.jobs)) == (1001, 1, plain.shas[-1], 3)
    assert {(job.run_id, job.run_attempt, job.app) for job in run.jobs} == {(1001, 1, "github-actions")}
    (score,) = value(snapshot.evals)
    assert (score.strict, score.flexible, score.samples, score.parallelism) == (0.95, 0.94, 1319, "tp8 ep1")
    assert score.image == "lmsysorg/sglang:v0.5.12"
    (result,) = value(snapshot.results)
    assert (result.conc, result.throughput_per_gpu, result.end_to_end_latency) == (16, 1016.0, 20.0)


def test_the_trees_are_those_of_git(rig: Rig) -> None:
    loaded = rig.load()
    trees = loaded.trees
    assert trees.base.list("") == tuple(sorted(FILES))
    assert trees.head.list("docs") == ("docs/PR_REVIEW_CHECKLIST.md", "docs/new.md")
    assert trees.head.read("configs/nvidia-master.yaml") == MASTER.replace("conc-end: 16", "conc-end: 32").encode()
    assert trees.policy.revision == trees.default_branch.revision == rig.plain.base
    assert trees.head.read("nowhere") is None


def test_what_is_said_has_plain_lines_and_deleted_authors_are_nobody(rig: Rig) -> None:
    """Text from the browser has carriage returns, and an account that is gone is null."""
    snapshot = rig.load().snapshot
    said = {comment.id: comment for comment in value(snapshot.conversation)}
    assert said[11].body == "Fine\nby me"
    assert (said[12].author, said[12].is_bot) == ("", False)
    assert said[12].updated_at > said[12].created_at
    assert (said[21].kind, said[21].review_state, said[21].commit) == ("review", "APPROVED", rig.plain.shas[-1])
    assert (said[31].kind, said[31].author) == ("review_comment", "member")
    assert 22 not in said  # a review without words, which only held the comment on a line
    assert snapshot.info.value is not None
    assert snapshot.info.value.body == "Body\nof two lines"


def test_the_association_is_kept_with_the_reader_for_whom_it_was_computed(rig: Rig) -> None:
    rig.plain.say("/reuse-sweep-run 1001", association="CONTRIBUTOR")
    snapshot = rig.load().snapshot
    assert value(snapshot.conversation)[-1].association == "CONTRIBUTOR"
    assert snapshot.viewer == "reader"


def test_without_a_token_a_public_pull_request_is_readable(rig: Rig) -> None:
    source = GitHubSource(rig.new_client(None), rig.cache, REPOSITORY)
    snapshot = source.load(rig.ref).snapshot
    assert snapshot.viewer == ""
    assert states(snapshot)["runs"] == "complete"
    assert states(snapshot)["evals"] == "partial"  # artifacts need a token, also of public repositories
    assert "token" in snapshot.evals.reason
    assert "graphql" not in " ".join(rig.paths())


def test_what_a_token_is(rig: Rig) -> None:
    facts = rig.source.viewer()
    assert (facts.login, facts.scopes) == ("reader", "repo, read:org")
    with pytest.raises(PermissionMissingError, match="needs a token"):
        GitHubSource(rig.new_client(None), rig.cache, REPOSITORY).viewer()


def test_what_an_account_may_do_is_known_to_those_who_may_push(rig: Rig) -> None:
    """The second question about an association that this reader cannot see."""
    rig.plain.repository.permissions = {"member": "maintain"}
    with pytest.raises(PermissionMissingError, match="push access"):
        rig.source.permission("member")
    rig.plain.repository.permissions["reader"] = "write"
    assert (rig.source.permission("member"), rig.source.permission("stranger")) == ("maintain", "read")


def test_the_open_pull_requests_and_what_they_touch(rig: Rig) -> None:
    plain = rig.plain
    renamed = plain.git.commit(
        {"perf-changelog.yaml": None, "log.yaml": FILES["perf-changelog.yaml"]}, parents=[plain.base]
    )
    plain.repository.pulls[9] = Pull(9, "Another", None, "main", plain.base, "x", renamed, draft=True)
    plain.repository.pulls[8] = Pull(8, "Done", None, "main", plain.base, "y", renamed, state="closed")
    newest, oldest = rig.source.open_pull_requests()
    assert (newest.ref.number, newest.info.title, newest.info.draft, newest.head) == (9, "Another", True, renamed)
    assert newest.paths.value == ("perf-changelog.yaml", "log.yaml")
    assert (oldest.ref, oldest.info.labels) == (rig.ref, ("full-sweep-enabled",))
    rig.fake.forget()
    rig.source.open_pull_requests()
    assert {seen.status for seen in rig.fake.seen} == {304}
    rig.fail("/pulls/9/files", 403, "No", times=None)
    assert rig.source.open_pull_requests()[0].paths.state == "unavailable"


# --- files ------------------------------------------------------------------------------------------------------------


def test_files_come_from_both_trees_so_that_no_patch_is_ever_missing(rig: Rig) -> None:
    """GitHub leaves `patch` out for large, binary and renamed files; contents and modes are read from git objects."""
    plain = rig.plain
    changes = {
        "docs/new.md": None,
        "docs/PR_REVIEW_CHECKLIST.md": None,
        "docs/moved.md": "# Checklist\n",
        "data.bin": b"\0\1\2",
        "link": plain.git.link("docs/moved.md"),
        "empty": "",
        "configs/nvidia-master.yaml": MASTER,
        "benchmarks/single_node/fixed_seq_len/a_fp8_h200.sh": plain.git.executable("#!/bin/bash\n"),
    }
    plain.pull.head_sha = plain.git.commit(changes, on="feature")
    loaded = rig.load()
    files = {file.path: file for file in value(loaded.snapshot.files)}
    assert sorted(files) == [
        "benchmarks/single_node/fixed_seq_len/a_fp8_h200.sh",
        "data.bin",
        "docs/moved.md",
        "empty",
        "link",
    ]
    moved = files["docs/moved.md"]
    assert (moved.status, moved.previous_path) == ("renamed", "docs/PR_REVIEW_CHECKLIST.md")
    assert moved.old_blob == moved.new_blob
    assert (files["data.bin"].binary, files["empty"].binary, files["link"].new_mode) == (True, False, "120000")
    script = files["benchmarks/single_node/fixed_seq_len/a_fp8_h200.sh"]
    assert (script.old_mode, script.new_mode, script.binary) == ("100644", "100755", False)
    assert loaded.trees.head.read("link") is None
    assert loaded.trees.head.read("data.bin") == b"\0\1\2"
    assert not any("diff" in seen.headers.get("accept", "") for seen in rig.fake.seen)


def test_files_beyond_githubs_list_are_still_told(rig: Rig) -> None:
    """The list of files stops at 3,000; the trees do not."""
    plain = rig.plain
    many = {f"many/{number:04}.txt": f"{number}\n" for number in range(3050)}
    plain.pull.head_sha = plain.git.commit(many, on="feature")
    plain.repository.runs.clear()
    snapshot = rig.load().snapshot
    assert len(value(snapshot.files)) == 3052
    assert snapshot.files.state == "partial"
    assert "GitHub lists 3,000" in snapshot.files.reason


def test_a_file_that_graphql_cannot_give_exactly_is_read_by_itself(rig: Rig) -> None:
    plain = rig.plain
    latin = "docs/latin.md"
    plain.pull.head_sha = plain.git.commit({latin: b"caf\xe9\n", "docs/new.md": None}, on="feature")
    loaded = rig.load()
    assert loaded.trees.head.read(latin) == b"caf\xe9\n"
    assert rig.paths("/git/blobs/")


def test_without_graphql_files_come_one_by_one(rig: Rig) -> None:
    rig.fake.graphql = False
    loaded = rig.load()
    assert loaded.trees.policy.read("docs/PR_REVIEW_CHECKLIST.md") == b"# Checklist\n"
    assert len(rig.paths("/git/blobs/")) >= 5


def test_a_graphql_budget_that_is_used_up_costs_nothing_but_requests(rig: Rig) -> None:
    """GraphQL tells it with status 200."""
    body = {"data": None, "errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}
    rig.fake.faults.append(Fault("/api/graphql", Reply(200, body), method="POST", times=None))
    assert states(rig.load().snapshot) == dict.fromkeys(PARTS, "complete")


def test_a_file_that_does_not_fit_its_name_is_refused(rig: Rig) -> None:
    rig.fake.graphql = False
    rig.fake.faults.append(Fault("/git/blobs/", Reply(200, raw=b"forged"), times=None))
    with pytest.raises(DataError, match="does not fit its name"):
        rig.load()


def test_a_folder_listing_that_is_cut_off_is_read_folder_by_folder(rig: Rig) -> None:
    """GitHub truncates trees of more than 100,000 entries."""
    root = rig.plain.git.git("rev-parse", f"{rig.plain.base}^{{tree}}").strip()
    whole = rig.fake.answers.tree(
        rig.plain.repository, root, rig.plain.repository.git.tree(root, recursive=True), truncated=True
    )
    cut = {**whole, "tree": whole["tree"][:3]}
    rig.fake.faults.append(Fault(rf"/git/trees/{root}\?recursive", Reply(200, cut)))
    loaded = rig.load()
    assert loaded.trees.base.list("") == tuple(sorted(FILES))
    assert len(rig.paths(f"/git/trees/{root}")) == 2


# --- caps and counts --------------------------------------------------------------------------------------------------


def test_more_than_250_commits_are_read_from_the_comparison(rig: Rig) -> None:
    plain = rig.build(commits=1)
    for number in range(260):
        head = plain.git.commit({"docs/new.md": f"again {number}\n"}, on="feature")
    plain.pull.head_sha = head
    snapshot = rig.load().snapshot
    assert len(value(snapshot.commits)) == 261
    assert (value(snapshot.commits)[-1].sha, snapshot.commits.state) == (head, "complete")
    assert len(rig.paths("/check-runs")) == 100
    assert "oldest 161 commits" in snapshot.runs.reason


@pytest.mark.parametrize(
    ("path", "answer", "part", "words"),
    [
        (r"/issues/7/comments", [], "conversation", "0 of 2 comments"),
        (r"/pulls/7/comments", [], "conversation", "0 of 1 comments on lines"),
        (r"/check-runs", {"total_count": 9, "check_runs": []}, "runs", "0 of 9 checks"),
        (r"/actions/runs\?", {"total_count": 2, "workflow_runs": []}, "runs", "0 of 2 workflow runs"),
    ],
)
def test_a_count_that_does_not_fit_makes_the_part_incomplete(
    rig: Rig, path: str, answer: object, part: str, words: str
) -> None:
    rig.fake.faults.append(Fault(path, Reply(200, answer), times=None))
    loaded: Part = getattr(rig.load().snapshot, part)
    assert loaded.state == "partial"
    assert words in loaded.reason


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        (r"/issues/7/comments", {"conversation": "partial"}),
        (r"/issues/7/events", {"events": "unavailable"}),
        (r"/(check-runs|actions/runs)", {"runs": "unavailable", "evals": "unavailable", "results": "unavailable"}),
        (r"/artifacts", {"evals": "partial", "results": "partial"}),
        (r"/user$", {}),
    ],
)
def test_what_may_not_be_read_takes_nothing_else_with_it(rig: Rig, path: str, parts: dict[str, str]) -> None:
    """A fine-grained token without one permission: the other parts are whole."""
    rig.fail(path, 403, "Resource not accessible by personal access token", times=None)
    snapshot = rig.load().snapshot
    assert states(snapshot) == {**dict.fromkeys(PARTS, "complete"), **parts}
    for name in parts:
        part: Part = getattr(snapshot, name)
        assert "Resource not accessible" in part.reason
        assert part.remedy


def test_a_refused_token_ends_the_load_at_once(rig: Rig) -> None:
    source = GitHubSource(rig.new_client("ghp_" + "wrong" * 8), rig.cache, REPOSITORY)
    with pytest.raises(TokenRefusedError):
        source.load(rig.ref)
    assert len(rig.fake.seen) <= 8


def test_a_pull_request_that_is_not_there(rig: Rig) -> None:
    with pytest.raises(HiddenError, match=r"Pull request #99 of acme/bench is not there"):
        rig.source.load(PullRequestRef(REPOSITORY, 99, rig.fake.host))


# --- runs -------------------------------------------------------------------------------------------------------------


def test_two_runs_of_one_commit_stay_apart(rig: Rig) -> None:
    """A label or a reopening starts a second run with jobs of the same names; neither hides the other."""
    plain = rig.plain
    second = plain.sweep(2002, plain.shas[-1], hour=5)
    second.conclusion = "failure"
    second.jobs[0].conclusion = "failure"
    runs = {run.id: run for run in value(rig.load().snapshot.runs)}
    assert sorted(runs) == [1001, 2002]
    assert {job.conclusion for job in runs[1001].jobs} == {"success"}
    assert sorted(job.conclusion or "" for job in runs[2002].jobs) == ["failure", "success", "success"]


def test_two_lanes_of_one_name_are_both_told(rig: Rig) -> None:
    run = rig.plain.repository.runs[1001]
    run.jobs.append(Job(rig.plain.world.next_id(), run.jobs[0].name, "failure"))
    (told,) = value(rig.load().snapshot.runs)
    assert sorted(job.conclusion or "" for job in told.jobs if job.name == run.jobs[0].name) == ["failure", "success"]


def test_a_repeated_run_knows_the_attempt_of_each_job(rig: Rig) -> None:
    run = rig.plain.repository.runs[1001]
    run.jobs[0].conclusion = "failure"
    run.jobs.append(Job(rig.plain.world.next_id(), run.jobs[0].name, "success", attempt=2))
    run.attempt = 2
    (told,) = value(rig.load().snapshot.runs)
    assert told.attempt == 2
    assert sorted((job.run_attempt, job.conclusion) for job in told.jobs if job.name == run.jobs[0].name) == [
        (1, "failure"),
        (2, "success"),
    ]


def test_where_the_checks_of_a_commit_are_not_all_told_the_run_is_asked_for_its_jobs(rig: Rig) -> None:
    run = rig.plain.repository.runs[1001]
    run.jobs[2].conclusion = "failure"
    shown = [rig.fake.answers.check_run(rig.plain.repository, run, job) for job in run.jobs[:2]]
    rig.fake.faults.append(Fault("/check-runs", Reply(200, {"total_count": 3, "check_runs": shown}), times=None))
    (told,) = value(rig.load().snapshot.runs)
    assert sorted(job.conclusion or "" for job in told.jobs) == ["failure", "success", "success"]
    rig.fail("/jobs", 404, "Not Found", times=None)
    (told,) = value(rig.load().snapshot.runs)
    assert (len(told.jobs), told.jobs_complete) == (2, False)


def test_unknown_states_pass_through(rig: Rig) -> None:
    run = rig.plain.repository.runs[1001]
    run.jobs[0].conclusion, run.jobs[1].conclusion, run.jobs[1].status = "stale", None, "requested"
    run.jobs[2].conclusion = "a_word_of_the_future"
    (told,) = value(rig.load().snapshot.runs)
    assert {job.conclusion for job in told.jobs} == {"stale", None, "a_word_of_the_future"}


@pytest.mark.parametrize(
    "words",
    [
        "https://github.com/acme/bench/actions/runs/3003/job/5?pr=7",
        "https://inference.example/evaluation?unofficialRun=3003",
        "/reuse-sweep-run 3003",
        "/reuse-sweep-run\r\n3003",
        "Words before\r\n  /use 3003  \r\nwords after",
    ],
)
def test_a_run_that_the_conversation_names_is_loaded_too(rig: Rig, words: str) -> None:
    """Also one on a commit that is no more part of the pull request."""
    plain = rig.plain
    gone = plain.git.commit({"x": "1"}, parents=[plain.base])
    plain.sweep(3003, gone, hour=9, head_branch="elsewhere")
    plain.say(words)
    runs = {run.id: run for run in value(rig.load().snapshot.runs)}
    assert (runs[3003].head_sha, len(runs[3003].jobs)) == (gone, 3)
    assert {score.run_id for score in value(rig.load().snapshot.evals)} == {1001, 3003}


def test_a_named_run_that_is_gone_is_said(rig: Rig) -> None:
    rig.plain.say("/use 424242")
    snapshot = rig.load().snapshot
    assert snapshot.runs.state == "partial"
    assert "424242" in snapshot.runs.reason


def test_runs_of_other_branches_and_of_a_forks_main_are_not_taken(rig: Rig) -> None:
    plain = rig.plain
    plain.sweep(4004, plain.base, hour=3, head_branch="main")
    plain.pull.head_ref, plain.pull.head_repo = "main", "stranger/bench"
    snapshot = rig.load().snapshot
    assert [run.id for run in value(snapshot.runs)] == [1001]
    assert snapshot.info.value is not None
    assert snapshot.info.value.head_repository is None  # the fork is deleted
    assert not rig.paths("branch=main")


# --- what was measured ------------------------------------------------------------------------------------------------


def test_the_newest_artifact_of_a_name_counts(rig: Rig) -> None:
    """All attempts of a run leave their artifacts in one list."""
    run = rig.plain.repository.runs[1001]
    newer = rig.plain.artifact("eval_results_all", "agg_eval_all.json", [eval_row(16, em_strict=0.5, score=0.5)])
    newer.created_at = "2026-08-11T00:00:00Z"
    run.artifacts.insert(0, newer)
    assert [score.strict for score in value(rig.load().snapshot.evals)] == [0.5]


def test_an_expired_artifact_is_said(rig: Rig) -> None:
    rig.plain.repository.runs[1001].artifacts[0].expired = True
    snapshot = rig.load().snapshot
    assert (snapshot.evals.state, value(snapshot.evals)) == ("partial", ())
    assert "has expired" in snapshot.evals.reason
    assert rig.paths("/zip") == [rig.paths("/zip")[0]]  # only the other one was downloaded


def test_an_artifact_that_expires_between_list_and_download(rig: Rig) -> None:
    rig.fail("/zip", 410, "Artifact has expired", times=None)
    snapshot = rig.load().snapshot
    assert snapshot.evals.state == "partial"
    assert "gone" in snapshot.evals.reason


def test_a_sweep_of_agentic_lanes_alone_has_single_results(rig: Rig) -> None:
    run = rig.plain.repository.runs[1001]
    rows = {"total_tput_tps": 99.5}
    agentic = result_row(
        4,
        scenario_type="agentic-coding",
        request_metrics={"throughput": {"per_gpu": rows}, "latency": {"e2el": {"p50": 3.0, "p90": 9.0}}},
    )
    run.artifacts = [
        Artifact(rig.plain.world.next_id(), f"bmk_agentic_x_conc{n}", archive({"x.json": _json(agentic)}), "2026-08-11")
        for n in range(3)
    ]
    snapshot = rig.load().snapshot
    assert [(row.scenario, row.throughput_per_gpu, row.end_to_end_latency) for row in value(snapshot.results)] == [
        ("agentic-coding", 99.5, 9.0)
    ] * 3
    (told,) = value(snapshot.runs)
    assert told.artifacts_complete
    assert len(told.artifacts) == 3


def _json(row: object) -> str:
    import json

    return json.dumps(row)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"no zip at all", "no readable zip"),
        (archive({"other.txt": "x"}), "holds no rows"),
        (archive({"agg_eval_all.json": "{"}), "is no JSON"),
        (archive({"agg_eval_all.json": _json([{"task": "gsm8k"}, eval_row(16)])}), "Row 1"),
    ],
)
def test_an_artifact_that_is_not_understood_is_said(rig: Rig, content: bytes, words: str) -> None:
    rig.plain.repository.runs[1001].artifacts[0].content = content
    snapshot = rig.load().snapshot
    assert snapshot.evals.state == "partial"
    assert words in snapshot.evals.reason


def test_a_zip_bomb_is_not_unpacked(rig: Rig) -> None:
    rig.plain.repository.runs[1001].artifacts[0].content = archive({"agg_eval_all.json": b" " * (70 << 20)})
    snapshot = rig.load().snapshot
    assert "unpacks to more" in snapshot.evals.reason


def test_an_artifact_is_downloaded_once(rig: Rig) -> None:
    rig.load()
    rig.fake.forget()
    assert len(value(rig.load().snapshot.evals)) == 1
    assert rig.fake.stored == []


def test_of_many_sweeps_the_newest_and_the_named_are_read(rig: Rig) -> None:
    plain = rig.build(commits=6)
    plain.say("/use 1001")
    snapshot = rig.load().snapshot
    assert {score.run_id for score in value(snapshot.evals)} == {1001, 1004, 1005, 1006}
    assert snapshot.evals.state == "partial"
    assert "1003, 1002" in snapshot.evals.reason


# --- upstream ---------------------------------------------------------------------------------------------------------


def upstream(plain: Plain) -> Pull:
    head = plain.git.commit({"docs/cookbook/a.mdx": "x\n"}, parents=[plain.base])
    repository = plain.world.repository("sgl-project/sglang", plain.git.git_dir, branches={"main": plain.base})
    pull = Pull(34357, "A recipe", plain.world.user("author"), "main", plain.base, "recipe", head)
    repository.pulls[34357] = pull
    plain.say("Recipe: https://github.com/sgl-project/sglang/pull/34357/files and acme's own /acme/bench/pull/1")
    return pull


def test_the_state_of_a_linked_pull_request(rig: Rig) -> None:
    pull = upstream(rig.plain)
    (state,) = value(rig.load().snapshot.upstream)
    assert (state.repository, state.number, state.state, state.files) == (
        "sgl-project/sglang",
        34357,
        "open",
        ("docs/cookbook/a.mdx",),
    )
    pull.state, pull.merged_at, pull.merge_commit_sha = "closed", "2026-08-11T23:00:00Z", "a" * 40
    pull.events.append(_merged(rig.plain, "a" * 40))
    (state,) = value(rig.load().snapshot.upstream)
    assert (state.state, state.merged_at, state.merge_commit) == ("merged", "2026-08-11T23:00:00Z", "a" * 40)


def _merged(plain: Plain, commit: str) -> object:
    from tests.fake_github.world import Event

    return Event("merged", plain.world.user("author"), "2026-08-11T23:00:00Z", commit_id=commit)


def test_an_organisation_that_refuses_the_token_is_asked_without(rig: Rig) -> None:
    upstream(rig.plain)
    words = "`sgl-project` forbids access via a personal access token (classic)."
    rig.fail("/sgl-project/", 403, words, times=None, tokens_only=True)
    snapshot = rig.load().snapshot
    assert [state.state for state in value(snapshot.upstream)] == ["open"]
    asked = [seen for seen in rig.fake.seen if "sgl-project" in seen.path]
    # The first refusal calls off what has not been sent yet, so one or two requests carry the token.
    with_token = [seen.path for seen in asked if "authorization" in seen.headers]
    without = [seen.path for seen in asked if "authorization" not in seen.headers]
    address = "/api/v3/repos/sgl-project/sglang/pulls/34357"
    assert sorted(without) == [address, f"{address}/files?per_page=100"]
    assert 1 <= len(with_token) == len(set(with_token))
    assert set(with_token) <= set(without)


def test_a_linked_pull_request_that_is_not_there_is_said(rig: Rig) -> None:
    rig.plain.say("https://github.com/sgl-project/sglang/pull/5")
    snapshot = rig.load().snapshot
    assert (snapshot.upstream.state, value(snapshot.upstream)) == ("partial", ())
    assert "sgl-project/sglang#5" in snapshot.upstream.reason


# --- heads and policies -----------------------------------------------------------------------------------------------


def test_an_earlier_head(rig: Rig) -> None:
    plain = rig.build(commits=3)
    snapshot = rig.load(head=plain.shas[1][:9]).snapshot
    assert snapshot.head == plain.shas[1]
    assert [commit.sha for commit in value(snapshot.commits)] == plain.shas[:2]
    assert snapshot.head_doubt == ""
    assert [run.id for run in value(snapshot.runs)] == [1002, 1001]
    assert {file.path for file in value(snapshot.files)} == {"configs/nvidia-master.yaml", "docs/new.md"}


def test_a_head_that_was_pushed_away(rig: Rig) -> None:
    plain = rig.plain
    gone = plain.git.commit({"x": "1\n"}, parents=[plain.base])
    snapshot = rig.load(head=gone).snapshot
    assert snapshot.head == gone
    assert [commit.sha for commit in value(snapshot.commits)] == [gone]
    assert f"{gone[:9]} is not in the history of #" in snapshot.head_doubt


def test_the_policy_of_another_revision(rig: Rig) -> None:
    plain = rig.plain
    older = plain.base
    plain.repository.branches["main"] = plain.git.commit({"MODELS.md": "# Models\n"}, on="main")
    assert rig.load().trees.policy.read("MODELS.md") == b"# Models\n"
    assert rig.load(policy_ref=older[:8]).trees.policy.revision == older


def test_a_merged_pull_request_is_seen_as_it_was(rig: Rig) -> None:
    plain = rig.plain
    merged = plain.git.commit({"MODELS.md": "# Models\n"}, on="main", merge=plain.shas[-1])
    plain.repository.branches["main"] = merged
    plain.pull.state, plain.pull.merged_at = "closed", "2026-08-12T00:00:00Z"
    loaded = rig.load()
    assert {file.path for file in value(loaded.snapshot.files)} == {"configs/nvidia-master.yaml", "docs/new.md"}
    assert loaded.snapshot.merge_base == plain.base
    assert loaded.trees.policy.revision == merged


def test_any_revision_as_a_tree(rig: Rig) -> None:
    source = rig.source
    assert source.tree("main").revision == rig.plain.base
    assert source.tree(rig.plain.base[:10]).list("docs") == ("docs/PR_REVIEW_CHECKLIST.md",)
    rig.fake.forget()
    assert source.tree(rig.plain.base).read("docs/PR_REVIEW_CHECKLIST.md") == b"# Checklist\n"
    assert len(rig.fake.seen) == 1  # the file; the commit and its folders are known by now
    with pytest.raises(DataError):
        source.tree("no-such-branch")


# --- while it loads ---------------------------------------------------------------------------------------------------


def test_first_content_comes_before_the_last_byte(rig: Rig) -> None:
    rig.fake.faults.append(Fault("/zip", delay=0.4, times=None, afterwards=True))
    seen_at_first: list[int] = []
    watch = Watch(
        rig.progress.append, lambda loaded: seen_at_first.append(len(rig.fake.stored)) or rig.partials.append(loaded)
    )
    final = rig.source.load(rig.ref, watch=watch)
    first = rig.partials[0].snapshot
    assert (first.head, first.info.state, first.files.state) == (final.snapshot.head, "complete", "complete")
    assert first.results.state == "unavailable"
    assert "still being loaded" in first.results.reason
    assert seen_at_first[0] == 0
    assert rig.partials[0].trees.policy.read("docs/PR_REVIEW_CHECKLIST.md") == b"# Checklist\n"


def test_progress_counts_up_to_the_whole(rig: Rig) -> None:
    rig.build(commits=4)
    rig.load()
    last = {step.stage: step for step in rig.progress}
    assert (last["check-runs of commits"].done, last["check-runs of commits"].total) == (4, 4)
    assert all(step.done == step.total for step in last.values())


def test_after_a_cancelled_load_nothing_more_is_told(rig: Rig) -> None:
    rig.fake.faults.append(Fault("/check-runs", delay=1.5, times=None))
    source, client = rig.source, rig.client
    threading.Timer(0.4, client.cancel).start()
    with pytest.raises(LoadCancelledError):
        source.load(rig.ref, watch=Watch(rig.progress.append, rig.partials.append))
    told = (len(rig.progress), len(rig.partials))
    threading.Event().wait(0.4)
    assert (len(rig.progress), len(rig.partials)) == told
    rig.fake.faults.clear()
    assert rig.load().snapshot.runs.state == "complete"


# --- cost -------------------------------------------------------------------------------------------------------------


def test_a_cold_load_is_neither_deep_nor_long(rig: Rig) -> None:
    """Ten commits with two hundred check-runs each."""
    rig.build(commits=10, lanes=200)
    rig.fake.latency = 0.2  # long beside what the machine itself takes, so that round trips can be told apart
    snapshot = rig.load().snapshot
    assert sum(len(run.jobs) for run in value(snapshot.runs)) == 2000
    assert len(rig.fake.requests()) <= 60
    assert rig.fake.depth() <= 8


def test_loading_an_unchanged_pull_request_again_costs_nothing(rig: Rig) -> None:
    rig.build(commits=4, lanes=120)
    first = rig.load().snapshot
    rig.fake.forget()
    left = rig.fake.budget.remaining
    second = rig.load().snapshot
    assert {seen.status for seen in rig.fake.requests()} == {304}
    assert rig.fake.budget.remaining == left
    assert [getattr(second, name) for name in PARTS] == [getattr(first, name) for name in PARTS]


# --- offline ----------------------------------------------------------------------------------------------------------


def test_the_cache_gives_the_same_without_the_network(rig: Rig) -> None:
    online = rig.load()
    rig.fake.stop()
    offline: Loaded = CacheSource(rig.cache, REPOSITORY, rig.fake.host).load(rig.ref)
    assert offline.snapshot.source == "cache"
    assert [getattr(offline.snapshot, name) for name in PARTS] == [getattr(online.snapshot, name) for name in PARTS]
    reads: list[Callable[[Loaded], object]] = [
        lambda loaded: loaded.trees.policy.list(""),
        lambda loaded: loaded.trees.head.read("configs/nvidia-master.yaml"),
        lambda loaded: loaded.trees.base.read("benchmarks/single_node/fixed_seq_len/a_fp8_h200.sh"),
    ]
    for read in reads:
        assert read(offline) == read(online)


# --- several at once, and a death -------------------------------------------------------------------------------------

LOADER = """\
import sys
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.sources.github.auth import Token
from reviewer_tui.sources.github.client import GitHubClient
from reviewer_tui.sources.github.hosts import parse_host
from reviewer_tui.sources.github.loader import GitHubSource, Watch
from reviewer_tui.store.cache import Cache

host, path, token = sys.argv[1:]
with Cache(path) as cache, GitHubClient(parse_host(host), Token(token, "a test"), answers=cache) as client:
    watch = Watch(lambda step: print(step.stage, flush=True))
    loaded = GitHubSource(client, cache, "acme/bench").load(PullRequestRef("acme/bench", 7, host), watch=watch)
    assert loaded.snapshot.runs.complete, loaded.snapshot.runs.reason
"""


def start_loader(rig: Rig) -> subprocess.Popen[str]:
    arguments = [rig.fake.host, str(rig.folder / "cache.sqlite"), TOKEN]
    return subprocess.Popen([sys.executable, "-c", LOADER, *arguments], stdout=subprocess.PIPE, text=True)


def test_two_processes_load_the_same_pull_request_at_once(rig: Rig) -> None:
    rig.build(commits=3, lanes=120)
    processes = [start_loader(rig) for _ in range(2)]
    for process in processes:
        process.communicate(timeout=60)
        assert process.returncode == 0
    assert rig.cache.verify().damaged == ()
    offline = CacheSource(rig.cache, REPOSITORY, rig.fake.host).load(rig.ref)
    assert len(value(offline.snapshot.runs)) == 3


def test_a_load_that_is_killed_leaves_the_cache_whole(rig: Rig) -> None:
    rig.build(commits=3, lanes=120)
    rig.load()
    head = rig.plain.git.commit({"docs/new.md": "later\n"}, on="feature")
    rig.plain.pull.head_sha = head
    rig.fake.latency = 0.05
    process = start_loader(rig)
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("folders"):
            process.kill()
            break
    process.wait(10)
    process.stdout.close()
    verified = rig.cache.verify()
    assert (verified.damaged, verified.refetch, verified.snapshots) == ((), (), 1)
    offline = CacheSource(rig.cache, REPOSITORY, rig.fake.host).load(rig.ref)
    assert offline.snapshot.head == rig.plain.shas[-1]
    assert rig.load().snapshot.head == head
