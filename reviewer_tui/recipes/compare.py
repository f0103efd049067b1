"""Our serve commands against documented arms, argument by argument.

A submitted variant is covered by an arm that has the same checkpoint on the same hardware and, role by role, every
argument that the policy demands. Which arguments those are is the policy's (`concepts.json`, by class); what counts
as the same although it is spelled differently is data with its source (`equivalences.json`).
"""

from __future__ import annotations

import fnmatch
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Literal

import msgspec

from reviewer_tui.model.finding import Status, worst
from reviewer_tui.recipes.arguments import (
    GROUPS,
    ArgumentClass,
    Demand,
    RecipePolicy,
    concept_of,
    table,
    variable_class,
)
from reviewer_tui.recipes.arm import ENCODING_RANK, Argument, Engine, RecipeArm, Role, RoleName, Value, Width
from reviewer_tui.recipes.equivalence import (
    SameValues,
    among,
    equivalences,
    inert_variable,
    same_hardware,
    same_setting,
    same_value,
    shown,
)
from reviewer_tui.recipes.prose import contradicted
from reviewer_tui.recipes.submitted import MATERIAL, SubmittedRole, Variant

Scope = Literal["single_node", "all"]
PolicyName = Literal["summer", "autumn"]

MAX_RANKED = 20


class Outcome(StrEnum):
    """How one argument of ours stands to the recipe's."""

    MATCH = "match"
    EQUIVALENT = "equivalent"
    MISSING = "missing_upstream"
    CONTRADICTS = "contradicts"
    UPSTREAM_ONLY = "upstream_only"
    NOT_COMPARABLE = "not_comparable"


class ArgumentComparison(msgspec.Struct, frozen=True, kw_only=True):
    """One argument side by side. `name` is the concept (or the variable), `demand` what the policy makes of this
    outcome; `why` explains an equivalence or what could not be compared; `line` is the recipe's, `our_line` ours (in
    the role's file)."""

    role: RoleName
    name: str
    title: str
    group: str
    cls: ArgumentClass
    outcome: Outcome
    demand: Demand
    ours: Value | None = None
    theirs: Value | None = None
    our_flag: str = ""
    their_flag: str = ""
    why: str = ""
    source: str = ""
    line: int | None = None
    our_line: int | None = None

    @property
    def differs(self) -> bool:
        return self.outcome not in (Outcome.MATCH, Outcome.EQUIVALENT)

    @property
    def blocks(self) -> bool:
        """Whether the policy wants it to match and it does not."""
        return self.differs and self.demand == "must"

    def sentence(self) -> str:
        """The comparison in one sentence."""
        ours, theirs = shown(self.ours), shown(self.theirs)
        what = f"{self.title} ({self.our_flag or self.their_flag or self.name})"
        match self.outcome:
            case Outcome.MATCH:
                return f"{what} is {ours} in both."
            case Outcome.EQUIVALENT:
                return f"{what}: ours {ours}, the recipe's {theirs}; {self.why}."
            case Outcome.MISSING:
                return f"{what} = {ours} is not in the recipe."
            case Outcome.CONTRADICTS:
                return f"{what} is {ours} here and {theirs} in the recipe."
            case Outcome.UPSTREAM_ONLY:
                told = f" ({self.why})" if self.why else ""
                return f"{what} = {theirs} is only in the recipe{told}."
            case _:
                return f"{what} cannot be compared: {self.why}."


class ArmComparison(msgspec.Struct, frozen=True, kw_only=True):
    """A variant against one arm; the worst arguments first."""

    variant: Variant
    arm: RecipeArm
    status: Status
    arguments: tuple[ArgumentComparison, ...]
    circular: str = ""
    missing_roles: tuple[RoleName, ...] = ()

    @property
    def blocking(self) -> tuple[ArgumentComparison, ...]:
        return tuple(a for a in self.arguments if a.blocks)

    @property
    def to_look_at(self) -> tuple[ArgumentComparison, ...]:
        return tuple(a for a in self.arguments if a.differs and a.demand == "judge")

    @property
    def covers(self) -> bool:
        """Whether the arm has everything that must match."""
        return not self.blocking and not self.missing_roles and self.status is not Status.FAIL

    def of(self, name: str, role: RoleName | None = None) -> ArgumentComparison | None:
        """The comparison of a concept."""
        return next((a for a in self.arguments if a.name == name and role in (None, a.role)), None)


class VariantComparison(msgspec.Struct, frozen=True, kw_only=True):
    """A variant against all arms, the best first. `notes` say what an arm's number cannot (a superseded checkpoint,
    the width that is not documented)."""

    variant: Variant
    status: Status
    summary: str
    ranked: tuple[ArmComparison, ...]
    notes: tuple[str, ...] = ()

    @property
    def best(self) -> ArmComparison | None:
        return self.ranked[0] if self.ranked else None


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """All submitted variants against the linked pages. `gaps` names exactly what is not documented; `disagreements`
    what one page says in two ways."""

    status: Status
    summary: str
    variants: tuple[VariantComparison, ...]
    gaps: tuple[str, ...] = ()
    disagreements: tuple[str, ...] = ()


# -- the policy --------------------------------------------------------------------------------------------------------


def policy(name: PolicyName) -> RecipePolicy:
    """The demands of a policy."""
    return table().policies[name]


def policy_of(prompt: str) -> PolicyName:
    """Which demands a verifier's prompt makes: from September 2026 on it wants all settings that are useful in
    production, before that the major ones."""
    text = " ".join(prompt.split()).lower()
    return "autumn" if "production serving" in text or "useful in production" in text else "summer"


def scope_of(prompt: str) -> Scope:
    """Whether a verifier's prompt wants recipes of single-node configurations only, as it said from July to September
    2026; before and after, every serving configuration needs one."""
    text = " ".join(prompt.split()).lower()
    return "single_node" if "single-node recipes only" in text or "applies to single-node" in text else "all"


def in_scope(variant_multinode: bool, scope: Scope) -> bool:
    """Whether a configuration needs a recipe at all."""
    return scope == "all" or not variant_multinode


# -- comparing --------------------------------------------------------------------------------------------------------


def compare(
    variants: Sequence[Variant],
    arms: Sequence[RecipeArm],
    name: PolicyName = "summer",
    pull_request: int | None = None,
    stated: Sequence[Width] = (),
) -> Comparison:
    """Every variant against every arm, by the demands of the policy with this name.

    `pull_request` is the one under review: an arm that was generated from it is said to be circular. `stated` is what
    the pages say in words, which only shows where they disagree with themselves. Without arms nothing is verified;
    without variants nothing applies.
    """
    demands = policy(name)
    results = tuple(_compare_variant(variant, arms, demands, pull_request) for variant in variants)
    gaps = tuple(gap for result in results for gap in gaps_of(result))
    status = worst((result.status for result in results), empty=Status.NOT_APPLICABLE)
    covered = sum(result.status in (Status.PASS, Status.JUDGEMENT) for result in results)
    return Comparison(
        status=status,
        summary=_overall(status, covered, len(results)),
        variants=results,
        gaps=gaps,
        disagreements=(*disagreements(arms), *contradicted(stated, arms)),
    )


def _overall(status: Status, covered: int, total: int) -> str:
    if not total:
        return "No submitted configuration needs an upstream recipe."
    if status is Status.PASS:
        return f"Every major argument of all {total} submitted variants is documented."
    if status is Status.UNVERIFIED:
        return f"{covered} of {total} submitted variants could be compared and are documented."
    return f"{covered} of {total} submitted variants are documented in every major argument."


def _compare_variant(
    variant: Variant, arms: Sequence[RecipeArm], demands: RecipePolicy, pull_request: int | None
) -> VariantComparison:
    candidates = [arm for arm in arms if arm.engine == variant.engine]
    compared = sorted(
        (compare_arm(variant, arm, demands, pull_request) for arm in _worth_comparing(variant, candidates)), key=_rank
    )
    ranked = tuple(compared[:MAX_RANKED])
    notes = tuple(_notes(variant, candidates))
    if not ranked:
        return VariantComparison(
            variant=variant,
            status=Status.UNVERIFIED if not candidates else Status.FAIL,
            summary=_nothing(variant, candidates),
            ranked=(),
            notes=notes,
        )
    best = ranked[0]
    return VariantComparison(variant=variant, status=best.status, summary=_summary(best), ranked=ranked, notes=notes)


def _worth_comparing(variant: Variant, arms: Sequence[RecipeArm]) -> list[RecipeArm]:
    """The arms of the variant's hardware, or without any; with the same checkpoint where there are such."""
    placed = [arm for arm in arms if not arm.hardware or same_hardware(variant.hardware, arm.hardware) is not None]
    same = [arm for arm in placed if arm.checkpoint.casefold() == variant.checkpoint.casefold()]
    return same or placed


def _nothing(variant: Variant, arms: Sequence[RecipeArm]) -> str:
    if not arms:
        return f"No documented arm was read for {variant.title}."
    documented = ", ".join(sorted({arm.hardware for arm in arms if arm.hardware})) or "none"
    return f"The recipe documents no arm for {variant.hardware} (documented: {documented})."


def compare_arm(
    variant: Variant, arm: RecipeArm, demands: RecipePolicy, pull_request: int | None = None
) -> ArmComparison:
    """A variant against one arm."""
    arguments: list[ArgumentComparison] = list(_identity(variant, arm))
    missing: list[RoleName] = []
    for role in variant.roles:
        theirs = arm.role(role.name)
        if theirs is None:
            missing.append(role.name)
            continue
        arguments += _Pair(variant, arm, role, theirs, demands).compare()
    arguments.sort(key=_severity)
    circular = _circular(arm, pull_request)
    return ArmComparison(
        variant=variant,
        arm=arm,
        status=_status(variant, arguments, missing, circular),
        arguments=tuple(arguments),
        circular=circular,
        missing_roles=tuple(missing),
    )


def _status(
    variant: Variant, arguments: Iterable[ArgumentComparison], missing: Sequence[RoleName], circular: str
) -> Status:
    """What the arguments come to. Where a command may have arguments that are not known, only a value of ours that the
    recipe does not have fails for certain."""
    doubtful = {role.name for role in variant.roles if role.doubt}
    found = [a for a in arguments if a.differs]
    blocking = [a for a in found if a.demand == "must"]
    certain = [a for a in blocking if a.outcome is not Outcome.NOT_COMPARABLE]
    if missing or any(a.ours is not None or a.role not in doubtful for a in certain):
        return Status.FAIL
    if blocking or doubtful:
        return Status.UNVERIFIED
    return Status.JUDGEMENT if circular or any(a.demand == "judge" for a in found) else Status.PASS


def _identity(variant: Variant, arm: RecipeArm) -> Iterator[ArgumentComparison]:
    """Checkpoint, hardware and nodes, which belong to the arm rather than to a role."""
    role = variant.roles[0].name if variant.roles else "worker"
    make = functools.partial(ArgumentComparison, role=role, group="model", cls="major", line=arm.line)
    same = variant.checkpoint.casefold() == arm.checkpoint.casefold()
    exact = variant.checkpoint == arm.checkpoint
    yield make(
        name="model",
        title="checkpoint",
        outcome=Outcome.MATCH if exact else Outcome.EQUIVALENT if same else Outcome.CONTRADICTS,
        demand="must",
        ours=variant.checkpoint,
        theirs=arm.checkpoint,
        why="" if exact or not same else "checkpoint names differ only in case",
    )
    reason = same_hardware(variant.hardware, arm.hardware) if arm.hardware else None
    outcome = (
        Outcome.NOT_COMPARABLE if not arm.hardware else Outcome.CONTRADICTS if reason is None else Outcome.EQUIVALENT
    )
    yield make(
        name="hardware",
        title="hardware",
        outcome=Outcome.MATCH if reason == "" else outcome,
        demand="must",
        ours=variant.hardware,
        theirs=arm.hardware or None,
        why=reason or ("" if arm.hardware else "the page does not say for which hardware the command is"),
    )
    if (variant.nodes > 1) is not (arm.nodes > 1):
        outcome = Outcome.CONTRADICTS
        yield make(name="nodes", title="nodes", outcome=outcome, demand="must", ours=variant.nodes, theirs=arm.nodes)


class _Pair:
    """One role of a variant against the same role of an arm."""

    def __init__(
        self, variant: Variant, arm: RecipeArm, ours: SubmittedRole, theirs: Role, demands: RecipePolicy
    ) -> None:
        self.variant = variant
        self.arm = arm
        self.demands = demands
        self.role = ours.name
        self.unknown = ours.unknown
        self.ours, self.our_env = _with_variables(variant.engine, ours.args, ours.env)
        self.theirs, self.their_env = _with_variables(variant.engine, theirs.args, theirs.env)

    def compare(self) -> Iterator[ArgumentComparison]:
        names = dict.fromkeys([*self.ours, *self.theirs, *(n for n in self.unknown if n not in self.our_env)])
        names.pop("model", None)
        for name in names:
            if name not in self.unknown:
                yield self.argument(name)
            elif _class_of(name) in MATERIAL:
                yield self.not_comparable(name)
        yield from self.environment()

    def argument(self, name: str) -> ArgumentComparison:
        concept = concept_of(name)
        ours, theirs = self.ours.get(name), self.theirs.get(name)
        outcome, why, source = self.judge(name, ours, theirs)
        return ArgumentComparison(
            role=self.role,
            name=name,
            title=concept.title,
            group=concept.group,
            cls=concept.cls,
            outcome=outcome,
            demand="inform" if outcome is Outcome.UPSTREAM_ONLY and why else self.demand(concept.cls, outcome),
            ours=None if ours is None else ours.value,
            theirs=None if theirs is None else theirs.value,
            our_flag="" if ours is None else ours.flag,
            their_flag="" if theirs is None else theirs.flag,
            why=why,
            source=source,
            line=None if theirs is None else theirs.line,
            our_line=None if ours is None else ours.line,
        )

    def judge(self, name: str, ours: Argument | None, theirs: Argument | None) -> tuple[Outcome, str, str]:
        """The outcome, with the reason and its source where the two are not simply equal."""
        if ours is not None and theirs is not None:
            if same_value(ours.value, theirs.value):
                return Outcome.MATCH, "", ""
            for row in equivalences().values:
                if self.applies(row, name) and among(ours.value, row.same) and among(theirs.value, row.same):
                    return Outcome.EQUIVALENT, row.why, row.source
            return Outcome.CONTRADICTS, "", ""
        present = ours or theirs
        assert present is not None
        reason = self.reason_for_absence(name, present.value, ours_absent=ours is None)
        if ours is None:
            default = concept_of(name).default
            if reason is None and default is not None and not same_value(present.value, default):
                return Outcome.CONTRADICTS, "", ""
            return Outcome.UPSTREAM_ONLY, *(reason or ("", ""))
        if reason is not None:
            return Outcome.EQUIVALENT, *reason
        return Outcome.MISSING, "", ""

    def reason_for_absence(self, name: str, value: Value, ours_absent: bool) -> tuple[str, str] | None:
        """Why leaving the argument out means this value; None where it does not."""
        default = concept_of(name).default
        if default is not None and same_value(value, default):
            return f"{shown(default)} is the default", table().source
        for row in equivalences().absent:
            if self.applies(row, name) and (among(value, row.same) or "*" in row.same):
                return row.why, row.source
        other = self.ours if ours_absent else self.theirs
        for implied in equivalences().implied:
            trigger = other.get(implied.when)
            if implied.engine == self.variant.engine and implied.concept == name and trigger is not None:
                equal = other.get(implied.equals)
                if among(trigger.value, implied.values) and equal is not None and same_value(equal.value, value):
                    return implied.why, implied.source
        return None

    def applies(self, row: SameValues, name: str) -> bool:
        if row.concept != name or row.engine not in ("*", self.variant.engine):
            return False
        checkpoint = self.variant.checkpoint.casefold()
        if row.checkpoints and not any(fnmatch.fnmatchcase(checkpoint, p.casefold()) for p in row.checkpoints):
            return False
        return not row.hardware or self.variant.hardware in row.hardware

    def not_comparable(self, name: str) -> ArgumentComparison:
        concept, theirs, cls = concept_of(name), self.theirs.get(name), _class_of(name)
        return ArgumentComparison(
            role=self.role,
            name=name,
            title="environment" if _is_variable(name) else concept.title,
            group="environment" if _is_variable(name) else concept.group,
            cls=cls,
            outcome=Outcome.NOT_COMPARABLE,
            demand="must" if cls == "major" else "judge",
            theirs=None if theirs is None else theirs.value,
            their_flag="" if theirs is None else theirs.flag,
            why=self.unknown[name],
            line=None if theirs is None else theirs.line,
        )

    def environment(self) -> Iterator[ArgumentComparison]:
        for name in dict.fromkeys([*self.our_env, *self.their_env]):
            ours, theirs = self.our_env.get(name), self.their_env.get(name)
            cls = variable_class(name)
            inert = inert_variable(self.variant.engine, name, self.variant.image)
            if ours is not None and theirs is not None and same_setting(ours, theirs):
                outcome = Outcome.MATCH
            elif inert is not None:
                outcome = Outcome.EQUIVALENT
            elif ours is None:
                outcome = Outcome.UPSTREAM_ONLY
            else:
                outcome = Outcome.MISSING if theirs is None else Outcome.CONTRADICTS
            yield ArgumentComparison(
                role=self.role,
                name=name,
                title="environment",
                group="environment",
                cls=cls,
                outcome=outcome,
                demand=self.demand(cls, outcome),
                ours=ours,
                theirs=theirs,
                our_flag=name if ours is not None else "",
                their_flag=name if theirs is not None else "",
                why=inert.why if inert is not None else "",
                source=inert.source if inert is not None else "",
            )

    def demand(self, cls: ArgumentClass, outcome: Outcome) -> Demand:
        demands = self.demands.classes[cls]
        match outcome:
            case Outcome.MISSING:
                return demands.missing
            case Outcome.CONTRADICTS:
                return demands.contradicts
            case Outcome.UPSTREAM_ONLY:
                return demands.upstream_only
            case _:
                return "inform"


def _is_variable(name: str) -> bool:
    return name[:1].isupper()


def _class_of(name: str) -> ArgumentClass:
    return variable_class(name) if _is_variable(name) else concept_of(name).cls


def _with_variables(
    engine: Engine, args: Mapping[str, Argument], env: Mapping[str, str]
) -> tuple[dict[str, Argument], dict[str, str]]:
    """Arguments with those that variables set; a flag wins over its variable."""
    result, rest = dict(args), dict(env)
    for row in equivalences().environment:
        if row.engine == engine and row.variable in rest:
            result.setdefault(row.concept, Argument(rest.pop(row.variable), row.variable))
            rest.pop(row.variable, None)
    return result, rest


# -- ranking and words ------------------------------------------------------------------------------------------------

_OUTCOME_ORDER = (
    Outcome.CONTRADICTS,
    Outcome.MISSING,
    Outcome.NOT_COMPARABLE,
    Outcome.UPSTREAM_ONLY,
    Outcome.EQUIVALENT,
    Outcome.MATCH,
)
_DEMAND_ORDER: Mapping[str, int] = {"must": 0, "judge": 1, "inform": 2}


def _severity(argument: ArgumentComparison) -> tuple[int, int, int, str]:
    """Worst first, then by group as a command is read."""
    group = GROUPS.index(argument.group) if argument.group in GROUPS else len(GROUPS)
    differs = _DEMAND_ORDER[argument.demand] if argument.differs else len(_DEMAND_ORDER)
    return (differs, _OUTCOME_ORDER.index(argument.outcome), group, argument.name)


def _rank(comparison: ArmComparison) -> tuple[Any, ...]:
    """The best arm first: fewest blocking differences (checkpoint, hardware and parallelism weigh most), then fewest
    to look at, then the source to believe first, the measured and the verified one."""
    weights = {"model": 8, "parallelism": 4, "speculative": 3}
    blocking = sum(weights.get(a.group, 2) for a in comparison.blocking) + 8 * len(comparison.missing_roles)
    differing = sum(a.differs for a in comparison.arguments)
    arm = comparison.arm
    return (
        blocking,
        len(comparison.to_look_at),
        bool(comparison.circular),
        ENCODING_RANK[arm.encoding],
        arm.verified is not True,
        differing,
        arm.label,
    )


def _summary(best: ArmComparison) -> str:
    place = f"{best.arm.label} ({best.arm.place})"
    if best.missing_roles:
        return f"The recipe documents no {' and '.join(best.missing_roles)} for it; nearest is {place}."
    if best.blocking:
        named = ", ".join(dict.fromkeys(_briefly(a) for a in best.blocking))
        return f"Not documented: {named}; nearest is {place}."
    if best.circular:
        return f"Documented by {place}, but {best.circular}"
    if best.to_look_at:
        return f"Documented by {place}; {len(best.to_look_at)} differences to look at."
    return f"Documented by {place}."


def _briefly(argument: ArgumentComparison) -> str:
    if argument.outcome is Outcome.MISSING:
        concept = concept_of(argument.name)
        sets_it = argument.our_flag in (argument.name, *concept.sglang, *concept.vllm)
        return f"{argument.our_flag if sets_it else argument.title} {shown(argument.ours)}"
    return f"{argument.title} {shown(argument.ours)} (recipe: {shown(argument.theirs)})"


def gaps_of(result: VariantComparison) -> Iterator[str]:
    """What is not documented of a variant, one sentence an argument."""
    best = result.best
    if best is None:
        yield f"{result.variant.title}: {result.summary}"
        return
    for role in best.missing_roles:
        yield f"{result.variant.title}, {role}: the recipe does not document this role."
    for argument in best.blocking:
        yield f"{result.variant.title}, {argument.role}: {argument.sentence()}"


def _circular(arm: RecipeArm, pull_request: int | None) -> str:
    """What makes an arm no evidence of its own; empty where nothing does."""
    told = arm.provenance
    if told is None:
        return ""
    if pull_request is not None and told.pull_request == pull_request:
        return f"it was generated from this very pull request (#{pull_request})."
    if told.status != "verified":
        source = f"pull request #{told.pull_request}" if told.pull_request else "a submission"
        return f"it was generated from {source} of {told.repository} that is not merged ({told.status})."
    return f"it was generated from {told.repository} itself ({told.commit[:9] or 'unknown commit'})."


def _notes(variant: Variant, arms: Sequence[RecipeArm]) -> Iterator[str]:
    """Remarks that explain a gap."""
    stem = _stem(variant.checkpoint)
    others = sorted({a.checkpoint for a in arms if _stem(a.checkpoint) == stem} - {variant.checkpoint})
    exact = any(a.checkpoint.casefold() == variant.checkpoint.casefold() for a in arms)
    if others and not exact:
        served = ", ".join(others)
        yield f"The recipe serves {served} instead of {variant.checkpoint}: another revision of the checkpoint."
    for role in variant.roles:
        if role.doubt:
            yield f"The {role.name} command at {role.path}:{role.line} is not known for certain: {role.doubt}."
    yield from dict.fromkeys(note for arm in _worth_comparing(variant, arms) for note in arm.notes)


def _stem(checkpoint: str) -> str:
    """A checkpoint's name without owner and revision suffix: what is left is the same model in the same format."""
    name = checkpoint.rpartition("/")[2].casefold()
    head, _, tail = name.rpartition("-")
    return head if head and tail[:1] == "v" and tail[1:].isdigit() else name


def disagreements(arms: Sequence[RecipeArm]) -> Iterator[str]:
    """Where two encodings of one page document the same checkpoint on the same hardware in different widths."""
    shapes: dict[tuple[str, str, str, bool], dict[str, set[str]]] = {}
    spelled: dict[str, str] = {}
    for arm in arms:
        role = arm.serving
        if role is None or not arm.hardware or arm.nodes > 1:
            continue
        checkpoint = spelled.setdefault(arm.checkpoint.casefold(), arm.checkpoint)
        key = (arm.url.partition("?")[0], checkpoint, arm.hardware, role.speculative is not None)
        width = f"tp{role.tp} ep{role.ep} dp{role.dp}"
        shapes.setdefault(key, {}).setdefault(arm.encoding, set()).add(width)
    for (url, checkpoint, hardware, speculative), by_encoding in shapes.items():
        told = list(by_encoding.values())
        if len(told) > 1 and not set.intersection(*told):
            said = "; ".join(f"{encoding}: {', '.join(sorted(widths))}" for encoding, widths in by_encoding.items())
            with_drafts = "with" if speculative else "without"
            yield f"{url} disagrees with itself on {checkpoint} on {hardware} {with_drafts} speculation ({said})."
