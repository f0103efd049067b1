"""Whether a shell script defines a function or sets a variable, as its lines say."""

from __future__ import annotations

import re


def defines(text: str, function: str) -> bool:
    """Whether a script defines the function."""
    name = re.escape(function)
    pattern = rf"^[ \t]*(?:function[ \t]+{name}(?![\w-])|{name}[ \t]*\([ \t]*\))"
    return function in text and re.search(pattern, text, re.M) is not None


def sets(text: str, variable: str) -> bool:
    """Whether a script sets the variable somewhere."""
    return variable in text and re.search(rf"(?:^|[;&|({{`\s]){variable}\+?=", text, re.M) is not None
