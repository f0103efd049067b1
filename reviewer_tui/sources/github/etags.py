"""Remembering answers with their ETag, so that an unchanged one costs nothing of the budget.

What is kept is not GitHub's text but the validated answer, reduced to the fields this program reads. The key tells
apart everything an answer depends on: host, address, form, version of the interface, whose token it was (by
fingerprint), and the fields that were kept.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any, Protocol

import msgspec
import msgspec.inspect


class AnswerStore(Protocol):
    """Where answers are kept between calls: opaque bytes by key. A damaged or absent one is None."""

    def read_answer(self, key: str) -> bytes | None: ...

    def write_answer(self, key: str, content: bytes) -> None: ...


class KeptAnswer(msgspec.Struct, frozen=True, array_like=True):
    """An answer as kept: its ETag as sent (weak ones too), its Link header, and the reduced body."""

    etag: str
    link: str
    body: bytes


def answer_key(*, api: str, url: str, accept: str, version: str, reader: str, shape: Any) -> str:
    """The key of a GET. `reader` is the token's fingerprint, or empty without one."""
    parts = (api, url, accept, version, reader, shape_fingerprint(shape))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


@lru_cache(maxsize=256)
def shape_fingerprint(shape: Any) -> str:
    """Short text that changes whenever the fields read from an answer change."""
    return hashlib.sha256(repr(msgspec.inspect.type_info(shape)).encode()).hexdigest()[:12]


def pack(etag: str, link: str, body: bytes) -> bytes:
    """The bytes to keep."""
    return msgspec.msgpack.encode(KeptAnswer(etag, link, body))


def unpack(content: bytes | None) -> KeptAnswer | None:
    """A kept answer; None where there is none or it is damaged."""
    if content is None:
        return None
    try:
        return msgspec.msgpack.decode(content, type=KeptAnswer)
    except msgspec.MsgspecError:
        return None
