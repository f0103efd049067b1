"""Going about on the screens by keys and mouse."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from textual.pilot import Pilot

from reviewer_tui.model.config import ConfigChanges
from reviewer_tui.model.errors import DataError
from reviewer_tui.model.finding import Problem
from reviewer_tui.model.part import complete
from reviewer_tui.model.run import JobLog
from reviewer_tui.review.desk import ComposedSignOff
from reviewer_tui.review.session import Review
from reviewer_tui.tui.app import ReviewerApp
from reviewer_tui.tui.screens.diff import DiffScreen
from reviewer_tui.tui.screens.help import HelpScreen
from reviewer_tui.tui.screens.log import LogScreen
from reviewer_tui.tui.screens.review import ReviewScreen
from reviewer_tui.tui.widgets.diff_view import DiffView
from reviewer_tui.tui.widgets.line_view import LineView
from tests.tui.reviews import CONFIG, FakeDesk, make_review
from tests.tui.screen import rows, settle, shown_app, until

Open = Callable[..., ReviewerApp]
WIDE, MEDIUM, NARROW = (180, 50), (120, 40), (80, 24)


def text(app: ReviewerApp) -> str:
    return "\n".join(rows(app))


def focus(app: ReviewerApp) -> str:
    return app.focused.id or "" if app.focused else ""


@pytest.mark.parametrize(
    ("size", "order"),
    [
        (WIDE, ["diff", "runs", "evals", "recipes", "conversation", "evidence", "checklist"]),
        (NARROW, ["diff", "runs", "evals", "recipes", "conversation", "checklist"]),
    ],
)
async def test_tab_goes_round_everything_that_is_there(
    size: tuple[int, int], order: list[str], desk: FakeDesk, open_app: Open
) -> None:
    app = open_app(desk)
    async with shown_app(app, size) as pilot:
        seen = []
        for _ in order:
            await pilot.press("tab")
            seen.append(focus(app))
            assert app.focused is not None
            assert app.focused.display
        assert seen == order
        await pilot.press("shift+tab")
        assert focus(app) == order[-2]


async def test_zoom_and_escape(desk: FakeDesk, open_app: Open) -> None:
    app = open_app(desk)
    async with shown_app(app, WIDE) as pilot:
        await pilot.press("3", "z")
        await settle(pilot)
        assert "Evidence for" not in text(app)
        assert "[Runs U]" in text(app)
        await pilot.press("escape")
        await settle(pilot)
        assert "Evidence for" in text(app)
        assert focus(app) == "runs"
        await pilot.press("escape")
        assert focus(app) == "checklist"


async def test_search_in_the_focused_pane(desk: FakeDesk, open_app: Open) -> None:
    app = open_app(desk)
    async with shown_app(app, WIDE) as pilot:
        await pilot.press("4", "slash", *"EP2 C64")
        await settle(pilot)
        evals = app.screen.query_one("#evals", LineView)
        assert evals.rows[evals.cursor][1].text.startswith("tp2 ep2 c64")
        await pilot.press("up")
        assert evals.rows[evals.cursor][1].text.startswith("tp2 ep2 c64"), "the only one"
        await pilot.press("escape")
        assert focus(app) == "evals"
        await pilot.press("1", "slash", *"merged", "escape", "space")
        await settle(pilot)
        assert app.review is not None
        assert list(app.review.notes.marks) == ["11"], "the search left the cursor on its first place"


async def test_results_are_a_key_away(desk: FakeDesk, open_app: Open) -> None:
    app = open_app(desk)
    async with shown_app(app, NARROW) as pilot:
        await pilot.press("r")
        await settle(pilot)
        evals = app.screen.query_one("#evals", LineView)
        assert focus(app) == "evals"
        assert evals.rows[evals.cursor][1].text.startswith("Results, beside the newest published value")


async def test_a_line_opens_what_it_is_about(desk: FakeDesk, open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(ReviewerApp, "open_url", lambda self, url, new_tab=True: opened.append(url))
    app = open_app(desk)
    async with shown_app(app, WIDE) as pilot:
        await pilot.press("o")
        await settle(pilot)
        assert opened == []
        await pilot.press("5", "enter")
        await settle(pilot)
        assert opened == ["https://github.com/sgl-project/sglang/pull/34357"]
        await pilot.press("2", "down", "o")
        await settle(pilot)
        assert opened[1].endswith(f"/blob/{app.review.snapshot.head if app.review else ''}/{CONFIG}#L36")
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(app.screen, DiffScreen)
        view = app.screen.query_one(DiffView)
        assert view.rows is not None
        assert view.rows[view.cursor].new == 35
        await pilot.press("o")
        assert opened[2].endswith(CONFIG)


async def test_an_address_that_is_none_is_not_opened(
    desk: FakeDesk, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(ReviewerApp, "open_url", lambda self, url, new_tab=True: opened.append(url))
    upstream = desk.review.snapshot.upstream.value or ()
    hostile = msgspec.structs.replace(upstream[0], url="file:///etc/passwd")
    part = msgspec.structs.replace(desk.review.snapshot.upstream, value=(hostile,))
    desk.review = msgspec.structs.replace(
        desk.review, snapshot=msgspec.structs.replace(desk.review.snapshot, upstream=part)
    )
    app = open_app(desk)
    async with shown_app(app, WIDE) as pilot:
        await pilot.press("5", "enter", "o")
        await settle(pilot)
    assert opened == []


async def test_the_pane_of_an_item_comes_forward(desk: FakeDesk, open_app: Open) -> None:
    """In the medium layout the related pane unfolds, is marked, and shows the place that its findings name."""
    app = open_app(desk)
    async with shown_app(app, MEDIUM) as pilot:
        assert "  5 Recipes" in text(app)
        await pilot.press(*["down"] * 7)
        await settle(pilot)
        assert "> 5 Recipes" in text(app)
        recipes = app.screen.query_one("#recipes", LineView)
        assert not recipes.has_class("-folded")
        assert "attention backend" in recipes.rows[recipes.cursor][1].text


async def test_the_mouse_works_on_tabs_keys_and_files(desk: FakeDesk, open_app: Open) -> None:
    app = open_app(desk)
    async with shown_app(app, NARROW) as pilot:
        await pilot.click("#tabs", offset=(26, 0))
        await settle(pilot)
        assert focus(app) == "runs"
        keys = rows(app)[-1]
        await pilot.click("#keys", offset=(keys.index("d diff"), 0))
        await settle(pilot)
        assert isinstance(app.screen, DiffScreen)
        await pilot.click("#text", offset=(5, 1))
        await pilot.click("#text", offset=(5, 1), times=2)
        await settle(pilot)
        view = app.screen.query_one(DiffView)
        assert view.rows is not None
        assert view.rows[0].kind == "same", "two clicks unfold"


async def test_the_diff_by_keys(desk: FakeDesk, open_app: Open) -> None:
    app = open_app(desk)
    async with shown_app(app, MEDIUM) as pilot:
        await pilot.press("d", "z", "home")
        await settle(pilot)
        assert "# master config" in text(app)
        view = app.screen.query_one(DiffView)
        await pilot.press("pagedown", "pageup", "end")
        assert view.rows is not None
        assert view.cursor == len(view.rows) - 1
        await pilot.press("z", "full_stop")
        await pilot.press("v", "down", "enter")
        await settle(pilot)
        assert not app.screen.has_class("-semantic")
        assert view.rows[view.cursor].new == 35
        await pilot.press("comma", "comma", "F", "f", "f")
        await settle(pilot)
        said = [notification.message for notification in app._notifications]
        assert "That was the first change of this file; F goes to the file before." in said
        assert "That was the first file." in said
        assert "That was the last file." in said
        await pilot.press("n", *"add", "enter", "escape", "N")
        await settle(pilot)
        assert app.screen.query("DiffView")
        await pilot.press("q")
        await settle(pilot)
        assert isinstance(app.screen, ReviewScreen), "q goes back from the diff"


async def test_how_a_check_decides_is_told(desk: FakeDesk, open_app: Open) -> None:
    app = open_app(desk)
    async with shown_app(app, MEDIUM) as pilot:
        await pilot.press(*["down"] * 6, "E")
        await settle(pilot)
        assert "How 7 MODELS.md is decided" in text(app)
        assert "deprecated: deprecated" in text(app)
        await pilot.press("escape", "up", "up", "up", "up", "up", "E")
        await settle(pilot)
        assert "No check speaks to this item: it is yours to judge." in text(app)


async def test_help_over_help_and_back(desk: FakeDesk, open_app: Open) -> None:
    app = open_app(desk)
    async with shown_app(app, MEDIUM) as pilot:
        await pilot.press("d", "f1")
        await settle(pilot)
        assert isinstance(app.screen, HelpScreen)
        assert "The next file that is not marked as viewed." in text(app)
        await pilot.press("q")
        await settle(pilot)
        assert isinstance(app.screen, DiffScreen)


async def test_faults_of_the_configs_are_on_top_and_other_faults_below(desk: FakeDesk, open_app: Open) -> None:
    changes = ConfigChanges(
        reworded=("quiet-key",),
        shared_files=("benchmarks/lib.sh",),
        problems=(Problem(path=CONFIG, message="a tab is no indentation", rule="tab", line=7),),
        base_problems=(Problem(path=CONFIG, message="an old fault", rule="x", line=2),),
    )
    desk.review = msgspec.structs.replace(make_review(), changes=changes)
    app = open_app(desk)
    async with shown_app(app, WIDE) as pilot:
        await pilot.press("2")
        await settle(pilot)
        shown = text(app)
    order = [
        "F configs/nvidia-master.yaml:7: a tab",
        "reworded only: quiet-key",
        "W benchmarks/lib.sh",
        "already on the base",
    ]
    places = [shown.index(part) for part in order]
    assert places == sorted(places)


async def test_a_sign_off_that_cannot_be_composed_says_why(open_app: Open) -> None:
    class NoTemplate(FakeDesk):
        def compose(self, review: Review) -> ComposedSignOff:
            raise DataError("There is no checklist to sign.", "Choose another --policy-ref.")

    app = open_app(NoTemplate())
    async with app.run_test(size=MEDIUM) as pilot:
        await until(pilot, lambda: app.review is not None)
        await pilot.press("s", "c", "w", "D")
        await settle(pilot)
        assert any("There is no checklist to sign." in n.message for n in app._notifications)
        await pilot.press("escape")
        await settle(pilot)
        assert isinstance(app.screen, ReviewScreen)


def with_failed_job(desk: FakeDesk) -> None:
    (run,) = desk.review.snapshot.runs.value or ()
    jobs = (msgspec.structs.replace(run.jobs[0], conclusion="failure", id=77), *run.jobs[1:])
    snapshot = msgspec.structs.replace(desk.review.snapshot, runs=complete((msgspec.structs.replace(run, jobs=jobs),)))
    desk.review = msgspec.structs.replace(desk.review, snapshot=snapshot)


async def open_log(pilot: Pilot[None], app: ReviewerApp) -> None:
    """From the runs to the log of the failed job."""
    await pilot.press("3")
    await settle(pilot)
    runs = app.screen.query_one("#runs", LineView)
    runs.move_to(next(at for at, (_, row) in enumerate(runs.rows) if row.target and row.target.job))
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(app.screen, LogScreen))


async def test_the_log_of_a_failed_job_is_behind_its_line(desk: FakeDesk, open_app: Open) -> None:
    with_failed_job(desk)
    text = "".join(f"line {number}\n" for number in range(200)) + "##[error]Out of \x1b[2Jmemory\n"
    desk.log = JobLog(job_id=77, text=text, size=90_000, kept=len(text))
    app = open_app(desk)
    async with shown_app(app, NARROW) as pilot:
        await open_log(pilot, app)
        await until(pilot, lambda: "Out of <U+001B>[2Jmemory" in "\n".join(rows(app)))
        assert "of 90,000 bytes" in rows(app)[0]
        assert "line 0" not in rows(app)
        await pilot.press("escape")
        await settle(pilot)
        assert isinstance(app.screen, ReviewScreen)


async def test_a_log_that_cannot_be_had_says_why(desk: FakeDesk, open_app: Open) -> None:
    with_failed_job(desk)
    app = open_app(desk)
    async with shown_app(app, NARROW) as pilot:
        await open_log(pilot, app)
        await until(pilot, lambda: "The log of job 77 is gone." in "\n".join(rows(app)))
        assert "Run it again." in "\n".join(rows(app))
