"""Recipe: every submitted configuration is linked upstream, merged, and documented in what must match."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from reviewer_tui.checks.check import Check, Evidence, Outcome, outcome
from reviewer_tui.checks.recipe_comparison import Standing, sentence_of
from reviewer_tui.checks.recipe_examination import Examination, Scoped, examine
from reviewer_tui.checks.recipe_links import CLONE_OPTIONS, REPOSITORIES, JudgedLink
from reviewer_tui.checks.recipe_variants import Arms
from reviewer_tui.model.finding import Finding, Status
from reviewer_tui.policy.layout import discover_layout
from reviewer_tui.recipes.arguments import engine_of
from reviewer_tui.recipes.arm import Engine
from reviewer_tui.recipes.compare import ArgumentComparison
from reviewer_tui.recipes.submitted import Variant

if TYPE_CHECKING:
    from reviewer_tui.recipes.find import Proposal

EXPLANATION = """\
Decides whether every submitted vLLM or SGLang configuration is documented upstream: the sign-off's detail section links
a merged pull request of vllm-project/recipes or sgl-project/sglang, or a published page, and an arm on the linked pages
has every argument that the policy wants to match. Which configurations need one (single-node ones only from July to
September 2026, all since) and which arguments follow from the policy's own text.
Reads: the check in the verifier's words, the sign-off, the state of linked pull requests, the serve commands that the
launch scripts and recipes at head start, and the recipe files upstream at the merge commit and on main. Those come with
a load from GitHub, or from local clones (--recipes-clone, --sglang-clone).
Judged are the arms that the pull request adds or alters; arms that stay as they were are told, not judged. Checkpoint,
hardware, precision, speculative method and parallelism fail by the letter. Kernels that a page does not name, and
widths on pages that build their commands from choices, are for a person: verdicts went both ways on these. So is what
must match and only the recipe sets. `reviewer-tui recipes` tells the same of every config key of a revision.
Cannot know: whether an engine picks by itself what a page leaves out, and what a page says in prose only."""

_MOST_PROPOSALS = 3
_MOST_NAMED = 3


def decide(evidence: Evidence) -> Outcome:
    found = examine(evidence)
    wanted = [key for key in found.keys if key.applies]
    scope = tuple(_scope_findings(found.keys))
    if not wanted:
        return _nothing_to_link(evidence, scope)
    findings = (
        *scope,
        *_link_findings(evidence, found, wanted),
        *_comparison_findings(evidence, found),
        *_proposal_findings(found),
    )
    decided = outcome(findings, "")
    return Outcome(status=decided.status, summary=_summary(found, decided), findings=findings)


def _nothing_to_link(evidence: Evidence, scope: tuple[Finding, ...]) -> Outcome:
    if scope:
        return outcome(scope, scope[0].message)
    orphans = _single_node_files(evidence)
    if orphans:
        message = f"{', '.join(orphans[:_MOST_NAMED])} changed, and no config key is known to run it: look what does."
        finding = Finding(status=Status.JUDGEMENT, message=message, path=orphans[0], commit=evidence.snapshot.head)
        return Outcome(status=Status.JUDGEMENT, summary=message, findings=(finding,))
    return Outcome(status=Status.NOT_APPLICABLE, summary="no serving configuration is added or changed")


def _single_node_files(evidence: Evidence) -> tuple[str, ...]:
    """Changed scripts and recipes of single nodes, where no key is submitted."""
    folder = f"{discover_layout(evidence.trees.head).benchmarks}/single_node/"
    aside = ("/deprecated/", "/speedbench/")
    return tuple(
        file.path
        for file in evidence.snapshot.files.value or ()
        if file.path.startswith(folder)
        and file.status != "removed"
        and file.path.endswith((".sh", ".yaml", ".yml"))
        and not any(part in file.path for part in aside)
    )


def _scope_findings(keys: Iterable[Scoped]) -> Iterator[Finding]:
    """The keys that need no recipe, or perhaps none, those with one reason together."""
    groups: dict[tuple[Status, str], list[Scoped]] = {}
    for key in keys:
        if not key.applies:
            groups.setdefault((key.status, key.reason), []).append(key)
    for (status, reason), some in groups.items():
        names = _listed([key.change.key for key in some])
        entry = some[0].change.new
        yield Finding(
            status=status,
            message=f"{names}: {reason}.",
            path=entry.path if entry else None,
            line=entry.line if entry else None,
        )


# -- links ------------------------------------------------------------------------------------------------------------


def _link_findings(evidence: Evidence, found: Examination, wanted: list[Scoped]) -> Iterator[Finding]:
    keys = _listed([key.change.key for key in wanted])
    if found.links is None:
        message = (
            f"{evidence.no_sign_off}; its detail section must link the upstream recipe of {keys}."
            f"{evidence.no_sign_off_because}"
        )
        yield Finding(status=Status.UNVERIFIED, message=message)
        return
    counting = [link for link in found.links if link.link.standing != "rejected"]
    if not counting:
        yield Finding(status=Status.FAIL, message=_no_link(evidence, keys), line=_item_line(evidence))
    for link in found.links:
        yield _link_finding(link, found, counted=bool(counting))
    for engine in dict.fromkeys(engine_of(key.change.new.framework) for key in wanted if key.change.new):
        if counting and engine is not None and not any(link.link.engine == engine for link in counting):
            mine = [k.change.key for k in wanted if k.change.new and engine_of(k.change.new.framework) == engine]
            message = (
                f"No recipe of {REPOSITORIES[engine]} is linked, and {_listed(mine)} runs {_ENGINE_NAMES[engine]}."
            )
            yield Finding(status=Status.FAIL, message=message)


_ENGINE_NAMES: dict[Engine, str] = {"vllm": "vLLM", "sglang": "SGLang"}


def _no_link(evidence: Evidence, keys: str) -> str:
    box = _recipe_box(evidence)
    opened = ", and the box is left open" if box is not None and not box[0] else ""
    return f"The sign-off's detail section links no upstream recipe for {keys}{opened}."


def _item_line(evidence: Evidence) -> int | None:
    box = _recipe_box(evidence)
    return box[1] if box else None


def _recipe_box(evidence: Evidence) -> tuple[bool, int] | None:
    """Whether every recipe box of the sign-off is ticked, and the line of the first that is not (else of the first)."""
    template = evidence.policy.template.value
    if template is None or evidence.sign_off is None:
        return None
    from reviewer_tui.signoff.match import match_boxes

    boxes = [
        match.box
        for match in match_boxes(evidence.sign_off, template).items
        if match.box is not None and match.item.name in ("recipe", "recipe_merged")
    ]
    if not boxes:
        return None
    unticked = [box for box in boxes if not box.checked]
    return not unticked, (unticked or boxes)[0].line


def _link_finding(link: JudgedLink, found: Examination, *, counted: bool) -> Finding:
    """One link. One that is not accepted fails, or is weighed or only told where another is accepted."""
    status, message = link.status, link.sentence
    if link.offer:
        message += f" Link {link.offer} instead."
    if link.remedy and status is Status.UNVERIFIED:
        message += f" {link.remedy}"
    if link.accepted and link.beside:
        status = Status.JUDGEMENT
        message += f" It stands beside item {link.beside}; the check asks for it in the detail section."
    elif status is Status.FAIL and found.accepted:
        # A pull request that is not merged does not satisfy the check, whatever else is linked: is it this recipe?
        weighed = link.link.standing != "rejected"
        status = Status.JUDGEMENT if weighed else Status.NOT_APPLICABLE
        message += " Another link is accepted; is this one needed too?" if weighed else " Another link is accepted."
    elif status is Status.FAIL and counted and link.link.standing == "rejected":
        status = Status.NOT_APPLICABLE
    return Finding(status=status, message=message, url=link.link.url, line=link.line)


# -- comparison -------------------------------------------------------------------------------------------------------


def _comparison_findings(evidence: Evidence, found: Examination) -> Iterator[Finding]:
    if not found.accepted:
        return
    if not found.standings and (found.submitted or not found.arms):
        for reason in found.doubts or tuple(_how_to_compare(found)):
            yield Finding(status=Status.UNVERIFIED, message=f"The arguments are not compared: {reason}")
    for arms in found.arms:
        yield from _uncompared(evidence, arms)
    if found.left_out:
        message = f"{found.left_out} further keys are submitted, too many to compare them all."
        yield Finding(status=Status.UNVERIFIED, message=message)
    yield from _argument_findings(evidence, found)
    for standing in found.standings:
        if standing.decided_otherwise:
            yield _standing_finding(evidence, standing, standing.status)
    uncertain = any(standing.status is Status.UNVERIFIED for standing in found.standings)
    for doubt in found.doubts if uncertain else ():
        yield Finding(status=Status.UNVERIFIED, message=doubt)
    yield from _unchanged_findings(evidence, found)


def _uncompared(evidence: Evidence, arms: Arms) -> Iterator[Finding]:
    """What of a key is not compared: commands that are not known, or nothing at all that is submitted."""
    commit = evidence.snapshot.head
    for unread in arms.unread:
        message = f"{unread.key} ({unread.label}): its serve command is not known: {unread.reason}"
        yield Finding(status=Status.UNVERIFIED, message=message, path=unread.path, line=unread.line, commit=commit)
    if arms.submitted or arms.unread:
        return
    key = arms.change.key
    if arms.unchanged:
        message = f"{key}: no arm is added or served differently; do those that stay need a recipe here?"
        yield Finding(status=Status.JUDGEMENT, message=message)
    else:
        yield Finding(status=Status.UNVERIFIED, message=f"{key}: no arm of it could be worked out.")


def _how_to_compare(found: Examination) -> Iterator[str]:
    for repository in dict.fromkeys(link.link.repository for link in found.accepted if link.link.repository):
        option = CLONE_OPTIONS.get(repository)
        clone = f"name a clone with {option} DIR, or " if option else ""
        yield f"the recipe files of {repository} are not at hand; {clone}load the pull request with reviewer-tui fetch."


class _Difference(NamedTuple):
    """What is told as one finding, for all arms of a key that share it."""

    key: str
    status: Status
    sentence: str


_WORST_FIRST = (Status.FAIL, Status.UNVERIFIED, Status.JUDGEMENT)


def _argument_findings(evidence: Evidence, found: Examination) -> Iterator[Finding]:
    """What is missing, contradicts or is open, argument by argument, the worst first."""
    groups: dict[_Difference, list[tuple[Standing, ArgumentComparison]]] = {}
    for standing in found.standings:
        # Where something of the page could not be read, what seems to be missing may stand there.
        failed = Status.UNVERIFIED if standing.status is Status.UNVERIFIED else Status.FAIL
        kinds = (
            (failed, standing.failing),
            (Status.UNVERIFIED, standing.unknown),
            (Status.JUDGEMENT, standing.weighed),
        )
        for status, arguments in kinds:
            for argument in arguments:
                difference = _Difference(standing.variant.key, status, sentence_of(argument))
                groups.setdefault(difference, []).append((standing, argument))
    for difference, some in sorted(groups.items(), key=lambda group: _WORST_FIRST.index(group[0].status)):
        yield _argument_finding(evidence, difference, some)


def _argument_finding(
    evidence: Evidence, difference: _Difference, some: list[tuple[Standing, ArgumentComparison]]
) -> Finding:
    standing, argument = some[0]
    labels = list(dict.fromkeys(one.variant.label for one, _ in some))
    arms = _listed(labels if len(labels) == len(some) > 1 else [_arm(one.variant) for one, _ in some])
    role = next((role for role in standing.variant.roles if role.name == argument.role), None)
    arm = standing.arm
    return Finding(
        status=difference.status,
        message=f"{difference.key} ({arms}): {difference.sentence}",
        path=role.path if role else None,
        line=(argument.our_line or role.line) if role else None,
        commit=evidence.snapshot.head if role else None,
        url=arm.arm.url if arm else None,
        expected=None if argument.theirs is None else str(argument.theirs),
        actual=None if argument.ours is None else str(argument.ours),
    )


def _standing_finding(evidence: Evidence, standing: Standing, status: Status, before: str = "") -> Finding:
    role = standing.variant.roles[0]
    aside = (
        f" Not asked to match: {', '.join(dict.fromkeys(a.title for a in standing.aside))}." if standing.aside else ""
    )
    return Finding(
        status=status,
        message=f"{standing.variant.key} ({_arm(standing.variant)}): {before}{standing.sentence}{aside}",
        path=role.path or None,
        line=role.line,
        commit=evidence.snapshot.head,
        url=standing.arm.arm.url if standing.arm else None,
    )


def _unchanged_findings(evidence: Evidence, found: Examination) -> Iterator[Finding]:
    """Arms that were there before, for information: they are no part of the change."""
    for standing in found.unchanged:
        if standing.status is not Status.PASS:
            yield _standing_finding(evidence, standing, Status.NOT_APPLICABLE, "was there before, not judged: ")


def _arm(variant: Variant) -> str:
    concurrencies = " ".join(f"c{conc}" for conc in variant.points)
    return f"{variant.label} {concurrencies}".strip()


# -- proposals --------------------------------------------------------------------------------------------------------


def _proposal_findings(found: Examination) -> Iterator[Finding]:
    """Pages to link instead, for information."""
    for proposal in found.proposals[:_MOST_PROPOSALS]:
        if proposal.url not in {link.link.url for link in found.accepted}:
            yield Finding(status=Status.NOT_APPLICABLE, message=_proposed(proposal), url=proposal.url)
    for pull in found.pulls[:_MOST_PROPOSALS]:
        yield Finding(status=Status.NOT_APPLICABLE, message=f"Not linked: {pull.sentence}", url=pull.upstream.url)


def _proposed(proposal: Proposal) -> str:
    total = len(proposal.comparison.variants)
    lacks = f" It lacks: {' '.join(proposal.lacks[:2])}" if proposal.lacks else ""
    more = f" And {len(proposal.lacks) - 2} more." if len(proposal.lacks) > 2 else ""
    return f"{proposal.url} documents {len(proposal.covers)} of {total} submitted arms.{lacks}{more}"


# -- summary ----------------------------------------------------------------------------------------------------------


def _summary(found: Examination, decided: Outcome) -> str:
    if decided.status is Status.PASS:
        links = _listed([link.link.url for link in found.accepted])
        arms = "the submitted arm is" if len(found.standings) == 1 else f"all {len(found.standings)} submitted arms are"
        return f"{links}: {arms} documented"
    worst = [finding for finding in decided.findings if finding.status is decided.status]
    more = f" (and {len(worst) - 1} more)" if len(worst) > 1 else ""
    return f"{worst[0].message}{more}" if worst else "nothing is known about the recipes"


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    return f"{', '.join(names[:_MOST_NAMED])}{f' and {more} more' if more > 0 else ''}"


CHECK = Check(
    name="recipe",
    title="Each recipe is linked upstream, merged and complete",
    pane="recipes",
    explanation=EXPLANATION,
    decide=decide,
)
