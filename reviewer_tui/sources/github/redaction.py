"""Taking secrets out of text that a person, a log or a file may see."""

from __future__ import annotations

import re

# GitHub's own token forms (classic, OAuth, user, server, refresh, fine-grained), a bearer header, the signature of a
# storage URL, which is a password for as long as the URL is good, and a password in an address.
_SECRETS = re.compile(
    r"gh[pousr]_[A-Za-z0-9_]{16,}"
    r"|github_pat_[A-Za-z0-9_]{16,}"
    r"|(?i:(?<=bearer )|(?<=authorization: token ))[^\s'\"]{8,}"
    r"|(?<=[?&]sig=)[^&\s'\"]+"
    r"|(?<=[?&]X-Amz-Signature=)[^&\s'\"]+"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"
)

PLACEHOLDER = "[secret]"


def redact(text: str, *secrets: str) -> str:
    """The text without anything that looks like a token or a signed URL, and without the `secrets` named."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, PLACEHOLDER)
    return _SECRETS.sub(PLACEHOLDER, text)
