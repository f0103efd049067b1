"""Our reading of real cookbook pages against what their own scripts show to a visitor who clicks through them.

REVIEWER_TUI_SGLANG_CLONE names a clone of sgl-project/sglang; node runs the scripts.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from reviewer_tui.model.tree import Tree
from reviewer_tui.recipes import cells, sglang
from reviewer_tui.recipes.arguments import read_arguments
from reviewer_tui.recipes.arm import Argument
from reviewer_tui.recipes.choices import PICKS_PARSER
from reviewer_tui.recipes.command import server_commands
from reviewer_tui.recipes.widget import Widget
from reviewer_tui.sources.recipe_clones import RecipeClone
from tests.recipes.browser import plain_script, visit

DAY = "9999-12-31"
MOST_SELECTIONS = 1_000
ORIGIN = {"repository": sglang.REPOSITORY, "path": "config.jsx", "commit": "x", "url": ""}
# What the page's engine adds where there are several nodes, and the port that a visitor is told.
ENGINES_OWN = ("nnodes", "node_rank", "rendezvous", "port")

Shown = tuple[Any, ...]


@pytest.fixture(scope="module")
def cookbook() -> Iterator[Tree]:
    path = os.environ.get("REVIEWER_TUI_SGLANG_CLONE")
    if not path:
        pytest.skip("REVIEWER_TUI_SGLANG_CLONE names no clone of sgl-project/sglang")
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    clone = RecipeClone(path, sglang.REPOSITORY)
    yield clone.main(DAY)
    clone.close()


def snippets(tree: Tree, folder: str) -> list[str]:
    return [
        path
        for root in sglang.DOCS_ROOTS
        for path in tree.list(f"{root}/src/snippets/{folder}")
        if path.endswith(".jsx") and not path.endswith("-benchmarks.jsx")
    ]


def of_command(text: str) -> set[Shown]:
    return {(c.engine, *c.words, *sorted(c.env.items())) for c in server_commands(text)}


def test_widgets_show_exactly_what_was_read_of_them(cookbook: Tree) -> None:
    """Nothing is read that no visitor sees; what is left out is left out for CPUs only."""
    paths = snippets(cookbook, "autoregressive")
    assert paths
    compared = 0
    for path in paths:
        source = cookbook.read(path) or b""
        widget = Widget(source, path)
        shown = list(widget.commands())
        if len(shown) > MOST_SELECTIONS:
            continue
        component = re.search(rb"export const (\w+)", source)
        assert component is not None
        options = widget.offer.options
        fixed = [name for name, option in options.items() if PICKS_PARSER.search(str(option.get("title", "")))]
        job = {"script": plain_script(source), "component": component[1].decode(), "options": list(options)}
        (answer,) = visit([{**job, "fixed": fixed}])
        assert "error" not in answer, f"{path}: {answer['error']}"
        ours = {command for one in shown for command in of_command(one.text)}
        theirs = {c: state for state, text, *_ in answer["shown"] if text for c in of_command(text)}
        assert ours <= set(theirs), path
        assert all(theirs[command].get("hardware") == "xeon" for command in set(theirs) - ours), path
        compared += len(theirs)
    assert compared > 1_000


def settled(args: dict[str, Argument], env: Any) -> Shown:
    values = sorted((name, str(argument.value)) for name, argument in args.items() if name not in ENGINES_OWN)
    return (*values, *sorted(env.items()))


def test_cells_are_exactly_what_the_page_shows(cookbook: Tree) -> None:
    paths = [path for path in snippets(cookbook, "configs") if b"export const config" in (cookbook.read(path) or b"")]
    if not paths:
        pytest.skip("the clone is from before there were cells")
    compared = 0
    for path in paths:
        source = cookbook.read(path) or b""
        engine = cookbook.read(f"{path.partition('/configs/')[0]}/_deployment.jsx") or b""
        script = f"{plain_script(source)}\n{plain_script(engine)}"
        (answer,) = visit([{"script": script, "component": "Deployment", "props": "{config}", "options": ["hw"]}])
        assert "error" not in answer, f"{path}: {answer['error']}"
        theirs = {
            (state["hw"].lower(), *settled(read_arguments("sglang", command.words), command.env))
            for state, text in answer["shown"]
            for command in server_commands(text)
        }
        arms = cells.read(source, ORIGIN).arms
        ours = {(arm.hardware, *settled(dict(arm.roles[0].args), arm.roles[0].env)) for arm in arms}
        assert ours == theirs, path
        compared += len(theirs)
    assert compared > 100
