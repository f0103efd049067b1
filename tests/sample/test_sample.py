"""The bundled sample: that its parts agree with each other, and that it loads from anywhere."""

from __future__ import annotations

import difflib
import subprocess
import sys
from pathlib import Path

import pytest

from reviewer_tui.checks.published import curves_beside, percent, summary_of
from reviewer_tui.model.errors import UsageError
from reviewer_tui.model.tree import Tree, read_text
from reviewer_tui.policy.items import data_file
from reviewer_tui.policy.policy import load_policy
from reviewer_tui.sample import MOMENTS, SampleMoment, load_sample
from reviewer_tui.sources.bundle import BundleSource, write_bundle
from reviewer_tui.sources.source import Loaded
from reviewer_tui.sweeps.diff import config_changes

NAMES = [moment.name for moment in MOMENTS]


@pytest.fixture(params=MOMENTS, ids=NAMES)
def moment(request: pytest.FixtureRequest) -> SampleMoment:
    chosen: SampleMoment = request.param
    return chosen


@pytest.fixture
def loaded(moment: SampleMoment) -> Loaded:
    return load_sample(moment.name)


def lines(tree: Tree, path: str) -> list[str]:
    return (read_text(tree, path) or "").splitlines()


def test_the_changed_files_are_the_difference_of_the_trees(loaded: Loaded) -> None:
    base, head = loaded.trees.base, loaded.trees.head
    paths = sorted({*base.list(""), *head.list("")})
    told = {file.path: file for file in loaded.snapshot.files.value or ()}
    assert sorted(told) == [path for path in paths if base.blob(path) != head.blob(path)]
    for path, file in told.items():
        changes = [line[0] for line in difflib.ndiff(lines(base, path), lines(head, path)) if line[0] in "+-"]
        assert (file.additions, file.deletions) == (changes.count("+"), changes.count("-"))
        assert (file.old_blob, file.new_blob) == (base.blob(path), head.blob(path))


def test_revisions_are_those_of_the_snapshot(loaded: Loaded) -> None:
    snapshot, trees = loaded.snapshot, loaded.trees
    assert snapshot.source == "sample"
    assert (snapshot.head, snapshot.merge_base) == (trees.head.revision, trees.base.revision)
    assert (snapshot.default_branch, trees.policy.revision) == (trees.default_branch.revision,) * 2


def test_one_row_is_added_and_the_entry_is_named_by_the_changelog(loaded: Loaded) -> None:
    changes = config_changes(loaded.trees.base, loaded.trees.head)
    assert [(key.key, key.change) for key in changes.keys] == [("qwen3.5-fp4-b200-sglang-mtp", "changed")]
    (key,) = changes.keys
    assert [(point.conc, point.row["tp"], point.row["ep"]) for point in key.points_added] == [
        (16, 2, 2),
        (32, 2, 2),
        (64, 2, 2),
    ]
    assert (key.points_kept, key.points_removed) == (6, ())
    added = set(lines(loaded.trees.head, "perf-changelog.yaml")) - set(lines(loaded.trees.base, "perf-changelog.yaml"))
    assert "  pr-link: https://github.com/SemiAnalysisAI/InferenceX/pull/2550" in added


def test_the_default_branch_switched_the_checkpoint_before_the_second_moment() -> None:
    models = {}
    for name in NAMES:
        trees = load_sample(name).trees
        for role in ("base", "head", "default_branch"):
            text = read_text(getattr(trees, role), "configs/nvidia-master.yaml") or ""
            models[name, role] = "NVFP4-V2" in text
    assert models == {
        ("first", "base"): False,
        ("first", "head"): False,
        ("first", "default_branch"): True,
        ("second", "base"): True,
        ("second", "head"): True,
        ("second", "default_branch"): True,
    }


def test_the_policy_of_the_day_is_read_without_a_problem(loaded: Loaded) -> None:
    policy = load_policy(loaded.trees.policy)
    assert policy.problems == ()
    assert [check.number for check in policy.checks] == list(range(12))
    assert policy.template.value is not None
    assert policy.template.value.version == "20 (2026-08-10)"
    assert len(policy.template.value.items) == 14
    assert policy.eval_bars.value is not None
    bar = policy.eval_bars.value.bar("gsm8k", "qwen3.5")
    assert bar is not None
    assert bar.value == 0.94


def test_the_template_is_the_exact_one(loaded: Loaded) -> None:
    template = data_file("templates/20-2026-08-10-f559835ae.md").read_text("utf-8")
    assert template in (read_text(loaded.trees.policy, "docs/PR_REVIEW_CHECKLIST.md") or "")


def test_runs_are_green_on_the_heads(moment: SampleMoment, loaded: Loaded) -> None:
    runs = loaded.snapshot.runs.value or ()
    assert len(runs) == NAMES.index(moment.name) + 1
    assert runs[-1].head_sha == loaded.snapshot.head
    # Of the second run only the measured lanes are told.
    for run, green_jobs, skipped in zip(runs, (21, 13), (12, 0), strict=False):
        outcomes = [job.conclusion for job in run.jobs]
        assert (outcomes.count("success"), outcomes.count("skipped")) == (green_jobs, skipped)
        assert run.jobs_complete == bool(skipped)
        green = [job.name for job in run.jobs if job.conclusion == "success"]
        assert sum(name.startswith(("canary /", "single-node 8k1k /")) for name in green) == 9
        assert sum(name.startswith("eval /") for name in green) == 4
        assert len({job.id for job in run.jobs}) == len(run.jobs)


def test_evals_are_those_of_the_run_and_of_its_checkpoint(loaded: Loaded) -> None:
    evals = loaded.snapshot.evals.value or ()
    model = next(line for line in lines(loaded.trees.head, "configs/nvidia-master.yaml") if "model: nvidia" in line)
    assert sorted((score.tp, score.ep, score.conc) for score in evals) == [
        (2, ep, c) for ep in (1, 2) for c in (32, 64)
    ]
    assert {score.model for score in evals} == {model.split(": ")[1]}
    assert {score.run_id for score in evals} == {(loaded.snapshot.runs.value or ())[-1].id}
    assert all((score.strict or 0) >= 0.94 for score in evals)


def test_results_give_back_the_gains_that_are_told(loaded: Loaded) -> None:
    published = loaded.snapshot.published.value
    assert published is not None
    (curve,) = curves_beside(loaded.snapshot.results.value or (), published)
    gains = [(percent(point.throughput or 0), percent(point.interactivity or 0)) for point in curve.matched]
    assert gains == [("+5.85 %", "+5.17 %"), ("+8.94 %", "+7.26 %"), ("+9.46 %", "+9.06 %")]
    assert summary_of(curve, loaded.snapshot.taken_at).endswith("; published by a run that is not told")


def test_the_sign_off_of_the_moment_is_in_the_conversation(moment: SampleMoment, loaded: Loaded) -> None:
    said = loaded.snapshot.conversation.value or ()
    assert moment.sign_off in [comment.body for comment in said if comment.author == moment.signer]
    verdict = said[-1]
    assert (verdict.author, verdict.is_bot) == ("github-actions[bot]", True)
    assert verdict.body.startswith(f"<!-- codeowner-signoff-verify sha={loaded.snapshot.head} -->")
    assert ("REJECTED" in verdict.body) == (moment.name == "first")
    assert [comment.id for comment in said] == list(range(1, len(said) + 1))


def test_open_boxes_of_the_sign_offs() -> None:
    first, second = (moment.sign_off for moment in MOMENTS)
    assert (first.count("- [ ]"), second.count("- [ ]")) == (3, 1)
    assert "sgl-project/sglang/pull/" not in first
    assert "https://github.com/sgl-project/sglang/pull/34357" in second


def test_an_unknown_moment() -> None:
    with pytest.raises(UsageError, match="no moment"):
        load_sample("third")


def test_the_sample_as_a_bundle(loaded: Loaded, tmp_path: Path) -> None:
    again = BundleSource(write_bundle(tmp_path / "sample.prbundle", loaded)).load(loaded.snapshot.ref)
    assert again.snapshot.conversation == loaded.snapshot.conversation
    assert again.trees.head.list("") == loaded.trees.head.list("")


def test_it_loads_from_any_folder_without_network_or_yaml(tmp_path: Path) -> None:
    code = (
        "import sys, socket; socket.socket = None\n"
        "from reviewer_tui.sample import load_sample\n"
        "assert load_sample('second').trees.head.read('MODELS.md')\n"
        "assert not {'yaml', 'httpx', 'textual', 'subprocess'} & set(sys.modules), sys.modules\n"
    )
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        (sys.executable, "-c", code),
        cwd=tmp_path,
        env={"PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
