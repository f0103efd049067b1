"""Real pull requests, read from a full clone: facts that the repository's own tools gave for them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewer_tui.sources.clone import CloneSource
from reviewer_tui.sweeps.changelog import stops_ci, view_changelog
from reviewer_tui.sweeps.configs import Configs
from reviewer_tui.sweeps.diff import config_changes
from reviewer_tui.sweeps.plan import SweepPlan, coverage, plan_sweep
from reviewer_tui.sweeps.resolve import Resolver
from reviewer_tui.sweeps.stale import StaleEvidence, stale_evidence

MAIN = "843c6254f"
CHANGELOG = "perf-changelog.yaml"
QWEN = "qwen3.5-fp4-b200-sglang-mtp"


@pytest.fixture(scope="module")
def clone(real_clone: Path) -> Iterator[CloneSource]:
    with CloneSource(real_clone) as source:
        yield source


def base_of(clone: CloneSource, head: str, target: str = MAIN) -> str:
    found = clone.merge_base(target, head)
    assert found is not None
    return found


def planned(clone: CloneSource, head: str, *labels: str) -> SweepPlan:
    old, new = clone.tree(base_of(clone, head)), clone.tree(head)
    seen = view_changelog(old.read(CHANGELOG), new.read(CHANGELOG), CHANGELOG)
    assert not [problem for problem in seen.problems if stops_ci(problem)]
    return plan_sweep(seen.entries, Configs(new), Configs(old), labels)


def test_the_lanes_of_2550(clone: CloneSource) -> None:
    plan = planned(clone, "21d6bbb", "full-sweep-enabled")
    assert plan.counts == {"single-node 8k1k": 9, "eval": 4}
    assert plan.canary is not None
    assert plan.canary.row["conc"] == 4
    changes = config_changes(clone.tree(base_of(clone, "21d6bbb")), clone.tree("21d6bbb"))
    (change,) = changes.keys
    assert (change.key, len(change.points_added), len(change.points_removed), change.points_kept) == (QWEN, 3, 0, 6)
    assert coverage(changes, plan).uncovered == {}


@pytest.mark.parametrize(
    ("number", "family", "concs"),
    [
        (2302, "multi-node agentic", [[4], [12], [24]]),
        (2614, "agentic", [6]),
        (2647, "agentic", [1, 2, 4, 6]),
        (2702, "agentic", [14, 18]),
    ],
)
def test_append_only_pull_requests(clone: CloneSource, number: int, family: str, concs: list[object]) -> None:
    plan = planned(clone, f"refs/pull/{number}/head")
    assert plan.append_only
    assert plan.problems == ()
    assert list(plan.counts) == [family]
    assert [lane.row["conc"] for lane in plan.lanes] == concs


def stale(clone: CloneSource, head: str) -> StaleEvidence:
    main = "a007419c0"
    base = base_of(clone, head, main)
    return stale_evidence(clone.tree(head), clone.tree(head), clone.tree(main), clone.tree(base))


def test_the_checkpoint_switched_under_2550(clone: CloneSource) -> None:
    seen = stale(clone, "e364399")
    change = seen.change(QWEN)
    assert change is not None
    assert [(field.field, field.old, field.new) for field in change.fields] == [
        ("model", "nvidia/Qwen3.5-397B-A17B-NVFP4", "nvidia/Qwen3.5-397B-A17B-NVFP4-V2")
    ]
    assert (len(change.points_added), len(change.points_removed), change.points_kept) == (9, 9, 0)
    assert seen.collisions == ()


def test_nothing_is_stale_after_2550_merged_main(clone: CloneSource) -> None:
    seen = stale(clone, "21d6bbb")
    assert (seen.keys, seen.compared, seen.collisions) == ((), (QWEN,), ())


def test_every_single_node_script_belongs_to_a_key(clone: CloneSource) -> None:
    configs = Configs(clone.tree(MAIN))
    resolver = Resolver(configs.tree, configs.layout, configs.runners)
    reached: set[str | None] = set()
    without: set[str] = set()
    recipes: dict[tuple[str, int], bool] = {}
    for item in configs.expand(["*"], "none").rows:
        files = resolver.files(item.row, configs.entry(item.key))
        reached.update(file.path for file in files)
        if "prefill" not in item.row and not any(file.path for file in files if file.role == "script"):
            without.add(item.key)
        for recipe in (file for file in files if file.role == "recipe"):
            recipes[item.key, item.line] = recipe.path is not None
    folder = "benchmarks/single_node"
    aside = ("/deprecated/", "/speedbench/")
    scripts = {path for path in configs.tree.list(folder) if path.endswith(".sh") and not any(a in path for a in aside)}
    assert len(scripts) == 111
    assert scripts - reached == set()
    assert without == {"qwen3.5-fp8-h100-sglang-agentic"}
    assert (sum(recipes.values()), len(recipes)) == (257, 465)


@pytest.mark.parametrize("revision", ["303669b0e~1", "8fe499ff4"])
def test_older_layouts_expand(clone: CloneSource, revision: str) -> None:
    configs = Configs(clone.tree(revision))
    expansion = configs.expand(["*"], "none")
    assert expansion.problems == ()
    assert {item.key for item in expansion.rows} == set(configs.keys)
    resolver = Resolver(configs.tree, configs.layout, configs.runners)
    single = next(item for item in expansion.rows if "prefill" not in item.row)
    assert resolver.script(single.row) is not None
