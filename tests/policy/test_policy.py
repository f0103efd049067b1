"""The whole policy of a revision: complete on real days, named problems and never a crash on anything else."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.model.tree import DictTree
from reviewer_tui.policy.policy import Policy, load_policy
from reviewer_tui.policy.yaml_leaves import LeafError, leaves
from reviewer_tui.sources.clone import CloneSource
from tests.policy.autumn import autumn_files

# The root's models file is an old one that no layout reads beside the new one.
AUTUMN = {path: text for path, text in autumn_files().items() if path != "MODELS.md"}
SUMMER_NAMES = {
    "inferencex-e2e/docs/MODELS.md": "MODELS.md",
    "inferencex-e2e/infx/evals/thresholds.yaml": "utils/evals/thresholds.json",
    "inferencex-e2e/infx/golden_al_distribution/glm5.3_mtp.yaml": "golden_al_distribution/glm5.3_mtp.yaml",
    ".github/codeowner-signoff-verify-prompt.md": ".github/workflows/codeowner-signoff-verify.yml",
}
READ = sorted(
    path
    for path in AUTUMN
    if path.startswith(".github/")
    or path.endswith(("docs/MODELS.md", "thresholds.yaml", "glm5.3_mtp.yaml", "CHECKLIST.md"))
)


def summer(files: dict[str, bytes | str]) -> dict[str, bytes | str]:
    return {SUMMER_NAMES.get(path, path.removeprefix("inferencex-e2e/")): text for path, text in files.items()}


def unavailable_parts(policy: Policy) -> set[str]:
    names = ("template", "owners", "deprecations", "eval_bars", "golden")
    return {name for name in names if getattr(policy, name).state == "unavailable"}


def test_the_newest_layout_is_complete(autumn: DictTree) -> None:
    policy = load_policy(autumn)
    assert policy.problems == ()
    assert policy.revision == "a" * 40
    assert unavailable_parts(policy) == set()
    assert policy.translation.state == "unavailable"
    assert [check.number for check in policy.checks] == list(range(16))
    pareto = policy.check("pareto")
    assert pareto is not None
    assert pareto.number == 14
    assert policy.check("moon") is None


def test_nothing_at_all_is_named_part_by_part() -> None:
    policy = load_policy(DictTree({}))
    assert unavailable_parts(policy) == {"template", "owners", "deprecations", "eval_bars", "golden"}
    assert {problem.rule for problem in policy.problems} == {
        "layout-unknown",
        "checklist-missing",
        "verifier-missing",
        "owners-missing",
        "models-missing",
        "eval-bars-missing",
        "golden-missing",
    }
    assert all(problem.message.endswith(".") for problem in policy.problems)


def test_what_the_chinese_checklist_lacks_is_no_problem_of_the_english_one(autumn: DictTree) -> None:
    path = "inferencex-e2e/docs/PR_REVIEW_CHECKLIST_zh.md"
    policy = load_policy(DictTree({**AUTUMN, path: "# 清单\n"}, autumn.revision))
    (problem,) = policy.problems
    assert problem.path == path
    assert policy.plain_problems == ()
    assert policy.translation.reason == problem.message


@pytest.mark.parametrize("path", READ)
def test_a_missing_file_takes_its_own_part_only(path: str) -> None:
    policy = load_policy(DictTree({name: text for name, text in AUTUMN.items() if name != path}))
    # One curve of two, or the verifier, which is no part of its own.
    lost_part = not path.endswith(("glm5.3_mtp.yaml", "prompt.md"))
    assert len(unavailable_parts(policy)) == lost_part
    assert len(policy.problems) == ("glm5.3" not in path)


@settings(max_examples=60)
@given(st.sampled_from(READ), st.binary(max_size=400), st.integers(0, 4000), st.booleans(), st.booleans())
def test_any_bytes_in_any_file_are_survived(path: str, junk: bytes, at: int, spliced: bool, in_summer: bool) -> None:
    original = AUTUMN[path].encode()
    content = original[:at] + junk + original[at:] if spliced else junk
    files: dict[str, bytes | str] = {**AUTUMN, path: content}
    policy = load_policy(DictTree(summer(files) if in_summer else files))
    assert policy.layout.era == ("2026-07" if in_summer else "2026-09")
    assert len({check.name for check in policy.checks}) == len(policy.checks)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "# " + " " * 200_000 + "x\n" + "|" * 100_000 + "\n" + "-|" * 50_000,
        "- [ ] " + "agentic workloads " * 20_000 + "\n  - agentic workloads agentic workloads\n" * 2_000,
        "## Check 1" + " *" * 50_000 + "\n" + "# x\n" * 50_000,
        "*a" * 20_000 + " @x\n" + "**/" * 20_000 + "\n" + "x @a\n" * 50_000,
        "| `x1` | " + "fp8/" * 50_000 + " | " + "(" * 50_000 + " |\n",
        "## Deprecation Notice\n\n**" + "retired until 2026-01-01 `x1` " * 20_000,
        "a: &a [x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b]\n",
        "1. 弃用" + "draft 模型" * 40_000 + "\n" + "1. 弃用 MODELS.md\n" * 20_000,
        "prompt: |\n" * 50_000,
        "{" * 5_000 + '"a":' * 5_000,
    ],
)
def test_a_hostile_file_costs_no_more_than_its_size(text: str) -> None:
    zh = "inferencex-e2e/docs/PR_REVIEW_CHECKLIST_zh.md"
    for size in (60_000, 250_000, 500_000):  # just below what is read of each file
        load_policy(DictTree({**AUTUMN, **dict.fromkeys(READ, text[:size])}))
        load_policy(DictTree({**AUTUMN, zh: text[:size]} | {path: AUTUMN[path] + text[:size] for path in READ}))


def test_pure_yaml_reads_the_same_leaves() -> None:
    for text in ("a:\n  b: [1, {c: 2}]\n  'd e': |\n    x\n", '{"a": {"b": 0.5}}', "- 1\n- [2]\n"):
        assert leaves(text) == leaves(text, loader=yaml.SafeLoader)
    assert [leaf.path for leaf in leaves("a:\n  b: [1, {c: 2}]\n")] == [("a", "b", "[0]"), ("a", "b", "[1]", "c")]


@pytest.mark.parametrize("text", ["? [a]\n: 1\n", "a: *x\n", "a: [", "[" * 20 + "]" * 20, "---\na: 1\n---\nb: 1\n"])
def test_yaml_beyond_a_policy_file_is_an_error(text: str) -> None:
    with pytest.raises(LeafError):
        leaves(text)
    with pytest.raises(LeafError):
        leaves(text, loader=yaml.SafeLoader)


@pytest.mark.parametrize("day", ["2026-07-04", "2026-07-15", "2026-07-28", "2026-08-05", "2026-08-13", "2026-08-22"])
def test_real_days(real_tree: Callable[[str], DictTree], day: str) -> None:
    policy = load_policy(real_tree(day))
    assert policy.layout.era == "2026-07"
    expected = {"2026-07-04": {"models-missing", "verifier-missing"}, "2026-07-15": {"models-missing"}}
    named = {problem.rule for problem in policy.problems} - {"translation-behind"}
    assert named == expected.get(day, set())
    assert unavailable_parts(policy) == ({"deprecations"} if day < "2026-07-26" else set())
    assert policy.template.value is not None
    assert policy.template.value.version


def commits_of(clone: Path, *paths: str) -> list[str]:
    command = ["git", "-C", str(clone), "log", "--format=%H", "--since=2026-06-23", "main", "--", *paths]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def test_every_policy_revision_of_the_clone(real_clone: Path) -> None:
    """All commits of main since the checklist's days that touch a policy file: only what is known is missing."""
    commits = commits_of(
        real_clone, ".github/CODEOWNERS", "docs/PR_REVIEW_CHECKLIST.md", "docs/PR_REVIEW_CHECKLIST_zh.md", "MODELS.md",
        ".github/codeowner-signoff-verify-prompt.md", ".github/workflows/codeowner-signoff-verify.yml", "utils/evals",
        "golden_al_distribution",
    )  # fmt: skip
    assert len(commits) > 40
    known = {"models-missing", "translation-behind", "golden-missing", "verifier-missing"}
    with CloneSource(real_clone) as source:
        for commit in commits:
            policy = load_policy(source.tree(commit))
            missing = {problem.rule for problem in policy.problems}
            assert missing <= known, commit
            assert policy.template.value is not None
            assert policy.template.value.version, commit
            assert all((check.number is None) == ("verifier-missing" in missing) for check in policy.checks)
            assert not any(check.name.startswith("check-") for check in policy.checks)
