"""SGLang cookbook pages as recipe arms.

A page (`docs/cookbook/<kind>/<Vendor>/<Model>.mdx`) keeps its deployments in one or more encodings, told apart by
what it imports: a widget (A), a `config` literal with cells (B), generated AgentX data (C), and fenced commands (D).
Pages and snippets are read at one revision; nothing of them is executed.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from reviewer_tui.model.finding import Problem
from reviewer_tui.model.tree import Tree, read_text
from reviewer_tui.recipes import agentx, cells
from reviewer_tui.recipes.arguments import read_arguments
from reviewer_tui.recipes.arm import Encoding, Reading, RecipeArm, Role, joined
from reviewer_tui.recipes.command import FoundCommand, server_commands
from reviewer_tui.recipes.hardware import nearest
from reviewer_tui.recipes.javascript import exported_names, parse
from reviewer_tui.recipes.mdx import FencedBlock, PageImport, fenced_blocks, imports
from reviewer_tui.recipes.prose import widths
from reviewer_tui.recipes.reading import UnreadableError
from reviewer_tui.recipes.widget import Widget, WidgetCommand

REPOSITORY = "sgl-project/sglang"
DOCS_ROOTS = ("docs", "docs_new")
SITE = "https://docs.sglang.io/cookbook"
MAX_COMMANDS = 1000

# Every server command has one of these words; a snippet without them draws something else.
_STARTS_SERVER = re.compile(rb"launch_server|\bserve\b|api_server|\bdynamo\b")


def page_url(page_path: str) -> str:
    """The published address of a page file."""
    return f"{SITE}/{page_path.partition('/cookbook/')[2].removesuffix('.mdx').removesuffix('.md')}"


def read_page(tree: Tree, page_path: str, hardware: Sequence[str] | None = None) -> Reading:
    """All arms of a cookbook page at the tree's revision.

    `hardware` (lower-case ids) leaves out what is for other hardware, which makes reading a widget cheap. A missing
    page, an unreadable snippet and an unknown format are problems with their place; the rest is still read.
    """
    page = read_text(tree, page_path)
    if page is None:
        missing = Problem(path=page_path, message="There is no such page at this revision.", rule="no-page")
        return Reading(problems=(missing,))
    readings = [
        _guarded(functools.partial(_read_import, tree, page_path, found, hardware))
        for found in imports(page, page_path)
        if _holds_recipes(found)
    ]
    origin = {"repository": REPOSITORY, "path": page_path, "commit": tree.revision, "url": page_url(page_path)}
    readings.append(_guarded(lambda: read_fenced(page, origin)))
    readings.append(Reading(stated=widths(page, page_path)))
    reading = joined(readings)
    if hardware is None:
        return reading
    return Reading(
        arms=tuple(arm for arm in reading.arms if not arm.hardware or arm.hardware in hardware),
        problems=reading.problems,
        stated=tuple(width for width in reading.stated if width.hardware in hardware),
    )


def _guarded(read: Callable[[], Reading]) -> Reading:
    """The reading, or the problem that prevents it."""
    try:
        return read()
    except UnreadableError as error:
        return Reading(problems=(error.problem,))


def _holds_recipes(found: PageImport) -> bool:
    """Whether an import can hold deployments: the shared engines (`_deployment.jsx`) and benchmark tables do not."""
    name = found.path.rpartition("/")[2]
    return "/snippets/" in found.path and not name.startswith("_") and not name.endswith("-benchmarks.jsx")


def encoding_of(source: bytes, path: str) -> Encoding:
    """Which encoding a snippet file has, by what it exports."""
    names = exported_names(source, path)
    if "agentx" in names:
        return "agentx"
    return "cells" if "config" in names else "widget"


def _read_import(tree: Tree, page_path: str, found: PageImport, hardware: Sequence[str] | None) -> Reading:
    source = tree.read(found.path)
    if source is None:
        raise UnreadableError(page_path, f"The page imports {found.path}, which is not there.", "no-file", found.line)
    origin = {"repository": REPOSITORY, "path": found.path, "commit": tree.revision, "url": page_url(page_path)}
    encoding = encoding_of(source, found.path)
    if encoding == "widget" and not _STARTS_SERVER.search(source) and not parse(source, found.path).has_error:
        return Reading()
    match encoding:
        case "agentx":
            return agentx.read(source, origin)
        case "cells":
            return cells.read(source, origin)
        case _:
            return read_widget(source, origin, found.exported, hardware)


# -- A: widgets -------------------------------------------------------------------------------------------------------


def read_widget(
    source: bytes, origin: Mapping[str, str], component: str | None = None, hardware: Sequence[str] | None = None
) -> Reading:
    """The arms of a widget: one for each selection that yields a server command of its own.

    `origin` names repository, path, commit and url. Raises `UnreadableError` where the script cannot be evaluated.
    """
    widget = Widget(source, origin["path"], component)
    arms: dict[tuple[Any, ...], RecipeArm] = {}
    failing: dict[Problem, None] = {}
    for shown in widget.commands(hardware):
        if shown.fails is not None:
            failing[shown.fails] = None
        for command in server_commands(shown.text):
            arm = _widget_arm(shown, command, origin, widget.hardware_option)
            key = (arm.hardware, tuple(sorted(command.env.items())), command.words)
            arms.setdefault(key, arm)
    return Reading(arms=tuple(arms.values()), problems=tuple(failing))


def _widget_arm(
    shown: WidgetCommand, command: FoundCommand, origin: Mapping[str, str], hardware_option: str | None
) -> RecipeArm:
    hardware = shown.selection.get(hardware_option or "", "").lower()
    return _arm(
        command,
        origin,
        encoding="widget",
        hardware=hardware,
        label=shown.label,
        selection=shown.selection,
        line=shown.line,
    )


# -- D: fenced commands -----------------------------------------------------------------------------------------------


def read_fenced(page: str, origin: Mapping[str, str]) -> Reading:
    """The arms of a page's fenced commands; beyond `MAX_COMMANDS` they are left out, which is a problem."""
    found = (arm for block in fenced_blocks(page) for arm in block_arms(block, origin, "command"))
    arms = tuple(itertools.islice(found, MAX_COMMANDS + 1))
    if len(arms) <= MAX_COMMANDS:
        return Reading(arms=arms)
    more = f"The page has more than {MAX_COMMANDS} commands."
    return Reading(arms=arms[:MAX_COMMANDS], problems=(Problem(path=origin["path"], message=more, rule="too-large"),))


def block_arms(
    block: FencedBlock, origin: Mapping[str, str], encoding: Encoding, offset: int = 0
) -> Iterator[RecipeArm]:
    """The arms of one fenced block; `offset` is added to its lines.

    The hardware is what a comment in the block, a tab or a heading above names: an arm for each where it names
    several, one without hardware where nothing does.
    """
    first = block.line + offset
    previous = first
    lines = block.text.split("\n")
    for command in server_commands(block.text, first):
        own = lines[previous - first : command.line - first]
        context = [*block.context, *(line for line in own if line.lstrip().startswith("#"))]
        previous = command.line
        for hardware in nearest(context) or ("",):
            yield _arm(
                command,
                origin,
                encoding=encoding,
                hardware=hardware,
                label=" / ".join(block.context[-2:]) or "command",
                line=command.line,
                notes=() if hardware else ("The page does not say for which hardware this command is.",),
            )


def _arm(command: FoundCommand, origin: Mapping[str, str], **fields: Any) -> RecipeArm:
    args = read_arguments(command.engine, command.words)
    model = args["model"].value if "model" in args else ""
    nodes = args["nnodes"].value if "nnodes" in args else 1
    count = nodes if isinstance(nodes, int) and nodes > 0 else 1
    return RecipeArm(
        repository=origin["repository"],
        path=origin["path"],
        commit=origin["commit"],
        url=origin["url"],
        engine=command.engine,
        checkpoint=str(model),
        nodes=count,
        roles=(Role(name="worker", args=args, env=command.env, nodes=count),),
        **fields,
    )


def page_files(tree: Tree, page_path: str) -> tuple[str, ...]:
    """The files that make up a page: itself and the snippets that hold its recipes."""
    page = read_text(tree, page_path) or ""
    return (page_path, *(found.path for found in imports(page, page_path) if _holds_recipes(found)))


def pages(tree: Tree) -> Iterable[str]:
    """The page files of the cookbook at a revision; `docs/` hides its earlier twin `docs_new/`."""
    for root in DOCS_ROOTS:
        found = [path for path in tree.list(f"{root}/cookbook") if path.endswith((".mdx", ".md"))]
        if found:
            return found
    return ()
