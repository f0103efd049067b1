"""How a submitted arm stands to the documented ones, in the statuses of a check: what fails by the policy's letter,
what a person must weigh, and what cannot be known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from reviewer_tui.model.finding import Status
from reviewer_tui.recipes.arm import Encoding
from reviewer_tui.recipes.compare import ArgumentComparison, ArmComparison, Outcome, VariantComparison
from reviewer_tui.recipes.submitted import Variant

# The best first: an arm that covers the variant is preferred to one that may cover it.
_PREFERENCE = (Status.PASS, Status.JUDGEMENT, Status.UNVERIFIED, Status.FAIL)

# Pages that build a command from what a visitor chooses, and fit sizes themselves.
_BUILT: tuple[Encoding, ...] = ("yaml", "widget")


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """A variant with the documented arm that suits it best (None where there is none) and what that comes to.

    `failing` are the arguments that fail by the letter, `unknown` those that matter and could not be evaluated,
    `weighed` those that a person must weigh, `aside` the differences that the policy does not ask to match.
    """

    variant: Variant
    status: Status
    sentence: str
    arm: ArmComparison | None = None
    failing: tuple[ArgumentComparison, ...] = ()
    unknown: tuple[ArgumentComparison, ...] = ()
    weighed: tuple[ArgumentComparison, ...] = ()
    aside: tuple[ArgumentComparison, ...] = ()

    @property
    def differences(self) -> tuple[ArgumentComparison, ...]:
        """All arguments that keep the variant from passing, the worst first."""
        return (*self.failing, *self.unknown, *self.weighed)

    @property
    def decided_otherwise(self) -> bool:
        """Whether something else than single arguments decides, so that the sentence itself must be told."""
        arm = self.arm
        doubtful = any(role.doubt for role in self.variant.roles)
        return arm is None or bool(arm.missing_roles or arm.circular) or doubtful or not self.differences


def standing_of(result: VariantComparison, doubts: Sequence[str]) -> Standing:
    """How a variant stands. `doubts` say what of the linked recipe could not be read: where there are any, nothing is
    missing for certain."""
    choices = [_standing(arm) for arm in result.ranked]
    if not choices:
        uncertain = bool(doubts) or result.status is Status.UNVERIFIED
        return Standing(
            variant=result.variant,
            status=Status.UNVERIFIED if uncertain else Status.FAIL,
            sentence=result.summary,
        )
    best = min(choices, key=lambda choice: _PREFERENCE.index(choice.status))
    if best.status is Status.FAIL and doubts:
        return msgspec.structs.replace(best, status=Status.UNVERIFIED)
    return best


def _standing(arm: ArmComparison) -> Standing:
    """How a variant stands to one arm."""
    doubtful = {role.name: role.doubt for role in arm.variant.roles if role.doubt}
    failing = tuple(a for a in arm.blocking if _fails(a, arm, doubtful))
    unknown = tuple(a for a in arm.arguments if _is_unknown(a))
    weighed = tuple(a for a in arm.arguments if a not in failing and a not in unknown and _is_for_a_person(a))
    place = f"{arm.arm.label} ({arm.arm.place})"
    if arm.missing_roles:
        status, sentence = Status.FAIL, f"the recipe has no {' and no '.join(arm.missing_roles)}; nearest is {place}."
    elif failing:
        status, sentence = Status.FAIL, f"{_counted(failing, 'is', 'are')} not documented; nearest is {place}."
    elif doubtful or unknown:
        reasons = (*doubtful.values(), *(a.why for a in unknown))
        status, sentence = Status.UNVERIFIED, f"{'; '.join(dict.fromkeys(reasons))}; nearest is {place}."
    elif arm.circular:
        status, sentence = Status.JUDGEMENT, f"documented by {place}, but {arm.circular}"
    elif weighed:
        status, sentence = Status.JUDGEMENT, f"nearest is {place}; {_counted(weighed, 'differs', 'differ')}."
    else:
        status, sentence = Status.PASS, f"documented by {place} in every argument that must match."
    return Standing(
        variant=arm.variant,
        status=status,
        sentence=sentence,
        arm=arm,
        failing=failing,
        unknown=unknown,
        weighed=weighed,
        aside=tuple(a for a in arm.to_look_at if a not in weighed),
    )


def _is_unknown(argument: ArgumentComparison) -> bool:
    """Whether an argument of ours that must match could not be evaluated."""
    return argument.outcome is Outcome.NOT_COMPARABLE and argument.blocks and argument.ours is None


def _fails(argument: ArgumentComparison, arm: ArmComparison, doubtful: Iterable[str]) -> bool:
    """Whether the policy's letter fails this difference for certain.

    Only major arguments do. Which kernels run is for a person where a page names none (the engine may pick the same)
    or is built from choices, and so is the width of a parallelism that such a page has in another width: verdicts on
    these went both ways. What our command may yet have is not missing for certain.
    """
    if argument.cls != "major" or argument.outcome is Outcome.NOT_COMPARABLE:
        return False
    if argument.ours is None and argument.role in doubtful:
        return False
    built = arm.arm.encoding in _BUILT
    if argument.group == "backends":
        return argument.outcome is Outcome.CONTRADICTS and not built
    return not (built and argument.group == "parallelism" and _is_width(argument))


def _is_width(argument: ArgumentComparison) -> bool:
    """Whether both sides have a parallelism, in different widths."""
    sizes = [value for value in (argument.ours, argument.theirs) if type(value) is int]
    return len(sizes) == 2 and (argument.name == "tp" or min(sizes) > 1)


def _is_for_a_person(argument: ArgumentComparison) -> bool:
    """Differences that may matter: what should match by the letter but is told with little certainty, what contradicts
    or cannot be compared without deciding the deployment, and what must match and only the recipe sets."""
    unsettled = argument.outcome in (Outcome.CONTRADICTS, Outcome.NOT_COMPARABLE)
    unsettled |= argument.cls == "major" and argument.outcome is Outcome.UPSTREAM_ONLY
    return argument.blocks or (unsettled and argument.demand == "judge")


def _counted(arguments: Sequence[ArgumentComparison], one: str, many: str) -> str:
    names = list(dict.fromkeys(argument.title for argument in arguments))
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return f"{', '.join(names[:4])}{more} {one if len(names) == 1 else many}"


def sentence_of(argument: ArgumentComparison) -> str:
    """An argument in a sentence, with its role where that is not the only one."""
    return argument.sentence() if argument.role == "worker" else f"{argument.role}: {argument.sentence()}"
