"""The composed sign-off: the template's own words, the reviewer's ticks, and a detail section that holds."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.model.checklist import ChecklistTemplate, Decision, ItemMark, ReviewNotes
from reviewer_tui.model.config import ConfigChanges, Entry, FieldChange, KeyChange, Point
from reviewer_tui.model.errors import DataError, UsageError
from reviewer_tui.model.finding import CheckResult, Finding, Status
from reviewer_tui.policy.checklist import bundled_templates, parse_template
from reviewer_tui.policy.items import checks_of
from reviewer_tui.signoff.compose import ComposedSignOff, apply, compose
from reviewer_tui.signoff.detail import facts, harmless
from reviewer_tui.signoff.lint import asks_for_run, lint
from reviewer_tui.signoff.parse import is_sign_off, parse_sign_off
from tests.signoff.texts import RECIPE, RUN, newest, strange, version

TEMPLATES = [*bundled_templates(), strange()]


def result(name: str, status: Status, summary: str, *findings: Finding) -> CheckResult:
    return CheckResult(name=name, number=None, title=name, status=status, summary=summary, findings=findings)


def passing(message: str, **more: str | int) -> Finding:
    return Finding(status=Status.PASS, message=message, **more)  # type: ignore[arg-type]


EVALS = result(
    "evals",
    Status.PASS,
    "4 of 4 evals pass",
    passing("gsm8k strict 0.966-0.970, bar 0.94", url=RUN),
    passing("The bar stands in the bars file", path="utils/evals/thresholds.yaml", line=12),
)
RECIPES = result("recipe", Status.PASS, "The recipe matches", passing("sgl-project/sglang#34357 is merged", url=RECIPE))
NOT_AGENTIC = result("golden_al", Status.NOT_APPLICABLE, "No agentic scenario is submitted")


def marks(template: ChecklistTemplate, decision: Decision = Decision.ACCEPTED, note: str = "") -> ReviewNotes:
    return ReviewNotes(marks={item.label: ItemMark(decision, note) for item in template.items if item.boxed})


def composed(
    template: ChecklistTemplate | None = None,
    notes: ReviewNotes | None = None,
    *results: CheckResult,
    signer: str = "octocat",
    links: dict[str, tuple[str, ...]] | None = None,
    changes: ConfigChanges | None = None,
) -> ComposedSignOff:
    template = template or newest()
    notes = marks(template) if notes is None else notes
    return compose(template, results, notes, signer, links=links, checks_of=checks_of, changes=changes)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda t: str(t.version))
def test_every_line_of_the_template_is_kept(template: ChecklistTemplate) -> None:
    text = composed(template, None, EVALS, links={"validation": (RUN,), "4": (RUN,)}).text
    own = [line.replace(f" [Link]({RUN})", "").replace("- [x]", "- [ ]") for line in text.split("\n")]
    wanted = [line for line in template.text.split("\n") if line not in (template.placeholder, template.signature)]
    assert [line for line in own if line in wanted and line] == [line for line in wanted if line]
    assert is_sign_off(text)
    assert text.split("\n")[-1] == "Signed: `octocat`"
    if template.detail_heading:
        before, _, after = text.partition(f"\n{template.detail_heading}\n")
        assert before.endswith("\n")
        assert not before.endswith("\n\n")
        assert "insert any additional" not in after


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda t: str(t.version))
def test_links_go_behind_the_items_that_ask_for_them(template: ChecklistTemplate) -> None:
    text = composed(
        template, None, links={item.label: (RUN, f"{RUN}/job/1") for item in template.items if item.boxed}
    ).text
    appended = f" [Link]({RUN}) [Link]({RUN}/job/1)"
    lines = [line for line in text.split("\n") if line.endswith(appended)]
    assert [line[: -len(appended)].replace("[x]", "[ ]") for line in lines] == [
        line for line in template.text.split("\n") if "passed PR validation" in line or "passes evals" in line
    ]


_NOTE = st.text("abc .,-_/()#:`'é中\n", max_size=40)
_MARK = st.builds(ItemMark, st.sampled_from(list(Decision)), _NOTE)
_RESULT = st.builds(
    result,
    st.sampled_from(["sweep", "evals", "recipe", "golden_al", "chat_template", "image", "deprecated", "check-16"]),
    st.sampled_from(list(Status)),
    st.text("abc -<>@[]*\n#|:!", max_size=60),
    st.builds(
        passing, st.text("abc -<>@[]x`*\n", max_size=60), url=st.sampled_from([RUN, RECIPE, "javascript:alert(1)"])
    ),
)


@given(st.data(), st.sampled_from(TEMPLATES))
@settings(max_examples=120, deadline=None)
def test_a_fully_accepted_review_has_no_faults(data: st.DataObject, template: ChecklistTemplate) -> None:
    notes = ReviewNotes(marks={i.label: ItemMark(Decision.ACCEPTED, data.draw(_NOTE)) for i in template.items})
    results = tuple(data.draw(st.lists(_RESULT, max_size=6, unique_by=lambda r: r.name)))
    text = compose(template, results, notes, "octocat", checks_of=checks_of, links={"recipe": (RECIPE,)}).text
    report = lint(text, template, author="octocat")
    assert report.faults == ()
    assert all(match.checked for match in report.matching.items)
    assert report.sign_off.signer == "octocat"


@given(st.data(), st.sampled_from(TEMPLATES))
@settings(max_examples=120, deadline=None)
def test_only_accepted_boxes_are_ticked_and_open_ones_are_explained_or_unfinished(
    data: st.DataObject, template: ChecklistTemplate
) -> None:
    notes = ReviewNotes(
        marks={item.label: data.draw(_MARK) for item in template.items if data.draw(st.booleans())},
        detail=data.draw(st.none() | _NOTE),
    )
    results = tuple(data.draw(st.lists(_RESULT, max_size=6, unique_by=lambda r: r.name)))
    written = compose(template, results, notes, "octocat", checks_of=checks_of)
    boxes = parse_sign_off(written.text).boxes[: sum(item.boxed for item in template.items)]
    items = [item for item in template.items if item.boxed]
    assert [box.checked for box in boxes] == [notes.mark(i.label).decision is Decision.ACCEPTED for i in items]
    unfinished = {entry.label for entry in written.unfinished}
    faults = {f.label for f in lint(written.text, template).faults if f.rule == "item-unexplained"}
    assert faults <= unfinished


def test_findings_become_short_entries_with_their_evidence() -> None:
    written = composed(None, None, EVALS, RECIPES)
    assert written.detail.split("\n") == [
        f"- Evals: 4 of 4 evals pass. gsm8k strict 0.966-0.970, bar 0.94 ({RUN}). "
        "The bar stands in the bars file (`utils/evals/thresholds.yaml:12`).",
        f"- Recipe: The recipe matches. sgl-project/sglang#34357 is merged ({RECIPE}).",
    ]
    assert [(section.kind, section.source) for section in written.sections] == [
        ("finding", "evals"),
        ("finding", "recipe"),
    ]


def test_only_what_holds_is_drafted() -> None:
    broken = result("evals", Status.FAIL, "One eval fails", passing("gsm8k 0.97"))
    partly = result(
        "sweep",
        Status.UNVERIFIED,
        "Runs were not loaded",
        passing("lane a is green"),
        Finding(status=Status.UNVERIFIED, message="b?"),
    )
    unsure = result(
        "architecture", Status.JUDGEMENT, "Look at --hf-overrides", Finding(status=Status.JUDGEMENT, message="odd flag")
    )
    written = composed(None, None, broken, partly, unsure, result("owner", Status.PASS, "octocat owns all"))
    assert written.detail == "- Validation: lane a is green."
    assert facts(broken) == ()


@given(st.lists(st.text("ab", min_size=1, max_size=4), max_size=5))
def test_a_sentence_that_another_one_repeats_is_said_once(messages: list[str]) -> None:
    told = [f"{message}." for message in messages]
    different = [fact for fact in dict.fromkeys(["s.", *told]) if fact]
    kept = [fact for fact in different if not any(o != fact and o.startswith(fact[:-1]) for o in different)]
    assert list(facts(result("x", Status.PASS, "s", *map(passing, messages)))) == kept


def test_notes_and_open_items_have_their_lines() -> None:
    notes = marks(newest())
    notes.marks["2"] = ItemMark(Decision.ACCEPTED, "Read all of it.\nTwice.")
    notes.marks["5"] = ItemMark(Decision.NOT_APPLICABLE, "no speculation")
    notes.marks["6"] = ItemMark(Decision.OPEN)
    notes.marks["13"] = ItemMark(Decision.DISPUTED, "a point was removed")
    notes.marks["14"] = ItemMark(Decision.OPEN)
    written = composed(None, notes, NOT_AGENTIC)
    assert written.detail.split("\n") == [
        "- Item 2 (code quality): Read all of it.",
        "  Twice.",
        "- Item 5 (chat template) is left open: not applicable: no speculation",
        "- Item 6 (golden AL) is left open: not applicable: No agentic scenario is submitted.",
        "- Item 13 (append-only) is left open: a point was removed",
        "- Item 14 (exceptions explained) is left open: TODO: say why.",
    ]
    assert [entry.label for entry in written.unfinished if "nothing says why" in entry.reason] == ["14"]
    report = lint(written.text, newest())
    assert {(f.rule, f.label) for f in report.faults} == {("item-unexplained", "14")}


def test_a_finding_is_no_reason_to_leave_a_box_open() -> None:
    notes = marks(newest())
    notes.marks["7"] = ItemMark()
    current = result("deprecated", Status.PASS, "Nothing deprecated is submitted")
    written = composed(None, notes, current)
    assert written.detail.endswith("Item 7 (MODELS.md) is left open: TODO: say why.")
    assert "7" in {entry.label for entry in written.unfinished}


def test_a_check_that_partly_applies_explains_nothing() -> None:
    notes = marks(newest())
    notes.marks["3"] = ItemMark()
    sweep, reuse = result("sweep", Status.NOT_APPLICABLE, "No point"), result("reuse", Status.PASS, "posted")
    assert "TODO" in composed(None, notes, sweep, reuse).detail


def test_why_a_ticked_item_does_not_apply_is_said() -> None:
    assert composed(None, None, NOT_AGENTIC).detail == "- Golden AL: No agentic scenario is submitted."


def test_text_edited_by_hand_replaces_the_draft_but_open_items_stay_explained() -> None:
    notes = marks(newest())
    notes.marks["5"] = ItemMark(Decision.OPEN, "no speculation")
    notes.marks["6"] = ItemMark(Decision.OPEN, "not agentic")
    edited = ReviewNotes(marks=notes.marks, detail=f"My own words. {RECIPE}\n\nItem 6: single-turn only.")
    written = composed(None, edited, EVALS)
    assert written.detail == f"{edited.detail}\n- Item 5 (chat template) is left open: no speculation"
    assert "TODO" not in written.detail
    todo = ReviewNotes(marks=marks(newest()).marks, detail="TODO: link the recipe")
    assert "detail" in {entry.label for entry in composed(None, todo).unfinished}


def test_what_is_edited_has_no_line_that_follows_a_box() -> None:
    """Editing freezes what stood in the editor; a line that came from a box must not be in there."""
    notes = marks(newest())
    notes.marks["2"] = ItemMark(Decision.ACCEPTED, "read all of it")
    notes.marks["3"] = ItemMark()
    drafted = composed(None, notes, EVALS)
    assert drafted.editable == composed(None, marks(newest()), EVALS).detail
    edited = composed(None, ReviewNotes(marks=notes.marks, detail=f"{drafted.editable}\nIndeed."), EVALS)
    assert edited.detail.split("\n") == [
        *drafted.editable.split("\n"),
        "Indeed.",
        "- Item 2 (code quality): read all of it",
        "- Item 3 (PR validation) is left open: TODO: say why.",
    ]
    later = {**notes.marks, "3": ItemMark(Decision.ACCEPTED)}
    ticked = composed(None, ReviewNotes(marks=later, detail=edited.editable), EVALS)
    assert ticked.editable == edited.editable
    assert "left open" not in ticked.text


@given(st.data(), st.sampled_from(TEMPLATES))
@settings(max_examples=80, deadline=None)
def test_editing_any_number_of_times_doubles_nothing(data: st.DataObject, template: ChecklistTemplate) -> None:
    made = {item.label: data.draw(_MARK) for item in template.items}
    first = compose(template, (EVALS,), ReviewNotes(marks=made), "octocat", checks_of=checks_of)
    again = compose(template, (EVALS,), ReviewNotes(marks=made, detail=first.editable), "octocat", checks_of=checks_of)
    assert again.editable == first.editable
    assert [section.text for section in again.sections if section.kind == "open_item"] == [
        section.text for section in first.sections if section.kind == "open_item"
    ]


def test_a_line_or_note_that_was_typed_already_is_not_repeated() -> None:
    notes = marks(newest())
    notes.marks["2"] = ItemMark(Decision.ACCEPTED, "Read all\nof it.")
    notes.marks["3"] = ItemMark()
    typed = "- Quality: Read all of it.\n- Item 3 (PR validation) is left open: TODO: say why."
    written = composed(None, ReviewNotes(marks=notes.marks, detail=typed))
    assert written.detail == typed
    assert "3" in {entry.label for entry in written.unfinished}


@pytest.mark.parametrize(
    ("typed", "repeated"),
    [
        ("The tokens are counted.", True),
        ("Quality: the token is there.", True),
        ("- Item 3: ok", True),
        ("All of it is ok.", True),
        ("Recipe: ok", True),
        ("- Item 2: all is ok, as I see it.", False),
        ("Code quality: ok.", False),
    ],
)
def test_a_note_is_left_out_only_where_its_words_are_said_of_its_item(typed: str, repeated: bool) -> None:
    notes = marks(newest())
    notes.marks["2"] = ItemMark(Decision.ACCEPTED, "ok")
    detail = composed(None, ReviewNotes(marks=notes.marks, detail=typed)).detail
    assert detail == (f"{typed}\n- Item 2 (code quality): ok" if repeated else typed)


def test_nothing_to_add() -> None:
    assert "### Additional detail section:\n- No additional details.\n\nSigned" in composed(None, marks(newest())).text


def test_a_template_without_detail_section() -> None:
    template = version(1)
    notes = marks(template)
    notes.marks["3"] = ItemMark(Decision.OPEN, "no eval lane")
    text = composed(template, notes, links={"2": (RUN,)}).text
    assert text.endswith("reasoning below.\n\n- Item 3 (evals) is left open: no eval lane\n\nSigned: `octocat`")
    assert lint(text, template).faults == ()


def test_a_template_without_signature() -> None:
    parts = version(21)
    text = parts.text.partition("\n\nSigned")[0]
    template = parse_template(text, "x.md")
    assert isinstance(template, ChecklistTemplate)
    written = composed(template)
    assert "Signed" not in written.text
    assert written.text.endswith("- No additional details.")
    assert "signature" not in {entry.label for entry in written.unfinished}


def test_what_is_unfinished() -> None:
    failing = result("evals", Status.FAIL, "gsm8k is below its bar")
    written = composed(None, None, failing, signer="")
    reasons = {entry.label: entry.reason for entry in written.unfinished}
    assert set(reasons) == {"3", "4", "11", "signature"}
    assert "links no recipe" in reasons["11"]
    assert "FILL_IN_GITHUB_USERNAME" in written.text
    first = next(entry for entry in written.unfinished if entry.label == "4")
    assert "although evals fails: gsm8k is below its bar" in first.reason
    explained = marks(newest(), note="the run was repeated")
    complete = composed(None, explained, failing, RECIPES, links={"3": (RUN,), "4": (RUN,)})
    assert complete.unfinished == ()
    multinode = result("recipe", Status.NOT_APPLICABLE, "multi-node only")
    assert composed(None, None, multinode, links={"3": (RUN,), "4": (RUN,)}).unfinished == ()


def test_recipe_links_go_into_the_detail_section_once() -> None:
    with_result = composed(None, None, RECIPES, links={"recipe": (RECIPE, "https://recipes.vllm.ai/Qwen/Qwen3.5")})
    assert with_result.detail.count(RECIPE) == 1
    assert with_result.detail.endswith("https://recipes.vllm.ai/Qwen/Qwen3.5")
    without = composed(None, None, links={"recipe_merged": (RECIPE,)})
    assert without.detail == f"- Item 11a: {RECIPE}"


def test_urls_that_would_break_out_of_their_link_are_left_out() -> None:
    text = composed(None, None, links={"3": ("javascript:alert(1)", "https://a.b/c) [x](d", "https://a.b/ok")}).text
    assert text.count("[Link]") == 1
    assert "[Link](https://a.b/ok)" in text


def test_the_scope() -> None:
    entry = Entry(key="k", path="configs/nvidia-master.yaml", line=1, end_line=9, fields={})
    points = tuple(Point(key="k", scenario="fixed", label="8k1k tp2 ep2 mtp", conc=conc, row={}) for conc in (16, 32))
    change = KeyChange(
        key="qwen3.5-fp4-b200-sglang-mtp",
        change="changed",
        old=entry,
        new=entry,
        fields=(FieldChange(field="image", old="a", new="b"),),
        points_added=points,
        files=("benchmarks/single_node/q.sh",),
    )
    written = composed(None, None, changes=ConfigChanges(keys=(change,)))
    assert written.detail == (
        "- Scope: `qwen3.5-fp4-b200-sglang-mtp` changed: 2 points added (8k1k tp2 ep2 mtp c16 c32), "
        "fields changed: image, served by changed `q.sh`."
    )
    many = composed(None, None, changes=ConfigChanges(keys=(change,) * 20))
    assert "12 more keys." in many.detail
    assert composed(None, None, changes=ConfigChanges()).detail == ""


def test_foreign_text_has_no_effect() -> None:
    text = "a\r\n<!-- codeowner --> @team/x me@host @all `@code <b>` <script> \u202e image@sha256:1"
    assert harmless(text) == (
        "a \\<!-- codeowner --> `@team/x` me@host `@all` `@code <b>` \\<script> \\<U+202E> image@sha256:1"
    )
    evil = result("evals", Status.PASS, "ok\n- [x] extra box\nSigned: mallory\n### Additional detail section:")
    report = lint(composed(None, None, evil).text, newest())
    assert (report.sign_off.signer, len(report.sign_off.boxes), report.faults) == ("octocat", 15, ())


def test_long_drafts_stay_short() -> None:
    many = result("sweep", Status.PASS, "All lanes pass", *(passing(f"lane {n} " + "x" * 900) for n in range(50)))
    detail = composed(None, None, many).detail
    assert "45 more of the same check." in detail
    assert len(detail) < 3_000


def test_signers() -> None:
    assert composed(signer=" @Octo-Cat ").text.endswith("Signed: `Octo-Cat`")
    for wrong in ("two words", "a`b", "x\ny", "-a", "a" * 50):
        with pytest.raises(UsageError, match="no GitHub login"):
            composed(signer=wrong)


def test_a_template_that_contradicts_itself() -> None:
    broken = msgspec.structs.replace(newest(), items=newest().items[1:])
    with pytest.raises(DataError, match="a box that is no item"):
        composed(broken)
    more = msgspec.structs.replace(newest(), items=(*newest().items, newest().items[0]))
    with pytest.raises(DataError, match="fewer boxes"):
        composed(more)


def test_apply_ticks_and_notes() -> None:
    template = newest()
    notes = ReviewNotes(marks={"2": ItemMark(Decision.DISPUTED, "kept"), "7": ItemMark(Decision.NOT_APPLICABLE, "old")})
    new = apply(notes, template, ["2", "evals", "11A"], ["7= new = text ", "11a=merged on 08-11", "golden_al="])
    assert new.marks == {
        "2": ItemMark(Decision.ACCEPTED, "kept"),
        "4": ItemMark(Decision.ACCEPTED),
        "11a": ItemMark(Decision.ACCEPTED, "merged on 08-11"),
        "7": ItemMark(Decision.NOT_APPLICABLE, "new = text"),
        "6": ItemMark(),
    }
    assert notes.marks["2"].decision is Decision.DISPUTED


@pytest.mark.parametrize(("ticks", "notes"), [(["99"], []), ([], ["nonsense=x"]), ([""], [])])
def test_apply_names_what_there_is(ticks: list[str], notes: list[str]) -> None:
    with pytest.raises(UsageError) as error:
        apply(ReviewNotes(), newest(), ticks, notes)
    assert "3 (validation)" in error.value.remedy
    assert "11a (recipe_merged)" in error.value.remedy


def test_apply_wants_item_and_text() -> None:
    with pytest.raises(UsageError, match="is no note"):
        apply(ReviewNotes(), newest(), [], ["6"])
    with pytest.raises(UsageError, match="no item “11a”"):
        apply(ReviewNotes(), version(16), ["11a"], [])


def test_which_items_ask_for_a_run() -> None:
    assert [item.label for item in newest().items if asks_for_run(item)] == ["3", "4"]
    assert [item.label for item in version(1).items if asks_for_run(item)] == ["2", "3"]
