"""What the named styles of lines and diffs look like under the present theme.

They are made from the theme's variables once for a theme, not by the style sheet for every widget: a dozen views with
some thirty styles each would cost a tenth of a second at the start. No colour is written here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rich.style import Style
from textual.app import App
from textual.color import Color


class Look(NamedTuple):
    """A style in terms of the theme: the variable of the text's colour and of the ground's, how much of each is mixed
    into the surface, and what stays where there is no colour."""

    color: str = ""
    strength: float = 1.0
    ground: str = ""
    depth: float = 1.0
    attributes: str = ""


LOOKS: Mapping[str, Look] = {
    "plain": Look(),
    "dim": Look("foreground", 0.7),
    "strong": Look(attributes="bold"),
    "title": Look("text-primary", attributes="bold"),
    "key": Look("text-accent", attributes="bold"),
    "link": Look("text-primary", attributes="underline"),
    "added": Look("text-success"),
    "removed": Look("text-error"),
    "pass": Look("text-success", attributes="bold"),
    "fail": Look("text-error", attributes="bold reverse"),
    "warn": Look("text-warning", attributes="bold"),
    "not_applicable": Look("foreground", 0.7),
    "unverified": Look("text-primary", attributes="bold"),
    "judgement": Look("text-accent", attributes="bold"),
    "found": Look(attributes="reverse"),
    "line-added": Look(ground="success", depth=0.14),
    "line-removed": Look(ground="error", depth=0.14),
    "line-absent": Look(ground="foreground", depth=0.06),
    "fold": Look("foreground", 0.7, "panel"),
    "number": Look("foreground", 0.6),
    "mark": Look("text-accent", attributes="bold"),
    "word-added": Look(ground="success", depth=0.4, attributes="bold underline"),
    "word-removed": Look(ground="error", depth=0.4, attributes="bold underline"),
    "hidden": Look("text-warning", attributes="reverse"),
    "blank": Look(ground="warning", depth=0.5, attributes="reverse"),
    "syntax-key": Look("text-primary"),
    "syntax-comment": Look("foreground", 0.7, attributes="italic"),
}

# The cursor's ground, and what stands for it where colours cannot be mixed.
_CURSOR, _PLAIN_CURSOR = Look(ground="primary", depth=0.28), Look(attributes="reverse")


def make_looks(app: App[object]) -> dict[str, Style]:
    """Every look under the app's theme, as overlays; `cursor` is the ground of the cursor's line."""
    variables = app.theme_variables
    mixable = Color.parse(variables["surface"]).ansi is None
    looks = {name: _style(look, variables) for name, look in LOOKS.items()}
    looks["cursor"] = _style(_CURSOR if mixable and not app.no_color else _PLAIN_CURSOR, variables)
    return looks


def _style(look: Look, variables: Mapping[str, str]) -> Style:
    surface = Color.parse(variables["surface"])
    color = _mixed(surface, variables, look.color, look.strength)
    ground = _mixed(surface, variables, look.ground, look.depth)
    return Style.parse(look.attributes or "none") + Style(
        color=color.rich_color if color else None, bgcolor=ground.rich_color if ground else None
    )


def _mixed(surface: Color, variables: Mapping[str, str], name: str, part: float) -> Color | None:
    """A colour of the theme mixed into its surface; None for none, or where the terminal's own colours are used and
    a ground would drown the text."""
    if not name:
        return None
    color = Color.parse(variables[name])
    if color.ansi is not None or surface.ansi is not None:
        return color if part > 0.5 else None
    return surface.blend(color, part)
