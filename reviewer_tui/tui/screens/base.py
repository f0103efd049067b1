"""What all screens that show a review have in common."""

from __future__ import annotations

from typing import ClassVar, cast

from textual.screen import Screen

from reviewer_tui.review.session import Review
from reviewer_tui.tui.actions import LAST, Action, Place, actions_of
from reviewer_tui.tui.app import ReviewerApp
from reviewer_tui.tui.texts.header import header_lines
from reviewer_tui.tui.widgets.bars import HeaderBar, KeyBar

# Columns from which the layout is wide, or medium; rows from which there is room for evidence below.
WIDE = 160
MEDIUM = 101
TALL = 20


class ReviewerScreen(Screen[None]):
    """A screen on the app's review: a header above, the keys below."""

    ESCAPE_TO_MINIMIZE = False
    AUTO_FOCUS = ""
    PLACES: ClassVar[tuple[Place, ...]] = ()
    DEFAULT_CSS = """
    ReviewerScreen { layout: vertical; }
    """

    @property
    def reviewer(self) -> ReviewerApp:
        return cast(ReviewerApp, self.app)

    @property
    def review(self) -> Review:
        assert self.reviewer.review is not None
        return self.reviewer.review

    @property
    def places(self) -> tuple[Place, ...]:
        """Where the actions that work now belong to, the nearest first."""
        return (*self.PLACES, "list", "everywhere")

    @property
    def wide(self) -> bool:
        """Room for everything side by side."""
        return self.app.size.width >= WIDE

    @property
    def narrow(self) -> bool:
        """Room for one thing at a time."""
        return self.app.size.width < MEDIUM

    @property
    def short(self) -> bool:
        """Too few rows for anything beside the one thing."""
        return self.app.size.height < TALL

    def fit(self) -> None:
        """Fit the layout to the size of the terminal."""
        self.set_class(self.wide, "-wide")
        self.set_class(not self.wide and not self.narrow, "-medium")
        self.set_class(self.narrow, "-narrow")
        self.set_class(self.short, "-short")
        self.show_header()

    def on_resize(self) -> None:
        self.fit()

    def review_changed(self) -> None:
        """The review, or what was composed of it, is another one now."""
        self.show_header()

    def show_header(self) -> None:
        app = self.reviewer
        moment = ""
        if app.moment is not None and len(app.desk.moments) > 1:
            at = app.desk.moments.index(app.moment) + 1
            moment = f"t  moment {at} of {len(app.desk.moments)}: {app.moment.title}"
        review, now, short = self.review, app.now(), self.short
        for bar in self.query(HeaderBar):
            bar.show_header(lambda width: header_lines(review, now, width, moment=moment, short=short))

    def offers(self, action: Action) -> bool:
        """Whether the footer names an action now; one that would do nothing is only in the help."""
        return True

    def show_keys(self) -> None:
        """The footer: the actions of the places with a place there, in order."""
        shown = [action for action in actions_of(*self.places) if action.footer and self.offers(action)]
        if self.reviewer.queue is None:
            shown = [action for action in shown if action.name != "queue"]
        if any(action.name == "back" for action in shown):
            shown = [action for action in shown if action.name != "quit"]
        order = {place: i for i, place in enumerate(self.places)}
        shown.sort(
            key=lambda action: (action.footer >= LAST, action.footer >= LAST or order[action.place], action.footer)
        )
        for bar in self.query(KeyBar):
            bar.show_actions(shown)
