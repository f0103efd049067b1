"""`check`: reports, exit codes, several pull requests."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run

CONTRACT = {
    "schema", "repository", "number", "head", "merge_base", "source", "policy", "review_date", "signer", "verdict",
    "checks", "submitted",
}  # fmt: skip


def statuses(report: dict) -> dict[str, str]:
    return {check["name"]: check["status"] for check in report["checks"]}


def test_the_report_of_one_pull_request(run: Run, at: tuple[str, ...]) -> None:
    ran = run("check", "7", *at, "--json")
    report = ran.json
    assert set(report) >= CONTRACT
    assert ran.code == 3
    assert report["verdict"] == "UNDECIDED"
    assert report["submitted"] == [
        {"key": "qwen3.5-fp4-b200-sglang-mtp", "change": "changed", "points_added": 3, "points_removed": 0}
    ]
    assert statuses(report)["owner"] == statuses(report)["image"] == statuses(report)["deprecated"] == "pass"
    assert statuses(report)["sweep"] == "unverified"


def test_checks_keep_the_policys_order_and_an_unknown_one_is_shown_with_its_text(run: Run, at: tuple[str, ...]) -> None:
    report = run("check", "7", *at, "--json").json
    assert report["policy"]["checks"] == ["owner", "sweep", "template", "image", "deprecated", "check-99"]
    unknown = report["checks"][-1]
    assert unknown["status"] == "judgement"
    assert unknown["number"] == 99
    assert "Look at the sky." in unknown["text"]
    assert "Look at the sky." in run("check", "7", *at).out


def test_a_failing_check_rejects(run: Run, at: tuple[str, ...]) -> None:
    ran = run("check", "8", *at)
    assert ran.code == 1
    assert ran.out.splitlines()[2].startswith("REJECTED")
    assert "rocm/sgl-dev" in ran.out


def test_yaml_that_does_not_parse_is_located_and_the_rest_still_works(run: Run, at: tuple[str, ...]) -> None:
    ran = run("check", "9", *at, "--json")
    assert ran.code in (1, 3)
    places = [(problem["path"], problem["line"]) for problem in ran.json["problems"]]
    assert any(path == "configs/nvidia-master.yaml" and line for path, line in places)
    assert statuses(ran.json)["owner"] == "pass"


def test_several_pull_requests_are_one_line_each(run: Run, at: tuple[str, ...]) -> None:
    ran = run("check", "6..10", *at, "--json")
    reports = [json.loads(line) for line in ran.out.splitlines()]
    assert [report["number"] for report in reports] == [7, 8, 9, 10]
    assert "1 of 5 numbers have no pull request here." in ran.err
    assert ran.code == 1
    assert len(run("check", "7", "8", *at).out.splitlines()) == 2


def test_a_named_pull_request_that_is_not_there_is_an_error(run: Run, at: tuple[str, ...]) -> None:
    ran = run("check", "7", "404", *at, "--json")
    assert ran.code == 4
    assert "404" in json.loads(ran.out.splitlines()[1])["error"]
    alone = run("check", "404", *at)
    assert alone.code == 4
    assert "refs/pull" in alone.err


def test_bad_input_is_a_sentence_and_a_usage_error(run: Run, at: tuple[str, ...], tmp_path: Path) -> None:
    for arguments in (
        ["check"],
        ["check", "x"],
        ["check", "7", "--date", "tomorrow", *at[:2]],
        ["check", "7", "--signer", "no login", *at[:2]],
        ["check", "7", "8", "--head", "abc", *at],
        ["check", "7", "--offline", *at],
        ["check", "7", "--nonsense"],
        ["nonsense"],
    ):
        ran = run(*arguments)
        assert ran.code == 2, arguments
        assert ran.err.startswith("reviewer-tui: "), arguments
        assert "Traceback" not in ran.err


def test_a_clone_that_is_none_is_a_data_error(run: Run, tmp_path: Path) -> None:
    ran = run("check", "7", "--clone", str(tmp_path))
    assert ran.code == 4
    assert "Traceback" not in ran.err


def test_a_head_that_is_not_of_this_pull_request_is_a_data_error(run: Run, at: tuple[str, ...]) -> None:
    assert run("check", "7", *at, "--head", "0123456789").code == 4


def test_the_head_of_another_pull_request_is_told_loudly(run: Run, at: tuple[str, ...]) -> None:
    other = run("check", "10", *at, "--json").json
    assert other["head_doubt"] is None
    ran = run("check", "7", *at, "--head", other["head"], "--json")
    assert "It is in the history of #10." in ran.json["head_doubt"]
    assert ran.json["verdict"] == "UNDECIDED"
    assert "problem (head): " in run("check", "7", *at, "--head", other["head"]).out


def test_a_clone_does_not_say_that_there_is_no_sign_off(run: Run, at: tuple[str, ...]) -> None:
    template = next(check for check in run("check", "7", *at, "--json").json["checks"] if check["name"] == "template")
    assert template["status"] == "unverified"
    assert template["summary"].startswith("Whether there is a sign-off is not known; ")
    assert "reviewer-tui fetch 7" in template["summary"]


def test_the_signature_of_a_sign_off_names_the_signer(run: Run, clone: Path, tmp_path: Path) -> None:
    text = tmp_path / "sign-off.md"
    text.write_text(
        "As a PR reviewer and CODEOWNER\n"
        "- [x] this is the latest version of PR_REVIEW_CHECKLIST\n\nSigned: `1am9trash`\n"
    )
    options = ("--clone", str(clone), "--date", "2026-08-12", "--sign-off", str(text))
    report = run("check", "7", *options, "--json").json
    assert report["signer"] == "1am9trash"
    assert statuses(report)["template"] == "fail"


def test_a_comment_needs_github(run: Run, at: tuple[str, ...]) -> None:
    url = "https://github.com/SemiAnalysisAI/InferenceX/pull/7#issuecomment-5"
    done = run("lint", "7", url, *at)
    assert done.code == 4
    assert done.err.startswith("reviewer-tui: The comment issuecomment-5 of #7 is not known: ")
    assert "Load it from github.com: reviewer-tui fetch 7" in done.err
