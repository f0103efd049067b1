"""Who must vouch for a path: the rules of CODEOWNERS, as GitHub reads them.

The last matching line wins and owners do not add up; a line without owners takes ownership away; `#` after a blank
starts a comment; logins are compared without case; a line that GitHub cannot read is skipped, not guessed. Source:
GitHub's documentation "About code owners". The `codeowners` package matches the patterns; what it sees differently
(inline comments, GitLab's sections and character ranges, blanks in paths) is settled here before it is asked.
"""

from __future__ import annotations

import functools
import re
from typing import Literal

import codeowners
import msgspec

from reviewer_tui.model.finding import Problem
from reviewer_tui.model.part import Part, complete, partial, unavailable
from reviewer_tui.model.tree import Tree, read_text
from reviewer_tui.policy.layout import Layout

# GitHub does not load a larger file.
MAX_BYTES = 3 * 1024 * 1024
MAX_RULES = 2_000
MAX_WILDCARDS = 4
_BLANK = "\ue000"

_INLINE_COMMENT = re.compile(r"(?<!\\)\s#.*$")
_USER = re.compile(r"^@[A-Za-z0-9][A-Za-z0-9_-]{0,99}$")
_TEAM = re.compile(r"^@[A-Za-z0-9][A-Za-z0-9_-]{0,99}/[A-Za-z0-9._-]{1,100}$")
_EMAIL = re.compile(r"^[^@\s]+@[^@\s]+$")


class Owner(msgspec.Struct, frozen=True):
    """One owner of a line: a login without `@`, a team as `org/team`, or an e-mail address."""

    kind: Literal["user", "team", "email"]
    name: str

    def __str__(self) -> str:
        return self.name if self.kind == "email" else f"@{self.name}"

    def is_user(self, login: str) -> bool:
        """Whether this owner is the account with that login, with or without `@`, in any case."""
        return self.kind == "user" and self.name.casefold() == login.removeprefix("@").casefold()


class OwnerRule(msgspec.Struct, frozen=True, kw_only=True):
    """One line of CODEOWNERS. A rule without owners takes the ownership away from earlier lines."""

    pattern: str
    owners: tuple[Owner, ...]
    line: int

    @property
    def is_catch_all(self) -> bool:
        """Whether the line speaks about every path of the repository."""
        return self.pattern in ("*", "**", "/**", "**/*", "/**/*")

    @property
    def users(self) -> tuple[str, ...]:
        return tuple(owner.name for owner in self.owners if owner.kind == "user")

    @property
    def teams(self) -> tuple[str, ...]:
        return tuple(owner.name for owner in self.owners if owner.kind == "team")

    @property
    def emails(self) -> tuple[str, ...]:
        return tuple(owner.name for owner in self.owners if owner.kind == "email")


class Owners(msgspec.Struct, frozen=True, kw_only=True):
    """CODEOWNERS of one revision; `rules` in the file's order, without the lines that GitHub skips."""

    path: str
    rules: tuple[OwnerRule, ...]

    def rule_of(self, path: str) -> OwnerRule | None:
        """The line that decides about a path: the last that matches. None: nobody owns it."""
        line = _matcher(self.rules).matching_line(path.lstrip("/").replace(" ", _BLANK))[1]
        return None if line is None else self.rules[line - 1]

    def owners_of(self, path: str) -> tuple[Owner, ...]:
        """The owners of a path; empty where nobody owns it."""
        rule = self.rule_of(path)
        return rule.owners if rule else ()

    def names(self, rule: OwnerRule, login: str) -> bool:
        """Whether a line names this login itself; a team's members are not known here."""
        return any(owner.is_user(login) for owner in rule.owners)

    def is_owner(self, login: str) -> bool:
        """Whether the login is named on any line of the file."""
        return any(self.names(rule, login) for rule in self.rules)

    @property
    def users(self) -> tuple[str, ...]:
        """All logins that the file names, each once, in the file's order."""
        return tuple({user.casefold(): user for rule in self.rules for user in rule.users}.values())


@functools.lru_cache(maxsize=8)
def _matcher(rules: tuple[OwnerRule, ...]) -> codeowners.CodeOwners:
    """The package's matcher over the patterns alone, so that its line numbers are places in `rules`."""
    return codeowners.CodeOwners("\n".join(rule.pattern.replace("\\ ", _BLANK) for rule in rules))


def read_owners(tree: Tree, layout: Layout) -> tuple[Part[Owners], tuple[Problem, ...]]:
    """The owners of a revision, and the lines of the file that are skipped."""
    if layout.owners is None or (text := read_text(tree, layout.owners)) is None:
        problem = Problem(path=".github/CODEOWNERS", message="This revision has no CODEOWNERS.", rule="owners-missing")
        return unavailable(problem.message), (problem,)
    return parse_owners(text, layout.owners)


def parse_owners(text: str, path: str) -> tuple[Part[Owners], tuple[Problem, ...]]:
    """The owners of a CODEOWNERS text. Never fails."""
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        return _refused(path, "The file is larger than 3 MB, so GitHub does not load it.")
    rules: list[OwnerRule] = []
    problems: list[Problem] = []
    for number, line in enumerate(text.splitlines(), start=1):
        content = _INLINE_COMMENT.sub("", f" {line}").strip()
        if not content:
            continue
        rule, problem = _parse_line(content, number, path)
        if problem:
            problems.append(problem)
        if rule:
            rules.append(rule)
        if len(rules) > MAX_RULES:
            return _refused(path, f"The file holds more than {MAX_RULES} rules, which is not read.")
    owners = Owners(path=path, rules=tuple(rules))
    unread = sum(problem.rule == "owners-complex" for problem in problems)
    part = partial(owners, f"{unread} lines of {path} are too complex to evaluate.") if unread else complete(owners)
    return part, tuple(problems)


def _refused(path: str, message: str) -> tuple[Part[Owners], tuple[Problem, ...]]:
    return unavailable(message), (Problem(path=path, message=message, rule="owners-size"),)


def _parse_line(content: str, number: int, path: str) -> tuple[OwnerRule | None, Problem | None]:
    """One line with content: its rule, or why there is none."""

    def problem(message: str, rule: str = "owners-syntax") -> tuple[None, Problem]:
        return None, Problem(path=path, line=number, message=message, rule=rule)

    pattern, *names = content.replace("\\ ", _BLANK).split()
    pattern = pattern.replace(_BLANK, "\\ ")
    if pattern.startswith(("!", "\\#")) or "[" in pattern or not pattern.strip("/"):
        return problem(f"GitHub skips this line: it does not support the pattern {pattern!r}.")
    if pattern.count("*") > MAX_WILDCARDS or len(pattern) > 1_000:
        return problem(f"The pattern {pattern[:60]!r} is too complex to evaluate.", "owners-complex")
    owners: list[Owner] = []
    for name in names:
        owner = _parse_owner(name)
        if owner is None:
            return problem(f"GitHub skips this line: {name!r} is neither @user, @org/team nor an e-mail address.")
        owners.append(owner)
    return OwnerRule(pattern=pattern, owners=tuple(owners), line=number), None


def _parse_owner(name: str) -> Owner | None:
    if _TEAM.match(name):
        return Owner("team", name[1:])
    if _USER.match(name):
        return Owner("user", name[1:])
    return Owner("email", name) if _EMAIL.match(name) else None
