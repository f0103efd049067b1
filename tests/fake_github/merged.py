"""What main published before a pull request: earlier pull requests with their entries, merges and sweeps."""

from __future__ import annotations

from typing import Any

from tests.fake_github.plain import WORKFLOW, Plain
from tests.fake_github.world import Artifact, Comment, Pull, Run, json_archive

KEY = "a-fp8-h200-sglang"

WORKFLOW_TEXT = """\
name: Run Sweep
on:
  push:
    branches: [main]
    paths: ["perf-changelog.yaml"]
  pull_request:
    branches: [main]
    paths: ["perf-changelog.yaml"]
jobs:
  setup:
    runs-on: ubuntu-latest
  sweep-8k1k:
    name: single-node 8k1k /
    uses: ./.github/workflows/benchmark-tmpl.yml
"""
VERIFY_WORKFLOW = """\
name: Verify sign-off
on: [issue_comment]
jobs:
  verify:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/github-script@v8
        with:
          script: |
            await github.rest.repos.createCommitStatus({ owner, repo, sha, state,
              context: 'codeowner-signoff-verify', target_url });
"""
OTHER_WORKFLOW = """\
name: Lint
on:
  push:
    paths: ["perf-changelog.yaml"]
jobs:
  lint:
    name: lint /
"""


def entry(number: int, key: str = KEY, more: str = "") -> str:
    """A changelog entry of a pull request."""
    link = f"https://github.com/acme/bench/pull/{number}"
    return f'- config-keys:\n    - {key}\n  description:\n    - "Step {number}"\n  pr-link: {link}\n{more}'


def files(*numbers: int, history: str = "") -> dict[str, str]:
    """The files of main, where these pull requests are merged, the last one last."""
    return {
        WORKFLOW: WORKFLOW_TEXT,
        ".github/workflows/lint.yml": OTHER_WORKFLOW,
        "perf-changelog.yaml": history or "\n".join(entry(number) for number in numbers),
    }


def head_files(*numbers: int, history: str = "") -> dict[str, str]:
    """What the pull request adds to these files of main."""
    before = files(*numbers, history=history)["perf-changelog.yaml"]
    return {"perf-changelog.yaml": f"{before}\n{entry(7)}"}


def merge(world: Plain, number: int, *rows: dict[str, Any], day: int = 1, subject: str = "", **facts: Any) -> Run:
    """Main's run for the merge of a pull request on a day of July, with the rows that it measured itself, if any."""
    sha = world.git.commit({f"merged-{number}": "x"}, on="elsewhere", message=subject or f"Step (#{number})")
    artifacts = [artifact(world, rows)] if rows else [artifact(world, {}, "changelog-metadata")]
    run = Run(
        id=2000 + number,
        path=WORKFLOW,
        head_sha=sha,
        head_branch="main",
        event="push",
        created_at=f"2026-07-{day:02}T09:00:00Z",
        artifacts=artifacts,
    )
    for name, value in facts.items():
        setattr(run, name, value)
    world.repository.runs[run.id] = run
    return run


def artifact(world: Plain, rows: object, name: str = "results_bmk", **facts: Any) -> Artifact:
    content = json_archive("agg_bmk.json", rows)
    return Artifact(world.world.next_id(), name, content, "2026-07-01T10:00:00Z", **facts)


def reused(world: Plain, number: int, *rows: dict[str, Any], body: str = "", association: str = "MEMBER") -> Run:
    """The merged pull request itself with its own sweep, and the command that lets the merge reuse it."""
    sha = world.git.commit({f"swept-{number}": "x"}, on=f"branch-{number}", parents=[world.base])
    member = world.world.user("member")
    when = "2026-06-20T09:00:00Z"
    world.repository.pulls[number] = Pull(
        number=number,
        title=f"Step {number}",
        user=member,
        base_ref="main",
        base_sha=world.base,
        head_ref=f"branch-{number}",
        head_sha=sha,
        state="closed",
        merged_at=when,
        comments=[Comment(world.world.next_id(), member, body or "/reuse-sweep-run", when, when, association)],
    )
    run = Run(
        id=3000 + number,
        path=WORKFLOW,
        head_sha=sha,
        head_branch=f"branch-{number}",
        created_at=when,
        artifacts=[artifact(world, rows)],
    )
    world.repository.runs[run.id] = run
    return run
