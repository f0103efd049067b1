"""`signoff` and `lint`: what one writes, the other accepts."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run

ALL = ("--tick", "1", "--tick", "validation", "--tick", "3", "--tick", "exceptions")


def test_only_what_the_reviewer_ticks_is_ticked(run: Run, at: tuple[str, ...]) -> None:
    ran = run("signoff", "7", *at, "--tick", "latest", "--note", "evals=no lane ran")
    assert ran.code == 0
    boxes = [line[:5] for line in ran.out.splitlines() if line.startswith("- [")]
    assert boxes == ["- [x]", "- [ ]", "- [ ]", "- [ ]"]
    assert "no lane ran" in ran.out
    assert ran.out.rstrip().endswith("Signed: `ankur-singh`")
    assert "Item 2" in ran.err


def test_a_composed_sign_off_has_no_faults(run: Run, at: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "sign-off.md"
    file.write_text(run("signoff", "7", *at, *ALL).out)
    ran = run("lint", "7", str(file), *at, "--json")
    assert ran.json["faults"] == []
    assert ran.code == 0


def test_lint_names_what_is_missing(run: Run, at: tuple[str, ...], tmp_path: Path) -> None:
    lines = run("signoff", "7", *at, *ALL).out.splitlines(keepends=True)
    file = tmp_path / "sign-off.md"
    file.write_text("".join(line for line in lines if "passes evals" not in line))
    ran = run("lint", "7", str(file), *at)
    assert ran.code == 1
    assert "evals" in ran.out


def test_the_template_can_come_from_a_file(run: Run, at: tuple[str, ...], tmp_path: Path) -> None:
    template = tmp_path / "template.md"
    template.write_text("## Template\n```\nAs a PR reviewer and CODEOWNER, I did:\n- [ ] Danced.\n\nSigned: `X`\n```\n")
    assert "- [x] Danced." in run("signoff", "7", *at, "--template", str(template), "--tick", "1").out
    assert run("signoff", "7", *at, "--template", str(tmp_path / "none.md")).code == 4


def test_an_unknown_item_lists_the_known_ones(run: Run, at: tuple[str, ...]) -> None:
    ran = run("signoff", "7", *at, "--tick", "99")
    assert ran.code == 2
    assert "evals" in ran.err
