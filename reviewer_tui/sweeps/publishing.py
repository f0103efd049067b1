"""What publishes results: the workflow that sweeps a push to the default branch, and the pull requests whose entries
measured a config key before.

A push that adds to the changelog is swept on the default branch, or reuses the sweep of the pull request that it merges
(`run-sweep.yml`); what comes of it is published. The changelog keeps every entry, so it tells which pull request
measured a key last.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from reviewer_tui.model.tree import Tree, read_text
from reviewer_tui.policy.layout import WORKFLOWS, Layout
from reviewer_tui.sweeps.changelog import ChangelogEntry, covers
from reviewer_tui.sweeps.document import read_document
from reviewer_tui.sweeps.lanes import prefix_of

_LINK = re.compile(r"/pull/(\d{1,9})(?:\D|\Z)")


def publishing_workflow(tree: Tree, layout: Layout, branch: str) -> str | None:
    """The workflow that a push of the changelog to `branch` starts and whose jobs are lanes of a sweep, as its own file
    says; None where no file says so."""
    changelog = layout.changelog
    if changelog is None:
        return None
    for path in tree.list(WORKFLOWS):
        if not path.endswith((".yml", ".yaml")):
            continue
        text = read_text(tree, path) or ""
        if changelog in text and _publishes(read_document(text, path).value, changelog, branch):
            return path
    return None


def _publishes(workflow: Any, changelog: str, branch: str) -> bool:
    if not isinstance(workflow, dict):
        return False
    # YAML 1.1, which PyYAML reads, takes the word `on` for true.
    triggers = workflow.get("on", workflow.get(True))
    push = triggers.get("push") if isinstance(triggers, dict) else None
    if not isinstance(push, dict) or changelog not in _texts(push.get("paths")):
        return False
    branches = push.get("branches")
    return (branches is None or branch in _texts(branches)) and _has_lanes(workflow.get("jobs"))


def _has_lanes(jobs: Any) -> bool:
    named = jobs.values() if isinstance(jobs, dict) else ()
    return any(isinstance(job, dict) and prefix_of(str(job.get("name", ""))) is not None for job in named)


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def measured_before(
    history: Sequence[ChangelogEntry], added: Iterable[ChangelogEntry], *, each: int
) -> dict[int, tuple[str, ...]]:
    """The pull requests whose entries in `history` (oldest first) measured the keys of `added` entries last, `each` for
    every key, with the keys they were found for; the newest first."""
    found: dict[int, dict[str, None]] = {}
    places: dict[int, int] = {}
    for entry in added:
        if entry.evals_only or entry.all_evals:
            continue
        for key in _keys(entry, history):
            for place, number in _sweeps_of(key, entry.scenarios, history)[:each]:
                found.setdefault(number, {})[key] = None
                places[number] = max(place, places.get(number, 0))
    return {number: tuple(found[number]) for number in sorted(found, key=lambda number: -places[number])}


def _keys(entry: ChangelogEntry, history: Sequence[ChangelogEntry]) -> Iterable[str]:
    """The keys of an entry; of a pattern, those that the history names and it covers."""
    plain = [name for name in entry.config_keys if "*" not in name]
    if len(plain) < len(entry.config_keys):
        named = {name for old in history for name in old.config_keys if "*" not in name}
        plain += sorted(name for name in named if covers(entry, name))
    return dict.fromkeys(plain)


def _sweeps_of(key: str, scenarios: Sequence[str], history: Sequence[ChangelogEntry]) -> list[tuple[int, int]]:
    """Place and pull request of the entries that measured a key in one of these scenarios, the newest first."""
    found: dict[int, int] = {}
    for place in range(len(history) - 1, -1, -1):
        entry = history[place]
        if entry.evals_only or entry.all_evals or not set(entry.scenarios) & set(scenarios) or not covers(entry, key):
            continue
        link = _LINK.search(entry.pr_link)
        if link is not None:
            found.setdefault(int(link[1]), place)
    return [(place, number) for number, place in found.items()]
