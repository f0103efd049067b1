"""The story of InferenceX #2550 on a fake GitHub, at its two moments.

One search-space row is added to one config key. First: swept on the old checkpoint, signed off without a merged recipe,
rejected. Second: a new head on the main that switched the checkpoint, swept again, the recipe merged upstream, passed.
Files and comments are those of the bundled sample; commits are made here, so their names are this repository's own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reviewer_tui.policy.layout import WORKFLOW_PATH as VERIFY
from reviewer_tui.sample import texts
from reviewer_tui.sample.facts import REF
from tests.fake_github.merged import VERIFY_WORKFLOW, WORKFLOW_TEXT
from tests.fake_github.plain import WORKFLOW
from tests.fake_github.world import Artifact, Comment, Event, Job, Pull, Run, Status, World, json_archive
from tests.gitrepo import GitRepo

TOKEN = "ghp_" + "s2550" * 8
REPOSITORY = REF.repository
NUMBER = REF.number
FIRST_RUN, SECOND_RUN, MAIN_RUN = 31432304739, 31628689774, 31400000001
RECIPE = ("sgl-project/sglang", 34357)
BRANCH = "qwen-tep2"

_SAMPLE = Path(texts.__file__).parent / "files"
_FIRST_DAY, _SECOND_DAY = "2026-08-11T{:02}:00:00Z", "2026-08-12T{:02}:00:00Z"
_POINT = "qwen3.5 fp4 b200 sgl"
_GREEN = (
    "check-changelog",
    "setup",
    "canary-select",
    "collect-results / collect-results",
    "collect-evals / collect-evals",
    "upload-changelog-metadata",
    "calc-success-rate",
    "comment-unofficial-run-visualizer",
    f"canary / / p2.500 | {_POINT} TP4 mtp c4",
    *(f"single-node 8k1k / / p2.500 | {_POINT} TP2 mtp c{conc}" for conc in (4, 8, 16, 32, 64)),
    *(f"single-node 8k1k / / p2.500 | {_POINT} TP2/EP2 mtp c{conc}" for conc in (16, 32, 64)),
    *(f"eval / / p2.500 | {_POINT} TP2{ep} mtp c{conc} | eval-only" for ep in ("", "/EP2") for conc in (32, 64)),
)
_SKIPPED = (
    "single-node 1k1k /",
    "agentic /",
    "multi-node 1k1k /",
    "multi-node 8k1k /",
    "multi-node agentic /",
    "agentic eval /",
    "multi-node eval /",
    "multi-node agentic eval /",
    "reuse-sweep-gate",
    "compare-results",
    "trigger-ingest",
    "trigger-agentic-ingest",
)
_SCORES = {
    FIRST_RUN: ((1, 32, 0.971, 0.962), (1, 64, 0.971, 0.960), (2, 32, 0.968, 0.958), (2, 64, 0.970, 0.961)),
    SECOND_RUN: ((1, 32, 0.970, 0.961), (1, 64, 0.966, 0.955), (2, 32, 0.969, 0.960), (2, 64, 0.968, 0.958)),
}
_RESULTS = ((16, 7534.5, 120.16), (32, 10319.8, 80.41), (64, 13290.8, 51.97))
_GAINS = ((5.85, 5.17), (8.94, 7.26), (9.46, 9.06))
_MODELS = {FIRST_RUN: "nvidia/Qwen3.5-397B-A17B-NVFP4", SECOND_RUN: "nvidia/Qwen3.5-397B-A17B-NVFP4-V2"}


class Story:
    """The world of #2550 at its first moment; `go_on` brings the second."""

    def __init__(self, folder: Path) -> None:
        self.world = World()
        self.token = self.world.token(TOKEN, "ankur-singh", scopes="repo, read:org")
        self._git = GitRepo(folder / "inferencex.git")
        self._sglang = GitRepo(folder / "sglang.git")
        git = self._git
        self.base = git.commit(_files("v1"), on="main", message="The old checkpoint")
        self.first_head = git.commit(_files("v1-tep2"), on=BRANCH, parents=[self.base], message="Add a TEP2 arm")
        self.switched = git.commit(_files("v2"), on="main", message="Switch the checkpoint (#2205)")
        self.repository = self.world.repository(REPOSITORY, git.git_dir, branches={"main": self.switched})
        self.repository.permissions = {"ankur-singh": "write", "a-collaborator": "write"}
        self.pull = Pull(
            number=NUMBER,
            title="perf(qwen3.5-fp4-b200-sglang-mtp): add TEP2 arm",
            user=self.world.user("an-author"),
            base_ref="main",
            base_sha=self.base,
            head_ref=BRANCH,
            head_sha=self.first_head,
            body="Adds tensor and expert parallelism over two GPUs.\nOne row, three points.",
            labels=["full-sweep-fail-fast"],
            events=[Event("labeled", self.world.user("a-collaborator"), _FIRST_DAY.format(8), "full-sweep-fail-fast")],
        )
        self.repository.pulls[NUMBER] = self.pull
        self._sweep(FIRST_RUN, self.first_head, _FIRST_DAY)
        self._publish()
        self._verdict(self.first_head, "failure", "Verdict: REJECTED", _FIRST_DAY.format(22))
        self._say("a-collaborator", "COLLABORATOR", _FIRST_DAY.format(20), f"/reuse-sweep-run {FIRST_RUN}")
        self._say("ankur-singh", "CONTRIBUTOR", _FIRST_DAY.format(21), texts.comment("first-sign-off"))
        self._say("github-actions[bot]", "NONE", _FIRST_DAY.format(22), texts.comment("first-verdict"))
        self.recipe = self._recipe()

    def go_on(self) -> None:
        """The second moment: main merged in, swept again, recipe merged, signed off again."""
        git, repository = self._git, self.repository
        self.second_head = git.commit(_files("v2-tep2"), on=BRANCH, merge=self.switched, message="Merge main")
        repository.branches["main"] = git.commit({"README.md": "InferenceX\n"}, on="main", message="A later commit")
        self.pull.head_sha, self.pull.base_sha = self.second_head, self.switched
        self.pull.updated_at = _SECOND_DAY.format(22)
        self._sweep(SECOND_RUN, self.second_head, _SECOND_DAY)
        self._say("a-collaborator", "COLLABORATOR", _SECOND_DAY.format(20), f"/reuse-sweep-run {SECOND_RUN}")
        self._say("ankur-singh", "CONTRIBUTOR", _SECOND_DAY.format(21), texts.comment("second-sign-off"))
        self._say("github-actions[bot]", "NONE", _SECOND_DAY.format(22), texts.comment("second-verdict"))
        self._verdict(self.second_head, "success", "Verdict: PASS", _SECOND_DAY.format(22))
        self.recipe.state, self.recipe.merged_at = "closed", _FIRST_DAY.format(23)
        self.recipe.merge_commit_sha = self.upstream.branches["main"] = self.recipe.head_sha
        self.recipe.events.append(
            Event("merged", self.world.user("a-maintainer"), _FIRST_DAY.format(23), commit_id=self.recipe.head_sha)
        )

    def _recipe(self) -> Pull:
        page = "docs/cookbook/autoregressive/Qwen/Qwen3.5.mdx"
        files = _below(_SAMPLE.parent / "upstream")
        before = {**files, page: b"# Qwen3.5\n", "python/sglang/srt/server_args.py": b"ENGINE = True\n"}
        base = self._sglang.commit(before, on="main")
        head = self._sglang.commit(files, on="b200", parents=[base])
        self.upstream = upstream = self.world.repository(RECIPE[0], self._sglang.git_dir, branches={"main": base})
        pull = Pull(
            number=RECIPE[1],
            title="Update Qwen3.5 B200 NVFP4 MTP config",
            user=self.world.user("an-author"),
            base_ref="main",
            base_sha=base,
            head_ref="b200",
            head_sha=head,
        )
        upstream.pulls[RECIPE[1]] = pull
        return pull

    def _say(self, login: str, association: str, when: str, body: str) -> None:
        """A comment as the browser sends it: with carriage returns."""
        kind = "Bot" if login.endswith("[bot]") else "User"
        user = self.world.user(login, type=kind)
        text = body.replace("\n", "\r\n")
        self.pull.comments.append(Comment(self.world.next_id(), user, text, when, when, association))

    def _sweep(self, run_id: int, head: str, day: str) -> None:
        jobs = [Job(self.world.next_id(), name) for name in _GREEN]
        jobs += [Job(self.world.next_id(), name, "skipped") for name in _SKIPPED]
        evals = [_eval(_MODELS[run_id], *score) for score in _SCORES[run_id]]
        results = [_result(_MODELS[run_id], *point) for point in _RESULTS]
        self.repository.runs[run_id] = Run(
            id=run_id,
            path=WORKFLOW,
            head_sha=head,
            head_branch=BRANCH,
            created_at=day.format(9),
            jobs=jobs,
            artifacts=[
                Artifact(self.world.next_id(), name, json_archive(file, rows), day.format(18))
                for name, file, rows in (
                    ("eval_results_all", "agg_eval_all.json", evals),
                    ("results_bmk", "agg_bmk.json", results),
                    ("changelog-metadata", "changelog_metadata.json", {}),
                )
            ],
        )

    def _verdict(self, head: str, state: str, words: str, when: str) -> None:
        """The status that the verifier leaves on the head: first that it works, then what it found."""
        bot, context = self.world.user("github-actions[bot]", type="Bot"), "codeowner-signoff-verify"
        self.repository.statuses[head] = [
            Status(self.world.next_id(), context, said, text, bot, updated_at=when)
            for said, text in (("pending", "Verifying"), (state, words))
        ]

    def _publish(self) -> None:
        """Main's sweep of #2205, with the rows over which the author tells the gains."""
        rows = [
            _result(_MODELS[SECOND_RUN], conc, throughput / (1 + gain / 100), interactivity / (1 + faster / 100))
            for (conc, throughput, interactivity), (gain, faster) in zip(_RESULTS, _GAINS, strict=True)
        ]
        name, content = "results_bmk", json_archive("agg_bmk.json", rows)
        self.repository.runs[MAIN_RUN] = Run(
            id=MAIN_RUN,
            path=WORKFLOW,
            head_sha=self.switched,
            head_branch="main",
            event="push",
            created_at="2026-08-09T10:00:00Z",
            jobs=[Job(self.world.next_id(), f"single-node 8k1k / / p2.500 | {_POINT} TP2/EP2 mtp c16")],
            artifacts=[Artifact(self.world.next_id(), name, content, "2026-08-09T18:00:00Z")],
        )


def _files(state: str) -> dict[Any, Any]:
    return {**_below(_SAMPLE / "common"), **_below(_SAMPLE / state), WORKFLOW: WORKFLOW_TEXT, VERIFY: VERIFY_WORKFLOW}


def _below(folder: Path) -> dict[Any, Any]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _eval(model: str, ep: int, conc: int, strict: float, flexible: float) -> dict[str, Any]:
    """A row as `collect_eval_results.py` writes it."""
    parallelism = {"tp": 2, "ep": ep, "prefill_tp": 2, "prefill_ep": ep, "decode_tp": 2, "decode_ep": ep}
    return {
        "is_multinode": False,
        "model_prefix": "qwen3.5",
        "model": model,
        "hw": "B200",
        "framework": "sglang",
        "precision": "fp4",
        "spec_decoding": "mtp",
        "isl": 8192,
        "osl": 1024,
        **parallelism,
        "prefill_num_workers": 1,
        "decode_num_workers": 1,
        "conc": conc,
        "dp_attention": "false",
        "prefill_dp_attention": "false",
        "decode_dp_attention": "false",
        "task": "gsm8k",
        "em_strict": strict,
        "em_strict_se": 0.005,
        "em_flexible": flexible,
        "em_flexible_se": 0.005,
        "n_eff": 1319,
        "source": "results.json",
        "score": strict,
        "score_name": "em_strict",
        "score_se": 0.005,
    }


def _result(model: str, conc: int, throughput: float, interactivity: float) -> dict[str, Any]:
    """A row as `process_result.py` writes it."""
    return {
        "hw": "b200",
        "conc": conc,
        "image": "lmsysorg/sglang:v0.5.14-cu130",
        "model": model,
        "infmax_model_prefix": "qwen3.5",
        "framework": "sglang",
        "precision": "fp4",
        "spec_decoding": "mtp",
        "disagg": False,
        "recipe_fingerprint": "",
        "isl": 8192,
        "osl": 1024,
        "is_multinode": False,
        "tp": 2,
        "pp": 1,
        "dcp_size": 1,
        "pcp_size": 1,
        "ep": 2,
        "dp_attention": "false",
        "tput_per_gpu": throughput,
        "median_intvty": interactivity,
        "median_e2el": 1024 / interactivity,
        "p90_e2el": 1100 / interactivity,
    }
