"""CODEOWNERS as GitHub reads it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer_tui.policy.owners import MAX_RULES, Owners, parse_owners


def owners(text: str) -> Owners:
    value = parse_owners(text, "CODEOWNERS")[0].value
    assert value is not None
    return value


def named(text: str, path: str) -> list[str]:
    return [str(owner) for owner in owners(text).owners_of(path)]


def test_the_last_matching_line_wins_and_owners_do_not_add_up() -> None:
    text = "* @org/core\nconfigs/*.yaml @a @b\nconfigs/amd.yaml @c\n"
    assert named(text, "configs/amd.yaml") == ["@c"]
    assert named(text, "configs/nvidia.yaml") == ["@a", "@b"]
    assert named(text, "README.md") == ["@org/core"]


def test_a_line_without_owners_takes_ownership_away() -> None:
    text = "* @a\nvendor/\n"
    rule = owners(text).rule_of("vendor/x.py")
    assert rule is not None
    assert (rule.line, rule.owners) == (2, ())
    assert named(text, "vendor/x.py") == []
    assert named(text, "other/x.py") == ["@a"]


def test_nobody_owns_a_path_without_a_line() -> None:
    assert owners("docs/ @a\n").rule_of("src/x.py") is None


def test_a_comment_after_a_blank_names_nobody() -> None:
    text = "*.py @a # and not @b\n# *.py @c\n   \n"
    assert named(text, "x.py") == ["@a"]
    assert not owners(text).is_owner("b")


@pytest.mark.parametrize("login", ["ankur-singh", "Ankur-Singh", "@ANKUR-SINGH"])
def test_logins_are_compared_without_case(login: str) -> None:
    known = owners("a.yaml @Ankur-singh @org/core mail@example.org\n")
    assert known.is_owner(login)
    assert known.names(known.rules[0], login)
    assert not known.is_owner("core")
    assert not known.is_owner("mail@example.org")


def test_the_kinds_of_owners_are_told_apart() -> None:
    rule = owners("x @a @org/team someone@example.org @b\n").rules[0]
    assert (rule.users, rule.teams, rule.emails) == (("a", "b"), ("org/team",), ("someone@example.org",))


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("MODELS.md", "MODELS.md", True),
        ("MODELS.md", "deep/down/MODELS.md", True),
        ("configs/amd.yaml", "configs/amd.yaml", True),
        ("configs/amd.yaml", "old/configs/amd.yaml", False),
        ("/build/", "build/x", True),
        ("/build/", "a/build/x", False),
        ("build/", "a/build/x", True),
        ("docs/*", "docs/a.md", True),
        ("docs/*", "docs/a/b.md", False),
        ("docs/*", "docs/with blank.md", True),
        ("docs/**", "docs/a/b.md", True),
        ("**/logs", "a/b/logs/c", True),
        ("/*", "README.md", True),
        ("/*", "a/README.md", False),
        ("*.sh", "a/b.sh", True),
        ("*.sh", "a/b.SH", False),
        ("a\\ b/", "a b/c", True),
        ("configs", "configs/x", True),
    ],
)
def test_patterns_match_as_on_github(pattern: str, path: str, matches: bool) -> None:
    assert (owners(f"{pattern} @a\n").rule_of(path) is not None) is matches


@pytest.mark.parametrize("pattern", ["*", "**", "/**"])
def test_a_catch_all_says_so(pattern: str) -> None:
    rule = owners(f"{pattern} @org/core\n").rule_of("any/thing")
    assert rule is not None
    assert rule.is_catch_all
    assert not owners("*.py @a\n").rules[0].is_catch_all


@pytest.mark.parametrize("line", ["[Section]", "^[Optional]", "!keep @a", "src/[ab].py @a", "\\#x @a", "x @a nobody"])
def test_what_github_skips_is_skipped_and_named(line: str) -> None:
    part, problems = parse_owners(f"* @core\n{line}\n", "CODEOWNERS")
    assert part.complete
    assert [(problem.line, problem.rule) for problem in problems] == [(2, "owners-syntax")]
    assert part.value is not None
    assert [rule.line for rule in part.value.rules] == [1]


def test_a_pattern_too_complex_leaves_the_part_partial() -> None:
    part, problems = parse_owners("* @a\n*a*a*a*a*a* @b\n", "CODEOWNERS")
    assert part.state == "partial"
    assert problems[0].rule == "owners-complex"


def test_too_many_rules_are_refused() -> None:
    part, problems = parse_owners("x @a\n" * (MAX_RULES + 1), "CODEOWNERS")
    assert part.state == "unavailable"
    assert problems[0].rule == "owners-size"


def test_users_are_listed_once() -> None:
    assert owners("a @x @y\nb @X @z\n").users == ("X", "y", "z")


@given(st.text(max_size=300), st.text(max_size=60))
def test_any_text_is_read(text: str, path: str) -> None:
    part, problems = parse_owners(text, "CODEOWNERS")
    assert part.value is not None
    part.value.owners_of(path)
    assert all(problem.path == "CODEOWNERS" and problem.line for problem in problems)


@given(st.text(alphabet="*/ab?. \\", max_size=12), st.text(alphabet="ab/.", max_size=30))
def test_any_pattern_is_matched(pattern: str, path: str) -> None:
    part, _ = parse_owners(f"{pattern} @a", "CODEOWNERS")
    assert part.value is not None
    part.value.rule_of(path)


# By domain knowledge: who owned the two master configs at each version of the file.
NVIDIA = {
    "2026-02-26": ["@ankursingh-nv", "@yunzhoul-nv", "@kedarpotdar-nv", "@csahithi", "@jgangani"],
    "2026-03-01": ["@ankursingh-nv", "@kedarpotdar-nv"],
    "2026-06-22": ["@ankur-singh", "@kedarpotdar-nv", "@jgangani"],
    "2026-08-07": ["@ankur-singh", "@kedarpotdar-nv", "@InferenceX/core"],
}


def test_real_versions(real_data: Path) -> None:
    files = sorted((real_data / "inferencex" / "owners").iterdir())
    assert len(files) == 14
    for file in files:
        part, problems = parse_owners(file.read_text(), ".github/CODEOWNERS")
        assert part.complete
        assert problems == ()
        assert part.value is not None
        folder = ".github/configs" if file.name < "2026-07-02" else "configs"
        expected = NVIDIA.get(file.name[:10])
        if expected:
            assert [str(owner) for owner in part.value.owners_of(f"{folder}/nvidia-master.yaml")] == expected
        rule = part.value.rule_of("utils/x.py")
        assert rule is not None
        assert rule.is_catch_all
        assert rule.teams


def test_the_newest_real_version(real_data: Path) -> None:
    known = owners((real_data / "inferencex" / "owners" / "2026-08-07-64b3ca76f").read_text())
    assert [str(owner) for owner in known.owners_of("docs/old/MODELS.md")][:1] == ["@ankur-singh"]
    assert [str(owner) for owner in known.owners_of("experimental/operatorx/a/b.py")] == ["@hbarclay"]
    assert known.is_owner("Ankur-singh")
    assert not known.is_owner("somebody-else")
