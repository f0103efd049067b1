"""What the image check names: upstream registries by framework, established hardware, open-source engines."""

from __future__ import annotations

import re

import msgspec

# “for entries with `framework: vllm`, the image must come from … https://hub.docker.com/u/vllm”
_FRAMEWORK_REGISTRY = re.compile(
    r"`framework: ?([\w.-]+)`(?:(?!`framework: ?).){0,300}?hub\.docker\.com/u/([\w-]+)", re.S
)
# “Established (NOT "new hardware") SKUs: NVIDIA H100, H200, …, and AMD MI355X.”
_ESTABLISHED = re.compile(r"Established[^:\n]{0,80}SKUs?:\s*(.{0,400}?)\.\s", re.S)
_SKU = re.compile(r"\b(?=[A-Z]*\d)[A-Z]+\d+[A-Z0-9]*\b")
# “Open-source engine entries are every … : `framework:` of `vllm`, `dynamo-vllm`, … or `dynamo-sglang`.”
_OPEN_SOURCE = re.compile(
    r"Open-source engine entries.{0,200}?`framework:` of ((?:`[\w.-]+`[\s,]*(?:or|and)?\s*)+)", re.S
)
_CODE = re.compile(r"`([\w.-]+)`")


class ImageRules(msgspec.Struct, frozen=True, kw_only=True):
    """`registries` maps a framework to its Docker Hub organisation; `established` holds hardware in lower case;
    `open_source` holds the frameworks that need no other engine first, empty where the text does not list them."""

    registries: dict[str, str]
    established: frozenset[str]
    open_source: frozenset[str]


def image_rules(text: str) -> ImageRules | None:
    """The rules in the words of the image check; None where the text names no registry or no hardware."""
    registries = dict(_FRAMEWORK_REGISTRY.findall(text))
    hardware = _ESTABLISHED.search(text)
    established = frozenset(name.lower() for name in _SKU.findall(hardware[1])) if hardware else frozenset()
    if not registries or not established:
        return None
    engines = _OPEN_SOURCE.search(text)
    return ImageRules(
        registries=registries,
        established=established,
        open_source=frozenset(_CODE.findall(engines[1])) if engines else frozenset(),
    )
