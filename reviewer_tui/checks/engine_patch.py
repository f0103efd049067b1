"""Engine patch: the pinned image serves as shipped, or a waiver says why it cannot."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from reviewer_tui.checks.changed_text import ChangedText, changed_text
from reviewer_tui.checks.check import Check, Evidence, Outcome, outcome
from reviewer_tui.checks.patches.files import read_file
from reviewer_tui.checks.patches.lookup import ASIDE, Lookup
from reviewer_tui.checks.patches.reading import Hit, Reading, Reference
from reviewer_tui.checks.patches.rules import (
    CHANGES_BY_NAME,
    ENGINE_BY_NAME,
    PATCH_FILE,
    STARTUP_HOOK,
    is_shipped,
    may_replace,
)
from reviewer_tui.checks.patches.shell import read_shell
from reviewer_tui.checks.patches.waiving import covering, standing
from reviewer_tui.checks.scope import entry_changed
from reviewer_tui.checks.serving import Served, absence, can_serve, served
from reviewer_tui.model.finding import Finding, Status
from reviewer_tui.model.part import Part
from reviewer_tui.model.pull_request import ChangedFile
from reviewer_tui.model.tree import Tree, read_text
from reviewer_tui.policy.layout import discover_layout

EXPLANATION = """\
Decides whether the pull request lets the pinned image serve as shipped. Every changed file that can serve (scripts,
recipes, launchers, their helpers) is read command by command: patches, edits and copies into the image's files, engine
wheels, start-up hooks, mounts over the image, setup scripts that recipes name, and what these run in turn. Such a
change needs docs/waiver/<PR>.md in the same pull request, filled out, and linked in the detail section. Client and
eval dependencies, routers and launch settings are fine. What only may touch the engine waits for judgement, and so does
a new script line that runs a program no rule knows, or a file or function that the repository does not hold.
Reads: both sides of every changed file, the files of submitted keys, waivers at head and on the default branch, the
sign-off's detail section.
Cannot know: files outside of the repository (recipes and setup scripts of another checkout, downloads), and whether a
waiver covers exactly this patch. Patching that was there before is told apart; a submission that relies on it needs
the waiver of the pull request that introduced it, on the default branch."""

_MOST_HITS = 12
_MOST_HARMLESS = 6
_MOST_NAMED = 12
_MAX_FOLLOWED = 40
_SHORT = 8_000
_ANY = 10_000_000
_CHECKOUT = re.compile(r"\bgit\s+(?:-C\s+\S+\s+)?(?:clone|checkout|fetch|switch)\b|--branch\b")


def decide(evidence: Evidence) -> Outcome:
    files = evidence.snapshot.files
    if files.value is None:
        return _alone(Status.UNVERIFIED, f"The changed files are not known: {files.reason}")
    review = _Review(evidence, files.value)
    findings = list(review.findings())
    if not files.complete:
        findings.append(_finding(Status.UNVERIFIED, f"Some changed files are not known: {files.reason}"))
    if not review.changed and not review.submitted and not findings:
        return Outcome(
            status=Status.NOT_APPLICABLE, summary="no benchmark script, launcher, recipe or config is touched"
        )
    if all(finding.status is Status.PASS for finding in findings):
        message = f"The image runs as shipped: {_read(review.files_read)}."
        findings.insert(0, _finding(Status.PASS, message))
    return outcome(tuple(findings), _summary(findings), tuple(review.pre_existing))


class _Touch(msgspec.Struct, frozen=True):
    """A hit in a file, with the reference that leads there where the file itself did not change."""

    path: str
    hit: Hit
    through: str = ""


class _Review:
    """One pull request on its way through its files."""

    def __init__(self, evidence: Evidence, files: Sequence[ChangedFile]) -> None:
        self._evidence = evidence
        self._head: Tree = evidence.trees.head
        self._layout = discover_layout(self._head)
        self._lookup = Lookup(self._head, self._layout)
        there = {file.path: file for file in files if file.status != "removed"}
        self.changed = [file for file in there.values() if self._counts(file.path)]
        self.submitted = list(served(evidence))
        self.pre_existing: list[Finding] = []
        self._texts: dict[str, Part[ChangedText]] = {file.path: changed_text(evidence, file) for file in self.changed}
        # Changed files that count as soon as one that counts runs them.
        self._others = {path: file for path, file in there.items() if path not in self._texts}

    @property
    def files_read(self) -> int:
        """How many changed files were read."""
        return len(self._texts)

    def _counts(self, path: str) -> bool:
        """Whether a changed file can serve; a patch or a start-up hook counts wherever it lies, but for the evals'."""
        if can_serve(path, self._layout, self._head) or self._lookup.is_run(path):
            return True
        hook = bool(STARTUP_HOOK.search(path) or PATCH_FILE.search(path))
        return hook and not re.search(r"eval|(?:^|/)tests?/|/deprecated/|/speedbench/", path)

    def findings(self) -> Iterator[Finding]:
        touches: list[_Touch] = []
        followed: list[_Touch] = []
        waiting = list(self._texts)
        for path in waiting:
            part = self._texts[path]
            if part.value is None:
                yield _finding(Status.JUDGEMENT, f"{part.reason} Look at what it does to the engine.", path)
            else:
                touches += self._new_touches(part.value)
                followed += self._followed(part.value, waiting)
        touches += [touch for touch in dict.fromkeys(followed) if touch not in touches]
        touches += [touch for item in self.submitted for touch in self._settings(item)]
        yield from self._judge(touches)
        yield from self._outside()
        yield from self._uncovered()
        yield from self._already_there({touch.path for touch in touches if touch.hit.kind == "engine"})

    def _settings(self, item: Served) -> Iterator[_Touch]:
        """What new settings of an entry's workers bring into the engine's process, or run before it."""
        path, line = item.entry.path, item.entry.line
        for setting in item.new_settings:
            name, _, value = setting.partition("=")
            reading = read_shell("", f"export {name}={shlex.quote(value)}").at(line, line)
            yield from (_Touch(path, hit) for hit in reading.hits)
            for reference in reading.references:
                target = self._lookup.resolve(path, reference)
                if target is None:
                    yield from self._unresolved(path, reference)
                else:
                    hits = self._read(target, short=_ANY).hits
                    yield from (_Touch(target, hit, f"{path}:{line}") for hit in hits if hit.kind != "harness")

    def _known_texts(self) -> Iterator[ChangedText]:
        return (part.value for part in self._texts.values() if part.value is not None)

    def _commit(self) -> str:
        return self._evidence.snapshot.head

    # -- what the pull request adds -------------------------------------------------------------------------------

    def _new_touches(self, text: ChangedText) -> Iterator[_Touch]:
        aside = [hit for hit in read_file(text.path, text.text).hits if not text.adds(hit.line, hit.end_line)]
        before = self._hits_before(text) if any(hit.kind != "harness" for hit in aside) else Counter()
        for hit in read_file(text.path, text.text).hits:
            if hit not in aside:
                yield _Touch(text.path, hit)
            elif before[hit.kind, hit.what] > 0:
                before[hit.kind, hit.what] -= 1
                if hit.kind == "engine":
                    self.pre_existing.append(self._before(text.path, hit))
            elif hit.kind != "harness":
                # The line is old, but what it does is not: a variable of it has another value now.
                yield _Touch(text.path, hit)

    @staticmethod
    def _hits_before(text: ChangedText) -> Counter[tuple[str, str]]:
        """What the file did at the base, each thing as often as it did it."""
        return Counter((hit.kind, hit.what) for hit in read_file(text.path, text.base or "").hits)

    def _followed(self, text: ChangedText, waiting: list[str]) -> Iterator[_Touch]:
        """What new lines use from elsewhere: files that they run, functions that other scripts define. What is unclear
        in an unchanged script was so before; in the setup of an engine's container it counts. Changed files are put
        into `waiting`, to be read like those that count by themselves."""
        references = [
            (text.path, reference)
            for reference in read_file(text.path, text.text).references
            if text.adds(reference.line, reference.end_line)
        ]
        seen: set[str] = set()
        while references and len(seen) < _MAX_FOLLOWED:
            origin, reference = references.pop(0)
            if reference.how in ("function", "variable"):
                if origin == text.path:
                    yield from self._defined_elsewhere(origin, reference)
                continue
            target = self._lookup.resolve(origin, reference)
            if target is None:
                if origin == text.path:
                    yield from self._unresolved(origin, reference)
                continue
            if target in self._others:
                self._texts[target] = changed_text(self._evidence, self._others.pop(target))
                waiting.append(target)
            if target in seen or (origin != text.path and any(part in target for part in ASIDE)):
                continue
            seen.add(target)
            reading = self._read(target, short=_ANY if reference.how == "setup" else _SHORT)
            through = f"{origin}:{reference.line}"
            kinds = ("engine", "unclear", "unread") if reference.how == "setup" else ("engine",)
            hits = [hit for hit in reading.hits if hit.kind in kinds and not self._is_new(target, hit)]
            yield from (_Touch(target, hit, through) for hit in hits)
            references += [(target, inner) for inner in reading.references if reference.how != "patch"]

    def _defined_elsewhere(self, origin: str, reference: Reference) -> Iterator[_Touch]:
        """What a command does that the script does not define itself: a function of another script, or the program in
        a variable that another script sets."""
        variable = re.match(r"\$\{(\w+)", reference.name)
        found = self._lookup.script_with(origin, variable[1] if variable else reference.name, reference.how)
        if found is None or (variable and found in self._texts):
            where = "sets anew" if found else "of the repository sets" if variable else "of the repository defines"
            known = (
                f", which {found.rpartition('/')[2]} {where}"
                if found
                else f", which no rule knows and no script {where}"
            )
            what = f"runs {reference.name}{known}"
            yield _Touch(origin, Hit(kind="unclear", line=reference.line, end_line=reference.end_line, what=what))
        elif not variable:
            through = f"{origin}:{reference.line}"
            text = read_text(self._head, found) or ""
            for hit in read_file(found, text).hits if may_replace(text) else ():
                if hit.idle == reference.name:
                    what = hit.what.partition(", in the function")[0]
                    yield _Touch(found, msgspec.structs.replace(hit, kind="engine", idle="", what=what), through)

    def _is_new(self, path: str, hit: Hit) -> bool:
        """Whether the hit is found as an addition of its own file already."""
        part = self._texts.get(path)
        return part is not None and part.value is not None and part.value.adds(hit.line, hit.end_line)

    def _read(self, path: str, short: int = 0) -> Reading:
        """What an unchanged file does; one longer than `short` is read only where a line may replace a part of an
        engine."""
        text = read_text(self._head, path)
        if text is None or not (len(text) < short or may_replace(text)):
            return Reading()
        return read_file(path, text)

    def _unresolved(self, origin: str, reference: Reference) -> Iterator[_Touch]:
        """A file that is run and is not in the repository: the image's own, one of several that a variable chooses
        from, or unread."""
        name = reference.name
        if reference.how == "setup":
            yield _Touch(origin, self._setup_script(reference))
        elif reference.how in ("script", "program") and not is_shipped(name) and not self._lookup.chosen(name):
            missing = (
                "whose name is made at run time" if "$" in name.rpartition("/")[2] else "which is not in the repository"
            )
            what = f"runs {name}, {missing}"
            if CHANGES_BY_NAME.search(name.rpartition("/")[2]):
                what += " and by its name changes something"
            yield _Touch(origin, Hit(kind="unclear", line=reference.line, end_line=reference.end_line, what=what))

    def _setup_script(self, reference: Reference) -> Hit:
        name = reference.name
        changes = CHANGES_BY_NAME.search(name) and ENGINE_BY_NAME.search(name)
        what = f"runs the setup script {name} in the engine's container, which is not in the repository"
        if changes and not self._is_established(name):
            what += "; by its name it changes the engine"
            return Hit(kind="engine", line=reference.line, end_line=reference.end_line, what=what)
        return Hit(kind="unread", line=reference.line, end_line=reference.end_line, what=f"{what}, so it was not read")

    def _is_established(self, name: str) -> bool:
        """Whether recipes of the base use the same setup script."""
        tree = self._evidence.trees.base
        folder = discover_layout(tree).benchmarks
        recipes = (path for path in tree.list(folder) if path.endswith((".yaml", ".yml")))
        return any(name in (read_text(tree, path) or "") for path in recipes)

    # -- judging --------------------------------------------------------------------------------------------------

    def _judge(self, touches: Sequence[_Touch]) -> Iterator[Finding]:
        engine = [touch for touch in touches if touch.hit.kind == "engine"]
        if engine:
            status, why = standing(self._evidence, tuple(dict.fromkeys(touch.path for touch in engine)))
            yield from self._shown(engine, status, why)
        yield from self._shown([touch for touch in touches if touch.hit.kind == "unread"], Status.UNVERIFIED, "")
        unclear = [touch for touch in touches if touch.hit.kind == "unclear"]
        yield from self._shown(unclear, Status.JUDGEMENT, "Does it touch the engine?")
        harmless = [touch for touch in touches if touch.hit.kind == "harness" and not touch.through]
        for touch in harmless[:_MOST_HARMLESS]:
            yield self._located(Status.PASS, touch.path, touch.hit, "")

    def _shown(self, touches: Sequence[_Touch], status: Status, why: str) -> Iterator[Finding]:
        """One finding a place, the first ones in full; why stands once for each file."""
        places: dict[tuple[str, int], list[_Touch]] = {}
        for touch in touches:
            places.setdefault((touch.path, touch.hit.line), []).append(touch)
        told: set[str] = set()
        for (path, _), here in list(places.items())[:_MOST_HITS]:
            first = here[0]
            run = f"run by {first.through}" if first.through else ""
            others = len({touch.hit.what for touch in here}) - 1
            aside = ", ".join(part for part in (run, f"and {others} more there" if others else "") if part)
            yield self._located(status, path, first.hit, aside, "" if path in told and status is Status.FAIL else why)
            told.add(path)
        if rest := list(places)[_MOST_HITS:]:
            lines: dict[str, list[str]] = {}
            for path, line in rest:
                lines.setdefault(path.rpartition("/")[2], []).append(str(line))
            named = "; ".join(f"{name}, line {_listed(found)}" for name, found in lines.items())
            yield _finding(status, f"The same has to be asked of {named}.", rest[0][0], rest[0][1], self._commit())

    def _located(self, status: Status, path: str, hit: Hit, aside: str, why: str = "") -> Finding:
        remark = f", {aside}" if aside else ""
        name = path.rpartition("/")[2]
        message = f"{name} {hit.what}{remark}. {why}".strip()
        return Finding(status=status, message=message, path=path, line=hit.line, commit=self._commit())

    def _before(self, path: str, hit: Hit) -> Finding:
        status = Status.FAIL if hit.kind == "engine" else Status.JUDGEMENT
        return self._located(status, path, hit, "before this pull request")

    # -- what cannot be read, and what was there before -------------------------------------------------------------

    def _outside(self) -> Iterator[Finding]:
        """Recipes and scripts of submitted entries that the repository does not hold, where they are new or moved."""
        moved = self._moved_checkout()
        for item in self.submitted:
            if not entry_changed(item.change):
                continue
            new = item.brought_from_outside
            if new:
                yield self._at_entry(item, absence(item.change.key, new, self._layout))
            elif item.outside and moved is not None:
                path, line = moved
                message = (
                    f"{item.change.key}: its recipes were not read; they come from a checkout that is changed here."
                )
                yield _finding(Status.UNVERIFIED, message, path, line, self._commit())
            elif not item.files:
                message = f"{item.change.key}: what serves it was not found, so it was not read."
                yield self._at_entry(item, message)

    def _at_entry(self, item: Served, message: str) -> Finding:
        entry = item.entry
        return _finding(Status.UNVERIFIED, message, entry.path, entry.line, self._commit())

    def _moved_checkout(self) -> tuple[str, int] | None:
        """Where a launcher's new line names another state of the checkout that recipes come from."""
        launchers = f"{self._layout.launchers}/" if self._layout.launchers else "\0"
        for text in self._known_texts():
            if text.path.startswith(launchers):
                for number, line in text.added_lines:
                    if _CHECKOUT.search(line) and not line.lstrip().startswith("#"):
                        return text.path, number
        return None

    def _uncovered(self) -> Iterator[Finding]:
        """Patching that was there before, in scripts that lose lines and serve no submitted key: what kept it from
        running may be what they lose."""
        own = {path for item in self.submitted for path in item.own}
        old = {finding.path: finding for finding in self.pre_existing if finding.status is Status.FAIL}
        for text in self._known_texts():
            finding = old.get(text.path)
            if finding is not None and text.path not in own and text.loses_lines:
                message = f"{finding.message} Lines of this script are gone: did they keep it from running?"
                yield _finding(Status.JUDGEMENT, message, text.path, finding.line, self._commit())

    def _already_there(self, told: set[str]) -> Iterator[Finding]:
        """Patching in unchanged lines of the files that serve submitted keys."""
        relying: dict[str, str] = {}
        for item in self.submitted:
            for path in item.own:
                relying.setdefault(path, item.change.key)
        for path, key in relying.items():
            if path in told or any(part in path for part in ASIDE):
                continue
            text = self._texts[path].value if path in self._texts else None
            hits = [hit for hit in self._read(path).hits if not (text and text.adds(hit.line, hit.end_line))]
            old = [hit for hit in hits if hit.kind == "engine"]
            if text is None:
                self.pre_existing += [self._before(path, hit) for hit in hits if hit.kind != "harness"]
            if not old:
                continue
            other = covering(self._evidence, (path,))
            cover = f"{other or 'no waiver'} on the default branch names it"
            message = (
                f"{key} relies on {path.rpartition('/')[2]}, which patched the engine before this change; {cover}."
                " The verifier wants the waiver of the pull request that introduced it."
            )
            yield _finding(Status.JUDGEMENT, message, path, old[0].line, self._commit())


def _finding(
    status: Status, message: str, path: str | None = None, line: int | None = None, commit: str | None = None
) -> Finding:
    return Finding(status=status, message=message, path=path, line=line, commit=commit)


def _listed(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _MOST_NAMED} more" if len(texts) > _MOST_NAMED else ""
    return f"{', '.join(texts[:_MOST_NAMED])}{more}"


def _read(number: int) -> str:
    if number == 0:
        return "only config entries change, and no file that can serve"
    files, were = ("file", "was") if number == 1 else ("files", "were")
    return f"{number} changed {files} that can serve {were} read, and none changes it"


def _summary(findings: Sequence[Finding]) -> str:
    for status in (Status.FAIL, Status.UNVERIFIED, Status.JUDGEMENT):
        if found := next((finding for finding in findings if finding.status is status), None):
            return found.message
    return findings[0].message if findings else "nothing was found to read"


def _alone(status: Status, message: str) -> Outcome:
    return Outcome(status=status, summary=message, findings=(Finding(status=status, message=message),))


CHECK = Check(
    name="engine_patch",
    title="No engine patches without a waiver",
    pane="diff",
    explanation=EXPLANATION,
    decide=decide,
)
