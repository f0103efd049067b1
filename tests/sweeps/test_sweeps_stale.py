"""What would merge: three-way texts, the merged tree, and evidence that no longer holds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.model.tree import DictTree, git_blob_id
from reviewer_tui.policy.layout import discover_layout
from reviewer_tui.sweeps.lines import steps
from reviewer_tui.sweeps.master import parse_master
from reviewer_tui.sweeps.merge import MergedTree, merge_masters, merge_texts, relocated
from reviewer_tui.sweeps.stale import StaleEvidence, stale_evidence
from tests.sweeps import small

SGLANG = "dsr1-fp8-b200-sglang"
MORE_POINTS = small.ALL.replace("[16, 64, 32]", "[16, 64, 32, 128]")
OTHER_MODEL = small.ALL.replace(
    "model: org/Model\n  model-prefix: dsr1\n  runner: b200",
    "model: org/Model-V2\n  model-prefix: dsr1\n  runner: b200",
)
SCRIPT = "benchmarks/single_node/fixed_seq_len/dsr1_fp8_b200.sh"


def stale(head: DictTree, main: DictTree, base: DictTree | None = None, keys: list[str] | None = None) -> StaleEvidence:
    return stale_evidence(head, head, main, base or small.tree(), keys)


def test_main_switched_the_model_under_a_swept_branch() -> None:
    seen = stale(small.tree(nvidia=MORE_POINTS), small.tree(nvidia=OTHER_MODEL))
    assert seen.compared == (SGLANG,)
    change = seen.change(SGLANG)
    assert change is not None
    assert [(field.field, field.old, field.new, field.old_line, field.new_line) for field in change.fields] == [
        ("model", "org/Model", "org/Model-V2", 3, 3)
    ]
    assert (len(change.points_added), len(change.points_removed)) == (11, 11)
    assert seen.collisions == ()


def test_a_branch_that_merged_main_is_fresh() -> None:
    merged = OTHER_MODEL.replace("[16, 64, 32]", "[16, 64, 32, 128]")
    seen = stale_evidence(
        small.tree(nvidia=merged),
        small.tree(nvidia=merged),
        small.tree(nvidia=OTHER_MODEL),
        small.tree(nvidia=OTHER_MODEL),
    )
    assert (seen.keys, seen.compared) == ((), (SGLANG,))


def test_other_keys_of_main_make_nothing_stale() -> None:
    main = small.tree(nvidia=small.ALL.replace("vllm/vllm-openai:v1", "vllm/vllm-openai:v2"), amd="")
    assert stale(small.tree(nvidia=MORE_POINTS), main).keys == ()


def test_points_that_main_added() -> None:
    main = small.ALL.replace("conc-start: 4, conc-end: 48", "conc-start: 4, conc-end: 64")
    change = stale(small.tree(nvidia=MORE_POINTS), small.tree(nvidia=main)).change(SGLANG)
    assert change is not None
    assert [point.conc for point in change.points_added] == [64]
    assert [point.conc for point in change.points_removed] == [48]


def test_files_that_main_changed() -> None:
    main = small.tree({"benchmarks/benchmark_lib.sh": "newer\n"})
    change = stale(small.tree(nvidia=MORE_POINTS), main).change(SGLANG)
    assert change is not None
    assert (change.fields, change.files) == ((), ("benchmarks/benchmark_lib.sh",))
    assert stale(small.tree(nvidia=MORE_POINTS), small.tree({"benchmarks/multi_node/other.sh": "x\n"})).keys == ()


def test_a_script_that_only_the_branch_changed_is_what_was_swept() -> None:
    head = small.tree({SCRIPT: "serve --fast\n"})
    seen = stale(head, small.tree(nvidia=small.ALL.replace(small.AGENTIC, "")))
    assert (seen.keys, seen.compared) == ((), (SGLANG,))


def test_commits_after_the_sweep_count() -> None:
    swept, head = small.tree(nvidia=MORE_POINTS), small.tree(nvidia=MORE_POINTS.replace("sglang:v1", "sglang:v2", 1))
    seen = stale_evidence(swept, head, small.tree(), small.tree())
    change = seen.change(SGLANG)
    assert change is not None
    assert [field.field for field in change.fields] == ["image"]


def test_swept_keys_that_the_branch_does_not_change() -> None:
    main = small.tree(nvidia=OTHER_MODEL)
    assert stale(small.tree(), main, keys=[SGLANG]).change(SGLANG) is not None
    assert stale(small.tree(), main).compared == ()


def test_a_key_that_main_removed() -> None:
    main = small.tree(nvidia=small.ALL.replace(small.FIXED, ""))
    change = stale(small.tree(), main, keys=[SGLANG]).change(SGLANG)
    assert change is not None
    assert change.change == "removed"


def test_lines_that_both_changed_are_said() -> None:
    head = small.tree(nvidia=small.ALL.replace("[16, 64, 32]", "[16, 64, 32, 128]"))
    main = small.tree(nvidia=small.ALL.replace("[16, 64, 32]", "[16, 64]"))
    (collision,) = stale(head, main).collisions
    assert (collision.path, collision.rule) == (small.NVIDIA, "merge-collision")


def test_a_newer_generator_alone_makes_nothing_stale() -> None:
    path = "utils/matrix_logic/generate_sweep_configs.py"
    old = "def generate_test_config_sweep(): ...\n"
    base = small.tree({path: old})
    head = small.tree({path: old}, nvidia=MORE_POINTS)
    assert stale(head, small.tree({path: f"{old}Fields.PP.value"}), base).keys == ()


def test_main_moved_its_files() -> None:
    def june(nvidia: str) -> DictTree:
        files = small.files(nvidia=nvidia)
        return DictTree({path.replace("configs/", ".github/configs/"): text for path, text in files.items()})

    assert stale(june(MORE_POINTS), small.tree(), june(small.ALL)).keys == ()
    change = stale(june(MORE_POINTS), small.tree(nvidia=OTHER_MODEL), june(small.ALL)).change(SGLANG)
    assert change is not None
    assert [field.field for field in change.fields] == ["model"]


# --- merging ---


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged", "collisions"),
    [
        ("a\nb\nc", "a\nB\nc", "a\nb\nc", "a\nB\nc", ()),
        ("a\nb\nc", "a\nb\nc", "A\nb\nc", "A\nb\nc", ()),
        ("a\nb\nc", "a\nB\nc", "a\nB\nc", "a\nB\nc", ()),
        ("a\nb\nc\nd", "A\nb\nc\nd", "a\nb\nc\nD", "A\nb\nc\nD", ()),
        ("a\nb", "A\nb", "a\nB", "A\nb", (1,)),
        ("a\nb\nc", "a\nx\nc", "a\ny\nc", "a\nx\nc", (2,)),
        ("a\nc", "a\nx\nc", "a\ny\nc", "a\ny\nx\nc", ()),
        ("a\nb\nc", "a\nc", "a\nb\nc\nd", "a\nc\nd", ()),
        ("a\nb\nc", "a\nc", "a\nB\nc", "a\nc", (2,)),
        ("", "x", "y", "x", (1,)),
    ],
)
def test_three_way_texts(base: str, ours: str, theirs: str, merged: str, collisions: tuple[int, ...]) -> None:
    assert merge_texts(base, ours, theirs) == (merged, collisions)


words = st.lists(st.sampled_from("abcd"), max_size=6).map("\n".join)


@settings(max_examples=200, deadline=None)
@given(words, words, words)
def test_a_side_that_did_nothing_leaves_the_others_text(base: str, ours: str, theirs: str) -> None:
    assert merge_texts(base, base, theirs) == (theirs, ())
    assert merge_texts(base, ours, base) == (ours, ())
    assert merge_texts(base, ours, ours) == (ours, ())
    merged, collisions = merge_texts(base, ours, theirs)
    assert merged.count("\n") <= ours.count("\n") + theirs.count("\n") + 1
    assert all(line <= merged.count("\n") + 2 for line in collisions)


def test_long_texts_merge_at_once() -> None:
    long = "\n".join(map(str, range(50_000)))
    assert merge_texts(long, f"x\n{long}", f"{long}\ny") == (f"x\n{long}\ny", ())


def test_texts_that_repeat_too_much_are_a_collision() -> None:
    base = "\n".join(["a", "b"] * 600)
    ours, theirs = "x\n" + "\n".join(["b", "a"] * 600) + "\nx", f"{base}\ny"
    merged, collisions = merge_texts(base, ours, theirs)
    assert merged.startswith("x\nb\na")
    assert len(collisions) == 1


rows = st.lists(st.sampled_from("abc"), max_size=12)


@settings(max_examples=200, deadline=None)
@given(rows, rows)
def test_steps_lead_from_one_to_the_other(old: list[str], new: list[str]) -> None:
    made: list[str] = []
    place = 0
    for kind, start, end, new_start, new_end in steps(old, new):
        assert start == place
        assert (kind == "equal") == (old[start:end] == new[new_start:new_end])
        made.extend(new[new_start:new_end])
        place = end
    assert (made, place) == (new, len(old))


def test_neighbouring_keys_never_collide() -> None:
    base = f"{small.FIXED}{small.AGENTIC}"
    ours = base.replace("spec-decoding: mtp }\ndsv4", "spec-decoding: none }\ndsv4")
    theirs = base.replace(
        "dsv4-fp4-b200-vllm-agentic:\n  image: vllm/vllm-openai:v1", "dsv4-fp4-b200-vllm-agentic:\n  image: x"
    )
    text, collisions = merge_masters(*(parse_master(side, "x") for side in (base, ours, theirs)))
    assert collisions == ()
    assert text == theirs.replace("spec-decoding: mtp }\ndsv4", "spec-decoding: none }\ndsv4")


def test_keys_that_come_and_go() -> None:
    base = f"# head\n{small.FIXED}\n{small.AGENTIC}"
    ours = f"# head\n{small.FIXED}\n{small.MULTINODE}"
    theirs = f"# head\n{small.FIXED}\n# note\n{small.AGENTIC}\n{small.AGENTIC_MULTINODE}"
    text, collisions = merge_masters(*(parse_master(side, "x") for side in (base, ours, theirs)))
    assert collisions == ()
    assert parse_master(text, "x").keys == (
        SGLANG,
        "dsv4-fp4-gb200-dynamo-vllm-agentic",
        "dsr1-fp8-gb200-dynamo-sglang",
    )


def tree_of(**files: str) -> DictTree:
    return DictTree({name.replace("_", "."): text for name, text in files.items()})


def merged_tree(base: DictTree, branch: DictTree, main: DictTree) -> MergedTree:
    return MergedTree(base, branch, main, (discover_layout(base), discover_layout(branch), discover_layout(main)))


def test_the_merged_tree() -> None:
    base = tree_of(same_txt="1", ours_txt="1", theirs_txt="1", both_txt="a\nb\nc", gone_txt="1", left_txt="1")
    branch = tree_of(same_txt="1", ours_txt="2", theirs_txt="1", both_txt="A\nb\nc", new_txt="n", left_txt="2")
    main = tree_of(same_txt="1", ours_txt="1", theirs_txt="2", both_txt="a\nb\nC", gone_txt="1", more_txt="m")
    made = merged_tree(base, branch, main)
    expected = {
        "both.txt": b"A\nb\nC",
        "left.txt": b"2",
        "more.txt": b"m",
        "new.txt": b"n",
        "ours.txt": b"2",
        "same.txt": b"1",
        "theirs.txt": b"2",
    }
    assert {path: made.read(path) for path in made.list("")} == expected
    assert {path: made.blob(path) for path in expected} == {path: git_blob_id(text) for path, text in expected.items()}
    assert made.read("gone.txt") is None
    assert made.blob("gone.txt") is None
    assert made.collisions == []


def test_paths_in_other_layouts() -> None:
    july = discover_layout(small.tree())
    june = discover_layout(DictTree({".github/configs/nvidia-master.yaml": ""}))
    autumn = discover_layout(DictTree({"inferencex-e2e/configs/nvidia-master.yaml": ""}))
    assert relocated("configs/a.yaml", july, june) == ".github/configs/a.yaml"
    assert relocated(".github/configs/a.yaml", june, autumn) == "inferencex-e2e/configs/a.yaml"
    assert relocated("benchmarks/x.sh", july, autumn) == "inferencex-e2e/benchmarks/x.sh"
    assert relocated("inferencex-e2e/benchmarks/x.sh", autumn, july) == "benchmarks/x.sh"
    assert relocated(".github/CODEOWNERS", july, autumn) == ".github/CODEOWNERS"
    assert relocated("benchmarks", july, june) == "benchmarks"
