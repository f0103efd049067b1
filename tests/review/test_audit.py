"""The audit of a revision: every key as if it were added, and which checks are left out."""

from __future__ import annotations

import msgspec

from reviewer_tui.cli.panes import audit as told
from reviewer_tui.cli.report import audit_report
from reviewer_tui.model.finding import CheckResult, Finding, Status, Verdict
from reviewer_tui.model.tree import DictTree
from reviewer_tui.policy.policy import load_policy
from reviewer_tui.review.audit import Audit, audit, together
from tests.evidence import SCRIPT, VERIFIER, summer
from tests.fake_github.merged import OTHER_WORKFLOW

PROMPT = ".github/codeowner-signoff-verify-prompt.md"
PATCHES = "## Check 9 — Engine patches\nNo patch of the engine without a waiver.\n\n"
PATCH = "sed -i 's/a/b/' /usr/local/lib/python3.12/dist-packages/sglang/srt/server.py\n"


def audited(files: dict[str, bytes | str]) -> Audit:
    policy = {PROMPT: PATCHES + VERIFIER, ".github/workflows/lint.yml": OTHER_WORKFLOW}
    tree = DictTree({**summer(), **policy, **files}, "c" * 40)
    return audit(tree, load_policy(tree), "acme/bench", "2026-08-12")


def patches(found: Audit) -> CheckResult:
    return next(result for result in found.results if result.name == "engine_patch")


def test_what_stands_at_the_revision_fails_and_nothing_was_there_before() -> None:
    script = summer()[SCRIPT]
    assert isinstance(script, str)
    assert not any(finding.status is Status.FAIL for finding in patches(audited({})).findings)
    found = audited({SCRIPT: script + PATCH})
    result = patches(found)
    assert (result.status, result.pre_existing) == (Status.FAIL, ())
    assert found.verdict is Verdict.REJECTED
    (failing,) = [finding for finding in result.findings if finding.status is Status.FAIL]
    assert (failing.path, failing.line) == (SCRIPT, script.count("\n") + 1)
    assert failing.message.endswith("No waiver names the script.")
    assert not any("before this" in finding.message for finding in result.findings)


def test_a_waiver_that_names_the_script_is_weighed() -> None:
    script = summer()[SCRIPT]
    assert isinstance(script, str)
    waiver = {"docs/waiver/2000.md": f"# Waiver\n{SCRIPT.rpartition('/')[2]} is patched.\n"}
    result = patches(audited({SCRIPT: script + PATCH, **waiver}))
    (weighed,) = [finding for finding in result.findings if finding.path == SCRIPT]
    assert weighed.status is Status.JUDGEMENT
    assert "docs/waiver/2000.md names the script" in weighed.message


def test_a_check_that_says_nothing_of_a_key_has_its_own_status() -> None:
    silent = CheckResult(name="engine_patch", number=9, title="", status=Status.UNVERIFIED, summary="not known")
    fine = msgspec.structs.replace(
        silent, status=Status.PASS, summary="fine", findings=(Finding(status=Status.PASS, message="Read."),)
    )
    whole = together([fine, silent])
    assert (whole.status, whole.summary, whole.findings) == (Status.UNVERIFIED, "not known", fine.findings)


def test_the_checks_that_look_at_pull_requests_are_named() -> None:
    found = audited({})
    assert {result.name for result in found.results} == {"engine_patch", "image", "deprecated"}
    assert found.left_out == ("owner", "sweep", "template", "check-99")
    assert audit_report(found)["checks_left_out"] == list(found.left_out)
    assert "Not run, for an audit sees no pull request: owner, sweep, template, check-99." in list(told(found, 200))
