"""What a pull request submits, ready to be held against recipe arms: serve commands by role, points by variant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from reviewer_tui.launch.arguments import unknown_in
from reviewer_tui.launch.serve_command import ServeCommand
from reviewer_tui.recipes.arguments import ArgumentClass, concept_for, concept_of, read_mapping, variable_class
from reviewer_tui.recipes.arm import Argument, Engine, Role, RoleName

MATERIAL: tuple[ArgumentClass, ...] = ("major", "kernel", "review")


class SubmittedRole(msgspec.Struct, frozen=True, kw_only=True):
    """One process of a submitted variant.

    `unknown` maps concepts and variables whose value could not be evaluated to the reason; `doubt` says why there may
    be arguments that are not listed (empty where there is none). `path` and `line` are the command's.
    """

    name: RoleName
    args: Mapping[str, Argument]
    env: Mapping[str, str] = {}
    unknown: Mapping[str, str] = {}
    doubt: str = ""
    path: str = ""
    line: int | None = None

    def as_role(self) -> Role:
        return Role(name=self.name, args=self.args, env=self.env)


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """One submitted arm: points of a config key that serve in the same way.

    `label` is the arm in a few words, `hardware` a lower-case id, `points` the concurrencies it stands for.
    """

    key: str
    label: str
    engine: Engine
    checkpoint: str
    hardware: str
    roles: tuple[SubmittedRole, ...]
    nodes: int = 1
    points: tuple[int, ...] = ()
    image: str = ""

    @property
    def title(self) -> str:
        return f"{self.key} {self.label}".strip()


def submitted_role(engine: Engine, command: ServeCommand) -> SubmittedRole:
    """A serve command as a role of a variant that runs this engine (a router's command belongs to it too)."""
    spellings, lines = command.arguments.spellings, command.arguments.lines
    known = {spellings.get(name, name): value for name, value in command.args.items() if unknown_in(value) is None}
    told = command.unknowns
    unknown = {_name_of(engine, name, command): reason for name, reason in told.items() if name}
    args = {
        name: msgspec.structs.replace(argument, line=lines.get(_canonical_name(command, argument.flag)))
        for name, argument in read_mapping(engine, known).items()
        if name not in unknown
    }
    return SubmittedRole(
        name=command.role,
        args=args,
        env={name: text for name, text in command.env.items() if isinstance(text, str)},
        unknown=unknown,
        doubt=told.get("", ""),
        path=command.path,
        line=command.line,
    )


def _name_of(engine: Engine, name: str, command: ServeCommand) -> str:
    """The concept of an unknown flag; a variable keeps its name."""
    return concept_for(engine, command.arguments.spellings.get(name, name))[0].name if name.startswith("-") else name


def _canonical_name(command: ServeCommand, spelling: str) -> str:
    return next((name for name, spelled in command.arguments.spellings.items() if spelled == spelling), spelling)


def grouped(variants: Iterable[Variant], classes: Sequence[ArgumentClass] = MATERIAL) -> tuple[Variant, ...]:
    """Variants that serve in the same way as one, their points joined.

    Arguments of other classes (what a sweep varies) are those of the first; `classes` are the ones that count.
    """
    groups: dict[tuple[object, ...], Variant] = {}
    for variant in variants:
        key = likeness(variant, classes)
        first = groups.get(key)
        points = variant.points if first is None else tuple(dict.fromkeys((*first.points, *variant.points)))
        groups[key] = msgspec.structs.replace(first or variant, points=points)
    return tuple(groups.values())


def likeness(variant: Variant, classes: Sequence[ArgumentClass] = MATERIAL) -> tuple[object, ...]:
    """What two variants of one key share that serve in the same way."""
    roles = tuple((role.name, tuple(sorted(_material(role, classes), key=repr)), role.doubt) for role in variant.roles)
    return (variant.key, variant.checkpoint, variant.hardware, variant.image, variant.nodes, roles)


def _material(role: SubmittedRole, classes: Sequence[ArgumentClass]) -> Iterator[tuple[str, object]]:
    yield from ((name, a.value) for name, a in role.args.items() if concept_of(name).cls in classes)
    yield from ((name, value) for name, value in role.env.items() if variable_class(name) in classes)
    yield from ((name, "?") for name in role.unknown)
