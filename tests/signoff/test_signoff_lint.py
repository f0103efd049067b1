"""Every rule of the lint speaks when it should, and only then."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer_tui.model.checklist import ChecklistTemplate
from reviewer_tui.model.finding import Status
from reviewer_tui.policy.checklist import bundled_templates
from reviewer_tui.signoff.lint import REJECTING, LintFinding, LintReport, lint
from tests.signoff.texts import DETAIL, RUN, newest, signed, strange, version

HOME = "https://github.com/SemiAnalysisAI/InferenceX"
TEMPLATES = bundled_templates()


def judged(text: str, template: ChecklistTemplate | None = None) -> LintReport:
    return lint(text, template or newest(), known=TEMPLATES)


def rules(report: LintReport) -> dict[str, str]:
    return {finding.rule: finding.status.value for finding in (*report.faults, *report.remarks)}


def the(report: LintReport, rule: str) -> LintFinding:
    (found,) = [finding for finding in (*report.faults, *report.remarks) if finding.rule == rule]
    return found


def unticked(text: str, words: str) -> str:
    line = next(line for line in text.split("\n") if words in line)
    return text.replace(line, line.replace("[x]", "[ ]"))


@pytest.mark.parametrize("template", [*TEMPLATES, strange()], ids=lambda t: str(t.version))
def test_a_clean_sign_off_has_no_fault_and_no_remark(template: ChecklistTemplate) -> None:
    report = judged(signed(template), template)
    assert (report.faults, report.remarks) == ((), ())
    assert report.status is Status.PASS


@pytest.mark.parametrize("change", ["\r\n", "\r"])
def test_line_ends_do_not_matter(change: str) -> None:
    assert rules(judged(signed().replace("\n", change))) == {}


def test_whole_body_indented_by_two_is_fine() -> None:
    assert rules(judged("\n".join(f"  {line}" for line in signed().split("\n")))) == {}


def test_no_trigger_sentence() -> None:
    report = judged(signed().replace("As a PR reviewer and CODEOWNER", "As reviewer"))
    assert rules(report) == {"trigger-missing": "fail"}
    assert the(report, "trigger-missing").expected == newest().opening
    assert report.rejecting == report.faults


@pytest.mark.parametrize(
    "opening",
    ["AS A PR REVIEWER AND CODEOWNER, I have reviewed this and have:", "As a PR reviewer and CODEOWNER I say:"],
)
def test_another_opening(opening: str) -> None:
    report = judged(signed().replace(newest().opening, opening))
    assert rules(report) == {"trigger-altered": "warn"}
    assert (the(report, "trigger-altered").line, the(report, "trigger-altered").actual) == (1, opening)


def test_a_verdict_comment_is_no_sign_off() -> None:
    report = judged(f"<!-- codeowner-signoff-verify sha={'a' * 40} -->\n{signed()}")
    assert "verdict-comment" in rules(report)


def test_no_boxes() -> None:
    assert rules(judged("As a PR reviewer and CODEOWNER, I have reviewed this and have:\nSigned: me")) == {
        "boxes-missing": "fail"
    }


def test_a_stale_copy_misses_items() -> None:
    report = judged(signed(version(20)))
    assert {finding.label for finding in report.faults} == {"13"}
    missing = the(report, "item-missing")
    assert missing.expected is not None
    assert missing.expected.startswith("If this PR uses `append-only: true`")
    stale = the(report, "template-stale")
    assert (stale.actual, stale.expected) == ("20 (2026-08-10)", "21 (2026-08-14)")
    assert report.rejecting == report.faults


@pytest.mark.parametrize("number", range(1, 22))
@pytest.mark.parametrize("current", [18, 21, 22])
def test_every_older_version_is_rejected_by_its_missing_items_alone(number: int, current: int) -> None:
    old, new = version(number), version(current)
    missing = {i.name for i in new.items if i.boxed} - {i.name for i in old.items if i.boxed}
    report = lint(signed(old), new)
    faults = {f.label for f in report.faults if f.rule == "item-missing"}
    assert faults == {item.label for item in new.items if item.boxed and item.name in missing}
    assert {f.rule for f in report.rejecting} <= {"item-missing"}


def test_a_clause_that_is_not_there_is_for_a_reader() -> None:
    report = lint(signed(version(21)), version(22))
    assert {f.label: f.status.value for f in report.remarks if f.rule == "item-altered"}["9"] == "judgement"


def test_a_small_drift_is_a_remark_with_its_words() -> None:
    report = judged(signed().replace("general code quality", "overall code quality"))
    drift = the(report, "item-altered")
    assert (drift.status, drift.label, drift.line) == (Status.WARN, "2", 3)
    assert [(s.operation, s.text) for s in drift.segments if s.operation != "equal"] == [
        ("delete", "general"),
        ("insert", "overall"),
    ]


def test_an_abridged_or_outdated_wording_is_for_a_reader() -> None:
    line = next(line for line in signed().split("\n") if "passed PR validation" in line)
    assert rules(judged(signed().replace(line, f"- [x] PR validation: {RUN}"))) == {"item-altered": "judgement"}
    old = next(item.text for item in version(17).items if item.name == "recipe_merged")
    new = next(line for line in signed().split("\n") if "I linked the corresponding" in line)
    report = judged(signed().replace(new, f"  - [x] {old}"))
    assert the(report, "item-altered").status is Status.JUDGEMENT
    assert report.faults == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("has passed PR validation", "has not passed PR validation"),
        ("does not patch", "does patch"),
        ("isn't changed", "is changed"),
    ],
)
def test_the_opposite_of_an_item_is_a_fault(old: str, new: str) -> None:
    assert rules(judged(signed().replace(old, new))) == {"item-inverted": "fail"}


@pytest.mark.parametrize(("old", "new"), [("does not patch", "doesn't patch"), ("isn't changed", "is not changed")])
def test_a_negation_in_other_words_is_none(old: str, new: str) -> None:
    assert rules(judged(signed().replace(old, new))) == {"item-altered": "warn"}


def test_what_is_added_behind_an_item_does_not_invert_it() -> None:
    text = signed().replace("real world", "real world (not speculative here)")
    assert rules(judged(text)) == {"item-altered": "warn"}
    aside = signed().replace("For agentic workloads:", "For agentic workloads (not applicable):")
    assert rules(judged(aside)) == {"item-altered": "warn"}


def test_unknown_and_doubled_items() -> None:
    text = signed().replace("\n\n### Additional", "\n- [x] I like this PR\n\n### Additional")
    assert rules(judged(text)) == {"item-unknown": "warn"}
    line = next(line for line in signed().split("\n") if "general code quality" in line)
    assert rules(judged(signed().replace(line, f"{line}\n{line}"))) == {"item-duplicate": "warn"}
    contradiction = signed().replace(line, f"{line}\n{line.replace('[x]', '[ ]')}")
    assert rules(judged(contradiction)) == {"item-duplicate": "judgement"}


def test_an_open_item_without_a_reason() -> None:
    report = judged(unticked(signed(), "For agentic workloads"))
    assert rules(report) == {"item-unexplained": "fail"}
    assert (the(report, "item-unexplained").label, the(report, "item-unexplained").line) == ("6", 7)
    assert report.status is Status.FAIL


@pytest.mark.parametrize(
    ("detail", "status"),
    [
        (f"{DETAIL}\n- Item 6 (golden AL) is left open: not agentic.", "warn"),
        (f"{DETAIL}\n\nNo agentic workload in this PR.", "warn"),
        (f"{DETAIL}\n\nWhat is unticked is not applicable.", "judgement"),
        (f"{DETAIL}\n\nEAGLE 3/1/4 is used.", "judgement"),
    ],
)
def test_an_open_item_with_a_reason(detail: str, status: str) -> None:
    report = judged(unticked(signed(detail=detail), "For agentic workloads"))
    assert rules(report) == {"item-open": status}
    assert the(report, "item-open").actual


def test_a_reason_at_the_item_itself_is_for_a_reader() -> None:
    line = next(line for line in signed().split("\n") if "For agentic" in line)
    text = signed().replace(line, line.replace("[x]", "[ ]") + " N/A, single-turn only")
    report = judged(text)
    assert the(report, "item-open").status is Status.JUDGEMENT
    assert report.faults == ()


def test_waived_items_may_stay_open() -> None:
    text = unticked(signed(), "For agentic workloads")
    for waived in ("6", "golden_al"):
        assert rules(lint(text, newest(), waived=[waived])) == {"item-open": "warn"}
    assert rules(lint(text, newest(), waived=["5"])) == {"item-unexplained": "fail"}


def test_a_reason_that_is_still_to_do_is_none() -> None:
    text = unticked(signed(detail=f"{DETAIL}\n- Item 6 (golden AL) is left open: TODO: say why."), "For agentic")
    report = judged(text)
    assert rules(report) == {"item-unexplained": "fail"}, "one cause, told once"
    assert rules(judged(text.replace("TODO: say why.", "TODO: say why.\n- TODO: link the run"))) == {
        "item-unexplained": "fail",
        "todo-left": "warn",
    }
    reasoned = text.replace("TODO: say why.", "TODO: say why.\n- Item 6: not agentic")
    assert rules(judged(reasoned)) == {"item-open": "warn", "todo-left": "warn"}


@pytest.mark.parametrize(
    "said",
    [
        "- Item 6 (golden AL) is left open: TODO: say why.",
        "- Items 5 and 6 are left unticked: not agentic.",
        "Box 6: left blank.",
        "Item 6 is open: not agentic.",
        "Item 6 (not agentic) stays\nunchecked.",
    ],
)
def test_a_ticked_item_that_is_said_to_be_open(said: str) -> None:
    report = judged(signed(detail=f"{DETAIL}\n\n{said}"))
    assert rules(report)["item-said-open"] == "judgement"
    found = next(one for one in report.remarks if one.rule == "item-said-open" and one.label == "6")
    assert report.sign_off.detail_line is not None
    assert (found.line or 0) == report.sign_off.detail_line + 3
    assert "todo-left" not in rules(report)
    opened = judged(unticked(signed(detail=f"{DETAIL}\n\n{said}"), "For agentic"))
    assert "6" not in [one.label for one in opened.remarks if one.rule == "item-said-open"]


@pytest.mark.parametrize(
    "said",
    [
        "Item 6 is open source only.",
        "Item 6 is not left open.",
        "Item 6: the pull request upstream is open.",
        "What is left open does not concern item 6.",
        "For item 6 we opened an issue.",
    ],
)
def test_a_ticked_item_of_which_something_else_is_said(said: str) -> None:
    assert rules(judged(signed(detail=f"{DETAIL}\n\n{said}"))) == {}


def test_placeholder_and_detail_heading() -> None:
    assert rules(judged(signed(detail="- insert any additional info here"))) == {"placeholder-left": "fail"}
    assert rules(judged(signed(detail=f"{DETAIL}\n* Insert any additional info here "))) == {"placeholder-left": "fail"}
    assert rules(judged(signed().replace("### Additional detail section:\n", ""))) == {"heading-missing": "warn"}


@pytest.mark.parametrize(
    "detail",
    [
        "https://recipes.vllm.ai/",
        "See [cookbook](https://docs.sglang.io/cookbook/intro).",
        "https://github.com/vllm-project/recipes",
    ],
)
def test_links_that_name_no_recipe(detail: str) -> None:
    assert rules(judged(signed(detail=detail))) == {"links-template-only": "fail"}
    open_recipe = unticked(
        unticked(signed(detail=f"{detail}\n\nItems 11 and 11a: multi-node only."), "every single-node"), "I linked"
    )
    assert the(judged(open_recipe), "links-template-only").status is Status.WARN


@pytest.mark.parametrize(
    "detail",
    [
        "No links at all.",
        f"{DETAIL} Root: https://recipes.vllm.ai/",
        f"Read {HOME}/blob/main/MODELS.md: not deprecated.",
    ],
)
def test_links_that_are_fine(detail: str) -> None:
    assert rules(judged(signed(detail=detail))) == {}


def test_run_links() -> None:
    assert rules(judged(signed().replace(f" [Link]({RUN})", ""))) == {"run-link-missing": "warn"}
    assert rules(judged(signed(detail=f"{DETAIL} {RUN}").replace(f" [Link]({RUN})", ""))) == {}
    dashboard = judged(signed().replace(RUN, "https://inferencex.example/inference?unofficialRun=31628689774"))
    assert {f.rule for f in dashboard.remarks} == {"run-link-dashboard"}
    assert {f.label: f.expected for f in dashboard.remarks} == {"3": RUN, "4": RUN}
    assert rules(judged(signed().replace(RUN, f"{HOME}/pull/2550"))) == {"run-link-other": "warn"}
    foreign = signed().replace(RUN, "https://github.com/me/InferenceX/actions/runs/1")
    assert rules(judged(foreign)) == {"run-link-foreign": "warn"}
    assert rules(lint(foreign, newest(), repository="me/InferenceX")) == {}


def test_templates_that_ask_for_no_run_get_no_remark() -> None:
    assert rules(judged(signed(version(3)), version(3))) == {}


def test_stale_links() -> None:
    report = judged(signed().replace("/blob/main/docs/PR_REVIEW", "/edit/main/docs/PR_REVIEW"))
    stale = the(report, "self-link-stale")
    assert (stale.label, stale.status) == ("1", Status.WARN)
    assert "/edit/" in (stale.actual or "")
    assert "/blob/" in (stale.expected or "")
    assert rules(judged(signed().replace("/main/MODELS.md", "/old/MODELS.md"))) == {"link-altered": "warn"}


def test_signatures() -> None:
    assert rules(judged(signed(login="FILL_IN_GITHUB_USERNAME"))) == {"signature-placeholder": "fail"}
    assert rules(judged(signed().replace("Signed: `octocat`", ""))) == {"signature-missing": "fail"}
    assert rules(judged(signed().replace("`octocat`", ""))) == {"signature-missing": "fail"}
    assert rules(lint(signed(), newest(), author="OctoCat")) == {}
    assert rules(lint(signed(), newest(), author="somebody")) == {"signature-differs": "warn"}
    assert rules(lint(signed(), newest(), signer="somebody")) == {"signature-differs": "warn"}
    assert rules(lint(signed(), newest(), author="octocat", signer="somebody")) == {}


def test_dead_boxes() -> None:
    report = judged(f"```\n{signed()}\n```")
    assert rules(report) == {"boxes-fenced": "fail"}
    assert the(report, "boxes-fenced").line == 3
    deep = "\n".join(f"    {line}" for line in signed().split("\n"))
    assert rules(judged(deep)) == {"boxes-indented": "fail"}


def test_boxes_that_github_does_not_draw() -> None:
    text = re.sub(r"(?m)^- \[x\] Verified that the general", "- [✓] Verified that the general", signed())
    report = judged(text.replace("- [x] Verified against", "[x] Verified against"))
    assert rules(report) == {"box-not-drawn": "warn"}
    assert the(report, "box-not-drawn").message == "GitHub draws no box on lines 3, 8."


def test_length() -> None:
    assert rules(judged(signed(detail="a" * 66_000))) == {"too-long": "fail"}
    assert rules(judged(signed(detail="\r\n" * 33_000 + "a"))) == {}


def test_what_a_reader_does_not_see() -> None:
    report = judged(signed(detail=f"{DETAIL} \u202eevil\u202c"))
    assert rules(report) == {"hidden-character": "warn"}
    assert "<U+202E>" in (the(report, "hidden-character").actual or "")
    assert rules(judged(signed() + "\n<!-- look here -->")) == {"hidden-text": "warn"}
    many = judged(signed() + "<!-- look here -->" * 50)
    assert len(many.remarks) == 5
    assert rules(judged(signed() + "\n<!-- ixr:0d1b6a9e-0000-4000-8000-000000000000 -->")) == {}


def test_findings_come_by_line() -> None:
    text = unticked(signed(login="FILL_IN_GITHUB_USERNAME"), "For agentic workloads")
    lines = [finding.line or 0 for finding in judged(text).faults]
    assert lines == sorted(lines)
    assert len(lines) == 2


def test_rejecting_rules_are_faults_of_the_lint() -> None:
    faults = {"trigger-missing", "boxes-missing", "item-missing", "item-inverted", "item-unexplained"}
    assert faults == REJECTING


_LINES = st.sampled_from(
    [*signed().split("\n"), *signed(version(5)).split("\n"), "```", "> q", "<!--", "-->", "Signed:", "\t"]
)


@given(st.lists(st.one_of(_LINES, st.text(max_size=40)), max_size=30).map("\n".join))
@settings(max_examples=80, deadline=None)
def test_any_text_can_be_judged(text: str) -> None:
    report = lint(text, newest(), author="octocat", known=TEMPLATES[-2:])
    assert all(finding.status is Status.FAIL for finding in report.faults)
    assert all(finding.status in (Status.WARN, Status.JUDGEMENT) for finding in report.remarks)
    assert all(finding.message for finding in (*report.faults, *report.remarks))
    ticked = {match.item.label for match in report.matching.items if match.checked}
    if report.status is Status.PASS:
        assert len(ticked) == 15
