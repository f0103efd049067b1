"""Every row of the real repository at one day: nearly all serve commands are known, and they agree with their rows."""

from __future__ import annotations

import gzip
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from reviewer_tui.launch.points import Launch, launch_of
from reviewer_tui.launch.speculation import speculation_of
from reviewer_tui.policy.layout import discover_layout
from reviewer_tui.sources.clone import CloneSource
from reviewer_tui.sweeps.resolve import Resolver
from reviewer_tui.sweeps.rows import is_multinode
from reviewer_tui.sweeps.runners import parse_runners

Found = tuple[list[tuple[dict[str, Any], Launch]], float]


@pytest.fixture(scope="module")
def launches(real_clone: Path, real_data: Path) -> Found:
    """Each row with its launch, one concurrency an arm, and the seconds that a launch took in the mean."""
    (folder,) = real_data.glob("inferencex/2026-08-22-*")
    rows = json.loads(gzip.decompress((folder / "rows-none.json.gz").read_bytes()))
    arms = {json.dumps({k: v for k, v in row.items() if k not in ("conc", "exp-name")}): row for row in rows}
    with CloneSource(real_clone) as source:
        tree = source.tree(folder.name.rpartition("-")[2])
        layout = discover_layout(tree)
        assert layout.runners is not None
        resolver = Resolver(tree, layout, parse_runners(tree.read(layout.runners) or b"", layout.runners))
        files = [(row, resolver.files(row)) for row in arms.values()]
        started = time.process_time()
        found = [(row, launch_of(tree, layout, row, resolved)) for row, resolved in files]
        return found, (time.process_time() - started) / len(found)


def test_nearly_all_serve_commands_are_known(launches: Found) -> None:
    found, seconds = launches
    assert len(found) > 500
    here = [(row, launch) for row, launch in found if not launch.missing]
    single = [(row, launch) for row, launch in here if not is_multinode(row)]
    recipes = [launch for _, launch in here if launch.recipe is not None]
    assert sum(launch.known for _, launch in single) > 0.985 * len(single)
    assert all(launch.known for launch in recipes)
    assert all(launch.workers for _, launch in here)
    assert seconds < 0.05


def test_every_flag_is_one_of_its_engine(launches: Found) -> None:
    unknown = Counter(
        (worker.engine, flag)
        for _, launch in launches[0]
        for worker in launch.workers
        if worker.engine != "other"
        for flag in worker.arguments.unknown_flags
    )
    assert not unknown


def test_servers_agree_with_their_rows(launches: Found) -> None:
    checked, speculating, plain = 0, 0, 0
    for row, launch in launches[0]:
        for worker in launch.workers:
            if launch.script and worker.model is not None and worker.known:
                checked += 1
                assert worker.model.rpartition("/")[2].lower() == row["model"].rpartition("/")[2].lower(), row
        speculates = any(speculation_of(worker) is not None for worker in launch.generating)
        if row["spec-decoding"] == "none":
            assert not speculates, row
        elif launch.known:
            speculating, plain = speculating + speculates, plain + (not speculates)
    assert checked > 200
    # A script may leave speculation out for its highest concurrencies.
    assert speculating > 100
    assert plain < 0.03 * speculating
