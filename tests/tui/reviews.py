"""A review made by hand, and a desk that holds it: what the screens are tested on."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from reviewer_tui.model.checklist import ChecklistItem, ChecklistTemplate, Decision, ReviewNotes
from reviewer_tui.model.config import ConfigChanges, Entry, FieldChange, KeyChange, Point
from reviewer_tui.model.errors import DataError
from reviewer_tui.model.finding import CheckResult, Finding, Status
from reviewer_tui.model.part import complete, unavailable
from reviewer_tui.model.pull_request import ChangedFile, Comment, PullRequestInfo, PullRequestRef
from reviewer_tui.model.recipe import UpstreamPullRequest
from reviewer_tui.model.result import BenchmarkResult, EvalScore, Published, PublishedRun
from reviewer_tui.model.run import CheckRun, CommitStatus, JobLog, Run
from reviewer_tui.model.snapshot import Snapshot, Trees
from reviewer_tui.model.tree import DictTree, git_blob_id
from reviewer_tui.policy.eval_bars import EvalBar, EvalBars
from reviewer_tui.policy.layout import discover_layout
from reviewer_tui.policy.policy import Policy, PolicyCheck
from reviewer_tui.review.desk import ComposedSignOff, Moment, Progress
from reviewer_tui.review.session import Review
from reviewer_tui.store.drafts import Conflict

if TYPE_CHECKING:
    from reviewer_tui.review.posting import Poster

HEAD = "21d6bbb" + "1" * 33
BASE = "e5c9a01" + "2" * 33
MAIN = "a007419" + "3" * 33
NOW = datetime(2026, 8, 12, 10, 0, 12, tzinfo=UTC)
CONFIG = "configs/nvidia-master.yaml"
KEY = "qwen3.5-fp4-b200-sglang-mtp"

ITEMS = (
    ("1", "latest", "Verified that this is the [latest version](https://example.org/list) of the checklist."),
    ("2", "quality", "Verified the general code quality of the change."),
    ("3", "validation", "Verified that the change passed PR validation; link to the run."),
    ("4", "evals", "Verified that it passes evals; link to the scores."),
    ("5", "chat_template", "Verified that speculative decoding uses the chat template."),
    ("6", "golden_al", "If agentic, verified the synthetic acceptance length against the golden curve."),
    ("7", "deprecated", "Verified with MODELS.md that nothing deprecated is submitted."),
    ("11", "recipe", "Verified that the recipe is documented upstream."),
    ("11a", "recipe_merged", "Verified that the linked recipe is MERGED."),
    ("12", "item-12", "Something new that this program has never heard of."),
)

RESULTS = (
    ("owner", 0, Status.PASS, "Ankur-singh owns the master config"),
    ("sweep", 1, Status.PASS, "13/13 lanes, run 31628689774"),
    ("evals", 2, Status.PASS, "4/4, lowest 0.955, bar 0.94"),
    ("recipe", 3, Status.FAIL, "1 argument differs from the merged recipe"),
    ("reuse", 4, Status.UNVERIFIED, "the conversation is not known"),
    ("template", 5, Status.PASS, "the newest template"),
    ("deprecated", 7, Status.PASS, "qwen3.5 8k1k fp4 is active"),
    ("chat_template", 9, Status.PASS, "--use-chat-template, script line 61"),
    ("golden_al", 11, Status.NOT_APPLICABLE, "not agentic"),
    ("check-16", 16, Status.JUDGEMENT, "unknown to this program"),
)

OLD_CONFIG = "".join(
    [
        "# master config\n",
        "dsr1-fp8-h200-sglang:\n  image: lmsysorg/sglang:v0.5.14\n",
        *(f"  note{i}: value {i}\n" for i in range(30)),
        f"{KEY}:\n  image: lmsysorg/sglang:v0.5.14-cu130\n  model: nvidia/Qwen3.5-NVFP4\n  runner: b200\n",
        "  search-space:\n  - { tp: 4, ep: 1, conc-list: [4], spec-decoding: mtp }\n",
        "  - { tp: 2, ep: 1, conc-list: [4, 64], spec-decoding: mtp }\n",
        "other-key:\n  image: x\n",
    ]
)
NEW_CONFIG = OLD_CONFIG.replace(
    "  - { tp: 2, ep: 1, conc-list: [4, 64], spec-decoding: mtp }\n",
    "  - { tp: 2, ep: 1, conc-list: [4, 64], spec-decoding: mtp }\n"
    "  - { tp: 2, ep: 2, conc-list: [16, 32, 64], spec-decoding: mtp }\n",
).replace("Qwen3.5-NVFP4\n", "Qwen3.5-NVFP4-V2\n")
CHANGELOG = "- config-keys: [qwen3.5-fp4-b200-sglang-mtp]\n  description: TEP2 arm\n"


def _policy() -> Policy:
    items = tuple(
        ChecklistItem(label=label, name=name, text=text, indent=2 if label.endswith("a") else 0)
        for label, name, text in ITEMS
    )
    template = ChecklistTemplate(path="docs/LIST.md", text="", opening="", items=items, fenced=True)
    chinese = msgspec.structs.replace(
        template,
        items=tuple(msgspec.structs.replace(item, text=f"已确认第 {item.label} 项：中文说明。") for item in items),
    )
    bar = EvalBar(task="gsm8k", value=0.94, path="thresholds.yaml", line=3, prefix="qwen3.5")
    return Policy(
        revision=MAIN,
        layout=discover_layout(DictTree({})),
        template=complete(template),
        translation=complete(chinese),
        checks=tuple(PolicyCheck(name=name, number=number, title=name) for name, number, *_ in RESULTS),
        owners=unavailable("The owners were not read."),
        deprecations=unavailable("The models file was not read."),
        eval_bars=complete(EvalBars(path="thresholds.yaml", default={}, models={"qwen3.5": {"gsm8k": bar}})),
        golden=unavailable("The curves were not read."),
    )


def _results() -> tuple[CheckResult, ...]:
    findings = {
        "evals": (
            Finding(status=Status.PASS, message="All 4 expected eval rows are there."),
            Finding(
                status=Status.PASS,
                message="Lowest strict 0.966, lowest flexible 0.955.",
                path="utils/evals/thresholds.yaml",
                line=3,
                commit=MAIN,
                expected=">= 0.94",
                actual="0.955",
            ),
        ),
        "recipe": (
            Finding(
                status=Status.FAIL,
                message="The attention backend differs.",
                path=CONFIG,
                line=39,
                commit=HEAD,
                expected="trtllm_mha",
                actual="flashinfer",
            ),
        ),
    }
    return tuple(
        CheckResult(
            name=name,
            number=number,
            title=name,
            status=status,
            summary=summary,
            findings=findings.get(name, ()),
            text="Look at everything twice." if name == "check-16" else "",
        )
        for name, number, status, summary in RESULTS
    )


def _changes() -> ConfigChanges:
    entry = Entry(key=KEY, path=CONFIG, line=34, end_line=41, fields={})
    points = tuple(
        Point(key=KEY, scenario="8k1k", label="8k1k tp2 ep2 mtp", conc=conc, row={}, line=41, evaluated=conc > 16)
        for conc in (16, 32, 64)
    )
    change = KeyChange(
        key=KEY,
        change="changed",
        old=entry,
        new=entry,
        fields=(
            FieldChange(
                field="model", old="nvidia/Qwen3.5-NVFP4", new="nvidia/Qwen3.5-NVFP4-V2", old_line=36, new_line=36
            ),
        ),
        points_added=points,
        points_kept=6,
        files=("benchmarks/single_node/qwen3.5_fp4_b200_mtp.sh",),
    )
    return ConfigChanges(keys=(change,))


def _run() -> Run:
    names = [f"single-node 8k1k / {KEY} (c{conc})" for conc in range(9)] + [f"eval / {KEY} {i}" for i in range(4)]
    jobs = tuple(
        CheckRun(id=i, name=name, status="completed", conclusion="success", head_sha=HEAD)
        for i, name in enumerate(names)
    )
    skipped = CheckRun(id=99, name="multi-node / x", status="completed", conclusion="skipped", head_sha=HEAD)
    return Run(
        id=31628689774,
        attempt=1,
        path=".github/workflows/sweep.yml",
        event="pull_request",
        status="completed",
        conclusion="success",
        head_sha=HEAD,
        created_at="2026-08-11T09:00:00Z",
        url="https://github.com/o/r/actions/runs/31628689774",
        jobs=(*jobs, skipped),
    )


def _status() -> CommitStatus:
    return CommitStatus(
        id=1,
        context="codeowner-signoff-verify",
        state="failure",
        description="Verdict: REJECTED",
        url="https://github.com/o/r/actions/runs/1",
        updated_at="2026-08-11T10:00:00Z",
        creator="github-actions[bot]",
        creator_is_bot=True,
    )


def _result(run_id: int, throughput: float, interactivity: float) -> BenchmarkResult:
    return BenchmarkResult(
        run_id=run_id,
        model_prefix="qwen3.5",
        hardware="b200",
        framework="sglang",
        precision="fp4",
        spec_decoding="mtp",
        scenario="fixed-seq-len",
        isl=8192,
        osl=1024,
        parallelism="tp2 ep2",
        conc=16,
        throughput_per_gpu=throughput,
        interactivity=interactivity,
    )


def _evals() -> tuple[EvalScore, ...]:
    return tuple(
        EvalScore(
            run_id=31628689774,
            task="gsm8k",
            model="nvidia/Qwen3.5-NVFP4-V2",
            model_prefix="qwen3.5",
            hardware="b200",
            framework="sglang",
            precision="fp4",
            spec_decoding="mtp",
            conc=conc,
            parallelism=f"tp2 ep{ep}",
            strict=strict,
            flexible=strict - 0.01,
            samples=1319,
        )
        for ep, conc, strict in ((1, 32, 0.97), (1, 64, 0.966), (2, 32, 0.969), (2, 64, 0.968))
    )


def _snapshot() -> Snapshot:
    files = (
        ChangedFile(
            path=CONFIG,
            status="modified",
            old_blob=git_blob_id(OLD_CONFIG.encode()),
            new_blob=git_blob_id(NEW_CONFIG.encode()),
            additions=2,
            deletions=1,
        ),
        ChangedFile(
            path="perf-changelog.yaml",
            status="added",
            new_blob=git_blob_id(CHANGELOG.encode()),
            additions=2,
            deletions=0,
        ),
    )
    return Snapshot(
        ref=PullRequestRef("SemiAnalysisAI/InferenceX", 2550),
        source="clone",
        taken_at="2026-08-12T10:00:00+00:00",
        head=HEAD,
        merge_base=BASE,
        default_branch=MAIN,
        files=complete(files),
        commits=unavailable("not read"),
        info=complete(
            PullRequestInfo(
                title="perf(qwen3.5-fp4-b200-sglang-mtp): add TEP2 arm",
                author="someone",
                state="open",
                body="Adds one arm.\n\x1b[31mnot red\x1b[0m [bold]not bold[/]",
            )
        ),
        conversation=complete(
            (
                Comment(
                    id=1,
                    kind="issue_comment",
                    author="mallory",
                    body="Looks good \u202egnp.exe\nsecond line",
                    created_at="2026-08-11T08:00:00Z",
                    association="COLLABORATOR",
                    url="https://github.com/o/r/pull/2550#issuecomment-1",
                ),
            )
        ),
        runs=complete((_run(),)),
        statuses=complete((_status(),)),
        evals=complete(_evals()),
        results=complete((_result(31628689774, 7534.5, 120.16),)),
        published=complete(
            Published(
                rows=(_result(31400000001, 7118.1, 114.25),),
                runs=(
                    PublishedRun(
                        id=31400000001,
                        commit="c" * 40,
                        published_at="2026-08-01T09:00:00Z",
                        url="https://github.com/o/r/actions/runs/31400000001",
                    ),
                ),
            )
        ),
        upstream=complete(
            (
                UpstreamPullRequest(
                    repository="sgl-project/sglang",
                    number=34357,
                    title="B200 NVFP4 with MTP",
                    state="merged",
                    url="https://github.com/sgl-project/sglang/pull/34357",
                    merged_at="2026-08-11T07:00:00Z",
                ),
            )
        ),
    )


def make_review() -> Review:
    """The review of a pull request like #2550, with one failing check so that every letter occurs."""
    old, new = {CONFIG: OLD_CONFIG}, {CONFIG: NEW_CONFIG, "perf-changelog.yaml": CHANGELOG}
    return Review(
        snapshot=_snapshot(),
        trees=Trees(
            policy=DictTree({}, MAIN),
            base=DictTree(old, BASE),
            head=DictTree(new, HEAD),
            default_branch=DictTree({}, MAIN),
        ),
        policy=_policy(),
        changes=_changes(),
        results=_results(),
        review_date="2026-08-12",
        signer="Ankur-singh",
    )


def without_data(review: Review) -> Review:
    """The same review from a source that knows files only."""
    why = "A clone holds no runs.", "Start with a token: reviewer-tui 2550"
    snapshot = msgspec.structs.replace(
        review.snapshot,
        info=unavailable(*why),
        conversation=unavailable(*why),
        runs=unavailable(*why),
        evals=unavailable(*why),
        results=unavailable(*why),
        upstream=unavailable(*why),
        statuses=unavailable(*why),
        published=unavailable(*why),
    )
    return msgspec.structs.replace(review, snapshot=snapshot)


class FakeDesk:
    """A desk in memory. `fail` makes the next loads or saves fail; `gate` holds a load until it is set, `rest`
    comes after the review is shown."""

    def __init__(self, review: Review | None = None, *, folder: Path | None = None, moments: int = 0) -> None:
        self.review = review or make_review()
        self.folder = folder
        self.title = "InferenceX #2550"
        self.moments = tuple(Moment(f"m{i}", f"the {i}. moment") for i in range(1, moments + 1))
        self.kept: ReviewNotes | None = None
        self.saves = 0
        self.fail_load: list[Exception] = []
        self.fail_save = ""
        self.gates: dict[str | None, threading.Event] = {}
        self.marks: frozenset[str] = frozenset()
        self.told: tuple[str, ...] = ()
        self.rest: Review | Exception | None = None
        self.rest_gate = threading.Event()
        self.log: JobLog | None = None
        self.kept_conflicts: tuple[Conflict, ...] = ()

    def load(self, moment: str | None, progress: Progress) -> Review:
        progress("reading the pull request")
        if moment in self.gates:
            assert self.gates[moment].wait(10)
        if self.fail_load:
            raise self.fail_load.pop()
        review = self.review
        if moment is not None:
            title = f"at {moment}"
            info = msgspec.structs.replace(
                review.snapshot.info.value or PullRequestInfo(title="", author="", state=""), title=title
            )
            review = msgspec.structs.replace(
                review, snapshot=msgspec.structs.replace(review.snapshot, info=complete(info))
            )
        return review if self.kept is None else review.with_notes(self.kept)

    def load_rest(self, review: Review, progress: Progress) -> Review | None:
        rest = self.rest
        if rest is not None:
            assert self.rest_gate.wait(10)
        if isinstance(rest, Exception):
            raise rest
        return rest

    def job_log(self, review: Review, job: CheckRun) -> JobLog:
        if self.log is None:
            raise DataError(f"The log of job {job.id} is gone.", "Run it again.")
        return self.log

    def save_notes(self, review: Review) -> None:
        if self.fail_save:
            raise DataError(self.fail_save, "Free some space.")
        self.saves += 1
        self.kept = review.notes

    def notices(self) -> tuple[str, ...]:
        told, self.told = self.told, ()
        return told

    def compose(self, review: Review) -> ComposedSignOff:
        template = review.policy.template.value
        assert template is not None
        notes = review.notes
        drafted = "\n".join(f"- {label}: {mark.note}" for label, mark in notes.marks.items() if mark.note)
        detail = drafted if notes.detail is None else notes.detail
        boxes = [
            f"- [{'x' if notes.mark(item.label).decision is Decision.ACCEPTED else ' '}] {item.text}"
            for item in template.items
        ]
        text = "\n".join(
            ["As a PR reviewer and CODEOWNER, I have reviewed this and have:", *boxes, "", "### Details", detail, ""]
        )
        return ComposedSignOff(
            text=f"{text}\nSigned: `{review.signer}`\n",
            detail=detail,
            unfinished=tuple(
                f"Item {item.label} is not decided."
                for item in template.items
                if notes.mark(item.label).decision is Decision.OPEN
            ),
            lint=(Finding(status=Status.FAIL, message="The recipe is not linked.", line=8),),
            drafts={"4": "Evals: gsm8k strict 0.966-0.970 (run 31628689774)."},
        )

    def save_sign_off(self, review: Review, text: str) -> Path:
        if self.folder is None:
            raise DataError("There is no folder to write to.", "Name one with --output.")
        path = self.folder / f"sign-off-{review.snapshot.ref.number}.md"
        path.write_text(text, encoding="utf-8")
        return path

    def conflicts(self, review: Review) -> tuple[Conflict, ...]:
        return self.kept_conflicts

    def forget_conflicts(self, review: Review) -> None:
        self.kept_conflicts = ()

    def poster(self, review: Review) -> Poster:
        raise DataError("Nothing can be posted from here.", "Save the text.")

    def viewed(self, review: Review) -> frozenset[str]:
        return self.marks

    def save_viewed(self, review: Review, marks: frozenset[str]) -> None:
        self.marks = marks
