"""The pure texts of the screens: lines, header, panes, actions, themes."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from reviewer_tui.checks.published import Beside
from reviewer_tui.cli import panes
from reviewer_tui.model.finding import Finding, Status
from reviewer_tui.model.part import Part, complete, partial, unavailable
from reviewer_tui.model.pull_request import PullRequestInfo
from reviewer_tui.model.result import BenchmarkResult, Published
from reviewer_tui.model.run import CheckRun
from reviewer_tui.policy.items import Pane
from reviewer_tui.review.session import Review
from reviewer_tui.tui.actions import ACTIONS, GROUPS, Place, actions_of
from reviewer_tui.tui.screens.help import help_lines
from reviewer_tui.tui.texts.evidence import evidence_lines, part_lines
from reviewer_tui.tui.texts.header import header_lines
from reviewer_tui.tui.texts.naming import PANES, age, checks_apart
from reviewer_tui.tui.texts.page import Piece, clean, cut, line, pad, table, wrap
from reviewer_tui.tui.texts.panes import _tally, pane_facts
from reviewer_tui.tui.texts.results import plot_lines
from reviewer_tui.tui.themes import DARK, LIGHT
from tests.tui.reviews import NOW, make_review, without_data

# --- lines ----------------------------------------------------------------------------------------------------------


@given(st.lists(st.text(max_size=40), max_size=4), st.integers(4, 40), st.integers(0, 10))
@settings(max_examples=80, deadline=None)
def test_wrapping_keeps_every_word_and_the_width(texts: list[str], width: int, indent: int) -> None:
    whole = line(*(Piece(text, "dim") for text in texts), indent=indent)
    rows = [row for _, row in wrap([whole], width)]
    assert all(cell_len(row.text) <= width or len(row.text.strip()) == 1 for row in rows)
    assert "".join("".join(row.text for row in rows).split()) == "".join(clean("".join(texts)).split())


@given(st.text(max_size=30), st.integers(0, 30))
def test_cutting_and_padding_keep_the_width(text: str, width: int) -> None:
    shown = clean(text)
    assert cell_len(cut(shown, width)) <= width
    assert cell_len(pad(shown, width)) == width
    if cell_len(shown) <= width:
        assert cut(shown, width) == shown


def test_a_table_row_is_cut_and_not_wrapped() -> None:
    rows = table([["short", "x"], ["much longer", "the last cell is cut where there is no room"]])
    assert [row.text for _, row in wrap(rows, 20)] == ["short        x", "much longer  the l.."]


# --- header ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [12, 20, 39, 40, 60, 80, 119, 120, 160, 200])
@pytest.mark.parametrize("short", [True, False])
def test_the_header_fits_every_width_and_never_loses_the_verdict(width: int, short: bool) -> None:
    review = make_review()
    info = PullRequestInfo(title="标题 \x1b[31m" * 20, author="a", state="open")
    review = msgspec.structs.replace(review, snapshot=msgspec.structs.replace(review.snapshot, info=complete(info)))
    lines = header_lines(review, NOW, width, short=short)
    assert "\x1b" not in "".join(row.text for row in lines)
    assert any("REJECTED" in row.text for row in lines)
    if width >= 40:
        assert all(cell_len(row.text) <= width for row in lines)


def test_a_kept_rule_that_warns_beside_it_shows_wherever_its_letter_does() -> None:
    """Two checks pass with a warning: the counts, the item, its evidence and the plain text all say so."""
    review = make_review()
    warning = Finding(status=Status.WARN, message="The evidence is stale.")
    results = tuple(
        msgspec.structs.replace(result, findings=(*result.findings, warning))
        if result.name in ("sweep", "evals", "recipe")
        else result
        for result in review.results
    )
    warned = msgspec.structs.replace(review, results=results)
    assert "W 0 " in header_lines(review, NOW, 80)[1].text
    lines = header_lines(warned, NOW, 80)
    assert "P 6  F 1  W 0+2  J 1  U 1  - 1" in lines[1].text
    assert all(cell_len(row.text) <= 80 for row in lines)
    assert "W0+2" in header_lines(warned, NOW, 80, short=True)[0].text
    assert warned.verdict is review.verdict
    template = warned.policy.template.value
    assert template is not None
    evals, recipe = template.item("evals"), template.item("recipe")
    assert evals is not None
    assert recipe is not None
    assert [warned.item_warns_beside(evals), warned.item_warns_beside(recipe)] == [True, False]
    rows = [row.text for row in evidence_lines(warned, evals, chinese=False, draft="")]
    assert any(row.startswith("P! 4/4") for row in rows)
    told = list(panes.checks(warned, 80))
    assert any(row.startswith("P! 2 evals") for row in told)
    assert any(row.startswith("F  3 recipe") for row in told)
    assert any(row.startswith("[ ] P!  4 ") for row in panes.checklist(warned, 80))
    assert "W 0+2" in panes.counts(results)


@pytest.mark.parametrize(
    ("taken", "said"),
    [
        ("2026-08-12T10:00:00+00:00", "12 s ago"),
        ("2026-08-12T10:00:00Z", "12 s ago"),
        ("2026-08-12T09:55:00+00:00", "5 min ago"),
        ("2026-08-12T07:00:00+00:00", "3 h ago"),
        ("2026-08-10T07:00:00+00:00", "2 d ago"),
        ("2026-08-13T07:00:00+00:00", "2026-08-13 07:00"),
        ("2026-08-12T10:00:00", "12 s ago"),
        ("yesterday", "yesterday"),
    ],
)
def test_the_age_of_the_facts(taken: str, said: str) -> None:
    assert age(taken, datetime(2026, 8, 12, 10, 0, 12, tzinfo=UTC)) == said


# --- panes ----------------------------------------------------------------------------------------------------------


def pane(name: Pane, review: Review | None = None) -> str:
    return "\n".join(row.text for row in pane_facts(review or make_review(), name).lines)


def test_the_diff_pane_tells_what_the_change_means() -> None:
    text = pane("diff")
    assert "  model  nvidia/Qwen3.5-NVFP4 -> nvidia/Qwen3.5-NVFP4-V2  line 36" in text
    assert "  + 8k1k tp2 ep2 mtp  c16 c32* c64*  * evaluated  line 41" in text
    assert pane_facts(make_review(), "diff").summary == "1 key, +3 points, +2 evals"


def test_lanes_are_counted_by_family_without_the_skipped_ones() -> None:
    text = pane("runs")
    assert "single-node 8k1k  9/9 success" in text
    assert "  skipped     multi-node" in text
    bad = CheckRun(id=1, name="eval / x", status="completed", conclusion="failure", head_sha="h")
    running = msgspec.structs.replace(bad, id=2, status="in_progress", conclusion=None)
    good, rest = _tally([bad, running])
    assert good == "0/2 success"
    assert rest == Piece("1 failure, 1 in_progress", "fail")


def test_a_run_of_another_commit_is_told_apart() -> None:
    review = make_review()
    (run,) = review.snapshot.runs.value or ()
    other = msgspec.structs.replace(run, head_sha="f" * 40)
    moved = msgspec.structs.replace(review, snapshot=msgspec.structs.replace(review.snapshot, runs=complete((other,))))
    assert pane_facts(moved, "runs").summary == "none on this head, 1 run elsewhere"
    assert "on fffffff" in pane("runs", moved)


def test_scores_stand_beside_their_bar() -> None:
    review = make_review()
    scores = review.snapshot.evals.value or ()
    odd = (
        msgspec.structs.replace(scores[0], flexible=0.9),
        msgspec.structs.replace(scores[1], infrastructure_success=False),
        msgspec.structs.replace(scores[2], strict=None, flexible=None),
        msgspec.structs.replace(scores[3], model_prefix="dsr1"),
    )
    changed = msgspec.structs.replace(review, snapshot=msgspec.structs.replace(review.snapshot, evals=complete(odd)))
    below, broken, without, unbarred = [
        row for row in pane("evals", changed).splitlines() if row.startswith("tp2 ep") and "gsm8k" in row
    ]
    assert "BELOW 0.94" in below
    assert "infrastructure failed" in broken
    assert "no score" in without
    assert "no bar known" in unbarred


def test_results_stand_beside_the_published_ones() -> None:
    shown = pane("evals")
    assert "7534.5 tok/s/GPU  +5.85 %  120.16 tok/s/user  +5.17 %" in shown
    assert (
        "qwen3.5 8k1k b200 sglang fp4  by run 31628689774  1 of 1 point is published: throughput per GPU +5.85 %, "
        "interactivity +5.17 %; "
        "published by run 31400000001 at ccccccccc (2026-08-01, 11 days old)."
    ) in shown


def test_without_published_rows_that_is_said_and_no_gain_is_shown() -> None:
    review = make_review()

    def shown(published: Part[Published]) -> str:
        snapshot = msgspec.structs.replace(review.snapshot, published=published)
        return pane("evals", msgspec.structs.replace(review, snapshot=snapshot))

    nothing = shown(complete(Published()))
    assert "no published row of its points is known" in nothing
    assert "120.16 tok/s/user      not published" in nothing
    unread = shown(unavailable("The rate limit is used up.", "Load again."))
    assert "Published results: not known. The rate limit is used up." in unread
    assert "not published" not in unread
    assert "%" not in (nothing + unread).replace("% of", "")
    some = shown(partial(Published(), "One run has expired."))
    assert "Published results: only part of it is known. One run has expired." in some


@pytest.mark.parametrize("name", PANES[1:])
def test_what_is_not_known_is_never_nothing(name: Pane) -> None:
    review = without_data(make_review())
    assert pane_facts(review, name).summary == "not known"
    assert "not known. A clone holds no runs." in pane(name, review)
    assert "To get it: Start with a token: reviewer-tui 2550" in pane(name, review)


def test_a_part_that_is_not_all_there_says_so() -> None:
    lines = part_lines(partial((1,), "Page 2 failed.", "Load again."), "Runs")
    assert [row.text for row in lines] == [
        "U Runs: only part of it is known. Page 2 failed.",
        "  To get it: Load again.",
    ]
    assert [row.text for row in part_lines(complete(()), "Runs")] == ["Runs: none."]


def test_an_endless_comment_is_cut_and_says_so() -> None:
    review = make_review()
    (comment,) = review.snapshot.conversation.value or ()
    endless = msgspec.structs.replace(comment, body="row\n" * 1_500)
    talk = complete((endless,))
    long = msgspec.structs.replace(review, snapshot=msgspec.structs.replace(review.snapshot, conversation=talk))
    rows = pane("conversation", long).splitlines()
    assert rows.count("| row") == 400
    assert "| 1,100 more lines: o opens the page" in rows


def test_the_evidence_of_an_item() -> None:
    review = make_review()
    template = review.policy.template.value
    assert template is not None
    item = template.item("11")
    assert item is not None
    text = "\n".join(row.text for row in evidence_lines(review, item, chinese=True, draft="Say this."))
    assert "已确认第 11 项" in text
    assert "F The attention backend differs.  configs/nvidia-master.yaml:39 at 21d6bbb" in text
    assert "expected trtllm_mha  found flashinfer" in text
    assert "draft  Say this." in text


def test_checks_without_an_item_are_not_lost() -> None:
    assert [result.name for result in checks_apart(make_review())] == ["owner", "check-16"]


# --- actions --------------------------------------------------------------------------------------------------------

TOGETHER: tuple[tuple[Place, ...], ...] = (
    ("checklist", "review", "list", "everywhere"),
    ("diff", "list", "everywhere"),
    ("signoff", "list", "everywhere"),
    ("note",),
    ("dialog", "list"),
)


@pytest.mark.parametrize("places", TOGETHER)
def test_no_key_has_two_meanings(places: tuple[Place, ...]) -> None:
    """But for what a nearer place redefines on purpose: Enter, and q for going back."""
    seen: dict[str, str] = {}
    for action in actions_of(*places):
        for key in action.keys:
            assert key not in seen or key in ("enter", "q"), f"{key}: {seen.get(key)} and {action.name}"
            seen[key] = action.name


def test_keys_are_such_that_everybody_can_press_them() -> None:
    for action in ACTIONS:
        assert not {f"ctrl+{letter}" for letter in "jsbao"} & {action.keys[0]}, action.name
        if any("bracket" in key for key in action.keys):
            assert any("bracket" not in key for key in action.keys), action.name


def test_the_help_lists_every_action_of_a_place() -> None:
    text = "\n".join(row.text for row in help_lines(("review", "list", "everywhere")))
    for action in actions_of("review", "list", "everywhere"):
        assert action.help in text
    assert GROUPS["review"] in text
    assert all(row in text for row in ("pass", "evidence is missing"))


# --- themes ---------------------------------------------------------------------------------------------------------


def contrast(foreground: str, background: str) -> float:
    """WCAG's contrast of two colours, 1 to 21."""

    def luminance(color: Color) -> float:
        channels = [c / 255 for c in color.rgb]
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(Color.parse(foreground)), luminance(Color.parse(background))), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
def test_every_colour_of_our_themes_is_read_easily(theme: object) -> None:
    variables = theme.to_color_system().generate()  # type: ignore[attr-defined]
    for name in ("foreground", "text-primary", "text-success", "text-error", "text-warning", "text-accent"):
        for ground in ("surface", "panel"):
            assert contrast(variables[name], variables[ground]) >= 4.5, (name, ground)


@pytest.mark.parametrize("name", [name for name in BUILTIN_THEMES if not name.startswith("ansi")])
def test_the_letters_are_readable_in_every_theme(name: str) -> None:
    variables = BUILTIN_THEMES[name].to_color_system().generate()
    for text in ("foreground", "text-primary", "text-success", "text-error", "text-warning", "text-accent"):
        assert contrast(variables[text], variables["surface"]) >= 2.5, text


def test_a_status_is_a_letter() -> None:
    assert [status.letter for status in Status] == ["P", "F", "W", "-", "U", "J"]


def test_results_are_plotted_where_there_is_something_to_see() -> None:
    def beside(conc: int, throughput: float, interactivity: float) -> Beside:
        measured = BenchmarkResult(
            run_id=1, parallelism="tp2", conc=conc, throughput_per_gpu=throughput, interactivity=interactivity
        )
        published = msgspec.structs.replace(measured, throughput_per_gpu=throughput - 500)
        return Beside(measured=measured, published=published)

    rows = [row.text for row in plot_lines((beside(16, 7500, 120), beside(64, 13000, 50)))]
    assert rows[2].startswith("13000 |*")
    assert sum(row.count("*") for row in rows[2:]) == sum(row.count("o") for row in rows[2:]) == 2
    assert rows[-1].split() == ["50", "120"]
    assert plot_lines((beside(16, 7500, 120),)) == [], "one column is no plot"
    assert plot_lines(()) == []
