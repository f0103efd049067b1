"""`show PR results` beside what main published, and `show PR runs --log`: online and then without the network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.fake_github.server import FakeGitHub
from tests.fake_github.story_2550 import FIRST_RUN, MAIN_RUN, SECOND_RUN, TOKEN, Story


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGitHub]:
    monkeypatch.setenv("GH_ENTERPRISE_TOKEN", TOKEN)
    story = Story(tmp_path)
    story.go_on()
    with FakeGitHub(story.world) as server:
        yield server


def test_as_text(run: Run, fake: FakeGitHub) -> None:
    at = ("--host", fake.host, "--date", "2026-08-12")
    online = run("show", "2550", "results", *at)
    words = " ".join(online.out.split())
    assert online.code == 0
    assert (
        f"qwen3.5 8k1k b200 sglang fp4 by run {SECOND_RUN}: 3 of 3 points are published: throughput per GPU +5.85 % "
        "to +9.46 %, "
        "interactivity +5.17 % to +9.06 %; 3 of 3 points of the published frontier are surpassed, 0 of 3 measured ones "
        f"lie behind it; published by run {MAIN_RUN} of #2205 at"
    ) in words
    assert "(2026-08-09, 3 days old)" in words
    assert words.count("7534.50 tok/s/GPU (+5.85 %) 120.16 tok/s/user (+5.17 %)") == 2, "once for each sweep"
    fake.stop()
    assert run("show", "2550", "results", *at, "--offline").out.splitlines()[3:] == online.out.splitlines()[3:]


def test_a_bundle_carries_them_to_a_colleague(
    run: Run, fake: FakeGitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = ("--host", fake.host, "--date", "2026-08-12")
    mine = run("show", "2550", "results", "--json", *at).json
    bundle = str(tmp_path / "2550.prbundle")
    assert run("cache", "export", "2550", bundle, "--host", fake.host).code == 0
    fake.stop()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "colleague"))
    imported = run("cache", "import", bundle)
    assert imported.code == 0
    assert f"reviewer-tui 2550 --host {fake.host} --offline" in imported.err
    theirs = run("show", "2550", "results", "--json", *at, "--offline").json
    assert theirs["curves"] == mine["curves"]
    assert len(theirs["curves"]) == 2


def test_as_json(run: Run, fake: FakeGitHub) -> None:
    told = run("show", "2550", "results", "--json", "--host", fake.host, "--date", "2026-08-12").json
    assert told["published"] == {"state": "complete", "reason": ""}
    curve, earlier = told["curves"]
    assert (curve["run_id"], earlier["run_id"]) == (SECOND_RUN, FIRST_RUN)
    assert (curve["name"], curve["scenario"]) == ("qwen3.5 8k1k b200 sglang fp4", "8k1k")
    assert [one["id"] for one in curve["published_by"]] == [MAIN_RUN]
    assert curve["frontiers"] == {"published": 3, "surpassed": 3, "measured": 3, "behind": 0}
    assert {point["why_not"] for point in curve["points"]} == {""}
    assert round(curve["points"][0]["throughput_gain"], 4) == 0.0585
    assert curve["points"][0]["published"]["run_id"] == MAIN_RUN


def test_fetch_brings_them_too_and_says_what_it_could_not(run: Run, fake: FakeGitHub) -> None:
    fake.world.repositories["semianalysisai/inferencex"].runs[MAIN_RUN].artifacts[0].expired = True
    told = run("fetch", "2550", "--host", fake.host)
    assert told.code == 0
    assert f"published: partial. The artifact results_bmk of run {MAIN_RUN} has expired." in told.out
    pane = run("show", "2550", "results", "--host", fake.host, "--offline").out
    assert "not published" in pane
    assert "%" not in pane.split("qwen3.5 8k1k")[1]


def test_recipes_are_held_against_the_pages_that_a_check_read(run: Run, fake: FakeGitHub) -> None:
    key = ("recipes", "qwen3.5-fp4-b200-sglang-mtp", "--ref", "main", "--host", fake.host)
    before = run(*key)
    assert before.code == 4
    assert "There are no recipe pages to compare with." in before.err
    assert "fetch" not in before.err
    run("check", "2550", "--host", fake.host, "--date", "2026-08-12")
    online = run(*key)
    assert online.code in (0, 1, 3), online.err
    assert "docs/cookbook/autoregressive/Qwen/Qwen3.5.mdx" in online.out
    fake.stop()
    assert run(*key, "--offline").out == online.out


def test_the_log_of_a_failed_job(run: Run, fake: FakeGitHub) -> None:
    job = fake.world.repositories["semianalysisai/inferencex"].runs[SECOND_RUN].jobs[-15]
    job.conclusion, job.log = "failure", b"2026-08-12T09:00:00.0000000Z \x1b[31mOut of\x1b[0m \x1b]0;title\x07memory\n"
    at = ("--host", fake.host)
    told = run("show", "2550", "runs", "--log", str(job.id), *at)
    assert (told.code, told.out) == (0, "Out of <U+001B>]0;title<U+0007>memory\n")
    assert f"failure, job {job.id} of run {SECOND_RUN}: the whole log" in told.err
    fake.stop()
    assert run("show", "2550", "runs", "--log", job.name, *at, "--offline").out == told.out
    assert run("show", "2550", "runs", "--log", "no such job", *at, "--offline").code == 2
    assert run("show", "2550", "runs", "--log", "setup", *at, "--offline").code == 2
    assert run("show", "2550", "evals", "--log", "setup", *at, "--offline").code == 2
