"""A pull request that adds an arm to one key, its sweeps and its scores: the ground of the tests about runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from reviewer_tui.checks.check import Evidence
from reviewer_tui.model.part import Part, complete
from reviewer_tui.model.pull_request import Comment, Commit, PullRequestInfo
from reviewer_tui.model.result import BenchmarkResult, EvalScore
from reviewer_tui.model.run import CheckRun, Run
from reviewer_tui.model.snapshot import Trees
from reviewer_tui.model.tree import DictTree
from tests.evidence import CHANGELOG, NVIDIA, NVIDIA_MASTER, VERIFIER, evidence_of, summer

KEY = "qwen3.5-fp4-b200-sglang-mtp"
HEAD, EARLIER, GONE = "a" * 40, "e" * 40, "f" * 40
RUN = 31628689774
PROMPT = ".github/codeowner-signoff-verify-prompt.md"
IMAGE, MODEL = "lmsysorg/sglang:v0.5.14-cu130", "nvidia/Qwen3.5-397B-A17B-NVFP4-V2"

NEW_ARM = "      - { tp: 2, ep: 2, conc-list: [16, 32, 64], spec-decoding: mtp }\n"
ENTRY = """
- config-keys:
    - qwen3.5-fp4-b200-sglang-mtp
  description:
    - "Add an arm"
  pr-link: https://github.com/SemiAnalysisAI/InferenceX/pull/2550
"""
POINT = "qwen3.5 fp4 b200 sgl"
CANARY = f"canary / / p2.500 | {POINT} TP4 mtp   c4"
LANES = (
    *(f"single-node 8k1k / / p2.500 | {POINT} TP2 mtp   c{conc}" for conc in (4, 8, 16, 32, 64)),
    *(f"single-node 8k1k / / p2.500 | {POINT} TP2/EP2 mtp   c{conc}" for conc in (16, 32, 64)),
)
EVALS = tuple(f"eval / / p2.500 | {POINT} TP2{ep} mtp   c{c} | eval-only" for ep in ("", "/EP2") for c in (32, 64))
GREEN = (CANARY, *LANES, *EVALS)
ASIDE = ("collect-evals / collect-evals", "setup")


def before(**files: bytes | str) -> dict[str, bytes | str]:
    """The merge base."""
    return {**summer(), **files}


def after(master: str = NVIDIA_MASTER + NEW_ARM, changelog: str = CHANGELOG + ENTRY) -> dict[str, bytes | str]:
    """The head: one arm more, and the changelog entry that runs it."""
    return {**summer(), NVIDIA: master, "perf-changelog.yaml": changelog}


def jobs(names: Iterable[str] = GREEN, **states: str) -> tuple[CheckRun, ...]:
    """Green jobs of these names; `states` are conclusions (or `in_progress`) by a part of the name, `_` for a blank."""
    made = []
    for number, name in enumerate((*names, *ASIDE), start=1):
        state = next(
            (s for part, s in states.items() if part.replace("_", " ") in f"{name} ".replace("/", " ")), "success"
        )
        made.append(job(name, number, state))
    return tuple(made)


def job(name: str, number: int, state: str = "success", attempt: int | None = None) -> CheckRun:
    done = state != "in_progress"
    return CheckRun(
        id=number,
        name=name,
        status="completed" if done else state,
        conclusion=state if done else None,
        head_sha=HEAD,
        run_id=RUN,
        run_attempt=attempt,
    )


def run(made: Sequence[CheckRun] | None = None, **changed: Any) -> Run:
    """A green sweep on the head, with the fields that are `changed`."""
    usual = Run(
        id=RUN,
        attempt=1,
        path=".github/workflows/run-sweep.yml",
        event="pull_request",
        status="completed",
        conclusion="success",
        head_sha=HEAD,
        created_at="2026-08-12T09:00:00Z",
        url=f"https://github.com/SemiAnalysisAI/InferenceX/actions/runs/{RUN}",
        jobs=tuple(jobs() if made is None else made),
    )
    return msgspec.structs.replace(usual, **changed)


def score(tp: int = 2, ep: int = 1, conc: int = 32, **changed: Any) -> EvalScore:
    """A good score of one evaluated point."""
    usual = EvalScore(
        run_id=RUN,
        task="gsm8k",
        model=MODEL,
        model_prefix="qwen3.5",
        hardware="b200",
        framework="sglang",
        precision="fp4",
        spec_decoding="mtp",
        conc=conc,
        isl=8192,
        osl=1024,
        tp=tp,
        ep=ep,
        dp_attn=False,
        parallelism=f"tp{tp} ep{ep}",
        strict=0.968,
        flexible=0.958,
        samples=1319,
        score=0.968,
        score_name="em_strict",
    )
    return msgspec.structs.replace(usual, **changed)


SCORES = tuple(score(2, ep, conc) for ep in (1, 2) for conc in (32, 64))


def result(tp: int = 2, ep: int = 1, conc: int = 16, **changed: Any) -> BenchmarkResult:
    """A measured point; more concurrency gives more throughput and more latency."""
    usual = BenchmarkResult(
        run_id=RUN,
        parallelism=f"tp{tp} ep{ep}",
        conc=conc,
        throughput_per_gpu=500.0 * conc / tp,
        end_to_end_latency=5.0 + conc / 4 - ep / 10,
        model=MODEL,
        model_prefix="qwen3.5",
        hardware="b200",
        framework="sglang",
        precision="fp4",
        spec_decoding="mtp",
        scenario="fixed-seq-len",
        isl=8192,
        osl=1024,
        tp=tp,
        ep=ep,
        image=IMAGE,
    )
    return msgspec.structs.replace(usual, **changed)


RESULTS = (
    result(4, 1, 4),
    *(result(2, 1, conc) for conc in (4, 8, 16, 32, 64)),
    *(result(2, 2, conc) for conc in (16, 32, 64)),
)


def commit(sha: str) -> Commit:
    return Commit(sha=sha, parents=(), author="", authored_at="", subject="")


def said(body: str, association: str = "MEMBER", number: int = 1, **changed: Any) -> Comment:
    """An issue comment; a higher number is later."""
    usual = Comment(
        id=number,
        kind="issue_comment",
        author="somebody",
        body=body,
        created_at=f"2026-08-12T10:00:{number:02}Z",
        association=association,
        url=f"https://github.com/SemiAnalysisAI/InferenceX/pull/2550#issuecomment-{number}",
    )
    return msgspec.structs.replace(usual, **changed)


def swept(
    *runs: Run,
    base: Mapping[str, bytes | str] | None = None,
    head: Mapping[str, bytes | str] | None = None,
    main: Mapping[str, bytes | str] | None = None,
    earlier: Mapping[str, bytes | str] | None = None,
    check: str = "",
    body: str | None = None,
    labels: tuple[str, ...] = (),
    sign_off: str | None = None,
    **parts: Any,
) -> Evidence:
    """The evidence of the pull request with these runs.

    `main` is the default branch (None: it has not moved), `earlier` the files of the commit EARLIER, `check` is
    appended to the verifier's prompt; `parts` replace parts of the snapshot.
    """
    base = before() if base is None else base
    evidence = evidence_of(
        base,
        after() if head is None else head,
        policy={**summer(), PROMPT: f"{VERIFIER}\n{check}"},
        sign_off=sign_off,
    )
    told: dict[str, Part[Any]] = {
        "runs": complete(runs),
        "commits": complete((commit(EARLIER), commit(HEAD))),
        "evals": complete(SCORES),
        "results": complete(RESULTS),
        "conversation": complete(()),
        "info": complete(PullRequestInfo(title="", author="", state="open", body=body or "", labels=labels)),
    }
    moved = {} if main is not None else {"default_branch": evidence.snapshot.merge_base}
    trees: Trees = msgspec.structs.replace(
        evidence.trees,
        default_branch=evidence.trees.base if main is None else DictTree(main, "d" * 40),
        swept={} if earlier is None else {EARLIER: DictTree(earlier, EARLIER)},
    )
    snapshot = msgspec.structs.replace(evidence.snapshot, **{**told, **parts}, **moved)
    return msgspec.structs.replace(evidence, snapshot=snapshot, trees=trees)
