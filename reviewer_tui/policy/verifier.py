"""The checks of the sign-off verifier, as its prompt words them at one revision.

The prompt is a file of its own since 2026-07-10 and stood inside the workflow before. Each check is a heading
`## Check N — title`. Numbers shift from version to version, so a check is known by its name, which follows from the
title; a check that this program does not know keeps its text under the name `check-<N>`.
"""

from __future__ import annotations

import re

import msgspec

from reviewer_tui.model.finding import Problem
from reviewer_tui.model.tree import Tree, read_text
from reviewer_tui.policy.items import check_name, known_checks
from reviewer_tui.policy.layout import PROMPT_PATH, WORKFLOW_PATH, Layout
from reviewer_tui.policy.markdown import heading_of

MAX_BYTES = 1 << 19
MAX_CHECKS = 200

_CHECK = re.compile(r"^\**Check[ \t]+(\d{1,4})\b\**[ \t]*(?:[—–:.()-]+[ \t]*)?", re.I)
# As an argument of the call that sets a status: `context: 'codeowner-signoff-verify'`.
_CONTEXT = re.compile(r"""\bcontext:\s*['"]([^'"\n]{1,200})['"]""")
_PROMPT_KEY = re.compile(r"^([ ]*)(?:-[ ]+)?prompt:[ ]*[|>][-+0-9]*[ ]*$")


class PolicyCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One check of the verifier: its fixed name, the number at this revision (None where no verifier was read), its
    title and its text as the verifier words them, and the heading's line in the verifier's file."""

    name: str
    number: int | None
    title: str
    text: str = ""
    line: int | None = None


def read_checks(tree: Tree, layout: Layout) -> tuple[tuple[PolicyCheck, ...], tuple[Problem, ...]]:
    """The checks of a revision. Without a verifier: the known ones, without numbers, and a problem."""
    if layout.verifier is None or (text := read_text(tree, layout.verifier)) is None:
        message = "This revision has no sign-off verifier, so its checks have no numbers."
        return bundled_checks(), (Problem(path=PROMPT_PATH, message=message, rule="verifier-missing"),)
    checks, problems = parse_checks(text, layout.verifier)
    if checks:
        return checks, problems
    message = "The sign-off verifier holds no check that can be read, so the checks have no numbers."
    return bundled_checks(), (*problems, Problem(path=layout.verifier, message=message, rule="verifier-empty"))


def verdict_contexts(tree: Tree) -> frozenset[str]:
    """The contexts of the commit statuses that the verifier's workflow sets, as its own text has them; none where the
    verdict is advisory. Raises DataError where the workflow is there and cannot be read."""
    text = read_text(tree, WORKFLOW_PATH) or ""
    return frozenset(_CONTEXT.findall(text[:MAX_BYTES]))


def bundled_checks() -> tuple[PolicyCheck, ...]:
    """The checks this program knows, without numbers."""
    return tuple(PolicyCheck(name=check.name, number=None, title=check.title) for check in known_checks())


def parse_checks(text: str, path: str) -> tuple[tuple[PolicyCheck, ...], tuple[Problem, ...]]:
    """The checks in a verifier's text, a prompt file or a workflow, in the text's order. Never fails."""
    if len(text) > MAX_BYTES:
        return (), (
            Problem(path=path, message="The verifier is larger than 512 KB and was not read.", rule="verifier-size"),
        )
    lines = text.splitlines()
    first, lines = _prompt_of_workflow(lines) if path.endswith((".yml", ".yaml")) else (0, lines)
    headings = [(n, *heading) for n, line in enumerate(lines) if (heading := heading_of(line))]
    checks: list[PolicyCheck] = []
    problems: list[Problem] = []
    names: set[str] = set()
    for place, (n, level, content) in enumerate(headings):
        match = _CHECK.match(content)
        if match is None or len(checks) >= MAX_CHECKS:
            continue
        number, title = int(match[1]), content[match.end() :].strip("* \t")
        name = check_name(title, number)
        if name in names:
            message = f"Check {number} ({title}) reads like another check called {name}."
            problems.append(Problem(path=path, line=first + n + 1, message=message, rule="verifier-name"))
            name = f"check-{number}"
            while name in names:
                name += "b"
        names.add(name)
        # A check ends at the next check, or at the next heading of its level or above.
        ends = (m for m, other, after in headings[place + 1 :] if other <= level or _CHECK.match(after))
        text_lines = lines[n + 1 : next(ends, len(lines))]
        checks.append(
            PolicyCheck(name=name, number=number, title=title, text="\n".join(text_lines).strip(), line=first + n + 1)
        )
    return tuple(checks), tuple(problems)


def _prompt_of_workflow(lines: list[str]) -> tuple[int, list[str]]:
    """The workflow's `prompt: |` block without its indentation, and the place of its first line in the file."""
    for n, line in enumerate(lines):
        if key := _PROMPT_KEY.match(line):
            indent = len(key[1])
            end = next(
                (m for m in range(n + 1, len(lines)) if lines[m].strip() and _indent(lines[m]) <= indent), len(lines)
            )
            block = lines[n + 1 : end]
            depth = min((_indent(part) for part in block if part.strip()), default=0)
            return n + 1, [part[depth:] for part in block]
    return 0, []


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
