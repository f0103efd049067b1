"""What submitted keys start, and how findings about many points are told."""

from __future__ import annotations

from reviewer_tui.checks.launches import (
    LaunchPoint,
    Said,
    drafting,
    launches_at,
    named,
    speculates,
    submitted_points,
    told,
    unread,
)
from reviewer_tui.model.finding import Status
from reviewer_tui.model.tree import DictTree
from reviewer_tui.sweeps.configs import Configs
from tests.checks.speculative import AGENTIC, multi, pinned, recipe, repository, script, single, vllm
from tests.evidence import NVIDIA, evidence_of, summer

SCRIPT = f"{AGENTIC}/dsv4_fp4_b200_vllm_mtp.sh"
EMPTY = {**summer(), NVIDIA: "{}\n"}


def points(entries: str, files: dict[str, str]) -> tuple[LaunchPoint, ...]:
    return tuple(submitted_points(evidence_of(EMPTY, repository(entries, files))))


def levels(found: tuple[LaunchPoint, ...]) -> list[int | None]:
    return [draft.speculation.level for point in found for draft in drafting(point.launch.generating)]


def test_rows_share_a_launch_only_where_the_concurrency_changes_nothing() -> None:
    same = points(single("vllm"), {SCRIPT: vllm(pinned("2.49"), 'SEQS=$((2 * CONC)); [ "$CONC" -gt 8 ] && BIG=1')})
    assert same[0].launch is same[1].launch
    assert levels(same) == [3, 3]
    branch = 'if [ "$CONC" -gt 8 ]; then K=2; else K=3; fi'
    other = points(single("vllm"), {SCRIPT: vllm(pinned("2.49", "$K"), branch)})
    assert levels(other) == [3, 2]
    by_name = points(single("vllm"), {SCRIPT: vllm(pinned("2.49", "$K"), "K=2; [[ $EXP_NAME == *conc4_* ]] && K=3")})
    assert levels(by_name) == [3, 2]


def test_names_may_be_cut_to_what_all_rows_have() -> None:
    before = 'if [ "${EXP_NAME%%_*}" = dsv4 ]; then K=3; else K=2; fi'
    first, second = points(single("vllm"), {SCRIPT: vllm(pinned("2.49", "$K"), before)})
    assert first.launch is second.launch
    assert levels((first, second)) == [3, 3]


def test_arguments_that_only_some_concurrencies_have_are_seen() -> None:
    serve = 'ARGS=()\nif [ "$CONC" -le 8 ]; then ARGS=(--speculative-config \'{"method": "mtp"}\'); fi\n'
    found = points(single("vllm"), {SCRIPT: script(f'{serve}CMD=(vllm serve x "${{ARGS[@]}}")\n"${{CMD[@]}}" &')})
    assert [bool(drafting(point.launch.generating)) for point in found] == [True, False]


def test_points_know_their_arm_settings_and_what_is_missing() -> None:
    asked = ', "SYNTHETIC_ACCEPTANCE=true"'
    point = points(multi(settings=asked, recipe="recipes/elsewhere.yaml"), {})[0]
    assert point.settings == {"CONFIG_FILE": "recipes/elsewhere.yaml", "SYNTHETIC_ACCEPTANCE": "true"}
    assert point.external
    assert point.agentic
    assert unread(point.launch) == "recipes/elsewhere.yaml is not in this repository"
    assert speculates(point) is True


def test_a_row_is_speculative_by_its_servers_before_its_label() -> None:
    serve = {SCRIPT: script("vllm serve x &")}
    assert [speculates(point) for point in points(single("vllm"), serve)] == [False, False]
    unlabelled = points(single("vllm", spec="none"), {f"{AGENTIC}/dsv4_fp4_b200_vllm.sh": vllm(pinned("2.49"))})
    assert [speculates(point) for point in unlabelled] == [True, True]
    unsure = {f"{AGENTIC}/dsv4_fp4_b200_vllm.sh": script("vllm serve x $(speculative_flags) &")}
    assert [speculates(point) for point in points(single("vllm", spec="none"), unsure)] == [None, None]


def test_recipes_of_the_stp_kind_are_not_called_speculative() -> None:
    (plain, *_) = points(multi(recipe="recipes/x_mtp0.yaml", spec="none"), {})
    assert not plain.labelled
    (named_so, *_) = points(multi(recipe="recipes/x_mtp3.yaml", spec="none"), {})
    assert named_so.labelled


def test_equal_findings_are_told_once_with_points_names_and_places() -> None:
    first, second = points(single("vllm"), {SCRIPT: vllm(pinned("2.49"))})

    def say(point: LaunchPoint, text: str, **more: object) -> Said:
        return Said(point=point, status=Status.FAIL, text=text, **more)  # type: ignore[arg-type]

    whole = told([say(first, "it is so."), say(second, "it is so.")], "c" * 40)
    assert [finding.message for finding in whole] == ["dsv4-fp4-b200-vllm: it is so."]
    assert (whole[0].path, whole[0].commit) == (NVIDIA, "c" * 40)
    assert whole[0].line
    part = told([say(second, "it is so.", path="a.sh", line=3)], "c" * 40)
    assert part[0].message == "dsv4-fp4-b200-vllm (agentic tp8 mtp c32): it is so."
    listed = told([say(first, "there is none", names=tuple("abcde")), say(second, "there is none", names=("f",))], "c")
    assert listed[0].message.endswith("there is none: a, b, c and 3 more.")
    places = told([say(first, "it is so.", path="a", line=1), say(second, "it is so.", path="b", line=2)], "c")
    assert places[0].message.endswith("it is so. Also b:2.")
    assert (places[0].path, places[0].line) == ("a", 1)


def test_many_arms_are_counted_not_listed() -> None:
    tree = DictTree(repository(single("vllm"), {SCRIPT: vllm(pinned("2.49"))}))
    entry = Configs(tree).entry("dsv4-fp4-b200-vllm")
    assert entry is not None
    (point, *_) = launches_at(tree).of(entry)
    assert named([point, point]) == "agentic tp8 mtp c4"
    arms = [points(single("vllm").replace("tp: 8", f"tp: {tp}"), {})[0] for tp in (1, 2, 4, 8, 16)]
    assert named(arms) == "agentic tp1 mtp c4, agentic tp2 mtp c4, agentic tp4 mtp c4, 2 more arms"


def test_a_recipe_is_read_once_for_all_concurrencies() -> None:
    text = recipe(f"speculative-config: '{pinned('2.49')}'")
    files = {"benchmarks/multi_node/srt-slurm-recipes/m/agentic.yaml": text}
    first, second = points(multi(), files)
    assert first.launch is second.launch
