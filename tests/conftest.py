"""Where real data lies, for the tests that read it. Shared builders (`tests.gitrepo`) are modules of this folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def real_clone() -> Path:
    """A full clone of InferenceX with `refs/pull/*/head`."""
    path = os.environ.get("REVIEWER_TUI_CLONE")
    if not path:
        pytest.skip("REVIEWER_TUI_CLONE names no clone of InferenceX")
    return Path(path)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Real files of InferenceX at several days."""
    default = Path(__file__).parents[2] / "shared" / "data"
    path = Path(os.environ.get("REVIEWER_TUI_REAL_DATA") or default)
    if not path.is_dir():
        pytest.skip("REVIEWER_TUI_REAL_DATA names no folder with real files of InferenceX")
    return path
