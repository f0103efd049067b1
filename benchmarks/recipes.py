"""How long it takes to hold serve commands against upstream recipes: all keys of main, and single pull requests.

    REVIEWER_TUI_CLONE=DIR REVIEWER_TUI_RECIPES_CLONE=DIR REVIEWER_TUI_SGLANG_CLONE=DIR
        python benchmarks/recipes.py [rounds] [pull request ...]

The variables name clones of InferenceX (with `refs/pull/*/head`), vllm-project/recipes and sgl-project/sglang. Each
figure is the median of processes of their own, in processor time, nothing warmed up: working out the serve commands,
reading the pages, comparing; of a pull request also beside its whole review. Nothing is asserted. Only the standard
library is needed.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PULL_REQUESTS = ("2550", "2452", "2329", "2421")

ALL_KEYS = """
import os, time
from reviewer_tui.checks.recipe_coverage import best_pages
from reviewer_tui.checks.recipe_examination import demands_of
from reviewer_tui.checks.recipe_variants import arms_at
from reviewer_tui.policy.policy import load_policy
from reviewer_tui.sources.clone import CloneSource
from reviewer_tui.sources.recipe_clones import RecipeClone
from reviewer_tui.sweeps.configs import Configs

day = "9999-12-31"
clones = {
    "vllm": RecipeClone(os.environ["REVIEWER_TUI_RECIPES_CLONE"], "vllm-project/recipes"),
    "sglang": RecipeClone(os.environ["REVIEWER_TUI_SGLANG_CLONE"], "sgl-project/sglang"),
}
with CloneSource(os.environ["REVIEWER_TUI_CLONE"]) as source:
    tree = source.tree("main")
    demands, entries = demands_of(load_policy(tree)), Configs(tree).entries()
    started = time.process_time()
    single = [entry for entry in entries.values() if not entry.multinode and not entry.disagg]
    variants = [variant for entry in single for variant in arms_at(tree, entry, routers=False)[0]]
    read = time.process_time()
    pages = best_pages(variants, {engine: clone.main(day) for engine, clone in clones.items()}, demands.policy)
    done = time.process_time()
points = sum(len(variant.points) for variant in variants)
arms = len({id(arm.arm) for page in pages.values() for result in page.results for arm in result.ranked})
print(points, len(variants), arms, read - started, done - read)
"""

ONE = """
import os, sys, time
from reviewer_tui.checks.recipe_variants import arms_of
from reviewer_tui.checks.scope import submitted
from reviewer_tui.model.pull_request import PullRequestRef
from reviewer_tui.recipes.find import find
from reviewer_tui.review.load import Reviewer, ReviewRequest
from reviewer_tui.review.session import evidence_of
from reviewer_tui.sources.clone import CloneSource
from reviewer_tui.sources.recipe_clones import RecipeClone

day = "9999-12-31"
clones = {
    "vllm": RecipeClone(os.environ["REVIEWER_TUI_RECIPES_CLONE"], "vllm-project/recipes"),
    "sglang": RecipeClone(os.environ["REVIEWER_TUI_SGLANG_CLONE"], "sgl-project/sglang"),
}
with CloneSource(os.environ["REVIEWER_TUI_CLONE"]) as source:
    started = time.process_time()
    ref = PullRequestRef("SemiAnalysisAI/InferenceX", int(sys.argv[1]))
    review = Reviewer(source).review(ref, ReviewRequest(review_date="2026-08-16"))
    reviewed = time.process_time()
    evidence = evidence_of(review)
    found = [arms_of(evidence, change, routers=False) for change in submitted(evidence)]
    variants = [variant for arms in found if arms is not None for variant in arms.submitted]
    read = time.process_time()
    pages = find(variants, {engine: clone.main(day) for engine, clone in clones.items()})
    done = time.process_time()
print(len(variants), len(pages), reviewed - started, read - reviewed, done - read)
"""


def main() -> None:
    needed = ("REVIEWER_TUI_CLONE", "REVIEWER_TUI_RECIPES_CLONE", "REVIEWER_TUI_SGLANG_CLONE")
    if not all(os.environ.get(name) for name in needed):
        sys.exit(f"{', '.join(needed)} must name clones.")
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    (points, variants, arms), (launch, pages) = medians([ALL_KEYS], 3, rounds)
    print(
        f"all keys: {points} points, {variants} arms against {arms} documented ones: pages read and compared in "
        f"{pages:.2f} s, {pages / launch:.2f}x of working out the serve commands ({launch:.2f} s)"
    )
    for number in sys.argv[2:] or PULL_REQUESTS:
        (variants, found), (review, launch, pages) = medians([ONE, number], 2, rounds)
        print(
            f"#{number}: {variants} arms, {found} pages read and compared in {pages * 1000:.0f} ms, "
            f"{pages / review:.2f}x of the whole review ({review * 1000:.0f} ms; serve commands {launch * 1000:.0f} ms)"
        )


def medians(program: list[str], counts: int, rounds: int) -> tuple[list[str], list[float]]:
    """What a program counts, and the medians of what it measures, over several processes."""
    told = [run(program) for _ in range(rounds)]
    return told[-1][:counts], [statistics.median(map(float, column)) for column in zip(*told, strict=True)][counts:]


def run(program: list[str]) -> list[str]:
    """The words that a program prints in a process of its own."""
    command = [sys.executable, "-c", *program]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout.split()


if __name__ == "__main__":
    main()
