"""The semantic diff: what runs differently, with values and lines, and what is only written differently."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from reviewer_tui.model.config import ConfigChanges, KeyChange
from reviewer_tui.model.tree import DictTree
from reviewer_tui.sweeps.diff import config_changes
from reviewer_tui.sweeps.fields import field_changes, shown
from reviewer_tui.sweeps.points import identity
from tests.sweeps import small
from tests.sweeps.yamls import values

SGLANG = "dsr1-fp8-b200-sglang"
MULTINODE = "dsr1-fp8-gb200-dynamo-sglang"
AGENTIC = "dsv4-fp4-b200-vllm-agentic"
EP_ARM = "{ tp: 8, ep: 8, dp-attn: true, conc-list: [16, 64, 32] }"
MTP_ARM = "{ tp: 4, conc-start: 4, conc-end: 8, spec-decoding: mtp }"
SCRIPT = "benchmarks/single_node/fixed_seq_len/dsr1_fp8_b200.sh"


def changes(new: str, old: str = small.ALL) -> ConfigChanges:
    return config_changes(small.tree(nvidia=old), small.tree(nvidia=new))


def only(seen: ConfigChanges) -> KeyChange:
    (change,) = seen.keys
    return change


def test_nothing_changes() -> None:
    assert config_changes(small.tree(), small.tree()) == ConfigChanges()


def test_points_that_are_added() -> None:
    change = only(changes(small.ALL.replace("[16, 64, 32]", "[16, 64, 32, 128]")))
    assert (change.key, change.change, change.points_kept) == (SGLANG, "changed", 10)
    (point,) = change.points_added
    assert (point.conc, point.label, point.scenario, point.evaluated) == (
        128,
        "8k1k tp8 ep8 dpa",
        "fixed-seq-len",
        True,
    )
    assert "128" in small.ALL.replace("[16, 64, 32]", "[16, 64, 32, 128]").split("\n")[point.line - 1]
    (field,) = change.fields
    assert field.field == "scenarios.fixed-seq-len.1.search-space.0.conc-list"
    assert (field.old, field.new) == ("[16, 64, 32]", "[16, 64, 32, 128]")
    assert field.old_line == field.new_line == point.line


def test_an_image_changes_every_point() -> None:
    text = small.ALL.replace("lmsysorg/sglang:v1", "lmsysorg/sglang:v2", 1)
    change = only(changes(f"# moved down\n{text}"))
    assert [(field.field, field.old, field.new) for field in change.fields] == [
        ("image", "lmsysorg/sglang:v1", "lmsysorg/sglang:v2")
    ]
    assert (change.fields[0].old_line, change.fields[0].new_line) == (2, 3)
    assert (len(change.points_added), len(change.points_removed), change.points_kept) == (10, 10, 0)


def test_added_and_removed_keys() -> None:
    added = only(changes(small.ALL, small.ALL.replace(small.AGENTIC, "")))
    assert (added.key, added.change, added.old, len(added.points_added)) == (AGENTIC, "added", None, 3)
    assert [point.evaluated for point in added.points_added] == [False, False, True]
    removed = only(changes(small.ALL.replace(small.AGENTIC, "")))
    assert (removed.key, removed.change, removed.new, len(removed.points_removed)) == (AGENTIC, "removed", None, 3)


def test_a_renamed_key() -> None:
    change = only(changes(small.ALL.replace(f"{SGLANG}:", f"{SGLANG}-new:")))
    assert (change.key, change.change, change.previous_key) == (f"{SGLANG}-new", "renamed", SGLANG)
    assert (change.points_added, change.points_removed, change.points_kept, change.fields) == ((), (), 10, ())


def test_a_renamed_key_with_a_new_image() -> None:
    new = small.ALL.replace(f"{SGLANG}:\n  image: lmsysorg/sglang:v1", f"{SGLANG}-2:\n  image: lmsysorg/sglang:v2")
    change = only(changes(new))
    assert (change.change, change.previous_key) == ("renamed", SGLANG)
    assert [field.field for field in change.fields] == ["image"]


def test_another_kind_of_key_is_no_rename() -> None:
    new = small.ALL.replace(f"{SGLANG}:", f"{SGLANG}-mtp:").replace("conc-start: 4, conc-end: 48", "conc-list: [3]")
    new = new.replace("dp-attn: true, conc-list: [16", "spec-decoding: mtp, conc-list: [16")
    assert sorted((change.key, change.change) for change in changes(new).keys) == [
        (SGLANG, "removed"),
        (f"{SGLANG}-mtp", "added"),
    ]
    fp4 = small.ALL.replace(f"{SGLANG}:", "dsr1-fp4-b200-sglang:").replace(
        "precision: fp8\n  framework: sglang", "precision: fp4\n  framework: sglang"
    )
    assert sorted(change.change for change in changes(fp4).keys) == ["added", "removed"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  runner: b200\n  precision: fp8\n", "  precision: fp8\n  runner: b200\n"),
        ("  runner: b200\n", "  # why\n  runner: b200  # because\n"),
        ("tp: 8, ep: 8, dp-attn: true", "dp-attn: true, ep: 8, tp: 8"),
        (f"- {EP_ARM}\n      - {MTP_ARM}", f"- {MTP_ARM}\n      - {EP_ARM}"),
        ("image: lmsysorg/sglang:v1", "image: 'lmsysorg/sglang:v1'"),
    ],
)
def test_other_words_for_the_same(old: str, new: str) -> None:
    assert old in small.ALL
    seen = changes(small.ALL.replace(old, new, 1))
    assert (seen.keys, seen.reworded) == ((), (SGLANG,))


def test_comments_and_keys_in_another_order_are_nothing() -> None:
    parts = [small.AGENTIC, small.FIXED, small.AGENTIC_MULTINODE, small.MULTINODE]
    assert changes("# all new\n" + "\n\n# note\n".join(parts)) == ConfigChanges()


def test_a_key_that_moves_to_the_other_file_stays() -> None:
    old = small.tree()
    new = small.tree(nvidia=small.ALL.replace(small.AGENTIC, ""), amd=small.AMD_FIXED + small.AGENTIC)
    assert config_changes(old, new) == ConfigChanges()


def test_a_new_layout_is_no_change() -> None:
    files = small.files()
    moved = {path.replace("configs/", ".github/configs/"): text for path, text in files.items()}
    assert config_changes(DictTree(moved), DictTree(files)) == ConfigChanges()
    autumn = {f"inferencex-e2e/{path}": text for path, text in files.items() if not path.startswith("runners/")}
    seen = config_changes(DictTree(files), DictTree(autumn))
    assert seen.keys == ()


def test_nested_settings_of_workers() -> None:
    new = small.ALL.replace("override_a", "override_b").replace("          num-worker: 2", "          num-worker: 3")
    fields = {field.field: (field.old, field.new) for field in only(changes(new)).fields}
    start = "scenarios.fixed-seq-len.0.search-space.0.prefill"
    assert fields == {
        f"{start}.num-worker": ("2", "3"),
        f"{start}.additional-settings": (
            "[CONFIG_FILE=recipes/sglang/dsr1/one.yaml:override_a]",
            "[CONFIG_FILE=recipes/sglang/dsr1/one.yaml:override_b]",
        ),
    }


def test_arms_are_matched_by_their_topology() -> None:
    new = small.ALL.replace(
        "      - { tp: 8, ep: 8, dp-attn: true, conc-list: [16, 64, 32] }\n      - { tp: 4, conc-start: 4,",
        "      - { tp: 2, conc-list: [1] }\n      - { tp: 4, conc-start: 2,",
    )
    fields = [(field.field.rpartition("search-space.")[2], field.old, field.new) for field in only(changes(new)).fields]
    assert fields == [
        ("0.tp", "8", "2"),
        ("0.conc-list", "[16, 64, 32]", "[1]"),
        ("0.ep", "8", None),
        ("0.dp-attn", "true", None),
        ("1.conc-start", "4", "2"),
    ]


def test_files_behind_a_key() -> None:
    other = f"{small.SCRIPTS[SCRIPT]}serve --more\n"
    seen = config_changes(small.tree(), small.tree({SCRIPT: other}))
    change = only(seen)
    assert (change.key, change.change, change.fields, change.files) == (SGLANG, "changed", (), (SCRIPT,))
    assert (change.points_added, change.points_kept) == ((), 10)
    assert seen.shared_files == ()


def test_a_recipe_behind_a_key() -> None:
    path = "benchmarks/multi_node/srt-slurm-recipes/sglang/dsr1/one.yaml"
    change = only(config_changes(small.tree(), small.tree({path: "base: {tp: 8}\n"})))
    assert (change.key, change.files) == (MULTINODE, (path,))


def test_shared_files_belong_to_no_key() -> None:
    more: dict[str, str | None] = {"benchmarks/benchmark_lib.sh": "changed\n", "runners/launch_b200-cw.sh": None}
    seen = config_changes(small.tree(), small.tree(more))
    assert seen.keys == ()
    assert seen.shared_files == ("benchmarks/benchmark_lib.sh", "runners/launch_b200-cw.sh")
    both = config_changes(small.tree(), small.tree(more, nvidia=small.ALL.replace("[16, 64, 32]", "[16]")))
    assert set(only(both).files) == {"benchmarks/benchmark_lib.sh", "runners/launch_b200-cw.sh"}
    assert both.shared_files == seen.shared_files


def test_archived_scripts_are_left_out() -> None:
    path = "benchmarks/single_node/fixed_seq_len/deprecated/dsr1_fp8_b200.sh"
    assert config_changes(small.tree(), small.tree({path: "x\n"})) == ConfigChanges()


def test_problems_name_their_side() -> None:
    broken = small.ALL.replace("conc-end: 48", "conc-end: 2")
    seen = changes(broken)
    assert [problem.rule for problem in seen.problems] == ["concurrency"]
    assert seen.base_problems == ()
    back = changes(small.ALL, broken)
    assert [problem.rule for problem in back.base_problems] == ["concurrency"]
    assert back.problems == ()


def test_a_generator_that_changed_is_said() -> None:
    path = "utils/matrix_logic/generate_sweep_configs.py"
    source = "def generate_test_config_sweep(): ...\ndef multinode_agentic_exp_name(): ...\n"
    seen = config_changes(small.tree({path: source}), small.tree({path: f"{source}new = 1\n"}))
    assert [(problem.rule, problem.path) for problem in seen.problems] == [("generator-changed", path)]


def test_each_side_follows_its_own_generator() -> None:
    path = "utils/matrix_logic/generate_sweep_configs.py"
    source = "def generate_test_config_sweep(): ...\n"
    old = small.tree({path: source})
    new = small.tree({path: f"{source}Fields.PP.value"}, nvidia=small.ALL.replace("[16, 64, 32]", "[16]"))
    change = only(config_changes(old, new))
    assert "pp" not in change.points_removed[0].row
    assert change.points_kept == 0


def test_memory_budgets_follow_the_runners_file() -> None:
    text = small.RUNNERS.replace("2_000_000", "1_000_000")
    nvidia = small.ALL.replace("conc-list: [8] }", "conc-list: [8, 9] }")
    change = only(config_changes(small.tree(), small.tree(nvidia=nvidia, runners=text)))
    assert [point.row["total-cpu-dram-gb"] for point in change.points_added] == [262, 262]
    assert [point.row["total-cpu-dram-gb"] for point in change.points_removed] == [524]


def test_configs_that_are_not_there() -> None:
    empty = DictTree({"README.md": "words"})
    assert config_changes(empty, empty) == ConfigChanges()
    assert {change.change for change in config_changes(empty, small.tree()).keys} == {"added"}


def test_broken_files_are_problems() -> None:
    seen = changes("a: [1\n")
    assert [problem.rule for problem in seen.problems] == ["yaml"]
    assert {change.change for change in seen.keys} == {"removed"}
    entry = changes(f"{small.ALL}odd: 5\n")
    assert [problem.rule for problem in entry.problems] == ["no-fields"]


def test_identities_leave_marks_aside() -> None:
    change = only(changes(small.ALL.replace("[16, 64, 32]", "[16, 64, 32, 128]")))
    (point,) = change.points_added
    marked = type(point)(
        key=point.key,
        scenario=point.scenario,
        label=point.label,
        conc=point.conc,
        row={**point.row, "run-eval": True, "eval-only": True},
    )
    assert identity(marked) == identity(point)


def test_values_on_one_line() -> None:
    assert shown({"a": [1, True, None], "b": {"c": "x"}}) == "{a: [1, true, null], b: {c: x}}"
    assert len(shown("x" * 5000)) == 400


@settings(max_examples=60, deadline=None)
@given(values(), values())
def test_equal_entries_have_no_changes_and_others_some(one: object, other: object) -> None:
    old = small.entry_of(small.FIXED)
    first = type(old)(key="k", path="x", line=1, end_line=1, fields={"a": one, "router": other})
    second = type(old)(key="k", path="x", line=1, end_line=1, fields={"a": other, "router": other})
    assert field_changes(first, first) == ()
    assert bool(field_changes(first, second)) == (one != other or type(one) is not type(other))


def test_a_script_under_another_name_is_no_change() -> None:
    named = SCRIPT.replace("dsr1_fp8_b200", "dsr1_fp8_b200_sglang")
    seen = config_changes(small.tree(), small.tree({SCRIPT: None, named: small.SCRIPTS[SCRIPT]}))
    assert seen.keys == ()
    other = config_changes(small.tree(), small.tree({SCRIPT: None, named: "serve --other\n"}))
    assert only(other).files == (SCRIPT, named)
