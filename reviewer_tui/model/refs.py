"""How people name pull requests: `2550`, `#2550`, `owner/repo#2550`, a URL (also of a comment in it), `2000..2100`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from reviewer_tui.model.errors import UsageError
from reviewer_tui.model.pull_request import PullRequestRef

DEFAULT_HOST = "github.com"
DEFAULT_REPOSITORY = "SemiAnalysisAI/InferenceX"

# A range longer than this is a slip of the finger, not a batch.
_LONGEST_RANGE = 20_000

_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,99})"
_NUMBER = re.compile(r"#?(?P<number>[1-9]\d{0,8})\Z")
_RANGE = re.compile(r"#?(?P<first>[1-9]\d{0,8})\.\.\.?#?(?P<last>[1-9]\d{0,8})\Z")
_QUALIFIED = re.compile(rf"(?P<repository>{_NAME}/{_NAME})#(?P<number>[1-9]\d{{0,8}})\Z")
_URL = re.compile(
    rf"(?:https?://)?(?P<host>[A-Za-z0-9.-]+(?::\d{{1,5}})?)/(?P<repository>{_NAME}/{_NAME})"
    r"/(?:pull|issues)/(?P<number>[1-9]\d{0,8})(?:[/?#]\S*)?\Z"
)
_COMMENT = re.compile(r"#(?P<anchor>issuecomment-\d+|pullrequestreview-\d+|discussion_r\d+)\Z")


def as_typed(ref: PullRequestRef) -> str:
    """How a pull request is named on this program's command line: its number, with the options that are not the usual
    ones (`7 --repo owner/name --host git.example.org`)."""
    return f"{ref.number}{place_options(ref)}"


def place_options(ref: PullRequestRef) -> str:
    """The options that name repository and host, each with a blank before; none for the usual ones."""
    repository = "" if ref.repository.lower() == DEFAULT_REPOSITORY.lower() else f" --repo {ref.repository}"
    return f"{repository}{host_option(ref.host)}"


def host_option(host: str) -> str:
    """The option that names a host, with a blank before; empty for the usual one."""
    return "" if host.lower() == DEFAULT_HOST else f" --host {host}"


def parse_ref(text: str, repository: str = DEFAULT_REPOSITORY, host: str = DEFAULT_HOST) -> PullRequestRef:
    """One pull request from the way a person names it. Raises UsageError with the accepted forms."""
    word = text.strip()
    if found := _NUMBER.match(word):
        return PullRequestRef(repository, int(found["number"]), host)
    if found := _QUALIFIED.match(word):
        return PullRequestRef(found["repository"], int(found["number"]), host)
    if found := _URL.match(word):
        return PullRequestRef(found["repository"], int(found["number"]), found["host"].lower())
    raise UsageError(
        f"“{_shown(word)}” names no pull request.",
        "Give a number (2550 or #2550), owner/repo#2550, or the URL of a pull request or of a comment in it.",
    )


def parse_refs(
    texts: Iterable[str], repository: str = DEFAULT_REPOSITORY, host: str = DEFAULT_HOST
) -> tuple[PullRequestRef, ...]:
    """Several pull requests; a range counts every number from first to last. Each is named once, in order."""
    refs: dict[PullRequestRef, None] = {}
    for text in texts:
        found = _RANGE.match(text.strip())
        if found is None:
            refs[parse_ref(text, repository, host)] = None
            continue
        first, last = int(found["first"]), int(found["last"])
        if last < first or last - first >= _LONGEST_RANGE:
            raise UsageError(
                f"The range “{_shown(text)}” is empty or too long.",
                f"Write the smaller number first; at most {_LONGEST_RANGE:,} numbers.",
            )
        refs.update(dict.fromkeys(PullRequestRef(repository, number, host) for number in range(first, last + 1)))
    return tuple(refs)


def is_range(text: str) -> bool:
    """Whether this names a range of pull requests."""
    return _RANGE.match(text.strip()) is not None


def comment_anchor(text: str) -> str | None:
    """The comment that a URL points to (`issuecomment-123`), if it points to one."""
    found = _COMMENT.search(text.strip())
    return found["anchor"] if found else None


def comment_of(text: str, ref: PullRequestRef) -> str | None:
    """The comment (`issuecomment-123`) of a pull request that a person names by its URL; None where it names no comment
    or one of another pull request. Raises UsageError for what names nothing."""
    where = parse_ref(text, ref.repository, ref.host)
    same = (where.host, where.repository.lower(), where.number) == (ref.host, ref.repository.lower(), ref.number)
    return comment_anchor(text) if same else None


def _shown(text: str) -> str:
    short = text if len(text) <= 80 else f"{text[:80]}…"
    return "".join(c if c.isprintable() else "�" for c in short)
