"""A small pull request with everything in it, and a large one with many sweeps: for tests and measurements."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.fake_github.world import Artifact, Comment, Event, Job, LineComment, Pull, Review, Run, World, json_archive
from tests.gitrepo import GitRepo

TOKEN = "ghp_" + "plain" * 8
REPOSITORY = "acme/bench"
NUMBER = 7
WORKFLOW = ".github/workflows/run-sweep.yml"

MASTER = """\
a-fp8-h200-sglang:
  image: lmsysorg/sglang:v0.5.12
  model: org/A
  model-prefix: a
  runner: h200
  precision: fp8
  framework: sglang
  multinode: false
  scenarios:
    fixed-seq-len:
    - isl: 8192
      osl: 1024
      search-space:
      - { tp: 8, conc-start: 4, conc-end: 16 }
"""
FILES = {
    "configs/nvidia-master.yaml": MASTER,
    "configs/amd-master.yaml": "{}\n",
    "configs/runners.yaml": "labels: {}\n",
    "docs/PR_REVIEW_CHECKLIST.md": "# Checklist\n",
    "perf-changelog.yaml": "- config-keys: [a-fp8-h200-sglang]\n",
    "benchmarks/single_node/fixed_seq_len/a_fp8_h200.sh": "#!/bin/bash\n",
    ".github/CODEOWNERS": "* @acme/core\n",
}


class Plain:
    """A repository with one pull request: `commits` commits, a sweep of `lanes` jobs on each. `before` are further
    files of main, `adds` further files that every commit of the pull request has."""

    def __init__(
        self,
        folder: Path,
        *,
        commits: int = 1,
        lanes: int = 3,
        before: Mapping[str, str] | None = None,
        adds: Mapping[str, str] | None = None,
    ) -> None:
        self.world = World()
        self.token = self.world.token(TOKEN, "reader")
        self.git = GitRepo(folder / "bench.git")
        self.base = self.git.commit({**FILES, **(before or {})}, on="main")
        self.shas = []
        for number in range(commits):
            files: dict[Any, Any] = {
                "configs/nvidia-master.yaml": MASTER.replace("conc-end: 16", f"conc-end: {32 + number}"),
                "docs/new.md": f"{number}\n",
                **(adds or {}),
            }
            parents = [self.base] if not self.shas else None
            self.shas.append(self.git.commit(files, on="feature", parents=parents, message=f"Step {number}"))
        self.repository = self.world.repository(REPOSITORY, self.git.git_dir, branches={"main": self.base})
        self.pull = Pull(
            number=NUMBER,
            title="Widen the range",
            user=self.world.user("author"),
            base_ref="main",
            base_sha=self.base,
            head_ref="feature",
            head_sha=self.shas[-1],
            body="Body\nof two lines",
            labels=["full-sweep-enabled"],
        )
        self.repository.pulls[NUMBER] = self.pull
        self.talk()
        for number, sha in enumerate(self.shas):
            self.sweep(1001 + number, sha, lanes=lanes, hour=number)

    def talk(self) -> None:
        """One of everything that can be said."""
        member, when = self.world.user("member"), "2026-08-10T12:00:00Z"
        self.pull.comments.append(Comment(11, member, "Fine\r\nby me", when, when, "MEMBER"))
        self.pull.comments.append(Comment(12, None, "From nobody", when, "2026-08-10T13:00:00Z"))
        self.pull.reviews.append(Review(21, member, "Looks right", "APPROVED", self.shas[-1], when, "MEMBER"))
        self.pull.reviews.append(Review(22, member, "", "COMMENTED", self.shas[-1], when, "MEMBER"))
        self.pull.line_comments.append(
            LineComment(31, member, "Why 32?", "configs/nvidia-master.yaml", self.shas[-1], when, "MEMBER")
        )
        self.pull.events.append(Event("labeled", member, when, "full-sweep-enabled"))

    def say(self, body: str, *, login: str = "member", association: str = "MEMBER") -> Comment:
        when = f"2026-08-11T12:00:{len(self.pull.comments) % 60:02}Z"
        comment = Comment(self.world.next_id(), self.world.user(login), body, when, when, association)
        self.pull.comments.append(comment)
        return comment

    def sweep(self, run_id: int, sha: str, *, lanes: int = 3, hour: int = 0, **facts: Any) -> Run:
        """A green sweep on a commit, with both collected artifacts."""
        jobs = [Job(self.world.next_id(), f"single-node 8k1k / / p1.000 | a fp8 h200 c{n}") for n in range(lanes)]
        run = Run(
            id=run_id,
            path=WORKFLOW,
            head_sha=sha,
            head_branch=self.pull.head_ref,
            created_at=f"2026-08-10T{hour % 24:02}:00:00Z",
            jobs=jobs,
            artifacts=[
                self.artifact("eval_results_all", "agg_eval_all.json", [eval_row(16)]),
                self.artifact("results_bmk", "agg_bmk.json", [result_row(16)]),
            ],
        )
        for name, value in facts.items():
            setattr(run, name, value)
        self.repository.runs[run_id] = run
        return run

    def artifact(self, name: str, file: str, rows: object) -> Artifact:
        return Artifact(self.world.next_id(), name, json_archive(file, rows), "2026-08-10T23:00:00Z")


def eval_row(conc: int, /, **facts: Any) -> dict[str, Any]:
    """A row of `agg_eval_all.json`, single node."""
    row = {
        "is_multinode": False,
        "model_prefix": "a",
        "model": "org/A",
        "hw": "H200",
        "framework": "sglang",
        "precision": "fp8",
        "spec_decoding": "none",
        "isl": 8192,
        "osl": 1024,
        "tp": 8,
        "ep": 1,
        "conc": conc,
        "dp_attention": "false",
        "task": "gsm8k",
        "em_strict": 0.95,
        "em_flexible": 0.94,
        "n_eff": 1319,
        "score": 0.95,
        "score_name": "em_strict",
    }
    return {**row, **facts}


def result_row(conc: int, /, **facts: Any) -> dict[str, Any]:
    """A row of `agg_bmk.json`, single node, fixed lengths."""
    row = {
        "hw": "h200",
        "conc": conc,
        "image": "lmsysorg/sglang:v0.5.12",
        "model": "org/A",
        "infmax_model_prefix": "a",
        "framework": "sglang",
        "precision": "fp8",
        "spec_decoding": "none",
        "disagg": False,
        "isl": 8192,
        "osl": 1024,
        "is_multinode": False,
        "tp": 8,
        "ep": 1,
        "dp_attention": "false",
        "tput_per_gpu": 1000.0 + conc,
        "median_intvty": 50.0,
        "median_e2el": 20.0,
        "p90_e2el": 25.0,
    }
    return {**row, **facts}
