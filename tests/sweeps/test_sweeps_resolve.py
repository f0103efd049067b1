"""From rows to files: launchers read as text, scripts, recipes and helpers, in the layouts of all eras."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.model.tree import DictTree
from reviewer_tui.policy.layout import discover_layout
from reviewer_tui.sweeps.configs import Configs
from reviewer_tui.sweeps.launchers import Launcher, launcher_name
from reviewer_tui.sweeps.resolve import ResolvedFile, Resolver
from tests.sweeps import small

SINGLE = "benchmarks/single_node/fixed_seq_len"
RECIPES = "benchmarks/multi_node/srt-slurm-recipes"


def resolved(key: str, place: int = 0, tree: DictTree | None = None) -> tuple[ResolvedFile, ...]:
    configs = Configs(tree or small.tree())
    item = configs.expand([key], "none").rows[place]
    return Resolver(configs.tree, configs.layout, configs.runners).files(item.row, configs.entry(key))


def paths(files: tuple[ResolvedFile, ...], role: str) -> list[str | None]:
    return [file.path for file in files if file.role == role]


def test_each_launcher_of_a_label_starts_its_own_script() -> None:
    files = resolved("dsr1-fp8-b200-sglang")
    assert paths(files, "launcher") == ["runners/launch_b200-cw.sh", "runners/launch_b200-dgxc.sh"]
    assert paths(files, "script") == [f"{SINGLE}/dsr1_fp8_b200.sh"]
    assert paths(files, "helper") == ["benchmarks/benchmark_lib.sh"]


def test_speculation_and_framework_choose_the_script() -> None:
    files = resolved("dsr1-fp8-b200-sglang", -1)
    assert paths(files, "script") == [f"{SINGLE}/dsr1_fp8_b200_mtp.sh", f"{SINGLE}/dsr1_fp8_b200_sglang_mtp.sh"]


def test_agentic_scripts_and_the_helpers_they_name() -> None:
    files = resolved("dsv4-fp4-b200-vllm-agentic")
    folder = "benchmarks/single_node/agentic"
    assert paths(files, "script") == [f"{folder}/dsv4_fp4_b200_vllm.sh"]
    assert paths(files, "helper") == [f"{folder}/patches/fix_kv.sh"]
    assert paths(resolved("dsv4-fp4-b200-vllm-agentic", -1), "script") == [f"{folder}/dsv4_fp4_b200_vllm_mtp.sh"]


def test_a_folder_of_helpers_counts_as_a_whole() -> None:
    files = resolved("dsv4-fp4-gb200-dynamo-vllm-agentic")
    assert paths(files, "script") == ["benchmarks/multi_node/agentic/dsv4_fp4_gb200_dynamo-vllm.sh"]
    assert paths(files, "helper") == [
        "benchmarks/multi_node/amd_utils/submit.sh",
        "benchmarks/multi_node/amd_utils/bench.sh",
    ]


def test_recipes_with_a_selector() -> None:
    (recipe,) = [file for file in resolved("dsr1-fp8-gb200-dynamo-sglang") if file.role == "recipe"]
    assert recipe.path == f"{RECIPES}/sglang/dsr1/one.yaml"
    assert (recipe.wanted, recipe.selector) == ("recipes/sglang/dsr1/one.yaml", "override_a")


@pytest.mark.parametrize(
    ("setting", "path"),
    [
        ("CONFIG_FILE=recipes/vllm/called/two.yaml", f"{RECIPES}/vllm/kept/two.yaml"),
        (f"CONFIG_FILE={RECIPES}/vllm/kept/two.yaml", f"{RECIPES}/vllm/kept/two.yaml"),
        ("CONFIG_FILE=recipes/elsewhere/three.yaml", None),
    ],
)
def test_where_recipes_come_from(setting: str, path: str | None) -> None:
    text = small.MULTINODE.replace("CONFIG_FILE=recipes/sglang/dsr1/one.yaml:override_a", setting)
    files = resolved("dsr1-fp8-gb200-dynamo-sglang", tree=small.tree(nvidia=text))
    assert paths(files, "recipe") == [path]


def test_a_recipe_for_evals() -> None:
    text = small.MULTINODE.replace(
        '          - "CONFIG', '          - "EVAL_CONFIG_FILE=recipes/vllm/called/two.yaml"\n          - "CONFIG'
    )
    files = resolved("dsr1-fp8-gb200-dynamo-sglang", tree=small.tree(nvidia=text))
    assert paths(files, "eval_recipe") == [f"{RECIPES}/vllm/kept/two.yaml"]
    assert len(paths(files, "recipe")) == 1


def test_a_missing_script_says_what_was_looked_for() -> None:
    tree = small.tree({f"{SINGLE}/dsr1_fp8_b200.sh": None})
    scripts = [file for file in resolved("dsr1-fp8-b200-sglang", tree=tree) if file.role == "script"]
    assert [(script.path, script.wanted) for script in scripts] == [
        (None, f"{SINGLE}/dsr1_fp8_b200.sh"),
        (None, f"{SINGLE}/dsr1_fp8_b200_sglang.sh"),
    ]


def test_a_label_that_is_not_defined_is_taken_by_its_text() -> None:
    text = small.FIXED.replace("runner: b200", "runner: b200-dgxc")
    files = resolved("dsr1-fp8-b200-sglang", tree=small.tree(nvidia=text))
    assert paths(files, "launcher") == ["runners/launch_b200-dgxc.sh"]
    unknown = small.FIXED.replace("runner: b200", "runner: b200x")
    assert paths(resolved("dsr1-fp8-b200-sglang", tree=small.tree(nvidia=unknown)), "launcher") == []


def test_without_launchers_the_usual_name_is_found() -> None:
    without: dict[str, str | None] = {path: None for path in small.SCRIPTS if path.startswith("runners/")}
    files = resolved("dsr1-fp8-b200-sglang", tree=small.tree(without))
    assert paths(files, "script") == [f"{SINGLE}/dsr1_fp8_b200.sh"]


def moved(files: Mapping[str, str], **folders: str) -> DictTree:
    """The files in other folders: old start to new start."""
    renamed: dict[str, str] = {}
    for path, text in files.items():
        start = next((old for old in folders if path.startswith(f"{old}/")), None)
        renamed[f"{folders[start]}{path[len(start) :]}" if start else path] = text
    return DictTree(renamed)


def test_the_layout_of_june() -> None:
    files = resolved("dsr1-fp8-b200-sglang", tree=moved(small.files(), configs=".github/configs"))
    assert paths(files, "script") == [f"{SINGLE}/dsr1_fp8_b200.sh"]


def test_the_flat_scripts_of_winter() -> None:
    launcher = 'bash benchmarks/"${EXP_NAME%%_*}_${PRECISION}_b200${FRAMEWORK_SUFFIX}${SPEC_SUFFIX}.sh"\n'
    tree = DictTree(
        {
            ".github/configs/nvidia-master.yaml": small.FIXED,
            ".github/configs/runners.yaml": "b200:\n- b200-cw_0\n",
            "benchmarks/dsr1_fp8_b200.sh": "serve\n",
            "benchmarks/dsr1_fp8_b200_mtp.sh": "serve\n",
            "runners/launch_b200-cw.sh": f"FRAMEWORK_SUFFIX=''\n{launcher}",
        }
    )
    assert paths(resolved("dsr1-fp8-b200-sglang", tree=tree), "script") == ["benchmarks/dsr1_fp8_b200.sh"]
    assert paths(resolved("dsr1-fp8-b200-sglang", -1, tree), "script") == ["benchmarks/dsr1_fp8_b200_mtp.sh"]


def test_the_recipes_of_autumn() -> None:
    root = "inferencex-e2e"
    single = small.FIXED.replace("  multinode: false", "  multinode: false\n  srt-recipe-dir: dsr1/sglang/b200-fp8")
    single = single.replace("{ tp: 8, conc-start", "{ tp: 8, srt-recipe: 8k1k.yaml:base, conc-start")
    recipe = f"{root}/benchmarks/single_node/srt-slurm-recipes/dsr1/sglang/b200-fp8/8k1k.yaml"
    tree = DictTree(
        {
            f"{root}/configs/nvidia-master.yaml": single,
            f"{root}/configs/runners.yaml": small.RUNNERS,
            f"{root}/infx/matrix/generate.py": "",
            recipe: "base: {}\n",
        }
    )
    (found,) = [file for file in resolved("dsr1-fp8-b200-sglang", tree=tree) if file.role == "recipe"]
    assert (found.path, found.selector) == (recipe, "base")


def test_the_first_script_of_a_row() -> None:
    configs = small.configs()
    resolver = Resolver(configs.tree, configs.layout, configs.runners)
    (item, *_) = configs.expand(["dsv4-fp4-b200-vllm-agentic"], "none").rows
    assert resolver.script(item.row) == "benchmarks/single_node/agentic/dsv4_fp4_b200_vllm.sh"


# --- launchers ---

ENVIRONMENT = {"EXP_NAME": "dsr1_8k1k", "PRECISION": "fp8", "FRAMEWORK": "trt", "SPEC_DECODING": "mtp"}


@pytest.mark.parametrize(
    ("text", "scripts"),
    [
        ("bash benchmarks/${EXP_NAME%%_*}_x.sh", ["benchmarks/dsr1_x.sh"]),
        ('S="${EXP_NAME%%_*}"\nbash "benchmarks/$S.sh"', ["benchmarks/dsr1.sh"]),
        ("A=one\nA=two\nbash benchmarks/$A.sh", ["benchmarks/one.sh", "benchmarks/two.sh"]),
        ("bash benchmarks/${UNSET:-given}.sh", ["benchmarks/given.sh"]),
        ("bash benchmarks/${UNSET:-}x.sh", ["benchmarks/x.sh"]),
        ("bash benchmarks/${UNSET}.sh", []),
        ("S=$(date)\nbash benchmarks/$S.sh", []),
        ("# bash benchmarks/$FRAMEWORK.sh", []),
        ("bash benchmarks/${PRECISION#fp}.sh", ["benchmarks/8.sh"]),
        ("bash benchmarks/${EXP_NAME%_*}.sh", ["benchmarks/dsr1.sh"]),
        ("bash benchmarks/${EXP_NAME%k1k}.sh", ["benchmarks/dsr1_8.sh"]),
        ("A=$B\nB=$A\nbash benchmarks/$A.sh", []),
        (
            "X=$([[ \"$FRAMEWORK\" == \"trt\" ]] && printf '_trt' || printf '')\nbash benchmarks/a$X.sh",
            ["benchmarks/a_trt.sh"],
        ),
        (
            "X=$([[ \"$FRAMEWORK\" == \"vllm\" ]] && printf 'y' || printf 'n')\nbash benchmarks/$X.sh",
            ["benchmarks/n.sh"],
        ),
        ('bash "$GITHUB_WORKSPACE/benchmarks/$PRECISION.sh"', []),
    ],
)
def test_scripts_of_a_launcher(text: str, scripts: list[str]) -> None:
    assert Launcher("x", text).scripts(ENVIRONMENT) == tuple(scripts)


def test_folders_that_a_launcher_copies() -> None:
    text = 'cp -rT "$GITHUB_WORKSPACE/a/b" \\\n   recipes/c\ncp -rT $GITHUB_WORKSPACE/d recipes/d || exit 1\ncp x y\n'
    assert Launcher("x", text).copies == [("a/b", "recipes/c"), ("d", "recipes/d")]


def test_the_name_of_a_launcher() -> None:
    assert launcher_name("b200-dgxc-slurm_01") == "launch_b200-dgxc-slurm.sh"
    assert launcher_name("mi355x") == "launch_mi355x.sh"


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "A=${B}",
                "B=$A$A$A",
                "A=",
                'B="${A%%_*}"',
                "bash benchmarks/${A}${B}${C:-$A}.sh",
                "A=`x`",
                "$(",
                "'",
                "C=x",
            ]
        ),
        max_size=12,
    ).map("\n".join)
)
def test_no_launcher_takes_long(text: str) -> None:
    assert all("$" not in path for path in Launcher("x", text).scripts({}))


def test_a_launcher_full_of_nothing() -> None:
    hostile = "benchmarks/" + "a" * 100_000 + ".sh" + "\n" + "${" * 50_000 + "\n" + "-" * 200_000
    assert Launcher("x", hostile).scripts({}) == ()
    tree = small.tree({"benchmarks/benchmark_lib.sh": "a-" * 100_000 + "\n" + "x/" * 50_000 + ".py"})
    configs = Configs(tree, discover_layout(tree))
    assert Resolver(tree, configs.layout, configs.runners).helpers("benchmarks/benchmark_lib.sh") == ()
