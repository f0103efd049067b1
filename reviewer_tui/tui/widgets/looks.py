"""What the named styles of a view look like under the present theme."""

from __future__ import annotations

from rich.style import Style
from textual.widget import Widget


class Looks:
    """The component styles of a widget as overlays: only what the style sheet sets, colours mixed with the widget's
    own background where they are not opaque. Forget them when the theme changes."""

    def __init__(self, widget: Widget, prefix: str) -> None:
        self._widget = widget
        self._prefix = prefix
        self._known: dict[str, Style] = {}

    def __getitem__(self, name: str) -> Style:
        look = self._known.get(name)
        if look is None:
            look = self._known[name] = self._made(f"{self._prefix}--{name}")
        return look

    def forget(self) -> None:
        self._known.clear()

    def _made(self, component: str) -> Style:
        rules = self._widget.get_component_styles(component)
        overlay = self._widget.get_component_rich_style(component, partial=True)
        mixed = self._widget.get_component_rich_style(component)
        colours = Style(
            color=mixed.color if rules.has_rule("color") else None,
            bgcolor=mixed.bgcolor if rules.has_rule("background") else None,
        )
        return overlay.without_color + colours
