"""Results that are worked out once for all revisions in which the files behind them are the same."""

from __future__ import annotations

from reviewer_tui.launch.points import launch_of
from reviewer_tui.launch.remembered import Remembered
from reviewer_tui.model.tree import DictTree, Tree
from reviewer_tui.policy.layout import discover_layout
from reviewer_tui.sweeps.resolve import ResolvedFile

FILES = {"lib/one.sh": "1", "lib/two.sh": "2", "other.md": "x"}


class Counted:
    """Something worked out from a tree, which counts how often it is."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, tree: Tree) -> str:
        self.times += 1
        found = [tree.read("lib/one.sh"), tree.read("lib/three.sh"), tree.list("lib")]
        return f"{found} {tree.blob('lib/two.sh')}"


def test_files_that_were_not_asked_for_do_not_count() -> None:
    kept, work = Remembered[str](8), Counted()
    first = kept.get(DictTree(FILES), b"question", work)
    assert kept.get(DictTree({**FILES, "other.md": "y", "new.md": "z"}, "later"), b"question", work) == first
    assert work.times == 1


def test_each_answer_of_the_tree_counts() -> None:
    changed: tuple[dict[str, str], ...] = (
        {**FILES, "lib/one.sh": "changed"},
        {**FILES, "lib/two.sh": "changed"},
        {**FILES, "lib/three.sh": "come"},
        {**FILES, "lib/four.sh": "come"},
        {"lib/two.sh": "2", "other.md": "x"},
    )
    for files in changed:
        kept, work = Remembered[str](8), Counted()
        kept.get(DictTree(FILES), b"question", work)
        assert kept.get(DictTree(files), b"question", work) == Counted()(DictTree(files))
        assert work.times == 2


def test_another_question_has_another_answer() -> None:
    kept = Remembered[str](8)
    assert kept.get(DictTree(FILES), b"one", lambda tree: "1") == "1"
    assert kept.get(DictTree(FILES), b"two", lambda tree: "2") == "2"
    assert kept.get(DictTree(FILES), b"one", lambda tree: "3") == "1"


def test_the_ones_used_last_are_kept() -> None:
    kept, work = Remembered[str](2), Counted()
    for question in (b"one", b"two", b"one", b"three", b"one"):
        kept.get(DictTree(FILES), question, work)
    assert work.times == 3
    kept.get(DictTree(FILES), b"two", work)
    assert work.times == 4


def test_a_launch_follows_its_script_and_its_row() -> None:
    script = "benchmarks/single_node/fixed_seq_len/m_fp8_b200.sh"
    serve = "vllm serve $MODEL --tensor-parallel-size $TP {more}\n"
    files = (ResolvedFile(role="script", path=script, wanted=script),)

    def flags(more: str, tp: int, aside: str = "") -> list[str]:
        tree = DictTree({script: serve.format(more=more), "README.md": aside})
        row = {"model": "org/m", "tp": tp, "conc": 4}
        (worker,) = launch_of(tree, discover_layout(tree), row, files).workers
        return [str(argument) for argument in worker.argv]

    assert flags("", 4) == ["vllm", "serve", "org/m", "--tensor-parallel-size", "4"]
    assert flags("", 4, aside="changed") == flags("", 4)
    assert flags("", 8) == ["vllm", "serve", "org/m", "--tensor-parallel-size", "8"]
    assert flags("--max-num-seqs 3", 4)[-2:] == ["--max-num-seqs", "3"]
