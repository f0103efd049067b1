"""Image: upstream vLLM and SGLang images on established hardware, and open-source engines before vendor frameworks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from reviewer_tui.checks.check import Check, Evidence, Outcome, outcome
from reviewer_tui.checks.scope import additional_settings, entry_changed, sku, submitted
from reviewer_tui.model.config import Entry, KeyChange
from reviewer_tui.model.finding import Finding, Status
from reviewer_tui.model.tree import Tree
from reviewer_tui.policy.image_rules import ImageRules, image_rules
from reviewer_tui.policy.layout import discover_layout
from reviewer_tui.sweeps.master import parse_master

EXPLANATION = """\
Decides two things about every master-config entry that the pull request adds or changes. First: an entry of framework
vllm or sglang on established hardware runs an image of the upstream organisation on Docker Hub (digest pins are fine,
`#` counts as `/`); other registries need an exception that the detail section documents. Second: a new entry of a
vendor framework, or one that becomes such, needs an open-source engine's entry of the same model prefix and hardware
first, and one that stays.
Reads: the image check in the verifier's own words (organisations, established hardware, open-source engines), the
master configs at head, at the merge base and on the default branch.
Cannot know: whether a documented exception is genuine, and images that only a launcher or a recipe names."""

# An engine served through another layer: the layer's framework name holds the engine's.
_ENGINES = ("vllm", "sglang")
_DOCKER_HUB = re.compile(r"(?:docker\.io|registry-1\.docker\.io|index\.docker\.io|registry\.hub\.docker\.com)/")
_EXCEPTION = re.compile(
    r"\b(new hardware|new model|architecture|not (?:fundamentally )?support|exception|image)\b", re.I
)


class Image(msgspec.Struct, frozen=True):
    """An image reference taken apart: `registry` empty for Docker Hub, `repository` without tag and digest."""

    registry: str
    repository: str

    @property
    def organisation(self) -> str:
        return self.repository.partition("/")[0] if "/" in self.repository else ""


def parse_image(reference: str) -> Image:
    """The parts of a reference such as `nvcr.io#nvidia/x:1`, `vllm/vllm-openai:v1` or `docker.io/a/b@sha256:…`."""
    name = _DOCKER_HUB.sub("", reference.strip().replace("#", "/"), count=1).partition("@")[0]
    head, slash, last = name.rpartition("/")
    name = f"{head}{slash}{last.partition(':')[0]}"
    first, slash, rest = name.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        return Image(first, rest)
    return Image("", name)


def decide(evidence: Evidence) -> Outcome:
    changed = tuple(change for change in submitted(evidence) if entry_changed(change))
    if not changed:
        return Outcome(status=Status.NOT_APPLICABLE, summary="no master-config entry is added or changed")
    policy_check = evidence.policy.check("image")
    rules = image_rules(policy_check.text) if policy_check else None
    if rules is None:
        reason = "The policy's image check names no registries or hardware that this program can read."
        finding = Finding(status=Status.UNVERIFIED, message=reason)
        return Outcome(status=Status.UNVERIFIED, summary=reason, findings=(finding,))
    findings = (*_upstream_images(evidence, rules, changed), *_engine_first(evidence, rules, changed))
    return outcome(findings, _summary(findings, len(changed)))


def _upstream_images(evidence: Evidence, rules: ImageRules, changed: Iterable[KeyChange]) -> Iterator[Finding]:
    for change in changed:
        entry = change.new
        assert entry is not None
        yield _judge_image(evidence, rules, entry, entry.image, "image")
        for setting, reference in _other_images(entry):
            found = _judge_image(evidence, rules, entry, reference, setting)
            # The rule's words bind the entry's image; what a setting puts beside it is the reviewer's to weigh.
            failed = found.status is Status.FAIL
            yield msgspec.structs.replace(found, status=Status.JUDGEMENT) if failed else found


def _judge_image(evidence: Evidence, rules: ImageRules, entry: Entry, reference: str, field: str) -> Finding:
    organisation = _organisation(entry.framework, rules)
    status, why = _image_status(evidence, rules, entry, parse_image(reference), organisation)
    return Finding(
        status=status,
        message=f"{entry.key}: {field} {reference or '(none)'} {why}",
        path=entry.path,
        line=_line(entry, "image"),
        commit=evidence.snapshot.head,
        expected=f"{organisation}/…" if organisation else None,
        actual=reference,
    )


def _organisation(framework: str, rules: ImageRules) -> str | None:
    """The upstream organisation of the framework, or of the engine that it serves."""
    engine = next((engine for engine in _ENGINES if engine in framework), "")
    return rules.registries.get(framework) or rules.registries.get(engine)


def _image_status(
    evidence: Evidence, rules: ImageRules, entry: Entry, image: Image, organisation: str | None
) -> tuple[Status, str]:
    """How one image stands, and the end of the sentence that says so."""
    if organisation is None:
        return Status.NOT_APPLICABLE, f"serves {entry.framework}, for which no upstream registry is named."
    if not image.registry and image.organisation == organisation:
        return Status.PASS, f"is of hub.docker.com/u/{organisation}."
    foreign, hardware = f"is not of hub.docker.com/u/{organisation}", sku(entry.runner) or entry.runner
    if entry.framework not in rules.registries:
        return Status.JUDGEMENT, f"{foreign}; by its letter the rule does not bind framework {entry.framework}."
    if hardware not in rules.established:
        return Status.JUDGEMENT, f"{foreign}, and {hardware} is not listed as established hardware."
    if _documents_exception(evidence, entry, image):
        return Status.JUDGEMENT, f"{foreign}; the detail section speaks of it: is the exception genuine?"
    return Status.FAIL, f"{foreign}, and no exception is documented in the detail section."


def _documents_exception(evidence: Evidence, entry: Entry, image: Image) -> bool:
    """Whether the sign-off's detail section speaks of this image or of an exception; whether it suffices is human."""
    detail = evidence.sign_off.detail if evidence.sign_off else ""
    return bool(detail) and (image.repository in detail or (entry.key in detail and bool(_EXCEPTION.search(detail))))


def _other_images(entry: Entry) -> Iterator[tuple[str, str]]:
    """Containers that worker settings name beside the entry's image (`PREFILL_IMAGE=…`), each once. The benchmark
    client's image serves no model and is left out."""
    seen: set[str] = set()
    for setting in additional_settings(entry.fields.get("scenarios")):
        name, _, value = setting.partition("=")
        if name.endswith("_IMAGE") and name != "CLIENT_IMAGE" and setting not in seen:
            seen.add(setting)
            yield name, value


def _engine_first(evidence: Evidence, rules: ImageRules, changed: Iterable[KeyChange]) -> Iterator[Finding]:
    """New entries of vendor frameworks, and those that become such, each with the open-source entry that came before
    it, or the lack of one."""
    new = [change.new for change in changed if change.new is not None and _is_new(change, rules)]
    vendor = [entry for entry in new if not _is_open_source(entry.framework, rules)]
    if not vendor:
        return
    # Where the pull request was merged meanwhile, what it adds did not come before it; and what it takes away or turns
    # into something else does not stay.
    added = {entry.key for entry in new} - {entry.key for entry in _entries(evidence.trees.base)}
    gone = {
        change.old.key
        for change in evidence.changes.keys
        if change.old is not None and (change.new is None or _is_new(change, rules))
    }
    landed = [entry for entry in _entries(evidence.trees.default_branch) if entry.key not in added | gone]
    for entry in vendor:
        yield _judge_order(evidence, rules, entry, landed, new)


def _is_new(change: KeyChange, rules: ImageRules) -> bool:
    """Whether an entry of its framework is new: it is added, or it was another framework's or model's before."""
    old, new = change.old, change.new
    if old is None or new is None:
        return new is not None
    before, now = (old.model_prefix, sku(old.runner)), (new.model_prefix, sku(new.runner))
    return before != now or (_is_engine(old.framework, rules) and not _is_engine(new.framework, rules))


def _judge_order(
    evidence: Evidence, rules: ImageRules, entry: Entry, landed: list[Entry], added: list[Entry]
) -> Finding:
    place = f"{entry.model_prefix} on {sku(entry.runner)}"
    status, why = _order_status(
        evidence, rules, entry, place, _engine_for(entry, landed, rules), _engine_for(entry, added, rules)
    )
    return Finding(
        status=status,
        message=f"{entry.key}: {why}",
        path=entry.path,
        line=_line(entry, "framework"),
        commit=evidence.snapshot.head,
        expected=f"an open-source engine's entry of {place}",
        actual=entry.framework,
    )


def _order_status(
    evidence: Evidence, rules: ImageRules, entry: Entry, place: str, before: Entry | None, beside: Entry | None
) -> tuple[Status, str]:
    if before:
        return Status.PASS, f"{before.key} ({before.framework}) serves {place} already."
    if beside:
        return Status.JUDGEMENT, f"the open-source entry of {place}, {beside.key}, is only added by this pull request."
    if any(engine in entry.framework for engine in _ENGINES):
        return Status.JUDGEMENT, f"no vLLM or SGLang entry of {place} came before; {entry.framework} itself runs one."
    if evidence.sign_off and entry.key in evidence.sign_off.detail:
        return Status.JUDGEMENT, f"no open-source entry of {place}; the detail section speaks of it: is it genuine?"
    if sku(entry.runner) not in rules.established:
        return Status.JUDGEMENT, f"no open-source entry of {place}, and the hardware is not listed as established."
    return Status.FAIL, f"no vLLM or SGLang entry of {place} exists before this {entry.framework} entry."


def _engine_for(entry: Entry, entries: Iterable[Entry], rules: ImageRules) -> Entry | None:
    """The first other entry of an open-source engine for the same model prefix and hardware."""
    return next(
        (
            other
            for other in entries
            if other.key != entry.key
            and other.model_prefix == entry.model_prefix
            and sku(other.runner) == sku(entry.runner)
            and _is_engine(other.framework, rules)
        ),
        None,
    )


def _is_open_source(framework: str, rules: ImageRules) -> bool:
    """Whether a new entry of this framework needs no other engine first, by the letter of the rule."""
    return framework in (rules.open_source or rules.registries)


def _is_engine(framework: str, rules: ImageRules) -> bool:
    """Whether an existing entry of this framework counts as the open-source engine that came first."""
    return _is_open_source(framework, rules) or any(engine in framework for engine in _ENGINES)


def _entries(tree: Tree) -> list[Entry]:
    """The entries of a revision."""
    masters = (parse_master(tree.read(path) or b"", path) for path in discover_layout(tree).master_configs)
    return [entry for master in masters for entry in master.entries().values()]


def _line(entry: Entry, field: str) -> int:
    return entry.lines.get(field, entry.line)


def _summary(findings: tuple[Finding, ...], entries: int) -> str:
    decisive = next(
        (f for s in (Status.FAIL, Status.UNVERIFIED, Status.JUDGEMENT) for f in findings if f.status is s), None
    )
    if decisive:
        return decisive.message
    if not any(finding.status is Status.PASS for finding in findings):
        return "no vLLM or SGLang entry is added or changed"
    return f"upstream images in {entries} {'entry' if entries == 1 else 'entries'}"


CHECK = Check(
    name="image",
    title="Upstream images, and open-source engines first",
    pane="diff",
    explanation=EXPLANATION,
    decide=decide,
)
