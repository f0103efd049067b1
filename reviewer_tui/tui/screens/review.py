"""The review: checklist, evidence and the panes, side by side, two or one at a time, as the terminal allows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal
from textual.widget import Widget

from reviewer_tui.model.checklist import ChecklistItem
from reviewer_tui.model.finding import CheckResult, Status, worst
from reviewer_tui.model.snapshot import Snapshot
from reviewer_tui.policy.items import Pane as PaneName
from reviewer_tui.policy.items import checklist_map, pane_of
from reviewer_tui.tui.actions import Place, bindings
from reviewer_tui.tui.screens.base import ReviewerScreen
from reviewer_tui.tui.texts.evidence import FINDINGS, check_lines, evidence_lines
from reviewer_tui.tui.texts.naming import PANE_TITLES, PANES, checks_in, short_name
from reviewer_tui.tui.texts.page import Target
from reviewer_tui.tui.texts.panes import pane_facts
from reviewer_tui.tui.widgets.bars import HeaderBar, KeyBar, SearchBar, Tab, TabStrip
from reviewer_tui.tui.widgets.checklist import Checklist
from reviewer_tui.tui.widgets.line_view import LineView
from reviewer_tui.tui.widgets.pane import Pane

TAB_TITLES: dict[PaneName, str] = {
    "checklist": "Checklist",
    "diff": "Diff",
    "runs": "Runs",
    "evals": "Evals",
    "recipes": "Recipes",
    "conversation": "Talk",
}


class ReviewScreen(ReviewerScreen):
    """Everything about one pull request.

    Three layouts: wide (from 160 columns) has checklist, four panes and evidence at once; medium (from 101) has two
    panes open and the others folded to a line; narrow, or a zoomed pane, has one thing at a time.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings("review")
    PLACES: ClassVar[tuple[Place, ...]] = ("review",)
    DEFAULT_CSS = """
    ReviewScreen {
        #body { height: 1fr; }
        #checklist { width: 48; height: 1fr; }
        #panes { width: 1fr; height: 1fr; }
        #evidence { height: 30%; min-height: 5; }
        TabStrip { display: none; }

        &.-wide {
            #checklist { width: 30%; min-width: 52; max-width: 72; }
            #evidence { height: 24%; }
            #panes { layout: grid; grid-size: 2 3; grid-rows: 1fr 1fr 1; }
            #conversation { column-span: 2; }
            &.-talk {
                #panes { grid-size: 2 2; grid-rows: 1fr 1fr; }
                #evals { display: none; }
                #recipes { display: none; }
            }
        }
        &.-medium {
            #panes { layout: vertical; }
            #panes Pane { height: 1fr; }
            #panes Pane.-folded { height: 1; }
        }
        &.-narrow, &.-zoom {
            #panes { layout: vertical; }
            #panes Pane { height: 1fr; display: none; }
            #checklist { width: 1fr; display: none; border: none; }
            #evidence { display: none; }
            Pane { border: none; }
            .-shown { display: block !important; }
        }
        &.-narrow TabStrip, &.-zoom TabStrip { display: block; }
        &.-narrow.-at-checklist #panes, &.-zoom.-at-checklist #panes { display: none; }
        &.-narrow.-at-checklist #evidence { display: block; height: 35%; border: solid $foreground 35%; }
        &.-narrow.-short #evidence { display: none; }
        &.-single-evidence {
            #body { display: none; }
            #evidence { display: block !important; height: 1fr !important; }
        }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.active: PaneName = "checklist"
        self.zoomed = False
        self.chinese = False
        self._open: list[PaneName] = ["diff", "runs"]
        self._shown: Snapshot | None = None

    @property
    def places(self) -> tuple[Place, ...]:
        if self.focused is self.checklist:
            return ("checklist", *super().places)
        return super().places

    # --- building ---------------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        yield HeaderBar()
        yield TabStrip()
        with Horizontal(id="body"):
            yield Checklist()
            with Container(id="panes"):
                for number, name in enumerate(PANES, start=2):
                    yield Pane(PANE_TITLES[name], name=name, number=number)
        yield Pane("Evidence", name="evidence")
        yield SearchBar()
        yield KeyBar()

    @property
    def checklist(self) -> Checklist:
        return self.query_one(Checklist)

    @property
    def evidence(self) -> Pane:
        return self.query_one("#evidence", Pane)

    def pane(self, name: PaneName) -> Pane:
        return self.query_one(f"#{name}", Pane)

    def on_mount(self) -> None:
        self.fit()
        self.review_changed()
        self.checklist.focus()

    # --- contents ---------------------------------------------------------------------------------------------------

    def review_changed(self) -> None:
        super().review_changed()
        self.checklist.show_review(self.review, chinese=self.chinese)
        snapshot, shown = self.review.snapshot, self._shown
        if shown is not snapshot:
            self._shown = snapshot
            # More facts about the same head leave the reader where he is.
            self._fill_panes(top=shown is None or shown.head != snapshot.head)
        self._show_evidence()
        self._show_tabs()
        self.show_keys()

    def _fill_panes(self, *, top: bool) -> None:
        for name in PANES:
            summary, lines = pane_facts(self.review, name)
            self.pane(name).show_facts(summary, lines, top=top)

    def _show_evidence(self, *, top: bool = False) -> None:
        """The evidence of what the checklist's cursor is on, and its pane brought forward."""
        item, check = self.checklist.item, self.checklist.check
        composed = self.reviewer.composed
        results: Sequence[CheckResult]
        if item is not None:
            results = self.review.results_for(item)
            draft = composed.drafts.get(item.label, "") if composed else ""
            lines = evidence_lines(self.review, item, chinese=self.chinese, draft=draft)
            self.evidence.title = f"Evidence for {item.label} {short_name(item)}"
        else:
            result = self.review.result(check)
            results = (result,) if result else ()
            lines = check_lines(results)
            self.evidence.title = f"Evidence for {check.replace('_', ' ')}" if check else "Evidence"
        self.evidence.show_facts("", lines, top=top)
        related = pane_of(item.name) if item is not None else _pane_of_check(check)
        for name in PANES:
            self.pane(name).relate(name == related)
        if related in PANES:
            if not self.single and not self.wide:
                self._unfold(related)
            if top:
                self._bring_forward(self.pane(related), results)

    def _bring_forward(self, pane: Pane, results: Sequence[CheckResult]) -> None:
        """Scroll a pane to its first line about a place that the findings name, else to its top. The findings below the
        data, which the evidence shows anyway, do not count."""
        places = {(finding.path, finding.line) for result in results for finding in result.findings if finding.path}
        data = takewhile(lambda row: row[1].text != FINDINGS, pane.rows)
        row = next((i for i, (_, line) in enumerate(data) if line.target and line.target[:2] in places), 0)
        if not pane.has_focus:
            pane.move_to(row)

    def _show_tabs(self) -> None:
        roomy = self.app.size.width >= 60
        tabs = tuple(
            Tab(name, title, self._letter(name) if roomy and name not in ("checklist", "conversation") else "")
            for name, title in TAB_TITLES.items()
        )
        self.query_one(TabStrip).show_tabs(tabs, self.active)

    def _letter(self, name: PaneName) -> str:
        results = checks_in(self.review, name)
        return worst((result.status for result in results), empty=Status.NOT_APPLICABLE).letter

    # --- layout -----------------------------------------------------------------------------------------------------

    @property
    def single(self) -> bool:
        """Whether one thing is shown at a time."""
        return self.zoomed or self.narrow

    def fit(self) -> None:
        super().fit()
        self._arrange()
        self._show_tabs()
        if self.focused is not None and not self.focused.display:
            self.pane(self.active).focus()

    def _arrange(self) -> None:
        """Give every pane its place for the layout and the active pane."""
        self.set_class(self.zoomed, "-zoom")
        self.set_class(self.active == "conversation" and not self.single, "-talk")
        self.set_class(self.active == "checklist", "-at-checklist")
        if not self.single:
            self.remove_class("-single-evidence")
        for name in TAB_TITLES:
            self.pane(name).set_class(self.single and name == self.active, "-shown")
        for name in PANES:
            if self.single:
                folded = False
            elif self.wide:
                folded = name == "conversation" and self.active != "conversation"
            else:
                folded = name not in self._open
            self.pane(name).set_class(folded, "-folded")

    def _unfold(self, name: PaneName) -> None:
        """Open a pane in the medium layout; the one opened longest ago folds."""
        if name not in self._open:
            self._open = [self._open[-1], name]
            self._arrange()

    def _activate(self, name: PaneName) -> None:
        if name != self.active:
            self.active = name
            if name in PANES:
                self._unfold(name)
            self._arrange()
            self._show_tabs()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if isinstance(event.widget, Pane) and event.widget.id in TAB_TITLES:
            self._activate(event.widget.id)
        self.show_keys()

    # --- messages of the parts --------------------------------------------------------------------------------------

    @on(Checklist.Focused)
    def _item_focused(self) -> None:
        self._show_evidence(top=True)

    @on(Checklist.Decided)
    def _item_decided(self, message: Checklist.Decided) -> None:
        self.reviewer.decide(message.label, message.decision)

    @on(Checklist.NoteWanted)
    def _note_wanted(self, message: Checklist.NoteWanted) -> None:
        item = self._item(message.label)
        if item is None:
            return
        from reviewer_tui.tui.screens.note import NoteScreen

        composed = self.reviewer.composed
        draft = composed.drafts.get(item.label, "") if composed else ""
        self.app.push_screen(NoteScreen(item, self.review.notes.mark(item.label).note, draft))

    def _item(self, label: str) -> ChecklistItem | None:
        template = self.review.policy.template.value
        return template.item(label) if template else None

    @on(Checklist.ExplanationWanted)
    def _explanation_wanted(self) -> None:
        from reviewer_tui.tui.screens.help import TextScreen, explanation_lines

        item, result = self.checklist.item, self.review.result(self.checklist.check)
        results = self.review.results_for(item) if item else (result,) if result else ()
        name = f"{item.label} {short_name(item)}" if item else self.checklist.check
        self.app.push_screen(TextScreen(f"How {name} is decided", explanation_lines(results, self.review.policy)))

    @on(Checklist.EvidenceWanted)
    def _evidence_wanted(self) -> None:
        if self.single:
            self.add_class("-single-evidence")
        self.evidence.focus()

    @on(LineView.Chosen)
    def _chosen(self, message: LineView.Chosen) -> None:
        self._open_target(message.target, page=False)

    @on(TabStrip.Picked)
    def _tab_picked(self, message: TabStrip.Picked) -> None:
        self.remove_class("-single-evidence")
        self._go_to(message.name)  # type: ignore[arg-type]

    # --- actions ----------------------------------------------------------------------------------------------------

    def action_pane(self, number: int) -> None:
        self.remove_class("-single-evidence")
        self._go_to(list(TAB_TITLES)[number - 1])

    def _go_to(self, name: PaneName) -> None:
        self._activate(name)
        self.pane(name).focus()

    def action_next_pane(self) -> None:
        self._step(1)

    def action_previous_pane(self) -> None:
        self._step(-1)

    def _step(self, direction: int) -> None:
        """The neighbour of the focused part, round the end; the evidence is the last where it is on the screen."""
        stops: list[Widget] = [self.pane(name) for name in TAB_TITLES]
        if not self.single:
            stops.append(self.evidence)
        at = stops.index(self.focused) if self.focused in stops else -1 if direction > 0 else 0
        stop = stops[(at + direction) % len(stops)]
        self.remove_class("-single-evidence")
        if stop.id in TAB_TITLES:
            self._activate(stop.id)
        stop.focus()

    def action_zoom(self) -> None:
        if self.narrow:
            return
        self.zoomed = not self.zoomed
        self._arrange()

    def action_back(self) -> None:
        """From the open evidence to the checklist, from the zoomed pane to all of them; else to the checklist."""
        if self.has_class("-single-evidence"):
            self.remove_class("-single-evidence")
        elif self.zoomed:
            self.zoomed = False
            self._arrange()
            return
        self._go_to("checklist")

    def action_chinese(self) -> None:
        self.chinese = not self.chinese
        self.checklist.show_review(self.review, chinese=self.chinese)
        self._show_evidence()

    def action_results(self) -> None:
        """To the results, which stand below the eval scores."""
        self._go_to("evals")
        self.pane("evals").go_to_heading("Results")

    def action_follow(self) -> None:
        view = self.focused
        target = view.target if isinstance(view, LineView) else None
        if target is None or target.item:
            self.reviewer.say("This line speaks about nothing that could be opened.")
        else:
            self._open_target(target, page=True)

    def _open_target(self, target: Target, *, page: bool) -> None:
        """Open a file in the diff if it is changed there, everything else as a page in the browser."""
        files = self.review.snapshot.files.value or ()
        changed = any(target.path in file.paths for file in files)
        if target.job and not page:
            self._show_log(target.job)
            return
        if target.path and changed and not page:
            self._show_diff(target.path, target.line)
            return
        url = target.url or (
            self.review.snapshot.ref.blob_url(self.review.snapshot.head, target.path, target.line)
            if target.path
            else ""
        )
        if url.startswith(("https://", "http://")):
            self.app.open_url(url)
            self.reviewer.say(f"Asked the browser for {url}")

    def _show_log(self, job_id: int) -> None:
        from reviewer_tui.tui.screens.log import LogScreen

        jobs = (job for run in self.review.snapshot.runs.value or () for job in run.jobs)
        job = next((job for job in jobs if job.id == job_id), None)
        if job is not None:
            self.app.push_screen(LogScreen(self.review, job))

    def action_diff(self) -> None:
        view = self.focused
        target = view.target if isinstance(view, LineView) else None
        self._show_diff(target.path if target else "", target.line if target else None)

    def _show_diff(self, path: str, number: int | None) -> None:
        from reviewer_tui.tui.screens.diff import DiffScreen

        self.app.push_screen(DiffScreen(path, number))

    def action_sign_off(self) -> None:
        from reviewer_tui.tui.screens.signoff import SignOffScreen

        self.app.push_screen(SignOffScreen())

    # --- search -----------------------------------------------------------------------------------------------------

    def action_search(self) -> None:
        self._searched = self.focused if isinstance(self.focused, LineView) else self.checklist
        self.query_one(SearchBar).open()

    @on(SearchBar.Sought)
    def _sought(self, message: SearchBar.Sought) -> None:
        found = self._searched.find(message.text, forward=message.forward, stay=message.stay)
        self.query_one(SearchBar).tell(found)

    @on(SearchBar.Left)
    def _search_left(self) -> None:
        self._searched.find("")
        self._searched.focus()


def _pane_of_check(check: str) -> PaneName:
    """The pane that shows a check's evidence; the checklist for a check without a pane."""
    return next((item.pane for item in checklist_map().items if check in item.checks), "checklist")
