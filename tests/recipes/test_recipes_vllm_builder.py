"""Our renderings against those of the recipe site's own builder.

REVIEWER_TUI_VLLM_RECIPES names a checkout of vllm-project/recipes in which the builder has run, so that its answers
are in `public/`.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reviewer_tui.model.tree import DictTree
from reviewer_tui.recipes.vllm_command import Process, Rendering
from reviewer_tui.recipes.vllm_recipe import (
    Catalog,
    Data,
    at,
    hardware_ids,
    load_catalog,
    load_recipe,
    table,
    variant_of,
)
from reviewer_tui.recipes.vllm_site import published


@pytest.fixture(scope="module")
def checkout() -> Path:
    path = os.environ.get("REVIEWER_TUI_VLLM_RECIPES")
    if not path:
        pytest.skip("REVIEWER_TUI_VLLM_RECIPES names no checkout of vllm-project/recipes")
    if not (Path(path) / "public" / "models.json").is_file():
        pytest.skip("the builder has not run in the checkout that REVIEWER_TUI_VLLM_RECIPES names")
    return Path(path)


def words(rendering: Rendering, process: Process) -> list[str]:
    return ["vllm", "serve", rendering.model, *process.argv]


def ours(rendering: Rendering) -> dict[str, Any]:
    """A rendering in the fields of the site's JSON, as far as we compute them."""
    head, *rest = rendering.processes
    told: dict[str, Any] = {
        "hardware": rendering.hardware,
        "variant": rendering.variant,
        "deploy_type": rendering.deploy_type,
        "node_count": rendering.node_count,
        "strategy": rendering.kv_store or rendering.strategy,
    }
    if rendering.deploy_type == "pd_cluster":
        for process in rendering.processes:
            told[f"{process.role}.argv"] = words(rendering, process)
            told[f"{process.role}.env"] = dict(process.env)
            told[f"{process.role}.nodes"] = rendering.pools[process.role]
        return told | {"router": ["vllm-router", *rendering.router]}
    told["env"] = dict(head.env)
    workers = [words(rendering, process) for process in rest]
    if rendering.deploy_type == "kv_store_lb":
        return told | {
            "vllm_argv": words(rendering, head),
            "vllm_worker_argvs": workers or None,
            "instances": rendering.instances,
            "serving_strategy": rendering.strategy,
        }
    if rest:
        return told | {"head_argv": words(rendering, head), "worker_argvs": workers}
    return told | {"argv": words(rendering, head)}


def theirs(answer: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in fields:
        value: Any = answer
        for key in field.split("."):
            value = value[key]
        found[field] = value["command"].replace("\\", "").split() if field == "router" else value
    return found


def pages(recipes: dict[str, Data]) -> Iterator[tuple[str, Data, str]]:
    """Address, recipe and variant of every page: the recipe's own, and one for each checkpoint of a variant.

    Of two variants with one checkpoint the builder's later one overwrites the earlier.
    """
    for name, recipe in recipes.items():
        targets = {name: "default"}
        for key, variant in table(recipe.get("variants")).items():
            model = variant.get("model_id")
            if isinstance(model, str) and "/" in model and model not in recipes:
                targets[model] = key
        for address, key in targets.items():
            if isinstance(at(recipe, "variants", key), dict):
                yield address, recipe, key


def compared(folder: Path, address: str, recipe: Data, key: str, catalog: Catalog) -> Iterator[tuple[str, Path]]:
    """What was compared on one page; every difference fails."""
    public = folder / "public"
    for hardware in hardware_ids(recipe, variant_of(recipe, key), catalog):
        found = published(recipe, key, hardware, catalog)
        file = public / address / "hw" / f"{hardware}.json"
        assert (found is not None) is file.is_file(), f"{address} {hardware}"
        if found is None:
            continue
        answer = json.loads(file.read_text())
        fields = ours(found.recommended)
        assert fields == theirs(answer, fields), f"{address} {hardware}"
        yield "recommended", file
        links = answer.get("alternatives", {})
        assert set(found.alternatives) == set(links), f"{address} {hardware}"
        for strategy, link in links.items():
            fields = ours(found.alternatives[strategy])
            answer = json.loads((public / link.lstrip("/")).read_text())
            assert fields == theirs(answer, fields), f"{address} {hardware} {strategy}"
            yield "alternative", public / link.lstrip("/")


def test_every_rendering_equals_the_builders(checkout: Path) -> None:
    files = {
        str(path.relative_to(checkout)): path.read_bytes()
        for folder in ("models", "strategies", "kv_store")
        for path in (checkout / folder).rglob("*.yaml")
    }
    tree = DictTree({**files, "taxonomy.yaml": (checkout / "taxonomy.yaml").read_bytes()})
    catalog = load_catalog(tree)
    recipes = {path[len("models/") : -len(".yaml")]: load_recipe(tree, path) for path in tree.list("models")}
    seen: set[Path] = set()
    counts: Counter[str] = Counter()
    for address, recipe, key in pages(recipes):
        for kind, file in compared(checkout, address, recipe, key, catalog):
            seen.add(file)
            counts[kind] += 1
    public = checkout / "public"
    written = {*public.rglob("hw/*.json"), *(p for p in public.rglob("strategies/*.json") if p.parent.parent != public)}
    assert not written - seen, "a rendering of the builder was not compared"
    assert counts["recommended"] > 1_000
    assert counts["alternative"] > 5_000
