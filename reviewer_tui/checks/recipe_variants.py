"""What a pull request submits to the recipe check: the arms of every key that needs a recipe, as serve commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from reviewer_tui.checks.check import Evidence
from reviewer_tui.checks.launches import LaunchPoint, launches_at, sentence, unread
from reviewer_tui.launch.points import Launch, launch_of
from reviewer_tui.launch.serve_command import ServeCommand
from reviewer_tui.model.config import Entry, KeyChange
from reviewer_tui.model.tree import Tree
from reviewer_tui.recipes.arguments import engine_of
from reviewer_tui.recipes.arm import Engine
from reviewer_tui.recipes.hardware import sku
from reviewer_tui.recipes.submitted import MATERIAL, SubmittedRole, Variant, grouped, likeness, submitted_role
from reviewer_tui.sweeps.points import row_identity
from reviewer_tui.sweeps.rows import canonical, concurrencies, is_multinode
from reviewer_tui.sweeps.serving import serving_at

_OF_THE_POINT = frozenset({"conc", "exp-name"})
# A test for one concurrency: `[ "$CONC" -eq 4 ]`, `[[ $CONC == 4 ]]`, `((CONC == 4))`, `case "$CONC" in`.
_ONE_CONCURRENCY = re.compile(
    rb"\$\{?CONC\}?\"?\s+(?:-eq|-ne|==?|!=|=~)\s|(?:-eq|-ne|==?|!=)\s+\"?\$\{?CONC\b|\(\(\s*CONC\s*[=!]=|\bcase\s+\"?\$\{?CONC\b"
    rb"|\[\"?\$\{?CONC\}?\"?\]"
)
_THRESHOLD = re.compile(rb"\bCONC\b\}?\"?\s*(?:-[gl][te]\b|[<>]=?)|(?:-[gl][te]|[<>]=?)\s*\"?\$?\{?CONC\b")


class Unread(msgspec.Struct, frozen=True, kw_only=True):
    """An arm whose serve command is not known, and why; `path` and `line` are of the master config."""

    key: str
    label: str
    reason: str
    path: str
    line: int


class Arms(msgspec.Struct, frozen=True, kw_only=True):
    """The arms of one submitted key: those that the pull request submits, and those that were there before and are
    served as they were."""

    change: KeyChange
    engine: Engine
    submitted: tuple[Variant, ...] = ()
    unchanged: tuple[Variant, ...] = ()
    unread: tuple[Unread, ...] = ()


def arms_of(evidence: Evidence, change: KeyChange, *, routers: bool) -> Arms | None:
    """The arms of a submitted key at head; None where its framework serves with neither vLLM nor SGLang.

    A row that the pull request adds or alters is submitted (a new image alters every row). Where files behind the key
    change, so are the arms that are served differently from the base; all of them where none can be told apart.
    `routers` takes the routers in front of the workers along.
    """
    entry = change.new
    engine = engine_of(entry.framework) if entry else None
    if entry is None or engine is None:
        return None
    added = {row_identity(point.row, point.conc) for point in change.points_added}
    points = launches_at(evidence.trees.head).of(entry)
    altered, kept = (_Reader(evidence.trees.head, entry, engine, routers) for _ in range(2))
    submitted = altered.variants(point for point in points if _identities(point) & added)
    unchanged = kept.variants(point for point in points if not _identities(point) & added)
    unread = altered.unread
    if change.files:
        different = _served_differently(evidence, change, unchanged, engine, routers)
        submitted = grouped((*submitted, *(different or (() if submitted else unchanged))))
        taken = set(map(_likeness, submitted))
        unchanged = tuple(variant for variant in unchanged if _likeness(variant) not in taken)
        unread = altered.unread | kept.unread
    return Arms(change=change, engine=engine, submitted=submitted, unchanged=unchanged, unread=tuple(unread.values()))


def arms_at(tree: Tree, entry: Entry, *, routers: bool) -> tuple[tuple[Variant, ...], tuple[Unread, ...]]:
    """All arms of an entry of a revision that serves with vLLM or SGLang, and those that cannot be read."""
    engine = engine_of(entry.framework)
    if engine is None:
        return (), ()
    reader = _Reader(tree, entry, engine, routers)
    variants = reader.variants(launches_at(tree).of(entry))
    return variants, tuple(reader.unread.values())


def _identities(point: LaunchPoint) -> set[bytes]:
    return {row_identity(point.row, conc) for conc in concurrencies(point.row)}


def _served_differently(
    evidence: Evidence, change: KeyChange, variants: Sequence[Variant], engine: Engine, routers: bool
) -> tuple[Variant, ...]:
    """Those variants that the base does not serve in the same way."""
    if change.old is None or not variants:
        return tuple(variants)
    base = evidence.trees.base
    former = _Reader(base, change.old, engine, routers).variants(launches_at(base).of(change.old))
    known = set(map(_likeness, former))
    return tuple(variant for variant in variants if _likeness(variant) not in known)


def _likeness(variant: Variant) -> tuple[object, ...]:
    """What two variants of one key have in common that serve in the same way, wherever their commands stand."""
    roles = tuple(
        (
            role.name,
            tuple(sorted((name, repr(argument.value)) for name, argument in role.args.items())),
            tuple(sorted(role.env.items())),
            tuple(sorted(role.unknown)),
        )
        for role in variant.roles
    )
    return (variant.checkpoint, variant.hardware, variant.label, roles)


class _Reader:
    """Makes variants of the points of one entry at one revision, and keeps the arms that it cannot read."""

    def __init__(self, tree: Tree, entry: Entry, engine: Engine, routers: bool) -> None:
        self._tree = tree
        self._entry = entry
        self._engine = engine
        self._routers = routers
        self.unread: dict[tuple[str, str], Unread] = {}
        self._launches: dict[bytes, Launch] = {}

    def variants(self, points: Iterable[LaunchPoint]) -> tuple[Variant, ...]:
        """The points as variants, those that serve alike as one."""
        arms: dict[bytes, list[LaunchPoint]] = {}
        for point in points:
            arm = {name: value for name, value in point.row.items() if name not in _OF_THE_POINT}
            arms.setdefault(canonical(arm), []).append(point)
        return grouped(variant for arm in arms.values() for variant in self._arm(arm))

    def _arm(self, points: list[LaunchPoint]) -> Iterator[Variant]:
        """The points of one arm. Scripts tell concurrencies apart by thresholds: where the lowest and the highest
        serve alike, so do those between, unless a script asks for single concurrencies."""
        points.sort(key=lambda point: min(concurrencies(point.row), default=0))
        ends = [self._variant(point) for point in (points[0], points[-1])]
        if len(points) < 3:
            yield from (variant for variant in ends[: len(points)] if variant is not None)
        elif len(self._likenesses(ends)) == 1 and not self._asks_for_one(points[0]):
            if ends[0] is not None:
                every = dict.fromkeys(int(conc) for point in points for conc in concurrencies(point.row))
                yield msgspec.structs.replace(ends[0], points=tuple(every))
        else:
            middle = len(points) // 2
            yield from self._arm(points[:middle])
            yield from self._arm(points[middle:])

    @staticmethod
    def _likenesses(variants: Iterable[Variant | None]) -> set[object]:
        """What tells variants apart that serve differently; the unreadable ones are alike."""
        return {None if variant is None else likeness(variant, MATERIAL) for variant in variants}

    def _asks_for_one(self, point: LaunchPoint) -> bool:
        """Whether a script behind the point tests for one concurrency alone, or for more than one threshold."""
        texts = [self._tree.read(path) or b"" for path in self._launch(point).sources]
        several = any(len(_THRESHOLD.findall(text)) > 1 for text in texts)
        return several or any(_ONE_CONCURRENCY.search(text) for text in texts)

    def _launch(self, point: LaunchPoint) -> Launch:
        """What this very row starts: launches that several rows share leave open what one alone makes certain."""
        name = canonical(point.row)
        if name not in self._launches:
            layout = serving_at(self._tree).layout
            self._launches[name] = launch_of(self._tree, layout, point.row, point.files, eval_only=False)
        return self._launches[name]

    def _variant(self, point: LaunchPoint) -> Variant | None:
        """A point with everything that it starts; None, and kept as unread, where no server of the engine is known."""
        launch = self._launch(point)
        roles = tuple(self._roles(launch.servers))
        if not any(role.name != "router" for role in roles):
            self._keep_unread(point, launch)
            return None
        return Variant(
            key=self._entry.key,
            label=point.arm,
            engine=self._engine,
            checkpoint=self._checkpoint(launch),
            hardware=sku(self._entry.runner),
            roles=roles,
            nodes=2 if is_multinode(point.row) else 1,
            points=tuple(int(conc) for conc in concurrencies(point.row)),
            image=self._entry.image,
        )

    def _roles(self, servers: Sequence[ServeCommand]) -> Iterator[SubmittedRole]:
        """Each role once. Where several commands may have a role, which of them serves is in doubt."""
        by_role: dict[str, list[ServeCommand]] = {}
        for server in servers:
            if self._routers if server.role == "router" else server.engine == self._engine:
                by_role.setdefault(server.role, []).append(server)
        for commands in by_role.values():
            role, *others = (submitted_role(self._engine, command) for command in commands)
            if any((other.args, other.env) != (role.args, role.env) for other in others):
                lines = ", ".join(str(command.line) for command in commands)
                doubts = (role.doubt, f"any of the commands in lines {lines} may serve this role")
                role = msgspec.structs.replace(role, doubt="; ".join(filter(None, doubts)))
            yield role

    def _checkpoint(self, launch: Launch) -> str:
        """The checkpoint as the config names it: scripts may serve a local copy. Where the config names no repository,
        what the server names."""
        if "/" in self._entry.model:
            return self._entry.model
        named = (server.model or "" for server in launch.workers)
        return next((name for name in named if "/" in name and not name.startswith("/")), self._entry.model)

    def _keep_unread(self, point: LaunchPoint, launch: Launch) -> None:
        missing = f"this repository does not hold {', '.join(launch.missing)}" if launch.missing else None
        reason = missing or unread(launch) or f"none of its servers is of {self._engine}"
        self.unread.setdefault(
            (point.arm, reason),
            Unread(
                key=self._entry.key,
                label=point.arm,
                reason=sentence(reason),
                path=self._entry.path,
                line=point.expanded.line,
            ),
        )
