"""The two themes of the workstation. Screens use theme variables only, so every other theme of Textual works too."""

from __future__ import annotations

from textual.theme import Theme

DARK = Theme(
    name="reviewer-dark",
    primary="#6cb6ff",
    secondary="#8ddb8c",
    accent="#dcbdfb",
    warning="#f0b72f",
    error="#ff7b72",
    success="#57c26b",
    foreground="#d8dee9",
    background="#14181f",
    surface="#14181f",
    panel="#222935",
    dark=True,
)

LIGHT = Theme(
    name="reviewer-light",
    primary="#0550ae",
    secondary="#1a6b2b",
    accent="#7a3fc0",
    warning="#7d4e00",
    error="#b3141d",
    success="#13682a",
    foreground="#1f2328",
    background="#ffffff",
    surface="#ffffff",
    panel="#e4e9f0",
    dark=False,
)
