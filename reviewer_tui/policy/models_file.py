"""Reads the models file (`MODELS.md`): deprecation notices, scenarios, engines, support matrix.

Tables are known by their header rows, not by their place. Under the notice heading stand dated blocks (the date is
the last allowed day), each with tables and prose, or list items and paragraphs that carry their own date. The table
of retired A/B baselines is announced, not enacted, whatever its date; only what it calls deprecated from day 0 binds.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator

import msgspec

from reviewer_tui.model.finding import Problem
from reviewer_tui.model.part import Part, complete, partial, unavailable
from reviewer_tui.model.tree import Tree, read_text
from reviewer_tui.policy.deprecations import (
    AGENTIC,
    DeprecationRule,
    Deprecations,
    EngineRow,
    ModelRow,
    RuleSource,
    ScenarioRow,
)
from reviewer_tui.policy.layout import Layout
from reviewer_tui.policy.markdown import Block, Row, blocks, plain

MAX_BYTES = 1 << 19
MAX_TEXT = 4_000
MAX_RULES = 5_000

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_DATE = re.compile(rf"\b(\d{{4}})-(\d\d)-(\d\d)\b|\b({'|'.join(_MONTHS)})\s+(\d{{1,2}}),?\s+(\d{{4}})\b", re.I)
_SCENARIO = re.compile(r"\b(\d+k)[ /]?(\d+k)\b|\b(agentic)\b", re.I)
_LENGTHS = re.compile(r"^\s*(\d+)\s*/\s*(\d+)\s*$")
_PRECISION_WORD = r"(?:nv|mx)?(?:bf16|fp16|fp8|fp4|int8|int4)"
_PRECISION = re.compile(rf"\b{_PRECISION_WORD}\b", re.I)
_PRECISION_LIST = rf"{_PRECISION_WORD}(?:\s*(?:/|,|and|or)\s*{_PRECISION_WORD})*"
_LIMITED = re.compile(rf"\b({_PRECISION_LIST})\s+only\b|\blimited to\s+({_PRECISION_LIST})", re.I)
_NON_ARM = re.compile(r"\bnon-(mtp|dspark|eagle3|eagle|spec\w*(?:-decod\w*)?)\b", re.I)
_ARM = re.compile(r"\b(mtp|dspark|eagle3|eagle)\b", re.I)
_ARM_ONLY = re.compile(r"\b(mtp|dspark|eagle3|eagle)[ -]only\b", re.I)
_DAY_0 = re.compile(r"\bdeprecated from day (?:0|zero)\b", re.I)
_CODE = re.compile(r"`([^`\s]+)`")
_PREFIX = re.compile(r"^[a-z][a-z0-9.]*$")
_INCLUSIVE = re.compile(r"\b(?:until|through|after|last day(?: is| of| was)?|last allowed day(?: is)?|ends?)\W*$", re.I)
_EXCLUSIVE = re.compile(r"\b(?:since|removed|retired|deprecated|deleted|dropped|as of)(?: on)?\W*$", re.I)
_LAST_DAY = re.compile(r"\b(?:is|was) the last (?:allowed )?day\b", re.I)
_RETIRING = re.compile(r"\b(?:deprecat|retire|remov|last (?:allowed )?day|until\b|cutover|sunset)", re.I)
_RETIRED_AFTER = re.compile(r"\b(?:fully )?retired after\b", re.I)
_RULED = re.compile(r"\b(?:is|are|be|been)\s+(?:\w+\s+)?(?:deprecated|retired)\b", re.I)
_ENACTED = re.compile(r"\benacted on\b|\bretirements?\b.{0,80}\bcarried out\b", re.I)
_NOT_ENACTED = re.compile(r"\bnot (?:yet )?enacted\b", re.I)
_PENDING = re.compile(r"\bpending\b|\bstill runs?\b", re.I)
_EXCEPTION = re.compile(r"\b(?:except|exclud|unless|other than)\w*", re.I)
_TITLE = re.compile(r"^\*\*([^*]{1,200})\*\*")
_SENTENCE = re.compile(r"(?<=[.;:])\s+(?=[A-Z])")
_FOOTNOTE = re.compile(r"\[\^[^\]]*\]")
_WHOLE = re.compile(r"\b(?:all|every|everything|entire|fully|whole)\b", re.I)
_VENDOR = re.compile(r"\b(nvidia|amd)\b", re.I)


def read_deprecations(tree: Tree, layout: Layout) -> tuple[Part[Deprecations], tuple[Problem, ...]]:
    """What the models file of a revision allows and forbids."""
    if layout.models is None or (text := read_text(tree, layout.models)) is None:
        message = "This revision has no models file, so it states no deprecation."
        path = f"{layout.root}docs/MODELS.md" if layout.root else "MODELS.md"
        return unavailable(message), (Problem(path=path, message=message, rule="models-missing"),)
    return parse_models(text, layout.models)


def parse_models(text: str, path: str) -> tuple[Part[Deprecations], tuple[Problem, ...]]:
    """The models file's text taken apart. Never fails."""
    if len(text) > MAX_BYTES:
        message = "The models file is larger than 512 KB and was not read."
        return unavailable(message), (Problem(path=path, message=message, rule="models-size"),)
    reader = _Reader(path)
    reader.read(blocks(text))
    if not reader.rows:
        message = "The models file has no support matrix: no table with the columns Prefix and Active."
        return unavailable(message), (*reader.problems, Problem(path=path, message=message, rule="models-matrix"))
    value = Deprecations(
        path=path,
        rules=tuple(reader.rules[:MAX_RULES]),
        rows=tuple(reader.rows),
        scenarios=tuple(reader.scenarios),
        engines=tuple(reader.engines),
    )
    if len(reader.rules) > MAX_RULES:
        reader.problem(None, f"The file states more than {MAX_RULES} deprecations; the rest was not read.", "size")
    if reader.problems:
        return partial(value, f"Not every line of {path} could be understood."), tuple(reader.problems)
    return complete(value), ()


class _What(msgspec.Struct, frozen=True):
    """What a piece of text speaks about. `whole` is a model as such."""

    scenarios: tuple[str, ...]
    precisions: tuple[str, ...]
    arm: str | None
    whole: bool

    @property
    def known(self) -> bool:
        return bool(self.scenarios or self.precisions or self.arm or self.whole)


class _Day(msgspec.Struct, frozen=True):
    """The last allowed day that a piece of text gives; `clear` where its wording says which side the date is on,
    `keeps` where it says the thing is allowed until then."""

    last_day: str
    clear: bool
    keeps: bool


class _Reader:
    """Collects rows and rules while the file's blocks go by."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.rules: list[DeprecationRule] = []
        self.rows: list[ModelRow] = []
        self.scenarios: list[ScenarioRow] = []
        self.engines: list[EngineRow] = []
        self.problems: list[Problem] = []

    def problem(self, line: int | None, message: str, rule: str) -> None:
        self.problems.append(Problem(path=self.path, line=line, message=message, rule=f"models-{rule}"))

    def read(self, found: tuple[Block, ...]) -> None:
        notice = _notice(found)
        for block in found:
            if block.kind != "table":
                continue
            header = [plain(cell).lower() for cell in block.rows[0].cells]
            active, prefix = _column(header, "active"), _column(header, "prefix")
            if active is not None and prefix is not None:
                self._matrix(block, prefix, active, _column(header, "deprecated"))
            elif header[0].startswith("scenario") and (status := _column(header, "status")) is not None:
                self._scenario_table(block, status, _column(header, "isl"))
            elif (engines := _column(header, "primary")) is not None:
                self._engine_table(block, engines, _column(header, "draft"))
        prefixes = {prefix for row in self.rows for prefix in row.prefixes}
        for date, section in _dated(notice):
            self._notice(date, section, prefixes)

    def rule(
        self,
        row_or_block: Row | Block,
        source: RuleSource,
        text: str,
        *,
        prefixes: tuple[str, ...],
        what: _What,
        day: _Day | None,
        binding: bool = True,
        clear: bool = True,
        enacted: bool = False,
    ) -> None:
        """One rule for each scenario and precision that a text names."""
        for scenario in what.scenarios or (None,):
            for precision in what.precisions or (None,):
                self.rules.append(
                    DeprecationRule(
                        prefixes=prefixes,
                        scenario=scenario,
                        precision=precision,
                        arm=what.arm,
                        last_day=day.last_day if day else None,
                        binding=binding,
                        clear=clear and what.known and (day is None or day.clear),
                        keeps=day is not None and day.keeps,
                        enacted=enacted,
                        source=source,
                        line=row_or_block.line,
                        text=plain(text)[:300],
                    )
                )

    # The table of scenarios.

    def _scenario_table(self, block: Block, status_at: int, lengths_at: int | None) -> None:
        for row in block.rows[1:]:
            named = _scenarios(_cell(row, 0))
            status = plain(_cell(row, status_at))
            if not named:
                self.problem(row.line, f"The scenario {plain(_cell(row, 0))[:60]!r} is not understood.", "scenario")
                continue
            lengths = _LENGTHS.match(_cell(row, lengths_at))
            self.scenarios.append(
                ScenarioRow(
                    scenario=named[0],
                    lengths=(int(lengths[1][:9]), int(lengths[2][:9])) if lengths else None,
                    status=status,
                    line=row.line,
                )
            )
            first = re.split(r"(?<=[.,;])\s", status, maxsplit=1)[0]
            what = _What(named[:1], (), None, False)
            days = _days(first)
            if status.lower().startswith("deprecated"):
                clear = not _EXCEPTION.search(first)
                self.rule(row, "scenarios", status, prefixes=(), what=what, day=_latest(days), clear=clear)
            elif not status.lower().startswith("active"):
                self.problem(row.line, f"The status {status[:60]!r} is neither active nor deprecated.", "status")
                self.rule(row, "scenarios", status, prefixes=(), what=what, day=None, clear=False)
            elif any(day.keeps for day in days):
                self.rule(row, "scenarios", status, prefixes=(), what=what, day=_latest(days))

    # The engine table.

    def _engine_table(self, block: Block, engines_at: int, drafts_at: int | None) -> None:
        for row in block.rows[1:]:
            engines = tuple(dict.fromkeys(re.findall(r"vllm|sglang", _cell(row, engines_at).lower())))
            prefixes = _prefixes(_cell(row, 0))
            if not prefixes or not engines:
                self.problem(row.line, "This row of the engine table names no prefix or no engine.", "engine")
                continue
            drafts = plain(_cell(row, drafts_at))
            model = plain(_cell(row, 0))
            self.engines.append(
                EngineRow(model=model, prefixes=prefixes, engines=engines, drafts=drafts, line=row.line)
            )

    # The support matrix.

    def _matrix(self, block: Block, prefix_at: int, active_at: int, deprecated_at: int | None) -> None:
        for row in block.rows[1:]:
            prefixes = _prefixes(_cell(row, prefix_at))
            if not prefixes:
                self.problem(row.line, "This row of the support matrix names no prefix.", "row")
                continue
            active_text = plain(_FOOTNOTE.sub("", _cell(row, active_at)))
            deprecated_text = plain(_FOOTNOTE.sub("", _cell(row, deprecated_at)))
            model = plain(_cell(row, 0))
            limited = _LIMITED.search(active_text)
            self.rows.append(
                ModelRow(
                    model=model,
                    names=_names(model),
                    prefixes=prefixes,
                    active=_scenarios(_without_remarks(active_text)),
                    precisions=_precisions(limited[0]) if limited else (),
                    line=row.line,
                    active_text=active_text,
                    deprecated_text=deprecated_text,
                )
            )
            self._active_cell(row, prefixes, active_text)
            for piece, remark in _pieces(deprecated_text):
                self._deprecated_piece(row, prefixes, piece, remark)

    def _active_cell(self, row: Row, prefixes: tuple[str, ...], text: str) -> None:
        """What an active cell says about ends: `(until DATE)`, `fully retired after DATE`, `None (retired DATE)`."""
        bare = _without_remarks(text)
        if _nothing(re.split(r"[(;,]", bare, maxsplit=1)[0]) and not _scenarios(bare):
            self._retired(row, prefixes, text)
            return
        for piece, remark in _pieces(text):
            what = _what(piece)
            if what.scenarios:
                for day in _days(remark):
                    if day.keeps and not _ARM_ONLY.search(remark):
                        self.rule(row, "matrix", f"{piece} ({remark})", prefixes=prefixes, what=what, day=day)
            retired = _RETIRED_AFTER.search(piece)
            if retired and (days := _days(piece[retired.start() :])):
                self.rule(
                    row, "matrix", piece, prefixes=prefixes, what=_What((), (), None, True), day=_no_keep(days[0])
                )
            only = _ARM_ONLY.search(remark or piece)
            if only and not _PENDING.search(remark):
                # A restriction that no line calls deprecated is not plainly binding.
                kept = _What(what.scenarios or (AGENTIC,), (), only[1].lower(), False)
                since = _latest(_days(remark))
                self.rule(row, "matrix", text, prefixes=prefixes, what=kept, day=since, clear=False)
        for piece in re.split(r"[;,—–]", text):
            if _PRECISION.search(piece) and re.search(r"\b(?:retired|removed|deprecated)\b", piece, re.I):
                ended = _latest(_days(piece))
                what = _What((), _precisions(piece), None, False)
                self.rule(row, "matrix", piece, prefixes=prefixes, what=what, day=ended and _no_keep(ended))

    def _retired(self, row: Row, prefixes: tuple[str, ...], text: str) -> None:
        """No active scenario. Of several dates only the last is plain; until then it takes judgement what remains."""
        days = sorted(_days(text), key=lambda day: day.last_day)
        whole = _What((), (), None, True)
        if not days:
            self.rule(row, "matrix", text or "no active scenario", prefixes=prefixes, what=whole, day=None)
            return
        exception = len(days) > 1 or any(day.keeps for day in days) or _EXCEPTION.search(text)
        self.rule(row, "matrix", text, prefixes=prefixes, what=whole, day=_no_keep(days[-1]))
        if exception and len(days) > 1:
            kept = _Day(days[-1].last_day, False, True)
            self.rule(row, "matrix", text, prefixes=prefixes, what=whole, day=kept)
            self.rule(row, "matrix", text, prefixes=prefixes, what=whole, day=_no_keep(days[0]), clear=False)

    def _deprecated_piece(self, row: Row, prefixes: tuple[str, ...], piece: str, remark: str) -> None:
        text = f"{piece} ({remark})" if remark else piece
        what = _what(piece)
        if _nothing(piece):
            return
        if not what.known:
            self.problem(row.line, f"The matrix cell {piece[:60]!r} is not understood.", "cell")
        if limit := re.match(r"(.{1,60}?) only$", remark):
            named = _names(limit[1])
            prefixes = tuple(prefix for prefix in prefixes if prefix in named) or prefixes
        day = None if _DAY_0.search(text) else _latest(_days(text))
        self.rule(row, "matrix", text, prefixes=prefixes, what=what, day=day)

    # The notices.

    def _notice(self, date: str | None, section: list[Block], prefixes: set[str]) -> None:
        prose = " ".join(plain(block.text[:MAX_TEXT]) for block in section if block.kind != "table")
        enacted, not_enacted = bool(_ENACTED.search(prose)), bool(_NOT_ENACTED.search(prose))
        for block in section:
            if block.kind == "table":
                self._notice_table(date, block, enacted, not_enacted)
            elif block.kind in ("paragraph", "item"):
                self._notice_prose(date, block, enacted, prefixes)

    def _notice_table(self, date: str | None, block: Block, enacted: bool, not_enacted: bool) -> None:
        header = [plain(cell).lower() for cell in block.rows[0].cells]
        if len(header) < 2 or not header[0].startswith("model"):
            return
        is_arms = any(word in header[1] for word in ("arm", "baseline"))
        is_retirement = not is_arms and header[1].startswith("deprecated")
        if not is_arms and not is_retirement:
            self.problem(block.line, f"The table {' | '.join(header)[:80]!r} of a notice is not understood.", "table")
        day = _Day(date, True, is_retirement) if date else None
        announced = "baseline" in header[1] or not_enacted
        for row in block.rows[1:]:
            prefixes = _prefixes(_cell(row, 0))
            text = _cell(row, 1)
            what = _what(text)
            if not prefixes or not what.known:
                self.problem(row.line, f"The notice {plain(text)[:60]!r} is not understood.", "notice")
            if not prefixes:
                continue
            if not is_arms:
                vendors = {vendor.lower() for vendor in _VENDOR.findall(text)}
                clear = is_retirement and date is not None and len(vendors) != 1
                self.rule(row, "notice", text, prefixes=prefixes, what=what, day=day, clear=clear, enacted=enacted)
                continue
            arm = what.arm or next((found.lower() for found in _ARM.findall(_cell(row, 2))), "mtp")
            kept = _What(what.scenarios or (AGENTIC,), what.precisions, arm, False)
            if _DAY_0.search(plain(text)):
                self.rule(row, "notice", text, prefixes=prefixes, what=kept, day=None)
            else:
                # Neither enacted nor said not to be: that is judgement once the day has passed.
                clear = enacted and not announced
                self.rule(
                    row, "notice", text, prefixes=prefixes, what=kept, day=day, binding=not announced, clear=clear
                )

    def _notice_prose(self, date: str | None, block: Block, enacted: bool, known: set[str]) -> None:
        """Sentences that give a model's last day; a bold title with a date in brackets gives one for its paragraph."""
        text = block.text[:MAX_TEXT]
        about = _known(text, known)
        if not about:
            return
        title = _TITLE.match(text)
        titled = _days(title[1]) if title and "(" in title[1] and _RETIRING.search(title[1]) else ()
        if titled:
            what = _what(text, whole=True)
            day = _Day(titled[0].last_day, False, False)
            self.rule(block, "notice", text, prefixes=about, what=what, day=day, clear=False)
        for sentence in _SENTENCE.split(text):
            self._notice_sentence(date, block, plain(sentence), _known(sentence, known), about, enacted)

    def _notice_sentence(
        self,
        date: str | None,
        block: Block,
        words: str,
        named: tuple[str, ...],
        about: tuple[str, ...],
        enacted: bool,
    ) -> None:
        """One sentence of a paragraph about `about`; `named` are the prefixes in the sentence itself."""
        if "nacted" in words or not _RETIRING.search(words):
            return
        what, days, dates = _what(words, whole=True), _days(words), _dates(words)
        # A sentence without a name goes on about the paragraph's model, if that is one.
        clear = bool(named) or len(about) == 1
        if dates and _LAST_DAY.search(words):
            day = _Day(dates[0][0], True, True)
        elif _RETIRED_AFTER.search(words) and days and days[-1].clear:
            # Scenarios in such a sentence are how it came to that, not what ends on the day.
            what, day = _What((), (), None, True), _no_keep(days[-1])
        elif days and days[0].clear:
            day = days[0]
        elif named and _RULED.search(words) and _what(words).known and (days or date):
            day = _Day(days[0].last_day if days else date or "", False, False)
        else:
            return
        self.rule(block, "notice", words, prefixes=named or about, what=what, day=day, clear=clear, enacted=enacted)


def _known(text: str, known: set[str]) -> tuple[str, ...]:
    return tuple(prefix for prefix in _prefixes(text) if prefix in known)


def _notice(found: tuple[Block, ...]) -> list[Block]:
    """The blocks under the heading *Deprecation Notice*, to the next heading of its level."""
    start = next(
        (n for n, b in enumerate(found) if b.kind == "heading" and "deprecation notice" in b.text.lower()), None
    )
    if start is None:
        return []
    level = found[start].level
    ends = (n for n in range(start + 1, len(found)) if found[n].kind == "heading" and found[n].level <= level)
    return list(found[start + 1 : next(ends, len(found))])


def _dated(notice: list[Block]) -> Iterator[tuple[str | None, list[Block]]]:
    """The notice's parts, each under a heading, with the date that the heading gives."""
    date: str | None = None
    section: list[Block] = []
    for block in notice:
        if block.kind == "heading":
            yield date, section
            dates = _dates(block.text)
            date, section = (dates[0][0] if dates else None), []
        else:
            section.append(block)
    yield date, section


def _column(header: list[str], word: str) -> int | None:
    return next((n for n, cell in enumerate(header) if word in cell), None)


def _cell(row: Row, at: int | None) -> str:
    return row.cells[at][:MAX_TEXT] if at is not None and at < len(row.cells) else ""


def _nothing(text: str) -> bool:
    """Whether a cell says that there is nothing: empty, a dash, `None`."""
    return re.sub(r"\W", "", text).lower() in ("", "none", "nothing", "na")


def _prefixes(text: str) -> tuple[str, ...]:
    """The model prefixes among the words in code marks: no paths, no keys, no options."""
    return tuple(dict.fromkeys(word.lower() for word in _CODE.findall(text) if _PREFIX.match(word.lower())))


def _names(model: str) -> tuple[str, ...]:
    """The models that a row's title stands for: `Kimi-K2.5/2.6/2.7-Code` is kimik2.5, kimik2.6 and kimik2.7(-code)."""
    names: list[str] = []
    stem = ""
    for part in re.split(r"\s*/\s*|\s+and\s+|,\s*", _without_remarks(model).strip()):
        version = re.match(r"^(.*?)(\d+(?:\.\d+)*)(.*)$", part)
        if version is None:
            names.append(_bare(part))
            continue
        stem = version[1] or stem
        names += [_bare(f"{stem}{version[2]}"), _bare(f"{stem}{version[2]}{version[3]}")]
    return tuple(dict.fromkeys(name for name in names if name))


def _bare(name: str) -> str:
    return re.sub(r"[^a-z0-9.]", "", name.lower())


def _scenarios(text: str) -> tuple[str, ...]:
    found = (f"{m[1]}{m[2]}".lower() if m[1] else AGENTIC for m in _SCENARIO.finditer(text))
    return tuple(dict.fromkeys(found))


def _precisions(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(re.sub(r"^(?:nv|mx)", "", word.lower()) for word in _PRECISION.findall(text)))


def _what(text: str, whole: bool = False) -> _What:
    """What a text speaks about; with `whole` a text that names nothing else speaks about the model as such."""
    words = plain(text)
    scenarios, precisions = _scenarios(words), _precisions(words)
    if re.search(r"\b(?:every|all) scenarios?\b", words, re.I):
        scenarios = ()
    non_arm = _NON_ARM.search(words)
    arm = None if non_arm is None else ("mtp" if non_arm[1].lower().startswith("spec") else non_arm[1].lower())
    named = bool(scenarios or precisions or arm)
    return _What(scenarios, precisions, arm, not named and (whole or bool(_WHOLE.search(words))))


def _without_remarks(text: str) -> str:
    """The text outside brackets."""
    depth, kept = 0, []
    for char in text:
        depth += char == "("
        if depth == 0:
            kept.append(char)
        depth -= char == ")" and depth > 0
    return "".join(kept)


def _pieces(text: str) -> list[tuple[str, str]]:
    """A cell's list, split at commas outside brackets, each piece with its remark in brackets."""
    depth, start, parts = 0, 0, []
    for n, char in enumerate(text):
        depth += (char == "(") - (char == ")" and depth > 0)
        if depth == 0 and (char in ",;" or text.startswith(" and ", n)):
            parts.append(text[start:n])
            start = n + (1 if char in ",;" else 5)
    parts.append(text[start:])
    pieces = []
    for part in parts:
        remark = part.partition("(")[2].rpartition(")")[0] if "(" in part else ""
        if part.strip():
            pieces.append((_without_remarks(part).strip(), remark.strip()))
    return pieces


def _dates(text: str) -> list[tuple[str, int]]:
    """The dates in a text as `YYYY-MM-DD`, each with its place; impossible ones left out."""
    found = []
    for match in _DATE.finditer(text):
        year, month, day = match[1] or match[6], match[2] or _MONTHS.index(match[4].lower()) + 1, match[3] or match[5]
        try:
            found.append((datetime.date(int(year), int(month), int(day)).isoformat(), match.start()))
        except ValueError:
            continue
    return found


def _days(text: str) -> tuple[_Day, ...]:
    """The last allowed days that a text gives: `until DATE` includes the date, `since` and `removed DATE` do not."""
    found = []
    for date, place in _dates(text):
        before = text[max(0, place - 40) : place]
        if _INCLUSIVE.search(before):
            found.append(_Day(date, True, True))
        elif _EXCLUSIVE.search(before):
            found.append(_Day(_day_before(date), True, False))
        else:
            found.append(_Day(date, False, False))
    return tuple(found)


def _day_before(date: str) -> str:
    day = datetime.date.fromisoformat(date)
    return (day - datetime.timedelta(days=1)).isoformat() if day > datetime.date.min else date


def _latest(days: Iterable[_Day]) -> _Day | None:
    return max(days, key=lambda day: day.last_day, default=None)


def _no_keep(day: _Day) -> _Day:
    return msgspec.structs.replace(day, keeps=False)
