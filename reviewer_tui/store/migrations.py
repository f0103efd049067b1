"""The shapes a database went through: each step brings it from version n to n + 1, never changed once released."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

CACHE_STEPS: tuple[str, ...] = (
    """
    CREATE TABLE object (
        name BLOB PRIMARY KEY,          -- git's object name, 20 bytes
        kind TEXT NOT NULL,             -- blob or tree
        written_at INTEGER NOT NULL,    -- seconds since 1970
        content BLOB NOT NULL           -- compressed
    );
    CREATE TABLE revision (
        repository TEXT NOT NULL COLLATE NOCASE,    -- host/owner/name
        sha TEXT NOT NULL,
        content BLOB NOT NULL,          -- what is known of the commit
        PRIMARY KEY (repository, sha)
    ) WITHOUT ROWID;
    CREATE TABLE name (
        repository TEXT NOT NULL COLLATE NOCASE,
        name TEXT NOT NULL,             -- a branch or tag
        sha TEXT NOT NULL,
        PRIMARY KEY (repository, name)
    ) WITHOUT ROWID;
    CREATE TABLE snapshot (
        repository TEXT NOT NULL COLLATE NOCASE,
        number INTEGER NOT NULL,
        head TEXT NOT NULL,
        taken_at TEXT NOT NULL,         -- ISO 8601, UTC
        title TEXT NOT NULL,
        policy TEXT NOT NULL,           -- revision of the policy it was taken under
        content BLOB NOT NULL,          -- compressed
        PRIMARY KEY (repository, number, head)
    );
    CREATE TABLE answer (
        key TEXT PRIMARY KEY,
        used_on INTEGER NOT NULL,       -- days since 1970
        content BLOB NOT NULL           -- compressed
    );
    """,
)

POST_STEPS: tuple[str, ...] = (
    """
    CREATE TABLE post (
        uuid TEXT PRIMARY KEY,          -- identity of this one post, also in the mark of its text
        host TEXT NOT NULL COLLATE NOCASE,
        repository TEXT NOT NULL COLLATE NOCASE,
        number INTEGER NOT NULL,
        login TEXT NOT NULL COLLATE NOCASE,     -- whose token posts
        head TEXT NOT NULL,             -- head of the pull request when it was confirmed
        edits INTEGER,                  -- id of the comment that is edited, NULL for a new one
        body TEXT NOT NULL,             -- exactly what is sent
        digest TEXT NOT NULL,           -- SHA-256 of the body's words, as two equal comments share them
        started_at TEXT NOT NULL,       -- ISO 8601, UTC, by GitHub's clock
        state TEXT NOT NULL,            -- intended, sent, posted, unknown or abandoned
        reason TEXT NOT NULL DEFAULT '',
        comment INTEGER,                -- id of the comment it became
        url TEXT NOT NULL DEFAULT '',
        changed_at TEXT NOT NULL        -- ISO 8601, UTC, by this machine's clock
    );
    CREATE INDEX post_by_pull_request ON post (host, repository, number, state);
    """,
)


def migrate(connection: sqlite3.Connection, steps: Sequence[str]) -> bool:
    """Bring a database to the newest version, whole or not at all, also while another process tries the same. False
    where it is newer than this program."""
    if _version(connection) == len(steps):
        return True
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _version(connection)
        for step in steps[version:]:
            for statement in filter(str.strip, step.split(";")):
                connection.execute(statement)
        if version < len(steps):
            connection.execute(f"PRAGMA user_version = {len(steps)}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    return version <= len(steps)


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
