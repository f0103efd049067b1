"""What is known about #2550 at each moment of the sample."""

from __future__ import annotations

import msgspec

from reviewer_tui.model.part import complete, partial, unavailable
from reviewer_tui.model.pull_request import ChangedFile, Comment, Commit, PullRequestInfo, PullRequestRef
from reviewer_tui.model.recipe import UpstreamPullRequest
from reviewer_tui.model.result import BenchmarkResult, EvalScore, Published
from reviewer_tui.model.run import CheckRun, Run
from reviewer_tui.model.snapshot import Snapshot, Trees
from reviewer_tui.sample.texts import FIRST_HEAD, MERGED_PAGES, SECOND_HEAD, comment

REF = PullRequestRef("SemiAnalysisAI/InferenceX", 2550)

_FIRST_RUN, _SECOND_RUN = 31432304739, 31628689774
_OLD_MODEL = "nvidia/Qwen3.5-397B-A17B-NVFP4"
_NEW_MODEL = "nvidia/Qwen3.5-397B-A17B-NVFP4-V2"
_SIGNER = "Ankur-singh"
_FIRST_DAY, _SECOND_DAY = "2026-08-11T23:00:00Z", "2026-08-12T23:00:00Z"

_POINT = "qwen3.5 fp4 b200 sgl"
_CANARY = f"canary / / p2.500 | {_POINT} TP4 mtp c4"
_THROUGHPUT = (
    *(f"single-node 8k1k / / p2.500 | {_POINT} TP2 mtp c{conc}" for conc in (4, 8, 16, 32, 64)),
    *(f"single-node 8k1k / / p2.500 | {_POINT} TP2/EP2 mtp c{conc}" for conc in (16, 32, 64)),
)
_EVALS = tuple(f"eval / / p2.500 | {_POINT} TP2{ep} mtp c{c} | eval-only" for ep in ("", "/EP2") for c in (32, 64))
_LANES = (_CANARY, *_THROUGHPUT, *_EVALS)
_AROUND = (
    "check-changelog",
    "setup",
    "canary-select",
    "collect-results / collect-results",
    "collect-evals / collect-evals",
    "upload-changelog-metadata",
    "calc-success-rate",
    "comment-unofficial-run-visualizer",
)
_SKIPPED = (
    "single-node 1k1k /",
    "agentic /",
    "multi-node 1k1k /",
    "multi-node 8k1k /",
    "multi-node agentic /",
    "agentic eval /",
    "multi-node eval /",
    "multi-node agentic eval /",
    "reuse-sweep-gate",
    "compare-results",
    "trigger-ingest",
    "trigger-agentic-ingest",
)


def snapshot_of(moment: str, trees: Trees) -> Snapshot:
    """All that is known at a moment (`first` or `second`) whose trees these are."""
    second = moment == "second"
    commits = (_commit(FIRST_HEAD), _commit(SECOND_HEAD)) if second else (_commit(FIRST_HEAD),)
    runs = (
        _run(_FIRST_RUN, FIRST_HEAD, (*_AROUND, *_LANES), _SKIPPED),
        _run(_SECOND_RUN, SECOND_HEAD, _LANES, (), all_told=False),
    )
    return Snapshot(
        ref=REF,
        source="sample",
        taken_at=_SECOND_DAY if second else _FIRST_DAY,
        head=trees.head.revision,
        merge_base=trees.base.revision,
        default_branch=trees.default_branch.revision,
        files=complete(tuple(_changed(trees, path) for path in ("configs/nvidia-master.yaml", "perf-changelog.yaml"))),
        commits=partial(commits, "Only the commits that were swept are part of the sample."),
        info=partial(
            PullRequestInfo(title="perf(qwen3.5-fp4-b200-sglang-mtp): add TEP2 arm", author="", state="open"),
            "Author, description and labels are not part of the sample.",
        ),
        conversation=partial(
            _conversation(6 if second else 3), "Only what concerns the sign-offs is part of the sample, in other words."
        ),
        runs=partial(runs, "Of the second run's jobs only the measured lanes are told.")
        if second
        else complete(runs[:1]),
        evals=partial(
            _SECOND_EVALS,
            "Only the lowest and the highest scores are told, not which point has which, and no numbers of samples.",
        )
        if second
        else partial(_FIRST_EVALS, "The flexible scores and the numbers of samples are not told."),
        results=partial(_RESULTS, "These are the author's figures; the run that measured them is not known."),
        statuses=unavailable("Commit statuses are not part of the sample."),
        published=partial(_PUBLISHED, "They follow from the gains that the author told; the run is not known."),
        upstream=complete((_RECIPE,) if second else ()),
    )


def _changed(trees: Trees, path: str) -> ChangedFile:
    """A file of the difference; lines are only added."""
    old, new = trees.base.read(path) or b"", trees.head.read(path) or b""
    return ChangedFile(
        path=path,
        status="modified",
        old_blob=trees.base.blob(path),
        new_blob=trees.head.blob(path),
        old_mode="100644",
        new_mode="100644",
        additions=new.count(b"\n") - old.count(b"\n"),
        deletions=0,
    )


def _commit(sha: str) -> Commit:
    return Commit(sha=sha, parents=(), author="", authored_at="", subject="")


def _conversation(count: int) -> tuple[Comment, ...]:
    """The first comments. The numbers of comments are made up, and so is the name of the collaborator."""
    said = (
        ("a-collaborator", "COLLABORATOR", _FIRST_DAY, f"/reuse-sweep-run {_FIRST_RUN}"),
        (_SIGNER, "", _FIRST_DAY, comment("first-sign-off")),
        ("github-actions[bot]", "", _FIRST_DAY, comment("first-verdict")),
        ("a-collaborator", "COLLABORATOR", _SECOND_DAY, f"/reuse-sweep-run {_SECOND_RUN}"),
        (_SIGNER, "", _SECOND_DAY, comment("second-sign-off")),
        ("github-actions[bot]", "", _SECOND_DAY, comment("second-verdict")),
    )
    return tuple(
        Comment(
            id=number,
            kind="issue_comment",
            author=author,
            association=association,
            body=body,
            created_at=day,
            updated_at=day,
            url=f"{REF.url}#issuecomment-{number}",
            is_bot=author.endswith("[bot]"),
        )
        for number, (author, association, day, body) in enumerate(said[:count], start=1)
    )


def _run(run_id: int, head: str, green: tuple[str, ...], skipped: tuple[str, ...], *, all_told: bool = True) -> Run:
    """A green sweep. Of the first run it is told how many jobs were green and skipped, and their names follow from the
    sweep and the workflow; of the second only that its measured lanes were green."""
    url = f"https://{REF.host}/{REF.repository}/actions/runs/{run_id}"
    jobs = tuple(
        CheckRun(
            id=number,
            name=name,
            status="completed",
            conclusion="success" if name in green else "skipped",
            head_sha=head,
            run_id=run_id,
            run_attempt=1,
            app="github-actions",
            url=url,
        )
        for number, name in enumerate((*green, *skipped), start=1)
    )
    return Run(
        id=run_id,
        attempt=1,
        path=".github/workflows/run-sweep.yml",
        event="pull_request",
        status="completed",
        conclusion="success",
        head_sha=head,
        url=url,
        jobs=jobs,
        jobs_complete=all_told,
    )


def _score(run_id: int, model: str, ep: int, conc: int, strict: float, flexible: float | None) -> EvalScore:
    return EvalScore(
        run_id=run_id,
        task="gsm8k",
        model=model,
        model_prefix="qwen3.5",
        hardware="B200",
        framework="sglang",
        precision="fp4",
        spec_decoding="mtp",
        isl=8192,
        osl=1024,
        tp=2,
        ep=ep,
        dp_attn=False,
        conc=conc,
        parallelism=f"tp2 ep{ep}",
        strict=strict,
        flexible=flexible,
        score=strict,
        score_name="em_strict",
    )


_FIRST_EVALS = (
    _score(_FIRST_RUN, _OLD_MODEL, 1, 32, 0.971, None),
    _score(_FIRST_RUN, _OLD_MODEL, 1, 64, 0.971, None),
    _score(_FIRST_RUN, _OLD_MODEL, 2, 32, 0.968, None),
    _score(_FIRST_RUN, _OLD_MODEL, 2, 64, 0.970, None),
)
_SECOND_EVALS = (
    _score(_SECOND_RUN, _NEW_MODEL, 1, 32, 0.970, 0.961),
    _score(_SECOND_RUN, _NEW_MODEL, 1, 64, 0.966, 0.955),
    _score(_SECOND_RUN, _NEW_MODEL, 2, 32, 0.969, 0.960),
    _score(_SECOND_RUN, _NEW_MODEL, 2, 64, 0.968, 0.958),
)


def _result(conc: int, throughput: float, interactivity: float) -> BenchmarkResult:
    """A point of the new arm."""
    return BenchmarkResult(
        run_id=0,
        model_prefix="qwen3.5",
        hardware="B200",
        framework="sglang",
        precision="fp4",
        spec_decoding="mtp",
        scenario="fixed-seq-len",
        isl=8192,
        osl=1024,
        tp=2,
        ep=2,
        parallelism="tp2 ep2",
        conc=conc,
        throughput_per_gpu=throughput,
        interactivity=interactivity,
    )


def _published(result: BenchmarkResult, gain: float, faster: float) -> BenchmarkResult:
    """The published row that a point gains so much over, in per cent: throughput, then interactivity."""
    return msgspec.structs.replace(
        result,
        throughput_per_gpu=round(result.throughput_per_gpu / (1 + gain / 100), 1),
        interactivity=round((result.interactivity or 0.0) / (1 + faster / 100), 3),
    )


_RESULTS = (_result(16, 7534.5, 120.16), _result(32, 10319.8, 80.41), _result(64, 13290.8, 51.97))
_GAINS = ((5.85, 5.17), (8.94, 7.26), (9.46, 9.06))
_PUBLISHED = Published(rows=tuple(_published(row, *gain) for row, gain in zip(_RESULTS, _GAINS, strict=True)))

_RECIPE = UpstreamPullRequest(
    repository="sgl-project/sglang",
    number=34357,
    title="Update Qwen3.5 B200 NVFP4 MTP config",
    state="merged",
    url="https://github.com/sgl-project/sglang/pull/34357",
    merge_commit=MERGED_PAGES,
    merged_at=_FIRST_DAY,
    files=(
        "docs/cookbook/autoregressive/Qwen/Qwen3.5.mdx",
        "docs/src/snippets/autoregressive/qwen35-deployment.jsx",
    ),
    summary="B200 NVFP4 with MTP: tp 2, ep 2",
)
