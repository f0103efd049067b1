"""Where this program keeps its files: the user's data directory for what a person wrote, the cache for the rest."""

from __future__ import annotations

from pathlib import Path

APPLICATION = "reviewer-tui"


def data_directory() -> Path:
    """Drafts, sign-offs, marks of viewed files and the posting journal."""
    import platformdirs

    return Path(platformdirs.user_data_dir(APPLICATION, appauthor=False))


def cache_directory() -> Path:
    """What can be loaded again."""
    import platformdirs

    return Path(platformdirs.user_cache_dir(APPLICATION, appauthor=False))


def config_directory() -> Path:
    """Settings."""
    import platformdirs

    return Path(platformdirs.user_config_dir(APPLICATION, appauthor=False))
