"""The sign-off screen, and copying."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from textual.widgets import TextArea

from reviewer_tui.model.part import complete
from reviewer_tui.review.desks import SampleDesk
from reviewer_tui.signoff.comment_text import LONGEST_BODY
from reviewer_tui.tui import clipboard
from reviewer_tui.tui.app import ReviewerApp
from reviewer_tui.tui.screens.review import ReviewScreen
from reviewer_tui.tui.screens.signoff import editor_command
from tests.tui.reviews import FakeDesk
from tests.tui.screen import rows, settle, shown_app, until

Open = Callable[..., ReviewerApp]
SIZE = (140, 40)


def text(app: ReviewerApp) -> str:
    return "\n".join(rows(app))


def said(app: ReviewerApp) -> str:
    return "\n".join(notification.message for notification in app._notifications)


async def test_the_detail_section_is_edited_beside_its_preview(desk: FakeDesk, open_app: Open) -> None:
    app = open_app(desk)
    async with shown_app(app, SIZE) as pilot:
        await pilot.press("s", "i", *"scope. q s", "escape")
        await until(pilot, lambda: desk.kept is not None and desk.kept.detail == "scope. q s")
        assert "scope. q s" in rows(app)[-14] or "scope. q s" in text(app).split("Preview")[1]
        assert "Detail section, as edited" in text(app)
        await pilot.press("escape")
        await settle(pilot)
        assert isinstance(app.screen, ReviewScreen)
        await pilot.press("s")
        await settle(pilot)
        assert app.screen.query_one(TextArea).text == "scope. q s"


async def test_lines_of_boxes_are_no_part_of_what_is_edited(open_app: Open, tmp_path: Path) -> None:
    """One box ticked after the edit, the others still open: their lines follow, once each."""
    app = open_app(SampleDesk(tmp_path))
    async with shown_app(app, SIZE) as pilot:
        await pilot.press("s", "i", *"typed", "escape")
        await until(pilot, lambda: app.composed is not None and "typed" in app.composed.text)
        assert "is left open" not in app.screen.query_one(TextArea).text
        await pilot.press("escape", "home", "down", "down", "space", "s")
        await until(
            pilot, lambda: app.composed is not None and "- [x] Verified that this PR has passed" in app.composed.text
        )
        assert app.composed is not None
        left = [line for line in app.composed.text.split("\n") if "is left open" in line]
        assert not [line for line in left if line.startswith("- Item 3 ")]
        assert len([line for line in left if line.startswith("- Item 2 ")]) == 1
        assert len(left) == len(set(left))
        assert "typed" in app.screen.query_one(TextArea).text


async def test_drafting_again_forgets_the_edited_section(desk: FakeDesk, open_app: Open) -> None:
    app = open_app(desk)
    async with shown_app(app, SIZE) as pilot:
        await pilot.press("e", *"mine", "escape", "s", "i", "x", "escape")
        await until(pilot, lambda: desk.kept is not None and desk.kept.detail is not None)
        await pilot.press("r")
        await until(pilot, lambda: desk.kept is not None and desk.kept.detail is None)
        assert app.screen.query_one(TextArea).text == "- 1: mine"


async def test_faults_and_open_ends_are_listed_faults_first(desk: FakeDesk, open_app: Open) -> None:
    app = open_app(desk)
    async with shown_app(app, SIZE) as pilot:
        await pilot.press("s")
        await settle(pilot)
        below = text(app).split("Lint")[1]
        assert "1 fault, 0 remarks, 10 unfinished" in below
        assert below.index("F The recipe is not linked.  line 8") < below.index("open Item 1 is not decided.")


async def test_a_text_too_long_for_a_comment_is_a_fault(desk: FakeDesk, open_app: Open) -> None:
    app = open_app(desk)
    async with shown_app(app, SIZE) as pilot:
        assert app.review is not None
        app.write_notes(msgspec.structs.replace(app.review.notes, detail="x" * LONGEST_BODY))
        await pilot.press("s")
        await until(pilot, lambda: "characters too long for one comment" in text(app))


async def test_saving_says_where(desk: FakeDesk, open_app: Open, tmp_path: Path) -> None:
    app = open_app(desk)
    async with shown_app(app, SIZE) as pilot:
        await pilot.press("s", "w")
        await until(pilot, lambda: "Saved: " in said(app))
        path = tmp_path / "sign-off-2550.md"
        assert str(path) in said(app)
        assert app.composed is not None
        assert path.read_text(encoding="utf-8") == app.composed.text


async def test_saving_that_fails_says_so(open_app: Open) -> None:
    app = open_app(FakeDesk())
    async with shown_app(app, SIZE) as pilot:
        await pilot.press("s", "w")
        await until(pilot, lambda: "There is no folder to write to." in said(app))


async def test_copying_uses_the_machines_own_program(
    desk: FakeDesk, open_app: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "clipboard"
    program = tmp_path / "bin" / "xclip"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ncat > {target}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    monkeypatch.setenv("DISPLAY", ":0")
    app = open_app(desk)
    async with shown_app(app, SIZE) as pilot:
        await pilot.press("s", "c")
        await until(pilot, lambda: "with xclip" in said(app))
        assert app.composed is not None
        assert target.read_text(encoding="utf-8") == app.composed.text


async def test_copying_through_the_terminal_also_saves_a_file(desk: FakeDesk, open_app: Open, tmp_path: Path) -> None:
    app = open_app(desk)
    async with shown_app(app, SIZE) as pilot:
        await pilot.press("s", "c")
        await until(pilot, lambda: "by OSC 52" in said(app))
        assert f"Also saved: {tmp_path / 'sign-off-2550.md'}" in said(app)
        assert app.composed is not None
        assert app.clipboard == app.composed.text


@pytest.mark.parametrize(
    ("environment", "platform", "there", "command"),
    [
        ({"DISPLAY": ":0"}, "linux", {"xclip", "xsel"}, "xclip"),
        ({"DISPLAY": ":0"}, "linux", {"xsel"}, "xsel"),
        ({"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}, "linux", {"wl-copy", "xclip"}, "wl-copy"),
        ({"DISPLAY": ":0", "SSH_CONNECTION": "1"}, "linux", {"xclip"}, None),
        ({}, "darwin", {"pbcopy"}, "pbcopy"),
        ({"WSL_DISTRO_NAME": "u"}, "linux", {"clip.exe"}, "clip.exe"),
        ({}, "linux", {"xclip"}, None),
    ],
)
def test_the_clipboard_program_is_the_right_machines(
    environment: dict[str, str], platform: str, there: set[str], command: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: name if name in there else None)
    found = clipboard.native_command(environment, platform)
    assert (found[0] if found else None) == command


def test_a_clipboard_program_that_fails_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clipboard, "native_command", lambda environment: ["false"])
    assert clipboard.copy_natively("x") is None
    monkeypatch.setattr(clipboard, "native_command", lambda environment: ["/nowhere/at-all"])
    assert clipboard.copy_natively("x") is None


def test_the_editor_is_the_reviewers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "code --wait")
    assert editor_command() == ["code", "--wait"]
    monkeypatch.setenv("VISUAL", "vim")
    assert editor_command() == ["vim"]
    monkeypatch.delenv("VISUAL")
    monkeypatch.delenv("EDITOR")
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert editor_command() is None


async def test_comparing_with_the_posted_sign_off(desk: FakeDesk, open_app: Open) -> None:
    review = desk.review
    app = open_app(desk)
    async with shown_app(app, SIZE) as pilot:
        await pilot.press("s", "D")
        await until(pilot, lambda: "No sign-off of yours is posted." in said(app))
    body = desk.compose(review).text.replace("evals; link", "evals, link").replace("\n", "\r\n")
    comments = review.snapshot.conversation.value or ()
    posted = msgspec.structs.replace(comments[0], author="Ankur-Singh", body=body)
    snapshot = msgspec.structs.replace(review.snapshot, conversation=complete((posted,)))
    desk.review = msgspec.structs.replace(review, snapshot=snapshot)
    app = open_app(desk)
    async with shown_app(app, SIZE) as pilot:
        await pilot.press("s", "D")
        await settle(pilot)
        assert "From the sign-off posted by Ankur-Singh on 2026-08-11 to this one" in text(app)
        changed = [row for row in rows(app) if " - - [ ]" in row or " + - [ ]" in row]
        assert len(changed) == 2
        assert "passes evals, link" in changed[0]
        assert "passes evals; link" in changed[1]
