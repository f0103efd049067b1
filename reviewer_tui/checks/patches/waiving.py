"""How patching stands with the waivers of a pull request and of the default branch."""

from __future__ import annotations

from reviewer_tui.checks.check import Evidence
from reviewer_tui.model.finding import Status
from reviewer_tui.model.tree import read_text
from reviewer_tui.policy.layout import discover_layout
from reviewer_tui.policy.waivers import Waiver, read_waiver


def standing(evidence: Evidence, paths: tuple[str, ...]) -> tuple[Status, str]:
    """How patching that this pull request introduces stands, and the sentence that says why. Without a pull request
    (number 0, an audit) any waiver may be the one."""
    number, repository = evidence.snapshot.ref.number, evidence.snapshot.ref.repository
    if not number:
        other = covering(evidence, paths)
        return (
            (Status.JUDGEMENT, f"{other} names the script: does it cover exactly this?")
            if other
            else (Status.FAIL, "No waiver names the script.")
        )
    head = evidence.trees.head
    layout = discover_layout(head)
    part = read_waiver(head, layout, number, repository)
    wanted = layout.waiver(number)
    if part.value is None:
        if other := covering(evidence, paths):
            why = f"{wanted} does not exist, but {other} on the default branch names the script"
            return Status.JUDGEMENT, f"{why}: does it cover this too?"
        return Status.FAIL, f"{wanted} does not exist at head."
    return _filed(evidence, part.value, paths)


def _filed(evidence: Evidence, waiver: Waiver, paths: tuple[str, ...]) -> tuple[Status, str]:
    number = evidence.snapshot.ref.number
    if not waiver.parts:
        return Status.FAIL, f"{waiver.path} is not filled out: it lacks {', '.join(waiver.missing)}."
    sign_off = evidence.sign_off
    if sign_off is not None and f"waiver/{number}" not in sign_off.detail:
        return Status.FAIL, f"{waiver.path} is filed, but the detail section does not link it."
    unnamed = [path.rpartition("/")[2] for path in paths if not waiver.mentions(path.rpartition("/")[2])]
    if waiver.missing:
        why = f"{waiver.path} is filed; it seems to lack {', '.join(waiver.missing)}."
    elif unnamed:
        why = f"{waiver.path} is filed, but does not name {', '.join(unnamed)}: does it cover it?"
    else:
        why = f"{waiver.path} is filled out and names the script: does it cover exactly this?"
    linked = "" if sign_off is not None else " The detail section must link it."
    return Status.JUDGEMENT, why + linked


def covering(evidence: Evidence, paths: tuple[str, ...]) -> str | None:
    """Another pull request's waiver on the default branch that names every one of these files."""
    tree, layout = evidence.trees.policy, evidence.policy.layout
    names = [path.rpartition("/")[2] for path in paths]
    own = layout.waiver(evidence.snapshot.ref.number)
    for path in tree.list(layout.waivers):
        text = read_text(tree, path) or ""
        if path != own and path.endswith(".md") and not path.endswith("_zh.md") and all(name in text for name in names):
            return path
    return None
