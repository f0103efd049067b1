"""A light touch of colour for configs and scripts: keys and comments, no more."""

from __future__ import annotations

import re

from reviewer_tui.tui.diff.shown import Span

# Longer lines are left plain.
_LONGEST = 400

_KEY = re.compile(r"""^\s*(?:- )*([\w./"'-]+):(?=\s|$)""")
_FLOW_KEY = re.compile(r"[{,]\s*([\w.-]+):(?=\s)")
_COMMENT = re.compile(r"(?:^|\s)#.*$")

_YAML = (".yaml", ".yml")
_HASH_COMMENTS = (*_YAML, ".sh", ".py", ".toml")


def syntax_spans(path: str, text: str) -> list[Span]:
    """The keys and the comment of a shown line, by the file's suffix."""
    if len(text) > _LONGEST or not path.endswith(_HASH_COMMENTS):
        return []
    comment = _COMMENT.search(text)
    end = comment.start() if comment else len(text)
    spans = []
    if path.endswith(_YAML):
        block = _KEY.match(text)
        found = [block] if block else []
        found += list(_FLOW_KEY.finditer(text))
        spans = [Span(key.start(1), key.end(1), "key") for key in found if key.end(1) <= end]
    if comment:
        spans.append(Span(comment.start(), len(text), "comment"))
    return spans
