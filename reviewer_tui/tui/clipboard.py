"""Copying a text: by the machine's own clipboard program where there is one, else through the terminal."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from typing import NamedTuple

_PATIENCE = 2.0  # seconds for a clipboard program that may wait for a display that is gone


class Copied(NamedTuple):
    """How copying went. `certain` is False where nobody can tell whether the text arrived."""

    certain: bool
    message: str


def native_command(environment: Mapping[str, str], platform: str = sys.platform) -> list[str] | None:
    """The clipboard program to pipe the text into; None over SSH, where it would be the wrong machine's clipboard."""
    if any(environment.get(name) for name in ("SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT")):
        return None
    candidates: list[list[str]] = []
    if platform == "darwin":
        candidates.append(["pbcopy"])
    if environment.get("WAYLAND_DISPLAY"):
        candidates.append(["wl-copy"])
    if environment.get("DISPLAY"):
        candidates += [["xclip", "-selection", "clipboard"], ["xsel", "--clipboard", "--input"]]
    if environment.get("WSL_DISTRO_NAME") or platform == "win32":
        candidates.append(["clip.exe"])
    return next((command for command in candidates if shutil.which(command[0])), None)


def copy_natively(text: str) -> Copied | None:
    """Copy with the machine's clipboard program; None where there is none or it failed. Blocks two seconds at most."""
    command = native_command(os.environ)
    if command is None:
        return None
    # clip.exe takes UTF-16 only; the others take UTF-8.
    encoded = text.encode("utf-16" if command[0] == "clip.exe" else "utf-8")
    try:
        # The programs of X and Wayland stay behind to serve the clipboard: their output must not hold this one.
        subprocess.run(
            command,
            input=encoded,
            timeout=_PATIENCE,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return Copied(True, f"Copied {len(text):,} characters with {command[0]}.")
